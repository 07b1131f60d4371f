/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules of each scheduler (doc/simulation.md, "Schedulers"). */
#pragma once

#include "schedulers/simulate/scheduling/dispatch.h"

extern const struct dispatch_rules fair_rules, fair_subtract_rules, fair_attribute_rules; /* fair.c */
extern const struct dispatch_rules cookies_rules;                                         /* cookies.c */
extern const struct dispatch_rules specialize_rules;                                      /* specialize.c */

/* What fair-subtract and fair-attribute know of the processor. False: out of memory. */
bool fair_init(struct dispatch *d, struct sim_params *p, bool attribute);
/* One wide core. False: out of memory. */
bool specialize_init(struct dispatch *d);
