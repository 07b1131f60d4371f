/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results of the profiler made by hand, for the tests of outputs; none of them was measured. */
#pragma once

#include "profiler/profile.h"

/*
 * A modelled profile with a table and sources: three tasks on two cores in two containers. nginx-8714 loses 7.3 %
 * (6.1 to 8.6), most of it to x265-200 beside it, which itself loses 0.4 %; sshd-901 loses nothing that stands above
 * its limits.
 */
void sample_profile(struct profile_result *r);
/* So many tasks, containers (a tenth of them) and cores (at most 32) with figures drawn from a seed. */
void sample_profile_drawn(struct profile_result *r, size_t n_tasks, uint64_t seed);
/* Without sources, or without a table and what follows from it: as it would be then. */
void sample_profile_without_sources(struct profile_result *r);
void sample_profile_without_table(struct profile_result *r);
/* Names, command and all else that others choose become sample_nasty (tests/support/sample_tables.h). */
void sample_profile_nasty(struct profile_result *r);
/* The row of this name; NULL: none. */
struct profile_row *sample_profile_row(struct profile_result *r, const char *name);
/* Frees everything that these functions have allocated. */
void sample_profile_free(struct profile_result *r);
