/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pinned group is on the CPU's counters as a whole, or in a state of error: what fits is found by trying, from all
 * events to those that are needed.
 */
#include "drivers/perf/perf_groups.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct perf_groups {
    struct perf_profile_io io;
    size_t n;
    unsigned given_up;
    int *fds; /* by CPU and event; -1: not open */
};

static void close_all(struct perf_groups *g)
{
    for (size_t i = CPU_LIMIT * g->n; i-- > 0;) {
        if (g->fds[i] >= 0)
            g->io.close(g->fds[i]);
        g->fds[i] = -1;
    }
}

static int open_one(struct perf_groups *g, const struct perf_pmu *pmu, int cpu, const struct perf_groups_event *event,
                    int *fd, struct machine_error *err)
{
    struct perf_event_attr attr;
    const int leader = g->fds[(size_t)cpu * g->n];
    char name[60];
    perf_fill_attr(pmu, event->id, event->code, &attr);
    attr.pinned = attr.disabled = leader < 0; /* the others follow it */
    attr.exclude_kernel = 0;
    *fd = g->io.open(&attr, cpu, leader);
    if (*fd >= 0)
        return MACHINE_OK;
    perf_counter_name(event->id, event->code, name, sizeof name);
    const char *remedy = errno == EACCES || errno == EPERM    ? "run as root"
                         : errno == EMFILE || errno == ENFILE ? "raise ulimit -n"
                         : errno == EINVAL                    ? perf_room_to_free(perf_room_watchdog(NULL))
                                                              : "characterize --list machines shows why";
    return machine_fail(err, MACHINE_CANNOT, remedy, "perf_event_open cannot count %s of all tasks on CPU %d: %s", name,
                        cpu, strerror(errno));
}

/* The group of a CPU, of events below a rank. */
static int open_group(struct perf_groups *g, const struct perf_pmu *pmu, int cpu,
                      const struct perf_groups_event *events, unsigned below, struct machine_error *err)
{
    int *const fds = g->fds + (size_t)cpu * g->n;
    uint64_t values[3];
    int status = MACHINE_OK;
    for (size_t i = 0; i < g->n && status == MACHINE_OK; i++)
        if (events[i].rank < below)
            status = open_one(g, pmu, cpu, &events[i], &fds[i], err);
    if (status != MACHINE_OK)
        return status;
    if (g->io.ioctl(fds[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) != 0 ||
        g->io.read(fds[0], values, sizeof values) != (ssize_t)sizeof values) /* nothing: in a state of error */
        return machine_fail(err, MACHINE_CANNOT, perf_room_to_free(perf_room_watchdog(NULL)),
                            "no hardware counters are free on CPU %d", cpu);
    return MACHINE_OK;
}

int perf_groups_open(const struct perf_profile_io *io, const char *sys, const struct cpu_mask *cpus,
                     const struct perf_groups_event *events, size_t n, struct perf_groups **out,
                     struct machine_error *err)
{
    struct perf_groups *g = calloc(1, sizeof *g);
    unsigned highest = 0;
    int status = MACHINE_CANNOT;
    *out = NULL;
    if (g != NULL)
        *g = (struct perf_groups){.io = *io, .n = n, .fds = malloc(CPU_LIMIT * n * sizeof *g->fds)};
    if (g == NULL || g->fds == NULL) {
        free(g);
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    }
    memset(g->fds, -1, CPU_LIMIT * n * sizeof *g->fds);
    perf_raise_files();
    for (size_t i = 0; i < n; i++)
        highest = events[i].rank > highest ? events[i].rank : highest;
    for (unsigned below = highest + 1; below > 0 && status == MACHINE_CANNOT; below--) {
        close_all(g);
        g->given_up = below > highest ? UINT_MAX : below;
        status = MACHINE_OK;
        for (int cpu = 0; cpu < CPU_LIMIT && status == MACHINE_OK; cpu++) {
            struct perf_pmu pmu;
            if (!cpu_mask_has(cpus, cpu))
                continue;
            perf_find_pmu(sys, cpu, &pmu);
            status = open_group(g, &pmu, cpu, events, below, err);
        }
    }
    if (status == MACHINE_OK)
        *out = g;
    else
        perf_groups_close(g);
    return status;
}

unsigned perf_groups_given_up(const struct perf_groups *g)
{
    return g->given_up;
}

int perf_groups_fd(const struct perf_groups *g, int cpu, size_t event)
{
    return g->fds[(size_t)cpu * g->n + event];
}

void perf_groups_close(struct perf_groups *g)
{
    if (g == NULL)
        return;
    close_all(g);
    free(g->fds);
    free(g);
}
