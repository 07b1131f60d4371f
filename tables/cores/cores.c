/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table cores: each core for itself: how fast it runs each class of code alone, how fast while all cores run the
 * same, and whether it throttles at first. Cores of one part differ: dies, favoured cores, kinds, priority turbo.
 */
#include "tables/cores/cores.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/steady.h"
#include "analysis/stats/robust.h"
#include "probes/repetitions.h"
#include "tables/table/estimates.h"
#include "tables/registry.h"
#include "tables/table/bracket_cells.h"
#include "util/order.h"
#include "util/text_list.h"

/* Rounds of brackets without --runs: 6 are the fewest with which a median has 95 % limits. */
enum { ROUNDS = 8, ROUNDS_BRIEF = 6 };
/* Code that throttles a core, as far as is known, does so within the first microseconds (Gottschlag, 5.2.1). They are
 * looked at for so long, us: a Granite Rapids throttles for 2.7 us, which shows in the mean. */
#define FIRST_US 12.0
#define FIRST_PERIOD_US 2.0 /* one sample each so many us, then: a reading takes less than a tenth of it */
#define FIRST_RUNS 3        /* so many times the repetitions of a steady frequency: they are short */
#define SCALAR_US 3000.0    /* scalar code before it, us: more than any known wait (README, Limits) */
enum { PASS = 0 };          /* cell.number[PASS]: in each pass, everything is measured once */
#define LEAST_SECONDS 8.0   /* a clock that floats must have time to do so: there are more passes where each is short */

/* Everything is measured so many times; the name of the detail that has pass %u of a CPU and a kernel, from 1. */
enum { CORES_PASSES_LEAST = 2, CORES_PASSES_MOST = 8 };
#define CORES_AGAIN "again %u CPU %d %s"

static const char *const classes[] = {"64add", "256or", "256fma", "512or", "512fma", "amx"};

static const struct table_column columns[] = {
    {"cpu", "", TABLE_WHOLE, true, 0},      {"kernel", "", TABLE_TEXT, true, 0},
    {"core", "", TABLE_TEXT, false, 0},     TABLE_LIMITS("freq_ghz", "GHz", 4),
    TABLE_LIMITS("ratio", "", 4), /* of 64add around it, on this core alone */
    TABLE_LIMITS("freq_all_ghz", "GHz", 4), {"throttle", "", TABLE_TEXT, false, 0},
    TABLE_LIMITS("first_rate", "", 3),      {"group", "", TABLE_WHOLE, false, 0},
    {"n", "", TABLE_WHOLE, false, 0},       {"discarded", "", TABLE_WHOLE, false, 0},
};

/* ---- which ---- */

/* The kernel of a cell and what it is compared with: itself where that is scalar code. */
static size_t kernels_of(const struct cell *c, struct payload out[2])
{
    out[0] = kernel_named("64add");
    out[1] = c->a;
    return strcmp(c->a.name, out[0].name) == 0 ? 1 : 2;
}

static void set_up(const struct tables_context *x, const struct cell *c, const struct payload kernels[2],
                   struct brackets_setup *s)
{
    struct payload unused[2];
    const struct tables_options *o = x->options;
    brackets_defaults(s, &kernels[0], kernels, kernels_of(c, unused));
    bracket_cells_take_options(x, table_cores.name, c, s);
    s->machine.cpus = NULL; /* all cores take part, whichever is measured */
    s->machine.n_cpus = 0;
    s->machine.corunner = c->a;
    s->least = s->most = o->runs ? o->runs : o->brief ? ROUNDS_BRIEF : ROUNDS;
    s->seconds = INFINITY;
}

/* The requested cores: --cpu, --cpus, or all that the machine reports, of which *n is set. Which CPUs there are
 * and may be used, the machine says when it is prepared. */
