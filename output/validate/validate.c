/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of others against finished tables: what the processor says of itself, and the rule (validate.h). */
#include "output/validate/validate.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/rated_limits.h"
#include "output/validate/cores_mean.h"
#include "tables/cores/cores.h"
#include "tables/frequency/frequency.h"
#include "tables/table/estimates.h"
#include "util/text_list.h"

/* ---- what the processor says of itself ---- */

#define HALF_STEP_GHZ (CLOCK_STEP_GHZ / 2) /* in steps limits are stated */
/* Ranges of active cores of a limit, kinds of cores, and bytes of a core's label, at most. */
enum { RANGES_MAX = 16, KINDS_MAX = 8, LABEL_MAX = 60 };

/* ---- turbo limits ---- */

/* The level that a class of code is, by the names of drivers/rated_limits.h; -1: none. */
static int level_of_class(const char *name)
{
    unsigned level;
    for (int i = 0; i < RATED_CLASSES; i++)
        if (strcmp(name, rated_class_names[i]) == 0)
            return i;
    return sscanf(name, "level %u", &level) == 1 && level < 8 ? (int)level : -1;
}

/* The texts in column `core` of CPUs that this setting is for, commas between them; "": it has none. */
static void kinds_of_limits(const struct table *t, const char *limits, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *core = table_text(t, row, "core");
        if (core && frequency_limits(t, (int)table_number(t, row, "cpu")) == limits && !strchr(core, ',') &&
            !text_list_has(out, core))
            text_list_add(out, size, ",", "%s", core);
    }
}

static void add_key(struct sku_figure *f, const char *column, double lo, double hi)
{
    struct sku_key *k = &f->keys[f->n_keys++];
    snprintf(k->column, sizeof k->column, "%s", column);
    snprintf(k->text, sizeof k->text, lo < hi ? "%.0f-%.0f" : "%.0f", lo, hi);
    k->is_number = true;
    k->lo = lo;
    k->hi = hi;
}

static bool some_cores_within(const struct table *t, const struct frequency_group *g)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        double cores = table_number(t, row, "active_cores");
        if (cores >= g->first && cores <= g->last)
            return true;
    }
    return false;
}

/* Figures of "1-2: 3.7, 3-4: 3.5". */
static size_t figures_of_text(const struct table *t, const char *text, int level, const char *source,
                              struct sku_figure *out, size_t room)
{
    struct frequency_group g;
    size_t n = 0;
    char kinds[SKU_TEXT_MAX];
    kinds_of_limits(t, text, kinds, sizeof kinds);
    for (const char *p = text; p && n < room && (p = frequency_range_read(p, &g)) && *p == ':';) {
        struct sku_figure *f = &out[n];
        char *end;
        double ghz = strtod(p + 1, &end);
        *f = (struct sku_figure){.table = "frequency",
                                 .column = "freq_ghz",
                                 .published = true,
                                 .limit = true,
                                 .lo = ghz,
                                 .hi = ghz,
                                 .tolerance = HALF_STEP_GHZ};
        add_key(f, "level", level, level);
        add_key(f, "active_cores", g.first, g.last);
        if (kinds[0]) {
            struct sku_key *k = &f->keys[f->n_keys++];
            snprintf(k->column, sizeof k->column, "core");
            snprintf(k->text, sizeof k->text, "%s", kinds);
        }
        for (size_t i = 0; i < f->n_keys; i++)
            text_list_add(f->where, sizeof f->where, " ", "%s=%s", f->keys[i].column, f->keys[i].text);
        snprintf(f->source, sizeof f->source, "stated by the processor: %s", source ? source : "not said where");
        n += ghz > 0 && some_cores_within(t, &g);
        p = *end == ',' ? end + 1 : NULL;
    }
    return n;
}

int validate_stated(const struct table *t, struct sku_figure **out, size_t *n)
{
    size_t room = (t->n_settings + 1) * RANGES_MAX;
    const char *source = table_setting(t, "turbo_limits_source");
    *n = 0;
    *out = calloc(room, sizeof **out);
    if (!*out)
        return -1;
    /* cores of high priority may exceed these limits, and theirs depend on the priorities of the other cores */
    const char *by_priority = table_setting(t, BY_PRIORITY);
    bool in_force = !by_priority || strcmp(by_priority, "on") != 0;
    for (size_t i = 0; in_force && i < t->n_settings; i++) {
        const char *key = t->settings[i].key, *class = frequency_limits_of(t, i);
        bool plain = strcmp(key, TURBO_LIMITS) == 0 || strcmp(key, TURBO_LIMITS_OF "E cores") == 0;
        int level = plain ? 0 : class ? level_of_class(class) : -1;
        if (level >= 0)
            *n += figures_of_text(t, t->settings[i].value, level, source, *out + *n, room - *n);
    }
    if (*n == 0) {
        free(*out);
        *out = NULL;
    }
    return 0;
}

