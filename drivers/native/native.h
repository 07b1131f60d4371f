/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What all machines on real hardware share, whatever their readings are: which CPU this is and how its TSC runs, where
 * the sampling loop runs, what keeps the other cores busy, how fast each payload runs, and the checks of what is asked
 * for.
 */
#ifndef CHARACTERIZE_NATIVE_H
#define CHARACTERIZE_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "drivers/native/corunners.h"
#include "drivers/cpu/cpu.h"
#include "drivers/power/energy_source.h"
#include "drivers/machine.h"
#include "drivers/native/pace.h"
#include "drivers/native/pinning.h"
#include "drivers/native/native_note.h"
#include "drivers/native/plan.h"
#include "drivers/cpu/tsc.h"

enum { NATIVE_LANES_MAX = 4 * PLAN_SEGMENTS_MAX, NATIVE_ROOT_MAX = 256 };

/* The state of each of these machines begins with it. */
struct native {
    char sys[NATIVE_ROOT_MAX];
    struct cpu_identity id;
    bool contradicts; /* the model number does not fit the features: tables keyed by model do not apply */
    char cpu_text[80];
    char notes[900];
    char machine_notes[400]; /* the part of notes that holds before prepare as well */
    struct tsc_rate tsc;
    double tsc_step;       /* ticks by which readings advance, on the CPU prepared for; 1 before */
    unsigned cores;        /* physical, online */
    unsigned usable_cores; /* of those, allowed to this process */
    unsigned features;     /* enum kernel_feature */

    bool prepared;
    struct machine_setup setup;
    struct counter_spec counters[MACHINE_COUNTERS_MAX];
    int cpu;
    const char *core_class; /* of that CPU */
    unsigned active_cores;
    unsigned active_in_package, active_in_die; /* of those, with the measured one */
    struct pinning pinning;
    struct corunners *corunners;
    struct pace_lane lanes[NATIVE_LANES_MAX];
    size_t n_lanes;
    struct energy energy;
};

/*
 * Finds out what there is. `sys`: "/sys", or a folder laid out like it; `leaves`: of the CPU. Takes 60 ms or more, for
 * the TSC. Returns MACHINE_OK, or fills *err and returns its status: MACHINE_CANNOT where the TSC is no clock.
 */
int native_open(struct native *s, const char *sys, const struct cpu_leaves *leaves, struct machine_error *err);

/* All but the name and the source. */
void native_info(const struct native *s, struct machine_info *out);

/* machine_ops.core_kinds. */
size_t native_core_kinds(const struct machine *m, struct machine_core_kind *out, size_t max);

/*
 * Keeps a copy of the setup, pins the calling thread to its CPU, provides `bytes` of locked memory (s->pinning.locked)
 * and starts the co-runners. Returns MACHINE_OK, or fills *err, returns its status and leaves everything as it was.
 */
int native_prepare(struct native *s, const struct machine_setup *setup, size_t bytes, struct machine_error *err);
/* Undoes it; may be called twice, or without. */
void native_finish(struct native *s);

/* MACHINE_CANNOT where a setup asks for a fixed frequency: real cores are fixed by the settings of the system. */
int native_check_fixed(const struct machine_setup *s, struct machine_error *err);
/* Whether a payload can run: MACHINE_OK, or MACHINE_CANNOT with the kernels that can in the remedy. */
int native_check_features(const struct native *s, const struct payload *p, struct machine_error *err);
/* Whether a repetition makes sense: MACHINE_OK or MACHINE_BAD_INPUT. */
int native_check_request(const struct run_request *r, struct machine_error *err);

/* Fills *lane for a payload by running it. Returns 0, or -1 when the CPU was taken away. */
typedef int native_measure(void *context, const struct payload *p, struct pace_lane *lane);
/*
 * Measures each payload of a repetition that has no lane yet, with some attempts, and then lets the core relax. To be
 * called after prepare. Returns MACHINE_OK or fills *err and returns its status.
 */
int native_calibrate(struct native *s, const struct run_request *r, native_measure *measure, void *context,
                     struct machine_error *err);

/*
 * The plan of a repetition whose payloads have lanes; one reading in `turns` is of another kind. Returns MACHINE_OK, or
 * MACHINE_BAD_INPUT when it could give more readings than were prepared for.
 */
int native_plan(struct native *s, const struct run_request *r, unsigned turns, struct plan *plan,
                struct machine_error *err);

/* Around one repetition: real-time priority, warm code, and what happened to the thread meanwhile. */
struct native_watch {
    double us;
    struct rusage before;
};
void native_begin(struct native *s, const struct run_request *r, struct native_watch *w);
/* Fills what *out says of the thread. A plan that was cut counts as one that was preempted. */
void native_end(struct native *s, const struct native_watch *w, const struct plan_log *log, struct recording *out);

/* machine_ops.read_energy: of the package of the CPU prepared for, or of the one that would be chosen. */
int native_read_energy(struct machine *m, struct energy_reading *out, const char **source, struct machine_error *err);

/* machine_ops.speed_select; only of "/sys" is it asked, of a folder laid out like it there is none. */
int native_speed_select(struct machine *m, struct rated_limits *out, struct machine_error *err);

/* Lets the core forget what it ran: twice the longest time after which a license is said to lapse. */
void native_relax(void);

/* ---- native_lane.c ---- */

/*
 * How fast a payload runs and how it is run at this sample period (us): 2 ms to reach its steady state, then its rate.
 * The leads are a guess that follows what is seen.
 */
void native_lane_measure(const struct payload *p, double tsc_hz, double period_us, struct pace_lane *lane);

#endif
