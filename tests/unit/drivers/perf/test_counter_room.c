/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages where hardware counters do not suffice: the NMI watchdog on, off, and unknown. */
#include <unistd.h>

#include "drivers/choices.h"
#include "drivers/perf/perf.h"
#include "drivers/helper/helper.h"
#include "tests/support/fake_helper.h"
#include "tests/support/fake_pmu.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

static char proc[FOLDER_PATH_MAX];

/* A folder laid out like /proc, with this in sys/kernel/nmi_watchdog; NULL: without it. */
static void watchdog_says(const char *text)
{
    folder_make(proc);
    if (text != NULL)
        folder_put_line(proc, "sys/kernel/nmi_watchdog", text);
}

static int sweep(void **state)
{
    (void)state;
    if (proc[0] != '\0')
        folder_remove(proc);
    return 0;
}

static const struct {
    const char *text;
    int watchdog;
    const char *has, *lacks; /* of the remedy */
} cases[] = {
    {"1", 1, "as root: sysctl kernel.nmi_watchdog=0 (the NMI watchdog holds a counter; =1 puts it back)",
     "stop other users"},
    {"0", 0, "stop other users of the counters (perf)", "nmi_watchdog"},
    {NULL, -1, "as root: sysctl kernel.nmi_watchdog=0)", "puts it back"},
    {"on", -1, "as root: sysctl kernel.nmi_watchdog=0)", "puts it back"},
};

static void expect(size_t i, const char *remedy)
{
    if (remedy == NULL || strstr(remedy, cases[i].has) == NULL || strstr(remedy, cases[i].lacks) != NULL ||
        strstr(remedy, "each --event comes before the license levels") == NULL)
        fail_msg("watchdog %s: \"%s\"", cases[i].text != NULL ? cases[i].text : "-", remedy != NULL ? remedy : "");
}

TEST_WITH(test_the_watchdog, NULL, sweep)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        watchdog_says(cases[i].text);
        assert_int_equal(perf_room_watchdog(proc), cases[i].watchdog);
        const char *remedy = perf_room_remedy(cases[i].watchdog);
        assert_true(strlen(remedy) < PERF_ROOM_REMEDY_SIZE &&
                    strlen(remedy) < sizeof((struct machine_error *)0)->remedy);
        expect(i, remedy);
        sweep(state);
    }
}

TEST(test_how_many_there_are)
{
    char text[100];
    struct cpu_leaves leaves;
    struct cpu_identity id;
    memset(&leaves, 0, sizeof leaves);
    leaves.counters.eax = 0x07300404; /* a Skylake-SP with hyper-threading: version 4, 4 counters of 48 bits */
    cpu_identify(&leaves, &id);
    assert_int_equal(id.general_counters, 4);
    leaves.counters.eax = 0x07300805;
    cpu_identify(&leaves, &id);
    assert_int_equal(id.general_counters, 8);
    leaves.counters.eax = 0x00000400; /* no version: no such leaf */
    cpu_identify(&leaves, &id);
    assert_int_equal(id.general_counters, 0);
    perf_room_text(5, 4, text, sizeof text);
    assert_string_equal(text, " (5 events; this logical CPU has 4 general-purpose counters)");
    perf_room_text(1, 1, text, sizeof text);
    assert_string_equal(text, " (1 events; this logical CPU has 1 general-purpose counters)");
    perf_room_text(5, 0, text, sizeof text);
    assert_string_equal(text, "");
    perf_room_text(0, 4, text, sizeof text);
    assert_string_equal(text, "");
}

/* ---- the perf machine ---- */

struct rig {
    struct perf_system system;
    struct cpu_leaves leaves;
    struct machine m;
    struct machine_error err;
};

static const struct counter_spec five[] = {{COUNTER_EVENT, 0x0128},
                                           {COUNTER_EVENT, 0x0228},
                                           {COUNTER_EVENT, 0x0428},
                                           {COUNTER_EVENT, 0x0828},
                                           {COUNTER_EVENT, 0x1028}};

static struct machine_setup setup_of(const struct counter_spec *c, size_t n)
{
    return (struct machine_setup){
        .cpu = -1, .active_cores = 1, .period_us = 2, .counters = c, .n_counters = n, .max_samples = 200};
}

/* Hyper-threading leaves four counters; the watchdog has the fixed one of the cycles, which take one of the four: three
 * are left for four license events. */
