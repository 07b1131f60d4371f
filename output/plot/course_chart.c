/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Phases as stretches of a time axis, and the course that they alone describe, where the samples are gone. */
#include "output/plot/charts.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/plot/plot.h"
#include "output/plot/plot_colours.h"
#include "util/error.h"
#include "util/text_list.h"

/* Phases at most, points of a curved one, and the panels' heights in pixels. */
enum { COURSE_PHASES = 64, CURVE_POINTS = 32, COURSE_FIRST = 210, COURSE_OTHER = 150 };
/* At least so much is shown before and after the events. */
static const double AROUND_US = 10;

/* ---- a phase as a span ---- */

/* A time is in s from a second on. */
static double unit_us(double us)
{
    return us >= 1e6 ? 1e6 : 1;
}

static const char *unit_name(double us)
{
    return us >= 1e6 ? "s" : "\xC2\xB5s";
}

static void span_names(const struct phase *p, char *full, char *brief, size_t size)
{
    const char *kind = phases_kind_name(p->kind);
    snprintf(brief, size, "%s", kind);
    snprintf(full, size, "%s", kind);
    if (p->kind == PHASE_THROTTLE && isfinite(p->ipc_ratio))
        snprintf(full, size, "%s \xC3\x97%.2f", kind, p->ipc_ratio);
    else if ((p->kind == PHASE_STEADY || p->kind == PHASE_SLOW) && p->level >= 0)
        snprintf(full, size, "%s L%d", kind, p->level);
    const double tau = p->tau_us.value > 0 ? p->tau_us.value : p->rate_ramp.tau_us.value;
    if (p->kind == PHASE_RAMP)
        snprintf(full, size, "%s \xCF\x84 %.3g %s", kind, tau / unit_us(tau), unit_name(tau));
}

/* "9.11 us [9.02, 9.2], 2.4 GHz, IPC 0.5" */
static void span_figures(const struct phase *p, char *out, size_t size)
{
    const struct estimate *d = &p->duration_us;
    const double unit = unit_us(d->value);
    out[0] = '\0';
    if (isfinite(d->value))
        text_list_add(out, size, ", ", "%.4g %s", d->value / unit, unit_name(d->value));
    if (isfinite(d->value) && isfinite(d->lo) && isfinite(d->hi))
        text_list_add(out, size, " ", "[%.4g, %.4g]", d->lo / unit, d->hi / unit);
    if (isfinite(p->freq_ghz.value))
        text_list_add(out, size, ", ", "%.4g GHz", p->freq_ghz.value);
    if (isfinite(p->ipc))
        text_list_add(out, size, ", ", "IPC %.3g", p->ipc);
}

void chart_add_phase(struct chart *c, const struct phase *p, double end_us, double unit_us)
{
    struct chart_span span = {.from = p->start_us / unit_us,
                              .to = end_us / unit_us,
                              .colour = (unsigned)strtoul(plot_colours[PLOT_PHASE + p->kind].plain + 1, NULL, 16)};
    span_names(p, span.text, span.kind, sizeof span.text);
    span_figures(p, span.tip, sizeof span.tip);
    chart_add_span(c, &span);
}

void chart_add_level(struct chart *c, struct chart_panel *p, size_t level, double ghz)
{
    char name[24];
    snprintf(name, sizeof name, "L%u %.3f", (unsigned)level % 100, fmin(ghz, 99));
    chart_add_line(c, p, ghz, name);
}

/* ---- the course ---- */

struct course {
    struct chart *c;
    size_t n;
    struct phase phase[COURSE_PHASES];
};

static double number_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static struct estimate estimate_of(const json_t *o, const char *key, const char *limits_key)
{
    const json_t *limits = json_object_get(o, limits_key);
    const json_t *lo = json_array_get(limits, 0), *hi = json_array_get(limits, 1);
    return (struct estimate){number_of(o, key), json_is_number(lo) ? json_number_value(lo) : NAN,
                             json_is_number(hi) ? json_number_value(hi) : NAN};
}

static struct phase phase_of(const json_t *o)
{
    const char *kind = json_string_value(json_object_get(o, "kind"));
    const json_t *level = json_object_get(o, "level");
    struct phase p = {.kind = PHASE_UNKNOWN,
                      .start_us = number_of(o, "start_us"),
                      .duration_us = estimate_of(o, "duration_us", "duration_ci95_us"),
                      .freq_ghz = estimate_of(o, "freq_ghz", "freq_ci95_ghz"),
                      .ipc = number_of(o, "ipc"),
                      .ipc_ratio = number_of(o, "ipc_ratio"),
                      .level = json_is_integer(level) ? (int)json_integer_value(level) : -1,
                      .from_ghz = estimate_of(o, "from_ghz", "from_ci95_ghz"),
                      .to_ghz = estimate_of(o, "to_ghz", "to_ci95_ghz"),
                      .tau_us = estimate_of(o, "tau_us", "tau_ci95_us")};
    for (int k = 0; k < PHASE_UNKNOWN; k++)
        if (kind && strcmp(kind, phases_kind_name((enum phase_kind)k)) == 0)
            p.kind = (enum phase_kind)k;
    return p;
}

