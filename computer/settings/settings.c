/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings changed for a run: written down, changed, reported in words, and put back; also after a run that was
 * killed. */
#include "computer/settings/settings_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "util/text_list.h"

const char *const settings_root_state_file = "/run/characterize.settings";

const char *const settings_part_names[QUIET_PARTS] = {"governor", "epp",       "turbo", "cstates", "smt",
                                                      "irq",      "workqueue", "tick",  "isolate"};

struct settings {
    struct settings_roots roots;
    char sys[240], proc[240], dev[240], state[240]; /* of the roots: the caller's may be gone by then */
    struct changes changes;
    int fd;              /* of the locked journal; -1: there is none, and nothing may be changed, ... */
    int journal_error;   /* ... for this reason */
    char wish_text[200]; /* turbo and frequency */
    size_t base;         /* changes that turbo and frequency took */
    int cpu;             /* for whom it is quiet */
    struct quiet_report report;
    char text[800], left[2000];
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

static void free_settings(struct settings *s)
{
    settings_changes_free(&s->changes);
    free(s);
}

/* ---- in words: what was changed for a quiet machine, and what was not ---- */

/* "governor performance (was powersave)": one change, by the last part of its file's name. */
static void add_change(const struct change *c, const char *part, char *out, size_t size)
{
    const char *name = strrchr(c->path, '/');
    name = name != NULL ? name + 1 : part;
    if (c->kind == CHANGE_PARTITION)
        text_list_add(out, size, ", ", "alone in a cpuset");
    else if (c->kind == CHANGE_SHIELD)
        text_list_add(out, size, ", ", "other tasks moved to CPUs %.60s", c->after);
    else if (strcmp(name, "online") == 0)
        text_list_add(out, size, ", ", "CPU %d offline", atoi(strstr(c->path, "/cpu/") + strlen("/cpu/cpu")));
    else
        text_list_add(out, size, ", ", "%s %.30s (was %.30s)", name, c->after, c->before);
}

/* One part: its changes where they are few and have names of their own, else their number. */
static void add_part(const struct changes *c, int part, char *out, size_t size)
{
    const size_t few = 1u << part == QUIET_WORKQUEUE || 1u << part == QUIET_CSTATES ? 0 : 3;
    char list[400] = "";
    size_t n = 0, irqs = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct change *one = &c->list[i];
        if (one->part != part || one->undone || one->kind == CHANGE_CONTROLLER)
            continue;
        if (one->kind == CHANGE_IRQ && 1u << part == QUIET_SMT)
            continue; /* follows from it */
        n++;
        irqs += one->kind == CHANGE_IRQ;
        if (n <= few && one->kind != CHANGE_IRQ)
            add_change(one, settings_part_names[part], list, sizeof list);
    }
    if (n > few || irqs > 0) {
        const char *what = irqs > 0 ? "interrupt" : "setting";
        size_t count = irqs > 0 ? irqs : n;
        snprintf(list, sizeof list, "%zu %s%s%s", count, what, count == 1 ? "" : "s", irqs > 0 ? " moved away" : "");
    }
    if (n > 0)
        text_list_add(out, size, "; ", "%s: %s", settings_part_names[part], list);
}

void settings_text_parts(const struct quiet_report *t, const struct changes *c, int cpu, char *out, size_t size)
{
    char parts[700] = "", before[200] = "", left[200] = "";
    for (int i = 0; i < QUIET_PARTS; i++) {
        size_t used = strlen(parts);
        if ((t->wished & 1u << i) == 0)
            continue;
        add_part(c, i, parts, sizeof parts);
        if ((t->already & 1u << i) != 0)
            text_list_add(before, sizeof before, ", ", "%s", settings_part_names[i]);
        else if (strlen(parts) == used)
            text_list_add(left, sizeof left, ", ", "%s", settings_part_names[i]);
    }
    if (t->wished == 0)
        return;
    if (parts[0] == '\0')
        snprintf(parts, sizeof parts, "nothing changed");
    text_list_add(out, size, "; ", "quiet for CPU %d: %s", cpu, parts);
    if (before[0] != '\0')
        text_list_add(out, size, "; ", "so before: %s", before);
    if (left[0] != '\0')
        text_list_add(out, size, "; ", "as it was: %s", left);
}

void settings_text_left(const struct quiet_report *t, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < QUIET_PARTS; i++) {
        char names[200] = "";
        bool reported = t->why[i][0] == '\0';
        for (int k = 0; k < QUIET_PARTS; k++) {
            bool same = strcmp(t->why[i], t->why[k]) == 0;
            reported = reported || (same && k < i);
            if (same && k >= i)
                text_list_add(names, sizeof names, ", ", "%s", settings_part_names[k]);
        }
        if (!reported && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s: %s\n", names, t->why[i]);
    }
}

