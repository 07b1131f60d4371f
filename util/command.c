/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other programs run for what they print. */
#include "util/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/child.h"
#include "util/clock.h"
#include "util/error.h"

enum { PATH_SIZE = 4096 };

bool command_find(const char *name, char *path, size_t size)
{
    const char *from = getenv("PATH");
    if (from == NULL)
        from = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    for (; *from != '\0'; from += *from == ':') {
        size_t length = strcspn(from, ":");
        struct stat s;
        int needed = snprintf(path, size, "%.*s/%s", (int)length, from, name);
        if (*from == '/' && needed > 0 && (size_t)needed < size && stat(path, &s) == 0 && S_ISREG(s.st_mode) &&
            access(path, X_OK) == 0)
            return true;
        from += length;
    }
    return false;
}

int command_locate(const char *name, char *path, size_t size, struct machine_error *err)
{
    if (strchr(name, '/') == NULL) {
        return command_find(name, path, size)
                   ? MACHINE_OK
                   : machine_fail(err, MACHINE_BAD_INPUT, "", "command '%s' is not in PATH", name);
    }
    if (strlen(name) >= size || access(name, X_OK) != 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "the command '%s' cannot be executed: %s", name,
                            strlen(name) >= size ? strerror(ENAMETOOLONG) : strerror(errno));
    memcpy(path, name, strlen(name) + 1);
    return MACHINE_OK;
}

bool command_installed(const char *name)
{
    char path[PATH_SIZE];
    return command_find(name, path, sizeof path);
}

/* The environment with LC_ALL=C in front; the pointers alone are new. NULL: out of memory. */
static char **plain_environment(char *locale)
{
    size_t n = 0;
    while (environ[n] != NULL)
        n++;
    char **out = malloc((n + 2) * sizeof *out);
    if (out == NULL)
        return NULL;
    size_t k = 0;
    out[k++] = locale;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "LC_ALL=", 7) != 0)
            out[k++] = environ[i];
    out[k] = NULL;
    return out;
}

/* A process group of its own, so that what the program starts ends with it. */
static int command_start(const char *path, const char *const *argv, int out, int err, pid_t *pid)
{
    char locale[] = "LC_ALL=C", **environment = plain_environment(locale);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), error = nothing < 0 ? errno : 0;
    if (environment == NULL)
        error = ENOMEM;
    if (error == 0)
        error = child_start(path, (char *const *)(uintptr_t)argv, environment, nothing, out, err, true, pid);
    if (nothing >= 0)
        close(nothing);
    free(environment);
    return error;
}

/* Takes what there is; returns false at its end. */
static bool take(int fd, char *text, size_t *used)
{
    char more[4096];
    ssize_t n = read(fd, more, sizeof more);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    size_t room = COMMAND_TEXT_MAX - 1 - *used, length = (size_t)n < room ? (size_t)n : room;
    memcpy(text + *used, more, length);
    *used += length;
    text[*used] = '\0';
    return n > 0;
}

/* Reads both pipes to their ends; returns false when the time is over first. */
static bool listen_to(int out, int err, double until, struct command_output *o)
{
    struct pollfd pipes[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
    size_t used[2] = {0, 0};
    while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
        double left = until - clock_seconds(CLOCK_MONOTONIC);
        if (left <= 0)
            return false;
        if (poll(pipes, 2, (int)(left * 1e3) + 1) < 0 && errno != EINTR)
            return false;
        for (int i = 0; i < 2; i++) {
            if (pipes[i].fd >= 0 && pipes[i].revents != 0 && !take(pipes[i].fd, i == 0 ? o->out : o->err, &used[i]))
                pipes[i].fd = -1;
            pipes[i].revents = 0;
        }
    }
    return true;
}

/* Waits for the end; after `until` it is made. Returns its status, -1 where the time was over. */
static int wait_for(pid_t pid, double until, bool ended)
{
    int status = 0;
    pid_t done = 0;
    while (ended && (done = waitpid(pid, &status, WNOHANG)) == 0 && clock_seconds(CLOCK_MONOTONIC) < until)
        (void)poll(NULL, 0, 1);
    if (done == pid)
        return status;
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return -1;
}

static int command_tell(const char *name, int status, double seconds, const struct command_output *o, char *why,
                        size_t size)
{
    const char *said = o->err[strspn(o->err, " \t\n")] != '\0' ? o->err : o->out;
    if (status == -1) {
        snprintf(why, size, "%s did not end within %.0f s", name, seconds);
    } else if (WIFSIGNALED(status)) {
        snprintf(why, size, "%s was ended by signal %d", name, WTERMSIG(status));
    } else {
        said += strspn(said, " \t\n");
        snprintf(why, size, "%s ended with status %d: %.*s", name, WEXITSTATUS(status), (int)strcspn(said, "\n"), said);
    }
    return -1;
}

/* Whose end it is: prlimit becomes the program that it is given. */
static const char *program_of(const char *const *argv)
{
    size_t i = strcmp(argv[0], "prlimit") == 0;
    while (argv[i] != NULL && argv[i][0] == '-')
        i++;
    return argv[i] != NULL ? argv[i] : argv[0];
}

int command_run(const char *const *argv, double seconds, struct command_output *out, char *why, size_t size)
{
    char path[PATH_SIZE];
    int o[2], e[2];
    pid_t pid = -1;
    out->out[0] = out->err[0] = '\0';
    if (!command_find(argv[0], path, sizeof path))
        return error_line(why, size, "%s is not installed", argv[0]);
    if (pipe2(o, O_CLOEXEC) != 0)
        return error_line(why, size, "cannot create a pipe to %s: %s", argv[0], strerror(errno));
    if (pipe2(e, O_CLOEXEC) != 0) {
        snprintf(why, size, "cannot create a pipe to %s: %s", argv[0], strerror(errno));
        close(o[0]);
        close(o[1]);
        return -1;
    }
    int error = command_start(path, argv, o[1], e[1], &pid), status = 0;
    close(o[1]);
    close(e[1]);
    if (error == 0) {
        double until = clock_seconds(CLOCK_MONOTONIC) + seconds;
        bool ended = listen_to(o[0], e[0], until, out);
        status = wait_for(pid, until, ended);
    } else {
        snprintf(why, size, "%s cannot be started: %s", argv[0], strerror(error));
    }
    close(o[0]);
    close(e[0]);
    if (error != 0)
        return -1;
    return status == 0 ? 0 : command_tell(program_of(argv), status, seconds, out, why, size);
}
