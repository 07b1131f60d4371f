/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schedulers/policy.h against the published formulas in double precision, and the worked examples of the dissertation
 * (G, 7.4.2 and figure 7.5) and of USENIX ATC 2021 (F, figure 2; 7.1).
 */
#include "schedulers/policy.h"
#include "schedulers/simulate/studies.h"
#include "tests/support/gold_6130.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { LEVELS = GOLD_6130_LEVELS, TURBOS = GOLD_6130_TURBO_LEVELS };
static struct policy_turbos gold = {.n = TURBOS, .n_levels = LEVELS};

static int take_frequencies(void **state)
{
    (void)state;
    for (unsigned turbo = 0; turbo < TURBOS; turbo++)
        for (unsigned level = 0; level < LEVELS; level++)
            gold.inverse[turbo][level] = policy_inverse((policy_u32)lround(1e6 * gold_6130_ghz[turbo][level]));
    return 0;
}

/* A slice of so many cycles at each level, at a mean frequency in GHz. */
static struct policy_slice slice(double level0, double level1, double level2, double ghz)
{
    return (struct policy_slice){.cycles = {(policy_u64)level0, (policy_u64)level1, (policy_u64)level2},
                                 .ns = (policy_u64)llround((level0 + level1 + level2) / ghz)};
}

/* 30 % of 16.8 million cycles, those of 6 ms at 2.8 GHz, at the AVX-512 level. */
static struct policy_slice third(double ghz)
{
    return slice(0.7 * 16.8e6, 0, 0.3 * 16.8e6, ghz);
}

static double ideal_ghz(const struct policy_slice *s, unsigned own)
{
    return 1e-6 * (double)policy_ideal_khz(&gold, s, own);
}

static double expected_ghz(const struct policy_slice *s, unsigned turbo, unsigned own)
{
    double sum = 0;
    for (unsigned level = 0; level < LEVELS; level++)
        sum += (double)s->cycles[level];
    return 1e-6 * (double)policy_khz((policy_u64)sum, policy_time(&gold, turbo, s, own));
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) < 2e-5 * fabs(expected) + 1e-9))
        fail_msg("%.9g, expected %.9g", value, expected);
}

TEST(frequencies_of_each_turbo_level_are_expected)
{
    static const double expected[] = {3.6376404494382, 3.3695652173913, 3.02222222222222, 2.7125, 2.45161290322581};
    const struct policy_slice s = third(2.5);
    for (unsigned turbo = 0; turbo < TURBOS; turbo++)
        near(expected_ghz(&s, turbo, LEVELS), expected[turbo]);
}

/* G, eq. 7.7 (F, eq. 4). */
static double published_form(const double *f, double r1, double r2)
{
    return f[0] * f[1] * f[2] / ((f[0] - f[1]) * f[2] * r1 + (f[0] - f[2]) * f[1] * r2 + f[1] * f[2]);
}

/* The ideal frequency by G, 7.4.2, steps 2 to 4, in double precision. */
static double published_ideal(const struct policy_slice *s, unsigned own)
{
    const double c[] = {(double)s->cycles[0], (double)s->cycles[1], (double)s->cycles[2]}, sum = c[0] + c[1] + c[2];
    const double actual = sum / (double)s->ns, r1 = c[1] / sum, r2 = c[2] / sum;
    const double alone[2] = {own == 0 ? 0 : own == 1 ? r1 + r2 : r1, own == 2 ? r2 : 0};
    unsigned slow = 0;
    while (slow + 1 < TURBOS && published_form(gold_6130_ghz[slow], r1, r2) > actual)
        slow++;
    const double *s_ghz = gold_6130_ghz[slow], *f_ghz = gold_6130_ghz[slow > 0 ? slow - 1 : 0];
    const double below = published_form(s_ghz, r1, r2), above = published_form(f_ghz, r1, r2);
    const double ideal = published_form(s_ghz, alone[0], alone[1]);
    if (slow == 0 || below >= actual)
        return ideal;
    return ideal + (actual - below) / (above - below) * (published_form(f_ghz, alone[0], alone[1]) - ideal);
}

