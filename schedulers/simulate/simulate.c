/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One simulation: whether it is possible, what feeds the engine, and what it found. */
#include "schedulers/simulate/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/engine.h"
#include "schedulers/simulate/scheduling/dispatch.h"

/* ---- whether it can be done ---- */

static int check_classes(const struct sim_params *p, const struct sim_workload *w, char *why, size_t size)
{
    for (int c = 0; c < SIM_CLASSES; c++)
        if (w->class_used[c] && sim_params_demand(p, (enum sim_class)c) < 0)
            return error_line(why, size, "the export gives no level for class %s, which %s uses", sim_class_names[c],
                              w->name);
    return 0;
}

static int check_cores(const struct sim_params *p, const struct sim_workload *w, char *why, size_t size)
{
    unsigned n = w->active_cores != 0 ? w->active_cores : w->n_cores;
    if (n > p->cores)
        return error_line(why, size, "the export has frequencies for up to %u active core%s; %s needs %u", p->cores,
                          p->cores == 1 ? "" : "s", w->name, n);
    if (w->active_cores != 0 && w->active_cores < w->n_cores)
        return error_line(why, size, "%u active core%s fewer than the %u cores of %s", w->active_cores,
                          w->active_cores == 1 ? " is" : "s are", w->n_cores, w->name);
    return 0;
}

/* Checks that the export has the costs of changes between two levels; software knows no classes. */
static int check_changes(struct sim_params *p, const struct sim_options *o, unsigned fast, unsigned slow,
                         const char **why)
{
    struct sim_wait wait;
    if (sim_params_down(p, fast, slow, SIM_NONE, 1, why) == NULL)
        return -1;
    if (o->policy != SIM_NEVER && sim_params_up(p, slow, fast, 1, why) < 0)
        return -1;
    return o->policy == SIM_STOCK ? sim_params_wait(p, slow, fast, &wait, why) : 0;
}

/* Checks that the workload says of tasks and cores what a scheduler needs. */
static int check_scheduler(const struct sim_workload *w, enum sim_scheduler scheduler, char *why, size_t size)
{
    if (scheduler != SIM_RECORDED && w->works.read == NULL)
        return error_line(why, size, "scheduler %s needs to know what each task does, which %s does not contain",
                          sim_scheduler_names[scheduler], w->name);
    if (scheduler == SIM_CORE && !w->has_cookie)
        return error_line(why, size, "scheduler core needs the column cookie, which %s does not have", w->name);
    bool specializes = scheduler == SIM_SPECIALIZE || scheduler == SIM_SPECIALIZE_ALWAYS;
    if (specializes && !w->has_syscall)
        return error_line(why, size, "scheduler %s needs the column syscall, which %s does not have",
                          sim_scheduler_names[scheduler], w->name);
    if (specializes && w->n_cores < 2)
        return error_line(why, size, "scheduler %s needs at least two cores; %s has one",
                          sim_scheduler_names[scheduler], w->name);
    return 0;
}

int sim_check(struct sim_params *p, const struct sim_workload *w, const struct sim_options *o, char *why,
              size_t why_size)
{
    bool demanded[SIM_LEVELS_MAX] = {true};
    const char *missing;
    if (check_classes(p, w, why, why_size) != 0 || check_cores(p, w, why, why_size) != 0 ||
        check_scheduler(w, o->scheduler, why, why_size) != 0)
        return -1;
    if (o->policy == SIM_SOFTWARE && !w->has_ipc)
        return error_line(why, why_size, "policy software needs the column ipc, which %s does not have", w->name);
    if (o->policy == SIM_ORACLE && o->scheduler != SIM_RECORDED)
        return error_line(why, why_size,
                          "policy oracle needs to know what each CPU will run, which a scheduler has not yet decided");
    for (int c = 0; c < SIM_CLASSES; c++)
        if (w->class_used[c])
            demanded[sim_params_demand(p, (enum sim_class)c)] = true;
    for (unsigned slow = 1; slow < p->levels; slow++)
        for (unsigned fast = 0; fast < slow; fast++)
            if ((demanded[slow] && demanded[fast]) || o->policy == SIM_SOFTWARE)
                if (check_changes(p, o, fast, slow, &missing) != 0)
                    return error_line(why, why_size, "%s", missing);
    return 0;
}

/* ---- without a scheduler: each CPU plays what was recorded, in order ---- */

