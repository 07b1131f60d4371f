/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file that remembers settings: locked by the run that made it for as long as it lives, so that a file without a
 * lock is what a killed run has left. It is complete ("end") before the first change is made.
 */
#include "drivers/settings/settings_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first_line[] = "characterize-settings/1";
static const char *const kind_names[] = {
    [CHANGE_FILE] = "file", [CHANGE_TURBO_BIT] = "turbo-bit", [CHANGE_LIKWID] = "likwid"};

int settings_changes_add(struct changes *c, const struct change *one)
{
    struct change *bigger = realloc(c->list, (c->n + 1) * sizeof *bigger);

    if (bigger == NULL)
        return -1;
    c->list = bigger;
    bigger[c->n++] = *one;
    return 0;
}

/* The path of a file must be one that this program can have written: root acts on what stands there. */
static bool is_ours(const struct settings_roots *r, const char *path)
{
    char folder[240];
    int length = snprintf(folder, sizeof folder, "%s/devices/system/cpu/", r->sys);

    return strncmp(path, folder, (size_t)length) == 0 && strstr(path, "/..") == NULL;
}

/* A whole number that fills the word. */
static int settings_state_parse_number(const char *word, int *out)
{
    char *end;
    long value = strtol(word, &end, 10);

    *out = (int)value;
    return end != word && *end == '\0' && value >= -1 && value <= INT_MAX ? 0 : -1;
}

/* "KIND CPU PATH BEFORE AFTER", PATH "-" where there is none. Changes the line. */
static int parse_change(const struct settings_roots *r, char *line, struct change *out)
{
    enum { WORDS = 5 };
    char *word[WORDS], *rest = line;

    memset(out, 0, sizeof *out);
    for (int i = 0; i < WORDS; i++) {
        word[i] = strsep(&rest, " ");
        if (word[i] == NULL || word[i][0] == '\0')
            return -1;
    }
    if (rest != NULL || settings_state_parse_number(word[1], &out->cpu) != 0 || strlen(word[2]) >= sizeof out->path ||
        strlen(word[3]) >= sizeof out->before || strlen(word[4]) >= sizeof out->after)
        return -1;
    snprintf(out->path, sizeof out->path, "%s", strcmp(word[2], "-") != 0 ? word[2] : "");
    snprintf(out->before, sizeof out->before, "%s", word[3]);
    snprintf(out->after, sizeof out->after, "%s", word[4]);
    for (size_t i = 0; i < sizeof kind_names / sizeof *kind_names; i++) {
        if (strcmp(word[0], kind_names[i]) == 0) {
            out->kind = (enum change_kind)i;
            return out->kind == CHANGE_FILE && !is_ours(r, out->path) ? -1 : 0;
        }
    }
    return -1;
}

/* An incomplete file holds no changes: none had been made yet. */
static int settings_state_parse(const struct settings_roots *r, FILE *file, pid_t *pid, struct changes *out)
{
    char line[600];
    struct change one;
    bool complete = false;
    int n = 0, error = 0;

    while (error == 0 && !complete && fgets(line, sizeof line, file) != NULL) {
        n++;
        line[strcspn(line, "\n")] = '\0';
        if (n == 1)
            error = strcmp(line, first_line) == 0 ? 0 : EBADMSG;
        else if (n == 2)
            error = strncmp(line, "pid ", 4) == 0 && settings_state_parse_number(line + 4, pid) == 0 ? 0 : EBADMSG;
        else if (strcmp(line, "end") == 0)
            complete = true;
        else if (parse_change(r, line, &one) != 0)
            error = feof(file) ? 0 : EBADMSG; /* the last line may have been cut off */
        else if (settings_changes_add(out, &one) != 0)
            error = ENOMEM;
    }
    if (error != 0 || !complete) {
        free(out->list);
        *out = (struct changes){NULL, 0};
    }
    return error;
}

/* A stream on a descriptor that stays open when it is closed; NULL with errno. */
static FILE *stream_of(int fd, const char *mode)
{
    int copy = dup(fd);
    FILE *file = copy >= 0 ? fdopen(copy, mode) : NULL;
    int error = errno;

    if (file == NULL && copy >= 0)
        close(copy);
    errno = error;
    return file;
}

static int read_state(const struct settings_roots *r, int fd, pid_t *pid, struct changes *out)
{
    FILE *file = stream_of(fd, "r");

    if (file == NULL)
        return errno;
    rewind(file);
    int error = settings_state_parse(r, file, pid, out);
    fclose(file);
    return error;
}

/* Whether the file still has its name: it may have been removed between opening and locking. */
static bool still_named(const char *path, int fd)
{
    struct stat named, opened;

    return stat(path, &named) == 0 && fstat(fd, &opened) == 0 && named.st_ino == opened.st_ino &&
           named.st_dev == opened.st_dev;
}

static int open_locked(const char *path, bool create, int *fd, bool *lives)
{
    enum { ATTEMPTS = 10 };
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
    if (fstat(*fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
        close(*fd);
        *fd = -1;
        return EPERM; /* somebody else put it there */
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
    if (error == 0) {
        struct stat status;
        error = fstat(*fd, &status) != 0 ? errno : status.st_size == 0 ? 0 : read_state(r, *fd, pid, out);
    }
    if (error != 0 || lives) {
        free(out->list);
        *out = (struct changes){NULL, 0};
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
        *kind = STATE_LIVES;
        return lives ? 0 : error;
    }
    *kind = out->n > 0 ? STATE_LEFT : STATE_NONE;
    return 0;
}

int settings_state_write(int fd, const struct changes *c)
{
    FILE *file = ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0 ? stream_of(fd, "w") : NULL;

    if (file == NULL)
        return errno;
    fprintf(file, "%s\npid %d\n", first_line, (int)getpid());
    for (size_t i = 0; i < c->n; i++) {
        const struct change *one = &c->list[i];
        fprintf(file, "%s %d %s %s %s\n", kind_names[one->kind], one->cpu, one->path[0] != '\0' ? one->path : "-",
                one->before, one->after);
    }
    fprintf(file, "end\n");
    int error = fflush(file) != 0 || fsync(fd) != 0 ? errno : 0;
    if (fclose(file) != 0 && error == 0)
        error = errno;
    return error;
}

void settings_state_remove(const struct settings_roots *r, int fd)
{
    unlink(r->state); /* while it is locked */
    close(fd);
}
