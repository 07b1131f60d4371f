/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is added up of one task, container or core: the elements of a struct profile_lookup. */
#pragma once

#include "profiler/lookup.h"
#include "profiler/profile.h"
#include "profiler/sums.h"

enum { BUCKET_KEY_WORDS = 2 };

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
