/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Steady frequencies: each kernel at each number of active cores, on one CPU of each kind of core. Some at each
 * number of cores are measured again after the others, which shows whether the frequency moves by itself. Where no
 * cycles are counted, in most virtual machines, it does, since others share the processor: there each kernel is
 * compared with the first one within each repetition.
 */
#include "tables/frequency/frequency.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/phases/repetitions/steady.h"
#include "drivers/power/rated_limits.h"
#include "probes/steady.h"
#include "tables/registry.h"
#include "util/json_lines.h"
#include "util/text_list.h"

/* Repetitions that agree so well count, whatever the scatter of the others: half of what frequencies must differ by. */
#define SLACK (FREQUENCY_SAME / 2)
#define SHARP (FREQUENCY_SAME / 10)
enum { RUNS_FEW = 10, RUNS_MOST = 24 }; /* where limits are wide: the clock advances in steps */
#define REST_US 500e3                   /* no known processor takes longer */
enum { AGAIN = 0 };                     /* cell.number[AGAIN]: 1 = a frequency that is measured again */
enum { AGAIN_LEAST = 8 };               /* so many of them, if there are so many, and one for each number of cores */
enum { RATIO_RUNS = 24, RATIO_RUNS_BRIEF = 16 };

static const struct table_column columns[] = {
    {"cpu", "", TABLE_WHOLE, true, 0},
    {"kernel", "", TABLE_TEXT, true, 0},
    {"active_cores", "", TABLE_WHOLE, true, 0},
    {"core", "", TABLE_TEXT, false, 0}, /* its kind, where there are several */
    {"level", "", TABLE_WHOLE, false, 0},
    TABLE_LIMITS("freq_ghz", "GHz", 4),
    TABLE_LIMITS("ipc", "", 3),   /* instructions of the kernel per cycle */
    TABLE_LIMITS("ratio", "", 4), /* of the frequency of the first kernel, right before */
    {"n", "", TABLE_WHOLE, false, 0},
    {"discarded", "", TABLE_WHOLE, false, 0},
    {"level_source", "", TABLE_TEXT, false, 0},
    {"group", "", TABLE_TEXT, false, 0},
    {"lvl0", "", TABLE_REAL, false, 3},
    {"lvl1", "", TABLE_REAL, false, 3},
    {"lvl2", "", TABLE_REAL, false, 3},
    {"turbo_limit_ghz", "GHz", TABLE_REAL, false, 1},
};

/* ---- what is measured ---- */

static void set_up(const struct tables_context *x, const struct cell *c, struct steady_setup *s)
{
    const struct tables_options *o = x->options;
    steady_defaults(s, &c->a);
    s->machine = tables_setup(x, table_frequency.name, c);
    s->runs = o->runs ? o->runs : o->brief ? 3 : s->runs;
    s->period_us = o->period_us > 0 ? o->period_us : s->period_us;
    s->observe_us = o->observe_us > 0 ? o->observe_us : s->observe_us;
    if (o->warmup_us > 0) {
        s->settle_us = fmax(s->settle_us, o->warmup_us); /* a shorter one would record the first milliseconds */
        s->before_us = fmin(s->before_us, o->warmup_us);
    }
}

/* Whether each kernel is compared with the first one. */
static bool compares(const struct tables_context *x)
{
    return x->machine->ops->lacks(x->machine, COUNTER_CYCLES, NULL);
}

/* first: the kernel to compare with. */
static struct cell *add_cell(const struct tables_context *x, const struct payload *p, const struct payload *first,
                             unsigned cores, int cpu, bool again, struct cells *out)
{
    struct steady_setup s;
    bool compare = !again && strcmp(p->name, first->name) && compares(x);
    struct cell *c = cells_add(out, p, compare ? first : NULL, cores, "cpu%d_%s_%u%s", cpu, p->name, cores,
                               again ? "_again" : "");
    if (!c)
        return NULL;
    c->cpu = cpu;
    c->number[AGAIN] = again;
    set_up(x, c, &s);
    c->seconds = (compare ? 2 : 1) *
                 (0.02 +
                  1e-6 * (s.settle_us + s.runs * (s.before_us + repetitions_run_in_us(s.period_us) + s.observe_us)));
    return c;
}

static void put_frequencies(struct table *t, const char *key, const double *ghz, const char *const *names, size_t n)
{
    char text[200] = "";
    for (size_t i = 0; i < n; i++)
        if (isfinite(ghz[i]))
            text_list_add(text, sizeof text, ", ", "%s %.1f", names[i], ghz[i]);
    if (text[0])
        table_set_setting(t, key, text);
}

