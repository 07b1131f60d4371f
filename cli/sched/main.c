/* SPDX-License-Identifier: GPL-3.0-or-later */
/* characterize-sched: loads the scheduler and says what it does (doc/scheduler.md). */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/messages.h"
#include "cli/sched/monitor.h"
#include "cli/sched/sched.h"
#include "schedulers/live/params.h"
#include "util/clock.h"
#include "util/json_lines.h"
#include "util/plain_text.h"

/* ---- the lines of --stats ---- */

static void tell_counts(const char *name, const struct live_counts *c)
{
    printf(" %s: ran %.3f s, charged %.3f s, compensated %.3f s, penalty %.3f s, %llu dispatches, %llu migrations;",
           name, 1e-9 * (double)c->run_ns, 1e-9 * (double)c->charged_ns, 1e-9 * (double)c->compensated_ns,
           1e-9 * (double)c->penalty_ns, c->dispatches, c->migrations);
}

static struct live_accounted accounted(const volatile struct live_state *s)
{
    struct live_accounted sum = {0};
    for (int cpu = 0; cpu < LIVE_CPUS_MAX; cpu++) {
        sum.unattributed_ns += s->accounted[cpu].unattributed_ns;
        sum.uncounted_ns += s->accounted[cpu].uncounted_ns;
        sum.throttled_cycles += s->accounted[cpu].throttled_cycles;
    }
    return sum;
}

static void tell_text(const struct sched_options *o, const volatile struct live_state *s,
                      const struct sched_sample *sample, size_t n_tasks)
{
    char name[80];
    printf("%.1f s:", sample->seconds);
    for (int class = 0; class < sched_classes(&o->config); class ++)
        tell_counts(sched_class_names[class], &sample->classes[class]);
    if (isfinite(sample->decision_ns))
        printf(" %.0f ns of decisions for each dispatch;", sample->decision_ns);
    if (o->config.events != 0) {
        const struct live_accounted a = accounted(s);
        printf(" not attributed %.3f s, not counted %.3f s;", 1e-9 * (double)a.unattributed_ns,
               1e-9 * (double)a.uncounted_ns);
        if (o->config.events >> LIVE_THROTTLED & 1)
            printf(" throttled %.3f million cycles;", 1e-6 * (double)a.throttled_cycles);
    }
    if (o->config.registers != 0)
        printf(" wide registers in use (approximate): %llu of %llu switches of other tasks, %llu of %llu of wide;",
               sample->classes[LIVE_OTHER].used, sample->classes[LIVE_OTHER].looks, sample->classes[LIVE_WIDE].used,
               sample->classes[LIVE_WIDE].looks);
    if (sched_classes(&o->config) > 1)
        printf(" phases ended: %llu by system calls, %llu by timeout;", s->phases_ended[0], s->phases_ended[1]);
    if (o->config.specialize)
        printf(" wide cores: %u of %u, %llu became wide, %llu other, %llu tasks called away from them;", s->wide_cores,
               o->config.n_cores, s->widened, s->narrowed, s->called);
    if (sample->adapt != NULL && sample->adapt->decisions > 0)
        printf(" million instructions a second with specialization: %.1f, without: %.1f;",
               1e-6 * sample->adapt->rate[1], 1e-6 * sample->adapt->rate[0]);
    printf("\n");
    for (size_t i = 0; i < n_tasks; i++) {
        const struct live_task *t = &sample->tasks[sample->order[i].index].now;
        (void)plain_text(t->name, name, sizeof(name));
        printf("    %u (%s)", t->id, sched_class_names[t->class % LIVE_CLASSES]);
        tell_counts(name, &t->counts);
        printf("\n");
    }
}

static void put_counts(json_t *row, const struct live_counts *c, bool *failed)
{
    json_lines_put_whole(row, "run_ns", (json_int_t)c->run_ns, failed);
    json_lines_put_whole(row, "charged_ns", (json_int_t)c->charged_ns, failed);
    json_lines_put_whole(row, "compensated_ns", (json_int_t)c->compensated_ns, failed);
    json_lines_put_whole(row, "penalty_ns", (json_int_t)c->penalty_ns, failed);
    json_lines_put_whole(row, "dispatches", (json_int_t)c->dispatches, failed);
    json_lines_put_whole(row, "migrations", (json_int_t)c->migrations, failed);
}

