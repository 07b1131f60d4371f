/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Feeds the engine with what a scheduler decides (doc/simulation.md, "Schedulers"). */
#pragma once

#include "schedulers/simulate/scheduling/dispatch.h"

/* The scheduler of the options, any but SIM_RECORDED. False: out of memory. scheduling_free in any case. */
bool scheduling_init(struct dispatch *d, struct sim_params *p, struct sim_workload *w, const struct sim_options *o);
/* Once the engine is made, before it runs. False: out of memory. */
bool scheduling_begin(struct dispatch *d, struct engine *e);
void scheduling_free(struct dispatch *d);

/* For struct engine_feed. */
bool scheduling_next(void *self, struct engine *e, unsigned cpu, struct engine_segment *out);
void scheduling_wake(void *self, struct engine *e);