TEST(random_slices_are_those_of_the_published_formulas)
{
    struct rng r;
    rng_init(&r, 7, 0);
    for (unsigned i = 0; i < 1000000; i++) {
        const double cycles = 1e4 * pow(1e4, rng_unit(&r)), a = rng_unit(&r), b = rng_unit(&r) * (1 - a);
        struct policy_slice s = slice(cycles * (1 - a - b), cycles * a, cycles * b, 1.5 + 2.5 * rng_unit(&r));
        const unsigned own = (unsigned)(3 * rng_unit(&r));
        s.stalled = (policy_u32)(rng_unit(&r) * POLICY_ONE);
        const double sum = (double)(s.cycles[0] + s.cycles[1] + s.cycles[2]), actual = sum / (double)s.ns;
        const double ideal = published_ideal(&s, own), stalled = (double)s.stalled / POLICY_ONE;
        /* the clock and the cycles are whole numbers, and shares have 20 bits */
        if (!(fabs(ideal_ghz(&s, own) - ideal) < 5e-5 * ideal))
            fail_msg("slice %u: %.8g GHz, by the formulas %.8g", i, ideal_ghz(&s, own), ideal);
        const bool others = (own < 2 && s.cycles[2] > 0) || (own < 1 && s.cycles[1] > 0);
        const double lost = others ? (double)s.ns * fmax(0, 1 - actual / ideal) * (1 - stalled) : 0;
        const double found = (double)policy_slice_lost_ns(&gold, &s, own, s.ns);
        if (!(fabs(found - lost) < 6e-5 * (double)s.ns + 2))
            fail_msg("slice %u: %.0f ns lost, by the formulas %.3f", i, found, lost);
    }
}

/* F, figure 2: 2.5 GHz is mostly the lowest turbo level, and some of the second lowest. */
TEST(figure_2_of_usenix_atc_2021)
{
    double lowest = 1 / (0.7 / 2.8 + 0.3 / 1.9), second = 1 / (0.7 / 3.1 + 0.3 / 2.1);
    double share = (2.5 - lowest) / (second - lowest);
    const struct policy_slice s = third(2.5);
    assert_true(share > 0.18 && share < 0.19);
    near(ideal_ghz(&s, 0), 2.8 + share * (3.1 - 2.8));
    double avx2_lowest = published_form(gold_6130_ghz[4], 0.3, 0),
           avx2_second = published_form(gold_6130_ghz[3], 0.3, 0);
    near(ideal_ghz(&s, 1), avx2_lowest + share * (avx2_second - avx2_lowest));
    near(ideal_ghz(&s, 2), 2.5);
}

static double lost_part(double actual, double ideal, double stalled)
{
    return 1e-9 * (double)policy_lost_ns(1000000000, (policy_u64)lround(1e6 * actual), (policy_u64)lround(1e6 * ideal),
                                         (policy_u32)(stalled * POLICY_ONE));
}

/* G, figure 7.5b: half of the time at the lowest turbo level, half at the second lowest. */
TEST(figure_7_5_of_the_dissertation)
{
    double actual = (1 / (0.7 / 2.8 + 0.3 / 1.9) + 1 / (0.7 / 3.1 + 0.3 / 2.1)) / 2;
    const struct policy_slice s = third(actual);
    near(ideal_ghz(&s, 0), (2.8 + 3.1) / 2);
    near(lost_part(actual, 2.95, 0), (2.95 - actual) / 2.95);
    near(lost_part(actual, 2.95, 0.25), 0.75 * (2.95 - actual) / 2.95);
    assert_true(fabs(lost_part(actual, 2.95, 0) - 0.1247) < 1e-4);
}

TEST(turbo_levels_have_ends)
{
    const struct policy_slice slow = third(1), fast = third(5), middle = third(3.02222222222222);
    near(ideal_ghz(&slow, 0), 2.8);
    near(ideal_ghz(&fast, 0), 3.7);
    near(ideal_ghz(&middle, 0), 3.4);
    near(lost_part(3, 2.8, 0), 0);
}

/* All at the AVX-512 level: what G and F call the reduction itself, 2.8 to 1.9 GHz. */
TEST(a_whole_slice_at_the_slowest_level)
{
    const struct policy_slice s = slice(0, 0, 11.4e6, 1.9);
    near(ideal_ghz(&s, 0), 2.8);
    near(ideal_ghz(&s, 1), 2.4);
    near(1e-6 * (double)policy_slice_lost_ns(&gold, &s, 0, s.ns), 6 * (1 - 1.9 / 2.8));
    assert_int_equal(policy_slice_lost_ns(&gold, &s, 2, s.ns), 0); /* its own doing */
    assert_int_equal(policy_payer_level(0), 1);
}

