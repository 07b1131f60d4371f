/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The switch of a transition_setup while all that the second kernel asks for is held: it runs until it has settled, the
 * first one for HELD_AWAY_US only, much shorter than any known wait for a higher frequency, then it again
 * (analysis/phases/switch_cost.h tells what for).
 */
#ifndef CHARACTERIZE_PROBE_HELD_H
#define CHARACTERIZE_PROBE_HELD_H

#include "analysis/phases/switch_cost.h"
#include "probes/transition.h"

/* How long the first kernel runs in between, us: shorter than any known wait for a lower level (README, Limits), and
 * long enough for a reading in samples of `period_us`. */
double held_away_us(double period_us);

/*
 * Records it, each repetition with the second kernel for `settle_us` first, and makes the course of `until_us` out of
 * it. MACHINE_OK, or *err is filled and its status returned; where `progress` (NULL: none) returns non-zero it ends
 * early, with what there is.
 */
int held_record(struct machine *m, const struct transition_setup *s, double settle_us, double until_us,
                transition_progress *progress, void *data, struct switch_cost *out, struct machine_error *err);

#endif
