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

/*
 * Takes the minority out of a trace of voltages in order of time, and everything where a clear majority is missing.
 * least_us: shorter stretches are left alone, as at any edge that scatters a little. 0, or -1: out of memory; the
 * stretches are to be freed in any case.
 */
int volts_unmix(struct trace *v, double least_us, struct mixed_stretches *out);

/* The stretch that holds this time; NULL: none does. */
const struct mixed_stretch *volts_mixed_at(const struct mixed_stretches *m, double time_us);
