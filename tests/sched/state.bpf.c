/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers that Linux saves of a process, by schedulers/live/state.bpf.h, for test_state_bpf.c. */
#include "schedulers/live/state.bpf.h"
#include "tests/sched/state_counts.h"

char license_of_test[] SEC("license") = "GPL";

int process SEC(".data.process"); /* 0: nobody */
struct state_counts counts SEC(".data.counts");

SEC("tp_btf/x86_fpu_regs_deactivated")
int BPF_PROG(count_saved, struct fpu *fpu)
{
    const u64 registers = saved_registers(fpu);
    if (process == 0 || (int)(bpf_get_current_pid_tgid() >> 32) != process)
        return 0;
    counts.saved++;
    for (int bit = 0; bit < 64; bit++)
        counts.with[bit] += registers >> bit & 1;
    return 0;
}
