/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/repetitions/slow_start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/phases/repetitions/runs.h"
#include "util/order.h"

/* Periods after the switch: what is over by the first is short; what is lost before the second counts; the rate between
 * the second and the third is what the kernel keeps. */
#define SLOW_START_OVER 5
#define LOOKED_AT 8
#define KEPT_UNTIL 30
enum { RUNS_LEAST = 4, SAMPLES_MOST = 256, KEPT_LEAST = 6 };
#define LOST_LEAST (1.0 / 3) /* periods */
#define LOST_Z 6.0
#define FULL_AGAIN 0.94 /* of the rate that it keeps */
#define SLOW 0.9
#define PAUSE 3.0 /* periods */
/* Chains that wait for their adds hardly ever read so far off, and as often too fast as too slow. */
#define CHAIN_OFF 0.1
#define CHAINS_SLOW 0.2 /* of the slow samples */

/* The first samples of one repetition behind the switch. */
struct start {
    size_t first, end;    /* what is looked at */
    double rate;          /* that is kept: 1000 instructions a us; NaN: this repetition does not tell */
    double freq;          /* GHz, then */
    double lost, late_us; /* us; how much of it, per us, is left after what is short */
};

static double start_rate(const struct trace *t, size_t i)
{
    return (double)t->channel[TRACE_IPC][i] * (double)t->channel[TRACE_FREQ][i];
}

/* Rate and frequency that the repetition keeps. x: scratch of 3 * SAMPLES_MOST. */
static void find_kept(const struct trace *t, size_t end, double unit, double *x, struct start *s)
{
    const struct clock_reading clock = clock_reading_of(t);
    double *freq = x + SAMPLES_MOST;
    size_t m = 0;
    for (size_t i = s->end; i < end && t->time_us[i] <= KEPT_UNTIL * unit && m < SAMPLES_MOST; i++)
        if (!isnan(start_rate(t, i))) {
            freq[m] = (double)t->channel[TRACE_FREQ][i];
            x[m++] = start_rate(t, i);
        }
    s->rate = m < KEPT_LEAST ? NAN : order_median(x, m);
    s->freq = clock_middle(&clock, TRACE_FREQ, freq, m, freq + SAMPLES_MOST);
}

/* `unit`: what the periods above are, us. */
static struct start look_at_start(const struct trace *t, size_t begin, size_t end, double period_us, double unit,
                                  double *x)
{
    struct start s = {.first = begin, .rate = NAN};
    while (s.first < end && t->time_us[s.first] <= RUNS_ALIGNED * period_us)
        s.first++;
    s.end = s.first;
    while (s.end < end && t->time_us[s.end] <= LOOKED_AT * unit)
        s.end++;
    if (s.first == begin || s.first == s.end)
        return s;
    find_kept(t, end, unit, x, &s);
    double late = 0, late_us = 0;
    for (size_t i = s.first; i < s.end && !isnan(s.rate); i++) {
        double us = t->time_us[i] - t->time_us[i - 1], slower = 1 - start_rate(t, i) / s.rate;
        if (isnan(slower) || us > PAUSE * period_us) { /* interrupted, or halted: runs.c sees to that */
            s.rate = NAN;
            break;
        }
        s.lost += us * slower;
        if (t->time_us[i] - us >= SLOW_START_OVER * unit) {
            late += us * slower;
            late_us += us;
        }
    }
    if (!(late <= (1 - FULL_AGAIN) * late_us))
        s.rate = NAN;
    return s;
}

