/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts of the timing machine: the sampling loop, what is calibrated before it, and the place where it runs.
 */
#ifndef CHARACTERIZE_TIMING_H
#define CHARACTERIZE_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/cpu.h"
#include "drivers/machine.h"
#include "drivers/pace.h"

/* ---- timing_sample.c: the sampling loop ---- */

/* One reading. */
struct timing_raw {
    uint64_t end;    /* TSC at the end of the chain: the time of the reading */
    uint64_t begin;  /* TSC before the chain */
    uint64_t blocks; /* of the payload in this segment so far, times two; plus one after a long chain */
};

/*
 * Short chains are cheap and long ones exact; both are needed to tell the cost of a reading from the frequency. One
 * long chain in eight makes a reading a quarter cheaper than one in two, at the same error of that cost.
 */
enum { TIMING_TURNS = 8 };

/* pace_sample() with chains for readings: one long one in TIMING_TURNS. */
size_t timing_sample(struct pace_lane *lane, struct pace_grid *grid, uint64_t end, struct timing_raw *out);

enum { TIMING_SEGMENTS_MAX = 16 };
struct timing_stretch {
    struct pace_lane *lane;
    uint64_t ticks;
    bool sampled;
};
struct timing_plan {
    struct timing_stretch stretch[TIMING_SEGMENTS_MAX];
    size_t n;
    size_t zero;      /* the stretch that starts at time 0 */
    uint64_t period;  /* ticks */
    uint64_t offset;  /* ticks from time 0 to the first grid point after it */
    unsigned turn;    /* of the first reading */
    uint64_t probe_period; /* ticks; the last TIMING_PROBES of these before the recording are probed */
};
/* Readings taken at most of the unsampled stretch before a recording, to find out what a reading costs at the time. */
enum { TIMING_PROBES = 512, TIMING_PROBE_ROOM = TIMING_PROBES + PACE_EXTRA };
struct timing_log {
    struct timing_raw *raw;              /* room for timing_readings_needed() */
    size_t n;
    struct timing_raw *probe;            /* room for TIMING_PROBE_ROOM */
    size_t n_probe;
    size_t first[TIMING_SEGMENTS_MAX];   /* index of the first reading of each stretch */
    size_t last[TIMING_SEGMENTS_MAX];    /* ... and one past its last; the same as first for unsampled ones */
    uint64_t blocks[TIMING_SEGMENTS_MAX];/* of the payload, run in the whole stretch */
    uint64_t zero_tsc;
    size_t zero_reading;                 /* n when no reading was taken at time 0 */
};
/* Readings that a plan can produce at most. */
size_t timing_readings_needed(const struct timing_plan *p);
/* Runs a plan from start to end. No system call, no allocation. */
void timing_record(const struct timing_plan *p, struct timing_log *log);

/* ---- timing_calibrate.c: what must be known of a payload before it is sampled ---- */

/* What a reading costs. */
struct timing_cost {
    double cycles;    /* core cycles that the two TSC reads around a chain add to its adds */
    double error;     /* standard error of that */
    double ticks[2];  /* of a short and of a long chain */
};
/*
 * Finds it from n readings of both chain lengths. With S and L adds at f cycles a tick the chains take
 * T_s = (S + k) / f and T_l = (L + k) / f ticks, so that
 *     k = (L T_s - S T_l) / (T_l - T_s)
 * whatever f is. Means without the outer tenths are taken over windows of 128 readings, in which f hardly changes; k is
 * the median of the windows. Returns 0, or -1 when fewer than three windows make sense (T_l > T_s).
 *
 * On a Sapphire Rapids k was 63.8 to 64.0 cycles after each of 18 payloads, from pause to AMX, at 2.19 to 2.99 GHz: it
 * consists of core cycles (0.1 cycle in 0.8 GHz: what is fixed in time is below 0.2 ns) and does not depend on the
 * payload. It does depend on what the other hyper-thread of the core does, which a guest cannot see: then it was 80.
 */
int timing_chain_cost(const struct timing_raw *r, size_t n, struct timing_cost *out);

/*
 * Follows the cost from repetition to repetition: a quarter of a small difference is noise that evens out, a difference
 * beyond five standard errors means that the other hyper-thread has started or stopped.
 */
void timing_cost_follow(struct timing_cost *known, const struct timing_cost *seen);

/*
 * Fills *lane and *cost by running the payload: 2 ms to reach its steady state, then its rate, then chains in the
 * sampling loop itself. Runs for about 5 ms. Returns 0, or -1 when the readings make no sense (the CPU was taken away
 * all the time).
 */
int timing_calibrate(const struct payload *p, double tsc_hz, double period_us, struct pace_lane *lane,
                     struct timing_cost *cost);

/* ---- timing_place.c: where the loop runs and what can disturb it there ---- */

struct timing_place {
    bool entered;
    int cpu;
    struct cpu_mask affinity;    /* before */
    bool realtime;               /* SCHED_FIFO is allowed */
    double realtime_limit_us;    /* longest stretch of it that the kernel lets run */
    double rest_us;              /* to sleep before the next repetition */
    int policy, priority;        /* before */
    void *locked;                /* memory, page-aligned, prefaulted, locked if allowed */
    size_t locked_size;
    char note[300];              /* what was refused and what would help; "" */
};
/*
 * Pins the calling thread to `cpu`, finds out whether it may run at real-time priority, and provides `bytes` of locked
 * memory. Returns MACHINE_OK, or fills *err and leaves everything as it was. All other functions must be called from
 * the same thread. timing_place_leave() restores affinity and policy and frees the memory; it may be called twice.
 */
int timing_place_enter(struct timing_place *p, int cpu, size_t bytes, struct machine_error *err);
void timing_place_leave(struct timing_place *p);
/*
 * Real-time priority for one repetition of about `us`; without effect where it is refused or where the kernel would
 * interrupt so long a stretch. End restores; where real-time priority was used, the next begin sleeps a tenth of the
 * time that was spent, so that other programs and the kernel's own threads get their share of the CPU.
 */
void timing_place_begin(struct timing_place *p, double us);
void timing_place_end(struct timing_place *p, double us);

/* Reads code as data, so that its pages are mapped and its lines are cached before it runs for the first time. */
void timing_touch(const struct payload *p);

/* ---- timing.c ---- */

/* machine_open_timing() with another folder for /sys. */
int timing_open_at(const char *sys, struct machine *out, struct machine_error *err);

#endif
