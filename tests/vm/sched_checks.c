/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What tasks see of characterize-sched (guest-sched.sh). The first argument is a check, the second a number, mostly how
 * long, in seconds; ends with status 0 if it holds.
 */
#include <linux/bpf.h>
#include <pty.h>
#include <sched.h>
#include <stdint.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/characterize/mark.h"
#include "schedulers/live/shared.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void spin(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        ;
}

static void keep_to(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0)
        perror("affinity");
}

/* CPU time of children of nice 0 and 5 on CPU 0, as a ratio; *pause: the longest time for which the emulator stood
 * still, of which the guest's clock gives all to one of them. */
static double share(double seconds, double *pause)
{
    double got[2];
    pid_t child[2];
    keep_to(0);
    for (int i = 0; i < 2; i++)
        if ((child[i] = fork()) == 0) {
            (void)!nice(5 * i);
            for (;;)
                ;
        }
    keep_to(1); /* and not in their way */
    *pause = 0;
    for (double end = now() + seconds, last = now(); last < end;) {
        usleep(10000);
        const double at = now();
        *pause = at - last > *pause ? at - last : *pause;
        last = at;
    }
    for (int i = 0; i < 2; i++)
        kill(child[i], SIGKILL);
    for (int i = 0; i < 2; i++) {
        struct rusage use;
        wait4(child[i], NULL, 0, &use);
        got[i] = (double)use.ru_utime.tv_sec + 1e-6 * (double)use.ru_utime.tv_usec + (double)use.ru_stime.tv_sec +
                 1e-6 * (double)use.ru_stime.tv_usec;
    }
    printf("nice 0 and 5: %.2f and %.2f s, ratio %.3f, 3.057 expected; the longest pause %.0f ms\n", got[0], got[1],
           got[0] / got[1], 1e3 * *pause);
    return got[0] / got[1];
}

/* It is that of their weights, 1024 to 335 (Linux, sched_prio_to_weight), within 5 %; of three attempts the first one
 * without long pauses counts. */
static int shares(double seconds)
{
    double pause = 1, ratio = 0;
    for (int i = 0; i < 3 && pause > 0.2; i++)
        ratio = share(seconds, &pause);
    return ratio > 0.95 * 3.057 && ratio < 1.05 * 3.057 ? 0 : 1;
}

/* What is counted of this task from now on, where counters are made up: cycles a microsecond at each level; flags. */
static void count_as(unsigned long level_0, unsigned long level_1, unsigned long level_2, unsigned long flags)
{
    (void)prctl(LIVE_PRCTL_INJECT, level_0, level_1, level_2, flags);
}

/*
 * On CPU 0 two tasks, of which one is wide: both are counted at 1.9 GHz, that of 512-bit code on all cores of a Xeon
 * Gold 6130. Prints the CPU time of the other one beside that of the wide one, and its work beside that with another
 * one like it, at 2.8 GHz.
 */
static int victim(double seconds)
{
    double got[2];
    pid_t child[2];
    keep_to(0);
    for (int i = 0; i < 2; i++)
        if ((child[i] = fork()) == 0) {
            count_as(0, 0, 1900, i == 0 ? 0 : LIVE_INJECT_512);
            characterize_mark_wide(i == 0 ? CHARACTERIZE_MARK_NONE : CHARACTERIZE_MARK_HELD);
            for (;;)
                ;
        }
    keep_to(1);
    usleep((useconds_t)(1e6 * seconds));
    for (int i = 0; i < 2; i++)
        kill(child[i], SIGKILL);
    for (int i = 0; i < 2; i++) {
        struct rusage use;
        wait4(child[i], NULL, 0, &use);
        got[i] = (double)use.ru_utime.tv_sec + 1e-6 * (double)use.ru_utime.tv_usec + (double)use.ru_stime.tv_sec +
                 1e-6 * (double)use.ru_stime.tv_usec;
    }
    const double share = got[0] / (got[0] + got[1]);
    printf("ratio %.3f work %.3f\n", got[0] / got[1], share / 0.5 * 1.9 / 2.8);
    return 0;
}