/* ---- putting back: what was read, and only where what was written still stands ---- */

#define RESTORE_COMMAND "characterize --restore"

enum standing { STANDS_BEFORE, STANDS_AFTER, STANDS_OTHER, STANDS_GONE };

/* Reads what stands there into *now. A setting that cannot be read is tried. */
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

/* Notes in err->text which settings were left to somebody else. */
static void note_others(const struct undoing *u, struct machine_error *err)
{
    *err = (struct machine_error){.status = MACHINE_OK};
    if (u->others[0] != '\0')
        snprintf(err->text, sizeof err->text, "set by somebody else meanwhile and left alone: %s", u->others);
}

size_t settings_mark(const struct settings *s)
{
    return s != NULL ? s->changes.n : 0;
}

size_t settings_base(const struct settings *s)
{
    return s != NULL ? s->base : 0;
}

static void retell(struct settings *s)
{
    snprintf(s->text, sizeof s->text, "%s", s->wish_text);
    settings_text_parts(&s->report, &s->changes, s->cpu, s->text, sizeof s->text);
    settings_text_left(&s->report, s->left, sizeof s->left);
}

int settings_back_to(struct settings *s, size_t mark, struct machine_error *err)
{
    struct undoing undoing;
    if (s == NULL)
        return MACHINE_OK;
    int status = settings_undo(&s->roots, s->fd, &s->changes, mark, &undoing, err);
    if (status == MACHINE_OK)
        note_others(&undoing, err);
    retell(s);
    return status;
}

int settings_restore(struct settings *s, struct machine_error *err)
{
    if (s == NULL) {
        *err = (struct machine_error){.status = MACHINE_OK};
        return MACHINE_OK;
    }
    int status = settings_back_to(s, 0, err);
    if (status == MACHINE_OK && s->fd >= 0)
        settings_state_remove(&s->roots, s->fd);
    else if (s->fd >= 0)
        close(s->fd);
    free_settings(s);
    return status;
}

/* ---- changing ---- */

/* Opens the journal for a run that wants to change something; what is left in it is put back first. */
static int claim_state(struct settings *s, struct machine_error *err)
{
    struct changes left;
    struct undoing undoing;
    enum state_kind kind;
    pid_t pid;
    s->journal_error = settings_state_open(&s->roots, true, &s->fd, &kind, &pid, &left);
    if (s->journal_error != 0)
        return MACHINE_OK; /* reported where something is to be changed */
    if (kind == STATE_LIVES) {
        return machine_fail(err, MACHINE_CANNOT, "wait for it to end",
                            "another run (process %d) has changed this machine's settings", (int)pid);
    }
    int status = settings_undo(&s->roots, s->fd, &left, 0, &undoing, err);
    settings_changes_free(&left);
    if (status != MACHINE_OK) {
        close(s->fd);
        return status;
    }
    s->journal_error = settings_state_begin(&s->roots, s->fd);
    if (s->journal_error != 0) {
        settings_state_remove(&s->roots, s->fd);
        s->fd = -1;
    }
    return MACHINE_OK;
}

static int refuse_without_journal(const struct settings *s, struct machine_error *err)
{
    const bool foreign = s->journal_error == EBADMSG;
    return machine_fail(err, MACHINE_CANNOT,
                        foreign          ? "remove it"
                        : geteuid() != 0 ? "run as root"
                                         : "",
                        "no settings were changed, because the old ones could not be recorded in %s: %s", s->state,
                        foreign ? "it contains something else" : strerror(s->journal_error));
}

enum { FORGOTTEN = -1, UNRECORDED = -2 };

/* Writes it down, makes it, and looks. Returns 0, an error number, FORGOTTEN (then *now is what stands there) or
 * UNRECORDED. */
static int make_change(struct settings *s, const struct change *one, char *now, size_t size)
{
    now[0] = '\0';
    if (s->journal_error == 0)
        s->journal_error = settings_state_append(s->fd, one); /* a line after half a line would be lost */
    if (s->journal_error == 0 && settings_changes_add(&s->changes, one) != 0)
        s->journal_error = ENOMEM;
    if (s->journal_error != 0)
        return UNRECORDED;
    struct change *made = &s->changes.list[s->changes.n - 1];
    int error = settings_change_write(&s->roots, made, made->after);
    bool wrote = error == 0;
    if (wrote)
        error = settings_change_read(&s->roots, made, now, size);
    if (error == 0 && settings_change_same(made, now, made->after))
        return 0;
    /* something third may stand there, which would later seem to be somebody else's */
    wrote = wrote && (error != 0 || !settings_change_same(made, now, made->before));
    if (!wrote || settings_change_write(&s->roots, made, made->before) == 0) {
        made->undone = true;
        settings_state_undone(s->fd, s->changes.n - 1);
    }
    return error != 0 ? error : FORGOTTEN;
}

