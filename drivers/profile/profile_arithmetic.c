// SPDX-License-Identifier: GPL-2.0-or-later
/* The arithmetic of a sample: rates, ratios and overhead in integers, as the kernel has no floating point. */
#include "drivers/profile/profile_arithmetic.h"

enum { PERMILLE = 1000, NEAR_PERMILLE = 10, FAR_PERMILLE = 40, KHZ_MAX = 16000000 };

struct profile_counts profile_difference(const struct profile_counts *from, const struct profile_counts *to)
{
    struct profile_counts d = {.missing = from->missing | to->missing};
    for (unsigned i = 0; i < PROFILE_COUNTERS; i++)
        d.count[i] = to->count[i] - from->count[i];
    return d;
}

static bool profile_counted(const struct profile_counts *d, enum profile_counter c)
{
    return (d->missing >> c & 1) == 0;
}

__u32 profile_khz(const struct profile_counts *d, __u32 ref_khz)
{
    __u64 cycles = d->count[PROFILE_CYCLES], ref = d->count[PROFILE_REF];
    if (!profile_counted(d, PROFILE_CYCLES) || !profile_counted(d, PROFILE_REF) || ref == 0 || cycles >> 32 != 0)
        return 0;
    __u64 khz = (cycles * ref_khz + ref / 2) / ref;
    return khz > KHZ_MAX ? 0 : (__u32)khz;
}

__u32 profile_level(const struct profile_counts *d)
{
    __u64 cycles = d->count[PROFILE_CYCLES], one = d->count[PROFILE_LEVEL1], two = d->count[PROFILE_LEVEL2];
    if (!profile_counted(d, PROFILE_CYCLES) || !profile_counted(d, PROFILE_LEVEL1) ||
        !profile_counted(d, PROFILE_LEVEL2) || cycles == 0 || (cycles | one | two) >> 32 != 0)
        return PROFILE_NO_LEVEL;
    if (two * 8 > cycles * 7)
        return 2;
    if (one * 8 > cycles * 7)
        return 1;
    return (one + two) * 8 < cycles ? 0 : PROFILE_NO_LEVEL;
}

__u32 profile_stall(const struct profile_counts *d)
{
    __u64 cycles = d->count[PROFILE_CYCLES], stalled = 0;
    for (unsigned i = PROFILE_STALL_LOADS; i <= PROFILE_STALL_STORES; i++)
        stalled += profile_counted(d, i) ? d->count[i] : 0;
    if (cycles == 0 || (cycles | stalled) >> 32 != 0)
        return 0;
    return stalled >= cycles ? PROFILE_ONE : (__u32)(stalled * PROFILE_ONE / cycles);
}

__u32 profile_stall_at(__u32 stall, __u32 counted_khz, __u32 khz)
{
    if (counted_khz == 0 || khz == 0 || counted_khz > KHZ_MAX || khz > KHZ_MAX || stall > PROFILE_ONE)
        return stall;
    /* at most 2^24 * 2^16 each, one of them positive */
    __u64 waits = (__u64)stall * khz, computes = (__u64)(PROFILE_ONE - stall) * counted_khz;
    return (__u32)(((waits << 16) + (waits + computes) / 2) / (waits + computes));
}

__u32 profile_table_khz(const struct profile_setup *s, __u32 bin, __u32 level)
{
    if (bin >= s->n_bins || bin >= PROFILE_BINS_MAX || level >= PROFILE_LEVELS)
        return 0;
    while (level > 0 && s->bin[bin].khz[level] == 0)
        level--;
    return s->bin[bin].khz[level];
}

static __u32 profile_distance(__u32 a, __u32 b)
{
    return a > b ? a - b : b - a;
}

/* Chooses among the bins within `reach` of khz: the one for so many active cores, or the middle one. */
static __u32 profile_choose_bin(const struct profile_setup *s, __u32 level, __u32 khz, __u32 reach, __u32 active_cores)
{
    __u32 found[PROFILE_BINS_MAX], n = 0;
    for (__u32 i = 0; i < s->n_bins && i < PROFILE_BINS_MAX; i++)
        if (profile_distance(profile_table_khz(s, i, level), khz) <= reach)
            found[n++] = i;
    if (n == 0)
        return PROFILE_NO_BIN;
    for (__u32 i = 0; i < n && active_cores > 0; i++)
        if (s->bin[found[i]].cores >= active_cores)
            return found[i];
    return active_cores > 0 ? found[n - 1] : found[(n - 1) / 2];
}

