/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of fixed work, joined to samples of a period. */
#pragma once

#include "trace/trace.h"

struct joined {
    struct trace trace;
    bool own; /* its samples; else they are those of the trace that it is of */
};

/*
 * Where cycles are counted, a period of samples of fixed work is one sample: noise of counters and time stamps at its
 * ends counts once then, and what is shown by single samples is shown by as many as a period has ever had. By chains,
 * the samples up to the next one with a chain are one, with an IPC by the clock of that chain. None is joined over
 * time 0, none with one that is nearly as long as a period itself: of a throttled core, or with a halt in it. Other
 * traces stay as they are. The metadata are those of *t and stay there. 0, or -1: out of memory. Free with
 * joined_free(), in either case.
 */
int joined_samples(const struct trace *t, struct joined *out);
void joined_free(struct joined *j);

/* The samples of a null with the metadata of its switch: its own are its clock's alone. Both stay where they are. NULL:
 * there is none, and it is the switch itself. */
struct trace joined_described_by(const struct trace *null, const struct trace *t);

/* Room for as many samples as *t has, none yet; the metadata are those of *t and stay there. 0, or -1: out of memory.
 * Free with joined_part_free(). */
int joined_part_begin(const struct trace *t, struct trace *out);
/* Appends sample i. */
void joined_part_take(const struct trace *t, size_t i, struct trace *out);
void joined_part_free(struct trace *out);
