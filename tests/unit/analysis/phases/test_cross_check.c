/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What stands of the findings of a recording whose halves both show throttling to a quarter from 0 to 40 us, after
 * which the frequency is 2.4 GHz instead of 3: each case claims something a little else, within or beyond a limit.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/phases/checks/cross_check.h"
#include "tests/support/close_to.h"

enum { RUNS = 10 };
#define ONE_HALF "not seen alike in the first and the last half of the repetitions"
#define AT_RANDOM "its duration differs in each repetition: another thread on the core?"
#define NOT_ALONE "the two kernels do not differ by it when each runs alone"
#define SEEN (log(2.4 / 3))

static double wobble(size_t i)
{
    static const double pattern[] = {0.3, -0.7, 0.1, 0.9, -0.4, 0.6, -1.0, 0.2, -0.1, 0.5, -0.6, 0.2};
    return pattern[i % 12];
}

/* One repetition; `happens`: else it runs on as before. */
static void record_one(struct trace *t, unsigned run, bool happens)
{
    for (double end = -40; end <= 100; end += 1) {
        size_t i = t->n;
        assert_int_equal(trace_append(t, run, end), 0);
        t->channel[TRACE_FREQ][i] = (float)((end <= 40 || !happens ? 3 : 2.4) * (1 + 0.001 * wobble(5 * i + 7 * run)));
        t->channel[TRACE_IPC][i] = (float)((end <= 0               ? 1
                                            : end <= 40 && happens ? 0.5
                                                                   : 2) *
                                           (1 + 0.01 * wobble(7 * i + 5 * run)));
    }
}

static void begin_trace(struct trace *t)
{
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC), 0);
    assert_int_equal(trace_set(t, "from", "a") | trace_set(t, "to", "b"), 0);
}

static void find(const struct trace *t, struct phases *p)
{
    char why[300];
    if (phases_find(t, p, why, sizeof why))
        fail_msg("%s", why);
}

static void record_all(struct trace *t, struct phases *p, unsigned runs)
{
    begin_trace(t);
    for (unsigned run = 0; run < runs; run++)
        record_one(t, run, true);
    find(t, p);
    assert_int_equal(p->n_phases, 3);
    assert_int_equal(p->phases[1].kind, PHASE_THROTTLE);
    assert_int_equal(p->n_transitions, 1);
}

static void expect_warning(const struct phases *p, const char *text)
{
    assert_int_equal(p->n_warnings, text ? 1 : 0);
    if (text)
        assert_string_equal(p->warnings[0], text);
}

struct claim {
    double later_us;  /* throttling begins so much later */
    double lasts_us;  /* ... and lasts so long; 0: as it does */
    double log_ratio; /* its ratio is off by */
    double before_us; /* half width of the limits of when it begins */
    double random_us; /* standard deviation of its duration */
    double mode_us;   /* the phase before it may be so much longer; 0: is not */
    bool two_lengths; /* of the throttling */
    const char *why;  /* NULL: it stands */
};

static void claim_throttle(const struct trace *t, const struct claim *c)
{
    struct phases p;
    char text[200];
    find(t, &p);
    p.n_transitions = 0;
    struct phase *before = &p.phases[0], *ph = &p.phases[1];
    ph->start_us += c->later_us;
    ph->duration_us.value = c->lasts_us > 0 ? c->lasts_us : ph->duration_us.value;
    ph->ipc_ratio *= exp(c->log_ratio);
    ph->duration_us.hi = ph->duration_us.value + 0.7153569 * c->random_us; /* t(0.975, 9) / sqrt(10) */
    ph->n_modes = c->two_lengths ? 2 : 0;
    before->duration_us.lo = before->duration_us.value - c->before_us;
    before->duration_us.hi = before->duration_us.value + c->before_us;
    before->n_modes = c->mode_us != 0 ? 2 : 0;
    before->modes[0].duration_us = 40;
    before->modes[1].duration_us = 40 + c->mode_us;
    assert_int_equal(cross_check(t, &(struct kernel_alone){0}, &(struct kernel_alone){0}, false, &p), 0);
    snprintf(text, sizeof text, "1 finding withdrawn after cross-checking: %s", c->why ? c->why : "");
    expect_warning(&p, c->why ? text : NULL);
    assert_int_equal(p.phases[1].kind, c->why ? PHASE_UNKNOWN : PHASE_THROTTLE);
    assert_string_equal(p.phases[1].why, c->why ? c->why : "");
    assert_int_equal(isnan(p.phases[1].ipc_ratio), c->why != NULL);
    assert_int_equal(p.phases[0].kind, PHASE_STEADY);
    assert_int_equal(p.phases[2].kind, PHASE_STEADY);
    phases_free(&p);
}

