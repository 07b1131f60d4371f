/* SPDX-License-Identifier: GPL-3.0-or-later */
/* util/child.c: other programs are started as a shell would, and end with the process that started them. */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "util/child.h"

/* sh -c SCRIPT; its output and its complaints go to `out`. Returns what child_start() does. */
static int start(const char *script, int out, pid_t *pid)
{
    char name[] = "sh", option[] = "-c", text[300];
    snprintf(text, sizeof(text), "%s", script);
    char *const argv[] = {name, option, text, NULL};
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(nothing > STDERR_FILENO);
    int error = child_start("/bin/sh", argv, environ, nothing, out, out, true, pid);
    close(nothing);
    return error;
}

TEST(streams_signals_and_status)
{
    char text[200] = "";
    int status, out = memfd_create("out", MFD_CLOEXEC);
    pid_t pid;
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    /* ignored or blocked, neither of the first two would end it, and its group is its own; nohup holds for it, too */
    assert_int_equal(
        start("read -r x; echo out$x; echo err >&2; exec 2>/dev/null; sh -c 'kill -s PIPE $$'; echo $?; sh -c 'kill "
              "$$'; echo $?; sh -c 'kill -s HUP $$'; echo $?; cut -d ' ' -f 5 /proc/self/stat; echo $$; exit 7",
              out, &pid),
        0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    sigprocmask(SIG_SETMASK, &before, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_true(pread(out, text, sizeof(text) - 1, 0) > 0);
    char wanted[200];
    snprintf(wanted, sizeof(wanted), "out\nerr\n%d\n%d\n0\n%d\n%d\n", 128 + SIGPIPE, 128 + SIGTERM, (int)pid, (int)pid);
    assert_string_equal(text, wanted);
    close(out);
}

TEST(what_cannot_be_started_is_an_error)
{
    char name[] = "x";
    char *const argv[] = {name, NULL};
    int out = memfd_create("out", MFD_CLOEXEC);
    pid_t pid;
    assert_int_equal(child_start("/nonexistent/x", argv, environ, out, out, out, false, &pid), ENOENT);
    assert_int_equal(child_start("/tmp", argv, environ, out, out, out, false, &pid), EACCES);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left to be waited for */
    assert_int_equal(errno, ECHILD);
    close(out);
}

/* A process that starts one that would last, and is killed. */
TEST(it_ends_with_the_process_that_started_it)
{
    int report[2], status;
    pid_t child, grandchild = 0;
    assert_int_equal(pipe(report), 0);
    child = fork();
    if (child == 0) {
        pid_t pid = 0;
        bool good = start("exec sleep 60", report[1], &pid) == 0 && write(report[1], &pid, sizeof(pid)) == sizeof(pid);
        close(report[1]);
        for (;;) {
            if (!good)
                _exit(1);
            pause();
        }
    }
    close(report[1]);
    assert_int_equal(read(report[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    alarm(20); /* the end of the pipe comes when the last of them has ended */
    assert_int_equal(read(report[0], &grandchild, 1), 0);
    alarm(0);
    close(report[0]);
}
