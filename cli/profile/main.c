/* SPDX-License-Identifier: GPL-3.0-or-later */
/* characterize-profile: how much other code's wide instructions slow each task. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/job_files.h"
#include "cli/messages.h"
#include "cli/options/options.h"
#include "cli/profile/sharing.h"
#include "cli/program.h"
#include "cli/stop.h"
#include "computer/environment/snapshot.h"
#include "drivers/profile/profile_command.h"
#include "drivers/profile/profile_levels.h"
#include "drivers/profile/profile_source.h"
#include "profiler/names.h"
#include "profiler/output/live.h"
#include "profiler/output/profile_output.h"
#include "profiler/profile.h"
#include "profiler/stacks.h"
#include "util/clock.h"
#include "util/text_list.h"

struct profiling {
    const struct options *o;
    struct profile_source source;
    bool open;
    struct profile_source_info info;
    struct profile_setup setup;
    struct profile_terms terms;
    struct profile_head head;        /* of every result */
    struct profile_command *command; /* NULL: none */
    bool live;                       /* to be shown */
    struct profile_totals *totals;
    struct profile_names *names;
    struct profile_stacks *stacks; /* NULL: none are taken */
};

/* ---- taking a profile ---- */

/* Records that are read at once; how long a read waits, so that keys are answered ten times a second. */
enum { RECORDS = 64, WAIT_MS = 100 };
static const double RESULT_S = 1; /* between two results of the live view */

/* The result so far; profile_result_free. DONE, or FAILED after a line. */
static int profiling_result(const struct profiling *p, struct profile_result *out)
{
    memset(out, 0, sizeof(*out));
    if (profile_totals_result(p->totals, out) != 0)
        return complain_out_of_memory();
    p->source.ops->info(&p->source, &out->info);
    p->source.ops->totals(&p->source, &out->totals);
    out->head = p->head;
    profile_names_fill(p->names, out);
    for (size_t i = 0; p->command != NULL && i < out->n_rows; i++)
        if (out->rows[i].kind == PROFILE_TASK)
            out->rows[i].chosen = profile_command_owns(p->command, out->rows[i].pid, out->rows[i].start_ns);
    return DONE;
}

/* The view, with the latest result. */
struct shown {
    struct profile_live *view; /* NULL: there is none */
    struct profile_result result;
    double result_s; /* when it was made */
};

/* DONE with *quit, or FAILED after a line. */
static int show(const struct profiling *p, struct shown *s, bool *quit)
{
    double now = clock_seconds(CLOCK_MONOTONIC);
    if (s->view == NULL)
        return DONE;
    if (s->result_s == 0 || now - s->result_s >= RESULT_S) {
        profile_result_free(&s->result);
        if (profiling_result(p, &s->result) != DONE)
            return FAILED;
        s->result_s = now;
    }
    *quit = profile_live_show(s->view, &s->result) == LIVE_QUIT;
    return DONE;
}

static int take_records(struct profiling *p, const struct profile_record *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!profile_totals_add(p->totals, &r[i]) || !profile_names_note(p->names, &r[i]) ||
            (p->stacks != NULL && !profile_stacks_add(p->stacks, &r[i])) ||
            (p->command != NULL && (!profile_command_note(p->command, "/proc", &r[i].sight.task) ||
                                    !profile_command_note(p->command, "/proc", &r[i].sight.other))))
            return complain_out_of_memory();
    return DONE;
}

static bool profiling_stopped(void)
{
    return stop_ended() != 0;
}

/* True: it is over. A modelled time is over when there are no more records. */
static bool profiling_over(const struct profiling *p, double begun, size_t n, bool quit)
{
    bool ended = p->command != NULL && profile_command_ended(p->command, !p->live);
    double seconds = p->o->profile.seconds.value;
    bool time = p->info.modelled ? n == 0 : seconds > 0 && clock_seconds(CLOCK_MONOTONIC) - begun >= seconds;
    return profiling_stopped() || quit || ended || time;
}

