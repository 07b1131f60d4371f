/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Order statistics, modes, thresholds, stages and verdicts of values at random, few enough that they tie and lie at
 * limits, are those of tests/golden/. After an intended change, `make golden` rewrites these.
 */
#include "analysis/stats/blocks.h"
#include "analysis/stats/golden.h"
#include "analysis/stats/repeatability.h"
#include "analysis/stats/robust.h"
#include "analysis/stats/threshold.h"
#include "output/verdict/verdict_cost.h"
#include "analysis/wake/wake.h"
#include "tests/support/golden.h"
#include "tests/support/one_of.h"
#include "tests/support/tally.h"
#include "tests/support/test.h"
#include "util/order.h"

enum { LINES = 60, OF_EACH = 40, MOST = 48, FITS = 3 };

/* Round values that come again, in two groups, or with an outlier. */
static size_t draw_values(struct rng *r, double *x)
{
    size_t n = (size_t)rng_int(r, 0, MOST);
    double other = ONE_OF(r, 0, 0, 0.25, 0.5), apart = ONE_OF(r, 0.5, 2, 4, 100), unit = ONE_OF(r, 1, 0.0078125);
    for (size_t i = 0; i < MOST; i++) /* those behind the last nobody may look at */
        x[i] = 10 + unit * ONE_OF(r, 0, 0, 1, 1, 2, 3) + (rng_chance(r, other) ? apart : 0) +
               (rng_chance(r, 0.02) ? 1000 : 0);
    return n;
}

static void add_modes(struct rng *r, const double *x, size_t n, struct tally *sum)
{
    struct value_mode mode[4];
    size_t least = (size_t)rng_int(r, 0, 4), most = (size_t)rng_int(r, 1, 4);
    size_t found = robust_modes(x, n, ONE_OF(r, 0.5, 1, 0.0078125), least, mode, most);
    for (int two = 0; two < 2; two++) {
        tally_add(sum, (double)found);
        for (size_t i = 0; i < found; i++) {
            tally_add(sum, mode[i].mean);
            tally_add(sum, mode[i].lo + 3 * mode[i].hi + 7 * (double)mode[i].n);
        }
        found = robust_two_modes(x, n, ONE_OF(r, 0, 0.5, 2, 4), least, mode);
    }
}

