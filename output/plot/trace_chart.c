/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace and its phases as a picture. */
#include "output/plot/charts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/clock.h"
#include "output/plot/plot_series.h"
#include "util/error.h"
#include "util/order.h"
#include "util/text_list.h"

/* Points of the faint lines in all panels together, and bins of the time axis: bounds the file's size. */
enum { FAINT_BUDGET = 160000, BINS = 2000 };
/* Pixels. */
enum { FIRST_PANEL = 210, OTHER_PANEL = 140 };
static const double OUTER_SHARE = 0.005; /* of the samples, at either end: they do not decide the value axis */

/* A trace, and what is known of it while its chart is made. */
struct traced {
    const struct trace *t;
    const struct phases *p;
    struct chart *c;
    struct series_grid grid;
    const char *unit;
    size_t faint_runs; /* repetitions drawn in the first panel */
};

static bool has_values(const struct traced *l, enum trace_channel c)
{
    double lo, hi;
    return plot_series_range(l->t, &l->grid, c, 0, &lo, &hi) > 0;
}

/* The value axis: the middle 99 % of the samples and all levels, with some air; IPC and shares start at zero. */
static void scale_panel(const struct traced *l, struct chart_panel *panel, enum trace_channel first,
                        enum trace_channel last)
{
    double lo = INFINITY, hi = -INFINITY;
    for (int c = (int)first; c <= (int)last; c++) {
        double channel_lo, channel_hi;
        if (plot_series_range(l->t, &l->grid, (enum trace_channel)c, OUTER_SHARE, &channel_lo, &channel_hi) > 0) {
            lo = fmin(lo, channel_lo);
            hi = fmax(hi, channel_hi);
        }
    }
    if (first == TRACE_FREQ) {
        for (size_t i = 0; i < l->p->n_levels; i++) {
            lo = fmin(lo, l->p->levels_ghz[i]);
            hi = fmax(hi, l->p->levels_ghz[i]);
        }
    }
    if (first == TRACE_LVL0) {
        lo = 0;
        hi = 1;
    }
    /* at least 4 % of the value, so that noise on a constant does not look like an event */
    double span = fmax(hi - lo, 0.04 * fmax(fabs(hi), 1e-3));
    double center = (lo + hi) / 2;
    panel->y_lo = center - 0.62 * span;
    panel->y_hi = center + 0.62 * span;
    if (first == TRACE_IPC) {
        panel->y_lo = 0;
        panel->y_hi = 1.12 * fmax(hi, 1e-3);
    }
}

static const char *or_else(const char *s, const char *otherwise)
{
    return s != NULL && s[0] != '\0' ? s : otherwise;
}

/* ---- curves ---- */

static struct chart_series *curve(struct traced *l, struct chart_panel *p, const char *name, int colour)
{
    struct chart_series *s = chart_series(l->c, p, name);
    if (s) {
        s->colour = colour;
        s->mark = -1;
        s->in_legend = false;
    }
    return s;
}

static size_t faint_budget(const struct traced *l)
{
    size_t panels = (size_t)has_values(l, TRACE_FREQ) + has_values(l, TRACE_IPC);
    return FAINT_BUDGET / (panels > 0 ? panels : 1);
}

/* Samples in steps of a coarse clock are a cloud, in which single repetitions cannot be followed. */
static bool is_cloud(const struct traced *l)
{
    return l->p->runs_used > 1 && clock_reading_of(l->t).instant;
}

static void put_band(struct traced *l, struct chart_panel *p, enum trace_channel channel)
{
    struct chart_series *s = curve(l, p, "median", 0);
    if (s)
        s->band = true;
    l->faint_runs = l->p->runs_used;
    plot_series_median(l->t, &l->grid, channel, BINS, l->c, s);
}

/* All repetitions of a channel, and the median over them; of a single one there is no median. */
static void put_channel(struct traced *l, struct chart_panel *p, enum trace_channel channel)
{
    if (is_cloud(l)) {
        put_band(l, p, channel);
        return;
    }
    struct chart_series *s = curve(l, p, "single repetitions", 0);
    size_t runs = plot_series_faint(l->t, &l->grid, channel, BINS, faint_budget(l), l->c, s);
    if (s)
        s->many = runs > 1;
    if (l->c->n_panels == 1)
        l->faint_runs = runs;
    if (runs != 1)
        plot_series_median(l->t, &l->grid, channel, BINS, l->c, curve(l, p, "median", 0));
}

/* The medians of several channels, in colours that the legend names. */
static void put_medians(struct traced *l, struct chart_panel *p, enum trace_channel first, enum trace_channel last)
{
    for (int c = (int)first; c <= (int)last; c++) {
        if (!has_values(l, (enum trace_channel)c))
            continue;
        struct chart_series *s = curve(l, p, trace_channel_name((enum trace_channel)c), c - (int)first);
        if (s)
            s->in_legend = true;
        plot_series_median(l->t, &l->grid, (enum trace_channel)c, BINS, l->c, s);
    }
}

