/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is asked of a machine so that both kernels of a switch are seen alone before it is recorded, and much later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tables/switches/guarded.h"
#include "tables/switches/later.h"
#include "tests/support/close_to.h"
#include "tests/support/model_rig.h"

/* A modelled machine, and what it was asked to run at first. */
enum { KEPT = 40, RUNS = 16 };
static struct {
    const struct machine_ops *inner;
    unsigned runs;
    unsigned told, told_wrong; /* of progress: nothing is done of none while kernels are seen alone */
    bool preempted;            /* all the time */
    double observe_us;         /* 0: as usual */
    bool clock_jumps;          /* between the first two looks at what comes much later */
    unsigned looks;            /* so far, at that */
    unsigned recorded[3];      /* repetitions of the switch before the first, before the second and after them */
    size_t halves;             /* repetitions of one kernel alone, and their numbers */
    uint64_t half[KEPT];
    struct asked {
        size_t n;
        struct segment segment[4];
    } asked[KEPT];
} spy;

static int run_spied(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    if (spy.runs < KEPT) {
        struct asked *a = &spy.asked[spy.runs++];
        a->n = r->n_segments;
        memcpy(a->segment, r->segments, (r->n_segments < 4 ? r->n_segments : 4) * sizeof *r->segments);
    }
    if (r->n_segments == 1 && spy.halves < KEPT)
        spy.half[spy.halves++] = r->repetition;
    struct segment late[3];
    struct run_request other = *r;
    bool is_late = r->n_segments == 3 && !r->segments[1].sampled && r->segments[1].duration_us >= SLOWEST_US;
    spy.looks += is_late;
    if (r->n_segments == 3 && r->segments[1].sampled)
        spy.recorded[spy.looks < 2 ? spy.looks : 2]++;
    if (is_late && spy.looks == 1 && spy.clock_jumps) {
        memcpy(late, r->segments, sizeof late);
        late[1].payload = late[2].payload = rig_payload("512fma");
        other.segments = late;
    }
    int status = spy.inner->run(m, &other, out, err);
    out->involuntary_switches = spy.preempted;
    return status;
}

static int note_progress(void *data, unsigned done, unsigned wanted)
{
    (void)data;
    spy.told++;
    bool alone = spy.told <= 6;
    spy.told_wrong += alone ? done != 0 || wanted != 0 : spy.told <= 6 + RUNS && wanted != RUNS;
    return 0;
}

static void measure_spied(const char *from, const char *to, double period_us)
{
    struct model m;
    struct machine machine;
    struct machine_error err;
    struct transition_setup s;
    struct switches_seen seen;
    struct payload a = rig_payload(from), b = rig_payload(to);
    const struct guard g = {.machine = &machine, .progress = note_progress};
    rig_load("xeon-gold-6130", &m);
    transition_defaults(&s, &a, &b);
    s.no_volts = true;
    s.runs = RUNS;
    s.period_us = period_us;
    s.observe_us = spy.observe_us > 0 ? spy.observe_us : s.observe_us;
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), MACHINE_OK);
    struct machine_ops ops = *machine.ops;
    spy.inner = machine.ops;
    spy.runs = spy.told = spy.told_wrong = 0;
    spy.halves = spy.looks = 0;
    memset(spy.recorded, 0, sizeof spy.recorded);
    ops.run = run_spied;
    machine.ops = &ops;
    if (guarded_switch(&g, &s, &seen, &err) == MACHINE_OK)
        switches_free(&seen);
    machine.ops->close(&machine);
    assert_true(spy.runs >= RUNS);
    assert_true(spy.preempted || spy.told_wrong == 0);
}

static void expect_segment(unsigned run, size_t i, const char *kernel, double us, bool sampled)
{
    const struct segment *s = &spy.asked[run].segment[i];
    assert_string_equal(s->payload.name, kernel);
    assert_close(s->duration_us, us, 1e-9);
    assert_int_equal(s->sampled, sampled);
}

/* For 8 ms, the first half of that in a repetition of its own, three times each; of which the last 40 us are sampled,
 * or four periods. */
static void both_kernels_run_alone_first(void **state)
{
    (void)state;
    for (double period = 1; period < 20; period += 14) {
        measure_spied("128fma", "512fma", period);
        for (unsigned run = 0; run < 12; run++) {
            const char *kernel = run < 6 ? "512fma" : "128fma";
            assert_int_equal(spy.asked[run].n, run % 2 + 1);
            expect_segment(run, 0, kernel, 4000, false);
            if (run % 2)
                expect_segment(run, 1, kernel, period > 10 ? 4 * period : 40, true);
        }
    }
}

/* Three repetitions that nothing disturbed, or nine tries. */
static void what_is_always_disturbed_is_tried_nine_times(void **state)
{
    (void)state;
    spy.preempted = true;
    measure_spied("128fma", "512fma", 1);
    spy.preempted = false;
    for (unsigned run = 0; run < 36; run++)
        expect_segment(run, 0, run < 18 ? "512fma" : "128fma", 4000, false);
    assert_true(spy.asked[36].segment[0].duration_us < 4000);
}

/* A repetition of 9.9 ms, with 0.2 for a dirty kernel: 1.8 are sampled where periods are so long. */
static void long_periods_leave_less_time_alone(void **state)
{
    (void)state;
    measure_spied("128fma", "512fma", 450);
    expect_segment(0, 0, "512fma", 3950, false);
    expect_segment(1, 0, "512fma", 3950, false);
    expect_segment(1, 1, "512fma", 1800, true);
}