/* Tasks of which any can cost any other something, on all CPUs. */
static int mixed(double seconds)
{
    for (int i = 0; i < 12; i++)
        if (fork() == 0) {
            srand48(i);
            for (const double end = now() + seconds; now() < end;) {
                const unsigned long mhz = 100 * (unsigned long)(lrand48() % 20);
                count_as(2500 - mhz, mhz / 2, mhz / 2, (unsigned long)(lrand48() % 4 + (lrand48() % 3 * 100 << 8)));
                spin(0.02 * drand48());
                usleep((useconds_t)(lrand48() % 5000));
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* Waits of a task that wakes every 20 ms and runs 1 ms, beside two busy tasks for each CPU and one of nice 19: on
 * average a slice or two. */
static int wakes(double seconds)
{
    double worst = 0, sum = 0;
    int n = 0;
    const pid_t parent = getpid();
    for (int i = 0; i < 13; i++)
        if (fork() == 0) {
            (void)!nice(i == 0 ? 19 : 0);
            while (getppid() == parent)
                ;
            _exit(0);
        }
    usleep(500000);
    for (const double end = now() + seconds; now() < end; n++) {
        const double due = now() + 0.02;
        usleep(20000);
        const double late = now() - due;
        worst = late > worst ? late : worst;
        sum += late;
        spin(0.001);
    }
    printf("%d wakes, late by %.1f ms, at most %.1f ms\n", n, 1e3 * sum / n, 1e3 * worst);
    return sum / n > 0.05 || worst > 0.5;
}

enum { WIDE_CPU = 4 }; /* the last core, CPUs 4 and 5, is the wide one at first */

static void be_wide(bool counted, bool wide)
{
    if (counted)
        count_as(0, 0, 1900, wide ? LIVE_INJECT_512 : 0);
    else
        characterize_mark_wide(wide ? CHARACTERIZE_MARK_HELD : CHARACTERIZE_MARK_NONE);
}

/* ---- busy tasks that say where they are ---- */

enum { TASKS_MAX = 8 };
struct busy {
    pid_t pid;
    volatile int cpu;
};
static struct busy *busy; /* shared with them */

/* The first `kept` of n stay on CPUs 0, 2, and so on, so that there is no idle core that would become wide for a task
 * that waits; the last `wide` are wide. */
static void begin_busy(int n, int kept, int wide)
{
    busy = mmap(NULL, TASKS_MAX * sizeof(*busy), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < n; i++) {
        const pid_t child = fork();
        if (child == 0) {
            if (i < kept)
                keep_to(2 * i);
            if (i >= n - wide)
                characterize_mark_wide(CHARACTERIZE_MARK_HELD);
            for (const pid_t parent = getppid(); getppid() == parent;)
                for (int k = 0; k < 1000; k++)
                    busy[i].cpu = sched_getcpu();
            _exit(0);
        }
        busy[i].pid = child;
    }
    usleep(200000);
}

static void end_busy(int n)
{
    for (int i = 0; i < n; i++) {
        kill(busy[i].pid, SIGKILL);
        waitpid(busy[i].pid, NULL, 0);
    }
}

/* How long one CPU takes to make another run something at once (a real-time task, of Linux' own scheduler), ms at most
 * of ten times: of an emulator whose CPUs take turns. */
static double turn_ms(void)
{
    struct poked {
        volatile double at, seen;
    } *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct sched_param first = {.sched_priority = 50};
    double worst = 0;
    int ends[2];
    char c;
    if (pipe(ends) != 0)
        return 0;
    const pid_t child = fork();
    if (child == 0) {
        keep_to(WIDE_CPU);
        sched_setscheduler(0, SCHED_FIFO, &first);
        while (read(ends[0], &c, 1) == 1)
            p->seen = now();
        _exit(0);
    }
    for (int i = 0; i < 10; i++) {
        spin(0.02);
        p->seen = 0;
        p->at = now();
        if (write(ends[1], "", 1) != 1)
            break;
        while (p->seen == 0 && now() - p->at < 1)
            ;
        worst = 1e3 * (p->seen - p->at) > worst ? 1e3 * (p->seen - p->at) : worst;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return worst;
}

/* A busy task among others becomes wide where it is not on a wide core: within 20 ms it is on one, beside a turn of its
 * CPU until the timer's tick, and one of the CPU to which it goes (turn_ms). Then it stays. Beside two others no
 * further core becomes wide (policy_widens). */
static int wide_one(double seconds, bool counted)
{
    double worst = 0, turn = 0;
    int failed = 0;
    begin_busy(2, 2, 0);
    for (int round = 0; round < 10; round++) {
        const double took = turn_ms();
        turn = took > turn ? took : turn;
        const double begin = now();
        unsigned on = 0, of = 0;
        while (sched_getcpu() >= WIDE_CPU && now() - begin < 5)
            usleep(1000); /* an idle CPU that is not wide takes it when it wakes */
        if (sched_getcpu() >= WIDE_CPU) {
            printf("round %d: the task does not leave the wide core\n", round);
            failed++;
        }
        be_wide(counted, true);
        const double marked = now();
        while (sched_getcpu() < WIDE_CPU && now() - marked < 5)
            ;
        const double ms = 1e3 * (now() - marked);
        worst = ms > worst ? ms : worst;
        for (const double end = now() + seconds / 10; now() < end; of++)
            on += sched_getcpu() >= WIDE_CPU;
        be_wide(counted, false);
        spin(counted ? 0.05 : 0); /* until the timeout */
        printf("round %d: on a wide core after %.1f ms, then %.1f %% of its looks\n", round, ms, 100.0 * on / of);
        failed += ms > 20 + 2 * turn || on < 0.99 * of;
    }
    end_busy(2);
    printf("on a wide core after %.1f ms at most; a CPU answers after %.1f ms at most\n", worst, turn);
    return failed;
}

/* ms until a busy task is on a core, or on no core but it; 5000: it does not come there. */
static double ms_until(const struct busy *task, int on, const volatile int *core_cpu)
{
    const double begin = now();
    while ((task->cpu / 2 == *core_cpu / 2) != on && now() - begin < 5)
        usleep(500);
    return 1e3 * (now() - begin);
}

/* Beside a wide task, one of five others fills its core: when one of the others ends, it takes its place. Slices are
 * long (guest-sched.sh). */
static int fill(double within_ms)
{
    double worst = 0;
    for (int round = 0; round < 10; round++) {
        int filler = -1;
        begin_busy(6, 0, 1);
        for (int tries = 0; tries < 50 && filler < 0; tries++, usleep(20000))
            for (int i = 0; i < 5; i++)
                filler = busy[i].cpu / 2 == busy[5].cpu / 2 ? i : filler;
        kill(busy[filler == 0].pid, SIGKILL);
        const double ms = filler < 0 ? 5000 : ms_until(&busy[filler], 0, &busy[5].cpu);
        printf("%.1f ", ms);
        worst = ms > worst ? ms : worst;
        end_busy(6);
    }
    printf("ms until it is where another CPU idles\n");
    return worst > within_ms;
}

/* A map of the scheduler, by its name; -1: there is none. */
static int map_named(const char *name)
{
    struct bpf_map_info info;
    union bpf_attr attr = {0};
    while (syscall(SYS_bpf, BPF_MAP_GET_NEXT_ID, &attr, sizeof(attr)) == 0) {
        const __u32 id = attr.next_id;
        union bpf_attr get = {.map_id = id}, ask = {0};
        const int fd = (int)syscall(SYS_bpf, BPF_MAP_GET_FD_BY_ID, &get, sizeof(get));
        memset(&info, 0, sizeof(info));
        ask.info.bpf_fd = (__u32)fd;
        ask.info.info_len = sizeof(info);
        ask.info.info = (__u64)(uintptr_t)&info;
        if (fd >= 0 && syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &ask, sizeof(ask)) == 0 && strcmp(info.name, name) == 0)
            return fd;
        close(fd);
        attr.start_id = id;
    }
    return -1;
}

/* Root marks another task, through a descriptor of its process. */
static int by_pidfd(double within_ms)
{
    const volatile int wide_cpu = WIDE_CPU;
    double worst[2] = {0};
    begin_busy(3, 2, 0);
    const int map = map_named("wide_marks"), task = (int)syscall(SYS_pidfd_open, busy[2].pid, 0);
    int failed = map < 0 || task < 0;
    for (__u32 round = 0; round < 10 && !failed; round++) {
        const __u32 mark = round % 2 == 0 ? CHARACTERIZE_MARK_HELD : CHARACTERIZE_MARK_NONE;
        union bpf_attr attr = {0};
        attr.map_fd = (__u32)map;
        attr.key = (__u64)(uintptr_t)&task;
        attr.value = (__u64)(uintptr_t)&mark;
        failed = syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr)) != 0;
        const double ms = ms_until(&busy[2], mark != CHARACTERIZE_MARK_NONE, &wide_cpu);
        worst[mark == CHARACTERIZE_MARK_NONE] = ms > worst[mark == CHARACTERIZE_MARK_NONE]
                                                    ? ms
                                                    : worst[mark == CHARACTERIZE_MARK_NONE];
        usleep(100000);
    }
    end_busy(3);
    printf("map %d, task %d%s: on a wide core after %.1f ms at most, back after %.1f ms\n", map, task,
           failed ? " (failed)" : "", worst[0], worst[1]);
    return failed || worst[0] > within_ms || worst[1] > within_ms;
}

/* On how many CPUs six wide tasks are. */
static int spread(double want)
{
    unsigned seen = 0;
    begin_busy(6, 0, 6);
    usleep(800000);
    for (int tries = 0; tries < 100; tries++, usleep(10000))
        for (int i = 0; i < 6; i++)
            seen |= 1u << busy[i].cpu;
    end_busy(6);
    printf("six wide tasks on %d CPUs\n", __builtin_popcount(seen));
    return __builtin_popcount(seen) != (int)want;
}

static int wide(double seconds)
{
    return wide_one(seconds, false);
}

/* The same by what is counted. */
static int counted(double seconds)
{
    return wide_one(seconds, true);
}

/* Phases: one that only the timeout can end, and one that a system call does. */
static int phases(double seconds)
{
    characterize_mark_wide(CHARACTERIZE_MARK_PHASE);
    spin(seconds);
    for (int i = 0; i < 100; i++) {
        spin(0.002); /* no short phase (POLICY_SHORT_PHASE) */
        characterize_mark_wide(CHARACTERIZE_MARK_PHASE);
        spin(0.006); /* a tick sees the mark, before the timeout */
        getppid();
    }
    return 0;
}

/* Three busy tasks that are wide, so that there will be two wide cores of three. */
static int many(double seconds)
{
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            characterize_mark_wide(CHARACTERIZE_MARK_HELD);
            spin(seconds);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* Tasks that come, go, sleep, move and mark themselves, twice as many as CPUs, at random. */
static int load(double seconds)
{
    const double end = now() + seconds;
    int failed = 0;
    for (int i = 0; i < 12; i++)
        if (fork() == 0) {
            srand48(i);
            while (now() < end) {
                const pid_t child = fork();
                if (child != 0) {
                    waitpid(child, NULL, 0);
                    continue;
                }
                for (int k = 0; k < 5; k++) {
                    if (lrand48() % 3 == 0)
                        keep_to((int)(lrand48() % 6));
                    characterize_mark_wide((enum characterize_mark)(lrand48() % 3));
                    spin(0.02 * drand48());
                    usleep((useconds_t)(lrand48() % 5000));
                }
                _exit(0);
            }
            _exit(0);
        }
    for (int status; wait(&status) > 0;)
        failed += status != 0;
    return failed;
}

/* The scheduler's table on a terminal of so many seconds, in which this task is busy and then presses q: what is to be
 * read there, and its exit status. */
static int monitor(double seconds)
{
    static const char *const wanted[] = {
        "Scheduling", "decisions for each dispatch", "Wide cores: 1 of 3", "CHARGED", "sched_checks", "DISPATCHED"};
    static char screen[1 << 20];
    const struct winsize size = {.ws_row = 24, .ws_col = 120};
    size_t used = 0;
    ssize_t got;
    int terminal, status, missing = 0;
    const pid_t child = forkpty(&terminal, NULL, NULL, &size);
    if (child == 0) {
        setenv("TERM", "linux", 1);
        execlp("characterize-sched", "characterize-sched", "--params", "/export.json", "--modelled", "--mode",
               "specialize", "--source", "marks", "--monitor", (char *)NULL);
        _exit(127);
    }
    spin(seconds);
    (void)!write(terminal, "<>rrpp q", 8);
    while (used + 1 < sizeof(screen) && (got = read(terminal, screen + used, sizeof(screen) - used - 1)) > 0)
        used += (size_t)got;
    waitpid(child, &status, 0);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (strstr(screen, wanted[i]) == NULL) {
            printf("'%s' is not on the screen\n", wanted[i]);
            missing++;
        }
    if (missing != 0 || status != 0)
        printf("status %d, %zu bytes: %.3000s\n", status, used, screen);
    return missing != 0 || status != 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*check)(double seconds);
    } checks[] = {{"shares", shares},  {"wakes", wakes},     {"wide", wide},     {"phases", phases},
                  {"fill", fill},      {"pidfd", by_pidfd},  {"spread", spread}, {"many", many},
                  {"load", load},      {"monitor", monitor}, {"victim", victim}, {"mixed", mixed},
                  {"counted", counted}};
    for (size_t i = 0; argc == 3 && i < sizeof(checks) / sizeof(checks[0]); i++)
        if (strcmp(checks[i].name, argv[1]) == 0)
            return checks[i].check(atof(argv[2]));
    return 2;
}
