/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine helper over a made-up device: what it requests, what it makes of the answers, and what it says. */
#include "drivers/helper/helper.h"
#include "drivers/helper/helper_state.h"
#include "drivers/timing/timing_chains.h"
#include "tests/support/fake_helper.h"
#include "tests/support/helper_rig.h"
#include "tests/support/test.h"

TEST_WITH(test_connecting, helper_rig_reset, helper_rig_close)
{
    struct helper_answer a;
    int fd = helper_connect(&fake_helper_io, "/dev/made-up", &a);
    assert_true(fd >= 0 && a.open_errno == 0 && !a.other_version && a.refusal[0] == '\0');
    fake_helper_io.close(fd);
    fake_helper.hello_errno = EPROTO;
    assert_int_equal(helper_connect(&fake_helper_io, "/dev/made-up", &a), -1);
    assert_true(a.other_version);
    fake_helper.hello_errno = ENOTTY;
    assert_int_equal(helper_connect(&fake_helper_io, "/dev/made-up", &a), -1);
    assert_true(a.other_version);
    fake_helper.hello_errno = EOPNOTSUPP;
    fake_helper.hello_reason = CHARACTERIZE_REASON_VENDOR;
    assert_int_equal(helper_connect(&fake_helper_io, "/dev/made-up", &a), -1);
    assert_false(a.other_version);
    assert_string_equal(a.refusal, "the processor is from neither Intel nor AMD");
    fake_helper.hello_errno = 0;
    fake_helper.hello.registry ^= 1;
    assert_int_equal(helper_connect(&fake_helper_io, "/dev/made-up", &a), -1);
    assert_true(a.other_version);
    assert_int_equal(fake_helper.opened, fake_helper.closed);
    fake_helper.open_errno = EBUSY;
    assert_int_equal(helper_connect(&fake_helper_io, "/dev/made-up", &a), -1);
    assert_int_equal(a.open_errno, EBUSY);
}

TEST_WITH(test_open_says_why_not, helper_rig_reset, helper_rig_close)
{
    fake_helper.open_errno = ENOENT;
    assert_int_equal(helper_rig_open(), MACHINE_CANNOT);
    helper_rig_refused(MACHINE_CANNOT, "No such file");
    fake_helper.open_errno = 0;
    fake_helper.hello_errno = EPROTO;
    assert_int_equal(helper_rig_open(), MACHINE_CANNOT);
    helper_rig_refused(MACHINE_CANNOT, "another version");
    assert_non_null(strstr(helper_rig.error.remedy, "rmmod"));
    assert_int_equal(fake_helper.opened, fake_helper.closed);
}

/* The device is given back where the processor cannot be used. */
TEST_WITH(test_a_processor_without_a_clock, helper_rig_reset, helper_rig_close)
{
    const struct cpu_leaves none = {0};
    const struct helper_place place = {
        .device = "/dev/made-up", .sys = "/sys", .io = &fake_helper_io, .data_dir = "data", .leaves = &none};
    struct machine m;
    struct machine_error err;
    assert_int_equal(helper_open_at(&place, &m, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "this CPU has no time-stamp counter"));
    assert_int_equal(fake_helper.opened, 1);
    assert_int_equal(fake_helper.closed, 1);
}

TEST_WITH(test_every_reason_has_words, helper_rig_reset, helper_rig_close)
{
    char text[140];
    for (unsigned i = 0; i <= CHARACTERIZE_REASON_COUNT; i++) {
        helper_reason(&fake_helper_io, 0, i, text, sizeof text);
        assert_true(strlen(text) > 5);
        assert_true(strlen(text) < sizeof((struct characterize_reason_text *)NULL)->text);
    }
}

