/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Queries of a recording: where a counter stands, how far it went, when it was, and what disturbed it. */
#include "drivers/recording.h"
#include "tests/support/test.h"

TEST(words_of_counters)
{
    static const struct counter_spec counters[] = {{COUNTER_LVL0, 0}, {COUNTER_EVENT, 5}, {COUNTER_LVL2, 0}};
    assert_int_equal(recording_word(counters, 3, COUNTER_LVL0), 2);
    assert_int_equal(recording_word(counters, 3, COUNTER_EVENT), 3);
    assert_int_equal(recording_word(counters, 3, COUNTER_LVL2), 4);
    assert_int_equal(recording_word(counters, 2, COUNTER_LVL2), -1);
    assert_int_equal(recording_word(counters, 0, COUNTER_LVL0), -1);
}

TEST(differences)
{
    const uint64_t before[] = {10, COUNTER_MISSING, 7, 5}, now[] = {13, 4, COUNTER_MISSING, 3};
    assert_true(recording_difference(now, before, 0) == 3);
    assert_true(isnan(recording_difference(now, before, 1)));
    assert_true(isnan(recording_difference(now, before, 2)));
    assert_true(recording_difference(now, before, 3) == -2);
    assert_true(isnan(recording_difference(now + 1, before + 1, -1)));
    assert_true(recording_grown(5, 9) == 4);
    assert_true(recording_grown(COUNTER_MISSING, 9) == COUNTER_MISSING);
    assert_true(recording_grown(5, COUNTER_MISSING) == COUNTER_MISSING);
}

TEST(times)
{
    const struct recording r = {.zero_tsc = 1000};
    assert_true(recording_time_us(&r, 1000, 2e9) == 0);
    assert_true(recording_time_us(&r, 5000, 2e9) == 2);
    assert_true(recording_time_us(&r, 0, 2e9) == -0.5);
}

TEST(disturbances)
{
    uint64_t words[] = {5, 0, 5, 1, 6, 2, 9, 3}; /* a TSC may stand still */
    struct recording r = {.n = 4, .stride = 2, .words = words};
    assert_null(recording_disturbed(&r));
    r.page_faults = 1;
    assert_string_equal(recording_disturbed(&r), "page faults");
    r.cut = true;
    assert_string_equal(recording_disturbed(&r), "preempted by the scheduler");
    r.cut = false;
    r.involuntary_switches = 1;
    assert_string_equal(recording_disturbed(&r), "preempted by the scheduler");
    r.migrated = true;
    assert_string_equal(recording_disturbed(&r), "migrated to another CPU");
    /* at each reading but the first, and not after the last */
    for (size_t i = 1; i < 4; i++) {
        uint64_t was = words[2 * i];
        words[2 * i] = words[2 * i - 2] - 1;
        assert_string_equal(recording_disturbed(&r), "the TSC went back");
        r.n = i;
        assert_string_equal(recording_disturbed(&r), "migrated to another CPU");
        r.n = 4;
        words[2 * i] = was;
    }
}
