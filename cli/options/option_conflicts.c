/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Refuses options that do not go with the job or with each other. */
#include <stdio.h>
#include <string.h>

#include "cli/files.h"
#include "cli/messages.h"
#include "cli/options/option_parts.h"
#include "computer/settings/settings.h"
#include "util/text_list.h"

/* The jobs by name, for messages. */
static const struct {
    unsigned job;
    const char *example;
} jobs[] = {{WITH_TRANSITION, "--transition FROM:TO"},
            {WITH_VERDICT, "--verdict"},
            {WITH_BESIDE, "--beside KERNEL -- COMMAND"},
            {WITH_WHICH, "--which PROGRAM"},
            {WITH_TABLE, "--table NAME"},
            {WITH_ALL, "--all"},
            {WITH_VALIDATE, "--validate SKU"},
            {WITH_DRAFT, "--draft-sku FILE"},
            {WITH_COMPARE, "--compare DIR DIR"},
            {WITH_EXPORT, "--export header"},
            {WITH_ANALYZE, "--analyze FILE"},
            {WITH_SELF_TEST, "--self-test"},
            {WITH_SIMULATE, "--simulate WORKLOAD"},
            {WITH_PROFILE, "--profile"},
            {WITH_CHECK, "--check environment"},
            {WITH_RESTORE, "--restore"},
            {WITH_LIST, "--list"}};

/* Refuses options with --input that say how to measure, since nothing is measured. */
static int check_input(const struct options *o, const char *option)
{
    static const char *const with[] = {"input", "csv", "json", "junit", "quiet", "share", "burst", "speedup"};
    bool computes = o->job == JOB_VERDICT && strcmp(option, "seed") == 0; /* the others draw nothing */
    if (o->input == NULL || strcmp(option, o->job_option) == 0 || computes)
        return 0;
    for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
        if (strcmp(option, with[i]) == 0)
            return 0;
    return refuse(BAD_USAGE, "--%s cannot be combined with --input, which %s", option,
                  o->job == JOB_SELF_TEST ? "judges readings taken earlier" : "reads tables measured earlier");
}

int option_conflicts_with_job(const struct options *o, const char *option, unsigned with)
{
    const unsigned measuring = WITH_MEASURING | WITH_PROFILE;
    char names[200] = "";
    if ((with & 1u << o->job) != 0)
        return check_input(o, option);
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
        if ((with & jobs[i].job) != 0)
            text_list_add(names, sizeof(names), " or ", "%s", jobs[i].example);
    if (o->job == JOB_NONE)
        return refuse(BAD_USAGE, "--%s without a job: add %s", option, names);
    if ((measuring & 1u << o->job) == 0 && with != WITH_TABLES && with != WITH_PROFILE && (with & measuring) == with)
        return refuse(BAD_USAGE, "--%s cannot be combined with --%s, which measures nothing", option, o->job_option);
    return refuse(BAD_USAGE, "--%s cannot be combined with --%s; use it with %s", option, o->job_option, names);
}

static int check_machine(const struct options *o)
{
    bool changes = o->turbo.given || o->fixed_ghz.given;
    if (changes && options_model(o) != NULL)
        return refuse(BAD_USAGE, "%s would change this machine and cannot be combined with --machine %s",
                      o->turbo.given ? "--turbo" : "--fixed-frequency", o->machine);
    if (o->n_cpus > 0 && o->cpu.given && (unsigned)o->cpu.value != o->cpus[0])
        return refuse(BAD_USAGE, "--cpu %u is not the first of --cpus, which is measured; omit --cpu",
                      (unsigned)o->cpu.value);
    return 0;
}

