/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Usage: profile_checks DEVICE SECONDS    what the profiler of the kernel helper does, refuses and says; SECONDS of it
 *                                         while tasks migrate, fork and exit, and CPUs go and come
 *        profile_checks DEVICE wait       profiles busy CPUs until it is killed
 *
 * One line 'ok: NAME' or 'FAIL: NAME' each, and the latencies. Runs in a virtual machine without performance counters,
 * thus rehearsals: timers, interrupts and pauses are real, levels and frequencies unknown.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drivers/helper/kmod/uapi.h"
#include "drivers/profile/profile_arithmetic.h"
#include "tests/vm/checks.h"

enum { CPUS_MAX = 64, TASKS_MAX = 64, RECORDS_MAX = 100000, RING = 1024 };

static const char *device;
static int fd;
static unsigned cpus;
static pid_t task[TASKS_MAX];
static unsigned n_tasks;

static void expect(const char *name, unsigned long command, void *arg, int error, unsigned reason)
{
    errno = 0;
    int got = ioctl(fd, command, arg) == 0 ? 0 : errno;
    uint32_t said = ((uint32_t *)arg)[1];
    check(got == error && said == reason, "%s: errno %d, reason %u", name, got, said);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- profiles ---- */

static struct characterize_profile profile(void)
{
    return (struct characterize_profile){
        .version = CHARACTERIZE_VERSION,
        .setup = {.seed = 7,
                  .flags = PROFILE_REHEARSAL | PROFILE_SOURCES | PROFILE_STACKS,
                  .mean_us = 10000,
                  .pause_us = 700,
                  .window_us = PROFILE_WINDOW_US_MAX},
    };
}

static struct characterize_profile_totals totals(void)
{
    struct characterize_profile_totals t = {.version = CHARACTERIZE_VERSION};
    check(ioctl(fd, CHARACTERIZE_IOC_PROFILE_TOTALS, &t) == 0, "totals");
    return t;
}

static void stop(void)
{
    check(ioctl(fd, CHARACTERIZE_IOC_PROFILE_STOP) == 0, "stop");
}

/*
 * Reads for so many seconds; on, up to ten times as long, until so many were taken: where the host is busy few timers
 * are on time. Returns how many records.
 */
static size_t collect(struct profile_record *out, double seconds, size_t wanted)
{
    double begin = now();
    size_t n = 0, taken = 0;
    for (double left; (left = begin + seconds * (taken < wanted ? 10 : 1) - now()) > 0 && n < RECORDS_MAX;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, left > 1 ? 1000 : (int)(left * 1000) + 1) <= 0)
            continue;
        ssize_t got = read(fd, out + n, (RECORDS_MAX - n) * sizeof *out);
        if (got <= 0 || (size_t)got % sizeof *out != 0) {
            check(false, "read: %zd, errno %d", got, errno);
            break;
        }
        for (size_t end = n + (size_t)got / sizeof *out; n < end; n++)
            taken += out[n].outcome == PROFILE_TAKEN;
    }
    return n;
}

/* ---- tasks ---- */

