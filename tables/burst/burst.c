/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table burst: what short bursts of wide code cost the code around them, and from which length on they pay. */
#include "tables/burst/burst.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "kernels/shots.h"
#include "probes/bursts.h"
#include "tables/registry.h"
#include "tables/table/tables.h"
#include "util/text_list.h"

enum { COUNT, EVERY_NS }; /* cell.number */
/* Rounds of all variants: a row needs 3, so one of 4 may be disturbed; 2000 end a cell whose rounds take no time. */
enum { ROUNDS_LEAST = 4, ROUNDS_MOST = 2000 };
/* A cell is done when half of the width of the limits of its loss is below this: a loss of 0.1 % is worth no more. */
#define ENOUGH 0.001
/* The time for a cell, s, chosen so that the table takes about a minute; bursts LONG_US or more apart need more of
 * it. */
#define SECONDS 1.0
#define SECONDS_BRIEF 0.5
#define SECONDS_LONG 2.0
/* Before the first burst of a repetition: longer than the 2 ms that the Intel manual gives for a license to lapse. So
 * long at least, and again as long as bursts are far apart. */
#define BEFORE_US 3000.0
/* Bursts of so long, us, are run before those that are measured: the same 2 ms. */
#define SETTLE_US 2000.0
/* Bursts are measured for so long, us, where they are less than LONG_US apart; else for two times between bursts, and
 * from LONGEST_US on for one: otherwise a repetition would be so long that something else runs in most. */
#define SEEN_US 3000.0
#define LONG_US 5000.0
#define LONGEST_US 50000.0
/* A burst and its narrowest equivalent may take this part of the time, so that other code is left to be measured. */
#define PART_MOST 0.5
#define INSTRUCTIONS_PER_US 5000.0 /* for that: 2 instructions a cycle at 2.5 GHz */

static const double all_counts[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6}, few_counts[] = {1, 1e3};
static const double all_times[] = {10, 100, 1e3, 1e4, 1e5}, few_times[] = {100, 1e3};
static const char *const usual[] = {"512fma", "512or"}, *const without_512[] = {"256fma"};

static const struct table_column columns[] = {
    {"kernel", "", TABLE_TEXT, true, 0},        {"count", "", TABLE_WHOLE, true, 0},
    {"every_us", "us", TABLE_REAL, true, 0},    TABLE_LIMITS("loss", "", 4),
    TABLE_LIMITS("cold_us", "us", 3),           TABLE_LIMITS("warm_us", "us", 3),
    TABLE_LIMITS("saves_us", "us", 3),          TABLE_LIMITS("saves128_us", "us", 3),
    TABLE_LIMITS("breakeven", "", 0),           TABLE_LIMITS("breakeven128", "", 0),
    {"n", "", TABLE_WHOLE, false, 0},           {"discarded", "", TABLE_WHOLE, false, 0},
    {"interrupted", "", TABLE_WHOLE, false, 0}, TABLE_LIMITS("null", "", 4), /* the loss of empty bursts */
};

/* ---- narrower code, texts, rows that belong together ---- */

const struct burst_against burst_against[BURST_NARROWER] = {
    [BURST_HALF] = {"saves_us", "breakeven"},
    [BURST_128] = {"saves128_us", "breakeven128"},
};

/* The bits of that code for a kernel of so many bits; 0: there is none. */
static unsigned narrower_bits(unsigned bits, enum burst_narrower n)
{
    if (n == BURST_HALF)
        return bits > 128 && bits <= 512 ? bits / 2 : 0;
    return bits == 512 ? 128 : 0;
}

/* Its name, "256fma" for 512fma; "" where there is none. Returns `out`. */
static const char *narrower_name(const char *kernel, enum burst_narrower n, char out[32])
{
    unsigned bits = 0;
    char operation[24] = "";
    out[0] = '\0';
    if (sscanf(kernel, "%3u%20s", &bits, operation) == 2 && narrower_bits(bits, n) > 0)
        snprintf(out, 32, "%u%s", narrower_bits(bits, n), operation);
    return out;
}

const char *burst_time_text(double us, char out[ESTIMATE_TEXT_MAX])
{
    bool ms = us >= 1000;
    snprintf(out, ESTIMATE_TEXT_MAX, "%.6g %s", ms ? us / 1000 : us, ms ? "ms" : "us");
    return out;
}

