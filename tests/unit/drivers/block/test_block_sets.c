/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instruction sets of blocks: which bit of CPUID says that a CPU has one, by the compiler's names of the bits. */
#include <cpuid.h>

#include "drivers/block/block_parts.h"
#include "kernels/kernels.h"
#include "tests/support/test.h"

/* A CPU that has this one bit, or all others, or no such leaf. */
static struct {
    unsigned leaf, subleaf, reg, bits;
    bool others, none;
} made;

static void made_cpuid(uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
    uint32_t regs[4];
    bool it = leaf == made.leaf && subleaf == made.subleaf;
    for (unsigned i = 0; i < 4; i++)
        regs[i] = (it && i == made.reg ? made.bits : 0) ^ (made.others ? UINT32_MAX : 0);
    *out = (struct cpuid_regs){regs[0], regs[1], regs[2], regs[3]};
    if (leaf == 0 || leaf == 0x80000000)
        out->eax = made.leaf - made.none;
}

static void expect_known(const char *name, unsigned features, bool here)
{
    unsigned seen = 0;
    bool is_here = !here;
    if (!block_set_known(name, made_cpuid, &seen, &is_here) || seen != features || is_here != here)
        fail_msg("%s: features %x, %s", name, seen, is_here ? "here" : "not here");
    seen = KERNEL_NEEDS_AMX_BF16; /* is added to */
    block_set_known(name, made_cpuid, &seen, &is_here);
    assert_int_equal(seen, features | KERNEL_NEEDS_AMX_BF16);
}

enum { EAX, EBX, ECX, EDX };
enum { AVX = KERNEL_NEEDS_AVX, AVX2 = KERNEL_NEEDS_AVX2, F = KERNEL_NEEDS_AVX512F };

