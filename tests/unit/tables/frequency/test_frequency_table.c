/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of frequencies on models: the published table from the measurement alone, every shipped model, models with
 * turbo tables drawn at random, and a machine whose frequency floats.
 */
#include "tables/frequency/frequency.h"
#include "tables/registry.h"
#include "tests/support/clock_models.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

enum { KERNELS = 8 }; /* of the Gold 6130, without --kernels */

/* Short, for tests under a sanitizer. */
static struct tables_options quick(unsigned runs)
{
    struct tables_options o;
    tables_options_default(&o);
    o.runs = runs;
    o.observe_us = 600;
    o.warmup_us = 3000;
    o.seed = 7;
    return o;
}

static const char *text(const struct table *t, size_t row, const char *column)
{
    const char *value = table_text(t, row, column);
    return value ? value : "";
}

/* ---- the published table ---- */

TEST(test_the_published_table)
{
    /* Gottschlag's dissertation, table 3.1, GHz; which code runs at which level: section 3.2.1 */
    static const double published[3][5] = {
        {3.7, 3.5, 3.4, 3.1, 2.8}, {3.6, 3.4, 3.1, 2.6, 2.4}, {3.5, 3.1, 2.4, 2.1, 1.9}};
    static const unsigned last[5] = {2, 4, 8, 12, 16};
    static const char *const groups[5] = {"1-2", "3-4", "5-8", "9-12", "13-16"};
    static const struct {
        const char *kernel;
        int level;
    } kernels[KERNELS] = {{"64add", 0},  {"128or", 0}, {"128fma", 0}, {"256or", 0},
                          {"256fma", 1}, {"512or", 1}, {"512fma", 2}, {"256fma@mem", 1}};
    struct model model;
    struct tables_options o;
    struct table t;
    rig_load("xeon-gold-6130", &model);
    tables_options_default(&o);
    rig_measure(&table_frequency, &model, &o, &t);
    assert_int_equal(t.n_rows, KERNELS * 16);
    for (size_t row = 0; row < t.n_rows; row++) {
        unsigned cores = (unsigned)table_number(&t, row, "active_cores");
        size_t group = 0, k = row % KERNELS;
        while (last[group] < cores)
            group++;
        double expected = published[kernels[k].level][group];
        assert_string_equal(text(&t, row, "kernel"), kernels[k].kernel);
        assert_int_equal(cores, row / KERNELS + 1);
        assert_true(fabs(table_number(&t, row, "freq_ghz") - expected) < 1e-3 * expected);
        assert_true(table_number(&t, row, "freq_ghz_hi") - table_number(&t, row, "freq_ghz_lo") < 2e-3);
        assert_int_equal((int)table_number(&t, row, "level"), kernels[k].level);
        /* 512-bit heavy code changes its frequency with every group, others as published */
        assert_string_equal(text(&t, row, "group"), groups[group]);
        assert_string_equal(text(&t, row, "level_source"), "counters");
        assert_true(fabs(table_number(&t, row, "turbo_limit_ghz") - published[0][group]) < 1e-9);
        assert_in_range((int)table_number(&t, row, "n"), 8, 10);
        assert_true(fabs(table_number(&t, row, "ratio") - expected / published[0][group]) < 1e-3);
    }
    assert_string_equal(table_setting(&t, "groups"), "1-2, 3-4, 5-8, 9-12, 13-16");
    assert_string_equal(table_setting(&t, "steps"), "steps");
    assert_int_equal(t.n_missing, 1); /* amx */
    table_free(&t);
}

/* ---- a model's own parameters ---- */

static unsigned true_level(const struct model *m, const char *kernel)
{
    struct payload p = rig_payload(kernel);
    struct model_need need;
    struct machine_error err;
    assert_int_equal(model_need(m, &p, &need, &err), MACHINE_OK);
    return m->classes[need.later].level;
}

/* ---- cells and options ---- */

