/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameters as they are kept: what params_read.c reads, and params.c looks up. */
#pragma once

#include <jansson.h>

#include "schedulers/simulate/params.h"

/* What a file does not give. */
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

struct sim_params {
    json_t *root; /* while it is read; NULL afterwards */
    char *cpu, *source;
    bool modelled;
    unsigned levels, cores;
    double frequency_cpu; /* whose frequencies they are */
    size_t n_frequencies, n_costs, n_level_costs, n_relaxations, n_throttles, n_classes, n_bounds;
    struct sim_frequency *frequencies;
    struct sim_cost *costs, *level_costs;
    struct sim_relaxation *relaxations;
    struct sim_throttle *throttles;
    struct sim_export_class *classes;

    struct sim_bound *bounds;
    struct sim_factors factors;
    struct sim_change **changes; /* by from, to, class and n, where one has been asked for */
    char why[200];               /* what was missing last */
};

/* params.c. Makes room for what is looked up later. False: out of memory. */
bool sim_params_prepare(struct sim_params *p);
