/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over samples, and values with their limits that follow from them. */
#include "profiler/sums.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "analysis/stats/estimate.h"
#include "drivers/profile/profile_arithmetic.h"

#define SUMS_KHZ_PER_GHZ 1e6
/* from 800 MHz to 6.4 GHz: no processor with license levels clocks more slowly, or faster */
#define SUMS_ANY_MOST 7.0

/*
 * Stall cycle counting takes all cycles in which something executes to scale with the clock; those that overlap with
 * memory accesses do not (4.3.2). No cycles overlap where nothing stalls, nor where nothing computes, so their share of
 * all is usually taken for OVERLAP * stall * (1 - stall). Of that the model's error is OVERLAP * stall * (1 - stall) *
 * r / (1 + stall * r), r = next / now - 1; from 2.8 to 1.9 GHz (r = -0.321), and over stall shares spread evenly from 0
 * to 0.8 as those of SPEC CPU 2017 roughly are (figure 4.7), its mean is 0.071 * OVERLAP, measured to be 4.3 %.
 *
 * The error varies from code to code: "substantially across different benchmarks". At most, all that computes overlaps.
 * Of code whose loops overlap accesses with any share of their computation (doc/profiler.md, "The modelled system"),
 * alone and beside siblings, 95 % overlaps in less than MOST * (1 - stall) of its cycles, and where less than FULL of
 * them are stalled, in less in proportion.
 */
#define SUMS_OVERLAP 0.61
#define SUMS_OVERLAP_MOST 0.8
#define SUMS_OVERLAP_FULL 0.4

/*
 * The window's stall share is that of code alone on its core. Beside a sibling it computes at a lower rate, and stalls
 * for less of its time: between this share of its own rate and all of it, the middle of the modelled systems' 0.6 to 1.
 */
#define SUMS_BESIDE 0.8

/* The same of a level; 0: there is no table. */
static double profile_sums_level_most(const struct profile_setup *s, unsigned level)
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

/* The duration of a reduced level in the window, us: level 2 comes by way of level 1, at once or not. */
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

/* ---- limits ---- */

/* If values lie evenly between 0 and twice their mean, 95 % are within this share of the mean around it. */
#define LIMITS_EVEN 0.95

/* Without tables: what a change down and back costs on the processor of the dissertation, mean of those from 128-bit
 * to 256-bit and to 512-bit FMAs (34.4 and 42.7 us down, 5.2.1; 10 us up, 5.2.2); how long it keeps a level (4.6.1). */
#define LIMITS_CHANGE_US 48.6
#define LIMITS_WAIT_US 670.0
/* Without a table: the largest change of the same processor, from 1.9 to 2.8 GHz (4.3.2). */
#define LIMITS_CHANGE_MOST 0.474

/* Shares of turns or samples beyond which the upper limits of a row are no bound (sums.h). */
#define LIMITS_UNSETTLED_MOST 0.05
#define LIMITS_NOT_LIMITED_MOST 0.1
#define LIMITS_OFF_BINS_MOST 0.01

void profile_limits_prepare(struct profile_limits *l, const struct profile_setup *setup,
                            const struct profile_terms *terms, double largest_seen)
{
    *l = (struct profile_limits){.most = setup->n_bins > 0 ? profile_sums_most(setup)
                                                           : fmax(largest_seen, LIMITS_CHANGE_MOST),
                                 .sources = (setup->flags & PROFILE_SOURCES) != 0};
    for (unsigned level = 1; level < PROFILE_LEVELS; level++)
        l->change[level] = (isnan(terms->change_us[level]) ? LIMITS_CHANGE_US : terms->change_us[level]) /
                           (terms->wait_us > 0 ? terms->wait_us : LIMITS_WAIT_US);
    for (unsigned level = 1; level < PROFILE_LEVELS; level++)
        l->level_most[level] = setup->n_bins > 0 ? profile_sums_level_most(setup, level) : l->most;
    for (unsigned i = 1; i <= LIMITS_T; i++)
        l->t[i] = gsl_cdf_tdist_Pinv(0.975, i);
}

/* Above the table by a line in 1 / n, which t is to the third digit. */
static double limits_t(const struct profile_limits *l, uint64_t freedom)
{
    return freedom <= LIMITS_T ? l->t[freedom]
                               : ESTIMATE_Z95 + (l->t[LIMITS_T] - ESTIMATE_Z95) * LIMITS_T / (double)freedom;
}

/*
 * A share of k in n: Wilson 1927, whose limits hold in 95 % on average over shares; those of Clopper and Pearson hold
 * in more. None and all have one limit, at 95 % (for none about 3 / n: the rule of three).
 */
