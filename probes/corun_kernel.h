/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A kernel as the work that runs beside background code, on a machine that cannot run commands: a model. */
#pragma once

#include "drivers/corun.h"
#include "drivers/machine.h"

struct corun_kernel {
    struct machine *m;
    struct payload work;
    enum corun_place place;
    int cpu;         /* as in machine_setup */
    double slice_us; /* a time slice of the scheduler, of the work and of the code with which it shares its CPU */
    unsigned slices; /* that the work takes alone */
    uint64_t blocks; /* of a slice; 0: not known yet, the first run finds it */
};

/* One run, as struct corun has it; data: a struct corun_kernel. Its CPU time is that of its slices; until it is
 * complete, those of the other code count, too. MACHINE_CANNOT: the code has pauses, or the place is not modelled. */
int corun_kernel_run(void *data, const struct corun_background *b, struct corun_seen *out, struct machine_error *err);
