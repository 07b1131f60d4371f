/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events that a scheduler counts: cycles at each level, throttled and stalled ones. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "drivers/events/event_code.h"
#include "output/export/schedule_parts.h"
#include "tables/umask/umask_fit.h"

const char *const schedule_event_names[SCHEDULE_EVENTS] = {"throttle", "stall_loads", "stall_stores"};

/* ---- which event code counts the cycles at a level ---- */

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

/* Returns true if the row's bit is documented to count a level. Processors differ in which code requests which level,
 * so any level will do. */
static bool is_documented(const struct table *t, size_t row)
{
    const char *text = table_text(t, row, "documented");
    char name[60];
    if (!text)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
    enum meaning_document d = umask_document_of(name);
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
 * Codes that fit alike differ in what was not run, and nothing here says which of them counts that, too: of several
 * the one that is documented as a level, otherwise none.
 */
static void put_level_events(struct schedule *s, const struct table *t)
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
            if (is_documented(t, row))
                add_code(&f.known, &f.several_known, code);
        }
        if (f.known.present && !f.several_known)
            s->level_event[level] = f.known;
        else if (!f.several)
            s->level_event[level] = f.any;
    }
}

/* ---- others ---- */

static void put_event(struct schedule *s, enum schedule_event which, uint64_t code)
{
    s->event[which] = code <= UINT32_MAX ? (struct schedule_code){true, (uint32_t)code} : s->event[which];
}

void schedule_put_events(struct schedule *s, const struct table *umask)
{
    put_level_events(s, umask);
    for (size_t row = 0; row < umask->n_rows; row++)
        if (table_says(umask, row, "reading", "throttled"))
            put_event(s, SCHEDULE_THROTTLE,
                      event_code_make((unsigned)table_number(umask, row, "event"),
                                      (unsigned)table_number(umask, row, "umask")));
    for (size_t i = 0; i < UMASK_STALLS; i++) {
        const char *text = table_setting(umask, umask_stall_settings[i]);
        const char *last = text ? strrchr(text, ' ') : NULL;
        uint64_t code;
        if (last && event_code_parse(last + 1, &code) == NULL)
            put_event(s, SCHEDULE_STALL_LOADS + (enum schedule_event)i, code);
    }
}
