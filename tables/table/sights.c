/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means of frequency and rate in windows of single repetitions. */
#include "tables/table/sights.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/phases/repetitions/clock.h"

#define INTERRUPTED_US 60.0 /* halts of frequency changes take about 10 us (G 5.2.2), waits 650 us and more (D) */

struct sights_span sights_span(const struct trace *t, uint32_t run)
{
    struct sights_span s = {t->n, t->n};
    while (s.first > 0 && t->run[s.first - 1] > run)
        s.first--;
    s.last = s.first;
    while (s.first > 0 && t->run[s.first - 1] == run)
        s.first--;
    return s;
}

static double mean_level(const struct trace *t, struct sights_span s, double from_us, double to_us)
{
    double sum = 0;
    size_t m = 0;
    const float *one = t->channel[TRACE_LVL1], *two = t->channel[TRACE_LVL2];
    if (!one || !two)
        return NAN;
    for (size_t i = s.first; i < s.last; i++)
        if (t->time_us[i] > from_us && t->time_us[i] <= to_us && !isnan(one[i]) && !isnan(two[i])) {
            sum += (double)one[i] + 2 * (double)two[i];
            m++;
        }
    return m ? sum / (double)m : NAN;
}

const char *sights_look(const struct trace *t, struct sights_span s, double from_us, double to_us, struct sight *out)
{
    enum { SAMPLES_LEAST = 5 };
    size_t inside = 0;
    *out = (struct sight){NAN, NAN, NAN, 0};
    for (size_t i = s.first; i < s.last && t->time_us[i] <= to_us; i++) {
        inside += t->time_us[i] > from_us;
        if (i > s.first && t->time_us[i] - t->time_us[i - 1] > INTERRUPTED_US)
            return "interrupted for more than 60 us";
    }
    if (inside < SAMPLES_LEAST)
        return "too few samples after the burst";
    double *scratch = malloc(2 * (s.last - s.first) * sizeof *scratch);
    if (!scratch)
        return "out of memory";
    out->freq = clock_middle_between(t, TRACE_FREQ, s.first, s.last, from_us, to_us, scratch);
    out->ipc = clock_middle_between(t, TRACE_IPC, s.first, s.last, from_us, to_us, scratch);
    out->level = mean_level(t, s, from_us, to_us);
    free(scratch);
    return isnan(out->freq) ? "no frequency was measured" : NULL;
}
