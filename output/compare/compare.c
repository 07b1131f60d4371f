/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which measurements of a cell belong together, and what came of a comparison, as a table. */
#include <fnmatch.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/compare/compare_parts.h"
#include "tables/table/estimates.h"
#include "util/json_lines.h"
#include "util/order.h"
#include "util/text_list.h"

#define FALSE_ALARMS 0.05 /* probability of one on the entire page */
#define IMPRECISE 10      /* times the median width of limits: such values are undecided (compare.h) */
/* Values of a group from which on its spread is known well enough for outliers (compare.h). */
enum { OUTLIERS_FROM = 20 };

/* Returns true if measurements of this group of the cell are unlike the others: they are fewer than half as many as in
 * the largest group. */
static bool is_small(const struct compare_cell *cell, int group)
{
    size_t own = 0, most = 0;
    for (size_t i = 0; i < cell->n; i++) {
        own += cell->values[i].group == group;
        most += cell->values[i].group == 1;
    }
    return group > 1 && 2 * own <= most;
}

static double half_width(const struct compare_value *v)
{
    return ((double)v->below + (double)v->above) / 2;
}

static int by_value(const void *a, const void *b)
{
    const struct compare_value *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* Returns by how much both half widths are to be widened for a page of so many pairs: the quantiles of Student's t of
 * as many degrees of freedom as two means of so many repetitions have, of the normal distribution where that is not
 * known. */
static double widening(double pairs, unsigned a, unsigned b)
{
    return estimates_widening(FALSE_ALARMS / 2 / fmax(pairs, 1), a && b ? (double)a + (double)b - 2 : 0);
}

/* Returns by how much b lies above a beyond what limits explain; above 0: they are apart. */
static double apart_by(const struct compare_cell *cell, const struct compare_value *a, const struct compare_value *b,
                       double pairs)
{
    double half = hypot((double)a->above, (double)b->below), gap = b->value - a->value;
    /* most are nearer than that, and quantiles take long */
    double limits = gap > half ? widening(pairs, a->runs, b->runs) * half : half;
    double least = estimates_least_difference(cell->column, fmax(fabs(a->value), fabs(b->value)));
    return b->value - a->value - fmax(limits, cell->sort == COMPARE_LIMITS ? least : 0);
}

/* The median of a cell's values, or of the widths of their limits. */
static double median_of(const struct compare_cell *cell, bool widths, double *scratch)
{
    for (size_t i = 0; i < cell->n; i++)
        scratch[i] = widths ? half_width(&cell->values[i]) : cell->values[i].value;
    return order_median(scratch, cell->n);
}

/* Numbers the groups of a cell again, in the order of their sizes: 1 is the largest. */
static int number_groups(struct compare_cell *cell)
{
    size_t n = cell->n_groups, *size = calloc(n + 1, sizeof *size);
    int *rank = calloc(n + 1, sizeof *rank);
    int bad = size && rank ? 0 : -1;
    for (size_t i = 0; !bad && i < cell->n; i++)
        size[cell->values[i].group]++;
    for (size_t g = 1; !bad && g <= n; g++) {
        rank[g] = 1;
        for (size_t other = 1; other <= n; other++)
            rank[g] += size[other] > size[g] || (size[other] == size[g] && other < g);
    }
    for (size_t i = 0; !bad && i < cell->n; i++)
        cell->values[i].group = cell->values[i].group ? rank[cell->values[i].group] : 0;
    free(size);
    free(rank);
    return bad;
}

/* Finds the values of a large group that are far from its median. */
static void find_outliers(struct compare_cell *cell, int group, double sigmas, double *scratch)
{
    size_t n = 0;
    for (size_t i = 0; i < cell->n; i++)
        if (cell->values[i].group == group)
            scratch[n++] = cell->values[i].value;
    if (n < OUTLIERS_FROM)
        return;
    double middle = order_median(scratch, n);
    for (size_t i = 0; i < n; i++)
        scratch[i] = fabs(scratch[i] - middle);
    double spread = MAD_TO_SIGMA * order_median(scratch, n);
    double least = estimates_least_difference(cell->column, middle);
    for (size_t i = 0; i < cell->n; i++) {
        struct compare_value *v = &cell->values[i];
        double off = fabs(v->value - middle), own = half_width(v) / ESTIMATE_Z95;
        v->outlier = v->group == group && off > fmax(least, sigmas * hypot(spread, own));
    }
}

static int group_cell(struct compare_cell *cell, double pairs, double outlier_sigmas, double *scratch)
{
    const struct compare_value *last = NULL;
    qsort(cell->values, cell->n, sizeof *cell->values, by_value);
    double width = median_of(cell, true, scratch);
    cell->median = median_of(cell, false, scratch);
    cell->n_groups = 0;
    for (size_t i = 0; i < cell->n; i++) {
        struct compare_value *v = &cell->values[i];
        v->outlier = false;
        v->group = 0;
        if (half_width(v) > IMPRECISE * width && cell->n > 2)
            continue;
        cell->n_groups += !last || apart_by(cell, last, v, pairs) > 0;
        v->group = (int)cell->n_groups;
        last = v;
    }
    /* of two values with limits of the median width, in 97 of 100 cases: as far beyond what is chance */
    unsigned runs = cell->n ? cell->values[cell->n / 2].runs : 0;
    double limits = (widening(pairs, runs, runs) + 1) * M_SQRT2 * width;
    cell->detectable = cell->sort == COMPARE_LIMITS
                           ? fmax(limits, estimates_least_difference(cell->column, cell->median))
                           : 1;
    if (number_groups(cell))
        return -1;
    if (cell->sort == COMPARE_LIMITS)
        for (int g = 1; g <= (int)cell->n_groups; g++)
            find_outliers(cell, g, outlier_sigmas, scratch);
    return 0;
}

static int group_all(struct comparison *c)
{
    double pairs = 0, values = 0, *scratch = calloc(c->n + 1, sizeof *scratch);
    int bad = scratch ? 0 : -1;
    for (size_t i = 0; i < c->n_cells; i++) {
        double n = (double)c->cells[i].n;
        pairs += c->cells[i].sort == COMPARE_LIMITS ? n * (n - 1) / 2 : 0;
        values += c->cells[i].sort == COMPARE_LIMITS ? n : 0;
    }
    double outlier_sigmas = gsl_cdf_ugaussian_Qinv(FALSE_ALARMS / 2 / fmax(values, 1));
    for (size_t i = 0; i < c->n_cells && !bad; i++)
        bad = group_cell(&c->cells[i], pairs, outlier_sigmas, scratch);
    free(scratch);
    return bad;
}

/* ---- the table ---- */

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

static const struct compare_value *value_of(const struct compare_cell *cell, unsigned measurement)
{
    for (size_t i = 0; i < cell->n; i++)
        if (cell->values[i].measurement == measurement)
            return &cell->values[i];
    return NULL;
}

bool compare_is_unlike(const struct compare_cell *cell, const struct compare_value *v)
{
    return v->outlier || is_small(cell, v->group);
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

static const char *verdict_of(const struct compare_cell *cell)
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
    const struct compare_value *a = value_of(cell, 0), *b = value_of(cell, 1);
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

static void put_row(struct table *out, const struct comparison *c, const struct compare_cell *cell)
{
    table_add_row(out);
    put_key(out, cell);
    table_put_text(out, "verdict", verdict_of(cell));
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
static void describe_value(const struct compare_cell *cell, const struct compare_value *v, double from,
                           const char *what, char *out, size_t size)
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
            describe_value(seen[i].cell, seen[i].value, seen[i].cell->median, "median", worst, sizeof worst);
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

/* NULL: the measurement does not say it. */
static const char *setting_of(const struct measurement *m, const char *key)
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
        const char *text = setting_of(&c->list[i], key);
        add_holder(values, text ? text : "not stated", c->list[i].name, failed);
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
    return cell->n_groups > 1 && !is_small(cell, 2);
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
        const struct compare_value *v = has_large_groups(cell) ? value_of(cell, (unsigned)m[first].measurement) : NULL;
        cells += v && v->group > 1;
        double from = v && v->group > 1 ? largest_group_median(cell) : NAN;
        double far = v && v->group > 1 && cell->sort == COMPARE_LIMITS ? fabs(v->value - from) / cell->detectable : 1;
        if (v && v->group > 1 && far > farthest) {
            farthest = far;
            describe_value(cell, v, from, "there", worst, sizeof worst);
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
        const char *says = setting_of(&c->list[i], "modelled");
        modelled += says && strcmp(says, "yes") == 0;
    }
    return modelled == 0 ? COMPARE_MEASURED : modelled < c->n ? COMPARE_SOME_MODELLED : COMPARE_MODELLED;
}

/* Adds what all measurements say, or how many say something else, as tables have it. */
static void put_what_all_say(struct table *out, const struct comparison *c, const char *key)
{
    char text[TEXT_MAX];
    size_t n = 0;
    const char *first = "";
    for (size_t i = 0; i < c->n; i++) {
        const char *says = setting_of(&c->list[i], key);
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
    bool failed = group_all(c) != 0;
    size_t only = 0;
    table_init(out, "compare", columns, sizeof columns / sizeof *columns);
    put_compared(out, c);
    for (size_t i = 0; i < c->n_cells && !failed && !out->failed; i++) {
        if (c->cells[i].n > 1)
            put_row(out, c, &c->cells[i]);
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
