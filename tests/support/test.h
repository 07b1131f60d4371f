/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one way to write a unit test: TEST(name) { ... } in a file of its own, which needs no main() and no list. What
 * nearly all tests include comes with it.
 */
#pragma once

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A test; they run in the order in which they stand in the file. */
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* The same with cmocka's fixtures (or NULL) around it, which stand before it; `state` is theirs. */
#define TEST_WITH(name, setup, teardown)                                                                               \
    static void name(void **state);                                                                                    \
    __attribute__((constructor)) static void register_##name(void)                                                     \
    {                                                                                                                  \
        test_add((struct CMUnitTest){#name, name, setup, teardown, NULL}, __LINE__);                                   \
    }                                                                                                                  \
    static void name(__attribute__((unused)) void **state)

/* Fixtures (or NULL) around all tests of a file. */
#define TEST_GROUP(setup, teardown)                                                                                    \
    __attribute__((constructor)) static void register_group(void)                                                      \
    {                                                                                                                  \
        test_group(setup, teardown);                                                                                   \
    }

/* BEFORE_TESTS { ... } is done before any of the fixtures; it may test_add() tests whose names are computed. */
#define BEFORE_TESTS                                                                                                   \
    static void before_tests(void);                                                                                    \
    __attribute__((constructor)) static void register_before_tests(void)                                               \
    {                                                                                                                  \
        test_before(before_tests);                                                                                     \
    }                                                                                                                  \
    static void before_tests(void)

/* A test, at its place: those of lower numbers, such as lines, run first. */
void test_add(struct CMUnitTest test, int place);
void test_group(CMFixtureFunction setup, CMFixtureFunction teardown);
void test_before(void (*begin)(void));

/* ---- what a test may say ---- */

/* cmocka's assert_float_equal takes NaN and infinity for equal to anything: fails where `is` is farther away. */
#define assert_close(is, expected, within)                                                                             \
    do {                                                                                                               \
        double is_ = (is), expected_ = (expected);                                                                     \
        if (!(fabs(is_ - expected_) <= (within)))                                                                      \
            fail_msg("%s: %.12g, not %.12g", #is, is_, expected_);                                                     \
    } while (0)

/* Part of a text, or not; a failure shows all of it. */
static inline void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("there is no '%s' in:\n%s", part, text);
}

static inline void has_not(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("there is '%s' in:\n%s", part, text);
}

/* ---- tests that say nothing where the sanitizers run (make sanitize sets SANITIZED), or say it in minutes ---- */

/* `why`: a clause, for the list of skipped tests. */
#define skip_where_sanitized(why) skip_if_sanitized(getenv("SANITIZED") != NULL, why)
/* Where time is short as well (SLOW=no, as in ./check --ci); ./check --deep runs them with the sanitizers, too. */
#define skip_where_sanitized_in_brief(why)                                                                             \
    skip_if_sanitized(getenv("SANITIZED") != NULL && getenv("SLOW") != NULL && strcmp(getenv("SLOW"), "no") == 0, why)

#define skip_if_sanitized(when, why)                                                                                   \
    do {                                                                                                               \
        if (when) {                                                                                                    \
            print_message("skipped: %s\n", why);                                                                       \
            skip();                                                                                                    \
        }                                                                                                              \
    } while (0)
