/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The modelled system of the profiler: what its parts promise. */
#include "drivers/model/system/system.h"
#include "drivers/profile/profile_source.h"
#include "tests/support/profile_truth.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { SEEDS = 6 };
static struct model model; /* too large for the stack */

static int setup_model(void **state)
{
    struct machine_error err;
    (void)state;
    return model_load("xeon-gold-6130", "data", &model, &err);
}

static struct system *drawn_system(uint64_t seed, unsigned flags)
{
    struct machine_error err;
    struct system *s;
    assert_int_equal(truth_system(&model, seed, flags, &s, &err), MACHINE_OK);
    return s;
}

/* ---- how fast code runs ---- */

/* A loop stalls as it was set to alone at the reference frequency, and its unit of work takes 1 us. */
TEST(test_loops_are_what_they_were_set_to)
{
    struct machine_error err;
    struct system_code c;
    struct rng r;
    rng_init(&r, 47, 1);
    for (unsigned i = 0; i < 1000; i++) {
        double stall = rng_range(&r, 0, 0.95), overlap = rng_range(&r, 0, 0.97);
        assert_int_equal(system_code_set(&model, "64add", &c, &err), MACHINE_OK);
        for (unsigned k = 0; k < SYSTEM_LOOPS; k++)
            system_loop_set(&c, k, stall, overlap);
        struct system_pace p = system_code_pace(&c, 1);
        assert_close(p.work, 1, 1e-9);
        assert_close(p.stall, stall, 1e-9);
        /* no faster than the clock, and slower with a slower one, the less so the more it stalls */
        double slow = system_code_pace(&c, 0.5).work;
        assert_true(slow >= 0.5 - 1e-9 && slow <= 1 + 1e-9);
        if (overlap == 0)
            assert_close(1 / slow, 2 * (1 - stall) + stall, 1e-9);
    }
    assert_true(system_code_pace(&c, 0).work == 0);
}

/* The mean error of eq. 4.3 over the codes that are drawn, from 2.8 to 1.9 GHz, is the published one. */
TEST(test_overlap_is_as_published)
{
    double error = 0;
    unsigned n = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct system *s = drawn_system(seed, 0);
        for (unsigned i = 0; i < s->n_tasks; i++)
            for (unsigned k = 0; k < s->task[i].n_codes; k++) {
                const struct system_code *c = &s->task[i].code[k];
                struct system_pace fast = system_code_pace(c, 1), slow = system_code_pace(c, 1.9 / 2.8);
                double predicted = 1.9 / (fast.stall * (1.9 - 2.8) + 2.8);
                error += fabs(slow.work / fast.work / predicted - 1);
                n++;
            }
        system_free(s);
    }
    assert_true(n > 1000);
    assert_close(error / n, 0.043, 0.004);
}

/* ---- who runs where ---- */

TEST(test_one_task_runs_at_most_once_at_a_time)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct system *s = drawn_system(seed, 0);
        int on[SYSTEM_TASKS_MAX];
        double last = 0;
        unsigned migrated = 0;
        for (unsigned i = 0; i < s->n_tasks; i++)
            on[i] = -1;
        for (unsigned i = 0; i < 20000 && !isinf(s->next.at); i++) {
            struct system_switch w = s->next;
            assert_true(w.at >= last && w.cpu < s->n_cpus && w.task < (int)s->n_tasks);
            last = w.at;
            for (unsigned k = 0; k < s->n_tasks; k++)
                if (on[k] == (int)w.cpu)
                    on[k] = -1;
            if (w.task != SYSTEM_NOBODY) {
                assert_int_equal(on[w.task], -1);
                on[w.task] = (int)w.cpu;
                migrated += (unsigned)w.task % s->n_cpus != w.cpu;
            }
            s->next = system_schedule_next(&s->schedule, s->task);
        }
        assert_true(migrated > 0 || last < 1e5);
        system_free(s);
    }
}

/* The schedule is the same whatever the levels do: only so can two systems be compared. */
TEST(test_cpu_time_does_not_depend_on_levels)
{
    static const unsigned flags[] = {SYSTEM_NO_WAITS, SYSTEM_OWN_LEVELS, SYSTEM_OWN_LEVELS | SYSTEM_NO_WAITS};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct system *actual = drawn_system(seed, 0);
        system_finish(actual, 2e6);
        for (unsigned k = 0; k < 3; k++) {
            struct system *other = drawn_system(seed, flags[k]);
            system_finish(other, 2e6);
            for (unsigned i = 0; i < actual->n_tasks; i++)
                assert_close(other->task[i].cpu_us, actual->task[i].cpu_us, 1e-3);
            system_free(other);
        }
        system_free(actual);
    }
}

