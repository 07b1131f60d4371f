/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/plot.h"
#include "cli/messages.h"
#include "cli/values.h"
#include "drivers/event_code.h"

const char *argp_program_version = "characterize " VERSION;

enum option_key {
    KEY_TRANSITION = 0x100, KEY_ANALYZE, KEY_LIST, KEY_TABLE, KEY_ALL, KEY_VALIDATE, KEY_EXPORT,
    KEY_MACHINE, KEY_CPU, KEY_ACTIVE_CORES, KEY_RUNS, KEY_PERIOD, KEY_WARMUP, KEY_OBSERVE, KEY_SEED, KEY_EVENT,
    KEY_TURBO, KEY_FIXED_FREQUENCY, KEY_RESTORE,
    KEY_JSON, KEY_CSV, KEY_PLOT, KEY_OUTPUT, KEY_QUIET
};

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "Jobs, one of:", 1},
    {"transition", KEY_TRANSITION, "FROM:TO", 0,
     "Run kernel FROM, then kernel TO, and find the phases in between (--list kernels)", 1},
    {"analyze", KEY_ANALYZE, "FILE", 0, "Find the phases of a recorded trace; - is standard input", 1},
    {"list", KEY_LIST, "WHAT", 0, "List kernels, machines, skus or tables", 1},
    {"restore", KEY_RESTORE, NULL, 0, "Put back settings of the machine that a killed run has left changed", 1},

    {NULL, 0, NULL, 0, "What --transition measures on, and how:", 2},
    {"machine", KEY_MACHINE, "NAME", 0,
     "auto, timing, perf, msr, helper, model:NAME or model:FILE (default: auto)", 2},
    {"cpu", KEY_CPU, "N", 0, "Logical CPU to measure on (default: the machine's choice)", 2},
    {"active-cores", KEY_ACTIVE_CORES, "N", 0, "Cores kept busy, the measured one included (default: all)", 2},
    {"runs", KEY_RUNS, "N", 0, "Repetitions (default: 100)", 2},
    {"period", KEY_PERIOD, "US", 0, "Microseconds between samples (default: 1)", 2},
    {"warmup", KEY_WARMUP, "US", 0, "Microseconds of FROM before recording (default: 1000)", 2},
    {"observe", KEY_OBSERVE, "US", 0,
     "Microseconds of TO recorded (default: 150; 1500 when FROM is the heavier kernel)", 2},
    {"event", KEY_EVENT, "EVENT:UMASK|NAME", 0,
     "Count this event, too, as a column of the trace (0x28:0x08); up to four times", 2},
    {"seed", KEY_SEED, "N", 0, "Seed of models and of the bootstrap: same seed, same output (default: 0); also with "
     "--analyze", 2},

    {"turbo", KEY_TURBO, "on|off", 0, "Switch turbo for the time of the measurement (root)", 2},
    {"fixed-frequency", KEY_FIXED_FREQUENCY, "GHZ", 0,
     "Fix the frequency of all CPUs for the time of the measurement (root)", 2},

    {NULL, 0, NULL, 0, "Output:", 3},
    {"csv", KEY_CSV, "FILE", 0, "Write the trace; - is standard output", 3},
    {"json", KEY_JSON, "FILE", 0, "Write the phases; - is standard output", 3},
    {"plot", KEY_PLOT, "FILE", 0, "Draw FILE.svg or FILE.png (needs gnuplot)", 3},
    {"output", KEY_OUTPUT, "DIR", 0,
     "Write trace, phases and plot into this directory (--transition: by default characterize-out)", 3},
    {"quiet", KEY_QUIET, NULL, 0, "Say nothing but results and errors", 3},

    {NULL, 0, NULL, 0, "Jobs of later versions, refused by this one:", 4},
    {"table", KEY_TABLE, "NAME", 0, "Measure a table", 4},
    {"all", KEY_ALL, NULL, 0, "Measure everything", 4},
    {"validate", KEY_VALIDATE, "SKU", 0, "Compare what is measured with published figures", 4},
    {"export", KEY_EXPORT, "FORM", 0, "Write scheduler parameters as header or json", 4},
    {NULL, 0, NULL, 0, NULL, 0}};

