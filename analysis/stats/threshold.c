/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits the value from which on an answer is yes to trials that said yes or no. */
#include "analysis/stats/threshold.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "analysis/stats/golden.h"

/* Steps of the searches: 0.618^24 of the first interval is 1e-5, 2^-24 is 6e-8. */
enum { GOLDEN_STEPS = 24, LIMIT_STEPS = 24, MEDIAN_STEPS = 30 };
#define HALF_CHI2_95 1.9207 /* half of the 95 % quantile of chi squared with one degree of freedom */

struct trials {
    const struct threshold_trial *trial;
    size_t n;
    double least_sigma, most_sigma;
};

/* The likelihood at the median `mean`, by the logarithm of sigma. */
struct at_median {
    const struct trials *t;
    double mean;
};

static double log_likelihood(void *at_median, double log_sigma)
{
    const struct at_median *m = at_median;
    double sum = 0, sigma = exp(log_sigma);
    for (size_t i = 0; i < m->t->n; i++) {
        double z = (m->t->trial[i].x - m->mean) / sigma;
        double p = m->t->trial[i].yes ? gsl_cdf_ugaussian_P(z) : gsl_cdf_ugaussian_Q(z);
        sum += log(fmax(p, 1e-30)); /* an outlier must not decide alone */
    }
    return sum;
}

/* The likelihood of a median: with the sigma that suits it best. */
static double profile(const struct trials *t, double mean, double *best)
{
    struct at_median m = {t, mean};
    double a = log(t->least_sigma), b = log(t->most_sigma);
    double highest = golden_highest(log_likelihood, &m, &a, &b, -1, GOLDEN_STEPS);
    if (best)
        *best = exp(0.5 * (a + b));
    return highest;
}

static double profile_of(void *trials, double mean)
{
    return profile(trials, mean, NULL);
}

static double best_median(struct trials *t, double lo, double hi)
{
    golden_highest(profile_of, t, &lo, &hi, -1, MEDIAN_STEPS);
    return 0.5 * (lo + hi);
}

/* Finds where, between the median and the end of the tried values, the likelihood has fallen by as much as 95 %
 * allow. */
static double threshold_limit(const struct trials *t, double median, double end, double least)
{
    if (profile(t, end, NULL) >= least)
        return end;
    for (int i = 0; i < LIMIT_STEPS; i++) {
        double middle = 0.5 * (median + end);
        if (profile(t, middle, NULL) >= least)
            median = middle;
        else
            end = middle;
    }
    return 0.5 * (median + end);
}

void threshold_fit(const struct threshold_trial *trial, size_t n, struct threshold *out)
{
    double least = INFINITY, most = -INFINITY;
    *out = (struct threshold){{NAN, NAN, NAN}, 0, -INFINITY, INFINITY};
    for (size_t i = 0; i < n; i++) {
        least = fmin(least, trial[i].x);
        most = fmax(most, trial[i].x);
        if (trial[i].yes)
            out->smallest_yes = fmin(out->smallest_yes, trial[i].x);
        else
            out->largest_no = fmax(out->largest_no, trial[i].x);
    }
    if (isinf(out->largest_no) || isinf(out->smallest_yes))
        return;
    if (out->largest_no < out->smallest_yes) {
        out->at = (struct estimate){0.5 * (out->largest_no + out->smallest_yes), out->largest_no, out->smallest_yes};
        return;
    }
    struct trials t = {trial, n, (most - least) * 1e-4 + 1e-9 * most, (most - least) + 1e-6 * most};
    double median = best_median(&t, least, most), bound = profile(&t, median, &out->sigma) - HALF_CHI2_95;
    out->at = (struct estimate){median, threshold_limit(&t, median, least, bound),
                                threshold_limit(&t, median, most, bound)};
}

struct estimate threshold_share(size_t yes, size_t n)
{
    struct estimate e = {NAN, NAN, NAN};
    if (!n)
        return e;
    double k = (double)yes, m = (double)n;
    e.value = k / m;
    e.lo = yes ? gsl_cdf_beta_Pinv(0.025, k, m - k + 1) : 0;
    e.hi = yes < n ? gsl_cdf_beta_Pinv(0.975, k + 1, m - k) : 1;
    return e;
}
