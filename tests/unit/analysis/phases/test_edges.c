/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where repetitions made by hand go from one state to the next, and where halts lie in samples of known contents. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/phases/segments/segmentation.h"
#include "tests/support/close_to.h"

/* ---- halts ---- */

/*
 * A sample from 100 us on, of 10 us unless said otherwise, that holds so many thousand cycles and instructions: 3 GHz
 * and one instruction per cycle before the halt, 2 GHz and two behind it. Samples are 4 us apart unless said otherwise.
 */
struct halted_sample {
    double cycles, instructions;  /* NaN: not known */
    double begins, lasts;         /* the halt, us behind 100 us */
    double dt, period, known;     /* us; 0: as said above, not known */
    double noise;                 /* of IPC; 0: 0.001 */
    bool at_once, same, no_rates; /* the same IPC behind it; none known before it */
    unsigned runs;                /* 0: one */
    double reading;               /* a frequency read at one instant, which takes so long */
};

static void expect_halt(const struct halted_sample *h)
{
    const double dt = h->dt > 0 ? h->dt : 10;
    const struct runs r = {.n = h->runs ? h->runs : 1,
                           .period = h->period > 0 ? h->period : 4,
                           .noise = {[TRACE_IPC] = h->noise > 0 ? h->noise : 0.001},
                           .habit = h->at_once ? SAMPLER_AT_ONCE : SAMPLER_WAITS,
                           .clock = {.instant = h->reading > 0, .reading_us = h->reading}};
    const struct gap g = {.begin = 100, .end = 100 + dt, .clock = h->cycles / dt, .rate = h->instructions / dt};
    const struct piece before = {.value = {[TRACE_FREQ] = 3, [TRACE_IPC] = h->no_rates ? 0 : 1}};
    const struct piece after = {.value = {[TRACE_FREQ] = 2, [TRACE_IPC] = h->same ? 1 : 2}};
    double begin = NAN, length = NAN;
    edges_place_halt(&r, &g, &before, &after, h->known != 0 ? 100 + h->known : (double)NAN, &begin, &length);
    if (!(fabs(begin - 100 - h->begins) < 1e-9 && fabs(length - h->lasts) < 1e-9))
        fail_msg("%g cycles, %g instructions, known %g: halted from %.9g for %.9g us, not from %.9g for %.9g",
                 h->cycles, h->instructions, h->known, begin - 100, length, h->begins, h->lasts);
}

