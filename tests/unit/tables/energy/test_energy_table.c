/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The energy table end to end, on models whose parameters are known: power from a model's figures is worked out here by
 * hand (rate, energy of an instruction, voltage squared), and machines that cannot do all of it.
 */
#include "tables/energy/energy.h"
#include "computer/msr/msr_decode.h"
#include "probes/energy.h"
#include "tables/registry.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

static struct tables_options brief(void)
{
    struct tables_options o;
    tables_options_default(&o);
    o.brief = true;
    return o;
}

static size_t find(const struct table *t, const char *kernel, unsigned cores, const char *mode)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (strcmp(table_text(t, i, "kernel"), kernel) == 0 && table_number(t, i, "active_cores") == cores &&
            strcmp(table_text(t, i, "mode"), mode) == 0)
            return i;
    fail_msg("no row of %s on %u cores, %s", kernel, cores, mode);
    return 0;
}

/* G 3.1: one core of a Xeon Gold 6130 at 3.5 GHz, above a PAUSE loop. */
TEST(gold_6130_at_a_fixed_frequency)
{
    static const struct {
        const char *kernel;
        double watts;
    } published[] = {{"128fma", 5.3}, {"256fma", 8.2}, {"512fma", 10.4}};
    struct tables_options o = brief();
    struct model m;
    struct table t;
    o.n_active = 1;
    o.active[0] = 1;
    o.seed = 1;
    rig_load("xeon-gold-6130", &m);
    rig_measure(&table_energy, &m, &o, &t);
    for (size_t i = 0; i < 3; i++) {
        size_t row = find(&t, published[i].kernel, 1, "fixed");
        assert_true(table_number(&t, row, "freq_ghz") == 3.5);
        double watts = table_number(&t, row, "watts");
        if (fabs(watts / published[i].watts - 1) > 0.01)
            fail_msg("%s: %.3f W, published %.1f W", published[i].kernel, watts, published[i].watts);
    }
    table_free(&t);
}

/* ---- against the parameters ---- */

/* Watts of one of so many active cores that run a payload of one kind of instruction, at this frequency. */
static double core_watts(const struct model *m, const char *kernel, double ghz, unsigned cores)
{
    struct payload p = rig_payload(kernel);
    struct model_need need;
    struct machine_error err;
    double volts = model_volts(m, ghz), nj = NAN;
    assert_int_equal(model_need(m, &p, &need, &err), MACHINE_OK);
    for (size_t i = 0; i < m->n_energies; i++)
        if (m->energies[i].width == p.kernel->width && m->energies[i].weight == p.kernel->weight)
            nj = m->energies[i].nj;
    for (size_t i = 0; i < m->n_boosts; i++)
        if (m->boosts[i].to == need.later && model_range_has(&m->boosts[i].cores, cores))
            volts += m->boosts[i].volts;
    return ghz * (m->cycle_nj + need.ipc * nj) * volts * volts;
}

static double level_ghz(const struct model *m, const char *kernel, unsigned cores)
{
    struct payload p = rig_payload(kernel);
    struct model_need need;
    struct machine_error err;
    assert_int_equal(model_need(m, &p, &need, &err), MACHINE_OK);
    return model_ghz(m, m->classes[need.later].level, cores);
}

static void compare(const struct table *t, size_t row, const char *column, double expected)
{
    double value = table_number(t, row, column);
    if (!(fabs(value - expected) <= 0.01 * fabs(expected)))
        fail_msg("%s %s %s: %.5f, expected %.5f", table_text(t, row, "kernel"), table_text(t, row, "mode"), column,
                 value, expected);
}

