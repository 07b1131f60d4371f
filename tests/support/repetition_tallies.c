/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/repetition_tallies.h"

#include "analysis/phases/repetitions/steady.h"
#include "tests/support/test.h"

void tally_steady(struct tally *sum, const struct trace *t)
{
    for (int c = TRACE_FREQ; c <= TRACE_IPC; c++) {
        struct steady_value v;
        double drift;
        assert_int_equal(steady_mean(t, (enum trace_channel)c, 0.001, &v), 0);
        tally_estimate(sum, &v.mean);
        tally_add(sum, (double)(v.runs + 100 * v.used));
        assert_int_equal(steady_drift(t, (enum trace_channel)c, &drift), 0);
        tally_add(sum, drift);
    }
}
