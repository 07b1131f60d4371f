/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The relaxation table for a person. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tables/relaxation/relaxation.h"

static bool relaxation_text_is(const struct table *t, size_t row, const char *what)
{
    return table_says(t, row, "what", what);
}

static bool relaxation_text_any(const struct table *t, const char *what)
{
    return table_find(t, "what", what) < t->n_rows;
}

static void print_pair(FILE *out, const struct table *t, size_t row)
{
    char name[80];
    snprintf(name, sizeof name, "%.30s to %.30s", table_text(t, row, "from"), table_text(t, row, "to"));
    fprintf(out, "  %-18s %5.0f", name, table_number(t, row, "active_cores"));
}

/* A value with its limits, in `width` columns; nothing where there is none. */
static void relaxation_text_print_limits(FILE *out, const struct table *t, size_t row, const char *column, int decimals,
                                         double scale, int width)
{
    char lo[40], hi[40], text[80] = "";
    snprintf(lo, sizeof lo, "%.30s_lo", column);
    snprintf(hi, sizeof hi, "%.30s_hi", column);
    double value = scale * table_number(t, row, column), a = scale * table_number(t, row, lo),
           b = scale * table_number(t, row, hi);
    if (!isnan(value) && !isnan(a) && !isnan(b))
        snprintf(text, sizeof text, "%.*f [%.*f, %.*f]", decimals, value, decimals, a, decimals, b);
    else if (!isnan(value))
        snprintf(text, sizeof text, "%.*f", decimals, value);
    fprintf(out, "  %-*s", width, text);
}

static void print_waits(FILE *out, const struct table *t)
{
    fprintf(out, "\n  %-18s %5s  %-5s  %-24s  %-6s  %-20s  %4s\n", "the wait after", "cores", "waits", "us", "sd us",
            "% of repetitions", "n");
    for (size_t i = 0; i < t->n_rows; i++) {
        double sd = table_number(t, i, "sd_us");
        if (!relaxation_text_is(t, i, "wait"))
            continue;
        print_pair(out, t, i);
        fprintf(out, "  %-5s", table_number(t, i, "mode") > 1 ? "two" : "one");
        relaxation_text_print_limits(out, t, i, "wait_us", 1, 1, 24);
        if (isnan(sd))
            fprintf(out, "  %6s", "");
        else
            fprintf(out, "  %6.1f", sd);
        relaxation_text_print_limits(out, t, i, "share", 1, 100, 20);
        fprintf(out, "  %4.0f\n", table_number(t, i, "n"));
    }
}

static void print_rearming(FILE *out, const struct table *t)
{
    fprintf(out, "\n  %-18s %5s  %-12s  %-12s  %-24s  %4s\n", "restarted?", "cores", "by", "", "us after that", "n");
    for (size_t i = 0; i < t->n_rows; i++) {
        if (!relaxation_text_is(t, i, "rearm"))
            continue;
        print_pair(out, t, i);
        fprintf(out, "  %-12s  %-12s", table_text(t, i, "by"), table_text(t, i, "rearmed"));
        relaxation_text_print_limits(out, t, i, "wait_us", 1, 1, 24);
        fprintf(out, "  %4.0f\n", table_number(t, i, "n"));
    }
}

static void print_toggling(FILE *out, const struct table *t)
{
    fprintf(out, "\n  %-18s %5s  %9s  %-20s  %-22s  %-18s\n", "toggling", "cores", "pause us", "% that speed up",
            "after us", "drift us");
    for (size_t i = 0; i < t->n_rows; i++) {
        if (!relaxation_text_is(t, i, "toggle"))
            continue;
        print_pair(out, t, i);
        fprintf(out, "  %9.1f", table_number(t, i, "duty_us"));
        relaxation_text_print_limits(out, t, i, "share", 1, 100, 20);
        relaxation_text_print_limits(out, t, i, "wait_us", 1, 1, 22);
        relaxation_text_print_limits(out, t, i, "trend_us", 2, 1, 18);
        fputc('\n', out);
    }
}

