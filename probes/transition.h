/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The transition experiment: N repetitions of one kernel, then another, sampled throughout.
 */
#ifndef CHARACTERIZE_PROBE_TRANSITION_H
#define CHARACTERIZE_PROBE_TRANSITION_H

#include <stdbool.h>

#include "trace/trace.h"
#include "drivers/machine.h"

/* Raw events beside what is always counted. */
enum { TRANSITION_EVENTS_MAX = 4 };
struct transition_event {
    uint64_t code; /* as in counter_spec */
    char name[64]; /* as it was asked for: a name, or "" */
};

struct transition_setup {
    struct payload from, to;
    unsigned runs;     /* repetitions wanted, >= 1 */
    double warmup_us;  /* of the first kernel before each switch */
    double before_us;  /* how much of it is recorded */
    double observe_us; /* of the second kernel */
    double period_us;
    int cpu;                 /* -1: the machine's choice */
    unsigned active_cores;   /* 0: all */
    struct payload corunner; /* what the other cores run, and which, as in machine_setup; 0: its choice */
    const int *cpus;
    size_t n_cpus;
    bool siblings;
    uint64_t seed;
    bool no_volts;          /* the core voltage is not read: no repetitions for it */
    unsigned volt_readings; /* how many times it is read, once a repetition; 0: two a sample period, at most 2000 */
    struct transition_event events[TRANSITION_EVENTS_MAX];
    size_t n_events;
};

/*
 * Defaults for a pair: 100 runs, 50 us recorded, 150 us observed or 1.5 ms when `from` is the heavier. The warm-up of
 * 2.5 ms: on silicon a repetition begins where the one before ended, in the second kernel's state, and a processor that
 * waits twice a millisecond before it comes back must have done so when the switch is recorded.
 */
void transition_defaults(struct transition_setup *s, const struct payload *from, const struct payload *to);

/* A repetition that the machine itself knows to be invalid: not in the trace, but counted. */
enum { TRANSITION_WHY_MAX = 120 };
struct invalid_run {
    unsigned run;
    char why[TRANSITION_WHY_MAX];
};
struct transition_result {
    struct trace trace;
    struct invalid_run *invalid;
    size_t n_invalid;
    char volts_missing[400]; /* why the core voltage, or some of its readings, were not measured; "" if all were */
};

/* Called now and then with the repetitions done; may be NULL. Returning non-zero stops the experiment. */
typedef int transition_progress(void *data, unsigned done, unsigned wanted);

/* Runs it. Returns MACHINE_OK or fills *err and returns its status. What it found out on the way is in the trace's
 * metadata. */
int transition_run(struct machine *m, const struct transition_setup *s, transition_progress *progress, void *data,
                   struct transition_result *out, struct machine_error *err);
void transition_result_free(struct transition_result *r);

/* By how many periods the sample grid of a repetition is shifted: the fractional parts of multiples of the golden ratio
 * fill 0..1 evenly however many are taken (Knuth, TAOCP 3, section 6.4). */
double transition_phase(uint64_t run);

/*
 * Turns one recording into samples of a trace (differences of neighbouring readings): frequency from cycles, or from
 * the dependent chain where there is no cycle counter; IPC of the payload; license shares; of raw events the counts per
 * cycle, in the trace's extra columns in the order of the counters. Samples that end before from_us are left out.
 * Where a value lies outside its column's range (trace/trace.h) the counters cannot be believed: nothing of the
 * recording is appended, and why says what it is; else it is "". 0, or -1: out of memory.
 */
int transition_append(struct trace *t, uint32_t run, const struct recording *rec, const struct counter_spec *counters,
                      size_t n_counters, double tsc_hz, double from_us, char why[TRANSITION_WHY_MAX]);

/* ---- for other probes: the steps of which an experiment consists ---- */

/* What is counted: the cycles or the chain; with `licences` the shares of the levels and throttling, all as far as the
 * machine has them; then the events. Returns how many. */
enum { TRANSITION_COUNTERS_MAX = 8 + TRANSITION_EVENTS_MAX };
size_t transition_counters(const struct machine *m, bool licenses, const struct transition_event *events,
                           size_t n_events, struct counter_spec out[TRANSITION_COUNTERS_MAX]);
/* Events are asked for by name: a machine that counts none must not leave their columns empty. MACHINE_OK or
 * MACHINE_CANNOT. */
int transition_check_events(const struct machine *m, size_t n_events, struct machine_error *err);
/* An empty trace for these counters: its columns, and of its metadata those about the machine, the counters and the
 * seed. 0, or -1: out of memory. */
int transition_begin_trace(struct trace *t, const struct machine_info *info, const struct counter_spec *counters,
                           size_t n_counters, const struct transition_event *events, size_t n_events, uint64_t seed);
/* Appends a recording (transition_append), or, where the machine knows that it is invalid, adds it to out->invalid with
 * the reason; *kept tells which. 0, or -1: out of memory. */
int transition_keep(struct transition_result *out, unsigned run, const struct recording *rec,
                    const struct counter_spec *counters, size_t n_counters, double tsc_hz, double from_us, bool *kept);
/* Takes a repetition out of the trace again, and adds it to out->invalid with the reason. 0, or -1: out of memory. */
int transition_drop(struct transition_result *out, unsigned run, const char *why);
/* Whether time was lost in a reading, to a halt or to others: it took so many ticks, readings usually take `usual`. */
bool transition_reading_lost(double ticks, double usual, double tsc_hz);
/* How much of a recording is left out because the sampling loop runs itself in, us. */
double transition_run_in_us(double period_us);
/* How a machine without counters has read the frequency, into the metadata: what is only known once it has run. 0, or
 * -1: out of memory. */
int transition_note_clock(struct trace *t, const struct machine_info *info);
/* That, and what the machine has remarked on the way. MACHINE_OK or MACHINE_FAILED. */
int transition_note_remarks(const struct machine *m, struct transition_result *out, struct machine_error *err);

#endif
