/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table frequency: each kernel at each number of active cores, on one CPU of each kind of core, by brackets against
 * the first kernel (probes/brackets.h). Two at each number of cores are measured again after the others, which shows
 * whether the frequency moves by itself: in most virtual machines it does, since others share the processor.
 */
#include "tables/frequency/frequency.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/steady.h"
#include "computer/cpu/cpu.h"
#include "drivers/rated_limits.h"
#include "tables/registry.h"
#include "tables/table/bracket_cells.h"
#include "util/json_lines.h"
#include "util/text_list.h"

/* Repetitions that agree so well count, whatever the scatter of the others: half of what frequencies must differ by. */
#define SLACK (FREQUENCY_SAME / 2)
/* A cell is done when half of the width of its ratios' limits is below this: about half of FREQUENCY_SAME. */
#define ENOUGH 0.0025
/* Rounds without --runs: more than a median needs for limits; and the time for a cell, s, which models do
 * not need, as their limits suffice. */
enum { ROUNDS_LEAST = 10, ROUNDS_LEAST_BRIEF = 6, ROUNDS_MOST = 600 };
static const double SECONDS = 3, SECONDS_BRIEF = 1.5;
enum { AGAIN = 0 }; /* cell.number[AGAIN]: 1 = the first and the last kernel are measured again */

static const struct table_column columns[] = {
    {"cpu", "", TABLE_WHOLE, true, 0},
    {"kernel", "", TABLE_TEXT, true, 0},
    {"active_cores", "", TABLE_WHOLE, true, 0},
    {"core", "", TABLE_TEXT, false, 0}, /* its kind, where there are several */
    {"level", "", TABLE_WHOLE, false, 0},
    TABLE_LIMITS("freq_ghz", "GHz", 4),
    TABLE_LIMITS("ipc", "", 3),   /* instructions of the kernel per cycle */
    TABLE_LIMITS("ratio", "", 4), /* of the frequency of the first kernel, before and after; its own: the null */
    {"n", "", TABLE_WHOLE, false, 0},
    {"discarded", "", TABLE_WHOLE, false, 0},
    {"level_source", "", TABLE_TEXT, false, 0},
    {"group", "", TABLE_TEXT, false, 0},
    {"lvl0", "", TABLE_REAL, false, 3},
    {"lvl1", "", TABLE_REAL, false, 3},
    {"lvl2", "", TABLE_REAL, false, 3},
    {"turbo_limit_ghz", "GHz", TABLE_REAL, false, 1},
    {"uncore_ghz", "GHz", TABLE_REAL, false, 2}, /* of mesh or ring and the last-level cache, after these rounds */
    {"priority", "", TABLE_TEXT, false, 0},      /* of the CPU where turbo is by priority: high, low */
};

/* ---- what is measured ---- */

static void set_up(const struct tables_context *x, const struct cell *c, const struct payload *kernels, size_t n,
                   struct brackets_setup *s)
{
    const struct tables_options *o = x->options;
    brackets_defaults(s, &kernels[0], kernels, n);
    bracket_cells_take_options(x, table_frequency.name, c, s);
    s->least = o->runs ? o->runs : o->brief || c->number[AGAIN] ? ROUNDS_LEAST_BRIEF : ROUNDS_LEAST;
    s->most = o->runs ? o->runs : c->number[AGAIN] ? ROUNDS_LEAST_BRIEF : ROUNDS_MOST;
    s->seconds = o->seconds > 0 ? o->seconds : o->brief ? SECONDS_BRIEF : SECONDS;
    s->enough = ENOUGH;
}

/* Beside one kernel of each width and weight: on Sapphire Rapids a class of its own, which no code on registers reaches
 * (marenz2569/2025-sapphire-rapids-ee). */
#define LOADING "256fma@mem"

/* The kernels of the table. What cannot run goes into `t` as missing. */
static size_t frequency_kernels(const struct tables_context *x, struct payload *out, struct table *t)
{
    const char *names[TABLES_KERNELS_MAX];
    memcpy(names, tables_usual_kernels, tables_n_usual_kernels * sizeof *names);
    names[tables_n_usual_kernels] = LOADING;
    const size_t n = tables_each_once(out, tables_kernels(x, names, tables_n_usual_kernels + 1, out, t));
    return tables_only_clean(out, n, "kernel", t);
}

/* Chooses the kernels of a cell from n: the first and the last one if it is measured again. Returns how many. */
static size_t kernels_of_cell(bool again, struct payload *kernels, size_t n)
{
    if (!again || n < 2)
        return n;
    kernels[1] = kernels[n - 1];
    return 2;
}

