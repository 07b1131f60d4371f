/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where tasks run, and what switches cost (guest-sched-safety.sh). The first argument is a check, the second how long,
 * in seconds, or for benchmarks how much; ends with status 0 if it holds.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/characterize/mark.h"

enum { CPUS = 6, BUSY = 8 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What tasks tell: how often they looked where they are, how often that was where they may not be; the longest time
 * between two looks. */
struct tale {
    volatile unsigned looks, astray, allowed; /* allowed: a bit for each CPU */
    volatile double longest;
};

static struct tale *shared_tales(void)
{
    struct tale *t = mmap(NULL, BUSY * sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED)
        exit(2);
    return t;
}

static void look(struct tale *t, double *last)
{
    const double at = now();
    const int cpu = sched_getcpu();
    t->longest = at - *last > t->longest ? at - *last : t->longest;
    *last = at;
    t->looks++;
    t->astray += (t->allowed >> cpu & 1) == 0;
}

static void spin_and_look(struct tale *t, double *last, double seconds)
{
    for (const double end = now() + seconds; now() < end;)
        look(t, last);
}

static int judge(const struct tale *t, int n, const char *what)
{
    unsigned looks = 0, astray = 0, idle = 0;
    double longest = 0;
    for (int i = 0; i < n; i++) {
        looks += t[i].looks;
        astray += t[i].astray;
        idle += t[i].looks == 0;
        longest = t[i].longest > longest ? t[i].longest : longest;
    }
    printf("%s: %u looks, %u where a task may not be, the longest wait %.2f s, %u tasks did not run\n", what, looks,
           astray, longest, idle);
    return astray != 0 || idle != 0 || longest > 5;
}

/* Busy tasks allow themselves one to three CPUs at random, and mark themselves at random. */
static int affinity(double seconds)
{
    struct tale *t = shared_tales();
    const double end = now() + seconds;
    for (int i = 0; i < BUSY; i++)
        if (fork() == 0) {
            double last = now();
            srand48(i);
            while (now() < end) {
                cpu_set_t set;
                unsigned allowed = 0;
                CPU_ZERO(&set);
                for (int k = 0; k < 3; k++) {
                    const int cpu = (int)(lrand48() % CPUS);
                    CPU_SET(cpu, &set);
                    allowed |= 1U << cpu;
                }
                characterize_mark_wide((enum characterize_mark)(lrand48() % 3));
                if (sched_setaffinity(0, sizeof(set), &set) != 0)
                    _exit(1);
                t[i].allowed = allowed;
                spin_and_look(&t[i], &last, 0.03 * drand48());
                usleep((useconds_t)(lrand48() % 3000));
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    return judge(t, BUSY, "affinity");
}

/* Twelve busy tasks on two nodes of four CPUs, of which ten begin on the first one: they get the same CPU time, and
 * seldom change their node. */
static int nodes(double seconds)
{
    enum { TASKS = 12, PER_NODE = 4 };
    struct tale *t = mmap(NULL, TASKS * sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double least = 1e9, most = 0;
    unsigned moves = 0;
    for (int i = 0; i < TASKS; i++)
        if (fork() == 0) {
            cpu_set_t set;
            CPU_ZERO(&set);
            for (int k = 0; k < PER_NODE; k++)
                CPU_SET((i < 10 ? 0 : PER_NODE) + k, &set);
            (void)sched_setaffinity(0, sizeof(set), &set);
            for (int k = 0; k < 2 * PER_NODE; k++)
                CPU_SET(k, &set);
            usleep(200000);
            (void)sched_setaffinity(0, sizeof(set), &set);
            struct timespec used;
            int node = sched_getcpu() / PER_NODE;
            for (const double end = now() + seconds; now() < end;) {
                const int at = sched_getcpu() / PER_NODE;
                t[i].looks += at != node;
                node = at;
            }
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
            t[i].longest = (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    for (int i = 0; i < TASKS; i++) {
        least = t[i].longest < least ? t[i].longest : least;
        most = t[i].longest > most ? t[i].longest : most;
        moves += t[i].looks;
    }
    printf("%d tasks had %.2f to %.2f s each in %.1f s, and changed their node %u times\n", TASKS, least, most, seconds,
           moves);
    return least < 0.8 * most || moves > 20 * TASKS * seconds;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        printf("%s: %s: %s\n", path, text, strerror(errno));
        exit(1);
    }
}

/* Busy tasks in a cpuset that is changed under them; every other one is wide. */
static int cpuset(double seconds)
{
    static const struct {
        const char *text;
        unsigned allowed;
    } sets[] = {{"0-1", 3}, {"2-3", 12}, {"4", 16}, {"1,5", 34}, {"0-5", 63}};
    struct tale *t = shared_tales();
    pid_t child[3];
    char text[20];
    int failed = 0;
    put("/cg/cgroup.subtree_control", "+cpuset");
    (void)mkdir("/cg/set", 0755);
    for (int i = 0; i < 3; i++) {
        if ((child[i] = fork()) == 0) {
            double last = now();
            if (i == 1)
                characterize_mark_wide(CHARACTERIZE_MARK_HELD);
            for (;;)
                look(&t[i], &last);
        }
        snprintf(text, sizeof(text), "%d", child[i]);
        put("/cg/set/cgroup.procs", text);
    }
    for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
        put("/cg/set/cpuset.cpus", sets[k].text);
        usleep(300000); /* a task that looks leaves within a slice; the emulator's CPUs take turns */
        for (int i = 0; i < 3; i++) {
            t[i].allowed = sets[k].allowed;
            t[i].looks = t[i].astray = 0;
            t[i].longest = 0;
        }
        usleep((useconds_t)(2e5 * seconds));
        failed += judge(t, 3, sets[k].text);
    }
    for (int i = 0; i < 3; i++) {
        kill(child[i], SIGKILL);
        waitpid(child[i], NULL, 0);
    }
    return failed;
}

/* ---- as perf bench sched does ---- */

static void transfer(int fd, bool out, char *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        const ssize_t got = out ? write(fd, bytes + done, n - done) : read(fd, bytes + done, n - done);
        if (got <= 0)
            _exit(1);
        done += (size_t)got;
    }
}

/* Two tasks that wake each other so often: microseconds for each of the two. */
static int pipes(double times)
{
    int there[2], back[2], status;
    char byte[4] = "";
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    const double begin = now();
    if (fork() == 0) {
        for (int i = 0; i < (int)times; i++) {
            transfer(there[0], false, byte, sizeof(byte));
            transfer(back[1], true, byte, sizeof(byte));
        }
        _exit(0);
    }
    for (int i = 0; i < (int)times; i++) {
        transfer(there[1], true, byte, sizeof(byte));
        transfer(back[0], false, byte, sizeof(byte));
    }
    wait(&status);
    printf("%.2f\n", 1e6 * (now() - begin) / times);
    return status;
}

/* Ten tasks send so many messages of 100 bytes to each of ten others: milliseconds. */
static int messaging(double times)
{
    enum { SIDE = 10, BYTES = 100 };
    int ends[SIDE][2], failed = 0, status;
    char bytes[BYTES] = "";
    for (int i = 0; i < SIDE; i++)
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]) != 0)
            return 1;
    const double begin = now();
    for (int i = 0; i < 2 * SIDE; i++)
        if (fork() == 0) {
            for (int k = 0; k < (int)times * SIDE; k++)
                transfer(i < SIDE ? ends[i][0] : ends[k % SIDE][1], i >= SIDE, bytes, BYTES);
            _exit(0);
        }
    while (wait(&status) > 0)
        failed += status != 0;
    printf("%.2f\n", 1e3 * (now() - begin));
    return failed;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*check)(double amount);
    } checks[] = {
        {"affinity", affinity}, {"cpuset", cpuset}, {"nodes", nodes}, {"pipe", pipes}, {"messaging", messaging}};
    for (size_t i = 0; argc == 3 && i < sizeof(checks) / sizeof(checks[0]); i++)
        if (strcmp(checks[i].name, argv[1]) == 0)
            return checks[i].check(atof(argv[2])) != 0;
    return 2;
}
