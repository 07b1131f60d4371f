/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A machine's recording: raw readings of its counters, and how to read them. Counters are cumulative; only differences
 * mean anything. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum counter_id {
    COUNTER_CYCLES,       /* unhalted core cycles */
    COUNTER_REF_CYCLES,   /* unhalted cycles at the TSC's rate */
    COUNTER_INSTRUCTIONS, /* retired instructions, all of them */
    COUNTER_CHAIN_TICKS,  /* machines without counters: TSC ticks spent in the dependent chain; these three stay as they
                             are in samples without one */
    COUNTER_CHAIN_CYCLES, /* ... and core cycles that the chain took: its adds and the calibrated cost of the reads,
                             in units of 1/CHAIN_CYCLE_UNIT cycle */
    COUNTER_READ_TICKS,   /* ... and TSC ticks in which the payload does not run: the chain and what is before it */
    COUNTER_LVL0,         /* core cycles at license level 0, 1, 2 (event 28H, umasks 07H, 18H, 20H) */
    COUNTER_LVL1,
    COUNTER_LVL2,
    COUNTER_THROTTLE, /* core cycles throttled while a level is pending (28H/40H) */
    COUNTER_EVENT,    /* a raw event: code in counter_spec.event */
    COUNTER_IDS
};
enum { CHAIN_CYCLE_UNIT = 1024 };
static inline bool counter_of_chain(enum counter_id id)
{
    return id >= COUNTER_CHAIN_TICKS && id <= COUNTER_READ_TICKS;
}

struct counter_spec {
    enum counter_id id;
    uint64_t event; /* COUNTER_EVENT: as drivers/events/event_code.h lays it out */
};

/*
 * A recording: n readings, each `stride` words: the TSC, the payload instructions retired so far (exact: blocks times
 * instructions per block), then one word per counter of the setup. Cumulative over the repetition; the first reading is
 * the origin of the first sample. A reading that was not counted is COUNTER_MISSING.
 */
#define COUNTER_MISSING UINT64_MAX
struct recording {
    size_t n, stride, capacity;
    uint64_t *words;               /* owned by the machine, valid until the next run */
    uint64_t zero_tsc;             /* TSC at time 0 */
    size_t zero_reading;           /* index of the reading taken at time 0 */
    unsigned involuntary_switches; /* the thread was preempted so many times */
    unsigned page_faults;
    bool migrated; /* ended on another CPU */
    bool cut;      /* the room was full before the end: the CPU or the clock was taken away */
};

/* The time and work that each sample takes from the payload, beside a chain: the time stamp, the counters, the loop;
 * 0: not known. */
struct sample_cost {
    double us, instructions; /* that the payload would have run meanwhile */
};

/* Words of a reading that are always there. */
enum { RECORDING_TSC, RECORDING_INSTRUCTIONS, RECORDING_COUNTERS };

/* Reading i. */
static inline const uint64_t *recording_at(const struct recording *r, size_t i)
{
    return r->words + i * r->stride;
}

/* Returns by how much a counter has grown; COUNTER_MISSING where either was not counted. */
static inline uint64_t recording_grown(uint64_t before, uint64_t after)
{
    return before == COUNTER_MISSING || after == COUNTER_MISSING ? COUNTER_MISSING : after - before;
}

/* The word of a reading that holds the counter `id`, where the setup requested these n; -1: none does. */
int recording_word(const struct counter_spec *counters, size_t n, enum counter_id id);

/* Readings `now` less `before` of one word; NaN where it was not counted, as of word -1. */
double recording_difference(const uint64_t *now, const uint64_t *before, int word);

/* The place of a TSC on the time axis, us from time 0. */
double recording_time_us(const struct recording *r, uint64_t tsc, double tsc_hz);

/* The disturbance of the repetition that the machine itself knows of, a few words that always live; NULL: none. */
const char *recording_disturbed(const struct recording *r);
