/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths followed step by step. */
#include "util/path.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/error.h"

/* LINKS_MAX: as path_resolution(7); PARTNER_MS: how long a pipe's other end is waited for */
enum { LINKS_MAX = 40, PARTNER_MS = 1000, RETRY_MS = 10 };

/* Why it is not done: a clause, as printf makes it, and errno. -1. */
#define path_refuse(error, why, size, ...) (error_line(why, size, __VA_ARGS__), errno = (error), -1)

/* For what errno says by itself. */
static int refuse_for(int error, char *why, size_t size)
{
    return path_refuse(error, why, size, "%s", strerror(error));
}

/* Closes a descriptor (below 0: none) and frees a text (or NULL); errno stays. */
static void release(int fd, char *text)
{
    int error = errno;
    if (fd >= 0)
        close(fd);
    free(text);
    errno = error;
}

/* ---- descriptors ---- */

int path_descriptor(const char *path)
{
    static const char *const standard[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (int i = 0; i < 3; i++)
        if (strcmp(path, standard[i]) == 0)
            return i;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        const char *number = path + strlen(folders[i]);
        if (strncmp(path, folders[i], strlen(folders[i])) == 0 && *number != '\0' && strlen(number) < 9 &&
            number[strspn(number, "0123456789")] == '\0')
            return atoi(number);
    }
    return -1;
}

int path_copy_descriptor(int fd, int for_writing, char *why, size_t size)
{
    int flags = fcntl(fd, F_GETFL), wrong = for_writing ? O_RDONLY : O_WRONLY;
    if (flags < 0)
        return path_refuse(EBADF, why, size, "descriptor %d is not open", fd);
    if ((flags & O_ACCMODE) == wrong || (flags & O_PATH) != 0) {
        return path_refuse(EBADF, why, size, "descriptor %d is not open for %s", fd,
                           for_writing ? "writing" : "reading");
    }
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return copy >= 0 ? copy : refuse_for(errno, why, size);
}

/* ---- the way to a directory ---- */

static bool is_trusted(const struct stat *s)
{
    return s->st_uid == 0 || s->st_uid == geteuid();
}

/* A directory that may be passed but not listed is good enough for what is in it. */
static int open_step(int from, const char *name)
{
    int fd = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 || errno != EACCES ? fd : openat(from, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

struct walk {
    int directory; /* as far as it went */
    unsigned links;
    char *rest; /* of the way, from malloc */
};

/* Says where a file came from that another user may have put there. */
static const char *whose(const struct stat *s)
{
    return is_trusted(s) ? "in another user's directory" : "of another user";
}

/* Reads where the link `name` leads, if it may be followed. ENOTDIR: it is no link. */
static int read_link(int directory, const char *name, bool on_the_way, char target[PATH_MAX], char *why, size_t size)
{
    struct stat link, around;
    int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return refuse_for(errno, why, size);
    bool known = fstat(fd, &link) == 0 && fstat(directory, &around) == 0;
    ssize_t length = known && S_ISLNK(link.st_mode) ? readlinkat(fd, "", target, PATH_MAX - 1) : -1;
    close(fd);
    if (length < 0)
        return refuse_for(ENOTDIR, why, size);
    if (!is_trusted(&link) || !is_trusted(&around)) {
        return path_refuse(ELOOP, why, size,
                           "%s%s%s is a symbolic link %s, which is not followed; name the %s that it points to",
                           on_the_way ? "'" : "", on_the_way ? name : "it", on_the_way ? "' on the way" : "",
                           whose(&link), on_the_way ? "directory" : "file");
    }
    target[length] = '\0';
    return 0;
}

/* `name` is no directory: if it is a link that may be followed, what it says stands in front of the rest. */
static int follow(struct walk *w, const char *name, const char *rest, char *why, size_t size)
{
    char target[PATH_MAX], *longer = NULL;
    if (read_link(w->directory, name, true, target, why, size) != 0)
        return -1;
    if (++w->links > LINKS_MAX)
        return refuse_for(ELOOP, why, size);
    if (target[0] == '/') {
        close(w->directory);
        w->directory = open_step(AT_FDCWD, "/");
    }
    if (w->directory < 0 || asprintf(&longer, "%s/%s", target, rest) < 0)
        return refuse_for(errno, why, size);
    free(w->rest);
    w->rest = longer;
    return 0;
}

/* Goes one component on; w->rest is not empty. */
static int go_on(struct walk *w, char *why, size_t size)
{
    char name[NAME_MAX + 1];
    size_t length = strcspn(w->rest, "/"), past = length + strspn(w->rest + length, "/");
    if (length > NAME_MAX)
        return refuse_for(ENAMETOOLONG, why, size);
    memcpy(name, w->rest, length);
    name[length] = '\0';
    int next = length > 0 ? open_step(w->directory, name) : dup(w->directory);
    if (next < 0 && (errno == ELOOP || errno == ENOTDIR))
        return follow(w, name, w->rest + past, why, size);
    if (next < 0)
        return refuse_for(errno, why, size);
    close(w->directory);
    w->directory = next;
    memmove(w->rest, w->rest + past, strlen(w->rest + past) + 1);
    return 0;
}

int path_open_directory(const char *path, char *why, size_t size)
{
    struct walk w = {.directory = open_step(AT_FDCWD, path[0] == '/' ? "/" : "."), .rest = strdup(path)};
    int status = w.directory < 0 || w.rest == NULL ? refuse_for(errno, why, size) : 0;
    if (path[0] == '\0')
        status = path_refuse(ENOENT, why, size, "the name is empty");
    while (status == 0 && w.rest[0] != '\0')
        status = go_on(&w, why, size);
    release(status == 0 ? -1 : w.directory, w.rest);
    return status == 0 ? w.directory : -1;
}

int path_open_parent(const char *path, char name[NAME_MAX + 1], char *why, size_t size)
{
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    if (path[0] == '\0')
        return path_refuse(ENOENT, why, size, "the name is empty");
    if (end - begin > NAME_MAX)
        return refuse_for(ENAMETOOLONG, why, size);
    snprintf(name, NAME_MAX + 1, "%.*s", end > begin ? (int)(end - begin) : 1, end > begin ? path + begin : ".");
    char *parent = begin > 0 ? strndup(path, begin) : strdup(path[0] == '/' ? "/" : ".");
    int fd = parent != NULL ? path_open_directory(parent, why, size) : refuse_for(errno, why, size);
    release(-1, parent);
    return fd;
}

/* ---- files ---- */

static int set_blocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 ? fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) : -1;
}

