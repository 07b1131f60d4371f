/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profiler/profile.h"

enum { ADVICE_SAMPLES_LEAST = 30 };

/*
 * What would help a row of a result that is complete otherwise, in one sentence: nothing where there are fewer than
 * ADVICE_SAMPLES_LEAST samples, or where the limits of what it would be about include 0.
 */
void profile_advice(struct profile_result *r, size_t row);
