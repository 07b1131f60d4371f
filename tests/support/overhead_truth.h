/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of a change of the frequency on a modelled CPU, computed from the parameters, without measuring. */
#pragma once

#include "drivers/model/model.h"

struct overhead_truth {
    double down_us, up_us; /* up: NaN where the frequency does not change */
    double high_ghz, low_ghz;
    double breakeven_us; /* NaN likewise */
};

/*
 * For a switch from `from` to `to` and back, with so many active cores. Down: each phase before the last one loses
 * the part of its duration that its rate falls short of the last one's, less what a switch of code alone does. Up:
 * the halt after the slow phase. Both are means over the scatter of the count that requests more. Fails the test
 * where the model cannot run a kernel.
 */
void overhead_truth(const struct model *m, const char *from, const char *to, unsigned cores,
                    struct overhead_truth *out);