static void compare_row(const struct model *m, const struct table *t, size_t row)
{
    const char *kernel = table_text(t, row, "kernel");
    unsigned cores = (unsigned)table_number(t, row, "active_cores");
    bool fixed = strcmp(table_text(t, row, "mode"), "fixed") == 0;
    double bound = fixed ? level_ghz(m, "512fma", cores) : INFINITY;
    double ghz = fmin(bound, level_ghz(m, kernel, cores)), idle_ghz = fmin(bound, level_ghz(m, "pause", cores));
    double watts = cores * (core_watts(m, kernel, ghz, cores) - core_watts(m, "pause", idle_ghz, cores));
    struct payload p = rig_payload(kernel);
    struct model_need need;
    struct machine_error err;
    assert_int_equal(model_need(m, &p, &need, &err), MACHINE_OK);
    assert_true(fabs(table_number(t, row, "freq_ghz") - ghz) < 0.0011);
    assert_true(fabs(table_number(t, row, "idle_ghz") - idle_ghz) < 0.0011);
    assert_true(table_number(t, row, "counted_cores") == cores);
    compare(t, row, "watts", watts);
    compare(t, row, "nj_per_op", watts / (cores * ghz * need.ipc));
    compare(t, row, "nj_per_lane", watts / (cores * ghz * need.ipc) / (p.kernel->width / 64.0));
    compare(t, row, "idle_watts", m->idle_watts + cores * core_watts(m, "pause", idle_ghz, cores));
    compare(t, row, "package_watts", m->idle_watts + cores * core_watts(m, kernel, ghz, cores));
}

TEST(rows_are_the_parameters)
{
    struct rng r;
    rng_init(&r, 7, 0);
    for (int trial = 0; trial < 3; trial++) {
        struct tables_options o = brief();
        struct model m;
        struct table t;
        rig_load("xeon-gold-6130", &m);
        rig_silence(&m);
        m.idle_watts = rng_range(&r, 0, 100);
        m.cycle_nj = rng_range(&r, 0.1, 2);
        for (size_t i = 0; i < m.n_energies; i++)
            m.energies[i].nj = rng_range(&r, 0.5, 5); /* so that the difference is not that of two large numbers */
        o.n_active = 2;
        o.active[0] = 1;
        o.active[1] = trial == 0 ? 0 : (unsigned)rng_int(&r, 2, 16);
        o.seed = (uint64_t)trial;
        rig_measure(&table_energy, &m, &o, &t);
        assert_int_equal(t.n_rows, 7 * 2 * 2); /* kernels, numbers of cores, modes */
        for (size_t i = 0; i < t.n_rows; i++)
            compare_row(&m, &t, i);
        table_free(&t);
    }
}

/*
 * Where code raises the voltage, it does so on each core that runs it: a table that takes the cores to be alike is
 * right where the companions follow boosts, and low where one core alone is raised.
 */
TEST(boosts_are_on_all_cores)
{
    struct rng r;
    rng_init(&r, 11, 0);
    for (int trial = 0; trial < 6; trial++) {
        struct tables_options o = brief();
        struct model m;
        struct table t;
        struct payload p = rig_payload("256or");
        struct model_need need;
        struct machine_error err;
        rig_load("xeon-w-2104", &m); /* raised for 256 bits, with any number of cores */
        rig_silence(&m);
        assert_true(m.corunners_boosted && m.has_power && m.n_boosts == 1);
        double boost = m.boosts[0].volts = rng_range(&r, 0.012, 0.1), nj = NAN;
        unsigned cores = (unsigned)rng_int(&r, 2, 4);
        m.corunners_boosted = trial % 2 == 0;
        m.cycle_nj = rng_range(&r, 0.1, 1);
        for (size_t i = 0; i < m.n_energies; i++)
            if (m.energies[i].width == 256 && m.energies[i].weight == KERNEL_LIGHT)
                nj = m.energies[i].nj = rng_range(&r, 1, 3);
        o.n_active = 1;
        o.active[0] = cores;
        o.n_kernels = 1;
        o.kernels[0] = p;
        o.seed = (uint64_t)trial;
        rig_measure(&table_energy, &m, &o, &t);
        size_t row = find(&t, "256or", cores, "automatic");
        double ghz = level_ghz(&m, "256or", cores), plain = model_volts(&m, ghz), raised = plain + boost;
        double boosted = trial % 2 == 0 ? cores : 1; /* cores */
        assert_int_equal(model_need(&m, &p, &need, &err), MACHINE_OK);
        double watts = ghz * ((m.cycle_nj + need.ipc * nj) *
                              (boosted * raised * raised + (cores - boosted) * plain * plain)) -
                       cores * core_watts(&m, "pause", ghz, cores);
        compare(&t, row, "watts", watts);
        compare(&t, row, "nj_per_op", watts / (cores * ghz * need.ipc));
        table_free(&t);
    }
}

