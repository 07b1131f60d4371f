/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How profiles leave: printed, as JSON (characterize-profile/1), CSV, picture and page (doc/profiler.md, "Output"). A
 * result may be unfinished, without rows, or of strangers: names are made safe to show, what is not finite is unknown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "profiler/profile.h"

/* "taken", "idle", "switched", "uncounted", "not-held", "late", "unsettled", "off-table" */
extern const char *const profile_outcome_names[PROFILE_OUTCOMES];

/*
 * For a person, at most 100 columns wide: at most so many rows (1 or more) of tasks, of containers, of cores and of
 * whom each is slowed by; the others are summed up. `colour`: escape sequences may be used.
 */
void profile_print(FILE *out, bool colour, const struct profile_result *r, size_t most_rows);

/* characterize-profile/1, malloc'ed, ending in a newline; NULL: out of memory. */
char *profile_json(const struct profile_result *r);

/* Comment lines `# key: value`, a line of names, all rows (RFC 4180). 0, or -1: the stream's error, or out of
 * memory. */
int profile_csv(FILE *out, const struct profile_result *r);

/* The page (data/report/profile.html.in), with its pictures inside. 0, or -1 with one line in `why`; with none where
 * the stream failed. */
int profile_html(const struct profile_result *r, FILE *out, char *why, size_t why_size);

/* The overhead of tasks by cause and by level as a picture (.svg, .png): 0, or with one line in `why` -1: it cannot be
 * drawn, or -2: it cannot be written. */
int profile_plot(const struct profile_result *r, const char *path, char *why, size_t why_size);
