/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trials and first uses of the modelled CPU, number by number: tests/golden/machine/model.trials. What it refuses, when
 * it asks whether to stop, which cache a buffer lies in; and ramps so late that time is too coarse for them.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/model/model_core.h"
#include "drivers/model/model_machine.h"
#include "tests/support/golden.h"
#include "tests/support/model_rig.h"

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

static void trials_number_by_number(void **state)
{
    static const enum workload_number workloads[] = {WORKLOAD_REGISTER, WORKLOAD_BRANCH, WORKLOAD_LOAD};
    static const enum trials_before before[] = {TRIALS_NOTHING, TRIALS_SPOIL, TRIALS_IBPB};
    static const size_t bytes[] = {64, 1 << 20, 4 << 20, 1 << 30};
    static const double us[] = {0.25, 77.7, 1500, 9000};
    struct golden g;
    FILE *out = golden_begin(&g);
    (void)state;
    for (size_t w = 0; w < 3; w++)
        for (size_t b = 0; b < 3; b++)
            for (size_t i = 0; i < 4; i++)
                for (int masked = 0; masked < 2; masked++) {
                    struct trials_request r = {.workload = workloads[w],
                                               .before = before[b],
                                               .bytes = workloads[w] == WORKLOAD_LOAD ? bytes[i] : 0,
                                               .trial_us = us[(i + b) % 4],
                                               .trials = TRIALS,
                                               .masked = masked == 1};
                    double duration[TRIALS];
                    struct trials_seen seen;
                    struct machine_error err;
                    int status = model_trials(&rig.machine, &r, duration, &seen, &err);
                    fprintf(out, "workload %zu, before %zu, %zu bytes, %g us, masked %d: %d", w, b, r.bytes, r.trial_us,
                            masked, status);
                    if (status == MACHINE_OK) {
                        fprintf(out, " %" PRIu64 " rounds, %g interrupts;", seen.rounds, seen.between.interrupts);
                        for (int k = 0; k < TRIALS; k++)
                            fprintf(out, " %.9g", duration[k]);
                        assert_true(seen.cycles && seen.resolution == 1 && seen.discarded == 0);
                    }
                    fputc('\n', out);
                }
    golden_expect(&g, "machine/model", "trials", false);
}

/* All of one cache scatters alike, and otherwise than what lies in the next one. */
static void buffers_lie_in_the_smallest_cache_that_holds_them(void **state)
{
    const size_t limits[] = {model_caches.l1, model_caches.l2, model_caches.l3};
    (void)state;
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

static unsigned asked, stops_at;

static int stop_counted(void *data)
{
    assert_ptr_equal(data, &asked);
    return ++asked == stops_at;
}

static void it_asks_every_thousand_trials(void **state)
{
    static double duration[2002];
    static const struct {
        unsigned trials, stops_at, asked;
        bool stopped;
    } cases[] = {{1, 0, 1, false},   {1000, 0, 1, false}, {1001, 0, 2, false}, {2001, 0, 3, false},
                 {2001, 1, 1, true}, {2001, 2, 2, true},  {2000, 3, 2, false}, {2001, 3, 3, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trials_request r = {.workload = WORKLOAD_REGISTER,
                                   .trial_us = 1,
                                   .trials = cases[i].trials,
                                   .stop = stop_counted,
                                   .data = &asked};
        struct trials_seen seen;
        struct machine_error err;
        asked = 0;
        stops_at = cases[i].stops_at;
        int status = model_trials(&rig.machine, &r, duration, &seen, &err);
        assert_int_equal(status, cases[i].stopped ? MACHINE_FAILED : MACHINE_OK);
        assert_int_equal(asked, cases[i].asked);
        if (cases[i].stopped)
            assert_string_equal(err.text, "stopped");
    }
}

static void trials_that_are_refused(void **state)
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
    (void)state;
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

static void first_uses_number_by_number(void **state)
{
    static const char *const kernels[] = {"128fma", "256fma", "512fma"};
    struct golden g;
    FILE *out = golden_begin(&g);
    struct model_state *s = rig.machine.state;
    (void)state;
    s->model.n_wakes = 2;
    s->model.wakes[0] = (struct model_wake){.width = 256, .n = 2, .stage = {{10, 3, 14}, {600, 9, 20}}};
    s->model.wakes[1] = (struct model_wake){.width = 512, .n = 1, .stage = {{100, 11, 11}}};
    for (size_t k = 0; k < 3; k++) {
        static const double idle_us[] = {0, 9.99, 10, 99, 100, 599, 600, 1e6};
        for (size_t i = 0; i < sizeof idle_us / sizeof *idle_us; i++) {
            fprintf(out, "%s, idle %g us:", kernels[k], idle_us[i]);
            for (uint64_t repetition = 0; repetition < 12; repetition++) {
                struct first_use_request r = {.warm = rig_payload(kernels[k]),
                                              .warm_us = 1,
                                              .idle_us = idle_us[i],
                                              .observe_us = 40,
                                              .repetition = 5 * repetition};
                struct first_use_seen seen;
                struct machine_error err;
                assert_int_equal(model_first_use(&rig.machine, &r, &seen, &err), MACHINE_OK);
                fprintf(out, " %.7g %.7g", seen.first_us, seen.full_rate_us);
                assert_true(seen.idle_us == idle_us[i] && seen.read_us == MODEL_FIRST_READ_NS * 1e-3);
            }
            fputc('\n', out);
        }
    }
    golden_expect(&g, "machine/model", "first-uses", false);
    struct first_use_request r = {.warm_us = 1, .idle_us = 1, .observe_us = 1};
    struct first_use_seen seen;
    struct machine_error err;
    assert_int_equal(model_first_use(&rig.machine, &r, &seen, &err), MACHINE_FAILED);
    r.warm = rig_payload("256fma");
    rig.machine.ops->finish(&rig.machine);
    assert_int_equal(model_first_use(&rig.machine, &r, &seen, &err), MACHINE_FAILED);
}

/* ---- ramps ---- */

/* So late that a step of the ramp is less than time can tell: it is over, for it would never go on. */
static void a_ramp_ends_where_time_is_too_coarse(void **state)
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
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model_core c = {.model = &s->model, .cores = 1, .now = cases[i].now};
        model_ramp_begin(&c, 9, cases[i].tau_us);
        assert_true((c.ramps.ghz.tau > 0) == cases[i].goes_on);
        model_ramp_fade_begin(&c, 0.5, cases[i].tau_us, 0);
        assert_true((c.ramps.fade.tau > 0) == cases[i].goes_on);
        assert_true((model_ramp_fade(&c) < 1) == cases[i].goes_on);
    }
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RIG(trials_number_by_number),       WITH_RIG(buffers_lie_in_the_smallest_cache_that_holds_them),
        WITH_RIG(it_asks_every_thousand_trials), WITH_RIG(trials_that_are_refused),
        WITH_RIG(first_uses_number_by_number),   WITH_RIG(a_ramp_ends_where_time_is_too_coarse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
