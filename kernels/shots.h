/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shots: the instructions of a kernel, exactly so many of them. A kernel runs whole blocks, and loads its operands by
 * instructions of its width; of a burst of a few instructions these would be most. Not in the Linux module.
 */
#pragma once

#include "kernels/kernels.h"

/*
 * Runs exactly n instructions (0: none) with operands of 0; nothing else in it is wider than 128 bits. Without `dirty`
 * it executes VZEROUPPER before it returns, also where it is of 128 bits.
 */
typedef void shot_fn(uint64_t n, uint64_t dirty);

/* The shot of a payload: of 128 to 512 bits, plain (no density, no chain); NULL where there is none. */
shot_fn *kernel_shot(const struct payload *p);

/* The names of all that have one, separated by blanks. Returns `out`. */
const char *kernel_shot_names(char *out, size_t size);