static size_t wanted_cores(const struct tables_context *x, struct core_kind *out, size_t *n)
{
    struct core_kind all[TABLES_CORES_MAX];
    const struct tables_options *o = x->options;
    size_t wanted = o->cpu >= 0 ? 1 : o->n_cpus;
    *n = x->machine->ops->core_kinds ? x->machine->ops->core_kinds(x->machine, true, all, TABLES_CORES_MAX) : 0;
    for (size_t i = 0; i < (wanted ? wanted : *n); i++) {
        int cpu = o->cpu >= 0 ? o->cpu : wanted ? o->cpus[i] : all[i].cpu;
        out[i] = (struct core_kind){.cpu = cpu};
        for (size_t k = 0; k < *n; k++)
            if (all[k].cpu == cpu)
                out[i] = all[k];
    }
    return wanted ? wanted : *n;
}

static int add(const struct tables_context *x, const struct core_kind *core, const struct payload *p, unsigned pass,
               struct cells *out, struct table *t)
{
    struct brackets_setup s;
    struct payload kernels[2];
    char key[40];
    struct cell *c = tables_add_cell(out, p, NULL, 1, "cpu%d_%s%s%.0u", core->cpu, p->name, pass ? "_again" : "", pass);
    if (!c)
        return -1;
    c->number[PASS] = pass;
    c->cpu = core->cpu;
    kernels_of(c, kernels);
    set_up(x, c, kernels, &s);
    c->seconds = 0.1 + 2 * (1e-6 * s.settle_us + s.least * brackets_round_seconds(&s));
    snprintf(key, sizeof key, "core of CPU %d", core->cpu);
    if (core->label[0])
        table_set_setting(t, key, core->label);
    return 0;
}

/* How many passes there are to be, of which `done` are planned. */
static unsigned passes_needed(const struct cells *planned, unsigned done)
{
    double seconds = 0;
    for (size_t i = 0; i < planned->n; i++)
        seconds += planned->cell[i].seconds;
    double wanted = done ? ceil(LEAST_SECONDS / (seconds / done)) : CORES_PASSES_LEAST;
    return (unsigned)fmin(fmax(wanted, CORES_PASSES_LEAST), CORES_PASSES_MOST);
}

static int plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    struct payload kernels[TABLES_KERNELS_MAX];
    struct core_kind list[TABLES_CORES_MAX];
    size_t n_kernels = tables_each_once(kernels,
                                        tables_kernels(x, classes, sizeof classes / sizeof *classes, kernels, t));
    size_t all, n = wanted_cores(x, list, &all);
    for (unsigned pass = 0; pass < passes_needed(out, pass); pass++)
        for (size_t i = 0; i < n; i++) /* there and back: what drifts in one direction cancels */
            for (size_t k = 0; k < n_kernels; k++)
                if (add(x, &list[pass % 2 ? n - 1 - i : i], &kernels[k], pass, out, t))
                    return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    if (n == 0) {
        table_add_missing(t, "this machine does not report its cores; name them with --cpus");
        return MACHINE_OK;
    }
    table_set_setting_number(t, "cores", (double)all);
    return MACHINE_OK;
}

/* ---- measuring ---- */

/* Instructions per cycle in the first microseconds of each repetition, and their mean with its limits. */
static struct estimate first_rate(const struct trace *t, double settled)
{
    enum { MOST = 400 }; /* repetitions that are used */
    double rate[MOST];
    size_t n = 0;
    for (size_t begin = 0, end; begin < t->n && n < MOST; begin = end) {
        double sum = 0;
        size_t samples = 0;
        end = trace_run_end(t, begin);
        for (size_t i = begin; i < end; i++) {
            double ipc = (double)t->channel[TRACE_IPC][i];
            if (t->time_us[i] > 0 && t->time_us[i] <= FIRST_US + FIRST_PERIOD_US && isfinite(ipc)) {
                sum += ipc;
                samples++;
            }
        }
        if (samples)
            rate[n++] = sum / (double)samples / settled;
    }
    return robust_mean(rate, n, 4, 0, NULL);
}

