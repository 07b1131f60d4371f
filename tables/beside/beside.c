/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a command costs beside background code, or at fixed frequencies, as rows and sentences. */
#include "tables/beside/beside.h"

#include <math.h>
#include <string.h>

#include "probes/corun_kernel.h"
#include "probes/corun_rounds.h"
#include "tables/table/estimates.h"

/* Half of the width of limits that suffices, as a fraction: the smallest effect on whole applications that was
 * published is 1.7 % (G 7.2). */
static const double ENOUGH = 0.005;
static const double PATIENCE = 10;      /* times the seconds that it may take, until it is refused; assumed */
static const double WIDE_LIMITS = 0.03; /* half of the width beyond which a hint is given: the mean effect on whole
                                           applications is 5 to 16 % (G 7.2) */
/* On models: a time slice of the scheduler, us (assumed: Linux takes 0.75 to 6 ms, by version and number of CPUs). */
static const double MODEL_SLICE_US = 3000;
enum {
    MODEL_SLICES = 5,     /* that the work takes on a model; assumed */
    ROUNDS_LEAST = 10,    /* without --runs: one odd run on either side lies outside of the limits (robust_median()) */
    ROUNDS_MOST = 100000, /* as --runs has it */
};

static const struct table_column columns[] = {
    {"background", "", TABLE_TEXT, true, 0}, {"place", "", TABLE_TEXT, true, 0}, TABLE_LIMITS("cpu_s", "s", 4),
    TABLE_LIMITS("cpu_cost", "", 4),         TABLE_LIMITS("time_s", "s", 4),     TABLE_LIMITS("time_cost", "", 4),
    TABLE_LIMITS("freq_ghz", "GHz", 3),      {"n", "", TABLE_WHOLE, false, 0},   TABLE_LIMITS("stall", "", 4)};

/* The words of rows that no kernel names. */
#define NOTHING "nothing"
#define AGAIN " again"
/* With clocks: the row of no fixed frequency, and the place. */
#define AS_SET "as set"
#define ALONE "alone"

struct payload beside_narrow(const struct payload *wide, unsigned features)
{
    struct payload out;
    char name[KERNEL_NAME_MAX];
    if (wide->kernel->width <= 128)
        return *wide;
    const size_t digits = strspn(wide->name, "0123456789");
    snprintf(name, sizeof name, "128%s", wide->name + digits);
    const bool found = digits > 0 && kernel_parse(name, &out, NULL, 0) == 0;
    return found && (out.kernel->features & ~features) == 0 ? out : kernel_named("64add");
}

/* ---- measuring ---- */

static int plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    const struct beside_request *r = x->options->beside;
    for (size_t i = 0; i < r->n_codes; i++)
        if (tables_lacking(x, &r->codes[i], "background", r->codes[i].name, t))
            table_put_text(t, "place", machine_corun_place_names[r->place]);
    table_set_setting(t, "command", r->command);
    table_set_setting_number(t, r->rounds > 0 ? "rounds" : "seconds", r->rounds > 0 ? r->rounds : r->seconds);
    if (r->every_us > 0) {
        table_set_setting_number(t, "on_us", r->on_us);
        table_set_setting_number(t, "every_us", r->every_us);
    }
    if (r->n_clocks == 0 && t->n_missing == r->n_codes)
        return MACHINE_OK;
    struct cell *c = tables_add_cell(out, NULL, NULL, 1, "beside");
    if (!c)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    c->seconds = r->seconds;
    return MACHINE_OK;
}

static void put_row(struct table *rows, const struct beside_request *r, const char *name,
                    const struct corun_result *seen, const struct corun_cost *c)
{
    table_add_row(rows);
    table_put_text(rows, "background", name);
    table_put_text(rows, "place", r->n_clocks > 0 ? ALONE : machine_corun_place_names[r->place]);
    estimates_put(rows, "cpu_s", c->cpu_s);
    estimates_put(rows, "cpu_cost", c->cpu_cost);
    estimates_put(rows, "time_s", c->time_s);
    estimates_put(rows, "time_cost", c->time_cost);
    estimates_put(rows, "freq_ghz", c->ghz);
    estimates_put(rows, "stall", c->stall);
    table_put_number(rows, "n", seen->rounds);
}

static int on_progress(void *data, double part)
{
    return tables_stop(data, part);
}

/* The narrow code, then those that this processor can run. */
static size_t codes_that_run(const struct beside_request *r, unsigned features, struct payload *out)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_codes; i++) {
        if (r->codes[i].kernel->features & ~features)
            continue;
        if (n == 0)
            out[n++] = beside_narrow(&r->codes[i], features);
        if (strcmp(r->codes[i].name, out[0].name))
            out[n++] = r->codes[i];
    }
    return n;
}

