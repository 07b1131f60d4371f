/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calling convention: every variant of every kernel is called with random values in the callee-saved registers and
 * with canaries on the stack above its return address, and checked after it returns (System V ABI, AMD64 supplement,
 * 3.2.1: rbx, rbp, rsp, r12 to r15, the control bits of MXCSR, the x87 control word; the direction flag clear). Then
 * the checker itself, with functions that break one rule each.
 */
#include <unistd.h>
#include <x86intrin.h>

#include "drivers/block/block.h"
#include "kernels/kernels.h"
#include "kernels/workloads.h"
#include "tests/support/small_walk.h"
#include "tests/support/test.h"

enum { SAVED = 6, CANARIES = 8 };
static const char *const saved_names[SAVED] = {"rbx", "rbp", "r12", "r13", "r14", "r15"};

/* The offsets are used by abi_call below. */
struct abi_call {
    kernel_fn *function;                /*   0 */
    uint64_t args[4];                   /*   8 */
    uint64_t result;                    /*  40 */
    uint64_t saved_before[SAVED];       /*  48 */
    uint64_t saved_after[SAVED];        /*  96 */
    uint64_t rsp_before, rsp_after;     /* 144, 152 */
    uint64_t canary_before[CANARIES];   /* 160 */
    uint64_t canary_after[CANARIES];    /* 224 */
    uint64_t flags_after;               /* 288 */
    uint32_t mxcsr_before, mxcsr_after; /* 296, 300 */
    uint16_t x87_before, x87_after;     /* 304, 306 */
    struct kernel_walk *walk;           /* 312: the fifth argument */
};
_Static_assert(offsetof(struct abi_call, result) == 40, "offset in abi_call");
_Static_assert(offsetof(struct abi_call, rsp_before) == 144, "offset in abi_call");
_Static_assert(offsetof(struct abi_call, canary_after) == 224, "offset in abi_call");
_Static_assert(offsetof(struct abi_call, mxcsr_before) == 296, "offset in abi_call");
_Static_assert(offsetof(struct abi_call, x87_after) == 306, "offset in abi_call");
_Static_assert(offsetof(struct abi_call, walk) == 312, "offset in abi_call");

void abi_call(struct abi_call *call);
/* The frame's address is kept in memory, not on the stack: the callee may return with a wrong rsp. */
__asm__(".local abi_frame\n .comm abi_frame, 8, 8\n"
        ".text\n .type abi_call, @function\n"
        "abi_call:\n"
        "  push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "  sub $72, %rsp\n" /* eight canaries, and rsp a multiple of 16 at the call */
        "  mov %rdi, abi_frame(%rip)\n"
        "  mov %rdi, %r11\n"
        "  xor %ecx, %ecx\n"
        "1: mov 160(%r11,%rcx,8), %rax\n mov %rax, (%rsp,%rcx,8)\n inc %ecx\n cmp $8, %ecx\n jb 1b\n"
        "  mov %rsp, 144(%r11)\n"
        "  stmxcsr 296(%r11)\n fnstcw 304(%r11)\n"
        "  mov 48(%r11), %rbx\n mov 56(%r11), %rbp\n mov 64(%r11), %r12\n"
        "  mov 72(%r11), %r13\n mov 80(%r11), %r14\n mov 88(%r11), %r15\n"
        "  mov 8(%r11), %rdi\n mov 16(%r11), %rsi\n mov 24(%r11), %rdx\n mov 32(%r11), %rcx\n"
        "  mov 312(%r11), %r8\n"
        "  call *(%r11)\n"
        "  mov abi_frame(%rip), %r11\n"
        "  mov %rax, 40(%r11)\n"
        "  mov %rbx, 96(%r11)\n mov %rbp, 104(%r11)\n mov %r12, 112(%r11)\n"
        "  mov %r13, 120(%r11)\n mov %r14, 128(%r11)\n mov %r15, 136(%r11)\n"
        "  mov %rsp, 152(%r11)\n"
        "  mov 144(%r11), %rsp\n"
        "  pushfq\n pop 288(%r11)\n cld\n"
        "  stmxcsr 300(%r11)\n fnstcw 306(%r11)\n ldmxcsr 296(%r11)\n fldcw 304(%r11)\n"
        "  xor %ecx, %ecx\n"
        "2: mov (%rsp,%rcx,8), %rax\n mov %rax, 224(%r11,%rcx,8)\n inc %ecx\n cmp $8, %ecx\n jb 2b\n"
        "  add $72, %rsp\n"
        "  pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n"
        "  ret\n"
        ".size abi_call, .-abi_call\n");

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Calls f and writes what it broke to `broken` ("rbx stack "); returns f's result. */
static uint64_t checked_call(kernel_fn *f, uint64_t deadline, void *state, uint64_t dirty, uint64_t *seed,
                             char broken[96])
{
    struct kernel_walk walk = small_walk();
    struct abi_call c = {.function = f, .args = {3, deadline, (uintptr_t)state, dirty}, .walk = &walk};
    for (size_t i = 0; i < SAVED; i++)
        c.saved_before[i] = next_random(seed);
    for (size_t i = 0; i < CANARIES; i++)
        c.canary_before[i] = next_random(seed);
    abi_call(&c);
    broken[0] = '\0';
    for (size_t i = 0; i < SAVED; i++)
        if (c.saved_before[i] != c.saved_after[i])
            strcat(strcat(broken, saved_names[i]), " ");
    if (c.rsp_before != c.rsp_after)
        strcat(broken, "rsp ");
    if (memcmp(c.canary_before, c.canary_after, sizeof c.canary_before) != 0)
        strcat(broken, "stack ");
    /* bits 0 to 5 are the exceptions seen so far, which any arithmetic may set */
    if ((c.mxcsr_before & ~0x3fu) != (c.mxcsr_after & ~0x3fu))
        strcat(broken, "mxcsr ");
    if (c.x87_before != c.x87_after)
        strcat(broken, "x87 ");
    if (c.flags_after & 1u << 10)
        strcat(broken, "df ");
    return c.result;
}