TEST_WITH(test_counters, helper_rig_reset, helper_rig_close)
{
    const struct counter_spec wanted[] = {
        {COUNTER_CYCLES, 0}, {COUNTER_EVENT, 0x0728}, {COUNTER_LVL1, 0}, {COUNTER_INSTRUCTIONS, 0}};
    struct machine_info info;
    struct recording rec;
    assert_int_equal(helper_rig_open(), MACHINE_OK);
    helper_rig.machine.ops->info(&helper_rig.machine, &info);
    assert_string_equal(info.name, "helper");
    assert_non_null(strstr(info.source, "interrupts masked: performance counters"));
    assert_null(helper_rig.machine.ops->lacks(&helper_rig.machine, COUNTER_CYCLES, NULL));
    assert_null(helper_rig.machine.ops->lacks(&helper_rig.machine, COUNTER_EVENT, NULL));
    assert_non_null(helper_rig.machine.ops->lacks(&helper_rig.machine, COUNTER_LVL1, NULL));
    assert_non_null(helper_rig.machine.ops->lacks(&helper_rig.machine, COUNTER_CHAIN_TICKS, NULL));
    helper_rig_prepare(wanted, 4);
    assert_int_equal(fake_helper.setup.n_counters, 3);
    assert_int_equal(fake_helper.setup.counter[0].source, CHARACTERIZE_CYCLES);
    /* counters that the frequency needs come first */
    assert_int_equal(fake_helper.setup.counter[1].source, CHARACTERIZE_INSTRUCTIONS);
    assert_int_equal(fake_helper.setup.counter[2].source, CHARACTERIZE_RAW);
    assert_int_equal(fake_helper.setup.counter[2].config, 0x0728);
    assert_true(fake_helper.setup.flags & CHARACTERIZE_PARK_SIBLING);
    assert_int_equal(fake_helper.setup.n_corunners, 0);
    assert_int_equal(helper_rig_run("64or", "64mul", 100, &rec), MACHINE_OK);
    assert_int_equal(rec.n, 30);
    assert_int_equal(rec.stride, 6);
    for (size_t i = 0; i < rec.n; i++) {
        const uint64_t *w = rec.words + i * rec.stride;
        assert_int_equal(w[0], 5000000 + i * 1000);
        assert_int_equal(w[2], i * 500); /* over the end of 48 bits */
        assert_int_equal(w[3], i * 1500);
        assert_true(w[4] == COUNTER_MISSING);
        assert_true(w[5] == (i == 3 ? COUNTER_MISSING : i * 1000));
    }
    /* 5 blocks of the warm-up, then 10 a reading; 10 readings of 64or, then those of 64mul */
    unsigned per_or = helper_rig_payload("64or").instructions, per_mul = helper_rig_payload("64mul").instructions;
    assert_int_equal(rec.words[1], 15 * per_or);
    assert_int_equal(rec.words[9 * rec.stride + 1], 105 * per_or);
    assert_int_equal(rec.words[11 * rec.stride + 1], 105 * per_or + 20 * per_mul);
    assert_int_equal(rec.zero_reading, 9);
    assert_int_equal(rec.zero_tsc, 5009000);
    assert_int_equal(rec.involuntary_switches, 0);
    helper_rig.machine.ops->info(&helper_rig.machine, &info);
    assert_non_null(strstr(info.notes, "masking the local APIC's timer"));
    assert_non_null(strstr(info.notes, "MWAIT"));
}

TEST_WITH(test_aperf_where_there_are_no_counters, helper_rig_reset, helper_rig_close)
{
    const struct counter_spec wanted[] = {{COUNTER_REF_CYCLES, 0}, {COUNTER_CYCLES, 0}};
    const char *remedy;
    struct recording rec;
    fake_helper.try_errno = EOPNOTSUPP;
    fake_helper.try_reason = CHARACTERIZE_REASON_NO_PMU;
    assert_int_equal(helper_rig_open(), MACHINE_OK);
    assert_null(helper_rig.machine.ops->lacks(&helper_rig.machine, COUNTER_REF_CYCLES, NULL));
    assert_non_null(strstr(helper_rig.machine.ops->lacks(&helper_rig.machine, COUNTER_INSTRUCTIONS, &remedy),
                           "no performance counters"));
    assert_non_null(remedy);
    helper_rig_prepare(wanted, 2);
    assert_int_equal(fake_helper.setup.n_counters, 0);
    assert_true(fake_helper.setup.flags & CHARACTERIZE_APERF_MPERF);
    assert_int_equal(helper_rig_run("64or", "64mul", 100, &rec), MACHINE_OK);
    assert_int_equal(rec.words[4 * rec.stride + 2], 4 * 1000); /* MPERF, the second of the two */
    assert_int_equal(rec.words[4 * rec.stride + 3], 4 * 500);
}

