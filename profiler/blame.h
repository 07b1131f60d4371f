/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who causes overhead: doc/profiler.md, "Who causes it". Tasks, containers and cores are numbers of buckets. */
#pragma once

#include <stdbool.h>

#include "profiler/lookup.h"
#include "profiler/profile.h"
#include "profiler/sums.h"

enum { BUCKET_KEY_WORDS = 2 };

/* What is added up of one task, container or core: an element of a struct profile_lookup. */
struct profile_bucket {
    uint64_t key[BUCKET_KEY_WORDS];   /* kind and pid or core; when the task was started, or the container's number */
    struct profile_task task;         /* as it was seen last */
    uint32_t container;               /* bucket of a task's; PROFILE_NOWHERE: unknown */
    float longest_us[PROFILE_LEVELS]; /* profile_sample_late() */
    struct profile_sums sums;
};

static inline enum profile_kind profile_bucket_kind(const struct profile_bucket *b)
{
    return (enum profile_kind)(b->key[0] >> 32);
}

static inline struct profile_bucket *profile_bucket_at(const struct profile_lookup *buckets, uint32_t index)
{
    return profile_lookup_at(buckets, index);
}

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
