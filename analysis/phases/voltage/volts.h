/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Voltage readings of repetitions that are in different states at the same time (private to analysis/).
 *
 * Readings come one a repetition. Where a wait has two lengths, scatters, or is lengthened by interrupts, neighbours in
 * time belong to repetitions before and after the change: they alternate between two voltages, and any few of one
 * look like a state. What most readings of a neighbourhood agree upon is kept; where no clear majority does, nothing.
 */
#pragma once

#include <stddef.h>

#include "trace/trace.h"

/* Where readings of different states mix, us. */
struct mixed_stretch {
    double begin, end;
};

struct mixed_stretches {
    size_t n;
    struct mixed_stretch *stretch; /* malloc */
};
