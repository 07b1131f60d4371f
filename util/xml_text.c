/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text escaped for XML and HTML. */
#include "util/xml_text.h"

#include <stdlib.h>
#include <string.h>

#include "util/plain_text.h"

static void escaped(FILE *out, const char *plain)
{
    static const char special[] = "&<>\"'";
    static const char *const references[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (const char *c = plain; *c; c++) {
        const char *found = strchr(special, *c);
        if (found)
            fputs(references[found - special], out);
        else
            putc(*c, out);
    }
}

void xml_text(FILE *out, const char *text)
{
    char *plain = text ? plain_text_copy(text) : NULL;
    if (plain)
        escaped(out, plain);
    free(plain);
}
