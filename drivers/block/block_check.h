/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a block is made of, by a disassembler, and what of it cannot be run. Zydis: it knows AVX-512 with FP16 and AMX
 * (the Capstone of Debian 12 does not), says of each operand whether it is read or written, hidden ones too, and to
 * which instruction set an instruction belongs; it allocates nothing and is kept up.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/block/block_read.h"
#include "util/error.h"

/* Numbers of general-purpose registers, as instructions have them; -1: none. */
enum { BLOCK_RSP = 4, BLOCK_BUFFER = 14, BLOCK_COUNTER = 15, BLOCK_GPRS = 16, BLOCK_MEMORY_MAX = 2 };

/* An operand in memory whose address is made of general-purpose registers. */
struct block_memory {
    int8_t base, index;
    uint8_t scale;
    bool write;
    unsigned bytes;
    int64_t displacement;
};

struct block_insn {
    uint16_t offset;
    uint8_t length;
    bool counted; /* of the block's width and weight */
    uint16_t width;
    bool heavy;
    size_t n_memory;
    struct block_memory memory[BLOCK_MEMORY_MAX];
};

struct block_shape {
    struct block_insn *insn; /* in their order; to be freed by block_shape_free() */
    int32_t *at;             /* by offset: its index, or -1 */
    size_t n;
    unsigned written;  /* general-purpose registers, by number */
    unsigned features; /* enum kernel_feature */
    unsigned uses;     /* enum block_uses */
    bool jumps;
    unsigned width;
    enum kernel_weight weight;
};

/* What the frame sets up (kernels/block.asm). */
enum block_uses { BLOCK_YMM = 1, BLOCK_ZMM = 2, BLOCK_16_31 = 4, BLOCK_MASKS = 8, BLOCK_LONG_MASKS = 16 };

/* MACHINE_OK if there is a disassembler; else why not, and what to do, in *err. */
int block_check_can(const char *file, struct machine_error *err);
/* Fills *out; else a status, and what, where and why in *err. file: for messages. */
int block_check(const char *file, const struct block_text *text, struct block_shape *out, struct machine_error *err);
void block_shape_free(struct block_shape *s);

/* The instruction as text, for messages. */
void block_insn_text(const struct block_text *text, const struct block_insn *insn, char *out, size_t size);
