/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The screen: what was found, for a person, on one page of 100 columns. */
#ifndef CHARACTERIZE_CLI_REPORT_H
#define CHARACTERIZE_CLI_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis/phases/phases.h"
#include "trace/trace.h"

/* Whether to use colour on a stream: a terminal that can, and NO_COLOR (no-color.org) not set or empty. */
bool report_colour(FILE *out);

/* `missing`: what was not measured and why, one line; NULL or "": nothing. */
void report_print(FILE *out, bool colour, const struct trace *t, const struct phases *p, const char *missing);

#endif
