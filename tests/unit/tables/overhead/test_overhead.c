/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Costs of a change of the frequency from curves of work against time: exact cases, random ones, and the formulas. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/overhead/overhead_fit.h"
#include "probes/overhead.h"
#include "tests/support/random_numbers.h"

enum { READINGS_MAX = 4000, STRETCHES_MAX = 12 };

/* Code that runs at one rate for a while; the last stretch lasts for ever. */
struct stretch {
    double us, rate, ghz;
};
struct course {
    struct stretch stretch[STRETCHES_MAX];
    size_t n;
};

static double work_at(const struct course *c, double us)
{
    double work = 0;
    for (size_t i = 0; i < c->n; i++) {
        double here = i + 1 < c->n ? fmin(us, c->stretch[i].us) : us;
        work += here * c->stretch[i].rate;
        us -= here;
        if (us <= 0)
            break;
    }
    return work;
}

static double ghz_at(const struct course *c, double us)
{
    size_t i = 0;
    for (; i + 1 < c->n && us > c->stretch[i].us; i++)
        us -= c->stretch[i].us;
    return c->stretch[i].ghz;
}

/* Cost by its definition: time until the end less the same work at the last rate. */
static double lost(const struct course *c)
{
    double us = 0;
    for (size_t i = 0; i + 1 < c->n; i++)
        us += c->stretch[i].us;
    return us - work_at(c, us) / c->stretch[c->n - 1].rate;
}

static double numbers[6 * READINGS_MAX];

static struct work_curve empty_curve(void)
{
    memset(numbers, 0, sizeof numbers);
    return (struct work_curve){.time_us = numbers,
                               .work = numbers + READINGS_MAX,
                               .ghz = numbers + 2 * READINGS_MAX,
                               .scratch = numbers + 3 * (size_t)READINGS_MAX};
}

/* Readings at irregular times, some of another code before time 0 at before_ghz. */
static struct work_curve read_course(const struct course *c, double end_us, double period, double before_ghz,
                                     struct rng *r)
{
    struct work_curve w = empty_curve();
    double t = 0;
    for (int i = 0; i < 5; i++) {
        w.time_us[w.n] = (i - 5) * period;
        w.work[w.n] = (i - 5) * 777.0;
        w.ghz[w.n++] = before_ghz;
    }
    w.zero = w.n;
    while (t <= end_us) {
        w.time_us[w.n] = t;
        w.work[w.n] = work_at(c, t);
        w.ghz[w.n] = w.n == w.zero ? before_ghz : ghz_at(c, t);
        w.n++;
        t += period * (r ? rng_range(r, 0.5, 1.5) : 1);
    }
    w.ghz[0] = NAN;
    return w;
}

/* ---- down ---- */

static void down_is_the_first_execution_less_the_second(void **state)
{
    (void)state;
    /* 128fma to 512fma of G 3.2.2 at 16 cores: 40 us in all, see published-figures */
    struct course c = {{{20, 0.25 * 5600, 2.8}, {10, 0, 2.8}, {20, 0.5 * 4800, 2.4}, {10, 0, 2.4}, {0, 3800, 1.9}}, 5};
    struct work_curve w = read_course(&c, 400, 10, 2.8, NULL);
    struct overhead_down d;
    assert_null(overhead_down(&w, INFINITY, &d));
    assert_true(fabs(d.us - 40.0) < 1e-9);
    assert_true(fabs(d.drift_us) < 1e-9);
    assert_true(fabs(d.high_ghz - 2.8) < 1e-12 && fabs(d.low_ghz - 1.9) < 1e-12);
    assert_true(d.settled_us >= 60 && d.settled_us <= 70);
    assert_true(d.lost_us <= 0);
}

