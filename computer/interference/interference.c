/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A busy machine, made for the time of a measurement: what is planned, what the processes do, and who leads them.
 * Between the run and the processes that disturb it stands a leader, forked while the run is as it was started. It is
 * started and stopped over a socket. The processes are one group; the leader, as their subreaper, waits until the
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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "computer/cpu/caches.h"
#include "util/child.h"
#include "util/clock.h"
#include "util/splitmix64.h"

/* ---- what is planned ---- */

const char *const interference_names[INTERFERENCES] = {"", "make", "memory", "script"};

/* A bound for machines with hundreds of CPUs: memory is shared out among the processes. */
enum { PROCESSES_MAX = 1024 };

static const size_t mib = (size_t)1 << 20;

static const size_t job_bytes = (size_t)64 << 20; /* about what a compiler of C takes; assumed */

/* A number of bytes from a file of one; `otherwise` where there is none ("max"). */
static double bytes_in(const char *sys, const char *path, double otherwise)
{
    char text[40], *end;
    if (cpu_read_text(sys, text, sizeof text, "%s", path) <= 0)
        return otherwise;
    double bytes = strtod(text, &end);
    return end != text && bytes >= 0 ? bytes : otherwise;
}

/* The bytes that a container may still use, where its cgroup is the root of what it sees. */
static double left_by_cgroup(const char *sys)
{
    double limit = bytes_in(sys, "fs/cgroup/memory.max", 1e18);
    double old_limit = bytes_in(sys, "fs/cgroup/memory/memory.limit_in_bytes", 1e18);
    double left = limit - bytes_in(sys, "fs/cgroup/memory.current", 0);
    double old_left = old_limit - bytes_in(sys, "fs/cgroup/memory/memory.usage_in_bytes", 0);
    double less = left < old_left ? left : old_left;
    return less > 0 ? less : 0;
}

/* Free memory in bytes; 0 where it is not known. */
static double memory_free(const char *sys, const char *proc)
{
    double here = (double)cpu_memory_available(proc), cgroup = left_by_cgroup(sys);
    return here < cgroup ? here : cgroup;
}

/* The largest cache of a CPU, in bytes; 0 where it is not known. */
static double last_cache(const char *sys, int cpu)
{
    double largest = 0;
    for (int i = 0; i < 8; i++) {
        char text[24], *end;
        if (cpu_read_text(sys, text, sizeof text, "devices/system/cpu/cpu%d/cache/index%d/size", cpu, i) <= 0)
            continue;
        double size = strtod(text, &end) * (*end == 'M' ? 1048576 : *end == 'K' ? 1024 : 1);
        largest = size > largest ? size : largest;
    }
    return largest;
}

/* The CPUs that others than the measured one may use, and of them the best place for one process: another core. */
static int other_cpus(const struct cpu_view *v, const char *sys, int cpu, struct cpu_mask *others)
{
    int best = -1;
    cpu_mask_clear(others);
    for (int i = 0; i < CPU_LIMIT; i++) {
        if (i == cpu || !cpu_usable(v, i))
            continue;
        cpu_mask_add(others, i);
        if (best < 0 || cpu_core_in(v, sys, i) != cpu_core_in(v, sys, cpu))
            best = i;
    }
    return best;
}

int interference_plan_for(enum interference kind, const struct cpu_view *v, const char *sys, const char *proc, int cpu,
                          struct interference_plan *out, struct machine_error *err)
{
    const char *name = interference_names[kind];
    const double may = memory_free(sys, proc) / 4;
    double wanted = (double)mib;
    *out = (struct interference_plan){.kind = kind, .processes = 1};
    if (kind == INTERFERENCE_MAKE) {
        CPU_AND_S(sizeof out->cpus, out->cpus.set, v->online.set, v->allowed.set);
        unsigned n = 2 * cpu_mask_count(&out->cpus);
        out->processes = n < PROCESSES_MAX ? n : PROCESSES_MAX;
        wanted = (double)job_bytes;
    } else {
        int place = other_cpus(v, sys, cpu, &out->cpus);
        if (place < 0)
            return machine_fail(err, MACHINE_CANNOT, "use --interference make, or give this process a second CPU",
                                "--interference %s needs a CPU besides the measured one, CPU %d", name, cpu);
        if (kind == INTERFERENCE_MEMORY) {
            cpu_mask_clear(&out->cpus);
            cpu_mask_add(&out->cpus, place);
            wanted = 4 * last_cache(sys, cpu);
            wanted = wanted > 0 ? wanted : (double)job_bytes;
        }
    }
    double bytes = wanted < may / out->processes ? wanted : may / out->processes;
    if (bytes < (double)mib)
        return machine_fail(
            err, MACHINE_CANNOT, "free some memory",
            "--interference %s needs at least %u MiB, which must be less than a quarter of the free memory (%.0f MiB)",
            name, out->processes, 4 * may / (double)mib);
    out->bytes = (size_t)bytes / mib * mib;
    return MACHINE_OK;
}

