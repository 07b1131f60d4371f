/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile made by hand, for views of it: tasks, containers and cores with known numbers. */
#pragma once

#include "profiler/profile.h"

enum { LIVE_SAMPLE_CONTAINERS = 3, LIVE_SAMPLE_CORES = 4 };

/*
 * So many tasks, "task-1000" and so on, pid 1000 + i: overheads fall from 40 % by their numbers, shares rise, samples
 * are i + 1; the first is slowed by the last and has advice and a command line. Freed with live_sample_free().
 */
struct profile_result *live_sample(size_t tasks);
void live_sample_free(struct profile_result *r);
