/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The shipped models, with all their noise, against what was published: figures are written down here by hand. G is
 * Gottschlag's dissertation, D Downs' write-up on AVX-512 transitions, D2 the one on Ice Lake, K Khalil's slides.
 */
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

enum { RUNS = 101, HALTS_MAX = 4 };

/* The results of one repetition, from the counters alone: time at the TSC's rate that the core was not running. */
struct seen {
    size_t halts;
    double halt_us[HALTS_MAX], halt_end[HALTS_MAX];
    double throttle_us[HALTS_MAX + 1]; /* before the first halt, between, after the last */
    double throttle_ipc[HALTS_MAX + 1];
    double last_ghz, last_ipc;
};

static void look(const struct rig *r, const struct recording *rec, double from_ghz, struct seen *out)
{
    double us = 1e6 / r->tsc_hz, ghz = from_ghz, cycles = 0, payload = 0;
    double tail_cycles = 0, tail_us = 0, tail_payload = 0;
    double end = rig_sample(r, rec, rec->n - 1).end;
    memset(out, 0, sizeof *out);
    for (size_t i = rec->zero_reading + 1; i < rec->n; i++) {
        const uint64_t *now = rec->words + i * rec->stride, *before = now - rec->stride;
        double wall = (double)(now[RIG_TSC] - before[RIG_TSC]) * us;
        double lost = wall - (double)(now[RIG_REF] - before[RIG_REF]) * us;
        struct rig_sample s = rig_sample(r, rec, i);
        if (lost < 2)
            ghz = s.ghz;
        if (s.throttle > 0.9 && lost < 2) {
            cycles += s.cycles;
            payload += s.ipc * s.cycles;
        }
        if (now[RIG_THROTTLE] > before[RIG_THROTTLE])
            out->throttle_us[out->halts] += (double)(now[RIG_THROTTLE] - before[RIG_THROTTLE]) / (ghz * 1e3);
        if (cycles > 0)
            out->throttle_ipc[out->halts] = payload / cycles;
        if (lost > 2 && out->halts < HALTS_MAX) {
            out->halt_us[out->halts] = lost;
            out->halt_end[out->halts++] = s.end;
            cycles = payload = 0;
        } else if (s.begin > end - 40 && lost < 0.5) {
            tail_cycles += s.cycles;
            tail_us += wall;
            tail_payload += s.ipc * s.cycles;
        }
    }
    out->last_ghz = tail_cycles / tail_us * 1e-3;
    out->last_ipc = tail_payload / tail_cycles;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Medians over the repetitions with the most frequent number of halts, which is returned. */
static size_t medians(const char *model, unsigned cores, const char *from, const char *to, double observe_us,
                      double from_ghz, struct seen *out)
{
    static struct seen runs[RUNS];
    struct model m;
    struct rig r;
    size_t votes[HALTS_MAX + 1] = {0}, most = 0, n = 0;
    rig_load(model, &m);
    rig_open(&r, &m, cores, 1, 5);
    for (uint64_t i = 0; i < RUNS; i++) {
        struct recording rec = rig_switch(&r, from, to, observe_us, i);
        look(&r, &rec, from_ghz, &runs[i]);
        votes[runs[i].halts]++;
    }
    for (size_t i = 0; i <= HALTS_MAX; i++)
        most = votes[i] > votes[most] ? i : most;
    assert_true(votes[most] > RUNS / 2);
    const size_t fields = sizeof *out / sizeof(double);
    double column[RUNS];
    for (size_t f = 1; f < fields; f++) { /* the first field is the number of halts */
        n = 0;
        for (size_t i = 0; i < RUNS; i++)
            if (runs[i].halts == most)
                column[n++] = ((double *)&runs[i])[f];
        qsort(column, n, sizeof *column, by_value);
        ((double *)out)[f] = column[n / 2];
    }
    out->halts = most;
    rig_close(&r);
    return most;
}

static void assert_near(double value, double expected, double tolerance, const char *what)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%s: %.4f, published %.4f", what, value, expected);
}

