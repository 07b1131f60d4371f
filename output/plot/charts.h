/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Descriptions of pictures to draw. Call chart_free in any case. */
#pragma once

#include <stddef.h>

#include "analysis/phases/phases.h"
#include "analysis/wake/wake.h"
#include "tables/table/chart.h"
#include "tables/table/table.h"
#include "trace/trace.h"

/*
 * trace_chart.c. A trace and its phases: panels of frequency, IPC, voltage and license shares (those that were
 * measured) over one time axis, all repetitions faint, their median strong, the phases shaded and named. Needs a trace
 * with samples and at least one measured channel. Returns 0, or -1 with one line in `why`.
 */
int trace_chart(const struct trace *t, const struct phases *p, struct chart *c, char *why, size_t why_size);

/*
 * course_chart.c. A switch of which only its phases are known (a phases file, doc/formats.md): frequency and IPC as
 * those phases have them, the phases shaded and named, around where something happens. Returns 0, or -1 with one line
 * in `why`.
 */
int course_chart(const char *phases_json, unsigned cores, struct chart *c, char *why, size_t why_size);

/*
 * table_chart.c. A table of results, as its kind describes it (the hook `plot`), with this title (NULL: the table's
 * name). Tables may have more columns than their kind, and lack those of limits. Returns 0, or -1 with one line in
 * `why`: no rows, no values, no plot for a table of this name, out of memory.
 */
int table_chart(const struct table *t, const char *title, struct chart *c, char *why, size_t why_size);

/*
 * First uses over idle times, both logarithmic, and the stages as lines. At most 4000 points are drawn,
 * evenly taken; of idle time 0 none. Returns 0, or -1 with one line in `why`.
 */
int chart_first_uses(const struct wake_point *points, size_t n, const struct wake_stages *s,
                     const struct wake_source *source, struct chart *c, char *why, size_t size);

/* A phase as a stretch of a chart's time axis, with its colour, its name and its figures: from its start to `end_us`.
 * `unit_us`: microseconds of one unit of the axis. */
void chart_add_phase(struct chart *c, const struct phase *p, double end_us, double unit_us);
/* The frequency of a level as a line across a panel, named by its number. */
void chart_add_level(struct chart *c, struct chart_panel *p, size_t level, double ghz);
