/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of code above a loop that does nothing, from the energy of the package with either. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "probes/energy.h"
#include "tables/table/table.h"

/* GHz. */
double energy_ghz(const struct energy_stretch *s);

/* So much of the recorded time may be lost; with more, the power is no longer that of the code. */
#define ENERGY_LOST_MOST 0.01
bool energy_disturbed(const struct energy_stretch *s);

struct energy_cost {
    double package_watts; /* while the code ran */
    double idle_watts;    /* of the package while the other one did */
    double watts;         /* the difference */
    double nj_per_op;     /* the difference, for each counted instruction */
    double least;         /* of watts and nj_per_op, relative: what they are if nothing interrupts the other cores */
    double idle_doubt;    /* of idle_watts, to either side: what interrupts need instead of the code is not known */
    double watts_doubt;   /* of watts, likewise: nor is what was needed before the code had settled, nor what interrupts
                             need at the frequency of the code, where the other one ran at another */
    double ghz, idle_ghz; /* of the code, and of the other one */
};
/*
 * The cost of `code` against `idle`, both on `cores` cores at once, whose energy is counted (others are not to
 * be counted) and each of which, one thread of it, is taken to have executed as many operations as the measured one.
 * Between the readings the measured core ran the code for a part of the time only; in the rest it is taken to have
 * needed what it needs when idle: with E and T between the readings, r of them running, h of these in interrupts, P_i
 * the idle power and n cores, watts = (E - P_i T) / ((r - h) / n + (n - 1) / n (1 - h / r) T). What interrupts need
 * themselves is in P_i as well. The other cores are taken to be interrupted as the measured one is; if they are not,
 * watts is by `least` of it. NaN for a stretch without time.
 */
struct energy_cost energy_cost_of(const struct energy_stretch *idle, const struct energy_stretch *code, unsigned cores);
