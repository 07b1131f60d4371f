/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The energy experiment on a machine of a few lines, whose clock, counters and power are known: every figure of a
 * stretch worked out by hand, and which repetitions the machine is requested.
 */
#include "probes/energy.h"
#include "tests/support/test.h"

/* 1 GHz, so a tick is 1 ns; 8 instructions a tick and 3 cycles in 2 ticks, except while something else runs. */
enum { TICKS_US = 1000, READINGS_MAX = 14000, STRIDE = RECORDING_COUNTERS + 2 };

struct scripted {
    struct machine_ops ops;
    uint64_t tsc;
    double joules, idle_watts, kernel_watts;
    double reading_us;       /* that a reading of the energy takes */
    double longest_us;       /* longer repetitions are refused */
    const double *others_us; /* ... in which something else runs, sample for sample */
    size_t n_others;
    bool counts; /* cycles and reference cycles; else the chain */
    bool refuses_energy;
    int run_status;
    struct machine_setup setup;
    unsigned energy_cores, prepared, finished;
    double settled_us, sampled_us, longest_requested_us;
    size_t pieces;
    uint64_t repetition;
    bool energy_read; /* info reports its cores only then */
    uint64_t words[READINGS_MAX * STRIDE];
};

static void scripted_info(const struct machine *m, struct machine_info *out)
{
    const struct scripted *s = m->state;
    *out = (struct machine_info){
        .name = "scripted", .tsc_hz = 1e9, .active_cores = 3, .energy_cores = s->energy_read ? s->energy_cores : 0};
}

static const char *scripted_lacks(const struct machine *m, enum counter_id id, const char **remedy)
{
    const struct scripted *s = m->state;
    (void)remedy;
    bool counter = id == COUNTER_CYCLES || id == COUNTER_REF_CYCLES;
    bool chain = id == COUNTER_CHAIN_TICKS || id == COUNTER_CHAIN_CYCLES;
    return (s->counts ? counter : chain) ? NULL : "not here";
}

static int scripted_prepare(struct machine *m, const struct machine_setup *setup, struct machine_error *err)
{
    struct scripted *s = m->state;
    (void)err;
    s->setup = *setup;
    s->prepared++;
    assert_int_equal(setup->n_counters, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(setup->counters[i].event, 0);
    assert_int_equal(setup->counters[0].id, s->counts ? COUNTER_CYCLES : COUNTER_CHAIN_TICKS);
    assert_int_equal(setup->counters[1].id, s->counts ? COUNTER_REF_CYCLES : COUNTER_CHAIN_CYCLES);
    return MACHINE_OK;
}

static void scripted_finish(struct machine *m)
{
    ((struct scripted *)m->state)->finished++;
}

static void reading(struct scripted *s, struct recording *out, uint64_t worked)
{
    uint64_t *w = s->words + out->n * STRIDE;
    assert_true(out->n < READINGS_MAX);
    w[RECORDING_TSC] = s->tsc;
    w[RECORDING_INSTRUCTIONS] = 8 * worked;
    /* the chain is a hundredth of the time */
    w[RECORDING_COUNTERS] = s->counts ? worked * 3 / 2 : s->tsc / 100;
    w[RECORDING_COUNTERS + 1] = s->counts ? worked : s->tsc / 100 * 3 / 2 * CHAIN_CYCLE_UNIT;
    out->n++;
}

static int scripted_run(struct machine *m, const struct run_request *r, struct recording *out,
                        struct machine_error *err)
{
    struct scripted *s = m->state;
    const struct segment *segment = r->segments;
    uint64_t period = (uint64_t)(s->setup.period_us * TICKS_US), worked = 7;
    double watts = segment->payload.kernel == s->setup.corunner.kernel ? s->kernel_watts : NAN;
    assert_int_equal(r->n_segments, 1);
    if (s->run_status)
        return machine_fail(err, s->run_status, "", "scripted");
    if (segment->duration_us > s->longest_us)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "too long");
    if (strcmp(segment->payload.kernel->name, "pause") == 0)
        watts = s->idle_watts;
    s->repetition = r->repetition;
    s->longest_requested_us = fmax(s->longest_requested_us, segment->duration_us);
    *(segment->sampled ? &s->sampled_us : &s->settled_us) += segment->duration_us;
    s->joules += watts * segment->duration_us * 1e-6;
    *out = (struct recording){.stride = STRIDE, .words = s->words};
    if (!segment->sampled) {
        s->tsc += (uint64_t)(segment->duration_us * TICKS_US);
        return MACHINE_OK;
    }
    s->pieces++;
    reading(s, out, worked);
    for (size_t i = 0; i < (size_t)(segment->duration_us / s->setup.period_us); i++) {
        s->tsc += period + (i < s->n_others ? (uint64_t)(s->others_us[i] * TICKS_US) : 0);
        worked += period;
        reading(s, out, worked);
    }
    return MACHINE_OK;
}

