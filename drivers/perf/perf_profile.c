/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The group of a CPU: context switches, each of which is a sample while the task that leaves is still the current one
 * (Linux, kernel/events/core.c, perf_event_task_sched_out); the CPU's clock for what runs without switches; then the
 * counters, which each sample reads (PERF_SAMPLE_READ). The difference of two samples is the task's of the second.
 */
#include "drivers/perf/perf_profile.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { GROUP = 2 + PERF_PROFILE_COUNTERS, RING_BYTES = 1 << 18, RECORD_BYTES = 1 << 16, MUCH_BYTES = RING_BYTES / 4 };

struct perf_profile_cpu {
    int cpu, fd[GROUP]; /* -1: not open */
    struct perf_event_mmap_page *ring;
    bool lost;                                  /* readings were lost since the one before */
    uint64_t before[2 + PERF_PROFILE_COUNTERS]; /* time enabled, time on the hardware, counts */
};

struct perf_profile {
    const struct perf_profile_io *io;
    size_t page;
    uint64_t lost;
    size_t n;
    int *fds; /* to wait for */
    struct perf_profile_cpu *cpu;
    unsigned char record[RECORD_BYTES];
};

/* ---- the running kernel ---- */

static int profile_system_open(const struct perf_event_attr *attr, int cpu, int group)
{
    return (int)syscall(SYS_perf_event_open, attr, -1, cpu, group, PERF_FLAG_FD_CLOEXEC);
}

static int profile_system_ioctl(int fd, unsigned long request, unsigned long argument)
{
    return ioctl(fd, request, argument);
}

static void *profile_system_map(int fd, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

static int profile_system_wait(const int *fds, size_t n, int timeout_ms)
{
    struct pollfd *all = calloc(n, sizeof *all);
    for (size_t i = 0; all != NULL && i < n; i++)
        all[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    int ready = all != NULL ? poll(all, n, timeout_ms) : -1;
    int error = errno;
    free(all);
    errno = error;
    return ready;
}

const struct perf_profile_io perf_profile_system = {.open = profile_system_open,
                                                    .ioctl = profile_system_ioctl,
                                                    .map = profile_system_map,
                                                    .unmap = munmap,
                                                    .wait = profile_system_wait,
                                                    .read = read,
                                                    .close = close};

/* ---- opening ---- */

static void fill_member(int member, const struct perf_profile_counter *counters, unsigned rate_hz,
                        struct perf_event_attr *a)
{
    memset(a, 0, sizeof *a);
    a->size = sizeof *a;
    a->exclude_hv = 1;
    a->read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    a->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU | PERF_SAMPLE_READ | PERF_SAMPLE_CGROUP;
    if (member >= 2) {
        a->type = counters[member - 2].type;
        a->config = counters[member - 2].config;
        return;
    }
    a->type = PERF_TYPE_SOFTWARE;
    a->config = member == 0 ? PERF_COUNT_SW_CONTEXT_SWITCHES : PERF_COUNT_SW_CPU_CLOCK;
    a->sample_period = 1;
    if (member == 1)
        a->sample_period = 1000000000u / (rate_hz > 0 ? rate_hz : 1); /* of nanoseconds */
    a->disabled = a->pinned = a->comm = member == 0;                  /* the others follow their leader */
    a->watermark = 1;
    a->wakeup_watermark = MUCH_BYTES;
}

static int cannot_open(int error, int cpu, int member, struct machine_error *err)
{
    const char *remedy = error == EACCES || error == EPERM
                             ? "run as root, or: sysctl kernel.perf_event_paranoid=0, or give CAP_PERFMON"
                         : error == EMFILE || error == ENFILE ? "raise ulimit -n"
                         : error == ENOENT || error == EOPNOTSUPP || error == ENODEV
                             ? "characterize --list machines shows why"
                             : "";
    static const char *const names[GROUP] = {"context switches", "time", "cycles", "cycles at license level 1",
                                             "cycles at license level 2"};
    return machine_fail(err, MACHINE_CANNOT, remedy, "perf_event_open cannot count %s of all tasks on CPU %d: %s",
                        names[member], cpu, strerror(error));
}

static int open_cpu(struct perf_profile *p, struct perf_profile_cpu *c, const struct perf_profile_counter *counters,
                    unsigned rate_hz, struct machine_error *err)
{
    struct perf_event_attr attr;
    for (int i = 0; i < GROUP; i++) {
        fill_member(i, counters, rate_hz, &attr);
        c->fd[i] = p->io->open(&attr, c->cpu, i > 0 ? c->fd[0] : -1);
        if (c->fd[i] < 0)
            return cannot_open(errno, c->cpu, i, err);
    }
    c->ring = p->io->map(c->fd[0], p->page + RING_BYTES);
    if (c->ring == NULL)
        return machine_fail(err, MACHINE_CANNOT, "raise ulimit -l, or as root: sysctl kernel.perf_event_mlock_kb=1024",
                            "the buffer for CPU %d's readings cannot be mapped: %s", c->cpu, strerror(errno));
    if (p->io->ioctl(c->fd[1], PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)c->fd[0]) != 0)
        return machine_fail(err, MACHINE_FAILED, "", "the readings of CPU %d cannot share a buffer: %s", c->cpu,
                            strerror(errno));
    return MACHINE_OK;
}

void perf_raise_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
}

