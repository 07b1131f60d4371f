/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts in a bundle about the machine that it comes from, on trees that look like /sys and /proc. */
#include <cpuid.h>
#include <sys/utsname.h>

#include "output/self_test/host_facts.h"
#include "drivers/machine.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

static void expect(const json_t *o, const char *key, const char *value)
{
    const char *is = json_string_value(json_object_get(o, key));
    if (!is || strcmp(is, value) != 0)
        fail_msg("%s is %s, not %s", key, is ? is : "missing", value);
}

/* The first of the processors is reported, and how many there are; and the files that can be read. */
TEST(what_the_system_says_of_itself)
{
    char sys[FOLDER_PATH_MAX], proc[FOLDER_PATH_MAX];
    folder_make(sys);
    folder_make(proc);
    folder_put(proc, "cpuinfo",
               "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Xeon: one\n"
               "bugs\t\t:\n\nprocessor\t: 1\nmodel\t\t: 86\nmodel name\t: Xeon: two\nmicrocode\t: 0x1\n\n"
               "processor\t: 2\nprocessor count : 9\n");
    folder_put_line(sys, "devices/system/cpu/online", "0,2");
    folder_put_line(sys, "devices/system/cpu/present", "0-2");
    folder_put_line(sys, "devices/system/cpu/smt/active", "1");
    folder_put_line(sys, "devices/system/clocksource/clocksource0/current_clocksource", "tsc");
    folder_put_line(sys, "devices/system/cpu/cpu0/topology/die_id", "0");
    folder_put_line(sys, "devices/system/cpu/cpu2/topology/die_id", "1");
    folder_put_line(sys, "devices/system/cpu/cpu2/cpufreq/scaling_driver", "intel_pstate");
    json_t *json = host_facts_json(sys, proc);
    assert_non_null(json);
    expect(json, "format", "characterize-host/1");
    const json_t *cpuinfo = json_object_get(json, "cpuinfo"), *system = json_object_get(json, "system"),
                 *topology = json_object_get(json, "topology");
    expect(cpuinfo, "vendor_id", "GenuineIntel");
    expect(cpuinfo, "cpu family", "6");
    expect(cpuinfo, "model", "85");
    expect(cpuinfo, "model name", "Xeon: one");
    expect(cpuinfo, "bugs", "");
    assert_int_equal(json_integer_value(json_object_get(cpuinfo, "processors")), 3);
    assert_int_equal(json_object_size(cpuinfo), 6);
    expect(system, "cpu/online", "0,2");
    expect(system, "cpu/present", "0-2");
    expect(system, "cpu/smt/active", "1");
    expect(system, "clocksource/clocksource0/current_clocksource", "tsc");
    assert_int_equal(json_object_size(system), 4);
    assert_int_equal(json_object_size(topology), 2);
    expect(json_object_get(topology, "0"), "topology/die_id", "0");
    expect(json_object_get(topology, "2"), "topology/die_id", "1");
    expect(json_object_get(topology, "2"), "cpufreq/scaling_driver", "intel_pstate");
    assert_int_equal(json_object_size(json_object_get(topology, "2")), 2);
    assert_true(json_array_size(json_object_get(json, "cpuid")) > 2);
    json_decref(json);
    folder_remove(sys);
    folder_remove(proc);
    /* nothing of it */
    json = host_facts_json(sys, proc);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "cpuinfo"), "processors")), 0);
    assert_int_equal(json_object_size(json_object_get(json, "system")), 0);
    json_decref(json);
}

/* How many entries there are of a leaf. */
static unsigned entries_of(const json_t *cpuid, unsigned leaf)
{
    char begin[16];
    unsigned n = 0;
    snprintf(begin, sizeof begin, "%08x.", leaf);
    for (size_t i = 0; i < json_array_size(cpuid); i++)
        n += strncmp(json_string_value(json_array_get(cpuid, i)), begin, strlen(begin)) == 0;
    return n;
}

/* Each entry is what the CPU answers, except for those that depend on the CPU that was queried, or on its state. */
TEST(leaves_of_this_cpu)
{
    json_t *json = host_facts_json("/nonexistent", "/nonexistent");
    const json_t *cpuid = json_object_get(json, "cpuid");
    unsigned highest[2], ignored[3], last = 0;
    for (size_t i = 0; i < json_array_size(cpuid); i++) {
        unsigned leaf, sub, is[4], now[4];
        const char *text = json_string_value(json_array_get(cpuid, i));
        assert_int_equal(sscanf(text, "%8x.%u: %8x %8x %8x %8x", &leaf, &sub, &is[0], &is[1], &is[2], &is[3]), 6);
        __cpuid_count(leaf, sub, now[0], now[1], now[2], now[3]);
        assert_true(sub < 16 && leaf >= last);
        if (leaf == 0 || (leaf >= 0x80000000 && leaf <= 0x80000004)) /* the same on all cores of a hybrid part */
            assert_memory_equal(is, now, sizeof is);
        assert_true(sub == 0 || (is[0] | is[1] | is[2] | is[3]) != 0);
        last = leaf;
    }
    __cpuid_count(0, 0, highest[0], ignored[0], ignored[1], ignored[2]);
    __cpuid_count(0x80000000, 0, highest[1], ignored[0], ignored[1], ignored[2]);
    for (unsigned k = 0; k < 2; k++)
        for (unsigned leaf = k ? 0x80000000 : 0; leaf <= highest[k] && (leaf & 0xfffffff) < 64; leaf++) {
            unsigned n = entries_of(cpuid, leaf);
            /* the serial number is nobody's business */
            assert_true(leaf == 3 ? n == 0 : n >= 1);
            if (leaf <= 2 || leaf == 5 || leaf == 6 || leaf == 0x15 || leaf == 0x16 || leaf == 0x80000001)
                assert_int_equal(n, 1);
        }
    assert_int_equal(entries_of(cpuid, highest[0] + 1), 0);
    assert_int_equal(entries_of(cpuid, highest[1] + 1), 0);
    __cpuid_count(1, 0, ignored[0], ignored[1], highest[0], ignored[2]);
    assert_int_equal(entries_of(cpuid, 0x40000000), highest[0] >> 31); /* of a hypervisor */
    json_decref(json);
}

TEST(kernel_and_machines)
{
    struct utsname name;
    struct machine_choice choices[8];
    json_t *json = host_facts_json("/nonexistent", "/nonexistent");
    const json_t *machines = json_object_get(json, "machines");
    size_t n = machine_choices(choices, 8);
    assert_int_equal(uname(&name), 0);
    expect(json, "kernel", name.release);
    assert_int_equal(json_array_size(machines), n);
    for (size_t i = 0; i < n; i++) {
        const json_t *m = json_array_get(machines, i);
        expect(m, "name", choices[i].name);
        assert_int_equal(json_is_true(json_object_get(m, "usable")), choices[i].usable);
        assert_int_equal(json_string_value(json_object_get(m, "remedy"))[0] != '\0', choices[i].remedy[0] != '\0');
    }
    json_decref(json);
}
