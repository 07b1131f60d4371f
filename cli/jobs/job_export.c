/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --export header|json [FILE]: what schedulers read. */
#include <stdlib.h>
#include <string.h>

#include "output/export/export.h"
#include "output/export/schedule.h"
#include "cli/collect.h"
#include "cli/files.h"
#include "cli/jobs/jobs.h"
#include "cli/messages.h"

enum { EXPORT_BYTES = 1000000, WHY_SIZE = 1000 };

struct exported {
    const struct schedule *schedule;
    bool header;
    char why[WHY_SIZE];
};

static int print_export(FILE *out, const void *data)
{
    struct exported *e = *(struct exported *const *)data;
    return e->header ? export_header(e->schedule, out, e->why, sizeof(e->why))
                     : export_json(e->schedule, out, e->why, sizeof(e->why));
}

/* Into memory first: what contradicts itself must not reach a file. */
static int write_export(const struct options *o, const struct schedule *s)
{
    struct exported e = {.schedule = s, .header = strcmp(o->job_argument, "header") == 0};
    const struct exported *data = &e;
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    int bad = memory == NULL || print_export(memory, &data) != 0;
    if (memory != NULL && fclose(memory) != 0)
        bad = 1;
    int status = FAILED;
    if (bad)
        complain("nothing was exported: %s", e.why[0] != '\0' ? e.why : "out of memory");
    else
        status = file_write(o->file != NULL ? o->file : "-", file_print_text, text);
    free(text);
    return status;
}

/* What was measured and is not in the export must not be lost in silence. */
static void tell_left_out(const struct schedule *s)
{
    if (s->n_left_out > 0) {
        complain("%zu row%s or value%s of the tables cannot be exported, the first from table %s; the list `missing` "
                 "of the export has %s",
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
    tell_left_out(&schedule);
    int status = write_export(o, &schedule);
    schedule_free(&schedule);
    return status;
}

int job_export(const struct options *o)
{
    struct collected tables;
    const char *file = o->file;
    if (file_check(file, EXPORT_BYTES) != DONE)
        return FAILED;
    const struct table_kind *sources[TABLES_EXPORTS];
    size_t n = 0;
    for (enum tables_export part = EXPORT_NOTHING + 1; part < TABLES_EXPORTS; part++)
        sources[n++] = tables_exported(part);
    int status = collect_tables(o, sources, n, &tables);
    if (status != DONE)
        return status;
    status = export_tables(o, &tables);
    if (status == DONE && !o->quiet && file != NULL && !file_is_stdout(file))
        printf("Written      %s (%s)\n", file, strcmp(o->job_argument, "header") == 0 ? "C header" : "JSON");
    collect_free(&tables);
    return status;
}
