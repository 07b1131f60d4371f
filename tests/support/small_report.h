/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small report of simulations, made by hand, and what it looks like. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "schedulers/simulate/output/simulation_parts.h"

/* "wide", "plain", "none" */
extern const char *const small_report_names[3];

/* A report without runs; `runs`: with how many seeds; the names of its three tasks. sim_report_free(). */
void small_report_begin(struct sim_report *r, unsigned runs, const char *const names[3]);
/* Task 0 is wide and runs 500 us of ideal time, task 1 is not and runs 1000; task 2 does nothing. */
void small_report_add(struct sim_report *r, const char *policy, const char *scheduler, int64_t wide_us,
                      int64_t plain_us);
/* Something was bounded, refused and warned of. */
void small_report_doubts(struct sim_report *r);
/* Two policies, one run each, and doubts. */
void small_report_single(struct sim_report *r);

/* As it is printed, as JSON (json_decref()) and as a page; all must succeed. */
char *small_report_text(const struct sim_report *r);
json_t *small_report_json(const struct sim_report *r);
char *small_report_page(const struct sim_report *r);