static void down_of_random_courses(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 1, 0);
    for (int k = 0; k < 500; k++) {
        struct course c = {.n = (size_t)rng_int(&r, 1, 6)};
        double all = 0;
        for (size_t i = 0; i < c.n; i++) {
            double us = rng_range(&r, 0.5, 40), ghz = rng_range(&r, 1, 4);
            c.stretch[i] = (struct stretch){us, rng_chance(&r, 0.3) && i + 1 < c.n ? 0 : 2000 * ghz * rng_unit(&r),
                                            ghz};
            all += us;
        }
        c.stretch[c.n - 1].rate = 1000 * rng_range(&r, 1, 8);
        double least = all + fabs(lost(&c)) + 20;
        struct work_curve w = read_course(&c, 2 * least + rng_range(&r, 0, 300), rng_range(&r, 0.5, 5), 3, &r);
        struct overhead_down d;
        assert_null(overhead_down(&w, INFINITY, &d));
        /* the crossing of the half lies between two readings at the settled rate: nothing is lost to interpolation */
        if (fabs(d.us - lost(&c)) > 1e-6 || fabs(d.drift_us) > 1e-6)
            fail_msg("course %d: %.9f us instead of %.9f, drift %.9f", k, d.us, lost(&c), d.drift_us);
    }
}

static void unsettled_courses_show(void **state)
{
    (void)state;
    struct course c = {{{700, 1000, 2}, {0, 4000, 2}}, 2};
    struct work_curve w = read_course(&c, 1000, 5, 3, NULL);
    struct overhead_down d;
    assert_null(overhead_down(&w, INFINITY, &d));
    /* 0.7 e6 instructions in 700 us and 1.2 e6 in 300: the quarters end after 475, 762.5, 881.25 and 1000 us */
    assert_true(fabs(d.drift_us) < 1e-9);
    c.stretch[0].us = 850;
    w = read_course(&c, 1000, 5, 3, NULL);
    assert_null(overhead_down(&w, INFINITY, &d));
    assert_true(d.drift_us > 30);
}

static void interruptions_count_after_the_change_only(void **state)
{
    (void)state;
    struct overhead_down d;
    /* the core stands still for 6 us: in the change, later in the first half, in the second */
    static const double at[] = {30, 120, 320};
    for (size_t i = 0; i < 3; i++) {
        struct course c = {{{40, 1000, 2}, {0, 4000, 2}}, 2};
        if (at[i] < 40)
            c = (struct course){{{at[i], 1000, 2}, {6, 0, 2}, {40 - at[i], 1000, 2}, {0, 4000, 2}}, 4};
        else
            c = (struct course){{{40, 1000, 2}, {at[i] - 40, 4000, 2}, {6, 0, 2}, {0, 4000, 2}}, 4};
        struct work_curve w = read_course(&c, 400, 10, 3, NULL);
        assert_null(overhead_down(&w, 60, &d));
        assert_true(i == 0 ? d.lost_us < 1e-9 : fabs(d.lost_us - 6) < 1e-9);
        assert_true(fabs(d.us - (30 + (i < 2 ? 6 : -6))) < 1e-9);
        assert_null(overhead_down(&w, INFINITY, &d));
        assert_true(d.lost_us <= 0);
    }
}

static void curves_without_anything_are_refused(void **state)
{
    (void)state;
    struct overhead_down d;
    struct overhead_up u;
    struct work_curve w = empty_curve();
    assert_non_null(overhead_down(&w, INFINITY, &d));
    assert_non_null(overhead_up(&w, 0.1, &u));
    struct course still = {{{0, 0, 2}}, 1};
    w = read_course(&still, 100, 1, 3, NULL);
    assert_non_null(overhead_down(&w, INFINITY, &d));
    assert_non_null(overhead_up(&w, 0.1, &u));
}

/* ---- up ---- */

/* Sections of equal work, as a loop on silicon has them: the reading comes when the work is done. */
static struct work_curve read_sections(const struct course *c, double end_us, double section, double offset)
{
    struct work_curve w = empty_curve();
    double t = 0, done = 0;
    for (double next = section * (1 - offset); t < end_us && w.n < READINGS_MAX; next += section) {
        w.time_us[w.n] = t;
        w.work[w.n++] = done;
        /* when `next` is done: stretch by stretch */
        double at = 0, work = 0;
        for (size_t i = 0; i < c->n; i++) {
            const struct stretch *s = &c->stretch[i];
            if (i + 1 == c->n || work + s->us * s->rate >= next) {
                at += (next - work) / s->rate;
                break;
            }
            at += s->us;
            work += s->us * s->rate;
        }
        t = at;
        done = next;
    }
    return w;
}

