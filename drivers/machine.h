/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A machine: who executes kernels, and what can be read meanwhile. Probes see only this; whether a real core or a
 * model is behind it is hidden from them. A machine never interprets what it reads: counters are cumulative and raw.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "computer/cpu/caches.h"
#include "computer/cpu/cpu.h"
#include "computer/power/energy_source.h"
#include "drivers/switching.h"
#include "drivers/recording.h"
#include "kernels/kernels.h"
#include "kernels/workloads.h"
#include "util/error.h"

enum { MACHINE_COUNTERS_MAX = 12 };

/* A stretch of time in which one kernel runs without pause. */
struct segment {
    struct payload payload;
    double duration_us; /* 0 to 1e9; 0: the machine goes on to the next at once */
    bool sampled;
    uint64_t blocks; /* 0, or the exact number of the payload's blocks to run, however long that takes */
};

/* Set once for a series of repetitions. */
struct machine_setup {
    int cpu;                 /* logical CPU, -1 = the machine's choice */
    unsigned active_cores;   /* physical cores kept busy, this one included; 0 = all */
    struct payload corunner; /* code of the other active cores; kernel NULL = 64add */
    const int *cpus;         /* the order in which logical CPUs become active, one of a core each; the first is the
                                 measured one unless `cpu` says otherwise; no others are used. NULL = the machine's own
                                 order of all */
    size_t n_cpus;
    bool siblings;    /* the sibling threads of active cores run the co-runner, too; else they are idle */
    double fixed_ghz; /* models: no core runs faster than this, as with a fixed frequency; 0 = automatic */
    double
        period_us; /* sample period: a sample at least this often, as long as the code is not throttled to less than a
                         quarter of its rate; native machines take four times as many (drivers/native/sampling.h) */
    const struct counter_spec *counters;
    size_t n_counters;  /* <= MACHINE_COUNTERS_MAX; those that the machine offers */
    size_t max_samples; /* of one repetition, one a period: who takes more makes room for them */
    uint64_t seed;      /* models: same seed, same bytes */
};

/* One repetition. Consecutive sampled segments form one recording. */
struct run_request {
    const struct segment *segments;
    size_t n_segments;
    size_t zero_segment; /* its first instruction is time 0 */
    uint64_t repetition; /* number of this repetition */
    /* from so long after time 0 on the sample period grows (drivers/native/growth.h), and long dependent chains measure
     * the frequency instead of short ones; 0: it never grows */
    double fine_us;
};

/* An event as the table of events of the machine's CPU names it. */
struct machine_event {
    char name[64];
    uint64_t code; /* as in counter_spec */
};

struct machine;
struct rated_limits; /* drivers/rated_limits.h */

/* Trials: one piece of code runs again and again, and each run is timed. */
struct trial_branches {
    uint64_t all, mispredicted; /* retired, in user mode */
};
enum trials_before { TRIALS_NOTHING, TRIALS_SPOIL, TRIALS_IBPB }; /* the branch predictor, before each trial */
struct trials_request {
    enum workload_number workload;
    enum trials_before before;
    size_t bytes;    /* of the buffer, a power of two, 64 or more; 0 where the workload needs none */
    double trial_us; /* about so long; the number of rounds is determined first, and is the same in all */
    unsigned trials; /* 1 to 100000 */
    bool masked;     /* with interrupts masked: only the helper; a trial then takes 5 ms at most */
    /* the core idles for so long before the first trial, 0 to 1e4; if it does, durations are ns even where cycles are
     * counted, which do not show how fast they pass */
    double idle_ms;
    struct trial_branches *branches; /* filled for each trial if they can be counted; NULL: not wanted */
    int (*stop)(void *data);         /* called now and then; may be NULL */
    void *data;
};
/* Interruptions of all trials together; NaN where they cannot be counted. */
struct trials_between {
    double interrupts, faults, switches, steal_ms, smis;
};
struct trials_seen {
    bool cycles;       /* counted; else ns by time stamps */
    double resolution; /* in the same unit */
    uint64_t rounds;   /* in each trial */
    /* trials that were repeated, as the machine or the process stood still for more than a second, or the CPU was held
     * until the end of the time for which interrupts may be masked */
    unsigned discarded;
    struct trials_between between;
    char uncounted[300]; /* why `branches` was not filled, and the remedy; "": it was, or not wanted */
};