/* Where throttling alone makes the transition, it goes with it: each half may show one, of another ratio. */
static void a_transition_goes_with_its_throttling(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct trace t;
        struct phases p;
        bool steps = i == 1;
        record_all(&t, &p, RUNS);
        p.phases[1].ipc_ratio *= 1.2;
        if (i == 2) { /* so does a halt */
            p.phases[1].kind = PHASE_HALT;
            p.transitions[0].halts = 1;
        }
        if (!steps)
            p.transitions[0].to_ghz = p.transitions[0].from_ghz = NAN;
        assert_int_equal(cross_check(&t, &(struct kernel_alone){0}, &(struct kernel_alone){0}, false, &p), 0);
        assert_int_equal(p.phases[1].kind, PHASE_UNKNOWN);
        assert_int_equal(p.n_transitions, steps);
        phases_free(&p);
        trace_free(&t);
    }
}

static void throttling_that_both_halves_show(void **state)
{
    (void)state;
    static const struct claim claims[] = {
        {.why = NULL},
        /* rates within a tenth */
        {.log_ratio = 0.09},
        {.log_ratio = -0.09},
        {.log_ratio = 0.11, .why = ONE_HALF},
        {.log_ratio = -0.11, .why = ONE_HALF},
        /* a quarter of its duration, or 5 us */
        {.later_us = 9.8},
        {.later_us = 10.2, .why = ONE_HALF},
        {.later_us = -9.8},
        {.later_us = -10.2, .why = ONE_HALF},
        {.later_us = 4.8, .lasts_us = 1},
        {.later_us = 5.2, .lasts_us = 1, .why = ONE_HALF},
        /* one and a half times what limits allow, or 25 us */
        {.later_us = 8.8, .lasts_us = 1, .before_us = 6},
        {.later_us = 9.2, .lasts_us = 1, .before_us = 6, .why = ONE_HALF},
        {.later_us = 24.8, .lasts_us = 1, .before_us = 20},
        {.later_us = 25.2, .lasts_us = 1, .before_us = 20, .why = ONE_HALF},
        /* as late as a mode of what is before it makes it */
        {.later_us = 24.8, .lasts_us = 1, .mode_us = -20},
        {.later_us = 25.2, .lasts_us = 1, .mode_us = -20, .why = ONE_HALF},
        {.later_us = 15.2, .lasts_us = 1, .mode_us = -20},
        {.later_us = 14.8, .lasts_us = 1, .mode_us = -20, .why = ONE_HALF},
        {.later_us = 14.8, .lasts_us = 1, .mode_us = 20, .why = ONE_HALF},
        /* 1 us and 45 % of its duration */
        {.random_us = 18.9},
        {.random_us = 19.1, .why = AT_RANDOM},
        {.random_us = 19.1, .two_lengths = true},
    };
    struct trace t;
    struct phases p;
    record_all(&t, &p, RUNS);
    phases_free(&p);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        claim_throttle(&t, &claims[i]);
    trace_free(&t);
}

struct step {
    double later_us, size; /* of the step that is seen */
    bool unknown;          /* its frequencies are not */
    double alone;          /* logarithm of the kernels' frequencies alone, 0: not measured ... */
    double spread;         /* ... each of which scatters by half of so much */
    bool waits;
    const char *why;
};

/* Two frequencies with this mean whose logarithms differ by `spread`. */
static struct kernel_alone alone_at(double ghz, double spread)
{
    double lower = 2 * ghz / (1 + exp(spread));
    return (struct kernel_alone){.ghz = {lower * exp(spread), lower}, .n_ghz = 2};
}

