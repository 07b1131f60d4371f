/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of others against finished tables: the rule (validate.h). */
#include "output/validate/validate.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/table/estimates.h"
#include "util/text_list.h"

/* ---- means over numbers of active cores, those between two measured ones included ---- */

/* The sums of `n` rows of one number of active cores. */
struct cores_mean {
    double cores, value, lo, hi, n;
};

static int by_cores(const void *a, const void *b)
{
    const struct cores_mean *x = a, *y = b;
    return (x->cores > y->cores) - (x->cores < y->cores);
}

/* One more row; NaN cores count as 1. `parts`: room for as many as there are rows, of which *n are in use. */
static void cores_mean_add(struct cores_mean *parts, size_t *n, double active_cores, const struct estimate *e)
{
    const double cores = isfinite(active_cores) ? active_cores : 1;
    size_t i = 0;
    while (i < *n && parts[i].cores != cores)
        i++;
    if (i == *n)
        parts[(*n)++] = (struct cores_mean){.cores = cores};
    struct cores_mean *p = &parts[i];
    *p = (struct cores_mean){cores, p->value + e->value, p->lo + e->lo, p->hi + e->hi, p->n + 1};
}

/*
 * The mean over all numbers from the fewest measured to the most, as published means are: those between two measured
 * ones are taken to lie on the line between them, with limits that hold both. Sorts the parts; n is 1 or more.
 */
static struct estimate cores_mean_of(struct cores_mean *parts, size_t n)
{
    struct estimate sum = {0, 0, 0};
    double weight = 0;
    qsort(parts, n, sizeof *parts, by_cores);
    for (size_t i = 0; i < n; i++) {
        struct cores_mean *p = &parts[i];
        *p = (struct cores_mean){p->cores, p->value / p->n, p->lo / p->n, p->hi / p->n, 1};
        const double between = i > 0 ? p->cores - p[-1].cores - 1 : 0;
        sum.value += p->value + (i > 0 ? between * (p->value + p[-1].value) / 2 : 0);
        sum.lo += p->lo + (i > 0 ? between * fmin(p->lo, p[-1].lo) : 0);
        sum.hi += p->hi + (i > 0 ? between * fmax(p->hi, p[-1].hi) : 0);
        weight += 1 + between;
    }
    return (struct estimate){sum.value / weight, sum.lo / weight, sum.hi / weight};
}

/* ---- the table of verdicts ---- */

/* clang-format off */
static const struct table_column columns[] = {
    {"table", "", TABLE_TEXT, true, 0},
    {"figure", "", TABLE_TEXT, true, 0},
    {"verdict", "", TABLE_TEXT, false, 0},
    {"unit", "", TABLE_TEXT, false, 0},
    {"published", "", TABLE_REAL, false, 3},
    {"published_max", "", TABLE_REAL, false, 3}, /* where a range was published */
    TABLE_LIMITS("measured", "", 3),
    {"deviation_percent", "%", TABLE_REAL, false, 1},
    {"precision", "", TABLE_REAL, false, 3}, /* of what was published */
    {"detectable", "", TABLE_REAL, false, 3},
    {"detectable_percent", "%", TABLE_REAL, false, 1},
    {"hidden_by", "", TABLE_TEXT, false, 0}, /* where detectable_percent is above VALIDATE_TO_FIND_PERCENT */
    {"rows", "", TABLE_WHOLE, false, 0},     /* that the figure means */
    {"source", "", TABLE_TEXT, false, 0},
    {"note", "", TABLE_TEXT, false, 0},
};
/* clang-format on */

enum { NOTE_MAX = 240 };
enum verdict { AGREES, UNDECIDED, DEVIATES, NOT_MEASURED, NOT_PUBLISHED };
static const char *const verdict_names[] = {"agrees", "undecided", "deviates", "not measured", "not published"};

/* Everything measured of one figure. */
struct seen {
    enum verdict verdict;
    double value, lo, hi;
    bool unlimited;    /* its column has limits, and it has none: it may be anything */
    double detectable; /* the smallest deviation that would have been found, in any of the rows */
    size_t rows;
    const char *note;        /* of the row that is reported */
    char own_note[NOTE_MAX]; /* where there is no such row */
};

static bool is_counted(const struct sku_figure *f)
{
    static const char *const whole[] = {"level", "halts", "mode", "phase"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole && !f->mean; i++)
        if (strcmp(f->column, whole[i]) == 0)
            return true;
    return false;
}

