/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of all options, and its way through argp into struct options. */
#include "cli/options/options.h"

#include <argp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/plot/plot.h"
#include "cli/messages.h"
#include "cli/options/option_parts.h"
#include "drivers/events/event_code.h"
#include "tables/table/tables.h"
#include "util/edit_distance.h"
#include "util/text_list.h"

/* For argp; FIRST_KEY: of option_table[0]. */
enum { HELP_KEY = '?', VERSION_KEY = 'V', HELP_ALL_KEY = 0x100, USAGE_KEY, FIRST_KEY };

/* Names that the argument of a job may have, and what later work does with it. */
static const char *const list_names[] = {[LIST_KERNELS] = "kernels",
                                         [LIST_MACHINES] = "machines",
                                         [LIST_SKUS] = "skus",
                                         [LIST_TABLES] = "tables",
                                         [LIST_WORKLOADS] = "workloads",
                                         [LIST_OPTIONS] = "options",
                                         NULL};
static const char *const export_names[] = {"header", "json", NULL};
static const char *const check_names[] = {"environment", NULL};

/* The index of a name in a list that ends in NULL, or of the only one that begins so; else -1 after a line. */
static int find_name(const struct option_row *p, const char *const *names, const char *name)
{
    char all[200] = "", like[200] = "", nearest[60] = "";
    int found = -1, n = 0;
    unsigned least = edit_guess(strlen(name));
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
        if (name[0] != '\0' && strncmp(names[i], name, strlen(name)) == 0) {
            text_list_add(like, sizeof(like), ", ", "%s", names[i]);
            found = i;
            n++;
        }
        text_list_add(all, sizeof(all), ", ", "%s", names[i]);
        if (edit_nearer(name, strlen(name), names[i], &least))
            snprintf(nearest, sizeof(nearest), ", perhaps %s", names[i]);
    }
    if (n == 1)
        return found;
    if (n > 1)
        complain("--%s: '%s' is ambiguous: %s", p->name, name, like);
    else
        complain("--%s: unknown '%s'%s; one of: %s", p->name, name, nearest, all);
    return -1;
}

/* ---- options that are taken alike ---- */

static int take_real(const struct option_row *p, const char *text, struct options *o, option_reader *read)
{
    struct given_number *out = option_field(p, o);
    const char *wrong = read(text, p->lo, p->hi, &out->value);
    out->given = wrong == NULL;
    return wrong == NULL ? 0 : option_bad_value(p, text, wrong, p->allowed);
}

static int take_number(const struct option_row *p, const char *text, struct options *o)
{
    return take_real(p, text, o, option_number);
}

/* In microseconds, or with a unit. */
static int take_time(const struct option_row *p, const char *text, struct options *o)
{
    return take_real(p, text, o, option_time);
}

static int take_whole(const struct option_row *p, const char *text, struct options *o)
{
    struct given_number *out = option_field(p, o);
    uint64_t value = 0;
    const char *wrong = option_whole(text, (uint64_t)p->lo, (uint64_t)p->hi, &value);
    out->given = wrong == NULL;
    out->value = (double)value;
    return wrong == NULL ? 0 : option_bad_value(p, text, wrong, p->allowed);
}

/* A simulation has fewer than a measurement may. */
static int take_runs(const struct option_row *p, const char *text, struct options *o)
{
    struct option_row simulated = *p;
    simulated.hi = SIM_RUNS_MAX;
    simulated.allowed = SIM_RUNS_ALLOWED;
    return take_whole(o->program->job == JOB_SIMULATE ? &simulated : p, text, o);
}

static int take_flag(const struct option_row *p, const char *text, struct options *o)
{
    (void)text;
    *(bool *)option_field(p, o) = true;
    return 0;
}

static int take_file(const struct option_row *p, const char *text, struct options *o)
{
    if (text[0] == '\0')
        return p->allowed != NULL ? option_bad_value(p, text, "is empty", p->allowed)
                                  : refuse(BAD_USAGE, "--%s: the name is empty", p->name);
    *(const char **)option_field(p, o) = text;
    return 0;
}

/* on or off */
static int take_on_off(const struct option_row *p, const char *text, struct options *o)
{
    struct given_switch *out = option_field(p, o);
    out->on = strcmp(text, "on") == 0;
    out->given = out->on || strcmp(text, "off") == 0;
    return out->given ? 0 : option_bad_value(p, text, "is neither", "on, off");
}

