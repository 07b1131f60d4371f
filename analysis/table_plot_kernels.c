/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plots of the tables whose rows are about one kernel: frequency, trigger, umask, energy. */
#include <math.h>
#include <string.h>

#include "analysis/table_plot_parts.h"

/* ---- frequency ---- */

/* What the processor states as its limit, where a table has it. */
static const char stated_column[] = "stated_ghz";

/* Kernels of one level share colour, mark and one entry of the legend. */
static void join_levels(struct chart_panel *p, const int *level)
{
    for (size_t i = 0; i < p->n_series; i++) {
        struct chart_series *s = &p->series[i];
        size_t first = 0;
        if (level[i] < 0 || s->faint)
            continue;
        s->colour = s->mark = level[i];
        while (first < i && (level[first] != level[i] || p->series[first].faint))
            first++;
        if (first < i) {
            char joined[2 * CHART_NAME_MAX + 4];
            snprintf(joined, sizeof joined, "%s, %s", p->series[first].name, s->name);
            snprintf(p->series[first].name, sizeof s->name, "%.*s", CHART_NAME_MAX - 1, joined);
            s->in_legend = false;
        }
    }
    for (size_t i = 0; i < p->n_series; i++)
        if (level[i] >= 0 && p->series[i].in_legend && !p->series[i].faint) {
            char kernels[CHART_NAME_MAX];
            snprintf(kernels, sizeof kernels, "%s", p->series[i].name);
            snprintf(p->series[i].name, sizeof p->series[i].name, "level %d: %.140s", level[i], kernels);
        }
}

enum { SERIES_MAX = 256 };

static void frequency_of_cpu(const struct table *t, struct chart *c, struct chart_panel *p, const char *cpu)
{
    int level[SERIES_MAX];
    char key[80];
    for (size_t i = 0; i < SERIES_MAX; i++)
        level[i] = -1;
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *kernel = table_text(t, row, "kernel");
        struct plot_value v = plot_value(t, row, "freq_ghz");
        if (!kernel || strcmp(plot_key(t, row, "cpu", key, sizeof key), cpu) != 0 || p->n_series >= SERIES_MAX)
            continue;
        struct chart_series *s = chart_series(c, p, kernel);
        double number = table_number(t, row, "level");
        if (s && isfinite(number) && number >= 0 && number < 100)
            level[s - p->series] = (int)number;
        chart_add_point(c, s, table_number(t, row, "active_cores"), v.value, v.lo, v.hi);
    }
    join_levels(p, level);
}

/* The stated limits: faint crosses, once for each level and number of cores. */
static void frequency_stated(const struct table *t, struct chart *c, struct chart_panel *p, const char *cpu)
{
    char key[80];
    if (!plot_has(t, stated_column))
        return;
    struct chart_series *s = chart_series(c, p, "stated by the processor");
    for (size_t row = 0; s && row < t->n_rows; row++) {
        double x = table_number(t, row, "active_cores"), y = table_number(t, row, stated_column);
        bool drawn = strcmp(plot_key(t, row, "cpu", key, sizeof key), cpu) != 0;
        for (size_t i = 0; i < s->n && !drawn; i++)
            drawn = s->points[i].x == x && s->points[i].y == y;
        if (!drawn)
            chart_add_point(c, s, x, y, NAN, NAN);
    }
    if (s) {
        s->line = false;
        s->colour = -1;
        s->mark = 6; /* an empty square: what is measured shows through it */
        s->faint = true;
    }
}

void plot_frequency(const struct table *t, struct chart *c)
{
    enum { CPUS_MAX = 4 };
    struct chart_names cpus = {0};
    char key[80], title[100];
    for (size_t row = 0; row < t->n_rows; row++)
        chart_name(c, &cpus, plot_key(t, row, "cpu", key, sizeof key));
    for (size_t i = 0; i < cpus.n && i < CPUS_MAX; i++) {
        snprintf(title, sizeof title, cpus.n > 1 ? "CPU %s" : "%s", cpus.n > 1 ? cpus.name[i] : "");
        struct chart_panel *p = chart_add_panel(c, CHART_LINES, title);
        snprintf(p->x_label, sizeof p->x_label, "active cores");
        snprintf(p->y_label, sizeof p->y_label, "frequency (GHz)");
        p->whole_x = true;
        frequency_of_cpu(t, c, p, cpus.name[i]);
        frequency_stated(t, c, p, cpus.name[i]);
        if (i + 1 == CPUS_MAX)
            plot_tell_omitted(p, CPUS_MAX, cpus.n, "CPUs");
    }
    chart_free_names(&cpus);
}

/* ---- trigger ---- */

static void trigger_levels(const struct table *t, struct chart *c)
{
    struct chart_panel *p = chart_add_panel(c, CHART_LINES, "Level that the core asks for, by density");
    snprintf(p->x_label, sizeof p->x_label, "density: one such instruction in every N");
    snprintf(p->y_label, sizeof p->y_label, "level");
    p->log_x = p->one_in_x = true;
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *kernel = table_text(t, row, "kernel");
        double density = table_number(t, row, "density"), level = table_number(t, row, "level");
        if (!kernel || !(density > 0) || !isfinite(level))
            continue;
        /* a share of the instructions is as good as its inverse */
        struct chart_series *s = chart_series(c, p, kernel);
        double shift = s ? 0.035 * (double)((s - p->series) % PLOT_ROWS_MAX) : 0;
        chart_add_point(c, s, density < 1 ? 1 / density : density, level + shift, NAN, NAN);
    }
    if (p->n_series > 1)
        snprintf(p->note, sizeof p->note, "Kernels are drawn a little apart from each other, so that none is hidden.");
}

