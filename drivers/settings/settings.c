/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/settings/settings_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define RESTORE_COMMAND "characterize --restore"

const char *const settings_root_state_file = "/run/characterize.settings";

const char *const quiet_part_names[QUIET_PARTS] = {"governor", "epp",       "turbo", "cstates", "smt",
                                                   "irq",      "workqueue", "tick",  "isolate"};

struct settings {
    struct settings_roots roots;
    char state[240];
    struct changes changes;
    size_t done; /* of them, made */
    int fd;      /* of the locked file */
    char text[200];
};

int settings_state_file(char *out, size_t size)
{
    const char *folder = getenv("XDG_RUNTIME_DIR");

    if (geteuid() == 0) {
        snprintf(out, size, "%s", settings_root_state_file);
        return 0;
    }
    if (folder == NULL || folder[0] != '/') {
        out[0] = '\0';
        return -1;
    }
    return snprintf(out, size, "%s/characterize.settings", folder) < (int)size ? 0 : -1;
}

/* Puts the changes number n - 1 to 0 back. Returns MACHINE_OK, or tells of the first that could not be. */
static int settings_put_back(const struct settings_roots *r, const struct changes *c, size_t n,
                             struct machine_error *err)
{
    int status = MACHINE_OK;

    while (n-- > 0) {
        const struct change *one = &c->list[n];
        char now[48], name[260];
        if (settings_change_read(r, one, now, sizeof now) == 0 && strcmp(now, one->before) == 0)
            continue;
        int error = settings_change_write(r, one, one->before);
        if (error != 0 && status == MACHINE_OK) {
            settings_change_name(one, name, sizeof name);
            status = machine_fail(err, MACHINE_FAILED, "as root: " RESTORE_COMMAND,
                                  "%s could not be restored to %s: %s (the old value is kept in %s)", name, one->before,
                                  strerror(error), r->state);
        }
    }
    return status;
}

static void free_settings(struct settings *s)
{
    free(s->changes.list);
    free(s);
}

int settings_restore(struct settings *s, struct machine_error *err)
{
    if (s == NULL)
        return MACHINE_OK;
    int status = settings_put_back(&s->roots, &s->changes, s->done, err);
    if (status == MACHINE_OK)
        settings_state_remove(&s->roots, s->fd);
    else
        close(s->fd);
    free_settings(s);
    return status;
}

/* Opens the file for a run that wants to change something; what is left in it is put back first. */
static int claim_state(struct settings *s, struct machine_error *err)
{
    struct changes left;
    enum state_kind kind;
    pid_t pid;
    int error = settings_state_open(&s->roots, true, &s->fd, &kind, &pid, &left);

    if (error != 0) {
        return machine_fail(err, MACHINE_CANNOT, "run as root, or remove it",
                            "settings were not changed, because the old ones could not be recorded in %s: %s", s->state,
                            error == EBADMSG ? "it contains something else" : strerror(error));
    }
    if (kind == STATE_LIVES) {
        return machine_fail(err, MACHINE_CANNOT, "wait for it to end",
                            "another run (process %d) has changed this machine's settings", (int)pid);
    }
    int status = settings_put_back(&s->roots, &left, left.n, err);
    free(left.list);
    if (status != MACHINE_OK)
        close(s->fd);
    return status;
}

static int make_changes(struct settings *s, struct machine_error *err)
{
    int error = settings_state_write(s->fd, &s->changes);

    if (error != 0) {
        return machine_fail(err, MACHINE_CANNOT, "",
                            "settings were not changed, because the old ones could not be recorded in %s: %s", s->state,
                            strerror(error));
    }
    for (; s->done < s->changes.n; s->done++) {
        const struct change *one = &s->changes.list[s->done];
        char name[260], now[48] = "";
        error = settings_change_write(&s->roots, one, one->after);
        if (error == 0)
            error = settings_change_read(&s->roots, one, now, sizeof now);
        settings_change_name(one, name, sizeof name);
        if (error != 0) {
            bool forbidden = error == EACCES || error == EPERM || error == EROFS;
            return machine_fail(err, MACHINE_CANNOT,
                                !forbidden       ? ""
                                : geteuid() != 0 ? "run as root"
                                                 : "not in a container, and without kernel lockdown",
                                "%s cannot be set to %s: %s", name, one->after, strerror(error));
        }
        if (strcmp(now, one->after) != 0) {
            s->done++; /* it did change something */
            return machine_fail(err, MACHINE_CANNOT, "choose another value", "%s was set to %s but is %s", name,
                                one->after, now);
        }
    }
    return MACHINE_OK;
}

