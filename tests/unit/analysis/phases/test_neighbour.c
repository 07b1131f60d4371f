/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bouts of another thread in made-up repetitions: which samples are left out, by cycles and by chains. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/phases/repetitions/neighbour.h"
#include "analysis/phases/repetitions/steady.h"
#include "tests/support/close_to.h"
#include "tests/support/strict_memory.h"

enum { RUNS = 20, SAMPLES = 200, SWITCH = 100, BOUT = 40, LONG_FROM = 181 };

/*
 * Samples of 1 us around a switch at 0, at 3 GHz and 2 instructions a cycle. Before it half of the repetitions meet the
 * thread, each at another time, for 40 us at 0.6 of the rate: a fifth of the time. Behind it repetitions 0 to 2 are
 * slower, too; and only the first `longer` go on to the end. Chains are then slower by a tenth, where they tell the
 * frequency.
 */
struct bout {
    unsigned run, from, to;
    double factor;
};
static const struct bout behind[] = {
    {0, 120, 130, 0.6},  /* the thread */
    {1, 120, 130, 0.85}, /* slower by less: not the thread */
    {2, 150, 152, 0.6},  /* too short to tell */
    {0, 185, 191, 0.6},  /* where few repetitions go on */
};

static double factor_at(unsigned run, unsigned sample)
{
    if (run % 2 && sample > 3 * run && sample <= 3 * run + BOUT)
        return 0.6;
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        if (run == behind[i].run && sample >= behind[i].from && sample < behind[i].to)
            return behind[i].factor;
    return 1;
}

static void make(struct trace *t, struct runs *r, unsigned longer, bool chains, double noise)
{
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC), 0);
    for (unsigned run = 0; run < RUNS; run++)
        for (unsigned i = 0; i <= SAMPLES && (i < LONG_FROM || run < longer); i++) {
            assert_int_equal(trace_append(t, run, (double)i - SWITCH), 0);
            double factor = factor_at(run, i), chain = chains && factor < 1 ? 0.9 : 1;
            t->channel[TRACE_FREQ][t->n - 1] = (float)(3 * chain);
            t->channel[TRACE_IPC][t->n - 1] = (float)(2 * factor / chain * (1 + (i % 2 ? noise : -noise)));
        }
    assert_int_equal(runs_prepare(t, r), 0);
    r->clock.instant = chains;
}

/* Whether a sample is left out: of the IPC those of bouts; of the frequency also the one before, where a chain may be
 * hit, and what is too short to tell. */
static bool is_out(unsigned run, unsigned sample, unsigned longer, bool of_ipc)
{
    bool out = factor_at(run, sample) < 0.7 || (!of_ipc && factor_at(run, sample + 1) < 0.7);
    bool short_one = run == 2 && sample >= SWITCH;
    if (sample + 1 >= LONG_FROM && longer < 4)
        return false;
    return out && !(of_ipc && short_one);
}

static void expect(unsigned longer, bool chains)
{
    struct trace t;
    struct runs r;
    struct neighbour n;
    make(&t, &r, longer, chains, 0);
    assert_int_equal(neighbour_find(&r, 0, &n), 0);
    assert_close(n.share, 0.2, 1e-9);
    assert_close(n.factor, 0.6, 1e-6);
    assert_int_equal(n.runs, 11); /* ten before the switch, and repetition 0 */
    assert_false(n.common);
    assert_int_equal(n.slowed, chains);
    assert_close(n.uncertainty, chains ? 0.03 * (1 / 0.9 - 1) : 0, 1e-6);
    assert_non_null(n.ipc);
    assert_int_equal(n.freq != NULL, chains);
    for (size_t i = 0; i < t.n; i++) {
        unsigned run = t.run[i], sample = (unsigned)(t.time_us[i] + SWITCH);
        if (!isnan(n.ipc[i]) == is_out(run, sample, longer, true))
            fail_msg("IPC of sample %u of repetition %u", sample, run);
        if (chains && !isnan(n.freq[i]) == is_out(run, sample, longer, false))
            fail_msg("frequency of sample %u of repetition %u", sample, run);
    }
    neighbour_free(&n);
    runs_free(&r);
    trace_free(&t);
}

