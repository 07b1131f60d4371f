/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table variability in words and pictures, beside what its source has. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/ramp_up.h"
#include "tables/variability/variability.h"
#include "util/plain_text.h"

/* The source's table 3.1: of 1e9 cycles on a Cortex-A72, the workload register. Not a measurement. */
static const struct {
    const char *version; /* as it is called there */
    enum refinement refinement;
    double spread; /* fraction */
} published[] = {
    {"busy system", REFINED_BUSY, 100},
    {"quiet system", REFINED_QUIET, 1e-7},
    {"quiet system (section 3.3)", REFINED_QUIET, 2.6e-7}, /* the same runs: which of both is right is not said */
    {"kernel module", REFINED_MASKED, 0},
    {"user space w/o dyn. ticks", REFINED_IRQS_AWAY, 1e-5},
    {"user space w/ dyn. ticks", REFINED_TICKLESS, 0},
};
#define PUBLISHED_AS "Kozak 2020, table 3.1: 1e9 cycles on a Cortex-A72"

/* A fraction as percentage in few characters: "0 %", "0.000026 %", "3.4 %", "8100 %"; "-": not known. Returns `out`. */
enum { PERCENT_TEXT = 24 };
static const char *percent_text(double fraction, char out[PERCENT_TEXT])
{
    double percent = 100 * fraction;
    if (!isfinite(fraction))
        snprintf(out, PERCENT_TEXT, "-");
    else if (percent != 0 && fabs(percent) < 1e-7)
        snprintf(out, PERCENT_TEXT, "%.1e %%", percent);
    else {
        int decimals = percent == 0 ? 0 : 1 - (int)floor(log10(fabs(percent)));
        snprintf(out, PERCENT_TEXT, "%.*f %%", decimals > 0 ? decimals : 0, percent);
    }
    return out;
}

/* ---- findings ---- */

/* A row of a workload that is repeated at refinements, neither of the sweep nor of the ramp. */
static bool is_repeated(const struct table *t, size_t row)
{
    return !isfinite(table_number(t, row, "per_access")) && !isfinite(table_number(t, row, "start_rate"));
}

static bool is_measured(const struct table *t, size_t row)
{
    return !table_says(t, row, "refinement", tables_refinement_names[REFINED_WARM]);
}

static void tell_workload(FILE *out, const struct table *t, const char *workload)
{
    char from[PERCENT_TEXT], to[PERCENT_TEXT];
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
            table_number(t, first, "trials"), percent_text(table_number(t, first, "spread"), from),
            table_text(t, first, "refinement"));
    if (best != first)
        fprintf(out, ", at best %s (%s)", percent_text(table_number(t, best, "spread"), to),
                table_text(t, best, "refinement"));
    fprintf(out, ".\n");
}

/* How much longer the same takes beside a busy sibling thread, at the first refinement that has both. */
static void tell_sibling(FILE *out, const struct table *t)
{
    for (unsigned r = 0; r < REFINED_WARM; r++) {
        size_t alone = variability_row(t, "register", (enum refinement)r),
               beside = variability_row(t, VARIABILITY_BESIDE_SIBLING, (enum refinement)r);
        if (alone == t->n_rows || beside == t->n_rows || !table_same(t, alone, beside, "unit"))
            continue;
        fprintf(out, "register: beside a busy sibling thread a trial takes %.2f times as long (%s).\n",
                table_number(t, beside, "mode") / table_number(t, alone, "mode"), table_text(t, alone, "refinement"));
        return;
    }
}

static void tell_ramp(FILE *out, const struct table *t, unsigned r)
{
    const char *text = variability_detail(t, VARIABILITY_AFTER_IDLE, r);
    const size_t row = variability_row(t, VARIABILITY_AFTER_IDLE, (enum refinement)r);
    if (row == t->n_rows || !isfinite(table_number(t, row, "start_rate")))
        return;
    json_t *kept = json_loads(text ? text : "", 0, NULL);
    const char *governor = json_string_value(json_object_get(kept, "governor"));
    const char *driver = json_string_value(json_object_get(kept, "driver"));
    char names[2][40];
    plain_text(governor ? governor : "", names[0], sizeof names[0]);
    plain_text(driver ? driver : "unknown", names[1], sizeof names[1]);
    fprintf(out, "After %.0f ms idle (%s", VARIABILITY_IDLE_MS, tables_refinement_names[r]);
    if (governor)
        fprintf(out, ", governor %s, driver %s", names[0], names[1]);
    else if (!table_modelled(t))
        fprintf(out, ", no governor to be read");
    fprintf(out, ") the core begins at %.0f %% of its final rate", 100 * table_number(t, row, "start_rate"));
    if (isfinite(table_number(t, row, "ramp_ms")))
        fprintf(out, " and reaches %.0f %% after %.1f ms, in %.0f steps.\n", 100 * RAMP_UP_FULL,
                table_number(t, row, "ramp_ms"), table_number(t, row, "ramp_steps"));
    else
        fprintf(out, ": no ramp of two trials (%.1f ms) or longer was found.\n", 2e-6 * table_number(t, row, "mode"));
    json_decref(kept);
}

