/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Items added to a line of text. */
#include "util/text_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_list_add(char *list, size_t size, const char *separator, const char *item, ...)
{
    size_t used = strlen(list), begin = used > 0 ? used + strlen(separator) : 0;
    va_list args;
    if (begin + 1 >= size)
        return;
    va_start(args, item);
    int length = vsnprintf(list + begin, size - begin, item, args);
    va_end(args);
    if (used > 0 && length > 0)
        memcpy(list + used, separator, begin - used);
}

bool text_list_has(const char *words, const char *text)
{
    size_t n = strlen(text);
    for (const char *at = words; *at;) {
        size_t length = strcspn(at, ",");
        if (length == n && strncmp(at, text, n) == 0)
            return true;
        at += length + (at[length] == ',');
    }
    return false;
}
