/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The switch of a transition_setup while all that the second kernel requests is still granted: it runs until it has
 * settled, the first one for so short a while that nothing is taken back, then it again. What is slow there is the
 * switch itself (analysis/phases/checks/switch_cost.h).
 */
#pragma once

#include "probes/transition.h"

/* How long the first kernel runs in between, us: shorter than any known wait for a lower level (README, Limits), and
 * long enough for a reading in samples of `period_us`. */
double granted_switch_away_us(double period_us);

/* What was recorded, time 0 at the switch. */
struct granted_switch {
    struct trace trace;
    double full_from_us, full_to_us; /* the second kernel ran at its full rate, before time 0 */
    double shown_us;                 /* what the recording shows of it after time 0 */
};

/*
 * Records it, each repetition with the second kernel for `settle_us` first, and at least `until_us` of it after the
 * switch. MACHINE_OK, and free the trace; or *err is filled and its status returned. Where `progress`
 * (NULL: none) returns non-zero it ends early, with what there is.
 */
int granted_switch_record(struct machine *m, const struct transition_setup *s, double settle_us, double until_us,
                          repetitions_progress *progress, void *data, struct granted_switch *out,
                          struct machine_error *err);
