/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "analysis/wake/wake.h"
#include "tables/table/chart.h"

/* First uses over idle times, both logarithmic, and the stages as lines. At most 4000 points are drawn, evenly taken;
 * of idle time 0 none. Returns 0, or -1 with one line in `why`; chart_free in any case. */
int wake_chart(const struct wake_point *points, size_t n, const struct wake_stages *s, const struct wake_source *source,
               struct chart *c, char *why, size_t size);
