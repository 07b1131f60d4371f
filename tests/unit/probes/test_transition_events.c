/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Raw events in a transition: on a model, on a made PMU, from made readings; and the columns they become. */
#include "computer/cpu/cpu.h"
#include "probes/transition.h"
#include "tests/support/fake_pmu.h"
#include "tests/support/test.h"

static struct payload payload(const char *name)
{
    struct payload p;
    char why[200];
    assert_int_equal(kernel_parse(name, &p, why, sizeof why), 0);
    return p;
}

/* The value of an extra column, NaN where it is empty. */
static double extra_value(const struct trace *t, size_t extra, size_t i)
{
    const char *text = t->text + t->extra[extra].offset[i];
    return *text != '\0' ? strtod(text, NULL) : NAN;
}

/* ---- the columns ---- */

TEST(test_extra_columns_grow_with_the_trace)
{
    struct trace t, back;
    struct trace_error err;
    char text[32];
    trace_init(&t);
    assert_int_equal(trace_add_channel(&t, TRACE_FREQ), 0);
    assert_int_equal(trace_append(&t, 0, 0), 0);
    assert_int_equal(trace_add_extra(&t, "early"), 0);
    assert_string_equal(t.text + t.extra[0].offset[0], ""); /* earlier samples have an empty text */
    assert_int_equal(trace_add_extra(&t, "late"), 0);
    for (int i = 1; i < 5000; i++) {
        assert_int_equal(trace_append(&t, 0, i), 0);
        snprintf(text, sizeof text, "%d", i);
        assert_int_equal(trace_put_extra(&t, i % 2 ? 0 : 1, text), 0);
    }
    assert_int_equal(t.n_extra, 2);
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(trace_write_csv(file, &t), 0);
    rewind(file);
    assert_int_equal(trace_read_csv(file, &back, &err), 0);
    fclose(file);
    assert_string_equal(back.extra[1].name, "late");
    for (size_t i = 0; i < 5000; i++) {
        for (size_t e = 0; e < 2; e++) {
            snprintf(text, sizeof text, "%zu", i);
            const char *expected = i > 0 && i % 2 != e ? text : "";
            assert_string_equal(t.text + t.extra[e].offset[i], expected);
            assert_string_equal(back.text + back.extra[e].offset[i], expected);
        }
    }
    trace_free(&t);
    trace_free(&back);
}

TEST(test_counts_per_cycle_from_made_readings)
{
    static const struct counter_spec specs[4] = {
        {COUNTER_EVENT, 0x0828}, {COUNTER_CYCLES, 0}, {COUNTER_LVL0, 0}, {COUNTER_EVENT, 0x1028}};
    static uint64_t words[] = {
        1000,
        0,
        50,
        1000,
        0,
        7,
        2000,
        10,
        550,
        2000,
        1000,
        7, /* half of the cycles, none */
        3000,
        20,
        COUNTER_MISSING,
        3000,
        2000,
        107, /* missing, a tenth */
        4000,
        30,
        900,
        4000,
        3000,
        207, /* missing: the reading before is */
        5000,
        40,
        900,
        COUNTER_MISSING,
        4000,
        307, /* nothing to divide by */
        6000,
        50,
        900,
        6000,
        5000,
        407,
        7000,
        60,
        1000,
        7000,
        6000,
        507,
    };
    struct recording rec = {.n = 7, .stride = 6, .capacity = 7, .words = words, .zero_tsc = 1000};
    struct trace t;
    char why[FROM_RECORDING_WHY_MAX];
    const struct recording_form form = {.counters = specs, .n_counters = 4, .tsc_hz = 1e9};
    trace_init(&t);
    assert_int_equal(
        trace_add_channel(&t, TRACE_FREQ) | trace_add_channel(&t, TRACE_IPC) | trace_add_channel(&t, TRACE_LVL0), 0);
    assert_int_equal(trace_add_extra(&t, "event_28_08") | trace_add_extra(&t, "event_28_10"), 0);
    assert_int_equal(from_recording_append(&t, 0, &rec, &form, why), 0);
    assert_string_equal(why, "");
    assert_int_equal(t.n, 6);
    static const double expected[2][6] = {{0.5, NAN, NAN, NAN, NAN, 0.1}, {0, 0.1, 0.1, NAN, NAN, 0.1}};
    for (size_t i = 0; i < 6; i++) {
        for (size_t e = 0; e < 2; e++) {
            double value = extra_value(&t, e, i);
            assert_true(isnan(expected[e][i]) ? isnan(value) : fabs(value - expected[e][i]) < 1e-9);
        }
        assert_true(isnan(t.channel[TRACE_FREQ][i]) == (i == 3 || i == 4));
    }
    trace_free(&t);
}

/* ---- whole runs ---- */

