/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/repetitions/other_clocks.h"

#include <math.h>
#include <stdio.h>

#include "util/order.h"

#define OTHER_SIGMAS 6.0
#define SHARE_TOLD 0.03
#define SHARE_HELD 0.05 /* more than that is within what 95 % limits must hold */
#define ONE_VALUE 0.01  /* relative: others that spread by more are told as a range */

/* Repetitions on one side of the majority. */
struct others {
    size_t n;
    double mean, least, most;
};

static struct others other_clocks_collect(const double *x, size_t n, double bound, bool slower)
{
    struct others a = {0, 0, INFINITY, -INFINITY};
    for (size_t i = 0; i < n; i++) {
        if (slower ? x[i] >= 1 - bound : x[i] <= 1 + bound)
            continue;
        a.mean += x[i];
        a.least = fmin(a.least, x[i]);
        a.most = fmax(a.most, x[i]);
        a.n++;
    }
    a.mean /= fmax(1, (double)a.n);
    return a;
}

/* The first phase's frequency stands for all in what is said. */
static double example_ghz(const struct phases *out)
{
    for (size_t p = 0; p < out->n_phases; p++)
        if (phases_is_steady(&out->phases[p]) && isfinite(out->phases[p].freq_ghz.value))
            return out->phases[p].freq_ghz.value;
    return NAN;
}

static int tell_side(struct phases *out, const struct others *a, size_t n, bool slower)
{
    double ghz = example_ghz(out);
    char range[80];
    if (a->most - a->least > ONE_VALUE)
        snprintf(range, sizeof range, "%.3f to %.3f times", a->least, a->most);
    else
        snprintf(range, sizeof range, "%.3f times", a->mean);
    return phases_warn(out,
                       "%zu of %zu repetitions ran at a %s frequency from beginning to end: %s that of the others, "
                       "%.3f GHz instead of %.3f%s",
                       a->n, n, slower ? "lower" : "higher", range, ghz * a->mean, ghz,
                       (double)a->n > SHARE_HELD * (double)n ? "; the frequency limits cover both" : "");
}

/* The limits, moved by the factor of the others, are part of the new ones. */
static void hold(struct estimate *e, double factor)
{
    if (isnan(e->value))
        return;
    if (factor < 1)
        e->lo = fmax(0, isnan(e->lo) ? e->value * factor : e->lo - e->value * (1 - factor));
    else
        e->hi = isnan(e->hi) ? e->value * factor : e->hi + e->value * (factor - 1);
}

static void other_clocks_widen(struct phases *out, double factor)
{
    for (size_t p = 0; p < out->n_phases; p++) {
        hold(&out->phases[p].freq_ghz, factor);
        if (out->phases[p].tau_us.value > 0) {
            hold(&out->phases[p].from_ghz, factor);
            hold(&out->phases[p].to_ghz, factor);
        }
    }
    for (size_t l = 0; out->levels && l < out->n_levels; l++)
        hold(&out->levels[l], factor);
}

double other_clocks_bound(const double *relative, size_t n, double least, double *scratch)
{
    return fmax(least, OTHER_SIGMAS * order_mad_sigma(relative, n, 1, scratch));
}

int other_clocks_tell(struct phases *out, const double *relative, size_t n, double bound)
{
    for (int slower = 1; slower >= 0; slower--) {
        struct others a = other_clocks_collect(relative, n, bound, slower);
        if (a.n < OTHER_CLOCKS_LEAST || (double)a.n < SHARE_TOLD * (double)n)
            continue;
        if (tell_side(out, &a, n, slower))
            return -1;
        if ((double)a.n > SHARE_HELD * (double)n)
            other_clocks_widen(out, slower ? a.least : a.most);
    }
    return 0;
}
