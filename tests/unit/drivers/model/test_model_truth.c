/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulation against the account of it in model_truth.c, cycle by cycle, on shipped models and on random ones. */
#include "drivers/model/model_random.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/model_truth.h"
#include "tests/support/test.h"

static void compare(const struct model *m, const char *from, const char *to, unsigned cores, double observe_us,
                    double warm_us)
{
    struct model_truth truth;
    struct machine_error err;
    struct payload a = rig_payload(from), b = rig_payload(to);
    struct rig r;
    int status = model_truth(m, &a, &b, cores, &truth, &err);
    if (status == MACHINE_CANNOT)
        return;
    assert_int_equal(status, MACHINE_OK);
    rig_open(&r, m, cores, 1, 1);
    r.warm_us = warm_us;
    struct recording rec = rig_switch(&r, from, to, observe_us, 0);
    assert_true(rec.n > observe_us / 100);
    if (rig_compare(&r, &rec, &truth) != 0) {
        for (size_t i = 0; i < truth.n; i++)
            print_message("phase %zu: kind %d at %.3f for %.3f us, %.4f GHz, IPC %.4f, class %u\n", i,
                          (int)truth.phases[i].kind, truth.phases[i].start_us, truth.phases[i].duration_us,
                          truth.phases[i].ghz, truth.phases[i].ipc, truth.phases[i].class_);
        fail_msg("%s: %s -> %s with %u active cores", m->file, from, to, cores);
    }
    rig_close(&r);
}

TEST(shipped_models_do_what_the_truth_says)
{
    static const char *const kernels[] = {"64add",  "128fma",     "256or",       "256fma",     "512or",
                                          "512fma", "512fma-lat", "512fma@1/16", "512fma@1/64"};
    enum { N = sizeof kernels / sizeof *kernels };
    char **names;
    size_t n;
    assert_int_equal(model_list("data", &names, &n), 0);
    assert_true(n >= 6);
    for (size_t i = 0; i < n; i++) {
        struct model m;
        rig_load(names[i], &m);
        rig_silence(&m);
        m.no_counters = false; /* cycles are what is compared */
        const unsigned most = m.cores < 3 ? m.cores : 3;
        for (size_t k = 0; k < N * N; k++)
            compare(&m, kernels[k / N], kernels[k % N], k % 3 == 0 ? 1 : k % 3 == 1 ? 0 : most, 1600, 1000);
    }
    model_list_free(names, n);
}

/* The same by hand: xeon-gold-6130 as published (Gottschlag's dissertation, table 3.1, section 3.2.2). */
TEST(truth_of_the_6130_is_as_published)
{
    static const struct {
        enum model_phase_kind kind;
        double us, ghz, ratio;
    } expected[] = {{MODEL_THROTTLED, 20, 2.8, 0.25},
                    {MODEL_HALTED, 10, 0, 0},
                    {MODEL_THROTTLED, 20, 2.4, 0.5},
                    {MODEL_HALTED, 10, 0, 0},
                    {MODEL_STEADY, INFINITY, 1.9, 1}};
    struct model m;
    struct model_truth t;
    struct machine_error err;
    rig_load("xeon-gold-6130", &m);
    struct payload a = rig_payload("128fma"), b = rig_payload("512fma");
    assert_int_equal(model_truth(&m, &a, &b, 0, &t, &err), MACHINE_OK);
    assert_int_equal(t.n, 5);
    double start = 0;
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(t.phases[i].kind, expected[i].kind);
        assert_true(t.phases[i].duration_us == expected[i].us);
        assert_true(t.phases[i].start_us == start);
        assert_true(fabs(t.phases[i].ghz - expected[i].ghz) < 1e-12);
        assert_true(fabs(t.phases[i].ipc_ratio - expected[i].ratio) < 1e-12);
        start += expected[i].us;
    }
    assert_int_equal(model_truth(&m, &b, &a, 0, &t, &err), MACHINE_OK);
    assert_int_equal(t.n, 3);
    assert_int_equal(t.phases[0].kind, MODEL_SLOW);
    assert_true(t.phases[0].duration_us == 670 && t.phases[0].ghz == 1.9);
    assert_int_equal(t.phases[1].kind, MODEL_HALTED);
    assert_true(t.phases[2].ghz == 2.8);
}

