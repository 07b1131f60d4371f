/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which blocks of a binary lift the turbo class, as rows and sentences. */
#include "tables/which/which.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/classes/class_ratios.h"
#include "tables/table/chart_table.h"
#include "tables/table/estimates.h"
#include "util/text_list.h"

/* Time that all blocks together may take, s: thirty rounds of the most that there may be. */
static const double SECONDS = 10, SECONDS_BRIEF = 3;
/* Blocks that a sentence names of a class. */
enum { NAMED_MOST = 8 };
/* Mnemonics that the screen has room for. */
enum { SHOWN = 2 };
/* The address of the null, which is not in the file. */
#define NULL_ADDRESS "-"

enum column { FUNCTION, ADDRESS, WIDTH, WEIGHT, WIDE, OF, DROPPED, COUNT, RATIO, RATIO_LO, RATIO_HI, CLASS };
static const struct table_column columns[] = {
    [FUNCTION] = {"function", "", TABLE_TEXT, true, 0},
    [ADDRESS] = {"address", "", TABLE_TEXT, true, 0}, /* of the block */
    [WIDTH] = {"width", "", TABLE_WHOLE, false, 0},
    [WEIGHT] = {"weight", "", TABLE_TEXT, false, 0},
    [WIDE] = {"wide", "", TABLE_WHOLE, false, 0},      /* instructions of 256 bits and more */
    [OF] = {"of", "", TABLE_WHOLE, false, 0},          /* instructions in all */
    [DROPPED] = {"dropped", "", TABLE_REAL, false, 2}, /* the share of them that is not measured */
    [COUNT] = {"count", "", TABLE_WHOLE, false, 0},    /* equal blocks */
    TABLE_LIMITS("ratio", "", 4),                      /* of its frequency to that of CLASSES_PLAIN around it */
    [CLASS] = {"class", "", TABLE_WHOLE, false, 0},
    {"instructions", "", TABLE_TEXT, false, 0},
    {"n", "", TABLE_WHOLE, false, 0},
    {"discarded", "", TABLE_WHOLE, false, 0},
    {"also", "", TABLE_TEXT, false, 0}, /* other functions that have an equal block */
};

/* ---- measuring ---- */

static void put_refused(const struct binary_choice *c, struct table *t)
{
    for (size_t i = 0; i < c->n_refused; i++) {
        const struct binary_refused *r = &c->refused[i];
        char address[24];
        snprintf(address, sizeof address, "0x%" PRIx64, r->address);
        if (r->count == 1)
            table_add_missing(t, "%s", r->why);
        else
            table_add_missing(t, "%s; the same of %u more blocks of it", r->why, r->count - 1);
        table_put_text(t, "function", r->function->name);
        table_put_text(t, "address", address);
    }
    if (c->refused_more > 0)
        table_add_missing(t, "%zu more blocks are not measured; FILE:FUNCTION says why", c->refused_more);
}

static size_t payloads_of(const struct binary_choice *c, struct payload out[BLOCK_SET_MAX + 1])
{
    out[0] = kernel_named(CLASSES_PLAIN);
    for (size_t i = 0; i < c->n; i++)
        out[i + 1] = c->chosen[i].payload;
    return c->n + 1;
}

static void set_up_blocks(const struct tables_context *x, const struct cell *c, const struct payload *kernels, size_t n,
                          struct brackets_setup *s)
{
    classes_set_up(x, table_which.name, c, kernels, n, s);
    if (!(x->options->seconds > 0))
        s->seconds = x->options->brief ? SECONDS_BRIEF : SECONDS;
}

static int plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    const struct binary_choice *choice = x->options->which->choice;
    struct payload kernels[BLOCK_SET_MAX + 1];
    struct brackets_setup s;
    unsigned cores[TABLES_CORES_MAX];
    put_refused(choice, t);
    table_set_setting(t, "file", x->options->which->file);
    table_set_setting_number(t, "blocks", (double)choice->n_blocks);
    table_set_setting_number(t, "left_out", (double)choice->left_out);
    if (choice->n == 0 || tables_active_cores(x, CORES_ALL, cores) == 0)
        return MACHINE_OK;
    struct cell *c = tables_add_cell(out, NULL, NULL, cores[0], "which");
    if (!c)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    c->cpu = x->options->cpu;
    set_up_blocks(x, c, kernels, payloads_of(choice, kernels), &s);
    c->seconds = 0.05 + fmax(s.seconds, s.least * brackets_round_seconds(&s));
    table_set_setting_number(t, "runs", s.least);
    table_set_setting_number(t, "active_cores", cores[0]);
    return MACHINE_OK;
}

