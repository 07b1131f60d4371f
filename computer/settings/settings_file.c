/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of the machine, or of a folder that looks like it, without being led elsewhere by links; where other
 * programs may run, as /proc/PID/task/TID/status shows. */
#include "computer/settings/settings_parts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util/list.h"

const char *settings_proc(const struct settings_roots *r)
{
    return r->proc != NULL ? r->proc : "/proc";
}

/* The root of a path, and *rest below it; NULL with errno. */
static const char *root_of(const struct settings_roots *r, const char *path, const char **rest)
{
    const char *const roots[3][2] = {{"/sys/", r->sys}, {"/proc/", settings_proc(r)}, {"/dev/", r->dev}};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(roots[i][0]);
        if (strncmp(path, roots[i][0], length) == 0) {
            *rest = path + length;
            return roots[i][1];
        }
    }
    errno = EINVAL;
    return NULL;
}

void settings_real_path(const struct settings_roots *r, const char *path, char *out, size_t size)
{
    const char *rest, *root = root_of(r, path, &rest);
    snprintf(out, size, "%s/%s", root != NULL ? root : "", root != NULL ? rest : path);
}

/* Opens what is called `name` in the folder `at`, which is closed, with O_NOFOLLOW. */
static int open_one_step(int at, const char *name, int flags)
{
    bool strange = name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    int fd = strange ? -1 : openat(at, name, flags | O_NOFOLLOW | O_CLOEXEC);
    int error = strange ? EINVAL : errno;
    close(at);
    errno = error;
    return fd;
}

static int open_below(const struct settings_roots *r, const char *path, int flags)
{
    enum { FOLDER = O_PATH | O_DIRECTORY };
    char copy[CHANGE_PATH_MAX], *rest = copy, *name;
    const char *below, *root = root_of(r, path, &below);
    if (root == NULL)
        return -1;
    if (snprintf(copy, sizeof copy, "%s", below) >= (int)sizeof copy) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = open(root, FOLDER | O_NOFOLLOW | O_CLOEXEC);
    while (fd >= 0 && (name = strsep(&rest, "/")) != NULL)
        fd = open_one_step(fd, name, rest != NULL ? FOLDER : flags);
    return fd;
}

int settings_open(const struct settings_roots *r, const char *path, int flags)
{
    struct stat status;
    int fd = open_below(r, path, flags | O_NONBLOCK);
    if (fd < 0)
        return -1;
    int error = fstat(fd, &status) != 0 ? errno : 0;
    bool device = S_ISCHR(status.st_mode) && strcmp(r->dev, "/dev") == 0 && strncmp(path, "/dev/", 5) == 0;
    if (error == 0 && !device && (!S_ISREG(status.st_mode) || status.st_nlink != 1))
        error = EPERM;
    if (error == 0)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

int settings_open_folder(const struct settings_roots *r, const char *path)
{
    return open_below(r, path, O_RDONLY | O_DIRECTORY);
}

DIR *settings_open_list(const struct settings_roots *r, const char *path)
{
    int fd = settings_open_folder(r, path);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder == NULL && fd >= 0)
        close(fd);
    return folder;
}

int settings_number(const char *name, const char *prefix)
{
    size_t length = strlen(prefix), digits = strlen(name) - length;
    if (strncmp(name, prefix, length) != 0 || digits == 0 || digits > 9 ||
        strspn(name + length, "0123456789") != digits)
        return -1;
    return atoi(name + length);
}

bool settings_numbers(const struct settings_roots *r, const char *path, const char *prefix, unsigned **out, size_t *n)
{
    DIR *folder = settings_open_list(r, path);
    struct dirent *entry;
    bool room = true;
    *out = NULL;
    *n = 0;
    while (folder != NULL && room && (entry = readdir(folder)) != NULL) {
        int number = settings_number(entry->d_name, prefix);
        room = list_room(out, *n, sizeof **out);
        if (room && number >= 0)
            (*out)[(*n)++] = (unsigned)number;
    }
    if (folder != NULL)
        closedir(folder);
    return room;
}

bool settings_accessible(const struct settings_roots *r, const char *path, int mode)
{
    char real[500];
    settings_real_path(r, path, real, sizeof real);
    return access(real, mode) == 0;
}

int settings_read_text(const struct settings_roots *r, const char *path, char *out, size_t size)
{
    size_t used = 0;
    ssize_t got = 1;
    int fd = settings_open(r, path, O_RDONLY);
    out[0] = '\0';
    if (fd < 0)
        return -1;
    while (used < size && (got = read(fd, out + used, size - used)) > 0)
        used += (size_t)got;
    int error = got < 0 ? errno : used == size ? EMSGSIZE : 0;
    close(fd);
    if (error != 0) {
        out[0] = '\0';
        errno = error;
        return -1;
    }
    while (used > 0 && isspace((unsigned char)out[used - 1]))
        used--;
    out[used] = '\0';
    return (int)used;
}

/* Returns whether a file is kept as it was written, also below a /sys that is made up: those of the kernel are not. */
static bool is_plain(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && fs.f_type != SYSFS_MAGIC && fs.f_type != PROC_SUPER_MAGIC &&
           fs.f_type != CGROUP_SUPER_MAGIC && fs.f_type != CGROUP2_SUPER_MAGIC;
}

int settings_write_text(const struct settings_roots *r, const char *path, const char *value)
{
    char text[4096];
    struct stat status;
    size_t length = strlen(value);
    int fd = settings_open(r, path, O_WRONLY);
    if (fd < 0)
        return errno;
    bool known = length < sizeof text && fstat(fd, &status) == 0;
    if (known)
        snprintf(text, sizeof text, "%s", value);
    /* plain files keep what is not overwritten; still in one write, so that a signal finds it complete */
    while (known && is_plain(fd) && (off_t)length < status.st_size && length < sizeof text)
        text[length++] = '\n';
    ssize_t put = known ? write(fd, text, length) : -1;
    int error = !known ? EMSGSIZE : put > 0 && put == (ssize_t)length ? 0 : put < 0 ? errno : EIO;
    if (close(fd) != 0 && error == 0)
        error = errno;
    return error;
}

/* ---- the affinity of other programs ---- */

static const char *field(const char *status, const char *name)
{
    const char *at = strstr(status, name);
    return at != NULL ? at + strlen(name) : "";
}

bool settings_task_allowed(const struct settings_roots *r, int task, struct cpu_mask *out, int *process, bool *kernel)
{
    char text[8000], list[CHANGE_VALUE_MAX];
    if (cpu_read_text(settings_proc(r), text, sizeof text, "%d/status", task) <= 0)
        return false;
    *process = atoi(field(text, "\nTgid:\t"));
    *kernel = strstr(text, "\nVmSize:") == NULL;
    return sscanf(field(text, "\nCpus_allowed_list:\t"), "%2399s", list) == 1 && cpu_mask_parse(list, out) == 0;
}