static int close_and_refuse(int fd, int error, char *why, size_t size, const char *reason)
{
    close(fd);
    return path_refuse(error, why, size, "%s", reason);
}

/* Refuses what may not be opened at all, as far as that is known before. */
static int check_existing(int directory, const char *name, struct stat *s, char *why, size_t size)
{
    struct stat around;
    if (fstatat(directory, name, s, AT_SYMLINK_NOFOLLOW) != 0 || fstat(directory, &around) != 0)
        return refuse_for(errno, why, size);
    if (S_ISLNK(s->st_mode)) {
        return path_refuse(
            ELOOP, why, size,
            "it is a symbolic link, which is not followed; name the file that it points to, or remove the link");
    }
    if (S_ISDIR(s->st_mode))
        return path_refuse(EISDIR, why, size, "it is a directory");
    if (S_ISBLK(s->st_mode) || S_ISSOCK(s->st_mode))
        return path_refuse(ENXIO, why, size, "it is a %s", S_ISBLK(s->st_mode) ? "block device" : "socket");
    if (S_ISFIFO(s->st_mode) && !(is_trusted(s) && is_trusted(&around)))
        return path_refuse(EPERM, why, size, "it is a pipe (FIFO) %s; remove it, or name another file", whose(s));
    return 0;
}

int path_open_existing(int directory, const char *name, struct stat *s, char *why, size_t size)
{
    struct stat opened;
    int fd = -1;
    if (check_existing(directory, name, s, why, size) != 0)
        return -1;
    for (int waited = 0; fd < 0 && waited <= PARTNER_MS; waited += RETRY_MS) {
        fd = openat(directory, name, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
        if (fd < 0 && (errno != ENXIO || !S_ISFIFO(s->st_mode)))
            return refuse_for(errno, why, size);
        if (fd < 0)
            (void)poll(NULL, 0, RETRY_MS);
    }
    if (fd < 0)
        return path_refuse(ENXIO, why, size, "no program is reading from this pipe (FIFO); start the reader first");
    if (fstat(fd, &opened) != 0 || opened.st_dev != s->st_dev || opened.st_ino != s->st_ino)
        return close_and_refuse(fd, EAGAIN, why, size, "it was replaced while being opened");
    return set_blocking(fd) == 0 ? fd : close_and_refuse(fd, errno, why, size, strerror(errno));
}

/* Checks that somebody writes into a pipe that was opened without waiting: only read(2) distinguishes a pipe that no
 * writer has open from one that is empty so far. The byte that this reads stays in the stream. */
static int await_writer(FILE *in, char *why, size_t size)
{
    struct pollfd one = {.fd = fileno(in), .events = POLLIN};
    (void)poll(&one, 1, PARTNER_MS);
    errno = 0;
    int first = getc(in);
    if (first != EOF)
        return ungetc(first, in) == EOF ? refuse_for(errno, why, size) : 0;
    bool nothing_yet = ferror(in) != 0 && errno == EAGAIN;
    clearerr(in);
    return nothing_yet
               ? 0
               : path_refuse(ENXIO, why, size, "no program is writing to this pipe (FIFO); start the writer first");
}

static int open_stream(int fd, FILE **in, char *why, size_t size)
{
    *in = fdopen(fd, "r");
    return *in != NULL ? 0 : close_and_refuse(fd, errno, why, size, strerror(errno));
}

static int open_regular(int fd, FILE **in, char *why, size_t size)
{
    struct stat s;
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode))
        return close_and_refuse(fd, EINVAL, why, size, "it is not a regular file");
    return open_stream(fd, in, why, size);
}