static int scripted_energy(struct machine *m, struct energy_reading *out, const char **source,
                           struct machine_error *err)
{
    struct scripted *s = m->state;
    if (s->refuses_energy)
        return machine_fail(err, MACHINE_CANNOT, "", "no counter");
    s->tsc += (uint64_t)(s->reading_us * TICKS_US);
    s->energy_read = true;
    *out = (struct energy_reading){s->joules, (double)s->tsc * 1e-9};
    if (source)
        *source = "scripted counter";
    return MACHINE_OK;
}

static int scripted_start(void **state)
{
    struct scripted *s = test_calloc(1, sizeof *s);
    s->ops = (struct machine_ops){.info = scripted_info,
                                  .lacks = scripted_lacks,
                                  .prepare = scripted_prepare,
                                  .run = scripted_run,
                                  .finish = scripted_finish,
                                  .read_energy = scripted_energy};
    s->idle_watts = 10;
    s->kernel_watts = 25;
    s->reading_us = 40;
    s->longest_us = 1e9;
    s->counts = true;
    *state = s;
    return 0;
}

static int scripted_end(void **state)
{
    test_free(*state);
    return 0;
}

/* A pair of repetitions of 2 ms, 8 samples each, after 12 ms. */
static struct energy_setup short_pair(void)
{
    struct energy_setup e;
    struct payload kernel;
    char why[200];
    assert_int_equal(kernel_parse("256add", &kernel, why, sizeof why), 0);
    energy_defaults(&e, &kernel);
    e.runs = 1;
    e.settle_us = 12000;
    e.duration_us = 2000;
    return e;
}

static void run_it(struct scripted *s, const struct energy_setup *e, struct energy_result *out)
{
    struct machine m = {.ops = &s->ops, .state = s};
    struct machine_error err;
    assert_int_equal(energy_run(&m, e, out, &err), MACHINE_OK);
    assert_int_equal(s->prepared, 2 * out->n);
    assert_int_equal(s->finished, s->prepared);
}

static void is(double value, double expected, const char *what)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected) + 1e-15))
        fail_msg("%s: %.15g instead of %.15g", what, value, expected);
}

static double operations_in(const struct payload *p, double us)
{
    return 8 * us * TICKS_US * p->counted / p->instructions;
}

TEST(the_defaults)
{
    struct energy_setup e, all;
    e = short_pair();
    energy_defaults(&all, &e.kernel);
    assert_string_equal(all.kernel.kernel->name, "256add");
    assert_string_equal(all.idle.kernel->name, "pause");
    assert_int_equal(all.machine.cpu, -1);
    assert_int_equal(all.runs, 5);
    assert_true(all.settle_us == 20000 && all.duration_us == 100000 && all.period_us == 250 && all.reading_us == 0);
    assert_null(all.progress);
}

TEST_WITH(figures_without_disturbance, scripted_start, scripted_end)
{
    struct scripted *s = *state;
    struct energy_setup e = short_pair();
    struct energy_result r;
    e.duration_us = 8000;
    run_it(s, &e, &r);
    assert_int_equal(r.n, 1);
    assert_string_equal(r.source, "scripted counter");
    assert_int_equal(r.active_cores, 3);
    assert_int_equal(r.counted_cores, 3);
    is(s->settled_us, 24000, "settled");
    is(s->sampled_us, 16000, "sampled");
    assert_int_equal(s->pieces, 2);
    assert_string_equal(s->setup.corunner.kernel->name, "256add");
    assert_true(s->setup.period_us == 250);
    assert_true(s->setup.max_samples >= 2e6 / 250);
    for (int kernel = 0; kernel < 2; kernel++) {
        const struct energy_stretch *t = kernel ? &r.pairs[0].kernel : &r.pairs[0].idle;
        is(t->joules, (kernel ? 25 : 10) * 8e-3, "joules");
        is(t->seconds, 8e-3 + 40e-6, "seconds");
        is(t->run_seconds, 8e-3, "run_seconds");
        is(t->recorded_seconds, 8e-3, "recorded_seconds");
        is(t->operations, operations_in(kernel ? &e.kernel : &e.idle, 8000), "operations");
        is(t->cycles, 1.5 * 8000 * TICKS_US, "cycles");
        is(t->cycle_seconds, 8e-3, "cycle_seconds");
        is(t->lost_seconds, 0, "lost_seconds");
        is(t->other_seconds, 0, "other_seconds");
        is(t->start_seconds, 0, "start_seconds");
    }
    energy_result_free(&r);
    assert_null(r.pairs);
    assert_int_equal(r.n, 0);
}

