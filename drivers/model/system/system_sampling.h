/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profiler's turns on a modelled system, in modelled time: what the kernel module does on a real one. */
#pragma once

#include "drivers/model/system/system.h"
#include "drivers/profile/profile_sequence.h"

struct system_sampling {
    struct system *system;
    struct profile_setup setup;
    struct profile_cpu cpu[SYSTEM_CPUS_MAX];
    struct profile_executor executor;
    struct model_random random; /* of latencies */
    unsigned sampled;           /* the CPU whose turn it is */
    struct profile_record record;
    uint64_t turns;
    double now_us; /* so far it has come: the end of the last turn, or the time until which there is no other */
    double pause_us_max;
};

/* The setup must be valid. */
void system_sampling_begin(struct system_sampling *x, struct system *s, const struct profile_setup *setup);
/* The next turn, whose record is x->record; false: it does not begin before `until`, or the system was stopped. */
bool system_sampling_turn(struct system_sampling *x, double until);
