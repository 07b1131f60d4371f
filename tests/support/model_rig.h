/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the tests of the modelled CPU: models without noise, short runs, and a look at recordings. */
#pragma once

#include "drivers/model/model.h"
#include "tests/support/model_truth.h"

/* A model of the repository. The tests run at its root; fails the test otherwise. */
void rig_load(const char *name, struct model *out);
/* The names of the shipped processors; not of guests without counters, which are busy in a way of their own. As
 * model_list(); fails the test where there are none. */
void rig_processors(char ***names, size_t *n);
/* Nothing random is left: no noise, jitter, interrupts, scatter or doubled waits, and readings take no time. */
void rig_silence(struct model *m);
struct payload rig_payload(const char *name);

/* A machine on a model that counts cycles, reference cycles, instructions, the three levels and throttling. */
struct rig {
    struct machine machine;
    struct counter_spec counters[8];
    struct machine_setup setup;
    double tsc_hz;
    double warm_us; /* of the first kernel before a switch; rig_open makes it 1 ms */
};
/* Words of a reading of the rig. */
enum { RIG_TSC, RIG_PAYLOAD, RIG_CYCLES, RIG_REF, RIG_INSTRUCTIONS, RIG_LVL0, RIG_LVL1, RIG_LVL2, RIG_THROTTLE };
void rig_open(struct rig *r, const struct model *m, unsigned cores, double period_us, uint64_t seed);
/* The first kernel for warm_us, its last 50 us sampled, then `observe_us` of the second. */
struct recording rig_switch(struct rig *r, const char *from, const char *to, double observe_us, uint64_t repetition);
void rig_close(struct rig *r);

/* One sample: the difference of readings i - 1 and i. Times in microseconds, after time 0. */
struct rig_sample {
    double begin, end, ghz, ipc, cycles, lvl[3], throttle;
};
struct rig_sample rig_sample(const struct rig *r, const struct recording *rec, size_t i);

/*
 * Compares a recording without noise with what model_truth expects from time 0 on. Returns 0, or -1 after printing
 * the first difference.
 */
int rig_compare(const struct rig *r, const struct recording *rec, const struct model_truth *truth);
