/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What witnesses say of a core whose other hyper-thread slows chains, from made readings. No clock is read. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "drivers/timing/timing_witness.h"
#include "tests/support/close_to.h"
#include "tests/support/random_numbers.h"

enum { PROBES = 480, BLOCK_TICKS = 40 };
#define RATE 1.423 /* cycles a tick: 3.694 GHz by a TSC of 2.596 GHz, whose clock advances by 26 ticks */
#define STEP 26.0
#define COST 68.0

static const struct timing_chains coarse = {{CHAIN_LONG_ADDS, CHAIN_LONGEST_ADDS}, CHAIN_COARSE_TURNS, 45};

/* A core whose adds and multiplications take so many cycles, each on average, and the blocks of its payload so long; by
 * chance one in so many readings (0: none) costs up to so many cycles more. */
struct made_core {
    double add, multiplication, block_ticks;
    unsigned slow_one_in;
    double slow_cycles;
};
static const struct made_core alone = {1, 3, BLOCK_TICKS, 0, 0};

/* A reading some time after *at, which is set to its end. */
static struct timing_raw make_reading(struct rng *r, double *at, double cycles, double step)
{
    double begin = *at + 200 * rng_unit(r);
    *at = begin + cycles / RATE;
    return (struct timing_raw){.begin = (uint64_t)(floor(begin / step) * step),
                               .end = (uint64_t)(floor(*at / step) * step)};
}

static size_t make_witnesses(const struct made_core *c, uint32_t seed, double step, struct timing_raw w[WITNESS_ROOM])
{
    struct rng r;
    rng_init(&r, seed, 0);
    const double cycles[WITNESS_KINDS] = {CHAIN_LONG_ADDS * c->add, CHAIN_STEADY_LONG_ADDS * c->add,
                                          CHAIN_MULTIPLICATIONS * c->multiplication};
    for (size_t i = 0; i < WITNESS_ROOM; i++) {
        unsigned kind = i % 2 == 0 ? WITNESS_SHORT : i / 2 % 2 ? WITNESS_MULTIPLICATIONS : WITNESS_ADDS;
        double at = 9000.0 * (double)(i + 1);
        w[i] = make_reading(&r, &at, COST + cycles[kind], step);
        w[i].blocks = chain_word(kind, 0, 0);
    }
    return WITNESS_ROOM;
}

static void make_probes(const struct made_core *c, const struct timing_chains *chains, uint32_t seed, double step,
                        struct timing_raw p[PROBES])
{
    struct rng r;
    rng_init(&r, seed, 0);
    double at = 1e6;
    uint64_t blocks = 0;
    for (size_t i = 0; i < PROBES; i++) {
        bool is_long = i % chains->turns == 0;
        uint64_t n = 40 + i % 7;
        at += (double)n * c->block_ticks;
        uint64_t ended = (uint64_t)(floor(at / step) * step);
        double more = c->slow_one_in > 0 && rng_unit(&r) * c->slow_one_in < 1 ? c->slow_cycles * rng_unit(&r) : 0;
        p[i] = make_reading(&r, &at, COST + chains->adds[is_long] * c->add + more, step);
        uint64_t wait = p[i].begin - ended;
        blocks = i % WITNESS_EVERY == 0 ? n : blocks + n; /* counted anew behind witnesses */
        p[i].blocks = chain_word(blocks, is_long, wait);
    }
}

static void test_a_core_alone(void **state)
{
    (void)state;
    static struct timing_raw w[WITNESS_ROOM], p[PROBES];
    for (uint32_t seed = 1; seed <= 50; seed++) {
        size_t n = make_witnesses(&alone, seed, STEP, w);
        struct witness_means m = witness_means(w, n, STEP);
        assert_close(m.ticks[WITNESS_SHORT], (COST + CHAIN_LONG_ADDS) / RATE, 4 * m.error);
        assert_close(m.error, 0.41 * STEP / sqrt(8), 1e-9);
        assert_close(witness_latency(&m), 3, 0.01);
        assert_close(witness_rate(&m, 3), RATE, 0.0025 * RATE);
        make_probes(&alone, &coarse, seed, STEP, p);
        assert_close(witness_pace(p, PROBES), 1.0 / BLOCK_TICKS, 0.002 / BLOCK_TICKS);
    }
}

