/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules of characterize-export/1, as doc/export-format.md has them, for what was written. */
#pragma once

#include <stddef.h>

#include "output/export/schedule.h"

/* Checks that a text is a characterize-export/1 that keeps the documented rules: types, ranges, order, references.
 * Returns 0, or -1 with the first violation in `why`, one line. */
int export_rules_check(const char *text, size_t length, char *why, size_t why_size);

/* The parameters as JSON, to be freed; fails the test where they are refused, or the text breaks a rule. */
char *export_rules_json(const struct schedule *s);
