/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alone: durations of trials on this processor */
/* Trials on this processor, what is refused, how many rounds; and what the kernel counted meanwhile, from made
 * files. */
#include "drivers/native/trials.h"
#include "tests/support/folder.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

#include <time.h>

/* ---- what came between ---- */

static double interrupts_of(const char *text, int cpu)
{
    FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(in);
    double sum = trials_between_interrupts(in, cpu);
    fclose(in);
    return sum;
}

TEST(interrupts_of_a_cpu)
{
    static const char text[] = "           CPU0       CPU2       CPU10\n"
                               "  1:          9          0          7   IO-APIC   1-edge      i8042\n"
                               "LOC:        100        200        300   Local timer interrupts\n"
                               "ERR:         55\nMIS:         66\n"
                               "NMI:          1          2          3   Non-maskable interrupts\n";
    assert_true(interrupts_of(text, 0) == 110);
    assert_true(interrupts_of(text, 2) == 202);
    assert_true(interrupts_of(text, 10) == 310);
    assert_true(isnan(interrupts_of(text, 1)));
    assert_true(isnan(interrupts_of("\n", 0)));
    assert_true(isnan(interrupts_of("x", 0)));
    assert_true(interrupts_of("CPU0\nLOC\nLOC:\n:\n 1: x\n2: 5", 0) == 5);
}

TEST(from_files)
{
    char root[FOLDER_PATH_MAX];
    struct trials_between before, now;
    folder_make(root);
    trials_between_read(root, 1, &before);
    assert_true(isnan(before.interrupts) && isnan(before.steal_ms) && before.faults >= 0 && before.switches >= 0);
    folder_put(root, "interrupts", "CPU0 CPU1\nLOC: 5 7\n");
    folder_put(root, "stat",
               "cpu 1 1 1 1 1 1 1 99\ncpu0 0 0 0 0 0 0 0 50\ncpu1 0 0 0 0 0 0 0 20 0 0\ncpu10 0 0 0 0 0 0 0 7\n");
    trials_between_read(root, 1, &before);
    folder_put(root, "interrupts", "CPU0 CPU1\nLOC: 5 17\n");
    folder_put(root, "stat", "cpu1 0 0 0 0 0 0 0 23 0 0\n");
    trials_between_read(root, 1, &now);
    trials_between_since(&before, &now);
    assert_true(now.interrupts == 10 && now.steal_ms == 30);
    trials_between_read(root, 1, &now);
    trials_between_since(&now, &before); /* backwards */
    assert_true(isnan(before.interrupts) && isnan(before.steal_ms));
    trials_between_read(NULL, 1, &now);
    assert_true(isnan(now.interrupts) && isnan(now.steal_ms) && now.switches >= 0);
    folder_remove(root);
}

/* ---- rounds ---- */

static double quadratic(void *context, uint64_t rounds)
{
    *(unsigned *)context += 1;
    return 0.5 * (double)rounds * (double)rounds;
}

static double linear(void *context, uint64_t rounds)
{
    return *(double *)context * (double)rounds;
}

/* One look in four meets something that takes fifty times as long. */
static double disturbed(void *context, uint64_t rounds)
{
    return (double)rounds * (rng_chance(context, 0.25) ? 50 : 1);
}

TEST(rounds_are_found)
{
    unsigned calls = 0;
    uint64_t rounds = trials_find_rounds(quadratic, &calls, 5e6); /* sqrt(1e7) */
    assert_in_range(rounds, 3162 - 32, 3162);
    assert_true(calls < 120);
    for (double each = 1e-3; each < 1e4; each *= 7) {
        rounds = trials_find_rounds(linear, &each, 1e6);
        assert_true((double)rounds * each <= 1e6 && (double)rounds * each >= 0.98e6);
    }
    double each = 1e9; /* a round is longer than the trial is to be */
    assert_int_equal(trials_find_rounds(linear, &each, 1), 1);
    each = 0; /* a clock that stands still ends the search, too */
    assert_true(trials_find_rounds(linear, &each, 1) >= UINT64_C(1) << 39);
    /* on a busy machine the search ended at a twentieth of the length requested */
    struct rng rng;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rng_init(&rng, seed, 0);
        assert_in_range(trials_find_rounds(disturbed, &rng, 1e6), 960000, 1000000);
    }
}

