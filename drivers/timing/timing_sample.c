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
#include "drivers/timing/timing_sample.h"

/* Where the raw readings go, and the blocks of the segment so far. */
struct chain_reader {
    struct timing_raw *out;
    uint64_t blocks;
    struct chain_dither dither;
    uint32_t dither_range;
};

/*
 * The payload up to `until`, then a chain. Inlined once for each chain, so that there is no branch between the
 * payload and the chain: a mispredicted one there, or the mispredicted last branch of the payload without the fence,
 * leaves less of the chain fetched ahead and changes its time by up to 0.9 ticks, which is 1 % of the frequency. Like
 * this the cost of a reading is the same for both chains after all payloads.
 */
static inline __attribute__((always_inline)) uint64_t
timing_sample_take(struct chain_reader *c, size_t i, const struct pace_lane *lane, const struct pace *pace,
                   uint64_t now, uint64_t until, unsigned is_long, uint64_t (*chain)(uint64_t *), uint64_t *begin,
                   uint64_t *blocks)
{
    struct timing_raw *r = &c->out[i];

    *blocks = pace_run_until(lane, pace->rate, now, until, pace->careful);
    __asm__ volatile("lfence" : : : "memory");
    uint64_t ended = pace_glance();
    chain_wait_dithered(&c->dither, c->dither_range);
    chain_wait_out_of_reach();
    r->end = chain(&r->begin);
    c->blocks += *blocks;
    r->blocks = chain_word(c->blocks, is_long, r->begin - ended);
    *begin = ended;
    return r->end;
}

/* One for each pair of chains. */
#define TAKE(NAME, SHORT, LONG)                                                                                        \
    static inline __attribute__((always_inline))                                                                       \
    uint64_t take_##NAME(void *reader, size_t i, const struct pace_lane *lane, const struct pace *pace, uint64_t now,  \
                         uint64_t until, unsigned is_long, uint64_t *begin, uint64_t *blocks)                          \
    {                                                                                                                  \
        return is_long ? timing_sample_take(reader, i, lane, pace, now, until, 1, LONG, begin, blocks)                 \
                       : timing_sample_take(reader, i, lane, pace, now, until, 0, SHORT, begin, blocks);               \
    }
TAKE(fine, kernel_chain_short, kernel_chain_long)
TAKE(coarse, kernel_chain_long, kernel_chain_longest)
TAKE(steady, kernel_chain_steady_short, kernel_chain_steady_long)

size_t timing_sample(const struct timing_chains *chains, struct pace_lane *lane, struct pace_grid *grid, uint64_t end,
                     struct timing_raw *out, size_t room)
{
    struct chain_reader reader = {.out = out, .blocks = grid->blocks, .dither_range = chains->dither};

    chain_dither_seed(&reader.dither, (uint32_t)pace_glance());
    switch (chains->adds[0]) {
    case CHAIN_SHORT_ADDS:
        return pace_sample(lane, grid, end, room, chains->turns, take_fine, &reader);
    case CHAIN_LONG_ADDS:
        return pace_sample(lane, grid, end, room, chains->turns, take_coarse, &reader);
    default:
        return pace_sample(lane, grid, end, room, chains->turns, take_steady, &reader);
    }
}

/* A pair of witnesses. They take their turns with the steps of the clock as readings do. */
static void take_witnesses(struct timing_log *log, struct chain_dither *dither)
{
    static uint64_t (*const chain[WITNESS_KINDS])(uint64_t *) = {kernel_chain_long, kernel_chain_steady_long,
                                                                 kernel_chain_multiply};
    const unsigned kinds[2] = {WITNESS_SHORT, log->n_witness / 2 % 2 ? WITNESS_MULTIPLICATIONS : WITNESS_ADDS};

    for (size_t i = 0; i < 2; i++) {
        struct timing_raw *r = &log->witness[log->n_witness++];
        chain_wait_dithered(dither, log->chains->dither);
        chain_wait_out_of_reach();
        r->end = chain[kinds[i]](&r->begin);
        r->blocks = chain_word(kinds[i], 0, 0);
    }
}

/* The probes in parts, with a pair of witnesses behind each part. Grid points that these take are left out. */
size_t timing_sample_probes(struct timing_log *log, size_t room, struct pace_lane *lane, struct pace_grid *grid,
                            uint64_t end, uint64_t *blocks)
{
    struct chain_dither dither;
    size_t n = 0;

    chain_dither_seed(&dither, (uint32_t)pace_glance());
    *blocks = 0;
    log->n_witness = 0;
    for (bool last = false; !last && n < room;) {
        uint64_t until = grid->next + WITNESS_EVERY * grid->period;
        last = until + WITNESS_EVERY / 2 * grid->period >= end || log->n_witness + 2 > WITNESS_ROOM;
        size_t got = timing_sample(log->chains, lane, grid, last ? end : until, log->probe + n, room - n);
        n += got;
        *blocks += got > 0 ? timing_blocks(&log->probe[n - 1]) : 0;
        if (grid->cut)
            break;
        if (!last) {
            take_witnesses(log, &dither);
            unsigned spare = 0;
            grid->now = pace_glance();
            grid->next = pace_next_point(grid->next - grid->period, grid->period, grid->now, &spare);
        }
    }
    return n;
}

/* The log is the context: where chains go. */
static size_t sample_chains(void *context, bool probe, size_t at, size_t room, struct pace_lane *lane,
                            struct pace_grid *grid, uint64_t end, uint64_t *blocks)
{
    struct timing_log *log = context;

    if (probe)
        return timing_sample_probes(log, room, lane, grid, end, blocks);
    size_t n = timing_sample(&log->chains[grid->stage], lane, grid, end, log->raw + at, room);
    *blocks = n > 0 ? timing_blocks(&log->raw[at + n - 1]) : grid->blocks;
    return n;
}

static uint64_t first_chain(void *context, size_t at)
{
    const struct timing_log *log = context;
    struct timing_raw *r = &log->raw[at];

    uint64_t (*chain)(uint64_t *) = log->chains->adds[0] == CHAIN_SHORT_ADDS  ? kernel_chain_short
                                    : log->chains->adds[0] == CHAIN_LONG_ADDS ? kernel_chain_long
                                                                              : kernel_chain_steady_short;
    r->end = chain(&r->begin);
    r->blocks = 0;
    return r->end;
}

void timing_record(const struct plan *p, struct timing_log *log)
{
    const struct plan_reader reader = {.context = log, .sample = sample_chains, .origin = first_chain};

    plan_record(p, &reader, &log->at);
}
