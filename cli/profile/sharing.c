/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles by perf: shares of levels, or the current frequency without levels; and the command that is profiled. */
#include "cli/profile/sharing.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/stats/robust.h"
#include "cli/messages.h"
#include "cli/stop.h"
#include "computer/environment/snapshot.h"
#include "drivers/choices.h"
#include "drivers/perf/perf.h"
#include "drivers/profile/profile_command.h"
#include "drivers/profile/profile_levels.h"
#include "probes/steady.h"
#include "profiler/names.h"
#include "profiler/shares.h"
#include "util/clock.h"
#include "util/text_list.h"

/* ---- the command that is profiled ---- */

/* How long a command has to end after a signal. */
enum { MOMENT_MS = 1000 };

void command_stop(struct profile_command *c)
{
    if (c == NULL || stop_ended() == 0)
        return;
    if (stop_ended() > 0)
        kill(profile_command_pid(c), stop_ended());
    for (int ms = 0; ms < MOMENT_MS && !profile_command_ended(c, false); ms += 10)
        usleep(10000);
}

void command_await(struct profile_command *c)
{
    if (c == NULL)
        return;
    bool ended = profile_command_ended(c, true);
    stop_first_ends(true); /* the results are out: to wait no more is no failure */
    if (!ended && stop_ended() == 0)
        complain("the profile has ended; waiting for the command to end");
    while (!ended && stop_ended() == 0) {
        usleep(20000);
        ended = profile_command_ended(c, true);
        if (stop_ended() != 0)
            command_stop(c);
    }
    ended = profile_command_ended(c, true);
    if (!ended)
        complain("the command is still running: process %d", (int)profile_command_pid(c));
    else if (profile_command_failure(c) != NULL)
        complain("the command %s", profile_command_failure(c));
}

/* Room for machines; how long a read waits; rows of a kind that a screen has room for; the default of --rate,
 * readings a second of each CPU. */
enum { CHOICES = 8, WAIT_MS = 100, SHARES_ROWS = 20, SHARES_RATE_HZ = 50 };

struct sharing {
    const struct options *o;
    struct perf_profile *perf;
    struct shares *shares;
    struct profile_names *names;
    struct profile_command *command;
    struct shares_result result;
    struct environment environment;
    char cpu[80], command_text[400];
};

/* ---- whether it can be done ---- */

/* The machine's own test: whether the events count what their names say on this very part. */
static int events_pass(struct machine_error *err)
{
    struct machine m;
    const char *remedy = NULL;
    int status = machine_open("perf", NULL, &m, NULL, 0, err);
    if (status != MACHINE_OK)
        return status;
    const char *why = m.ops->lacks(&m, COUNTER_LVL1, &remedy);
    if (why != NULL && m.ops->lacks(&m, COUNTER_LVL2, &remedy) != NULL)
        status = machine_fail(err, MACHINE_CANNOT, remedy != NULL ? remedy : "", "%s", why);
    m.ops->close(&m);
    return status;
}

int sharing_possible(struct machine_error *err)
{
    struct machine_choice c[CHOICES];
    struct events_table table;
    struct cpu_identity id;
    int status = profile_levels_find("/sys", NULL, NULL, &id, &table, err);
    if (status != MACHINE_OK)
        return status;
    const struct machine_choice *perf = choices_find(c, machine_choices(c, CHOICES), "perf");
    if (!perf->usable)
        return machine_fail(err, MACHINE_CANNOT, perf->remedy, "%s", perf->why);
    return events_pass(err);
}

/* ---- counting ---- */

