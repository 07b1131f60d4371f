/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of a sample through an executor that plays a script: every outcome, and who is held when. */
#include "drivers/profile/profile_sequence.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { CPU = 5, SIBLING = 21, HOLD_NS = 3000, COUNT_NS = 400, US = 1000 };
/* Readings of the counters, in their order. */
enum { ACTUAL, PAUSED, IDEAL, SHARED, READINGS };

/* The script that is played. */
struct script {
    struct profile_setup setup;
    struct profile_sight sight;
    uint32_t level[READINGS], khz[READINGS], missing[READINGS]; /* PROFILE_NO_LEVEL: it is changing */
    uint32_t late_us[READINGS];                                 /* before a reading: the timer, or a hypervisor */
    uint32_t stall_percent, shared_stall_percent;               /* of the windows; 0: the second is like the first */
    bool does_not_come;
    /* who comes onto the hardware before a look (from 0) */
    unsigned switch_before;
    void (*change)(struct profile_sight *s);
    /* the events */
    uint64_t now;
    struct profile_counts total;
    unsigned readings, looks, holds, releases, stores, walks;
    bool held;
    struct profile_record record;
    struct profile_action action[8];
    unsigned n_actions;
};

static __u64 script_now(void *with)
{
    return ((struct script *)with)->now;
}

static void script_look(void *with, struct profile_sight *out)
{
    struct script *s = with;
    if (s->change != NULL && s->looks == s->switch_before)
        s->change(&s->sight);
    s->looks++;
    *out = s->sight;
}

static void script_spend(struct script *s, uint64_t cycles, uint32_t khz, uint32_t level)
{
    s->total.count[PROFILE_CYCLES] += cycles;
    s->total.count[PROFILE_REF] += khz > 0 ? cycles * s->setup.ref_khz / khz : 0;
    if (level == PROFILE_NO_LEVEL)
        s->total.count[PROFILE_LEVEL1] += cycles / 2;
    else if (level > 0)
        s->total.count[PROFILE_LEVEL1 + level - 1] += cycles;
}

static void script_count(void *with, struct profile_counts *before, struct profile_counts *after)
{
    struct script *s = with;
    unsigned k = s->readings++;
    assert_true(k < READINGS);
    assert_int_equal(s->setup.flags & PROFILE_REHEARSAL, 0);
    *before = s->total;
    /* a thousand and a few; reference cycles come in whole ones, so more of both here */
    script_spend(s, 1000 * 2100, s->khz[k], s->level[k]);
    *after = s->total;
    after->missing = s->missing[k];
    s->now += COUNT_NS;
}

static bool script_hold(void *with)
{
    struct script *s = with;
    assert_false(s->held);
    s->now += HOLD_NS;
    if (s->does_not_come)
        return false;
    s->held = true;
    s->holds++;
    return true;
}

static void script_release(void *with)
{
    struct script *s = with;
    assert_true(s->held);
    s->held = false;
    s->releases++;
}

static void script_walk(void *with, struct profile_record *r)
{
    struct script *s = with;
    /* the sampled thread's own doing: the sibling is held */
    assert_true(s->held);
    s->walks++;
    r->n_stack = 2;
    r->n_kernel = 1;
    r->stack[0] = 0xffff;
    r->stack[1] = 0x400000;
}

static void script_store(void *with, const struct profile_record *r)
{
    struct script *s = with;
    assert_false(s->held);
    s->stores++;
    s->record = *r;
}

static const struct profile_executor *script_executor(struct script *s, struct profile_executor *e)
{
    *e = (struct profile_executor){s,           script_now,     script_look, script_count,
                                   script_hold, script_release, script_walk, script_store};
    return e;
}

/* Time until the next step: what was requested, and what comes on top. The window's cycles are counted meanwhile. */
static void script_pass(struct script *s, const struct profile_action *a)
{
    unsigned k = s->n_actions < READINGS ? s->n_actions : READINGS - 1;
    s->now += (uint64_t)(a->us + s->late_us[k]) * US;
    uint64_t cycles = (uint64_t)a->us * 3000;
    script_spend(s, cycles, 3000000, 0);
    bool shared = s->n_actions == 3 && s->shared_stall_percent > 0;
    s->total.count[PROFILE_STALL_LOADS] += cycles * (shared ? s->shared_stall_percent : s->stall_percent) / 100;
}

