/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts that all tables share: their cells, and the choices of options: kernels, active cores, the machine's
 * setup. */
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tables/table/tables.h"
#include "util/list.h"
#include "util/order.h"
#include "util/splitmix64.h"
#include "util/text_list.h"

const char *const tables_refinement_names[REFINEMENTS] = {
    [REFINED_BUSY] = "busy",         [REFINED_QUIET] = "quiet",         [REFINED_SETTINGS] = "settings",
    [REFINED_ISOLATED] = "isolated", [REFINED_IRQS_AWAY] = "irqs-away", [REFINED_TICKLESS] = "tickless",
    [REFINED_MASKED] = "masked",     [REFINED_WARM] = "warm",
};

bool tables_drafted_row(const struct tables_drafted *d, const char *text)
{
    return !d->only || (text && text_list_has(d->is, text));
}

bool tables_drafted_key(const struct tables_drafted *d, const char *key, const char *text)
{
    return !d->found || !text || strcmp(key, d->found) != 0 || strcmp(text, d->found_in) != 0;
}

/* ---- cells ---- */

/* Only what every file system and every shell takes; a slash of a density becomes a dash. */
static void make_harmless(char *id)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@._+-";
    for (char *c = id; *c; c++)
        if (!strchr(harmless, *c))
            *c = '-';
    if (id[0] == '.' || id[0] == '-')
        id[0] = '_';
}

struct cell *tables_add_cell(struct cells *c, const struct payload *a, const struct payload *b, unsigned active_cores,
                             const char *id, ...)
{
    static const struct payload none = {.kernel = NULL};
    char name[TABLES_CELL_ID_MAX];
    va_list arguments;
    va_start(arguments, id);
    vsnprintf(name, sizeof name, id, arguments);
    va_end(arguments);
    make_harmless(name);
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->cell[i].id, name) == 0)
            return NULL;
    if (!list_room(&c->cell, c->n, sizeof *c->cell))
        return NULL;
    struct cell *new = &c->cell[c->n++];
    *new = (struct cell){
        .a = a ? *a : none, .b = b ? *b : none, .active_cores = active_cores, .cpu = -1, .seconds = 0.1};
    memcpy(new->id, name, sizeof name);
    return new;
}

void tables_free_cells(struct cells *c)
{
    free(c->cell);
    memset(c, 0, sizeof *c);
}

void tables_put_cell(struct table *t, const struct cell *c)
{
    if (c->a.kernel && table_has(t, "kernel"))
        table_put_text(t, "kernel", c->a.name);
    if (c->a.kernel && table_has(t, "from"))
        table_put_text(t, "from", c->a.name);
    if (c->b.kernel && table_has(t, "to"))
        table_put_text(t, "to", c->b.name);
    if (c->active_cores && table_has(t, "active_cores"))
        table_put_number(t, "active_cores", c->active_cores);
    if (c->cpu >= 0 && table_has(t, "cpu"))
        table_put_number(t, "cpu", c->cpu);
}

void tables_cell_missing(struct table *t, const struct cell *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    table_add_missing_v(t, format, args);
    va_end(args);
    tables_put_cell(t, c);
}

/* ---- choices of options ---- */

/* One of each width and weight that license analysts distinguish, and the tiles of AMX. */
const char *const tables_usual_kernels[] = {"64add", "128or", "128fma", "256or", "256fma", "512or", "512fma", "amx"};
const size_t tables_n_usual_kernels = sizeof tables_usual_kernels / sizeof tables_usual_kernels[0];

size_t tables_every_kernel(const char **out, size_t max)
{
    size_t count, n = 0;
    const struct kernel *kernels = kernel_registry(&count);
    for (size_t i = 0; i < count && n < max; i++)
        if (!kernels[i].latency_bound && !kernels[i].chained_adds && !kernels[i].by_name &&
            strcmp(kernels[i].name, "pause") != 0 && strcmp(kernels[i].name, "chain") != 0)
            out[n++] = kernels[i].name;
    return n;
}

void tables_options_default(struct tables_options *o)
{
    memset(o, 0, sizeof *o);
    o->cpu = -1;
}

/* Takes a kernel if the machine can run it, else notes why not, and what can. */
static size_t take_kernel(const struct tables_context *x, const struct payload *p, struct payload *out, size_t n,
                          struct table *t)
{
    char names[100];
    unsigned lacking = p->kernel->features & ~x->info.features;
    if (n == TABLES_KERNELS_MAX)
        return n;
    if (!lacking) {
        out[n] = *p;
        return n + 1;
    }
    kernel_feature_names(lacking, names, sizeof names);
    const char *stand_in = kernel_stand_in(p->kernel->name, x->info.features);
    table_add_missing(t, "needs %s, which %.150s does not support%s%s", names, x->info.cpu,
                      stand_in ? "; AVX alone suffices for " : "", stand_in ? stand_in : "");
    table_put_text(t, table_has(t, "kernel") ? "kernel" : "from", p->name);
    return n;
}

