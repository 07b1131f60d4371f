/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of fixed work on this computer, whatever disturbs it now: what they are, not what they say. */
#include "computer/cpu/cpu.h"
#include "probes/disturbances.h"
#include "tests/support/test.h"
#include "util/clock.h"

TEST(samples_on_this_computer)
{
    struct disturbance_slices s;
    struct disturbance d;
    struct machine_error err;
    struct cpu_mask before, after;
    double begun = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    assert_int_equal(cpu_get_affinity(&before), 0);
    if (disturbances_measure(cpu_default("/sys"), &s, &err) != MACHINE_OK) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    assert_true(clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - begun < 0.55);
    assert_int_equal(cpu_get_affinity(&after), 0);
    assert_memory_equal(&before, &after, sizeof before);
    assert_true(s.rounds <= DISTURBANCE_ROUNDS);
    for (size_t r = 0; r < s.rounds; r++)
        for (size_t i = 0; i < DISTURBANCE_LENGTHS; i++)
            assert_true(s.fastest[i][r] > 0.1 && s.fastest[i][r] <= s.slowest[i][r]);
    disturbance_find(&s, &d);
    assert_int_equal(d.why[0] != '\0', d.kind == DISTURBANCE_UNDECIDED);
}

TEST(a_cpu_that_is_not_there)
{
    struct disturbance_slices s;
    struct machine_error err;
    assert_int_equal(disturbances_measure(CPU_LIMIT - 1, &s, &err), MACHINE_CANNOT);
    assert_true(err.text[0] != '\0');
}
