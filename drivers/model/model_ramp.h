/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What changes gradually in the simulated core: a frequency that approaches that of the class held, and a voltage that
 * rises before the frequency does and falls after it (Gottschlag's dissertation, section 3.2.3).
 */
#ifndef CHARACTERIZE_DRIVERS_MODEL_RAMP_H
#define CHARACTERIZE_DRIVERS_MODEL_RAMP_H

#include "drivers/model/model_core_state.h"

/* Nominal frequency of a class now, GHz: of its level with so many active cores, or the fixed one if that is lower. */
double model_core_class_ghz(const struct model_core *c, unsigned class_);
/* Nominal frequency now, GHz: the last one while halted, that of the moment on a ramp. */
double model_core_ghz(const struct model_core *c);
/* The frequency goes from what it is to that of the class held from now on. Call it after the class has changed. */
void model_ramp_begin(struct model_core *c, double from_ghz, double tau_us);
/* The nominal frequency now, GHz: exactly, where model_core_ghz has the mean over a step. */
double model_ramp_ghz(const struct model_core *c);
/* The voltage goes from volts_from to what it shall be within the model's time. */
void model_ramp_volts(struct model_core *c, double volts_from);
/* The voltage rises for a class that is to be released to; called off. */
void model_ramp_rise(struct model_core *c, unsigned class_);
void model_ramp_call_off(struct model_core *c);
/* Next change; it is then due to model_ramp_update. */
double model_ramp_event(const struct model_core *c);
void model_ramp_update(struct model_core *c);
/* The voltage now, without boosts, V. */
double model_ramp_base_volts(const struct model_core *c);

#endif
