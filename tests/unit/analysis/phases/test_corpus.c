/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The analysis on recordings made by others (a Xeon W-2104 and an i7-6700HQ; public, but without a license, so they are
 * not part of this repository): what was written about them must be found. Skipped where the recordings are missing.
 *
 * CHARACTERIZE_CORPUS: their folder (../shared/corpus).
 */
#include "analysis/phases/phases.h"
#include "tests/support/test.h"
#include "trace/trace.h"

#define HIGH_GHZ 3.193 /* levels of the W-2104 in these recordings */
#define LOW_GHZ 2.794

/* Reads a recording; skips the test where there is none. */
static void read_recording(const char *name, struct trace *t)
{
    const char *folder = getenv("CHARACTERIZE_CORPUS");
    char path[4096];
    struct trace_error err;
    snprintf(path, sizeof path, "%s/traces/%s", folder ? folder : "../shared/corpus", name);
    FILE *in = fopen(path, "r");
    if (!in) {
        print_message("skipped: no recording %s (CHARACTERIZE_CORPUS names the folder)\n", path);
        skip();
    }
    int bad = trace_read_csv(in, t, &err);
    fclose(in);
    if (bad)
        fail_msg("%s:%zu:%zu: %s", path, err.line, err.column, err.text);
}

/* One repetition as a trace of its own. */
static void take_run(const struct trace *t, uint32_t run, struct trace *out)
{
    trace_init(out);
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (t->channel[c])
            assert_int_equal(trace_add_channel(out, (enum trace_channel)c), 0);
    for (size_t i = 0; i < t->n; i++) {
        if (t->run && t->run[i] != run)
            continue;
        assert_int_equal(trace_append(out, 0, t->time_us[i]), 0);
        for (int c = 0; c < TRACE_CHANNELS; c++)
            if (t->channel[c])
                out->channel[c][out->n - 1] = t->channel[c][i];
    }
    assert_true(out->n > 0);
}

static void find(const struct trace *t, struct phases *p)
{
    char why[300];
    if (phases_find(t, p, why, sizeof why))
        fail_msg("refused: %s", why);
}

/* The answer for all repetitions together (run < 0) or for one. */
static void find_in(const char *name, int run, struct phases *p)
{
    struct trace t, one;
    read_recording(name, &t);
    if (run < 0) {
        find(&t, p);
    } else {
        take_run(&t, (uint32_t)run, &one);
        find(&one, p);
        trace_free(&one);
    }
    trace_free(&t);
}

static void near(const char *name, double found, double from, double to)
{
    if (!(found >= from && found <= to))
        fail_msg("%s is %.4f, not within %.4f..%.4f", name, found, from, to);
}

static void kind_is(const struct phases *p, size_t i, enum phase_kind kind)
{
    assert_true(i < p->n_phases);
    if (p->phases[i].kind != kind)
        fail_msg("phase %zu at %.1f us is %s, not %s", i, p->phases[i].start_us, phases_kind_name(p->phases[i].kind),
                 phases_kind_name(kind));
}

static void two_levels(const struct phases *p)
{
    assert_int_equal(p->n_levels, 2);
    near("the upper level", p->levels_ghz[0], HIGH_GHZ * 0.999, HIGH_GHZ * 1.001);
    near("the lower level", p->levels_ghz[1], LOW_GHZ * 0.999, LOW_GHZ * 1.001);
}

static void nothing_found(const struct phases *p)
{
    for (size_t i = 0; i < p->n_phases; i++)
        kind_is(p, i, PHASE_STEADY);
    assert_int_equal(p->n_phases, 1);
    assert_int_equal(p->n_transitions, 0);
    assert_int_equal(p->n_levels, 1);
    near("the level", p->levels_ghz[0], 3.192 * 0.999, 3.192 * 1.001);
}

/* The halt lasts 8.3 to 8.5 us by cycle accounting; how the cycles of its sample are shared out moves it by 0.3. */
static void one_way_down(const struct phases *p, size_t halt)
{
    kind_is(p, halt, PHASE_HALT);
    near("the halt", p->phases[halt].duration_us.value, 8.0, 8.8);
    near("the halt's lower limit", p->phases[halt].duration_us.lo, 0, 8.5);
    near("the halt's upper limit", p->phases[halt].duration_us.hi, 8.3, 12);
    kind_is(p, halt + 1, PHASE_STEADY);
    assert_int_equal(p->n_phases, halt + 2); /* low to the end */
    two_levels(p);
    assert_int_equal(p->phases[halt - 1].level, 0);
    assert_int_equal(p->phases[halt + 1].level, 1);
    assert_int_equal(p->n_transitions, 1);
    assert_int_equal(p->transitions[0].halts, 1);
}

static void throttle_then_down(const struct phases *p)
{
    kind_is(p, 0, PHASE_STEADY);
    kind_is(p, 1, PHASE_THROTTLE);
    near("throttling begins at", p->phases[1].start_us, 14999, 15001);
    near("throttling", p->phases[1].duration_us.value, 8.5, 11.5);
    near("its ratio", p->phases[1].ipc_ratio, 0.24, 0.28);
    one_way_down(p, 2);
    near("the transition begins at", p->transitions[0].at_us, 14999, 15001);
}

