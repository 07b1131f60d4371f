/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that keep other cores busy with a kernel, so that a core is measured at a given number of active cores. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "drivers/machine.h"

struct corunners;

/* Slices of one payload, each followed by one of another in the first-level cache, in TSC ticks. */
struct corunner_code {
    struct payload payload;
    const struct kernel_walk *walk; /* the buffer that its operands come from; NULL: it needs none */
    uint64_t ticks;
    struct payload rest;
    uint64_t rest_ticks; /* 0: there is none */
};

/*
 * Starts one thread on each of the n logical CPUs, pinned there, at normal priority; each runs `code` without pause and
 * looks after every slice whether it is to stop. Returns when all of them run: MACHINE_OK and *out (NULL for n = 0), or
 * *err filled and its status; then nothing is left running.
 */
int corunners_start(const int *cpus, size_t n, const struct corunner_code *code, struct corunners **out,
                    struct machine_error *err);

/* Slices that thread i has run so far: it grows while the thread runs. */
uint64_t corunners_slices(const struct corunners *c, size_t i);

/* Stops them and waits for their end. NULL is allowed. */
void corunners_stop(struct corunners *c);
