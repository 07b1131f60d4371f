/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of a recording against another that was made beside it, round by round. */
#include "analysis/pooled/ends.h"
#include "tests/support/strict_memory.h"
#include "tests/support/switch_traces.h"
#include "tests/support/test.h"

static struct switch_plan plan_of(unsigned repetitions, uint64_t seed)
{
    return (struct switch_plan){.repetitions = repetitions,
                                .work_us = 0.5,
                                .before_us = 40,
                                .after_us = 100,
                                .chain_noise = 0.005,
                                .seed = seed};
}

static void compare(const struct switch_plan *a, const struct switch_plan *b, double from, double to, struct ends *e)
{
    struct trace t, beside;
    assert_int_equal(switch_trace(a, &t), 0);
    assert_int_equal(switch_trace(b, &beside), 0);
    assert_int_equal(ends_compare(&t, from, to, &beside, e), 0);
    trace_free(&t);
    trace_free(&beside);
}

/* Repetitions 1 to n of ten samples each, at e^x of 3 GHz. 0, or -1. */
static int rounds_trace(const double *x, unsigned n, struct trace *t)
{
    trace_init(t);
    if (trace_add_run(t) || trace_add_channel(t, TRACE_FREQ) || trace_add_channel(t, TRACE_IPC))
        return -1;
    for (unsigned r = 0; r < n; r++)
        for (int i = 1; i <= 10; i++) {
            if (trace_append(t, r + 1, i))
                return -1;
            t->channel[TRACE_FREQ][t->n - 1] = (float)(3 * (x ? exp(x[r]) : 1));
            t->channel[TRACE_IPC][t->n - 1] = 2;
        }
    return 0;
}

TEST(alike_do_not_differ)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct switch_plan a = plan_of(12, seed), b = plan_of(12, 100 + seed);
        struct ends e;
        compare(&a, &b, 50, 100, &e);
        assert_true(fabs(e.clock.value) < 0.003);
        assert_true(fabs(e.ipc.value) < 0.003);
        assert_true(fabs(e.ghz - 3) < 0.01);
        assert_false(ends_differ(&e.clock, 0.004));
        assert_false(ends_differ(&e.ipc, 0.004));
    }
}

TEST(what_the_clock_is_is_told_where_asked)
{
    struct switch_plan a = plan_of(12, 1), b = plan_of(12, 2);
    struct ends e;
    a.piece[0] = (struct switch_piece){0.1, 1, 0.95};
    compare(&a, &b, 50, 100, &e);
    assert_true(fabs(e.clock.value - log(0.95)) < 0.004);
    assert_true(ends_differ(&e.clock, 0.02));
    assert_false(ends_differ(&e.clock, 0.06));
    assert_true(fabs(e.ghz - 2.85) < 0.01);
    compare(&a, &b, -40, 0, &e);
    assert_false(ends_differ(&e.clock, 0.004));
}

/* Of seven rounds in which a power limit comes and goes, six end far below the second kernel's own clock: limits of a
 * median exclude nothing there, and "no transition" was told of a wait that was longer than the recording. */
TEST(most_of_a_few_rounds_are_enough_to_look_longer)
{
    static const double below[] = {-0.182, -0.249, -0.118, -0.175, 0.054, -0.176, -0.245},
                        beside[] = {-0.05, -0.05, 0.0,  -0.05,
                                    0.0,   -0.05, -0.05}; /* a sibling thread, half of the time */
    struct ends e = {.clock = {-0.176, -0.318, 0.054}};
    for (int sibling = 0; sibling < 2; sibling++) {
        const double *x = sibling ? beside : below;
        struct trace t, held;
        assert_int_equal(rounds_trace(x, 7, &t), 0);
        assert_int_equal(rounds_trace(NULL, 7, &held), 0);
        assert_int_equal(ends_compare(&t, 0, INFINITY, &held, &e), 0);
        assert_false(ends_differ(&e.clock, ENDS_OFF));
        assert_int_equal(ends_mostly_differ(&e), !sibling);
        trace_free(&t);
        trace_free(&held);
    }
}

TEST(few_rounds_tell_nothing)
{
    struct switch_plan a = plan_of(12, 1), b = plan_of(3, 2);
    struct ends e;
    compare(&a, &b, 50, 100, &e);
    assert_true(isnan(e.clock.lo) && isnan(e.ipc.hi));
    assert_false(ends_differ(&e.clock, 0));
}

TEST(without_memory_it_says_so)
{
    struct switch_plan a = plan_of(8, 1);
    struct trace t;
    struct ends e;
    assert_int_equal(switch_trace(&a, &t), 0);
    strict_memory_fail(1);
    int status = ends_compare(&t, 50, 100, &t, &e);
    bool failed = strict_memory_failed();
    strict_memory_fail(0);
    assert_int_equal(status, failed ? -1 : 0);
    trace_free(&t);
}
