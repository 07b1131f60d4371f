/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plots of the tables whose rows are about one kernel: frequency, trigger, umask, energy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/frequency/core_ranges.h"
#include "output/plot/table_plot_parts.h"

/* ---- frequency ---- */

/* What the processor states as its limit, where a table has it. */
static const char rated_column[] = "turbo_limit_ghz";
enum { EMPTY_MARKS = 5 }; /* five marks from here on have an segmentation only */

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

/* Limits that the processor states: faint, empty marks, one for each number of cores. */
static void rated_series(const struct table *t, struct chart *c, struct chart_panel *p, const char *cpu,
                         const char *name, const char *limits, int number)
{
    char key[80];
    struct chart_series *s = NULL;
    for (size_t row = 0; row < t->n_rows; row++) {
        double x = table_number(t, row, "active_cores");
        /* turbo_limit_ghz is of the kind of core that was measured */
        double y = limits ? core_ranges_value(limits, (unsigned)x) : table_number(t, row, rated_column);
        bool drawn = strcmp(plot_key(t, row, "cpu", key, sizeof key), cpu) != 0 || !isfinite(y);
        for (size_t i = 0; s && i < s->n && !drawn; i++)
            drawn = s->points[i].x == x && s->points[i].y == y;
        if (drawn)
            continue;
        s = chart_series(c, p, name);
        if (!s)
            return;
        chart_add_point(c, s, x, y, NAN, NAN);
    }
    if (s) {
        s->line = false;
        s->colour = -1;
        s->mark = EMPTY_MARKS + number % 5; /* what is measured shows through it */
        s->faint = true;
    }
}

static void frequency_rated(const struct table *t, struct chart *c, struct chart_panel *p, const char *cpu)
{
    static const char of[] = TURBO_LIMITS_OF;
    char name[100];
    int number = 0;
    rated_series(t, c, p, cpu, "stated, non-AVX", NULL, number++);
    for (size_t i = 0; i < t->n_settings; i++)
        if (strncmp(t->settings[i].key, of, sizeof of - 1) == 0 &&
            strcmp(t->settings[i].key + sizeof of - 1, "E cores") != 0) {
            snprintf(name, sizeof name, "stated, %.60s", t->settings[i].key + sizeof of - 1);
            rated_series(t, c, p, cpu, name, t->settings[i].value, number++);
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
        frequency_rated(t, c, p, cpus.name[i]);
        if (i + 1 == CPUS_MAX)
            plot_tell_omitted(p, CPUS_MAX, cpus.n, "CPUs");
    }
    chart_free_names(&cpus);
}

/* ---- trigger ---- */

enum { DENSITIES_MAX = 40 };

static int table_plot_kernels_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One in how many instructions; a share of the instructions is as good as its inverse. NaN: the row tells no level. */
static double one_in(const struct table *t, size_t row)
{
    double density = table_number(t, row, "density");
    bool level = isfinite(table_number(t, row, "level")) || table_text(t, row, "asks");
    bool told = table_text(t, row, "kernel") && density > 0 && level && plot_is(t, row, "what", "density");
    return told ? density < 1 ? 1 / density : density : NAN;
}

/* The columns: all densities that have a level, dense ones first. */
static void density_names(const struct table *t, struct chart *c, struct chart_panel *p)
{
    double found[DENSITIES_MAX];
    char name[40];
    size_t n = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        double density = one_in(t, row);
        size_t i = 0;
        while (i < n && found[i] != density)
            i++;
        if (isfinite(density) && i == n && n < DENSITIES_MAX)
            found[n++] = density;
    }
    qsort(found, n, sizeof *found, table_plot_kernels_ascending);
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "1/%.4g", found[i]);
        chart_name(c, &p->columns, name);
    }
}

/* A level, or where no counter tells it what the core did instead. */
static void level_cell(struct chart_cell *cell, double level, const char *asks)
{
    bool throttle = asks && strcmp(asks, "throttle only") == 0, nothing = asks && strcmp(asks, "nothing") == 0,
         undecided = asks && strcmp(asks, "undecided") == 0;
    if (!cell || (!isfinite(level) && !asks))
        return;
    cell->state = isfinite(level) ? CELL_VALUE : CELL_PLAIN;
    cell->value = level;
    if (isfinite(level))
        snprintf(cell->text, sizeof cell->text, "%.3g%s", level, throttle ? " t" : "");
    else
        snprintf(cell->text, sizeof cell->text, "%s",
                 throttle    ? "t"
                 : nothing   ? "\xC2\xB7"
                 : undecided ? "?"
                             : "\xE2\x86\x93");
}

