/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of kernels from files (block.h): reading one, checking it, making code of it, trying that. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "computer/cpu/cpu.h"
#include "kernels/kernels.h"
#include "util/error.h"

/* ---- block_read.c ---- */

enum { BLOCK_BYTES_MAX = 16384 };

struct block_text {
    char name[KERNEL_NAME_MAX]; /* in small letters */
    uint8_t code[BLOCK_BYTES_MAX];
    size_t n;
    /* declared by comments of an .asm; 0: not */
    unsigned instructions, width;
    enum { BLOCK_ANY_WEIGHT, BLOCK_LIGHT, BLOCK_HEAVY } weight;
    bool elsewhere; /* it is for a model: instruction sets that this CPU lacks are taken */
};

/* Fills *out; returns a status. */
int block_read(const char *file, struct block_text *out, struct machine_error *err);

/* The code of a symbol of an ELF file, or between `block` and `block_end` where `symbol` is NULL, into out->code; a
 * return at the end of a function, and ENDBR64 at its begin, are left out. `image`: the n bytes of the file. */
int block_elf_read(const char *file, const uint8_t *image, size_t n, const char *symbol, struct block_text *out,
                   struct machine_error *err);

/*
 * ---- block_check.c ----
 *
 * The disassembler is Zydis: it knows AVX-512 with FP16 and AMX (the Capstone of Debian 12 does not), says of each
 * operand whether it is read or written, hidden ones too, and to which instruction set an instruction belongs; it
 * allocates nothing and is kept up.
 */

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
    const char *mnemonic; /* the same pointer for the same one */
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
    unsigned written;      /* general-purpose registers, by number */
    unsigned features;     /* enum kernel_feature */
    unsigned uses;         /* enum block_uses */
    bool jumps, elsewhere; /* elsewhere: this CPU lacks an instruction set of it */
    unsigned width;
    enum kernel_weight weight;
};

/* Registers that the frame sets up (kernels/block.asm). */
enum block_uses {
    BLOCK_YMM = 1,
    BLOCK_ZMM = 2,
    BLOCK_16_31 = 4,
    BLOCK_MASKS = 8,
    BLOCK_LONG_MASKS = 16,
    BLOCK_FLUSHED = 32 /* denormals are zeros (MXCSR.DAZ, FTZ) */
};

/* Fills *out; else a status, and what, where and why in *err. file: for messages. */
int block_check(const char *file, const struct block_text *text, struct block_shape *out, struct machine_error *err);
void block_shape_free(struct block_shape *s);

/* The instruction as text, for messages. */
void block_insn_text(const struct block_text *text, const struct block_insn *insn, char *out, size_t size);

/*
 * ---- block_code.c ----
 *
 * The code of a kernel made of a block: copies of it one after the other, so many that what stands around them is less
 * than 2 % of the instructions, and what sets the general-purpose registers that it writes to the buffer's address
 * before: every turn is the same as the one that was tried, however long the kernel runs.
 */

enum { BLOCK_BUFFER_BYTES = 16384 };

/* kernels/block.asm reads it by the same offsets. */
struct block_frame {
    const void *turn;
    uint8_t *slots;
    uint64_t n_slots, stride;
    uint64_t uses;
};

struct block_code {
    struct block_frame frame;
    uint8_t *page; /* executable, not writable */
    size_t page_bytes, slot_bytes;
    kernel_fn *run;
    const uint8_t *copies; /* the first of them */
    unsigned n_copies;
    unsigned bytes; /* of a turn */
};

/* So many copies that `around` instructions are less than 2 % of them: of `each`. */
unsigned block_code_copies(const struct block_shape *s, unsigned each);
/* Fills *out; a status. */
int block_code_make(const struct block_text *t, const struct block_shape *s, unsigned copies, struct block_code *out,
                    struct machine_error *err);
void block_code_free(struct block_code *c);

/* Steps through one turn: what it ran, of all copies together. */
struct block_steps {
    unsigned instructions, counted;
};

/* One turn, step by step: each address of memory must lie in the buffer. A status. */
int block_try_steps(const char *file, const struct block_text *t, const struct block_shape *s,
                    const struct block_code *c, struct block_steps *out, struct machine_error *err);

/* For some milliseconds at full speed: what depends on what the block itself has written shows up. */
int block_try_run(const char *file, const struct block_code *c, struct machine_error *err);