/* Where the processor is while a task burns: two functions deep, with frame pointers. */
__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void burn_inner(void)
{
    for (;;)
        for (volatile unsigned i = 0; i < 1000; i++) {
        }
}
__attribute__((noinline, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls"))) static void burn_outer(void)
{
    burn_inner();
    __asm__ volatile("");
}

static void pin(unsigned cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void spin(double seconds)
{
    for (double end = now() + seconds; now() < end;) {
    }
}

static void migrate(unsigned n)
{
    for (srand(n);; spin(0.001))
        pin((unsigned)rand() % cpus); /* fails where the CPU is offline */
}

static void fork_and_exit(unsigned n)
{
    for (srand(n);;) {
        pid_t child = fork();
        if (child == 0) {
            spin((double)(rand() % 3000) * 1e-6);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

static void sleep_and_wake(unsigned n)
{
    for (srand(n);; spin(0.0001))
        usleep((useconds_t)rand() % 2000);
}

static void burn(unsigned cpu)
{
    pin(cpu);
    burn_outer();
}

static void start_task(void (*run)(unsigned), unsigned argument, const char *name)
{
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_NAME, name);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(fd);
        run(argument);
    }
    task[n_tasks++] = child;
}

static void end_tasks(void)
{
    while (n_tasks > 0) {
        kill(task[--n_tasks], SIGKILL);
        waitpid(task[n_tasks], NULL, 0);
    }
}

/* ---- what is in records ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_times(const char *name, double *us, size_t n)
{
    if (n == 0)
        return;
    qsort(us, n, sizeof *us, ascending);
    printf("latency: %s: minimum %.1f, median %.1f, 99 %% %.1f, maximum %.1f us (%zu)\n", name, us[0], us[n / 2],
           us[n * 99 / 100], us[n - 1], n);
}

static bool sane(const struct profile_record *r, const struct profile_setup *s)
{
    const struct profile_sight *w = &r->sight;
    bool taken = r->outcome == PROFILE_TAKEN;
    if (r->cpu >= cpus || r->outcome >= PROFILE_OUTCOMES || r->n_kernel > r->n_stack || r->n_stack > PROFILE_STACK_MAX)
        return false;
    if (r->flags != 0 || r->actual_khz != 0 || r->level_ideal != PROFILE_NO_LEVEL || r->bin != PROFILE_NO_BIN)
        return false;
    if (memchr(w->task.comm, 0, sizeof w->task.comm) == NULL || memchr(w->other.comm, 0, sizeof w->other.comm) == NULL)
        return false;
    return !taken || (w->task.pid != 0 && w->task.tgid != 0 && w->task.start_ns > 0 && w->task.comm[0] != '\0' &&
                      r->pause_ns >= s->pause_us * 1000 && r->pause_ns <= 2 * s->pause_us * 1000 &&
                      r->window_ns >= s->window_us * 1000 && r->window_ns <= 2 * s->window_us * 1000 &&
                      r->held_ns >= r->pause_ns + r->window_ns && w->active_cores > 0 && r->n_stack > 0);
}

/* When each turn up to the last is due, us since the start: the sums of the intervals. */
static double *due_us(const struct profile_record *r, size_t n, const struct profile_setup *s)
{
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++)
        last = r[i].number > last ? r[i].number : last;
    double *due = calloc(last + 1, sizeof *due), sum = 0;
    for (uint64_t k = 0; due != NULL && k <= last; k++)
        due[k] = sum += (double)profile_interval_ns(s, k) * 1e-3;
    return due;
}

static void print_latencies(const struct profile_record *r, size_t n, const struct profile_setup *s)
{
    double *pause = calloc(n + 1, sizeof *pause), *window = calloc(n + 1, sizeof *window);
    double *more = calloc(n + 1, sizeof *more), *late = calloc(n + 1, sizeof *late), first = 1e300;
    double *due = due_us(r, n, s);
    size_t taken = 0;
    for (size_t i = 0; i < n; i++) {
        late[i] = (double)r[i].time_ns * 1e-3 - due[r[i].number];
        first = late[i] < first ? late[i] : first;
        if (r[i].outcome != PROFILE_TAKEN)
            continue;
        pause[taken] = r[i].pause_ns * 1e-3;
        window[taken] = r[i].window_ns * 1e-3 - s->window_us;
        more[taken++] = (r[i].held_ns - r[i].pause_ns - r[i].window_ns) * 1e-3;
    }
    for (size_t i = 0; i < n; i++)
        late[i] -= first;
    print_times("pause", pause, taken);
    print_times("window's timer late by", window, taken);
    print_times("sibling held for more than pause and window", more, taken);
    print_times("turn late by", late, n);
    free(pause);
    free(window);
    free(more);
    free(late);
    free(due);
}

/* Counts by what became of them; complains about records that cannot be. Returns how many were taken. */
static size_t judge(const char *name, const struct profile_record *r, size_t n, const struct profile_setup *s)
{
    static const char *const names[PROFILE_OUTCOMES] = {"taken",    "idle", "switched",  "uncounted",
                                                        "not held", "late", "unsettled", "off table"};
    uint64_t last[CPUS_MAX] = {0};
    size_t count[PROFILE_OUTCOMES] = {0}, bad = 0, disordered = 0;
    for (size_t i = 0; i < n; i++) {
        bad += !sane(&r[i], s);
        if (r[i].cpu >= CPUS_MAX || r[i].outcome >= PROFILE_OUTCOMES)
            continue;
        disordered += last[r[i].cpu] > r[i].number;
        last[r[i].cpu] = r[i].number + 1;
        count[r[i].outcome]++;
    }
    printf("%s:", name);
    for (unsigned o = 0; o < PROFILE_OUTCOMES; o++)
        printf(" %s %zu", names[o], count[o]);
    printf("\n");
    check(n > 0 && bad == 0 && disordered == 0, "%s: %zu records, %zu of them wrong, %zu out of order", name, n, bad,
          disordered);
    print_latencies(r, n, s);
    return count[PROFILE_TAKEN];
}

static void print_totals(const struct characterize_profile_totals *t)
{
    printf("latency: interrupts masked for at most %.1f us; a sibling held for %.1f us, came within %.1f us; a timer "
           "late by %.1f us; %llu turns in %.1f s\n",
           (double)t->pause_ns_max * 1e-3, (double)t->hold_ns_max * 1e-3, (double)t->answer_ns_max * 1e-3,
           (double)t->late_ns_max * 1e-3, (unsigned long long)t->turns, (double)t->elapsed_ns * 1e-9);
}

/* ---- checks ---- */

static void refuse_setup(const char *name, struct profile_setup s, unsigned reason)
{
    struct characterize_profile p = profile();
    p.setup = s;
    expect(name, CHARACTERIZE_IOC_PROFILE_START, &p, EINVAL, reason);
}

#define REFUSED(what, ...)                                                                                             \
    do {                                                                                                               \
        struct profile_setup s = profile().setup;                                                                      \
        __VA_ARGS__;                                                                                                   \
        refuse_setup("refused: " what, s, CHARACTERIZE_REASON_PROFILE_SETUP);                                          \
    } while (0)

static void test_limits(void)
{
    REFUSED("too short an interval", s.mean_us = PROFILE_MEAN_US_MIN - 1, s.pause_us = 50);
    REFUSED("too long an interval", s.mean_us = PROFILE_MEAN_US_MAX + 1);
    REFUSED("too short a pause", s.pause_us = PROFILE_PAUSE_US_MIN - 1);
    REFUSED("too long a pause", s.pause_us = PROFILE_PAUSE_US_MAX + 1, s.mean_us = 1000000);
    REFUSED("the longest number for a pause", s.pause_us = UINT32_MAX);
    REFUSED("too short a window", s.window_us = PROFILE_WINDOW_US_MIN - 1);
    REFUSED("too long a window", s.window_us = PROFILE_WINDOW_US_MAX + 1);
    REFUSED("an unknown flag", s.flags |= PROFILE_FLAGS + 1);
    REFUSED("too many bins", s.n_bins = PROFILE_BINS_MAX + 1);
    REFUSED("a bin without a frequency", s.n_bins = 1, s.bin[0].cores = 1);
    REFUSED("bins in disorder", s.n_bins = 2, s.bin[0] = (struct profile_bin){.cores = 2, .khz = {1000}},
            s.bin[1] = (struct profile_bin){.cores = 1, .khz = {1000}});
    REFUSED("no frequency of reference cycles", s.flags &= ~(uint32_t)PROFILE_REHEARSAL);
    struct profile_setup s = profile().setup;
    s.pause_us = 1500;
    s.mean_us = PROFILE_MEAN_US_MIN;
    refuse_setup("refused: a duty above 5 %", s, CHARACTERIZE_REASON_PROFILE_DUTY);
}

static void test_refusals(void)
{
    struct characterize_profile_totals t = {.version = CHARACTERIZE_VERSION};
    struct profile_record r;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    expect("totals without a profile", CHARACTERIZE_IOC_PROFILE_TOTALS, &t, EINVAL, CHARACTERIZE_REASON_NO_PROFILE);
    check(ioctl(fd, CHARACTERIZE_IOC_PROFILE_STOP) == 0, "stop without a profile");
    check(read(fd, &r, sizeof r) == 0, "read without a profile: the end");
    check(poll(&p, 1, -1) == 1 && (p.revents & POLLHUP) != 0, "poll without a profile: hung up");
    struct characterize_profile c = profile();
    c.version++;
    expect("another version", CHARACTERIZE_IOC_PROFILE_START, &c, EPROTO, CHARACTERIZE_REASON_VERSION);
    c = profile();
    c.setup.flags = 0;
    c.setup.ref_khz = 2000000;
    for (unsigned i = 0; i < PROFILE_COUNTERS; i++)
        c.counter[i].source = CHARACTERIZE_CYCLES;
    expect("counters without a PMU", CHARACTERIZE_IOC_PROFILE_START, &c, EOPNOTSUPP, CHARACTERIZE_REASON_NO_PMU);
    check(c.failed == 0 && c.failed_cpu == 0, "counter %u of CPU %u could not be had", c.failed, c.failed_cpu);
    for (unsigned i = 0; i < PROFILE_COUNTERS; i++)
        c.counter[i].source = 77;
    expect("an unknown counter", CHARACTERIZE_IOC_PROFILE_START, &c, EINVAL, CHARACTERIZE_REASON_COUNTERS);
}

static void test_while_running(void)
{
    struct characterize_profile p = profile(), again = profile();
    struct characterize_setup s = {.version = CHARACTERIZE_VERSION, .period = 1000000, .readings = 100};
    struct profile_record r;
    expect("start", CHARACTERIZE_IOC_PROFILE_START, &p, 0, CHARACTERIZE_REASON_NONE);
    check(p.cpus == cpus && p.cores == (cpus + 1) / 2, "%u CPUs of %u cores have turns", p.cpus, p.cores);
    expect("a second start", CHARACTERIZE_IOC_PROFILE_START, &again, EBUSY, CHARACTERIZE_REASON_PROFILE_RUNS);
    expect("a repetition meanwhile", CHARACTERIZE_IOC_PREPARE, &s, EBUSY, CHARACTERIZE_REASON_PROFILE_RUNS);
    check(open(device, O_RDWR) < 0 && errno == EBUSY, "a second user: EBUSY");
    check(read(fd, &r, sizeof r - 1) < 0 && errno == EINVAL, "less than a record: EINVAL");
    check(read(fd, &r, sizeof r) == sizeof r, "a record is waited for");
    fcntl(fd, F_SETFL, O_NONBLOCK);
    for (ssize_t got = 1; got > 0;)
        got = read(fd, &r, sizeof r);
    check(errno == EAGAIN, "no record, and not waited for: EAGAIN");
    fcntl(fd, F_SETFL, 0);
    struct pollfd w = {.fd = fd, .events = POLLIN};
    check(poll(&w, 1, 5000) == 1, "poll tells of the next one");
    void *volatile bad = (void *)8;
    check(read(fd, bad, sizeof r) < 0 && errno == EFAULT, "a bad address: EFAULT");
    /* again and again, since one may come while nothing is waited for */
    const struct itimerval often = {{0, 50000}, {0, 50000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    while (read(fd, &r, sizeof r) == sizeof r) {
    }
    int error = errno;
    setitimer(ITIMER_REAL, &never, NULL);
    errno = error;
    check(errno == EINTR, "a signal ends the wait: EINTR");
    stop();
    check(read(fd, &r, sizeof r) == 0, "after the stop: the end");
    s.flags = CHARACTERIZE_CHAIN;
    s.period = 5000000;
    expect("a repetition afterwards", CHARACTERIZE_IOC_PREPARE, &s, 0, CHARACTERIZE_REASON_NONE);
    expect("ends with the next profile", CHARACTERIZE_IOC_PROFILE_START, &p, 0, CHARACTERIZE_REASON_NONE);
    stop();
    struct characterize_run run = {.version = CHARACTERIZE_VERSION, .n_segments = 1};
    expect("which it does", CHARACTERIZE_IOC_RUN, &run, EINVAL, CHARACTERIZE_REASON_NOT_PREPARED);
}

/* One busy task on each hyper-thread of a core: each sample must show it, its stack, and its sibling's task. */
static void test_busy(struct profile_record *r)
{
    const unsigned busy = cpus > 1 ? 2 : 1;
    struct characterize_profile p = profile();
    struct stat group = {0};
    mkdir("/tmp/cgroup", 0755);
    bool grouped = mount("none", "/tmp/cgroup", "cgroup2", 0, NULL) == 0 && mkdir("/tmp/cgroup/busy", 0755) == 0 &&
                   stat("/tmp/cgroup/busy", &group) == 0;
    for (unsigned cpu = 0; cpu < busy; cpu++)
        start_task(burn, cpu, "busy");
    FILE *f = grouped ? fopen("/tmp/cgroup/busy/cgroup.procs", "w") : NULL;
    if (f != NULL)
        fprintf(f, "%d\n", task[0]);
    grouped = f != NULL && fclose(f) == 0;
    usleep(300000);
    expect("start", CHARACTERIZE_IOC_PROFILE_START, &p, 0, CHARACTERIZE_REASON_NONE);
    size_t n = collect(r, 8, 20), others = 0, siblings = 0, depth = 0, user = 0, groups = 0, seen = 0, alone = 0;
    struct characterize_profile_totals t = totals();
    stop();
    size_t taken = judge("a busy core", r, n, &p.setup);
    for (size_t i = 0; i < n; i++) {
        const struct profile_sight *w = &r[i].sight;
        if (r[i].outcome != PROFILE_TAKEN || r[i].cpu >= busy || strcmp(w->task.comm, "busy") != 0)
            continue;
        seen++;
        others += w->task.pid != (uint32_t)task[r[i].cpu] || w->task.tgid != w->task.pid;
        siblings += cpus > 1 && w->other_cpu == (r[i].cpu ^ 1u);
        alone += w->active_cores == 1;
        const __u64 *frame = r[i].stack + r[i].n_kernel;
        user += r[i].n_kernel == 0;
        depth += r[i].n_stack >= r[i].n_kernel + 3 && frame[0] - (uintptr_t)burn_inner < 256 &&
                 frame[1] - (uintptr_t)burn_outer < 256;
        groups += r[i].cpu == 0 ? w->task.cgroup == group.st_ino : w->task.cgroup != group.st_ino;
    }
    check(seen > 0 && others == 0, "%zu of %zu samples show the busy task, %zu another one's", seen, taken, others);
    check(seen > 0 && siblings == (cpus > 1 ? seen : 0), "%zu with the sibling", siblings);
    check(alone * 2 > seen, "%zu with no other core active", alone);
    check(user > 0 && depth == seen, "%zu in user mode, %zu with the right stack", user, depth);
    if (grouped)
        check(groups == seen, "%zu with the right container", groups);
    else
        printf("skip: containers: no cgroup2 here\n");
    print_totals(&t);
    check(t.lost == 0 && t.turns >= n, "no record is lost");
    end_tasks();
    rmdir("/tmp/cgroup/busy");
    umount("/tmp/cgroup");
}

static void set_online(unsigned cpu, bool online)
{
    char path[64];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/online", cpu);
    FILE *f = fopen(path, "w");
    if (f != NULL) {
        fputc(online ? '1' : '0', f);
        fclose(f);
    }
}

static void plug(unsigned seed)
{
    for (srand(seed);;) {
        unsigned cpu = 1 + (unsigned)rand() % (cpus - 1);
        set_online(cpu, false);
        usleep((useconds_t)rand() % 50000);
        set_online(cpu, true);
        usleep((useconds_t)rand() % 100000);
    }
}

static void test_stress(struct profile_record *r, double seconds)
{
    struct characterize_profile p = profile();
    start_task(migrate, 1, "migrates");
    start_task(fork_and_exit, 2, "forks");
    start_task(sleep_and_wake, 3, "sleeps");
    start_task(burn, 0, "burns");
    if (cpus > 1)
        start_task(plug, 4, "plugs");
    expect("start", CHARACTERIZE_IOC_PROFILE_START, &p, 0, CHARACTERIZE_REASON_NONE);
    size_t n = collect(r, seconds, 0);
    struct characterize_profile_totals t = totals();
    end_tasks();
    for (unsigned cpu = 1; cpu < cpus; cpu++)
        set_online(cpu, true);
    judge("migrations, forks, exits, CPUs that go and come", r, n, &p.setup);
    print_totals(&t);
    n = collect(r, 1, 0);
    unsigned back = 0;
    for (unsigned cpu = 0; cpu < cpus; cpu++)
        for (size_t i = 0; i < n; i++)
            if (r[i].cpu == cpu) {
                back++;
                break;
            }
    check(back == cpus, "%u of %u CPUs have turns afterwards", back, cpus);
    stop();
}

static void test_overrun(struct profile_record *r)
{
    struct characterize_profile p = profile();
    p.setup.mean_us = PROFILE_MEAN_US_MIN;
    p.setup.pause_us = PROFILE_PAUSE_US_MIN;
    expect("start", CHARACTERIZE_IOC_PROFILE_START, &p, 0, CHARACTERIZE_REASON_NONE);
    struct characterize_profile_totals t = {0};
    for (unsigned i = 0; i < 60 && t.lost == 0; i++) {
        usleep(500000);
        t = totals();
    }
    size_t n = 0;
    for (ssize_t got; n < RING && (got = read(fd, r + n, (RING - n) * sizeof *r)) > 0;)
        n += (size_t)got / sizeof *r;
    bool in_order = true;
    for (size_t i = 1; i < n; i++)
        in_order = in_order && r[i].time_ns > 0 && r[i].number < t.turns + cpus;
    check(n == RING && t.lost > 0 && t.turns == RING + t.lost && in_order,
          "nobody reads: %zu records are kept, %llu of %llu lost", n, (unsigned long long)t.lost,
          (unsigned long long)t.turns);
    stop();
}

/* The device's only user is killed while siblings are held: the next one finds everything free. */
static void test_killed(void)
{
    unsigned failed = 0;
    close(fd);
    for (unsigned i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            struct characterize_profile p = profile();
            fd = open(device, O_RDWR | O_CLOEXEC);
            _exit(fd < 0 || ioctl(fd, CHARACTERIZE_IOC_PROFILE_START, &p) != 0 || pause());
        }
        usleep(100000 + 7000 * i);
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        fd = open(device, O_RDWR | O_CLOEXEC);
        struct characterize_profile_totals t = {.version = CHARACTERIZE_VERSION};
        failed += !WIFSIGNALED(status) || fd < 0 || ioctl(fd, CHARACTERIZE_IOC_PROFILE_TOTALS, &t) == 0 ||
                  t.reason != CHARACTERIZE_REASON_NO_PROFILE;
        if (fd >= 0)
            close(fd);
    }
    check(failed == 0, "killed while it profiles: %u of 20 times something was left", failed);
    fd = open(device, O_RDWR | O_CLOEXEC);
}

/* Starts and stops as fast as it goes, under load. */
static void test_restarts(void)
{
    unsigned done = 0;
    for (unsigned cpu = 0; cpu < cpus; cpu++)
        start_task(burn, cpu, "burns");
    for (unsigned i = 0; i < 50; i++) {
        struct characterize_profile p = profile();
        done += ioctl(fd, CHARACTERIZE_IOC_PROFILE_START, &p) == 0;
        usleep((i % 10) * 3000);
        done += ioctl(fd, CHARACTERIZE_IOC_PROFILE_STOP) == 0;
    }
    check(done == 100, "50 profiles one after the other");
    end_tasks();
}

_Noreturn static void wait_to_be_killed(void)
{
    struct characterize_profile p = profile();
    for (unsigned cpu = 0; cpu < cpus; cpu++)
        start_task(burn, cpu, "burns");
    expect("start", CHARACTERIZE_IOC_PROFILE_START, &p, 0, CHARACTERIZE_REASON_NONE);
    for (;;)
        pause();
}

static void ignore(int signal)
{
    (void)signal;
}

int main(int argc, char **argv)
{
    struct profile_record *records = calloc(RECORDS_MAX, sizeof *records);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc != 3 || records == NULL || (fd = open(argv[1], O_RDWR | O_CLOEXEC)) < 0) {
        printf("FAIL: profile_checks: %s: %s\n", argc == 3 ? argv[1] : "two arguments", strerror(errno));
        return 2;
    }
    device = argv[1];
    cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    if (strcmp(argv[2], "wait") == 0)
        wait_to_be_killed();
    struct sigaction act = {.sa_handler = ignore}; /* no SA_RESTART */
    sigaction(SIGALRM, &act, NULL);
    test_limits();
    test_refusals();
    test_while_running();
    test_busy(records);
    test_overrun(records);
    test_restarts();
    test_killed();
    test_stress(records, strtod(argv[2], NULL));
    free(records);
    return failures != 0;
}