/* With all its noise: interrupts take time, not energy of instructions. */
TEST(noise_is_survived)
{
    struct tables_options o;
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    tables_options_default(&o);
    o.n_active = 1;
    o.active[0] = 0;
    o.n_kernels = 1;
    o.kernels[0] = rig_payload("512fma");
    rig_measure(&table_energy, &m, &o, &t);
    assert_int_equal(t.n_rows, 2);
    for (size_t i = 0; i < t.n_rows; i++) {
        compare_row(&m, &t, i);
        assert_true(table_number(&t, i, "n") + table_number(&t, i, "discarded") == 5);
        assert_true(table_number(&t, i, "watts_lo") < table_number(&t, i, "watts"));
        assert_true(table_number(&t, i, "watts_hi") > table_number(&t, i, "watts"));
    }
    table_free(&t);
}

TEST(disturbed_pairs_are_left_out)
{
    struct tables_options o = brief();
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    o.n_active = 1;
    o.active[0] = 1;
    o.n_kernels = 1;
    o.kernels[0] = rig_payload("256fma");
    m.interrupts[0] = (struct model_interrupt){"long", 100, 2000, 4000, 1, 1, 0};
    m.n_interrupts = 1;
    rig_measure(&table_energy, &m, &o, &t);
    assert_int_equal(t.n_rows, 0);
    assert_int_equal(t.n_missing, 2);
    assert_non_null(strstr(t.missing[0].why, "all 2 repetitions were disturbed"));
    assert_string_equal(table_missing_text(&t, 0, "kernel"), "256fma");
    assert_string_equal(table_missing_text(&t, 1, "mode"), "fixed");
    table_free(&t);
}

TEST(without_figures_nothing_is_said)
{
    struct tables_options o = brief();
    struct model m;
    struct table t;
    rig_load("generic-no-licence", &m);
    rig_measure(&table_energy, &m, &o, &t);
    assert_int_equal(t.n_rows, 0);
    assert_int_equal(t.n_missing, 1);
    assert_non_null(strstr(t.missing[0].why, "no section [power]"));
    table_free(&t);
    /* the energy of one kind of instruction is not known */
    rig_load("xeon-gold-6130", &m);
    rig_silence(&m);
    o.n_active = 1;
    o.active[0] = 2;
    for (size_t i = 0; i < m.n_energies; i++)
        if (m.energies[i].width == 256 && m.energies[i].weight == KERNEL_HEAVY)
            m.energies[i].width = 8192;
    rig_measure(&table_energy, &m, &o, &t);
    assert_int_equal(t.n_rows, 6 * 2);
    size_t missing = 0;
    for (size_t i = 0; i < t.n_missing; i++)
        missing += strstr(t.missing[i].why, "lacks the energy") != NULL;
    assert_int_equal(missing, 2);
    table_free(&t);
}

/* ---- machines that are not quite as they should be ---- */

enum fixing { FIXES, REFUSES, IGNORES };

static struct {
    struct machine model;
    struct machine_ops ops;
    enum fixing fixing;
    double longest_us;      /* of a repetition */
    double requested_us;    /* for the longest */
    double reading_seconds; /* a reading takes so long, at the power of PAUSE on the measured core */
    double extra_joules, extra_seconds, watts;
    unsigned other_package; /* so many cores are active there, too */
} odd;

static void odd_info(const struct machine *m, struct machine_info *out)
{
    (void)m;
    odd.model.ops->info(&odd.model, out);
    if (odd.other_package && out->active_cores) {
        out->energy_cores = out->active_cores;
        out->active_cores += odd.other_package;
    }
}

static int odd_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    struct machine_setup setup = *s;
    (void)m;
    if (s->fixed_ghz > 0 && odd.fixing == REFUSES)
        return machine_fail(err, MACHINE_CANNOT, "use --fixed-frequency", "cannot fix a frequency here");
    if (odd.fixing == IGNORES)
        setup.fixed_ghz = 0;
    return odd.model.ops->prepare(&odd.model, &setup, err);
}

static int odd_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    double us = 0;
    (void)m;
    for (size_t i = 0; i < r->n_segments; i++)
        us += r->segments[i].duration_us;
    odd.requested_us = fmax(odd.requested_us, us);
    if (us > odd.longest_us)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "a repetition of %g us is too long", us);
    return odd.model.ops->run(&odd.model, r, out, err);
}

