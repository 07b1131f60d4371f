/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workloads that are drawn from a description, thread by thread and CPU by CPU. */
#include "schedulers/simulate/workload/drawn.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/data_file.h"

/* ---- one thread: its phases, one after the other, whoever reads them and in whatever pieces ---- */

struct drawn_thread {
    const struct drawn_task *task;
    struct drawn_random random; /* its own: what it does depends on (seed, number) alone */
    uint32_t number;            /* among all threads of the file, in the order of the tasks */
    unsigned phase;
    bool fresh;   /* the phase has just begun */
    int64_t left; /* ps of the phase, above 0 */
};

/* At a moment in its first phase, which is any one. number: below file->n_threads. */
static struct drawn_thread thread_begin(const struct drawn_file *file, uint64_t seed, uint32_t number)
{
    struct drawn_thread t = {.task = file->tasks, .random = drawn_random_of(seed, number), .number = number};
    for (; number >= t.task->threads; t.task++)
        number -= t.task->threads;
    /* threads do not begin together, as they would not after some time */
    t.phase = drawn_random_below(&t.random, t.task->n_phases);
    int64_t whole = drawn_random_length(&t.random, &t.task->phases[t.phase].length);
    t.left = 1 + (int64_t)(drawn_random_unit(&t.random) * (double)(whole - 1));
    return t;
}

static bool thread_blocked(const struct drawn_thread *t)
{
    return t->task->phases[t->phase].row.task == SIM_IDLE;
}

/* Its row of the next `ps` picoseconds, 1 to left; the phase that follows has begun if there are none left. */
static struct sim_row thread_advance(struct drawn_thread *t, int64_t ps)
{
    const struct drawn_phase *phase = &t->task->phases[t->phase];
    struct sim_row row = phase->row;
    row.ps = ps;
    if (row.task != SIM_IDLE)
        row.task = t->number;
    row.syscall = row.syscall && t->fresh;
    t->fresh = false;
    t->left -= ps;
    if (t->left == 0) {
        const struct drawn_next *next = phase->next;
        double u = phase->n_next > 1 ? drawn_random_unit(&t->random) : 0;
        while (next < &phase->next[phase->n_next - 1] && u >= next->until)
            next++;
        t->phase = next->phase;
        t->fresh = true;
        t->left = drawn_random_length(&t->random, &t->task->phases[t->phase].length);
    }
    return row;
}

