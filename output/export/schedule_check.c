/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks if finished tables may be used: they are of one measurement and have the columns and values that they promise;
 * and if the parameters found in them may be reported to a scheduler. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "output/export/schedule.h"
#include "tables/table/estimates.h"
#include "tables/table/tables.h"
#include "util/error.h"
#include "util/plain_text.h"

static bool same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

int schedule_check_tables(const struct table *const *tables, size_t n, char *why, size_t why_size)
{
    static const char *const keys[] = {"cpu", "machine", "modelled"};
    for (size_t i = 0; i < n; i++) {
        if (tables[i]->failed || !tables[i]->name)
            return error_line(why, why_size, "incomplete table: memory ran out while building it");
        for (size_t j = 0; j < i; j++)
            if (strcmp(tables[i]->name, tables[j]->name) == 0)
                return error_line(why, why_size, "the table %s is given twice", tables[i]->name);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const char *first = table_meta(tables[0], keys[k]), *other = table_meta(tables[i], keys[k]);
            if (same_text(first, other))
                continue;
            return error_line(why, why_size, "tables from different measurements: %s is '%.60s' in %s, '%.60s' in %s",
                              keys[k], first ? first : "", tables[0]->name, other ? other : "", tables[i]->name);
        }
    }
    return 0;
}

static int check_columns(const struct table *t, char *why, size_t why_size)
{
    const struct table_kind *k = tables_find(t->name);
    for (size_t c = 0; k && c < TABLES_PROMISED_MAX && k->promised[c]; c++)
        if (!table_has(t, k->promised[c]))
            return error_line(why, why_size, "the table %s has no column %s", t->name, k->promised[c]);
    return 0;
}

/* ---- what was read, which nobody may have measured ---- */

static int check_column_units(const struct table *t, char *why, size_t why_size)
{
    const struct table_kind *k = tables_find(t->name);
    for (size_t c = 0; k && c < k->n_columns; c++)
        for (size_t i = 0; i < t->n_columns; i++)
            if (strcmp(t->columns[i].name, k->columns[c].name) == 0 &&
                strcmp(t->columns[i].unit, k->columns[c].unit) != 0)
                return error_line(why, why_size, "the unit of %s is '%s', not '%s'", k->columns[c].name,
                                  plain_shown(t->columns[i].unit).text, k->columns[c].unit);
    return 0;
}

/* How many cores the processor has, as the table of frequencies says; 0: it is not among them. */
static double cores_of(const struct table *const *tables, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (table_setting(tables[i], "cores"))
            return strtod(table_setting(tables[i], "cores"), NULL);
    return 0;
}

/* Checks which kernel was run, and on how many cores. */
static int check_run(const struct table *t, size_t row, double cores, char *why, size_t why_size)
{
    static const char *const columns[] = {"kernel", "from", "to"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const char *name = table_has(t, columns[i]) ? table_text(t, row, columns[i]) : NULL;
        struct payload known;
        char unknown[200];
        if (name && kernel_parse(name, &known, unknown, sizeof unknown) != 0)
            return error_line(why, why_size, "row %zu: %s: %s (of --kernel-file, none is exported)", row + 1,
                              columns[i], unknown);
    }
    double active = table_has(t, "active_cores") ? table_number(t, row, "active_cores") : (double)NAN;
    if (cores > 0 && active > cores)
        return error_line(why, why_size, "row %zu: active_cores is %.0f, but the processor has %.0f cores", row + 1,
                          active, cores);
    return 0;
}

const struct table *schedule_check_read(const struct table *const *tables, size_t n, char *why, size_t why_size)
{
    double cores = cores_of(tables, n);
    for (size_t i = 0; i < n; i++) {
        if (check_column_units(tables[i], why, why_size) != 0)
            return tables[i];
        for (size_t row = 0; row < tables[i]->n_rows; row++)
            if (check_run(tables[i], row, cores, why, why_size) != 0)
                return tables[i];
    }
    return NULL;
}

/* ---- whatever its origin ---- */

/* Limits of a field that is there, each as far as it is known, enclose it; all three were rounded to nine digits. */
static int check_limits(const struct table *t, size_t row, const char *column, char *why, size_t why_size)
{
    struct estimate e = estimates_of_table(t, row, column);
    double value = e.value, lo = e.lo, hi = e.hi;
    double slack = 1e-7 * fmax(fabs(value), fmax(isfinite(lo) ? fabs(lo) : 0, isfinite(hi) ? fabs(hi) : 0)) + 1e-12;
    if (!(lo > value + slack) && !(hi < value - slack) && !(lo > hi + slack)) /* absent ones are NaN */
        return 0;
    return error_line(why, why_size, "the table %s, row %zu: %s is %.9g, with the limits %.9g to %.9g", t->name,
                      row + 1, column, value, lo, hi);
}

