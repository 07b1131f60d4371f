/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table energy: power and energy per operation of each width above a PAUSE loop, at the automatic frequency and,
 * where one can be fixed, at one that every width reaches (dissertation on Skylake-SP AVX overhead, section 3.1 and
 * figure 3.1). An operation is one counted instruction of the kernel.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/robust.h"
#include "probes/energy.h"
#include "probes/sample_cost.h"
#include "probes/steady.h"
#include "tables/energy/energy.h"
#include "tables/registry.h"
#include "util/text_list.h"

enum { AUTOMATIC, FIXED, MODES }; /* cell.number[0]: at which frequency */
static const char *const mode_names[MODES] = {"automatic", "fixed"};
/* A frequency farther from the fixed one than this, relative, was not fixed; the smallest step, 100 MHz of 5.5 GHz, is
 * nearly twice as large. */
static const double FIXED_TOLERANCE = 0.01;

static const struct table_column columns[] = {
    {"kernel", "", TABLE_TEXT, true, 0},
    {"freq_ghz", "GHz", TABLE_REAL, true, 3},
    {"active_cores", "", TABLE_WHOLE, true, 0},
    {"mode", "", TABLE_TEXT, true, 0},
    TABLE_LIMITS("watts", "W", 2),
    TABLE_LIMITS("nj_per_op", "nJ", 3),
    TABLE_LIMITS("nj_per_lane", "nJ", 3),
    TABLE_LIMITS("package_watts", "W", 1),
    TABLE_LIMITS("idle_watts", "W", 1),
    {"idle_ghz", "GHz", TABLE_REAL, false, 3},
    {"counted_cores", "", TABLE_WHOLE, false, 0},
    {"n", "", TABLE_WHOLE, false, 0},
    {"discarded", "", TABLE_WHOLE, false, 0},
};

/* ---- what code costs ---- */

double energy_ghz(const struct energy_stretch *s)
{
    return s->cycle_seconds > 0 ? s->cycles / s->cycle_seconds * 1e-9 : NAN;
}

bool energy_disturbed(const struct energy_stretch *s)
{
    return !(s->recorded_seconds > 0) || s->lost_seconds > ENERGY_LOST_MOST * s->recorded_seconds;
}

struct energy_cost energy_cost_of(const struct energy_stretch *idle, const struct energy_stretch *code, unsigned cores)
{
    struct energy_cost none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}, cost;
    if (!(idle->seconds > 0) || !(code->seconds > 0) || !(code->run_seconds > 0) || !(code->recorded_seconds > 0) ||
        cores == 0)
        return none;
    double own = 1.0 / cores, others = 1 - own; /* these run on between the readings */
    double part = fmax(0, 1 - code->other_seconds / code->recorded_seconds);
    double own_time = own * part * code->run_seconds, others_time = others * fmax(code->seconds, code->run_seconds);
    double rate = code->operations / (part * code->recorded_seconds) * cores;
    cost.ghz = energy_ghz(code);
    cost.idle_ghz = energy_ghz(idle);
    cost.idle_watts = idle->joules / idle->seconds;
    cost.idle_doubt = 0.5 * cost.idle_watts * idle->other_seconds / fmax(idle->recorded_seconds, idle->other_seconds);
    /* the power of cores grows like f V^2, and V about like f: their part of P_i was needed at another frequency */
    double faster = cost.ghz / cost.idle_ghz, unlike = isfinite(faster) ? fabs(1 - pow(faster, 3)) : 0;
    cost.watts = (code->joules - cost.idle_watts * code->seconds) / (own_time + part * others_time);
    cost.watts_doubt = fmax(cost.watts, cost.idle_watts) * own * code->start_seconds / code->run_seconds;
    cost.watts_doubt += cost.idle_doubt * unlike;
    cost.least = (own_time + part * others_time) / (own_time + others_time);
    cost.package_watts = cost.idle_watts + cost.watts;
    cost.nj_per_op = rate > 0 ? cost.watts / rate * 1e9 : NAN;
    return cost;
}