/* Levels `first` and `second` below the one before, by chains of adds against a coarse clock; `sigma`: it floats. */
static void coarse(struct model *m, double step_ns, double first, double second, double sigma)
{
    rig_load_plain("xeon-gold-6130", m);
    m->no_counters = true;
    m->counts_licenses = m->counts_throttle = false;
    m->tsc_step_ns = step_ns;
    m->scenario.wander = (struct model_wander){.sigma = {sigma}, .us = {1e5}};
    for (size_t i = 0; i < m->n_turbo; i++) {
        m->turbo[i].ghz[1] = m->turbo[i].ghz[0] * (1 - first);
        m->turbo[i].ghz[2] = m->turbo[i].ghz[1] * (1 - second);
    }
}

/* Their limits are wide: more repetitions narrow them, and levels are reported, or not known where they do not
 * suffice. */
TEST(test_coarse_clocks_tell_levels)
{
    static const double steps[] = {0, 0.02, 0.03, 0.04}, sigmas[] = {0, 0.002, 0.006};
    size_t reported[3] = {0}, rows[3] = {0};
    for (unsigned i = 0; i < rng_rounds(12); i++) {
        static struct model m;
        struct tables_options o;
        struct table t;
        size_t floats = i % 3;
        double first = steps[i / 3 % 4], second = first > 0 ? steps[1 + i % 3] : 0;
        coarse(&m, i % 2 ? 10 : 25, first, second, sigmas[floats]);
        tables_options_default(&o);
        o.brief = true;
        o.seed = i;
        for (size_t k = 0; k < 4; k++)
            o.kernels[o.n_kernels++] = rig_payload((const char *const[]){"64add", "128or", "512or", "512fma"}[k]);
        rig_measure(&table_frequency, &m, &o, &t);
        for (size_t row = 0; row < t.n_rows; row++) {
            double level = table_number(&t, row, "level");
            rows[floats]++;
            reported[floats] += !isnan(level);
            if (!isnan(level) && level != (first > 0 ? true_level(&m, text(&t, row, "kernel")) : 0))
                fail_msg("table %u (%g, %g, floats by %g), %s: level %g", i, first, second, sigmas[floats],
                         text(&t, row, "kernel"), level);
        }
        table_free(&t);
    }
    print_message("levels reported: %zu of %zu, %zu of %zu and %zu of %zu where it floats by 0.2 and 0.6 %%\n",
                  reported[0], rows[0], reported[1], rows[1], reported[2], rows[2]);
    assert_true(reported[0] > rows[0] * 2 / 3);
}

TEST(test_a_cell_depends_on_nothing_else)
{
    struct model model;
    struct table all, one;
    struct tables_options o = quick(3);
    rig_load("xeon-gold-6130", &model);
    o.n_kernels = 2;
    o.kernels[0] = rig_payload("64add");
    o.kernels[1] = rig_payload("512fma");
    rig_measure(&table_frequency, &model, &o, &all);
    o.n_active = 1;
    o.active[0] = 9;
    rig_measure(&table_frequency, &model, &o, &one);
    assert_int_equal(one.n_rows, 2);
    for (size_t row = 0; row < all.n_rows; row++)
        if (table_number(&all, row, "active_cores") == 9)
            for (size_t i = 0; i < 2; i++)
                assert_true(strcmp(text(&all, row, "kernel"), text(&one, i, "kernel")) != 0 ||
                            table_number(&all, row, "freq_ghz") == table_number(&one, i, "freq_ghz"));
    table_free(&all);
    table_free(&one);
}

