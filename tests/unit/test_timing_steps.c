/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * This processor, by a clock that advances in steps of 10 and 25 ns: readings are rounded down to them as soon as they
 * are taken. Between kernels of one width nothing happens, and the frequency is that of a long chain. Runs everywhere:
 * what disturbs a measurement disturbs the chain that it is held against.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/timing.h"
#include "tests/unit/clock_models.h"
#include "tests/unit/long_chain.h"

enum { PAIRS = 4, PAIRS_MOST = 10 };
#define CHAINS_AGREE 0.03 /* of the fastest: chains that a neighbour slows are slower than that, and no measure */

static struct payload payload_of(const char *name)
{
    struct payload p;
    char why[200];
    if (kernel_parse(name, &p, why, sizeof why))
        fail_msg("%s", why);
    return p;
}

static void nothing_happens_and_the_frequency_is_right(void **state)
{
    (void)state;
    static const double steps[] = {0, 10, 25};
    static const char *const pairs[][2] = {{"64add", "128or"}, {"128fma", "128fma"}};
    struct {
        double lo;
        bool holds;
    } seen_by[3 * PAIRS_MOST];
    unsigned runs = 0, wrong = 0, off = 0, judged = 0;
    double best = 0; /* a neighbour that works throughout slows all of a chain: the fastest tells the clock */
    for (size_t s = 0; s < 3; s++) {
        struct machine machine;
        struct machine_error err;
        struct machine_info info;
        if (timing_open_at("/sys", steps[s], &machine, &err))
            fail_msg("%s", err.text);
        machine.ops->info(&machine, &info);
        for (size_t k = 0, kept = 0; kept < PAIRS && k < PAIRS_MOST; k++) {
            struct payload from = payload_of(pairs[k % 2][0]), to = payload_of(pairs[k % 2][1]);
            struct transition_setup setup;
            struct switches_seen seen;
            struct long_chain before, after;
            const struct guard g = {.machine = &machine};
            transition_defaults(&setup, &from, &to);
            setup.active_cores = 1;
            setup.runs = 60;
            assert_int_equal(long_chain(info.cpu_number, info.tsc_hz, &before), 0);
            int status = guarded_switch(&g, &setup, &seen, &err);
            assert_int_equal(long_chain(-1, info.tsc_hz, &after), 0);
            if (status == MACHINE_CANNOT) /* disturbed throughout: there is no result to be wrong */
                continue;
            assert_int_equal(status, MACHINE_OK);
            double ghz = clock_mean_ghz(&seen.phases);
            bool holds = long_chain_holds(&before, &after, ghz), any = clock_anything(&seen.phases);
            double lo = fmin(before.lo, after.lo), hi = fmax(before.hi, after.hi);
            best = fmax(best, hi);
            bool agree = lo > (1 - CHAINS_AGREE) * best;
            print_message("%2.0f ns: %.4f GHz, chains %.4f to %.4f%s%s%s\n", steps[s], ghz, lo, hi,
                          agree ? "" : ", slowed themselves: repeated", holds ? "" : ", OFF", any ? ", SOMETHING" : "");
            seen_by[runs].lo = lo;
            seen_by[runs++].holds = holds;
            kept += agree;
            wrong += any;
            switches_free(&seen);
        }
        machine.ops->close(&machine);
    }
    for (unsigned i = 0; i < runs; i++) {
        bool agree = seen_by[i].lo > (1 - CHAINS_AGREE) * best;
        judged += agree;
        off += agree && !seen_by[i].holds;
    }
    print_message("%u of %u frequencies could be held against chains\n", judged, runs);
    /* 19 of 20 and 198 of 200 are the aims (make bench): of 12 that leaves one. Where the chains themselves never agree
     * there is no measure; test_clock_models asks the same of models */
    assert_true(wrong <= 1 && off <= 1 && runs >= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_happens_and_the_frequency_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
