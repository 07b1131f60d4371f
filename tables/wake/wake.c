/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table wake: the first use of a unit after it was idle: how long one instruction takes, and how long until the
 * rate is the full one, for idle times from 1 us to 100 ms.
 */
#include "tables/wake/wake.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "tables/registry.h"
#include "tables/table/estimates.h"
#include "util/json_lines.h"
#include "util/order.h"

enum {
    RUNS = 15, /* of each idle time: a median has limits even where half of 15 are disturbed */
    RUNS_BRIEF = 7,
    RUNS_MOST = 1000, /* so many take five minutes for each unit */
    DECADES = 5,      /* of idle times, from 1 us: to 100 ms, longer than any unit is known to stay awake */
    STEPS_A_DECADE = 6,
    STEPS_BRIEF = 3,
};
/* The unit is used for so long before it is left idle, us, and observed for so long afterwards, until its rate is
 * steady: more than ten times the 10 us of a halt (G 5.2.2). */
static const double WARM_US = 200, OBSERVE_US = 120;

static const struct {
    const char *unit, *kernel;
    bool released; /* tiles while idle: released; else dirty, or configured anew and zero */
} units[] = {{"256", "256fma", false},
             {"512", "512fma", false},
             {"amx", "amx", false},
             {"amx-dirty", "amx-dirty", false},
             {"amx-released", "amx", true}};

static const struct table_column columns[] = {
    {"unit", "", TABLE_TEXT, true, 0},       {"idle_us", "us", TABLE_REAL, true, 2}, TABLE_LIMITS("first_us", "us", 4),
    TABLE_LIMITS("full_rate_us", "us", 2),   {"stage", "", TABLE_WHOLE, false, 0},   {"n", "", TABLE_WHOLE, false, 0},
    {"discarded", "", TABLE_WHOLE, false, 0}};

/* The detail of a unit: its points, as lists idle_us, first_us and full_rate_us. */
#define WAKE_POINTS "points %s"

struct wake_plan {
    unsigned runs, rows;
    double warm_us, observe_us;
};

static struct wake_plan plan_of(const struct tables_options *o)
{
    struct wake_plan p = {o->runs    ? o->runs
                          : o->brief ? RUNS_BRIEF
                                     : RUNS,
                          DECADES * (o->brief ? STEPS_BRIEF : STEPS_A_DECADE) + 1,
                          o->warmup_us > 0 ? o->warmup_us : WARM_US, o->observe_us > 0 ? o->observe_us : OBSERVE_US};
    p.runs = p.runs < RUNS_MOST ? p.runs : RUNS_MOST;
    return p;
}

static double idle_us_of(const struct wake_plan *p, unsigned row)
{
    return pow(10, (double)DECADES * row / (p->rows - 1));
}

static int plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    struct wake_plan p = plan_of(x->options);
    double seconds = 0;
    for (unsigned row = 0; row < p.rows; row++)
        seconds += 1e-6 * p.runs * (idle_us_of(&p, row) + p.warm_us + p.observe_us);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct payload kernel;
        if (!tables_can_run(x, units[i].kernel, &kernel) && tables_lacking(x, &kernel, "unit", units[i].unit, t))
            continue;
        struct cell *c = tables_add_cell(out, &kernel, NULL, 1, "unit%s", units[i].unit);
        if (!c)
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        c->number[0] = (unsigned)i;
        c->seconds = seconds;
    }
    table_set_setting_number(t, "runs", p.runs);
    table_set_setting_number(t, "warmup_us", p.warm_us);
    table_set_setting_number(t, "observe_us", p.observe_us);
    return MACHINE_OK;
}

/* ---- measuring ---- */

struct wake_seen {
    struct wake_plan plan;
    double *first, *full, *read; /* [row * runs + run]; NaN: none */
    size_t n_read;
    double step_us;
};

/* The median (robust_mean would follow interrupts) of what is finite, and the share of that. */
static struct estimate middle(double *x, size_t n, double *share)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i]))
            x[kept++] = x[i];
    *share = n ? (double)kept / (double)n : 0;
    return robust_median(x, kept);
}

/* Numbers that are not finite are null. */
static json_t *list_of(const struct wake_seen *s, const double *x)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < s->plan.rows * s->plan.runs; i++)
        json_array_append_new(list, json_lines_real(x[i]));
    return list;
}