static int measure(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err)
{
    const struct beside_request *r = x->options->beside;
    struct tables_context own = *x;
    struct corun_kernel model = {.m = x->machine,
                                 .work = r->kernel,
                                 .place = r->place,
                                 .cpu = x->options->cpu,
                                 .slice_us = MODEL_SLICE_US,
                                 .slices = MODEL_SLICES};
    const struct corun modelled = {corun_kernel_run, &model, true};
    struct payload codes[BESIDE_CODES_MAX + 1];
    const size_t n_codes = r->n_clocks > 0 ? r->n_clocks : codes_that_run(r, x->info.features, codes);
    struct corun_setup s = {.work = r->work ? r->work : &modelled,
                            .codes = r->n_clocks > 0 ? NULL : codes,
                            .clocks = r->clocks,
                            .n_codes = n_codes,
                            .on_us = r->on_us,
                            .every_us = r->every_us,
                            .least = r->rounds > 0 ? r->rounds : ROUNDS_LEAST,
                            .most = r->rounds > 0 ? r->rounds : ROUNDS_MOST,
                            .seconds = r->seconds,
                            .patience = r->rounds > 0 ? INFINITY : PATIENCE,
                            .enough = ENOUGH,
                            .seed = tables_cell_seed(x, table_beside.name, c),
                            .progress = on_progress,
                            .data = &own};
    struct corun_result seen;
    int status = corun_rounds(&s, &seen, err);
    if (status)
        return status;
    for (size_t i = 0; i < r->n_clocks; i++)
        snprintf(codes[i].name, sizeof codes[i].name, "%g GHz", r->clocks[i]);
    char again[KERNEL_NAME_MAX + sizeof AGAIN];
    snprintf(again, sizeof again, "%s" AGAIN, codes[0].name);
    put_row(rows, r, r->n_clocks > 0 ? AS_SET : NOTHING, &seen, &seen.of[CORUN_NOTHING]);
    put_row(rows, r, codes[0].name, &seen, &seen.of[CORUN_NARROW]);
    put_row(rows, r, again, &seen, &seen.of[CORUN_NULL]);
    for (size_t i = 1; i < n_codes; i++)
        put_row(rows, r, codes[i].name, &seen, &seen.of[CORUN_WIDE + i - 1]);
    return MACHINE_OK;
}

/* ---- findings ---- */

enum { ROW_NOTHING, ROW_NARROW, ROW_NULL, ROW_WIDE }; /* in this order */

static bool has_clocks(const struct table *t)
{
    return table_says(t, 0, "place", ALONE);
}

/* True if the limits exclude both that there is no cost and what the null shows. */
static bool is_cost(const struct estimate *e, double null)
{
    return e->lo > fmax(null, 0) || e->hi < fmin(null, 0);
}

/* "12.1 [11.8, 12.5] % more CPU time", or less. */
static void tell_change(FILE *out, const struct estimate *e, const char *what)
{
    const bool less = e->value < 0;
    struct estimate p = estimate_percent(e);
    if (less)
        p = (struct estimate){-p.value, -p.hi, -p.lo};
    char text[ESTIMATE_TEXT_MAX];
    fprintf(out, "%s %% %s %s", estimates_text(&p, 1, text), less ? "less" : "more", what);
}

/* One sentence; `than`: beside what it was at the same time. */
static void tell_row(FILE *out, const struct table *t, size_t row, const char *than)
{
    const struct estimate cpu = estimates_of_table(t, row, "cpu_cost"), time = estimates_of_table(t, row, "time_cost");
    const char *name = table_text(t, row, "background");
    const bool limits = isfinite(cpu.lo);
    if (!isfinite(cpu.value) || !name)
        return;
    fprintf(out, "%s %s, against %s: ", has_clocks(t) ? "At" : "Beside", name, than);
    if (!limits || is_cost(&cpu, table_number(t, ROW_NULL, "cpu_cost")))
        tell_change(out, &cpu, "CPU time");
    else
        fprintf(out, "no cost in CPU time found (up to %.1f %% cannot be excluded)",
                100 * fmax(fabs(cpu.lo), fabs(cpu.hi)));
    if (!limits || is_cost(&time, table_number(t, ROW_NULL, "time_cost"))) {
        fputs(", ", out);
        tell_change(out, &time, "time to complete");
    }
    fputs(limits ? ".\n" : "; without limits, for which it takes 6 rounds.\n", out);
}

/* Says what would narrow the limits. */
static void tell_limits(FILE *out, const struct table *t)
{
    double widest = 0;
    for (size_t row = ROW_WIDE; row < t->n_rows; row++) {
        const struct estimate cpu = estimates_of_table(t, row, "cpu_cost");
        widest = fmax(widest, estimate_half_known(&cpu));
    }
    if (widest > WIDE_LIMITS)
        fprintf(out,
                "The limits are up to %.0f %% wide: a command of 0.05 to 2 s, a quieter machine, or a longer "
                "--seconds narrows them.\n",
                200 * widest);
}

