/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulation of one workload under one policy, as doc/simulation.md defines it. */
#pragma once

#include "schedulers/simulate/params.h"
#include "schedulers/simulate/result.h"
#include "schedulers/simulate/workload.h"
#include "util/error.h"

enum sim_policy { SIM_STOCK, SIM_TIMEOUT, SIM_ORACLE, SIM_SOFTWARE, SIM_LEARNED, SIM_NEVER, SIM_POLICIES };
extern const char *const sim_policy_names[SIM_POLICIES];

enum sim_scheduler {
    SIM_RECORDED, /* tasks run where and when they were recorded */
    SIM_FAIR,
    SIM_FAIR_SUBTRACT,
    SIM_FAIR_ATTRIBUTE,
    SIM_CORE,
    SIM_SPECIALIZE,
    SIM_SCHEDULERS
};
extern const char *const sim_scheduler_names[SIM_SCHEDULERS];

/* For those who want to see it, both ends in ps. Functions may be NULL. */
struct sim_observer {
    /* a piece of a core's time at one level */
    void (*piece)(void *self, unsigned core, int64_t from, int64_t to, unsigned level, unsigned permille);
    /* with a scheduler: a task ran on a CPU without an interruption */
    void (*ran)(void *self, unsigned cpu, uint32_t task, int64_t from, int64_t to);
    /* with scheduler specialize: a core became wide, or other; at first, the last core alone is wide */
    void (*kind)(void *self, unsigned core, int64_t at, bool wide);
    void *self;
};

struct sim_options {
    enum sim_policy policy;
    enum sim_scheduler scheduler;
    uint64_t seed;
    bool timeout_given; /* policy timeout; else the break-even time */
    int64_t timeout_ps;
    const struct sim_observer *observer; /* NULL: nobody looks */
};

/*
 * Whether the export and the workload have what a policy and a scheduler need. Returns 0, or -1 with one line in `why`
 * that names what is missing.
 */
int sim_check(struct sim_params *p, const struct sim_workload *w, const struct sim_options *o, char *why,
              size_t why_size);

/*
 * Plays the workload from its beginning. Returns MACHINE_OK, MACHINE_FAILED (out of memory, the recording cannot be
 * read further) or MACHINE_BAD_INPUT (sim_check). sim_result_free if it returned MACHINE_OK.
 */
int sim_run(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, struct sim_result *out,
            struct machine_error *err);
