/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Levels and groups of frequencies drawn at random, of few distinct values at and beside what is still the same. Held
 * in tests/golden/frequency.random; after an intended change `make golden` rewrites it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/frequency/frequency.h"
#include "tests/support/golden.h"
#include "tests/support/random_numbers.h"

enum { POINTS_MAX = 60, AGAIN_MAX = 8, SETS = 400 };

/* Kernels of levels of their own at some numbers of cores; `wild` of the frequencies are any others. */
static size_t draw_points(struct rng *r, struct frequency_point *p)
{
    static const size_t numbers[] = {0, 1, 2, 5, FREQUENCY_KERNELS_MAX - 1};
    const double ghz[] = {3.6, 3.2, 3.2, 2.4, 3.216, 3.1855, 3.19},
                 wild = rng_one_of(r, (const double[]){0, 0, 0.05, 0.3}, 4);
    const double half = rng_one_of(r, (const double[]){0, 0.002, 0.002, 0.01, 0.03, NAN}, 6);
    const double steps = rng_one_of(r, (const double[]){0, 0.1, 0.3}, 3);
    const bool counted = rng_chance(r, 0.3);
    const int kernels = rng_int(r, rng_int(r, 0, 2), 5);
    size_t n = 0;
    for (int k = 0; k < kernels; k++) {
        const double level = rng_one_of(r, ghz, rng_chance(r, 0.7) ? 4 : 7);
        const int license = rng_int(r, 0, 2);
        for (unsigned cores = 1; cores <= 6; cores++) {
            if (rng_chance(r, 0.15))
                continue;
            struct frequency_point *one = &p[n];
            *one = (struct frequency_point){.kernel = numbers[k], .cores = cores, .row = n, .share = {NAN, NAN, NAN}};
            one->ghz = rng_chance(r, wild) ? rng_one_of(r, ghz, 7) : level - steps * (cores > 2) - steps * (cores > 4);
            one->half_width = rng_chance(r, 0.9) ? half : 0.009 * one->ghz + 1e-9;
            one->ratio = one->ghz / 3.2;
            one->ratio_half = one->half_width / 3.2;
            for (int i = 0; i < 3 && counted; i++)
                one->share[i] = i == license ? rng_one_of(r, (const double[]){1, 0.51, 0.9, 1, 1}, 5) : 0;
            if (counted && rng_chance(r, 0.01))
                one->share[license] = 0.5;
            n++;
        }
    }
    for (size_t i = n; i-- > 1;) { /* in any order */
        const size_t other = (size_t)rng_int(r, 0, (int)i);
        const struct frequency_point was = p[i];
        p[i] = p[other];
        p[other] = was;
    }
    return n;
}

static void write_set(FILE *out, struct rng *r, unsigned number)
{
    static const char *const verdicts[] = {[FREQUENCY_STEPS] = "steps",
                                           [FREQUENCY_ALIKE] = "alike",
                                           [FREQUENCY_FLOATS] = "floats",
                                           [FREQUENCY_NOTHING] = "nothing"};
    struct frequency_point p[POINTS_MAX];
    struct frequency_again again[AGAIN_MAX];
    struct frequency_levels l;
    const size_t n = draw_points(r, p), n_again = (size_t)rng_int(r, 0, AGAIN_MAX);
    const double moved = rng_one_of(r, (const double[]){0, 0, 0.3}, 3);
    for (size_t i = 0; i < n_again; i++)
        again[i] = (struct frequency_again){
            3.2, rng_chance(r, moved) ? 3.25 : rng_one_of(r, (const double[]){3.2, 3.201}, 2), 0.001,
            rng_one_of(r, (const double[]){0.001, 0.05}, 2)};
    assert_int_equal(frequency_analyse(p, n, again, n_again, &l), 0);
    fprintf(out, "%u: %s%s, %zu levels%s;", number, l.why[0] ? "" : verdicts[l.verdict], l.why, l.n_levels,
            l.counted ? ", counted" : "");
    for (size_t i = 0; i < l.n_groups; i++)
        fprintf(out, " %u-%u", l.groups[i].first, l.groups[i].last);
    fprintf(out, ";");
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %zu:%d", p[i].row, p[i].level);
    for (size_t i = 0; i < n && l.n_groups; i++)
        fprintf(out, " %u-%u", p[i].first, p[i].last);
    fprintf(out, "\n");
    frequency_levels_free(&l);
}

static void levels_of_random_frequencies_stay(void **state)
{
    struct golden g;
    struct rng r;
    FILE *out = golden_begin(&g);
    (void)state;
    rng_init(&r, 9, 0);
    for (unsigned i = 1; i <= SETS; i++)
        write_set(out, &r, i);
    golden_expect(&g, "frequency", "random", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_of_random_frequencies_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