static void up_is_the_halt_in_the_mean(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 2, 0);
    for (int k = 0; k < 40; k++) {
        double slow = 2000 * rng_range(&r, 1, 3), fast = slow * rng_range(&r, 1.03, 1.6);
        double halt = rng_range(&r, 4, 20), wait = rng_range(&r, 100, 900), section = slow * rng_range(&r, 0.4, 1);
        struct course c = {{{wait, slow, 2}, {halt, 0, 2}, {0, fast, 2}}, 3};
        double sum = 0;
        enum { OFFSETS = 20 };
        for (int i = 0; i < OFFSETS; i++) {
            struct work_curve w = read_sections(&c, 1000, section, (i + 0.5) / OFFSETS);
            struct overhead_up u;
            assert_null(overhead_up(&w, (fast / slow - 1) / 2, &u));
            assert_true(fabs(u.gain - (fast / slow - 1)) < 1e-6);
            assert_true(u.at_us >= wait + halt && u.at_us <= wait + halt + section / fast + 1e-9);
            /* between the lower and the upper bound of 5.2.2 */
            assert_true(fabs(u.us - halt) <= section * (1 / slow - 1 / fast) / 2 + 1e-9);
            sum += u.us;
        }
        /* OFFSETS places of the halt in a section stand for all of them */
        if (fabs(sum / OFFSETS - halt) > section * (1 / slow - 1 / fast) * 0.06)
            fail_msg("case %d: %.4f us instead of %.4f", k, sum / OFFSETS, halt);
    }
}

/* Of the curve as much counts as there is: 4 to 20 sections behind the change, with a halt or without; what lies in
 * memory behind it does not. */
static void up_near_the_end_of_a_curve(void **state)
{
    (void)state;
    for (double halt = 0; halt < 10; halt += 9)
        for (size_t behind = 3; behind <= 20; behind++) {
            struct course c = {{{300, 4000, 2}, {halt, 0, 2}, {0, 5000, 2}}, 3};
            struct overhead_up u;
            struct work_curve w = read_sections(&c, 1000, 4000, 0.5);
            size_t change = 1;
            while (w.time_us[change] < 300 + halt)
                change++;
            w.n = change + 1 + behind;
            w.time_us[w.n] = 1e9;
            w.work[w.n] = w.work[w.n - 1] + 1;
            if (behind < 4) {
                assert_true(overhead_up(&w, 0.1, &u) || u.at_us < w.time_us[change]);
                continue;
            }
            assert_null(overhead_up(&w, 0.1, &u));
            assert_true(u.at_us == w.time_us[change]);
            assert_true(fabs(u.us - halt) < 0.11 && fabs(u.gain - 0.25) < 1e-9);
        }
}

/* Readings on a grid; one that is late comes right after the halt: the section was all at the low frequency. */
static struct work_curve read_grid(const struct course *c, double end_us, double period, double offset)
{
    struct work_curve w = empty_curve();
    double halt = c->stretch[0].us, over = halt + c->stretch[1].us;
    w.n = 1;
    for (double next = period * (1 - offset); next < end_us && w.n < READINGS_MAX; next += period) {
        double t = next > halt && next < over ? over : next;
        if (t <= w.time_us[w.n - 1])
            continue;
        w.time_us[w.n] = t;
        w.work[w.n++] = work_at(c, t);
    }
    return w;
}

static void up_of_sections_that_a_halt_cuts_short(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 3, 0);
    for (int k = 0; k < 20; k++) {
        double slow = 2000 * rng_range(&r, 1, 3), fast = slow * rng_range(&r, 1.05, 1.6);
        double halt = rng_range(&r, 4, 20);
        struct course c = {{{rng_range(&r, 100, 900), slow, 2}, {halt, 0, 2}, {0, fast, 2}}, 3};
        enum { OFFSETS = 20 };
        struct overhead_up u[OFFSETS];
        double us[OFFSETS];
        for (int i = 0; i < OFFSETS; i++) {
            struct work_curve w = read_grid(&c, 1000, 1, (i + 0.5) / OFFSETS);
            assert_null(overhead_up(&w, (fast / slow - 1) / 2, &u[i]));
        }
        overhead_up_choose(u, OFFSETS, us);
        for (int i = 0; i < OFFSETS; i++)
            if (fabs(us[i] - halt) > 1e-6)
                fail_msg("case %d: %.4f us instead of %.4f", k, us[i], halt);
    }
    /* where few are cut, that is chance: equal work */
    struct overhead_up few[3] = {{.us = 10, .low_us = 9, .late = true, .cut = true},
                                 {.us = 10, .low_us = 9, .late = true},
                                 {.us = 10, .low_us = 9, .late = true}};
    double us[3];
    overhead_up_choose(few, 3, us);
    assert_true(us[0] == 10 && us[1] == 10 && us[2] == 10);
}

