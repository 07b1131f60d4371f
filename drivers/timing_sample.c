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
};

/*
 * The payload up to `until`, then a chain. Inlined twice, once for each chain, so that there is no branch between the
 * payload and the chain: a mispredicted one there, or the mispredicted last branch of the payload without the fence,
 * leaves less of the chain fetched ahead and changes its time by up to 0.9 ticks, which is 1 % of the frequency. Like
 * this the cost of a reading is the same for both chains after all payloads.
 */
static inline __attribute__((always_inline))
uint64_t take(void *reader, size_t i, const struct pace_lane *lane, const struct pace *pace, uint64_t now,
              uint64_t until, unsigned is_long, uint64_t *begin, uint64_t *blocks)
{
    struct chain_reader *c = reader;
    struct timing_raw *r = &c->out[i];

    *blocks = pace_run_until(lane, pace->rate, now, until, pace->careful);
    __asm__ volatile("lfence" : : : "memory");
    r->end = is_long ? kernel_chain_long(&r->begin) : kernel_chain_short(&r->begin);
    c->blocks += *blocks;
    r->blocks = c->blocks * 2 + is_long;
    *begin = r->begin;
    return r->end;
}

size_t timing_sample(struct pace_lane *lane, struct pace_grid *grid, uint64_t end, struct timing_raw *out)
{
    struct chain_reader reader = { .out = out };

    return pace_sample(lane, grid, end, TIMING_TURNS, take, &reader);
}

/* The log is the context: where chains go. */
static size_t sample_chains(void *context, bool probe, size_t at, struct pace_lane *lane, struct pace_grid *grid,
                            uint64_t end, uint64_t *blocks)
{
    const struct timing_log *log = context;
    struct timing_raw *out = probe ? log->probe : log->raw + at;
    size_t n = timing_sample(lane, grid, end, out);

    *blocks = out[n - 1].blocks / 2;
    return n;
}

static uint64_t first_chain(void *context, size_t at)
{
    const struct timing_log *log = context;
    struct timing_raw *r = &log->raw[at];

    r->end = kernel_chain_short(&r->begin);
    r->blocks = 0;
    return r->end;
}

void timing_record(const struct plan *p, struct timing_log *log)
{
    const struct plan_reader reader = { .context = log, .sample = sample_chains, .origin = first_chain };

    plan_record(p, &reader, &log->at);
}
