/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/granted_switch.h"

#include <math.h>

#include "probes/sequence.h"

enum { RUNS = 20, TRIES = 40, FIRST_REPETITION = 1 << 20 /* no two of a run the same in a model */ };
#define AWAY_US 3.0      /* waits of 500 to 1000 us are known (README, Limits) */
#define AWAY_PERIODS 2.0 /* ... and so that a reading lies in it */
#define FULL_US 20.0     /* of the second kernel before, which tells its full rate; and ... */
#define FULL_PERIODS 10.0

double granted_switch_away_us(double period_us)
{
    return fmax(AWAY_US, AWAY_PERIODS * period_us);
}

int granted_switch_record(struct machine *m, const struct transition_setup *s, double settle_us, double until_us,
                          repetitions_progress *progress, void *data, struct granted_switch *out,
                          struct machine_error *err)
{
    double away_us = granted_switch_away_us(s->period_us), shown_us = until_us * 1.1 + 3 * s->period_us;
    double after_us = 1.1 * shown_us + 2 * s->period_us; /* so that the last bin ends in it, too */
    double full_us = fmax(FULL_US, FULL_PERIODS * s->period_us), run_in_us = repetitions_run_in_us(s->period_us);
    const struct segment segments[4] = {{s->to, settle_us, false},
                                        {s->to, full_us + run_in_us, true},
                                        {s->from, away_us, true},
                                        {s->to, after_us, true}};
    struct machine_setup setup = s->machine;
    struct sequence q;
    setup.period_us = s->period_us;
    trace_init(&out->trace);
    int status = sequence_begin(&q, m, &setup, full_us + run_in_us + away_us + after_us, err);
    if (status)
        return status;
    q.repetition = FIRST_REPETITION;
    /* off either end of the second kernel's first part: its switches do not fall on readings */
    out->full_from_us = -away_us - 0.9 * full_us;
    out->full_to_us = -away_us - 0.1 * full_us;
    out->shown_us = shown_us;
    status = sequence_trace(&q, &out->trace) ? machine_fail(err, MACHINE_FAILED, "", "out of memory") : MACHINE_OK;
    for (unsigned k = 0, kept = 0; !status && kept < RUNS && k < TRIES; k++) {
        struct sequence_run run;
        status = sequence_record(&q, segments, 4, 3, &out->trace, &run, err);
        kept += !status && !run.invalid[0];
        if (progress && progress(data, 0, 0))
            break;
    }
    sequence_end(&q);
    if (status)
        trace_free(&out->trace);
    return status;
}
