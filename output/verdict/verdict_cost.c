/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time that the same work takes at each width, and the limits of that by draws from those of what was measured. */
#include "output/verdict/verdict_cost.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "tables/table/estimates.h"
#include "util/splitmix64.h"

/* Draws: their quantiles at 2.5 % are then known to a fifth of a standard error of what is drawn. */
enum { DRAWS = 2000 };
#define EQUAL 0.01         /* widths that differ by less than this, relative, are equal to a user */
#define SLOWDOWN_MOST 0.95 /* fraction, so that no draw divides by nothing */
#define RATE_LEAST 0.01    /* of the narrowest width's, likewise */

/* One value for each measured one: measured, or drawn_estimate from its limits. */
struct cost_inputs {
    double left; /* f / f_plain */
    double rate, overhead, after;
};

/* The result of one draw for one width. */
struct cost_draw {
    double time, from_us, from_share;
};

/* A normal distribution on either side of the value, whose 95 % limits are those of the estimate. */
static double drawn_estimate(const struct estimate *e, uint64_t *state)
{
    double u = ((double)(splitmix64(*state) >> 11) + 0.5) / 9007199254740992.0;
    *state += SPLITMIX64_STEP;
    double z = gsl_cdf_ugaussian_Pinv(u) / ESTIMATE_Z95;
    return e->value + z * (z < 0 ? e->value - e->lo : e->hi - e->value);
}

static struct cost_inputs draw_inputs(const struct verdict_width *w, uint64_t *state)
{
    struct cost_inputs x;
    x.left = 1 - fmin(drawn_estimate(&w->slowdown, state), SLOWDOWN_MOST);
    x.rate = fmax(drawn_estimate(&w->rate, state), RATE_LEAST);
    x.overhead = fmax(drawn_estimate(&w->overhead, state), 0);
    x.after = fmax(drawn_estimate(&w->after, state), 0);
    return x;
}

/* The time of a period in us; `scalar`: its work that cannot be wide, in us at the plain frequency. */
static double period_time(const struct cost_inputs *x, double burst, double scalar)
{
    double wide = burst / (x->rate * x->left);
    if (scalar <= x->after * x->left) /* the next burst begins before the frequency is back: it never is */
        return wide + scalar / x->left;
    return wide + x->after + (scalar - x->after * x->left) + 2 * x->overhead;
}

static struct cost_draw cost_of(const struct cost_inputs *x, const struct verdict_load *load)
{
    double period = load->burst_us / load->share;
    double won = 1 - 1 / (x->rate * x->left); /* of each us of the burst */
    double lost = fmax(1 / x->left - 1, 0);   /* of each us of scalar work that runs slowed */
    double once = x->after * fmax(1 - x->left, 0) + 2 * x->overhead;
    struct cost_draw d;
    d.time = period_time(x, load->burst_us, period - load->burst_us) / period;
    d.from_us = won > 0 ? once / won : INFINITY;
    d.from_share = won > 0 ? lost / (lost + won) : 2;
    return d;
}

/* The 2.5 % and 97.5 % quantiles; sorts x. */
static void limits_of(double *x, double value, struct estimate *out)
{
    gsl_sort(x, 1, DRAWS);
    size_t lo = DRAWS / 40, hi = DRAWS - 1 - lo; /* no interpolation: some may be infinite */
    *out = (struct estimate){value, fmin(x[lo], value), fmax(x[hi], value)};
}

static const char *lacking(const struct verdict_width *w)
{
    return !estimates_known(&w->slowdown)   ? "slowdown"
           : !estimates_known(&w->rate)     ? "rate"
           : !estimates_known(&w->overhead) ? "overhead"
           : !estimates_known(&w->after)    ? "after"
                                            : NULL;
}

static bool cost_inputs_ok(const struct verdict_width *w, size_t n, const struct verdict_load *load)
{
    for (size_t i = 1; i < n; i++)
        if (w[i].bits <= w[i - 1].bits)
            return false;
    return n > 0 && n <= VERDICT_WIDTHS_MAX && load->share > 0 && load->share <= 1 && load->burst_us > 0 &&
           isfinite(load->burst_us);
}

