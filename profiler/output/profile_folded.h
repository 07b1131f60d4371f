/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folded stacks, as flamegraph.pl and speedscope read them: a line for each, "level 2;COMM;OUTERMOST;...;INNERMOST
 * COUNT". doc/profiler.md describes the frames.
 */
#pragma once

#include <stdio.h>

#include "profiler/stacks.h"

/* Writes all. 0, or -1: out of memory. What cannot be written is left to ferror(). */
int profile_folded(FILE *out, struct profile_stacks *s);