/* Where the others run what the measured core runs, each kernel has its own: the first one alone is the null. */
TEST(test_companions_of_the_same_kind)
{
    struct model model;
    struct table t;
    struct tables_options o = quick(3);
    rig_load("xeon-gold-6130", &model);
    o.corunner_same = true;
    o.n_active = 1;
    o.active[0] = 16;
    rig_measure(&table_frequency, &model, &o, &t);
    assert_int_equal(t.n_rows, KERNELS);
    for (size_t row = 0; row < t.n_rows; row++) {
        const unsigned level = true_level(&model, text(&t, row, "kernel"));
        assert_int_equal((int)table_number(&t, row, "level"), level);
        assert_true(fabs(table_number(&t, row, "freq_ghz") / model_mean_ghz(&model, level, 16) - 1) < 0.005);
    }
    table_free(&t);
}

TEST(test_options)
{
    struct model model;
    struct machine m;
    struct machine_error err;
    struct table t;
    struct tables_options o = quick(2);
    rig_load("xeon-gold-6130", &model);
    o.brief = true;
    o.cpu = 5;
    o.n_kernels = 3;
    o.kernels[0] = rig_payload("512fma");
    o.kernels[1] = rig_payload("amx");
    o.kernels[2] = rig_payload("512fma"); /* once is enough */
    rig_measure(&table_frequency, &model, &o, &t);
    assert_int_equal(t.n_rows, 5); /* 1, 2, 4, 8, 16 */
    assert_int_equal(t.n_missing, 1);
    assert_int_equal((int)table_number(&t, 4, "active_cores"), 16);
    assert_int_equal((int)table_number(&t, 4, "cpu"), 5);
    assert_int_equal((int)table_number(&t, 4, "n"), 2);
    assert_string_equal(text(&t, 1, "group"), "1-2");
    assert_string_equal(text(&t, 4, "group"), "16");
    table_free(&t);
    /* the CPUs that are named, the first of them measured; one twice is refused */
    o = quick(2);
    o.n_kernels = 1;
    o.kernels[0] = rig_payload("128fma");
    o.n_cpus = 3;
    o.cpus[0] = 11;
    o.cpus[1] = 2;
    o.cpus[2] = 7;
    rig_measure(&table_frequency, &model, &o, &t);
    assert_int_equal(t.n_rows, 3);
    assert_int_equal((int)table_number(&t, 0, "cpu"), 11);
    table_free(&t);
    o.cpus[2] = 2;
    assert_int_equal(machine_open_parsed_model(&model, "model:test", &m, &err), MACHINE_OK);
    assert_int_equal(tables_measure(&table_frequency, &m, &o, NULL, NULL, &t, &err), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "CPU 2 is listed twice");
    m.ops->close(&m);
}

/* ---- a machine with several kinds of cores, one whose frequency floats, one that is always disturbed ---- */

struct odd {
    struct machine inner;
    struct rng r;
    bool floats, disturbed;
    double slow_ghz; /* of CPUs below 8 */
    bool hybrid;     /* an Alder Lake, CPUs below 8 are E cores; 650H holds limits of 1.5 GHz for one to four of them */
    int cpu;         /* of the last prepare */
};

static void odd_info(const struct machine *m, struct machine_info *out)
{
    const struct odd *o = m->state;
    o->inner.ops->info(&o->inner, out);
    if (o->hybrid) {
        out->model = 0x97;
        out->cpu_number = o->cpu;
        out->core_class = o->cpu < 8 ? "E" : "P";
    }
}

static const char *odd_lacks(const struct machine *m, enum counter_id id, const char **remedy)
{
    const struct odd *o = m->state;
    return o->inner.ops->lacks(&o->inner, id, remedy);
}

static int odd_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    struct odd *o = m->state;
    struct machine_setup setup = *s;
    o->cpu = s->cpu < 0 ? 15 : s->cpu;
    if (o->floats)
        setup.fixed_ghz = rng_range(&o->r, 1.2, 1.9);
    else if (s->cpu < 8)
        setup.fixed_ghz = o->slow_ghz;
    return o->inner.ops->prepare(&o->inner, &setup, err);
}

static int odd_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    struct odd *o = m->state;
    int status = o->inner.ops->run(&o->inner, r, out, err);
    if (o->disturbed)
        out->migrated = true;
    return status;
}