int schedule_check_rows(const struct table *const *tables, size_t n, char *why, size_t why_size)
{
    for (size_t i = 0; i < n; i++) {
        const struct table *t = tables[i];
        if (check_columns(t, why, why_size) != 0)
            return -1;
        for (size_t c = 0; c < t->n_columns; c++)
            for (size_t row = 0; row < t->n_rows && t->columns[c].type != TABLE_TEXT; row++)
                if (check_limits(t, row, t->columns[c].name, why, why_size) != 0)
                    return -1;
    }
    return 0;
}

/* ---- parameters: what tables may hold, each value for itself, and a scheduler must not be reported ---- */

enum { PERMILLE = 1000, RATIO_MOST = 2 * PERMILLE };

static int check_within(const char *list, size_t i, const char *name, const struct schedule_number *n, int32_t hi,
                        char *why, size_t why_size)
{
    if (!n->present || (n->value >= 0 && n->value <= hi))
        return 0;
    return error_line(why, why_size, "inconsistent export: %s[%zu]: %s is %d, not in 0 to %d", list, i, name,
                      (int)n->value, (int)hi);
}

/* The higher one of two levels is never faster, by more than a part of a step of the clock and beyond both limits. */
static bool is_faster(const struct schedule_number *b, const struct schedule_number *a)
{
    int32_t least = b->has_limits ? b->lo : b->value, most = a->has_limits ? a->hi : a->value;
    return b->value >= a->value + SCHEDULE_SAME_MHZ && least > most;
}

static int check_descending(const struct schedule_number *mhz, unsigned n_levels, int cpu, unsigned cores, char *why,
                            size_t why_size)
{
    for (unsigned l = 1, below = 0; l < n_levels; l++) {
        if (!mhz[l].present)
            continue;
        if (mhz[below].present && is_faster(&mhz[l], &mhz[below]))
            return error_line(why, why_size,
                              "inconsistent export: level %u at %d MHz is faster than level %u at %d MHz (cpu %d, "
                              "active_cores %u)",
                              l, (int)mhz[l].value, below, (int)mhz[below].value, cpu, cores);
        below = l;
    }
    return 0;
}

/* The modes of one wait are parts of a whole; each was rounded. */
static int check_shares(const char *list, const struct schedule_relaxation *r, size_t n, char *why, size_t why_size)
{
    long sum = 0;
    for (size_t i = 0; i < n; i++) {
        bool same = i > 0 && r[i].from == r[i - 1].from && r[i].to == r[i - 1].to;
        const struct schedule_number *share = &r[i].share_permille;
        sum = (same ? sum : 0) + (share->has_limits ? share->lo : share->value);
        if (check_within(list, i, "share_permille", share, PERMILLE, why, why_size) != 0)
            return -1;
        if (sum > PERMILLE + 1)
            return error_line(why, why_size,
                              "inconsistent export: %s[%zu]: the shares from %zu to %zu add up to more than 1000", list,
                              i, r[i].from, r[i].to);
    }
    return 0;
}

int schedule_check_consistent(const struct schedule *s, char *why, size_t why_size)
{
    int bad = 0;
    if (!s->cpu || !s->machine)
        return error_line(why, why_size, "inconsistent export: %s is missing", s->cpu ? "machine" : "cpu");
    for (size_t i = 0; !bad && i < s->n_points; i++)
        bad = check_descending(s->points[i].mhz, s->n_levels, s->points[i].cpu, s->points[i].active_cores, why,
                               why_size);
    for (size_t i = 0; !bad && i < s->n_turbos; i++)
        bad = check_descending(s->turbos[i].mhz, s->n_levels, s->turbos[i].cpu, s->turbos[i].cores_lo, why, why_size);
    bad = bad || check_shares("relaxations", s->relaxations, s->n_relaxations, why, why_size) ||
          check_shares("level_relaxations", s->level_relaxations, s->n_level_relaxations, why, why_size);
    for (size_t i = 0; !bad && i < s->n_triggers; i++)
        bad = check_within("triggers", i, "count", &s->triggers[i].count, INT32_MAX, why, why_size);
    for (size_t i = 0; !bad && i < s->n_throttles; i++)
        bad = check_within("throttles", i, "ratio_permille", &s->throttles[i].ratio_permille, RATIO_MOST, why,
                           why_size);
    return bad ? -1 : 0;
}
