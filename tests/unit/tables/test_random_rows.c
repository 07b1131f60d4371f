/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is measured of processors drawn at random, with options drawn at random, stays what it is: of each table the sum
 * of each column, each row with a weight of its own, and how many rows have a value; of texts, reasons and details
 * their own sums. Held in tests/golden/random.TABLE; after an intended change `make golden` rewrites it. Whether the rows
 * are right, test_random_tables tells.
 */
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/model/model.h"
#include "tables/registry.h"
#include "tests/support/golden.h"
#include "tests/support/random_model.h"
#include "tests/support/random_numbers.h"
#include "tests/support/sanitized.h"

static struct model model; /* too large for the stack */

/* Of the letters of a text, and of its numbers: these may differ by a millionth. */
struct text_sum {
    uint32_t letters;
    double numbers;
};

static void add_text(struct text_sum *sum, const char *text)
{
    unsigned weight = 0;
    for (char *end; text && *text;) {
        double x = isdigit((unsigned char)*text) ? strtod(text, &end) : NAN;
        if (isfinite(x)) {
            sum->numbers += (1 + weight++ % 7) * x;
            text = end;
        } else
            sum->letters = (sum->letters ^ (unsigned char)*text++) * 0x01000193u; /* FNV-1a */
    }
    sum->letters = (sum->letters ^ '\n') * 0x01000193u;
}

static void write_text_sum(FILE *out, const char *name, const struct text_sum *s)
{
    fprintf(out, " %s #%08x", name, (unsigned)s->letters);
    if (s->numbers != 0)
        fprintf(out, " %.7g", s->numbers);
}

static void write_sums(FILE *out, const struct table *t)
{
    struct text_sum why = {0}, details = {0}, settings = {0};
    fprintf(out, "%zu rows;", t->n_rows);
    for (size_t i = 0; i < t->n_columns && t->n_rows; i++) {
        const char *name = t->columns[i].name;
        struct text_sum texts = {0};
        double sum = 0;
        size_t n = 0;
        for (size_t row = 0; row < t->n_rows; row++) {
            const double x = table_number(t, row, name);
            add_text(&texts, table_text(t, row, name));
            n += !isnan(x);
            sum += isnan(x) ? 0 : (double)(1 + row % 5) * x;
        }
        if (t->columns[i].type == TABLE_TEXT)
            write_text_sum(out, name, &texts);
        else if (n > 0)
            fprintf(out, " %s %zu %.7g", name, n, sum);
    }
    for (size_t i = 0; i < t->n_missing; i++) {
        char of[200];
        table_missing_name(t, i, of, sizeof of);
        add_text(&why, of);
        add_text(&why, t->missing[i].why);
    }
    for (size_t i = 0; i < t->n_details; i++) {
        add_text(&details, t->details[i].key);
        add_text(&details, t->details[i].value);
    }
    for (size_t i = 0; i < t->n_settings; i++) {
        add_text(&settings, t->settings[i].key);
        add_text(&settings, t->settings[i].value);
    }
    write_text_sum(out, "missing", &why);
    write_text_sum(out, "details", &details);
    write_text_sum(out, "settings", &settings);
    fprintf(out, "\n");
}

/* Two kernels or three, mostly of different classes; now and then what few ask for. */
static void draw_options(struct rng *r, const struct table_kind *k, struct tables_options *o)
{
    static const char *const names[] = {"64add", "128fma", "256fma", "256or", "512fma", "512or", "64mul"};
    size_t at = (size_t)rng_int(r, 0, 6);
    tables_options_default(o);
    o->brief = true;
    o->seed = rng_bits(r) % 1000;
    for (int n = rng_int(r, 2, 3); n > 0 && !k->excluded[CHOICE_KERNELS]; n--, at = (at + 2) % 7)
        o->kernels[o->n_kernels++] = kernel_named(names[at]);
    o->n_active = !k->excluded[CHOICE_CORES];
    o->active[0] = (unsigned)rng_int(r, 0, 3);
    o->siblings = !k->excluded[CHOICE_SIBLINGS] && rng_chance(r, 0.2);
    o->corunner_same = !k->excluded[CHOICE_CORUNNER_SAME] && rng_chance(r, 0.2);
    if (!k->excluded[CHOICE_OBSERVE] && rng_chance(r, 0.2))
        o->observe_us = rng_int(r, 1, 9) * 100;
    if (!k->excluded[CHOICE_PERIOD] && rng_chance(r, 0.2))
        o->period_us = rng_int(r, 1, 8);
    if (!k->excluded[CHOICE_WARMUP] && rng_chance(r, 0.2))
        o->warmup_us = rng_int(r, 1, 9) * 100;
}

/* Those that take long are measured of every so many processors. */
static bool is_due(const struct table_kind *k, unsigned processor)
{
    static const struct {
        const struct table_kind *kind;
        unsigned every;
    } rare[] = {
        {&table_relaxation, 2}, {&table_cores, 3}, {&table_throttle, 3}, {&table_burst, 5}, {&table_voltage, 5}};
    for (size_t i = 0; i < sizeof rare / sizeof *rare; i++)
        if (rare[i].kind == k)
            return processor % rare[i].every == 1;
    return true;
}

static void measure_once(FILE *out, const struct table_kind *k, struct rng *r)
{
    struct machine machine;
    struct machine_error err;
    struct tables_options o;
    struct table t;
    draw_options(r, k, &o);
    assert_int_equal(machine_open_parsed_model(&model, "model:test", &machine, &err), MACHINE_OK);
    if (tables_measure(k, &machine, &o, NULL, NULL, &t, &err) == MACHINE_OK)
        write_sums(out, &t);
    else
        fprintf(out, "%s\n", err.text);
    table_free(&t);
    machine.ops->close(&machine);
}

static bool rows_are_golden(const struct table_kind *k)
{
    void (*const draw[])(struct model * out, uint64_t seed) = {random_model, wild_model, world_model};
    struct text_sum name = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    add_text(&name, k->name);
    for (unsigned processor = 1; processor <= 9; processor++) {
        struct rng rng;
        if (!is_due(k, processor))
            continue;
        rng_init(&rng, processor, name.letters);
        draw[processor % 3](&model, processor);
        fprintf(out, "processor %u: ", processor);
        measure_once(out, k, &rng);
    }
    assert_int_equal(fclose(out), 0);
    bool same = golden_is("random", k->name, text, false);
    free(text);
    return same;
}

static void tables_of_random_processors_are_what_they_were(void **state)
{
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    bool same = true;
    (void)state;
    skip_where_sanitized("numbers are compared in the ordinary build");
    for (size_t i = 0; i < n; i++)
        same &= rows_are_golden(kinds[i]);
    if (!same)
        fail_msg("if the change is intended, run make golden");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_random_processors_are_what_they_were),
    };
    setenv("CHARACTERIZE_DATA", "data", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