static void odd_finish(struct machine *m)
{
    struct odd *o = m->state;
    o->inner.ops->finish(&o->inner);
}

static size_t odd_kinds(const struct machine *m, bool every, struct core_kind *out, size_t max)
{
    (void)every;
    const struct odd *o = m->state;
    assert_true(max >= 2);
    out[0] = (struct core_kind){15, "P"};
    out[1] = (struct core_kind){3, "E"};
    return o->floats || o->disturbed ? 0 : 2;
}

static int odd_register(struct machine *m, uint32_t reg, uint64_t *value, struct machine_error *err)
{
    (void)m;
    *value = reg == 0x1ad ? 0x1c1d1e1f : 0x0f0f0f0f;
    return reg == 0x1ad || reg == 0x650 ? MACHINE_OK : machine_fail(err, MACHINE_CANNOT, "", "no register %XH", reg);
}

static const struct machine_ops odd_ops = {.info = odd_info,
                                           .lacks = odd_lacks,
                                           .prepare = odd_prepare,
                                           .run = odd_run,
                                           .finish = odd_finish,
                                           .core_kinds = odd_kinds,
                                           .read_register = odd_register};

static void open_odd(struct odd *o, struct machine *m, bool counts)
{
    struct model model;
    struct machine_error err;
    memset(o, 0, sizeof *o);
    rng_init(&o->r, 6, 1);
    rig_load("xeon-gold-6130", &model);
    model.counts_licenses = model.counts_throttle = counts;
    assert_int_equal(machine_open_parsed_model(&model, "model:test", &o->inner, &err), MACHINE_OK);
    *m = (struct machine){.ops = &odd_ops, .state = o};
}

static char *printed(const struct table *t, void (*print)(FILE *, const struct table *))
{
    char *out = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&out, &size);
    assert_non_null(f);
    if (print)
        print(f, t);
    else
        tables_print(f, false, &table_frequency, t);
    assert_int_equal(fclose(f), 0);
    return out;
}

static void expect_narrow(const char *printed_text)
{
    for (const char *p = printed_text; *p; p += strcspn(p, "\n"), p += *p == '\n')
        assert_true(strcspn(p, "\n") <= 100);
}

TEST(test_what_floats_has_no_steps)
{
    struct odd o;
    struct machine m;
    struct table t;
    struct tables_options options = quick(2);
    open_odd(&o, &m, false);
    o.floats = true;
    options.n_active = 2;
    options.active[0] = 2;
    options.active[1] = 0; /* all */
    rig_measure_on(&table_frequency, &m, &options, &t);
    assert_int_equal(t.n_rows, 2 * KERNELS);
    for (size_t row = 0; row < t.n_rows; row++) {
        assert_string_equal(text(&t, row, "group"), "no steps");
        assert_int_equal((int)table_number(&t, row, "level"), 0); /* fixed below all levels */
        assert_string_equal(text(&t, row, "level_source"), "ratio");
    }
    assert_string_equal(table_setting(&t, "groups"), "no steps");
    assert_non_null(strstr(table_setting(&t, "steps"), "floats"));
    char *shown = printed(&t, NULL), *found = printed(&t, table_frequency.findings);
    assert_non_null(strstr(shown, "Levels by the ratio to 64add around them; the frequency floats"));
    assert_non_null(strstr(shown, "\nL0"));
    assert_null(strstr(shown, "\nL1"));
    assert_non_null(strstr(found, "no kernel lowers the frequency: all run at "));
    /* limits hold what the clock moves from one measurement to the next */
    double moves = atof(table_setting(&t, "frequency_moves_percent")) / 100;
    assert_true(moves > 0);
    for (size_t row = 0; row < t.n_rows; row++) {
        double ghz = table_number(&t, row, "freq_ghz");
        assert_true(table_number(&t, row, "freq_ghz_hi") >= ghz * (1 + 0.7 * moves));
        assert_true(table_number(&t, row, "freq_ghz_lo") <= ghz * (1 - 0.7 * moves));
    }
    assert_null(strstr(found, "less"));
    expect_narrow(shown);
    free(shown);
    free(found);
    table_free(&t);
    o.inner.ops->close(&o.inner);
}