/* ---- levels ---- */

/* Without the others' wide code and without waits narrow code is at level 0 always: it gets as far as it can. */
TEST(test_narrow_code_is_slowed_by_others_alone)
{
    double most = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct system *actual = drawn_system(seed, 0), *ideal = drawn_system(seed, SYSTEM_OWN_LEVELS | SYSTEM_NO_WAITS);
        system_finish(actual, 2e6);
        system_finish(ideal, 2e6);
        for (unsigned i = 0; i < actual->n_tasks; i++) {
            double gain = ideal->task[i].work / actual->task[i].work - 1;
            if (actual->task[i].kind != SYSTEM_NARROW || actual->task[i].work == 0)
                continue;
            assert_true(gain > -1e-3);
            most = fmax(most, gain);
        }
        system_free(actual);
        system_free(ideal);
    }
    assert_true(most > 0.05);
}

/* ---- late times ---- */

static const double LATE_US = 604800e6; /* the longest profile */

/* So often a system may ask whether to stop; then it is. */
static uint64_t polls, most_polls;
static bool stops_after_most_polls(void)
{
    return ++polls >= most_polls;
}

static void let_stop_after(struct system *s, uint64_t most)
{
    polls = 0;
    most_polls = most;
    s->stopped = stops_after_most_polls;
}

/* At time 0 and with nobody on their threads; a thread that they do not have stays empty. */
TEST(test_all_cores_begin_alike)
{
    static const struct system_thread none;
    unsigned single = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct system *s = drawn_system(seed, 0);
        single += s->n_threads == 1;
        for (unsigned i = 0; i < s->n_cores; i++) {
            assert_close(s->core[i].now, 0, 0);
            for (unsigned k = 0; k < SYSTEM_THREADS_MAX; k++) {
                const struct system_thread *t = &s->core[i].thread[k];
                if (k < s->n_threads)
                    assert_true(t->task == SYSTEM_NOBODY && t->assigned == SYSTEM_NOBODY && t->before == SYSTEM_NOBODY);
                else
                    assert_memory_equal(t, &none, sizeof none);
            }
        }
        system_free(s);
    }
    assert_true(single > 0);
}

/* Lets the record that has just been drawn begin so late. */
static void begin_late(struct system *s, double at)
{
    for (unsigned i = 0; i < s->n_cores; i++) {
        s->core[i].now = s->core[i].license.now = at;
        for (unsigned k = 0; k < s->n_threads; k++)
            s->core[i].thread[k].since_us = at;
    }
    for (unsigned i = 0; i < s->n_tasks; i++) {
        s->schedule.wakes[i] += at;
        if (s->task[i].license)
            s->task[i].license->now = at;
    }
    for (unsigned i = 0; i < s->n_cpus; i++)
        s->schedule.queue[i].until += at;
    s->next.at += at;
}

/* A double tells late times less well apart than events follow each other: still all goes on, and as at the start. */
TEST(test_late_times_are_like_early_ones)
{
    static const char *const names[] = {"xeon-gold-6130", "core-i9-7940x", "core-i5-1035g4", "xeon-w-2104"};
    static struct model other;
    static const double us = 1e6;
    for (unsigned i = 0; i < 4; i++) {
        struct machine_error err;
        assert_int_equal(model_load(names[i], "data", &other, &err), MACHINE_OK);
        for (unsigned k = 0; k < 12; k++) {
            struct system *early, *late;
            unsigned flags = k % 4;
            uint64_t seed = k == 0 ? 9 : k;
            assert_int_equal(truth_system(&other, seed, flags, &early, &err), MACHINE_OK);
            assert_int_equal(truth_system(&other, seed, flags, &late, &err), MACHINE_OK);
            begin_late(late, LATE_US - us);
            let_stop_after(early, UINT64_MAX);
            system_finish(early, us);
            let_stop_after(late, 2 * polls + 1000);
            system_finish(late, LATE_US);
            assert_true(polls < most_polls);
            for (unsigned n = 0; n < early->n_tasks; n++) {
                assert_close(late->task[n].cpu_us, early->task[n].cpu_us, 5);
                assert_close(late->task[n].work, early->task[n].work, 1e-3 * us);
            }
            system_free(early);
            system_free(late);
        }
    }
}

