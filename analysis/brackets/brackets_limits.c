/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ratio of two kernels by brackets A B A, with its limits. */
#include "analysis/brackets/brackets_limits.h"

#include <math.h>

#include "analysis/stats/robust.h"

enum { MEDIAN_LEAST = 6 }; /* values, of which a median has limits */

double bracket_log(double a1, double b, double a2)
{
    return a1 > 0 && b > 0 && a2 > 0 ? log(b) - (log(a1) + log(a2)) / 2 : NAN;
}

struct estimate brackets_ratio(const double *logs, size_t n, double *scratch)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(logs[i]))
            scratch[m++] = logs[i];
    const struct estimate e = m < MEDIAN_LEAST ? robust_mean(scratch, m, INFINITY, INFINITY, NULL)
                                               : robust_median(scratch, m);
    return (struct estimate){exp(e.value), exp(e.lo), exp(e.hi)};
}

bool brackets_differs(const struct estimate *ratio, const struct estimate *null)
{
    const double off = log(ratio->value), most = fmax(fabs(log(null->lo)), fabs(log(null->hi)));
    return (ratio->hi < 1 || ratio->lo > 1) && !(fabs(off) <= most);
}

double brackets_seconds_for(double half, double seconds, double wanted)
{
    return seconds * (half / wanted) * (half / wanted);
}
