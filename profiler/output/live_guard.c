/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profiler/output/live_guard.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/error.h"

/* In the guard, between fork() and _exit(): only what a signal handler might call, too. */
static _Noreturn void stand_guard(int tty, int end, const struct termios *modes, const char *text)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    char c;
    ssize_t got;
    /* what ends the terminal's processes does not end it; whoever owns the terminal then, it may write */
    for (int number = 1; number < NSIG; number++)
        (void)sigaction(number, &ignore, NULL);
    (void)setpgid(0, 0);
    if (dup2(tty, STDIN_FILENO) < 0 || dup2(end, STDOUT_FILENO) < 0 || close_range(STDERR_FILENO, UINT_MAX, 0) != 0)
        _exit(1);
    (void)send(STDOUT_FILENO, "r", 1, MSG_NOSIGNAL);
    do
        got = read(STDOUT_FILENO, &c, 1);
    while (got < 0 && errno == EINTR);
    if (got == 0) { /* nobody has said that all is well */
        got = write(STDIN_FILENO, text, strlen(text));
        (void)tcsetattr(STDIN_FILENO, TCSANOW, modes);
    }
    _exit(0);
}

void live_guard_end(struct live_guard *g)
{
    (void)send(g->alive, "q", 1, MSG_NOSIGNAL);
    (void)close(g->alive);
    while (g->pid > 0 && waitpid(g->pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

int live_guard_start(struct live_guard *g, int fd, const struct termios *modes, const char *text, char *why,
                     size_t size)
{
    int ends[2];
    /* not a pipe, since writing to one whose reader has been killed is a signal */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return error_line(why, size, "no socket: %s", strerror(errno));
    g->alive = ends[1];
    g->pid = fork();
    if (g->pid == 0) {
        (void)close(ends[1]);
        stand_guard(fd, ends[0], modes, text);
    }
    int error = errno;
    char ready;
    ssize_t got;
    (void)close(ends[0]);
    /* from then on nothing ends it but its task */
    do
        got = g->pid > 0 ? read(ends[1], &ready, 1) : 0;
    while (got < 0 && errno == EINTR);
    if (got == 1)
        return 0;
    live_guard_end(g);
    return error_line(why, size, "no process to restore the terminal: %s", strerror(g->pid < 0 ? error : ECHILD));
}
