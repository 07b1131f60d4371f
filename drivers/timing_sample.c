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

#include "drivers/tsc.h"

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

size_t timing_readings_needed(const struct timing_plan *p)
{
    size_t n = 1;

    for (size_t i = 0; i < p->n; i++) {
        n += p->stretch[i].sampled ? p->stretch[i].ticks / p->period + PACE_EXTRA : 0;
    }
    return n;
}

/* The first point after `from` of the grid that has a point half a period before `zero`. */
static uint64_t grid_before(uint64_t zero, uint64_t from, uint64_t period)
{
    uint64_t last = zero - period / 2;
    return last > from ? last - (last - from - 1) / period * period : last;
}

static uint64_t ticks_before_zero(const struct timing_plan *p)
{
    uint64_t ticks = 0;

    for (size_t i = 0; i < p->zero; i++) {
        ticks += p->stretch[i].ticks;
    }
    return ticks;
}

/* A reading that opens the recording: the origin of the first sample. */
static void origin_reading(struct timing_log *log, struct pace_grid *grid)
{
    struct timing_raw *r = &log->raw[log->n++];

    grid->now = r->end = kernel_chain_short(&r->begin);
    r->blocks = 0;
}

static uint64_t start_of_time(struct timing_log *log, struct pace_grid *grid, bool before_sampled, bool sampled)
{
    if (!before_sampled && sampled && log->n == 0) {
        origin_reading(log, grid);
        before_sampled = true;
    }
    if (before_sampled) {
        log->zero_reading = log->n - 1;
        log->zero_tsc = log->raw[log->n - 1].end;
    } else {
        log->zero_tsc = tsc_now();
    }
    return log->zero_tsc;
}

/*
 * A stretch before the recording: its last part is run like the recorded one, for the cost of a reading and so that
 * nothing changes for the processor where the recording begins.
 */
static uint64_t run_up(const struct timing_plan *p, struct pace_lane *lane, uint64_t end, struct timing_log *log)
{
    uint64_t probed = TIMING_PROBES * p->probe_period, now = tsc_now(), blocks = 0;

    if (end > now && end - now > probed) {
        blocks = lane->run(lane->coarse, end - probed, NULL, lane->dirty);
        now = tsc_now();
    }
    if (end <= now) {
        return blocks + lane->run(1, 0, NULL, lane->dirty);
    }
    struct pace_grid grid = { .next = end - (end - now - 1) / p->probe_period * p->probe_period,
                                .period = p->probe_period, .turn = p->turn, .now = now };
    log->n_probe = timing_sample(lane, &grid, end, log->probe);
    return blocks + log->probe[log->n_probe - 1].blocks / 2;
}

void timing_record(const struct timing_plan *p, struct timing_log *log)
{
    struct pace_grid grid = { .period = p->period, .turn = p->turn };
    uint64_t before = ticks_before_zero(p);
    uint64_t end = tsc_now();
    uint64_t zero = end + before;

    log->n = 0;
    log->n_probe = 0;
    log->zero_reading = SIZE_MAX;
    for (size_t i = 0; i < p->n; i++) {
        const struct timing_stretch *s = &p->stretch[i];
        if (i == p->zero) {
            end = start_of_time(log, &grid, i > 0 && p->stretch[i - 1].sampled, s->sampled);
            grid.next = end + p->offset;
        } else if (s->sampled && log->n == 0) {
            origin_reading(log, &grid);
            if (i < p->zero) {
                grid.next = grid_before(zero, log->raw[0].end, p->period);
            }
        }
        end += s->ticks;
        log->first[i] = log->n;
        if (s->sampled) {
            log->n += timing_sample(s->lane, &grid, end, log->raw + log->n);
            log->blocks[i] = log->raw[log->n - 1].blocks / 2;
        } else {
            bool probed = i + 1 < p->n && p->stretch[i + 1].sampled;
            log->blocks[i] = probed ? run_up(p, s->lane, end, log)
                                    : s->lane->run(s->lane->coarse, end, NULL, s->lane->dirty);
        }
        log->last[i] = log->n;
    }
    if (log->zero_reading == SIZE_MAX) {
        log->zero_reading = log->n;
    }
}
