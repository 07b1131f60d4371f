/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The entry that a measurement supports. */
#include "output/validate/draft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/published/sku.h"
#include "tables/table/estimates.h"
#include "tables/table/tables.h"
#include "util/error.h"
#include "util/plain_text.h"
#include "util/sha256.h"
#include "util/text_list.h"

enum { LINE_MAX = 3 * SKU_TEXT_MAX };
#define FALSE_ALARMS 0.05 /* probability of one in all of an entry */
#define WIDER 1.000001    /* so that what is printed with nine digits holds what it stands for */

/* One figure: what all rows hold that it selects. */
struct claim {
    char line[LINE_MAX]; /* "from=128fma to=512fma : latency_us" */
    double lo, hi;
    const struct table_column *column;
    size_t rows;
    unsigned runs; /* the fewest repetitions that any of them is of; 0: not known */
    bool bound;    /* a value at an end of its limits: what it is a bound of lies anywhere within */
};

struct claims {
    struct claim *list;
    size_t n, left_out;
    bool failed;
};

/* Adds COLUMN=VALUE. Nothing where the row has none, or `-`. */
static void add_selection(const struct table *t, size_t row, const char *column, char *line)
{
    const char *text = table_text(t, row, column);
    double number = table_number(t, row, column);
    if (text && strcmp(text, "-") != 0)
        text_list_add(line, LINE_MAX, " ", strchr(text, ' ') ? "%s=\"%s\"" : "%s=%s", column, text);
    else if (!text && isfinite(number))
        text_list_add(line, LINE_MAX, " ", "%s=%.9g", column, number);
}

/* Into the claim that selects the same, or a new one. */
static void claims_add(struct claims *c, const struct table_column *column, const char *line, double lo, double hi,
                       unsigned runs, bool bound)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].line, line) == 0) {
            c->list[i].lo = fmin(c->list[i].lo, lo);
            c->list[i].hi = fmax(c->list[i].hi, hi);
            c->list[i].bound |= bound;
            c->list[i].runs = runs < c->list[i].runs ? runs : c->list[i].runs;
            c->list[i].rows++;
            return;
        }
    struct claim *more = realloc(c->list, (c->n + 1) * sizeof *more);
    if (!more) {
        c->failed = true;
        return;
    }
    c->list = more;
    struct claim *new = &more[c->n++];
    *new = (struct claim){.lo = lo, .hi = hi, .column = column, .rows = 1, .runs = runs, .bound = bound};
    snprintf(new->line, sizeof new->line, "%s", line);
}

/* How many repetitions a row is of; 0: it does not say. */
static unsigned runs_of(const struct table *t, size_t row)
{
    double n = table_number(t, row, "n");
    return n >= 2 && n < 1e6 ? (unsigned)n : 0; /* false for NaN */
}

static void take_value(const struct table *t, size_t row, const char *where, const char *column, struct claims *c)
{
    const struct table_column *own = table_column_named(t, column);
    char line[LINE_MAX], limit[60];
    double value = table_number(t, row, column);
    if (!own || !isfinite(value))
        return;
    snprintf(limit, sizeof limit, "%s_lo", column);
    bool counted = own->type == TABLE_WHOLE && !table_has(t, limit);
    struct estimate e = counted ? (struct estimate){value, value, value} : estimates_of_table(t, row, column);
    if (!estimates_known(&e)) {
        c->left_out++;
        return;
    }
    snprintf(line, sizeof line, "%s%s: %s", where, where[0] ? " " : "", column);
    claims_add(c, own, line, e.lo, e.hi, runs_of(t, row), e.hi > e.lo && (e.value <= e.lo || e.value >= e.hi));
}

static void take_row(const struct table *t, size_t row, const struct tables_drafted *of, struct claims *c)
{
    char where[LINE_MAX] = "";
    const char *part = of->only ? table_text(t, row, of->only) : NULL;
    if (!tables_drafted_row(of, part))
        return;
    for (size_t k = 0; k < TABLES_DRAFTED_KEYS && of->keys[k]; k++)
        if (tables_drafted_key(of, of->keys[k], part))
            add_selection(t, row, of->keys[k], where);
    for (size_t v = 0; v < TABLES_DRAFTED_VALUES && of->values[v]; v++)
        take_value(t, row, where, of->values[v], c);
}

