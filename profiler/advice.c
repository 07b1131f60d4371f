/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Advice for a task, a container or all that ran, in a sentence. */
#include "profiler/profile.h"

#include <math.h>
#include <stdio.h>

/* Characters of a name in a sentence. */
enum { ADVICE_NAME = 60 };
/* Causes of less are not worth a sentence: a share of the row's overhead, and of that of all */
#define ADVICE_SHARE_LEAST 0.25
/* nor is this, of the time */
#define ADVICE_OVERHEAD_LEAST 0.001

/* Overhead for which somebody answers, with the limits of all overhead in proportion. */
struct advice_cost {
    double value, lo, hi; /* percent */
};

static struct advice_cost advice_cost(const struct profile_row *row, double overhead)
{
    double share = overhead / row->overhead.value;
    return (struct advice_cost){100 * overhead, 100 * share * row->overhead.lo, 100 * share * row->overhead.hi};
}

/* The limits in the sentence must not read 0.0. */
static bool is_certain(const struct profile_row *row, const struct profile_estimate *e)
{
    return row->samples >= ADVICE_SAMPLES_LEAST && e->lo >= ADVICE_OVERHEAD_LEAST / 2;
}

static bool is_own(const struct profile_row *row, const struct profile_row *culprit)
{
    return culprit == row || (row->kind == PROFILE_CONTAINER && culprit->cgroup == row->cgroup);
}

/* Delays that the code of a task or container causes itself: break-even times are the tables'. */
static void advice_own(const struct profile_result *r, struct profile_row *row, double overhead)
{
    unsigned level = row->by_level[2].value > row->by_level[1].value ? 2 : 1;
    struct advice_cost cost = advice_cost(row, overhead);
    double breakeven = r->terms.breakeven_us[level];
    int n = snprintf(row->advice, sizeof(row->advice),
                     "Its own wide code slows what follows it by about %.1f %% (%.1f to %.1f): batch that work into "
                     "fewer, longer stretches, or use narrower instructions",
                     cost.value, cost.lo, cost.hi);
    snprintf(row->advice + n, sizeof(row->advice) - (size_t)n,
             isfinite(breakeven) ? "; leaving level %u in between pays off only in gaps of at least %.0f us." : ".",
             level, breakeven);
}

/* Tasks of a container slow each other as siblings. */
static void advice_among(struct profile_row *row, double overhead)
{
    struct advice_cost cost = advice_cost(row, overhead);
    snprintf(row->advice, sizeof(row->advice),
             "Its tasks slow each other as siblings on a core by about %.1f %% (%.1f to %.1f): separate those with "
             "wide code from the others (core scheduling, cpusets).",
             cost.value, cost.lo, cost.hi);
}

static void advice_others(const struct profile_result *r, struct profile_row *row, const struct profile_row *culprit,
                          double overhead)
{
    struct advice_cost cost = advice_cost(row, overhead);
    const char *before, *after;
    if (row->kind == PROFILE_ALL) {
        before = "Separate ";
        after = r->siblings ? " from the rest (cpusets, core scheduling)" : " from the rest (cpusets)";
    } else if (!r->siblings) {
        before = "Give ";
        after = " cores of its own (cpusets)";
    } else if (isnan(row->sibling.value)) {
        before = "Give ";
        after = " cores of its own (cpusets; or core scheduling, if siblings are the cause, which --sources shows)";
    } else if (row->sibling.value >= row->delay.value) {
        before = "Keep ";
        after = " off the sibling of its cores (core scheduling, cpusets)";
    } else {
        before = "Give ";
        after = " cores of its own (cpusets), as the level it leaves behind outlasts its time slice";
    }
    snprintf(row->advice, sizeof(row->advice), "%s%.*s%s: it costs about %.1f %% here (%.1f to %.1f).", before,
             ADVICE_NAME, culprit->name, after, cost.value, cost.lo, cost.hi);
}

/* Advice for a row that is slowed; false: nothing is certain. */
static bool advice_victim(const struct profile_result *r, struct profile_row *row)
{
    const struct profile_culprit *worst = NULL;
    const struct profile_estimate *delay = isnan(row->delay.value) ? &row->overhead : &row->delay, *part = delay;
    double own = 0;
    if (!is_certain(row, &row->overhead))
        return false;
    for (size_t i = row->n_culprits; i-- > 0;)
        if (is_own(row, &r->rows[row->culprits[i].row]))
            own += row->culprits[i].overhead;
        else
            worst = &row->culprits[i];
    bool among = row->kind == PROFILE_CONTAINER && row->sibling.value >= row->delay.value;
    if (worst != NULL && row->sibling.value >= row->delay.value)
        part = &row->sibling;
    double most = worst != NULL ? worst->overhead : 0;
    if (fmax(own, most) < fmax(ADVICE_SHARE_LEAST * row->overhead.value, ADVICE_OVERHEAD_LEAST) ||
        !is_certain(row, own <= most ? part
                         : among     ? &row->sibling
                                     : delay))
        return false;
    if (own > most && among)
        advice_among(row, own);
    else if (own > most)
        advice_own(r, row, own);
    else
        advice_others(r, row, &r->rows[worst->row], most);
    return true;
}

/* Advice for the sake of the others. */
static void advice_culprit(const struct profile_result *r, struct profile_row *row)
{
    const struct profile_row *all = &r->rows[0];
    if (row->causes >= ADVICE_SHARE_LEAST && row->samples >= ADVICE_SAMPLES_LEAST &&
        row->causes * all->overhead.value >= ADVICE_OVERHEAD_LEAST && is_certain(all, &all->overhead))
        snprintf(row->advice, sizeof(row->advice),
                 "It causes about %.0f %% of all overhead: cores of its own (cpusets) would spare the others.",
                 100 * row->causes);
}

/* Advice for all rows together: the task that slows the others most. No separation helps against its cost to itself. */
static void advice_all(const struct profile_result *r, struct profile_row *all)
{
    const struct profile_row *worst = NULL;
    for (size_t i = 0; i < r->n_rows; i++)
        if (r->rows[i].kind == PROFILE_TASK && r->rows[i].causes >= ADVICE_SHARE_LEAST &&
            (worst == NULL || r->rows[i].causes > worst->causes))
            worst = &r->rows[i];
    if (worst != NULL && all->overhead.value * worst->causes >= ADVICE_OVERHEAD_LEAST &&
        is_certain(all, &all->overhead))
        advice_others(r, all, worst, all->overhead.value * worst->causes);
}

void profile_advice(struct profile_result *r, size_t row)
{
    if (r->rows[row].kind == PROFILE_ALL) {
        advice_all(r, &r->rows[row]);
        return;
    }
    /* a core is where tasks run, whose rows tell more */
    if (r->rows[row].kind == PROFILE_CORE)
        return;
    if (!advice_victim(r, &r->rows[row]))
        advice_culprit(r, &r->rows[row]);
}
