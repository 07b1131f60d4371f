/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulator against tests/support/slow_simulator.c, which was written from doc/simulation.md alone: the same times
 * to the picosecond and the same counts, on random processors and random workloads, under every policy; and what must
 * hold of any simulation (nothing is lost between tasks, levels and totals).
 */
#include <inttypes.h>

#include "schedulers/simulate/simulate.h"
#include "tests/support/folder.h"
#include "tests/support/random_export.h"
#include "tests/support/random_workload.h"
#include "tests/support/slow_simulator.h"
#include "tests/support/test.h"

enum { WORKLOADS = 2000, PLAIN_WORKLOADS = 300 };

/* One workload on one processor, and what became of all of them. */
struct rig {
    char folder[FOLDER_PATH_MAX], path[FOLDER_PATH_MAX + 20];
    uint64_t seed;
    struct sim_params *fast;
    struct slow_params *slow;
    struct memory_workload m;
    struct sim_options o;
    unsigned compared, refused;
    uint64_t rows, transitions, ups;
};

static void rig_make(struct rig *rig)
{
    *rig = (struct rig){.seed = 0};
    folder_make(rig->folder);
    snprintf(rig->path, sizeof rig->path, "%s/export.json", rig->folder);
}

/* Draws a processor and its workload. Returns false if there is no such processor: a level may lack its frequency in
 * those that are not whole. */
static bool rig_draw(struct rig *rig, struct rng *r, bool whole, bool plain)
{
    struct random_shape shape = random_shape(r);
    struct machine_error err;
    random_export_write(rig->path, r, shape.cores, whole);
    if (sim_params_read(rig->path, &rig->fast, &err) != MACHINE_OK) {
        if (whole)
            fail_msg("workload %" PRIu64 ": %s", rig->seed, err.text);
        return false;
    }
    rig->slow = slow_params_read(rig->path);
    random_workload(&rig->m, r, shape, rig->slow, plain);
    return true;
}

static void rig_discard(struct rig *rig)
{
    memory_workload_free(&rig->m);
    slow_params_free(rig->slow);
    sim_params_free(rig->fast);
}

/* ---- both alike ---- */

static void same_number(const struct rig *rig, const char *what, long task, int64_t fast, int64_t slow)
{
    if (fast != slow)
        fail_msg("workload %" PRIu64 ", %s, task %ld: %s is %" PRId64 ", but the page says %" PRId64, rig->seed,
                 sim_policy_names[rig->o.policy], task, what, fast, slow);
}

static void same_double(const struct rig *rig, const char *what, long task, double fast, double slow, double scale)
{
    if (!(fabs(fast - slow) <= 1e-9 * scale))
        fail_msg("workload %" PRIu64 ", %s, task %ld: %s is %.17g, but the page says %.17g", rig->seed,
                 sim_policy_names[rig->o.policy], task, what, fast, slow);
}

static void same_times(const struct rig *rig, long task, const struct sim_times *a, const struct sim_times *b)
{
    for (unsigned k = 0; k < SIM_LEVELS_MAX; k++)
        same_number(rig, "time at a level", task, a->level_ps[k], b->level_ps[k]);
    same_number(rig, "throttled time", task, a->throttled_ps, b->throttled_ps);
    same_number(rig, "halted time", task, a->halted_ps, b->halted_ps);
    same_number(rig, "time of work that is not wide", task, a->remote_ps, b->remote_ps);
    same_number(rig, "the end", task, a->end_ps, b->end_ps);
    same_double(rig, "ideal time", task, a->ideal_ps, b->ideal_ps, b->ideal_ps);
    same_double(rig, "remote ideal time", task, a->remote_ideal_ps, b->remote_ideal_ps, b->remote_ideal_ps);
    same_double(rig, "time lost to siblings", task, a->remote_smt_ps, b->remote_smt_ps, (double)b->remote_ps);
}

static void same_result(const struct rig *rig, const struct sim_result *a, const struct sim_result *b,
                        const struct slow_counts *counts)
{
    same_number(rig, "number of tasks", -1, (int64_t)a->n_tasks, (int64_t)b->n_tasks);
    same_number(rig, "number of cores", -1, (int64_t)a->n_cores, (int64_t)b->n_cores);
    same_number(rig, "changes down", -1, (int64_t)a->down, (int64_t)counts->down);
    same_number(rig, "changes up", -1, (int64_t)a->up, (int64_t)counts->up);
    same_number(rig, "transitions", -1, (int64_t)a->transitions, (int64_t)b->transitions);
    for (size_t i = 0; i < b->n_tasks; i++)
        same_times(rig, (long)i, &a->tasks[i], &b->tasks[i]);
    same_times(rig, -1, &a->all, &b->all);
    same_number(rig, "rows played", -1, (int64_t)a->rows, (int64_t)b->rows);
}

