/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints what was found in a trace or a recording of first uses. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "analysis/phases/phases.h"
#include "analysis/wake/wake.h"
#include "trace/trace.h"

/* `missing`: what was not measured and why, one line; NULL or "": nothing. */
void phases_text_print(FILE *out, bool colour, const struct trace *t, const struct phases *p, const char *missing);

/* The stages as a table, and what it does not show. */
void phases_text_print_stages(FILE *out, const struct wake_stages *s, const struct wake_source *source);
