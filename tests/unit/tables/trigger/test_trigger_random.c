/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Grades, courses, pilots and throttling of bursts drawn at random, of few distinct values, so that equal ones and
 * readings at limits come about. Held in tests/golden/trigger.random; after an intended change `make golden` rewrites
 * it.
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

#include "tables/trigger/trigger.h"
#include "tests/support/golden.h"
#include "tests/support/random_numbers.h"

enum { SIGHTS_MOST = 12, RUNS_MOST = 6, GRADES = 150, BURSTS = 150 };

/* ---- grades ---- */

static const double some_ghz[] = {2.8, 2.8, 2.79, 2.772, 2.4, 2.4, 2.41, 1.9, 1.91, 1.4, 3.4};

static struct sight draw_sight(struct rng *r, bool counted)
{
    const double levels[] = {0, 1, 2, 0.49, 0.5, 1.5, 1.49};
    return (struct sight){rng_one_of(r, some_ghz, 11), rng_one_of(r, (const double[]){1, 2, 4}, 3),
                          counted ? rng_one_of(r, levels, rng_chance(r, 0.7) ? 3 : 7) : NAN, 3};
}

static void write_grades(FILE *out, struct rng *r, unsigned number)
{
    struct sight s[SIGHTS_MOST];
    struct trigger_grades g;
    const size_t n = (size_t)rng_int(r, 0, SIGHTS_MOST);
    const bool counted = rng_chance(r, 0.5);
    for (size_t i = 0; i < n; i++)
        s[i] = rng_chance(r, 0.4) && i ? s[0] : draw_sight(r, counted && (i > 0 || rng_chance(r, 0.9)));
    assert_int_equal(trigger_grade(s, n, &g), 0);
    fprintf(out, "grades %u: %zu%s", number, g.n, g.counted ? ", counted" : "");
    for (size_t k = 0; k < g.n; k++)
        golden_put(out, "GHz", g.freq[k]);
    fprintf(out, " of");
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %d", s[i].grade);
    fprintf(out, "; agreed %d; reach", trigger_agreed(s, n));
    for (int grade = 0; grade <= TRIGGER_GRADES_MAX; grade++)
        golden_put(out, "", trigger_share(s, n, grade));
    for (int i = 0; i < 3; i++) {
        const struct sight one = draw_sight(r, g.counted);
        for (int grade = 1; grade < (int)g.n; grade++)
            fprintf(out, " %d", isnan(g.freq[grade]) ? -1 : trigger_reaches(&one, &g, grade));
    }
    const struct sight a = draw_sight(r, counted), b = draw_sight(r, rng_chance(r, 0.8) == counted);
    fprintf(out, "; %s\n", trigger_same_level(&a, &b) ? "the same" : "others");
}

/* What a row says of two frequencies with limits, or of grades. */
static void write_asks(FILE *out, struct rng *r)
{
    const double ghz[] = {2.8, 2.79, 2.786, 2.772, 2.4}, half[] = {0, 0.005, 0.014, 0.03};
    const struct trigger_grades g = {.counted = rng_chance(r, 0.4)};
    struct trigger_row row = {.grade = rng_int(r, 0, 3), .plain_grade = rng_int(r, 0, 2)};
    const double freq = rng_one_of(r, ghz, 5), plain = rng_one_of(r, ghz, 5);
    row.throttle.throttled = rng_chance(r, 0.5);
    row.freq = estimate_around(freq, rng_one_of(r, half, 4));
    row.plain = estimate_around(plain, rng_one_of(r, half, 4));
    const struct estimate lower = trigger_lower(&row.freq, &row.plain);
    fprintf(out, "%s", trigger_bench_asks(&g, &row));
    golden_put_estimate(out, "lower by", &lower);
    fprintf(out, "\n");
}

/* ---- recordings of bursts ---- */

/* A part of a recording: samples of one frequency, rate and level. */
struct part {
    int samples;
    double us, ghz, ipc, level;
};

static struct part draw_part(struct rng *r, double ghz, double ipc)
{
    struct part p = {rng_int(r, 1, 12), 2, rng_chance(r, 0.3) ? rng_one_of(r, some_ghz, 11) : ghz, ipc, ghz < 2.6};
    if (rng_chance(r, 0.4))
        p.ipc = ipc * rng_one_of(r, (const double[]){0.25, 0.5, 0.84, 0.86, 0.94, 0.96, 1.1}, 7);
    if (rng_chance(r, 0.1))
        p = (struct part){1, rng_one_of(r, (const double[]){20, 10, 59, 61}, 4), ghz, ipc, p.level};
    if (rng_chance(r, 0.1))
        p.level = rng_one_of(r, (const double[]){0.4, 0.6, 1.5, 2}, 4);
    return p;
}

static void add_part(struct rng *r, struct trace *t, unsigned run, const struct part *p, double noise, double *time)
{
    for (int i = 0; i < p->samples; i++) {
        *time += p->us;
        assert_int_equal(trace_append(t, run, *time), 0);
        t->channel[TRACE_FREQ][t->n - 1] = (float)(p->ghz * (1 + noise * rng_int(r, -2, 2)));
        t->channel[TRACE_IPC][t->n - 1] = (float)(p->ipc * (1 + noise * rng_int(r, -2, 2)));
        if (t->channel[TRACE_LVL1]) {
            t->channel[TRACE_LVL1][t->n - 1] = (float)(p->level <= 1 ? p->level : 2 - p->level);
            t->channel[TRACE_LVL2][t->n - 1] = (float)(p->level <= 1 ? 0 : p->level - 1);
        }
    }
}