/* 300 us among the samples of the first millisecond, then what is long and what is as short as an interrupt. */
TEST_WITH(figures_of_what_is_disturbed, scripted_start, scripted_end)
{
    static const double others_us[] = {0, 300, 0, 0, 400, 0, 240, 0};
    struct scripted *s = *state;
    struct energy_setup e = short_pair();
    struct energy_result r;
    s->others_us = others_us;
    s->n_others = 8;
    s->energy_cores = 2;
    e.reading_us = 2;
    run_it(s, &e, &r);
    const struct energy_stretch *t = &r.pairs[0].kernel;
    assert_int_equal(r.active_cores, 3);
    assert_int_equal(r.counted_cores, 2);
    is(t->run_seconds, 2e-3 + 940e-6, "run_seconds"); /* the work is done to its end */
    is(t->seconds, 2e-3 + 940e-6 + 40e-6, "seconds");
    is(t->recorded_seconds, 2940e-6, "recorded_seconds");
    is(t->operations, operations_in(&e.kernel, 2000), "operations");
    is(t->cycles, 1.5 * 2000 * TICKS_US, "cycles");
    is(t->cycle_seconds, 2e-3, "cycle_seconds"); /* as the reference cycles say, which stop as well */
    is(t->lost_seconds, 700e-6, "lost_seconds");
    is(t->other_seconds, 940e-6 + 8 * 2e-6, "other_seconds");
    is(t->start_seconds, 300e-6, "start_seconds"); /* 250, 550 and 250 us: the millisecond is over */
    energy_result_free(&r);
}

TEST_WITH(figures_without_counters, scripted_start, scripted_end)
{
    static const double others_us[] = {100};
    struct scripted *s = *state;
    struct energy_setup e = short_pair();
    struct energy_result r;
    s->counts = false;
    s->others_us = others_us;
    s->n_others = 1;
    e.reading_us = 2; /* the chain tells itself */
    run_it(s, &e, &r);
    const struct energy_stretch *t = &r.pairs[0].kernel;
    is(t->cycles, 2100 * TICKS_US / 100 * 1.5, "cycles");
    is(t->cycle_seconds, 21e-6, "cycle_seconds");
    is(t->other_seconds, 100e-6 + 21e-6, "other_seconds");
    is(t->start_seconds, 100e-6, "start_seconds");
    is(t->lost_seconds, 0, "lost_seconds");
    energy_result_free(&r);
}

/* Code that runs for at most 10 ms is requested 5 ms at a time, and each piece adds its part. */
TEST_WITH(pieces_where_it_is_refused, scripted_start, scripted_end)
{
    static const double others_us[] = {300};
    struct scripted *s = *state;
    struct energy_setup e = short_pair();
    struct energy_result r;
    s->longest_us = 10000;
    s->others_us = others_us;
    s->n_others = 1;
    e.duration_us = 17500;
    run_it(s, &e, &r);
    const struct energy_stretch *t = &r.pairs[0].kernel;
    assert_int_equal(s->pieces, 2 * 4);
    is(s->longest_requested_us, 5000, "longest requested");
    is(s->sampled_us, 2 * 17500, "sampled");
    is(t->run_seconds, 17.5e-3 + 4 * 300e-6, "run_seconds");
    is(t->joules, 25 * 17.5e-3, "joules");
    is(t->recorded_seconds, 17.5e-3 + 4 * 300e-6, "recorded_seconds");
    is(t->lost_seconds, 4 * 300e-6, "lost_seconds");
    is(t->operations, operations_in(&e.kernel, 17500), "operations");
    energy_result_free(&r);
}

/* The last piece is too short for a sample. */
TEST_WITH(what_is_left_over_runs_as_well, scripted_start, scripted_end)
{
    struct scripted *s = *state;
    struct energy_setup e = short_pair();
    struct energy_result r;
    s->longest_us = 10000;
    e.duration_us = 10000.5;
    run_it(s, &e, &r);
    assert_int_equal(s->pieces, 2 * 3);
    is(r.pairs[0].kernel.run_seconds, 10000.5e-6, "run_seconds");
    is(r.pairs[0].kernel.recorded_seconds, 10e-3, "recorded_seconds");
    energy_result_free(&r);
}

