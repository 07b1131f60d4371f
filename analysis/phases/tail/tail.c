/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The coarse part of a long recording: where it begins, and what it adds to the phases of the fine part. */
#include "analysis/phases/tail/tail.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/joined.h"
#include "analysis/phases/repetitions/clock.h"

#define SAME_LEVEL 0.015 /* relative: pieces of a ramp that the fine part has cut into steps differ by less */

double tail_begins(const struct trace *t)
{
    double us = trace_number(t, "fine_us");
    return us > 0 ? us : NAN;
}

int tail_fine_part(const struct trace *t, double until, struct trace *out)
{
    const double late = until + 0.5 * tail_period_us(t);
    if (joined_part_begin(t, out))
        return -1;
    for (size_t i = 0; i < t->n; i++)
        if (t->time_us[i] <= late)
            joined_part_take(t, i, out);
    return 0;
}

static bool goes_on(const struct phase *ph)
{
    return phases_is_steady(ph) || ph->kind == PHASE_RAMP || ph->kind == PHASE_UNKNOWN;
}

/* Pieces of different rates that the fine part takes for other code of the same frequency. */
static bool holds_several_rates(const struct trace *t, const struct phase *ph)
{
    return t->channel[TRACE_IPC] && phases_is_steady(ph) && isnan(ph->ipc);
}

/* From when on the second kernel runs at what may be the beginning of a ramp: of the last phases, with nothing but
 * small changes of the frequency between them. */
static double undisturbed_from(const struct trace *t, const struct phases *fine)
{
    size_t i = fine->n_phases;
    if (!i)
        return 0;
    if (holds_several_rates(t, &fine->phases[i - 1]))
        return INFINITY;
    for (i--; i > 0 && fine->phases[i].start_us > 0; i--) {
        const struct phase *ph = &fine->phases[i], *before = ph - 1;
        bool near = !(fabs(log(ph->freq_ghz.value / before->freq_ghz.value)) > SAME_LEVEL) &&
                    !(fabs(log(ph->ipc / before->ipc)) > SAME_LEVEL);
        if (!goes_on(ph) || !goes_on(before) || !near)
            break;
    }
    return fmax(0, fine->phases[i].start_us);
}

void tail_doubt_rates(const struct trace *t, struct phases *fine)
{
    for (size_t i = 0; i < fine->n_phases; i++) {
        struct phase *ph = &fine->phases[i];
        if (ph->start_us < -TAIL_NEAR_US || !holds_several_rates(t, ph))
            continue;
        ph->kind = PHASE_UNKNOWN;
        snprintf(ph->why, sizeof ph->why, "the code gets slower within it, at the same frequency");
    }
}

int tail_find(const struct trace *t, const struct phases *fine, struct tail *out)
{
    struct tail_series s;
    *out = (struct tail){.begin = tail_begins(t), .end = tail_usual_end(t, fine), .after = undisturbed_from(t, fine)};
    out->instant = clock_reading_of(t).instant;
    if (isnan(out->end))
        return -1;
    out->after = fmin(out->after, out->begin);
    if (!(out->end > out->begin))
        return 0;
    int bad = tail_gather(t, fine, out, &s);
    for (int c = 0; c < TAIL_COURSES && !bad; c++)
        bad = tail_describe(&s, c, out);
    tail_free_series(&s);
    return bad;
}
