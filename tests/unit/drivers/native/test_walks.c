/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Buffers of kernels with operands beyond L1: how large they are, what is in them, when they are made. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/mman.h>
#include <unistd.h>

#include "drivers/native/native.h"
#include "drivers/native/walks.h"
#include "tests/support/test.h"

enum { BLOCK = 120 * 64, KIB = 1024, MIB = 1024 * KIB };
#define GIB ((uint64_t)1024 * MIB)

static const char *const names[KERNEL_LEVELS] = {"128load", "128load@l2", "128load@l3", "128load@ram"};

static struct payload kernel_at(enum kernel_level level)
{
    return kernel_named(names[level]);
}

TEST(sizes_follow_the_caches)
{
    static const struct {
        const char *processor;
        struct cpu_caches caches;
        size_t bytes[KERNEL_LEVELS]; /* before they are made whole blocks; 0: refused */
    } cases[] = {
        {"Milan", {32 * KIB, 512 * KIB, 32 * MIB, 4 * MIB, 0}, {0, 128 * KIB, 2 * MIB, 256 * MIB}},
        {"Sapphire Rapids", {48 * KIB, 2 * MIB, 105 * MIB, 1920 * KIB, 0}, {0, 192 * KIB, 8 * MIB, 420 * MIB}},
        {"Granite Rapids", {48 * KIB, 2 * MIB, 504 * MIB, 4 * MIB, 0}, {0, 192 * KIB, 8 * MIB, 1024 * MIB}},
        {"Skylake-SP", {32 * KIB, 1 * MIB, 22 * MIB, 1408 * KIB, 0}, {0, 128 * KIB, 4 * MIB, 256 * MIB}},
        {"Skylake", {32 * KIB, 256 * KIB, 8 * MIB, 2 * MIB, 0}, {0, 128 * KIB, 1 * MIB, 256 * MIB}},
        {"half of L3 is less", {32 * KIB, 1 * MIB, 6 * MIB, 1 * MIB, 0}, {0, 128 * KIB, 3 * MIB, 256 * MIB}},
        {"just large enough", {32 * KIB, 1 * MIB, 4 * MIB, 1 * MIB, 0}, {0, 128 * KIB, 2 * MIB, 256 * MIB}},
        {"L3 too small", {32 * KIB, 1 * MIB, 3 * MIB, 1 * MIB, 0}, {0, 128 * KIB, 0, 256 * MIB}},
        {"L2 too small", {64 * KIB, 192 * KIB, 3 * MIB, 1 * MIB, 0}, {0, 0, 768 * KIB, 256 * MIB}},
        {"a guest without L3", {32 * KIB, 1 * MIB, 0, 0, 0}, {0, 128 * KIB, 0, 256 * MIB}},
        {"a guest that says nothing", {0, 0, 0, 0, 0}, {0, 0, 0, 256 * MIB}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (enum kernel_level level = KERNEL_L2; level < KERNEL_LEVELS; level++) {
            struct payload p = kernel_at(level);
            struct machine_error err;
            size_t bytes = 0, expected = cases[i].bytes[level] / BLOCK * BLOCK;
            int status = walks_bytes(&cases[i].caches, &p, &bytes, &err);
            if (status != (expected > 0 ? MACHINE_OK : MACHINE_CANNOT) || (expected > 0 && bytes != expected))
                fail_msg("%s, %s: %zu bytes, not %zu", cases[i].processor, p.name, bytes, expected);
        }
}

static void refuses(struct cpu_caches c, enum kernel_level level, const char *text, const char *remedy)
{
    struct walks w = {0};
    struct payload p = kernel_at(level);
    struct machine_error err;
    assert_int_equal(walks_prepare(&w, &c, &p, &err), MACHINE_CANNOT);
    assert_string_equal(err.text, text);
    assert_string_equal(err.remedy, remedy);
    assert_int_equal(w.of[level].bytes, 0);
    walks_free(&w);
}

TEST(refusals_say_what_is_missing)
{
    static const char pass_on[] = "have the hypervisor pass the caches on, or use kernels without @";
    refuses((struct cpu_caches){0}, KERNEL_L2,
            "kernel 128load@l2: neither CPUID nor /sys/devices/system/cpu/cpu*/cache says how large L1D is", pass_on);
    refuses((struct cpu_caches){.l1 = 32 * KIB, .l2 = MIB}, KERNEL_L3,
            "kernel 128load@l3: neither CPUID nor /sys/devices/system/cpu/cpu*/cache says how large L3 is", pass_on);
    refuses((struct cpu_caches){.l1 = 32 * KIB, .l2 = MIB, .l3 = 3 * MIB}, KERNEL_L3,
            "kernel 128load@l3: half of L3 (1536 kB) would have to be at least twice L2 (1024 kB)",
            "use kernels of another level");
    refuses((struct cpu_caches){.l3 = 32 * MIB, .memory = 500 * MIB}, KERNEL_RAM,
            "kernel 128load@ram: its buffer of 268 MB is more than half of the available memory (524 MB)",
            "free some memory, or use kernels of another level");
}

/* All of it is there before the first block, no two lines are alike, and the values are as those of fma@mem. */
TEST(a_buffer_is_filled)
{
    const struct cpu_caches c = {.l1 = 32 * KIB, .l2 = 512 * KIB, .l3 = 32 * MIB};
    struct walks w = {0};
    struct payload p = kernel_at(KERNEL_L2);
    struct machine_error err;
    assert_int_equal(walks_prepare(&w, &c, &p, &err), MACHINE_OK);
    const struct kernel_walk *walk = walks_of(&w, &p);
    assert_ptr_equal(walk, &w.of[KERNEL_L2].mine);
    assert_int_equal(walk->end - walk->begin, 128 * KIB / BLOCK * BLOCK);
    assert_ptr_equal(walk->next, walk->begin);
    assert_int_equal((uintptr_t)walk->begin % (2 * MIB), 0);
    size_t lines = (size_t)(walk->end - walk->begin + KERNEL_BEYOND) / 64;
    const double *words = (const double *)(const void *)walk->begin;
    double sum = 0;
    for (size_t i = 0; i < 8 * lines; i++) {
        bool odd = i / 96 % 2;
        assert_true(odd ? words[i] <= -1 + 0x1p-23 && words[i] > -2 : words[i] >= 1 && words[i] < 2);
        assert_true(words[i] * 0x1p23 == floor(words[i] * 0x1p23));
        if (odd)
            assert_true(words[i] == -(words[i - 96] - 0x1p-23));
        sum += fabs(words[i]);
    }
    assert_close(sum / (8.0 * (double)lines), 1.5, 0.05);
    for (size_t i = 0; i < lines; i++)
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(words + 8 * i, words + 8 * k, 64);
    unsigned char there[64];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = lines * 64;
    assert_true(bytes / page < sizeof there);
    assert_int_equal(mincore(w.of[KERNEL_L2].memory.start, bytes, there), 0);
    for (size_t i = 0; i * page < bytes; i++)
        assert_true(there[i] & 1);
    walks_free(&w);
    assert_null(w.of[KERNEL_L2].memory.mapped);
}

TEST(buffers_are_kept)
{
    struct cpu_caches c = {.l1 = 32 * KIB, .l2 = 512 * KIB, .l3 = 32 * MIB};
    struct walks w = {0};
    struct machine_error err;
    struct payload p = kernel_at(KERNEL_L1), l2 = kernel_at(KERNEL_L2), fma = kernel_named("256fma@l2@1/8");
    assert_int_equal(walks_prepare(&w, &c, &p, &err), MACHINE_OK);
    assert_null(walks_of(&w, &p));
    for (size_t i = 0; i < KERNEL_LEVELS; i++)
        assert_null(w.of[i].memory.mapped);
    assert_int_equal(walks_prepare(&w, &c, &l2, &err), MACHINE_OK);
    struct kernel_walk *walk = walks_of(&w, &l2);
    walk->next += BLOCK;
    assert_int_equal(walks_prepare(&w, &c, &fma, &err), MACHINE_OK);
    assert_ptr_equal(walks_of(&w, &fma), walk);
    assert_ptr_equal(walk->next, walk->begin + BLOCK);
    c.l1 = 48 * KIB; /* a core of another kind */
    assert_int_equal(walks_prepare(&w, &c, &l2, &err), MACHINE_OK);
    assert_ptr_equal(walks_of(&w, &l2), walk);
    assert_int_equal(walk->end - walk->begin, 192 * KIB / BLOCK * BLOCK);
    assert_ptr_equal(walk->next, walk->begin);
    walks_free(&w);
}

TEST(threads_begin_far_apart)
{
    static uint8_t at[40 * BLOCK];
    const struct kernel_walk whole = {at, at, at + sizeof at};
    for (size_t i = 0; i < 3; i++) {
        struct kernel_walk w = walks_spread(&whole, i, 3);
        assert_ptr_equal(w.next, at + (i + 1) * 10 * BLOCK);
        assert_ptr_equal(w.begin, at);
        assert_ptr_equal(w.end, whole.end);
    }
    assert_null(walks_spread(NULL, 0, 1).begin);
}

/* By what machines call before they run a payload; that memory's buffer is too small is told once. */
TEST(machines_make_them)
{
    static struct native s; /* large */
    struct machine_error err;
    s = (struct native){.features = kernel_cpu_features(), .caches = {.l1 = 32 * KIB, .l2 = 512 * KIB, .l3 = 32 * MIB}};
    struct payload p = kernel_at(KERNEL_L2);
    if ((p.kernel->features & ~s.features) != 0)
        skip();
    assert_int_equal(native_make_ready(&s, &p, &err), MACHINE_OK);
    assert_true(s.walks.of[KERNEL_L2].bytes > 0);
    assert_string_equal(s.notes, "");
    s.caches.l3 = 504 * (uint64_t)MIB;
    s.walks.of[KERNEL_RAM].bytes = GIB / BLOCK * BLOCK; /* as if it were made, which takes a while */
    p = kernel_at(KERNEL_RAM);
    for (int i = 0; i < 2; i++)
        assert_int_equal(native_make_ready(&s, &p, &err), MACHINE_OK);
    assert_string_equal(s.notes, "the buffer of @ram (1 GiB) is less than four times L3 (504 MiB): some loads hit it");
    s.caches = (struct cpu_caches){0};
    p = kernel_at(KERNEL_L3);
    assert_int_equal(native_make_ready(&s, &p, &err), MACHINE_CANNOT);
    walks_free(&s.walks);
}
