/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who causes overhead: doc/profiler.md, "Who causes it". Tasks, containers and cores are numbers of buckets. */
#pragma once

#include <stdbool.h>

#include "profiler/buckets.h"

enum { BLAME_VICTIMS = 3, BLAME_CANDIDATES = 4 };

/* Overhead of one sample, in weight * change. */
struct profile_charge {
    uint32_t victim[BLAME_VICTIMS];       /* task, container, core; PROFILE_NOWHERE: none */
    uint16_t level;                       /* that was kept, or that shows in step 5 */
    uint16_t sibling;                     /* 1: the latter; candidates are the task there, then the sampled one */
    uint32_t candidate[BLAME_CANDIDATES]; /* PROFILE_NOWHERE: none */
};

/* Charges that are alike are one: memory is bounded by who ran beside and after whom. False: out of memory. */
bool profile_blame_charge(struct profile_lookup *charges, const struct profile_charge *c, double amount);
void profile_blame_start(struct profile_lookup *charges);

/* Part of the overhead of a bucket that a task causes. */
struct profile_pair {
    uint64_t key; /* both as profile_pair_key() has them */
    double amount;
};
static inline uint64_t profile_pair_key(uint32_t victim, uint32_t culprit)
{
    return (uint64_t)victim << 32 | culprit;
}

struct profile_blame {
    struct profile_lookup pairs; /* of struct profile_pair */
    double *caused;              /* by bucket: tasks and containers, of the overhead of others */
    double *unattributed;        /* by bucket: of its own overhead */
};

/* Shares all charges among their candidates; bucket 0 is that of all. False: out of memory. Freed in any case. */
bool profile_blame_settle(const struct profile_lookup *charges, const struct profile_lookup *buckets,
                          struct profile_blame *out);
void profile_blame_free(struct profile_blame *b);
