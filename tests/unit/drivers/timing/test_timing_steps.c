/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alone: holds frequencies against chains */
/* slow: measures this processor for half a minute */
/*
 * This processor, by a clock that advances in steps of 10 and 25 ns: readings are rounded down to them as soon as they
 * are taken. Between kernels of one width nothing happens, and the frequency is that of a long chain. Runs everywhere:
 * what disturbs a measurement disturbs the chain that it is compared with.
 */
#include "drivers/timing/timing.h"
#include "drivers/timing/timing_chains.h"
#include "tests/support/clock_models.h"
#include "tests/support/long_chain.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { PAIRS = 4, PAIRS_FEW = 2, PAIRS_MOST = 10, JUDGED_LEAST = 3 };
#define CHAINS_AGREE 0.03 /* of the fastest: chains that a neighbor slows are slower than that, and no measure */
#define TOP_AGREES 0.003  /* likewise: so near to it one chain in ten must come, or all of them are slowed */
#define SURE 0.0075       /* half of the limits: wider where its repetitions differ, as it then says */

static struct payload payload_of(const char *name)
{
    struct payload p;
    char why[200];
    if (kernel_parse(name, &p, why, sizeof why))
        fail_msg("%s", why);
    return p;
}

struct measured {
    double ghz, limit_lo, limit_hi; /* of all phases */
    double lo, hi;                  /* of the chains before, meanwhile and after */
    bool even;                      /* these chains tell the clock */
    bool holds;                     /* within 0.5 % of them */
    bool shared;                    /* the machine itself tells of a thread beside it */
    bool anything;                  /* a switch between equals shows something */
};

struct meanwhile {
    int cpu;
    double tsc_hz;
    struct long_chain_slices slices;
};

/* Takes chains between the repetitions, too: a disturbance that comes and goes between two long chains shows in
 * these. */
static int chains_meanwhile(void *data, unsigned done, unsigned wanted)
{
    struct meanwhile *m = data;
    (void)done, (void)wanted;
    return long_chain_add(m->cpu, m->tsc_hz, 4, &m->slices);
}

/* One switch with long chains before, during and after it: MACHINE_OK, or MACHINE_CANNOT: disturbed throughout. */
static int measure(struct machine *machine, size_t pair, struct measured *out)
{
    static const char *const pairs[][2] = {{"64add", "128or"}, {"128fma", "128fma"}};
    struct payload from = payload_of(pairs[pair][0]), to = payload_of(pairs[pair][1]);
    struct transition_setup setup;
    struct switches_seen seen;
    struct machine_info info;
    struct machine_error err;
    machine->ops->info(machine, &info);
    struct meanwhile between = {.cpu = info.cpu_number, .tsc_hz = info.tsc_hz};
    const struct guard g = {.machine = machine, .progress = chains_meanwhile, .data = &between};
    struct long_chain before, after;
    transition_defaults(&setup, &from, &to);
    setup.machine.active_cores = 1;
    setup.runs = 60;
    assert_int_equal(long_chain(info.cpu_number, info.tsc_hz, &before), 0);
    int status = guarded_switch(&g, &setup, &seen, &err);
    assert_int_equal(long_chain(-1, info.tsc_hz, &after), 0);
    if (status == MACHINE_CANNOT)
        return status;
    assert_int_equal(status, MACHINE_OK);
    machine->ops->info(machine, &info);
    double ghz = clock_mean_ghz(&seen.phases);
    assert_true(between.slices.n > 0);
    const struct long_chain during = long_chain_of(&between.slices);
    *out = (struct measured){.ghz = ghz,
                             .limit_lo = ghz,
                             .limit_hi = ghz,
                             .lo = fmin(during.lo, fmin(before.lo, after.lo)),
                             .hi = fmax(during.hi, fmax(before.hi, after.hi)),
                             .even = before.even && during.even && after.even,
                             .shared = strstr(info.notes, "on the same core") != NULL,
                             .holds = long_chain_holds(&before, &after, ghz) || long_chain_holds(&during, &during, ghz),
                             .anything = clock_anything(&seen.phases)};
    for (size_t i = 0; i < seen.phases.n_phases; i++) {
        out->limit_lo = fmin(out->limit_lo, seen.phases.phases[i].freq_ghz.lo);
        out->limit_hi = fmax(out->limit_hi, seen.phases.phases[i].freq_ghz.hi);
    }
    guarded_free(&seen);
    return status;
}

