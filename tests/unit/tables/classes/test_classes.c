/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of classes: a model gives back which code lifts its class, and the density at which it does, to one
 * instruction; a machine without levels has one class, also where its clock floats.
 */
#include <ctype.h>

#include "tables/registry.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

static struct tables_options classes_options(uint64_t seed)
{
    struct tables_options o;
    tables_options_default(&o);
    o.seed = seed;
    return o;
}

/* The class of a kernel at a density; -1: it was not measured there. */
static int class_at(const struct table *t, const char *kernel, unsigned density)
{
    for (size_t row = 0; row < t->n_rows; row++)
        if (table_says(t, row, "kernel", kernel) && table_number(t, row, "density") == density)
            return (int)table_number(t, row, "class");
    return -1;
}

/* The sparsest density that is measured and of a class or a slower one. */
static unsigned sparsest(const struct table *t, const char *kernel, int class)
{
    unsigned most = 0;
    for (unsigned density = 1; density <= 256; density++)
        if (class_at(t, kernel, density) >= class)
            most = density;
    return most;
}

/* Rates at which dense code is demanding, set so that the change lies between two densities. */
static void ask_from_rate(struct model *m, const char *kernel, unsigned one_in)
{
    struct payload p = rig_payload(kernel);
    for (size_t i = 0; i < m->n_demands; i++) {
        struct model_demand *d = &m->demands[i];
        if (d->width == p.kernel->width && d->weight == p.kernel->weight && d->rate > 0)
            d->rate = 4 / (one_in + 0.5); /* of four instructions in a cycle */
    }
}

/* Every white space becomes one blank, wherever lines were broken. */
static void unbroken(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++)
        if (!isspace((unsigned char)*from) || (to > text && to[-1] != ' '))
            *to++ = isspace((unsigned char)*from) ? ' ' : *from;
    *to = '\0';
}

