/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repetitions that ran at another frequency than most from beginning to end, as power limits and other tenants of a
 * processor make some: what is said of them, and what the limits of frequencies then hold. */
#pragma once

#include "analysis/phases/phases.h"

/* Fewer repetitions tell nothing of the others; and so many differ before any is called another. */
enum { OTHER_CLOCKS_RUNS_LEAST = 10, OTHER_CLOCKS_LEAST = 2 };

/* How far from 1 values of n repetitions, relative to what most do, are others: `least`, or what scatter does not
 * explain. Needs scratch of n. */
double slow_runs_bound(const double *relative, size_t n, double least, double *scratch);

/*
 * relative: the frequency of each of n repetitions, of what `out` says; those further from 1 than `bound` are others.
 * Three in a hundred are reported, on either side by themselves; limits of frequencies hold them if they are more
 * than one in twenty. 0, or -1: out of memory.
 */
int slow_runs_report(struct phases *out, const double *relative, size_t n, double bound);
