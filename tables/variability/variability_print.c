/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For a person: the refinements down, the workloads across, as the source's table 3.1 and what became of it here. */
#include <math.h>
#include <string.h>

#include "tables/table/pivot.h"
#include "tables/variability/variability.h"

static bool has_workload(const struct table *t, const char *workload)
{
    return table_find(t, "workload", workload) < t->n_rows;
}

static bool has_refinement(const struct table *t, unsigned r)
{
    return table_find(t, "refinement", refinement_names[r]) < t->n_rows;
}

static void heading(struct pivot *p, const struct table *t)
{
    for (int line = 0; line < 2; line++) { /* "branch-cold" in two */
        pivot_line(p, PIVOT_HEADING);
        pivot_word(p, line ? "refinement" : "");
        for (size_t w = 0; w < VARIABILITY_WORKLOADS; w++) {
            const char *name = variability_workloads[w], *dash = strchr(name, '-');
            if (!has_workload(t, name))
                continue;
            if (line)
                pivot_word(p, dash ? dash + 1 : name);
            else
                pivot_text(p, "%.*s", dash ? (int)(dash + 1 - name) : 0, name);
        }
    }
}

/* One number of all workloads at all refinements. */
static void print_fractions(FILE *out, bool colour, const struct table *t, const char *column, const char *title)
{
    char text[VARIABILITY_TEXT];
    struct pivot p;
    pivot_init(&p, 1, "%s", title);
    heading(&p, t);
    for (unsigned r = 0; r < REFINEMENTS; r++) {
        if (!has_refinement(t, r))
            continue;
        pivot_line(&p, PIVOT_ROW);
        pivot_word(&p, refinement_names[r]);
        for (size_t w = 0; w < VARIABILITY_WORKLOADS; w++) {
            if (!has_workload(t, variability_workloads[w]))
                continue;
            size_t row = variability_row(t, variability_workloads[w], (enum refinement)r);
            pivot_mark(&p, variability_percent(row < t->n_rows ? table_number(t, row, column) : NAN, text));
        }
    }
    pivot_print(out, colour, &p);
}

static void print_published(FILE *out, bool colour)
{
    char text[VARIABILITY_TEXT];
    struct pivot p;
    pivot_init(&p, 1, "Published, not measured here: %s", VARIABILITY_PUBLISHED_AS);
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "there");
    pivot_word(&p, "here");
    pivot_word(&p, "spread");
    for (size_t i = 0; i < VARIABILITY_PUBLISHED; i++) {
        enum refinement r = variability_published[i].refinement;
        pivot_line(&p, PIVOT_ASIDE);
        pivot_word(&p, variability_published[i].version);
        pivot_word(&p, r < REFINEMENTS ? refinement_names[r] : "boot option nohz_full");
        pivot_mark(&p, variability_percent(variability_published[i].spread, text));
    }
    pivot_print(out, colour, &p);
}

/* The sum over a refinement's workloads; NaN where none could be counted. */
static double sum_of(const struct table *t, unsigned r, const char *column)
{
    double sum = NAN;
    for (size_t row = 0; row < t->n_rows; row++) {
        double x = table_number(t, row, column);
        if (table_says(t, row, "refinement", refinement_names[r]) && isfinite(x))
            sum = isnan(sum) ? x : sum + x;
    }
    return sum;
}

static void print_between(FILE *out, bool colour, const struct table *t)
{
    static const char *const counted[] = {"interrupts", "faults", "switches", "steal_ms", "smis", "discarded"};
    static const char *const headings[] = {"interrupts", "page faults", "switches", "steal ms", "SMIs", "discarded"};
    struct pivot p;
    pivot_init(&p, 1, "Disturbances, in all trials of all workloads");
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "refinement");
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        pivot_word(&p, headings[i]);
    for (unsigned r = 0; r < REFINED_WARM; r++) {
        if (!has_refinement(t, r))
            continue;
        pivot_line(&p, PIVOT_ROW);
        pivot_word(&p, refinement_names[r]);
        for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
            pivot_number(&p, sum_of(t, r, counted[i]), 0);
    }
    pivot_print(out, colour, &p);
}

static void print_in_force(FILE *out, const struct table *t)
{
    char told[TABLES_TOLD_MAX];
    struct repeatability ignored;
    for (unsigned r = 0; r < REFINED_WARM; r++)
        for (size_t w = 0; w < VARIABILITY_WORKLOADS; w++) {
            if (!variability_from_json(variability_detail(t, variability_workloads[w], r), told, &ignored))
                continue;
            if (told[0])
                pivot_note(out, 2, "%s: %s", refinement_names[r], told);
            break;
        }
}

/* The mode of each workload and when it was reached, at the last refinement that it was measured at. */
static void print_modes(FILE *out, bool colour, const struct table *t)
{
    static const struct pivot_field fields[] = {
        {"workload", "workload", PIVOT_PLAIN, NULL}, {"refinement", "refinement", PIVOT_PLAIN, NULL},
        {"trials", "trials", PIVOT_PLAIN, NULL},     {"mode", "mode", PIVOT_PLAIN, NULL},
        {"unit", "unit", PIVOT_PLAIN, NULL},         {"trials to it", "to_mode", PIVOT_PLAIN, NULL},
    };
    enum { FIELDS = sizeof fields / sizeof *fields };
    struct pivot p;
    pivot_init(&p, 2, "The most frequent duration");
    pivot_headings(&p, fields, FIELDS);
    for (size_t w = 0; w < VARIABILITY_WORKLOADS; w++)
        for (unsigned r = REFINED_WARM; r-- > 0;) {
            size_t row = variability_row(t, variability_workloads[w], (enum refinement)r);
            if (row == t->n_rows)
                continue;
            pivot_fields(&p, t, row, fields, FIELDS);
            break;
        }
    pivot_print(out, colour, &p);
}

void variability_print(FILE *out, bool colour, const struct table *t)
{
    print_fractions(out, colour, t, "spread", "Spread: (slowest - fastest) / fastest");
    print_published(out, colour);
    print_fractions(out, colour, t, "p99", "99 of 100 trials are no farther from the mode than");
    print_modes(out, colour, t);
    print_between(out, colour, t);
    print_in_force(out, t);
}

/* ---- findings ---- */

static void tell_workload(FILE *out, const struct table *t, const char *workload)
{
    char from[VARIABILITY_TEXT], to[VARIABILITY_TEXT];
    size_t first = t->n_rows, best = t->n_rows;
    for (unsigned r = 0; r < REFINED_WARM; r++) {
        size_t row = variability_row(t, workload, (enum refinement)r);
        if (row == t->n_rows || !isfinite(table_number(t, row, "spread")))
            continue;
        first = first == t->n_rows ? row : first;
        if (best == t->n_rows || table_number(t, row, "spread") < table_number(t, best, "spread"))
            best = row;
    }
    if (first == t->n_rows)
        return;
    fprintf(out, "%s: the slowest of %.0f trials took %s longer than the fastest (%s)", workload,
            table_number(t, first, "trials"), variability_percent(table_number(t, first, "spread"), from),
            table_text(t, first, "refinement"));
    if (best != first)
        fprintf(out, ", at best %s (%s)", variability_percent(table_number(t, best, "spread"), to),
                table_text(t, best, "refinement"));
    fprintf(out, ".\n");
}

void variability_findings(FILE *out, const struct table *t)
{
    tell_workload(out, t, "register");
    tell_workload(out, t, "memory@mem");
    if (table_find(t, "unit", "ns") < t->n_rows)
        fprintf(out,
                "Durations are measured by time stamps, so they include changes of the core\xE2\x80\x99s frequency.\n");
}
