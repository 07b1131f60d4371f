/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine `helper`: repetitions run in the kernel, with interrupts masked, by the module in drivers/kmod/.
 */
#ifndef CHARACTERIZE_HELPER_H
#define CHARACTERIZE_HELPER_H

#include <stddef.h>
#include <stdint.h>

#include "drivers/helper_device.h"
#include "drivers/machine.h"
#include "drivers/timing.h"

/* Opens it with another device, other system calls, another folder for /sys. */
int helper_open_at(const char *device, const char *sys, const struct helper_io *io, struct machine *out,
                   struct machine_error *err);

/* ---- helper_words.c: from what the module wrote to what a machine hands out ---- */

/* Where a counter is found in a reading of the module. */
struct helper_slot {
    int word;       /* -1: nowhere */
    unsigned bits;  /* of the counter */
};
struct helper_words {
    const uint64_t *raw;  /* the first reading */
    size_t stride;        /* its words */
    struct helper_slot slot[MACHINE_COUNTERS_MAX];
    size_t n_counters;
    uint64_t *words;      /* where the recording's words go */
};
/*
 * Counters: blocks become instructions of the whole repetition, counters grow from 0 at the first reading, whatever
 * their width; what was not counted is COUNTER_MISSING. per_block: instructions of a block of each segment.
 */
void helper_words_from_counters(const struct helper_words *w, const struct characterize_run *run,
                                const unsigned *per_block);
/* Chains: ids are those asked for; `cost` in cycles is what reading the TSC adds to a chain (timing_chain_cost()). */
void helper_words_from_chains(const struct helper_words *w, const struct counter_spec *ids,
                              const struct characterize_run *run, const unsigned *per_block, double cost);

#endif
