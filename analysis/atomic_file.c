/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { NAME_TRIES = 16 };

static int refuse(const char *path, const char *reason, char *why, size_t why_size)
{
    snprintf(why, why_size, "cannot write %s: %s", path, reason);
    return -1;
}

/* The directory part of a path, from malloc. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return strdup(".");
    }
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* A name in the directory of `target` that hardly anything else has; from malloc. */
static char *temporary_name(const char *target)
{
    const char *slash = strrchr(target, '/');
    const char *base = slash == NULL ? target : slash + 1;
    uint64_t salt = 0;
    if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt)) {
        salt = (uint64_t)getpid();
    }
    char *name = NULL;
    /* a long name is shortened: together with the salt it must stay below NAME_MAX */
    if (asprintf(&name, "%.*s.%.200s.%016" PRIx64 ".tmp", (int)(base - target), target, base, salt) < 0) {
        return NULL;
    }
    return name;
}

static int link_open_file(int fd, const char *name)
{
    char self[64];
    snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* Gives an open nameless file a temporary name, in *name (from malloc). Returns 0, or -1 with errno. */
static int name_open_file(int fd, const char *target, char **name)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        *name = temporary_name(target);
        if (*name == NULL) {
            errno = ENOMEM;
            return -1;
        }
        if (link_open_file(fd, *name) == 0) {
            return 0;
        }
        int error = errno;
        free(*name);
        *name = NULL;
        errno = error;
        if (error != EEXIST) {
            break;
        }
    }
    return -1;
}

/* Whether nameless files can be made and named here: tried, because it needs the file system's support and /proc. */
static bool nameless_works(const char *directory, const char *target)
{
    int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0) {
        return false;
    }
    char *name = NULL;
    bool works = name_open_file(fd, target, &name) == 0;
    if (works) {
        unlink(name);
    }
    free(name);
    close(fd);
    return works;
}