static const char doc_text[] =
    "Measure what wide SIMD instructions do to a processor's frequency."
    "\v"
    "Examples:\n"
    "  characterize --transition 128fma:512fma\n"
    "  characterize --transition 512fma:128fma --runs 200 --observe 3000\n"
    "  characterize --transition 128fma:512fma --machine model:xeon-gold-6130\n"
    "  characterize --transition 128fma:512fma --event 0x28:0x08 --event 0x28:0x10\n"
    "  characterize --analyze trace.csv --json phases.json --plot phases.svg\n"
    "  characterize --list kernels\n"
    "\n"
    "Exit status: 0 done; 1 failed while running; 2 wrong usage or unreadable input; 3 this machine cannot do it; "
    "4 done, and what was measured deviates from what was expected. The manual is characterize(1).";

/* Names that an argument may have, and what later work does with it. */
static const char *const list_names[] = {[LIST_KERNELS] = "kernels", [LIST_MACHINES] = "machines",
                                         [LIST_SKUS] = "skus", [LIST_TABLES] = "tables", NULL};
static const char *const table_names[] = {"frequency", "transitions", "throttle", "trigger", "relaxation",
                                          "overhead",  "umask",       "energy",   "voltage", NULL};
static const char *const export_names[] = {"header", "json", NULL};

/* The index of a name in a list that ends in NULL, or -1. */
static int find_name(const char *const *names, const char *name)
{
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

static int unknown_name(const char *option, const char *const *names, const char *name)
{
    char all[200] = "";
    for (int i = 0; names[i] != NULL; i++) {
        strncat(all, i == 0 ? "" : ", ", sizeof(all) - strlen(all) - 1);
        strncat(all, names[i], sizeof(all) - strlen(all) - 1);
    }
    complain("%s: unknown '%s'; one of: %s", option, name, all);
    return EINVAL;
}

static int bad_value(const char *option, const char *text, const char *wrong, const char *allowed)
{
    complain("%s: '%s' %s; allowed: %s", option, text, wrong, allowed);
    return EINVAL;
}

static int take_number(const char *option, const char *text, double lo, double hi, const char *allowed,
                       struct given_number *out)
{
    const char *wrong = value_number(text, lo, hi, &out->value);
    out->given = wrong == NULL;
    return wrong == NULL ? 0 : bad_value(option, text, wrong, allowed);
}

static int take_whole(const char *option, const char *text, uint64_t lo, uint64_t hi, const char *allowed,
                      struct given_number *out)
{
    uint64_t value = 0;
    const char *wrong = value_whole(text, lo, hi, &value);
    out->given = wrong == NULL;
    out->value = (double)value;
    return wrong == NULL ? 0 : bad_value(option, text, wrong, allowed);
}

static int take_seed(const char *text, struct options *o)
{
    const char *wrong = value_whole(text, 0, UINT64_MAX, &o->seed);
    o->seed_given = wrong == NULL;
    return wrong == NULL ? 0 : bad_value("--seed", text, wrong, "0 to 18446744073709551615");
}

/* A code, or what may be a name: letters, digits, dots and underscores, beginning with a letter. */
static int take_event(const char *text, struct options *o)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    struct given_event e = {.text = text};
    bool name = text[0] != '\0' && strchr(letters, text[0]) != NULL;
    if (name && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._") != strlen(text)) {
        complain("--event: '%s' is no name of an event, and no code as in 0x28:0x08", text);
        return EINVAL;
    }
    const char *wrong = name ? NULL : event_code_parse(text, &e.code);
    if (wrong != NULL) {
        return bad_value("--event", text, wrong, "EVENT:UMASK[:cmask=N][:inv][:edge] as in 0x28:0x08, or a name");
    }
    e.is_code = !name;
    if (o->n_events == EVENTS_GIVEN_MAX) {
        complain("--event: '%s' is one too many; at most %d events can be counted", text, EVENTS_GIVEN_MAX);
        return EINVAL;
    }
    o->events[o->n_events++] = e;
    return 0;
}

