/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampling loop of the timing machine. Between two readings there is nothing but the payload, a dependent chain
 * and three stores; everything else is computed afterwards.
 */
#include "drivers/timing.h"

#include "drivers/tsc.h"

/* The first grid point after a reading at `now`. A point less than half a period ahead counts as passed: a sample that
 * short would be worth little. */
static inline uint64_t next_point(uint64_t next, uint64_t period, uint64_t now)
{
    if (now + period / 2 < next) {
        return next;
    }
    next += period;
    if (__builtin_expect(now + period / 2 >= next, 0)) {
        next += ((now + period / 2 - next) / period + 1) * period;
    }
    return next;
}

size_t timing_sample(const struct timing_lane *lane, struct timing_grid *grid, uint64_t end, struct timing_raw *out)
{
    const uint64_t period = grid->period;
    uint64_t next = grid->next, blocks = 0, target;
    unsigned parity = grid->parity & 1;
    struct timing_raw *r = out;

    do {
        target = next + period / 4 < end ? next : end;
        /* the reading is the end of the chain, so that the payload must end earlier by its length */
        blocks += lane->run(lane->chunk, target - lane->lead[parity], NULL, lane->dirty);
        /*
         * Without this fence the short chain took up to 0.9 ticks longer after some payloads and not after others (it
         * depends on whether the payload's last branch was predicted, that is on how far ahead the chain has been
         * fetched), which is 1 % of the frequency. With it the cost of a reading is the same after all of them.
         */
        __asm__ volatile("lfence" : : : "memory");
        r->end = parity ? kernel_chain_long(&r->begin) : kernel_chain_short(&r->begin);
        r->blocks = blocks * 2 + parity;
        next = next_point(next, period, r->end);
        r++;
        parity ^= 1;
    } while (target != end);
    grid->next = next;
    grid->parity = parity;
    return (size_t)(r - out);
}

size_t timing_readings_needed(const struct timing_plan *p)
{
    size_t n = 1;

    for (size_t i = 0; i < p->n; i++) {
        n += p->stretch[i].sampled ? p->stretch[i].ticks / p->period + 2 : 0;
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
static void origin_reading(struct timing_log *log)
{
    struct timing_raw *r = &log->raw[log->n++];

    r->end = kernel_chain_short(&r->begin);
    r->blocks = 0;
}

static uint64_t start_of_time(struct timing_log *log, bool before_sampled, bool sampled)
{
    if (!before_sampled && sampled && log->n == 0) {
        origin_reading(log);
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
static uint64_t run_up(const struct timing_plan *p, const struct timing_lane *lane, uint64_t end, struct timing_log *log)
{
    uint64_t probed = TIMING_PROBES * p->probe_period, now = tsc_now(), blocks = 0;

    if (end > now && end - now > probed) {
        blocks = lane->run(lane->coarse, end - probed, NULL, lane->dirty);
        now = tsc_now();
    }
    if (end <= now) {
        return blocks + lane->run(1, 0, NULL, lane->dirty);
    }
    struct timing_grid grid = { .next = end - (end - now - 1) / p->probe_period * p->probe_period,
                                .period = p->probe_period, .parity = p->parity };
    log->n_probe = timing_sample(lane, &grid, end, log->probe);
    return blocks + log->probe[log->n_probe - 1].blocks / 2;
}

void timing_record(const struct timing_plan *p, struct timing_log *log)
{
    struct timing_grid grid = { .period = p->period, .parity = p->parity };
    uint64_t before = ticks_before_zero(p);
    uint64_t end = tsc_now();
    uint64_t zero = end + before;

    log->n = 0;
    log->n_probe = 0;
    log->zero_reading = SIZE_MAX;
    for (size_t i = 0; i < p->n; i++) {
        const struct timing_stretch *s = &p->stretch[i];
        if (i == p->zero) {
            end = start_of_time(log, i > 0 && p->stretch[i - 1].sampled, s->sampled);
            grid.next = end + p->offset;
        } else if (s->sampled && log->n == 0) {
            origin_reading(log);
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