static void claim_step(const struct trace *t, const struct step *c)
{
    struct phases p;
    struct kernel_alone from = {0}, to = {0};
    char text[200];
    find(t, &p);
    p.phases[1].kind = PHASE_UNKNOWN; /* only the transition is looked at */
    p.transitions[0].at_us += c->later_us;
    p.transitions[0].to_ghz = c->unknown ? NAN : p.transitions[0].from_ghz * exp(c->size * SEEN);
    if (c->alone != 0) {
        from = alone_at(3, 0.5 * c->spread);
        to = alone_at(3 * exp(c->alone), 0.5 * c->spread);
    }
    assert_int_equal(cross_check(t, &from, &to, c->waits, &p), 0);
    snprintf(text, sizeof text, "1 finding withdrawn after cross-checking: %s", c->why ? c->why : "");
    expect_warning(&p, c->why ? text : NULL);
    assert_int_equal(p.n_transitions, c->why ? 0 : 1);
    bool ends_there = c->later_us < 2.5; /* else the phase behind it is not what it leads to */
    const char *why = c->why && ends_there ? c->why : NULL;
    assert_int_equal(p.phases[2].kind, why ? PHASE_UNKNOWN : PHASE_STEADY);
    assert_string_equal(p.phases[2].why, why ? why : "");
    assert_int_equal(p.n_levels, why ? 1 : 2);
    phases_free(&p);
}

static void steps_that_both_halves_show(void **state)
{
    (void)state;
    const struct step steps[] = {
        {.size = 1},
        {.unknown = true},
        {.unknown = true, .alone = SEEN},
        /* within a factor of two, the same way */
        {.size = 1.98},
        {.size = 2.02, .why = ONE_HALF},
        {.size = 0.505},
        {.size = 0.495, .why = ONE_HALF},
        {.size = -1, .why = ONE_HALF},
        {.size = 0.001, .why = ONE_HALF},
        /* a quarter of its 40 us */
        {.size = 1, .later_us = 9.8},
        {.size = 1, .later_us = 10.2, .why = ONE_HALF},
        /* as the kernels alone: within half of it */
        {.size = 1, .alone = SEEN},
        {.size = 1, .alone = 0.51 * SEEN},
        {.size = 1, .alone = 0.49 * SEEN, .why = NOT_ALONE},
        {.size = 1, .alone = 1.49 * SEEN},
        {.size = 1, .alone = 1.51 * SEEN, .why = NOT_ALONE},
        {.size = 1, .alone = -SEEN, .why = NOT_ALONE},
        /* ... or within what these scatter, but by a quarter of it */
        {.size = 1, .alone = 0.3 * SEEN, .spread = -0.71 * SEEN},
        {.size = 1, .alone = 0.3 * SEEN, .spread = -0.69 * SEEN, .why = NOT_ALONE},
        {.size = 1, .alone = 0.26 * SEEN, .spread = -SEEN},
        {.size = 1, .alone = 0.24 * SEEN, .spread = -SEEN, .why = NOT_ALONE},
        /* a rise may be yet to come, a fall not */
        {.size = 1, .alone = 0.01 * SEEN, .waits = true},
        {.size = 1, .alone = 1.51 * SEEN, .waits = true, .why = NOT_ALONE},
    };
    struct trace t;
    struct phases p;
    record_all(&t, &p, RUNS);
    phases_free(&p);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        claim_step(&t, &steps[i]);
    trace_free(&t);
}

/* Both halves must show it: what is detectable is larger by the square root of two. Of seven repetitions there are no
 * halves. */