/* Mean cycles a tick of all readings. */
static double chain_mean(const struct recording *rec)
{
    const uint64_t *first = rec->words, *last = rec->words + (rec->n - 1) * rec->stride;
    return (double)(last[3] - first[3]) / CHAIN_CYCLE_UNIT / (double)(last[2] - first[2]);
}

/* The notes of a moment of adds; with steps, what they do to chains of 200 adds at 2 ticks a cycle. */
static void expect_step_note(const char *notes, double step, double tsc_hz)
{
    char expected[400] = "interrupts masked by clearing IF and masking the local APIC's timer";
    if (step > 0) {
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used,
                 "; the TSC advances in steps of %.3g ns: a single sample gives the frequency to about %s",
                 step / tsc_hz * 1e9,
                 step < 30 ? "2 %, a hundred together to 0.2 %" : "4 %, a hundred together to 0.4 %");
    }
    const char *ours = strstr(notes, "interrupts masked"); /* after what is said of a virtual machine */
    assert_non_null(ours);
    assert_string_equal(ours, expected);
}

/*
 * By clocks in steps of 1 tick, of some 10 and of some 25 ns, wherever among them readings lie: the steps even out
 * after waits that differ.
 */
TEST_WITH(test_chain_where_there_is_nothing, helper_rig_reset, helper_rig_close)
{
    const struct counter_spec wanted[] = {{COUNTER_CHAIN_TICKS, 0}, {COUNTER_CHAIN_CYCLES, 0}, {COUNTER_READ_TICKS, 0}};
    static const uint64_t steps[] = {1, 20, 50};
    for (size_t k = 0; k < 3; k++) {
        struct recording rec;
        bool coarse = steps[k] > 4;
        helper_rig_close(state);
        fake_helper.try_errno = EOPNOTSUPP;
        fake_helper.try_reason = CHARACTERIZE_REASON_NO_PMU;
        fake_helper.hello.can = 0;
        fake_helper.tsc_step = steps[k];
        helper_rig.clock_step = (double)steps[k];
        assert_int_equal(helper_rig_open(), MACHINE_OK);
        assert_non_null(strstr(helper_rig.machine.ops->lacks(&helper_rig.machine, COUNTER_CYCLES, NULL),
                               "no performance counters"));
        assert_null(helper_rig.machine.ops->lacks(&helper_rig.machine, COUNTER_CHAIN_CYCLES, NULL));
        assert_null(helper_rig.machine.ops->lacks(&helper_rig.machine, COUNTER_READ_TICKS, NULL));
        helper_rig_prepare(wanted, 3);
        assert_int_equal(fake_helper.prepared, 2); /* once to find out what a chain costs */
        assert_int_equal(fake_helper.setup.flags, CHARACTERIZE_CHAIN);
        struct machine_info info;
        helper_rig.machine.ops->info(&helper_rig.machine, &info);
        assert_int_equal(fake_helper.setup.dither, timing_choose_chains((double)steps[k], info.tsc_hz, 1).dither);
        assert_true(info.tsc_step == (double)steps[k]);
        assert_true(coarse == (strstr(info.notes, "the TSC advances in steps of") != NULL));
        expect_step_note(info.notes, coarse ? (double)steps[k] : 0, info.tsc_hz);
        double sum = 0, most = 0;
        enum { RUNS = 40 };
        for (unsigned run = 0; run < RUNS; run++) {
            assert_int_equal(helper_rig_run("64or", "64mul", 100, &rec), MACHINE_OK);
            sum += chain_mean(&rec) / RUNS;
            most = fmax(most, fabs(chain_mean(&rec) / 0.5 - 1));
            const uint64_t *words = rec.words + (rec.n - 1) * rec.stride;
            assert_true(words[4] > words[2]); /* the waits are time without payload, too */
            /* each sum begins with the repetition: of the first chain of all, a short one in the fourth reading */
            unsigned first_ticks = 2 * (CHAIN_SHORT_ADDS + 30);
            assert_true(rec.words[2 * rec.stride + 2] == 0 && rec.words[2 * rec.stride + 3] == 0);
            if (coarse)
                assert_close((double)rec.words[3 * rec.stride + 2], first_ticks, (double)steps[k]);
            else
                assert_int_equal(rec.words[3 * rec.stride + 2], first_ticks);
            assert_close((double)rec.words[3 * rec.stride + 3] / CHAIN_CYCLE_UNIT, first_ticks / 2.0,
                         coarse ? 5 : 0.01);
        }
        if (fabs(sum / 0.5 - 1) > 0.003 || most > 0.04)
            fail_msg("steps of %u ticks: %.4f cycles a tick, at worst %.1f %% off", (unsigned)steps[k], sum,
                     100 * most);
    }
    helper_rig.clock_step = 0;
}