static int take_job(const struct option_row *p, const char *text, struct options *o)
{
    int named = p->names != NULL ? find_name(p, p->names, text) : 0;
    if (named < 0)
        return BAD_USAGE;
    if (o->job != JOB_NONE && strcmp(o->job_option, p->name) == 0)
        return refuse(BAD_USAGE, "--%s is given twice: one job at a time", p->name);
    if (o->job != JOB_NONE)
        return refuse(BAD_USAGE, "--%s and --%s cannot be combined: one job at a time", o->job_option, p->name);
    o->job = (enum job)p->at;
    o->job_option = p->name;
    o->job_argument = p->names != NULL ? p->names[named] : text;
    return 0;
}

static int take_file_job(const struct option_row *p, const char *text, struct options *o)
{
    return text[0] == '\0' ? refuse(BAD_USAGE, "--%s: the name is empty", p->name) : take_job(p, text, o);
}

/* ---- and those that are not ---- */

/* FROM:TO into the two kernels. */
static int take_transition(const struct option_row *p, const char *text, struct options *o)
{
    char from[256], why[400];
    const char *colon = strchr(text, ':');
    if (colon == NULL || colon == text || colon[1] == '\0' || strchr(colon + 1, ':') != NULL ||
        (size_t)(colon - text) >= sizeof(from))
        return refuse(BAD_USAGE, "--transition: '%s' is not of the form FROM:TO, as in 128fma:512fma", text);
    memcpy(from, text, (size_t)(colon - text));
    from[colon - text] = '\0';
    if (option_kernel(o, from, &o->from, why, sizeof(why)) != 0 ||
        option_kernel(o, colon + 1, &o->to, why, sizeof(why)) != 0)
        return refuse(BAD_USAGE, "--transition %s: %s", text, why);
    return take_job(p, text, o);
}

static int take_list(const struct option_row *p, const char *text, struct options *o)
{
    int list = find_name(p, list_names, text);
    if (list < 0)
        return BAD_USAGE;
    o->list = (enum list)list;
    return take_job(p, list_names[list], o);
}

static int take_table(const struct option_row *p, const char *text, struct options *o)
{
    const char *names[32] = {NULL};
    size_t n;
    const struct table_kind *const *tables = tables_all(&n);
    for (size_t i = 0; i < n && i < 31; i++)
        names[i] = tables[i]->name;
    int table = find_name(p, names, text);
    if (table < 0)
        return BAD_USAGE;
    o->table = tables[table];
    return take_job(p, tables[table]->name, o);
}

static int take_beside(const struct option_row *p, const char *text, struct options *o)
{
    const int status = option_take_codes(p, text, o);
    return status != 0 ? status : take_job(p, text, o);
}

static int take_clocks(const struct option_row *p, const char *text, struct options *o)
{
    const int status = option_take_clocks(p, text, o);
    return status != 0 ? status : take_job(p, text, o);
}

static int take_seed(const struct option_row *p, const char *text, struct options *o)
{
    const char *wrong = option_whole(text, 0, UINT64_MAX, &o->tables.seed);
    o->seed_given = wrong == NULL;
    return wrong == NULL ? 0 : option_bad_value(p, text, wrong, "0 to 18446744073709551615");
}

/* A code, or what may be a name: letters, digits, dots and underscores, beginning with a letter. */
static int take_event(const struct option_row *p, const char *text, struct options *o)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    struct given_event e = {.text = text};
    bool name = text[0] != '\0' && strchr(letters, text[0]) != NULL;
    if (name && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._") != strlen(text))
        return refuse(BAD_USAGE, "--event: '%s' is neither an event name nor a code like 0x28:0x08", text);
    uint64_t select = 0;
    e.select_only = !name && option_event_select(text, &select) == NULL;
    e.code = event_code_make((unsigned)select, 0);
    const char *wrong = name || e.select_only ? NULL : event_code_parse(text, &e.code);
    if (wrong != NULL)
        return option_bad_value(p, text, wrong, "EVENT:UMASK[:cmask=N][:inv][:edge] as in 0x28:0x08, or a name");
    e.is_code = !name;
    if (o->n_events == EVENTS_GIVEN_MAX)
        return refuse(BAD_USAGE, "--event: '%s' is one too many; the limit is %d events", text, EVENTS_GIVEN_MAX);
    o->events[o->n_events++] = e;
    return 0;
}

static int take_corunner(const struct option_row *p, const char *text, struct options *o)
{
    char why[400];
    o->corunner_given = true;
    o->tables.corunner_same = strcmp(text, "same") == 0;
    if (!o->tables.corunner_same && option_kernel(o, text, &o->tables.corunner, why, sizeof(why)) != 0)
        return refuse(BAD_USAGE, "--%s: %s; 'same' works, too", p->name, why);
    return 0;
}

