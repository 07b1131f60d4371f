/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frequency by chains of adds: their cost, and how well they measure it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/timing/timing_chains.h"
#include "util/order.h"

/* Readings of a window, in which the frequency hardly changes: some 0.1 ms at the shortest period; fewer where there
 * are few, and no cost from fewer windows than have a median. */
enum { WINDOW = 128, WINDOW_LEAST = 32, WINDOWS_LEAST = 3 };
/* Steps of the TSC below this move a chain of 200 adds by less than 3 % at 3 GHz, which is not worth a remark. */
#define COARSE_STEP_NS 2.0
/* At 3 GHz the longest chains, one sample in four, take a quarter of samples of so long a period. */
#define STEADY_PERIOD_US 15.0
#define JUMP 0.5 /* cycles by which a window is off at least to be left out */

struct chain_choice timing_choose_chains(double step, double tsc_hz, double period_us)
{
    const double step_ns = step / tsc_hz * 1e9, usual_ghz = 3, doublings = ceil(log2(STEADY_PERIOD_US / period_us));

    /* one and a half steps: 0.75 at 1.5 GHz and 2.5 at 5 leave 3 % of an error, and what is between them less */
    return (struct chain_choice){.steady_from = (unsigned)fmax(0, doublings),
                                 .dither = (uint32_t)fmin(65536, ceil(1.5 * step_ns * usual_ghz))};
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

/* Readings in two lengths: how many adds each has. */
struct lengths {
    enum chain_kind kind[2];
    double adds[2];
};

static struct lengths lengths_of(bool steady)
{
    struct lengths l = {{CHAIN_SHORT, CHAIN_LONG}, {0}};

    if (steady)
        l = (struct lengths){{CHAIN_STEADY_SHORT, CHAIN_STEADY_LONG}, {0}};
    for (int k = 0; k < 2; k++)
        l.adds[k] = chain_adds(l.kind[k]);
    return l;
}

/* The means (order_stepped_mean()), in ticks, of the short (0) and long (1) chains among n readings; scratch of 2 n.
 * False where one of them is missing, or where the long ones took no longer, which no cost explains: such readings mean
 * nothing. */
static bool chain_means(const struct chain_raw *r, size_t n, const struct lengths *l, double step, double mean[2],
                        double *scratch)
{
    for (unsigned kind = 0; kind < 2; kind++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            if (chain_kind_of(&r[i]) == l->kind[kind])
                scratch[count++] = (double)(r[i].end - r[i].begin);
        if (count < n / 8 + 1)
            return false;
        double middle = order_median(scratch, count);
        mean[kind] = order_stepped_mean(scratch, count, middle, step, scratch + n);
    }
    return mean[1] > mean[0];
}

/* The means of the windows that are left, and k from them. */
static double pooled_cost(double (*mean)[2], size_t n, const struct lengths *chains, double pooled[2])
{
    pooled[0] = pooled[1] = 0;
    for (size_t w = 0; w < n; w++) {
        pooled[0] += mean[w][0] / (double)n;
        pooled[1] += mean[w][1] / (double)n;
    }
    return (chains->adds[1] * pooled[0] - chains->adds[0] * pooled[1]) / (pooled[1] - pooled[0]);
}

/* The residual of a window's means at k, in cycles: 0 on average. */
static double residual(const double mean[2], const struct lengths *chains, double k, const double pooled[2])
{
    return ((chains->adds[1] + k) * mean[0] - (chains->adds[0] + k) * mean[1]) / (pooled[1] - pooled[0]);
}

/* The error of a cost from n readings by the steps of the clock alone: few windows may agree by chance. */
static double step_error(const struct lengths *chains, double k, const double pooled[2], double step, double n)
{
    double one = step / sqrt(6) / (pooled[1] - pooled[0]);
    return one * hypot(chains->adds[1] + k, chains->adds[0] + k) / sqrt(n / 2);
}

/* Leaves out windows in which something happened to the one kind of chain. Returns how many are left. */
static size_t drop_odd_windows(double (*mean)[2], size_t n, const struct lengths *chains, double *scratch)
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

int timing_chain_cost(const struct chain_raw *r, size_t n, bool steady, double step, struct timing_cost *out)
{
    const struct lengths lengths = lengths_of(steady), *chains = &lengths;
    size_t window = n >= (size_t)WINDOWS_LEAST * WINDOW ? WINDOW : WINDOW_LEAST, windows = n / window, used = 0;
    double(*mean)[2] = calloc(windows + 1, sizeof *mean), *scratch = calloc(2 * (windows + WINDOW), sizeof *scratch);
    bool enough = false;

    if (mean == NULL || scratch == NULL) {
        free(mean);
        free(scratch);
        return -1;
    }
    for (size_t w = 0; w < windows; w++)
        used += chain_means(r + w * window, window, chains, step, mean[used], scratch);
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

int timing_follow(struct timing_lately *lately, const struct chain_raw *r, size_t n, bool steady, double step,
                  struct timing_cost *cost)
{
    const struct lengths l = lengths_of(steady);

    for (size_t i = 0; i < n; i++)
        if (chain_kind_of(&r[i]) == l.kind[0] || chain_kind_of(&r[i]) == l.kind[1])
            lately->chain[lately->n++ % TIMING_LATELY] = r[i];
    return timing_chain_cost(lately->chain, lately->n < TIMING_LATELY ? lately->n : TIMING_LATELY, steady, step, cost);
}

void timing_round(const struct timing_clock *clock, struct chain_raw *r, size_t n)
{
    for (size_t i = 0; clock->round > 1 && i < n; i++) {
        r[i].ended -= r[i].ended % clock->round;
        r[i].begin -= r[i].begin % clock->round;
        r[i].end -= r[i].end % clock->round;
    }
}

void timing_words(const struct chain_raw *raw, double cost, uint64_t instructions, unsigned per_block,
                  const struct counter_spec *counters, size_t n, struct timing_sums *sums, uint64_t *words)
{
    const unsigned adds = chain_adds(chain_kind_of(raw));

    sums->ticks += raw->end - raw->begin;
    sums->cycles += adds > 0 ? (uint64_t)llround((adds + cost) * CHAIN_CYCLE_UNIT) : 0;
    sums->reading += raw->end - raw->ended;
    words[RECORDING_TSC] = raw->end;
    words[RECORDING_INSTRUCTIONS] = instructions + chain_blocks(raw) * per_block;
    for (size_t c = 0; c < n; c++)
        words[RECORDING_COUNTERS + c] = counters[c].id == COUNTER_CHAIN_TICKS    ? sums->ticks
                                        : counters[c].id == COUNTER_CHAIN_CYCLES ? sums->cycles
                                        : counters[c].id == COUNTER_READ_TICKS   ? sums->reading
                                                                                 : COUNTER_MISSING;
}
