/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the machine `helper`, which its parts share, and their calls. Inside drivers/helper/. */
#pragma once

#include "drivers/events/part_events.h"
#include "drivers/helper/helper.h"
#include "drivers/native/native.h"
#include "drivers/timing/timing_chains.h"

/* The sources of cycles. */
enum helper_clock { HELPER_COUNTERS, HELPER_APERF, HELPER_CHAIN };

/* The place of a counter in a reading of the module. */
struct helper_slot {
    int word;      /* -1: nowhere */
    unsigned bits; /* of the counter */
};

struct helper {
    struct native native; /* the CPU; its pinning, lanes and co-runners are done by the module */
    struct machine_ops ops;
    const struct helper_io *io;
    const char *proc; /* as in helper_place, whose it is */
    int fd;
    struct characterize_hello hello;
    enum helper_clock clock;
    bool volts; /* register 198H holds a voltage */
    char why_no_counters[160];
    const char *source;
    struct part_events events;

    size_t stride; /* of the module's readings */
    uint64_t *map;
    size_t mapped;
    struct helper_slot slot[MACHINE_COUNTERS_MAX];
    double tsc_step; /* known before; 0: to be measured */
    struct chain_choice choice;
    struct timing_lately lately; /* of one CPU and one kind of chains */
    int lately_cpu;
    bool lately_steady;
    struct timing_cost cost; /* of a chain, by these */
    uint64_t *words;
    size_t notes_length; /* of what the notes say before anything has run */
    unsigned nmis, smis, tried;
    unsigned stolen;   /* repetitions for which interrupts were masked beyond the limit */
    double stolen_ms;  /* the longest of them */
    bool at_end_valid; /* the register was read at the end of the last repetition */
    uint64_t at_end;
};

static inline bool helper_steady(const struct helper *h)
{
    return h->choice.steady_from == 0;
}

uint64_t helper_ticks(const struct helper *h, double us);
/* Fills *err from what the module answered to `what`. */
int helper_refused(const struct helper *h, int error, unsigned reason, const char *what, struct machine_error *err);
/* True where the machine has a counter. */
bool helper_counts(const struct helper *h, enum counter_id id);
struct characterize_payload helper_payload(const struct payload *p);
/* Checks that the module can run it; `s`: the `native` of a helper. */
int helper_check_kernel(const struct native *s, const struct payload *p, struct machine_error *err);

/* ---- helper_prepare.c: setting up a series of repetitions, and undoing it; as in machine_ops ---- */

int helper_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err);
void helper_finish(struct machine *m);

/* ---- helper_trials.c: as in machine_ops ---- */

int helper_trials(struct machine *m, const struct trials_request *r, double *duration, struct trials_seen *seen,
                  struct machine_error *err);
