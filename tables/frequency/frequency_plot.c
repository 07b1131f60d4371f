/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plot of the table frequency: a line for each kernel over the active cores, and the rated limits. */
#include <math.h>
#include <string.h>

#include "tables/frequency/frequency.h"
#include "tables/table/chart_table.h"

/* The rated limit, where a table has it. */
static const char rated_column[] = "turbo_limit_ghz";
enum { EMPTY_MARKS = 5 }; /* five marks from here on are outlines */

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
    memset(level, -1, sizeof level); /* none is known */
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *kernel = table_text(t, row, "kernel");
        struct estimate v = estimates_of_table(t, row, "freq_ghz");
        if (!kernel || strcmp(chart_key(t, row, "cpu", key, sizeof key), cpu) != 0 || p->n_series >= SERIES_MAX)
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
        bool drawn = strcmp(chart_key(t, row, "cpu", key, sizeof key), cpu) != 0 || !isfinite(y);
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
    char name[100];
    int number = 0;
    rated_series(t, c, p, cpu, "rated, non-AVX", NULL, number++);
    for (size_t i = 0; i < t->n_settings; i++)
        if (frequency_limits_of(t, i)) {
            snprintf(name, sizeof name, "rated, %.60s", frequency_limits_of(t, i));
            rated_series(t, c, p, cpu, name, t->settings[i].value, number++);
        }
}

void frequency_plot(const struct table *t, struct chart *c)
{
    enum { CPUS_MAX = 4 };
    struct chart_names cpus = {0};
    char key[80], title[100];
    for (size_t row = 0; row < t->n_rows; row++)
        chart_name(c, &cpus, chart_key(t, row, "cpu", key, sizeof key));
    for (size_t i = 0; i < cpus.n && i < CPUS_MAX; i++) {
        snprintf(title, sizeof title, cpus.n > 1 ? "CPU %s" : "%s", cpus.n > 1 ? cpus.name[i] : "");
        struct chart_panel *p = chart_add_panel(c, CHART_LINES, title, "active cores", "frequency (GHz)");
        p->whole_x = true;
        frequency_of_cpu(t, c, p, cpus.name[i]);
        frequency_rated(t, c, p, cpus.name[i]);
        if (i + 1 == CPUS_MAX) {
            p->omitted = cpus.n - CPUS_MAX;
            chart_tell_omitted(p, CPUS_MAX, "CPUs");
        }
    }
    chart_free_names(&cpus);
}
