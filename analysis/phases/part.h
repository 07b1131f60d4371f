/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace that holds some samples of another one, whose metadata it refers to; the analysis knows no other columns. */
#pragma once

#include "trace/trace.h"

/* Room for as many samples as *t has, none yet. 0, or -1: out of memory. Free with part_free(). */
int part_begin(const struct trace *t, struct trace *out);
/* Appends sample i. */
void part_take(const struct trace *t, size_t i, struct trace *out);
void part_free(struct trace *out);
