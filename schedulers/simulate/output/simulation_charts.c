/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pictures of a simulation: overheads, levels over time, overhead by timeout. */
#include <math.h>
#include <string.h>

#include "output/plot/plot.h"
#include "schedulers/simulate/output/simulation_parts.h"
#include "util/text_list.h"

static void charts_begin(const struct sim_report *r, const char *title, struct chart *c)
{
    memset(c, 0, sizeof *c);
    c->modelled = r->head.modelled;
    snprintf(c->title, sizeof c->title, "%s: %s", r->head.workload, title);
    snprintf(c->subtitle, sizeof c->subtitle, "%s, %u core%s%s", r->head.cpu, r->head.cores,
             r->head.cores == 1 ? "" : "s", r->head.smt ? ", hyper-threading" : "");
}

/* ---- overheads ---- */

static void add_overhead(struct chart *c, struct chart_panel *p, size_t category, int lane, struct estimate e,
                         int colour)
{
    char text[CHART_TEXT_MAX];
    snprintf(text, sizeof text, "%.2f", 100 * e.value);
    chart_add_bar(c, p,
                  (struct chart_bar){.category = category,
                                     .lane = lane,
                                     .lanes = 2,
                                     .to = 100 * e.value,
                                     .lo = 100 * e.lo,
                                     .hi = 100 * e.hi,
                                     .colour = colour},
                  text);
}

/* The loss to siblings is drawn at the end of the bar of remote overhead, as part of it. */
static void add_smt_part(struct chart *c, struct chart_panel *p, size_t category, const struct sim_report_result *r)
{
    double remote = sim_figure_of(r, SIM_REMOTE, SIM_TOTAL).value;
    double smt = sim_figure_of(r, SIM_REMOTE_SMT, SIM_TOTAL).value;
    if (!(smt > 0) || !(remote >= smt))
        return;
    chart_add_bar(c, p,
                  (struct chart_bar){.category = category,
                                     .lane = 1,
                                     .lanes = 2,
                                     .from = 100 * (remote - smt),
                                     .to = 100 * remote,
                                     .lo = NAN,
                                     .hi = NAN,
                                     .colour = 4},
                  "");
    chart_add_legend(c, p, "... of which lost to the sibling hyper-thread", 4);
}

int sim_report_chart(const struct sim_report *r, struct chart *c, char *why, size_t why_size)
{
    charts_begin(r, "cost of frequency changes", c);
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, "", "overhead, %", "");
    bool schedulers = sim_figure_schedulers(r);
    chart_add_legend(c, p, "all work", 0);
    chart_add_legend(c, p, "work that is not wide", 1);
    for (size_t i = 0; i < r->n_results; i++) {
        const struct sim_report_result *result = &r->results[i];
        char name[80];
        snprintf(name, sizeof name, "%s%s%s", result->runs->policy, schedulers ? ", " : "",
                 schedulers ? result->runs->scheduler : "");
        size_t category = chart_name(c, &p->categories, name);
        add_overhead(c, p, category, 0, sim_figure_of(result, SIM_OVERHEAD, SIM_TOTAL), 0);
        add_overhead(c, p, category, 1, sim_figure_of(result, SIM_REMOTE, SIM_TOTAL), 1);
        add_smt_part(c, p, category, result);
    }
    if (r->head.runs > 1)
        text_list_add(p->note, sizeof p->note, " ", "Means of %u runs of different seeds, with 95 %% limits.",
                      r->head.runs);
    if (schedulers)
        text_list_add(p->note, sizeof p->note, " ", "Idle time is not included: the table shows when the work ends.");
    return plot_worth(c, "there are no results", why, why_size);
}

int sim_report_plot(const struct sim_report *r, const char *path, char *why, size_t why_size)
{
    struct chart c;
    int status = sim_report_chart(r, &c, why, why_size);
    if (status == 0)
        status = plot_write(&c, path, why, why_size);
    chart_free(&c);
    return status;
}

/* ---- levels over time ---- */

/* Level 0 is what nothing is lost at. */
static int level_colour(unsigned level)
{
    static const int colours[SIM_LEVELS_MAX] = {CHART_PALE, 0, 1, 2, 3, 4, 5, 6};
    return colours[level < SIM_LEVELS_MAX ? level : SIM_LEVELS_MAX - 1];
}

static double charts_ms(int64_t ps)
{
    return (double)ps / (1000 * SIM_PS_PER_US);
}

static void add_pieces(const struct sim_time_line *t, const struct sim_time_line_policy *policy, struct chart *c,
                       struct chart_panel *p)
{
    for (size_t i = 0; i < t->n_cores; i++) {
        char name[30];
        snprintf(name, sizeof name, "core %u", t->core[i]);
        size_t category = chart_name(c, &p->categories, name);
        for (size_t k = 0; k < policy->n; k++) {
            const struct sim_piece *piece = &policy->piece[k];
            bool halted = piece->permille == 0, throttled = !halted && piece->permille < 1000;
            if (piece->core == t->core[i])
                chart_add_bar(c, p,
                              (struct chart_bar){.category = category,
                                                 .from = charts_ms(piece->from),
                                                 .to = charts_ms(piece->to),
                                                 .lo = NAN,
                                                 .hi = NAN,
                                                 .colour = halted      ? CHART_INK
                                                           : throttled ? CHART_MUTED
                                                                       : level_colour(piece->level),
                                                 .hatched = throttled},
                              "");
        }
    }
}