/* ---- plan ---- */

static struct energy_setup setup_of(const struct tables_context *x, const struct cell *c)
{
    const struct tables_options *o = x->options;
    struct energy_setup s;
    energy_defaults(&s, &c->a);
    s.machine = tables_setup(x, "energy", c);
    s.runs = o->runs ? o->runs : o->brief ? 2 : s.runs;
    s.runs = s.runs < ENERGY_RUNS_MAX ? s.runs : ENERGY_RUNS_MAX;
    s.settle_us = o->warmup_us > 0 ? o->warmup_us : s.settle_us;
    s.duration_us = o->observe_us > 0 ? o->observe_us : s.duration_us;
    s.period_us = o->period_us > 0 ? o->period_us : s.period_us;
    return s;
}

static void note_settings(const struct energy_setup *s, const char *fixed, struct table *t)
{
    table_set_setting_number(t, "runs", s->runs);
    table_set_setting_number(t, "settle_us", s->settle_us);
    table_set_setting_number(t, "duration_us", s->duration_us);
    table_set_setting_number(t, "period_us", s->period_us);
    table_set_setting(t, "companion", "same as the measured core, also while it runs PAUSE");
    table_set_setting(
        t, "operation",
        "one counted instruction of the kernel; all active cores are assumed to execute as many as the measured one");
    table_set_setting(
        t, "counted_cores",
        "active cores of the package or die whose energy counter is read; power and energy are for these");
    table_set_setting(t, "idle_ghz",
                      "the frequency of PAUSE, whose power is subtracted; where it differs from the kernel's, watts "
                      "also contains that difference in frequency");
    table_set_setting(t, "lane", "64 bits of its registers");
    table_set_setting(t, "fixed", fixed);
}

/* The kernel of the most demand that the machine can run: the last of the usual ones. */
static struct payload most_demanding(const struct tables_context *x)
{
    struct payload last = {.kernel = NULL}, p;
    for (size_t i = 0; i < tables_n_usual_kernels; i++)
        if (tables_can_run(x, tables_usual_kernels[i], &p))
            last = p;
    return last;
}

static int add_cells(const struct tables_context *x, const struct payload *kernel, unsigned cores,
                     const struct payload *slowest, struct cells *out, struct machine_error *err)
{
    bool fixed_already = x->options->fixed_ghz > 0;
    for (unsigned mode = fixed_already ? FIXED : AUTOMATIC; mode < MODES; mode++) {
        struct cell *c = tables_add_cell(out, kernel, slowest, cores, "%s.%u.%s", kernel->name, cores,
                                         mode_names[mode]);
        if (!c)
            return machine_fail(err, MACHINE_BAD_INPUT, "name each kernel once", "kernel %s twice, or out of memory",
                                kernel->name);
        c->number[0] = mode;
        struct energy_setup s = setup_of(x, c);
        c->seconds = s.runs * 2 * (s.settle_us + s.duration_us + 2000) * 1e-6;
    }
    return MACHINE_OK;
}

/* True if energy can be measured on this machine with these options; else notes why not. */
static bool possible(const struct tables_context *x, struct table *t)
{
    struct machine_error cannot = {.status = MACHINE_OK};
    if (x->options->siblings) {
        table_add_missing(t, "not with --siblings busy: the SMT siblings use energy, but their instructions are not "
                             "counted; use --siblings idle");
        return false;
    }
    if (energy_can(x->machine, &cannot) == MACHINE_OK)
        return true;
    table_add_missing_error(t, &cannot);
    return false;
}

