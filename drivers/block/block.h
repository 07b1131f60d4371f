/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kernels from files: a user's block of instructions, checked, tried and made a kernel (doc/kernel-files.md). In user
 * mode only: the Linux module runs nothing that is not built into it.
 */
#pragma once

#include <stddef.h>

#include "kernels/kernels.h"
#include "util/error.h"

enum {
    BLOCK_FILES_MAX = 8, /* of --kernel-file */
    BLOCK_SET_MAX = 48,  /* rounds of so many brackets (probes/brackets.h) take 0.3 s */
};

struct block;

/* The blocks of a run. All zero: none. */
struct block_set {
    struct block *block[BLOCK_SET_MAX];
    const struct kernel *kernel[BLOCK_SET_MAX];
    size_t n;
};

/*
 * Reads FILE.asm (assembled with NASM), FILE.bin (machine code), FILE.so or FILE.o (between the symbols `block`
 * and `block_end`) or FILE.so:FUNCTION, refuses what cannot be run, runs the block once step by step and for some
 * milliseconds at full speed, in a child process, and adds the kernel; its name is that of the file without folder and
 * suffix, or that of the function. Returns MACHINE_OK, or another status after filling *err: MACHINE_BAD_INPUT where it
 * is the file's fault, MACHINE_CANNOT where this computer lacks what it takes. What needs AVX, FMA or AVX-512, which
 * machines have or lack, is added where this CPU has none of it, too; such a block is not tried.
 */
int block_set_add(struct block_set *set, const char *file, struct machine_error *err);

/*
 * The same of n bytes of code that the program itself has made; `name` is that of the kernel, `what` stands in
 * messages. It runs with denormals flushed to zero, because what it computes is of no interest. elsewhere: for a model;
 * what this CPU lacks is not refused, and then it is not tried.
 */
int block_set_add_code(struct block_set *set, const char *what, const char *name, const void *code, size_t n,
                       bool elsewhere, struct machine_error *err);
void block_set_free(struct block_set *set);

/* The machine code of kernel `i`, as it was read: *n bytes, which live as long as the set. */
const void *block_set_code(const struct block_set *set, size_t i, size_t *n);
