/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The journal: locked by the run that made it for as long as it lives, so that a file without a lock is what a killed
 * run has left. Each change is on the disk before it is made; one whose line is cut off was not made.
 *
 *     characterize-settings/2
 *     boot 8413c301-7ff1-50ab-95fa-64225559df55
 *     pid 4711
 *     irq -1 /proc/irq/24/smp_affinity_list 0-1@1 0
 *     undone 0
 *
 * characterize-settings/1 had no boot, whole paths, and "end" after the last change: nothing was changed before that.
 */
#include "computer/settings/settings_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/list.h"

/* A machine with ten thousand interrupts writes less than a tenth of it. */
enum { JOURNAL_MAX = 64 << 20, BOOT_MAX = 40 };

static const char *const first_lines[] = {"characterize-settings/1", "characterize-settings/2"};

int settings_changes_add(struct changes *c, const struct change *one)
{
    char *before = strdup(one->before), *after = strdup(one->after);
    if (before == NULL || after == NULL || !list_room(&c->list, c->n, sizeof *c->list)) {
        free(before);
        free(after);
        return -1;
    }
    c->list[c->n] = *one;
    c->list[c->n].before = before;
    c->list[c->n++].after = after;
    return 0;
}

void settings_changes_free(struct changes *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->list[i].before);
        free(c->list[i].after);
    }
    free(c->list);
    *c = (struct changes){NULL, 0};
}

/* ---- reading ---- */

struct journal {
    const struct settings_roots *roots;
    int version; /* 1, 2 */
    char boot[BOOT_MAX];
    pid_t pid;
    struct changes *changes;
};

/* A whole number that fills the word. */
static int parse_number(const char *word, int *out)
{
    char *end;
    long value = strtol(word, &end, 10);
    *out = (int)value;
    return end != word && *end == '\0' && value >= -1 && value <= INT_MAX ? 0 : -1;
}

/* A path as it stands there to one that does not depend on the roots. */
static int parse_path(const struct journal *j, const char *word, char *out)
{
    size_t length = strlen(j->roots->sys);
    bool whole = j->version == 1 && strncmp(word, j->roots->sys, length) == 0;
    if (strcmp(word, "-") == 0)
        word = "";
    else if (j->version == 1 && !whole)
        return -1;
    return snprintf(out, CHANGE_PATH_MAX, "%s%s", whole ? "/sys" : "", whole ? word + length : word) < CHANGE_PATH_MAX
               ? 0
               : -1;
}

/* "KIND CPU PATH BEFORE AFTER", PATH "-" where there is none. Changes the line. Returns 0 or an error number. */
static int parse_change(const struct journal *j, char *line)
{
    enum { WORDS = 5 };
    char *word[WORDS], *rest = line;
    struct change one = {.part = -1};
    size_t kind = 0;
    for (int i = 0; i < WORDS; i++) {
        word[i] = strsep(&rest, " ");
        if (word[i] == NULL || word[i][0] == '\0')
            return EBADMSG;
    }
    while (kind < CHANGE_KINDS && strcmp(word[0], settings_kind_names[kind]) != 0)
        kind++;
    if (kind == CHANGE_KINDS)
        return EBADMSG;
    one.kind = (enum change_kind)kind;
    one.before = word[3];
    one.after = word[4];
    if (rest != NULL || parse_number(word[1], &one.cpu) != 0 || parse_path(j, word[2], one.path) != 0 ||
        !settings_change_allowed(&one))
        return EBADMSG;
    return settings_changes_add(j->changes, &one) == 0 ? 0 : ENOMEM;
}

/* "undone N" */
static bool parse_undone(struct journal *j, const char *line)
{
    int n = -1;
    bool is = j->version == 2 && strncmp(line, "undone ", 7) == 0 && parse_number(line + 7, &n) == 0 && n >= 0 &&
              (size_t)n < j->changes->n;
    if (is)
        j->changes->list[n].undone = true;
    return is;
}

