/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One instruction of a unit after an idle time: not a kernel, which runs until a deadline. */
#pragma once

#include "kernels/kernels.h"

/*
 * Spins on scalar code until the TSC reaches `until`, then runs one instruction between two reads of the TSC that
 * nothing passes: *begin receives the first, the return value is the second. Upper halves are clean afterwards.
 */
typedef uint64_t first_use_fn(uint64_t until, uint64_t *begin);

first_use_fn kernel_first_nothing;               /* no instruction: what the reads take */
first_use_fn kernel_first_256, kernel_first_512; /* one FMA; they need what 256fma and 512fma need */
first_use_fn kernel_first_256_avx;               /* one multiplication; needs what 256mulpd needs */
/* One product of tiles, which are configured and zeroed before the core spins, and released afterwards; needs what amx
 * needs. */
first_use_fn kernel_first_amx;
/* The same with tiles as the kernel amx has left them, dirty; and with none in use before the core has spun. */
first_use_fn kernel_first_amx_dirty, kernel_first_amx_released;
