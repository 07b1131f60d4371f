/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot/plot_series.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/clock.h"

enum { RANGE_VALUES_MAX = 100000, PERIOD_VALUES_MAX = 100000 };
/* The running median of a channel that is read once a repetition is taken over 21 neighbours (the method for voltages
 * of the Skylake-SP dissertation, section 3.2.2). */
enum { MEDIAN_WINDOW = 21 };
/* neighbours further apart than this many periods are not joined: the core was halted between them */
static const double GAP_PERIODS = 3;
static const double GAP_SPACINGS = 6; /* of single readings of many repetitions, by their mean distance */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_float(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

void plot_polyline_free(struct polyline *p)
{
    free(p->x);
    free(p->y);
    memset(p, 0, sizeof(*p));
}

static int add_point(struct polyline *p, double x, double y)
{
    if (p->n == p->capacity) {
        size_t capacity = p->capacity == 0 ? 1024 : 2 * p->capacity;
        double *bigger_x = realloc(p->x, capacity * sizeof(*p->x));
        if (bigger_x == NULL)
            return -1;
        p->x = bigger_x;
        double *bigger_y = realloc(p->y, capacity * sizeof(*p->y));
        if (bigger_y == NULL)
            return -1;
        p->y = bigger_y;
        p->capacity = capacity;
    }
    p->x[p->n] = x;
    p->y[p->n++] = y;
    return 0;
}

static int find_runs(const struct trace *t, struct series_grid *g)
{
    size_t capacity = 0;
    for (size_t i = 0; i < t->n; i++) {
        bool starts = i == 0 || (t->run != NULL && t->run[i] != t->run[i - 1]);
        if (!starts) {
            g->runs[g->n_runs - 1].end = i + 1;
            continue;
        }
        if (g->n_runs == capacity) {
            capacity = capacity == 0 ? 128 : 2 * capacity;
            struct run_span *bigger = realloc(g->runs, capacity * sizeof(*bigger));
            if (bigger == NULL)
                return -1;
            g->runs = bigger;
        }
        g->runs[g->n_runs++] = (struct run_span){i, i + 1};
    }
    return 0;
}

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
    if (n > 0) {
        qsort(distance, n, sizeof(*distance), by_value);
        g->period_us = distance[n / 2];
    }
    free(distance);
    return 0;
}

