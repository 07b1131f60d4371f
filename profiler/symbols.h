/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of places in code, by address: a table, that of a file and that of the kernel. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SYMBOLS_MAX = 1048576,   /* of one file; the kernel has some 200000, a browser less than a million */
    SYMBOLS_SECONDS_MAX = 3, /* to read a file; those that take longer have the names that came until then */
};

struct symbols;

/* NULL: out of memory. */
struct symbols *symbols_new(void);
void symbols_free(struct symbols *s);
/*
 * Adds one; size 0: it is not known, and the name holds up to the next one. Of those with the same address the one with
 * the highest rank counts. False: out of memory, or there are too many.
 */
bool symbols_add(struct symbols *s, uint64_t address, uint64_t size, unsigned rank, const char *name);
/* To be called when all have been added, before the first is looked for. */
void symbols_sort(struct symbols *s);
/* The name of what is at an address, valid as long as the table is; NULL: nothing known. O(log n). */
const char *symbols_find(const struct symbols *s, uint64_t address);

/* The symbols of /proc/kallsyms, which is at `path`; NULL: out of memory. A table without names where it cannot be
 * read or has no addresses (sysctl kernel.kptr_restrict). */
struct symbols *symbols_of_kernel(const char *path);

/* An ELF file. */
struct symbols_file;
/*
 * The functions of a file: those of its symbol table, of debugging information that is installed in /usr/lib/debug by
 * build ID or in the file itself, or else those that it exports. A process of its own reads them, for the file may be
 * anybody's; nothing refers to it afterwards. NULL: out of memory. What is no ELF file, or a damaged one, has no names.
 */
struct symbols_file *symbols_of_file(int fd);
void symbols_file_free(struct symbols_file *f);
size_t symbols_file_count(const struct symbols_file *f); /* of its functions */
/* The name of what is at so many bytes from the beginning of the file, or NULL. *address receives where that is in the
 * file's own addresses, which addr2line(1) understands; without a mapping the offset itself. */
const char *symbols_file_find(const struct symbols_file *f, uint64_t offset, uint64_t *address);
