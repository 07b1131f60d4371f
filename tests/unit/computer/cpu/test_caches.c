/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes of caches, from made trees and made CPUID; garbage gives none, and nothing worse. */
#include "computer/cpu/caches.h"
#include "computer/cpu/cpu.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

static void put(const char *root, unsigned index, const char *level, const char *type, const char *size,
                const char *cpus)
{
    char name[120];
    const char *const files[][2] = {{"level", level}, {"type", type}, {"size", size}, {"shared_cpu_list", cpus}};
    for (size_t i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "devices/system/cpu/cpu3/cache/index%u/%s", index, files[i][0]);
        folder_put_line(root, name, files[i][1]);
    }
}

/* Two hyper-threads a core, eight cores share L3. */
TEST(from_sysfs)
{
    char root[FOLDER_PATH_MAX];
    struct cpu_caches c;
    folder_make(root);
    put(root, 0, "1", "Data", "48K", "3,11");
    put(root, 1, "1", "Instruction", "32K", "3,11");
    put(root, 2, "2", "Unified", "1280K", "3,11");
    put(root, 3, "3", "Unified", "24M", "0-15");
    folder_put(root, "meminfo", "MemTotal: 900 kB\nMemAvailable:  400 kB\n");
    cpu_caches_read(root, root, 3, &c);
    assert_int_equal(c.l1, 48 << 10);
    assert_int_equal(c.l2, 1280 << 10);
    assert_int_equal(c.l3, 24 << 20);
    assert_int_equal(c.share, 3 << 20);
    assert_int_equal(c.memory, 400 << 10);
    cpu_caches_read(root, NULL, 4, &c);
    assert_int_equal(c.l1 + c.l2 + c.l3 + c.share + c.memory, 0);
    folder_remove(root);
}

