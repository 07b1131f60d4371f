/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/block/block_sets.h"

#include <cpuid.h>
#include <string.h>

#include "kernels/kernels.h"

enum { EAX, EBX, ECX, EDX };

/* CPUID leaf 0: what every x86-64 has, or a feature alone (Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E). */
struct block_isa {
    const char *name;
    unsigned features, leaf, subleaf, reg, bit;
};

static const struct block_isa isas[] = {
    {"I86", 0, 0, 0, 0, 0},
    {"I186", 0, 0, 0, 0, 0},
    {"I386", 0, 0, 0, 0, 0},
    {"I486", 0, 0, 0, 0, 0},
    {"I486REAL", 0, 0, 0, 0, 0},
    {"PENTIUMREAL", 0, 0, 0, 0, 0},
    {"PPRO", 0, 0, 0, 0, 0},
    {"CMOV", 0, 0, 0, 0, 0},
    {"LONGMODE", 0, 0, 0, 0, 0},
    {"FAT_NOP", 0, 0, 0, 0, 0},
    {"PREFETCH_NOP", 0, 0, 0, 0, 0},
    {"PAUSE", 0, 0, 0, 0, 0},
    {"SSE", 0, 0, 0, 0, 0},
    {"SSE2", 0, 0, 0, 0, 0},
    {"SSE_PREFETCH", 0, 0, 0, 0, 0},
    {"LAHF", 0, 0x80000001, 0, ECX, 0},
    {"CMPXCHG16B", 0, 1, 0, ECX, 13},
    {"SSE3", 0, 1, 0, ECX, 0},
    {"PCLMULQDQ", 0, 1, 0, ECX, 1},
    {"SSSE3", 0, 1, 0, ECX, 9},
    {"SSE4", 0, 1, 0, ECX, 19},
    {"SSE42", 0, 1, 0, ECX, 20},
    {"MOVBE", 0, 1, 0, ECX, 22},
    {"POPCNT", 0, 1, 0, ECX, 23},
    {"AES", 0, 1, 0, ECX, 25},
    {"LZCNT", 0, 0x80000001, 0, ECX, 5},
    {"BMI1", 0, 7, 0, EBX, 3},
    {"BMI2", 0, 7, 0, EBX, 8},
    {"ADOX_ADCX", 0, 7, 0, EBX, 19},
    {"SHA", 0, 7, 0, EBX, 29},
    {"GFNI", 0, 7, 0, ECX, 8},
    {"AVX", KERNEL_NEEDS_AVX, 0, 0, 0, 0},
    {"AVX2", KERNEL_NEEDS_AVX2, 0, 0, 0, 0},
    {"AVX2GATHER", KERNEL_NEEDS_AVX2, 0, 0, 0, 0},
    {"FMA", KERNEL_NEEDS_FMA, 0, 0, 0, 0},
    {"F16C", KERNEL_NEEDS_AVX, 1, 0, ECX, 29},
    {"AVXAES", KERNEL_NEEDS_AVX, 1, 0, ECX, 25},
    {"AVX_GFNI", KERNEL_NEEDS_AVX, 7, 0, ECX, 8},
    {"VAES", KERNEL_NEEDS_AVX, 7, 0, ECX, 9},
    {"VPCLMULQDQ", KERNEL_NEEDS_AVX, 7, 0, ECX, 10},
    {"AVX_VNNI", KERNEL_NEEDS_AVX2, 7, 1, EAX, 4},
    {"AVX512F", KERNEL_NEEDS_AVX512F, 0, 0, 0, 0},
    {"AVX512DQ", KERNEL_NEEDS_AVX512F, 7, 0, EBX, 17},
    {"AVX512_IFMA", KERNEL_NEEDS_AVX512F, 7, 0, EBX, 21},
    {"AVX512CD", KERNEL_NEEDS_AVX512F, 7, 0, EBX, 28},
    {"AVX512BW", KERNEL_NEEDS_AVX512F, 7, 0, EBX, 30},
    {"AVX512_VBMI", KERNEL_NEEDS_AVX512F, 7, 0, ECX, 1},
    {"AVX512_VBMI2", KERNEL_NEEDS_AVX512F, 7, 0, ECX, 6},
    {"AVX512_GFNI", KERNEL_NEEDS_AVX512F, 7, 0, ECX, 8},
    {"AVX512_VAES", KERNEL_NEEDS_AVX512F, 7, 0, ECX, 9},
    {"AVX512_VPCLMULQDQ", KERNEL_NEEDS_AVX512F, 7, 0, ECX, 10},
    {"AVX512_VNNI", KERNEL_NEEDS_AVX512F, 7, 0, ECX, 11},
    {"AVX512_BITALG", KERNEL_NEEDS_AVX512F, 7, 0, ECX, 12},
    {"AVX512_VPOPCNTDQ", KERNEL_NEEDS_AVX512F, 7, 0, ECX, 14},
    {"AVX512_VP2INTERSECT", KERNEL_NEEDS_AVX512F, 7, 0, EDX, 8},
    {"AVX512_FP16", KERNEL_NEEDS_AVX512F, 7, 0, EDX, 23},
    {"AVX512_BF16", KERNEL_NEEDS_AVX512F, 7, 1, EAX, 5},
};

static bool cpu_has(const struct block_isa *s)
{
    unsigned r[4];
    return s->leaf == 0 || (__get_cpuid_count(s->leaf, s->subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) != 0 &&
                            (r[s->reg] >> s->bit & 1) != 0);
}

bool block_set_known(const char *isa, unsigned *features, bool *here)
{
    static const char *const ends[] = {"_128", "_256", "_512", "_128N", "_SCALAR", "_KOP"};
    size_t length = strlen(isa);
    bool narrow = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(ends[i]);
        if (strncmp(isa, "AVX512", 6) == 0 && length > n && strcmp(isa + length - n, ends[i]) == 0) {
            length -= n;
            narrow = i < 2;
            break;
        }
    }
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (strlen(isas[i].name) == length && strncmp(isas[i].name, isa, length) == 0) {
            *features |= isas[i].features | (narrow ? KERNEL_NEEDS_AVX512VL : 0u);
            *here = cpu_has(&isas[i]);
            return true;
        }
    return false;
}
