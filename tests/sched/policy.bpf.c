/* SPDX-License-Identifier: GPL-2.0-or-later */
/* schedulers/policy.h in the kernel, for test_policy_bpf.c. */
#include "schedulers/live/kernel.h"
#include "tests/sched/policy_call.h"

char license_of_test[] SEC("license") = "GPL";

SEC("syscall")
int policy_in_kernel(struct policy_call *c)
{
    struct policy_call copy = *c;
    policy_do(&copy);
    *c = copy;
    return 0;
}
