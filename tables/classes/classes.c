/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table classes: which mix of width, operation, density and level of memory lifts the turbo class, by the ratio of
 * its frequency to that of scalar code around it. Needs neither counters nor a clock that stands still.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/classes/class_ratios.h"
#include "tables/registry.h"
#include "tables/table/chart_table.h"
#include "tables/table/estimates.h"
#include "util/order.h"
#include "util/text_list.h"

/* Densities of the first run, one in 1, 2, 4 and so on, so many; --brief: one in 1 and 8. Then as many runs as
 * bisection takes from one in 128 and 256 to one in 128 and 129. */
enum { DOUBLED = 9, BRIEF = 2, BRIEF_FACTOR = 8, BISECTIONS = 7, DENSITIES_MAX = DOUBLED + 4 * BISECTIONS };

/* Both weights of all widths, then operands from ever farther away. */
static const char *const usual[] = {CLASSES_PLAIN, "128fma",    "256or",      "256fma",     "256fma@mem",
                                    "256fma@l2",   "256fma@l3", "256fma@ram", "512or",      "512fma",
                                    "512fma@mem",  "512fma@l2", "512fma@l3",  "512fma@ram", "amx"};

static const struct table_column columns[] = {
    {"kernel", "", TABLE_TEXT, true, 0},
    {"density", "", TABLE_WHOLE, true, 0}, /* N: one such instruction in N, the others scalar adds */
    TABLE_LIMITS("ratio", "", 4), /* of its frequency to that of CLASSES_PLAIN around it; of CLASSES_PLAIN: the null */
    {"class", "", TABLE_WHOLE, false, 0}, /* 0: as fast as CLASSES_PLAIN; higher: slower */
    {"level", "", TABLE_WHOLE, false, 0}, /* license level, where it is counted */
    {"n", "", TABLE_WHOLE, false, 0},
    {"discarded", "", TABLE_WHOLE, false, 0},
};

/* ---- what is measured ---- */

/* One such instruction in n. */
static struct payload at_density(const struct payload *p, unsigned n)
{
    char name[KERNEL_NAME_MAX + 20];
    struct payload out = *p;
    snprintf(name, sizeof name, "%s@1/%u", p->kernel->name, n);
    if (n > 1 && kernel_parse(name, &out, NULL, 0))
        out = *p; /* it has none */
    return out;
}

/* The densities of the first run; of kernels that have none, or are named with one, that one. */
static size_t first_densities(const struct tables_context *x, const struct payload *p, struct payload *out)
{
    size_t n = 0;
    bool varies = p->kernel->has_density && p->density == 1 && !p->dirty;
    for (unsigned density = 1; n < (size_t)(!varies             ? 1
                                            : x->options->brief ? BRIEF
                                                                : DOUBLED);
         density *= x->options->brief ? BRIEF_FACTOR : 2)
        out[n++] = at_density(p, density);
    return n;
}

static int plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    struct payload kernels[TABLES_KERNELS_MAX + 1] = {kernel_named(CLASSES_PLAIN)}, densities[DENSITIES_MAX];
    unsigned cores[TABLES_CORES_MAX];
    size_t n = tables_kernels(x, usual, sizeof usual / sizeof *usual, kernels + 1, t) + 1;
    const size_t n_cores = tables_active_cores(x, CORES_ALL, cores);
    if (n_cores == 0)
        return MACHINE_OK;
    const unsigned active = cores[n_cores - 1]; /* of several the most */
    n = tables_only_clean(kernels, tables_each_once(kernels, n), "kernel", t);
    for (size_t k = 0; k < n; k++) {
        struct brackets_setup s;
        struct cell *c = tables_add_cell(out, &kernels[k], NULL, active, "%s", kernels[k].name);
        if (!c)
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        c->cpu = x->options->cpu;
        classes_set_up(x, table_classes.name, c, densities, first_densities(x, &kernels[k], densities), &s);
        c->seconds = 0.05 + fmax(s.seconds, s.least * brackets_round_seconds(&s));
        table_set_setting_number(t, "runs", s.least);
        table_set_setting_number(t, "warmup_us", s.before_us);
        table_set_setting_number(t, "observe_us", s.observe_us);
        table_set_setting_number(t, "active_cores", active);
    }
    return MACHINE_OK;
}

/* ---- measuring ---- */

struct class_rig {
    const struct tables_context *x;
    const struct cell *c;
    struct classes_seen seen[DENSITIES_MAX];
    size_t n;
};

/* Measures some densities against CLASSES_PLAIN and puts them in their places. */
static int see(struct class_rig *g, const struct payload *kernels, size_t n, struct machine_error *err)
{
    struct brackets_setup s;
    classes_set_up(g->x, table_classes.name, g->c, kernels, n, &s);
    int status = classes_run(g->x, &s, g->seen + g->n, err);
    if (status)
        return status;
    g->n += n;
    qsort(g->seen, g->n, sizeof *g->seen, order_unsigned);
    return MACHINE_OK;
}

/* The densities in the middle of where the class changes. Returns how many. */
static size_t middles(const struct class_rig *g, struct payload *out)
{
    size_t n = 0;
    for (size_t i = 0; i + 1 < g->n; i++) {
        const struct classes_seen *a = &g->seen[i], *b = &g->seen[i + 1];
        bool changes = classes_slower(&a->ratio, &b->ratio) || classes_slower(&b->ratio, &a->ratio);
        if (changes && b->density - a->density > 1 && g->n + n < DENSITIES_MAX)
            out[n++] = at_density(&g->c->a, (a->density + b->density) / 2);
    }
    return n;
}

