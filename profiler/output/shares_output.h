/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How shares of license levels leave: printed, as JSON (characterize-profile/1, kind "shares") and CSV. Each says that
 * they are no overhead.
 */
#pragma once

#include <stdio.h>

#include "profiler/shares.h"

/* For a person, at most 100 columns wide: at most so many rows of tasks and of containers; the others are summed up. */
void shares_print(FILE *out, bool colour, const struct shares_result *r, size_t most_rows);
/* malloc'ed, ending in a newline; NULL: out of memory. */
char *shares_json(const struct shares_result *r);
/* Comment lines `# key: value`, a line of names, all rows. 0, or -1: the stream's error, or out of memory. */
int shares_csv(FILE *out, const struct shares_result *r);
