/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The metadata of a trace: which keys there are, and what each may hold (doc/formats.md). */
#ifndef CHARACTERIZE_TRACE_KEYS_H
#define CHARACTERIZE_TRACE_KEYS_H

/* NULL where a key may have this value, as any key may that is not known; else what would be allowed, for a person. */
const char *trace_key_refuses(const char *key, const char *value);

#endif
