/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes directories for outputs, and removes them again where nothing came to be in them. */
#include "cli/directories.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/messages.h"
#include "util/path.h"

enum { WHY_SIZE = 1000 };

/* Those that end with the program; a signal handler may ask. */
static struct directories *volatile made_here;

/* Makes one directory in one that is there. 0, or -1 with errno and a clause in `why`; EEXIST: something is there. */
static int make_one(const char *path, struct directories *made, char *why, size_t size)
{
    struct directory_made one;
    one.parent = path_open_parent(path, one.name, why, size);
    if (one.parent < 0)
        return -1;
    int status = mkdirat(one.parent, one.name, 0777), error = errno;
    if (status == 0 && made != NULL && made->n < DIRECTORIES_MOST) {
        made->made[made->n] = one;
        made->n = made->n + 1;
        made_here = made;
    } else {
        close(one.parent);
    }
    snprintf(why, size, "%s", strerror(error));
    errno = error;
    return status;
}

int directories_try_make(const char *directory, struct directories *made, char *why, size_t size)
{
    char path[PATH_MAX], reason[WHY_SIZE];
    if (strlen(directory) >= sizeof(path)) {
        snprintf(why, size, "cannot make the directory %.100s...: %s", directory, strerror(ENAMETOOLONG));
        return FAILED;
    }
    for (size_t i = 1; i <= strlen(directory); i++) {
        if (directory[i] != '/' && directory[i] != '\0')
            continue;
        memcpy(path, directory, i);
        path[i] = '\0';
        if (make_one(path, made, reason, sizeof(reason)) != 0 && errno != EEXIST) {
            snprintf(why, size, "cannot make the directory %s: %s", path, reason);
            return FAILED;
        }
    }
    int fd = path_open_directory(directory, reason, sizeof(reason));
    if (fd < 0) {
        snprintf(why, size, "cannot write into %s: %s", directory, reason);
        return FAILED;
    }
    close(fd);
    return DONE;
}

int directories_make(const char *directory, const char *option, struct directories *made)
{
    char why[WHY_SIZE + PATH_MAX];
    int status = directories_try_make(directory, made, why, sizeof(why));
    return status == DONE ? DONE : refuse(FAILED, "%s; name another with %s DIR", why, option);
}

void directories_tidy(struct directories *made)
{
    for (; made->n > 0; made->n = made->n - 1) { /* refuses, as it should, when something is in it */
        (void)unlinkat(made->made[made->n - 1].parent, made->made[made->n - 1].name, AT_REMOVEDIR);
        (void)close(made->made[made->n - 1].parent);
    }
    if (made_here == made)
        made_here = NULL;
}

void directories_end(void)
{
    if (made_here != NULL)
        directories_tidy(made_here);
}
