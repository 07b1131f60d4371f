/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rows of a profile are shown, and what is known of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/output/profile_parts.h"

enum { ALWAYS_SHOWN = 5 };
#define SHARE_SHOWN 0.001
#define LOSS_SHOWN 0.01

const struct profile_row *profile_rows_of(const struct profile_result *r, enum profile_kind kind, size_t *n)
{
    size_t first = 0;
    while (first < r->n_rows && r->rows[first].kind != kind)
        first++;
    for (*n = 0; first + *n < r->n_rows && r->rows[first + *n].kind == kind;)
        ++*n;
    return *n ? &r->rows[first] : NULL;
}

const struct profile_row *profile_row_all(const struct profile_result *r)
{
    size_t n;
    return profile_rows_of(r, PROFILE_ALL, &n);
}

bool profile_is_victim(const struct profile_row *row)
{
    bool slowed = row->unattributed > PROFILE_PART_LEAST;
    for (size_t i = 0; i < row->n_culprits; i++)
        slowed = slowed || row->culprits[i].overhead > PROFILE_PART_LEAST;
    return slowed && row->overhead.lo > 0;
}

const char *profile_culprit_name(const struct profile_result *r, const struct profile_row *victim,
                                 const struct profile_culprit *c)
{
    if (c->row >= r->n_rows || !isfinite(c->overhead))
        return NULL;
    return &r->rows[c->row] == victim ? "itself" : r->rows[c->row].name;
}

/* What a row loses, of the time of all. */
static double loss_of(const struct profile_row *row)
{
    double loss = row->share * row->overhead.value;
    return loss > 0 ? loss : 0;
}

size_t *profile_rows_shown(const struct profile_row *rows, size_t n, size_t most, size_t *n_shown)
{
    size_t *shown = calloc(n + 1, sizeof *shown);
    double all = 0;
    for (size_t i = 0; i < n; i++)
        all += loss_of(&rows[i]);
    *n_shown = 0;
    for (size_t i = 0; shown && i < n && *n_shown < most; i++)
        if (i < ALWAYS_SHOWN || rows[i].share >= SHARE_SHOWN || loss_of(&rows[i]) > LOSS_SHOWN * all)
            shown[(*n_shown)++] = i;
    return shown;
}

bool profile_knows_parts(const struct profile_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isfinite(rows[i].sibling.value) && isfinite(rows[i].delay.value))
            return true;
    return false;
}