TEST_WITH(test_perf, NULL, sweep)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;
        struct machine_info info;
        const char *remedy = NULL;
        memset(&r, 0, sizeof r);
        watchdog_says(cases[i].text);
        fake_pmu_reset();
        fake_pmu_system(&r.system, &r.leaves);
        r.system.proc = proc;
        fake_pmu.programmable = 3;
        assert_int_equal(perf_open_at(&r.system, &r.m, &r.err), MACHINE_OK);
        assert_null(r.m.ops->lacks(&r.m, COUNTER_LVL2, NULL));
        const char *why = r.m.ops->lacks(&r.m, COUNTER_THROTTLE, &remedy);
        assert_non_null(why);
        assert_non_null(strstr(why, "no hardware counter is free for throttled cycles"));
        expect(i, remedy);
        /* events that are requested */
        struct machine_setup s = setup_of(five, 5);
        assert_int_equal(r.m.ops->prepare(&r.m, &s, &r.err), MACHINE_CANNOT);
        assert_non_null(strstr(r.err.text, "no hardware counter is free for event 0x28:0x08 (5 events; this logical "
                                           "CPU has 4 general-purpose counters)"));
        expect(i, r.err.remedy);
        /* the notes where the license levels do without */
        static const struct counter_spec mixed[] = {
            {COUNTER_CYCLES, 0}, {COUNTER_LVL0, 0}, {COUNTER_LVL1, 0}, {COUNTER_LVL2, 0}, {COUNTER_EVENT, 0x4028}};
        s = setup_of(mixed, 5);
        assert_int_equal(r.m.ops->prepare(&r.m, &s, &r.err), MACHINE_OK);
        r.m.ops->info(&r.m, &info);
        assert_non_null(strstr(info.notes, "not counted: license level 2"));
        expect(i, info.notes);
        r.m.ops->close(&r.m);
        /* no levels at all */
        fake_pmu.programmable = 2;
        assert_int_equal(perf_open_at(&r.system, &r.m, &r.err), MACHINE_OK);
        assert_non_null(
            strstr(r.m.ops->lacks(&r.m, COUNTER_LVL0, &remedy), "no hardware counter is free for license level 2"));
        expect(i, remedy);
        r.m.ops->close(&r.m);
        assert_int_equal(fake_pmu.opened, fake_pmu.closed);
        sweep(state);
    }
}

/* ---- the helper ---- */

TEST_WITH(test_helper, NULL, sweep)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cpu_leaves leaves;
        struct machine m;
        struct machine_error err;
        struct machine_info info;
        const char *remedy = NULL;
        watchdog_says(cases[i].text);
        fake_helper_reset();
        fake_helper_skylake_sp(&leaves);
        fake_helper.programmable = 3;
        const struct helper_place place = {.device = "/dev/made-up",
                                           .sys = "/sys",
                                           .proc = proc,
                                           .io = &fake_helper_io,
                                           .data_dir = "data",
                                           .leaves = &leaves};
        assert_int_equal(helper_open_at(&place, &m, &err), MACHINE_OK);
        const char *why = m.ops->lacks(&m, COUNTER_THROTTLE, &remedy);
        assert_non_null(why);
        assert_non_null(strstr(why, "no hardware counter is free for throttled cycles"));
        expect(i, remedy);
        struct machine_setup s = setup_of(five, 5);
        assert_int_equal(m.ops->prepare(&m, &s, &err), MACHINE_CANNOT);
        assert_non_null(strstr(err.text, "no hardware counter is free for event 0x28:0x08 (5 events; this logical CPU "
                                         "has 4 general-purpose counters)"));
        expect(i, err.remedy);
        static const struct counter_spec mixed[] = {
            {COUNTER_CYCLES, 0}, {COUNTER_LVL0, 0}, {COUNTER_LVL1, 0}, {COUNTER_LVL2, 0}, {COUNTER_EVENT, 0x4028}};
        s = setup_of(mixed, 5);
        assert_int_equal(m.ops->prepare(&m, &s, &err), MACHINE_OK);
        m.ops->info(&m, &info);
        assert_non_null(strstr(info.notes, "not counted: license level 2"));
        expect(i, info.notes);
        m.ops->close(&m);
        fake_helper.programmable = 2;
        assert_int_equal(helper_open_at(&place, &m, &err), MACHINE_OK);
        assert_non_null(strstr(m.ops->lacks(&m, COUNTER_LVL0, &remedy), "no hardware counter is free for"));
        expect(i, remedy);
        m.ops->close(&m);
        fake_helper_reset();
        sweep(state);
    }
}

/* ---- --list machines ---- */

TEST(test_choices)
{
    for (int watchdog = -1; watchdog <= 1; watchdog++) {
        const struct choice_facts f = {.perf_rdpmc = true, .rdpmc_setting = 1, .nmi_watchdog = watchdog};
        struct machine_choice c[8];
        size_t n = choices_from_facts(&f, c, 8);
        const struct machine_choice *perf = choices_find(c, n, "perf");
        assert_non_null(perf);
        assert_non_null(strstr(perf->why, "no hardware counter is free"));
        assert_true((strstr(perf->remedy, "=1 puts it back") != NULL) == (watchdog == 1));
        assert_true((strstr(perf->remedy, "sysctl kernel.nmi_watchdog=0") != NULL) == (watchdog != 0));
        assert_non_null(strstr(perf->remedy, "stop other users of the counters (perf)"));
    }
}
