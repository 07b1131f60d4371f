/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The buffers of kernels whose operands come from beyond the first-level cache (enum kernel_level): one mechanism,
 * three sizes. A buffer is only read, so that threads share it: each second-level cache has its own copy of it, a
 * shared cache one for all, however many cores run, and memory is not used up by them. Each thread has its own place
 * in it.
 */
#pragma once

#include "computer/cpu/caches.h"
#include "drivers/native/huge_buffer.h"
#include "kernels/kernels.h"

/* A buffer, and the place of the measuring thread. All zero: not made yet. */
struct walk {
    struct huge_buffer memory;
    size_t bytes; /* of a lap */
    struct kernel_walk mine;
};
struct walks {
    struct walk of[KERNEL_LEVELS];
};

/*
 * Bytes of a lap at this level, whole plain blocks: WALKS_TIMES times the level before, but not more than half of its
 * own level; from memory at least that of an L3 of WALKS_L3_LEAST, at most WALKS_MOST. MACHINE_CANNOT, with the reason,
 * where a size is not known, or the two levels are too close (less than twice the one before).
 *
 * In a cache that replaces lines at random, a lap of n times its size finds the part h of its lines, where
 * h = exp(-n (1 - h)): 20 % at twice, 2 % at four times. One that replaces the oldest finds none.
 */
enum { WALKS_TIMES = 4, WALKS_TIMES_LEAST = 2 };
#define WALKS_L3_LEAST                                                                                                 \
    (UINT64_C(64) << 20)               /* hypervisors report less than there is; filling 4 times that takes 0.1 s */
#define WALKS_MOST (UINT64_C(1) << 30) /* chosen: filling it takes half a second */
int walks_bytes(const struct cpu_caches *c, const struct payload *p, size_t *bytes, struct machine_error *err);

/*
 * Makes the payload's buffer, unless there is one of this size; nothing of a payload that needs none. Takes up to a
 * second. MACHINE_CANNOT, with the reason: as walks_bytes(), or there is not enough memory. A thread that runs in a
 * buffer of another size must have ended.
 */
int walks_prepare(struct walks *w, const struct cpu_caches *c, const struct payload *p, struct machine_error *err);
/* The measuring thread's place in the payload's buffer, the same for all calls; NULL: it needs none. */
struct kernel_walk *walks_of(struct walks *w, const struct payload *p);
void walks_free(struct walks *w);

/* The place where thread i of n others begins: evenly spread, so that none finds in a cache what another has just read
 * from memory. `whole`: a thread's place in the same buffer; NULL: there is none. */
struct kernel_walk walks_spread(const struct kernel_walk *whole, size_t i, size_t n);