/* A turbo clock that others on the processor move by percents between any two measurements, and no counters, as in a
 * Granite Rapids guest: no frequency tells a level, but what a kernel has of the first one's within milliseconds
 * does. */
TEST(test_levels_by_ratio_where_it_floats)
{
    static const char *const kernels[] = {"64add", "128fma", "512or", "512fma"};
    static const int levels[] = {0, 0, 1, 2};
    static const double ratios[] = {1, 1, 2.4 / 2.8, 1.9 / 2.8};
    unsigned right = 0, cases = rng_rounds(9);
    for (unsigned seed = 0; seed < cases; seed++) {
        struct model m;
        struct table t;
        struct tables_options options = quick(4);
        rig_load("xeon-gold-6130", &m);
        m.no_counters = true;
        m.counts_licenses = m.counts_throttle = false;
        m.tsc_step_ns = 1;
        m.scenario.gap_us = 1e5;
        m.scenario.wander = (struct model_wander){.sigma = {seed % 2 ? 0.02 : 0.06, 0}, .us = {1e6, 0}};
        options.seed = seed;
        options.brief = true;
        options.runs = 0;
        options.n_active = 1;
        options.active[0] = 16;
        options.n_kernels = 4;
        for (size_t k = 0; k < 4; k++)
            options.kernels[k] = rig_payload(kernels[k]);
        rig_measure(&table_frequency, &m, &options, &t);
        assert_string_equal(table_setting(&t, FREQUENCY_RATIO_TO), "64add");
        assert_non_null(strstr(table_setting(&t, "steps"), "floats"));
        bool reported = strstr(table_setting(&t, "steps"), "levels by the ratio to 64add") != NULL;
        for (size_t row = 0; row < t.n_rows; row++) {
            size_t k = 0;
            while (strcmp(kernels[k], text(&t, row, "kernel")) != 0)
                k++;
            assert_true(fabs(table_number(&t, row, "ratio") / ratios[k] - 1) < 0.004);
            assert_true(table_number(&t, row, "ratio_lo") <= ratios[k] * 1.0005 &&
                        table_number(&t, row, "ratio_hi") >= ratios[k] * 0.9995);
            assert_true(table_number(&t, row, "ratio_hi") - table_number(&t, row, "ratio_lo") < 0.01 * ratios[k]);
            assert_true(!reported || (int)table_number(&t, row, "level") == levels[k]);
            assert_string_equal(text(&t, row, "level_source"), reported ? "ratio" : "");
            assert_string_equal(text(&t, row, "group"), "no steps");
        }
        right += reported;
        if (reported) {
            char *shown = printed(&t, NULL), *found = printed(&t, table_frequency.findings);
            assert_non_null(strstr(shown, "Levels by the ratio to 64add"));
            assert_non_null(strstr(shown, "L2 by ratio:"));
            assert_non_null(strstr(found, "of the frequency of 64add: 512or at 0.85"));
            expect_narrow(shown);
            free(shown);
            free(found);
        }
        table_free(&t);
    }
    print_message("levels reported in %u of %u\n", right, cases);
    assert_int_equal(right, cases);
}

