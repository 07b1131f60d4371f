/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The throttled phases after each switch, with all cores active against few, and how far from a wide instruction
 * scalar code is throttled, too: one wide instruction in every N, the rest adds that depend on each other.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "tables/switches/throttle/throttle.h"
#include "tables/registry.h"
#include "tables/switches/switches.h"
#include "tables/table/estimates.h"
#include "util/order.h"

enum { PART_PHASE = 0, PART_DISTANCE = 1 };
#define RESIDUAL_REPORTED 0.05 /* above it the rates do not quite follow from one distance ... */
#define RESIDUAL_PART 0.25     /* ... and not at all where they are off by such a part of what it changes */

static const struct table_column columns[] = {
    {"from", "", TABLE_TEXT, true, 0},
    {"to", "", TABLE_TEXT, true, 0},
    {"active_cores", "", TABLE_WHOLE, true, 0},
    {"part", "", TABLE_TEXT, true, 0},   /* phase; distance: one N; reach: what all N of a kernel come to */
    {"phase", "", TABLE_WHOLE, true, 0}, /* 1, 2, ...; 0: none was found; missing: the data do not decide */
    TABLE_LIMITS("duration_us", "us", 1),
    TABLE_LIMITS("ipc_ratio", "", 3),
    TABLE_LIMITS("distance", "instructions", 1),
    {"n", "", TABLE_WHOLE, false, 0},
    {"runs", "", TABLE_WHOLE, false, 0},
    {"discarded", "", TABLE_WHOLE, false, 0},
    {"detectable", "", TABLE_TEXT, false, 0},
    {"note", "", TABLE_TEXT, false, 0},
};

static const struct switches_wish wishes[] = {{.runs = 50, .fall_only = true},
                                              {.runs = 12, .fall_only = true}}; /* in brief */

/* ---- cells ---- */

/* One wide instruction in so many: dense where published distances lie, and far enough beyond to see them by. */
static const unsigned spacings[] = {2, 8, 32, 50, 64, 70, 75, 80, 90, 100, 128, 160, 200};
static const unsigned spacings_brief[] = {2, 32, 64, 100, 150, 200};

static bool is_wanted(const struct tables_options *o, const char *chained)
{
    size_t length = strcspn(chained, "-");
    for (size_t i = 0; i < o->n_kernels; i++)
        if (strcspn(o->kernels[i].name, "-@") == length && strncmp(o->kernels[i].name, chained, length) == 0)
            return true;
    return !o->n_kernels;
}

static int add_distances(const struct tables_context *x, struct cells *out, unsigned cores)
{
    static const char *const chained[] = {"256or-chain", "512or-chain"};
    const unsigned *n = x->options->brief ? spacings_brief : spacings;
    size_t count = x->options->brief ? sizeof spacings_brief / sizeof *n : sizeof spacings / sizeof *n;
    const struct switches_wish *w = &wishes[x->options->brief];
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < count; i++) {
            struct payload from = kernel_named("64add"), to;
            char name[KERNEL_NAME_MAX];
            snprintf(name, sizeof name, "%.12s@1/%u", chained[k], n[i]);
            if (!is_wanted(x->options, chained[k]) || !tables_can_run(x, name, &to))
                continue;
            if (switches_add(x, out, &from, &to, cores, w))
                return -1;
            out->cell[out->n - 1].number[0] = PART_DISTANCE;
            out->cell[out->n - 1].number[1] = n[i];
        }
    return 0;
}

static int plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    struct payload kernels[TABLES_KERNELS_MAX];
    unsigned cores[TABLES_CORES_MAX];
    const struct switches_wish *w = &wishes[x->options->brief];
    size_t n = tables_kernels(x, tables_usual_kernels, tables_n_usual_kernels, kernels, t);
    n = tables_each_once(kernels, n);
    /* with few active cores the first phase of some processors is longer */
    bool few = !x->options->brief || tables_active_cores(x, CORES_DOUBLED, cores) < 3;
    size_t n_cores = tables_active_cores(x, few ? CORES_ONE_TWO_AND_ALL : CORES_ALL, cores);
    switches_note(x, w, t);
    if (switches_add_all(x, out, kernels, n, cores, n_cores, w) ||
        (n_cores && add_distances(x, out, cores[n_cores - 1])))
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    return MACHINE_OK;
}

/* ---- one cell ---- */

enum { UNDECIDED = UINT_MAX };

static void start_row(struct table *rows, const struct cell *c, const struct switches_seen *s, unsigned phase)
{
    table_add_row(rows);
    switches_put_keys(rows, c, s);
    table_put_text(rows, "part", c->number[0] == PART_DISTANCE ? "distance" : "phase");
    if (phase != UNDECIDED)
        table_put_number(rows, "phase", phase);
    if (c->number[0] == PART_DISTANCE)
        table_put_number(rows, "distance", c->number[1]);
    if (s->phases.n_warnings)
        table_put_text(rows, "note", s->phases.warnings[0]);
}