static struct cell *add_cell(const struct tables_context *x, const struct payload *kernels, size_t n, unsigned cores,
                             int cpu, bool again, struct cells *out)
{
    struct brackets_setup s;
    struct cell *c = tables_add_cell(out, &kernels[0], NULL, cores, "cpu%d_%u%s", cpu, cores, again ? "_again" : "");
    if (!c)
        return NULL;
    c->cpu = cpu;
    c->number[AGAIN] = again;
    set_up(x, c, kernels, n, &s);
    double rounds = s.most > s.least ? fmax(s.least, s.seconds / brackets_round_seconds(&s)) : s.least;
    c->seconds = 0.05 + rounds * brackets_round_seconds(&s);
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

static void put_priorities(struct table *t, const struct rated_limits *s)
{
    const char *names[RATED_TABLES_MAX];
    double low_ghz[RATED_TABLES_MAX];
    char key[60];
    for (size_t i = 0; i < RATED_TABLES_MAX; i++) {
        names[i] = s->high[i].name;
        low_ghz[i] = s->low_ghz[i] > 0 ? s->low_ghz[i] : (double)NAN;
        snprintf(key, sizeof key, HIGH_PRIORITY_OF "%s", names[i]);
        put_limits(t, &s->high[i], key, "");
    }
    put_frequencies(t, LOW_PRIORITY, low_ghz, names, RATED_TABLES_MAX);
    if (s->high[0].n)
        table_set_setting(t, BY_PRIORITY, s->by_priority ? "on" : "off");
}

/* The processor's own limits, as settings: "1-2: 3.7, 3-4: 3.5", or why they are not known. */
static void read_limits(const struct tables_context *x, struct table *t)
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
    put_priorities(t, &s);
    put_frequencies(t, "stated_base_ghz", s.base_ghz, bases, RATED_BASES);
    put_frequencies(t, "config_tdp_ghz", s.config_tdp_ghz, powers, 3);
}

static void set_core(struct table *t, int cpu, const char *kind)
{
    char key[40];
    snprintf(key, sizeof key, FREQUENCY_CORE, cpu);
    table_set_setting(t, key, kind);
}

/* Why the clock of the uncore cannot be read. */
static void note_uncore(const struct machine *m, struct table *t)
{
    struct machine_error why;
    char line[sizeof why.text + sizeof why.remedy + 20];
    double ghz;
    if (!m->ops->uncore || !m->ops->uncore(m, &ghz, &why))
        return;
    snprintf(line, sizeof line, "not known: %s (%s)", why.text, why.remedy);
    table_set_setting(t, "uncore_ghz", line);
}

/* The machine is prepared for a moment: it then reports which CPU it takes, and registers can be read. */
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
    read_limits(x, t);
    note_uncore(x->machine, t);
    x->machine->ops->finish(x->machine);
    return MACHINE_OK;
}

