/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curves of a trace: medians over repetitions, single repetitions thinned to what can be seen, ranges. */
#include "output/plot/plot_series.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/clock.h"
#include "util/order.h"

/* Values that a range and the usual period are found from: more would take long and change nothing that can be seen. */
enum { RANGE_VALUES_MAX = 100000, PERIOD_VALUES_MAX = 100000 };
/* The running median of a channel that is read once a repetition is taken over 21 neighbors (the method for voltages
 * of the Skylake-SP dissertation, section 3.2.2). */
enum { MEDIAN_WINDOW = 21 };
/* Neighbors farther apart than this many periods are not joined: the core was halted between them. */
static const double GAP_PERIODS = 3;
/* One repetition in 20 is shown to its end only if one sample in 200 lies there. */
enum { LATE_RUNS = 20, LATE_SAMPLES = 200 };
/* The same of single readings of many repetitions, in their mean distances. */
static const double GAP_SPACINGS = 6;

/* A channel of a trace, and the curves that are made of it. */
struct drawing {
    const struct trace *t;
    const struct series_grid *g;
    const float *values;
    struct chart *c;
    struct chart_series *s;
};

static void add_point(const struct drawing *d, double time_us, double value)
{
    chart_add_point(d->c, d->s, time_us / d->g->unit_us, value, NAN, NAN);
}

static bool drawn(const struct drawing *d, size_t i)
{
    return isfinite(d->values[i]) && !d->g->left_out[i] && d->t->time_us[i] <= d->g->end_us;
}

/* ---- the grid ---- */

static int find_period(const struct trace *t, struct series_grid *g)
{
    g->period_us = NAN;
    size_t step = t->n / PERIOD_VALUES_MAX + 1, n = 0;
    double *distance = malloc((t->n / step + 1) * sizeof(*distance));
    if (distance == NULL)
        return -1;
    for (size_t i = 1; i < t->n; i += step) {
        bool same_run = t->run == NULL || t->run[i] == t->run[i - 1];
        if (same_run && t->time_us[i] > t->time_us[i - 1])
            distance[n++] = t->time_us[i] - t->time_us[i - 1];
    }
    if (n > 0)
        g->period_us = order_nth_smallest(distance, n, n / 2);
    free(distance);
    return 0;
}

static int find_left_out(const struct trace *t, const uint32_t *skip, size_t n_skip, struct series_grid *g)
{
    double gap = GAP_PERIODS * g->period_us;
    g->left_out = calloc(t->n, sizeof(*g->left_out));
    if (g->left_out == NULL)
        return -1;
    for (size_t first = 0, end; first < t->n; first = end) {
        end = trace_run_end(t, first);
        if (t->run != NULL && n_skip > 0 && bsearch(&t->run[first], skip, n_skip, sizeof(*skip), order_unsigned))
            memset(g->left_out + first, true, end - first);
        /* with neighbors on both sides: a stretch that is sampled less often has no ordinary distances */
        for (size_t i = first + 2; i + 1 < end; i++) {
            const double *time = &t->time_us[i];
            bool spans_gap = time[0] - time[-1] > gap && time[-1] - time[-2] <= gap && time[1] - time[0] <= gap;
            g->left_out[i] = g->left_out[i] || spans_gap;
        }
    }
    return 0;
}

/* The usual end: of the last sample, except for what single repetitions record beyond all others: those that were
 * interrupted. NaN: out of memory. */
static double usual_end(const struct trace *t, double last)
{
    double *x = malloc((trace_count_runs(t) + 1) * sizeof(*x));
    size_t n = 0, beyond = 0;
    if (x == NULL)
        return NAN;
    for (size_t first = 0, past; first < t->n; first = past) {
        past = trace_run_end(t, first);
        x[n++] = t->time_us[past - 1];
    }
    double end = order_nth_smallest(x, n, n - 1 - n / LATE_RUNS);
    for (size_t i = 0; i < t->n; i++)
        beyond += t->time_us[i] > end;
    free(x);
    return beyond * LATE_SAMPLES < t->n ? end : last;
}

