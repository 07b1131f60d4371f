/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the scheduler counted, summed over CPUs, and how much of it is new. */
#include <math.h>
#include <stdlib.h>

#include "cli/messages.h"
#include "cli/sched/sched.h"

const char *const sched_class_names[LIVE_CLASSES] = {"other", "wide"};

int sched_classes(const struct live_config *config)
{
    return config->marks || config->counted_wide || config->registers != 0 ? LIVE_CLASSES : 1;
}

static struct live_counts sum_of(const volatile struct live_state *s, int class)
{
    struct live_counts sum = {0};
    for (int cpu = 0; cpu < LIVE_CPUS_MAX; cpu++) {
        const volatile struct live_counts *c = &s->counts[cpu][class];
        sum.run_ns += c->run_ns;
        sum.charged_ns += c->charged_ns;
        sum.compensated_ns += c->compensated_ns;
        sum.penalty_ns += c->penalty_ns;
        sum.migrations += c->migrations;
        sum.dispatches += c->dispatches;
        sum.looks += c->looks;
        sum.used += c->used;
    }
    return sum;
}

static double decision_ns(const struct sched_sample *sample, const struct live_config *config,
                          const volatile struct live_state *s)
{
    double ns = 0, dispatches = 0;
    for (int cpu = 0; cpu < LIVE_CPUS_MAX; cpu++)
        ns += (double)s->decision_ns[cpu];
    for (int class = 0; class < LIVE_CLASSES; class ++)
        dispatches += (double)sample->classes[class].dispatches;
    return config->timed && dispatches > 0 ? ns / dispatches : NAN;
}

static int compare_task_ids(const void *a, const void *b)
{
    const struct live_task *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* The tasks that are there now, with what they ran since `before`. DONE, or an exit status after a line. */
static int list_tasks(const struct live_scheduler *s, const struct sched_sample *before, struct sched_sample *sample)
{
    struct machine_error error;
    struct live_task *rows;
    size_t n, old = 0;
    if (live_tasks_read(s, &rows, &n, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    sample->tasks = calloc(n + 1, sizeof(*sample->tasks));
    sample->order = calloc(n + 1, sizeof(*sample->order));
    if (sample->tasks == NULL || sample->order == NULL) {
        free(rows);
        return complain_out_of_memory();
    }
    if (n > 0)
        qsort(rows, n, sizeof(*rows), compare_task_ids);
    for (size_t i = 0; i < n; i++) {
        const struct sched_task *was = before->tasks;
        struct sched_task *task = &sample->tasks[i];
        while (old < before->n_tasks && was[old].now.id < rows[i].id)
            old++;
        task->now = rows[i];
        task->recent_ns = rows[i].counts.run_ns;
        /* an ID that another task has now has run less */
        if (old < before->n_tasks && was[old].now.id == rows[i].id && was[old].now.counts.run_ns <= task->recent_ns)
            task->recent_ns -= was[old].now.counts.run_ns;
        sample->order[i].index = i;
    }
    sample->n_tasks = n;
    free(rows);
    return DONE;
}

int sched_sample_next(const struct live_scheduler *s, const struct live_config *config, double seconds, bool with_tasks,
                      struct sched_sample *sample)
{
    const volatile struct live_state *state = live_state_of(s);
    struct sched_sample next = {.seconds = seconds, .since = seconds - sample->seconds, .adapt = sample->adapt};
    for (int class = 0; class < LIVE_CLASSES; class ++) {
        next.classes[class] = sum_of(state, class);
        next.recent_ns[class] = next.classes[class].run_ns - sample->classes[class].run_ns;
    }
    next.decision_ns = decision_ns(&next, config, state);
    int status = with_tasks ? list_tasks(s, sample, &next) : DONE;
    sched_sample_free(sample);
    *sample = next;
    if (status != DONE)
        sched_sample_free(sample);
    return status;
}

void sched_sample_free(struct sched_sample *sample)
{
    free(sample->tasks);
    free(sample->order);
    *sample = (struct sched_sample){0};
}
