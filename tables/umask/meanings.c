/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/umask/meanings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text_list.h"

static int meanings_by_demand(const void *a, const void *b)
{
    const struct meaning_kind *x = a, *y = b;
    if (x->width != y->width)
        return x->width < y->width ? -1 : 1;
    return (int)x->heavy - (int)y->heavy;
}

bool meaning_add(struct meaning_input *r, unsigned width, bool heavy, double share)
{
    for (size_t i = 0; i < r->n_kinds; i++) {
        struct meaning_kind *k = &r->kinds[i];
        if (k->width == width && k->heavy == heavy) {
            k->lo = fmin(k->lo, share);
            k->hi = fmax(k->hi, share);
            return true;
        }
    }
    if (r->n_kinds == READINGS_KINDS_MAX)
        return false;
    r->kinds[r->n_kinds++] = (struct meaning_kind){width, heavy, share, share};
    qsort(r->kinds, r->n_kinds, sizeof r->kinds[0], meanings_by_demand);
    return true;
}

enum meaning_answer meaning_counts(const struct meaning_kind *k)
{
    return k->lo >= MEANING_COUNTS ? MEANING_YES : k->hi <= MEANING_COUNTS_NOT ? MEANING_NO : MEANING_PARTLY;
}

/* ---- words ---- */

static void name_width(unsigned width, const char *before, const char *unit, char out[40])
{
    if (width > 512)
        snprintf(out, 40, "tiles");
    else
        snprintf(out, 40, "%s%u%s", before, width, unit);
}

static void name_kind(const struct meaning_kind *k, char out[40])
{
    name_width(k->width, k->heavy ? "heavy " : "light ", "", out);
}

/* The kinds from `i` on that share its width; *answer is that of all of them, or MEANING_PARTLY where they differ. */
static size_t same_width(const struct meaning_input *r, size_t i, enum meaning_answer *answer)
{
    size_t end = i;
    *answer = meaning_counts(&r->kinds[i]);
    for (; end < r->n_kinds && r->kinds[end].width == r->kinds[i].width; end++)
        if (meaning_counts(&r->kinds[end]) != *answer)
            *answer = MEANING_PARTLY;
    return end;
}

static void name_one(const struct meaning_kind *k, char out[READINGS_TEXT_MAX])
{
    char name[40];
    enum meaning_answer a = meaning_counts(k);
    name_kind(k, name);
    if (a == MEANING_YES)
        text_list_add(out, READINGS_TEXT_MAX, ", ", "%s", name);
    else if (a == MEANING_PARTLY && k->hi - k->lo < 0.01)
        text_list_add(out, READINGS_TEXT_MAX, ", ", "%s in part (%.2f)", name, (k->lo + k->hi) / 2);
    else if (a == MEANING_PARTLY)
        text_list_add(out, READINGS_TEXT_MAX, ", ", "%s in part (%.2f to %.2f)", name, k->lo, k->hi);
}

/* Widths that count whatever the weight, from the narrowest on, are told together. */
static void name_kinds(const struct meaning_input *r, char out[READINGS_TEXT_MAX])
{
    size_t i = 0;
    unsigned up_to = 0;
    enum meaning_answer answer = MEANING_NO;
    char name[40];
    while (i < r->n_kinds && r->kinds[0].width <= 128) {
        size_t end = same_width(r, i, &answer);
        if (answer != MEANING_YES)
            break;
        up_to = r->kinds[i].width;
        i = end;
    }
    if (up_to) {
        name_width(up_to, "up to ", " bit", name);
        text_list_add(out, READINGS_TEXT_MAX, ", ", "%s", name);
    }
    while (i < r->n_kinds) {
        size_t end = same_width(r, i, &answer);
        if (answer == MEANING_YES && end > i + 1) {
            name_width(r->kinds[i].width, "", " bit", name);
            text_list_add(out, READINGS_TEXT_MAX, ", ", "%s", name);
            i = end;
        }
        for (; i < end; i++)
            name_one(&r->kinds[i], out);
    }
}

/* ---- readings ---- */

#define EDGES 0.03    /* shares: the samples at the edges of a phase ... */
#define RELATIVE 0.25 /* ... and of a short phase, relative */
#define COUNTED 0.01  /* shares above are no noise of the readings */

static double edges(const struct meaning_change *c)
{
    return EDGES + RELATIVE * c->slow;
}

/* More cycles are slow than are counted, and by more than something else than throttling may be slow. */
static bool meanings_uncounted(const struct meaning_change *c)
{
    return c->slow - c->share - c->other > edges(c);
}

