/* SPDX-License-Identifier: GPL-3.0-or-later */
/* License counters and events by name of the machine helper, over a made-up device. */
#include "drivers/helper/helper.h"
#include "tests/support/fake_helper.h"
#include "tests/support/fake_pmu.h"
#include "tests/support/helper_rig.h"
#include "tests/support/test.h"

/* On a Skylake-SP that has licenses, except for what the test changes. */
static struct cpu_leaves leaves;

static void open_that(void)
{
    const struct helper_place place = {
        .device = "/dev/made-up", .sys = "/sys", .io = &fake_helper_io, .data_dir = "data", .leaves = &leaves};
    if (helper_rig.machine.ops != NULL)
        helper_rig.machine.ops->close(&helper_rig.machine);
    if (helper_open_at(&place, &helper_rig.machine, &helper_rig.error) != MACHINE_OK)
        fail_msg("%s", helper_rig.error.text);
}

/* "" = it has the counter. */
static void expect_lack(enum counter_id id, const char *text)
{
    const char *remedy = NULL, *why = helper_rig.machine.ops->lacks(&helper_rig.machine, id, &remedy);
    assert_true((why == NULL) == (remedy == NULL));
    if (text[0] == '\0' ? why != NULL : why == NULL || strstr(why, text) == NULL)
        fail_msg("counter %d: \"%s\" instead of \"%s\"", (int)id, why != NULL ? why : "", text);
}

static void expect_no_licenses(const char *text)
{
    for (enum counter_id id = COUNTER_LVL0; id <= COUNTER_THROTTLE; id++) {
        expect_lack(id, "no license counters: ");
        expect_lack(id, text);
    }
}

TEST_WITH(test_licenses_by_name, helper_rig_reset, helper_rig_close)
{
    const struct counter_spec wanted[] = {
        {COUNTER_LVL2, 0}, {COUNTER_THROTTLE, 0}, {COUNTER_EVENT, 0x00c0}, {COUNTER_CYCLES, 0}};
    static const uint32_t codes[] = {0, 0x00c0, 0x2028, 0x4028};
    struct machine_info info;
    struct recording rec;
    fake_helper_skylake_sp(&leaves);
    open_that();
    for (enum counter_id id = COUNTER_LVL0; id <= COUNTER_THROTTLE; id++)
        expect_lack(id, "");
    assert_int_equal(fake_helper.prepared, 1);
    assert_int_equal(fake_helper.runs, 1 + 3); /* the one of prepare, and each kernel */
    helper_rig.machine.ops->info(&helper_rig.machine, &info);
    assert_int_equal(info.cpu_number, -1);
    assert_null(strstr(info.notes, "masked"));
    helper_rig_prepare(wanted, 4);
    assert_int_equal(fake_helper.setup.n_counters, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(fake_helper.setup.counter[i].source, i == 0 ? CHARACTERIZE_CYCLES : CHARACTERIZE_RAW);
        assert_int_equal(fake_helper.setup.counter[i].config, codes[i]);
    }
    assert_int_equal(helper_rig_run("512fma", "512fma", 100, &rec), MACHINE_OK);
    const uint64_t *last = rec.words + (rec.n - 1) * rec.stride;
    assert_true(last[5] > 0 && last[2] == last[5] && last[3] == 20000);
}

TEST_WITH(test_licenses_that_fail_the_test, helper_rig_reset, helper_rig_close)
{
    fake_helper_skylake_sp(&leaves);
    fake_helper.level_of[1] = 0; /* 256 bits at level 0 */
    open_that();
    expect_no_licenses("with 256fma levels 0, 1, 2 took 100.0, 0.0, 0.0 %");
    expect_lack(COUNTER_EVENT, "");
    fake_helper_skylake_sp(&leaves);
    fake_helper.throttled = 0;
    open_that();
    expect_lack(COUNTER_LVL2, "");
    expect_lack(COUNTER_THROTTLE, "it counted nothing");
    fake_helper_skylake_sp(&leaves);
    fake_helper.hello.features &= ~(unsigned)KERNEL_NEEDS_AVX512F;
    open_that();
    expect_lack(COUNTER_LVL1, "");
    expect_lack(COUNTER_LVL2, "no AVX-512");
    fake_helper_skylake_sp(&leaves);
    fake_helper.run_errno = EFAULT;
    open_that();
    expect_no_licenses("the kernel helper, running: ");
    /* three readings may be where it begins, has warmed up and ends; that these come too early, they say themselves */
    for (unsigned n = 1; n <= 3; n++) {
        fake_helper_skylake_sp(&leaves);
        fake_helper.run_errno = 0;
        fake_helper.readings = n;
        open_that();
        expect_no_licenses(n < 3 ? "the license-event test failed: no readings" : "64add took at most 0 cycles");
    }
}

