// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of the steps of a sample, the same in the kernel module and on models. */
#include "drivers/profile/profile_sequence.h"

void profile_first_turn(struct profile_cpu *c, const struct profile_setup *s, __u32 place, __u32 n)
{
    c->stage = PROFILE_BETWEEN;
    c->turn = place < n ? place : 0;
    c->turn_ns = 0;
    for (__u64 k = 0; k <= c->turn; k++)
        c->turn_ns += profile_interval_ns(s, k);
}

void profile_next_turn(struct profile_cpu *c, const struct profile_setup *s, __u32 n, __u64 now_ns)
{
    __u32 laps = 0;
    c->stage = PROFILE_BETWEEN;
    do {
        for (__u32 i = 0; i < n; i++)
            c->turn_ns += profile_interval_ns(s, ++c->turn);
    } while (c->turn_ns < now_ns && ++laps < PROFILE_LAPS_MAX);
}

static struct profile_action profile_finish(struct profile_cpu *c, const struct profile_executor *e, __u32 outcome)
{
    if (c->stage == PROFILE_PAUSED || c->stage == PROFILE_ALONE) {
        e->release(e->with);
        c->record.held_ns = (__u32)(e->now_ns(e->with) - c->hold_ns);
    }
    c->stage = PROFILE_BETWEEN;
    c->record.outcome = outcome;
    e->store(e->with, &c->record);
    return (struct profile_action){.deed = PROFILE_DONE};
}

static void profile_blank(struct profile_cpu *c, const struct profile_executor *e)
{
    c->record = (struct profile_record){
        .number = c->turn,
        .time_ns = e->now_ns(e->with),
        .cpu = c->record.cpu,
        .bin = PROFILE_NO_BIN,
        .level_actual = PROFILE_NO_LEVEL,
        .level_paused = PROFILE_NO_LEVEL,
        .level_ideal = PROFILE_NO_LEVEL,
        .level_shared = PROFILE_NO_LEVEL,
    };
}

/* Step 1: who runs, at which frequency and level. Step 2: the pause begins. */
static struct profile_action profile_begin(struct profile_cpu *c, const struct profile_setup *s,
                                           const struct profile_executor *e)
{
    struct profile_record *r = &c->record;
    struct profile_counts before, after, d;
    bool counting = (s->flags & PROFILE_REHEARSAL) == 0;
    profile_blank(c, e);
    e->look(e->with, &r->sight);
    if (r->sight.task.pid == 0)
        return profile_finish(c, e, PROFILE_IDLE);
    if (counting) {
        e->count(e->with, &before, &after);
        d = profile_difference(&before, &after);
        if (d.missing != 0)
            return profile_finish(c, e, PROFILE_UNCOUNTED);
        r->actual_khz = profile_khz(&d, s->ref_khz);
        r->level_actual = (__u8)profile_level(&d);
        if (r->actual_khz == 0 || r->level_actual == PROFILE_NO_LEVEL)
            return profile_finish(c, e, PROFILE_UNSETTLED);
    }
    c->hold_ns = e->now_ns(e->with);
    if (!e->hold(e->with))
        return profile_finish(c, e, PROFILE_NOT_HELD);
    c->stage = PROFILE_PAUSED;
    c->step_ns = e->now_ns(e->with);
    /* who runs on the sibling while it is held is certain only now */
    e->look(e->with, &r->sight);
    return (struct profile_action){.deed = PROFILE_SPIN, .us = s->pause_us};
}

/* Step 3: the task resumes, its sibling does not. */
static struct profile_action profile_resume(struct profile_cpu *c, const struct profile_setup *s,
                                            const struct profile_executor *e)
{
    struct profile_record *r = &c->record;
    struct profile_counts before;
    __u64 now = e->now_ns(e->with);
    r->pause_ns = (__u32)(now - c->step_ns);
    if (r->pause_ns > 2 * s->pause_us * 1000)
        return profile_finish(c, e, PROFILE_LATE);
    if ((s->flags & PROFILE_REHEARSAL) == 0) {
        struct profile_counts d;
        e->count(e->with, &before, &c->paused);
        d = profile_difference(&before, &c->paused);
        r->level_paused = (__u8)profile_level(&d);
        if (d.missing != 0)
            return profile_finish(c, e, PROFILE_UNCOUNTED);
        if (r->level_paused != 0)
            return profile_finish(c, e, PROFILE_UNSETTLED);
    }
    c->stage = PROFILE_ALONE;
    c->step_ns = e->now_ns(e->with);
    return (struct profile_action){.deed = PROFILE_RESUME, .us = s->window_us};
}

static bool profile_switched(const struct profile_sight *then, const struct profile_sight *now)
{
    return then->switches != now->switches || then->other_switches != now->other_switches ||
           then->task.pid != now->task.pid || then->other.pid != now->other.pid || then->other_cpu != now->other_cpu;
}

/* The consequence of a level after the pause for the moment before it: the frequency at the turbo bin of then. */
static __u32 profile_would_be(const struct profile_record *r, const struct profile_setup *s, __u32 level,
                              __u32 measured_khz)
{
    /* code that turned wide after the pause demands nothing of the moment before it */
    if (level >= r->level_actual || (r->flags & PROFILE_NOT_LIMITED) != 0)
        return r->actual_khz;
    /* differences below 1 % are noise of counts, which would only ever add; turbo bins lie further apart */
    if (r->flags & PROFILE_MEASURED_IDEAL)
        return (__u64)measured_khz * 100 > (__u64)r->actual_khz * 101 ? measured_khz : r->actual_khz;
    /* the ratio is the table's, the frequency the measured one: neither has the other's error */
    return (__u32)((__u64)r->actual_khz * profile_table_khz(s, r->bin, level) /
                   profile_table_khz(s, r->bin, r->level_actual));
}

