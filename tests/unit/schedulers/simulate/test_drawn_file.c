/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Descriptions of workloads: what is read, and what is refused with which line. */
#include "schedulers/simulate/workload/drawn.h"
#include "tests/support/test.h"

#define HEAD "format = characterize-workload/1\n"
#define MACHINE                                                                                                        \
    "[machine]\ncores = 4 # a\nthreads_per_core = 2 # a\nrecorded_ghz = 2.8 # a\nduration_s = 2 # a\n"                 \
    "slice_us = fixed 3000 # a\n"
#define TASK "[task t]\nthreads = 3 # a\n"
#define WORK "[phase t work]\nclass = none # a\nus = fixed 5 # a\n"
#define PHASE "[phase t p]\nclass = 512heavy # a\nus = fixed 5 # a\n"

static int parse(const char *text, struct drawn_file *f, struct machine_error *err)
{
    return drawn_file_parse(text, strlen(text), "F", f, err);
}

TEST(everything_is_read)
{
    static const char text[] = HEAD "[machine]\ncores = 3 # a\nthreads_per_core = 2 # a\nrecorded_ghz = 2.85 # a\n"
                                    "active_cores = 7 # a\nduration_s = 0.25 # a\nslice_us = uniform 3000 4000.5 # a\n"
                                    "[task one]\nthreads = 3 # a\ncookie = c # a\nlasts = 2.5 # a\n"
                                    "[task two]\nthreads = 8189 # a\ncookie = d # a\n"
                                    "[phase two p]\nclass = 256light # a\nus = exponential 7 # a\nipc = 16 # a\n"
                                    "[phase one a]\nclass = 512heavy # a\nus = lognormal 12.5 0.7 # a\nipc = 1.25 # a\n"
                                    "stall = 0.123 # a\nsyscall = yes # a\nnext = b 1 a 2 c 5 # a\n"
                                    "[phase one b]\nclass = blocked # a\nus = fixed 0.001 # a\n"
                                    "[phase one c]\nclass = none # a\nus = fixed 1 # a\nipc = 0.001 # a\n"
                                    "syscall = no # a\n";
    struct drawn_file f;
    struct machine_error err;
    if (parse(text, &f, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(f.cores, 3);
    assert_int_equal(f.threads_per_core, 2);
    assert_int_equal(f.active_cores, 7);
    assert_true(f.recorded == 28500 && f.duration_s == 0.25);
    assert_true(f.slice.shape == DRAWN_UNIFORM && f.slice.a == 3000 && f.slice.b == 4000.5);
    assert_true(f.n_tasks == 2 && f.n_threads == 8192);
    assert_true(f.has_ipc && f.has_stall && f.has_cookie && f.has_syscall);
    const struct drawn_task *t = &f.tasks[0];
    assert_string_equal(t->name, "one");
    assert_string_equal(t->cookie, "c");
    assert_true(t->threads == 3 && t->n_phases == 3 && t->lasts == 2.5);
    assert_true(f.tasks[1].n_phases == 1 && f.tasks[1].lasts == 1);
    const struct drawn_phase *a = &t->phases[0];
    assert_string_equal(a->name, "a");
    assert_true(a->length.shape == DRAWN_LOGNORMAL && a->length.a == 12.5 && a->length.b == 0.7);
    assert_true(a->row.class == SIM_512HEAVY && a->row.ipc == 1250 && a->row.stall == 123 && a->row.syscall == 1);
    assert_true(a->row.task != SIM_IDLE && a->row.ps == 0);
    assert_true(a->n_next == 3 && a->next[0].phase == 1 && a->next[1].phase == 0 && a->next[2].phase == 2);
    assert_true(a->next[0].until == 1.0 / 8 && a->next[1].until == 3.0 / 8 && a->next[2].until == 1);
    const struct drawn_phase *b = &t->phases[1], *c = &t->phases[2];
    assert_true(b->row.task == SIM_IDLE && b->row.class == SIM_NONE && b->length.shape == DRAWN_FIXED);
    assert_true(b->n_next == 1 && b->next[0].phase == 2 && b->next[0].until == 1);
    assert_true(c->n_next == 1 && c->next[0].phase == 0 && c->row.syscall == 0 && c->row.ipc == 1);
    assert_true(f.tasks[1].phases[0].row.class == SIM_256LIGHT && f.tasks[1].phases[0].row.ipc == 16000);
}

TEST(what_is_absent_is_not_there)
{
    struct drawn_file f;
    struct machine_error err;
    assert_int_equal(parse(HEAD MACHINE TASK WORK, &f, &err), MACHINE_OK);
    assert_false(f.has_ipc || f.has_stall || f.has_cookie || f.has_syscall);
    assert_true(f.active_cores == 0 && f.tasks[0].cookie[0] == '\0' && f.tasks[0].phases[0].row.ipc == 0);
}

/* A text, and the message that refuses it. */
TEST(what_is_wrong_is_named)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "F: empty; it begins with 'format = characterize-workload/1'"},
        {"format = characterize-model/1\n", "F:1: format: 'characterize-model/1' is not a format that this program "
                                            "reads; it reads characterize-workload/1"},
        {HEAD, "F:1: machine: section [machine] is missing"},
        {HEAD MACHINE, "F:7: task: no section [task NAME]"},
        {HEAD "[place]\n", "F:2: place: no such section; [machine], [task NAME] and [phase TASK NAME] are known"},
        {HEAD "[machine one]\n", "F:2: machine one: this header has the form [machine]"},
        {HEAD "[task]\n", "F:2: task: this header has the form [task NAME]"},
        {HEAD "[task a b]\n", "F:2: task a b: this header has the form [task NAME]"},
        {HEAD MACHINE TASK "[phase p]\n", "F:10: phase p: this header has the form [phase TASK NAME]"},
        {HEAD MACHINE TASK "[phase t p q]\n", "F:10: phase t p q: this header has the form [phase TASK NAME]"},
        {HEAD MACHINE TASK "[phase t p q r]\n", "F:10: phase t p q r: this header has the form [phase TASK NAME]"},
        {HEAD MACHINE TASK TASK, "F:10: task t: given twice, first in line 8; remove one"},
        {HEAD MACHINE TASK WORK WORK, "F:13: phase t work: given twice, first in line 10; remove one"},
        {HEAD MACHINE "[phase t work]\n",
         "F:8: phase t work: no task 't' above this line; it needs a section [task t]"},
        {HEAD "[machine]\n", "F:2: cores: missing in section [machine]"},
        {HEAD "[machine]\nslices = fixed 1 # a\n", "F:3: slices: no such key in section [machine]; known keys: cores "
                                                   "threads_per_core recorded_ghz active_cores duration_s slice_us"},
        {HEAD "[machine]\ncores = 4 # a\ncores = 4 # a\n", "F:4: cores: given twice, first in line 3; remove one"},
        {HEAD "[machine]\ncores = 4\n", "F:3: cores: has no source; add '# document, section' or '# assumed: why'"},
        {HEAD "[machine]\ncores = four # a\n", "F:3: cores: 'four' is not allowed; 1 to 4096 would work"},
        {HEAD "[machine]\ncores = 4.5 # a\n", "F:3: cores: '4.5' is not allowed; 1 to 4096 would work"},
        {HEAD "[machine]\ncores = -4 # a\n", "F:3: cores: '-4' is not allowed; 1 to 4096 would work"},
        {HEAD "[machine]\ncores = 0 # a\n", "F:3: cores: '0' is not allowed; 1 to 4096 would work"},
        {HEAD "[machine]\ncores = 99999999999999999999 # a\n",
         "F:3: cores: '99999999999999999999' is not allowed; 1 to 4096 would work"},
        {HEAD "[machine]\nthreads_per_core = 9 # a\n", "F:3: threads_per_core: '9' is not allowed; 1 to 8 would work"},
        {HEAD "[machine]\nduration_s = 0 # a\n", "F:3: duration_s: 0 is out of range; 0.001 to 100000 would work"},
        {HEAD "[machine]\nduration_s = 1e3 # a\n",
         "F:3: duration_s: '1e3' is not a number; 0.001 to 100000 with at most three decimals would work"},
        {HEAD "[machine]\nduration_s = -1 # a\n",
         "F:3: duration_s: '-1' is not a number; 0.001 to 100000 with at most three decimals would work"},
        {HEAD "[machine]\nduration_s = 0.1234 # a\n",
         "F:3: duration_s: '0.1234' is not a number; 0.001 to 100000 with at most three decimals would work"},
        {HEAD "[machine]\nrecorded_ghz = 17 # a\n",
         "F:3: recorded_ghz: '17' is not allowed; 0.1 to 16 (GHz), at most four decimals would work"},
        {HEAD "[machine]\nactive_cores = 0 # a\n", "F:3: active_cores: '0' is not allowed; 1 to 4096 would work"},
        {HEAD "[machine]\nduration_s = nan # a\n",
         "F:3: duration_s: 'nan' is not a number; 0.001 to 100000 with at most three decimals would work"},
#define LENGTH                                                                                                         \
    "not a length; fixed US, uniform FROM TO, exponential MEAN or lognormal MEAN SIGMA would work (us; SIGMA: of the " \
    "natural logarithm)"
        {HEAD "[machine]\nslice_us = 3000 # a\n", "F:3: slice_us: " LENGTH},
        {HEAD "[machine]\nslice_us = normal 3000 2 # a\n", "F:3: slice_us: " LENGTH},
        {HEAD "[machine]\nslice_us = fixed # a\n", "F:3: slice_us: " LENGTH},
        {HEAD "[machine]\nslice_us = fixed 1 2 # a\n", "F:3: slice_us: " LENGTH},
        {HEAD "[machine]\nslice_us = uniform 1 # a\n", "F:3: slice_us: " LENGTH},
        {HEAD "[machine]\nslice_us = uniform 1 2 3 # a\n", "F:3: slice_us: " LENGTH},
        {HEAD "[machine]\nslice_us = fixed 0 # a\n", "F:3: slice_us: 0 is out of range; 0.001 to 10000000 would work"},
        {HEAD "[machine]\nslice_us = exponential 0 # a\n",
         "F:3: slice_us: 0 is out of range; 0.001 to 10000000 would work"},
        {HEAD "[machine]\nslice_us = uniform 3 2 # a\n", "F:3: slice_us: 2 is out of range; 3 to 10000000 would work"},
        {HEAD "[machine]\nslice_us = uniform 0 0 # a\n",
         "F:3: slice_us: 0 is out of range; 0.001 to 10000000 would work"},
        {HEAD "[machine]\nslice_us = lognormal 2 2.1 # a\n", "F:3: slice_us: 2.1 is out of range; 0 to 2 would work"},
        {HEAD "[machine]\ncores = 4096 # a\nthreads_per_core = 8 # a\nrecorded_ghz = 2 # a\nduration_s = 1 # a\n"
              "slice_us = fixed 1 # a\n",
         "F:3: cores: more than 8192 logical CPUs"},
        {HEAD "[machine]\nthreads_per_core = 8 # a\nrecorded_ghz = 2 # a\nduration_s = 1 # a\nslice_us = fixed 1 # a\n"
              "cores = 4096 # a\n" TASK WORK,
         "F:7: cores: more than 8192 logical CPUs"},
        {HEAD MACHINE "active_cores = 3 # a\n", "F:8: active_cores: 3 is less than the 4 cores of the workload"},
        {HEAD MACHINE "active_cores = 3 # a\n" TASK WORK,
         "F:8: active_cores: 3 is less than the 4 cores of the workload"},
        {HEAD MACHINE "[task t]\n", "F:8: threads: missing in section [task NAME]"},
        {HEAD MACHINE "[task t]\ncookie = a,b # a\n",
         "F:9: cookie: 'a,b' is not a name; letters, digits, '_', '-' and '.' would work"},
        {HEAD MACHINE "[task t,u]\n",
         "F:8: task t,u: 't,u' is not a name; letters, digits, '_', '-' and '.' would work"},
        {HEAD MACHINE "[task a2345678901234567890123456789012]\n",
         "F:8: task a2345678901234567890123456789012: 'a2345678901234567890123456789012' is too long for a name; at "
         "most 31 characters"},
        {HEAD MACHINE TASK "[task u]\nthreads = 8190 # a\n", "F:11: threads: more than 8192 threads of all tasks"},
        {HEAD MACHINE TASK, "F:8: task: it does no work; add a section [phase t NAME]"},
        {HEAD MACHINE TASK "[phase t p]\nclass = blocked # a\nus = fixed 1 # a\n",
         "F:8: task: it does no work: all its phases are blocked; at least one needs a class of work"},
        {HEAD MACHINE TASK WORK "[task u]\nthreads = 1 # a\ncookie = u # a\n[phase u p]\nclass = none # a\n"
                                "us = fixed 1 # a\n",
         "F:8: cookie: missing, but other tasks have it; give it to all or none"},
        {HEAD MACHINE TASK "[phase t p]\nclass = none # a\n", "F:10: us: missing in section [phase TASK NAME]"},
        {HEAD MACHINE TASK "[phase t p]\nclass = 512 # a\n",
         "F:11: class: '512' is not a class; none, 256light, 256heavy, 512light, 512heavy or blocked would work"},
        {HEAD MACHINE TASK PHASE "ipc = 0 # a\n", "F:13: ipc: 0 is out of range; 0.001 to 16 would work"},
        {HEAD MACHINE TASK PHASE "ipc = 16.1 # a\n", "F:13: ipc: 16.1 is out of range; 0.001 to 16 would work"},
        {HEAD MACHINE TASK PHASE "stall = 1.1 # a\n", "F:13: stall: 1.1 is out of range; 0 to 1 would work"},
        {HEAD MACHINE TASK PHASE "syscall = maybe # a\n", "F:13: syscall: 'maybe' is neither yes nor no"},
        {HEAD MACHINE TASK PHASE "next = q # a\n", "F:10: next: task t has no phase 'q'"},
        {HEAD MACHINE TASK PHASE "next = p 1 p # a\n",
         "F:13: next: not phases and their weights; NAME, or up to 4 of NAME WEIGHT would work"},
        {HEAD MACHINE TASK PHASE "next = p 1 p 1 p 1 p 1 p 1 # a\n",
         "F:13: next: not phases and their weights; NAME, or up to 4 of NAME WEIGHT would work"},
        {HEAD MACHINE TASK PHASE "next = p 1 p 0 # a\n", "F:13: next: 0 is out of range; 0.001 to 1000000 would work"},
        {HEAD MACHINE TASK PHASE "ipc = 1 # a\n" WORK,
         "F:14: ipc: missing, but other phases have it; give it to all or none"},
        {HEAD MACHINE TASK PHASE "ipc = 1 # a\n[phase t q]\nclass = blocked # a\nus = fixed 1 # a\nipc = 1 # a\n",
         "F:14: ipc: not allowed in a blocked phase; remove it"},
        {HEAD MACHINE TASK WORK "[phase t p]\nstall = 0 # a\nclass = blocked # a\nus = fixed 1 # a\n",
         "F:13: stall: not allowed in a blocked phase; remove it"},
        {HEAD MACHINE TASK WORK "[phase t p]\nclass = blocked # a\nus = fixed 1 # a\nsyscall = no # a\n",
         "F:13: syscall: not allowed in a blocked phase; remove it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct drawn_file f;
        struct machine_error err;
        int status = parse(cases[i].text, &f, &err);
        if (status != MACHINE_BAD_INPUT || strcmp(err.text, cases[i].message) != 0)
            fail_msg("case %zu: status %d\n is:     %s\n and not %s", i, status, status ? err.text : "",
                     cases[i].message);
    }
}

TEST(there_is_a_limit_to_tasks_and_phases)
{
    char text[8000] = HEAD MACHINE, more[100];
    struct drawn_file f;
    struct machine_error err;
    for (unsigned i = 0; i <= DRAWN_TASKS_MAX; i++) {
        snprintf(more, sizeof more, "[task t%u]\nthreads = 1 # a\n[phase t%u p]\nclass = none # a\nus = fixed 1 # a\n",
                 i, i);
        strcat(text, more);
        assert_int_equal(parse(text, &f, &err), i < DRAWN_TASKS_MAX ? MACHINE_OK : MACHINE_BAD_INPUT);
    }
    assert_string_equal(err.text, "F:88: task t16: more than 16 tasks");
    strcpy(text, HEAD MACHINE TASK);
    for (unsigned i = 0; i <= DRAWN_PHASES_MAX; i++) {
        snprintf(more, sizeof more, "[phase t p%u]\nclass = none # a\nus = fixed 1 # a\n", i);
        strcat(text, more);
        assert_int_equal(parse(text, &f, &err), i < DRAWN_PHASES_MAX ? MACHINE_OK : MACHINE_BAD_INPUT);
    }
    assert_string_equal(err.text, "F:58: phase t p16: more than 16 phases of one task");
}
