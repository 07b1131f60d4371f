/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of a described workload, drawn as they are read: what each thread does, and what each CPU does that plays
 * its threads in turns (doc/simulation.md, "Drawn workloads").
 */
#pragma once

#include <stdint.h>

#include "schedulers/simulate/workload.h"
#include "schedulers/simulate/workload/drawn_file.h"

/* Streams are threads, or CPUs. The same seed gives the same rows. 0, or -1: out of memory. */
int drawn_works_open(const struct drawn_file *file, uint64_t seed, struct sim_source *out);
int drawn_cpus_open(const struct drawn_file *file, unsigned n_cpus, uint64_t seed, struct sim_source *out);
