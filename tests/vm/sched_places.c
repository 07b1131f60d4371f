/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where tasks run (guest-sched-safety.sh). The first argument is a check, the second how long, in seconds; ends with
 * status 0 if it holds.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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
 * change their node at fewer than half of their switches; with one queue it is three of four. */
static int nodes(double seconds)
{
    enum { TASKS = 12, PER_NODE = 4 };
    unsigned *moves = mmap(NULL, TASKS * sizeof(*moves), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double least = 1e9, most = 0, switches = 0, moved = 0;
    struct rusage use;
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
            int node = sched_getcpu() / PER_NODE;
            for (const double end = now() + seconds; now() < end;) {
                const int at = sched_getcpu() / PER_NODE;
                moves[i] += at != node;
                node = at;
            }
            _exit(0);
        }
    for (int i = 0; i < TASKS && wait4(-1, NULL, 0, &use) > 0; i++) {
        const double cpu = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
        least = cpu < least ? cpu : least;
        most = cpu > most ? cpu : most;
        switches += (double)(use.ru_nivcsw + use.ru_nvcsw);
    }
    for (int i = 0; i < TASKS; i++)
        moved += moves[i];
    printf("%d tasks had %.2f to %.2f s each in %.1f s, and changed their node at %.0f of %.0f switches\n", TASKS,
           least, most, seconds, moved, switches);
    return least < 0.8 * most || moved > 0.5 * switches;
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

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*check)(double seconds);
    } checks[] = {{"affinity", affinity}, {"cpuset", cpuset}, {"nodes", nodes}};
    for (size_t i = 0; argc == 3 && i < sizeof(checks) / sizeof(checks[0]); i++)
        if (strcmp(checks[i].name, argv[1]) == 0)
            return checks[i].check(atof(argv[2])) != 0;
    return 2;
}
