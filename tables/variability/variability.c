/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table variability: how repeatable a core is (S. Kozak, Chasing Zero Variability in Software Performance, MIT,
 * 2020): one piece of code, run again and again in an environment that is refined step by step.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/ramp_up.h"
#include "analysis/stats/repeatability.h"
#include "computer/environment/snapshot.h"
#include "probes/trials.h"
#include "tables/variability/variability.h"
#include "util/order.h"
#include "util/text_list.h"

/* Trials of a cell: those of --runs at most so many, whose durations take no more than a megabyte. */
enum { RUNS = 1000, RUNS_BRIEF = 100, RUNS_MOST = 100000 };
static const double TRIAL_US = 300; /* a trial, us: shorter than the time between two timer interrupts, 1 to 4 ms */
static const double MASKED_US_MOST = 5000; /* a trial with interrupts masked, us: the helper masks for no longer */
/* The expected time of cells on silicon: spoiling before each trial, us; the rest of a cell, s; and the buffer of
 * loads, which is filled first, bytes a second. */
static const double SPOIL_US = 60, CELL_SECONDS = 0.02, BYTES_A_SECOND = 2e9;
/* Ramps of which the middle one is reported, as one may be disturbed. */
enum { RAMPS = 5 };

/* ---- workloads, rows, texts ---- */

/* Those of variability_workload(); all of the sweep are as the first of them. */
static const struct workload_plan {
    enum workload_number workload;
    enum trials_before before;
    enum trials_place place;
    bool brief;   /* one of those that --brief has */
    bool sibling; /* the other threads of the core are busy: only with --siblings busy */
    double idle_ms;
} plans[VARIABILITY_SWEEP + 1] = {
    {WORKLOAD_REGISTER, .brief = true},
    {WORKLOAD_BRANCH, .before = TRIALS_SPOIL, .brief = true},
    {WORKLOAD_BRANCH, .brief = true},
    {WORKLOAD_BRANCH, .before = TRIALS_IBPB},
    {WORKLOAD_LOAD, .place = TRIALS_L1, .brief = true},
    {WORKLOAD_LOAD, .place = TRIALS_L2},
    {WORKLOAD_LOAD, .place = TRIALS_L3},
    {WORKLOAD_LOAD, .place = TRIALS_MEMORY},
    {WORKLOAD_REGISTER, .brief = true, .sibling = true},
    {WORKLOAD_REGISTER, .idle_ms = VARIABILITY_IDLE_MS},
    {WORKLOAD_CHASE, .place = TRIALS_SIZE},
};

static const struct workload_plan *plan_of(unsigned workload)
{
    return &plans[workload < VARIABILITY_SWEEP ? workload : VARIABILITY_SWEEP];
}

/* Of a workload of the sweep; of others 0. */
static size_t bytes_of(unsigned workload)
{
    return workload < VARIABILITY_SWEEP ? 0 : (size_t)4096 << (workload - VARIABILITY_SWEEP);
}

/* The columns that a result has, in the last row. */
static void put_result(struct table *t, const struct repeatability *r)
{
    table_put_number(t, "trials", (double)r->n);
    table_put_number(t, "mode", r->mode);
    table_put_number(t, "spread", r->spread);
    table_put_number(t, "p50", r->p50);
    table_put_number(t, "p90", r->p90);
    table_put_number(t, "p99", r->p99);
    table_put_number(t, "max", r->max);
    table_put_number(t, "to_mode", (double)r->to_mode);
}

/* ---- what a cell keeps ---- */

/*
 * Data that a cell keeps beside its row, as the detail WORKLOAD/REFINEMENT: the refinements in force, the rounds of a
 * trial, the bytes of the buffer, and the statistics without the trials before the mode. kept_json() returns a new
 * reference; NULL: out of memory.
 */
struct kept {
    const char *in_force; /* "": nothing was changed */
    double rounds, bytes;
    struct repeatability warm;
};
static json_t *kept_json(const struct kept *k)
{
    return json_pack("{s:s, s:f, s:f, s:{s:I, s:f, s:f, s:f, s:f, s:f, s:f}}", "in_force", k->in_force, "rounds",
                     k->rounds, "bytes", k->bytes, "warm", "trials", (json_int_t)k->warm.n, "mode", k->warm.mode,
                     "spread", k->warm.spread, "p50", k->warm.p50, "p90", k->warm.p90, "p99", k->warm.p99, "max",
                     k->warm.max);
}

