/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What option_parse.c is made of: the spelling of options, their values, and which go together. */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options/options.h"

/* The jobs that an option goes with. */
enum {
    WITH_TRANSITION = 1u << JOB_TRANSITION,
    WITH_ANALYZE = 1u << JOB_ANALYZE,
    WITH_TABLE = 1u << JOB_TABLE,
    WITH_ALL = 1u << JOB_ALL,
    WITH_VALIDATE = 1u << JOB_VALIDATE,
    WITH_EXPORT = 1u << JOB_EXPORT,
    WITH_SELF_TEST = 1u << JOB_SELF_TEST,
    WITH_SIMULATE = 1u << JOB_SIMULATE,
    WITH_PROFILE = 1u << JOB_PROFILE,
    WITH_CHECK = 1u << JOB_CHECK,
    WITH_LIST = 1u << JOB_LIST,
    WITH_RESTORE = 1u << JOB_RESTORE,
    WITH_TABLES = WITH_TABLE | WITH_ALL | WITH_VALIDATE | WITH_EXPORT,
    WITH_SETTING = WITH_TRANSITION | WITH_TABLES, /* what is measured, and how, may be chosen */
    WITH_MEASURING = WITH_SETTING | WITH_SELF_TEST,
    WITH_ANY = 0x7fffffff
};

/*
 * option_names.c. The names of all options, before argp sees them: what argp says of a wrong one takes two lines and
 * does not tell what was meant. *end receives the place of "--", behind which nothing is an option, or argc. 0, or
 * BAD_USAGE after a line.
 */
int option_names_check(const struct argp_option *table, int argc, char **argv, int *end);

/*
 * option_values.c. Plain decimals, all of the text, within a range. They return NULL and set *out, or what is wrong
 * with the text ("is not a whole number"). Blanks, units, hexadecimal, "nan" and "inf" are not numbers here;
 * option_whole also refuses signs, fractions and exponents.
 */
const char *option_whole(const char *text, uint64_t lo, uint64_t hi, uint64_t *out);
const char *option_number(const char *text, double lo, double hi, double *out);
/* An event select: 0 to 4095, decimal or hexadecimal with 0x; as the others. */
const char *option_event_select(const char *text, uint64_t *out);
/*
 * Lists. Numbers from lo to hi, separated by commas, a range as first-last (0,2,4-7); the word `all` for 0 where
 * `all_allowed`. No number twice. Returns 0, or BAD_USAGE after a line that names the option and the element.
 */
int option_numbers(const char *option, const char *text, unsigned lo, unsigned hi, bool all_allowed, unsigned *out,
                   size_t max, size_t *n);
/* Names of kernels, separated by commas, none twice. 0, or BAD_USAGE after a line. */
int option_kernels(const char *option, const char *text, struct payload *out, size_t max, size_t *n);

/*
 * option_simulate.c. Values of options that only --simulate takes: names of policies and of schedulers separated by
 * commas, none twice; WHO=CLASS; FILE or FILE=CLASS. 0, or BAD_USAGE after a line that names the option.
 */
int option_policies(const char *option, const char *text, struct simulate_given *out);
int option_schedulers(const char *option, const char *text, struct simulate_given *out);
int option_mark(const char *option, const char *text, struct simulate_given *out);
int option_stamps(const char *option, const char *text, struct simulate_given *out);

/* option_profile.c. Whether the options of --profile go together. 0, or BAD_USAGE after a line. */
int option_profile_check(const struct options *o);

/* option_conflicts.c. Whether an option goes with the job, and all with each other. 0, or BAD_USAGE after a line. */
int option_conflicts_with_job(const struct options *o, const char *option, unsigned with);
int option_conflicts_check(const struct options *o);

/* option_burst.c: --burst N,T into burst_count and burst_every_us. 0, or BAD_USAGE after a line. */
int option_burst(const char *option, const char *text, struct tables_options *out);

/* option_quiet.c: --quiet-machine[=PARTS] and --interference NAME; text NULL: without PARTS. 0, or BAD_USAGE after a
 * line. */
int option_quiet_parts(const char *option, const char *text, unsigned *out);
int option_interference(const char *option, const char *text, enum interference *out);
int option_quiet_check(const struct options *o);