/* Measures the rate at first relative to the settled one: repetitions that begin with scalar code. */
static int see_first(const struct tables_context *x, const struct brackets_setup *s, const struct payload *kernel,
                     double settled, struct estimate *out, struct machine_error *err)
{
    struct tables_context own = *x;
    const struct payload scalar = kernel_named("64add");
    double before = 4 * repetitions_run_in_us(FIRST_PERIOD_US);
    const struct segment segments[] = {
        {scalar, SCALAR_US, false}, {scalar, before, true}, {*kernel, FIRST_US + 4 * FIRST_PERIOD_US, true}};
    struct repetitions_plan plan = {.machine = s->machine,
                                    .segments = segments,
                                    .n_segments = 3,
                                    .zero_segment = 2,
                                    .wanted = FIRST_RUNS * s->least,
                                    .attempts = 2 * FIRST_RUNS * s->least,
                                    .from_us = -before / 2,
                                    .progress = tables_on_progress,
                                    .data = &own};
    struct repetitions r = {0};
    plan.machine.period_us = FIRST_PERIOD_US;
    trace_init(&r.trace);
    int status = repetitions_run(x->machine, &plan, &r, err);
    if (status)
        return status;
    *out = r.trace.channel[TRACE_IPC] ? first_rate(&r.trace, settled) : (struct estimate){NAN, NAN, NAN};
    repetitions_free(&r);
    return MACHINE_OK;
}

/* The results of one kernel on a core. */
struct core_seen {
    struct steady_value ghz, ipc;
    struct estimate ratio;
    size_t discarded;
};

/* With so many active cores. */
static int see(const struct tables_context *x, struct brackets_setup *s, unsigned cores, struct core_seen *out,
               struct machine_error *err)
{
    struct brackets_result r;
    s->machine.active_cores = cores;
    int status = bracket_cells_run(x, s, &r, err);
    if (status)
        return status;
    const size_t last = s->n - 1;
    if (steady_frequency(&r.seen[last], FREQUENCY_SAME / 2, &out->ghz) ||
        steady_mean(&r.seen[last], TRACE_IPC, 0, &out->ipc))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    out->ratio = brackets_ratio_of(&r, last);
    out->discarded = r.rounds - out->ghz.used;
    brackets_free(&r);
    return status;
}

static void put(const struct cell *c, const struct core_seen *alone, const struct core_seen *all,
                const struct estimate *first, struct table *rows)
{
    table_add_row(rows);
    tables_put_cell(rows, c);
    estimates_put(rows, "freq_ghz", alone->ghz.mean);
    estimates_put(rows, "ratio", alone->ratio);
    estimates_put(rows, "freq_all_ghz", all->ghz.mean);
    estimates_put(rows, "first_rate", *first);
    table_put_number(rows, "n", (double)alone->ghz.used);
    table_put_number(rows, "discarded", (double)(alone->discarded + all->discarded));
}

static json_t *limits_to_json(const struct estimate *e)
{
    return isfinite(e->value) && isfinite(e->hi) ? json_pack("[f, f, f]", e->value, e->lo, e->hi) : json_null();
}

/* Puts what was measured again into the details: a core is unlike others only if it is so at two times. */
static void put_again(const struct cell *c, const struct estimate *alone, const struct estimate *first,
                      struct table *rows)
{
    char key[TABLES_CELL_ID_MAX + 12];
    snprintf(key, sizeof key, CORES_AGAIN, c->number[PASS], c->cpu, c->a.name);
    table_set_detail_json(
        rows, key, json_pack("{s:o, s:o}", "freq_ghz", limits_to_json(alone), "first_rate", limits_to_json(first)), 9);
}

static int measure(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err)
{
    struct payload kernels[2];
    struct brackets_setup s;
    struct core_seen alone, all = {.ghz.mean = {NAN, NAN, NAN}};
    struct estimate first = {NAN, NAN, NAN};
    kernels_of(c, kernels);
    set_up(x, c, kernels, &s);
    int status = see(x, &s, 1, &alone, err);
    if (!status && !c->number[PASS] && x->info.usable_cores != 1)
        status = see(x, &s, 0, &all, err);
    s.machine.active_cores = 1;
    if (!status && alone.ipc.used && c->a.kernel->width > 64)
        status = see_first(x, &s, &c->a, alone.ipc.mean.value, &first, err);
    if (status)
        return status;
    if (alone.ghz.used && c->number[PASS])
        put_again(c, &alone.ghz.mean, &first, rows);
    else if (alone.ghz.used)
        put(c, &alone, &all, &first, rows);
    else if (!c->number[PASS])
        tables_cell_missing(rows, c, "all rounds were disturbed; stop other programs, or use more --runs");
    return MACHINE_OK;
}