/* Cores that change their frequency without standing still. */
static void up_without_a_halt_is_nothing(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 4, 0);
    double sum = 0;
    enum { CASES = 400 };
    for (int k = 0; k < CASES; k++) {
        double slow = 4000, fast = slow * rng_range(&r, 1.05, 1.5);
        struct course c = {{{rng_range(&r, 100, 900), slow, 2}, {0, fast, 2}}, 2};
        struct work_curve w = read_sections(&c, 1000, slow * rng_range(&r, 0.8, 1.2), 0.5);
        struct overhead_up u;
        for (size_t i = 1; i < w.n; i++) /* time stamps that are a little off */
            w.time_us[i] += rng_range(&r, -0.01, 0.01);
        assert_null(overhead_up(&w, (fast / slow - 1) / 2, &u));
        assert_true(fabs(u.us) < 0.3);
        sum += u.us;
    }
    if (fabs(sum / CASES) > 0.02)
        fail_msg("%.4f us in the mean", sum / CASES);
}

static void up_is_no_interruption(void **state)
{
    (void)state;
    struct overhead_up u;
    /* 30 us of something else before, 60 us after, 8 us of the change */
    struct course c = {
        {{300, 4000, 2}, {30, 0, 2}, {300, 4000, 2}, {8, 0, 2}, {200, 5000, 3}, {60, 0, 3}, {0, 5000, 3}}, 7};
    struct work_curve w = read_sections(&c, 1400, 4000, 0.5);
    assert_null(overhead_up(&w, 0.1, &u));
    assert_true(fabs(u.us - 8) < 0.11);
    assert_true(u.at_us > 637 && u.at_us < 641);
    /* it never comes */
    struct course low = {{{300, 4000, 2}, {30, 0, 2}, {0, 4000, 2}}, 3};
    w = read_sections(&low, 1000, 4000, 0.5);
    assert_non_null(overhead_up(&w, 0.1, &u));
    /* a fall is none */
    struct course fall = {{{300, 5000, 2}, {9, 0, 2}, {0, 4000, 2}}, 3};
    w = read_sections(&fall, 1000, 4000, 0.5);
    assert_non_null(overhead_up(&w, 0.1, &u));
}

/* ---- over the repetitions ---- */

static void spread_leaves_out_what_is_far(void **state)
{
    (void)state;
    double x[] = {43, 41, 42, 900, 44, 45, -300, 40, 46};
    struct overhead_spread s;
    size_t first;
    overhead_spread(x, 9, 100, &s, &first);
    assert_int_equal(s.n, 7);
    assert_int_equal(s.far, 2);
    assert_int_equal(first, 1);
    assert_true(fabs(x[first] - 40) < 1e-12);
    assert_true(fabs(s.mean.value - 43) < 1e-12 && fabs(s.median - 43) < 1e-12);
    /* Student's t with 6 degrees of freedom: 2.4469 */
    assert_true(fabs(s.mean.hi - (43 + 2.446912 * sqrt(28.0 / 6 / 7))) < 1e-5);
    assert_true(fabs(s.p5 - 40.3) < 1e-9 && fabs(s.p95 - 45.7) < 1e-9);
    overhead_spread(x, 0, 100, &s, &first);
    assert_true(s.n == 0 && isnan(s.mean.value) && isnan(s.median));
    double one[] = {7};
    overhead_spread(one, 1, 100, &s, &first);
    assert_true(s.n == 1 && fabs(s.mean.value - 7) < 1e-12 && isnan(s.mean.lo));
}