void variability_findings(FILE *out, const struct table *t)
{
    tell_workload(out, t, "register");
    tell_workload(out, t, "memory@mem");
    tell_sibling(out, t);
    for (unsigned r = 0; r < REFINED_WARM; r++)
        tell_ramp(out, t, r);
    size_t row = 0;
    while (row < t->n_rows && !(is_repeated(t, row) && table_says(t, row, "unit", "ns")))
        row++;
    if (row < t->n_rows)
        fprintf(out,
                "Durations are measured by time stamps, so they include changes of the core\xE2\x80\x99s frequency.\n");
}

/* ---- views and pictures ---- */

static void put_percent(struct pivot *p, double fraction)
{
    char text[PERCENT_TEXT];
    pivot_mark(p, percent_text(fraction, text));
}

static void put_spread(struct pivot *p, const struct table *t, size_t row)
{
    put_percent(p, table_number(t, row, "spread"));
}

static void put_p99(struct pivot *p, const struct table *t, size_t row)
{
    put_percent(p, table_number(t, row, "p99"));
}

/* A row of the last refinement that its workload was measured at. */
static bool is_last(const struct table *t, size_t row)
{
    for (size_t i = row + 1; i < t->n_rows; i++)
        if (is_measured(t, i) && table_same(t, row, i, "workload"))
            return false;
    return is_measured(t, row) && is_repeated(t, row);
}

static void put_p90(struct pivot *p, const struct table *t, size_t row)
{
    put_percent(p, table_number(t, row, "p90"));
}

static void put_max(struct pivot *p, const struct table *t, size_t row)
{
    put_percent(p, table_number(t, row, "max"));
}

static const struct pivot_field refinement[] = {{"refinement", "refinement", PIVOT_PLAIN, NULL}};
static const struct pivot_field modes[] = {
    {"workload", "workload", PIVOT_PLAIN, NULL}, {"refinement", "refinement", PIVOT_PLAIN, NULL},
    {"trials", "trials", PIVOT_PLAIN, NULL},     {"mode", "mode", PIVOT_PLAIN, NULL},
    {"unit", "unit", PIVOT_PLAIN, NULL},         {"trials to it", "to_mode", PIVOT_PLAIN, NULL},
};
static const struct pivot_field predictions[] = {
    {"workload", "workload", PIVOT_PLAIN, NULL},
    {"refinement", "refinement", PIVOT_PLAIN, NULL},
    {"branches", "branches", PIVOT_PLAIN, NULL},
    {"mispredicted:\nfirst trial", "mispredicted_first", PIVOT_PLAIN, NULL},
    {"\nlast trials", "mispredicted_last", PIVOT_PLAIN, NULL},
};
static const struct pivot_field sizes[] = {
    {"working set", "workload", PIVOT_PLAIN, NULL},
    {"a load", "per_access", PIVOT_PLAIN, NULL},
    {"unit", "unit", PIVOT_PLAIN, NULL},
    {"spread", NULL, PIVOT_PLAIN, put_spread},
    {"90 of 100", NULL, PIVOT_PLAIN, put_p90},
    {"99 of 100", NULL, PIVOT_PLAIN, put_p99},
    {"all", NULL, PIVOT_PLAIN, put_max},
};
static const struct pivot_field ramps[] = {
    {"refinement", "refinement", PIVOT_PLAIN, NULL},
    {"rate at first, of the final", "start_rate", PIVOT_PLAIN, NULL},
    {"ms to full speed", "ramp_ms", PIVOT_PLAIN, NULL},
    {"steps", "ramp_steps", PIVOT_PLAIN, NULL},
};
static const struct pivot_field disturbances[] = {
    {"refinement", "refinement", PIVOT_PLAIN, NULL}, {"interrupts", "interrupts", PIVOT_SUM, NULL},
    {"page faults", "faults", PIVOT_SUM, NULL},      {"switches", "switches", PIVOT_SUM, NULL},
    {"steal ms", "steal_ms", PIVOT_SUM, NULL},       {"SMIs", "smis", PIVOT_SUM, NULL},
    {"discarded", "discarded", PIVOT_SUM, NULL},
};
const struct pivot_list variability_views[VARIABILITY_VIEWS] = {
    {.title = "Spread: (slowest - fastest) / fastest",
     .shows = is_repeated,
     .n_names = 1,
     PIVOT_FIELDS(refinement),
     .across.column = "workload",
     .cell.put = put_spread},
    {.title = "99 of 100 trials are no farther from the mode than",
     .shows = is_repeated,
     .n_names = 1,
     PIVOT_FIELDS(refinement),
     .across.column = "workload",
     .cell.put = put_p99},
    {.title = "The most frequent duration", .shows = is_last, .n_names = 2, PIVOT_FIELDS(modes)},
    {.title = "Branches of a trial", .column = "mispredicted_last", .n_names = 2, PIVOT_FIELDS(predictions)},
    {.title = "Loads that wait for each other, by working set; distance from the mode (Kozak 2020, 4.3)",
     .column = "per_access",
     .n_names = 1,
     PIVOT_FIELDS(sizes)},
    {.title = "After idling", .column = "start_rate", .n_names = 1, PIVOT_FIELDS(ramps)},
    {.title = "Disturbances, in all trials of all workloads",
     .shows = is_measured,
     .once = "refinement",
     .n_names = 1,
     PIVOT_FIELDS(disturbances)},
};