/* ---- conclusions ---- */

size_t cores_row_of(const struct table *t, const char *kernel, size_t row)
{
    while (row < t->n_rows && !table_says(t, row, "kernel", kernel))
        row++;
    return row;
}

const char *cores_next_kernel(const struct table *t, size_t *row)
{
    for (; *row < t->n_rows; ++*row) {
        const char *kernel = table_text(t, *row, "kernel");
        if (kernel && cores_row_of(t, kernel, 0) == *row)
            return kernel;
    }
    return NULL;
}

/* Code throttles that loses this part of its rate at first: a switch alone costs half of that on an Emerald Rapids. */
#define THROTTLED 0.1

enum { JOINED = 2 };
static const char *const joined[JOINED] = {"freq_ghz", "first_rate"};

/* All passes of a row. */
struct passes {
    double value[JOINED][CORES_PASSES_MOST];
    size_t n[JOINED];
};

static void read_passes(const struct table *t, size_t row, struct passes *p)
{
    char key[TABLES_CELL_ID_MAX + 24];
    for (size_t i = 0; i < JOINED; i++) {
        double first = table_number(t, row, joined[i]);
        p->value[i][0] = first;
        p->n[i] = isfinite(first);
    }
    for (unsigned pass = 1; pass < CORES_PASSES_MOST; pass++) {
        snprintf(key, sizeof key, CORES_AGAIN, pass, (int)table_number(t, row, "cpu"), table_text(t, row, "kernel"));
        const char *text = table_detail(t, key);
        json_t *j = text ? json_loads(text, 0, NULL) : NULL;
        for (size_t i = 0; i < JOINED; i++) {
            const json_t *value = json_array_get(json_object_get(j, joined[i]), 0);
            if (json_is_number(value) && p->n[i])
                p->value[i][p->n[i]++] = json_number_value(value);
        }
        json_decref(j);
    }
}

/* Finds by how much, relative, single measurements of one core differ from their mean: half of the width of 95 %
 * limits, over all rows. NaN: nothing was measured twice. */
static void repeatability(const struct table *t, double half[JOINED])
{
    double squares[JOINED] = {0}, freedom[JOINED] = {0};
    for (size_t row = 0; row < t->n_rows; row++) {
        struct passes p;
        read_passes(t, row, &p);
        for (size_t i = 0; i < JOINED; i++) {
            if (p.n[i] < 2)
                continue;
            double mean = gsl_stats_mean(p.value[i], 1, p.n[i]);
            double sd = gsl_stats_sd_m(p.value[i], 1, p.n[i], mean) / mean;
            squares[i] += sd * sd * (double)(p.n[i] - 1);
            freedom[i] += (double)(p.n[i] - 1);
        }
    }
    for (size_t i = 0; i < JOINED; i++)
        half[i] = freedom[i] > 0 ? gsl_cdf_tdist_Pinv(0.975, freedom[i]) * sqrt(squares[i] / freedom[i]) : NAN;
}

/* Limits so far from the value are worthless. */
static void put_limits(struct table *t, size_t row, const char *column, double value, double off)
{
    estimates_set(t, row, column, estimate_around(value, off < 0.5 * value ? off : NAN));
}