/* The burst begins at begin_us and is over at 0; the repetitions have most of it in common. */
static void draw_bursts(struct rng *r, struct trace *t, unsigned runs, double begin_us, double noise)
{
    struct part parts[8];
    const int n = rng_int(r, 1, 4), behind = rng_int(r, 0, 3);
    for (int k = 0; k < 8; k++)
        parts[k] = draw_part(r, k < n || (k < n + behind && rng_chance(r, 0.8)) ? 2.4 : 2.8, k < n ? 2 : 4);
    for (unsigned run = 0; run < runs; run++) {
        double time = begin_us;
        struct part own = {0};
        assert_int_equal(trace_append(t, run, time), 0);
        t->channel[TRACE_FREQ][t->n - 1] = t->channel[TRACE_IPC][t->n - 1] = 1;
        for (int k = 0; k < n && time < 0; k++)
            add_part(r, t, run, rng_chance(r, 0.1) ? &own : &parts[k], noise, &time);
        own = (struct part){(int)(-time / 2), 2, 2.4, 2, 1};
        add_part(r, t, run, &own, noise, &time);
        for (int k = n; k < n + behind; k++)
            add_part(r, t, run, &parts[k], noise, &time);
        own = (struct part){rng_int(r, 5, 30), 2, 2.8, 4, 0};
        add_part(r, t, run, &own, noise, &time);
    }
}

static void write_courses(FILE *out, struct trigger_course *c, const struct trace *t, unsigned runs, double begin_us,
                          double bin_us)
{
    const struct sight plain = {2.8, 4, t->channel[TRACE_LVL1] ? 0 : NAN, 0};
    struct trigger_pilot p;
    size_t n = 0;
    for (unsigned run = 0; run < runs; run++) {
        const char *why = trigger_course(t, sights_span(t, run), begin_us, bin_us, &plain, &c[n]);
        fprintf(out, "  %s", why ? why : "");
        if (!why) {
            golden_put(out, "GHz", c[n].steady.freq);
            golden_put(out, "ipc", c[n].steady.ipc);
            golden_put(out, "level", c[n].steady.level);
            golden_put(out, "bins", c[n].bin_us);
            golden_put(out, "settled", c[n].settled_us);
            golden_put(out, "after", c[n].after_us);
            golden_put(out, "back", c[n].back_us);
            n++;
        }
        fprintf(out, "\n");
    }
    if (n == 0)
        return;
    trigger_pilot(c, n, &plain, &p);
    fprintf(out, "  of %zu:%s%s%s", n, p.counted ? " counted" : "", p.lower ? " lower" : "", p.stays ? " stays" : "");
    golden_put(out, "GHz", p.steady.freq);
    golden_put(out, "ipc", p.steady.ipc);
    golden_put(out, "level", p.steady.level);
    golden_put(out, "bins", p.bin_us);
    golden_put(out, "settled", p.settled_us);
    golden_put(out, "after", p.after_us);
    golden_put(out, "back", p.back_us);
    golden_put(out, "usually", p.back_usual_us);
    golden_put(out, "most", p.back_most_us);
    fprintf(out, "\n");
}

static void write_bursts(FILE *out, struct rng *r, unsigned number)
{
    const unsigned runs = (unsigned)rng_int(r, 1, RUNS_MOST);
    const double begin_us = -rng_one_of(r, (const double[]){40, 160, 400}, 3);
    const double noise = rng_one_of(r, (const double[]){0, 0, 0.002, 0.02}, 4);
    struct trigger_course c[RUNS_MOST];
    struct sights_span span[RUNS_MOST];
    double begin[RUNS_MOST];
    struct trigger_throttle found;
    struct trace t;
    int bad = 0;
    trace_init(&t);
    bad |= trace_add_run(&t) | trace_add_channel(&t, TRACE_FREQ) | trace_add_channel(&t, TRACE_IPC);
    if (rng_chance(r, 0.4))
        bad |= trace_add_channel(&t, TRACE_LVL1) | trace_add_channel(&t, TRACE_LVL2);
    assert_int_equal(bad, 0);
    draw_bursts(r, &t, runs, begin_us, noise);
    for (unsigned run = 0; run < runs; run++) {
        span[run] = sights_span(&t, run);
        span[run].first++; /* the first tells when the burst begins, and no more */
        begin[run] = begin_us + (rng_chance(r, 0.2) ? 1 : 0);
    }
    assert_int_equal(trigger_throttled(&t, span, begin, runs, rng_one_of(r, (const double[]){2, 2, 3}, 3), &found), 0);
    fprintf(out, "bursts %u, %s:", number, found.throttled ? "throttled" : "not throttled");
    golden_put(out, "to", found.ratio);
    golden_put(out, "after", found.onset_us);
    golden_put(out, "of", found.full_ipc);
    golden_put_estimate(out, "instructions", &found.instructions);
    golden_put(out, "below", found.below);
    golden_put(out, "for", found.lasts_us);
    fprintf(out, "\n");
    write_courses(out, c, &t, runs, begin_us, rng_one_of(r, (const double[]){4, 8, 10}, 3));
    trace_free(&t);
}

static void what_random_bursts_tell_stays(void **state)
{
    struct golden g;
    struct rng r;
    FILE *out = golden_begin(&g);
    (void)state;
    rng_init(&r, 7, 0);
    for (unsigned i = 1; i <= GRADES; i++)
        write_grades(out, &r, i);
    for (unsigned i = 1; i <= GRADES; i++)
        write_asks(out, &r);
    for (unsigned i = 1; i <= BURSTS; i++)
        write_bursts(out, &r, i);
    golden_expect(&g, "trigger", "random", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_random_bursts_tell_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
