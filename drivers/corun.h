/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Some work that runs to its end beside background code, and what that took. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernels/kernels.h"
#include "util/error.h"

/* The place of the background code, as seen from the work. */
enum corun_place {
    CORUN_SAME,    /* on the logical CPU of the work, by time slices */
    CORUN_SIBLING, /* on the other threads of its core */
    CORUN_CORE,    /* on one thread of each other core */
    CORUN_PACKAGE, /* on every logical CPU of the package, over which the work is free to move */
    CORUN_PLACES
};
extern const char *const machine_corun_place_names[CORUN_PLACES]; /* "same", ... */

struct corun_background {
    struct payload code;       /* kernel NULL: nothing runs beside the work */
    double on_us, every_us;    /* it runs for on_us of each every_us, 64add in between; 0: without a pause */
    double fixed_ghz;          /* the frequency of all CPUs meanwhile; 0: as it is */
    uint64_t seed, repetition; /* models */
};

/* What one run took; NaN: not measured. */
struct corun_seen {
    double time_s, cpu_s; /* until it was complete; on a CPU */
    double ghz; /* the mean frequency of its CPU; of a short command, right after its end, while the others still run */
};

/* Who runs the work once. MACHINE_OK, or fills *err and returns its status. */
struct corun {
    int (*run)(void *data, const struct corun_background *b, struct corun_seen *out, struct machine_error *err);
    void *data;
    bool modelled; /* it takes no time of its own */
};
