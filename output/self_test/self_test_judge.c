/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "output/self_test/self_test_parts.h"

void self_test_judge(const struct self_test_readings *r, struct self_test_lines *out)
{
    memset(out, 0, sizeof *out);
    self_test_judge_clock(r, out);
    self_test_judge_counts(r, out);
    self_test_judge_levels(r, out);
    self_test_judge_event(r, out);
    self_test_judge_power(r, out);
}

size_t self_test_count(const struct self_test_lines *l, enum self_test_verdict verdict)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += l->line[i].verdict == verdict;
    return n;
}

const char *self_test_word(enum self_test_verdict verdict)
{
    return verdict == SELF_TEST_PASS ? "pass" : verdict == SELF_TEST_FAIL ? "fail" : "cannot";
}
