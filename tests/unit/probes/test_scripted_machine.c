/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Probes on a machine whose every answer is scripted: readings that come late, registers that cannot be read, empty
 * recordings, empty remarks. */
#include "probes/sequence.h"
#include "probes/transition.h"
#include "tests/support/test.h"

/* A TSC of 1 GHz, so that a tick is a nanosecond. */
enum { ZERO_TSC = 5000000, MOST = 200 };
static const double WARMUP_US = 100, BEFORE_US = 10, OBSERVE_US = 10, PERIOD_US = 4;

static struct {
    double late_us[MOST]; /* of each reading of the register, by its number */
    bool works[MOST], preempted[MOST];
    double at_us[MOST]; /* where each repetition ended */
    double volts, now_us;
    unsigned runs, reported;
    const char *notes;
    struct recording rec;
    uint64_t words[12];
} script;

static void info(const struct machine *m, struct machine_info *out)
{
    (void)m;
    *out = (struct machine_info){.name = "scripted",
                                 .source = "a test",
                                 .cpu = "none",
                                 .tsc_hz = 1e9,
                                 .tsc_origin = "a test",
                                 .notes = script.notes,
                                 .modelled = true};
}

static const char *lacks(const struct machine *m, enum counter_id id, const char **remedy)
{
    (void)m;
    (void)remedy;
    return id == COUNTER_CYCLES ? NULL : "not in this script";
}

static int prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    (void)m;
    (void)s;
    (void)err;
    return MACHINE_OK;
}

static void finish(struct machine *m)
{
    (void)m;
}

static int run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    (void)m;
    (void)err;
    double us = 0;
    for (size_t i = 0; i < r->n_segments; i++)
        us += r->segments[i].duration_us;
    assert_true(script.runs < MOST);
    *out = script.rec;
    out->zero_tsc = ZERO_TSC;
    out->involuntary_switches = script.preempted[script.runs];
    script.at_us[script.runs] = us - WARMUP_US - BEFORE_US;
    /* since the recording's time 0: its begin, or that of the second kernel */
    script.now_us = r->zero_segment > 0 ? r->segments[1].duration_us : us;
    script.runs++;
    return MACHINE_OK;
}

static int read_register(struct machine *m, uint32_t reg, uint64_t *value, struct machine_error *err)
{
    (void)m;
    assert_int_equal(reg, 0x198);
    if (!script.works[script.runs - 1])
        return machine_fail(err, MACHINE_CANNOT, "wait", "it is closed");
    *value = (uint64_t)(script.volts * 8192) << 32;
    return MACHINE_OK;
}

static uint64_t register_tsc(const struct machine *m)
{
    (void)m;
    return ZERO_TSC + (uint64_t)((script.now_us + script.late_us[script.runs - 1]) * 1000 + 0.5);
}

static const struct machine_ops ops = {.info = info,
                                       .lacks = lacks,
                                       .prepare = prepare,
                                       .run = run,
                                       .finish = finish,
                                       .read_register = read_register,
                                       .register_tsc = register_tsc};
static struct machine machine = {.ops = &ops};

static void begin(void)
{
    memset(&script, 0, sizeof script);
    script.volts = 0.75;
    for (unsigned i = 0; i < MOST; i++) {
        script.works[i] = true;
        script.late_us[i] = 0.5;
    }
}

static int tell(void *data, unsigned done, unsigned wanted)
{
    assert_ptr_equal(data, &script);
    assert_true(done == ++script.reported && done <= wanted);
    return 0;
}

static void read_volts(unsigned readings, struct repetitions *out)
{
    struct machine_error err;
    const struct transition_setup s = {
        .warmup_us = WARMUP_US, .before_us = BEFORE_US, .observe_us = OBSERVE_US, .period_us = PERIOD_US, .runs = 30};
    memset(out, 0, sizeof *out);
    trace_init(&out->trace);
    assert_int_equal(trace_add_run(&out->trace), 0);
    assert_int_equal(core_voltage_read(&machine, &s, readings, tell, &script, out, &err), MACHINE_OK);
    assert_int_equal(script.reported, script.runs);
}

/* The number of the repetition that ended at this time; they are scattered over the recording. */
static unsigned number_at(double us)
{
    for (unsigned i = 0; i < script.runs; i++)
        if (fabs(script.at_us[i] - us) < 1e-9)
            return i;
    fail_msg("no repetition ended at %g us", us);
    return 0;
}

/* Ten readings, 2 us apart; each lies where the register was read. */
TEST(readings_lie_where_they_were_taken)
{
    struct repetitions r;
    begin();
    read_volts(10, &r);
    assert_int_equal(r.trace.n, 10);
    assert_string_equal(r.volts_missing, "");
    assert_string_equal(trace_get(&r.trace, "volts_late_us"), "0.500");
    for (unsigned i = 0; i < 10; i++) {
        unsigned k = number_at(-9 + 2.0 * i);
        assert_int_equal(r.trace.run[k], 30 + k);
        assert_close(r.trace.time_us[k], -9 + 2.0 * i + 0.5, 1e-9);
        assert_close((double)r.trace.channel[TRACE_VOLTS][k], 0.75, 0);
    }
    repetitions_free(&r);
}

/* Later than usual by 20 us and a quarter of a period: something ran in between. So is what was read in the second
 * part of the time axis of a repetition that ended in the first, for another reason, which is no fault. */
