/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/frequency/frequency.h"

#include <math.h>
#include <stdlib.h>

#include "trace/trace.h"

enum { CORES_MAX = 65535 };

const char *core_range_read(const char *text, struct frequency_group *out)
{
    char *end;
    out->first = out->last = (unsigned)strtoul(text, &end, 10);
    if (end == text || out->first == 0)
        return NULL;
    if (*end == '-') {
        text = end + 1;
        out->last = (unsigned)strtoul(text, &end, 10);
    }
    bool possible = out->first <= out->last && out->last <= CORES_MAX;
    return end != text && possible ? end : NULL;
}

double core_ranges_value(const char *text, unsigned cores)
{
    struct frequency_group g;
    for (const char *p = text; p && (p = core_range_read(p, &g)) && *p == ':';) {
        char *end;
        double value = strtod(p + 1, &end);
        if (cores >= g.first && cores <= g.last)
            return trace_within(trace_channel_range(TRACE_FREQ), value) ? value : NAN;
        p = *end == ',' ? end + 1 : NULL;
    }
    return NAN;
}
