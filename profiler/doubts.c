/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profiler/doubts.h"

#include <stdarg.h>
#include <stdio.h>

#include "profiler/limits.h"

__attribute__((format(printf, 2, 3))) static void doubt(struct profile_result *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->doubts[out->n_doubts++], sizeof(out->doubts[0]), format, arguments);
    va_end(arguments);
}

void profile_doubts(const struct profile_totals *t, struct profile_result *out)
{
    const struct profile_sums *s = &profile_bucket_at(&t->buckets, 0)->sums;
    unsigned why = profile_limits_open(s);
    out->n_doubts = 0;
    if (why & LIMITS_OFF_BINS)
        doubt(out,
              "Up to %u cores were active, and the table has frequencies of no more than %u: where more are active, a "
              "slower clock is not known to be the level's, and overhead is missed; --params with an export that was "
              "measured with as many has them.",
              t->active_cores, t->setup.bin[t->setup.n_bins - 1].cores);
    else if (why & LIMITS_NOT_LIMITED)
        doubt(out,
              "In %.0f %% of the samples something other than the level limited the clock (power, heat, a governor), "
              "or the table does not fit: overhead there is not seen, and how large it may be is not known.",
              100 * (double)s->not_limited / (double)s->known);
    if (why & LIMITS_UNSETTLED)
        doubt(out,
              "In %.0f %% of the turns in which a task ran the level was still reduced after the pause of %u us, which "
              "is too short for this processor: the samples that are slowed are those that are lost; --params with an "
              "export that has this processor's waits (table relaxation) makes it longer.",
              100 * (double)s->unsettled / (double)s->busy, t->setup.pause_us);
}
