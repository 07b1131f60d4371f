/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a transition is set up for each pair of kernels and each length, and when the core voltage is read in it: each
 * reading, in its order, and what is kept of those that came late. Held in tests/golden/probes.volts, which `make
 * golden` rewrites.
 */
#include <inttypes.h>

#include "probes/repetitions.h"
#include "probes/transition.h"
#include "tests/support/golden.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { COUNT_READINGS = 16 };

/* ---- the setup ---- */

/* From what may be slower to come back it is observed for ten times as long; half of heavy instructions are as many. */
TEST(the_heavier_the_longer)
{
    static const struct {
        const char *name;
        int rank;
    } kernels[] = {{"64add", 0},      {"128fma", 0}, {"256or", 1},      {"256fma@1/4", 1},
                   {"256fma@1/2", 2}, {"256fma", 2}, {"512or", 2},      {"512fma@1/4", 2},
                   {"512fma@1/2", 3}, {"512fma", 3}, {"256fma@1/16", 1}};
    enum { KERNELS = sizeof kernels / sizeof *kernels };
    for (size_t i = 0; i < KERNELS * KERNELS; i++) {
        struct transition_setup s;
        struct payload from, to;
        char why[200];
        assert_int_equal(kernel_parse(kernels[i / KERNELS].name, &from, why, sizeof why), 0);
        assert_int_equal(kernel_parse(kernels[i % KERNELS].name, &to, why, sizeof why), 0);
        memset(&s, 0xff, sizeof s);
        transition_defaults(&s, &from, &to);
        double expected = kernels[i / KERNELS].rank > kernels[i % KERNELS].rank ? 1500 : 150;
        if (s.observe_us != expected || s.usual_us != expected)
            fail_msg("%s to %s: %g us", from.name, to.name, s.observe_us);
        assert_string_equal(s.from.name, from.name);
        assert_string_equal(s.to.name, to.name);
        assert_true(s.runs == 100 && s.warmup_us == 2500 && s.before_us == 50 && s.period_us == 1 && s.fine_us == 0);
        assert_true(s.machine.cpu == -1 && s.machine.active_cores == 0 && s.n_events == 0 && s.volt_readings == 0);
        assert_false(s.no_volts);
    }
}

TEST(how_long_recordings_are)
{
    static const struct {
        double usual_us, period_us, observe_us;
        bool keep_runs, keep_warmup;
        double fine_us, warmup_us;
        unsigned runs;
    } cases[] = {
        {150, 1, 5000, false, false, 0, 2500, 100},      {150, 1, 5000.5, false, false, 150, 5000.5, 20},
        {1500, 1, 20000, false, false, 1500, 20000, 20}, {1500, 1, 20000, true, false, 1500, 20000, 100},
        {1500, 1, 20000, false, true, 1500, 2500, 20},   {150, 1, 500000, false, false, 150, 340000, 20},
        {150, 2, 20000, false, false, 300, 20000, 20},   {150, 0.5, 20000, false, false, 150, 20000, 20},
        {9000, 1, 20000, false, false, 5000, 20000, 20}, {150, 40, 6000, false, false, 0, 2500, 100},
        {150, 40, 6001, false, false, 6000, 6001, 20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct transition_setup s;
        const struct payload p = kernel_named("64add");
        transition_defaults(&s, &p, &p);
        s.usual_us = cases[i].usual_us;
        s.period_us = cases[i].period_us;
        transition_observe(&s, cases[i].observe_us, cases[i].keep_runs, cases[i].keep_warmup);
        if (s.fine_us != cases[i].fine_us || s.warmup_us != cases[i].warmup_us || s.runs != cases[i].runs)
            fail_msg("%zu: %g us, %g us, %u", i, s.fine_us, s.warmup_us, s.runs);
        assert_true(s.observe_us == cases[i].observe_us);
        assert_int_equal(s.no_volts, s.fine_us > 0);
        double grown_us = s.fine_us > 0 ? s.observe_us - s.fine_us : 0;
        double samples = ceil((50 + s.observe_us - grown_us) / s.period_us);
        samples += grown_us > 0 ? repetitions_grown(s.period_us, grown_us) : 0;
        assert_true(transition_samples(&s) == samples);
    }
}

/* ---- the voltage ---- */

static struct {
    struct rng random;
    FILE *out;
    double end_us, late_us;
    uint64_t value;
    unsigned refused_in; /* every so many readings one is refused; 0: none */
    unsigned stop_at;    /* 0: never */
    unsigned reads;
    bool is_late;
} volts;

static void volts_info(const struct machine *m, struct machine_info *out)
{
    (void)m;
    *out = (struct machine_info){.name = "volts", .tsc_hz = 1e9};
}

static int volts_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    (void)m;
    (void)err;
    double us = 0;
    fprintf(volts.out, "  %" PRIu64 ":", (uint64_t)r->repetition);
    for (size_t i = 0; i < r->n_segments; i++) {
        fprintf(volts.out, " %s for %.6g us", r->segments[i].payload.name, r->segments[i].duration_us);
        us += i == 0 && r->n_segments > 1 ? 0 : r->segments[i].duration_us;
        assert_false(r->segments[i].sampled);
    }
    assert_int_equal(r->zero_segment, r->n_segments - 1);
    volts.end_us = us;
    *out = (struct recording){.zero_tsc = 1000000, .involuntary_switches = rng_chance(&volts.random, 0.1)};
    fprintf(volts.out, "%s\n", out->involuntary_switches ? ", taken off" : "");
    return MACHINE_OK;
}

