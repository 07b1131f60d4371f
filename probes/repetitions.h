/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The protocol of all experiments that make a trace: a machine is prepared, kernels run one after the other again and
 * again, the last ones sampled, and repetitions that the machine knows to be invalid are left out and counted. */
#pragma once

#include <stdbool.h>

#include "drivers/machine.h"
#include "trace/discarded.h"
#include "trace/from_recording.h"
#include "trace/trace.h"

#define SLOWEST_US 500e3 /* no known processor takes longer to reach its final state */

/* Raw events in addition to those that are always counted. */
enum { REPETITIONS_EVENTS_MAX = 4, REPETITIONS_COUNTERS_MAX = 8 + REPETITIONS_EVENTS_MAX };
struct raw_event {
    uint64_t code; /* as in counter_spec */
    char name[64]; /* as it was requested: a name, or "" */
};

/* Recordings that are made in turn with the repetitions, so that both see the same moments of the machine. */
enum { REPETITIONS_BESIDE_MAX = 3 };
struct repetitions_beside {
    const struct segment *segments;
    size_t n_segments, zero_segment;
    unsigned every; /* one for so many repetitions; 1 or more */
};

/* The results of an experiment. */
struct repetitions {
    struct trace trace;
    struct trace beside[REPETITIONS_BESIDE_MAX]; /* samples and channels alone, numbered as the repetition beside it */
    struct discarded_run *invalid; /* repetitions that the machine knows to be invalid: not in the trace, but counted */
    size_t n_invalid;
    char volts_missing[400]; /* why the core voltage, or some of its readings, were not measured; "" if all were, or if
                                the experiment reads none */
};
void repetitions_free(struct repetitions *r);

/* Called now and then with the repetitions done; may be NULL. Returning non-zero stops the experiment. */
typedef int repetitions_progress(void *data, unsigned done, unsigned wanted);

/* A step of an experiment of its own, on the prepared machine. MACHINE_OK, or fills *err and returns its status. */
typedef int repetitions_step(struct machine *m, void *context, struct repetitions *out, struct machine_error *err);

/* Decides if the results so far suffice: 1 yes, 0 no, -1 out of memory. */
typedef int repetitions_enough(void *context, const struct repetitions *so_far);

struct repetitions_plan {
    /* the counters, their number and max_samples are set here, the rest is the caller's */
    struct machine_setup machine;
    bool licenses; /* count license levels and throttling, too, where the machine has them */
    const struct raw_event *events;
    size_t n_events;
    const struct segment *segments; /* of each repetition */
    size_t n_segments, zero_segment;
    unsigned wanted, attempts; /* repetitions to be kept; to be run for that, at most */
    double from_us;            /* samples that end before are left out */
    double fine_us;            /* as in run_request; above 0, repetitions that were preempted are kept, since lost time
                                  is part of a long recording */
    struct repetitions_beside beside[REPETITIONS_BESIDE_MAX];
    size_t n_beside;
    double budget_us; /* repetitions continue beyond `wanted` until they have taken so much of the machine's time ... */
    repetitions_enough *enough; /* ... or until this says that they suffice, called at `wanted` and after each further
                                   half as many; NULL: `wanted` suffice */
    repetitions_progress *progress;
    void *data;                     /* for progress */
    repetitions_step *first, *last; /* before and after the repetitions, unless NULL */
    void *context;                  /* for these */
};

/*
 * Runs them: prepares the machine, and finishes it again. The trace has a run for each repetition that was kept, the
 * columns that from_recording_append() fills, and in its metadata the machine, the counters, the seed, and the
 * machine's remarks. MACHINE_OK, or fills *err and returns its status (MACHINE_CANNOT also where events are requested
 * from a machine that counts none); then *out is empty. Free with repetitions_free().
 */
int repetitions_run(struct machine *m, const struct repetitions_plan *p, struct repetitions *out,
                    struct machine_error *err);

/* ---- for probes with a protocol of their own ---- */

/* Chooses the counters: cycles or the chain; with `licenses` the levels and throttling, as far as the machine has them;
 * then the events. Returns their number. */
size_t repetitions_counters(const struct machine *m, bool licenses, const struct raw_event *events, size_t n_events,
                            struct counter_spec out[REPETITIONS_COUNTERS_MAX]);
/* Room for the samples of `sampled_us`: a tenth more for a clock that is not quite what it should be. */
size_t repetitions_room(double sampled_us, double period_us);
/* Samples of a period that grows for so long (drivers/native/growth.h). */
double repetitions_grown(double period_us, double us);
/* How much of a recording is left out because the sampling loop runs itself in, us. */
double repetitions_run_in_us(double period_us);
/* Notes in the metadata how a machine without counters has read the frequency, which is known only once it has run. 0,
 * or -1: out of memory. */
int repetitions_note_clock(struct trace *t, const struct machine_info *info);