static int prepare_chain(double step, unsigned bad_from, unsigned bad_to)
{
    static const struct counter_spec wanted[] = {{COUNTER_CHAIN_TICKS, 0}};
    static const struct machine_setup s = {
        .cpu = -1, .active_cores = 1, .period_us = 2, .counters = wanted, .n_counters = 1, .max_samples = 200};
    helper_rig_close(NULL);
    fake_helper.try_errno = EOPNOTSUPP;
    fake_helper.try_reason = CHARACTERIZE_REASON_NO_PMU;
    fake_helper.hello.can = 0;
    fake_helper.tsc_step = (uint64_t)step;
    fake_helper.bad_from = bad_from;
    fake_helper.bad_to = bad_to;
    helper_rig.clock_step = step;
    assert_int_equal(helper_rig_open(), MACHINE_OK);
    int status = helper_rig.machine.ops->prepare(&helper_rig.machine, &s, &helper_rig.error);
    helper_rig.clock_step = 0;
    return status;
}

/* In repetitions of 5 ms, until there are as many chains as are remembered; then a moment to try it out. */
TEST_WITH(test_a_chain_is_calibrated_until_it_tells_something, helper_rig_reset, helper_rig_close)
{
    enum { ENOUGH = 5, MOST = 40 }; /* of 1000 chains each */
    static const double steps[] = {1, 50};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(prepare_chain(steps[i], 0, 0), MACHINE_OK);
        assert_int_equal(fake_helper.runs, ENOUGH + 1);
        assert_int_equal(prepare_chain(steps[i], 1, 2 * ENOUGH), MACHINE_OK);
        assert_in_range(fake_helper.runs, 2 * ENOUGH + 2, 3 * ENOUGH + 1);
        assert_int_equal(prepare_chain(steps[i], 1, MOST), MACHINE_FAILED);
        helper_rig_refused(MACHINE_FAILED, "the chain of adds cannot be calibrated");
        assert_int_equal(fake_helper.runs, MOST);
        assert_int_equal(fake_helper.prepared, 1);
        assert_int_equal(fake_helper.mapped, 0);
    }
    assert_int_equal(prepare_chain(50, 0, 0), MACHINE_OK);
    const struct characterize_run *r = &fake_helper.first_run;
    struct machine_info info;
    helper_rig.machine.ops->info(&helper_rig.machine, &info);
    assert_int_equal(fake_helper.first_setup.readings, 32768);
    assert_close(fake_helper.first_setup.period / info.tsc_hz, 1e-6, 1e-9);
    assert_int_equal(r->n_segments, 2);
    assert_int_equal(r->zero, 1);
    assert_close((double)r->segment[0].ticks / info.tsc_hz, 1e-3, 1e-9);
    assert_int_equal(r->segment[0].sampled, 0);
    assert_close((double)r->segment[1].ticks / info.tsc_hz, 4e-3, 1e-9);
    assert_int_equal(r->segment[1].sampled, 1);
    assert_memory_equal(&r->segment[0].payload, &r->segment[1].payload, sizeof r->segment[0].payload);
}