static void check_variant(const struct kernel *k, unsigned density, uint64_t *seed)
{
    static uint8_t state[KERNEL_STATE_BYTES];
    kernel_fn *f = k->variants[density];
    char broken[96];
    for (unsigned how = 0; how < 8; how++) {
        uint64_t deadline = how & 1 ? __rdtsc() + 2000 : 0;
        uint64_t done = checked_call(f, deadline, how & 2 ? state : NULL, how >> 2, seed, broken);
        if (broken[0] != '\0')
            fail_msg("%s@1/%u does not preserve: %s", k->name, density, broken);
        if (deadline == 0 ? done != 3 : done == 0 || done % 3 != 0)
            fail_msg("%s@1/%u says it ran %llu blocks of 3", k->name, density, (unsigned long long)done);
    }
}

TEST(test_every_variant_keeps_the_convention)
{
    size_t count, variants = 0;
    const struct kernel *all = kernel_registry(&count);
    uint64_t seed = 0x9a0b1c2d3e4f5061;
    for (size_t i = 0; i < count; i++) {
        char why[240];
        if ((all[i].features & ~kernel_cpu_features()) != 0 ||
            kernel_request_permission(all[i].features, why, sizeof why) != 0) {
            print_message("%s: not run, this CPU lacks what it needs\n", all[i].name);
            continue;
        }
        unsigned most = all[i].has_density ? KERNEL_DENSITY_MAX : 1;
        for (unsigned n = 1; n <= most; n++, variants++)
            check_variant(&all[i], n, &seed);
    }
    assert_true(variants > 0);
    print_message("%zu variants, 8 calls each\n", variants);
}

static uint64_t chain_as_kernel(uint64_t blocks, uint64_t deadline, void *state, uint64_t dirty,
                                struct kernel_walk *walk)
{
    (void)blocks, (void)deadline, (void)state, (void)dirty, (void)walk;
    uint64_t begin;
    return kernel_chain_long(&begin) + kernel_chain_short(&begin);
}

TEST(test_the_clock_keeps_the_convention)
{
    uint64_t seed = 77, begin;
    char broken[96];
    checked_call(chain_as_kernel, 0, NULL, 0, &seed, broken);
    assert_string_equal(broken, "");
    /* directly too: chain_as_kernel would hide a register that the chain loses and it does not use */
    struct abi_call c = {.function = (kernel_fn *)(void *)kernel_chain_long, .args = {(uintptr_t)&begin}};
    for (size_t i = 0; i < SAVED; i++)
        c.saved_before[i] = next_random(&seed);
    abi_call(&c);
    assert_memory_equal(c.saved_before, c.saved_after, sizeof c.saved_before);
    assert_int_equal(c.rsp_before, c.rsp_after);
    assert_true(begin < c.result);
}

