/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From finished tables to scheduler parameters: whose tables they are, and each table to its reader. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/export/schedule_parts.h"
#include "tables/table/estimates.h"
#include "tables/table/tables.h"
#include "util/error.h"

/* ---- whose tables ---- */

static bool put_settings(struct schedule *s, const struct table *t)
{
    bool done = true;
    for (size_t i = 0; i < t->n_settings && done; i++) {
        const struct schedule_setting new = {t->name, t->settings[i].key, t->settings[i].value};
        done = schedule_add((void **)&s->settings, &s->n_settings, sizeof new, &new);
    }
    const struct schedule_setting of_computer = {t->name, "environment", table_meta(t, "environment")};
    if (done && of_computer.value)
        done = schedule_add((void **)&s->settings, &s->n_settings, sizeof of_computer, &of_computer);
    return done;
}

static bool put_missing(struct schedule *s, const struct table *t)
{
    for (size_t i = 0; i < t->n_missing; i++)
        if (!schedule_note_missing(s, t->name, t->missing[i].why ? t->missing[i].why : "no reason was given"))
            return false;
    return t->n_rows || t->n_missing || schedule_leave_out(s, t->name, "the table has no rows");
}

static bool put_provenance(struct schedule *s, const struct table *const *tables, size_t n)
{
    bool done = true;
    s->cpu = table_meta(tables[0], "cpu");
    s->machine = table_meta(tables[0], "machine");
    s->source = table_meta(tables[0], "source");
    s->version = table_meta(tables[0], "version");
    s->modelled = table_modelled(tables[0]);
    for (size_t i = 0; i < n && done; i++) {
        /* ISO 8601 in UTC: as text in order */
        const char *date = table_meta(tables[i], "date");
        if (date && (!s->date_first || strcmp(date, s->date_first) < 0))
            s->date_first = date;
        if (date && (!s->date_last || strcmp(date, s->date_last) > 0))
            s->date_last = date;
        done = put_settings(s, tables[i]) && put_missing(s, tables[i]);
    }
    return done;
}

/* ---- all of it ---- */

/* The table that a part is read of; NULL: it is not among them. */
static const struct table *schedule_source(const struct table *const *tables, size_t n, enum tables_export part)
{
    const struct table_kind *k = tables_exported(part);
    for (size_t i = 0; i < n; i++)
        if (strcmp(tables[i]->name, k->name) == 0)
            return tables[i];
    return NULL;
}

/* Each missing source is reported. */
static bool note_absent_tables(struct schedule *s, const struct table *const *tables, size_t n)
{
    char why[80];
    for (enum tables_export part = EXPORT_NOTHING + 1; part < TABLES_EXPORTS; part++) {
        const char *name = tables_exported(part)->name;
        snprintf(why, sizeof why, "the table %s was not measured", name);
        if (!schedule_source(tables, n, part) && !schedule_note_missing(s, name, why))
            return false;
    }
    return true;
}

static unsigned cores_of(const struct table *frequency)
{
    const char *text = table_setting(frequency, "cores");
    long cores = text ? strtol(text, NULL, 10) : 0;
    return cores > 0 && cores <= UINT16_MAX ? (unsigned)cores : 0;
}

static bool put_all(struct schedule *s, const struct table *const *tables, size_t n)
{
    static const enum tables_export pairs[] = {EXPORT_COSTS, EXPORT_WAITS, EXPORT_THROTTLING};
    const struct table *frequency = schedule_source(tables, n, EXPORT_FREQUENCIES),
                       *trigger = schedule_source(tables, n, EXPORT_TRIGGERS);
    const struct table *umask = schedule_source(tables, n, EXPORT_LEVEL_EVENTS);
    bool done = put_provenance(s, tables, n) && (!frequency || schedule_put_classes(s, frequency, "kernel")) &&
                (!trigger || schedule_put_classes(s, trigger, "kernel"));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && done; i++) {
        const struct table *t = schedule_source(tables, n, pairs[i]);
        done = !t || (schedule_put_classes(s, t, "from") && schedule_put_classes(s, t, "to"));
    }
    if (done && frequency) {
        s->cores = cores_of(frequency);
        schedule_put_levels(s, frequency);
        done = schedule_put_frequencies(s, frequency);
    }
    done = done && (!trigger || schedule_put_triggers(s, trigger, frequency));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && done; i++) {
        const struct table *t = schedule_source(tables, n, pairs[i]);
        done = !t || schedule_put_pairs(s, t, pairs[i], frequency);
    }
    done = done && schedule_put_level_pairs(s);
    if (done && umask)
        schedule_put_events(s, umask);
    return done && note_absent_tables(s, tables, n);
}

/* The reason that most entries of a table have: of what was measured and cannot be used, else of what was not measured;
 * what a kernel needs of the processor only where there is no other. NULL: there is none. */
static const struct schedule_missing *main_reason(const struct schedule *s, const char *table)
{
    const struct schedule_missing *best = NULL;
    int best_rank = 0;
    for (size_t i = 0; i < s->n_missing; i++) {
        const struct schedule_missing *m = &s->missing[i];
        int rank = m->left_out ? 3 : strncmp(m->why, "needs ", 6) != 0 ? 2 : 1;
        if (strcmp(m->table, table) != 0 || rank < best_rank || (rank == best_rank && m->count <= best->count))
            continue;
        best = m;
        best_rank = rank;
    }
    return best;
}

/* What of it is not there, and why: section by section. */
static void tell_nothing(const struct schedule *s, const struct table *const *tables, size_t n, char *why, size_t size)
{
    static const char *const sections[] = {[EXPORT_FREQUENCIES] = "levels and frequencies",
                                           [EXPORT_TRIGGERS] = "triggers",
                                           [EXPORT_COSTS] = "costs",
                                           [EXPORT_WAITS] = "waits",
                                           [EXPORT_THROTTLING] = "throttling"};
    const struct table *frequency = schedule_source(tables, n, EXPORT_FREQUENCIES);
    char none[SUPPORT_WHY_MAX];
    bool levels = !frequency || estimates_levels(frequency, -1, none);
    snprintf(why, size, "nothing that a scheduler could use was measured");
    for (enum tables_export part = EXPORT_FREQUENCIES; part <= EXPORT_THROTTLING; part++) {
        const struct table *t = schedule_source(tables, n, part);
        const struct schedule_missing *m = main_reason(s, tables_exported(part)->name);
        bool found_nothing = t && t->n_rows && !(m && m->left_out);
        bool of_levels = t && part != EXPORT_THROTTLING; /* without levels, whatever else is missing */
        size_t used = strlen(why);
        snprintf(why + used, size - used, "; %s: %.250s", sections[part],
                 of_levels && !levels  ? none
                 : found_nothing || !m ? "none was found"
                                       : m->why);
    }
}

int schedule_from_tables(const struct table *const *tables, size_t n, struct schedule *out, char *why, size_t why_size)
{
    memset(out, 0, sizeof *out);
    if (n == 0)
        return error_line(why, why_size, "no tables: measure at least the table frequency");
    if (schedule_check_tables(tables, n, why, why_size) != 0 || schedule_check_rows(tables, n, why, why_size) != 0)
        return -1;
    if (!put_all(out, tables, n)) {
        schedule_free(out);
        return error_line(why, why_size, "out of memory");
    }
    if (out->n_points || out->n_triggers || out->n_costs || out->n_relaxations || out->n_throttles)
        return 0;
    tell_nothing(out, tables, n, why, why_size);
    schedule_free(out);
    return -1;
}
