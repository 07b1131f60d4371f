/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples too short for their clock are joined into ones that the analysis can read, and parts are cut out of a
 * trace.
 */
#include "analysis/phases/joined.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/clock.h"

void joined_part_free(struct trace *out)
{
    free(out->run);
    free(out->time_us);
    for (int c = 0; c < TRACE_CHANNELS; c++)
        free(out->channel[c]);
    memset(out, 0, sizeof *out);
}

struct trace joined_described_by(const struct trace *null, const struct trace *t)
{
    struct trace named = null ? *null : *t;
    named.meta = t->meta;
    named.n_meta = t->n_meta;
    return named;
}

int joined_part_begin(const struct trace *t, struct trace *out)
{
    *out = *t;
    out->run = t->run ? malloc((t->n + 1) * sizeof *out->run) : NULL;
    out->time_us = malloc((t->n + 1) * sizeof *out->time_us);
    bool bad = !out->time_us || (t->run && !out->run);
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        out->channel[c] = t->channel[c] ? malloc((t->n + 1) * sizeof *out->channel[c]) : NULL;
        bad = bad || (t->channel[c] && !out->channel[c]);
    }
    out->n = out->n_extra = 0;
    out->capacity = t->n;
    if (bad)
        joined_part_free(out);
    return bad ? -1 : 0;
}

void joined_part_take(const struct trace *t, size_t i, struct trace *out)
{
    size_t n = out->n++;
    out->time_us[n] = t->time_us[i];
    if (t->run)
        out->run[n] = t->run[i];
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (t->channel[c])
            out->channel[c][n] = t->channel[c][i];
}

/* Of a period: how long samples are that are joined by twos, and those that are left as they are. Others are joined by
 * fours, which makes a period at full rate (doc/formats.md). Not by their time: the noise of time stamps would choose
 * where each group ends. */
#define BY_TWOS 0.36
/* Of a period: samples at least this long stand alone, shorter ones are joined. */
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

/* The time of a sample, us; 0: of the first one, which is not known. */
static double sample_us(const struct trace *t, size_t i, size_t first)
{
    return i > first ? t->time_us[i] - t->time_us[i - 1] : 0;
}

static bool begins_behind_switch(const struct trace *t, size_t i, size_t first)
{
    return i > first && t->time_us[i] > 1e-9 && t->time_us[i - 1] <= 1e-9;
}

/* Sample i goes into the open group, or `begins` one of `wanted`, or stands alone. */
static void group_take(const struct trace *t, size_t i, double us, double ghz, bool alone, bool begins, size_t wanted,
                       struct open_group *g, struct trace *out)
{
    if (alone || begins || g->n == g->wanted)
        *g = (struct open_group){.wanted = wanted};
    if (g->n)
        out->n--;
    joined_part_take(t, i, out);
    if (alone)
        return;
    group_add(t, i, us, ghz, g);
    group_write(t, g, out);
}

static void join_run(const struct trace *t, size_t first, size_t past, double period, struct trace *out)
{
    const float *freq = t->channel[TRACE_FREQ];
    struct open_group g = {.wanted = 0};
    for (size_t i = first; i < past; i++) {
        /* how long the first one is, the next one tells */
        double us = sample_us(t, i == first && i + 1 < past ? i + 1 : i, first);
        bool alone = !(us > 0 && us < ALONE * period) || isnan(freq[i]);
        group_take(t, i, us, (double)freq[i], alone, begins_behind_switch(t, i, first),
                   lasts(t, i, first, past) < BY_TWOS * period ? 4 : 2, &g, out);
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
    const double mean = clock_mean_of_chains(t, first, past, x);
    double ghz = mean;
    struct open_group g = {.wanted = 0};
    for (size_t i = first; i < past; i++) {
        double us = sample_us(t, i, first);
        bool alone = !(us > 0 && us < ALONE * period) || isnan(t->channel[TRACE_IPC][i]) || isnan(mean);
        bool begins = begins_behind_switch(t, i, first) || (i > first && freq[i - 1] > 0);
        group_take(t, i, us, mean, alone, begins, 4, &g, out);
        if (isnan(mean)) /* scattered voltages */
            continue;
        ghz = freq[i] > 0 ? (double)freq[i] : ghz;
        /* what lost time in a sample has done in it is shown by its rate */
        bool lost = alone && i > first + 1 && i + 1 < past && us > LOST * sample_us(t, i - 1, first) &&
                    us > LOST * sample_us(t, i + 1, first);
        out->channel[TRACE_FREQ][out->n - 1] = lost ? (float)ghz : freq[i];
        out->channel[TRACE_IPC][out->n - 1] *= (float)(mean / ghz);
    }
}

static bool can_be_joined(const struct trace *t, const struct clock_reading *clock, double period)
{
    return clock->fixed_work && period > 0 && t->channel[TRACE_FREQ] &&
           (!clock->instant || (t->channel[TRACE_IPC] && trace_frequency_share(t) < 0.6));
}

int joined_samples(const struct trace *t, struct joined *out)
{
    const double period = trace_number(t, "period_us");
    const struct clock_reading clock = clock_reading_of(t);
    *out = (struct joined){*t, can_be_joined(t, &clock, period)};
    if (!out->own)
        return 0;
    double *x = malloc((t->n + 1) * sizeof *x);
    if (!x || joined_part_begin(t, &out->trace)) {
        free(x);
        *out = (struct joined){*t, false};
        return -1;
    }
    for (size_t first = 0, past; first < t->n; first = past) {
        past = trace_run_end(t, first);
        if (clock.instant)
            join_run_of_chains(t, first, past, period, x, &out->trace);
        else
            join_run(t, first, past, period, &out->trace);
    }
    free(x);
    return 0;
}

void joined_free(struct joined *j)
{
    if (j->own)
        joined_part_free(&j->trace);
    *j = (struct joined){.own = false};
}
