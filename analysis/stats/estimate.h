/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <math.h>

/* A value with its 95 % limits; all NaN = not measured. */
struct estimate {
    double value, lo, hi;
};

/* Standard errors from a normal distribution's mean to its 95 % limits: Phi^-1(0.975). */
#define ESTIMATE_Z95 1.96

/* Half of the width of its limits; NaN: none are known. */
static inline double estimate_half(const struct estimate *e)
{
    return 0.5 * (e->hi - e->lo);
}

/* The same; 0: none are known. */
static inline double estimate_half_known(const struct estimate *e)
{
    return isfinite(estimate_half(e)) ? estimate_half(e) : 0;
}

/* A fraction and its limits in percent. */
static inline struct estimate estimate_percent(const struct estimate *e)
{
    return (struct estimate){100 * e->value, 100 * e->lo, 100 * e->hi};
}

static inline struct estimate estimate_around(double value, double half)
{
    return (struct estimate){value, value - half, value + half};
}
