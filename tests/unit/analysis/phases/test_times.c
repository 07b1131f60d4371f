/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How well an edge is placed: worked out by hand from the two pieces beside it, the noise and the sampler's habit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/phases/findings.h"

/* Three pieces: a fall from 3.0 to 2.7 GHz, a rise of the IPC from 1 to 4. */
static void sigma_of_an_edge(void **state)
{
    (void)state;
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
    assert_float_equal(times_edge_sigma(&r, &o, 0), 80, 1e-9);
    r.has[TRACE_FREQ] = r.has[TRACE_IPC] = true;
    assert_float_equal(times_edge_sigma(&r, &o, 0), 8 * 2 / (log(3.0 / 2.7) / 0.02), 1e-5);
    assert_float_equal(times_edge_sigma(&r, &o, 1), 8 * 2 / (log(4.0) / 0.5), 1e-5);
    /* no noise is less than 0.001 */
    r.noise[TRACE_FREQ] = 0;
    assert_float_equal(times_edge_sigma(&r, &o, 0), 8 * 2 / (log(3.0 / 2.7) / 1e-3), 1e-5);
    /* either of them a halt */
    piece[1].halt = true;
    for (size_t e = 0; e < 2; e++) {
        r.habit = SAMPLER_AT_ONCE;
        assert_float_equal(times_edge_sigma(&r, &o, e), 0.4, 1e-6);
        r.habit = SAMPLER_WAITS;
        assert_float_equal(times_edge_sigma(&r, &o, e), 8 / sqrt(12), 1e-5);
        r.habit = SAMPLER_UNKNOWN;
        assert_float_equal(times_edge_sigma(&r, &o, e), 8 / sqrt(12), 1e-5);
    }
    /* between two kernels: known */
    edge[1].forced = true;
    assert_float_equal(times_edge_sigma(&r, &o, 1), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sigma_of_an_edge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