/* ---- favored cores ---- */

static const char favored[] = "favoured", others[] = "not favoured"; /* as table `cores` has them */

/* Splits a core's label into favored or not, and the rest, "P". Returns false if the label says neither. */
static bool split_label(const char *label, bool *is_favored, char kind[LABEL_MAX])
{
    const char *at = label ? strstr(label, others) : NULL;
    *is_favored = !at;
    at = at ? at : label ? strstr(label, favored) : NULL;
    if (!at || at - label >= LABEL_MAX)
        return false;
    size_t n = (size_t)(at - label);
    while (n && (label[n - 1] == ' ' || label[n - 1] == ','))
        n--;
    memcpy(kind, label, n);
    kind[n] = '\0';
    return true;
}

/* Frequencies of the cores of one kind, favored [1] and not [0], while a kernel runs. */
struct favored_cores {
    size_t n[2];
    double sum[2], squares[2]; /* of the frequencies, of the half widths of their limits */
};

static void favored_row(struct table *verdicts, const char *kernel, const char *kind, const struct favored_cores *s)
{
    char figure[700];
    double difference = s->sum[1] / (double)s->n[1] - s->sum[0] / (double)s->n[0];
    double half = sqrt(s->squares[1] / pow((double)s->n[1], 2) + s->squares[0] / pow((double)s->n[0], 2));
    bool faster = difference - half > 0, not_faster = difference + half < HALF_STEP_GHZ;
    snprintf(figure, sizeof figure, "kernel=%.200s: %.59s%sfavored cores, freq_ghz above that of the others", kernel,
             kind, *kind ? " " : "");
    table_add_row(verdicts);
    table_put_text(verdicts, "table", "cores");
    table_put_text(verdicts, "figure", figure);
    table_put_text(verdicts, "unit", "GHz");
    table_put_limits(verdicts, "measured", difference, difference - half, difference + half);
    table_put_number(verdicts, "detectable", 2 * half);
    table_put_number(verdicts, "rows", (double)(s->n[0] + s->n[1]));
    table_put_text(verdicts, "verdict", faster ? "agrees" : not_faster ? "deviates" : "undecided");
    table_put_text(verdicts, "source", "stated by the processor: CPPC highest_perf, or cpuinfo_max_freq");
}

static void favored_of_kernel(const struct table *t, const char *kernel, struct table *verdicts)
{
    char kinds[KINDS_MAX][LABEL_MAX], kind[LABEL_MAX];
    struct favored_cores seen[KINDS_MAX] = {0};
    size_t n = 0, k;
    bool is_favored;
    for (size_t row = cores_row_of(t, kernel, 0); row < t->n_rows; row = cores_row_of(t, kernel, row + 1)) {
        struct estimate e = estimates_of_table(t, row, "freq_ghz");
        if (!estimates_known(&e) || !split_label(table_text(t, row, "core"), &is_favored, kind))
            continue;
        for (k = 0; k < n && strcmp(kinds[k], kind); k++)
            ;
        if (k == KINDS_MAX)
            continue;
        if (k == n)
            memcpy(kinds[n++], kind, sizeof kind);
        seen[k].n[is_favored]++;
        seen[k].sum[is_favored] += e.value;
        seen[k].squares[is_favored] += pow((e.hi - e.lo) / 2, 2);
    }
    for (k = 0; k < n; k++)
        if (seen[k].n[0] && seen[k].n[1])
            favored_row(verdicts, kernel, kinds[k], &seen[k]);
}

/*
 * Checks in a table of cores if favored cores (CPPC) are faster than the others of their kind: adds a row to `verdicts`
 * for each kernel and kind. The measured value is the difference of the means, GHz; its limits add those of single
 * cores by squares. It agrees where the favored ones are surely faster, deviates where they surely are not faster by
 * half a step of the clock (100 MHz / 2) or more, and is undecided else. Failures stand in verdicts->failed.
 */
static void put_favored(const struct table *t, struct table *verdicts)
{
    size_t row = 0;
    for (const char *kernel; (kernel = cores_next_kernel(t, &row)) != NULL; row++)
        favored_of_kernel(t, kernel, verdicts);
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
        put_favored(cores, out);
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