static void script_play(struct script *s, struct profile_cpu *c)
{
    struct profile_executor e;
    script_executor(s, &e);
    s->total = (struct profile_counts){.count = {1234567890123ull, 98765432109ull}};
    c->record.cpu = CPU;
    for (;;) {
        struct profile_action a = profile_step(c, &s->setup, &e);
        assert_true(s->n_actions < sizeof(s->action) / sizeof(s->action[0]));
        s->action[s->n_actions++] = a;
        if (a.deed == PROFILE_DONE)
            break;
        assert_true(a.deed == PROFILE_SPIN || a.deed == PROFILE_RESUME);
        script_pass(s, &a);
    }
    assert_int_equal(c->stage, PROFILE_BETWEEN);
    assert_int_equal(s->stores, 1);
    assert_int_equal(s->holds, s->releases);
    assert_false(s->held);
}

/* A victim of its sibling's level 2 code, on the processor of section 4.2. */
static struct script script_of_a_victim(uint32_t flags)
{
    return (struct script){
        .setup = {.flags = flags,
                  .mean_us = 20000,
                  .pause_us = 700,
                  .window_us = 70,
                  .ref_khz = 2100000,
                  .n_bins = 2,
                  .bin = {{8, {3400000, 3100000, 2400000}}, {16, {2800000, 2400000, 1900000}}}},
        .sight = {.task = {.pid = 10, .tgid = 10, .comm = "victim"},
                  .other = {.pid = 20, .tgid = 20, .comm = "wide"},
                  .other_cpu = SIBLING,
                  .active_cores = 16},
        .level = {2, 0, 0, 2},
        .khz = {1900000, 2800000, 2800000, 1900000},
        .now = 1000000000,
    };
}

static void play(struct script *s)
{
    struct profile_cpu c = {.turn = 17};
    script_play(s, &c);
}

static void ends(struct script *s, uint32_t outcome, unsigned steps)
{
    play(s);
    if (s->record.outcome != outcome || s->n_actions != steps)
        fail_msg("outcome %u after %u steps, not %u after %u", s->record.outcome, s->n_actions, outcome, steps);
    assert_int_equal(s->record.number, 17);
    assert_int_equal(s->record.cpu, CPU);
}

/* ---- turns that are taken ---- */

TEST(test_victim_of_its_sibling)
{
    struct script s = script_of_a_victim(PROFILE_SOURCES);
    s.stall_percent = 25;
    ends(&s, PROFILE_TAKEN, 4);
    static const struct profile_action expected[] = {
        {PROFILE_SPIN, 700}, {PROFILE_RESUME, 70}, {PROFILE_RESUME, 70}, {PROFILE_DONE, 0}};
    assert_memory_equal(s.action, expected, sizeof(expected));
    const struct profile_record *r = &s.record;
    assert_int_equal(r->level_actual, 2);
    assert_int_equal(r->level_paused, 0);
    assert_int_equal(r->level_ideal, 0);
    assert_int_equal(r->level_shared, 2);
    assert_int_equal(r->bin, 1);
    assert_int_equal(r->flags, PROFILE_SHARED);
    assert_close(r->actual_khz, 1900000, 2);
    assert_close(r->ideal_khz, 2800000, 3);
    assert_close(r->shared_khz, 1900000, 2);
    /* counted in a window at 3 GHz, wanted at 1.9: the part that computes takes 30 / 19 of the time */
    double stall = 0.25 * 19 / (0.25 * 19 + 0.75 * 30);
    assert_close((double)r->stall / PROFILE_ONE, stall, 1e-4);
    assert_close((double)r->speedup / PROFILE_ONE, 28 / (stall * 9 + 19), 1e-4);
    assert_int_equal(r->speedup_shared, PROFILE_ONE);
    assert_int_equal(r->pause_ns, 700 * US);
    assert_int_equal(r->window_ns, 70 * US);
    /* three microseconds until it came, the pause, one reading, the window, another reading */
    assert_int_equal(r->held_ns, HOLD_NS + 770 * US + 2 * COUNT_NS);
    assert_int_equal(r->time_ns, 1000000000);
    assert_string_equal(r->sight.other.comm, "wide");
}