static void put_ratio(struct table *rows, const struct payload *p, const struct classes_seen *seen)
{
    table_put_number(rows, "width", p->kernel->width);
    table_put_text(rows, "weight", kernel_weight_name(p->kernel->weight));
    estimates_put(rows, "ratio", seen->ratio);
    table_put_number(rows, "n", (double)seen->used);
    table_put_number(rows, "discarded", (double)seen->discarded);
}

static void put_block(struct table *rows, const struct binary_chosen *b, const struct classes_seen *seen)
{
    char address[24];
    snprintf(address, sizeof address, "0x%" PRIx64, b->address);
    if (!isfinite(seen->ratio.value))
        table_add_missing(rows, "all rounds were disturbed; stop other programs, or use more --runs");
    else
        table_add_row(rows);
    table_put_text(rows, "function", b->function->name);
    table_put_text(rows, "address", address);
    if (!isfinite(seen->ratio.value))
        return;
    put_ratio(rows, &b->payload, seen);
    table_put_number(rows, "wide", b->wide);
    table_put_number(rows, "of", b->of);
    table_put_number(rows, "dropped", (double)b->dropped / b->of);
    table_put_number(rows, "count", b->count);
    table_put_text(rows, "instructions", b->instructions);
    if (b->also[0] != '\0')
        table_put_text(rows, "also", b->also);
}

static void put_null(struct table *rows, const struct payload *p, const struct classes_seen *seen)
{
    table_add_row(rows);
    table_put_text(rows, "function", CLASSES_PLAIN);
    table_put_text(rows, "address", NULL_ADDRESS);
    put_ratio(rows, p, seen);
}

static int measure(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err)
{
    const struct binary_choice *choice = x->options->which->choice;
    struct payload kernels[BLOCK_SET_MAX + 1];
    struct classes_seen seen[BLOCK_SET_MAX + 1];
    struct brackets_setup s;
    const size_t n = payloads_of(choice, kernels);
    set_up_blocks(x, c, kernels, n, &s);
    const int status = classes_run(x, &s, seen, err);
    if (status)
        return status;
    if (isfinite(seen[0].ratio.value))
        put_null(rows, &kernels[0], &seen[0]);
    for (size_t k = 1; k < n; k++)
        put_block(rows, &choice->chosen[k - 1], &seen[k]);
    return MACHINE_OK;
}

/* ---- conclusions ---- */

/* Absent numbers are smallest. */
static int order_columns(const struct table_value *a, const struct table_value *b, enum column c)
{
    const double x = isfinite(a[c].number) ? a[c].number : -1, y = isfinite(b[c].number) ? b[c].number : -1;
    return (x < y) - (x > y);
}

static int order_rows(const void *a, const void *b)
{
    const struct table_value *x = a, *y = b;
    int order = order_columns(x, y, CLASS);
    order = order ? order : order_columns(x, y, WIDE);
    order = order ? order : strcmp(x[FUNCTION].text, y[FUNCTION].text);
    return order ? order : strcmp(x[ADDRESS].text, y[ADDRESS].text);
}

static int conclude(struct table *t)
{
    const int bad = classes_assign(t);
    if (!bad && t->n_rows > 0)
        qsort(t->values, t->n_rows, t->n_columns * sizeof *t->values, order_rows);
    return bad;
}

/* ---- findings ---- */

static bool is_block(const struct table *t, size_t row)
{
    return !table_says(t, row, "address", NULL_ADDRESS);
}

/* Returns whether a row says what one before it of this class has said. */
static bool is_said(const struct table *t, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (is_block(t, i) && table_same(t, i, row, "class") && table_same(t, i, row, "function") &&
            table_same(t, i, row, "instructions"))
            return true;
    return false;
}