/* All of them, or what cannot be changed. */
static int make_all(struct settings *s, const struct changes *c, struct machine_error *err)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct change *one = &c->list[i];
        char name[300], now[CHANGE_VALUE_MAX];
        int error = make_change(s, one, now, sizeof now);
        settings_change_name(&s->roots, one, name, sizeof name);
        if (error == UNRECORDED)
            return refuse_without_journal(s, err);
        if (error == FORGOTTEN) {
            return machine_fail(err, MACHINE_CANNOT, "choose another value", "%s was set to %s but is %.100s", name,
                                one->after, now);
        }
        if (error != 0) {
            bool forbidden = error == EACCES || error == EPERM || error == EROFS;
            return machine_fail(err, MACHINE_CANNOT,
                                !forbidden       ? ""
                                : geteuid() != 0 ? "run as root"
                                                 : "not in a container, and without kernel lockdown",
                                "%s cannot be set to %s: %s", name, one->after, strerror(error));
        }
    }
    return MACHINE_OK;
}

static int make_wish(struct settings *s, const struct settings_wish *wish, struct machine_error *err)
{
    struct changes planned = {NULL, 0};
    int status = MACHINE_OK;
    if (wish->turbo < 0 && wish->fixed_ghz <= 0)
        return MACHINE_OK;
    if (wish->turbo >= 0) {
        status = settings_plan_turbo(&s->roots, wish->turbo != 0, &planned, s->wish_text, sizeof s->wish_text, err);
        status = status != MACHINE_OK ? status : make_all(s, &planned, err);
        settings_changes_free(&planned);
    }
    if (status == MACHINE_OK && wish->fixed_ghz > 0) {
        status = settings_plan_frequency(&s->roots, wish->fixed_ghz, &planned, s->wish_text, sizeof s->wish_text, err);
        status = status != MACHINE_OK ? status : make_all(s, &planned, err);
        settings_changes_free(&planned);
    }
    s->base = s->changes.n;
    return status;
}

/* ---- the parts of a quiet machine ---- */

/* Changes what can be changed of a planned part. Returns how many were. */
static size_t make_part(struct settings *s, struct quiet_plan *p)
{
    size_t made = 0;
    for (size_t i = 0; i < p->changes.n; i++) {
        struct change *one = &p->changes.list[i];
        char name[300], now[CHANGE_VALUE_MAX];
        int error = make_change(s, one, now, sizeof now);
        settings_change_name(&s->roots, one, name, sizeof name);
        if (error == UNRECORDED)
            settings_keep(p, s->state, s->journal_error);
        else if (error != 0)
            settings_keep(p, name, error == FORGOTTEN ? -1 : error);
        made += error == 0 && one->kind != CHANGE_CONTROLLER; /* which isolates nobody by itself */
    }
    return made;
}

static int refuse_part(int number, const char *why, struct machine_error *err)
{
    return machine_fail(err, MACHINE_CANNOT, "leave it out of --quiet-machine=...",
                        "--quiet-machine=%s: nothing in it can be changed here: %s", settings_part_names[number], why);
}

static int make_quiet(struct settings *s, const struct settings_wish *wish, struct machine_error *err)
{
    int status = MACHINE_OK;
    for (size_t i = 0; i < QUIET_PARTS && status == MACHINE_OK; i++) {
        struct quiet_plan plan;
        if (!settings_quiet_plan(&s->roots, wish, i, false, &plan))
            continue;
        enum quiet_part part = plan.part;
        int number = __builtin_ctz(part);
        size_t made = make_part(s, &plan);
        if (plan.out_of_memory)
            status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
        char *why = s->report.why[number];
        settings_why(&plan, why, sizeof s->report.why[number]);
        bool stands = made + plan.already > 0;
        if (status == MACHINE_OK && !stands && (wish->quiet_must & part) != 0)
            status = refuse_part(number, why, err);
        s->report.wished |= part;
        s->report.stands = stands ? s->report.stands | part : s->report.stands & ~part;
        s->report.already = made == 0 && plan.already > 0 ? s->report.already | part : s->report.already & ~part;
        settings_changes_free(&plan.changes);
    }
    return status;
}