/* What counts throttled cycles counts those of every change, give or take the samples at the edges of a phase. */
static bool is_throttle(const struct meaning_input *r)
{
    bool seen = false;
    for (size_t i = 0; i < r->n_changes; i++) {
        const struct meaning_change *c = &r->changes[i];
        if (isnan(c->share) || isnan(c->slow) || isnan(c->other))
            continue;
        if (c->share - c->slow > edges(c) || meanings_uncounted(c))
            return false;
        seen = seen || c->share > EDGES || fmin(c->share, c->slow) > COUNTED;
    }
    return seen;
}

/* Whether throttled code was not counted. Where none was throttled, what counts throttled cycles counts nothing. */
static bool throttled_uncounted(const struct meaning_input *r)
{
    for (size_t i = 0; i < r->n_changes; i++)
        if (meanings_uncounted(&r->changes[i]))
            return true;
    return false;
}

static bool counts_at_changes(const struct meaning_input *r, double more)
{
    for (size_t i = 0; i < r->n_changes; i++)
        if (r->changes[i].share > more)
            return true;
    return false;
}

void meaning_text(const struct meaning_input *r, char out[READINGS_TEXT_MAX])
{
    size_t yes = 0, no = 0;
    out[0] = '\0';
    for (size_t i = 0; i < r->n_kinds; i++) {
        yes += meaning_counts(&r->kinds[i]) == MEANING_YES;
        no += meaning_counts(&r->kinds[i]) == MEANING_NO;
    }
    if (no < r->n_kinds && (yes < r->n_kinds || yes < 2))
        name_kinds(r, out);
    else
        snprintf(out, READINGS_TEXT_MAX, "%s",
                 no < r->n_kinds                 ? "everything"
                 : is_throttle(r)                ? "throttled"
                 : counts_at_changes(r, COUNTED) ? "changes"
                                                 : "nothing");
}

/* ---- documentation ---- */

/* Intel's public event lists (perfmon, skylakex_core.json and those of later cores with these events), descriptions of
 * CORE_POWER: level 0 "non-AVX codes, SSE, AVX 128-bit, and low-current AVX 256-bit", level 1 "high current AVX 256-bit
 * instructions as well as low current AVX 512-bit", level 2 "high current AVX 512-bit", throttle "cycles ... throttled
 * due to a pending power level request". */
static const struct {
    const char *name, *text;
} documents[] = {
    [MEANING_UNDOCUMENTED] = {"", ""},
    [MEANING_LEVEL_0] = {"CORE_POWER.LVL0_TURBO_LICENSE", "up to 128 bit, light 256"},
    [MEANING_LEVEL_1] = {"CORE_POWER.LVL1_TURBO_LICENSE", "heavy 256, light 512"},
    [MEANING_LEVEL_2] = {"CORE_POWER.LVL2_TURBO_LICENSE", "heavy 512"},
    [MEANING_THROTTLED] = {"CORE_POWER.THROTTLE", "throttled while a level is pending"},
};

enum meaning_document meaning_document_of(const char *event)
{
    size_t length = event ? strcspn(event, ":") : 0;
    for (enum meaning_document d = MEANING_LEVEL_0; event && d <= MEANING_THROTTLED; d++)
        if (strlen(documents[d].name) == length && strncmp(documents[d].name, event, length) == 0)
            return d;
    return MEANING_UNDOCUMENTED;
}

const char *meaning_document_text(enum meaning_document d)
{
    return documents[d].text;
}

static bool meanings_documented(enum meaning_document d, const struct meaning_kind *k)
{
    switch (d) {
    case MEANING_LEVEL_0:
        return k->width <= 128 || (k->width == 256 && !k->heavy);
    case MEANING_LEVEL_1:
        return (k->width == 256 && k->heavy) || (k->width == 512 && !k->heavy);
    case MEANING_LEVEL_2:
        return k->width == 512 && k->heavy;
    default:
        return false;
    }
}

void meaning_disagreement(const struct meaning_input *r, enum meaning_document d, char out[READINGS_TEXT_MAX])
{
    char name[40];
    out[0] = '\0';
    for (size_t i = 0; i < r->n_kinds && d != MEANING_UNDOCUMENTED; i++) {
        const struct meaning_kind *k = &r->kinds[i];
        enum meaning_answer a = meaning_counts(k);
        if (k->width > 512 || a == (meanings_documented(d, k) ? MEANING_YES : MEANING_NO))
            continue; /* tiles are newer than the descriptions */
        name_kind(k, name);
        text_list_add(out, READINGS_TEXT_MAX, "; ", "%s is %s", name,
                      a == MEANING_YES  ? "counted"
                      : a == MEANING_NO ? "not counted"
                                        : "counted in part");
    }
    if (d != MEANING_THROTTLED || out[0] || is_throttle(r))
        return;
    if (counts_at_changes(r, EDGES))
        snprintf(out, READINGS_TEXT_MAX, "cycles other than throttled ones are counted");
    else if (throttled_uncounted(r))
        snprintf(out, READINGS_TEXT_MAX, "no throttled cycles are counted");
}
