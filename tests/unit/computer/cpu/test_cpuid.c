/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Queries of CPUID, with a fake one: which leaves are read, none above the highest, and what becomes of the answers. */
#include <jansson.h>

#include "computer/cpu/caches.h"
#include "computer/cpu/cpu.h"
#include "output/self_test/host_facts.h"
#include "tests/support/test.h"

/* The highest leaves; what a leaf says is its number and that of the register, so that no two are alike. */
static struct {
    uint32_t basic, hypervisor, extended;
    bool guest;
} made;

static void made_cpuid(uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
    uint32_t number = (leaf & 0xff) << 16 | leaf >> 28 << 24 | subleaf << 8;
    *out = (struct cpuid_regs){number | 1, number | 2, number | 3, number | 4};
    if (leaf == 0)
        out->eax = made.basic;
    if (leaf == 1)
        out->ecx = made.guest ? 0x80000000 : 0x7fffffff;
    if (leaf == 0x40000000)
        out->eax = made.hypervisor;
    if (leaf == 0x80000000)
        out->eax = made.extended;
}

/* Checks that a leaf was taken as it is, or left out. */
static void expect_leaf(const struct cpuid_regs *r, uint32_t leaf, bool there)
{
    struct cpuid_regs expected = {0};
    if (there)
        made_cpuid(leaf, 0, &expected);
    if (memcmp(r, &expected, sizeof expected) != 0)
        fail_msg("%#x: %x %x %x %x", leaf, r->eax, r->ebx, r->ecx, r->edx);
}

static void expect_leaves(void)
{
    struct cpu_leaves l;
    memset(&l, 0xff, sizeof l);
    cpu_ask_leaves(made_cpuid, &l);
    expect_leaf(&l.basic, 0, true);
    expect_leaf(&l.version, 1, made.basic >= 1);
    expect_leaf(&l.structured, 7, made.basic >= 7);
    expect_leaf(&l.counters, 0xa, made.basic >= 0xa);
    expect_leaf(&l.tsc, 0x15, made.basic >= 0x15);
    expect_leaf(&l.frequency, 0x16, made.basic >= 0x16);
    bool guest = made.guest && made.basic >= 1;
    expect_leaf(&l.hypervisor, 0x40000000, guest);
    expect_leaf(&l.hv_timing, 0x40000010, guest && made.hypervisor >= 0x40000010);
    for (uint32_t i = 0; i < 3; i++)
        expect_leaf(&l.brand[i], 0x80000002 + i, made.extended >= 0x80000002 + i);
    expect_leaf(&l.power, 0x80000007, made.extended >= 0x80000007);
}

/* At each highest leaf that there may be. */
TEST(no_leaf_above_the_highest_is_taken)
{
    for (int guest = 0; guest < 2; guest++) {
        made.guest = guest == 1;
        made.hypervisor = 0x40000010;
        made.extended = 0x80000008;
        for (made.basic = 0; made.basic < 0x20; made.basic++)
            expect_leaves();
        for (made.extended = 0x80000000; made.extended < 0x80000010; made.extended++)
            expect_leaves();
        for (made.hypervisor = 0x4000000e; made.hypervisor < 0x40000013; made.hypervisor++)
            expect_leaves();
        made.hypervisor = 0; /* as old ones say */
        expect_leaves();
        made.extended = 0;
        expect_leaves();
    }
}

TEST(this_cpu_is_requested)
{
    struct cpuid_regs r = {0};
    struct cpu_leaves l;
    cpu_cpuid_here(1, 0, &r);
    assert_true((r.edx >> 26 & 1) != 0); /* SSE2: all have it */
    cpu_read_leaves(&l);
    assert_int_equal(l.version.edx, r.edx);
}

/* ---- caches ---- */

static struct {
    uint32_t caches;  /* so many, of levels 1, 2, 3 and so on; the first is of instructions */
    bool amd, empty;  /* empty: the leaf is there and says nothing */
    uint32_t threads; /* of the first; 0: 2, as the others */
} answers;

static void cpuid_of_caches(uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
    *out = (struct cpuid_regs){0};
    if (leaf == 0)
        out->eax = made.basic;
    if (leaf == 0x80000000)
        out->eax = answers.amd ? 0x8000001d : 0x8000001c;
    bool caches = leaf == 4 || (leaf == 0x8000001d && !answers.empty);
    if (!caches || subleaf >= answers.caches)
        return;
    /* two threads a core; of the third level 16 of them share one; 4 ways of a line of 64 bytes, more sets of AMD */
    uint32_t level = subleaf == 0 ? 1 : subleaf < 4 ? subleaf : 3;
    out->eax = (subleaf == 0 ? 2u : level < 2 ? 1u : 3u) | level << 5 | (level < 3 ? 1u : 15u) << 14;
    if (subleaf == 0 && answers.threads > 0)
        out->eax = 2u | level << 5 | (answers.threads - 1) << 14;
    out->ebx = 3u << 22 | 63u;
    out->ecx = (leaf == 4 ? 1u : 2u) * 1000 * (subleaf + 1) - 1;
}

static void expect_caches(uint64_t l1, uint64_t l2, uint64_t l3, uint64_t share)
{
    struct cpu_caches c = {0};
    cpu_caches_ask(cpuid_of_caches, &c);
    if (c.l1 != l1 || c.l2 != l2 || c.l3 != l3 || c.share != share || c.memory != 0)
        fail_msg("%lu %lu %lu %lu", (unsigned long)c.l1, (unsigned long)c.l2, (unsigned long)c.l3,
                 (unsigned long)c.share);
}

TEST(caches_are_requested)
{
    enum { SET = 4 * 64 * 1000 };
    answers.amd = answers.empty = false;
    for (made.basic = 3; made.basic < 6; made.basic++) {
        answers.caches = 4;
        bool there = made.basic >= 4;
        expect_caches(there ? 2 * SET : 0, there ? 3 * SET : 0, there ? 4 * SET : 0, there ? 4 * SET / 8 : 0);
    }
    answers.caches = 0;
    expect_caches(0, 0, 0, 0);
    answers.caches = 1;
    expect_caches(0, 0, 0, 0);
    answers.caches = 3;
    expect_caches(2 * SET, 3 * SET, 0, 0);
    answers.caches = 100; /* without an end: no more than 16 */
    expect_caches(2 * SET, 3 * SET, 16 * SET, 2 * SET);
    answers.caches = 4;
    answers.amd = true;
    expect_caches(4 * SET, 6 * SET, 8 * SET, SET);
    made.basic = 1;
    expect_caches(4 * SET, 6 * SET, 8 * SET, SET);
    made.basic = 4;
    answers.empty = true;
    expect_caches(2 * SET, 3 * SET, 4 * SET, SET / 2);
    answers.threads = 4; /* of a core, as the first says */
    expect_caches(2 * SET, 3 * SET, 4 * SET, SET);
    answers.threads = 1;
    expect_caches(2 * SET, 3 * SET, 4 * SET, SET / 4);
}
