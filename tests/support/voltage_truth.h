/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The voltage around a switch by a model's parameters, with what repetitions carry over. */
#pragma once

#include "drivers/model/model.h"
#include "tests/support/model_truth.h"

/*
 * The lowest and highest voltage within `reach_us` around a time, V; `t`: the truth of the switch. A boost belongs to
 * the way to a class, and model_truth() has the first kernel come from rest. Where a repetition begins in the state in
 * which the one before ended, before a class can be released, the core may have come to it from any other, in a
 * measurement before this one: each boost of the way to a class that is not above the one held may be there or not.
 * Fails the test where the model cannot run a kernel.
 */
void voltage_range(const struct model *m, const char *from, const char *to, unsigned cores, const struct model_truth *t,
                   double time_us, double reach_us, double *lo, double *hi);
