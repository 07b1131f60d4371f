/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gnuplot script of a plot: layout, shading, labels and data. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/clock.h"
#include "output/plot/gnuplot.h"
#include "output/plot/plot.h"
#include "output/plot/plot_layout.h"
#include "output/plot/plot_series.h"

/* Points of the faint lines in all panels together, and bins of the time axis: bounds the file's size. */
enum { FAINT_BUDGET = 160000, BINS = 2000 };

static const char *const kind_color[] = {
    [PHASE_STEADY] = "#e7f3e4", [PHASE_THROTTLE] = "#fce0bd", [PHASE_HALT] = "#f3b9b6",
    [PHASE_SLOW] = "#d3e3f6",   [PHASE_RAMP] = "#e3d9f2",     [PHASE_UNKNOWN] = "#dedede",
};
enum { KINDS = sizeof(kind_color) / sizeof(kind_color[0]) };
static const char FAINT_COLOR[] = "#b04477aa", MEDIAN_COLOR[] = "#123a66";
static const char *const share_color[] = {"#2e7d32", "#1565c0", "#b71c1c", "#ef6c00"};

static double screen_x(int pixels)
{
    return (double)pixels / WIDTH;
}

static double screen_y(const struct layout *l, double pixels_from_top)
{
    return 1 - pixels_from_top / l->height;
}

static bool has_values(const struct layout *l, enum trace_channel c)
{
    double lo, hi;
    return plot_series_range(l->t, &l->grid, c, 0, &lo, &hi) > 0;
}

/* The value axis: the middle 99 % of the samples and all levels, with some air; IPC and shares start at zero. */
static void scale_panel(const struct layout *l, struct panel *panel)
{
    double lo = INFINITY, hi = -INFINITY;
    for (int c = (int)panel->first; c <= (int)panel->last; c++) {
        double channel_lo, channel_hi;
        if (plot_series_range(l->t, &l->grid, (enum trace_channel)c, 0.005, &channel_lo, &channel_hi) > 0) {
            lo = fmin(lo, channel_lo);
            hi = fmax(hi, channel_hi);
        }
    }
    if (panel->first == TRACE_FREQ) {
        for (size_t i = 0; i < l->p->n_levels; i++) {
            lo = fmin(lo, l->p->levels_ghz[i]);
            hi = fmax(hi, l->p->levels_ghz[i]);
        }
    }
    if (panel->first == TRACE_LVL0) {
        lo = 0;
        hi = 1;
    }
    /* at least 4 % of the value, so that noise on a constant does not look like an event */
    double span = fmax(hi - lo, 0.04 * fmax(fabs(hi), 1e-3));
    double center = (lo + hi) / 2;
    panel->low = center - 0.62 * span;
    panel->high = center + 0.62 * span;
    if (panel->first == TRACE_IPC) {
        panel->low = 0;
        panel->high = 1.12 * fmax(hi, 1e-3);
    }
}

static void add_panel(struct layout *l, const char *title, enum trace_channel first, enum trace_channel last)
{
    bool any = false;
    for (int c = (int)first; c <= (int)last; c++)
        any = any || has_values(l, (enum trace_channel)c);
    if (any) {
        l->panels[l->n_panels] = (struct panel){.title = title, .first = first, .last = last};
        scale_panel(l, &l->panels[l->n_panels++]);
    }
}

static void choose_unit(struct layout *l)
{
    double begin = l->grid.begin_us, end = l->grid.end_us, length = end - begin;
    if (!(length > 0)) { /* a single sample: give it an axis */
        begin -= 1;
        end += 1;
        length = 2;
    }
    bool seconds = length > 2e7, milliseconds = length > 2e4;
    l->unit_us = seconds ? 1e6 : milliseconds ? 1e3 : 1;
    l->unit = seconds ? "s" : milliseconds ? "ms" : "\xC2\xB5s";
    l->begin = begin / l->unit_us;
    l->end = end / l->unit_us;
}

