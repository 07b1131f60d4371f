/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * No answer of the analysis changes unnoticed where it is hard: what it finds in many small recordings of states that
 * it just tells apart, or just not, is that of tests/golden/. After an intended change, `make golden` rewrites these,
 * and the diff shows what changed.
 */
#include "analysis/phases/phases.h"
#include "tests/support/golden.h"
#include "tests/support/odd_traces.h"
#include "tests/support/phases_lines.h"
#include "tests/support/test.h"

/* of each kind: as many as take a quarter of a second; and of MORE times as many only the sums, to keep files small */
static const unsigned seeds[ODD_KINDS] = {40, 27, 40, 30, 40, 60};
enum { MORE = 4 };

static void odd_recordings(void **state)
{
    const enum odd_kind kind = *(const enum odd_kind *)*state;
    struct golden g;
    char file[40];
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    for (uint64_t seed = 1; seed <= MORE * seeds[kind]; seed++) {
        struct trace t;
        struct phases p;
        char why[300];
        assert_int_equal(odd_trace(kind, seed, &t), 0);
        fprintf(out, seed <= seeds[kind] ? "# %ju\n" : "%ju: ", (uintmax_t)seed);
        if (phases_find(&t, &p, why, sizeof why)) {
            fprintf(out, "refused: %s\n", why);
        } else {
            (seed <= seeds[kind] ? phases_lines_write : phases_lines_sum)(out, &p);
            phases_free(&p);
        }
        trace_free(&t);
    }
    snprintf(file, sizeof file, "odd-%s.txt", odd_kind_name(kind));
    golden_expect(&g, "phases", file, true);
}

int main(void)
{
    static enum odd_kind kinds[ODD_KINDS];
    struct CMUnitTest tests[ODD_KINDS];
    for (int k = 0; k < ODD_KINDS; k++) {
        kinds[k] = (enum odd_kind)k;
        tests[k] = (struct CMUnitTest){odd_kind_name(kinds[k]), odd_recordings, NULL, NULL, &kinds[k]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
