/* SPDX-License-Identifier: GPL-2.0-or-later */
/* schedulers/policy.h in the kernel, for test_policy_bpf.c. */
#include "schedulers/live/kernel.h"
#include "tests/sched/policy_call.h"

char license_of_test[] SEC("license") = "GPL";

/* Read-only: the verifier then knows the number of levels, and does not follow the loops to their bounds (where it
 * does not, they exceed its million instructions). */
const volatile struct policy_turbos turbos SEC(".rodata.turbos");

SEC("syscall")
int policy_in_kernel(struct policy_call *c)
{
    struct policy_call copy = *c;
    const struct policy_turbos *table = (const struct policy_turbos *)&turbos;
    asm volatile("" : "+r"(table)); /* or the compiler takes it for the zeros that it is here */
    policy_do(table, &copy);
    *c = copy;
    return 0;
}
