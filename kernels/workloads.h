/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pieces of code of fixed length whose duration is the result (doc/quiet-machine.md, --table variability): not kernels,
 * which run until a deadline.
 */
#pragma once

#include "kernels/kernels.h"

/*
 * Runs `rounds` rounds (>= 1) of the workload, the first of which has the number `first`. `buffer` and `mask`: of those
 * with memory operands, a buffer aligned to 64 bytes and its size - 1, a power of two (>= 64) less one. Only
 * WORKLOAD_LOAD, WORKLOAD_CHASE and WORKLOAD_SPOIL look at `first`, only the former two at the buffer. Returns a value
 * that depends on all that was computed, so that a test can check it: the same for the same arguments and contents.
 */
typedef uint64_t workload_fn(uint64_t rounds, const void *buffer, uint64_t mask, uint64_t first);

enum workload_number {
    WORKLOAD_REGISTER, /* V 3.1: registers only, one well-predicted branch a round */
    WORKLOAD_BRANCH,   /* V 3.10.1: trial division; a round is one number tested: 3, 4, ... up to 5999, then again */
    /*
     * V 4.2, load@mem: a round is WORKLOAD_LOADS independent loads of 8 bytes, each from another line of 64 bytes. The
     * lines come in a pseudo-random order in which each has one turn before any has its second: round `first + n`
     * continues what round `first` began. So a buffer larger than a cache is never found in it when the next call goes
     * on where the last one ended; with the same `first` each call reads the same lines.
     */
    WORKLOAD_LOAD,
    /* fills the branch predictor: a round is WORKLOAD_BRANCHES branches of its own, at random; no result counts */
    WORKLOAD_SPOIL,
    /* chase@mem: as WORKLOAD_LOAD, but each load waits for the one before it, whose value is part of its address: the
     * buffer must be all zeros. Not in the kernel module */
    WORKLOAD_CHASE,
    WORKLOADS
};
enum { WORKLOAD_LOADS = 16, WORKLOAD_BRANCHES = 4096 };

struct workload {
    const char *name; /* "register", "branch", "load@mem", "spoil", "chase@mem" */
    workload_fn *run;
};
/* kernels/workloads.c: by its number. */
const struct workload *workload_get(enum workload_number n);