static void trigger_levels(const struct table *t, struct chart *c)
{
    struct chart_panel *p = chart_add_panel(
        c, CHART_CELLS, "Level that the core asks for, by density: one such instruction in every N");
    char name[40];
    snprintf(p->y_label, sizeof p->y_label, "density");
    snprintf(p->scale_label, sizeof p->scale_label, "level; hatched: not measured");
    snprintf(p->note, sizeof p->note, "t: throttled, same frequency%s",
             plot_has(t, "level") ? "" : "; \xE2\x86\x93: lower frequency; \xC2\xB7: nothing; ?: undecided");
    p->scale_hi = fmax(plot_largest(t, "level"), 2);
    density_names(t, c, p);
    for (size_t row = 0; row < t->n_rows; row++)
        if (isfinite(one_in(t, row)))
            chart_name(c, &p->categories, table_text(t, row, "kernel"));
    chart_make_cells(c, p);
    for (size_t row = 0; row < t->n_rows; row++) {
        if (!isfinite(one_in(t, row)))
            continue;
        snprintf(name, sizeof name, "1/%.4g", one_in(t, row));
        struct chart_cell *cell = chart_cell(p, chart_find_name(&p->categories, table_text(t, row, "kernel")),
                                             chart_find_name(&p->columns, name));
        if (cell)
            level_cell(cell, table_number(t, row, "level"), table_text(t, row, "asks"));
    }
}

/* Mixtures of two kernels beside what each of them asks for alone. */
static void trigger_mixtures(const struct table *t, struct chart *c)
{
    static const char *const names[] = {"one alone", "other alone", "mixed"};
    static const char *const columns[] = {"level_kernel", "level_with", "level"};
    struct chart_panel *p = chart_add_panel(c, CHART_CELLS, "Level that mixtures ask for");
    char name[200];
    for (size_t i = 0; i < 3; i++)
        chart_name(c, &p->columns, names[i]);
    p->scale_hi = fmax(plot_largest(t, "level"), 2);
    snprintf(p->scale_label, sizeof p->scale_label, "level; hatched: not told");
    for (int pass = 0; pass < 2; pass++) {
        for (size_t row = 0; row < t->n_rows; row++) {
            const char *kernel = table_text(t, row, "kernel"), *with = table_text(t, row, "with");
            if (!kernel || !with || !plot_is(t, row, "what", "mixture"))
                continue;
            snprintf(name, sizeof name, "%s and %s", kernel, with);
            size_t k = chart_name(c, &p->categories, name);
            for (size_t i = 0; pass && i < 3; i++)
                level_cell(chart_cell(p, k, i), table_number(t, row, columns[i]), NULL);
        }
        if (!pass)
            chart_make_cells(c, p);
    }
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
        if (!kernel || !(v.value > 0) || !plot_is(t, row, "what", "count") || n++ >= PLOT_ROWS_MAX)
            continue;
        snprintf(name, sizeof name, "%s", kernel);
        if (isfinite(density) && density > 1 && !strchr(kernel, '@'))
            snprintf(name, sizeof name, "%s@1/%.0f", kernel, density);
        const char *asks = table_text(t, row, "asks");
        size_t used = strlen(name);
        if (asks)
            snprintf(name + used, sizeof name - used, ", %s", asks);
        else if (isfinite(level))
            snprintf(name + used, sizeof name - used, ", level %.0f", level);
        chart_number(v.value, text, sizeof text);
        chart_add_bar(c, p,
                      (struct chart_bar){.category = chart_name(c, &p->categories, name),
                                         .to = v.value,
                                         .lo = v.lo,
                                         .hi = v.hi,
                                         .dot = true,
                                         .lanes = 1},
                      text);
    }
    plot_tell_omitted(p, n < PLOT_ROWS_MAX ? n : PLOT_ROWS_MAX, n, "thresholds");
}

void plot_trigger(const struct table *t, struct chart *c)
{
    trigger_levels(t, c);
    trigger_counts(t, c);
    trigger_mixtures(t, c);
}