/* The line n of the head, from 0. Returns 0, EBADMSG, or -1: it is not of the head. */
static int parse_head(struct journal *j, int n, const char *line)
{
    if (n == 0) {
        for (int i = 0; i < 2; i++)
            if (strcmp(line, first_lines[i]) == 0)
                j->version = i + 1;
        return j->version > 0 ? 0 : EBADMSG;
    }
    if (n == 1 && j->version == 2) {
        bool fits = strncmp(line, "boot ", 5) == 0 && line[5] != '\0' && strlen(line + 5) < sizeof j->boot;
        snprintf(j->boot, sizeof j->boot, "%s", fits ? line + 5 : "");
        return fits ? 0 : EBADMSG;
    }
    if (n == j->version)
        return strncmp(line, "pid ", 4) == 0 && parse_number(line + 4, &j->pid) == 0 ? 0 : EBADMSG;
    return -1;
}

/* Complete lines of `text`, which is changed. What is cut off was never made. Returns 0 or an error number. */
static int parse_journal(struct journal *j, char *text)
{
    bool complete = false;
    int n = 0, error = 0;
    char *end;
    for (; error == 0 && !complete && (end = strchr(text, '\n')) != NULL; text = end + 1, n++) {
        *end = '\0';
        error = parse_head(j, n, text);
        if (error >= 0)
            continue;
        complete = j->version == 1 && strcmp(text, "end") == 0;
        error = complete || parse_undone(j, text) ? 0 : parse_change(j, text);
    }
    if (n == 0 && strncmp(text, first_lines[1], strlen(text)) != 0 && strcmp(text, first_lines[0]) != 0)
        return EBADMSG; /* a head that is cut off is one of ours, other words are not */
    if (error != 0 || (j->version == 1 && !complete && strcmp(text, "end") != 0))
        settings_changes_free(j->changes);
    return error;
}

/* All of a file; NULL with errno. */
static char *read_all(int fd)
{
    struct stat status;
    size_t used = 0;
    ssize_t got = 1;
    if (fstat(fd, &status) != 0)
        return NULL;
    if (status.st_size > JOURNAL_MAX) {
        errno = EBADMSG;
        return NULL;
    }
    char *text = malloc((size_t)status.st_size + 1);
    while (text != NULL && used < (size_t)status.st_size &&
           (got = pread(fd, text + used, (size_t)status.st_size - used, (off_t)used)) > 0)
        used += (size_t)got;
    if (text != NULL && (got < 0 || memchr(text, '\0', used) != NULL)) {
        int error = got < 0 ? errno : EBADMSG;
        free(text);
        errno = error;
        return NULL;
    }
    if (text != NULL)
        text[used] = '\0';
    return text;
}

/* This boot's identity; "-" where it cannot be read. */
static void read_boot(const struct settings_roots *r, char *out)
{
    if (settings_read_text(r, "/proc/sys/kernel/random/boot_id", out, BOOT_MAX) <= 0 || strchr(out, ' ') != NULL)
        snprintf(out, BOOT_MAX, "-");
}

static int read_state(const struct settings_roots *r, int fd, enum state_kind *kind, pid_t *pid, struct changes *out)
{
    struct journal j = {.roots = r, .changes = out};
    char now[BOOT_MAX], *text = read_all(fd);
    if (text == NULL)
        return errno;
    int error = parse_journal(&j, text);
    free(text);
    *pid = j.pid;
    bool pending = false;
    for (size_t i = 0; i < out->n; i++)
        pending = pending || !out->list[i].undone;
    *kind = error == 0 && pending ? STATE_LEFT : STATE_NONE;
    read_boot(r, now);
    if (*kind == STATE_LEFT && j.boot[0] != '\0' && strcmp(j.boot, "-") != 0 && strcmp(now, "-") != 0 &&
        strcmp(now, j.boot) != 0) {
        settings_changes_free(out);
        *kind = STATE_REBOOTED;
    }
    return error;
}

