/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How well an edge is placed, how long pieces last and in which modes: worked out by hand. */
#include "analysis/phases/findings.h"
#include "tests/support/test.h"

/* Three pieces: a fall from 3.0 to 2.7 GHz, a rise of the IPC from 1 to 4. */
TEST(sigma_of_an_edge)
{
    struct runs r = {.period = 8};
    struct piece piece[3];
    struct edge_kind edge[2] = {{.forced = false}, {.forced = false}};
    struct segmentation o = {.n_pieces = 3, .piece = piece, .edge = edge};
    for (int i = 0; i < 3; i++) {
        piece[i] = (struct piece){.halt = false};
        for (int c = 0; c < TRACE_CHANNELS; c++)
            piece[i].value[c] = NAN;
        piece[i].value[TRACE_FREQ] = i ? 2.7 : 3.0;
        piece[i].value[TRACE_IPC] = i == 2 ? 4 : 1;
    }
    r.noise[TRACE_FREQ] = 0.02;
    r.noise[TRACE_IPC] = 0.5;
    /* nothing is measured: ten periods at most */
    assert_close(times_edge_sigma(&r, &o, 0), 80, 1e-9);
    r.has[TRACE_FREQ] = r.has[TRACE_IPC] = true;
    assert_close(times_edge_sigma(&r, &o, 0), 8 * 2 / (log(3.0 / 2.7) / 0.02), 1e-5);
    assert_close(times_edge_sigma(&r, &o, 1), 8 * 2 / (log(4.0) / 0.5), 1e-5);
    /* no noise is less than 0.001 */
    r.noise[TRACE_FREQ] = 0;
    assert_close(times_edge_sigma(&r, &o, 0), 8 * 2 / (log(3.0 / 2.7) / 1e-3), 1e-5);
    /* either of them a halt */
    piece[1].halt = true;
    for (size_t e = 0; e < 2; e++) {
        r.habit = SAMPLER_AT_ONCE;
        assert_close(times_edge_sigma(&r, &o, e), 0.4, 1e-6);
        r.habit = SAMPLER_WAITS;
        assert_close(times_edge_sigma(&r, &o, e), 8 / sqrt(12), 1e-5);
        r.habit = SAMPLER_UNKNOWN;
        assert_close(times_edge_sigma(&r, &o, e), 8 / sqrt(12), 1e-5);
    }
    /* between two kernels: known */
    edge[1].forced = true;
    assert_close(times_edge_sigma(&r, &o, 1), 0, 0);
}

/* Of pieces that end at 10, 110, 111, ... us in three repetitions of 2 us a sample. */
static void expect_half(const struct runs *r, const struct segmentation *o, size_t piece, double half)
{
    struct estimate e = times_between(r, o, piece, piece, NULL, NAN);
    assert_close(estimate_half(&e), half, 1e-6);
}

TEST(limits_of_a_time)
{
    enum { RUNS = 3, PIECES = 7 };
    struct runs r = {.period = 2, .habit = SAMPLER_WAITS};
    struct piece piece[PIECES] = {{.halt = false}};
    struct edge_kind edge[PIECES - 1] = {{.forced = false}};
    double time[(PIECES - 1) * RUNS];
    struct segmentation o = {
        .n_pieces = PIECES, .piece = piece, .edge = edge, .n_runs = RUNS, .time = time, .end = 900};
    /* pieces of 100 us, of 99 and of 101 */
    for (size_t e = 0; e < PIECES - 1; e++)
        for (size_t k = 0; k < RUNS; k++)
            time[e * RUNS + k] = 100 * (double)(e + 1) + (double)e * ((double)k - 1);
    const double scatter = 4.302652730 / sqrt(3), spread = hypot(scatter, 0.03); /* Student's t of 2; 0.015 periods */
    struct estimate e = times_between(&r, &o, 1, 1, NULL, NAN);
    assert_close(e.value, 100, 1e-9);
    assert_close(e.lo, 100 - spread, 1e-6);
    assert_close(e.hi, 100 + spread, 1e-6);
    /* of two pieces, or of a value that is known; never below 0 */
    e = times_between(&r, &o, 1, 2, NULL, NAN);
    assert_close(e.value, 200, 1e-9);
    assert_close(e.hi, 200 + hypot(2 * scatter, 0.03), 1e-6);
    e = times_between(&r, &o, 1, 1, NULL, 2);
    assert_close(e.value, 2, 1e-9);
    assert_close(e.lo, 0, 0);
    assert_close(e.hi, 2 + spread, 1e-6);
    /* of one repetition: where its edges are seen by nothing each is off by up to ten periods */
    const bool one[RUNS] = {false, false, true};
    e = times_between(&r, &o, 1, 1, one, NAN);
    assert_close(e.value, 101, 1e-9);
    assert_close(e.hi, 101 + hypot(ESTIMATE_Z95 * hypot(20, 20), 0.03), 1e-6);
    e = times_between(&r, &o, 0, 0, one, NAN);
    assert_close(e.hi, 100 + hypot(ESTIMATE_Z95 * 20, 0.03), 1e-6);
    /* the switch of kernels lags by 0.08 us, where it is one end of the time */
    edge[0].forced = true;
    expect_half(&r, &o, 0, hypot(0.03, 0.08));
    expect_half(&r, &o, 1, hypot(spread, 0.08));
    expect_half(&r, &o, 2, spread);
    edge[1].forced = true;
    expect_half(&r, &o, 1, spread);
    edge[0].forced = edge[1].forced = false;
    /* a halt on either side: 0.025 periods, and a quarter where the sampler's habit is not known */
    piece[2].halt = true;
    for (size_t p = 1; p <= 3; p++) {
        r.habit = SAMPLER_WAITS;
        expect_half(&r, &o, p, hypot(spread, 0.05));
        r.habit = SAMPLER_UNKNOWN;
        expect_half(&r, &o, p, hypot(spread, 0.05) + 0.5);
    }
    expect_half(&r, &o, 4, spread);
}

