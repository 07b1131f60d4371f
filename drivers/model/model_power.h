/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a modelled CPU uses: energy at 1 V for each instruction and each core cycle, times the square of the core
 * voltage (switching a capacitance takes C V^2: Weste and Harris, CMOS VLSI Design, 4th edition, section 5.2), and a
 * constant power of the package. Inside drivers/model_*.
 */
#ifndef CHARACTERIZE_DRIVERS_MODEL_POWER_H
#define CHARACTERIZE_DRIVERS_MODEL_POWER_H

#include "drivers/model/model.h"

/* nJ at 1 V of each payload instruction, a mean over the counted ones and the scalar adds between them; NaN where the
 * file does not tell it. */
double model_power_instruction(const struct model *m, const struct payload *p);

/* Joules of so many cycles and payload instructions at a voltage. */
double model_power_joules(const struct model *m, double cycles, double instructions, double nj_instruction,
                          double volts);

#endif
