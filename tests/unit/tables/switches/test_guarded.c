/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests to a machine for a guarded switch: it is compared with its own first kernel and with either kernel alone, in
 * turn with the repetitions. */
#include "probes/sample_cost.h"
#include "probes/guarded.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

enum { RUNS = 16 };

/* A modelled machine, and the repetitions requested of it: of each kind how many, and the last. */
enum requested { SWITCH, COPY, FIRST_ALONE, SECOND_ALONE, REQUESTED };
static struct {
    const struct machine_ops *inner;
    const char *from, *to;
    unsigned n[REQUESTED], unsure; /* `unsure`: anything else */
    size_t segments[REQUESTED];
    struct segment last[REQUESTED][5];
    double longest_us; /* recorded of the second kernel */
} spy;

static enum requested what_is_requested(const struct run_request *r)
{
    size_t n = r->n_segments; /* after what is recorded beside a switch the second kernel runs, as after a switch */
    while (n > 2 && !r->segments[n - 1].sampled && !strcmp(r->segments[n - 1].payload.name, spy.to))
        n--;
    const struct segment *last = &r->segments[n - 1], *before = last - 1;
    bool is_switch = before->sampled && !strcmp(before->payload.name, spy.from);
    if (is_switch && !strcmp(last->payload.name, spy.to))
        return SWITCH;
    if (is_switch && !strcmp(last->payload.name, spy.from))
        return COPY;
    if (!before->sampled && !strcmp(before->payload.name, last->payload.name))
        return !strcmp(last->payload.name, spy.from) ? FIRST_ALONE : SECOND_ALONE;
    return REQUESTED;
}

static int run_spied(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    if (r->repetition >= SAMPLE_COST_REPETITION)
        return spy.inner->run(m, r, out, err);
    enum requested what = r->n_segments >= 2 && r->n_segments <= 5 ? what_is_requested(r) : REQUESTED;
    if (what == REQUESTED) {
        spy.unsure++;
    } else {
        spy.n[what]++;
        spy.segments[what] = r->n_segments;
        memcpy(spy.last[what], r->segments, r->n_segments * sizeof *r->segments);
    }
    if (what == SWITCH)
        spy.longest_us = fmax(spy.longest_us, r->segments[r->n_segments - 1].duration_us);
    return spy.inner->run(m, r, out, err);
}

static void measure_spied(const char *from, const char *to, bool counters, double observe_us)
{
    struct model m;
    struct machine machine;
    struct machine_error err;
    struct transition_setup s;
    struct switches_seen seen;
    struct payload a = rig_payload(from), b = rig_payload(to);
    const struct guard g = {.machine = &machine, .runs_given = true};
    rig_load("xeon-gold-6130", &m);
    m.no_counters = !counters;
    m.counts_licenses = m.counts_throttle = m.counts_licenses && counters;
    transition_defaults(&s, &a, &b);
    s.no_volts = true;
    s.runs = RUNS;
    s.observe_us = observe_us > 0 ? observe_us : s.observe_us;
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), MACHINE_OK);
    struct machine_ops ops = *machine.ops;
    memset(&spy, 0, sizeof spy);
    spy.inner = machine.ops;
    spy.from = from;
    spy.to = to;
    ops.run = run_spied;
    machine.ops = &ops;
    if (guarded_switch(&g, &s, &seen, &err))
        fail_msg("%s", err.text);
    guarded_free(&seen);
    machine.ops->close(&machine);
    assert_int_equal(spy.unsure, 0);
}

static void expect_segment(enum requested what, size_t i, const char *kernel, double us, bool sampled)
{
    const struct segment *s = &spy.last[what][i];
    assert_string_equal(s->payload.name, kernel);
    assert_close(s->duration_us, us, 1e-9);
    assert_int_equal(s->sampled, sampled);
}

/* As many as were requested; for one in sixteen of them, or of few for one in so many that there are seven or more,
 * either kernel alone for 20 ms, after which 100 us are sampled; of the copy, which tells what a switch of code costs,
 * as many as repetitions where chains tell the clock. */
TEST(a_switch_is_recorded_beside_its_kernels)
{
    for (int counters = 0; counters < 2; counters++) {
        measure_spied("128fma", "512fma", counters, 0);
        assert_int_equal(spy.n[SWITCH], RUNS);
        assert_int_equal(spy.n[COPY], counters ? RUNS / 4 : RUNS);
        assert_int_equal(spy.n[FIRST_ALONE], 8);
        assert_int_equal(spy.n[SECOND_ALONE], 8);
        assert_int_equal(spy.segments[FIRST_ALONE], 3);
        expect_segment(FIRST_ALONE, 0, "128fma", 20000, false);
        expect_segment(FIRST_ALONE, 1, "128fma", 100, true);
        expect_segment(SECOND_ALONE, 0, "512fma", 20000, false);
        expect_segment(SECOND_ALONE, 1, "512fma", 100, true);
        expect_segment(COPY, 2, "128fma", 150, true);
    }
}

/* Code that leaves upper halves in use must run before the second kernel, too. */
TEST(a_dirty_kernel_comes_before_both)
{
    measure_spied("256fma-dirty", "128or", true, 0);
    for (int i = 0; i < 2; i++) {
        enum requested what = i ? SECOND_ALONE : FIRST_ALONE;
        assert_int_equal(spy.segments[what], 4);
        expect_segment(what, 0, "256fma-dirty", 200, false);
        expect_segment(what, 1, i ? "128or" : "256fma-dirty", 20000, false);
        expect_segment(what, 2, i ? "128or" : "256fma-dirty", 100, true);
    }
}

/* A wait of 670 us: a recording of 100 us does not end as the second kernel alone runs, one of four times that nor; of
 * sixteen it does. */
TEST(what_is_not_over_is_recorded_for_longer)
{
    measure_spied("512fma", "128fma", true, 100);
    assert_close(spy.longest_us, 1600, 1e-9);
    assert_int_equal(spy.n[SWITCH], 3 * RUNS);
}

static int stop_at_once(void *data, unsigned done, unsigned wanted)
{
    (void)data;
    (void)done;
    (void)wanted;
    return 1;
}

/* How a recording ends that would be stopped when it begins. */
static int begin_recording(double observe_us, double period_us, struct machine_error *err)
{
    struct model m;
    struct machine machine;
    struct transition_setup s;
    struct switches_seen seen;
    struct payload a = rig_payload("128fma"), b = rig_payload("512fma");
    const struct guard g = {.machine = &machine, .observe_given = true, .progress = stop_at_once};
    rig_load("xeon-gold-6130", &m);
    transition_defaults(&s, &a, &b);
    s.no_volts = true;
    s.observe_us = observe_us;
    s.period_us = period_us;
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, err), MACHINE_OK);
    int status = guarded_switch(&g, &s, &seen, err);
    machine.ops->close(&machine);
    return status;
}

/* At the switch 5 us are still fine enough, which the message says, too. */
TEST(long_recordings_need_short_periods)
{
    struct machine_error err;
    assert_int_equal(begin_recording(500e3, 5.1, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "at most 5 us"));
    assert_int_equal(begin_recording(500e3, 5, &err), MACHINE_FAILED);
    assert_string_equal(err.text, "interrupted");
    assert_int_equal(begin_recording(150, 5.1, &err), MACHINE_FAILED);
    assert_string_equal(err.text, "interrupted");
}
