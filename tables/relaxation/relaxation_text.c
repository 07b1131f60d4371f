/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The relaxation table for a person. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tables/relaxation/relaxation_parts.h"
#include "tables/table/chart_table.h"
#include "tables/table/pivot.h"

/* The plot of the table relaxation: waits, and the shares of what starts them again or toggles. */

static const char *mode_name(double mode, int *colour)
{
    *colour = mode == 1 || mode == 2 ? (int)mode : 0;
    return mode == 1 ? "one period" : mode == 2 ? "two periods" : "neither";
}

static void relaxation_plot_waits(const struct table *t, struct chart *c)
{
    const bool cores = chart_varies(t, "active_cores");
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, "Wait before the frequency rises again", "\xC2\xB5s", "");
    struct chart_panel *q = chart_add_panel(c, CHART_BARS, "Share of the repetitions", "share", "");
    char name[200], text[CHART_TEXT_MAX];
    for (size_t row = 0; row < t->n_rows; row++) {
        struct estimate wait = estimates_of_table(t, row, "wait_us"), share = estimates_of_table(t, row, "share");
        int colour;
        const char *mode = mode_name(table_number(t, row, "mode"), &colour);
        if (!isfinite(wait.value) || !chart_row_is(t, row, "what", "wait"))
            continue;
        chart_pair(t, row, cores, name, sizeof name);
        chart_add_legend(c, p, mode, colour);
        chart_add_row(c, p, name, &wait, (struct chart_bar){.colour = colour, .dot = true}, NULL);
        chart_add_legend(c, q, mode, colour);
        snprintf(text, sizeof text, "%.2f", share.value);
        chart_add_row(c, q, name, &share, (struct chart_bar){.colour = colour, .lane = colour == 2, .lanes = 2}, text);
    }
    for (size_t i = 0; i < q->n_bars; i++) { /* what has its row to itself stands in the middle */
        size_t n = 0;
        for (size_t j = 0; j < q->n_bars; j++)
            n += q->bars[j].category == q->bars[i].category;
        if (n < 2)
            q->bars[i].lane = q->bars[i].lanes = 0;
    }
    chart_tell_omitted(p, p->n_bars, "rows");
}

/* Rows of another experiment, each with a share and what was done (`by`). */
static void relaxation_shares(const struct table *t, struct chart *c, const char *what, const char *title, int colour)
{
    const bool cores = chart_varies(t, "active_cores");
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, title, "share of the repetitions", "");
    char pair[200], name[400], text[CHART_TEXT_MAX];
    for (size_t row = 0; table_has(t, "what") && row < t->n_rows; row++) {
        struct estimate share = estimates_of_table(t, row, "share");
        const char *by = table_text(t, row, "by");
        if (!isfinite(share.value) || !chart_row_is(t, row, "what", what))
            continue;
        snprintf(name, sizeof name, "%s: %s", chart_pair(t, row, cores, pair, sizeof pair), by ? by : "?");
        snprintf(text, sizeof text, "%.2f", share.value);
        chart_add_row(c, p, name, &share, (struct chart_bar){.colour = colour}, text);
    }
    chart_tell_omitted(p, p->n_bars, "rows");
}

void relaxation_plot(const struct table *t, struct chart *c)
{
    relaxation_plot_waits(t, c);
    relaxation_shares(t, c, "rearm", "What restarts the wait: share of the waits that were restarted", 3);
    relaxation_shares(t, c, "toggle", "Toggling: share of the pauses in which the frequency rose", 0);
}

static const struct pivot_field waits[] = {
    {"from -> to", NULL, PIVOT_PLAIN, pivot_pair},
    {"cores", "active_cores", PIVOT_PLAIN, NULL},
    {"waits", "mode", PIVOT_PLAIN, NULL},
    {"us", "wait_us", PIVOT_PLAIN, NULL},
    {"sd, us", "sd_us", PIVOT_PLAIN, NULL},
    {"% of repetitions", "share", PIVOT_PERCENT, NULL},
    {"n", "n", PIVOT_PLAIN, NULL},
};
static const struct pivot_field restarts[] = {
    {"from -> to", NULL, PIVOT_PLAIN, pivot_pair},
    {"cores", "active_cores", PIVOT_PLAIN, NULL},
    {"by", "by", PIVOT_PLAIN, NULL},
    {"restarted", "rearmed", PIVOT_PLAIN, NULL},
    {"us after it", "wait_us", PIVOT_PLAIN, NULL},
    {"n", "n", PIVOT_PLAIN, NULL},
};
static const struct pivot_field toggling[] = {
    {"from -> to", NULL, PIVOT_PLAIN, pivot_pair}, {"cores", "active_cores", PIVOT_PLAIN, NULL},
    {"pause, us", "duty_us", PIVOT_PLAIN, NULL},   {"% that speed up", "share", PIVOT_PERCENT, NULL},
    {"after us", "wait_us", PIVOT_PLAIN, NULL},    {"longer each time by us", "trend_us", PIVOT_PLAIN, NULL},
};

static const struct pivot_list lists[] = {
    PIVOT_LIST_OF("The wait before the core speeds up again, one period or two", "wait", waits),
    PIVOT_LIST_OF("Whether it is restarted by other code, or by interrupts", "rearm", restarts),
    PIVOT_LIST_OF("When code toggles between the two", "toggle", toggling),
};

void relaxation_print(FILE *out, bool colour, const struct table *t)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        pivot_list(out, colour, t, &lists[i]);
}