TEST(test_stalls_are_those_alone_on_the_core)
{
    struct script s = script_of_a_victim(PROFILE_SOURCES);
    s.stall_percent = 20;
    s.shared_stall_percent = 10;
    ends(&s, PROFILE_TAKEN, 4);
    double stall = 0.2 * 19 / (0.2 * 19 + 0.8 * 30);
    assert_close((double)s.record.stall / PROFILE_ONE, stall, 1e-4);
    assert_close((double)s.record.speedup / PROFILE_ONE, 28 / (stall * 9 + 19), 1e-4);
    assert_close((double)profile_stall(&s.record.window) / PROFILE_ONE, 0.2, 1e-4);
}

TEST(test_without_sources_the_sibling_is_not_watched)
{
    struct script s = script_of_a_victim(0);
    ends(&s, PROFILE_TAKEN, 3);
    assert_int_equal(s.record.flags, 0);
    assert_int_equal(s.record.level_shared, PROFILE_NO_LEVEL);
    assert_int_equal(s.record.shared_khz, 0);
    assert_int_equal(s.readings, 3);
    assert_int_equal(s.record.held_ns, HOLD_NS + 770 * US + 2 * COUNT_NS);
}

TEST(test_delay)
{
    struct script s = script_of_a_victim(PROFILE_SOURCES);
    s.level[SHARED] = 0;
    ends(&s, PROFILE_TAKEN, 4);
    assert_int_equal(s.record.speedup_shared, s.record.speedup);
    assert_close((double)s.record.speedup / PROFILE_ONE, 28.0 / 19, 1e-4);
    /* of level 2 before and level 1 with both, a part is the sibling's */
    s = script_of_a_victim(PROFILE_SOURCES);
    s.level[SHARED] = 1;
    ends(&s, PROFILE_TAKEN, 4);
    assert_close((double)s.record.speedup_shared / PROFILE_ONE, 24.0 / 19, 1e-4);
    /* alone it needed level 1: both cannot need less */
    s = script_of_a_victim(PROFILE_SOURCES);
    s.level[IDEAL] = 1;
    s.level[SHARED] = 0;
    ends(&s, PROFILE_TAKEN, 4);
    assert_close((double)s.record.speedup / PROFILE_ONE, 24.0 / 19, 1e-4);
    assert_int_equal(s.record.speedup_shared, s.record.speedup);
}

TEST(test_code_that_needs_its_level)
{
    struct script s = script_of_a_victim(PROFILE_SOURCES);
    s.level[IDEAL] = 2;
    ends(&s, PROFILE_TAKEN, 4);
    assert_int_equal(s.record.speedup, PROFILE_ONE);
    assert_int_equal(s.record.ideal_khz, s.record.actual_khz);
    /* it turned wide only after the pause */
    s = script_of_a_victim(PROFILE_SOURCES);
    s.level[ACTUAL] = 0;
    s.khz[ACTUAL] = 2800000;
    s.level[IDEAL] = 1;
    ends(&s, PROFILE_TAKEN, 4);
    assert_int_equal(s.record.speedup, PROFILE_ONE);
    assert_int_equal(s.record.level_ideal, 1);
}

/* Figure 4.2: the bin is that of before the pause. */
TEST(test_bin_that_changes_during_the_pause)
{
    struct script s = script_of_a_victim(0);
    s.level[ACTUAL] = 0;
    s.khz[ACTUAL] = 2800000;
    s.khz[IDEAL] = 3400000;
    ends(&s, PROFILE_TAKEN, 3);
    assert_int_equal(s.record.speedup, PROFILE_ONE);
}

TEST(test_without_a_table)
{
    struct script s = script_of_a_victim(PROFILE_SOURCES);
    s.setup.n_bins = 0;
    s.khz[IDEAL] = 3000000;
    s.khz[SHARED] = 1800000;
    ends(&s, PROFILE_TAKEN, 4);
    assert_int_equal(s.record.flags, PROFILE_SHARED | PROFILE_MEASURED_IDEAL);
    assert_int_equal(s.record.bin, PROFILE_NO_BIN);
    assert_close(s.record.ideal_khz, 3000000, 3);
    assert_int_equal(s.record.shared_khz, s.record.actual_khz);
    assert_int_equal(s.record.speedup_shared, PROFILE_ONE);
    /* a clock that fell meanwhile is not the level's doing */
    s = script_of_a_victim(0);
    s.setup.n_bins = 0;
    s.khz[IDEAL] = 1500000;
    ends(&s, PROFILE_TAKEN, 3);
    assert_int_equal(s.record.ideal_khz, s.record.actual_khz);
}

