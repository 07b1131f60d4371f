/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CHARACTERIZE_PHASES_FIND_H
#define CHARACTERIZE_PHASES_FIND_H

#include "analysis/phases/phases.h"
#include "trace/trace.h"

/* Finds the phases of a trace. Pure: nothing is read but the trace. Returns 0, or -1 with one line in `why`. */
int phases_find(const struct trace *t, struct phases *out, char *why, size_t why_size);

#endif
