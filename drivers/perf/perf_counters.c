/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening counters with perf_event_open(2). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drivers/perf/perf.h"
#include "computer/cpu/tsc.h"

/* ---- the running kernel ---- */

static int real_open(const struct perf_event_attr *attr, int cpu)
{
    long fd = syscall(SYS_perf_event_open, attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

static int real_open_cpu(const struct perf_event_attr *attr, int cpu)
{
    long fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

static struct perf_event_mmap_page *real_map(int fd)
{
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
    return page == MAP_FAILED ? NULL : page;
}

static void real_unmap(struct perf_event_mmap_page *page)
{
    munmap(page, (size_t)sysconf(_SC_PAGESIZE));
}

static void real_run(const struct payload *p, uint64_t ticks)
{
    p->run(1, tsc_now() + ticks, NULL, p->dirty, NULL);
    kernel_clean(p);
}

void perf_real_system(struct perf_system *out)
{
    *out = (struct perf_system){.open = real_open,
                                .open_cpu = real_open_cpu,
                                .map = real_map,
                                .unmap = real_unmap,
                                .close = close,
                                .run = real_run,
                                .samplers = &perf_samplers,
                                .sys = "/sys"};
}

/* ---- which PMU ---- */

/*
 * Hybrid parts have a PMU for each kind of core, with the list of its CPUs (Linux, arch/x86/events/intel/core.c,
 * "cpu_core" and "cpu_atom"); the generic events then need its type in their upper half (PERF_PMU_TYPE_SHIFT).
 */
void perf_find_pmu(const char *sys, int cpu, struct perf_pmu *out)
{
    static const char *const hybrid[] = {"cpu_core", "cpu_atom"};
    struct cpu_mask cpus;

    for (size_t i = 0; i < 2; i++) {
        long type = cpu_read_number(sys, -1, "bus/event_source/devices/%s/type", hybrid[i]);
        if (type >= 0 && cpu_read_list(sys, &cpus, "bus/event_source/devices/%s/cpus", hybrid[i]) &&
            cpu_mask_has(&cpus, cpu)) {
            *out = (struct perf_pmu){.type = (uint32_t)type, .hybrid = true};
            snprintf(out->name, sizeof out->name, "%s", hybrid[i]);
            return;
        }
    }
    *out = (struct perf_pmu){.name = "cpu", .type = PERF_TYPE_RAW};
}

void perf_fill_attr(const struct perf_pmu *pmu, enum counter_id id, uint64_t code, struct perf_event_attr *out)
{
    uint64_t generic = id == COUNTER_CYCLES       ? PERF_COUNT_HW_CPU_CYCLES
                       : id == COUNTER_REF_CYCLES ? PERF_COUNT_HW_REF_CPU_CYCLES
                                                  : PERF_COUNT_HW_INSTRUCTIONS;
    bool fixed = id == COUNTER_CYCLES || id == COUNTER_REF_CYCLES || id == COUNTER_INSTRUCTIONS;

    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    out->type = fixed ? PERF_TYPE_HARDWARE : pmu->type;
    /* a code is laid out like the raw config of x86 PMUs (/sys/bus/event_source/devices/cpu/format) */
    out->config = fixed ? generic | (pmu->hybrid ? (uint64_t)pmu->type << PERF_PMU_TYPE_SHIFT : 0) : code;
    out->pinned = 1;
    /* perf_event_paranoid = 2 allows this to everybody */
    out->exclude_kernel = 1;
    out->exclude_hv = 1;
    out->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
}

/* ---- why no counter is free ---- */

int perf_room_watchdog(const char *proc)
{
    long value = cpu_read_number(proc != NULL ? proc : "/proc", -1, "sys/kernel/nmi_watchdog");

    return value == 0 || value == 1 ? (int)value : -1;
}

#define WATCHDOG_OFF "as root: sysctl kernel.nmi_watchdog=0"
#define FREE_ON WATCHDOG_OFF " (the NMI watchdog holds a counter; =1 puts it back)"
#define FREE_OFF "stop other users of the counters (perf)"
#define FREE_UNKNOWN FREE_OFF ", or " WATCHDOG_OFF
#define RUNS "count in several runs: each --event comes before the license levels"

const char *perf_room_to_free(int watchdog)
{
    return watchdog > 0 ? FREE_ON ", or " FREE_OFF : watchdog == 0 ? FREE_OFF : FREE_UNKNOWN;
}

const char *perf_room_remedy(int watchdog)
{
    return watchdog > 0    ? FREE_ON ", or " RUNS
           : watchdog == 0 ? RUNS "; or " FREE_OFF
                           : RUNS "; or stop other users of the counters (perf; " WATCHDOG_OFF ")";
}

void perf_room_text(unsigned events, unsigned general, char *out, size_t size)
{
    out[0] = '\0';
    if (events > 0 && general > 0)
        snprintf(out, size, " (%u events; this logical CPU has %u general-purpose counters)", events, general);
}

/* ---- counters ---- */

void perf_counter_name(enum counter_id id, uint64_t code, char *out, size_t size)
{
    static const char *const names[COUNTER_IDS] = {[COUNTER_CYCLES] = "cycles",
                                                   [COUNTER_REF_CYCLES] = "reference cycles",
                                                   [COUNTER_INSTRUCTIONS] = "instructions",
                                                   [COUNTER_LVL0] = "license level 0",
                                                   [COUNTER_LVL1] = "license level 1",
                                                   [COUNTER_LVL2] = "license level 2",
                                                   [COUNTER_THROTTLE] = "throttled cycles"};
    char text[EVENT_COLUMN_MAX];

    event_code_format(code, text, sizeof text);
    if (names[id] != NULL)
        snprintf(out, size, "%s", names[id]);
    else
        snprintf(out, size, "event %s", text);
}

int perf_counter_open(const struct perf_system *system, const struct perf_pmu *pmu, int cpu, enum counter_id id,
                      uint64_t code, struct perf_counter *out, struct machine_error *err)
{
    struct perf_event_attr attr;
    char name[60];

    perf_counter_name(id, code, name, sizeof name);
    perf_fill_attr(pmu, id, code, &attr);
    int fd = system->open(&attr, cpu);
    if (fd < 0) {
        const char *remedy = fd == -EACCES || fd == -EPERM ? "--list machines shows why and what to do"
                             : fd == -EMFILE               ? "raise ulimit -n"
                                                           : "do without it";
        return machine_fail(err, MACHINE_CANNOT, remedy, "perf_event_open cannot count %s on CPU %d (PMU %s): %s", name,
                            cpu, pmu->name, strerror(-fd));
    }
    struct perf_event_mmap_page *page = system->map(fd);
    if (page == NULL) {
        int error = errno;
        system->close(fd);
        return machine_fail(err, MACHINE_CANNOT, "raise ulimit -l, or as root: sysctl kernel.perf_event_mlock_kb=1024",
                            "the counter page for %s cannot be mapped: %s", name, strerror(error));
    }
    *out = (struct perf_counter){.fd = fd, .page = page};
    return MACHINE_OK;
}

void perf_counter_close(const struct perf_system *system, struct perf_counter *c)
{
    if (c->page != NULL) {
        system->unmap(c->page);
        system->close(c->fd);
    }
    c->page = NULL;
}

int perf_counter_check(const struct perf_system *system, const struct perf_counter *c, enum counter_id id,
                       uint64_t code, unsigned events, struct machine_error *err)
{
    char name[60], room[100];

    perf_counter_name(id, code, name, sizeof name);
    if (!c->page->cap_user_rdpmc) {
        return machine_fail(err, MACHINE_CANNOT, "as root: echo 1 > /sys/bus/event_source/devices/cpu/rdpmc",
                            "the kernel counts %s, but user space may not read it by RDPMC", name);
    }
    if (c->page->index == 0) {
        perf_room_text(events, system->general_counters, room, sizeof room);
        return machine_fail(err, MACHINE_CANNOT, perf_room_remedy(perf_room_watchdog(system->proc)),
                            "no hardware counter is free for %s%s", name, room);
    }
    if (c->page->pmc_width < 1 || c->page->pmc_width > 64) {
        return machine_fail(err, MACHINE_CANNOT, "", "the kernel reports the counter for %s as %u bits wide", name,
                            c->page->pmc_width);
    }
    return MACHINE_OK;
}
