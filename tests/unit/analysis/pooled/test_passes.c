/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each repetition leaves a state at its own time, beside a busy sibling or not. */
#include "analysis/pooled/pooled.h"
#include "tests/support/switch_traces.h"
#include "tests/support/test.h"

static const struct switch_plan throttled = {.repetitions = 24,
                                             .work_us = 0.2,
                                             .before_us = 30,
                                             .after_us = 90,
                                             .piece = {{15, 0.4, 1}},
                                             .spread = 0.1,
                                             .chain_noise = 0.01,
                                             .seed = 1};

static void find(const struct switch_plan *plan, struct trace *t, struct pooled *p, struct pooled_states *s)
{
    assert_int_equal(switch_trace(plan, t), 0);
    assert_int_equal(pooled_prepare(t, p), 0);
    assert_int_equal(p->n_runs, plan->repetitions);
    assert_int_equal(pooled_find_states(p, NAN, s), 0);
}

static void forget(struct trace *t, struct pooled *p, struct pooled_states *s)
{
    pooled_states_free(s);
    pooled_free(p);
    trace_free(t);
}

/* How many repetitions leave state k within `us` of when they do. */
static size_t near_truth(const struct switch_plan *plan, const struct pooled *p, const struct pooled_states *s,
                         size_t k, double us)
{
    size_t n = 0;
    for (size_t r = 0; r < p->n_runs; r++)
        n += fabs(s->left[k * p->n_runs + r] - plan->piece[k].until_us * switch_scale(plan, p->run[r].number)) < us;
    return n;
}

TEST(each_leaves_at_its_own_time)
{
    struct trace t;
    struct pooled p;
    struct pooled_states s;
    find(&throttled, &t, &p, &s);
    assert_int_equal(s.n, 2);
    assert_true(fabs(s.state[0].rate - 0.4) < 0.01);
    assert_true(fabs(s.state[0].length_us - 15) < 1.5);
    assert_int_equal(near_truth(&throttled, &p, &s, 0, 0.1), 24);
    forget(&t, &p, &s);
}

TEST(a_sibling_hides_no_border)
{
    struct switch_plan plan = throttled;
    plan.busy_share = 0.35;
    plan.repetitions = 60;
    struct trace t;
    struct pooled p;
    struct pooled_states s;
    find(&plan, &t, &p, &s);
    assert_int_equal(s.n, 2);
    assert_true(fabs(s.state[0].rate - 0.4) < 0.03);
    assert_true(near_truth(&plan, &p, &s, 0, 0.7) >= 52);
    size_t beside = 0;
    for (size_t i = 0; i < t.n; i++)
        beside += p.beside[i];
    double share = (double)beside / (double)t.n; /* fewer samples than time */
    assert_true(share > 0.2 && share < 0.36);
    forget(&t, &p, &s);
}

TEST(a_halt_is_distinguished_from_slow_work)
{
    struct switch_plan plan = throttled;
    plan.spread = 0.03;
    plan.piece[0] = (struct switch_piece){12, 0.12, 1}; /* many samples at a low rate */
    plan.piece[1] = (struct switch_piece){15, 0, 1};
    struct trace t;
    struct pooled p;
    struct pooled_states s;
    find(&plan, &t, &p, &s);
    assert_int_equal(s.n, 3);
    assert_false(pooled_halts(&p, &s, 0));
    assert_true(pooled_halts(&p, &s, 1));
    assert_false(pooled_halts(&p, &s, 2));
    assert_true(fabs(s.state[1].length_us - 3) < 0.5);
    forget(&t, &p, &s);
}
