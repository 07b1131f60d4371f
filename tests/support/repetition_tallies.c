/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/repetition_tallies.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/phases/checks/switch_cost.h"
#include "analysis/phases/repetitions/neighbour.h"
#include "analysis/phases/repetitions/slow_start.h"
#include "analysis/phases/repetitions/steady.h"

void tally_neighbour(struct tally *sum, const struct trace *t, const struct runs *r, double switch_us)
{
    struct neighbour n;
    struct phases told = {0};
    bool *marked = calloc(t->n + 1, sizeof *marked);
    double doubt;
    assert_non_null(marked);
    assert_int_equal(neighbour_find(r, switch_us, &n), 0);
    assert_int_equal(neighbour_warn(&n, r, &told), 0);
    tally_phases(sum, &told);
    const double x[] = {n.share, n.factor, (double)n.runs, n.uncertainty, n.common + 2 * n.begins + 4 * n.slowed};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        tally_add(sum, x[i]);
    assert_int_equal(neighbour_mark(t, marked, &doubt), 0);
    tally_add(sum, doubt);
    for (size_t i = 0; i < t->n; i++) {
        if (n.ipc && isnan(n.ipc[i]))
            tally_add(sum, (double)i);
        if (n.freq && isnan(n.freq[i]))
            tally_add(sum, -(double)i);
        if (marked[i])
            tally_add(sum, 0.5 + (double)i);
    }
    phases_free(&told);
    neighbour_free(&n);
    free(marked);
}

void tally_steady(struct tally *sum, const struct trace *t)
{
    for (int c = TRACE_FREQ; c <= TRACE_IPC; c++) {
        struct steady_value v;
        double drift;
        assert_int_equal(steady_mean(t, (enum trace_channel)c, 0.001, &v), 0);
        tally_estimate(sum, &v.mean);
        tally_add(sum, (double)(v.runs + 100 * v.used + 10000 * v.shared));
        assert_int_equal(steady_drift(t, (enum trace_channel)c, &drift), 0);
        tally_add(sum, drift);
        if (c == TRACE_FREQ) {
            assert_int_equal(steady_ratio(t, 4, &v), 0);
            tally_estimate(sum, &v.mean);
            tally_add(sum, (double)(v.runs + 100 * v.used + 10000 * v.shared));
        }
    }
}

void tally_start(struct tally *sum, const struct trace *t, double period)
{
    struct slow_start s;
    bool slow;
    assert_int_equal(slow_start_too_short(t, period, &slow), 0);
    tally_add(sum, slow);
    if (t->channel[TRACE_FREQ] && t->channel[TRACE_IPC]) {
        assert_int_equal(slow_start_find(t, period, &s), 0);
        for (size_t i = 0; i < t->n && s.ipc; i++) {
            tally_add(sum, (double)s.ipc[i]);
            tally_add(sum, (double)s.freq[i]);
        }
        slow_start_free(&s);
    }
}

void tally_settling(struct tally *sum, const struct trace *t, const struct phases *p,
                    const struct kernel_alone alone[2])
{
    bool off[32];
    struct settling end;
    struct settling_drift drift;
    for (int k = 0; k < 2; k++) {
        tally_add(sum, settling_mark_late(t, &alone[k], &alone[1 - k], off, 32));
        for (size_t i = 0; i < 32 && alone[k].n_ghz; i++)
            tally_add(sum, off[i]);
        for (int waits = 0; waits < 2; waits++) {
            assert_int_equal(settling_judge(t, p, &alone[k], waits, &end), 0);
            tally_add(sum, (double)(end.runs + 100 * end.off + 10000 * end.settled));
            tally_text(sum, end.why);
        }
        assert_int_equal(settling_find_drift(t, p, &alone[k], &alone[1 - k], &drift), 0);
        const double x[] = {drift.freq, drift.rate, drift.off, drift.alone_ghz, drift.ghz};
        for (size_t i = 0; i < sizeof x / sizeof *x; i++)
            tally_add(sum, x[i]);
    }
}

void tally_settling_of(struct tally *sum, const struct trace *t, const struct phases *p)
{
    struct kernel_alone alone[2] = {{0}};
    assert_int_equal(settling_add_alone(&alone[0], t), 0);
    for (size_t i = 0; i < 12; i++) {
        alone[1].ghz[alone[1].n_ghz++] = 2.5 + 0.001 * (double)(i % 3);
        alone[1].ipc[alone[1].n_ipc++] = 1 + 0.001 * (double)(i % 3);
    }
    tally_settling(sum, t, p, alone);
}

void tally_cost(struct tally *sum, const struct trace *t, double period, uint64_t seed)
{
    struct switch_cost c;
    for (int late = 0; late < 3; late++) {
        double from = period * (double)(2 + 3 * late), to = from + period * (double)(1 + seed % 9);
        assert_int_equal(switch_cost_measure(t, period, from + 0.5 * period, from, to, &c), 0);
        for (size_t k = 0; k < c.n; k++)
            tally_add(sum, c.rate[k]);
    }
}
