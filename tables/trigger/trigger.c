/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which code triggers a license level. The cells: trigger_kernel.c, trigger_others.c. */
#include "tables/trigger/trigger.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "tables/table/estimates.h"
#include "tables/registry.h"
#include "util/order.h"

static const struct table_column columns[] = {
    {"kernel", "", TABLE_TEXT, true, 0},
    {"density", "", TABLE_WHOLE, true, 0}, /* N: one such instruction in N */
    {"active_cores", "", TABLE_WHOLE, true, 0},
    {"what", "", TABLE_TEXT, true, 0},
    {"asks", "", TABLE_TEXT, true, 0},
    {"with", "", TABLE_TEXT, true, 0}, /* the other part of a mixture; the code that runs on dirty registers; "-" */
    TABLE_LIMITS("count", "", 0),
    {"spread", "", TABLE_REAL, false, 2}, /* standard deviation of count from time to time, relative */
    {"level", "", TABLE_WHOLE, false, 0},
    TABLE_LIMITS("rate_per_cycle", "1/cycle", 4),
    TABLE_LIMITS("freq_ghz", "GHz", 3),
    TABLE_LIMITS("plain_ghz", "GHz", 3),         /* without the kernel */
    {"level_kernel", "", TABLE_WHOLE, false, 0}, /* of the parts of a mixture alone */
    {"level_with", "", TABLE_WHOLE, false, 0},
    {"freq_kernel_ghz", "GHz", TABLE_REAL, false, 3},
    {"freq_with_ghz", "GHz", TABLE_REAL, false, 3},
    TABLE_LIMITS("ipc_ratio", "", 3),               /* of code on dirty registers, against the same on clean ones */
    {"longest_us", "us", TABLE_REAL, false, 0},     /* the longest burst that was tried */
    {"window_from_us", "us", TABLE_REAL, false, 0}, /* the window looked at, after the burst; < 0: before its end */
    {"window_to_us", "us", TABLE_REAL, false, 0},
    {"warmup_us", "us", TABLE_REAL, false, 0},
    {"period_us", "us", TABLE_REAL, false, 2},
    {"n", "", TABLE_WHOLE, false, 0},
    {"discarded", "", TABLE_WHOLE, false, 0},
    {"detectable", "", TABLE_TEXT, false, 0}, /* where nothing is requested */
    TABLE_LIMITS("ratio", "", 4),             /* of the frequency, to that without the kernel around it */
};

enum { KERNEL, MIXTURE, DIRTY };
static const struct {
    const char *name;
    trigger_measure_cell *measure;
} trigger_kinds[] = {{"count", trigger_kernel}, {"mixture", trigger_mixture}, {"dirty", trigger_dirty}};

/* ---- cells ---- */

static int add_cell(struct cells *out, unsigned kind, const struct payload *a, const struct payload *b, unsigned cores,
                    double seconds)
{
    const char *what = trigger_kinds[kind].name;
    struct cell *c = tables_add_cell(out, a, b, cores, "%s_%s%s%s_%u", what, a->name, b ? "_" : "", b ? b->name : "",
                                     cores);
    if (!c)
        return -1;
    c->number[0] = kind;
    c->seconds = seconds;
    return 0;
}

static int add_dirty(const struct tables_context *x, struct cells *out, const struct payload *p, unsigned cores)
{
    static const char *const plain[] = {"64add", "128or"};
    struct payload dirty, code;
    char name[KERNEL_NAME_MAX + 8];
    snprintf(name, sizeof name, "%s-dirty", p->kernel->name);
    if (p->density != 1 || kernel_parse(name, &dirty, NULL, 0))
        return 0;
    for (size_t i = 0; i < (x->options->brief ? 1 : 2); i++)
        if (tables_can_run(x, plain[i], &code) && add_cell(out, DIRTY, &dirty, &code, cores, 2))
            return -1;
    return 0;
}

/* The mixtures of the literature (G 3.2.1, 6.5.1), or all pairs of the requested kernels. */
static int add_mixtures(const struct tables_context *x, struct cells *out, const struct payload *k, size_t n,
                        unsigned cores)
{
    static const char *const known[][2] = {{"256fma", "512or"}, {"128fma", "256or"}};
    if (x->options->n_kernels) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++)
                if (!k[i].dirty && !k[j].dirty && strcmp(k[i].name, k[j].name) != 0 &&
                    add_cell(out, MIXTURE, &k[i], &k[j], cores, 3))
                    return -1;
        return 0;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct payload a, b;
        if (tables_can_run(x, known[i][0], &a) && tables_can_run(x, known[i][1], &b) &&
            add_cell(out, MIXTURE, &a, &b, cores, 3))
            return -1;
    }
    return 0;
}