static const struct table_column columns[] = {
    {"workload", "", TABLE_TEXT, true, 0},
    {"refinement", "", TABLE_TEXT, true, 0},
    {"trials", "", TABLE_WHOLE, false, 0},
    {"unit", "", TABLE_TEXT, false, 0},
    {"mode", "", TABLE_REAL, false, 1},
    {"spread", "", TABLE_REAL, false, 9},
    {"p50", "", TABLE_REAL, false, 9},
    {"p90", "", TABLE_REAL, false, 9},
    {"p99", "", TABLE_REAL, false, 9},
    {"max", "", TABLE_REAL, false, 9},
    {"to_mode", "", TABLE_WHOLE, false, 0},
    {"resolution", "", TABLE_REAL, false, 9},
    {"interrupts", "", TABLE_WHOLE, false, 0},
    {"faults", "", TABLE_WHOLE, false, 0},
    {"switches", "", TABLE_WHOLE, false, 0},
    {"steal_ms", "ms", TABLE_REAL, false, 0},
    {"smis", "", TABLE_WHOLE, false, 0},
    {"discarded", "", TABLE_WHOLE, false, 0},
    {"branches", "", TABLE_WHOLE, false, 0},
    {"mispredicted_first", "", TABLE_WHOLE, false, 0},
    {"mispredicted_last", "", TABLE_WHOLE, false, 0},
    {"bytes", "", TABLE_WHOLE, false, 0},
    {"per_access", "", TABLE_REAL, false, 2},
    {"start_rate", "", TABLE_REAL, false, 4},
    {"ramp_ms", "ms", TABLE_REAL, false, 2},
    {"ramp_steps", "", TABLE_WHOLE, false, 0},
};

/* ---- plan ---- */

static unsigned trials_wanted(const struct tables_options *o)
{
    unsigned runs = o->runs ? o->runs : o->brief ? RUNS_BRIEF : RUNS;
    return runs < RUNS_MOST ? runs : RUNS_MOST;
}

static double trial_us(const struct tables_options *o)
{
    return o->observe_us > 0 ? o->observe_us : TRIAL_US;
}

static int plan_cell(const struct tables_context *x, unsigned r, unsigned w, struct cells *out,
                     struct machine_error *err)
{
    struct cell *c = tables_add_cell(out, NULL, NULL, 1, "%s.%s", tables_refinement_names[r], variability_workload(w));
    if (!c)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    c->number[0] = r;
    c->number[1] = w;
    double each = trial_us(x->options) + (plan_of(w)->before == TRIALS_NOTHING ? 0 : SPOIL_US);
    c->seconds = CELL_SECONDS + 1.1e-6 * trials_wanted(x->options) * each +
                 (plan_of(w)->place == TRIALS_MEMORY ? 1e9 : (double)bytes_of(w)) / BYTES_A_SECOND;
    if (plan_of(w)->idle_ms > 0)
        c->seconds = RAMPS * (c->seconds + 1e-3 * plan_of(w)->idle_ms);
    return MACHINE_OK;
}

/* True if a workload is measured at a refinement: sizes are swept once, and the ramp depends on settings alone, and on
 * an idle machine. */
static bool is_planned(const struct tables_options *o, unsigned r, unsigned w)
{
    if ((o->brief && !plan_of(w)->brief) || (plan_of(w)->sibling && !o->siblings))
        return false;
    return bytes_of(w) > 0 ? r == REFINED_QUIET
                           : plan_of(w)->idle_ms == 0 || r == REFINED_QUIET || r == REFINED_SETTINGS;
}

static void plan_nothing(const struct tables_context *x, unsigned r, struct table *t)
{
    if (x->info.modelled) /* it has no environment to refine */
        return;
    table_add_missing(t, r == REFINED_BUSY ? "no interference was requested: use --interference make, memory or script"
                         : r == REFINED_TICKLESS
                             ? "no setting is changed without --quiet-machine, and it needs the boot option nohz_full"
                             : "no setting is changed without --quiet-machine");
    table_put_text(t, "refinement", tables_refinement_names[r]);
}

static void note_settings(const struct tables_context *x, struct table *t)
{
    table_set_setting_number(t, "runs", trials_wanted(x->options));
    table_set_setting_number(t, "observe_us", trial_us(x->options));
    table_set_setting(t, "spread", "(slowest - fastest) / fastest of the trials");
    table_set_setting(t, "distance",
                      "p50 to max: distance from the mode, on either side, within which this share of the trials lies, "
                      "as a fraction of it");
    if (x->options->siblings)
        table_set_setting(t, "siblings", "busy beside " VARIABILITY_BESIDE_SIBLING ", else idle");
    table_set_setting(t, "priority", "trials run at normal priority, not in real time");
}