TEST(test_clock_that_something_else_limits)
{
    struct script s = script_of_a_victim(0);
    s.khz[ACTUAL] = 1200000;
    ends(&s, PROFILE_TAKEN, 3);
    assert_int_equal(s.record.flags, PROFILE_NOT_LIMITED);
    assert_int_equal(s.record.speedup, PROFILE_ONE);
}

TEST(test_rehearsal)
{
    struct script s = script_of_a_victim(PROFILE_REHEARSAL | PROFILE_SOURCES | PROFILE_STACKS);
    s.setup.n_bins = s.setup.ref_khz = 0;
    ends(&s, PROFILE_TAKEN, 4);
    assert_int_equal(s.readings, 0);
    assert_int_equal(s.walks, 1);
    assert_int_equal(s.record.actual_khz, 0);
    assert_int_equal(s.record.speedup, 0);
    assert_int_equal(s.record.flags, 0);
    assert_int_equal(s.record.level_ideal, PROFILE_NO_LEVEL);
    assert_int_equal(s.record.pause_ns, 700 * US);
}

TEST(test_stacks_of_code_that_demands_a_level)
{
    struct script s = script_of_a_victim(PROFILE_STACKS);
    ends(&s, PROFILE_TAKEN, 3);
    assert_int_equal(s.walks, 0);
    assert_int_equal(s.record.n_stack, 0);
    s = script_of_a_victim(PROFILE_STACKS);
    s.level[IDEAL] = 1;
    ends(&s, PROFILE_TAKEN, 3);
    assert_int_equal(s.walks, 1);
    assert_int_equal(s.record.n_stack, 2);
    s = script_of_a_victim(0);
    s.level[IDEAL] = 1;
    ends(&s, PROFILE_TAKEN, 3);
    assert_int_equal(s.walks, 0);
}

/* ---- turns that are not ---- */

TEST(test_idle)
{
    struct script s = script_of_a_victim(PROFILE_SOURCES);
    s.sight.task.pid = 0;
    ends(&s, PROFILE_IDLE, 1);
    assert_int_equal(s.readings + s.holds, 0);
}

TEST(test_not_held)
{
    struct script s = script_of_a_victim(PROFILE_SOURCES);
    s.does_not_come = true;
    ends(&s, PROFILE_NOT_HELD, 1);
    assert_int_equal(s.releases, 0);
}

static void task_goes(struct profile_sight *s)
{
    s->switches++;
    s->task.pid = 11;
}

static void task_goes_and_comes_back(struct profile_sight *s)
{
    s->switches += 2;
}

static void other_goes(struct profile_sight *s)
{
    s->other_switches++;
    s->other.pid = 0;
}

static void other_goes_and_comes_back(struct profile_sight *s)
{
    s->other_switches += 2;
}

static void sibling_goes_offline(struct profile_sight *s)
{
    s->other_cpu = PROFILE_NO_CPU;
}

TEST(test_switched)
{
    void (*const changes[])(struct profile_sight *) = {task_goes, task_goes_and_comes_back, other_goes,
                                                       other_goes_and_comes_back, sibling_goes_offline};
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        /* looks: as the turn begins, once the sibling is held, after the window, after the last one */
        struct script s = script_of_a_victim(PROFILE_SOURCES);
        s.change = changes[i];
        s.switch_before = 2;
        ends(&s, PROFILE_SWITCHED, 3);
        s = script_of_a_victim(PROFILE_SOURCES);
        s.change = changes[i];
        s.switch_before = 3;
        ends(&s, PROFILE_SWITCHED, 4);
        assert_int_equal(s.record.flags & PROFILE_SHARED, 0);
    }
    /* before it is held there is still time; then nobody is there whom a further step could tell from this thread */
    struct script s = script_of_a_victim(PROFILE_SOURCES);
    s.change = other_goes;
    s.switch_before = 1;
    ends(&s, PROFILE_TAKEN, 3);
    assert_int_equal(s.record.sight.other.pid, 0);
    assert_int_equal(s.record.flags & PROFILE_SHARED, PROFILE_SHARED);
    assert_int_equal(s.record.level_shared, s.record.level_ideal);
    assert_int_equal(s.record.speedup_shared, s.record.speedup);
}

