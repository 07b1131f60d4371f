/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "drivers/model/model.h"

/* The phases expected after a switch, from the parameters alone: nothing of the simulation is used. */
enum model_phase_kind {
    MODEL_STEADY,
    MODEL_THROTTLED,
    MODEL_HALTED,
    MODEL_SLOW,
    MODEL_RAMP, /* full rate, while the frequency goes from one value to another */
    MODEL_COLD  /* full license, but code that is not in the caches yet */
};

struct model_phase {
    enum model_phase_kind kind;
    double start_us;    /* from the first instruction of the second kernel */
    double duration_us; /* mean; INFINITY for the last */
    double ghz;         /* mean; at the end of a ramp; 0 while halted */
    double ghz_begin;   /* at the start of the phase */
    double tau_us;      /* > 0: f(t) = ghz + (ghz_begin - ghz) exp(-(t - start_us) / tau_us) */
    double ipc;         /* payload instructions per core cycle; 0 while halted */
    double ipc_ratio;   /* against the same code at full rate; 0 while halted */
    double volts;       /* without ramps: model_truth_volts has them */
    unsigned level, class_;
};

enum { MODEL_PHASES_MAX = 32, MODEL_TRUTH_POINTS_MAX = 128 };
struct model_truth {
    size_t n;
    struct model_phase phases[MODEL_PHASES_MAX];
    double from_ghz, from_ipc, from_volts; /* before time 0 */
    unsigned from_level;
    /* a release that may take longer: probability, and by how much the slow phase then grows; both 0 otherwise */
    double double_probability, double_extra_us;
    /* the voltage: linear from point to point, constant before and after them all; two at one time are a step */
    size_t n_points;
    struct {
        double us, volts;
    } points[MODEL_TRUTH_POINTS_MAX];
    /* Random from repetition to repetition, in addition to the above: with probability limit_share all frequencies are
     * limit_factor times these; wander_sigma is the relative standard deviation of the frequency at any moment; during
     * sibling_share of the time the payload runs at sibling_factor of its rate. 0: none */
    double limit_share, limit_factor, wander_sigma, sibling_share, sibling_factor;
};

/*
 * The phases after a switch from a kernel that has run long enough to settle to another that then runs for ever, on
 * a core that nothing interrupts. `cores`: active physical cores, 0 = all. MACHINE_OK, MACHINE_BAD_INPUT (more cores
 * than the model has) or MACHINE_CANNOT as model_need.
 */
int model_truth(const struct model *m, const struct payload *from, const struct payload *to, unsigned cores,
                struct model_truth *out, struct machine_error *err);
/* Core cycles of a phase between two times within it, us. */
double model_phase_cycles(const struct model_phase *p, double begin, double end);
/* The voltage at a time after the switch, V. */
double model_truth_volts(const struct model_truth *t, double us);