static void gains_are_no_costs(void **state)
{
    (void)state;
    struct estimate e = {-27.7, -31.2, -24.2};
    assert_false(overhead_is_cost(&e));
    e = (struct estimate){-5, -12, 2};
    assert_true(overhead_is_cost(&e) && e.hi == 2);
    e = (struct estimate){-5, -12, 0};
    assert_true(overhead_is_cost(&e) && e.lo == -12);
    e = (struct estimate){40, 39, 41};
    assert_true(overhead_is_cost(&e));
    /* as exact as the method is */
    e = (struct estimate){-0.02, -0.03, -0.01};
    assert_true(overhead_is_cost(&e) && e.hi == 0 && e.lo == -0.03);
    e = (struct estimate){-3, NAN, NAN};
    assert_false(overhead_is_cost(&e));
    e = (struct estimate){-0.1, NAN, NAN};
    assert_true(overhead_is_cost(&e));
    e = (struct estimate){NAN, NAN, NAN};
    assert_true(overhead_is_cost(&e));
}

static struct estimate exact(double value)
{
    return (struct estimate){value, value, value};
}

static void breakeven_as_published(void **state)
{
    (void)state;
    /* overheads that give the break-even times of G 5.2.3 by its equation 5.2, at the frequencies of its table 3.1 */
    static const struct {
        double high, low, overhead, breakeven;
    } g[] = {{3.7, 3.5, 47.4, 876}, {2.8, 1.9, 50.1, 156}, {3.7, 3.6, 39.6, 1464}, {2.8, 2.4, 44.7, 313}};
    for (size_t i = 0; i < 4; i++) {
        struct estimate down = exact(g[i].overhead - 10), up = exact(10), high = exact(g[i].high),
                        low = exact(g[i].low), e = overhead_breakeven(&down, &up, &high, &low);
        assert_true(fabs(e.value - g[i].breakeven) < 1.5);
        assert_true(fabs(e.hi - e.lo) < 1e-9);
        assert_true(isnan(overhead_breakeven(&down, &up, &low, &high).value));
        assert_true(isnan(overhead_breakeven(&down, &up, &low, &low).value));
        down = (struct estimate){-8, -30, 14};
        assert_true(isnan(overhead_breakeven(&down, &up, &high, &low).value));
        down = exact(40);
        up = (struct estimate){0, NAN, NAN}; /* of one repetition: how far off it is nobody knows */
        assert_true(isnan(overhead_breakeven(&down, &up, &high, &low).value));
        up.value = NAN;
        assert_true(isnan(overhead_breakeven(&down, &up, &high, &low).value));
    }
}

/* The limits against what happens to the value when the four are drawn anew. */
static void limits_of_breakeven_as_drawn(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    struct rng r;
    rng_init(&r, 3, 0);
    for (int k = 0; k < 10; k++) {
        double value[4] = {rng_range(&r, 20, 60), rng_range(&r, 5, 15), rng_range(&r, 2.6, 3.8), 0}, width[4];
        value[3] = value[2] * rng_range(&r, 0.7, 0.95);
        double step = value[2] - value[3];
        struct estimate e[4];
        for (int i = 0; i < 4; i++) {
            width[i] = i < 2 ? rng_range(&r, 0.1, 1) : rng_range(&r, 0.001, 0.02) * step;
            e[i] = (struct estimate){value[i], value[i] - width[i], value[i] + width[i]};
        }
        struct estimate b = overhead_breakeven(&e[0], &e[1], &e[2], &e[3]);
        int inside = 0;
        for (int i = 0; i < DRAWS; i++) {
            double x[4];
            for (int j = 0; j < 4; j++)
                x[j] = value[j] + width[j] / 1.959964 * rng_normal(&r);
            double drawn = x[2] / (x[2] - x[3]) * (x[0] + x[1]);
            inside += drawn >= b.lo && drawn <= b.hi;
        }
        if (abs(inside - DRAWS * 95 / 100) > DRAWS / 100)
            fail_msg("case %d: %.1f %% of the draws lie within the limits", k, 100.0 * inside / DRAWS);
    }
}

