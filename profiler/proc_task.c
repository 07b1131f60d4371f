/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profiler/proc_task.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/plain_text.h"

/* Up to size - 1 bytes of a file of a task, with a NUL behind them; their number, 0 also where there is none. */
static size_t proc_read(const char *proc, const struct profile_task *t, const char *file, char *out, size_t size)
{
    char path[4096];
    ssize_t got = -1;
    (void)snprintf(path, sizeof(path), "%s/%u/%s", proc, t->pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, out, size - 1);
        (void)close(fd);
    }
    size_t length = got > 0 ? (size_t)got : 0;
    out[length] = '\0';
    return length;
}

bool proc_task_alive(const char *proc, const struct profile_task *t)
{
    enum { START_FIELD = 22, BEHIND_NAME = 2 };
    char text[1024];
    if (proc_read(proc, t, "stat", text, sizeof(text)) == 0)
        return false;
    if (t->start_ns == 0)
        return true;
    /* the second field is the name in parentheses, which may hold blanks and parentheses itself */
    const char *at = strrchr(text, ')');
    for (int field = BEHIND_NAME; at != NULL && field < START_FIELD; field++) {
        at = strchr(at, ' ');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL)
        return false;
    long per_second = sysconf(_SC_CLK_TCK);
    return strtoull(at, NULL, 10) == t->start_ns / (1000000000ull / (unsigned long)per_second);
}

void proc_task_command(const char *proc, const struct profile_task *t, char *out, size_t size)
{
    char text[1024];
    size_t length = proc_read(proc, t, "cmdline", text, sizeof(text));
    for (size_t i = 0; i + 1 < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    plain_text(text, out, size);
    for (size_t end = strlen(out); end > 0 && out[end - 1] == ' '; end--)
        out[end - 1] = '\0';
}
