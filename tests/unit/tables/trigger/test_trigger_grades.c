/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grades of repetitions, and what they agree on: at the shares and frequencies that decide, and beside them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tables/trigger/trigger.h"
#include "tests/support/close_to.h"

enum { SIGHTS_MOST = 32 };

/* "0001": a repetition for each grade. */
static size_t of_grades(const char *grades, struct sight s[SIGHTS_MOST])
{
    size_t n = strlen(grades);
    for (size_t i = 0; i < n; i++)
        s[i] = (struct sight){.freq = 3, .level = NAN, .grade = grades[i] - '0'};
    return n;
}

/* Four in five reach it, one in five at most goes beyond. */
static void repetitions_agree_by_four_in_five(void **state)
{
    static const struct {
        const char *grades;
        int agreed;
    } cases[] = {
        {"", -1},
        {"0", 0},
        {"3", 3},
        {"01", -1},
        {"00000", 0},
        {"00001", 0},
        {"00011", -1},
        {"11110", 1},
        {"11100", -1},
        {"11112", 1},
        {"11122", -1},
        {"12222", 2},
        {"02222", 2},
        {"01222", -1},
        {"0000000011", 0},
        {"0000000111", -1},
        {"0011111111", 1},
        {"0111111122", 1},
        {"0111111222", -1},
        {"3333333322", 3},
        {"0000000000111", -1},
        {"000000000000000111", 0},
    };
    struct sight s[SIGHTS_MOST];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = of_grades(cases[i].grades, s);
        if (trigger_agreed(s, n) != cases[i].agreed)
            fail_msg("%s: %d, not %d", cases[i].grades, trigger_agreed(s, n), cases[i].agreed);
    }
}

static void expect_grades(const struct sight *s, size_t n, const char *grades)
{
    for (size_t i = 0; i < n; i++)
        if (s[i].grade != grades[i] - '0')
            fail_msg("repetition %zu: grade %d, not %c", i, s[i].grade, grades[i]);
}

static void levels_are_the_grades_where_all_are_counted(void **state)
{
    static const double level[] = {0, 0.49, 0.5, 1.2, 1.49, 1.51, 2};
    struct trigger_grades g;
    struct sight s[SIGHTS_MOST];
    (void)state;
    for (size_t i = 0; i < 7; i++)
        s[i] = (struct sight){.freq = 3 - 0.1 * (double)i, .level = level[i], .grade = 7};
    assert_int_equal(trigger_grade(s, 7, &g), 0);
    assert_true(g.counted);
    assert_int_equal(g.n, 3);
    expect_grades(s, 7, "0011122");
    assert_close(g.freq[0], 2.95, 1e-9);
    assert_close(g.freq[1], 2.7, 1e-9);
    assert_close(g.freq[2], 2.45, 1e-9);
    /* a level between that nobody has */
    s[0].level = 0;
    s[1].level = 2;
    assert_int_equal(trigger_grade(s, 2, &g), 0);
    assert_int_equal(g.n, 3);
    assert_true(isnan(g.freq[1]));
    assert_int_equal(trigger_grade(s, 0, &g), 0);
    assert_false(g.counted);
    assert_int_equal(g.n, 0);
}

static void frequencies_are_where_one_is_not(void **state)
{
    static const double ghz[] = {2.8, 2.79, 2.4, 2.8, 2.41, 1.9, 1.9, 2.39, 2.6};
    struct trigger_grades g;
    struct sight s[SIGHTS_MOST];
    (void)state;
    for (size_t i = 0; i < 9; i++)
        s[i] = (struct sight){.freq = ghz[i], .level = i ? 0 : NAN, .grade = 3};
    assert_int_equal(trigger_grade(s, 9, &g), 0);
    assert_false(g.counted);
    assert_int_equal(g.n, 3); /* 2.6 GHz is seen once and no grade of its own: the nearest one's, by its logarithm */
    expect_grades(s, 9, "001012210");
    assert_close(g.freq[0], (2.8 + 2.79 + 2.8 + 2.6) / 4, 1e-9);
    assert_close(g.freq[1], 2.4, 1e-9);
    assert_close(g.freq[2], 1.9, 1e-9);
    /* of three each may be one */
    for (size_t i = 0; i < 3; i++)
        s[i] = (struct sight){.freq = 2.8 - 0.4 * (double)i, .level = NAN};
    assert_int_equal(trigger_grade(s, 3, &g), 0);
    expect_grades(s, 3, "012");
}

/* Nearer to the grade than to the one above that was seen: by counters half a level, by frequencies the geometric
 * mean. */
static void a_further_repetition_reaches_what_is_nearer(void **state)
{
    const struct trigger_grades counted = {.n = 3, .counted = true}, ranked = {.n = 3, .freq = {2.8, 2.4, 1.9}},
                                gap = {.n = 3, .freq = {2.8, NAN, 1.9}}, none = {.n = 3, .freq = {NAN, NAN, 1.9}};
    (void)state;
    assert_true(trigger_reaches(&(struct sight){.level = 0.5}, &counted, 1));
    assert_false(trigger_reaches(&(struct sight){.level = 0.49}, &counted, 1));
    assert_true(trigger_reaches(&(struct sight){.level = 1.5}, &counted, 2));
    assert_false(trigger_reaches(&(struct sight){.level = 1.4}, &counted, 2));
    assert_true(trigger_reaches(&(struct sight){.freq = sqrt(2.8 * 2.4) - 1e-6}, &ranked, 1));
    assert_false(trigger_reaches(&(struct sight){.freq = sqrt(2.8 * 2.4) + 1e-6}, &ranked, 1));
    assert_true(trigger_reaches(&(struct sight){.freq = sqrt(2.4 * 1.9) - 1e-6}, &ranked, 2));
    assert_false(trigger_reaches(&(struct sight){.freq = sqrt(2.4 * 1.9) + 1e-6}, &ranked, 2));
    assert_true(trigger_reaches(&(struct sight){.freq = sqrt(2.8 * 1.9) - 1e-6}, &gap, 2));
    assert_false(trigger_reaches(&(struct sight){.freq = sqrt(2.8 * 1.9) + 1e-6}, &gap, 2));
    assert_false(trigger_reaches(&(struct sight){.freq = 2.8}, &none, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repetitions_agree_by_four_in_five),
        cmocka_unit_test(levels_are_the_grades_where_all_are_counted),
        cmocka_unit_test(frequencies_are_where_one_is_not),
        cmocka_unit_test(a_further_repetition_reaches_what_is_nearer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
