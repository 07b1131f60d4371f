/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports checks of the programs in the guest, in the lines that tests/vm/lib.sh counts. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static unsigned failures;

__attribute__((format(printf, 2, 3))) static void check(bool good, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    printf("%s: ", good ? "ok" : "FAIL");
    vprintf(name, args);
    va_end(args);
    printf("\n");
    failures += !good;
}
