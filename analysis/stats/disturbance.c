/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slope of what disturbs samples over their length, in logarithms, and what it says. */
#include "analysis/stats/disturbance.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_multifit.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/stats/gsl_errors.h"
#include "util/order.h"

enum { LEAST_ROUNDS = 3, LEAST = 4 /* lengths */ };
#define LEAST_US 0.3
#define AROUND 0.25
#define CLOCK_MOST 0.5 /* of the time: clocks fall to 0.6 of themselves */

/* The lengths that are disturbed. */
struct disturbed {
    size_t n;
    double length_us[DISTURBANCE_LENGTHS], excess_us[DISTURBANCE_LENGTHS], part[DISTURBANCE_LENGTHS];
};

/* The geometric mean of the upper half but for the highest of eight; 0: fewer than two of these are disturbed. */
static double typical(double *x, size_t n)
{
    double sum = 0;
    size_t used = 0;
    qsort(x, n, sizeof *x, order_double);
    for (size_t i = n / 2; i < n - n / 8; i++)
        if (x[i] >= LEAST_US) {
            sum += log(x[i]);
            used++;
        }
    return used > 1 ? exp(sum / (double)used) : 0;
}

static void find_disturbed(const struct disturbance_slices *s, struct disturbed *out)
{
    out->n = 0;
    for (size_t i = 0; i < DISTURBANCE_LENGTHS; i++) {
        double fastest = s->fastest[i][0], lost[DISTURBANCE_ROUNDS];
        for (size_t r = 0; r < s->rounds; r++)
            fastest = fmin(fastest, s->fastest[i][r]);
        for (size_t r = 0; r < s->rounds; r++)
            lost[r] = s->slowest[i][r] - fastest;
        double excess = typical(lost, s->rounds);
        if (!(excess > 0) || !(fastest > 0))
            continue;
        out->length_us[out->n] = fastest;
        out->excess_us[out->n] = excess;
        out->part[out->n++] = excess / (fastest + excess);
    }
}

/* The robust line through the logarithms; NaN: GSL finds none. */
static struct estimate find_slope(const struct disturbed *d)
{
    struct estimate slope = {NAN, NAN, NAN};
    gsl_errors_off();
    gsl_matrix *x = gsl_matrix_alloc(d->n, 2), *covariance = gsl_matrix_alloc(2, 2);
    gsl_vector *y = gsl_vector_alloc(d->n), *line = gsl_vector_alloc(2);
    gsl_multifit_robust_workspace *w = gsl_multifit_robust_alloc(gsl_multifit_robust_huber, d->n, 2);
    if (x != NULL && covariance != NULL && y != NULL && line != NULL && w != NULL) {
        for (size_t i = 0; i < d->n; i++) {
            gsl_matrix_set(x, i, 0, 1);
            gsl_matrix_set(x, i, 1, log(d->length_us[i]));
            gsl_vector_set(y, i, log(d->excess_us[i]));
        }
        gsl_multifit_robust_maxiter(1000, w);
        if (gsl_multifit_robust(x, y, line, covariance, w) == 0)
            slope = estimate_around(gsl_vector_get(line, 1), gsl_cdf_tdist_Pinv(0.975, (double)(d->n - 2)) *
                                                                 sqrt(gsl_matrix_get(covariance, 1, 1)));
    }
    gsl_multifit_robust_free(w);
    gsl_vector_free(line);
    gsl_vector_free(y);
    gsl_matrix_free(covariance);
    gsl_matrix_free(x);
    gsl_errors_restore();
    return slope;
}

/* Whether the last two of n values are all more than twice as large as the first three: pieces of stolen time of very
 * different lengths do not look like that. */
static bool rises(const double *x, size_t n)
{
    return fmin(x[n - 2], x[n - 1]) > 2 * fmax(x[0], fmax(x[1], x[2]));
}

static bool falls(const double *x, size_t n)
{
    return fmin(x[0], x[1]) > 2 * fmax(x[n - 3], fmax(x[n - 2], x[n - 1]));
}

static enum disturbance_kind kind_of(const struct estimate *slope, const struct disturbed *d)
{
    if (slope->value <= AROUND && slope->hi < 1 - AROUND)
        return rises(d->excess_us, d->n) ? DISTURBANCE_BOTH : DISTURBANCE_STOLEN;
    if (fabs(slope->value - 1) <= AROUND && slope->lo > AROUND)
        return falls(d->part, d->n) ? DISTURBANCE_BOTH : DISTURBANCE_CLOCK;
    return slope->lo > 0 && slope->hi < 1 ? DISTURBANCE_BOTH : DISTURBANCE_UNDECIDED;
}

void disturbance_find(const struct disturbance_slices *s, struct disturbance *out)
{
    struct disturbed d = {.n = 0};
    *out = (struct disturbance){DISTURBANCE_UNDECIDED, {NAN, NAN, NAN}, NAN, NAN, ""};
    if (s->rounds < LEAST_ROUNDS) {
        snprintf(out->why, sizeof out->why, "the CPU was away for too long to take samples");
        return;
    }
    find_disturbed(s, &d);
    if (d.n < LEAST) {
        snprintf(out->why, sizeof out->why, "at most %d of %d lengths lost more than %.1f us", LEAST - 1,
                 DISTURBANCE_LENGTHS, LEAST_US);
        return;
    }
    out->slope = find_slope(&d);
    out->kind = kind_of(&out->slope, &d);
    if (out->kind == DISTURBANCE_STOLEN) {
        out->each_us = order_median(d.excess_us, d.n);
        return;
    }
    double part = order_median(d.part + d.n - 3, 3); /* of the longest: of both, it is there that the clock shows */
    if (out->kind != DISTURBANCE_UNDECIDED && part <= CLOCK_MOST) {
        out->part = part;
        out->each_us = out->kind == DISTURBANCE_BOTH ? order_median(d.excess_us, 3) : NAN;
        return;
    }
    snprintf(out->why, sizeof out->why, "%s",
             out->kind != DISTURBANCE_UNDECIDED ? "pieces of very different lengths take more than a clock does"
             : out->slope.hi - out->slope.lo > 2 * AROUND ? "the limits are too wide"
                                                          : "the slope is of neither");
    out->kind = DISTURBANCE_UNDECIDED;
}
