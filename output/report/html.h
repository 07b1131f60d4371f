/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text of unknown origin put into an HTML page. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/*
 * Text for an element or a quoted attribute: made plain (plain_text.h), with & < > " and ' as character references
 * (HTML, section 13.1.4). NULL writes nothing.
 */
void html_text(FILE *out, const char *text);

/* printf for such texts: %s is written by html_text; there is also %zu, and no other. */
void html_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first `length` bytes of a text. */
void html_text_part(FILE *out, const char *text, size_t length);

/* Text whose line ends are kept, as <br>; empty lines are left out. */
void html_lines(FILE *out, const char *text);

/* Each line of a text between these, which are written as they are; empty lines are left out. */
void html_each_line(FILE *out, const char *before, const char *text, const char *after);

/* A fact of a list <dl>, whose value may have several lines; none without one. */
void html_fact(FILE *out, const char *name, const char *value);

/*
 * A name of a file beside the page as the value of href: relative whatever it holds, for all but letters, digits and
 * "-._~/" are percent-encoded (RFC 3986, section 2.1), and slashes at its beginning are left out.
 */
void html_file_name(FILE *out, const char *name);

/* A link to such a file, which shows its name. */
void html_link(FILE *out, const char *name);
