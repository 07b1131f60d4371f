/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/option_parse.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/plot/plot.h"
#include "cli/messages.h"
#include "cli/options/option_conflicts.h"
#include "cli/options/option_lists.h"
#include "cli/options/option_names.h"
#include "cli/options/values.h"
#include "drivers/events/event_code.h"
#include "tables/table/tables.h"

const char *argp_program_version = "characterize " VERSION;

enum option_key {
    KEY_TRANSITION = 0x100,
    KEY_TABLE,
    KEY_ALL,
    KEY_VALIDATE,
    KEY_EXPORT,
    KEY_ANALYZE,
    KEY_LIST,
    KEY_MACHINE,
    KEY_CPU,
    KEY_ACTIVE_CORES,
    KEY_RUNS,
    KEY_PERIOD,
    KEY_WARMUP,
    KEY_OBSERVE,
    KEY_SEED,
    KEY_EVENT,
    KEY_TURBO,
    KEY_FIXED_FREQUENCY,
    KEY_RESTORE,
    KEY_KERNELS,
    KEY_CPUS,
    KEY_CORUNNER,
    KEY_SIBLINGS,
    KEY_BRIEF,
    KEY_JSON,
    KEY_CSV,
    KEY_PLOT,
    KEY_OUTPUT,
    KEY_RESUME,
    KEY_INPUT,
    KEY_QUIET,
    KEY_SELF_TEST,
    KEY_BUNDLE
};

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "Jobs, one of:", 1},
    {"transition", KEY_TRANSITION, "FROM:TO", 0,
     "Run kernel FROM, then kernel TO, and find the phases in between (--list kernels)", 1},
    {"table", KEY_TABLE, "NAME", 0, "Measure a table (--list tables)", 1},
    {"all", KEY_ALL, NULL, 0, "Measure every table into a directory, with a report to read (report.html)", 1},
    {"validate", KEY_VALIDATE, "SKU", 0,
     "Compare the measurement with published figures (--list skus): status 4 if it deviates", 1},
    {"export", KEY_EXPORT, "FORM", 0,
     "Write the parameters that schedulers need, as header or json: --export header FILE.h (without FILE: to standard "
     "output)",
     1},
    {"analyze", KEY_ANALYZE, "FILE", 0, "Find the phases of a recorded trace; - is standard input", 1},
    {"self-test", KEY_SELF_TEST, NULL, 0,
     "Check each counter of the machine against code with known counts: status 4 if one is wrong", 1},
    {"list", KEY_LIST, "WHAT", 0, "List kernels, machines, skus or tables", 1},
    {"restore", KEY_RESTORE, NULL, 0, "Restore machine settings that a killed run left changed", 1},

    {NULL, 0, NULL, 0, "What to measure on, and how (--transition and tables):", 2},
    {"machine", KEY_MACHINE, "NAME", 0, "auto, timing, perf, msr, helper, model:NAME or model:FILE (default: auto)", 2},
    {"cpu", KEY_CPU, "N", 0, "Logical CPU to measure on (default: the machine's choice)", 2},
    {"active-cores", KEY_ACTIVE_CORES, "N", 0,
     "Cores kept busy, including the measured one (default: all); for tables also a list: 1,2,4-8,all", 2},
    {"runs", KEY_RUNS, "N", 0, "Repetitions (default: 100; each table has its own)", 2},
    {"period", KEY_PERIOD, "US", 0, "Sampling period in microseconds (default: 1)", 2},
    {"warmup", KEY_WARMUP, "US", 0, "Warm-up: microseconds of FROM before recording (default: 2500)", 2},
    {"observe", KEY_OBSERVE, "US", 0, "Microseconds of TO to record (default: 150; 1500 if FROM is the heavier kernel)",
     2},
    {"event", KEY_EVENT, "EVENT:UMASK|NAME", 0,
     "Also count this event, as a column of the trace (0x28:0x08); up to four times. With --table umask: the event "
     "whose umasks are tried (0x28)",
     2},
    {"seed", KEY_SEED, "N", 0,
     "Seed of models and of the bootstrap: same seed, same output (default: 0); also with --analyze", 2},
    {"turbo", KEY_TURBO, "on|off", 0, "Switch turbo on or off during the measurement (root)", 2},
    {"fixed-frequency", KEY_FIXED_FREQUENCY, "GHZ", 0, "Fix the frequency of all CPUs during the measurement (root)",
     2},

    {NULL, 0, NULL, 0, "What tables cover:", 3},
    {"kernels", KEY_KERNELS, "LIST", 0, "Only these kernels: 128fma,512fma (default: each table's own)", 3},
    {"cpus", KEY_CPUS, "LIST", 0, "The order in which CPUs become active, one per core: 0,2,4-7; the first is measured",
     3},
    {"companion", KEY_CORUNNER, "KERNEL|same", 0,
     "What the other active cores (co-runners) run; same: the measured core's kernel (default: 64add)", 3},
    {"siblings", KEY_SIBLINGS, "idle|busy", 0, "The SMT siblings of active cores (default: idle)", 3},
    {"brief", KEY_BRIEF, NULL, 0, "Fewer kernels, core counts and repetitions: a first look", 3},

    {NULL, 0, NULL, 0, "Output:", 4},
    {"csv", KEY_CSV, "FILE", 0, "Write the trace or the table; - is standard output", 4},
    {"json", KEY_JSON, "FILE", 0, "Write the phases or the table; - is standard output", 4},
    {"plot", KEY_PLOT, "FILE", 0, "Draw FILE.svg or FILE.png (needs gnuplot)", 4},
    {"output", KEY_OUTPUT, "DIR", 0,
     "Write all files into this directory (--transition, --table: by default characterize-out; --all: "
     "characterize-all)",
     4},
    {"resume", KEY_RESUME, NULL, 0, "With --all: continue an interrupted run in its directory", 4},
    {"input", KEY_INPUT, "DIR", 0,
     "With --validate, --export: use the tables that --all measured into DIR; with --self-test: re-evaluate the "
     "readings of this bundle",
     4},
    {"bundle", KEY_BUNDLE, "FILE.tar.gz", 0,
     "With --self-test: also write a bundle to share: readings, verdicts, processor; no host or user names", 4},
    {"quiet", KEY_QUIET, NULL, 0, "Print results and errors only", 4},
    {NULL, 0, NULL, 0, NULL, 0}};