int perf_profile_open(const struct perf_profile_io *io, const struct cpu_mask *cpus,
                      const struct perf_profile_counter counters[PERF_PROFILE_COUNTERS], unsigned rate_hz,
                      struct perf_profile **out, struct machine_error *err)
{
    size_t n = cpu_mask_count(cpus);
    struct perf_profile *p = calloc(1, sizeof *p);
    int status = MACHINE_OK;
    *out = NULL;
    if (p != NULL) {
        p->io = io;
        p->page = (size_t)sysconf(_SC_PAGESIZE);
        p->cpu = calloc(n, sizeof *p->cpu);
        p->fds = calloc(n, sizeof *p->fds);
    }
    if (p == NULL || p->cpu == NULL || p->fds == NULL)
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    perf_raise_files();
    for (int cpu = 0; cpu < CPU_LIMIT && status == MACHINE_OK; cpu++) {
        if (!cpu_mask_has(cpus, cpu))
            continue;
        struct perf_profile_cpu *c = &p->cpu[p->n++];
        *c = (struct perf_profile_cpu){.cpu = cpu, .fd = {-1, -1, -1, -1, -1}};
        status = open_cpu(p, c, counters, rate_hz, err);
        p->fds[p->n - 1] = c->fd[0];
    }
    if (status == MACHINE_OK)
        *out = p;
    else
        perf_profile_close(p);
    return status;
}

/* A pinned group for which there are no counters is in a state of error, in which reading it gives nothing. */
static int check_counts(const struct perf_profile *p, struct machine_error *err)
{
    uint64_t values[3 + GROUP];
    for (size_t i = 0; i < p->n; i++)
        if (p->io->read(p->cpu[i].fd[0], values, sizeof values) != (ssize_t)sizeof values)
            return machine_fail(err, MACHINE_CANNOT,
                                "stop other users of the counters (perf), or as root: sysctl kernel.nmi_watchdog=0",
                                "no hardware counters are free for the license levels on CPU %d", p->cpu[i].cpu);
    return MACHINE_OK;
}

int perf_profile_start(struct perf_profile *p, struct machine_error *err)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->io->ioctl(p->cpu[i].fd[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) != 0)
            return machine_fail(err, MACHINE_CANNOT, "", "the counters of CPU %d cannot be started: %s", p->cpu[i].cpu,
                                strerror(errno));
    return check_counts(p, err);
}