/* "level = 1" of the kernels that hold it with any number of cores, and the frequency of each level. */
static void take_levels(const struct table *t, struct claims *c)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        double level = table_number(t, row, "level"), cores = table_number(t, row, "active_cores");
        const char *kernel = table_text(t, row, "kernel");
        struct estimate e = estimates_of_table(t, row, "freq_ghz");
        char line[LINE_MAX];
        if (!kernel || !isfinite(level))
            continue;
        snprintf(line, sizeof line, "kernel=%s active_cores=%.0f : level", kernel, cores);
        claims_add(c, table_column_named(t, "level"), line, level, level, 0, false);
        snprintf(line, sizeof line, "level=%.0f active_cores=%.0f : freq_ghz", level, cores);
        if (estimates_known(&e))
            claims_add(c, table_column_named(t, "freq_ghz"), line, e.lo, e.hi, runs_of(t, row), false);
    }
}

/*
 * By how much half the width of 95 % limits becomes the precision of one of n figures: of two measurements of one
 * processor, limits no farther apart than that leave a chance of 5 % that any of the n deviates (Bonferroni; the
 * difference of two means of equal standard error, one of whose limits validation adds itself; Student's t where it is
 * known of how many repetitions they are).
 */
static double widening(size_t n, unsigned runs)
{
    double tail = FALSE_ALARMS / 2 / (double)n, freedom = runs > 1 ? 2 * ((double)runs - 1) : 0;
    return fmax(1, M_SQRT2 * estimates_widening(tail, freedom) - 1);
}

/* The parts of a drafted figure: the middle of the limits and half their width, widened; or, as a range, its ends,
 * within what its column can hold. */
struct drafted {
    double middle, half, from, to;
};

static struct drafted drafted_figure(const struct claim *x, size_t figures)
{
    struct drafted d = {.middle = (x->lo + x->hi) / 2};
    bool whole = x->column->type == TABLE_WHOLE;
    d.half = widening(figures, x->runs) * (x->hi - x->lo) / 2 * WIDER;
    d.half = fmax(d.half, estimates_least_difference(x->column, d.middle));
    d.from = whole ? floor(d.middle - d.half) : d.middle - d.half;
    d.to = whole ? ceil(d.middle + d.half) : d.middle + d.half;
    if (table_value_refused(x->column, d.from)) /* below 0 */
        d.from = 0;
    if (table_value_refused(x->column, d.to)) /* shares */
        d.to = 1;
    return d;
}

/* Leaves out figures with limits so wide that the column does not contain them: they say nothing. */
static void leave_out_unknown(struct claims *c, size_t figures)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct claim *x = &c->list[i];
        struct drafted d = drafted_figure(x, figures);
        if (d.half < fabs(d.middle) || (d.from <= x->lo && d.to >= x->hi && !table_value_refused(x->column, d.from)))
            c->list[kept++] = *x;
    }
    c->left_out += c->n - kept;
    c->n = kept;
}

/* FIGURE [~ HALF]: what is counted as it is; a bound as a range; else the middle of the limits. */
static void print_claim(FILE *out, const struct claim *x, char mark, size_t figures)
{
    struct drafted d = drafted_figure(x, figures);
    if (x->hi == x->lo && x->lo == round(x->lo))
        fprintf(out, "%s = %.0f # %c", x->line, x->lo, mark);
    else if (x->bound || d.half >= fabs(d.middle))
        fprintf(out, "%s = %.9f..%.9f # %c", x->line, d.from, d.to, mark);
    else
        fprintf(out, "%s = %.9f ~ %.9f # %c", x->line, d.middle, d.half + 1e-9, mark);
    fprintf(out, ": 95 %% limits %.6g to %.6g", x->lo, x->hi);
    if (x->rows > 1)
        fprintf(out, " of %zu rows", x->rows);
    fputc('\n', out);
}

/* The claims of a table, none of one that no entry is drafted of. 0, or -1: out of memory. */
static int collect_claims(const struct table *t, struct claims *c)
{
    const struct table_kind *kind = tables_find(t->name);
    if (kind && kind->exported == EXPORT_FREQUENCIES)
        take_levels(t, c);
    for (size_t row = 0; kind && row < t->n_rows; row++)
        take_row(t, row, &kind->drafted, c);
    return c->failed ? -1 : 0;
}

