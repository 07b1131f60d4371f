/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A second kernel that starts slowly for a few samples, as 512-bit FMAs do on a Granite Rapids: 2.7 us at a quarter of
 * their rate, with chains of adds that read anything between half and all of the frequency meanwhile. By samples of
 * 1 us it was found in some repetitions and missed in others, and "steady" in the end, or a halt. And the way back, on
 * which each repetition waits for another time.
 */
#include "analysis/phases/phases.h"
#include "tests/support/model_rig.h"
#include "tests/support/phases_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"
#include "trace/trace.h"

/* The recording. */
struct course {
    double period_us;
    double slow_us, ratio;     /* of the second kernel's start; 0: none */
    double chain_lo, chain_hi; /* chains read between these, of the frequency, meanwhile */
    double from_ghz, to_ghz;   /* it changes at the switch, or ... */
    double wait_us;            /* ... in seven of ten repetitions later, this long on average */
    double sigma;              /* relative: by how much the frequencies of repetitions differ */
    double reading_us;         /* of a sample at full rate: slowed by the same ratio */
    unsigned runs;
};

static const struct course granite = {.period_us = 0.5,
                                      .slow_us = 2.75,
                                      .ratio = 0.255,
                                      .chain_lo = 0.5,
                                      .chain_hi = 0.95,
                                      .from_ghz = 4.0,
                                      .to_ghz = 3.7,
                                      .reading_us = 0, /* a chain stands by itself, outside the samples */
                                      .runs = 60};

enum { TSC_STEP_PS = 769, CHAIN_CYCLES = 89 };

static double chain_reading(struct rng *x, double ghz)
{
    double step = TSC_STEP_PS * 1e-3, ns = CHAIN_CYCLES / ghz;
    return CHAIN_CYCLES / (step * floor(ns / step + rng_unit(x)));
}

/* Time in which `work` (us of full rate) is done from `at` on. */
static double time_of(const struct course *c, double at, double work, double slow_us)
{
    if (at < 0 || at >= slow_us)
        return work;
    double slow = (slow_us - at) * c->ratio; /* of the work, what the slow part does */
    return work <= slow ? work / c->ratio : slow_us - at + work - slow;
}

/* One repetition, sampled as the timing machine does: blocks until a grid point has passed, then a reading. */
static void add_run(const struct course *c, uint32_t run, struct rng *x, struct trace *t)
{
    double grid = rng_unit(x) * c->period_us, slow_us = c->slow_us > 0 ? c->slow_us + 0.06 * rng_normal(x) : 0;
    double at = -40 + grid, block = 0.04;
    double wait = c->wait_us > 0 && rng_chance(x, 0.7) ? -c->wait_us * log(1 - rng_unit(x)) : 0;
    double own = exp(c->sigma * rng_normal(x));
    while (at < 60) {
        bool second = at >= -1e-9;
        double begin = at, work = 0, next = begin + c->period_us;
        while (at < next - block / 2 && (second || at + block <= 0)) {
            at += time_of(c, second ? at : -1, block, slow_us);
            work += block;
        }
        if (!second && at + block > 0) { /* the switch ends a sample */
            work += -at;
            at = 0;
        }
        bool slow = second && at < slow_us;
        double reading = slow ? c->reading_us / c->ratio : c->reading_us;
        double ghz = own * (second && at > wait ? c->to_ghz : c->from_ghz);
        double length = at - begin + (at == 0 ? 0 : reading), shown = length - (at == 0 ? 0 : c->reading_us);
        double read = chain_reading(x, ghz * (slow ? rng_range(x, c->chain_lo, c->chain_hi) : 1));
        at = begin + length;
        assert_int_equal(trace_append(t, run, at), 0);
        t->channel[TRACE_FREQ][t->n - 1] = (float)read;
        /* 2 instructions a cycle; as if it had the frequency that the chain reads */
        t->channel[TRACE_IPC][t->n - 1] = (float)(2 * work / shown * ghz / read * (1 + 0.004 * rng_normal(x)));
    }
}

static void record(const struct course *c, uint64_t seed, struct trace *t)
{
    struct rng x;
    rng_init(&x, seed, 7);
    trace_init(t);
    assert_int_equal(trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC) | trace_add_run(t), 0);
    assert_int_equal(
        trace_set(t, "from", "128fma") | trace_set(t, "to", "512fma") | trace_set(t, "frequency", "instantaneous") |
            trace_set(t, "sampler", "resumes at once") | trace_set_number(t, "clock_step_ns", TSC_STEP_PS * 1e-3) |
            trace_set_number(t, "chain_cycles", CHAIN_CYCLES) | trace_set_number(t, "reading_us", c->reading_us) |
            trace_set_number(t, "frequency_error", 1e-4),
        0);
    for (uint32_t run = 0; run < c->runs; run++)
        add_run(c, run, &x, t);
}

