/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ramps and steps fitted to points and readings at random, with and without noise, and what is made of the long part of
 * recordings, are those of tests/golden/. After an intended change, `make golden` rewrites these.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/phases/phases.h"
#include "analysis/phases/ramps/ramp_fit.h"
#include "analysis/phases/tail/tail.h"
#include "tests/support/golden.h"
#include "tests/support/one_of.h"
#include "tests/support/sanitized.h"
#include "tests/support/tally.h"

enum { POINTS = 40, RUNS = 6, BINS = 48, BIN_RUNS = 9 };

static void add_fit(struct tally *sum, const struct ramp_fit *f)
{
    tally_estimate(sum, &f->begin);
    tally_estimate(sum, &f->from);
    tally_estimate(sum, &f->to);
    tally_estimate(sum, &f->tau);
    tally_add(sum, f->rss);
}

/* By turns above and below, which no fit follows: limits are then those of the noise. */
static double uneven(struct rng *r, double noise)
{
    return noise * rng_int(r, -2, 2);
}

static void add_curve(struct rng *r, struct tally *sum)
{
    double t[POINTS], y[POINTS], tau = ONE_OF(r, 1, 4, 10, 200), begin = ONE_OF(r, 0, 0, 8),
                                 noise = ONE_OF(r, 0.0009765625, 0.015625);
    double unit = ONE_OF(r, 1, 1, 0.25), from = unit * ONE_OF(r, 2, 2.5), to = unit * ONE_OF(r, 3, 2.5, 2.4375);
    double width = ONE_OF(r, 0, 0, 1);
    size_t n = (size_t)rng_int(r, 11, POINTS);
    struct ramp_fit f = {.rss = NAN};
    for (size_t i = 0; i < POINTS; i++) { /* those behind the last nobody may look at */
        t[i] = (double)i + 0.5;
        y[i] = to + (from - to) * ramp_decay(t[i] - begin, tau) + uneven(r, noise);
    }
    int status = ramp_fit(t, y, n, width, rng_chance(r, 0.8) ? begin : 2, rng_chance(r, 0.4), &f);
    assert_true(status >= 0);
    tally_add(sum, status);
    if (!status) {
        add_fit(sum, &f);
        tally_add(sum, ramp_value(&f, 3));
        tally_add(sum, ramp_over_after(&f));
        struct phase ph = {.kind = PHASE_RAMP};
        const struct runs runs = {.clock = {.error = ONE_OF(r, 0, 0.002), .quantum = ONE_OF(r, 0, 0.01)}};
        ramp_describe(&runs, &f, ONE_OF(r, 0, 0.01), &ph);
        tally_estimate(sum, &ph.from_ghz);
        tally_estimate(sum, &ph.to_ghz);
        tally_estimate(sum, &ph.tau_us);
    }
    for (size_t i = 0; i < POINTS; i++)
        y[i] = ONE_OF(r, 0, 0, 1, 1, 2, -1) + (i < n / 2 ? 0 : 2);
    size_t where = 0, first;
    tally_add(sum, own_steps_best(y, (size_t)rng_int(r, 0, 5), n - (size_t)rng_int(r, 0, 5), &where));
    tally_add(sum, (double)where);
    tally_add(sum, own_steps_rss(y, n, (size_t)rng_int(r, 0, OWN_STEPS_MOST), &first));
    tally_add(sum, (double)first);
}

