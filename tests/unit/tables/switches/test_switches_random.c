/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What switches come to whose phases are drawn at random, how far throttling reaches by rates drawn at random, and
 * voltages of readings drawn at random; of few distinct values, so that equal ones and limits come about. Held in
 * tests/golden/switches.random; after an intended change `make golden` rewrites it.
 */
#include "tables/switches/throttle/throttle.h"
#include "tables/switches/transition_summary.h"
#include "tables/switches/voltage/volt_points.h"
#include "tests/support/golden.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { PHASES_MOST = 7, RUNS = 4, SWITCHES = 400, REACHES = 60, READINGS = 40 };

/* ---- switches ---- */

static struct estimate draw_estimate(struct rng *r, double value, double half)
{
    return rng_chance(r, 0.2) ? (struct estimate){value, NAN, NAN} : estimate_around(value, half);
}

static struct phase draw_phase(struct rng *r, double start)
{
    static const enum phase_kind kinds[] = {PHASE_STEADY, PHASE_STEADY, PHASE_THROTTLE, PHASE_HALT,
                                            PHASE_SLOW,   PHASE_RAMP,   PHASE_UNKNOWN};
    struct phase p = {.kind = kinds[rng_int(r, 0, 6)], .start_us = start, .freq_half_ghz = 0.004};
    const double ghz[] = {2.8, 2.8, 2.85, 1.9, 2.4}, us[] = {0, 0.04, 0.05, 0.06, 5, 20, 30, 60};
    const int level = rng_int(r, 0, 4);
    p.duration_us = draw_estimate(r, rng_one_of(r, us, 8), rng_one_of(r, (const double[]){0.5, 1, 3}, 3));
    p.freq_ghz = draw_estimate(r, ghz[level], rng_one_of(r, (const double[]){0.01, 0.02, 0.03}, 3));
    p.level = rng_chance(r, 0.1) ? -1 : level;
    p.ipc = rng_one_of(r, (const double[]){1, 2, 2, 0.5}, 4);
    p.ipc_ratio = p.kind == PHASE_THROTTLE && rng_chance(r, 0.8) ? rng_one_of(r, (const double[]){0.25, 0.3, 0.5}, 3)
                                                                 : NAN;
    p.share[rng_int(r, 0, 2)] = rng_one_of(r, (const double[]){1, 0.5, 0.6}, 3);
    p.agreeing_runs = (size_t)rng_int(r, 2, 20);
    for (size_t m = 0; rng_chance(r, 0.2) && m < PHASE_MODES_MAX; m++)
        p.modes[p.n_modes++] = (struct phase_mode){10 * (double)(m + 1),
                                                   rng_one_of(r, (const double[]){0.05, 0.1, 0.5}, 3)};
    if (p.kind == PHASE_RAMP) {
        p.to_ghz = (struct estimate){1.9, NAN, NAN};
        p.tau_us = (struct estimate){rng_one_of(r, (const double[]){0, 25}, 2), NAN, NAN};
        p.clock_unsure = rng_chance(r, 0.3);
        if (rng_chance(r, 0.4))
            p.rate_ramp = (struct ramp_side){
                .from = {0.5, 0.49, 0.51}, .to = {1, 1, 1}, .tau_us = {9, 8, 10}, .runs = 3};
        if (rng_chance(r, 0.2))
            p.clock_ramp.tau_us.value = 12;
    }
    if (p.kind == PHASE_UNKNOWN)
        snprintf(p.why, sizeof p.why, "nobody knows");
    return p;
}

static void draw_transitions(struct rng *r, struct phases *p)
{
    const double at[] = {-10, -1.001, -1, 0, 5, 20}, us[] = {0, 5, 11.001, 11, 30};
    for (int n = rng_int(r, 0, 3), k = rng_int(r, 0, 2); n > 0 && k < 6; n--, k += rng_int(r, 1, 2)) {
        struct transition *t = &p->transitions[p->n_transitions++];
        *t = (struct transition){.at_us = at[k], .agreeing_runs = (size_t)rng_int(r, 1, 20)};
        t->latency_us = draw_estimate(r, rng_one_of(r, us, 5), 1);
        if (rng_chance(r, 0.5))
            t->agreeing_runs = p->runs_used;
    }
}