static void print_claims(FILE *out, const struct table *t, const struct claims *c, char mark, size_t figures)
{
    if (c->n)
        fprintf(out, "\n[%s]\n", t->name);
    for (size_t i = 0; i < c->n; i++)
        print_claim(out, &c->list[i], mark, figures);
}

/* A, B, C ... of the tables there are. */
static char mark_of(size_t i)
{
    return (char)('A' + i);
}

static int print_sources(FILE *out, const struct table *const *tables, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *json = table_to_json(tables[i]), digest[SHA256_HEX_SIZE];
        if (!json)
            return -1;
        sha256_hex(json, strlen(json), digest);
        fprintf(out, "#   %c  %s.json, SHA-256 %s\n", mark_of(i), tables[i]->name, digest);
        free(json);
    }
    return 0;
}

static void print_head(FILE *out, const struct table *first, size_t figures)
{
    const char *cpu = table_meta(first, "cpu"), *date = table_meta(first, "date"),
               *version = table_meta(first, "version"), *environment = table_meta(first, "environment"),
               *machine = table_meta(first, "machine");
    bool modelled = table_modelled(first);
    char name[SKU_TEXT_MAX], what[200];
    plain_text(cpu ? cpu : "unnamed processor", name, sizeof name);
    for (char *c = name; *c; c++)
        *c = *c == '#' ? ' ' : *c;
    plain_text(environment ? environment : "not recorded", what, sizeof what);
    fprintf(out, "#\n# %s with %s by characterize %s on %s; nothing here was published.\n",
            modelled ? "Modelled, not measured:" : "Measured", machine ? machine : "an unnamed machine",
            version ? version : "of no version", date ? date : "a day not recorded");
    if (environment)
        fprintf(out, "# Settings: %s\n", what);
    fprintf(
        out,
        "# Precision: the width of the 95 %% limits, %.2f times half of it or more, where it is of few repetitions, "
        "so\n# that a second measurement of this processor deviates in one of the %zu figures with a "
        "probability of %.0f %%.\n",
        widening(figures, 0), figures, 100 * FALSE_ALARMS);
    fprintf(out,
            "#\nformat = characterize-sku/1\n\n[sku]\nname = %s # its own\nbrand = %s # its own\nkind = %s # see "
            "above\n",
            name, name, modelled ? "modelled" : "measured");
}

int draft_write(const struct table *const *tables, size_t n, struct draft *out, struct machine_error *err)
{
    size_t length;
    *out = (struct draft){.text = NULL};
    struct claims *claims = calloc(n + 1, sizeof *claims);
    bool bad = !claims;
    FILE *f = open_memstream(&out->text, &length);
    if (!f) {
        free(claims);
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    }
    for (size_t i = 0; i < n && !bad; i++)
        bad = collect_claims(tables[i], &claims[i]);
    size_t figures = 0;
    for (size_t i = 0; i < n && claims; i++)
        figures += claims[i].n;
    for (size_t i = 0; i < n && claims; i++) {
        leave_out_unknown(&claims[i], figures);
        out->figures += claims[i].n;
        out->left_out += claims[i].left_out;
    }
    fprintf(f, "# SPDX-License-Identifier: CC0-1.0\n# Draft of an entry. Figures of:\n");
    bad = bad || print_sources(f, tables, n);
    print_head(f, tables[0], out->figures);
    for (size_t i = 0; i < n && !bad; i++)
        print_claims(f, tables[i], &claims[i], mark_of(i), out->figures);
    for (size_t i = 0; i < n && claims; i++)
        free(claims[i].list);
    free(claims);
    bad = fclose(f) || bad;
    if (bad || !out->figures) {
        free(out->text);
        out->text = NULL;
        return bad ? machine_fail(err, MACHINE_FAILED, "", "out of memory")
                   : machine_fail(err, MACHINE_CANNOT, "repeat the tables with more --runs",
                                  "no value of these tables has limits: there is nothing to draft");
    }
    return MACHINE_OK;
}
