/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Voltage readings of two states in turn: which of them are kept, worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/phases/voltage/volts.h"
#include "tests/support/close_to.h"

/* n readings of 1 V, one in 10 us. */
static void flat(struct trace *t, unsigned n)
{
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_VOLTS), 0);
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(trace_append(t, i, 10 * i), 0);
        t->channel[TRACE_VOLTS][i] = 1;
    }
}

/* Six readings, `apart` from each other, that leave the state by `by` volts. */
static void stray(struct trace *t, size_t first, size_t apart, double by)
{
    for (size_t k = 0; k < 6; k++)
        t->channel[TRACE_VOLTS][first + k * apart] += (float)by;
}

/* Unmixes and frees: how many readings go, and from when to when (us) they were mixed (begin NaN: nowhere). */
static void expect(struct trace *t, double least_us, size_t gone, double begin, double end)
{
    struct mixed_stretches m;
    size_t n = t->n;
    assert_int_equal(volts_unmix(t, least_us, &m), 0);
    assert_int_equal(n - t->n, gone);
    assert_int_equal(m.n, isnan(begin) ? 0 : 1);
    if (m.n) {
        assert_close(m.stretch->begin, begin, 1e-9);
        assert_close(m.stretch->end, end, 1e-9);
    }
    free(m.stretch);
    trace_free(t);
}

/*
 * A fall at reading 150, give or take ten, where every other reading is of the other state. Readings 141, 143, 145, 147
 * and 152, 154, 156, 158 stray from those around. No clear majority has 25 or more of 81 readings against it: there are
 * 24 of 0.9 V around reading 133 and 24 of 1 V around reading 166.
 */
static void what_has_no_clear_majority_goes(void **state)
{
    (void)state;
    struct trace t;
    struct mixed_stretches m;
    flat(&t, 300);
    for (unsigned i = 140; i < 300; i++)
        t.channel[TRACE_VOLTS][i] = i < 160 && i % 2 == 0 ? 1.0F : 0.9F;
    assert_int_equal(volts_unmix(&t, 170, &m), 0);
    assert_int_equal(t.n, 134 + 134);
    for (size_t i = 0; i < t.n; i++) {
        assert_close(t.time_us[i], i < 134 ? 10 * i : 10 * (i + 32), 1e-9);
        assert_close(t.channel[TRACE_VOLTS][i], i < 134 ? 1 : 0.9, 1e-6);
    }
    /* 11 readings about the strays, and 40 that tell the majority */
    assert_int_equal(m.n, 1);
    assert_close(m.stretch[0].begin, 10 * (141 - 11 - 40), 1e-9);
    assert_close(m.stretch[0].end, 10 * (158 + 11 + 40), 1e-9);
    assert_null(volts_mixed_at(&m, 899.9));
    assert_ptr_equal(volts_mixed_at(&m, 900), m.stretch);
    assert_ptr_equal(volts_mixed_at(&m, 2090), m.stretch);
    assert_null(volts_mixed_at(&m, 2090.1));
    free(m.stretch);
    trace_free(&t);
}

static void a_minority_of_at_least_six_goes(void **state)
{
    (void)state;
    struct trace t;
    for (int sign = -1; sign <= 1; sign += 2) {
        flat(&t, 300);
        stray(&t, 100, 20, 0.1 * sign);
        expect(&t, 1000, 6, 490, 2510);
        /* shorter than asked for */
        flat(&t, 300);
        stray(&t, 100, 20, 0.1 * sign);
        expect(&t, 1001, 0, NAN, 0);
    }
    /* five, or six of which two are one */
    flat(&t, 300);
    stray(&t, 100, 20, 0.1);
    t.channel[TRACE_VOLTS][140] = 1;
    expect(&t, 0, 0, NAN, 0);
    flat(&t, 300);
    stray(&t, 100, 20, 0.1);
    t.channel[TRACE_VOLTS][140] = 1;
    t.channel[TRACE_VOLTS][121] = 1.1F;
    expect(&t, 0, 0, NAN, 0);
    /* up to 60 readings apart */
    flat(&t, 600);
    stray(&t, 100, 60, 0.1);
    expect(&t, 0, 6, 490, 4510);
    flat(&t, 600);
    stray(&t, 100, 61, 0.1);
    expect(&t, 0, 0, NAN, 0);
    /* near the ends nothing can be seen to stray */
    flat(&t, 300);
    stray(&t, 60, 20, 0.1);
    expect(&t, 0, 6, 0, 2110);
    flat(&t, 300);
    stray(&t, 61, 20, 0.1);
    expect(&t, 0, 6, 100, 2120);
    flat(&t, 300);
    stray(&t, 140, 20, 0.1);
    expect(&t, 0, 6, 890, 2990);
    flat(&t, 301);
    stray(&t, 140, 20, 0.1);
    expect(&t, 0, 6, 890, 2910);
    /* a voltage needs 80 readings, and 11 on either side */
    flat(&t, 80);
    stray(&t, 11, 11, 0.1);
    expect(&t, 0, 6, 0, 790);
    flat(&t, 79);
    stray(&t, 11, 11, 0.1);
    expect(&t, 0, 0, NAN, 0);
    flat(&t, 80);
    stray(&t, 10, 11, 0.1);
    expect(&t, 0, 0, NAN, 0);
    flat(&t, 80);
    stray(&t, 14, 11, 0.1);
    expect(&t, 0, 0, NAN, 0);
}