/* Levels 1 to 3; of no type in particular is not of instructions. */
TEST(which_caches_count)
{
    static const struct {
        const char *level, *type, *size;
        uint64_t l1, l2, l3;
    } cases[] = {
        {"1", "Data", "48K", 48 << 10, 0, 0}, {"1", "", "48K", 48 << 10, 0, 0},   {"1", "Instruction", "48K", 0, 0, 0},
        {"2", "Data", "3M", 0, 3 << 20, 0},   {"3", "Data", "1G", 0, 0, 1 << 30}, {"0", "Data", "1K", 0, 0, 0},
        {"4", "Unified", "1K", 0, 0, 0},      {"1", "Data", "7", 7, 0, 0},        {"1", "Data", "", 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char root[FOLDER_PATH_MAX];
        struct cpu_caches c;
        folder_make(root);
        put(root, 15, cases[i].level, cases[i].type, cases[i].size, "3"); /* the last that is looked at */
        put(root, 16, "2", "Unified", "5K", "3");
        cpu_caches_read(root, NULL, 3, &c);
        if (c.l1 != cases[i].l1 || c.l2 != cases[i].l2 || c.l3 != cases[i].l3)
            fail_msg("%zu: %lu %lu %lu", i, (unsigned long)c.l1, (unsigned long)c.l2, (unsigned long)c.l3);
        folder_remove(root);
    }
}

/* A cache shared by fewer CPUs than a core has threads is a core's own; likewise where the number of threads is
 * unknown. */
TEST(which_share_is_a_cores)
{
    static const struct {
        const char *of_core, *of_l3;
        unsigned cores;
    } cases[] = {{"3", "0-15", 16}, {"3,11", "0-15", 8}, {"3,11", "3,11", 1}, {"0-3", "0-2", 1}, {"0-3", "0-15", 4},
                 {"0-3", "0-6", 1}, {"", "0-4", 5},      {"x", "0-4", 5},     {"3,11", "x", 1},  {"3", "", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char root[FOLDER_PATH_MAX];
        struct cpu_caches c;
        folder_make(root);
        put(root, 0, "1", "Data", "48K", cases[i].of_core);
        put(root, 1, "1", "Instruction", "32K", "0-5");
        put(root, 3, "3", "Unified", "24M", cases[i].of_l3);
        cpu_caches_read(root, NULL, 3, &c);
        if (c.l3 != 24 << 20 || c.share != (24 << 20) / cases[i].cores)
            fail_msg("%zu: %lu of %lu", i, (unsigned long)c.share, (unsigned long)c.l3);
        folder_remove(root);
    }
}

static void memory_is(const char *root, const char *text, uint64_t bytes)
{
    folder_put(root, "meminfo", text);
    if (cpu_memory_available(root) != bytes)
        fail_msg("%s: %lu", text, (unsigned long)cpu_memory_available(root));
}

/* As many KiB as half of all bytes are, not one more. */
TEST(which_memory_there_is)
{
    char root[FOLDER_PATH_MAX];
    folder_make(root);
    assert_int_equal(cpu_memory_available(root), 0);
    memory_is(root, "", 0);
    memory_is(root, "MemTotal: 5 kB\n", 0);
    memory_is(root, "MemTotal: 5 kB\nMemAvailable: x kB\n", 0);
    memory_is(root, "MemAvailable: 1 kB\nMemAvailable: 2 kB\n", 1024);
    memory_is(root, "MemAvailable: 9007199254740991 kB\n", UINT64_C(9007199254740991) << 10);
    memory_is(root, "MemAvailable: 9007199254740992 kB\n", 0);
    folder_remove(root);
}

/* A line of more than one partition; a core of no threads that CPUID knows has all. */
TEST(of_one_leaf)
{
    struct cpuid_regs r = {.eax = 5u << 14 | 3 << 5 | 3, .ebx = 6u << 22 | 2u << 12 | 63, .ecx = 99};
    static const unsigned threads[] = {0, 1, 2, 3, 6, 7}, cores[] = {1, 6, 3, 2, 1, 1};
    enum { BYTES = 7 * 3 * 64 * 100 };
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct cpu_caches c = {0};
        assert_true(cpu_caches_decode(&r, threads[i], &c));
        assert_int_equal(c.l3, BYTES);
        assert_int_equal(c.share, BYTES / cores[i]);
        assert_int_equal(c.l1 + c.l2, 0);
    }
    for (uint32_t type = 0; type < 32; type++) {
        struct cpu_caches c = {0};
        r.eax = 1u << 5 | type;
        assert_int_equal(cpu_caches_decode(&r, 2, &c), type != 0);
        assert_int_equal(c.l1, type == 1 || type == 3 ? BYTES : 0);
    }
    for (uint32_t level = 0; level < 8; level++) {
        struct cpu_caches c = {0};
        r.eax = level << 5 | 1;
        assert_true(cpu_caches_decode(&r, 1, &c));
        assert_int_equal(c.l1, level == 1 ? BYTES : 0);
        assert_int_equal(c.l2, level == 2 ? BYTES : 0);
        assert_int_equal(c.l3, level == 3 ? BYTES : 0);
    }
}

TEST(garbage)
{
    static const char *const texts[] = {"",  "x",  "-1",       "99999999999999999999999999K",
                                        "K", "0-", "\xff\xfe", "4294967296"};
    char root[FOLDER_PATH_MAX];
    struct cpu_caches c;
    folder_make(root);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put(root, 0, "1", "Data", texts[i], texts[i]);
        put(root, 1, texts[i], texts[i], "32K", "3");
        put(root, 2, "2", "Unified", "1M", texts[i]);
        folder_put_line(root, "meminfo", texts[i]);
        cpu_caches_read(root, root, 3, &c);
        assert_int_equal(c.l2, 1 << 20);
        assert_int_equal(c.l3 + c.memory, 0);
    }
    folder_remove(root);
}

/* Skylake-SP: 32 KB of 8 ways, 64 sets; L3 of 11 ways, 32768 sets, for up to 64 threads of 2 each. */
TEST(from_cpuid)
{
    struct cpu_caches c = {0};
    const struct cpuid_regs l1 = {.eax = 1u << 14 | 1 << 5 | 1, .ebx = 7u << 22 | 63, .ecx = 63};
    const struct cpuid_regs code = {.eax = 1u << 14 | 1 << 5 | 2, .ebx = 3u << 22 | 63, .ecx = 63};
    const struct cpuid_regs l2 = {.eax = 1u << 14 | 2 << 5 | 3, .ebx = 15u << 22 | 63, .ecx = 1023};
    const struct cpuid_regs l3 = {.eax = 63u << 14 | 3 << 5 | 3, .ebx = 10u << 22 | 63, .ecx = 32767};
    assert_true(cpu_caches_decode(&l1, 2, &c) && cpu_caches_decode(&code, 2, &c) && cpu_caches_decode(&l2, 2, &c) &&
                cpu_caches_decode(&l3, 2, &c));
    assert_false(cpu_caches_decode(&(struct cpuid_regs){0}, 2, &c));
    assert_int_equal(c.l1, 32 << 10);
    assert_int_equal(c.l2, 1 << 20);
    assert_int_equal(c.l3, 22 << 20);
    assert_int_equal(c.share, (22 << 20) / 32);
}
