/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock after the switch, relative to that before it. */
#include "analysis/pooled/pooled.h"
#include "tests/support/switch_traces.h"
#include "tests/support/test.h"

static const struct switch_plan still = {
    .repetitions = 60, .work_us = 0.25, .before_us = 40, .after_us = 150, .chain_noise = 0.01, .seed = 1};

static void find(const struct switch_plan *plan, struct pooled_clock *c)
{
    struct trace t;
    struct pooled p;
    struct pooled_states s;
    assert_int_equal(switch_trace(plan, &t), 0);
    assert_int_equal(pooled_prepare(&t, &p), 0);
    assert_int_equal(pooled_find_states(&p, NAN, &s), 0);
    assert_int_equal(pooled_find_clock(&p, &s, c), 0);
    pooled_states_free(&s);
    pooled_free(&p);
    trace_free(&t);
}

TEST(a_still_clock_is_one_stretch)
{
    struct switch_plan plan = still;
    int still_ones = 0;
    for (plan.seed = 1; plan.seed <= 40; plan.seed++) {
        struct pooled_clock c;
        find(&plan, &c);
        assert_int_equal(c.n, 1);
        assert_true(fabs(c.before_ghz.value - 3) < 0.01);
        assert_true(fabs(c.state[0].log_step.value) < 0.006);
        assert_true(c.state[0].log_step.hi - c.state[0].log_step.lo < 0.006);
        still_ones += c.state[0].log_step.value == 0;
    }
    assert_true(still_ones >= 39);
}

TEST(steps_are_found_and_placed)
{
    struct switch_plan plan = still;
    static const double steps[] = {0.85, 0.93, 0.97, 1.05, 1.15};
    for (int i = 0; i < 5; i++) {
        struct pooled_clock c;
        plan.seed = 100 + (uint64_t)i;
        plan.piece[0] = (struct switch_piece){30, 1, 1};
        plan.piece[1] = (struct switch_piece){30.1, 1, steps[i]};
        find(&plan, &c);
        assert_int_equal(c.n, 2);
        assert_true(fabs(c.state[0].log_step.value) < 0.005);
        assert_true(fabs(c.state[1].log_step.value - log(steps[i])) < 0.004);
        assert_true(fabs(c.state[1].begin_us - 30) < 3);
        assert_true(c.state[0].end_us == c.state[1].begin_us);
    }
}

/* Few repetitions tell the clock after the switch, too, by the limits of single chains. */
TEST(few_repetitions_tell_the_clock)
{
    struct switch_plan plan = still;
    plan.piece[0] = (struct switch_piece){30, 1, 1};
    plan.piece[1] = (struct switch_piece){30.1, 1, 0.9};
    unsigned held = 0;
    for (plan.repetitions = 3; plan.repetitions <= 6; plan.repetitions++)
        for (plan.seed = 1; plan.seed <= 10; plan.seed++) {
            struct pooled_clock c;
            find(&plan, &c);
            const struct estimate *last = &c.state[c.n - 1].log_step;
            assert_int_equal(c.n, 2);
            assert_true(fabs(last->value - log(0.9)) < 0.01);
            assert_true(last->hi - last->lo < 0.06);
            held += last->lo <= log(0.9) && log(0.9) <= last->hi;
        }
    assert_in_range(held, 36, 40);
}

TEST(no_chains_tell_no_clock)
{
    struct trace t;
    struct pooled p;
    struct pooled_states s;
    struct pooled_clock c;
    assert_int_equal(switch_trace(&still, &t), 0);
    for (size_t i = 0; i < t.n; i++)
        t.channel[TRACE_FREQ][i] = NAN;
    assert_int_equal(pooled_prepare(&t, &p), 0);
    assert_int_equal(pooled_find_states(&p, NAN, &s), 0);
    assert_int_equal(pooled_find_clock(&p, &s, &c), 0);
    assert_int_equal(c.n, 0);
    assert_true(isnan(c.before_ghz.value));
    pooled_states_free(&s);
    pooled_free(&p);
    trace_free(&t);
}