static void place_panels(struct layout *l)
{
    int top = HEAD + NAMES + l->label_rows * LABEL_ROW + 4;
    for (size_t i = 0; i < l->n_panels; i++) {
        l->panels[i].top = top;
        l->panels[i].height = i == 0 ? FIRST_PANEL : OTHER_PANEL;
        top += l->panels[i].height + PANEL_GAP;
    }
    l->height = top - PANEL_GAP + FOOT;
}

/* What the script says */

static void print_terminal(const struct layout *l, enum plot_form form, FILE *out)
{
    /* cairo's points are larger than those of the SVG terminal */
    const char *terminal = form == PLOT_SVG ? "svg" : "pngcairo fontscale 0.83";
    fprintf(out, "set encoding utf8\n");
    fprintf(out, "set terminal %s size %d,%d noenhanced font 'DejaVu Sans,11' background '#ffffff'\n", terminal, WIDTH,
            l->height);
    fprintf(out, "set multiplot\nunset key\nset border 3 lc rgb '#555555'\nset tics out nomirror\n");
    fprintf(out, "set xrange [%.10g:%.10g]\n", l->begin, l->end);
    fprintf(out, "set lmargin at screen %.6f\nset rmargin at screen %.6f\n", screen_x(LEFT), screen_x(WIDTH - RIGHT));
}

static void print_label(FILE *out, const char *text, size_t most, double x, double y, const char *style)
{
    fputs("set label ", out);
    gnuplot_text(out, text, most);
    fprintf(out, " at screen %.6f, screen %.6f %s noenhanced\n", x, y, style);
}

static const char *or_else(const char *s, const char *otherwise)
{
    return s != NULL && s[0] != '\0' ? s : otherwise;
}

static void print_titles(const struct layout *l, FILE *out)
{
    const struct phases *p = l->p;
    char title[600], subtitle[600];
    if (p->from != NULL && p->to != NULL)
        snprintf(title, sizeof(title), "%s \xE2\x86\x92 %s on %s", p->from, p->to, or_else(p->cpu, "an unknown CPU"));
    else
        snprintf(title, sizeof(title), "Phases of a recording on %s", or_else(p->cpu, "an unknown CPU"));
    const char *cores = trace_get(l->t, "active_cores");
    int used = snprintf(subtitle, sizeof(subtitle), "%smachine: %.200s",
                        p->modelled ? "MODELLED, not measured \xC2\xB7 " : "", or_else(p->machine, "not stated"));
    if (cores != NULL)
        used += snprintf(subtitle + used, sizeof(subtitle) - (size_t)used, " \xC2\xB7 active cores: %.20s", cores);
    used += snprintf(subtitle + used, sizeof(subtitle) - (size_t)used, " \xC2\xB7 %zu of %zu repetitions used",
                     p->runs_used, p->runs);
    size_t drawn = l->panels[0].faint_runs;
    if (drawn < p->runs_used)
        snprintf(subtitle + used, sizeof(subtitle) - (size_t)used, ", %zu drawn", drawn);
    print_label(out, title, TITLE_CHARACTERS, 0.5, screen_y(l, 20), "center font ',15'");
    print_label(out, subtitle, SUBTITLE_CHARACTERS, 0.5, screen_y(l, 43),
                p->modelled ? "center font ',11' tc rgb '#b00020'" : "center font ',11' tc rgb '#444444'");
}

static bool shows_zero(const struct layout *l)
{
    return l->begin <= 0 && l->end >= 0;
}

/* Which kernel runs on which side of time 0. */
static void print_kernel_names(const struct layout *l, FILE *out)
{
    double y = screen_y(l, HEAD + NAMES / 2.0), zero = plot_layout_column(l, 0);
    if (!shows_zero(l) || l->p->from == NULL || l->p->to == NULL)
        return;
    char name[80];
    snprintf(name, sizeof(name), "%.60s \xE2\x97\x82", l->p->from);
    print_label(out, name, 60, (zero - 5) / WIDTH, y, "right font ',11' tc rgb '#000000'");
    snprintf(name, sizeof(name), "\xE2\x96\xB8 %.60s", l->p->to);
    print_label(out, name, 60, (zero + 5) / WIDTH, y, "left font ',11' tc rgb '#000000'");
}

