/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Thresholds of trials that say yes or no: against known figures, and against the likelihood as it is defined. */
#include "analysis/stats/threshold.h"
#include "tests/support/test.h"

/* Clopper and Pearson: without any, (1 - hi)^n = 2.5 %; the others from tables of exact limits. */
TEST(shares)
{
    struct estimate e = threshold_share(0, 0);
    assert_true(isnan(e.value) && isnan(e.lo) && isnan(e.hi));
    e = threshold_share(0, 10);
    assert_close(e.value, 0, 0);
    assert_close(e.lo, 0, 0);
    assert_close(e.hi, 1 - pow(0.025, 0.1), 1e-9);
    e = threshold_share(10, 10);
    assert_close(e.value, 1, 0);
    assert_close(e.lo, pow(0.025, 0.1), 1e-9);
    assert_close(e.hi, 1, 0);
    e = threshold_share(1, 10);
    assert_close(e.value, 0.1, 1e-12);
    assert_close(e.lo, 0.00252858, 1e-8);
    assert_close(e.hi, 0.44501612, 1e-8);
    e = threshold_share(5, 10);
    assert_close(e.lo, 0.18708603, 1e-8);
    assert_close(e.hi, 0.81291397, 1e-8);
}

TEST(what_is_distinguished_needs_no_model)
{
    static const struct threshold_trial trials[] = {{5, true}, {1, false}, {4, true}, {2, false}};
    struct threshold t;
    threshold_fit(trials, 4, &t);
    assert_close(t.at.value, 3, 0);
    assert_close(t.at.lo, 2, 0);
    assert_close(t.at.hi, 4, 0);
    assert_close(t.sigma, 0, 0);
    assert_close(t.largest_no, 2, 0);
    assert_close(t.smallest_yes, 4, 0);
    threshold_fit(trials, 1, &t);
    assert_true(isnan(t.at.value) && t.largest_no < 0 && isinf(t.largest_no));
    assert_close(t.smallest_yes, 5, 0);
    threshold_fit(trials + 1, 1, &t);
    assert_true(isnan(t.at.value) && t.smallest_yes > 0 && isinf(t.smallest_yes));
    assert_close(t.largest_no, 1, 0);
}

static double likelihood(const struct threshold_trial *t, size_t n, double median, double sigma)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double z = (t[i].x - median) / sigma;
        sum += log(fmax(0.5 * erfc((t[i].yes ? -z : z) / M_SQRT2), 1e-30));
    }
    return sum;
}

/* The highest likelihood of a median, and the sigma that has it, by trying one after the other. */
static double highest(const struct threshold_trial *t, size_t n, double median, double most, double *sigma)
{
    double best = -INFINITY;
    for (double s = 0.05; s < most; s *= 1.0005) {
        double is = likelihood(t, n, median, s);
        if (is > best) {
            best = is;
            *sigma = s;
        }
    }
    return best;
}

/* The median is in the middle of what is the same from both sides; its limits are where the likelihood is 1.92 less. */
TEST(what_overlaps_is_fitted)
{
    static const struct threshold_trial trials[] = {{1, false}, {2, false}, {3, false}, {4, true},
                                                    {5, false}, {6, true},  {7, true},  {8, true},
                                                    {3, false}, {6, true},  {2, false}, {7, true}};
    struct threshold t;
    double sigma = NAN, other;
    threshold_fit(trials, 12, &t);
    assert_close(t.at.value, 4.5, 1e-3);
    double best = highest(trials, 12, t.at.value, 7, &sigma);
    assert_close(t.sigma, sigma, 2e-3 * sigma);
    assert_true(t.at.lo > 1 && t.at.hi < 8);
    assert_close(t.at.hi - 4.5, 4.5 - t.at.lo, 2e-3);
    assert_close(highest(trials, 12, t.at.lo, 7, &other), best - 1.9207, 2e-3);
    assert_close(highest(trials, 12, t.at.hi, 7, &other), best - 1.9207, 2e-3);
    assert_close(t.largest_no, 5, 0);
    assert_close(t.smallest_yes, 4, 0);
}

/* Where not enough was tried the limits are the ends of what was. */
TEST(limits_end_with_the_trials)
{
    static const struct threshold_trial trials[] = {{1, true}, {2, false}, {3, true}};
    struct threshold t;
    threshold_fit(trials, 3, &t);
    assert_close(t.at.lo, 1, 0);
    assert_close(t.at.hi, 3, 0);
}

/* Of equal values a no is not below a yes: that is fitted, too. */
TEST(equal_values_overlap)
{
    static const struct threshold_trial trials[] = {{1, false}, {2, false}, {2, true}, {3, true}};
    struct threshold t;
    threshold_fit(trials, 4, &t);
    assert_close(t.at.value, 2, 1e-3);
    assert_true(t.sigma > 0 && t.at.lo < 2 && t.at.hi > 2);
}