TEST(test_workloads_keep_the_convention)
{
    static _Alignas(64) uint64_t buffer[128];
    uint64_t seed = 31;
    char broken[96];
    for (enum workload_number n = 0; n < WORKLOADS; n++) {
        kernel_fn *f = (kernel_fn *)(void *)workload_get(n)->run; /* four arguments of the same sizes */
        checked_call(f, (uintptr_t)buffer, (void *)(sizeof buffer - 1), 7, &seed, broken);
        assert_string_equal(broken, "");
    }
}

/* A block that changes all registers that are its own. */
TEST(test_blocks_from_files_keep_the_convention)
{
    static const uint8_t
        code
            [] =
                {
                    0x48, 0xff, 0xc0, 0x48, 0xff, 0xc3, 0x48, 0xff, 0xc1, 0x48, 0xff,
                    0xc2, 0x48, 0xff, 0xc5, 0x48, 0xff, 0xc6, 0x48, 0xff, 0xc7, 0x49,
                    0xff, 0xc0, 0x49, 0xff, 0xc4, 0x49, 0xff, 0xc5, 0x0f, 0x58, 0xc1}; /* inc ...; addps xmm0, xmm1 */
    char path[] = "/tmp/abi_XXXXXX.bin";
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0 && write(fd, code, sizeof code) == (ssize_t)sizeof code && close(fd) == 0);
    struct block_set set = {.n = 0};
    struct machine_error err;
    int status = block_set_add(&set, path, &err);
    unlink(path);
    if (status == MACHINE_CANNOT) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    assert_int_equal(status, MACHINE_OK);
    uint64_t seed = 5;
    check_variant(set.kernel[0], 1, &seed);
    block_set_free(&set);
}

/* Functions that break one rule each, and one that breaks none. */
#define BROKEN(name, code)                                                                                             \
    kernel_fn name;                                                                                                    \
    __asm__(".text\n .type " #name ", @function\n" #name ":\n" code "\n ret\n .size " #name ", .-" #name "\n")
BROKEN(break_nothing, "mov %rdi, %rax\n xor %r11d, %r11d\n mov $1, %ecx\n mov $2, %edx");
BROKEN(break_rbx, "mov $1, %ebx");
BROKEN(break_rbp, "inc %rbp");
BROKEN(break_r12, "not %r12");
BROKEN(break_r13, "mov %r13d, %r13d");
BROKEN(break_r14, "xor $1, %r14");
BROKEN(break_r15, "mov %rsp, %r15");
BROKEN(break_rsp, "pop %rax\n sub $16, %rsp\n push %rax");
BROKEN(break_stack, "movq $0, 8(%rsp)");
BROKEN(break_stack_far, "notq 64(%rsp)");
BROKEN(break_mxcsr, "stmxcsr -8(%rsp)\n xorl $0x6000, -8(%rsp)\n ldmxcsr -8(%rsp)");
BROKEN(break_x87, "fnstcw -8(%rsp)\n xorw $0x0c00, -8(%rsp)\n fldcw -8(%rsp)");
BROKEN(break_df, "std");
BROKEN(break_two, "mov $1, %ebx\n mov $1, %r15d");

TEST(test_the_checker_sees_broken_functions)
{
    static const struct {
        kernel_fn *function;
        const char *expected;
    } cases[] = {{break_nothing, ""},     {break_rbx, "rbx "},         {break_rbp, "rbp "},     {break_r12, "r12 "},
                 {break_r13, "r13 "},     {break_r14, "r14 "},         {break_r15, "r15 "},     {break_rsp, "rsp "},
                 {break_stack, "stack "}, {break_stack_far, "stack "}, {break_mxcsr, "mxcsr "}, {break_x87, "x87 "},
                 {break_df, "df "},       {break_two, "rbx r15 "}};
    uint64_t seed = 4711;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char broken[96];
        checked_call(cases[i].function, 0, NULL, 0, &seed, broken);
        assert_string_equal(broken, cases[i].expected);
    }
}