TEST(test_uncounted)
{
    static const unsigned steps[READINGS] = {1, 2, 3, 4};
    for (unsigned k = 0; k < READINGS; k++)
        for (unsigned counter = 0; counter < PROFILE_COUNTERS; counter++) {
            struct script s = script_of_a_victim(PROFILE_SOURCES);
            s.missing[k] = 1u << counter;
            ends(&s, PROFILE_UNCOUNTED, steps[k]);
        }
}

TEST(test_unsettled)
{
    static const unsigned steps[READINGS] = {1, 2, 3, 4};
    for (unsigned k = 0; k < READINGS; k++) {
        struct script s = script_of_a_victim(PROFILE_SOURCES);
        s.level[k] = PROFILE_NO_LEVEL;
        ends(&s, PROFILE_UNSETTLED, steps[k]);
    }
    for (uint32_t level = 1; level < PROFILE_LEVELS; level++) {
        struct script s = script_of_a_victim(PROFILE_SOURCES);
        s.level[PAUSED] = level;
        ends(&s, PROFILE_UNSETTLED, 2);
        assert_int_equal(s.record.level_paused, level);
    }
    /* a frequency that cannot be */
    struct script s = script_of_a_victim(PROFILE_SOURCES);
    s.khz[ACTUAL] = 17000000;
    ends(&s, PROFILE_UNSETTLED, 1);
}

TEST(test_late)
{
    static const uint32_t permitted[READINGS] = {0, 700, 70, 70};
    for (unsigned k = PAUSED; k < READINGS; k++) {
        struct script s = script_of_a_victim(PROFILE_SOURCES);
        s.late_us[k] = permitted[k];
        ends(&s, PROFILE_TAKEN, 4);
        s = script_of_a_victim(PROFILE_SOURCES);
        s.late_us[k] = permitted[k] + 1;
        ends(&s, PROFILE_LATE, k + 1);
    }
}

TEST(test_off_table)
{
    struct script s = script_of_a_victim(PROFILE_SOURCES);
    s.khz[ACTUAL] = 2500000;
    ends(&s, PROFILE_OFF_TABLE, 3);
}

/* Whatever happens, in any combination: one record, nobody is held in the end, and each hold is released once. */
TEST(test_random_scripts)
{
    static const uint32_t flags[] = {
        0, PROFILE_SOURCES, PROFILE_STACKS, PROFILE_SOURCES | PROFILE_STACKS, PROFILE_REHEARSAL, PROFILE_FLAGS};
    void (*const changes[])(struct profile_sight *) = {NULL, NULL, NULL, task_goes, other_goes, sibling_goes_offline};
    unsigned seen[PROFILE_OUTCOMES] = {0};
    struct rng r;
    rng_init(&r, 44, 1);
    for (unsigned i = 0; i < 50000; i++) {
        struct script s = script_of_a_victim(flags[rng_int(&r, 0, 5)]);
        for (unsigned k = 0; k < READINGS; k++) {
            s.level[k] = rng_chance(&r, 0.05) ? PROFILE_NO_LEVEL : (uint32_t)rng_int(&r, 0, k == PAUSED ? 0 : 2);
            s.khz[k] = (uint32_t)rng_range(&r, 1.2e6, 3.9e6);
            s.missing[k] = rng_chance(&r, 0.03) ? 1u << rng_int(&r, 0, PROFILE_COUNTERS - 1) : 0;
            s.late_us[k] = rng_chance(&r, 0.05) ? (uint32_t)rng_int(&r, 0, 1500) : 0;
        }
        s.sight.task.pid = rng_chance(&r, 0.05) ? 0 : 10;
        s.does_not_come = rng_chance(&r, 0.05);
        s.stall_percent = (uint32_t)rng_int(&r, 0, 120);
        s.change = changes[rng_int(&r, 0, 5)];
        s.switch_before = (unsigned)rng_int(&r, 0, 3);
        play(&s);
        assert_true(s.record.outcome < PROFILE_OUTCOMES);
        seen[s.record.outcome]++;
        if (s.record.outcome == PROFILE_TAKEN && (s.setup.flags & PROFILE_REHEARSAL) == 0) {
            assert_true(s.record.speedup >= PROFILE_ONE);
            assert_true((s.record.flags & PROFILE_SHARED) == 0 ||
                        (s.record.speedup_shared >= PROFILE_ONE && s.record.speedup_shared <= s.record.speedup));
        }
    }
    for (unsigned i = 0; i < PROFILE_OUTCOMES; i++)
        assert_true(seen[i] > 100);
}

