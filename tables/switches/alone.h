/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a kernel comes to that has run for long, seen in repetitions of their own (private to tables/switches/). */
#pragma once

#include <stdbool.h>

#include "analysis/phases/repetitions/settling.h"
#include "probes/sequence.h"

#define ALONE_CHAINS_US 400.0 /* of chains: a single one is as exact as the clock's step allows, which may be to 6 % */

/*
 * One repetition of a sequence (sequence_record()), whose samples are added to *seen. *valid: the machine does not know
 * it to be invalid; else nothing is added. MACHINE_OK, or *err is filled and its status returned.
 */
int alone_see(struct sequence *q, const struct segment *segments, size_t n, size_t zero, struct kernel_alone *seen,
              bool *valid, struct machine_error *err);
