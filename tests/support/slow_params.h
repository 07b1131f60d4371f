/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table "Which parameters" of doc/simulation.md once more, written from that page alone: what
 * schedulers/simulate/params.h must answer. It keeps the rows of the export as they are and searches all of them for
 * every answer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schedulers/simulate/params.h"

struct slow_params;

/* The test fails where the file is no such export. */
struct slow_params *slow_params_read(const char *path);
void slow_params_free(struct slow_params *p);

unsigned slow_params_levels(const struct slow_params *p);
unsigned slow_params_cores(const struct slow_params *p); /* the most for which there is a frequency */
/* Returns true if all levels have one there; otherwise the export is refused. */
bool slow_params_usable(const struct slow_params *p);

int slow_params_demand(const struct slow_params *p, enum sim_class c);      /* -1: not known */
int64_t slow_params_trigger(const struct slow_params *p, enum sim_class c); /* instructions; 0: at once */

uint32_t slow_params_speed(const struct slow_params *p, unsigned level, unsigned n); /* 0.1 MHz; 0: refused */
uint32_t slow_stalled_speed(uint32_t speed, uint32_t recorded, unsigned stall_permille);

/* Without the phases of no length. false: refused. */
bool slow_params_down(const struct slow_params *p, unsigned from, unsigned to, enum sim_class c, unsigned n,
                      struct sim_change *out);
/* ps; -1: refused. */
int64_t slow_params_up(const struct slow_params *p, unsigned from, unsigned to, unsigned n);
bool slow_params_wait(const struct slow_params *p, unsigned from, unsigned to, struct sim_wait *out);
int64_t slow_params_breakeven(const struct slow_params *p, unsigned fast, unsigned slow, unsigned n);