TEST_WITH(test_what_cannot_be_run, helper_rig_reset, helper_rig_close)
{
    const struct counter_spec wanted[] = {{COUNTER_CYCLES, 0}};
    struct recording rec;
    assert_int_equal(helper_rig_open(), MACHINE_OK);
    assert_int_equal(helper_rig_run("64or", "64mul", 100, &rec), MACHINE_FAILED);
    helper_rig_refused(MACHINE_FAILED, "not prepared");
    struct machine_setup s = {
        .cpu = -1, .active_cores = 1, .period_us = 0.1, .counters = wanted, .n_counters = 1, .max_samples = 200};
    assert_int_equal(helper_rig.machine.ops->prepare(&helper_rig.machine, &s, &helper_rig.error), MACHINE_BAD_INPUT);
    helper_rig_refused(MACHINE_BAD_INPUT, "0.1 us");
    /* from 0.25 us to 10 ms, both included */
    static const double periods[] = {0.249, 0.25, 10000, 10001};
    for (size_t i = 0; i < 4; i++) {
        s.period_us = periods[i];
        assert_int_equal(helper_rig.machine.ops->prepare(&helper_rig.machine, &s, &helper_rig.error),
                         i % 3 ? MACHINE_OK : MACHINE_BAD_INPUT);
    }
    fake_helper.runs = 0;
    helper_rig_prepare(wanted, 1);
    assert_int_equal(helper_rig_run("64or", "64mul", 0, &rec), MACHINE_OK);
    assert_int_equal(helper_rig_run("64or", "64mul", 0.5, &rec), MACHINE_OK);
    assert_int_equal(helper_rig_run("64or", "64mul", -0.1, &rec), MACHINE_BAD_INPUT);
    helper_rig_refused(MACHINE_BAD_INPUT, "segment 0 lasts -0.1 us: it must be 0 to 1e9");
    fake_helper.runs = 1;
    assert_int_equal(helper_rig_run("64or", "64mul", 9950, &rec), MACHINE_BAD_INPUT);
    helper_rig_refused(MACHINE_BAD_INPUT, "10 ms");
    assert_non_null(strstr(helper_rig.error.remedy, "--warmup"));
    assert_int_equal(helper_rig_run("64or", "amx", 100, &rec), MACHINE_CANNOT);
    helper_rig_refused(MACHINE_CANNOT, "AMX tiles are not used in the kernel");
    assert_int_equal(helper_rig_run("64or", "128load@l2", 100, &rec), MACHINE_CANNOT);
    helper_rig_refused(MACHINE_CANNOT, "no buffers");
    struct kernel from_file = *kernel_named("64or").kernel;
    from_file.like = "64add";
    const struct payload block = {.kernel = &from_file, .density = 1, .name = "mine"};
    assert_int_equal(helper_check_kernel(helper_rig.machine.state, &block, &helper_rig.error), MACHINE_CANNOT);
    assert_non_null(strstr(helper_rig.error.text, "kernel mine: the Linux module runs no code from files"));
    struct payload from_l3 = kernel_named("128load@l3");
    assert_int_equal(helper_check_kernel(helper_rig.machine.state, &from_l3, &helper_rig.error), MACHINE_CANNOT);
    assert_string_equal(helper_rig.error.text, "kernel 128load@l3: the Linux module has no buffers for operands beyond "
                                               "the first-level cache");
    assert_string_equal(helper_rig.error.remedy, "--machine perf, msr or timing runs it in user space");
    assert_int_equal(fake_helper.runs, 1); /* the one of prepare */
    fake_helper.run_errno = EINVAL;
    fake_helper.run_reason = CHARACTERIZE_REASON_READINGS;
    assert_int_equal(helper_rig_run("64or", "64mul", 100, &rec), MACHINE_BAD_INPUT);
    helper_rig_refused(MACHINE_BAD_INPUT, "do not fit into the buffer");
    fake_helper.run_errno = EFAULT;
    fake_helper.run_reason = 0;
    assert_int_equal(helper_rig_run("64or", "64mul", 100, &rec), MACHINE_FAILED);
    helper_rig_refused(MACHINE_FAILED, strerror(EFAULT));
}