static void put_limits(struct table *t, const struct rated_table *s, const char *key, const char *why)
{
    char text[40 * MSR_TURBO_ROWS_MAX], line[700];
    rated_text(s, text, sizeof text);
    snprintf(line, sizeof line, "not known: %s", why);
    if (s->n || *why)
        table_set_setting(t, key, s->n ? text : line);
}

/* The processor's own limits, as settings: "1-2: 3.7, 3-4: 3.5", or why they are not known. */
static void frequency_read_limits(const struct tables_context *x, struct table *t)
{
    static const char *const powers[] = {"nominal", "level 1", "level 2"};
    const char *bases[RATED_BASES];
    struct rated_limits s;
    char key[60];
    rated_read(x->machine, &s);
    put_limits(t, &s.tables[0], TURBO_LIMITS, s.why);
    for (size_t i = 1; i < RATED_TABLES_MAX; i++) {
        snprintf(key, sizeof key, TURBO_LIMITS_OF "%s", s.tables[i].name);
        put_limits(t, &s.tables[i], key, "");
    }
    put_limits(t, &s.small, TURBO_LIMITS_OF "E cores", "");
    put_limits(t, &(struct rated_table){.n = 0}, TURBO_LIMITS " by class of code", s.why_classes);
    if (s.tables[0].n)
        table_set_setting(t, "turbo_limits_source", s.source);
    for (size_t i = 0; i < RATED_BASES; i++)
        bases[i] = rated_base_name(i);
    put_frequencies(t, "stated_base_ghz", s.base_ghz, bases, RATED_BASES);
    put_frequencies(t, "config_tdp_ghz", s.config_tdp_ghz, powers, 3);
}

static void set_core(struct table *t, int cpu, const char *kind)
{
    char key[40];
    snprintf(key, sizeof key, FREQUENCY_CORE, cpu);
    table_set_setting(t, key, kind);
}

/* The machine is prepared for a moment: it then tells which CPU it takes, and registers can be read. */
static int look_around(const struct tables_context *x, const struct payload *p, struct table *t, int *cpu,
                       struct machine_error *err)
{
    struct counter_spec counters[REPETITIONS_COUNTERS_MAX];
    struct machine_info info;
    const struct cell any = {.a = *p, .cpu = -1, .active_cores = 1};
    struct machine_setup s = tables_setup(x, table_frequency.name, &any);
    s.counters = counters;
    s.n_counters = repetitions_counters(x->machine, false, NULL, 0, counters);
    s.period_us = 20;
    s.max_samples = 64;
    int status = x->machine->ops->prepare(x->machine, &s, err);
    if (status)
        return status;
    x->machine->ops->info(x->machine, &info);
    *cpu = info.cpu_number;
    if (info.core_class && *info.core_class)
        set_core(t, *cpu, info.core_class);
    frequency_read_limits(x, t);
    x->machine->ops->finish(x->machine);
    return MACHINE_OK;
}

/* One CPU of each kind of core, or the one that the options name. `chosen`: what the machine would take. */
static size_t choose_cpus(const struct tables_context *x, int chosen, int cpus[MACHINE_CORE_KINDS_MAX], struct table *t)
{
    struct machine_core_kind kinds[MACHINE_CORE_KINDS_MAX];
    bool named = x->options->cpu >= 0 || x->options->n_cpus > 0;
    size_t n = !named && x->machine->ops->core_kinds
                   ? x->machine->ops->core_kinds(x->machine, false, kinds, MACHINE_CORE_KINDS_MAX)
                   : 0;
    for (size_t i = 0; n > 1 && i < n; i++) {
        set_core(t, kinds[i].cpu, kinds[i].label);
        cpus[i] = kinds[i].cpu;
    }
    if (n > 1)
        return n;
    cpus[0] = chosen;
    return 1;
}

static int frequency_add_cells(const struct tables_context *x, const struct payload *kernels, size_t n_kernels, int cpu,
                               struct cells *out)
{
    unsigned cores[TABLES_CORES_MAX];
    size_t n_cores = tables_active_cores(x, x->options->brief ? CORES_DOUBLED : CORES_EVERY, cores);
    size_t each = (AGAIN_LEAST + n_cores - 1) / n_cores, again = each < n_kernels ? each : n_kernels;
    for (size_t i = 0; i < n_cores; i++) {
        for (size_t k = 0; k < n_kernels; k++)
            if (!add_cell(x, &kernels[k], &kernels[0], cores[i], cpu, false, out))
                return -1;
        for (size_t k = 0; k < again; k++)
            if (!add_cell(x, &kernels[k * n_kernels / again], &kernels[0], cores[i], cpu, true, out))
                return -1;
    }
    return 0;
}

