/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The licenses of the simulated core: which class is needed, held, pending, kept, released. Inside drivers/model_*. */
#ifndef CHARACTERIZE_DRIVERS_MODEL_LICENSE_H
#define CHARACTERIZE_DRIVERS_MODEL_LICENSE_H

#include "drivers/model/model_state.h"

/* Another payload (c->payload, c->need) runs from now on. */
void model_license_payload(struct model_core *c);
/* c->count_left has reached 0, or c->dirty_width has changed. */
void model_license_need_changed(struct model_core *c);
/* Something restarts the waits that run. */
void model_license_rearm(struct model_core *c);
/* The time of the next change that happens by itself, or INFINITY. */
double model_license_event(const struct model_core *c);
/* Does all that is due now. */
void model_license_update(struct model_core *c);

#endif