/* By how much width a takes longer than width b. */
static struct estimate longer_by(struct cost_draw *const *draws, const struct verdict_cost *v, size_t a, size_t b,
                                 double *scratch)
{
    struct estimate e;
    for (size_t k = 0; k < DRAWS; k++)
        scratch[k] = draws[a][k].time / draws[b][k].time - 1;
    limits_of(scratch, v->time[a].value / v->time[b].value - 1, &e);
    return e;
}

struct verdict_ranked verdict_rank(const struct estimate *longer, size_t n, size_t best)
{
    struct verdict_ranked r = {n, best, 1u << best, true};
    for (size_t i = n; i-- > 0;) {
        if (i == best)
            continue;
        const bool equal = fmax(fabs(longer[i].lo), fabs(longer[i].hi)) < EQUAL;
        r.all_equal = r.all_equal && equal;
        if (equal) {
            r.equals |= 1u << i;
            r.chosen = i < r.chosen ? i : r.chosen;
        } else if (longer[i].lo <= 0) {
            r.rival = i;
        }
    }
    return r;
}

static void prefer_of(const struct verdict_width *w, size_t n, struct cost_draw *const *draws, double *scratch,
                      struct verdict_cost *out)
{
    struct estimate longer[VERDICT_WIDTHS_MAX];
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (out->time[i].value < out->time[best].value)
            best = i;
    for (size_t i = 0; i < n; i++)
        if (i != best)
            longer[i] = longer_by(draws, out, i, best, scratch);
    const struct verdict_ranked r = verdict_rank(longer, n, best);
    out->rival = r.rival < n ? w[r.rival].bits : 0;
    if (out->rival)
        return;
    out->prefer = r.all_equal ? VERDICT_ANY : VERDICT_WIDTH;
    out->bits = out->prefer == VERDICT_WIDTH ? w[r.chosen].bits : 0;
}

/* Draws for one width, and their limits. */
static void cost_draw_width(const struct verdict_width *w, const struct verdict_load *load, uint64_t *state,
                            struct cost_draw *draws, double *scratch, struct verdict_cost *out, size_t i)
{
    struct cost_inputs middle = {1 - fmin(w->slowdown.value, SLOWDOWN_MOST), fmax(w->rate.value, RATE_LEAST),
                                 fmax(w->overhead.value, 0), fmax(w->after.value, 0)};
    struct cost_draw value = cost_of(&middle, load);
    for (size_t k = 0; k < DRAWS; k++) {
        struct cost_inputs x = draw_inputs(w, state);
        draws[k] = cost_of(&x, load);
    }
    for (size_t k = 0; k < DRAWS; k++)
        scratch[k] = draws[k].time;
    limits_of(scratch, value.time, &out->time[i]);
    for (size_t k = 0; k < DRAWS; k++)
        scratch[k] = draws[k].from_us;
    limits_of(scratch, value.from_us, &out->pays_from_us[i]);
    for (size_t k = 0; k < DRAWS; k++)
        scratch[k] = draws[k].from_share;
    limits_of(scratch, value.from_share, &out->pays_from_share[i]);
}

int verdict_cost(const struct verdict_width *w, size_t n, const struct verdict_load *load, uint64_t seed,
                 struct verdict_cost *out)
{
    const struct estimate none = {NAN, NAN, NAN};
    memset(out, 0, sizeof *out);
    if (!cost_inputs_ok(w, n, load))
        return -1;
    struct cost_draw *all = calloc(n * DRAWS, sizeof *all), *draws[VERDICT_WIDTHS_MAX];
    double *scratch = calloc(DRAWS, sizeof *scratch);
    for (size_t i = 0; i < n && all && scratch; i++) {
        draws[i] = all + i * DRAWS;
        out->time[i] = out->pays_from_us[i] = out->pays_from_share[i] = none;
        const char *lacks = lacking(&w[i]);
        if (!lacks) {
            cost_draw_width(&w[i], load, &seed, draws[i], scratch, out, i);
        } else if (!out->lacks) {
            out->lacks = lacks;
            out->lacks_bits = w[i].bits;
        }
    }
    int status = all && scratch ? 0 : -1;
    if (status == 0 && !out->lacks)
        prefer_of(w, n, draws, scratch, out);
    free(all);
    free(scratch);
    return status;
}
