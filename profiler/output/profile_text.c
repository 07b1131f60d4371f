/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile on a screen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/output/profile_parts.h"
#include "tables/table/pivot.h"

/* Characters of a name in the first column: with the widest figures all columns stand beside each other; lines of
 * advice, of which the page has all. */
enum { NAME_SHOWN = 20, ADVICE_MOST = 8 };

static void print_said(FILE *out, bool colour, const struct profile_result *r, const char *heading, size_t most,
                       profile_sayer *say)
{
    char *text = profile_said(r, say);
    pivot_notes(out, colour, heading, text, most);
    free(text);
}

static void print_profile_head(FILE *out, bool colour, const struct profile_result *r)
{
    fputs(colour ? "\033[1m" : "", out);
    pivot_note(out, 2, "Remote overhead%s%s%s", r->head.command ? ": " : "", r->head.command ? r->head.command : "",
               r->info.modelled ? " (modelled, not measured)" : "");
    fputs(colour ? "\033[0m" : "", out);
    pivot_note(out, 2, "%s, %s; %u core%s, %u CPU%s", r->info.cpu ? r->info.cpu : "unknown processor",
               r->info.name ? r->info.name : "unknown source", r->info.cores, r->info.cores == 1 ? "" : "s",
               r->info.cpus, r->info.cpus == 1 ? "" : "s");
    print_said(out, colour, r, NULL, SIZE_MAX, profile_say_sampling);
    print_said(out, colour, r, NULL, SIZE_MAX, profile_say_turns);
    print_said(out, colour, r, NULL, SIZE_MAX, profile_say_cost);
}

static void put_short_name(struct pivot *p, const char *name)
{
    char text[PROFILE_NAME_MAX];
    pivot_word(p, profile_short_name(name, NAME_SHOWN, text));
}

static void put_short_percent(struct pivot *p, double fraction)
{
    char text[PROFILE_PERCENT_MAX];
    pivot_mark(p, profile_percent_alone(fraction, text));
}

/* Columns that not every profile has, or not every kind of rows. */
struct shown_parts {
    bool causes, parts; /* what it causes; by sibling and delay */
};

static void print_row_of(struct pivot *p, const struct profile_row *row, struct shown_parts shown)
{
    char text[PROFILE_PERCENT_MAX];
    bool nothing = isfinite(row->overhead.lo) && !(row->overhead.lo > 0);
    pivot_line(p, nothing ? PIVOT_ASIDE : PIVOT_ROW);
    put_short_name(p, row->name);
    put_short_percent(p, row->share);
    pivot_mark(p, profile_percent(&row->overhead, text));
    if (shown.parts) {
        put_short_percent(p, row->sibling.value);
        put_short_percent(p, row->delay.value);
    }
    for (unsigned level = 1; level < PROFILE_LEVELS; level++)
        put_short_percent(p, row->by_level[level].value);
    put_short_percent(p, row->demands[1].value + row->demands[2].value);
    if (shown.causes)
        put_short_percent(p, row->causes);
    pivot_mark(p, "");
    pivot_more(p, "%llu", (unsigned long long)row->samples);
}

/* What was not shown, in a sentence. */
static void print_others(FILE *out, const struct profile_row *rows, size_t n, const size_t *shown, size_t n_shown)
{
    char of_time[PROFILE_PERCENT_MAX], overhead[PROFILE_PERCENT_MAX];
    double share = 0, lost = 0;
    for (size_t i = 0, next = 0; i < n; i++) {
        if (next < n_shown && shown[next] == i) {
            next++;
            continue;
        }
        share += isfinite(rows[i].share) ? rows[i].share : 0;
        lost += isfinite(rows[i].share * rows[i].overhead.value) ? rows[i].share * rows[i].overhead.value : 0;
    }
    if (n > n_shown)
        pivot_note(out, 2, "and %zu other%s, together %s %% of the time, with an overhead of %s %%", n - n_shown,
                   n - n_shown == 1 ? "" : "s", profile_percent_alone(share, of_time),
                   profile_percent_alone(share > 0 ? lost / share : 0, overhead));
}

