/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table switching: what a context switch, a migration to another CPU and a fault cost, of which schedulers pay some
 * for each task that they move to the cores that run wide code (G 6.2).
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "probes/switching.h"
#include "tables/registry.h"
#include "tables/table/estimates.h"
#include "util/text_list.h"

/* Rounds without --runs, at least: a median of 15 has limits even where half of them are disturbed. */
enum { ROUNDS = 15 };
/* A row is done when half of the width of its limits is this part of it: schedulers need no more. */
#define ENOUGH 0.05
/* The time for a row, s. */
#define SECONDS 2.0
#define SECONDS_BRIEF 0.5

enum { WHAT }; /* cell.number */

static const struct table_column columns[] = {{"what", "", TABLE_TEXT, true, 0},
                                              TABLE_LIMITS("us", "us", 3),
                                              TABLE_LIMITS("null_us", "us", 3), /* without it, twice */
                                              {"n", "", TABLE_WHOLE, false, 0},
                                              {"discarded", "", TABLE_WHOLE, false, 0}};

static struct switching_setup setup_of(const struct tables_context *x, const struct cell *c)
{
    const struct tables_options *o = x->options;
    struct switching_setup s = {.machine = tables_setup(x, table_switching.name, c),
                                .what = (enum switching_what)c->number[WHAT],
                                .least = ROUNDS,
                                .most = SWITCHING_ROUNDS_MOST,
                                .seconds = o->seconds > 0 ? o->seconds
                                           : o->brief     ? SECONDS_BRIEF
                                                          : SECONDS,
                                .enough = ENOUGH};
    if (o->runs) {
        s.least = s.most = o->runs < SWITCHING_ROUNDS_MOST ? o->runs : SWITCHING_ROUNDS_MOST;
        s.seconds = INFINITY;
        s.enough = 0;
    }
    return s;
}

static int plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    (void)t;
    for (unsigned what = 0; what < SWITCHING_KINDS; what++) {
        struct cell *c = tables_add_cell(out, NULL, NULL, 1, "%s", machine_switching_names[what]);
        if (!c)
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        c->number[WHAT] = what;
        c->cpu = x->options->cpu;
        c->seconds = fmin(setup_of(x, c).seconds, SECONDS);
    }
    return MACHINE_OK;
}

static void put(const char *what, const struct switching_result *r, struct table *rows)
{
    if (r->n > 0) {
        table_add_row(rows);
        estimates_put(rows, "us", r->us);
        estimates_put(rows, "null_us", r->null_us);
        table_put_number(rows, "n", r->n);
        table_put_number(rows, "discarded", r->discarded);
    } else {
        table_add_missing(rows,
                          "in none of %u rounds the system counted as many as there should have been; stop other "
                          "programs",
                          r->discarded);
    }
    table_put_text(rows, "what", what);
}

static int measure(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err)
{
    struct tables_context own = *x;
    struct switching_setup s = setup_of(x, c);
    struct switching_result r;
    const char *what = machine_switching_names[c->number[WHAT]];
    s.progress = tables_on_progress;
    s.data = &own;
    const int status = switching_run(x->machine, &s, &r, err);
    if (status == MACHINE_CANNOT) {
        table_add_missing_error(rows, err);
        table_put_text(rows, "what", what);
        return MACHINE_OK;
    }
    if (status == MACHINE_OK)
        put(what, &r, rows);
    if (status == MACHINE_OK && r.to_cpu >= 0)
        table_set_detail_json(rows, "migration", json_pack("{s:i}", "to_cpu", r.to_cpu), 1);
    return status;
}

/* ---- findings ---- */

static struct estimate cost_of(const struct table *t, enum switching_what what)
{
    const size_t row = table_find(t, "what", machine_switching_names[what]);
    return row < t->n_rows ? estimates_of_table(t, row, "us") : (struct estimate){NAN, NAN, NAN};
}

/* True if the limits of a cost do not lie above those of its null. */
static bool is_nothing(const struct table *t, enum switching_what what)
{
    const size_t row = table_find(t, "what", machine_switching_names[what]);
    const struct estimate us = cost_of(t, what);
    const struct estimate null = row < t->n_rows ? estimates_of_table(t, row, "null_us") : us;
    return estimates_known(&us) && estimates_known(&null) && !estimates_above(&us, &null);
}

static void findings(FILE *out, const struct table *t)
{
    char text[ESTIMATE_TEXT_MAX], nothing[60] = "";
    const struct estimate move = cost_of(t, SWITCHING_MIGRATION), fault = cost_of(t, SWITCHING_FAULT),
                          swap = cost_of(t, SWITCHING_SWITCH);
    const struct estimate change = {2 * move.value + fault.value, 2 * move.lo + fault.lo, 2 * move.hi + fault.hi};
    if (estimates_known(&change))
        fprintf(
            out,
            "Where only some cores may run wide code, a task that begins to and stops again costs at least %s us: two "
            "migrations and a fault, without what the caches lose.\n",
            estimates_text(&change, 1, text));
    if (estimates_known(&swap))
        fprintf(out, "A switch between two threads costs %s us.\n", estimates_text(&swap, 2, text));
    for (unsigned what = 0; what < SWITCHING_KINDS; what++)
        if (is_nothing(t, (enum switching_what)what))
            text_list_add(nothing, sizeof nothing, ", ", "%s", machine_switching_names[what]);
    if (nothing[0])
        fprintf(out,
                "Not told from nothing, as two blocks without it differ as much: %s; a quieter machine or more --runs "
                "would help.\n",
                nothing);
}

static const struct picture pictures[] = {
    {.panel = {.kind = CHART_BARS, .title = "What it costs", .x_label = "\xC2\xB5s"},
     .value = "us",
     .name.column = "what"},
};

#define NO_KERNEL_RUNS "no kernel runs"
const struct table_kind table_switching = {
    .name = "switching",
    .title = "Switches, migrations and faults",
    .about = "what a context switch, a migration to another CPU and a fault cost, which schedulers pay",
    .method = "In each round a block of operations and two blocks without what is measured run in random order; a cost "
              "is the median of the differences within a round. Switch: two threads on one CPU wake each other through "
              "pipes, against one thread with its own pipes. Migration: a thread changes its affinity so that it must "
              "move to another core, or need not. Fault: pages of a shared file in memory are written when they are "
              "not mapped, and when they are. The kernel\xE2\x80\x99s own counts say that it happened. A change of "
              "the type of a task takes two migrations and a fault (G 6.2).",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"what", "us", "null_us", "n", "discarded"},
    .exported = EXPORT_SWITCHING,
    .uncompared = {"us", "null_us"},
    .excluded = {[CHOICE_WARMUP] = NO_KERNEL_RUNS,
                 [CHOICE_OBSERVE] = NO_KERNEL_RUNS,
                 [CHOICE_SIBLINGS] = NO_KERNEL_RUNS,
                 [CHOICE_CORUNNER] = NO_KERNEL_RUNS,
                 [CHOICE_CORUNNER_SAME] = NO_KERNEL_RUNS,
                 [CHOICE_KERNELS] = NO_KERNEL_RUNS,
                 [CHOICE_PERIOD] = NO_KERNEL_RUNS,
                 [CHOICE_CORES] = NO_KERNEL_RUNS},
    .plan = plan,
    .measure = measure,
    .findings = findings,
    TABLE_KIND_PICTURES(pictures),
};
