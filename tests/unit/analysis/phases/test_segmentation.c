/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is asked of a segmentation: a halt in two repetitions, of which one does not show its end. */
#include "analysis/phases/findings.h"
#include "tests/support/test.h"

enum { PIECES = 4, RUNS = 2 };
static struct piece piece[PIECES];
static struct edge_kind edge[PIECES - 1];
static double edge_us[(PIECES - 1) * RUNS] = {10, 12, 15, NAN, 30, 34};
static size_t run_of[RUNS] = {0, 1};

/* 3.0 GHz, a halt, 2.7 GHz, and there half of the IPC. */
static struct segmentation halted(void)
{
    static const double ghz[PIECES] = {3, NAN, 2.7, 2.7}, ipc[PIECES] = {2, NAN, 2, 1};
    for (size_t p = 0; p < PIECES; p++) {
        piece[p] = (struct piece){.halt = p == 1, .samples = 100 / (p + 1)};
        for (int c = 0; c < TRACE_CHANNELS; c++)
            piece[p].value[c] = NAN;
        piece[p].value[TRACE_FREQ] = ghz[p];
        piece[p].value[TRACE_IPC] = ipc[p];
    }
    edge[0] = (struct edge_kind){.forced = false};
    edge[1] = (struct edge_kind){.change = {[TRACE_FREQ] = -1}};
    edge[2] = (struct edge_kind){.change = {[TRACE_IPC] = -1}};
    return (struct segmentation){.n_pieces = PIECES,
                                 .piece = piece,
                                 .edge = edge,
                                 .n_runs = RUNS,
                                 .run = run_of,
                                 .time = edge_us,
                                 .begin = 1,
                                 .end = 50,
                                 .switch_us = NAN,
                                 .noise = {[TRACE_FREQ] = 0.01, [TRACE_IPC] = 0.02}};
}

TEST(times_of_edges_and_pieces)
{
    static const double mean[PIECES - 1] = {11, 15, 32};
    static const double length[PIECES][RUNS] = {{9, 11}, {5}, {15}, {20, 16}};
    struct segmentation o = halted();
    for (size_t e = 0; e + 1 < PIECES; e++) {
        assert_close(segmentation_edge_time(&o, e), mean[e], 1e-9);
        assert_int_equal(segmentation_seen_by(&o, e), e == 1 ? 1 : 2);
    }
    for (size_t p = 0; p < PIECES; p++) {
        double x[RUNS];
        size_t seen = p == 1 || p == 2 ? 1 : 2;
        assert_int_equal(segmentation_lengths(&o, p, x), seen);
        for (size_t k = 0; k < seen; k++)
            assert_close(x[k], length[p][k], 1e-9);
    }
    /* without the halt its edges are one, in the middle */
    struct segmentation all;
    assert_int_equal(segmentation_copy(&o, &all), 0);
    segmentation_forget_halt(&all, 1);
    assert_int_equal(all.n_pieces, PIECES - 1);
    assert_close(segmentation_end_in(&all, 0, 0), 12.5, 1e-9);
    assert_true(isnan(segmentation_end_in(&all, 0, 1)));
    assert_close(segmentation_end_in(&all, 1, 1), 34, 1e-9);
    assert_close(all.piece[1].value[TRACE_FREQ], 2.7, 1e-9);
    segmentation_free(&all);
}

