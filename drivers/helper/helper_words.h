/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From what the module wrote to what a machine hands out. */
#ifndef CHARACTERIZE_HELPER_WORDS_H
#define CHARACTERIZE_HELPER_WORDS_H

#include "drivers/helper/kmod/uapi.h"
#include "drivers/machine.h"
#include "drivers/timing/timing_calibrate.h"

/* Where a counter is found in a reading of the module. */
struct helper_slot {
    int word;      /* -1: nowhere */
    unsigned bits; /* of the counter */
};

struct helper_words {
    const uint64_t *raw; /* the first reading */
    size_t stride;       /* its words */
    struct helper_slot slot[MACHINE_COUNTERS_MAX];
    size_t n_counters;
    uint64_t *words; /* where the recording's words go */
};
/*
 * Counters: blocks become instructions of the whole repetition, counters grow from 0 at the first reading, whatever
 * their width; what was not counted is COUNTER_MISSING. per_block: instructions of a block of each segment.
 */
void helper_words_from_counters(const struct helper_words *w, const struct characterize_run *run,
                                const unsigned *per_block);
/* Chains: ids are those asked for; `cost` in cycles is what reading the TSC adds to a chain (timing_chain_cost()). */
void helper_words_from_chains(const struct helper_words *w, const struct counter_spec *ids,
                              const struct characterize_run *run, const unsigned *per_block,
                              const struct timing_chains *chains, double cost);

#endif
