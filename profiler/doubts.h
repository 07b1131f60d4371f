/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What makes the figures of a result smaller than what there is, without showing in them. */
#pragma once

#include "profiler/totals.h"

/* Fills doubts and n_doubts of a result, from what is added up of all. */
void profile_doubts(const struct profile_totals *t, struct profile_result *out);
