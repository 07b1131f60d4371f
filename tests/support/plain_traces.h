/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small traces of few distinct values: whole periods, round frequencies, hardly any noise, repetitions that are the
 * same or differ by whole periods. What is compared in an analysis ties there, or is a limit, as often as it is not.
 */
#pragma once

#include <stdint.h>

#include "trace/trace.h"

/* The same seed gives the same trace. 0, or -1: out of memory. */
int plain_trace(uint64_t seed, struct trace *t);
