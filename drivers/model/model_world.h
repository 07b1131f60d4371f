/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an ordinary processor does beside changing its license, in the simulation: the hyper-thread next door, the
 * frequency's wandering, power limits, system management interrupts, cold code. doc/model-format.md says how each
 * behaves; all of it is absent unless the model file has its section.
 */
#ifndef CHARACTERIZE_DRIVERS_MODEL_WORLD_H
#define CHARACTERIZE_DRIVERS_MODEL_WORLD_H

#include "drivers/model/model_state.h"

/* A repetition begins: after the core's streams have been seeded. `gap_us` after the last one ended. */
void model_world_begin(struct model_core *c, uint64_t seed, double gap_us);
/* Another payload than before runs from now on. */
void model_world_switched(struct model_core *c);
/* When something of all this changes next; it is then due to model_world_update. */
double model_world_event(const struct model_core *c);
void model_world_update(struct model_core *c);
/* Factor of the rate at which the thread retires instructions, and the chain of machines without counters too: the
 * sibling and cold code. */
double model_world_rate(const struct model_core *c);
/* The same for a dependent chain of adds. */
double model_world_chain(const struct model_core *c);
/* Factor of the frequency of the core: wandering, power limits. */
double model_world_clock(const struct model_core *c);
/* Whether a system management interrupt has the core: no time passes for counters and the operating system. */
bool model_world_frozen(const struct model_core *c);

#endif
