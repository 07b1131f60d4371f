/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ranges of columns of tables. They are wide: only what no processor and no measurement of one can be lies
 * outside. */
#include <math.h>
#include <string.h>

#include "tables/table/table.h"
#include "trace/trace.h"

static const double WHOLE_MAX = 9007199254740992.0; /* 2^53: what JSON readers take exactly */

struct named_range {
    const char *name; /* of a column, without _lo and _hi; NULL: of all others of this unit */
    const char *unit;
    struct trace_range range;
};

#define DURATION 0, 1e12, false, "0 to 1e12 us"

/* Costs, trends, windows and powers are differences, and may be below 0; durations are not. */
static const struct named_range ranges[] = {
    {"duration_us", "us", {DURATION}},
    {"latency_us", "us", {DURATION}},
    {"wait_us", "us", {DURATION}},
    {"tau_us", "us", {DURATION}},
    {"sd_us", "us", {DURATION}},
    {"breakeven_us", "us", {DURATION}},
    {NULL, "us", {-1e12, 1e12, false, "-1e12 to 1e12 us"}},
    {NULL, "W", {-1e5, 1e5, false, "-100000 to 100000 W"}},
    {NULL, "nJ", {-1e6, 1e6, false, "-1e6 to 1e6 nJ"}},
    {NULL, "1/cycle", {0, 64, false, "0 to 64 a cycle"}},
    {"bits_sum", "1", {0, 8, false, "0 to 8"}}, /* of up to eight shares */
    {NULL, "1", {0, 1, false, "0 to 1"}},
    {"share", "", {0, 1, false, "0 to 1"}},
    {"ipc_ratio", "", {0, 100, false, "0 to 100"}},
    {"count", "", {0, 1e15, false, "0 to 1e15"}},
    {"spread", "", {0, 1e6, false, "0 to 1e6"}},
    {"event", "", {0, 0xfff, false, "0 to 4095"}},
    {"umask", "", {0, 0xff, false, "0 to 255"}},
};

/* Limits may be on the other side of what a value may be: by as much as the range is wide. */
static bool within_widely(const struct trace_range *r, double value)
{
    return value >= r->lo - (r->hi - r->lo) && value <= r->hi + (r->hi - r->lo);
}

/* The names of columns carry their units; what a file says of the unit may be anything. */
static const char *unit_of(const struct table_column *c, size_t length)
{
    static const char *const ends[][2] = {{"_ghz", "GHz"}, {"_us", "us"}, {"volts", "V"}, {"watts", "W"}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(ends[i][0]);
        if (length >= n && strncmp(c->name + length - n, ends[i][0], n) == 0)
            return ends[i][1];
    }
    return strncmp(c->name, "nj_", 3) == 0 ? "nJ" : c->unit;
}

static const struct trace_range *range_of(const struct table_column *c, size_t length)
{
    const char *unit = unit_of(c, length);
    if (strcmp(unit, "GHz") == 0)
        return trace_channel_range(TRACE_FREQ);
    if (strcmp(unit, "V") == 0)
        return trace_channel_range(TRACE_VOLTS);
    for (int k = TRACE_LVL0; k <= TRACE_LVL2; k++)
        if (strcmp(c->name, trace_channel_name((enum trace_channel)k)) == 0)
            return trace_channel_range((enum trace_channel)k);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const struct named_range *r = &ranges[i];
        bool named = !r->name || (strlen(r->name) == length && strncmp(r->name, c->name, length) == 0);
        if (named && strcmp(r->unit, unit) == 0)
            return &r->range;
    }
    return NULL;
}

const char *table_value_refused(const struct table_column *c, double value)
{
    size_t length = table_base_length(c->name);
    bool limit = c->name[length] != '\0';
    const struct trace_range *r = range_of(c, length);
    if (c->type == TABLE_TEXT || isnan(value))
        return NULL;
    if (c->type == TABLE_WHOLE && !(value >= 0 && value <= WHOLE_MAX && value == floor(value)))
        return "whole numbers from 0 to 2^53";
    if (!r)
        return isfinite(value) ? NULL : "finite numbers";
    return (limit ? within_widely(r, value) : trace_within(r, value)) ? NULL : r->text;
}

static bool values_in_range(const struct table *t, const struct table_value *values, const char *where, size_t i,
                            char *why, size_t size)
{
    for (size_t c = 0; c < t->n_columns; c++) {
        const char *range = table_value_refused(&t->columns[c], values[c].number);
        if (range) {
            snprintf(why, size, "%s %zu: %.60s '%.9g' is outside its range, %s", where, i + 1, t->columns[c].name,
                     values[c].number, range);
            return false;
        }
    }
    return true;
}

bool table_in_range(const struct table *t, char *why, size_t size)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (!values_in_range(t, t->values + i * t->n_columns, "row", i, why, size))
            return false;
    for (size_t i = 0; i < t->n_missing; i++)
        if (!values_in_range(t, t->missing[i].values, "missing entry", i, why, size))
            return false;
    return true;
}
