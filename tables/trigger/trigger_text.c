/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trigger table for a person: lists, findings, and the plot of levels by density, counts and mixtures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/table/chart_table.h"
#include "tables/table/pivot.h"
#include "tables/trigger/trigger.h"
#include "util/order.h"
#include "util/text_list.h"

/* "13012 [12840, 13190]", or "at most 140" where the shortest burst asks. */
static void put_count(struct pivot *p, const struct table *t, size_t row)
{
    struct estimate count = estimates_of_table(t, row, "count");
    if (!(count.value == count.hi))
        pivot_value(p, &count, 0);
    else if (count.lo > 1)
        pivot_text(p, "%.0f to %.0f", count.lo, count.value);
    else
        pivot_text(p, "at most %.0f", count.value);
}

static void put_rates(struct pivot *p, const struct table *t, size_t row)
{
    double rate = table_number(t, row, "rate_per_cycle"), lo = table_number(t, row, "rate_per_cycle_lo");
    pivot_text(p, "%.4f suffice", rate);
    if (!isnan(lo))
        pivot_more(p, ", %.4f do not", lo);
}

static const struct pivot_field counts[] = {
    {"kernel", "kernel", PIVOT_PLAIN, NULL},
    {"cores", "active_cores", PIVOT_PLAIN, NULL},
    {"triggers", "asks", PIVOT_PLAIN, NULL},
    {"instructions needed", NULL, PIVOT_PLAIN, put_count},
    {"spread, %", "spread", PIVOT_PERCENT, NULL},
    {"GHz", "freq_ghz", PIVOT_ALONE, NULL},
    {"n", "n", PIVOT_PLAIN, NULL},
};
static const struct pivot_field densities[] = {
    {"kernel", "kernel", PIVOT_PLAIN, NULL},
    {"cores", "active_cores", PIVOT_PLAIN, NULL},
    {"triggers", "asks", PIVOT_PLAIN, NULL},
    {"up to one in", "density", PIVOT_PLAIN, NULL},
    {"instructions per cycle", NULL, PIVOT_PLAIN, put_rates},
    {"GHz", "freq_ghz", PIVOT_ALONE, NULL},
};
static const struct pivot_field mixtures[] = {
    {"kernel", "kernel", PIVOT_PLAIN, NULL},
    {"mixed with", "with", PIVOT_PLAIN, NULL},
    {"cores", "active_cores", PIVOT_PLAIN, NULL},
    {"triggers", "asks", PIVOT_PLAIN, NULL},
    {"alone: level", "level_kernel", PIVOT_PLAIN, NULL},
    {"the other: level", "level_with", PIVOT_PLAIN, NULL},
};
static const struct pivot_field dirty[] = {
    {"left dirty by", "kernel", PIVOT_PLAIN, NULL}, {"code", "with", PIVOT_PLAIN, NULL},
    {"cores", "active_cores", PIVOT_PLAIN, NULL},   {"triggers", "asks", PIVOT_PLAIN, NULL},
    {"GHz", "freq_ghz", PIVOT_ALONE, NULL},         {"rate against clean registers", "ipc_ratio", PIVOT_PLAIN, NULL},
};

const struct pivot_list trigger_views[TRIGGER_VIEWS] = {
    PIVOT_LIST_OF("Instructions before a level is requested", "count", counts),
    PIVOT_LIST_OF("The sparsest code that still triggers a level", "density limit", densities),
    PIVOT_LIST_OF("Mixtures of two kernels", "mixture", mixtures),
    PIVOT_LIST_OF("Code on registers, upper halves or tiles, left dirty", "dirty", dirty),
};

void trigger_print(FILE *out, bool colour, const struct table *t)
{
    (void)colour;
    if (table_find(t, "asks", "nothing") < t->n_rows)
        pivot_note(out, 2, "nothing: no change was seen while it ran, at this number of active cores");
    if (table_find(t, "asks", "undecided") < t->n_rows)
        pivot_note(out, 2, "undecided: by its limits the frequency may be below that of plain code; no level is given");
}

