/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulated core that has run one payload for long: its power and its voltage. Inside drivers/model/. */
#ifndef CHARACTERIZE_DRIVERS_MODEL_STEADY_H
#define CHARACTERIZE_DRIVERS_MODEL_STEADY_H

#include "drivers/model/model.h"

/*
 * Watts of one core that has run a payload for long, with so many active cores, none faster than fixed_ghz (0: no such
 * bound), at `volts`. NaN where the file does not tell it, or cannot run it.
 */
double model_steady_watts(const struct model *m, const struct payload *p, unsigned cores, double fixed_ghz,
                          double volts);
/* The voltage of such a core; with its boosts where the model file says so. NaN as above. */
double model_steady_volts(const struct model *m, const struct payload *p, unsigned cores, double fixed_ghz);

#endif
