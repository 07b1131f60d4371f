/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/option_conflicts.h"

#include <stdio.h>
#include <string.h>

#include "cli/files.h"
#include "cli/messages.h"

enum {
    TRANSITION = 1u << JOB_TRANSITION,
    ANALYZE = 1u << JOB_ANALYZE,
    TABLE = 1u << JOB_TABLE,
    ALL = 1u << JOB_ALL,
    VALIDATE = 1u << JOB_VALIDATE,
    EXPORT = 1u << JOB_EXPORT,
    SELF_TEST = 1u << JOB_SELF_TEST,
    TABLES = TABLE | ALL | VALIDATE | EXPORT,
    SETTING = TRANSITION | TABLES, /* what is measured, and how, may be chosen */
    MEASURING = SETTING | SELF_TEST
};

/* The jobs by name, for messages. */
static const struct {
    unsigned job;
    const char *example;
} jobs[] = {{TRANSITION, "--transition FROM:TO"},
            {TABLE, "--table NAME"},
            {ALL, "--all"},
            {VALIDATE, "--validate SKU"},
            {EXPORT, "--export header"},
            {ANALYZE, "--analyze FILE"},
            {SELF_TEST, "--self-test"}};

static int belongs_elsewhere(const struct options *o, const char *option, unsigned with)
{
    char names[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        if ((with & jobs[i].job) != 0) {
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? " or " : "",
                                     jobs[i].example);
        }
    }
    if (o->job == JOB_NONE)
        complain("%s without a job: add %s", option, names);
    else if ((MEASURING & 1u << o->job) == 0 && with != TABLES && (with & MEASURING) == with)
        complain("%s cannot be combined with %s, which measures nothing", option, o->job_option);
    else
        complain("%s cannot be combined with %s; use it with %s", option, o->job_option, names);
    return -1;
}

static int check_jobs(const struct options *o)
{
    const struct {
        bool given;
        const char *name;
        unsigned with; /* jobs */
    } extras[] = {{o->machine != NULL, "--machine", MEASURING},
                  {o->cpu.given, "--cpu", MEASURING},
                  {o->n_active > 0, "--active-cores", SETTING},
                  {o->runs.given, "--runs", SETTING},
                  {o->period_us.given, "--period", SETTING},
                  {o->warmup_us.given, "--warmup", SETTING},
                  {o->observe_us.given, "--observe", SETTING},
                  {o->turbo_given, "--turbo", SETTING},
                  {o->fixed_ghz.given, "--fixed-frequency", SETTING},
                  {o->n_events > 0, "--event", TRANSITION | TABLE | ALL},
                  {o->n_kernels > 0, "--kernels", TABLES},
                  {o->n_cpus > 0, "--cpus", TABLES},
                  {o->corunner_given, "--companion", TABLES},
                  {o->siblings_given, "--siblings", TABLES},
                  {o->brief, "--brief", TABLES},
                  {o->resume, "--resume", ALL},
                  {o->input != NULL, "--input", VALIDATE | EXPORT | SELF_TEST},
                  {o->bundle != NULL, "--bundle", SELF_TEST},
                  {o->seed_given, "--seed", MEASURING | ANALYZE},
                  {o->csv != NULL, "--csv", TRANSITION | TABLE | VALIDATE | ANALYZE},
                  {o->json != NULL, "--json", TRANSITION | TABLE | VALIDATE | ANALYZE | SELF_TEST},
                  {o->plot != NULL, "--plot", TRANSITION | TABLE | ANALYZE},
                  {o->output != NULL, "--output", TRANSITION | TABLE | ALL | ANALYZE}};
    for (size_t i = 0; i < sizeof(extras) / sizeof(extras[0]); i++)
        if (extras[i].given && (extras[i].with & 1u << o->job) == 0)
            return belongs_elsewhere(o, extras[i].name, extras[i].with);
    if (o->job == JOB_NONE) {
        complain(
            "nothing to do: add --transition FROM:TO, --table NAME, --all, --analyze FILE or --list WHAT; see --help");
        return -1;
    }
    return 0;
}

