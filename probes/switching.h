/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a switch, a migration or a fault costs: rounds of a block with it and two without, in random order; the cost is
 * the median over the rounds of the difference within a round, the difference of the two without it is the null.
 */
#pragma once

#include "analysis/stats/estimate.h"
#include "drivers/machine.h"

/* Rounds at most: twice as many as fit into the 2 s of a row where each takes 0.2 ms, the least that was seen. */
enum { SWITCHING_ROUNDS_MOST = 20000 };

struct switching_setup {
    struct machine_setup machine; /* CPU, CPUs, seed; the rest is set here */
    enum switching_what what;
    unsigned least, most; /* rounds: 1 to SWITCHING_ROUNDS_MOST; those that are discarded count */
    double seconds;       /* no further round begins after this, once there are `least`; INFINITY: whenever */
    double enough;        /* half of the width of the cost's limits that suffices, as a fraction of it; 0: none does */
    int (*progress)(void *data, unsigned done, unsigned wanted); /* after each round; may be NULL. Non-zero: stop */
    void *data;
};

struct switching_result {
    struct estimate us, null_us; /* NaN: no round was used; limits NaN: fewer than six were */
    unsigned n, discarded;       /* rounds used; rounds in which too few switches, migrations or faults happened */
    int to_cpu;                  /* as in struct switching_seen */
};

/*
 * Runs it: prepares the machine, and finishes it again. MACHINE_OK, or fills *err and returns its status
 * (MACHINE_CANNOT also where the machine has no such operation; MACHINE_FAILED: stopped, or out of memory).
 */
int switching_run(struct machine *m, const struct switching_setup *s, struct switching_result *out,
                  struct machine_error *err);
