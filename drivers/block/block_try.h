/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A block is run in a child process before anything else runs it. */
#pragma once

#include "drivers/block/block_code.h"

/* Steps through one turn: what it ran, of all copies together. */
struct block_steps {
    unsigned instructions, counted;
};

/* One turn, step by step: each address of memory must lie in the buffer. A status. */
int block_try_steps(const char *file, const struct block_text *t, const struct block_shape *s,
                    const struct block_code *c, struct block_steps *out, struct machine_error *err);

/* For some milliseconds at full speed: what depends on what the block itself has written shows up. */
int block_try_run(const char *file, const struct block_code *c, struct machine_error *err);
