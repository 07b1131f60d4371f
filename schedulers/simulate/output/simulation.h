/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How simulations leave: printed, as JSON (characterize-simulation/1), as pictures and as a page (doc/simulation.md,
 * "Output"). Several runs of one policy, of different seeds, are one result: the means over the runs, with limits by
 * Student's t.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "schedulers/simulate/studies.h"
#include "schedulers/simulate/workload.h"
#include "tables/table/chart.h"

/* The subject of a report. */
struct sim_report_head {
    char *workload;
    size_t n_tasks;
    char **tasks;                       /* their names */
    const char *kind, *params;          /* params: the export's file */
    const char *cpu, *source, *version; /* source: "" where the export is silent */
    bool modelled, smt;
    unsigned levels, cores, cpus, active_cores; /* active_cores: 0: counted */
    double recorded_ghz;
    int64_t scheduling_ps[SIM_SCHEDULING_COSTS]; /* each of a scheduler's switches and so on; below 0: not known */
    uint64_t seed;                               /* of the first run */
    unsigned runs;
};

struct sim_report_result {
    size_t n_runs;
    struct sim_result *runs; /* by seed; same policy, scheduler and tasks */
};

struct sim_report_refused {
    const char *policy, *scheduler;
    char why[300];
};

struct sim_report {
    struct sim_report_head head;
    size_t n_results;
    struct sim_report_result *results;
    size_t n_refused;
    struct sim_report_refused *refused;
    size_t n_warnings;
    char **warnings;
    size_t n_bounds;
    const struct sim_bound *bounds; /* struct sim_params' */
    struct sim_time_line time_line;
    struct sim_curve curve;
    struct sim_what_if what_if;
    bool failed; /* out of memory once */
};

/* Begins an empty report (all zero) of a workload under parameters that were read from this file: its head except for
 * seed and runs. Everything is copied from the workload; parameters and file must outlive the report. */
void sim_report_begin(struct sim_report *r, const struct sim_params *p, const char *file, const struct sim_workload *w);
/* One more run, which belongs to the report from then on: of a new result, or of one that is there. */
void sim_report_add(struct sim_report *r, const struct sim_result *run);
/* A policy under a scheduler that cannot be simulated; both names must live as long as the report. */
void sim_report_refuse(struct sim_report *r, const char *policy, const char *scheduler, const char *why);
__attribute__((format(printf, 2, 3))) void sim_report_warn(struct sim_report *r, const char *text, ...);
void sim_report_free(struct sim_report *r);

/* For a person, at most 100 columns wide. `colour`: escape sequences may be used. */
void sim_report_print(FILE *out, bool colour, const struct sim_report *r);
/* characterize-simulation/1, malloc'ed, ending in a newline; NULL: out of memory. */
char *sim_report_json(const struct sim_report *r);

/* The picture of overheads: 0, or -1 with one line in `why`; chart_free in any case. */
int sim_report_chart(const struct sim_report *r, struct chart *c, char *why, size_t why_size);
/* The same to a file (.svg, .png): 0, or with one line in `why` -1: it cannot be drawn, or -2: it cannot be written. */
int sim_report_plot(const struct sim_report *r, const char *path, char *why, size_t why_size);

/* The page (data/report/simulation.html.in), with its pictures inside. 0, or -1 with one line in `why`; with none where
 * the stream failed. */
int sim_report_html(const struct sim_report *r, FILE *out, char *why, size_t why_size);