TEST(steps_and_what_they_change)
{
    struct segmentation o = halted();
    double sigma;
    /* across the halt, by 100 and 33 samples */
    assert_close(segmentation_step(&o, 1, TRACE_FREQ, &sigma), log(0.9), 1e-9);
    assert_close(sigma, sqrt(M_PI / 2) * 0.01 * sqrt(0.01 + 1 / 33.0), 1e-6);
    assert_close(segmentation_step(&o, 2, TRACE_IPC, &sigma), log(0.5), 1e-9);
    assert_close(sigma, sqrt(M_PI / 2) * 0.02 * sqrt(1 / 33.0 + 1 / 25.0), 1e-6);
    assert_false(segmentation_differs(&o.edge[0]));
    assert_true(segmentation_differs(&o.edge[1]) && segmentation_differs(&o.edge[2]));
    assert_true(segmentation_changes_only(&o.edge[2], TRACE_IPC, TRACE_IPC));
    assert_true(segmentation_changes_only(&o.edge[2], TRACE_FREQ, TRACE_IPC));
    assert_false(segmentation_changes_only(&o.edge[2], TRACE_FREQ, TRACE_VOLTS));
    o.edge[2].forced = true;
    assert_false(segmentation_changes_only(&o.edge[2], TRACE_IPC, TRACE_IPC));
    /* anew, by the values: at a halt in any case, elsewhere beside what does change, of another kernel no IPC */
    o = halted();
    o.edge[1].change[TRACE_FREQ] = 0;
    o.edge[2].change[TRACE_FREQ] = 1;
    segmentation_judge_seen(&o);
    assert_int_equal(o.edge[1].change[TRACE_FREQ], -1);
    assert_int_equal(o.edge[2].change[TRACE_FREQ], 0);
    assert_int_equal(o.edge[2].change[TRACE_IPC], -1);
    o.edge[2] = (struct edge_kind){.change = {[TRACE_FREQ] = 1}};
    segmentation_judge_seen(&o);
    assert_int_equal(o.edge[2].change[TRACE_FREQ], 1);
    o.edge[2].forced = true;
    segmentation_judge_seen(&o);
    assert_int_equal(o.edge[2].change[TRACE_FREQ], 0);
    assert_int_equal(o.edge[2].change[TRACE_IPC], 0);
}

/* 0.4 % of the frequency, 6 % of the IPC, 1.5 mV, a tenth of the cycles; six standard errors and three samples each. */
TEST(the_least_that_is_a_change)
{
    static const double least[TRACE_CHANNELS] = {0.004, 0.06, 0.0015, 0.1, 0.1, 0.1, 0.1};
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        for (int way = -1; way <= 1; way += 2)
            for (int enough = 0; enough < 2; enough++) {
                struct piece a = {.halt = false}, b = {.halt = false};
                double by = way * least[c] * (enough ? 1.01 : 0.99);
                a.value[c] = 0.9;
                b.value[c] = c == TRACE_FREQ || c == TRACE_IPC ? 0.9 * exp(by) : 0.9 + by;
                assert_close(segmentation_difference(c, a.value[c], b.value[c]), by, 1e-9);
                assert_int_equal(segmentation_change(c, &a, &b), enough ? way : 0);
                b.value[c] = NAN;
                assert_int_equal(segmentation_change(c, &a, &b), 0);
                assert_int_equal(segmentation_change(c, &b, &a), 0);
            }
        const struct change_rule *r = segmentation_rule(c);
        assert_close(r->min_z, 6, 0);
        assert_int_equal(r->min_length, 3);
    }
}

/* At one frequency, another IPC is that of other code: one piece, one phase. The room for a phase behind all pieces
 * stays empty: what lies farther behind is nothing to move. */
TEST(other_code_is_no_phase)
{
    static const struct phase none;
    struct segmentation o = halted(), one;
    struct phases p = {0};
    assert_int_equal(segmentation_copy(&o, &one), 0);
    assert_int_equal(kinds_find(&one, &p), 0);
    assert_int_equal(one.n_pieces, PIECES - 1);
    assert_int_equal(p.n_phases, PIECES - 1);
    for (size_t i = 0; i < p.n_phases; i++)
        assert_int_equal(p.phases[i].kind, i == 1 ? PHASE_HALT : PHASE_STEADY);
    assert_true(isnan(p.phases[2].ipc) && isnan(p.phases[2].ipc_ratio)); /* two codes have no one IPC */
    assert_memory_equal(&p.phases[PIECES], &none, sizeof none);
    segmentation_free(&one);
    phases_free(&p);
}
