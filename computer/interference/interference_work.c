/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the processes of an interference do. They are forked: system calls alone, and no memory but what they map. */
#include "computer/interference/interference.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/child.h"
#include "util/clock.h"
#include "util/splitmix64.h"

/* The next random number. */
static uint64_t interference_draw(uint64_t *state)
{
    uint64_t drawn = splitmix64(*state);
    *state += SPLITMIX64_STEP;
    return drawn;
}

static void sleep_until_turn(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds};
    t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

static volatile uint64_t *map_words(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* As a compiler does: reads a file, builds something from it in fresh memory, goes over it again and again. */
static void compile(size_t most, uint64_t seed)
{
    enum { READ_BYTES = 1 << 16, READS_MAX = 64, WORDS_A_PAGE = 512 };
    const size_t bytes = most / 8 + (size_t)(interference_draw(&seed) % (most - most / 8));
    const size_t words = bytes / sizeof(uint64_t);
    const double end = clock_seconds(CLOCK_MONOTONIC) + 0.03 + 0.2 * (double)(interference_draw(&seed) % 1000) / 1000;
    volatile uint64_t *w = map_words(bytes);
    if (w == NULL)
        return;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    for (size_t at = 0, i = 0; i < READS_MAX && at + READ_BYTES <= bytes; i++, at += READ_BYTES)
        if (read(fd, (char *)(uintptr_t)w + at, READ_BYTES) <= 0)
            break;
    for (size_t i = 0; i < words; i += WORDS_A_PAGE)
        w[i] = interference_draw(&seed);
    for (uint64_t sum = 0; clock_seconds(CLOCK_MONOTONIC) < end;)
        for (int i = 0; i < 4096; i++) {
            size_t at = (size_t)((sum ^ interference_draw(&seed)) % words);
            sum = sum * 31 + w[at];
            w[at] = sum;
        }
}

/* One short-lived child after the other. */
static void work_make(const struct interference_plan *p, uint64_t seed)
{
    const pid_t self = getpid();
    for (;;) {
        uint64_t next = interference_draw(&seed);
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == self)
                compile(p->bytes, next);
            _exit(0);
        }
        if (pid < 0 && errno != EAGAIN)
            return;
        if (pid < 0)
            sleep_until_turn(clock_seconds(CLOCK_MONOTONIC) +
                             0.01); /* a limit of processes that others have reached, too */
        else if (waitpid(pid, &status, 0) < 0 || WIFSIGNALED(status))
            return;
    }
}

/* One second on, one second off (V 4.4.2: "intermittent"). */
static void work_memory(const struct interference_plan *p, uint64_t seed)
{
    const size_t words = p->bytes / sizeof(uint64_t);
    volatile uint64_t *w = map_words(p->bytes);
    for (size_t i = 0; w != NULL && i < words; i += 512)
        w[i] = i;
    while (w != NULL) {
        const double end = clock_seconds(CLOCK_MONOTONIC) + 1;
        while (clock_seconds(CLOCK_MONOTONIC) < end)
            for (int i = 0; i < 4096; i++)
                w[(size_t)(interference_draw(&seed) % words)]++;
        sleep_until_turn(end + 1);
    }
}

/* A handful of programs every two seconds (V 4.4.1). */
static void work_script(void)
{
    static char shell[] = "/bin/sh", dash_c[] = "-c",
                script[] =
                    "date; uname -a; id; ls -l /proc/self; cat /proc/stat | sort | wc; sed -n 1,5p /proc/meminfo",
                path[] = "PATH=/usr/bin:/bin";
    char *const argv[] = {shell, dash_c, script, NULL}, *const environment[] = {path, NULL};
    const pid_t self = getpid();
    for (double due = clock_seconds(CLOCK_MONOTONIC);; due += 2) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            child_become(shell, argv, environment, NULL, false, self);
            _exit(127);
        }
        if (pid < 0 || waitpid(pid, &status, 0) < 0 || WIFSIGNALED(status) || WEXITSTATUS(status) == 127)
            return;
        sleep_until_turn(due + 2);
    }
}

void interference_work(const struct interference_plan *p, uint64_t seed)
{
    if (p->kind == INTERFERENCE_MAKE)
        work_make(p, seed);
    else if (p->kind == INTERFERENCE_MEMORY)
        work_memory(p, seed);
    else if (p->kind == INTERFERENCE_SCRIPT)
        work_script();
}