/* ---- findings ---- */

static bool asks_no_frequency(const char *asks)
{
    return !asks || strcmp(asks, "nothing") == 0 || strcmp(asks, "throttle only") == 0 ||
           strcmp(asks, "undecided") == 0;
}

/* Returns true if a row may be said to request a level: by the counters, or by a frequency that is below that of plain
 * code by the limits of both. */
static bool asks_level(const struct table *t, size_t row)
{
    const char *asks = table_text(t, row, "asks");
    if (asks_no_frequency(asks))
        return false;
    return isfinite(table_number(t, row, "level")) || trigger_ratio(t, row).hi < 1;
}

/* At each number of cores how many kernels lower nothing, and by how much lower it could still be by the limits. */
static void nothing_found(FILE *out, const struct table *t)
{
    char text[ESTIMATE_TEXT_MAX];
    for (size_t i = 0; i < t->n_rows; i++) {
        double cores = table_number(t, i, "active_cores"), least = 1;
        size_t kernels = 0;
        bool first = table_says(t, i, "what", "count");
        for (size_t k = 0; k < i && first; k++)
            first = !table_says(t, k, "what", "count") || table_number(t, k, "active_cores") != cores;
        for (size_t k = 0; k < t->n_rows && first; k++)
            if (table_says(t, k, "what", "count") && table_number(t, k, "active_cores") == cores) {
                const double lo = trigger_ratio(t, k).lo;
                kernels++; /* one row each where none requests a level */
                least = isnan(lo) ? -INFINITY : fmin(least, lo);
            }
        if (first && isfinite(least))
            fprintf(out,
                    "No lower frequency was seen on %s while %zu kernel%s ran: none lower by more than %.2g %% (95 %% "
                    "limits).\n",
                    estimates_cores_of(t, i, text), kernels, kernels == 1 ? "" : "s", 100 * (1 - least));
    }
}

/* Names what a row triggers, for a sentence. */
static const char *triggered(const struct table *t, size_t row)
{
    return table_says(t, row, "asks", "lower frequency") ? "a lower frequency" : table_text(t, row, "asks");
}

static void counts_found(FILE *out, const struct table *t)
{
    size_t said = 0, measured = 0;
    char text[ESTIMATE_TEXT_MAX];
    for (size_t i = 0; i < t->n_rows; i++) {
        double count = table_number(t, i, "count"), lo = table_number(t, i, "count_lo");
        measured += table_says(t, i, "what", "count") && table_says(t, i, "asks", "nothing");
        if (!table_says(t, i, "what", "count") || !asks_level(t, i) || isnan(count) || said == 4)
            continue;
        fprintf(out, "%s%s triggers %s ", said++ ? "; " : "", table_text(t, i, "kernel"), triggered(t, i));
        if (lo > 1)
            fprintf(out, "after %.0f instructions (95 %%: %.0f to %.0f)", count, lo, table_number(t, i, "count_hi"));
        else
            fprintf(out, "within its first %.0f instructions", count);
        fprintf(out, " on %s", estimates_cores_of(t, i, text));
    }
    if (said)
        fprintf(out, ".\n");
    else if (measured)
        nothing_found(out, t);
}

static void limits_found(FILE *out, const struct table *t)
{
    size_t said = 0;
    char text[ESTIMATE_TEXT_MAX];
    for (size_t i = 0; i < t->n_rows; i++) {
        double lo = table_number(t, i, "rate_per_cycle_lo");
        if (table_says(t, i, "what", "density limit") && asks_level(t, i) && !isnan(lo) && said < 4)
            fprintf(out, "%s%s triggers %s at %.2f instructions per cycle or more (not at %.2f) on %s",
                    said++ ? "; " : "", table_text(t, i, "kernel"), triggered(t, i),
                    table_number(t, i, "rate_per_cycle"), lo, estimates_cores_of(t, i, text));
    }
    if (said)
        fprintf(out, ".\n");
}

