/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One simulated core: an event-driven simulation whose state is constant from event to event. Times are microseconds
 * since the start of the repetition. It knows nothing of sampling or time stamps: drivers/model/model_machine.c does
 * those.
 */
#ifndef CHARACTERIZE_DRIVERS_MODEL_CORE_H
#define CHARACTERIZE_DRIVERS_MODEL_CORE_H

#include "drivers/model/model.h"
#include "drivers/model/model_core_state.h"

/* A core at rest: lowest class held, clean registers. `cores`: active, 1..model->cores. */
void model_core_start(struct model_core *c, const struct model *m, unsigned cores, uint64_t seed, uint64_t repetition);
/*
 * The next repetition of a series on a core that has been started (or is all zero: then the first): at rest, or where
 * the model carries, in the state in which the last one ended. What is of the series goes on.
 */
int model_core_next(struct model_core *c, const struct model *m, unsigned cores, uint64_t seed, uint64_t repetition,
                    struct machine_error *err);
/* Lets another payload run from now on. The payload must outlive its running. As model_need. */
int model_core_run(struct model_core *c, const struct payload *p, struct machine_error *err);
/* Whether the core clock is followed closely (while somebody samples) or only by its mean. */
void model_core_fine(struct model_core *c, bool fine);
/*
 * Advances until the time `until`, or until the payload has retired `work` more instructions, whichever comes first;
 * INFINITY for either. Returns the payload instructions retired.
 */
double model_core_advance(struct model_core *c, double until, double work);
/* Whether the payload's thread executes now: the core is neither halted nor interrupted. */
bool model_core_executes(const struct model_core *c);
/* The thread executes something else than the payload for `us`, not counting halts and interrupts on the way. */
void model_core_idle(struct model_core *c, double us);
/*
 * The thread executes a dependent chain of so many cycles. Throttling stalls what is near enough to the instructions
 * that requested it (throttle_distance), the last of which is `behind` instructions before the chain; halts, interrupts
 * and another hyper-thread are part of the time it takes.
 */
void model_core_chain(struct model_core *c, double cycles, double behind);
/* The payload's function has returned: a clean kernel has executed VZEROUPPER, a dirty one has not. */
void model_core_returned(struct model_core *c);
/* Core voltage now, V, without noise of the reading. */
double model_core_volts(const struct model_core *c);

#endif
