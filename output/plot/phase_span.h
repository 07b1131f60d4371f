/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A phase as a stretch of a chart's time axis: its colour, its name, what is told of it. */
#pragma once

#include "analysis/phases/phases.h"
#include "tables/table/chart.h"

/* From the phase's start to `end_us`; `unit_us`: microseconds of one unit of the axis. */
void phase_span_add(struct chart *c, const struct phase *p, double end_us, double unit_us);
