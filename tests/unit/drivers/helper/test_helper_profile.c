/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profiler's records over a made-up device: which counters it is requested, what it gives, and what is refused. */
#include "drivers/helper/helper.h"
#include "drivers/profile/profile_source.h"
#include "tests/support/fake_helper.h"
#include "tests/support/fake_pmu.h"
#include "tests/support/test.h"

static struct machine_error error;
static struct profile_source source;
static struct cpu_leaves leaves;
static const struct profile_setup setup = {
    .seed = 7, .mean_us = 20000, .pause_us = 700, .window_us = 70, .ref_khz = 2100000};

/* A Skylake-SP that has licenses, except for what the test changes. */
static int reset(void **state)
{
    (void)state;
    fake_helper_reset();
    fake_helper_skylake_sp(&leaves);
    return 0;
}

static int open_it(bool rehearsal)
{
    const struct helper_place place = {
        .device = "/dev/made-up", .sys = "/sys", .io = &fake_helper_io, .data_dir = "data", .leaves = &leaves};
    int status = helper_profile_open_at(&place, rehearsal, &source, &error);
    /* nothing stays open of what could not be used */
    assert_int_equal(fake_helper.opened - fake_helper.closed, status == MACHINE_OK);
    return status;
}

static void refused(int status, const char *text, const char *remedy)
{
    assert_int_equal(error.status, status);
    if (strstr(error.text, text) == NULL || strstr(error.remedy, remedy) == NULL)
        fail_msg("\"%s; %s\" instead of \"%s; %s\"", error.text, error.remedy, text, remedy);
    assert_null(strchr(error.text, '\n'));
}

TEST_WITH(test_what_is_counted, reset, NULL)
{
    struct profile_source_info info;
    if (open_it(false) != MACHINE_OK)
        fail_msg("%s", error.text);
    source.ops->info(&source, &info);
    assert_string_equal(info.name, "helper");
    assert_false(info.modelled);
    assert_non_null(strstr(info.cpu, "06_55H-4"));
    assert_true(info.cores >= 1 && info.cpus >= info.cores);
    assert_true(info.ref_khz > 1e5 && info.ref_khz < 1e7);
    assert_int_equal(source.ops->start(&source, &setup, &error), MACHINE_OK);
    const struct characterize_profile *p = &fake_helper.profile;
    assert_int_equal(p->version, CHARACTERIZE_VERSION);
    assert_memory_equal(&p->setup, &setup, sizeof setup);
    assert_int_equal(p->counter[PROFILE_CYCLES].source, CHARACTERIZE_CYCLES);
    assert_int_equal(p->counter[PROFILE_REF].source, CHARACTERIZE_REF_CYCLES);
    /* table 3.2 and section 4.3.2 of the dissertation; data/events/skylake-sp.events */
    const uint64_t codes[] = {0x1828, 0x2028, 0x50005a3, 0x40a6};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(p->counter[PROFILE_LEVEL1 + i].source, CHARACTERIZE_RAW);
        assert_int_equal(p->counter[PROFILE_LEVEL1 + i].config, codes[i]);
    }
    source.ops->info(&source, &info); /* now as the module says */
    assert_int_equal(info.cpus, 6);
    assert_int_equal(info.cores, 3);
    assert_string_equal(info.notes, "");
    source.ops->close(&source);
    assert_int_equal(fake_helper.stops, 1);
    assert_int_equal(fake_helper.closed, fake_helper.opened);
}