size_t tables_kernels(const struct tables_context *x, const char *const *names, size_t n_names, struct payload *out,
                      struct table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < x->options->n_kernels; i++)
        n = take_kernel(x, &x->options->kernels[i], out, n, t);
    for (size_t i = 0; i < n_names && !x->options->n_kernels; i++) {
        struct payload p = kernel_named(names[i]), other;
        n = take_kernel(x, &p, out, n, t);
        if (p.kernel->features & ~x->info.features && tables_can_run(x, names[i], &other))
            n = take_kernel(x, &other, out, n, t);
    }
    return n;
}

bool tables_lacking(const struct tables_context *x, const struct payload *p, const char *column, const char *text,
                    struct table *t)
{
    char names[100];
    const unsigned lacking = p->kernel->features & ~x->info.features;
    if (!lacking)
        return false;
    kernel_feature_names(lacking, names, sizeof names);
    table_add_missing(t, "needs %s, which this processor does not support", names);
    table_put_text(t, column, text);
    return true;
}

bool tables_can_run(const struct tables_context *x, const char *name, struct payload *out)
{
    if (kernel_parse(name, out, NULL, 0) != 0)
        return false;
    const char *other = out->kernel->features & ~x->info.features ? kernel_stand_in(name, x->info.features) : NULL;
    if (other)
        *out = kernel_named(other);
    return !(out->kernel->features & ~x->info.features);
}

size_t tables_each_once(struct payload *kernels, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < kept && strcmp(kernels[k].name, kernels[i].name) != 0)
            k++;
        if (k == kept)
            kernels[kept++] = kernels[i];
    }
    return kept;
}

size_t tables_only_clean(struct payload *kernels, size_t n, const char *column, struct table *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (!kernels[i].dirty) {
            kernels[kept++] = kernels[i];
            continue;
        }
        table_add_missing(t,
                          "what it leaves dirty would slow the code after it, too, with which it is compared; --table "
                          "trigger and relaxation show that");
        table_put_text(t, column, kernels[i].name);
    }
    return kept;
}

size_t tables_active_cores(const struct tables_context *x, enum tables_cores otherwise, unsigned *out)
{
    static const unsigned ends[][2] = {[CORES_ALL] = {1, 0},
                                       [CORES_ONE_AND_ALL] = {1, 1},
                                       [CORES_TWO_AND_ALL] = {2, 2},
                                       [CORES_ONE_TWO_AND_ALL] = {1, 2},
                                       [CORES_DOUBLED] = {1, UINT_MAX},
                                       [CORES_EVERY] = {1, UINT_MAX}};
    const struct tables_options *o = x->options;
    unsigned cores = x->info.usable_cores ? x->info.usable_cores : x->info.cores ? x->info.cores : 1;
    size_t n = 0, kept = 0;
    if (o->n_cpus && o->n_cpus < cores) /* the CPUs that were named are those that there are */
        cores = (unsigned)o->n_cpus;
    for (size_t i = 0; i < o->n_active && n < TABLES_CORES_MAX; i++)
        out[n++] = o->active[i] == 0 ? cores : o->active[i];
    if (!o->n_active) {
        const unsigned first = ends[otherwise][0], last = ends[otherwise][1];
        for (unsigned c = first; c < cores && c <= last && n + 1 < TABLES_CORES_MAX;
             c = otherwise == CORES_EVERY ? c + 1 : 2 * c)
            out[n++] = c;
        out[n++] = cores;
    }
    qsort(out, n, sizeof *out, order_unsigned);
    for (size_t i = 0; i < n; i++)
        if (out[i] <= cores && (kept == 0 || out[i] != out[kept - 1]))
            out[kept++] = out[i];
    return kept;
}

/* FNV-1a (draft-eastlake-fnv, 64 bits), then SplitMix64. */
uint64_t tables_cell_seed(const struct tables_context *x, const char *table, const struct cell *c)
{
    uint64_t h = 0xcbf29ce484222325u;
    const char *const parts[] = {table, "/", c->id};
    for (size_t i = 0; i < 3; i++)
        for (const char *p = parts[i]; *p; p++)
            h = (h ^ (unsigned char)*p) * 0x100000001b3u;
    return splitmix64(h + (x->options->seed - 1) * SPLITMIX64_STEP);
}

struct machine_setup tables_setup(const struct tables_context *x, const char *table, const struct cell *c)
{
    const struct tables_options *o = x->options;
    struct machine_setup s = {.cpu = c->cpu >= 0 ? c->cpu : o->cpu,
                              .active_cores = c->active_cores,
                              .corunner = o->corunner_same ? c->a : o->corunner,
                              .cpus = o->n_cpus ? o->cpus : NULL,
                              .n_cpus = o->n_cpus,
                              .siblings = o->siblings,
                              .seed = tables_cell_seed(x, table, c)};
    return s;
}

bool tables_stop(const struct tables_context *x, double part)
{
    return x->progress && x->progress(x->data, part);
}

int tables_on_progress(void *data, unsigned done, unsigned wanted)
{
    return tables_stop(data, wanted ? (double)done / wanted : 0);
}
