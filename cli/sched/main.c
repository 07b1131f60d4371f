/* SPDX-License-Identifier: GPL-3.0-or-later */
/* characterize-sched: loads the scheduler and says what it does (doc/scheduler.md). */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/messages.h"
#include "cli/sched/monitor.h"
#include "cli/sched/sched.h"
#include "schedulers/live/instructions.h"
#include "schedulers/live/params.h"
#include "util/clock.h"

static const char help[] =
    "Usage: characterize-sched --params EXPORT.json [OPTION...]\n"
    "Schedule all tasks of this computer by sched_ext, as tables of this processor and schedulers/policy.h say, until\n"
    "Ctrl-C; Linux' own scheduler then takes over, as it does however this program ends. Needs root and Linux 7.2.\n\n"
    "  --params EXPORT.json  What characterize --export json wrote on this processor; required\n"
    "  --modelled            Take an export that is computed from a model, too\n"
    "  --mode MODE           fair: the smallest virtual time first, charged by the clock (default)\n"
    "                        subtract: but not for what other tasks' license levels cost it, by counters\n"
    "                        attribute: and the last user of that level on the physical core pays for it\n"
    "                        specialize: as fair, and wide tasks on wide cores, which others fill\n"
    "  --source SOURCE       Who is wide: none (nobody, default), marks (tasks that say so:\n"
    "                        include/characterize/mark.h), counters (who runs 512-bit floating point; where that is\n"
    "                        not counted, who spends half of its cycles at its license level), state (for specialize,\n"
    "                        approximate: whose registers of 512 bits or tiles were in use at a switch)\n"
    "  --width 256|512       With state: registers from this width on (default: 512)\n"
    "  --cgroup PATH=MODE    Account tasks of a cgroup (/sys/fs/cgroup/...) by fair, subtract or attribute; the last "
    "one\n"
    "                        that has a task counts. Tasks that are accounted by fair do not pay, either\n"
    "  --adapt               With specialize: keep it on only where tasks execute more instructions a second with it\n"
    "  --slice-us N          Time for which a task keeps its CPU, 100 to 100000 (default: 6000)\n"
    "  --stats N             A line every N seconds, 1 to 3600\n"
    "  --tasks N             And of the N tasks that ran most since the last line, 0 to 1000 (default: 0)\n"
    "  --monitor             A table of classes and tasks, every second, with keys; instead of lines\n"
    "  --json                These lines as JSON\n"
    "  --help, --version\n\n"
    "SIGUSR1 turns specialization off, and on again (without --adapt).\n"
    "Exit status: 0 done; 1 the kernel has ended it; 2 usage or unreadable input; 3 this machine cannot do it.\n"
    "doc/scheduler.md says what it may do and what it cannot yet.\n";

/* ---- the command line ---- */

static int number(const char *option, const char *text, long lo, long hi, long *out)
{
    char *end;
    errno = 0;
    *out = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || *out < lo || *out > hi)
        return refuse(BAD_USAGE, "--%s %s: not a whole number from %ld to %ld", option, text, lo, hi);
    return DONE;
}

static const char *const accountings[] = {"fair", "subtract", "attribute"};

static bool accounting_of(const char *text, policy_u32 *out)
{
    for (policy_u32 i = 0; i < sizeof(accountings) / sizeof(accountings[0]); i++)
        if (strcmp(text, accountings[i]) == 0) {
            *out = i;
            return true;
        }
    return false;
}

static int take_mode(const char *text, struct sched_options *o)
{
    o->config.accounting = LIVE_FAIR;
    o->config.specialize = strcmp(text, "specialize") == 0;
    return o->config.specialize || accounting_of(text, &o->config.accounting)
               ? DONE
               : refuse(BAD_USAGE, "--mode %s: not one of: fair, subtract, attribute, specialize", text);
}

static int take_source(const char *text, struct sched_options *o)
{
    o->config.marks = strcmp(text, "marks") == 0;
    o->config.counted_wide = strcmp(text, "counters") == 0;
    o->config.registers = strcmp(text, "state") == 0 ? 1ULL << LIVE_STATE_TILES | 1ULL << LIVE_STATE_ZMM : 0;
    return o->config.marks || o->config.counted_wide || o->config.registers != 0 || strcmp(text, "none") == 0
               ? DONE
               : refuse(BAD_USAGE, "--source %s: not one of: none, marks, counters, state", text);
}

