/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each core for itself: how fast it runs each class of code alone, how fast while all cores run the same, and whether
 * it throttles at first. Cores of one part differ: dies, favoured cores, kinds, priority turbo.
 */
#include "tables/cores/cores.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/phases/repetitions/steady.h"
#include "analysis/stats/robust.h"
#include "probes/steady.h"
#include "tables/table/estimates.h"
#include "tables/registry.h"

enum { RUNS = 5, RUNS_BRIEF = 3 };
/* Code that throttles a core, as far as is known, does so within the first microseconds (Gottschlag, 5.2.1). */
#define FIRST_US 12.0 /* a Granite Rapids throttles for 2.7 us: to be seen in the mean */
#define FIRST_PERIOD_US 2.0
#define FIRST_RUNS 3      /* so many times the repetitions of a steady frequency: they are short */
#define SCALAR_US 3000.0  /* before it: more than any known wait (README, Limits) */
enum { PASS = 0 };        /* cell.number[PASS]: in each pass, everything is measured once */
#define LEAST_SECONDS 8.0 /* a clock that floats must have time to do so: there are more passes where each is short */

static const char *const classes[] = {"64add", "256or", "256fma", "512or", "512fma", "amx"};

static const struct table_column columns[] = {
    {"cpu", "", TABLE_WHOLE, true, 0},      {"kernel", "", TABLE_TEXT, true, 0},
    {"core", "", TABLE_TEXT, false, 0},     TABLE_LIMITS("freq_ghz", "GHz", 4),
    TABLE_LIMITS("freq_all_ghz", "GHz", 4), {"throttle", "", TABLE_TEXT, false, 0},
    TABLE_LIMITS("first_rate", "", 3),      {"group", "", TABLE_WHOLE, false, 0},
    {"n", "", TABLE_WHOLE, false, 0},       {"discarded", "", TABLE_WHOLE, false, 0},
};

/* ---- which ---- */

static void cores_set_up(const struct tables_context *x, const struct cell *c, struct steady_setup *s)
{
    const struct tables_options *o = x->options;
    steady_defaults(s, &c->a);
    s->machine = tables_setup(x, table_cores.name, c);
    s->machine.cpus = NULL; /* all cores take part, whichever is measured */
    s->machine.n_cpus = 0;
    s->machine.corunner = c->a;
    s->runs = o->runs ? o->runs : o->brief ? RUNS_BRIEF : RUNS;
    s->before_us = o->warmup_us > 0 ? o->warmup_us : s->before_us;
    s->observe_us = o->observe_us > 0 ? o->observe_us : s->observe_us;
    s->period_us = o->period_us > 0 ? o->period_us : s->period_us;
}

/* The cores that are asked for: --cpu, --cpus, or all that the machine tells, of which *n is set. Which CPUs there are
 * and may be used, the machine says when it is prepared. */
static size_t cores_wanted(const struct tables_context *x, struct machine_core_kind *out, size_t *n)
{
    struct machine_core_kind all[TABLES_CORES_MAX];
    const struct tables_options *o = x->options;
    size_t wanted = o->cpu >= 0 ? 1 : o->n_cpus;
    *n = x->machine->ops->core_kinds ? x->machine->ops->core_kinds(x->machine, true, all, TABLES_CORES_MAX) : 0;
    for (size_t i = 0; i < (wanted ? wanted : *n); i++) {
        int cpu = o->cpu >= 0 ? o->cpu : wanted ? o->cpus[i] : all[i].cpu;
        out[i] = (struct machine_core_kind){.cpu = cpu};
        for (size_t k = 0; k < *n; k++)
            if (all[k].cpu == cpu)
                out[i] = all[k];
    }
    return wanted ? wanted : *n;
}

static int cores_add(const struct tables_context *x, const struct machine_core_kind *core, const struct payload *p,
                     unsigned pass, struct cells *out, struct table *t)
{
    struct steady_setup s;
    char key[40];
    struct cell *c = cells_add(out, p, NULL, 1, "cpu%d_%s%s%.0u", core->cpu, p->name, pass ? "_again" : "", pass);
    if (!c)
        return -1;
    c->number[PASS] = pass;
    c->cpu = core->cpu;
    cores_set_up(x, c, &s);
    c->seconds = 0.1 + 2e-6 * (s.settle_us + s.runs * (s.before_us + s.observe_us)) + 1e-5 * s.runs;
    snprintf(key, sizeof key, "core of CPU %d", core->cpu);
    if (core->label[0])
        table_set_setting(t, key, core->label);
    return 0;
}

/* How many passes there are to be, of which `done` are planned. */
static unsigned cores_passes(const struct cells *planned, unsigned done)
{
    double seconds = 0;
    for (size_t i = 0; i < planned->n; i++)
        seconds += planned->cell[i].seconds;
    double wanted = done ? ceil(LEAST_SECONDS / (seconds / done)) : CORES_PASSES_LEAST;
    return (unsigned)fmin(fmax(wanted, CORES_PASSES_LEAST), CORES_PASSES_MOST);
}

static int cores_plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    struct payload kernels[TABLES_KERNELS_MAX];
    struct machine_core_kind list[TABLES_CORES_MAX];
    size_t n_kernels = tables_each_once(kernels,
                                        tables_kernels(x, classes, sizeof classes / sizeof *classes, kernels, t));
    size_t all, n = cores_wanted(x, list, &all);
    for (unsigned pass = 0; pass < cores_passes(out, pass); pass++)
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n_kernels; k++)
                if (cores_add(x, &list[i], &kernels[k], pass, out, t))
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
    enum { MOST = 400 };
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

