/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The limits of what the machine helper asks of the module, just at them and just beside them.
 */
#include "drivers/helper/helper_state.h"
#include "tests/support/fake_helper.h"
#include "tests/support/helper_rig.h"
#include "tests/support/test.h"

enum { TSC_HZ = 2000000000 };

static struct helper *helper(void)
{
    return helper_rig.machine.state;
}

/* A clock that is the same on every computer; opened anew, which measures this one's, only where it must be. */
static void open_at_2_ghz(enum helper_clock clock)
{
    if (helper_rig.machine.ops != NULL && helper()->clock == clock) {
        fake_helper.prepared = fake_helper.runs = 0;
        fake_helper.nmis_in_first = fake_helper.cut = 0;
        return;
    }
    if (helper_rig.machine.ops != NULL)
        helper_rig.machine.ops->close(&helper_rig.machine);
    fake_helper_reset();
    fake_helper.try_errno = clock == HELPER_COUNTERS ? 0 : EOPNOTSUPP;
    fake_helper.try_reason = CHARACTERIZE_REASON_NO_PMU;
    fake_helper.hello.can = clock == HELPER_CHAIN ? 0 : fake_helper.hello.can;
    helper_rig.clock_step = 1;
    if (helper_rig_open() != MACHINE_OK)
        fail_msg("%s", helper_rig.error.text);
    helper()->native.tsc.hz = TSC_HZ;
    assert_int_equal(helper()->clock, clock);
}

struct told_case {
    const char *name;
    enum helper_clock clock;
    double period_us;
    size_t room;
    uint64_t repetition;
    unsigned nmis_in_first;
    bool siblings, no_sibling;
    size_t n_counters;
    struct counter_spec counters[6];
};

static void prepare_case(const struct told_case *c)
{
    struct machine_setup s = {.cpu = -1,
                              .active_cores = 1,
                              .period_us = c->period_us,
                              .counters = c->n_counters > 0 ? c->counters : NULL,
                              .n_counters = c->n_counters,
                              .max_samples = c->room,
                              .siblings = c->siblings};
    if (helper_rig.machine.ops->prepare(&helper_rig.machine, &s, &helper_rig.error) != MACHINE_OK)
        fail_msg("%s: %s", c->name, helper_rig.error.text);
    helper()->native.tsc.hz = TSC_HZ;
}

/* ---- limits ---- */

static const struct told_case for_cycles = {
    .name = "cycles", .period_us = 2, .room = 200, .n_counters = 1, .counters = {{COUNTER_CYCLES, 0}}};

static int run_one(double us, bool sampled)
{
    struct recording rec;
    const struct segment one = {helper_rig_payload("64or"), us, sampled};
    const struct run_request r = {.segments = &one, .n_segments = 1};
    return helper_rig.machine.ops->run(&helper_rig.machine, &r, &rec, &helper_rig.error);
}

TEST_WITH(as_many_periods_as_were_prepared_for, helper_rig_reset, helper_rig_close)
{
    open_at_2_ghz(HELPER_COUNTERS);
    prepare_case(&for_cycles);
    assert_int_equal(run_one(2 * 200, true), MACHINE_OK);
    assert_int_equal(run_one(2 * 200 + 1, true), MACHINE_BAD_INPUT);
    assert_string_equal(helper_rig.error.text, "a repetition needs room for 201 samples, but only 200 were prepared");
    assert_int_equal(run_one(2 * 300, false), MACHINE_OK); /* takes none */
    assert_int_equal(fake_helper.setup.readings, SAMPLING_ROOM_A_PERIOD * 200 + 1 + 1000);
}

TEST_WITH(bursts_of_so_many_blocks, helper_rig_reset, helper_rig_close)
{
    open_at_2_ghz(HELPER_COUNTERS);
    prepare_case(&for_cycles);
    struct recording rec;
    const struct segment segments[] = {{helper_rig_payload("64or"), 10, true},
                                       {helper_rig_payload("64or"), 5, true, 7}};
    const struct run_request r = {.segments = segments, .n_segments = 2, .zero_segment = 1};
    assert_int_equal(helper_rig.machine.ops->run(&helper_rig.machine, &r, &rec, &helper_rig.error), MACHINE_OK);
    assert_int_equal(fake_helper.run.segment[0].blocks, 0);
    assert_int_equal(fake_helper.run.segment[1].blocks, 7);
}