static void trigger_counts(const struct table *t, struct chart *c)
{
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, "Instructions until a level is asked for");
    char name[160], text[CHART_TEXT_MAX];
    size_t n = 0;
    snprintf(p->x_label, sizeof p->x_label, "instructions");
    p->log_x = true;
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *kernel = table_text(t, row, "kernel");
        struct plot_value v = plot_value(t, row, "count");
        double density = table_number(t, row, "density"), level = table_number(t, row, "level");
        if (!kernel || !(v.value > 0) || n++ >= PLOT_ROWS_MAX)
            continue;
        snprintf(name, sizeof name, "%s", kernel);
        if (isfinite(density) && density > 1 && !strchr(kernel, '@'))
            snprintf(name, sizeof name, "%s@1/%.0f", kernel, density);
        if (isfinite(level)) {
            size_t used = strlen(name);
            snprintf(name + used, sizeof name - used, ", level %.0f", level);
        }
        chart_number(v.value, text, sizeof text);
        chart_add_bar(c, p, (struct chart_bar){.category = chart_name(c, &p->categories, name), .to = v.value,
                                               .lo = v.lo, .hi = v.hi, .dot = true, .lanes = 1}, text);
    }
    plot_tell_omitted(p, n < PLOT_ROWS_MAX ? n : PLOT_ROWS_MAX, n, "thresholds");
}

void plot_trigger(const struct table *t, struct chart *c)
{
    trigger_levels(t, c);
    trigger_counts(t, c);
}

/* ---- umask ---- */

static void umask_cell(struct chart_panel *p, size_t row, size_t column, double share)
{
    struct chart_cell *cell = chart_cell(p, row, column);
    if (!cell || !isfinite(share))
        return;
    cell->state = CELL_VALUE;
    cell->value = share;
    snprintf(cell->text, sizeof cell->text, share > 0 && share < 0.005 ? "<.01" : "%.2f", share);
}

static void umask_name(const struct table *t, size_t row, char *out, size_t size)
{
    double event = table_number(t, row, "event"), umask = table_number(t, row, "umask");
    bool one_event = !isfinite(event) || !plot_varies(t, "event");
    if (!isfinite(umask) || umask < 0 || umask > 65535)
        snprintf(out, size, "?");
    else if (one_event)
        snprintf(out, size, "%02XH", (unsigned)umask);
    else
        snprintf(out, size, "%02XH.%02XH", (unsigned)event & 0xFFFFu, (unsigned)umask);
}

void plot_umask(const struct table *t, struct chart *c)
{
    struct chart_panel *p = chart_add_panel(c, CHART_CELLS, "Share of the core\xE2\x80\x99s cycles that the event "
                                                            "counted");
    char name[40];
    snprintf(p->y_label, sizeof p->y_label, "unit mask");
    snprintf(p->scale_label, sizeof p->scale_label, "share of cycles; hatched: not measured");
    p->scale_lo = 0;
    p->scale_hi = 1;
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *kernel = table_text(t, row, "kernel"), *reading = table_text(t, row, "reading");
        umask_name(t, row, name, sizeof name);
        size_t k = chart_name(c, &p->categories, name);
        if (kernel)
            chart_name(c, &p->columns, kernel);
        if (k == p->remarks.n)
            chart_add_name(c, &p->remarks, reading ? reading : "");
    }
    chart_make_cells(c, p);
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *kernel = table_text(t, row, "kernel");
        umask_name(t, row, name, sizeof name);
        if (kernel)
            umask_cell(p, chart_find_name(&p->categories, name), chart_find_name(&p->columns, kernel),
                       table_number(t, row, "share"));
    }
}

/* ---- energy ---- */

static void energy_name(const struct table *t, size_t row, char *out, size_t size)
{
    const char *kernel = table_text(t, row, "kernel");
    double freq = table_number(t, row, "freq_ghz");
    snprintf(out, size, "%s", kernel ? kernel : "?");
    if (isfinite(freq)) {
        size_t used = strlen(out);
        snprintf(out + used, size - used, " at %.2f GHz", freq);
    }
}

static void energy_panel(const struct table *t, struct chart *c, const char *column, const char *title,
                         const char *label, int colour)
{
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, title);
    char name[160], text[CHART_TEXT_MAX];
    size_t n = 0;
    snprintf(p->x_label, sizeof p->x_label, "%s", label);
    for (size_t row = 0; row < t->n_rows; row++) {
        struct plot_value v = plot_value(t, row, column);
        if (!isfinite(v.value) || n++ >= PLOT_ROWS_MAX)
            continue;
        energy_name(t, row, name, sizeof name);
        chart_number(v.value, text, sizeof text);
        chart_add_bar(c, p, (struct chart_bar){.category = chart_name(c, &p->categories, name), .to = v.value,
                                               .lo = v.lo, .hi = v.hi, .colour = colour, .lanes = 1}, text);
    }
    plot_tell_omitted(p, n < PLOT_ROWS_MAX ? n : PLOT_ROWS_MAX, n, "rows");
}

void plot_energy(const struct table *t, struct chart *c)
{
    energy_panel(t, c, "nj_per_op", "Energy per operation", "nJ per operation", 0);
    energy_panel(t, c, "watts", "Power above an idle loop", "W", 1);
}