/* What leaves upper halves in use must come before the second kernel, too, and what follows not be interrupted. */
static void a_dirty_kernel_comes_before_both(void **state)
{
    (void)state;
    measure_spied("256fma-dirty", "128or", 1);
    for (unsigned run = 0; run < 6; run++) {
        assert_int_equal(spy.asked[run].n, 3);
        expect_segment(run, 0, "256fma-dirty", 200, false);
        expect_segment(run, 1, run < 3 ? "128or" : "256fma-dirty", 8000, false);
        expect_segment(run, 2, run < 3 ? "128or" : "256fma-dirty", 40, true);
    }
}

/* Where a switch does not settle they are seen alone again, in other repetitions. */
static void kernels_are_seen_again_in_other_repetitions(void **state)
{
    (void)state;
    spy.observe_us = 100;
    measure_spied("512fma", "128fma", 1);
    spy.observe_us = 0;
    assert_int_equal(spy.halves, 18);
    for (size_t i = 0; i < spy.halves; i++)
        assert_int_equal(spy.half[i], i / 6 * 18 + i % 6);
}

/* Of a clock that floats the frequency is told as it is now, not as it was before seconds of looks. */
static void what_was_looked_at_for_seconds_is_recorded_again(void **state)
{
    (void)state;
    for (unsigned jumps = 0; jumps < 2; jumps++) {
        spy.clock_jumps = jumps;
        measure_spied("128fma", "128or", 1);
        assert_int_equal(spy.looks, 1 + jumps);
        assert_int_equal(spy.recorded[0], RUNS);
        assert_int_equal(spy.recorded[1], 0);
        assert_int_equal(spy.recorded[2], jumps ? RUNS : 0);
    }
    spy.clock_jumps = false;
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
static void long_recordings_need_short_periods(void **state)
{
    (void)state;
    struct machine_error err;
    assert_int_equal(begin_recording(500e3, 5.1, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "at most 5 us"));
    assert_int_equal(begin_recording(500e3, 5, &err), MACHINE_FAILED);
    assert_string_equal(err.text, "interrupted");
    assert_int_equal(begin_recording(150, 5.1, &err), MACHINE_FAILED);
    assert_string_equal(err.text, "interrupted");
}

/* ---- what comes much later ---- */

static struct {
    const struct machine_ops *inner;
    const char *becomes; /* what runs seconds after the switch instead of the second kernel; NULL: that itself */
    unsigned looks, asked, stop;
} late;

static int run_late(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    struct segment segments[3];
    struct run_request other = *r;
    assert_int_equal(r->n_segments, 3);
    memcpy(segments, r->segments, sizeof segments);
    if (late.becomes && segments[1].duration_us >= SLOWEST_US)
        segments[1].payload = segments[2].payload = rig_payload(late.becomes);
    other.segments = segments;
    late.looks++;
    return late.inner->run(m, &other, out, err);
}

static int ask_late(void *data, unsigned done, unsigned wanted)
{
    (void)data;
    assert_int_equal(done, 0);
    assert_int_equal(wanted, 0);
    return ++late.asked == late.stop;
}

static void what_comes_much_later_is_told(void **state)
{
    static const struct {
        const char *to, *becomes, *why; /* why: NULL where nothing moves */
        bool falls_only;
        unsigned stop, looks; /* stop: after so many, 0: never */
    } cases[] = {
        {"128fma", NULL, NULL, false, 0, 2},
        {"128fma", "512fma", "still at 2.800 GHz, against 1.900 GHz in the long run", false, 0, 8},
        {"128fma", "512fma", "still at 2.800 GHz, against 1.900 GHz in the long run", true, 0, 8},
        {"512fma", "128fma", "still at 1.900 GHz, against 2.800 GHz in the long run", false, 0, 8},
        {"512fma", "128fma", NULL, true, 0, 2},
        {"128fma", "64add", "the code still ran at 0.50 of its long-run rate", true, 0, 8},
        {"64add", "128fma", "the code still ran at 2.00 of its long-run rate", false, 0, 8},
        {"128fma", "512fma", NULL, false, 1, 1},
        {"128fma", "512fma", NULL, false, 3, 3},
        {"128fma", "512fma", NULL, false, 4, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model m;
        struct machine machine;
        struct machine_error err;
        struct transition_setup s;
        struct payload from = rig_payload("64add"), to = rig_payload(cases[i].to);
        const struct later x = {
            .machine = &machine, .setup = &s, .falls_only = cases[i].falls_only, .progress = ask_late};
        bool moves, took_seconds;
        char why[200] = "";
        rig_load("xeon-gold-6130", &m);
        rig_silence(&m);
        transition_defaults(&s, &from, &to);
        assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), MACHINE_OK);
        struct machine_ops ops = *machine.ops;
        late.inner = machine.ops;
        late.becomes = cases[i].becomes;
        late.looks = late.asked = 0;
        late.stop = cases[i].stop;
        ops.run = run_late;
        machine.ops = &ops;
        assert_int_equal(later_moves(&x, &moves, &took_seconds, why, sizeof why, &err), MACHINE_OK);
        machine.ops->close(&machine);
        assert_int_equal(moves, cases[i].why != NULL);
        assert_string_equal(why, cases[i].why ? cases[i].why : "");
        assert_int_equal(late.looks, cases[i].looks);
        assert_int_equal(late.asked, late.looks);
        assert_int_equal(took_seconds, late.looks > 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_kernels_run_alone_first),
        cmocka_unit_test(what_is_always_disturbed_is_tried_nine_times),
        cmocka_unit_test(long_periods_leave_less_time_alone),
        cmocka_unit_test(kernels_are_seen_again_in_other_repetitions),
        cmocka_unit_test(a_dirty_kernel_comes_before_both),
        cmocka_unit_test(what_was_looked_at_for_seconds_is_recorded_again),
        cmocka_unit_test(long_recordings_need_short_periods),
        cmocka_unit_test(what_comes_much_later_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
