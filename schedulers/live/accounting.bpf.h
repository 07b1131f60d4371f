/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a task is charged where levels of others slowed it down (policy.h; Gottschlag's dissertation, 7.4), by what was
 * counted on its CPU since it was charged last, and who pays for it. For sched.bpf.c, after struct task.
 */
#ifndef LIVE_ACCOUNTING_BPF_H
#define LIVE_ACCOUNTING_BPF_H

/* Read-only, or the verifier does not know the number of levels. */
const volatile struct policy_turbos turbos SEC(".rodata.turbos");

/* The counters of each CPU: LIVE_EVENTS * CPU + event. */
struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __type(key, u32);
    __type(value, u32);
    __uint(max_entries, LIVE_EVENTS);
} counters SEC(".maps");
struct {
    __uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
    __type(key, u32);
    __type(value, u32);
    __uint(max_entries, LIVE_GROUPS_MAX);
} groups SEC(".maps");
/* struct live_record, for tests. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 4096);
} records SEC(".maps");
/* For tests: what is counted while a task runs, instead of counters. */
struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct live_injected);
} injected SEC(".maps");

static u64 counted[LIVE_CPUS_MAX][LIVE_EVENTS]; /* when each CPU's counters were read last */
static u8 was_counted[LIVE_CPUS_MAX];           /* whether that is of the task that runs there */
static struct live_record accounts[LIVE_CPUS_MAX];
/* The last task on each core, by its first CPU, that could cause a level; 0: nobody, or one that is not to pay. */
static u32 last_user[LIVE_CPUS_MAX][POLICY_LEVELS_MAX];

static bool counts(u32 event)
{
    return config.events >> event & 1;
}

/* What the counters of this CPU have counted since they were read last. False: it is not known. */
static bool read_counters(u32 cpu, u64 n[LIVE_EVENTS])
{
    bool known = was_counted[cpu % LIVE_CPUS_MAX];
    for (u32 event = 0; event < LIVE_EVENTS; event++) {
        u64 *before = &counted[cpu % LIVE_CPUS_MAX][event];
        struct bpf_perf_event_value now = {0};
        if (!counts(event))
            continue;
        if (bpf_perf_event_read_value(&counters, cpu * LIVE_EVENTS + event, &now, sizeof(now)) != 0) {
            was_counted[cpu % LIVE_CPUS_MAX] = 0;
            return false;
        }
        n[event] = now.counter - *before;
        *before = now.counter;
    }
    was_counted[cpu % LIVE_CPUS_MAX] = 1;
    return known;
}

/* What a test says that was counted in so many ns; without its word, nothing but cycles at level 0. */
static bool inject(struct task_struct *p, u64 ns, u64 n[LIVE_EVENTS])
{
    const struct live_injected none = {.mhz = {2000}}, *said = bpf_task_storage_get(&injected, p, 0, 0);
    const struct live_injected i = said != 0 ? *said : none;
    n[LIVE_CYCLES] = i.mhz[0] * ns / 1000;
    for (u32 k = 1; k < LIVE_INJECTED_LEVELS; k++) {
        n[LIVE_LEVEL + k] = i.mhz[k] * ns / 1000;
        n[LIVE_CYCLES] += n[LIVE_LEVEL + k];
    }
    n[LIVE_REF] = ns * config.ref_khz / 1000000;
    n[LIVE_256] = i.flags & LIVE_INJECT_256 ? ns : 0;
    n[LIVE_512] = i.flags & LIVE_INJECT_512 ? ns : 0;
    n[LIVE_STALL_LOADS] = n[LIVE_CYCLES] * (i.flags >> 8) / 1000;
    n[LIVE_STALL_STORES] = n[LIVE_THROTTLED] = 0;
    return true;
}

/* G, equation 7.4, and the reference cycles as a time. */
static void fill_slice(const u64 n[LIVE_EVENTS], struct policy_slice *s)
{
    const u64 all = n[LIVE_CYCLES], stalled = (counts(LIVE_STALL_LOADS) ? n[LIVE_STALL_LOADS] : 0) +
                                              (counts(LIVE_STALL_STORES) ? n[LIVE_STALL_STORES] : 0);
    u64 slower = 0;
    for (u32 k = 1; k < POLICY_LEVELS_MAX; k++) {
        s->cycles[k] = counts(LIVE_LEVEL + k) ? n[LIVE_LEVEL + k] : 0;
        slower += s->cycles[k];
    }
    s->cycles[0] = slower < all ? all - slower : 0;
    s->ns = config.ref_khz != 0 ? n[LIVE_REF] * 1000000 / config.ref_khz : 0;
    s->stalled = stalled >= all ? (all != 0) * POLICY_ONE : (u32)((stalled << POLICY_ONE_BITS) / all);
}

