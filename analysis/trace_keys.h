/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The metadata of a trace: which keys there are, and what each may hold (doc/formats.md). */
#ifndef CHARACTERIZE_TRACE_KEYS_H
#define CHARACTERIZE_TRACE_KEYS_H

#include <stddef.h>

/*
 * Whether a key may have this value. Keys that are not known may have any: they are kept, and nothing is made of them.
 * Returns 0, or -1 with *why: the key, the value and what is allowed, in one line.
 */
int trace_key_check(const char *key, const char *value, char *why, size_t size);

#endif
