/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/cpu/caches.h"

#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/cpu/cpu.h"

enum { CACHES_MAX = 16, CACHE_DATA = 1, CACHE_INSTRUCTION = 2, CACHE_UNIFIED = 3 };

static void take_cache(struct cpu_caches *out, unsigned level, uint64_t bytes, unsigned sharers, unsigned threads)
{
    unsigned cores = threads > 0 && sharers > threads ? sharers / threads : 1;

    if (level == 1)
        out->l1 = bytes;
    else if (level == 2)
        out->l2 = bytes;
    else if (level == 3) {
        out->l3 = bytes;
        out->share = bytes / cores;
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

static void ask_cpuid(struct cpu_caches *out)
{
    unsigned leaf = __get_cpuid_max(0x80000000, NULL) >= 0x8000001d ? 0x8000001d : 4;
    struct cpuid_regs r = {0};

    __cpuid_count(leaf, 0, r.eax, r.ebx, r.ecx, r.edx);
    if ((r.eax & 31) == 0)
        leaf = 4;
    if (__get_cpuid_max(0, NULL) < leaf && leaf == 4)
        return;
    unsigned threads = 1;
    for (unsigned i = 0; i < CACHES_MAX; i++) {
        __cpuid_count(leaf, i, r.eax, r.ebx, r.ecx, r.edx);
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

static unsigned count_sharers(const char *sys, const char *path)
{
    char file[160], text[4096];
    struct cpu_mask cpus;
    unsigned n = 0;

    snprintf(file, sizeof file, "%s/shared_cpu_list", path);
    if (cpu_read_text(sys, file, text, sizeof text) < 0 || cpu_mask_parse(text, &cpus) != 0)
        return 1;
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++)
        n += cpu_mask_has(&cpus, cpu);
    return n > 0 ? n : 1;
}

static void read_index(const char *sys, int cpu, unsigned index, struct cpu_caches *out)
{
    char path[120], file[160], type[32], size[32];
    unsigned threads;

    snprintf(path, sizeof path, "devices/system/cpu/cpu%d/cache/index%u", cpu, index);
    long level = cpu_read_number(sys, 0, "%s/level", path);
    snprintf(file, sizeof file, "%s/type", path);
    if (level < 1 || level > 3 || cpu_read_text(sys, file, type, sizeof type) < 0 || strcmp(type, "Instruction") == 0)
        return;
    snprintf(file, sizeof file, "%s/size", path);
    if (cpu_read_text(sys, file, size, sizeof size) < 0)
        return;
    /* the threads of a core share its first cache, whose index is 0 */
    snprintf(file, sizeof file, "devices/system/cpu/cpu%d/cache/index0", cpu);
    threads = count_sharers(sys, file);
    take_cache(out, (unsigned)level, parse_size(size), count_sharers(sys, path), threads);
}

static uint64_t memory_available(const char *proc)
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
        ask_cpuid(out);
    if (proc != NULL)
        out->memory = memory_available(proc);
}
