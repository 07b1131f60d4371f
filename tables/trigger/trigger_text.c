/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trigger table for a person. */
#include <math.h>
#include <string.h>

#include "tables/table/estimates.h"
#include "tables/trigger/trigger.h"

static bool trigger_text_is(const struct table *t, size_t row, const char *what)
{
    return table_says(t, row, "what", what);
}

static bool trigger_text_any(const struct table *t, const char *what)
{
    return table_find(t, "what", what) < t->n_rows;
}

/* The frequency, or nothing. */
static void print_ghz(FILE *out, const struct table *t, size_t row)
{
    double ghz = table_number(t, row, "freq_ghz");
    if (isnan(ghz))
        fprintf(out, "%8s", "");
    else
        fprintf(out, "%8.3f", ghz);
}

/* "13 012 [12 840, 13 190]", or "up to 140" where the shortest burst asks. */
static void print_count(FILE *out, const struct table *t, size_t row)
{
    double count = table_number(t, row, "count"), lo = table_number(t, row, "count_lo"),
           hi = table_number(t, row, "count_hi");
    char text[60] = "";
    if (count <= hi && count >= hi)
        snprintf(text, sizeof text, lo > 1 ? "%.0f to %.0f" : "at most %.0f", lo > 1 ? lo : count, count);
    else if (!isnan(count))
        snprintf(text, sizeof text, "%.0f [%.0f, %.0f]", count, lo, hi);
    fprintf(out, "%-28s", text);
}

/* The longest that all kernels have in common. */
static double longest_burst(const struct table *t)
{
    double us = INFINITY;
    for (size_t i = 0; i < t->n_rows; i++)
        if (trigger_text_is(t, i, "count"))
            us = fmin(us, table_number(t, i, "longest_us"));
    return us;
}

static void trigger_text_print_counts(FILE *out, const struct table *t)
{
    fprintf(out, "\n  %-14s %5s  %-16s %-28s %6s %8s %5s\n", "kernel", "cores", "triggers", "instructions needed",
            "spread", "GHz", "n");
    for (size_t i = 0; i < t->n_rows; i++) {
        double spread = table_number(t, i, "spread");
        if (!trigger_text_is(t, i, "count"))
            continue;
        fprintf(out, "  %-14s %5.0f  %-16s ", table_text(t, i, "kernel"), table_number(t, i, "active_cores"),
                table_text(t, i, "asks"));
        print_count(out, t, i);
        if (isnan(spread))
            fprintf(out, " %6s", "");
        else
            fprintf(out, " %5.0f%%", 100 * spread);
        print_ghz(out, t, i);
        fprintf(out, " %5.0f\n", table_number(t, i, "n"));
    }
    if (isfinite(longest_burst(t)) && table_find(t, "asks", "nothing") < t->n_rows)
        fprintf(out, "  nothing: no change was seen after bursts of up to %.0f us at this number of active cores\n",
                longest_burst(t));
    if (table_find(t, "asks", "undecided") < t->n_rows)
        fputs("  undecided: within its limits, the frequency may be lower than that of plain code; no levels are given "
              "then\n",
              out);
}

static void print_densities(FILE *out, const struct table *t)
{
    fprintf(out, "\n  %-14s %5s  %-16s %-14s %-28s %8s\n", "kernel", "cores", "triggers", "up to one in",
            "instructions per cycle", "GHz");
    for (size_t i = 0; i < t->n_rows; i++) {
        double rate = table_number(t, i, "rate_per_cycle"), lo = table_number(t, i, "rate_per_cycle_lo");
        char text[60] = "";
        if (!trigger_text_is(t, i, "density limit"))
            continue;
        if (isnan(lo))
            snprintf(text, sizeof text, "%.4f suffice", rate);
        else
            snprintf(text, sizeof text, "%.4f suffice, %.4f do not", rate, lo);
        fprintf(out, "  %-14s %5.0f  %-16s %-14.0f %-28s", table_text(t, i, "kernel"),
                table_number(t, i, "active_cores"), table_text(t, i, "asks"), table_number(t, i, "density"), text);
        print_ghz(out, t, i);
        fputc('\n', out);
    }
}

static void print_level(FILE *out, double level)
{
    if (isnan(level))
        fprintf(out, " %9s", "?");
    else
        fprintf(out, "   level %.0f", level);
}