static const char doc_text[] =
    "Measure what wide SIMD instructions do to a processor's frequency.\vExamples:\n"
    "  characterize --transition 128fma:512fma\n"
    "  characterize --transition 512fma:128fma --runs 200 --observe 3000\n"
    "  characterize --transition 128fma:512fma --machine model:xeon-gold-6130\n"
    "  characterize --transition 128fma:512fma --event 0x28:0x08 --event 0x28:0x10\n"
    "  characterize --table frequency --kernels 128fma,256fma,512fma\n"
    "  characterize --all --output results --machine model:xeon-gold-6130\n"
    "  characterize --all --output results --resume\n"
    "  characterize --validate xeon-gold-6130 --input results\n"
    "  characterize --export header avx.h --input results\n"
    "  characterize --analyze trace.csv --json phases.json --plot phases.svg\n"
    "  characterize --self-test --bundle self-test.tar.gz\n"
    "  characterize --list kernels\n"
    "\n"
    "Exit status: 0 done; 1 failed while running; 2 wrong usage or unreadable input; 3 this machine cannot do it; 4 "
    "done, but the results deviate from what is expected. See also characterize(1).";

/* Names that an argument may have, and what later work does with it. */
static const char *const list_names[] = {
    [LIST_KERNELS] = "kernels", [LIST_MACHINES] = "machines", [LIST_SKUS] = "skus", [LIST_TABLES] = "tables", NULL};
static const char *const export_names[] = {"header", "json", NULL};

/* The index of a name in a list that ends in NULL, or -1. */
static int find_name(const char *const *names, const char *name)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static int options_unknown_name(const char *option, const char *const *names, const char *name)
{
    char all[200] = "";
    for (int i = 0; names[i] != NULL; i++) {
        strncat(all, i == 0 ? "" : ", ", sizeof(all) - strlen(all) - 1);
        strncat(all, names[i], sizeof(all) - strlen(all) - 1);
    }
    complain("%s: unknown '%s'; one of: %s", option, name, all);
    return EINVAL;
}

