/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children that become other programs. */
#include "util/child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void child_become(const char *path, char *const argv[], char *const environment[], const int *streams, bool own_group,
                  pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++) {
        struct sigaction now;
        bool ignored = sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
        if (!ignored || number == SIGPIPE || number == SIGXFSZ)
            (void)signal(number, SIG_DFL); /* before one that is pending meets the caller's handler */
    }
    if (parent != 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return;
    if (parent != 0 && getppid() != parent) {
        errno = ESRCH; /* which getppid() never sets */
        return;
    }
    if (own_group && setpgid(0, 0) != 0)
        return;
    for (int i = 0; i < 3 && streams != NULL; i++)
        if (dup2(streams[i], i) < 0)
            return;
    if (sigprocmask(SIG_SETMASK, &none, NULL) == 0)
        (void)execve(path, argv, environment);
}

int child_start(const char *path, char *const argv[], char *const environment[], int in, int out, int err,
                bool own_group, pid_t *pid)
{
    const int streams[3] = {in, out, err};
    int error_pipe[2], error = 0;
    if (pipe2(error_pipe, O_CLOEXEC) != 0)
        return errno;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* the caller's handlers are not for the child */
    pid_t parent = getpid();
    *pid = fork();
    if (*pid == 0) {
        child_become(path, argv, environment, streams, own_group, parent);
        error = errno;
        _exit(write(error_pipe[1], &error, sizeof(error)) == (ssize_t)sizeof(error) ? 126 : 127);
    }
    int failed = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(error_pipe[1]);
    ssize_t got = 0;
    while (*pid > 0 && (got = read(error_pipe[0], &error, sizeof(error))) < 0 && errno == EINTR) {
    }
    close(error_pipe[0]);
    if (*pid < 0)
        return failed;
    if (got == (ssize_t)sizeof(error)) { /* it never became the program */
        while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR) {
        }
        return error;
    }
    return 0;
}
