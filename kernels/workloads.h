/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pieces of code of fixed length whose duration is the result (doc/quiet-machine.md, --table variability): not kernels,
 * which run until a deadline.
 */
#pragma once

#include "kernels/kernels.h"

/*
 * Runs `rounds` rounds (>= 1) of the workload. `buffer` and `mask`: of those with memory operands, a buffer aligned to 64
 * bytes and its size - 1, a power of two less one; others ignore both. Returns a value that depends on all that was
 * computed, so that a test can check it: the same for the same arguments and contents.
 */
typedef uint64_t workload_fn(uint64_t rounds, const void *buffer, uint64_t mask);

enum workload_number {
    WORKLOAD_REGISTER, /* V 3.1: registers only, one well-predicted branch a round */
    WORKLOAD_BRANCH,   /* V 3.10.1: trial division; a round is one number tested: 3, 4, ... up to 6000, then again */
    WORKLOAD_LOAD,     /* V 4.2, load@mem: a round is 16 independent loads of 8 bytes at pseudo-random places */
    WORKLOAD_SPOIL, /* fills the branch predictor: thousands of branches of its own, at random; no result of it counts */
    WORKLOADS
};
struct workload {
    const char *name; /* "register", "branch", "load@mem", "spoil" */
    workload_fn *run;
};
/* kernels/workloads.c: by its number. */
const struct workload *workload_get(enum workload_number n);
