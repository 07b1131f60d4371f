/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What becomes of segmentations at random, of values that tie and lie at limits more often than any recording's do:
 * kinds, times, levels, transitions, and what is asked of a segmentation, are those of tests/golden/. After an intended
 * change, `make golden` rewrites these.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/phases/findings.h"
#include "analysis/phases/ramps/ramp_fit.h"
#include "analysis/phases/segments/segmentation.h"
#include "tests/support/golden.h"
#include "tests/support/one_of.h"
#include "tests/support/plain_traces.h"
#include "tests/support/sanitized.h"
#include "tests/support/tally.h"

enum { TRACES = 150, OF_EACH = 40, PIECES_MAX = 8 };

/* Of all segmentations of a trace. */
struct sums {
    struct tally asked, less, edges, halts, kinds, times, levels, changes;
};

static void draw_piece(struct rng *r, bool halt, struct piece *p)
{
    *p = (struct piece){.halt = halt,
                        .samples = (size_t)ONE_OF(r, 0, 1, 4, 10, 10, 40),
                        .wanders = !halt && rng_chance(r, 0.05),
                        .spread_ghz = ONE_OF(r, 0, 0, 0, 0.0078125),
                        .sooner_us = ONE_OF(r, 0, 0, 0, 1)};
    for (int c = 0; c < TRACE_CHANNELS; c++)
        p->value[c] = halt || rng_chance(r, 0.1) ? NAN
                      : c == TRACE_FREQ          ? ONE_OF(r, 3, 3, 2.5, 2.9921875, 2.984375, 3.0078125)
                      : c == TRACE_IPC           ? ONE_OF(r, 1, 1, 2, 0.5, 0.9375, 0.9453125, 0.03125)
                      : c == TRACE_VOLTS         ? ONE_OF(r, 1, 0.998046875, 0.9985)
                                                 : ONE_OF(r, 0, 0.5, 0.40625, 1);
}

/* The edges of one repetition: in order, some of them not shown. */
static void draw_times(struct rng *r, struct segmentation *o, size_t k, double period)
{
    double at = o->begin;
    for (size_t e = 0; e + 1 < o->n_pieces; e++) {
        at += (o->piece[e].halt ? ONE_OF(r, 1, 1, 1.5, 2, 8) : ONE_OF(r, 2, 4, 4, 4, 4, 5, 8)) * period;
        o->time[e * o->n_runs + k] = o->edge[e].forced ? 0 : rng_chance(r, 0.08) ? NAN : at;
        at = o->edge[e].forced ? 0 : at;
    }
}

/* To be freed with segmentation_free(). */
static void draw_segmentation(struct rng *r, const struct runs *runs, struct segmentation *o)
{
    const struct run_span *first = &runs->run[0];
    *o = (struct segmentation){.n_pieces = (size_t)rng_int(r, 1, PIECES_MAX),
                               .n_runs = runs->n,
                               .begin = runs->trace->time_us[first->first] - runs->period,
                               .end = runs->trace->time_us[first->first + first->n - 1],
                               .switch_us = NAN};
    o->n_pieces++; /* one behind the last, which nobody may look at */
    o->piece = calloc(o->n_pieces, sizeof *o->piece);
    o->edge = calloc(o->n_pieces, sizeof *o->edge);
    o->run = calloc(o->n_runs + 1, sizeof *o->run);
    o->time = calloc(o->n_pieces * o->n_runs, sizeof *o->time);
    assert_true(o->piece && o->edge && o->run && o->time);
    for (size_t p = 0; p < o->n_pieces; p++)
        draw_piece(r, p && p + 2 < o->n_pieces && !o->piece[p - 1].halt && rng_chance(r, 0.25), &o->piece[p]);
    for (size_t e = 0; e + 1 < o->n_pieces; e++) {
        bool forced = isnan(o->switch_us) && !o->piece[e].halt && rng_chance(r, 0.25);
        o->edge[e].forced = forced;
        o->switch_us = forced ? 0 : o->switch_us;
        for (int c = 0; c < TRACE_CHANNELS; c++)
            o->edge[e].change[c] = rng_chance(r, 0.15)        ? (signed char)rng_int(r, -1, 1)
                                   : forced && c == TRACE_IPC ? 0
                                                              : segmentation_change(c, &o->piece[e], &o->piece[e + 1]);
    }
    for (int c = 0; c < TRACE_CHANNELS; c++)
        o->noise[c] = ONE_OF(r, 0, 0.0009765625, 0.0078125, 0.03125);
    for (size_t k = 0; k < o->n_runs; k++) {
        o->run[k] = k;
        draw_times(r, o, k, runs->period);
    }
    o->n_pieces--;
}