static void add_panel(struct traced *l, const char *label, enum trace_channel first, enum trace_channel last)
{
    bool any = false;
    for (int c = (int)first; c <= (int)last; c++)
        any = any || has_values(l, (enum trace_channel)c);
    struct chart_panel *p = any ? chart_add_panel(l->c, CHART_LINES, "", "", label) : NULL;
    if (!p)
        return;
    snprintf(p->x_label, sizeof p->x_label, "time (%s)%s", l->unit,
             l->p->to != NULL ? ", 0 = first instruction of the second kernel" : "");
    p->height = l->c->n_panels == 1 ? FIRST_PANEL : OTHER_PANEL;
    scale_panel(l, p, first, last);
    for (size_t i = 0; i < l->p->n_levels && first == TRACE_FREQ; i++)
        chart_add_level(l->c, p, i, l->p->levels_ghz[i]);
    if (first == last)
        put_channel(l, p, first);
    else
        put_medians(l, p, first, last);
}

/* ---- phases ---- */

static double phase_end(const struct traced *l, size_t i)
{
    const struct phases *p = l->p;
    if (i + 1 < p->n_phases)
        return p->phases[i + 1].start_us;
    double duration = p->phases[i].duration_us.value;
    return isfinite(duration) ? p->phases[i].start_us + duration : l->grid.end_us;
}

/* ---- all of it ---- */

static void choose_unit(struct traced *l)
{
    double begin = l->grid.begin_us, end = l->grid.end_us, length = end - begin;
    if (!(length > 0)) { /* a single sample: give it an axis */
        begin -= 1;
        end += 1;
        length = 2;
    }
    bool seconds = length > 2e6, milliseconds = length > 2e4;
    l->grid.unit_us = seconds ? 1e6 : milliseconds ? 1e3 : 1;
    l->unit = seconds ? "s" : milliseconds ? "ms" : "\xC2\xB5s";
    l->c->x_lo = begin / l->grid.unit_us;
    l->c->x_hi = end / l->grid.unit_us;
}

static void put_titles(struct traced *l)
{
    const struct phases *p = l->p;
    struct chart *c = l->c;
    size_t size = sizeof c->subtitle;
    if (p->from != NULL && p->to != NULL) {
        snprintf(c->title, sizeof c->title, "%.40s \xE2\x86\x92 %.40s on %.70s", p->from, p->to,
                 or_else(p->cpu, "an unknown CPU"));
        snprintf(c->before_zero, sizeof c->before_zero, "%.60s \xE2\x97\x82", p->from);
        snprintf(c->after_zero, sizeof c->after_zero, "\xE2\x96\xB8 %.60s", p->to);
    } else {
        snprintf(c->title, sizeof c->title, "Phases of a recording on %.100s", or_else(p->cpu, "an unknown CPU"));
    }
    const char *cores = trace_get(l->t, "active_cores");
    snprintf(c->subtitle, size, "machine: %.150s", or_else(p->machine, "not stated"));
    if (cores != NULL)
        text_list_add(c->subtitle, size, " \xC2\xB7 ", "active cores: %.20s", cores);
    text_list_add(c->subtitle, size, " \xC2\xB7 ", "%zu of %zu repetitions used", p->runs_used, p->runs);
    if (l->faint_runs < p->runs_used)
        text_list_add(c->subtitle, size, ", ", "%zu drawn", l->faint_runs);
    snprintf(c->note, sizeof c->note, "%s%s",
             p->runs_used < 2 ? "one repetition"
             : is_cloud(l)    ? "band: the middle 80 % of the samples, in steps of the clock; line: all together"
                              : "thin: single repetitions, thick: median over them",
             c->x_lo <= 0 && c->x_hi >= 0 ? "; dashed: time 0" : "");
}

/* The grid without the repetitions that were discarded. */
static int find_grid(struct traced *l)
{
    uint32_t *skip = malloc((l->p->n_discarded + 1) * sizeof(*skip));
    if (skip == NULL)
        return -1;
    for (size_t i = 0; i < l->p->n_discarded; i++)
        skip[i] = l->p->discarded[i].run;
    qsort(skip, l->p->n_discarded, sizeof(*skip), order_unsigned);
    int status = plot_series_grid_find(l->t, skip, l->p->n_discarded, &l->grid);
    free(skip);
    return status;
}

int trace_chart(const struct trace *t, const struct phases *p, struct chart *c, char *why, size_t why_size)
{
    struct traced l = {.t = t, .p = p, .c = c};
    memset(c, 0, sizeof *c);
    if (find_grid(&l) != 0)
        return error_line(why, why_size, "%s", t->n == 0 ? "the trace has no samples to draw" : "out of memory");
    c->modelled = p->modelled;
    c->one_axis = c->zero_line = true;
    choose_unit(&l);
    add_panel(&l, "frequency (GHz)", TRACE_FREQ, TRACE_FREQ);
    add_panel(&l, "IPC (1/cycle)", TRACE_IPC, TRACE_IPC);
    add_panel(&l, "core voltage (V)", TRACE_VOLTS, TRACE_VOLTS);
    add_panel(&l, "share of cycles", TRACE_LVL0, TRACE_THROTTLE);
    for (size_t i = 0; i < p->n_phases; i++)
        chart_add_phase(c, &p->phases[i], phase_end(&l, i), l.grid.unit_us);
    put_titles(&l);
    plot_series_grid_free(&l.grid);
    if (!c->failed && c->n_panels > 0)
        return 0;
    return error_line(why, why_size, c->failed ? "out of memory" : "the trace has no values to draw");
}