static void add_robust(struct rng *r, const double *x, size_t n, struct tally *sum)
{
    double copy[MOST + 1], scratch[MOST + 1], centre = 10 + ONE_OF(r, 0, 1, 2), bound = ONE_OF(r, 0, 1, 2);
    size_t used;
    struct estimate e = robust_mean(x, n, ONE_OF(r, 0, 3, 4), bound, &used);
    tally_estimate(sum, &e);
    tally_add(sum, (double)used);
    tally_add(sum, n ? order_mad_sigma(x, n, centre, scratch) : 0);
    tally_add(sum, robust_step_noise(x, n, scratch));
    tally_add(sum, order_offset_within(x, n, centre, bound, &used));
    tally_add(sum, (double)used);
    tally_add(sum, robust_half_width95(1, n));
    memcpy(copy, x, n * sizeof *x);
    e = robust_median(copy, n);
    tally_estimate(sum, &e);
    memcpy(copy, x, n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        copy[i] = rng_chance(r, 0.1) ? NAN : copy[i];
    tally_add(sum, robust_centre(copy, n, scratch));
    add_modes(r, copy, n, sum);
    memcpy(copy, x, n * sizeof *x);
    struct repeatability a = repeatability_of(copy, n, ONE_OF(r, 0, 0.5, 1), scratch);
    const double all[] = {(double)a.n, a.mode, a.spread, a.p50, a.p90, a.p99, a.max, (double)a.to_mode, a.repeats};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tally_add(sum, all[i]);
}

static void add_blocks(struct rng *r, const double *x, size_t n, struct tally *sum)
{
    struct blocks b;
    struct estimate e = estimate_around(10, ONE_OF(r, 0, 1));
    blocks_cut(x, n, 11, ONE_OF(r, 1, 2, 100), &b);
    blocks_widen(&b, &e);
    for (size_t k = 0; k < b.n; k++)
        tally_add(sum, b.mean[k]);
    tally_add(sum, b.least);
    tally_add(sum, b.most);
    tally_add(sum, b.disagree);
    tally_estimate(sum, &e);
    tally_add(sum, blocks_disagree(&b, ONE_OF(r, 0, 0.5, 2)));
}

static double hump(void *at, double x)
{
    return -fabs(x - *(const double *)at);
}

static void add_fits(struct rng *r, struct tally *sum)
{
    struct threshold_trial trial[20];
    struct threshold t;
    size_t n = (size_t)rng_int(r, 0, 20);
    for (size_t i = 0; i < 20; i++) {
        trial[i].x = ONE_OF(r, 1, 2, 3, 4, 5, 6);
        trial[i].yes = trial[i].x + ONE_OF(r, -1, 0, 0, 1) > 3;
    }
    threshold_fit(trial, n, &t);
    tally_estimate(sum, &t.at);
    tally_add(sum, t.sigma);
    tally_add(sum, t.largest_no);
    tally_add(sum, t.smallest_yes);
    struct estimate share = threshold_share((size_t)rng_int(r, 0, (int)n), n);
    tally_estimate(sum, &share);
    double at = ONE_OF(r, 1, 2.5, 4), a = 0, b = 5;
    tally_add(sum, golden_highest(hump, &at, &a, &b, ONE_OF(r, -1, 0.5), rng_int(r, 1, 20)));
    tally_add(sum, a);
    tally_add(sum, b);
}

TEST(statistics_of_round_values)
{
    struct golden g;
    struct rng r;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    rng_init(&r, 1, 540);
    for (int line = 1; line <= LINES; line++) {
        struct tally robust = {0}, blocks = {0}, fits = {0};
        for (int i = 0; i < OF_EACH; i++) {
            double x[MOST];
            size_t n = draw_values(&r, x);
            add_robust(&r, x, n, &robust);
            add_blocks(&r, x, n, &blocks);
        }
        for (int i = 0; i < FITS; i++)
            add_fits(&r, &fits);
        fprintf(out, "%d", line);
        tally_write(out, "robust", &robust);
        tally_write(out, "blocks", &blocks);
        tally_write(out, "fits", &fits);
        fputc('\n', out);
    }
    golden_expect(&g, "stats", "round.txt", true);
}

/* ---- stages of first uses ---- */

static size_t draw_uses(struct rng *r, struct wake_point *p)
{
    static const double stage[] = {1, 1.125, 2, 4, 16};
    size_t n = (size_t)rng_int(r, 14, 90), stages = (size_t)rng_int(r, 1, 4);
    double stray = ONE_OF(r, 0, 0, 0.05, 0.2), mixed = ONE_OF(r, 0, 0, 2, 5), noise = ONE_OF(r, 0, 0, 0.03125);
    double drift = ONE_OF(r, 0, 0, 0.0078125);
    int from = rng_int(r, 0, 1);
    for (size_t i = 0; i < n; i++) {
        double at = (double)(i / 2 * 2) + mixed * ONE_OF(r, -1, 0, 0, 1);
        int k = (int)(fmin(fmax(at, 0), (double)n - 1) / (double)n * (double)stages);
        p[i] = (struct wake_point){(double)(i / 2) * 2,
                                   stage[from + k] * (1 + noise * rng_int(r, -1, 1) + drift * (double)i)};
        p[i].first_us *= rng_chance(r, stray) ? 1.5 : 1;
    }
    return n;
}

TEST(stages_of_round_times)
{
    struct golden g;
    struct rng r;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    rng_init(&r, 1, 541);
    for (int line = 1; line <= 120; line++) {
        struct tally sum = {0};
        struct wake_point p[100];
        struct wake_stages s;
        char why[200];
        size_t n = draw_uses(&r, p);
        if (wake_find(p, n, &s, why, sizeof why)) {
            tally_text(&sum, why);
            s.n = 0;
        }
        for (int blurred = 0; blurred < 2 && s.n; blurred++) {
            for (size_t i = 0; i < s.n; i++) {
                tally_estimate(&sum, &s.stage[i].first_us);
                tally_estimate(&sum, &s.stage[i].idle_from_us);
                tally_estimate(&sum, &s.stage[i].idle_to_us);
                tally_add(&sum, (double)s.stage[i].n);
            }
            for (size_t i = 0; i < s.n_warnings; i++)
                tally_text(&sum, s.warning[i]);
            tally_add(&sum, (double)(s.discarded + 1000 * s.mixed) + s.detectable_ratio + wake_scatters(&s));
            wake_blur(&s, ONE_OF(&r, 0, 0.0625, 0.5, 1, 2));
        }
        fprintf(out, "%d", line);
        tally_write(out, "stages", &sum);
        fputc('\n', out);
    }
    golden_expect(&g, "wake", "round.txt", true);
}

/* ---- whether wide code pays ---- */

static struct estimate draw_figure(struct rng *r, double value)
{
    double half = ONE_OF(r, 0, 0.0078125, 0.125);
    return rng_chance(r, 0.02) ? (struct estimate){NAN, NAN, NAN} : estimate_around(value, half);
}

TEST(verdicts_of_round_figures)
{
    struct golden g;
    struct rng r;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    rng_init(&r, 1, 542);
    for (int line = 1; line <= 60; line++) {
        struct tally sum = {0};
        struct verdict_width w[VERDICT_WIDTHS_MAX + 1];
        struct verdict_cost v;
        size_t n = (size_t)rng_int(&r, 0, VERDICT_WIDTHS_MAX + 1);
        const struct verdict_load load = {ONE_OF(&r, 0.25, 0.5, 1, 0, 0.75), ONE_OF(&r, 1, 10, 100, 1000, 1e4)};
        for (size_t i = 0; i < n; i++)
            w[i] = (struct verdict_width){.bits = rng_chance(&r, 0.03) ? 128 : 128u << i,
                                          .slowdown = draw_figure(&r, i ? ONE_OF(&r, 0, 0.125, 0.25, 0.96) : 0),
                                          .rate = draw_figure(&r, i ? ONE_OF(&r, 1, 1.5, 2, 0.005) : 1),
                                          .overhead = draw_figure(&r, i ? ONE_OF(&r, 0, 10) : 0),
                                          .after = draw_figure(&r, i ? ONE_OF(&r, 0, 10, 700) : 0)};
        tally_add(&sum, verdict_cost(w, n, &load, 7 + (uint64_t)line, &v));
        tally_add(&sum, (double)v.prefer + 10.0 * v.bits + 1e4 * v.rival + 1e7 * v.lacks_bits);
        tally_text(&sum, v.lacks ? v.lacks : "");
        for (size_t i = 0; i < n && i < VERDICT_WIDTHS_MAX; i++) {
            tally_estimate(&sum, &v.time[i]);
            tally_estimate(&sum, &v.pays_from_us[i]);
            tally_estimate(&sum, &v.pays_from_share[i]);
        }
        struct estimate longer[4];
        for (int k = 0; k < 20; k++) {
            for (int i = 0; i < 4; i++)
                longer[i] = estimate_around(ONE_OF(&r, 0, 0.0078125, 0.0625), ONE_OF(&r, 0, 0.00390625, 0.0625));
            struct verdict_ranked a = verdict_rank(longer, 4, (size_t)rng_int(&r, 0, 3));
            tally_add(&sum, (double)(a.rival + 10 * a.chosen + 100 * a.equals + 10000 * a.all_equal));
        }
        fprintf(out, "%d", line);
        tally_write(out, "verdict", &sum);
        fputc('\n', out);
    }
    golden_expect(&g, "verdict", "round.txt", true);
}
