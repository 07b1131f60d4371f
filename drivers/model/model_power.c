/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/model/model_power.h"

#include <math.h>

static double energy_of(const struct model *m, unsigned width, enum kernel_weight weight)
{
    for (size_t i = 0; i < m->n_energies; i++)
        if (m->energies[i].width == width && m->energies[i].weight == weight)
            return m->energies[i].nj;
    return NAN;
}

double model_power_instruction(const struct model *m, const struct payload *p)
{
    double counted = p->instructions ? (double)p->counted / p->instructions : 1;
    double nj = energy_of(m, p->kernel->width, p->kernel->weight);
    return counted < 1 ? counted * nj + (1 - counted) * energy_of(m, 64, KERNEL_LIGHT) : nj;
}

double model_power_joules(const struct model *m, double cycles, double instructions, double nj_instruction,
                          double volts)
{
    return (cycles * m->cycle_nj + instructions * nj_instruction) * 1e-9 * volts * volts;
}
