/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means over numbers of active cores, those between two measured ones included. */
#include "output/validate/cores_mean.h"

#include <math.h>
#include <stdlib.h>

static int by_cores(const void *a, const void *b)
{
    const struct cores_mean *x = a, *y = b;
    return (x->cores > y->cores) - (x->cores < y->cores);
}

void cores_mean_add(struct cores_mean *parts, size_t *n, double active_cores, const struct estimate *e)
{
    const double cores = isfinite(active_cores) ? active_cores : 1;
    size_t i = 0;
    while (i < *n && parts[i].cores != cores)
        i++;
    if (i == *n)
        parts[(*n)++] = (struct cores_mean){.cores = cores};
    struct cores_mean *p = &parts[i];
    *p = (struct cores_mean){cores, p->value + e->value, p->lo + e->lo, p->hi + e->hi, p->n + 1};
}

struct estimate cores_mean_of(struct cores_mean *parts, size_t n)
{
    struct estimate sum = {0, 0, 0};
    double weight = 0;
    qsort(parts, n, sizeof *parts, by_cores);
    for (size_t i = 0; i < n; i++) {
        struct cores_mean *p = &parts[i];
        *p = (struct cores_mean){p->cores, p->value / p->n, p->lo / p->n, p->hi / p->n, 1};
        const double between = i > 0 ? p->cores - p[-1].cores - 1 : 0;
        sum.value += p->value + (i > 0 ? between * (p->value + p[-1].value) / 2 : 0);
        sum.lo += p->lo + (i > 0 ? between * fmin(p->lo, p[-1].lo) : 0);
        sum.hi += p->hi + (i > 0 ? between * fmax(p->hi, p[-1].hi) : 0);
        weight += 1 + between;
    }
    return (struct estimate){sum.value / weight, sum.lo / weight, sum.hi / weight};
}
