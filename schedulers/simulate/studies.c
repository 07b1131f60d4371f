/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Overhead against T of policy timeout, and which change of the processor would lower that of policy stock most. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/studies.h"

/* One run, as the options say; nobody observes. */
static int study_run(struct sim_params *p, struct sim_workload *w, struct sim_options options, double *overhead,
                     double *remote, struct machine_error *err)
{
    struct sim_result result;
    options.observer = NULL;
    int status = sim_run(p, w, &options, &result, err);
    if (status != MACHINE_OK)
        return status;
    *overhead = sim_times_overhead(&result.all);
    *remote = sim_times_remote(&result.all);
    sim_result_free(&result);
    return MACHINE_OK;
}

/* ---- policy timeout, by T ---- */

/* timeout_ps 0: each level's own break-even time. */
static int curve_run(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, int64_t timeout_ps,
                     struct sim_curve_point *point, struct machine_error *err)
{
    struct sim_options options = *o;
    options.policy = SIM_TIMEOUT;
    options.timeout_given = timeout_ps > 0;
    options.timeout_ps = timeout_ps;
    return study_run(p, w, options, &point->overhead, &point->remote, err);
}

/* The slowest level that a class of the workload demands; 0: none does. */
static unsigned slowest_demanded(const struct sim_params *p, const struct sim_workload *w)
{
    int slowest = 0;
    for (int c = 0; c < SIM_CLASSES; c++) {
        int level = w->class_used[c] ? sim_params_demand(p, (enum sim_class)c) : 0;
        slowest = level > slowest ? level : slowest;
    }
    return (unsigned)slowest;
}

int sim_curve_find(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, struct sim_curve *out,
                   struct machine_error *err)
{
    unsigned slow = slowest_demanded(p, w), n = w->active_cores ? w->active_cores : w->n_cores;
    int status = MACHINE_OK;
    memset(out, 0, sizeof *out);
    out->breakeven.timeout_us = out->stock.timeout_us = NAN;
    for (size_t i = 0; i < SIM_CURVE_POINTS && status == MACHINE_OK; i++) {
        struct sim_curve_point *q = &out->point[i];
        q->timeout_us = SIM_CURVE_US_LO * pow(SIM_CURVE_US_HI / SIM_CURVE_US_LO, (double)i / (SIM_CURVE_POINTS - 1));
        status = curve_run(p, w, o, llround(q->timeout_us * SIM_PS_PER_US), q, err);
    }
    if (status != MACHINE_OK)
        return status;
    out->n = SIM_CURVE_POINTS;
    int64_t breakeven = slow ? sim_params_breakeven(p, 0, slow, n, NULL) : -1;
    struct sim_wait wait;
    if (breakeven > 0 && breakeven < SIM_FOREVER) {
        out->breakeven.timeout_us = (double)breakeven / SIM_PS_PER_US;
        status = curve_run(p, w, o, 0, &out->breakeven, err);
    }
    if (status == MACHINE_OK && slow && sim_params_wait(p, slow, 0, &wait, NULL) == 0 && wait.usual_ps > 0) {
        out->stock.timeout_us = (double)wait.usual_ps / SIM_PS_PER_US;
        status = curve_run(p, w, o, wait.usual_ps, &out->stock, err);
    }
    return status;
}

/* ---- policy stock on other processors ---- */

static const struct {
    const char *parameter;
    struct sim_factors factors; /* the one that is not 1 is that of the row */
    double factor;
} changes[] = {
    {"wait", {0.1, 1, 1}, 0.1},
    {"wait", {0.25, 1, 1}, 0.25},
    {"wait", {0.5, 1, 1}, 0.5},
    {"wait", {2, 1, 1}, 2},
    {"cost of a change", {1, 0, 1}, 0},
    {"cost of a change", {1, 0.5, 1}, 0.5},
    {"distance of the levels", {1, 1, 0.5}, 0.5},
    {"distance of the levels", {1, 1, 0.75}, 0.75},
};
_Static_assert(sizeof changes / sizeof *changes <= SIM_WHAT_IF_MAX, "all rows have room");

static int what_if_run(struct sim_params *p, struct sim_workload *w, const struct sim_options *o,
                       const struct sim_factors *factors, struct sim_what_if_row *row, struct machine_error *err)
{
    struct sim_options options = *o;
    options.policy = SIM_STOCK;
    sim_params_scale(p, factors);
    return study_run(p, w, options, &row->overhead, &row->remote, err);
}

/* The least overhead first; none (a workload without work) last. */
static int what_if_order(const void *a, const void *b)
{
    const struct sim_what_if_row *x = a, *y = b;
    double p = isnan(x->overhead) ? INFINITY : x->overhead, q = isnan(y->overhead) ? INFINITY : y->overhead;
    return p < q ? -1 : p > q;
}

int sim_what_if_find(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, struct sim_what_if *out,
                     struct machine_error *err)
{
    static const struct sim_factors as_measured = {1, 1, 1};
    memset(out, 0, sizeof *out);
    int status = what_if_run(p, w, o, &as_measured, &out->now, err);
    for (size_t i = 0; i < sizeof changes / sizeof *changes && status == MACHINE_OK; i++) {
        out->row[i] = (struct sim_what_if_row){.parameter = changes[i].parameter, .factor = changes[i].factor};
        status = what_if_run(p, w, o, &changes[i].factors, &out->row[i], err);
    }
    sim_params_scale(p, &as_measured);
    if (status != MACHINE_OK)
        return status;
    out->n = sizeof changes / sizeof *changes;
    qsort(out->row, out->n, sizeof *out->row, what_if_order);
    return MACHINE_OK;
}
