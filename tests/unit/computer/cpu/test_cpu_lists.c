/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of CPUs as text, in as much room as there is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "computer/cpu/cpu.h"

/* A part is told if dots and the end of the text would fit behind it. */
static void lists_that_are_cut(void **state)
{
    (void)state;
    static const struct {
        size_t from;
        const char *text;
    } told[] = {{4, "..."}, {5, "0..."}, {9, "0,2-3..."}, {11, "0,2-3,5"}, {16, NULL}};
    static const int cpus[] = {0, 2, 3, 5};
    static struct cpu_mask mask, none;
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
        cpu_mask_add(&mask, cpus[i]);
    for (size_t i = 0; told[i].text; i++)
        for (size_t size = told[i].from; size < told[i + 1].from; size++) {
            char text[32];
            memset(text, 'x', sizeof text);
            cpu_mask_format(&mask, text, size);
            assert_string_equal(text, told[i].text);
            assert_int_equal(text[size], 'x');
        }
    char text[8] = "x";
    cpu_mask_format(&none, text, sizeof text);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_that_are_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
