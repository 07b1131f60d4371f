/* SPDX-License-Identifier: GPL-3.0-or-later */
/* characterize-profile: how much other code's wide instructions slow each task. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/messages.h"
#include "cli/job_files.h"
#include "cli/profile/profiling.h"
#include "cli/profile/sharing.h"
#include "cli/program.h"
#include "cli/stop.h"
#include "computer/environment/snapshot.h"
#include "drivers/profile/profile_levels.h"
#include "profiler/stacks.h"
#include "profiler/output/profile_output.h"
#include "profiler/profile.h"
#include "util/text_list.h"

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

static bool modelled(const struct options *o)
{
    return o->machine != NULL && strncmp(o->machine, "model:", 6) == 0;
}

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
    bool asked = j->o->machine != NULL && strcmp(j->o->machine, "auto") != 0;
    if (module->status != MACHINE_CANNOT || asked || j->o->profile.rehearsal)
        return complain_of_machine("", module);
    if (profile_levels_find("/sys", NULL, NULL, &id, &table, &levels) != MACHINE_OK)
        return sharing_tell_frequency(job_files_screen(&j->files), &levels);
    if (wants_module(j->o) || sharing_possible(&perf) != MACHINE_OK)
        return complain_of_machine("", module);
    complain_with_remedy(module->text, module->remedy);
    complain("overhead and causes are not shown: shares of license levels follow");
    return sharing_run(j->o, &j->files);
}

static int profile_by_perf(const struct profile_job *j)
{
    struct machine_error error;
    return sharing_possible(&error) == MACHINE_OK ? sharing_run(j->o, &j->files) : complain_of_machine("", &error);
}

static int profile_all(struct profile_job *j)
{
    struct machine_error error;
    const struct options *o = j->o;
    int status = job_files_choose(o, &j->files);
    if (status != DONE)
        return status;
    if (o->machine != NULL && strcmp(o->machine, "perf") == 0)
        return profile_by_perf(j);
    status = modelled(o) ? profile_open_model(o->machine + 6, NULL, o->tables.seed, o->profile.seconds.value,
                                              &j->p.source, &error)
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
        profiling_await_command(j->p.command);
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
    static const struct option_program program = {
        .name = "characterize-profile",
        .job = JOB_PROFILE,
        .job_option = "profile",
        .arguments = "[-- COMMAND ARG...]",
        .about = "Sample how much other code's wide instructions slow each task of the system, for --seconds or while "
                 "a command runs.",
    };
    return program_main(argc, argv, &program, run);
}
