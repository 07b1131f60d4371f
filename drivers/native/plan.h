/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A repetition on real hardware, stretch by stretch: which payload runs until when, where the sample grid lies, where
 * time 0 is. What a reading is, the machine says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/native/pace.h"

enum { PLAN_SEGMENTS_MAX = 16 };
/* Stages of a recording whose period grows: before it is so long (us), and from then on. In the later one there is time
 * to look at the clock until shortly before a reading, and room for the longest chains. */
enum { PLAN_STAGES = 2 };
#define PLAN_LONG_US 5.0

struct plan_stretch {
    struct pace_lane *lane;
    uint64_t ticks;
    bool sampled;
};
struct plan {
    struct plan_stretch stretch[PLAN_SEGMENTS_MAX];
    size_t n;
    size_t zero;           /* the stretch that starts at time 0 */
    uint64_t period;       /* ticks */
    uint64_t offset;       /* ticks from time 0 to the first grid point after it */
    uint64_t fine;         /* ticks from time 0 until the period begins to grow; 0: never */
    uint64_t most;         /* ticks: to which the period grows */
    uint64_t long_period;  /* ticks: with which the later stage begins */
    uint64_t early;        /* ticks: lane->early of it */
    unsigned turn;         /* of the first reading */
    uint64_t probe_period; /* ticks; the last PLAN_PROBES of these before the recording are probed */
    size_t room;           /* readings, at least plan_readings_needed() */
};
/* Readings taken at most of the unsampled stretch before a recording: the loop runs itself in, and what a reading
 * costs at the time can be found out. */
enum { PLAN_PROBES = 512, PLAN_PROBE_ROOM = PLAN_PROBES + PACE_EXTRA };

/* What came of it. */
struct plan_log {
    size_t n;                           /* readings, at most the plan's room */
    size_t n_probe;                     /* probes, at most PLAN_PROBE_ROOM */
    size_t first[PLAN_SEGMENTS_MAX];    /* index of the first reading of each stretch */
    size_t last[PLAN_SEGMENTS_MAX];     /* ... and one past its last; the same as first for unsampled ones */
    uint64_t blocks[PLAN_SEGMENTS_MAX]; /* of the payload, run in the whole stretch */
    size_t long_from;                   /* index of the first reading of the later stage; n: it was not reached */
    uint64_t zero_tsc;
    size_t zero_reading; /* n when no reading was taken at time 0 */
    bool cut;            /* the room was full before the end: the clock has jumped */
};

/* The stage that reading i is of. */
static inline unsigned plan_stage_of(const struct plan_log *log, size_t i)
{
    return i >= log->long_from;
}

/* Who takes the readings. Called once a stretch, not once a sample. */
struct plan_reader {
    void *context;
    /* pace_sample() into the readings from number `at` on, or into the probes from number 0 on; at most `room`. Returns
     * how many; *blocks is set to those of the payload that were run, grid->blocks included. */
    size_t (*sample)(void *context, bool probe, size_t at, size_t room, struct pace_lane *lane, struct pace_grid *grid,
                     uint64_t end, uint64_t *blocks);
    /* one reading, number `at`, that opens the recording: returns its TSC */
    uint64_t (*origin)(void *context, size_t at);
};

/* Readings that a plan produces at most, by a clock that goes steadily. */
size_t plan_readings_needed(const struct plan *p);
/* Runs a plan from start to end. No system call, no allocation. */
void plan_record(const struct plan *p, const struct plan_reader *r, struct plan_log *log);