static void bouts_are_left_out(void **state)
{
    (void)state;
    for (unsigned longer = 3; longer <= 4; longer++) {
        expect(longer, false);
        expect(longer, true);
    }
}

/* A quarter of what the thread takes is far enough from its rate to be none of it. */
static void what_is_just_not_the_thread_stays(void **state)
{
    (void)state;
    struct trace t;
    struct runs r;
    struct neighbour n;
    make(&t, &r, 4, false, 0);
    for (size_t i = 0; i < t.n; i++) { /* all of it exact */
        float *ipc = &t.channel[TRACE_IPC][i];
        *ipc = *ipc > 1.9f ? 2 : *ipc > 1.5f ? 1.25f : 1;
    }
    assert_int_equal(neighbour_find(&r, 0, &n), 0);
    assert_close(n.factor, 0.5, 0);
    assert_non_null(n.ipc);
    for (size_t i = 0; i < t.n; i++)
        if (t.channel[TRACE_IPC][i] == 1.25f && isnan(n.ipc[i]))
            fail_msg("sample %g us of repetition %u", t.time_us[i], t.run[i]);
    neighbour_free(&n);
    runs_free(&r);
    trace_free(&t);
}

/* Instructions per time that differ from one sample to the next by 2 %, or by 0.4 %. */
static void noise_hides_a_neighbour(void **state)
{
    (void)state;
    for (int noisy = 0; noisy < 2; noisy++) {
        struct trace t;
        struct runs r;
        struct neighbour n;
        make(&t, &r, 4, true, noisy ? 0.01 : 0.002);
        r.noise[TRACE_IPC] = 1; /* cycles tell nothing */
        assert_int_equal(neighbour_find(&r, 0, &n), 0);
        assert_close(n.share, noisy ? 0 : 0.2, 1e-9);
        if (!noisy) /* of the middle of the full rates, most of which are lower by that */
            assert_close(n.factor, 0.6 / (1 - 0.002), 1e-6);
        neighbour_free(&n);
        runs_free(&r);
        trace_free(&t);
    }
}

/* A repetition of which some samples are left is not one that shared its core throughout. */
static void repetitions_that_share_throughout(void **state)
{
    (void)state;
    for (unsigned all = 0; all < 3; all++) {
        struct trace t;
        struct runs r;
        struct steady_value v;
        make(&t, &r, 4, true, 0);
        assert_int_equal(trace_set(&t, "frequency", "instantaneous"), 0);
        for (size_t i = 0; i < t.n; i++)
            if (t.run[i] < all) {
                t.channel[TRACE_FREQ][i] = 2.7f;
                t.channel[TRACE_IPC][i] = (float)(2 * 0.6 / 0.9);
            }
        assert_int_equal(steady_mean(&t, TRACE_FREQ, 0, &v), 0);
        assert_int_equal(v.shared, all);
        assert_int_equal(v.runs, RUNS - all);
        assert_close(v.mean.value, 3, 1e-3);
        runs_free(&r);
        trace_free(&t);
    }
}

/* What the steps of a clock do is known from the periods of the trace alone, half of which are of 1 us and half of
 * 3 us; a sample before it, as of what it was cut from, is none of it. */
static void periods_are_those_of_the_trace(void **state)
{
    (void)state;
    enum { CUT = 2 };
    static bool marked[RUNS * (SAMPLES + 1)];
    struct trace t, cut;
    struct runs r;
    double doubt;
    make(&t, &r, 0, true, 0);
    assert_int_equal(trace_set(&t, "frequency", "instantaneous") | trace_set(&t, "clock_step_ns", "100"), 0);
    bool longer = false;
    for (size_t i = 1; i < t.n; i++)
        if (t.run[i] == t.run[i - 1]) {
            t.time_us[i] = t.time_us[i - 1] + (longer ? 3 : 1);
            longer = i >= CUT && !longer;
        }
    cut = t;
    cut.n -= CUT;
    cut.run += CUT;
    cut.time_us += CUT;
    for (int c = 0; c < TRACE_CHANNELS; c++)
        cut.channel[c] = t.channel[c] ? t.channel[c] + CUT : NULL;
    assert_int_equal(neighbour_mark(&cut, marked, &doubt), 0);
    assert_close(doubt, 0.03 * (1 / 0.9 - 1), 1e-6);
    for (size_t i = 0; i < cut.n; i++)
        if (marked[i] != (cut.channel[TRACE_FREQ][i] < 2.8f))
            fail_msg("sample %zu of repetition %u", i, cut.run[i]);
    runs_free(&r);
    trace_free(&t);
}

