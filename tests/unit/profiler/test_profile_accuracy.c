/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profiler on a few drawn systems, whose truth is known: the aims of `make profile-accuracy`. */
#include "tests/support/profile_score.h"
#include "tests/support/test.h"

static struct model model; /* too large for the stack */
static struct profile_truth truth, again;

static void load_model_named(const char *name)
{
    struct machine_error err;
    assert_int_equal(model_load(name, "data", &model, &err), MACHINE_OK);
}

TEST(test_errors_limits_and_cost_keep_the_aims)
{
    enum { SETS = 8 };
    struct profile_score score = {0};
    skip_where_sanitized("the same code runs in the other tests of profiles");
    load_model_named("xeon-gold-6130");
    for (unsigned i = 0; i < SETS; i++) {
        assert_int_equal(profile_score_set(&model, 7, i, PROFILE_SOURCES, &truth), 0);
        assert_int_equal(profile_score_add(&score, &truth), 0);
        assert_true(fabs(truth.lost - truth.predicted) <= 0.002);
    }
    profile_score_print(stdout, &score);
    assert_true(score.kind[SYSTEM_KINDS].n >= 50);
    /* it is there: who says 0 for all would be off by more */
    assert_true(score.kind[SYSTEM_KINDS].sum_truth / (double)score.kind[SYSTEM_KINDS].n > 2);
    assert_true(profile_score_error(&score) <= 2.2);
    assert_true(score.part[TRUTH_SIBLING].sum_abs / (double)score.part[TRUTH_SIBLING].n <= 2.2);
    assert_true(score.part[TRUTH_DELAY].sum_abs / (double)score.part[TRUTH_DELAY].n <= 2.2);
    /* of so few tasks: three standard deviations around 95 % */
    assert_true(profile_score_held(&score) >= 0.87);
    assert_true(fabs(score.lost - score.predicted) / SETS <= 0.001);
    profile_score_free(&score);
}

TEST(test_the_same_seed_gives_the_same)
{
    struct profile_setup setup;
    load_model_named("core-i9-7940x");
    profile_truth_setup(&model, 3, &setup);
    memset(&truth, 0, sizeof truth);
    memset(&again, 0, sizeof again);
    assert_int_equal(profile_truth_of(&model, &setup, 3, 5, &truth), 0);
    assert_int_equal(profile_truth_of(&model, &setup, 3, 5, &again), 0);
    assert_true(truth.n_tasks > 2 && truth.turns[PROFILE_TAKEN] > 50);
    assert_int_equal(truth.n_tasks, again.n_tasks);
    for (unsigned i = 0; i < truth.n_tasks; i++) {
        assert_int_equal(truth.task[i].samples, again.task[i].samples);
        assert_memory_equal(truth.task[i].truth, again.task[i].truth, sizeof truth.task[i].truth);
        assert_memory_equal(&truth.task[i].seen, &again.task[i].seen, sizeof truth.task[i].seen);
    }
}