void interference_plan_text(const struct interference_plan *p, char *out, size_t size)
{
    char cpus[60];
    cpu_mask_format(&p->cpus, cpus, sizeof cpus);
    if (p->kind == INTERFERENCE_MAKE)
        snprintf(out, size, "make: %u processes", p->processes);
    else if (p->kind == INTERFERENCE_MEMORY)
        snprintf(out, size, "memory: %zu MiB on CPU %s", p->bytes / mib, cpus);
    else
        snprintf(out, size, "script: on CPU %s", cpus);
}

/* ---- what the processes do: they are forked, so system calls alone, and no memory but what they map ---- */

/* The next random number. */
static uint64_t draw(uint64_t *state)
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

/* Works like a compiler: reads a file, builds something from it in fresh memory, goes over it again and again. */
static void compile(size_t most, uint64_t seed)
{
    enum { READ_BYTES = 1 << 16, READS_MAX = 64, WORDS_A_PAGE = 512 };
    const size_t bytes = most / 8 + (size_t)(draw(&seed) % (most - most / 8));
    const size_t words = bytes / sizeof(uint64_t);
    const double end = clock_seconds(CLOCK_MONOTONIC) + 0.03 + 0.2 * (double)(draw(&seed) % 1000) / 1000;
    volatile uint64_t *w = map_words(bytes);
    if (w == NULL)
        return;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    for (size_t at = 0, i = 0; i < READS_MAX && at + READ_BYTES <= bytes; i++, at += READ_BYTES)
        if (read(fd, (char *)(uintptr_t)w + at, READ_BYTES) <= 0)
            break;
    for (size_t i = 0; i < words; i += WORDS_A_PAGE)
        w[i] = draw(&seed);
    for (uint64_t sum = 0; clock_seconds(CLOCK_MONOTONIC) < end;)
        for (int i = 0; i < 4096; i++) {
            size_t at = (size_t)((sum ^ draw(&seed)) % words);
            sum = sum * 31 + w[at];
            w[at] = sum;
        }
}

/* One short-lived child after the other. */
static void work_make(const struct interference_plan *p, uint64_t seed)
{
    const pid_t self = getpid();
    for (;;) {
        uint64_t next = draw(&seed);
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

/* Turns are so frequent that a row of the table variability, of 0.3 s, meets some. V 4.4.2 has an "intermittent" load
 * and does not say how long it pauses, V 4.4.1 a script every two seconds, during trials that last for many of them. */
static const double MEMORY_S = 0.02, SCRIPT_S = 0.25;

static void work_memory(const struct interference_plan *p, uint64_t seed)
{
    const size_t words = p->bytes / sizeof(uint64_t);
    volatile uint64_t *w = map_words(p->bytes);
    for (size_t i = 0; w != NULL && i < words; i += 512)
        w[i] = i;
    while (w != NULL) {
        const double end = clock_seconds(CLOCK_MONOTONIC) + MEMORY_S;
        while (clock_seconds(CLOCK_MONOTONIC) < end)
            for (int i = 0; i < 4096; i++)
                w[(size_t)(draw(&seed) % words)]++;
        sleep_until_turn(end + MEMORY_S);
    }
}

static void work_script(void)
{
    static char shell[] = "/bin/sh", dash_c[] = "-c",
                script[] =
                    "date; uname -a; id; ls -l /proc/self; cat /proc/stat | sort | wc; sed -n 1,5p /proc/meminfo",
                path[] = "PATH=/usr/bin:/bin";
    char *const argv[] = {shell, dash_c, script, NULL}, *const environment[] = {path, NULL};
    const pid_t self = getpid();
    for (double due = clock_seconds(CLOCK_MONOTONIC);; due += SCRIPT_S) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            child_become(shell, argv, environment, NULL, false, self);
            _exit(127);
        }
        if (pid < 0 || waitpid(pid, &status, 0) < 0 || WIFSIGNALED(status) || WEXITSTATUS(status) == 127)
            return;
        sleep_until_turn(due + SCRIPT_S);
    }
}

/* The work of one process, until it is killed: returns only where it cannot go on. */
static void work(const struct interference_plan *p, uint64_t seed)
{
    if (p->kind == INTERFERENCE_MAKE)
        work_make(p, seed);
    else if (p->kind == INTERFERENCE_MEMORY)
        work_memory(p, seed);
    else if (p->kind == INTERFERENCE_SCRIPT)
        work_script();
}

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
            work(l->plan, splitmix64(number));
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
    (void)setpgid(0, 0); /* signals from a terminal's keys are for the run */
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
    /* a parent that ended too early to be noticed has left its child to another one */
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

/* Returns its answer; ENDED_BEFORE where it gives none. */
static int tell_leader(struct interferer *i, char what)
{
    enum { ANSWER_MS = 10000 }; /* starting a thousand processes takes a second */
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
