/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cost of a change of the frequency, down and up, for each number of active cores, and the time after which a
 * change up has paid for itself: the break-even time (Gottschlag's dissertation, "AVX Overhead Mitigation", section
 * 5.2). Both ways are switches as in the table transitions; frequencies are compared within repetitions alone.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pooled/lost.h"
#include "tables/published/sku.h"
#include "tables/registry.h"
#include "tables/switches/switches.h"
#include "tables/table/chart_table.h"
#include "tables/table/estimates.h"
#include "tables/table/pivot.h"
#include "util/text_list.h"

static const char assumption[] = "performance proportional to frequency";

static const struct table_column columns[] = {
    {"from", "", TABLE_TEXT, true, 0},
    {"to", "", TABLE_TEXT, true, 0},
    {"active_cores", "", TABLE_WHOLE, true, 0},
    TABLE_LIMITS("down_us", "us", 1),
    TABLE_LIMITS("up_us", "us", 1),
    TABLE_LIMITS("breakeven_us", "us", 0),
    TABLE_LIMITS("high_ghz", "GHz", 3),
    TABLE_LIMITS("low_ghz", "GHz", 3),
    {"n", "", TABLE_WHOLE, false, 0}, /* repetitions down that agree */
    {"up_n", "", TABLE_WHOLE, false, 0},
    {"dropped", "", TABLE_WHOLE, false, 0}, /* of both; the details say why */
    {"assumption", "", TABLE_TEXT, false, 0},
};

/* ---- plan ---- */

/* The kernels whose transitions were published, 256or for throttling alone, and tiles. */
static const char *const usual[] = {"128fma", "256or", "256fma", "512or", "512fma", "amx"};

/* The wider, then the heavier, then the denser kernel is taken to be the one that requests the lower level. */
static int by_demand(const void *a, const void *b)
{
    const struct payload *x = a, *y = b;
    if (x->kernel->width != y->kernel->width)
        return x->kernel->width < y->kernel->width ? -1 : 1;
    if (x->kernel->weight != y->kernel->weight)
        return x->kernel->weight < y->kernel->weight ? -1 : 1;
    if (x->density != y->density)
        return x->density > y->density ? -1 : 1;
    return strcmp(x->name, y->name);
}

static const struct switches_wish wishes[] = {{.runs = 100}, {.runs = 24}}; /* the second: in brief */

static int add_cells(const struct tables_context *x, const struct payload *from, const struct payload *to,
                     struct cells *out)
{
    unsigned cores[TABLES_CORES_MAX];
    size_t n = tables_active_cores(x, x->options->brief ? CORES_ONE_AND_ALL : CORES_DOUBLED, cores);
    for (size_t i = 0; i < n; i++)
        if (switches_add(x, out, from, to, cores[i], &wishes[x->options->brief]))
            return -1;
    return 0;
}

static bool wanted(const struct tables_context *x, const struct payload *from, const struct payload *to)
{
    if (x->options->n_kernels)
        return true;
    if (x->options->brief && (!strcmp(to->name, "256or") || !strcmp(from->name, "256fma")))
        return false;
    bool usual_first = strcmp(from->name, "128fma") == 0 || strcmp(from->name, "256fma") == 0;
    return usual_first && to->kernel->width > from->kernel->width;
}

static int plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    struct payload kernels[TABLES_KERNELS_MAX];
    size_t n = tables_kernels(x, usual, sizeof usual / sizeof *usual, kernels, t);
    if (x->options->n_kernels && n == 1)
        return machine_fail(err, MACHINE_BAD_INPUT, "name at least two kernels, as in --kernels 128fma,512fma",
                            "overhead needs two kernels; of the kernels given, only %s can run here", kernels[0].name);
    n = tables_only_clean(kernels, n, "to", t);
    qsort(kernels, n, sizeof *kernels, by_demand);
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            if (strcmp(kernels[a].name, kernels[b].name) != 0 && wanted(x, &kernels[a], &kernels[b]) &&
                add_cells(x, &kernels[a], &kernels[b], out))
                return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    switches_note(x, &wishes[x->options->brief], t);
    return MACHINE_OK;
}

