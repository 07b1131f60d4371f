/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A time-stamp counter that a test makes: RDTSC faults, and the answer is a number that grows by what a test lets pass,
 * so that what reads the clock all the time gives the same numbers in each run and on each machine. Of the calling
 * thread alone. The C library's clocks go on; a test that needs them made as well defines clock_gettime(2) itself.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MADE_CHAINS = 4 };
struct made_clock {
    uint64_t now;
    /* how it grows by being read: by so much, and by up to `spread` more, as made-up numbers have it */
    unsigned read, spread;
    unsigned quantum; /* it is read rounded down to multiples of so much; 0: as it is */
    /* the time that each chain of kernels/chain.asm takes between its two reads: short, long, steady short and long */
    unsigned chain[MADE_CHAINS];
    uint64_t reads; /* so far */
};
/* The clock of this thread; there is one. */
extern struct made_clock made_clock;

/* From now on RDTSC reads it. False: this system has no way to do so. */
bool made_clock_begin(void);
/* The processor's own again. */
void made_clock_end(void);