static void draw_phases(struct rng *r, struct phases *p)
{
    const bool alike = rng_chance(r, 0.4); /* nothing changes the frequency */
    double start = -50;
    p->runs = (size_t)rng_int(r, 4, 20);
    p->runs_used = rng_chance(r, 0.5) ? p->runs : (size_t)rng_int(r, 2, (int)p->runs);
    p->disturbed = rng_chance(r, 0.1);
    p->detectable_freq = rng_one_of(r, (const double[]){NAN, 0.01, 0.03, 0.05 / 2.8}, 4);
    p->detectable_freq_us = 5;
    p->detectable_throttle = rng_one_of(r, (const double[]){NAN, 0.94}, 2);
    p->detectable_throttle_us = 3;
    p->detectable_halt_us = rng_one_of(r, (const double[]){NAN, 0.8}, 2);
    p->n_volt_steps = rng_chance(r, 0.2);
    for (int n = rng_int(r, 1, PHASES_MOST); n > 0; n--) {
        struct phase *ph = &p->phases[p->n_phases++];
        *ph = draw_phase(r, start);
        if (start < 0)
            ph->duration_us.value = rng_one_of(r, (const double[]){50, 50, 48, 40}, 4);
        if (n == 1 || start < 0)
            ph->kind = rng_chance(r, 0.9) ? PHASE_STEADY : ph->kind;
        start += ph->duration_us.value;
        if (alike) {
            ph->freq_ghz = estimate_around(2.8, 0.01);
            ph->level = 0;
            ph->kind = ph->kind == PHASE_RAMP ? PHASE_HALT : ph->kind;
        }
    }
    draw_transitions(r, p);
}

/* Samples whose rate is that of the phase in which they end, now and then another, or none. */
static void draw_samples(struct rng *r, const struct phases *p, struct trace *t)
{
    trace_init(t);
    if (rng_chance(r, 0.1))
        return;
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_IPC), 0);
    if (rng_chance(r, 0.9))
        assert_int_equal(trace_add_channel(t, TRACE_FREQ), 0);
    if (rng_chance(r, 0.4))
        assert_int_equal(trace_set(t, "frequency", "instantaneous"), 0);
    for (unsigned run = 0; run < RUNS; run++) {
        size_t in = 0;
        for (double time = -50; time < 200; time += rng_one_of(r, (const double[]){1, 1, 2, 0}, 4)) {
            while (in + 1 < p->n_phases && time > p->phases[in + 1].start_us)
                in++;
            assert_int_equal(trace_append(t, run, time), 0);
            t->channel[TRACE_IPC][t->n - 1] = rng_chance(r, 0.05) ? NAN : (float)(p->phases[in].ipc + 0.1 * run);
            if (t->channel[TRACE_FREQ])
                t->channel[TRACE_FREQ][t->n - 1] = rng_chance(r, 0.05) ? NAN : (float)p->phases[in].freq_ghz.value;
        }
    }
}

static void write_switch(FILE *out, struct rng *r, unsigned number)
{
    struct phase phase[PHASES_MOST];
    struct transition transition[3];
    struct discarded_run gone = {.run = 2};
    struct phases p = {
        .phases = phase, .transitions = transition, .discarded = &gone, .n_discarded = rng_chance(r, 0.2)};
    struct transition_summary s;
    struct trace t;
    draw_phases(r, &p);
    draw_samples(r, &p, &t);
    transition_summarize(&t, &p, &s);
    fprintf(out, "%u: %s, %zu, %g halts", number, transition_switch_kind_name(s.kind), s.n, s.halts);
    golden_put_estimate(out, "latency", &s.latency_us);
    golden_put_estimate(out, "wait", &s.wait_us);
    golden_put_estimate(out, "overhead", &s.overhead_us);
    golden_put_estimate(out, "from", &s.from_ghz);
    golden_put_estimate(out, "to", &s.to_ghz);
    fprintf(out, " %s; %s\n", s.phases, s.detectable);
    for (size_t i = 0; i < p.n_phases; i++)
        if (phase[i].kind == PHASE_THROTTLE) {
            const struct estimate e = transition_throttle_ratio(&t, &p, i);
            golden_put_estimate(out, "  ratio", &e);
            fprintf(out, "\n");
        }
    trace_free(&t);
}

