/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model-specific registers of a modelled CPU. Inside drivers/model_*. */
#ifndef CHARACTERIZE_DRIVERS_MODEL_REGISTERS_H
#define CHARACTERIZE_DRIVERS_MODEL_REGISTERS_H

#include "drivers/model/model_core.h"
#include "drivers/power/rated_limits.h"

/*
 * Reads a register as the core stands: 198H (ratio in 15:8, voltage in 47:32 in units of 2^-13 V, with the noise of the
 * model file), CEH (base ratio in 15:8), 1ADH and 1AEH (turbo ratios and core counts), after Intel's SDM volume 4.
 * MACHINE_OK, or MACHINE_CANNOT for any other.
 */
int model_register_read(struct model_core *c, uint32_t reg, uint64_t *value, struct machine_error *err);

/* As machine_ops.speed_select: the turbo limits of each level, where the model file says that they are stated. */
int model_speed_select(const struct model *m, struct rated_limits *out, struct machine_error *err);

#endif
