/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events of the part for the machine `helper`, and the test of its license events. */
#ifndef CHARACTERIZE_HELPER_LICENSE_H
#define CHARACTERIZE_HELPER_LICENSE_H

#include "drivers/machine.h"

/* The part's events, and which of its license events pass the test on `cpu`; 60 ms or so where there are any. */
void helper_find_events(struct machine *m, int cpu, const char *data_dir);
/* As in machine_ops. */
int helper_find_event(const struct machine *m, const char *name, uint64_t *code, struct machine_error *err);
int helper_named_events(const struct machine *m, uint32_t select, struct machine_event *out, size_t max, size_t *n,
                        struct machine_error *err);

#endif