/* Readings of a few repetitions: a ramp that begins in each at a time of its own. */
static void add_readings_of(struct rng *r, struct tally *sum)
{
    static struct ramp_reading x[RUNS * POINTS];
    size_t first[RUNS + 1] = {0}, runs = (size_t)rng_int(r, 1, RUNS), levels = (size_t)rng_int(r, 1, 4);
    double begin[RUNS], rss[RUNS], edge[RUNS * 4], ghz[LEVELS_MOST];
    double tau = ONE_OF(r, 0.5, 2, 8), unit = ONE_OF(r, 1, 1, 0.25), from = unit * ONE_OF(r, 3, 2), to = unit * 2.5;
    double noise = ONE_OF(r, 0.0009765625, 0.0078125);
    bool fixed = rng_chance(r, 0.4);
    struct ramp_readings s = {.n_runs = runs, .first = first, .x = x, .length = 1, .by_time = rng_chance(r, 0.4)};
    for (size_t k = 0; k < runs; k++) {
        size_t n = (size_t)rng_int(r, 12, POINTS);
        first[k + 1] = first[k] + n;
        begin[k] = 4 + ONE_OF(r, 0, 0.5, 1, -1.5);
        for (size_t i = 0; i < n; i++) {
            struct ramp_reading *q = &x[first[k] + i];
            double end = (double)i + 1, mid = end - begin[k];
            *q = (struct ramp_reading){rng_chance(r, 0.1) ? end - 0.25 : end - 1, end, 0, 0};
            q->ghz = to + (from - to) * (ramp_decay_integral(mid, tau) - ramp_decay_integral(mid - 1, tau)) +
                     uneven(r, noise);
        }
        for (size_t m = 0; m + 1 < levels; m++)
            edge[k * (levels - 1) + m] = 3 + 4 * (double)m + ONE_OF(r, 0, 0.5, 1);
    }
    struct ramp_own f = {.spread = ONE_OF(r, 0, 1, 3)};
    f.fit.to.value = to + 0.015625;
    f.fit.from.value = from;
    f.fit.tau.value = tau * ONE_OF(r, 1, 1.5);
    for (size_t k = 0; k < runs; k++)
        begin[k] += ONE_OF(r, 0, 0.25);
    tally_add(sum, ramp_own_rss(&s, &f, begin, rss));
    int status = ramp_own_fit(&s, fixed, &f, begin, rss);
    assert_true(status >= 0);
    tally_add(sum, status);
    if (!status) {
        add_fit(sum, &f.fit);
        tally_add(sum, f.parameters);
        tally_add(sum, f.spread);
        for (size_t k = 0; k < runs; k++) {
            tally_add(sum, begin[k]);
            tally_add(sum, rss[k]);
        }
    }
    tally_add(sum, ramp_steps_rss(&s, levels, edge, ghz));
    for (size_t m = 0; m < levels; m++)
        tally_add(sum, ghz[m]);
}

static void curves_and_readings(void **state)
{
    (void)state;
    struct golden g;
    struct rng r;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    rng_init(&r, 1, 550);
    for (int line = 1; line <= 120; line++) {
        struct tally curve = {0}, readings = {0};
        for (int i = 0; i < 2; i++)
            add_curve(&r, &curve);
        for (int i = 0; i < 4; i++)
            add_readings_of(&r, &readings);
        fprintf(out, "%d", line);
        tally_write(out, "curves", &curve);
        tally_write(out, "readings", &readings);
        fputc('\n', out);
    }
    golden_expect(&g, "phases", "fits.txt", true);
}

/* ---- the long part ---- */

enum shape { FLAT, RAMPS, LATE_RAMP, LATE_SHORT_RAMP, STEPS_AT_ONCE, STEPS_APART, DRIFTS, SHAPES };

static double value_of(enum shape shape, double t, double own)
{
    switch (shape) {
    case RAMPS:
        return 1 - 0.25 * exp(-t / 64);
    case LATE_RAMP:
        return 1 - 0.125 * ramp_decay(t - 96, 64);
    case LATE_SHORT_RAMP:
        return 1 - 0.125 * ramp_decay(t - 96, 24);
    case STEPS_AT_ONCE:
        return t < 160 ? 0.75 : 1;
    case STEPS_APART:
        return t < 100 + 16 * own ? 0.9375 : 1;
    case DRIFTS:
        return 1 + t / 8192;
    default:
        return 1;
    }
}

static void add_course(struct tally *sum, const struct tail_course *c)
{
    tally_add(sum, (double)c->kind);
    tally_estimate(sum, &c->from);
    tally_estimate(sum, &c->to);
    tally_estimate(sum, &c->begin);
    tally_estimate(sum, &c->tau);
    tally_add(sum, c->half);
    tally_add(sum, (double)c->runs);
}

