/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything the profiler computes from counts: whole numbers, no floating point, bounded work. One source for the
 * kernel module, modelled systems and tests. Sections and equations are those of Mathias Gottschlag, AVX Overhead
 * Mitigation: OS Support for Power-Limited Systems, dissertation, KIT, 2023.
 */
#pragma once

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#endif

#include "drivers/profile/profile_types.h"

/* The counts between two readings; a counter that was missing in either is missing. */
struct profile_counts profile_difference(const struct profile_counts *from, const struct profile_counts *to);
/* Core frequency in kHz from cycles and reference cycles that count at ref_khz; 0: not known. */
__u32 profile_khz(const struct profile_counts *d, __u32 ref_khz);
/* The level at which more than 7/8 of the cycles were spent; PROFILE_NO_LEVEL: it was changing, or is unknown. */
__u32 profile_level(const struct profile_counts *d);
/* The share of cycles that waits for memory (section 4.3.2), in 1 / PROFILE_ONE; 0 where no cycles were counted. */
__u32 profile_stall(const struct profile_counts *d);
/*
 * Converts a stall share counted at one frequency to another, in 1 / PROFILE_ONE: waiting takes as long as before, all
 * else takes counted_khz / khz times as long. Returns the same share where either frequency is 0 or above 16 GHz.
 */
__u32 profile_stall_at(__u32 stall, __u32 counted_khz, __u32 khz);

/* The table's frequency, kHz; 0: there is no such bin or level. */
__u32 profile_table_khz(const struct profile_setup *s, __u32 bin, __u32 level);
/*
 * The bin whose frequency at a level is nearest to the one measured (section 4.2.1, step 3); of several that are
 * equally near, within 1 %, the one for so many active cores, or if these are not known (0) the one in the middle.
 * PROFILE_NO_BIN: there is no table, no such level, or the frequency is more than 4 % above all of them.
 * Sets *limited to whether the level limits the clock: false where it is more than 4 % below all bins of the level.
 */
__u32 profile_find_bin(const struct profile_setup *s, __u32 level, __u32 khz, __u32 active_cores, bool *limited);
/*
 * How much faster code runs at another frequency, eq. 4.3, in 1 / PROFILE_ONE: next / (stall * (next - now) + now).
 * 0 where either frequency is 0. Frequencies up to 16 GHz.
 */
__u32 profile_speedup(__u32 now_khz, __u32 next_khz, __u32 stall);

/* The interval between turn k and turn k + 1, ns: 0.5 to 1.5 of the mean, from the seed and k alone. */
__u64 profile_interval_ns(const struct profile_setup *s, __u64 k);
/*
 * The share of the time of physical cores that the profiler takes (section 4.5.3: pause / (cores * mean)), in
 * millionths; what it takes of a sibling while a core resumes counts likewise.
 */
__u32 profile_duty_ppm(const struct profile_setup *s, __u32 cores);
/* True: the numbers are within their limits and the duty is permitted. */
bool profile_setup_valid(const struct profile_setup *s, __u32 cores);
