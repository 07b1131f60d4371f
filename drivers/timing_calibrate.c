/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the timing machine must know of a payload before it samples it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/silicon.h"
#include "drivers/timing.h"

enum { WINDOW = 128, CALIBRATION_READINGS = 2048 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, ascending);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* The mean without the outer tenths: robust as a median, but not stuck to whole ticks as a median is. */
static double trimmed_mean(double *v, size_t n)
{
    size_t cut = n / 10;
    double sum = 0;

    qsort(v, n, sizeof *v, ascending);
    for (size_t i = cut; i < n - cut; i++) {
        sum += v[i];
    }
    return sum / (double)(n - 2 * cut);
}

/* Mean ticks of the short (0) and long (1) chains of one window. Returns false where one of them is missing. */
static bool window_means(const struct timing_raw *r, size_t n, double mean[2])
{
    double ticks[2][WINDOW];
    size_t count[2] = { 0, 0 };

    for (size_t i = 0; i < n; i++) {
        unsigned kind = r[i].blocks & 1;
        ticks[kind][count[kind]++] = (double)(r[i].end - r[i].begin);
    }
    if (count[0] < WINDOW / 16 || count[1] < WINDOW / 16) {
        return false;
    }
    mean[0] = trimmed_mean(ticks[0], count[0]);
    mean[1] = trimmed_mean(ticks[1], count[1]);
    return true;
}

/* 1.4826 * the median absolute deviation is the standard deviation, and pi/2 the loss of a median, of normal data. */
static double median_error(double *v, size_t n, double middle)
{
    for (size_t i = 0; i < n; i++) {
        v[i] = fabs(v[i] - middle);
    }
    return 1.4826 * median(v, n) * sqrt(M_PI / 2 / (double)n);
}

int timing_chain_cost(const struct timing_raw *r, size_t n, struct timing_cost *out)
{
    size_t windows = n / WINDOW, used = 0;
    double *cost = calloc(3 * windows + 1, sizeof *cost);

    if (cost == NULL) {
        return -1;
    }
    double *ticks[2] = { cost + windows, cost + 2 * windows };
    for (size_t w = 0; w < windows; w++) {
        double mean[2];
        if (window_means(r + w * WINDOW, WINDOW, mean) && mean[1] > mean[0]) {
            cost[used] = (CHAIN_LONG_ADDS * mean[0] - CHAIN_SHORT_ADDS * mean[1]) / (mean[1] - mean[0]);
            ticks[0][used] = mean[0];
            ticks[1][used] = mean[1];
            used++;
        }
    }
    bool enough = used >= 3;
    if (enough) {
        out->cycles = median(cost, used);
        out->error = median_error(cost, used, out->cycles);
        out->ticks[0] = median(ticks[0], used);
        out->ticks[1] = median(ticks[1], used);
    }
    free(cost);
    return enough ? 0 : -1;
}

void timing_cost_follow(struct timing_cost *known, const struct timing_cost *seen)
{
    double difference = seen->cycles - known->cycles;

    if (fabs(difference) > 5 * seen->error + 0.5) {
        *known = *seen;
        return;
    }
    known->cycles += difference / 4;
    known->error = seen->error;
    known->ticks[0] = seen->ticks[0];
    known->ticks[1] = seen->ticks[1];
}

int timing_calibrate(const struct payload *p, double tsc_hz, double period_us, struct pace_lane *lane,
                     struct timing_cost *cost)
{
    const double tick_per_us = tsc_hz * 1e-6;
    struct timing_raw *raw = calloc(CALIBRATION_READINGS + PACE_EXTRA, sizeof *raw);

    if (raw == NULL) {
        return -1;
    }
    silicon_lane_measure(p, tsc_hz, period_us, lane);

    /* longer periods change nothing in the cost of a reading: what precedes it is the same */
    uint64_t early = lane->early;
    lane->early = 0;
    struct pace_grid grid = { .period = (uint64_t)llround(fmin(period_us, 1) * tick_per_us) };
    grid.now = tsc_now();
    grid.next = grid.now + grid.period;
    size_t n = timing_sample(lane, &grid, grid.now + CALIBRATION_READINGS * grid.period, raw);
    int status = timing_chain_cost(raw, n, cost);
    free(raw);
    lane->early = early;
    return status;
}