static int open_named(const char *target, char **name)
{
    int fd = -1;
    for (int i = 0; i < NAME_TRIES && fd < 0; i++) {
        *name = temporary_name(target);
        if (*name == NULL) {
            errno = ENOMEM;
            return -1;
        }
        fd = open(*name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
        int error = errno;
        if (fd < 0) {
            free(*name);
            *name = NULL;
            errno = error;
            if (error != EEXIST) {
                break;
            }
        }
    }
    return fd;
}

static int open_temporary(const char *target, char **name)
{
    char *directory = directory_of(target);
    if (directory == NULL) {
        errno = ENOMEM;
        return -1;
    }
    int fd = -1;
    if (nameless_works(directory, target)) {
        fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    } else {
        fd = open_named(target, name);
    }
    int error = errno;
    free(directory);
    errno = error;
    return fd;
}

/* What is at the path now. Fills *old (st_mode 0: nothing) and f->target, f->direct. */
static int look_at_target(struct atomic_file *f, const char *path, struct stat *old, char *why, size_t why_size)
{
    size_t length = strlen(path);
    if (length == 0) {
        return refuse("''", "the name is empty", why, why_size);
    }
    if (stat(path, old) == 0) {
        if (S_ISDIR(old->st_mode)) {
            return refuse(path, "it is a directory", why, why_size);
        }
        if (access(path, W_OK) != 0) {
            return refuse(path, strerror(errno), why, why_size);
        }
        f->direct = !S_ISREG(old->st_mode);
        f->target = realpath(path, NULL);
    } else if (errno != ENOENT) {
        return refuse(path, strerror(errno), why, why_size);
    } else {
        struct stat link;
        if (lstat(path, &link) == 0) {
            return refuse(path, "it is a symbolic link to nothing", why, why_size);
        }
        if (path[length - 1] == '/') {
            return refuse(path, "the name ends in '/'", why, why_size);
        }
        memset(old, 0, sizeof(*old));
        f->target = strdup(path);
    }
    return f->target != NULL ? 0 : refuse(path, strerror(errno), why, why_size);
}

static void forget(struct atomic_file *f)
{
    if (f->temporary != NULL) {
        unlink(f->temporary);
    }
    free(f->temporary);
    free(f->target);
    memset(f, 0, sizeof(*f));
}

/* The new file takes over what the old one allowed; its owner only where we may give files away. */
static void keep_permissions(int fd, const struct stat *old)
{
    if (old->st_mode == 0) {
        return;
    }
    struct stat own;
    if (fstat(fd, &own) == 0 && (own.st_uid != old->st_uid || own.st_gid != old->st_gid) &&
        fchown(fd, old->st_uid, old->st_gid) != 0) {
        return; /* not root: the file stays ours, with our permissions */
    }
    (void)fchmod(fd, old->st_mode & 0777);
}

int atomic_open(struct atomic_file *f, const char *path, char *why, size_t why_size)
{
    memset(f, 0, sizeof(*f));
    struct stat old;
    char *temporary = NULL;
    if (look_at_target(f, path, &old, why, why_size) != 0) {
        return -1;
    }
    int fd = f->direct ? open(f->target, O_WRONLY | O_CLOEXEC | O_NOCTTY) : open_temporary(f->target, &temporary);
    f->temporary = temporary;
    if (fd < 0) {
        refuse(path, strerror(errno), why, why_size);
        forget(f);
        return -1;
    }
    if (!f->direct) {
        keep_permissions(fd, &old);
    }
    f->stream = fdopen(fd, "w");
    if (f->stream == NULL) {
        refuse(path, strerror(errno), why, why_size);
        close(fd);
        forget(f);
        return -1;
    }
    return 0;
}

static int flush_and_sync(struct atomic_file *f)
{
    if (fflush(f->stream) != 0 || ferror(f->stream)) {
        if (errno == 0) {
            errno = EIO;
        }
        return -1;
    }
    /* devices and pipes cannot be synced, and say so with EINVAL */
    if (fsync(fileno(f->stream)) != 0 && !(f->direct && (errno == EINVAL || errno == EROFS || errno == ENOTSUP))) {
        return -1;
    }
    return 0;
}

/* Moves the finished file to its name. */
static int give_name(struct atomic_file *f)
{
    if (f->temporary == NULL) {
        if (link_open_file(fileno(f->stream), f->target) == 0) {
            return 0;
        }
        if (errno != EEXIST || name_open_file(fileno(f->stream), f->target, &f->temporary) != 0) {
            return -1;
        }
    }
    if (rename(f->temporary, f->target) != 0) {
        return -1;
    }
    free(f->temporary);
    f->temporary = NULL;
    return 0;
}

/* So that the name, too, survives a crash of the system; a file system that cannot do it has nothing to lose. */
static void sync_directory(const char *target)
{
    char *directory = directory_of(target);
    if (directory == NULL) {
        return;
    }
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(directory);
}

int atomic_commit(struct atomic_file *f, char *why, size_t why_size)
{
    errno = 0;
    int status = flush_and_sync(f);
    if (status == 0 && !f->direct) {
        status = give_name(f);
    }
    int error = errno;
    if (fclose(f->stream) != 0 && status == 0) {
        status = -1;
        error = errno;
    }
    if (status != 0) {
        refuse(f->target, strerror(error), why, why_size);
    } else if (!f->direct) {
        sync_directory(f->target);
    }
    forget(f);
    return status;
}

void atomic_abandon(struct atomic_file *f)
{
    if (f->stream != NULL) {
        fclose(f->stream);
    }
    forget(f);
}

static int check_room(const struct atomic_file *f, const char *path, uint64_t bytes, char *why, size_t why_size)
{
    struct statvfs fs;
    if (f->direct || fstatvfs(fileno(f->stream), &fs) != 0 || fs.f_blocks == 0) {
        return 0;
    }
    uint64_t available = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (available >= bytes) {
        return 0;
    }
    snprintf(why, why_size, "cannot write %s: %s (about %.1f MB needed, %.1f MB free)", path, strerror(ENOSPC),
             (double)bytes / 1e6, (double)available / 1e6);
    return -1;
}

int atomic_check(const char *path, uint64_t bytes, char *why, size_t why_size)
{
    struct atomic_file f;
    struct stat there;
    /* opening a pipe would wait for its reader, and closing it would tell the reader that all is said */
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
        return access(path, W_OK) == 0 ? 0 : refuse(path, strerror(errno), why, why_size);
    }
    if (atomic_open(&f, path, why, why_size) != 0) {
        return -1;
    }
    int status = check_room(&f, path, bytes, why, why_size);
    atomic_abandon(&f);
    return status;
}

/* .BASE.SALT.tmp, as temporary_name() makes it */
static bool is_temporary(const char *name, const char *base)
{
    enum { SALT = 16 };
    size_t length = strlen(name), tail = SALT + strlen("..tmp");
    if (name[0] != '.' || length < tail + 2 || strcmp(name + length - 4, ".tmp") != 0 || name[length - tail] != '.' ||
        strspn(name + length - tail + 1, "0123456789abcdef") != SALT) {
        return false;
    }
    return base == NULL || (strncmp(name + 1, base, length - tail - 1) == 0 && strlen(base) == length - tail - 1);
}

size_t atomic_sweep(const char *directory, const char *base)
{
    DIR *d = opendir(directory);
    size_t n = 0;
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        n += is_temporary(e->d_name, base) && unlinkat(dirfd(d), e->d_name, 0) == 0;
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    return n;
}
