/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All tables on processors whose parameters are drawn at random, against those parameters: each cell within 1 % or
 * 1 us. Three processors, or those from the first to the last seed that RANDOM_MODELS=FIRST-LAST names. The tables
 * frequency and overhead have tests of their own on random models.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/model.h"
#include "tables/kinds.h"
#include "tests/unit/model_rig.h"
#include "tests/unit/random_model.h"

static const double RELATIVE = 0.01, MICROSECONDS = 1;

struct check {
    const struct model *model;
    const struct table *table;
    unsigned long seed;
    size_t cells, wrong, skipped;
};

static const char *text(const struct check *c, size_t row, const char *column)
{
    const char *t = table_text(c->table, row, column);
    return t ? t : "";
}

/* Within 1 %, or for times within 1 us. */
static void cell(struct check *c, size_t row, const char *column, double want)
{
    double is = table_number(c->table, row, column), off = fabs(is - want);
    size_t length = strlen(column);
    bool time = length > 3 && strcmp(column + length - 3, "_us") == 0;
    c->cells++;
    if (off <= RELATIVE * fabs(want) || (time && off <= MICROSECONDS) || (isnan(is) && isnan(want)))
        return;
    c->wrong++;
    print_message("  model %lu, %s, row %zu (%s%s%s %s): %s is %g, not %g\n", c->seed, c->table->name, row,
                  text(c, row, "kernel"), text(c, row, "from"), table_has(c->table, "to") ? " to" : "",
                  text(c, row, "to"), column, is, want);
}

static void truth_of(const struct check *c, const char *from, const char *to, unsigned cores, struct model_truth *t)
{
    struct payload a = rig_payload(from), b = rig_payload(to);
    struct machine_error error;
    if (model_truth(c->model, &a, &b, cores, t, &error) != MACHINE_OK)
        fail_msg("%s", error.text);
}

static void truth_of_row(const struct check *c, size_t row, struct model_truth *t)
{
    truth_of(c, text(c, row, "from"), text(c, row, "to"), (unsigned)table_number(c->table, row, "active_cores"), t);
}

/* What is shorter than about four samples of 1 us is not told from what surrounds it. */
static bool resolved(const struct model_truth *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->phases[i].kind != MODEL_HALTED && t->phases[i].duration_us < 4)
            return false;
    return true;
}

/* Whether the phases are of one kind whichever count it happens to be after which more is asked for. */
static bool one_way(const struct check *c, size_t row, const struct model_truth *usual)
{
    static struct model m; /* too large for the stack */
    for (int side = -1; side <= 1; side += 2) {
        struct check other = *c;
        struct model_truth t;
        m = *c->model;
        for (size_t k = 0; k < m.n_demands; k++)
            m.demands[k].count *= 1 + 3 * side * m.demands[k].count_sigma;
        other.model = &m;
        truth_of_row(&other, row, &t);
        if (t.n != usual->n || !resolved(&t))
            return false;
        for (size_t i = 0; i < t.n; i++)
            if (t.phases[i].kind != usual->phases[i].kind)
                return false;
    }
    return true;
}

static bool disturbed(const struct model_phase *p)
{
    return p->kind == MODEL_THROTTLED || p->kind == MODEL_HALTED;
}

/* ---- the tables ---- */

static void check_frequency(struct check *c, size_t row)
{
    struct model_truth t;
    unsigned cores = (unsigned)table_number(c->table, row, "active_cores");
    truth_of(c, "64add", text(c, row, "kernel"), cores, &t);
    cell(c, row, "freq_ghz", t.phases[t.n - 1].ghz);
    cell(c, row, "level", t.phases[t.n - 1].level);
}

static void check_transitions(struct check *c, size_t row)
{
    struct model_truth t;
    truth_of_row(c, row, &t);
    const struct model_phase *last = &t.phases[t.n - 1], *first = NULL;
    double halts = 0, lost = 0;
    for (size_t i = 0; i + 1 < t.n; i++) {
        const struct model_phase *p = &t.phases[i];
        first = !first && (disturbed(p) || p->ghz != t.phases[i + 1].ghz) ? p : first;
        /* two without anything in between are one to whoever looks at it */
        halts += p->kind == MODEL_HALTED && (i == 0 || t.phases[i - 1].kind != MODEL_HALTED);
        if (p->kind != MODEL_SLOW)
            lost += p->duration_us * (1 - p->ipc_ratio * p->ghz / last->ghz);
    }
    cell(c, row, "from_ghz", t.from_ghz);
    cell(c, row, "to_ghz", last->ghz);
    if (!resolved(&t) || !one_way(c, row, &t)) {
        c->skipped++;
        return;
    }
    if (!first || (first->kind == MODEL_SLOW && !disturbed(first + 1)))
        return; /* nothing is lost: no latency; the kind is looked at by the table's own test */
    const struct model_phase *sign = first->kind == MODEL_SLOW || first->kind == MODEL_STEADY ? first + 1 : first;
    if (halts > 0 || t.from_ghz == last->ghz) {
        cell(c, row, "latency_us", last->start_us - sign->start_us);
        cell(c, row, "halts", halts);
    }
    cell(c, row, "overhead_us", lost);
}