/* ---- what holds of any simulation ---- */

/* The work of all rows, as time at level 0: at the fewest active cores or at the most. */
static double time_of_work(const struct rig *rig, unsigned n)
{
    double ps = 0;
    for (unsigned cpu = 0; cpu < rig->m.w.n_cpus; cpu++)
        for (size_t i = 0; i < rig->m.stream[cpu].n; i++) {
            const struct sim_row *row = &rig->m.stream[cpu].rows[i];
            uint32_t speed = slow_stalled_speed(slow_params_speed(rig->slow, 0, n), rig->m.w.recorded,
                                                rig->m.w.has_stall ? row->stall : 0);
            if (row->task != SIM_IDLE)
                ps += (double)row->ps * rig->m.w.recorded / speed;
        }
    return ps;
}

static void work_is_done(const struct rig *rig, const struct sim_result *r)
{
    unsigned fixed = rig->m.w.active_cores, first = fixed ? fixed : 1, last = fixed ? fixed : rig->m.w.n_cores;
    double least = INFINITY, most = 0;
    for (unsigned n = first; n <= last; n++) {
        least = fmin(least, time_of_work(rig, n));
        most = fmax(most, time_of_work(rig, n));
    }
    /* the last picosecond of a row may do more than is left of it */
    assert_true(r->all.ideal_ps >= least * (1 - 1e-9));
    assert_true(r->all.ideal_ps <= most * (1 + 1e-9) + 1.1 * (double)r->rows);
}

static void adds_up(const struct rig *rig, const struct sim_result *r)
{
    struct sim_times sum = {.end_ps = 0};
    for (size_t i = 0; i < r->n_tasks; i++) {
        const struct sim_times *t = &r->tasks[i];
        int64_t levels = 0;
        for (unsigned k = 0; k < SIM_LEVELS_MAX; k++)
            levels += t->level_ps[k];
        assert_int_equal(levels, sim_times_cpu(t));
        assert_true(t->throttled_ps + t->halted_ps <= levels && t->remote_ps <= levels);
        assert_true(t->end_ps * rig->m.w.n_cpus >= levels);
        if (t->remote_ps > 0)
            assert_true(fabs(sim_times_remote(t) - sim_times_remote_smt(t) - sim_times_remote_delay(t)) < 1e-12);
        if (!rig->m.w.smt)
            assert_true(fabs(t->remote_smt_ps) <= 1e-12 * (double)t->remote_ps);
        sim_times_add(&sum, t);
    }
    same_times(rig, -1, &r->all, &sum);
    assert_int_equal(r->transitions, r->down + r->up);
    assert_true(r->up <= r->down * (slow_params_levels(rig->slow) - 1)); /* all cores begin at level 0 */
    if (r->all.ideal_ps > 0)
        assert_true(fabs(sim_times_overhead(&r->all) - ((double)sim_times_cpu(&r->all) / r->all.ideal_ps - 1)) < 1e-12);
    else
        assert_true(isnan(sim_times_overhead(&r->all)));
}

/* The cores as an observer is shown them. */
struct watch {
    int64_t until[MEMORY_CPUS_MAX]; /* the end of each core's last piece */
    int64_t level_ps[SIM_LEVELS_MAX], halted_ps;
};

static void watch_piece(void *self, unsigned core, int64_t from, int64_t to, unsigned level, unsigned permille)
{
    struct watch *watch = self;
    assert_true(core < MEMORY_CPUS_MAX && level < SIM_LEVELS_MAX);
    assert_int_equal(from, watch->until[core]);
    assert_true(from < to);
    watch->until[core] = to;
    watch->level_ps[level] += to - from;
    watch->halted_ps += permille == 0 ? to - from : 0;
}

/* Pieces follow each other from the beginning to the end; without siblings, CPU time is a part of them. */
static void pieces_cover_it(const struct rig *rig, const struct watch *watch, const struct sim_result *r)
{
    for (unsigned core = 0; core < r->n_cores; core++) {
        assert_int_equal(watch->until[core], watch->until[0]);
        assert_true(watch->until[core] >= r->all.end_ps);
    }
    if (rig->m.w.smt)
        return;
    for (unsigned k = 0; k < SIM_LEVELS_MAX; k++)
        assert_true(r->all.level_ps[k] <= watch->level_ps[k]);
    assert_true(r->all.halted_ps <= watch->halted_ps);
}

/* ---- the comparison ---- */

