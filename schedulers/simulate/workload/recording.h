/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A workload that is being read from a recording: what all readers fill in alike, and what they settle at the end.
 * Streams of rows are numbered in the order in which CPUs are met.
 */
#pragma once

#include "schedulers/simulate/workload.h"
#include "schedulers/simulate/workload/lines.h"
#include "schedulers/simulate/workload/spool.h"

/* CPU numbers are below this: NR_CPUS of x86-64 kernels with MAXSMP. */
enum { SIM_CPU_NUMBERS = 8192 };

struct sim_recording {
    struct sim_lines in;
    const struct sim_workload_options *options;
    struct sim_workload *w;
    struct sim_spool *rows;           /* by CPU; the workload's after sim_recording_end() */
    struct sim_spool *works;          /* by task, of readers that see when a task is blocked; NULL: from the rows */
    uint32_t stream[SIM_CPU_NUMBERS]; /* of a CPU, + 1; 0: not met */
    unsigned number[SIM_CPU_NUMBERS]; /* of a stream's CPU */
    uint64_t siblings_line;           /* 0: an option */
    unsigned group[SIM_CPU_NUMBERS];  /* CPUs that share a core have the same; 0: not in the map */
    bool have_siblings;
    int64_t length;     /* ps; before sim_recording_end() */
    char misspelt[160]; /* comments that are nearly known ones; "": none */
};

/* MACHINE_OK, or another status after filling *err; sim_recording_close in any case. */
int sim_recording_open(struct sim_recording *r, const char *path, const struct sim_workload_options *o,
                       struct machine_error *err);
void sim_recording_close(struct sim_recording *r); /* the workload too, where it is still there */

/* All that follow return 0, or -1 after filling the error. */

/* Takes a "# key: value" comment, as far as an option does not say it; others are nothing. May write to the line. */
int sim_recording_comment(struct sim_recording *r);
/* Before the first row: takes what options say, and refuses what is missing. */
int sim_recording_settle(struct sim_recording *r);
/* Stream of a CPU, below SIM_CPU_NUMBERS. */
unsigned sim_recording_stream(struct sim_recording *r, unsigned cpu);
/* A piece of what a CPU did. */
int sim_recording_row(struct sim_recording *r, unsigned stream, struct sim_row row);
/* After the last row, when the workload has its tasks: orders the CPUs, settles the cores, ends the spools. */
int sim_recording_end(struct sim_recording *r);

/* ---- the readers; each takes a recording that was opened, to its end: 0, or -1 after filling the error ---- */

int sim_csv_read(struct sim_recording *r);
int sim_perf_read(struct sim_recording *r);
