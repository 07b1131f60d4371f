/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by text, JSON, pictures and page of simulations (private to schedulers/simulate/output/). */
#pragma once

#include "analysis/stats/estimate.h"
#include "schedulers/simulate/output/simulation.h"

/* ---- simulation.c: figures ---- */

/* The figures of a result, some of which its tasks have, too. */
enum sim_figure {
    SIM_OVERHEAD,
    SIM_REMOTE,
    SIM_REMOTE_DELAY,
    SIM_REMOTE_SMT,
    SIM_TIME,
    SIM_IDEAL,
    SIM_END,
    SIM_THROTTLED,
    SIM_HALTED,
    SIM_TRANSITIONS,
    SIM_SLOWDOWN,
    SIM_CPU_SLOWDOWN,
    SIM_UNFAIRNESS,
    SIM_MEAN_GHZ,
    SIM_SWITCHES,
    SIM_MIGRATIONS,
    SIM_CORE_CHANGES,
    SIM_SCHEDULING,
    SIM_FORCED_IDLE,
    SIM_FIGURES
};
enum {
    SIM_HAS_LIMITS = 1,
    SIM_OF_TASKS = 2,
    SIM_COUNT = 4,    /* a whole number, of one run */
    SIM_SCHEDULED = 8 /* NaN without a scheduler */
};
extern const struct sim_figure_kind {
    const char *name; /* key of JSON; limits are NAME_lo and NAME_hi */
    unsigned is;      /* SIM_HAS_LIMITS and others */
} sim_figure_kinds[SIM_FIGURES];

#define SIM_TOTAL SIZE_MAX /* instead of a task */

/* The mean over the runs, of a task or of all. NaN where no run has it; no limits with one run. */
struct estimate sim_figure_of(const struct sim_report_result *r, enum sim_figure f, size_t task);
/* CPU time at a level, us. */
double sim_figure_level_us(const struct sim_report_result *r, unsigned level, size_t task);
/* A unit in which times are shown to people: how many us it has, and columns with it. */
struct sim_unit {
    const char *name;
    double us;
    const char *end, *time, *lost;
};
const struct sim_unit *sim_unit_for(double most_us);
const struct sim_unit *sim_unit_named(const char *name);
/* The mean of a's less b's, run by run; NaN where they have not as many. */
struct estimate sim_figure_difference(const struct sim_report_result *a, const struct sim_report_result *b,
                                      enum sim_figure f);
/* The first result of a policy and a scheduler; NULL: there is none. */
const struct sim_report_result *sim_figure_result(const struct sim_report *r, const char *policy,
                                                  const char *scheduler);
/* The scheduler of the i-th result if it is the first result under it, else NULL. */
const char *sim_figure_scheduler(const struct sim_report *r, size_t i);
/* True: there is more than one scheduler, or one that is not "recorded". */
bool sim_figure_schedulers(const struct sim_report *r);

/* ---- simulation_conclude.c: lines of text; each function prints nothing where there is nothing to say ---- */

/* Conclusions from the figures, and from what-if. */
void sim_conclude(const struct sim_report *r, FILE *out);
void sim_conclude_what_if(const struct sim_report *r, FILE *out);
/* The parameters that were bounded, and the simulations that were refused. */
void sim_conclude_bounds(const struct sim_report *r, FILE *out);
void sim_conclude_refused(const struct sim_report *r, FILE *out);

/* ---- simulation_charts.c; as sim_report_chart ---- */

int sim_chart_time_line(const struct sim_report *r, struct chart *c, char *why, size_t why_size);
int sim_chart_curve(const struct sim_report *r, struct chart *c, char *why, size_t why_size);
