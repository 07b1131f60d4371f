/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files written without a name, which they get when they are complete. */
#include "util/atomic_file.h"

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

#include "util/path.h"
#include "util/error.h"

/* NAME_TRIES: names with 64 random bits collide only if somebody makes them on purpose. */
enum { NAME_TRIES = 16, WHY_SIZE = 400 };

static int refuse(const char *path, const char *reason, char *why, size_t why_size)
{
    return error_line(why, why_size, "cannot write %s: %s", path, reason);
}

/* A name in the directory of `target` that hardly anything else has; from malloc. */
static char *temporary_name(const char *target)
{
    uint64_t salt = 0;
    if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
        salt = (uint64_t)getpid();
    char *name = NULL;
    /* a long name is shortened: together with the salt it must stay below NAME_MAX */
    return asprintf(&name, ".%.200s.%016" PRIx64 ".tmp", target, salt) < 0 ? NULL : name;
}

static int link_open_file(int fd, int directory, const char *name)
{
    char self[64];
    snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, directory, name, AT_SYMLINK_FOLLOW);
}

/* Gives a file a temporary name, in *name (from malloc): the open nameless one `fd`, or with -1 a new one. Returns its
 * descriptor, or -1 with errno. */
static int name_file(int fd, const struct atomic_file *f, char **name)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        *name = temporary_name(f->name);
        if (*name == NULL) {
            errno = ENOMEM;
            return -1;
        }
        int named = fd < 0 ? openat(f->directory, *name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666)
                           : (link_open_file(fd, f->directory, *name) == 0 ? fd : -1);
        if (named >= 0)
            return named;
        int error = errno;
        free(*name);
        *name = NULL;
        errno = error;
        if (error != EEXIST)
            break;
    }
    return -1;
}