static int check_simulate(const struct options *o)
{
    if (o->job != JOB_SIMULATE)
        return 0;
    if (o->job_argument == NULL)
        return refuse(BAD_USAGE,
                      "no workload: add its name or a file; characterize --list workloads shows those with names");
    if (o->params == NULL)
        return refuse(BAD_USAGE, "no processor: add --params EXPORT.json, which characterize --export json writes");
    bool timeout = o->simulate.n_policies == 0;
    for (size_t i = 0; i < o->simulate.n_policies; i++)
        timeout = timeout || o->simulate.policy[i] == SIM_TIMEOUT;
    if (o->simulate.switching_given && o->simulate.n_schedulers == 0)
        return refuse(BAD_USAGE, "--switching is what a scheduler's work costs, but there is no --scheduler");
    if (o->timeout_us.given && !timeout)
        return refuse(BAD_USAGE, "--timeout is for policy timeout, which --policy leaves out");
    if (o->tables.n_active > 1)
        return refuse(BAD_USAGE, "--active-cores: --simulate takes one number");
    if (o->tables.n_active == 1 && o->tables.active[0] == 0)
        return refuse(BAD_USAGE, "--active-cores: --simulate takes 1 and more, not 0 or all; without it, cores are "
                                 "counted");
    return 0;
}