static void put_phase(struct table *rows, const struct cell *c, const struct switches_seen *s, size_t p,
                      unsigned number)
{
    const struct phase *phase = &s->phases.phases[p];
    bool ramp = phases_rate_ramps(phase);
    struct estimate ratio = ramp ? phases_ramp_ratio(phase)
                                 : transition_throttle_ratio(&s->result.trace, &s->phases, p);
    start_row(rows, c, s, number);
    table_put_limits(rows, "duration_us", phase->duration_us.value, phase->duration_us.lo, phase->duration_us.hi);
    if (ramp) {
        char note[200];
        snprintf(note, sizeof note,
                 "a ramp: the rate rises from %.2f of the full one, time constant %.0f us [%.0f, %.0f]; duration_us is "
                 "until it is within 0.1 %%, ipc_ratio the mean",
                 phase->rate_ramp.from.value, phase->rate_ramp.tau_us.value, phase->rate_ramp.tau_us.lo,
                 phase->rate_ramp.tau_us.hi);
        table_put_text(rows, "note", note);
    }
    estimates_put(rows, "ipc_ratio", ratio);
    table_put_number(rows, "n", (double)phase->agreeing_runs);
}

static void put_none(struct table *rows, const struct cell *c, const struct switches_seen *s)
{
    struct transition_summary sum;
    transition_summarize(&s->result.trace, &s->phases, &sum);
    start_row(rows, c, s, sum.kind == SWITCH_UNDECIDED ? UNDECIDED : 0);
    table_put_number(rows, "n", (double)s->phases.runs_used);
    if (sum.detectable[0])
        table_put_text(rows, "detectable", sum.detectable);
    if (sum.kind == SWITCH_UNDECIDED && sum.phases[0])
        table_put_text(rows, "note", sum.phases);
}

/* A throttled phase that most of the repetitions show, that surely takes time, and is no milder than can be
 * reported. */
static bool is_certain(const struct switches_seen *s, size_t p)
{
    const struct phase *phase = &s->phases.phases[p];
    if (phases_rate_ramps(phase))
        return phase->rate_ramp.from.value < phase->rate_ramp.to.value;
    if (phase->kind != PHASE_THROTTLE || 2 * phase->agreeing_runs < s->phases.runs_used ||
        !(phase->duration_us.value > 0) || phase->duration_us.lo <= 0)
        return false;
    struct estimate ratio = transition_throttle_ratio(&s->result.trace, &s->phases, p);
    /* half of the repetitions show an effect at that limit in 95 of 100 cases; here all of them count */
    double mildest = 1 - (1 - s->phases.detectable_throttle) / sqrt(2);
    return !(ratio.hi >= 1) && !(ratio.value > mildest);
}

static int put_rows(struct table *rows, const struct cell *c, const struct switches_seen *s, struct machine_error *err)
{
    (void)err;
    unsigned number = 0;
    /* throttling until the end looks like full rate, and distorts everything before it */
    if (s->unsettled[0]) {
        start_row(rows, c, s, UNDECIDED);
        table_put_number(rows, "n", (double)s->phases.runs_used);
        return MACHINE_OK;
    }
    for (size_t p = transition_first_phase_after_switch(&s->phases); p < s->phases.n_phases; p++)
        if (is_certain(s, p) && (c->number[0] == PART_PHASE || number == 0))
            put_phase(rows, c, s, p, ++number);
    if (!number)
        put_none(rows, c, s);
    return MACHINE_OK;
}

static int measure(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err)
{
    return switches_measure_rows(x, table_throttle.name, c, &wishes[x->options->brief], put_rows, rows, err);
}

/* ---- distances ---- */

/* A first phase is the usual one where its duration is, within this part of it and so many us: edges are known to half
 * a sample. */
#define DURATION_SAME 0.25
#define DURATION_SAME_US 0.5

/* Returns true if two rows are of one kernel, whatever its density, in the distance part. */
static bool same_series(const struct table *t, size_t a, size_t b)
{
    const char *to_a = table_text(t, a, "to"), *to_b = table_text(t, b, "to");
    if (!table_says(t, a, "part", "distance") || !table_says(t, b, "part", "distance") || !to_a || !to_b ||
        !table_text(t, a, "from") || !table_same(t, a, b, "from") || switches_cores(t, a) != switches_cores(t, b))
        return false;
    size_t length = strcspn(to_a, "@");
    return strcspn(to_b, "@") == length && strncmp(to_a, to_b, length) == 0;
}

static void explain(const struct throttle_reach *r, size_t seen, size_t undecided, double farthest, char *out,
                    size_t size)
{
    if (seen == 0 && undecided)
        snprintf(out, size, "%zu of the distances are undecided, at the others no throttling was found", undecided);
    else if (seen == 0)
        snprintf(out, size, "no throttling was found at any distance");
    else if (!r)
        snprintf(out, size, "throttling was found at only %zu of the distances, too few to find its reach", seen);
    else if (isfinite(r->distance.value) && r->residual > RESIDUAL_REPORTED)
        snprintf(out, size, "rates differ by up to %.0f %% from those of a single reach", 100 * r->residual);
    else if (!isfinite(r->distance.value) && isfinite(r->distance.lo))
        snprintf(out, size, "all adds are throttled, up to %.0f after a wide instruction", farthest);
    else if (!isfinite(r->distance.value))
        snprintf(out, size, "the rate rises from the smallest distance");
    else
        out[0] = '\0';
}

