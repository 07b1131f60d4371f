/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What schedulers/policy.h needs of a processor's parameters. */
#include <string.h>

#include "schedulers/simulate/params.h"

void sim_params_turbos(struct sim_params *p, struct policy_turbos *out)
{
    out->n_levels = p->levels;
    for (unsigned n = 1; n <= p->cores && out->n < POLICY_TURBOS_MAX; n++) {
        policy_u32 *line = out->inverse[out->n];
        if (!sim_params_measured(p, n))
            continue;
        for (unsigned level = 0; level < out->n_levels; level++)
            line[level] = policy_inverse(100 * sim_params_speed(p, level, n));
        if (out->n == 0 || memcmp(line, out->inverse[out->n - 1], out->n_levels * sizeof(*line)) != 0)
            out->n++;
    }
}

void sim_params_own_levels(const struct sim_params *p, policy_u32 level[2])
{
    static const enum sim_class widths[2][2] = {{SIM_256LIGHT, SIM_256HEAVY}, {SIM_512LIGHT, SIM_512HEAVY}};
    for (int i = 0; i < 2; i++) {
        int light = sim_params_demand(p, widths[i][0]), heavy = sim_params_demand(p, widths[i][1]);
        int most = heavy > light ? heavy : light;
        level[i] = most > 0 ? (policy_u32)most : 0;
    }
}
