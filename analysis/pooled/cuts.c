/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Optimal partitioning of a series into pieces of one value each. */
#include <math.h>
#include <stdlib.h>

#include "analysis/pooled/pooled.h"

size_t pooled_cut(const double *y, const double *weight, size_t n, size_t least, double penalty, size_t *cut)
{
    double *best = malloc(4 * (n + 1) * sizeof *best);
    size_t *from = malloc((n + 1) * sizeof *from), pieces = 0;
    if (!best || !from) {
        free(best);
        free(from);
        return 0;
    }
    double *w = best + n + 1, *wy = w + n + 1, *wyy = wy + n + 1;
    best[0] = w[0] = wy[0] = wyy[0] = 0;
    for (size_t i = 0; i < n; i++) {
        w[i + 1] = w[i] + weight[i];
        wy[i + 1] = wy[i] + weight[i] * y[i];
        wyy[i + 1] = wyy[i] + weight[i] * y[i] * y[i];
    }
    for (size_t j = 1; j <= n; j++) {
        best[j] = INFINITY;
        from[j] = 0;
        for (size_t i = 0; i + least <= j || !i; i = i ? i + 1 : least) {
            double sw = w[j] - w[i], sy = wy[j] - wy[i];
            double cost = sw > 0 ? fmax(0, wyy[j] - wyy[i] - sy * sy / sw) : 0;
            if (best[i] + cost + penalty < best[j]) {
                best[j] = best[i] + cost + penalty;
                from[j] = i;
            }
            if (i + least > j)
                break;
        }
    }
    for (size_t j = n; j; j = from[j])
        pieces++;
    cut[pieces] = n;
    for (size_t j = n, k = pieces; j; j = from[j])
        cut[--k] = from[j];
    free(best);
    free(from);
    return pieces;
}