static struct profile_estimate limits_share(uint64_t k, uint64_t n)
{
    double m = (double)n, p = (double)k / m, zz = ESTIMATE_Z95 * ESTIMATE_Z95;
    if (n == 0)
        return (struct profile_estimate){NAN, NAN, NAN};
    double middle = (p + zz / (2 * m)) / (1 + zz / m), one_sided = pow(0.05, 1 / m);
    double half = sqrt(zz * (p * (1 - p) / m + zz / (4 * m * m))) / (1 + zz / m);
    return (struct profile_estimate){p,
                                     k == 0   ? 0
                                     : k == n ? one_sided
                                              : middle - half,
                                     k == 0   ? 1 - one_sided
                                     : k == n ? 1
                                              : middle + half};
}

/* The same of weights: the k samples weigh `w` of `all`. */
static struct profile_estimate limits_weighted_share(uint64_t k, uint64_t n, double w, double all)
{
    struct profile_estimate e = limits_share(k, n);
    if (k == 0 || k == n)
        return e;
    double one = w / (double)k, other = (all - w) / (double)(n - k);
    return (struct profile_estimate){w / all, e.lo * one / (e.lo * one + (1 - e.lo) * other),
                                     e.hi * one / (e.hi * one + (1 - e.hi) * other)};
}

/* The mean of a value where it is above 0, by the linearised variance of a ratio (Cochran, Sampling Techniques, 1977,
 * section 6.4) and Student's t. */
static struct profile_estimate limits_mean(const struct profile_limits *l, const struct profile_part_sums *p)
{
    if (p->n == 0)
        return (struct profile_estimate){l->most, l->most, l->most};
    double mean = p->wx / p->w;
    if (p->n == 1)
        return (struct profile_estimate){mean, 0, l->most};
    double squares = fmax(p->wwxx - 2 * mean * p->wwx + mean * mean * p->ww, 0), n = (double)p->n;
    double half = limits_t(l, p->n - 1) * sqrt(squares * n / (n - 1)) / p->w;
    return (struct profile_estimate){mean, fmax(mean - half, 0), fmin(mean + half, l->most)};
}

/*
 * Limits by sampling: a value is the share of samples in which there is any, times its mean in those. The limits of a
 * product follow from those of its factors (Zou and Donner, Statistics in Medicine 27, 2008: MOVER), which holds for
 * rare overhead, where the result is far from normal, as well as for frequent.
 */
static struct profile_estimate limits_sampled(const struct profile_limits *l, const struct profile_sums *s,
                                              const struct profile_part_sums *p)
{
    struct profile_estimate share = limits_weighted_share(p->n, s->known, p->w, s->w), mean = limits_mean(l, p);
    double value = share.value * mean.value;
    return (struct profile_estimate){
        value, value - hypot(mean.value * (share.value - share.lo), share.value * (mean.value - mean.lo)),
        value + hypot(mean.value * (share.hi - share.value), share.value * (mean.hi - mean.value))};
}

/*
 * Which part of the time in which samples are delayed is of waits that end with a change. A wait that wide code ends
 * costs no change. Where wide code comes at random, a fraction exp(-x) of gaps outlasts the wait, x = wait / mean gap;
 * what they outlast it by is at a faster level. So of the time without wide code, delayed / faster = exp(x) - 1.
 */
static double limits_ended(const struct profile_sums *s, unsigned level)
{
    double delayed = (double)s->delayed[level], faster = 0;
    for (unsigned i = 0; i < level; i++)
        faster += (double)s->actual[i];
    return faster > 0 && delayed > 0 ? log1p(delayed / faster) * faster / delayed : 0;
}

/*
 * The cost of throttling and halts, which 1000 no-ops do not see: a change for each wait that has ended. Without
 * sources, samples beside wide code cannot be distinguished from delayed ones: half of all is as good a guess as any.
 */
static double limits_changes(const struct profile_limits *l, const struct profile_sums *s, unsigned level)
{
    return (l->sources ? limits_ended(s, level) : 0.5) * l->change[level] * (double)s->delayed[level] /
           (double)s->known;
}

/* The mean errors of an estimate, relative to itself. */
struct limits_errors {
    double overlap, overlap_most; /* too large: accesses that overlap with computation; 95 % of codes have less */
    double changes;               /* too small: throttling and halts that were not seen; from 0 to twice as much */
    double late;                  /* too small: code that turned wide only after the pause; likewise */
    double beside;                /* too small: stalls are counted without the sibling; likewise */
};

