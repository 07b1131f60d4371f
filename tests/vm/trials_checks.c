/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Usage: trials_checks DEVICE
 *
 * Trials of the kernel helper, through its ioctl: one line 'ok: NAME' or 'FAIL: NAME' each. What a workload
 * returns is compared with what it returns in user space. Runs in a virtual machine without performance counters.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drivers/helper/kmod/uapi.h"
#include "kernels/workloads.h"
#include "tests/vm/checks.h"

static int fd;
static struct characterize_hello hello = {.version = CHARACTERIZE_VERSION};
static struct characterize_trials t; /* 16 KB */

static double seconds_now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static void request(enum workload_number workload, unsigned n, uint64_t rounds, uint64_t bytes)
{
    t = (struct characterize_trials){.version = CHARACTERIZE_VERSION,
                                     .cpu = sysconf(_SC_NPROCESSORS_ONLN) > 1,
                                     .workload = workload,
                                     .n = n,
                                     .rounds = rounds,
                                     .step = rounds,
                                     .bytes = bytes};
}

static int ask(void)
{
    return ioctl(fd, CHARACTERIZE_IOC_TRIALS, &t) == 0 ? 0 : errno;
}

static void refused(const char *name, int error, unsigned reason)
{
    struct characterize_reason_text text = {.version = CHARACTERIZE_VERSION, .reason = reason};
    int got = ask();
    ioctl(fd, CHARACTERIZE_IOC_REASON, &text);
    check(got == error && t.reason == reason, "trials, %s: errno %d, reason %u: %s", name, got, t.reason, text.text);
}

static void test_refusals(void)
{
    request(WORKLOAD_SPOIL, 1, 1, 0);
    refused("no such workload", EINVAL, CHARACTERIZE_REASON_TRIALS);
    request(WORKLOAD_REGISTER, 1, 1, 0);
    t.flags = CHARACTERIZE_TRIALS_IBPB << 1;
    refused("an unknown flag", EINVAL, CHARACTERIZE_REASON_FLAGS);
    request(WORKLOAD_REGISTER, 1, 1, 0);
    t.spoil = CHARACTERIZE_SPOIL_MAX + 1;
    refused("spoilt for too long", EINVAL, CHARACTERIZE_REASON_TRIALS);
    request(WORKLOAD_REGISTER, 0, 1, 0);
    refused("none", EINVAL, CHARACTERIZE_REASON_TRIALS);
    request(WORKLOAD_REGISTER, CHARACTERIZE_TRIALS_MAX + 1, 1, 0);
    refused("too many", EINVAL, CHARACTERIZE_REASON_TRIALS);
    request(WORKLOAD_REGISTER, 1, 0, 0);
    refused("no rounds", EINVAL, CHARACTERIZE_REASON_TRIALS);
    request(WORKLOAD_REGISTER, 1, CHARACTERIZE_TRIAL_ROUNDS_MAX + 1, 0);
    refused("too many rounds", EINVAL, CHARACTERIZE_REASON_TRIALS);
    request(WORKLOAD_REGISTER, 1, 1, 4096);
    refused("a buffer that is not used", EINVAL, CHARACTERIZE_REASON_TRIAL_BUFFER);
    static const uint64_t sizes[] = {0, 64, 4095, 4097, 12288, CHARACTERIZE_TRIAL_BYTES_MAX * 2, UINT64_C(1) << 63};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[60];
        request(WORKLOAD_LOAD, 1, 1, sizes[i]);
        snprintf(name, sizeof name, "a buffer of %llu bytes", (unsigned long long)sizes[i]);
        refused(name, EINVAL, CHARACTERIZE_REASON_TRIAL_BUFFER);
    }
    request(WORKLOAD_REGISTER, 1, 1, 0);
    t.cpu = 4096;
    refused("a CPU that is not there", EINVAL, CHARACTERIZE_REASON_CPU_NUMBER);
}

/* The value that n trials must return at last, where none is run in pieces; the module's buffer holds the words 0, 1,
 * 2... */
static uint64_t expected(void)
{
    uint64_t *words = t.bytes > 0 ? aligned_alloc(4096, t.bytes) : NULL;
    for (uint64_t i = 0; words != NULL && i < t.bytes / sizeof *words; i++)
        words[i] = i;
    uint64_t value = workload_get(t.workload)->run(t.rounds, words, t.bytes - 1, (t.n - 1) * t.step);
    free(words);
    return value;
}

static void runs(const char *name, enum workload_number workload, unsigned flags, unsigned spoil, uint64_t rounds,
                 uint64_t bytes)
{
    enum { N = 20 };
    unsigned timed = 0, counted = 0;
    request(workload, N, rounds, bytes);
    t.flags = flags;
    t.spoil = spoil;
    int error = ask();
    for (unsigned i = 0; error == 0 && i < t.n && t.n <= N; i++) {
        timed += t.trial[i].ticks > 0 && t.trial[i].ticks <= t.longest;
        counted += t.trial[i].cycles != UINT64_MAX;
    }
    check(error == 0 && t.reason == 0 && t.n == N && timed == N && t.ended == 0 &&
              (t.masked & CHARACTERIZE_MASKED_CLI) != 0,
          "trials of %s: errno %d, %u of %d with a time, masked %u for at most %.3f ms, NMIs %u", name, error, timed, N,
          t.masked, (double)t.longest / (double)hello.tsc_khz, t.nmis);
    check(counted == 0 && t.counted == 0 && t.smis == 0, "%s: nothing is counted that cannot be counted here", name);
    if (t.piece == t.rounds)
        check(t.value == expected(), "%s: returns what it does in user space: %#llx", name,
              (unsigned long long)t.value);
    else
        check(t.piece > 0 && t.piece < t.rounds, "%s: in pieces of %u rounds", name, t.piece);
}

