/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What came of a comparison, as a table. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/compare/compare_parts.h"
#include "tables/table/estimates.h"
#include "util/json_lines.h"
#include "util/text_list.h"

static const struct table_column columns[] = {
    {"table", "", TABLE_TEXT, true, 0},          {"cell", "", TABLE_TEXT, true, 0},
    {"column", "", TABLE_TEXT, true, 0},         {"unit", "", TABLE_TEXT, false, 0},
    {"verdict", "", TABLE_TEXT, false, 0},       {"n", "", TABLE_WHOLE, false, 0},
    {"groups", "", TABLE_WHOLE, false, 0},       {"unlike", "", TABLE_WHOLE, false, 0}, /* measurements */
    {"lowest", "", TABLE_REAL, false, 3},        {"p10", "", TABLE_REAL, false, 3},
    {"median", "", TABLE_REAL, false, 3},        {"p90", "", TABLE_REAL, false, 3},
    {"highest", "", TABLE_REAL, false, 3},       {"first", "", TABLE_REAL, false, 3},
    {"first_lo", "", TABLE_REAL, false, 3},      {"first_hi", "", TABLE_REAL, false, 3},
    {"second", "", TABLE_REAL, false, 3},        {"second_lo", "", TABLE_REAL, false, 3},
    {"second_hi", "", TABLE_REAL, false, 3},     {"difference", "", TABLE_REAL, false, 3},
    {"difference_lo", "", TABLE_REAL, false, 3}, {"difference_hi", "", TABLE_REAL, false, 3},
    {"percent", "%", TABLE_REAL, false, 1},      {"detectable", "", TABLE_REAL, false, 3},
    {"texts", "", TABLE_TEXT, false, 0},
};

enum { TEXT_MAX = 600, SHOWN_MEMBERS = 5 };
#define TO_FIND 0.2 /* relative: a difference that matters, as in validation; of frequencies the next step */

/* The parts of a key: "table|cell|column". */
static void put_key(struct table *out, const struct compare_cell *cell)
{
    char copy[TEXT_MAX];
    snprintf(copy, sizeof copy, "%s", cell->key);
    char *where = strchr(copy, '|'), *column = where ? strrchr(copy, '|') : NULL;
    if (!column || column == where)
        return;
    *where = *column = '\0';
    table_put_text(out, "table", copy);
    table_put_text(out, "cell", where + 1);
    table_put_text(out, "column", column + 1);
    if (*cell->column->unit && strcmp(cell->column->unit, "1") != 0)
        table_put_text(out, "unit", cell->column->unit);
}

static const struct compare_value *compare_value_of(const struct compare_cell *cell, unsigned measurement)
{
    for (size_t i = 0; i < cell->n; i++)
        if (cell->values[i].measurement == measurement)
            return &cell->values[i];
    return NULL;
}

bool compare_is_unlike(const struct compare_cell *cell, const struct compare_value *v)
{
    return v->outlier || compare_is_small(cell, v->group);
}

static size_t count_unlike(const struct compare_cell *cell)
{
    size_t n = 0;
    for (size_t i = 0; i < cell->n; i++)
        n += compare_is_unlike(cell, &cell->values[i]);
    return n;
}

bool compare_differs(const struct compare_cell *cell)
{
    return cell->n_groups > 1 || count_unlike(cell) > 0;
}

static const char *compare_verdict_of(const struct compare_cell *cell)
{
    double to_find = fnmatch("*_ghz", cell->column->name, 0) == 0 ? CLOCK_STEP_GHZ : TO_FIND * fabs(cell->median);
    if (compare_differs(cell))
        return "differs";
    if (strcmp(cell->column->name, "share") == 0)
        to_find = fmax(to_find, TO_FIND);
    return cell->sort == COMPARE_LIMITS && cell->detectable > to_find ? "undecided" : "alike";
}

/* "light 512: 998; nothing: 2" */
static void put_texts(struct table *out, const struct compare_cell *cell)
{
    char text[TEXT_MAX] = "";
    for (size_t k = 0; k < json_array_size(cell->texts); k++) {
        size_t n = 0;
        for (size_t i = 0; i < cell->n; i++)
            n += cell->values[i].value == (double)k;
        if (n)
            text_list_add(text, sizeof text, "; ", "%s: %zu", json_string_value(json_array_get(cell->texts, k)), n);
    }
    table_put_text(out, "texts", text);
}