static int frequency_plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    struct payload kernels[TABLES_KERNELS_MAX];
    int cpus[MACHINE_CORE_KINDS_MAX], chosen;
    struct steady_setup s;
    size_t n = tables_each_once(kernels, tables_kernels(x, tables_usual_kernels, tables_n_usual_kernels, kernels, t));
    if (!n)
        return MACHINE_OK;
    int status = look_around(x, &kernels[0], t, &chosen, err);
    if (status)
        return status;
    size_t n_cpus = choose_cpus(x, chosen, cpus, t);
    for (size_t i = 0; i < n_cpus; i++)
        if (frequency_add_cells(x, kernels, n, cpus[i], out))
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    set_up(x, &out->cell[0], &s);
    table_set_setting_number(t, "cores", x->info.cores);
    table_set_setting_number(t, "runs", s.runs);
    table_set_setting_number(t, "settle_us", s.settle_us);
    table_set_setting_number(t, "warmup_us", s.before_us);
    table_set_setting_number(t, "observe_us", s.observe_us);
    table_set_setting_number(t, "period_us", s.period_us);
    if (compares(x))
        table_set_setting(t, FREQUENCY_RATIO_TO, kernels[0].name);
    return MACHINE_OK;
}

/* ---- measuring ---- */

static void put_shares(const struct trace *t, struct table *rows)
{
    for (enum trace_channel c = TRACE_LVL0; c <= TRACE_LVL2; c++) { /* columns and channels have the same names */
        struct steady_value share;
        if (steady_mean(t, c, 1, &share) == 0)
            table_put_number(rows, trace_channel_name(c), share.mean.value);
    }
}

/* Why repetitions are not in the result, in the details: the reason of each. */
static void put_discarded(const struct cell *c, const struct repetitions *r, const struct steady_value *f,
                          struct table *rows)
{
    char key[TABLES_CELL_ID_MAX + 12];
    if (!r->n_invalid && f->used == f->runs && !f->shared)
        return;
    snprintf(key, sizeof key, "discarded %s", c->id);
    json_t *json = json_pack("{s:I, s:s, s:I, s:I}", "disturbed", (json_int_t)r->n_invalid, "first",
                             r->n_invalid ? r->invalid[0].why : "", "far_from_the_others",
                             (json_int_t)(f->runs - f->used), "shared_core", (json_int_t)f->shared);
    table_set_detail_json(rows, key, json, 9);
}

static void put_again(const struct cell *c, const struct steady_value *f, struct table *rows)
{
    char key[TABLES_CELL_ID_MAX + 12];
    snprintf(key, sizeof key, FREQUENCY_AGAIN "%s", c->id);
    json_t *json = json_pack("{s:i, s:s, s:i, s:o, s:o}", "cpu", c->cpu, "kernel", c->a.name, "active_cores",
                             (int)c->active_cores, "freq_ghz", json_lines_real(f->mean.value), "half_width",
                             json_lines_real(estimate_half_known(&f->mean)));
    table_set_detail_json(rows, key, json, 9);
}

static void frequency_put_row(const struct cell *c, const struct repetitions *r, const struct steady_value *f,
                              const struct estimate *ratio, struct table *rows)
{
    table_add_row(rows);
    tables_put_cell(rows, c);
    struct steady_value ipc;
    estimates_put(rows, "freq_ghz", f->mean);
    if (steady_mean(&r->trace, TRACE_IPC, 0, &ipc) == 0)
        estimates_put(rows, "ipc", ipc.mean);
    else
        rows->failed = true;
    estimates_put(rows, "ratio", *ratio);
    table_put_number(rows, "n", (double)f->used);
    table_put_number(rows, "discarded", (double)(r->n_invalid + f->runs - f->used + f->shared));
    put_shares(&r->trace, rows);
}

static void frequency_put(const struct cell *c, const struct repetitions *r, const struct steady_value *f,
                          const struct estimate *ratio, struct table *rows)
{
    if (f->used && c->number[AGAIN]) {
        put_again(c, f, rows);
    } else if (f->used) {
        frequency_put_row(c, r, f, ratio, rows);
        put_discarded(c, r, f, rows);
    } else if (!c->number[AGAIN]) {
        tables_cell_missing(
            rows, c,
            "all of %zu repetitions were disturbed (%.120s); stop other programs, or shorten --warmup and --observe",
            r->n_invalid, r->n_invalid ? r->invalid[0].why : "no samples");
    }
}

/* *drift: by how much the frequency still moves (steady_drift). */
static int frequency_measure_once(const struct tables_context *x, const struct steady_setup *s, struct repetitions *r,
                                  struct steady_value *f, double *drift, struct machine_error *err)
{
    int status = steady_run(x->machine, s, r, err);
    if (status)
        return status;
    if (steady_mean(&r->trace, TRACE_FREQ, 0, f) == 0 &&
        steady_mean(&r->trace, TRACE_FREQ, SLACK * f->mean.value, f) == 0 &&
        steady_drift(&r->trace, TRACE_FREQ, drift) == 0)
        return MACHINE_OK;
    repetitions_free(r);
    return machine_fail(err, MACHINE_FAILED, "", "out of memory");
}

