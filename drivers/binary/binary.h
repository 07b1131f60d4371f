/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The wide code of a program or library, as kernels (doc/which.md): its functions, the blocks in them that hold
 * instructions of 256 bits and more, and what is made of these so that they run by themselves. In user mode only, as
 * all kernels from files (drivers/block/block.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/block/block.h"
#include "kernels/kernels.h"
#include "util/error.h"

/* ---- binary_read.c: functions ---- */

enum { BINARY_NAME_MAX = 400 };

struct binary_function {
    char *name;       /* as the file has it; several names of one address as "a=b"; "+0xADDRESS" without a symbol */
    uint64_t address; /* in .o files within its section */
    const uint8_t *code;
    size_t n;    /* bytes, below 4 GiB */
    bool chosen; /* STT_GNU_IFUNC: it only chooses the one that runs */
};

struct binary {
    uint8_t *bytes;
    struct binary_function *function; /* by section, in the order of addresses; none overlaps another */
    size_t n;
};

/*
 * Reads PROGRAM (searched in PATH where it has no slash and is not here), FILE, or either with :FUNCTION, which leaves
 * that function alone. Takes time and memory proportional to the file. MACHINE_OK, or MACHINE_BAD_INPUT and one line:
 * no ELF file of x86-64, cut off, no such function with the nearest that there is. binary_free().
 */
int binary_read(const char *what, struct binary *out, struct machine_error *err);
/* The same of n bytes from malloc, which it frees; function NULL: all. */
int binary_of(const char *file, uint8_t *bytes, size_t n, const char *function, struct binary *out,
              struct machine_error *err);
void binary_free(struct binary *b);

/* ---- binary_blocks.c: where the wide code is ---- */

struct binary_block {
    const struct binary_function *function;
    uint32_t at, bytes; /* in the function */
    unsigned of, wide;  /* instructions; those with a register of 256 bits and more */
    unsigned features;  /* of enum kernel_feature what the encodings need: AVX, AVX512F */
    bool tiles;         /* some have registers of tiles */
};

/*
 * Finds the blocks of all functions that hold wide instructions, those with the most of them first: innermost loops,
 * from the target of a backward jump to that jump, with no other one in between; then, outside of these, the pieces
 * between jumps, returns and the targets of jumps. *out is to be freed. Returns 0, or -1: out of memory.
 */
int binary_blocks(const struct binary *b, struct binary_block **out, size_t *n);

/* ---- binary_rewrite.c: what is made of a block ---- */

enum { BINARY_KINDS_MAX = 600, BINARY_TEXT_MAX = 200 };

/* So many instructions of a mnemonic that are kept. */
struct binary_kind {
    const char *mnemonic;
    unsigned width, n;
    bool heavy;
};

struct binary_rewritten {
    uint8_t *code; /* BLOCK_BYTES_MAX; the caller's */
    size_t n;
    unsigned of, dropped;
    unsigned features; /* enum kernel_feature */
    struct binary_kind kind[BINARY_KINDS_MAX];
    size_t n_kinds;
    bool too_long; /* it has more than BLOCK_BYTES_MAX */
};

/*
 * Rewrites a block into one that runs in the buffer of a kernel: each instruction in its order, loads from successive
 * lines of the buffer upwards, stores to those at its end downwards, whatever their addresses were; r14, r15 and rsp as
 * other registers. What a block may not hold is dropped: jumps, the stack, divisions, gathers and what
 * drivers/block/ refuses. Only out->code need be set. Returns 0, or -1: out of memory.
 */
int binary_rewrite(const struct binary_block *block, struct binary_rewritten *out);

/* The mnemonics of the widest instructions, of these the heavy ones if there are any, the most frequent first, as
 * "vfmadd231ps 12, vmulps 4"; returns their width, 64 where there are none. Sorts the kinds in this order. */
unsigned binary_instructions(struct binary_rewritten *r, char text[BINARY_TEXT_MAX]);

/* ---- binary_choose.c: which of them are measured ---- */

enum { BINARY_REFUSED_MAX = 24, BINARY_WHY_MAX = 300, BINARY_WIDE_KINDS_MAX = BLOCK_SET_MAX - 1 };

/* A block that is measured: the kernel of the same number in the set. */
struct binary_chosen {
    const struct binary_function *function, *last; /* last: of those with an equal block */
    uint64_t address;
    unsigned of, wide, dropped, count; /* count: equal blocks, with this one */
    char also[BINARY_TEXT_MAX];        /* other functions with an equal block; "" */
    char instructions[BINARY_TEXT_MAX];
    struct binary_kind kind[BINARY_WIDE_KINDS_MAX]; /* of 256 bits and more, as binary_instructions() sorts them */
    size_t n_kinds;                                 /* more than BINARY_WIDE_KINDS_MAX: there is no room for all */
    struct payload payload;
    uint8_t *code;
    size_t n;
};

/* Blocks of a function that are not measured, for the same reason. */
struct binary_refused {
    const struct binary_function *function;
    uint64_t address; /* of the first */
    unsigned count;
    char why[BINARY_WHY_MAX];
};

struct binary_choice {
    struct block_set set;
    struct binary_chosen chosen[BLOCK_SET_MAX];
    size_t n; /* of them */
    struct binary_refused refused[BINARY_REFUSED_MAX];
    size_t n_refused, refused_more; /* more: blocks for which there was no room in the list */
    size_t left_out;                /* blocks with fewer wide instructions than those that were chosen */
    size_t n_blocks;                /* with wide instructions, in all */
};

/* A processor that is to run them. */
struct binary_target {
    const char *cpu;   /* its name, for reasons */
    unsigned features; /* enum kernel_feature */
    bool modelled;
};

/* Chooses, rewrites and tries blocks. MACHINE_OK, or fills *err and returns its status. binary_choice_free(). */
int binary_choose(const struct binary *b, const struct binary_target *target, struct binary_choice *out,
                  struct machine_error *err);
void binary_choice_free(struct binary_choice *c);

/* Tries n bytes of rewritten code and adds them to the set as the kernel block1, block2, ...; a status. */
int binary_add_kernel(struct block_set *set, const uint8_t *code, size_t n, bool modelled, struct payload *out,
                      struct machine_error *err);

/* ---- binary_part.c: a block without some of its instructions ---- */

/*
 * Copies a block's code, and of its wide instructions only those of the kinds (numbers of b->kind) in `kept`: each
 * other one becomes a NOP, so that what is kept is no farther apart than it was. out: b->n bytes. *n: those used.
 * MACHINE_OK, or fills *err and returns its status.
 */
int binary_part(const struct binary_chosen *b, uint64_t kept, uint8_t *out, size_t *n, struct machine_error *err);
