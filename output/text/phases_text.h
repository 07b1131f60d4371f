/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was found in a trace, for a person, on one page of 100 columns. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "analysis/phases/phases.h"
#include "trace/trace.h"

/* `missing`: what was not measured and why, one line; NULL or "": nothing. */
void phases_text_print(FILE *out, bool colour, const struct trace *t, const struct phases *p, const char *missing);