static void print_phase_labels(const struct layout *l, const struct placed_label *labels, FILE *out)
{
    for (size_t i = 0; i < l->p->n_phases; i++) {
        if (!labels[i].placed)
            continue;
        double y = HEAD + NAMES + (l->label_rows - labels[i].row - 0.5) * LABEL_ROW; /* row 0 is the lowest */
        print_label(out, labels[i].text, sizeof(labels[i].text), labels[i].start / WIDTH, screen_y(l, y),
                    "left font ',10' tc rgb '#333333'");
        if (labels[i].flag) {
            double x = labels[i].pole / WIDTH;
            fprintf(out,
                    "set arrow from screen %.6f, screen %.6f to screen %.6f, screen %.6f nohead lw 0.7 lc rgb "
                    "'#888888' back\n",
                    x, screen_y(l, y - 6), x, screen_y(l, l->panels[0].top));
        }
    }
}

/* A coloured square and a word for every kind that occurs, and what the lines are. */
static void print_legend(const struct layout *l, FILE *out)
{
    double y = screen_y(l, l->height - 16), x = LEFT;
    for (int kind = 0; kind < KINDS; kind++) {
        bool occurs = false;
        for (size_t i = 0; i < l->p->n_phases; i++)
            occurs = occurs || (int)l->p->phases[i].kind == kind;
        if (!occurs)
            continue;
        const char *name = phases_kind_name((enum phase_kind)kind);
        fprintf(out,
                "set object rectangle from screen %.6f, screen %.6f to screen %.6f, screen %.6f fc rgb '%s' fs solid "
                "1.0 border lc rgb '#888888'\n",
                x / WIDTH, y - 6.0 / l->height, (x + 14) / WIDTH, y + 6.0 / l->height, kind_color[kind]);
        print_label(out, name, 20, (x + 19) / WIDTH, y, "left font ',10' tc rgb '#333333'");
        x += 19 + (double)strlen(name) * LABEL_CHARACTER + 20;
    }
    char what[100];
    snprintf(what, sizeof(what), "%s%s",
             l->p->runs_used < 2              ? "one repetition"
             : clock_reading_of(l->t).instant ? "thin: single repetitions, in steps of the clock; thick: all together"
                                              : "thin: single repetitions, thick: median over them",
             shows_zero(l) ? "; dashed: time 0" : "");
    print_label(out, what, sizeof(what), screen_x(WIDTH - RIGHT), y, "right font ',10' tc rgb '#333333'");
}

static void print_number_rows(const struct layout *l, const struct polyline *line, FILE *out)
{
    for (size_t i = 0; i < line->n; i++)
        if (isfinite(line->y[i]))
            fprintf(out, "%.10g %.6g\n", line->x[i] / l->unit_us, line->y[i]);
        else
            fputc('\n', out); /* an empty line breaks the curve */
    fputs("EOD\n", out);
}

/* The shading, as boxes: time from, to, colour. At least a pixel wide, so that no halt is lost in a long recording. */
static void print_phase_data(const struct layout *l, FILE *out)
{
    double pixel = (l->end - l->begin) / (WIDTH - LEFT - RIGHT);
    fputs("$phases << EOD\n", out);
    for (size_t i = 0; i < l->p->n_phases; i++) {
        double from = fmax(l->p->phases[i].start_us / l->unit_us, l->begin);
        double to = fmin(plot_layout_phase_end(l, i) / l->unit_us, l->end);
        if (to - from < pixel)
            to = from + pixel;
        if (from < l->end)
            fprintf(out, "%.10g %.10g 0x%s\n", from, fmin(to, l->end), kind_color[l->p->phases[i].kind] + 1);
    }
    fputs("EOD\n", out);
}

static size_t faint_budget(const struct layout *l)
{
    size_t panels = 0;
    for (size_t i = 0; i < l->n_panels; i++)
        panels += l->panels[i].first == TRACE_FREQ || l->panels[i].first == TRACE_IPC ? 1 : 0;
    return FAINT_BUDGET / (panels > 0 ? panels : 1);
}

