/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampling loop of the timing machine. Between two readings there is nothing but the payload, a dependent chain
 * and three stores; everything else is computed afterwards.
 */
/* No vector instruction of the compiler's: it would touch the registers whose state is measured here. Ahead of the
 * headers, because what is inlined must be compiled alike. */
#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 11
#pragma GCC target("general-regs-only")
#endif
#include "drivers/timing.h"

/* Where the raw readings go, and the blocks of the segment so far. */
struct chain_reader {
    struct timing_raw *out;
    uint64_t blocks;
    uint32_t dither, dither_range; /* of the wait before a chain: the state, and the cycles it stays below */
};

/*
 * Waits for 0 to dither_range cycles, then for 40: the place of a chain among the steps of the clock must be as good as
 * random, or their errors do not even out. The payload alone does not do that: it ends so many whole blocks after the
 * last reading, and that was where the one before had left it. Multiples of the golden ratio fill the range evenly
 * (Knuth, TAOCP 3, section 6.4). The adds give the front end the time to fetch the chain after the loop's mispredicted
 * last branch.
 */
static inline __attribute__((always_inline)) void wait_dithered(struct chain_reader *c)
{
    c->dither += 0x9e3779b9u;
    uint64_t n = ((uint64_t)c->dither * c->dither_range >> 32) + 1, x = 1;
    __asm__ volatile("1: dec %0\n\tjnz 1b\n\tlfence\n\t"
                     ".rept 40\n\tadd %1, %1\n\t.endr" : "+r"(n), "+r"(x) : : "cc", "memory");
}

/*
 * The payload up to `until`, then a chain. Inlined once for each chain, so that there is no branch between the
 * payload and the chain: a mispredicted one there, or the mispredicted last branch of the payload without the fence,
 * leaves less of the chain fetched ahead and changes its time by up to 0.9 ticks, which is 1 % of the frequency. Like
 * this the cost of a reading is the same for both chains after all payloads.
 */
static inline __attribute__((always_inline))
uint64_t take(struct chain_reader *c, size_t i, const struct pace_lane *lane, const struct pace *pace, uint64_t now,
              uint64_t until, unsigned is_long, bool dithered, uint64_t (*chain)(uint64_t *), uint64_t *begin,
              uint64_t *blocks)
{
    struct timing_raw *r = &c->out[i];

    *blocks = pace_run_until(lane, pace->rate, now, until, pace->careful);
    __asm__ volatile("lfence" : : : "memory");
    if (dithered) {
        wait_dithered(c);
    }
    r->end = chain(&r->begin);
    c->blocks += *blocks;
    r->blocks = c->blocks * 2 + is_long;
    *begin = r->begin;
    return r->end;
}

static inline __attribute__((always_inline))
uint64_t take_fine(void *reader, size_t i, const struct pace_lane *lane, const struct pace *pace, uint64_t now,
                   uint64_t until, unsigned is_long, uint64_t *begin, uint64_t *blocks)
{
    return is_long ? take(reader, i, lane, pace, now, until, 1, false, kernel_chain_long, begin, blocks)
                   : take(reader, i, lane, pace, now, until, 0, false, kernel_chain_short, begin, blocks);
}

static inline __attribute__((always_inline))
uint64_t take_coarse(void *reader, size_t i, const struct pace_lane *lane, const struct pace *pace, uint64_t now,
                     uint64_t until, unsigned is_long, uint64_t *begin, uint64_t *blocks)
{
    return is_long ? take(reader, i, lane, pace, now, until, 1, true, kernel_chain_longest, begin, blocks)
                   : take(reader, i, lane, pace, now, until, 0, true, kernel_chain_long, begin, blocks);
}

size_t timing_sample(const struct timing_chains *chains, struct pace_lane *lane, struct pace_grid *grid, uint64_t end,
                     struct timing_raw *out)
{
    struct chain_reader reader = { .out = out, .dither = (uint32_t)pace_glance() * 2654435761u,
                                   .dither_range = chains->dither };

    return chains->dither > 0 ? pace_sample(lane, grid, end, chains->turns, take_coarse, &reader)
                              : pace_sample(lane, grid, end, chains->turns, take_fine, &reader);
}

/* The log is the context: where chains go. */
static size_t sample_chains(void *context, bool probe, size_t at, struct pace_lane *lane, struct pace_grid *grid,
                            uint64_t end, uint64_t *blocks)
{
    const struct timing_log *log = context;
    struct timing_raw *out = probe ? log->probe : log->raw + at;
    size_t n = timing_sample(log->chains, lane, grid, end, out);

    *blocks = out[n - 1].blocks / 2;
    return n;
}

static uint64_t first_chain(void *context, size_t at)
{
    const struct timing_log *log = context;
    struct timing_raw *r = &log->raw[at];

    r->end = log->chains->dither > 0 ? kernel_chain_long(&r->begin) : kernel_chain_short(&r->begin);
    r->blocks = 0;
    return r->end;
}

void timing_record(const struct plan *p, struct timing_log *log)
{
    const struct plan_reader reader = { .context = log, .sample = sample_chains, .origin = first_chain };

    plan_record(p, &reader, &log->at);
}
