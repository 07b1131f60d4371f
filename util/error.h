/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one error of the library: what whoever opens, reads or runs something reports when it cannot. */
#pragma once

#include <stddef.h>

/* The exit statuses of the program, as whatever it calls reports them. */
enum machine_status { MACHINE_OK = 0, MACHINE_FAILED = 1, MACHINE_BAD_INPUT = 2, MACHINE_CANNOT = 3 };

struct machine_error {
    enum machine_status status;
    char text[500];   /* one line: what, where, why */
    char remedy[200]; /* what the user can do about it; may be empty */
};

/* Fills *err (the text as printf does) and returns `status`. */
__attribute__((format(printf, 4, 5))) int machine_fail(struct machine_error *err, enum machine_status status,
                                                       const char *remedy, const char *text, ...);

/* One line of why it is not done, where there is neither status nor remedy (as printf does). Returns -1. */
__attribute__((format(printf, 3, 4))) int error_line(char *why, size_t size, const char *format, ...);