/* PATH=MODE; the text is cut in two. */
static int take_cgroup(char *text, struct sched_options *o)
{
    char *mode = strrchr(text, '=');
    if (o->config.n_groups == LIVE_GROUPS_MAX)
        return refuse(BAD_USAGE, "--cgroup %s: more than %d of them", text, LIVE_GROUPS_MAX);
    if (mode == NULL || !accounting_of(mode + 1, &o->config.group_accounting[o->config.n_groups]))
        return refuse(BAD_USAGE, "--cgroup %s: not PATH=fair, PATH=subtract or PATH=attribute", text);
    *mode = '\0';
    o->groups[o->config.n_groups++] = text;
    return DONE;
}

/* What options say of each other. */
static int check_options(struct sched_options *o)
{
    if (o->params == NULL)
        return refuse(BAD_USAGE, "--params EXPORT.json is required (--help)");
    if ((o->json || o->tasks > 0) && o->stats == 0)
        return refuse(BAD_USAGE, "--%s is about the lines of --stats N", o->json ? "json" : "tasks");
    if (((o->config.specialize && o->config.registers == 0) || live_counters_needed(&o->config)) && !o->config.marks &&
        !o->config.counted_wide)
        return refuse(BAD_USAGE, "--%s must know who is wide: --source counters or marks",
                      o->config.specialize                ? "mode specialize"
                      : o->config.accounting == LIVE_FAIR ? "cgroup"
                                                          : "mode subtract and attribute");
    if (o->monitor && o->stats > 0)
        return refuse(BAD_USAGE, "--monitor is a table, --stats prints lines: one of them");
    if (o->width != 0 && o->config.registers == 0)
        return refuse(BAD_USAGE, "--width is about the registers of --source state");
    if (o->adapts && !o->config.specialize)
        return refuse(BAD_USAGE, "--adapt is about --mode specialize");
    if (o->width == 256)
        o->config.registers |= 1ULL << LIVE_STATE_YMM;
    o->config.timed = o->stats > 0 || o->monitor;
    o->config.slice_ns = (policy_u64)o->slice_us * 1000;
    return DONE;
}

static const struct option options[] = {{"params", required_argument, NULL, 'p'},
                                        {"modelled", no_argument, NULL, 'm'},
                                        {"mode", required_argument, NULL, 'M'},
                                        {"source", required_argument, NULL, 's'},
                                        {"width", required_argument, NULL, 'W'},
                                        {"adapt", no_argument, NULL, 'a'},
                                        {"cgroup", required_argument, NULL, 'c'},
                                        {"slice-us", required_argument, NULL, 'u'},
                                        {"stats", required_argument, NULL, 'n'},
                                        {"tasks", required_argument, NULL, 't'},
                                        {"monitor", no_argument, NULL, 'w'},
                                        {"json", no_argument, NULL, 'j'},
                                        {"help", no_argument, NULL, 'h'},
                                        {"version", no_argument, NULL, 'v'},
                                        {NULL, 0, NULL, 0}};

static int take_number(int option, struct sched_options *o)
{
    if (option == 'u')
        return number("slice-us", optarg, 100, 100000, &o->slice_us);
    if (option == 'n')
        return number("stats", optarg, 1, 3600, &o->stats);
    if (option == 't')
        return number("tasks", optarg, 0, 1000, &o->tasks);
    int status = number("width", optarg, 256, 512, &o->width);
    return status == DONE && o->width != 256 && o->width != 512
               ? refuse(BAD_USAGE, "--width %ld: neither 256 nor 512", o->width)
               : status;
}

/* -1: the program ends with DONE. */
static int parse(int argc, char **argv, struct sched_options *o)
{
    int option, status = DONE;
    opterr = 0;
    while (status == DONE && (option = getopt_long(argc, argv, "", options, NULL)) != -1)
        switch (option) {
        case 'p':
            o->params = optarg;
            break;
        case 'm':
            o->modelled = true;
            break;
        case 'M':
            status = take_mode(optarg, o);
            break;
        case 's':
            status = take_source(optarg, o);
            break;
        case 'a':
            o->adapts = true;
            break;
        case 'c':
            status = take_cgroup(optarg, o);
            break;
        case 'W':
        case 'u':
        case 'n':
        case 't':
            status = take_number(option, o);
            break;
        case 'w':
            o->monitor = true;
            break;
        case 'j':
            o->json = true;
            break;
        case 'h':
            return fputs(help, stdout) < 0 || fflush(stdout) != 0 ? FAILED : -1;
        case 'v':
            return printf("characterize %s\n", VERSION) < 0 || fflush(stdout) != 0 ? FAILED : -1;
        default:
            return refuse(BAD_USAGE, "%s: not an option, or its value is missing (--help)", argv[optind - 1]);
        }
    if (status != DONE)
        return status;
    return optind < argc ? refuse(BAD_USAGE, "%s: not an option (--help)", argv[optind]) : check_options(o);
}

