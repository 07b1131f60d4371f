/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces from text, and as text. */
#pragma once

#include "trace/trace.h"

/* trace_read_csv() of these bytes. */
int trace_text_read(const char *text, size_t size, struct trace *t, struct trace_error *err);
/* The same of a text that must be read. */
void trace_text_good(const char *text, struct trace *t);
/* trace_write_csv(), to be freed. */
char *trace_text_of(const struct trace *t);