static int plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    struct payload kernels[TABLES_KERNELS_MAX], slowest = most_demanding(x);
    unsigned cores[TABLES_CORES_MAX];
    struct cell any = {.a = slowest, .cpu = -1, .active_cores = 1};
    if (!possible(x, t))
        return MACHINE_OK;
    char fixed[120];
    if (x->options->fixed_ghz > 0)
        snprintf(fixed, sizeof fixed, "by --fixed-frequency, at %g GHz", x->options->fixed_ghz);
    else
        snprintf(fixed, sizeof fixed, "at the frequency that %s runs at on its own", slowest.name);
    struct energy_setup s = setup_of(x, &any);
    note_settings(&s, fixed, t);
    size_t n = tables_kernels(x, tables_usual_kernels, tables_n_usual_kernels, kernels, t);
    size_t n_cores = tables_active_cores(x, CORES_ONE_AND_ALL, cores);
    int status = MACHINE_OK;
    for (size_t k = 0; k < n_cores && status == MACHINE_OK; k++)
        for (size_t i = 0; i < n && status == MACHINE_OK; i++)
            if (strcmp(kernels[i].name, s.idle.name) != 0)
                status = add_cells(x, &kernels[i], cores[k], &slowest, out, err);
    return status;
}

/* ---- measuring ---- */

/* The frequency at which a kernel runs by itself, on so many cores that all run it. */
static int automatic_ghz(const struct tables_context *x, const struct cell *c, double *ghz, struct machine_error *err)
{
    struct steady_setup s;
    struct repetitions seen;
    steady_defaults(&s, &c->b);
    s.machine = tables_setup(x, "energy", c);
    s.machine.corunner = c->b;
    s.runs = 3;
    s.licenses = false;
    int status = steady_run(x->machine, &s, &seen, err);
    if (status)
        return status;
    const struct trace *t = &seen.trace;
    double *values = malloc((t->n ? t->n : 1) * 2 * sizeof *values);
    for (size_t i = 0; values && i < t->n; i++)
        values[i] = (double)t->channel[TRACE_FREQ][i];
    struct clock_reading clock = clock_reading_of(t);
    *ghz = values ? clock_centre(&clock, TRACE_FREQ, values, t->n, values + t->n) : NAN;
    free(values);
    repetitions_free(&seen);
    return isnan(*ghz)
               ? machine_fail(err, MACHINE_CANNOT, "stop other programs",
                              "the frequency of %s could not be measured: every repetition was disturbed", c->b.name)
               : MACHINE_OK;
}

struct costs {
    size_t n, discarded;
    unsigned cores;                           /* whose energy it is */
    struct energy_cost pair[ENERGY_RUNS_MAX]; /* of those that were not disturbed */
};

static void collect(const struct energy_result *r, struct costs *c)
{
    c->n = c->discarded = 0;
    c->cores = r->counted_cores;
    for (size_t i = 0; i < r->n; i++) {
        const struct energy_pair *p = &r->pairs[i];
        struct energy_cost cost = energy_cost_of(&p->idle, &p->kernel, c->cores);
        if (energy_disturbed(&p->idle) || energy_disturbed(&p->kernel) || isnan(cost.watts))
            c->discarded++;
        else
            c->pair[c->n++] = cost;
    }
}

/* The mean of a member of the costs. */
#define ENERGY_MEAN(costs, member) mean_of(costs, offsetof(struct energy_cost, member))
static struct estimate mean_of(const struct costs *c, size_t offset)
{
    double x[ENERGY_RUNS_MAX];
    for (size_t i = 0; i < c->n; i++)
        memcpy(&x[i], (const char *)&c->pair[i] + offset, sizeof x[i]);
    return robust_mean(x, c->n, 0, INFINITY, NULL);
}

/* nearer_0: by how much it may be nearer to 0, and doubt, by how much to either side, beside what repetitions
 * scatter. */
static void put(struct table *rows, const char *column, struct estimate e, double nearer_0, double doubt, double scale)
{
    double below = doubt + (e.value > 0 ? nearer_0 : 0), above = doubt + (e.value > 0 ? 0 : nearer_0);
    table_put_limits(rows, column, e.value * scale, (e.lo - below) * scale, (e.hi + above) * scale);
}

static void put_keys(struct table *rows, const struct cell *c)
{
    tables_put_cell(rows, c);
    table_put_text(rows, "mode", mode_names[c->number[0]]);
}