static int measure(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err)
{
    struct class_rig g = {.x = x, .c = c};
    struct payload kernels[DENSITIES_MAX];
    int status = see(&g, kernels, first_densities(x, &c->a, kernels), err);
    for (int i = 0; i < BISECTIONS && status == MACHINE_OK && !x->options->brief; i++) {
        size_t n = middles(&g, kernels);
        if (n == 0)
            break;
        status = see(&g, kernels, n, err);
    }
    for (size_t i = 0; i < g.n && status == MACHINE_OK; i++) {
        const struct classes_seen *s = &g.seen[i];
        if (!isfinite(s->ratio.value)) {
            tables_cell_missing(
                rows, c, "all rounds at one in %u were disturbed; stop other programs, or use more --runs", s->density);
            continue;
        }
        table_add_row(rows);
        tables_put_cell(rows, c);
        table_put_number(rows, "density", s->density);
        estimates_put(rows, "ratio", s->ratio);
        table_put_number(rows, "level", s->level);
        table_put_number(rows, "n", (double)s->used);
        table_put_number(rows, "discarded", (double)s->discarded);
    }
    return status;
}

/* ---- findings ---- */

/* Adds a kernel, whose rows begin with this one, and its densities that are of a class: each run of them, as one in
 * between may be of another. */
static void add_kernel(char *text, size_t size, const struct table *t, size_t row, double class)
{
    const char *kernel = table_text(t, row, "kernel");
    size_t past = row;
    while (past < t->n_rows && table_same(t, past, row, "kernel"))
        past++;
    for (size_t first = row; first < past; first++) {
        size_t next = first;
        while (next < past && table_number(t, next, "class") == class)
            next++;
        if (next == first)
            continue;
        const double densest = table_number(t, first, "density"), sparsest = table_number(t, next - 1, "density");
        if (past - row == 1 && densest == 1)
            text_list_add(text, size, ", ", "%s", kernel);
        else if (next - first == past - row && densest == 1)
            text_list_add(text, size, ", ", "%s at all densities", kernel);
        else if (next - first == 1)
            text_list_add(text, size, ", ", "%s at one in %.0f", kernel, sparsest);
        else
            text_list_add(text, size, ", ", "%s at one in %.0f to %.0f", kernel, densest, sparsest);
        first = next;
    }
}

static void tell_class(FILE *out, const struct table *t, double class)
{
    char kernels[900] = "";
    double sum = 0, n = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        if (table_number(t, row, "class") == class) {
            sum += table_number(t, row, "ratio");
            n++;
        }
        if (row == 0 || !table_same(t, row, row - 1, "kernel"))
            add_kernel(kernels, sizeof kernels, t, row, class);
    }
    if (n > 0)
        pivot_note(out, 2, "Class %.0f, %.3f of the frequency of " CLASSES_PLAIN ": %s.", class, sum / n, kernels);
}

static void findings(FILE *out, const struct table *t)
{
    double widest;
    const double most = chart_largest(t, "class");
    const size_t n = classes_widest(t, &widest);
    if (n > 1 && most == 0)
        fprintf(out,
                "No code here lifts the class: %zu ratios to the frequency of " CLASSES_PLAIN
                " agree; the widest limits are "
                "+-%.2g %%.\n",
                n, 100 * widest);
    for (double class = 1; class <= most; class ++)
        tell_class(out, t, class);
}

/* ---- views ---- */

/* The densities of the first run: what bisection adds is in the findings. */
static bool is_doubled(const struct table *t, size_t row)
{
    int exponent;
    return frexp(table_number(t, row, "density"), &exponent) == 0.5;
}

static const struct pivot_field kernel[] = {{"kernel", "kernel", PIVOT_PLAIN, NULL}};
static const struct pivot_list views[] = {
    {.title = "Class of one such instruction in N",
     .shows = is_doubled,
     .n_names = 1,
     PIVOT_FIELDS(kernel),
     .across = {"N", "density", PIVOT_PLAIN, NULL},
     .cell = {.column = "class", .show = PIVOT_PLAIN}},
    {.title = "Ratio to the frequency of " CLASSES_PLAIN,
     .shows = is_doubled,
     .n_names = 1,
     PIVOT_FIELDS(kernel),
     .across = {"N", "density", PIVOT_PLAIN, NULL},
     .cell = {.column = "ratio", .show = PIVOT_ALONE}},
};
static const char *doubled_density(const struct table *t, size_t row, char out[CHART_NAME_MAX])
{
    out[0] = '\0';
    if (is_doubled(t, row))
        snprintf(out, CHART_NAME_MAX, "%.0f", table_number(t, row, "density"));
    return out;
}

static const struct picture pictures[] = {
    {.panel = {.kind = CHART_CELLS,
               .title = "frequency relative to " CLASSES_PLAIN,
               .x_label = "one such instruction in N",
               .scale_label = "ratio"},
     .value = "ratio",
     .name.column = "kernel",
     .across.text = doubled_density},
};

const struct table_kind table_classes = {
    .name = "classes",
    .title = "Which code lifts the turbo class",
    .about = "ratio of each code's frequency to scalar code by width, operation, density and memory, and its class",
    .method =
        "Each kernel runs at densities of one in 1, 2, 4 and so on, in slots of 3 ms between slots of scalar code, "
        "with which the ratio compares it, in random order; where the ratio changes, the density is bisected. The "
        "ratio of scalar code to itself is the null. Ratios with a gap between them that is above the limits of "
        "both are of two classes; 0 is the fastest. All cores are active unless --active-cores says otherwise.",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"kernel", "density", "ratio", "class"},
    .drafted = {.keys = {"kernel", "density"}, .values = {"ratio"}},
    .plan = plan,
    .measure = measure,
    .conclude = classes_assign,
    .findings = findings,
    TABLE_KIND_VIEWS(views),
    TABLE_KIND_PICTURES(pictures),
};
