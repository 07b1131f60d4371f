/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is added up while records come in, for those that make a result of it. */
#pragma once

#include "profiler/buckets.h"

struct profile_totals {
    struct profile_setup setup;
    struct profile_terms terms;
    double most;                   /* the largest change of performance that is possible */
    double seen;                   /* the largest in any sample */
    bool siblings;                 /* some core has two hyper-threads */
    uint32_t active_cores;         /* the most that were, beyond the table; 0: it has all */
    struct profile_lookup buckets; /* number 0 is that of all */
    struct profile_lookup charges; /* profiler/blame.h */
};