int plot_series_grid_find(const struct trace *t, const uint32_t *skip, size_t n_skip, struct series_grid *g)
{
    *g = (struct series_grid){.unit_us = 1, .begin_us = INFINITY, .end_us = -INFINITY};
    if (t->n == 0 || find_period(t, g) != 0 || find_left_out(t, skip, n_skip, g) != 0)
        return -1;
    for (size_t i = 0; i < t->n; i++) {
        g->begin_us = fmin(g->begin_us, t->time_us[i]);
        g->end_us = fmax(g->end_us, t->time_us[i]);
    }
    g->end_us = usual_end(t, g->end_us);
    return isnan(g->end_us) ? -1 : 0;
}

void plot_series_grid_free(struct series_grid *g)
{
    free(g->left_out);
    memset(g, 0, sizeof(*g));
}

/* ---- medians ---- */

/* Bins of the time axis: bin i covers origin + i * width. */
struct bins {
    size_t n;
    double origin, width;
};

static struct bins choose_bins(const struct series_grid *g, size_t most)
{
    double length = g->end_us - g->begin_us;
    double width = isfinite(g->period_us) ? g->period_us : 1;
    width = fmax(width, length / (double)most);
    if (!(width > 0))
        width = 1;
    size_t n = (size_t)(length / width) + 1;
    return (struct bins){n, g->begin_us, width};
}

static double bin_middle(const struct bins *b, size_t bin)
{
    return b->origin + ((double)bin + 0.5) * b->width;
}

static size_t bin_of(const struct bins *b, double time_us)
{
    double at = (time_us - b->origin) / b->width;
    size_t i = at > 0 ? (size_t)at : 0;
    return i < b->n ? i : b->n - 1;
}

/* The values of a channel sorted into bins: bin i holds value[first[i]] .. value[first[i + 1] - 1]. */
struct binned {
    size_t *first;
    double *value, *scratch;
};

static int sort_into_bins(const struct drawing *d, const struct bins *b, struct binned *s)
{
    const struct trace *t = d->t;
    s->first = calloc(b->n + 2, sizeof(*s->first));
    s->value = malloc((t->n + 1) * sizeof(*s->value));
    s->scratch = malloc((t->n + b->n) * sizeof(*s->scratch));
    if (s->first == NULL || s->value == NULL || s->scratch == NULL)
        return -1;
    for (size_t i = 0; i < t->n; i++)
        if (drawn(d, i))
            s->first[bin_of(b, t->time_us[i]) + 2]++;
    for (size_t i = 2; i < b->n + 2; i++)
        s->first[i] += s->first[i - 1];
    /* counted two places up, so that filling moves first[i + 1] from the start of bin i to its end */
    for (size_t i = 0; i < t->n; i++)
        if (drawn(d, i))
            s->value[s->first[bin_of(b, t->time_us[i]) + 1]++] = (double)d->values[i];
    return 0;
}

/* The number of values that a bin usually holds: the median over those that hold any. */
static double usual_count(const struct binned *s, size_t n)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        if (s->first[i + 1] > s->first[i])
            s->scratch[used++] = (double)(s->first[i + 1] - s->first[i]);
    return used > 0 ? order_nth_smallest(s->scratch, used, used / 2) : 0;
}

/* A bin's middle, of chains timed by a clock in steps not the median (analysis/phases/repetitions/clock.h); as limits
 * of a band the middle 80 % of its values, which the middle may leave in another unit. */
static void add_bin(const struct drawing *d, double time_us, const struct clock_reading *clock,
                    enum trace_channel channel, double *value, size_t n, double *scratch)
{
    double lo = d->s->band ? order_nth_smallest(value, n, n / 10) : NAN;
    double hi = d->s->band ? order_nth_smallest(value, n, n - 1 - n / 10) : NAN;
    double middle = clock->instant ? clock_middle(clock, channel, value, n, scratch) : order_median(value, n);
    chart_add_point(d->c, d->s, time_us / d->g->unit_us, middle, lo, hi);
}

