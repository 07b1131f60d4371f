/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts the command that is profiled, and knows which tasks descend from it. */
#include "drivers/profile/profile_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "computer/cpu/cpu.h"
#include "util/child.h"
#include "util/command.h"

enum { GENERATIONS_MAX = 4096 };

struct known_task {
    __u32 pid;
    __u64 start_ns;
    bool owned;
};

struct profile_command {
    char path[PATH_MAX];
    pid_t pid;
    int gate, error_pipe; /* a byte written to the first lets it go; the second says why it could not be executed */
    bool gone, ended;
    int status;
    char failure[80];
    void *known; /* tree of struct known_task */
};

/* Runs in the child: waits for a byte from the gate, or exits if the parent has ended. */
static void wait_and_become(const struct profile_command *c, int gate, int error_pipe, char *const argv[])
{
    char go;
    if (TEMP_FAILURE_RETRY(read(gate, &go, 1)) != 1)
        _exit(0);
    child_become(c->path, argv, environ, NULL, false, 0);
    int error = errno;
    _exit(write(error_pipe, &error, sizeof error) == (ssize_t)sizeof error ? 126 : 127);
}

static int fork_it(struct profile_command *c, char *const argv[])
{
    int gate[2], error_pipe[2];
    sigset_t all, before;
    if (pipe2(gate, O_CLOEXEC) != 0)
        return errno;
    if (pipe2(error_pipe, O_CLOEXEC) != 0) {
        int error = errno;
        close(gate[0]);
        close(gate[1]);
        return error;
    }
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* this process's handlers are not for the child */
    c->pid = fork();
    int error = errno;
    if (c->pid == 0) {
        close(gate[1]);
        wait_and_become(c, gate[0], error_pipe[1], argv);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(gate[0]);
    close(error_pipe[1]);
    c->gate = gate[1];
    c->error_pipe = error_pipe[0];
    return c->pid < 0 ? error : 0;
}

int profile_command_start(char *const argv[], struct profile_command **out, struct machine_error *err)
{
    struct profile_command *c = calloc(1, sizeof *c);
    *out = NULL;
    if (c == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    c->gate = c->error_pipe = -1;
    int status = command_locate(argv[0], c->path, sizeof c->path, err);
    int error = status == MACHINE_OK ? fork_it(c, argv) : 0;
    if (error != 0)
        status = machine_fail(err, MACHINE_FAILED, "", "cannot start '%s': %s", argv[0], strerror(error));
    if (status == MACHINE_OK)
        *out = c;
    else
        profile_command_free(c);
    return status;
}

int profile_command_go(struct profile_command *c, struct machine_error *err)
{
    int error = 0;
    bool let = write(c->gate, "", 1) == 1;
    c->gone = true;
    ssize_t got = TEMP_FAILURE_RETRY(read(c->error_pipe, &error, sizeof error));
    if (let && got != (ssize_t)sizeof error)
        return MACHINE_OK;
    return machine_fail(err, MACHINE_FAILED, "", "cannot execute '%s': %s", c->path,
                        let ? strerror(error) : "it has already ended");
}

pid_t profile_command_pid(const struct profile_command *c)
{
    return c->pid;
}

bool profile_command_ended(struct profile_command *c, bool orphans)
{
    int status;
    pid_t pid;
    while (!c->ended && (pid = waitpid(orphans ? -1 : c->pid, &status, WNOHANG)) > 0)
        if (pid == c->pid) {
            c->ended = true;
            c->status = status;
        }
    if (!c->ended || c->failure[0] != '\0')
        return c->ended;
    if (WIFSIGNALED(c->status))
        snprintf(c->failure, sizeof c->failure, "was ended by signal %d (%s)", WTERMSIG(c->status),
                 strsignal(WTERMSIG(c->status)));
    else if (WEXITSTATUS(c->status) != 0)
        snprintf(c->failure, sizeof c->failure, "ended with status %d", WEXITSTATUS(c->status));
    return true;
}

const char *profile_command_failure(const struct profile_command *c)
{
    return c->failure[0] != '\0' ? c->failure : NULL;
}

/* ---- who descends from it ---- */

static int compare_tasks(const void *a, const void *b)
{
    const struct known_task *x = a, *y = b;
    return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid)
                            : (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* The parent of a process; 0: there is none, or the process is gone. */
static pid_t parent_of(const char *proc, pid_t pid)
{
    char text[512];
    int parent = 0, length = cpu_read_text(proc, text, sizeof text, "%d/stat", (int)pid);
    /* the name may hold anything, a ")" too */
    const char *rest = length > 0 ? strrchr(text, ')') : NULL;
    return rest != NULL && sscanf(rest, ") %*c %d", &parent) == 1 ? (pid_t)parent : 0;
}

/* Orphans are this process's children. */
static bool descends(const struct profile_command *c, const char *proc, pid_t pid)
{
    const pid_t here = getpid();
    for (int i = 0; i < GENERATIONS_MAX && pid > 1 && pid != here; i++) {
        if (pid == c->pid)
            return true;
        pid = parent_of(proc, pid);
    }
    return pid == here;
}

bool profile_command_note(struct profile_command *c, const char *proc, const struct profile_task *t)
{
    const struct known_task key = {.pid = t->pid, .start_ns = t->start_ns};
    if (t->pid == 0 || tfind(&key, &c->known, compare_tasks) != NULL)
        return true;
    struct known_task *new = malloc(sizeof *new);
    if (new == NULL)
        return false;
    *new = key;
    new->owned = (pid_t)t->tgid != getpid() && descends(c, proc, (pid_t)t->tgid);
    if (tsearch(new, &c->known, compare_tasks) != NULL)
        return true;
    free(new);
    return false;
}

bool profile_command_owns(const struct profile_command *c, __u32 pid, __u64 start_ns)
{
    const struct known_task key = {.pid = pid, .start_ns = start_ns};
    void *const *found = tfind(&key, &c->known, compare_tasks);
    return found != NULL && ((const struct known_task *)*found)->owned;
}

void profile_command_free(struct profile_command *c)
{
    if (c == NULL)
        return;
    if (c->gate >= 0)
        close(c->gate);
    if (c->error_pipe >= 0)
        close(c->error_pipe);
    if (c->pid > 0 && !c->gone)
        (void)TEMP_FAILURE_RETRY(waitpid(c->pid, NULL, 0));
    tdestroy(c->known, free);
    free(c);
}