TEST_WITH(what_comes_after_the_first_millisecond_is_not_its_start, scripted_start, scripted_end)
{
    static const double others_us[] = {0, 0, 0, 0, 100};
    struct scripted *s = *state;
    struct energy_setup e = short_pair();
    struct energy_result r;
    s->others_us = others_us;
    s->n_others = 5;
    run_it(s, &e, &r);
    is(r.pairs[0].kernel.other_seconds, 100e-6, "other_seconds");
    is(r.pairs[0].kernel.start_seconds, 0, "start_seconds");
    energy_result_free(&r);
}

TEST_WITH(the_length_follows_the_counter, scripted_start, scripted_end)
{
    static const struct {
        double reading_us, duration_us, run_us;
    } cases[] = {
        {100, 2000, 5000}, {10, 2000, 2000}, {10000, 2000, 500000}, {50000, 2000, 2000000}, {50000, 2250000, 2250000}};
    struct scripted *s = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct energy_setup e = short_pair();
        struct energy_result r;
        s->prepared = s->finished = 0;
        s->reading_us = cases[i].reading_us;
        e.duration_us = cases[i].duration_us;
        run_it(s, &e, &r);
        is(r.pairs[0].idle.run_seconds, cases[i].run_us * 1e-6, "run_seconds");
        assert_true(s->setup.max_samples >= cases[i].run_us / 250);
        energy_result_free(&r);
    }
}

static int stop_at_two(void *data, unsigned done, unsigned all)
{
    assert_int_equal(all, 4);
    assert_int_equal(done, ++*(size_t *)data);
    return done == 2;
}

TEST_WITH(one_can_stop_it, scripted_start, scripted_end)
{
    struct scripted *s = *state;
    struct energy_setup e = short_pair();
    struct energy_result r;
    size_t seen = 0;
    e.runs = 4;
    run_it(s, &e, &r);
    assert_int_equal(r.n, 4);
    assert_int_equal(s->repetition, 3);
    energy_result_free(&r);
    s->prepared = s->finished = 0;
    e.progress = stop_at_two;
    e.data = &seen;
    run_it(s, &e, &r);
    assert_int_equal(r.n, 2);
    assert_int_equal(seen, 2);
    energy_result_free(&r);
}

static void refused(struct scripted *s, const struct energy_setup *e, int status, const char *text)
{
    struct machine m = {.ops = &s->ops, .state = s};
    struct machine_error err;
    struct energy_result r;
    assert_int_equal(energy_run(&m, e, &r, &err), status);
    if (!strstr(err.text, text))
        fail_msg("'%s' is not in '%s'", text, err.text);
    assert_null(r.pairs);
    assert_int_equal(r.n, 0);
    assert_int_equal(s->prepared, s->finished);
}

TEST_WITH(what_cannot_be_measured, scripted_start, scripted_end)
{
    struct scripted *s = *state;
    struct machine m = {.ops = &s->ops, .state = s};
    struct machine_error err;
    struct energy_setup e = short_pair();
    struct energy_result r;
    assert_int_equal(energy_can(&m, &err), MACHINE_OK);
    e.machine.siblings = true;
    refused(s, &e, MACHINE_BAD_INPUT, "SMT siblings");
    e.machine.siblings = false;
    e.duration_us = 249;
    refused(s, &e, MACHINE_CANNOT, "249 us are observed with a sampling period of 250 us");
    assert_int_equal(s->prepared, 0);
    e.duration_us = 250;
    s->reading_us = 1;
    run_it(s, &e, &r);
    is(r.pairs[0].kernel.recorded_seconds, 250e-6, "recorded_seconds");
    energy_result_free(&r);
    s->run_status = MACHINE_FAILED;
    refused(s, &e, MACHINE_FAILED, "scripted");
    s->run_status = MACHINE_OK;
    s->longest_us = 4000; /* not even pieces */
    refused(s, &e, MACHINE_BAD_INPUT, "too long");
    e.settle_us = 0;
    e.duration_us = 6000;
    refused(s, &e, MACHINE_BAD_INPUT, "too long");
    s->longest_us = 1e9;
    s->refuses_energy = true;
    refused(s, &e, MACHINE_CANNOT, "no counter");
    assert_int_equal(energy_can(&m, &err), MACHINE_CANNOT);
    s->ops.read_energy = NULL;
    refused(s, &e, MACHINE_CANNOT, "machine scripted cannot read energy");
}
