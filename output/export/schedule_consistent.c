/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tables may hold, each value for itself, and a scheduler must not be told. */
#include <stdio.h>

#include "output/export/schedule.h"

enum { PERMILLE = 1000, RATIO_MOST = 2 * PERMILLE };

static bool is_within(const char *list, size_t i, const char *name, const struct schedule_number *n, int32_t hi,
                      char *why, size_t why_size)
{
    if (!n->present || (n->value >= 0 && n->value <= hi))
        return true;
    snprintf(why, why_size, "inconsistent export: %s[%zu]: %s is %d, not in 0 to %d", list, i, name, (int)n->value,
             (int)hi);
    return false;
}

/* Of two levels the higher one is never faster, by more than a part of a step of the clock and beyond both limits. */
static bool schedule_is_faster(const struct schedule_number *b, const struct schedule_number *a)
{
    int32_t least = b->has_limits ? b->lo : b->value, most = a->has_limits ? a->hi : a->value;
    return b->value >= a->value + SCHEDULE_SAME_MHZ && least > most;
}

static bool levels_descend(const struct schedule_number *mhz, unsigned n_levels, int cpu, unsigned cores, char *why,
                           size_t why_size)
{
    for (unsigned l = 1, below = 0; l < n_levels; l++) {
        if (!mhz[l].present)
            continue;
        if (mhz[below].present && schedule_is_faster(&mhz[l], &mhz[below])) {
            snprintf(why, why_size,
                     "inconsistent export: level %u at %d MHz is faster than level %u at %d MHz (cpu %d, active_cores "
                     "%u)",
                     l, (int)mhz[l].value, below, (int)mhz[below].value, cpu, cores);
            return false;
        }
        below = l;
    }
    return true;
}

/* The modes of one wait are parts of a whole; each was rounded. */
static bool shares_add_up(const char *list, const struct schedule_relaxation *r, size_t n, char *why, size_t why_size)
{
    long sum = 0;
    for (size_t i = 0; i < n; i++) {
        bool same = i > 0 && r[i].from == r[i - 1].from && r[i].to == r[i - 1].to;
        const struct schedule_number *share = &r[i].share_permille;
        sum = (same ? sum : 0) + (share->has_limits ? share->lo : share->value);
        if (!is_within(list, i, "share_permille", share, PERMILLE, why, why_size))
            return false;
        if (sum > PERMILLE + 1) {
            snprintf(why, why_size, "inconsistent export: %s[%zu]: the shares from %zu to %zu add up to more than 1000",
                     list, i, r[i].from, r[i].to);
            return false;
        }
    }
    return true;
}

static bool values_possible(const struct schedule *s, char *why, size_t why_size)
{
    for (size_t i = 0; i < s->n_triggers; i++)
        if (!is_within("triggers", i, "count", &s->triggers[i].count, INT32_MAX, why, why_size))
            return false;
    for (size_t i = 0; i < s->n_throttles; i++)
        if (!is_within("throttles", i, "ratio_permille", &s->throttles[i].ratio_permille, RATIO_MOST, why, why_size))
            return false;
    return true;
}

int schedule_check_consistent(const struct schedule *s, char *why, size_t why_size)
{
    bool good = s->cpu && s->machine;
    if (!good)
        snprintf(why, why_size, "inconsistent export: %s is missing", s->cpu ? "machine" : "cpu");
    for (size_t i = 0; good && i < s->n_points; i++)
        good = levels_descend(s->points[i].mhz, s->n_levels, s->points[i].cpu, s->points[i].active_cores, why,
                              why_size);
    for (size_t i = 0; good && i < s->n_turbos; i++)
        good = levels_descend(s->turbos[i].mhz, s->n_levels, s->turbos[i].cpu, s->turbos[i].cores_lo, why, why_size);
    good = good && shares_add_up("relaxations", s->relaxations, s->n_relaxations, why, why_size) &&
           shares_add_up("level_relaxations", s->level_relaxations, s->n_level_relaxations, why, why_size) &&
           values_possible(s, why, why_size);
    return good ? 0 : -1;
}