static int odd_energy(struct machine *m, struct energy_reading *out, const char **source, struct machine_error *err)
{
    (void)m;
    int status = odd.model.ops->read_energy(&odd.model, out, source, err);
    odd.extra_seconds += odd.reading_seconds;
    odd.extra_joules += odd.reading_seconds * odd.watts;
    out->joules += odd.extra_joules;
    out->seconds += odd.extra_seconds;
    return status;
}

static void measure_odd(const struct model *m, struct tables_options *o, struct table *out)
{
    struct machine_error err;
    assert_int_equal(machine_open_parsed_model(m, "model:test", &odd.model, &err), MACHINE_OK);
    odd.ops = *odd.model.ops;
    odd.ops.prepare = odd_prepare;
    odd.ops.run = odd_run;
    odd.ops.info = odd_info;
    odd.ops.read_energy = odd_energy;
    struct machine machine = {.ops = &odd.ops, .state = odd.model.state};
    o->n_active = 1;
    o->active[0] = 1;
    rig_measure_on(&table_energy, &machine, o, out);
    odd.model.ops->close(&odd.model);
}

static void quiet_model(struct model *m)
{
    rig_load("xeon-gold-6130", m);
    rig_silence(m);
    memset(&odd, 0, sizeof odd);
    odd.longest_us = INFINITY;
}

TEST(frequency_that_cannot_be_fixed)
{
    for (enum fixing fixing = REFUSES; fixing <= IGNORES; fixing++) {
        struct tables_options o = brief();
        struct model m;
        struct table t;
        quiet_model(&m);
        odd.fixing = fixing;
        o.n_kernels = 1;
        o.kernels[0] = rig_payload("256fma");
        measure_odd(&m, &o, &t);
        assert_int_equal(t.n_rows, 1);
        assert_string_equal(table_text(&t, 0, "mode"), "automatic");
        compare_row(&m, &t, 0);
        assert_int_equal(t.n_missing, 1);
        assert_string_equal(table_missing_text(&t, 0, "mode"), "fixed");
        assert_non_null(strstr(t.missing[0].why, fixing == REFUSES ? "use --fixed-frequency" : "was not fixed"));
        table_free(&t);
    }
}

/* --fixed-frequency has fixed one: there is no automatic row, and a row only where it holds. */
TEST(frequency_that_is_fixed_already)
{
    struct tables_options o = brief();
    struct model m;
    struct table t;
    quiet_model(&m);
    for (size_t i = 0; i < m.n_turbo; i++)
        m.turbo[i].ghz[0] = m.turbo[i].ghz[1] = 2.0, m.turbo[i].ghz[2] = 1.9;
    o.fixed_ghz = 2.0;
    measure_odd(&m, &o, &t);
    assert_int_equal(t.n_rows, 6);
    for (size_t i = 0; i < t.n_rows; i++) {
        assert_string_equal(table_text(&t, i, "mode"), "fixed");
        assert_true(table_number(&t, i, "freq_ghz") == 2.0);
        compare(&t, i, "package_watts", m.idle_watts + core_watts(&m, table_text(&t, i, "kernel"), 2.0, 1));
    }
    bool reported = false;
    for (size_t i = 0; i < t.n_missing; i++)
        reported = reported || strstr(t.missing[i].why, "512fma ran at 1.900 GHz");
    assert_true(reported);
    table_free(&t);
}

/* In pieces each begins again, with the transitions of a core that was at rest: a percent or two. */
TEST(long_repetitions_are_cut)
{
    struct tables_options o = brief();
    struct model m;
    struct table t;
    quiet_model(&m);
    odd.longest_us = 10000;
    o.n_kernels = 1;
    o.kernels[0] = rig_payload("512fma");
    measure_odd(&m, &o, &t);
    assert_int_equal(t.n_rows, 2);
    double expected = core_watts(&m, "512fma", 3.5, 1) - core_watts(&m, "pause", 3.5, 1);
    assert_true(fabs(table_number(&t, find(&t, "512fma", 1, "fixed"), "watts") / expected - 1) < 0.03);
    table_free(&t);
}

/* As through liblikwid: meanwhile the measured core waits, and it runs for as long as many readings take. */
TEST(slow_readings_cost_nothing)
{
    struct tables_options o = brief();
    struct model m;
    struct table t;
    quiet_model(&m);
    odd.reading_seconds = 0.01;
    odd.watts = m.idle_watts + core_watts(&m, "pause", 3.7, 1);
    o.n_kernels = 1;
    o.kernels[0] = rig_payload("128fma");
    measure_odd(&m, &o, &t);
    compare_row(&m, &t, find(&t, "128fma", 1, "automatic"));
    assert_true(odd.requested_us >= ENERGY_READINGS * odd.reading_seconds * 1e6);
    assert_true(odd.requested_us <= 1.2 * ENERGY_READINGS * odd.reading_seconds * 1e6);
    table_free(&t);
}