static int print_channel_data(struct layout *l, struct panel *panel, int c, FILE *out, bool *median, bool *faint)
{
    struct polyline line;
    enum trace_channel channel = (enum trace_channel)c;
    *median = *faint = false;
    if (!has_values(l, channel))
        return 0;
    if (panel->first == panel->last) {
        if (plot_series_faint(l->t, &l->grid, channel, BINS, faint_budget(l), &line, &panel->faint_runs) != 0)
            return -1;
        fprintf(out, "$faint%d << EOD\n", c);
        print_number_rows(l, &line, out);
        plot_polyline_free(&line);
        *faint = true;
    }
    if (panel->faint_runs == 1 && panel->first == panel->last)
        return 0; /* of a single repetition there is no median */
    if (plot_series_median(l->t, &l->grid, channel, BINS, &line) != 0)
        return -1;
    fprintf(out, "$median%d << EOD\n", c);
    print_number_rows(l, &line, out);
    plot_polyline_free(&line);
    *median = true;
    return 0;
}

/* The levels as dotted lines with their names at the right edge, those that would overlap without a name. */
static void plot_script_print_levels(const struct layout *l, const struct panel *panel, FILE *out)
{
    double last = INFINITY;
    for (size_t i = 0; i < l->p->n_levels; i++) {
        double ghz = l->p->levels_ghz[i];
        double y = (ghz - panel->low) / (panel->high - panel->low) * panel->height;
        fprintf(out,
                "set arrow from graph 0, first %.6g to graph 1, first %.6g nohead dt 3 lw 1 lc rgb '#777777' front\n",
                ghz, ghz);
        if (last - y > 12) {
            fprintf(out, "set label 'L%zu %.3f' at graph 1.006, first %.6g left font ',10' tc rgb '#555555'\n", i, ghz,
                    ghz);
            last = y;
        }
    }
}

/* A distance of tics of 1, 2 or 5 times a power of ten that gives four to ten of them. */
static double tic_step(double range)
{
    double power = pow(10, floor(log10(range / 4)));
    double steps = range / 4 / power;
    return power * (steps >= 5 ? 5 : steps >= 2 ? 2 : 1);
}

static void print_panel_frame(const struct layout *l, const struct panel *panel, bool last, FILE *out)
{
    fprintf(out, "set tmargin at screen %.6f\nset bmargin at screen %.6f\n", screen_y(l, panel->top),
            screen_y(l, panel->top + panel->height));
    fprintf(out, "set yrange [%.8g:%.8g]\n", panel->low, panel->high);
    fprintf(out, "set ylabel '%s' offset 0.5,0 font ',11'\n", panel->title);
    fprintf(out, "set ytics %.6g font ',10'\n", tic_step(panel->high - panel->low));
    if (last) {
        fprintf(out, "set xtics format '%%g' font ',10'\nset xlabel 'time (%s)%s' font ',11' offset 0,0.3\n", l->unit,
                l->p->to != NULL ? ", 0 = first instruction of the second kernel" : "");
    } else {
        fprintf(out, "set xtics format ''\nunset xlabel\n");
    }
    if (shows_zero(l))
        fprintf(out, "set arrow from first 0, graph 0 to first 0, graph 1 nohead lw 1.2 dt 2 lc rgb '#333333' front\n");
}

/* One curve of the plot command; thin lines for what is drawn many times over. */
static void plot_script_print_curve(FILE *out, const char *name, int c, double width, const char *color,
                                    const char *title)
{
    fprintf(out, ", \\\n  $%s%d using 1:2 with lines lw %.1f lc rgb '%s' %s", name, c, width, color, title);
}