TEST_WITH(test_preparing_can_fail, helper_rig_reset, helper_rig_close)
{
    const struct counter_spec wanted[] = {{COUNTER_CYCLES, 0}};
    struct machine_setup s = {
        .cpu = -1, .active_cores = 1, .period_us = 2, .counters = wanted, .n_counters = 1, .max_samples = 200};
    assert_int_equal(helper_rig_open(), MACHINE_OK);
    fake_helper.prepare_errno = EOPNOTSUPP;
    fake_helper.prepare_reason = CHARACTERIZE_REASON_NO_COUNTER;
    assert_int_equal(helper_rig.machine.ops->prepare(&helper_rig.machine, &s, &helper_rig.error), MACHINE_CANNOT);
    helper_rig_refused(MACHINE_CANNOT, "counter 1 of 1: perf refused the counter");
    assert_int_equal(fake_helper.prepared, 1);
    assert_true(fake_helper.setup.flags & CHARACTERIZE_PARK_SIBLING);
    fake_helper.prepare_reason = CHARACTERIZE_REASON_COUNTERS;
    assert_true(helper_rig.machine.ops->prepare(&helper_rig.machine, &s, &helper_rig.error) != MACHINE_OK);
    assert_non_null(strstr(helper_rig.error.text, "counter 1 of 1: "));
    fake_helper.prepare_reason = CHARACTERIZE_REASON_CPU_NUMBER;
    assert_true(helper_rig.machine.ops->prepare(&helper_rig.machine, &s, &helper_rig.error) != MACHINE_OK);
    assert_non_null(strstr(helper_rig.error.text, "preparing: "));
    /* no other hyper-thread: requested again without */
    fake_helper.prepare_reason = CHARACTERIZE_REASON_NO_SIBLING;
    fake_helper.prepared = 0;
    assert_int_equal(helper_rig.machine.ops->prepare(&helper_rig.machine, &s, &helper_rig.error), MACHINE_CANNOT);
    assert_int_equal(fake_helper.prepared, 2);
    assert_false(fake_helper.setup.flags & CHARACTERIZE_PARK_SIBLING);
    fake_helper.prepare_errno = 0;
    fake_helper.no_sibling = 1;
    fake_helper.prepared = 0;
    assert_int_equal(helper_rig.machine.ops->prepare(&helper_rig.machine, &s, &helper_rig.error), MACHINE_OK);
    assert_int_equal(fake_helper.prepared, 2);
    struct machine_info info;
    helper_rig.machine.ops->info(&helper_rig.machine, &info);
    assert_null(strstr(info.notes, "parked"));
    fake_helper.map_fails = 1;
    assert_int_equal(helper_rig.machine.ops->prepare(&helper_rig.machine, &s, &helper_rig.error), MACHINE_FAILED);
    helper_rig_refused(MACHINE_FAILED, "cannot map");
}

/* It is followed by a moment of adds, unsampled, which shows what is counted. */
TEST_WITH(test_a_moment_of_adds_tells_what_is_counted, helper_rig_reset, helper_rig_close)
{
    const struct counter_spec wanted[] = {{COUNTER_CYCLES, 0}, {COUNTER_INSTRUCTIONS, 0}};
    struct machine_setup s = {
        .cpu = -1, .active_cores = 1, .period_us = 2, .counters = wanted, .n_counters = 2, .max_samples = 200};
    struct machine_info info;
    assert_int_equal(helper_rig_open(), MACHINE_OK);
    helper_rig_prepare(wanted, 2);
    assert_int_equal(fake_helper.runs, 1);
    helper_rig.machine.ops->info(&helper_rig.machine, &info);
    const struct characterize_run *r = &fake_helper.run;
    assert_int_equal(r->n_segments, 1);
    assert_close((double)r->segment[0].ticks / info.tsc_hz, 10e-6, 1e-9);
    assert_int_equal(r->segment[0].sampled, 0);
    for (uint32_t counter = 0; counter < 2; counter++) {
        fake_helper.uncounted = 1u << counter;
        assert_int_equal(helper_rig.machine.ops->prepare(&helper_rig.machine, &s, &helper_rig.error), MACHINE_CANNOT);
        helper_rig_refused(MACHINE_CANNOT, counter ? "no hardware counter is free for instructions"
                                                   : "no hardware counter is free for cycles");
    }
}

