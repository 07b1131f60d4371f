/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instruction sets that blocks may use. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "computer/cpu/cpu.h"

/* By the name that Zydis has for it ("AVX512BW_256"): whether blocks may use it; the features that machines know by
 * name are or-ed to *features, and *here says whether the CPU has it besides these. */
bool block_set_known(const char *isa, cpuid_fn *cpuid, unsigned *features, bool *here);