/* The step in which the clock's readings advance, us; 0: not known. */
static double step_us_of(const struct tables_context *x)
{
    struct machine_info info;
    x->machine->ops->info(x->machine, &info);
    return info.tsc_hz > 0 ? 1e6 * info.tsc_step / info.tsc_hz : 0;
}

static void keep_points(const char *unit, const struct wake_seen *s, struct table *rows)
{
    char key[40];
    json_t *idle = json_array();
    for (unsigned i = 0; i < s->plan.rows * s->plan.runs; i++)
        json_array_append_new(idle, json_real(idle_us_of(&s->plan, i / s->plan.runs)));
    json_t *points = json_pack("{s:o, s:o, s:o, s:f}", "idle_us", idle, "first_us", list_of(s, s->first),
                               "full_rate_us", list_of(s, s->full), "step_us", s->step_us);
    snprintf(key, sizeof key, WAKE_POINTS, unit);
    table_set_detail_json(rows, key, points, 6);
}

static void put_stages(const char *unit, struct wake_seen *s, struct table *rows)
{
    for (unsigned row = 0; row < s->plan.rows; row++) {
        double share, full_share;
        struct estimate first = middle(s->first + (size_t)row * s->plan.runs, s->plan.runs, &share);
        struct estimate full = middle(s->full + (size_t)row * s->plan.runs, s->plan.runs, &full_share);
        table_add_row(rows);
        table_put_text(rows, "unit", unit);
        table_put_number(rows, "idle_us", idle_us_of(&s->plan, row));
        estimates_put(rows, "first_us", wake_blur_time(first, s->step_us));
        if (full_share > 0.5)
            estimates_put(rows, "full_rate_us", wake_blur_time(full, s->step_us));
        table_put_number(rows, "n", rint(share * s->plan.runs));
        table_put_number(rows, "discarded", rint((1 - share) * s->plan.runs));
    }
}

/* All idle times in each round, in scattered order: what changes with time is not taken for the idle time's doing. */
static int see_all(const struct tables_context *x, const struct cell *c, struct wake_seen *s, struct machine_error *err)
{
    const struct wake_plan *p = &s->plan;
    struct first_use_request r = {
        .warm = c->a, .warm_us = p->warm_us, .observe_us = p->observe_us, .released = units[c->number[0]].released};
    for (unsigned run = 0; run < p->runs; run++)
        for (unsigned k = 0; k < p->rows; k++) {
            unsigned row = (k * 7 + run * 3) % p->rows; /* 16 and 31 rows: 7 divides neither */
            struct first_use_seen seen;
            r.idle_us = idle_us_of(p, row);
            r.repetition = (uint64_t)run * p->rows + row;
            int status = x->machine->ops->first_use(x->machine, &r, &seen, err);
            if (status)
                return status;
            s->first[row * p->runs + run] = seen.first_us;
            s->full[row * p->runs + run] = seen.full_rate_us;
            s->read[s->n_read++] = seen.read_us;
            if (tables_stop(x, (double)s->n_read / (p->runs * p->rows)))
                return machine_fail(err, MACHINE_FAILED, "", "stopped");
        }
    return MACHINE_OK;
}

static int see_prepared(const struct tables_context *x, const struct cell *c, struct wake_seen *s, struct table *rows,
                        struct machine_error *err)
{
    struct machine_setup setup = tables_setup(x, table_wake.name, c);
    setup.period_us = 1;
    setup.max_samples = 1;
    int status = x->machine->ops->prepare(x->machine, &setup, err);
    if (status)
        return status;
    s->step_us = step_us_of(x);
    status = see_all(x, c, s, err);
    x->machine->ops->finish(x->machine);
    if (status)
        return status;
    const char *unit = units[c->number[0]].unit;
    char key[40];
    snprintf(key, sizeof key, "read_us of unit %s", unit);
    table_set_setting_number(rows, key, order_median(s->read, s->n_read));
    keep_points(unit, s, rows);
    put_stages(unit, s, rows);
    return MACHINE_OK;
}

