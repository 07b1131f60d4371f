/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands there, and is read once: each reader fills its own members, but for those that it cannot read. */
#pragma once

#include "drivers/environment/environment.h"
#include "drivers/environment/environment_tree.h"

/* All facts, and of these the CPU lists and the masks. */
void environment_facts_read(const struct environment_tree *t, struct environment *e);
/* proc/cpuinfo: flags and microcode of its first CPU; with `all`, how many revisions there are. */
void environment_cpuinfo_read(const struct environment_tree *t, bool all, struct environment *e);
void environment_idle_read(const struct environment_tree *t, struct environment *e);
void environment_weaknesses_read(const struct environment_tree *t, struct environment *e);
/* CONFIG_HZ, Secure Boot, the MSR device, files that containers have. */
void environment_kernel_read(const struct environment_tree *t, struct environment *e);
void environment_cgroup_read(const struct environment_tree *t, struct environment *e);
