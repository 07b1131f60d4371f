/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials of the machine helper over a made-up device: what it requests, and what it makes of the answers. */
#include "computer/cpu/cpu.h"
#include "drivers/helper/helper.h"
#include "drivers/native/trials.h"
#include "tests/support/fake_helper.h"
#include "tests/support/test.h"

enum { MOST = 3000 };

static struct machine machine;
static struct machine_error error;
static struct trials_seen seen;
static double duration[MOST], tick_ns;

static int open_prepared(void **state)
{
    (void)state;
    const struct helper_place place = {
        .device = "/dev/made-up", .sys = "/sys", .io = &fake_helper_io, .data_dir = "data", .tsc_step = 26};
    const struct machine_setup s = {.cpu = -1, .active_cores = 1, .period_us = 2, .max_samples = 200};
    struct machine_info info;

    fake_helper_reset();
    assert_int_equal(helper_open_at(&place, &machine, &error), MACHINE_OK);
    assert_int_equal(machine.ops->prepare(&machine, &s, &error), MACHINE_OK);
    machine.ops->info(&machine, &info);
    tick_ns = 1e9 / info.tsc_hz;
    /* the rates of the made-up module are those of this machine's clock */
    fake_helper.hello.tsc_khz = (uint64_t)(info.tsc_hz / 1000);
    return 0;
}

static int close_machine(void **state)
{
    (void)state;
    machine.ops->close(&machine);
    fake_helper_reset();
    return 0;
}

static struct trials_request masked(unsigned trials, double us)
{
    return (struct trials_request){
        .workload = WORKLOAD_BRANCH, .before = TRIALS_SPOIL, .trial_us = us, .trials = trials, .masked = true};
}

static int try_trials(const struct trials_request *r)
{
    for (size_t i = 0; i < MOST; i++)
        duration[i] = -1;
    return machine.ops->trials(&machine, r, duration, &seen, &error);
}

static void run_trials(const struct trials_request *r)
{
    if (try_trials(r) != MACHINE_OK)
        fail_msg("%s", error.text);
}

static void refused(const struct trials_request *r, int status, const char *text)
{
    assert_int_equal(try_trials(r), status);
    assert_int_equal(error.status, status);
    if (strstr(error.text, text) == NULL)
        fail_msg("\"%s\" instead of \"%s\"", error.text, text);
}

TEST_WITH(test_ns_where_nothing_is_counted, open_prepared, close_machine)
{
    struct trials_request r = masked(7, 300);
    run_trials(&r);
    assert_false(seen.cycles);
    assert_true(fabs(seen.resolution - 26 * tick_ns) < 1e-9);
    for (unsigned i = 0; i < 7; i++)
        assert_true(fabs(duration[i] - (double)(seen.rounds * 100 + i) * tick_ns) < 1e-6);
    assert_true(duration[7] == -1);
    assert_true(fabs(duration[0] / 300e3 - 1) < 0.1);
    assert_int_equal(fake_helper.trials.flags, 0);
    assert_int_equal(fake_helper.trials.spoil, TRIALS_SPOIL_ROUNDS);
    assert_int_equal(fake_helper.trials.step, 0);
    assert_int_equal(fake_helper.trials.workload, WORKLOAD_BRANCH);
    assert_int_equal(fake_helper.trials.rounds, seen.rounds);
    assert_true(seen.between.interrupts == 0 && seen.between.faults == 0 && seen.between.switches == 0);
    assert_true(isnan(seen.between.smis));
}

TEST_WITH(test_cycles_of_many_calls, open_prepared, close_machine)
{
    struct trials_request r = masked(2500, 10);
    r.before = TRIALS_IBPB;
    fake_helper.trials_counted = CHARACTERIZE_COUNTED_CYCLES | CHARACTERIZE_COUNTED_SMIS;
    fake_helper.trials_at_once = 700;
    fake_helper.trials_nmis = 3;
    fake_helper.trials_smis = 2;
    run_trials(&r);
    assert_true(seen.cycles && seen.resolution == 1);
    for (unsigned i = 0; i < 2500; i++)
        assert_true(duration[i] == (double)((seen.rounds * 100 + i % 700) / 2));
    assert_int_equal(fake_helper.trials_calls, 4);
    assert_int_equal(fake_helper.trials.n, 400);
    assert_int_equal(fake_helper.trials.flags, CHARACTERIZE_TRIALS_IBPB);
    assert_int_equal(fake_helper.trials.spoil, 0);
    assert_true(seen.between.interrupts == 12 && seen.between.smis == 8);
}

TEST_WITH(test_a_stolen_cpu_is_reported, open_prepared, close_machine)
{
    struct trials_request r = masked(2000, 10);
    struct machine_info info;
    fake_helper.given_up_at = 2;
    fake_helper.trials_counted = CHARACTERIZE_COUNTED_CYCLES;
    run_trials(&r);
    assert_true(seen.cycles);
    assert_int_equal(fake_helper.trials_calls, 3);
    for (unsigned i = 0; i < 2000; i++)
        assert_true(duration[i] > 0);
    machine.ops->info(&machine, &info);
    assert_non_null(strstr(info.notes, "in 1 masked trials until their 5 ms were over"));
}

TEST_WITH(test_the_length_of_long_rounds, open_prepared, close_machine)
{
    /* a round of 90 us */
    struct trials_request r = masked(10, 300);
    fake_helper.round_ticks = (unsigned)(90e3 / tick_ns);
    run_trials(&r);
    assert_in_range(seen.rounds, 3, 4);
    /* one beyond the aim: it cannot be less */
    fake_helper.round_ticks = (unsigned)(900e3 / tick_ns);
    run_trials(&r);
    assert_int_equal(seen.rounds, 1);
    /* one beyond the limit */
    fake_helper.round_ticks = (unsigned)(5100e3 / tick_ns);
    refused(&r, MACHINE_BAD_INPUT, "5 ms");
}

static int stop_at_third(void *data)
{
    return ++*(int *)data == 3;
}

TEST_WITH(test_what_is_refused, open_prepared, close_machine)
{
    int polls = 0;
    struct trials_request r = masked(10, 4001);
    refused(&r, MACHINE_BAD_INPUT, "at most 4000 us");
    r = masked(10, 300);
    r.bytes = CHARACTERIZE_TRIAL_BYTES_MAX * 2;
    refused(&r, MACHINE_CANNOT, "8192 KiB is too large");
    r = masked(10, 300);
    r.stop = stop_at_third;
    r.data = &polls;
    refused(&r, MACHINE_FAILED, "stopped");
    r = masked(10, 300);
    fake_helper.trials_errno = EOPNOTSUPP;
    fake_helper.trials_reason = CHARACTERIZE_REASON_NO_IBPB;
    refused(&r, MACHINE_CANNOT, "no indirect branch predictor barrier");
    machine.ops->finish(&machine);
    refused(&r, MACHINE_FAILED, "prepared");
}

/* The module is not used: in user space, on the CPU prepared for, and the thread is where it was afterwards. */
TEST_WITH(test_not_masked, open_prepared, close_machine)
{
    struct trials_request r = masked(3, 20);
    struct cpu_mask before, after;
    r.masked = false;
    assert_int_equal(cpu_get_affinity(&before), 0);
    run_trials(&r);
    assert_int_equal(cpu_get_affinity(&after), 0);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(fake_helper.trials_calls, 0);
    assert_true(seen.rounds > 0 && duration[0] > 0 && duration[2] > 0 && duration[3] == -1);
    r.before = TRIALS_IBPB;
    refused(&r, MACHINE_CANNOT, "MSR 49H");
}