double validate_precision(const struct sku_figure *f)
{
    static const double ALL_OR_NONE = 0.05;
    bool extreme = f->lo == f->hi && (f->lo == 0 || f->lo == 1);
    if (isfinite(f->tolerance))
        return f->tolerance;
    if (is_counted(f))
        return 0;
    return extreme && strcmp(f->column, "share") == 0 ? ALL_OR_NONE : f->rounding;
}

/* The uncertainty of a range: half of it, and the precision of its ends. */
static double uncertainty(const struct sku_figure *f)
{
    return validate_precision(f) + (f->hi - f->lo) / 2;
}

/* The deviation that matters, in the column's unit; of shares of 0 as of 1. */
static double deviation_to_find(const struct sku_figure *f)
{
    double middle = fabs(f->lo + f->hi) / 2;
    if (fnmatch("*_ghz", f->column, 0) == 0)
        return CLOCK_STEP_GHZ;
    return VALIDATE_TO_FIND_PERCENT / 100 * (middle == 0 && strcmp(f->column, "share") == 0 ? 1 : middle);
}

/* ---- which rows are meant ---- */

static bool key_fits(const struct sku_key *k, const char *text, double number)
{
    if (text)
        return text_list_has(k->text, text);
    return k->is_number && number >= k->lo && number <= k->hi; /* false for NaN */
}

static bool row_fits(const struct sku_figure *f, const struct table *t, size_t row)
{
    for (size_t i = 0; i < f->n_keys; i++)
        if (!key_fits(&f->keys[i], table_text(t, row, f->keys[i].column), table_number(t, row, f->keys[i].column)))
            return false;
    return true;
}

static const struct sku_key *key_of(const struct sku_figure *f, const char *column)
{
    for (size_t i = 0; i < f->n_keys; i++)
        if (strcmp(f->keys[i].column, column) == 0)
            return &f->keys[i];
    return NULL;
}

/* The reason why a row that the figure means is missing. An entry may say less than the figure, but nothing that the
 * figure leaves open: that one kernel cannot run is no reason for a figure of all kernels. */
static const char *reason_of(const struct sku_figure *f, const struct table *t)
{
    for (size_t m = 0; m < t->n_missing; m++) {
        bool meant = true;
        for (size_t c = 0; c < t->n_columns && meant; c++) {
            const char *text = t->missing[m].values[c].text;
            double number = t->missing[m].values[c].number;
            const struct sku_key *k = key_of(f, t->columns[c].name);
            meant = (!text && isnan(number)) || (k && key_fits(k, text, number));
        }
        if (meant)
            return t->missing[m].why;
    }
    return NULL;
}

static bool some_row_fits(const struct sku_key *k, const struct table *t)
{
    for (size_t row = 0; row < t->n_rows; row++)
        if (key_fits(k, table_text(t, row, k->column), table_number(t, row, k->column)))
            return true;
    return false;
}

/* Why there is nothing, where the table does not say: the first key that no row has, with texts that there are. */
static void explain(const struct sku_figure *f, const struct table *t, char *out, size_t size)
{
    for (size_t i = 0; i < f->n_keys; i++) {
        const struct sku_key *k = &f->keys[i];
        if (t->n_rows == 0 || some_row_fits(k, t))
            continue;
        const char *first = table_text(t, 0, k->column), *last = table_text(t, t->n_rows - 1, k->column);
        int n = snprintf(out, size, "the table has no row with %s=%.60s", k->column, k->text);
        if (first && last && n > 0 && (size_t)n < size)
            snprintf(out + n, size - (size_t)n, strcmp(first, last) ? " (but %.30s, %.30s, ...)" : " (but %.30s, ...)",
                     first, last);
        return;
    }
    snprintf(out, size, "the table has no such row, or no value in it");
}

/* ---- verdicts ---- */

static double outside(const struct sku_figure *f, double x)
{
    return x < f->lo ? f->lo - x : x > f->hi ? x - f->hi : 0;
}

/* Without limits the value counts. */
static double lower(const struct seen *s)
{
    return isfinite(s->lo) ? s->lo : s->value;
}

static double upper(const struct seen *s)
{
    return isfinite(s->hi) ? s->hi : s->value;
}

static double detectable(const struct sku_figure *f, const struct seen *s)
{
    return is_counted(f) ? 1 : uncertainty(f) + upper(s) - lower(s);
}