static int plot_series_by_run(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool plot_series_listed(uint32_t run, const uint32_t *list, size_t n)
{
    return n > 0 && bsearch(&run, list, n, sizeof(*list), plot_series_by_run) != NULL;
}

static int find_left_out(const struct trace *t, const uint32_t *skip, size_t n_skip, struct series_grid *g)
{
    double gap = GAP_PERIODS * g->period_us;
    g->left_out = calloc(t->n, sizeof(*g->left_out));
    if (g->left_out == NULL)
        return -1;
    for (size_t r = 0; r < g->n_runs; r++) {
        struct run_span span = g->runs[r];
        if (t->run != NULL && plot_series_listed(t->run[span.first], skip, n_skip))
            memset(g->left_out + span.first, true, span.end - span.first);
        /* with neighbours on both sides: a stretch that is sampled less often has no ordinary distances */
        for (size_t i = span.first + 2; i + 1 < span.end; i++) {
            const double *time = &t->time_us[i];
            bool spans_gap = time[0] - time[-1] > gap && time[-1] - time[-2] <= gap && time[1] - time[0] <= gap;
            g->left_out[i] = g->left_out[i] || spans_gap;
        }
    }
    return 0;
}

int plot_series_grid_find(const struct trace *t, const uint32_t *skip, size_t n_skip, struct series_grid *g)
{
    memset(g, 0, sizeof(*g));
    if (t->n == 0 || find_runs(t, g) != 0 || find_period(t, g) != 0 || find_left_out(t, skip, n_skip, g) != 0) {
        plot_series_grid_free(g);
        return -1;
    }
    g->begin_us = g->end_us = t->time_us[0];
    for (size_t i = 0; i < t->n; i++) {
        g->begin_us = fmin(g->begin_us, t->time_us[i]);
        g->end_us = fmax(g->end_us, t->time_us[i]);
    }
    return 0;
}

void plot_series_grid_free(struct series_grid *g)
{
    free(g->runs);
    free(g->left_out);
    memset(g, 0, sizeof(*g));
}

static bool drawn(const struct series_grid *g, const float *channel, size_t i)
{
    return isfinite(channel[i]) && !g->left_out[i];
}

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

static size_t plot_series_bin_of(const struct bins *b, double time_us)
{
    double at = (time_us - b->origin) / b->width;
    size_t i = at > 0 ? (size_t)at : 0;
    return i < b->n ? i : b->n - 1;
}

/* The values of a channel sorted into bins: bin i holds value[first[i]] .. value[first[i + 1] - 1]. */
struct binned {
    size_t *first;
    float *value;
};

static void free_binned(struct binned *s)
{
    free(s->first);
    free(s->value);
}

static int sort_into_bins(const struct trace *t, const struct series_grid *g, const float *channel,
                          const struct bins *b, struct binned *s)
{
    s->first = calloc(b->n + 2, sizeof(*s->first));
    s->value = malloc((t->n + 1) * sizeof(*s->value));
    if (s->first == NULL || s->value == NULL) {
        free_binned(s);
        return -1;
    }
    for (size_t i = 0; i < t->n; i++)
        if (drawn(g, channel, i))
            s->first[plot_series_bin_of(b, t->time_us[i]) + 2]++;
    for (size_t i = 2; i < b->n + 2; i++)
        s->first[i] += s->first[i - 1];
    /* counted two places up, so that filling moves first[i + 1] from the start of bin i to its end */
    for (size_t i = 0; i < t->n; i++)
        if (drawn(g, channel, i))
            s->value[s->first[plot_series_bin_of(b, t->time_us[i]) + 1]++] = channel[i];
    return 0;
}

/* The number of values that a bin usually holds: the median over those that hold any. */
static size_t usual_count(const struct binned *s, size_t n)
{
    double *count = malloc(n * sizeof(*count));
    size_t used = 0;
    if (count == NULL)
        return 1;
    for (size_t i = 0; i < n; i++)
        if (s->first[i + 1] > s->first[i])
            count[used++] = (double)(s->first[i + 1] - s->first[i]);
    qsort(count, used, sizeof(*count), by_value);
    size_t usual = used > 0 ? (size_t)count[used / 2] : 0;
    free(count);
    return usual;
}

static double middle(const float *sorted, size_t n)
{
    return n % 2 == 1 ? (double)sorted[n / 2] : ((double)sorted[n / 2 - 1] + (double)sorted[n / 2]) / 2;
}

/* What the values of a bin tell together: of chains timed by a clock in steps not the median
 * (analysis/phases/repetitions/clock.h). NaN: out of memory. */
static double centre_of_bin(const struct clock_reading *clock, enum trace_channel c, float *value, size_t n)
{
    if (!clock->instant) {
        qsort(value, n, sizeof(*value), by_float);
        return middle(value, n);
    }
    double *x = malloc(2 * n * sizeof(*x)), y = NAN;
    for (size_t i = 0; x != NULL && i < n; i++)
        x[i] = (double)value[i];
    if (x != NULL)
        y = clock_middle(clock, c, x, n, x + n);
    free(x);
    return y;
}

static int join_medians(const struct bins *b, const struct binned *s, const struct clock_reading *clock,
                        enum trace_channel c, struct polyline *out)
{
    size_t usual = usual_count(s, b->n), empty = 0;
    /* at the grid's own width single bins may miss out by jitter; a halt misses more than two in a row */
    for (size_t i = 0; i < b->n; i++) {
        size_t n = s->first[i + 1] - s->first[i];
        if (n == 0 || 5 * n < usual) {
            empty++;
            continue;
        }
        double x = b->origin + ((double)i + 0.5) * b->width;
        if (empty > 2 && out->n > 0 && add_point(out, x, NAN) != 0)
            return -1;
        empty = 0;
        if (add_point(out, x, centre_of_bin(clock, c, s->value + s->first[i], n)) != 0)
            return -1;
    }
    return 0;
}

/* The values of a channel that a repetition holds. */
static size_t values_in(const struct series_grid *g, const float *channel, struct run_span span)
{
    size_t n = 0;
    for (size_t i = span.first; i < span.end; i++)
        n += drawn(g, channel, i) ? 1 : 0;
    return n;
}

/* Whether several repetitions hold this channel and none of them more than one value of it. */
static bool read_once_a_run(const float *channel, const struct series_grid *g)
{
    size_t holding = 0;
    for (size_t r = 0; r < g->n_runs; r++) {
        size_t values = values_in(g, channel, g->runs[r]);
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

static int plot_series_by_time(const void *a, const void *b)
{
    double x = ((const struct pooled *)a)->time, y = ((const struct pooled *)b)->time;
    return (x > y) - (x < y);
}

static double window_median(const struct pooled *pool, size_t first, size_t end)
{
    double window[MEDIAN_WINDOW] = {0};
    size_t n = end - first;
    for (size_t i = 0; i < n; i++)
        window[i] = pool[first + i].value;
    qsort(window, n, sizeof(*window), by_value);
    return n % 2 == 1 ? window[n / 2] : (window[n / 2 - 1] + window[n / 2]) / 2;
}

/* For channels read once a repetition: the running median over the neighbours in time, all repetitions together. */
static int running_median(const struct trace *t, const struct series_grid *g, const float *channel, size_t n,
                          struct polyline *out)
{
    struct pooled *pool = malloc((n + 1) * sizeof(*pool));
    if (pool == NULL)
        return -1;
    size_t used = 0;
    for (size_t i = 0; i < t->n; i++)
        if (drawn(g, channel, i))
            pool[used++] = (struct pooled){t->time_us[i], (double)channel[i]};
    qsort(pool, used, sizeof(*pool), plot_series_by_time);
    int status = 0;
    double gap = used > MEDIAN_WINDOW ? GAP_SPACINGS * (pool[used - 1].time - pool[0].time) / (double)used : INFINITY;
    for (size_t i = 0; i < used && status == 0; i++) {
        size_t half = MEDIAN_WINDOW / 2;
        size_t first = i > half ? i - half : 0, end = i + half + 1 < used ? i + half + 1 : used;
        if (i > 0 && pool[i].time - pool[i - 1].time > gap) /* nobody reads in a halt */
            status = add_point(out, pool[i].time, NAN);
        status = status != 0 ? status : add_point(out, pool[i].time, window_median(pool, first, end));
    }
    free(pool);
    return status;
}

int plot_series_median(const struct trace *t, const struct series_grid *g, enum trace_channel c, size_t bins,
                       struct polyline *out)
{
    memset(out, 0, sizeof(*out));
    struct bins b = choose_bins(g, bins);
    struct clock_reading clock = clock_reading_of(t);
    struct binned s;
    if (sort_into_bins(t, g, t->channel[c], &b, &s) != 0)
        return -1;
    int status = read_once_a_run(t->channel[c], g) ? running_median(t, g, t->channel[c], s.first[b.n], out)
                                                   : join_medians(&b, &s, &clock, c, out);
    free_binned(&s);
    if (status != 0)
        plot_polyline_free(out);
    return status;
}

/* One repetition as it is, missing values left out, gaps broken. */
static int draw_whole(const struct trace *t, const struct series_grid *g, const float *channel, struct run_span span,
                      struct polyline *out)
{
    double period = isfinite(g->period_us) ? g->period_us : 1;
    double gap = GAP_PERIODS * period, stroke = period / 2, last = -INFINITY;
    bool alone = false;
    for (size_t i = span.first; i < span.end; i++) {
        if (!drawn(g, channel, i))
            continue;
        bool breaks = t->time_us[i] - last > gap;
        if (breaks && alone && add_point(out, last + stroke, out->y[out->n - 1]) != 0)
            return -1;
        if (breaks && out->n > 0 && add_point(out, t->time_us[i], NAN) != 0)
            return -1;
        if (add_point(out, t->time_us[i], (double)channel[i]) != 0)
            return -1;
        alone = breaks;
        last = t->time_us[i];
    }
    return alone ? add_point(out, last + stroke, out->y[out->n - 1]) : 0;
}

/* One repetition as the smallest and largest value of each bin. */
static int draw_thinned(const struct trace *t, const struct series_grid *g, const float *channel, struct run_span span,
                        const struct bins *b, struct polyline *out)
{
    size_t last_bin = SIZE_MAX;
    for (size_t i = span.first; i < span.end;) {
        size_t bin = plot_series_bin_of(b, t->time_us[i]);
        double lo = INFINITY, hi = -INFINITY;
        for (; i < span.end && plot_series_bin_of(b, t->time_us[i]) == bin; i++) {
            if (drawn(g, channel, i)) {
                lo = fmin(lo, (double)channel[i]);
                hi = fmax(hi, (double)channel[i]);
            }
        }
        if (lo > hi)
            continue;
        double x = b->origin + ((double)bin + 0.5) * b->width;
        bool breaks = out->n > 0 && (last_bin == SIZE_MAX || bin - last_bin > 2);
        if (breaks && add_point(out, x, NAN) != 0)
            return -1;
        if (add_point(out, x, lo) != 0 || add_point(out, x, hi) != 0)
            return -1;
        last_bin = bin;
    }
    return 0;
}

/* How many repetitions to go on by, so that what is drawn stays within the budget. */
static size_t run_step(const struct series_grid *g, const float *channel, size_t bins, size_t budget)
{
    size_t points = 0;
    for (size_t r = 0; r < g->n_runs; r++) {
        size_t n = values_in(g, channel, g->runs[r]);
        points += n > 2 * bins ? 2 * bins : n;
    }
    return points / (budget > 0 ? budget : 1) + 1;
}

int plot_series_faint(const struct trace *t, const struct series_grid *g, enum trace_channel c, size_t bins,
                      size_t budget, struct polyline *out, size_t *drawn_runs)
{
    memset(out, 0, sizeof(*out));
    *drawn_runs = 0;
    const float *channel = t->channel[c];
    struct bins b = choose_bins(g, bins);
    size_t step = run_step(g, channel, bins, budget), holding = 0;
    for (size_t r = 0; r < g->n_runs; r++) {
        struct run_span span = g->runs[r];
        size_t values = values_in(g, channel, span);
        if (values == 0 || holding++ % step != 0)
            continue;
        int status = values > 2 * bins ? draw_thinned(t, g, channel, span, &b, out)
                                       : draw_whole(t, g, channel, span, out);
        if (status != 0) {
            plot_polyline_free(out);
            return -1;
        }
        (*drawn_runs)++;
    }
    return 0;
}

size_t plot_series_range(const struct trace *t, const struct series_grid *g, enum trace_channel c, double share,
                         double *lo, double *hi)
{
    const float *channel = t->channel[c];
    size_t step = t->n / RANGE_VALUES_MAX + 1, n = 0;
    float *value = channel == NULL || t->n == 0 ? NULL : malloc((t->n / step + 1) * sizeof(*value));
    if (value == NULL)
        return 0;
    for (size_t i = 0; i < t->n; i += step)
        if (drawn(g, channel, i))
            value[n++] = channel[i];
    if (n > 0) {
        qsort(value, n, sizeof(*value), by_float);
        *lo = (double)value[(size_t)(share * (double)(n - 1))];
        *hi = (double)value[(size_t)((1 - share) * (double)(n - 1) + 0.5)];
    }
    free(value);
    return n;
}
