/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by all machines on real hardware, whatever they read: which CPU this is and how its TSC runs, where the
 * sampling loop runs, what keeps the other cores busy, how fast each payload runs, and the checks of requests. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "drivers/native/corunners.h"
#include "computer/cpu/core_pairs.h"
#include "computer/cpu/cpu.h"
#include "drivers/active_cores.h"
#include "computer/power/energy_source.h"
#include "drivers/machine.h"
#include "drivers/native/pinning.h"
#include "drivers/native/sampling.h"
#include "drivers/native/walks.h"
#include "util/text_list.h"
#include "computer/cpu/tsc.h"

enum { NATIVE_LANES_MAX = 4 * SAMPLING_STRETCHES_MAX, NATIVE_ROOT_MAX = 256 };

/* The state of each of these machines begins with it. */
struct native {
    const char *name; /* of the machine */
    char sys[NATIVE_ROOT_MAX];
    struct cpu_identity id;
    bool contradicts; /* the model number does not fit the features: tables keyed by model do not apply */
    char cpu_text[80];
    char notes[1200];
    char machine_notes[700]; /* the part of notes that holds before prepare as well */
    struct tsc_rate tsc;
    double tsc_step;       /* ticks by which readings advance, on the CPU prepared for; 1 before */
    unsigned cores;        /* physical, online */
    unsigned usable_cores; /* of those, allowed to this process */
    bool cores_measured;   /* otherwise than sysfs says: */
    int core[CPU_LIMIT];   /* cpu_view.core */
    unsigned features;     /* enum kernel_feature: of all kinds of cores together */
    unsigned lacking;      /* those that the CPU prepared for does not have (hybrid parts) */

    bool prepared;
    struct machine_setup setup;
    struct counter_spec counters[MACHINE_COUNTERS_MAX];
    int cpu;
    struct cpu_mask used;     /* CPUs that it was prepared for so far */
    const char *core_class;   /* of that CPU */
    struct cpu_caches caches; /* of that CPU */
    struct walks walks;       /* of kernels that ran so far; freed with the machine */
    unsigned active_cores;
    unsigned active_in_package, active_in_die; /* of those, with the measured one */
    char order[400];                           /* CPUs in the order in which they became active when most were */
    unsigned ordered;                          /* how many those were */
    struct cpu_mask allowed;                   /* when it was prepared: pinned, it sees its CPU only */
    struct pinning pinning;
    struct corunners *corunners;
    struct sampling_lane lanes[NATIVE_LANES_MAX];
    size_t n_lanes;
    struct energy energy;
    struct part_events *events; /* of machines that count (drivers/events/part_events.h) */
};

/*
 * Finds out what there is. `name`: of the machine, kept; `sys`: "/sys", or a folder laid out like it; `leaves`: of the
 * CPU, NULL = read from it. Takes 60 ms or more, for the TSC. Returns MACHINE_OK, or fills *err and returns its status:
 * MACHINE_CANNOT where the TSC is no clock.
 */
int native_open(struct native *s, const char *name, const char *sys, const struct cpu_leaves *leaves,
                struct machine_error *err);

/* One more of the notes, as printf makes it. */
#define native_note(s, ...) text_list_add((s)->notes, sizeof(s)->notes, "; ", __VA_ARGS__)

/* All but the source. */
void native_info(const struct native *s, struct machine_info *out);

/* ---- find_cores.c ---- */

/* The CPUs, with their cores as far as those were measured; the view is used no longer than `s`. */
void native_view(const struct native *s, struct cpu_view *out);
/* Physical cores, for info before anything is prepared. */
void native_count_cores(struct native *s);
/* machine_ops.find_cores. */
void native_find_cores(struct machine *m);
/* What follows from measured pairs: where they contradict sysfs, cores are as measured, and the notes say so. */
void native_take_cores(struct native *s, const struct core_pairs *p);

/* machine_ops.core_kinds, and uncore. */
size_t native_core_kinds(const struct machine *m, bool every, struct core_kind *out, size_t max);
int native_uncore(const struct machine *m, double *ghz, struct machine_error *err);

/*
 * Keeps a copy of the setup, pins the calling thread to its CPU, provides `bytes` of locked memory (s->pinning.locked)
 * and starts the co-runners. Returns MACHINE_OK, or fills *err, returns its status and leaves everything as it was.
 */
int native_prepare(struct native *s, const struct machine_setup *setup, size_t bytes, struct machine_error *err);
/* Undoes it; may be called twice, or without. */
void native_finish(struct native *s);
/* machine_ops.close: finishes, and frees the state with its buffers. */
void native_close(struct machine *m);

