/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which change of the processor would lower the overhead of policy stock most. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/studies.h"

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
    struct sim_result result;
    options.policy = SIM_STOCK;
    options.observer = NULL;
    sim_params_scale(p, factors);
    int status = sim_run(p, w, &options, &result, err);
    if (status != MACHINE_OK)
        return status;
    row->overhead = sim_times_overhead(&result.all);
    row->remote = sim_times_remote(&result.all);
    sim_result_free(&result);
    return MACHINE_OK;
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