/* G 3.2.2, figure 3.2: 16 active cores. */
TEST(gold_6130_goes_down_as_published)
{
    struct seen s;
    assert_int_equal(medians("xeon-gold-6130", 16, "128fma", "512fma", 150, 2.8, &s), 2);
    assert_near(s.throttle_us[0], 20, 0.5, "first throttling");
    assert_near(s.throttle_ipc[0] / s.last_ipc, 0.25, 0.002, "its ratio");
    assert_near(s.throttle_us[1], 20, 0.5, "second throttling");
    assert_near(s.throttle_ipc[1] / s.last_ipc, 0.5, 0.004, "its ratio");
    assert_near(s.halt_us[0], 10, 0.3, "first halt");
    assert_near(s.halt_us[1], 10, 0.3, "second halt");
    assert_near(s.last_ghz, 1.9, 1.9 * 0.002, "final frequency");

    assert_int_equal(medians("xeon-gold-6130", 16, "128fma", "256fma", 150, 2.8, &s), 1);
    assert_near(s.throttle_us[0], 43.8, 0.7, "128 to 256 FMA: throttling before the only halt");
    assert_near(s.last_ghz, 2.4, 2.4 * 0.002, "128 to 256 FMA: final frequency");

    assert_int_equal(medians("xeon-gold-6130", 16, "256fma", "512fma", 150, 2.4, &s), 1);
    assert_near(s.throttle_us[0], 32, 0.7, "256 to 512 FMA: throttling"); /* by the 28.4 us that the change costs */
    assert_near(s.last_ghz, 1.9, 1.9 * 0.002, "256 to 512 FMA: final frequency");

    assert_int_equal(medians("xeon-gold-6130", 16, "128fma", "512or", 150, 2.8, &s), 1);
    assert_near(s.throttle_us[0], 21.9, 0.5, "128 FMA to 512 OR: throttling");
    assert_near(s.last_ghz, 2.4, 2.4 * 0.002, "128 FMA to 512 OR: final frequency");

    assert_int_equal(medians("xeon-gold-6130", 16, "128fma", "256or", 150, 2.8, &s), 0);
    assert_near(s.throttle_us[0], 20, 0.5, "128 FMA to 256 OR: throttling");
    assert_near(s.throttle_ipc[0] / s.last_ipc, 0.25, 0.002, "128 FMA to 256 OR: ratio");
    assert_near(s.last_ghz, 2.8, 2.8 * 0.002, "128 FMA to 256 OR: frequency");

    assert_int_equal(medians("xeon-gold-6130", 16, "256fma", "512or", 150, 2.4, &s), 0);
    assert_true(s.throttle_us[0] > 15);
    assert_near(s.last_ghz, 2.4, 2.4 * 0.002, "256 FMA to 512 OR: frequency");

    assert_int_equal(medians("xeon-gold-6130", 16, "128fma", "128or", 150, 2.8, &s), 0);
    assert_near(s.throttle_us[0], 0, 0, "128 FMA to 128 OR: throttling");
}

/* G table 3.1; with one and two active cores, throttling for what the break-even time of 5.2.3 leaves. */
TEST(gold_6130_depends_on_active_cores)
{
    static const struct {
        unsigned cores;
        double ghz[3];
    } rows[] = {{1, {3.7, 3.6, 3.5}}, {2, {3.7, 3.6, 3.5}},  {4, {3.5, 3.4, 3.1}},
                {8, {3.4, 3.1, 2.4}}, {12, {3.1, 2.6, 2.1}}, {13, {2.8, 2.4, 1.9}}};
    struct seen s;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        medians("xeon-gold-6130", rows[i].cores, "128fma", "512fma", 150, rows[i].ghz[0], &s);
        assert_near(s.last_ghz, rows[i].ghz[2], rows[i].ghz[2] * 0.002, "L2");
        const double first_us = rows[i].cores <= 2 ? 14.2 : rows[i].cores >= 5 && rows[i].cores <= 12 ? 24.1 : 20;
        assert_near(s.throttle_us[0], first_us, 0.6, "first throttling");
        medians("xeon-gold-6130", rows[i].cores, "128fma", "512or", 150, rows[i].ghz[0], &s);
        assert_near(s.last_ghz, rows[i].ghz[1], rows[i].ghz[1] * 0.002, "L1");
        medians("xeon-gold-6130", rows[i].cores, "128fma", "128or", 150, rows[i].ghz[0], &s);
        assert_near(s.last_ghz, rows[i].ghz[0], rows[i].ghz[0] * 0.002, "L0");
    }
}

