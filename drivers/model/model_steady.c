/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/model/model_machine.h"

#include <math.h>
#include <stdlib.h>

static double nominal_ghz(const struct model *m, const struct model_need *need, unsigned cores, double fixed_ghz)
{
    double ghz = model_ghz(m, m->classes[need->later].level, cores);
    return fixed_ghz > 0 ? fmin(ghz, fixed_ghz) : ghz;
}

double model_steady_volts(const struct model *m, const struct payload *p, unsigned cores, double fixed_ghz)
{
    static const double settled_us = 1e5; /* beyond all transitions and nearly all ramps */
    struct model_need need;
    struct model_core *c = calloc(1, sizeof *c);
    struct machine_error ignored;
    double volts = NAN;
    if (c && model_need(m, p, &need, &ignored) == MACHINE_OK) {
        volts = model_volts(m, nominal_ghz(m, &need, cores, fixed_ghz));
        model_core_start(c, m, cores, 0, 0);
        c->fixed_ghz = fixed_ghz;
        if (m->corunners_boosted && model_core_run(c, p, &ignored) == MACHINE_OK) {
            model_core_advance(c, settled_us, INFINITY);
            volts = model_core_volts(c);
        }
    }
    free(c);
    return volts;
}

double model_steady_watts(const struct model *m, const struct payload *p, unsigned cores, double fixed_ghz,
                          double volts)
{
    struct model_need need;
    struct machine_error ignored;
    if (model_need(m, p, &need, &ignored) != MACHINE_OK)
        return NAN;
    unsigned level = m->classes[need.later].level;
    double ghz = model_ghz(m, level, cores), hz = model_mean_ghz(m, level, cores) * 1e9;
    if (fixed_ghz > 0 && ghz > fixed_ghz)
        hz *= fixed_ghz / ghz;
    return model_power_joules(m, hz, hz * need.ipc, model_power_instruction(m, p), volts);
}
