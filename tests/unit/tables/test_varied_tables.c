/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What becomes of the tables that were made by hand (test_made_tables) when a few of their rows and fields are others,
 * drawn at random from those of the same column, so that values are equal, missing, contradict each other, and stand at
 * and beside each other's limits: tests/golden/varied.TABLE has a sum of all that is concluded, printed, told and drawn
 * for each case. VARIED=FILE writes the texts themselves: those before and after a change show what it changed.
 */
#include "tables/registry.h"
#include "tests/support/chart_text.h"
#include "tests/support/golden.h"
#include "tests/support/made_tables.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

enum { POOL_MAX = 400, VARIATIONS = 30, OF_FEW = 150 };

/* What a column holds in any of the cases. */
struct pool {
    size_t n;
    struct table_value value[POOL_MAX];
};

static struct pool pools[TABLE_COLUMNS_MAX];

struct varied {
    const struct table_kind *kind;
    struct rng rng;
    int variations;    /* of each case: more where there are few */
    FILE *out, *texts; /* texts: NULL where nobody wants them */
};

static size_t kind_column(const struct table_kind *k, const char *name)
{
    size_t i = 0;
    while (strcmp(k->columns[i].name, name) != 0)
        i++;
    return i;
}

static void fill_pools(void *data, struct made_case *c)
{
    const struct varied *v = data;
    const struct table *t = &c->table;
    for (size_t row = 0; !c->counted && row < t->n_rows; row++)
        for (size_t i = 0; i < t->n_columns; i++) {
            struct pool *p = &pools[kind_column(v->kind, t->columns[i].name)];
            const char *text = table_text(t, row, t->columns[i].name);
            double number = table_number(t, row, t->columns[i].name);
            if (p->n == POOL_MAX || (!text && isnan(number)))
                continue;
            p->value[p->n++] = (struct table_value){text ? strdup(text) : NULL, number};
        }
}

static void empty_pools(void)
{
    for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++) {
        for (size_t k = 0; k < pools[i].n; k++)
            free(pools[i].value[k].text);
        pools[i].n = 0;
    }
}

static void copy_table(const struct table *from, size_t without, struct table *t)
{
    table_init(t, from->name, from->columns, from->n_columns);
    table_append(t, from);
    for (size_t i = 0; i < from->n_meta; i++)
        table_set_meta(t, from->meta[i].key, from->meta[i].value);
    for (size_t i = 0; i < from->n_settings; i++)
        if (i != without)
            table_set_setting(t, from->settings[i].key, from->settings[i].value);
}

static void set_field(struct table *t, size_t row, size_t column, const struct table_value *value)
{
    const struct table_column *c = &t->columns[column];
    if (c->type == TABLE_TEXT)
        table_set_text(t, row, c->name, value->text);
    else if (!table_value_refused(c, value->number))
        table_set_number(t, row, c->name, value->number);
}

/* Another value of the column; one of its own limits, or of those of a neighbour; something near; or none. */
static void vary_field(struct varied *v, struct table *t, size_t row)
{
    size_t i = (size_t)rng_int(&v->rng, 0, (int)t->n_columns - 1);
    const struct table_column *c = &t->columns[i];
    const struct pool *p = &pools[kind_column(v->kind, c->name)];
    const size_t other = (size_t)rng_int(&v->rng, 0, (int)t->n_columns - 1);
    const size_t there = (size_t)rng_int(&v->rng, 0, (int)t->n_rows - 1);
    const int how = rng_int(&v->rng, 0, 9);
    struct table_value value = {NULL, table_number(t, row, c->name)};
    if (how < 1) {
        value.number = NAN;
        if (c->key)
            return;
    } else if (how < 3 && c->type == TABLE_REAL) {
        static const double factors[] = {0.9, 0.98, 0.999, 1.001, 1.02, 1.1};
        value.number *= factors[rng_int(&v->rng, 0, 5)];
    } else if (how < 6 && c->type != TABLE_TEXT && t->columns[other].type == c->type &&
               strcmp(t->columns[other].unit, c->unit) == 0)
        value.number = table_number(t, there, t->columns[other].name);
    else if (p->n)
        value = p->value[rng_int(&v->rng, 0, (int)p->n - 1)];
    set_field(t, row, i, &value);
}