/* The first use of a unit after an idle time, which is spent on scalar code. */
struct first_use_request {
    struct payload warm;                 /* uses the unit before, for warm_us, and after; its width is the unit */
    double warm_us, idle_us, observe_us; /* up to 1e6, 1e6, 1e4 */
    bool released;       /* tiles are configured after the idle time; else before, or, if dirty, left as they are */
    uint64_t repetition; /* models */
};
struct first_use_seen {
    double idle_us;      /* the real idle time */
    double first_us;     /* between the reads of the clock around one instruction; NaN: it was disturbed */
    double full_rate_us; /* from that instruction until blocks run at the rate that they keep; NaN: not within
                            observe_us */
    double read_us;      /* the time of the reads alone */
};

/*
 * Bursts: wide instructions again and again, plain work in between. Pieces of plain work (BURSTS_PIECE_US) that end
 * more than BURSTS_PATIENCE_US too late were interrupted: their time is lost, and their work is not counted. No known
 * halt takes half as long.
 */
enum { BURSTS_MOST = 100000 };
#define BURSTS_PIECE_US 20.0
#define BURSTS_PATIENCE_US 30.0
struct bursts_request {
    struct payload plain, wide; /* wide: one that has shots (kernels/shots.h) */
    uint64_t count;             /* wide instructions of each burst, exact; 0: none, but all else is done. <= 1e9 */
    double every_us;     /* from the begin of one burst to that of the next, <= 1e6; 0: no plain work between them */
    double before_us;    /* plain work before the first, <= 1e6 */
    unsigned skipped;    /* bursts before those that are reported */
    unsigned bursts;     /* reported: 1 or more, with the skipped ones at most BURSTS_MOST */
    uint64_t repetition; /* number of this repetition */
};
/* MACHINE_OK; MACHINE_CANNOT: there are no shots of the wide payload; MACHINE_BAD_INPUT: nobody can run them. */
int machine_bursts_check(const struct bursts_request *r, struct machine_error *err);
/* A burst, with the call of its code, and the plain work after it: ticks of the TSC. */
struct burst {
    uint64_t wide, plain, lost;
    uint64_t instructions; /* of plain work */
};

/*
 * Switching: what the system does for threads, at the priority that the program has. A round is a block of operations
 * and two of the same without what is to be measured, well below a millisecond each.
 */
enum switching_block { SWITCHING_WORK, SWITCHING_BASE, SWITCHING_AGAIN, SWITCHING_BLOCKS };
struct switching_request {
    enum switching_what what;
    size_t order[SWITCHING_BLOCKS]; /* of the blocks */
    uint64_t repetition;            /* models */
};
struct switching_seen {
    double us[SWITCHING_BLOCKS]; /* of one: half of a round trip, a call, a page */
    double took_us;              /* all blocks together */
    bool happened;               /* as many switches, migrations or faults as there were operations */
    int to_cpu;                  /* the other CPU of migrations; else -1 */
};