/* Rows of one CPU that have been read and not played yet. */
struct playlist_cpu {
    struct sim_row *rows;
    size_t next, n, room;
    bool ended;
};
struct playlist {
    struct sim_workload *workload;
    struct playlist_cpu *cpu;
    bool failed; /* out of memory */
};

/* Rows that are read at a time, of each CPU. */
enum { ROWS_AT_ONCE = 1024 };

/* False: out of memory. playlist_free in any case. */
static bool playlist_init(struct playlist *p, struct sim_workload *w)
{
    *p = (struct playlist){.workload = w, .cpu = calloc(w->n_cpus, sizeof(*p->cpu))};
    return p->cpu != NULL;
}

static void playlist_free(struct playlist *p)
{
    for (unsigned i = 0; p->cpu != NULL && i < p->workload->n_cpus; i++)
        free(p->cpu[i].rows);
    free(p->cpu);
}

/* Appends more rows of a CPU. False: there are none. */
static bool playlist_read(struct playlist *p, unsigned cpu)
{
    struct playlist_cpu *c = &p->cpu[cpu];
    if (c->ended)
        return false;
    if (c->next > 0) {
        c->n -= c->next;
        memmove(c->rows, c->rows + c->next, c->n * sizeof(*c->rows));
        c->next = 0;
    }
    if (c->room < c->n + ROWS_AT_ONCE) {
        size_t room = 2 * (c->n + ROWS_AT_ONCE);
        struct sim_row *rows = realloc(c->rows, room * sizeof(*rows));
        if (rows == NULL) {
            p->failed = c->ended = true;
            return false;
        }
        c->rows = rows;
        c->room = room;
    }
    size_t n = p->workload->cpus.read(p->workload->cpus.self, cpu, c->rows + c->n, ROWS_AT_ONCE);
    c->n += n;
    c->ended = n == 0;
    return n > 0;
}

/* The row is valid until the next call. */
static const struct sim_row *playlist_peek(void *self, unsigned cpu, size_t i)
{
    struct playlist *p = self;
    struct playlist_cpu *c = &p->cpu[cpu];
    while (c->next + i >= c->n)
        if (!playlist_read(p, cpu))
            return NULL;
    return &c->rows[c->next + i];
}

static bool playlist_next(void *self, struct engine *e, unsigned cpu, struct engine_segment *out)
{
    struct playlist *p = self;
    struct playlist_cpu *c = &p->cpu[cpu];
    (void)e;
    if (c->next == c->n && !playlist_read(p, cpu))
        return false;
    const struct sim_row *row = &c->rows[c->next++];
    *out = (struct engine_segment){.amount = row->task == SIM_IDLE ? row->ps : row->ps * p->workload->recorded,
                                   .task = row->task,
                                   .ipc = row->ipc,
                                   .stall = row->stall,
                                   .class = row->class};
    return true;
}

/* ---- doing it ---- */

static void make_result(struct engine *e, struct sim_result *out)
{
    *out = (struct sim_result){.policy = sim_policy_names[e->options->policy],
                               .scheduler = sim_scheduler_names[e->options->scheduler],
                               .n_tasks = e->workload->n_tasks,
                               .n_cores = e->n_cores,
                               .tasks = e->tasks,
                               .rows = e->rows,
                               .slowdown = NAN, /* until sim_fairness_find */
                               .cpu_slowdown = NAN,
                               .unfairness = NAN};
    e->tasks = NULL; /* the result's from now on */
    for (size_t i = 0; i < out->n_tasks; i++)
        sim_times_add(&out->all, &out->tasks[i]);
    for (unsigned core = 0; core < e->n_cores; core++) {
        out->down += e->core[core].n_down;
        out->up += e->core[core].n_up;
    }
    out->transitions = out->down + out->up;
}

/* Once the feed has run: what kept rows from being read. */
static int check_workload_read(const struct sim_workload *w, const struct sim_source *from, bool failed, int status,
                               struct machine_error *err)
{
    const char *unread = from->error != NULL ? from->error(from->self) : NULL;
    if (status != MACHINE_OK || (unread == NULL && !failed))
        return status;
    return machine_fail(err, MACHINE_FAILED, "", "%s: %s", w->name, unread != NULL ? unread : "out of memory");
}