/* A model that is watched runs at the pace of life. */
static void keep_pace(const struct profiling *p, double begun)
{
    struct profile_source_totals totals;
    p->source.ops->totals(&p->source, &totals);
    double ahead = totals.seconds - (clock_seconds(CLOCK_MONOTONIC) - begun);
    if (p->info.modelled && ahead > 0)
        usleep((useconds_t)(1e6 * fmin(ahead, WAIT_MS * 1e-3)));
}

static int profiling_loop(struct profiling *p, struct shown *s)
{
    static struct profile_record records[RECORDS];
    struct machine_error error;
    double begun = clock_seconds(CLOCK_MONOTONIC);
    size_t n;
    bool quit = false;
    do {
        /* a watched model is taken record by record, so that it can be paced */
        size_t most = s->view != NULL && p->info.modelled ? 1 : RECORDS;
        if (p->source.ops->read(&p->source, records, most, WAIT_MS, &n, &error) != MACHINE_OK) {
            /* a message printed while the view is there would vanish with its screen */
            profile_live_end(s->view);
            s->view = NULL;
            return complain_of_machine("", &error);
        }
        int status = take_records(p, records, n);
        if (status == DONE)
            status = show(p, s, &quit);
        if (status != DONE)
            return status;
        if (s->view != NULL)
            keep_pace(p, begun);
    } while (!profiling_over(p, begun, n, quit));
    return DONE;
}

