/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces that refer to parts of others: to some of their samples, or to their metadata. The analysis knows no columns
 * but the channels. */
#pragma once

#include "trace/trace.h"

/* The samples of a null with the metadata of its switch: its own are its clock's alone. Both stay where they are. NULL:
 * there is none, and it is the switch itself. */
struct trace part_told_by(const struct trace *null, const struct trace *t);

/* Room for as many samples as *t has, none yet; the metadata are those of *t and stay there. 0, or -1: out of memory.
 * Free with part_free(). */
int part_begin(const struct trace *t, struct trace *out);
/* Appends sample i. */
void part_take(const struct trace *t, size_t i, struct trace *out);
void part_free(struct trace *out);