/* ---- how far throttling reaches ---- */

static void write_reach(FILE *out, struct rng *r, unsigned number)
{
    static const double spacings[] = {10, 20, 40, 80, 160, 320, 0.5, 1};
    struct throttle_point p[10];
    struct throttle_reach reach;
    const size_t n = (size_t)rng_int(r, 2, 10);
    const double distance = rng_one_of(r, (const double[]){9, 10, 10.4, 40, 75, 400}, 6);
    const double noise = rng_one_of(r, (const double[]){0, 0.01, 0.1}, 3);
    for (size_t i = 0; i < n; i++) {
        p[i].spacing = spacings[rng_chance(r, 0.1) ? rng_int(r, 6, 7) : rng_int(r, 0, 5)];
        p[i].ratio = (1 + noise * rng_int(r, -2, 2)) / (1 + fmin(1, distance / p[i].spacing) * 3);
        if (rng_chance(r, 0.05))
            p[i].ratio = rng_one_of(r, (const double[]){0, 1, NAN}, 3);
    }
    const int status = throttle_reach_find(p, n, &reach);
    fprintf(out, "reach %u: %d", number, status);
    if (status == 0) {
        golden_put_estimate(out, "instructions", &reach.distance);
        golden_put(out, "ratio", reach.ratio);
        golden_put(out, "residual", reach.residual);
        golden_put(out, "change", reach.change);
        fprintf(out, " %zu", reach.n);
    }
    fprintf(out, "\n");
}

/* ---- voltages ---- */

static void write_volts(FILE *out, struct rng *r, unsigned number)
{
    struct phase phase[3] = {{.kind = PHASE_STEADY, .start_us = -40, .duration_us = {40, NAN, NAN}},
                             {.kind = PHASE_HALT, .duration_us = {30, NAN, NAN}},
                             {.kind = PHASE_STEADY, .start_us = 30, .duration_us = {50, NAN, NAN}}};
    const struct phases p = {.phases = phase, .n_phases = 3};
    const unsigned runs = (unsigned)rng_int(r, 0, 60);
    struct volt_point *point;
    struct trace t;
    size_t n, readings;
    trace_init(&t);
    assert_int_equal(trace_add_run(&t) | trace_add_channel(&t, TRACE_VOLTS), 0);
    for (size_t i = 0; i < 3; i++)
        phase[i].freq_ghz = (struct estimate){2 + 0.5 * (double)i, NAN, NAN};
    for (unsigned run = 0; run < runs; run++) {
        double time = rng_chance(r, 0.3) ? rng_int(r, -8, 18) * 5 : rng_range(r, -40, 90);
        if (time > 0 && time < 30 && rng_chance(r, 0.7))
            time = 30;
        assert_int_equal(trace_append(&t, run, time), 0);
        t.channel[TRACE_VOLTS][t.n - 1] = (float)(0.9 + 0.01 * rng_int(r, 0, 3) + (time > 0 ? 0.1 : 0));
    }
    assert_int_equal(volt_points_find(&t, &p, rng_one_of(r, (const double[]){0, 0, 5, 10}, 4), &point, &n,
                                      rng_chance(r, 0.9) ? &readings : NULL),
                     0);
    fprintf(out, "voltages %u: %zu\n", number, n);
    for (size_t i = 0; i < n; i++) {
        golden_put(out, "  at", point[i].time_us);
        golden_put_estimate(out, "volts", &point[i].volts);
        golden_put(out, "ghz", point[i].level_ghz);
        fprintf(out, " %zu\n", point[i].n);
    }
    free(point);
    trace_free(&t);
}

TEST(what_random_switches_come_to_stays)
{
    struct golden g;
    struct rng r;
    FILE *out = golden_begin(&g);
    rng_init(&r, 6, 0);
    for (unsigned i = 1; i <= SWITCHES; i++)
        write_switch(out, &r, i);
    for (unsigned i = 1; i <= REACHES; i++)
        write_reach(out, &r, i);
    for (unsigned i = 1; i <= READINGS; i++)
        write_volts(out, &r, i);
    golden_expect(&g, "switches", "random", false);
}