static int settings_plan(struct settings *s, const struct settings_wish *wish, struct machine_error *err)
{
    int status = MACHINE_OK;

    if (wish->turbo >= 0)
        status = settings_plan_turbo(&s->roots, wish->turbo != 0, &s->changes, s->text, sizeof s->text, err);
    if (status == MACHINE_OK && wish->fixed_ghz > 0)
        status = settings_plan_frequency(&s->roots, wish->fixed_ghz, &s->changes, s->text, sizeof s->text, err);
    return status;
}

int settings_apply(const struct settings_roots *r, const struct settings_wish *wish, struct settings **out,
                   struct machine_error *err)
{
    struct settings *s = calloc(1, sizeof *s);

    *out = NULL;
    if (s == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    s->roots = *r;
    snprintf(s->state, sizeof s->state, "%s", r->state);
    s->roots.state = s->state;
    int status = claim_state(s, err);
    if (status != MACHINE_OK) {
        free_settings(s);
        return status;
    }
    status = settings_plan(s, wish, err);
    if (status == MACHINE_OK)
        status = make_changes(s, err);
    if (status != MACHINE_OK) {
        struct machine_error second;
        if (settings_restore(s, &second) != MACHINE_OK) {
            *err = second; /* worse than the first */
            return second.status;
        }
        return status;
    }
    *out = s;
    return MACHINE_OK;
}

const char *settings_text(const struct settings *s)
{
    return s != NULL ? s->text : "";
}

/* Whether root has left something behind that this user may only see. */
static bool left_by_another(const struct settings_roots *r)
{
    int fd = open(r->state, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    char first;
    bool left = fd >= 0 && read(fd, &first, 1) == 1 && flock(fd, LOCK_SH | LOCK_NB) == 0;

    if (fd >= 0)
        close(fd);
    return left;
}

int settings_recover(const struct settings_roots *r, char *told, size_t size, bool *lives, struct machine_error *err)
{
    struct changes left;
    enum state_kind kind;
    pid_t pid;
    int fd = -1, error = settings_state_open(r, false, &fd, &kind, &pid, &left);

    told[0] = '\0';
    *lives = error == 0 && kind == STATE_LIVES;
    if (error == EACCES || error == EPERM || error == EROFS) {
        return !left_by_another(r) ? MACHINE_OK
                                   : machine_fail(err, MACHINE_CANNOT, "as root: " RESTORE_COMMAND,
                                                  "a killed run left this machine's settings changed (%s)", r->state);
    }
    if (error != 0) {
        return machine_fail(err, MACHINE_CANNOT, "restore by hand what it lists, then remove it",
                            "%s cannot be understood: %s", r->state,
                            error == EBADMSG ? "it was not written by this program" : strerror(error));
    }
    if (*lives) {
        snprintf(told, size, "another run (process %d) has changed this machine's settings", (int)pid);
        return MACHINE_OK;
    }
    bool restored = settings_put_back(r, &left, left.n, err) == MACHINE_OK;
    if (restored && kind == STATE_LEFT) {
        snprintf(told, size, "restored %zu setting%s that a killed run (process %d) had changed", left.n,
                 left.n == 1 ? "" : "s", (int)pid);
    }
    if (fd >= 0 && restored)
        settings_state_remove(r, fd);
    else if (fd >= 0)
        close(fd);
    free(left.list);
    if (!restored)
        err->status = MACHINE_CANNOT;
    return restored ? MACHINE_OK : MACHINE_CANNOT;
}
