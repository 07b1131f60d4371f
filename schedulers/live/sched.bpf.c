/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scheduler for Linux' sched_ext (doc/scheduler.md). Tasks wait in a queue for each class and NUMA node, in the order
 * of a virtual time that is comparable across CPUs and charged by the clock. Mode fair has one class; mode specialize
 * keeps tasks that are marked as wide on wide cores (policy.h; Gottschlag's dissertation, 6.2), which others fill.
 */
#include "schedulers/live/kernel.h"
#include "schedulers/live/shared.h"
#include "schedulers/live/state.bpf.h"

char scheduler_license[] SEC("license") = "GPL";

const volatile struct live_config config SEC(".rodata.config");
struct live_state state SEC(".data.state");
struct live_control control SEC(".data.control");

/* What is known of a task. */
struct task {
    struct live_counts counts;
    u64 since;               /* it runs since then, ns; 0: it does not */
    u64 wide_since, changed; /* CPU time at which it became wide, and other */
    u64 shorts;              /* policy_shorts() */
    u64 marked, ended;       /* CPU time of its last mark, and of the call that ends its phase; 0: none */
    s32 cpu;                 /* where it ran last; -1: nowhere */
    u64 penalty;             /* what others lost by it and it has not been charged for, ns */
    u32 own;                 /* the highest level that it could cause since it has its CPU */
    u8 wide, held, counted;  /* held: wide until taken back; counted: among those that run or are ready */
    u8 seen;                 /* counters say that it is wide, or the registers that were saved */
};
struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct task);
} tasks SEC(".maps");
/* What tasks said of themselves, or root of them: LIVE_MARK_... */
struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, u32);
} wide_marks SEC(".maps");

/* So long after a core has changed its kind, CPUs look for tasks that it alone served. Assumed: long beside slices. */
#define STRAYS_NS 5000000000ULL

static u64 now_vtime;           /* the virtual time to which all that wait have come */
static u64 changed_at;          /* when a core changed its kind, ns */
static s64 loads[LIVE_CLASSES]; /* tasks that run or are ready */
static u32 n_wide;              /* cores */
static u32 was_off;             /* live_control, followed so far */
static u8 wide_core[LIVE_CPUS_MAX];
/* What each CPU runs: the class (LIVE_NOTHING: it idles), its virtual time when it began, or went on, and now. */
static u8 runs[LIVE_CPUS_MAX];
static u64 began_at[LIVE_CPUS_MAX];
static u8 fills[LIVE_CPUS_MAX]; /* whether that is a task that belongs to cores of the other kind */
static u64 clock_of[LIVE_CPUS_MAX];

