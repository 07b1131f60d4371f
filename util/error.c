/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors filled in. */
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int machine_fail(struct machine_error *err, enum machine_status status, const char *remedy, const char *text, ...)
{
    va_list args;
    memset(err, 0, sizeof *err);
    err->status = status;
    snprintf(err->remedy, sizeof err->remedy, "%s", remedy);
    va_start(args, text);
    vsnprintf(err->text, sizeof err->text, text, args);
    va_end(args);
    return status;
}

int error_line(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return -1;
}
