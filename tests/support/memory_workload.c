/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/memory_workload.h"
#include "tests/support/test.h"

static size_t stream_read(struct memory_stream *s, size_t at_once, struct sim_row *out, size_t max)
{
    size_t n = s->n - s->next;
    if (n > max)
        n = max;
    if (at_once && n > at_once)
        n = at_once;
    if (n > 0)
        memcpy(out, s->rows + s->next, n * sizeof *out);
    s->next += n;
    return n;
}

static size_t memory_read(void *self, unsigned stream, struct sim_row *out, size_t max)
{
    struct memory_workload *m = self;
    return stream_read(&m->stream[stream], m->at_once, out, max);
}

static size_t memory_read_work(void *self, unsigned stream, struct sim_row *out, size_t max)
{
    struct memory_workload *m = self;
    return stream_read(&m->work[stream], m->at_once, out, max);
}

static void memory_rewind(void *self)
{
    struct memory_workload *m = self;
    for (unsigned i = 0; i < m->w.n_cpus; i++)
        m->stream[i].next = 0;
    for (unsigned i = 0; i < MEMORY_TASKS_MAX; i++)
        m->work[i].next = 0;
}

static const char *memory_error(void *self)
{
    (void)self;
    return NULL;
}

static void memory_close(void *self)
{
    (void)self;
}

void memory_workload_make(struct memory_workload *m, unsigned n_cpus, unsigned n_cores, bool in_turn, size_t n_tasks,
                          uint32_t recorded)
{
    static char name[] = "in memory";
    assert_true(n_cpus <= MEMORY_CPUS_MAX && n_cores <= n_cpus && n_tasks <= MEMORY_TASKS_MAX);
    *m = (struct memory_workload){.w = {.name = name,
                                        .kind = "drawn",
                                        .recorded = recorded,
                                        .n_cpus = n_cpus,
                                        .n_cores = n_cores,
                                        .smt = n_cpus > n_cores,
                                        .n_tasks = n_tasks,
                                        .tasks = calloc(n_tasks, sizeof *m->w.tasks),
                                        .cpus = {memory_read, memory_rewind, memory_error, memory_close, m},
                                        .works = {memory_read_work, memory_rewind, memory_error, memory_close, m}}};
    m->w.cpu = m->cpu;
    m->w.core = m->core;
    assert_non_null(m->w.tasks);
    for (unsigned i = 0; i < n_cpus; i++) {
        m->cpu[i] = i;
        m->core[i] = in_turn ? i % n_cores : i * n_cores / n_cpus;
    }
    for (size_t i = 0; i < n_tasks; i++)
        assert_true(asprintf(&m->w.tasks[i].name, "t%zu", i) > 0);
}

static void stream_add(struct memory_workload *m, struct memory_stream *s, struct sim_row row)
{
    s->rows = realloc(s->rows, (s->n + 1) * sizeof *s->rows);
    assert_non_null(s->rows);
    s->rows[s->n++] = row;
    if (row.task != SIM_IDLE)
        m->w.class_used[row.class] = true;
}

void memory_workload_add(struct memory_workload *m, unsigned cpu, struct sim_row row)
{
    stream_add(m, &m->stream[cpu], row);
    m->w.n_rows++;
}

void memory_workload_add_work(struct memory_workload *m, unsigned task, struct sim_row row)
{
    assert_true(task < m->w.n_tasks);
    stream_add(m, &m->work[task], row);
}

void memory_workload_free(struct memory_workload *m)
{
    for (unsigned i = 0; i < m->w.n_cpus; i++)
        free(m->stream[i].rows);
    for (unsigned i = 0; i < MEMORY_TASKS_MAX; i++)
        free(m->work[i].rows);
    for (size_t i = 0; i < m->w.n_tasks; i++)
        free(m->w.tasks[i].name);
    free(m->w.tasks);
}
