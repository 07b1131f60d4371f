/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pace of sampling: runs a payload and takes a reading at every point of a grid, with next to nothing in between.
 * What a reading is, the including file says: a chain of adds, a row of RDPMC. It is inlined, so that the loop holds no
 * call and no branch that depends on the machine. The kernel module uses the same loop, so that nothing here needs a
 * library or a floating-point or vector register: those are the payload's.
 *
 * Looking at the clock costs half as much as a reading (50 cycles of a Sapphire Rapids), so it cannot be done every few
 * dozen nanoseconds: the number of blocks up to the next reading is computed from the rate of the sample before. In the
 * first sample, and after any that did not end in time, the clock is looked at after a quarter of them, so that a
 * payload that is throttled to a quarter of its rate from its first instruction on takes one period and not four. Where
 * throttling begins later, one sample may take up to four periods.
 */
#pragma once

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#include "kernels/kernels.h"

/* How one payload is run on this CPU at this sample period. */
struct pace_lane {
    kernel_fn *run;
    uint64_t dirty;
    uint64_t fine;   /* blocks in a twenty-fifth of a period */
    uint64_t coarse; /* blocks between two looks at the clock where time is not critical: half a microsecond */
    uint64_t early;  /* long periods: stop looking so many ticks before the next reading; 0 = short period */
    uint64_t rate;   /* blocks a tick, in units of 2^-PACE_RATE_BITS; follows what is seen */
    uint64_t most;   /* blocks without a look at the clock; 0 = no bound. The kernel module, which runs with
                              interrupts masked, sets one, so that no wrong rate can hold the CPU */
    int64_t lead[2]; /* ticks from the end of the payload to the reading, of the usual kind and of the one at
                              turn 0; follows what is seen */
};
enum { PACE_RATE_BITS = 32 };

/* The grid of deadlines. */
struct pace_grid {
    uint64_t now;       /* TSC of the last reading, or of the start */
    uint64_t next;      /* TSC of the next point */
    uint64_t period;    /* ticks */
    unsigned turn;      /* one reading in so many is of another kind: that of turn 0 */
    unsigned stage;     /* 1: its period has grown long (plan.h) */
    uint64_t grow_from; /* TSC from which on the period grows; 0: it does not */
    uint64_t most;      /* ticks: ... to so much */
    uint64_t blocks;    /* of the payload, run in this stretch before */
    bool cut;           /* the room ended before the time */
};

/*
 * A period that grows, by 2^-PACE_GROWTH_BITS of the time since it began to, up to `most`: a stretch of 500 ms behind
 * fine samples of 1 us has some 3200 samples, and what happens at a time is seen in samples of 1/256 of it.
 * PACE_GROWN_US: of longer samples most would hold an interruption, which takes too small a part of them to be seen.
 */
enum { PACE_GROWTH_BITS = 8, PACE_GROWN_US = 250 };
static inline uint64_t pace_period_grown(uint64_t period, uint64_t most, uint64_t since)
{
    const uint64_t grown = period + (since >> PACE_GROWTH_BITS);

    return grown < most || most < period ? grown : most;
}

/* How many points such a grid has in so long a time, at most; in any unit of time of which a period holds many. */
static inline size_t pace_points_grown(uint64_t period, uint64_t most, uint64_t time)
{
    size_t n = 1;

    for (uint64_t t = 0; t < time; t += pace_period_grown(period, most, t))
        n++;
    return n;
}

/* A stretch of `ticks` yields at most ticks / period + PACE_EXTRA readings, unless the CPU was taken away meanwhile. */
enum { PACE_SPARE = 14, PACE_EXTRA = PACE_SPARE + 2 };

/*
 * The first grid point after a reading at `now`. A point less than half a period ahead counts as passed: a sample that
 * short would be worth little. A reading that came far too early (the payload has become faster) is followed by
 * another one before the same point, as long as there are spare ones.
 */