/* What is asked of one, and of two. */
static void add_asked(struct tally *sum, const struct segmentation *o, const struct segmentation *other)
{
    double x[64], sigma;
    size_t edge[PIECES_MAX] = {0};
    for (size_t p = 0; p < o->n_pieces; p++) {
        size_t m = segmentation_lengths(o, p, x);
        for (size_t i = 0; i < m; i++)
            tally_add(sum, x[i]);
    }
    for (size_t e = 0; e + 1 < o->n_pieces; e++) {
        tally_add(sum, segmentation_edge_time(o, e));
        tally_add(sum, (double)segmentation_seen_by(o, e) + (segmentation_differs(&o->edge[e]) ? 0.5 : 0));
        for (int c = 0; c < TRACE_CHANNELS; c++) {
            tally_add(sum, segmentation_step(o, e, c, &sigma));
            tally_add(sum, sigma);
            tally_add(sum, segmentation_changes_only(&o->edge[e], c, TRACE_CHANNELS - 1 - c));
        }
    }
    tally_add(sum, segmentation_fits(o, o, edge) + 2 * segmentation_fits(o, other, edge));
    for (size_t e = 0; e + 1 < o->n_pieces; e++)
        tally_add(sum, edge[e] == SIZE_MAX ? -1 : (double)edge[e]);
}

/* One that differs from the other by little: whether it fits is noise's choice, a missing channel's, or neither's. */
static void draw_alike(struct rng *r, struct segmentation *o)
{
    for (size_t e = 0; e + 1 < o->n_pieces; e++)
        for (int c = 0; c < TRACE_CHANNELS; c++)
            if (rng_chance(r, 0.03))
                o->edge[e].change[c] = 0;
    for (int c = 0; c < TRACE_CHANNELS; c++)
        for (size_t p = 0; p < o->n_pieces && rng_chance(r, 0.2); p++)
            o->piece[p].value[c] = NAN;
    if (rng_chance(r, 0.2) && o->n_pieces > 1)
        segmentation_forget_edge(o, (size_t)rng_int(r, 0, (int)o->n_pieces - 2));
}

static void add_forgotten(struct tally *sum, const struct segmentation *o)
{
    for (size_t p = 0; p < o->n_pieces; p++) {
        struct segmentation copy;
        assert_int_equal(segmentation_copy(o, &copy), 0);
        if (copy.piece[p].halt)
            segmentation_forget_halt(&copy, p);
        else if (p + 1 < copy.n_pieces)
            segmentation_forget_edge(&copy, p);
        segmentation_judge_seen(&copy);
        tally_segmentation(sum, &copy);
        segmentation_free(&copy);
    }
}

/* Edges that are placed between pieces of any values. */
static void add_edges(struct sums *sums, struct rng *r, const struct runs *runs, const struct segmentation *o)
{
    double begin, length;
    for (size_t e = 0; e + 1 < o->n_pieces; e++)
        for (size_t k = 0; k < o->n_runs && k < 4; k++) {
            double lo = e ? o->time[(e - 1) * o->n_runs + k] : o->begin, at = o->time[e * o->n_runs + k];
            double hi = e + 2 < o->n_pieces ? o->time[(e + 1) * o->n_runs + k] : o->end;
            lo = isnan(lo) ? o->begin : lo;
            hi = isnan(hi) ? o->end : hi;
            at = isnan(at) ? lo : at;
            for (int search = 0; search < 2; search++)
                tally_add(&sums->edges,
                          edges_place(runs, k, &o->piece[e], &o->piece[e + 1], &o->edge[e], lo, hi, at, search));
            for (int c = 0; c < TRACE_CHANNELS; c++)
                tally_add(&sums->edges, edges_own_step(runs, k, c, lo, at, hi, (size_t)rng_int(r, 1, 4)));
        }
    for (size_t i = 0; i < runs->n_gaps && o->n_pieces > 1; i++)
        for (int known = 0; known < 2; known++) {
            const struct gap *g = &runs->gap[i];
            const struct piece *a = &o->piece[i % (o->n_pieces - 1)];
            edges_place_halt(runs, g, a, a + 1, known ? g->begin + 0.5 : NAN, &begin, &length);
            tally_add(&sums->halts, begin);
            tally_add(&sums->halts, length);
        }
}

