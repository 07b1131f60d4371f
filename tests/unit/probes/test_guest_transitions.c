/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slow: dozens of transitions on a busy guest */
/*
 * The main job on a busy guest, from the switch to the answer: nothing that is reported is false, nine answers in ten
 * are right.
 */
#include "tests/support/guest_model.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

/* The analysis is not held to it yet. GUEST_TRANSITIONS=N: with so many seeds a pair. */
enum { HELD = 1 };
enum { SEEDS = 20 };

static const char *const pairs[][2] = {{"128fma", "512fma"}, {"512fma", "128fma"}, {"128fma", "128or"}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

TEST(transitions_of_a_busy_guest)
{
    const char *wanted = getenv("GUEST_TRANSITIONS");
    if (!HELD && !wanted)
        skip();
    unsigned seeds = wanted ? (unsigned)strtoul(wanted, NULL, 10) : rng_rounds(SEEDS), of[GUEST_VERDICTS] = {0};
    struct model m;
    rig_load("cloud-guest", &m);
    for (unsigned i = 0; i < seeds * PAIRS; i++) {
        struct machine_error err;
        enum guest_verdict v;
        if (guest_model_judge(&m, pairs[i % PAIRS][0], pairs[i % PAIRS][1], 1 + i / PAIRS, &v, stderr, &err))
            fail_msg("%s", err.text);
        of[v]++;
    }
    print_message("%u right, %u undecided, %u false\n", of[GUEST_RIGHT], of[GUEST_UNDECIDED], of[GUEST_FALSE]);
    assert_int_equal(of[GUEST_FALSE], 0);
    assert_true(10 * of[GUEST_RIGHT] >= 9 * seeds * PAIRS);
}

/* The truth that the answers are compared with is that of the model file. */
TEST(the_truth_is_the_model_files)
{
    struct machine_error err;
    struct guest_truth t;
    struct model m;
    rig_load("cloud-guest", &m);
    assert_int_equal(guest_model_truth(&m, "128fma", "512fma", &t, &err), MACHINE_OK);
    assert_true(t.kind == GUEST_THROTTLE && t.ratio == 0.25 && t.low == 1 && t.halt_us == 0);
    assert_true(t.d1_us > 1.94 && t.d1_us < 1.96 && t.cold_us > 0.18 && t.cold_us < 0.2);
    for (int i = 1; i < PAIRS; i++) {
        assert_int_equal(guest_model_truth(&m, pairs[i][0], pairs[i][1], &t, &err), MACHINE_OK);
        assert_true(t.kind == GUEST_NULL && t.ratio == 1 && t.low == 1 && t.halt_us == 0);
    }
}