static int print_panel(struct layout *l, size_t index, FILE *out)
{
    struct panel *panel = &l->panels[index];
    bool median[TRACE_CHANNELS] = {false}, faint[TRACE_CHANNELS] = {false}, several = panel->first != panel->last;
    for (int c = (int)panel->first; c <= (int)panel->last; c++)
        if (print_channel_data(l, panel, c, out, &median[c], &faint[c]) != 0)
            return -1;
    print_panel_frame(l, panel, index + 1 == l->n_panels, out);
    if (panel->first == TRACE_FREQ)
        plot_script_print_levels(l, panel, out);
    fprintf(out, several ? "set key at graph 1.004, graph 1 left top Left reverse samplen 1 spacing 1.1 font ',10'\n"
                         : "unset key\n");
    fprintf(
        out,
        "plot $phases using 1:(%.8g):1:2:(%.8g):(%.8g):3 with boxxyerror lc rgb variable fs solid 1.0 noborder notitle",
        panel->low, panel->low, panel->high);
    for (int c = (int)panel->first; c <= (int)panel->last; c++) {
        char title[40];
        snprintf(title, sizeof(title), several ? "title '%s'" : "notitle", trace_channel_name((enum trace_channel)c));
        if (faint[c]) {
            bool single = panel->faint_runs == 1;
            plot_script_print_curve(out, "faint", c, single ? 1.4 : 0.6, single ? MEDIAN_COLOR : FAINT_COLOR, title);
        }
        if (median[c]) {
            bool share = several && c >= TRACE_LVL0; /* panels of several curves are those of shares */
            plot_script_print_curve(out, "median", c, 1.8, share ? share_color[c - TRACE_LVL0] : MEDIAN_COLOR, title);
        }
    }
    fprintf(out, "\nunset label\nunset arrow\nunset object\n");
    return 0;
}

static int print_all(struct layout *l, enum plot_form form, FILE *out)
{
    struct placed_label *labels = plot_layout_labels(l);
    if (labels == NULL)
        return -1;
    place_panels(l);
    print_terminal(l, form, out);
    print_phase_data(l, out);
    print_kernel_names(l, out);
    print_phase_labels(l, labels, out);
    print_legend(l, out);
    free(labels);
    for (size_t i = 0; i < l->n_panels; i++)
        if (print_panel(l, i, out) != 0)
            return -1;
    /* the titles come last: how many repetitions were drawn is known only now */
    fprintf(out, "unset border\nunset tics\nunset xlabel\nunset ylabel\nunset key\n");
    print_titles(l, out);
    fprintf(out, "set yrange [0:1]\nplot 2 notitle\nunset multiplot\n"); /* beyond the axis: nothing but the labels */
    return 0;
}

static int plot_script_by_run(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The grid without the repetitions that were discarded. */
static int find_grid(struct layout *l)
{
    uint32_t *skip = malloc((l->p->n_discarded + 1) * sizeof(*skip));
    if (skip == NULL)
        return -1;
    for (size_t i = 0; i < l->p->n_discarded; i++)
        skip[i] = l->p->discarded[i].run;
    qsort(skip, l->p->n_discarded, sizeof(*skip), plot_script_by_run);
    int status = plot_series_grid_find(l->t, skip, l->p->n_discarded, &l->grid);
    free(skip);
    return status;
}

int plot_script(const struct trace *t, const struct phases *p, enum plot_form form, FILE *out, char *why,
                size_t why_size)
{
    struct layout l = {.t = t, .p = p};
    if (find_grid(&l) != 0) {
        snprintf(why, why_size, "%s", t->n == 0 ? "the trace has no samples to draw" : "out of memory");
        return -1;
    }
    choose_unit(&l);
    add_panel(&l, "frequency (GHz)", TRACE_FREQ, TRACE_FREQ);
    add_panel(&l, "IPC (1/cycle)", TRACE_IPC, TRACE_IPC);
    add_panel(&l, "core voltage (V)", TRACE_VOLTS, TRACE_VOLTS);
    add_panel(&l, "share of cycles", TRACE_LVL0, TRACE_THROTTLE);
    int status = -1;
    if (l.n_panels == 0) {
        snprintf(why, why_size, "the trace has no values to draw");
    } else {
        status = print_all(&l, form, out);
        if (status != 0)
            snprintf(why, why_size, "out of memory");
    }
    plot_series_grid_free(&l.grid);
    return status;
}