static int measure(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err)
{
    if (!x->machine->ops->first_use)
        return machine_fail(err, MACHINE_CANNOT, "use --machine timing or perf, or model:NAME",
                            "this machine cannot measure first uses");
    struct wake_seen s = {.plan = plan_of(x->options)};
    size_t n = (size_t)s.plan.rows * s.plan.runs;
    s.first = calloc(3 * n, sizeof *s.first);
    if (!s.first)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    s.full = s.first + n;
    s.read = s.full + n;
    int status = see_prepared(x, c, &s, rows, err);
    free(s.first);
    return status;
}

/* ---- stages ---- */

int wake_stages_of(const struct table *t, const char *unit, const char *column, struct wake_stages *out)
{
    char key[40], why[200];
    snprintf(key, sizeof key, WAKE_POINTS, unit);
    const char *text = table_detail(t, key);
    json_t *j = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *idle = json_object_get(j, "idle_us"), *seen = json_object_get(j, column);
    struct wake_point *p = calloc(json_array_size(seen) + 1, sizeof *p);
    size_t n = 0;
    for (size_t i = 0; p && i < json_array_size(seen); i++)
        if (json_is_number(json_array_get(seen, i)) && json_number_value(json_array_get(seen, i)) > 0)
            p[n++] = (struct wake_point){json_number_value(json_array_get(idle, i)),
                                         json_number_value(json_array_get(seen, i))};
    int status = p ? wake_find(p, n, out, why, sizeof why) : 1;
    if (status == 0)
        wake_blur(out, json_number_value(json_object_get(j, "step_us")));
    free(p);
    json_decref(j);
    return status;
}

/* The rows of a unit follow each other. Returns the row after its last. */
static size_t rows_end(const struct table *t, size_t row)
{
    size_t end = row + 1;
    while (end < t->n_rows && table_same(t, row, end, "unit"))
        end++;
    return end;
}

/* The stage of a row, from 1: of those that its idle time may lie in, by the limits, the one nearest to its value. */
static size_t stage_of(const struct table *t, size_t row, const char *column, const struct wake_stages *s)
{
    double idle = table_number(t, row, "idle_us"), value = table_number(t, row, column), nearest = INFINITY;
    size_t stage = 0;
    for (size_t i = 0; i < s->n; i++) {
        bool before = i > 0 && idle < s->stage[i].idle_from_us.lo;
        bool after = i + 1 < s->n && idle > s->stage[i].idle_to_us.hi;
        double off = isfinite(value) ? fabs(log(value / s->stage[i].first_us.value)) : 0;
        if (!before && !after && off < nearest) {
            nearest = off;
            stage = i + 1;
        }
    }
    return stage;
}

/* Fills the column `stage`: the number of the stage, from 1, in which the idle time of a row lies: of first_us, or
 * where that has one alone, of full_rate_us. */
static int conclude(struct table *t)
{
    for (size_t row = 0, end; row < t->n_rows; row = end) {
        struct wake_stages s;
        const char *unit = table_text(t, row, "unit"), *column = "first_us";
        end = rows_end(t, row);
        int status = unit ? wake_stages_of(t, unit, column, &s) : -1;
        if (status == 0 && s.n == 1) {
            column = "full_rate_us";
            status = wake_stages_of(t, unit, column, &s);
        }
        if (status > 0)
            return -1;
        for (size_t i = row; i < end && status == 0; i++)
            table_set_number(t, i, "stage", (double)stage_of(t, i, column, &s));
    }
    return 0;
}

/* ---- findings ---- */

#define COARSE 10.0 /* times the clock's step: what is shorter scatters by that step */

