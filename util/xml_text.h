/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text of unknown origin put into XML or HTML. */
#pragma once

#include <stdio.h>

/*
 * Text for an element or a quoted attribute: made plain (plain_text.h), with & < > " and ' as character references
 * (XML 1.0, section 2.4; HTML, section 13.1.4). NULL writes nothing.
 */
void xml_text(FILE *out, const char *text);