TEST(test_several_kinds_of_cores)
{
    struct odd o;
    struct machine m;
    struct table t;
    struct tables_options options = quick(2);
    open_odd(&o, &m, true);
    o.slow_ghz = 2.5;
    options.n_kernels = 2;
    options.kernels[0] = rig_payload("64add");
    options.kernels[1] = rig_payload("512fma");
    rig_measure_on(&table_frequency, &m, &options, &t);
    assert_int_equal(t.n_rows, 2 * 2 * 16);
    for (size_t row = 0; row < t.n_rows; row++) {
        bool slow = table_number(&t, row, "cpu") == 3;
        assert_string_equal(text(&t, row, "core"), slow ? "E" : "P");
        assert_true(!slow || table_number(&t, row, "freq_ghz") < 2.505);
    }
    assert_string_equal(table_setting(&t, "groups of CPU 15"), "1-2, 3-4, 5-8, 9-12, 13-16");
    assert_string_equal(table_setting(&t, "groups of CPU 3"), "1-4, 5-8, 9-12, 13-16"); /* by 512fma alone */
    char *shown = printed(&t, NULL), *found = printed(&t, table_frequency.findings);
    assert_non_null(strstr(shown, "CPU 3 (E)\n"));
    assert_non_null(strstr(found, "CPU 15 (P) 3.700 [3."));
    assert_non_null(strstr(found, "] GHz, CPU 3 (E) 2.500 [2."));
    free(shown);
    free(found);
    table_free(&t);
    o.inner.ops->close(&o.inner);
}

TEST(test_nothing_but_disturbance)
{
    struct odd o;
    struct machine m;
    struct table t;
    struct tables_options options = quick(2);
    open_odd(&o, &m, true);
    o.disturbed = true;
    options.n_active = 1;
    options.active[0] = 3;
    options.n_kernels = 1;
    options.kernels[0] = rig_payload("64add");
    rig_measure_on(&table_frequency, &m, &options, &t);
    assert_int_equal(t.n_rows, 0);
    assert_int_equal(t.n_missing, 1);
    assert_int_equal((int)table_missing_number(&t, 0, "active_cores"), 3);
    assert_non_null(strstr(t.missing[0].why, "in all of 2 rounds it was disturbed ("));
    char *found = printed(&t, table_frequency.findings);
    assert_string_equal(found, "");
    free(found);
    table_free(&t);
    o.inner.ops->close(&o.inner);
}

/* ---- for a person ---- */

TEST(test_print_as_published)
{
    struct model model;
    struct table t;
    struct tables_options o = quick(2);
    rig_load("xeon-gold-6130", &model);
    rig_measure(&table_frequency, &model, &o, &t);
    char *shown = printed(&t, NULL), *found = printed(&t, table_frequency.findings);
    assert_non_null(strstr(shown, "active cores      1-2    3-4    5-8   9-12  13-16\n"
                                  "L0, GHz         3.700  3.500  3.400  3.100  2.800\n"
                                  "L1, GHz         3.600  3.400  3.100  2.600  2.400\n"
                                  "L2, GHz         3.500  3.100  2.400  2.100  1.900\n"
                                  "rated, non-AVX    3.7    3.5    3.4    3.1    2.8\n"
                                  "L0 by license counters:  64add, 128or, 128fma, 256or\n"
                                  "L1 by license counters:  256fma, 512or, 256fma@mem\n"
                                  "L2 by license counters:  512fma\n"));
    assert_non_null(strstr(shown, "modelled"));
    assert_string_equal(
        found,
        "With 16 active cores, 512fma runs at 1.900 [1.900, 1.900] GHz, 64add at 2.800 [2.800, 2.800] GHz: 32 % less.\n"
        "Groups of active cores that share a frequency: 1-2, 3-4, 5-8, 9-12, 13-16.\n");
    expect_narrow(shown);
    free(shown);
    free(found);
    /* a kernel that differs from its level has a row of its own */
    for (size_t row = 0; row < t.n_rows; row++)
        if (strcmp(text(&t, row, "kernel"), "256or") == 0)
            table_set_number(&t, row, "freq_ghz", 3.0);
    shown = printed(&t, NULL);
    assert_non_null(strstr(shown, "\n256or           3.000  3.000  3.000  3.000  3.000\n"));
    assert_non_null(strstr(shown, "\nL0, GHz         3.700"));
    free(shown);
    table_free(&t);
}