static int add_all(const struct tables_context *x, struct cells *out, const struct payload *k, size_t n, unsigned cores)
{
    for (size_t i = 0; i < n; i++)
        if (!k[i].dirty && add_cell(out, KERNEL, &k[i], NULL, cores, k[i].kernel->width > 128 ? 3 : 1.5))
            return -1;
    if (add_mixtures(x, out, k, n, cores))
        return -1;
    for (size_t i = 0; i < n; i++) {
        bool again = false; /* 512fma and 512fma-dirty leave the same */
        for (size_t j = 0; j < i; j++)
            again = again || k[j].kernel == k[i].kernel;
        if (k[i].kernel->width >= 256 && !again && add_dirty(x, out, &k[i], cores))
            return -1;
    }
    return 0;
}

/* Multiplications need many before the highest level, unlike FMAs of that width (G 3.2.1). */
static int add_multiplications(const struct tables_context *x, struct cells *out, unsigned cores)
{
    struct payload k;
    const bool usual = !x->options->brief && x->options->n_kernels == 0;
    return usual && tables_can_run(x, "512mul", &k) && add_cell(out, KERNEL, &k, NULL, cores, 3) ? -1 : 0;
}

static int plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    static const char *const brief[] = {"256fma", "512or", "512fma"}; /* all kinds that may request a level */
    struct payload kernel[TABLES_KERNELS_MAX];
    unsigned cores[TABLES_CORES_MAX];
    size_t n = x->options->brief ? tables_kernels(x, brief, 3, kernel, t)
                                 : tables_kernels(x, tables_usual_kernels, tables_n_usual_kernels, kernel, t);
    size_t n_cores = tables_active_cores(x, CORES_ALL, cores);
    for (size_t i = 0; i < n_cores; i++)
        if (add_all(x, out, kernel, n, cores[i]) || add_multiplications(x, out, cores[i]))
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    table_set_setting(t, "warmup",
                      "plain code before each burst, at least as long as levels are held: warmup_us of each row; "
                      "--warmup can only lengthen it");
    table_set_setting(t, "window",
                      "the level that a burst triggers is read from window_from_us to window_to_us after it (below 0: "
                      "during it), when transitions are over and levels are still held, as switches to each kernel and "
                      "back showed; --observe does not change it");
    if (x->options->runs)
        table_set_setting_number(t, "runs", x->options->runs);
    return MACHINE_OK;
}

static int measure_at(const struct tables_context *x, const struct cell *c, bool only_lower, bool *enough,
                      struct table *rows, struct machine_error *err)
{
    int status = trigger_kinds[c->number[0]].measure(x, c, only_lower, enough, rows, err);
    if (status != MACHINE_CANNOT)
        return status;
    *enough = true; /* another number of cores is no substitute for what is not clear at this one */
    trigger_put_missing(c, rows, trigger_kinds[c->number[0]].name, c->a.density, "%s%s%s", err->text,
                        err->remedy[0] ? "; " : "", err->remedy);
    return MACHINE_OK;
}

/*
 * By default all cores are active. Frequencies of levels that are equal there can differ with one active core; where
 * nothing else tells levels it is tried with one, too.
 */
static int measure(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err)
{
    bool enough = false;
    int status = measure_at(x, c, false, &enough, rows, err);
    if (status != MACHINE_OK || enough || x->options->n_active || c->active_cores <= 1)
        return status;
    struct cell one = *c;
    one.active_cores = 1;
    return measure_at(x, &one, true, &enough, rows, err);
}

const struct table_kind table_trigger = {
    .name = "trigger",
    .title = "What triggers a license level",
    .about = "instruction counts and densities that trigger a level; mixtures; dirty registers",
    .method =
        "Kernels with one wide instruction in every N run in slots of 3 ms between slots of scalar code, for many N: "
        "their frequencies are compared within milliseconds, and with a null measured alike. Where one is lower, the "
        "number of instructions needed is found with bursts of many lengths, each between two repetitions without it: "
        "by bisection and, where the count varies, by fitting median and spread. Mixtures of two kernels are compared "
        "with each of them alone (G 3.2.1, 6.5.1; K).",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"kernel", "density", "count", "level"},
    .excluded = {[CHOICE_OBSERVE] = "it observes for as long as the transition and the level last"},
    .drafted = {.keys = {"kernel", "density", "active_cores", "what", "asks", "with"},
                .values = {"count", "rate_per_cycle"},
                .only = "what",
                .is = "count,density,density limit,mixture,dirty",
                .found = "density",
                .found_in = "density limit"},
    .exported = EXPORT_TRIGGERS,
    .plan = plan,
    .measure = measure,
    .conclude = trigger_conclude,
    TABLE_KIND_VIEWS(trigger_views),
    .print = trigger_print,
    .findings = trigger_findings,
    .plot = trigger_plot,
};