/*
 * Somebody may have given a file of root's, or of a third user's, a second name in a directory where he can write
 * (fs.protected_hardlinks=0): what is in it is not for messages.
 */
static int check_names(int directory, int fd, char *why, size_t size)
{
    struct stat s, around;
    if (fstat(fd, &s) != 0 || fstat(directory, &around) != 0)
        return refuse_for(errno, why, size);
    bool owners_alone = (around.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    if (!S_ISREG(s.st_mode) || s.st_nlink == 1 || (owners_alone && (is_trusted(&around) || s.st_uid == around.st_uid)))
        return 0;
    return path_refuse(EPERM, why, size,
                       "it has a second name (a hard link) that another user may have made; copy it and name the copy");
}

enum { READ_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

/* Opens what is in an open directory and is no link (ELOOP). */
static int open_entry(int directory, const char *name, char *why, size_t size)
{
    int fd = openat(directory, name, READ_FLAGS | O_NOFOLLOW);
    if (fd < 0)
        return refuse_for(errno, why, size);
    if (check_names(directory, fd, why, size) == 0)
        return fd;
    release(fd, NULL);
    return -1;
}

/* The path that a link stands for, which `path` names and which lies in `directory`; from malloc. NULL with `why`. */
static char *target_of(int directory, const char *path, const char *name, char *why, size_t size)
{
    char target[PATH_MAX], *out = NULL;
    if (read_link(directory, name, false, target, why, size) != 0)
        return NULL;
    const char *slash = target[0] == '/' ? NULL : strrchr(path, '/');
    if (asprintf(&out, "%.*s%s", slash != NULL ? (int)(slash - path) + 1 : 0, path, target) < 0) {
        (void)refuse_for(errno, why, size);
        return NULL;
    }
    return out;
}

/* For root, who is made to read in directories of others: links are followed as on the way to a directory. */
static int open_as_root(const char *path, char *why, size_t size)
{
    char name[NAME_MAX + 1], *at = strdup(path);
    int fd = -1;
    if (at == NULL)
        return refuse_for(errno, why, size);
    for (unsigned links = 0; fd < 0 && at != NULL; links++) {
        int directory = path_open_parent(at, name, why, size);
        char *next = NULL;
        fd = directory >= 0 ? open_entry(directory, name, why, size) : -1;
        if (fd < 0 && directory >= 0 && errno == ELOOP && links < LINKS_MAX)
            next = target_of(directory, at, name, why, size);
        release(directory, at);
        at = next;
    }
    free(at);
    return fd;
}

static int open_file(const char *path, char *why, size_t size)
{
    if (path[0] != '\0' && geteuid() == 0)
        return open_as_root(path, why, size);
    int fd = open(path, READ_FLAGS);
    return fd >= 0 ? fd : refuse_for(errno, why, size);
}

int path_read_named(const char *path, FILE **in, char *why, size_t size)
{
    struct stat s;
    int descriptor = path_descriptor(path);
    int fd = descriptor >= 0 ? path_copy_descriptor(descriptor, 0, why, size) : open_file(path, why, size);
    if (fd < 0)
        return -1;
    if (fstat(fd, &s) != 0 || S_ISDIR(s.st_mode))
        return close_and_refuse(fd, EISDIR, why, size, "it is a directory");
    if (S_ISBLK(s.st_mode))
        return close_and_refuse(fd, ENXIO, why, size, "it is a block device");
    if (open_stream(fd, in, why, size) != 0)
        return -1;
    bool fifo = S_ISFIFO(s.st_mode) && descriptor < 0;
    if ((fifo && await_writer(*in, why, size) != 0) || (descriptor < 0 && set_blocking(fd) != 0)) {
        int error = errno;
        (void)fclose(*in);
        *in = NULL;
        errno = error;
        return -1;
    }
    return 0;
}

int path_read_listed(const char *path, FILE **in, char *why, size_t size)
{
    int fd = open_file(path, why, size);
    return fd >= 0 ? open_regular(fd, in, why, size) : -1;
}

int path_read_found(const char *path, FILE **in, char *why, size_t size)
{
    char name[NAME_MAX + 1];
    int directory = path_open_parent(path, name, why, size);
    if (directory < 0)
        return -1;
    int fd = open_entry(directory, name, why, size);
    release(directory, NULL);
    if (fd < 0 && errno == ELOOP)
        return path_refuse(ELOOP, why, size, "it is a symbolic link, which is not followed here");
    return fd >= 0 ? open_regular(fd, in, why, size) : -1;
}
