/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sizes of caches, from sysfs or CPUID. */
#include "computer/cpu/caches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHES_MAX = 16, CACHE_DATA = 1, CACHE_INSTRUCTION = 2, CACHE_UNIFIED = 3 };

static void take_cache(struct cpu_caches *out, long level, uint64_t bytes, unsigned sharers, unsigned threads)
{
    unsigned cores = threads > 0 ? sharers / threads : 1;
    if (level == 1)
        out->l1 = bytes;
    else if (level == 2)
        out->l2 = bytes;
    else if (level == 3) {
        out->l3 = bytes;
        out->share = bytes / (cores > 0 ? cores : 1);
    }
}

bool cpu_caches_decode(const struct cpuid_regs *r, unsigned threads, struct cpu_caches *out)
{
    unsigned type = r->eax & 31;
    uint64_t bytes = (uint64_t)((r->ebx >> 22) + 1) * ((r->ebx >> 12 & 0x3ff) + 1) * ((r->ebx & 0xfff) + 1) *
                     ((uint64_t)r->ecx + 1);
    if (type == 0)
        return false;
    if (type == CACHE_DATA || type == CACHE_UNIFIED)
        take_cache(out, r->eax >> 5 & 7, bytes, (r->eax >> 14 & 0xfff) + 1, threads);
    return true;
}

void cpu_caches_ask(cpuid_fn *cpuid, struct cpu_caches *out)
{
    const uint32_t of_amd = 0x8000001d;
    struct cpuid_regs r;
    unsigned threads = 1;
    cpu_read_leaf(cpuid, of_amd, 0, &r);
    const uint32_t leaf = (r.eax & 31) != 0 ? of_amd : 4;
    for (unsigned i = 0; i < CACHES_MAX; i++) {
        cpu_read_leaf(cpuid, leaf, i, &r);
        if (i == 0)
            threads = (r.eax >> 14 & 0xfff) + 1;
        if (!cpu_caches_decode(&r, threads, out))
            return;
    }
}

/* "48K", "2M"; 0 where it is no size */
static uint64_t parse_size(const char *text)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    return end == text || n > UINT64_MAX >> shift >> 1 ? 0 : (uint64_t)n << shift;
}

static unsigned count_sharers(const char *sys, int cpu, unsigned index)
{
    struct cpu_mask cpus;
    return cpu_read_list(sys, &cpus, "devices/system/cpu/cpu%d/cache/index%u/shared_cpu_list", cpu, index)
               ? cpu_mask_count(&cpus)
               : 1;
}

static void read_index(const char *sys, int cpu, unsigned index, struct cpu_caches *out)
{
    static const char path[] = "devices/system/cpu/cpu%d/cache/index%u/%s";
    char type[32], size[32];
    long level = cpu_read_number(sys, 0, path, cpu, index, "level");
    if (cpu_read_text(sys, type, sizeof type, path, cpu, index, "type") < 0 || strcmp(type, "Instruction") == 0 ||
        cpu_read_text(sys, size, sizeof size, path, cpu, index, "size") < 0)
        return;
    /* the threads of a core share its first cache, whose index is 0 */
    take_cache(out, level, parse_size(size), count_sharers(sys, cpu, index), count_sharers(sys, cpu, 0));
}

uint64_t cpu_memory_available(const char *proc)
{
    char path[300], line[200];
    unsigned long long kib = 0;
    snprintf(path, sizeof path, "%s/meminfo", proc);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return 0;
    while (fgets(line, sizeof line, in) != NULL && sscanf(line, "MemAvailable: %llu", &kib) != 1)
        ;
    fclose(in);
    return kib > UINT64_MAX >> 11 ? 0 : (uint64_t)kib << 10;
}

void cpu_caches_read(const char *sys, const char *proc, int cpu, struct cpu_caches *out)
{
    *out = (struct cpu_caches){0};
    for (unsigned i = 0; i < CACHES_MAX; i++)
        read_index(sys, cpu, i, out);
    if (out->l1 == 0 && strcmp(sys, "/sys") == 0)
        cpu_caches_ask(cpu_cpuid_here, out);
    if (proc != NULL)
        out->memory = cpu_memory_available(proc);
}