static void print_published(FILE *out, bool colour)
{
    struct pivot p;
    pivot_init(&p, 1, "Published, not measured here: %s", PUBLISHED_AS);
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "there");
    pivot_word(&p, "here");
    pivot_word(&p, "spread");
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        pivot_line(&p, PIVOT_ASIDE);
        pivot_word(&p, published[i].version);
        pivot_word(&p, tables_refinement_names[published[i].refinement]);
        put_percent(&p, published[i].spread);
    }
    pivot_print(out, colour, &p);
}

static void print_in_force(FILE *out, const struct table *t)
{
    char in_force[TABLES_IN_FORCE_MAX];
    struct repeatability ignored;
    for (unsigned r = 0; r < REFINED_WARM; r++)
        for (size_t w = 0; w < VARIABILITY_WORKLOADS; w++) {
            if (!variability_kept(variability_detail(t, variability_workload(w), r), in_force, &ignored))
                continue;
            if (in_force[0])
                pivot_note(out, 2, "%s: %s", tables_refinement_names[r], in_force);
            break;
        }
}

/* Prints what was published, and what was in force at each refinement. */
void variability_print(FILE *out, bool colour, const struct table *t)
{
    print_published(out, colour);
    print_in_force(out, t);
}

/* The outermost of what is drawn; what is 0 has no place on a logarithmic axis and is drawn at its beginning. */
static void widen(double percent, double *lo, double *hi)
{
    if (percent > 0 && isfinite(percent)) {
        *lo = fmin(*lo, percent);
        *hi = fmax(*hi, percent);
    }
}

static void find_axis(const struct table *t, struct chart *c)
{
    double lo = INFINITY, hi = -INFINITY;
    for (size_t row = 0; row < t->n_rows; row++) {
        if (!is_repeated(t, row))
            continue;
        widen(100 * table_number(t, row, "spread"), &lo, &hi);
        widen(100 * table_number(t, row, "p99"), &lo, &hi);
    }
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        widen(100 * published[i].spread, &lo, &hi);
    c->one_axis = true;
    c->x_lo = pow(10, floor(log10(lo)));
    c->x_hi = pow(10, ceil(log10(hi) + 0.7)); /* room for the numbers after the bars */
}

static void add_percent(struct chart *c, struct chart_panel *p, const char *category, double fraction,
                        struct chart_bar look, bool labelled)
{
    char text[PERCENT_TEXT];
    struct estimate e = {fmax(100 * fraction, c->x_lo), NAN, NAN};
    if (isfinite(fraction))
        chart_add_row(c, p, category, &e, look, labelled ? percent_text(fraction, text) : "");
}

