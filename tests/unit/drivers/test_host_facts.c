/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a bundle tells of the machine that it comes from, on trees that look like /sys and /proc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/host_facts.h"
#include "tests/support/folder.h"

static void expect(const json_t *o, const char *key, const char *value)
{
    const char *is = json_string_value(json_object_get(o, key));
    if (!is || strcmp(is, value) != 0)
        fail_msg("%s is %s, not %s", key, is ? is : "missing", value);
}

/* Of the processors the first is told, and how many there are; of files those that can be read. */
static void what_the_system_says_of_itself(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_system_says_of_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