/* Two measurements: both values, and by how much the second is above the first. */
static void put_pair(struct table *out, const struct compare_cell *cell)
{
    const struct compare_value *a = compare_value_of(cell, 0), *b = compare_value_of(cell, 1);
    double difference = b->value - a->value;
    table_put_limits(out, "first", a->value, a->value - (double)a->below, a->value + (double)a->above);
    table_put_limits(out, "second", b->value, b->value - (double)b->below, b->value + (double)b->above);
    table_put_limits(out, "difference", difference, difference - hypot((double)a->above, (double)b->below),
                     difference + hypot((double)a->below, (double)b->above));
    if (a->value != 0)
        table_put_number(out, "percent", 100 * difference / fabs(a->value));
}

double compare_quantile(const struct compare_cell *cell, double share)
{
    return cell->values[(size_t)lround(share * (double)(cell->n - 1))].value;
}

static void compare_put_row(struct table *out, const struct comparison *c, const struct compare_cell *cell)
{
    table_add_row(out);
    put_key(out, cell);
    table_put_text(out, "verdict", compare_verdict_of(cell));
    table_put_number(out, "n", (double)cell->n);
    table_put_number(out, "groups", (double)cell->n_groups);
    table_put_number(out, "unlike", (double)count_unlike(cell));
    if (cell->sort == COMPARE_TEXT) {
        put_texts(out, cell);
        return;
    }
    table_put_number(out, "lowest", compare_quantile(cell, 0));
    table_put_number(out, "p10", compare_quantile(cell, 0.1));
    table_put_number(out, "median", cell->median);
    table_put_number(out, "p90", compare_quantile(cell, 0.9));
    table_put_number(out, "highest", compare_quantile(cell, 1));
    table_put_number(out, "detectable", cell->detectable);
    if (c->n == 2)
        put_pair(out, cell);
    else if (cell->median != 0)
        table_put_number(out, "percent",
                         100 * (compare_quantile(cell, 1) - compare_quantile(cell, 0)) / fabs(cell->median));
}

/* ---- measurements ---- */

/* The key as words: "frequency kernel=512fma active_cores=4 freq_ghz". */
static void key_words(const char *key, char *out, size_t size)
{
    snprintf(out, size, "%s", key);
    for (char *p = out; *p; p++)
        *p = *p == '|' ? ' ' : *p;
}

/* "frequency kernel=512fma active_cores=4 freq_ghz: 2.9 GHz, median 3.1 (-6.5 %)" */
static void tell_value(const struct compare_cell *cell, const struct compare_value *v, double from, const char *what,
                       char *out, size_t size)
{
    char key[TEXT_MAX / 2];
    key_words(cell->key, key, sizeof key);
    if (cell->sort == COMPARE_TEXT) {
        snprintf(out, size, "%s: %.200s", key, json_string_value(json_array_get(cell->texts, (size_t)v->value)));
        return;
    }
    int n = snprintf(out, size, "%s: %.5g%s%s, %s %.5g", key, v->value, *cell->column->unit ? " " : "",
                     strcmp(cell->column->unit, "1") ? cell->column->unit : "", what, from);
    double percent = 100 * (v->value - from) / fabs(from);
    if (fabs(percent) < 1000 && n > 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, " (%+.1f %%)", percent);
}

/* How far a value is off, in what would have been seen; texts and counts as 1. */
static double how_far(const struct compare_cell *cell, const struct compare_value *v)
{
    return cell->sort == COMPARE_LIMITS ? fabs(v->value - cell->median) / cell->detectable : 1;
}

struct seen_unlike {
    size_t cells, unlike, alone;
    const char *first; /* the key of the first cell that it alone has */
    double farthest;
    const struct compare_cell *cell; /* in which it is farthest */
    const struct compare_value *value;
};