__u32 profile_find_bin(const struct profile_setup *s, __u32 level, __u32 khz, __u32 active_cores, bool *limited)
{
    __u32 nearest = khz, lowest = 0, highest = 0;
    *limited = false;
    if (khz == 0 || khz > KHZ_MAX)
        return PROFILE_NO_BIN;
    for (__u32 i = 0; i < s->n_bins && i < PROFILE_BINS_MAX; i++) {
        __u32 here = profile_table_khz(s, i, level), distance = profile_distance(here, khz);
        if (i == 0 || distance < nearest)
            nearest = distance;
        if (i == 0 || here < lowest)
            lowest = here;
        if (here > highest)
            highest = here;
    }
    if ((__u64)khz * PERMILLE > (__u64)highest * (PERMILLE + FAR_PERMILLE))
        return PROFILE_NO_BIN;
    *limited = (__u64)khz * PERMILLE >= (__u64)lowest * (PERMILLE - FAR_PERMILLE);
    return profile_choose_bin(s, level, khz, nearest + (__u32)((__u64)khz * NEAR_PERMILLE / PERMILLE), active_cores);
}

__u32 profile_speedup(__u32 now_khz, __u32 next_khz, __u32 stall)
{
    if (now_khz == 0 || next_khz == 0 || now_khz > KHZ_MAX || next_khz > KHZ_MAX || stall > PROFILE_ONE)
        return 0;
    /* at most 2^24 * 2^16 each, and positive: stall * next + (1 - stall) * now */
    __u64 below = (__u64)stall * next_khz + (__u64)(PROFILE_ONE - stall) * now_khz;
    return (__u32)((((__u64)next_khz << 32) + below / 2) / below);
}

/* SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figure 17). */
static __u64 profile_random(__u64 x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

__u64 profile_interval_ns(const struct profile_setup *s, __u64 k)
{
    __u64 mean_ns = (__u64)s->mean_us * 1000;
    return mean_ns / 2 + (profile_random(s->seed ^ profile_random(k)) >> 32) * mean_ns / (1ull << 32);
}

__u32 profile_duty_ppm(const struct profile_setup *s, __u32 cores)
{
    if (cores == 0 || s->mean_us == 0)
        return 1000000;
    __u64 ppm = (__u64)s->pause_us * 1000000 / ((__u64)cores * s->mean_us);
    return ppm > 1000000 ? 1000000 : (__u32)ppm;
}

bool profile_setup_valid(const struct profile_setup *s, __u32 cores)
{
    if ((s->flags & ~(__u32)PROFILE_FLAGS) != 0 || s->n_bins > PROFILE_BINS_MAX ||
        ((s->flags & PROFILE_REHEARSAL) == 0 && s->ref_khz == 0) || s->ref_khz > KHZ_MAX)
        return false;
    if (s->mean_us < PROFILE_MEAN_US_MIN || s->mean_us > PROFILE_MEAN_US_MAX || s->pause_us < PROFILE_PAUSE_US_MIN ||
        s->pause_us > PROFILE_PAUSE_US_MAX || s->window_us < PROFILE_WINDOW_US_MIN ||
        s->window_us > PROFILE_WINDOW_US_MAX)
        return false;
    for (__u32 i = 0; i < s->n_bins; i++) {
        if (s->bin[i].khz[0] == 0 || s->bin[i].cores == 0 || (i > 0 && s->bin[i].cores <= s->bin[i - 1].cores))
            return false;
        for (unsigned level = 0; level < PROFILE_LEVELS; level++)
            if (s->bin[i].khz[level] > KHZ_MAX)
                return false;
    }
    return profile_duty_ppm(s, cores) <= PROFILE_DUTY_PERCENT_MAX * 10000;
}
