/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an export says of the processor that it is of (doc/export-format.md). */
#pragma once

#include <stdbool.h>

#include "computer/cpu/cpu.h"
#include "schedulers/policy.h"
#include "util/error.h"

struct live_params {
    char cpu[128];
    bool modelled;
    int levels;
    /* if they were asked for */
    struct policy_turbos turbos;
    policy_u32 own_level[2]; /* sim_params_own_levels() */
    /* codes of events as perf's raw config; 0: the export names none */
    uint64_t level_code[POLICY_LEVELS_MAX], stall_code[2], throttle_code;
    char no_levels[300]; /* why it names no event of a level, if it says so */
};

/* Reads it; with `levels` also what is known of license levels. MACHINE_BAD_INPUT: no such file, not an export,
 * modelled without `modelled`, without frequencies, without family, model and stepping, or those of another processor
 * than `here`; with `levels` also one that has none. */
int live_params_read(const char *path, bool modelled, bool levels, const struct cpu_identity *here,
                     struct live_params *out, struct machine_error *err);