static void join(struct table *t, size_t row, const double half[JOINED])
{
    struct passes p;
    read_passes(t, row, &p);
    for (size_t i = 0; i < JOINED; i++) {
        struct estimate e = estimates_of_table(t, row, joined[i]);
        double mean = p.n[i] ? gsl_stats_mean(p.value[i], 1, p.n[i]) : NAN;
        double off = p.n[i] > 1 && estimates_known(&e) ? fmax(half[i] * mean, estimate_half(&e)) : NAN;
        put_limits(t, row, joined[i], mean, off);
    }
    struct estimate all = estimates_of_table(t, row, "freq_all_ghz");
    put_limits(t, row, "freq_all_ghz", all.value,
               estimates_known(&all) ? fmax(half[0] * all.value, estimate_half(&all)) : NAN);
    struct estimate first = estimates_of_table(t, row, "first_rate");
    if (first.hi < 1 - THROTTLED || first.lo > 1 - THROTTLED)
        table_set_text(t, row, "throttle", first.hi < 1 - THROTTLED ? "yes" : "no");
}

/* A core's frequency, to be ordered from the fastest. */
struct core_speed {
    struct estimate ghz; /* first, for order_double_descending() */
    size_t row;
};

static void group(struct table *t, const char *kernel, struct core_speed *list)
{
    size_t n = 0;
    unsigned group = 1;
    for (size_t row = cores_row_of(t, kernel, 0); row < t->n_rows; row = cores_row_of(t, kernel, row + 1)) {
        struct estimate ghz = estimates_of_table(t, row, "freq_ghz");
        if (estimates_known(&ghz))
            list[n++] = (struct core_speed){ghz, row};
    }
    qsort(list, n, sizeof *list, order_double_descending);
    for (size_t i = 0; i < n; i++) {
        group += i > 0 && !estimates_frequencies_agree(&list[i].ghz, &list[i - 1].ghz);
        table_set_number(t, list[i].row, "group", group);
    }
}

/*
 * Joins all passes of freq_ghz and first_rate: their mean, whose limits hold what single measurements of one core
 * differ by (Student's t, over the entire table: a clock that floats does so in all), no less than those of the first
 * pass. Tells whether a core throttles: its first rate is below 0.9 of the settled one by these limits, or above. The
 * groups of each kernel: cores whose frequencies alone lie within FREQUENCY_SAME of the next one's, or within the
 * limits of both; 1 is the fastest. A frequency without limits is in none. Fills the columns `group`, `throttle` and
 * `core`.
 */
static int conclude(struct table *t)
{
    struct core_speed *list = malloc((t->n_rows + 1) * sizeof *list);
    if (!list)
        return -1;
    double half[JOINED];
    repeatability(t, half);
    for (size_t i = 0; i < t->n_rows; i++)
        join(t, i, half);
    size_t row = 0;
    for (const char *kernel; (kernel = cores_next_kernel(t, &row)) != NULL; row++)
        group(t, kernel, list);
    for (row = 0; row < t->n_rows; row++) {
        char key[40];
        snprintf(key, sizeof key, "core of CPU %.0f", table_number(t, row, "cpu"));
        const char *label = table_setting(t, key);
        if (label)
            table_set_text(t, row, "core", label);
    }
    free(list);
    return 0;
}

/* How many groups a kernel has; 0: it was not measured. */
static unsigned count_groups(const struct table *t, const char *kernel)
{
    double most = 0;
    for (size_t row = cores_row_of(t, kernel, 0); row < t->n_rows; row = cores_row_of(t, kernel, row + 1))
        most = fmax(most, table_number(t, row, "group"));
    return (unsigned)most;
}

/* ---- findings ---- */

/* The CPUs of a group of a kernel, "0-3, 5", and the mean of their frequencies. Returns how many. */
static size_t of_group(const struct table *t, const char *kernel, unsigned group, char *cpus, size_t size, double *ghz)
{
    size_t n = 0;
    int first = -2, last = -2;
    *ghz = 0;
    cpus[0] = '\0';
    for (size_t row = cores_row_of(t, kernel, 0);; row = cores_row_of(t, kernel, row + 1)) {
        bool end = row >= t->n_rows;
        if (!end && table_number(t, row, "group") != group)
            continue;
        int cpu = end ? -1 : (int)table_number(t, row, "cpu");
        if (first >= 0 && cpu != last + 1) {
            text_list_add(cpus, size, ", ", first == last ? "%d" : "%d-%d", first, last);
            first = -2;
        }
        if (end)
            break;
        first = first < 0 ? cpu : first;
        last = cpu;
        *ghz += table_number(t, row, "freq_ghz");
        n++;
    }
    *ghz /= n ? (double)n : 1;
    return n;
}

