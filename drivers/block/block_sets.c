/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/block/block_sets.h"

#include <string.h>

#include "kernels/kernels.h"

enum { EAX, EBX, ECX, EDX };
enum block_leaf { NO_LEAF, OF_VERSION, OF_STRUCTURED, OF_STRUCTURED_1, OF_EXTENDED };
static const struct {
    unsigned leaf, subleaf;
} leaves[] = {
    [OF_VERSION] = {1, 0}, [OF_STRUCTURED] = {7, 0}, [OF_STRUCTURED_1] = {7, 1}, [OF_EXTENDED] = {0x80000001, 0}};

/* What every x86-64 has. */
static const char *const base[] = {"I86",          "I186",  "I386", "I486",     "I486REAL",
                                   "PENTIUMREAL",  "PPRO",  "CMOV", "LONGMODE", "FAT_NOP",
                                   "PREFETCH_NOP", "PAUSE", "SSE",  "SSE2",     "SSE_PREFETCH"};

/* The bit in CPUID, or no leaf: a feature alone (Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E). */
struct block_isa {
    const char *name;
    unsigned features;
    enum block_leaf leaf;
    unsigned reg, bit;
};

static const struct block_isa isas[] = {
    {"LAHF", 0, OF_EXTENDED, ECX, 0},
    {"CMPXCHG16B", 0, OF_VERSION, ECX, 13},
    {"SSE3", 0, OF_VERSION, ECX, 0},
    {"PCLMULQDQ", 0, OF_VERSION, ECX, 1},
    {"SSSE3", 0, OF_VERSION, ECX, 9},
    {"SSE4", 0, OF_VERSION, ECX, 19},
    {"SSE42", 0, OF_VERSION, ECX, 20},
    {"MOVBE", 0, OF_VERSION, ECX, 22},
    {"POPCNT", 0, OF_VERSION, ECX, 23},
    {"AES", 0, OF_VERSION, ECX, 25},
    {"LZCNT", 0, OF_EXTENDED, ECX, 5},
    {"BMI1", 0, OF_STRUCTURED, EBX, 3},
    {"BMI2", 0, OF_STRUCTURED, EBX, 8},
    {"ADOX_ADCX", 0, OF_STRUCTURED, EBX, 19},
    {"SHA", 0, OF_STRUCTURED, EBX, 29},
    {"GFNI", 0, OF_STRUCTURED, ECX, 8},
    {.name = "AVX", .features = KERNEL_NEEDS_AVX},
    {.name = "AVX2", .features = KERNEL_NEEDS_AVX2},
    {.name = "AVX2GATHER", .features = KERNEL_NEEDS_AVX2},
    {.name = "FMA", .features = KERNEL_NEEDS_FMA},
    {"F16C", KERNEL_NEEDS_AVX, OF_VERSION, ECX, 29},
    {"AVXAES", KERNEL_NEEDS_AVX, OF_VERSION, ECX, 25},
    {"AVX_GFNI", KERNEL_NEEDS_AVX, OF_STRUCTURED, ECX, 8},
    {"VAES", KERNEL_NEEDS_AVX, OF_STRUCTURED, ECX, 9},
    {"VPCLMULQDQ", KERNEL_NEEDS_AVX, OF_STRUCTURED, ECX, 10},
    {"AVX_VNNI", KERNEL_NEEDS_AVX2, OF_STRUCTURED_1, EAX, 4},
    {.name = "AVX512F", .features = KERNEL_NEEDS_AVX512F},
    {"AVX512DQ", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, EBX, 17},
    {"AVX512_IFMA", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, EBX, 21},
    {"AVX512CD", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, EBX, 28},
    {"AVX512BW", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, EBX, 30},
    {"AVX512_VBMI", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 1},
    {"AVX512_VBMI2", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 6},
    {"AVX512_GFNI", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 8},
    {"AVX512_VAES", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 9},
    {"AVX512_VPCLMULQDQ", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 10},
    {"AVX512_VNNI", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 11},
    {"AVX512_BITALG", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 12},
    {"AVX512_VPOPCNTDQ", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 14},
    {"AVX512_VP2INTERSECT", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, EDX, 8},
    {"AVX512_FP16", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, EDX, 23},
    {"AVX512_BF16", KERNEL_NEEDS_AVX512F, OF_STRUCTURED_1, EAX, 5},
};

static bool cpu_has(const struct block_isa *s, cpuid_fn *cpuid)
{
    struct cpuid_regs r;
    if (s->leaf == NO_LEAF)
        return true;
    cpu_read_leaf(cpuid, leaves[s->leaf].leaf, leaves[s->leaf].subleaf, &r);
    const uint32_t regs[] = {[EAX] = r.eax, [EBX] = r.ebx, [ECX] = r.ecx, [EDX] = r.edx};
    return (regs[s->reg] >> s->bit & 1) != 0;
}

bool block_set_known(const char *isa, cpuid_fn *cpuid, unsigned *features, bool *here)
{
    static const char *const ends[] = {"_128", "_256", "_512", "_128N", "_SCALAR", "_KOP"};
    const char *end = strncmp(isa, "AVX512", 6) == 0 ? strrchr(isa, '_') : NULL;
    size_t length = strlen(isa);
    bool narrow = false;
    for (size_t i = 0; i < sizeof base / sizeof *base; i++)
        if (strcmp(base[i], isa) == 0)
            return *here = true;
    for (size_t i = 0; end != NULL && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(end, ends[i]) == 0) {
            length = (size_t)(end - isa);
            narrow = i < 2;
        }
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (strlen(isas[i].name) == length && strncmp(isas[i].name, isa, length) == 0) {
            *features |= isas[i].features | (narrow ? KERNEL_NEEDS_AVX512VL : 0u);
            *here = cpu_has(&isas[i], cpuid);
            return true;
        }
    return false;
}