TEST(truth_refuses_what_cannot_run)
{
    struct model m;
    struct model_truth t;
    struct machine_error err;
    rig_load("xeon-gold-6130", &m);
    struct payload a = rig_payload("128fma"), b = rig_payload("512fma");
    assert_int_equal(model_truth(&m, &a, &b, 17, &t, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "has 16"));
    m.features = KERNEL_NEEDS_AVX | KERNEL_NEEDS_AVX2 | KERNEL_NEEDS_FMA;
    assert_int_equal(model_truth(&m, &a, &b, 0, &t, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "avx512f"));
}

/* ---- random models, as text ---- */

struct writer {
    struct model_random random;
    bool gradual; /* cold code, and ramps of the frequency and the voltage */
    char text[16384];
    size_t used;
};

static void put(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->text + w->used, sizeof w->text - w->used, format, args);
    va_end(args);
    assert_true(n > 0 && w->used + (size_t)n < sizeof w->text);
    w->used += (size_t)n;
}

static double between(struct writer *w, double lo, double hi)
{
    return lo + (hi - lo) * model_random_uniform(&w->random);
}

static unsigned pick(struct writer *w, unsigned n)
{
    return (unsigned)(model_random_uniform(&w->random) * n);
}

static const char *const class_names[] = {"c0", "c1", "c2", "c3", "c4"};

static void put_levels(struct writer *w, unsigned levels)
{
    static const char *const keys[] = {"base_ghz", "turbo_ghz.1-2", "turbo_ghz.3-8"};
    put(w, "[levels]\n");
    for (size_t i = 0; i < 3; i++) {
        double ghz = between(w, 2.5, 5);
        put(w, "%s =", keys[i]);
        for (unsigned k = 0; k < levels; k++) {
            put(w, " %.4f", ghz);
            ghz -= pick(w, 5) == 0 ? 0 : between(w, 0.02, 0.9); /* now and then two levels are equally fast */
        }
        put(w, " # test\n");
    }
}

/* Classes and the levels they belong to; returns the number of classes. */
static unsigned put_classes(struct writer *w, unsigned levels)
{
    static const unsigned masks[][3] = {{2, 4, 1}, {8, 16, 0}, {32, 0, 0}};
    static const unsigned room[] = {2, 2, 1};
    unsigned n = 0;
    for (unsigned level = 0; level < levels && level < MODEL_LEVELS_MAX; level++) {
        unsigned here = 1 + pick(w, room[level]);
        for (unsigned i = 0; i < here; i++)
            put(w, "[class %s]\nlevel = %u # test\numask = %u # test\n", class_names[n++], level, masks[level][i]);
    }
    return n;
}

static void put_demands(struct writer *w, unsigned classes)
{
    static const char *const kinds[] = {"256 light", "256 heavy", "512 light", "512 heavy"};
    for (size_t i = 0; i < 4; i++) {
        unsigned class_ = pick(w, classes), below = pick(w, class_ + 1);
        put(w, "[demand %s]\nclass = %s # test\n", kinds[i], class_names[class_]);
        switch (pick(w, 3)) {
        case 0:
            put(w, "count = %.0f # test\nbelow = %s # test\n", between(w, 2, 60000), class_names[below]);
            break;
        case 1:
            put(w, "rate = %.3f # test\nbelow = %s # test\n", between(w, 0.01, 2), class_names[below]);
            break;
        default:
            break;
        }
    }
}

static void put_transition(struct writer *w, unsigned from, unsigned to)
{
    unsigned step = 1;
    put(w, "[transition %s %s]\n", class_names[from], class_names[to]);
    for (unsigned class_ = from + 1; class_ <= to; class_++) {
        bool last = class_ == to;
        if (!last && pick(w, 2))
            continue;
        if (pick(w, 4)) {
            put(w, "step.%u = throttle %.3f %.2f # test\n", step, between(w, 0.1, 1), between(w, 1, 40));
            if (pick(w, 2))
                put(w, "step.%u.cores.1-2 = throttle %.3f %.2f # test\n", step, between(w, 0.1, 1), between(w, 1, 40));
            step++;
        }
        if (step == MODEL_STEPS_MAX)
            last = true;
        if (w->gradual && pick(w, 2))
            put(w, "step.%u = ramp %s %.1f # test\n", step++, class_names[last ? to : class_], between(w, 3, 900));
        else
            put(w, "step.%u = grant %s # test\n", step++, class_names[last ? to : class_]);
        if (last)
            return;
    }
}