/* The counter is of one package: what the cores of another one execute and take is no part of it. */
TEST(cores_of_another_package_are_not_counted)
{
    struct tables_options o = brief();
    struct model m;
    struct table t;
    struct payload p = rig_payload("512fma");
    struct model_need need;
    struct machine_error err;
    quiet_model(&m);
    odd.other_package = 1;
    o.n_kernels = 1;
    o.kernels[0] = p;
    measure_odd(&m, &o, &t);
    size_t row = find(&t, "512fma", 1, "fixed");
    assert_int_equal(model_need(&m, &p, &need, &err), MACHINE_OK);
    double watts = core_watts(&m, "512fma", 3.5, 1) - core_watts(&m, "pause", 3.5, 1);
    compare(&t, row, "nj_per_op", watts / (3.5 * need.ipc));
    assert_true(table_number(&t, row, "counted_cores") == 1);
    table_free(&t);
}

/* PAUSE requests no license: at the automatic frequency it runs faster than wide code. */
TEST(pause_at_another_frequency_is_reported)
{
    struct tables_options o = brief();
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    o.n_active = 1;
    o.active[0] = 16;
    o.n_kernels = 2;
    o.kernels[0] = rig_payload("128fma");
    o.kernels[1] = rig_payload("512fma");
    rig_measure(&table_energy, &m, &o, &t);
    char *text = rig_findings(&table_energy, &t);
    if (!strstr(text,
                "In 1 of 4 rows PAUSE ran at a different frequency from the kernel (512fma on 16 cores: 2.800 GHz "
                "against 1.900)") ||
        !strstr(text, "the rows at a fixed frequency are"))
        fail_msg("%s", text);
    free(text);
    table_free(&t);
    /* some cores outside the counter */
    quiet_model(&m);
    o.n_kernels = 1;
    measure_odd(&m, &o, &t);
    text = rig_findings(&table_energy, &t);
    assert_null(strstr(text, "PAUSE ran at another"));
    assert_null(strstr(text, "one package or die"));
    for (size_t c = 0; c < t.n_columns; c++)
        if (strcmp(t.columns[c].name, "counted_cores") == 0)
            t.values[c].number = 0.5;
    free(text);
    text = rig_findings(&table_energy, &t);
    assert_non_null(strstr(text, "one package or die"));
    free(text);
    table_free(&t);
}

/* The instructions of a core's second thread are not counted. */
TEST(siblings_are_refused)
{
    struct tables_options o = brief();
    struct model m;
    struct machine machine;
    struct machine_error err;
    struct energy_result seen;
    struct energy_setup s;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    o.siblings = true;
    rig_measure(&table_energy, &m, &o, &t);
    assert_int_equal(t.n_rows, 0);
    assert_int_equal(t.n_missing, 1);
    assert_non_null(strstr(t.missing[0].why, "--siblings"));
    table_free(&t);
    struct payload p = rig_payload("128fma");
    energy_defaults(&s, &p);
    s.machine.siblings = true;
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), MACHINE_OK);
    assert_int_equal(energy_run(&machine, &s, &seen, &err), MACHINE_BAD_INPUT);
    machine.ops->close(&machine);
}

TEST(what_was_used_is_reported)
{
    struct tables_options o = brief();
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    o.n_active = 1;
    o.active[0] = 1;
    o.n_kernels = 1;
    o.kernels[0] = rig_payload("128fma");
    o.period_us = 500;
    o.warmup_us = 3000;
    o.observe_us = 40000;
    rig_measure(&table_energy, &m, &o, &t);
    assert_string_equal(table_setting(&t, "period_us"), "500");
    assert_string_equal(table_setting(&t, "settle_us"), "3000");
    assert_string_equal(table_setting(&t, "duration_us"), "40000");
    assert_non_null(strstr(table_setting(&t, "companion"), "same"));
    table_free(&t);
}

