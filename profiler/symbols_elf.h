/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An ELF file's functions, as the process that reads it tells them (profiler/symbols_file.c). */
#pragma once

#include <stdint.h>
#include <stdio.h>

enum { SYMBOLS_NAME_MAX = 512 }; /* with a NUL; C++ knows longer ones, which nobody reads */

/* One function, its name of `length` bytes behind it; or, without a name, a part of the file that is executable. */
struct symbols_message {
    uint64_t address, size; /* in the file's own addresses */
    uint64_t offset;        /* of the part, in the file */
    uint32_t rank, length;
};

/* Writes all parts, then all functions; what is no ELF file has none. The descriptor is closed. */
void symbols_elf_write(int fd, FILE *out);