void relaxation_print(FILE *out, bool colour, const struct table *t)
{
    table_print_head(out, colour, t, RELAXATION_TITLE);
    if (relaxation_text_any(t, "wait"))
        print_waits(out, t);
    if (relaxation_text_any(t, "rearm"))
        print_rearming(out, t);
    if (relaxation_text_any(t, "toggle"))
        print_toggling(out, t);
    table_print_missing(out, colour, t);
}

/* ---- findings ---- */

enum { SAID_MOST = 5 };

static const char *name_cores(const struct table *t, size_t row, char out[40])
{
    double cores = table_number(t, row, "active_cores");
    snprintf(out, 40, "%.0f active core%s", cores, cores > 1 ? "s" : "");
    return out;
}

static bool relaxation_text_same_pair(const struct table *t, size_t a, size_t b)
{
    return table_says(t, a, "from", table_text(t, b, "from")) && table_says(t, a, "to", table_text(t, b, "to")) &&
           table_number(t, a, "active_cores") == table_number(t, b, "active_cores");
}

static bool is_wait(const struct table *t, size_t row, int mode)
{
    return relaxation_text_is(t, row, "wait") && (table_number(t, row, "mode") > 1) == (mode > 1);
}

/* Whether the wait of the pair of a row is one to tell of. */
static bool wait_is_told(const struct table *t, size_t row)
{
    size_t against;
    for (size_t i = 0; i < t->n_rows; i++)
        if (is_wait(t, i, 1) && relaxation_text_same_pair(t, i, row))
            return estimates_wait_support(t, i, &against) == WAIT_TOLD;
    return false;
}

static const char *relaxation_text_value_text(const struct table *t, size_t row, const char *column, double scale,
                                              int decimals, char out[ESTIMATE_TEXT_MAX])
{
    struct estimate e = estimates_of_table(t, row, column);
    e = (struct estimate){scale * e.value, scale * e.lo, scale * e.hi};
    return estimates_text(&e, decimals, out);
}

static void tell_wait(FILE *out, const struct table *t, size_t row)
{
    char cores[40], us[ESTIMATE_TEXT_MAX], share[ESTIMATE_TEXT_MAX];
    size_t against;
    fprintf(out, "fter %s the core speeds up again after %s us (%s)", table_text(t, row, "from"),
            relaxation_text_value_text(t, row, "wait_us", 1, 1, us), name_cores(t, row, cores));
    for (size_t i = 0; i < t->n_rows; i++)
        if (is_wait(t, i, 2) && relaxation_text_same_pair(t, i, row) &&
            estimates_wait_support(t, i, &against) == WAIT_TOLD)
            fprintf(out, ", in %s %% of cases after %s us", relaxation_text_value_text(t, i, "share", 100, 0, share),
                    relaxation_text_value_text(t, i, "wait_us", 1, 1, us));
}

/* Why a wait that was measured is not told. */
static void tell_against(FILE *out, const struct table *t, size_t row, enum estimates_wait_support support,
                         size_t against)
{
    char cores[40], one[ESTIMATE_TEXT_MAX], two[ESTIMATE_TEXT_MAX];
    const char *from = table_text(t, row, "from");
    name_cores(t, row, cores);
    relaxation_text_value_text(t, row, "wait_us", 1, 1, one);
    if (support == WAIT_CONTRADICTED)
        fprintf(
            out,
            "Rows contradict each other, so no wait is reported: after %s (%s) %s us, but %s us in its row %s %s.\n",
            from, cores, one, relaxation_text_value_text(t, against, "wait_us", 1, 1, two),
            table_text(t, against, "what"), table_text(t, against, "by"));
    else if (support == WAIT_NOT_SLOWER)
        fprintf(out,
                "After %s (%s) no wait is reported: before the rise the core runs at %s GHz, the same code alone at %s "
                "GHz.\n",
                from, cores, relaxation_text_value_text(t, row, "slow_ghz", 1, 3, one),
                relaxation_text_value_text(t, row, "plain_ghz", 1, 3, two));
    else
        fprintf(out,
                "After %s (%s) no wait is reported: it, or the frequencies around it, have no limits; more --runs "
                "would help.\n",
                from, cores);
}