static void put_rest(struct writer *w, unsigned classes)
{
    put(w, "[timing]\nhalt_us = %.2f # test\nhalt_sigma_us = 0 # test\nthrottle_sigma_us = 0 # test\n",
        pick(w, 4) ? between(w, 0.5, 30) : 0);
    put(w, "wait_us = %.2f # test\nwait_sigma_us = 0 # test\nthrottle_distance = %u # test\n", between(w, 50, 900),
        pick(w, 2) ? 0 : 1 + pick(w, 100));
    if (w->gradual && pick(w, 2))
        put(w, "release_tau_us = %.1f # test\n", between(w, 3, 900));
    put(w, "[voltage]\nnoise_volts = 0 # test\npoint.1 = 1 %.3f # test\npoint.2 = 4 %.3f # test\n",
        between(w, 0.6, 0.9), between(w, 0.9, 1.3));
    if (w->gradual && pick(w, 3))
        put(w, "ramp_us = %.2f # test\n", between(w, 0.5, 30));
    if (w->gradual && pick(w, 3))
        put(w, "[cold]\nus = %.2f # test\nfactor = %.2f # test\n", between(w, 0, 30), between(w, 0.2, 1));
    for (unsigned to = 1; to < classes; to++)
        if (pick(w, 2))
            put(w, "[boost %s %s]\ncores = 1-8 # test\nvolts = %.4f # test\nat = %s # test\n", class_names[pick(w, to)],
                class_names[to], between(w, 0, 0.05), pick(w, 2) ? "start" : "end");
    put(w, "[ipc]\nissue_width = 4 # test\nloop_instructions = 2 # test\n64add = 4 1 # test\n");
    static const char *const kernels[] = {"128fma", "256fma", "512fma", "256or", "512or"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        put(w, "%s = %.2f %u # test\n", kernels[i], between(w, 0.3, 3.5), 1 + pick(w, 6));
    put(w, "[pmu]\nlicences = yes # test\nthrottle = yes # test\ncounts = user # test\nnoise_cycles = 0 # test\n");
    put(w, "[clock]\njitter_ns = 0 # test\nsplit_read_ns = 0 # test\nspread = 0 # test\nspread_period_us = 30 # test\n"
           "frequency_noise = 0 # test\n");
}

static void random_model(struct writer *w, uint64_t seed, struct model *out)
{
    struct machine_error err;
    w->used = 0;
    model_random_init(&w->random, 2026, seed, 0);
    unsigned levels = 1 + pick(w, 3);
    put(w,
        "format = characterize-model/1\n[cpu]\nname = random # test\nfamily = 6 # test\nmodel = 85 # test\n"
        "stepping = 4 # test\nfeatures = avx avx2 fma avx512f # test\ntsc_hz = %.0f # test\ncores = 8 # test\n"
        "turbo_layout = groups # test\n",
        between(w, 1e9, 4e9));
    put_levels(w, levels);
    unsigned classes = put_classes(w, levels);
    put_demands(w, classes);
    for (unsigned from = 0; from < classes; from++)
        for (unsigned to = from + 1; to < classes; to++)
            put_transition(w, from, to);
    put_rest(w, classes);
    if (model_parse(w->text, w->used, "random.model", out, &err) != MACHINE_OK)
        fail_msg("seed %u: %s\n%s", (unsigned)seed, err.text, w->text);
}

static void compare_random_models(bool gradual)
{
    static const char *const kernels[] = {"64add", "128fma", "256or", "256fma", "512or", "512fma", "512fma@1/16"};
    enum { N = sizeof kernels / sizeof *kernels };
    struct writer *w = malloc(sizeof *w);
    struct model m;
    assert_non_null(w);
    w->gradual = gradual;
    for (uint64_t seed = 1; seed <= rng_rounds(400); seed++) {
        random_model(w, seed, &m);
        for (unsigned i = 0; i < 4; i++)
            compare(&m, kernels[pick(w, N)], kernels[pick(w, N)], 1 + pick(w, 8), 2000, gradual ? 30000 : 1000);
    }
    free(w);
}

TEST(random_models_do_what_the_truth_says)
{
    compare_random_models(false);
}

TEST(gradual_models_do_what_the_truth_says)
{
    compare_random_models(true);
}

/* The voltage, read at the end of repetitions that end in the middle of each phase, as a voltage probe would. */
TEST(voltage_is_what_the_truth_says)
{
    static const char *const kernels[] = {"64add", "128fma", "256or", "256fma", "512or", "512fma"};
    enum { N = sizeof kernels / sizeof *kernels };
    struct writer *w = malloc(sizeof *w);
    struct model m;
    assert_non_null(w);
    w->gradual = false;
    for (uint64_t seed = 1; seed <= rng_rounds(60); seed++) {
        random_model(w, seed, &m);
        struct payload from = rig_payload(kernels[pick(w, N)]), to = rig_payload(kernels[pick(w, N)]);
        struct model_truth t;
        struct machine_error err;
        struct rig r;
        assert_int_equal(model_truth(&m, &from, &to, 8, &t, &err), MACHINE_OK);
        rig_open(&r, &m, 8, 1, 1);
        for (size_t i = 0; i < t.n; i++) {
            double us = t.phases[i].start_us + (isfinite(t.phases[i].duration_us) ? t.phases[i].duration_us / 2 : 100);
            struct segment segments[2] = {{from, 1000, false}, {to, us, false}};
            struct run_request request = {.segments = segments, .n_segments = 2, .zero_segment = 1};
            struct recording rec;
            uint64_t value;
            if (t.phases[i].kind == MODEL_HALTED || t.phases[i].duration_us < 2)
                continue; /* nobody can stop in the middle of a halt */
            assert_int_equal(r.machine.ops->run(&r.machine, &request, &rec, &err), MACHINE_OK);
            assert_int_equal(rec.n, 0);
            assert_int_equal(rec.zero_reading, 0);
            assert_int_equal(r.machine.ops->read_register(&r.machine, 0x198, &value, &err), MACHINE_OK);
            double volts = (double)(value >> 32 & 0xffff) / 8192;
            if (fabs(volts - t.phases[i].volts) > 1.0 / 8192)
                fail_msg("seed %u, %s -> %s, phase %zu: %.4f V, expected %.4f", (unsigned)seed, from.name, to.name, i,
                         volts, t.phases[i].volts);
        }
        rig_close(&r);
    }
    free(w);
}

/* The same where the voltage ramps: read at random moments, of which the machine tells the time. */
TEST(voltage_ramps_as_the_truth_says)
{
    static const char *const kernels[] = {"64add", "128fma", "256or", "256fma", "512or", "512fma"};
    enum { N = sizeof kernels / sizeof *kernels, READINGS = 40 };
    struct writer *w = malloc(sizeof *w);
    struct model m;
    assert_non_null(w);
    w->gradual = true;
    /* no fewer under the sanitizers: the first models have no ramps */
    const unsigned models = rng_all_rounds() ? 100 : 34;
    unsigned on_slopes = 0;
    for (uint64_t seed = 1; seed <= models; seed++) {
        random_model(w, seed, &m);
        m.stamps_volts = true;
        m.read_delay_us = between(w, 0, 6);
        struct payload from = rig_payload(kernels[pick(w, N)]), to = rig_payload(kernels[pick(w, N)]);
        struct model_truth t;
        struct machine_error err;
        struct rig r;
        assert_int_equal(model_truth(&m, &from, &to, 8, &t, &err), MACHINE_OK);
        rig_open(&r, &m, 8, 1, 1);
        for (int i = 0; i < READINGS; i++) {
            /* after the settled first kernel; mostly near the edges of phases */
            const struct model_phase *p = &t.phases[pick(w, (unsigned)t.n)];
            struct segment segments[2] = {{from, 50000, false}, {to, p->start_us + between(w, 0.1, 30), false}};
            struct run_request request = {.segments = segments, .n_segments = 2, .zero_segment = 1};
            struct recording rec;
            uint64_t value;
            assert_int_equal(r.machine.ops->run(&r.machine, &request, &rec, &err), MACHINE_OK);
            assert_int_equal(r.machine.ops->read_register(&r.machine, 0x198, &value, &err), MACHINE_OK);
            double us = (double)(int64_t)(r.machine.ops->register_tsc(&r.machine) - rec.zero_tsc) / m.tsc_hz * 1e6;
            double volts = (double)(value >> 32 & 0xffff) / 8192, expected = model_truth_volts(&t, us);
            double slope = fabs(model_truth_volts(&t, us + 0.01) - model_truth_volts(&t, us - 0.01)) / 0.02;
            assert_true(us >= segments[1].duration_us + m.read_delay_us - 0.01);
            on_slopes += slope > 1e-4;
            /* a unit of the register, two ticks of the clock, and points that stand for an exponential */
            if (fabs(volts - expected) > 1.0 / 8192 + 0.01 * slope + 0.002)
                fail_msg("seed %u, %s -> %s, %.2f us: %.4f V, expected %.4f", (unsigned)seed, from.name, to.name, us,
                         volts, expected);
        }
        rig_close(&r);
    }
    free(w);
    print_message("%u readings on slopes\n", on_slopes);
    assert_true(on_slopes >= models / 3); /* else it has seen no ramp to speak of */
}
