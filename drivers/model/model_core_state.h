/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of one simulated core, which its parts share: time and events (model_core), licenses (model_license), what
 * changes gradually (model_ramp), its surroundings (model_world). Times are microseconds since the start of the
 * repetition. Inside drivers/model/.
 */
#ifndef CHARACTERIZE_DRIVERS_MODEL_CORE_STATE_H
#define CHARACTERIZE_DRIVERS_MODEL_CORE_STATE_H

#include "drivers/model/model.h"
#include "drivers/model/model_random.h"

/* What changes gradually. */
struct model_ramps {
    /* f(t) = f_end + (from_ghz - f_end) exp(-(t - begin) / tau); tau 0: none. In steps, each at its exact mean. */
    double from_ghz, begin, tau, until, ghz;
    /* linear from volts_from to what the voltage shall be, between the two times */
    double volts_from, volts_begin, volts_end;
    bool rises; /* for the class rise_to, which is released to when the voltage is there */
    unsigned rise_to;
};

/* Of the whole series of repetitions, whatever runs in them: the frequency's wandering and the power limits. */
struct model_history {
    bool begun;
    struct model_random random;
    double wander[MODEL_WANDERS]; /* relative, now */
};

/* Of one repetition. */
struct model_surroundings {
    double begin; /* of the repetition */
    bool sibling_runs;
    double sibling_until;
    double smi_next, smi_end;
    double cold_until;
    double limit; /* factor of the frequency, of this repetition */
    double wander_until;
};

enum { MODEL_SWITCHES_MAX = 16 };

/* Each use has its own stream, so that a parameter of one leaves the numbers of the others as they were. */
enum model_stream {
    MODEL_STREAM_DURATIONS,
    MODEL_STREAM_WAITS,
    MODEL_STREAM_INTERRUPTS,
    MODEL_STREAM_FREQUENCY,
    MODEL_STREAM_COUNTS,
    MODEL_STREAM_CLOCK,
    MODEL_STREAM_COUNTERS,
    MODEL_STREAM_VOLTAGE,
    MODEL_STREAM_SIBLING,
    MODEL_STREAM_SMI,
    MODEL_STREAM_HISTORY,
    MODEL_STREAMS
};

/* What has happened since the start of the repetition, in the mode that the counters count. */
struct model_totals {
    double cycles, ref_us, other_instructions;
    double class_cycles[MODEL_CLASSES_MAX];
    double throttle_cycles;
    double joules; /* of this core; NaN: the file does not tell what the payload takes */
};

/* A kind of code, for mixtures. */
struct model_kind {
    unsigned width;
    enum kernel_weight weight;
};

struct model_core {
    const struct model *model;
    unsigned cores;   /* active */
    double fixed_ghz; /* no level is faster, 0 = no such limit; set after model_core_start */
    double now;
    struct model_totals totals;
    unsigned off_cpu; /* interrupts that took the thread off its CPU */
    struct model_random streams[MODEL_STREAMS];

    /* the payload; what it needs now, and later when `count_left` counted instructions are done */
    const struct payload *payload;
    struct model_need need;
    double nj; /* of each of its instructions, at 1 V */
    unsigned needed;
    double count_left; /* 0: no later need */
    unsigned dirty_width;
    struct model_kind last_kind;
    double switch_times[MODEL_SWITCHES_MAX];
    struct model_kind switch_from[MODEL_SWITCHES_MAX];
    size_t n_switches;
    unsigned mixture; /* the class that alternation requests until ... */
    double mixture_until;

    /* licenses: the class held, and for each class until when it is kept after the last need of it */
    unsigned held;
    double keep_until[MODEL_CLASSES_MAX];
    double wait_us[MODEL_CLASSES_MAX]; /* drawn when the need ended */
    bool pending;                      /* a transition from `origin` to `target` is at step `step` */
    unsigned origin, target;
    size_t step;
    double step_begin, step_end, transition_throttle_ratio;
    bool halted;
    double halt_end;
    unsigned halt_to;
    bool boosted[MODEL_BOOSTS_MAX];
    struct model_ramps ramps;

    /* interrupts */
    double interrupt_next[MODEL_INTERRUPTS_MAX];
    double interrupt_end; /* > now while one runs */

    /* core clock: piecewise constant; unless `fine`, the mean is used */
    bool fine;
    double clock_factor, clock_until, spread_phase;

    struct model_surroundings around;
    struct model_history history;
};

/* Nominal frequency of a class now, GHz: of its level with so many active cores, or the fixed one if that is lower. */
double model_core_class_ghz(const struct model_core *c, unsigned class_);
/* Nominal frequency now, GHz: the last one while halted, that of the moment on a ramp. */
double model_core_ghz(const struct model_core *c);

#endif
