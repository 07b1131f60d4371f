/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampling loop of the timing machine. Between two readings there is nothing but the payload, a dependent chain
 * and three stores; everything else is computed afterwards.
 */
#include "drivers/timing.h"

#include "drivers/tsc.h"

/* No vector instruction of the compiler's: it would touch the registers whose state is measured here. */
#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 11
#pragma GCC target("general-regs-only")
#endif

/*
 * The first grid point after a reading at `now`. A point less than half a period ahead counts as passed: a sample that
 * short would be worth little. A reading that came far too early (the payload has become faster) is followed by
 * another one before the same point, as long as there are spare ones.
 */
static inline uint64_t next_point(uint64_t next, uint64_t period, uint64_t now, unsigned *spare)
{
    if (now + period / 2 < next && *spare > 0) {
        --*spare;
        return next;
    }
    next += period;
    if (__builtin_expect(now + period / 2 >= next, 0)) {
        next += ((now + period / 2 - next) / period + 1) * period;
    }
    return next;
}

/* Not ordered with the payload: it may be taken while the last instructions before it wait, which `lead` makes up for.
 * Fences would empty the pipeline in the middle of a sample. */
static inline uint64_t tsc_glance(void)
{
    uint32_t lo, hi;
    __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
    return (uint64_t)hi << 32 | lo;
}

static inline uint64_t blocks_in(int64_t ticks, uint64_t rate)
{
    return ticks > 0 ? (uint64_t)ticks * rate >> TIMING_RATE_BITS : 0;
}

/* Runs the payload from `now` to about `until` where its rate may have changed: looks at the clock after a quarter of
 * the time, and more often when it took longer than it should. Returns the blocks. */
static uint64_t run_carefully(const struct timing_lane *lane, uint64_t rate, uint64_t now, uint64_t until)
{
    int64_t quarter = (int64_t)(until - now) / 4;
    uint64_t first = blocks_in(quarter, rate);
    uint64_t blocks = lane->run(first > 0 ? first : 1, 0, NULL, lane->dirty);
    uint64_t glance = tsc_glance();

    if ((int64_t)(glance - now) > quarter + quarter / 2) {
        return blocks + lane->run(lane->fine, until, NULL, lane->dirty);
    }
    uint64_t rest = blocks_in((int64_t)(until - glance), rate);
    return rest > 0 ? blocks + lane->run(rest, 0, NULL, lane->dirty) : blocks;
}

/* Long periods: there is time to look at the clock until shortly before the end. */
static uint64_t run_long(const struct timing_lane *lane, uint64_t rate, uint64_t until)
{
    uint64_t blocks = lane->run(lane->coarse, until - lane->early, NULL, lane->dirty);
    uint64_t rest = blocks_in((int64_t)(until - tsc_glance()), rate);

    return rest > 0 ? blocks + lane->run(rest, 0, NULL, lane->dirty) : blocks;
}

/* Runs the payload from `now` to about `until`, at what was its rate. Returns the blocks. */
static inline uint64_t run_until(const struct timing_lane *lane, uint64_t rate, uint64_t now, uint64_t until,
                                 bool careful)
{
    if (__builtin_expect(lane->early != 0, 0)) {
        return run_long(lane, rate, until);
    }
    if (__builtin_expect(careful, 0)) {
        return run_carefully(lane, rate, now, until);
    }
    uint64_t blocks = blocks_in((int64_t)(until - now), rate);
    return lane->run(blocks > 0 ? blocks : 1, 0, NULL, lane->dirty);
}

/* Blocks a tick in the last sample. Integer arithmetic: vector registers are the payload's. */
static inline uint64_t rate_seen(uint64_t blocks, uint64_t ticks)
{
    return (blocks << TIMING_RATE_BITS) / (ticks | 1);
}

/* Ticks by which a reading may miss its time before something else than the way of the instructions through the
 * pipeline must have been the reason. */
static inline int64_t tolerance(uint64_t period)
{
    return (int64_t)(period / 8);
}

/* What the next sample is computed with. */
struct pace {
    uint64_t rate;
    bool careful;     /* the rate may be wrong */
    unsigned strikes; /* samples in a row that ended too late */
};

