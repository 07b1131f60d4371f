/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Relaxation waits of schedulers. The modes of one pair of kernels belong together: their shares are of the same waits.
 * So of several pairs between the same classes (or levels) one is exported, with all of its modes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/export/schedule_parts.h"
#include "tables/table/estimates.h"

/* What was measured together: the first row with these kernels and this number of active cores. */
static size_t source_of(const struct table *t, size_t row)
{
    const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
    unsigned cores = schedule_cores_field(t, row);
    size_t first = 0;
    while (first < row && !(table_says(t, first, "from", from) && table_says(t, first, "to", to) &&
                            schedule_cores_field(t, first) == cores))
        first++;
    return first;
}

static bool schedule_waits_put(struct schedule *s, const struct schedule_relaxation *r)
{
    for (size_t i = 0; i < s->n_relaxations; i++) {
        struct schedule_relaxation *old = &s->relaxations[i];
        if (old->source != r->source || old->mode != r->mode)
            continue;
        if (r->wait_ns.value > old->wait_ns.value)
            *old = *r;
        return true;
    }
    return schedule_add((void **)&s->relaxations, &s->n_relaxations, sizeof *r, r);
}

bool schedule_wait_row(struct schedule *s, const struct table *t, size_t row, size_t from, size_t to)
{
    double mode = table_number(t, row, "mode");
    size_t against;
    char why[200];
    struct schedule_relaxation r = {.from = from,
                                    .to = to,
                                    .source = source_of(t, row),
                                    .wait_ns = schedule_field(t, row, "wait_us", 1e3),
                                    .share_permille = schedule_field(t, row, "share", 1e3)};
    if (!r.wait_ns.present || r.wait_ns.value < 0)
        return schedule_ignore(s, t, "wait_us is missing, below 0, or beyond 2 s");
    if (mode != 1 && mode != 2)
        return schedule_ignore(s, t, "mode is neither 1 nor 2");
    switch (estimates_wait_support(t, row, &against)) {
    case WAIT_NO_LIMITS:
        return schedule_ignore(s, t, "wait_us, or the frequencies around it, have no limits; more --runs would help");
    case WAIT_NOT_SLOWER:
        return schedule_ignore(s, t,
                               "the frequency before the rise is not below that of plain code beyond their limits, so "
                               "the rise does not end a wait");
    case WAIT_CONTRADICTED:
        snprintf(why, sizeof why, "a wait of %.0f us after %.30s, against %.0f us in its row %.10s %.30s",
                 table_number(t, row, "wait_us"), table_text(t, row, "from"), table_number(t, against, "wait_us"),
                 table_text(t, against, "what"), table_text(t, against, "by") ? table_text(t, against, "by") : "");
        return schedule_ignore(s, t, why);
    case WAIT_TOLD:
        break;
    }
    r.mode = (unsigned)mode;
    return schedule_waits_put(s, &r);
}

/* The mean wait of a source; the longest one where the shares are not known. */
static double mean_wait(const struct schedule_relaxation *list, size_t n, size_t source)
{
    double sum = 0, shares = 0, longest = 0;
    bool known = true;
    for (size_t i = 0; i < n; i++) {
        if (list[i].source != source)
            continue;
        known = known && list[i].share_permille.present;
        sum += (double)list[i].wait_ns.value * list[i].share_permille.value;
        shares += list[i].share_permille.value;
        longest = fmax(longest, list[i].wait_ns.value);
    }
    return known && shares > 0 ? sum / shares : longest;
}

/* Of sources that wait equally long the first one in the table. */
static bool is_chosen(const struct schedule_relaxation *list, size_t n, const struct schedule_relaxation *r)
{
    double mean = mean_wait(list, n, r->source);
    for (size_t i = 0; i < n; i++) {
        if (list[i].from != r->from || list[i].to != r->to || list[i].source == r->source)
            continue;
        double other = mean_wait(list, n, list[i].source);
        if (other > mean || (other == mean && list[i].source < r->source))
            return false;
    }
    return true;
}

bool schedule_choose_waits(struct schedule_relaxation **list, size_t *n)
{
    struct schedule_relaxation *chosen = calloc(*n + 1, sizeof *chosen);
    size_t kept = 0;
    if (!chosen)
        return false;
    for (size_t i = 0; i < *n; i++)
        if (is_chosen(*list, *n, &(*list)[i]))
            chosen[kept++] = (*list)[i];
    free(*list);
    *list = chosen;
    *n = kept;
    return true;
}