/* A function of its own: the verifier looks at it once. */
__noinline u64 slice_lost_ns(const struct policy_slice *s, u32 own, u64 ns)
{
    const struct policy_turbos *table = (const struct policy_turbos *)&turbos;
    asm volatile("" : "+r"(table)); /* or the compiler takes it for the zeros that it is here */
    if (s == 0 || s->ns >> 40 != 0 || ns >> 40 != 0)
        return 0;
    for (u32 k = 0; k < POLICY_LEVELS_MAX; k++)
        if (s->cycles[k] >> 36 != 0)
            return 0;
    return policy_slice_lost_ns(table, s, own, ns);
}

/* How the task that runs on this CPU is accounted: the last of the groups that has it says. */
static u32 accounting_here(void)
{
    u32 accounting = config.accounting;
    for (u32 i = 0; i < LIVE_GROUPS_MAX; i++)
        if (i < config.n_groups && bpf_current_task_under_cgroup(&groups, i) == 1)
            accounting = config.group_accounting[i];
    return accounting;
}

/* The last user of a level on a core pays, when it is accounted next: that task, 0: there is none. */
static u32 attribute(u32 core, u32 level, u64 lost)
{
    const u32 pid = last_user[core % LIVE_CPUS_MAX][level % POLICY_LEVELS_MAX];
    struct task_struct *user = pid != 0 ? bpf_task_from_pid((s32)pid) : 0;
    struct task *t = user != 0 ? task_of(user) : 0;
    if (t != 0)
        __sync_fetch_and_add(&t->penalty, lost);
    if (user != 0)
        bpf_task_release(user);
    return t != 0 ? pid : 0;
}

/* The level that a task, which runs on this CPU, asked for itself. */
static u32 asked(struct task *t, const struct live_record *r)
{
    const bool by_width = counts(LIVE_256) && counts(LIVE_512);
    const u32 level[2] = {config.own_level[0], config.own_level[1]};
    if (!config.counted_wide)
        return t->wide ? level[1] : 0;
    const u32 own = by_width ? policy_own_level(level, r->counts[LIVE_256], r->counts[LIVE_512])
                             : policy_level_held(&r->slice, config.n_levels);
    t->seen = t->seen || (by_width ? r->counts[LIVE_512] != 0 : own >= level[1]);
    return own;
}

/* What it lost, and who pays. */
static void account_slice(struct task *t, struct live_record *r)
{
    fill_slice(r->counts, &r->slice);
    r->accounting = accounting_here();
    r->asked = asked(t, r);
    r->own_before = t->own;
    r->own = r->asked > t->own ? r->asked : t->own;
    t->own = r->own;
    if (r->accounting != LIVE_FAIR)
        r->lost = slice_lost_ns(&r->slice, r->own, r->ns);
    if (r->accounting == LIVE_ATTRIBUTE && r->lost != 0)
        r->payer = attribute(r->core, policy_payer_level(r->own), r->lost);
    for (u32 level = 1; level < POLICY_LEVELS_MAX; level++)
        if (level <= r->own)
            last_user[r->core % LIVE_CPUS_MAX][level] = r->accounting != LIVE_FAIR ? r->pid : 0;
}

/* Of what a task has run on a CPU, what it is to pay, before weights; counts it. */
static u64 account(struct task_struct *p, struct task *t, u32 cpu, struct live_counts *c)
{
    struct live_accounted *sums = &state.accounted[cpu % LIVE_CPUS_MAX];
    struct live_record *r = &accounts[cpu % LIVE_CPUS_MAX];
    r->ns = c->run_ns;
    r->cpu = cpu;
    r->core = config.core_of[cpu % LIVE_CPUS_MAX];
    r->pid = (u32)p->pid;
    r->was_wide = t->wide;
    r->payer = 0;
    r->lost = 0;
    /* the counters are this CPU's: not those of a task that is charged from elsewhere */
    r->counted = bpf_get_current_task_btf() == p &&
                 (config.injected ? inject(p, r->ns, r->counts) : read_counters(cpu, r->counts));
    if (r->counted)
        account_slice(t, r);
    else
        sums->uncounted_ns += r->ns;
    r->penalty = __sync_lock_test_and_set(&t->penalty, 0); /* its own, too, if it was the last user itself */
    c->penalty_ns = r->penalty;
    c->compensated_ns = r->lost;
    if (r->counted && r->accounting == LIVE_ATTRIBUTE && r->payer == 0)
        sums->unattributed_ns += r->lost;
    if (r->counted && counts(LIVE_THROTTLED))
        sums->throttled_cycles += r->counts[LIVE_THROTTLED];
    r->billed = r->ns - r->lost + r->penalty;
    if (config.recorded && bpf_ringbuf_output(&records, r, sizeof(*r), BPF_RB_NO_WAKEUP) != 0)
        sums->records_lost++;
    return r->billed;
}

/* A task begins, or goes on, on a CPU. */
static void account_from_now(struct task *t, u32 cpu)
{
    t->own = 0;
    if (config.events == 0 || config.injected)
        return;
    if (bpf_get_smp_processor_id() == cpu)
        read_counters(cpu, accounts[cpu % LIVE_CPUS_MAX].counts);
    else
        was_counted[cpu % LIVE_CPUS_MAX] = 0;
}

#endif