static void others_found(FILE *out, const struct table *t)
{
    size_t said = 0;
    char text[ESTIMATE_TEXT_MAX];
    for (size_t i = 0; i < t->n_rows && said < 4; i++) {
        double level = table_number(t, i, "level"), one = table_number(t, i, "level_kernel"),
               two = table_number(t, i, "level_with");
        if (table_says(t, i, "what", "mixture") && level > one && level > two)
            fprintf(out, "%s%s mixed with %s triggers %s, more than either alone, on %s", said++ ? "; " : "",
                    table_text(t, i, "kernel"), table_text(t, i, "with"), triggered(t, i),
                    estimates_cores_of(t, i, text));
        if (table_says(t, i, "what", "dirty") && asks_level(t, i))
            fprintf(out, "%s%s after %s runs at %s on %s", said++ ? "; " : "", table_text(t, i, "with"),
                    table_text(t, i, "kernel"), triggered(t, i), estimates_cores_of(t, i, text));
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
    /* ratios of milliseconds tell what frequencies of other moments do not */
    bool counted = false, asks = estimates_noted_floating(t) && !table_has_values(t, "ratio");
    for (size_t i = 0; i < t->n_rows; i++) {
        counted = counted || isfinite(table_number(t, i, "level"));
        asks = asks || table_says(t, i, "asks", "lower frequency");
    }
    const char *why = counted ? NULL : estimates_no_levels(t);
    if (why && asks && t->n_rows) {
        fprintf(out, "No triggers of levels are reported: %s.\n", why);
        return;
    }
    tell_unsupported(out, t);
    counts_found(out, t);
    limits_found(out, t);
    others_found(out, t);
}

/* ---- plot ---- */

enum { DENSITIES_MAX = 40 }; /* columns of the plot */

/* One in how many instructions; a share of the instructions is as good as its inverse. NaN: the row tells no level. */
static double one_in(const struct table *t, size_t row)
{
    double density = table_number(t, row, "density");
    bool level = isfinite(table_number(t, row, "level")) || table_text(t, row, "asks");
    bool has_density = table_text(t, row, "kernel") && density > 0 && level && chart_row_is(t, row, "what", "density");
    return has_density ? density < 1 ? 1 / density : density : NAN;
}

/* The columns: all densities that have a level, dense ones first. */
static void density_names(const struct table *t, struct chart *c, struct chart_panel *p)
{
    double found[DENSITIES_MAX];
    char name[40];
    size_t n = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        double density = one_in(t, row);
        size_t i = 0;
        while (i < n && found[i] != density)
            i++;
        if (isfinite(density) && i == n && n < DENSITIES_MAX)
            found[n++] = density;
    }
    qsort(found, n, sizeof *found, order_double);
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "1/%.4g", found[i]);
        chart_name(c, &p->columns, name);
    }
}

/* The level, or, where no counter shows it, what the core did instead. */
static void level_cell(struct chart_cell *cell, double level, const char *asks)
{
    bool throttle = asks && strcmp(asks, "throttle only") == 0, nothing = asks && strcmp(asks, "nothing") == 0,
         undecided = asks && strcmp(asks, "undecided") == 0;
    if (!cell || (!isfinite(level) && !asks))
        return;
    cell->state = isfinite(level) ? CELL_VALUE : CELL_PLAIN;
    cell->value = level;
    if (isfinite(level))
        snprintf(cell->text, sizeof cell->text, "%.3g%s", level, throttle ? " t" : "");
    else
        snprintf(cell->text, sizeof cell->text, "%s",
                 throttle    ? "t"
                 : nothing   ? "\xC2\xB7"
                 : undecided ? "?"
                             : "\xE2\x86\x93");
}

