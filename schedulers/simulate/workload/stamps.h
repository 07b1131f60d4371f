/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Begins and ends of wide phases, thread by thread, as an instrumented library writes them (doc/simulation.md). */
#pragma once

#include "schedulers/simulate/workload.h"
#include "util/error.h"

struct sim_stamps;

/*
 * Reads a file. fallback: the class of a phase that has none; SIM_NONE: there must be one. origin_ns: the clock's time
 * that is to be 0. MACHINE_OK, or another status after filling *err. sim_stamps_free in any case (NULL: nothing).
 */
int sim_stamps_read(struct sim_stamps **out, const char *path, enum sim_class fallback, int64_t origin_ns,
                    struct machine_error *err);
void sim_stamps_free(struct sim_stamps *s);

/*
 * Until when (ps) what a thread does at a time goes on, SIM_FOREVER: always; *class is set if that is a phase. Times of
 * a thread must ascend: what was before is forgotten.
 */
int64_t sim_stamps_until(struct sim_stamps *s, uint32_t thread, int64_t at, enum sim_class *class);

/* How many phases' times were requested; 0 at the end: other threads, or another clock. */
uint64_t sim_stamps_met(const struct sim_stamps *s);
/* NULL, or why phases are missing. */
const char *sim_stamps_error(const struct sim_stamps *s);