TEST(nothing_counted)
{
    const struct policy_slice none = {.ns = 0}, idle = {.ns = 1000};
    const struct policy_turbos unknown = {.n = 0};
    const struct policy_slice s = slice(0, 0, 1e6, 1.9);
    assert_int_equal(policy_slice_lost_ns(&gold, &none, 0, 1000), 0);
    assert_int_equal(policy_slice_lost_ns(&gold, &idle, 0, 1000), 0);
    assert_int_equal(policy_slice_lost_ns(&unknown, &s, 0, 1000), 0);
    assert_int_equal(policy_khz(1000, 0), 0);
}

/* G, 7.4.1: what the widest instructions can cause at most; not counted, where half of the cycles were. */
TEST(what_a_task_asked_for_itself)
{
    const policy_u32 level[2] = {1, 2}, odd[2] = {2, 0};
    assert_int_equal(policy_own_level(level, 0, 0), 0);
    assert_int_equal(policy_own_level(level, 1, 0), 1);
    assert_int_equal(policy_own_level(level, 1, 1), 2);
    assert_int_equal(policy_own_level(odd, 1, 1), 2);
    const policy_u64 cycles[][4] = {{100, 0, 0, 0},  {51, 49, 0, 0}, {50, 50, 0, 1},
                                    {50, 30, 20, 1}, {40, 0, 60, 2}, {0, 0, 0, 0}};
    for (size_t i = 0; i < sizeof(cycles) / sizeof(cycles[0]); i++) {
        const struct policy_slice s = {.cycles = {cycles[i][0], cycles[i][1], cycles[i][2]}};
        assert_int_equal(policy_level_held(&s, 3), cycles[i][3]);
        assert_int_equal(policy_level_held(&s, 1), 0);
    }
}

/* F, eq. 7 and 9; the averages of 7.1.1. */
TEST(unfairness_of_usenix_atc_2021)
{
    near(sim_unfairness(1.249, 1.249), 0.249);
    near(sim_unfairness(1.1, 1.25), 1.1 + 0.88 - 2);
    near(sim_unfairness(2.054 / (1 + 1 / 1.249), 1.249), 0.054);
}

/* ---- specialization ---- */

/* G, equations 6.1 and 6.2: the higher load falls. */
TEST(kinds_of_cores_follow_the_loads)
{
    for (policy_u64 wide = 1; wide < 16; wide++)
        for (policy_u64 tasks = 0; tasks <= 40; tasks++) {
            const struct policy_loads l = {tasks, 40 - tasks, wide, 16 - wide};
            const double now = fmax((double)l.wide_tasks / (double)wide, (double)l.other_tasks / (double)(16 - wide));
            const double more = wide == 15 ? INFINITY
                                           : fmax((double)l.wide_tasks / (double)(wide + 1),
                                                  (double)l.other_tasks / (double)(15 - wide));
            const double less = wide == 1 ? INFINITY
                                          : fmax((double)l.wide_tasks / (double)(wide - 1),
                                                 (double)l.other_tasks / (double)(17 - wide));
            assert_int_equal(policy_widens(&l, 0), more < now - 1e-12);
            assert_int_equal(policy_narrows(&l), less < now - 1e-12);
            assert_int_equal(policy_widens(&l, 1), wide < 15);
            assert_false(policy_widens(&l, 0) && policy_narrows(&l));
        }
    assert_false(policy_may_change(20000000));
    assert_true(policy_may_change(20000001));
}

TEST(phases_end_by_system_call_unless_most_are_short)
{
    policy_u64 shorts = 0;
    double exact = 0;
    struct rng r;
    rng_init(&r, 3, 0);
    for (int i = 0; i < 10000; i++) {
        const policy_u64 ns = (policy_u64)(200000 * rng_unit(&r));
        shorts = policy_shorts(shorts, ns);
        exact += 0.25 * ((ns < 100000 ? 1 : 0) - exact);
        assert_true(fabs((double)shorts / 4294967296.0 - exact) < 1e-8);
        if (fabs(exact - 0.5) > 1e-8)
            assert_int_equal(policy_call_ends_phase(shorts), exact <= 0.5);
    }
}

TEST_GROUP(take_frequencies, NULL)