/* Starts the source and the command, and takes records until one of the ends. DONE, or an exit status after a line. */
static int profiling_run(struct profiling *p)
{
    struct machine_error error;
    struct shown s = {.view = NULL};
    char why[200];
    p->totals = profile_totals_new(&p->setup, &p->terms);
    p->names = profile_names_new(&p->source, NULL, NULL);
    if ((p->setup.flags & PROFILE_STACKS) != 0)
        p->stacks = profile_stacks_new(&p->source, NULL);
    if (p->totals == NULL || p->names == NULL || (p->stacks == NULL && (p->setup.flags & PROFILE_STACKS) != 0))
        return complain_out_of_memory();
    p->source.stopped = profiling_stopped;
    if (p->source.ops->start(&p->source, &p->setup, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    if (p->command != NULL && profile_command_go(p->command, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    if (p->live && profile_live_begin(&s.view, why, sizeof(why)) != 0)
        complain("no live view: %s", why);
    stop_first_ends(true);
    int status = profiling_loop(p, &s);
    stop_first_ends(false);
    profile_live_end(s.view);
    profile_result_free(&s.result);
    p->source.ops->stop(&p->source);
    command_stop(p->command);
    return status;
}

/* Closes the source and frees. A command that runs goes on. */
static void profiling_free(struct profiling *p)
{
    if (p->open)
        p->source.ops->close(&p->source);
    p->open = false;
    profile_command_free(p->command);
    profile_totals_free(p->totals);
    profile_names_free(p->names);
    profile_stacks_free(p->stacks);
}

/* ---- the job ---- */

/* Defaults of --seconds and --rate (doc/profiler.md); rows of a kind that a screen has room for; room for warnings; how
 * long a window is after the pause, us (dissertation, section 4.2.1). */
enum { SECONDS = 30, RATE_HZ = 50, ROWS = 20, WARNINGS = 4, WINDOW_US = 70 };

struct profile_job {
    const struct options *o;
    struct profiling p;
    struct job_files files;
    struct profile_result result;
    char params_cpu[200], command[400], warning[WARNINGS][400];
    const char *warnings[WARNINGS];
    struct environment environment;
};

/* ---- what is done ---- */

__attribute__((format(printf, 2, 3))) static void warn(struct profile_job *j, const char *format, ...)
{
    va_list arguments;
    size_t *n = &j->p.head.n_warnings;
    va_start(arguments, format);
    if (*n < WARNINGS) {
        vsnprintf(j->warning[*n], sizeof(j->warning[0]), format, arguments);
        j->warnings[*n] = j->warning[*n];
        complain("warning: %s", j->warning[(*n)++]);
    }
    va_end(arguments);
    j->p.head.warnings = j->warnings;
}

/* The largest rate that the duty permits, rounded down. */
static double largest_rate(const struct profile_setup *s, unsigned cores)
{
    double mean_us = ceil(s->pause_us * 100.0 / (PROFILE_DUTY_PERCENT_MAX * (double)cores));
    mean_us = fmax(mean_us, PROFILE_MEAN_US_MIN);
    return floor(1e6 / mean_us * 100) / 100;
}

/* The setup, from the options and the tables. */
static int make_setup(struct profile_job *j)
{
    const struct options *o = j->o;
    struct profiling *p = &j->p;
    struct machine_error error;
    profile_terms_none(&p->terms, &p->setup);
    if (o->params != NULL &&
        profile_terms_read(o->params, &p->terms, &p->setup, j->params_cpu, sizeof(j->params_cpu), &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    p->source.ops->info(&p->source, &p->info);
    p->setup.seed = o->tables.seed;
    p->setup.flags = (o->profile.sources ? PROFILE_SOURCES : 0) | (o->profile.rehearsal ? PROFILE_REHEARSAL : 0) |
                     (j->files.path[FORM_FOLDED] != NULL ? PROFILE_STACKS : 0);
    p->setup.mean_us = (uint32_t)(1e6 / (o->profile.rate_hz.given ? o->profile.rate_hz.value : RATE_HZ) + 0.5);
    p->setup.window_us = WINDOW_US;
    p->setup.ref_khz = (uint32_t)(p->info.ref_khz + 0.5);
    if (profile_duty_ppm(&p->setup, p->info.cores) > PROFILE_DUTY_PERCENT_MAX * 10000)
        return refuse(BAD_USAGE,
                      "--rate: %g samples a second would take %.1f %% of the time of %u core%s, but at most %d %% is "
                      "permitted; --rate %g works",
                      1e6 / p->setup.mean_us, profile_duty_ppm(&p->setup, p->info.cores) * 1e-4, p->info.cores,
                      p->info.cores == 1 ? "" : "s", PROFILE_DUTY_PERCENT_MAX, largest_rate(&p->setup, p->info.cores));
    if (!profile_setup_valid(&p->setup, p->info.cores))
        return refuse(BAD_USAGE,
                      "--params: a pause of %u us or a turbo frequency of %s is beyond the profiler's limits (%d to "
                      "%d us, 1 MHz to 16 GHz)",
                      p->setup.pause_us, o->params != NULL ? o->params : p->info.name, PROFILE_PAUSE_US_MIN,
                      PROFILE_PAUSE_US_MAX);
    return DONE;
}

/* Records have the numbers of the initial PID namespace, whose inode number is fixed (Linux, PROC_PID_INIT_INO). */
static bool sees_all_tasks(void)
{
    char name[40] = "";
    return readlink("/proc/self/ns/pid", name, sizeof(name) - 1) < 0 || strcmp(name, "pid:[4026531836]") == 0;
}

/* The facts in all outputs. Turbo frequencies of another processor are mostly found out (turns that are off the
 * table, or limited by something else), and a part's published ones may be all there is: a warning is enough. */
static void make_head(struct profile_job *j)
{
    struct profile_head *head = &j->p.head;
    head->version = VERSION;
    if (!j->p.info.modelled) {
        snapshot_take(-1, &j->environment);
        head->environment = &j->environment;
    }
    for (char **word = j->o->profile.command; word != NULL && *word != NULL; word++)
        text_list_add(j->command, sizeof(j->command), " ", "%s", *word);
    head->command = j->command[0] != '\0' ? j->command : NULL;
    head->params = j->o->params;
    head->params_cpu = j->o->params != NULL ? j->params_cpu : NULL;
    if (j->o->params != NULL && strcmp(j->params_cpu, j->p.info.cpu) != 0)
        warn(j, "the parameters of %s are those of %s; this is %s", j->o->params, j->params_cpu, j->p.info.cpu);
    if (!j->p.info.modelled && !sees_all_tasks())
        warn(j, "not in the initial PID namespace: task IDs differ here, so there are no command lines%s",
             head->command != NULL ? ", and the command's tasks are not marked" : "");
}

/* Before it begins: whose time it takes, and how late anything may become. */
static void tell_cost(const struct profile_job *j)
{
    const struct profile_setup *s = &j->p.setup;
    char until[100];
    double seconds = j->o->profile.seconds.value;
    if (j->o->quiet)
        return;
    snprintf(until, sizeof(until), seconds > 0 ? "for %g s%s" : "while the command runs", seconds,
             j->p.info.modelled ? " of modelled time" : "");
    fprintf(
        stderr,
        "Profiling %s %s: %.3g times a second one of %u cores pauses for %.2f ms, %.2g %% of their time in all; any "
        "task may be late by up to %.2f ms.\n",
        j->p.info.modelled ? "a modelled system" : j->p.info.cpu, until, 1e6 / s->mean_us, j->p.info.cores,
        s->pause_us * 1e-3, profile_duty_ppm(s, j->p.info.cores) * 1e-4, (s->pause_us + 2 * s->window_us) * 1e-3);
}

/* True: the result is shown as it grows, on a terminal to which nothing else writes. */
static bool wants_live(const struct profile_job *j)
{
    const struct profile_given *g = &j->o->profile;
    bool taken = g->command != NULL || j->p.info.modelled || j->o->quiet;
    taken = taken || job_files_screen(&j->files) != stdout;
    return g->live || (!g->no_live && !taken && isatty(STDOUT_FILENO) != 0);
}

/* ---- what is shown and written ---- */

static int profile_print_json(FILE *stream, const void *data)
{
    const struct profile_job *j = data;
    return file_print_json(stream, profile_json(&j->result));
}

static int profile_print_csv(FILE *stream, const void *data)
{
    const struct profile_job *j = data;
    return profile_csv(stream, &j->result);
}

static int profile_print_page(FILE *stream, const void *data)
{
    const struct profile_job *j = data;
    char why[300] = "";
    int status = profile_html(&j->result, stream, why, sizeof(why));
    if (status != 0 && why[0] != '\0')
        complain("%s", why);
    return status;
}

static int profile_print_folded(FILE *stream, const void *data)
{
    const struct profile_job *j = data;
    return profile_stacks_write(stream, j->p.stacks);
}

static int profile_tell(const struct profile_job *j)
{
    static file_printer *const print[JOB_FORMS] = {profile_print_json, profile_print_csv, profile_print_page,
                                                   profile_print_folded, NULL};
    FILE *screen = job_files_screen(&j->files);
    char why[400];
    profile_print(screen, messages_colour(screen), &j->result, ROWS);
    int status = job_files_write(&j->files, print, j, j->o->quiet);
    const char *plot = j->files.path[FORM_PLOT];
    if (status == DONE && plot != NULL && profile_plot(&j->result, plot, why, sizeof(why)) != 0)
        return refuse(FAILED, "%s", why);
    if (status == DONE && plot != NULL && !j->o->quiet)
        messages_print(screen, "%-12s %s (plot)", "", plot);
    return status;
}

/* ---- all of it ---- */

/* True: an option needs what only the module measures. */
static bool wants_module(const struct options *o)
{
    return o->profile.sources || o->profile.folded != NULL || o->params != NULL || o->plot != NULL;
}

/* Without the module: shares of levels where perf can count them; else what the module lacks, and where that is the
 * processor, what can be said all the same. */
static int profile_otherwise(const struct profile_job *j, const struct machine_error *module)
{
    struct machine_error perf, levels;
    struct cpu_identity id;
    struct events_table table;
    bool requested = j->o->machine != NULL && strcmp(j->o->machine, "auto") != 0;
    if (module->status != MACHINE_CANNOT || requested || j->o->profile.rehearsal)
        return complain_of_machine("", module);
    if (profile_levels_find("/sys", NULL, NULL, &id, &table, &levels) != MACHINE_OK)
        return sharing_tell_frequency(job_files_screen(&j->files), &levels);
    if (wants_module(j->o) || sharing_possible(&perf) != MACHINE_OK)
        return complain_of_machine("", module);
    complain_with_remedy(module->text, module->remedy);
    complain("overhead and causes are not shown: shares of license levels follow");
    return sharing_run(j->o, &j->files);
}

static int profile_all(struct profile_job *j)
{
    struct machine_error error;
    const struct options *o = j->o;
    int status = job_files_choose(o, &j->files);
    if (status != DONE)
        return status;
    if (o->machine != NULL && strcmp(o->machine, "perf") == 0)
        return sharing_possible(&error) == MACHINE_OK ? sharing_run(o, &j->files) : complain_of_machine("", &error);
    status = options_model(o) != NULL ? profile_open_model(options_model(o), NULL, o->tables.seed,
                                                           o->profile.seconds.value, &j->p.source, &error)
                                      : profile_open_helper(NULL, o->profile.rehearsal, &j->p.source, &error);
    if (status != MACHINE_OK)
        return profile_otherwise(j, &error);
    j->p.open = true;
    status = make_setup(j);
    if (status == DONE && o->profile.command != NULL &&
        profile_command_start(o->profile.command, &j->p.command, &error) != MACHINE_OK)
        status = complain_of_machine("", &error);
    if (status != DONE)
        return status;
    make_head(j);
    tell_cost(j);
    j->p.live = wants_live(j);
    status = profiling_run(&j->p);
    if (status == DONE)
        status = profiling_result(&j->p, &j->result);
    if (status == DONE)
        status = profile_tell(j);
    if (status == DONE)
        command_await(j->p.command);
    return status;
}

static int run(const struct options *o)
{
    struct options mine = *o;
    struct profile_job j = {.o = &mine, .p = {.o = &mine}};
    if (!o->profile.seconds.given && o->profile.command == NULL)
        mine.profile.seconds.value = SECONDS;
    int status = profile_all(&j);
    profile_result_free(&j.result);
    profiling_free(&j.p);
    job_files_free(&j.files);
    return status;
}

int main(int argc, char **argv)
{
    static const struct option_line help[] = {
        {"Options:", NULL},
        {"--machine NAME", "auto, helper, perf, model:NAME or model:FILE (default: auto)"},
        {"--params EXPORT.json", "Turbo frequencies and waits, as characterize --export json wrote them"},
        {"--seconds N", "Duration (default: 30, or until COMMAND ends; Ctrl-C ends it earlier)"},
        {"--sources", NULL},
        {"--rate HZ", NULL},
        {"--seed N", "Seed of the intervals between samples, and of models (default: 0)"},
        {"--live", NULL},
        {"--csv FILE", "Write the profile as a table; - is standard output"},
        {"--json FILE", "Write the profile; - is standard output"},
        {"--plot FILE", NULL},
        {"--output DIR", "Write a page, profile.html, and all other files into this directory"},
        {"--help-all", "All options"},
        {"Examples:", NULL},
        {"characterize-profile --sources --params avx.json -- make -j8", NULL},
        {"characterize-profile --machine model:xeon-gold-6130", NULL},
    };
    static const struct option_program program = {
        .name = "characterize-profile",
        .job = JOB_PROFILE,
        .job_option = "profile",
        .arguments = "[-- COMMAND ARG...]",
        .about = "Sample how much other code's wide instructions slow each task of the system, for --seconds or while "
                 "a command runs.",
        .help = help,
        .n_help = sizeof(help) / sizeof(help[0]),
    };
    return program_main(argc, argv, &program, run);
}
