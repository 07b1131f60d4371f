/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/simulate/workload/recording.h"

#include <stdlib.h>

#include "schedulers/simulate/workload/lines.h"
#include "schedulers/simulate/workload/spool.h"

enum { AHEAD_ROWS = 64 }; /* read at a time, of each CPU */

struct works_cpu {
    int64_t at; /* when its present row begins */
    unsigned cpu;
    size_t i, n;
    struct sim_row row[AHEAD_ROWS];
};

struct works_task {
    int64_t until; /* it has been seen */
    unsigned cpu;  /* there, last */
};

static bool is_later(const struct works_cpu *a, const struct works_cpu *b)
{
    return a->at != b->at ? a->at > b->at : a->cpu > b->cpu;
}

/* Puts what is at `i` of a heap, the earliest first, where it belongs below. */
static void sink(struct works_cpu **heap, size_t n, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && is_later(heap[child], heap[child + 1]))
            child++;
        if (!is_later(heap[i], heap[child]))
            return;
        struct works_cpu *t = heap[i];
        heap[i] = heap[child];
        heap[child] = t;
    }
}

static bool read_ahead(struct sim_workload *w, struct works_cpu *c)
{
    c->i = 0;
    c->n = w->cpus.read(w->cpus.self, c->cpu, c->row, AHEAD_ROWS);
    return c->n;
}

static int add_work(const struct sim_workload *w, struct sim_spool *works, struct works_task *tasks,
                    const struct works_cpu *c, struct machine_error *err)
{
    const struct sim_row *row = &c->row[c->i];
    char shown[SIM_SHOWN_SIZE];
    if (row->task == SIM_IDLE)
        return MACHINE_OK;
    struct works_task *t = &tasks[row->task];
    if (c->at < t->until)
        return machine_fail(err, MACHINE_BAD_INPUT, "",
                            "%.200s: task '%s' runs on CPUs %u and %u at once, %.6f us after the first row: for a "
                            "scheduler, each thread needs its own name",
                            w->name, sim_lines_shown(w->tasks[row->task].name, shown), w->cpu[t->cpu], w->cpu[c->cpu],
                            (double)c->at / (double)SIM_PS_PER_US);
    struct sim_row away = {.ps = c->at - t->until, .task = SIM_IDLE};
    t->until = c->at + row->ps;
    t->cpu = c->cpu;
    return sim_spool_push(works, row->task, away, err) || sim_spool_push(works, row->task, *row, err) ? err->status
                                                                                                      : MACHINE_OK;
}

static int merge_cpus(struct sim_workload *w, struct sim_spool *works, struct works_cpu *cpus, struct works_cpu **heap,
                      struct works_task *tasks, struct machine_error *err)
{
    size_t n = 0;
    for (unsigned i = 0; i < w->n_cpus; i++) {
        cpus[i].cpu = i;
        if (read_ahead(w, &cpus[i]))
            heap[n++] = &cpus[i];
    }
    while (n) { /* all begin at 0, in the order of their numbers: that is a heap */
        struct works_cpu *c = heap[0];
        if (add_work(w, works, tasks, c, err))
            return err->status;
        c->at += c->row[c->i].ps;
        if (++c->i == c->n && !read_ahead(w, c))
            heap[0] = heap[--n];
        sink(heap, n, 0);
    }
    const char *why = w->cpus.error(w->cpus.self);
    w->cpus.rewind(w->cpus.self);
    return why ? machine_fail(err, MACHINE_FAILED, "", "%s", why) : MACHINE_OK;
}

int sim_works_build(struct sim_workload *w, struct machine_error *err)
{
    struct sim_spool *works = sim_spool_new();
    struct works_cpu *cpus = calloc(w->n_cpus, sizeof *cpus), **heap = calloc(w->n_cpus, sizeof(struct works_cpu *));
    struct works_task *tasks = calloc(w->n_tasks, sizeof *tasks);
    uint64_t rows;
    int status;
    if (!works || !cpus || !heap || !tasks)
        status = machine_fail(err, MACHINE_FAILED, "", "%.200s: out of memory", w->name);
    else
        status = merge_cpus(w, works, cpus, heap, tasks, err);
    if (status == MACHINE_OK)
        status = sim_spool_done(works, NULL, (unsigned)w->n_tasks, &w->works, &rows, err);
    if (status != MACHINE_OK)
        sim_spool_free(works);
    free(tasks);
    free(heap);
    free(cpus);
    return status;
}
