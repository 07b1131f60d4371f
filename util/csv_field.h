/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of a line of CSV (RFC 4180), and the numbers in them. */
#pragma once

#include <stdbool.h>

/* Blanks may stand around a field. A carriage return is one, because at the end of a line it would be taken for part
 * of that. */
bool csv_field_blank(char c);

/* Cuts the blanks at both ends off, in place. */
char *csv_field_trim(char *text);

/* Cuts the next field off *at (in place, quotes removed, blanks trimmed). NULL = unterminated quote. */
char *csv_field_next(char **at, bool *last);

/*
 * A decimal number; false = it is none. Exact for up to 15 digits with a power of ten up to 22 (both factors are exact
 * doubles, one rounding; Clinger 1990, "How to read floating point numbers accurately"); the rest goes to strtod.
 */
bool csv_field_number(const char *s, double *value);