/* A number of instructions: "1", "1e4". Returns `out`. */
static const char *count_text(double count, char out[ESTIMATE_TEXT_MAX])
{
    double power = floor(log10(fmax(count, 1)) + 1e-9);
    if (count >= 1e4 && count == round(pow(10, power)))
        snprintf(out, ESTIMATE_TEXT_MAX, "1e%.0f", power);
    else
        snprintf(out, ESTIMATE_TEXT_MAX, "%.0f", count);
    return out;
}

/* "31 [10, 100]", or "at most 100" where no fewer surely cost more. Returns `out`. */
static const char *breakeven_text(const struct estimate *e, char out[ESTIMATE_TEXT_MAX])
{
    if (e->value == e->hi && e->lo < e->hi)
        snprintf(out, ESTIMATE_TEXT_MAX, "at most %.0f", e->hi);
    else
        estimates_text(e, 0, out);
    return out;
}

/* The next row of the same kernel and the same time between bursts from `row` on; t->n_rows: none. */
static size_t next_row(const struct table *t, const char *kernel, double every_us, size_t row)
{
    while (row < t->n_rows && !(table_says(t, row, "kernel", kernel) && table_number(t, row, "every_us") == every_us))
        row++;
    return row;
}

/* True if no row before it is of the same kernel and time. */
static bool is_first(const struct table *t, size_t row)
{
    const char *kernel = table_text(t, row, "kernel");
    return kernel && next_row(t, kernel, table_number(t, row, "every_us"), 0) == row;
}

/* ---- which ---- */

/* The variants of a cell: nothing, the kernel, the same work in narrower code as far as there is some. */
static unsigned put_variants(const struct tables_context *x, const struct payload *kernel, uint64_t count,
                             struct bursts_setup *s)
{
    char name[32];
    s->wide[0] = s->wide[1] = *kernel;
    s->count[0] = 0;
    s->count[1] = count;
    unsigned n = 2;
    for (enum burst_narrower i = 0; i < BURST_NARROWER; i++)
        if (tables_can_run(x, narrower_name(kernel->name, i, name), &s->wide[n]) && kernel_shot(&s->wide[n])) {
            s->count[n] = count * (kernel->kernel->width / s->wide[n].kernel->width);
            n++;
        }
    return n;
}

/* Each variant but the empty one, and that around each. */
static double round_seconds(const struct bursts_setup *s)
{
    return 1e-6 * (2 * s->variants - 1) * (s->before_us + (s->skipped + s->bursts) * s->every_us);
}

static struct bursts_setup setup_of(const struct tables_context *x, const struct cell *c)
{
    const struct tables_options *o = x->options;
    const double every = 1e-3 * c->number[EVERY_NS];
    struct bursts_setup s = {.machine = tables_setup(x, table_burst.name, c),
                             .plain = kernel_named("64add"),
                             .every_us = every,
                             .before_us = fmin(fmax(o->warmup_us > 0 ? o->warmup_us : BEFORE_US, every), 1e6)};
    double seen = o->observe_us > 0     ? o->observe_us
                  : every >= LONGEST_US ? every
                  : every >= LONG_US    ? 2 * every
                                        : SEEN_US;
    s.rounds = o->runs;
    s.enough = o->runs ? 0 : ENOUGH;
    s.variants = put_variants(x, &c->a, c->number[COUNT], &s);
    /* where the pause before the first burst is that of all others, the first one counts like them */
    s.skipped = s.before_us == every ? 0 : (unsigned)ceil(SETTLE_US / every);
    s.bursts = (unsigned)fmin(fmax(floor(seen / every), 1), BURSTS_MOST - s.skipped);
    if (!o->runs) {
        s.seconds = o->seconds > 0 ? o->seconds : o->brief ? SECONDS_BRIEF : every >= LONG_US ? SECONDS_LONG : SECONDS;
        s.rounds = (unsigned)fmin(fmax(s.seconds / round_seconds(&s), ROUNDS_LEAST), ROUNDS_MOST);
    }
    return s;
}

static int add(const struct tables_context *x, const struct payload *kernel, double count, double every_us,
               struct cells *out, struct machine_error *err)
{
    char number[ESTIMATE_TEXT_MAX];
    struct cell *c = tables_add_cell(out, kernel, NULL, x->options->n_active ? x->options->active[0] : 1,
                                     "%s_%s_every_%gus", kernel->name, count_text(count, number), every_us);
    if (!c)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    c->number[COUNT] = (unsigned)count;
    c->number[EVERY_NS] = (unsigned)lround(1e3 * every_us);
    c->cpu = x->options->cpu;
    struct bursts_setup s = setup_of(x, c);
    c->seconds = 0.2 + s.rounds * round_seconds(&s);
    return MACHINE_OK;
}

