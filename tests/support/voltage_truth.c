/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/test.h"
#include "tests/support/voltage_truth.h"

/* cmocka needs the four above first */
#include "tests/support/model_rig.h"
#include "tests/support/model_truth.h"

enum { STEPS = 400 };

void voltage_range(const struct model_truth *t, double time_us, double reach_us, double *lo, double *hi)
{
    *lo = INFINITY;
    *hi = -INFINITY;
    for (int i = -STEPS; i <= STEPS; i++) {
        double volts = model_truth_volts(t, time_us + reach_us * i / STEPS);
        *lo = fmin(*lo, volts);
        *hi = fmax(*hi, volts);
    }
}
