/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPUID: which processor this is. */
#include "computer/cpu/cpu.h"

#include <cpuid.h>
#include <stdio.h>
#include <string.h>

#include "util/sourced_ini.h"

void cpu_cpuid_here(uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
    __cpuid_count(leaf, subleaf, out->eax, out->ebx, out->ecx, out->edx);
}

/*
 * A leaf above the highest one must not be requested: Intel CPUs then answer with the data of the highest leaf (Intel
 * SDM vol. 2A, CPUID), which is how a TSC of 0.1 MHz comes about.
 */
static void read_up_to(cpuid_fn *cpuid, uint32_t highest, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
    *out = (struct cpuid_regs){0};
    if (leaf <= highest)
        cpuid(leaf, subleaf, out);
}

void cpu_read_leaf(cpuid_fn *cpuid, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
    struct cpuid_regs first;
    cpuid(leaf & 0xf0000000, 0, &first);
    read_up_to(cpuid, first.eax, leaf, subleaf, out);
}

void cpu_ask_leaves(cpuid_fn *cpuid, struct cpu_leaves *out)
{
    struct cpuid_regs extended;
    memset(out, 0, sizeof *out);
    cpuid(0, 0, &out->basic);
    uint32_t highest = out->basic.eax;
    read_up_to(cpuid, highest, 1, 0, &out->version);
    read_up_to(cpuid, highest, 7, 0, &out->structured);
    read_up_to(cpuid, highest, 0xa, 0, &out->counters);
    read_up_to(cpuid, highest, 0x15, 0, &out->tsc);
    read_up_to(cpuid, highest, 0x16, 0, &out->frequency);
    if (out->version.ecx >> 31) {
        cpuid(0x40000000, 0, &out->hypervisor);
        read_up_to(cpuid, out->hypervisor.eax, 0x40000010, 0, &out->hv_timing);
    }
    cpuid(0x80000000, 0, &extended);
    for (uint32_t i = 0; i < 3; i++)
        read_up_to(cpuid, extended.eax, 0x80000002 + i, 0, &out->brand[i]);
    read_up_to(cpuid, extended.eax, 0x80000007, 0, &out->power);
}

void cpu_read_leaves(struct cpu_leaves *out)
{
    cpu_ask_leaves(cpu_cpuid_here, out);
}

char *cpu_info_value(char *line, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(line, name, length) != 0)
        return NULL;
    line += length + strspn(line + length, " \t");
    return *line == ':' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

/* At most `most` bytes, without blanks around them. */
static void copy_text(char *out, size_t size, const void *text, size_t most)
{
    snprintf(out, size, "%.*s", (int)most, (const char *)text);
    const char *trimmed = sourced_ini_trim(out);
    memmove(out, trimmed, strlen(trimmed) + 1);
    /* a hypervisor may put anything there; it ends up in file headers */
    for (char *p = out; *p != '\0'; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
}

static void identify_names(const struct cpu_leaves *l, struct cpu_identity *out)
{
    const uint32_t vendor[] = {l->basic.ebx, l->basic.edx, l->basic.ecx};
    const uint32_t host[] = {l->hypervisor.ebx, l->hypervisor.ecx, l->hypervisor.edx};
    copy_text(out->vendor, sizeof out->vendor, vendor, sizeof vendor);
    copy_text(out->brand, sizeof out->brand, l->brand, sizeof l->brand);
    if (out->brand[0] == '\0')
        memcpy(out->brand, out->vendor, sizeof out->vendor);
    out->intel = strcmp(out->vendor, "GenuineIntel") == 0;
    out->hypervisor = l->version.ecx >> 31;
    if (out->hypervisor)
        copy_text(out->hypervisor_name, sizeof out->hypervisor_name, host, sizeof host);
}

void cpu_identify(const struct cpu_leaves *l, struct cpu_identity *out)
{
    uint32_t signature = l->version.eax;
    unsigned base = signature >> 8 & 0xf;
    memset(out, 0, sizeof *out);
    identify_names(l, out);
    out->family = base == 0xf ? base + (signature >> 20 & 0xff) : base;
    out->model = signature >> 4 & 0xf;
    if (base == 6 || base == 0xf)
        out->model |= (signature >> 16 & 0xf) << 4;
    out->stepping = signature & 0xf;
    out->general_counters = (l->counters.eax & 0xff) != 0 ? l->counters.eax >> 8 & 0xff : 0;
    snprintf(out->signature, sizeof out->signature, "%02X_%02XH-%u", out->family, out->model, out->stepping);
}

/*
 * Intel family 6 models that were never made with AMX, or not even with AVX-512: families and models as in the mapfile
 * of Intel's perfmon event lists and in Linux, arch/x86/include/asm/intel-family.h. Alder and Raptor Lake stand among
 * those with AVX-512 because early microcode left it on.
 */
struct known_part {
    unsigned char model;
    bool avx512;
    const char *name;
};
static const struct known_part before_amx[] = {
    {0x3c, false, "Haswell"},        {0x45, false, "Haswell"},      {0x46, false, "Haswell"},
    {0x3f, false, "Haswell-EP"},     {0x3d, false, "Broadwell"},    {0x47, false, "Broadwell"},
    {0x56, false, "Broadwell-DE"},   {0x4f, false, "Broadwell-EP"}, {0x4e, false, "Skylake client"},
    {0x5e, false, "Skylake client"}, {0x8e, false, "Kaby Lake"},    {0x9e, false, "Kaby Lake"},
    {0xa5, false, "Comet Lake"},     {0xa6, false, "Comet Lake"},   {0x55, true, "Skylake-SP"},
    {0x66, true, "Cannon Lake"},     {0x7d, true, "Ice Lake"},      {0x7e, true, "Ice Lake"},
    {0x6a, true, "Ice Lake-SP"},     {0x6c, true, "Ice Lake-D"},    {0x8c, true, "Tiger Lake"},
    {0x8d, true, "Tiger Lake"},      {0xa7, true, "Rocket Lake"},   {0x97, true, "Alder Lake"},
    {0x9a, true, "Alder Lake"},      {0xb7, true, "Raptor Lake"},   {0xba, true, "Raptor Lake"},
    {0xbf, true, "Raptor Lake"},
};

bool cpu_contradicts(const struct cpu_leaves *l, char *why, size_t size)
{
    struct cpu_identity id;
    bool avx512 = l->structured.ebx >> 16 & 1; /* CPUID 7.0 EBX[16] AVX512F, EDX[24] AMX-TILE */
    bool amx = l->structured.edx >> 24 & 1;
    cpu_identify(l, &id);
    if (!id.intel || id.family != 6)
        return false;
    for (size_t i = 0; i < sizeof before_amx / sizeof *before_amx; i++) {
        const struct known_part *p = &before_amx[i];
        if (p->model == id.model && (amx || (avx512 && !p->avx512))) {
            snprintf(why, size,
                     "the %s reports a model number that does not match its features (%02X_%02XH is %s, which has no "
                     "%s): tables keyed by model do not apply",
                     id.hypervisor ? "hypervisor" : "CPU", id.family, id.model, p->name, amx ? "AMX" : "AVX-512");
            return true;
        }
    }
    return false;
}
