/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of option_parse.c: the spelling of options, their values, and which go together. */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/options/options.h"

/* The jobs that an option goes with. */
enum {
    WITH_TRANSITION = 1u << JOB_TRANSITION,
    WITH_ANALYZE = 1u << JOB_ANALYZE,
    WITH_TABLE = 1u << JOB_TABLE,
    WITH_ALL = 1u << JOB_ALL,
    WITH_VALIDATE = 1u << JOB_VALIDATE,
    WITH_DRAFT = 1u << JOB_DRAFT,
    WITH_EXPORT = 1u << JOB_EXPORT,
    WITH_SELF_TEST = 1u << JOB_SELF_TEST,
    WITH_SIMULATE = 1u << JOB_SIMULATE,
    WITH_PROFILE = 1u << JOB_PROFILE,
    WITH_CHECK = 1u << JOB_CHECK,
    WITH_LIST = 1u << JOB_LIST,
    WITH_RESTORE = 1u << JOB_RESTORE,
    WITH_VERDICT = 1u << JOB_VERDICT,
    WITH_COMPARE = 1u << JOB_COMPARE,
    WITH_BESIDE = 1u << JOB_BESIDE,
    WITH_WHICH = 1u << JOB_WHICH,
    WITH_TABLES = WITH_TABLE | WITH_ALL | WITH_VALIDATE | WITH_DRAFT | WITH_EXPORT,
    WITH_SETTING = WITH_TRANSITION | WITH_TABLES, /* jobs that let the user choose what is measured, and how */
    WITH_MEASURING = WITH_SETTING | WITH_SELF_TEST | WITH_VERDICT | WITH_BESIDE | WITH_WHICH,
    WITH_ANY = 0x7fffffff
};

struct option_row;
/* Puts the argument into *out. 0, or BAD_USAGE after a line. */
typedef int option_taker(const struct option_row *p, const char *text, struct options *out);

/* One option, or the heading of those that follow (no name). */
struct option_row {
    const char *name, *argument; /* argument NULL: it takes none */
    const char *about;
    unsigned jobs; /* that it goes with */
    option_taker *take;
    /* for those that are taken alike */
    size_t at; /* where it goes in struct options; of a job: which one */
    double lo, hi;
    const char *allowed;
    const char *const *names; /* of a job: what its argument may be, ends in NULL; NULL: anything */
    bool optional;            /* the argument may be left out */
};

static inline void *option_field(const struct option_row *p, struct options *o)
{
    return (char *)o + p->at;
}

/* Describes an option, "--NAME ..." or "--NAME[...". */
typedef const char *option_describe(const char *text);
/* option_help.c. --help: the main jobs and options; no more lines than two screens have, of a program with a single job
 * one, where they are 100 columns. `about` describes an option of which the program says nothing of its own. */
void option_help(FILE *out, const struct option_program *program, option_describe *about);
/* The text that argp prints before and after the list of options at --help-all. */
extern const char option_help_doc[];
/* argp breaks the lines of its list at column 79 unless ARGP_HELP_FMT, which this sets, says otherwise. */
void option_help_width(void);

/*
 * option_values.c. Checks the names of all options before argp sees them: its own message about a wrong one takes two
 * lines and does not suggest what was meant. *end receives the place of "--", after which nothing is an option, or
 * argc. 0, or BAD_USAGE after a line.
 */
int option_names_check(const struct argp_option *table, int argc, char **argv, int *end);

/*
 * Plain decimals, all of the text, within a range. They return NULL and set *out, or what is wrong
 * with the text ("is not a whole number"). Blanks, units, hexadecimal, "nan" and "inf" are not numbers here;
 * option_whole also refuses signs, fractions and exponents.
 */
const char *option_whole(const char *text, uint64_t lo, uint64_t hi, uint64_t *out);
typedef const char *option_reader(const char *text, double lo, double hi, double *out);
option_reader option_number;
/* Microseconds, also with a unit: 10us, 1ms, 0.1s; as the others. */
option_reader option_time;
/* An event select: 0 to 4095, decimal or hexadecimal with 0x; as the others. */
const char *option_event_select(const char *text, uint64_t *out);
/* "--NAME: 'TEXT' WRONG; allowed: ALLOWED". BAD_USAGE. */
int option_bad_value(const struct option_row *p, const char *text, const char *wrong, const char *allowed);
/* Lists: numbers separated by commas, a range as first-last (0,2,4-7), of cores also the word `all` for 0; names of
 * kernels. None twice. */
option_taker option_take_cores, option_take_cpus, option_take_kernels;
/* --burst N,T into burst_count and burst_every_us; --burst T into that of the verdict. */
option_taker option_take_burst;
/* --beside KERNEL[,KERNEL...], --on PLACE, --duty ON,EVERY, --clocks GHZ,GHZ[,GHZ...]. */
option_taker option_take_codes, option_take_place, option_take_duty, option_take_clocks;

/* option_simulate.c. Values of options that only --simulate takes: names of policies and of schedulers separated by
 * commas, none twice; times of a switch, a migration and a fault; WHO=CLASS; FILE or FILE=CLASS. */
option_taker option_take_policies, option_take_schedulers, option_take_switching, option_take_mark, option_take_stamps;

/* option_conflicts.c. Whether an option goes with the job, and all with each other. 0, or BAD_USAGE after a line. */
int option_conflicts_with_job(const struct options *o, const char *option, unsigned with);
int option_conflicts_check(const struct options *o);

/* --kernel-file is taken before all others, as they may name what it holds: option_load_block()
 * returns 0, or a status after a line. Names of kernels, of its files, too: as kernel_parse(). */
option_taker option_take_block;
int option_load_block(const char *file, struct options *o);
int option_kernel(const struct options *o, const char *name, struct payload *out, char *why, size_t size);

/* --quiet-machine[=PARTS], --interference NAME. */
option_taker option_take_quiet, option_take_interference;
