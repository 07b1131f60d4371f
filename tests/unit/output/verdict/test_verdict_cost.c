/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests if wide code pays, against times worked out by hand. */
#include "output/verdict/verdict_cost.h"
#include "tests/support/strict_memory.h"
#include "tests/support/test.h"

#define PLAIN                                                                                                          \
    {                                                                                                                  \
        128, {0, 0, 0}, {1, 1, 1}, {0, 0, 0},                                                                          \
        {                                                                                                              \
            0, 0, 0                                                                                                    \
        }                                                                                                              \
    }
static const struct verdict_load usual = {0.1, 100};

static void near(double is, double wanted)
{
    assert_true(fabs(is - wanted) < 1e-9);
}

/* 20 % slower, twice the work, 10 us a transition, 600 us after: 100/1.6 + 600 + (900 - 480) + 20 = 1102.5 of 1000. */
TEST(worked_out)
{
    struct verdict_width w[] = {PLAIN, {512, {0.2, 0.2, 0.2}, {2, 2, 2}, {10, 10, 10}, {600, 600, 600}}};
    struct verdict_cost v;
    assert_int_equal(verdict_cost(w, 2, &usual, 1, &v), 0);
    near(v.time[0].value, 1);
    near(v.time[1].value, 1.1025);
    near(v.time[1].hi, 1.1025);
    near(v.pays_from_us[1].value, (600 * 0.2 + 20) / (1 - 1 / 1.6));
    near(v.pays_from_share[1].value, 0.25 / (0.25 + 0.375));
    assert_int_equal(v.prefer, VERDICT_WIDTH);
    assert_int_equal(v.bits, 128);
    /* on either side of where it pays */
    struct verdict_load load = {0.1, 380};
    assert_int_equal(verdict_cost(w, 2, &load, 1, &v), 0);
    assert_true(v.time[1].value < 1 && v.bits == 0); /* by less than 1 % */
    load.burst_us = 1000;
    assert_int_equal(verdict_cost(w, 2, &load, 1, &v), 0);
    assert_int_equal(v.bits, 512);
}

/* The frequency never returns: no transitions, 100/1.6 + 100/0.8 of 200; at a share of 0.4 it makes no difference. */
TEST(never_back)
{
    struct verdict_width w[] = {PLAIN, {512, {0.2, 0.2, 0.2}, {2, 2, 2}, {10, 10, 10}, {600, 600, 600}}};
    struct verdict_load load = {0.5, 100};
    struct verdict_cost v;
    assert_int_equal(verdict_cost(w, 2, &load, 1, &v), 0);
    near(v.time[1].value, (62.5 + 125) / 200);
    assert_int_equal(v.bits, 512);
    load.share = 0.4;
    assert_int_equal(verdict_cost(w, 2, &load, 1, &v), 0);
    near(v.time[1].value, 1);
    assert_int_equal(v.prefer, VERDICT_ANY);
}

/* The effect of limits: a gain beyond them decides, one within them does not, and a missing figure is named. */
TEST(limits)
{
    struct verdict_width w[] = {PLAIN,
                                {256, {0, -0.001, 0.001}, {2, 1.98, 2.02}, {0, 0, 0}, {0, 0, 0}},
                                {512, {0, -0.001, 0.001}, {4, 3.96, 4.04}, {0, 0, 0}, {0, 0, 0}}};
    struct verdict_cost v;
    assert_int_equal(verdict_cost(w, 3, &usual, 1, &v), 0);
    assert_int_equal(v.prefer, VERDICT_WIDTH);
    assert_int_equal(v.bits, 512);
    assert_true(v.time[2].lo > 0.9247 && v.time[2].lo < 0.9248); /* 0.9 + 0.025, which is known to 1 % */
    assert_true(v.time[2].hi > 0.9252 && v.time[2].hi < 0.9253);
    w[2].after = (struct estimate){600, 0, 1200};
    w[2].slowdown = (struct estimate){0.05, -0.05, 0.15};
    assert_int_equal(verdict_cost(w, 3, &usual, 1, &v), 0);
    assert_int_equal(v.prefer, VERDICT_UNDECIDED);
    assert_int_equal(v.rival, 512);
    assert_null(v.lacks);
    w[2].after.value = NAN;
    assert_int_equal(verdict_cost(w, 3, &usual, 1, &v), 0);
    assert_int_equal(v.prefer, VERDICT_UNDECIDED);
    assert_string_equal(v.lacks, "after");
    assert_int_equal(v.lacks_bits, 512);
    assert_true(isnan(v.time[2].value) && isfinite(v.time[1].value));
}

