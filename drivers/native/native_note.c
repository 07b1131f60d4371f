/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/native/native_note.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void native_note(char *notes, size_t size, const char *text, ...)
{
    size_t used = strlen(notes), begin = used > 0 ? used + 2 : 0;
    va_list args;

    if (begin + 1 >= size)
        return;
    va_start(args, text);
    int length = vsnprintf(notes + begin, size - begin, text, args);
    va_end(args);
    if (used > 0 && length > 0)
        memcpy(notes + used, "; ", 2);
}
