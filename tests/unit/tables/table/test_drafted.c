/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rows and keys of a table go into a draft. */
#include "tables/table/tables.h"
#include "tests/support/test.h"

TEST(rows_of_some_texts)
{
    const struct tables_drafted all = {.only = NULL}, some = {.only = "state", .is = "steady,held"};
    assert_true(tables_drafted_row(&all, NULL) && tables_drafted_row(&all, "else"));
    assert_true(tables_drafted_row(&some, "steady") && tables_drafted_row(&some, "held"));
    assert_false(tables_drafted_row(&some, "else") || tables_drafted_row(&some, "") || tables_drafted_row(&some, NULL));
}

TEST(keys_that_are_found_elsewhere)
{
    const struct tables_drafted all = {.found = NULL}, some = {.found = "wait_us", .found_in = "upclock"};
    assert_true(tables_drafted_key(&all, "wait_us", "upclock"));
    assert_true(tables_drafted_key(&some, "wait_us", NULL) && tables_drafted_key(&some, "wait_us", "downclock"));
    assert_true(tables_drafted_key(&some, "halt_us", "upclock"));
    assert_false(tables_drafted_key(&some, "wait_us", "upclock"));
}