static void test_the_faster_chain_is_believed(void **state)
{
    (void)state;
    static struct timing_raw w[WITNESS_ROOM];
    static const struct {
        struct made_core core;
        double latency, rate;
    } cases[] = {
        {{1.03, 3, 1, 0, 0}, 3, RATE},           /* adds wait */
        {{1.01, 3.42, 1, 0, 0}, 3, RATE / 1.01}, /* another thread multiplies: seen for seconds */
        {{1.03, 3.03, 1, 0, 0}, 3, RATE / 1.01}, /* both wait */
        {{1, 5, 1, 0, 0}, 5, RATE},              /* a small core */
        {{1.04, 5, 1, 0, 0}, 5, RATE},
        {{1.2, 3, 1, 0, 0}, 3, RATE / 1.2},   /* too far apart: who knows what multiplications take */
        {{1.03, 3, 1, 0, 0}, 0, RATE / 1.03}, /* that is not known yet */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct witness_means m = witness_means(w, make_witnesses(&cases[i].core, 7, 1, w), 1);
        assert_close(witness_rate(&m, cases[i].latency), cases[i].rate, 0.001 * RATE);
    }
}

static void test_interrupted_and_missing_witnesses(void **state)
{
    (void)state;
    static struct timing_raw w[WITNESS_ROOM];
    size_t n = make_witnesses(&alone, 3, 1, w);
    w[1].end += 30000;
    w[7].end += 5000;
    struct witness_means m = witness_means(w, n, 1);
    assert_close(witness_rate(&m, witness_latency(&m)), RATE, 0.001 * RATE);
    m = witness_means(w, 6, 1);
    assert_true(isnan(witness_rate(&m, 3)) && isnan(witness_latency(&m)));
    m = witness_means(w, 0, 1);
    assert_true(isnan(m.ticks[WITNESS_SHORT]));
    assert_true(isnan(witness_pace(w, 0)));
}

static void test_a_steady_payload_vouches_for_the_frequency(void **state)
{
    (void)state;
    struct witness_memory m = {.n = 0};
    assert_true(isnan(witness_implied(&m, 0.025)));
    for (int i = 0; i < 3; i++)
        witness_remember(&m, 0.025, RATE);
    assert_true(isnan(witness_implied(&m, 0.025))); /* too few */
    for (int i = 0; i < 40; i++)
        witness_remember(&m, 0.025, RATE * (0.96 + 0.0005 * i));
    assert_close(witness_implied(&m, 0.025), RATE, 0.003 * RATE);
    assert_close(witness_believed(&m, 0.025, 0.97 * RATE), RATE, 0.003 * RATE);
    assert_close(witness_believed(&m, 0.025, 0.999 * RATE), 0.999 * RATE, 1e-12); /* that is noise */
    /* a lower frequency slows the payload as much, and is believed */
    assert_close(witness_believed(&m, 0.9 * 0.025, 0.9 * RATE), 0.9 * RATE, 0.003 * RATE);
    /* a slow payload says nothing against a chain */
    assert_close(witness_believed(&m, 0.3 * 0.025, RATE), RATE, 1e-12);
    /* a moment at which it ran faster by chance is no measure, nor is one chain that was too fast */
    witness_remember(&m, 0.0255, 0.95 * RATE);
    witness_remember(&m, 0.025, 1.3 * RATE);
    assert_close(witness_implied(&m, 0.025), RATE, 0.003 * RATE);
    /* what is long ago is forgotten: now all is slower, chains and payload */
    for (int i = 0; i < WITNESS_MEMORY; i++)
        witness_remember(&m, 0.02, 0.8 * RATE);
    assert_close(witness_implied(&m, 0.02), 0.8 * RATE, 1e-12);
    assert_close(witness_implied(&m, 0.03), 0.8 * RATE, 1e-12); /* never more than was seen */
}