static void tell_core_groups(FILE *out, const struct table *t, const char *kernel, unsigned groups)
{
    fprintf(out, "Running %s alone, cores differ:", kernel);
    for (unsigned g = 1; g <= groups && g <= 6; g++) {
        char cpus[200];
        double ghz;
        of_group(t, kernel, g, cpus, sizeof cpus, &ghz);
        fprintf(out, "%s CPU %s %.2f GHz", g > 1 ? ";" : "", cpus, ghz);
    }
    fprintf(out, "%s.\n", groups > 6 ? "; and slower ones" : "");
}

static void tell_throttled(FILE *out, const struct table *t)
{
    char kernels[200] = "";
    size_t row = 0;
    for (const char *kernel; (kernel = cores_next_kernel(t, &row)) != NULL; row++) {
        size_t n = 0, of = 0;
        for (size_t i = row; i < t->n_rows; i = cores_row_of(t, kernel, i + 1)) {
            n += table_says(t, i, "throttle", "yes");
            of += table_text(t, i, "throttle") != NULL;
        }
        if (n)
            text_list_add(kernels, sizeof kernels, ", ", "%s on %zu of %zu cores", kernel, n, of);
    }
    if (kernels[0])
        fprintf(out, "Throttled at first, of the cores for which this is known: %s.\n", kernels);
}

static void findings(FILE *out, const struct table *t)
{
    size_t row = 0, reported = 0, compared = 0;
    const char *kernel;
    for (size_t i = 0; i < t->n_rows; i++)
        compared += isfinite(table_number(t, i, "group")) && table_same(t, i, 0, "kernel");
    for (; reported < 2 && (kernel = cores_next_kernel(t, &row)) != NULL; row++) {
        unsigned groups = count_groups(t, kernel);
        if (groups > 1) {
            tell_core_groups(out, t, kernel, groups);
            reported++;
        }
    }
    if (!reported && compared > 1)
        fprintf(out, "No core is faster than another beyond their 95 %% limits.\n");
    tell_throttled(out, t);
}

/* ---- the plot ---- */

/* Maps of the cores, coloured by the frequency. */
static const struct picture pictures[] = {
    {.panel = {.kind = CHART_CELLS, .title = "one core active", .y_label = "CPU", .scale_label = "GHz"},
     .value = "freq_ghz",
     .name.column = "kernel",
     .across.column = "cpu"},
    {.panel = {.kind = CHART_CELLS, .title = "all cores active", .y_label = "CPU", .scale_label = "GHz"},
     .value = "freq_all_ghz",
     .name.column = "kernel",
     .across.column = "cpu"},
};

#define ALL_CORES "each core is measured alone and with all others"
const struct table_kind table_cores = {
    .name = "cores",
    .title = "Each core alone, and all",
    .about = "each core: frequency of each class of code alone and with all cores, throttling, groups of cores",
    .method =
        "On each core in turn, each kernel runs alone, then on all cores at once, in slots between slots of scalar "
        "code, with which the ratio compares it. The rate "
        "of its first 12 us after scalar code, relative to the settled rate, shows whether the core throttles. "
        "Cores of one frequency form a group; 1 is the fastest. Everything is measured in several passes, and "
        "the limits include the differences between measurements of one core.",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"cpu", "kernel", "freq_ghz", "throttle", "group"},
    .drafted = {.keys = {"cpu", "kernel"}, .values = {"freq_ghz"}},
    .excluded = {[CHOICE_CORUNNER] = ALL_CORES, [CHOICE_CORUNNER_SAME] = ALL_CORES, [CHOICE_CORES] = ALL_CORES},
    .plan = plan,
    .measure = measure,
    .conclude = conclude,
    .findings = findings,
    TABLE_KIND_PICTURES(pictures),
};