static void plot_levels(const struct table *t, struct chart *c)
{
    struct chart_panel *p = chart_add_panel(
        c, CHART_CELLS, "License level triggered, by density: one such instruction in every N", "", "density");
    char name[40];
    snprintf(p->scale_label, sizeof p->scale_label, "level; hatched: not measured");
    snprintf(p->note, sizeof p->note, "t: throttled, same frequency%s",
             table_has_values(t, "level") ? "" : "; \xE2\x86\x93: lower frequency; \xC2\xB7: nothing; ?: undecided");
    p->scale_hi = fmax(chart_largest(t, "level"), 2);
    density_names(t, c, p);
    for (size_t row = 0; row < t->n_rows; row++)
        if (isfinite(one_in(t, row)))
            chart_name(c, &p->categories, table_text(t, row, "kernel"));
    chart_make_cells(c, p);
    for (size_t row = 0; row < t->n_rows; row++) {
        if (!isfinite(one_in(t, row)))
            continue;
        snprintf(name, sizeof name, "1/%.4g", one_in(t, row));
        struct chart_cell *cell = chart_cell(p, chart_find_name(&p->categories, table_text(t, row, "kernel")),
                                             chart_find_name(&p->columns, name));
        if (cell)
            level_cell(cell, table_number(t, row, "level"), table_text(t, row, "asks"));
    }
}

/* Mixtures of two kernels beside what each of them requests alone. */
static void plot_mixtures(const struct table *t, struct chart *c)
{
    static const char *const names[] = {"one alone", "other alone", "mixed"};
    static const char *const columns[] = {"level_kernel", "level_with", "level"};
    struct chart_panel *p = chart_add_panel(c, CHART_CELLS, "License level triggered by mixtures", "", "");
    char name[200];
    for (size_t i = 0; i < 3; i++)
        chart_name(c, &p->columns, names[i]);
    p->scale_hi = fmax(chart_largest(t, "level"), 2);
    snprintf(p->scale_label, sizeof p->scale_label, "level; hatched: unknown");
    for (int pass = 0; pass < 2; pass++) {
        for (size_t row = 0; row < t->n_rows; row++) {
            const char *kernel = table_text(t, row, "kernel"), *with = table_text(t, row, "with");
            if (!kernel || !with || !chart_row_is(t, row, "what", "mixture"))
                continue;
            snprintf(name, sizeof name, "%s and %s", kernel, with);
            size_t k = chart_name(c, &p->categories, name);
            for (size_t i = 0; pass && i < 3; i++)
                level_cell(chart_cell(p, k, i), table_number(t, row, columns[i]), NULL);
        }
        if (!pass)
            chart_make_cells(c, p);
    }
}

/* "512fma@1/4, level 1"; "" where nothing was counted. */
static const char *count_name(const struct table *t, size_t row, char out[CHART_NAME_MAX])
{
    const char *kernel = table_text(t, row, "kernel"), *asks = table_text(t, row, "asks");
    double density = table_number(t, row, "density"), level = table_number(t, row, "level");
    const bool counted = kernel && table_number(t, row, "count") > 0;
    snprintf(out, CHART_NAME_MAX, "%s", counted ? kernel : "");
    if (!counted)
        return out;
    if (isfinite(density) && density > 1 && !strchr(kernel, '@'))
        text_list_add(out, CHART_NAME_MAX, "", "@1/%.0f", density);
    if (asks)
        text_list_add(out, CHART_NAME_MAX, ", ", "%s", asks);
    else if (isfinite(level))
        text_list_add(out, CHART_NAME_MAX, ", ", "level %.0f", level);
    return out;
}

static const struct picture counts_drawn = {.panel = {.kind = CHART_BARS,
                                                      .title = "Instructions until a level is triggered",
                                                      .x_label = "instructions",
                                                      .log_x = true},
                                            .column = "what",
                                            .says = "count",
                                            .value = "count",
                                            .name.text = count_name,
                                            .look.dot = true,
                                            .omitted = "thresholds"};

void trigger_plot(const struct table *t, struct chart *c)
{
    plot_levels(t, c);
    chart_table_draw(&counts_drawn, t, c);
    plot_mixtures(t, c);
}