/* A value with its limits, from another row; the limits together; the rows swapped in all, or one gone. */
static void vary_rows(struct varied *v, struct table *t, size_t row)
{
    const size_t there = (size_t)rng_int(&v->rng, 0, (int)t->n_rows - 1);
    const size_t column = (size_t)rng_int(&v->rng, 0, (int)t->n_columns - 1);
    const size_t base = table_base_length(t->columns[column].name);
    const int how = rng_int(&v->rng, 0, 4);
    for (size_t i = 0; i < t->n_columns; i++) {
        struct table_value *a = &t->values[row * t->n_columns + i], *b = &t->values[there * t->n_columns + i];
        const struct table_value was = *a;
        bool of_it = table_base_length(t->columns[i].name) == base &&
                     strncmp(t->columns[i].name, t->columns[column].name, base) == 0;
        if (how == 0 || (how == 1 && t->columns[i].key)) {
            *a = *b;
            *b = was;
        } else if (how == 2 && of_it)
            set_field(t, row, i, b);
        else if (how == 3)
            set_field(t, row, i, b);
    }
    if (how == 4 && t->n_rows > 1) {
        for (size_t i = 0; i < t->n_columns; i++)
            free(t->values[row * t->n_columns + i].text);
        memmove(&t->values[row * t->n_columns], &t->values[(row + 1) * t->n_columns],
                (t->n_rows - row - 1) * t->n_columns * sizeof *t->values);
        t->n_rows--;
    }
}

static uint64_t sum_of(uint64_t sum, const char *text)
{
    for (; *text; text++) /* FNV-1a */
        sum = (sum ^ (unsigned char)*text) * 0x100000001b3u;
    return sum;
}

/* Six digits: what compilers and C libraries round differently makes no difference. */
static void write_rows(FILE *out, const struct table *t)
{
    for (size_t row = 0; row < t->n_rows; row++)
        for (size_t i = 0; i < t->n_columns; i++) {
            const char *name = t->columns[i].name, *text = table_text(t, row, name);
            if (text)
                fprintf(out, "%s=%s ", name, text);
            else if (table_holds(t, row, name))
                fprintf(out, "%s=%.6g ", name, table_number(t, row, name));
        }
    for (size_t i = 0; i < t->n_settings; i++)
        fprintf(out, "\n%s: %s\n", t->settings[i].key, t->settings[i].value);
}

/* All that is concluded, printed, told and drawn. */
static char *all_text(const struct table_kind *k, struct table *t)
{
    struct chart chart = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(k->conclude ? k->conclude(t) : 0, 0);
    assert_false(t->failed);
    write_rows(out, t);
    char *words = rig_printed(k, t);
    fputs(words, out);
    free(words);
    tables_draw(k, t, &chart);
    assert_false(chart.failed);
    chart_write_text(out, &chart);
    chart_free(&chart);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void vary_case(void *data, struct made_case *c)
{
    struct varied *v = data;
    uint64_t sum = 0xcbf29ce484222325u;
    if (c->counted)
        return;
    rng_init(&v->rng, 1, sum_of(sum, c->title));
    for (int i = 0; i < v->variations; i++) {
        struct table t;
        const size_t without = rng_chance(&v->rng, 0.1) ? (size_t)rng_int(&v->rng, 0, 4) : SIZE_MAX;
        copy_table(&c->table, without, &t);
        for (int n = rng_int(&v->rng, 1, 4); n > 0 && t.n_rows > 0; n--) {
            size_t row = (size_t)rng_int(&v->rng, 0, (int)t.n_rows - 1);
            if (rng_chance(&v->rng, 0.3))
                vary_rows(v, &t, row);
            else
                vary_field(v, &t, row);
        }
        char *text = all_text(v->kind, &t);
        sum = sum_of(sum, text);
        if (v->texts)
            fprintf(v->texts, "== %s, variation %d\n%s", c->title, i + 1, text);
        free(text);
        table_free(&t);
    }
    fprintf(v->out, "%s: #%016llx\n", c->title, (unsigned long long)sum);
}

static bool variations_are_golden(struct varied *v)
{
    char rows[100], *text = NULL;
    size_t size;
    v->out = open_memstream(&text, &size);
    assert_non_null(v->out);
    snprintf(rows, sizeof rows, "tests/golden/made/%s.rows", v->kind->name);
    v->variations = VARIATIONS + OF_FEW / (int)made_tables(rows, v->kind, fill_pools, v);
    made_tables(rows, v->kind, vary_case, v);
    empty_pools();
    assert_int_equal(fclose(v->out), 0);
    bool same = golden_is("varied", v->kind->name, text, false);
    free(text);
    return same;
}

TEST(varied_tables_are_told_as_they_were)
{
    size_t n;
    bool same = true;
    const struct table_kind *const *kinds = tables_all(&n);
    const char *path = getenv("VARIED");
    struct varied v = {.texts = path ? fopen(path, "w") : NULL};
    for (size_t i = 0; i < n; i++) {
        v.kind = kinds[i];
        same &= !made_of(v.kind) || variations_are_golden(&v);
    }
    if (v.texts)
        assert_int_equal(fclose(v.texts), 0);
    if (!same)
        fail_msg("if the change is intended, run make golden");
}