static bool fits(const struct payload *kernel, double count, double every_us)
{
    double narrow = kernel->kernel->width / 128.0;
    return count * narrow / INSTRUCTIONS_PER_US <= PART_MOST * every_us;
}

static int plan_kernel(const struct tables_context *x, const struct payload *kernel, struct cells *out,
                       struct machine_error *err)
{
    const struct tables_options *o = x->options;
    const double *counts = o->brief ? few_counts : all_counts, *times = o->brief ? few_times : all_times;
    size_t n_counts = o->brief ? sizeof few_counts / sizeof *few_counts : sizeof all_counts / sizeof *all_counts;
    size_t n_times = o->brief ? sizeof few_times / sizeof *few_times : sizeof all_times / sizeof *all_times;
    if (o->burst_count > 0) {
        counts = &o->burst_count;
        times = &o->burst_every_us;
        n_counts = n_times = 1;
        if (!fits(kernel, *counts, *times))
            return machine_fail(err, MACHINE_BAD_INPUT, "choose fewer instructions, or a longer time",
                                "%.0f instructions of %s, and as much work in narrower code, may take more than half "
                                "of %g us",
                                *counts, kernel->name, *times);
    }
    int status = MACHINE_OK;
    for (size_t i = 0; i < n_times; i++)
        for (size_t k = 0; k < n_counts && status == MACHINE_OK; k++)
            if (fits(kernel, counts[k], times[i]))
                status = add(x, kernel, counts[k], times[i], out, err);
    return status;
}

static int plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    struct payload kernels[TABLES_KERNELS_MAX];
    size_t n = tables_kernels(x, usual, sizeof usual / sizeof *usual, kernels, t);
    if (n == 0 && x->options->n_kernels == 0)
        n = tables_kernels(x, without_512, 1, kernels, t);
    n = tables_each_once(kernels, n);
    for (size_t i = 0; i < n; i++) {
        if (!kernel_shot(&kernels[i]) || kernels[i].kernel->width < 256) {
            table_add_missing(t, "bursts need a 256-bit or 512-bit kernel whose instructions can be run in exact "
                                 "numbers: fma, or, add, mul, mulpd, addpd, orpd");
            table_put_text(t, "kernel", kernels[i].name);
            continue;
        }
        int status = plan_kernel(x, &kernels[i], out, err);
        if (status != MACHINE_OK)
            return status;
    }
    table_set_setting(t, "plain", "64add");
    if (x->options->n_active && x->options->active[0] == 0)
        table_set_setting(t, "active_cores", "all");
    else
        table_set_setting_number(t, "active_cores", x->options->n_active ? x->options->active[0] : 1);
    return MACHINE_OK;
}

/* ---- measuring ---- */

static struct estimate mean_of(const double *x, unsigned n)
{
    return robust_mean(x, n, BURSTS_REJECT, 0, NULL);
}

/* The savings, round by round: both costs are of the same seconds. Overwrites those of the narrower code. */
static struct estimate saves_of(const double *wide, double *narrow, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        narrow[i] -= wide[i];
    return mean_of(narrow, n);
}

static void put(const struct cell *c, const struct bursts_setup *s, const struct bursts_result *r, struct table *rows)
{
    table_add_row(rows);
    tables_put_cell(rows, c);
    table_put_number(rows, "count", c->number[COUNT]);
    table_put_number(rows, "every_us", s->every_us);
    estimates_put(rows, "loss", mean_of(r->loss[1], r->n));
    estimates_put(rows, "null", mean_of(r->loss[0], r->n));
    estimates_put(rows, "cold_us", mean_of(r->cold_us[1], r->n));
    estimates_put(rows, "warm_us", mean_of(r->warm_us[1], r->n));
    for (unsigned v = 2; v < s->variants; v++) {
        bool half = 2 * s->wide[v].kernel->width == c->a.kernel->width;
        estimates_put(rows, burst_against[half ? BURST_HALF : BURST_128].saves,
                      saves_of(r->cost_us[1], r->cost_us[v], r->n));
    }
    table_put_number(rows, "n", r->n);
    table_put_number(rows, "discarded", r->discarded);
    table_put_number(rows, "interrupted", (double)r->interrupted);
}

