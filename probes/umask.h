/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The umask experiment: some events at once, while a kernel runs steadily, around its transitions from another kernel
 * and back to it, and once more after that kernel when everything that it requests is already held: code that is slow
 * there, too, is not throttled.
 */
#pragma once

#include "probes/steady.h"

enum umask_when { UMASK_STEADY, UMASK_FROM_BASE, UMASK_TO_BASE, UMASK_WHENS };
enum { UMASK_HELD = UMASK_WHENS, UMASK_EXPERIMENTS }; /* ... and the one to compare with */

struct umask_setup {
    struct payload kernel;
    struct payload base;          /* runs before and after it; the same kernel: it runs steadily, and no more */
    struct machine_setup machine; /* as in steady_setup */
    struct raw_event events[REPETITIONS_EVENTS_MAX];
    size_t n_events;
    unsigned runs;    /* repetitions wanted of each experiment, >= 1 */
    double warmup_us; /* of the first kernel before each switch, and before a steady recording */
    /* recorded: of the steady kernel, of the kernel after base (also where it is held), of base after it */
    double observe_us[UMASK_WHENS];
    double period_us[UMASK_WHENS];
    repetitions_progress *progress; /* as in steady_setup; done counts the repetitions of all experiments */
    void *data;
};

/* Defaults: 20 repetitions; 3 ms, more than twice the usual wait for a lower level; 2 ms steady in samples of 20 us,
 * 150 us after base in samples of 1 us, 1.5 ms back at base in samples of 5 us. */
void umask_defaults(struct umask_setup *s, const struct payload *kernel, const struct payload *base);

/*
 * Runs the experiments: each trace has the events in its extra columns, in the order of the setup. Time 0 is the
 * switch; the first sample of a run ends there (steady: it begins the recording). The others than
 * out[UMASK_STEADY] stay empty where base is the kernel itself. MACHINE_OK, or fills *err and returns its status
 * (MACHINE_CANNOT also for more events than there are counters); then all of *out is empty. Free each with
 * repetitions_free().
 */
int umask_run(struct machine *m, const struct umask_setup *s, struct repetitions out[UMASK_EXPERIMENTS],
              struct machine_error *err);
