/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps from segmented repetitions to phases, in the order in which phases_find() takes them (private to
 * analysis/). */
#pragma once

#include "analysis/phases/segments/segmentation.h"
#include "analysis/phases/phases.h"

/*
 * consensus.c: one segmentation for all repetitions that agree. Interrupted repetitions and those that show other
 * events are entered in `out` (discarded, warnings). `o` becomes empty if no repetition is left. 0, or -1: out of
 * memory.
 */
int consensus_find(const struct runs *r, double switch_us, struct segmentation *o, struct phases *out);

/* levels.c: kinds and IPC ratios of the pieces into out->phases; pieces that turn out to be one are merged in `o`. 0,
 * or
 * -1: out of memory. */
int levels_find_kinds(struct segmentation *o, struct phases *out);
/* A phase with the values of a piece, its times and its IPC ratio not known yet. */
struct phase levels_new_phase(const struct piece *piece, enum phase_kind kind);

/* times.c: starts, durations, modes, frequencies and agreement. 0, or -1: out of memory. */
int times_find(const struct runs *r, const struct segmentation *o, struct phases *out);

/*
 * slow_runs.c: marks the repetitions that ran at another frequency than most throughout (o->other_ghz), where they are
 * clearly two kinds; the times, frequencies included, must then be found again: *marked. 0, or -1: out of memory.
 */
int slow_runs_mark(const struct runs *r, struct segmentation *o, const struct phases *out, bool *marked);

/*
 * levels.c: the distinct frequencies of the phases, and which phases are slow. Neighbours that turn out to be at one
 * level, with nothing else between them, are one: their edge goes, *merged tells, and the times must be found again.
 * 0, or -1: out of memory.
 */
int levels_find(struct segmentation *o, struct phases *out, bool *merged);
/* Then, once: limits of phases and levels hold all the frequencies that were taken for one. */
void levels_hold(const struct segmentation *o, struct phases *out);

/*
 * ramps.c: steady phases in a row that are one exponential approach of the frequency become a ramp, and what is steady
 * before and after it; times and levels are found again. 0, or -1: out of memory.
 */
int ramps_find(const struct runs *r, struct segmentation *o, struct phases *out);

/*
 * slow_runs.c: warns of repetitions that ran at another frequency than most throughout, and lets the limits of
 * frequencies hold theirs, too, where they are more than one in twenty. 0, or -1: out of memory.
 */
int slow_runs_find(const struct runs *r, const struct segmentation *o, struct phases *out);

/* times.c: from one steady phase to the next. 0, or -1: out of memory. */
int times_transitions(const struct runs *r, const struct segmentation *o, struct phases *out);

/* volts.c: steps of the voltage, and the voltage of each phase. 0, or -1: out of memory. */
int volts_find(const struct trace *t, struct phases *out);