static int take_siblings(const struct option_row *p, const char *text, struct options *o)
{
    o->tables.siblings = strcmp(text, "busy") == 0;
    return o->tables.siblings || strcmp(text, "idle") == 0 ? 0 : option_bad_value(p, text, "is neither", "idle, busy");
}

static int take_recorded(const struct option_row *p, const char *text, struct options *o)
{
    return sim_parse_recorded(text, &o->simulate.recorded)
               ? 0
               : option_bad_value(p, text, "is not a frequency in GHz", SIM_RECORDED_ALLOWED);
}

static int take_plot(const struct option_row *p, const char *text, struct options *o)
{
    enum plot_form form;
    if (plot_form_of(text, &form) != 0)
        return refuse(BAD_USAGE, "--%s: '%s' ends in neither .svg nor .png", p->name, text);
    o->plot = text;
    return 0;
}

/* ---- all of them ---- */

#define AT(field) offsetof(struct options, field)

static const struct option_row option_table[] = {
    {.about = "Jobs, one of:"},
    {"verdict", NULL, "Report whether 256-bit and 512-bit code pays on this processor, and what follows for programs",
     WITH_VERDICT, .take = take_job, JOB_VERDICT},
    {"transition", "FROM:TO", "Run kernel FROM, then kernel TO, and find the phases in between (--list kernels)",
     WITH_TRANSITION, .take = take_transition, JOB_TRANSITION},
    {"beside", "KERNEL,...",
     "Run a command again and again, beside nothing and beside these kernels: what it costs: --beside 256fma,512fma -- "
     "COMMAND ARG...",
     WITH_BESIDE, .take = take_beside, JOB_BESIDE},
    {"clocks", "GHZ,GHZ",
     "Run a command again and again at these fixed frequencies (root): what each costs, and the share of its cycles "
     "that does not follow the clock: --clocks 2.8,1.9 -- COMMAND ARG...",
     WITH_BESIDE, .take = take_clocks, JOB_BESIDE},
    {"which", "FILE[:FUNCTION]",
     "Run the wide code of a program or library, block by block: which functions and instructions lift the turbo class",
     WITH_WHICH, .take = take_file_job, JOB_WHICH},
    {"table", "NAME", "Measure a table (--list tables)", WITH_TABLE, .take = take_table, JOB_TABLE},
    {"all", NULL, "Measure every table into a directory, with a report (report.html)", WITH_ALL, .take = take_job,
     JOB_ALL},
    {"validate", "SKU", "Compare the measurement with published figures (--list skus): status 4 if it deviates",
     WITH_VALIDATE, .take = take_job, JOB_VALIDATE},
    {"draft-sku", "FILE", "Write the entry that the measurement supports, to compare others with: --validate FILE",
     WITH_DRAFT, .take = take_file_job, JOB_DRAFT},
    {"compare", "DIR DIR...",
     "Compare measurements: directories that --all made, of two or of a thousand machines. What differs, which machine "
     "is unlike the others",
     WITH_COMPARE, .take = take_file_job, JOB_COMPARE},
    {"export", "FORM",
     "Write the parameters that schedulers need, as header or json: --export header FILE.h (without FILE: to standard "
     "output)",
     WITH_EXPORT, .take = take_job, JOB_EXPORT, .names = export_names},
    {"analyze", "FILE", "Find the phases of a trace, or the stages in a recording of first uses; - is standard input",
     WITH_ANALYZE, .take = take_file_job, JOB_ANALYZE},
    {"simulate", "WORKLOAD",
     "Replay a workload (a CSV file; text of perf script, trace-cmd report or systrace, or Perfetto's JSON; - for "
     "standard input; or a drawn one by name) on a processor with exported parameters, under several frequency "
     "policies and schedulers",
     WITH_SIMULATE, .take = take_file_job, JOB_SIMULATE},
    {"profile", NULL,
     "Sample how much other code's wide instructions slow each task of the system, for --seconds or while a command "
     "runs: --profile -- COMMAND ARG...",
     WITH_PROFILE, .take = take_job, JOB_PROFILE},
    {"self-test", NULL, "Check each counter of the machine against code with known counts: status 4 if one is wrong",
     WITH_SELF_TEST, .take = take_job, JOB_SELF_TEST},
    {"check", "environment",
     "Show what disturbs measurements on this computer, at what cost, and the commands that change it", WITH_CHECK,
     .take = take_job, JOB_CHECK, .names = check_names},
    {"list", "WHAT", "List kernels, machines, skus, tables, workloads or options", WITH_LIST, .take = take_list,
     JOB_LIST, .names = list_names},
    {"restore", NULL, "Restore machine settings that a killed run left changed", WITH_RESTORE, .take = take_job,
     JOB_RESTORE},
    {.about = "What to measure on, and how (--transition and tables):"},
    {"machine", "NAME", "auto, timing, perf, msr, helper, model:NAME or model:FILE (default: auto)",
     WITH_MEASURING | WITH_PROFILE, .take = take_file, AT(machine)},
    {"cpu", "N", "Logical CPU to measure on (default: the machine's choice)", WITH_MEASURING | WITH_CHECK | WITH_LIST,
     .take = take_whole, AT(cpu), 0, 8191, "0 to 8191"},
    {"active-cores", "N",
     "Cores kept busy, including the measured one (default: all); for tables also a list: 1,2,4-8,all; with "
     "--simulate: "
     "active at all times (default: counted)",
     WITH_SETTING | WITH_VERDICT | WITH_SIMULATE | WITH_WHICH, .take = option_take_cores},
    {"runs", "N",
     "Repetitions (default: 100, and of a switch more until its limits are narrow, for 3 s at most; each table "
     "has its own; with --simulate, of drawn workloads: 20, " SIM_RUNS_ALLOWED "; with --beside and --which: rounds)",
     WITH_SETTING | WITH_VERDICT | WITH_SIMULATE | WITH_BESIDE | WITH_WHICH, .take = take_runs, AT(runs), 1, 100000,
     "1 to 100000; with --simulate " SIM_RUNS_ALLOWED},
    {"period", "US",
     "Sampling period in microseconds (default: 1; 0.5 where the second kernel starts slowly for less than 5)",
     WITH_SETTING, .take = take_time, AT(period_us), 0.1, 1000, "0.1 to 1000 microseconds (also 0.5us, 1ms)"},
    {"warmup", "US", "Warm-up: microseconds of FROM before recording (default: 2500)", WITH_SETTING, .take = take_time,
     AT(warmup_us), 0, 1e6, "0 to 1000000 microseconds"},
    {"observe", "US",
     "Microseconds of TO to record (default: 150; 1500 if FROM is the heavier kernel; up to 500000 while it changes). "
     "Beyond 5000 the period grows",
     WITH_SETTING, .take = take_time, AT(observe_us), 1, 1e6, "1 to 1000000 microseconds"},
    {"event", "EVENT:UMASK|NAME",
     "Also count this event, as a column of the trace (0x28:0x08); up to four times. With --table umask: the event "
     "whose umasks are tried (0x28)",
     WITH_TRANSITION | WITH_TABLE | WITH_ALL, .take = take_event},
    {"seed", "N",
     "Seed of models, of the bootstrap and of the intervals of --profile: same seed, same output (default: 0); also "
     "with --analyze and --simulate",
     WITH_MEASURING | WITH_ANALYZE | WITH_SIMULATE | WITH_PROFILE, .take = take_seed},
    {"turbo", "on|off", "Switch turbo on or off during the measurement (root)",
     WITH_SETTING | WITH_VERDICT | WITH_BESIDE | WITH_WHICH, .take = take_on_off, AT(turbo)},
    {"fixed-frequency", "GHZ", "Fix the frequency of all CPUs during the measurement (root)",
     WITH_SETTING | WITH_VERDICT | WITH_BESIDE | WITH_WHICH, .take = take_number, AT(fixed_ghz), 0.1, 20,
     "0.1 to 20 GHz"},
    {"quiet-machine", "PARTS",
     "Quiet the computer for the run, as far as permitted; PARTS of "
     "governor,epp,turbo,cstates,smt,irq,workqueue,tick,isolate "
     "(default: all but turbo and smt)",
     WITH_MEASURING | WITH_LIST, .take = option_take_quiet, .optional = true},
    {"interference", "NAME", "Disturb the measurement: make, memory or script", WITH_MEASURING,
     .take = option_take_interference},
    {"sysroot", "DIR",
     "Read (and with --quiet-machine, --restore write) DIR/sys, DIR/proc, ... instead of this machine",
     WITH_CHECK | WITH_RESTORE | WITH_LIST | WITH_MEASURING, .take = take_file, AT(sysroot)},
    {"strict", NULL, "With --check: status 4 if anything disturbs", WITH_CHECK, .take = take_flag, AT(strict)},
    {.about = "What tables cover:"},
    {"kernels", "LIST", "Only these kernels: 128fma,512fma (default: each table's own)", WITH_TABLES,
     .take = option_take_kernels},
    {"kernel-file", "FILE",
     "A block of instructions of your own as a kernel: FILE.asm, FILE.bin or FILE.so, whose name without folder and "
     "suffix is that of the kernel (--transition 128fma:FILE); may be repeated",
     WITH_TRANSITION | WITH_TABLE | WITH_ALL | WITH_LIST, .take = option_take_block},
    {"cpus", "LIST", "The order in which CPUs become active, one per core: 0,2,4-7; the first is measured", WITH_TABLES,
     .take = option_take_cpus},
    {"companion", "KERNEL|same",
     "What the other active cores (co-runners) run; same: the measured core's kernel (default: 64add)", WITH_TABLES,
     .take = take_corunner},
    {"siblings", "idle|busy", "The SMT siblings of active cores (default: idle)", WITH_TABLES, .take = take_siblings},
    {"burst", "N,T",
     "Only this row of --table burst: bursts of N instructions every T microseconds (also 10us, 1ms, 0.1s); with "
     "--verdict T alone: the time of a burst's work in 128-bit code (default: 100us)",
     WITH_TABLE | WITH_ALL | WITH_VERDICT, .take = option_take_burst},
    {"share", "PERCENT", "With --verdict: how much of the work can be wide (default: 10)", WITH_VERDICT,
     .take = take_number, AT(verdict.share), 0.01, 100, "0.01 to 100 percent"},
    {"speedup", "S",
     "With --verdict: how much faster the widest code does its work than 128-bit code (default: as "
     "measured)",
     WITH_VERDICT, .take = take_number, AT(verdict.speedup), 0.1, 100, "0.1 to 100"},
    {"on", "PLACE",
     "With --beside: where the kernels run: same (the command's CPU), sibling (its core's other threads), core (all "
     "other cores, the default), package (all CPUs, over which the command may move)",
     WITH_BESIDE, .take = option_take_place},
    {"duty", "ON,EVERY",
     "With --beside: the kernels run for ON of each EVERY microseconds (also 1ms), 64add in between (default: without "
     "a pause)",
     WITH_BESIDE, .take = option_take_duty},
    {"brief", NULL, "Fewer kernels, core counts and repetitions: a first look", WITH_TABLES | WITH_VERDICT | WITH_WHICH,
     .take = take_flag, AT(tables.brief)},
    {.about = "What --simulate plays, and how:"},
    {"params", "EXPORT.json",
     "The processor, as --export json wrote it (--simulate: required; --profile: its turbo frequencies and waits)",
     WITH_SIMULATE | WITH_PROFILE, .take = take_file, AT(params)},
    {"policy", "LIST", "Of stock,timeout,oracle,software,learned,never (default: all)", WITH_SIMULATE,
     .take = option_take_policies},
    {"scheduler", "LIST",
     "Of fair, fair-subtract, fair-attribute, core, specialize, specialize-always: tasks are rescheduled (default: as "
     "recorded)",
     WITH_SIMULATE, .take = option_take_schedulers},
    {"switching", "SWITCH,MIGRATION,FAULT",
     "With --scheduler: what each costs a task, microseconds (default: as the export says)", WITH_SIMULATE,
     .take = option_take_switching},
    {"smt", "on|off", "Whether siblings share a core (default: if they are known)", WITH_SIMULATE, .take = take_on_off,
     AT(simulate.smt)},
    {"recorded-ghz", "GHZ", "The constant frequency at which the workload was recorded", WITH_SIMULATE,
     .take = take_recorded},
    {"siblings-map", "LIST", "CPUs that share a core: 0-1,2-3; or machine: those of this one, if recorded here",
     WITH_SIMULATE, .take = take_file, AT(simulate.siblings), 0, 0, "0-1,2-3, or machine"},
    {"wide", "WHO=CLASS",
     "Tasks in perf script text that run wide code: a name with * and ?, or a thread or process ID; CLASS is "
     "256light, "
     "256heavy, 512light or 512heavy; may be repeated",
     WITH_SIMULATE, .take = option_take_mark},
    {"stamps", "FILE[=CLASS]", "Start and end of each thread's wide phases in perf script text", WITH_SIMULATE,
     .take = option_take_stamps},
    {"timeout", "US", "T of policy timeout in microseconds (default: the break-even time)", WITH_SIMULATE,
     .take = take_time, AT(timeout_us), 0, 1e9, "0 to 1000000000 microseconds"},
    {"what-if", NULL, "Also show which change of the processor's parameters would help most", WITH_SIMULATE,
     .take = take_flag, AT(simulate.what_if)},
    {.about = "What --profile does:"},
    {"seconds", "N",
     "Duration (default: 30, or until COMMAND ends; Ctrl-C ends it earlier; with --check: duration of counting, 1; "
     "with "
     "--verdict (5 or more; 60, with --brief 20) --beside (60) and --which (10, with --brief 3; as long "
     "again to find what lifts the class): time that it may take)",
     WITH_PROFILE | WITH_CHECK | WITH_VERDICT | WITH_BESIDE | WITH_WHICH, .take = take_number, AT(profile.seconds), 0.1,
     604800, "0.1 to 604800 seconds"},
    {"rate", "HZ", "Samples per second, all CPUs together (default: 50)", WITH_PROFILE, .take = take_number,
     AT(profile.rate_hz), 0.1, 250, "0.1 to 250"},
    {"sources", NULL, "Split overhead into that due to siblings and that due to levels still held", WITH_PROFILE,
     .take = take_flag, AT(profile.sources)},
    {"folded", "FILE", "Write folded stacks of the code that demands levels, for flame graphs", WITH_PROFILE,
     .take = take_file, AT(profile.folded)},
    {"rehearsal", NULL, "Timers and pauses only, nothing is counted: to see how profiling affects this system",
     WITH_PROFILE, .take = take_flag, AT(profile.rehearsal)},
    {"live", NULL, "Show results while profiling, like top (default: if standard output is a terminal)", WITH_PROFILE,
     .take = take_flag, AT(profile.live)},
    {"no-live", NULL, "Only print the result at the end", WITH_PROFILE, .take = take_flag, AT(profile.no_live)},
    {.about = "Output:"},
    {"csv", "FILE", "Write the trace, the table, the verdicts, the comparison or the profile; - is standard output",
     WITH_TRANSITION | WITH_TABLE | WITH_VALIDATE | WITH_COMPARE | WITH_ANALYZE | WITH_PROFILE | WITH_BESIDE |
         WITH_WHICH,
     .take = take_file, AT(csv)},
    {"json", "FILE",
     "Write the result (phases, table, verdict, comparison, self-test, profile, ...); - is standard output",
     WITH_TRANSITION | WITH_TABLE | WITH_VERDICT | WITH_VALIDATE | WITH_ANALYZE | WITH_SELF_TEST | WITH_SIMULATE |
         WITH_PROFILE | WITH_CHECK | WITH_COMPARE | WITH_BESIDE | WITH_WHICH,
     .take = take_file, AT(json)},
    {"plot", "FILE", "Draw FILE.svg or FILE.png (needs gnuplot)",
     WITH_TRANSITION | WITH_TABLE | WITH_COMPARE | WITH_ANALYZE | WITH_SIMULATE | WITH_PROFILE, .take = take_plot},
    {"output", "DIR",
     "Write all files into this directory (--transition, --table: by default characterize-out; --all: "
     "characterize-all)",
     WITH_TRANSITION | WITH_TABLE | WITH_ALL | WITH_COMPARE | WITH_ANALYZE | WITH_SIMULATE | WITH_PROFILE |
         WITH_BESIDE | WITH_WHICH,
     .take = take_file, AT(output)},
    {"resume", NULL, "With --all: continue an interrupted run in its directory", WITH_ALL, .take = take_flag,
     AT(resume)},
    {"input", "DIR",
     "With --verdict, --validate, --draft-sku, --export: use the tables that --all measured into DIR; with "
     "--self-test: "
     "re-evaluate the readings of this bundle",
     WITH_VERDICT | WITH_VALIDATE | WITH_DRAFT | WITH_EXPORT | WITH_SELF_TEST, .take = take_file, AT(input)},
    {"bundle", "FILE.tar.gz",
     "With --self-test: also write a bundle to share: readings, verdicts, processor; no host or user names",
     WITH_SELF_TEST, .take = take_file, AT(bundle)},
    {"junit", "FILE.xml", "With --validate: write the verdicts as JUnit XML, a test case for each figure",
     WITH_VALIDATE, .take = take_file, AT(junit)},
    {"quiet", NULL, "Print results and errors only", WITH_ANY, .take = take_flag, AT(quiet)},
};
enum { N_OPTIONS = sizeof(option_table) / sizeof(option_table[0]) };

