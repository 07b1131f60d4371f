/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profiler/limits.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "analysis/stats/estimate.h"

/* Of values that lie evenly between 0 and twice their mean, 95 % lie within this share of the mean around it. */
#define LIMITS_EVEN 0.95

/* Without tables: what a change down and back costs on the processor of the dissertation, the mean over levels and
 * active cores in the overhead table of data/models/xeon-gold-6130.model; how long it keeps a level (section 4.6.1). */
#define LIMITS_CHANGE_US 48.0
#define LIMITS_WAIT_US 670.0
/* Without a table: the largest change of the same processor, from 1.9 to 2.8 GHz (4.3.2). */
#define LIMITS_CHANGE_MOST 0.474

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
 * What sampling leaves open: a value is the share of samples in which there is any, times its mean in those. The limits
 * of a product follow from those of its factors (Zou and Donner, Statistics in Medicine 27, 2008: MOVER), which holds
 * for rare overhead, where the result is far from normal, as well as for frequent.
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
 * What throttling and halts cost, which 1000 no-ops do not see: a change for each wait that has ended. Without sources,
 * samples beside wide code cannot be told from delayed ones: half of all is as good a guess as any.
 */
static double limits_changes(const struct profile_limits *l, const struct profile_sums *s, unsigned level)
{
    return (l->sources ? limits_ended(s, level) : 0.5) * l->change[level] * (double)s->delayed[level] /
           (double)s->known;
}

/* By how much an estimate is wrong, in terms of itself, on average. */
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

/* What was lost, or not seen, may have had the largest change of its level; a table that does not fit tells none. */
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