static void cycles_and_instructions_place_a_halt(void **state)
{
    (void)state;
    static const struct halted_sample samples[] = {
        /* 2 us before it and 1 us behind it */
        {.cycles = 8, .instructions = 10, .begins = 2, .lasts = 7},
        {.cycles = 8, .instructions = 10, .begins = 2, .lasts = 7, .at_once = true},
        /* noise of the IPC moves that by 10/3 of itself: 0.12 periods are too much; in the mean of repetitions of a
         * sampler that resumes at once, 0.06 us or, of shorter samples, periods */
        {.cycles = 8, .instructions = 10, .begins = 2, .lasts = 7, .noise = 0.143},
        {.cycles = 8, .instructions = 10, .begins = 1.6, .lasts = 6.8, .noise = 0.145},
        {.cycles = 8, .instructions = 10, .begins = 2, .lasts = 7, .noise = 0.0355, .at_once = true, .runs = 4},
        {.cycles = 8, .instructions = 10, .begins = 2.6, .lasts = 7.3, .noise = 0.0365, .at_once = true, .runs = 4},
        {.cycles = 8, .instructions = 10, .begins = 2, .lasts = 7, .noise = 0.0175, .at_once = true},
        {.cycles = 8, .instructions = 10, .begins = 2.6, .lasts = 7.3, .noise = 0.0185, .at_once = true},
        {.cycles = 2, .instructions = 3, .begins = 1.0 / 3, .lasts = 9.5 - 1.0 / 3, .at_once = true, .period = 0.5},
        /* 5 us before it, or behind it, are more than a period: noise alone, three times 5/3 or 20/3 of it */
        {.cycles = 15, .instructions = 15, .begins = 4.015, .lasts = 10 - 4.015 - (15 - 3 * 4.015) / 2},
        {.cycles = 10, .instructions = 20, .begins = 0.98, .lasts = 10 - 0.98 - (10 - 3 * 0.98) / 2, .period = 3},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        expect_halt(&samples[i]);
}

static void cycles_alone_place_a_halt(void **state)
{
    (void)state;
    static const struct halted_sample samples[] = {
        /* alike on both sides, or all before it but for 0.025 periods of reaction */
        {.cycles = 8, .instructions = 8, .begins = 1.6, .lasts = 6.8, .same = true},
        {.cycles = 8, .instructions = NAN, .begins = 1.6, .lasts = 6.8},
        {.cycles = 8, .instructions = 10, .begins = 1.6, .lasts = 6.8, .no_rates = true, .noise = 10},
        {.cycles = 8, .instructions = 8, .begins = 2.6, .lasts = 7.3, .same = true, .at_once = true},
        {.cycles = 8,
         .instructions = 8,
         .begins = 7.9 / 3,
         .lasts = 9.95 - 7.9 / 3,
         .same = true,
         .at_once = true,
         .period = 2},
        /* so few that the reaction takes more than the half of them, or more than all */
        {.cycles = 0.4, .instructions = 0.4, .begins = 0.2 / 3, .lasts = 9.9 - 0.2 / 3, .same = true},
        {.cycles = 0.1, .instructions = 0.1, .begins = 0, .lasts = 9.95, .same = true},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        expect_halt(&samples[i]);
}

static void a_halt_that_begins_at_a_known_time(void **state)
{
    (void)state;
    static const struct halted_sample samples[] = {
        {.cycles = 8, .instructions = 10, .known = 1, .begins = 1, .lasts = 6.5},
        {.cycles = 8, .instructions = 10, .known = -1, .begins = 0, .lasts = 6},
        {.cycles = 8, .instructions = 10, .known = 5, .begins = 8.0 / 3, .lasts = 10 - 8.0 / 3},
        {.cycles = NAN, .instructions = 10, .known = 1, .begins = 1, .lasts = 7},
        {.cycles = NAN, .instructions = 10, .known = -1, .begins = 0, .lasts = 8},
        {.cycles = NAN, .instructions = 10, .known = 11, .begins = 10, .lasts = 0},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        expect_halt(&samples[i]);
}

static void time_stamps_alone_place_a_halt(void **state)
{
    (void)state;
    static const struct halted_sample samples[] = {
        /* half of a period before it, and half of one behind it if the sampler waits */
        {.cycles = NAN, .instructions = 10, .begins = 2, .lasts = 6},
        {.cycles = NAN, .instructions = 10, .begins = 2, .lasts = 8, .at_once = true},
        {.cycles = NAN, .instructions = 10, .begins = 1, .lasts = 8, .period = 2},
        {.cycles = NAN, .instructions = 10, .begins = 1, .lasts = 0, .dt = 2},
        {.cycles = 8, .instructions = NAN, .begins = 2, .lasts = 6, .reading = 1},
        /* a frequency read at one instant tells nothing of a whole sample, but its work tells for how long it ran: half
         * at 3 a us, half at 4 */
        {.cycles = 8, .instructions = 9, .begins = 1.3125, .lasts = 7.375, .reading = 1},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        expect_halt(&samples[i]);
}

/* Where a piece has no frequency it is that of the samples beside the gap. */
static void neighbours_tell_the_frequency(void **state)
{
    (void)state;
    const struct runs r = {.n = 1, .period = 4, .noise = {[TRACE_IPC] = 0.001}, .habit = SAMPLER_WAITS};
    struct gap g = {.begin = 100, .end = 110, .clock = 0.8, .rate = 1, .freq_before = 3, .freq_after = 2};
    const struct piece before = {.value = {[TRACE_FREQ] = NAN, [TRACE_IPC] = 1}};
    const struct piece after = {.value = {[TRACE_FREQ] = NAN, [TRACE_IPC] = 2}};
    double begin, length;
    edges_place_halt(&r, &g, &before, &after, NAN, &begin, &length);
    assert_close(begin, 102, 1e-9);
    assert_close(length, 7, 1e-9);
    g.freq_before = NAN;
    edges_place_halt(&r, &g, &before, &after, NAN, &begin, &length);
    assert_close(begin, 102, 1e-9);
    assert_close(length, 6, 1e-9);
    g.freq_before = 3;
    g.freq_after = NAN;
    edges_place_halt(&r, &g, &before, &after, NAN, &begin, &length);
    assert_close(length, 6, 1e-9);
}

/* ---- edges ---- */

enum { SAMPLES = 40 };

/* A repetition of samples of 1 us; it goes from 3 to 2 GHz at `edge`, and its IPC from 1 to 2. */
struct rig {
    struct trace t;
    struct run_span span;
    float dt[SAMPLES];
    uint8_t invalid[SAMPLES];
    struct runs r;
    struct piece before, after;
    struct edge_kind kind;
};

static void make_rig(struct rig *g, double edge)
{
    *g = (struct rig){.span = {.n = SAMPLES},
                      .before = {.value = {[TRACE_FREQ] = 3, [TRACE_IPC] = 1}},
                      .after = {.value = {[TRACE_FREQ] = 2, [TRACE_IPC] = 2}},
                      .kind = {.change = {[TRACE_FREQ] = -1}}};
    trace_init(&g->t);
    assert_int_equal(trace_add_run(&g->t) | trace_add_channel(&g->t, TRACE_FREQ) | trace_add_channel(&g->t, TRACE_IPC),
                     0);
    for (int i = 0; i < SAMPLES; i++) {
        assert_int_equal(trace_append(&g->t, 0, i + 1), 0);
        double old = fmin(1, fmax(0, edge - i));
        g->t.channel[TRACE_FREQ][i] = (float)(3 * old + 2 * (1 - old));
        g->t.channel[TRACE_IPC][i] = (float)(1 * old + 2 * (1 - old));
        g->dt[i] = 1;
    }
    g->r = (struct runs){.trace = &g->t,
                         .n = 1,
                         .run = &g->span,
                         .dt = g->dt,
                         .invalid = g->invalid,
                         .period = 1,
                         .noise = {[TRACE_FREQ] = 0.02, [TRACE_IPC] = 0.02},
                         .has = {[TRACE_FREQ] = true, [TRACE_IPC] = true}};
}

static double placed(struct rig *g, double lo, double hi, double guess, bool search)
{
    double at = edges_place(&g->r, 0, &g->before, &g->after, &g->kind, lo, hi, guess, search);
    trace_free(&g->t);
    return at;
}

static void an_edge_lies_within_its_sample(void **state)
{
    (void)state;
    struct rig g;
    for (double edge = 10.25; edge < 30; edge += 2.125) {
        make_rig(&g, edge);
        assert_close(placed(&g, 0, 40, 3, true), edge, 1e-5);
        make_rig(&g, edge);
        g.kind.change[TRACE_FREQ] = 0;
        g.kind.change[TRACE_IPC] = 1;
        assert_close(placed(&g, 0, 40, 3, true), edge, 1e-5);
    }
    /* read at the end of a sample, it lies anywhere in it: that of the first that is different is half a sample long */
    make_rig(&g, 20);
    g.r.clock.instant = true;
    assert_close(placed(&g, 0, 40, 3, true), 20.5, 1e-5);
    /* the IPC is taken where both change, unless the frequency shows it four times as well */
    make_rig(&g, 20.25);
    g.r.clock.instant = true;
    g.kind.change[TRACE_IPC] = 1;
    g.r.noise[TRACE_IPC] = 0.02;
    assert_close(placed(&g, 0, 40, 3, true), 20.25, 1e-5);
    make_rig(&g, 20.25);
    g.kind.change[TRACE_IPC] = 1;
    g.t.channel[TRACE_IPC][20] = NAN; /* a sample that lacks the better one: the other */
    assert_close(placed(&g, 0, 40, 3, true), 20.25, 1e-5);
}

/* An edge that one sample shows by three times its noise is looked for: anywhere, or within six samples. */
static void an_edge_is_near_the_guess(void **state)
{
    (void)state;
    struct rig g;
    const double step = log(3.0 / 2);
    make_rig(&g, 20.25);
    assert_close(placed(&g, 0, 40, 15.5, false), 20.25, 1e-5);
    make_rig(&g, 20.25);
    assert_true(isnan(placed(&g, 0, 40, 14.5, false)));
    make_rig(&g, 20.25);
    assert_close(placed(&g, 0, 40, 25.5, false), 20.25, 1e-5);
    make_rig(&g, 20.25);
    assert_close(placed(&g, 0, 40, 30.5, false), 22, 1e-5); /* the window's begin: all of it is of the later state */
    /* one that is fainter is placed around the guess, by the two samples on either side */
    for (double noise = step / 2.99; noise < 0.3; noise *= 1.5) {
        make_rig(&g, 20.25);
        g.r.noise[TRACE_FREQ] = noise;
        assert_close(placed(&g, 0, 40, 21, false), 20.25, 1e-5);
        make_rig(&g, 20.25);
        g.r.noise[TRACE_FREQ] = noise;
        assert_close(placed(&g, 0, 40, 24, true), 22, 1e-5); /* all samples there are of the later state */
        make_rig(&g, 20.25);
        g.r.noise[TRACE_FREQ] = noise;
        assert_close(placed(&g, 0, 40, 17, true), 19, 1e-5);
    }
    make_rig(&g, 20.25);
    g.r.noise[TRACE_FREQ] = step / 3.01;
    assert_close(placed(&g, 0, 40, 24, true), 20.25, 1e-5);
    /* one that is less than half of the noise is not there */
    make_rig(&g, 20.25);
    g.kind.change[TRACE_FREQ] = 0;
    assert_true(isnan(placed(&g, 0, 40, 21, false)));
    make_rig(&g, 20.25);
    g.r.has[TRACE_FREQ] = false;
    assert_true(isnan(placed(&g, 0, 40, 21, false)));
    make_rig(&g, 20.25);
    g.before.value[TRACE_FREQ] = NAN;
    assert_true(isnan(placed(&g, 0, 40, 21, false)));
}

/* Samples that hold lost time end the window. */
static void lost_time_beside_an_edge(void **state)
{
    (void)state;
    struct rig g;
    for (int lost = 17; lost < 25; lost++) {
        make_rig(&g, 20.25);
        g.invalid[lost] = 1;
        g.t.channel[TRACE_FREQ][lost] = lost == 20 ? 2.25F : 0.5F;
        double at = placed(&g, 0, 40, 20.5, false);
        if (lost == 19 || lost == 20)
            assert_close(at, lost, 1e-5); /* the end of the last sample that counts */
        else
            assert_close(at, 20.25, 1e-5);
    }
}

/* The mean of so many samples behind the one that holds the edge, less that of as many before it. */
static void a_repetition_has_a_step_of_its_own(void **state)
{
    (void)state;
    struct rig g;
    make_rig(&g, 20.25);
    assert_close(edges_own_step(&g.r, 0, TRACE_FREQ, 0, 20.5, 40, 5), log(2.0 / 3), 1e-6);
    assert_close(edges_own_step(&g.r, 0, TRACE_FREQ, 0, 20.5, 40, SIZE_MAX), log(2.0 / 3), 1e-6);
    assert_true(isnan(edges_own_step(&g.r, 0, TRACE_VOLTS, 0, 20.5, 40, 5)));
    /* of 30 and 31, 16 and 17: 1.5 and 1.8, 3.3 and 3.6 GHz; samples 0, 20 and 39 are at the edges */
    for (int i = 0; i < SAMPLES; i++)
        g.t.channel[TRACE_FREQ][i] = (float)exp(0.01 * i);
    assert_close(edges_own_step(&g.r, 0, TRACE_FREQ, 0, 20.5, 40, 5), 0.06, 1e-6);
    assert_close(edges_own_step(&g.r, 0, TRACE_FREQ, 0, 20.5, 40, 1), 0.02, 1e-6);
    assert_close(edges_own_step(&g.r, 0, TRACE_FREQ, 16.5, 20.5, 40, 5), 0.01 * (23 - 18), 1e-6); /* 17, 18, 19 */
    assert_close(edges_own_step(&g.r, 0, TRACE_FREQ, 0, 20.5, 23.5, 5), 0.01 * (21.5 - 17), 1e-6);
    assert_close(edges_own_step(&g.r, 0, TRACE_FREQ, 0, 20.5, 40, SIZE_MAX), 0.01 * (30 - 10), 1e-6);
    assert_true(isnan(edges_own_step(&g.r, 0, TRACE_FREQ, 19.5, 20.5, 40, 5)));
    assert_true(isnan(edges_own_step(&g.r, 0, TRACE_FREQ, 0, 20.5, 20.8, 5)));
    g.invalid[22] = 1;
    g.t.channel[TRACE_FREQ][24] = NAN;
    assert_close(edges_own_step(&g.r, 0, TRACE_FREQ, 0, 20.5, 40, 5), 0.01 * ((21 + 23 + 25) / 3.0 - 17), 1e-6);
    trace_free(&g.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_and_instructions_place_a_halt),
        cmocka_unit_test(cycles_alone_place_a_halt),
        cmocka_unit_test(a_halt_that_begins_at_a_known_time),
        cmocka_unit_test(time_stamps_alone_place_a_halt),
        cmocka_unit_test(neighbours_tell_the_frequency),
        cmocka_unit_test(an_edge_lies_within_its_sample),
        cmocka_unit_test(an_edge_is_near_the_guess),
        cmocka_unit_test(lost_time_beside_an_edge),
        cmocka_unit_test(a_repetition_has_a_step_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
