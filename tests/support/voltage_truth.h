/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The voltage around a switch by a model's parameters. */
#pragma once

#include "tests/support/model_truth.h"

/* The lowest and highest voltage within `reach_us` around a time, V; `t`: the truth of the switch. */
void voltage_range(const struct model_truth *t, double time_us, double reach_us, double *lo, double *hi);
