/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedulers/adapt.h with made-up counts: which is kept, for how long, and what a change of phase does to it. */
#include "schedulers/adapt.h"
#include "tests/support/test.h"

/* A run until a time, looked at ten times a second, at so many instructions a second without and with. */
struct run {
    struct adapt a;
    double now, count, on_s, off_s;
};

static void go(struct run *r, double until, double without, double with)
{
    if (r->now == 0)
        adapt_begin(&r->a, 0, 0);
    for (; r->now < until; r->now += 0.1) {
        r->count += 0.1 * (r->a.on ? with : without);
        *(r->a.on ? &r->on_s : &r->off_s) += 0.1;
        adapt_step(&r->a, r->now + 0.1, (uint64_t)r->count);
    }
}

TEST(what_is_faster_is_kept)
{
    struct run faster = {0}, slower = {0};
    go(&faster, 12.5, 1.0e9, 1.042e9);
    go(&slower, 12.5, 1.0e9, 0.95e9);
    assert_int_equal(faster.a.decisions, 1);
    assert_true(faster.a.on);
    assert_false(slower.a.on);
    assert_close(faster.a.rate[1] / faster.a.rate[0], 1.042, 1e-4);
    assert_close(slower.a.rate[1] / slower.a.rate[0], 0.95, 1e-4);
}

TEST(turns_are_equally_long)
{
    struct run r = {0};
    go(&r, 9.9, 1e9, 1e9);
    assert_int_equal(r.a.decisions, 0);
    assert_true(fabs(r.on_s - r.off_s) < 1.3);
}

TEST(it_is_off_where_it_makes_no_difference)
{
    struct run r = {0};
    go(&r, 12.5, 1e9, 1e9);
    assert_int_equal(r.a.decisions, 1);
    assert_close(r.a.rate[1] / r.a.rate[0], 1, 1e-6);
}

/* What runs becomes half as fast in the middle: the better one is still found. */
TEST(a_change_of_phase_does_not_decide)
{
    struct run r = {0};
    go(&r, 4.95, 1.0e9, 1.2e9);
    go(&r, 12.5, 0.5e9, 0.6e9);
    assert_true(r.a.on);
}

TEST(it_is_decided_again)
{
    struct run r = {0};
    go(&r, 12.5, 1.0e9, 1.1e9);
    assert_true(r.a.on);
    r.on_s = r.off_s = 0;
    go(&r, 65, 1.1e9, 1.0e9); /* kept for a minute, whatever comes */
    assert_int_equal(r.a.decisions, 1);
    assert_close(r.off_s, 0, 1e-9);
    go(&r, 90, 1.1e9, 1.0e9);
    assert_int_equal(r.a.decisions, 2);
    assert_false(r.a.on);
}
