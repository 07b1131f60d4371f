/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Costs of curves drawn at random, of sections that are alike but for a few, and what follows from costs of few
 * distinct values. Held in tests/golden/overhead.random; after an intended change `make golden` rewrites it.
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

#include "tables/overhead/overhead_fit.h"
#include "tests/support/golden.h"
#include "tests/support/random_numbers.h"

enum { READINGS_MAX = 200, CURVES = 250, COSTS = 250 };

struct curve {
    struct work_curve c;
    double numbers[6 * READINGS_MAX];
};

static void add(struct curve *m, double time_us, double work, double ghz)
{
    m->c.time_us[m->c.n] = time_us;
    m->c.work[m->c.n] = work;
    m->c.ghz[m->c.n++] = ghz;
}

/* Some sections at one frequency, then others at another; some of them stand still for a while, or hold less. */
static void draw_curve(struct rng *r, struct curve *m)
{
    const double ghz[] = {2.4, 2.8, 2.43, 2.41, 1.9}, lengths[] = {2, 2, 2, 5, 1};
    const double odd = rng_one_of(r, (const double[]){0, 0.03, 0.2}, 3);
    const double noise = rng_one_of(r, (const double[]){0, 0, 0.002, 0.02}, 4);
    double time = 0, work = 0;
    m->c = (struct work_curve){.time_us = m->numbers,
                               .work = m->numbers + READINGS_MAX,
                               .ghz = m->numbers + 2 * READINGS_MAX,
                               .scratch = m->numbers + (size_t)3 * READINGS_MAX};
    m->c.instant = rng_chance(r, 0.2);
    m->c.quantum = rng_chance(r, 0.2) ? 0.004 : 0;
    m->c.zero = (size_t)rng_int(r, 0, 5);
    for (size_t i = 0; i < m->c.zero; i++)
        add(m, 2 * ((double)i - (double)m->c.zero), 5 * ((double)i - (double)m->c.zero), rng_one_of(r, ghz, 2));
    add(m, 0, 0, 3);
    for (int part = rng_int(r, 1, 3); part > 0; part--) {
        const double at = rng_one_of(r, ghz, 5), us = rng_one_of(r, lengths, 5);
        for (int n = rng_int(r, 1, 50); n > 0; n--) {
            const double lost = rng_chance(r, odd) ? rng_one_of(r, (const double[]){0.5, 1, 10}, 3) : 0;
            const double did = lost > us ? us * rng_one_of(r, (const double[]){0.5, 0.9, 1}, 3) : us - lost;
            time += lost > us ? us + lost : us;
            work += rng_chance(r, odd / 4) ? 0 : did * at * (1 + noise * rng_int(r, -2, 2));
            add(m, time, work, at);
        }
        if (rng_chance(r, 0.4)) { /* a halt, of which a reading comes at once or later */
            time += 12;
            work += rng_one_of(r, (const double[]){1, 2, 5}, 3) * at;
            add(m, time, work, at);
        }
    }
}

static void write_curve(FILE *out, struct rng *r, unsigned number)
{
    static struct curve m; /* too large for the stack */
    struct overhead_down down;
    struct overhead_up up;
    draw_curve(r, &m);
    const char *why = overhead_down(&m.c, rng_one_of(r, (const double[]){0, 20, INFINITY}, 3), &down);
    fprintf(out, "%u: down%s%s", number, why ? " " : "", why ? why : "");
    if (!why) {
        golden_put(out, "us", down.us);
        golden_put(out, "drift", down.drift_us);
        golden_put(out, "quarter", down.quarter_us);
        golden_put(out, "settled", down.settled_us);
        golden_put(out, "lost", down.lost_us);
        golden_put(out, "high", down.high_ghz);
        golden_put(out, "low", down.low_ghz);
    }
    why = overhead_up(&m.c, rng_one_of(r, (const double[]){0.01, 0.05, 0.01}, 3), &up);
    fprintf(out, "; up%s%s", why ? " " : "", why ? why : "");
    if (!why) {
        golden_put(out, "us", up.us);
        golden_put(out, "low", up.low_us);
        golden_put(out, "at", up.at_us);
        golden_put(out, "gain", up.gain);
        fprintf(out, "%s%s", up.late ? ", late" : "", up.cut ? ", cut" : "");
    }
    fprintf(out, "\n");
}

static struct estimate draw_estimate(struct rng *r, double value)
{
    const double half = rng_one_of(r, (const double[]){0, 0.1, 1, NAN, 4}, 5);
    return estimate_around(value, half);
}

static void write_costs(FILE *out, struct rng *r, unsigned number)
{
    const double us[] = {10, 10, 12, 110, 110.001, -90, -0.3, -0.301, 0, 25}, ghz[] = {2.8, 2.8, 2.4, 1.9, 2.774};
    struct overhead_up up[8];
    struct overhead_spread spread;
    double x[12];
    size_t first;
    const size_t n = (size_t)rng_int(r, 0, 12), ups = (size_t)rng_int(r, 0, 8);
    for (size_t i = 0; i < n; i++)
        x[i] = rng_one_of(r, us, 10);
    overhead_spread(x, n, rng_one_of(r, (const double[]){100, 100, 1}, 3), &spread, &first);
    fprintf(out, "costs %u: %zu, %zu far, from %zu", number, spread.n, spread.far, first);
    golden_put_estimate(out, "mean", &spread.mean);
    golden_put(out, "median", spread.median);
    golden_put(out, "p5", spread.p5);
    golden_put(out, "p95", spread.p95);
    for (size_t i = 0; i < ups; i++)
        up[i] = (struct overhead_up){.us = (double)i, .low_us = 10 + (double)i, .late = rng_chance(r, 0.6)};
    for (size_t i = 0; i < ups; i++)
        up[i].cut = up[i].late && rng_chance(r, 0.5);
    overhead_up_choose(up, ups, x);
    fprintf(out, "; chosen");
    for (size_t i = 0; i < ups; i++)
        golden_put(out, "", x[i]);
    const struct estimate down = draw_estimate(r, rng_one_of(r, us, 10)),
                          back = draw_estimate(r, rng_one_of(r, us, 10));
    const double halves[] = {0, 0.002, 0.02, NAN};
    const struct estimate high = estimate_around(rng_one_of(r, ghz, 5), rng_one_of(r, halves, 4));
    const struct estimate low = estimate_around(rng_one_of(r, ghz, 5), rng_one_of(r, halves, 4));
    const struct estimate even = overhead_breakeven(&down, &back, &high, &low);
    golden_put_estimate(out, "; pays after", &even);
    const struct estimate step = estimate_around(high.value - low.value, 0.002);
    struct estimate cost = draw_estimate(r, rng_one_of(r, us, 10));
    const bool is_cost = overhead_is_cost(&cost);
    fprintf(out, "; %s, %s", overhead_levels_differ(&high, &step) ? "differ" : "alike", is_cost ? "cost" : "none");
    golden_put_estimate(out, "of", &cost);
    fprintf(out, "\n");
}

static void costs_of_random_curves_stay(void **state)
{
    struct golden g;
    struct rng r;
    FILE *out = golden_begin(&g);
    (void)state;
    rng_init(&r, 8, 0);
    for (unsigned i = 1; i <= CURVES; i++)
        write_curve(out, &r, i);
    for (unsigned i = 1; i <= COSTS; i++)
        write_costs(out, &r, i);
    golden_expect(&g, "overhead", "random", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_of_random_curves_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
