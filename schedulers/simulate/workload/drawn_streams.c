/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/simulate/workload/drawn_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

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
static struct drawn_thread drawn_thread_begin(const struct drawn_file *file, uint64_t seed, uint32_t number)
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

static bool drawn_thread_blocked(const struct drawn_thread *t)
{
    return t->task->phases[t->phase].row.task == SIM_IDLE;
}

/* Its row of the next `ps` picoseconds, 1 to left; the phase that follows has begun if there are none left. */
static struct sim_row drawn_thread_advance(struct drawn_thread *t, int64_t ps)
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
        w->of[i].thread = drawn_thread_begin(&w->file, w->seed, i);
        w->of[i].left = drawn_span(&w->file, w->of[i].thread.task->lasts);
    }
}

static size_t read_drawn_work(void *works, unsigned thread, struct sim_row *out, size_t max)
{
    struct drawn_work *w = &((struct drawn_works *)works)->of[thread];
    size_t n = 0;
    for (; n < max && w->left > 0; n++) {
        out[n] = drawn_thread_advance(&w->thread, least(least(w->thread.left, w->left), SIM_ROW_PS_MAX));
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

/* Its threads take turns: who wakes, or whose slice is over, waits behind all others. */
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
    if (!drawn_thread_blocked(&t->thread))
        return;
    /* beyond the end nothing is drawn: it may be blocked for ever */
    for (t->wakes = c->now; t->wakes < c->end && drawn_thread_blocked(&t->thread);) {
        t->wakes += t->thread.left;
        drawn_thread_advance(&t->thread, t->thread.left);
    }
    c->next_wake = least(c->next_wake, t->wakes);
}

/* Those whose time has come, in its order. */
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
    struct sim_row row = drawn_thread_advance(
        &t->thread, least(least(t->thread.left, c->slice_left), least(c->end - c->now, SIM_ROW_PS_MAX)));
    c->now += row.ps;
    c->slice_left -= row.ps;
    block(c, t);
    if (t->wakes != SIM_FOREVER)
        c->slice_left = 0;
    return row;
}

/* The thread whose slice is over, or that is blocked, leaves the front; if it is runnable, it goes behind those that
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
        t->thread = drawn_thread_begin(&all->file, all->seed, cpu + i * all->n_cpus);
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
