/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/timing/timing_witness.h"

#include <math.h>
#include <stdlib.h>

#include "util/order.h"

enum { PACES_LEAST = 32, READINGS_LEAST = 96, WITNESSES_LEAST = 4, REMEMBERED_LEAST = 4 };
#define FASTER_MOST 1.1  /* multiplications, than adds */
#define FULL_SHARE 0.1   /* of the repetitions: so many may have a higher pace than the full one by chance */
#define ONE_PACE 0.005   /* relative: paces nearer than this are one, on a coarse clock */
#define ONE_RATE 0.005   /* ... and rates */
#define SAME_PACE 0.1    /* relative: samples further from the median were interrupted */
#define IMPLIED 0.002    /* relative: what the payload implies is not believed for less */
#define WANDER 0.002     /* relative: what the other thread does changes that much from repetition to repetition */
#define CLOCK_STEPS 0.41 /* of the difference of two readings, in steps (timing_sample.h) */

struct witness_means witness_means(const struct timing_raw *w, size_t n, double step)
{
    struct witness_means m = {.error = 0};

    for (unsigned kind = 0; kind < WITNESS_KINDS; kind++) {
        double ticks[WITNESS_ROOM], scratch[WITNESS_ROOM];
        size_t count = 0;

        for (size_t i = 0; i < n && count < WITNESS_ROOM; i++)
            if (timing_blocks(&w[i]) == kind)
                ticks[count++] = (double)(w[i].end - w[i].begin);
        double middle = order_median(ticks, count);
        m.ticks[kind] = count < WITNESSES_LEAST ? NAN : order_stepped_mean(ticks, count, middle, step, scratch);
        m.error = fmax(m.error, CLOCK_STEPS * fmax(step, 1) / sqrt(fmax((double)count, 1)));
    }
    return m;
}

/* Cycles a tick, if the long chain's `cycles` beyond the short one's took so much longer. */
static double rate_beyond_short(const struct witness_means *m, enum witness kind, double cycles)
{
    return (cycles - CHAIN_LONG_ADDS) / (m->ticks[kind] - m->ticks[WITNESS_SHORT]);
}

static double adds_rate(const struct witness_means *m)
{
    return rate_beyond_short(m, WITNESS_ADDS, CHAIN_STEADY_LONG_ADDS);
}

double witness_latency(const struct witness_means *m)
{
    return (adds_rate(m) * (m->ticks[WITNESS_MULTIPLICATIONS] - m->ticks[WITNESS_SHORT]) + CHAIN_LONG_ADDS) /
           CHAIN_MULTIPLICATIONS;
}

double witness_rate(const struct witness_means *m, double latency)
{
    double adds = adds_rate(m);
    double multiplications = rate_beyond_short(m, WITNESS_MULTIPLICATIONS, CHAIN_MULTIPLICATIONS * latency);
    double noise = 2 * M_SQRT2 * m->error / (m->ticks[WITNESS_ADDS] - m->ticks[WITNESS_SHORT]);

    if (!(adds > 0))
        return NAN;
    if (!(multiplications > (1 - noise) * adds && multiplications < FASTER_MOST * adds))
        return adds;
    return multiplications > (1 + noise) * adds ? multiplications : 0.5 * (adds + multiplications);
}

double witness_pace(const struct timing_raw *r, size_t n)
{
    double *pace = calloc(n + 1, sizeof *pace), blocks = 0, ticks = 0, middle;
    size_t count = 0;

    if (pace == NULL)
        return NAN;
    for (int pass = 0; pass < 2; pass++) {
        middle = order_median(pace, count);
        for (size_t i = 1; i < n; i++) {
            /* the payload's blocks are counted anew after each pair of witnesses */
            double b = (double)timing_blocks(&r[i]) - (double)timing_blocks(&r[i - 1]);
            double t = (double)(r[i].begin - chain_wait(r[i].blocks)) - (double)r[i - 1].end;
            if (!(b > 0 && t > 0))
                continue;
            if (pass == 0)
                pace[count++] = b / t;
            else if (fabs(b / t / middle - 1) < SAME_PACE) {
                blocks += b;
                ticks += t;
            }
        }
    }
    free(pace);
    return count >= PACES_LEAST && ticks > 0 ? blocks / ticks : NAN;
}

void witness_remember(struct witness_memory *m, double pace, double rate)
{
    size_t i = m->n++ % WITNESS_MEMORY;

    m->seen[i].pace = pace;
    m->seen[i].rate = rate;
}

/* Nothing makes a chain too fast, but the highest of many is so by chance: the median of those near the second highest,
 * of the repetitions at full pace. */
double witness_implied(const struct witness_memory *m, double pace)
{
    double paces[WITNESS_MEMORY], rate[WITNESS_MEMORY];
    size_t n = m->n < WITNESS_MEMORY ? m->n : WITNESS_MEMORY, kept = 0, near = 0;

    if (n < REMEMBERED_LEAST)
        return NAN;
    for (size_t i = 0; i < n; i++)
        paces[i] = m->seen[i].pace;
    double full = order_nth_smallest(paces, n, n - 1 - (size_t)(FULL_SHARE * (double)n));
    for (size_t i = 0; i < n; i++)
        if (m->seen[i].pace >= (1 - ONE_PACE) * full)
            rate[kept++] = m->seen[i].rate;
    if (kept < 2)
        return NAN;
    qsort(rate, kept, sizeof *rate, order_double_descending);
    while (near < kept && rate[near] >= (1 - ONE_RATE) * rate[1])
        near++;
    return order_median(rate, near) * fmin(1, pace / full);
}

double witness_believed(const struct witness_memory *m, double pace, double rate)
{
    double implied = witness_implied(m, pace);

    return implied > (1 + IMPLIED) * rate ? implied : rate;
}

int witness_cost(const struct timing_raw *r, size_t n, const struct timing_chains *chains, double step, double rate,
                 double error, struct timing_cost *out)
{
    double *scratch = calloc(2 * n + 1, sizeof *scratch), mean[2], share = 1.0 / chains->turns;
    bool told = scratch != NULL && n >= READINGS_LEAST && rate > 0 &&
                timing_chain_means(r, n, chains, step, mean, scratch);

    free(scratch);
    if (!told)
        return -1;
    *out = (struct timing_cost){.cycles = (1 - share) * (rate * mean[0] - chains->adds[0]) +
                                          share * (rate * mean[1] - chains->adds[1]),
                                .error = hypot(rate * CLOCK_STEPS * step / sqrt((double)n), error * rate * mean[0]),
                                .ticks = {mean[0], mean[1]},
                                .wander = WANDER * rate * mean[0]};
    return 0;
}