TEST(cells_stand_alone)
{
    struct tables_options o = brief();
    struct model m;
    struct table all, one;
    rig_load("xeon-gold-6130", &m);
    o.n_active = 1;
    o.active[0] = 2;
    rig_measure(&table_energy, &m, &o, &all);
    o.n_kernels = 1;
    o.kernels[0] = rig_payload("512or");
    rig_measure(&table_energy, &m, &o, &one);
    assert_int_equal(one.n_rows, 2);
    for (size_t i = 0; i < one.n_rows; i++) {
        size_t row = find(&all, "512or", 2, table_text(&one, i, "mode"));
        for (size_t c = 0; c < one.n_columns; c++)
            if (one.columns[c].type != TABLE_TEXT)
                assert_true(table_number(&one, i, one.columns[c].name) == table_number(&all, row, one.columns[c].name));
    }
    table_free(&all);
    table_free(&one);
}

TEST(it_is_printed)
{
    struct tables_options o = brief();
    struct model m;
    struct table t;
    char *text;
    quiet_model(&m);
    o.n_active = 1;
    o.active[0] = 1;
    rig_measure(&table_energy, &m, &o, &t);
    text = rig_printed(&table_energy, &t);
    assert_non_null(strstr(text, "Power above a PAUSE loop, 1 core at 3.5 GHz: 128fma 5.3 ["));
    assert_non_null(strstr(text, "] W, 256fma 8.2 ["));
    assert_non_null(strstr(text, "] W, 512fma 10.4 ["));
    assert_non_null(strstr(text, "\n512fma      1  fixed      3.500  "));
    free(text);
    table_free(&t);
}

/* ---- what the machine and the arithmetic do by themselves ---- */

/* 611H in units of 606H is the energy, too. */
TEST(models_have_the_registers)
{
    struct model m;
    struct rig r;
    struct machine_error err;
    struct energy_reading e;
    double joules;
    uint64_t value;
    rig_load("xeon-gold-6130", &m);
    rig_silence(&m);
    rig_open(&r, &m, 16, 1000, 1);
    rig_switch(&r, "128fma", "512fma", 50000, 0);
    assert_int_equal(r.machine.ops->read_energy(&r.machine, &e, NULL, &err), MACHINE_OK);
    assert_true(fabs(e.seconds - 0.051) < 1.1e-3 && e.joules > 1); /* the last sample ends late */
    assert_int_equal(r.machine.ops->read_register(&r.machine, MSR_RAPL_UNIT, &value, &err), MACHINE_OK);
    assert_true(msr_energy_step(value, &joules));
    assert_int_equal(r.machine.ops->read_register(&r.machine, MSR_PACKAGE_ENERGY, &value, &err), MACHINE_OK);
    assert_true(fabs((double)value * joules - e.joules) <= joules);
    rig_close(&r);
}

TEST(cost_of_exact_cases)
{
    struct energy_stretch idle = {.joules = 20, .seconds = 1, .run_seconds = 1, .recorded_seconds = 1};
    struct energy_stretch code = {
        .joules = 30, .seconds = 1, .run_seconds = 1, .operations = 5e9, .recorded_seconds = 1};
    struct energy_cost c = energy_cost_of(&idle, &code, 1);
    assert_true(c.watts == 10 && c.idle_watts == 20 && c.package_watts == 30);
    assert_true(fabs(c.nj_per_op - 2) < 1e-12);
    c = energy_cost_of(&idle, &code, 4);
    assert_true(c.watts == 10 && fabs(c.nj_per_op - 0.5) < 1e-12);
    /* 1 of 2 s between the readings: 20 W of PAUSE in the other; the three other cores of four run on */
    code.seconds = 2;
    code.joules = 50;
    assert_true(fabs(energy_cost_of(&idle, &code, 1).watts - 10) < 1e-12);
    code.joules = 20 * 2 + 10 * 1 + 7.5 * 1;
    assert_true(fabs(energy_cost_of(&idle, &code, 4).watts - 10) < 1e-12);
    code.run_seconds = 0;
    assert_true(isnan(energy_cost_of(&idle, &code, 1).watts));
    struct energy_stretch lost = {.recorded_seconds = 1, .lost_seconds = 0.011};
    assert_true(energy_disturbed(&lost));
    lost.lost_seconds = 0.009;
    assert_false(energy_disturbed(&lost));
    assert_true(isnan(energy_ghz(&lost)));
}
