/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a simulated processor is: the parameters of a characterize-export/1 file (doc/export-format.md), and nothing
 * else. What the file lacks is bounded by its other rows, which `bounds` says, or refused. doc/simulation.md has the
 * rules ("Which parameters") and the units.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

enum {
    SIM_LEVELS_MAX = 8,
    SIM_PHASES_MAX = 8,     /* throttle phases and the halt of one change */
    SIM_UNITS_PER_MHZ = 10, /* speeds are whole 0.1 MHz */
    SIM_CORES_MAX = 4096,   /* active cores of one processor */
    SIM_CORE_CPUS_MAX = 8,  /* hyper-threads of one core */
};

#define SIM_PS_PER_US INT64_C(1000000)
#define SIM_FOREVER INT64_MAX

/* What code demands, by width and weight; SIM_NONE is everything narrower. */
enum sim_class { SIM_NONE, SIM_256LIGHT, SIM_256HEAVY, SIM_512LIGHT, SIM_512HEAVY, SIM_CLASSES };
extern const char *const sim_class_names[SIM_CLASSES];

/* A parameter that is not in the export as it is needed: which value was taken, and between which it lies. */
struct sim_bound {
    char what[120]; /* "wait from level 2 to 0" */
    double value, lo, hi;
    const char *unit; /* "us", "MHz" */
    char why[160];
};

/* A change to a slower level: throttle phases and a halt (ratio 0), in the order in which they happen. */
struct sim_change {
    unsigned n;
    struct {
        int64_t ps;
        unsigned permille; /* of the speed; 0: halted */
    } phase[SIM_PHASES_MAX];
    double total_ps; /* its measured cost */
};

struct sim_params;

/*
 * Reads an export. Returns MACHINE_OK, or MACHINE_BAD_INPUT with what is wrong with the file, and where, in *err.
 * sim_params_free in any case where it returned MACHINE_OK.
 */
int sim_params_read(const char *path, struct sim_params **out, struct machine_error *err);
void sim_params_free(struct sim_params *p);

const char *sim_params_cpu(const struct sim_params *p);    /* the processor's name */
const char *sim_params_source(const struct sim_params *p); /* how the numbers came about; "" where the file is silent */
bool sim_params_modelled(const struct sim_params *p);
unsigned sim_params_levels(const struct sim_params *p); /* 1 to SIM_LEVELS_MAX */
unsigned sim_params_cores(const struct sim_params *p);  /* most active cores for which there are frequencies */

/* The level that a class demands; -1: the export does not say. */
int sim_params_demand(const struct sim_params *p, enum sim_class c);
/* Instructions after which it does so; 0: at once. */
double sim_params_trigger(const struct sim_params *p, enum sim_class c);

/* The speed at a level with n active cores (1 to sim_params_cores; 0 counts as 1), in 0.1 MHz. */
uint32_t sim_params_speed(struct sim_params *p, unsigned level, unsigned n);
/* Whether level 0 was measured with exactly n active cores. */
bool sim_params_measured(const struct sim_params *p, unsigned n);
/*
 * The speed of code that waits for memory in a share of its cycles at `recorded` speed (0.1 MHz), in thousandths
 * (0 to 1000). Dissertation, eq. 4.3.
 */
uint32_t sim_stalled_speed(uint32_t speed, uint32_t recorded, unsigned stall_permille);

/*
 * The change down from one level to a slower one by code of a class (SIM_NONE: whichever; the cost between levels), and
 * the halt of a change up from a slower level to a faster one, in ps. NULL or -1: the export has nothing that would
 * tell, and *why (if it is not NULL) names what is missing. The change belongs to the parameters.
 */
const struct sim_change *sim_params_down(struct sim_params *p, unsigned from, unsigned to, enum sim_class c, unsigned n,
                                         const char **why);
int64_t sim_params_up(struct sim_params *p, unsigned from, unsigned to, unsigned n, const char **why);

/* The waits from a slower level to a faster one, in ps; long_share: 0 to 1, that of the long wait. */
struct sim_wait {
    int64_t usual_ps, long_ps;
    double long_share;
};
/* 0, or -1 with *why. */
int sim_params_wait(struct sim_params *p, unsigned from, unsigned to, struct sim_wait *out, const char **why);

/* How long code must run at `fast` until a change up from `slow` and back has paid, in ps; SIM_FOREVER: it never does.
 * -1 with *why: the export has nothing that would tell. */
int64_t sim_params_breakeven(struct sim_params *p, unsigned fast, unsigned slow, unsigned n, const char **why);

/* Those of the parameters that were needed until now and were bounded. */
const struct sim_bound *sim_params_bounds(const struct sim_params *p, size_t *n);

/* For what-if: multiplies all waits, all costs (throttles and halts; break-even times with them), or the distance of
 * all levels from level 0. 1 for each is the processor as measured; spacing 0 to 2, others 0 to 1000. */
struct sim_factors {
    double wait, cost, spacing;
};
void sim_params_scale(struct sim_params *p, const struct sim_factors *f);