TEST_WITH(test_records, reset, NULL)
{
    struct profile_record made[5] = {0}, got[8];
    struct profile_source_totals totals;
    size_t n;
    assert_int_equal(open_it(false), MACHINE_OK);
    assert_int_equal(source.ops->start(&source, &setup, &error), MACHINE_OK);
    for (uint32_t i = 0; i < 5; i++)
        made[i] = (struct profile_record){.number = i, .cpu = i + 3};
    fake_helper.records = made;
    fake_helper.n_records = 5;
    const size_t expected[] = {3, 2, 0}; /* as they come */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(source.ops->read(&source, got, 8, 10, &n, &error), MACHINE_OK);
        assert_int_equal(n, expected[i]);
        assert_memory_equal(got, made + (i == 1 ? 3 : 0), n * sizeof got[0]);
    }
    fake_helper.records = made;
    fake_helper.n_records = 5;
    assert_int_equal(source.ops->read(&source, got, 1, 10, &n, &error), MACHINE_OK);
    assert_int_equal(n, 1); /* no more than there is room for */

    fake_helper.totals = (struct characterize_profile_totals){
        .turns = 9, .lost = 2, .pause_ns_max = 712345, .elapsed_ns = 1500000000};
    source.ops->totals(&source, &totals);
    assert_int_equal(totals.turns, 9);
    assert_int_equal(totals.lost, 2);
    assert_close(totals.pause_us_max, 712.345, 1e-9);
    assert_close(totals.seconds, 1.5, 1e-12);
    fake_helper.totals.turns = 11;
    source.ops->stop(&source);
    fake_helper.totals.turns = 0;
    source.ops->totals(&source, &totals); /* of the end, also afterwards */
    assert_int_equal(totals.turns, 11);
    source.ops->stop(&source);
    assert_int_equal(fake_helper.stops, 1);
    source.ops->close(&source);
}

TEST_WITH(test_signals_and_failures_while_reading, reset, NULL)
{
    struct profile_record made[1] = {0}, got[1];
    size_t n = 7;
    assert_int_equal(open_it(false), MACHINE_OK);
    fake_helper.wait_answer = -1; /* EINTR */
    assert_int_equal(source.ops->read(&source, got, 1, 10, &n, &error), MACHINE_OK);
    assert_int_equal(n, 0);
    fake_helper.records = made;
    fake_helper.n_records = 1;
    fake_helper.read_errno = EAGAIN;
    assert_int_equal(source.ops->read(&source, got, 1, 10, &n, &error), MACHINE_OK);
    assert_int_equal(n, 0);
    fake_helper.read_errno = EIO;
    assert_int_equal(source.ops->read(&source, got, 1, 10, &n, &error), MACHINE_FAILED);
    assert_int_equal(n, 0);
    refused(MACHINE_FAILED, "no more records from the kernel helper: Input/output error", "");
    source.ops->close(&source);
}

static void start_fails(int number, unsigned reason, int status, const char *text, const char *remedy)
{
    assert_int_equal(open_it(false), MACHINE_OK);
    fake_helper.start_errno = number;
    fake_helper.start_reason = reason;
    assert_int_equal(source.ops->start(&source, &setup, &error), status);
    refused(status, text, remedy);
    source.ops->close(&source);
    assert_int_equal(fake_helper.stops, 0);
    reset(NULL);
}

TEST_WITH(test_what_the_module_refuses, reset, NULL)
{
    start_fails(EBUSY, CHARACTERIZE_REASON_PROFILE_RUNS, MACHINE_CANNOT, "a profile is running", "");
    start_fails(EINVAL, CHARACTERIZE_REASON_PROFILE_SETUP, MACHINE_BAD_INPUT, "outside of its limits", "");
    start_fails(EINVAL, CHARACTERIZE_REASON_PROFILE_DUTY, MACHINE_BAD_INPUT, "more than 5 %", "");
    start_fails(ENOMEM, CHARACTERIZE_REASON_MEMORY, MACHINE_FAILED, "out of memory", "");
    start_fails(EOPNOTSUPP, CHARACTERIZE_REASON_NO_TIMER, MACHINE_CANNOT, "no high-resolution timers", "");
    start_fails(EOPNOTSUPP, CHARACTERIZE_REASON_COUNTER_BUSY, MACHINE_CANNOT, "cannot count license level 2 on CPU 3",
                "counters");
    start_fails(ENOTTY, CHARACTERIZE_REASON_NONE, MACHINE_CANNOT, "another version", "rmmod");
    start_fails(EPROTO, CHARACTERIZE_REASON_VERSION, MACHINE_CANNOT, "another version", "rmmod");
    start_fails(EIO, CHARACTERIZE_REASON_NONE, MACHINE_FAILED, "Input/output error", "");
}