void perf_profile_stop(struct perf_profile *p)
{
    for (size_t i = 0; i < p->n; i++)
        p->io->ioctl(p->cpu[i].fd[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
}

/* ---- records ---- */

/* The fields of a sample in the kernel's order (perf_event_open(2), PERF_RECORD_SAMPLE). */
struct sample {
    struct perf_event_header header;
    uint32_t tgid, pid;
    uint32_t cpu, reserved;
    uint64_t n, enabled, running, values[GROUP];
    uint64_t cgroup;
};

static bool take_reading(struct perf_profile_cpu *c, const void *record, perf_stretch_taker *take, void *with)
{
    struct sample s;
    memcpy(&s, record, sizeof s);
    uint64_t now[2 + PERF_PROFILE_COUNTERS] = {s.enabled, s.running};
    memcpy(now + 2, s.values + 2, PERF_PROFILE_COUNTERS * sizeof now[0]);
    struct perf_stretch out = {
        .pid = s.pid, .tgid = s.tgid, .cpu = (uint32_t)c->cpu, .cgroup = s.cgroup, .known = !c->lost};
    /* counts since the start where there is none before */
    for (int i = 0; i < PERF_PROFILE_COUNTERS; i++)
        out.counts[i] = now[2 + i] > c->before[2 + i] ? now[2 + i] - c->before[2 + i] : 0;
    out.known = out.known && now[1] - c->before[1] == now[0] - c->before[0];
    c->lost = false;
    memcpy(c->before, now, sizeof now);
    return take(with, &out);
}

static bool take_record(struct perf_profile *p, struct perf_profile_cpu *c, const struct perf_event_header *h,
                        perf_stretch_taker *take, void *with)
{
    const unsigned char *at = (const unsigned char *)h + sizeof *h;
    struct perf_stretch name = {.named = true};
    uint64_t lost;
    if (h->type == PERF_RECORD_SAMPLE && h->size >= sizeof(struct sample)) {
        const struct sample *s = (const void *)h;
        return s->n != GROUP || take_reading(c, h, take, with);
    }
    if (h->type == PERF_RECORD_LOST && h->size >= sizeof *h + 16) {
        memcpy(&lost, at + 8, sizeof lost);
        p->lost += lost;
        c->lost = true;
    } else if (h->type == PERF_RECORD_COMM && h->size > sizeof *h + 8) {
        memcpy(&name.tgid, at, 4);
        memcpy(&name.pid, at + 4, 4);
        size_t length = h->size - sizeof *h - 8;
        memcpy(name.comm, at + 8, length < sizeof name.comm - 1 ? length : sizeof name.comm - 1);
        return take(with, &name);
    }
    return true;
}

/* Copies from the ring, around whose end records may go. */
static void copy_out(const unsigned char *data, uint64_t at, void *out, size_t bytes)
{
    size_t from = (size_t)(at % RING_BYTES), first = RING_BYTES - from < bytes ? RING_BYTES - from : bytes;
    memcpy(out, data + from, first);
    memcpy((unsigned char *)out + first, data, bytes - first);
}

static bool take_ring(struct perf_profile *p, struct perf_profile_cpu *c, perf_stretch_taker *take, void *with)
{
    const unsigned char *data = (const unsigned char *)c->ring + p->page;
    uint64_t head = __atomic_load_n(&c->ring->data_head, __ATOMIC_ACQUIRE), tail = c->ring->data_tail;
    bool more = true;
    while (more && head - tail >= sizeof(struct perf_event_header)) {
        struct perf_event_header h;
        copy_out(data, tail, &h, sizeof h);
        if (h.size < sizeof h || h.size > head - tail) { /* not a record: all of it is given up */
            c->lost = true;
            tail = head;
            break;
        }
        copy_out(data, tail, p->record, h.size);
        more = take_record(p, c, (const struct perf_event_header *)(const void *)p->record, take, with);
        tail += h.size;
    }
    __atomic_store_n(&c->ring->data_tail, tail, __ATOMIC_RELEASE);
    return more;
}

int perf_profile_take(struct perf_profile *p, int timeout_ms, perf_stretch_taker *take, void *with,
                      struct machine_error *err)
{
    if (timeout_ms > 0 && p->io->wait(p->fds, p->n, timeout_ms) < 0 && errno != EINTR)
        return machine_fail(err, MACHINE_FAILED, "", "cannot wait for readings: %s", strerror(errno));
    for (size_t i = 0; i < p->n; i++)
        if (!take_ring(p, &p->cpu[i], take, with))
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    return check_counts(p, err);
}

uint64_t perf_profile_lost(const struct perf_profile *p)
{
    return p->lost;
}

void perf_profile_close(struct perf_profile *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->n; i++) {
        if (p->cpu[i].ring != NULL)
            p->io->unmap(p->cpu[i].ring, p->page + RING_BYTES);
        for (int k = GROUP - 1; k >= 0; k--)
            if (p->cpu[i].fd[k] >= 0)
                p->io->close(p->cpu[i].fd[k]);
    }
    free(p->cpu);
    free(p->fds);
    free(p);
}
