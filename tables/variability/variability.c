/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table variability: how repeatable a core is (S. Kozak, Chasing Zero Variability in Software Performance, MIT,
 * 2020): one piece of code, run again and again in an environment that is refined step by step.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/repeatability.h"
#include "probes/trials.h"
#include "tables/registry.h"
#include "util/text_list.h"

/* Trials of a cell: those of --runs at most so many, whose durations take no more than a megabyte. */
enum { RUNS = 1000, RUNS_BRIEF = 100, RUNS_MOST = 100000 };
static const double TRIAL_US = 300; /* a trial, us: shorter than the time between two timer interrupts, 1 to 4 ms */
static const double MASKED_US_MOST = 5000; /* a trial with interrupts masked, us: the helper masks for no longer */
/* The expected time of cells on silicon: spoiling before each trial, us; the rest of a cell, s; and the buffer of
 * loads, which is filled first, bytes a second. */
static const double SPOIL_US = 60, CELL_SECONDS = 0.02, BYTES_A_SECOND = 2e9;

/* ---- workloads, rows, texts ---- */

enum { N_WORKLOADS = 8 };
static const struct {
    const char *name;
    enum workload_number workload;
    enum trials_before before;
    enum trials_place place;
    bool brief; /* one of those that --brief has */
} workloads[N_WORKLOADS] = {
    {"register", WORKLOAD_REGISTER, TRIALS_NOTHING, TRIALS_NOWHERE, true},
    {"branch-cold", WORKLOAD_BRANCH, TRIALS_SPOIL, TRIALS_NOWHERE, true},
    {"branch-warm", WORKLOAD_BRANCH, TRIALS_NOTHING, TRIALS_NOWHERE, true},
    {"branch-ibpb", WORKLOAD_BRANCH, TRIALS_IBPB, TRIALS_NOWHERE, false},
    {"L1@mem", WORKLOAD_LOAD, TRIALS_NOTHING, TRIALS_L1, true},
    {"L2@mem", WORKLOAD_LOAD, TRIALS_NOTHING, TRIALS_L2, false},
    {"L3@mem", WORKLOAD_LOAD, TRIALS_NOTHING, TRIALS_L3, false},
    {"memory@mem", WORKLOAD_LOAD, TRIALS_NOTHING, TRIALS_MEMORY, false},
};

/* The source's table 3.1: of 1e9 cycles on a Cortex-A72, the workload register. Not a measurement. */
static const struct {
    const char *version; /* as it is called there */
    enum refinement refinement;
    double spread; /* fraction */
} published[] = {
    {"busy system", REFINED_BUSY, 100},
    {"quiet system", REFINED_QUIET, 1e-7},
    {"kernel module", REFINED_MASKED, 0},
    {"user space w/o dyn. ticks", REFINED_IRQS_AWAY, 1e-5},
    {"user space w/ dyn. ticks", REFINED_TICKLESS, 0},
};
#define PUBLISHED_AS "Kozak 2020, table 3.1: 1e9 cycles on a Cortex-A72"

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

/* The row of a workload at a refinement; t->n_rows: there is none. */
static size_t row_of(const struct table *t, const char *workload, enum refinement r)
{
    size_t row = 0;
    while (row < t->n_rows &&
           !(table_says(t, row, "workload", workload) && table_says(t, row, "refinement", tables_refinement_names[r])))
        row++;
    return row;
}