/* Equal ones: all of them, or the narrowest of those that equal the best; no gain at all never pays. */
TEST(equals)
{
    struct verdict_width w[] = {PLAIN,
                                {256, {0, -0.001, 0.001}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}},
                                {512, {0, -0.001, 0.001}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}}};
    struct verdict_cost v;
    assert_int_equal(verdict_cost(w, 3, &usual, 1, &v), 0);
    assert_int_equal(v.bits, 256);
    w[1].rate = w[2].rate = (struct estimate){1, 1, 1};
    w[1].slowdown = w[2].slowdown = (struct estimate){0.002, 0.001, 0.003};
    assert_int_equal(verdict_cost(w, 3, &usual, 1, &v), 0);
    assert_int_equal(v.prefer, VERDICT_ANY);
    assert_true(isinf(v.pays_from_us[1].value) && v.pays_from_share[1].value > 1);
}

TEST(refused)
{
    struct verdict_width w[] = {PLAIN, PLAIN};
    struct verdict_load none = {0, 100}, endless = {0.1, INFINITY};
    struct verdict_cost v;
    assert_int_equal(verdict_cost(w, 2, &usual, 1, &v), -1);
    assert_int_equal(verdict_cost(w, 0, &usual, 1, &v), -1);
    assert_int_equal(verdict_cost(w, 1, &none, 1, &v), -1);
    assert_int_equal(verdict_cost(w, 1, &endless, 1, &v), -1);
    assert_int_equal(verdict_cost(w, 1, &usual, 1, &v), 0);
}

/* A figure of which the value or a limit is missing is named, the first of the narrowest width that lacks one. */
TEST(what_is_missing_is_named)
{
    static const char *const names[] = {"slowdown", "rate", "overhead", "after"};
    for (size_t figure = 0; figure < 4; figure++)
        for (int part = 0; part < 3; part++) {
            struct verdict_width w[] = {PLAIN,
                                        {256, {0, 0, 0}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}},
                                        {512, {0, 0, 0}, {2, 2, 2}, {0, 0, 0}, {0, NAN, 0}}};
            struct estimate *const e[] = {&w[1].slowdown, &w[1].rate, &w[1].overhead, &w[1].after};
            struct verdict_cost v;
            *(part == 0 ? &e[figure]->value : part == 1 ? &e[figure]->lo : &e[figure]->hi) = NAN;
            assert_int_equal(verdict_cost(w, 3, &usual, 1, &v), 0);
            assert_string_equal(v.lacks, names[figure]);
            assert_int_equal(v.lacks_bits, 256);
            assert_int_equal(v.prefer, VERDICT_UNDECIDED);
            assert_true(isnan(v.time[1].value) && isnan(v.pays_from_us[1].lo) && isnan(v.pays_from_share[1].hi));
            assert_true(isfinite(v.time[0].value));
        }
}

/* All of the time may be bursts, not more; a burst takes some time; more widths than there may be are refused. */
TEST(loads_at_their_limits)
{
    struct verdict_width w[VERDICT_WIDTHS_MAX + 1];
    struct verdict_load all = {1, 100}, more = {1.001, 100}, empty = {0.1, 0}, negative = {-0.1, 100};
    struct verdict_cost v;
    for (unsigned i = 0; i <= VERDICT_WIDTHS_MAX; i++)
        w[i] = (struct verdict_width){64 * (i + 1), {0, 0, 0}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}};
    assert_int_equal(verdict_cost(w, 1, &all, 1, &v), 0);
    near(v.time[0].value, 0.5);
    near(v.time[0].lo, 0.5);
    near(v.time[0].hi, 0.5);
    assert_int_equal(verdict_cost(w, 1, &more, 1, &v), -1);
    assert_int_equal(verdict_cost(w, 1, &empty, 1, &v), -1);
    assert_int_equal(verdict_cost(w, 1, &negative, 1, &v), -1);
    assert_int_equal(verdict_cost(w, VERDICT_WIDTHS_MAX, &usual, 1, &v), 0);
    assert_int_equal(verdict_cost(w, VERDICT_WIDTHS_MAX + 1, &usual, 1, &v), -1);
}

TEST(out_of_memory_is_reported)
{
    struct verdict_width w[] = {PLAIN};
    bool failed = true;
    for (unsigned k = 1; failed; k++) {
        struct verdict_cost v;
        strict_memory_fail(k);
        int status = verdict_cost(w, 1, &usual, 1, &v);
        failed = strict_memory_failed();
        strict_memory_fail(0);
        assert_int_equal(status, failed ? -1 : 0);
    }
}
