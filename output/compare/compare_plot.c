/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What differs, as a picture: a row for each cell, how far its values are from their median. */
#include <math.h>
#include <string.h>

#include "output/compare/compare_parts.h"
#include "tables/table/chart_table.h"
#include "util/text_list.h"

enum { EACH_MOST = CHART_COLOURS /* measurements that have a colour each */, ROWS_FEW = 12, ROWS_MANY = 40 };

static bool cell_drawn(const struct compare_cell *cell, const struct table_kind *k)
{
    return cell->kind == k && cell->sort == COMPARE_LIMITS && cell->n > 1 && cell->median != 0;
}

static bool table_differs(const struct comparison *c, const struct table_kind *k)
{
    for (size_t i = 0; i < c->n_cells; i++)
        if (cell_drawn(&c->cells[i], k) && compare_differs(&c->cells[i]))
            return true;
    return false;
}

/* "freq_ghz: 512fma, 4 cores" of "frequency|kernel=512fma active_cores=4|freq_ghz", "down_us: 128fma → 512fma": names
 * are cut off at their end where there is no room. */
static void row_name(const struct compare_cell *cell, char *out, size_t size)
{
    char where[CHART_NAME_MAX], *rest = NULL;
    const char *begin = strchr(cell->key, '|'), *between = ": ";
    snprintf(where, sizeof where, "%s", begin ? begin + 1 : "");
    where[strcspn(where, "|")] = '\0';
    snprintf(out, size, "%s", cell->column->name);
    for (char *key = strtok_r(where, " ", &rest); key; key = strtok_r(NULL, " ", &rest), between = ", ") {
        char *value = strchr(key, '=');
        bool plain = value && (strncmp(key, "from=", 5) == 0 || strncmp(key, "kernel=", 7) == 0);
        if (value && strncmp(key, "to=", 3) == 0)
            text_list_add(out, size, " \xE2\x86\x92 ", "%s", value + 1);
        else if (value && strncmp(key, "active_cores=", 13) == 0)
            text_list_add(out, size, between, "%s core%s", value + 1, strcmp(value + 1, "1") == 0 ? "" : "s");
        else /* without a =, it is the rest of a value with a blank in it */
            text_list_add(out, size, value ? between : " ", "%s", plain ? value + 1 : key);
    }
}

static double percent_off(const struct compare_cell *cell, double value)
{
    return 100 * (value - cell->median) / fabs(cell->median);
}

/* A point with its limits for each measurement. */
static void put_each(struct chart *chart, struct chart_panel *p, const struct comparison *c,
                     const struct compare_cell *cell, size_t row)
{
    for (size_t i = 0; i < cell->n; i++) {
        const struct compare_value *v = &cell->values[i];
        chart_add_bar(chart, p,
                      (struct chart_bar){.category = row,
                                         .lane = (int)v->measurement,
                                         .lanes = (int)c->n,
                                         .to = percent_off(cell, v->value),
                                         .lo = percent_off(cell, v->value - (double)v->below),
                                         .hi = percent_off(cell, v->value + (double)v->above),
                                         .colour = (int)v->measurement,
                                         .dot = true},
                      "");
    }
}

/* A bar over the middle eight tenths, and a point for each that is unlike the others. The values are sorted. */
static void put_distribution(struct chart *chart, struct chart_panel *p, const struct compare_cell *cell, size_t row)
{
    chart_add_bar(chart, p,
                  (struct chart_bar){.category = row,
                                     .from = percent_off(cell, compare_quantile(cell, 0.1)),
                                     .to = percent_off(cell, compare_quantile(cell, 0.9)),
                                     .lo = NAN,
                                     .hi = NAN,
                                     .colour = CHART_MUTED},
                  "");
    for (size_t i = 0; i < cell->n; i++)
        if (compare_is_unlike(cell, &cell->values[i]))
            chart_add_bar(
                chart, p,
                (struct chart_bar){
                    .category = row, .to = percent_off(cell, cell->values[i].value), .lo = NAN, .hi = NAN, .dot = true},
                "");
}

static void put_legend(struct chart *chart, struct chart_panel *p, const struct comparison *c)
{
    for (size_t i = 0; i < c->n && c->n <= EACH_MOST; i++)
        chart_add_legend(chart, p, c->list[i].name, (int)i);
    if (c->n > EACH_MOST) {
        chart_add_legend(chart, p, "eight tenths of the measurements", CHART_MUTED);
        chart_add_legend(chart, p, "unlike the others", 0);
    }
}

/* What differs of a table, or all of it. */
static void plot_kind(const struct comparison *c, const struct table_kind *k, bool all, struct chart *chart)
{
    struct chart_panel *p = chart_add_panel(chart, CHART_BARS, k->title, "from the median, %", "");
    const size_t most = c->n <= EACH_MOST ? ROWS_FEW : ROWS_MANY;
    if (!p)
        return;
    for (size_t i = 0; i < c->n_cells; i++) {
        char name[CHART_NAME_MAX];
        if (!cell_drawn(&c->cells[i], k) || !(all || compare_differs(&c->cells[i])))
            continue;
        if (p->categories.n == most) {
            p->omitted++;
            continue;
        }
        row_name(&c->cells[i], name, sizeof name);
        const size_t row = chart_name(chart, &p->categories, name);
        if (c->n <= EACH_MOST)
            put_each(chart, p, c, &c->cells[i], row);
        else
            put_distribution(chart, p, &c->cells[i], row);
    }
    put_legend(chart, p, c);
    chart_tell_omitted(p, p->categories.n, all ? "values" : "values that differ");
}

void compare_plot(const struct comparison *c, struct chart *chart)
{
    size_t n, panels = 0;
    memset(chart, 0, sizeof *chart);
    const struct table_kind *const *kinds = tables_all(&n);
    const enum compare_modelled modelled = compare_modelled(c);
    snprintf(chart->title, sizeof chart->title, COMPARE_TITLE " of %zu measurements%s", c->n,
             modelled == COMPARE_SOME_MODELLED ? ", some of them modelled" : "");
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any = any || table_differs(c, kinds[i]);
    snprintf(chart->subtitle, sizeof chart->subtitle, "%s: deviation from the median%s",
             any ? "what differs" : "nothing differs", c->n <= EACH_MOST ? ", with 95 % limits" : "");
    chart->modelled = modelled == COMPARE_MODELLED;
    for (size_t i = 0; i < n && panels < CHART_PANELS_MAX; i++)
        if (!any || table_differs(c, kinds[i])) {
            plot_kind(c, kinds[i], !any, chart);
            panels++;
        }
}