static enum verdict judge(const struct sku_figure *f, const struct seen *s)
{
    double u = validate_precision(f), slack = 1e-9 * (u + fabs(f->hi)); /* of sums that are not exact in binary */
    double lo = lower(s), hi = upper(s);
    if (hi < f->lo - u - slack || lo > f->hi + u + slack)
        return (f->limit && hi < f->lo) || s->unlimited || f->disputed ? UNDECIDED : DEVIATES;
    bool narrow = (hi - lo) / 2 <= uncertainty(f) + slack || detectable(f, s) <= deviation_to_find(f) + slack;
    return narrow ? AGREES : UNDECIDED;
}

/* The verdict, and what would have been found. */
static void decide(const struct sku_figure *f, struct seen *s)
{
    s->verdict = f->published ? judge(f, s) : NOT_PUBLISHED;
    s->detectable = f->published ? detectable(f, s) : NAN;
}

static struct seen look(const struct sku_figure *f, const struct table *t, size_t row)
{
    struct estimate e = estimates_of_table(t, row, f->column);
    char limit[SKU_NAME_MAX + 8];
    snprintf(limit, sizeof limit, "%s_lo", f->column);
    return (struct seen){.verdict = NOT_MEASURED,
                         .unlimited = table_has(t, limit) && !estimates_known(&e),
                         .value = e.value,
                         .lo = e.lo,
                         .hi = e.hi,
                         .detectable = NAN,
                         .note = table_text(t, row, "note")};
}

static bool is_worse(const struct sku_figure *f, const struct seen *a, const struct seen *than)
{
    if (a->verdict != than->verdict)
        return a->verdict > than->verdict;
    return outside(f, a->value) > outside(f, than->value);
}

static struct seen nothing_of(const struct sku_figure *f)
{
    return (struct seen){
        .verdict = f->published ? NOT_MEASURED : NOT_PUBLISHED, .value = NAN, .lo = NAN, .hi = NAN, .detectable = NAN};
}

/* The row to tell of, or the mean of all: without a published figure the mean, too. */
static struct seen see(const struct sku_figure *f, const struct table *t, struct cores_mean *parts)
{
    struct seen worst = nothing_of(f);
    double widest = NAN;
    size_t rows = 0, n_parts = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        struct seen s = row_fits(f, t, row) ? look(f, t, row) : (struct seen){.value = NAN};
        if (!isfinite(s.value))
            continue;
        decide(f, &s);
        widest = fmax(widest, s.detectable);
        cores_mean_add(parts, &n_parts, table_number(t, row, "active_cores"), &(struct estimate){s.value, s.lo, s.hi});
        if (rows++ == 0 || is_worse(f, &s, &worst))
            worst = s;
    }
    if (rows && (f->mean || !f->published)) {
        const struct estimate mean = cores_mean_of(parts, n_parts);
        worst = (struct seen){.value = mean.value, .lo = mean.lo, .hi = mean.hi};
        decide(f, &worst);
    } else if (rows) {
        worst.detectable = widest;
    } else {
        worst.note = reason_of(f, t);
        if (!worst.note)
            explain(f, t, worst.own_note, sizeof worst.own_note);
    }
    worst.rows = rows;
    return worst;
}

/* ---- the table ---- */

/* Names the reason why deviations of 20 % would not be found: the widest of the limits, the range and the precision. */
static void why_hidden(const struct sku_figure *f, const struct seen *s, char *out, size_t size)
{
    double range = (f->hi - f->lo) / 2, precision = validate_precision(f), limits = s->detectable - range - precision;
    if (limits >= range && limits >= precision)
        snprintf(out, size, "the measured limits are %.4g apart", limits);
    else if (range >= precision)
        snprintf(out, size, "a range was published");
    else
        snprintf(out, size, "published only to +-%.4g", precision);
}

static void put_published(struct table *out, const struct sku_figure *f, const struct seen *s)
{
    double from = s->value > f->hi ? f->hi : s->value < f->lo ? f->lo : s->value, middle = (f->lo + f->hi) / 2;
    double percent = is_counted(f) || middle == 0 ? NAN : 100 * s->detectable / fabs(middle);
    char why[80];
    table_put_number(out, "published", f->lo);
    if (f->hi > f->lo)
        table_put_number(out, "published_max", f->hi);
    table_put_number(out, "precision", validate_precision(f));
    table_put_number(out, "detectable", s->detectable);
    table_put_number(out, "detectable_percent", percent);
    if (percent > VALIDATE_TO_FIND_PERCENT) { /* false for NaN */
        why_hidden(f, s, why, sizeof why);
        table_put_text(out, "hidden_by", why);
    }
    if (from != 0)
        table_put_number(out, "deviation_percent", 100 * (s->value - from) / fabs(from));
}