/* The machines that know license levels. */
static bool profiles(const struct options *o)
{
    static const char *const names[] = {"auto", "helper", "perf"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (o->machine == NULL || strcmp(o->machine, names[i]) == 0)
            return true;
    return options_model(o) != NULL;
}

static int check_profile(const struct options *o)
{
    const struct profile_given *p = &o->profile;
    if (o->job != JOB_PROFILE)
        return 0;
    bool model = options_model(o) != NULL;
    if (!profiles(o))
        return refuse(BAD_USAGE, "--machine: a profile cannot use '%s'; it works with auto, helper, perf, model:NAME",
                      o->machine);
    if (p->command != NULL && model)
        return refuse(BAD_USAGE, "the command '%s' cannot be combined with --machine %s, whose tasks are modelled",
                      p->command[0], o->machine);
    if (p->live && p->no_live)
        return refuse(BAD_USAGE, "--live and --no-live cannot be combined");
    if (p->live && (file_is_stdout(o->csv) || file_is_stdout(o->json) || file_is_stdout(p->folded)))
        return refuse(BAD_USAGE, "--live cannot be combined with a file on standard output, which the view needs");
    if (p->rehearsal && (model || (o->machine != NULL && strcmp(o->machine, "perf") == 0)))
        return refuse(BAD_USAGE, "--rehearsal needs the kernel module: it cannot be combined with --machine %s",
                      o->machine);
    const char *const counted = p->sources          ? "--sources"
                                : p->folded != NULL ? "--folded"
                                : o->params != NULL ? "--params"
                                                    : NULL;
    if (p->rehearsal && counted != NULL)
        return refuse(BAD_USAGE, "%s cannot be combined with --rehearsal, which counts nothing", counted);
    const char *const sampled = counted != NULL ? counted : o->plot != NULL ? "--plot" : p->live ? "--live" : NULL;
    if (o->machine != NULL && strcmp(o->machine, "perf") == 0 && sampled != NULL)
        return refuse(BAD_USAGE, "%s cannot be combined with --machine perf, which only has shares of levels", sampled);
    return 0;
}

/* Checks the options that have one meaning for a transition and another for tables. */
static int check_forms(const struct options *o)
{
    if (o->job == JOB_TRANSITION && o->tables.n_active > 1)
        return refuse(BAD_USAGE, "--active-cores: --transition takes one number; --table and --all take a list");
    for (size_t i = 0; i < o->n_events; i++) {
        if (o->job == JOB_TRANSITION && o->events[i].select_only)
            return refuse(
                BAD_USAGE,
                "--event: '%s' has no umask; allowed: EVENT:UMASK[:cmask=N][:inv][:edge] as in 0x28:0x08, or a name",
                o->events[i].text);
    }
    if (o->job != JOB_TRANSITION && o->warmup_us.given && o->warmup_us.value <= 0)
        return refuse(
            BAD_USAGE,
            "--warmup: '0' works with --transition only, because tables need settled code; allowed: above 0, up "
            "to 1000000 microseconds");
    if ((o->job == JOB_TABLE || o->job == JOB_ALL) && o->n_events > 1)
        return refuse(BAD_USAGE, "--event: --table umask takes a single event");
    if ((o->job == JOB_TABLE || o->job == JOB_ALL) && o->n_events > 0 && !o->events[0].select_only)
        return refuse(
            BAD_USAGE,
            "--event: '%s': give the event select alone, as in 0x28: every umask is tried, without cmask, inv or edge",
            o->events[0].text);
    return 0;
}

/* Checks the options that one table takes and another does not, as their kinds say. */
static int check_table(const struct options *o)
{
    const struct {
        bool given;
        const char *name;
    } options[TABLES_CHOICES] = {
        [CHOICE_WARMUP] = {o->warmup_us.given, "--warmup"},
        [CHOICE_OBSERVE] = {o->observe_us.given, "--observe"},
        [CHOICE_SIBLINGS] = {o->tables.siblings, "--siblings busy"},
        [CHOICE_CORUNNER] = {o->corunner_given && !o->tables.corunner_same, "--companion"},
        [CHOICE_CORUNNER_SAME] = {o->tables.corunner_same, "--companion same"},
        [CHOICE_KERNELS] = {o->tables.n_kernels > 0, "--kernels"},
        [CHOICE_PERIOD] = {o->period_us.given, "--period"},
        [CHOICE_CORES] = {o->tables.n_active > 1 || (o->tables.n_active == 1 && o->tables.active[0] != 1),
                          "--active-cores"}};
    if (o->job != JOB_TABLE)
        return 0;
    for (size_t i = 0; i < TABLES_CHOICES; i++)
        if (options[i].given && o->table->excluded[i] != NULL)
            return refuse(BAD_USAGE, "%s cannot be combined with --table %s: %s", options[i].name, o->table->name,
                          o->table->excluded[i]);
    if (o->tables.burst_count > 0 && !o->table->takes_burst)
        return refuse(BAD_USAGE, "--burst cannot be combined with --table %s; use it with --table burst",
                      o->table->name);
    if (o->n_events == 0 || o->table->takes_event)
        return 0;
    char names[200] = "";
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    for (size_t i = 0; i < n; i++)
        if (kinds[i]->takes_event)
            text_list_add(names, sizeof(names), " or ", "--table %s", kinds[i]->name);
    return refuse(BAD_USAGE, "--event cannot be combined with --table %s; use it with %s", o->table->name, names);
}

/* --burst has a form for bursts that are measured and one for those that a verdict is about. */
static int check_verdict(const struct options *o)
{
    bool verdict = o->job == JOB_VERDICT;
    if (verdict && o->tables.burst_count > 0)
        return refuse(BAD_USAGE,
                      "--burst: --verdict takes a time alone, as in --burst 100us: the time of a burst's work "
                      "in 128-bit code");
    if (!verdict && o->verdict.burst_us > 0)
        return refuse(BAD_USAGE, "--burst: --%s takes N,T: instructions every T, as in 1000,1ms", o->job_option);
    if (verdict && o->runs.given && o->runs.value < 3)
        return refuse(BAD_USAGE, "--runs: --verdict needs 3 or more, for limits");
    if (verdict && o->profile.seconds.given && o->profile.seconds.value < 5)
        return refuse(BAD_USAGE, "--seconds: --verdict needs 5 or more");
    if (verdict && o->tables.n_active > 1)
        return refuse(BAD_USAGE, "--active-cores: --verdict takes one number; --table frequency takes a list");
    return 0;
}

static int check_beside(const struct options *o)
{
    if (o->job != JOB_BESIDE)
        return 0;
    if (o->beside.command == NULL)
        return refuse(BAD_USAGE, "--%s: no command; it follows --: --%s %s -- COMMAND", o->job_option, o->job_option,
                      o->job_argument);
    if (o->beside.request.n_clocks > 0 &&
        (o->fixed_ghz.given || o->beside.place_given || o->beside.request.every_us > 0))
        return refuse(BAD_USAGE, "--clocks: the command runs alone, at these frequencies; omit %s",
                      o->fixed_ghz.given      ? "--fixed-frequency"
                      : o->beside.place_given ? "--on"
                                              : "--duty");
    return 0;
}

static int check_which(const struct options *o)
{
    if (o->job == JOB_WHICH && o->tables.n_active > 1)
        return refuse(BAD_USAGE, "--active-cores: --which takes one number");
    return 0;
}

/* A block from a file that no option names would be assembled, tried, and never run. */
static int check_blocks(const struct options *o)
{
    bool named = o->corunner_given || o->tables.n_kernels > 0;
    if (o->blocks.n == 0 || (o->job != JOB_TABLE && o->job != JOB_ALL) || named)
        return 0;
    return refuse(BAD_USAGE, "--kernel-file: tables measure its kernel only if it is named; add --kernels 64add,%s",
                  o->blocks.kernel[0]->name);
}

static int check_quiet(const struct options *o)
{
    bool modelled = options_model(o) != NULL;
    if (o->quiet_given && modelled && o->sysroot == NULL)
        return refuse(BAD_USAGE, "--quiet-machine would change this machine and cannot be combined with --machine %s",
                      o->machine);
    if (o->quiet_given && o->input != NULL)
        return refuse(BAD_USAGE,
                      "--quiet-machine cannot be combined with --input, which reads tables measured earlier");
    if (o->interference != INTERFERENCE_NONE && modelled)
        return refuse(BAD_USAGE, "--interference would load this machine and cannot be combined with --machine %s",
                      o->machine);
    if (o->sysroot != NULL && o->job == JOB_LIST && o->list != LIST_MACHINES)
        return refuse(BAD_USAGE, "--sysroot cannot be combined with --list %s", o->job_argument);
    if (o->sysroot != NULL && o->job == JOB_LIST && !o->quiet_given)
        return refuse(BAD_USAGE,
                      "--sysroot with --list machines shows what --quiet-machine would do: add --quiet-machine");
    if (o->sysroot != NULL && o->job != JOB_CHECK && o->job != JOB_RESTORE && !o->quiet_given)
        return refuse(BAD_USAGE,
                      "--sysroot: with --%s it says where --quiet-machine changes settings: add --quiet-machine",
                      o->job_option);
    if (o->sysroot != NULL && (WITH_MEASURING & 1u << o->job) != 0 && !modelled)
        return refuse(BAD_USAGE, "--sysroot changes settings in a directory, which have no effect on this machine; use "
                                 "it with --machine model:NAME");
    if (o->turbo.given && o->turbo.on && (o->quiet_parts & QUIET_TURBO) != 0)
        return refuse(BAD_USAGE,
                      "--quiet-machine=turbo switches turbo off, which contradicts --turbo on: leave one out");
    if (o->quiet_given && o->job == JOB_LIST && o->list != LIST_MACHINES)
        return refuse(BAD_USAGE, "--quiet-machine cannot be combined with --list %s", o->job_argument);
    return 0;
}

/* Two outputs of one name would overwrite each other. */
static int check_names(const struct options *o)
{
    const char *names[] = {o->csv, o->json, o->plot, o->bundle, o->profile.folded, o->junit};
    const char *options[] = {"--csv", "--json", "--plot", "--bundle", "--folded", "--junit"};
    return files_differ(names, options, 6) == DONE ? 0 : -1;
}

int option_conflicts_check(const struct options *o)
{
    if (o->job == JOB_NONE)
        return refuse(BAD_USAGE, "nothing to do: add --verdict, --transition FROM:TO, --table NAME, --all, --analyze "
                                 "FILE or --list WHAT; see --help");
    /* an option that a table does not take is refused before its form is checked */
    return check_machine(o) != 0 || check_table(o) != 0 || check_forms(o) != 0 || check_simulate(o) != 0 ||
                   check_profile(o) != 0 || check_verdict(o) != 0 || check_beside(o) != 0 || check_which(o) != 0 ||
                   check_blocks(o) != 0 || check_quiet(o) != 0 || check_names(o) != 0
               ? BAD_USAGE
               : 0;
}