/* Readings whose own adds wait cost more, so that they tell the frequency all the same. */
static void test_the_cost_makes_readings_tell_the_frequency(void **state)
{
    (void)state;
    static struct timing_raw p[PROBES];
    static const double steps[] = {1, STEP}, add[] = {1, 1.03};
    for (size_t s = 0; s < 2; s++)
        for (size_t a = 0; a < 2; a++) {
            struct made_core c = {add[a], 3, BLOCK_TICKS, 0, 0};
            struct timing_cost cost;
            make_probes(&c, &coarse, 11, steps[s], p);
            assert_int_equal(witness_cost(p, PROBES, &coarse, steps[s], RATE, 0.0005, &cost), 0);
            /* three of four readings are short */
            double lost = (add[a] - 1) * (0.75 * CHAIN_LONG_ADDS + 0.25 * CHAIN_LONGEST_ADDS);
            assert_close(cost.cycles, COST + lost, 4 * cost.error);
            assert_true(cost.error > 0.1 && cost.error < 1);
            assert_close(cost.ticks[1], (COST + CHAIN_LONGEST_ADDS * add[a]) / RATE,
                         4 * steps[s] * 0.41 / sqrt(120) + 0.5);
            assert_close(cost.wander, 0.002 * RATE * cost.ticks[0], 1e-9);
            /* 96 readings are enough, and one fewer is not */
            assert_int_equal(witness_cost(p, 96, &coarse, steps[s], RATE, 0.0005, &cost), 0);
            assert_int_equal(witness_cost(p, 95, &coarse, steps[s], RATE, 0.0005, &cost), -1);
            assert_int_equal(witness_cost(p, 64, &coarse, steps[s], RATE, 0.0005, &cost), -1);
            assert_int_equal(witness_cost(p, PROBES, &coarse, steps[s], NAN, 0.0005, &cost), -1);
            assert_int_equal(witness_cost(p, PROBES, &coarse, steps[s], 0, 0.0005, &cost), -1);
            /* a core may be slower than the TSC */
            assert_int_equal(witness_cost(p, PROBES, &coarse, steps[s], RATE / 2, 0.0005, &cost), 0);
            assert_close(cost.cycles, (COST + lost - 300) / 2, 4 * cost.error);
        }
}

/* As on a Granite Rapids guest, whose TSC advances by two ticks: for a while, some readings are up to a third longer. A
 * recording without them, made right after, must not read high for that. */
static void test_what_slows_some_readings_is_no_part_of_the_cost(void **state)
{
    (void)state;
    static struct timing_raw p[PROBES];
    static const struct timing_chains fine = {{CHAIN_SHORT_ADDS, CHAIN_LONG_ADDS}, CHAIN_TURNS, 5};
    for (uint32_t seed = 1; seed <= 50; seed++) {
        struct made_core c = {1, 3, BLOCK_TICKS, 3 + seed % 8, 40};
        struct timing_cost cost;
        make_probes(&c, &fine, seed, 2, p);
        assert_int_equal(witness_cost(p, PROBES, &fine, 2, RATE, 0.0005, &cost), 0);
        double high = (cost.cycles - COST) / (COST + CHAIN_SHORT_ADDS);
        if (!(high > -0.002 && high < 0.006))
            fail_msg("one in %u: %.2f %% high", c.slow_one_in, 100 * high);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_core_alone),
        cmocka_unit_test(test_the_faster_chain_is_believed),
        cmocka_unit_test(test_interrupted_and_missing_witnesses),
        cmocka_unit_test(test_a_steady_payload_vouches_for_the_frequency),
        cmocka_unit_test(test_the_cost_makes_readings_tell_the_frequency),
        cmocka_unit_test(test_what_slows_some_readings_is_no_part_of_the_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