static inline uint64_t pace_next_point(uint64_t next, uint64_t period, uint64_t now, unsigned *spare)
{
    if (now + period / 2 < next && *spare > 0) {
        --*spare;
        return next;
    }
    next += period;
    if (__builtin_expect(now + period / 2 >= next, 0))
        next += ((now + period / 2 - next) / period + 1) * period;
    return next;
}

/* Not ordered with the payload: it may be taken while the last instructions before it wait, which `lead` makes up for.
 * Fences would empty the pipeline in the middle of a sample. */
static inline uint64_t pace_glance(void)
{
    uint32_t lo, hi;
    __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
    return (uint64_t)hi << 32 | lo;
}

/* 0 where the time is over, and where it is as far ahead as only a TSC that began again can put it: END_BLOCK of
 * kernels/kernel.inc has the same bound. */
#define PACE_AHEAD_MOST (1ull << 36)
static inline uint64_t pace_blocks_in(int64_t ticks, uint64_t rate)
{
    return (uint64_t)(ticks - 1) < PACE_AHEAD_MOST ? (uint64_t)ticks * rate >> PACE_RATE_BITS : 0;
}

/* Runs `blocks`, at least 1; more than the lane's bound by the clock instead, until `until`. Returns the blocks. */
static inline uint64_t pace_run_blocks(const struct pace_lane *lane, uint64_t blocks, uint64_t until)
{
    const bool many = blocks - 1 > lane->most - 1;

    return lane->run(many ? lane->most : blocks, many ? until : 0, NULL, lane->dirty);
}

/* Runs the payload from `now` to about `until` where its rate may have changed: looks at the clock after a quarter of
 * the time, and more often when it took longer than it should. Returns the blocks. */
static __attribute__((__noinline__, __unused__)) uint64_t
pace_run_carefully(const struct pace_lane *lane, uint64_t rate, uint64_t now, uint64_t until)
{
    int64_t quarter = (int64_t)(until - now) / 4;
    uint64_t first = pace_blocks_in(quarter, rate);
    uint64_t blocks = pace_run_blocks(lane, first > 0 ? first : 1, now + (uint64_t)quarter);
    uint64_t glance = pace_glance();

    if ((int64_t)(glance - now) > quarter + quarter / 2)
        return blocks + lane->run(lane->fine, until, NULL, lane->dirty);
    uint64_t rest = pace_blocks_in((int64_t)(until - glance), rate);
    return rest > 0 ? blocks + pace_run_blocks(lane, rest, until) : blocks;
}

/* Long periods: there is time to look at the clock until shortly before the end. */
static __attribute__((__noinline__, __unused__)) uint64_t pace_run_long(const struct pace_lane *lane, uint64_t rate,
                                                                        uint64_t until)
{
    uint64_t blocks = lane->run(lane->coarse, until - lane->early, NULL, lane->dirty);
    uint64_t rest = pace_blocks_in((int64_t)(until - pace_glance()), rate);

    return rest > 0 ? blocks + pace_run_blocks(lane, rest, until) : blocks;
}

/* Runs the payload from `now` to about `until`, at what was its rate. Returns the blocks. */
static inline __attribute__((always_inline)) uint64_t pace_run_until(const struct pace_lane *lane, uint64_t rate,
                                                                     uint64_t now, uint64_t until, bool careful)
{
    if (__builtin_expect(lane->early != 0, 0))
        return pace_run_long(lane, rate, until);
    if (__builtin_expect(careful, 0))
        return pace_run_carefully(lane, rate, now, until);
    uint64_t blocks = pace_blocks_in((int64_t)(until - now), rate);
    return pace_run_blocks(lane, blocks > 0 ? blocks : 1, until);
}

/* Blocks a tick in the last sample. Integer arithmetic: vector registers are the payload's. */
static inline uint64_t pace_rate_seen(uint64_t blocks, uint64_t ticks)
{
    return (blocks << PACE_RATE_BITS) / (ticks | 1);
}