/* ---- the run ---- */

/* Until a signal, a key, or the kernel ends it. */
static int watch(const struct sched_options *o, struct live_scheduler *scheduler, const char *title,
                 struct monitor *monitor, const struct perf_groups *instructions, const sigset_t *signals)
{
    const volatile struct live_state *state = live_state_of(scheduler);
    const struct timespec pause = {.tv_nsec = 100000000};
    const double begin = clock_seconds(CLOCK_MONOTONIC), every = monitor != NULL ? 1 : (double)o->stats;
    struct adapt adapt = {.on = true};
    struct sched_sample sample = {.adapt = instructions != NULL ? &adapt : NULL};
    double next = every;
    int status = DONE, taken;
    bool go_on = true;
    if (instructions != NULL)
        adapt_begin(&adapt, 0, live_instructions(instructions));
    while (status == DONE && go_on && state->exit_kind == 0 &&
           ((taken = sigtimedwait(signals, NULL, &pause)) < 0 || taken == SIGUSR1)) {
        const double seconds = clock_seconds(CLOCK_MONOTONIC) - begin;
        if (instructions != NULL)
            adapt_step(&adapt, seconds, live_instructions(instructions));
        else if (taken == SIGUSR1)
            adapt.on = !adapt.on;
        live_specialize(scheduler, adapt.on);
        if (!live_take_records(scheduler))
            status = refuse(FAILED, "cannot write records: %s", strerror(errno));
        const bool due = every > 0 && seconds >= next && (monitor == NULL || !monitor_paused(monitor));
        if (due) {
            next = every * (floor(seconds / every) + 1);
            status = sched_sample_next(scheduler, &o->config, seconds, monitor != NULL || o->tasks > 0, &sample);
        }
        if (status == DONE && monitor != NULL)
            go_on = monitor_show(monitor, o, title, state, &sample);
        else if (status == DONE && due)
            status = sched_tell(o, state, &sample);
        if (monitor == NULL && fflush(stdout) != 0 && status == DONE)
            status = refuse(FAILED, "cannot write to standard output: %s", strerror(errno));
    }
    sched_sample_free(&sample);
    return status;
}

/* Loads it, and watches it. */
static int schedule(struct sched_options *o, const struct live_params *params, const struct cpu_identity *here,
                    const sigset_t *signals)
{
    struct machine_error error;
    struct live_scheduler *scheduler = NULL;
    struct monitor *monitor = NULL;
    struct perf_groups *instructions = NULL;
    char title[400];
    if (o->adapts && live_instructions_open(&instructions, &error) != MACHINE_OK)
        return complain_of_machine("--adapt: ", &error);
    int status = o->monitor ? monitor_begin(&monitor) : DONE;
    if (status != DONE) {
        perf_groups_close(instructions);
        return status;
    }
    const bool started = live_start(&o->config, params, here, o->groups, &scheduler, &error) == MACHINE_OK;
    if (started) {
        (void)snprintf(title, sizeof(title),
                       "Scheduling   mode %s, %u CPUs, %u cores, slices of %ld us; tables of %s%s%s%s%s; %s ends it",
                       o->config.specialize ? "specialize" : accountings[o->config.accounting], o->config.n_cpus,
                       o->config.n_cores, o->slice_us, params->cpu, params->modelled ? " (MODELLED)" : "",
                       live_without(scheduler)[0] != '\0' ? "; without counters of " : "", live_without(scheduler),
                       getenv(LIVE_INJECT_NAME) != NULL && o->config.events != 0 ? "; counters are MADE UP" : "",
                       o->monitor ? "q" : "Ctrl-C");
        if (!o->json && !o->monitor)
            messages_print(stdout, "%s", title);
        (void)fflush(stdout);
        status = watch(o, scheduler, title, monitor, instructions, signals);
    }
    monitor_end(monitor);
    perf_groups_close(instructions);
    if (!started || live_stop(scheduler, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    return status;
}

int main(int argc, char **argv)
{
    static struct live_params params;
    struct sched_options o = {.slice_us = POLICY_SLICE / 1000};
    struct machine_error error;
    struct cpu_leaves leaves;
    struct cpu_identity here;
    sigset_t signals;
    messages_begin("characterize-sched");
    int status = parse(argc, argv, &o);
    if (status != DONE)
        return status < 0 ? DONE : status;
    cpu_read_leaves(&leaves);
    cpu_identify(&leaves, &here);
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (live_params_read(o.params, o.modelled, live_counters_needed(&o.config), &here, &params, &error) != MACHINE_OK ||
        live_config_here(&o.config, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    return schedule(&o, &params, &here, &signals);
}
