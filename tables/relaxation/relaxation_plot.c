/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plot of the table relaxation: waits, and the shares of what starts them again or toggles. */
#include <math.h>

#include "tables/relaxation/relaxation_parts.h"
#include "tables/table/chart_table.h"

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
