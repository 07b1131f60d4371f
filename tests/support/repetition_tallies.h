/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What analysis/phases/repetitions/ finds in a recording, and what a switch costs in it, added to sums (tally.h). The
 * test fails where memory is short. */
#pragma once

#include "analysis/phases/repetitions/settling.h"
#include "tests/support/tally.h"

void tally_neighbour(struct tally *sum, const struct trace *t, const struct runs *r, double switch_us);
void tally_steady(struct tally *sum, const struct trace *t);
void tally_start(struct tally *sum, const struct trace *t, double period);
/* Against either kernel alone; against the recording itself, and kernels of 2.5 GHz and 1 instruction per cycle. */
void tally_settling(struct tally *sum, const struct trace *t, const struct phases *p,
                    const struct kernel_alone alone[2]);
void tally_settling_of(struct tally *sum, const struct trace *t, const struct phases *p);
/* Of three stretches; a trace with both channels. */
void tally_cost(struct tally *sum, const struct trace *t, double period, uint64_t seed);