/* ---- umask ---- */

static void umask_cell(struct chart_panel *p, size_t row, size_t column, double share)
{
    struct chart_cell *cell = chart_cell(p, row, column);
    if (!cell || !isfinite(share))
        return;
    cell->state = CELL_VALUE;
    cell->value = share;
    snprintf(cell->text, sizeof cell->text, fabs(share) < 0.0005 ? "0" : fabs(share) < 0.005 ? "<.01" : "%.2f", share);
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

/* What is said of an umask: its reading, and that the documentation says otherwise. */
static void umask_remark(const struct table *t, size_t row, char *out, size_t size)
{
    const char *reading = table_text(t, row, "reading"), *disagrees = table_text(t, row, "disagrees");
    snprintf(out, size, "%s%s", reading ? reading : "",
             disagrees && *disagrees && strcmp(disagrees, "no") != 0 ? " (not as documented)" : "");
}

/* One matrix: all rows, or those of one `when`. */
static void umask_matrix(const struct table *t, struct chart *c, const char *when)
{
    char name[200];
    snprintf(name, sizeof name, "Share of the core\xE2\x80\x99s cycles that the event counted%s%s", *when ? ": " : "",
             when);
    struct chart_panel *p = chart_add_panel(c, CHART_CELLS, name);
    if (!p)
        return;
    snprintf(p->y_label, sizeof p->y_label, "unit mask");
    snprintf(p->scale_label, sizeof p->scale_label, "share of cycles; hatched: not measured");
    p->scale_hi = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t row = 0; row < t->n_rows; row++) {
            const char *kernel = table_text(t, row, "kernel");
            char key[80];
            if (!kernel || strcmp(plot_key(t, row, "when", key, sizeof key), when) != 0)
                continue;
            umask_name(t, row, name, sizeof name);
            size_t k = chart_name(c, &p->categories, name), column = chart_name(c, &p->columns, kernel);
            umask_remark(t, row, name, sizeof name);
            if (k == p->remarks.n)
                chart_add_name(c, &p->remarks, name);
            if (pass)
                umask_cell(p, k, column, table_number(t, row, "share"));
        }
        if (!pass)
            chart_make_cells(c, p);
    }
}

void plot_umask(const struct table *t, struct chart *c)
{
    struct chart_names whens = {0};
    char key[80];
    for (size_t row = 0; row < t->n_rows; row++)
        chart_name(c, &whens, plot_key(t, row, "when", key, sizeof key));
    for (size_t i = 0; i < whens.n && i < CHART_PANELS_MAX; i++)
        umask_matrix(t, c, whens.name[i]);
    chart_free_names(&whens);
}

/* ---- energy ---- */

/* "512fma at 2.10 GHz, 4 cores, automatic": what does not vary in the table is left out. */
static void energy_name(const struct table *t, size_t row, char *out, size_t size)
{
    const char *kernel = table_text(t, row, "kernel"), *mode = table_text(t, row, "mode");
    double freq = table_number(t, row, "freq_ghz"), cores = table_number(t, row, "active_cores");
    snprintf(out, size, "%s", kernel ? kernel : "?");
    size_t used = strlen(out);
    if (isfinite(freq) && used < size)
        used += (size_t)snprintf(out + used, size - used, " at %.2f GHz", freq);
    if (isfinite(cores) && plot_varies(t, "active_cores") && used < size)
        used += (size_t)snprintf(out + used, size - used, ", %.0f core%s", cores, cores == 1 ? "" : "s");
    if (mode && plot_varies(t, "mode") && used < size)
        snprintf(out + used, size - used, ", %s", mode);
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
        chart_add_bar(c, p,
                      (struct chart_bar){.category = chart_name(c, &p->categories, name),
                                         .to = v.value,
                                         .lo = v.lo,
                                         .hi = v.hi,
                                         .colour = colour,
                                         .lanes = 1},
                      text);
    }
    plot_tell_omitted(p, n < PLOT_ROWS_MAX ? n : PLOT_ROWS_MAX, n, "rows");
}

void plot_energy(const struct table *t, struct chart *c)
{
    energy_panel(t, c, "nj_per_op", "Energy per operation", "nJ per operation", 0);
    energy_panel(t, c, "watts", "Power above an idle loop", "W", 1);
}