static void take_roots(struct settings *s, const struct settings_roots *r)
{
    s->roots = *r;
    snprintf(s->sys, sizeof s->sys, "%s", r->sys);
    snprintf(s->proc, sizeof s->proc, "%s", settings_proc(r));
    snprintf(s->dev, sizeof s->dev, "%s", r->dev);
    snprintf(s->state, sizeof s->state, "%s", r->state);
    s->roots.sys = s->sys;
    s->roots.proc = s->proc;
    s->roots.dev = s->dev;
    s->roots.state = s->state;
}

static int open_journal(const struct settings_roots *r, struct settings **out, struct machine_error *err)
{
    struct settings *s = calloc(1, sizeof *s);
    *out = NULL;
    if (s == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    s->fd = -1;
    take_roots(s, r);
    int status = claim_state(s, err);
    if (status == MACHINE_OK)
        *out = s;
    else
        free_settings(s);
    return status;
}

int settings_add(const struct settings_roots *r, const struct settings_wish *wish, struct settings **s,
                 struct machine_error *err)
{
    if (*s == NULL)
        return settings_apply(r, wish, s, err);
    int status = make_wish(*s, wish, err); /* where the first change was made, whatever `r` says */
    (*s)->cpu = wish->cpu;
    if (status == MACHINE_OK)
        status = make_quiet(*s, wish, err);
    retell(*s);
    return status;
}

int settings_apply(const struct settings_roots *r, const struct settings_wish *wish, struct settings **out,
                   struct machine_error *err)
{
    struct settings *s;
    *out = NULL;
    int status = open_journal(r, &s, err);
    if (status != MACHINE_OK)
        return status;
    status = settings_add(r, wish, &s, err);
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

int settings_stands(const struct settings *s, enum quiet_part part, struct machine_error *err)
{
    int number = __builtin_ctz(part);
    return (s->report.stands & part) != 0 ? MACHINE_OK : refuse_part(number, s->report.why[number], err);
}

const char *settings_text(const struct settings *s)
{
    return s != NULL ? s->text : "";
}

const char *settings_left(const struct settings *s)
{
    return s != NULL ? s->left : "";
}

/* ---- after a run that was killed ---- */

/* Returns whether root has left something after that this user may only see. */
static bool left_by_another(const struct settings_roots *r)
{
    int fd = open(r->state, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    char first;
    bool left = fd >= 0 && read(fd, &first, 1) == 1 && flock(fd, LOCK_SH | LOCK_NB) == 0;
    if (fd >= 0)
        close(fd);
    return left;
}

/* Says in words what was done. */
static void tell_recovered(enum state_kind kind, pid_t pid, const struct undoing *u, char *report, size_t size)
{
    report[0] = '\0';
    if (kind == STATE_REBOOTED) {
        snprintf(report, size, "settings changed by a killed run (process %d) are gone: the machine was rebooted since",
                 (int)pid);
    }
    if (u->written > 0) {
        snprintf(report, size, "restored %zu setting%s changed by a killed run (process %d)", u->written,
                 u->written == 1 ? "" : "s", (int)pid);
    }
    if (u->others[0] != '\0') {
        size_t used = strlen(report);
        snprintf(report + used, size - used,
                 "%sset by somebody else since a run (process %d) was killed, and left alone: %s", used > 0 ? "; " : "",
                 (int)pid, u->others);
    }
}

int settings_recover(const struct settings_roots *r, char *report, size_t size, bool *lives, struct machine_error *err)
{
    struct changes left;
    struct undoing undoing = {.written = 0};
    enum state_kind kind;
    pid_t pid;
    int fd = -1, error = settings_state_open(r, false, &fd, &kind, &pid, &left);
    report[0] = '\0';
    *lives = error == 0 && kind == STATE_LIVES;
    if (error == EACCES || error == EPERM || error == EROFS) {
        return !left_by_another(r) ? MACHINE_OK
                                   : machine_fail(err, MACHINE_CANNOT, "as root: characterize --restore",
                                                  "a killed run left this machine's settings changed (%s)", r->state);
    }
    if (error != 0) {
        return machine_fail(err, MACHINE_CANNOT, "restore what it lists by hand, then remove it",
                            "%s cannot be understood: %s", r->state,
                            error == EBADMSG ? "it was not written by this program" : strerror(error));
    }
    if (*lives) {
        snprintf(report, size, "another run (process %d) has changed this machine's settings", (int)pid);
        return MACHINE_OK;
    }
    bool restored = settings_undo(r, fd, &left, 0, &undoing, err) == MACHINE_OK;
    tell_recovered(kind, pid, &undoing, report, size);
    if (fd >= 0 && restored)
        settings_state_remove(r, fd);
    else if (fd >= 0)
        close(fd);
    settings_changes_free(&left);
    if (!restored)
        err->status = MACHINE_CANNOT;
    return restored ? MACHINE_OK : MACHINE_CANNOT;
}