/* A fraction as percentage in few characters: "0 %", "0.000026 %", "3.4 %", "8100 %"; "-": not known. Returns `out`. */
enum { PERCENT_TEXT = 24 };
static const char *percent_text(double fraction, char out[PERCENT_TEXT])
{
    double percent = 100 * fraction;
    if (!isfinite(fraction))
        snprintf(out, PERCENT_TEXT, "-");
    else if (percent != 0 && fabs(percent) < 1e-7)
        snprintf(out, PERCENT_TEXT, "%.1e %%", percent);
    else {
        int decimals = percent == 0 ? 0 : 1 - (int)floor(log10(fabs(percent)));
        snprintf(out, PERCENT_TEXT, "%.*f %%", decimals > 0 ? decimals : 0, percent);
    }
    return out;
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

/* True if it is one; *in_force (may be NULL, else TABLES_IN_FORCE_MAX) and *warm are then its contents. */
static bool read_kept(const char *json, char *in_force, struct repeatability *warm)
{
    json_int_t n = 0;
    const char *text = "";
    json_t *j = json_loads(json ? json : "", 0, NULL);
    *warm = (struct repeatability){0};
    bool read = j && json_unpack(j, "{s:s, s:{s:I, s:F, s:F, s:F, s:F, s:F, s:F}}", "in_force", &text, "warm", "trials",
                                 &n, "mode", &warm->mode, "spread", &warm->spread, "p50", &warm->p50, "p90", &warm->p90,
                                 "p99", &warm->p99, "max", &warm->max) == 0;
    if (read && in_force)
        snprintf(in_force, TABLES_IN_FORCE_MAX, "%s", text);
    warm->n = n > 0 ? (size_t)n : 0;
    json_decref(j);
    return read && n > 0 && warm->mode > 0 && warm->spread >= 0;
}

/* The name of that detail; returns `out`. */
enum { KEY_SIZE = 60 };
static const char *detail_key(const char *workload, unsigned refinement, char out[KEY_SIZE])
{
    snprintf(out, KEY_SIZE, "%s/%s", workload, tables_refinement_names[refinement]);
    return out;
}

/* The detail itself; NULL: there is none. */
static const char *detail_of(const struct table *t, const char *workload, unsigned refinement)
{
    char key[KEY_SIZE];
    return table_detail(t, detail_key(workload, refinement, key));
}

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
    struct cell *c = tables_add_cell(out, NULL, NULL, 1, "%s.%s", tables_refinement_names[r], workloads[w].name);
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
        for (unsigned w = 0; w < N_WORKLOADS && status == MACHINE_OK; w++)
            if (!x->options->brief || workloads[w].brief)
                status = plan_cell(x, r, w, out, err);
    }
    return status;
}

/* ---- measuring ---- */