/* G 3.2.3: 670 us after the last instruction, one halt; also from L2, directly. */
TEST(gold_6130_comes_back_up_as_published)
{
    static const char *const pairs[][2] = {{"512fma", "128fma"}, {"512or", "128fma"}, {"256fma", "128fma"}};
    struct seen s;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(medians("xeon-gold-6130", 16, pairs[i][0], pairs[i][1], 1500, i ? 2.4 : 1.9, &s), 1);
        assert_near(s.halt_end[0] - s.halt_us[0], 670, 3, pairs[i][0]);
        assert_near(s.halt_us[0], 10, 0.3, "halt");
        assert_near(s.last_ghz, 2.8, 2.8 * 0.002, "frequency regained");
    }
    assert_int_equal(medians("xeon-gold-6130", 16, "512fma", "256fma", 1500, 1.9, &s), 1);
    assert_near(s.last_ghz, 2.4, 2.4 * 0.002, "L2 to L1");
    assert_int_equal(medians("xeon-gold-6130", 16, "256or", "128fma", 1500, 2.8, &s), 0);
}

/* D: throttled to 1/4 for about 9 us, halted for about 11 us, 3.2 to 2.8 GHz (seen: 3.192, 2.793), up after 650-680. */
TEST(w_2104_as_published)
{
    struct seen s;
    assert_int_equal(medians("xeon-w-2104", 1, "128or", "512or-lat", 150, 3.192, &s), 1);
    assert_near(s.throttle_us[0], 9, 0.4, "throttling");
    assert_near(s.throttle_ipc[0] / s.last_ipc, 0.25, 0.002, "its ratio");
    assert_near(s.last_ipc, 0.93, 0.021, "dependent VPORD a cycle, less what the readings take");
    assert_near(s.halt_us[0], 11, 0.4, "halt");
    assert_near(s.last_ghz, 2.793, 0.006, "L1");
    assert_int_equal(medians("xeon-w-2104", 1, "512or", "128or", 1500, 2.793, &s), 1);
    assert_in_range((unsigned)(s.halt_end[0] - s.halt_us[0]), 650, 680);
    assert_near(s.last_ghz, 3.192, 0.006, "L0");
    assert_int_equal(medians("xeon-w-2104", 4, "128or", "256or", 150, 3.192, &s), 0);
    assert_near(s.throttle_us[0], 9, 0.4, "voltage-only transition");
}

/* K: level 1 after about 25 us, level 2 after about 27 us more, back after 2/3 ms. */
TEST(i9_7940x_as_published)
{
    struct seen s;
    assert_int_equal(medians("core-i9-7940x", 0, "128fma", "512fma", 150, 3.8, &s), 2);
    assert_near(s.halt_end[0], 25, 1.2, "level 1");
    assert_near(s.halt_end[1] - s.halt_end[0], 27, 1.2, "level 2");
    assert_int_equal(medians("core-i9-7940x", 0, "128fma", "512or", 150, 3.8, &s), 1);
    assert_near(s.halt_end[0], 25, 1.2, "level 1");
    assert_int_equal(medians("core-i9-7940x", 0, "512or", "128fma", 1500, 3.3, &s), 1);
    assert_near(s.halt_end[0] - s.halt_us[0], 666, 3, "wait");
}

/* D2: only one active core shows a step, 3.7 to 3.6 GHz, and only for 512 bits; G 3.5: without a halt. */
TEST(i5_1035g4_as_published)
{
    struct seen s;
    assert_int_equal(medians("core-i5-1035g4", 1, "256fma", "512or", 150, 3.7, &s), 0);
    assert_near(s.last_ghz, 3.6, 0.005, "512 bits, one core");
    medians("core-i5-1035g4", 1, "128fma", "256fma", 150, 3.7, &s);
    assert_near(s.last_ghz, 3.7, 0.005, "256 bits, one core");
    medians("core-i5-1035g4", 2, "256fma", "512fma", 150, 3.6, &s);
    assert_near(s.last_ghz, 3.6, 0.005, "512 bits, two cores");
    medians("core-i5-1035g4", 4, "256fma", "512fma", 150, 3.3, &s);
    assert_near(s.last_ghz, 3.3, 0.005, "512 bits, four cores");
}

