/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces of busy guests, and what answers to them are worth: the analysis is measured by these (score_guest). */
#include "tests/support/guest_score.h"
#include "tests/support/guest_traces.h"
#include "tests/support/test.h"

TEST(same_seed_same_trace)
{
    for (int k = 0; k < GUEST_KINDS; k++) {
        struct trace a, b;
        struct guest_truth of_a, of_b;
        assert_int_equal(guest_trace((enum guest_kind)k, 3, &a, &of_a), 0);
        assert_int_equal(guest_trace((enum guest_kind)k, 3, &b, &of_b), 0);
        assert_int_equal(a.n, b.n);
        assert_memory_equal(a.time_us, b.time_us, a.n * sizeof *a.time_us);
        assert_memory_equal(a.channel[TRACE_IPC], b.channel[TRACE_IPC], a.n * sizeof(float));
        assert_int_equal(trace_count_runs(&a), 80);
        trace_free(&a);
        trace_free(&b);
    }
}

/* Work before and after the switch, as a share of what full rate would have done, over all repetitions. */
static double share_done(const struct trace *t, double from_us, double to_us)
{
    size_t n = 0, chains = 0;
    for (size_t i = 0; i < t->n; i++) {
        n += t->time_us[i] > from_us && t->time_us[i] <= to_us;
        chains += !isnan(t->channel[TRACE_FREQ][i]);
    }
    assert_true(fabs((double)chains / (double)t->n - 0.25) < 0.01);
    return (double)n * 0.25 / (80 * (to_us - from_us));
}

TEST(throttling_takes_its_share)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct trace t;
        struct guest_truth truth;
        assert_int_equal(guest_trace(GUEST_THROTTLE, seed, &t, &truth), 0);
        /* relative to what a sibling and the clock leave before the switch */
        double before = share_done(&t, -45, -1), within = share_done(&t, 0, truth.d1_us) / before;
        double cold = truth.cold_us / truth.d1_us;
        assert_true(before > 0.7 && before < 1.11);
        assert_true(fabs(within - truth.ratio * (1 - cold)) < 0.06 + 0.3 / truth.d1_us);
        assert_true(fabs(share_done(&t, truth.d1_us * 1.3 + 1, 149) / before - 1) < 0.06);
        trace_free(&t);
    }
}

/* An answer: steady, throttled for `us` at `ratio`, steady. */
struct answer {
    struct phase phase[4];
    struct phases p;
};

static void answer_throttled(struct answer *a, double us, double ratio)
{
    memset(a, 0, sizeof *a);
    a->phase[0] = (struct phase){.kind = PHASE_STEADY, .start_us = -50, .duration_us.value = 50};
    a->phase[1] = (struct phase){.kind = PHASE_THROTTLE, .duration_us.value = us, .ipc_ratio = ratio};
    a->phase[2] = (struct phase){.kind = PHASE_STEADY, .start_us = us, .duration_us.value = 150 - us};
    for (int i = 0; i < 3; i++)
        a->phase[i].freq_ghz.value = NAN;
    a->p = (struct phases){.phases = a->phase, .n_phases = 3, .n_transitions = 1, .detectable_freq = NAN};
}

/* Nothing found; would have seen throttling to `ratio` of `us`. */
static void answer_nothing(struct answer *a, double ratio, double us)
{
    answer_throttled(a, 0, 1);
    a->phase[1] = a->phase[2];
    a->p.n_phases = 2;
    a->p.n_transitions = 0;
    a->p.detectable_throttle = ratio;
    a->p.detectable_throttle_us = us;
}

static enum guest_verdict judge(const struct answer *a, const struct guest_truth *t)
{
    char why[300];
    return guest_judge(t, &a->p, why, sizeof why);
}

static const struct guest_truth throttled_10 = {
    .kind = GUEST_THROTTLE, .ratio = 0.25, .d1_us = 10, .d1b_us = NAN, .low = 1, .tau_us = NAN};

TEST(answers_about_throttling)
{
    struct answer a;
    answer_throttled(&a, 11, 0.3);
    assert_int_equal(judge(&a, &throttled_10), GUEST_RIGHT);
    answer_throttled(&a, 12, 0.3);
    assert_int_equal(judge(&a, &throttled_10), GUEST_FALSE);
    answer_throttled(&a, 10, 0.5);
    assert_int_equal(judge(&a, &throttled_10), GUEST_FALSE);
    answer_nothing(&a, 0.2, 1);
    assert_int_equal(judge(&a, &throttled_10), GUEST_UNDECIDED);
    answer_nothing(&a, 0.9, 1);
    assert_int_equal(judge(&a, &throttled_10), GUEST_FALSE);
    a.phase[1].kind = PHASE_UNKNOWN;
    assert_int_equal(judge(&a, &throttled_10), GUEST_UNDECIDED);
    answer_throttled(&a, 10, 0.25);
    a.phase[3] = (struct phase){.kind = PHASE_HALT, .start_us = 10, .duration_us.value = 1.2};
    a.p.n_phases = 4;
    assert_int_equal(judge(&a, &throttled_10), GUEST_FALSE);
}

TEST(answers_about_the_clock)
{
    struct guest_truth t = throttled_10;
    struct answer a;
    t.kind = GUEST_STEP;
    t.low = 0.9;
    answer_throttled(&a, 10, 0.25);
    assert_int_equal(judge(&a, &t), GUEST_UNDECIDED); /* not known */
    a.p.detectable_freq = 0.005;                      /* would have been */
    assert_int_equal(judge(&a, &t), GUEST_FALSE);
    a.phase[0].freq_ghz.value = 2;
    a.phase[2].freq_ghz.value = 1.81;
    assert_int_equal(judge(&a, &t), GUEST_RIGHT);
    assert_int_equal(judge(&a, &throttled_10), GUEST_FALSE); /* a step where there is none */
    a.phase[2].freq_ghz.value = 1.85;
    assert_int_equal(judge(&a, &t), GUEST_FALSE);
}

TEST(answers_about_two_lengths)
{
    struct guest_truth t = throttled_10;
    struct answer a;
    t.kind = GUEST_MODES;
    t.d1b_us = 20;
    answer_throttled(&a, 15, 0.25);
    assert_int_equal(judge(&a, &t), GUEST_UNDECIDED); /* their mean */
    a.phase[1].n_modes = 2;
    a.phase[1].modes[0].duration_us = 20.5;
    a.phase[1].modes[1].duration_us = 9.6;
    assert_int_equal(judge(&a, &t), GUEST_RIGHT);
    a.phase[1].modes[1].duration_us = 5;
    assert_int_equal(judge(&a, &t), GUEST_FALSE);
}