static int unknown_table(const char *name)
{
    const char *names[32] = {NULL};
    size_t n;
    const struct table_kind *const *tables = tables_all(&n);
    for (size_t i = 0; i < n && i < 31; i++)
        names[i] = tables[i]->name;
    return options_unknown_name("--table", names, name);
}

static int bad_value(const char *option, const char *text, const char *wrong, const char *allowed)
{
    complain("%s: '%s' %s; allowed: %s", option, text, wrong, allowed);
    return EINVAL;
}

static int options_take_number(const char *option, const char *text, double lo, double hi, const char *allowed,
                               struct given_number *out)
{
    const char *wrong = value_number(text, lo, hi, &out->value);
    out->given = wrong == NULL;
    return wrong == NULL ? 0 : bad_value(option, text, wrong, allowed);
}

static int options_take_whole(const char *option, const char *text, uint64_t lo, uint64_t hi, const char *allowed,
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

static int take_flag(const char *option, const char *text, const char *on, const char *off, bool *out)
{
    *out = strcmp(text, on) == 0;
    return *out || strcmp(text, off) == 0 ? 0 : bad_value(option, text, "is neither", "idle, busy");
}

/* A code, or what may be a name: letters, digits, dots and underscores, beginning with a letter. */
static int take_event(const char *text, struct options *o)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    struct given_event e = {.text = text};
    bool name = text[0] != '\0' && strchr(letters, text[0]) != NULL;
    if (name && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._") != strlen(text)) {
        complain("--event: '%s' is neither an event name nor a code like 0x28:0x08", text);
        return EINVAL;
    }
    uint64_t select = 0;
    e.select_only = !name && value_select(text, &select) == NULL;
    e.code = event_code_make((unsigned)select, 0);
    const char *wrong = name || e.select_only ? NULL : event_code_parse(text, &e.code);
    if (wrong != NULL)
        return bad_value("--event", text, wrong, "EVENT:UMASK[:cmask=N][:inv][:edge] as in 0x28:0x08, or a name");
    e.is_code = !name;
    if (o->n_events == EVENTS_GIVEN_MAX) {
        complain("--event: '%s' is one too many; the limit is %d events", text, EVENTS_GIVEN_MAX);
        return EINVAL;
    }
    o->events[o->n_events++] = e;
    return 0;
}

