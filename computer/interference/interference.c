/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between the run and the processes that disturb it stands a leader, forked while the run is as it was started. It is
 * told over a socket to begin and to end. The processes are one group; the leader, as their subreaper, waits until the
 * last of them is gone. When the run ends, by whatever, the leader gets SIGTERM and kills the group; where the leader
 * is killed, each process is, and with it its child.
 */
#include "computer/interference/interference.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/splitmix64.h"

struct interferer {
    struct interference_plan plan;
    pid_t leader;
    int fd;
    bool runs;
};

enum { SAY_BEGIN = 'b', SAY_END = 'e' };
/* Answers: 0, an error number, or one of these. */
enum { ENDED_BEFORE = -1, KILLED_BEFORE = -2 };

/* ---- the leader; all of it is forked from a program with threads: system calls alone ---- */

struct led {
    const struct interference_plan *plan;
    pid_t self, group; /* group 0: none is running */
};

static int join_led(struct led *l, unsigned number)
{
    pid_t pid = fork();
    if (pid == 0) {
        (void)setpgid(0, l->group);
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == l->self && cpu_set_affinity(&l->plan->cpus) == 0)
            interference_work(l->plan, splitmix64(number));
        _exit(1);
    }
    if (pid < 0)
        return errno;
    (void)setpgid(pid, l->group); /* whoever of the two comes first */
    if (l->group == 0)
        l->group = pid;
    return 0;
}

/* 0 as long as none of them has ended, which none does by itself; else how one did. */
static int how_led_ended(void)
{
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0)
        return 0;
    return info.si_pid != 0 && info.si_code != CLD_EXITED ? KILLED_BEFORE : ENDED_BEFORE;
}

static void end_led(struct led *l)
{
    if (l->group > 0)
        kill(-l->group, SIGKILL);
    l->group = 0;
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
    }
}

static int begin_led(struct led *l)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    int error = 0;
    for (unsigned i = 0; i < l->plan->processes && error == 0; i++)
        error = join_led(l, i);
    (void)nanosleep(&moment, NULL); /* who cannot begin ends at once */
    if (error == 0)
        error = how_led_ended();
    if (error != 0)
        end_led(l);
    return error;
}

static int obey(struct led *l, char what)
{
    if (what == SAY_BEGIN)
        return l->group > 0 ? 0 : begin_led(l);
    int answer = l->group > 0 ? how_led_ended() : 0;
    end_led(l);
    return answer;
}

/* Nothing of the run's is held: no stream, no lock, no handler. The socket becomes descriptor 3. */
static bool detach_from_run(int fd)
{
    static const char likely[] = "1000"; /* proc(5): where memory gets short, these go first */
    const struct sched_param normal = {.sched_priority = 0};
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++)
        if (null < 0 || dup2(null, i) < 0)
            return false;
    if (fd != 3 && dup2(fd, 3) < 0)
        return false;
    (void)close_range(4, ~0U, 0);
    for (int number = 1; number < NSIG; number++)
        (void)signal(number, SIG_DFL);
    (void)sched_setscheduler(0, SCHED_OTHER, &normal);
    (void)setpgid(0, 0); /* what a terminal's keys send is for the run */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0 && write(score, likely, sizeof likely - 1) < 0) {
        /* then they are as likely as others */
    }
    if (score >= 0)
        close(score);
    return true;
}

static _Noreturn void lead(const struct interference_plan *plan, int fd, pid_t parent)
{
    struct led l = {.plan = plan, .self = getpid()};
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    if (!detach_from_run(fd) || prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || sigprocmask(SIG_SETMASK, &term, NULL) != 0)
        _exit(1);
    struct pollfd wait[2] = {{.fd = 3, .events = POLLIN}, {.fd = signalfd(-1, &term, SFD_CLOEXEC), .events = POLLIN}};
    /* a parent that ended before it could be told of has left its child to another one */
    while (wait[1].fd >= 0 && getppid() == parent) {
        char what;
        int ready = poll(wait, 2, -1);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready < 0 || wait[1].revents != 0 || recv(3, &what, 1, 0) != 1)
            break;
        int answer = obey(&l, what);
        if (send(3, &answer, sizeof answer, MSG_NOSIGNAL) != (ssize_t)sizeof answer)
            break;
    }
    end_led(&l);
    _exit(0);
}

/* ---- the run ---- */

int interference_ready(const struct interference_plan *plan, struct interferer **out, struct machine_error *err)
{
    struct interferer *i = calloc(1, sizeof *i);
    const pid_t parent = getpid();
    sigset_t all, before;
    int ends[2];
    *out = NULL;
    if (i == NULL || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        free(i);
        return machine_fail(err, MACHINE_FAILED, "", "no interference: %s", strerror(errno));
    }
    i->plan = *plan;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* the run's handlers are not for the leader */
    i->leader = fork();
    int error = errno;
    if (i->leader == 0)
        lead(&i->plan, ends[1], parent);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    i->fd = ends[0];
    if (i->leader < 0) {
        close(i->fd);
        free(i);
        return machine_fail(err, MACHINE_FAILED, "", "no interference: %s", strerror(error));
    }
    *out = i;
    return MACHINE_OK;
}

/* What it answers; ENDED_BEFORE where it does not. */
static int tell_leader(struct interferer *i, char what)
{
    enum { ANSWER_MS = 10000 };
    struct pollfd wait = {.fd = i->fd, .events = POLLIN};
    int answer = ENDED_BEFORE;
    if (send(i->fd, &what, 1, MSG_NOSIGNAL) != 1)
        return ENDED_BEFORE;
    return TEMP_FAILURE_RETRY(poll(&wait, 1, ANSWER_MS)) > 0 &&
                   recv(i->fd, &answer, sizeof answer, 0) == (ssize_t)sizeof answer
               ? answer
               : ENDED_BEFORE;
}

static int somebody_killed(const struct interferer *i, struct machine_error *err)
{
    return machine_fail(
        err, MACHINE_FAILED, "free some memory, and try again",
        "--interference %s ended before the measurement that it was to disturb: somebody, or the kernel, killed it",
        interference_names[i->plan.kind]);
}

int interference_begin(struct interferer *i, struct machine_error *err)
{
    int error = tell_leader(i, SAY_BEGIN);
    i->runs = error == 0;
    if (error == 0)
        return MACHINE_OK;
    if (error == KILLED_BEFORE)
        return somebody_killed(i, err);
    return machine_fail(err, MACHINE_FAILED, "", "--interference %s cannot start: %s", interference_names[i->plan.kind],
                        error > 0 ? strerror(error)
                                  : "its processes end immediately (too little memory, or no /bin/sh)");
}

int interference_end(struct interferer *i, struct machine_error *err)
{
    if (!i->runs)
        return MACHINE_OK;
    i->runs = false;
    return tell_leader(i, SAY_END) == 0 ? MACHINE_OK : somebody_killed(i, err);
}

bool interference_runs(const struct interferer *i)
{
    return i != NULL && i->runs;
}

void interference_close(struct interferer *i)
{
    struct machine_error ignored;
    if (i == NULL)
        return;
    (void)interference_end(i, &ignored);
    close(i->fd);
    kill(i->leader, SIGTERM); /* also where it does not listen */
    (void)TEMP_FAILURE_RETRY(waitpid(i->leader, NULL, 0));
    free(i);
}
