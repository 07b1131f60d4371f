/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who runs on which CPU, by time alone: the same whatever the clock does, so that systems can be compared. CPUs take
 * their tasks in turn; one that becomes idle takes a task that waits elsewhere; some wake up on another CPU than
 * before.
 */
#include "drivers/model/system/system.h"

#include <math.h>

static const double SYSTEM_SLICE_US = 3000; /* Linux: sched_min_granularity_ns at 8 CPUs and more */

/* Time until `current` is over: its run, and if others wait its slice. */
static void system_begin_slice(struct system_schedule *d, unsigned cpu, double now)
{
    struct system_queue *q = &d->queue[cpu];
    if (q->current == SYSTEM_NOBODY) {
        q->until = INFINITY;
        return;
    }
    q->until = now + d->run_left[q->current];
    if (q->n > 0)
        q->until = fmin(q->until, now + d->slice_us);
    if (!isinf(q->until))
        d->run_left[q->current] -= q->until - now;
}

static int system_dequeue(struct system_queue *q)
{
    int first = q->waiting[0];
    q->n--;
    for (unsigned i = 0; i < q->n; i++)
        q->waiting[i] = q->waiting[i + 1];
    return first;
}

/* Who runs next here: the first in the queue, or the first of the longest queue. */
static int system_pick(struct system_schedule *d, unsigned cpu)
{
    struct system_queue *longest = &d->queue[cpu];
    for (unsigned i = 0; i < d->n_cpus && d->queue[cpu].n == 0; i++)
        if (d->queue[i].n > longest->n)
            longest = &d->queue[i];
    return longest->n > 0 ? system_dequeue(longest) : SYSTEM_NOBODY;
}

static double system_run_length(struct system_schedule *d, const struct system_task *t)
{
    return isinf(t->run_us) ? INFINITY : t->run_us * model_random_exponential(&d->random);
}

void system_schedule_begin(struct system_schedule *d, const struct system_task *tasks, unsigned n_tasks,
                           unsigned n_cpus, uint64_t seed)
{
    *d = (struct system_schedule){.n_cpus = n_cpus, .n_tasks = n_tasks, .slice_us = SYSTEM_SLICE_US};
    model_random_init(&d->random, seed, 0, 1);
    for (unsigned i = 0; i < n_cpus; i++)
        d->queue[i] = (struct system_queue){.current = SYSTEM_NOBODY, .until = INFINITY};
    for (unsigned i = 0; i < n_tasks; i++) {
        d->wakes[i] = 1 + i; /* one by one: a switch has a time of its own */
        d->run_left[i] = system_run_length(d, &tasks[i]);
    }
}

/* A task wakes up. Returns whether its CPU was idle. */
static bool system_wake(struct system_schedule *d, const struct system_task *tasks, unsigned task, unsigned *cpu)
{
    double at = d->wakes[task];
    *cpu = task % d->n_cpus;
    if (model_random_uniform(&d->random) < tasks[task].migrates)
        *cpu = (unsigned)(model_random_uniform(&d->random) * d->n_cpus);
    /* an idle CPU rather than one that is not */
    for (unsigned i = 0; i < d->n_cpus && d->queue[*cpu].current != SYSTEM_NOBODY; i++)
        if (d->queue[i].current == SYSTEM_NOBODY)
            *cpu = i;
    struct system_queue *q = &d->queue[*cpu];
    d->wakes[task] = INFINITY;
    if (q->current == SYSTEM_NOBODY) {
        q->current = (int)task;
        system_begin_slice(d, *cpu, at);
        return true;
    }
    q->waiting[q->n++] = (int)task;
    if (q->until > at + d->slice_us) {
        d->run_left[q->current] += isinf(q->until) ? 0 : q->until - at - d->slice_us;
        q->until = at + d->slice_us;
    }
    return false;
}

/* The slice, or the run, of a CPU's task is over. Returns whether somebody else runs. */
static bool system_expire(struct system_schedule *d, const struct system_task *tasks, unsigned cpu)
{
    struct system_queue *q = &d->queue[cpu];
    int last = q->current;
    double at = q->until;
    if (d->run_left[last] < 1e-3) { /* less than that is rounding */
        d->run_left[last] = system_run_length(d, &tasks[last]);
        d->wakes[last] = at + tasks[last].sleep_us * model_random_exponential(&d->random);
    } else {
        q->waiting[q->n++] = last;
    }
    q->current = system_pick(d, cpu);
    system_begin_slice(d, cpu, at);
    return q->current != last;
}

struct system_switch system_schedule_next(struct system_schedule *d, const struct system_task *tasks)
{
    for (;;) {
        unsigned cpu = 0, task = 0;
        for (unsigned i = 1; i < d->n_cpus; i++)
            if (d->queue[i].until < d->queue[cpu].until)
                cpu = i;
        for (unsigned i = 1; i < d->n_tasks; i++)
            if (d->wakes[i] < d->wakes[task])
                task = i;
        double at = fmin(d->queue[cpu].until, d->wakes[task]);
        if (isinf(at))
            return (struct system_switch){.at = INFINITY};
        bool changed = d->wakes[task] < d->queue[cpu].until ? system_wake(d, tasks, task, &cpu)
                                                            : system_expire(d, tasks, cpu);
        if (changed)
            return (struct system_switch){.at = at, .cpu = cpu, .task = d->queue[cpu].current};
    }
}