/* After all others in the list (group -1). argp must not add its own: its --help would print the entire list. */
static const struct argp_option help_options[] = {{"help", HELP_KEY, NULL, 0, "Show the main options", -1},
                                                  {"help-all", HELP_ALL_KEY, NULL, 0, "Show this list", -1},
                                                  {"usage", USAGE_KEY, NULL, 0, "Show a short usage message", -1},
                                                  {"version", VERSION_KEY, NULL, 0, "Show the version", -1}};
enum { N_HELP_OPTIONS = sizeof(help_options) / sizeof(help_options[0]) };

void option_list(FILE *out)
{
    for (int i = 0; i < N_OPTIONS; i++) {
        const struct option_row *p = &option_table[i];
        char argument[200] = "";
        if (p->name == NULL)
            continue;
        for (size_t k = 0; p->names != NULL && p->names[k] != NULL; k++)
            text_list_add(argument, sizeof(argument), "|", "%s", p->names[k]);
        if (p->names == NULL && p->argument != NULL)
            snprintf(argument, sizeof(argument), "%s", p->argument);
        fprintf(out, "--%s\t%s\t%s\n", p->name, argument, p->about);
    }
}

/* The state of parse_option(). */
struct parsing {
    struct options *options;
    bool given[N_OPTIONS];
};

