/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --which: which functions of a program or library lift the turbo class. */
#include <stdlib.h>

#include "cli/jobs/jobs.h"
#include "cli/measuring.h"
#include "cli/messages.h"
#include "cli/outputs.h"
#include "cli/stop.h"
#include "tables/which/which.h"

struct which_run {
    struct measuring m;
    struct binary binary;
    struct binary_choice choice;
    struct which_request request;
};

/* Opens the machine, for which the blocks are chosen. */
static int which_choose(const struct options *o, struct which_run *r)
{
    struct machine_info info;
    struct machine_error error;
    int status = measuring_open(o, &r->m);
    if (status != DONE)
        return status;
    r->m.machine.ops->info(&r->m.machine, &info);
    const struct binary_target target = {info.cpu, info.features, info.modelled};
    if (binary_choose(&r->binary, &target, &r->choice, &error) != MACHINE_OK) {
        (void)measuring_close(&r->m);
        return complain_of_machine("--which", &error);
    }
    r->request = (struct which_request){.file = o->job_argument, .choice = &r->choice};
    r->m.options.which = &r->request;
    if (o->profile.seconds.given)
        r->m.options.seconds = o->profile.seconds.value;
    return DONE;
}

static int which_answer(const struct options *o, struct which_run *r, const struct outputs *files)
{
    struct table t;
    struct machine_error error;
    if (binary_read(o->job_argument, &r->binary, &error) != MACHINE_OK)
        return complain_of_machine("--which", &error);
    int status = which_choose(o, r);
    if (status != DONE)
        return status;
    if (r->choice.n_blocks == 0) {
        printf("%s: no instructions of 256 bits and more: nothing to measure\n", o->job_argument);
        return measuring_close(&r->m);
    }
    status = measuring_single_table(&r->m, &table_which, &t);
    if (status != DONE) {
        if (stop_requested())
            complain("interrupted: nothing was written");
        return status;
    }
    status = answers_tell_table(files, &table_which, &t);
    if (status == DONE && t.n_rows == 0)
        status = refuse(CANNOT,
                        "--which: none of its wide code can be measured on this machine; the reasons are above");
    table_free(&t);
    return status;
}

int job_which(const struct options *o)
{
    struct outputs files;
    struct which_run *r = calloc(1, sizeof(*r));
    if (r == NULL)
        return complain_out_of_memory();
    int status = outputs_choose(o, &answers_rows, table_which.name, NULL, &files);
    if (status == DONE)
        status = answers_check_table(&files);
    if (status == DONE)
        status = which_answer(o, r, &files);
    binary_choice_free(&r->choice);
    binary_free(&r->binary);
    outputs_free(&files);
    free(r);
    return status;
}
