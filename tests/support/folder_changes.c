/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/folder_changes.h"
#include "tests/support/test.h"

#include <unistd.h>

/* What is changed is moved aside, and back when it is over. */
struct undo {
    char made[300], aside[340]; /* aside "": there was nothing */
};
static struct undo undos[4 * FOLDER_CHANGES];
static size_t n_undos;

static void change_one(const char *root, const struct folder_change *put)
{
    struct undo *u = &undos[n_undos++];
    char path[300];
    snprintf(path, sizeof path, "%s/%s", root, put->path);
    /* the uppermost that is not there is what has to go in the end */
    snprintf(u->made, sizeof u->made, "%s", path);
    for (char *slash = strrchr(u->made, '/'); slash; slash = strrchr(u->made, '/')) {
        *slash = '\0';
        if (access(u->made, F_OK) == 0) {
            *slash = '/';
            break;
        }
    }
    snprintf(u->aside, sizeof u->aside, "%s/aside%zu", root, n_undos);
    if (rename(path, u->aside) != 0)
        u->aside[0] = '\0';
    if (put->text)
        folder_put_line(root, put->path, put->text);
}

void folder_change(const char *root, const struct folder_change changes[FOLDER_CHANGES])
{
    for (size_t i = 0; i < FOLDER_CHANGES && changes[i].path; i++)
        change_one(root, &changes[i]);
}

void folder_change_undo(void)
{
    while (n_undos > 0) {
        const struct undo *u = &undos[--n_undos];
        folder_remove(u->made);
        if (u->aside[0])
            assert_int_equal(rename(u->aside, u->made), 0);
    }
}
