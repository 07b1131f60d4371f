/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measures the loss of a kernel beside a neighbor: brackets as in probes/brackets.h, of slots in which the other cores,
 * or the siblings, run something else than in the slots around them. The machine is prepared again for each slot.
 */
#pragma once

#include "analysis/stats/estimate.h"
#include "probes/repetitions.h"

struct beside_setup {
    struct machine_setup machine; /* its corunner: what the neighbors run in the slots to compare with */
    struct payload kernel;        /* that is measured */
    struct payload neighbor;      /* the code that they run in between */
    double before_us, observe_us; /* of each slot: which do not count, and which do */
    double period_us;
    unsigned least, most; /* rounds, of one bracket and a null each; until the time is over, or limits are half as wide
                             as `enough` */
    double seconds, enough;
    repetitions_progress *progress; /* may be NULL; non-zero: no more rounds */
    void *data;
};
void beside_defaults(struct beside_setup *s, const struct payload *kernel, const struct payload *neighbor);

struct beside_result {
    struct estimate ratio, null; /* of the frequency beside the neighbor; of the same beside nothing else than before */
    unsigned rounds;
    double seconds; /* that its slots took */
};

/* MACHINE_OK, or fills *err and returns its status. */
int beside_run(struct machine *m, const struct beside_setup *s, struct beside_result *out, struct machine_error *err);