/* A machine's description of itself; strings live as long as the machine. */
struct machine_info {
    const char *name;   /* "timing", "model:xeon-gold-6130" */
    const char *source; /* one line: where the numbers come from; contains the word "modelled" for a model */
    const char *cpu;    /* brand and family-model-stepping */
    bool modelled;
    double tsc_hz;
    const char *tsc_origin; /* "CPUID 15H", "calibrated against CLOCK_MONOTONIC_RAW" */
    double tsc_error;       /* relative */
    double tsc_step;        /* ticks by which its readings advance on the CPU prepared for; 0: not known */
    double longest_us;      /* the longest repetition, including the warm-up; 0: unlimited */
    unsigned chain_cycles;  /* machines without counters: cycles of the shortest chain for the frequency; else 0 */
    double chain_error;     /* ... and a standard error that all its readings have in common, relative */
    int cpu_number;
    const char *core_class; /* of that CPU, once prepared: "P", "E", "LP-E" of hybrid parts; NULL or "" elsewhere */
    unsigned active_cores, cores; /* in use; present */
    const char *order;        /* CPUs in the order in which they became active when most were, "7,0,4"; "" or NULL */
    unsigned energy_cores;    /* of those in use, the ones whose energy read_energy reports, once it has been read;
                                     0: all */
    unsigned usable_cores;    /* of those, the ones that this process may use; 0: not known */
    const int *core;          /* cpu_view.core: cores as measured, where that contradicts sysfs; else NULL */
    unsigned features;        /* kernels that can run: enum kernel_feature */
    bool intel;               /* the make; with family and model it decides what registers mean */
    unsigned family, model;   /* 0, 0: implausible or unknown */
    struct cpu_caches caches; /* of the CPU prepared for; all 0 before */
    const char *notes;        /* one line on what limits the results ("no SCHED_FIFO: ..."), or "" */
};

struct machine_ops {
    void (*info)(const struct machine *m, struct machine_info *out);
    /* NULL if the counter can be read, else why not (and the remedy in *remedy, may be NULL) */
    const char *(*lacks)(const struct machine *m, enum counter_id id, const char **remedy);
    int (*prepare)(struct machine *m, const struct machine_setup *s, struct machine_error *err);
    int (*run)(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err);
    void (*finish)(struct machine *m); /* undoes prepare: counters released, co-runners stopped */
    void (*close)(struct machine *m);
    /* reads a register of the machine's CPU (a model-specific register number); NULL: the machine has none */
    int (*read_register)(struct machine *m, uint32_t reg, uint64_t *value, struct machine_error *err);
    /* the TSC when read_register last read; NULL: it reads exactly at the end of the last segment, as models do */
    uint64_t (*register_tsc)(const struct machine *m);
    /* the code (counter_spec.event) of an event by its name; NULL: the machine knows no names */
    int (*find_event)(const struct machine *m, const char *name, uint64_t *code, struct machine_error *err);
    /* the events with this event select that the table of the machine's CPU names: at most `max`; *n receives how many
     * were written, 0 when it names none. MACHINE_CANNOT: no table for this CPU. NULL: the machine knows no names */
    int (*named_events)(const struct machine *m, uint32_t select, struct machine_event *out, size_t max, size_t *n,
                        struct machine_error *err);
    /* reads the energy that the package of the machine's CPU (of the last setup; -1 before) has used since some origin
     * and when that was; a counter is waited for until it moves. *source (may be NULL) names the counter, one line,
     * valid as long as the machine. MACHINE_CANNOT: why not, and the remedy. NULL: the machine has none */
    int (*read_energy)(struct machine *m, struct energy_reading *out, const char **source, struct machine_error *err);
    /* measures which CPUs share a core where a hypervisor may number them wrongly; co-runners are then placed by that,
     * and the notes say what contradicts sysfs. 0.1 to half a second, in which all CPUs are busy; what cannot be
     * measured stays as sysfs says. Before prepare. NULL: nobody says it wrongly */
    void (*find_cores)(struct machine *m);
    /* one CPU of each kind of core that there is; with `every` of each core that this process may use, labelled in the
     * same way, by the CPU's number. Returns how many, at most max; 0, or NULL: not known, as if alike */
    size_t (*core_kinds)(const struct machine *m, bool every, struct core_kind *out, size_t max);
    /* the present clock of the uncore (mesh or ring, last-level cache) of the prepared CPU's die, GHz; it takes up to
     * 0.1 ms. MACHINE_CANNOT: why not, and the remedy. NULL: it has none */
    int (*uncore)(const struct machine *m, double *ghz, struct machine_error *err);
    /* fills the limits of each class of code (tables, base_ghz, source) that the processor states by Intel Speed
     * Select; after prepare. MACHINE_CANNOT: why not, and the remedy; *out is then as it was. NULL: there is no way */
    int (*speed_select)(struct machine *m, struct rated_limits *out, struct machine_error *err);
    /* runs trials on the prepared CPU; duration: in cycles or ns (trials_seen.cycles). MACHINE_CANNOT: why not,
     * and the remedy. NULL: it cannot */
    int (*trials)(struct machine *m, const struct trials_request *r, double *duration, struct trials_seen *seen,
                  struct machine_error *err);
    /* one first use on the prepared CPU. MACHINE_CANNOT: why not, and the remedy. NULL: it cannot */
    int (*first_use)(struct machine *m, const struct first_use_request *r, struct first_use_seen *out,
                     struct machine_error *err);
    /* runs bursts on the prepared CPU; out: room for r->bursts. *disturbed: why they mean nothing
     * (recording_disturbed), or NULL. MACHINE_CANNOT: the code cannot run here; MACHINE_BAD_INPUT: nobody can run this.
     * NULL: it cannot */
    int (*bursts)(struct machine *m, const struct bursts_request *r, struct burst *out, const char **disturbed,
                  struct machine_error *err);
    /* one round on the prepared CPU; the thread is where it was afterwards. MACHINE_CANNOT: why not, and the remedy.
     * NULL: it cannot */
    int (*switching)(struct machine *m, const struct switching_request *r, struct switching_seen *out,
                     struct machine_error *err);
};

