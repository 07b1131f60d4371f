/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the timing machine must know of a payload before it samples it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/native/native.h"
#include "drivers/timing/timing_calibrate.h"
#include "util/order.h"

enum { WINDOW = 128, WINDOW_LEAST = 32, WINDOWS_LEAST = 3 };
#define COARSE_STEP_NS 2.0
/* At 3 GHz chains take 2 % of these periods, or less, and 8 %. */
#define LONG_CHAINS_US 5.0
#define STEADY_CHAINS_US 15.0
/* Cycles by which the cost wanders at least from one repetition to the next; a jump is more. Where differences say that
 * it wanders by more, it is taken to do so, for a while. */
#define WANDER 0.1
#define WANDER_SIGMAS 3.0
#define WANDER_SHARE 0.25 /* of the last difference in what the wander is taken to be */
#define JUMP 0.5
#define SURE 1.0 /* ... if it is known to so many */

struct timing_chains timing_choose_chains(double step, double tsc_hz, double period_us)
{
    const double step_ns = step / tsc_hz * 1e9, usual_ghz = 3;

    /* one and a half steps: 0.75 at 1.5 GHz and 2.5 at 5 leave 3 % of an error, and what is between them less */
    uint32_t dither = (uint32_t)ceil(1.5 * step_ns * usual_ghz);

    if (period_us >= STEADY_CHAINS_US)
        return (struct timing_chains){{CHAIN_STEADY_SHORT_ADDS, CHAIN_STEADY_LONG_ADDS}, CHAIN_COARSE_TURNS, dither};
    return step_ns < COARSE_STEP_NS && period_us < LONG_CHAINS_US
               ? (struct timing_chains){{CHAIN_SHORT_ADDS, CHAIN_LONG_ADDS}, CHAIN_TURNS, dither}
               : (struct timing_chains){{CHAIN_LONG_ADDS, CHAIN_LONGEST_ADDS}, CHAIN_COARSE_TURNS, dither};
}

double timing_probe_us(const struct timing_chains *c)
{
    return timing_chains_steady(c) ? 5 : 1;
}

bool timing_steps_text(double step, double tsc_hz, double ticks, char *text, size_t size)
{
    const double step_ns = step / tsc_hz * 1e9, off = step / sqrt(6) / ticks;

    if (step_ns < COARSE_STEP_NS)
        return false;
    snprintf(text, size,
             "the TSC advances in steps of %.3g ns: a single sample gives the frequency to about %.0f %%, a hundred "
             "together to %.1f %%",
             step_ns, 100 * off, 10 * off);
    return true;
}

bool timing_chain_means(const struct timing_raw *r, size_t n, const struct timing_chains *chains, double step,
                        double mean[2], double *scratch)
{
    const size_t least[2] = {n / 16, n / chains->turns / 2};

    for (unsigned kind = 0; kind < 2; kind++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            if ((r[i].blocks & 1) == kind)
                scratch[count++] = (double)(r[i].end - r[i].begin);
        if (count == 0 || count < least[kind])
            return false;
        double middle = order_median(scratch, count);
        mean[kind] = order_stepped_mean(scratch, count, middle, step, scratch + n);
    }
    return mean[1] > mean[0];
}

/* The means of the windows that are left, and k from them. */
static double pooled_cost(double (*mean)[2], size_t n, const struct timing_chains *chains, double pooled[2])
{
    pooled[0] = pooled[1] = 0;
    for (size_t w = 0; w < n; w++) {
        pooled[0] += mean[w][0] / (double)n;
        pooled[1] += mean[w][1] / (double)n;
    }
    return (chains->adds[1] * pooled[0] - chains->adds[0] * pooled[1]) / (pooled[1] - pooled[0]);
}

/* What a window's means leave over at k, in cycles: 0 on average. */
static double residual(const double mean[2], const struct timing_chains *chains, double k, const double pooled[2])
{
    return ((chains->adds[1] + k) * mean[0] - (chains->adds[0] + k) * mean[1]) / (pooled[1] - pooled[0]);
}

/* What the steps of the clock alone do to a cost from n readings: few windows may agree by chance. */
static double step_error(const struct timing_chains *chains, double k, const double pooled[2], double step, double n)
{
    double longs = n / chains->turns, one = step / sqrt(6) / (pooled[1] - pooled[0]);
    return one * hypot((chains->adds[1] + k) / sqrt(n - longs), (chains->adds[0] + k) / sqrt(longs));
}