static void write_row(const struct cell *c, const struct costs *k, struct table *rows)
{
    struct estimate nj = ENERGY_MEAN(k, nj_per_op), watts = ENERGY_MEAN(k, watts);
    double less = 1 - ENERGY_MEAN(k, least).value, doubt = ENERGY_MEAN(k, idle_doubt).value;
    double start = ENERGY_MEAN(k, watts_doubt).value, less_watts = less * fabs(watts.value),
           less_nj = less * fabs(nj.value);
    double start_nj = start * fabs(nj.value / watts.value);
    table_add_row(rows);
    put_keys(rows, c);
    table_put_number(rows, "freq_ghz", round(ENERGY_MEAN(k, ghz).value * 1000) / 1000);
    put(rows, "watts", watts, less_watts, start, 1);
    put(rows, "nj_per_op", nj, less_nj, start_nj, 1);
    put(rows, "nj_per_lane", nj, less_nj, start_nj, 64.0 / c->a.kernel->width);
    put(rows, "package_watts", ENERGY_MEAN(k, package_watts), less_watts, doubt + start, 1);
    put(rows, "idle_watts", ENERGY_MEAN(k, idle_watts), 0, doubt, 1);
    table_put_number(rows, "idle_ghz", round(ENERGY_MEAN(k, idle_ghz).value * 1000) / 1000);
    table_put_number(rows, "counted_cores", k->cores);
    table_put_number(rows, "n", (double)k->n);
    table_put_number(rows, "discarded", (double)k->discarded);
}

/* Writes the row, or why there is none. `fixed`: at which it should have run, 0 = any. */
static void judge(const struct cell *c, const struct costs *k, double fixed, struct table *rows)
{
    double ghz = ENERGY_MEAN(k, ghz).value, idle = ENERGY_MEAN(k, idle_ghz).value;
    if (k->n == 0) {
        table_add_missing(rows,
                          "all %zu repetitions were disturbed: something else ran for more than %g %% of the time; "
                          "stop other programs",
                          k->discarded, 100 * ENERGY_LOST_MOST);
    } else if (fixed > 0 && !(fabs(ghz / fixed - 1) <= FIXED_TOLERANCE && fabs(idle / fixed - 1) <= FIXED_TOLERANCE)) {
        table_add_missing(rows,
                          "the frequency was not fixed: %s ran at %.3f GHz and PAUSE at %.3f, not at %.3f; a lower "
                          "--fixed-frequency may hold",
                          c->a.name, ghz, idle, fixed);
    } else {
        write_row(c, k, rows);
        return;
    }
    put_keys(rows, c);
}

/* The cost of a reading, us, where it does not report that itself, as one by a chain does. */
static int reading_cost(struct machine *m, const struct machine_setup *setup, const struct payload *code, double *us,
                        struct machine_error *err)
{
    const struct counter_spec counters[] = {{COUNTER_CYCLES, 0}, {COUNTER_REF_CYCLES, 0}};
    struct machine_setup own = *setup;
    struct sample_cost cost;
    if (m->ops->lacks(m, COUNTER_CYCLES, NULL))
        return MACHINE_OK;
    own.counters = counters;
    own.n_counters = m->ops->lacks(m, COUNTER_REF_CYCLES, NULL) ? 1 : 2;
    int status = sample_cost_of(m, &own, code, &cost, err);
    *us = cost.us;
    return status;
}

static int measure(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err)
{
    struct energy_setup s = setup_of(x, c);
    struct tables_context own = *x;
    struct energy_result seen;
    struct costs costs;
    double fixed = 0;
    bool ask = c->number[0] == FIXED && !(x->options->fixed_ghz > 0);
    int status = MACHINE_OK;
    s.progress = tables_on_progress;
    s.data = &own;
    if (ask)
        status = automatic_ghz(x, c, &fixed, err);
    s.machine.fixed_ghz = fixed;
    if (status == MACHINE_OK)
        status = energy_can(x->machine, err);
    if (status == MACHINE_OK)
        status = reading_cost(x->machine, &s.machine, &c->a, &s.reading_us, err);
    if (status == MACHINE_OK)
        status = energy_run(x->machine, &s, &seen, err);
    if (status == MACHINE_CANNOT) {
        table_add_missing_error(rows, err);
        put_keys(rows, c);
        return MACHINE_OK;
    }
    if (status != MACHINE_OK)
        return status;
    collect(&seen, &costs);
    judge(c, &costs, ask ? fixed : x->options->fixed_ghz, rows);
    energy_result_free(&seen);
    return MACHINE_OK;
}

