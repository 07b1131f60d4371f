/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many short repetitions of one switch: from a trace to phases, on traces with known answers. */
#include "analysis/phases/phases.h"
#include "analysis/pooled/pooled.h"
#include "tests/support/guest_score.h"
#include "tests/support/guest_traces.h"

#include "tests/support/random_numbers.h"
#include "tests/support/strict_memory.h"
#include "tests/support/switch_traces.h"
#include "tests/support/test.h"

enum { FAILURES_MOST = 400 };

/* Of each kind of guest. */
static uint64_t seeds_of_guests(void)
{
    return rng_all_rounds() ? 20 : 10;
}

static const struct switch_plan throttled = {.repetitions = 30,
                                             .work_us = 0.25,
                                             .before_us = 40,
                                             .after_us = 120,
                                             .piece = {{12, 0.4, 1}},
                                             .spread = 0.03,
                                             .chain_noise = 0.01,
                                             .seed = 1};

static void find(const struct trace *t, struct phases *p)
{
    char why[300];
    if (phases_find(t, p, why, sizeof why))
        fail_msg("%s", why);
}

static void find_plan(const struct switch_plan *plan, struct phases *p)
{
    struct trace t;
    assert_int_equal(switch_trace(plan, &t), 0);
    assert_true(pooled_suits(&t));
    find(&t, p);
    trace_free(&t);
}

TEST(the_middle_half_counts)
{
    double x[8] = {100, 1, 2, 3, 4, -50, 70, 2}, error, none;
    assert_true(fabs(pooled_middle(x, 8, &error) - 2.75) < 1e-12); /* 2, 2, 3, 4 */
    assert_true(error > 0.5 && error < 0.65);
    double one = 5;
    assert_true(fabs(pooled_middle(&one, 1, NULL) - 5) < 1e-12);
    assert_true(isnan(pooled_middle(&one, 0, &none)) && isnan(none));
}

TEST(suits_switches_without_counted_cycles)
{
    struct switch_plan plan = throttled;
    struct trace t;
    assert_int_equal(switch_trace(&plan, &t), 0);
    assert_true(pooled_suits(&t));
    for (size_t i = 0; i < t.n; i++)
        t.channel[TRACE_FREQ][i] = 3; /* cycles are counted */
    assert_false(pooled_suits(&t));
    assert_int_equal(trace_set(&t, "frequency", "instantaneous"), 0);
    assert_true(pooled_suits(&t));
    for (size_t i = 0; i < t.n; i++)
        t.channel[TRACE_IPC][i] = NAN; /* a column that is empty */
    assert_false(pooled_suits(&t));
    trace_free(&t);
    plan.repetitions = POOLED_RUNS_LEAST - 1;
    assert_int_equal(switch_trace(&plan, &t), 0);
    assert_false(pooled_suits(&t));
    trace_free(&t);
}

static void check_throttled(const struct phases *p, double us, double ratio)
{
    assert_int_equal(p->n_phases, 3);
    assert_int_equal(p->phases[0].kind, PHASE_STEADY);
    assert_int_equal(p->phases[1].kind, PHASE_THROTTLE);
    assert_int_equal(p->phases[2].kind, PHASE_STEADY);
    assert_true(fabs(p->phases[1].duration_us.value - us) < 0.35);
    assert_true(fabs(p->phases[1].ipc_ratio - ratio) < 0.03);
    assert_int_equal(p->n_transitions, 1);
}

TEST(throttling_is_found_by_either_sampler)
{
    struct switch_plan plan = throttled;
    struct phases p;
    find_plan(&plan, &p);
    check_throttled(&p, 12, 0.4);
    phases_free(&p);
    plan.grid = true;
    plan.work_us = 1;
    find_plan(&plan, &p);
    check_throttled(&p, 12, 0.4);
    phases_free(&p);
}

/* A halt of ten samples on a grid between two clocks, at a time of its own in each repetition. */
TEST(a_scattered_halt_is_found)
{
    struct switch_plan plan = throttled;
    struct phases p;
    plan.grid = true;
    plan.work_us = 1;
    plan.after_us = 600;
    plan.spread = 0.04;
    plan.piece[0] = (struct switch_piece){300, 1, 1};
    plan.piece[1] = (struct switch_piece){310, 0, 1};
    plan.piece[2] = (struct switch_piece){310.1, 1, 1.1};
    find_plan(&plan, &p);
    size_t halts = 0;
    for (size_t k = 0; k < p.n_phases; k++)
        if (p.phases[k].kind == PHASE_HALT) {
            halts++;
            assert_true(fabs(p.phases[k].duration_us.value - 10) < 1);
        }
    assert_int_equal(halts, 1);
    phases_free(&p);
}

/* Samples that nobody measured right after the switch, and some everywhere. */
TEST(missing_values_are_no_end)
{
    struct trace t;
    struct phases p;
    assert_int_equal(switch_trace(&throttled, &t), 0);
    for (size_t i = 1; i < t.n; i++)
        if ((t.time_us[i] > 0 && t.time_us[i - 1] <= 0) || i % 11 == 0)
            t.channel[TRACE_IPC][i] = NAN;
    find(&t, &p);
    check_throttled(&p, 12, 0.4);
    phases_free(&p);
    trace_free(&t);
}

