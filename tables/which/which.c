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
#include "tables/which/lifted.h"
#include "util/text_list.h"

/* Time that all blocks together may take, s: thirty rounds of the most that there may be. */
static const double SECONDS = 10, SECONDS_BRIEF = 3;
/* Blocks that a sentence names of a class. */
enum { NAMED_MOST = 8 };
/* Mnemonics that the screen has room for, and a sentence. */
enum { SHOWN = 2, TOLD = 4 };
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
    {"also", "", TABLE_TEXT, false, 0},           /* other functions that have an equal block */
    {"lifted_by", "", TABLE_TEXT, false, 0},      /* instructions: sets that each reach the class alone */
    TABLE_LIMITS("without", "", 4),               /* the ratio without these */
    {"class_without", "", TABLE_WHOLE, false, 0}, /* of it */
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

/* Returns its row; SIZE_MAX: it has none. */
static size_t put_block(struct table *rows, const struct binary_chosen *b, const struct classes_seen *seen)
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
        return SIZE_MAX;
    put_ratio(rows, &b->payload, seen);
    table_put_number(rows, "wide", b->wide);
    table_put_number(rows, "of", b->of);
    table_put_number(rows, "dropped", (double)b->dropped / b->of);
    table_put_number(rows, "count", b->count);
    table_put_text(rows, "instructions", b->instructions);
    if (b->also[0] != '\0')
        table_put_text(rows, "also", b->also);
    return rows->n_rows - 1;
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
    size_t row_of[BLOCK_SET_MAX];
    set_up_blocks(x, c, kernels, n, &s);
    const int status = classes_run(x, &s, seen, err);
    if (status)
        return status;
    if (isfinite(seen[0].ratio.value))
        put_null(rows, &kernels[0], &seen[0]);
    for (size_t k = 1; k < n; k++)
        row_of[k - 1] = put_block(rows, &choice->chosen[k - 1], &seen[k]);
    return lifted_find(x, choice, row_of, &s, rows, err);
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

/* The one class whose ratios that of a block without what lifts it agrees with; NaN: none, or several. */
static double class_without(const struct table *t, size_t row)
{
    const struct estimate without = estimates_of_table(t, row, "without");
    double class = NAN;
    for (size_t i = 0; i < t->n_rows && estimates_known(&without); i++) {
        const struct estimate e = estimates_of_table(t, i, "ratio");
        const double of = table_number(t, i, "class");
        if (!isfinite(of) || classes_slower(&e, &without) || classes_slower(&without, &e))
            continue;
        if (isfinite(class) && of != class)
            return NAN;
        class = of;
    }
    return class;
}

static int conclude(struct table *t)
{
    const int bad = classes_assign(t);
    for (size_t row = 0; row < t->n_rows; row++)
        table_set_number(t, row, "class_without", class_without(t, row));
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
        if (lifted_alike(t, i, row) && (!table_holds(t, row, "lifted_by") || table_same(t, i, row, "lifted_by")))
            return true;
    return false;
}

/* The first items of a list between commas. */
static void first_items(const char *all, int n, char *out, size_t size)
{
    const char *end = all;
    for (int i = 0; i < n && end != NULL; i++)
        end = strchr(end + (i > 0), ',');
    snprintf(out, size, "%.*s%s", end != NULL ? (int)(end - all) : (int)strlen(all), all, end != NULL ? ", ..." : "");
}

/* "by vfmadd231ps zmm (shown: alone it suffices, without it class 0)"; "(suspected: vmulps 8)": it may be innocent. */
static void tell_instructions(const struct table *t, size_t row, char *out, size_t size)
{
    char list[220], without[40] = "";
    const char *by = table_text(t, row, "lifted_by"), *suspected = table_text(t, row, "instructions");
    const double ratio = table_number(t, row, "without"), class = table_number(t, row, "class_without");
    first_items(by ? by : suspected ? suspected : "?", TOLD, list, sizeof list);
    if (!by) {
        snprintf(out, size, "(suspected: %s)", list);
        return;
    }
    const bool several = strchr(by, ',') != NULL, joined = strchr(by, '+') != NULL;
    if (isfinite(class))
        snprintf(without, sizeof without, ", without %s class %.0f", several || joined ? "them" : "it", class);
    else if (isfinite(ratio))
        snprintf(without, sizeof without, ", without %s ratio %.3f", several || joined ? "them" : "it", ratio);
    snprintf(out, size, "by %s (shown: %s%s)", list,
             several  ? "each alone suffices"
             : joined ? "together they suffice"
                      : "alone it suffices",
             without);
}

/* "f at 0x1120 by vfmadd231ps zmm (shown: ...); g at 0x1400 (suspected: vmulps 8)". */
static void tell_class(FILE *out, const struct table *t, double class)
{
    char list[4000] = "", what[360];
    double sum = 0;
    size_t n = 0, named = 0, more = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        if (table_number(t, row, "class") != class || !is_block(t, row))
            continue;
        const char *also = table_text(t, row, "also");
        sum += table_number(t, row, "ratio");
        n++;
        if (is_said(t, row))
            continue;
        tell_instructions(t, row, what, sizeof what);
        if (named++ < NAMED_MOST)
            text_list_add(list, sizeof list, "; ", "%.100s at %s%s%.100s %s", table_text(t, row, "function"),
                          table_text(t, row, "address"), also ? ", also in " : "", also ? also : "", what);
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
    if (most >= 1 && table_modelled(t))
        pivot_note(out, 2,
                   "By the model's demands of such code: chains of dependent instructions, divisions and mixtures "
                   "of widths, which it has for kernels, count as any other block.");
    if (n > 1 && most == 0)
        pivot_note(out, 2,
                   "No block of %s that was measured lifts the class: all run at the frequency of " CLASSES_PLAIN
                   "; the widest limits are +-%.2g %%.",
                   file ? file : "it", 100 * widest);
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

/* The first of those that were shown to lift the class, else of all: the others are in the files. */
static void put_first(struct pivot *p, const struct table *t, size_t row)
{
    char list[220];
    const char *by = table_text(t, row, "lifted_by"), *all = by ? by : table_text(t, row, "instructions");
    if (all == NULL) {
        pivot_word(p, NULL);
        return;
    }
    first_items(all, SHOWN, list, sizeof list);
    pivot_text(p, "%s%s", by ? "by " : "", list);
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
        "both are of two classes; 0 is the fastest. What lifts the class of a block is found by measuring it with some "
        "of "
        "its wide instructions replaced by NOPs.",
    TABLE_KIND_COLUMNS(columns),
    .plan = plan,
    .measure = measure,
    .conclude = conclude,
    .findings = findings,
    TABLE_KIND_VIEWS(views),
    .print = print,
};
