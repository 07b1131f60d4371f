/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What analysis/phases/repetitions/ finds in a recording, added to sums (tally.h). The test fails where memory is
 * short. */
#pragma once

#include "tests/support/tally.h"

void tally_steady(struct tally *sum, const struct trace *t);