static void few_repetitions_are_told(void **state)
{
    (void)state;
    for (unsigned runs = 7; runs <= 8; runs++) {
        struct trace t;
        struct phases p;
        const struct kernel_alone none = {0};
        double factor = runs < 8 ? 1 : sqrt(2);
        record_all(&t, &p, runs);
        double freq = p.detectable_freq, throttle = p.detectable_throttle;
        for (unsigned i = 0; i < 10; i++) { /* readings of the voltage alone are no such repetitions */
            assert_int_equal(trace_append(&t, runs + i, i), 0);
            t.channel[TRACE_FREQ][t.n - 1] = t.channel[TRACE_IPC][t.n - 1] = NAN;
        }
        assert_int_equal(cross_check(&t, &none, &none, false, &p), 0);
        expect_warning(&p, runs < 8 ? "fewer than 8 repetitions: findings were not cross-checked between the halves"
                                    : NULL);
        assert_int_equal(p.phases[1].kind, PHASE_THROTTLE);
        assert_close(p.detectable_freq, factor * freq, 1e-12);
        assert_close(p.detectable_throttle, 1 - factor * (1 - throttle), 1e-12);
        p.detectable_throttle = 0.2; /* at most all of it */
        p.n_transitions = 0;
        p.phases[1].kind = PHASE_STEADY;
        while (p.n_warnings > 0)
            free(p.warnings[--p.n_warnings]);
        assert_int_equal(cross_check(&t, &none, &none, false, &p), 0);
        expect_warning(&p, NULL); /* there is nothing to check */
        assert_close(p.detectable_throttle, runs < 8 ? 0.2 : 0, 1e-12);
        phases_free(&p);
        trace_free(&t);
    }
}

/*
 * Sixteen repetitions, of which the last eight show nothing. If they are discarded, the others' halves show it; if one
 * more is, too few are left, and the halves are of all.
 */
static void halves_are_of_what_is_kept(void **state)
{
    (void)state;
    for (unsigned kept = 7; kept <= 8; kept++) {
        struct trace t, first;
        struct phases p;
        begin_trace(&t);
        for (unsigned run = 0; run < 16; run++)
            record_one(&t, run, run < 8);
        record_all(&first, &p, 8);
        for (unsigned run = kept; run < 16; run++)
            assert_int_equal(phases_discard(&p, run, "made up"), 0);
        assert_int_equal(cross_check(&t, &(struct kernel_alone){0}, &(struct kernel_alone){0}, false, &p), 0);
        expect_warning(&p, kept < 8 ? "2 findings withdrawn after cross-checking: " ONE_HALF : NULL);
        assert_int_equal(p.phases[1].kind, kept < 8 ? PHASE_UNKNOWN : PHASE_THROTTLE);
        assert_int_equal(p.n_transitions, kept < 8 ? 0 : 1);
        phases_free(&p);
        trace_free(&first);
        trace_free(&t);
    }
}

/* What is noted in a trace is what is checked later; without a note nothing is. */
static void notes_tell_what_to_check(void **state)
{
    (void)state;
    const struct kernel_alone none = {0}, from = {.ghz = {3, 3}, .n_ghz = 2}, to = {.ghz = {3.1, 3.1}, .n_ghz = 2};
    for (int noted = 0; noted < 4; noted++) {
        struct trace t;
        struct phases p;
        record_all(&t, &p, RUNS);
        if (noted == 1)
            assert_int_equal(cross_check_note(&t, &none, &none, true, ""), 0);
        else if (noted > 1)
            assert_int_equal(cross_check_note(&t, &from, &to, noted == 3, "it had not settled"), 0);
        assert_int_equal(cross_check_recorded(&t, &p), 0);
        bool goes = noted == 2; /* a rise may be yet to come */
        assert_int_equal(p.n_transitions, goes ? 0 : 1);
        assert_int_equal(p.n_warnings, goes ? 2 : noted == 3 ? 1 : 0);
        if (noted > 1)
            assert_string_equal(p.warnings[0], "it had not settled");
        if (goes)
            assert_string_equal(p.warnings[1], "1 finding withdrawn after cross-checking: " NOT_ALONE);
        phases_free(&p);
        trace_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(throttling_that_both_halves_show), cmocka_unit_test(a_transition_goes_with_its_throttling),
        cmocka_unit_test(steps_that_both_halves_show),      cmocka_unit_test(few_repetitions_are_told),
        cmocka_unit_test(halves_are_of_what_is_kept),       cmocka_unit_test(notes_tell_what_to_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
