/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A made-up device in the place of the kernel helper: it keeps the requests and answers as the test says.
 */
#pragma once

#include <stdint.h>

#include "computer/cpu/cpu.h"
#include "drivers/helper/helper.h"

struct fake_helper {
    int open_errno; /* of opening it */
    int hello_errno;
    unsigned hello_reason;
    struct characterize_hello hello;
    int try_errno; /* of trying the cycle counter */
    unsigned try_reason;
    int prepare_errno, run_errno;
    unsigned prepare_reason, run_reason;
    int no_sibling;            /* nothing to park: refused where that is requested */
    unsigned bad_from, bad_to; /* repetitions whose chains take no time, from 1 on; 0: none */
    int map_fails;
    unsigned nmis_in_first; /* repetitions with an NMI in them, before those without */
    uint64_t masked_ticks;  /* how long interrupts are masked in the next repetition */
    unsigned cut;
    unsigned readings; /* of a repetition at most; 0: as many as there is room for */
    /* A core with licenses, where the readings are as far apart as was requested and raw events count what those of a
     * Skylake-SP do: at which level it runs scalar code, 256 and 512 bits. */
    int licenses;
    unsigned level_of[3];
    unsigned throttled;    /* cycles, where other than scalar code begins */
    unsigned programmable; /* hardware counters for raw events; 0 = enough */
    uint32_t uncounted;    /* a bit for each counter that is on no hardware counter in any case */
    uint64_t tsc_step;     /* readings of chains advance by so many ticks; 0: by one */
    int msr_errno;
    uint64_t msr_value;
    uint64_t register_value; /* read at the end of a repetition */

    /* trials: a round takes so many ticks (0: 100) and half as many cycles; trial t of a call t ticks more */
    unsigned round_ticks;
    int trials_errno;
    unsigned trials_reason;
    unsigned trials_at_once; /* a call ends after so many; 0: after all */
    unsigned given_up_at;    /* the call with this number, from 1 on, of those for more than 5 trials, gives the first
                                  of its trials up; 0: none does */
    uint32_t trials_counted; /* CHARACTERIZE_COUNTED_... */
    unsigned trials_nmis, trials_smis; /* in each call */
    int trials_calls;                  /* requests for more than 5 */
    struct characterize_trials trials; /* ... and at last */

    /* profiles */
    int start_errno, read_errno, wait_answer; /* wait_answer: what poll() returns while there are no records */
    unsigned start_reason;
    const struct profile_record *records; /* that it gives: at most three at a time */
    size_t n_records;
    struct characterize_profile_totals totals;

    /* the requests */
    struct characterize_profile profile;
    int starts, stops;
    int opened, closed, prepared, finished, runs, mapped;
    struct characterize_setup setup;
    struct characterize_run run;
    struct characterize_setup first_setup; /* the first request */
    struct characterize_run first_run;
};
extern struct fake_helper fake_helper;
extern const struct helper_io fake_helper_io;

/* A module that fits this program, on a CPU with everything. */
void fake_helper_reset(void);
/* After it: one on a Skylake-SP, whose license events count. *leaves as fake_pmu_system() has it. */
void fake_helper_skylake_sp(struct cpu_leaves *leaves);