static double period_us = 1;

/* A piece that ends after these times, and what follows until 10 ms. */
static struct phase first_phase(const double *end, size_t n)
{
    double time[80];
    struct runs r = {.period = period_us};
    struct piece piece[2] = {{.halt = false}};
    struct edge_kind edge = {.forced = false};
    struct segmentation o = {.n_pieces = 2, .piece = piece, .edge = &edge, .n_runs = n, .time = time, .end = 10000};
    struct phase phase[2] = {{.kind = PHASE_STEADY}, {.kind = PHASE_STEADY}};
    struct phases out = {.phases = phase};
    assert_true(n <= 80);
    memcpy(time, end, n * sizeof *time);
    assert_int_equal(times_find(&r, &o, &out), 0);
    assert_close(phase[1].start_us, phase[0].duration_us.value, 1e-9);
    assert_close(phase[1].duration_us.value, 10000 - phase[1].start_us, 1e-9);
    assert_int_equal(phase[1].n_modes, 0); /* it lasts as long as the recording */
    return phase[0];
}

static void expect_one_mode(const double *end, size_t n, size_t agree)
{
    struct phase p = first_phase(end, n);
    assert_int_equal(p.n_modes, 0);
    assert_int_equal(p.agreeing_runs, agree);
}

static void expect_modes(const double *end, size_t n, double first, double share, double second)
{
    struct phase p = first_phase(end, n);
    assert_int_equal(p.n_modes, 2);
    assert_int_equal(p.agreeing_runs, n);
    assert_close(p.modes[0].duration_us, first, 1e-9);
    assert_close(p.modes[0].share, share, 1e-9);
    assert_close(p.modes[1].duration_us, second, 1e-9);
    assert_close(p.modes[1].share, 1 - share, 1e-9);
}

TEST(modes_of_a_duration)
{
    /* of fewer than eight repetitions one that differs is a mode, of eight two are */
    expect_one_mode((double[]){100, 200}, 2, 2);
    expect_modes((double[]){100, 200, 100}, 3, 100, 2 / 3.0, 200);
    expect_modes((double[]){100, 200, 100, 100, 100, 100, 100}, 7, 100, 6 / 7.0, 200);
    expect_one_mode((double[]){100, 200, 100, 100, 100, 100, 100, 100}, 8, 7);
    expect_modes((double[]){100, 200, 100, 100, 100, 200, 100, 100}, 8, 100, 0.75, 200);
    /* of more than 50, one in 25 */
    double many[75] = {200, 200};
    for (size_t i = 2; i < 75; i++)
        many[i] = 100;
    expect_one_mode(many, 75, 73);
    many[74] = 200;
    expect_modes(many, 75, 100, 0.96, 200);
    /* the phase lasts as long as the most frequent one */
    assert_close(first_phase((double[]){100, 200, 100}, 3).duration_us.value, 100, 1e-9);
    /* more than 4 periods apart, and more than 5 % */
    expect_one_mode((double[]){20, 20, 20, 20, 23.9}, 5, 4);
    expect_modes((double[]){20, 20, 20, 20, 24.1}, 5, 20, 0.8, 24.1);
    period_us = 2;
    expect_one_mode((double[]){20, 20, 20, 20, 27.9}, 5, 4);
    expect_modes((double[]){20, 20, 20, 20, 28.1}, 5, 20, 0.8, 28.1);
    period_us = 1;
    expect_one_mode((double[]){100, 100, 100, 100, 104.9}, 5, 4);
    expect_modes((double[]){100, 100, 100, 100, 105.1}, 5, 100, 0.8, 105.1);
    /* of those that scatter by 1.4826 * 2: more than three times that, 8.9 */
    expect_one_mode((double[]){98, 98, 98, 98, 100, 102, 102, 110.8, 110.8}, 9, 9);
    expect_modes((double[]){98, 98, 98, 98, 100, 102, 102, 111, 111}, 9, 696 / 7.0, 7 / 9.0, 111);
    /* ... but a quarter of the duration is enough */
    expect_one_mode((double[]){90, 90, 90, 90, 100, 110, 110, 134.9, 134.9}, 9, 9);
    expect_modes((double[]){90, 90, 90, 90, 100, 110, 110, 135.1, 135.1}, 9, 680 / 7.0, 7 / 9.0, 135.1);
}

/* Ten at 98 and 102, ten at `second` and 4 more: the gap is no quarter of the middle, but their means are apart. */
TEST(two_modes_that_scatter)
{
    double end[20];
    for (int apart = 0; apart < 2; apart++) {
        for (size_t i = 0; i < 20; i++)
            end[i] = (i % 2 ? (apart ? 128 : 126) : 98) + (i / 2 % 2 ? 4 : 0);
        struct phase p = first_phase(end, 20);
        assert_int_equal(p.n_modes, apart ? 2 : 0);
        for (size_t m = 0; m < p.n_modes; m++)
            assert_close(p.modes[m].share, 0.5, 1e-9);
    }
    assert_close(first_phase(end, 20).modes[0].duration_us + first_phase(end, 20).modes[1].duration_us, 230, 1e-9);
    /* fewer than 20 may do so by chance */
    assert_int_equal(first_phase(end, 18).n_modes, 0);
}