/*
 * Keeps a copy of the setup and chooses the CPU from the view, which it reads. MACHINE_CANNOT where a fixed frequency
 * is requested: real cores are fixed by the settings of the system.
 */
int native_take_setup(struct native *s, const struct machine_setup *setup, struct cpu_view *view,
                      struct machine_error *err);
/* Checks that a payload can run: MACHINE_OK, or MACHINE_CANNOT with the kernels that can in the remedy. */
int native_check_features(const struct native *s, const struct payload *p, struct machine_error *err);
/* The same, and makes the buffer that the payload's operands come from, if they need one (walks_of(&s->walks, p)). */
int native_make_ready(struct native *s, const struct payload *p, struct machine_error *err);
/* A check like native_check_features(). */
typedef int native_can_run(const struct native *s, const struct payload *p, struct machine_error *err);
/* Chooses the other cores that the setup wants active and their payload (free chosen->cpus): they are counted. */
int native_pick_corunners(struct native *s, const struct cpu_view *view, native_can_run *can_run,
                          struct payload *corunner, struct cpu_corunners *chosen, struct machine_error *err);
/* Checks that a repetition makes sense, after prepare: MACHINE_OK, MACHINE_BAD_INPUT or MACHINE_FAILED. */
int native_check_request(const struct native *s, const struct run_request *r, struct machine_error *err);

/* Readings that a recording has at most. */
static inline size_t native_room(const struct machine_setup *s)
{
    return SAMPLING_ROOM_A_PERIOD * s->max_samples + 1;
}

/*
 * Plans a repetition, after prepare. Payloads that have no lane yet are measured, and then the core relaxes. Returns
 * MACHINE_OK, or fills *err and returns its status: MACHINE_BAD_INPUT also when it has more periods than were prepared
 * for.
 */
int native_plan(struct native *s, const struct run_request *r, struct sampling *plan, struct machine_error *err);

/* Takes the readings of a planned repetition; `s`: the beginning of the machine's state. */
typedef void native_sample(struct native *s, const struct sampling *plan, struct sampling_log *log);
/*
 * A repetition: at real-time priority, of code that is warm. Fills *log, and *out with `words`, in which the caller
 * then puts the readings. After one that was cut all payloads are measured again. Returns as native_plan().
 */
int native_run(struct native *s, const struct run_request *r, native_sample *sample, struct sampling_log *log,
               uint64_t *words, struct recording *out, struct machine_error *err);

/* machine_ops.read_energy: of the package of the CPU prepared for, or of the one that would be chosen. */
int native_read_energy(struct machine *m, struct energy_reading *out, const char **source, struct machine_error *err);

/* machine_ops.speed_select; read for "/sys" only: a folder laid out like it has none. */
int native_speed_select(struct machine *m, struct rated_limits *out, struct machine_error *err);

/* Lets the core forget the code that it ran: takes twice the longest time after which a license is said to lapse. */
void native_relax(void);

/* Measures the pace of a payload at this sample period (us): 2 ms to reach its steady state, then the blocks of a
 * sample from its fastest rate. `walk`: as in the lane. */
void native_lane_measure(const struct payload *p, struct kernel_walk *walk, double tsc_hz, double period_us,
                         struct sampling_lane *lane);

/* ---- bursts.c: as in machine_ops, in user space ---- */

/* Bursts of so many instructions and more are run as blocks of their kernel, with operands that toggle; operands of 0,
 * which a shot has, take less power. The loads of the blocks are then less than a hundredth of it. */
enum { BURSTS_BLOCKS_FROM = 2000 };
int native_bursts(struct machine *m, const struct bursts_request *r, struct burst *out, const char **disturbed,
                  struct machine_error *err);
int native_first_use(struct machine *m, const struct first_use_request *r, struct first_use_seen *out,
                     struct machine_error *err);

/* ---- switching.c: as in machine_ops; MACHINE_FAILED also where the system refuses a thread, a pipe or memory ---- */
int native_switching(struct machine *m, const struct switching_request *r, struct switching_seen *out,
                     struct machine_error *err);

/*
 * When the rate is the full one: of n readings of the TSC with a block of the kernel between each, the number of the
 * first reading after which three blocks, and most of 32, take no longer than FIRST_USE_SLOW times what the last
 * quarter of all does (median). What is slow later is somebody else's doing. 0: the first ones are not slower; n: too
 * few to tell. scratch: n / 4 doubles. Pure.
 */
#define FIRST_USE_SLOW 1.25
size_t native_first_use_full(const uint64_t *ticks, size_t n, double *scratch);
