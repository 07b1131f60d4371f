/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wherever memory runs out, the analysis says so, or finds what it finds otherwise: no answer is wrong for it. */
#include "analysis/phases/phases.h"

#include "tests/support/random_traces.h"
#include "tests/support/strict_memory.h"
#include "tests/support/test.h"

/* The findings if an allocation of the nth kind fails; NULL if the answer is that there is no memory. */
static char *found_without(const struct trace *t, unsigned long n, bool *failed)
{
    struct phases p;
    char why[300] = "";
    strict_memory_fail(n);
    int status = phases_find(t, &p, why, sizeof why);
    *failed = strict_memory_failed();
    strict_memory_fail(0);
    if (status) {
        if (!*failed || strcmp(why, "out of memory") != 0)
            fail_msg("allocation %lu: %s", n, why);
        return NULL;
    }
    char *text = phases_to_json(&p);
    phases_free(&p);
    return text;
}

/* Returns how often the answer was that there is no memory. */
static unsigned long expect_no_wrong_answer(const struct trace *t)
{
    bool failed;
    unsigned long refused = 0, n = 0;
    char *all = found_without(t, 0, &failed);
    assert_non_null(all);
    do {
        char *text = found_without(t, ++n, &failed);
        if (text && strcmp(text, all) != 0)
            fail_msg("without allocation %lu: %s", n, text);
        refused += text == NULL;
        free(text);
    } while (failed);
    free(all);
    return refused;
}

static void memory_runs_out(void **state)
{
    const enum trace_kind kind = *(const enum trace_kind *)*state;
    struct trace t;
    struct truth truth;
    skip_where_sanitized("sanitizers have their own memory");
    assert_int_equal(random_trace(kind, 1, &t, &truth), 0);
    assert_true(expect_no_wrong_answer(&t) > 20);
    trace_free(&t);
}

BEFORE_TESTS
{
    static enum trace_kind kinds[TRACES_KINDS];
    for (int k = 0; k < TRACES_KINDS; k++) {
        kinds[k] = (enum trace_kind)k;
        test_add((struct CMUnitTest){trace_kind_name(kinds[k]), memory_runs_out, NULL, NULL, &kinds[k]}, __LINE__);
    }
}