static json_t *measurements_list(const struct comparison *c, bool *failed)
{
    struct seen_unlike *seen = calloc(c->n + 1, sizeof *seen);
    json_t *list = json_array();
    *failed = *failed || !seen;
    for (size_t i = 0; i < c->n_cells && seen; i++)
        for (size_t k = 0; k < c->cells[i].n; k++) {
            const struct compare_value *v = &c->cells[i].values[k];
            struct seen_unlike *s = &seen[v->measurement];
            s->cells++;
            if (c->cells[i].n == 1 && !s->alone++)
                s->first = c->cells[i].key;
            if (!compare_is_unlike(&c->cells[i], v))
                continue;
            s->unlike++;
            if (!s->cell || how_far(&c->cells[i], v) > s->farthest) {
                s->farthest = how_far(&c->cells[i], v);
                s->cell = &c->cells[i];
                s->value = v;
            }
        }
    for (size_t i = 0; i < c->n && seen; i++) {
        json_t *o = json_object();
        char worst[TEXT_MAX] = "";
        if (seen[i].cell)
            tell_value(seen[i].cell, seen[i].value, seen[i].cell->median, "median", worst, sizeof worst);
        json_lines_put_text(o, "name", c->list[i].name, failed);
        json_lines_put_whole(o, "values", (json_int_t)seen[i].cells, failed);
        json_lines_put_whole(o, "unlike", (json_int_t)seen[i].unlike, failed);
        json_lines_put_text(o, "farthest", worst, failed);
        char what[TEXT_MAX] = "", alone[TEXT_MAX] = "";
        if (seen[i].cell)
            snprintf(what, sizeof what, "%s %s", seen[i].cell->kind->name, seen[i].cell->column->name);
        if (seen[i].first)
            key_words(seen[i].first, alone, sizeof alone);
        json_lines_put_text(o, "what", what, failed);
        json_lines_put_whole(o, "alone", (json_int_t)seen[i].alone, failed);
        json_lines_put_text(o, "alone_first", alone, failed);
        json_lines_put(o, "settings", json_incref(c->list[i].settings), failed);
        json_lines_push(list, o, failed);
    }
    free(seen);
    return list;
}

/* ---- settings that differ ---- */

/* NULL: the measurement does not tell it. */
static const char *told_setting(const struct measurement *m, const char *key)
{
    return json_string_value(json_object_get(m->settings, key));
}

/* Adds the name of a measurement to those with this value of a setting. */
static void add_holder(json_t *values, const char *value, const char *name, bool *failed)
{
    json_t *names = json_object_get(values, value);
    if (!names) {
        names = json_array();
        json_lines_put(values, value, names, failed);
    }
    json_lines_push(names, json_string(name), failed);
}

static json_t *settings_list(const struct comparison *c, bool *failed)
{
    json_t *all = json_object(), *list = json_array(), *values, *value;
    const char *key;
    for (size_t i = 0; i < c->n; i++)
        json_object_foreach(c->list[i].settings, key, value) if (!json_object_get(all, key))
            json_lines_put(all, key, json_object(), failed);
    json_object_foreach(all, key, values) for (size_t i = 0; i < c->n; i++)
    {
        const char *text = told_setting(&c->list[i], key);
        add_holder(values, text ? text : "not told", c->list[i].name, failed);
    }
    json_object_foreach(all, key, values) if (json_object_size(values) > 1)
    {
        json_t *o = json_object();
        json_lines_put_text(o, "key", key, failed);
        json_lines_put(o, "values", json_incref(values), failed);
        json_lines_push(list, o, failed);
    }
    json_decref(all);
    return list;
}

/* ---- groups of measurements ---- */

struct member {
    const char *signature; /* the group of each cell that has several large ones */
    size_t measurement;
};

static int by_signature(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = strcmp(x->signature, y->signature);
    return order ? order : (x->measurement > y->measurement) - (x->measurement < y->measurement);
}

static bool has_large_groups(const struct compare_cell *cell)
{
    return cell->n_groups > 1 && !compare_is_small(cell, 2);
}

/* The middle of a cell's largest group: the values are sorted. */
static double largest_group_median(const struct compare_cell *cell)
{
    size_t n = 0, seen = 0;
    for (size_t i = 0; i < cell->n; i++)
        n += cell->values[i].group == 1;
    for (size_t i = 0; i < cell->n; i++)
        if (cell->values[i].group == 1 && seen++ == n / 2)
            return cell->values[i].value;
    return cell->median;
}

/* Members first..last-1 are one group; how it differs from the largest. */
static json_t *one_group(const struct comparison *c, const struct member *m, size_t first, size_t last, bool *failed)
{
    json_t *o = json_object(), *names = json_array();
    char worst[TEXT_MAX] = "";
    double farthest = 0;
    size_t cells = 0;
    for (size_t i = first; i < last; i++)
        json_lines_push(names, json_string(c->list[m[i].measurement].name), failed);
    for (size_t i = 0; i < c->n_cells; i++) {
        const struct compare_cell *cell = &c->cells[i];
        const struct compare_value *v = has_large_groups(cell) ? compare_value_of(cell, (unsigned)m[first].measurement)
                                                               : NULL;
        cells += v && v->group > 1;
        double from = v && v->group > 1 ? largest_group_median(cell) : NAN;
        double far = v && v->group > 1 && cell->sort == COMPARE_LIMITS ? fabs(v->value - from) / cell->detectable : 1;
        if (v && v->group > 1 && far > farthest) {
            farthest = far;
            tell_value(cell, v, from, "there", worst, sizeof worst);
        }
    }
    json_lines_put_whole(o, "size", (json_int_t)(last - first), failed);
    json_lines_put_whole(o, "differs", (json_int_t)cells, failed);
    json_lines_put_text(o, "farthest", worst, failed);
    json_lines_put(o, "names", names, failed);
    return o;
}

