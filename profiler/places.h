/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of the places in a record's stack, by what the system says about its process when the record comes in: "main",
 * "[libc.so.6]+0x2a3f0" where a file has no name for it, "[anonymous]" for code that was generated, "[unknown]";
 * "schedule_[k]" and "[kernel]" in the kernel.
 *
 * Files are opened by way of the process's own mappings (/proc/PID/map_files, as root), so that those in containers
 * and those that were deleted are the right ones. Without that they have no names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "drivers/profile/profile_types.h"

enum {
    PLACES_PROCESSES_MAX = 1024, /* when there are more all are forgotten; those that live are looked up again */
    PLACES_MAPPINGS_MAX = 8192,  /* executable ones of one process */
    PLACES_FILES_MAX = 1024,
    PLACES_SYMBOLS_MAX = 4194304, /* of all files; those of later ones have no names */
};

struct places;

/* proc: where /proc is. NULL: out of memory. */
struct places *places_new(const char *proc);
void places_free(struct places *p);

/* To be called before places_name() for each record: looks at its process. False: out of memory. */
bool places_look(struct places *p, const struct profile_record *r);
/* The name of an entry of its stack, as plain text, truncated to `size` bytes. False: out of memory. */
bool places_name(struct places *p, const struct profile_record *r, unsigned entry, char *out, size_t size);