/* "f at 0x1120 by vfmadd231ps 12, vmulps 4; g at 0x1400 by vmulps 8". */
static void tell_class(FILE *out, const struct table *t, double class)
{
    char list[2400] = "";
    double sum = 0;
    size_t n = 0, named = 0, more = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        if (table_number(t, row, "class") != class || !is_block(t, row))
            continue;
        const char *what = table_text(t, row, "instructions"), *also = table_text(t, row, "also");
        sum += table_number(t, row, "ratio");
        n++;
        if (is_said(t, row))
            continue;
        if (named++ < NAMED_MOST)
            text_list_add(list, sizeof list, "; ", "%.100s at %s%s%.100s by %.150s", table_text(t, row, "function"),
                          table_text(t, row, "address"), also ? ", also in " : "", also ? also : "", what ? what : "?");
        else
            more++;
    }
    if (more > 0)
        text_list_add(list, sizeof list, "; ", "%zu more", more);
    if (n > 0)
        pivot_note(out, 2, "Class %.0f, %.3f of the frequency of " CLASSES_PLAIN ": %s.", class, sum / (double)n, list);
}

static void findings(FILE *out, const struct table *t)
{
    double widest;
    const double most = chart_largest(t, "class");
    const size_t n = classes_widest(t, &widest);
    const char *file = table_setting(t, "file"), *left_out = table_setting(t, "left_out");
    for (double class = most; class >= 1; class --)
        tell_class(out, t, class);
    if (n > 1 && most == 0)
        pivot_note(out, 2,
                   "No block of %s that was measured lifts the class: %zu ratios to the frequency of " CLASSES_PLAIN
                   " agree; the widest limits are +-%.2g %%.",
                   file ? file : "it", n - 1, 100 * widest);
    if (left_out && strcmp(left_out, "0") != 0)
        pivot_note(out, 2, "%s blocks with fewer wide instructions were left out; FILE:FUNCTION narrows it.", left_out);
}

/* ---- for a person ---- */

static void put_kind(struct pivot *p, const struct table *t, size_t row)
{
    const char *weight = table_text(t, row, "weight");
    pivot_text(p, "%.0f %s", table_number(t, row, "width"), weight ? weight : "");
}

static void put_wide(struct pivot *p, const struct table *t, size_t row)
{
    const double wide = table_number(t, row, "wide");
    if (isfinite(wide))
        pivot_text(p, "%.0f of %.0f", wide, table_number(t, row, "of"));
    else
        pivot_word(p, NULL);
}

/* The first of them: the others are in the files. */
static void put_first(struct pivot *p, const struct table *t, size_t row)
{
    const char *all = table_text(t, row, "instructions"), *end = all;
    for (int i = 0; i < SHOWN && end != NULL; i++)
        end = strchr(end + (i > 0), ',');
    if (all != NULL && end != NULL)
        pivot_text(p, "%.*s, ...", (int)(end - all), all);
    else
        pivot_word(p, all);
}

static const struct pivot_field fields[] = {
    {"function", "function", PIVOT_PLAIN, NULL},    {"address", "address", PIVOT_PLAIN, NULL},
    {"class", "class", PIVOT_PLAIN, NULL},          {"ratio", "ratio", PIVOT_HALF, NULL},
    {"kind", NULL, PIVOT_PLAIN, put_kind},          {"wide", NULL, PIVOT_PLAIN, put_wide},
    {"instructions", NULL, PIVOT_PLAIN, put_first},
};
static const struct pivot_list views[] = {{.n_names = 2, PIVOT_FIELDS(fields)}};

/* What was left out of the blocks. */
static void print(FILE *out, __attribute__((unused)) bool colour, const struct table *t)
{
    const double most = chart_largest(t, "dropped");
    if (most > 0)
        pivot_note(out, 0, "Jumps, calls and the like were dropped, up to %.0f %% of the instructions of a block.",
                   100 * most);
}

const struct table_kind table_which = {
    .name = "which",
    .title = "Which code of a binary lifts the turbo class",
    .about = "which functions of a program or library lift the turbo class, and by which instructions",
    .method =
        "Blocks with wide instructions are taken out of the file, rewritten so that they run in a buffer, and run "
        "in slots of 3 ms between slots of scalar code, with which the ratio compares them, in random order. The "
        "ratio of scalar code to itself is the null. Ratios with a gap between them that is above the limits of "
        "both are of two classes; 0 is the fastest.",
    TABLE_KIND_COLUMNS(columns),
    .plan = plan,
    .measure = measure,
    .conclude = conclude,
    .findings = findings,
    TABLE_KIND_VIEWS(views),
    .print = print,
};
