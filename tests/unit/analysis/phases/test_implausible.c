/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Throttling that no processor does: what is withdrawn of it, and what stays. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/phases/checks/withdraw.h"

enum { THROTTLES = 3, PHASES = 2 * THROTTLES + 1 };

/* Throttles at 0, 200 and 400 us, of so many us at these ratios and frequencies, between steady phases at 3 GHz. */
struct made {
    double us, ratio, ghz;
};

static struct phases make(const struct made throttle[THROTTLES])
{
    struct phases p = {.phases = calloc(PHASES, sizeof *p.phases), .n_phases = PHASES};
    assert_non_null(p.phases);
    p.phases[0] = (struct phase){.kind = PHASE_STEADY, .start_us = -50, .duration_us.value = 50, .freq_ghz.value = 3};
    for (int i = 0; i < THROTTLES; i++) {
        double begin = 200 * i;
        p.phases[2 * i + 1] = (struct phase){.kind = PHASE_THROTTLE,
                                             .start_us = begin,
                                             .duration_us.value = throttle[i].us,
                                             .ipc_ratio = throttle[i].ratio,
                                             .freq_ghz.value = throttle[i].ghz};
        p.phases[2 * i + 2] = (struct phase){.kind = PHASE_STEADY,
                                             .start_us = begin + throttle[i].us,
                                             .duration_us.value = 200 - throttle[i].us,
                                             .freq_ghz.value = 3};
    }
    return p;
}

static void add_transition(struct phases *p, double at_us, double to_ghz, unsigned halts)
{
    assert_int_equal(phases_add_transition(p, (struct transition){.at_us = at_us,
                                                                  .latency_us = {10, 9, 11},
                                                                  .halts = halts,
                                                                  .from_ghz = 3,
                                                                  .to_ghz = to_ghz}),
                     0);
}

static void expect(struct phases *p, unsigned withdrawn, size_t warnings)
{
    assert_int_equal(implausible_withdraw(p), 0);
    for (unsigned i = 0; i < THROTTLES; i++)
        assert_int_equal(p->phases[2 * i + 1].kind, withdrawn >> i & 1 ? PHASE_UNKNOWN : PHASE_THROTTLE);
    for (unsigned i = 0; i <= THROTTLES; i++)
        assert_int_equal(p->phases[2 * i].kind, PHASE_STEADY);
    assert_int_equal(p->n_warnings, warnings);
}

static void expect_withdrawn(struct made a, struct made b, struct made c, unsigned withdrawn, size_t warnings)
{
    struct phases p = make((const struct made[THROTTLES]){a, b, c});
    expect(&p, withdrawn, warnings);
    phases_free(&p);
}

/* Rates within 5 %, lengths within 5 % and 1 us; of that rate all go. */
static void what_recurs_without_a_switch_goes(void **state)
{
    (void)state;
    const struct made once = {20, 0.5, 3}, other = {20, 0.25, 3};
    expect_withdrawn(once, other, (struct made){50, 0.75, 3}, 0, 0);
    expect_withdrawn(once, other, once, 5, 1);
    expect_withdrawn(once, (struct made){21.9, 0.52, 3}, other, 3, 1);
    expect_withdrawn(once, (struct made){22, 0.52, 3}, other, 0, 0);
    expect_withdrawn(once, (struct made){22.1, 0.52, 3}, other, 0, 0);
    expect_withdrawn(once, (struct made){21.9, 0.53, 3}, other, 0, 0);
    expect_withdrawn(once, once, (struct made){90, 0.51, 3}, 7, 1);
    struct phases p = make((const struct made[THROTTLES]){once, other, once});
    p.phases[6].level = 1; /* the last one leads to another frequency */
    expect(&p, 0, 0);
    phases_free(&p);
}

/* By more than 2 % of the faster of those around it. */
static void what_is_faster_while_it_throttles_goes(void **state)
{
    (void)state;
    const struct made a = {20, 0.5, 3.05}, b = {30, 0.25, 3.07}, c = {50, 0.75, 2.9};
    expect_withdrawn(a, b, c, 2, 0);
    struct phases p = make((const struct made[THROTTLES]){a, b, c});
    p.phases[4].freq_ghz.value = 3.02;
    expect(&p, 0, 0);
    phases_free(&p);
}

/* A transition that began with it goes, too, unless there were halts or another frequency. */
static void transitions_of_throttling_alone_go(void **state)
{
    (void)state;
    const struct made a = {20, 0.5, 3}, b = {30, 0.25, 3.5}, c = {50, 0.75, 3};
    struct phases p = make((const struct made[THROTTLES]){a, b, c});
    add_transition(&p, 0, 3, 0); /* of another */
    add_transition(&p, 200, 3, 0);
    add_transition(&p, 200, 3, 1);
    add_transition(&p, 200, 2.5, 0);
    add_transition(&p, 260, 3, 0);
    expect(&p, 2, 0);
    static const double at_us[] = {0, 200, 200, 260};
    assert_int_equal(p.n_transitions, 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(p.transitions[i].at_us == at_us[i]);
    assert_int_equal(p.transitions[1].halts, 1);
    assert_true(p.transitions[2].to_ghz < 2.6);
    phases_free(&p);
}

/* More than 20 are no switch's. */
static void too_many_phases_are_one_that_is_not_known(void **state)
{
    (void)state;
    for (size_t n = 20; n <= 21; n++) {
        struct phases p = {.phases = calloc(n, sizeof *p.phases), .n_phases = n};
        assert_non_null(p.phases);
        for (size_t i = 0; i < n; i++)
            p.phases[i] = (struct phase){.kind = PHASE_STEADY, .start_us = 10 * (double)i, .duration_us.value = 10};
        assert_int_equal(implausible_withdraw(&p), 0);
        assert_int_equal(p.n_phases, n == 20 ? 20 : 1);
        assert_int_equal(p.phases[0].kind, n == 20 ? PHASE_STEADY : PHASE_UNKNOWN);
        if (n == 21)
            assert_non_null(strstr(p.phases[0].why, "21 phases, more than any known switch has"));
        phases_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_recurs_without_a_switch_goes),
        cmocka_unit_test(what_is_faster_while_it_throttles_goes),
        cmocka_unit_test(transitions_of_throttling_alone_go),
        cmocka_unit_test(too_many_phases_are_one_that_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