static int sharing_open(struct sharing *s)
{
    struct machine_error error;
    struct events_table table;
    struct cpu_identity id;
    struct cpu_view view;
    struct perf_pmu pmu;
    double rate = s->o->profile.rate_hz.given ? s->o->profile.rate_hz.value : SHARES_RATE_HZ;
    if (profile_levels_find("/sys", NULL, NULL, &id, &table, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    snprintf(s->cpu, sizeof(s->cpu), "%s %s", id.brand, id.signature);
    cpu_view_read("/sys", &view);
    perf_find_pmu("/sys", 0, &pmu);
    const struct perf_profile_counter counters[PERF_PROFILE_COUNTERS] = {
        {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
        {pmu.type, table.entries[table.license[EVENTS_LVL1]].code},
        {pmu.type, table.entries[table.license[EVENTS_LVL2]].code}};
    if (perf_profile_open(&perf_profile_system, &view.online, counters, (unsigned)ceil(rate), &s->perf, &error) !=
        MACHINE_OK)
        return complain_of_machine("", &error);
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++)
        s->result.cpus += cpu_mask_has(&view.online, cpu);
    s->shares = shares_new();
    s->names = profile_names_new(NULL, NULL, NULL);
    return s->shares != NULL && s->names != NULL ? DONE : complain_out_of_memory();
}

static bool take_stretch(void *with, const struct perf_stretch *stretch)
{
    struct sharing *s = with;
    const struct profile_record r = {
        .outcome = PROFILE_TAKEN,
        .sight = {.task = {.pid = stretch->pid, .tgid = stretch->tgid, .cgroup = stretch->cgroup}}};
    return shares_add(s->shares, "/proc", stretch) &&
           (stretch->named || stretch->pid == 0 ||
            (profile_names_note(s->names, &r) &&
             (s->command == NULL || profile_command_note(s->command, "/proc", &r.sight.task))));
}

static int sharing_count(struct sharing *s)
{
    struct machine_error error;
    double seconds = s->o->profile.seconds.value, begun = clock_seconds(CLOCK_MONOTONIC);
    if (perf_profile_start(s->perf, &error) != MACHINE_OK ||
        (s->command != NULL && profile_command_go(s->command, &error) != MACHINE_OK))
        return complain_of_machine("", &error);
    stop_first_ends(true);
    bool over = false;
    while (!over) {
        over = stop_ended() != 0 || (seconds > 0 && clock_seconds(CLOCK_MONOTONIC) - begun >= seconds) ||
               (s->command != NULL && profile_command_ended(s->command, true));
        s->result.seconds = clock_seconds(CLOCK_MONOTONIC) - begun;
        if (over)
            perf_profile_stop(s->perf);
        if (perf_profile_take(s->perf, over ? 0 : WAIT_MS, take_stretch, s, &error) != MACHINE_OK)
            return complain_of_machine("", &error);
    }
    stop_first_ends(false);
    return DONE;
}

/* ---- what is shown and written ---- */

static int print_json(FILE *stream, const void *data)
{
    return file_print_json(stream, shares_json(data));
}

static int print_csv(FILE *stream, const void *data)
{
    return shares_csv(stream, data);
}

static int sharing_tell(struct sharing *s, const struct job_files *f)
{
    static file_printer *const print[JOB_FORMS] = {[FORM_JSON] = print_json, [FORM_CSV] = print_csv};
    struct shares_result *r = &s->result;
    FILE *screen = job_files_screen(f);
    if (shares_result(s->shares, s->names, r) != 0)
        return complain_out_of_memory();
    r->cpu = s->cpu;
    r->lost = perf_profile_lost(s->perf);
    for (size_t i = 0; i < r->n_rows && s->command != NULL; i++)
        if (r->rows[i].who.kind == PROFILE_TASK)
            r->rows[i].who.chosen = profile_command_owns(s->command, r->rows[i].who.pid, 0);
    shares_print(screen, messages_colour(screen), r, SHARES_ROWS);
    return job_files_write(f, print, r, s->o->quiet);
}

int sharing_run(const struct options *o, const struct job_files *f)
{
    struct sharing s = {.o = o, .result = {.head = {.version = VERSION}}};
    struct machine_error error;
    for (char **word = o->profile.command; word != NULL && *word != NULL; word++)
        text_list_add(s.command_text, sizeof(s.command_text), " ", "%s", *word);
    snapshot_take(-1, &s.environment);
    s.result.head.environment = &s.environment;
    s.result.head.command = s.command_text[0] != '\0' ? s.command_text : NULL;
    int status = sharing_open(&s);
    if (status == DONE && o->profile.command != NULL &&
        profile_command_start(o->profile.command, &s.command, &error) != MACHINE_OK)
        status = complain_of_machine("", &error);
    if (status == DONE)
        status = sharing_count(&s);
    command_stop(s.command);
    if (status == DONE)
        status = sharing_tell(&s, f);
    if (status == DONE)
        command_await(s.command);
    shares_result_free(&s.result);
    shares_free(s.shares);
    profile_names_free(s.names);
    perf_profile_close(s.perf);
    profile_command_free(s.command);
    return status;
}

/* ---- without levels ---- */

/* Some milliseconds of scalar code on the CPU that the machine chooses. NaN: it cannot be had. */
static double frequency_now(int *cpu)
{
    struct machine m;
    struct machine_error ignored;
    struct payload scalar;
    struct steady_setup setup;
    struct repetitions r = {0};
    char why[200];
    double ghz = NAN;
    struct cpu_view view;
    cpu_view_read("/sys", &view);
    if (cpu_choose(&view, -1, cpu, &ignored) != MACHINE_OK || kernel_parse("64add", &scalar, why, sizeof(why)) != 0 ||
        machine_open("timing", NULL, &m, NULL, 0, &ignored) != MACHINE_OK)
        return NAN;
    steady_defaults(&setup, &scalar);
    setup.machine.cpu = *cpu;
    setup.machine.active_cores = 1;
    stop_only_asks(true);
    if (steady_run(&m, &setup, &r, &ignored) == MACHINE_OK && r.trace.n > 0 && r.trace.channel[TRACE_FREQ] != NULL) {
        double *x = calloc(2 * r.trace.n, sizeof(*x));
        for (size_t i = 0; x != NULL && i < r.trace.n; i++)
            x[i] = (double)r.trace.channel[TRACE_FREQ][i];
        ghz = x != NULL ? robust_centre(x, r.trace.n, x + r.trace.n) : NAN;
        free(x);
        repetitions_free(&r);
    }
    m.ops->close(&m);
    return ghz;
}

int sharing_tell_frequency(FILE *screen, const struct machine_error *why)
{
    int cpu = 0;
    double ghz = frequency_now(&cpu);
    if (isfinite(ghz))
        fprintf(screen,
                "Frequency now, by time stamps: %.3f GHz (CPU %d, scalar code, one core busy).\nThis does not show at "
                "which license level a core is, whose code demands it, or what it costs others.\nA lower frequency may "
                "also be due to power, heat, a governor or the number of active cores.\n",
                ghz, cpu);
    return complain_of_machine("", why);
}