static void tell_stages(FILE *out, const char *key, const char *what, const struct wake_stages *s)
{
    char text[2][ESTIMATE_TEXT_MAX], unit[40];
    bool tiles = strncmp(key, "amx", 3) == 0;
    snprintf(unit, sizeof unit, tiles ? "tile units (AMX%s)" : "%s-bit units", key + (tiles ? 3 : 0));
    if (s->n == 1 && s->stage[0].first_us.value < COARSE * s->step_us)
        fprintf(out, "%s: %s %s us, however long they were idle, as far as the clock's steps of %.3f us show.\n", unit,
                what, estimates_text(&s->stage[0].first_us, 3, text[0]), s->step_us);
    else if (wake_scatters(s))
        fprintf(out,
                "%s: %s a time that scatters too much to tell stages apart (see the plot); repeat on a less busy "
                "machine.\n",
                unit, what);
    else if (s->n == 1 && s->n_warnings)
        fprintf(out, "%s: %s a time that changes gradually, or was disturbed: no stages (see the plot).\n", unit, what);
    else if (s->n == 1)
        fprintf(out, "%s: %s %s us, however long they were idle; a factor of %.2g would have been detected.\n", unit,
                what, estimates_text(&s->stage[0].first_us, 3, text[0]), s->detectable_ratio);
    else
        fprintf(out, "%s, idle for less than %s us: %s %s us.\n", unit,
                estimates_text(&s->stage[0].idle_to_us, 1, text[0]), what,
                estimates_text(&s->stage[0].first_us, 3, text[1]));
    for (size_t i = 1; i < s->n; i++)
        fprintf(out, "%s, idle for %s us or more: %s %s us%s.\n", unit,
                estimates_text(&s->stage[i].idle_from_us, 1, text[0]), what,
                estimates_text(&s->stage[i].first_us, 3, text[1]),
                i + 1 == s->n && s->n_warnings ? " (some of it changes gradually, or was disturbed)" : "");
}

static void findings(FILE *out, const struct table *t)
{
    struct wake_stages s;
    for (size_t row = 0, end; row < t->n_rows; row = end) {
        end = rows_end(t, row);
        const char *unit = table_text(t, row, "unit");
        if (unit && wake_stages_of(t, unit, "first_us", &s) == 0)
            tell_stages(out, unit, "the first instruction takes", &s);
        if (unit && wake_stages_of(t, unit, "full_rate_us", &s) == 0)
            tell_stages(out, unit, "full rate comes after", &s);
    }
}

/* ---- the plot ---- */

static const char *unit_name(const struct table *t, size_t row, char out[CHART_NAME_MAX])
{
    const char *unit = table_text(t, row, "unit");
    bool tiles = unit && strncmp(unit, "amx", 3) == 0;
    out[0] = '\0';
    if (unit)
        snprintf(out, CHART_NAME_MAX, tiles ? "tiles (AMX%.20s)" : "%.20s bits", unit + (tiles ? 3 : 0));
    return out;
}

#define WAKE_PANEL(text)                                                                                               \
    {                                                                                                                  \
        .kind = CHART_LINES, .title = text, .x_label = "idle before (\xC2\xB5s)", .y_label = "\xC2\xB5s",              \
        .log_x = true, .log_y = true                                                                                   \
    }
static const struct picture pictures[] = {
    {.panel = WAKE_PANEL("the first instruction"),
     .value = "first_us",
     .name.text = unit_name,
     .across.column = "idle_us"},
    {.panel = WAKE_PANEL("until full rate"),
     .value = "full_rate_us",
     .name.text = unit_name,
     .across.column = "idle_us"},
};

#define WAKE_ONE_CORE "only one core is used"
const struct table_kind table_wake = {
    .name = "wake",
    .title = "First use after idle",
    .about =
        "the first use of 256-bit, 512-bit and tile units after idle times: first instruction, time until full rate",
    .method = "A unit is used for 200 us, then left idle while the core spins on scalar code for 1 us to 100 ms; then "
              "one FMA or product of tiles is timed between two fenced reads of the TSC, followed by blocks of them "
              "until their rate is "
              "steady. While idle, tiles are configured and zero, left with their data (amx-dirty) or released "
              "(amx-released). Stages are separated where the time of the first instruction changes with the idle time "
              "or, if "
              "that does not, the time until full rate.",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"unit", "idle_us", "first_us", "full_rate_us", "stage"},
    .excluded = {[CHOICE_CORUNNER] = WAKE_ONE_CORE,
                 [CHOICE_CORUNNER_SAME] = WAKE_ONE_CORE,
                 [CHOICE_CORES] = WAKE_ONE_CORE,
                 [CHOICE_SIBLINGS] = WAKE_ONE_CORE,
                 [CHOICE_KERNELS] = "its units are those of 256 and 512 bits and of tiles",
                 [CHOICE_PERIOD] = "one instruction is timed at a time"},
    .plan = plan,
    .measure = measure,
    .conclude = conclude,
    .findings = findings,
    TABLE_KIND_PICTURES(pictures),
};