static void add_series(struct rng *r, enum shape shape, struct tally *sum)
{
    double time[BINS], value[TAIL_COURSES][BIN_RUNS * BINS], curve[TAIL_COURSES][BINS];
    size_t bins = (size_t)rng_int(r, 22, BINS), runs = (size_t)ONE_OF(r, 1, 3, 4, 8, 9);
    double noise = ONE_OF(r, 0, 0.00048828125, 0.001953125), missing = ONE_OF(r, 0, 0, 0.05);
    double longer = ONE_OF(r, 0, 0, 0.25, 2), end = 0; /* each bin than the one before, us */
    struct tail_series s = {.n_runs = runs,
                            .n_bins = bins,
                            .time = time,
                            .value = {value[0], value[1]},
                            .curve = {curve[0], curve[1]},
                            .half = {0.0009765625, 0.0009765625}};
    struct tail x = {.begin = 20,
                     .after = ONE_OF(r, 0, 10, 20),
                     .n_runs = runs,
                     .instant = rng_chance(r, 0.4),
                     .uniform = rng_chance(r, 0.3)};
    for (size_t b = 0; b < bins; b++) {
        double us = 8 + longer * (double)b, at = end + 0.5 * us;
        end += us;
        time[b] = b > 1 && rng_chance(r, 0.02) ? NAN : x.after + at;
        for (int c = 0; c < TAIL_COURSES; c++)
            curve[c][b] = value_of(shape, at, 4) * (c == TAIL_FREQ ? 2.5 : 1);
        for (size_t k = 0; k < runs; k++)
            for (int c = 0; c < TAIL_COURSES; c++)
                value[c][k * bins + b] = rng_chance(r, missing)
                                             ? NAN
                                             : value_of(shape, at, (double)(k * 3 % 8)) * (c == TAIL_FREQ ? 2.5 : 1) +
                                                   uneven(r, noise);
    }
    x.end = end;
    for (size_t b = 0; b < bins; b++)
        tally_add(sum, curve[TAIL_RATE][b]);
    for (int c = 0; c < TAIL_COURSES; c++) {
        assert_int_equal(tail_describe(&s, c, &x), 0);
        add_course(sum, &x.course[c]);
    }
}

/* A recording whose samples get longer, or not, with something that happens in its long part. */
static void draw_long(struct rng *r, enum shape clock, enum shape rate, struct trace *t)
{
    unsigned runs = (unsigned)ONE_OF(r, 1, 2, 3, 4, 4, 6, 9);
    bool uniform = rng_chance(r, 0.4);
    double fine = ONE_OF(r, 16, 32), noise = ONE_OF(r, 0, 0.0009765625, 0.00390625), lost = ONE_OF(r, 0, 0.02);
    double ghz = ONE_OF(r, 2.5, 2.5, 0.5), period = ONE_OF(r, 1, 1, 0.5, 2);
    trace_init(t);
    int bad = trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC) |
              trace_set(t, "from", "a") | trace_set(t, "to", "b") | trace_set_number(t, "period_us", period);
    if (!uniform)
        bad |= trace_set_number(t, "fine_us", fine);
    if (rng_chance(r, 0.3))
        bad |= trace_set(t, "frequency", "instantaneous") | trace_set_number(t, "clock_step_ns", 1) |
               trace_set_number(t, "chain_cycles", 500) | trace_set_number(t, "reading_us", 0.125);
    for (unsigned k = 0; k < runs && !bad; k++)
        for (double at = -12, us = period; at < (uniform ? 180 : 1500) && !bad;) {
            at += us;
            us = uniform || at < fine ? period : period + floor((at - fine) / 16) * 0.125;
            bad = trace_append(t, k, at);
            double own = (double)(k * 3 % 8), slow = rng_chance(r, lost) ? 0.5 : 1;
            t->channel[TRACE_FREQ][t->n - 1] = (float)(ghz * (at <= 0 ? 1 : value_of(clock, at, own)) *
                                                       (1 + uneven(r, noise)));
            t->channel[TRACE_IPC][t->n - 1] = (float)((at <= 0 ? 2 : value_of(rate, at, own)) * slow *
                                                      (1 + uneven(r, noise)));
        }
    assert_int_equal(bad, 0);
}