static void join_medians(const struct drawing *d, const struct bins *b, const struct binned *s,
                         enum trace_channel channel)
{
    struct clock_reading clock = clock_reading_of(d->t);
    double usual = usual_count(s, b->n);
    size_t empty = 0;
    /* at the grid's own width single bins may miss out by jitter; a halt misses more than two in a row */
    for (size_t i = 0; i < b->n; i++) {
        size_t n = s->first[i + 1] - s->first[i];
        double *value = s->value + s->first[i];
        if (n == 0 || 5 * (double)n < usual) {
            empty++;
            continue;
        }
        if (empty > 2 && d->s->n > 0)
            chart_add_break(d->c, d->s);
        empty = 0;
        add_bin(d, bin_middle(b, i), &clock, channel, value, n, s->scratch);
    }
}

/* The values of a channel that the samples of a repetition hold. */
static size_t values_in(const struct drawing *d, size_t first, size_t end)
{
    size_t n = 0;
    for (size_t i = first; i < end; i++)
        n += drawn(d, i) ? 1 : 0;
    return n;
}

/* Returns true if several repetitions have this channel and none of them has more than one value of it. */
static bool read_once_a_run(const struct drawing *d)
{
    size_t holding = 0;
    for (size_t first = 0, end; first < d->t->n; first = end) {
        end = trace_run_end(d->t, first);
        size_t values = values_in(d, first, end);
        if (values > 1)
            return false;
        holding += values;
    }
    return holding > 1;
}

/* A value and its time, of whatever repetition. */
struct pooled {
    double time, value;
};

static double window_median(const struct pooled *pool, size_t first, size_t end)
{
    double window[MEDIAN_WINDOW] = {0};
    for (size_t i = first; i < end; i++)
        window[i - first] = pool[i].value;
    return order_median(window, end - first);
}

/* For channels read once a repetition: the running median over the neighbors in time, all repetitions together. */
static void running_median(const struct drawing *d)
{
    struct pooled *pool = malloc((d->t->n + 1) * sizeof(*pool));
    size_t used = 0, half = MEDIAN_WINDOW / 2;
    d->c->failed = d->c->failed || pool == NULL;
    if (pool == NULL)
        return;
    for (size_t i = 0; i < d->t->n; i++)
        if (drawn(d, i))
            pool[used++] = (struct pooled){d->t->time_us[i], (double)d->values[i]};
    qsort(pool, used, sizeof(*pool), order_double); /* by time, the first member */
    double gap = used > MEDIAN_WINDOW ? GAP_SPACINGS * (pool[used - 1].time - pool[0].time) / (double)used : INFINITY;
    for (size_t i = 0; i < used; i++) {
        size_t first = i > half ? i - half : 0, end = i + half + 1 < used ? i + half + 1 : used;
        if (i > 0 && pool[i].time - pool[i - 1].time > gap) /* nobody reads in a halt */
            chart_add_break(d->c, d->s);
        add_point(d, pool[i].time, window_median(pool, first, end));
    }
    free(pool);
}

void plot_series_median(const struct trace *t, const struct series_grid *g, enum trace_channel channel, size_t bins,
                        struct chart *c, struct chart_series *s)
{
    const struct drawing d = {t, g, t->channel[channel], c, s};
    struct bins b = choose_bins(g, bins);
    struct binned binned;
    if (s == NULL)
        return;
    if (read_once_a_run(&d)) {
        running_median(&d);
        return;
    }
    if (sort_into_bins(&d, &b, &binned) == 0)
        join_medians(&d, &b, &binned, channel);
    else
        c->failed = true;
    free(binned.first);
    free(binned.value);
    free(binned.scratch);
}

/* ---- single repetitions ---- */

