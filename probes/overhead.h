/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The overhead experiment: repetitions of one kernel, then another, as curves of work done against time.
 *
 * Down: the kernel that runs at the high level, then the one that requests the lower, long enough for twice the same
 * work. Up: the kernel that needs the lower level, then the other, observed until the core has come back up. What the
 * curves say, tables/overhead/overhead_fit.h finds out.
 */
#pragma once

#include "drivers/machine.h"

/*
 * One repetition: instructions of the measured code retired up to each of n readings. Time 0 and work 0 are those of
 * reading number `zero`, where the measured code begins; what was read before it tells of the code before it.
 */
struct work_curve {
    size_t n, zero;
    double *time_us; /* of the code alone: what the readings themselves took is left out where it is known */
    double *work;    /* instructions */
    double *ghz;     /* mean core frequency since the reading before; NaN where unknown, and in the first */
    double *scratch; /* room for 3 n numbers */
    double step;     /* ticks by which the clock of chains advances; 0 = not known. To be set before */
    bool instant;    /* the frequency is that at the end of a section, not the mean over it; set by overhead_curve() */
    double quantum;  /* relative: by how much one step more of the clock changes it; 0: by little */
};

struct overhead_setup {
    struct machine_setup machine; /* CPU, active cores, co-runner, seed; period, counters and samples are set here */
    struct payload first, second; /* time 0 is the switch between them */
    unsigned runs;
    double warmup_us;  /* of the first kernel, not recorded */
    double before_us;  /* of the first kernel, recorded; 0: none */
    double observe_us; /* of the second kernel */
    double period_us;  /* between readings: the length of a section */
    double reading_us; /* what one takes where the machine does not tell (tables/table/reading_cost.h); 0: not known */
};

/*
 * Takes the curve of a repetition, valid during the call; or NULL and, in `invalid`, what the machine knows to
 * have disturbed it. Non-zero: no more repetitions.
 */
typedef int overhead_sink(void *data, unsigned run, const struct work_curve *curve, const char *invalid);

/*
 * Runs it. Time that the machine tells to have spent in its readings (the dependent chain), or the setup, is no time
 * of the code; time that the core stood still in one is. Returns MACHINE_OK or fills *err and returns its status.
 */
int overhead_run(struct machine *m, const struct overhead_setup *s, overhead_sink *sink, void *data,
                 struct machine_error *err);

/*
 * A curve from one recording (space for rec->n readings is the caller's). reading_us: as in the setup. Returns false
 * where the recording does not hold its time 0.
 */
bool overhead_curve(const struct recording *rec, const struct counter_spec *counters, size_t n_counters, double tsc_hz,
                    double reading_us, struct work_curve *out);
