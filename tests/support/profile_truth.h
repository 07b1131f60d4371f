/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A drawn system as the profiler sees it, and the truth: what each task's work took, and what it takes in systems
 * without the others' wide code, or without waits (doc/profiler.md, "How accurate it is").
 */
#pragma once

#include "drivers/model/system/system.h"
#include "profiler/profile.h"

/* A variant of modelled systems beside SYSTEM_OWN_LEVELS: levels follow the code at once, free of charge, without
 * waits, throttling and halts. */
enum { SYSTEM_NO_WAITS = 1u << 1 };
/* As system_new(), of these variants as well. */
int truth_system(const struct model *m, uint64_t seed, unsigned flags, struct system **out, struct machine_error *err);

enum profile_truth_name { TRUTH_OVERHEAD, TRUTH_SIBLING, TRUTH_DELAY, TRUTH_PARTS };

struct profile_truth_task {
    uint32_t pid;
    enum system_kind kind;
    uint64_t samples;
    double truth[TRUTH_PARTS];
    double others; /* by what the others' wide code does alone: the wait for its own is part of the ideal, too */
    double stall;  /* seen: mean stall share of its samples */
    struct profile_estimate seen[TRUTH_PARTS];
};

struct profile_truth {
    unsigned cores, cpus, n_tasks;
    double seconds;
    struct profile_truth_task task[SYSTEM_TASKS_MAX];
    uint64_t turns[PROFILE_OUTCOMES];
    /* shares of the work without profiler, of the CPU time, of the cores' time */
    double lost, predicted, duty;
};

/* The setup for this model, as the tables of the processor give it: 50 Hz, 700 us, 70 us, with sources. */
void profile_truth_setup(const struct model *m, uint64_t seed, struct profile_setup *out);
/* The terms as its tables give them. */
void profile_truth_terms(const struct model *m, struct profile_terms *out);
/* Profiles the system of a seed for so many seconds, and runs it without profiler and with the levels of each truth. 0,
 * or -1: out of memory, or the model has nothing to profile. */
int profile_truth_of(const struct model *m, const struct profile_setup *setup, uint64_t seed, double seconds,
                     struct profile_truth *out);
