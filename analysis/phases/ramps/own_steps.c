/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/ramps/own_steps.h"

#include <math.h>
#include <string.h>

double own_steps_best(const double *y, size_t a, size_t b, size_t *where)
{
    double all = 0, left = 0, best = 0;
    for (size_t i = a; i < b; i++)
        all += y[i];
    for (size_t i = a; i + 1 < b; i++) {
        left += y[i];
        double n1 = (double)(i + 1 - a), n2 = (double)(b - i - 1);
        double gain = left * left / n1 + (all - left) * (all - left) / n2 - all * all / (n1 + n2);
        if (gain > best) {
            best = gain;
            *where = i + 1;
        }
    }
    return best;
}

double own_steps_rss(const double *y, size_t n, size_t cuts, size_t *first)
{
    size_t edge[OWN_STEPS_MOST + 2] = {0, n}, n_edges = 2;
    double sum = 0, squares = 0;
    if (first)
        *first = 0;
    if (!n)
        return 0;
    for (size_t i = 0; i < n; i++) {
        sum += y[i];
        squares += y[i] * y[i];
    }
    double rss = squares - sum * sum / (double)n;
    while (n_edges < cuts + 2) {
        double best = 0;
        size_t cut = 0, after = 0;
        for (size_t i = 0; i + 1 < n_edges; i++) {
            size_t where = 0;
            double gain = own_steps_best(y, edge[i], edge[i + 1], &where);
            if (gain > best) {
                best = gain;
                cut = where;
                after = i;
            }
        }
        if (!(best > 0))
            break;
        if (first && n_edges == 2)
            *first = cut;
        memmove(&edge[after + 2], &edge[after + 1], (n_edges - after - 1) * sizeof *edge);
        edge[after + 1] = cut;
        n_edges++;
        rss -= best;
    }
    return fmax(rss, 0);
}
