/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table variability: how repeatable a core is (S. Kozak, Chasing Zero Variability in Software Performance, MIT, 2020): one piece of code,
 * run again and again in an environment that is refined step by step.
 */
#include "tables/variability/variability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/trials.h"
#include "tables/registry.h"

/* Trials of a cell: those of --runs at most so many, whose durations take no more than a megabyte. */
enum { RUNS = 1000, RUNS_BRIEF = 100, RUNS_MOST = 100000 };
static const double TRIAL_US = 300; /* a trial, us: shorter than the time between two timer interrupts, 1 to 4 ms */
static const double MASKED_US_MOST = 5000; /* a trial with interrupts masked, us: the helper masks for no longer */
/* What cells are expected to take on silicon: spoiling before each trial, us; the rest of a cell, s; and the buffer of
 * loads, which is filled first, bytes a second. */
static const double SPOIL_US = 60, CELL_SECONDS = 0.02, BYTES_A_SECOND = 2e9;

/* In the order of variability_workloads[]. */
static const struct {
    enum workload_number workload;
    enum trials_before before;
    enum trials_place place;
    bool brief; /* one of those that --brief has */
} workloads[VARIABILITY_WORKLOADS] = {
    {WORKLOAD_REGISTER, TRIALS_NOTHING, TRIALS_NOWHERE, true}, /* register */
    {WORKLOAD_BRANCH, TRIALS_SPOIL, TRIALS_NOWHERE, true},     /* branch-cold */
    {WORKLOAD_BRANCH, TRIALS_NOTHING, TRIALS_NOWHERE, true},   /* branch-warm */
    {WORKLOAD_BRANCH, TRIALS_IBPB, TRIALS_NOWHERE, false},     /* branch-ibpb */
    {WORKLOAD_LOAD, TRIALS_NOTHING, TRIALS_L1, true},          {WORKLOAD_LOAD, TRIALS_NOTHING, TRIALS_L2, false},
    {WORKLOAD_LOAD, TRIALS_NOTHING, TRIALS_L3, false},         {WORKLOAD_LOAD, TRIALS_NOTHING, TRIALS_MEMORY, false},
};

static const struct table_column columns[] = {
    {"workload", "", TABLE_TEXT, true, 0},     {"refinement", "", TABLE_TEXT, true, 0},
    {"trials", "", TABLE_WHOLE, false, 0},     {"unit", "", TABLE_TEXT, false, 0},
    {"mode", "", TABLE_REAL, false, 1},        {"spread", "", TABLE_REAL, false, 9},
    {"p50", "", TABLE_REAL, false, 9},         {"p90", "", TABLE_REAL, false, 9},
    {"p99", "", TABLE_REAL, false, 9},         {"max", "", TABLE_REAL, false, 9},
    {"to_mode", "", TABLE_WHOLE, false, 0},    {"resolution", "", TABLE_REAL, false, 9},
    {"interrupts", "", TABLE_WHOLE, false, 0}, {"faults", "", TABLE_WHOLE, false, 0},
    {"switches", "", TABLE_WHOLE, false, 0},   {"steal_ms", "ms", TABLE_REAL, false, 0},
    {"smis", "", TABLE_WHOLE, false, 0},       {"discarded", "", TABLE_WHOLE, false, 0},
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
    struct cell *c = cells_add(out, NULL, NULL, 1, "%s.%s", refinement_names[r], variability_workloads[w]);
    if (!c)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    c->number[0] = r;
    c->number[1] = w;
    double each = trial_us(x->options) + (workloads[w].before == TRIALS_NOTHING ? 0 : SPOIL_US);
    c->seconds = CELL_SECONDS + 1.1e-6 * trials_wanted(x->options) * each +
                 (workloads[w].place == TRIALS_MEMORY ? 1e9 / BYTES_A_SECOND : 0);
    return MACHINE_OK;
}

static void plan_nothing(const struct tables_context *x, unsigned r, struct table *t)
{
    if (x->info.modelled) /* it has no environment to refine */
        return;
    table_add_missing(t, r == REFINED_BUSY ? "no interference was requested: use --interference make, memory or script"
                                           : "no setting is changed without --quiet-machine");
    table_put_text(t, "refinement", refinement_names[r]);
}

