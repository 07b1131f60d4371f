/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands once a finding has been withdrawn: phases, levels and transitions that still fit together. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/phases/checks/withdraw.h"

/* Fast until 0, slow for 670 us, a halt of 10 us, fast again: a wait, and its end. */
struct wait {
    struct phase phase[4];
    struct transition transition[2];
    double ghz[2];
    struct estimate level[2];
    struct phases found;
};

static void wait_begin(struct wait *w)
{
    static const struct {
        enum phase_kind kind;
        double start_us, duration_us;
        int level;
    } phases[4] = {
        {PHASE_STEADY, -100, 100, 0}, {PHASE_SLOW, 0, 670, 1}, {PHASE_HALT, 670, 10, -1}, {PHASE_STEADY, 680, 100, 0}};
    memset(w, 0, sizeof *w);
    for (size_t i = 0; i < 4; i++)
        w->phase[i] = (struct phase){.kind = phases[i].kind,
                                     .start_us = phases[i].start_us,
                                     .duration_us.value = phases[i].duration_us,
                                     .level = phases[i].level};
    w->transition[0] = (struct transition){.at_us = 0, .from_ghz = 2.8, .to_ghz = 1.9, .latency_us.value = 0};
    w->transition[1] = (struct transition){.at_us = 670, .from_ghz = 1.9, .to_ghz = 2.8, .latency_us.value = 10};
    w->ghz[0] = w->level[0].value = 2.8;
    w->ghz[1] = w->level[1].value = 1.9;
    w->found = (struct phases){.phases = w->phase,
                               .n_phases = 4,
                               .transitions = w->transition,
                               .n_transitions = 2,
                               .levels_ghz = w->ghz,
                               .levels = w->level,
                               .n_levels = 2};
}

static void slow_is_what_a_rise_follows(void **state)
{
    (void)state;
    static const struct {
        double at_us;
        bool rises, slow;
    } cases[] = {{670, true, true},  {674, true, true}, {666, true, true},  {676, true, false},
                 {664, true, false}, {0, true, false},  {670, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wait w;
        wait_begin(&w);
        w.transition[1].at_us = cases[i].at_us;
        if (!cases[i].rises)
            w.transition[1].to_ghz = 1.8;
        withdraw_orphans(&w.found);
        if (w.phase[1].kind != (cases[i].slow ? PHASE_SLOW : PHASE_STEADY))
            fail_msg("case %zu: phase %s", i, phases_kind_name(w.phase[1].kind));
        assert_int_equal(w.found.n_levels, 2);
    }
}

static void a_level_of_unknown_phases_goes(void **state)
{
    (void)state;
    struct wait w;
    wait_begin(&w);
    withdraw_phase(&w.phase[0], "no");
    withdraw_phase(&w.phase[3], "no");
    withdraw_orphans(&w.found);
    assert_int_equal(w.found.n_levels, 1);
    assert_true(w.ghz[0] == 1.9 && w.level[0].value == 1.9);
    assert_int_equal(w.phase[0].level, -1);
    assert_int_equal(w.phase[1].level, 0);
    assert_int_equal(w.phase[2].level, -1);
    assert_int_equal(w.phase[3].level, -1);
    assert_string_equal(w.phase[3].why, "no");
    assert_true(isnan(w.phase[3].ipc_ratio));
}

/* The steady phase that it led to is not known to be another; those before its end stay. */
static void what_a_withdrawn_transition_led_to_is_unknown(void **state)
{
    (void)state;
    struct wait w;
    wait_begin(&w);
    withdraw_transition(&w.found, 1, "two halves differ");
    assert_int_equal(w.found.n_transitions, 1);
    assert_true(w.transition[0].at_us == 0);
    assert_int_equal(w.phase[1].kind, PHASE_SLOW);
    assert_int_equal(w.phase[2].kind, PHASE_HALT);
    assert_int_equal(w.phase[3].kind, PHASE_UNKNOWN);
    assert_string_equal(w.phase[3].why, "two halves differ");

    wait_begin(&w);
    withdraw_transition(&w.found, 0, "no");
    assert_int_equal(w.found.n_transitions, 1);
    assert_true(w.transition[0].at_us == 670);
    assert_int_equal(w.phase[0].kind, PHASE_STEADY);
    assert_int_equal(w.phase[1].kind, PHASE_UNKNOWN);
    assert_int_equal(w.phase[3].kind, PHASE_STEADY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_is_what_a_rise_follows),
        cmocka_unit_test(a_level_of_unknown_phases_goes),
        cmocka_unit_test(what_a_withdrawn_transition_led_to_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