/* Whether the code is slower at first than later: repetitions that begin with scalar code. */
static int cores_see_first(const struct tables_context *x, const struct steady_setup *s, double settled,
                           struct estimate *out, struct machine_error *err)
{
    struct tables_context own = *x;
    const struct payload scalar = kernel_named("64add");
    double before = 4 * repetitions_run_in_us(FIRST_PERIOD_US);
    const struct segment segments[] = {
        {scalar, SCALAR_US, false}, {scalar, before, true}, {s->kernel, FIRST_US + 4 * FIRST_PERIOD_US, true}};
    struct repetitions_plan plan = {.machine = s->machine,
                                    .segments = segments,
                                    .n_segments = 3,
                                    .zero_segment = 2,
                                    .wanted = FIRST_RUNS * s->runs,
                                    .attempts = 2 * FIRST_RUNS * s->runs,
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

/* The steady frequency with so many active cores; *ipc: instructions per cycle. */
static int cores_see_steady(const struct tables_context *x, struct steady_setup *s, unsigned cores,
                            struct steady_value *ghz, struct steady_value *ipc, size_t *discarded,
                            struct machine_error *err)
{
    struct repetitions r;
    s->machine.active_cores = cores;
    int status = steady_run(x->machine, s, &r, err);
    if (status)
        return status;
    if (steady_mean(&r.trace, TRACE_FREQ, 0, ghz) ||
        steady_mean(&r.trace, TRACE_FREQ, FREQUENCY_SAME / 2 * ghz->mean.value, ghz) ||
        steady_mean(&r.trace, TRACE_IPC, 0, ipc))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    *discarded += r.n_invalid + ghz->runs - ghz->used + ghz->shared;
    repetitions_free(&r);
    return status;
}

static void cores_put(const struct cell *c, const struct steady_value *alone, const struct steady_value *all,
                      const struct estimate *first, size_t discarded, struct table *rows)
{
    table_add_row(rows);
    tables_put_cell(rows, c);
    estimates_put(rows, "freq_ghz", alone->mean);
    estimates_put(rows, "freq_all_ghz", all->mean);
    estimates_put(rows, "first_rate", *first);
    table_put_number(rows, "n", (double)alone->used);
    table_put_number(rows, "discarded", (double)discarded);
}

static json_t *limits_to_json(const struct estimate *e)
{
    return isfinite(e->value) && isfinite(e->hi) ? json_pack("[f, f, f]", e->value, e->lo, e->hi) : json_null();
}

/* What was measured again, in the details: a core is unlike others only if it is so at two times. */
static void cores_put_again(const struct cell *c, const struct estimate *alone, const struct estimate *first,
                            struct table *rows)
{
    char key[TABLES_CELL_ID_MAX + 12];
    snprintf(key, sizeof key, CORES_AGAIN, c->number[PASS], c->cpu, c->a.name);
    table_set_detail_json(
        rows, key, json_pack("{s:o, s:o}", "freq_ghz", limits_to_json(alone), "first_rate", limits_to_json(first)), 9);
}

static int cores_measure(const struct tables_context *x, const struct cell *c, struct table *rows,
                         struct machine_error *err)
{
    struct tables_context own = *x;
    struct steady_setup s;
    struct steady_value alone, all = {.mean = {NAN, NAN, NAN}}, ipc, unused;
    struct estimate first = {NAN, NAN, NAN};
    size_t discarded = 0;
    cores_set_up(x, c, &s);
    s.progress = tables_on_progress;
    s.data = &own;
    int status = cores_see_steady(x, &s, 1, &alone, &ipc, &discarded, err);
    if (!status && !c->number[PASS] && x->info.usable_cores != 1)
        status = cores_see_steady(x, &s, 0, &all, &unused, &discarded, err);
    s.machine.active_cores = 1;
    if (!status && ipc.used && c->a.kernel->width > 64)
        status = cores_see_first(x, &s, ipc.mean.value, &first, err);
    if (status)
        return status;
    if (alone.used && c->number[PASS])
        cores_put_again(c, &alone.mean, &first, rows);
    else if (alone.used)
        cores_put(c, &alone, &all, &first, discarded, rows);
    else if (!c->number[PASS])
        tables_cell_missing(rows, c, "all repetitions were disturbed; stop other programs, or use more --runs");
    return MACHINE_OK;
}

#define CORES_ALL "each core is measured alone and with all others"
const struct table_kind table_cores = {
    .name = "cores",
    .title = "Each core alone, and all",
    .about = "each core: frequency of each class of code alone and with all cores, throttling, groups of cores",
    .method = "On each core in turn, each kernel runs alone, then on all cores at once, until it has settled. The rate "
              "of its first 12 us after scalar code, relative to the settled rate, tells whether the core throttles. "
              "Cores of one frequency form a group; 1 is the fastest. Everything is measured in several passes, and "
              "the limits include the differences between measurements of one core.",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"cpu", "kernel", "freq_ghz", "throttle", "group"},
    .drafted = {.keys = {"cpu", "kernel"}, .values = {"freq_ghz"}},
    .excluded = {[CHOICE_CORUNNER] = CORES_ALL, [CHOICE_CORUNNER_SAME] = CORES_ALL, [CHOICE_CORES] = CORES_ALL},
    .plan = cores_plan,
    .measure = cores_measure,
    .conclude = cores_conclude,
    .findings = cores_findings,
    .plot = cores_plot,
};
