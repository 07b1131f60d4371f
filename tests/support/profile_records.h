/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profiler's records as its steps would make them, of the Xeon Gold 6130 (dissertation, table 3.1). */
#pragma once

#include "profiler/profile.h"

/* Its table; 50 Hz, 700 us. */
struct profile_setup profile_records_setup(uint32_t flags);

/* The terms of a processor that keeps levels for 670 us; a change costs 40 us, and pays from 300 us on. */
struct profile_terms profile_records_terms(void);

/* The values of one sample. */
struct profile_seen {
    uint32_t pid, other; /* 0: none; comm is "tPID" */
    uint32_t cpu;        /* the sibling is cpu ^ 1 */
    uint64_t cgroup;
    uint32_t bin;                /* of the table */
    uint8_t actual, ideal, both; /* levels */
    double stall;
    uint32_t before, other_before, since_us, other_since_us;
};
struct profile_record profile_record_of(const struct profile_setup *s, const struct profile_seen *seen);

/* The row of a kind whose name is this; fails the test where there is none. */
const struct profile_row *profile_row_named(const struct profile_result *r, enum profile_kind kind, const char *name);
