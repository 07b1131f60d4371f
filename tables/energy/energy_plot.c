/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/energy/energy.h"

#include <math.h>

#include "tables/table/chart_table.h"
#include "util/text_list.h"

/* "512fma at 2.10 GHz, 4 cores, automatic": what does not vary in the table is left out. */
static void energy_name(const struct table *t, size_t row, char *out, size_t size)
{
    const char *kernel = table_text(t, row, "kernel"), *mode = table_text(t, row, "mode");
    double freq = table_number(t, row, "freq_ghz"), cores = table_number(t, row, "active_cores");
    snprintf(out, size, "%s", kernel ? kernel : "?");
    if (isfinite(freq))
        text_list_add(out, size, " at ", "%.2f GHz", freq);
    if (isfinite(cores) && chart_varies(t, "active_cores"))
        text_list_add(out, size, ", ", "%.0f core%s", cores, cores == 1 ? "" : "s");
    if (mode && chart_varies(t, "mode"))
        text_list_add(out, size, ", ", "%s", mode);
}

static void energy_panel(const struct table *t, struct chart *c, const char *column, const char *title,
                         const char *label, int colour)
{
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, title, label, "");
    char name[160];
    for (size_t row = 0; row < t->n_rows; row++) {
        struct estimate v = estimates_of_table(t, row, column);
        if (!isfinite(v.value))
            continue;
        energy_name(t, row, name, sizeof name);
        chart_add_row(c, p, name, &v, (struct chart_bar){.colour = colour}, NULL);
    }
    chart_tell_omitted(p, p->n_bars, "rows");
}

void energy_plot(const struct table *t, struct chart *c)
{
    energy_panel(t, c, "nj_per_op", "Energy per operation", "nJ per operation", 0);
    energy_panel(t, c, "watts", "Power above an idle loop", "W", 1);
}
