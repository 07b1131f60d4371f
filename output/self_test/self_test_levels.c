/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The license counters: each must move with the width of the code. And the throttling on the way. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output/self_test/self_test_parts.h"
#include "util/order.h"

enum { LEVELS = 3, KERNELS_MAX = 8 };
/* Shares of the core's cycles: a level takes nearly all in one kernel and hardly any in another. */
static const double NEARLY_ALL = 0.9, HARDLY_ANY = 0.1, MORE_THAN_ALL = 1.05;
/* The same of ticks of the TSC, where the counter of cycles is the one that is wrong: cores run at a fifth of it to
 * three times as fast. */
static const double TICKS_ALL = 0.18, TICKS_ANY = 0.05, TICKS_MOST = 4;

/* The counts of each level's counter in each kernel, in cycles per cycle or per tick. NAN: not counted. */
struct shares {
    size_t n;
    const char *kernel[KERNELS_MAX];
    double share[KERNELS_MAX][LEVELS];
    double all, any, most; /* the bounds */
};

static double share_of(const struct self_test_stretch *s, enum counter_id id, bool of_cycles)
{
    double values[SELF_TEST_RECORDINGS_MAX];
    size_t n = 0;
    int column = self_test_column(s, id), base = of_cycles ? self_test_column(s, COUNTER_CYCLES) : 0;
    for (size_t k = 0; k < s->n && n < SELF_TEST_RECORDINGS_MAX; k++) {
        double share = self_test_grown(s, &s->recordings[k], column, 1, 0) /
                       self_test_grown(s, &s->recordings[k], base, 1, 0);
        if (isfinite(share))
            values[n++] = share;
    }
    return n > 0 ? order_median(values, n) : NAN;
}

static bool cycles_are_right(const struct self_test_lines *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->line[i].name, "cycles") == 0)
            return l->line[i].verdict == SELF_TEST_PASS;
    return false;
}

static void collect(const struct self_test_readings *r, bool of_cycles, struct shares *out)
{
    *out = (struct shares){.all = of_cycles ? NEARLY_ALL : TICKS_ALL,
                           .any = of_cycles ? HARDLY_ANY : TICKS_ANY,
                           .most = of_cycles ? MORE_THAN_ALL : TICKS_MOST};
    for (size_t i = 0; i < r->n_stretches && out->n < KERNELS_MAX; i++) {
        const struct self_test_stretch *s = &r->stretch[i];
        if (s->kind != SELF_TEST_STEADY || s->n == 0)
            continue;
        out->kernel[out->n] = s->kernel;
        for (int level = 0; level < LEVELS; level++)
            out->share[out->n][level] = share_of(s, (enum counter_id)(COUNTER_LVL0 + level), of_cycles);
        out->n++;
    }
}

/* The kernels in which a level's counter counts most and least; false: it was not counted in any. */
static bool extremes(const struct shares *s, int level, size_t *most, size_t *least)
{
    bool any = false;
    for (size_t k = 0; k < s->n; k++) {
        double share = s->share[k][level];
        if (isnan(share))
            continue;
        *most = !any || share > s->share[*most][level] ? k : *most;
        *least = !any || share < s->share[*least][level] ? k : *least;
        any = true;
    }
    return any;
}

static bool moves(const struct shares *s, int level)
{
    size_t most = 0, least = 0;
    return extremes(s, level, &most, &least) && s->share[most][level] >= s->all && s->share[least][level] <= s->any;
}

static bool silent(const struct shares *s, int level)
{
    size_t most = 0, least = 0;
    return extremes(s, level, &most, &least) && s->share[most][level] <= s->any;
}

/* A kernel whose cycles are counted at no level; NULL: there is none. */
static const char *uncounted(const struct shares *s)
{
    for (size_t k = 0; k < s->n; k++) {
        bool none = true; /* false also where one of them was not counted */
        for (int level = 0; level < LEVELS; level++)
            none = none && s->share[k][level] <= s->any;
        if (none)
            return s->kernel[k];
    }
    return NULL;
}

/*
 * A counter that never moves is wrong where the cycles of some kernel are counted at no level. Levels are used from the
 * lowest on: of several such counters it is the lowest one's fault, and the others were just not requested.
 */