static int64_t drawn_span(const struct drawn_file *file, double times)
{
    return llround(file->duration_s * times * 1e6) * SIM_PS_PER_US;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static const char *never_an_error(void *self)
{
    (void)self;
    return NULL;
}

/* ---- by thread ---- */

struct drawn_work {
    struct drawn_thread thread;
    int64_t left; /* ps of the stream */
};

struct drawn_works {
    struct drawn_file file;
    uint64_t seed;
    struct drawn_work of[];
};

static void rewind_works(void *works)
{
    struct drawn_works *w = works;
    for (unsigned i = 0; i < w->file.n_threads; i++) {
        w->of[i].thread = thread_begin(&w->file, w->seed, i);
        w->of[i].left = drawn_span(&w->file, w->of[i].thread.task->lasts);
    }
}

static size_t read_drawn_work(void *works, unsigned thread, struct sim_row *out, size_t max)
{
    struct drawn_work *w = &((struct drawn_works *)works)->of[thread];
    size_t n = 0;
    for (; n < max && w->left > 0; n++) {
        out[n] = thread_advance(&w->thread, least(least(w->thread.left, w->left), SIM_ROW_PS_MAX));
        w->left -= out[n].ps;
    }
    return n;
}

int drawn_works_open(const struct drawn_file *file, uint64_t seed, struct sim_source *out)
{
    struct drawn_works *w = calloc(1, sizeof *w + file->n_threads * sizeof *w->of);
    if (!w)
        return -1;
    w->file = *file;
    w->seed = seed;
    rewind_works(w);
    *out = (struct sim_source){read_drawn_work, rewind_works, never_an_error, free, w};
    return 0;
}

/* ---- by CPU ---- */

struct drawn_turn {
    struct drawn_thread thread;
    int64_t wakes; /* when it is runnable again; SIM_FOREVER: it is runnable, or runs */
};

/* Its threads take turns: who wakes, or whose slice is over, waits after all others. */
struct drawn_cpu {
    struct drawn_random random; /* of slices */
    int64_t now, end;
    int64_t next_wake;  /* the earliest of its threads; SIM_FOREVER: all are runnable */
    int64_t slice_left; /* of the thread that runs; 0: none does */
    unsigned n_threads;
    struct drawn_turn *threads;
    /* the threads that are runnable, who runs first: a ring of n_threads places */
    unsigned *runnable, first, n_runnable;
};

struct drawn_cpus {
    struct drawn_file file;
    uint64_t seed;
    unsigned n_cpus;
    struct drawn_turn *threads; /* of all CPUs, and their rings */
    unsigned *rings;
    struct drawn_cpu of[];
};

static void make_runnable(struct drawn_cpu *c, unsigned thread)
{
    c->threads[thread].wakes = SIM_FOREVER;
    c->runnable[(c->first + c->n_runnable++) % c->n_threads] = thread;
}

/* If it is blocked now, it is until `wakes`. */
static void block(struct drawn_cpu *c, struct drawn_turn *t)
{
    if (!thread_blocked(&t->thread))
        return;
    /* beyond the end nothing is drawn: it may be blocked for ever */
    for (t->wakes = c->now; t->wakes < c->end && thread_blocked(&t->thread);) {
        t->wakes += t->thread.left;
        thread_advance(&t->thread, t->thread.left);
    }
    c->next_wake = least(c->next_wake, t->wakes);
}

/* Wakes the threads whose time has come, in its order. */
static void wake(struct drawn_cpu *c)
{
    while (c->next_wake <= c->now) {
        unsigned due = 0;
        for (unsigned i = 1; i < c->n_threads; i++)
            if (c->threads[i].wakes < c->threads[due].wakes)
                due = i;
        make_runnable(c, due);
        c->next_wake = SIM_FOREVER;
        for (unsigned i = 0; i < c->n_threads; i++)
            c->next_wake = least(c->next_wake, c->threads[i].wakes);
    }
}

static struct sim_row drawn_idle(struct drawn_cpu *c)
{
    struct sim_row row = {.task = SIM_IDLE, .ps = least(least(c->next_wake, c->end) - c->now, SIM_ROW_PS_MAX)};
    c->now += row.ps;
    return row;
}

static struct sim_row drawn_run(struct drawn_cpu *c)
{
    struct drawn_turn *t = &c->threads[c->runnable[c->first]];
    struct sim_row row = thread_advance(
        &t->thread, least(least(t->thread.left, c->slice_left), least(c->end - c->now, SIM_ROW_PS_MAX)));
    c->now += row.ps;
    c->slice_left -= row.ps;
    block(c, t);
    if (t->wakes != SIM_FOREVER)
        c->slice_left = 0;
    return row;
}

/* The thread whose slice is over, or that is blocked, leaves the front; if it is runnable, it goes after those that
 * have just woken. */
static void end_turn(struct drawn_cpu *c)
{
    unsigned thread = c->runnable[c->first];
    c->first = (c->first + 1) % c->n_threads;
    c->n_runnable--;
    wake(c);
    if (c->threads[thread].wakes == SIM_FOREVER)
        make_runnable(c, thread);
}

static size_t read_drawn_cpu(void *cpus, unsigned cpu, struct sim_row *out, size_t max)
{
    struct drawn_cpus *all = cpus;
    struct drawn_cpu *c = &all->of[cpu];
    size_t n = 0;
    for (; n < max && c->now < c->end; n++) {
        if (c->n_runnable == 0)
            wake(c);
        if (c->n_runnable == 0) {
            out[n] = drawn_idle(c);
            continue;
        }
        if (c->slice_left == 0)
            c->slice_left = drawn_random_length(&c->random, &all->file.slice);
        out[n] = drawn_run(c);
        if (c->slice_left == 0)
            end_turn(c);
    }
    return n;
}

static void begin_cpu(struct drawn_cpus *all, unsigned cpu)
{
    struct drawn_cpu *c = &all->of[cpu];
    c->random = drawn_random_of(all->seed, (UINT64_C(1) << 32) + cpu);
    c->now = c->slice_left = 0;
    c->end = drawn_span(&all->file, 1);
    c->next_wake = SIM_FOREVER;
    c->first = c->n_runnable = 0;
    for (unsigned i = 0; i < c->n_threads; i++) {
        struct drawn_turn *t = &c->threads[i];
        t->thread = thread_begin(&all->file, all->seed, cpu + i * all->n_cpus);
        t->wakes = SIM_FOREVER;
        block(c, t);
        if (t->wakes == SIM_FOREVER)
            make_runnable(c, i);
    }
    /* in any order, not task by task */
    for (unsigned i = c->n_runnable; i > 1; i--) {
        unsigned other = drawn_random_below(&c->random, i), thread = c->runnable[other];
        c->runnable[other] = c->runnable[i - 1];
        c->runnable[i - 1] = thread;
    }
}

static void rewind_cpus(void *cpus)
{
    struct drawn_cpus *all = cpus;
    for (unsigned i = 0; i < all->n_cpus; i++)
        begin_cpu(all, i);
}

static void close_cpus(void *cpus)
{
    struct drawn_cpus *all = cpus;
    free(all->threads);
    free(all->rings);
    free(all);
}

int drawn_cpus_open(const struct drawn_file *file, unsigned n_cpus, uint64_t seed, struct sim_source *out)
{
    struct drawn_cpus *all = calloc(1, sizeof *all + n_cpus * sizeof *all->of);
    if (!all)
        return -1;
    all->file = *file;
    all->seed = seed;
    all->n_cpus = n_cpus;
    all->threads = calloc(file->n_threads, sizeof *all->threads);
    all->rings = calloc(file->n_threads, sizeof *all->rings);
    if (!all->threads || !all->rings) {
        close_cpus(all);
        return -1;
    }
    /* thread i is on CPU i modulo n_cpus */
    unsigned used = 0;
    for (unsigned i = 0; i < n_cpus; i++) {
        struct drawn_cpu *c = &all->of[i];
        c->n_threads = file->n_threads / n_cpus + (i < file->n_threads % n_cpus);
        c->threads = all->threads + used;
        c->runnable = all->rings + used;
        used += c->n_threads;
    }
    rewind_cpus(all);
    *out = (struct sim_source){read_drawn_cpu, rewind_cpus, never_an_error, close_cpus, all};
    return 0;
}

/* ---- the workload ---- */

static const struct data_kind drawn_kind = {"workload", "workloads", ".workload", NULL};

int sim_drawn_list(char ***names, size_t *n)
{
    return data_file_list(NULL, &drawn_kind, names, n);
}

/* Hyper-thread t of core c is CPU c + t cores, as Linux numbers those of one socket. */
static int number_cpus(struct sim_workload *w, const struct drawn_file *f, bool smt)
{
    w->n_cores = f->cores;
    w->n_cpus = f->cores * (smt ? f->threads_per_core : 1);
    w->smt = w->n_cpus > w->n_cores;
    w->cpu = calloc(w->n_cpus, sizeof *w->cpu);
    w->core = calloc(w->n_cpus, sizeof *w->core);
    if (!w->cpu || !w->core)
        return -1;
    for (unsigned i = 0; i < w->n_cpus; i++) {
        w->cpu[i] = i;
        w->core[i] = i % w->n_cores;
    }
    return 0;
}

/* The number of the first task with the same cookie, from 1; 0: it has none. */
static uint32_t cookie_of(const struct drawn_file *f, const struct drawn_task *t)
{
    uint32_t number = 0;
    while (t->cookie[0] && strcmp(f->tasks[number++].cookie, t->cookie) != 0)
        continue;
    return number;
}

static int name_threads(struct sim_workload *w, const struct drawn_file *f)
{
    w->tasks = calloc(f->n_threads, sizeof *w->tasks);
    if (!w->tasks)
        return -1;
    for (const struct drawn_task *t = f->tasks; t < f->tasks + f->n_tasks; t++)
        for (unsigned i = 0; i < t->threads; i++) {
            struct sim_task *task = &w->tasks[w->n_tasks];
            if (asprintf(&task->name, "%s-%u", t->name, i) < 0) {
                task->name = NULL;
                return -1;
            }
            task->cookie = cookie_of(f, t);
            w->n_tasks++;
        }
    return 0;
}

static void mark_classes(struct sim_workload *w, const struct drawn_file *f)
{
    w->has_ipc = f->has_ipc;
    w->has_stall = f->has_stall;
    w->has_cookie = f->has_cookie;
    w->has_syscall = f->has_syscall;
    for (unsigned t = 0; t < f->n_tasks; t++)
        for (unsigned i = 0; i < f->tasks[t].n_phases; i++) {
            const struct sim_row *row = &f->tasks[t].phases[i].row;
            w->class_used[row->class] = w->class_used[row->class] || row->task != SIM_IDLE;
        }
}

static int build_drawn(struct sim_workload *w, const char *name, const struct drawn_file *f,
                       const struct sim_workload_options *o)
{
    w->kind = "drawn";
    w->name = strdup(name);
    w->recorded = o->recorded ? o->recorded : f->recorded;
    w->active_cores = o->active_cores ? o->active_cores : f->active_cores;
    mark_classes(w, f);
    bool built = w->name && number_cpus(w, f, !o->smt_given || o->smt) == 0 && name_threads(w, f) == 0 &&
                 drawn_cpus_open(f, w->n_cpus, o->seed, &w->cpus) == 0 && drawn_works_open(f, o->seed, &w->works) == 0;
    return built ? 0 : -1;
}

int sim_drawn_read(const char *text, size_t length, const char *file, const char *name,
                   const struct sim_workload_options *o, struct sim_workload **out, struct machine_error *err)
{
    *out = NULL;
    if (o->siblings || o->n_marks || o->stamps)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: a drawn workload itself says %s", file,
                            o->siblings ? "which CPUs are siblings" : "which code is wide");
    struct drawn_file *f = calloc(1, sizeof *f);
    struct sim_workload *w = calloc(1, sizeof *w);
    int status = f && w ? drawn_file_parse(text, length, file, f, err) : MACHINE_FAILED;
    if (status == MACHINE_OK && build_drawn(w, name, f, o) != 0)
        status = MACHINE_FAILED;
    if (status == MACHINE_FAILED)
        machine_fail(err, MACHINE_FAILED, "", "%.200s: out of memory", file);
    free(f);
    if (status == MACHINE_OK)
        *out = w;
    else
        sim_workload_free(w);
    return status;
}

int sim_drawn_open(const char *name_or_path, const struct sim_workload_options *o, struct sim_workload **out,
                   struct machine_error *err)
{
    char path[DATA_FILE_PATH_SIZE];
    size_t length = 0;
    char *text = data_file_read(name_or_path, NULL, &drawn_kind, path, &length, err);
    if (!text)
        return (int)err->status;
    int status = sim_drawn_read(text, length, path, name_or_path, o, out, err);
    free(text);
    return status;
}

void sim_workload_free(struct sim_workload *w)
{
    if (!w)
        return;
    if (w->cpus.close)
        w->cpus.close(w->cpus.self);
    if (w->works.close)
        w->works.close(w->works.self);
    for (size_t i = 0; i < w->n_tasks && w->tasks; i++)
        free(w->tasks[i].name);
    free(w->tasks);
    free(w->core);
    free(w->cpu);
    free(w->name);
    free(w);
}
