/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a repetition stretch by stretch. */
/* No vector instruction of the compiler's: it would touch the registers whose state is measured here. Ahead of the
 * headers, because what is inlined must be compiled alike. */
#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 11
#pragma GCC target("general-regs-only")
#endif
#include "drivers/native/plan.h"

#include "drivers/cpu/tsc.h"

size_t plan_readings_needed(const struct plan *p)
{
    size_t n = 1;

    for (size_t i = 0, begin = 0; i < p->n; i++) {
        const struct plan_stretch *s = &p->stretch[i];
        uint64_t end = begin + (i >= p->zero ? s->ticks : 0), from = begin > p->fine ? begin : p->fine;
        uint64_t grown = p->fine > 0 && end > from ? end - from : 0; /* of it, with a period that grows */
        if (s->sampled)
            n += (s->ticks - grown) / p->period + PACE_EXTRA;
        if (s->sampled && grown > 0)
            n += pace_points_grown(p->period, p->most, end - p->fine) + PLAN_STAGES * PACE_EXTRA;
        begin = end;
    }
    return n;
}

/* The first point after `from` of the grid that has a point half a period before `zero`. */
static uint64_t grid_before(uint64_t zero, uint64_t from, uint64_t period)
{
    uint64_t last = zero - period / 2;
    return last > from ? last - (last - from - 1) / period * period : last;
}

static uint64_t ticks_before_zero(const struct plan *p)
{
    uint64_t ticks = 0;

    for (size_t i = 0; i < p->zero; i++)
        ticks += p->stretch[i].ticks;
    return ticks;
}

/* A reading that opens the recording: the origin of the first sample. */
static void origin_reading(const struct plan_reader *r, struct plan_log *log, struct pace_grid *grid)
{
    grid->now = r->origin(r->context, log->n++);
}

static uint64_t start_of_time(const struct plan_reader *r, struct plan_log *log, struct pace_grid *grid,
                              bool before_sampled, bool sampled)
{
    if (!before_sampled && sampled && log->n == 0) {
        origin_reading(r, log, grid);
        before_sampled = true;
    }
    if (before_sampled) {
        log->zero_reading = log->n - 1;
        log->zero_tsc = grid->now; /* of the last reading */
    } else {
        log->zero_tsc = tsc_now();
    }
    return log->zero_tsc;
}

/*
 * A stretch before the recording: its last part is run like the recorded one, for the cost of a reading and so that
 * nothing changes for the processor where the recording begins.
 */
static uint64_t run_up(const struct plan *p, const struct plan_reader *r, struct pace_lane *lane, uint64_t end,
                       struct plan_log *log)
{
    uint64_t probed = PLAN_PROBES * p->probe_period, now = tsc_now(), blocks = 0, probed_blocks = 0;

    if (end > now && end - now > probed) {
        blocks = lane->run(lane->coarse, end - probed, NULL, lane->dirty);
        now = tsc_now();
    }
    if (end <= now)
        return blocks + lane->run(1, 0, NULL, lane->dirty);
    struct pace_grid grid = {.next = end - (end - now - 1) / p->probe_period * p->probe_period,
                             .period = p->probe_period,
                             .turn = p->turn,
                             .now = now};
    log->n_probe = r->sample(r->context, true, 0, PLAN_PROBE_ROOM, lane, &grid, end, &probed_blocks);
    return blocks + probed_blocks;
}

/* When the period is a long one: ticks after it has begun to grow. */
static uint64_t ticks_until_long(const struct plan *p)
{
    return p->long_period > p->period ? (p->long_period - p->period) << PACE_GROWTH_BITS : 0;
}

/* What is sampled from now to `end`; *blocks: of the payload. */
static void sample_part(const struct plan *p, const struct plan_reader *r, struct pace_lane *lane, uint64_t end,
                        struct pace_grid *grid, struct plan_log *log, uint64_t *blocks)
{
    grid->blocks = *blocks;
    log->n += r->sample(r->context, false, log->n, p->room - log->n, lane, grid, end, blocks);
    log->cut |= grid->cut;
}

/* A sampled stretch: with the usual period, and where the time for that is over with one that grows. */
static void sample_stretch(const struct plan *p, const struct plan_reader *r, size_t i, uint64_t end,
                           struct pace_grid *grid, struct plan_log *log)
{
    struct pace_lane *lane = p->stretch[i].lane;
    uint64_t fine = p->fine > 0 && i >= p->zero ? log->zero_tsc + p->fine : end, early = lane->early;

    log->blocks[i] = 0;
    if (grid->grow_from == 0)
        sample_part(p, r, lane, fine < end ? fine : end, grid, log, &log->blocks[i]);
    if (fine >= end)
        return;
    grid->grow_from = fine;
    grid->most = p->most;
    uint64_t until = fine + ticks_until_long(p);
    if (grid->now < until)
        sample_part(p, r, lane, until < end ? until : end, grid, log, &log->blocks[i]);
    if (until >= end)
        return;
    grid->stage = 1;
    log->long_from = log->long_from == SIZE_MAX ? log->n : log->long_from;
    lane->early = early > 0 ? early : p->early;
    sample_part(p, r, lane, end, grid, log, &log->blocks[i]);
    lane->early = early;
}

void plan_record(const struct plan *p, const struct plan_reader *r, struct plan_log *log)
{
    struct pace_grid grid = {.period = p->period, .turn = p->turn};
    uint64_t before = ticks_before_zero(p);
    uint64_t end = tsc_now();
    uint64_t zero = end + before;

    log->n = 0;
    log->n_probe = 0;
    log->cut = false;
    log->zero_reading = SIZE_MAX;
    log->long_from = SIZE_MAX;
    for (size_t i = 0; i < p->n; i++) {
        const struct plan_stretch *s = &p->stretch[i];
        if (i == p->zero) {
            end = start_of_time(r, log, &grid, i > 0 && p->stretch[i - 1].sampled, s->sampled);
            grid.next = end + p->offset;
        } else if (s->sampled && log->n == 0) {
            origin_reading(r, log, &grid);
            if (i < p->zero)
                grid.next = grid_before(zero, grid.now, p->period);
        }
        end += s->ticks;
        log->first[i] = log->n;
        if (s->sampled) {
            sample_stretch(p, r, i, end, &grid, log);
        } else {
            bool probed = i + 1 < p->n && p->stretch[i + 1].sampled;
            log->blocks[i] = probed ? run_up(p, r, s->lane, end, log)
                                    : s->lane->run(s->lane->coarse, end, NULL, s->lane->dirty);
        }
        log->last[i] = log->n;
    }
    if (log->zero_reading == SIZE_MAX)
        log->zero_reading = log->n;
    if (log->long_from == SIZE_MAX)
        log->long_from = log->n;
}
