/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/umask/umask.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "tables/table/pivot.h"
#include "tables/umask/meanings.h"

enum { SHOWN_MAX = 256 }; /* umasks, or kernels */
#define SHARE_NONE 0.0005 /* shown as a dot */
#define SUM_WITHIN 0.02   /* of the sum of its bits: a combination counts what they do */

bool umask_same(const struct table *t, size_t a, size_t b)
{
    return table_same(t, a, b, "event") && table_same(t, a, b, "umask");
}

/* The rows that come first for their umask (or kernel, or when): what a matrix has lines and columns of. */
static size_t firsts(const struct table *t, const char *column, size_t rows[SHOWN_MAX])
{
    size_t n = 0;
    for (size_t row = 0; row < t->n_rows && n < SHOWN_MAX; row++) {
        size_t k = 0;
        while (k < n && !table_same(t, row, rows[k], column))
            k++;
        if (k == n)
            rows[n++] = row;
    }
    return n;
}

static void put_share(struct pivot *p, const struct table *t, size_t umask, size_t kernel, size_t when)
{
    double share = NAN;
    for (size_t row = 0; row < t->n_rows && isnan(share); row++)
        if (table_same(t, row, umask, "umask") && table_same(t, row, kernel, "kernel") &&
            table_same(t, row, when, "when"))
            share = table_number(t, row, "share");
    if (share < SHARE_NONE)
        pivot_mark(p, ".");
    else
        pivot_number(p, share, 3);
}

static void print_shares(FILE *out, bool colour, const struct table *t, size_t when, const size_t *umasks,
                         size_t n_umasks)
{
    size_t kernels[SHOWN_MAX], n = firsts(t, "kernel", kernels);
    struct pivot p;
    pivot_init(&p, 1, "%s", table_text(t, when, "when"));
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "kernel");
    for (size_t u = 0; u < n_umasks; u++)
        pivot_text(&p, "%02XH", (unsigned)table_number(t, umasks[u], "umask"));
    for (size_t k = 0; k < n; k++) {
        pivot_line(&p, PIVOT_ROW);
        pivot_word(&p, table_text(t, kernels[k], "kernel"));
        for (size_t u = 0; u < n_umasks; u++)
            put_share(&p, t, umasks[u], kernels[k], when);
    }
    pivot_print(out, colour, &p);
}

/* How far a combination is from the sum of its bits, at most; NaN: it is none. */
static double farthest_from_sum(const struct table *t, size_t umask)
{
    double farthest = NAN;
    for (size_t row = 0; row < t->n_rows; row++)
        if (table_same(t, row, umask, "umask"))
            farthest = fmax(farthest, fabs(table_number(t, row, "share") - table_number(t, row, "bits_sum")));
    return farthest;
}

/* What is documented, how what was measured disagrees, and whether it is the sum of its bits. */
static void put_documented(struct pivot *p, const struct table *t, size_t row)
{
    double farthest = farthest_from_sum(t, row);
    pivot_word(p, table_text(t, row, "documented"));
    if (table_text(t, row, "disagrees"))
        pivot_more(p, "; measured otherwise: %s", table_text(t, row, "disagrees"));
    if (farthest <= SUM_WITHIN)
        pivot_more(p, "; the sum of its bits (within %.3f)", farthest);
    else if (isfinite(farthest))
        pivot_more(p, "; not the sum of its bits (off by up to %.3f)", farthest);
}

static void print_readings(FILE *out, bool colour, const struct table *t, const size_t *umasks, size_t n)
{
    static const struct pivot_field fields[] = {
        {"umask", "umask", PIVOT_PLAIN, NULL},
        {"counts", "reading", PIVOT_PLAIN, NULL},
        {"documented", NULL, PIVOT_PLAIN, put_documented},
    };
    struct pivot p;
    pivot_init(&p, 1, "What each umask counts, and what is documented");
    pivot_headings(&p, fields, sizeof fields / sizeof *fields);
    for (size_t u = 0; u < n; u++)
        pivot_fields(&p, t, umasks[u], fields, sizeof fields / sizeof *fields);
    pivot_print(out, colour, &p);
}

void umask_print(FILE *out, bool colour, const struct table *t)
{
    size_t umasks[SHOWN_MAX], whens[SHOWN_MAX], n = firsts(t, "umask", umasks), n_whens = firsts(t, "when", whens);
    pivot_note(out, 2, "Share of the core cycles that event %02XH counted; . = none, - = not measured",
               (unsigned)table_number(t, 0, "event"));
    for (size_t w = 0; w < n_whens; w++)
        print_shares(out, colour, t, whens[w], umasks, n);
    print_readings(out, colour, t, umasks, n);
}

/* ---- findings ---- */

/* Whether kernels of all kinds that the documents name ran while this row's umask was counted. */
static bool kinds_ran(const struct table *t, size_t row)
{
    enum { NARROW, LIGHT_256, HEAVY_256, LIGHT_512, HEAVY_512, KINDS };
    bool ran[KINDS] = {false};
    for (size_t i = 0; i < t->n_rows; i++) {
        const char *name = table_text(t, i, "kernel");
        struct payload p;
        if (!umask_same(t, i, row) || !name || !table_says(t, i, "when", "steady") || kernel_parse(name, &p, NULL, 0) ||
            p.density != 1 || p.kernel->latency_bound || p.kernel->width > 512)
            continue;
        bool heavy = p.kernel->weight == KERNEL_HEAVY;
        ran[p.kernel->width <= 128 ? NARROW : (p.kernel->width <= 256 ? LIGHT_256 : LIGHT_512) + (int)heavy] = true;
    }
    return ran[NARROW] && ran[LIGHT_256] && ran[HEAVY_256] && ran[LIGHT_512] && ran[HEAVY_512];
}

void umask_findings(FILE *out, const struct table *t)
{
    size_t umasks[SHOWN_MAX], n = firsts(t, "umask", umasks), disagreeing = 0, told = 0, documented = 0;
    bool all_kinds = true;
    for (size_t u = 0; u < n; u++) {
        const char *reading = table_text(t, umasks[u], "reading");
        unsigned umask = (unsigned)table_number(t, umasks[u], "umask");
        const char *document = table_text(t, umasks[u], "documented");
        if (meaning_document_of(document) != MEANING_UNDOCUMENTED) {
            documented++;
            /* where nothing was throttled for sure, it is not known what would be counted */
            bool seen = meaning_document_of(document) != MEANING_THROTTLED ||
                        table_says(t, umasks[u], "reading", "throttled");
            all_kinds = all_kinds && seen && kinds_ran(t, umasks[u]);
        }
        disagreeing += table_text(t, umasks[u], "disagrees") != NULL;
        if (!reading || __builtin_popcount(umask) != 1 || strcmp(reading, "nothing") == 0)
            continue;
        if (told++ == 0)
            fprintf(out, "Event %02XH, by single umask bits: ", (unsigned)table_number(t, umasks[u], "event"));
        fprintf(out, "%s%02XH %s", told > 1 ? "; " : "", umask, reading);
    }
    if (told)
        fprintf(out, ".\n");
    if (disagreeing)
        fprintf(out,
                disagreeing > 1 ? "%zu umasks do not behave as Intel documents them.\n"
                                : "%zu umask does not behave as Intel documents it.\n",
                disagreeing);
    else if (documented)
        fprintf(out, all_kinds ? "The documented umasks behave as Intel documents them.\n"
                               : "These kernels do not contradict what Intel documents of its umasks.\n");
}