/* Nothing pretends to have levels. */
TEST_WITH(test_processors_without_levels, reset, NULL)
{
    static const struct {
        const char *vendor;
        unsigned family, model, stepping;
        const char *says;
    } all[] = {
        {"AuthenticAMD", 0x19, 0x11, 1, "AMD processors have no license levels"},
        {"HygonGenuine", 0x18, 0, 1, "AMD processors have no license levels"},
        {"GenuineIntel", 6, 0x8f, 8, "Sapphire Rapids"},
        {"GenuineIntel", 6, 0xcf, 2, "Emerald Rapids"},
        {"GenuineIntel", 6, 0xad, 1, "Granite Rapids"},
        {"GenuineIntel", 6, 0x97, 2, "Alder Lake"},
        {"GenuineIntel", 6, 0x3f, 2, "Haswell-EP"},
        {"GenuineIntel", 6, 0x4f, 1, "Broadwell-EP"},
        {"GenuineIntel", 6, 0x5e, 3, "Skylake client"},
        {"GenuineIntel", 6, 0x1a, 5, ""},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        reset(NULL);
        fake_pmu_identity(&leaves, all[i].vendor, all[i].family, all[i].model, all[i].stepping);
        /* Alder Lake's list holds for its P cores, whose PMU this computer does not have */
        assert_int_equal(open_it(false), MACHINE_CANNOT);
        if (strcmp(all[i].says, "Alder Lake") != 0)
            refused(MACHINE_CANNOT, all[i].says, "");
        assert_int_equal(fake_helper.opened, 0);
        assert_int_equal(open_it(true), MACHINE_OK); /* a rehearsal needs none */
        source.ops->close(&source);
    }
}

/* Events that are listed, but do not count what their names say on this part. */
TEST_WITH(test_events_that_do_not_count, reset, NULL)
{
    struct profile_source_info info;
    fake_helper.level_of[1] = 0; /* contradicts what is published of a Skylake-SP */
    assert_int_equal(open_it(false), MACHINE_CANNOT);
    refused(MACHINE_CANNOT, "the license-event test failed", "");

    reset(NULL); /* an Ice Lake client, where nothing demands level 2 */
    fake_pmu_identity(&leaves, "GenuineIntel", 6, 0x7e, 5);
    fake_helper.level_of[1] = 0;
    fake_helper.level_of[2] = 1;
    if (open_it(false) != MACHINE_OK)
        fail_msg("%s", error.text);
    source.ops->info(&source, &info);
    assert_non_null(strstr(info.notes, "license level 2 cannot be tested here"));
    source.ops->close(&source);

    reset(NULL); /* a Rocket Lake: one level */
    fake_pmu_identity(&leaves, "GenuineIntel", 6, 0xa7, 1);
    fake_helper.level_of[1] = fake_helper.level_of[2] = 0;
    assert_int_equal(open_it(false), MACHINE_CANNOT);
    refused(MACHINE_CANNOT, "license level 1 cannot be tested here", "");
}

TEST_WITH(test_without_counters, reset, NULL)
{
    fake_helper.try_errno = EOPNOTSUPP;
    fake_helper.try_reason = CHARACTERIZE_REASON_NO_PMU;
    assert_int_equal(open_it(false), MACHINE_CANNOT);
    refused(MACHINE_CANNOT, "no performance counters", "");
    assert_int_equal(open_it(true), MACHINE_OK);
    assert_int_equal(source.ops->start(&source, &setup, &error), MACHINE_OK);
    assert_int_equal(fake_helper.profile.setup.flags, PROFILE_REHEARSAL);
    source.ops->close(&source);
}

TEST_WITH(test_no_device, reset, NULL)
{
    for (int rehearsal = 0; rehearsal < 2; rehearsal++) {
        reset(NULL);
        fake_helper.open_errno = EBUSY;
        assert_int_equal(open_it(rehearsal), MACHINE_CANNOT);
        refused(MACHINE_CANNOT, "Device or resource busy", "--list machines");
    }
    reset(NULL);
    fake_helper.hello_errno = EPROTO;
    assert_int_equal(open_it(false), MACHINE_CANNOT);
    refused(MACHINE_CANNOT, "another version", "rmmod");
}
