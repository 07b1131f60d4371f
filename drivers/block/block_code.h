/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code of a kernel made of a block: copies of it one behind the other, so many that what stands around them is less
 * than 2 % of the instructions, and what sets the general-purpose registers that it writes to the buffer's address
 * before: every turn is the same as the one that was tried, however long the kernel runs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/block/block_check.h"
#include "drivers/block/block_read.h"
#include "kernels/kernels.h"

enum { BLOCK_BUFFER_BYTES = 16384 };

/* What kernels/block.asm reads: there the same offsets. */
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
