/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --export header|json [FILE]: what schedulers read. */
#include <stdlib.h>
#include <string.h>

#include "output/export/export.h"
#include "output/export/schedule.h"
#include "cli/measuring.h"
#include "cli/files.h"
#include "cli/jobs/jobs.h"
#include "cli/messages.h"

enum { EXPORT_BYTES = 1000000, WHY_SIZE = 2000 };

/* Into memory first: what contradicts itself must not reach a file. */
static int write_export(const struct options *o, const struct schedule *s)
{
    char why[WHY_SIZE];
    char *text = strcmp(o->job_argument, "header") == 0 ? export_to_header(s, why, sizeof(why))
                                                        : export_to_json(s, why, sizeof(why));
    int status = text != NULL ? file_write(o->file != NULL ? o->file : "-", file_print_text, text)
                              : refuse(FAILED, "nothing was exported: %s", why);
    free(text);
    return status;
}

/* Values that were measured but are not exported must not be lost silently. */
static void tell_left_out(const struct schedule *s)
{
    if (s->n_left_out > 0) {
        complain("%zu row%s or value%s of the tables cannot be exported, the first from table %s; the export's list "
                 "'missing' has %s",
                 s->n_left_out, s->n_left_out == 1 ? "" : "s", s->n_left_out == 1 ? "" : "s", s->first_left_out,
                 s->n_left_out == 1 ? "it" : "all of them");
    }
}

static int export_tables(const struct options *o, const struct collected *tables)
{
    struct schedule schedule;
    char why[WHY_SIZE];
    if (schedule_from_tables(tables->list, tables->n, &schedule, why, sizeof(why)) != 0)
        return refuse(FAILED, "nothing was exported: %s", why);
    bool inconsistent = o->input != NULL && schedule_check_consistent(&schedule, why, sizeof(why)) != 0;
    int status = inconsistent ? refuse(BAD_USAGE, "%s: nothing was exported: %s", o->input, why) : DONE;
    if (!inconsistent) {
        tell_left_out(&schedule);
        status = write_export(o, &schedule);
    }
    schedule_free(&schedule);
    return status;
}

int job_export(const struct options *o)
{
    struct collected tables;
    const char *file = o->file;
    int status = file_check(file, EXPORT_BYTES);
    if (status != DONE)
        return status;
    const struct table_kind *sources[TABLES_EXPORTS];
    size_t n = 0;
    for (enum tables_export part = EXPORT_NOTHING + 1; part < TABLES_EXPORTS; part++)
        sources[n++] = tables_exported(part);
    status = collect_tables(o, sources, n, &tables);
    if (status != DONE)
        return status;
    status = export_tables(o, &tables);
    if (status == DONE && !o->quiet && file != NULL && !file_is_stdout(file))
        messages_print(stdout, "Written      %s (%s)", file,
                       strcmp(o->job_argument, "header") == 0 ? "C header" : "JSON");
    collect_free(&tables);
    return status;
}
