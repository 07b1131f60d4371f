/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A made PMU. */
#include "tests/support/fake_pmu.h"

#include <errno.h>
#include <string.h>

#include "computer/cpu/tsc.h"

struct fake_pmu fake_pmu;
enum { FD = 1000 };

static uint64_t began; /* TSC */

uint64_t fake_pmu_cycles(uint64_t ticks)
{
    return ticks * 5 / 4;
}

static uint64_t cycles_now(void)
{
    return fake_pmu_cycles(tsc_now() - began);
}

static void change_level(unsigned level)
{
    uint64_t now = cycles_now();
    fake_pmu.level_cycles[fake_pmu.level] += now - fake_pmu.level_since;
    fake_pmu.throttled += level > fake_pmu.level ? 30000 : 0;
    fake_pmu.level = level;
    fake_pmu.level_since = now;
}

static uint64_t license_cycles(unsigned umask)
{
    static const unsigned masks[3] = {0x07, 0x18, 0x20};
    uint64_t sum = umask & 0x40 ? fake_pmu.throttled : 0;
    change_level(fake_pmu.level);
    for (int i = 0; i < 3; i++)
        sum += umask & masks[i] ? fake_pmu.level_cycles[i] : 0;
    return sum;
}

static uint64_t count_of(const struct perf_event_attr *a)
{
    if (a->type == PERF_TYPE_HARDWARE) {
        switch ((uint32_t)a->config) {
        case PERF_COUNT_HW_CPU_CYCLES:
            return cycles_now();
        case PERF_COUNT_HW_REF_CPU_CYCLES:
            return tsc_now() - began;
        default:
            return 2 * cycles_now();
        }
    }
    if (a->config == 0xc4 || a->config == 0xc5) /* branches, and the mispredicted ones */
        return cycles_now() / (a->config == 0xc4 ? 5 : 500);
    return (a->config & 0xff) == 0x28 ? license_cycles((unsigned)(a->config >> 8 & 0xff)) : cycles_now() / 4;
}

uint64_t fake_pmu_rdpmc(uint32_t counter)
{
    uint64_t mask = fake_pmu.width < 64 ? (1ull << fake_pmu.width) - 1 : UINT64_MAX, value = 0;
    fake_pmu.calls++;
    const struct fake_event *found = NULL;
    for (int i = 0; i < FAKE_EVENTS && found == NULL; i++) {
        const struct fake_event *e = &fake_pmu.event[i];
        found = e->mapped && e->page.index == counter + 1 ? e : NULL;
    }
    if (found == NULL) {
        fake_pmu.misread = true;
    } else {
        /* bits above the width are noise */
        value = ((count_of(&found->attr) - (uint64_t)found->page.offset) & mask) | (0xdeadbeef12345678ull & ~mask);
    }
    if (fake_pmu.at_rdpmc != NULL)
        fake_pmu.at_rdpmc(fake_pmu.calls);
    return value;
}

struct fake_event *fake_pmu_find(uint64_t config)
{
    for (int i = 0; i < FAKE_EVENTS; i++)
        if (fake_pmu.event[i].open && fake_pmu.event[i].attr.config == config)
            return &fake_pmu.event[i];
    return NULL;
}

/* ---- the system ---- */

/* RDPMC's number plus one, or 0: fixed events have counters of their own. */
static uint32_t give_counter(const struct perf_event_attr *a)
{
    if (a->type == PERF_TYPE_HARDWARE)
        return (1u << 30 | (uint32_t)a->config) + 1;
    for (uint32_t n = 0; n < fake_pmu.programmable; n++) {
        bool taken = false;
        for (int i = 0; i < FAKE_EVENTS; i++)
            taken = taken || (fake_pmu.event[i].open && fake_pmu.event[i].page.index == n + 1);
        if (!taken)
            return n + 1;
    }
    return 0;
}