TEST(where_trials_begin)
{
    /* 4096 lines: 256 rounds read them all */
    assert_int_equal(trials_first_round(256, 4096 * 64, 7), 0);
    assert_int_equal(trials_first_round(255, 4096 * 64, 7), 255 * 7);
    assert_int_equal(trials_first_round(1, 0, 7), 0);
}

/* ---- on this processor ---- */

struct stopping {
    unsigned polls, after;
};

static int stop_after(void *data)
{
    struct stopping *s = data;
    return ++s->polls > s->after;
}

TEST(on_this_processor)
{
    struct machine m;
    struct machine_error err;
    struct machine_setup setup = {.cpu = -1, .active_cores = 1, .period_us = 1, .max_samples = 1};
    struct trials_seen seen;
    struct machine_info info;
    double duration[60];
    if (machine_open_timing(&m, &err) != MACHINE_OK) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    struct trials_request r = {.workload = WORKLOAD_REGISTER, .trial_us = 50, .trials = 60};
    assert_int_equal(m.ops->trials(&m, &r, duration, &seen, &err), MACHINE_FAILED); /* not prepared */
    assert_int_equal(m.ops->prepare(&m, &setup, &err), MACHINE_OK);
    m.ops->info(&m, &info);
    assert_true(info.caches.l1 >= 8 << 10);
    for (int i = 0; i < 3; i++) {
        r.workload = i < 2 ? (enum workload_number)i : WORKLOAD_LOAD;
        r.bytes = i < 2 ? 0 : 16384;
        r.before = i == 1 ? TRIALS_SPOIL : TRIALS_NOTHING;
        assert_int_equal(m.ops->trials(&m, &r, duration, &seen, &err), MACHINE_OK);
        assert_false(seen.cycles);
        assert_true(seen.rounds > 1 && seen.resolution > 0 && seen.resolution < 1000);
        assert_true(seen.between.switches >= 0 && seen.between.faults >= 0 && isnan(seen.between.smis));
        double least = duration[0];
        for (size_t k = 0; k < 60; k++)
            least = fmin(least, duration[k]);
        /* a clock that was slower while rounds were found, or a predictor that knew the branches then */
        assert_true(least > 10000 && least < 500000);
    }
    /* idle, then in ns; branches are not to be counted here */
    struct trial_branches branches[60];
    struct timespec before, after;
    r = (struct trials_request){
        .workload = WORKLOAD_BRANCH, .trial_us = 50, .trials = 60, .idle_ms = 250, .branches = branches};
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert_int_equal(m.ops->trials(&m, &r, duration, &seen, &err), MACHINE_OK);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true((double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec) >= 0.25);
    assert_non_null(strstr(seen.uncounted, "reads no performance counters"));
    struct stopping stop = {0, 0};
    r.stop = stop_after, r.data = &stop;
    assert_int_equal(m.ops->trials(&m, &r, duration, &seen, &err), MACHINE_FAILED);
    stop = (struct stopping){0, 2};
    r = (struct trials_request){
        .workload = WORKLOAD_REGISTER, .trial_us = 30000, .trials = 60, .stop = stop_after, .data = &stop};
    assert_int_equal(m.ops->trials(&m, &r, duration, &seen, &err), MACHINE_FAILED);
    assert_int_equal(stop.polls, 3);
    static const struct trials_request refused[] = {
        {.workload = WORKLOAD_REGISTER, .trial_us = 1, .trials = 0},
        {.workload = WORKLOAD_REGISTER, .trial_us = 0, .trials = 1},
        {.workload = WORKLOAD_REGISTER, .trial_us = 1e8, .trials = 1},
        {.workload = WORKLOAD_REGISTER, .trial_us = NAN, .trials = 1},
        {.workload = WORKLOAD_LOAD, .trial_us = 1, .trials = 1, .bytes = 0},
        {.workload = WORKLOAD_LOAD, .trial_us = 1, .trials = 1, .bytes = 65},
        {.workload = WORKLOAD_REGISTER, .trial_us = 1, .trials = 100001},
        {.workload = WORKLOAD_CHASE, .trial_us = 1, .trials = 1, .bytes = 0},
        {.workload = WORKLOAD_REGISTER, .trial_us = 1, .trials = 1, .idle_ms = -1},
        {.workload = WORKLOAD_REGISTER, .trial_us = 1, .trials = 1, .idle_ms = 10001},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_int_equal(m.ops->trials(&m, &refused[i], duration, &seen, &err), MACHINE_BAD_INPUT);
    r = (struct trials_request){.workload = WORKLOAD_REGISTER, .trial_us = 1, .trials = 1, .masked = true};
    assert_int_equal(m.ops->trials(&m, &r, duration, &seen, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.remedy, "--machine helper"));
    r.masked = false;
    r.before = TRIALS_IBPB;
    assert_int_equal(m.ops->trials(&m, &r, duration, &seen, &err), MACHINE_CANNOT);
    r = (struct trials_request){.workload = WORKLOAD_LOAD, .trial_us = 1, .trials = 1, .bytes = (size_t)1 << 46};
    assert_int_equal(m.ops->trials(&m, &r, duration, &seen, &err), MACHINE_CANNOT); /* no such memory */
    m.ops->close(&m);
}

/* Loads that wait for each other take the longer the farther away they are. */
TEST(a_chase_on_this_processor)
{
    struct machine m;
    struct machine_error err;
    struct machine_setup setup = {.cpu = -1, .active_cores = 1, .period_us = 1, .max_samples = 1};
    double ns[2], duration[60];
    if (machine_open_timing(&m, &err) != MACHINE_OK)
        skip();
    assert_int_equal(m.ops->prepare(&m, &setup, &err), MACHINE_OK);
    for (int i = 0; i < 2; i++) {
        struct trials_request r = {
            .workload = WORKLOAD_CHASE, .bytes = i ? 64 << 20 : 4096, .trial_us = 200, .trials = 60};
        struct trials_seen seen;
        assert_int_equal(m.ops->trials(&m, &r, duration, &seen, &err), MACHINE_OK);
        ns[i] = INFINITY;
        for (size_t k = 0; k < 60; k++)
            ns[i] = fmin(ns[i], duration[k] / (double)seen.rounds / WORKLOAD_LOADS);
    }
    m.ops->close(&m);
    assert_true(ns[0] > 0.3 && ns[0] < 10); /* 4 or 5 cycles */
    assert_true(ns[1] > 3 * ns[0]);
}

/* A counter that is there except for one of its readings. */
struct lossy_counter {
    unsigned read, missing;
};

static uint64_t lossy_cycles(void *context)
{
    struct lossy_counter *c = context;
    return c->read++ == c->missing ? COUNTER_MISSING : 1000 * c->read;
}

static bool lossy_branches(void *context, struct trial_branches *out)
{
    struct lossy_counter *c = context;
    *out = (struct trial_branches){100 * c->read, c->read};
    return c->read++ != c->missing;
}

/* Branches that cannot be read once are not reported, and the trials go on. */
TEST(branches_that_are_taken_away)
{
    struct native s = {.sys = "/nowhere", .tsc = {.hz = 2e9}, .prepared = true};
    struct trial_branches branches[3];
    const struct trials_request r = {.workload = WORKLOAD_REGISTER, .trial_us = 5, .trials = 3, .branches = branches};
    for (unsigned missing = 2; missing < 7; missing += 1 + (missing == 3) * 2) {
        struct lossy_counter counter = {0, missing};
        const struct trials_clock clock = {.branches = lossy_branches, .context = &counter};
        struct trials_seen seen;
        struct machine_error err;
        double duration[3];
        s.cpu = sched_getcpu();
        int status = trials_run(&s, &r, &clock, duration, &seen, &err);
        if (status != MACHINE_OK) /* moved to another CPU */
            continue;
        assert_false(seen.cycles);
        if (missing < 6)
            assert_non_null(strstr(seen.uncounted, "taken away in trial 2"));
        else
            assert_string_equal(seen.uncounted, "");
        assert_true(branches[0].all == 100 && branches[0].mispredicted == 1);
    }
}

/* A count that is missing before or after a trial gives no duration. */
TEST(a_counter_that_is_taken_away)
{
    struct native s = {.sys = "/nowhere", .tsc = {.hz = 2e9}, .prepared = true};
    const struct trials_request r = {.workload = WORKLOAD_REGISTER, .trial_us = 5, .trials = 3};
    for (unsigned missing = 2; missing < 4; missing++) { /* of the second trial */
        struct lossy_counter counter = {0, missing};
        const struct trials_clock clock = {.cycles = lossy_cycles, .context = &counter};
        struct trials_seen seen;
        struct machine_error err;
        double duration[3];
        assert_int_equal(trials_run(&s, &r, &clock, duration, &seen, &err), MACHINE_FAILED);
        assert_string_equal(err.text, "the cycle counter was taken away in trial 2");
    }
}