/* Beside siblings that are busy a third or half of the time: it ends, and nothing is made of nothing. */
TEST(busy_siblings_are_no_finding)
{
    struct switch_plan plan = throttled;
    size_t invented = 0, found = 0, seeds = rng_rounds(30);
    plan.after_us = 300;
    for (plan.seed = 1; plan.seed <= seeds; plan.seed++) {
        struct phases p;
        plan.repetitions = 16;
        plan.busy_share = 0.5;
        plan.piece[0] = (struct switch_piece){0, 1, 1};
        find_plan(&plan, &p);
        invented += p.n_phases > 2 || p.n_transitions > 0;
        phases_free(&p);
        plan.piece[0] = (struct switch_piece){20, plan.seed % 2 ? 0.12 : 0.4, 1};
        plan.repetitions = 40;
        plan.busy_share = 0.35;
        find_plan(&plan, &p);
        found += p.n_phases == 3 && p.phases[1].kind == PHASE_THROTTLE && fabs(p.phases[1].duration_us.value - 20) < 2;
        phases_free(&p);
    }
    if (invented > 1 || found < seeds * 9 / 10)
        fail_msg("%zu of %zu invented, %zu found", invented, seeds, found);
}

/* Aims of score_guest, of fewer seeds. */
TEST(nine_in_ten_guests_are_right)
{
    const uint64_t seeds = seeds_of_guests();
    for (int kind = 0; kind < GUEST_KINDS; kind++) {
        size_t of[GUEST_VERDICTS] = {0};
        for (uint64_t seed = 1001; seed < 1001 + seeds; seed++) {
            struct trace t;
            struct guest_truth truth;
            struct phases p;
            char why[300];
            assert_int_equal(guest_trace((enum guest_kind)kind, seed, &t, &truth), 0);
            find(&t, &p);
            of[guest_judge(&truth, &p, why, sizeof why)]++;
            phases_free(&p);
            trace_free(&t);
        }
        if (of[GUEST_RIGHT] < seeds * 9 / 10 || of[GUEST_FALSE] > 1 || (kind == GUEST_NULL && of[GUEST_FALSE]))
            fail_msg("%s: %zu right, %zu false", guest_kind_name((enum guest_kind)kind), of[GUEST_RIGHT],
                     of[GUEST_FALSE]);
    }
}

/* Of any samples, with chains or without; of halts and throttling, and of how deep that is. */
TEST(limits_of_guests_hold)
{
    struct guest_held held[GUEST_LIMITS] = {{0, 0, 0, 0}};
    const uint64_t seeds = seeds_of_guests();
    for (int kind = 0; kind < GUEST_KINDS; kind++)
        for (uint64_t seed = 1001; seed < 1001 + seeds; seed++) {
            struct trace t;
            struct guest_truth truth;
            struct phases p;
            char why[300];
            assert_int_equal(guest_trace_wild((enum guest_kind)kind, seed, &t, &truth), 0);
            find(&t, &p);
            if (guest_judge(&truth, &p, why, sizeof why) == GUEST_RIGHT)
                guest_check_limits(&truth, &t, &p, held);
            phases_free(&p);
            trace_free(&t);
        }
    for (int i = GUEST_DURATION; i <= GUEST_RATIO; i++) {
        print_message("%zu of %zu limits hold\n", held[i].held, held[i].n);
        assert_true(held[i].n >= seeds * 2 / 5 && 100 * held[i].held >= 80 * held[i].n);
    }
}

TEST(recorded_cases_are_right)
{
    const char *folder = getenv("CHARACTERIZE_GUEST_CASES");
    struct trace t;
    struct guest_truth truth;
    char name[600];
    int found;
    size_t n = 0;
    folder = folder ? folder : "../shared/cases/guest";
    for (; (found = guest_case(folder, n, &t, &truth, name, sizeof name)) > 0; n++) {
        struct phases p;
        char why[300];
        find(&t, &p);
        if (guest_judge(&truth, &p, why, sizeof why) != GUEST_RIGHT)
            fail_msg("%s: %s", name, why);
        phases_free(&p);
        trace_free(&t);
    }
    if (!n) {
        print_message("skipped: %s (CHARACTERIZE_GUEST_CASES names the folder)\n", name);
        skip();
    }
    assert_int_equal(found, 0);
}

TEST(without_memory_it_says_so)
{
    struct switch_plan plan = throttled;
    struct trace t;
    struct phases p;
    char why[300];
    plan.repetitions = 10;
    plan.after_us = 60;
    plan.piece[1] = (struct switch_piece){15, 0, 1};
    plan.piece[2] = (struct switch_piece){15.1, 1, 0.9};
    assert_int_equal(switch_trace(&plan, &t), 0);
    find(&t, &p);
    char *whole = phases_to_json(&p);
    phases_free(&p);
    bool failed = true;
    unsigned long n = 1;
    for (; failed && n < FAILURES_MOST; n++) {
        strict_memory_fail(n);
        int status = phases_find_beside(&t, &t, &p, why, sizeof why);
        failed = strict_memory_failed();
        strict_memory_fail(0);
        if (status) {
            assert_true(failed);
            assert_string_equal(why, "out of memory");
            continue;
        }
        phases_free(&p);
    }
    assert_true(n < FAILURES_MOST);
    find(&t, &p);
    char *again = phases_to_json(&p);
    assert_string_equal(again, whole);
    phases_free(&p);
    free(whole);
    free(again);
    trace_free(&t);
}