/* Two of them, 2000 readings apart. */
static void stretches_are_told_apart(void **state)
{
    (void)state;
    struct trace t;
    struct mixed_stretches m;
    flat(&t, 2600);
    stray(&t, 100, 20, 0.1);
    stray(&t, 2200, 20, -0.1);
    assert_int_equal(volts_unmix(&t, 1000, &m), 0);
    assert_int_equal(t.n, 2588);
    assert_int_equal(m.n, 2);
    assert_close(m.stretch[1].begin, 21490, 1e-9);
    assert_close(m.stretch[1].end, 23510, 1e-9);
    assert_null(volts_mixed_at(&m, 3000));
    assert_ptr_equal(volts_mixed_at(&m, 22000), m.stretch + 1);
    free(m.stretch);
    trace_free(&t);
}

/* 1.5 mV, or four times the noise: of neighbours that differ by 2 mV, 1.0484 times as much. */
static void noise_does_not_stray(void **state)
{
    (void)state;
    struct trace t;
    flat(&t, 320);
    stray(&t, 100, 20, 0.0014);
    expect(&t, 0, 0, NAN, 0);
    flat(&t, 320);
    stray(&t, 100, 20, 0.0016);
    expect(&t, 0, 6, 490, 2510);
    for (int far = 0; far < 2; far++) {
        flat(&t, 320);
        for (size_t i = 0; i < t.n; i++)
            t.channel[TRACE_VOLTS][i] = i % 2 ? 0.999F : 1.001F;
        stray(&t, 100, 20, -0.002 - (far ? 0.0085 : 0.0083));
        expect(&t, 0, far ? 6 : 0, far ? 490 : NAN, 2510);
    }
    /* where more than a quarter of the windows of 40 is free of it, two of eight, it is no noise */
    for (size_t noisy = 5; noisy <= 6; noisy++) {
        struct mixed_stretches m;
        flat(&t, 330);
        for (size_t i = 0; i < 40 * noisy; i++)
            t.channel[TRACE_VOLTS][i] = i % 2 ? 0.999F : 1.001F;
        stray(&t, 210, 20, 0.005);
        assert_int_equal(volts_unmix(&t, 0, &m), 0);
        assert_int_equal(m.n, noisy == 5 ? 1 : 0);
        free(m.stretch);
        trace_free(&t);
    }
}

/*
 * The states around a reading are those of 11 before it and of 11 behind it: at reading 120 there are five of 0.9 V and
 * then six of 1 V behind it, so that its 0.998 V are neither; and so every 24 readings, six times over. What is mixed
 * reaches from 51 readings before the first to 51 behind the last of 0.9 V, reading 245.
 */
static void states_are_those_of_eleven_readings(void **state)
{
    (void)state;
    struct trace t;
    struct mixed_stretches m;
    flat(&t, 400);
    for (unsigned i = 0; i < 6; i++) {
        t.channel[TRACE_VOLTS][120 + 24 * i] = 0.998F;
        for (unsigned k = 1; k <= 5; k++)
            t.channel[TRACE_VOLTS][120 + 24 * i + k] = 0.9F;
    }
    assert_int_equal(volts_unmix(&t, 10, &m), 0);
    assert_int_equal(m.n, 1);
    assert_close(m.stretch->begin, 10 * (120 - 51), 1e-9);
    assert_close(m.stretch->end, 10 * (245 + 51), 1e-9);
    free(m.stretch);
    trace_free(&t);
}

/* Both ends belong to a stretch; what is between two does not. */
static void a_time_is_within_one_stretch(void **state)
{
    (void)state;
    struct mixed_stretch stretch[] = {{10, 20}, {40, 50}};
    const struct mixed_stretches m = {2, stretch}, none = {0, NULL};
    static const double outside[] = {-10, 9.9, 20.1, 30, 39.9, 50.1}, first[] = {10, 15, 20}, second[] = {40, 45, 50};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        assert_null(volts_mixed_at(&m, outside[i]));
    for (size_t i = 0; i < 3; i++) {
        assert_ptr_equal(volts_mixed_at(&m, first[i]), &stretch[0]);
        assert_ptr_equal(volts_mixed_at(&m, second[i]), &stretch[1]);
        assert_null(volts_mixed_at(&none, first[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_are_those_of_eleven_readings),
        cmocka_unit_test(what_has_no_clear_majority_goes),
        cmocka_unit_test(a_minority_of_at_least_six_goes),
        cmocka_unit_test(stretches_are_told_apart),
        cmocka_unit_test(noise_does_not_stray),
        cmocka_unit_test(a_time_is_within_one_stretch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
