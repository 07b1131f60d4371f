/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of fixed work, joined to samples of a period. */
#pragma once

#include "trace/trace.h"

/*
 * Where cycles are counted, a period of samples of fixed work is one sample: noise of counters and time stamps at its
 * ends counts once then, and what is told by single samples is told by as many as a period has ever had. By chains, the
 * samples up to the next one with a chain are one, with an IPC by the clock of that chain. None is joined over time 0,
 * none with one that is nearly as long as a period itself: of a throttled core, or with a halt in it. *out refers to
 * the metadata of *t; *joined: whether there is anything to free with part_free() (part.h), else *out is *t. 0, or -1:
 * out of memory.
 */
int joined_samples(const struct trace *t, struct trace *out, bool *joined);