TEST_WITH(as_long_as_may_be_masked, helper_rig_reset, helper_rig_close)
{
    open_at_2_ghz(HELPER_COUNTERS);
    prepare_case(&for_cycles);
    assert_int_equal(run_one(CHARACTERIZE_MASKED_US_MAX, false), MACHINE_OK);
    assert_int_equal(run_one(CHARACTERIZE_MASKED_US_MAX + 0.5, false), MACHINE_BAD_INPUT);
    assert_string_equal(helper_rig.error.text,
                        "a repetition of 10 ms exceeds the 10 ms for which the kernel helper masks interrupts");
}

/* How often it is tried with the interrupts masked for so many ticks in the first attempt. */
static int attempts_at(uint64_t ticks)
{
    int before = fake_helper.runs;
    fake_helper.masked_ticks = ticks;
    assert_int_equal(run_one(50, true), MACHINE_OK);
    return fake_helper.runs - before;
}

/* 10 ms and a twentieth. */
TEST_WITH(how_long_the_module_itself_may_mask, helper_rig_reset, helper_rig_close)
{
    struct machine_info info;
    open_at_2_ghz(HELPER_COUNTERS);
    prepare_case(&for_cycles);
    assert_int_equal(attempts_at(TSC_HZ / 1000 * 10), 1);
    assert_int_equal(attempts_at(20999999), 1);
    assert_int_equal(attempts_at(21000000), 1);
    assert_int_equal(attempts_at(21000100), 2);
    assert_int_equal(attempts_at(44000000), 2);
    assert_int_equal(attempts_at(30000000), 2); /* the longest is told */
    helper_rig.machine.ops->info(&helper_rig.machine, &info);
    if (strstr(info.notes, "held the CPU in 3 of 9 repetitions, delaying interrupts by up to 22.0 ms") == NULL ||
        strstr(info.notes, "NMIs") != NULL)
        fail_msg("%s", info.notes);
}

/* A disturbed one is tried 3 times and then taken; one that was cut 20 times, and then there is none. */
TEST_WITH(how_often_it_is_tried, helper_rig_reset, helper_rig_close)
{
    struct machine_info info;
    for (unsigned nmis = 0; nmis < 6; nmis++) {
        open_at_2_ghz(HELPER_COUNTERS);
        prepare_case(&for_cycles);
        int before = fake_helper.runs;
        fake_helper.nmis_in_first = (unsigned)before + nmis;
        assert_int_equal(run_one(50, true), MACHINE_OK);
        assert_int_equal(fake_helper.runs - before, nmis < 3 ? nmis + 1 : 3);
        helper_rig.machine.ops->info(&helper_rig.machine, &info);
        char text[80];
        snprintf(text, sizeof text, "%u NMIs and 0 SMIs hit %u repetitions, which were repeated", nmis < 3 ? nmis : 3,
                 nmis < 3 ? nmis + 1 : 3);
        assert_int_equal(strstr(info.notes, text) != NULL, nmis > 0);
    }
    static const unsigned cuts[] = {CHARACTERIZE_CUT_TIME, CHARACTERIZE_CUT_ROOM};
    static const char *const texts[] = {
        "20 attempts at a repetition reached the 10 ms for which the kernel helper masks interrupts",
        "20 attempts at a repetition filled the kernel helper's buffer too early"};
    for (size_t i = 0; i < 2; i++) {
        open_at_2_ghz(HELPER_COUNTERS);
        prepare_case(&for_cycles);
        int before = fake_helper.runs;
        fake_helper.cut = cuts[i];
        assert_int_equal(run_one(50, true), MACHINE_FAILED);
        assert_int_equal(fake_helper.runs - before, 20);
        assert_string_equal(helper_rig.error.text, texts[i]);
    }
}
