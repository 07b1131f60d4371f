/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/joined.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/part.h"
#include "analysis/phases/repetitions/clock.h"

/* Of a period: how long samples are that are joined by twos, and those that are left as they are. Others are joined by
 * fours, which makes a period at full rate (doc/formats.md). Not by their time: the noise of time stamps would choose
 * where each group ends. */
#define BY_TWOS 0.36
#define ALONE 0.75
#define LOST 1.75 /* a sample that lasts so many times as long as others lost time */

/* Samples become one: the last of them, with what is right for all. */
struct open_group {
    size_t n, wanted;
    double us, cycles, of_cycles[TRACE_CHANNELS];
};

/* Of a sample of so many us, at so many GHz: cycles by time; all else is per cycle. */
static void group_add(const struct trace *t, size_t i, double us, double ghz, struct open_group *g)
{
    g->n++;
    g->us += us;
    g->cycles += us * ghz;
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (t->channel[c])
            g->of_cycles[c] += us * ghz * (double)t->channel[c][i];
}

static void group_write(const struct trace *t, const struct open_group *g, struct trace *out)
{
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (t->channel[c])
            out->channel[c][out->n - 1] = (float)(c == TRACE_FREQ ? g->cycles / g->us : g->of_cycles[c] / g->cycles);
}

/* How long samples from i on last, us: the mean of four, in which the noise of time stamps is small; 0: not known. */
static double lasts(const struct trace *t, size_t i, size_t first, size_t past)
{
    size_t from = i > first ? i - 1 : i, to = from + 4 < past ? from + 4 : past - 1;
    return to > from ? (t->time_us[to] - t->time_us[from]) / (double)(to - from) : 0;
}

static void join_run(const struct trace *t, size_t first, size_t past, double period, struct trace *out)
{
    const float *freq = t->channel[TRACE_FREQ];
    struct open_group g = {.wanted = 0};
    for (size_t i = first; i < past; i++) {
        size_t near = i > first ? i : i + 1 < past ? i + 1 : i; /* how long the first one is, the next one tells */
        double us = near > first ? t->time_us[near] - t->time_us[near - 1] : 0;
        bool alone = !(us > 0 && us < ALONE * period) || isnan(freq[i]);
        if (alone || g.n == g.wanted || (i > first && t->time_us[i] > 1e-9 && t->time_us[i - 1] <= 1e-9))
            g = (struct open_group){.wanted = lasts(t, i, first, past) < BY_TWOS * period ? 4 : 2};
        if (g.n)
            out->n--;
        part_take(t, i, out);
        if (alone)
            continue;
        group_add(t, i, us, (double)freq[i], &g);
        group_write(t, &g, out);
    }
}

/*
 * By chains: samples up to the next one with a chain, four at most. Their IPC, which is reckoned with the mean clock of
 * all chains, becomes that of the last chain: each sample then has the clock at its end, and its IPC goes by it. x:
 * scratch.
 */
static void join_run_of_chains(const struct trace *t, size_t first, size_t past, double period, double *x,
                               struct trace *out)
{
    const float *freq = t->channel[TRACE_FREQ];
    double mean = clock_mean_of_chains(t, first, past, x), ghz = mean;
    struct open_group g = {.wanted = 0};
    if (!(mean > 0)) { /* scattered voltages */
        for (size_t i = first; i < past; i++)
            part_take(t, i, out);
        return;
    }
    for (size_t i = first; i < past; i++) {
        double us = i > first ? t->time_us[i] - t->time_us[i - 1] : 0;
        bool alone = !(us > 0 && us < ALONE * period) || isnan(t->channel[TRACE_IPC][i]);
        if (alone || g.n == 4 ||
            (i > first && (freq[i - 1] > 0 || (t->time_us[i] > 1e-9 && t->time_us[i - 1] <= 1e-9))))
            g = (struct open_group){.wanted = 4};
        if (g.n)
            out->n--;
        part_take(t, i, out);
        ghz = freq[i] > 0 ? (double)freq[i] : ghz;
        if (!alone) {
            group_add(t, i, us, mean, &g);
            group_write(t, &g, out);
        }
        /* what lost time in a sample has done in it is told by its rate */
        bool lost = alone && i > first + 1 && i + 1 < past && us > LOST * (t->time_us[i - 1] - t->time_us[i - 2]) &&
                    us > LOST * (t->time_us[i + 1] - t->time_us[i]);
        out->channel[TRACE_FREQ][out->n - 1] = lost ? (float)ghz : freq[i];
        out->channel[TRACE_IPC][out->n - 1] *= (float)(mean / ghz);
    }
}

int joined_samples(const struct trace *t, struct trace *out, bool *joined)
{
    const char *sampler = trace_get(t, "sampler"), *text = trace_get(t, "period_us");
    double period = text ? strtod(text, NULL) : 0;
    bool chains = clock_reading_of(t).instant;
    *joined = sampler && !strcmp(sampler, "fixed work") && period > 0 && t->channel[TRACE_FREQ] &&
              (!chains || (t->channel[TRACE_IPC] && trace_frequency_share(t) < 0.6));
    *out = *t;
    if (!*joined)
        return 0;
    double *x = malloc((t->n + 1) * sizeof *x);
    if (!x || part_begin(t, out)) {
        free(x);
        *joined = false;
        return -1;
    }
    for (size_t first = 0, past; first < t->n; first = past) {
        past = trace_run_end(t, first);
        if (chains)
            join_run_of_chains(t, first, past, period, x, out);
        else
            join_run(t, first, past, period, out);
    }
    free(x);
    return 0;
}