static int plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    int status = MACHINE_OK;
    note_settings(x, t);
    for (unsigned r = 0; r < REFINED_WARM; r++) {
        if (!x->options->refine && r != REFINED_QUIET && r != REFINED_MASKED) {
            plan_nothing(x, r, t);
            continue;
        }
        for (unsigned w = 0; w < VARIABILITY_WORKLOADS && status == MACHINE_OK; w++)
            if (is_planned(x->options, r, w))
                status = plan_cell(x, r, w, out, err);
    }
    return status;
}

/* ---- measuring ---- */

static void put_keys(const struct cell *c, struct table *rows)
{
    table_put_text(rows, "workload", variability_workload(c->number[1]));
    table_put_text(rows, "refinement", tables_refinement_names[c->number[0]]);
}

struct progress {
    const struct tables_context *x;
    double calls, expected; /* how often progress is reported */
};

/* The machine calls it about fifty times a second. */
static int on_stop(void *data)
{
    struct progress *p = data;
    return tables_stop(p->x, fmin(1, ++p->calls / p->expected));
}

static void put_between(struct table *rows, const struct trials_between *b)
{
    table_put_number(rows, "interrupts", b->interrupts);
    table_put_number(rows, "faults", b->faults);
    table_put_number(rows, "switches", b->switches);
    table_put_number(rows, "steal_ms", b->steal_ms);
    table_put_number(rows, "smis", b->smis);
}

static void put_branches(const struct trials_result *r, unsigned n, double *scratch, struct table *rows)
{
    const unsigned last = (n + 9) / 10; /* a tenth, whose median one interrupted trial does not move */
    for (unsigned i = 0; i < n; i++)
        scratch[i] = (double)r->branches[i].all;
    table_put_number(rows, "branches", order_nth_smallest(scratch, n, n / 2));
    table_put_number(rows, "mispredicted_first", (double)r->branches[0].mispredicted);
    for (unsigned i = 0; i < last; i++)
        scratch[i] = (double)r->branches[n - last + i].mispredicted;
    table_put_number(rows, "mispredicted_last", order_nth_smallest(scratch, last, last / 2));
}

/* Puts the ramp into the row, and its steps as [[ms, share of the final rate], ...] into its detail. */
static void put_ramp(const struct ramp_up *u, struct table *rows, json_t *detail)
{
    json_t *steps = json_array();
    for (size_t i = 0; i < u->n; i++)
        json_array_append_new(steps, json_pack("[f, f]", u->step[i].at * 1e-6, u->step[i].share));
    json_object_set_new(detail, "steps", steps);
    table_put_number(rows, "start_rate", u->start);
    table_put_number(rows, "ramp_ms", u->until * 1e-6);
    if (isfinite(u->until))
        table_put_number(rows, "ramp_steps", (double)(u->n - 1));
}

/* Who sets the frequency while it is measured: "governor" and "driver" in the detail, null where there is none. */
static void put_governor(const struct tables_context *x, json_t *detail)
{
    static const char *const names[] = {"governor", "driver"};
    struct environment e;
    struct machine_info info;
    if (x->info.modelled)
        return;
    x->machine->ops->info(x->machine, &info);
    snapshot_take(info.cpu_number, &e);
    json_t *all = snapshot_json(&e);
    for (size_t i = 0; i < 2; i++)
        json_object_set(detail, names[i], json_object_get(all, names[i]));
    json_decref(all);
}