/* One more directory of --compare. */
static int take_other(const char *text, struct options *o)
{
    if (text[0] == '\0')
        return refuse(BAD_USAGE, "--compare: the name of directory %zu is empty", o->n_others + 2);
    const char **more = realloc(o->others, (o->n_others + 1) * sizeof(*more));
    if (more == NULL)
        return complain_out_of_memory();
    o->others = more;
    more[o->n_others++] = text;
    return 0;
}

/* The file of --export header FILE and --export json FILE, a directory of --compare, or the workload of a program that
 * simulates; others have none. */
static int take_argument(const char *text, struct options *o)
{
    static const struct option_row export_file = {.name = "export", .at = AT(file)},
                                   workload = {.name = "simulate", .at = JOB_SIMULATE};
    if (o->job == JOB_EXPORT && o->file == NULL)
        return take_file(&export_file, text, o);
    if (o->job == JOB_COMPARE)
        return take_other(text, o);
    if (o->program->job == JOB_SIMULATE && o->job_argument == NULL) {
        o->job = JOB_NONE;
        return take_file_job(&workload, text, o);
    }
    if (o->job == JOB_SIMULATE)
        return refuse(BAD_USAGE, "unexpected argument '%s'; one workload at a time", text);
    if (o->job == JOB_PROFILE || o->program->job == JOB_PROFILE)
        return refuse(BAD_USAGE, "unexpected argument '%s'; a command to profile follows --: %s-- %s", text,
                      o->program->job == JOB_PROFILE ? "" : "--profile ", text);
    if (o->job == JOB_BESIDE)
        return refuse(BAD_USAGE, "unexpected argument '%s'; the command follows --: --%s %s -- %s", text, o->job_option,
                      o->job_argument, text);
    if (o->job != JOB_NONE)
        return refuse(BAD_USAGE, "unexpected argument '%s'; one too many for --%s", text, o->job_option);
    return refuse(BAD_USAGE,
                  "unexpected argument '%s'; use --analyze FILE for a recorded trace, --transition FROM:TO for kernels",
                  text);
}

