/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop of bursts (machine_ops.bursts) on real hardware. Times in ticks of the TSC. */
#pragma once

#include "drivers/machine.h"
#include "kernels/shots.h"

struct burst_loop {
    kernel_fn *plain;
    struct kernel_walk *plain_walk;
    uint64_t plain_dirty, chunk; /* blocks between two looks at the clock */
    unsigned instructions;       /* of a block */
    /* a burst: complete blocks of the kernel first, where it is long, then a shot of the rest */
    kernel_fn *wide;
    shot_fn *shot;
    uint64_t blocks, rest, wide_dirty;
    uint64_t period; /* 0: no plain work */
    uint64_t before;
    uint64_t piece, patience;
    unsigned skipped;
};

/* Runs l->skipped + n bursts, the last n of which are reported. */
void burst_loop_run(const struct burst_loop *l, unsigned n, struct burst *out);