static bool to_blame(const struct shares *s, int level)
{
    for (int below = 0; below < level; below++)
        if (silent(s, below))
            return false;
    return uncounted(s) != NULL;
}

/* Returns true if every kernel's cycles are counted at level 0 and none at another. */
static bool one_level_alone(const struct shares *s)
{
    size_t most = 0, least = 0;
    return extremes(s, 0, &most, &least) && s->share[least][0] >= s->all && s->share[most][0] <= s->most &&
           (!extremes(s, 1, &most, &least) || silent(s, 1)) && (!extremes(s, 2, &most, &least) || silent(s, 2));
}

static void judge_level(const struct self_test_readings *r, const struct shares *s, int level, bool of_cycles,
                        struct self_test_lines *out)
{
    enum counter_id id = (enum counter_id)(COUNTER_LVL0 + level);
    char name[16];
    size_t most = 0, least = 0;
    snprintf(name, sizeof name, "level %d", level);
    struct self_test_line *l = self_test_add(out, name, of_cycles ? "of cycles" : "of ticks");
    if (self_test_lacks(l, r, id))
        return;
    if (!extremes(s, level, &most, &least)) {
        self_test_no_stretch(l, r, SELF_TEST_STEADY);
        return;
    }
    bool scalar = strcmp(s->kernel[most], "64add") == 0 || s->share[0][level] > s->any;
    snprintf(l->text, sizeof l->text, "%.1f %% of the %s with %s, %.1f %% with %s", 100 * s->share[most][level],
             of_cycles ? "cycles" : "ticks", s->kernel[most], 100 * s->share[least][level], s->kernel[least]);
    if (level == 0 && one_level_alone(s)) {
        self_test_cannot(l,
                         "it counts all cycles of every kernel: either no kernel that runs here needs another license "
                         "level, or it only counts cycles",
                         "--table frequency shows whether wide code runs slower");
    } else if (silent(s, level) && !to_blame(s, level)) {
        self_test_cannot(l, "no kernel that runs here needed this license level",
                         "none needed: processors with fewer levels, or without AVX-512, never use it");
    } else if (silent(s, level)) {
        char why[200];
        snprintf(why, sizeof why, "it never counts, and the cycles of %s are counted at no level", uncounted(s));
        self_test_bound(l, s->share[most][level], s->all, s->most, why);
    } else if (moves(s, level) && scalar == (level == 0)) {
        self_test_bound(l, s->share[most][level], s->all, s->most, "it counts more cycles than there are");
    } else {
        self_test_bound(l, NAN, s->all, s->most,
                        level == 0 ? "only scalar code may count at level 0"
                                   : "only wide code may count at this level");
    }
}

/* ---- throttling ---- */

/* Scalar code is never throttled; of a sample in which wide code runs below this part of its rate it is. */
static const double SCALAR_THROTTLED = 0.01, SLOW_RATE = 0.7;
/* The first microsecond or two of new code run slowly because it is fetched: so little shows no throttling. */
static const double SLOW_LEAST_US = 4, THROTTLED_LEAST = 0.1;
/* The longest throttled sample of 1 us; longer ones were a halt, which is no throttling, or something else ran. */
static const double SLOW_MOST_US = 3;

enum { SWITCH_US_MOST = 1024, ALL_BUT_ONE_OF = 6 };

/* The wide kernel's behavior after the switch. */
struct throttling {
    double slow_us;   /* ran slowly in nearly all repetitions at the same time: what else runs on the core does not */
    double late_us;   /* of it in the last quarter: that is not the switch's doing */
    double throttled; /* cycles of throttling counted: the median of the repetitions */
};