static void expect_words(const struct neighbour *n, const char *words)
{
    struct phases p = {0};
    const struct runs r = {.n = 20};
    assert_int_equal(neighbour_warn(n, &r, &p), 0);
    assert_int_equal(p.n_warnings, words ? 1 : 0);
    if (words && !strstr(p.warnings[0], words))
        fail_msg("\"%s\" is not in \"%s\"", words, p.warnings[0]);
    phases_free(&p);
}

static void what_a_neighbour_did_in_words(void **state)
{
    (void)state;
    expect_words(&(struct neighbour){.factor = 0.5}, NULL);
    expect_words(&(struct neighbour){.factor = 0.5, .uncertainty = 0.002}, NULL);
    expect_words(&(struct neighbour){.factor = 0.5, .uncertainty = 0.0021}, "sometimes runs at 0.50 of its rate while");
    expect_words(&(struct neighbour){.factor = 0.5, .share = 0.001, .uncertainty = 0.1}, "in bursts too short");
    expect_words(&(struct neighbour){.factor = 0.5, .share = 0.25, .runs = 1, .common = true},
                 "0.50 of its rate at the ");
    expect_words(&(struct neighbour){.factor = 0.5, .share = 0.25},
                 "for 25 % of the time before the switch the kernel");
    expect_words(&(struct neighbour){.factor = 0.5, .share = 0.25, .runs = 1},
                 "in 1 of 20 repetitions, and for 25 % of the time before the switch, the kernel ran at 0.50");
}

/* Throttling is no longer known where a thread in step may have caused it, and nothing else changes. */
static void throttling_that_a_neighbour_explains(void **state)
{
    (void)state;
    static const struct {
        bool common, begins, withdrawn;
    } cases[] = {{false, false, false}, {true, false, false}, {false, true, false}, {true, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct phase phase[3] = {{.kind = PHASE_THROTTLE}, {.kind = PHASE_HALT}, {.kind = PHASE_THROTTLE}};
        struct phases p = {.phases = phase, .n_phases = 3};
        neighbour_withdraw(&(struct neighbour){.common = cases[i].common, .begins = cases[i].begins, .factor = 0.75},
                           &p);
        assert_int_equal(phase[0].kind, cases[i].withdrawn ? PHASE_UNKNOWN : PHASE_THROTTLE);
        assert_int_equal(phase[1].kind, PHASE_HALT);
        assert_int_equal(phase[2].kind, cases[i].withdrawn ? PHASE_UNKNOWN : PHASE_THROTTLE);
        assert_true(!cases[i].withdrawn || strstr(phase[2].why, "to 0.75 of its rate"));
    }
}

/* Wherever memory ends, it is told, or the answer is as it is with more of it. */
static void out_of_memory_is_told(void **state)
{
    (void)state;
    for (int chains = 0; chains < 2; chains++) {
        struct trace t;
        struct runs r;
        bool failed = true;
        make(&t, &r, 4, chains, 0);
        for (unsigned k = 1; failed; k++) {
            struct neighbour n;
            strict_memory_fail(k);
            int bad = neighbour_find(&r, 0, &n);
            failed = strict_memory_failed();
            strict_memory_fail(0);
            if (bad) {
                assert_true(failed);
                assert_null(n.ipc);
                assert_null(n.freq);
                continue;
            }
            assert_int_equal(n.runs, 11);
            assert_non_null(n.ipc);
            assert_int_equal(n.freq != NULL, chains);
            neighbour_free(&n);
        }
        runs_free(&r);
        trace_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bouts_are_left_out),
        cmocka_unit_test(what_is_just_not_the_thread_stays),
        cmocka_unit_test(noise_hides_a_neighbour),
        cmocka_unit_test(repetitions_that_share_throughout),
        cmocka_unit_test(periods_are_those_of_the_trace),
        cmocka_unit_test(what_a_neighbour_did_in_words),
        cmocka_unit_test(throttling_that_a_neighbour_explains),
        cmocka_unit_test(out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
