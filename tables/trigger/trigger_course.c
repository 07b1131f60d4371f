/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/trigger/trigger_fit.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

#define FAR_US 50.0
#define BIN_MOST_US 70.0
#define BINS_LEAST 40       /* in a burst */
#define SAME_FREQUENCY 0.01 /* relative, as in trigger.c */
#define MOST_FREQUENCY 0.02 /* levels differ by 2.5 % at least */
#define SIGMAS 4.0          /* of the scatter of a steady frequency: farther is another one */
#define FULL 0.85           /* of the full rate */

static bool same_within(const struct sight *a, const struct sight *b, double tolerance)
{
    if (!isnan(a->level) && !isnan(b->level))
        return fabs(a->level - b->level) < 0.5;
    return fabs(log(a->freq / b->freq)) < tolerance;
}

bool trigger_same_level(const struct sight *a, const struct sight *b)
{
    return same_within(a, b, SAME_FREQUENCY);
}

/* a has a higher license level than b, or a lower frequency. */
static bool trigger_course_is_lower(const struct sight *a, const struct sight *b)
{
    if (trigger_same_level(a, b))
        return false;
    return !isnan(a->level) && !isnan(b->level) ? a->level > b->level : a->freq < b->freq;
}

/* Bins of equal length one after the other. One without samples (the core was halted) has a frequency of NaN. */
struct bins {
    size_t n;
    struct sight *sight;
    double tolerance; /* of log frequency: what is farther apart is not the same */
};

static bool empty(const struct bins *b, size_t i)
{
    return isnan(b->sight[i].freq);
}

/* Samples [first, last) as one sight. */
static struct sight sum_up(const struct trace *t, size_t first, size_t last, double *scratch)
{
    struct sight out = {NAN, NAN, NAN, 0};
    const float *one = t->channel[TRACE_LVL1], *two = t->channel[TRACE_LVL2];
    struct clock_reading clock = clock_reading_of(t);
    double level = 0;
    size_t n = last - first;
    if (!n)
        return out;
    for (size_t i = 0; i < n; i++)
        scratch[i] = (double)t->channel[TRACE_FREQ][first + i];
    out.freq = clock_middle(&clock, TRACE_FREQ, scratch, n, scratch + n);
    for (size_t i = 0; i < n; i++)
        scratch[i] = (double)t->channel[TRACE_IPC][first + i];
    out.ipc = clock_middle(&clock, TRACE_IPC, scratch, n, scratch + n);
    for (size_t i = first; i < last && one && two; i++)
        level += (double)one[i] + 2 * (double)two[i];
    out.level = one && two ? level / (double)n : NAN;
    return out;
}

static int make_bins(const struct trace *t, struct sights_span s, double from, double to, double bin_us,
                     struct bins *out)
{
    double *scratch = malloc(2 * (s.last - s.first + 1) * sizeof *scratch);
    out->n = (size_t)fmax(0, floor((to - from) / bin_us + 1e-6));
    out->sight = calloc(out->n + 1, sizeof *out->sight);
    if (!scratch || !out->sight) {
        free(scratch);
        free(out->sight);
        return -1;
    }
    size_t at = s.first;
    while (at < s.last && t->time_us[at] <= from)
        at++;
    for (size_t i = 0; i < out->n; i++) {
        size_t first = at;
        while (at < s.last && t->time_us[at] <= from + (double)(i + 1) * bin_us)
            at++;
        out->sight[i] = sum_up(t, first, at, scratch);
    }
    free(scratch);
    return 0;
}

/* By how much the frequencies of the last quarter scatter is what cannot be told apart. */
static int find_tolerance(struct bins *b)
{
    size_t from = b->n - b->n / 4, n = b->n - from;
    double *x = malloc((2 * n + 1) * sizeof *x);
    if (!x)
        return -1;
    for (size_t i = 0; i < n; i++)
        x[n + i] = x[i] = log(b->sight[from + i].freq);
    double centre = order_median(x, n);
    for (size_t i = 0; i < n; i++)
        x[i] = fabs(x[n + i] - centre);
    double sigma = MAD_TO_SIGMA * order_median(x, n);
    b->tolerance = sigma > 0 ? fmax(SAME_FREQUENCY, SIGMAS * sigma) : SAME_FREQUENCY;
    free(x);
    return 0;
}

/* Bins of the burst, long enough to measure the frequency well in them, as far as that is possible. */
static int burst_bins(const struct trace *t, struct sights_span s, double begin_us, double *bin_us, struct bins *out)
{
    for (;; *bin_us *= 2) {
        if (make_bins(t, s, begin_us, 0, *bin_us, out))
            return -1;
        if (find_tolerance(out)) {
            free(out->sight);
            return -1;
        }
        bool counted = out->n > 0 && !isnan(out->sight[out->n - 1].level);
        bool last = 2 * *bin_us > BIN_MOST_US || -begin_us < BINS_LEAST * *bin_us;
        if (counted || last || out->tolerance <= SAME_FREQUENCY)
            break;
        free(out->sight);
    }
    out->tolerance = fmin(out->tolerance, MOST_FREQUENCY);
    return 0;
}

static bool trigger_course_alike(const struct bins *b, size_t i, const struct sight *as)
{
    return same_within(&b->sight[i], as, b->tolerance) && b->sight[i].ipc >= FULL * as->ipc;
}