static int open_nameless(const struct atomic_file *f)
{
    return openat(f->directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

/* Returns whether nameless files can be made and named here: tried, because it needs the file system's support and
 * /proc. */
static bool nameless_works(const struct atomic_file *f)
{
    int fd = open_nameless(f);
    if (fd < 0)
        return false;
    char *name = NULL;
    bool works = name_file(fd, f, &name) >= 0;
    if (works)
        unlinkat(f->directory, name, 0);
    free(name);
    close(fd);
    return works;
}

static void forget(struct atomic_file *f)
{
    if (f->temporary != NULL)
        unlinkat(f->directory, f->temporary, 0);
    if (f->directory >= 0)
        close(f->directory);
    free(f->temporary);
    free(f->path);
    *f = (struct atomic_file){.directory = -1};
}

/* Returns whether only this user can have put something into the directory. */
static bool is_private(int directory)
{
    struct stat s;
    return fstat(directory, &s) == 0 && s.st_uid == geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* The new file takes over what the old one allowed; its owner only where we may give files away. */
static void keep_permissions(int fd, int directory, const struct stat *old)
{
    struct stat own;
    if (!is_private(directory) && (old->st_uid != geteuid() || old->st_nlink != 1))
        return; /* whoever has put it there is not handed what is written now */
    if (fstat(fd, &own) == 0 && (own.st_uid != old->st_uid || own.st_gid != old->st_gid) &&
        fchown(fd, old->st_uid, old->st_gid) != 0)
        return; /* not root: the file stays ours, with our permissions */
    (void)fchmod(fd, old->st_mode & 0777);
}

/* A device that is not there would become a file, which is lost, and in the way of the device. */
static bool is_for_devices(int directory)
{
    struct stat s, devices;
    return fstat(directory, &s) == 0 && stat("/dev", &devices) == 0 && s.st_dev == devices.st_dev &&
           s.st_ino == devices.st_ino;
}

/* The descriptor to write to, with f filled except for the stream; -1 with `why`, a clause. */
static int open_target(struct atomic_file *f, char *why, size_t size)
{
    struct stat old;
    size_t length = strlen(f->path);
    int descriptor = path_descriptor(f->path);
    if (descriptor >= 0) {
        f->direct = true;
        return path_copy_descriptor(descriptor, true, why, size);
    }
    f->directory = path_open_parent(f->path, f->name, why, size);
    if (f->directory < 0)
        return -1;
    int there = path_open_existing(f->directory, f->name, &old, why, size);
    if (there < 0 && errno != ENOENT)
        return -1;
    f->direct = there >= 0 && !S_ISREG(old.st_mode);
    if (f->direct)
        return there;
    if (there >= 0)
        close(there);
    if (f->path[length - 1] == '/')
        return error_line(why, size, "the name ends in '/'");
    if (is_for_devices(f->directory))
        return error_line(why, size,
                          there < 0 ? "there is no such device" : "it is a regular file where a device is expected");
    int fd = nameless_works(f) ? open_nameless(f) : name_file(-1, f, &f->temporary);
    if (fd < 0)
        snprintf(why, size, "%s", strerror(errno));
    else if (there >= 0)
        keep_permissions(fd, f->directory, &old);
    return fd;
}

int atomic_open(struct atomic_file *f, const char *path, char *why, size_t why_size)
{
    char reason[WHY_SIZE] = "";
    *f = (struct atomic_file){.directory = -1};
    if (path[0] == '\0')
        return refuse("''", "the name is empty", why, why_size);
    f->path = strdup(path);
    int fd = f->path != NULL ? open_target(f, reason, sizeof(reason)) : -1;
    f->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (f->stream == NULL) {
        refuse(path, reason[0] != '\0' ? reason : strerror(errno), why, why_size);
        if (fd >= 0)
            close(fd);
        forget(f);
        return -1;
    }
    return 0;
}

static int flush_and_sync(struct atomic_file *f)
{
    if (fflush(f->stream) != 0 || ferror(f->stream)) {
        if (errno == 0)
            errno = EIO;
        return -1;
    }
    /* devices and pipes cannot be synced, and say so with EINVAL */
    if (fsync(fileno(f->stream)) != 0 && !(f->direct && (errno == EINVAL || errno == EROFS || errno == ENOTSUP)))
        return -1;
    return 0;
}

/* Moves the finished file to its name. */
static int give_name(struct atomic_file *f)
{
    int fd = fileno(f->stream);
    if (f->temporary == NULL) {
        if (link_open_file(fd, f->directory, f->name) == 0)
            return 0;
        if (errno != EEXIST || name_file(fd, f, &f->temporary) < 0)
            return -1;
    }
    if (renameat(f->directory, f->temporary, f->directory, f->name) != 0)
        return -1;
    free(f->temporary);
    f->temporary = NULL;
    return 0;
}

int atomic_commit(struct atomic_file *f, char *why, size_t why_size)
{
    errno = 0;
    int status = flush_and_sync(f);
    if (status == 0 && !f->direct)
        status = give_name(f);
    int error = errno;
    if (fclose(f->stream) != 0 && status == 0) {
        status = -1;
        error = errno;
    }
    if (status != 0) {
        refuse(f->path, strerror(error), why, why_size);
    } else if (!f->direct) {
        /* so that the name, too, survives a crash of the system; where that cannot be done nothing can be lost */
        (void)fsync(f->directory);
    }
    forget(f);
    return status;
}

void atomic_abandon(struct atomic_file *f)
{
    if (f->stream != NULL)
        fclose(f->stream);
    forget(f);
}

static int check_room(const struct atomic_file *f, const char *path, uint64_t bytes, char *why, size_t why_size)
{
    struct statvfs fs;
    if (f->direct || fstatvfs(fileno(f->stream), &fs) != 0 || fs.f_blocks == 0)
        return 0;
    uint64_t available = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (available >= bytes)
        return 0;
    return error_line(why, why_size, "cannot write %s: %s (about %.1f MB needed, %.1f MB free)", path, strerror(ENOSPC),
                      (double)bytes / 1e6, (double)available / 1e6);
}

int atomic_check(const char *path, uint64_t bytes, char *why, size_t why_size)
{
    struct atomic_file f;
    struct stat s;
    if (atomic_open(&f, path, why, why_size) != 0)
        return -1;
    int status = check_room(&f, path, bytes, why, why_size);
    if (f.direct && fstat(fileno(f.stream), &s) == 0 && S_ISFIFO(s.st_mode))
        (void)fcntl(fileno(f.stream), F_DUPFD_CLOEXEC, 0); /* or its reader would take this for the end */
    atomic_abandon(&f);
    return status;
}

/* .BASE.SALT.tmp, as temporary_name() makes it */
static bool is_temporary(const char *name, const char *base)
{
    enum { SALT = 16 };
    size_t length = strlen(name), tail = SALT + strlen("..tmp");
    if (name[0] != '.' || length < tail + 2 || strcmp(name + length - 4, ".tmp") != 0 || name[length - tail] != '.' ||
        strspn(name + length - tail + 1, "0123456789abcdef") != SALT)
        return false;
    return base == NULL || (strncmp(name + 1, base, length - tail - 1) == 0 && strlen(base) == length - tail - 1);
}

size_t atomic_sweep(int directory, const char *base)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    size_t n = 0;
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        n += is_temporary(e->d_name, base) && unlinkat(directory, e->d_name, 0) == 0;
    if (d != NULL)
        (void)closedir(d);
    else if (fd >= 0)
        close(fd);
    return n;
}