static void variability_note(const struct tables_context *x, struct table *t)
{
    table_set_setting_number(t, "runs", trials_wanted(x->options));
    table_set_setting_number(t, "observe_us", trial_us(x->options));
    table_set_setting(t, "spread", "(slowest - fastest) / fastest of the trials");
    table_set_setting(t, "distance",
                      "p50 to max: distance from the mode, on either side, within which this share of the trials lies, "
                      "as a fraction of it");
    table_set_setting(t, "priority", "trials run at normal priority, not in real time");
}

static int variability_plan(const struct tables_context *x, struct cells *out, struct table *t,
                            struct machine_error *err)
{
    int status = MACHINE_OK;
    variability_note(x, t);
    for (unsigned r = 0; r < REFINED_WARM; r++) {
        if (!x->options->refine && r != REFINED_QUIET && r != REFINED_MASKED) {
            plan_nothing(x, r, t);
            continue;
        }
        for (unsigned w = 0; w < VARIABILITY_WORKLOADS && status == MACHINE_OK; w++)
            if (!x->options->brief || workloads[w].brief)
                status = plan_cell(x, r, w, out, err);
    }
    return status;
}

/* ---- measuring ---- */

static void variability_put_keys(const struct cell *c, struct table *rows)
{
    table_put_text(rows, "workload", variability_workloads[c->number[1]]);
    table_put_text(rows, "refinement", refinement_names[c->number[0]]);
}

struct variability_progress {
    const struct tables_context *x;
    double asked, expected; /* times */
};

/* The machine asks about fifty times a second. */
static int variability_stop(void *data)
{
    struct variability_progress *p = data;
    return tables_stop(p->x, fmin(1, ++p->asked / p->expected));
}

static void put_between(struct table *rows, const struct trials_between *b)
{
    table_put_number(rows, "interrupts", b->interrupts);
    table_put_number(rows, "faults", b->faults);
    table_put_number(rows, "switches", b->switches);
    table_put_number(rows, "steal_ms", b->steal_ms);
    table_put_number(rows, "smis", b->smis);
}

static int put_trials(const struct cell *c, const struct trials_result *r, unsigned n, const char *told,
                      struct table *rows, struct machine_error *err)
{
    double *scratch = malloc(n * sizeof *scratch);
    char key[VARIABILITY_KEY];
    if (!scratch)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    struct repeatability all = repeatability_of(r->duration, n, r->seen.resolution, scratch);
    struct variability_kept kept = {
        told, (double)r->seen.rounds, (double)r->bytes,
        repeatability_of(r->duration + all.to_mode, n - all.to_mode, r->seen.resolution, scratch)};
    free(scratch);
    table_add_row(rows);
    variability_put_keys(c, rows);
    table_put_text(rows, "unit", r->seen.cycles ? "cycles" : "ns");
    table_put_number(rows, "resolution", r->seen.resolution / all.mode);
    variability_put(rows, &all);
    put_between(rows, &r->seen.between);
    table_put_number(rows, "discarded", r->seen.discarded);
    variability_key(variability_workloads[c->number[1]], c->number[0], key);
    table_set_detail_json(rows, key, variability_to_json(&kept), 9);
    return MACHINE_OK;
}

static int variability_measure(const struct tables_context *x, const struct cell *c, struct table *rows,
                               struct machine_error *err)
{
    const struct tables_options *o = x->options;
    const bool masked = c->number[0] == REFINED_MASKED;
    struct variability_progress progress = {x, 0, fmax(1, c->seconds * 50)};
    struct trials_setup s = {.machine = tables_setup(x, "variability", c),
                             .request = {.workload = workloads[c->number[1]].workload,
                                         .before = workloads[c->number[1]].before,
                                         .trial_us = masked ? fmin(trial_us(o), MASKED_US_MOST) : trial_us(o),
                                         .trials = trials_wanted(o),
                                         .masked = masked,
                                         .stop = variability_stop,
                                         .data = &progress},
                             .place = workloads[c->number[1]].place};
    struct trials_result r;
    char told[TABLES_TOLD_MAX] = "";
    int status = o->refine ? o->refine(o->refine_data, (enum refinement)c->number[0], told, err) : MACHINE_OK;
    if (status == MACHINE_OK)
        status = trials_measure(x->machine, &s, &r, err);
    if (status == MACHINE_CANNOT) {
        table_add_missing_error(rows, err);
        variability_put_keys(c, rows);
        return MACHINE_OK;
    }
    if (status != MACHINE_OK)
        return status;
    status = put_trials(c, &r, s.request.trials, told, rows, err);
    free(r.duration);
    return status;
}

/* ---- views and pictures ---- */

