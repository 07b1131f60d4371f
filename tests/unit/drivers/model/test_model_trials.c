/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trials and first uses of the modelled CPU: what it refuses, when it asks whether to stop, which cache a buffer lies
 * in; and ramps so late that time is too coarse for them.
 */
#include "drivers/model/model_core.h"
#include "drivers/model/model_machine.h"
#include "tests/support/golden.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

static struct rig rig;

static int open_rig(void **state)
{
    struct model m;
    (void)state;
    rig_load("xeon-gold-6130", &m);
    rig_open(&rig, &m, 1, 1, 7);
    return 0;
}

static int close_rig(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

enum { TRIALS = 12 };

/* All of one cache scatters alike, and otherwise than what lies in the next one. */
TEST_WITH(buffers_lie_in_the_smallest_cache_that_holds_them, open_rig, close_rig)
{
    const size_t limits[] = {model_caches.l1, model_caches.l2, model_caches.l3};
    for (size_t i = 0; i < 3; i++) {
        double duration[3][TRIALS];
        const size_t bytes[] = {limits[i] - 1, limits[i], limits[i] + 1};
        for (size_t k = 0; k < 3; k++) {
            struct trials_request r = {
                .workload = WORKLOAD_LOAD, .bytes = bytes[k], .trial_us = 3000, .trials = TRIALS};
            struct trials_seen seen;
            struct machine_error err;
            assert_int_equal(model_trials(&rig.machine, &r, duration[k], &seen, &err), MACHINE_OK);
        }
        assert_memory_equal(duration[0], duration[1], sizeof duration[0]);
        assert_memory_not_equal(duration[0], duration[2], sizeof duration[0]);
    }
}

static unsigned polls, stops_at;

static int stop_counted(void *data)
{
    assert_ptr_equal(data, &polls);
    return ++polls == stops_at;
}

TEST_WITH(it_asks_every_thousand_trials, open_rig, close_rig)
{
    static double duration[2002];
    static const struct {
        unsigned trials, stops_at, polls;
        bool stopped;
    } cases[] = {{1, 0, 1, false},   {1000, 0, 1, false}, {1001, 0, 2, false}, {2001, 0, 3, false},
                 {2001, 1, 1, true}, {2001, 2, 2, true},  {2000, 3, 2, false}, {2001, 3, 3, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trials_request r = {.workload = WORKLOAD_REGISTER,
                                   .trial_us = 1,
                                   .trials = cases[i].trials,
                                   .stop = stop_counted,
                                   .data = &polls};
        struct trials_seen seen;
        struct machine_error err;
        polls = 0;
        stops_at = cases[i].stops_at;
        int status = model_trials(&rig.machine, &r, duration, &seen, &err);
        assert_int_equal(status, cases[i].stopped ? MACHINE_FAILED : MACHINE_OK);
        assert_int_equal(polls, cases[i].polls);
        if (cases[i].stopped)
            assert_string_equal(err.text, "stopped");
    }
}

TEST_WITH(trials_that_are_refused, open_rig, close_rig)
{
    static const struct {
        unsigned trials;
        double trial_us;
        bool masked;
        int status;
    } cases[] = {{1, 1, false, MACHINE_OK},      {0, 1, false, MACHINE_FAILED}, {1, 0, false, MACHINE_FAILED},
                 {1, -1, false, MACHINE_FAILED}, {1, 5000, true, MACHINE_OK},   {1, 5000.1, true, MACHINE_BAD_INPUT},
                 {1, 5000.1, false, MACHINE_OK}};
    struct trials_seen seen;
    struct machine_error err;
    double duration[1];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trials_request r = {.workload = WORKLOAD_REGISTER,
                                   .trial_us = cases[i].trial_us,
                                   .trials = cases[i].trials,
                                   .masked = cases[i].masked};
        assert_int_equal(model_trials(&rig.machine, &r, duration, &seen, &err), cases[i].status);
        if (cases[i].status == MACHINE_FAILED)
            assert_string_equal(err.text, "the modelled CPU was not prepared, or is to run no trial");
        if (cases[i].status == MACHINE_BAD_INPUT)
            assert_string_equal(err.text, "with interrupts masked a trial takes 5000 us at most");
    }
    struct trials_request r = {.workload = WORKLOAD_REGISTER, .trial_us = 1, .trials = 1};
    rig.machine.ops->finish(&rig.machine);
    assert_int_equal(model_trials(&rig.machine, &r, duration, &seen, &err), MACHINE_FAILED);
}

/* ---- ramps ---- */

/* So late that a step of the ramp is less than time can tell: it is over, for it would never go on. */
TEST_WITH(a_ramp_ends_where_time_is_too_coarse, open_rig, close_rig)
{
    static const struct {
        double now, tau_us;
        bool goes_on;
    } cases[] = {{0, 50, true},
                 {1e15, 10, false},
                 {1e15, 1e6, true},
                 {4503599627370496, 256, false},
                 {4503599627370496, 1024, true}};
    const struct model_state *s = rig.machine.state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model_core c = {.model = &s->model, .cores = 1, .now = cases[i].now};
        model_ramp_begin(&c, 9, cases[i].tau_us);
        assert_true((c.ramps.ghz.tau > 0) == cases[i].goes_on);
        model_ramp_fade_begin(&c, 0.5, cases[i].tau_us, 0);
        assert_true((c.ramps.fade.tau > 0) == cases[i].goes_on);
        assert_true((model_ramp_fade(&c) < 1) == cases[i].goes_on);
    }
}
