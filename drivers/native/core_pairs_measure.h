/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures which CPUs of this computer share a core (computer/cpu/core_pairs.h). */
#pragma once

#include "computer/cpu/core_pairs.h"
#include "kernels/kernels.h"
#include "util/error.h"

/* Rounds that are measured before pairs are judged: 0.13 s, of which CPUs are busy for a quarter. */
enum { CORE_PAIRS_ROUNDS = 60 };
/* What a measurement of this computer takes at most: rounds, and seconds. */
enum { CORE_PAIRS_ROUNDS_MOST = 5 * CORE_PAIRS_ROUNDS };
#define CORE_PAIRS_SECONDS_MOST 0.5

/*
 * Adds CORE_PAIRS_ROUNDS rounds, and more until no pair is undecided, the seconds are over or there is no more room;
 * then judges all rounds so far. All CPUs of `p` take part, at real-time priority where that is permitted, for 1.5 ms
 * at a time. `code`: what they run; NULL: 64add. MACHINE_OK, or fills *err and returns its status.
 */
int core_pairs_measure(struct core_pairs *p, kernel_fn *code, double tsc_hz, double seconds, struct machine_error *err);
