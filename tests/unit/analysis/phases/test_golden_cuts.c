/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The change points and the noise of series at random, of few values, so that steps tie and lie at limits, are those of
 * tests/golden/. After an intended change, `make golden` rewrites these.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/phases/segments/change_points.h"
#include "analysis/phases/voltage/volts.h"
#include "tests/support/golden.h"
#include "tests/support/one_of.h"
#include "tests/support/sanitized.h"
#include "tests/support/tally.h"

enum { LINES = 150, OF_EACH = 160, SHORT = 90, LONG = 1500, LONGEST = 20000, LONG_LINES = 6, BEHIND = 5 };

/* Levels that last a few samples to many, with what may be noise, ticks, outliers, or a drift. */
static size_t draw_series(struct rng *r, size_t most, float *x, uint8_t *skip)
{
    size_t n = (size_t)rng_int(r, most > SHORT ? (int)most / 2 : 0, (int)most), left = 0;
    double level = 1, ticks = ONE_OF(r, 0, 0, 0.1, 0.5), noise = ONE_OF(r, 0, 0, 0, 0.0078125, 0.03125);
    double drift = ONE_OF(r, 0, 0, 0, 0.0009765625), wild = ONE_OF(r, 0, 0, 0.04), missing = ONE_OF(r, 0, 0, 0.1);
    double tick = ONE_OF(r, 0.015625, 0.03125, 0.0625);
    for (size_t i = 0; i < n + BEHIND; i++) { /* nobody may look behind the last */
        if (left-- == 0) {
            left = (size_t)ONE_OF(r, 0, 1, 2, 3, 4, 7, 12, 13, 30) * (most > SHORT ? 8 : 1);
            level = ONE_OF(r, 1, 1, 1.125, 1.0625, 1.5, 2);
        }
        double v = level + drift * (double)i + noise * rng_int(r, -2, 2) + (rng_chance(r, ticks) ? tick : 0);
        x[i] = rng_chance(r, missing) ? NAN : (float)(v * (rng_chance(r, wild) ? 1.25 : 1));
        skip[i] = rng_chance(r, 0.02);
    }
    return n;
}

static void add_cuts_of(struct rng *r, const float *x, const uint8_t *skip, size_t n, struct tally *sum)
{
    const struct change_rule rule = {.logarithm = rng_chance(r, 0.5),
                                     .min_effect = ONE_OF(r, 0.0625, 0.125, 0.015625),
                                     .min_z = ONE_OF(r, 6, 6, 3),
                                     .min_length = (size_t)ONE_OF(r, 3, 3, 1, 5),
                                     .gradual = rng_chance(r, 0.2),
                                     .least_noise = ONE_OF(r, 0, 0, 0.03125)};
    size_t first = n ? (size_t)rng_int(r, 0, (int)n / 4) : 0;
    struct cut *cut;
    double sigma = NAN;
    size_t found = change_points_find(x, rng_chance(r, 0.5) ? skip : NULL, first, n, &rule, &cut, &sigma);
    assert_true(found != SIZE_MAX);
    tally_add(sum, sigma);
    for (size_t i = 0; i < found; i++) {
        tally_add(sum, (double)cut[i].at);
        tally_add(sum, cut[i].effect);
        tally_add(sum, cut[i].z);
    }
    free(cut);
    tally_add(sum, change_points_noise(x, n, rule.logarithm));
}

static void cuts_at_random(void **state)
{
    (void)state;
    static float x[LONGEST + BEHIND];
    static uint8_t skip[LONGEST + BEHIND];
    struct golden g;
    struct rng r;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    rng_init(&r, 1, 530);
    for (int line = 1; line <= LINES + LONG_LINES; line++) {
        struct tally sum = {0};
        size_t most = line <= LINES ? (line % 5 ? SHORT : LONG) : LONGEST;
        for (int i = 0; i < (most == SHORT ? OF_EACH : most == LONG ? 3 : 1); i++) {
            size_t n = draw_series(&r, most, x, skip);
            add_cuts_of(&r, x, skip, n, &sum);
        }
        fprintf(out, "%d", line);
        tally_write(out, "cuts", &sum);
        fputc('\n', out);
    }
    golden_expect(&g, "phases", "cuts.txt", true);
}

/* Voltages of repetitions in two states. */
static void mixed_voltages_at_random(void **state)
{
    (void)state;
    struct golden g;
    struct rng r;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    rng_init(&r, 1, 531);
    for (int line = 1; line <= LINES; line++) {
        struct tally sum = {0};
        for (int i = 0; i < 20; i++) {
            struct trace v;
            struct mixed_stretches mixed;
            size_t n = (size_t)rng_int(&r, 70, 330), from = (size_t)rng_int(&r, 0, (int)n),
                   to = from + (size_t)ONE_OF(&r, 0, 10, 20, 60, 61, 120, 300);
            double share = ONE_OF(&r, 0.5, 0.25, 0.125), apart = ONE_OF(&r, 0.001, 0.0015, 0.002, 0.0078125);
            double noise = ONE_OF(&r, 0, 0, 1.0 / 8192, 2.0 / 8192), spacing = ONE_OF(&r, 0.125, 0.5, 1);
            trace_init(&v);
            assert_int_equal(trace_add_channel(&v, TRACE_VOLTS), 0);
            for (size_t k = 0; k < n; k++) {
                bool low = k >= from && (k >= to || rng_chance(&r, share));
                assert_int_equal(trace_append(&v, 0, spacing * (double)k), 0);
                v.channel[TRACE_VOLTS][k] = (float)(1 - (low ? apart : 0) + noise * rng_int(&r, -1, 1));
            }
            assert_int_equal(volts_unmix(&v, ONE_OF(&r, 10, 20), &mixed), 0);
            tally_add(&sum, (double)v.n);
            for (size_t k = 0; k < v.n; k++)
                tally_add(&sum, v.time_us[k]);
            for (size_t k = 0; k < mixed.n; k++) {
                tally_add(&sum, mixed.stretch[k].begin);
                tally_add(&sum, mixed.stretch[k].end);
                assert_ptr_equal(volts_mixed_at(&mixed, mixed.stretch[k].begin), &mixed.stretch[k]);
            }
            free(mixed.stretch);
            trace_free(&v);
        }
        fprintf(out, "%d", line);
        tally_write(out, "unmixed", &sum);
        fputc('\n', out);
    }
    golden_expect(&g, "phases", "unmixed.txt", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cuts_at_random), cmocka_unit_test(mixed_voltages_at_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
