/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readings that are time stamps, one in CHAIN_TURNS of them with a chain of adds that measures the frequency. The
 * kernel module takes its readings in the same way, so that nothing here needs a library or a floating-point or vector
 * register.
 */
#pragma once

#include "drivers/native/sampling.h"

/* One reading in about so many has a chain; every other chain is a long one. Which ones is random. */
enum { CHAIN_TURN_BITS = 2, CHAIN_TURNS = 1 << CHAIN_TURN_BITS };

/* Adds between the payload and a chain. */
enum { CHAIN_WAIT_ADDS = 80 };

/* One reading, as four words: TSC after the chain, which is the time of the reading, before it, and at the end of the
 * payload (without a chain all the same); and chain_word(). */
struct chain_raw {
    uint64_t end, begin, ended, word;
};
/* The chain of a reading, and its adds. */
enum chain_kind { CHAIN_NONE, CHAIN_SHORT, CHAIN_LONG, CHAIN_STEADY_SHORT, CHAIN_STEADY_LONG };
enum { CHAIN_KIND_BITS = 3 };
static inline enum chain_kind chain_kind_of(const struct chain_raw *r)
{
    return (enum chain_kind)(r->word & ((1u << CHAIN_KIND_BITS) - 1));
}
static inline unsigned int chain_adds(enum chain_kind kind)
{
    return kind == CHAIN_SHORT          ? CHAIN_SHORT_ADDS
           : kind == CHAIN_LONG         ? CHAIN_LONG_ADDS
           : kind == CHAIN_STEADY_SHORT ? CHAIN_STEADY_SHORT_ADDS
           : kind == CHAIN_STEADY_LONG  ? CHAIN_STEADY_LONG_ADDS
                                        : 0;
}
/* Blocks of the payload in this stretch so far, and the chain after them. */
static inline uint64_t chain_word(uint64_t blocks, enum chain_kind kind)
{
    return blocks << CHAIN_KIND_BITS | kind;
}
static inline uint64_t chain_blocks(const struct chain_raw *r)
{
    return r->word >> CHAIN_KIND_BITS;
}

/* The choice of chains. */
struct chain_choice {
    unsigned int steady_from; /* they are the longest ones where samples have doubled so often; 0: all */
    uint32_t dither;          /* the wait before one is three numbers of cycles below this, at most 2^16 */
};
struct chain_reader {
    struct chain_raw *out;
    uint64_t random;
    struct chain_choice choice;
};

/*
 * A throttled core also stalls what follows wide instructions, up to 70 to 80 instructions after them (Downs,
 * "Gathering Intel on Intel AVX-512 Transitions"): this many adds later, a chain measures the frequency and not the
 * throttling. They also give the front end the time to fetch the chain after a branch that was predicted the wrong way.
 *
 * The wait before them: the place of a chain among the steps of a coarse clock must be as good as random, or their
 * errors do not even out. One range of cycles is no whole number of steps, and leaves an error of up to
 * step / (pi range); the sum of three has its third power.
 */
static inline __attribute__((always_inline)) void chain_wait(const struct chain_reader *c)
{
    const uint64_t r = c->random;
    uint64_t x = 1, n = 1 + ((r >> 45 & 0xffff) * c->choice.dither >> 16) +
                        ((r >> 29 & 0xffff) * c->choice.dither >> 16) + ((r >> 13 & 0xffff) * c->choice.dither >> 16);

    __asm__ volatile("1: dec %0\n\tjnz 1b\n\tlfence" : "+r"(n) : : "cc", "memory");
    __asm__ volatile(".rept %c1\n\tadd %0, %0\n\t.endr" : "+r"(x) : "i"(CHAIN_WAIT_ADDS) : "cc", "memory");
}

/* A linear congruential generator (Knuth, MMIX). */
static inline void chain_next_random(struct chain_reader *c)
{
    c->random = c->random * 6364136223846793005ull + 1442695040888963407ull;
}

/* A chain, added to what is stored in *r. Which one is known before the wait. Returns the TSC at its end. */
static __attribute__((__noinline__, __unused__)) uint64_t chain_take(const struct chain_reader *c, bool steady,
                                                                     struct chain_raw *r)
{
    const bool is_long = c->random >> 61 & 1;

    r->word |= (steady ? CHAIN_STEADY_SHORT : CHAIN_SHORT) + (unsigned int)is_long;
    chain_wait(c);
    if (steady)
        r->end = is_long ? kernel_chain_steady_long(&r->begin) : kernel_chain_steady_short(&r->begin);
    else
        r->end = is_long ? kernel_chain_long(&r->begin) : kernel_chain_short(&r->begin);
    return r->end;
}

/* A sampling_read; `reader` is a struct chain_reader. */
static inline __attribute__((always_inline)) uint64_t chain_read(void *reader, size_t i, uint64_t blocks,
                                                                 unsigned int doubled)
{
    struct chain_reader *c = reader;
    struct chain_raw *r = &c->out[i];

    r->ended = r->begin = r->end = sampling_stamp();
    r->word = chain_word(blocks, CHAIN_NONE);
    chain_next_random(c);
    if (c->random >> (64 - CHAIN_TURN_BITS))
        return r->end;
    return chain_take(c, doubled >= c->choice.steady_from, r);
}