static void print_mixtures(FILE *out, const struct table *t)
{
    fprintf(out, "\n  %-25s %5s  %-16s %9s %9s\n", "mixture", "cores", "triggers", "one alone", "the other");
    for (size_t i = 0; i < t->n_rows; i++) {
        char name[80];
        if (!trigger_text_is(t, i, "mixture"))
            continue;
        snprintf(name, sizeof name, "%.30s, %.30s", table_text(t, i, "kernel"), table_text(t, i, "with"));
        fprintf(out, "  %-25s %5.0f  %-16s", name, table_number(t, i, "active_cores"), table_text(t, i, "asks"));
        print_level(out, table_number(t, i, "level_kernel"));
        print_level(out, table_number(t, i, "level_with"));
        fputc('\n', out);
    }
}

static void print_dirty(FILE *out, const struct table *t)
{
    fprintf(out, "\n  %-16s %-10s %5s  %-16s %8s  %s\n", "left dirty by", "code", "cores", "triggers", "GHz",
            "rate against the same on clean registers");
    for (size_t i = 0; i < t->n_rows; i++) {
        if (!trigger_text_is(t, i, "dirty"))
            continue;
        fprintf(out, "  %-16s %-10s %5.0f  %-16s ", table_text(t, i, "kernel"), table_text(t, i, "with"),
                table_number(t, i, "active_cores"), table_text(t, i, "asks"));
        print_ghz(out, t, i);
        fprintf(out, "  %.3f\n", table_number(t, i, "ipc_ratio"));
    }
}

void trigger_print(FILE *out, bool colour, const struct table *t)
{
    table_print_head(out, colour, t, TRIGGER_TITLE);
    if (trigger_text_any(t, "count"))
        trigger_text_print_counts(out, t);
    if (trigger_text_any(t, "density limit"))
        print_densities(out, t);
    if (trigger_text_any(t, "mixture"))
        print_mixtures(out, t);
    if (trigger_text_any(t, "dirty"))
        print_dirty(out, t);
    table_print_missing(out, colour, t);
}

/* ---- findings ---- */

static bool asks_no_frequency(const char *asks)
{
    return !asks || strcmp(asks, "nothing") == 0 || strcmp(asks, "throttle only") == 0 ||
           strcmp(asks, "undecided") == 0;
}

/* Whether a row may be told to ask for a level: by the counters, or by a frequency that is lower than that of plain
 * code by the limits of both. */
static bool asks_level(const struct table *t, size_t row)
{
    const char *asks = table_text(t, row, "asks");
    struct estimate freq = estimates_of_table(t, row, "freq_ghz"), plain = estimates_of_table(t, row, "plain_ghz");
    if (asks_no_frequency(asks))
        return false;
    return isfinite(table_number(t, row, "level")) || estimates_above(&plain, &freq);
}

/* "on 16 active cores" */
static const char *on_cores(const struct table *t, size_t row, char *out, size_t size)
{
    double cores = table_number(t, row, "active_cores");
    snprintf(out, size, "on %.0f active core%s", cores, cores == 1 ? "" : "s");
    return out;
}

/* What no burst of which a lower frequency was seen: at each number of cores how many kernels, how long bursts were at
 * most, and by how much lower it could still be by the limits. */
static void nothing_found(FILE *out, const struct table *t)
{
    char text[40];
    for (size_t i = 0; i < t->n_rows; i++) {
        double cores = table_number(t, i, "active_cores"), longest = 0, lower = 0;
        size_t kernels = 0;
        bool first = trigger_text_is(t, i, "count");
        for (size_t k = 0; k < i && first; k++)
            first = !trigger_text_is(t, k, "count") || table_number(t, k, "active_cores") != cores;
        for (size_t k = 0; k < t->n_rows && first; k++)
            if (trigger_text_is(t, k, "count") && table_number(t, k, "active_cores") == cores) {
                kernels++; /* one row each where none asks for a level */
                longest = fmax(longest, table_number(t, k, "longest_us"));
                double least = table_number(t, k, "freq_ghz_lo") / table_number(t, k, "plain_ghz_hi");
                lower = isnan(least) ? INFINITY : fmax(lower, 1 - least);
            }
        if (first && isfinite(lower))
            fprintf(out,
                    "No lower frequency was seen %s after bursts of up to %.0f us of %zu kernel%s: none lower by more "
                    "than %.2g %% (95 %% limits).\n",
                    on_cores(t, i, text, sizeof text), longest, kernels, kernels == 1 ? "" : "s", 100 * lower);
    }
}

/* What a row says is triggered, in a sentence. */
static const char *triggered(const struct table *t, size_t row)
{
    return table_says(t, row, "asks", "lower frequency") ? "a lower frequency" : table_text(t, row, "asks");
}