static int put_trials(const struct tables_context *x, const struct cell *c, const struct trials_result *r, unsigned n,
                      const char *in_force, struct table *rows, struct machine_error *err)
{
    const unsigned w = (unsigned)c->number[1];
    double *scratch = malloc(n * sizeof *scratch);
    char key[VARIABILITY_KEY_SIZE];
    if (!scratch)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    struct repeatability all = repeatability_of(r->duration, n, r->seen.resolution, scratch);
    struct kept kept = {in_force, (double)r->seen.rounds, (double)r->bytes,
                        repeatability_of(r->duration + all.to_mode, n - all.to_mode, r->seen.resolution, scratch)};
    json_t *detail = kept_json(&kept);
    if (r->seen.uncounted[0] != '\0') {
        table_add_missing(rows, "branches, mispredicted: not counted: %s", r->seen.uncounted);
        put_keys(c, rows);
    }
    table_add_row(rows);
    put_keys(c, rows);
    table_put_text(rows, "unit", r->seen.cycles ? "cycles" : "ns");
    table_put_number(rows, "resolution", r->seen.resolution / all.mode);
    put_result(rows, &all);
    put_between(rows, &r->seen.between);
    table_put_number(rows, "discarded", r->seen.discarded);
    if (r->branches)
        put_branches(r, n, scratch, rows);
    if (r->bytes > 0)
        table_put_number(rows, "bytes", (double)r->bytes);
    if (plan_of(w)->workload == WORKLOAD_CHASE)
        table_put_number(rows, "per_access", all.mode / ((double)r->seen.rounds * WORKLOAD_LOADS));
    if (plan_of(w)->idle_ms > 0) {
        const struct ramp_up up = ramp_up_of(r->duration, n, scratch);
        put_ramp(&up, rows, detail);
        put_governor(x, detail);
    }
    free(scratch);
    variability_key(variability_workload(w), c->number[0], key);
    table_set_detail_json(rows, key, detail, 9);
    return MACHINE_OK;
}

/* The ramp of the middle one of several; those that show none come first. */
static int measure_ramps(const struct tables_context *x, const struct trials_setup *s, struct trials_result *out,
                         struct machine_error *err)
{
    const unsigned n = s->request.trials;
    struct trials_result of[RAMPS];
    double until[RAMPS], order[RAMPS], *scratch = malloc(n * sizeof *scratch);
    int status = scratch ? MACHINE_OK : machine_fail(err, MACHINE_FAILED, "", "out of memory");
    unsigned done = 0;

    for (; done < RAMPS && status == MACHINE_OK; done++) {
        status = trials_measure(x->machine, s, &of[done], err);
        if (status != MACHINE_OK)
            break;
        const double ns = ramp_up_of(of[done].duration, n, scratch).until;
        order[done] = until[done] = isfinite(ns) ? ns : 0;
    }
    free(scratch);
    if (status == MACHINE_OK)
        qsort(order, RAMPS, sizeof *order, order_double);
    for (unsigned i = 0; i < done; i++) {
        if (status == MACHINE_OK && until[i] == order[RAMPS / 2]) {
            *out = of[i];
            order[RAMPS / 2] = NAN;
        } else {
            free(of[i].duration);
        }
    }
    return status;
}

static int measure(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err)
{
    const struct tables_options *o = x->options;
    const bool masked = c->number[0] == REFINED_MASKED;
    struct progress progress = {x, 0, fmax(1, c->seconds * 50)};
    struct trials_setup s = {.machine = tables_setup(x, "variability", c),
                             .request = {.workload = plan_of((unsigned)c->number[1])->workload,
                                         .before = plan_of((unsigned)c->number[1])->before,
                                         .trial_us = masked ? fmin(trial_us(o), MASKED_US_MOST) : trial_us(o),
                                         .trials = trials_wanted(o),
                                         .masked = masked,
                                         .idle_ms = plan_of((unsigned)c->number[1])->idle_ms,
                                         .bytes = bytes_of((unsigned)c->number[1]),
                                         .stop = on_stop,
                                         .data = &progress},
                             .place = plan_of((unsigned)c->number[1])->place};
    struct trials_result r;
    char in_force[TABLES_IN_FORCE_MAX] = "";
    int status = o->refine ? o->refine(o->refine_data, (enum refinement)c->number[0], in_force, err) : MACHINE_OK;
    s.machine.siblings = plan_of((unsigned)c->number[1])->sibling;
    if (status == MACHINE_OK)
        status = s.request.idle_ms > 0 ? measure_ramps(x, &s, &r, err) : trials_measure(x->machine, &s, &r, err);
    if (status == MACHINE_CANNOT) {
        table_add_missing_error(rows, err);
        put_keys(c, rows);
        return MACHINE_OK;
    }
    if (status != MACHINE_OK)
        return status;
    if (s.place != TRIALS_SIZE || r.bytes > 0) /* else it is larger than memory has to be */
        status = put_trials(x, c, &r, s.request.trials, in_force, rows, err);
    free(r.duration);
    return status;
}

/* ---- the best without the trials before the mode ---- */

