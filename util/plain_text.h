/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text of unknown origin made safe to show. A trace may come from anybody: its metadata can hold any bytes, also
 * terminal escapes and what is not UTF-8. And numbers made ready to show.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/*
 * Copies `in` to `out` (`size` bytes, NUL included; size >= 1) as valid UTF-8 on one line: bytes that are not UTF-8
 * (RFC 3629, section 4) become U+FFFD, control characters and those that reorder text (Unicode UAX 9, section 2.1 to
 * 2.5) '?', a tab or a line end a space. What does not fit is truncated at a character. Returns the bytes written
 * without the NUL.
 */
size_t plain_text(const char *in, char *out, size_t size);

/* The same into memory from malloc, nothing cut off. NULL when out of memory. */
char *plain_text_copy(const char *in);

/* A text as messages show it: as plain_text(), at most 40 bytes of it. To be used in place. */
enum { PLAIN_SHOWN_MAX = 40 };
struct plain_shown {
    char text[PLAIN_SHOWN_MAX + sizeof "..."];
};
struct plain_shown plain_shown(const char *text);

/* The value to print with so many decimals ("%.*f"): 0 instead of what would read "-0.0". Others are returned as they
 * are, NaN and infinities too. */
double plain_number(double value, int decimals);

/* A time with so many decimals, "12.3 us"; from a second on "1.235 s". To be used in place. */
struct plain_time {
    char text[40];
};
struct plain_time plain_time(double us, int decimals);

/*
 * Text for an element or a quoted attribute: made plain, with & < > " and ' as character references
 * (XML 1.0, section 2.4; HTML, section 13.1.4). NULL writes nothing.
 */
void plain_xml_text(FILE *out, const char *text);