/* Ticks by which a reading may miss its time before something else than the way of the instructions through the
 * pipeline must have been the reason. */
static inline int64_t pace_tolerance(uint64_t period)
{
    return (int64_t)(period / 8);
}

/* What the next sample is computed with. */
struct pace {
    uint64_t rate;
    bool careful;               /* the rate may be wrong */
    unsigned overruns_in_a_row; /* samples in a row that ended too late */
};

/*
 * Learns from a sample that ran at the rate `seen` and ended `late` ticks after its time; `whole`: it took more than
 * half a period. A short one is mostly overhead and teaches nothing; a late one may have been interrupted and is
 * believed the second time. From regular ones the rate follows by a quarter, which evens out what the other
 * hyper-thread does.
 */
static inline void pace_learn(struct pace *p, uint64_t seen, int64_t late, int64_t most, bool whole)
{
    bool too_late = late > most, too_early = late < -most;

    p->overruns_in_a_row = too_late ? p->overruns_in_a_row + 1 : 0;
    if (too_early || p->overruns_in_a_row >= 2 || (p->careful && !too_late && whole))
        p->rate = seen;
    else if (!too_late && whole)
        p->rate += (uint64_t)((int64_t)(seen - p->rate) / 4);
    p->careful = too_late || too_early || (p->careful && !whole);
}

/*
 * Takes one reading and stores it as number `i`: runs the payload with pace_run_until(lane, pace, now, until), reads,
 * sets *begin to the TSC at the end of the payload and *blocks to what pace_run_until() returned, and returns the TSC
 * that is the time of the reading. `kind` is 1 at turn 0, else 0.
 */
typedef uint64_t pace_take(void *reader, size_t i, const struct pace_lane *lane, const struct pace *pace, uint64_t now,
                           uint64_t until, unsigned kind, uint64_t *begin, uint64_t *blocks);

/*
 * Runs the payload until the TSC is `end`, with a reading at every grid point and one at the end, or until `room`
 * readings were taken: no more are stored, whatever happens to the clock or to the CPU; then grid->cut is set. Grid
 * points that have passed unseen are left out. `take` is a constant, so that it is inlined; one reading in `turns` is
 * of kind 1. Returns the number of readings.
 */
static inline __attribute__((always_inline)) size_t pace_sample(struct pace_lane *lane, struct pace_grid *grid,
                                                                uint64_t end, size_t room, unsigned turns,
                                                                pace_take *take, void *reader)
{
    const uint64_t grow_from = grid->grow_from;
    uint64_t period = grid->period, next = grid->next, now = grid->now, target;
    unsigned turn = grid->turn % turns, spare = PACE_SPARE;
    struct pace pace = {.rate = lane->rate, .careful = true};
    size_t i = 0;

    grid->cut = room == 0;
    if (grid->cut)
        return 0;
    do {
        unsigned kind = turn == 0;
        target = next + period / 4 < end ? next : end;
        /* the payload must end earlier by what the reading takes */
        uint64_t until = target - (uint64_t)lane->lead[kind], begin, done, at;
        if (kind)
            at = take(reader, i, lane, &pace, now, until, 1, &begin, &done);
        else
            at = take(reader, i, lane, &pace, now, until, 0, &begin, &done);
        int64_t late = (int64_t)(at - target);
        pace_learn(&pace, pace_rate_seen(done, begin - now), late, pace_tolerance(period), begin - now > period / 2);
        lane->lead[kind] += pace.careful ? 0 : late / 8;
        now = at;
        if (__builtin_expect(grow_from != 0, 0))
            period = pace_period_grown(grid->period, grid->most, now > grow_from ? now - grow_from : 0);
        next = pace_next_point(next, period, now, &spare);
        i++;
        turn = (turn + 1) % turns;
    } while (target != end && i < room);
    grid->cut = target != end;
    lane->rate = pace.rate;
    grid->now = now;
    grid->next = next;
    grid->turn = turn;
    return i;
}