/* D2, addendum: nothing happens, at any width. */
TEST(i9_11900k_shows_nothing)
{
    static const double ghz[] = {5.1, 5.1, 5.1, 5.1, 4.9, 4.9, 4.8, 4.8};
    struct seen s;
    for (unsigned cores = 1; cores <= 8; cores++) {
        assert_int_equal(medians("core-i9-11900k", cores, "64add", "512fma", 150, ghz[cores - 1], &s), 0);
        assert_near(s.last_ghz, ghz[cores - 1], ghz[cores - 1] * 0.002, "512 FMA");
        assert_int_equal(medians("core-i9-11900k", cores, "512fma", "64add", 1500, ghz[cores - 1], &s), 0);
        assert_near(s.last_ghz, ghz[cores - 1], ghz[cores - 1] * 0.002, "scalar");
    }
}

/* D, i7-6700HQ: 0.951 to 0.957 V at 2.6 GHz when the throttling ends, after about 9 us. The time stamp says when the
 * voltage is read: some microseconds after the payload has ended. G 3.2.3, figure 3.4b: a boost goes back after the
 * wait; it is that of the code that runs, whatever ran before. */
TEST(voltages_as_published)
{
    static const struct {
        const char *model, *from, *to;
        unsigned cores;
        double us, volts;
    } cases[] = {
        {"core-i7-6700hq", "128or", "256or", 1, 5, 0.951},    {"core-i7-6700hq", "128or", "256or", 1, 8, 0.951},
        {"core-i7-6700hq", "128or", "256or", 1, 11, 0.957},   {"core-i7-6700hq", "128or", "256or", 1, 90, 0.957},
        {"core-i7-6700hq", "256or", "128or", 1, 600, 0.957},  {"core-i7-6700hq", "256or", "128or", 1, 720, 0.951},
        {"xeon-gold-6130", "256fma", "512or", 2, 90, 1.045},  {"xeon-gold-6130", "128fma", "512or", 2, 90, 1.045},
        {"xeon-gold-6130", "512or", "256fma", 2, 600, 1.045}, {"xeon-gold-6130", "512or", "256fma", 2, 720, 1.03},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model m;
        struct rig r;
        struct machine_error err;
        uint64_t value;
        rig_load(cases[i].model, &m);
        m.n_interrupts = 0;
        rig_open(&r, &m, cases[i].cores, 1, 3);
        struct recording rec = rig_switch(&r, cases[i].from, cases[i].to, cases[i].us - m.read_delay_us, 0);
        assert_int_equal(r.machine.ops->read_register(&r.machine, 0x198, &value, &err), MACHINE_OK);
        assert_near((double)(value >> 32) / 8192, cases[i].volts, 0.001, cases[i].to);
        double us = (double)(r.machine.ops->register_tsc(&r.machine) - rec.zero_tsc) / r.tsc_hz * 1e6;
        assert_near(us, cases[i].us, 1.1, "time of the reading"); /* once a sample has ended */
        rig_close(&r);
    }
}

/* G 3.2.2, figure 3.3: only with two active cores, only from 256 FMA to 512 bits, from the start of the throttling. */
TEST(boost_only_with_two_cores)
{
    static const struct {
        const char *from, *to;
        unsigned cores;
        bool boosted;
    } cases[] = {{"256fma", "512or", 2, true},
                 {"256fma", "512fma", 2, true},
                 {"256fma", "512or", 16, false},
                 {"128fma", "512or", 2, false},
                 {"128fma", "256fma", 2, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model m;
        struct rig r;
        struct machine_error err;
        uint64_t value;
        rig_load("xeon-gold-6130", &m);
        rig_silence(&m);
        rig_open(&r, &m, cases[i].cores, 1, 3);
        unsigned level = strcmp(cases[i].from, "256fma") == 0;
        double quiet = model_volts(&m, model_ghz(&m, level, cases[i].cores));
        rig_switch(&r, cases[i].from, cases[i].to, 3, 0);
        assert_int_equal(r.machine.ops->read_register(&r.machine, 0x198, &value, &err), MACHINE_OK);
        double volts = (double)(value >> 32) / 8192;
        assert_true(cases[i].boosted ? volts > quiet + 0.01 : fabs(volts - quiet) < 0.001);
        rig_close(&r);
    }
}
