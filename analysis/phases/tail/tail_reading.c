/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "analysis/phases/tail/tail.h"

enum { TAUS = 32, ROUNDS = 3, LINEAR = 3 };
#define LONGEST 2.0 /* times the recording */
/* us: no reading takes longer; and what a machine has put right already may be off by so much */
#define MOST_US 0.3
#define LEAST_US -0.1

/* Least squares of y = a[0] + a[1] x + a[2] z by Cramer's rule; the sum of squares, or INFINITY: it cannot be told. */
static double regress(const double *x, const double *z, const double *y, size_t n, double a[LINEAR])
{
    double mx = 0, mz = 0, my = 0, xx = 0, xz = 0, zz = 0, xy = 0, zy = 0, rss = 0;
    for (size_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        mz += z[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xz += (x[i] - mx) * (z[i] - mz);
        zz += (z[i] - mz) * (z[i] - mz);
        xy += (x[i] - mx) * (y[i] - my);
        zy += (z[i] - mz) * (y[i] - my);
    }
    double det = xx * zz - xz * xz;
    if (!(det > 1e-9 * xx * zz))
        return INFINITY;
    a[1] = (xy * zz - zy * xz) / det;
    a[2] = (zy * xx - xy * xz) / det;
    a[0] = my - a[1] * mx - a[2] * mz;
    for (size_t i = 0; i < n; i++)
        rss += pow(y[i] - a[0] - a[1] * x[i] - a[2] * z[i], 2);
    return rss;
}

/* The course of the rate of which it is found out: n points, and scratch. */
struct rates {
    const double *t, *z, *y; /* us; samples per us; instructions per cycle */
    double *x, *w;
    size_t n;
    double after;
};

/* Of a ramp with this time constant: what it leaves, and what a reading then takes, us. */
static double with_tau(const struct rates *r, double tau, double *reading)
{
    double a[LINEAR] = {0};
    for (size_t i = 0; i < r->n; i++)
        r->x[i] = exp(-(r->t[i] - r->after) / tau);
    double rss = regress(r->x, r->z, r->y, r->n, a);
    for (size_t i = 0; i < r->n; i++) /* what is missing is a part of the rate at the time, not of the last */
        r->w[i] = r->z[i] * (1 + a[1] / a[0] * r->x[i]);
    rss = isfinite(rss) ? regress(r->x, r->w, r->y, r->n, a) : rss;
    *reading = -a[2] / a[0];
    return rss;
}

/* Of the best time constant: that of a grid, then between its neighbours. NaN: it cannot be told. */
static double reading_of(const struct rates *r)
{
    double shortest = r->t[1] - r->t[0], longest = LONGEST * (r->t[r->n - 1] - r->after), reading = NAN;
    for (int round = 0; round < ROUNDS; round++) {
        double best = INFINITY, ratio = pow(longest / shortest, 1.0 / (TAUS - 1)), tau = NAN;
        for (int k = 0; k < TAUS; k++) {
            double own, rss = with_tau(r, shortest * pow(ratio, k), &own);
            if (rss < best) {
                best = rss;
                reading = own;
                tau = shortest * pow(ratio, k);
            }
        }
        if (isnan(tau))
            return NAN;
        shortest = tau / ratio;
        longest = tau * ratio;
    }
    return reading;
}

int tail_put_reading_right(struct tail_series *s, double after)
{
    double *t = calloc(5 * s->n_bins + 1, sizeof *t);
    size_t n = 0;
    if (!t)
        return -1;
    double *z = t + s->n_bins, *y = z + s->n_bins, *x = y + s->n_bins;
    for (size_t b = 0; b < s->n_bins; b++)
        if (!isnan(s->curve[TAIL_RATE][b]) && !isnan(s->time[b])) {
            t[n] = s->time[b];
            z[n] = s->density[b];
            y[n++] = s->curve[TAIL_RATE][b];
        }
    const struct rates rates = {t, z, y, x, x + s->n_bins, n, after};
    double reading = n > LINEAR + 1 && t[1] > t[0] ? reading_of(&rates) : NAN;
    free(t);
    if (isnan(reading))
        return 0;
    reading = fmin(fmax(reading, LEAST_US), MOST_US);
    for (size_t b = 0; b < s->n_bins; b++) {
        double right = 1 / (1 - reading * s->density[b]);
        s->curve[TAIL_RATE][b] *= right;
        for (size_t k = 0; k < s->n_runs; k++)
            s->value[TAIL_RATE][k * s->n_bins + b] *= right;
    }
    return 0;
}
