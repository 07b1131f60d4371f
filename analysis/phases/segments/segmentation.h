/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The segmentation of a recording: its pieces (stretches of one state, and halts) and, for every repetition, where one
 * ends and the next begins (private to analysis/).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/phases/repetitions/runs.h"
#include "analysis/phases/segments/change_points.h"

struct piece {
    bool halt;
    bool wanders;                 /* its frequency changes, in each repetition at another time */
    double value[TRACE_CHANNELS]; /* means without outliers, in the channel's unit; NaN = not seen */
    size_t samples;               /* of the series it was found in */
    size_t ramp_runs;             /* of a ramp: the repetitions that show it; 0: it is none */
    double spread_ghz;            /* its frequency moves within so much: by steps too small to be reported */
    double sooner_us;             /* by how much it may end sooner than it seems: a ramp may begin there */
};

/* How one piece differs from the one before; equal edges of different repetitions are the same event. */
struct edge_kind {
    signed char change[TRACE_CHANNELS]; /* -1, 0, 1 */
    bool forced;                        /* time 0: another kernel, so IPC says nothing */
};

struct segmentation {
    size_t n_pieces;
    struct piece *piece;
    struct edge_kind *edge; /* n_pieces - 1 */
    size_t n_runs;
    size_t *run;                  /* indexes into runs.run */
    double *time;                 /* [edge * n_runs + k], us; NaN = repetition k does not show it */
    double begin, end;            /* of the recording, us */
    double switch_us;             /* time of the switch of kernels, NaN = none */
    double noise[TRACE_CHANNELS]; /* of one of the samples that it was found in, as in struct runs */
    bool *other_ghz; /* [n_runs]: ran at another frequency than most from beginning to end; NULL: none is known to */
};

/* What counts as a step of channel c. */
const struct change_rule *segmentation_rule(int c);
/* From one value of channel c to another: a logarithm where its rule is one, else a difference. */
double segmentation_difference(int c, double from, double to);
/* Which way channel c steps from one piece to the next: -1, 0 (too little, or not measured), 1. */
signed char segmentation_change(int c, const struct piece *a, const struct piece *b);
/* Whether anything changes at such an edge, or another kernel begins. */
bool segmentation_differs(const struct edge_kind *k);
/* Whether nothing but channels c and d changes there, if these do. */
bool segmentation_changes_only(const struct edge_kind *k, int c, int d);

/*
 * segmentation_find.c: the segmentation of the repetitions run[0..n) taken together (n >= 1): the medians over
 * repetitions on a common time line find the pieces, each repetition places its own edges. Repetitions that pause for
 * long have no useful time line in common: *o is then empty. Returns 0, or -1: out of memory.
 */
int segmentation_find(const struct runs *r, const size_t *run, size_t n, double switch_us, struct segmentation *o);
void segmentation_free(struct segmentation *o);

/*
 * True if `other` shows the events of `model` in the same order, but for those that it has no channel to see.
 * edge[e] receives the edge of `other` that is edge e of the model, SIZE_MAX where it cannot see it (NULL: not wanted).
 */
bool segmentation_fits(const struct segmentation *model, const struct segmentation *other, size_t *edge);

/* Judges again, by the values of the pieces, what changes at halts and at the switch of kernels, edges in any case, and
 * beside what changes at others for certain. */
void segmentation_judge_seen(struct segmentation *o);

/* The step of channel c across edge e (across the halt, if one ends there): relative for frequency and IPC. *sigma is
 * its standard error (of medians: sqrt(pi/2) of that of means). */
double segmentation_step(const struct segmentation *o, size_t e, int c, double *sigma);

/* Mean over the repetitions that show edge e of when it is, us; NaN = none does. */
double segmentation_edge_time(const struct segmentation *o, size_t e);

/* When repetition k begins and ends piece p, us, and how long it is; NaN = it does not show that. */
double segmentation_begin_in(const struct segmentation *o, size_t p, size_t k);
double segmentation_end_in(const struct segmentation *o, size_t p, size_t k);
double segmentation_length_in(const struct segmentation *o, size_t p, size_t k);
/* The lengths of piece p in the repetitions that show both of its ends, into x[o->n_runs]. Returns how many. */
size_t segmentation_lengths(const struct segmentation *o, size_t p, double *x);

/* How many repetitions show edge e. */
size_t segmentation_seen_by(const struct segmentation *o, size_t e);

/* Forgets edge e and joins the pieces on its sides. */
void segmentation_forget_edge(struct segmentation *o, size_t e);
/* Forgets the halt that is piece p: its two edges become one, in the middle. */
void segmentation_forget_halt(struct segmentation *o, size_t p);

/*
 * Where a halt in gap g begins and how long it lasts: cycle accounting with the speeds of the pieces before and after.
 * known: when it begins if that is known, else NaN.
 */
void segmentation_place_halt(const struct runs *r, const struct gap *g, const struct piece *before,
                             const struct piece *after, double known, double *begin, double *length);

/*
 * By how much channel c of a repetition changes at time t, between lo and hi: the mean of up to `side` samples after
 * less that of as many before, relative for frequency and IPC. NaN where there are none.
 */
enum { NEAR_SIDE = 20 };
double segmentation_own_step(const struct runs *r, size_t run, int c, double lo, double t, double hi, size_t side);

/* Where repetition `run` goes from the state `before` to `after` between the times lo and hi, near `guess`; NaN if it
 * does not. `search`: anywhere in between, not only near the guess. */
double segmentation_place(const struct runs *r, size_t run, const struct piece *before, const struct piece *after,
                          const struct edge_kind *kind, double lo, double hi, double guess, bool search);