/* ---- findings ---- */

enum { SAID_MOST = 5 };

static bool same_pair(const struct table *t, size_t a, size_t b)
{
    return table_same_pair(t, a, b) && table_same(t, a, b, "active_cores");
}

static bool is_wait(const struct table *t, size_t row, int mode)
{
    return table_says(t, row, "what", "wait") && (table_number(t, row, "mode") > 1) == (mode > 1);
}

/* Whether the wait of the pair of a row is one to tell of. */
static bool wait_is_told(const struct table *t, size_t row)
{
    size_t against;
    for (size_t i = 0; i < t->n_rows; i++)
        if (is_wait(t, i, 1) && same_pair(t, i, row))
            return estimates_wait_support(t, i, &against) == WAIT_REPORTED;
    return false;
}

/* A share, in percent. */
static const char *share_text(const struct table *t, size_t row, char out[ESTIMATE_TEXT_MAX])
{
    const struct estimate e = estimates_of_table(t, row, "share"), percent = estimate_percent(&e);
    return estimates_text(&percent, 0, out);
}

static void tell_wait(FILE *out, const struct table *t, size_t row)
{
    char cores[ESTIMATE_TEXT_MAX], us[ESTIMATE_TEXT_MAX], share[ESTIMATE_TEXT_MAX];
    size_t against;
    fprintf(out, "fter %s the core speeds up again after %s us (%s)", table_text(t, row, "from"),
            estimates_field_text(t, row, "wait_us", 1, us), estimates_cores_of(t, row, cores));
    for (size_t i = 0; i < t->n_rows; i++)
        if (is_wait(t, i, 2) && same_pair(t, i, row) && estimates_wait_support(t, i, &against) == WAIT_REPORTED)
            fprintf(out, ", in %s %% of cases after %s us", share_text(t, i, share),
                    estimates_field_text(t, i, "wait_us", 1, us));
}

/* Why a wait that was measured is not known. */
static void tell_against(FILE *out, const struct table *t, size_t row, enum estimates_wait_support support,
                         size_t against)
{
    char cores[ESTIMATE_TEXT_MAX], one[ESTIMATE_TEXT_MAX], two[ESTIMATE_TEXT_MAX];
    const char *from = table_text(t, row, "from");
    estimates_cores_of(t, row, cores);
    estimates_field_text(t, row, "wait_us", 1, one);
    if (support == WAIT_CONTRADICTED)
        fprintf(
            out,
            "Rows contradict each other, so no wait is reported: after %s (%s) %s us, but %s us in its row %s %s.\n",
            from, cores, one, estimates_field_text(t, against, "wait_us", 1, two), table_text(t, against, "what"),
            table_text(t, against, "by"));
    else if (support == WAIT_NOT_SLOWER)
        fprintf(out,
                "After %s (%s) no wait is reported: before the rise the core runs at %s GHz, the same code alone at %s "
                "GHz.\n",
                from, cores, estimates_field_text(t, row, "slow_ghz", 3, one),
                estimates_field_text(t, row, "plain_ghz", 3, two));
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
        if (is_wait(t, i, 1) && estimates_wait_support(t, i, &against) == WAIT_REPORTED) {
            fprintf(out, said++ ? "; a" : "A");
            tell_wait(out, t, i);
        }
    if (said)
        fprintf(out, ".\n");
    for (size_t i = 0; i < t->n_rows && refused < SAID_MOST; i++) {
        enum estimates_wait_support support = is_wait(t, i, 1) ? estimates_wait_support(t, i, &against) : WAIT_REPORTED;
        if (support == WAIT_REPORTED)
            continue;
        tell_against(out, t, i, support, against);
        refused++;
    }
}

/* Of the kernel that was measured last, of those whose wait is reported: the defaults begin with the lightest. */
static void rearming_found(FILE *out, const struct table *t)
{
    static const char *const verdicts[] = {"yes", "no", "undecided"};
    static const char *const says[] = {"the wait is restarted by", "it is not restarted by",
                                       "it is undecided whether it is restarted by"};
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < t->n_rows; i++)
        if (table_says(t, i, "what", "rearm") && wait_is_told(t, i))
            last = i;
    for (size_t v = 0; v < 3 && last != SIZE_MAX; v++) {
        size_t said = 0;
        char cores[ESTIMATE_TEXT_MAX], share[ESTIMATE_TEXT_MAX];
        for (size_t i = 0; i < t->n_rows; i++) {
            const char *by = table_text(t, i, "by");
            if (!table_says(t, i, "what", "rearm") || !table_says(t, i, "rearmed", verdicts[v]) ||
                !same_pair(t, i, last))
                continue;
            if (!said++)
                fprintf(out, "After %s (%s) %s", table_text(t, last, "from"), estimates_cores_of(t, last, cores),
                        says[v]);
            fprintf(out, "%s %s (%s %%)", said > 1 ? "," : "", strcmp(by, "interrupt") == 0 ? "interrupts" : by,
                    share_text(t, i, share));
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
        if (!table_says(t, i, "what", "toggle") || !estimates_known(&trend) || !wait_is_told(t, i))
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
    const char *why = estimates_no_levels(t);
    if (why) {
        if (table_find(t, "what", "wait") < t->n_rows)
            fprintf(out, "No wait is reported: %s.\n", why);
        return;
    }
    waits_found(out, t);
    rearming_found(out, t);
    toggling_found(out, t);
}
