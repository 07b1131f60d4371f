/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes a profile: records are read, added up and shown until its time is over. */
#include "cli/profile/profiling.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/messages.h"
#include "cli/progress.h"
#include "cli/stop.h"
#include "profiler/output/live.h"
#include "util/clock.h"

/* Records that are read at once; how long a read waits, so that keys are answered ten times a second; how long a
 * command has to end after a signal. */
enum { RECORDS = 64, WAIT_MS = 100, MOMENT_MS = 1000 };
static const double RESULT_S = 1; /* between two results of the live view */

int profiling_result(const struct profiling *p, struct profile_result *out)
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

void profiling_stop_command(struct profile_command *c)
{
    if (c == NULL || stop_ended() == 0)
        return;
    if (stop_ended() > 0)
        kill(profile_command_pid(c), stop_ended());
    for (int ms = 0; ms < MOMENT_MS && !profile_command_ended(c, false); ms += 10)
        usleep(10000);
}

void profiling_await_command(struct profile_command *c)
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
            profiling_stop_command(c);
    }
    ended = profile_command_ended(c, true);
    if (!ended)
        complain("the command is still running: process %d", (int)profile_command_pid(c));
    else if (profile_command_failure(c) != NULL)
        complain("the command %s", profile_command_failure(c));
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
            /* what is said while the view is there goes with its screen */
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

int profiling_run(struct profiling *p)
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
    profiling_stop_command(p->command);
    return status;
}

void profiling_free(struct profiling *p)
{
    if (p->open)
        p->source.ops->close(&p->source);
    p->open = false;
    profile_command_free(p->command);
    profile_totals_free(p->totals);
    profile_names_free(p->names);
    profile_stacks_free(p->stacks);
}
