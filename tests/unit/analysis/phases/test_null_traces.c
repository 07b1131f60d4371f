/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The analysis on recordings of nothing, with every kind of noise (null_traces.h): what it finds is false. At most one
 * in a thousand may be (rounded up). `make accuracy` does the same with ten thousand traces of each kind.
 *
 * NULL_TRACES: how many of each kind (80). NULL_TRACES_FIRST: the first seed (1).
 */
#include "tests/support/null_traces.h"
#include "tests/support/random_numbers.h"
#include "analysis/phases/phases.h"
#include "tests/support/test.h"

static size_t setting(const char *name, size_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

/* 1 if something was found. */
static size_t judge(enum null_kind kind, uint64_t seed)
{
    struct trace t;
    struct null_about about;
    struct phases p;
    char why[300], what[100];
    assert_int_equal(null_trace(kind, seed, &t, &about), 0);
    if (phases_find(&t, &p, why, sizeof why))
        fail_msg("%s %llu is refused: %s", null_kind_name(kind), (unsigned long long)seed, why);
    bool found = false_finding(&p, about.switched, what, sizeof what);
    if (found)
        print_message("%s %llu: %s\n    %s\n", null_kind_name(kind), (unsigned long long)seed, what, about.text);
    /* nothing found: then how little would have been */
    if (!found && t.channel[TRACE_FREQ])
        assert_true(p.detectable_freq > 0 && p.detectable_freq < 1);
    if (!found && t.channel[TRACE_IPC])
        assert_true(p.detectable_throttle >= 0 && p.detectable_throttle < 1);
    phases_free(&p);
    trace_free(&t);
    return found;
}

static void nothing_is_found(void **state)
{
    const enum null_kind kind = *(const enum null_kind *)*state;
    size_t first = setting("NULL_TRACES_FIRST", 1), count = setting("NULL_TRACES", rng_rounds(80)), wrong = 0;
    for (uint64_t seed = first; seed < first + count; seed++)
        wrong += judge(kind, seed);
    if (wrong > count / 1000 + (count % 1000 > 0))
        fail_msg("%s: something is found in %zu of %zu traces", null_kind_name(kind), wrong, count);
}

/* Values in steps, mostly the one and now and then the next: a few of the next in a row were once a phase. */
TEST(a_few_of_the_next_value_are_no_phase)
{
    static const uint64_t once[] = {50, 105, 130, 151, 166, 215, 220, 245, 255, 263};
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        assert_int_equal(judge(NULL_QUANTISED, once[i]), 0);
}

BEFORE_TESTS
{
    static enum null_kind kinds[NULL_KINDS];
    for (int k = 0; k < NULL_KINDS; k++) {
        kinds[k] = (enum null_kind)k;
        test_add((struct CMUnitTest){null_kind_name(kinds[k]), nothing_is_found, NULL, NULL, &kinds[k]}, __LINE__);
    }
}
