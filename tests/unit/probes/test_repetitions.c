/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An experiment's requests to a machine, and what becomes of the repetitions that were disturbed. */
#include "probes/repetitions.h"
#include "probes/sample_cost.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

/* A modelled machine, its requests, and whether the thread is preempted in its second repetition. */
enum { KEPT = 8 };
static struct {
    const struct machine_ops *inner;
    size_t room;
    unsigned runs, reported;
    struct run_request requests[KEPT];
    unsigned done[KEPT];
} spy;

static int prepare_spied(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    spy.room = s->max_samples;
    return spy.inner->prepare(m, s, err);
}

static int run_preempted(struct machine *m, const struct run_request *r, struct recording *out,
                         struct machine_error *err)
{
    if (r->repetition >= SAMPLE_COST_REPETITION)
        return spy.inner->run(m, r, out, err);
    assert_true(spy.runs < KEPT);
    spy.requests[spy.runs++] = *r;
    int status = spy.inner->run(m, r, out, err);
    out->involuntary_switches = r->repetition == 1;
    return status;
}

/* 1.8 GHz before the first repetition, 0.1 more after each; it cannot be read after the third. */
static int uncore_rises(const struct machine *m, double *ghz, struct machine_error *err)
{
    (void)m;
    if (spy.runs == 3)
        return machine_fail(err, MACHINE_CANNOT, "", "not now");
    *ghz = 1.8 + 0.1 * spy.runs;
    return MACHINE_OK;
}

static int note_done(void *data, unsigned done, unsigned wanted)
{
    assert_ptr_equal(data, &spy);
    assert_int_equal(wanted, 3);
    spy.done[spy.reported++] = done;
    return 0;
}

/* 30 us of two kernels are sampled, 2 us apart; the third segment is another experiment's. */
static void measure(unsigned attempts, double fine_us, struct repetitions *out)
{
    struct model m;
    struct machine machine;
    struct machine_error err;
    const struct segment segments[] = {
        {rig_payload("64add"), 10, true}, {rig_payload("128or"), 20, true}, {rig_payload("64add"), 1000, true}};
    const struct repetitions_plan plan = {.machine = {.cpu = -1, .active_cores = 1, .period_us = 2},
                                          .segments = segments,
                                          .n_segments = 2,
                                          .zero_segment = 1,
                                          .wanted = 3,
                                          .attempts = attempts,
                                          .from_us = -5,
                                          .fine_us = fine_us,
                                          .progress = note_done,
                                          .data = &spy};
    rig_load("xeon-gold-6130", &m);
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), MACHINE_OK);
    struct machine_ops ops = *machine.ops;
    memset(&spy, 0, sizeof spy);
    spy.inner = machine.ops;
    ops.prepare = prepare_spied;
    ops.run = run_preempted;
    ops.uncore = uncore_rises;
    machine.ops = &ops;
    assert_int_equal(repetitions_run(&machine, &plan, out, &err), MACHINE_OK);
    machine.ops->close(&machine);
    for (unsigned k = 0; k < spy.runs; k++) {
        assert_int_equal(spy.requests[k].repetition, k);
        assert_int_equal(spy.requests[k].n_segments, 2);
        assert_int_equal(spy.requests[k].zero_segment, 1);
    }
}

TEST(disturbed_repetitions_are_made_up_for)
{
    static const unsigned done[] = {1, 1, 2, 3};
    struct repetitions r;
    {
        measure(5, 0, &r);
        assert_int_equal(spy.room, 16 + 64); /* a tenth more than 15 samples, and some for the ends */
        assert_int_equal(spy.runs, 4);
        assert_int_equal(spy.reported, 4);
        assert_memory_equal(spy.done, done, sizeof done);
        assert_int_equal(r.n_invalid, 1);
        assert_int_equal(r.invalid[0].run, 1);
        assert_string_equal(r.invalid[0].why, "preempted by the scheduler");
        unsigned last = 0;
        for (size_t i = 0; i < r.trace.n; i++) {
            assert_true(r.trace.time_us[i] >= -5 && r.trace.run[i] != 1);
            last = r.trace.run[i];
        }
        assert_int_equal(last, 3);
        repetitions_free(&r);
    }
    /* no more than there are attempts */
    measure(3, 0, &r);
    assert_int_equal(spy.runs, 3);
    assert_int_equal(spy.done[2], 2);
    repetitions_free(&r);
}

/* In the last sample of each repetition, and nowhere else. */
TEST(clocks_of_the_uncore_have_a_column)
{
    struct repetitions r;
    measure(5, 0, &r);
    assert_int_equal(r.trace.n_extra, 1);
    assert_string_equal(r.trace.extra[0].name, "uncore_ghz");
    for (size_t i = 0; i < r.trace.n; i++) {
        const char *text = r.trace.text + r.trace.extra[0].offset[i];
        const bool last = i + 1 == r.trace.n || r.trace.run[i + 1] != r.trace.run[i];
        assert_string_equal(text, !last || r.trace.run[i] == 2 ? "" : r.trace.run[i] == 0 ? "1.900" : "2.200");
    }
    repetitions_free(&r);
}