TEST(test_the_model_is_given_back)
{
    struct model m;
    struct table t;
    struct tables_options o = classes_options(1);
    rig_load("xeon-gold-6130", &m);
    rig_measure(&table_classes, &m, &o, &t);
    static const struct {
        const char *kernel;
        int dense;         /* class of dense code */
        unsigned sparsest; /* one in so many still is of that class */
        int sparse;        /* class at one in 256 */
    } cases[] = {{"128fma", 0, 256, 0}, {"256or", 0, 256, 0}, {"256fma", 1, 8, 0},    {"256fma@mem", 1, 8, 0},
                 {"512or", 1, 256, 1},  {"512fma", 2, 8, 1},  {"512fma@mem", 2, 8, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(class_at(&t, cases[i].kernel, 1), cases[i].dense);
        assert_int_equal(sparsest(&t, cases[i].kernel, cases[i].dense), cases[i].sparsest);
        assert_int_equal(class_at(&t, cases[i].kernel, 256), cases[i].sparse);
    }
    assert_int_equal(class_at(&t, "64add", 1), 0);
    for (size_t row = 0; row < t.n_rows; row++) { /* table 3.1: 2.8, 2.4 and 1.9 GHz with all cores */
        static const double ghz[] = {2.8, 2.4, 1.9};
        double class = table_number(&t, row, "class"), ratio = table_number(&t, row, "ratio");
        assert_true(fabs(ratio - ghz[(int)class] / ghz[0]) < 1e-3);
        assert_true(table_number(&t, row, "level") == class);
    }
    char *findings = rig_findings(&table_classes, &t);
    unbroken(findings);
    assert_non_null(strstr(findings, "Class 1, 0.857 of the frequency of 64add: 256fma at one in 1 to 8"));
    assert_non_null(strstr(findings, "512or at all densities, 512fma at one in 9 to 256"));
    free(findings);
    table_free(&t);
}

TEST(test_densities_are_bisected)
{
    static const unsigned one_in[] = {3, 5, 13, 100};
    for (size_t i = 0; i < sizeof one_in / sizeof *one_in; i++) {
        struct model m;
        struct table t;
        struct tables_options o = classes_options(2);
        rig_load("xeon-gold-6130", &m);
        ask_from_rate(&m, "256fma", one_in[i]);
        o.n_kernels = 1;
        o.kernels[0] = rig_payload("256fma");
        rig_measure(&table_classes, &m, &o, &t);
        assert_int_equal(sparsest(&t, "256fma", 1), one_in[i]);
        assert_int_equal(class_at(&t, "256fma", one_in[i] + 1), 0); /* the next is measured, too */
        assert_int_equal(class_at(&t, "64add", 1), 0);              /* the null always is */
        table_free(&t);
    }
}

/* A processor with five classes, as Granite Rapids has (intel/PerfSpect, issue 211: of its first bucket). */
static void load_five(struct model *m)
{
    static const double ghz[] = {3.8, 3.6, 3.5, 3.3, 2.9};
    rig_load("xeon-gold-6130", m);
    m->counts_licenses = false;
    m->n_levels = 5;
    for (size_t i = 0; i < m->n_turbo; i++)
        memcpy(m->turbo[i].ghz, ghz, sizeof ghz);
    for (unsigned i = 0; i < m->n_classes; i++)
        m->classes[i].level = i;
}

TEST(test_five_classes_are_told_apart)
{
    struct model m;
    struct table t;
    struct tables_options o = classes_options(4);
    static const struct {
        const char *kernel;
        int dense, sparse;
    } cases[] = {{"64add", 0, -1}, {"128fma", 0, 0}, {"256or", 1, 1},
                 {"256fma", 2, 1}, {"512or", 3, 3},  {"512fma", 4, 3}};
    load_five(&m);
    rig_measure(&table_classes, &m, &o, &t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(class_at(&t, cases[i].kernel, 1), cases[i].dense);
        assert_int_equal(class_at(&t, cases[i].kernel, 256), cases[i].sparse);
    }
    table_free(&t);
    rig_measure(&table_frequency, &m, &o, &t);
    for (size_t row = 0; row < t.n_rows; row++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            if (table_says(&t, row, "kernel", cases[i].kernel))
                assert_int_equal((int)table_number(&t, row, "level"), cases[i].dense);
    table_free(&t);
}

/* The thesis' map of an 8480+ (data/models/xeon-platinum-8480+.model), of which it found 4 of 13 combinations. */
TEST(test_the_map_of_an_8480_is_given_back)
{
    static const struct {
        unsigned cores;
        double ghz[4];
    } columns[] = {{30, {3.6, 3.5, 3.4, 3.0}}, {56, {3.0, 2.9, 2.5, 2.2}}};
    static const struct {
        const char *kernel;
        int class;
    } reaches[] = {{"256fma", 0},    {"256fma@mem", 1}, {"256fma@l3", 1}, {"512fma", 2},
                   {"512fma@l2", 2}, {"512fma@l3", 3},  {"amx", 3}};
    struct model m;
    rig_load("xeon-platinum-8480+", &m);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        struct table t;
        struct tables_options o = classes_options(5);
        o.brief = true;
        o.n_active = 1;
        o.active[0] = columns[c].cores;
        rig_measure(&table_classes, &m, &o, &t);
        for (size_t i = 0; i < sizeof reaches / sizeof *reaches; i++)
            assert_int_equal(class_at(&t, reaches[i].kernel, 1), reaches[i].class);
        for (size_t row = 0; row < t.n_rows; row++) {
            double class = table_number(&t, row, "class");
            double ratio = columns[c].ghz[(int)class] / columns[c].ghz[0];
            assert_true(fabs(table_number(&t, row, "ratio") - ratio) < 1e-3);
            assert_true(isnan(table_number(&t, row, "level"))); /* nothing counts it */
        }
        table_free(&t);
    }
}

/* The scalar code around them would be slowed by what they leave behind. */
TEST(test_dirty_kernels_are_not_compared)
{
    struct model m;
    struct table t;
    struct tables_options o = classes_options(6);
    rig_load("xeon-gold-6130", &m);
    o.n_kernels = 1;
    o.kernels[0] = rig_payload("512fma-dirty");
    rig_measure(&table_classes, &m, &o, &t);
    assert_int_equal(t.n_rows, 1); /* the null */
    assert_int_equal(t.n_missing, 1);
    assert_non_null(strstr(t.missing[0].why, "what it leaves dirty"));
    table_free(&t);
}

/* With one core active the slow class is only a little slower: 3.7, 3.7 and 3.5 GHz. */
TEST(test_active_cores_are_as_requested)
{
    struct model m;
    struct table t;
    struct tables_options o = classes_options(3);
    rig_load("xeon-gold-6130", &m);
    o.n_active = 1;
    o.active[0] = 1;
    o.brief = true;
    rig_measure(&table_classes, &m, &o, &t);
    assert_string_equal(table_setting(&t, "active_cores"), "1");
    double one = model_mean_ghz(&m, 2, 1) / model_mean_ghz(&m, 0, 1);
    for (size_t row = 0; row < t.n_rows; row++)
        if (table_says(&t, row, "kernel", "512fma") && table_number(&t, row, "density") == 1)
            assert_true(fabs(table_number(&t, row, "ratio") - one) < 1e-3);
    table_free(&t);
}

/* No code is slower there: the clock floats. A false class would be an outlier beyond the limits of both. */
TEST(test_one_class_where_there_are_no_levels)
{
    enum { TABLES = 60 };
    unsigned wrong = 0, rows = 0, tables = 0;
    for (unsigned seed = 0; seed < rng_rounds(TABLES); seed++) {
        struct model m;
        struct table t;
        struct tables_options o = classes_options(seed);
        rig_load(seed % 2 ? "cloud-guest" : "generic-no-licence", &m);
        o.brief = true;
        rig_measure(&table_classes, &m, &o, &t);
        for (size_t row = 0; row < t.n_rows; row++) {
            wrong += table_number(&t, row, "class") > 0;
            rows++;
        }
        if (seed == 0) {
            char *findings = rig_findings(&table_classes, &t);
            assert_non_null(strstr(findings, "No code here lifts the class: "));
            free(findings);
        }
        tables++;
        table_free(&t);
    }
    print_message("%u of %u rows of %u tables in a class that is not there\n", wrong, rows, tables);
    assert_true(rows > 10 * tables && 100 * wrong < rows);
}

static void add_row(struct table *t, const char *kernel, unsigned density, double ratio, double half)
{
    table_add_row(t);
    table_put_text(t, "kernel", kernel);
    table_put_number(t, "density", density);
    if (half >= 0)
        table_put_limits(t, "ratio", ratio, ratio - half, ratio + half);
    else
        table_put_number(t, "ratio", ratio);
}

TEST(test_classes_have_gaps_between_them)
{
    struct table t;
    table_init(&t, "classes", table_classes.columns, table_classes.n_columns);
    add_row(&t, "a", 1, 1.000, 0.001);
    add_row(&t, "b", 1, 0.997, 0.001); /* apart by the limits, but no more than frequencies must differ by */
    add_row(&t, "c", 1, 0.950, 0.050); /* its limits reach the former */
    add_row(&t, "d", 1, 0.800, 0.001);
    add_row(&t, "e", 1, 0.700, -1); /* without limits: in none */
    assert_int_equal(table_classes.conclude(&t), 0);
    static const double expected[] = {0, 0, 0, 1};
    for (size_t row = 0; row < 4; row++)
        assert_true(table_number(&t, row, "class") == expected[row]);
    assert_true(isnan(table_number(&t, 4, "class")));
    table_free(&t);
}

/* Classes need not fall with the density: what is of another one in between is not named. */
TEST(test_densities_between_are_not_named)
{
    static const double density[] = {1, 2, 4, 5, 8}, class[] = {2, 2, 1, 2, 0};
    struct table t;
    table_init(&t, "classes", table_classes.columns, table_classes.n_columns);
    for (size_t i = 0; i < sizeof class / sizeof *class; i++) {
        table_add_row(&t);
        table_put_text(&t, "kernel", "512fma");
        table_put_number(&t, "density", density[i]);
        table_put_number(&t, "ratio", 1 - class[i] / 30);
        table_put_number(&t, "class", class[i]);
    }
    char *findings = rig_findings(&table_classes, &t);
    has(findings, ": 512fma at one in 4.");
    has(findings, ": 512fma at one in 1 to 2, 512fma at one in 5.");
    free(findings);
    table_free(&t);
}
