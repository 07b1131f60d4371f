/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profiler/sums.h"

#include <math.h>

#include "drivers/profile/profile_arithmetic.h"

#define SUMS_KHZ_PER_GHZ 1e6
/* from 800 MHz to 6.4 GHz: no processor with license levels clocks more slowly, or faster */
#define SUMS_ANY_MOST 7.0

/*
 * Stall cycle counting takes all cycles in which something executes to scale with the clock; those that overlap with
 * memory accesses do not (4.3.2). No cycles overlap where nothing stalls, nor where nothing computes, so their share of
 * all is usually taken for OVERLAP * stall * (1 - stall). Of that the model's error is OVERLAP * stall * (1 - stall) *
 * r / (1 + stall * r), r = next / now - 1; from 1.9 to 2.8 GHz (r = 0.474), and over stall shares spread evenly from 0
 * to 0.8 as those of SPEC CPU 2017 roughly are (figure 4.7), its mean is 0.073 * OVERLAP, measured to be 4.3 %.
 *
 * The error varies from code to code: "substantially across different benchmarks". At most, all that computes overlaps.
 * Of code whose loops overlap accesses with any share of their computation (doc/profiler.md, "The modelled system"),
 * alone and beside siblings, 95 % overlaps in less than MOST * (1 - stall) of its cycles, and where less than FULL of
 * them are stalled, in less in proportion.
 */
#define SUMS_OVERLAP 0.59
#define SUMS_OVERLAP_MOST 0.8
#define SUMS_OVERLAP_FULL 0.4

/*
 * The window's stall share is that of code alone on its core. Beside a sibling it computes at a lower rate, and stalls
 * for less of its time: between this share of its own rate and all of it, the middle of the modelled systems' 0.6 to 1.
 */
#define SUMS_BESIDE 0.8

double profile_sums_level_most(const struct profile_setup *s, unsigned level)
{
    double most = 0;
    for (__u32 bin = 0; bin < s->n_bins; bin++) {
        double slow = profile_table_khz(s, bin, level);
        most = slow > 0 ? fmax(most, profile_table_khz(s, bin, 0) / slow - 1) : most;
    }
    return most;
}

double profile_sums_most(const struct profile_setup *s)
{
    double most = 0;
    for (unsigned level = 1; level < PROFILE_LEVELS; level++)
        most = fmax(most, profile_sums_level_most(s, level));
    return s->n_bins > 0 ? most : SUMS_ANY_MOST;
}

static double sample_gain(uint32_t speedup, double most)
{
    return fmin(fmax((double)speedup / PROFILE_ONE - 1, 0), most);
}

/* By how much eq. 4.3 is too large where such a share of the cycles overlaps. */
static double sample_overlap(const struct profile_record *r, double gain, double overlap)
{
    double fixed = fmin((double)r->stall / PROFILE_ONE + overlap, 1), rise = (double)r->ideal_khz / r->actual_khz - 1;
    return fmin(fmax(gain - ((1 + rise) / (1 + fixed * rise) - 1), 0), gain);
}

/* By how much eq. 4.3 is too small with stalls that were counted without the sibling. */
static double sample_beside(const struct profile_record *r, double gain, double most)
{
    double stall = fmin((double)r->stall / PROFILE_ONE, 1), beside = stall / (stall + (1 - stall) / SUMS_BESIDE);
    if (r->sight.other.pid == 0)
        return 0;
    return sample_gain(profile_speedup(r->actual_khz, r->ideal_khz, (uint32_t)(beside * PROFILE_ONE)), most) - gain;
}

