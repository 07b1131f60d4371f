/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Studies take several simulations of one workload. Each takes options whose policy is set here; observer and
 * timeout are ignored. They return what sim_run does; what needs a policy that cannot be simulated is MACHINE_BAD_INPUT
 * with the reason in *err.
 */
#pragma once

#include "schedulers/simulate/simulate.h"

/* ---- policy timeout, by T ---- */

/* Points of the curve, and the timeouts between which they lie, us: around the break-even times and waits of known
 * processors. */
enum { SIM_CURVE_POINTS = 25 };
#define SIM_CURVE_US_LO 10.0
#define SIM_CURVE_US_HI 5000.0

struct sim_curve_point {
    double timeout_us;       /* NaN: there is no such point */
    double overhead, remote; /* fractions; remote: NaN where all work is wide */
};
struct sim_curve {
    size_t n;                                       /* 0: none */
    struct sim_curve_point point[SIM_CURVE_POINTS]; /* by T, equally far apart in its logarithm */
    struct sim_curve_point breakeven; /* T of the slowest level that is demanded; overhead of each level's own T */
    struct sim_curve_point stock;     /* T = stock's usual wait */
};
int sim_curve_find(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, struct sim_curve *out,
                   struct machine_error *err);

/* ---- policy stock on other processors ---- */

enum { SIM_WHAT_IF_MAX = 16 };
struct sim_what_if_row {
    const char *parameter; /* "wait", "cost of a change", "distance of the levels" */
    double factor;
    double overhead, remote; /* fractions; remote: NaN where all work is wide */
};
struct sim_what_if {
    struct sim_what_if_row now;                  /* the processor as it is; parameter NULL */
    size_t n;                                    /* 0: none */
    struct sim_what_if_row row[SIM_WHAT_IF_MAX]; /* the least overhead first */
};
/* The parameters are afterwards as they were. */
int sim_what_if_find(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, struct sim_what_if *out,
                     struct machine_error *err);

/* ---- the levels of cores, in a stretch in which many change ---- */

/* Cores and pieces that a picture has room for. */
enum { SIM_TIME_LINE_CORES = 4, SIM_TIME_LINE_PIECES_MAX = 20000 };
#define SIM_TIME_LINE_PS (4000 * SIM_PS_PER_US) /* its length, where the workload is not shorter */

struct sim_piece {
    int64_t from, to; /* ps */
    unsigned core;
    uint16_t level, permille; /* of the speed: 1000, less: throttled, 0: halted */
};
struct sim_time_line {
    int64_t from, to; /* ps */
    size_t n_cores;   /* those that change most often, ascending */
    unsigned core[SIM_TIME_LINE_CORES];
    size_t n; /* policies; 0: there is no time line */
    struct sim_time_line_policy {
        const char *policy;
        size_t n;
        struct sim_piece *piece; /* of all cores; those of one ascend */
        bool cut;                /* there were more than SIM_TIME_LINE_PIECES_MAX */
    } policy[SIM_POLICIES];
};
/*
 * The stretch in which most levels change under the first of n policies, and what all do there. Takes n + 1 runs.
 * *out: all zero at first; sim_time_line_free in any case.
 */
int sim_time_line_find(struct sim_params *p, struct sim_workload *w, const struct sim_options *o,
                       const enum sim_policy *policies, size_t n, struct sim_time_line *out, struct machine_error *err);
void sim_time_line_free(struct sim_time_line *t);

/* The cost of wide code to tasks that run none, and how evenly it is spread (doc/simulation.md, "Fairness"). F:
 * Gottschlag, Machauer, Khalil and Bellosa, USENIX ATC 2021, 7.1. */

/* F, eq. 9, from ratios of completion times with and without wide code: of a scheduler, and of the plain fair one. With
 * both the same, it is eq. 7. */
double sim_unfairness(double slowdown, double base);

/*
 * Fills slowdown, cpu_slowdown and unfairness of a result that sim_run gave for the same arguments, with a scheduler.
 * Runs the workload once more without wide code, and twice under scheduler fair where *base is NaN, which is then what
 * that found (a ratio), for further results under the same policy. As sim_run.
 */
int sim_fairness_find(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, double *base,
                      struct sim_result *r, struct machine_error *err);