static int volts_register(struct machine *m, uint32_t reg, uint64_t *value, struct machine_error *err)
{
    (void)m;
    assert_int_equal(reg, 0x198);
    volts.late_us = volts.is_late && rng_chance(&volts.random, 0.3) ? rng_range(&volts.random, 0, 8) : 0.25;
    volts.value += UINT64_C(1) << 32;
    *value = volts.value;
    if (volts.refused_in > 0 && ++volts.reads % volts.refused_in == 0)
        return machine_fail(err, MACHINE_CANNOT, "wait", "not now");
    return MACHINE_OK;
}

static uint64_t volts_tsc(const struct machine *m)
{
    (void)m;
    return 1000000 + (uint64_t)llround((volts.end_us + volts.late_us) * 1e3);
}

static int volts_progress(void *data, unsigned done, unsigned wanted)
{
    (void)data;
    assert_true(done <= wanted);
    return volts.stop_at > 0 && done == volts.stop_at;
}

static void write_volts(const char *name, const struct machine_ops *ops, unsigned readings)
{
    struct machine machine = {.ops = ops};
    const struct payload from = kernel_named("64add"), to = kernel_named("512or");
    struct transition_setup s;
    struct repetitions r = {0};
    struct machine_error err;
    transition_defaults(&s, &from, &to);
    s.runs = 7;
    rng_init(&volts.random, 3, readings);
    volts.value = UINT64_C(0x1c00) << 32;
    volts.reads = 0;
    trace_init(&r.trace);
    assert_int_equal(trace_add_run(&r.trace), 0);
    fprintf(volts.out, "\n%s, %u readings\n", name, readings);
    assert_int_equal(core_voltage_read(&machine, &s, readings, volts_progress, NULL, &r, &err), MACHINE_OK);
    fprintf(volts.out, "late by %s us; %s\n",
            trace_get(&r.trace, "volts_late_us") ? trace_get(&r.trace, "volts_late_us") : "-", r.volts_missing);
    for (size_t i = 0; i < r.trace.n; i++)
        fprintf(volts.out, "  run %u at %.6g us: %.5f V\n", (unsigned)r.trace.run[i], r.trace.time_us[i],
                (double)r.trace.channel[TRACE_VOLTS][i]);
    trace_free(&r.trace);
}

TEST(when_voltages_are_read)
{
    static const struct machine_ops exact = {.info = volts_info, .run = volts_run, .read_register = volts_register};
    static const struct machine_ops told = {
        .info = volts_info, .run = volts_run, .read_register = volts_register, .register_tsc = volts_tsc};
    struct golden g;
    FILE *out = golden_begin(&g);
    volts.out = out;
    for (unsigned n = 1; n <= COUNT_READINGS; n += n < 8 ? 1 : 4) {
        volts.is_late = false;
        write_volts("exact", &exact, n);
        volts.is_late = n > 3;
        write_volts("told", &told, n);
    }
    volts.refused_in = 3;
    write_volts("some refused", &told, 9);
    volts.refused_in = 1;
    write_volts("all refused", &told, 30);
    volts.refused_in = 0;
    volts.stop_at = 4;
    write_volts("stopped", &exact, 9);
    volts.stop_at = 0;
    golden_expect(&g, "probes", "volts", false);
}
