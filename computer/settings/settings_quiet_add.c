/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the plan of a part is made of: settings to change, and those that cannot be. */
#include "computer/settings/settings_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void settings_quiet_keep(struct quiet_plan *p, const char *name, int error)
{
    if (p->kept++ == 0) {
        p->error = error;
        snprintf(p->first, sizeof p->first, "%s", name);
    }
}

int settings_quiet_writable(const struct settings_roots *r, const struct change *one)
{
    if (one->kind != CHANGE_FILE && one->kind != CHANGE_IRQ && one->kind != CHANGE_CONTROLLER)
        return 0;
    int fd = settings_open(r, one->path, O_WRONLY);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* The kernel alone places it: a file that nobody may write (kernel/irq/proc.c: irq_can_set_affinity_usr). */
static bool is_placed_by_kernel(const struct settings_roots *r, const struct change *one)
{
    char real[300];
    struct stat s;
    settings_real_path(r, one->path, real, sizeof real);
    return one->kind == CHANGE_IRQ && lstat(real, &s) == 0 && (s.st_mode & 0222) == 0;
}

void settings_quiet_add(struct quiet_plan *p, enum change_kind kind, const char *path, const char *after)
{
    char before[CHANGE_VALUE_MAX], value[CHANGE_VALUE_MAX], name[300];
    struct change one = {.kind = kind, .cpu = -1, .before = before, .after = value, .part = -1};

    snprintf(one.path, sizeof one.path, "%s", path);
    snprintf(value, sizeof value, "%s", after);
    settings_change_name(p->roots, &one, name, sizeof name);
    int error = settings_change_read(p->roots, &one, before, sizeof before);
    if (error == 0 && !settings_change_allowed(&one))
        error = EBADMSG; /* what stands there could not be put back */
    p->all++;
    if (error == 0 && settings_change_same(&one, before, after)) {
        p->already++;
        return;
    }
    if (error == 0 && is_placed_by_kernel(p->roots, &one))
        error = EPERM;
    if (error == 0 && !p->only_shown)
        error = settings_quiet_writable(p->roots, &one);
    if (error != 0)
        settings_quiet_keep(p, name, error);
    else if (settings_changes_add(&p->changes, &one) != 0)
        p->out_of_memory = true;
}

void settings_quiet_why(const struct quiet_plan *p, char *out, size_t size)
{
    bool irq = strstr(p->first, "/irq/") != NULL; /* managed ones, of queues for each CPU, refuse */
    const char *because = p->error == -1                                  ? "accepts the write but does not keep it"
                          : p->error == EBADMSG                           ? "its content is not understood"
                          : irq && (p->error == EIO || p->error == EPERM) ? "only the kernel places it"
                                                                          : strerror(p->error);

    out[0] = '\0';
    if (p->why[0] != '\0')
        snprintf(out, size, "%s", p->why);
    else if (p->kept == 1)
        snprintf(out, size, "%s: %s", p->first, because);
    else if (p->kept > 1 && p->kept >= p->all)
        snprintf(out, size, "e.g. %s: %s", p->first, because);
    else if (p->kept > 1)
        snprintf(out, size, "%zu of %zu cannot be changed, e.g. %s: %s", p->kept, p->all, p->first, because);
}