static int take_job(struct options *o, enum job job, const char *option, const char *argument)
{
    if (o->job != JOB_NONE) {
        if (strcmp(o->job_option, option) == 0)
            complain("%s is given twice: one job at a time", option);
        else
            complain("%s and %s cannot be combined: one job at a time", o->job_option, option);
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
    if (kernel_parse(from, &o->from, why, sizeof(why)) != 0 || kernel_parse(colon + 1, &o->to, why, sizeof(why)) != 0) {
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
        complain("--plot: '%s' ends in neither .svg nor .png", text);
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
        return list < 0 ? options_unknown_name("--list", list_names, text) : take_job(o, JOB_LIST, "--list", text);
    }
    case KEY_TABLE:
        o->table = tables_find(text);
        return o->table == NULL ? unknown_table(text) : take_job(o, JOB_TABLE, "--table", text);
    case KEY_RESTORE:
        return take_job(o, JOB_RESTORE, "--restore", NULL);
    case KEY_ALL:
        return take_job(o, JOB_ALL, "--all", NULL);
    case KEY_VALIDATE:
        return take_job(o, JOB_VALIDATE, "--validate", text);
    case KEY_SELF_TEST:
        return take_job(o, JOB_SELF_TEST, "--self-test", NULL);
    case KEY_EXPORT:
        return find_name(export_names, text) < 0 ? options_unknown_name("--export", export_names, text)
                                                 : take_job(o, JOB_EXPORT, "--export", text);
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
        return options_take_whole("--cpu", text, 0, 8191, "0 to 8191", &o->cpu);
    case KEY_ACTIVE_CORES:
        return option_list_numbers("--active-cores", text, 0, 4096, true, o->active, TABLES_CORES_MAX, &o->n_active)
                   ? EINVAL
                   : 0;
    case KEY_RUNS:
        return options_take_whole("--runs", text, 1, 100000, "1 to 100000", &o->runs);
    case KEY_PERIOD:
        return options_take_number("--period", text, 0.1, 1000, "0.1 to 1000 microseconds", &o->period_us);
    case KEY_WARMUP:
        return options_take_number("--warmup", text, 0, 1e6, "0 to 1000000 microseconds", &o->warmup_us);
    case KEY_OBSERVE:
        return options_take_number("--observe", text, 1, 1e6, "1 to 1000000 microseconds", &o->observe_us);
    case KEY_TURBO:
        return take_turbo(o, text);
    case KEY_FIXED_FREQUENCY:
        return options_take_number("--fixed-frequency", text, 0.1, 20, "0.1 to 20 GHz", &o->fixed_ghz);
    case KEY_SEED:
        return take_seed(text, o);
    case KEY_EVENT:
        return take_event(text, o);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int take_corunner(const char *text, struct options *o)
{
    char why[400];
    o->corunner_given = true;
    o->corunner_same = strcmp(text, "same") == 0;
    if (!o->corunner_same && kernel_parse(text, &o->corunner, why, sizeof(why)) != 0) {
        complain("--companion: %s; 'same' works, too", why);
        return EINVAL;
    }
    return 0;
}

static int take_table_option(int key, char *text, struct options *o)
{
    switch (key) {
    case KEY_KERNELS:
        return option_list_kernels("--kernels", text, o->kernels, TABLES_KERNELS_MAX, &o->n_kernels) != 0 ? EINVAL : 0;
    case KEY_CPUS:
        return option_list_numbers("--cpus", text, 0, 8191, false, o->cpus, TABLES_CORES_MAX, &o->n_cpus) != 0 ? EINVAL
                                                                                                               : 0;
    case KEY_CORUNNER:
        return take_corunner(text, o);
    case KEY_SIBLINGS:
        o->siblings_given = true;
        return take_flag("--siblings", text, "busy", "idle", &o->siblings);
    case KEY_BRIEF:
        o->brief = true;
        return 0;
    case KEY_RESUME:
        o->resume = true;
        return 0;
    case KEY_INPUT:
        return take_file("--input", text, &o->input);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Only --export header FILE and --export json FILE have one. */
static int take_argument(char *text, struct options *o)
{
    if (o->job == JOB_EXPORT && o->file == NULL)
        return take_file("--export", text, &o->file);
    complain("unexpected argument '%s'; use --analyze FILE for a recorded trace, --transition FROM:TO for kernels",
             text);
    return EINVAL;
}

static error_t take_option(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    int status = take_job_option(key, text, o);
    if (status == ARGP_ERR_UNKNOWN)
        status = take_measuring_option(key, text, o);
    if (status == ARGP_ERR_UNKNOWN)
        status = take_table_option(key, text, o);
    if (status != ARGP_ERR_UNKNOWN)
        return status;
    switch (key) {
    case KEY_CSV:
        return take_file("--csv", text, &o->csv);
    case KEY_JSON:
        return take_file("--json", text, &o->json);
    case KEY_PLOT:
        return take_plot(o, text);
    case KEY_OUTPUT:
        return take_file("--output", text, &o->output);
    case KEY_BUNDLE:
        return take_file("--bundle", text, &o->bundle);
    case KEY_QUIET:
        o->quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        return take_argument(text, o);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {.options = option_table, .parser = take_option, .doc = doc_text};

void option_parse_short_usage(void)
{
    fputs("Usage: characterize --transition FROM:TO [--machine NAME] [--output DIR]\n"
          "       characterize --table NAME | --all [--machine NAME] [--output DIR]\n"
          "       characterize --analyze TRACE.csv\n"
          "       characterize --list kernels|machines|skus|tables\n"
          "Example: characterize --transition 128fma:512fma\n"
          "characterize --help lists all options.\n",
          stderr);
}

int option_parse(int argc, char **argv, struct options *o)
{
    memset(o, 0, sizeof(*o));
    argp_err_exit_status = BAD_USAGE;
    if (option_names_check(option_table, argc, argv) != 0 || argp_parse(&parser, argc, argv, 0, NULL, o) != 0 ||
        option_conflicts_check(o) != 0)
        return BAD_USAGE;
    return -1;
}
