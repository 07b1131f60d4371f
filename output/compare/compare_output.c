/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison as text and as a picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/compare/compare_parts.h"
#include "output/document/document.h"
#include "tables/table/chart_table.h"
#include "tables/table/estimates.h"
#include "util/text_list.h"

/* The most that is shown: rows of a table, of two measurements and of more; measurements unlike the others; groups; and
 * names in a list. The files have everything. */
enum { LINE_SIZE = 1000, ROWS_OF_PAIR = 8, ROWS_OF_MANY = 3, UNLIKE_SHOWN = 30, GROUPS_SHOWN = 6, NAMES_SHOWN = 4 };

static json_t *detail(const struct table *t, const char *key)
{
    const char *text = table_detail(t, key);
    return text ? json_loads(text, 0, NULL) : NULL;
}

static const char *detail_text(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

static size_t detail_count(const json_t *o, const char *key)
{
    return (size_t)json_integer_value(json_object_get(o, key));
}

/* "a, b, c, d and 996 more" */
static void names_text(const json_t *names, char *out, size_t size)
{
    size_t n = json_array_size(names);
    out[0] = '\0';
    for (size_t i = 0; i < n && i < NAMES_SHOWN; i++)
        text_list_add(out, size, ", ", "%.60s", json_string_value(json_array_get(names, i)));
    if (n > NAMES_SHOWN)
        text_list_add(out, size, " ", "and %zu more", n - NAMES_SHOWN);
}

static void put_measurements(struct document *d, const json_t *list)
{
    size_t i, n = json_array_size(list);
    const json_t *o;
    if (n > NAMES_SHOWN) {
        document_note(d, "%zu measurements, %s to %s", n, detail_text(json_array_get(list, 0), "name"),
                      detail_text(json_array_get(list, n - 1), "name"));
        return;
    }
    json_array_foreach(list, i, o)
    {
        const json_t *s = json_object_get(o, "settings");
        document_note(d, "%s: %s, %s%s", detail_text(o, "name"), detail_text(s, "cpu"), detail_text(s, "machine"),
                      strcmp(detail_text(s, "modelled"), "yes") == 0 ? ", modelled, not measured" : "");
    }
}

static void put_settings(struct document *d, const json_t *list)
{
    size_t i;
    const json_t *o;
    json_t *names;
    const char *value;
    json_array_foreach(list, i, o)
    {
        char text[LINE_SIZE] = "", who[LINE_SIZE / 2];
        const json_t *values = json_object_get(o, "values");
        if (json_object_size(values) > NAMES_SHOWN) {
            document_note(d, "Differing %s: %zu different ones, in the JSON file", detail_text(o, "key"),
                          json_object_size(values));
            continue;
        }
        json_object_foreach(json_object_get(o, "values"), value, names)
        {
            names_text(names, who, sizeof who);
            text_list_add(text, sizeof text, "; ", "%.120s (%s)", value, who);
        }
        document_note(d, "Differing %s: %s", detail_text(o, "key"), text);
    }
}

/* ---- cells ---- */

static const char *field(const struct table *t, size_t row, const char *column)
{
    const char *text = table_text(t, row, column);
    return text ? text : "";
}

/* "3.493 [3.488, 3.499]", to five digits; a count alone. */
static const char *limits_text(const struct table *t, size_t row, const char *column, char out[ESTIMATE_TEXT_MAX])
{
    struct estimate e = estimates_of_table(t, row, column);
    bool counted = e.lo == e.hi;
    snprintf(out, ESTIMATE_TEXT_MAX, counted ? "%.5g" : "%.5g [%.5g, %.5g]", e.value + 0.0, e.lo + 0.0, e.hi + 0.0);
    return out;
}

static void put_cell(struct document *d, const struct table *t, size_t row, bool pair)
{
    char a[ESTIMATE_TEXT_MAX], b[ESTIMATE_TEXT_MAX], difference[ESTIMATE_TEXT_MAX], percent[40] = "";
    const char *unit = field(t, row, "unit");
    double groups = table_number(t, row, "groups"), part = table_number(t, row, "percent");
    if (fabs(part) < 1000)
        snprintf(percent, sizeof percent, ", %+.1f %%", part);
    document_note(d, "  %s %s %s", field(t, row, "table"), field(t, row, "cell"), field(t, row, "column"));
    if (table_text(t, row, "texts"))
        document_note(d, "    %s", field(t, row, "texts"));
    else if (pair)
        document_note(d, "    %s, %s%s%s: %s%s%s%s", limits_text(t, row, "first", a), limits_text(t, row, "second", b),
                      *unit ? " " : "", unit, limits_text(t, row, "difference", difference), *unit ? " " : "", unit,
                      percent);
    else
        document_note(
            d,
            "    lowest %.4g, 10 %% below %.4g, median %.4g, 10 %% above %.4g, highest %.4g%s%s; %.0f group%s, "
            "%.0f unlike the others",
            table_number(t, row, "lowest"), table_number(t, row, "p10"), table_number(t, row, "median"),
            table_number(t, row, "p90"), table_number(t, row, "highest"), *unit ? " " : "", unit, groups,
            groups == 1 ? "" : "s", table_number(t, row, "unlike"));
}

struct ranked {
    size_t row;
    double far;
};

static int by_far(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->far < y->far ? 1 : x->far > y->far ? -1 : (x->row > y->row) - (x->row < y->row);
}

/* How far the values of a row are apart, in what would have been seen. */
static double far_of(const struct table *t, size_t row)
{
    double apart = table_number(t, row, "highest") - table_number(t, row, "lowest");
    return isnan(apart) ? 1 : apart / fmax(table_number(t, row, "detectable"), 1e-12);
}

/* Rows that differ, the farthest first; *n of them, to be freed; NULL: none, or out of memory. */
static struct ranked *rank_rows(const struct table *t, size_t *n)
{
    struct ranked *list = calloc(t->n_rows + 1, sizeof *list);
    *n = 0;
    for (size_t row = 0; list && row < t->n_rows; row++)
        if (table_says(t, row, "verdict", "differs"))
            list[(*n)++] = (struct ranked){row, far_of(t, row)};
    if (*n)
        qsort(list, *n, sizeof *list, by_far);
    return list;
}

/* How many of the rows list[0..i] are of the same table as list[i]. */
static size_t of_one_table(const struct table *t, const struct ranked *list, size_t i)
{
    size_t n = 0;
    for (size_t k = 0; k <= i; k++)
        n += table_same(t, list[k].row, list[i].row, "table");
    return n;
}

/* The clearest of each table. */
static void put_cells(struct document *d, const struct table *t, bool pair)
{
    size_t n, shown = 0;
    struct ranked *list = rank_rows(t, &n);
    if (n)
        document_note(d, "Differing, the clearest of each table first");
    for (size_t i = 0; i < n; i++)
        if (of_one_table(t, list, i) <= (pair ? ROWS_OF_PAIR : ROWS_OF_MANY)) {
            put_cell(d, t, list[i].row, pair);
            shown++;
        }
    if (n > shown)
        document_note(d, "  and %zu more, in the CSV and JSON files (--output DIR)", n - shown);
    free(list);
}

/* ---- measurements that are unlike the others ---- */

static int by_unlike(const void *a, const void *b)
{
    const json_t *x = *(const json_t *const *)a, *y = *(const json_t *const *)b;
    size_t n = detail_count(x, "unlike"), m = detail_count(y, "unlike");
    return n != m ? (n < m) - (n > m) : strcmp(detail_text(x, "name"), detail_text(y, "name"));
}

/* Returns true if two are twins that one line stands for: unlike the others in as many values, or nearly, and farthest
 * in the same table and column. */
static bool are_twins(const json_t *a, const json_t *b)
{
    size_t n = detail_count(a, "unlike"), m = detail_count(b, "unlike");
    const char *what = detail_text(a, "what"), *other = detail_text(b, "what");
    return strcmp(what, other) == 0 && n <= m + m / 4 + 1 && m <= n + n / 4 + 1;
}

static void put_unlike(struct document *d, const json_t *list)
{
    size_t n = 0, i, shown = 0, reported = 0;
    json_t *o, **unlike = calloc(json_array_size(list) + 1, sizeof(json_t *));
    bool *done = calloc(json_array_size(list) + 1, sizeof *done);
    json_array_foreach(list, i, o) if (unlike && done && detail_count(o, "unlike")) unlike[n++] = o;
    if (n) {
        qsort(unlike, n, sizeof(json_t *), by_unlike);
        document_note(d, "Unlike the others: %zu of %zu", n, json_array_size(list));
    }
    for (i = 0; i < n && shown < UNLIKE_SHOWN; i++) {
        size_t twins = 0;
        if (done[i])
            continue;
        for (size_t k = i; k < n; k++) {
            bool twin = !done[k] && are_twins(unlike[i], unlike[k]);
            done[k] = done[k] || twin;
            twins += twin;
        }
        char more[60] = "";
        if (twins > 1)
            snprintf(more, sizeof more, " and %zu like it", twins - 1);
        document_note(d, "  %s%s: in %zu of %zu values, farthest %s", detail_text(unlike[i], "name"), more,
                      detail_count(unlike[i], "unlike"), detail_count(unlike[i], "values"),
                      detail_text(unlike[i], "farthest"));
        shown++;
        reported += twins;
    }
    if (n > reported)
        document_note(d, "  and %zu more, in the JSON file", n - reported);
    free(unlike);
    free(done);
}

static int by_size(const void *a, const void *b)
{
    const json_t *x = *(const json_t *const *)a, *y = *(const json_t *const *)b;
    return (detail_count(x, "size") < detail_count(y, "size")) - (detail_count(x, "size") > detail_count(y, "size"));
}

/* Lists groups with several members, if there are at least two. */
static void put_groups(struct document *d, const json_t *list)
{
    size_t n = 0, i;
    json_t *o, **groups = calloc(json_array_size(list) + 1, sizeof(json_t *));
    char who[LINE_SIZE / 2];
    json_array_foreach(list, i, o) if (groups && detail_count(o, "size") > 1) groups[n++] = o;
    if (n > 1) {
        qsort(groups, n, sizeof(json_t *), by_size);
        document_note(d, "Groups that are alike within themselves: %zu", n);
    }
    for (i = 0; n > 1 && i < n && i < GROUPS_SHOWN; i++) {
        names_text(json_object_get(groups[i], "names"), who, sizeof who);
        document_note(d, "  %zu: %s%s%s", detail_count(groups[i], "size"), who,
                      *detail_text(groups[i], "farthest") ? "; from the largest group farthest in " : "",
                      detail_text(groups[i], "farthest"));
    }
    if (n > GROUPS_SHOWN)
        document_note(d, "  and %zu more, in the JSON file", n - GROUPS_SHOWN);
    free(groups);
}

/* ---- all ---- */

static size_t count_verdict(const struct table *t, const char *verdict)
{
    size_t n = 0;
    for (size_t row = 0; row < t->n_rows; row++)
        n += table_says(t, row, "verdict", verdict);
    return n;
}

static void put_closing(struct document *d, const struct table *t)
{
    json_t *list = detail(t, "measurements");
    size_t n = json_array_size(list), differ = count_verdict(t, "differs"), undecided = count_verdict(t, "undecided");
    size_t unlike = 0, i, ranked;
    const json_t *o;
    json_array_foreach(list, i, o) unlike += detail_count(o, "unlike") > 0;
    struct ranked *rows = rank_rows(t, &ranked);
    char which[LINE_SIZE / 2] = "", who[100] = "";
    if (ranked)
        snprintf(which, sizeof which, ", most clearly in %s %s %s", field(t, rows[0].row, "table"),
                 field(t, rows[0].row, "cell"), field(t, rows[0].row, "column"));
    if (n > 2)
        snprintf(who, sizeof who, "; %zu of %zu measurements %s unlike the others", unlike, n,
                 unlike == 1 ? "is" : "are");
    document_note(
        d,
        "Of %zu values compared, %zu differ%s%s; in %zu the limits are too wide to tell. If all were one processor, "
        "any difference here would have a probability of 5 %%.",
        t->n_rows, differ, which, who, undecided);
    free(rows);
    json_decref(list);
}

/* Lists what only one of a few measurements has: a phase, a level or a table that the others lack. */
static void put_alone(struct document *d, const json_t *list)
{
    size_t i, all = 0;
    const json_t *o;
    json_array_foreach(list, i, o)
    {
        size_t n = detail_count(o, "alone");
        all += n;
        if (n && json_array_size(list) <= NAMES_SHOWN)
            document_note(d, "Only %s has %zu further value%s, e.g. %s", detail_text(o, "name"), n, n == 1 ? "" : "s",
                          detail_text(o, "alone_first"));
    }
    if (all && json_array_size(list) > NAMES_SHOWN)
        document_note(d, "%zu further value%s, each of one measurement alone, %s not compared", all,
                      all == 1 ? "" : "s", all == 1 ? "is" : "are");
}

void compare_print(FILE *out, bool colour, const struct table *t)
{
    json_t *list = detail(t, "measurements"), *settings = detail(t, "settings"), *groups = detail(t, "groups");
    struct document d;
    document_begin(&d, COMPARE_TITLE, NULL, NULL);
    d.records = true;
    put_measurements(&d, list);
    put_settings(&d, settings);
    put_unlike(&d, list);
    put_groups(&d, groups);
    put_cells(&d, t, json_array_size(list) == 2);
    put_alone(&d, list);
    put_closing(&d, t);
    document_print(out, colour, &d);
    document_free(&d);
    json_decref(list);
    json_decref(settings);
    json_decref(groups);
}

/* ---- the picture: a row for each cell, how far its values are from their median ---- */

/* Measurements that have a colour each; rows of a panel, with a point for each of them, and with distributions. */
enum { EACH_MOST = CHART_COLOURS, ROWS_FEW = 12, ROWS_MANY = 40 };

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

/* Plots the values of a table that differ, or all of them. */
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
