/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One simulated core: an event-driven simulation whose state is constant from event to event. Times are microseconds
 * since the start of the repetition. It knows nothing of sampling or time stamps: drivers/model/model_machine.c does
 * those. Its state, which its parts share, and what they offer.
 */
#pragma once

#include "drivers/model/model.h"
#include "drivers/model/model_random.h"

/* now(t) = end + (from - end) exp(-(t - begin) / tau), in steps, each at its exact mean, the next of them at `until`;
 * tau 0: it has come to its end. */
struct model_ramp {
    double from, begin, tau, until, now;
};

/* Quantities that change gradually. */
struct model_ramps {
    struct model_ramp ghz;  /* to the frequency of the class held */
    struct model_ramp fade; /* to 1: the rate of what needs at least fade_class */
    unsigned fade_class;
    /* linear from volts_from to what the voltage shall be, between the two times */
    double volts_from, volts_begin, volts_end;
    bool rises; /* for the class rise_to, which is released to when the voltage is there */
    unsigned rise_to;
};

/* State of the entire series of repetitions, whatever runs in them: the frequency's wandering and the power limits. */
struct model_history {
    bool begun;
    struct model_random random;
    double wander[MODEL_WANDERS]; /* relative, now */
    int steps;                    /* of a floating clock, above or below where it began */
};

/* Surroundings in one repetition. */
struct model_surroundings {
    double begin; /* of the repetition */
    bool sibling_runs;
    double sibling_until;
    double smi_next, smi_end;
    double cold_until;
    double limit; /* factor of the frequency, of this repetition */
    double wander_until, step_until;
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

/* Counts since the start of the repetition, in the mode that the counters count. */
struct model_totals {
    double cycles, ref_us, other_instructions;
    double class_cycles[MODEL_CLASSES_MAX];
    double throttle_cycles;
    double joules; /* of this core; NaN: the file does not say what the payload takes */
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
    double count_left;       /* 0: no later need */
    unsigned dirty_width[2]; /* 0: none; of upper halves, of tiles */
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

    double own; /* factor of all frequencies of this core; 0: 1 */
    struct model_surroundings around;
    struct model_history history;
};

/* ---- model_core.c: time and events ---- */

/* A core at rest: lowest class held, clean registers. `cores`: active, 1..model->cores. */
void model_core_start(struct model_core *c, const struct model *m, unsigned cores, uint64_t seed, uint64_t repetition);
/*
 * The next repetition of a series on a core that has been started (or is all zero: then the first): at rest, or where
 * the model carries, in the state in which the last one ended. What is of the series goes on.
 */
void model_core_next(struct model_core *c, const struct model *m, unsigned cores, uint64_t seed, uint64_t repetition);
/* Lets another payload run from now on. The payload must outlive its running. As model_need. */
int model_core_run(struct model_core *c, const struct payload *p, struct machine_error *err);
/* Follows the core clock closely (while somebody samples) or only by its mean. */
void model_core_fine(struct model_core *c, bool fine);
/*
 * Advances until the time `until`, or until the payload has retired `work` more instructions, whichever comes first;
 * INFINITY for either. Returns the payload instructions retired.
 */
double model_core_advance(struct model_core *c, double until, double work);
/*
 * When the state changes next if nothing else happens, us: an advance to then, or to before it, goes through one
 * stretch in which everything is constant.
 */
double model_core_event(const struct model_core *c);
/* True where the payload's thread executes now: the core is neither halted nor interrupted. */
bool model_core_executes(const struct model_core *c);
/* The thread executes something else than the payload for `us`, not counting halts and interrupts on the way. */
void model_core_idle(struct model_core *c, double us);
/*
 * The thread executes a dependent chain of so many cycles. Throttling stalls what is near enough to the instructions
 * that requested it (throttle_distance), the last of which is `after` instructions before the chain; halts, interrupts
 * and another hyper-thread are part of the time it takes.
 */
void model_core_chain(struct model_core *c, double cycles, double after);
/* The payload's function has returned: a clean kernel has executed VZEROUPPER, a dirty one has not. */
void model_core_returned(struct model_core *c);
/* Core voltage now, V, without noise of the reading. */
double model_core_volts(const struct model_core *c);

/* Factor of the frequency of the core: wandering, power limits. */
double model_scenario_clock(const struct model_core *c);

/* ---- model_license.c: which class is needed, held, pending, kept, released ---- */

/* Another payload (c->payload, c->need) runs from now on. */
void model_license_payload(struct model_core *c);
/* c->count_left has reached 0, or c->dirty_width have changed. */
void model_license_need_changed(struct model_core *c);
/* Something restarts the waits that run. */
void model_license_rearm(struct model_core *c);
/* The time of the next change that happens by itself, or INFINITY. */
double model_license_event(const struct model_core *c);
/* Does all that is due now. */
void model_license_update(struct model_core *c);

/* Nominal frequency of a class now, GHz: of its level with so many active cores, or the fixed
 * one if that is lower. */
double model_core_class_ghz(const struct model_core *c, unsigned class_);
/* Nominal frequency now, GHz: the last one while halted, that of the moment on a ramp. */
double model_core_ghz(const struct model_core *c);
/* The frequency goes from what it is to that of the class held from now on. Call it after the class has changed. */
void model_ramp_begin(struct model_core *c, double from_ghz, double tau_us);
/* Code that needs at least `class_` runs at `ratio` of its rate, and from then on ever less far below it. */
void model_ramp_fade_begin(struct model_core *c, double ratio, double tau_us, unsigned class_);
/* The share of the rate that this leaves to what runs now; 1: all. */
double model_ramp_fade(const struct model_core *c);
/* Next change; it is then due to model_ramp_update. */
double model_ramp_event(const struct model_core *c);
void model_ramp_update(struct model_core *c);
/* The voltage now, without boosts, V. */
double model_ramp_base_volts(const struct model_core *c);
