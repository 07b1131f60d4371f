/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine `helper`: repetitions run in the kernel, with interrupts masked, by the module in drivers/helper/kmod/.
 */
#ifndef CHARACTERIZE_HELPER_H
#define CHARACTERIZE_HELPER_H

#include <stddef.h>
#include <stdint.h>

#include "drivers/helper/helper_device.h"
#include "drivers/machine.h"
#include "drivers/events/part_events.h"
#include "drivers/native/native.h"
#include "drivers/timing/timing.h"

/* What it is opened with: another device, other system calls, another folder for /sys, another CPU. */
struct helper_place {
    const char *device;
    const char *sys;  /* "/sys", or a folder laid out like it */
    const char *proc; /* likewise; NULL = "/proc" */
    const struct helper_io *io;
    const char *data_dir;            /* holds events/; NULL = the shipped data */
    const struct cpu_leaves *leaves; /* of the CPU; NULL = asked */
    double tsc_step;                 /* ticks by which the TSC advances; 0 = measured */
};
int helper_open_at(const struct helper_place *place, struct machine *out, struct machine_error *err);

/* ---- helper.c ---- */

/* Where a counter is found in a reading of the module. */
struct helper_slot {
    int word;      /* -1: nowhere */
    unsigned bits; /* of the counter */
};

/* Where cycles come from. */
enum helper_clock { HELPER_COUNTERS, HELPER_APERF, HELPER_CHAIN };

struct helper {
    struct native native; /* what this CPU is; its place, lanes and companions are the module's here */
    const struct helper_io *io;
    const char *proc; /* as in helper_place, whose it is */
    int fd;
    struct characterize_hello hello;
    enum helper_clock clock;
    bool volts; /* register 198H tells a voltage */
    char why_no_counters[160];
    char source[160];
    struct part_events events;

    size_t stride; /* of the module's readings */
    const uint64_t *map;
    size_t mapped;
    struct helper_slot slot[MACHINE_COUNTERS_MAX];
    double tsc_step; /* known before; 0: to be measured */
    struct timing_chains chains;
    struct timing_cost cost; /* of a chain */
    uint64_t *words;
    size_t notes_length; /* of what the notes say before anything has run */
    unsigned nmis, smis, tried;
    unsigned stolen;   /* repetitions for which interrupts were masked beyond the limit */
    double stolen_ms;  /* the longest of them */
    bool at_end_valid; /* the register was read at the end of the last repetition */
    uint64_t at_end;
};

uint64_t helper_ticks(const struct helper *h, double us);
/* Fills *err from what the module answered to `what`. */
int helper_refused(const struct helper *h, int error, unsigned reason, const char *what, struct machine_error *err);
/* Whether the machine has a counter. */
bool helper_counts(const struct helper *h, enum counter_id id);
/* What would help where counters are missing. */
const char *helper_no_counters_remedy(const struct helper *h);
struct characterize_payload helper_payload(const struct payload *p);
/* Whether the module can run it. */
int helper_check_kernel(const struct helper *h, const struct payload *p, struct machine_error *err);

/* ---- helper_prepare.c ---- */

int helper_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err);
void helper_finish(struct machine *m);

/* ---- helper_license.c ---- */

/* The part's events, and which of its license events pass the test on `cpu`; 60 ms or so where there are any. */
void helper_find_events(struct machine *m, int cpu, const char *data_dir);
int helper_find_event(const struct machine *m, const char *name, uint64_t *code, struct machine_error *err);
int helper_named_events(const struct machine *m, uint32_t select, struct machine_event *out, size_t max, size_t *n,
                        struct machine_error *err);

/* ---- helper_words.c: from what the module wrote to what a machine hands out ---- */

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