static int take_job(struct options *o, enum job job, const char *option, const char *argument)
{
    if (o->job != JOB_NONE) {
        if (strcmp(o->job_option, option) == 0) {
            complain("%s is given twice: one job at a time", option);
        } else {
            complain("%s and %s exclude each other: one job at a time", o->job_option, option);
        }
        return EINVAL;
    }
    o->job = job;
    o->job_option = option;
    o->job_argument = argument;
    return 0;
}

/* FROM:TO into the two kernels. */
static int take_transition(struct options *o, const char *text)
{
    char from[256], why[400];
    const char *colon = strchr(text, ':');
    if (colon == NULL || colon == text || colon[1] == '\0' || strchr(colon + 1, ':') != NULL ||
        (size_t)(colon - text) >= sizeof(from)) {
        complain("--transition: '%s' is not of the form FROM:TO, as in 128fma:512fma", text);
        return EINVAL;
    }
    memcpy(from, text, (size_t)(colon - text));
    from[colon - text] = '\0';
    if (kernel_parse(from, &o->from, why, sizeof(why)) != 0 ||
        kernel_parse(colon + 1, &o->to, why, sizeof(why)) != 0) {
        complain("--transition %s: %s", text, why);
        return EINVAL;
    }
    return take_job(o, JOB_TRANSITION, "--transition", text);
}

static int take_file(const char *option, const char *text, const char **out)
{
    if (text[0] == '\0') {
        complain("%s: the name is empty", option);
        return EINVAL;
    }
    *out = text;
    return 0;
}

static int take_plot(struct options *o, const char *text)
{
    enum plot_form form;
    if (plot_form_of(text, &form) != 0) {
        complain("--plot: '%s' ends neither in .svg nor in .png", text);
        return EINVAL;
    }
    o->plot = text;
    return 0;
}

static int take_turbo(struct options *o, const char *text)
{
    o->turbo_on = strcmp(text, "on") == 0;
    o->turbo_given = o->turbo_on || strcmp(text, "off") == 0;
    return o->turbo_given ? 0 : bad_value("--turbo", text, "is neither", "on, off");
}

