/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of the single tables share: numbers of rows, what is added, what is left out. */
#include "output/export/schedule_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void *schedule_grow(void **array, size_t *n, size_t size)
{
    unsigned char *bigger = realloc(*array, (*n + 1) * size);
    if (!bigger)
        return NULL;
    *array = bigger;
    void *added = bigger + *n * size;
    memset(added, 0, size);
    (*n)++;
    return added;
}

struct schedule_number schedule_round(double value, double lo, double hi, double unit)
{
    struct schedule_number out = {0};
    if (!isfinite(value) || fabs(value * unit) > (double)INT32_MAX - 1)
        return out;
    out.present = true;
    out.value = (int32_t)lround(value * unit);
    if (!isfinite(lo) || !isfinite(hi) || fabs(lo * unit) > (double)INT32_MAX - 1 ||
        fabs(hi * unit) > (double)INT32_MAX - 1)
        return out;
    out.has_limits = true;
    out.lo = (int32_t)floor(lo * unit);
    out.hi = (int32_t)ceil(hi * unit);
    return out;
}

struct schedule_number schedule_field(const struct table *t, size_t row, const char *column, double unit)
{
    char lo[80], hi[80];
    snprintf(lo, sizeof lo, "%s_lo", column);
    snprintf(hi, sizeof hi, "%s_hi", column);
    return schedule_round(table_number(t, row, column), table_number(t, row, lo), table_number(t, row, hi), unit);
}

int schedule_whole_field(const struct table *t, size_t row, const char *column, int least, int most, int absent)
{
    double value = table_number(t, row, column);
    return value >= least && value <= most && value == floor(value) ? (int)value : absent;
}

unsigned schedule_cores_field(const struct table *t, size_t row)
{
    return (unsigned)schedule_whole_field(t, row, "active_cores", 1, UINT16_MAX, 0);
}

int schedule_level_field(const struct table *t, size_t row, const char *column)
{
    return schedule_whole_field(t, row, column, 0, SCHEDULE_LEVELS_MAX - 1, -1);
}

bool schedule_note_missing(struct schedule *s, const char *table, const char *why)
{
    size_t at = 0;
    while (at < s->n_missing && (strcmp(s->missing[at].table, table) != 0 || strcmp(s->missing[at].why, why) != 0))
        at++;
    if (at == s->n_missing) {
        struct schedule_missing new = {.table = strdup(table), .why = strdup(why)};
        struct schedule_missing *place = new.table &&new.why
                                             ? schedule_grow((void **)&s->missing, &s->n_missing, sizeof *place)
                                             : NULL;
        if (!place) {
            free(new.table);
            free(new.why);
            return false;
        }
        *place = new;
    }
    s->missing[at].count++;
    return true;
}

bool schedule_leave_out(struct schedule *s, const char *table, const char *why)
{
    if (!s->first_left_out[0])
        snprintf(s->first_left_out, sizeof s->first_left_out, "%s: %s", table, why);
    s->n_left_out++;
    if (!schedule_note_missing(s, table, why))
        return false;
    for (size_t i = 0; i < s->n_missing; i++)
        if (strcmp(s->missing[i].table, table) == 0 && strcmp(s->missing[i].why, why) == 0)
            s->missing[i].left_out = true;
    return true;
}

bool schedule_ignore(struct schedule *s, const struct table *t, const char *why)
{
    s->n_ignored++;
    return schedule_leave_out(s, t->name, why);
}
