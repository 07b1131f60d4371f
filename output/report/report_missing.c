/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report's list of what could not be measured: each reason once, with all that it kept from being measured. */
#include <string.h>

#include "output/report/html.h"
#include "output/report/report_parts.h"

/* Entries of a reason that are named before the reader opens the others. */
enum { NAMED = 8 };

static const char *report_missing_reason(const struct report_part *p, size_t entry)
{
    const char *why = p->table->missing[entry].why;
    return why ? why : "no reason was given";
}

/* Whether an earlier entry of the parts has the same reason: the list is then printed there. */
static bool seen_before(const struct report_part *parts, size_t part, size_t entry)
{
    const char *why = report_missing_reason(&parts[part], entry);
    for (size_t p = 0; p <= part; p++) {
        size_t n = p < part ? parts[p].table->n_missing : entry;
        for (size_t i = 0; i < n; i++)
            if (strcmp(report_missing_reason(&parts[p], i), why) == 0)
                return true;
    }
    return false;
}

static size_t count_of(const struct report_part *p, const char *why)
{
    size_t n = 0;
    for (size_t i = 0; i < p->table->n_missing; i++)
        n += strcmp(report_missing_reason(p, i), why) == 0;
    return n;
}

/* The entries of one table with this reason, numbers `from` to `to` of them. */
static void entries(FILE *out, const struct report_words *w, const struct report_part *p, const char *why, size_t from,
                    size_t to)
{
    size_t k = 0;
    for (size_t i = 0; i < p->table->n_missing; i++) {
        if (strcmp(report_missing_reason(p, i), why) != 0)
            continue;
        if (k >= from && k < to) {
            fputs(k > from ? "; " : "", out);
            report_table_missing_name(out, w, p->table, i);
        }
        k++;
    }
}

static void of_table(FILE *out, const struct report_words *w, const struct report_part *p, const char *why)
{
    size_t n = count_of(p, why);
    if (n == 0)
        return;
    html_print(out, "<li>%s: ", p->table->name);
    entries(out, w, p, why, 0, n > NAMED + 2 ? NAMED : n);
    if (n > NAMED + 2) {
        fprintf(out,
                "<details class=\"opener\"><summary><span class=\"closed\">and %zu more</span><span "
                "class=\"open\">fewer</span></summary></details><div class=\"scroll\"><div class=\"more\">",
                n - NAMED);
        entries(out, w, p, why, NAMED, n);
        fputs("</div></div>", out);
    }
    fputs("</li>\n", out);
}

void report_missing(FILE *out, const struct report_words *w, const struct report_part *parts, size_t n)
{
    for (size_t p = 0; p < n; p++)
        for (size_t i = 0; i < parts[p].table->n_missing; i++) {
            if (seen_before(parts, p, i))
                continue;
            html_print(out, "<li>%s\n<ul>\n", report_missing_reason(&parts[p], i));
            for (size_t q = p; q < n; q++)
                of_table(out, w, &parts[q], report_missing_reason(&parts[p], i));
            fputs("</ul></li>\n", out);
        }
}