/* Above the first panel. */
static void add_level_legend(const struct sim_report *r, struct chart *c, struct chart_panel *p)
{
    for (unsigned level = 0; level < r->head.levels; level++) {
        char name[30];
        snprintf(name, sizeof name, "level %u", level);
        chart_add_legend(c, p, name, level_colour(level));
    }
    chart_add_legend(c, p, "halted", CHART_INK);
}

int sim_chart_time_line(const struct sim_report *r, struct chart *c, char *why, size_t why_size)
{
    const struct sim_time_line *t = &r->time_line;
    bool cut = false;
    charts_begin(r, "levels of the cores", c);
    c->one_axis = true;
    c->x_lo = charts_ms(t->from);
    c->x_hi = charts_ms(t->to);
    for (size_t i = 0; i < t->n; i++) {
        struct chart_panel *p = chart_add_panel(c, CHART_BARS, t->policy[i].policy, "time, ms", "");
        if (i == 0)
            add_level_legend(r, c, p);
        add_pieces(t, &t->policy[i], c, p);
        cut = cut || t->policy[i].cut;
    }
    text_list_add(c->note, sizeof c->note, "; ", "hatched: throttled");
    if (t->n_cores < r->head.cores)
        text_list_add(c->note, sizeof c->note, "; ", "the %zu of %u cores that change most", t->n_cores, r->head.cores);
    if (cut)
        text_list_add(c->note, sizeof c->note, "; ", "more segments than can be drawn");
    return plot_worth(c, "no time line with --scheduler", why, why_size);
}

/* ---- overhead by timeout ---- */

/* Converts to percent, without what rounding leaves where nothing is lost. */
static double curve_percent(double fraction)
{
    return fabs(fraction) < 1e-6 ? 0 : 100 * fraction;
}

static void add_mark(struct chart *c, struct chart_panel *p, const char *name, const struct sim_curve_point *point)
{
    char text[CHART_NAME_MAX];
    if (!isfinite(point->timeout_us) || !isfinite(point->overhead))
        return;
    snprintf(text, sizeof text, "%s: %.0f \xC2\xB5s", name, point->timeout_us);
    struct chart_series *s = chart_series(c, p, text);
    if (!s)
        return;
    chart_add_point(c, s, point->timeout_us, 0, NAN, NAN);
    chart_add_point(c, s, point->timeout_us, curve_percent(point->overhead), NAN, NAN);
}

static void add_curve(struct chart *c, struct chart_panel *p, const char *name, const struct sim_curve *curve,
                      bool remote)
{
    struct chart_series *s = chart_series(c, p, name);
    for (size_t i = 0; i < curve->n && s; i++) {
        const struct sim_curve_point *q = &curve->point[i];
        chart_add_point(c, s, q->timeout_us, curve_percent(remote ? q->remote : q->overhead), NAN, NAN);
    }
}

/* Draws the levels of other policies across. */
static void add_levels_of_others(const struct sim_report *r, struct chart *c, struct chart_panel *p)
{
    static const enum sim_policy others[] = {SIM_STOCK, SIM_ORACLE};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *policy = sim_policy_names[others[i]];
        const struct sim_report_result *result = sim_figure_result(r, policy, sim_scheduler_names[SIM_RECORDED]);
        double overhead = result ? 100 * sim_figure_of(result, SIM_OVERHEAD, SIM_TOTAL).value : NAN;
        if (!isfinite(overhead))
            continue;
        chart_add_line(c, p, overhead, policy);
        p->y_hi = fmax(p->y_hi, 1.08 * overhead);
    }
}

int sim_chart_curve(const struct sim_report *r, struct chart *c, char *why, size_t why_size)
{
    const struct sim_curve *curve = &r->curve;
    charts_begin(r, "overhead by the wait of policy timeout", c);
    struct chart_panel *p = chart_add_panel(c, CHART_LINES, "", "wait T before a core goes up, \xC2\xB5s",
                                            "overhead, %");
    p->log_x = true;
    p->y_hi = 0.1; /* where nothing is lost */
    if (curve->n) {
        add_curve(c, p, "all work", curve, false);
        add_curve(c, p, "work that is not wide", curve, true);
        add_mark(c, p, "break-even time", &curve->breakeven);
        add_mark(c, p, "stock's wait", &curve->stock);
    }
    for (size_t i = 0; i < p->n_series; i++)
        for (size_t k = 0; k < p->series[i].n; k++) {
            p->y_lo = fmin(p->y_lo, 1.08 * p->series[i].points[k].y);
            p->y_hi = fmax(p->y_hi, 1.08 * p->series[i].points[k].y);
        }
    add_levels_of_others(r, c, p);
    snprintf(p->note, sizeof p->note, "Horizontal: all work under other policies%s.",
             r->head.runs > 1 ? ", means of all runs; the curve is of one run" : "");
    return plot_worth(c, "no curve with --scheduler", why, why_size);
}