static void put_keys(const struct cell *c, struct table *rows)
{
    table_put_text(rows, "workload", workloads[c->number[1]].name);
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

static int put_trials(const struct cell *c, const struct trials_result *r, unsigned n, const char *in_force,
                      struct table *rows, struct machine_error *err)
{
    double *scratch = malloc(n * sizeof *scratch);
    char key[KEY_SIZE];
    if (!scratch)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    struct repeatability all = repeatability_of(r->duration, n, r->seen.resolution, scratch);
    struct kept kept = {in_force, (double)r->seen.rounds, (double)r->bytes,
                        repeatability_of(r->duration + all.to_mode, n - all.to_mode, r->seen.resolution, scratch)};
    free(scratch);
    table_add_row(rows);
    put_keys(c, rows);
    table_put_text(rows, "unit", r->seen.cycles ? "cycles" : "ns");
    table_put_number(rows, "resolution", r->seen.resolution / all.mode);
    put_result(rows, &all);
    put_between(rows, &r->seen.between);
    table_put_number(rows, "discarded", r->seen.discarded);
    detail_key(workloads[c->number[1]].name, c->number[0], key);
    table_set_detail_json(rows, key, kept_json(&kept), 9);
    return MACHINE_OK;
}

static int measure(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err)
{
    const struct tables_options *o = x->options;
    const bool masked = c->number[0] == REFINED_MASKED;
    struct progress progress = {x, 0, fmax(1, c->seconds * 50)};
    struct trials_setup s = {.machine = tables_setup(x, "variability", c),
                             .request = {.workload = workloads[c->number[1]].workload,
                                         .before = workloads[c->number[1]].before,
                                         .trial_us = masked ? fmin(trial_us(o), MASKED_US_MOST) : trial_us(o),
                                         .trials = trials_wanted(o),
                                         .masked = masked,
                                         .stop = on_stop,
                                         .data = &progress},
                             .place = workloads[c->number[1]].place};
    struct trials_result r;
    char in_force[TABLES_IN_FORCE_MAX] = "";
    int status = o->refine ? o->refine(o->refine_data, (enum refinement)c->number[0], in_force, err) : MACHINE_OK;
    if (status == MACHINE_OK)
        status = trials_measure(x->machine, &s, &r, err);
    if (status == MACHINE_CANNOT) {
        table_add_missing_error(rows, err);
        put_keys(c, rows);
        return MACHINE_OK;
    }
    if (status != MACHINE_OK)
        return status;
    status = put_trials(c, &r, s.request.trials, in_force, rows, err);
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
        size_t row = row_of(t, workload, (enum refinement)r);
        if (row < t->n_rows && read_kept(detail_of(t, workload, r), NULL, &warm) &&
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
    for (size_t w = 0; w < N_WORKLOADS && in_force[0] == '\0'; w++)
        if (!read_kept(detail_of(t, workloads[w].name, r), in_force, &ignored))
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
    for (size_t w = 0; w < N_WORKLOADS; w++) {
        const char *workload = workloads[w].name;
        struct repeatability warm;
        char key[KEY_SIZE], kept_unit[20];
        size_t best = best_warm(t, workload, &warm);
        if (best == t->n_rows || row_of(t, workload, REFINED_WARM) < t->n_rows)
            continue;
        const char *unit = table_text(t, best, "unit"), *of = table_text(t, best, "refinement");
        double resolution = table_number(t, best, "resolution") * table_number(t, best, "mode") / warm.mode;
        detail_key(workload, REFINED_WARM, key);
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

/* ---- findings ---- */

static void tell_workload(FILE *out, const struct table *t, const char *workload)
{
    char from[PERCENT_TEXT], to[PERCENT_TEXT];
    size_t first = t->n_rows, best = t->n_rows;
    for (unsigned r = 0; r < REFINED_WARM; r++) {
        size_t row = row_of(t, workload, (enum refinement)r);
        if (row == t->n_rows || !isfinite(table_number(t, row, "spread")))
            continue;
        first = first == t->n_rows ? row : first;
        if (best == t->n_rows || table_number(t, row, "spread") < table_number(t, best, "spread"))
            best = row;
    }
    if (first == t->n_rows)
        return;
    fprintf(out, "%s: the slowest of %.0f trials took %s longer than the fastest (%s)", workload,
            table_number(t, first, "trials"), percent_text(table_number(t, first, "spread"), from),
            table_text(t, first, "refinement"));
    if (best != first)
        fprintf(out, ", at best %s (%s)", percent_text(table_number(t, best, "spread"), to),
                table_text(t, best, "refinement"));
    fprintf(out, ".\n");
}

static void findings(FILE *out, const struct table *t)
{
    tell_workload(out, t, "register");
    tell_workload(out, t, "memory@mem");
    if (table_find(t, "unit", "ns") < t->n_rows)
        fprintf(out,
                "Durations are measured by time stamps, so they include changes of the core\xE2\x80\x99s frequency.\n");
}

/* ---- views and pictures ---- */

static void put_percent(struct pivot *p, double fraction)
{
    char text[PERCENT_TEXT];
    pivot_mark(p, percent_text(fraction, text));
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
    return !table_says(t, row, "refinement", tables_refinement_names[REFINED_WARM]);
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
    pivot_init(&p, 1, "Published, not measured here: %s", PUBLISHED_AS);
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "there");
    pivot_word(&p, "here");
    pivot_word(&p, "spread");
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        pivot_line(&p, PIVOT_ASIDE);
        pivot_word(&p, published[i].version);
        pivot_word(&p, tables_refinement_names[published[i].refinement]);
        put_percent(&p, published[i].spread);
    }
    pivot_print(out, colour, &p);
}

static void print_in_force(FILE *out, const struct table *t)
{
    char in_force[TABLES_IN_FORCE_MAX];
    struct repeatability ignored;
    for (unsigned r = 0; r < REFINED_WARM; r++)
        for (size_t w = 0; w < N_WORKLOADS; w++) {
            if (!read_kept(detail_of(t, workloads[w].name, r), in_force, &ignored))
                continue;
            if (in_force[0])
                pivot_note(out, 2, "%s: %s", tables_refinement_names[r], in_force);
            break;
        }
}

/* Prints what was published, and what was in force at each refinement. */
static void print(FILE *out, bool colour, const struct table *t)
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
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        widen(100 * published[i].spread, &lo, &hi);
    c->one_axis = true;
    c->x_lo = pow(10, floor(log10(lo)));
    c->x_hi = pow(10, ceil(log10(hi) + 0.7)); /* room for the numbers after the bars */
}

static void add_percent(struct chart *c, struct chart_panel *p, const char *category, double fraction,
                        struct chart_bar look, bool labelled)
{
    char text[PERCENT_TEXT];
    struct estimate e = {fmax(100 * fraction, c->x_lo), NAN, NAN};
    if (isfinite(fraction))
        chart_add_row(c, p, category, &e, look, labelled ? percent_text(fraction, text) : "");
}

/* Draws what the source has for a refinement. Its last row, dynamic ticks, is a boot option and none that this table
 * has. */
static void draw_published(struct chart *c, struct chart_panel *p, unsigned r)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        if (published[i].refinement == r)
            add_percent(c, p, tables_refinement_names[r], published[i].spread,
                        (struct chart_bar){.colour = CHART_MUTED, .hatched = true, .lane = 1, .lanes = 2}, true);
}

