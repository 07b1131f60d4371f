/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Directories that jobs write into. */
#pragma once

#include <limits.h>
#include <stddef.h>

enum { DIRECTORIES_MOST = 32 };
/* Directories that were made, outermost first, to be removed again if nothing came to be in them. */
struct directories {
    struct directory_made {
        int parent; /* open */
        char name[NAME_MAX + 1];
    } made[DIRECTORIES_MOST];
    volatile unsigned n;
};
/* Makes a directory with those above it; `made` may be NULL. DONE, or an exit status after a line that names `option`,
 * with which another could be chosen. */
int directories_make(const char *directory, const char *option, struct directories *made);
/* The same, but the line goes to `why`, and no option is named in it. */
int directories_try_make(const char *directory, struct directories *made, char *why, size_t size);
/* Removes those that are empty. */
void directories_tidy(struct directories *made);
/* The same where the program ends on a signal: system calls only. */
void directories_end(void);
