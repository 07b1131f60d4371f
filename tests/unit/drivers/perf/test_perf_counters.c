/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests of the perf machine to perf_event_open, and to which PMU. */
#include "computer/cpu/tsc.h"
#include "drivers/perf/perf.h"
#include "kernels/kernels.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

TEST(test_attributes)
{
    struct perf_pmu plain = {.name = "cpu", .type = PERF_TYPE_RAW}, core = {"cpu_core", 4, true},
                    atom = {"cpu_atom", 10, true};
    struct perf_event_attr a;
    perf_fill_attr(&plain, COUNTER_CYCLES, 0, &a);
    assert_int_equal(a.type, PERF_TYPE_HARDWARE);
    assert_int_equal(a.config, PERF_COUNT_HW_CPU_CYCLES);
    assert_true(a.pinned && a.exclude_kernel && a.exclude_hv && !a.disabled && !a.inherit);
    perf_fill_attr(&plain, COUNTER_EVENT, 0x0c000ca3, &a);
    assert_int_equal(a.type, PERF_TYPE_RAW);
    assert_int_equal(a.config, 0x0c000ca3);
    perf_fill_attr(&plain, COUNTER_EVENT, event_code_make(0x1c7, 8), &a);
    assert_int_equal(a.config, 0x1000008c7);
    perf_fill_attr(&plain, COUNTER_LVL1, 0x1828, &a);
    assert_int_equal(a.config, 0x1828);
    perf_fill_attr(&core, COUNTER_INSTRUCTIONS, 0, &a);
    assert_int_equal(a.type, PERF_TYPE_HARDWARE);
    assert_int_equal(a.config, 4ull << 32 | PERF_COUNT_HW_INSTRUCTIONS);
    perf_fill_attr(&atom, COUNTER_REF_CYCLES, 0, &a);
    assert_int_equal(a.config, 10ull << 32 | PERF_COUNT_HW_REF_CPU_CYCLES);
    perf_fill_attr(&atom, COUNTER_EVENT, 0x00c0, &a);
    assert_int_equal(a.type, 10);
}

TEST(test_names)
{
    static const struct {
        enum counter_id id;
        uint64_t code;
        const char *name;
    } cases[] = {{COUNTER_CYCLES, 0, "cycles"},
                 {COUNTER_REF_CYCLES, 0, "reference cycles"},
                 {COUNTER_INSTRUCTIONS, 0, "instructions"},
                 {COUNTER_LVL0, 0, "license level 0"},
                 {COUNTER_LVL2, 0, "license level 2"},
                 {COUNTER_THROTTLE, 0, "throttled cycles"},
                 {COUNTER_EVENT, 0x0828, "event 0x28:0x08"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[60];
        perf_counter_name(cases[i].id, cases[i].code, name, sizeof name);
        assert_string_equal(name, cases[i].name);
    }
}

TEST(test_the_pmu_of_a_hybrid_part_is_that_of_the_cpu)
{
    char root[FOLDER_PATH_MAX];
    struct perf_pmu pmu;
    folder_make(root);
    perf_find_pmu(root, 3, &pmu);
    assert_string_equal(pmu.name, "cpu");
    assert_int_equal(pmu.type, PERF_TYPE_RAW);
    assert_false(pmu.hybrid);
    folder_put(root, "bus/event_source/devices/cpu_core/type", "4\n");
    folder_put(root, "bus/event_source/devices/cpu_core/cpus", "0-15\n");
    folder_put(root, "bus/event_source/devices/cpu_atom/type", "10\n");
    folder_put(root, "bus/event_source/devices/cpu_atom/cpus", "16-23\n");
    perf_find_pmu(root, 15, &pmu);
    assert_string_equal(pmu.name, "cpu_core");
    assert_int_equal(pmu.type, 4);
    perf_find_pmu(root, 16, &pmu);
    assert_string_equal(pmu.name, "cpu_atom");
    assert_int_equal(pmu.type, 10);
    assert_true(pmu.hybrid);
    perf_find_pmu(root, 24, &pmu);
    assert_string_equal(pmu.name, "cpu");
    folder_remove(root);
}

/* ---- the running kernel ---- */

/*
 * A page of this kernel: that of a software event, which every kernel with perf has, and which is on no counter. Read
 * by RDPMC it would end the program.
 */
TEST(test_a_software_event_of_this_kernel_is_missing)
{
    struct perf_system s;
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    struct machine_error err;
    perf_real_system(&s);
    int fd = s.open(&attr, -1);
    if (fd < 0) {
        print_message("skipped: perf_event_open: %s\n", strerror(-fd));
        skip();
    }
    struct perf_counter c = {.fd = fd, .page = s.map(fd)};
    assert_non_null(c.page);
    struct perf_reader reader = {.n = 1, .slot = {{.page = c.page}}};
    uint64_t words[3];
    for (int i = 0; i < 10; i++) {
        s.samplers->read(&reader, words);
        assert_int_equal(words[2], COUNTER_MISSING);
        assert_true(words[0] > 0);
    }
    assert_int_equal(perf_counter_check(&s, &c, COUNTER_CYCLES, 0, 1, &err), MACHINE_CANNOT);
    perf_counter_close(&s, &c);
    assert_null(c.page);
    perf_counter_close(&s, &c); /* twice is allowed */
}

/* The cycles of this kernel: counted, or refused with what and where. */
TEST(test_the_cycles_of_this_kernel)
{
    struct perf_system s;
    struct perf_pmu pmu;
    struct perf_counter c;
    struct machine_error err;
    perf_real_system(&s);
    perf_find_pmu(s.sys, 0, &pmu);
    if (perf_counter_open(&s, &pmu, 0, COUNTER_CYCLES, 0, &c, &err) == MACHINE_OK) {
        perf_counter_close(&s, &c);
    } else {
        assert_int_equal(err.status, MACHINE_CANNOT);
        assert_non_null(strstr(err.text, "perf_event_open cannot count cycles on CPU 0 "));
        assert_true(err.remedy[0] != '\0');
    }
}

/* Work for so long, on whatever CPU; what no kernel counts is refused with its error. */
TEST(test_what_the_running_kernel_is_requested)
{
    struct perf_system s;
    struct payload p;
    struct perf_event_attr attr = {.type = 0x7fffffff, .size = sizeof attr};
    const uint64_t ticks = 3000000;
    perf_real_system(&s);
    assert_int_equal(kernel_parse("64add", &p, NULL, 0), 0);
    uint64_t begin = tsc_now();
    s.run(&p, ticks);
    assert_true(tsc_now() - begin >= ticks);
    int fd = s.open(&attr, -1), on_cpu = s.open_cpu(&attr, 0);
    assert_true(fd < -1 || errno == EPERM);
    assert_true(on_cpu < -1 || errno == EPERM);
    assert_null(s.map(-1));
}