/* True if a line is about the option of this name. */
static bool is_about(const char *line, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(line, "--", 2) == 0 && strncmp(line + 2, name, length) == 0 &&
           strchr(" [", line[2 + length]) != NULL;
}

static const char *option_about(const char *text)
{
    for (int i = 0; i < N_OPTIONS; i++)
        if (option_table[i].name != NULL && is_about(text, option_table[i].name))
            return option_table[i].about;
    return "";
}

/* The options that print something and end the program. Whether this is one of them. */
static bool print_help(int key, struct argp_state *state)
{
    unsigned parts = ARGP_HELP_EXIT_OK;
    switch (key) {
    case HELP_KEY:
        option_help(stdout, ((struct parsing *)state->input)->options->program, option_about);
        break;
    case HELP_ALL_KEY:
        parts |= ARGP_HELP_STD_HELP;
        break;
    case USAGE_KEY:
        parts |= ARGP_HELP_USAGE;
        break;
    case VERSION_KEY:
        printf("%s " VERSION "\n", ((struct parsing *)state->input)->options->program->name);
        break;
    default:
        return false;
    }
    argp_state_help(state, stdout, parts);
    return true;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct parsing *s = state->input;
    if (key == ARGP_KEY_ARG)
        return take_argument(text, s->options);
    if (print_help(key, state))
        return 0;
    if (key < FIRST_KEY || key >= FIRST_KEY + N_OPTIONS)
        return ARGP_ERR_UNKNOWN;
    const struct option_row *p = &option_table[key - FIRST_KEY];
    s->given[key - FIRST_KEY] = true;
    if (s->options->n_given < OPTIONS_GIVEN_MAX)
        s->options->given[s->options->n_given++] = (struct given_option){p->name, text};
    return p->take(p, text, s->options);
}