/* One policy, by both; fewest: changes of level that policy never had, on one CPU. */
static void compare_policy(struct rig *rig, bool whole, uint64_t *fewest)
{
    struct sim_result fast, slow;
    struct slow_counts counts;
    struct machine_error err;
    struct watch watch = {.halted_ps = 0};
    const struct sim_observer observer = {.piece = watch_piece, .self = &watch};
    char why[300] = "";
    rig->o.observer = &observer;
    bool can = sim_check(rig->fast, &rig->m.w, &rig->o, why, sizeof why) == 0;
    int status = sim_run(rig->fast, &rig->m.w, &rig->o, &fast, &err);
    if (!can) {
        assert_int_equal(status, MACHINE_BAD_INPUT);
        if (whole && !(rig->o.policy == SIM_SOFTWARE && !rig->m.w.has_ipc))
            fail_msg("workload %" PRIu64 ", %s: %s", rig->seed, sim_policy_names[rig->o.policy], why);
        rig->refused++;
        return;
    }
    assert_int_equal(status, MACHINE_OK);
    assert_true(slow_simulate(rig->slow, &rig->m.w, &rig->o, &slow, &counts));
    same_result(rig, &fast, &slow, &counts);
    adds_up(rig, &fast);
    work_is_done(rig, &fast);
    pieces_cover_it(rig, &watch, &fast);
    if (rig->o.policy == SIM_NEVER) {
        assert_int_equal(fast.up, 0);
        *fewest = fast.transitions;
    } else if (rig->o.policy == SIM_ORACLE) {
        assert_true(fast.up <= counts.falls);
    }
    if (rig->m.w.n_cpus == 1 && rig->o.policy != SIM_SOFTWARE) /* whose code demands other levels */
        assert_true(*fewest <= fast.transitions);
    rig->compared++;
    rig->rows += fast.rows;
    rig->transitions += fast.transitions;
    rig->ups += fast.up;
    sim_result_free(&fast);
    free(slow.tasks);
}

static void compare_policies(struct rig *rig, struct rng *r, bool whole)
{
    static const enum sim_policy policies[] = {SIM_NEVER,  SIM_STOCK,    SIM_TIMEOUT,
                                               SIM_ORACLE, SIM_SOFTWARE, SIM_LEARNED};
    uint64_t fewest = 0;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        rig->o = (struct sim_options){.policy = policies[i], .scheduler = SIM_RECORDED, .seed = rng_bits(r)};
        compare_policy(rig, whole, &fewest);
        if (policies[i] == SIM_TIMEOUT) {
            rig->o.timeout_given = true;
            rig->o.timeout_ps = rng_int(r, 0, 100) * (rng_chance(r, 0.5) ? 10 * SIM_PS_PER_US : 1234567);
            compare_policy(rig, whole, &fewest);
        }
    }
}

TEST(both_simulators_agree)
{
    struct rig rig;
    rig_make(&rig);
    for (rig.seed = 0; rig.seed < rng_rounds(WORKLOADS); rig.seed++) {
        struct rng r;
        rng_init(&r, rig.seed, 122);
        bool whole = rng_chance(&r, 0.95);
        if (!rig_draw(&rig, &r, whole, false))
            continue;
        compare_policies(&rig, &r, whole);
        rig_discard(&rig);
    }
    folder_remove(rig.folder);
    print_message("%u simulations of %" PRIu64 " rows, %" PRIu64 " changes of level, %" PRIu64
                  " of them up; %u refused\n",
                  rig.compared, rig.rows, rig.transitions, rig.ups, rig.refused);
    assert_true(rig.compared > 5 * rng_rounds(WORKLOADS) && rig.ups > 1000);
}

TEST(nothing_is_lost_where_nothing_is_wide)
{
    struct rig rig;
    rig_make(&rig);
    for (rig.seed = 0; rig.seed < rng_rounds(PLAIN_WORKLOADS); rig.seed++) {
        struct rng r;
        struct sim_result out;
        struct machine_error err;
        rng_init(&r, rig.seed, 123);
        assert_true(rig_draw(&rig, &r, true, true));
        for (rig.o.policy = SIM_STOCK; rig.o.policy < SIM_POLICIES; rig.o.policy++) {
            if (rig.o.policy == SIM_SOFTWARE && !rig.m.w.has_ipc)
                continue;
            assert_int_equal(sim_run(rig.fast, &rig.m.w, &rig.o, &out, &err), MACHINE_OK);
            same_number(&rig, "changes of level", -1, (int64_t)out.transitions, 0);
            assert_int_equal(out.all.level_ps[0], sim_times_cpu(&out.all));
            assert_int_equal(out.all.remote_ps, sim_times_cpu(&out.all));
            if (sim_times_cpu(&out.all) > 0) {
                assert_true(fabs(sim_times_overhead(&out.all)) < 1e-9);
                assert_true(fabs(sim_times_remote(&out.all)) < 1e-9);
            }
            sim_result_free(&out);
        }
        rig_discard(&rig);
    }
    folder_remove(rig.folder);
}