static void counts_found(FILE *out, const struct table *t)
{
    size_t said = 0, measured = 0;
    char text[40];
    for (size_t i = 0; i < t->n_rows; i++) {
        double count = table_number(t, i, "count"), lo = table_number(t, i, "count_lo");
        measured += trigger_text_is(t, i, "count") && table_says(t, i, "asks", "nothing");
        if (!trigger_text_is(t, i, "count") || !asks_level(t, i) || isnan(count) || said == 4)
            continue;
        fprintf(out, "%s%s triggers %s ", said++ ? "; " : "", table_text(t, i, "kernel"), triggered(t, i));
        if (lo > 1)
            fprintf(out, "after %.0f instructions (95 %%: %.0f to %.0f)", count, lo, table_number(t, i, "count_hi"));
        else
            fprintf(out, "within its first %.0f instructions", count);
        fprintf(out, " %s", on_cores(t, i, text, sizeof text));
    }
    if (said)
        fprintf(out, ".\n");
    else if (measured)
        nothing_found(out, t);
}

static void limits_found(FILE *out, const struct table *t)
{
    size_t said = 0;
    char text[40];
    for (size_t i = 0; i < t->n_rows; i++) {
        double lo = table_number(t, i, "rate_per_cycle_lo");
        if (trigger_text_is(t, i, "density limit") && asks_level(t, i) && !isnan(lo) && said < 4)
            fprintf(out, "%s%s triggers %s at %.2f instructions per cycle or more (not at %.2f) %s", said++ ? "; " : "",
                    table_text(t, i, "kernel"), triggered(t, i), table_number(t, i, "rate_per_cycle"), lo,
                    on_cores(t, i, text, sizeof text));
    }
    if (said)
        fprintf(out, ".\n");
}

static void others_found(FILE *out, const struct table *t)
{
    size_t said = 0;
    char text[40];
    for (size_t i = 0; i < t->n_rows && said < 4; i++) {
        double level = table_number(t, i, "level"), one = table_number(t, i, "level_kernel"),
               two = table_number(t, i, "level_with");
        if (trigger_text_is(t, i, "mixture") && level > one && level > two)
            fprintf(out, "%s%s mixed with %s triggers %s, more than either alone, %s", said++ ? "; " : "",
                    table_text(t, i, "kernel"), table_text(t, i, "with"), triggered(t, i),
                    on_cores(t, i, text, sizeof text));
        if (trigger_text_is(t, i, "dirty") && asks_level(t, i))
            fprintf(out, "%s%s after %s runs at %s %s", said++ ? "; " : "", table_text(t, i, "with"),
                    table_text(t, i, "kernel"), triggered(t, i), on_cores(t, i, text, sizeof text));
    }
    if (said)
        fprintf(out, ".\n");
}

/* Rows that say "lower frequency" where the limits do not. */
static void tell_unsupported(FILE *out, const struct table *t)
{
    size_t n = 0, first = t->n_rows;
    for (size_t i = t->n_rows; i-- > 0;) {
        const char *asks = table_text(t, i, "asks");
        if (asks_no_frequency(asks) || asks_level(t, i))
            continue;
        n++;
        first = i;
    }
    if (!n)
        return;
    char freq[ESTIMATE_TEXT_MAX], plain[ESTIMATE_TEXT_MAX];
    struct estimate a = estimates_of_table(t, first, "freq_ghz"), b = estimates_of_table(t, first, "plain_ghz");
    fprintf(out,
            "%zu row%s that %s a lower frequency %s not reported, because the limits overlap those of plain code: %s "
            "at %s GHz, plain code at %s GHz.\n",
            n, n == 1 ? "" : "s", n == 1 ? "triggers" : "trigger", n == 1 ? "is" : "are",
            table_text(t, first, "kernel"), estimates_text(&a, 3, freq), estimates_text(&b, 3, plain));
}

void trigger_findings(FILE *out, const struct table *t)
{
    bool counted = false, asks = support_noted_floating(t);
    for (size_t i = 0; i < t->n_rows; i++) {
        counted = counted || isfinite(table_number(t, i, "level"));
        asks = asks || table_says(t, i, "asks", "lower frequency");
    }
    const char *why = counted ? NULL : support_no_levels(t);
    if (why && asks && t->n_rows) {
        fprintf(out, "What triggers a level is not reported: %s.\n", why);
        return;
    }
    tell_unsupported(out, t);
    counts_found(out, t);
    limits_found(out, t);
    others_found(out, t);
}