/* ---- measure ---- */

#define SAME_LEVEL 0.01 /* relative: a step is at least 100 MHz, 2 % of 5 GHz; what code does to a chain is up to 1 % */
#define NO_STEP 0.002   /* relative: no processor has steps as small */
#define SETTLED_BY 0.6667 /* of a recording: from then on it tells the rate in the end */
#define RESOLUTION_US 0.3 /* a cost that is below 0 by less is none */

/* One way. */
struct way {
    struct transition_summary sum;
    struct estimate cost;  /* us */
    struct estimate ratio; /* of the frequencies after and before, within the repetitions */
    size_t n, discarded;
    char why[400]; /* why there is no cost */
};

static struct estimate frequency_ratio(const struct phases *p)
{
    size_t first = transition_first_phase_after_switch(p);
    if (!first || !p->n_phases)
        return (struct estimate){NAN, NAN, NAN};
    const struct phase *a = &p->phases[first - 1], *b = &p->phases[p->n_phases - 1];
    bool ramp = b->kind == PHASE_RAMP && b->tau_us.value > 0; /* which the recording may end in */
    double to = ramp ? b->to_ghz.value : b->freq_ghz.value, ratio = to / a->freq_ghz.value;
    double half = ramp ? estimate_half_known(&b->to_ghz) : b->freq_half_ghz;
    return estimate_around(ratio, ratio * hypot(a->freq_half_ghz / a->freq_ghz.value, half / to));
}

/* A cost that is below 0 by its limits is none: something was gained, as by a while at the high level. */
static void judge(struct way *w)
{
    if (w->cost.hi < 0 && w->cost.value < -RESOLUTION_US)
        snprintf(w->why, sizeof w->why,
                 "the switch took less time than none would (by %.3g us): it gained more at the other frequency than "
                 "it lost",
                 -w->cost.value);
    w->cost.hi = fmax(w->cost.hi, 0);
    if (w->why[0] || isnan(w->cost.value))
        w->cost = (struct estimate){NAN, NAN, NAN};
}

/*
 * The time lost, by the repetitions themselves; where the core waits for a higher frequency, which each does for a time
 * of its own, by the phases. 0, or -1: out of memory.
 */
static int cost_of(const struct switches_seen *s, struct way *out)
{
    const struct phases *p = &s->phases;
    const struct phase *last = &p->phases[p->n_phases - 1], *unknown = NULL;
    double over = fmax(0, last->start_us) + LOST_SOON_US;
    bool waits = false, kinds = false;
    out->cost = out->sum.overhead_us;
    for (size_t i = 0; i < p->n_phases; i++) {
        const struct phase *ph = &p->phases[i];
        waits |= ph->kind == PHASE_SLOW;
        unknown = ph->kind == PHASE_UNKNOWN ? ph : unknown;
        kinds |= ph->n_modes > 1;
        for (size_t k = 1; k < ph->n_modes; k++) /* longer modes are to count, too */
            over += fmax(0, ph->modes[k].duration_us - ph->modes[0].duration_us);
    }
    if (waits && s->setup.fine_us > 0)
        snprintf(out->why, sizeof out->why, "the wait is so long that the change after it is not resolved");
    if (waits)
        return 0;
    out->cost.value = NAN;
    if (unknown)
        snprintf(out->why, sizeof out->why, "%s", unknown->why);
    else if (over < SETTLED_BY * (last->start_us + last->duration_us.value))
        return lost_beyond(&s->result.trace, &s->result.beside[TRANSITION_NULL], over, kinds, &out->cost);
    else
        snprintf(out->why, sizeof out->why, "the change comes late in the recording; a longer --observe would help");
    return 0;
}

