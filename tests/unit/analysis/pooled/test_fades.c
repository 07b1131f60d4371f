/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates that approach their end exponentially are distinguished from steps. */
#include "analysis/pooled/pooled.h"
#include "tests/support/guest_traces.h"
#include "tests/support/test.h"

static void find(enum guest_kind kind, uint64_t seed, struct guest_truth *truth, struct pooled_states *s)
{
    struct trace t;
    struct pooled p;
    assert_int_equal(guest_trace(kind, seed, &t, truth), 0);
    assert_int_equal(pooled_prepare(&t, &p), 0);
    assert_int_equal(pooled_find_states(&p, NAN, s), 0);
    pooled_free(&p);
    trace_free(&t);
}

/* Over the seeds: time constants within 15 %, and within their limits. */
TEST(ramps_are_one_fade)
{
    int fades = 0, near = 0, within = 0, count = 20;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct guest_truth truth;
        struct pooled_states s;
        find(GUEST_RAMP, seed, &truth, &s);
        const struct pooled_state *first = &s.state[0];
        if (s.n == 2 && first->tau_us > 0) {
            fades++;
            near += fabs(first->tau_us / truth.tau_us - 1) < 0.15;
            within += fabs(first->tau_us - truth.tau_us) < 1.5 * first->tau_half_us;
            assert_true(fabs(first->rate - truth.ratio) < 0.12);
        }
        pooled_states_free(&s);
    }
    assert_true(fades >= 0.9 * count);
    assert_true(near >= 0.85 * count);
    assert_true(within >= 0.8 * count);
}

TEST(steps_are_no_fade)
{
    for (uint64_t seed = 1; seed <= 8; seed++)
        for (int kind = GUEST_THROTTLE; kind <= GUEST_MODES; kind += GUEST_MODES - GUEST_THROTTLE) {
            struct guest_truth truth;
            struct pooled_states s;
            find((enum guest_kind)kind, seed, &truth, &s);
            for (size_t k = 0; k < s.n; k++)
                assert_true(s.state[k].tau_us == 0);
            pooled_states_free(&s);
        }
}
