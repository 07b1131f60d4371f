/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --beside and --clocks: what a command costs beside background code of several widths, or at fixed frequencies. */
#include <stdlib.h>
#include <string.h>

#include "cli/changed_settings.h"
#include "cli/jobs/jobs.h"
#include "cli/measuring.h"
#include "cli/messages.h"
#include "cli/outputs.h"
#include "cli/stop.h"
#include "drivers/native/corun_command.h"
#include "tables/beside/beside.h"
#include "util/text_list.h"

static const double SECONDS = 60; /* without --seconds */

struct beside_run {
    struct measuring m;
    struct beside_request request;
    struct corun work;
    struct corun_command *command; /* NULL: the machine is a model */
    const struct options *o;
    size_t mark;    /* of the settings before the first run at a fixed frequency */
    char text[300]; /* the command, in words */
};

/* As a shell takes it. */
static void add_word(char *text, size_t size, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./=+:,@%-";
    const char *rest = word;
    if (*word != '\0' && word[strspn(word, plain)] == '\0') {
        text_list_add(text, size, " ", "%s", word);
        return;
    }
    text_list_add(text, size, " ", "'");
    while (*rest != '\0') {
        const size_t length = strcspn(rest, "'");
        text_list_add(text, size, "", "%.*s%s", (int)length, rest, rest[length] != '\0' ? "'\\''" : "");
        rest += length + (rest[length] != '\0');
    }
    text_list_add(text, size, "", "'");
}

static void request_of(const struct options *o, struct beside_run *r)
{
    struct beside_request *q = &r->request;
    for (size_t i = 0; o->beside.command[i] != NULL; i++)
        add_word(r->text, sizeof(r->text), o->beside.command[i]);
    *q = o->beside.request;
    q->command = r->text;
    q->seconds = o->profile.seconds.given ? o->profile.seconds.value : SECONDS;
    q->rounds = (unsigned)o->runs.value;
    if (!o->beside.place_given)
        q->place = q->n_clocks > 0 ? CORUN_SAME : CORUN_CORE;
}

/* One run of the command, at a fixed frequency where that is requested. */
static int run_command(void *data, const struct corun_background *b, struct corun_seen *out, struct machine_error *err)
{
    struct beside_run *r = data;
    const int status = r->request.n_clocks > 0 ? changed_settings_fix(r->o, b->fixed_ghz, r->mark, &r->m.changed, err)
                                               : MACHINE_OK;
    return status == MACHINE_OK ? corun_command_run(r->command, b, out, err) : status;
}

/* On a model a kernel is the command. */
static int find_kernel(const struct options *o, struct beside_request *q)
{
    char why[400];
    if (o->beside.command[1] == NULL && kernel_parse(o->beside.command[0], &q->kernel, why, sizeof(why)) == 0)
        return DONE;
    return refuse(BAD_USAGE,
                  "--%s: the command '%s' cannot run on a model; give the name of a kernel instead, as in -- 64add",
                  o->job_option, q->command);
}

/* Without --on: on the other cores, or, where there are none, on the same. */
static int open_command(const struct options *o, const struct machine_info *info, struct beside_run *r)
{
    struct machine_error error;
    struct corun_command_setup s = {.argv = o->beside.command,
                                    .place = r->request.place,
                                    .cpu = r->m.options.cpu,
                                    .core = info->core,
                                    .tsc_hz = info->tsc_hz,
                                    .tsc_step = info->tsc_step,
                                    .stop = stop_requested};
    char about[40];
    snprintf(about, sizeof about, "--%s", o->job_option);
    int status = corun_command_open(&s, &r->command, &error);
    if (status == MACHINE_CANNOT && !o->beside.place_given) {
        s.place = r->request.place = CORUN_SAME;
        if (!o->quiet)
            complain("no other core may be used: background code runs on the CPU of the command, as with --on same");
        status = corun_command_open(&s, &r->command, &error);
    }
    r->work = (struct corun){run_command, r, false};
    r->request.work = &r->work;
    r->mark = settings_mark(r->m.changed);
    return status == MACHINE_OK ? DONE : complain_of_machine(about, &error);
}

static int beside_measure(const struct options *o, struct beside_run *r, struct table *t)
{
    struct machine_info info;
    int status = measuring_open(o, &r->m);
    if (status != DONE)
        return status;
    r->m.machine.ops->info(&r->m.machine, &info);
    status = info.modelled ? find_kernel(o, &r->request) : open_command(o, &info, r);
    r->m.options.beside = &r->request;
    if (status == DONE)
        status = measuring_single_table(&r->m, &table_beside, t);
    else
        (void)measuring_close(&r->m);
    if (status != DONE && stop_requested())
        complain("interrupted: nothing was written");
    corun_command_close(r->command);
    return status;
}

int job_beside(const struct options *o)
{
    struct outputs files;
    struct table t;
    struct beside_run *r = calloc(1, sizeof(*r));
    if (r == NULL)
        return complain_out_of_memory();
    r->o = o;
    request_of(o, r);
    int status = outputs_choose(o, &answers_rows, table_beside.name, NULL, &files);
    if (status == DONE)
        status = answers_check_table(&files);
    if (status == DONE)
        status = beside_measure(o, r, &t);
    if (status == DONE) {
        status = answers_tell_table(&files, &table_beside, &t);
        if (status == DONE && t.n_rows == 0)
            status = refuse(CANNOT, "--%s: none of it can be measured on this machine; the reasons are above",
                            o->job_option);
        table_free(&t);
    }
    outputs_free(&files);
    free(r);
    return status;
}