/* Draws what the source has for a refinement. Its last row, dynamic ticks, is a boot option and none that this table
 * has. */
static void draw_published(struct chart *c, struct chart_panel *p, unsigned r)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        if (published[i].refinement == r)
            add_percent(c, p, tables_refinement_names[r], published[i].spread,
                        (struct chart_bar){.colour = CHART_MUTED, .hatched = true, .lane = 1, .lanes = 2}, true);
}

static void draw_workload(const struct table *t, struct chart *c, const char *workload, bool compared)
{
    int lanes = compared ? 2 : 1;
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, workload, "% of the fastest trial", "");
    if (!p)
        return;
    p->log_x = true;
    for (unsigned r = 0; r < REFINEMENTS; r++) {
        size_t row = variability_row(t, workload, (enum refinement)r);
        if (compared)
            draw_published(c, p, r);
        if (row == t->n_rows)
            continue;
        add_percent(c, p, tables_refinement_names[r], table_number(t, row, "spread"),
                    (struct chart_bar){.lanes = lanes}, true);
        add_percent(c, p, tables_refinement_names[r], table_number(t, row, "p99"),
                    (struct chart_bar){.colour = CHART_INK, .dot = true, .lanes = lanes}, false);
    }
    if (compared) {
        chart_add_legend(c, p, "spread of all trials", 0);
        chart_add_legend(c, p, "distance from the mode of 99 in 100", CHART_INK);
        chart_add_legend(c, p, "hatched: published, " PUBLISHED_AS, CHART_MUTED);
    }
}

/* The time of a load over the size of the working set: V's figure 4-3. */
static void draw_sweep(const struct table *t, struct chart *c)
{
    struct chart_panel *p = chart_add_panel(c, CHART_LINES, "loads that wait for each other", "working set (KiB)", "");
    struct chart_series *s = p ? chart_series(c, p, "most frequent; up to its limit: 90 of 100 trials") : NULL;
    if (!s)
        return;
    p->log_x = p->log_y = p->own_axis = true;
    for (size_t row = 0; row < t->n_rows; row++) {
        const double y = table_number(t, row, "per_access"), p90 = table_number(t, row, "p90");
        const char *unit = table_text(t, row, "unit");
        if (!isfinite(y))
            continue;
        snprintf(p->y_label, sizeof p->y_label, "%.20s a load", unit ? unit : "");
        chart_add_point(c, s, table_number(t, row, "bytes") / 1024, y, y, y * (1 + p90));
    }
}

/* The rate after idling, step by step, until a quarter of that time after full speed: V's figure 5-1. */
static void draw_ramp(const struct table *t, struct chart *c)
{
    struct chart_panel *p = chart_add_panel(c, CHART_LINES, "register after idling", "ms since it woke",
                                            "% of the final rate");
    if (!p)
        return;
    p->own_axis = p->from_zero = true;
    for (unsigned r = 0; r < REFINED_WARM; r++) {
        const char *text = variability_detail(t, VARIABILITY_AFTER_IDLE, r);
        json_t *kept = json_loads(text ? text : "", 0, NULL), *steps = json_object_get(kept, "steps");
        const size_t n = json_array_size(steps);
        struct chart_series *s = n > 0 ? chart_series(c, p, tables_refinement_names[r]) : NULL;
        double from = 0, share = NAN;
        for (size_t i = 0; s && i <= n; i++) {
            double next = fmax(1.25 * from, 1), to = share;
            if (i < n && json_unpack(json_array_get(steps, i), "[F, F]", &next, &to) != 0)
                break;
            s->mark = -1;
            if (i > 0)
                chart_add_point(c, s, next, 100 * share, NAN, NAN);
            if (i < n)
                chart_add_point(c, s, next, 100 * to, NAN, NAN);
            from = next;
            share = to;
        }
        json_decref(kept);
    }
}

void variability_plot(const struct table *t, struct chart *c)
{
    find_axis(t, c);
    for (size_t w = 0; w < VARIABILITY_REPEATED; w++)
        if (table_find(t, "workload", variability_workload(w)) < t->n_rows)
            draw_workload(t, c, variability_workload(w), w == 0);
    if (table_find(t, "workload", variability_workload(VARIABILITY_SWEEP)) < t->n_rows)
        draw_sweep(t, c);
    if (table_find(t, "workload", VARIABILITY_AFTER_IDLE) < t->n_rows)
        draw_ramp(t, c);
}