static void draw_workload(const struct table *t, struct chart *c, const char *workload, bool compared)
{
    int lanes = compared ? 2 : 1;
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, workload, "% of the fastest trial", "");
    if (!p)
        return;
    p->log_x = true;
    for (unsigned r = 0; r < REFINEMENTS; r++) {
        size_t row = row_of(t, workload, (enum refinement)r);
        if (compared)
            draw_published(c, p, r);
        if (row == t->n_rows)
            continue;
        add_percent(c, p, tables_refinement_names[r], table_number(t, row, "spread"),
                    (struct chart_bar){.lanes = lanes}, true);
        add_percent(c, p, tables_refinement_names[r], table_number(t, row, "p99"),
                    (struct chart_bar){.colour = CHART_INK, .dot = true, .lanes = lanes}, false);
    }
    if (compared) {
        chart_add_legend(c, p, "spread of all trials", 0);
        chart_add_legend(c, p, "distance from the mode of 99 in 100", CHART_INK);
        chart_add_legend(c, p, "hatched: published, " PUBLISHED_AS, CHART_MUTED);
    }
}

static void plot(const struct table *t, struct chart *c)
{
    find_axis(t, c);
    for (size_t w = 0; w < N_WORKLOADS; w++)
        if (table_find(t, "workload", workloads[w].name) < t->n_rows)
            draw_workload(t, c, workloads[w].name, w == 0);
}

#define ONE_CORE "it measures one core as it is found; --interference keeps others busy"

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
                 [CHOICE_SIBLINGS] = ONE_CORE,
                 [CHOICE_CORUNNER] = ONE_CORE,
                 [CHOICE_CORUNNER_SAME] = ONE_CORE,
                 [CHOICE_CORES] = ONE_CORE,
                 [CHOICE_KERNELS] = "it has workloads of its own",
                 [CHOICE_PERIOD] = "a trial is timed in one go; --observe is its length"},
    .plan = plan,
    .measure = measure,
    .conclude = conclude,
    TABLE_KIND_VIEWS(views),
    .print = print,
    .findings = findings,
    .plot = plot,
};
