/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads recordings: differences, times, and disturbances that the machine noticed. */
#include "drivers/recording.h"

#include <math.h>

int recording_word(const struct counter_spec *counters, size_t n, enum counter_id id)
{
    for (size_t i = 0; i < n; i++)
        if (counters[i].id == id)
            return (int)(RECORDING_COUNTERS + i);
    return -1;
}

double recording_difference(const uint64_t *now, const uint64_t *before, int word)
{
    if (word < 0 || now[word] == COUNTER_MISSING || before[word] == COUNTER_MISSING)
        return NAN;
    return (double)(int64_t)(now[word] - before[word]);
}

double recording_time_us(const struct recording *r, uint64_t tsc, double tsc_hz)
{
    return (double)(int64_t)(tsc - r->zero_tsc) / tsc_hz * 1e6;
}

/* A suspended machine may begin with a TSC of 0 again. */
static bool went_back(const struct recording *r)
{
    for (size_t i = 1; i < r->n; i++)
        if (recording_at(r, i)[RECORDING_TSC] < recording_at(r, i - 1)[RECORDING_TSC])
            return true;
    return false;
}

const char *recording_disturbed(const struct recording *r)
{
    if (went_back(r))
        return "the TSC went back";
    if (r->migrated)
        return "migrated to another CPU";
    if (r->involuntary_switches || r->cut)
        return "preempted by the scheduler";
    return r->page_faults ? "page faults" : NULL;
}
