/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an export says of the processor that it is of (doc/export-format.md). */
#pragma once

#include <stdbool.h>

#include "computer/cpu/cpu.h"
#include "util/error.h"

struct live_params {
    char cpu[128];
    bool modelled;
    int levels;
};

/* Reads it. MACHINE_BAD_INPUT: no such file, not an export, modelled without `modelled`, without frequencies, without
 * family, model and stepping, or those of another processor than `here`. */
int live_params_read(const char *path, bool modelled, const struct cpu_identity *here, struct live_params *out,
                     struct machine_error *err);
