/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of CPUs as text, in as much room as there is. */
#include "computer/cpu/cpu.h"
#include "tests/support/test.h"

/* A part is reported if dots and the end of the text would fit after it. */
TEST(lists_that_are_cut)
{
    static const struct {
        size_t from;
        const char *text;
    } reported[] = {{4, "..."}, {5, "0..."}, {9, "0,2-3..."}, {11, "0,2-3,5"}, {16, NULL}};
    static const int cpus[] = {0, 2, 3, 5};
    static struct cpu_mask mask, none;
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
        cpu_mask_add(&mask, cpus[i]);
    for (size_t i = 0; reported[i].text; i++)
        for (size_t size = reported[i].from; size < reported[i + 1].from; size++) {
            char text[32];
            memset(text, 'x', sizeof text);
            cpu_mask_format(&mask, text, size);
            assert_string_equal(text, reported[i].text);
            assert_int_equal(text[size], 'x');
        }
    char text[8] = "x";
    cpu_mask_format(&none, text, sizeof text);
    assert_string_equal(text, "");
}
