/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where one repetition goes from one piece to the next (private to analysis/). */
#pragma once

#include "analysis/phases/segments/segmentation.h"

/*
 * Where a halt in gap g begins and how long it lasts: cycle accounting with the speeds of the pieces before and after.
 * known: when it begins if that is known, else NaN.
 */
void edges_place_halt(const struct runs *r, const struct gap *g, const struct piece *before, const struct piece *after,
                      double known, double *begin, double *length);

/*
 * By how much channel c of a repetition changes at time t, between lo and hi: the mean of up to `side` samples after
 * less that of as many before, relative for frequency and IPC. NaN where there are none.
 */
enum { NEAR_SIDE = 20 };
double edges_own_step(const struct runs *r, size_t run, int c, double lo, double t, double hi, size_t side);

/* Where repetition `run` goes from the state `before` to `after` between the times lo and hi, near `guess`; NaN if it
 * does not. `search`: anywhere in between, not only near the guess. */
double edges_place(const struct runs *r, size_t run, const struct piece *before, const struct piece *after,
                   const struct edge_kind *kind, double lo, double hi, double guess, bool search);