static int check_machine(const struct options *o)
{
    bool changes = o->turbo_given || o->fixed_ghz.given;
    const char *change = o->turbo_given ? "--turbo" : "--fixed-frequency";
    if (changes && o->machine != NULL && strncmp(o->machine, "model:", 6) == 0) {
        complain("%s would change this machine and cannot be combined with --machine %s", change, o->machine);
        return -1;
    }
    const char *kept = o->job == JOB_SELF_TEST ? "judges readings taken earlier" : "reads tables measured earlier";
    if (o->input != NULL && (o->machine != NULL || (o->job == JOB_SELF_TEST && o->cpu.given))) {
        complain("%s cannot be combined with --input, which %s", o->machine != NULL ? "--machine" : "--cpu", kept);
        return -1;
    }
    if (o->input != NULL && o->bundle != NULL) {
        complain("--bundle cannot be combined with --input, which judges readings taken earlier");
        return -1;
    }
    if (o->input != NULL && changes) {
        complain("%s cannot be combined with --input, which reads tables measured earlier", change);
        return -1;
    }
    if (o->n_cpus > 0 && o->cpu.given && (unsigned)o->cpu.value != o->cpus[0]) {
        complain("--cpu %u is not the first of --cpus, which is the CPU measured; leave --cpu out",
                 (unsigned)o->cpu.value);
        return -1;
    }
    return 0;
}

/* What has one meaning for a transition and another for tables. */
static int check_forms(const struct options *o)
{
    if (o->job == JOB_TRANSITION && o->n_active > 1) {
        complain("--active-cores: --transition takes one number; --table and --all take a list");
        return -1;
    }
    for (size_t i = 0; i < o->n_events; i++) {
        if (o->job == JOB_TRANSITION && o->events[i].select_only) {
            complain(
                "--event: '%s' has no umask; allowed: EVENT:UMASK[:cmask=N][:inv][:edge] as in 0x28:0x08, or a name",
                o->events[i].text);
            return -1;
        }
    }
    if (o->job != JOB_TRANSITION && o->warmup_us.given && o->warmup_us.value <= 0) {
        complain("--warmup: '0' works with --transition only, because tables need settled code; allowed: above 0, up "
                 "to 1000000 microseconds");
        return -1;
    }
    if ((o->job == JOB_TABLE || o->job == JOB_ALL) && o->n_events > 1) {
        complain("--event: --table umask takes a single event");
        return -1;
    }
    if ((o->job == JOB_TABLE || o->job == JOB_ALL) && o->n_events > 0 && !o->events[0].select_only) {
        complain(
            "--event: '%s': give the event select alone, as in 0x28: every umask is tried, without cmask, inv or edge",
            o->events[0].text);
        return -1;
    }
    return 0;
}

/* What one table takes and another does not, as their kinds say. */
static int check_table(const struct options *o)
{
    const struct {
        bool given;
        const char *name;
    } options[TABLES_CHOICES] = {[CHOICE_WARMUP] = {o->warmup_us.given, "--warmup"},
                                 [CHOICE_OBSERVE] = {o->observe_us.given, "--observe"},
                                 [CHOICE_SIBLINGS] = {o->siblings, "--siblings busy"},
                                 [CHOICE_CORUNNER] = {o->corunner_given && !o->corunner_same, "--companion"}};
    if (o->job != JOB_TABLE)
        return 0;
    for (size_t i = 0; i < TABLES_CHOICES; i++)
        if (options[i].given && o->table->excluded[i] != NULL) {
            complain("%s cannot be combined with --table %s: %s", options[i].name, o->table->name,
                     o->table->excluded[i]);
            return -1;
        }
    if (o->n_events == 0 || o->table->takes_event)
        return 0;
    char names[200] = "";
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    for (size_t i = 0, used = 0; i < n && used < sizeof(names); i++)
        if (kinds[i]->takes_event)
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s--table %s", used > 0 ? " or " : "",
                                     kinds[i]->name);
    complain("--event cannot be combined with --table %s; use it with %s", o->table->name, names);
    return -1;
}

/* Two outputs of one name would overwrite each other. */
static int option_conflicts_check_names(const struct options *o)
{
    const char *names[] = {o->csv, o->json, o->plot, o->bundle};
    const char *options[] = {"--csv", "--json", "--plot", "--bundle"};
    return files_differ(names, options, 4) == DONE ? 0 : -1;
}

int option_conflicts_check(const struct options *o)
{
    return check_jobs(o) != 0 || check_machine(o) != 0 || check_forms(o) != 0 || check_table(o) != 0 ||
                   option_conflicts_check_names(o) != 0
               ? -1
               : 0;
}