static int measure(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err)
{
    enum { LEAST = 3 }; /* rounds that a row needs */
    struct tables_context own = *x;
    struct bursts_setup s = setup_of(x, c);
    struct bursts_result r;
    s.progress = tables_on_progress;
    s.data = &own;
    int status = bursts_run(x->machine, &s, &r, err);
    if (status != MACHINE_OK)
        return status;
    if (r.n >= LEAST) {
        put(c, &s, &r, rows);
    } else {
        double seconds = 1e-6 * (s.before_us + (s.skipped + s.bursts) * s.every_us);
        tables_cell_missing(rows, c, "nearly all repetitions, of %.2g s each, were disturbed; %s", seconds,
                            x->info.modelled ? "the model's interrupts take the thread off too often (taken_off) for "
                                               "such a time: choose a shorter one"
                                             : "stop other programs, choose a shorter time, or use more --runs");
        table_put_number(rows, "count", c->number[COUNT]);
        table_put_number(rows, "every_us", s.every_us);
    }
    bursts_result_free(&r);
    return tables_stop(x, 1) ? machine_fail(err, MACHINE_FAILED, "", "interrupted") : MACHINE_OK;
}

/* ---- where it breaks even ---- */

/* Returns where the line between two rows, over the logarithm of the number of instructions, is 0. */
static double crossing(double n0, double y0, double n1, double y1)
{
    return n0 * pow(n1 / n0, y0 / (y0 - y1));
}

/* A value is surely not 0 that is so many half widths of its limits away from it: by one, some row of a table soon
 * is. */
#define SURE 2.0

/*
 * The rows of one kernel and one time, in ascending order of instructions. hi: from it on all rows surely save; lo: the
 * last row before it that surely costs more, or the first of all. value: where the line from row to row crosses 0
 * between them; hi where no row surely costs more, since less may do as well then. NaN: the rows do not decide it.
 */
static struct estimate breakeven_of(const struct table *t, size_t first, const char *column)
{
    const char *kernel = table_text(t, first, "kernel");
    const double every = table_number(t, first, "every_us");
    struct estimate e = {NAN, NAN, NAN};
    double before = NAN, before_n = NAN;
    unsigned rows = 0;
    bool costs = false;
    for (size_t row = first; row < t->n_rows; row = next_row(t, kernel, every, row + 1), rows++) {
        const struct estimate saves = estimates_of_table(t, row, column);
        const double n = table_number(t, row, "count");
        const double sure = SURE * estimate_half(&saves);
        if (rows == 0 || saves.value < -sure)
            e.lo = n;
        costs = costs || saves.value < -sure;
        if (!(saves.value > sure))
            e.hi = NAN;
        else if (isnan(e.hi))
            e.hi = n;
        if (before <= 0 && saves.value > 0)
            e.value = crossing(before_n, before, n, saves.value);
        else if (!(saves.value > 0))
            e.value = NAN;
        before = saves.value;
        before_n = n;
    }
    if (rows < 2 || isnan(e.hi))
        return (struct estimate){NAN, NAN, NAN};
    e.value = !costs ? e.hi : isnan(e.value) ? e.lo : fmin(fmax(e.value, e.lo), e.hi);
    return e;
}

static int conclude(struct table *t)
{
    for (size_t first = 0; first < t->n_rows; first++)
        for (enum burst_narrower n = 0; n < BURST_NARROWER && is_first(t, first); n++) {
            const struct estimate e = breakeven_of(t, first, burst_against[n].saves);
            const char *kernel = table_text(t, first, "kernel");
            const double every = table_number(t, first, "every_us");
            for (size_t row = first; row < t->n_rows; row = next_row(t, kernel, every, row + 1))
                estimates_set(t, row, burst_against[n].breakeven, e);
        }
    return t->failed ? -1 : 0;
}

/* ---- findings ---- */

/* The row that is nearest to 1000 instructions of the first kernel every millisecond. */
static size_t typical_row(const struct table *t)
{
    size_t best = t->n_rows;
    double nearest = INFINITY;
    for (size_t row = 0; row < t->n_rows; row++) {
        double far = fabs(log10(table_number(t, row, "every_us") / 1e3)) * 10 +
                     fabs(log10(table_number(t, row, "count") / 1e3));
        if (table_text(t, row, "kernel") && table_same(t, row, 0, "kernel") && far < nearest) {
            nearest = far;
            best = row;
        }
    }
    return best;
}

