/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Putting changes back: what was read, and only where what was written still stands. */
#include "computer/settings/settings_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/text_list.h"

#define RESTORE_COMMAND "characterize --restore"

enum standing { STANDS_BEFORE, STANDS_AFTER, STANDS_OTHER, STANDS_GONE };

/* What stands there, in *now. What cannot be read is tried. */
static enum standing find_standing(const struct settings_roots *r, const struct change *c, char *now, size_t size)
{
    const char *cpu = c->kind == CHANGE_IRQ ? strchr(c->before, '@') : NULL;
    int error = settings_change_read(r, c, now, size);

    if (error != 0)
        return error == ENOENT ? STANDS_GONE : STANDS_AFTER;
    if (settings_change_same(c, now, c->before))
        return STANDS_BEFORE;
    /* an IRQ is on its way back when only the CPU that it was delivered to stands there */
    bool ours = settings_change_same(c, now, c->after) || (cpu != NULL && settings_change_same(c, now, cpu + 1));
    return ours ? STANDS_AFTER : STANDS_OTHER;
}

static int put_one_back(const struct settings_roots *r, const struct change *c)
{
    char now[CHANGE_VALUE_MAX];
    int error = settings_change_write(r, c, c->before);

    if (error == 0)
        error = settings_change_read(r, c, now, sizeof now);
    return error != 0 ? error : settings_change_same(c, now, c->before) ? 0 : EIO;
}

/* The text keeps the first that failed. */
static void tell_failed(const struct settings_roots *r, const struct change *c, int error, struct machine_error *err)
{
    char name[300];

    settings_change_name(r, c, name, sizeof name);
    machine_fail(err, MACHINE_FAILED, "as root: " RESTORE_COMMAND,
                 "%s could not be restored to %.60s: %s (the old value is kept in %.100s)", name, c->before,
                 strerror(error), r->state);
}

int settings_undo(const struct settings_roots *r, int fd, struct changes *c, size_t first, struct undoing *out,
                  struct machine_error *err)
{
    int status = MACHINE_OK;

    *out = (struct undoing){.written = 0};
    for (size_t n = c->n; n-- > first;) {
        struct change *one = &c->list[n];
        char now[CHANGE_VALUE_MAX], name[300];
        if (one->undone)
            continue;
        enum standing standing = find_standing(r, one, now, sizeof now);
        int error = standing == STANDS_AFTER ? put_one_back(r, one) : 0;
        if (error != 0 && status == MACHINE_OK) {
            status = MACHINE_FAILED;
            tell_failed(r, one, error, err);
        }
        one->undone = error == 0;
        out->written += standing == STANDS_AFTER && error == 0;
        if (standing == STANDS_OTHER || standing == STANDS_GONE) {
            settings_change_name(r, one, name, sizeof name);
            text_list_add(out->others, sizeof out->others, ", ", "%s (%.40s)", name,
                          standing == STANDS_GONE ? "no longer there" : now);
        }
    }
    for (size_t n = first; n < c->n && fd >= 0 && (status != MACHINE_OK || first > 0); n++)
        if (c->list[n].undone)
            settings_state_undone(fd, n);
    return status;
}