static void check_throttle(struct check *c, size_t row)
{
    struct model_truth t;
    double phase = table_number(c->table, row, "phase"), number = 0;
    if (strcmp(text(c, row, "part"), "reach") == 0) {
        if (!isnan(table_number(c->table, row, "distance")))
            cell(c, row, "distance", c->model->throttle_distance);
        return;
    }
    if (strcmp(text(c, row, "part"), "phase") != 0)
        return;
    truth_of_row(c, row, &t);
    if (!resolved(&t) || !one_way(c, row, &t)) {
        c->skipped++;
        return;
    }
    for (size_t i = 0; i < t.n; i++) {
        double us = t.phases[i].duration_us, ratio = t.phases[i].ipc_ratio;
        if (t.phases[i].kind != MODEL_THROTTLED)
            continue;
        /* where the voltage alone changes, the rate goes on */
        for (; i + 1 < t.n && t.phases[i + 1].kind == MODEL_THROTTLED && t.phases[i + 1].ipc_ratio == ratio; i++)
            us += t.phases[i + 1].duration_us;
        if (++number != phase)
            continue;
        cell(c, row, "duration_us", us);
        cell(c, row, "ipc_ratio", ratio);
        return;
    }
    if (phase > 0) {
        c->wrong++;
        print_message("  model %lu: %s to %s has a throttled phase %g too many\n", c->seed, text(c, row, "from"),
                      text(c, row, "to"), phase);
    } else if (number > 0) {
        c->wrong++;
        print_message("  model %lu: %s to %s has %g throttled phases, none was found\n", c->seed,
                      text(c, row, "from"), text(c, row, "to"), number);
    }
}

static void check_relaxation(struct check *c, size_t row)
{
    if (strcmp(text(c, row, "what"), "wait") != 0)
        return;
    cell(c, row, "wait_us", c->model->wait_us * table_number(c->table, row, "mode"));
}

/* The class that is in force once a kernel has run for long, from its demand alone. */
static unsigned class_of(const struct check *c, const char *kernel)
{
    struct model_truth t;
    truth_of(c, "64add", kernel, 0, &t);
    return t.phases[t.n - 1].class_;
}

static void check_umask(struct check *c, size_t row)
{
    if (strcmp(text(c, row, "when"), "steady") != 0)
        return;
    unsigned umask = (unsigned)table_number(c->table, row, "umask");
    unsigned bit = c->model->classes[class_of(c, text(c, row, "kernel"))].umask;
    double share = table_number(c->table, row, "share"), want = (umask & bit) != 0;
    c->cells++;
    if (fabs(share - want) > RELATIVE) {
        c->wrong++;
        print_message("  model %lu, umask %02X, %s: share %g, not %g\n", c->seed, umask, text(c, row, "kernel"), share,
                      want);
    }
}

static void check_trigger(struct check *c, size_t row)
{
    struct payload p = rig_payload(text(c, row, "kernel"));
    struct model_need need;
    struct machine_error error;
    if (strcmp(text(c, row, "what"), "count") != 0)
        return;
    if (model_need(c->model, &p, &need, &error) != MACHINE_OK)
        fail_msg("%s", error.text);
    unsigned level = c->model->classes[need.later].level;
    char asks[40];
    snprintf(asks, sizeof asks, "level %u", level);
    if (strcmp(text(c, row, "asks"), asks) != 0 || level == 0)
        return;
    cell(c, row, "level", level);
    double lo = table_number(c->table, row, "count_lo"), hi = table_number(c->table, row, "count_hi");
    double count = table_number(c->table, row, "count");
    bool counted = need.later > need.first && level > c->model->classes[need.first].level;
    /* a threshold is measured to 1 %, or to what is executed in 1 us, or to its limits where it scatters */
    double slack = fmax(RELATIVE * need.count, 1e3 * need.counted_ipc * table_number(c->table, row, "plain_ghz"));
    c->cells++;
    if (counted ? fabs(count - need.count) <= slack || (lo <= need.count && need.count <= hi) : count <= slack)
        return;
    c->wrong++;
    print_message("  model %lu, %s asks for %s after %g [%g, %g], not %g\n", c->seed, p.name, asks, count, lo, hi,
                  counted ? need.count : 0);
}

