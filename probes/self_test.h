/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First contact: kernels of which it is known what counters must say of them, each recorded with every counter that a
 * machine offers. Readings are kept as they are; output/self_test/self_test.h judges them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/machine.h"

/* The purpose of a stretch. All run on one core, the others idle. */
enum self_test_kind {
    SELF_TEST_SHORT,  /* the chain of adds, sampled every microsecond */
    SELF_TEST_LONG,   /* ... every 4 us: the fixed cost of a sample differs from that which grows with it */
    SELF_TEST_STEADY, /* a kernel that has settled, sampled every 50 us */
    SELF_TEST_SWITCH, /* scalar adds, then the widest kernel that runs here: time 0 is its first instruction */
    SELF_TEST_EVENT,  /* the chain of adds with a raw event beside */
    SELF_TEST_KINDS
};
/* Stretches of a recording, values of each, recordings. */
enum { SELF_TEST_STRETCHES_MAX = 24, SELF_TEST_VALUES_MAX = 16, SELF_TEST_RECORDINGS_MAX = 64 };

/*
 * The raw events that are tried, codes as in counter_spec: C0H, umask 0, instructions retired on Intel (architectural,
 * SDM vol. 3B, "Pre-defined Architectural Performance Events") and on AMD (PMCx0C0 of the PPR); where a machine does
 * not count it, as models do not, 28H/07H, core cycles at license level 0.
 */
enum { SELF_TEST_EVENT_INSTRUCTIONS = 0xc0, SELF_TEST_EVENT_LEVEL_0 = 0x0728 };

/* Readings of one repetition, 2 + n_counters words each as in struct recording, from the first that was counted. */
struct self_test_recording {
    size_t n, zero; /* readings; the one at time 0 */
    uint64_t *words;
};
struct self_test_stretch {
    enum self_test_kind kind;
    char kernel[KERNEL_NAME_MAX], from[KERNEL_NAME_MAX]; /* `from`: the kernel before it, of SELF_TEST_SWITCH alone */
    unsigned block; /* instructions of a block of the kernel, without loop control */
    double period_us;
    size_t n_counters;
    struct counter_spec counters[MACHINE_COUNTERS_MAX];
    unsigned disturbed; /* repetitions that were given up: the thread was preempted */
    size_t n;           /* those that are kept */
    struct self_test_recording *recordings;
    char why[500], remedy[200]; /* where none are: the machine's words */
};

/* All that was read. Texts are "" where there is nothing to say. */
struct self_test_readings {
    char machine[100], source[400], cpu[160], tsc_origin[100], notes[1000];
    bool modelled, intel;
    unsigned family, model, cores, features;
    int cpu_number;
    double tsc_hz, tsc_error;
    char lacks[COUNTER_IDS][400], lacks_remedy[COUNTER_IDS][200]; /* "": the counter is offered */
    size_t n_stretches;
    struct self_test_stretch stretch[SELF_TEST_STRETCHES_MAX];
    size_t n_volts; /* readings of 198H, each at the end of a stretch of scalar adds */
    uint64_t volts[SELF_TEST_VALUES_MAX];
    char volts_why[500], volts_remedy[200];
    size_t n_energy; /* readings of the package's energy, a stretch of scalar adds between any two */
    struct energy_reading energy[SELF_TEST_VALUES_MAX];
    char energy_source[200], energy_why[500], energy_remedy[200];
};

struct self_test_setup {
    int cpu; /* as in machine_setup */
    uint64_t seed;
    int (*stop)(void *); /* called between repetitions; non-zero: end with MACHINE_FAILED. May be NULL */
    void *data;
};

/*
 * Reads it all; takes a second or two. Prepares and finishes the machine for each stretch. A repetition during which
 * the thread was preempted or moved to another is given up and made up for, up to three for each one wanted.
 * Returns MACHINE_OK, also where nothing could be read of some stretches (they say why); or fills *err and returns its
 * status, *out being empty then, where not even the chain of adds can be run. Free with self_test_free().
 */
int self_test_run(struct machine *m, const struct self_test_setup *s, struct self_test_readings *out,
                  struct machine_error *err);
void self_test_free(struct self_test_readings *r);

/* Appends a recording with room for `n` readings of `stride` words; NULL: out of memory. */
struct self_test_recording *self_test_append(struct self_test_stretch *s, size_t n, size_t stride);