/* ... and is sampled, also where scatter makes halts and throttling so short that they are over at once. */
TEST(test_late_samples_are_taken)
{
    static struct system_sampling x;
    static struct model scattered;
    scattered = model;
    scattered.halt_sigma_us = scattered.throttle_sigma_us = scattered.halt_us;
    for (uint64_t seed = 8; seed < 12; seed++) {
        struct profile_setup setup;
        struct machine_error err;
        struct system *s;
        uint64_t taken = 0;
        assert_int_equal(truth_system(&scattered, seed, 0, &s, &err), MACHINE_OK);
        profile_truth_setup(&model, seed, &setup);
        begin_late(s, LATE_US - 20e6);
        let_stop_after(s, 40000000);
        system_sampling_begin(&x, s, &setup);
        for (unsigned i = 0; i < s->n_cpus; i++)
            x.cpu[i].turn_ns += (uint64_t)(1e3 * (LATE_US - 20e6));
        while (system_sampling_turn(&x, LATE_US))
            taken += x.record.outcome == PROFILE_TAKEN;
        assert_true(polls < most_polls && x.now_us == LATE_US);
        assert_in_range(x.turns, 960, 1040);
        assert_true(taken > 150);
        system_free(s);
    }
}

/* Steps of the clock and of ramps are always ahead, or over. */
TEST(test_late_steps_are_ahead)
{
    static const double taus[] = {0.01, 1, 30};
    static struct model other;
    static struct model_core c;
    other = model;
    other.spread = 0.005;
    other.n_interrupts = 0;
    for (unsigned i = 0; i < 60; i++) {
        other.spread_period_us = 30 + i / 20.0;
        model_core_start(&c, &other, 1, 1 + i, 0);
        c.now = LATE_US / (1 + i);
        model_core_fine(&c, true);
        model_ramp_begin(&c, 1, taus[i % 3]);
        for (unsigned k = 0; k < 20000; k++) {
            double next = model_core_event(&c);
            assert_true(next > c.now);
            model_core_advance(&c, next, INFINITY);
        }
        assert_true(model_core_ghz(&c) == model_core_class_ghz(&c, 0));
    }
}

/* A switch hours ago is not a recent one. */
TEST(test_switches_long_ago_stay_so)
{
    static struct system_sampling x;
    struct profile_setup setup;
    struct profile_sight sight;
    struct system *s = drawn_system(9, 0);
    profile_truth_setup(&model, 9, &setup);
    system_sampling_begin(&x, s, &setup);
    s->core[0].now = 4294967396.0; /* 2^32 us and a little */
    x.executor.look(&x, &sight);
    assert_true(sight.since_us == UINT32_MAX && sight.other_since_us == UINT32_MAX);
    system_free(s);
}

/* ---- as a source of records ---- */

TEST(test_source_gives_records)
{
    struct profile_source source;
    struct profile_source_info info;
    struct profile_source_totals totals;
    struct machine_error err;
    struct profile_setup setup;
    static struct profile_record records[32];
    uint64_t turns = 0, taken = 0;
    size_t n;
    assert_int_equal(profile_open_model("xeon-gold-6130", "data", 5, 20, &source, &err), MACHINE_OK);
    source.ops->info(&source, &info);
    assert_string_equal(info.name, "model:xeon-gold-6130");
    assert_true(info.modelled && info.cpus >= 4 && info.cpus <= 16 && info.ref_khz == 2100000);
    profile_truth_setup(&model, 5, &setup);
    setup.flags |= PROFILE_STACKS;
    assert_int_equal(source.ops->start(&source, &setup, &err), MACHINE_OK);
    while (source.ops->read(&source, records, 32, 100, &n, &err) == MACHINE_OK && n > 0)
        for (size_t i = 0; i < n; i++, turns++) {
            const struct profile_record *r = &records[i];
            assert_true(r->outcome < PROFILE_OUTCOMES && r->cpu < info.cpus);
            if (r->outcome != PROFILE_TAKEN)
                continue;
            taken++;
            assert_true(r->pause_ns >= 700000 && r->pause_ns < 701000 && r->window_ns >= 70000);
            assert_true(r->actual_khz >= 1800000 && r->actual_khz <= 3800000 && r->ideal_khz >= r->actual_khz);
            char *container = source.ops->container(&source, r->sight.task.cgroup);
            assert_non_null(container);
            free(container);
            for (unsigned k = 0; k < r->n_stack; k++) {
                char *place = source.ops->place(&source, r, k);
                assert_non_null(place);
                free(place);
            }
        }
    static const char *const containers[] = {NULL, "/modelled/pod-a", "/modelled/pod-b"};
    for (uint64_t k = 0; k < 30; k++) {
        char *container = source.ops->container(&source, k);
        if (k % 26 < 3 && k > 0 && k % 26 > 0)
            assert_string_equal(container, containers[k % 26]);
        assert_int_equal(container == NULL, k == 0); /* those of nobody */
        free(container);
    }
    source.ops->totals(&source, &totals);
    assert_int_equal(totals.turns, turns);
    /* 20 s at 50 Hz, less what began at the end */
    assert_in_range(turns, 960, 1040);
    assert_true(taken > turns / 4 && totals.seconds > 19 && totals.pause_us_max < 701);
    source.ops->stop(&source);
    source.ops->close(&source);
}

