/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions of schedulers/policy.h, run by this computer's kernel (BPF_PROG_TEST_RUN)
 * and by this program, on the same random arguments. Usage: test_policy_bpf [CALLS]. Status 3: BPF is not permitted.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sched/policy_call.h"
#include "util/splitmix64.h"

extern const char policy_object[];
extern const size_t policy_object_size;
__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".globl policy_object, policy_object_size\n"
        "policy_object: .incbin \"" POLICY_OBJECT "\"\n"
        ".balign 8\n"
        "policy_object_size: .quad . - policy_object\n"
        ".popsection\n");

static struct policy_turbos turbos = {.n = 16, .n_levels = 3};
static char verifier[65536]; /* its log: the last line has what it took */

static struct bpf_object *load(void)
{
    const struct bpf_object_open_opts options = {.sz = sizeof(options),
                                                 .object_name = "policy",
                                                 .kernel_log_buf = verifier,
                                                 .kernel_log_size = sizeof(verifier),
                                                 .kernel_log_level = 4};
    struct bpf_object *object = bpf_object__open_mem(policy_object, policy_object_size, &options);
    if (object == NULL || (bpf_map__set_initial_value(bpf_object__find_map_by_name(object, ".rodata.turbos"), &turbos,
                                                      sizeof(turbos)) == 0 &&
                           bpf_object__load(object) == 0))
        return object;
    const int error = errno;
    bpf_object__close(object);
    errno = error;
    return NULL;
}

/* Numbers of all sizes below 2^bits. */
static policy_u64 number(uint64_t *seed, unsigned bits)
{
    const uint64_t shift = 64 - bits + splitmix64((*seed)++) % bits;
    return splitmix64((*seed)++) >> shift;
}

static struct policy_call draw(uint64_t *seed)
{
    struct policy_call c;
    memset(&c, 0, sizeof(c));
    c.loads = (struct policy_loads){number(seed, 10), number(seed, 10), number(seed, 8), number(seed, 8)};
    c.ns = number(seed, 40);
    c.shorts = number(seed, 32);
    c.actual_khz = number(seed, 23);
    c.ideal_khz = 1 + number(seed, 23);
    c.fast = number(seed, 60);
    c.slow = number(seed, 60);
    c.stalled = (policy_u32)number(seed, 21);
    c.own = (policy_u32)number(seed, 2);
    for (unsigned level = 0; level < turbos.n_levels; level++)
        c.slice.cycles[level] = number(seed, 26);
    /* at 4.2 to 2.1 GHz, whose turbo levels lie in between */
    c.slice.ns = (c.slice.cycles[0] + c.slice.cycles[1] + c.slice.cycles[2]) * 10 / (21 + number(seed, 5) % 22);
    c.slice.stalled = (policy_u32)number(seed, 20);
    c.khz = 1 + (policy_u32)number(seed, 24);
    return c;
}

int main(int argc, char **argv)
{
    const unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    uint64_t seed = 1;
    for (policy_u32 turbo = 0; turbo < turbos.n; turbo++)
        for (policy_u32 level = 0; level < turbos.n_levels; level++)
            turbos.inverse[turbo][level] = policy_inverse(4000000 - 80000 * turbo - 200000 * level);
    struct bpf_object *object = load();
    if (object == NULL) {
        fprintf(stderr, "the kernel does not take the program: %s\n%s", strerror(errno), verifier);
        return errno == EPERM ? 3 : 1;
    }
    const int program = bpf_program__fd(bpf_object__find_program_by_name(object, "policy_in_kernel"));
    for (unsigned long i = 0; i < calls; i++) {
        struct policy_call in_kernel = draw(&seed), here = in_kernel;
        struct bpf_test_run_opts options = {
            .sz = sizeof(options), .ctx_in = &in_kernel, .ctx_size_in = sizeof(in_kernel)};
        policy_do(&turbos, &here);
        if (bpf_prog_test_run_opts(program, &options) != 0 ||
            memcmp(&in_kernel.result, &here.result, sizeof(here.result)) != 0) {
            fprintf(stderr, "call %lu differs (%s)\n", i, strerror(errno));
            return 1;
        }
    }
    const char *processed = strstr(verifier, "processed ");
    printf("%lu calls, equal; the verifier: %s", calls, processed != NULL ? processed : "no word\n");
    bpf_object__close(object);
    return 0;
}
