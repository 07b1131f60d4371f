/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lies behind the fine part of a recording, by phases, courses and short traces made by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/phases/tail/tail.h"
#include "tests/support/close_to.h"

/* ---- fine parts made by hand ---- */

static struct phase steady(double start, double length, double ghz, double ipc)
{
    return (struct phase){.kind = PHASE_STEADY,
                          .start_us = start,
                          .duration_us = {length, length, length},
                          .freq_ghz = {ghz, ghz, ghz},
                          .ipc = ipc,
                          .ipc_ratio = 1};
}

/* From when on the second kernel ran undisturbed, where a phase of 3 GHz and 2 instructions a cycle comes before one of
 * these, in a recording that ends with its fine part. */
static double undisturbed_beside(double ghz, double ipc)
{
    struct phase phase[] = {steady(-20, 20, 3, 1), steady(0, 50, 3, 2), steady(50, 100, ghz, ipc)};
    const struct phases fine = {.phases = phase, .n_phases = 3};
    struct trace t;
    struct tail x;
    trace_init(&t);
    assert_int_equal(trace_set(&t, "fine_us", "150"), 0);
    assert_int_equal(tail_find(&t, &fine, &x), 0);
    trace_free(&t);
    return x.after;
}

/* A ramp that the fine part has cut into steps may begin where frequency and rate both begin to differ by little. */
static void a_ramp_begins_where_both_are_near(void **state)
{
    (void)state;
    assert_true(undisturbed_beside(3.03, 2.02) == 0);
    assert_true(undisturbed_beside(3.06, 2) == 50);
    assert_true(undisturbed_beside(3, 2.04) == 50);
    assert_true(undisturbed_beside(3.06, 2.04) == 50);
}

/* Between two levels that are one nothing changes: what comes later is still told. */
static void transitions_behind_an_empty_one_are_kept(void **state)
{
    (void)state;
    const struct transition tr[] = {{.at_us = 10, .from_ghz = 3, .to_ghz = 3},
                                    {.at_us = 20, .from_ghz = 3, .to_ghz = 2.8},
                                    {.at_us = 30, .from_ghz = 2.8, .to_ghz = 2.6}};
    struct tail x = {.n_runs = 1};
    struct phases p = {.n_phases = 1, .phases = malloc(sizeof *p.phases)};
    assert_non_null(p.phases);
    p.phases[0] = steady(-20, 150, 3, 1);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(phases_add_transition(&p, tr[i]), 0);
    assert_int_equal(tail_join(&x, &p), 0);
    assert_int_equal(p.n_transitions, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(p.transitions[i].at_us == tr[i + 1].at_us && p.transitions[i].to_ghz == tr[i + 1].to_ghz);
    phases_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ramp_begins_where_both_are_near),
        cmocka_unit_test(transitions_behind_an_empty_one_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