/* Returns the row of a workload with the least spread when warm, *out; t->n_rows: there is none. */
static size_t best_warm(const struct table *t, const char *workload, struct repeatability *out)
{
    size_t best = t->n_rows;
    for (unsigned r = 0; r < REFINED_WARM; r++) {
        struct repeatability warm;
        size_t row = variability_row(t, workload, (enum refinement)r);
        if (row < t->n_rows && variability_kept(variability_detail(t, workload, r), NULL, &warm) &&
            (best == t->n_rows || warm.spread < out->spread)) {
            *out = warm;
            best = row;
        }
    }
    return best;
}

/* Writes into `in_force` what was in force for the rows of a refinement, "" for nothing. */
static void in_force_at(const struct table *t, unsigned r, char *in_force)
{
    struct repeatability ignored;
    in_force[0] = '\0';
    for (size_t w = 0; w < VARIABILITY_WORKLOADS && in_force[0] == '\0'; w++)
        if (!variability_kept(variability_detail(t, variability_workload(w), r), in_force, &ignored))
            in_force[0] = '\0';
}

/* For the complete table: what the last refinement had, and that the interference was of one refinement alone. */
static void put_steps_in_force(struct table *t)
{
    char in_force[TABLES_IN_FORCE_MAX] = "", all[2 * TABLES_IN_FORCE_MAX] = "";
    for (unsigned r = REFINED_WARM; r-- > REFINED_SETTINGS && in_force[0] == '\0';)
        in_force_at(t, r, in_force);
    if (in_force[0] != '\0')
        text_list_add(all, sizeof all, "; ", "step by step to: %s", in_force);
    in_force_at(t, REFINED_BUSY, in_force);
    if (in_force[0] != '\0')
        text_list_add(all, sizeof all, "; ", "in refinement busy alone: %s", in_force);
    if (all[0] != '\0')
        table_set_setting(t, "settings", all);
}

/* Adds the rows `warm`. */
static int conclude(struct table *t)
{
    put_steps_in_force(t);
    for (size_t w = 0; w < VARIABILITY_REPEATED; w++) {
        const char *workload = variability_workload(w);
        struct repeatability warm;
        char key[VARIABILITY_KEY_SIZE], kept_unit[20];
        size_t best = best_warm(t, workload, &warm);
        if (best == t->n_rows || variability_row(t, workload, REFINED_WARM) < t->n_rows)
            continue;
        const char *unit = table_text(t, best, "unit"), *of = table_text(t, best, "refinement");
        double resolution = table_number(t, best, "resolution") * table_number(t, best, "mode") / warm.mode;
        variability_key(workload, REFINED_WARM, key);
        table_set_detail_json(t, key, json_pack("{s:s}", "of", of), 9);
        snprintf(kept_unit, sizeof kept_unit, "%s", unit ? unit : ""); /* the next row moves the others */
        table_add_row(t);
        table_put_text(t, "workload", workload);
        table_put_text(t, "refinement", tables_refinement_names[REFINED_WARM]);
        if (kept_unit[0])
            table_put_text(t, "unit", kept_unit);
        table_put_number(t, "resolution", resolution);
        put_result(t, &warm);
    }
    return t->failed ? -1 : 0;
}

#define ONE_CORE "it measures one core as it is found; --interference keeps others busy"

const struct table_kind table_variability = {
    .name = "variability",
    .title = "Repeatability of the core, by refinement of the environment",
    .about = "how repeatable the duration of one piece of code is, on this machine as it is and made quieter",
    .method =
        "Each workload runs again and again, a fixed number of rounds between two readings of the clock, while "
        "the environment is refined step by step (Kozak 2020, 3.2 to 3.10, 4.2, 4.3, 5.1). If the clock does not count "
        "cycles, durations include changes of the frequency.",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"workload", "refinement", "trials", "mode", "spread", "p50", "p90", "p99", "max"},
    .refines = true,
    .excluded = {[CHOICE_WARMUP] = "its trials show how the core warms up",
                 [CHOICE_CORUNNER] = ONE_CORE,
                 [CHOICE_CORUNNER_SAME] = ONE_CORE,
                 [CHOICE_CORES] = ONE_CORE,
                 [CHOICE_KERNELS] = "it has workloads of its own",
                 [CHOICE_PERIOD] = "a trial is timed in one go; --observe is its length"},
    .plan = plan,
    .measure = measure,
    .conclude = conclude,
    TABLE_KIND_VIEWS(variability_views),
    .print = variability_print,
    .findings = variability_findings,
    .plot = variability_plot,
};