TEST(late_readings_are_left_out)
{
    struct repetitions r;
    begin();
    read_volts(10, &r);
    unsigned before = number_at(-1), nearly = number_at(5), late = number_at(7);
    repetitions_free(&r);
    begin();
    script.late_us[before] = 3;    /* at 2 us, where the second kernel never ran */
    script.late_us[nearly] = 21.4; /* 0.5 + 20 + 1 are allowed */
    script.late_us[late] = 21.6;
    read_volts(10, &r);
    assert_int_equal(r.trace.n, 8);
    for (size_t i = 0; i < r.trace.n; i++)
        assert_true(r.trace.run[i] != 30 + before && r.trace.run[i] != 30 + late);
    assert_string_equal(r.volts_missing, "1 of 10 readings: something else ran between the kernel and the reading");
    repetitions_free(&r);
}

/* A reading that usually comes later than 100 us says nothing about a time. */
TEST(readings_that_all_come_late)
{
    struct repetitions r;
    for (int much = 0; much < 2; much++) {
        begin();
        for (unsigned i = 0; i < MOST; i++)
            script.late_us[i] = much ? 121.5 : 120.5; /* 100 + 20 + 1 are allowed */
        read_volts(10, &r);
        assert_string_equal(trace_get(&r.trace, "volts_late_us"), "100.000");
        assert_int_equal(r.trace.n, much ? 0 : 5); /* those before the switch were read after it */
        assert_string_equal(r.volts_missing, much ? "something else ran between the kernel and the reading" : "");
        repetitions_free(&r);
    }
}

/* 20 readings without a voltage, and none with one: it is given up. */
TEST(registers_that_cannot_be_read)
{
    struct repetitions r;
    begin();
    memset(script.works, 0, sizeof script.works);
    read_volts(100, &r);
    assert_int_equal(script.runs, 20);
    assert_int_equal(r.trace.n, 0);
    assert_string_equal(r.volts_missing, "it is closed; wait");
    repetitions_free(&r);
    begin();
    memset(script.works + 1, 0, sizeof script.works - sizeof *script.works);
    read_volts(50, &r);
    assert_int_equal(script.runs, 50);
    assert_int_equal(r.trace.n, 1);
    assert_string_equal(r.volts_missing, "49 of 50 readings: it is closed; wait");
    repetitions_free(&r);
    /* a thread that is preempted may not be the next time */
    begin();
    for (unsigned i = 0; i < 30; i++)
        script.preempted[i] = true;
    read_volts(40, &r);
    assert_int_equal(script.runs, 40);
    assert_int_equal(r.trace.n, 10);
    assert_string_equal(r.volts_missing, "30 of 40 readings: something else ran between the kernel and the reading");
    repetitions_free(&r);
    /* 0.1 to 3 V are a voltage of a core */
    begin();
    script.volts = 3.25;
    read_volts(20, &r);
    assert_int_equal(r.trace.n, 0);
    assert_string_equal(r.volts_missing, "register 198H reports 3.2500 V, outside 0.1 to 3 V");
    repetitions_free(&r);
    begin();
    script.volts = 3;
    read_volts(20, &r);
    assert_int_equal(r.trace.n, 20);
    repetitions_free(&r);
}

/* ---- sequences ---- */

static const char *sequence_of(size_t n, size_t zero, struct sequence_run *out)
{
    static const uint64_t words[12] = {ZERO_TSC - 3000, 7,   1000, ZERO_TSC - 1000, 27,  4000,
                                       ZERO_TSC,        127, 9000, ZERO_TSC + 2000, 200, 10000};
    struct machine_error err;
    struct sequence q;
    const struct segment segment = {.duration_us = WARMUP_US + BEFORE_US, .sampled = true};
    const struct machine_setup setup = {.period_us = 1};
    begin();
    memcpy(script.words, words, sizeof words);
    script.rec = (struct recording){.n = n, .stride = 3, .capacity = 4, .words = script.words, .zero_reading = zero};
    assert_int_equal(sequence_begin(&q, &machine, &setup, 100, &err), MACHINE_OK);
    q.repetition = 41;
    assert_int_equal(sequence_record(&q, &segment, 1, 0, NULL, out, &err), MACHINE_OK);
    assert_int_equal(out->run, 41);
    assert_int_equal(q.repetition, 42);
    sequence_end(&q);
    return out->invalid;
}

TEST(sequences_of_too_little)
{
    struct sequence_run r;
    assert_string_equal(sequence_of(4, 2, &r), "");
    assert_close(r.begin_us, -3, 1e-12);
    assert_close(r.instructions, 120, 0);
    assert_close(r.cycles, 8000, 0);
    assert_string_equal(sequence_of(2, 1, &r), "");
    assert_close(r.instructions, 20, 0);
    assert_close(r.cycles, 3000, 0);
    assert_string_equal(sequence_of(1, 0, &r), "nothing was recorded");
    assert_true(isnan(r.cycles));
    assert_string_equal(sequence_of(4, 4, &r), "nothing was recorded");
    assert_string_equal(sequence_of(4, 3, &r), "");
    assert_close(r.instructions, 193, 0);
}

/* ---- remarks ---- */

TEST(remarks_that_say_nothing_are_not_noted)
{
    static const char *const notes[] = {NULL, "", "no SCHED_FIFO"};
    const struct segment segment = {.duration_us = 10, .sampled = true};
    const struct repetitions_plan plan = {
        .machine = {.period_us = 1}, .segments = &segment, .n_segments = 1, .wanted = 0, .attempts = 0};
    for (size_t i = 0; i < 3; i++) {
        struct machine_error err;
        struct repetitions r;
        begin();
        script.notes = notes[i];
        assert_int_equal(repetitions_run(&machine, &plan, &r, &err), MACHINE_OK);
        const char *noted = trace_get(&r.trace, "notes");
        if (i < 2)
            assert_null(noted);
        else
            assert_string_equal(noted, notes[i]);
        assert_null(trace_get(&r.trace, "date")); /* of models alone */
        assert_string_equal(trace_get(&r.trace, "seed"), "0");
        repetitions_free(&r);
    }
}