static const struct phase *slow_phase(const struct phases *p)
{
    for (size_t i = 0; i < p->n_phases; i++)
        if (p->phases[i].kind == PHASE_THROTTLE)
            return &p->phases[i];
    return NULL;
}

static bool as_it_was(const struct course *c, const struct phases *p)
{
    const struct phase *ph = slow_phase(p);
    return p->n_transitions == 1 && p->n_phases == 3 && ph && fabs(ph->start_us) < 0.05 &&
           fabs(ph->duration_us.value - c->slow_us) < 0.25 && fabs(ph->ipc_ratio - c->ratio) < 0.04 &&
           p->transitions[0].halts == 0 && fabs(p->transitions[0].to_ghz / c->to_ghz - 1) < 0.005 &&
           10 * ph->agreeing_runs >= 7 * p->runs_used;
}

/* Any of a range of such starts, by samples of half a microsecond. */
TEST(is_throttling_of_that_length)
{
    unsigned n = rng_rounds(60), right = 0;
    for (unsigned i = 0; i < n; i++) {
        struct course c = granite;
        struct rng x;
        struct trace t;
        struct phases p;
        char why[200];
        rng_init(&x, i, 3);
        c.slow_us = rng_range(&x, 2.2, 4.5);
        c.ratio = rng_range(&x, 0.18, 0.55);
        c.chain_hi = rng_range(&x, 0.8, 0.95);
        c.to_ghz = i % 3 ? c.from_ghz * rng_range(&x, 0.85, 0.97) : c.from_ghz;
        record(&c, i, &t);
        assert_int_equal(phases_find(&t, &p, why, sizeof why), 0);
        bool good = as_it_was(&c, &p);
        if (!good) {
            print_message("scenario %u: %.2f us at %.3f\n", i, c.slow_us, c.ratio);
            rig_show_phases(&p);
        }
        right += good;
        phases_free(&p);
        trace_free(&t);
    }
    print_message("%u of %u as they were\n", right, n);
    assert_true(right + (n > 20 ? n / 20 : 1) >= n);
}

/* Chains that throttling leaves alone tell the frequency as ever. */
TEST(chains_left_alone_are_believed)
{
    struct course c = granite;
    struct trace t;
    struct phases p;
    char why[200];
    c.chain_lo = c.chain_hi = 1;
    record(&c, 1, &t);
    assert_int_equal(phases_find(&t, &p, why, sizeof why), 0);
    const struct phase *ph = slow_phase(&p);
    assert_non_null(ph);
    assert_true(fabs(ph->freq_ghz.value / c.to_ghz - 1) < 0.02);
    phases_free(&p);
    trace_free(&t);
}

/* Steps that single repetitions hardly show passed for one at the switch, without latency, that all agree on. */
TEST(waits_that_differ_are_no_step)
{
    unsigned n = rng_rounds(60), undecided = 0, claims = 0;
    for (unsigned i = 0; i < n; i++) {
        struct course c = granite;
        struct trace t;
        struct phases p;
        char why[200];
        c.period_us = 1;
        c.slow_us = 0;
        c.from_ghz = 3.65;
        c.to_ghz = 3.65 * (1.02 + 0.01 * (i % 4));
        c.wait_us = i % 3 ? 12 : 25;
        c.runs = i % 5 ? 60 : 38;
        c.sigma = i % 2 ? 0.02 : 0.03;
        record(&c, 500 + i, &t);
        assert_int_equal(phases_find(&t, &p, why, sizeof why), 0);
        for (size_t k = 0; k < p.n_transitions; k++)
            claims += p.transitions[k].latency_us.hi < 0.1 && 10 * p.transitions[k].agreeing_runs > 8 * p.runs_used;
        undecided += p.n_phases > 1 && strstr(p.phases[p.n_phases - 1].why, "different time") != NULL;
        phases_free(&p);
        trace_free(&t);
    }
    print_message("%u of %u reported as different in each repetition, %u as one step\n", undecided, n, claims);
    assert_true(30 * claims <= n); /* 6 of 60 before */
}