TEST(light_512)
{
    struct phases p;
    find_in("down-512-light.csv", -1, &p);
    throttle_then_down(&p);
    assert_int_equal(p.phases[2].agreeing_runs, 3);
    phases_free(&p);
    find_in("down-512-light.csv", 1, &p); /* the only repetition with an IPC column that is not empty */
    throttle_then_down(&p);
    phases_free(&p);
}

TEST(light_512_without_ipc)
{
    static const int runs[] = {0, 2};
    for (int k = 0; k < 2; k++) {
        struct phases p;
        find_in("down-512-light.csv", runs[k], &p);
        kind_is(&p, 0, PHASE_STEADY);
        near("the halt begins at", p.phases[1].start_us, 15008.5, 15012.5);
        one_way_down(&p, 1);
        phases_free(&p);
    }
}

TEST(single_512)
{
    for (int run = -1; run < 3; run++) {
        struct phases p;
        find_in("down-512-single.csv", run, &p);
        kind_is(&p, 0, PHASE_STEADY);
        near("the halt begins at", p.phases[1].start_us, 15008, 15011);
        one_way_down(&p, 1);
        if (run < 0)
            assert_int_equal(p.phases[1].agreeing_runs, 3);
        phases_free(&p);
    }
}

/* Seven times down and up; sampled every 3 us, so a low period is known to 3 us where one recording is all there is. */
static void down_and_up(const struct phases *p, const bool stretched[7])
{
    assert_int_equal(p->n_phases, 1 + 7 * 4);
    two_levels(p);
    assert_int_equal(p->n_transitions, 14);
    for (size_t k = 0; k < 7; k++) {
        const struct phase *f = p->phases + 4 * k;
        double instruction = 5000.0 * (double)k, low = stretched && stretched[k] ? 878 : 649.5;
        kind_is(p, 4 * k, PHASE_STEADY);
        kind_is(p, 4 * k + 1, PHASE_HALT);
        kind_is(p, 4 * k + 2, PHASE_SLOW);
        kind_is(p, 4 * k + 3, PHASE_HALT);
        near("a halt down", f[1].duration_us.value, 8.0, 8.8);
        near("a halt up", f[3].duration_us.value, 8.0, 8.8);
        near("a low period", f[2].duration_us.value, low - 3, low + 3.5);
        near("the way down begins at", f[1].start_us - instruction, 8, 15);
        near("the way up ends at", f[3].start_us + f[3].duration_us.value - instruction - (low - 649.5), 677, 684);
    }
    kind_is(p, 28, PHASE_STEADY);
}

TEST(seven_times_down_and_up)
{
    static const bool first[7] = {true, false, false, false, true, false, false};
    for (int run = 0; run < 3; run++) {
        struct phases p;
        find_in("down-up-512-31ms.csv", run, &p);
        down_and_up(&p, run ? NULL : first);
        phases_free(&p);
    }
}

/* Two of the low periods of run 0 are stretched to 878 us: that is reported, and how often. */
TEST(seven_times_together)
{
    struct phases p;
    find_in("down-up-512-31ms.csv", -1, &p);
    down_and_up(&p, NULL);
    for (size_t k = 0; k < 7; k++) {
        const struct phase *f = &p.phases[4 * k + 2];
        bool stretched = k == 0 || k == 4, reported = f->agreeing_runs < 3;
        for (size_t m = 0; m < f->n_modes; m++)
            reported |= fabs(f->modes[m].duration_us - 878) < 5 && fabs(f->modes[m].share - 1.0 / 3) < 0.01;
        if (reported != stretched)
            fail_msg("low period %zu: %zu runs agree, %zu modes", k, f->agreeing_runs, f->n_modes);
    }
    phases_free(&p);
}

TEST(null_128)
{
    for (int run = -1; run < 3; run++) {
        struct phases p;
        find_in("null-128.csv", run, &p);
        nothing_found(&p);
        assert_true(p.detectable_freq < 0.01 && p.detectable_halt_us < 5);
        phases_free(&p);
    }
}

TEST(null_256)
{
    for (int run = -1; run < 3; run++) {
        struct phases p;
        find_in("null-256-31ms.csv", run, &p);
        nothing_found(&p);
        phases_free(&p);
    }
}

/* The voltage rises at the end of the slow payload calls (about 15000 to 15010 us); no frequency, no halt. */
TEST(voltage_256)
{
    struct phases p;
    find_in("voltage-256.csv", -1, &p);
    assert_int_equal(p.n_volt_steps, 1);
    near("the voltage before", p.volt_steps[0].from_v, 0.9515, 0.9525);
    near("the voltage after", p.volt_steps[0].to_v, 0.9565, 0.9575);
    near("it begins to rise at", p.volt_steps[0].begin_us, 15005, 15010);
    near("it has risen at", p.volt_steps[0].end_us, 15005, 15013);
    assert_int_equal(p.n_levels, 0);
    for (size_t i = 0; i < p.n_phases; i++) {
        kind_is(&p, i, PHASE_STEADY);
        assert_true(isnan(p.phases[i].freq_ghz.value) && isnan(p.phases[i].ipc));
    }
    assert_int_equal(p.n_phases, 2);
    phases_free(&p);
}