/* The first time argp sees the options: files of kernels alone. */
struct blocks_pass {
    struct options *options;
    int status;
};

static error_t parse_blocks(int key, char *text, struct argp_state *state)
{
    struct blocks_pass *s = state->input;
    bool file = key >= FIRST_KEY && key < FIRST_KEY + N_OPTIONS &&
                option_table[key - FIRST_KEY].take == option_take_block;
    if (file && s->status == 0)
        s->status = option_load_block(text, s->options);
    return 0;
}

static int load_blocks(const struct argp *all, int argc, char **argv, struct options *o)
{
    struct blocks_pass s = {o, 0};
    const struct argp parser = {.options = all->options, .parser = parse_blocks};
    argp_parse(&parser, argc, argv, ARGP_SILENT, NULL, &s);
    return s.status;
}

/* Takes what follows "--": the command to run; for jobs that run none, arguments. */
static int take_rest(char **rest, struct options *o)
{
    const bool runs = o->job == JOB_PROFILE || o->job == JOB_BESIDE;
    if (runs && *rest == NULL)
        return refuse(BAD_USAGE, "--%s: no command after --", o->job_option);
    if (runs && **rest == '\0')
        return refuse(BAD_USAGE, "--%s: the name of the command is empty", o->job_option);
    if (runs)
        *(o->job == JOB_BESIDE ? &o->beside.command : &o->profile.command) = rest;
    for (; !runs && *rest != NULL; rest++)
        if (take_argument(*rest, o) != 0)
            return BAD_USAGE;
    return 0;
}