/* Only the samples in the 20 us after time 0 that grow count: none, where growth would begin at the end or later. */
TEST(there_is_room_for_samples_that_grow)
{
    static const struct {
        double fine_us, grown_us;
    } cases[] = {{0, 0}, {15, 5}, {20, 0}, {1000, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct repetitions r;
        double grown_us = cases[i].grown_us;
        measure(5, cases[i].fine_us, &r);
        assert_int_equal(spy.room, repetitions_room(30 - grown_us, 2) +
                                       (grown_us > 0 ? (size_t)(1.1 * repetitions_grown(2, grown_us)) : 0));
        repetitions_free(&r);
    }
}

/* 100 us of what is recorded in turn with 10 us. */
TEST(what_is_recorded_beside_has_room)
{
    struct model m;
    struct machine machine;
    struct machine_error err;
    struct repetitions r;
    const struct segment segments[] = {{rig_payload("64add"), 10, true}}, beside[] = {{rig_payload("64add"), 50, false},
                                                                                      {rig_payload("64add"), 30, true},
                                                                                      {rig_payload("128or"), 70, true}};
    const struct repetitions_plan plan = {.machine = {.cpu = -1, .active_cores = 1, .period_us = 2},
                                          .segments = segments,
                                          .n_segments = 1,
                                          .wanted = 2,
                                          .attempts = 4,
                                          .from_us = 0,
                                          .beside = {{.segments = beside, .n_segments = 3, .every = 1}}};
    rig_load("xeon-gold-6130", &m);
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), MACHINE_OK);
    struct machine_ops ops = *machine.ops;
    spy.inner = machine.ops;
    ops.prepare = prepare_spied;
    machine.ops = &ops;
    assert_int_equal(repetitions_run(&machine, &plan, &r, &err), MACHINE_OK);
    assert_int_equal(spy.room, repetitions_room(100, 2));
    machine.ops->close(&machine);
    repetitions_free(&r);
}

TEST(room_and_run_in)
{
    assert_int_equal(repetitions_room(0, 1), 64);
    assert_int_equal(repetitions_room(1000, 1), 1100 + 64);
    assert_int_equal(repetitions_room(100, 0.25), 440 + 64);
    /* 5 us, or four periods */
    assert_close(repetitions_run_in_us(1), 5, 0);
    assert_close(repetitions_run_in_us(1.25), 5, 0);
    assert_close(repetitions_run_in_us(2), 8, 0);
}

/* By chains any step of the clock is reported; where cycles are counted, one of 2 ns or more. */
TEST(steps_of_the_clock_are_noted)
{
    static const struct {
        unsigned chain_cycles;
        double tsc_step;
        const char *step_ns, *cycles;
    } cases[] = {
        {0, 3.9, NULL, NULL}, {0, 4, "2", NULL}, {108, 0, NULL, "108"}, {108, 1, "0.5", "108"}, {0, 20, "10", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct machine_info info = {
            .tsc_hz = 2e9, .tsc_step = cases[i].tsc_step, .chain_cycles = cases[i].chain_cycles, .chain_error = 0.001};
        struct trace t;
        trace_init(&t);
        assert_int_equal(repetitions_note_clock(&t, &info), 0);
        const char *step = trace_get(&t, "clock_step_ns"), *cycles = trace_get(&t, "chain_cycles"),
                   *error = trace_get(&t, "frequency_error");
        assert_true(!step == !cases[i].step_ns && !cycles == !cases[i].cycles && !error == !cases[i].cycles);
        if (step)
            assert_string_equal(step, cases[i].step_ns);
        if (cycles)
            assert_string_equal(cycles, cases[i].cycles);
        if (error)
            assert_string_equal(error, "0.001");
        trace_free(&t);
    }
}

static void info_of_silicon(const struct machine *m, struct machine_info *out)
{
    spy.inner->info(m, out);
    out->modelled = false;
}

/* By chains, samples of 1 us leave the second kernel some two thirds of the time, which may be another level's. */
TEST(pauses_of_wide_code_are_noted)
{
    static const struct {
        const char *to;
        double period_us;
        bool noted;
    } cases[] = {{"512fma", 1, true}, {"512fma", 10, false}, {"128fma", 1, false}};
    struct model m;
    rig_load("xeon-gold-6130", &m);
    m.no_counters = true;
    m.counts_licenses = m.counts_throttle = false;
    m.tsc_step_ns = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct segment segments[] = {{rig_payload("64add"), 50, true}, {rig_payload(cases[i].to), 400, true}};
        const struct repetitions_plan plan = {
            .machine = {.cpu = -1, .active_cores = 1, .period_us = cases[i].period_us},
            .segments = segments,
            .n_segments = 2,
            .zero_segment = 1,
            .wanted = 3,
            .attempts = 6,
            .from_us = -5};
        struct machine machine;
        struct machine_error err;
        struct repetitions out;
        assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), MACHINE_OK);
        struct machine_ops ops = *machine.ops;
        spy.inner = machine.ops;
        ops.info = info_of_silicon;
        machine.ops = &ops;
        assert_int_equal(repetitions_run(&machine, &plan, &out, &err), MACHINE_OK);
        const char *notes = trace_get(&out.trace, "notes");
        if ((notes && strstr(notes, "may have a lower frequency")) != cases[i].noted)
            fail_msg("%s, %g us: %s", cases[i].to, cases[i].period_us, notes);
        repetitions_free(&out);
        machine.ops->close(&machine);
    }
}