/* Leaves out windows in which something happened to the one kind of chain. Returns how many are left. */
static size_t drop_odd_windows(double (*mean)[2], size_t n, const struct timing_chains *chains, double *scratch)
{
    double pooled[2], k = pooled_cost(mean, n, chains, pooled);
    double *off = scratch, *copy = scratch + n;
    size_t kept = 0;

    for (size_t w = 0; w < n; w++)
        copy[w] = off[w] = residual(mean[w], chains, k, pooled);
    double middle = order_median(copy, n);
    for (size_t w = 0; w < n; w++)
        copy[w] = fabs(off[w] - middle);
    double bound = 5 * MAD_TO_SIGMA * order_median(copy, n) + JUMP;
    for (size_t w = 0; w < n; w++)
        if (fabs(off[w] - middle) <= bound)
            memmove(mean[kept++], mean[w], sizeof mean[w]);
    return kept;
}

int timing_chain_cost(const struct timing_raw *r, size_t n, const struct timing_chains *chains, double step,
                      struct timing_cost *out)
{
    size_t window = n >= (size_t)WINDOWS_LEAST * WINDOW ? WINDOW : WINDOW_LEAST, windows = n / window, used = 0;
    double(*mean)[2] = calloc(windows + 1, sizeof *mean), *scratch = calloc(2 * (windows + WINDOW), sizeof *scratch);
    bool enough = false;

    if (mean == NULL || scratch == NULL) {
        free(mean);
        free(scratch);
        return -1;
    }
    for (size_t w = 0; w < windows; w++)
        used += timing_chain_means(r + w * window, window, chains, step, mean[used], scratch);
    if (used >= WINDOWS_LEAST) {
        double pooled[2], squares = 0;
        used = drop_odd_windows(mean, used, chains, scratch);
        double k = pooled_cost(mean, used, chains, pooled);
        for (size_t w = 0; w < used; w++)
            squares += pow(residual(mean[w], chains, k, pooled), 2);
        *out = (struct timing_cost){.cycles = k,
                                    .ticks = {pooled[0], pooled[1]},
                                    .error = fmax(sqrt(squares / (double)used / (double)(used - 1)),
                                                  step_error(chains, k, pooled, step, (double)(used * window)))};
        enough = used >= WINDOWS_LEAST && pooled[1] > pooled[0];
    }
    free(mean);
    free(scratch);
    return enough ? 0 : -1;
}

void timing_cost_follow(struct timing_cost *known, const struct timing_cost *seen)
{
    double difference = seen->cycles - known->cycles, before = hypot(known->error, WANDER);
    double noise = hypot(before, seen->error), beyond = pow(difference, 2) - pow(WANDER_SIGMAS * noise, 2);

    if (fabs(difference) > 5 * noise + JUMP && seen->error < SURE) {
        double wander = known->wander;
        *known = *seen;
        known->wander = wander;
        return;
    }
    known->wander = sqrt((1 - WANDER_SHARE) * pow(known->wander, 2) + WANDER_SHARE * fmax(0, beyond));
    before = hypot(known->error, fmax(fmax(WANDER, seen->wander), known->wander));
    double gain = before * before / (before * before + seen->error * seen->error);
    known->cycles += gain * difference;
    known->error = sqrt(1 - gain) * before;
    known->ticks[0] = seen->ticks[0];
    known->ticks[1] = seen->ticks[1];
}

void timing_round(const struct timing_clock *clock, struct timing_raw *r, size_t n)
{
    for (size_t i = 0; clock->round > 1 && i < n; i++) {
        uint64_t ended = r[i].begin - chain_wait(r[i].blocks), wait;
        r[i].begin -= r[i].begin % clock->round;
        r[i].end -= r[i].end % clock->round;
        wait = r[i].begin - (ended - ended % clock->round);
        r[i].blocks = chain_word(timing_blocks(&r[i]), (unsigned)(r[i].blocks & 1), wait);
    }
}

void timing_words(const struct timing_raw *raw, const struct timing_chains *chains, double cost, uint64_t instructions,
                  unsigned per_block, const struct counter_spec *counters, size_t n, struct timing_sums *sums,
                  uint64_t *words)
{
    double adds = chains->adds[raw->blocks & 1];

    sums->ticks += raw->end - raw->begin;
    sums->cycles += (uint64_t)llround((adds + cost) * CHAIN_CYCLE_UNIT);
    sums->reading += raw->end - raw->begin + chain_wait(raw->blocks);
    words[RECORDING_TSC] = raw->end;
    words[RECORDING_INSTRUCTIONS] = instructions + timing_blocks(raw) * per_block;
    for (size_t c = 0; c < n; c++)
        words[RECORDING_COUNTERS + c] = counters[c].id == COUNTER_CHAIN_TICKS    ? sums->ticks
                                        : counters[c].id == COUNTER_CHAIN_CYCLES ? sums->cycles
                                        : counters[c].id == COUNTER_READ_TICKS   ? sums->reading
                                                                                 : COUNTER_MISSING;
}
