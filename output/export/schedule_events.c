/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which event code counts the cycles at a level. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tables/umask/umask_fit.h"
#include "output/export/schedule_parts.h"

/* Counts nearly all cycles of the level's kernels and nearly none of the others': the shares that perf's own test of
 * the license events requires (drivers/perf/perf_license.c). */
static const double COUNTED = 0.9, NOT_COUNTED = 0.1;

static bool event_fits(const struct schedule *s, const struct table *t, double event, double umask, int level)
{
    size_t own = 0, others = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *name = table_text(t, row, "kernel");
        double share = table_number(t, row, "share");
        const char *when = table_text(t, row, "when");
        struct schedule_kernel k;
        if ((when && strcmp(when, "steady") != 0) || table_number(t, row, "event") != event ||
            table_number(t, row, "umask") != umask || !name || !schedule_kernel_of(name, &k) || !k.plain ||
            k.density != 1 || !isfinite(share))
            continue;
        size_t at = schedule_class_of(s, &k);
        if (at == SIZE_MAX || !s->classes[at].level.present)
            continue;
        bool is_own = s->classes[at].level.value == level;
        if (is_own ? share < COUNTED : share > NOT_COUNTED)
            return false;
        own += is_own;
        others += !is_own;
    }
    return own && others;
}

/* What is documented to count a level; levels of a processor differ in what requests them, so any will do. */
static bool schedule_events_documented(const struct table *t, size_t row)
{
    const char *text = table_text(t, row, "documented");
    char name[60];
    if (!text)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
    enum meaning_document d = meaning_document_of(name);
    return d == MEANING_LEVEL_0 || d == MEANING_LEVEL_1 || d == MEANING_LEVEL_2;
}

/* The codes that fit a level. */
struct fitting {
    struct schedule_number any, known; /* known: documented as a level */
    bool several, several_known;
};

static void add_code(struct schedule_number *to, bool *several, int32_t code)
{
    *several = *several || (to->present && to->value != code);
    *to = (struct schedule_number){.present = true, .value = code};
}

/*
 * Codes that fit alike differ in what was not run, and nothing here tells which of them counts that, too: of several
 * the one that is documented as a level, otherwise none.
 */
void schedule_put_events(struct schedule *s, const struct table *t)
{
    for (unsigned level = 0; level < s->n_levels; level++) {
        struct fitting f = {.several = false};
        for (size_t row = 0; row < t->n_rows; row++) {
            double event = table_number(t, row, "event"), umask = table_number(t, row, "umask");
            if (!(event >= 0 && event <= UINT8_MAX && umask >= 0 && umask <= UINT8_MAX) ||
                !event_fits(s, t, event, umask, (int)level))
                continue;
            int32_t code = (int32_t)event | (int32_t)umask << 8;
            add_code(&f.any, &f.several, code);
            if (schedule_events_documented(t, row))
                add_code(&f.known, &f.several_known, code);
        }
        if (f.known.present && !f.several_known)
            s->level_event[level] = f.known;
        else if (!f.several)
            s->level_event[level] = f.any;
    }
}