/* Edges are where one of the readings that a value is the median of may lie on either side of it. */
static void check_voltage(struct check *c, size_t row)
{
    enum { NEIGHBOURS = 21 };
    struct model_truth t;
    double time = table_number(c->table, row, "time_us"), volts = table_number(c->table, row, "volts");
    truth_of_row(c, row, &t);
    size_t next = row + 1 < c->table->n_rows && table_number(c->table, row + 1, "time_us") > time ? row + 1 : row - 1;
    double spacing = fabs(table_number(c->table, next, "time_us") - time);
    /* 10 on either side, of readings that are at least as dense as the rows, and what the phases scatter by */
    double reach = NEIGHBOURS * spacing + 10, lo = t.from_volts, hi = lo;
    bool any = time - reach < 0;
    for (size_t i = 0; i < t.n; i++) {
        const struct model_phase *p = &t.phases[i];
        if (p->start_us > time + reach || p->start_us + p->duration_us < time - reach)
            continue;
        lo = any ? fmin(lo, p->volts) : p->volts;
        hi = any ? fmax(hi, p->volts) : p->volts;
        any = true;
    }
    c->cells++;
    /* the register has steps of 1/8192 V; a wait that was doubled or restarted keeps the old voltage */
    if (volts >= lo * (1 - RELATIVE) && volts <= hi * (1 + RELATIVE))
        return;
    c->wrong++;
    print_message("  model %lu, %s to %s at %g us: %g V, not %g to %g\n", c->seed, text(c, row, "from"),
                  text(c, row, "to"), time, volts, lo, hi);
}

/* ---- all of them ---- */

static const struct {
    const struct table_kind *kind;
    void (*check)(struct check *c, size_t row);
} checks[] = {{&table_frequency, check_frequency},   {&table_transitions, check_transitions},
              {&table_throttle, check_throttle},     {&table_relaxation, check_relaxation},
              {&table_umask, check_umask},           {&table_trigger, check_trigger},
              {&table_voltage, check_voltage}};

static size_t check_table(size_t which, const struct model *m, unsigned long seed, size_t *cells, size_t *skipped)
{
    static const char *const kernels[] = {"64add", "256or", "256fma", "512or", "512fma"};
    struct machine machine;
    struct machine_error error;
    static struct tables_options options; /* too large for the stack */
    struct table t;
    tables_options_default(&options);
    options.seed = seed;
    for (size_t i = 0; i < (m->features & KERNEL_NEEDS_AVX512F ? 5 : 3); i++)
        options.kernels[options.n_kernels++] = rig_payload(kernels[i]);
    if (checks[which].kind == &table_voltage) /* the others take no long time */
        options.brief = true;
    if (machine_open_parsed_model(m, "model:random", &machine, &error) != MACHINE_OK ||
        tables_measure(checks[which].kind, &machine, &options, NULL, NULL, &t, &error) != MACHINE_OK)
        fail_msg("%s", error.text);
    struct check c = {.model = m, .table = &t, .seed = seed};
    for (size_t row = 0; row < t.n_rows; row++)
        checks[which].check(&c, row);
    *cells += c.cells;
    *skipped += c.skipped;
    table_free(&t);
    machine.ops->close(&machine);
    return c.wrong;
}

static void random_processors_give_their_parameters_back(void **state)
{
    unsigned long first = 1, last = getenv("SANITIZED") ? 1 : 3; /* there they take half a minute each */
    const char *range = getenv("RANDOM_MODELS");
    size_t wrong = 0, cells = 0, skipped = 0;
    static struct model m;
    (void)state;
    if (range && sscanf(range, "%lu-%lu", &first, &last) != 2)
        fail_msg("RANDOM_MODELS=%s is not FIRST-LAST", range);
    for (unsigned long seed = first; seed <= last; seed++) {
        random_model(&m, seed);
        for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
            wrong += check_table(i, &m, seed, &cells, &skipped);
    }
    print_message("  %zu cells of models %lu to %lu, %zu wrong; %zu rows left out: phases below 4 us, or that depend "
                  "on chance\n", cells, first, last, wrong, skipped);
    assert_true(skipped < cells / 20);
    assert_true(cells > 100 * (last - first + 1));
    assert_int_equal(wrong, 0);
}

/* A count that varies, behind a change of the frequency: bursts that have asked for more are slower from then on, and
 * their counts once passed for what it takes. */
static void a_varying_count_is_not_taken_for_a_smaller_one(void **state)
{
    size_t cells = 0, skipped = 0;
    static struct model m;
    (void)state;
    random_model(&m, 8);
    assert_int_equal(check_table(5, &m, 8, &cells, &skipped), 0);
    assert_true(cells > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_processors_give_their_parameters_back),
        cmocka_unit_test(a_varying_count_is_not_taken_for_a_smaller_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
