/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The picture of a trace and its phases: panels of frequency, IPC, voltage and license shares (those that were
 * measured) over one time axis, all repetitions faint, their median strong, the phases shaded and named.
 */
#ifndef CHARACTERIZE_TRACE_CHART_H
#define CHARACTERIZE_TRACE_CHART_H

#include <stddef.h>

#include "analysis/phases/phases.h"
#include "tables/table/chart.h"
#include "trace/trace.h"

/*
 * Describes it. Needs a trace with samples and at least one measured channel. Returns 0, or -1 with one line in `why`;
 * chart_free in any case.
 */
int trace_chart(const struct trace *t, const struct phases *p, struct chart *c, char *why, size_t why_size);

#endif