/* Parts in the place of some pieces. */
static void add_spliced(struct sums *sums, struct rng *r, const struct segmentation *o)
{
    struct segmentation copy;
    struct phases p = {.runs = o->n_runs};
    size_t from = (size_t)rng_int(r, 0, (int)o->n_pieces - 1), to = (size_t)rng_int(r, (int)from, (int)o->n_pieces - 1);
    size_t n = (size_t)rng_int(r, 1, RAMP_PARTS);
    struct ramp_part part[RAMP_PARTS];
    double *own = calloc(RAMP_PARTS * o->n_runs + 1, sizeof *own);
    assert_non_null(own);
    assert_int_equal(segmentation_copy(o, &copy) | kinds_find(&copy, &p), 0);
    if (copy.n_pieces == o->n_pieces) {
        for (size_t i = 0; i < n; i++) {
            part[i] = (struct ramp_part){.begin = (double)i,
                                         .piece = ramp_joined(o, from, to, ONE_OF(r, 2.5, 2.75, 3))};
            part[i].phase = ramp_phase(&part[i].piece, PHASE_RAMP);
            for (size_t k = 0; k < o->n_runs; k++)
                own[i * o->n_runs + k] = 3 * (double)i + (double)k;
        }
        assert_int_equal(ramp_splice(&copy, &p, from, to, part, n, rng_chance(r, 0.5) ? own : NULL), 0);
        tally_segmentation(&sums->less, &copy);
        tally_phases(&sums->less, &p);
    }
    free(own);
    segmentation_free(&copy);
    phases_free(&p);
}

static void add_phases_of(struct sums *sums, const struct runs *runs, struct segmentation *o)
{
    struct phases p = {.runs = runs->n, .runs_used = runs->n};
    bool again = true, marked;
    assert_int_equal(kinds_find(o, &p), 0);
    tally_segmentation(&sums->kinds, o);
    tally_phases(&sums->kinds, &p);
    assert_int_equal(times_find(runs, o, &p), 0);
    tally_phases(&sums->times, &p);
    for (size_t e = 0; e + 1 < o->n_pieces; e++) {
        struct estimate all = times_between(runs, o, 0, e, NULL, NAN),
                        rest = times_between(runs, o, e, o->n_pieces - 1, NULL, 3);
        tally_add(&sums->times, times_edge_sigma(runs, o, e));
        tally_estimate(&sums->times, &all);
        tally_estimate(&sums->times, &rest);
    }
    assert_int_equal(slow_runs_mark(runs, o, &p, &marked), 0);
    for (again = true; again;)
        assert_int_equal(times_find(runs, o, &p) | levels_find(o, &p, &again), 0);
    levels_hold(o, &p);
    tally_segmentation(&sums->levels, o);
    tally_phases(&sums->levels, &p);
    assert_int_equal(slow_runs_find(runs, o, &p) | transitions_find(runs, o, &p), 0);
    tally_phases(&sums->changes, &p);
    phases_free(&p);
}

static void segmentations_at_random(void **state)
{
    (void)state;
    struct golden g;
    struct rng r;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    rng_init(&r, 1, 510);
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        struct trace t;
        struct runs runs;
        struct sums sums = {.asked = {0}};
        assert_int_equal(plain_trace(seed + 10000, &t), 0);
        assert_int_equal(runs_prepare(&t, &runs), 0);
        for (int i = 0; i < OF_EACH && runs.n; i++) {
            struct segmentation o, other;
            draw_segmentation(&r, &runs, &o);
            assert_int_equal(segmentation_copy(&o, &other), 0);
            draw_alike(&r, &other);
            add_asked(&sums.asked, &o, &other);
            add_forgotten(&sums.less, &o);
            add_edges(&sums, &r, &runs, &o);
            add_spliced(&sums, &r, &o);
            add_phases_of(&sums, &runs, &o);
            segmentation_free(&o);
            segmentation_free(&other);
        }
        fprintf(out, "%ju", (uintmax_t)seed);
        tally_write(out, "asked", &sums.asked);
        tally_write(out, "less", &sums.less);
        tally_write(out, "edges", &sums.edges);
        tally_write(out, "halts", &sums.halts);
        tally_write(out, "kinds", &sums.kinds);
        tally_write(out, "times", &sums.times);
        tally_write(out, "levels", &sums.levels);
        tally_write(out, "changes", &sums.changes);
        fputc('\n', out);
        runs_free(&runs);
        trace_free(&t);
    }
    golden_expect(&g, "phases", "pieces.txt", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(segmentations_at_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
