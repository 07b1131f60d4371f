/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What characterize-sched is to do, and what it says meanwhile: in lines or in a table (monitor.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "schedulers/adapt.h"
#include "schedulers/live/loader.h"
#include "util/order.h"

struct sched_options {
    const char *params;
    bool modelled, json, monitor, adapts;
    long slice_us, stats, tasks; /* stats: seconds, 0: no lines; tasks: with each of them */
    long width;                  /* of registers, bits; 0: the default */
    struct live_config config;
    const char *groups[LIVE_GROUPS_MAX];
};

struct sched_task {
    struct live_task now;
    policy_u64 recent_ns; /* CPU time since the sample before */
};

/* What it counted until a moment. */
struct sched_sample {
    double seconds, since; /* since it schedules; since the sample before */
    struct live_counts classes[LIVE_CLASSES];
    policy_u64 recent_ns[LIVE_CLASSES]; /* CPU time since the sample before */
    const struct adapt *adapt;          /* NULL: specialization is not turned off and on */
    double decision_ns;                 /* time of decisions for each dispatch; NaN: they are not timed, or none */
    struct sched_task *tasks;           /* by their IDs */
    struct order_key *order;            /* numbers of tasks: room for each; as they came until it is sorted */
    size_t n_tasks;
};

/* Takes one; `before` is the one before, empty ({0}) the first time, and is freed; with_tasks: tasks, too. DONE, or an
 * exit status after a line: both are then empty. */
int sched_sample_next(const struct live_scheduler *s, const struct live_config *config, double seconds, bool with_tasks,
                      struct sched_sample *sample);
void sched_sample_free(struct sched_sample *sample);

extern const char *const sched_class_names[LIVE_CLASSES];
/* Classes that there are. */
int sched_classes(const struct live_config *config);
