/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of what was profiled: of containers by the number of their control group, and of tasks their command line. Both
 * are gone when the container or the task is, so that each is looked up when its first record comes in.
 *
 * A control group's number is the inode number of its directory in the unified hierarchy (kernel: cgroup_id();
 * Linux 5.5 and later on 64-bit systems).
 */
#pragma once

#include <stdbool.h>

#include "profiler/profile.h"

enum {
    PROFILE_NAMES_GROUPS_MAX = 65536, /* directories that are looked at, and */
    PROFILE_NAMES_DEPTH_MAX = 32,     /* levels of them */
    PROFILE_NAMES_TASKS_MAX = 65536,  /* command lines that are kept */
};

struct profile_names;

/*
 * source: who names its own containers (a model), or NULL. proc, cgroups: where /proc and the unified hierarchy are;
 * NULL: this system's. NULL: out of memory.
 */
struct profile_names *profile_names_new(const struct profile_source *source, const char *proc, const char *cgroups);
void profile_names_free(struct profile_names *n);

/* Looks up whom this record is about, and who ran beside, unless that has been done. False: out of memory. */
bool profile_names_note(struct profile_names *n, const struct profile_record *r);

/*
 * Names the containers of a result, and fills in the command lines of its tasks, as far as they are known. A container
 * that is not has the name "cgroup NUMBER". Bytes are as the system has them, but never control characters.
 */
void profile_names_fill(const struct profile_names *n, struct profile_result *r);

/*
 * A control group's path as people call it, e.g. "docker-3f4a9c1d2b7e", "pod-8c1f2e7a/containerd-3f4a9c1d2b7e",
 * "nginx.service", "user-1000/firefox.scope": without the slices around it, numbers of containers as their runtimes
 * abbreviate them, systemd's escapes undone. Not necessarily unique. out: `size` bytes, at least 64.
 */
void profile_names_shorten(const char *path, char *out, size_t size);

/* ---- a task as /proc has it; proc: where that is ---- */

/* True: a task of this number that was started at this time is alive. start_ns 0: at any time. */
bool profile_task_alive(const char *proc, const struct profile_task *t);
