/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small buffer for kernels whose operands come from one (struct kernel_walk): what they do does not depend on its
 * size. */
#pragma once

#include "kernels/kernels.h"

/* Lines of a lap: two plain blocks. */
enum { SMALL_WALK_LINES = 2 * KERNEL_BLOCK_LINES };

/* A place at the begin of a buffer of doubles that no two lines have in common: in turns twelve lines of values in
 * [1, 2) with 24-bit significands, and twelve of -(those - 2^-23), as buffers have them (drivers/native/walks.c). */
struct kernel_walk small_walk(void);
/* Word `lane` (0 to 7) of line `line` of it (below SMALL_WALK_LINES + KERNEL_BLOCK_LINES - 1). */
double small_walk_value(size_t line, size_t lane);