/* One CPU of each kind of core, or the one that the options name. `chosen`: what the machine would take. */
static size_t choose_cpus(const struct tables_context *x, int chosen, int cpus[CORE_KINDS_MAX], struct table *t)
{
    struct core_kind kinds[CORE_KINDS_MAX];
    bool named = x->options->cpu >= 0 || x->options->n_cpus > 0;
    size_t n = !named && x->machine->ops->core_kinds
                   ? x->machine->ops->core_kinds(x->machine, false, kinds, CORE_KINDS_MAX)
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

/* The CPUs that are like one: of the kind that lists it, or with its label where there are no kinds (models). */
static void alike(const struct tables_context *x, int cpu, char *out, size_t size)
{
    struct core_kind list[TABLES_CORES_MAX];
    struct cpu_mask cpus;
    size_t n = x->machine->ops->core_kinds(x->machine, false, list, CORE_KINDS_MAX), own = 0;
    const bool kinds = n > 0;
    out[0] = '\0';
    for (size_t i = 0; i < n && out[0] == '\0'; i++)
        if (cpu_mask_parse(list[i].cpus, &cpus) == 0 && cpu_mask_has(&cpus, cpu))
            snprintf(out, size, "%s", list[i].cpus);
    n = kinds ? 0 : x->machine->ops->core_kinds(x->machine, true, list, TABLES_CORES_MAX);
    while (own < n && list[own].cpu != cpu)
        own++;
    cpu_mask_clear(&cpus);
    for (size_t i = 0; i < n && own < n; i++)
        if (strcmp(list[i].label, list[own].label) == 0)
            cpu_mask_add(&cpus, list[i].cpu);
    if (own < n)
        cpu_mask_format(&cpus, out, size);
}

static void note_alike(const struct tables_context *x, const int *cpus, size_t n, struct table *t)
{
    char text[1000] = "", list[240];
    for (size_t i = 0; i < n && x->machine->ops->core_kinds; i++) {
        alike(x, cpus[i], list, sizeof list);
        if (list[0] != '\0')
            text_list_add(text, sizeof text, "; ", "%d: %s", cpus[i], list);
    }
    if (text[0] != '\0')
        table_set_setting(t, FREQUENCY_CPUS, text);
}

static int add_cells(const struct tables_context *x, const struct payload *kernels, size_t n, int cpu,
                     struct cells *out)
{
    unsigned cores[TABLES_CORES_MAX];
    size_t n_cores = tables_active_cores(x, x->options->brief ? CORES_DOUBLED : CORES_EVERY, cores);
    for (size_t i = 0; i < n_cores; i++)
        for (int again = 0; again < 2; again++) {
            struct payload of_cell[TABLES_KERNELS_MAX];
            memcpy(of_cell, kernels, n * sizeof *kernels);
            if (!add_cell(x, of_cell, kernels_of_cell(again, of_cell, n), cores[i], cpu, again, out))
                return -1;
        }
    return 0;
}

static int frequency_plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    struct payload kernels[TABLES_KERNELS_MAX];
    int cpus[CORE_KINDS_MAX], chosen;
    struct brackets_setup s;
    size_t n = frequency_kernels(x, kernels, t);
    if (!n)
        return MACHINE_OK;
    int status = look_around(x, &kernels[0], t, &chosen, err);
    if (status)
        return status;
    size_t n_cpus = choose_cpus(x, chosen, cpus, t);
    for (size_t i = 0; i < n_cpus; i++)
        if (add_cells(x, kernels, n, cpus[i], out))
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    set_up(x, &out->cell[0], kernels, n, &s);
    table_set_setting_number(t, "cores", x->info.cores);
    note_alike(x, cpus, n_cpus, t);
    table_set_setting_number(t, "runs", s.least);
    table_set_setting_number(t, "settle_us", s.settle_us);
    table_set_setting_number(t, "warmup_us", s.before_us);
    table_set_setting_number(t, "observe_us", s.observe_us);
    table_set_setting_number(t, "period_us", s.period_us);
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

/* The results of one kernel of a cell. */
struct seen_kernel {
    struct cell cell; /* of this kernel alone */
    const struct trace *trace;
    struct steady_value ghz, ipc;
    struct estimate ratio;
};

/* Why recordings, and rounds, are not in the result, in the details. */
static void put_discarded(const struct seen_kernel *k, const struct brackets_result *r, struct table *rows)
{
    char key[TABLES_CELL_ID_MAX + 60];
    const struct steady_value *f = &k->ghz;
    if (!r->n_invalid && f->used == f->runs)
        return;
    snprintf(key, sizeof key, "discarded %s %s", k->cell.id, k->cell.a.name);
    json_t *json = json_pack("{s:I, s:s, s:I}", "disturbed", (json_int_t)r->n_invalid, "first", r->why,
                             "far_from_the_others", (json_int_t)(f->runs - f->used));
    table_set_detail_json(rows, key, json, 9);
}

static void put_again(const struct seen_kernel *k, struct table *rows)
{
    char key[TABLES_CELL_ID_MAX + 60];
    snprintf(key, sizeof key, FREQUENCY_AGAIN "%s %s", k->cell.id, k->cell.a.name);
    json_t *json = json_pack("{s:i, s:s, s:i, s:o, s:o}", "cpu", k->cell.cpu, "kernel", k->cell.a.name, "active_cores",
                             (int)k->cell.active_cores, "freq_ghz", json_lines_real(k->ghz.mean.value), "half_width",
                             json_lines_real(estimate_half_known(&k->ghz.mean)));
    table_set_detail_json(rows, key, json, 9);
}

static void put_row(const struct seen_kernel *k, const struct brackets_result *r, struct table *rows)
{
    table_add_row(rows);
    tables_put_cell(rows, &k->cell);
    estimates_put(rows, "freq_ghz", k->ghz.mean);
    estimates_put(rows, "ipc", k->ipc.mean);
    estimates_put(rows, "ratio", k->ratio);
    table_put_number(rows, "n", (double)k->ghz.used);
    table_put_number(rows, "discarded", (double)(r->rounds - k->ghz.used));
    put_shares(k->trace, rows);
    if (isfinite(r->uncore_ghz))
        table_put_number(rows, "uncore_ghz", r->uncore_ghz);
}

static void frequency_put(const struct seen_kernel *k, const struct brackets_result *r, struct table *rows)
{
    if (k->cell.number[AGAIN]) {
        if (k->ghz.used)
            put_again(k, rows);
    } else if (k->ghz.used) {
        put_row(k, r, rows);
        put_discarded(k, r, rows);
    } else {
        tables_cell_missing(rows, &k->cell,
                            "in all of %u rounds it was disturbed (%.120s); stop other programs, or shorten --warmup "
                            "and --observe",
                            r->rounds, r->n_invalid ? r->why : "no samples");
    }
}

/* Kernel number `i` of what was measured. Where its frequency still moves within the slots, no limits hold. */
static int frequency_read(const struct cell *c, const struct payload *kernel, const struct brackets_result *r, size_t i,
                          struct seen_kernel *k)
{
    double drift;
    *k = (struct seen_kernel){.cell = *c, .trace = &r->seen[i], .ratio = brackets_ratio_of(r, i)};
    k->cell.a = *kernel;
    if (steady_frequency(k->trace, SLACK, &k->ghz) || steady_mean(k->trace, TRACE_IPC, 0, &k->ipc) ||
        steady_drift(k->trace, TRACE_FREQ, &drift))
        return -1;
    if (drift != 0)
        k->ghz.mean.lo = k->ghz.mean.hi = k->ratio.lo = k->ratio.hi = NAN;
    return 0;
}

/* n kernels against the first one in turn; `skip` of them are not reported. */
static int measure_kernels(const struct tables_context *x, const struct cell *c, const struct payload *kernels,
                           size_t n, size_t skip, struct table *rows, struct machine_error *err)
{
    struct brackets_setup s;
    struct brackets_result r;
    set_up(x, c, kernels, n, &s);
    int status = bracket_cells_run(x, &s, &r, err);
    if (status)
        return status;
    for (size_t i = skip; i < n && status == MACHINE_OK; i++) {
        struct seen_kernel k;
        if (frequency_read(c, &kernels[i], &r, i, &k))
            status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
        else
            frequency_put(&k, &r, rows);
    }
    brackets_free(&r);
    return status;
}

static int frequency_measure(const struct tables_context *x, const struct cell *c, struct table *rows,
                             struct machine_error *err)
{
    struct payload kernels[TABLES_KERNELS_MAX];
    struct table unused;
    table_init(&unused, table_frequency.name, columns, sizeof columns / sizeof *columns);
    const size_t n = kernels_of_cell(c->number[AGAIN], kernels, frequency_kernels(x, kernels, &unused));
    table_free(&unused);
    if (!x->options->corunner_same)
        return measure_kernels(x, c, kernels, n, 0, rows, err);
    int status = MACHINE_OK;
    for (size_t i = 0; i < n && status == MACHINE_OK; i++) { /* the other cores run the same */
        const struct payload pair[] = {kernels[0], kernels[i]};
        struct cell own = *c;
        own.a = kernels[i];
        status = measure_kernels(x, &own, pair, i ? 2 : 1, i ? 1 : 0, rows, err);
    }
    return status;
}

/* ---- beside a neighbor ---- */

int frequency_beside(struct machine *m, const struct tables_options *o, const struct payload *neighbor,
                     struct beside_result *out, struct machine_error *err)
{
    const struct payload plain = kernel_named("64add");
    struct tables_context x = {.machine = m, .options = o};
    struct cell c = {.id = "beside", .a = plain, .cpu = o->cpu, .active_cores = o->n_active ? o->active[0] : 0};
    struct beside_setup s;
    m->ops->info(m, &x.info);
    beside_defaults(&s, &plain, neighbor);
    s.machine = tables_setup(&x, table_frequency.name, &c);
    s.machine.corunner = plain;
    s.seconds = o->seconds > 0 ? o->seconds : s.seconds;
    return beside_run(m, &s, out, err);
}

static const struct picture pictures[] = {
    {.panel = {.kind = CHART_LINES, .x_label = "active cores", .y_label = "frequency (GHz)", .whole_x = true},
     .each = "cpu",
     .value = "freq_ghz",
     .name.column = "kernel",
     .across.column = "active_cores"},
};

const struct table_kind table_frequency = {
    .name = "frequency",
    .title = "Frequency by license level and active cores",
    .about = "steady frequency of each kernel by number of active cores, levels, groups of core counts",
    .method =
        "Each kernel runs on the measured core while a growing number of other cores is kept busy, in slots of 3 ms "
        "between slots of the first kernel, in random order; the first 2.2 ms of each, in which the core halts and "
        "throttles, are skipped. The ratio compares each slot with those around it, which a clock that floats does not "
        "disturb; that of the first kernel is the null: effects no larger are not reported. "
        "Core counts that share their frequencies form one group, as in published tables (G table 3.1).",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"cpu", "kernel", "active_cores", "level", "freq_ghz"},
    .drafted = {.keys = {"kernel", "active_cores"}, .values = {"freq_ghz", "ratio", "ipc"}},
    .exported = EXPORT_FREQUENCIES,
    .plan = frequency_plan,
    .measure = frequency_measure,
    .conclude = frequency_conclude,
    .print = frequency_print,
    .findings = frequency_findings,
    TABLE_KIND_PICTURES(pictures),
    .plot = frequency_plot,
};