/* Whether more repetitions would tell what these do not: their limits are too wide to hold levels apart, or are those
 * of so few that do not quite agree that they may be narrow by chance. Where cycles are counted it is the frequency
 * itself that moves. */
static bool more_would_tell(const struct tables_context *x, const struct steady_setup *s, const struct trace *t,
                            const struct steady_value *f)
{
    double half = (f->mean.hi - f->mean.lo) / 2;
    double least = s->runs < RUNS_FEW ? SHARP : SLACK;
    bool wide = f->used > 1 && half > least * f->mean.value;
    return wide && clock_reading_of(t).instant && !x->options->runs && 2 * s->runs <= RUNS_MOST;
}

/*
 * One kernel, with more repetitions where they would tell more. Where the frequency is not steady yet (*moves), half a
 * second of the kernel comes before what is recorded; where that cannot be, or does not help, the value has no limits.
 */
static int measure_kernel(const struct tables_context *x, struct steady_setup s, struct repetitions *r,
                          struct steady_value *f, bool *moves, struct machine_error *err)
{
    double drift;
    int status = frequency_measure_once(x, &s, r, f, &drift, err);
    *moves = status == MACHINE_OK && drift != 0;
    if (*moves && !(x->info.longest_us > 0) && !(x->options->warmup_us > 0)) {
        repetitions_free(r);
        s.before_us = SLOWEST_US;
        status = frequency_measure_once(x, &s, r, f, &drift, err);
    }
    if (*moves && status == MACHINE_OK && drift != 0)
        f->mean.lo = f->mean.hi = NAN;
    while (status == MACHINE_OK && !*moves && more_would_tell(x, &s, &r->trace, f)) {
        repetitions_free(r);
        s.runs *= 2;
        status = frequency_measure_once(x, &s, r, f, &drift, err);
    }
    return status;
}

/* Its frequency as a ratio to that of the kernel to compare with, one right behind the other in each repetition. */
static int measure_ratio(const struct tables_context *x, struct steady_setup s, const struct payload *first,
                         struct estimate *ratio, struct machine_error *err)
{
    struct steady_value f;
    struct repetitions r;
    s.runs = x->options->runs ? x->options->runs : x->options->brief ? RATIO_RUNS_BRIEF : RATIO_RUNS;
    int status = steady_run_against(x->machine, &s, first, &r, err);
    if (status)
        return status;
    if (steady_ratio(&r.trace, STEADY_AGAINST_US, &f))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    *ratio = f.mean;
    repetitions_free(&r);
    return status;
}

static int frequency_measure(const struct tables_context *x, const struct cell *c, struct table *rows,
                             struct machine_error *err)
{
    struct tables_context own = *x;
    struct steady_setup s;
    struct steady_value f;
    struct repetitions r;
    struct estimate ratio = {NAN, NAN, NAN};
    set_up(x, c, &s);
    s.progress = tables_on_progress;
    s.data = &own;
    bool moves;
    int status = measure_kernel(x, s, &r, &f, &moves, err);
    if (status)
        return status;
    if (c->b.kernel && !moves) /* a few milliseconds of it would not be what it comes to */
        status = measure_ratio(x, s, &c->b, &ratio, err);
    else if (!c->b.kernel && compares(x))
        ratio = (struct estimate){1, 1, 1}; /* the first kernel itself */
    if (status == MACHINE_OK)
        frequency_put(c, &r, &f, &ratio, rows);
    repetitions_free(&r);
    return status;
}

const struct table_kind table_frequency = {
    .name = "frequency",
    .title = "Frequency by license level and active cores",
    .about = "steady frequency of each kernel by number of active cores, levels, groups of core counts",
    .method =
        "Each kernel runs on the measured core while a growing number of other cores is kept busy. The first "
        "milliseconds, in which the core halts and throttles, are skipped; the frequency is the mean over the rest. "
        "Core counts that share their frequencies form one group, as in published tables (G 3.1, table 3.1).",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"cpu", "kernel", "active_cores", "level", "freq_ghz"},
    .drafted = {.keys = {"kernel", "active_cores"}, .values = {"freq_ghz", "ratio", "ipc"}},
    .exported = EXPORT_FREQUENCIES,
    .plan = frequency_plan,
    .measure = frequency_measure,
    .conclude = frequency_conclude,
    .print = frequency_print,
    .findings = frequency_findings,
    .plot = frequency_plot,
};