/* Measures the cost of a cell's switch a -> b; its phases go into the details under the cell's id. */
static int measure_way(const struct tables_context *x, const struct cell *c, struct table *rows, struct way *out,
                       struct machine_error *err)
{
    struct switches_seen s;
    memset(out, 0, sizeof *out);
    int status = switches_see(x, "overhead", c, &wishes[x->options->brief], &s, err);
    if (status)
        return status;
    transition_summarize(&s.result.trace, &s.phases, &out->sum);
    out->ratio = frequency_ratio(&s.phases);
    out->cost.value = NAN;
    out->n = s.phases.runs_used;
    out->discarded = s.discarded;
    if (s.unsettled[0])
        snprintf(out->why, sizeof out->why, "%s", s.unsettled);
    else if (cost_of(&s, out))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    if (!out->why[0] && isnan(out->cost.value))
        snprintf(out->why, sizeof out->why, "%s",
                 out->sum.phases[0] ? out->sum.phases : "too few repetitions; more --runs would help");
    judge(out);
    if (!status)
        status = switches_put_phases(rows, c->id, &s, err);
    guarded_free(&s);
    return status;
}

/*
 * p_high T / (p_high - p_low), T = down + up, where the performance p is proportional to the frequency: the assumption
 * (section 5.2.3, equation 5.2; code that is never stalled by memory, s = 0 in equation 4.3). The limits follow from
 * those of the three, which are taken as independent (propagation of errors, first order). NaN where they include 0.
 */
static struct estimate breakeven_of(const struct estimate *down, const struct estimate *up,
                                    const struct estimate *ratio)
{
    double total = down->value + up->value, factor = 1 / (1 - ratio->value);
    double half = factor * hypot(hypot(estimate_half(down), estimate_half(up)), total * factor * estimate_half(ratio));
    struct estimate e = estimate_around(factor * total, half);
    return e.lo > 0 ? e : (struct estimate){NAN, NAN, NAN};
}

static void put_row(struct table *t, const struct cell *c, const struct way *down, const struct way *up,
                    const struct estimate *breakeven)
{
    table_add_row(t);
    tables_put_cell(t, c);
    estimates_put(t, "down_us", down->cost);
    estimates_put(t, "high_ghz", down->sum.from_ghz);
    estimates_put(t, "low_ghz", down->sum.to_ghz);
    table_put_number(t, "n", (double)down->n);
    table_put_number(t, "dropped", (double)(down->discarded + (up ? up->discarded : 0)));
    if (!up)
        return;
    estimates_put(t, "up_us", up->cost);
    table_put_number(t, "up_n", (double)up->n);
    estimates_put(t, "breakeven_us", *breakeven);
    if (isfinite(breakeven->value))
        table_put_text(t, "assumption", assumption);
}

/* Why no lower frequency was found, so that there is nothing to come back from. */
static const char *why_no_step(const struct estimate *ratio)
{
    if (isnan(ratio->value))
        return "the frequency was not measured: no cost up and no break-even time";
    if (ratio->lo > 1 + SAME_LEVEL)
        return "the core runs faster with the second kernel: swap the two";
    if (!(ratio->lo > 1 - SAME_LEVEL && ratio->hi < 1 + SAME_LEVEL))
        return "any change of the frequency is lost in the noise: no cost up, no break-even time; more --runs would "
               "help";
    if (ratio->hi < 1 - NO_STEP)
        return "the frequencies differ by less than 1 %, too little to tell a change from the effect of the code on "
               "the measurement: no cost up, no break-even time";
    return "no change of frequency, so no cost up and no break-even time";
}

static int measure_cell(const struct tables_context *x, const struct cell *c, struct table *rows,
                        struct machine_error *err)
{
    struct way down, up;
    struct estimate breakeven = {NAN, NAN, NAN};
    int status = measure_way(x, c, rows, &down, err);
    bool lower = down.ratio.hi < 1 - SAME_LEVEL;
    struct cell back = *c;
    back.a = c->b;
    back.b = c->a;
    snprintf(back.id, sizeof back.id, "%.*s_up", (int)sizeof back.id - 4, c->id);
    if (!status && lower)
        status = measure_way(x, &back, rows, &up, err);
    if (status)
        return status;
    if (lower)
        breakeven = breakeven_of(&down.cost, &up.cost, &down.ratio);
    put_row(rows, c, &down, lower ? &up : NULL, &breakeven);
    if (down.why[0])
        tables_cell_missing(rows, c, "no cost down and no break-even time: %s", down.why);
    if (!lower)
        tables_cell_missing(rows, c, "%s", why_no_step(&down.ratio));
    else if (up.why[0])
        tables_cell_missing(rows, c, "no cost up and no break-even time: %s", up.why);
    else if (!down.why[0] && isnan(breakeven.value))
        tables_cell_missing(rows, c, "the costs are lost in the noise: no break-even time; more --runs would help");
    return MACHINE_OK;
}

