/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials of one workload on one core, the others idle, with its buffer in a chosen cache. */
#pragma once

#include "drivers/machine.h"

/* The place of the data that loads find. */
enum trials_place { TRIALS_NOWHERE, TRIALS_L1, TRIALS_L2, TRIALS_L3, TRIALS_MEMORY, TRIALS_SIZE /* request.bytes */ };

struct trials_setup {
    struct machine_setup machine;  /* the probe sets what is sampled */
    struct trials_request request; /* bytes (but for TRIALS_SIZE), branches: set by the probe */
    enum trials_place place;
};
struct trials_result {
    double *duration;                /* of each trial, in order; free() it */
    struct trial_branches *branches; /* of each trial of WORKLOAD_BRANCH, in the same memory; NULL: not counted */
    size_t
        bytes; /* of the buffer; TRIALS_SIZE: 0 where it is larger than trials_bytes() has it, and no trial was run */
    struct trials_seen seen;
};

/* Prepares the machine, runs the trials, hands it back. MACHINE_OK, or *err is filled and its status returned; *out is
 * then empty. */
int trials_measure(struct machine *m, const struct trials_setup *s, struct trials_result *out,
                   struct machine_error *err);

/*
 * Bytes of a buffer for a place, a power of two: half of L1 or L2, or less; half of the core's share of L3, but at
 * least twice L2, or it would stay there; four times the last cache, or a little more, at most 1 GiB and a quarter of
 * the free memory (V 4.3, where the sizes are those of the plateaus of figure 4-3). MACHINE_CANNOT where there is no
 * such cache, its size is not known, or memory would not be more than twice the cache. TRIALS_SIZE: the largest that is
 * worth a trial, as for memory, but also where that is not so much larger than the cache.
 */
int trials_bytes(const struct cpu_caches *c, enum trials_place place, size_t *bytes, struct machine_error *err);