static bool follows(const struct throttle_reach *r)
{
    return !isfinite(r->distance.value) || r->residual <= RESIDUAL_REPORTED || r->residual <= RESIDUAL_PART * r->change;
}

static void put_reach(struct table *t, size_t first, const struct throttle_reach *r, size_t undecided, const char *note)
{
    char to[KERNEL_NAME_MAX];
    const char *name = table_text(t, first, "to");
    snprintf(to, sizeof to, "%.*s", (int)strcspn(name, "@"), name);
    unsigned cores = switches_cores(t, first);
    table_add_row(t);
    table_put_text(t, "from", table_text(t, first, "from"));
    table_put_text(t, "to", to);
    table_put_number(t, "active_cores", cores);
    table_put_text(t, "part", "reach");
    bool decided = r ? follows(r) : !undecided;
    if (decided)
        table_put_number(t, "phase", r ? 1 : 0);
    if (note[0])
        table_put_text(t, "note", note);
    if (!decided || !r)
        return;
    table_put_limits(t, "distance", r->distance.value, r->distance.lo, r->distance.hi);
    table_put_number(t, "ipc_ratio", r->ratio);
    table_put_number(t, "n", (double)r->n);
}

/* How long the first throttled phase of a series usually is, us; NaN: there is none. scratch: as long as the table. */
static double usual_duration(const struct table *t, size_t first, double *scratch)
{
    size_t n = 0;
    for (size_t row = first; row < t->n_rows; row++)
        if (same_series(t, first, row) && table_number(t, row, "phase") == 1)
            scratch[n++] = table_number(t, row, "duration_us");
    return order_median(scratch, n);
}

/* Returns true if a row of a series counts for its reach: it is the first phase of a distance, or there is none. A
 * phase that lasts much longer or shorter than usual is another one, or two that are seen as one, of another ratio. */
static bool comparable(const struct table *t, size_t row, double usual_us)
{
    double us = table_number(t, row, "duration_us");
    return !(table_number(t, row, "phase") > 1) &&
           (isnan(us) || fabs(us - usual_us) <= DURATION_SAME_US + DURATION_SAME * usual_us);
}

/* The series that begins at a row: its reach becomes a row after all others. */
static int conclude_series(struct table *t, size_t first)
{
    struct throttle_point *p = calloc(t->n_rows + 1, sizeof *p);
    double *scratch = calloc(t->n_rows + 1, sizeof *scratch);
    struct throttle_reach reach;
    size_t n = 0, seen = 0, undecided = 0;
    double farthest = 0, usual_us = scratch ? usual_duration(t, first, scratch) : NAN;
    char note[160];
    bool bad = !p || !scratch;
    free(scratch);
    if (bad) {
        free(p);
        return -1;
    }
    for (size_t row = first; row < t->n_rows; row++)
        if (same_series(t, first, row) && comparable(t, row, usual_us)) {
            p[n] = (struct throttle_point){table_number(t, row, "distance"), table_number(t, row, "ipc_ratio")};
            seen += isfinite(p[n].ratio);
            undecided += isnan(table_number(t, row, "phase"));
            farthest = fmax(farthest, p[n++].spacing);
        }
    const int missed = throttle_reach_find(p, n, &reach);
    const bool found = missed == 0;
    free(p);
    if (missed > 0)
        return -1;
    explain(found ? &reach : NULL, seen, undecided, farthest, note, sizeof note);
    put_reach(t, first, found ? &reach : NULL, undecided, note);
    return 0;
}

static int conclude(struct table *t)
{
    size_t measured = t->n_rows;
    for (size_t row = 0; row < measured; row++) {
        size_t before = 0;
        while (before < row && !same_series(t, before, row))
            before++;
        if (before == row && same_series(t, row, row) && conclude_series(t, row))
            return -1;
    }
    return t->failed ? -1 : 0;
}

const struct table_kind table_throttle = {
    .name = "throttle",
    .title = "Throttling: how long, to what fraction of the rate, and how far from a wide instruction",
    .about = "throttled phases of each pair of kernels, few cores against all; reach into scalar code",
    .method = "The throttled phases of each transition: how long they last, and their instructions per cycle relative "
              "to the same code at full rate (G 3.2.2). The reach of throttling is found with one wide instruction in "
              "every N dependent scalar adds, N from 2 to 200: beyond the reach, adds run at full speed.",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"from", "to", "active_cores", "part", "phase", "duration_us", "ipc_ratio", "distance"},
    .drafted = {.keys = {"from", "to", "active_cores", "part", "phase"},
                .values = {"duration_us", "ipc_ratio", "distance"},
                .only = "part",
                .is = "phase,reach"},
    .exported = EXPORT_THROTTLING,
    .plan = plan,
    .measure = measure,
    .conclude = conclude,
    .print = throttle_print,
    .findings = throttle_findings,
    .plot = throttle_plot,
};
