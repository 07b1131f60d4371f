/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/long_chain.h"

#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "computer/cpu/tsc.h"
#include "kernels/kernels.h"

#define EVEN 0.001 /* relative: the fastest chains that nothing slows */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int long_chain_add(int cpu, double tsc_hz, size_t n, struct long_chain_slices *to)
{
    struct payload chain;
    char why[200];
    cpu_set_t before, one;
    CPU_ZERO(&one);
    if (cpu >= 0)
        CPU_SET((size_t)cpu, &one);
    if (kernel_parse("chain", &chain, why, sizeof why) || sched_getaffinity(0, sizeof before, &before) ||
        (cpu >= 0 && sched_setaffinity(0, sizeof one, &one)))
        return -1;
    uint64_t begin = tsc_now();
    uint64_t blocks = chain.run(1, begin + (uint64_t)(tsc_hz * 1e-4), NULL, 0, NULL);
    for (size_t i = 0; i < n && to->n < LONG_CHAIN_SLICES; i++) {
        begin = tsc_now();
        uint64_t done = chain.run(blocks, 0, NULL, 0, NULL);
        to->ghz[to->n++] = (double)(done * chain.instructions) / (double)(tsc_now() - begin) * tsc_hz * 1e-9;
    }
    return cpu >= 0 ? sched_setaffinity(0, sizeof before, &before) : 0;
}

struct long_chain long_chain_of(struct long_chain_slices *s)
{
    qsort(s->ghz, s->n, sizeof *s->ghz, ascending);
    double hi = s->ghz[s->n * 9 / 10];
    return (struct long_chain){s->ghz[s->n / 10], s->ghz[s->n / 2], hi, hi > (1 - EVEN) * s->ghz[s->n * 97 / 100]};
}

int long_chain(int cpu, double tsc_hz, struct long_chain *out)
{
    struct long_chain_slices slices = {0};
    int status = long_chain_add(cpu, tsc_hz, 200, &slices);
    if (status == 0)
        *out = long_chain_of(&slices);
    return status;
}

int long_chain_holds(const struct long_chain *a, const struct long_chain *b, double ghz)
{
    return ghz >= 0.995 * fmin(a->lo, b->lo) && ghz <= 1.005 * fmax(a->hi, b->hi);
}
