/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The source of the profiler's records: the kernel module, or a modelled system. Neither interprets them: the steps and
 * the arithmetic are those of profile_sequence.h in both. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/profile/profile_sequence.h"
#include "util/error.h"

struct profile_source_info {
    const char *name; /* "helper", "model:xeon-gold-6130" */
    const char *cpu;  /* brand and family-model-stepping */
    bool modelled;
    unsigned cpus, cores; /* logical CPUs that are sampled; physical cores of them */
    double ref_khz;       /* at which reference cycles count */
    const char *notes;    /* on what limits the results, one line, or "" */
};

/* Totals of a source since the start, beside its records. */
struct profile_source_totals {
    uint64_t turns, lost; /* lost: records that found no room, because nobody read */
    double pause_us_max;  /* the longest pause, from masking to unmasking */
    double seconds;       /* since the start; of a model modelled time, all of it once that is over */
};

struct profile_source;
struct profile_source_ops {
    void (*info)(const struct profile_source *s, struct profile_source_info *out);
    /* MACHINE_OK, or what it lacks. The setup is copied. */
    int (*start)(struct profile_source *s, const struct profile_setup *setup, struct machine_error *err);
    /*
     * Up to max records; waits for the first, at most timeout_ms (models do not wait: they go on until there is one, or
     * until their time is over or they are stopped). *n receives how many: 0 when that is so, or a signal came.
     */
    int (*read)(struct profile_source *s, struct profile_record *out, size_t max, int timeout_ms, size_t *n,
                struct machine_error *err);
    void (*totals)(const struct profile_source *s, struct profile_source_totals *out);
    void (*stop)(struct profile_source *s);
    void (*close)(struct profile_source *s);
    /* The name of a record's container (cgroup path), of a task's command line, of a place in code: malloc'ed, NULL
     * where it is not known. A model names its own; NULL: the system's are meant (profiler/names.h). */
    char *(*container)(const struct profile_source *s, uint64_t cgroup);
    char *(*place)(const struct profile_source *s, const struct profile_record *r, unsigned entry);
};
struct profile_source {
    const struct profile_source_ops *ops;
    void *state;
    /* Set before start(): whether to end now. A model asks it all the time: between two records may lie much work. */
    bool (*stopped)(void); /* NULL: never */
};

/* The module's, drivers/helper/helper_profile.c. MACHINE_CANNOT: no module, no counters, no license levels; with the
 * remedy. For a rehearsal neither counters nor levels are needed. */
int profile_open_helper(const char *data_dir, bool rehearsal, struct profile_source *out, struct machine_error *err);

/*
 * A modelled system with tasks drawn from a seed, drivers/model/system/: a model's name or file as --machine takes it,
 * for so many seconds of modelled time.
 */
int profile_open_model(const char *name_or_file, const char *data_dir, uint64_t seed, double seconds,
                       struct profile_source *out, struct machine_error *err);
