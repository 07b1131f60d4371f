/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for the instructions that lift the class of a block, over sets of their kinds. Pure. */
#pragma once

#include <stdint.h>

#include "analysis/stats/estimate.h"
#include "drivers/binary/binary.h"

enum lifting { LIFTS_NOT, LIFTS, LIFTS_UNDECIDED };

/* A block with its wide instructions of the kinds in `kept` alone (binary_part()): does it reach its class? */
struct culprit_trial {
    uint64_t kept;
    enum lifting lifts;
    struct estimate ratio;
};
/* Fills trials, at most BLOCK_SET_MAX. A status. */
typedef int culprits_measure(void *data, struct culprit_trial *trials, size_t n, struct machine_error *err);

struct culprits {
    /* each of these sets reaches the class while all else is left out: first those of one kind, all that there are,
     * then sets of several of which none can be spared */
    uint64_t set[BINARY_WIDE_KINDS_MAX];
    size_t n;
    struct culprit_trial rest; /* the block without all these */
    const char *why;           /* the reason where that is not the whole answer; NULL */
};

/*
 * Finds them in a block of n kinds (1 to BINARY_WIDE_KINDS_MAX) that reaches its class: each kind alone, in one
 * measurement; then, as long as what is left reaches the class without these, by bisection the smallest set of it, at
 * most COMBINED_MOST times (rest.lifts is LIFTS then). The sets are minimal if an instruction more never takes the
 * block to a faster class; that they reach the class is measured. MACHINE_OK, or fills *err and returns its status.
 */
enum { COMBINED_MOST = 3 };
int culprits_find(size_t n_kinds, culprits_measure *measure, void *data, struct culprits *out,
                  struct machine_error *err);