static void print_rows_of(FILE *out, bool colour, const struct profile_result *r, enum profile_kind kind, size_t most)
{
    static const char *const titles[PROFILE_KINDS] = {
        [PROFILE_TASK] = "Tasks", [PROFILE_CONTAINER] = "Containers", [PROFILE_CORE] = "Cores", [PROFILE_ALL] = "All"};
    static const char *const headings[] = {"share", "overhead", "sibling", "delay",  "L1",
                                           "L2",    "wide",     "causes",  "samples"};
    enum { SIBLING = 2, DELAY = 3, CAUSES = 7 };
    struct pivot p;
    size_t n, n_shown;
    const struct profile_row *rows = profile_rows_of(r, kind, &n);
    struct shown_parts columns = {.parts = profile_knows_parts(rows, n)};
    for (size_t i = 0; i < n; i++)
        columns.causes = columns.causes || isfinite(rows[i].causes);
    size_t *shown = profile_rows_shown(rows, n, most, &n_shown);
    pivot_init(&p, 1, "%s, %%", titles[kind]);
    p.failed = p.failed || !shown;
    pivot_line(&p, PIVOT_HEADING);
    pivot_text(&p, "%s", "");
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        if (i == CAUSES ? columns.causes : columns.parts || (i != SIBLING && i != DELAY))
            pivot_text(&p, "%s", headings[i]);
    for (size_t i = 0; i < n_shown; i++)
        print_row_of(&p, &rows[shown[i]], columns);
    if (pivot_print(out, colour, &p) && shown)
        print_others(out, rows, n, shown, n_shown);
    free(shown);
}

/* ---- who slows whom ---- */

static void put_culprits(struct pivot *p, const struct profile_result *r, const struct profile_row *row)
{
    const char *between = "";
    char name[PROFILE_NAME_MAX], percent[PROFILE_PERCENT_MAX];
    pivot_text(p, "%s", "");
    for (size_t i = 0; i < row->n_culprits; i++) {
        const char *by = profile_culprit_name(r, row, &row->culprits[i]);
        if (!by || !(row->culprits[i].overhead > PROFILE_PART_LEAST))
            continue;
        pivot_more(p, "%s%s %s", between, profile_short_name(by, PROFILE_NAME_SAID, name),
                   profile_percent_alone(row->culprits[i].overhead, percent));
        between = ", ";
    }
    if (row->unattributed > PROFILE_PART_LEAST)
        pivot_more(p, "%sunattributed %s", between, profile_percent_alone(row->unattributed, percent));
}

static void print_culprits(FILE *out, bool colour, const struct profile_result *r, size_t most)
{
    struct pivot p;
    size_t n, told = 0;
    const struct profile_row *rows = profile_rows_of(r, PROFILE_TASK, &n);
    pivot_init(&p, 1, "Who slows them, in %% of their ideal time");
    pivot_line(&p, PIVOT_HEADING);
    pivot_text(&p, "%s", "");
    pivot_text(&p, "slowed by");
    for (size_t i = 0; i < n && told < most; i++) {
        if (!profile_is_victim(&rows[i]))
            continue;
        told++;
        pivot_line(&p, PIVOT_ROW);
        put_short_name(&p, rows[i].name);
        put_culprits(&p, r, &rows[i]);
    }
    pivot_print(out, colour, &p);
}

void profile_print(FILE *out, bool colour, const struct profile_result *r, size_t most_rows)
{
    static const enum profile_kind kinds[] = {PROFILE_TASK, PROFILE_CONTAINER, PROFILE_CORE};
    print_profile_head(out, colour, r);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        print_rows_of(out, colour, r, kinds[i], most_rows);
    if (r->n_rows) {
        putc('\n', out);
        pivot_note(out, 2,
                   "L1, L2: overhead by the license level before the pause; wide: samples whose own code demands a "
                   "level; causes: what it costs others, as a share of all overhead in this profile.");
    }
    print_culprits(out, colour, r, most_rows);
    print_said(out, colour, r, "What would help", most_rows < ADVICE_MOST ? most_rows : ADVICE_MOST,
               profile_say_advice);
    print_said(out, colour, r, "What limits these figures", SIZE_MAX, profile_say_unknown);
    putc('\n', out);
    print_said(out, colour, r, NULL, SIZE_MAX, profile_say_findings);
}
