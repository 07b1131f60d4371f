/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a change of the frequency costs, down and up, for each number of active cores, and after which time a change up
 * has paid for itself: the break-even time (Gottschlag's dissertation, "AVX Overhead Mitigation", section 5.2).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/overhead/overhead.h"
#include "tables/registry.h"
#include "tables/table/estimates.h"

static const struct table_column columns[] = {
    {"from", "", TABLE_TEXT, true, 0},
    {"to", "", TABLE_TEXT, true, 0},
    {"active_cores", "", TABLE_WHOLE, true, 0},
    TABLE_LIMITS("down_us", "us", 1),
    TABLE_LIMITS("up_us", "us", 1),
    TABLE_LIMITS("breakeven_us", "us", 0),
    TABLE_LIMITS("high_ghz", "GHz", 3),
    TABLE_LIMITS("low_ghz", "GHz", 3),
    {"down_median_us", "us", TABLE_REAL, false, 1},
    {"down_p95_us", "us", TABLE_REAL, false, 1},
    {"up_median_us", "us", TABLE_REAL, false, 1},
    {"up_p95_us", "us", TABLE_REAL, false, 1},
    {"n", "", TABLE_WHOLE, false, 0}, /* repetitions down that were used */
    {"up_n", "", TABLE_WHOLE, false, 0},
    {"dropped", "", TABLE_WHOLE, false, 0}, /* of both; the details tell why */
    {"assumption", "", TABLE_TEXT, false, 0},
};

/* ---- plan ---- */

/* Those whose transitions were published, 256or for throttling alone, and tiles. */
static const char *const usual[] = {"128fma", "256or", "256fma", "512or", "512fma", "amx"};

/* The wider, then the heavier, then the denser kernel is taken to be the one that requests the lower level. */
static int overhead_by_demand(const void *a, const void *b)
{
    const struct payload *x = a, *y = b;
    if (x->kernel->width != y->kernel->width)
        return x->kernel->width < y->kernel->width ? -1 : 1;
    if (x->kernel->weight != y->kernel->weight)
        return x->kernel->weight < y->kernel->weight ? -1 : 1;
    if (x->density != y->density)
        return x->density > y->density ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int overhead_add_cells(const struct tables_context *x, const struct payload *from, const struct payload *to,
                              struct cells *out)
{
    struct overhead_setup down, up;
    unsigned cores[TABLES_CORES_MAX];
    size_t n = tables_active_cores(x, x->options->brief ? CORES_ONE_AND_ALL : CORES_DOUBLED, cores);
    for (size_t i = 0; i < n; i++) {
        struct cell *c = cells_add(out, from, to, cores[i], "%s_%s_%u", from->name, to->name, cores[i]);
        if (!c)
            return -1;
        overhead_setups(x, c, &down, &up);
        c->seconds = 0.02 + down.runs * 1e-6 * (2 * down.warmup_us + down.before_us + down.observe_us + up.observe_us);
    }
    return 0;
}

static bool wanted(const struct tables_context *x, const struct payload *from, const struct payload *to)
{
    if (x->options->n_kernels)
        return true;
    if (x->options->brief && (!strcmp(to->name, "256or") || !strcmp(from->name, "256fma")))
        return false;
    bool usual_first = strcmp(from->name, "128fma") == 0 || strcmp(from->name, "256fma") == 0;
    return usual_first && to->kernel->width > from->kernel->width;
}

static int overhead_plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    struct payload kernels[TABLES_KERNELS_MAX];
    struct overhead_setup down, up;
    size_t n = tables_kernels(x, usual, sizeof usual / sizeof *usual, kernels, t);
    if (x->options->n_kernels && n == 1)
        return machine_fail(err, MACHINE_BAD_INPUT, "name at least two kernels, as in --kernels 128fma,512fma",
                            "overhead needs two kernels; of the kernels given, only %s can run here", kernels[0].name);
    qsort(kernels, n, sizeof *kernels, overhead_by_demand);
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            if (strcmp(kernels[a].name, kernels[b].name) != 0 && wanted(x, &kernels[a], &kernels[b]) &&
                overhead_add_cells(x, &kernels[a], &kernels[b], out))
                return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    overhead_setups(x, &(struct cell){.cpu = -1}, &down, &up);
    table_set_setting_number(t, "runs", down.runs);
    table_set_setting_number(t, "warmup_us", down.warmup_us);
    table_set_setting_number(t, "period_us", up.period_us);
    table_set_setting_number(t, "observe_us", up.observe_us);
    table_set_setting_number(t, "down_period_us", down.period_us);
    table_set_setting_number(t, "down_observe_us", down.observe_us);
    table_set_setting_number(t, "outliers_us", OVERHEAD_FAR_US);
    return MACHINE_OK;
}

/* ---- measure ---- */

static void overhead_put_row(struct table *t, const struct cell *c, const struct overhead_cell *o,
                             const struct estimate *breakeven)
{
    table_add_row(t);
    tables_put_cell(t, c);
    if (!o->unsettled && !o->moves[0] && !o->down_gains) {
        estimates_put(t, "down_us", o->down.spread.mean);
        table_put_number(t, "down_median_us", o->down.spread.median);
        table_put_number(t, "down_p95_us", o->down.spread.p95);
    }
    if (!o->up_gains) {
        estimates_put(t, "up_us", o->up.spread.mean);
        table_put_number(t, "up_median_us", o->up.spread.median);
        table_put_number(t, "up_p95_us", o->up.spread.p95);
    }
    estimates_put(t, "high_ghz", o->high_ghz);
    estimates_put(t, "low_ghz", o->low_ghz);
    table_put_number(t, "n", (double)o->down.spread.n);
    if (o->levels_differ && !o->moves[0])
        table_put_number(t, "up_n", (double)o->up.spread.n);
    table_put_number(t, "dropped", (double)(overhead_n_dropped(&o->down) + overhead_n_dropped(&o->up)));
    estimates_put(t, "breakeven_us", *breakeven);
    if (isfinite(breakeven->value))
        table_put_text(t, "assumption", overhead_assumption);
}

#define NO_STEP 0.002 /* relative: no processor has steps as small */

/* Why there is no cost down. */
static void overhead_tell_down(struct table *t, const struct cell *c, const struct overhead_cell *o)
{
    const struct estimate *down = &o->down.spread.mean;
    if (o->unsettled)
        tables_cell_missing(t, c,
                            "no settled level after the switch: the rate kept changing for as long as it was "
                            "observed, so the cost down is unknown");
    else if (!o->down.spread.n)
        tables_cell_missing(t, c, "no repetition was free of interruptions; a less busy machine would help");
    else if (o->down_gains && isnan(down->hi))
        tables_cell_missing(t, c,
                            "the first execution took less time than the second (by %.1f us), indistinguishable "
                            "from noise in a single repetition: no cost down; more --runs would help",
                            -down->value);
    else if (o->down_gains)
        tables_cell_missing(
            t, c,
            "the first execution took less time than the second, by %.1f us [%.1f, %.1f]: part of it ran faster before "
            "the core slowed down, so the difference is not a cost and there is no break-even time",
            -down->value, -down->hi, -down->lo);
}

/* Why no change of the frequency was told from none. */
static const char *why_no_step(const struct overhead_cell *o)
{
    const struct estimate *step = &o->step_ghz;
    double least = OVERHEAD_SAME_LEVEL * o->high_ghz.value;
    if (o->second_faster)
        return "the core runs faster with the second kernel: swap the two";
    if (isnan(step->lo))
        return "a single repetition cannot show whether the frequency changes: no cost up, no break-even time; more "
               "--runs would help";
    if (step->hi > least || step->lo < -least)
        return "any change of the frequency is lost in the noise: no cost up, no break-even time; more --runs would "
               "help";
    if (step->lo > NO_STEP * o->high_ghz.value)
        return "the frequencies differ by less than 1 %, too little to tell a change from the effect of the code on "
               "the measurement: no cost up, no break-even time";
    return "no change of frequency, so no cost up and no break-even time";
}

/* Why there is no break-even time. */
static void overhead_tell_missing(struct table *t, const struct cell *c, const struct overhead_cell *o,
                                  const struct estimate *breakeven)
{
    if (o->moves[0]) {
        tables_cell_missing(t, c,
                            OVERHEAD_MOVES " (%s): no cost down, no cost up, no break-even time; measure outside "
                                           "virtual machines, with the other cores idle",
                            o->moves);
        return;
    }
    overhead_tell_down(t, c, o);
    if (!isfinite(o->high_ghz.value) || !isfinite(o->low_ghz.value))
        tables_cell_missing(t, c, "the frequency was not measured: no cost up and no break-even time");
    else if (!o->levels_differ)
        tables_cell_missing(t, c, "%s", why_no_step(o));
    else if (!o->up.spread.n && o->up_gradual)
        tables_cell_missing(t, c,
                            "the core comes back up gradually, not in one step: no cost up and no break-even time "
                            "(the wait and the ramp are in the table relaxation)");
    else if (!o->up.spread.n)
        tables_cell_missing(t, c,
                            "the core did not come back up while observed: no cost up and no break-even time; a "
                            "longer --observe would help");
    else if (o->up_gains)
        tables_cell_missing(
            t, c, "the measured cost of coming back up is negative (%.3g us): no cost up and no break-even time",
            o->up.spread.mean.value);
    else if (!o->unsettled && !o->down_gains && o->down.spread.n && !isfinite(breakeven->value))
        tables_cell_missing(t, c, "the costs are lost in the noise: no break-even time; more --runs would help");
}

static int overhead_measure_table_cell(const struct tables_context *x, const struct cell *c, struct table *rows,
                                       struct machine_error *err)
{
    struct overhead_cell o;
    int status = overhead_cell_measure(x, c, &o, err);
    if (status == MACHINE_OK) {
        struct estimate breakeven = {NAN, NAN, NAN};
        if (o.levels_differ && !o.unsettled && !o.moves[0] && !o.down_gains && !o.up_gains)
            breakeven = overhead_breakeven(&o.down.spread.mean, &o.up.spread.mean, &o.high_ghz, &o.low_ghz);
        overhead_put_row(rows, c, &o, &breakeven);
        overhead_tell_missing(rows, c, &o, &breakeven);
        char *json = overhead_cell_json(&o);
        if (json)
            table_set_detail(rows, c->id, json);
        else
            status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
        free(json);
    }
    overhead_cell_free(&o);
    return status;
}

const struct table_kind table_overhead = {
    .name = "overhead",
    .title = "Overhead of frequency changes, and break-even times",
    .about = "what a frequency change costs, down and up, and the break-even time",
    .method = "Down: the same work is timed twice after the change; the first half pays for the transition, the second "
              "does not, and the difference is the cost (G 5.2.1). Up: the time of the slowest short section minus "
              "that of the same work in its neighbors (G 5.2.2). Break-even: T = p_high (T_down + T_up) / (p_high - "
              "p_low), with performance p assumed proportional to frequency (G 5.2.3).",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"from", "to", "active_cores", "down_us", "up_us", "breakeven_us"},
    .drafted = {.keys = {"from", "to", "active_cores"}, .values = {"down_us", "up_us", "breakeven_us"}},
    .exported = EXPORT_COSTS,
    .plan = overhead_plan,
    .measure = overhead_measure_table_cell,
    .print = overhead_print,
    .findings = overhead_findings,
    .plot = overhead_plot,
};