/* Where the last two neighbours that do not run as `end` end, and the halt behind them. 0: there are none. */
static size_t last_unlike(const struct bins *b, const struct sight *end)
{
    size_t row = 0, found = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (empty(b, i)) {
            found = found == i && i ? i + 1 : found;
            continue;
        }
        row = trigger_course_alike(b, i, end) ? 0 : row + 1;
        /* what begins with the burst is no accident even if it is short */
        if (row >= 2 || (row == 1 && i == 0))
            found = i + 1;
    }
    return found;
}

/* The lowest level of the plain code that lasts for two bins. */
static struct sight lowest_of(const struct bins *b, const struct sight *plain)
{
    struct sight lowest = *plain;
    for (size_t i = 0; i + 1 < b->n; i++)
        if (!empty(b, i) && !empty(b, i + 1) && trigger_same_level(&b->sight[i], &b->sight[i + 1]) &&
            trigger_course_is_lower(&b->sight[i], &lowest))
            lowest = b->sight[i];
    return lowest;
}

static void trigger_course_follow(const struct bins *b, const struct sight *plain, double bin_us,
                                  struct trigger_course *out)
{
    struct sight lowest = lowest_of(b, plain);
    size_t row = 0, from = b->n, to = b->n;
    bool lower = trigger_course_is_lower(&lowest, plain);
    lowest.ipc = plain->ipc;
    for (size_t i = 0; i < b->n && from == b->n; i++)
        if (!empty(b, i) && trigger_course_alike(b, i, &lowest) &&
            (i + 1 == b->n || empty(b, i + 1) || trigger_course_alike(b, i + 1, &lowest)))
            from = i;
    for (size_t i = from; i < b->n && to == b->n; i++) {
        row = empty(b, i) ? row : same_within(&b->sight[i], &lowest, b->tolerance) ? 0 : row + 1;
        if (row == 2)
            to = i - 1;
    }
    out->after_us = (double)from * bin_us;
    out->back_us = !lower ? NAN : to == b->n ? INFINITY : (double)to * bin_us;
}

const char *trigger_course(const struct trace *t, struct sights_span s, double begin_us, double bin_us,
                           const struct sight *plain, struct trigger_course *out)
{
    const char *why = sights_look(t, s, begin_us / 4, 0, &out->steady);
    struct sight end;
    struct bins burst, after;
    /* nothing may have interrupted the rest either */
    if (why || s.first == s.last || (why = sights_look(t, s, 0, t->time_us[s.last - 1], &end)))
        return why ? why : "nothing was recorded";
    if (burst_bins(t, s, begin_us, &bin_us, &burst))
        return "out of memory";
    if (make_bins(t, s, 0, t->time_us[s.last - 1], bin_us, &after)) {
        free(burst.sight);
        return "out of memory";
    }
    after.tolerance = burst.tolerance;
    out->bin_us = bin_us;
    out->settled_us = (double)last_unlike(&burst, &out->steady) * bin_us;
    trigger_course_follow(&after, plain, bin_us, out);
    if (isnan(out->back_us) && trigger_course_is_lower(&out->steady, plain))
        out->back_us = 0; /* too soon to be seen */
    free(burst.sight);
    free(after.sight);
    return NULL;
}

/* The largest of those that are not far from the median: what is was disturbed by something else. */
static double trigger_course_largest(double *x, size_t n)
{
    double most = 2 * order_median(x, n) + FAR_US, found = 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] <= most)
            found = fmax(found, x[i]);
    return found;
}

/* The smallest, likewise. */
static double smallest(double *x, size_t n)
{
    double least = 0.5 * (order_median(x, n) - FAR_US), found = INFINITY;
    for (size_t i = 0; i < n; i++)
        if (x[i] >= least)
            found = fmin(found, x[i]);
    return found;
}

/* Until when the plain code behind the burst stays slower, of those in which it is. */
static void trigger_course_put_back(struct trigger_pilot *out, double *back, size_t m)
{
    if (!m)
        return;
    out->back_us = smallest(back, m);
    size_t finite = 0; /* those that were not back have no time to wait for */
    for (size_t i = 0; i < m; i++)
        if (isfinite(back[i]))
            back[finite++] = back[i];
    for (size_t i = 0; i < finite; i++)
        out->back_most_us = fmax(out->back_most_us, back[i]);
    out->back_usual_us = finite ? order_median(back, finite) : 0;
}

void trigger_pilot(const struct trigger_course *c, size_t n, const struct sight *plain, struct trigger_pilot *out)
{
    double freq[64], level[64], ipc[64], back[64], settled[64], after[64];
    size_t m = 0, stays = 0;
    *out = (struct trigger_pilot){.plain = *plain, .back_us = INFINITY};
    for (size_t i = 0; i < n; i++) {
        freq[i] = c[i].steady.freq;
        level[i] = c[i].steady.level;
        ipc[i] = c[i].steady.ipc;
        settled[i] = c[i].settled_us;
        after[i] = c[i].after_us;
        out->bin_us = fmax(out->bin_us, c[i].bin_us);
        stays += isinf(c[i].back_us);
        if (!isnan(c[i].back_us))
            back[m++] = c[i].back_us;
    }
    out->steady = (struct sight){order_median(freq, n), order_median(ipc, n), order_median(level, n), 0};
    out->counted = !isnan(out->steady.level) && !isnan(plain->level);
    out->settled_us = trigger_course_largest(settled, n);
    out->after_us = trigger_course_largest(after, n);
    out->lower = 2 * m > n;
    out->stays = out->lower && 2 * stays > m; /* of those that were lower at all */
    trigger_course_put_back(out, back, m);
}
