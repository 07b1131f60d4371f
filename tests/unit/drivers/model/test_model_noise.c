/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each source of noise of the modelled CPU, one at a time: it is as large as its parameter says. */
#include "drivers/model/model_core.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

enum { MANY = 1000 };

struct moments {
    double n, sum, squares;
};

static void add(struct moments *m, double x)
{
    m->n++;
    m->sum += x;
    m->squares += x * x;
}

static double mean(const struct moments *m)
{
    return m->sum / m->n;
}

static double deviation(const struct moments *m)
{
    return sqrt(fmax(0, m->squares / m->n - mean(m) * mean(m)));
}

/* Five standard errors of a standard deviation, and 3 % because the numbers are cut at three of them. */
static void assert_deviation(const struct moments *m, double expected, const char *what)
{
    double slack = expected * (5 / sqrt(2 * m->n) + 0.03);
    if (!(fabs(deviation(m) - expected) <= slack))
        fail_msg("%s: standard deviation %.5g, expected %.5g +- %.2g", what, deviation(m), expected, slack);
}

static struct model quiet(void)
{
    struct model m;
    rig_load("xeon-gold-6130", &m);
    rig_silence(&m);
    return m;
}

TEST(clock_jitter)
{
    struct model m = quiet();
    struct moments seen = {0};
    struct rig r;
    m.clock_jitter_ns = 40;
    rig_open(&r, &m, 16, 1, 1);
    struct recording rec = rig_switch(&r, "128fma", "128fma", MANY, 0);
    /* nothing halts: reference cycles and ticks differ by the jitter alone */
    for (size_t i = 0; i < rec.n; i++) {
        const uint64_t *w = rec.words + i * rec.stride;
        add(&seen, ((double)w[RIG_TSC] - (double)rec.words[RIG_TSC] - (double)w[RIG_REF]) / 2.1);
    }
    assert_deviation(&seen, 40, "jitter, ns");
    rig_close(&r);
}

TEST(counter_noise)
{
    struct model m = quiet();
    struct moments seen = {0};
    struct rig r;
    m.noise_cycles = 20;
    rig_open(&r, &m, 16, 1, 1);
    struct recording rec = rig_switch(&r, "128fma", "128fma", MANY, 0);
    for (size_t i = 0; i < rec.n; i++) {
        const uint64_t *w = rec.words + i * rec.stride;
        double since = ((double)w[RIG_TSC] - (double)rec.words[RIG_TSC]) / 2.1e3;
        add(&seen, (double)w[RIG_CYCLES] - since * 2.8e3);
    }
    assert_deviation(&seen, 20, "noise, cycles");
    rig_close(&r);
}

TEST(frequency_noise)
{
    struct model m = quiet();
    struct moments seen = {0};
    struct rig r;
    m.frequency_noise = 0.01;
    m.spread_period_us = 320; /* steps of 10 us, drawn one by one */
    rig_open(&r, &m, 16, 10, 1);
    struct recording rec = rig_switch(&r, "128fma", "128fma", 20 * MANY, 0);
    for (size_t i = 1; i < rec.n; i++) {
        struct rig_sample s = rig_sample(&r, &rec, i);
        add(&seen, s.ghz / 2.8 - 1);
    }
    assert_true(fabs(mean(&seen)) < 0.001);
    /* a sample holds parts of two steps: between 1/sqrt(2) of the noise and all of it */
    assert_true(deviation(&seen) > 0.0065 && deviation(&seen) < 0.0105);
    rig_close(&r);
}

TEST(reading_takes_time_from_the_payload)
{
    struct model m = quiet();
    struct rig r;
    m.split_read_ns = 200; /* cycles of the TSC, at 2.1 GHz: 150 ns at 2.8 */
    rig_open(&r, &m, 16, 1, 1);
    struct recording rec = rig_switch(&r, "128fma", "512fma", 100, 0);
    const uint64_t *first = rec.words, *zero = rec.words + rec.zero_reading * rec.stride;
    double us = (double)(zero[RIG_TSC] - first[RIG_TSC]) / 2.1e3, readings = (double)rec.zero_reading;
    double work = (double)(zero[RIG_PAYLOAD] - first[RIG_PAYLOAD]);
    assert_true(fabs(work / (2 * 2.8e3) - (us - 0.15 * readings)) < 0.01);
    assert_true(fabs((double)(zero[RIG_CYCLES] - first[RIG_CYCLES]) / 2.8e3 - us) < 0.01);
    rig_close(&r);
}

/* From the clock to the counters a halt may pass: then the clock is 10 us older than the counters. */
TEST(a_halt_can_fall_into_a_reading)
{
    struct model m = quiet();
    struct rig r;
    m.split_read_ns = 200;
    m.throttle_sigma_us = 1;
    rig_open(&r, &m, 16, 1, 1);
    unsigned torn = 0;
    enum { RUNS = 200 };
    for (uint64_t i = 0; i < RUNS; i++) {
        struct recording rec = rig_switch(&r, "128fma", "512or", 60, i);
        for (size_t k = rec.zero_reading + 1; k < rec.n; k++) {
            const uint64_t *w = rec.words + k * rec.stride;
            /* level-1 cycles, although by the clock the halt has not begun: 10 us pass to the next reading */
            if (w[RIG_LVL1] > 0 && k + 1 < rec.n && w[RIG_TSC + rec.stride] - w[RIG_TSC] > 9 * 2100)
                torn++;
            if (w[RIG_LVL1] > 0)
                break;
        }
    }
    /* a fifth to two fifths of the time is spent reading */
    assert_in_range(torn, RUNS / 8, RUNS / 2);
    rig_close(&r);
}