bool profile_sample_of(const struct profile_record *r, double most, struct profile_sample *out)
{
    if (r->outcome != PROFILE_TAKEN || r->actual_khz == 0 || r->ideal_khz == 0 || r->speedup == 0 ||
        r->level_actual >= PROFILE_LEVELS || r->level_ideal >= PROFILE_LEVELS)
        return false;
    bool shared = (r->flags & PROFILE_SHARED) != 0 && r->level_shared < PROFILE_LEVELS;
    double gain = sample_gain(r->speedup, most),
           kept = shared ? fmin(sample_gain(r->speedup_shared, most), gain) : gain;
    double stall = fmin((double)r->stall / PROFILE_ONE, 1);
    unsigned needed = shared && r->level_shared > r->level_ideal ? r->level_shared : r->level_ideal;
    *out = (struct profile_sample){
        .weight = r->actual_khz / SUMS_KHZ_PER_GHZ,
        .value = {[PART_OVERHEAD] = gain,
                  [PART_SIBLING] = gain - kept,
                  [PART_DELAY] = kept,
                  [PART_LEVEL1] = r->level_actual == 1 ? gain : 0,
                  [PART_LEVEL2] = r->level_actual == 2 ? gain : 0},
        .overlap = sample_overlap(r, gain, SUMS_OVERLAP * stall * (1 - stall)),
        .overlap_most = sample_overlap(r, gain, SUMS_OVERLAP_MOST * (1 - stall) * fmin(stall / SUMS_OVERLAP_FULL, 1)),
        .beside = sample_beside(r, gain, most),
        .actual = r->level_actual,
        .demanded = r->level_ideal,
        .delayed = r->level_actual > needed ? r->level_actual : 0,
        .reduced = r->level_actual > r->level_ideal,
        .not_limited = (r->flags & PROFILE_NOT_LIMITED) != 0,
    };
    return true;
}

/* How long a reduced level lasted in the window, us: level 2 comes by way of level 1, at once or not. */
static float sample_level_us(const struct profile_record *r)
{
    double at = (double)r->window.count[PROFILE_LEVEL1] + (double)r->window.count[PROFILE_LEVEL2];
    double all = (double)r->window.count[PROFILE_CYCLES];
    return all > 0 ? (float)(fmin(at / all, 1) * r->window_ns / 1e3) : 0;
}

void profile_sample_late(const struct profile_record *r, const struct profile_setup *s, double most,
                         float longest_us[PROFILE_LEVELS], struct profile_sample *x)
{
    uint32_t narrow = profile_table_khz(s, r->bin, 0), now = profile_table_khz(s, r->bin, r->level_actual);
    float us = sample_level_us(r), *longest = &longest_us[r->level_ideal];
    if (r->level_ideal == 0 || narrow == 0 || now == 0)
        return;
    *longest = fmaxf(*longest, us);
    if (us >= *longest / 2)
        return;
    uint32_t next = (uint32_t)((uint64_t)r->actual_khz * narrow / now);
    x->late = 2 * (sample_gain(profile_speedup(r->actual_khz, next, r->stall), most) - x->value[PART_OVERHEAD]);
}

void profile_sums_add(struct profile_sums *sums, const struct profile_sample *x)
{
    sums->known++;
    sums->demands[x->demanded]++;
    sums->delayed[x->delayed]++;
    sums->actual[x->actual]++;
    sums->reduced += x->reduced;
    sums->not_limited += x->not_limited;
    sums->off_bins += x->off_bins;
    if (x->not_limited && x->reduced)
        sums->unseen_w[x->actual] += x->weight;
    sums->w += x->weight;
    sums->overlap += x->weight * x->overlap;
    sums->overlap_most += x->weight * x->overlap_most;
    sums->beside += x->weight * x->beside;
    sums->late[x->actual] += x->weight * x->late;
    for (unsigned i = 0; i < PROFILE_PARTS; i++)
        if (x->value[i] > 0) {
            struct profile_part_sums *p = &sums->part[i];
            double wx = x->weight * x->value[i];
            p->n++;
            p->w += x->weight;
            p->wx += wx;
            p->ww += x->weight * x->weight;
            p->wwx += x->weight * wx;
            p->wwxx += wx * wx;
        }
}

void profile_sums_unsettled(struct profile_sums *sums, const struct profile_record *r)
{
    /* a level that was changing before the pause says nothing of its length */
    if (r->outcome != PROFILE_UNSETTLED || r->level_actual == 0 || r->level_actual >= PROFILE_LEVELS ||
        r->level_paused == 0)
        return;
    sums->unsettled++;
    sums->unsettled_w[r->level_actual] += r->actual_khz / SUMS_KHZ_PER_GHZ;
}