static void waits_found(FILE *out, const struct table *t)
{
    size_t said = 0, against, refused = 0;
    for (size_t i = 0; i < t->n_rows && said < SAID_MOST; i++)
        if (is_wait(t, i, 1) && estimates_wait_support(t, i, &against) == WAIT_TOLD) {
            fprintf(out, said++ ? "; a" : "A");
            tell_wait(out, t, i);
        }
    if (said)
        fprintf(out, ".\n");
    for (size_t i = 0; i < t->n_rows && refused < SAID_MOST; i++) {
        enum estimates_wait_support support = is_wait(t, i, 1) ? estimates_wait_support(t, i, &against) : WAIT_TOLD;
        if (support == WAIT_TOLD)
            continue;
        tell_against(out, t, i, support, against);
        refused++;
    }
}

/* Of the kernel that was measured last, of those whose wait is told: the defaults begin with the lightest. */
static void rearming_found(FILE *out, const struct table *t)
{
    static const char *const verdicts[] = {"yes", "no", "undecided"};
    static const char *const says[] = {"the wait is restarted by", "it is not restarted by",
                                       "it is undecided whether it is restarted by"};
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < t->n_rows; i++)
        if (relaxation_text_is(t, i, "rearm") && wait_is_told(t, i))
            last = i;
    for (size_t v = 0; v < 3 && last != SIZE_MAX; v++) {
        size_t said = 0;
        char cores[40], share[ESTIMATE_TEXT_MAX];
        for (size_t i = 0; i < t->n_rows; i++) {
            const char *by = table_text(t, i, "by");
            if (!relaxation_text_is(t, i, "rearm") || !table_says(t, i, "rearmed", verdicts[v]) ||
                !relaxation_text_same_pair(t, i, last))
                continue;
            if (!said++)
                fprintf(out, "After %s (%s) %s", table_text(t, last, "from"), name_cores(t, last, cores), says[v]);
            fprintf(out, "%s %s (%s %%)", said > 1 ? "," : "", strcmp(by, "interrupt") == 0 ? "interrupts" : by,
                    relaxation_text_value_text(t, i, "share", 100, 0, share));
        }
        if (said)
            fprintf(out, ".\n");
    }
}

/* By what a wait changes from one to the next: less is none. */
#define TREND_US 1.0
#define TREND 0.005 /* of the wait, where that is more */

static void toggling_found(FILE *out, const struct table *t)
{
    size_t rows = 0, changed = 0, unchanged = 0;
    double most = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        struct estimate trend = estimates_of_table(t, i, "trend_us");
        if (!relaxation_text_is(t, i, "toggle") || !estimates_known(&trend) || !wait_is_told(t, i))
            continue;
        double bound = fmax(TREND_US, TREND * table_number(t, i, "wait_us"));
        rows++;
        changed += trend.lo > bound || trend.hi < -bound;
        unchanged += trend.lo >= -bound && trend.hi <= bound;
        most = fmax(most, fmax(fabs(trend.lo), fabs(trend.hi)));
    }
    if (changed)
        fprintf(out,
                "Frequent toggling changes the wait (%zu of %zu cases), by up to %.1f us from one wait to the next.\n",
                changed, rows, most);
    else if (rows && unchanged == rows)
        fprintf(out, "Frequent toggling does not change the wait (by at most %.1f us from one wait to the next).\n",
                most);
    else if (rows)
        fprintf(out,
                "It is undecided whether frequent toggling changes the wait (%zu of %zu cases; by up to %.1f us from "
                "one wait to the next).\n",
                rows - unchanged, rows, most);
}

void relaxation_findings(FILE *out, const struct table *t)
{
    const char *why = support_no_levels(t);
    if (why) {
        if (relaxation_text_any(t, "wait"))
            fprintf(out, "No wait is reported: %s.\n", why);
        return;
    }
    waits_found(out, t);
    rearming_found(out, t);
    toggling_found(out, t);
}