/* 1ADH holds nothing of E cores, whether both kinds are measured or one is named. */
TEST(test_limits_of_hybrid_parts)
{
    for (int named = 0; named < 2; named++) {
        struct machine m;
        struct odd o;
        struct table t;
        struct tables_options options = quick(2);
        open_odd(&o, &m, false);
        o.hybrid = true;
        o.slow_ghz = 1.4;
        options.cpu = named ? 3 : -1;
        options.n_kernels = 1;
        options.kernels[0] = rig_payload("64add");
        options.n_active = 2;
        options.active[0] = 2;
        options.active[1] = 6;
        rig_measure_on(&table_frequency, &m, &options, &t);
        assert_string_equal(table_setting(&t, "turbo_limits_ghz"), "1-1: 3.1, 2-2: 3.0, 3-3: 2.9, 4-4: 2.8");
        assert_string_equal(table_setting(&t, "turbo_limits_ghz of E cores"), "1-1: 1.5, 2-2: 1.5, 3-3: 1.5, 4-4: 1.5");
        assert_int_equal(t.n_rows, named ? 2 : 4);
        for (size_t row = 0; row < t.n_rows; row++) {
            bool small = (int)table_number(&t, row, "cpu") == 3;
            double limit = table_number(&t, row, "turbo_limit_ghz");
            assert_string_equal(text(&t, row, "core"), small ? "E" : "P");
            if (table_number(&t, row, "active_cores") == 2)
                assert_float_equal(limit, small ? 1.5 : 3.0, 1e-9);
            else
                assert_true(isnan(limit)); /* not stated for six */
        }
        table_free(&t);
        o.inner.ops->close(&o.inner);
    }
}

/* What they leave would slow what is measured after them: the others were reported at their frequency, or to float. */
TEST(test_dirty_kernels_are_not_compared)
{
    struct model model;
    struct table t;
    struct tables_options o = quick(2);
    rig_load("xeon-gold-6130", &model);
    o.n_active = 1;
    o.active[0] = 16;
    o.kernels[o.n_kernels++] = rig_payload("512fma-dirty");
    o.kernels[o.n_kernels++] = rig_payload("64add");
    rig_measure(&table_frequency, &model, &o, &t);
    assert_int_equal(t.n_rows, 1);
    assert_true(fabs(table_number(&t, 0, "freq_ghz") - 2.8) < 0.005);
    assert_int_equal(t.n_missing, 1);
    assert_string_equal(table_missing_text(&t, 0, "kernel"), "512fma-dirty");
    table_free(&t);
}

/* ---- neighbors that come and go ---- */

/* The supposed cost of chains is off by 10 cycles or so. By chains of 40 adds the frequencies of such a machine were
 * off by up to 3 %; those of a repetition still are by a tenth of that. */
TEST(test_neighbours_slow_the_clock)
{
    struct model model;
    struct tables_options o = quick(5);
    struct table t;
    rig_load("xeon-gold-6130", &model);
    clock_model(&model, CLOCK_HALT, 0);
    model.chain_cost_sigma = 10;
    o.active[0] = 1;
    o.n_active = 1;
    rig_measure(&table_frequency, &model, &o, &t);
    assert_int_equal(t.n_rows, KERNELS);
    for (size_t row = 0; row < t.n_rows; row++) {
        double truth = strcmp(text(&t, row, "kernel"), "512fma") == 0 ? 2.4 : 2.8;
        double ghz = table_number(&t, row, "freq_ghz");
        if (!(fabs(ghz - truth) < 5e-3 * truth && table_number(&t, row, "freq_ghz_lo") < truth &&
              table_number(&t, row, "freq_ghz_hi") > truth))
            fail_msg("%s: %.4f GHz instead of %.1f", text(&t, row, "kernel"), ghz, truth);
    }
    table_free(&t);
}
