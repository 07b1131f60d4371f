/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program around the tests of one file: they register themselves, and it runs them. */
#include "tests/support/test.h"

enum { TESTS_MAX = 200 };

static struct CMUnitTest tests[TESTS_MAX];
static int places[TESTS_MAX];
static size_t n_tests;
static CMFixtureFunction group_setup, group_teardown;
static void (*before)(void);

void test_add(struct CMUnitTest test, int place)
{
    size_t i = n_tests++;
    if (n_tests > TESTS_MAX)
        abort();
    for (; i > 0 && places[i - 1] > place; i--) {
        tests[i] = tests[i - 1];
        places[i] = places[i - 1];
    }
    tests[i] = test;
    places[i] = place;
}

void test_group(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    group_setup = setup;
    group_teardown = teardown;
}

void test_before(void (*begin)(void))
{
    before = begin;
}

int main(void)
{
    if (before)
        before();
    return _cmocka_run_group_tests("tests", tests, n_tests, group_setup, group_teardown);
}