static void open_for_cycles(void)
{
    static const struct counter_spec wanted[] = {{COUNTER_CYCLES, 0}};
    assert_int_equal(helper_rig_open(), MACHINE_OK);
    helper_rig_prepare(wanted, 1);
}

TEST_WITH(test_disturbed_repetitions, helper_rig_reset, helper_rig_close)
{
    struct machine_info info;
    struct recording rec;
    open_for_cycles();
    fake_helper.nmis_in_first = 2;
    assert_int_equal(helper_rig_run("64or", "64mul", 100, &rec), MACHINE_OK);
    assert_int_equal(fake_helper.runs, 3);
    helper_rig.machine.ops->info(&helper_rig.machine, &info);
    assert_non_null(strstr(info.notes, "1 NMIs and 0 SMIs hit 2 repetitions"));
    assert_null(strstr(info.notes, "held the CPU"));
    fake_helper.cut = CHARACTERIZE_CUT_TIME;
    assert_int_equal(helper_rig_run("64or", "64mul", 100, &rec), MACHINE_FAILED);
    helper_rig_refused(MACHINE_FAILED, "reached the 10 ms");
    fake_helper.cut = CHARACTERIZE_CUT_ROOM;
    assert_int_equal(helper_rig_run("64or", "64mul", 100, &rec), MACHINE_FAILED);
    helper_rig_refused(MACHINE_FAILED, "filled the kernel helper's buffer");
}

/* A hypervisor that breaks a promise of 10 ms is reported, and the repetition is done again. */
TEST_WITH(test_a_stolen_cpu, helper_rig_reset, helper_rig_close)
{
    struct machine_info info;
    struct recording rec;
    open_for_cycles();
    helper_rig.machine.ops->info(&helper_rig.machine, &info);
    int before = fake_helper.runs;
    fake_helper.masked_ticks = (uint64_t)(info.tsc_hz * 0.0329);
    assert_int_equal(helper_rig_run("64or", "64mul", 100, &rec), MACHINE_OK);
    assert_int_equal(fake_helper.runs, before + 2);
    helper_rig.machine.ops->info(&helper_rig.machine, &info);
    if (strstr(info.notes, "held the CPU in 1 of 2 repetitions, delaying interrupts by up to 32.9 ms") == NULL)
        fail_msg("%s", info.notes);
    fake_helper.masked_ticks = (uint64_t)(info.tsc_hz * 0.0101);
    assert_int_equal(helper_rig_run("64or", "64mul", 100, &rec), MACHINE_OK);
    assert_int_equal(fake_helper.runs, before + 3);
}

TEST_WITH(test_more_readings_than_were_prepared_for, helper_rig_reset, helper_rig_close)
{
    struct recording rec;
    open_for_cycles();
    struct segment segment = {helper_rig_payload("64or"), 9000, true};
    struct run_request r = {.segments = &segment, .n_segments = 1};
    int before = fake_helper.runs;
    assert_int_equal(helper_rig.machine.ops->run(&helper_rig.machine, &r, &rec, &helper_rig.error), MACHINE_BAD_INPUT);
    helper_rig_refused(MACHINE_BAD_INPUT, "needs room for");
    assert_int_equal(fake_helper.runs, before);
}