/* "costs the other code 6.34 [6.26, 6.41] % of its work" */
static void loss_text(const struct table *t, size_t row, char *out, size_t size)
{
    char text[ESTIMATE_TEXT_MAX];
    struct estimate loss = estimates_of_table(t, row, "loss");
    const struct estimate percent = estimate_percent(&loss);
    if (estimates_known(&loss) && loss.lo <= 0)
        snprintf(out, size, "costs other code no more than %.2g %% of its work (95 %%)", fmax(percent.hi, 0.01));
    else
        snprintf(out, size, "costs other code %s %% of its work", estimates_text(&percent, 2, text));
}

static void tell_typical(FILE *out, const struct table *t, size_t row)
{
    char cost[200], count[ESTIMATE_TEXT_MAX], every[ESTIMATE_TEXT_MAX], cold[ESTIMATE_TEXT_MAX],
        warm[ESTIMATE_TEXT_MAX], saved[ESTIMATE_TEXT_MAX], narrower[32];
    const char *kernel = table_text(t, row, "kernel");
    struct estimate saves = estimates_of_table(t, row, "saves_us");
    loss_text(t, row, cost, sizeof cost);
    fprintf(out, "A burst of %s %s every %s %s; it takes %s us, %s us when warm",
            count_text(table_number(t, row, "count"), count), kernel,
            burst_time_text(table_number(t, row, "every_us"), every), cost,
            estimates_field_text(t, row, "cold_us", 3, cold), estimates_field_text(t, row, "warm_us", 3, warm));
    narrower_name(kernel, BURST_HALF, narrower);
    if (!estimates_known(&saves) || !narrower[0]) {
        fprintf(out, ".\n");
        return;
    }
    const struct estimate more = {-saves.value, -saves.hi, -saves.lo};
    if (saves.lo > 0)
        fprintf(out, ", in total %s us less than as %s.\n", estimates_text(&saves, 3, saved), narrower);
    else if (saves.hi < 0)
        fprintf(out, ", in total %s us more than as %s.\n", estimates_text(&more, 3, saved), narrower);
    else
        fprintf(out, "; whether that is less in total than as %s is undecided.\n", narrower);
}

static void tell_most(FILE *out, const struct table *t, size_t typical)
{
    char cost[200], count[ESTIMATE_TEXT_MAX], every[ESTIMATE_TEXT_MAX];
    size_t most = t->n_rows;
    for (size_t row = 0; row < t->n_rows; row++) {
        struct estimate loss = estimates_of_table(t, row, "loss");
        const double null = table_number(t, row, "null_hi"); /* NaN: of an older version */
        bool sure = loss.value > SURE * estimate_half(&loss) && !(loss.value <= null);
        if (sure && table_text(t, row, "kernel") && (most == t->n_rows || loss.value > table_number(t, most, "loss")))
            most = row;
    }
    if (most == t->n_rows || most == typical)
        return;
    loss_text(t, most, cost, sizeof cost);
    fprintf(out, "The costliest: %s %s every %s %s.\n", count_text(table_number(t, most, "count"), count),
            table_text(t, most, "kernel"), burst_time_text(table_number(t, most, "every_us"), every), cost);
}

static void tell_breakeven(FILE *out, const struct table *t)
{
    char text[400] = "", value[ESTIMATE_TEXT_MAX], every[ESTIMATE_TEXT_MAX], narrower[32] = "";
    size_t typical = typical_row(t);
    for (size_t row = 0; row < t->n_rows; row++) {
        struct estimate e = estimates_of_table(t, row, "breakeven");
        if (!is_first(t, row) || !table_same(t, row, typical, "kernel") || !estimates_known(&e))
            continue;
        text_list_add(text, sizeof text, "; ", "%s, every %s", breakeven_text(&e, value),
                      burst_time_text(table_number(t, row, "every_us"), every));
    }
    if (text[0])
        fprintf(out, "It costs less than the same work as %s from this many instructions: %s.\n",
                narrower_name(table_text(t, typical, "kernel"), BURST_HALF, narrower), text);
}

static void findings(FILE *out, const struct table *t)
{
    size_t typical = typical_row(t);
    if (typical == t->n_rows)
        return;
    tell_typical(out, t, typical);
    tell_most(out, t, typical);
    tell_breakeven(out, t);
}

/* ---- views and pictures ---- */