static void put_percent(struct pivot *p, double fraction)
{
    char text[VARIABILITY_TEXT];
    pivot_mark(p, variability_percent(fraction, text));
}

static void put_spread(struct pivot *p, const struct table *t, size_t row)
{
    put_percent(p, table_number(t, row, "spread"));
}

static void put_p99(struct pivot *p, const struct table *t, size_t row)
{
    put_percent(p, table_number(t, row, "p99"));
}

static bool is_measured(const struct table *t, size_t row)
{
    return !table_says(t, row, "refinement", refinement_names[REFINED_WARM]);
}

/* A row of the last refinement that its workload was measured at. */
static bool is_last(const struct table *t, size_t row)
{
    for (size_t i = row + 1; i < t->n_rows; i++)
        if (is_measured(t, i) && table_same(t, row, i, "workload"))
            return false;
    return is_measured(t, row);
}

static const struct pivot_field refinement[] = {{"refinement", "refinement", PIVOT_PLAIN, NULL}};
static const struct pivot_field modes[] = {
    {"workload", "workload", PIVOT_PLAIN, NULL}, {"refinement", "refinement", PIVOT_PLAIN, NULL},
    {"trials", "trials", PIVOT_PLAIN, NULL},     {"mode", "mode", PIVOT_PLAIN, NULL},
    {"unit", "unit", PIVOT_PLAIN, NULL},         {"trials to it", "to_mode", PIVOT_PLAIN, NULL},
};
static const struct pivot_field disturbances[] = {
    {"refinement", "refinement", PIVOT_PLAIN, NULL}, {"interrupts", "interrupts", PIVOT_SUM, NULL},
    {"page faults", "faults", PIVOT_SUM, NULL},      {"switches", "switches", PIVOT_SUM, NULL},
    {"steal ms", "steal_ms", PIVOT_SUM, NULL},       {"SMIs", "smis", PIVOT_SUM, NULL},
    {"discarded", "discarded", PIVOT_SUM, NULL},
};
static const struct pivot_list views[] = {
    {.title = "Spread: (slowest - fastest) / fastest",
     .n_names = 1,
     PIVOT_FIELDS(refinement),
     .across.column = "workload",
     .cell.put = put_spread},
    {.title = "99 of 100 trials are no farther from the mode than",
     .n_names = 1,
     PIVOT_FIELDS(refinement),
     .across.column = "workload",
     .cell.put = put_p99},
    {.title = "The most frequent duration", .shows = is_last, .n_names = 2, PIVOT_FIELDS(modes)},
    {.title = "Disturbances, in all trials of all workloads",
     .shows = is_measured,
     .once = "refinement",
     .n_names = 1,
     PIVOT_FIELDS(disturbances)},
};

static void print_published(FILE *out, bool colour)
{
    struct pivot p;
    pivot_init(&p, 1, "Published, not measured here: %s", VARIABILITY_PUBLISHED_AS);
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "there");
    pivot_word(&p, "here");
    pivot_word(&p, "spread");
    for (size_t i = 0; i < VARIABILITY_PUBLISHED; i++) {
        enum refinement r = variability_published[i].refinement;
        pivot_line(&p, PIVOT_ASIDE);
        pivot_word(&p, variability_published[i].version);
        pivot_word(&p, r < REFINEMENTS ? refinement_names[r] : "boot option nohz_full");
        put_percent(&p, variability_published[i].spread);
    }
    pivot_print(out, colour, &p);
}

static void print_in_force(FILE *out, const struct table *t)
{
    char told[TABLES_TOLD_MAX];
    struct repeatability ignored;
    for (unsigned r = 0; r < REFINED_WARM; r++)
        for (size_t w = 0; w < VARIABILITY_WORKLOADS; w++) {
            if (!variability_from_json(variability_detail(t, variability_workloads[w], r), told, &ignored))
                continue;
            if (told[0])
                pivot_note(out, 2, "%s: %s", refinement_names[r], told);
            break;
        }
}

/* What was published, and what was in force at each refinement. */
static void variability_print(FILE *out, bool colour, const struct table *t)
{
    print_published(out, colour);
    print_in_force(out, t);
}

/* The outermost of what is drawn; what is 0 has no place on a logarithmic axis and is drawn at its beginning. */
static void widen(double percent, double *lo, double *hi)
{
    if (percent > 0 && isfinite(percent)) {
        *lo = fmin(*lo, percent);
        *hi = fmax(*hi, percent);
    }
}