static void run(struct machine *m, struct transition_setup *s, struct repetitions *r)
{
    struct machine_error err;
    if (transition_run(m, s, NULL, NULL, r, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

TEST(test_a_model_counts_28H_by_umask)
{
    struct payload from = payload("128fma"), to = payload("512fma");
    struct transition_setup s;
    struct repetitions r;
    struct machine m;
    struct machine_error err;
    uint64_t code = 0;
    assert_int_equal(machine_open_model("xeon-gold-6130", "data", &m, &err), MACHINE_OK);
    assert_int_equal(m.ops->find_event(&m, "CORE_POWER.LVL1_TURBO_LICENSE", &code, &err), MACHINE_OK);
    assert_int_equal(code, 0x1828);
    assert_int_equal(m.ops->find_event(&m, "NO.SUCH", &code, &err), MACHINE_BAD_INPUT);
    transition_defaults(&s, &from, &to);
    s.runs = 5;
    s.n_events = 4;
    s.events[0] = (struct raw_event){.code = 0x0728};
    s.events[1] = (struct raw_event){.code = 0x1828, .name = "CORE_POWER.LVL1_TURBO_LICENSE"};
    s.events[2] = (struct raw_event){.code = 0x2028};
    s.events[3] = (struct raw_event){.code = 0x8028}; /* counts nothing there */
    run(&m, &s, &r);
    m.ops->close(&m);
    assert_int_equal(r.trace.n_extra, 4);
    assert_string_equal(r.trace.extra[1].name, "event_28_18");
    assert_string_equal(trace_get(&r.trace, "events"), "event_28_18 = CORE_POWER.LVL1_TURBO_LICENSE");
    double sum[3] = {0}, off = 0;
    size_t n = 0;
    for (size_t i = 0; i < r.trace.n; i++) {
        bool sampled = !isnan(r.trace.channel[TRACE_FREQ][i]);
        assert_true(isnan(extra_value(&r.trace, 0, i)) == !sampled); /* voltages come without */
        for (size_t k = 0; k < 3 && sampled; k++) {
            sum[k] += extra_value(&r.trace, k, i);
            off += fabs(extra_value(&r.trace, k, i) - (double)r.trace.channel[TRACE_LVL0 + k][i]);
        }
        assert_true(!sampled || extra_value(&r.trace, 3, i) == 0);
        n += sampled;
    }
    /* counter noise of the model, on each */
    assert_true(off / (double)n < 0.01);
    assert_true(sum[0] > 0 && sum[1] > 0 && sum[2] > 0);
    assert_float_equal((sum[0] + sum[1] + sum[2]) / (double)n, 1, 0.01);
    repetitions_free(&r);
}

TEST(test_a_machine_without_events_says_so)
{
    struct payload p = payload("64add"), q = payload("64or");
    struct transition_setup s;
    struct repetitions r;
    struct machine m;
    struct machine_error err;
    assert_int_equal(machine_open_model("generic-no-licence", "data", &m, &err), MACHINE_OK);
    transition_defaults(&s, &p, &q);
    s.n_events = 1;
    s.events[0] = (struct raw_event){.code = 0x0828};
    assert_int_equal(transition_run(&m, &s, NULL, NULL, &r, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "machine model:generic-no-licence cannot count events: "));
    m.ops->close(&m);
}

/* The probe on the perf machine, with a made PMU that counts 5 cycles in 4 ticks, all of them at level 2. */
TEST(test_the_probe_on_a_made_pmu)
{
    struct payload p = payload("64add"), q = payload("64or");
    struct cpu_leaves leaves;
    struct perf_system system;
    struct transition_setup s;
    struct repetitions r;
    struct machine m;
    struct machine_info info;
    struct machine_error err;
    fake_pmu_reset();
    fake_pmu.programmable = 8;
    fake_pmu_system(&system, &leaves);
    if (perf_open_at(&system, &m, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    m.ops->info(&m, &info);
    transition_defaults(&s, &p, &q);
    s.runs = 20;
    s.machine.active_cores = 1;
    s.period_us = 3;
    s.n_events = 1;
    s.events[0] = (struct raw_event){.code = 0x00c1};
    run(&m, &s, &r);
    assert_non_null(trace_get(&r.trace, "source"));
    assert_null(trace_get(&r.trace, "frequency")); /* a mean over the sample, not the chain's */
    assert_string_equal(trace_get(&r.trace, "machine"), "perf");
    assert_non_null(r.trace.channel[TRACE_LVL2]);
    size_t near = 0;
    for (size_t i = 0; i < r.trace.n; i++) {
        near += fabs((double)r.trace.channel[TRACE_FREQ][i] * 1e9 / info.tsc_hz - 1.25) < 0.1 &&
                fabs((double)r.trace.channel[TRACE_LVL2][i] - 1) < 0.1 &&
                fabs(extra_value(&r.trace, 0, i) - 0.25) < 0.05 && r.trace.channel[TRACE_LVL0][i] < 0.01f;
    }
    m.ops->close(&m);
    assert_int_equal(fake_pmu.opened, fake_pmu.closed);
    if (r.n_invalid > 15) {
        print_message("skipped: %zu of 20 repetitions were taken off the CPU\n", r.n_invalid);
        repetitions_free(&r);
        skip();
    }
    assert_true(near > r.trace.n / 2);
    repetitions_free(&r);
}
