/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The metadata of a trace: which keys there are, and what each may hold (doc/formats.md). */
#ifndef CHARACTERIZE_TRACE_KEYS_H
#define CHARACTERIZE_TRACE_KEYS_H

#include <stddef.h>

#include "trace/trace.h"

/* How many numbers the lists hold at most: alone_from_ghz and alone_to_ghz, and held_rates. */
enum { TRACE_ALONE_MAX = 64, TRACE_HELD_RATES_MAX = 96 };

/* NULL where a key may have this value, as any key may that is not known; else what would be allowed, for a person. */
const char *trace_key_refuses(const char *key, const char *value);

/* Sets a key that holds a list (any other: aborts) to n numbers, as many as it may hold; NaN: nan. 0, or -1: out of
 * memory. */
int trace_set_numbers(struct trace *t, const char *key, const double *x, size_t n);
/* Reads it: up to `most` numbers, until one that the key may not hold. Returns how many; 0: it is missing. */
size_t trace_get_numbers(const struct trace *t, const char *key, double *x, size_t most);

#endif