/* Ticks that the first halt took, and cycles throttled before it. */
static void first_halt(const struct recording *rec, double *halt_us, double *throttle_us)
{
    const uint64_t *zero = rec->words + rec->zero_reading * rec->stride;
    for (size_t i = rec->zero_reading + 1; i < rec->n; i++) {
        const uint64_t *now = rec->words + i * rec->stride, *before = now - rec->stride;
        double lost = (double)(now[RIG_TSC] - before[RIG_TSC]) - (double)(now[RIG_REF] - before[RIG_REF]);
        if (lost < 2100)
            continue;
        *halt_us = lost / 2.1e3;
        *throttle_us = (double)(now[RIG_LVL0] - zero[RIG_LVL0]) / 2.8e3;
        return;
    }
    fail_msg("no halt");
}

TEST(durations_scatter)
{
    struct model m = quiet();
    struct moments halts = {0}, throttles = {0};
    struct rig r;
    m.halt_sigma_us = 0.7;
    m.throttle_sigma_us = 1.5;
    rig_open(&r, &m, 16, 1, 1);
    for (uint64_t i = 0; i < MANY; i++) {
        double halt = 0, throttle = 0;
        struct recording rec = rig_switch(&r, "128fma", "512or", 60, i);
        first_halt(&rec, &halt, &throttle);
        add(&halts, halt);
        add(&throttles, throttle);
    }
    assert_true(fabs(mean(&halts) - 10) < 0.15);
    assert_true(fabs(mean(&throttles) - 21.9) < 0.3);
    assert_deviation(&halts, 0.7, "halts, us");
    assert_deviation(&throttles, 1.5, "throttling, us");
    rig_close(&r);
}

TEST(counts_scatter)
{
    struct model m = quiet();
    struct moments seen = {0};
    struct rig r;
    for (size_t i = 0; i < m.n_demands; i++)
        if (m.demands[i].count > 1) {
            m.demands[i].count = 300000;
            m.demands[i].count_sigma = 0.2;
        }
    rig_open(&r, &m, 16, 1, 1);
    for (uint64_t i = 0; i < MANY; i++) {
        double halt = 0, throttle = 0;
        struct recording rec = rig_switch(&r, "128fma", "256fma", 200, i);
        first_halt(&rec, &halt, &throttle);
        add(&seen, throttle); /* all cycles at level 0 before the halt, in us */
    }
    /* 2 * 2.8 GHz = 5600 FMAs a microsecond */
    assert_deviation(&seen, 0.2 * 300000 / 5600, "count, us");
    rig_close(&r);
}

/* The voltage rises before the frequency does and falls after it: in a halt it is the higher of the two. */
TEST(voltage_during_a_halt)
{
    struct model m = quiet();
    struct model_core c;
    struct machine_error err;
    struct payload narrow = rig_payload("128fma"), wide = rig_payload("512or");
    model_core_start(&c, &m, 16, 1, 0);
    assert_int_equal(model_core_run(&c, &wide, &err), MACHINE_OK);
    model_core_advance(&c, 25, INFINITY); /* throttled until 21.9, halted until 31.9 */
    assert_false(model_core_executes(&c));
    assert_true(fabs(model_core_volts(&c) - 0.88) < 1e-12);
    model_core_advance(&c, 33, INFINITY);
    assert_true(model_core_executes(&c));
    assert_true(fabs(model_core_volts(&c) - 0.82) < 1e-12);
    assert_int_equal(model_core_run(&c, &narrow, &err), MACHINE_OK);
    model_core_advance(&c, 33 + 675, INFINITY); /* released at 33 + 670 */
    assert_false(model_core_executes(&c));
    assert_true(fabs(model_core_volts(&c) - 0.88) < 1e-12);
    assert_true(model_core_ghz(&c) == 2.4);
}

/* A model that changes the frequency without a halt has it as soon as it is requested. */
TEST(without_a_halt_at_once)
{
    struct model m = quiet();
    struct model_core c;
    struct machine_error err;
    struct payload wide = rig_payload("512or");
    m.halt_us = 0;
    m.transitions[0][3] = (struct model_transition){.n_steps = 1, .steps = {{.kind = MODEL_STEP_GRANT, .grant = 3}}};
    model_core_start(&c, &m, 16, 1, 0);
    assert_true(model_core_ghz(&c) == 2.8);
    assert_int_equal(model_core_run(&c, &wide, &err), MACHINE_OK);
    assert_true(model_core_executes(&c));
    assert_true(model_core_ghz(&c) == 2.4);
    assert_int_equal(c.held, 3);
}
