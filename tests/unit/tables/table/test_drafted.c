/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rows and keys of a table go into a draft. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tables/table/tables.h"

static void rows_of_some_texts(void **state)
{
    (void)state;
    const struct tables_drafted all = {.only = NULL}, some = {.only = "state", .is = "steady,held"};
    assert_true(tables_drafted_row(&all, NULL) && tables_drafted_row(&all, "else"));
    assert_true(tables_drafted_row(&some, "steady") && tables_drafted_row(&some, "held"));
    assert_false(tables_drafted_row(&some, "else") || tables_drafted_row(&some, "") || tables_drafted_row(&some, NULL));
}

static void keys_that_are_found_elsewhere(void **state)
{
    (void)state;
    const struct tables_drafted all = {.found = NULL}, some = {.found = "wait_us", .found_in = "upclock"};
    assert_true(tables_drafted_key(&all, "wait_us", "upclock"));
    assert_true(tables_drafted_key(&some, "wait_us", NULL) && tables_drafted_key(&some, "wait_us", "downclock"));
    assert_true(tables_drafted_key(&some, "halt_us", "upclock"));
    assert_false(tables_drafted_key(&some, "wait_us", "upclock"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_some_texts),
        cmocka_unit_test(keys_that_are_found_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
