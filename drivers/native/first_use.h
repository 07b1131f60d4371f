/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First uses of a unit on real hardware (machine_ops.first_use), by time stamps. */
#pragma once

#include "drivers/machine.h"

/* machine_ops.first_use for the CPU prepared for. */
int native_first_use(struct machine *m, const struct first_use_request *r, struct first_use_seen *out,
                     struct machine_error *err);

/*
 * When the rate is the full one: of n readings of the TSC with a block of the kernel between each, the number of the
 * reading from which on blocks take no longer than FIRST_USE_SLOW times what the last quarter of them does (median).
 * Single long blocks are interruptions. n: no block is as slow in the end. scratch: n doubles. Pure.
 */
#define FIRST_USE_SLOW 1.25
size_t first_use_full(const uint64_t *ticks, size_t n, double *scratch);