#define FOR_EACH_CPU(cpu)                                                                                              \
    for (struct bpf_iter_num it_##cpu __attribute__((cleanup(bpf_iter_num_destroy))),                                  \
         *at_##cpu = (bpf_iter_num_new(&it_##cpu, 0, (int)config.n_cpus), &it_##cpu);                                  \
         at_##cpu != 0; at_##cpu = 0)                                                                                  \
        for (int *cpu; (cpu = bpf_iter_num_next(&it_##cpu)) != 0;)

#define FOR_EACH_NODE(node)                                                                                            \
    for (struct bpf_iter_num it_##node __attribute__((cleanup(bpf_iter_num_destroy))),                                 \
         *at_##node = (bpf_iter_num_new(&it_##node, 0, (int)config.n_nodes), &it_##node);                              \
         at_##node != 0; at_##node = 0)                                                                                \
        for (int *node; (node = bpf_iter_num_next(&it_##node)) != 0;)

static u32 node_of(s32 cpu)
{
    return config.n_nodes > 1 ? config.node_of[(u32)cpu % LIVE_CPUS_MAX] % LIVE_NODES_MAX : 0;
}

/* The number of the queue of a class on a node, as the kernel knows it. */
static u64 dsq_of(u64 class, u32 node)
{
    return node * LIVE_CLASSES + class;
}

static bool before(u64 a, u64 b)
{
    return (s64)(a - b) < 0;
}

static struct task *task_of(struct task_struct *p)
{
    return bpf_task_storage_get(&tasks, p, 0, 0);
}

#include "schedulers/live/accounting.bpf.h"

static bool specializes(void)
{
    return config.specialize && *(volatile u32 *)&control.off == 0;
}

static bool cpu_is_wide(u32 cpu)
{
    const u32 core = config.core_of[cpu % LIVE_CPUS_MAX];
    return specializes() && core < LIVE_CPUS_MAX && wide_core[core];
}

/* Whether a task may use a CPU of a kind. */
static bool may_use_kind(struct task_struct *p, bool wide)
{
    bool found = false;
    if (!specializes())
        return !wide;
    if (p->nr_cpus_allowed >= (int)config.n_cpus)
        return true;
    FOR_EACH_CPU(cpu)
    found = found || (bpf_cpumask_test_cpu((u32)*cpu, p->cpus_ptr) && cpu_is_wide((u32)*cpu) == wide);
    return found;
}

/* The queue of a task: that of its class, if its affinity allows a CPU that serves it first. */
static u64 queue_of(struct task_struct *p, const struct task *t)
{
    if (!specializes())
        return LIVE_OTHER;
    return may_use_kind(p, t->wide) ? t->wide : !t->wide;
}

/* The virtual time that tasks have come to where this one may run: an idle CPU is no further behind than all. */
static u64 vtime_there(struct task_struct *p)
{
    u64 furthest = 0;
    bool found = false;
    if (p->nr_cpus_allowed >= (int)config.n_cpus)
        return now_vtime;
    FOR_EACH_CPU(cpu)
    {
        const u32 i = (u32)*cpu % LIVE_CPUS_MAX;
        const u64 clock = runs[i] == LIVE_NOTHING ? now_vtime : began_at[i];
        if (bpf_cpumask_test_cpu(i, p->cpus_ptr) && (!found || before(furthest, clock))) {
            furthest = clock;
            found = true;
        }
    }
    return found ? furthest : now_vtime;
}

/* Who did not wait is ahead by so much at most, and behind by no more: a sleeper, or who goes on since nobody waits. */
static void settle(struct task_struct *p)
{
    const u64 there = vtime_there(p), vtime = p->scx.dsq_vtime;
    if (before(vtime, there - POLICY_BONUS))
        scx_bpf_task_set_dsq_vtime(p, there - POLICY_BONUS);
    else if (before(there + POLICY_BONUS, vtime))
        scx_bpf_task_set_dsq_vtime(p, there + POLICY_BONUS);
}

/* The virtual time of the first task that waits on the node of a CPU. False: none does. */
static bool first_waits(s32 cpu, u64 *first)
{
    bool some = false;
    for (u64 class = 0; class < LIVE_CLASSES; class ++) {
        struct bpf_iter_scx_dsq it;
        struct task_struct *p;
        if (bpf_iter_scx_dsq_new(&it, dsq_of(class, node_of(cpu)), 0) == 0 && (p = bpf_iter_scx_dsq_next(&it)) != 0 &&
            (!some || before(p->scx.dsq_vtime, *first))) {
            *first = p->scx.dsq_vtime;
            some = true;
        }
        bpf_iter_scx_dsq_destroy(&it);
    }
    return some;
}

/* A task begins on a CPU, or goes on. All have come to its time, or to that of the first that waits; where none does,
 * time stands still. What it is charged from then on says nothing of others: by nice, a slice of 6 ms can be 600. */
static void begins(struct task_struct *p, s32 cpu, bool goes_on)
{
    u64 all = 0;
    const bool some = first_waits(cpu, &all);
    if (goes_on && !some)
        settle(p);
    const u64 vtime = p->scx.dsq_vtime;
    began_at[(u32)cpu % LIVE_CPUS_MAX] = clock_of[(u32)cpu % LIVE_CPUS_MAX] = vtime;
    if (some && before(vtime, all))
        all = vtime;
    if (some && before(now_vtime, all))
        now_vtime = all;
}

/* An idle CPU of a kind that a task may use, taken, of a node unless that is `any`; -1: there is none. */
static s32 take_idle_there(struct task_struct *p, bool wide, u32 node, bool any)
{
    s32 taken = -1;
    FOR_EACH_CPU(cpu)
    if (taken < 0 && (any || node_of(*cpu) == node) && cpu_is_wide((u32)*cpu) == wide &&
        bpf_cpumask_test_cpu((u32)*cpu, p->cpus_ptr) && scx_bpf_test_and_clear_cpu_idle(*cpu))
        taken = *cpu;
    return taken;
}

/* The same: the first one, one on the task's node, one elsewhere. */
static s32 take_idle(struct task_struct *p, bool wide, s32 first)
{
    s32 taken = -1;
    if (first >= 0 && cpu_is_wide((u32)first) == wide && bpf_cpumask_test_cpu((u32)first, p->cpus_ptr) &&
        scx_bpf_test_and_clear_cpu_idle(first))
        return first;
    if (config.n_nodes > 1)
        taken = take_idle_there(p, wide, node_of(scx_bpf_task_cpu(p)), false);
    return taken >= 0 ? taken : take_idle_there(p, wide, 0, true);
}

/* An idle CPU for a task: of its own kind; for those that are not wide, any. */
static s32 idle_for(struct task_struct *p, const struct task *t, s32 first)
{
    if (specializes()) {
        const bool wide = queue_of(p, t) == LIVE_WIDE;
        const s32 cpu = take_idle(p, wide, first);
        if (cpu >= 0 || wide)
            return cpu;
    } else if (config.n_nodes > 1) {
        return take_idle(p, false, first);
    } else if (first >= 0 && bpf_cpumask_test_cpu((u32)first, p->cpus_ptr) && scx_bpf_test_and_clear_cpu_idle(first)) {
        return first;
    }
    return scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
}

/* ---- what a task is ---- */

/* Adds to what is counted of a task, and of its class on a CPU. */
static __always_inline void tally(struct task *t, u32 cpu, const struct live_counts *more)
{
    struct live_counts *c = &state.counts[cpu % LIVE_CPUS_MAX][t->wide ? LIVE_WIDE : LIVE_OTHER];
#define TALLY(what)                                                                                                    \
    c->what += more->what;                                                                                             \
    t->counts.what += more->what
    TALLY(run_ns);
    TALLY(charged_ns);
    TALLY(compensated_ns);
    TALLY(penalty_ns);
    TALLY(migrations);
    TALLY(dispatches);
    TALLY(looks);
    TALLY(used);
#undef TALLY
}

static u64 cpu_time(const struct task *t)
{
    return t->counts.run_ns + (t->since != 0 ? bpf_ktime_get_ns() - t->since : 0);
}

static void count(struct task *t, bool counted)
{
    if (t->counted == counted)
        return;
    t->counted = counted;
    __sync_fetch_and_add(&loads[t->wide ? LIVE_WIDE : LIVE_OTHER], counted ? 1 : -1);
}

/* At so much CPU time. Only where the task's queue is locked, as in all callbacks. */
static void become(struct task *t, bool wide, u64 time)
{
    const bool counted = t->counted;
    if (t->wide == wide)
        return;
    count(t, false);
    if (wide) {
        t->shorts = policy_shorts(t->shorts, time - t->changed);
        t->wide_since = time;
    } else {
        t->changed = time;
    }
    t->wide = wide;
    count(t, counted);
}

/* CPU time after which a wide task is not: of registers, the last look is up to a slice ago. */
static u64 timeout(void)
{
    return POLICY_WIDE_TIMEOUT + (config.registers != 0 ? config.slice_ns : 0);
}

/* Follows the task's mark and what was counted or saved, the call that ended its phase, and the timeout. */
static void classify(struct task_struct *p, struct task *t)
{
    u32 *mark = config.marks ? bpf_task_storage_get(&wide_marks, p, 0, 0) : 0;
    const u32 said = mark != 0 ? *mark : t->seen ? LIVE_MARK_PHASE : LIVE_MARK_NONE;
    const u64 time = cpu_time(t);
    if (said == LIVE_MARK_NONE && t->held)
        become(t, false, time);
    t->held = said == LIVE_MARK_HELD;
    if (said == LIVE_MARK_PHASE && t->wide && t->ended == 0)
        t->wide_since = time;
    if (t->wide && !t->held && (t->ended != 0 || time - t->wide_since > timeout())) {
        become(t, false, t->ended != 0 ? t->ended : time);
        __sync_fetch_and_add(&state.phases_ended[t->ended == 0], 1);
    }
    t->ended = 0;
    t->seen = 0;
    if (said == LIVE_MARK_PHASE && mark != 0)
        *mark = LIVE_MARK_NONE;
    if (said != LIVE_MARK_NONE)
        become(t, true, t->marked != 0 ? t->marked : time);
    t->marked = 0;
}

/* Of a task that runs: what it ran since the last time, by the clock, or as its counters say. */
static void charge(struct task_struct *p, struct task *t)
{
    const u32 i = (u32)scx_bpf_task_cpu(p) % LIVE_CPUS_MAX;
    const u64 now = bpf_ktime_get_ns();
    if (t->since == 0)
        return;
    struct live_counts more = {.run_ns = now - t->since};
    const u64 billed = config.events != 0 ? account(p, t, i, &more) : more.run_ns;
    more.charged_ns = billed * 100 / (p->scx.weight != 0 ? p->scx.weight : 100);
    const u64 vtime = p->scx.dsq_vtime + more.charged_ns;
    tally(t, i, &more);
    t->since = now;
    scx_bpf_task_set_dsq_vtime(p, vtime);
    clock_of[i] = vtime;
}

/* A task marks itself by a system call that Linux itself refuses; other system calls end phases. Interrupts come in
 * between: what follows from it is left to classify(), at the next tick at the latest. */
SEC("tp_btf/sys_enter")
int BPF_PROG(on_call, struct pt_regs *regs, long id)
{
    struct task_struct *p = bpf_get_current_task_btf();
    struct task *t = task_of(p);
    if (t == 0)
        return 0;
    if (config.marks && id == 157 && regs->di == LIVE_PRCTL && regs->si <= LIVE_MARK_HELD) { /* prctl of x86-64 */
        u32 *mark = bpf_task_storage_get(&wide_marks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
        if (mark != 0)
            *mark = (u32)regs->si;
        t->marked = cpu_time(t);
    } else if (config.injected && id == 157 && regs->di == LIVE_PRCTL_INJECT) {
        struct live_injected *i = bpf_task_storage_get(&injected, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
        if (i != 0)
            *i = (struct live_injected){{regs->si, regs->dx, regs->r10}, regs->r8};
    } else if (t->wide && !t->held && t->ended == 0 && policy_call_ends_phase(t->shorts)) {
        t->ended = cpu_time(t);
    }
    return 0;
}

/* The current task's registers have been saved: another one is to run. What it used, classify() follows. */
SEC("tp_btf/x86_fpu_regs_deactivated")
int BPF_PROG(on_saved, struct fpu *fpu)
{
    struct task *t = task_of(bpf_get_current_task_btf());
    if (t == 0)
        return 0;
    t->seen = (saved_registers(fpu) & config.registers) != 0;
    tally(t, bpf_get_smp_processor_id(), &(const struct live_counts){.looks = 1, .used = t->seen});
    return 0;
}

/* ---- how many wide cores ---- */

/* The first CPU of a core that is not wide and has nothing to do, where no wide CPU idles; -1: there is none. */
static s32 idle_other_cpu(void)
{
    s32 found = -1;
    bool wide_idles = false;
    FOR_EACH_CPU(cpu)
    {
        const u32 i = (u32)*cpu % LIVE_CPUS_MAX, core = config.core_of[i];
        if (core >= LIVE_CPUS_MAX)
            continue;
        wide_idles = wide_idles || (wide_core[core] && runs[i] == LIVE_NOTHING);
        if (core == i && found < 0 && !wide_core[core] && runs[i] == LIVE_NOTHING)
            found = (s32)i;
        else if (core == (u32)found && runs[i] != LIVE_NOTHING)
            found = -1; /* a sibling is busy */
    }
    return wide_idles ? -1 : found;
}

static bool wide_waits(void)
{
    bool found = false;
    FOR_EACH_NODE(node)
    found = found || scx_bpf_dsq_nr_queued(dsq_of(LIVE_WIDE, (u32)*node)) > 0;
    return found;
}

/* The core of this CPU changes its kind, if that is better. */
static void consider_kind(u32 cpu)
{
    const u32 core = config.core_of[cpu % LIVE_CPUS_MAX];
    const u64 at = changed_at, now = bpf_ktime_get_ns();
    if (!specializes() || core >= LIVE_CPUS_MAX || !policy_may_change(now - at))
        return;
    const struct policy_loads l = {loads[LIVE_WIDE] > 0 ? (u64)loads[LIVE_WIDE] : 0,
                                   loads[LIVE_OTHER] > 0 ? (u64)loads[LIVE_OTHER] : 0, n_wide, config.n_cores - n_wide};
    const bool was = wide_core[core];
    const s32 idle = l.other_cores > 1 && wide_waits() ? idle_other_cpu() : -1;
    if (was ? policy_narrows(&l) : policy_widens(&l, idle >= 0)) {
        if (__sync_val_compare_and_swap(&changed_at, at, now) != at)
            return;
        wide_core[core] = !was;
        __sync_fetch_and_add(&n_wide, was ? -1 : 1);
        __sync_fetch_and_add(was ? &state.narrowed : &state.widened, 1);
        state.wide_cores = n_wide;
        FOR_EACH_CPU(sibling)
        if (config.core_of[(u32)*sibling % LIVE_CPUS_MAX] == core && (u32)*sibling != cpu)
            scx_bpf_kick_cpu(*sibling, SCX_KICK_PREEMPT);
    } else if (idle >= 0) {
        scx_bpf_kick_cpu(idle, SCX_KICK_IDLE); /* it considers itself */
    }
}

/* ---- who runs where ---- */

static u64 decision_begins(void)
{
    return config.timed ? bpf_ktime_get_ns() : 0;
}

static void decision_ends(const u64 *begun)
{
    if (config.timed)
        state.decision_ns[bpf_get_smp_processor_id() % LIVE_CPUS_MAX] += bpf_ktime_get_ns() - *begun;
}

static void runs_now(struct task_struct *p, const struct task *t, u32 cpu)
{
    runs[cpu % LIVE_CPUS_MAX] = t->wide;
    fills[cpu % LIVE_CPUS_MAX] = cpu_is_wide(cpu) && queue_of(p, t) == LIVE_OTHER;
}

/* The time from here to the end of the function is that of a decision. */
#define TIMED const u64 begun __attribute__((cleanup(decision_ends), unused)) = decision_begins()

static bool is_victim(const struct task_struct *p)
{
    return config.fault != LIVE_FAULT_NONE && p->comm[0] == 'v' && p->comm[1] == 'i' && p->comm[2] == 'c' &&
           p->comm[3] == 't' && p->comm[4] == 'i' && p->comm[5] == 'm' && p->comm[6] == 0;
}

SEC("struct_ops/live_select_cpu")
s32 BPF_PROG(live_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
    TIMED;
    struct task *t = task_of(p);
    const s32 cpu = t != 0 && !is_victim(p) ? idle_for(p, t, prev_cpu) : -1;
    if (cpu < 0)
        return prev_cpu;
    scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, config.slice_ns, 0);
    return cpu;
}

/* A CPU runs what may wait: the own one of the task, if that is ahead; of a wide task, a wide one with another task. */
static void take_place(struct task_struct *p, u64 queue, u64 vtime)
{
    const s32 cpu = scx_bpf_task_cpu(p);
    s32 other = -1;
    if (cpu >= 0 && queue == cpu_is_wide((u32)cpu) &&
        before(vtime + POLICY_GRANULARITY, clock_of[(u32)cpu % LIVE_CPUS_MAX])) {
        scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
        return;
    }
    if (queue != LIVE_WIDE)
        return;
    FOR_EACH_CPU(at)
    if (other < 0 && runs[(u32)*at % LIVE_CPUS_MAX] == LIVE_OTHER && cpu_is_wide((u32)*at) &&
        bpf_cpumask_test_cpu((u32)*at, p->cpus_ptr))
        other = *at;
    if (other >= 0)
        scx_bpf_kick_cpu(other, SCX_KICK_PREEMPT);
}

SEC("struct_ops/live_enqueue")
void BPF_PROG(live_enqueue, struct task_struct *p, u64 flags)
{
    TIMED;
    struct task *t = task_of(p);
    const u64 vtime = p->scx.dsq_vtime;
    /* threads of the kernel that belong to a CPU, first */
    if (t == 0 || (p->flags & PF_KTHREAD && p->nr_cpus_allowed == 1)) {
        scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, config.slice_ns, flags);
        return;
    }
    if (is_victim(p)) {
        if (config.fault == LIVE_FAULT_ERROR)
            scx_bpf_dsq_insert(p, LIVE_CLASSES * LIVE_NODES_MAX, config.slice_ns, flags);
        return;
    }
    const u64 queue = queue_of(p, t);
    scx_bpf_dsq_insert_vtime(p, dsq_of(queue, node_of(scx_bpf_task_cpu(p))), config.slice_ns, vtime, flags);
    const s32 here = scx_bpf_task_cpu(p);
    const bool last = flags & SCX_ENQ_LAST, back = last && queue == cpu_is_wide((u32)here);
    const s32 idle = back ? -1 : last ? take_idle(p, queue == LIVE_WIDE, -1) : idle_for(p, t, -1);
    if (idle >= 0)
        scx_bpf_kick_cpu(idle, SCX_KICK_IDLE);
    else if (last) /* or this CPU would idle */
        scx_bpf_kick_cpu(here, 0);
    if (idle < 0 && !back && (flags & SCX_ENQ_WAKEUP || queue == LIVE_WIDE))
        take_place(p, queue, vtime);
}

/* Runs the first of a class's queue on a node that may run here, unless `than` comes before it; with `stray`, the first
 * of those that no CPU of the queue's kind serves any more. Returns whether it did. */
static bool take_from(u64 class, u32 node, s32 cpu, struct task_struct *than, bool stray)
{
    struct bpf_iter_scx_dsq it;
    struct task_struct *p;
    bool taken = false;
    if (bpf_iter_scx_dsq_new(&it, dsq_of(class, node), 0) == 0) {
        while ((p = bpf_iter_scx_dsq_next(&it)) != 0) {
            if (!bpf_cpumask_test_cpu((u32)cpu, p->cpus_ptr) || (stray && may_use_kind(p, class == LIVE_WIDE)))
                continue;
            if (than != 0 && !before(p->scx.dsq_vtime, than->scx.dsq_vtime))
                break;
            if (scx_bpf_dsq_move(&it, p, SCX_DSQ_LOCAL, 0)) {
                taken = true;
                break;
            }
        }
    }
    bpf_iter_scx_dsq_destroy(&it);
    return taken;
}

/* The virtual time of the first of such a queue that may run here; false: there is none. */
static bool first_of(u64 class, u32 node, s32 cpu, u64 *vtime)
{
    struct bpf_iter_scx_dsq it;
    struct task_struct *p;
    bool found = false;
    if (bpf_iter_scx_dsq_new(&it, dsq_of(class, node), 0) == 0)
        while (!found && (p = bpf_iter_scx_dsq_next(&it)) != 0)
            if (bpf_cpumask_test_cpu((u32)cpu, p->cpus_ptr)) {
                *vtime = p->scx.dsq_vtime;
                found = true;
            }
    bpf_iter_scx_dsq_destroy(&it);
    return found;
}

/* The node whose tasks of a class come first: the CPU's own, unless the first of another one, which moves then, is
 * behind what runs here or would by more than a slice. */
static u32 node_to_serve(u64 class, s32 cpu, const struct task_struct *than)
{
    const u32 own = node_of(cpu);
    u64 least = 0, vtime;
    u32 best = own;
    bool found = first_of(class, own, cpu, &least);
    if (than != 0 && (!found || before(than->scx.dsq_vtime, least))) {
        least = than->scx.dsq_vtime;
        found = true;
    }
    least -= config.slice_ns;
    FOR_EACH_NODE(node)
    if ((u32)*node != own && first_of(class, (u32)*node, cpu, &vtime) && (!found || before(vtime, least))) {
        best = (u32)*node;
        least = vtime;
        found = true;
    }
    return best;
}

/* take_from() of the node that comes first; of strays, any. */
static bool take(u64 class, s32 cpu, struct task_struct *than, bool stray)
{
    bool taken = false;
    if (config.n_nodes < 2)
        return take_from(class, 0, cpu, than, stray);
    if (!stray)
        return take_from(class, node_to_serve(class, cpu, than), cpu, than, false);
    FOR_EACH_NODE(node)
    taken = taken || take_from(class, (u32)*node, cpu, than, true);
    return taken;
}

/* Whether a CPU that a task may use, and that is not wide, has nothing to do. */
static bool other_idles(struct task_struct *p)
{
    bool found = false;
    FOR_EACH_CPU(cpu)
    {
        const u32 i = (u32)*cpu % LIVE_CPUS_MAX;
        found = found || (runs[i] == LIVE_NOTHING && config.core_of[i] < LIVE_CPUS_MAX && !cpu_is_wide(i) &&
                          bpf_cpumask_test_cpu(i, p->cpus_ptr));
    }
    return found;
}

/* A CPU that is not wide begins to idle: a task that fills a wide one, where there are wide tasks, may go there. */
SEC("struct_ops/live_update_idle")
void BPF_PROG(live_update_idle, s32 cpu, bool idle)
{
    s32 from = -1;
    if (!idle || !specializes() || loads[LIVE_WIDE] <= 0 || cpu_is_wide((u32)cpu))
        return;
    FOR_EACH_CPU(at)
    if (from < 0 && fills[(u32)*at % LIVE_CPUS_MAX] && cpu_is_wide((u32)*at))
        from = *at;
    if (from < 0)
        return;
    __sync_fetch_and_add(&state.called, 1);
    scx_bpf_kick_cpu(from, SCX_KICK_PREEMPT);
}

/* Where specialization was turned off or on, tasks wait in queues that nobody looks at, or behind others. */
static void follow_control(void)
{
    const u32 off = *(volatile u32 *)&control.off;
    if (was_off == off)
        return;
    was_off = off;
    changed_at = bpf_ktime_get_ns();
    state.wide_cores = off ? 0 : n_wide;
}

SEC("struct_ops/live_dispatch")
void BPF_PROG(live_dispatch, s32 cpu, struct task_struct *prev)
{
    TIMED;
    struct task *t = prev != 0 && prev->scx.flags & SCX_TASK_QUEUED ? task_of(prev) : 0;
    struct task_struct *keep = t != 0 ? prev : 0;
    if (t != 0) { /* it has not stopped yet, and may go on */
        charge(prev, t);
        classify(prev, t);
    }
    follow_control();
    consider_kind((u32)cpu);
    const u64 own = cpu_is_wide((u32)cpu) ? LIVE_WIDE : LIVE_OTHER, foreign = !own;
    const u64 of_keep = t != 0 ? queue_of(prev, t) : own;
    /* those that waited in the other queue when their last core of that kind changed */
    if (config.specialize && bpf_ktime_get_ns() - changed_at < STRAYS_NS && take(foreign, cpu, 0, true))
        return;
    if (take(own, cpu, of_keep == own ? keep : 0, false))
        return;
    /* wide cores are filled by others */
    if (own == LIVE_WIDE && (keep == 0 || of_keep != own) && take(LIVE_OTHER, cpu, keep, false))
        return;
    if (keep == 0)
        return;
    /* A wide task goes where it belongs, another one where a CPU idles. One that goes on comes back, so that Linux
     * saves its registers. Not while it must not migrate (besides for this program): nobody wakes this CPU for it. */
    const bool leaves = of_keep != own && (of_keep == LIVE_WIDE || other_idles(keep));
    if ((leaves || (config.registers != 0 && !(keep->flags & PF_KTHREAD))) && keep->migration_disabled <= 1)
        return;
    begins(keep, cpu, true);
    runs_now(keep, t, (u32)cpu);
    scx_bpf_task_set_slice(keep, config.slice_ns);
    t->own = 0;
}

SEC("struct_ops/live_tick")
void BPF_PROG(live_tick, struct task_struct *p)
{
    struct task *t = task_of(p);
    const s32 cpu = scx_bpf_task_cpu(p);
    if (t == 0)
        return;
    charge(p, t);
    classify(p, t);
    runs_now(p, t, (u32)cpu);
    consider_kind((u32)cpu);
    if (queue_of(p, t) == LIVE_WIDE && !cpu_is_wide((u32)cpu))
        scx_bpf_task_set_slice(p, 0);
}

/* ---- accounting ---- */

SEC("struct_ops/live_runnable")
void BPF_PROG(live_runnable, struct task_struct *p, u64 flags)
{
    struct task *t = task_of(p);
    if (t == 0)
        return;
    classify(p, t);
    if (!(p->flags & PF_KTHREAD && p->nr_cpus_allowed == 1))
        count(t, true);
    settle(p);
}

SEC("struct_ops/live_quiescent")
void BPF_PROG(live_quiescent, struct task_struct *p, u64 flags)
{
    struct task *t = task_of(p);
    if (t != 0)
        count(t, false);
}

SEC("struct_ops/live_running")
void BPF_PROG(live_running, struct task_struct *p)
{
    struct task *t = task_of(p);
    const s32 cpu = scx_bpf_task_cpu(p);
    const u32 i = (u32)cpu % LIVE_CPUS_MAX;
    if (t == 0)
        return;
    classify(p, t); /* its registers */
    begins(p, cpu, false);
    runs_now(p, t, i);
    if (t->wide && queue_of(p, t) == LIVE_WIDE && !cpu_is_wide(i))
        scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
    tally(t, i, &(const struct live_counts){.dispatches = 1, .migrations = t->cpu >= 0 && t->cpu != cpu});
    t->cpu = cpu;
    t->since = bpf_ktime_get_ns();
    account_from_now(t, i);
}

SEC("struct_ops/live_stopping")
void BPF_PROG(live_stopping, struct task_struct *p, bool runnable)
{
    struct task *t = task_of(p);
    const u32 i = (u32)scx_bpf_task_cpu(p) % LIVE_CPUS_MAX;
    if (t == 0)
        return;
    charge(p, t);
    t->since = 0;
    runs[i] = LIVE_NOTHING;
    fills[i] = 0;
    classify(p, t);
}

/* ---- what it says of tasks ---- */

SEC("iter/task")
int live_tasks(struct bpf_iter__task *at)
{
    struct task_struct *p = at->task;
    struct task *t = p != 0 ? task_of(p) : 0;
    struct live_task row = {0};
    if (t == 0 || t->counts.dispatches == 0)
        return 0;
    row.id = (u32)p->pid;
    row.class = t->wide ? LIVE_WIDE : LIVE_OTHER;
    row.counts = t->counts;
    bpf_probe_read_kernel_str(row.name, sizeof(row.name), p->comm);
    bpf_seq_write(at->meta->seq, &row, sizeof(row));
    return 0;
}

/* ---- beginning and end ---- */

SEC("struct_ops/live_init_task")
s32 BPF_PROG(live_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
    struct task *t = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (t == 0)
        return -12; /* ENOMEM */
    t->cpu = -1;
    return 0;
}

SEC("struct_ops/live_enable")
void BPF_PROG(live_enable, struct task_struct *p)
{
    scx_bpf_task_set_dsq_vtime(p, now_vtime);
}

SEC("struct_ops/live_init")
s32 BPF_PROG(live_init)
{
    const u32 first = config.first_wide;
    FOR_EACH_CPU(cpu)
    runs[(u32)*cpu % LIVE_CPUS_MAX] = LIVE_NOTHING;
    if (config.specialize) {
        wide_core[first % LIVE_CPUS_MAX] = 1;
        n_wide = state.wide_cores = 1;
    }
    s32 status = 0;
    FOR_EACH_NODE(node)
    {
        status = status != 0 ? status : scx_bpf_create_dsq(dsq_of(LIVE_OTHER, (u32)*node), -1);
        status = status != 0 ? status : scx_bpf_create_dsq(dsq_of(LIVE_WIDE, (u32)*node), -1);
    }
    return status;
}

SEC("struct_ops/live_exit")
void BPF_PROG(live_exit, struct scx_exit_info *info)
{
    bpf_probe_read_kernel_str(state.exit_reason, sizeof(state.exit_reason), info->reason);
    bpf_probe_read_kernel_str(state.exit_text, sizeof(state.exit_text), info->msg);
    state.exit_code = (u64)info->exit_code;
    state.exit_kind = info->kind;
}

SEC(".struct_ops")
struct sched_ext_ops characterize = {
    .select_cpu = (void *)live_select_cpu,
    .enqueue = (void *)live_enqueue,
    .dispatch = (void *)live_dispatch,
    .tick = (void *)live_tick,
    .runnable = (void *)live_runnable,
    .running = (void *)live_running,
    .stopping = (void *)live_stopping,
    .quiescent = (void *)live_quiescent,
    .update_idle = (void *)live_update_idle,
    .init_task = (void *)live_init_task,
    .enable = (void *)live_enable,
    .init = (void *)live_init,
    .exit = (void *)live_exit,
    .flags = SCX_OPS_ENQ_LAST | SCX_OPS_KEEP_BUILTIN_IDLE,
    .name = "characterize",
};