/*
 * Learns from a sample that ran at the rate `seen` and ended `late` ticks after its time; `whole`: it took more than
 * half a period. A short one is mostly overhead and teaches nothing; a late one may have been interrupted and is
 * believed the second time. From regular ones the rate follows by a quarter, which evens out what the other
 * hyper-thread does.
 */
static inline void learn(struct pace *p, uint64_t seen, int64_t late, int64_t most, bool whole)
{
    bool too_late = late > most, too_early = late < -most;

    p->strikes = too_late ? p->strikes + 1 : 0;
    if (too_early || p->strikes >= 2 || (p->careful && !too_late && whole)) {
        p->rate = seen;
    } else if (!too_late && whole) {
        p->rate += (uint64_t)((int64_t)(seen - p->rate) / 4);
    }
    p->careful = too_late || too_early || (p->careful && !whole);
}

/*
 * The payload up to `until`, then a chain. Inlined twice, once for each chain, so that there is no branch between the
 * payload and the chain: a mispredicted one there, or the mispredicted last branch of the payload without the fence,
 * leaves less of the chain fetched ahead and changes its time by up to 0.9 ticks, which is 1 % of the frequency. Like
 * this the cost of a reading is the same for both chains after all payloads.
 */
static inline __attribute__((always_inline))
uint64_t take(const struct timing_lane *lane, const struct pace *pace, uint64_t now, uint64_t until, bool is_long,
              struct timing_raw *r)
{
    uint64_t blocks = run_until(lane, pace->rate, now, until, pace->careful);

    __asm__ volatile("lfence" : : : "memory");
    r->end = is_long ? kernel_chain_long(&r->begin) : kernel_chain_short(&r->begin);
    return blocks;
}

size_t timing_sample(struct timing_lane *lane, struct timing_grid *grid, uint64_t end, struct timing_raw *out)
{
    const uint64_t period = grid->period;
    uint64_t next = grid->next, now = grid->now, blocks = 0, target;
    unsigned turn = grid->turn % TIMING_TURNS, spare = TIMING_SPARE;
    struct pace pace = { .rate = lane->rate, .careful = true };
    struct timing_raw *r = out;

    do {
        bool is_long = turn == 0;
        target = next + period / 4 < end ? next : end;
        /* the reading is the end of the chain, so that the payload must end earlier by its length */
        uint64_t until = target - (uint64_t)lane->lead[is_long], done;
        if (is_long) {
            done = take(lane, &pace, now, until, true, r);
        } else {
            done = take(lane, &pace, now, until, false, r);
        }
        blocks += done;
        r->blocks = blocks * 2 + is_long;
        int64_t late = (int64_t)(r->end - target);
        learn(&pace, rate_seen(done, r->begin - now), late, tolerance(period), r->begin - now > period / 2);
        lane->lead[is_long] += pace.careful ? 0 : late / 8;
        now = r->end;
        next = next_point(next, period, now, &spare);
        r++;
        turn = (turn + 1) % TIMING_TURNS;
    } while (target != end);
    lane->rate = pace.rate;
    grid->now = now;
    grid->next = next;
    grid->turn = turn;
    return (size_t)(r - out);
}

size_t timing_readings_needed(const struct timing_plan *p)
{
    size_t n = 1;

    for (size_t i = 0; i < p->n; i++) {
        n += p->stretch[i].sampled ? p->stretch[i].ticks / p->period + TIMING_EXTRA : 0;
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
static void origin_reading(struct timing_log *log, struct timing_grid *grid)
{
    struct timing_raw *r = &log->raw[log->n++];

    grid->now = r->end = kernel_chain_short(&r->begin);
    r->blocks = 0;
}

static uint64_t start_of_time(struct timing_log *log, struct timing_grid *grid, bool before_sampled, bool sampled)
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
static uint64_t run_up(const struct timing_plan *p, struct timing_lane *lane, uint64_t end, struct timing_log *log)
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
                                .period = p->probe_period, .turn = p->turn, .now = now };
    log->n_probe = timing_sample(lane, &grid, end, log->probe);
    return blocks + log->probe[log->n_probe - 1].blocks / 2;
}

void timing_record(const struct timing_plan *p, struct timing_log *log)
{
    struct timing_grid grid = { .period = p->period, .turn = p->turn };
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