TEST_WITH(test_licenses_without_a_free_counter, helper_rig_reset, helper_rig_close)
{
    const struct counter_spec wanted[] = {
        {COUNTER_CYCLES, 0}, {COUNTER_LVL0, 0}, {COUNTER_LVL1, 0}, {COUNTER_LVL2, 0}, {COUNTER_EVENT, 0x00c0}};
    const struct counter_spec events[] = {
        {COUNTER_EVENT, 0x00c0}, {COUNTER_EVENT, 0x01c0}, {COUNTER_EVENT, 0x02c0}, {COUNTER_EVENT, 0x0728}};
    struct machine_setup s = {
        .cpu = -1, .active_cores = 1, .period_us = 2, .counters = events, .n_counters = 4, .max_samples = 200};
    struct machine_info info;
    fake_helper_skylake_sp(&leaves);
    fake_helper.programmable = 2;
    open_that();
    expect_no_licenses("no hardware counter is free for event 0x28:0x20");
    fake_helper.programmable = 3; /* enough for the levels */
    open_that();
    expect_lack(COUNTER_LVL2, "");
    expect_lack(COUNTER_THROTTLE, "no hardware counter is free for throttled cycles");
    helper_rig_prepare(wanted, 5); /* the event comes first, the last level gets none */
    helper_rig.machine.ops->info(&helper_rig.machine, &info);
    assert_non_null(strstr(info.notes, "no hardware counter is free, not counted: license level 2"));
    fake_helper.programmable = 1;
    helper_rig_prepare(wanted + 1, 4);
    helper_rig.machine.ops->info(&helper_rig.machine, &info);
    if (strstr(info.notes, "; no hardware counter is free, not counted: license level 0, license level 1, license "
                           "level 2; ") == NULL)
        fail_msg("%s", info.notes);
    fake_helper.programmable = 3;
    assert_int_equal(helper_rig.machine.ops->prepare(&helper_rig.machine, &s, &helper_rig.error), MACHINE_CANNOT);
    helper_rig_refused(MACHINE_CANNOT, "no hardware counter is free for event 0x28:0x07");
}

TEST_WITH(test_parts_and_names, helper_rig_reset, helper_rig_close)
{
    uint64_t code = 0;
    fake_helper_skylake_sp(&leaves);
    open_that();
    assert_int_equal(helper_rig.machine.ops->find_event(&helper_rig.machine, "core_power.lvl1_turbo_license", &code,
                                                        &helper_rig.error),
                     MACHINE_OK);
    assert_int_equal(code, 0x1828);
    assert_int_equal(
        helper_rig.machine.ops->find_event(&helper_rig.machine, "CORE_POWER.LVL9", &code, &helper_rig.error),
        MACHINE_BAD_INPUT);
    assert_non_null(strstr(helper_rig.error.remedy, "CORE_POWER.LVL0_TURBO_LICENSE"));
    struct machine_event named[8];
    size_t n;
    assert_int_equal(helper_rig.machine.ops->named_events(&helper_rig.machine, 0x28, named, 8, &n, &helper_rig.error),
                     MACHINE_OK);
    assert_int_equal(n, 4);
    assert_string_equal(named[3].name, "CORE_POWER.THROTTLE");
    fake_pmu_identity(&leaves, "GenuineIntel", 6, 0x8f, 8);
    open_that();
    expect_no_licenses("no license events have been published for Sapphire Rapids");
    fake_pmu_identity(&leaves, "GenuineIntel", 6, 0x55, 9);
    open_that();
    expect_no_licenses("there is no event table for GenuineIntel 06_55H-9");
    assert_int_equal(
        helper_rig.machine.ops->find_event(&helper_rig.machine, "CORE_POWER.THROTTLE", &code, &helper_rig.error),
        MACHINE_CANNOT);
    assert_non_null(strstr(helper_rig.error.remedy, "--event 0x28:0x08"));
    assert_int_equal(helper_rig.machine.ops->named_events(&helper_rig.machine, 0x28, named, 8, &n, &helper_rig.error),
                     MACHINE_CANNOT);
    assert_int_equal(n, 0);
    fake_pmu_identity(&leaves, "AuthenticAMD", 0x19, 0x11, 1);
    open_that();
    expect_no_licenses("AMD processors have no license levels");
    assert_int_equal(helper_rig.machine.ops->find_event(&helper_rig.machine, "ex_ret_ops", &code, &helper_rig.error),
                     MACHINE_OK);
    const struct counter_spec twelve_bits = {COUNTER_EVENT, event_code_make(0x1c7, 8)};
    helper_rig_prepare(&twelve_bits, 1);
    assert_int_equal(fake_helper.setup.counter[0].source, CHARACTERIZE_RAW);
    assert_int_equal(fake_helper.setup.counter[0].config, 0x1000008c7);
    fake_pmu_identity(&leaves, "GenuineIntel", 6, 0x55, 4);
    open_that();
    const struct machine_setup s = {
        .cpu = -1, .active_cores = 1, .period_us = 2, .counters = &twelve_bits, .n_counters = 1, .max_samples = 200};
    assert_int_equal(helper_rig.machine.ops->prepare(&helper_rig.machine, &s, &helper_rig.error), MACHINE_CANNOT);
    helper_rig_refused(MACHINE_CANNOT, "event 0x1c7:0x08 cannot be counted: only AMD processors");
    /* without counters a table is of no use */
    fake_helper_skylake_sp(&leaves);
    fake_helper.try_errno = EOPNOTSUPP;
    fake_helper.try_reason = CHARACTERIZE_REASON_NO_PMU;
    open_that();
    expect_no_licenses("no performance counters here");
    assert_int_equal(
        helper_rig.machine.ops->find_event(&helper_rig.machine, "CORE_POWER.THROTTLE", &code, &helper_rig.error),
        MACHINE_CANNOT);
    helper_rig_refused(MACHINE_CANNOT, "no performance counters here");
}