/*
 * The errors combine like independent ones. What may make an estimate too small does not make its lower limit higher,
 * as it may be 0; the limits hold the estimate itself in any case.
 */
static struct profile_estimate limits_combined(const struct profile_estimate *sampled, const struct limits_errors *e,
                                               double most)
{
    double value = sampled->value, less = e->overlap, more = e->changes + e->late + e->beside - less;
    double spread = LIMITS_EVEN *
                    sqrt(less * less + e->changes * e->changes + e->late * e->late + e->beside * e->beside);
    double down = hypot(value - sampled->lo, e->overlap_most - less) + less,
           up = hypot(sampled->hi - value, spread) + more;
    return (struct profile_estimate){value, fmax(value - down, 0), fmin(value + fmax(up, 0), most)};
}

unsigned profile_limits_open(const struct profile_sums *s)
{
    return (limits_share(s->unsettled, s->busy).lo > LIMITS_UNSETTLED_MOST ? LIMITS_UNSETTLED : 0) |
           (limits_share(s->not_limited, s->known).lo > LIMITS_NOT_LIMITED_MOST ? LIMITS_NOT_LIMITED : 0) |
           (limits_share(s->off_bins, s->known).lo > LIMITS_OFF_BINS_MOST ? LIMITS_OFF_BINS : 0);
}

/* Samples that were lost or not seen may have had the largest change of their level; a table that does not fit has
 * none. */
static double limits_opened(const struct profile_limits *l, const struct profile_sums *s, bool level1, bool level2,
                            double hi)
{
    unsigned why = profile_limits_open(s);
    double lost = 0, w = s->w;
    for (unsigned level = 1; level < PROFILE_LEVELS; level++) {
        bool counts = level == 1 ? level1 : level2;
        if (why & LIMITS_UNSETTLED) {
            w += s->unsettled_w[level];
            lost += counts ? s->unsettled_w[level] * l->level_most[level] : 0;
        }
        if (why & (LIMITS_NOT_LIMITED | LIMITS_OFF_BINS))
            lost += counts ? s->unseen_w[level] * fmax(l->level_most[level], LIMITS_CHANGE_MOST) : 0;
    }
    return lost > 0 ? fmin(fmax(hi, (hi * s->w + lost) / w), fmax(l->most, LIMITS_CHANGE_MOST)) : hi;
}

static struct profile_estimate limits_part(const struct profile_limits *l, const struct profile_sums *s,
                                           enum profile_part_name which, bool level1, bool level2)
{
    const struct profile_part_sums *p = &s->part[which], *whole = &s->part[PART_OVERHEAD];
    struct profile_estimate sampled = limits_sampled(l, s, p);
    double part = whole->wx > 0 ? p->wx / whole->wx : 0;
    struct limits_errors e = {
        .overlap = s->overlap / s->w * part,
        .overlap_most = s->overlap_most / s->w * part,
        .beside = fmax(s->beside / s->w * part, 0),
        /* they are counted in actual time, overhead in ideal time */
        .changes = ((level1 ? limits_changes(l, s, 1) : 0) + (level2 ? limits_changes(l, s, 2) : 0)) *
                   (1 + whole->wx / s->w),
        .late = ((level1 ? s->late[1] : 0) + (level2 ? s->late[2] : 0)) / s->w,
    };
    struct profile_estimate all = limits_combined(&sampled, &e, l->most);
    all.hi = limits_opened(l, s, which != PART_LEVEL2, which != PART_LEVEL1, all.hi);
    return all;
}

void profile_limits_of(const struct profile_limits *l, const struct profile_sums *s, struct profile_row *row)
{
    const struct profile_estimate unknown = {NAN, NAN, NAN}, none = {0, 0, 0};
    row->overhead = row->sibling = row->delay = row->by_level[1] = row->by_level[2] = row->reduced = unknown;
    row->by_level[0] = s->known > 0 ? none : unknown;
    for (unsigned level = 0; level < PROFILE_LEVELS; level++)
        row->demands[level] = limits_share(s->demands[level], s->known);
    if (s->known == 0)
        return;
    row->open = profile_limits_open(s) != 0;
    row->overhead = limits_part(l, s, PART_OVERHEAD, true, true);
    row->by_level[1] = limits_part(l, s, PART_LEVEL1, true, false);
    row->by_level[2] = limits_part(l, s, PART_LEVEL2, false, true);
    row->reduced = limits_share(s->reduced, s->known);
    if (!l->sources)
        return;
    row->sibling = limits_part(l, s, PART_SIBLING, false, false);
    row->delay = limits_part(l, s, PART_DELAY, true, true);
}