/* One repetition as it is, missing values left out, gaps broken. */
static void draw_whole(const struct drawing *d, size_t first, size_t end)
{
    double period = isfinite(d->g->period_us) ? d->g->period_us : 1;
    double gap = GAP_PERIODS * period, stroke = period / 2, last = -INFINITY, value = NAN;
    bool alone = false;
    for (size_t i = first; i < end; i++) {
        if (!drawn(d, i))
            continue;
        bool breaks = d->t->time_us[i] - last > gap;
        if (breaks && alone)
            add_point(d, last + stroke, value);
        if (breaks && d->s->n > 0)
            chart_add_break(d->c, d->s);
        alone = breaks;
        last = d->t->time_us[i];
        value = (double)d->values[i];
        add_point(d, last, value);
    }
    if (alone)
        add_point(d, last + stroke, value);
}

/* One repetition as the smallest and largest value of each bin. */
static void draw_thinned(const struct drawing *d, size_t first, size_t end, const struct bins *b)
{
    size_t last_bin = SIZE_MAX;
    for (size_t i = first; i < end;) {
        size_t bin = bin_of(b, d->t->time_us[i]);
        double lo = INFINITY, hi = -INFINITY;
        for (; i < end && bin_of(b, d->t->time_us[i]) == bin; i++)
            if (drawn(d, i)) {
                lo = fmin(lo, (double)d->values[i]);
                hi = fmax(hi, (double)d->values[i]);
            }
        if (lo > hi)
            continue;
        if (d->s->n > 0 && (last_bin == SIZE_MAX || bin - last_bin > 2))
            chart_add_break(d->c, d->s);
        add_point(d, bin_middle(b, bin), lo);
        add_point(d, bin_middle(b, bin), hi);
        last_bin = bin;
    }
}

/* How many repetitions to go on by, so that what is drawn stays within the budget. */
static size_t run_step(const struct drawing *d, size_t bins, size_t budget)
{
    size_t points = 0;
    for (size_t first = 0, end; first < d->t->n; first = end) {
        end = trace_run_end(d->t, first);
        size_t n = values_in(d, first, end);
        points += n > 2 * bins ? 2 * bins : n;
    }
    return points / (budget > 0 ? budget : 1) + 1;
}

size_t plot_series_faint(const struct trace *t, const struct series_grid *g, enum trace_channel channel, size_t bins,
                         size_t budget, struct chart *c, struct chart_series *s)
{
    const struct drawing d = {t, g, t->channel[channel], c, s};
    struct bins b = choose_bins(g, bins);
    size_t step = run_step(&d, bins, budget), holding = 0, runs = 0;
    for (size_t first = 0, end; first < t->n && s != NULL; first = end) {
        end = trace_run_end(t, first);
        size_t values = values_in(&d, first, end);
        if (values == 0 || holding++ % step != 0)
            continue;
        if (values > 2 * bins)
            draw_thinned(&d, first, end, &b);
        else
            draw_whole(&d, first, end);
        runs++;
    }
    return runs;
}

size_t plot_series_range(const struct trace *t, const struct series_grid *g, enum trace_channel channel, double share,
                         double *lo, double *hi)
{
    const struct drawing d = {.t = t, .g = g, .values = t->channel[channel]};
    size_t step = t->n / RANGE_VALUES_MAX + 1, n = 0;
    double *value = d.values == NULL || t->n == 0 ? NULL : malloc((t->n / step + 1) * sizeof(*value));
    if (value == NULL)
        return 0;
    for (size_t i = 0; i < t->n; i += step)
        if (drawn(&d, i))
            value[n++] = (double)d.values[i];
    if (n > 0) {
        *lo = order_nth_smallest(value, n, (size_t)(share * (double)(n - 1)));
        *hi = order_nth_smallest(value, n, (size_t)((1 - share) * (double)(n - 1) + 0.5));
    }
    free(value);
    return n;
}
