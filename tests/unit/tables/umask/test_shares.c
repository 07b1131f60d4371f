/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares of core cycles, worked out by hand: cycles are frequency times time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tables/umask/umask_fit.h"
#include "tests/support/close_to.h"

static void add(struct trace *t, unsigned run, double time_us, double ghz, double ipc, const char *counted)
{
    assert_int_equal(trace_append(t, run, time_us), 0);
    t->channel[TRACE_FREQ][t->n - 1] = (float)ghz;
    t->channel[TRACE_IPC][t->n - 1] = (float)ipc;
    assert_int_equal(trace_put_extra(t, 0, counted), 0);
}

/* Two repetitions: 2, 2 and 4 thousand cycles, of which 4 count and 4 are slow; and 2 and 3, of which 2.75 and 3. */
static void make_two(struct trace *t)
{
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC), 0);
    assert_int_equal(trace_add_extra(t, "counted"), 0);
    add(t, 0, -1, 2, 1, "9");
    add(t, 0, 0, 2, 1, "9");
    add(t, 0, 1, 2, 4, "1");
    add(t, 0, 2, 2, 2, "0");
    add(t, 0, 3, 0, 1, ""); /* halted */
    add(t, 0, 5, 2, 1.9, "0.5");
    add(t, 1, 0, 2, 1, "9");
    add(t, 1, 1, 2, 3, "0.25");
    add(t, 1, 2, 3, 0, "0.75");
}

static void expect_share(struct estimate e, double value, double half)
{
    assert_close(e.value, value, 1e-6);
    assert_close(e.lo, value - half, 1e-5);
    assert_close(e.hi, value + half, 1e-5);
}

static void shares_of_what_was_counted_and_of_slow_code(void **state)
{
    (void)state;
    struct trace t;
    size_t runs;
    make_two(&t);
    const double student = 12.7062047 / sqrt(2); /* of two values, times their standard deviation */
    expect_share(shares_counted(&t, 0, 100, &runs), 0.525, student * 0.05 / sqrt(2));
    assert_int_equal(runs, 2);
    expect_share(shares_slow(&t, 4, 0.5, &runs), 0.55, student * 0.1 / sqrt(2));
    assert_int_equal(runs, 2);
    /* nothing of a repetition in which the count is missing once */
    t.text[t.extra[0].offset[8]] = '\0';
    expect_share(shares_counted(&t, 0, 100, &runs), 0.5, 40 / 8000.0);
    assert_int_equal(runs, 1);
    /* of the first alone, up to 5 and to 2 us, the ends of samples; no closer than 40 cycles */
    t.n = 6;
    expect_share(shares_counted(&t, 0, 5, &runs), 0.5, 40 / 8000.0);
    expect_share(shares_counted(&t, 0, 2, &runs), 0.5, 40 / 4000.0);
    assert_int_equal(runs, 1);
    t.time_us[2] = 0.4;
    expect_share(shares_counted(&t, 0, 0.4, &runs), 1, 40 / 800.0);
    assert_int_equal(runs, 1);
    t.time_us[2] = 1;
    t.n = 9;
    assert_true(isnan(shares_slow(&t, NAN, 0.5, &runs).value));
    assert_int_equal(runs, 0);
    assert_true(isnan(shares_counted(&t, 0, 0, &runs).value));
    assert_int_equal(runs, 0);
    assert_close(shares_ipc(&t, 2), 1.45, 1e-6);
    assert_close(shares_ipc(&t, 1), 1.45, 1e-6);
    assert_close(shares_ipc(&t, 0), 1.95, 1e-6);
    assert_true(isnan(shares_ipc(&t, 5)));
    trace_free(&t);
}

/* Neighbours that differ by this much, and one of no IPC between some. */
static double slow_below(double step, unsigned n)
{
    struct trace t;
    trace_init(&t);
    assert_int_equal(trace_add_run(&t) | trace_add_channel(&t, TRACE_FREQ) | trace_add_channel(&t, TRACE_IPC), 0);
    assert_int_equal(trace_add_extra(&t, "counted"), 0);
    for (unsigned i = 0; i < n; i++)
        add(&t, 0, i, 2, i % 3 ? exp(i % 2 ? step : 0) : 0, "");
    double below = shares_slow_below(&t);
    trace_free(&t);
    return below;
}

static void noise_says_what_is_surely_slow(void **state)
{
    (void)state;
    assert_close(slow_below(0.004, 60), 0.95, 1e-6);
    assert_close(slow_below(0.01, 60), 1 - 5 * 1.4826022 * 0.01 / sqrt(2), 1e-6);
    assert_close(slow_below(0.03, 60), 1 - 5 * 1.4826022 * 0.03 / sqrt(2), 1e-6);
    assert_close(slow_below(0.1, 60), 0.75, 1e-6);
    assert_close(slow_below(0.01, 3), 1 - 5 * 1.4826022 * 0.01 / sqrt(2), 1e-6);
    assert_close(slow_below(0.01, 2), 0.75, 1e-6);
    assert_close(slow_below(0.01, 0), 0.75, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_what_was_counted_and_of_slow_code),
        cmocka_unit_test(noise_says_what_is_surely_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
