/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/simulate/scheduling/compensation.h"

double compensation_expected(const struct compensation_table *t, unsigned turbo, const double *cycles)
{
    const double *f = t->frequency + (size_t)turbo * t->n_levels;
    double sum = 0, time = 0;
    for (unsigned k = 0; k < t->n_levels; k++) {
        sum += cycles[k];
        time += cycles[k] / f[k];
    }
    return sum / time;
}

double compensation_ideal(const struct compensation_table *t, const double *cycles, double actual, unsigned own)
{
    double alone[SIM_LEVELS_MAX] = {0};
    for (unsigned k = 0; k < t->n_levels; k++)
        alone[k < own ? k : own] += cycles[k];
    unsigned slow = 0;
    double below = compensation_expected(t, 0, cycles), above = below;
    while (below > actual && slow + 1 < t->n_turbo) {
        above = below;
        below = compensation_expected(t, ++slow, cycles);
    }
    double ideal = compensation_expected(t, slow, alone);
    if (slow == 0 || below >= actual || above <= below)
        return ideal;
    double share = (actual - below) / (above - below); /* of the faster turbo level */
    return ideal + share * (compensation_expected(t, slow - 1, alone) - ideal);
}

double compensation_lost(double actual, double ideal, double stalled)
{
    return actual < ideal ? (1 - stalled) * (ideal - actual) / ideal : 0;
}