/* The clock of some repetitions steps at a time of its own, once or to and fro, or that of all alike. */
static void add_floating(struct rng *r, struct trace *t)
{
    double share = ONE_OF(r, 0, 0.25, 0.5, 0.75, 1), by = ONE_OF(r, 0.00390625, 0.0078125, 0.03125);
    bool back = rng_chance(r, 0.4), alike = rng_chance(r, 0.4);
    for (size_t begin = 0, end; begin < t->n; begin = end) {
        end = trace_run_end(t, begin);
        double at = alike ? 90 : rng_int(r, 10, 170), until = back ? at + 40 : INFINITY;
        bool floats = rng_chance(r, share);
        double own = by * (alike || rng_chance(r, 0.5) ? 1 : -1);
        for (size_t i = begin; i < end && floats; i++)
            if (t->time_us[i] > at && t->time_us[i] <= until)
                t->channel[TRACE_FREQ][i] *= (float)(1 + own);
    }
}

/* Bins of a recording, from some time on, and repetitions that have been left out. */
static void add_gathered(struct rng *r, const struct trace *t, struct tally *sum)
{
    struct discarded_run gone = {.run = 1};
    struct phases fine = {.discarded = &gone, .n_discarded = rng_chance(r, 0.2)};
    double begin = ONE_OF(r, 0, 16, 32, 33), end = tail_usual_end(t, &fine);
    struct tail x = {.begin = begin,
                     .after = fmax(0, begin - ONE_OF(r, 0, 0, 16)),
                     .end = end,
                     .instant = trace_get(t, "frequency") != NULL,
                     .uniform = isnan(tail_begins(t))};
    struct tail_series s;
    tally_add(sum, end);
    assert_int_equal(tail_gather(t, &fine, &x, &s), 0);
    tally_add(sum, (double)(x.samples + 10000 * x.lost + 1000000 * x.n_runs));
    for (size_t b = 0; b < s.n_bins; b++)
        tally_add(sum, s.time[b]);
    for (int c = 0; c < TAIL_COURSES; c++) {
        tally_add(sum, s.half[c]);
        for (size_t b = 0; b < s.n_bins; b++)
            tally_add(sum, s.curve[c][b]);
        for (size_t i = 0; i < s.n_runs * s.n_bins; i++)
            tally_add(sum, s.value[c][i]);
    }
    tail_free_series(&s);
}

static void repetitions_in_bins(void **state)
{
    (void)state;
    struct golden g;
    struct rng r;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    rng_init(&r, 1, 552);
    for (int line = 1; line <= 160; line++) {
        struct tally sum = {0};
        struct trace t;
        draw_long(&r, rng_chance(&r, 0.7) ? FLAT : RAMPS, (enum shape)rng_int(&r, 0, SHAPES - 1), &t);
        add_floating(&r, &t);
        for (int i = 0; i < 2; i++)
            add_gathered(&r, &t, &sum);
        trace_free(&t);
        fprintf(out, "%d", line);
        tally_write(out, "bins", &sum);
        fputc('\n', out);
    }
    golden_expect(&g, "phases", "bins.txt", true);
}

static void long_parts(void **state)
{
    (void)state;
    struct golden g;
    struct rng r;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    rng_init(&r, 1, 551);
    for (int line = 0; line < 8 * SHAPES; line++) {
        struct tally series = {0}, found = {0};
        struct trace t;
        struct phases p;
        char why[300];
        enum shape shape = (enum shape)(line % SHAPES), beside = (enum shape)rng_int(&r, 0, SHAPES - 1);
        for (int i = 0; i < 4; i++)
            add_series(&r, shape, &series);
        draw_long(&r, rng_chance(&r, 0.4) ? FLAT : beside, rng_chance(&r, 0.2) ? FLAT : shape, &t);
        if (phases_find(&t, &p, why, sizeof why)) {
            tally_text(&found, why);
        } else {
            tally_phases(&found, &p);
            phases_free(&p);
        }
        trace_free(&t);
        fprintf(out, "%d", line);
        tally_write(out, "series", &series);
        tally_write(out, "found", &found);
        fputc('\n', out);
    }
    golden_expect(&g, "phases", "long-parts.txt", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(curves_and_readings), cmocka_unit_test(repetitions_in_bins),
                                       cmocka_unit_test(long_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
