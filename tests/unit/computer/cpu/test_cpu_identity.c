/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every field of a CPU's identity, from CPUID as processors answer it, and parts that contradict themselves. */
#include "computer/cpu/cpu.h"
#include "tests/support/cpu_leaves.h"
#include "tests/support/test.h"

/* SDM vol. 2A, CPUID: bits 3:0, 7:4, 11:8, 19:16 and 27:20; 15:12 are of the type, and reserved ones. */
TEST(fields_of_signatures)
{
    static const struct {
        uint32_t eax;
        unsigned family, model, stepping;
        const char *signature;
    } cases[] = {
        {0x000806f8, 6, 0x8f, 8, "06_8FH-8"},      {0x000b06ff, 6, 0xbf, 15, "06_BFH-15"},
        {0x0ff00600, 6, 0, 0, "06_00H-0"},         {0xf000f600, 6, 0, 0, "06_00H-0"},
        {0x00000f29, 15, 2, 9, "0F_02H-9"},        {0x00100f42, 16, 4, 2, "10_04H-2"},
        {0x0ff0ff00, 15 + 255, 0, 0, "10E_00H-0"}, {0x00a20f12, 25, 0x21, 2, "19_21H-2"},
        {0x000f0780, 7, 8, 0, "07_08H-0"},         {0x000f05f1, 5, 15, 1, "05_0FH-1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cpu_identity id;
        struct cpu_leaves l = cpu_leaves_of("GenuineIntel", cases[i].eax);
        cpu_identify(&l, &id);
        assert_int_equal(id.family, cases[i].family);
        assert_int_equal(id.model, cases[i].model);
        assert_int_equal(id.stepping, cases[i].stepping);
        assert_string_equal(id.signature, cases[i].signature);
        assert_string_equal(id.vendor, "GenuineIntel");
        assert_string_equal(id.brand, "GenuineIntel");
    }
}

/* CPUID 0AH, EAX 15:8, where its version (7:0) is not 0. */
TEST(counters_of_a_cpu)
{
    static const struct {
        uint32_t eax;
        unsigned counters;
    } cases[] = {{0, 0}, {0x07300404, 4}, {0x0830ff01, 255}, {0x08300800, 0}, {0x07300880, 8}, {0xffff0001, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cpu_identity id;
        struct cpu_leaves l = cpu_leaves_of("GenuineIntel", 0x000806f8);
        l.counters.eax = cases[i].eax;
        cpu_identify(&l, &id);
        assert_int_equal(id.general_counters, cases[i].counters);
    }
}

/* CPUID 7.0: EBX[16] AVX512F, EDX[24] AMX-TILE. Of the others all are set, or none is. */
TEST(features_that_models_never_had)
{
    static const struct {
        uint32_t signature;
        const char *name; /* NULL: it may have both */
        bool avx512;      /* it may have this */
    } parts[] = {
        {0x000306c3, "Haswell", false},    {0x000306f2, "Haswell-EP", false}, {0x000506e3, "Skylake client", false},
        {0x000a0655, "Comet Lake", false}, {0x00050654, "Skylake-SP", true},  {0x000606a6, "Ice Lake-SP", true},
        {0x00090672, "Alder Lake", true},  {0x000b06f2, "Raptor Lake", true}, {0x000806f8, NULL, true},
        {0x000206d7, NULL, true},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (unsigned k = 0; k < 8; k++) {
            bool avx512 = k & 1, amx = k & 2, others = k & 4;
            char why[300] = "", expected[300];
            struct cpu_leaves l = cpu_leaves_of("GenuineIntel", parts[i].signature);
            unsigned model = (parts[i].signature >> 4 & 0xf) | (parts[i].signature >> 12 & 0xf0);
            l.structured.ebx = (others ? ~(1u << 16) : 0) | (avx512 ? 1u << 16 : 0);
            l.structured.edx = (others ? ~(1u << 24) : 0) | (amx ? 1u << 24 : 0);
            l.version.ecx = others ? ~(1u << 31) : 0;
            bool wrong = parts[i].name && (amx || (avx512 && !parts[i].avx512));
            assert_int_equal(cpu_contradicts(&l, why, sizeof why), wrong);
            if (!wrong)
                continue;
            snprintf(expected, sizeof expected,
                     "the CPU reports a model number that does not match its features (06_%02XH is %s, which has no "
                     "%s): tables keyed by model do not apply",
                     model, parts[i].name, amx ? "AMX" : "AVX-512");
            assert_string_equal(why, expected);
            l.version.eax = (parts[i].signature & ~0xf00u) | 0x700; /* the same model of another family */
            assert_false(cpu_contradicts(&l, why, sizeof why));
        }
}

TEST(lines_of_cpuinfo)
{
    static const struct {
        const char *line, *name, *value;
    } cases[] = {
        {"model\t\t: 85", "model", "85"},
        {"model name\t: A: B", "model name", "A: B"},
        {"model name\t: A", "model", NULL},
        {"model:85", "model", "85"},
        {"model :\t 85 ", "model", "85 "},
        {"mode", "model", NULL},
        {"bugs\t\t:", "bugs", ""},
        {"model", "model", NULL},
        {"", "model", NULL},
        {"a model : 1", "model", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[100];
        snprintf(line, sizeof line, "%s", cases[i].line);
        const char *value = cpu_info_value(line, cases[i].name);
        assert_int_equal(value != NULL, cases[i].value != NULL);
        if (value)
            assert_string_equal(value, cases[i].value);
    }
}
