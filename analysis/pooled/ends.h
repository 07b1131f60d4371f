/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a recording begins and ends as either kernel runs that has long been alone: round by round. */
#pragma once

#include <stdbool.h>

#include "analysis/stats/estimate.h"
#include "trace/trace.h"

/* Logarithms of ratios: the clock and the instructions per cycle of a part of a recording, of those of another. */
struct ends {
    struct estimate clock, ipc; /* medians over rounds with limits, of 99.9 %; NaN: unknown */
    double below, above;        /* shares of the rounds whose clock is more than ENDS_OFF lower, or higher */
    double middle_half;         /* by how much the clocks of the middle half of them differ */
    double ghz;                 /* of the recording there */
};

#define ENDS_OFF 0.004 /* a logarithm: by so much a recording may begin or end off the kernel alone */

/* Compares from_us..to_us of each repetition with all of what was made beside it (of the same number). 0, or -1: out of
 * memory. */
int ends_compare(const struct trace *t, double from_us, double to_us, const struct trace *beside, struct ends *out);

/* Whether something differs by more than `least` (a logarithm), and surely so. */
bool ends_differ(const struct estimate *e, double least);
/* Whether the clock of most rounds does, by more than ENDS_OFF and than they differ among each other. Limits of few
 * rounds, at two clocks each, tell next to nothing; and the median of rounds of which a part has come to rest is of
 * neither kind. */
bool ends_mostly_differ(const struct ends *e);