/* The stall share, or that the clock did not follow. */
static void tell_stall(FILE *out, const struct table *t, size_t row, const char *first)
{
    const struct estimate stall = estimates_of_table(t, row, "stall");
    char text[ESTIMATE_TEXT_MAX];
    const double ran[] = {table_number(t, ROW_NARROW, "freq_ghz"), table_number(t, row, "freq_ghz")};
    if (isfinite(stall.value))
        fprintf(out,
                "Of its cycles at %s, a share of %s does not follow the clock: its stall share (G equation 4.3).\n",
                first, estimates_text(&stall, 3, text));
    else if (isfinite(ran[0]) && isfinite(ran[1]))
        fprintf(out,
                "No stall share: the clock was not as requested, it ran at %.3f and %.3f GHz (a turbo limit, a power "
                "limit, a hypervisor or another program).\n",
                ran[0], ran[1]);
    else
        fputs("No stall share: the frequency of its CPU was not measured, so whether the clock was as requested is "
              "not known.\n",
              out);
}

static void findings(FILE *out, const struct table *t)
{
    if (t->n_rows < ROW_WIDE)
        return;
    const char *narrow = table_text(t, ROW_NARROW, "background");
    for (size_t row = ROW_WIDE; row < t->n_rows; row++) {
        tell_row(out, t, row, narrow ? narrow : "?");
        if (has_clocks(t))
            tell_stall(out, t, row, narrow ? narrow : "?");
    }
    tell_row(out, t, ROW_NARROW, has_clocks(t) ? AS_SET : NOTHING);
    tell_limits(out, t);
}

/* ---- for a person ---- */

static const struct pivot_field fields[] = {
    {"beside", "background", PIVOT_PLAIN, NULL},
    {"CPU time\ns", "cpu_s", PIVOT_ALONE, NULL},
    {"cost in CPU time\n% [95 % limits]", "cpu_cost", PIVOT_PERCENT, NULL},
    {"complete\nafter s", "time_s", PIVOT_ALONE, NULL},
    {"cost in time\n% [95 % limits]", "time_cost", PIVOT_PERCENT, NULL},
    {"its CPU\nGHz", "freq_ghz", PIVOT_ALONE, NULL},
    {"runs", "n", PIVOT_PLAIN, NULL},
};
static const struct pivot_field clock_fields[] = {
    {"at", "background", PIVOT_PLAIN, NULL},
    {"CPU time\ns", "cpu_s", PIVOT_ALONE, NULL},
    {"cost in CPU time\n% [95 % limits]", "cpu_cost", PIVOT_PERCENT, NULL},
    {"its CPU\nGHz", "freq_ghz", PIVOT_ALONE, NULL},
    {"stall share\n[95 % limits]", "stall", PIVOT_PLAIN, NULL},
    {"runs", "n", PIVOT_PLAIN, NULL},
};
static bool is_beside(const struct table *t, size_t row)
{
    return !table_says(t, row, "place", ALONE);
}
static const struct pivot_list views[] = {{.shows = is_beside, .n_names = 1, PIVOT_FIELDS(fields)},
                                          {.column = "place", .says = ALONE, .n_names = 1, PIVOT_FIELDS(clock_fields)}};

/* What was run, and where, below the rows. */
static void print(FILE *out, __attribute__((unused)) bool colour, const struct table *t)
{
    static const char *const where[CORUN_PLACES] = {
        [CORUN_SAME] = "the CPU of the command",
        [CORUN_SIBLING] = "the other threads of the command's core",
        [CORUN_CORE] = "the other cores",
        [CORUN_PACKAGE] = "all CPUs of the package that may be used, as did the command"};
    const char *command = table_setting(t, "command"), *every = table_setting(t, "every_us");
    size_t place = 0;
    if (command && has_clocks(t))
        fprintf(out, "Command: %s, alone on its CPU.\n", command);
    while (place < CORUN_PLACES && t->n_rows > 0 && !table_says(t, 0, "place", machine_corun_place_names[place]))
        place++;
    if (!command || t->n_rows == 0 || place == CORUN_PLACES)
        return;
    fprintf(out, "Command: %s. Background code ran on %s", command, where[place]);
    if (every)
        fprintf(out, ", for %s us of each %s us, 64add in between", table_setting(t, "on_us"), every);
    fputs(".\n", out);
}

const struct table_kind table_beside = {
    .name = "beside",
    .title = "What a command costs beside background code, or at fixed frequencies",
    .about = "what a command costs beside background code",
    .method = "The command runs beside nothing, twice beside narrow code and beside each wide kernel, in random order "
              "within a round; costs are ratios within a round (G 3.3.5, equations 3.1 and 3.2). Or it runs at several "
              "fixed frequencies; the stall share is that of G equation 4.3.",
    TABLE_KIND_COLUMNS(columns),
    .plan = plan,
    .measure = measure,
    TABLE_KIND_VIEWS(views),
    .print = print,
    .findings = findings,
};
