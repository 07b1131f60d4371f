/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repetitions on a common time line: pieces, their values and the edges of each, to the digit. */
#include "analysis/phases/segments/segmentation.h"
#include "tests/support/test.h"

enum { RUNS = 5, SAMPLES = 80 };

/*
 * Samples of 1 us from -30 us on, in each repetition 0.1 us later. The kernel changes at 0 us, from an IPC of 2 to 1;
 * the frequency at `fall` and 0.2 us later in each repetition, from 3.0 to 2.7 GHz. Samples have the means of both.
 */
static double unit = 1; /* us, instead of all that is said here of microseconds */

static double fall_of(double fall, unsigned run)
{
    return fall + 0.2 * run;
}

static double share_after(double end, double at)
{
    return fmin(fmax(end - at, 0), 1);
}

static void make_falls(double fall, unsigned runs, struct trace *t, struct runs *r)
{
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC), 0);
    for (unsigned run = 0; run < runs; run++)
        for (unsigned i = 0; i < SAMPLES; i++) {
            double end = i - 29.0 + 0.1 * run;
            assert_int_equal(trace_append(t, run, unit * end), 0);
            t->channel[TRACE_FREQ][t->n - 1] = (float)(3 - 0.3 * share_after(end, fall_of(fall, run)));
            t->channel[TRACE_IPC][t->n - 1] = (float)(2 - share_after(end, 0));
        }
    assert_int_equal(runs_prepare(t, r), 0);
    assert_int_equal(r->n_gaps, 0);
}

static void expect_piece(const struct piece *p, double ghz, double ipc)
{
    assert_false(p->halt);
    assert_close(p->value[TRACE_FREQ], ghz, 1e-6);
    assert_close(p->value[TRACE_IPC], ipc, 1e-6);
}

TEST(pieces_and_edges_of_many_repetitions)
{
    static const size_t run[RUNS] = {0, 1, 2, 3, 4};
    for (size_t i = 0; i < 2 * RUNS; i++) {
        size_t n = i % RUNS + 1;
        unit = i < RUNS ? 2 : 1;
        struct trace t;
        struct runs r;
        struct segmentation o;
        make_falls(20, RUNS, &t, &r);
        assert_int_equal(segmentation_find(&r, run, n, 0, &o), 0);
        assert_int_equal(o.n_pieces, 3);
        assert_int_equal(o.n_runs, n);
        /* bins of whole microseconds, from before the first repetition to after the last */
        assert_close(o.begin, -30 * unit, 1e-9);
        assert_close(o.end, unit * (n == 1 ? 50 : 51), 1e-9);
        assert_close(o.switch_us, 0, 0);
        expect_piece(&o.piece[0], 3, 2);
        expect_piece(&o.piece[1], 3, 1);
        expect_piece(&o.piece[2], 2.7, 1);
        assert_true(o.edge[0].forced && !o.edge[1].forced);
        assert_int_equal(o.edge[1].change[TRACE_FREQ], -1);
        assert_int_equal(o.edge[1].change[TRACE_IPC], 0);
        for (size_t k = 0; k < n; k++) {
            assert_int_equal(o.run[k], k);
            assert_close(segmentation_end_in(&o, 0, k), 0, 0);
            assert_close(segmentation_end_in(&o, 1, k), unit * fall_of(20, (unsigned)k), 0.02 * unit);
        }
        /* samples lie in the bins that hold their middles: the fall is at the end of bin 49, as in the first of them */
        assert_int_equal(o.piece[0].samples, 30 * n);
        assert_int_equal(o.piece[1].samples, 20 * n);
        assert_int_equal(o.piece[2].samples, (n == 1 ? 30 : 31) * n);
        segmentation_free(&o);
        runs_free(&r);
        trace_free(&t);
    }
}

/* Where fewer than a quarter of the repetitions have a sample nothing is told of it: those may be the odd ones. */
TEST(bins_of_few_repetitions_tell_nothing)
{
    static const size_t run[RUNS] = {0, 1, 2, 3, 4};
    for (unsigned many = 1; many <= 2; many++) {
        struct trace t;
        struct runs r;
        struct segmentation o;
        make_falls(1000, RUNS, &t, &r);
        /* one or two of five at half the rate, while the others are missing */
        for (size_t i = 0; i < t.n; i++)
            if (i % SAMPLES >= 60 && i % SAMPLES < 70) {
                if (t.run[i] < many)
                    t.channel[TRACE_IPC][i] = 0.5F;
                else
                    r.invalid[i] = 1;
            }
        assert_int_equal(segmentation_find(&r, run, RUNS, 0, &o), 0);
        assert_int_equal(o.n_pieces, many == 1 ? 2 : 4);
        if (many == 2) {
            expect_piece(&o.piece[2], 3, 0.5);
            assert_close(segmentation_end_in(&o, 1, 0), 30, 0.05);
            assert_close(segmentation_end_in(&o, 2, 0), 40, 0.05);
        }
        segmentation_free(&o);
        runs_free(&r);
        trace_free(&t);
    }
}

/* A switch within three samples of either end divides nothing; a pause that is far longer than all leaves none. */
TEST(what_has_no_common_time)
{
    static const size_t run[2] = {0, 1};
    static const double at[] = {-26.9, -27.1, 46.9, 48.1};
    struct trace t;
    struct runs r;
    struct segmentation o;
    make_falls(1000, 2, &t, &r);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(segmentation_find(&r, run, 2, at[i], &o), 0);
        assert_int_equal(isnan(o.switch_us), i % 2);
        segmentation_free(&o);
    }
    /* 8 times as many bins as samples, and a thousand */
    for (unsigned late = 0; late < 2; late++) {
        t.time_us[2 * SAMPLES - 1] = late ? 8 * SAMPLES + 1000 - 30.0 : 8 * SAMPLES + 999 - 30.5;
        assert_int_equal(segmentation_find(&r, run, 2, 0, &o), 0);
        assert_int_equal(o.n_pieces > 0, !late);
        segmentation_free(&o);
    }
    runs_free(&r);
    trace_free(&t);
}

/* The sample that the switch falls into is of both kernels if more than a twentieth of it is of the first: of the three
 * before another step of the IPC two are left then, which are too few. */
TEST(a_sample_of_both_kernels_is_of_neither)
{
    static const size_t run[1] = {0};
    static const double at[] = {0, 0.05, 0.051};
    for (size_t i = 0; i < 3; i++) {
        struct trace t;
        struct runs r;
        struct segmentation o;
        make_falls(1000, 1, &t, &r);
        for (size_t k = 33; k < t.n; k++) /* from 3 us on */
            t.channel[TRACE_IPC][k] = 0.5F;
        assert_int_equal(segmentation_find(&r, run, 1, at[i], &o), 0);
        assert_int_equal(o.n_pieces, i < 2 ? 3 : 2);
        if (i < 2)
            expect_piece(&o.piece[1], 3, 1);
        expect_piece(&o.piece[o.n_pieces - 1], 3, 0.5);
        segmentation_free(&o);
        runs_free(&r);
        trace_free(&t);
    }
}
