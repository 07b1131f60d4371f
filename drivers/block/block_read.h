/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code of a block, as a file has it. */
#pragma once

#include <stdint.h>

#include "kernels/kernels.h"
#include "util/error.h"

enum { BLOCK_BYTES_MAX = 16384 };

struct block_text {
    char name[KERNEL_NAME_MAX]; /* in small letters */
    uint8_t code[BLOCK_BYTES_MAX];
    size_t n;
    /* what comments of an .asm declare; 0: nothing */
    unsigned instructions, width;
    enum { BLOCK_ANY_WEIGHT, BLOCK_LIGHT, BLOCK_HEAVY } weight;
};

/* Fills *out; returns a status. */
int block_read(const char *file, struct block_text *out, struct machine_error *err);

/* The code of a symbol of an ELF file, or between `block` and `block_end` where `symbol` is NULL, into out->code; a
 * return at the end of a function, and ENDBR64 at its begin, are left out. `image`: the n bytes of the file. */
int block_elf_read(const char *file, const uint8_t *image, size_t n, const char *symbol, struct block_text *out,
                   struct machine_error *err);
