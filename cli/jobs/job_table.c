/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --table NAME: measures a table, shows it and writes it. */
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"
#include "cli/jobs/jobs.h"
#include "cli/measuring.h"
#include "cli/messages.h"
#include "cli/stop.h"
#include "cli/answers.h"

static int job_table_measure(const struct options *o, struct table *t)
{
    struct measuring m;
    int status = measuring_open(o, &m);
    if (status != DONE)
        return status;
    status = measuring_plan(&m, &o->table, 1);
    if (status == DONE)
        status = measuring_table(&m, o->table, NULL, t);
    if (status != DONE && stop_asked())
        complain("interrupted after %zu of %zu cells; nothing was written (--all keeps finished cells)", m.cells_done,
                 m.cells);
    if (measuring_close(&m) != DONE && status == DONE) {
        table_free(t);
        return FAILED;
    }
    return status;
}

int job_table(const struct options *o)
{
    struct outputs files;
    struct table t;
    int status = outputs_choose(o, &answers_table, o->table->name, DEFAULT_OUTPUT_DIRECTORY, &files);
    if (status == DONE)
        status = answers_check_table(&files);
    if (status == DONE)
        status = job_table_measure(o, &t);
    if (status == DONE) {
        FILE *screen = outputs_screen(&files);
        answers_show_table(screen, messages_colour(screen), o->table, &t);
        status = answers_write_table(&files, o->table, &t, screen);
        if (status == DONE && t.n_rows == 0 && t.n_missing > 0)
            status = refuse(CANNOT, "table %s: none of it can be measured on this machine; the reasons are above",
                            o->table->name);
        table_free(&t);
    }
    outputs_free(&files);
    return status;
}
