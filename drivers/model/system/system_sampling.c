/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/model/system/system.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Latencies, us, and the cost of reading counters, cycles: assumed, of an idle server that polls or sits in C1. */
static const double TIMER_US[2] = {1, 3}, ANSWER_US[2] = {1, 3};
enum { NOPS_PER_CYCLE = 4, READING_CYCLES = 40, US_PER_S = 1000000 };

static double system_latency(struct system_sampling *x, const double us[2])
{
    return us[0] + (us[1] - us[0]) * model_random_uniform(&x->random);
}

static struct system_core *system_sampled_core(const struct system_sampling *x)
{
    return system_core_of(x->system, x->sampled);
}

static void system_pass(struct system_sampling *x, double us)
{
    system_advance(x->system, system_sampled_core(x)->now + us, x->sampled);
}

static __u64 system_now_ns(void *with)
{
    return (__u64)(system_sampled_core(with)->now * 1e3);
}

static unsigned system_sibling(const struct system_sampling *x)
{
    const struct system *s = x->system;
    return s->n_threads > 1 ? (x->sampled + s->n_cores) % s->n_cpus : PROFILE_NO_CPU;
}

static struct profile_task system_seen(const struct system *s, int number)
{
    struct profile_task seen = {0};
    if (number == SYSTEM_NOBODY)
        return seen;
    const struct system_task *t = &s->task[number];
    seen = (struct profile_task){.pid = t->pid, .tgid = t->pid, .start_ns = t->pid, .cgroup = t->cgroup};
    snprintf(seen.comm, sizeof seen.comm, "%s", system_kind_names[t->kind]);
    return seen;
}

/* Switches hours ago are as long ago as the field can tell. */
static __u32 system_since_us(const struct system_thread *t, double now)
{
    return (__u32)fmin(now - t->since_us, UINT32_MAX);
}

static void system_look(void *with, struct profile_sight *out)
{
    struct system_sampling *x = with;
    struct system *s = x->system;
    double now = system_sampled_core(x)->now;
    const struct system_thread *t = system_thread_of(s, x->sampled);
    *out = (struct profile_sight){.task = system_seen(s, t->task),
                                  .before = system_seen(s, t->before),
                                  .switches = t->switches,
                                  .since_us = system_since_us(t, now),
                                  .other_cpu = system_sibling(x),
                                  .active_cores = s->active};
    if (out->other_cpu == PROFILE_NO_CPU)
        return;
    t = system_thread_of(s, out->other_cpu);
    out->other = system_seen(s, t->task);
    out->other_before = system_seen(s, t->before);
    out->other_switches = t->switches;
    out->other_since_us = system_since_us(t, now);
}

/* Counters count whole cycles. */
static void system_read_counts(struct system_sampling *x, struct profile_counts *out)
{
    const struct system_thread *t = system_thread_of(x->system, x->sampled);
    *out = (struct profile_counts){0};
    for (unsigned i = 0; i < PROFILE_COUNTERS; i++)
        out->count[i] = (__u64)t->count[i];
}

static void system_take_counts(void *with, struct profile_counts *before, struct profile_counts *after)
{
    struct system_sampling *x = with;
    struct system_thread *t = system_thread_of(x->system, x->sampled);
    system_read_counts(x, before);
    t->kernel_left = ((double)PROFILE_NOPS / NOPS_PER_CYCLE + READING_CYCLES) / (x->system->reference_ghz * 1e3);
    system_core_advance(x->system, system_sampled_core(x), INFINITY, t);
    system_read_counts(x, after);
}

static bool system_hold(void *with)
{
    struct system_sampling *x = with;
    unsigned sibling = system_sibling(x);
    if (sibling == PROFILE_NO_CPU)
        return true;
    system_pass(x, system_latency(x, ANSWER_US));
    system_core_mode(x->system, sibling, SYSTEM_HELD);
    return true;
}

static void system_release(void *with)
{
    struct system_sampling *x = with;
    unsigned sibling = system_sibling(x);
    if (sibling != PROFILE_NO_CPU)
        system_core_mode(x->system, sibling, SYSTEM_RUNS);
}

/* Two entries: the code, then the task; system_source.c names them. */
static void system_walk(void *with, struct profile_record *r)
{
    struct system_sampling *x = with;
    int number = system_thread_of(x->system, x->sampled)->task;
    if (number == SYSTEM_NOBODY)
        return;
    r->n_stack = 2;
    r->n_kernel = 0;
    r->stack[0] = (__u64)(number + 1) << 12 | x->system->task[number].phase;
    r->stack[1] = (__u64)(number + 1) << 12;
}

static void system_store(void *with, const struct profile_record *r)
{
    struct system_sampling *x = with;
    x->record = *r;
    x->pause_us_max = fmax(x->pause_us_max, r->pause_ns / 1e3);
}

void system_sampling_begin(struct system_sampling *x, struct system *s, const struct profile_setup *setup)
{
    memset(x, 0, sizeof *x);
    x->system = s;
    x->setup = *setup;
    x->executor = (struct profile_executor){.with = x,
                                            .now_ns = system_now_ns,
                                            .look = system_look,
                                            .count = system_take_counts,
                                            .hold = system_hold,
                                            .release = system_release,
                                            .walk = system_walk,
                                            .store = system_store};
    model_random_init(&x->random, setup->seed, 0, 3);
    for (unsigned i = 0; i < s->n_cpus; i++) {
        profile_first_turn(&x->cpu[i], setup, i, s->n_cpus);
        x->cpu[i].record.cpu = i;
    }
}

/* The steps of the sampled CPU, which is in the kernel in between. */
static void system_take_turn(struct system_sampling *x)
{
    for (;;) {
        system_core_mode(x->system, x->sampled, SYSTEM_KERNEL);
        struct profile_action a = profile_step(&x->cpu[x->sampled], &x->setup, &x->executor);
        for (; a.deed == PROFILE_SPIN; a = profile_step(&x->cpu[x->sampled], &x->setup, &x->executor))
            system_pass(x, a.us);
        system_core_mode(x->system, x->sampled, SYSTEM_RUNS);
        if (a.deed == PROFILE_DONE)
            return;
        system_pass(x, a.us + system_latency(x, TIMER_US));
    }
}

bool system_sampling_turn(struct system_sampling *x, double until)
{
    struct system *s = x->system;
    x->sampled = 0;
    for (unsigned i = 1; i < s->n_cpus; i++)
        if (x->cpu[i].turn_ns < x->cpu[x->sampled].turn_ns)
            x->sampled = i;
    struct profile_cpu *c = &x->cpu[x->sampled];
    double begin = (double)c->turn_ns / 1e3 + system_latency(x, TIMER_US);
    if (begin >= until) {
        x->now_us = until;
        return false;
    }
    system_advance(s, begin, x->sampled);
    system_take_turn(x);
    if (system_stopped(s)) /* perhaps in its midst */
        return false;
    x->now_us = system_sampled_core(x)->now;
    x->turns++;
    profile_next_turn(c, &x->setup, s->n_cpus, (__u64)(system_sampled_core(x)->now * 1e3));
    return true;
}
