/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alone: holds frequencies against chains */
/* The timing machine: its frequency. */
#include <sched.h>

#include "computer/cpu/cpu.h"
#include "drivers/timing/timing.h"
#include "drivers/timing/timing_chains.h"
#include "computer/cpu/tsc.h"
#include "tests/support/test.h"
#include "tests/support/timing_rig.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Core cycles a tick of dependent adds, in slices of about 50 us. */
enum { SLICES = 50 };
static void long_chain(const struct payload *chain, double tsc_hz, double rate[SLICES])
{
    uint64_t begin = tsc_now();
    uint64_t blocks = chain->run(1, begin + (uint64_t)(tsc_hz * 5e-5), NULL, 0, NULL);
    for (int i = 0; i < SLICES; i++) {
        begin = tsc_now();
        uint64_t done = chain->run(blocks, 0, NULL, 0, NULL);
        rate[i] = (double)(done * chain->instructions) / (double)(tsc_now() - begin);
    }
}

/* Adds the chains that were not interrupted. */
static void add_samples(const struct recording *rec, double period, double *cycles, double *ticks)
{
    for (size_t i = rec->zero_reading + 1; i < rec->n; i++) {
        const uint64_t *now = rec->words + i * rec->stride, *before = now - rec->stride;
        if ((double)(now[2] - before[2]) < period) { /* a chain that was not interrupted, or none */
            *ticks += (double)(now[2] - before[2]);
            *cycles += (double)(now[3] - before[3]) / CHAIN_CYCLE_UNIT;
        }
    }
}

/*
 * The sampled frequency of repetitions that take turns with a long chain lies where most slices of that chain do, after
 * payloads with different ends. What disturbs the one disturbs the other; where a neighbor works in bursts, so that
 * the chain's own slices differ, it is repeated. A burst may also spare the chain and hit the samples: what lies
 * outside is tried again until more tries have agreed than not, and fails when those that do not lead by four.
 */
TEST(test_frequency_agrees_with_a_long_chain)
{
    struct machine *m = *state;
    enum { REPETITIONS = 60, TRIES = 30, LEAD = 4 };
    static const char *const names[] = {"64add", "64mul-lat", "128or"};
    static double rate[REPETITIONS][SLICES];
    struct payload chain = timing_rig_payload("chain");
    struct machine_setup setup = timing_rig_setup(1);
    struct machine_info info;
    timing_rig_prepare(m, &setup);
    m->ops->info(m, &info);
    size_t k = 0;
    int agreed = 0; /* more tries with this kernel than disagreed */
    for (unsigned tries = 0; k < 3 && tries < TRIES; tries++) {
        struct payload p = timing_rig_payload(names[k]);
        struct segment s[2] = {{p, 600, false}, {p, 200, true}};
        double cycles = 0, ticks = 0;
        for (unsigned i = 0; i < REPETITIONS; i++) {
            struct run_request r = {s, 2, 1, i, 0};
            struct machine_error err;
            struct recording rec;
            assert_int_equal(m->ops->run(m, &r, &rec, &err), MACHINE_OK);
            add_samples(&rec, info.tsc_hz * 1e-6, &cycles, &ticks);
            long_chain(&chain, info.tsc_hz, rate[i]);
        }
        double *all = &rate[0][0], seen = cycles / ticks, time = 0;
        size_t n = (size_t)REPETITIONS * SLICES;
        qsort(all, n, sizeof *all, ascending);
        double middle = all[n / 2];
        size_t whole = 0; /* slices without an interrupt: of samples, too, those with one are left out */
        for (size_t i = 0; i < n; i++)
            if (all[i] > 0.85 * middle) {
                time += 1 / all[i];
                whole++;
            }
        double mean = (double)whole / time / middle - 1;
        /* a neighbor in bursts slows some slices by much: their mean, as that of the samples, is not the clock's */
        bool calm = fabs(mean) < 0.003;
        print_message("%s: %+.2f %% from the long chain's median, 10 to 90 %% of which are %+.2f to %+.2f %% from it, "
                      "their mean %+.2f %%%s\n",
                      names[k], 100 * (seen / middle - 1), 100 * (all[n / 10] / middle - 1),
                      100 * (all[n * 9 / 10] / middle - 1), 100 * mean, calm ? "" : ": disturbed, repeated");
        if (!calm)
            continue;
        agreed += seen > 0.995 * all[n / 10] && seen < 1.005 * all[n * 9 / 10] ? 1 : -1;
        assert_true(agreed > -LEAD);
        if (agreed > 0) {
            agreed = 0;
            k++;
        }
    }
    m->ops->finish(m);
    if (k < 3) {
        print_message("skipped: a neighbor slowed the long chain in bursts, %d times; %zu of 3 kernels were compared\n",
                      TRIES, k);
        skip();
    }
}

TEST_GROUP(timing_rig_open, timing_rig_close)