static void test_workloads(void)
{
    runs("register", WORKLOAD_REGISTER, 0, 0, 1000, 0);
    runs("branch", WORKLOAD_BRANCH, 0, 0, 50, 0);
    runs("branch, spoilt before", WORKLOAD_BRANCH, 0, 4, 50, 0);
    runs("4 KiB", WORKLOAD_LOAD, 0, 0, 50, CHARACTERIZE_TRIAL_BYTES_MIN);
    runs("4 MiB", WORKLOAD_LOAD, 0, 0, 50, CHARACTERIZE_TRIAL_BYTES_MAX);
    request(WORKLOAD_BRANCH, 3, 20, 0);
    t.flags = CHARACTERIZE_TRIALS_IBPB;
    if ((hello.can & CHARACTERIZE_CAN_IBPB) != 0)
        runs("branch after a barrier", WORKLOAD_BRANCH, CHARACTERIZE_TRIALS_IBPB, 0, 50, 0);
    else
        refused("a barrier", EOPNOTSUPP, CHARACTERIZE_REASON_NO_IBPB);
}

/* Masked for its 5 ms and a piece at most; the emulator may stop in between, but not each time. */
static void test_too_long(void)
{
    double shortest = 1e9;
    for (unsigned i = 0; i < 10 && shortest > 7; i++) {
        request(WORKLOAD_REGISTER, 5, CHARACTERIZE_TRIAL_ROUNDS_MAX, 0);
        int error = ask();
        if (error != EINVAL || t.reason != CHARACTERIZE_REASON_TRIAL_TIME || t.n != 0 || t.piece == 0 ||
            t.ended != CHARACTERIZE_ENDED_TRIAL)
            check(false, "a trial that is too long: errno %d, reason %u, %u done", error, t.reason, t.n);
        double ms = (double)t.longest / (double)hello.tsc_khz;
        shortest = ms < shortest ? ms : shortest;
    }
    check(shortest > 5 && shortest < 7, "a trial that is too long is given up after %.2f ms, pieces of %u rounds",
          shortest, t.piece);
}

/* A thousand that take more than a second, most of it between them: a single one is so short that it runs in one piece,
 * and never given up, however often the emulator stands still. */
static void request_many(void)
{
    request(WORKLOAD_REGISTER, CHARACTERIZE_TRIALS_MAX, 500, 0);
    t.spoil = CHARACTERIZE_SPOIL_MAX;
}

/* A second, whatever was requested; who else wants that CPU gets it meanwhile. */
static void test_ends(void)
{
    pid_t other = fork();
    if (other == 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) > 1, &one);
        sched_setaffinity(0, sizeof one, &one);
        struct timespec nap = {0, 20000000};
        for (unsigned i = 0; i < 10; i++)
            nanosleep(&nap, NULL);
        _exit(0);
    }
    request_many();
    double begin = seconds_now();
    int error = ask();
    double took = seconds_now() - begin;
    int status, waited = waitpid(other, &status, WNOHANG);
    check(error == 0 && t.n > 0 && t.n < CHARACTERIZE_TRIALS_MAX && t.ended == CHARACTERIZE_ENDED_CALL && took > 0.9 &&
              took < 4,
          "a call ends after a second: errno %d, %u trials, %.2f s", error, t.n, took);
    check(waited == other, "another process on that CPU slept 10 * 20 ms meanwhile, and is done");
    if (waited != other)
        waitpid(other, &status, 0);
}

static void interrupted(int signal)
{
    (void)signal;
}

static void test_signal(void)
{
    struct sigaction action = {.sa_handler = interrupted};
    struct itimerval soon = {.it_value = {.tv_usec = 200000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    request_many();
    double begin = seconds_now();
    int error = ask();
    check(error == 0 && t.n < CHARACTERIZE_TRIALS_MAX && t.ended == CHARACTERIZE_ENDED_SIGNAL,
          "a signal ends a call: errno %d, %u trials, %.2f s", error, t.n, seconds_now() - begin);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc != 2 || (fd = open(argv[1], O_RDWR | O_CLOEXEC)) < 0) {
        printf("FAIL: trials_checks: %s: %s\n", argc == 2 ? argv[1] : "one argument", strerror(errno));
        return 2;
    }
    ioctl(fd, CHARACTERIZE_IOC_HELLO, &hello);
    test_refusals();
    test_workloads();
    test_too_long();
    test_ends();
    test_signal();
    return failures != 0;
}