/* ---- for a person ---- */

#define NOTHING_US 0.5 /* less than this is not worth a finding */

static const struct pivot_field fields[] = {
    {"cores", "active_cores", PIVOT_PLAIN, NULL}, {"down, us", "down_us", PIVOT_PLAIN, NULL},
    {"up, us", "up_us", PIVOT_PLAIN, NULL},       {"break-even, us", "breakeven_us", PIVOT_PLAIN, NULL},
    {"high", "high_ghz", PIVOT_ALONE, NULL},      {"low", "low_ghz", PIVOT_ALONE, NULL},
    {"dropped", "dropped", PIVOT_PLAIN, NULL},
};
enum { FIELDS = sizeof fields / sizeof *fields };

/* Returns the figure published for the pair of a row with so many cores (0: with any number); NaN: none. */
static double published_figure(const json_t *figures, const struct table *t, size_t row, double cores,
                               const char *column)
{
    const char *to = table_text(t, row, "to");
    double found = NAN;
    size_t i;
    json_t *figure;
    json_array_foreach(figures, i, figure)
    {
        const char *from, *to_any, *of;
        json_t *with = NULL;
        double value;
        if (json_unpack(figure, "{s:{s:s, s:s, s?o}, s:s, s:F}", "keys", "from", &from, "to", &to_any, "active_cores",
                        &with, "column", &of, "value", &value) == 0 &&
            strcmp(of, column) == 0 && json_number_value(with) == cores && table_says(t, row, "from", from) && to &&
            text_list_has(to_any, to))
            found = value;
    }
    return found;
}

/* Published figures for the pair of a row: below the pair's last row those for any number of cores, and those for as
 * many as the row has. */
static void put_published_rows(struct pivot *p, const struct table *t, size_t row, const json_t *figures)
{
    const double cores[2] = {0, table_number(t, row, "active_cores")};
    bool last = row + 1 == t->n_rows || !table_same_pair(t, row, row + 1);
    for (size_t i = last ? 0 : 1; i < 2; i++) {
        double down = published_figure(figures, t, row, cores[i], "down_us"),
               up = published_figure(figures, t, row, cores[i], "up_us"),
               breakeven = published_figure(figures, t, row, cores[i], "breakeven_us");
        if (isnan(down) && isnan(up) && isnan(breakeven))
            continue;
        pivot_line(p, PIVOT_ASIDE);
        if (cores[i] > 0)
            pivot_number(p, cores[i], 0);
        else
            pivot_word(p, "any");
        pivot_number(p, down, 1);
        pivot_number(p, up, 1);
        pivot_number(p, breakeven, 0);
        for (size_t empty = 4; empty < FIELDS; empty++)
            pivot_word(p, "");
        pivot_word(p, "published");
    }
}

static void print(FILE *out, bool colour, const struct table *t)
{
    const char *published = table_detail(t, "published");
    json_t *figures = published ? json_loads(published, 0, NULL) : NULL;
    struct pivot p;
    bool breakeven = false;
    pivot_init(&p, 1, NULL);
    pivot_headings(&p, fields, FIELDS);
    for (size_t row = 0; row < t->n_rows; row++) {
        if (row == 0 || !table_same_pair(t, row - 1, row)) {
            pivot_line(&p, PIVOT_GROUP);
            pivot_pair(&p, t, row);
        }
        pivot_fields(&p, t, row, fields, FIELDS);
        put_published_rows(&p, t, row, figures);
        breakeven = breakeven || isfinite(table_number(t, row, "breakeven_us"));
    }
    json_decref(figures);
    pivot_print(out, colour, &p);
    if (breakeven)
        pivot_note(out, 2, "Break-even times assume: %s. high, low: measured, in GHz.", assumption);
}