static void put_tasks(json_t *root, const struct sched_sample *sample, size_t n_tasks, bool *failed)
{
    json_t *tasks = json_lines_array(root, "tasks", failed);
    for (size_t i = 0; i < n_tasks; i++) {
        const struct live_task *t = &sample->tasks[sample->order[i].index].now;
        json_t *row = json_object();
        json_lines_put_whole(row, "id", t->id, failed);
        json_lines_put_text(row, "name", t->name, failed);
        json_lines_put_text(row, "class", sched_class_names[t->class % LIVE_CLASSES], failed);
        put_counts(row, &t->counts, failed);
        json_lines_push(tasks, row, failed);
    }
}

static int tell_json(const struct sched_options *o, const volatile struct live_state *s,
                     const struct sched_sample *sample, size_t n_tasks)
{
    bool failed = false;
    json_t *root = json_object(), *classes = json_lines_array(root, "classes", &failed);
    json_lines_put(root, "seconds", json_lines_rounded(sample->seconds, 6), &failed);
    for (int class = 0; class < sched_classes(&o->config); class ++) {
        json_t *row = json_object();
        json_lines_put_text(row, "class", sched_class_names[class], &failed);
        put_counts(row, &sample->classes[class], &failed);
        if (o->config.registers != 0) {
            json_lines_put_whole(row, "looks", (json_int_t)sample->classes[class].looks, &failed);
            json_lines_put_whole(row, "registers_used", (json_int_t)sample->classes[class].used, &failed);
        }
        json_lines_push(classes, row, &failed);
    }
    json_lines_put(root, "decision_ns", json_lines_rounded(sample->decision_ns, 6), &failed);
    if (o->config.events != 0) {
        const struct live_accounted a = accounted(s);
        json_lines_put_whole(root, "unattributed_ns", (json_int_t)a.unattributed_ns, &failed);
        json_lines_put_whole(root, "uncounted_ns", (json_int_t)a.uncounted_ns, &failed);
        if (o->config.events >> LIVE_THROTTLED & 1)
            json_lines_put_whole(root, "throttled_cycles", (json_int_t)a.throttled_cycles, &failed);
    }
    if (sched_classes(&o->config) > 1) {
        json_lines_put_whole(root, "ended_by_call", (json_int_t)s->phases_ended[0], &failed);
        json_lines_put_whole(root, "ended_by_timeout", (json_int_t)s->phases_ended[1], &failed);
    }
    if (o->config.specialize) {
        json_lines_put(root, "specializes", json_boolean(s->wide_cores > 0), &failed);
        if (sample->adapt != NULL) {
            json_lines_put_whole(root, "decisions", sample->adapt->decisions, &failed);
            json_lines_put(root, "rate_with", json_lines_rounded(sample->adapt->rate[1], 6), &failed);
            json_lines_put(root, "rate_without", json_lines_rounded(sample->adapt->rate[0], 6), &failed);
        }
        json_lines_put_whole(root, "cores", o->config.n_cores, &failed);
        json_lines_put_whole(root, "wide_cores", s->wide_cores, &failed);
        json_lines_put_whole(root, "became_wide", (json_int_t)s->widened, &failed);
        json_lines_put_whole(root, "became_other", (json_int_t)s->narrowed, &failed);
        json_lines_put_whole(root, "called_away", (json_int_t)s->called, &failed);
    }
    if (o->tasks > 0)
        put_tasks(root, sample, n_tasks, &failed);
    failed = failed || json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15)) != 0 || putchar('\n') == EOF;
    json_decref(root);
    return failed ? complain_out_of_memory() : DONE;
}

/* A line (--stats), or with o->json an object, and the tasks that ran most since the line before. DONE, or an exit
 * status after a line. */
static int sched_tell(const struct sched_options *o, const volatile struct live_state *state,
                      struct sched_sample *sample)
{
    const size_t n = sample->n_tasks < (size_t)o->tasks ? sample->n_tasks : (size_t)o->tasks;
    for (size_t i = 0; i < sample->n_tasks; i++)
        sample->order[i].key = -(double)sample->tasks[sample->order[i].index].recent_ns;
    if (sample->n_tasks > 0)
        qsort(sample->order, sample->n_tasks, sizeof(sample->order[0]), order_by_key);
    if (o->json)
        return tell_json(o, state, sample, n);
    tell_text(o, state, sample, n);
    return DONE;
}

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