static bool sure(const struct measured *m)
{
    return !m->shared && m->limit_hi - m->limit_lo <= 2 * SURE * m->ghz;
}

/* best: the fastest of all chains. Where a neighbor works throughout, it slows each of these. */
static bool tell_the_clock(const struct measured *m, double best)
{
    return m->even && m->hi > (1 - TOP_AGREES) * best;
}

static bool chains_agree(const struct measured *m, double best)
{
    return tell_the_clock(m, best) && m->lo > (1 - CHAINS_AGREE) * best;
}

static bool comparable(const struct measured *m, double best)
{
    return chains_agree(m, best) && sure(m);
}

TEST(nothing_happens_and_the_frequency_is_right)
{
    skip_where_sanitized("test_timing records the same there, and frequencies are held against chains without");
    static const double steps[] = {10, 25, 0}; /* 0: the clock as it is, of which test_timing asks the same */
    struct measured all[3 * PAIRS_MOST];
    const bool all_of_them = rng_all_rounds();
    const size_t used = all_of_them ? 3 : 2, pairs = all_of_them ? PAIRS : PAIRS_FEW,
                 most = all_of_them ? PAIRS_MOST : 3;
    unsigned runs = 0, wrong = 0, off = 0, judged = 0, clocks = 0, outside = 0;
    double best = 0;
    for (size_t s = 0; s < used; s++) {
        struct machine machine;
        struct machine_error err;
        if (timing_open_at("/sys", steps[s], &machine, &err))
            fail_msg("%s", err.text);
        for (size_t k = 0, kept = 0; kept < pairs && k < most; k++) {
            struct measured *m = &all[runs];
            if (measure(&machine, k % 2, m) != MACHINE_OK) /* there is no result to be wrong */
                continue;
            best = fmax(best, m->hi);
            print_message("%2.0f ns: %.4f GHz (%.4f to %.4f), chains %.4f to %.4f%s%s%s%s\n", steps[s], m->ghz,
                          m->limit_lo, m->limit_hi, m->lo, m->hi,
                          chains_agree(m, best) ? "" : ", slowed themselves: repeated",
                          sure(m)     ? ""
                          : m->shared ? ", says that the core is shared: repeated"
                                      : ", says that it is not sure: repeated",
                          m->holds ? "" : ", OFF", m->anything ? ", SOMETHING" : "");
            kept += comparable(m, best);
            wrong += m->anything;
            runs++;
        }
        machine.ops->close(&machine);
    }
    for (const struct measured *m = all; m < all + runs; m++) {
        judged += comparable(m, best);
        off += comparable(m, best) && !m->holds;
        bool held = tell_the_clock(m, best) && !m->shared;
        clocks += held;
        outside += held && (m->limit_lo > m->hi * 1.0005 || m->limit_hi < m->lo * 0.9995);
    }
    print_message("%u of %u frequencies could be held against chains, %u of %u limits do not reach theirs\n", judged,
                  runs, outside, clocks);
    /* 19 of 20 and 198 of 200 are the aims (make bench): of 12 that leaves one */
    assert_true(wrong <= 1 && off <= 1 && outside <= 1 + clocks / 10 && runs >= used * pairs / 2);
    /* where neighbors leave no measure, there is nothing to hold; test_clock_models asks the same of models */
    if (judged < JUDGED_LEAST) {
        print_message("skipped: other work on this processor slowed chains or repetitions in %u of %u runs\n",
                      runs - judged, runs);
        skip();
    }
}