/* Returns whether the file still has its name: it may have been removed between opening and locking. */
static bool still_named(const char *path, int fd)
{
    struct stat named, opened;
    return stat(path, &named) == 0 && fstat(fd, &opened) == 0 && named.st_ino == opened.st_ino &&
           named.st_dev == opened.st_dev;
}

static int open_locked(const char *path, bool create, int *fd, bool *lives)
{
    enum { ATTEMPTS = 10 }; /* each fails only if another run ends in between */
    struct stat status;
    *lives = false;
    for (int i = 0; i < ATTEMPTS; i++) {
        *fd = open(path, (create ? O_RDWR | O_CREAT : O_RDWR) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
        if (*fd < 0)
            return errno;
        *lives = flock(*fd, LOCK_EX | LOCK_NB) != 0;
        if (*lives || still_named(path, *fd))
            break;
        close(*fd);
        *fd = -1;
    }
    if (*fd < 0)
        return EAGAIN;
    bool known = fstat(*fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
    if (!known || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        close(*fd);
        *fd = -1;
        return EBADMSG; /* somebody else put it there, or may have written into it */
    }
    return 0;
}

int settings_state_open(const struct settings_roots *r, bool create, int *fd, enum state_kind *kind, pid_t *pid,
                        struct changes *out)
{
    bool lives;
    *out = (struct changes){NULL, 0};
    *kind = STATE_NONE;
    *pid = 0;
    int error = open_locked(r->state, create, fd, &lives);
    if (error == ENOENT && !create)
        return 0;
    if (error == 0)
        error = read_state(r, *fd, kind, pid, out);
    if (error != 0 || lives) {
        settings_changes_free(out);
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
        *kind = STATE_LIVES;
        return lives ? 0 : error;
    }
    return 0;
}

/* ---- writing ---- */

/* At its end, complete or not at all. */
static int add_text(int fd, const char *text, size_t length, bool sync)
{
    off_t end = lseek(fd, 0, SEEK_END);
    ssize_t put = end < 0 ? -1 : write(fd, text, length);
    int error = put == (ssize_t)length ? 0 : put < 0 ? errno : ENOSPC;
    if (error == 0 && sync && fsync(fd) != 0)
        error = errno;
    if (error != 0 && put > 0 && ftruncate(fd, end) != 0)
        return error; /* half a line is ignored as well */
    return error;
}

/* The name of a file is on the disk only when its folder is. */
static int sync_folder(const char *path)
{
    char folder[240];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - path) : 1, slash != NULL ? path : ".");
    int fd = open(folder[0] != '\0' ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error = fsync(fd) != 0 ? errno : 0;
    close(fd);
    return error;
}

int settings_state_begin(const struct settings_roots *r, int fd)
{
    char text[200], boot[BOOT_MAX];
    read_boot(r, boot);
    int length = snprintf(text, sizeof text, "%s\nboot %s\npid %d\n", first_lines[1], boot, (int)getpid());
    int error = ftruncate(fd, 0) != 0 ? errno : add_text(fd, text, (size_t)length, true);
    return error != 0 ? error : sync_folder(r->state);
}

int settings_state_append(int fd, const struct change *one)
{
    enum { LINE_MAX_HERE = 2 * CHANGE_VALUE_MAX + CHANGE_PATH_MAX + 40 };
    char line[LINE_MAX_HERE];
    int length = snprintf(line, sizeof line, "%s %d %s %s %s\n", settings_kind_names[one->kind], one->cpu,
                          one->path[0] != '\0' ? one->path : "-", one->before, one->after);
    return length < (int)sizeof line ? add_text(fd, line, (size_t)length, true) : EMSGSIZE;
}

void settings_state_undone(int fd, size_t n)
{
    char line[40];
    int length = snprintf(line, sizeof line, "undone %zu\n", n);
    (void)add_text(fd, line, (size_t)length, false); /* without it, it is found to be so */
}

void settings_state_remove(const struct settings_roots *r, int fd)
{
    unlink(r->state); /* while it is locked */
    close(fd);
}