/* ---- findings ---- */

/* PAUSE and the kernel ran at one frequency, relative: the tolerance of a fixed one. */
#define SAME_GHZ 0.01

/* The kernels of one operation, from 128 bits on, under one mode on the fewest cores. */
static void tell_kernels(FILE *out, const struct table *t, const char *mode, const char *column, const char *head,
                         const char *unit, int decimals)
{
    char text[ESTIMATE_TEXT_MAX];
    double cores = INFINITY, ghz = NAN;
    size_t reported = 0;
    for (size_t i = 0; i < t->n_rows; i++)
        if (table_says(t, i, "mode", mode))
            cores = fmin(cores, table_number(t, i, "active_cores"));
    for (size_t i = 0; i < t->n_rows; i++) {
        const char *kernel = table_text(t, i, "kernel");
        struct estimate e = estimates_of_table(t, i, column);
        if (!table_says(t, i, "mode", mode) || table_number(t, i, "active_cores") != cores || !strstr(kernel, "fma") ||
            !estimates_known(&e))
            continue;
        ghz = table_number(t, i, "freq_ghz");
        if (reported++ == 0) {
            fprintf(out, "%s, %.0f core%s", head, cores, cores > 1 ? "s" : "");
            fprintf(out, strcmp(mode, "fixed") == 0 ? " at %.1f GHz: " : ": ", ghz);
        }
        fprintf(out, "%s%s %s %s", reported > 1 ? ", " : "", kernel, estimates_text(&e, decimals, text), unit);
    }
    if (reported)
        fprintf(out, ".\n");
}

/* Warns that PAUSE ran at another frequency than the kernel whose power it is subtracted from. */
static void tell_idle(FILE *out, const struct table *t, bool fixed)
{
    size_t differ = 0, most = 0;
    double by = SAME_GHZ;
    for (size_t i = 0; i < t->n_rows; i++) {
        double apart = fabs(table_number(t, i, "idle_ghz") / table_number(t, i, "freq_ghz") - 1);
        differ += apart > SAME_GHZ;
        if (apart > by) {
            by = apart;
            most = i;
        }
    }
    if (differ)
        fprintf(out,
                "In %zu of %zu rows PAUSE ran at a different frequency from the kernel (%s on %.0f core%s: %.3f GHz "
                "against %.3f), so their watts and energy are not those of the code alone%s.\n",
                differ, t->n_rows, table_text(t, most, "kernel"), table_number(t, most, "active_cores"),
                table_number(t, most, "active_cores") > 1 ? "s" : "", table_number(t, most, "idle_ghz"),
                table_number(t, most, "freq_ghz"),
                fixed ? "; the rows at a fixed frequency are" : "; use --fixed-frequency to measure those");
}

/* Warns that not all active cores are in the package or on the die whose energy was counted. */
static void tell_counted(FILE *out, const struct table *t)
{
    for (size_t i = t->n_rows; i-- > 0;) {
        double active = table_number(t, i, "active_cores"), counted = table_number(t, i, "counted_cores");
        if (counted < active) {
            fprintf(
                out,
                "The energy counter covers one package or die: of %.0f active cores, power and energy are for %.0f.\n",
                active, counted);
            return;
        }
    }
}

