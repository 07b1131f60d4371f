/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shot executes exactly as many wide instructions as it is requested: it is stepped through, and they are counted. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <ucontext.h>

#include "kernels/shots.h"
#include "tests/support/test.h"

static volatile sig_atomic_t counted, others;
static unsigned looked_for;

/* Bits of the instruction at `at`, if it is one of those that shots are made of: EVEX (512 bits) and VEX with a prefix
 * of three bytes and a constant in register 12 or above, which idioms that zero have not. */
static unsigned bits_at(const unsigned char *at)
{
    if (at[0] == 0x62)
        return 512;
    bool vex3 = at[0] == 0xc4;
    unsigned source = vex3 ? at[4] & 7u : 0, destination = vex3 ? at[4] >> 3 & 7u : 0;
    if (!vex3 || (at[1] & 0x20) != 0) /* not extended: registers below 8 */
        return 0;
    bool zeroes = at[3] == 0xef && source == destination;
    return zeroes ? 0 : (at[2] & 4) != 0 ? 256 : 128;
}

static void step(int number, siginfo_t *info, void *context)
{
    const ucontext_t *c = context;
    unsigned bits = bits_at((const unsigned char *)(uintptr_t)c->uc_mcontext.gregs[REG_RIP]);
    (void)number;
    (void)info;
    counted += bits == looked_for;
    others += bits != 0 && bits != looked_for;
}

static void step_through(shot_fn *shot, uint64_t n)
{
    const unsigned long trap = 0x100;
    counted = others = 0;
    __asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq" : : "r"(trap) : "cc", "memory");
    shot(n, 0);
    __asm__ volatile("pushfq\n\tandq %0, (%%rsp)\n\tpopfq" : : "r"(~trap) : "cc", "memory");
}

TEST(each_shot_is_exact)
{
    static const uint64_t numbers[] = {0, 1, 2, 11, 12, 13, 24, 100};
    char names[200];
    struct sigaction handler = {.sa_sigaction = step, .sa_flags = SA_SIGINFO}, before;
    unsigned tried = 0, features = kernel_cpu_features();
    kernel_shot_names(names, sizeof names);
    assert_int_equal(sigaction(SIGTRAP, &handler, &before), 0);
    for (char *rest = names, *name; (name = strtok_r(rest, " ", &rest)) != NULL;) {
        struct payload p = kernel_named(name);
        if ((p.kernel->features & ~features) != 0)
            continue;
        looked_for = p.kernel->width;
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            step_through(kernel_shot(&p), numbers[i]);
            if ((uint64_t)counted != numbers[i] || others != 0)
                fail_msg("%s: %d counted of %d, and %d others", name, (int)counted, (int)numbers[i], (int)others);
            tried++;
        }
    }
    sigaction(SIGTRAP, &before, NULL);
    assert_true(tried > 0 || (features & KERNEL_NEEDS_AVX) == 0);
}

TEST(what_has_no_shots)
{
    static const char *const none[] = {"64add", "512fma@1/8", "512fma-lat", "pause", "amx", "512perm"};
    struct payload p;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(kernel_parse(none[i], &p, NULL, 0), 0);
        assert_null(kernel_shot(&p));
    }
    assert_int_equal(kernel_parse("512fma-dirty", &p, NULL, 0), 0);
    assert_non_null(kernel_shot(&p));
}
