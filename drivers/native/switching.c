/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds of switches between threads, migrations, and faults that the kernel resolves, in user space. */
#include "drivers/native/native.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Operations of a block: some 0.3 ms of round trips, 0.3 ms of migrations to an idle CPU of a guest, and 0.1 ms of
 * faults on a Zen 3 guest. Moves come in pairs, so that the thread ends where it began. */
enum { TRIPS = 40, MOVES = 10, PAGES = 64 };
/* Operations before those that are timed, so that code, stacks and the scheduler's data are in the caches. */
enum { WARM = 2, PAGES_ALL = WARM + PAGES };

struct round {
    int cpu, to_cpu;                                  /* migrations */
    struct cpu_mask here, there, both;                /* migrations */
    unsigned moves;                                   /* migrations, so far */
    int forth[2], back[2], own_forth[2], own_back[2]; /* pipes; -1: closed */
    pthread_t partner;
    bool has_partner;
    size_t page;
    unsigned char *memory; /* NULL: none */
};

/* ---- two threads and their pipes ---- */

static bool put_byte(int fd)
{
    const char byte = 0;
    ssize_t n;
    do
        n = write(fd, &byte, 1);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

static bool take_byte(int fd)
{
    char byte;
    ssize_t n;
    do
        n = read(fd, &byte, 1);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

/* Answers until the pipe ends. It closes its own end: whoever waits for an answer then learns that there is none. */
static void *answer(void *data)
{
    const struct round *r = data;
    while (take_byte(r->forth[0]) && put_byte(r->back[1]))
        ;
    close(r->back[1]);
    return NULL;
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void switch_close(struct round *r)
{
    close_end(&r->forth[1]);
    if (r->has_partner) {
        pthread_join(r->partner, NULL);
        r->back[1] = -1;
    }
    int *const pipes[] = {r->forth, r->back, r->own_forth, r->own_back};
    for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++) {
        close_end(&pipes[i][0]);
        close_end(&pipes[i][1]);
    }
}

/* The partner inherits the affinity, one CPU, and the priority. */
static int switch_open(const struct native *s, struct round *r, struct machine_error *err)
{
    int *const pipes[] = {r->forth, r->back, r->own_forth, r->own_back};
    (void)s;
    for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++)
        pipes[i][0] = pipes[i][1] = -1;
    for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++)
        if (pipe2(pipes[i], O_CLOEXEC) != 0)
            return machine_fail(err, MACHINE_FAILED, "raise the limit of open files (ulimit -n)",
                                "cannot make a pipe: %s", strerror(errno));
    const int error = pthread_create(&r->partner, NULL, answer, r);
    r->has_partner = error == 0;
    return error == 0 ? MACHINE_OK
                      : machine_fail(err, MACHINE_FAILED, "raise the limit of threads (ulimit -u)",
                                     "cannot start a second thread: %s", strerror(error));
}

/* A round trip is two writes and two reads, of one thread or of two. */
static bool switch_run(struct round *r, bool work, unsigned n)
{
    bool done = true;
    for (unsigned i = 0; i < n && done; i++)
        done = work ? put_byte(r->forth[1]) && take_byte(r->back[0])
                    : put_byte(r->own_forth[1]) && take_byte(r->own_forth[0]) && put_byte(r->own_back[1]) &&
                          take_byte(r->own_back[0]);
    return done;
}

static bool switch_ready(struct round *r, bool work)
{
    return switch_run(r, work, WARM);
}

/* Times that this thread lost its CPU: it blocks, or its partner, once woken, takes the CPU right away. */
static long switch_count(const struct round *r)
{
    struct rusage u = {.ru_nvcsw = 0};
    (void)r;
    getrusage(RUSAGE_THREAD, &u);
    return u.ru_nvcsw + u.ru_nivcsw;
}

/* ---- migrations ---- */

static bool may_use(const struct native *s, const struct cpu_view *view, int cpu)
{
    bool listed = s->setup.n_cpus == 0;
    for (size_t i = 0; i < s->setup.n_cpus; i++)
        listed = listed || s->setup.cpus[i] == cpu;
    return cpu >= 0 && cpu < CPU_LIMIT && listed && cpu_usable(view, cpu);
}

/* The CPU of another core whose number is nearest, as those of a package mostly are; of the same core where there is no
 * other; -1: none. */
static int other_cpu(const struct native *s)
{
    struct cpu_view view;
    int sibling = -1;
    native_view(s, &view);
    const int core = cpu_core_in(&view, s->sys, s->cpu);
    if (s->pinning.entered) /* isolated CPUs were allowed, but not by the affinity */
        CPU_OR_S(sizeof view.allowed, view.allowed.set, s->pinning.affinity.set, s->allowed.set);
    for (int away = 1; away < CPU_LIMIT; away++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const int cpu = s->cpu + sign * away;
            if (!may_use(s, &view, cpu))
                continue;
            if (cpu_core_in(&view, s->sys, cpu) != core)
                return cpu;
            sibling = sibling < 0 ? cpu : sibling;
        }
    return sibling;
}

static int migration_open(const struct native *s, struct round *r, struct machine_error *err)
{
    r->cpu = s->cpu;
    r->to_cpu = other_cpu(s);
    if (r->to_cpu < 0)
        return machine_fail(err, MACHINE_CANNOT, "allow it a second CPU (taskset, --cpus, or the container's cpuset)",
                            "a migration needs two CPUs, and this process may use one");
    cpu_mask_add(&r->here, r->cpu);
    cpu_mask_add(&r->there, r->to_cpu);
    r->both = r->here;
    cpu_mask_add(&r->both, r->to_cpu);
    return MACHINE_OK;
}

