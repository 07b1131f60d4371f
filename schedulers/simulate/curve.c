/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Overhead against T of policy timeout. */
#include <math.h>
#include <string.h>

#include "schedulers/simulate/studies.h"

/* timeout_ps 0: each level's own break-even time. */
static int curve_run(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, int64_t timeout_ps,
                     struct sim_curve_point *point, struct machine_error *err)
{
    struct sim_options options = *o;
    struct sim_result result;
    options.policy = SIM_TIMEOUT;
    options.timeout_given = timeout_ps > 0;
    options.timeout_ps = timeout_ps;
    options.observer = NULL;
    int status = sim_run(p, w, &options, &result, err);
    if (status != MACHINE_OK)
        return status;
    point->overhead = sim_times_overhead(&result.all);
    point->remote = sim_times_remote(&result.all);
    sim_result_free(&result);
    return MACHINE_OK;
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
