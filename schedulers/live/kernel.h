/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of Linux the scheduler uses: the members are found by name when the program is loaded (CO-RE), so that this need
 * not be the kernel's own header. Names and values: Linux 7.3, kernel/sched/ext.c, include/linux/sched/ext.h.
 */
#ifndef LIVE_KERNEL_H
#define LIVE_KERNEL_H

#include <stdbool.h>

typedef unsigned char __u8, u8;
typedef short __s16;
typedef unsigned short __u16, __be16, __sum16;
typedef int __s32, s32;
typedef unsigned int __u32, __be32, __wsum, u32;
typedef long long __s64, s64;
typedef unsigned long long __u64, u64;

enum {
    BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
    BPF_MAP_TYPE_CGROUP_ARRAY = 8,
    BPF_MAP_TYPE_RINGBUF = 27,
    BPF_MAP_TYPE_TASK_STORAGE = 29,
    BPF_F_NO_PREALLOC = 1,
    BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
    BPF_RB_NO_WAKEUP = 1
};
struct bpf_perf_event_value {
    u64 counter, enabled, running;
};

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define SCX_DSQ_LOCAL 0x8000000000000002ULL
enum {
    SCX_OPS_ENQ_LAST = 2,
    SCX_ENQ_WAKEUP = 1,
    SCX_KICK_IDLE = 1,
    SCX_KICK_PREEMPT = 2,
    SCX_TASK_QUEUED = 1,
    SCX_OPS_KEEP_BUILTIN_IDLE = 1
};
#define SCX_ENQ_LAST (1ULL << 41)
enum { PF_KTHREAD = 0x00200000 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct cpumask {
    unsigned long bits[1];
};
struct sched_ext_entity {
    u32 flags, weight;
    u64 slice, dsq_vtime;
};
struct task_struct {
    unsigned flags;
    int nr_cpus_allowed;
    unsigned short migration_disabled;
    const struct cpumask *cpus_ptr;
    struct sched_ext_entity scx;
    int pid, tgid;
    char comm[16];
};
struct pt_regs {
    unsigned long r10, r8, dx, si, di;
};
enum scx_exit_kind { SCX_EXIT_NONE };
struct scx_exit_info {
    enum scx_exit_kind kind;
    s64 exit_code;
    const char *reason;
    char *msg;
};
struct scx_init_task_args;
struct seq_file;
struct bpf_iter_meta {
    struct seq_file *seq;
};
#pragma clang attribute pop

struct sched_ext_ops {
    s32 (*select_cpu)(struct task_struct *p, s32 prev_cpu, u64 wake_flags);
    void (*enqueue)(struct task_struct *p, u64 flags);
    void (*dispatch)(s32 cpu, struct task_struct *prev);
    void (*tick)(struct task_struct *p);
    void (*runnable)(struct task_struct *p, u64 flags);
    void (*running)(struct task_struct *p);
    void (*stopping)(struct task_struct *p, bool runnable);
    void (*quiescent)(struct task_struct *p, u64 flags);
    void (*update_idle)(s32 cpu, bool idle);
    s32 (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
    void (*enable)(struct task_struct *p);
    s32 (*init)(void);
    void (*exit)(struct scx_exit_info *info);
    u64 flags;
    char name[128];
};

/* The context of a program that is called for each task: at fixed places. */
struct bpf_iter__task {
    struct bpf_iter_meta *meta;
    struct task_struct *task;
};

struct bpf_iter_num {
    u64 opaque[1];
} __attribute__((aligned(8)));
struct bpf_iter_scx_dsq {
    u64 opaque[6];
} __attribute__((aligned(8)));

int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym;
int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym;
void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym;
int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq_id, u64 flags) __ksym;
struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) __ksym;
void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) __ksym;
struct task_struct *bpf_task_from_pid(s32 pid) __ksym;
void bpf_task_release(struct task_struct *p) __ksym;
bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *mask) __ksym;
s32 scx_bpf_create_dsq(u64 dsq_id, s32 node) __ksym;
void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq_id, u64 slice, u64 flags) __ksym;
void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime, u64 flags) __ksym;
bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq_id, u64 flags) __ksym;
s32 scx_bpf_dsq_nr_queued(u64 dsq_id) __ksym;
void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym;
s32 scx_bpf_pick_idle_cpu(const struct cpumask *allowed, u64 flags) __ksym;
s32 scx_bpf_task_cpu(const struct task_struct *p) __ksym;
bool scx_bpf_task_set_dsq_vtime(struct task_struct *p, u64 vtime) __ksym;
bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice) __ksym;
bool scx_bpf_test_and_clear_cpu_idle(s32 cpu) __ksym;

#endif