/* Measurements that are alike in all cells with several large groups; none of two, or where there are no such cells. */
static json_t *groups_list(const struct comparison *c, bool *failed)
{
    json_t *list = json_array();
    size_t n_split = 0, at = 0;
    for (size_t i = 0; i < c->n_cells; i++)
        n_split += has_large_groups(&c->cells[i]);
    if (n_split == 0 || c->n < 3)
        return list;
    char *signatures = calloc(c->n, n_split + 1);
    struct member *m = calloc(c->n, sizeof *m);
    *failed = *failed || !signatures || !m;
    for (size_t i = 0; signatures && m && i < c->n; i++) {
        memset(signatures + i * (n_split + 1), '1', n_split); /* also of cells that it lacks */
        m[i] = (struct member){signatures + i * (n_split + 1), i};
    }
    for (size_t i = 0; signatures && m && i < c->n_cells; i++) {
        const struct compare_cell *cell = &c->cells[i];
        if (!has_large_groups(cell))
            continue;
        for (size_t k = 0; k < cell->n; k++)
            if (cell->values[k].group > 0 && !compare_is_unlike(cell, &cell->values[k]))
                signatures[cell->values[k].measurement * (n_split + 1) + at] = (char)('0' + cell->values[k].group % 70);
        at++;
    }
    if (signatures && m)
        qsort(m, c->n, sizeof *m, by_signature);
    for (size_t first = 0, last; signatures && m && first < c->n; first = last) {
        for (last = first + 1; last < c->n && strcmp(m[last].signature, m[first].signature) == 0; last++)
            ;
        json_lines_push(list, one_group(c, m, first, last, failed), failed);
    }
    free(signatures);
    free(m);
    return list;
}

/* ---- the head ---- */

enum compare_modelled compare_modelled(const struct comparison *c)
{
    size_t modelled = 0;
    for (size_t i = 0; i < c->n; i++) {
        const char *says = told_setting(&c->list[i], "modelled");
        modelled += says && strcmp(says, "yes") == 0;
    }
    return modelled == 0 ? COMPARE_MEASURED : modelled < c->n ? COMPARE_SOME_MODELLED : COMPARE_MODELLED;
}

/* As tables have them: what all say, or how many say something else. */
static void put_what_all_say(struct table *out, const struct comparison *c, const char *key)
{
    char text[TEXT_MAX];
    size_t n = 0;
    const char *first = "";
    for (size_t i = 0; i < c->n; i++) {
        const char *says = told_setting(&c->list[i], key);
        if (i == 0)
            first = says ? says : "";
        n += strcmp(says ? says : "", first) == 0;
    }
    snprintf(text, sizeof text, n < c->n ? "%.500s, and %zu other%s" : "%.500s", first, c->n - n,
             c->n - n == 1 ? "" : "s");
    table_set_meta(out, key, text);
}

static void put_compared(struct table *out, const struct comparison *c)
{
    put_what_all_say(out, c, "cpu");
    put_what_all_say(out, c, "machine");
    table_set_meta(out, "modelled", compare_modelled(c) == COMPARE_MEASURED ? "no" : "yes");
    if (compare_modelled(c) == COMPARE_SOME_MODELLED)
        table_set_setting(out, "modelled_some", "some are modelled, not measured; others are measured");
    table_set_setting_number(out, "measurements", (double)c->n);
    table_set_setting(out, "false_alarms", "5 % for all of it, if all were one processor (Bonferroni)");
}

/* ---- all ---- */

int compare_conclude(struct comparison *c, struct table *out)
{
    bool failed = compare_group_all(c) != 0;
    size_t only = 0;
    table_init(out, "compare", columns, sizeof columns / sizeof *columns);
    put_compared(out, c);
    for (size_t i = 0; i < c->n_cells && !failed && !out->failed; i++) {
        if (c->cells[i].n > 1)
            compare_put_row(out, c, &c->cells[i]);
        only += c->cells[i].n < 2;
    }
    table_set_setting_number(out, "values_of_one_alone", (double)only);
    json_t *measurements = measurements_list(c, &failed), *settings = settings_list(c, &failed);
    json_t *groups = groups_list(c, &failed);
    table_set_detail_json(out, "measurements", measurements, 9);
    table_set_detail_json(out, "settings", settings, 9);
    table_set_detail_json(out, "groups", groups, 9);
    return failed || c->failed || out->failed ? -1 : 0;
}
