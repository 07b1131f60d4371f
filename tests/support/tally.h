/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Many numbers as a few, for golden lines of what is too much to be written out: one that differs by a thousandth, or
 * changes places with another, makes a sum differ.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/phases/phases.h"
#include "analysis/phases/segments/segmentation.h"

struct tally {
    double sum;        /* of logarithms, so that small numbers show beside large ones */
    size_t n, strange; /* numbers; sum of the places of those that are NaN or infinite */
};

void tally_add(struct tally *t, double x);
void tally_estimate(struct tally *t, const struct estimate *e);
void tally_text(struct tally *t, const char *text);
/* All that they hold. */
void tally_runs(struct tally *t, const struct runs *r);
void tally_segmentation(struct tally *t, const struct segmentation *o);
void tally_phases(struct tally *t, const struct phases *p);

/* " NAME SUM/NUMBERS", the sum modulo 100, and what is strange; begins anew. */
void tally_write(FILE *out, const char *name, struct tally *t);