static int fake_open(const struct perf_event_attr *attr, int cpu)
{
    int error = fake_pmu.refuse != NULL ? fake_pmu.refuse(attr) : 0;
    for (int i = 0; i < FAKE_EVENTS && error == 0; i++) {
        struct fake_event *e = &fake_pmu.event[i];
        if (e->open)
            continue;
        uint32_t index = give_counter(attr);
        *e = (struct fake_event){.open = true, .cpu = cpu, .attr = *attr};
        e->page.lock = 2;
        e->page.index = index;
        e->page.offset = (int64_t)(1ull << (fake_pmu.width - 1)); /* as perf sets a counter: to its lowest number */
        e->page.pmc_width = (uint16_t)fake_pmu.width;
        e->page.cap_user_rdpmc = fake_pmu.rdpmc_allowed;
        e->page.time_enabled = 5000;
        e->page.time_running = 4000;
        fake_pmu.opened++;
        return FD + i;
    }
    return error != 0 ? error : -EMFILE;
}

static struct perf_event_mmap_page *fake_map(int fd)
{
    errno = EPERM;
    fake_pmu.event[fd - FD].mapped = !fake_pmu.map_fails;
    return fake_pmu.map_fails ? NULL : &fake_pmu.event[fd - FD].page;
}

static void fake_unmap(struct perf_event_mmap_page *page)
{
    for (int i = 0; i < FAKE_EVENTS; i++)
        fake_pmu.event[i].mapped = fake_pmu.event[i].mapped && &fake_pmu.event[i].page != page;
}

static int fake_close(int fd)
{
    fake_pmu.closed++;
    fake_pmu.event[fd - FD].open = false;
    return 0;
}

/* Whatever the payload is, a scalar one takes its time: wide code need not run on the CPU that the test runs on. */
static void fake_run(const struct payload *p, uint64_t ticks)
{
    uint64_t end = tsc_now() + ticks;
    change_level(fake_pmu.level_of[p->kernel->width <= 128 ? 0 : p->kernel->width == 256 ? 1 : 2]);
    while (tsc_now() < end) {
    }
}

void fake_pmu_identity(struct cpu_leaves *l, const char *vendor, unsigned family, unsigned model, unsigned stepping)
{
    unsigned base = family > 0xf ? 0xf : family;
    memcpy(&l->basic.ebx, vendor, 4);
    memcpy(&l->basic.edx, vendor + 4, 4);
    memcpy(&l->basic.ecx, vendor + 8, 4);
    l->version.eax = (family - base) << 20 | (model >> 4) << 16 | base << 8 | (model & 0xf) << 4 | stepping;
}

void fake_pmu_reset(void)
{
    memset(&fake_pmu, 0, sizeof fake_pmu);
    fake_pmu.programmable = 4;
    fake_pmu.width = 48;
    fake_pmu.rdpmc_allowed = true;
    for (unsigned i = 0; i < 3; i++)
        fake_pmu.level_of[i] = i;
    began = tsc_now();
}

void fake_pmu_system(struct perf_system *out, struct cpu_leaves *leaves)
{
    cpu_read_leaves(leaves); /* the TSC is that of this CPU */
    fake_pmu_identity(leaves, "GenuineIntel", 6, 0x55, 4);
    leaves->structured.edx &= ~(1u << 24);                     /* no AMX: a Skylake-SP has none */
    leaves->counters = (struct cpuid_regs){.eax = 4 << 8 | 4}; /* version 4, four general counters */
    *out = (struct perf_system){
        .open = fake_open,
        .map = fake_map,
        .unmap = fake_unmap,
        .close = fake_close,
        .run = fake_run,
        .samplers = &fake_samplers,
        .sys = "/sys",
        .data_dir = "data",
        .leaves = leaves,
        .license_features = KERNEL_NEEDS_AVX | KERNEL_NEEDS_AVX2 | KERNEL_NEEDS_FMA | KERNEL_NEEDS_AVX512F,
    };
}
