/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/test.h"
#include "tests/support/watched_run.h"

#include "util/list.h"

static void watched_add(struct watched_list *l, struct watched_piece piece)
{
    assert_true(list_room(&l->piece, l->n, sizeof piece));
    l->piece[l->n++] = piece;
}

static void watched_level(void *self, unsigned core, int64_t from, int64_t to, unsigned level, unsigned permille)
{
    struct watched_run *r = self;
    watched_add(&r->levels, (struct watched_piece){core, level, from, to, permille});
}

static void watched_ran(void *self, unsigned cpu, uint32_t task, int64_t from, int64_t to)
{
    struct watched_run *r = self;
    watched_add(&r->ran, (struct watched_piece){cpu, task, from, to, 0});
}

static void watched_kind(void *self, unsigned core, int64_t at, bool wide)
{
    struct watched_run *r = self;
    watched_add(&r->kinds, (struct watched_piece){core, 0, at, at, wide});
}

void watched_make(struct watched_run *r, struct sim_params *p, struct memory_workload *m, enum sim_scheduler scheduler)
{
    struct machine_error err;
    *r = (struct watched_run){.ran = {NULL, 0}};
    const struct sim_observer observer = {.piece = watched_level, .ran = watched_ran, .kind = watched_kind, .self = r};
    const struct sim_options o = {.policy = SIM_STOCK, .scheduler = scheduler, .seed = 1, .observer = &observer};
    if (sim_run(p, &m->w, &o, &r->result, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

void watched_free(struct watched_run *r)
{
    sim_result_free(&r->result);
    free(r->ran.piece);
    free(r->levels.piece);
    free(r->kinds.piece);
}

int64_t watched_cpu_time(const struct watched_run *r, uint32_t task, int64_t until)
{
    int64_t sum = 0;
    for (size_t i = 0; i < r->ran.n; i++) {
        const struct watched_piece *p = &r->ran.piece[i];
        int64_t to = p->to < until ? p->to : until;
        if (p->task == task && p->from < to)
            sum += to - p->from;
    }
    return sum;
}

void watched_check(const struct watched_run *r, const struct memory_workload *m)
{
    int64_t cpu_free[MEMORY_CPUS_MAX] = {0}, task_free[MEMORY_TASKS_MAX] = {0}, sum[MEMORY_TASKS_MAX] = {0};
    unsigned on[MEMORY_TASKS_MAX];
    uint32_t last[MEMORY_CPUS_MAX];
    uint64_t switches = 0, migrations = 0;
    memset(on, 0xff, sizeof on);
    memset(last, 0xff, sizeof last);
    for (size_t i = 0; i < r->ran.n; i++) {
        const struct watched_piece *p = &r->ran.piece[i];
        assert_true(p->from < p->to && p->from >= cpu_free[p->where] && p->from >= task_free[p->task]);
        cpu_free[p->where] = task_free[p->task] = p->to;
        sum[p->task] += p->to - p->from;
        switches += last[p->where] != p->task;
        migrations += on[p->task] != p->where && on[p->task] != (unsigned)-1;
        last[p->where] = p->task;
        on[p->task] = p->where;
    }
    for (size_t i = 0; i < m->w.n_tasks; i++) {
        const struct sim_times *t = &r->result.tasks[i];
        double work = 0;
        size_t rows = 0;
        for (size_t k = 0; k < m->work[i].n; k++)
            if (m->work[i].rows[k].task != SIM_IDLE && ++rows)
                work += (double)m->work[i].rows[k].ps;
        assert_int_equal(sum[i], sim_times_cpu(t));
        assert_int_equal(task_free[i], t->end_ps);
        /* all of it has been done, and at most a picosecond more for each row and piece */
        double ideal = t->ideal_ps - work;
        assert_true(ideal >= -1e-9 * work && ideal <= 1e-9 * work + (double)(rows + r->ran.n));
    }
    /* tasks that had no time on a CPU make no piece */
    assert_true(r->result.switches >= switches && r->result.migrations >= migrations);
}

/* ---- who waits ---- */

struct busy_event {
    int64_t at;
    int waiting, running;
};

static int by_time(const void *a, const void *b)
{
    const struct busy_event *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static void add_span(struct busy_event *e, size_t *n, int64_t from, int64_t to, int waiting, int running)
{
    e[(*n)++] = (struct busy_event){from, waiting, running};
    e[(*n)++] = (struct busy_event){to, -waiting, -running};
}

/* The next time from `*i` on that the task ran. */
static const struct watched_piece *next_run(const struct watched_run *r, uint32_t task, size_t *i)
{
    while (*i < r->ran.n && r->ran.piece[*i].task != task)
        ++*i;
    return *i < r->ran.n ? &r->ran.piece[(*i)++] : NULL;
}

/* Follows a task through its rows: spans in which it waits for a CPU. */
static void add_waits(const struct watched_run *r, const struct memory_workload *m, uint32_t task, struct busy_event *e,
                      size_t *n)
{
    const struct watched_piece *p = NULL;
    int64_t now = 0;
    size_t next = 0;
    for (size_t k = 0; k < m->work[task].n; k++) {
        const struct sim_row *row = &m->work[task].rows[k];
        int64_t left = row->ps;
        if (row->task == SIM_IDLE)
            now += left;
        while (row->task != SIM_IDLE && left > 0) {
            if (p == NULL || now >= p->to) {
                p = next_run(r, task, &next);
                assert_non_null(p);
                assert_true(p->from >= now); /* it is blocked until then */
                add_span(e, n, now, p->from, 1, 0);
                now = p->from;
            }
            int64_t part = p->to - now < left ? p->to - now : left;
            now += part;
            left -= part;
        }
    }
    assert_null(next_run(r, task, &next));
}

void watched_check_busy(const struct watched_run *r, const struct memory_workload *m)
{
    struct busy_event *e = calloc(4 * r->ran.n + 1, sizeof *e);
    size_t n = 0;
    int waiting = 0, running = 0;
    assert_non_null(e);
    for (uint32_t task = 0; task < m->w.n_tasks; task++)
        add_waits(r, m, task, e, &n);
    for (size_t i = 0; i < r->ran.n; i++)
        add_span(e, &n, r->ran.piece[i].from, r->ran.piece[i].to, 0, 1);
    qsort(e, n, sizeof *e, by_time);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && e[i].at > e[i - 1].at && waiting > 0 && running != (int)m->w.n_cpus)
            fail_msg("at %lld ps %d tasks wait and %d of %u CPUs work", (long long)e[i - 1].at, waiting, running,
                     m->w.n_cpus);
        waiting += e[i].waiting;
        running += e[i].running;
    }
    free(e);
}
