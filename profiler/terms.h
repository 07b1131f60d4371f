/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the profiler takes from the tables: an export of this processor (--params). */
#pragma once

#include <stddef.h>

#include "profiler/profile.h"
#include "util/error.h"

/* Of what is known without an export: nothing (*out), the published pause, no bins (*setup). */
void profile_terms_none(struct profile_terms *out, struct profile_setup *setup);

/*
 * Reads an export: *out, the bins and the pause of *setup (the longest wait and a margin), the processor's name. All
 * else in *setup stays. Bins are the numbers of active cores between which no level's frequency changes; where these
 * are more than PROFILE_BINS_MAX, those that differ least are one. Returns what sim_params_read() does, and
 * MACHINE_BAD_INPUT where the longest wait is 0 or needs a pause of more than PROFILE_PAUSE_US_MAX.
 */
int profile_terms_read(const char *export_path, struct profile_terms *out, struct profile_setup *setup, char *cpu,
                       size_t size, struct machine_error *err);
