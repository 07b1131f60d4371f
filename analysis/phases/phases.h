/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The answer: phases, levels and transitions found in a trace (the phases file of doc/formats.md, as a struct).
 * A number that was not measured is NaN, and null in JSON.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/stats/estimate.h"
#include "trace/discarded.h"

enum phase_kind { PHASE_STEADY, PHASE_THROTTLE, PHASE_HALT, PHASE_SLOW, PHASE_RAMP, PHASE_UNKNOWN };
const char *phases_kind_name(enum phase_kind k);

/* One wait, two, and as many more as a duration has ever shown. */
enum { PHASE_MODES_MAX = 4 };
/* One mode of a duration that is not unimodal (one relaxation period against two). */
struct phase_mode {
    double duration_us;
    double share; /* of the agreeing runs, 0..1 */
};

/* One side of a ramp (tail.h): of the clock (GHz), or of the rate (instructions per
 * cycle, as a share of those at its end). tau.value is 0 where it does not change. */
struct ramp_side {
    struct estimate begin_us, end_us, from, to, tau_us;
    size_t runs;
};

struct phase {
    enum phase_kind kind;
    double start_us;
    struct estimate duration_us;
    struct estimate freq_ghz;
    double freq_half_ghz; /* half width of the limits among repetitions that ran alike: what holds for ratios */
    double ipc;           /* payload instructions per core cycle */
    double ipc_ratio;     /* against the same code at full rate */
    double volts;
    double share[4]; /* lvl0, lvl1, lvl2, throttle: mean share of cycles */
    int level;       /* index into levels_ghz, -1 = not known */
    size_t agreeing_runs;
    size_t n_modes; /* 0 or 1: unimodal */
    struct phase_mode modes[PHASE_MODES_MAX];
    /* of a ramp, and of throttling during one: f(t) = to + (from - to) exp(-(t - start) / tau); it ends where it is
     * within 0.1 % of `to`, or with the recording; else tau_us is 0 */
    struct estimate from_ghz, to_ghz, tau_us;
    struct ramp_side clock_ramp, rate_ramp; /* after a fine part, or of the rate alone; else both are none */
    bool clock_unsure; /* dependent adds alone tell its clock: they slow down where all code is throttled, too */
    char why[160];     /* for unknown: the reason */
};

struct transition {
    double at_us;
    struct estimate latency_us;
    double from_ghz, to_ghz;
    unsigned halts;
    size_t agreeing_runs;
};

/* A step of the core voltage. */
struct volt_step {
    double begin_us, end_us;
    double from_v, to_v;
    size_t agreeing_runs;
};

struct phases {
    char *cpu, *machine, *from, *to, *environment; /* from the trace's metadata; NULL = not stated */
    bool modelled;
    size_t runs, runs_used;
    uint64_t samples, samples_discarded; /* recorded; of these, left out: outside what their columns may hold */
    uint64_t samples_lost;   /* of the coarse part of a long recording, left out: something else ran meanwhile */
    double *levels_ghz;      /* distinct steady frequencies, highest first */
    struct estimate *levels; /* the same with limits */
    size_t n_levels;
    struct phase *phases;
    size_t n_phases;
    struct transition *transitions;
    size_t n_transitions;
    struct volt_step *volt_steps;
    size_t n_volt_steps;
    struct discarded_run *discarded;
    size_t n_discarded;
    char **warnings;
    size_t n_warnings;
    bool disturbed; /* another thread ran on the core: rates and ratios are of samples that it left alone */
    /* what would have been found with 95 % power; NaN = this channel was not measured */
    double detectable_freq; /* smallest relative frequency step, if both states last detectable_freq_us */
    double detectable_freq_us;
    /* mildest throttle: largest ipc_ratio distinguished from 1, if it lasts detectable_throttle_us */
    double detectable_throttle;
    double detectable_throttle_us;
    double detectable_halt_us; /* shortest halt */
    double null_lost_us; /* what a switch of code alone lost in the first 5 us, by a null beside it; NaN: unknown */
    double null_cold_us; /* ... and until when it made code slow, where cycles are counted; 0: it did not */
};

void phases_free(struct phases *p);

/* Adds a warning (printf), after the others or, of a text as it is, ahead of them. 0, or -1: out of memory. */
int phases_warn(struct phases *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
int phases_warn_first(struct phases *p, const char *text);
/* Adds a discarded repetition and its reason (printf). 0, or -1: out of memory. */
int phases_discard(struct phases *out, uint32_t run, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Whether the repetition of this number is among the discarded ones. */
bool phases_discarded(const struct phases *p, uint32_t run);
/*
 * Adds the repetitions that were invalid while they were recorded (trace/discarded.h): discarded, in order of their
 * numbers, and counted in `runs`. Entries that cannot be read are left out with a warning. 0, or -1: out of memory.
 */
int phases_add_discarded(const struct trace *t, struct phases *p);

/* Leaves out phases that take no time in most repetitions: edges that fall together have them between them. */
void phases_leave_out_timeless(struct phases *p);

/* Adds a transition, in order of their times. 0, or -1: out of memory. */
int phases_add_transition(struct phases *p, struct transition t);

/* Whether the rate changes gradually in a phase; the mean rate meanwhile, with limits, relative to that at its end. */
bool phases_rate_ramps(const struct phase *p);
struct estimate phases_ramp_ratio(const struct phase *p);
/* The mean frequency, GHz, of a ramp of the clock, by its description: its first samples, where it moves most, are
 * those that its begin may lie in. First-order propagation of errors; the time constant and both ends as independent.
 */
struct estimate phases_ramp_mean(const struct phase *p);

/* Whether the processor itself counts it as throttled (event 28H, umask 40H), for most of its cycles. */
bool phases_counts_throttled(const struct phase *p);

/* A steady phase, slow or not: what transitions lead from and to. */
bool phases_is_steady(const struct phase *p);

/*
 * Finds the phases of a trace. Pure: nothing is read but the trace. Returns 0, or with one line in `why` -1 where the
 * trace cannot be analyzed and PHASES_NO_MEMORY.
 */
enum { PHASES_NO_MEMORY = -2 };
int phases_find(const struct trace *t, struct phases *out, char *why, size_t why_size);
/* The same, beside a trace of the first kernel and its copy at another address, recorded in turn with it (NULL: none):
 * what that shows is the cost of a switch of code, and no finding. */
int phases_find_beside(const struct trace *t, const struct trace *null, struct phases *out, char *why, size_t why_size);

/* volts.c: a trace of scattered voltage readings as one recording, in order of time. 0, or -1: out of memory. */
int volts_gather(const struct trace *t, struct trace *out);

/* The phases file (doc/formats.md) as JSON text, allocated with malloc, ending in a newline; NULL: out of memory. */
char *phases_to_json(const struct phases *p);
