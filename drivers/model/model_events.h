/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events of a modelled CPU by name, from the table of the CPU that it models. Inside drivers/model_*. */
#ifndef CHARACTERIZE_DRIVERS_MODEL_EVENTS_H
#define CHARACTERIZE_DRIVERS_MODEL_EVENTS_H

#include "drivers/model/model.h"

/* As machine_ops.find_event and machine_ops.named_events. data_dir: where events/ is, NULL = the built-in default. */
int model_event_by_name(const struct model *m, const char *data_dir, const char *name, uint64_t *code,
                        struct machine_error *err);
int model_events_named(const struct model *m, const char *data_dir, uint32_t select, struct machine_event *out,
                       size_t max, size_t *n, struct machine_error *err);

#endif
