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
              "Up to %u cores were active, but the table has frequencies for no more than %u: beyond that, a slower "
              "clock cannot be attributed to the level, and overhead is missed; use --params with an export measured "
              "on as many active cores.",
              t->active_cores, t->setup.bin[t->setup.n_bins - 1].cores);
    else if (why & LIMITS_NOT_LIMITED)
        doubt(out,
              "In %.0f %% of the samples something other than the level limited the clock (power, heat, a governor), "
              "or the table does not fit: overhead there is not seen, and its size is unknown.",
              100 * (double)s->not_limited / (double)s->known);
    if (why & LIMITS_UNSETTLED)
        doubt(out,
              "In %.0f %% of the turns in which a task ran the level was still reduced after the pause of %u us, which "
              "is too short for this processor: precisely the slowed samples are lost; --params with an export that "
              "has this processor's waits (table relaxation) lengthens the pause.",
              100 * (double)s->unsettled / (double)s->busy, t->setup.pause_us);
}