static bool profile_locate(struct profile_record *r, const struct profile_setup *s)
{
    bool limited;
    if (s->n_bins == 0) {
        r->flags |= PROFILE_MEASURED_IDEAL;
        return true;
    }
    r->bin = profile_find_bin(s, r->level_actual, r->actual_khz, r->sight.active_cores, &limited);
    if (r->bin != PROFILE_NO_BIN && !limited)
        r->flags |= PROFILE_NOT_LIMITED;
    return r->bin != PROFILE_NO_BIN;
}

/* Steps 3 and 5 end alike: the level now, and whether the sample can still be used. */
static __u32 profile_look_again(struct profile_cpu *c, const struct profile_setup *s, const struct profile_executor *e,
                                __u8 *level, __u32 *khz)
{
    struct profile_record *r = &c->record;
    struct profile_counts before, after, d;
    struct profile_sight sight;
    __u64 window_ns = e->now_ns(e->with) - c->step_ns;
    if (c->stage == PROFILE_ALONE)
        r->window_ns = (__u32)window_ns;
    e->look(e->with, &sight);
    if (profile_switched(&r->sight, &sight))
        return PROFILE_SWITCHED;
    if (window_ns > 2000ull * s->window_us)
        return PROFILE_LATE;
    if (s->flags & PROFILE_REHEARSAL)
        return PROFILE_TAKEN;
    e->count(e->with, &before, &after);
    d = profile_difference(&before, &after);
    if (d.missing != 0)
        return PROFILE_UNCOUNTED;
    *level = (__u8)profile_level(&d);
    *khz = profile_khz(&d, s->ref_khz);
    if (c->stage == PROFILE_ALONE)
        r->window = profile_difference(&c->paused, &before);
    return *level == PROFILE_NO_LEVEL ? PROFILE_UNSETTLED : PROFILE_TAKEN;
}

/* Step 4: the sibling resumes; with PROFILE_SOURCES it is watched for another window. */
static struct profile_action profile_judge(struct profile_cpu *c, const struct profile_setup *s,
                                           const struct profile_executor *e)
{
    struct profile_record *r = &c->record;
    __u32 khz = 0, outcome = profile_look_again(c, s, e, &r->level_ideal, &khz);
    if (outcome != PROFILE_TAKEN)
        return profile_finish(c, e, outcome);
    if ((s->flags & PROFILE_REHEARSAL) == 0) {
        if (!profile_locate(r, s))
            return profile_finish(c, e, PROFILE_OFF_TABLE);
        /* eq. 4.3 wants the share at the frequency before the pause; after it the clock is as high as it may be */
        r->stall = profile_stall_at(profile_stall(&r->window), profile_khz(&r->window, s->ref_khz), r->actual_khz);
        r->ideal_khz = profile_would_be(r, s, r->level_ideal, khz);
        r->speedup = profile_speedup(r->actual_khz, r->ideal_khz, r->stall);
    }
    if (s->flags & PROFILE_STACKS && (r->level_ideal > 0 || s->flags & PROFILE_REHEARSAL))
        e->walk(e->with, r);
    if (!(s->flags & PROFILE_SOURCES))
        return profile_finish(c, e, PROFILE_TAKEN);
    if (r->sight.other.pid == 0) {
        /* nobody whom a further step could tell from this thread: all of it is delay */
        r->level_shared = r->level_ideal;
        r->shared_khz = r->ideal_khz;
        r->speedup_shared = r->speedup;
        r->flags |= (s->flags & PROFILE_REHEARSAL) == 0 ? PROFILE_SHARED : 0;
        return profile_finish(c, e, PROFILE_TAKEN);
    }
    e->release(e->with);
    r->held_ns = (__u32)(e->now_ns(e->with) - c->hold_ns);
    c->stage = PROFILE_TOGETHER;
    c->step_ns = e->now_ns(e->with);
    return (struct profile_action){.deed = PROFILE_RESUME, .us = s->window_us};
}

/* Step 5: the level with both, which tells delay from hyper-threading (section 4.2.1). */
static struct profile_action profile_conclude(struct profile_cpu *c, const struct profile_setup *s,
                                              const struct profile_executor *e)
{
    struct profile_record *r = &c->record;
    __u32 khz = 0, outcome = profile_look_again(c, s, e, &r->level_shared, &khz);
    if (outcome == PROFILE_TAKEN && (s->flags & PROFILE_REHEARSAL) == 0) {
        r->shared_khz = profile_would_be(r, s, r->level_shared, khz);
        /* both threads together demand no less than one of them */
        if (r->shared_khz > r->ideal_khz)
            r->shared_khz = r->ideal_khz;
        r->speedup_shared = profile_speedup(r->actual_khz, r->shared_khz, r->stall);
        r->flags |= PROFILE_SHARED;
    }
    return profile_finish(c, e, outcome);
}

struct profile_action profile_step(struct profile_cpu *c, const struct profile_setup *s,
                                   const struct profile_executor *e)
{
    switch (c->stage) {
    case PROFILE_PAUSED:
        return profile_resume(c, s, e);
    case PROFILE_ALONE:
        return profile_judge(c, s, e);
    case PROFILE_TOGETHER:
        return profile_conclude(c, s, e);
    case PROFILE_BETWEEN:
        break;
    }
    return profile_begin(c, s, e);
}

void profile_miss(struct profile_cpu *c, const struct profile_executor *e)
{
    profile_blank(c, e);
    profile_finish(c, e, PROFILE_LATE);
}

void profile_call_off(struct profile_cpu *c, const struct profile_executor *e)
{
    if (c->stage == PROFILE_PAUSED || c->stage == PROFILE_ALONE)
        e->release(e->with);
    c->stage = PROFILE_BETWEEN;
}