TEST_WITH(test_voltage, helper_rig_reset, helper_rig_close)
{
    const struct counter_spec wanted[] = {{COUNTER_CYCLES, 0}};
    struct recording rec;
    uint64_t value;
    assert_int_equal(helper_rig_open(), MACHINE_OK);
    assert_non_null(helper_rig.machine.ops->read_register);
    helper_rig_prepare(wanted, 1);
    assert_int_equal(helper_rig_run("64or", "64mul", 100, &rec), MACHINE_OK);
    assert_int_equal(fake_helper.run.last_register, 0); /* never in a repetition with samples */
    struct segment alone = {helper_rig_payload("64or"), 100, false};
    struct run_request r = {.segments = &alone, .n_segments = 1};
    assert_int_equal(helper_rig.machine.ops->run(&helper_rig.machine, &r, &rec, &helper_rig.error), MACHINE_OK);
    assert_int_equal(fake_helper.run.last_register, 0x198);
    assert_int_equal(helper_rig.machine.ops->read_register(&helper_rig.machine, 0x198, &value, &helper_rig.error),
                     MACHINE_OK);
    assert_true(value == fake_helper.register_value);
    assert_int_equal(helper_rig.machine.ops->read_register(&helper_rig.machine, 0x198, &value, &helper_rig.error),
                     MACHINE_OK);
    assert_true(value == fake_helper.msr_value); /* read now */
    /* a value read at an end before all was prepared again is not of this measurement */
    assert_int_equal(helper_rig.machine.ops->run(&helper_rig.machine, &r, &rec, &helper_rig.error), MACHINE_OK);
    helper_rig_prepare(wanted, 1);
    assert_int_equal(helper_rig.machine.ops->read_register(&helper_rig.machine, 0x198, &value, &helper_rig.error),
                     MACHINE_OK);
    assert_true(value == fake_helper.msr_value && value != fake_helper.register_value);
    fake_helper.msr_errno = EIO;
    assert_int_equal(helper_rig.machine.ops->read_register(&helper_rig.machine, 0x1ad, &value, &helper_rig.error),
                     MACHINE_CANNOT);
    helper_rig_refused(MACHINE_CANNOT, "register 1ADH");
}

TEST_WITH(test_no_voltage, helper_rig_reset, helper_rig_close)
{
    fake_helper.msr_errno = EIO;
    assert_int_equal(helper_rig_open(), MACHINE_OK);
    assert_null(helper_rig.machine.ops->read_register);
    helper_rig.machine.ops->close(&helper_rig.machine);
    fake_helper.msr_errno = 0;
    fake_helper.msr_value = 0x3e8;
    assert_int_equal(helper_rig_open(), MACHINE_OK);
    assert_null(helper_rig.machine.ops->read_register);
}

/* ---- words for reasons ---- */

static const char *reason_text;
static int reason_status;

static int reason_ioctl(int fd, unsigned long request, void *arg)
{
    struct characterize_reason_text *t = arg;
    assert_int_equal(fd, 9);
    assert_true(request == CHARACTERIZE_IOC_REASON);
    assert_int_equal(t->version, CHARACTERIZE_VERSION);
    size_t length = strlen(reason_text) + 1;
    memcpy(t->text, reason_text, length < sizeof t->text ? length : sizeof t->text);
    return reason_status;
}

static const char *reason_of(const char *text, int status, unsigned reason)
{
    static char out[300];
    const struct helper_io io = {.ioctl = reason_ioctl};
    reason_text = text;
    reason_status = status;
    helper_reason(&io, 9, reason, out, sizeof out);
    return out;
}

TEST(test_reasons_have_words)
{
    char most[sizeof(((struct characterize_reason_text *)0)->text) + 1];
    memset(most, 'x', sizeof most - 1);
    most[sizeof most - 1] = '\0';
    assert_string_equal(reason_of("the module's words", 0, 1), "the module's words");
    assert_string_equal(reason_of(most, 0, 1), most); /* without an end of its own */
    const char *own = reason_of("", 0, CHARACTERIZE_REASON_COUNT - 1);
    assert_true(own[0] != '\0' && strcmp(own, "for an unknown reason") != 0);
    assert_string_equal(reason_of("", 0, CHARACTERIZE_REASON_COUNT), "for an unknown reason");
    assert_string_equal(reason_of("not its words", -1, CHARACTERIZE_REASON_COUNT), "for an unknown reason");
}