/* ---- findings ---- */

/* A value of a row that may be reported: with limits. */
static bool is_reported(const struct table *t, size_t row, const char *column, struct estimate *out)
{
    *out = estimates_of_table(t, row, column);
    return estimates_known(out);
}

/* The row with the least (sign -1) or most (sign 1) of a column, of those that are above 0 by their limits; n_rows:
 * none is. */
static size_t extreme(const struct table *t, const char *column, double sign)
{
    size_t best = t->n_rows;
    struct estimate e;
    for (size_t row = 0; row < t->n_rows; row++)
        if (is_reported(t, row, column, &e) && e.lo > 0 &&
            (best == t->n_rows || sign * e.value > sign * table_number(t, best, column)))
            best = row;
    return best;
}

/* "156 [155, 157] us (128fma -> 512fma, 16 active cores)" */
static void tell_least_stay(FILE *out, const struct table *t, size_t row)
{
    char us[ESTIMATE_TEXT_MAX], cores[ESTIMATE_TEXT_MAX];
    fprintf(out, "%s us (%s -> %s, %s)", estimates_field_text(t, row, "breakeven_us", 0, us),
            table_text(t, row, "from"), table_text(t, row, "to"), estimates_cores_of(t, row, cores));
}

static void tell_breakeven(FILE *out, const struct table *t)
{
    size_t longest = extreme(t, "breakeven_us", 1), shortest = extreme(t, "breakeven_us", -1);
    if (longest == t->n_rows)
        return;
    fputs("Speeding up pays off only if wide code stays away for at least ", out);
    tell_least_stay(out, t, shortest);
    if (longest != shortest) {
        fputs(" to ", out);
        tell_least_stay(out, t, longest);
    }
    fputs(".\n", out);
}

static bool missing_says(const struct table *t, const char *what)
{
    for (size_t i = 0; i < t->n_missing; i++)
        if (strstr(t->missing[i].why, what))
            return true;
    return false;
}

/* Says what is known of coming back up, where no cost of it was distinguished from noise. */
static const char *about_up(const struct table *t)
{
    bool changed = false, measured = false;
    for (size_t row = 0; row < t->n_rows; row++) {
        changed = changed || isfinite(table_number(t, row, "up_n")); /* only where the frequency was seen to change */
        measured = measured || isfinite(table_number(t, row, "up_us"));
    }
    if (measured)
        return "the cost of coming back up is lost in the noise";
    if (changed)
        return "the cost of coming back up was not measured";
    if (missing_says(t, "any change of the frequency") || missing_says(t, "the frequencies differ") ||
        missing_says(t, "faster with the second"))
        return "no drop in frequency is large enough to be sure of";
    return "no change of frequency was seen";
}

/* Says how large the cost of going down could be at most, where none can be distinguished from noise, or all are next
 * to nothing. */
static void tell_no_cost(FILE *out, const struct table *t, bool up_reported)
{
    bool any = false;
    double most = -INFINITY;
    struct estimate e;
    for (size_t row = 0; row < t->n_rows; row++) {
        any = any || isfinite(table_number(t, row, "down_us"));
        if (is_reported(t, row, "down_us", &e))
            most = fmax(most, e.hi);
    }
    char text[ESTIMATE_TEXT_MAX];
    estimates_text(&(struct estimate){most, NAN, NAN}, 1, text);
    if (!any)
        fputs("No cost of going down was measured", out);
    else if (isinf(most))
        fputs("The cost of going down has no limits (more --runs would help)", out);
    else if (up_reported)
        fprintf(out, "The cost of going down is lost in the noise (at most %s us)", text);
    else
        fprintf(out, "No switch between the kernels costs more than %s us (upper 95 %% limit)", text);
}