static void find_axis(const struct table *t, struct chart *c)
{
    double lo = INFINITY, hi = -INFINITY;
    for (size_t row = 0; row < t->n_rows; row++) {
        widen(100 * table_number(t, row, "spread"), &lo, &hi);
        widen(100 * table_number(t, row, "p99"), &lo, &hi);
    }
    for (size_t i = 0; i < VARIABILITY_PUBLISHED; i++)
        widen(100 * variability_published[i].spread, &lo, &hi);
    c->one_axis = true;
    c->x_lo = pow(10, floor(log10(lo)));
    c->x_hi = pow(10, ceil(log10(hi) + 0.7)); /* room for the numbers behind the bars */
}

static void add_percent(struct chart *c, struct chart_panel *p, const char *category, double fraction,
                        struct chart_bar look, bool told)
{
    char text[VARIABILITY_TEXT];
    struct estimate e = {fmax(100 * fraction, c->x_lo), NAN, NAN};
    if (isfinite(fraction))
        chart_add_row(c, p, category, &e, look, told ? variability_percent(fraction, text) : "");
}

/* What the source has for a refinement. Its last row, dynamic ticks, is a boot option and none that this table has. */
static void draw_published(struct chart *c, struct chart_panel *p, unsigned r)
{
    for (size_t i = 0; i < VARIABILITY_PUBLISHED; i++)
        if (variability_published[i].refinement == r)
            add_percent(c, p, refinement_names[r], variability_published[i].spread,
                        (struct chart_bar){.colour = CHART_MUTED, .hatched = true, .lane = 1, .lanes = 2}, true);
}

static void draw_workload(const struct table *t, struct chart *c, const char *workload, bool published)
{
    int lanes = published ? 2 : 1;
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, workload, "% of the fastest trial", "");
    if (!p)
        return;
    p->log_x = true;
    for (unsigned r = 0; r < REFINEMENTS; r++) {
        size_t row = variability_row(t, workload, (enum refinement)r);
        if (published)
            draw_published(c, p, r);
        if (row == t->n_rows)
            continue;
        add_percent(c, p, refinement_names[r], table_number(t, row, "spread"), (struct chart_bar){.lanes = lanes},
                    true);
        add_percent(c, p, refinement_names[r], table_number(t, row, "p99"),
                    (struct chart_bar){.colour = CHART_INK, .dot = true, .lanes = lanes}, false);
    }
    if (published) {
        chart_add_legend(c, p, "spread of all trials", 0);
        chart_add_legend(c, p, "distance from the mode of 99 in 100", CHART_INK);
        chart_add_legend(c, p, "hatched: published, " VARIABILITY_PUBLISHED_AS, CHART_MUTED);
    }
}

static void variability_plot(const struct table *t, struct chart *c)
{
    find_axis(t, c);
    for (size_t w = 0; w < VARIABILITY_WORKLOADS; w++)
        if (table_find(t, "workload", variability_workloads[w]) < t->n_rows)
            draw_workload(t, c, variability_workloads[w], w == 0);
}

#define VARIABILITY_ONE_CORE "it measures one core as it is found; --interference keeps others busy"

const struct table_kind table_variability = {
    .name = "variability",
    .title = "Repeatability of the core, by refinement of the environment",
    .about = "how repeatable the duration of one piece of code is, on this machine as it is and made quieter",
    .method = "Each workload runs again and again, a fixed number of rounds between two readings of the clock, while "
              "the environment is refined step by step (Kozak 2020, 3.2 to 3.10, 4.2). If the clock does not count "
              "cycles, durations include changes of the frequency.",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"workload", "refinement", "trials", "mode", "spread", "p50", "p90", "p99", "max"},
    .refines = true,
    .excluded = {[CHOICE_WARMUP] = "its trials show how the core warms up",
                 [CHOICE_SIBLINGS] = VARIABILITY_ONE_CORE,
                 [CHOICE_CORUNNER] = VARIABILITY_ONE_CORE,
                 [CHOICE_CORUNNER_SAME] = VARIABILITY_ONE_CORE,
                 [CHOICE_CORES] = VARIABILITY_ONE_CORE,
                 [CHOICE_KERNELS] = "it has workloads of its own",
                 [CHOICE_PERIOD] = "a trial is timed as a whole; --observe is its length"},
    .plan = variability_plan,
    .measure = variability_measure,
    .conclude = variability_conclude,
    TABLE_KIND_VIEWS(views),
    .print = variability_print,
    .findings = variability_findings,
    .plot = variability_plot,
};