TEST(a_set_is_told_by_its_bit)
{
    static const struct {
        const char *name;
        unsigned features, leaf, subleaf, reg, bits;
    } sets[] = {
        {"LAHF", 0, 0x80000001, 0, ECX, bit_LAHF_LM},
        {"LZCNT", 0, 0x80000001, 0, ECX, bit_LZCNT},
        {"CMPXCHG16B", 0, 1, 0, ECX, bit_CMPXCHG16B},
        {"SSE3", 0, 1, 0, ECX, bit_SSE3},
        {"PCLMULQDQ", 0, 1, 0, ECX, bit_PCLMUL},
        {"SSSE3", 0, 1, 0, ECX, bit_SSSE3},
        {"SSE4", 0, 1, 0, ECX, bit_SSE4_1},
        {"SSE42", 0, 1, 0, ECX, bit_SSE4_2},
        {"MOVBE", 0, 1, 0, ECX, bit_MOVBE},
        {"POPCNT", 0, 1, 0, ECX, bit_POPCNT},
        {"AES", 0, 1, 0, ECX, bit_AES},
        {"BMI1", 0, 7, 0, EBX, bit_BMI},
        {"BMI2", 0, 7, 0, EBX, bit_BMI2},
        {"ADOX_ADCX", 0, 7, 0, EBX, bit_ADX},
        {"SHA", 0, 7, 0, EBX, bit_SHA},
        {"GFNI", 0, 7, 0, ECX, bit_GFNI},
        {"F16C", AVX, 1, 0, ECX, bit_F16C},
        {"AVXAES", AVX, 1, 0, ECX, bit_AES},
        {"AVX_GFNI", AVX, 7, 0, ECX, bit_GFNI},
        {"VAES", AVX, 7, 0, ECX, bit_VAES},
        {"VPCLMULQDQ", AVX, 7, 0, ECX, bit_VPCLMULQDQ},
        {"AVX_VNNI", AVX2, 7, 1, EAX, bit_AVXVNNI},
        {"AVX512DQ_512", F, 7, 0, EBX, bit_AVX512DQ},
        {"AVX512_IFMA_512", F, 7, 0, EBX, bit_AVX512IFMA},
        {"AVX512CD_512", F, 7, 0, EBX, bit_AVX512CD},
        {"AVX512BW_512", F, 7, 0, EBX, bit_AVX512BW},
        {"AVX512_VBMI_512", F, 7, 0, ECX, bit_AVX512VBMI},
        {"AVX512_VBMI2_512", F, 7, 0, ECX, bit_AVX512VBMI2},
        {"AVX512_GFNI_512", F, 7, 0, ECX, bit_GFNI},
        {"AVX512_VAES_512", F, 7, 0, ECX, bit_VAES},
        {"AVX512_VPCLMULQDQ_512", F, 7, 0, ECX, bit_VPCLMULQDQ},
        {"AVX512_VNNI_512", F, 7, 0, ECX, bit_AVX512VNNI},
        {"AVX512_BITALG_512", F, 7, 0, ECX, bit_AVX512BITALG},
        {"AVX512_VPOPCNTDQ_512", F, 7, 0, ECX, bit_AVX512VPOPCNTDQ},
        {"AVX512_VP2INTERSECT_512", F, 7, 0, EDX, bit_AVX512VP2INTERSECT},
        {"AVX512_FP16_512", F, 7, 0, EDX, 1 << 23}, /* not known to older compilers */
        {"AVX512_BF16_512", F, 7, 1, EAX, bit_AVX512BF16},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        for (int others = 0; others < 2; others++) {
            made.leaf = sets[i].leaf;
            made.subleaf = sets[i].subleaf;
            made.reg = sets[i].reg;
            made.bits = sets[i].bits;
            made.others = others == 1;
            made.none = false;
            expect_known(sets[i].name, sets[i].features, !others);
            made.none = true;
            expect_known(sets[i].name, sets[i].features, false);
        }
}

/* What all x86-64 have, and what a feature of the kernels covers, is asked of no CPU. */
TEST(some_sets_need_no_bit)
{
    static const char *const all[] = {"I86",     "I186",  "I386", "I486",         "I486REAL",
                                      "PPRO",    "CMOV",  "SSE",  "PENTIUMREAL",  "LONGMODE",
                                      "FAT_NOP", "PAUSE", "SSE2", "PREFETCH_NOP", "SSE_PREFETCH"};
    static const struct {
        const char *name;
        unsigned features;
    } by_feature[] = {{"AVX", AVX},       {"AVX2", AVX2},       {"AVX2GATHER", AVX2}, {"FMA", KERNEL_NEEDS_FMA},
                      {"AVX512F_512", F}, {"AVX512F_SCALAR", F}};
    for (int none = 0; none < 2; none++) {
        memset(&made, 0, sizeof made);
        made.none = none == 1;
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            expect_known(all[i], 0, true);
        for (size_t i = 0; i < sizeof by_feature / sizeof *by_feature; i++)
            expect_known(by_feature[i].name, by_feature[i].features, true);
    }
}

/* Registers of 128 and 256 bits in AVX-512 need its VL; scalars, one element and masks do not. */
TEST(narrow_forms_need_vl)
{
    static const struct {
        const char *end;
        bool narrow;
    } ends[] = {{"_128", true}, {"_256", true}, {"_512", false}, {"_128N", false}, {"_SCALAR", false}, {"_KOP", false}};
    memset(&made, 0, sizeof made);
    made.leaf = UINT32_MAX; /* no leaf is above the highest */
    made.others = true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        static const char *const of[] = {"AVX512F", "AVX512BW", "AVX512_VBMI"};
        for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
            char name[40];
            snprintf(name, sizeof name, "%s%s", of[k], ends[i].end);
            expect_known(name, F | (ends[i].narrow ? KERNEL_NEEDS_AVX512VL : 0), true);
        }
    }
}

TEST(no_others_are_known)
{
    static const char *const refused[] = {"X87",      "AMX_TILE",        "XSAVE",   "AVX512", "AVX512F_25",
                                          "",         "SSEMXCSR",        "RTM",     "_128",   "AVX_128",
                                          "SSE2_128", "AVX512F_512_512", "AVX512_", "SSE2 ",  "SS"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        unsigned features = 0;
        bool here;
        assert_false(block_set_known(refused[i], made_cpuid, &features, &here));
        assert_int_equal(features, 0);
    }
}