static void put_breakeven(struct pivot *p, const struct table *t, size_t row, enum burst_narrower n)
{
    char text[ESTIMATE_TEXT_MAX];
    const struct estimate e = estimates_of_table(t, row, burst_against[n].breakeven);
    pivot_mark(p, estimates_known(&e) ? breakeven_text(&e, text) : "-");
}

static void put_breakeven_half(struct pivot *p, const struct table *t, size_t row)
{
    put_breakeven(p, t, row, BURST_HALF);
}

static void put_breakeven_128(struct pivot *p, const struct table *t, size_t row)
{
    put_breakeven(p, t, row, BURST_128);
}

static bool breaks_even(const struct table *t, size_t row)
{
    return table_holds(t, row, "breakeven") || table_holds(t, row, "breakeven128");
}

static const struct pivot_field every[] = {{"a burst every, us", "every_us", PIVOT_PLAIN, NULL}},
                                warm[] = {{"instructions", "count", PIVOT_PLAIN, NULL},
                                          {"us", "warm_us", PIVOT_HALF, NULL}},
                                breakeven[] = {{"a burst every, us", "every_us", PIVOT_PLAIN, NULL},
                                               {"of half the width", NULL, PIVOT_PLAIN, put_breakeven_half},
                                               {"of 128 bits", NULL, PIVOT_PLAIN, put_breakeven_128}};
static const struct pivot_list views[] = {
    {.title = "loss of other code, % of its work, by the number of instructions of a burst",
     .each = "kernel",
     .n_names = 1,
     PIVOT_FIELDS(every),
     .across.column = "count",
     .cell = {.column = "loss", .show = PIVOT_HALF_PERCENT}},
    {.title = "duration of a burst, us, by the number of its instructions",
     .each = "kernel",
     .n_names = 1,
     PIVOT_FIELDS(every),
     .across.column = "count",
     .cell = {.column = "cold_us", .show = PIVOT_HALF}},
    {.title = "duration of a burst right after another",
     .column = "warm_us",
     .each = "kernel",
     .once = "count",
     .n_names = 1,
     PIVOT_FIELDS(warm)},
    {.title = "number of instructions from which a burst is cheaper than the same work in code",
     .shows = breaks_even,
     .each = "kernel",
     .once = "every_us",
     .n_names = 1,
     PIVOT_FIELDS(breakeven)},
};

/* A loss that is not above 0 beyond its limits has no colour of a loss. */
static void fill_loss(const struct table *t, size_t row, struct chart_cell *cell)
{
    const struct estimate loss = estimates_of_table(t, row, "loss");
    if (!estimates_known(&loss))
        return;
    cell->state = loss.lo > 0 ? CELL_VALUE : CELL_PLAIN;
    cell->value = 100 * loss.value;
    if (loss.lo > 0)
        snprintf(cell->text, sizeof cell->text, "%.2g", 100 * loss.value);
    else
        snprintf(cell->text, sizeof cell->text, "< %.2g", fmax(100 * loss.hi, 0.01));
}

static const struct picture pictures[] = {
    {.panel = {.kind = CHART_CELLS,
               .title = "by the number of instructions of a burst",
               .y_label = "a burst every, \xC2\xB5s",
               .note = "<: not distinguishable from no loss; it is below this 95 % limit.",
               .scale_label = "loss of other code, %; hatched: not measured",
               .scale_hi = 1},
     .each = "kernel",
     .value = "loss",
     .times = 100,
     .name.column = "every_us",
     .across.column = "count",
     .cell = fill_loss},
};

const struct table_kind table_burst = {
    .name = "burst",
    .title = "What bursts of wide code cost",
    .about = "short bursts of wide code: what other code loses, how long they take, from which length they pay off",
    .method = "Bursts of an exact number of wide instructions run repeatedly within scalar work (64add), in turn with "
              "empty bursts and the same work in narrower code. The rate of scalar work outside the bursts, between "
              "two time stamps, is compared with that of empty bursts right before and after.",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"kernel", "count", "every_us", "loss", "cold_us", "warm_us", "breakeven"},
    .excluded = {[CHOICE_PERIOD] = "nothing is sampled; --observe is the time observed"},
    .uncompared = {"cold_us"},
    .takes_burst = true,
    .plan = plan,
    .measure = measure,
    .conclude = conclude,
    TABLE_KIND_VIEWS(views),
    .findings = findings,
    TABLE_KIND_PICTURES(pictures),
};