/* The job of a program that does one alone: characterize names it when it calls such a program. */
static bool is_own_job(const struct option_program *program, const struct option_row *p)
{
    return program->job != JOB_NONE && p->at == program->job && (p->take == take_job || p->take == take_file_job);
}

/* Returns true if a program has an option or a heading: with a single job it has no headings. */
static bool program_has(const struct option_program *program, const struct option_row *p)
{
    return program->job == JOB_NONE || (p->name != NULL && (p->jobs & 1u << program->job) != 0);
}

/* What a program says of an option, or else all do. */
static const char *about_for(const struct option_program *program, const struct option_row *p)
{
    for (size_t i = 0; p->name != NULL && i < program->n_help; i++)
        if (program->help[i].about != NULL && is_about(program->help[i].text, p->name))
            return program->help[i].about;
    return p->about;
}

/* The options of a program, for argp. */
static void list_for_argp(const struct option_program *program, struct argp_option *list)
{
    for (int i = 0; i < N_OPTIONS; i++) {
        const struct option_row *p = &option_table[i];
        if (program_has(program, p))
            *list++ = (struct argp_option){.name = p->name,
                                           .key = p->name != NULL ? FIRST_KEY + i : 0,
                                           .arg = p->argument,
                                           .doc = about_for(program, p),
                                           .flags = (p->optional ? OPTION_ARG_OPTIONAL : 0) |
                                                    (is_own_job(program, p) ? OPTION_HIDDEN : 0)};
    }
    memcpy(list, help_options, sizeof(help_options));
}

int option_parse(int argc, char **argv, const struct option_program *program, struct options *o)
{
    int end;
    struct argp_option list[N_OPTIONS + N_HELP_OPTIONS + 1] = {0};
    struct parsing s = {.options = o};
    const struct argp parser = {.options = list,
                                .parser = parse_option,
                                .args_doc = program->arguments,
                                .doc = program->about != NULL ? program->about : option_help_doc};
    memset(o, 0, sizeof(*o));
    o->program = program;
    list_for_argp(program, list);
    argp_err_exit_status = BAD_USAGE;
    option_help_width();
    if (option_names_check(list, argc, argv, &end) != 0)
        return BAD_USAGE;
    int status = load_blocks(&parser, end, argv, o);
    if (status != 0)
        return status;
    if (argp_parse(&parser, end, argv, ARGP_NO_HELP, NULL, &s) != 0)
        return BAD_USAGE;
    if (o->job == JOB_NONE) {
        o->job = program->job;
        o->job_option = program->job_option;
    }
    if (end < argc && take_rest(argv + end + 1, o) != 0)
        return BAD_USAGE;
    for (int i = 0; i < N_OPTIONS; i++)
        if (s.given[i] && option_conflicts_with_job(o, option_table[i].name, option_table[i].jobs) != 0)
            return BAD_USAGE;
    return option_conflicts_check(o) != 0 ? BAD_USAGE : -1;
}