static void put_row(struct table *out, const struct sku_figure *f, const struct table *t, const struct seen *s)
{
    char name[SKU_TEXT_MAX + SKU_NAME_MAX + 20], note[SKU_SOURCE_MAX + 200] = "";
    const struct table_column *c = t ? table_column_named(t, f->column) : NULL;
    snprintf(name, sizeof name, "%s%s%s%s", f->where, *f->where ? " " : "", f->mean ? "mean " : "", f->column);
    table_add_row(out);
    table_put_text(out, "table", f->table);
    table_put_text(out, "figure", name);
    if (c && *c->unit && strcmp(c->unit, "1") != 0)
        table_put_text(out, "unit", c->unit);
    table_put_limits(out, "measured", s->value, s->lo, s->hi);
    table_put_number(out, "rows", (double)s->rows);
    table_put_text(out, "verdict", verdict_names[s->verdict]);
    table_put_text(out, "source", f->source);
    if (f->limit && s->verdict == UNDECIDED && s->value < f->lo)
        snprintf(note, sizeof note, "less than is allowed: power, temperature or settings may hold it below its limit");
    else if (s->unlimited && s->verdict == UNDECIDED)
        snprintf(note, sizeof note, "the measured value has no limits: repeat with more --runs");
    else if (f->inherited)
        snprintf(note, sizeof note, "inherited%s%s", s->note || *s->own_note ? "; " : "",
                 s->note ? s->note : s->own_note);
    if (note[0])
        table_put_text(out, "note", note);
    else if (s->note || *s->own_note)
        table_put_text(out, "note", s->note ? s->note : s->own_note);
    if (f->published)
        put_published(out, f, s);
}

/* The table of this name; NULL: it was not measured. */
static const struct table *table_named(const char *name, const struct table *const *tables, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (tables[k]->name && strcmp(tables[k]->name, name) == 0)
            return tables[k];
    return NULL;
}

static void put_meta(struct table *out, const struct sku *sku, const struct table *first)
{
    char text[2 * SKU_TEXT_MAX + 80];
    for (size_t i = 0; first && i < first->n_meta; i++)
        table_set_meta(out, first->meta[i].key, first->meta[i].value);
    if (*sku->name)
        table_set_meta(out, "sku", sku->name);
    if (sku->measured)
        table_set_meta(out, "sku_kind", sku->modelled ? "modelled" : "measured");
    const char *cpu = first ? table_meta(first, "cpu") : NULL;
    if (cpu && *sku->name && !sku_is_of(sku, cpu)) {
        if (strcmp(sku->brand, SKU_UNNAMED) == 0)
            snprintf(text, sizeof text, "the figures are of a part that its source does not name: %s", sku->name);
        else
            snprintf(text, sizeof text, "this processor does not identify itself as %s: the figures are for the %s",
                     sku->brand, sku->name);
        table_set_meta(out, "warning", text);
    }
}

/* One figure against the table that it is of. */
static void put_figure(const struct sku_figure *f, const struct table *const *tables, size_t n, struct table *out)
{
    const struct table *t = table_named(f->table, tables, n);
    struct cores_mean *parts = calloc(t ? t->n_rows + 1 : 1, sizeof *parts);
    struct seen s = t && parts ? see(f, t, parts) : nothing_of(f);
    out->failed = out->failed || !parts;
    free(parts);
    if (!t)
        snprintf(s.own_note, sizeof s.own_note, "the table %s was not measured", f->table);
    put_row(out, f, t, &s);
}

int validate_tables(const struct sku *sku, const struct table *const *tables, size_t n, struct table *out)
{
    const struct table *frequency = table_named("frequency", tables, n), *cores = table_named("cores", tables, n);
    struct sku_figure *stated = NULL;
    size_t n_stated = 0;
    table_init(out, "validate", columns, sizeof columns / sizeof *columns);
    put_meta(out, sku, n ? tables[0] : NULL);
    if (frequency && validate_stated(frequency, &stated, &n_stated))
        out->failed = true;
    for (size_t i = 0; i < sku->n_figures && !out->failed; i++)
        put_figure(&sku->figures[i], tables, n, out);
    for (size_t i = 0; i < n_stated && !out->failed; i++)
        put_figure(&stated[i], tables, n, out);
    if (cores && !out->failed)
        validate_favored(cores, out);
    if (!out->failed)
        findings_note(sku, tables, n, out);
    free(stated);
    return out->failed ? -1 : 0;
}

size_t validate_count(const struct table *verdicts, const char *verdict)
{
    size_t n = 0;
    for (size_t row = 0; row < verdicts->n_rows; row++)
        n += table_says(verdicts, row, "verdict", verdict);
    return n;
}