TEST(test_missed)
{
    struct script s = script_of_a_victim(PROFILE_SOURCES);
    struct profile_cpu c = {.turn = 17, .record = {.cpu = CPU, .actual_khz = 1, .n_stack = 5}};
    struct profile_executor e;
    profile_miss(&c, script_executor(&s, &e));
    assert_int_equal(s.stores, 1);
    assert_int_equal(s.record.outcome, PROFILE_LATE);
    assert_int_equal(s.record.number, 17);
    assert_int_equal(s.record.cpu, CPU);
    /* nothing of the turn before */
    assert_int_equal(s.record.actual_khz + s.record.n_stack + s.record.sight.task.pid, 0);
    assert_int_equal(s.holds + s.looks + s.readings, 0);
}

TEST(test_called_off_at_any_step)
{
    for (unsigned steps = 0; steps < 4; steps++) {
        struct script s = script_of_a_victim(PROFILE_SOURCES);
        struct profile_cpu c = {.stage = PROFILE_BETWEEN};
        struct profile_executor e;
        script_executor(&s, &e);
        for (unsigned i = 0; i < steps; i++) {
            struct profile_action a = profile_step(&c, &s.setup, &e);
            s.n_actions++;
            script_pass(&s, &a);
        }
        profile_call_off(&c, &e);
        assert_int_equal(c.stage, PROFILE_BETWEEN);
        assert_false(s.held);
        assert_int_equal(s.holds, s.releases);
        assert_int_equal(s.holds, steps > 0);
        assert_int_equal(s.stores, 0);
    }
}

/* ---- order ---- */

enum { CPUS = 6, TURNS = 5000 };

/* Each CPU counts for itself; together they come in a row, with each interval between two neighbors. */
TEST(test_turns_come_in_a_row)
{
    struct profile_setup s = {.seed = 99, .mean_us = 20000};
    struct profile_cpu cpu[CPUS];
    uint64_t at = 0;
    for (uint32_t i = 0; i < CPUS; i++)
        profile_first_turn(&cpu[i], &s, i, CPUS);
    for (uint64_t k = 0; k < TURNS; k++) {
        struct profile_cpu *c = &cpu[k % CPUS];
        at += profile_interval_ns(&s, k);
        assert_int_equal(c->turn, k);
        assert_int_equal(c->turn_ns, at);
        profile_next_turn(c, &s, CPUS, at + 1000000);
        assert_true(c->turn_ns > at);
    }
}

TEST(test_turn_after_an_absence)
{
    struct profile_setup s = {.seed = 100, .mean_us = 4000};
    struct rng r;
    rng_init(&r, 44, 2);
    for (unsigned i = 0; i < 200; i++) {
        uint32_t n = (uint32_t)rng_int(&r, 1, 64), place = (uint32_t)rng_int(&r, 0, (int)n - 1);
        struct profile_cpu away, here;
        profile_first_turn(&away, &s, place, n);
        profile_first_turn(&here, &s, place, n);
        uint64_t back = (uint64_t)rng_log(&r, 1e6, 6e10);
        /* each call does bounded work, and gets as far as it can with it */
        do {
            uint64_t before = away.turn;
            profile_next_turn(&away, &s, n, back);
            assert_in_range(away.turn - before, n, (uint64_t)n * PROFILE_LAPS_MAX);
            assert_true(away.turn_ns >= back || away.turn - before == (uint64_t)n * PROFILE_LAPS_MAX);
        } while (away.turn_ns < back);
        assert_int_equal(away.turn % n, place);
        do
            profile_next_turn(&here, &s, n, 0);
        while (here.turn_ns < back);
        assert_int_equal(here.turn, away.turn);
        assert_int_equal(here.turn_ns, away.turn_ns);
    }
}
