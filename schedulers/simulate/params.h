/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A simulated processor: the parameters of a characterize-export/1 file (doc/export-format.md), and nothing else.
 * Missing values are bounded by the file's other rows, as `bounds` says, or refused. doc/simulation.md has the rules
 * ("Which parameters") and the units.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedulers/policy.h"
#include "util/error.h"

enum {
    SIM_LEVELS_MAX = 8,
    SIM_PHASES_MAX = 8,     /* throttle phases and the halt of one change */
    SIM_UNITS_PER_MHZ = 10, /* speeds are whole 0.1 MHz */
    SIM_CORES_MAX = 4096,   /* active cores of one processor */
    SIM_CORE_CPUS_MAX = 8,  /* hyper-threads of one core */
};

/* What a scheduler's own work costs, each time. */
enum sim_scheduling_cost { SIM_SWITCH, SIM_MIGRATION, SIM_FAULT, SIM_SCHEDULING_COSTS };
extern const char *const sim_scheduling_cost_names[SIM_SCHEDULING_COSTS];

#define SIM_PS_PER_US INT64_C(1000000)
#define SIM_PS_PER_NS INT64_C(1000)
#define SIM_FOREVER INT64_MAX

/* The classes of code, by width and weight; SIM_NONE is everything narrower. */
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

/* A value that the file does not give. */
#define SIM_ABSENT (-1.0)

struct sim_frequency {
    unsigned level, n;
    double mhz, lo, hi;
};
/* Between classes or between levels; times in ps, SIM_ABSENT where there is none. */
struct sim_cost {
    unsigned from, to, n;
    double down, up, breakeven;
};
struct sim_relaxation {
    unsigned from, to, mode;
    double wait, share; /* ps; 0 to 1, SIM_ABSENT where it is not known */
};
struct sim_throttle {
    unsigned from, to, n, phase;
    double ps, ratio; /* ratio: thousandths, SIM_ABSENT where it is not known */
};
struct sim_export_class {
    unsigned width;
    bool heavy;
    int level;      /* -1: none */
    double trigger; /* instructions; 0: at once */
};

/* For what-if: factors of all waits, all costs (throttles and halts; break-even times with them), or the distance of
 * all levels from level 0. 1 for each is the processor as measured; spacing 0 to 2, others 0 to 1000. */
struct sim_factors {
    double wait, cost, spacing;
};

struct sim_params {
    char *cpu, *source;     /* the processor's name; how the numbers came about, "" where the file is silent */
    unsigned levels, cores; /* 1 to SIM_LEVELS_MAX; the most active ones for which there are frequencies */
    bool modelled;
    int64_t scheduling_ps[SIM_SCHEDULING_COSTS]; /* at the recorded frequency; below 0: not known */
    size_t n_bounds;
    struct sim_bound *bounds; /* parameters that were needed until now and were bounded */

    /* as they were read, for params*.c alone */
    size_t n_frequencies, n_costs, n_level_costs, n_relaxations, n_throttles, n_classes;
    struct sim_frequency *frequencies; /* of one CPU */
    struct sim_cost *costs, *level_costs;
    struct sim_relaxation *relaxations;
    struct sim_throttle *throttles;
    struct sim_export_class *classes;
    struct sim_factors factors;
    struct sim_change **changes; /* by from, to, class and n, where one has been requested */
    char why[200];               /* the last missing value */
};

/*
 * Reads an export. Returns MACHINE_OK, or MACHINE_BAD_INPUT with what is wrong with the file, and where, in *err.
 * sim_params_free in any case where it returned MACHINE_OK.
 */
int sim_params_read(const char *path, struct sim_params **out, struct machine_error *err);
void sim_params_free(struct sim_params *p);

/* The level that a class demands; -1: the export does not say. */
int sim_params_demand(const struct sim_params *p, enum sim_class c);
/* Instructions after which it does so; 0: at once. */
double sim_params_trigger(const struct sim_params *p, enum sim_class c);

/* The speed at a level with n active cores (1 to `cores`; 0 counts as 1), in 0.1 MHz. */
uint32_t sim_params_speed(struct sim_params *p, unsigned level, unsigned n);
/* The frequencies of all turbo levels: measured numbers of active cores with the same ones are one. *out is zero. */
void sim_params_turbos(struct sim_params *p, struct policy_turbos *out);
/* What code of 256 and of 512 bits can cause at most, light or heavy; 0 where the export does not say. */
void sim_params_own_levels(const struct sim_params *p, policy_u32 level[2]);
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

/* The time for which code must run at `fast` until a change up from `slow` and back has paid, in ps; SIM_FOREVER: it
 * never does. -1 with *why: the export has nothing that would tell. */
int64_t sim_params_breakeven(struct sim_params *p, unsigned fast, unsigned slow, unsigned n, const char **why);

/* For what-if. */
void sim_params_scale(struct sim_params *p, const struct sim_factors *f);

/* For params_read.c: makes room for what is looked up later. False: out of memory. */
bool sim_params_prepare(struct sim_params *p);