static int take_job_option(int key, char *text, struct options *o)
{
    switch (key) {
    case KEY_TRANSITION:
        return take_transition(o, text);
    case KEY_ANALYZE:
        return text[0] == '\0' ? take_file("--analyze", text, &o->job_argument)
                               : take_job(o, JOB_ANALYZE, "--analyze", text);
    case KEY_LIST: {
        int list = find_name(list_names, text);
        o->list = list < 0 ? LIST_KERNELS : (enum list)list;
        return list < 0 ? unknown_name("--list", list_names, text) : take_job(o, JOB_LIST, "--list", text);
    }
    case KEY_TABLE:
        return find_name(table_names, text) < 0 ? unknown_name("--table", table_names, text)
                                                : take_job(o, JOB_LATER, "--table", text);
    case KEY_RESTORE:
        return take_job(o, JOB_RESTORE, "--restore", NULL);
    case KEY_ALL:
        return take_job(o, JOB_LATER, "--all", NULL);
    case KEY_VALIDATE:
        return take_job(o, JOB_LATER, "--validate", text);
    case KEY_EXPORT:
        return find_name(export_names, text) < 0 ? unknown_name("--export", export_names, text)
                                                 : take_job(o, JOB_LATER, "--export", text);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int take_measuring_option(int key, char *text, struct options *o)
{
    switch (key) {
    case KEY_MACHINE:
        return take_file("--machine", text, &o->machine);
    case KEY_CPU:
        return take_whole("--cpu", text, 0, 8191, "0 to 8191", &o->cpu);
    case KEY_ACTIVE_CORES:
        return take_whole("--active-cores", text, 0, 4096, "1 to 4096, 0 for all", &o->active_cores);
    case KEY_RUNS:
        return take_whole("--runs", text, 1, 100000, "1 to 100000", &o->runs);
    case KEY_PERIOD:
        return take_number("--period", text, 0.1, 1000, "0.1 to 1000 microseconds", &o->period_us);
    case KEY_WARMUP:
        return take_number("--warmup", text, 0, 1e6, "0 to 1000000 microseconds", &o->warmup_us);
    case KEY_OBSERVE:
        return take_number("--observe", text, 1, 1e6, "1 to 1000000 microseconds", &o->observe_us);
    case KEY_TURBO:
        return take_turbo(o, text);
    case KEY_FIXED_FREQUENCY:
        return take_number("--fixed-frequency", text, 0.1, 20, "0.1 to 20 GHz", &o->fixed_ghz);
    case KEY_SEED:
        return take_seed(text, o);
    case KEY_EVENT:
        return take_event(text, o);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t take_option(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    int status = take_job_option(key, text, o);
    if (status == ARGP_ERR_UNKNOWN) {
        status = take_measuring_option(key, text, o);
    }
    if (status != ARGP_ERR_UNKNOWN) {
        return status;
    }
    switch (key) {
    case KEY_CSV:
        return take_file("--csv", text, &o->csv);
    case KEY_JSON:
        return take_file("--json", text, &o->json);
    case KEY_PLOT:
        return take_plot(o, text);
    case KEY_OUTPUT:
        return take_file("--output", text, &o->output);
    case KEY_QUIET:
        o->quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        complain("unexpected argument '%s'; a recorded trace is given as --analyze FILE, kernels as --transition "
                 "FROM:TO", text);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {.options = option_table, .parser = take_option, .doc = doc_text};

/* What argp adds by itself. */
static const struct argp_option added_by_argp[] = {
    {"help", '?', NULL, 0, "", 0}, {"usage", 0, NULL, 0, "", 0}, {"version", 'V', NULL, 0, "", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

/* How many long options begin with a name; 1 if one equals it. *found is one of them. */
static int options_like(const struct argp_option *table, const char *name, size_t length,
                        const struct argp_option **found)
{
    int n = 0;
    for (const struct argp_option *o = table; o->name != NULL || o->doc != NULL; o++) {
        if (o->name != NULL && strncmp(o->name, name, length) == 0) {
            *found = o;
            if (strlen(o->name) == length) {
                return 1;
            }
            n++;
        }
    }
    return n;
}

/* Edit distance (Levenshtein) of a name of a_length characters to another; names are short. */
static size_t edits(const char *a, size_t a_length, const char *b)
{
    enum { LONGEST = 40 };
    size_t row[LONGEST + 1], n = strnlen(b, LONGEST);
    for (size_t j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t above = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            best = above + 1 < best ? above + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            row[j] = best;
            diagonal = above;
        }
    }
    return row[n];
}

static const char *nearest_option(const char *name, size_t length)
{
    const char *nearest = NULL;
    size_t least = 1 + (length < 9 ? length / 3 : 3); /* further away it would be a guess */
    for (const struct argp_option *o = option_table; o->name != NULL || o->doc != NULL; o++) {
        if (o->name != NULL && edits(name, length, o->name) < least) {
            least = edits(name, length, o->name);
            nearest = o->name;
        }
    }
    return nearest;
}

static int unknown_option(const char *argument, size_t length)
{
    const char *nearest = length > 2 ? nearest_option(argument + 2, length - 2) : NULL;
    complain("unknown option '%s'%s%s; --help lists them", argument, nearest != NULL ? ", perhaps --" : "",
             nearest != NULL ? nearest : "");
    return -1;
}

/* One argument that begins with two dashes. Returns how many arguments it takes up, or -1. */
static int check_long_option(const char *argument, const char *next)
{
    const struct argp_option *option = NULL;
    const char *name = argument + 2;
    size_t length = strcspn(name, "=");
    int matches = options_like(option_table, name, length, &option) +
                  options_like(added_by_argp, name, length, &option);
    if (matches == 0) {
        return unknown_option(argument, length + 2);
    }
    if (matches > 1) {
        complain("'%s' is short for more than one option; --help lists them", argument);
        return -1;
    }
    if (option->arg == NULL && name[length] == '=') {
        complain("--%s takes no value", option->name);
        return -1;
    }
    if (option->arg != NULL && name[length] != '=' && next == NULL) {
        complain("--%s needs a value: --%s %s", option->name, option->name, option->arg);
        return -1;
    }
    return option->arg != NULL && name[length] != '=' ? 2 : 1;
}

/*
 * The names of all options, before argp sees them: what argp says of a wrong one takes two lines and does not tell what
 * was meant.
 */
static int check_option_names(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0;) {
        int taken = 1;
        if (strncmp(argv[i], "--", 2) == 0) {
            taken = check_long_option(argv[i], argv[i + 1]);
        } else if (argv[i][0] == '-' && argv[i][1] != '\0' && strcmp(argv[i], "-?") != 0 &&
                   strcmp(argv[i], "-V") != 0) {
            taken = unknown_option(argv[i], 0);
        }
        if (taken < 0) {
            return -1;
        }
        i += taken;
    }
    return 0;
}

/* Options that belong to another job than the one given. */
static int check_conflicts(const struct options *o)
{
    const struct {
        bool given;
        const char *name;
        bool for_analysis; /* makes sense with --analyze, too */
    } extras[] = {{o->machine != NULL, "--machine", false},
                  {o->cpu.given, "--cpu", false},
                  {o->active_cores.given, "--active-cores", false},
                  {o->runs.given, "--runs", false},
                  {o->period_us.given, "--period", false},
                  {o->warmup_us.given, "--warmup", false},
                  {o->observe_us.given, "--observe", false},
                  {o->turbo_given, "--turbo", false},
                  {o->fixed_ghz.given, "--fixed-frequency", false},
                  {o->n_events > 0, "--event", false},
                  {o->seed_given, "--seed", true},
                  {o->csv != NULL, "--csv", true},
                  {o->json != NULL, "--json", true},
                  {o->plot != NULL, "--plot", true},
                  {o->output != NULL, "--output", true}};
    if (o->machine != NULL && strncmp(o->machine, "model:", 6) == 0 && (o->turbo_given || o->fixed_ghz.given)) {
        complain("%s would change this machine and has no use with --machine %s",
                 o->turbo_given ? "--turbo" : "--fixed-frequency", o->machine);
        return -1;
    }
    if (o->job == JOB_TRANSITION || o->job == JOB_LATER) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(extras) / sizeof(extras[0]); i++) {
        if (!extras[i].given || (o->job == JOB_ANALYZE && extras[i].for_analysis)) {
            continue;
        }
        if (o->job == JOB_NONE) {
            complain("%s without a job: add --transition FROM:TO%s", extras[i].name,
                     extras[i].for_analysis ? " or --analyze FILE" : "");
        } else {
            complain("%s has no use with %s, which measures nothing", extras[i].name, o->job_option);
        }
        return -1;
    }
    if (o->job == JOB_NONE) {
        complain("nothing to do: add --transition FROM:TO, --analyze FILE or --list WHAT; --help explains");
        return -1;
    }
    return 0;
}

/* Two outputs of one name would overwrite each other. */
static int check_names(const struct options *o)
{
    const char *names[] = {o->csv, o->json, o->plot}, *options[] = {"--csv", "--json", "--plot"};
    for (int i = 0; i < 3; i++) {
        for (int j = i + 1; j < 3; j++) {
            if (names[i] != NULL && names[j] != NULL && strcmp(names[i], names[j]) == 0) {
                complain("%s and %s both name '%s'", options[i], options[j], names[i]);
                return -1;
            }
        }
    }
    return 0;
}

void options_short_usage(void)
{
    fputs("Usage: characterize --transition FROM:TO [--machine NAME] [--output DIR]\n"
          "       characterize --analyze TRACE.csv\n"
          "       characterize --list kernels|machines|skus|tables\n"
          "Example: characterize --transition 128fma:512fma\n"
          "characterize --help lists all options.\n", stderr);
}

int options_parse(int argc, char **argv, struct options *o)
{
    memset(o, 0, sizeof(*o));
    argp_err_exit_status = BAD_USAGE;
    if (check_option_names(argc, argv) != 0 || argp_parse(&parser, argc, argv, 0, NULL, o) != 0 ||
        check_conflicts(o) != 0 || check_names(o) != 0) {
        return BAD_USAGE;
    }
    return -1;
}
