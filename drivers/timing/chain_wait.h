/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What comes before each chain of adds that measures the frequency, and how a reading is written down. The kernel
 * module takes its chains in the same way, so that nothing here needs a library or a floating-point or vector register.
 */
#pragma once

#include "drivers/native/pace.h"

/* One chain in so many is a long one: of short chains, and where a coarse clock needs longer ones. */
enum { CHAIN_TURNS = 8, CHAIN_COARSE_TURNS = 4 };

/* Adds between the payload and a chain. */
enum { CHAIN_WAIT_ADDS = 80 };

/*
 * A throttled core also stalls what follows wide instructions, up to 75 instructions behind them (dissertation on
 * Skylake-SP, section 5.2.1): this many adds later, a chain measures the frequency and not the throttling.
 */
static inline __attribute__((always_inline)) void chain_wait_out_of_reach(void)
{
    uint64_t x = 1;
    __asm__ volatile(".rept %c1\n\tadd %0, %0\n\t.endr" : "+r"(x) : "i"(CHAIN_WAIT_ADDS) : "cc", "memory");
}

/*
 * The wait before chain after chain. Its place among the steps of the clock must be as good as random, or their errors
 * do not even out: the payload alone does not do that, it ends so many whole blocks after the last reading, and that
 * was where the one before had left it. One range of cycles is no whole number of steps, and leaves an error of up to
 * step / (pi range); the sum of three has its third power. Each number fills its range evenly, and all three their cube
 * (the additive recurrence of Roberts, "The unreasonable effectiveness of quasirandom sequences", with 1.2207...).
 */
struct chain_dither {
    uint32_t state[3];
};
static inline void chain_dither_seed(struct chain_dither *d, uint32_t seed)
{
    for (unsigned int i = 0; i < 3; i++)
        d->state[i] = seed * (2654435761u + 2 * i);
}
static inline uint64_t chain_next_wait(struct chain_dither *d, uint32_t range)
{
    static const uint32_t step[3] = {0xd1b54a33u, 0xabc98389u, 0x8cb92ba8u};
    uint64_t n = 0;
    for (unsigned int i = 0; i < 3; i++) {
        d->state[i] += step[i];
        n += (uint64_t)d->state[i] * range >> 32;
    }
    return n;
}

/* The adds that follow give the front end the time to fetch the chain after the loop's mispredicted last branch. */
static inline __attribute__((always_inline)) void chain_wait_dithered(struct chain_dither *d, uint32_t range)
{
    uint64_t n = chain_next_wait(d, range) + 1;
    __asm__ volatile("1: dec %0\n\tjnz 1b\n\tlfence" : "+r"(n) : : "cc", "memory");
}

/*
 * A word of each reading: blocks of the payload in this segment so far, times two; plus one after a long chain; plus
 * 2^48 times the ticks from the end of the payload to the chain (at most CHAIN_WAIT_MOST).
 */
enum { CHAIN_BLOCKS_BITS = 48, CHAIN_WAIT_MOST = 0xffff };
static inline uint64_t chain_word(uint64_t blocks, unsigned int is_long, uint64_t wait)
{
    return (blocks * 2 + is_long) | (wait < CHAIN_WAIT_MOST ? wait : CHAIN_WAIT_MOST) << CHAIN_BLOCKS_BITS;
}
static inline uint64_t chain_blocks(uint64_t word)
{
    return (word & ((1ull << CHAIN_BLOCKS_BITS) - 1)) >> 1;
}
static inline uint64_t chain_wait(uint64_t word)
{
    return word >> CHAIN_BLOCKS_BITS;
}