static void tell_down(FILE *out, const struct table *t, size_t least, size_t most)
{
    char text[ESTIMATE_TEXT_MAX];
    fprintf(out, "Going down costs %s us (%s -> %s)", estimates_field_text(t, least, "down_us", 1, text),
            table_text(t, least, "from"), table_text(t, least, "to"));
    if (least != most)
        fprintf(out, " to %s us (%s -> %s)", estimates_field_text(t, most, "down_us", 1, text),
                table_text(t, most, "from"), table_text(t, most, "to"));
}

static void tell_up(FILE *out, const struct table *t, size_t least, size_t most)
{
    char text[ESTIMATE_TEXT_MAX];
    if (most == t->n_rows) {
        fprintf(out, "; %s.\n", about_up(t));
        return;
    }
    fprintf(out, "; coming back up %s us", estimates_field_text(t, least, "up_us", 1, text));
    if (least != most)
        fprintf(out, " to %s us", estimates_field_text(t, most, "up_us", 1, text));
    fputs(".\n", out);
}

static void findings(FILE *out, const struct table *t)
{
    size_t most = extreme(t, "down_us", 1), least = extreme(t, "down_us", -1);
    size_t up_most = extreme(t, "up_us", 1), up_least = extreme(t, "up_us", -1);
    if (t->n_rows == 0)
        return;
    bool costs = most < t->n_rows && table_number(t, most, "down_us") >= NOTHING_US;
    tell_breakeven(out, t);
    if (costs)
        tell_down(out, t, least, most);
    else
        tell_no_cost(out, t, up_most < t->n_rows);
    tell_up(out, t, up_least, up_most);
}

/* ---- plot ---- */

static const char *pair_name(const struct table *t, size_t row, char out[CHART_NAME_MAX])
{
    return chart_pair(t, row, false, out, CHART_NAME_MAX);
}

/* Costs and break-even times: over the active cores where there are several, else bars. */
static void plot(const struct table *t, struct chart *c)
{
    static const struct {
        const char *value, *title;
        bool log;
    } panels[] = {
        {"down_us", "Cost of going down to the lower frequency", false},
        {"up_us", "Cost of coming back up", false},
        {"breakeven_us", "Break-even: time at which staying at the lower frequency costs as much as both changes",
         true},
    };
    const bool cores = chart_varies(t, "active_cores");
    for (size_t i = 0; i < sizeof panels / sizeof *panels; i++) {
        struct picture p = {.value = panels[i].value,
                            .name.text = pair_name,
                            .across.column = "active_cores",
                            .look.dot = panels[i].log,
                            .omitted = "transitions"};
        p.panel = (struct chart_panel){.kind = cores ? CHART_LINES : CHART_BARS,
                                       .log_x = cores || panels[i].log,
                                       .log_y = cores && panels[i].log,
                                       .whole_x = cores,
                                       .apart = cores,
                                       .from_zero = cores && !panels[i].log};
        snprintf(p.panel.title, sizeof p.panel.title, "%s", panels[i].title);
        snprintf(p.panel.x_label, sizeof p.panel.x_label, cores ? "active cores" : "\xC2\xB5s");
        snprintf(p.panel.y_label, sizeof p.panel.y_label, cores ? "\xC2\xB5s" : "");
        chart_table_draw(&p, t, c);
    }
}

const struct table_kind table_overhead = {
    .name = "overhead",
    .title = "Overhead of frequency changes, and break-even times",
    .about = "what a frequency change costs, down and up, and the break-even time",
    .method = "Down and up are switches as in table transitions: the cost is the time lost against the rate in the end "
              "of the same repetition, without the wait for the higher frequency. Break-even: T = p_high (T_down + "
              "T_up) / (p_high - p_low), with performance p assumed proportional to frequency (G 5.2.3).",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"from", "to", "active_cores", "down_us", "up_us", "breakeven_us"},
    .drafted = {.keys = {"from", "to", "active_cores"}, .values = {"down_us", "up_us", "breakeven_us"}},
    .exported = EXPORT_COSTS,
    .plan = plan,
    .measure = measure_cell,
    .print = print,
    .findings = findings,
    .plot = plot,
};
