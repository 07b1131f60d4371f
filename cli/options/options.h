/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line: what is requested, checked as far as possible without touching the machine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/block/block.h"
#include "computer/interference/interference.h"
#include "kernels/kernels.h"
#include "schedulers/simulate/simulate.h"
#include "schedulers/simulate/workload.h"
#include "tables/beside/beside.h"
#include "tables/table/tables.h"

enum job {
    JOB_NONE,
    JOB_TRANSITION,
    JOB_ANALYZE,
    JOB_LIST,
    JOB_RESTORE,
    JOB_TABLE,
    JOB_ALL,
    JOB_VALIDATE,
    JOB_DRAFT,
    JOB_EXPORT,
    JOB_SELF_TEST,
    JOB_SIMULATE,
    JOB_PROFILE,
    JOB_CHECK,
    JOB_VERDICT,
    JOB_COMPARE,
    JOB_BESIDE,
    JOB_WHICH
};
enum list { LIST_KERNELS, LIST_MACHINES, LIST_SKUS, LIST_TABLES, LIST_WORKLOADS, LIST_OPTIONS };

/* A raw event, by its code or by a name that the machine has to know. */
struct given_event {
    const char *text;
    bool is_code;
    bool select_only; /* an event without umask: what --table umask takes */
    uint64_t code;    /* drivers/events/event_code.h */
};
enum { EVENTS_GIVEN_MAX = 4 };

enum { MARKS_GIVEN_MAX = 64 };

/* on or off, or not given. */
struct given_switch {
    bool given, on;
};

/* The options that only --simulate takes. */
struct simulate_given {
    const char *siblings, *stamps;        /* a text, and a file; NULL: not given */
    enum sim_policy policy[SIM_POLICIES]; /* in the order given */
    enum sim_scheduler scheduler[SIM_SCHEDULERS];
    size_t n_policies, n_schedulers; /* 0: not given */
    struct given_switch smt;
    bool what_if, switching_given;
    double switching_us[SIM_SCHEDULING_COSTS];
    uint32_t recorded; /* 0.1 MHz; 0: not given */
    enum sim_class stamps_class;
    struct sim_mark mark[MARKS_GIVEN_MAX];
    size_t n_marks;
};

/* A number that may or may not have been given; 0 where it was not. */
struct given_number {
    bool given;
    double value;
};

/* An option as it was given; text NULL: without an argument. */
struct given_option {
    const char *name, *text;
};
enum { OPTIONS_GIVEN_MAX = 64 };

/* The options that only --verdict takes. */
struct verdict_given {
    struct given_number share, speedup; /* share: percent */
    double burst_us;                    /* --burst T; 0: not given */
};

/* The options that only --beside takes. */
struct beside_given {
    struct beside_request request; /* its codes, place and pauses */
    bool place_given;
    char **command; /* after --, ends in NULL; NULL: none */
};

/* The options that only --profile takes. */
struct profile_given {
    struct given_number seconds, rate_hz;
    bool sources, rehearsal, live, no_live;
    const char *folded; /* NULL: not given */
    char **command;     /* after --, ends in NULL; NULL: none */
};

/* A line of --help: an option, which begins with '-', as "--runs N"; a heading, which ends in ':'; or an example. */
struct option_line {
    const char *text;
    const char *about; /* of an option; NULL: as --help-all has it */
};

/* A program that takes these options. */
struct option_program {
    const char *name;
    /* of one that does a single job, which no option need name; JOB_NONE: it does several */
    enum job job;
    const char *job_option;         /* "simulate" */
    const char *arguments, *about;  /* for its --help */
    const struct option_line *help; /* of a single job: what --help lists. What is said of an option there stands in
                                       --help-all, too, as others take some of them for something else */
    size_t n_help;
};

struct options {
    const struct option_program *program;
    enum job job;
    const char *job_option;   /* "transition", for messages */
    const char *job_argument; /* FROM:TO, the trace file, what to list, ... */
    struct payload from, to;  /* JOB_TRANSITION */
    struct block_set blocks;  /* --kernel-file */
    enum list list;           /* JOB_LIST */

    const char *machine; /* NULL: auto */
    struct given_number runs, period_us, warmup_us, observe_us, cpu, timeout_us;
    struct given_switch turbo;
    struct given_number fixed_ghz; /* --fixed-frequency */
    bool quiet_given;              /* --quiet-machine ... */
    unsigned quiet_parts;          /* ... with these (enum quiet_part); 0: without a list */
    enum interference interference;
    const char *sysroot; /* NULL: this machine */
    bool strict;
    bool seed_given, corunner_given;
    struct given_event events[EVENTS_GIVEN_MAX];
    size_t n_events;

    /* tables */
    const struct table_kind *table; /* JOB_TABLE */
    /* --active-cores, --kernels, --companion, --siblings, --seed and --brief, also where there is no table */
    struct tables_options tables;
    size_t n_cpus;
    unsigned cpus[TABLES_CORES_MAX];
    bool resume;
    const char *input;   /* --input */
    const char *junit;   /* --junit */
    const char **others; /* of --compare, after the first; n_others */
    size_t n_others;
    const char *file;   /* of --export; NULL: standard output */
    const char *bundle; /* --bundle; NULL: none is written */

    const char *params; /* --params; NULL: not given */
    struct simulate_given simulate;
    struct profile_given profile;
    struct verdict_given verdict;
    struct beside_given beside;

    const char *csv, *json, *plot, *output; /* NULL: not given */
    bool quiet;

    struct given_option given[OPTIONS_GIVEN_MAX]; /* all of them, in their order, for results that tell their command */
    size_t n_given;
};

/* NAME or FILE of --machine model:...; NULL: it names no model. */
const char *options_model(const struct options *o);

/*
 * Parses argv. Returns -1 and fills *o, or an exit status when the program is to end now: wrong usage (one line has
 * been said) or all done (--help, --version print and exit by themselves).
 */
int option_parse(int argc, char **argv, const struct option_program *program, struct options *o);

/* All options for programs, such as completions of shells: a line each, its name, its argument ("" where it takes none;
 * a|b where it is one of these) and what it is, separated by tabs. */
void option_list(FILE *out);

/* The few lines for a call without arguments, on standard error. */
void option_parse_short_usage(void);