static double end_of(const struct course *x, size_t i)
{
    return i + 1 < x->n ? x->phase[i + 1].start_us : x->phase[i].start_us + x->phase[i].duration_us.value;
}

/* The part of the recording in which something happens, with as much again around it. */
static void find_axis(const struct course *x)
{
    double begin = x->phase[0].start_us, end = end_of(x, x->n - 1);
    double first = x->n > 1 ? fmin(x->phase[1].start_us, 0) : begin, last = x->phase[x->n - 1].start_us;
    double around = fmax(0.6 * (last - first), AROUND_US);
    x->c->x_lo = x->n > 1 ? fmax(begin, first - around) : begin;
    x->c->x_hi = x->n > 1 ? fmin(end, last + around) : end;
}

static struct chart_series *add_series(const struct course *x, const char *label, int height)
{
    struct chart_panel *p = chart_add_panel(x->c, CHART_LINES, "",
                                            "time (\xC2\xB5s), 0 = first instruction of the "
                                            "second kernel",
                                            label);
    struct chart_series *s = p ? chart_series(x->c, p, label) : NULL;
    if (!s)
        return NULL;
    p->height = height;
    p->from_zero = height == COURSE_OTHER;
    s->mark = -1;
    s->strong = true;
    s->in_legend = false;
    return s;
}

/* Constant through a phase, or a frequency that exponentially approaches another one (struct phase). */
static void add_phase(const struct course *x, struct chart_series *s, const struct phase *p, double value, double end,
                      bool curved)
{
    const int points = curved ? CURVE_POINTS : 1;
    for (int i = 0; i <= points; i++) {
        double t = (end - p->start_us) * i / points, part = exp(-t / p->tau_us.value);
        double y = curved ? p->to_ghz.value + (p->from_ghz.value - p->to_ghz.value) * part : value;
        chart_add_point(x->c, s, p->start_us + t, y, NAN, NAN);
    }
}

static void add_course(const struct course *x, struct chart_series *s, bool rate)
{
    for (size_t i = 0; s && i < x->n; i++) {
        const struct phase *p = &x->phase[i];
        double value = rate ? p->ipc : p->freq_ghz.value;
        bool curved = !rate && p->tau_us.value > 0 && isfinite(p->from_ghz.value + p->to_ghz.value);
        if (isfinite(value))
            add_phase(x, s, p, value, end_of(x, i), curved);
        else /* in a halt nothing is executed */
            chart_add_break(x->c, s);
    }
}

static void add_levels(const struct course *x, const json_t *root)
{
    const json_t *levels = json_object_get(root, "levels_ghz"), *level;
    size_t i;
    json_array_foreach(levels, i, level)
    {
        chart_add_level(x->c, &x->c->panels[0], i, json_number_value(level));
    }
}

static bool read_phases(struct course *x, const json_t *root)
{
    const json_t *list = json_object_get(root, "phases"), *o;
    size_t i;
    json_array_foreach(list, i, o)
    {
        struct phase p = phase_of(o);
        if (x->n == COURSE_PHASES || !isfinite(p.start_us))
            return false;
        x->phase[x->n++] = p;
    }
    return x->n > 0 && isfinite(end_of(x, x->n - 1));
}

static const char *text_of(const json_t *root, const char *key)
{
    const char *text = json_string_value(json_object_get(root, key));
    return text ? text : "?";
}

static void put_titles(const struct course *x, const json_t *root, unsigned cores)
{
    struct chart *c = x->c;
    const char *from = text_of(root, "from"), *to = text_of(root, "to");
    snprintf(c->title, sizeof c->title, "%.40s \xE2\x86\x92 %.40s, %u active core%s", from, to, cores,
             cores == 1 ? "" : "s");
    snprintf(c->subtitle, sizeof c->subtitle, "%.140s, %.100s", text_of(root, "cpu"), text_of(root, "machine"));
    snprintf(c->before_zero, sizeof c->before_zero, "%.60s \xE2\x97\x82", from);
    snprintf(c->after_zero, sizeof c->after_zero, "\xE2\x96\xB8 %.60s", to);
    snprintf(c->note, sizeof c->note, "the phases' medians over the repetitions");
    c->modelled = json_is_true(json_object_get(root, "modelled"));
}

int course_chart(const char *phases_json, unsigned cores, struct chart *c, char *why, size_t why_size)
{
    json_t *root = json_loads(phases_json, 0, NULL);
    struct course x = {.c = c};
    memset(c, 0, sizeof *c);
    bool usable = read_phases(&x, root);
    if (usable) {
        c->one_axis = c->zero_line = true;
        find_axis(&x);
        add_course(&x, add_series(&x, "frequency (GHz)", COURSE_FIRST), false);
        add_course(&x, add_series(&x, "IPC (1/cycle)", COURSE_OTHER), true);
        for (size_t i = 0; i < x.n; i++)
            chart_add_phase(c, &x.phase[i], end_of(&x, i), 1);
        if (c->n_panels > 0)
            add_levels(&x, root);
        put_titles(&x, root, cores);
    }
    json_decref(root);
    if (!usable)
        return error_line(why, why_size, "the phases of the switch cannot be read");
    return plot_worth(c, "the phases have neither a frequency nor a rate", why, why_size);
}