static void levels_differ_beyond_their_limits(void **state)
{
    (void)state;
    struct estimate high = exact(3);
    static const struct {
        struct estimate step;
        bool differ;
    } cases[] = {{{0.1, 0.09, 0.11}, true},  {{0.1, -0.02, 0.22}, false}, {{0.02, 0.02, 0.02}, false},
                 {{0.04, 0.04, 0.04}, true}, {{0, -0.001, 0.001}, false}, {{-0.1, -0.11, -0.09}, false},
                 {{NAN, NAN, NAN}, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(overhead_levels_differ(&high, &cases[i].step) == cases[i].differ);
}

/* ---- curves from recordings ---- */

static void curve_with_a_cycle_counter(void **state)
{
    (void)state;
    uint64_t words[] = {1000, 0, 0, /* */ 3000, 5000, 3000, /* */ 5000, 9000, 7000, /* */ 7000, 9500, COUNTER_MISSING};
    const struct counter_spec counters[] = {{COUNTER_CYCLES, 0}};
    struct recording rec = {.n = 4, .stride = 3, .words = words, .zero_reading = 1};
    struct work_curve c = empty_curve();
    assert_true(overhead_curve(&rec, counters, 1, 2e9, 0, &c));
    assert_int_equal(c.n, 4);
    assert_int_equal(c.zero, 1);
    assert_true(fabs(c.time_us[0] + 1) < 1e-12 && fabs(c.time_us[1]) < 1e-12 && fabs(c.time_us[3] - 2) < 1e-12);
    assert_true(fabs(c.work[0] + 5000) < 1e-9 && fabs(c.work[3] - 4500) < 1e-9);
    assert_true(isnan(c.ghz[0]) && fabs(c.ghz[1] - 3) < 1e-12 && fabs(c.ghz[2] - 4) < 1e-12 && isnan(c.ghz[3]));
    rec.zero_reading = 4;
    assert_false(overhead_curve(&rec, counters, 1, 2e9, 0, &c));
}

/* The chain is no time of the code, but a halt in it is. */
static void curve_with_a_chain(void **state)
{
    (void)state;
    enum { N = 12, STOPPED_AT = 6 };
    uint64_t words[N * 4], tsc = 5000, ticks = 100, cycles = 0;
    const struct counter_spec counters[] = {{COUNTER_CHAIN_TICKS, 0}, {COUNTER_CHAIN_CYCLES, 0}};
    struct recording rec = {.n = N, .stride = 4, .words = words, .zero_reading = 0};
    for (size_t i = 0; i < N; i++) {
        words[4 * i] = tsc;
        words[4 * i + 1] = i * 4000;
        words[4 * i + 2] = ticks;
        words[4 * i + 3] = cycles;
        uint64_t chain = i + 1 == STOPPED_AT ? 20000 + 100 : 100;
        tsc += 2000 + chain;
        ticks += chain;
        cycles += 150 * CHAIN_CYCLE_UNIT;
    }
    struct work_curve c = empty_curve();
    assert_true(overhead_curve(&rec, counters, 2, 2e9, 0, &c));
    for (size_t i = 1; i < N; i++) {
        double us = c.time_us[i] - c.time_us[i - 1];
        assert_true(fabs(us - (i == STOPPED_AT ? 11 : 1)) < 1e-9);
        assert_true(fabs(c.ghz[i] - 3) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(down_is_the_first_execution_less_the_second),
        cmocka_unit_test(down_of_random_courses),
        cmocka_unit_test(unsettled_courses_show),
        cmocka_unit_test(interruptions_count_after_the_change_only),
        cmocka_unit_test(curves_without_anything_are_refused),
        cmocka_unit_test(up_is_the_halt_in_the_mean),
        cmocka_unit_test(up_without_a_halt_is_nothing),
        cmocka_unit_test(up_near_the_end_of_a_curve),
        cmocka_unit_test(up_of_sections_that_a_halt_cuts_short),
        cmocka_unit_test(gains_are_no_costs),
        cmocka_unit_test(up_is_no_interruption),
        cmocka_unit_test(spread_leaves_out_what_is_far),
        cmocka_unit_test(breakeven_as_published),
        cmocka_unit_test(limits_of_breakeven_as_drawn),
        cmocka_unit_test(levels_differ_beyond_their_limits),
        cmocka_unit_test(curve_with_a_cycle_counter),
        cmocka_unit_test(curve_with_a_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