static void findings(FILE *out, const struct table *t)
{
    bool fixed = table_find(t, "mode", "fixed") < t->n_rows;
    const char *mode = fixed ? "fixed" : "automatic";
    tell_kernels(out, t, mode, "watts", "Power above a PAUSE loop", "W", 1);
    tell_kernels(out, t, mode, "nj_per_lane", "Energy of 64 bits of an operation", "nJ", 2);
    tell_idle(out, t, fixed);
    tell_counted(out, t);
}

/* ---- views and pictures ---- */

static const struct pivot_field fields[] = {
    {"kernel", "kernel", PIVOT_PLAIN, NULL},
    {"cores", "active_cores", PIVOT_PLAIN, NULL},
    {"frequency", "mode", PIVOT_PLAIN, NULL},
    {"GHz", "freq_ghz", PIVOT_PLAIN, NULL},
    {"above PAUSE\nW [95 % limits]", "watts", PIVOT_PLAIN, NULL},
    {"per operation\nnJ [95 % limits]", "nj_per_op", PIVOT_PLAIN, NULL},
    {"64 bits\nnJ", "nj_per_lane", PIVOT_ALONE, NULL},
    {"PAUSE\nW", "idle_watts", PIVOT_ALONE, NULL},
    {"PAUSE\nGHz", "idle_ghz", PIVOT_PLAIN, NULL},
};
static const struct pivot_list views[] = {{.n_names = 3, PIVOT_FIELDS(fields)}};

/* "512fma at 2.10 GHz, 4 cores, automatic": what does not vary in the table is left out. */
static const char *bar_name(const struct table *t, size_t row, char out[CHART_NAME_MAX])
{
    const char *kernel = table_text(t, row, "kernel"), *mode = table_text(t, row, "mode");
    double freq = table_number(t, row, "freq_ghz"), cores = table_number(t, row, "active_cores");
    snprintf(out, CHART_NAME_MAX, "%s", kernel ? kernel : "?");
    if (isfinite(freq))
        text_list_add(out, CHART_NAME_MAX, " at ", "%.2f GHz", freq);
    if (isfinite(cores) && chart_varies(t, "active_cores"))
        text_list_add(out, CHART_NAME_MAX, ", ", "%.0f core%s", cores, cores == 1 ? "" : "s");
    if (mode && chart_varies(t, "mode"))
        text_list_add(out, CHART_NAME_MAX, ", ", "%s", mode);
    return out;
}

static const struct picture pictures[] = {
    {.panel = {.kind = CHART_BARS, .title = "Energy per operation", .x_label = "nJ per operation"},
     .value = "nj_per_op",
     .name.text = bar_name,
     .omitted = "rows"},
    {.panel = {.kind = CHART_BARS, .title = "Power above an idle loop", .x_label = "W"},
     .value = "watts",
     .name.text = bar_name,
     .look.colour = 1,
     .omitted = "rows"},
};

const struct table_kind table_energy = {
    .name = "energy",
    .title = "Power and energy of an operation above a PAUSE loop",
    .about = "power above a PAUSE loop, and energy per operation, of each kernel at automatic and fixed frequency",
    .method =
        "Each kernel runs for a while between two readings of the energy counter (RAPL); the power of a PAUSE loop is "
        "subtracted and the rest divided by the operations executed (G 3.1). Unless the frequency is fixed, PAUSE runs "
        "at its own; where that is higher than the kernel\xE2\x80\x99s, the result is less than the kernel costs.",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"kernel", "freq_ghz", "active_cores", "mode", "watts", "nj_per_op", "nj_per_lane", "package_watts",
                 "idle_watts"},
    .drafted = {.keys = {"kernel", "active_cores", "mode"}, .values = {"nj_per_op"}, .only = "mode", .is = "automatic"},
    .excluded = {[CHOICE_SIBLINGS] = "the SMT siblings use energy, but their instructions are not counted",
                 [CHOICE_CORUNNER] = "all active cores run the measured code, so that their energy can be divided by "
                                     "the instructions that they execute"},
    .plan = plan,
    .measure = measure,
    TABLE_KIND_VIEWS(views),
    .findings = findings,
    TABLE_KIND_PICTURES(pictures),
};
