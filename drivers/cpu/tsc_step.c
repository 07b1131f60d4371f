/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The step in which the time-stamp counter advances. Where it is scaled, by the processor or for a guest, a step need
 * not be a whole number of ticks: at 22.5 ticks readings are 22 and 23 apart. So steps are tried, from the largest on,
 * whole ones first.
 */
#include <math.h>
#include <stdlib.h>

#include "drivers/cpu/tsc.h"
#include "util/order.h"

/* Readings farther apart tell nothing of a step, and there would be no end to what to try. */
enum { DISTANCES_MAX = 512, LEAST_FRACTIONAL = 8, FARTHEST = 100000 };
/* Of the distances so many must be multiples of the step: a reading in a hundred may be anything. */
static const double FITTING = 0.99;

/*
 * Whether the distances are multiples of `step`, but for `slack` ticks. One and the same multiple tells nothing: two
 * that differ must be among them, each in one distance of a hundred at least.
 */
static bool tsc_step_fits(const double *distance, size_t n, double step, double slack)
{
    size_t misfits = 0, most = (size_t)((1 - FITTING) * (double)n), of_first = 0;
    double first = round(distance[n / 2] / step);

    for (size_t i = 0; i < n; i++) {
        double multiple = round(distance[i] / step);
        misfits += fabs(distance[i] - multiple * step) > slack;
        of_first += multiple == first;
        if (misfits > most)
            return false;
    }
    return n - of_first > most;
}

/* Distances of successive readings, without those of more than four times the median: something came between. Sorted.
 * Returns how many; 0 where the TSC went backwards. */
static size_t distances(const uint64_t *readings, size_t n, double *out)
{
    size_t count = 0, every = (n - 1 + DISTANCES_MAX - 1) / DISTANCES_MAX;

    for (size_t i = 1; i < n; i++)
        if (readings[i] < readings[i - 1])
            return 0;
    for (size_t i = 1; i < n; i += every) {
        uint64_t distance = readings[i] - readings[i - 1];
        if (distance > 0 && distance <= FARTHEST)
            out[count++] = (double)distance;
    }
    qsort(out, count, sizeof *out, order_double);
    while (count > 0 && out[count - 1] > 4 * out[count / 2])
        count--;
    return count;
}

/*
 * A step that is no whole number: every distance lies less than a tick from a multiple of it. Those that fit are an
 * interval around it, of which the middle is taken. 1: there is none.
 */
static double fractional_step(const double *distance, size_t n)
{
    /* a ratio so close to 1 that the largest distance moves, between trials, by less than a third of a tick */
    double longest = distance[n - 1], ratio = 1 - 0.3 / longest, first = 0;

    for (double step = longest; step >= LEAST_FRACTIONAL; step *= ratio) {
        bool fit = tsc_step_fits(distance, n, step, 1);
        if (fit && first <= 0)
            first = step;
        if (!fit && first > 0)
            return (first + step / ratio) / 2;
    }
    return 1;
}

double tsc_step(const uint64_t *readings, size_t n)
{
    double distance[DISTANCES_MAX];
    size_t count = n < TSC_STEP_READINGS ? 0 : distances(readings, n, distance);

    if (count < TSC_STEP_READINGS / 2 || distance[count / 100] >= distance[count - 1 - count / 100])
        return 0;
    double longest = distance[count - 1];
    for (double step = floor(longest); step > 1; step--)
        if (tsc_step_fits(distance, count, step, 0))
            return step;
    return fractional_step(distance, count);
}

double tsc_measure_step(void)
{
    enum { READINGS = 2048, DELAYS = 61 };
    uint64_t readings[READINGS];

    for (size_t i = 0; i < READINGS; i++) {
        /* adds that depend on each other: the distances vary by steps of a cycle */
        uint64_t sum = 0;
        for (size_t k = 0; k < i * 7 % DELAYS; k++)
            __asm__ volatile("add %1, %0" : "+r"(sum) : "r"(k));
        readings[i] = tsc_now();
    }
    return tsc_step(readings, READINGS);
}
