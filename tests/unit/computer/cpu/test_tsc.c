/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alone: the rate of the time stamp counter */
/* The TSC of this machine: its calibration, and the step in which it advances. */
#include "computer/cpu/tsc.h"
#include "tests/support/test.h"

/* On this machine: two calibrations agree within what they state, and state 0.02 % or better. */
TEST(test_calibration_agrees_with_itself)
{
    struct cpu_leaves l;
    char note[160];
    double hz[2], error[2];
    cpu_read_leaves(&l);
    if (!tsc_usable(&l, "", note, sizeof note)) {
        print_message("skipped: %s\n", note);
        skip();
    }
    assert_int_equal(tsc_calibrate(&hz[0], &error[0]), 0);
    assert_int_equal(tsc_calibrate(&hz[1], &error[1]), 0);
    print_message("%.6f and %.6f MHz, errors %.2g and %.2g\n", hz[0] / 1e6, hz[1] / 1e6, error[0], error[1]);
    assert_true(error[0] > 0 && error[0] <= 2e-4);
    assert_true(error[1] > 0 && error[1] <= 2e-4);
    /* both errors are of two standard deviations: twice their sum is missed once in some ten thousand times */
    assert_true(fabs(hz[0] / hz[1] - 1) <= 2 * (error[0] + error[1]));
}

/* On every CPU: the same step each time, and readings of it are multiples of that. */
TEST(test_step_measured_here)
{
    double step = 0, again;
    for (int tries = 0; tries < 10 && step < 1; tries++)
        step = tsc_measure_step();
    assert_true(step >= 1);
    print_message("the TSC advances by %g\n", step);
    int same = 0;
    for (int i = 0; i < 10; i++) {
        again = tsc_measure_step();
        same += fabs(again - step) < 0.02 * step;
    }
    assert_true(same >= 7);
}