static void read_all(struct profile_source *source, const struct profile_setup *setup,
                     struct profile_source_totals *totals)
{
    static struct profile_record records[32];
    struct machine_error err;
    size_t n;
    assert_int_equal(source->ops->start(source, setup, &err), MACHINE_OK);
    do
        assert_int_equal(source->ops->read(source, records, 32, 100, &n, &err), MACHINE_OK);
    while (n > 0);
    source->ops->totals(source, totals);
    source->ops->stop(source);
    source->ops->close(source);
}

/* The time that a model has spent is all that was requested, whenever its last turn was. */
TEST(test_duration_is_what_was_requested)
{
    static const double seconds[] = {0.1, 30, 100};
    for (unsigned i = 0; i < 3; i++) {
        struct profile_source source;
        struct profile_source_totals totals;
        struct profile_setup setup;
        struct machine_error err;
        profile_truth_setup(&model, 1, &setup);
        setup.mean_us = 10000000;
        assert_int_equal(profile_open_model("xeon-gold-6130", "data", 1, seconds[i], &source, &err), MACHINE_OK);
        read_all(&source, &setup, &totals);
        assert_close(totals.seconds, seconds[i], 1e-9);
        assert_true(totals.turns <= seconds[i] / 5);
    }
}

/* Stopped wherever it is, between turns or amidst one: no record is half of one, and it ends at once. */
TEST(test_source_stops_when_requested)
{
    for (uint64_t most = 1; most < 300000; most += most / 2 + 1) {
        struct profile_source source;
        struct profile_source_totals totals;
        struct profile_setup setup;
        struct machine_error err;
        profile_truth_setup(&model, 5, &setup);
        if (most % 2 == 0)
            setup.mean_us = 10000000;
        assert_int_equal(profile_open_model("xeon-gold-6130", "data", 5, 604800, &source, &err), MACHINE_OK);
        source.stopped = stops_after_most_polls;
        polls = 0;
        most_polls = most;
        read_all(&source, &setup, &totals);
        assert_in_range(polls, most, most + 1000);
        assert_true(totals.seconds < 100);
    }
}

TEST(test_models_without_levels_are_refused)
{
    static const char *const names[] = {"generic-no-licence", "core-i7-6700hq", "core-i9-11900k"};
    struct profile_source source;
    struct machine_error err;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(profile_open_model(names[i], "data", 1, 1, &source, &err), MACHINE_CANNOT);
        assert_true(strstr(err.text, "license counters") || strstr(err.text, "one frequency"));
    }
    assert_int_equal(profile_open_model("no-such-model", "data", 1, 1, &source, &err), MACHINE_BAD_INPUT);
}

/* Models with other ways of changing: ramps instead of halts, two levels, one core group, no turbo. */
TEST(test_other_models_work_as_well)
{
    static const char *const names[] = {"core-i9-7940x", "core-i5-1035g4", "xeon-w-2104"};
    static struct model other;
    static struct profile_truth truth;
    for (unsigned i = 0; i < 3; i++) {
        struct machine_error err;
        struct profile_setup setup;
        uint64_t taken = 0;
        assert_int_equal(model_load(names[i], "data", &other, &err), MACHINE_OK);
        for (uint64_t seed = 1; seed <= 3; seed++) {
            profile_truth_setup(&other, seed, &setup);
            assert_int_equal(profile_truth_of(&other, &setup, seed, 10, &truth), 0);
            assert_int_equal(truth.turns[PROFILE_OFF_TABLE], 0);
            taken += truth.turns[PROFILE_TAKEN];
        }
        assert_true(taken > 500);
    }
}

TEST_GROUP(setup_model, NULL)
