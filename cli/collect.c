/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/environment/snapshot.h"
#include "output/export/schedule.h"
#include "cli/files.h"
#include "cli/messages.h"
#include "cli/stop.h"
#include "util/text_list.h"

enum { WHY_SIZE = 500 };

/* The table behind the last one is there. */
static void collect_keep(struct collected *c)
{
    c->list[c->n] = &c->table[c->n];
    c->n++;
}

/* DIR/tables/NAME.json, if it is there. */
static int collect_read_table(const char *directory, const char *name, struct collected *c)
{
    char *path = NULL, why[WHY_SIZE];
    size_t length = 0;
    struct table *t = &c->table[c->n];
    if (asprintf(&path, "%s/tables/%s.json", directory, name) < 0)
        return complain_out_of_memory();
    int status = DONE;
    char *text = file_read_found(path, &length, why, sizeof(why));
    if (text == NULL && errno != ENOENT)
        status = refuse(BAD_USAGE, "%s: cannot be read: %s", path, why);
    else if (text != NULL && table_from_json(text, length, path, t, why, sizeof(why)) != 0)
        status = refuse(BAD_USAGE, "%s", why);
    else if (text != NULL) {
        collect_keep(c);
        if (strcmp(t->name, name) != 0)
            status = refuse(BAD_USAGE, "%s: contains the table %s, not %s", path, t->name, name);
        else if (table_meta(t, "modelled") == NULL)
            status = refuse(BAD_USAGE, "%s: does not say whether its values were measured or modelled", path);
    }
    free(text);
    free(path);
    return status;
}

static int collect_read_all(const char *directory, const struct table_kind *const *kinds, size_t n, struct collected *c)
{
    for (size_t i = 0; i < n; i++) {
        int status = collect_read_table(directory, kinds[i]->name, c);
        if (status != DONE)
            return status;
    }
    if (c->n == 0) {
        char list[300] = "";
        for (size_t i = 0; i < n; i++)
            text_list_add(list, sizeof(list), ", ", "%s", kinds[i]->name);
        return refuse(BAD_USAGE,
                      "--input %s: none of these tables is in %s/tables: %s; --all --output DIR measures them",
                      directory, directory, list);
    }
    return DONE;
}

static int collect_measure_all(const struct options *o, const struct table_kind *const *kinds, size_t n,
                               struct collected *c)
{
    struct measuring m;
    int status = measuring_open(o, &m);
    if (status != DONE)
        return status;
    status = measuring_plan(&m, kinds, n);
    for (size_t i = 0; i < n && status == DONE; i++) {
        status = measuring_table(&m, kinds[i], NULL, &c->table[c->n]);
        if (status == DONE)
            collect_keep(c);
    }
    if (stop_asked())
        complain("interrupted: nothing was written; --all keeps finished cells, and --input reads its tables");
    int closed = measuring_close(&m);
    return status == DONE ? closed : status;
}

/* Tables that do not belong together, or do not hold what they promise, are of no use to any job. */
static int check_together(const struct options *o, const struct collected *c)
{
    char why[500];
    if (schedule_check_tables(c->list, c->n, why, sizeof(why)) == 0 &&
        schedule_check_rows(c->list, c->n, why, sizeof(why)) == 0)
        return DONE;
    return o->input != NULL ? refuse(BAD_USAGE, "%s: %s", o->input, why) : refuse(FAILED, "%s", why);
}

/* Tables may be of one computer and of different settings: they are used, but not in silence. */
static void tell_environments(const struct collected *c)
{
    const char *first = NULL, *of = NULL;
    for (size_t i = 0; i < c->n; i++) {
        const char *environment = table_meta(c->list[i], "environment");
        char why[400];
        if (environment == NULL)
            continue;
        if (first == NULL) {
            first = environment;
            of = c->list[i]->name;
        } else if (snapshot_differs(first, environment, why, sizeof(why))) {
            complain("warning: the tables %s and %s were measured under different settings: %s", of, c->list[i]->name,
                     why);
        }
    }
}

int collect_tables(const struct options *o, const struct table_kind *const *kinds, size_t n, struct collected *c)
{
    memset(c, 0, sizeof(*c));
    int status = o->input != NULL ? collect_read_all(o->input, kinds, n, c) : collect_measure_all(o, kinds, n, c);
    status = status == DONE ? check_together(o, c) : status;
    if (status == DONE)
        tell_environments(c);
    else
        collect_free(c);
    return status;
}

void collect_free(struct collected *c)
{
    for (size_t i = 0; i < c->n; i++)
        table_free(&c->table[i]);
    memset(c, 0, sizeof(*c));
}