/* Tasks where and when they were recorded. */
static int run_recorded(struct sim_params *p, struct sim_workload *w, const struct sim_options *o,
                        struct sim_result *out, struct machine_error *err)
{
    struct engine e = {0};
    struct playlist list;
    struct engine_policy policy = policy_of(o->policy);
    struct engine_feed feed = {.next = playlist_next, .peek = playlist_peek, .self = &list};
    int status = MACHINE_FAILED;
    w->cpus.rewind(w->cpus.self);
    if (playlist_init(&list, w) && engine_init(&e, p, w, o, &policy, &feed) == MACHINE_OK)
        status = engine_run(&e, err);
    else
        machine_fail(err, MACHINE_FAILED, "", "out of memory");
    status = check_workload_read(w, &w->cpus, list.failed, status, err);
    if (status == MACHINE_OK)
        make_result(&e, out);
    engine_free(&e);
    playlist_free(&list);
    return status;
}

/* Tasks where and when a scheduler lets them run. */
static int run_scheduled(struct sim_params *p, struct sim_workload *w, const struct sim_options *o,
                         struct sim_result *out, struct machine_error *err)
{
    struct engine e = {0};
    struct dispatch d;
    struct engine_policy policy = policy_of(o->policy);
    struct engine_feed feed = {.next = scheduling_next, .wake = scheduling_wake, .self = &d};
    int status = MACHINE_FAILED;
    w->works.rewind(w->works.self);
    if (scheduling_init(&d, w) && rules_init(&d, p, o->scheduler) &&
        engine_init(&e, p, w, o, &policy, &feed) == MACHINE_OK && scheduling_begin(&d, &e))
        status = engine_run(&e, err);
    else
        machine_fail(err, MACHINE_FAILED, "", "out of memory");
    status = check_workload_read(w, &w->works, d.programs.failed, status, err);
    if (status == MACHINE_OK) {
        make_result(&e, out);
        out->rows = d.programs.rows;
        out->switches = d.switches;
        out->migrations = d.migrations;
        out->core_changes = d.core_changes;
        out->forced_idle_ps = d.forced_idle_ps;
        int64_t cpu_ps = sim_times_cpu(&out->all);
        out->mean_ghz = cpu_ps > 0 ? d.cycles / (double)cpu_ps / (1000 * SIM_UNITS_PER_MHZ) : 0;
    }
    engine_free(&e);
    scheduling_free(&d);
    return status;
}

int sim_run(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, struct sim_result *out,
            struct machine_error *err)
{
    char why[400];
    memset(out, 0, sizeof(*out));
    if (sim_check(p, w, o, why, sizeof(why)) != 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%s", why);
    return (o->scheduler == SIM_RECORDED ? run_recorded : run_scheduled)(p, w, o, out, err);
}

/* ---- results ---- */

int64_t sim_times_cpu(const struct sim_times *t)
{
    int64_t sum = 0;
    for (size_t i = 0; i < SIM_LEVELS_MAX; i++)
        sum += t->level_ps[i];
    return sum;
}

double sim_times_overhead(const struct sim_times *t)
{
    return t->ideal_ps > 0 ? (double)sim_times_cpu(t) / t->ideal_ps - 1 : NAN;
}

double sim_times_remote(const struct sim_times *t)
{
    return t->remote_ideal_ps > 0 ? (double)t->remote_ps / t->remote_ideal_ps - 1 : NAN;
}

double sim_times_remote_smt(const struct sim_times *t)
{
    return t->remote_ideal_ps > 0 ? t->remote_smt_ps / t->remote_ideal_ps : NAN;
}

double sim_times_remote_delay(const struct sim_times *t)
{
    return sim_times_remote(t) - sim_times_remote_smt(t);
}

void sim_times_add(struct sim_times *a, const struct sim_times *b)
{
    for (size_t i = 0; i < SIM_LEVELS_MAX; i++)
        a->level_ps[i] += b->level_ps[i];
    a->throttled_ps += b->throttled_ps;
    a->halted_ps += b->halted_ps;
    a->scheduling_ps += b->scheduling_ps;
    a->ideal_ps += b->ideal_ps;
    a->remote_ps += b->remote_ps;
    a->remote_ideal_ps += b->remote_ideal_ps;
    a->remote_smt_ps += b->remote_smt_ps;
    a->end_ps = b->end_ps > a->end_ps ? b->end_ps : a->end_ps;
}

void sim_result_free(struct sim_result *r)
{
    free(r->tasks);
    memset(r, 0, sizeof *r);
}