static bool change(struct round *r, const struct cpu_mask *mask, int expected)
{
    const int before = sched_getcpu();
    if (cpu_set_affinity(mask) != 0)
        return false;
    r->moves += before != expected && sched_getcpu() == expected;
    return true;
}

/* Every other call leaves the thread one CPU, its own. */
static bool migration_run(struct round *r, bool work, unsigned n)
{
    bool done = true;
    for (unsigned i = 0; i < n && done; i += 2)
        done = change(r, work ? &r->there : &r->both, work ? r->to_cpu : r->cpu) && change(r, &r->here, r->cpu);
    return done;
}

static bool migration_ready(struct round *r, bool work)
{
    return migration_run(r, work, WARM);
}

static long migration_count(const struct round *r)
{
    return r->moves;
}

static void migration_close(struct round *r)
{
    (void)r;
}

/* ---- faults ---- */

/* Pages stay in the file's memory when they are no longer mapped; large ones would be mapped as one. */
static int fault_open(const struct native *s, struct round *r, struct machine_error *err)
{
    (void)s;
    r->page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t size = PAGES_ALL * r->page;
    const int fd = memfd_create("characterize", MFD_CLOEXEC);
    void *p = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
        p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const int error = errno;
    if (fd >= 0)
        close(fd);
    if (p == MAP_FAILED)
        return machine_fail(err, MACHINE_FAILED, "free some memory, or raise the limit (ulimit -v)",
                            "no shared memory of %zu kB: %s", size / 1024, strerror(error));
    r->memory = p;
    madvise(p, size, MADV_NOHUGEPAGE);
    memset(p, 1, size);
    return MACHINE_OK;
}

static void touch(struct round *r, size_t from, size_t n)
{
    for (size_t i = from; i < from + n; i++)
        *(volatile unsigned char *)(r->memory + i * r->page) = 1;
}

static bool fault_run(struct round *r, bool work, unsigned n)
{
    (void)work;
    touch(r, WARM, n);
    return true;
}

static bool fault_ready(struct round *r, bool work)
{
    touch(r, 0, PAGES_ALL);
    if (work && madvise(r->memory, PAGES_ALL * r->page, MADV_DONTNEED) != 0)
        return false;
    touch(r, 0, WARM);
    return true;
}

static long fault_count(const struct round *r)
{
    struct rusage u = {.ru_minflt = 0};
    (void)r;
    getrusage(RUSAGE_THREAD, &u);
    return u.ru_minflt;
}

static void fault_close(struct round *r)
{
    if (r->memory != NULL)
        munmap(r->memory, PAGES_ALL * r->page);
}

/* ---- a round ---- */

static const struct kind {
    const char *name;
    int (*open)(const struct native *s, struct round *r, struct machine_error *err);
    bool (*ready)(struct round *r, bool work); /* before a block; false: errno says why */
    bool (*run)(struct round *r, bool work, unsigned n);
    long (*count)(const struct round *r);
    void (*close)(struct round *r); /* also after a failed open */
    unsigned n;                     /* operations of a block */
    long most;                      /* that may be counted of them */
    double parts;                   /* of one */
} kinds[SWITCHING_KINDS] = {
    [SWITCHING_SWITCH] = {"switches", switch_open, switch_ready, switch_run, switch_count, switch_close, TRIPS,
                          TRIPS + TRIPS / 10, 2},
    [SWITCHING_MIGRATION] = {"migrations", migration_open, migration_ready, migration_run, migration_count,
                             migration_close, MOVES, MOVES, 1},
    [SWITCHING_FAULT] = {"faults", fault_open, fault_ready, fault_run, fault_count, fault_close, PAGES, LONG_MAX, 1},
};

static bool run_block(const struct native *s, const struct kind *k, struct round *r, enum switching_block b,
                      struct switching_seen *out)
{
    const bool work = b == SWITCHING_WORK;
    if (!k->ready(r, work))
        return false;
    const long before = k->count(r);
    const uint64_t begin = tsc_now();
    const bool done = k->run(r, work, k->n);
    const double us = (double)(tsc_now() - begin) * 1e6 / s->tsc.hz;
    const long counted = k->count(r) - before; /* of switches more where others took the CPU */
    if (work)
        out->happened = counted >= (long)k->n && counted <= k->most;
    out->us[b] = us / k->n / k->parts;
    out->took_us += us;
    return done;
}

static int run_round(const struct native *s, const struct switching_request *request, struct switching_seen *out,
                     struct machine_error *err)
{
    const struct kind *k = &kinds[request->what];
    struct round r = {.to_cpu = -1};
    int status = k->open(s, &r, err);
    for (size_t i = 0; i < SWITCHING_BLOCKS && status == MACHINE_OK; i++)
        if (!run_block(s, k, &r, (enum switching_block)request->order[i], out))
            status = machine_fail(err, MACHINE_FAILED, "", "%s cannot be measured: %s", k->name, strerror(errno));
    out->to_cpu = r.to_cpu;
    k->close(&r);
    return status;
}

int native_switching(struct machine *m, const struct switching_request *r, struct switching_seen *out,
                     struct machine_error *err)
{
    const struct native *s = m->state;
    struct cpu_mask affinity;

    *out = (struct switching_seen){.to_cpu = -1};
    if (!s->prepared)
        return machine_fail(err, MACHINE_FAILED, "", "the %s machine was not prepared", s->name);
    if (cpu_pin(s->cpu, &affinity) != 0) {
        return machine_fail(err, MACHINE_CANNOT, "choose another CPU with --cpu", "CPU %d cannot be used: %s", s->cpu,
                            strerror(errno));
    }
    const int status = run_round(s, r, out, err);
    cpu_set_affinity(&affinity);
    return status;
}