/* The measured cost of samples of a payload on a machine (probes/sample_cost.h): with these counters; the rest as in
 * machine_setup. */
struct machine_cost {
    kernel_fn *run;              /* NULL: not yet */
    const struct kernel *kernel; /* several have the same code */
    bool dirty;
    int cpu;
    double fixed_ghz;
    struct counter_spec counters[MACHINE_COUNTERS_MAX];
    size_t n_counters;
    struct sample_cost cost;
};
enum { MACHINE_COSTS_MAX = 32 };

struct machine {
    const struct machine_ops *ops;
    void *state;
    void *around; /* state of what was added to it: registers (drivers/msr/msr_machine.h) */
    struct machine_cost cost[MACHINE_COSTS_MAX];
    size_t next_cost;
};

/* Opens one machine. `cpu` as in machine_setup. Return MACHINE_OK or fill *err and return its status. */
int machine_open_timing(struct machine *out, struct machine_error *err);
int machine_open_perf(struct machine *out, struct machine_error *err);
int machine_open_helper(struct machine *out, struct machine_error *err);
/* `name_or_file`: a shipped model's name or a path. `data_dir`: where data/models/ is, NULL = the built-in default. */
int machine_open_model(const char *name_or_file, const char *data_dir, struct machine *out, struct machine_error *err);

/* One line of --list machines and of auto's report. */
struct machine_choice {
    const char *name;
    bool usable;
    char why[400];    /* why not, or what it gives */
    char remedy[200]; /* what the user can do */
};
/* Fills the choices of `auto`, best first (drivers/choices.c). Returns how many. */
size_t machine_choices(struct machine_choice *out, size_t max);

/*
 * Opens the machine that a --machine argument names: auto, one of machine_choices(), model:NAME, model:FILE. For auto
 * the line on what was taken and what is missing is written to `report`, else "".
 */
int machine_open(const char *spec, const char *data_dir, struct machine *out, char *report, size_t report_size,
                 struct machine_error *err);

/* The present clock of the uncore, GHz (machine_ops.uncore); NaN: the machine has none, or cannot read it. */
double machine_uncore_ghz(const struct machine *m);

/*
 * How long a measurement has taken, s: since `begun` (CLOCK_MONOTONIC), or what it has `recorded` if that is more.
 * Models have no time of their own (the same seed, the same answer): of these, what it has recorded.
 */
double machine_elapsed(const struct machine *m, double begun, double recorded);