/* Adds one repetition: which microseconds of it were slow. Returns when its last quarter begins, us. */
static double add_slow(const struct self_test_readings *r, const struct self_test_stretch *s,
                       const struct self_test_recording *rec, unsigned slow[SWITCH_US_MOST])
{
    double us = 1e6 / r->tsc_hz;
    bool seen[SWITCH_US_MOST] = {false};
    size_t last_quarter = rec->zero + 1;
    double all = rec->n > rec->zero ? self_test_grown(s, rec, 0, rec->zero, rec->n - 1) : 0;
    while (last_quarter + 1 < rec->n && self_test_grown(s, rec, 0, rec->zero, last_quarter) < 0.75 * all)
        last_quarter++;
    double usual = self_test_grown(s, rec, 1, last_quarter, 0) / self_test_grown(s, rec, 0, last_quarter, 0);
    for (size_t i = rec->zero; i + 1 < rec->n; i++) {
        double ticks = self_test_grown(s, rec, 0, i, i + 1), middle = 0.5 * ticks;
        middle += i > rec->zero ? self_test_grown(s, rec, 0, rec->zero, i) : 0;
        bool slowly = self_test_grown(s, rec, 1, i, i + 1) < SLOW_RATE * usual * ticks && ticks * us < SLOW_MOST_US;
        if (slowly && middle * us < SWITCH_US_MOST)
            seen[(size_t)(middle * us)] = true;
    }
    for (size_t i = 0; i < SWITCH_US_MOST; i++)
        slow[i] += seen[i];
    return last_quarter > rec->zero ? self_test_grown(s, rec, 0, rec->zero, last_quarter) * us : INFINITY;
}

static struct throttling after_switch(const struct self_test_readings *r, const struct self_test_stretch *s)
{
    struct throttling t = {0, 0, 0};
    double count[SELF_TEST_RECORDINGS_MAX], last_quarter = INFINITY;
    unsigned slow[SWITCH_US_MOST] = {0};
    int column = self_test_column(s, COUNTER_THROTTLE);
    size_t n = 0, counted = 0;
    for (; n < s->n && n < SELF_TEST_RECORDINGS_MAX; n++) {
        last_quarter = fmin(last_quarter, add_slow(r, s, &s->recordings[n], slow));
        count[counted] = self_test_grown(s, &s->recordings[n], column, s->recordings[n].zero, 0);
        counted += !isnan(count[counted]);
    }
    for (size_t i = 0; n && i < SWITCH_US_MOST; i++)
        if (slow[i] >= n - n / ALL_BUT_ONE_OF) {
            t.slow_us++;
            t.late_us += (double)i >= last_quarter;
        }
    t.throttled = counted > 0 ? order_median(count, counted) : 0;
    return t;
}

static void judge_throttle(const struct self_test_readings *r, struct self_test_lines *out)
{
    struct self_test_line *l = self_test_add(out, "throttle", "cycles");
    const struct self_test_stretch *s = self_test_find(r, SELF_TEST_SWITCH, NULL);
    const struct self_test_stretch *scalar = self_test_find(r, SELF_TEST_STEADY, "64add");
    double idle = scalar ? share_of(scalar, COUNTER_THROTTLE, false) : NAN;
    if (self_test_lacks(l, r, COUNTER_THROTTLE))
        return;
    if (!s || isnan(idle)) {
        self_test_no_stretch(l, r, s ? SELF_TEST_STEADY : SELF_TEST_SWITCH);
        return;
    }
    const struct throttling t = after_switch(r, s);
    snprintf(l->text, sizeof l->text,
             "%.0f cycles after %s to %s, which ran slowly for %.1f us; %.2f %% of the ticks in scalar code",
             t.throttled, s->from, s->kernel, t.slow_us, 100 * idle);
    if (idle > SCALAR_THROTTLED)
        self_test_bound(l, NAN, NAN, NAN, "it counts in scalar code, which is never throttled");
    else if (t.slow_us < SLOW_LEAST_US && t.throttled <= 0)
        self_test_cannot(l, "switching to wide code causes no throttling here", "");
    else if (t.late_us > 0 && t.throttled <= 0)
        self_test_cannot(l, "wide code runs slowly long after the switch, too: another thread on the core?",
                         "leave the core's SMT sibling idle");
    else
        self_test_bound(l, t.throttled,
                        t.slow_us < SLOW_LEAST_US ? NAN : THROTTLED_LEAST * t.slow_us * r->tsc_hz * 1e-6, NAN,
                        "the code ran slowly, and hardly any throttled cycles were counted");
}

void self_test_judge_levels(const struct self_test_readings *r, struct self_test_lines *out)
{
    struct shares s;
    bool of_cycles = cycles_are_right(out);
    collect(r, of_cycles, &s);
    for (int level = 0; level < LEVELS; level++)
        judge_level(r, &s, level, of_cycles, out);
    judge_throttle(r, out);
}