/* Whether most repetitions start slowly, for a short time. */
static int most_are_slow(const struct trace *t, double period_us, double unit, bool *slow)
{
    size_t runs = trace_count_runs(t), m = 0;
    double window[3 * SAMPLES_MOST];
    *slow = false;
    if (!t->run || !t->channel[TRACE_IPC] || !t->channel[TRACE_FREQ] || runs < RUNS_LEAST)
        return 0;
    double *x = malloc(2 * runs * sizeof *x);
    if (!x)
        return -1;
    for (size_t begin = 0, end; begin < t->n && m < runs; begin = end) {
        end = trace_run_end(t, begin);
        const struct start s = look_at_start(t, begin, end, period_us, unit, window);
        if (!isnan(s.rate))
            x[m++] = s.lost;
    }
    double middle = order_median(x, m), sigma = order_mad_sigma(x, m, middle, x + runs);
    *slow = 2 * m >= runs && middle > LOST_LEAST * period_us && middle * sqrt((double)m) > LOST_Z * sigma;
    free(x);
    return 0;
}

int slow_start_too_short(const struct trace *t, double period_us, bool *slow)
{
    return most_are_slow(t, period_us, period_us, slow);
}

static void start_put_right(const struct trace *t, const struct start *s, double reading_us, struct slow_start *out)
{
    for (size_t i = s->first; i < s->end && start_rate(t, i) < SLOW * s->rate; i++) {
        double share = reading_us / (t->time_us[i] - t->time_us[i - 1]);
        out->freq[i] = NAN;
        out->ipc[i] = (float)(clock_slowed_rate(start_rate(t, i), s->rate, share) / s->freq);
    }
}

/* A repetition that does not tell (interrupted, perhaps) has slow samples, too. */
static void start_leave_out(const struct trace *t, size_t begin, size_t end, double until_us, struct slow_start *out)
{
    for (size_t i = begin; i < end && t->time_us[i] <= until_us; i++)
        if (t->time_us[i] > 0)
            out->freq[i] = out->ipc[i] = NAN;
}

/* Of the slow samples of a repetition: how many there are, and how many more chains read slow than fast. */
static void count_chains(const struct trace *t, const struct start *s, double *slow, double *samples)
{
    for (size_t i = s->first; i < s->end && start_rate(t, i) < SLOW * s->rate; i++) {
        double off = (double)t->channel[TRACE_FREQ][i] / s->freq;
        *slow += (off < 1 - CHAIN_OFF) - (off > 1 + CHAIN_OFF);
        *samples += 1;
    }
}

/* Whether what slows the payload slows the chains. */
static bool chains_are_slow(const struct trace *t, double period_us)
{
    double window[3 * SAMPLES_MOST], slow = 0, samples = 0;
    for (size_t begin = 0, end; begin < t->n; begin = end) {
        end = trace_run_end(t, begin);
        const struct start s = look_at_start(t, begin, end, period_us, 2 * period_us, window);
        if (!isnan(s.rate))
            count_chains(t, &s, &slow, &samples);
    }
    return slow > CHAINS_SLOW * samples;
}

int slow_start_find(const struct trace *t, double period_us, struct slow_start *out)
{
    const struct clock_reading clock = clock_reading_of(t);
    double window[3 * SAMPLES_MOST];
    bool slow;
    *out = (struct slow_start){NULL, NULL};
    if (!clock.instant)
        return 0;
    if (most_are_slow(t, period_us, 2 * period_us, &slow))
        return -1;
    if (!slow || !chains_are_slow(t, period_us))
        return 0;
    out->freq = malloc(t->n * sizeof *out->freq);
    out->ipc = malloc(t->n * sizeof *out->ipc);
    if (!out->freq || !out->ipc)
        return -1;
    memcpy(out->freq, t->channel[TRACE_FREQ], t->n * sizeof *out->freq);
    memcpy(out->ipc, t->channel[TRACE_IPC], t->n * sizeof *out->ipc);
    for (size_t begin = 0, end; begin < t->n; begin = end) {
        end = trace_run_end(t, begin);
        const struct start s = look_at_start(t, begin, end, period_us, 2 * period_us, window);
        if (isnan(s.rate))
            start_leave_out(t, begin, end, 2 * SLOW_START_OVER * period_us, out);
        else
            start_put_right(t, &s, clock.reading_us, out);
    }
    return 0;
}

void slow_start_free(struct slow_start *s)
{
    free(s->freq);
    free(s->ipc);
    *s = (struct slow_start){NULL, NULL};
}
