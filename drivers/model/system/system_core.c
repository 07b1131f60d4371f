/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The system in time: who runs on which CPU, what a core's threads execute, at which speed, and what they count
 * meanwhile. Cores go on independently of each other until the number of those that are active changes.
 */
#include "drivers/model/system/system.h"

#include <math.h>

/* ---- how fast code runs ---- */

/* Cycles that two threads compete for: with both never waiting each gets 0.6 of what it has alone. */
static const double SYSTEM_COMPETITION = 0.4;

int system_code_set(const struct model *m, const char *kernel, struct system_code *out, struct machine_error *err)
{
    struct model_need need;
    *out = (struct system_code){.loads = 1};
    if (kernel_parse(kernel, &out->payload, NULL, 0) != 0)
        return machine_fail(err, MACHINE_FAILED, "", "no kernel %.40s", kernel);
    int status = model_need(m, &out->payload, &need, err);
    if (status != MACHINE_OK)
        return status;
    out->class_ = need.later > need.first ? need.later : need.first;
    return MACHINE_OK;
}

void system_loop_set(struct system_code *c, unsigned number, double stall, double overlap)
{
    struct system_loop *l = &c->loop[number];
    l->overlap = overlap;
    l->compute = 1 - stall;
    /* stall = overlap * max(0, memory - compute) + (1 - overlap) * memory, solved for memory */
    l->memory = stall + overlap * (1 - stall);
    if (l->memory < l->compute)
        l->memory = stall / (1 - overlap);
    c->compute += l->compute / SYSTEM_LOOPS;
}

struct system_pace system_code_pace(const struct system_code *c, double speed)
{
    double computes = 0, stalls = 0;
    if (speed <= 0)
        return (struct system_pace){0, 0};
    for (unsigned i = 0; i < SYSTEM_LOOPS; i++) {
        const struct system_loop *l = &c->loop[i];
        double compute = l->compute / speed, beyond = l->memory > compute ? l->memory - compute : 0;
        computes += compute / SYSTEM_LOOPS;
        stalls += (l->overlap * beyond + (1 - l->overlap) * l->memory) / SYSTEM_LOOPS;
    }
    return (struct system_pace){.work = 1 / (computes + stalls), .stall = stalls / (computes + stalls)};
}

static double leaves(const struct system_code *sibling)
{
    return sibling ? 1 - SYSTEM_COMPETITION * sibling->compute : 1;
}

static const struct system_code *task_code(const struct system_task *t)
{
    return &t->code[t->phase % t->n_codes];
}

void system_task_next_phase(struct system_task *t)
{
    if (t->n_codes == 1) {
        t->left = INFINITY;
        return;
    }
    /* narrow code again after each of the others */
    bool narrow = t->phase > 0;
    t->phase = narrow ? 0 : 1 + (unsigned)(model_random_uniform(&t->random) * (t->n_codes - 1));
    t->left = narrow ? t->narrow_work * model_random_exponential(&t->random)
                     : t->wide_work * (0.5 + model_random_uniform(&t->random));
}

/* ---- a core ---- */

static const double SYSTEM_TICK_US = 1e-6;

/* Soon, and not now: after two hours a double cannot distinguish times that are a tick apart. */
static double soon(double now)
{
    return fmax(now + SYSTEM_TICK_US, nextafter(now, INFINITY));
}

/* The code that a thread executes now; NULL: none. */
static const struct system_code *executes(const struct system *s, const struct system_thread *t)
{
    if (t->mode != SYSTEM_RUNS)
        return t->mode == SYSTEM_HELD ? &s->spin : &s->kernel;
    return t->task == SYSTEM_NOBODY ? NULL : task_code(&s->task[t->task]);
}

static struct model_core *system_license(struct system *s, struct system_core *k, const struct system_thread *t)
{
    return s->flags & SYSTEM_OWN_LEVELS && t->task != SYSTEM_NOBODY ? s->task[t->task].license : &k->license;
}

/* The license follows this code from now on. */
static void license_run(struct system *s, struct model_core *license, const struct system_code *code, double now)
{
    struct machine_error never; /* each code has been checked when it was drawn */
    license->cores = s->active;
    model_core_advance(license, now, INFINITY);
    if (license->payload != &code->payload)
        model_core_run(license, &code->payload, &never);
}

void system_core_demand(struct system *s, struct system_core *k)
{
    const struct system_code *most = &s->kernel;
    for (unsigned i = 0; i < s->n_threads; i++) {
        const struct system_code *code = executes(s, &k->thread[i]);
        if (!code)
            continue;
        if (s->flags & SYSTEM_OWN_LEVELS)
            license_run(s, system_license(s, k, &k->thread[i]), code, k->now);
        /* of two that need the same, the one that runs already */
        if (code->class_ > most->class_ || (code->class_ == most->class_ && k->license.payload == &code->payload))
            most = code;
    }
    if (!(s->flags & SYSTEM_OWN_LEVELS))
        license_run(s, &k->license, most, k->now);
}

/* Computing of a license's thread, relative to the reference frequency. */
static double system_speed(const struct system *s, const struct model_core *license)
{
    if (license->halted)
        return 0;
    bool throttled = license->pending && license->needed > license->held;
    return model_core_ghz(license) / s->reference_ghz * (throttled ? license->transition_throttle_ratio : 1);
}

static void system_count(struct system_thread *t, const struct model_core *license, double tsc_mhz, double us,
                         double stall, double loads)
{
    double cycles = model_core_ghz(license) * 1e3 * us;
    unsigned level = license->model->classes[license->held].level;
    t->count[PROFILE_CYCLES] += cycles;
    t->count[PROFILE_REF] += tsc_mhz * us;
    if (level > 0)
        t->count[level == 1 ? PROFILE_LEVEL1 : PROFILE_LEVEL2] += cycles;
    t->count[PROFILE_STALL_LOADS] += cycles * stall * loads;
    t->count[PROFILE_STALL_STORES] += cycles * stall * (1 - loads);
}

/* A thread in a stretch in which nothing changes. */
struct system_stretch {
    const struct system_code *code; /* NULL: idle */
    struct model_core *license;
    struct system_pace pace;
    double *left;
};

static struct system_stretch thread_begin(struct system *s, struct system_core *k, unsigned i)
{
    struct system_thread *t = &k->thread[i];
    struct system_stretch x = {.code = executes(s, t), .license = system_license(s, k, t)};
    if (!x.code)
        return x;
    const struct system_code *other = s->n_threads > 1 ? executes(s, &k->thread[1 - i]) : NULL;
    x.pace = system_code_pace(x.code, system_speed(s, x.license) * leaves(other));
    /* who is held spins; the handler of the sampled CPU does what it is given to do */
    x.left = t->mode == SYSTEM_RUNS ? &s->task[t->task].left : t->mode == SYSTEM_KERNEL ? &t->kernel_left : NULL;
    return x;
}

/* Returns whether the thread executes other code now. */
static bool thread_end(struct system *s, struct system_thread *t, const struct system_stretch *x, bool over, double us)
{
    if (t->mode == SYSTEM_RUNS) {
        struct system_task *task = &s->task[t->task];
        double work = over ? task->left : x->pace.work * us;
        task->cpu_us += us;
        task->work += work;
        task->left -= work;
        if (isnan(task->goal_us) && task->work >= task->goal * (1 - 1e-9)) /* less than that is rounding */
            task->goal_us = task->cpu_us - (task->work - task->goal) / x->pace.work;
        if (over)
            system_task_next_phase(task);
        return over;
    }
    if (x->left)
        *x->left = over ? 0 : fmax(0, *x->left - x->pace.work * us);
    return false;
}

static void core_stretch(struct system *s, struct system_core *k, double until)
{
    struct system_stretch x[SYSTEM_THREADS_MAX];
    int ends = SYSTEM_NOBODY;
    bool changed = false;
    for (unsigned i = 0; i < s->n_threads; i++) {
        x[i] = thread_begin(s, k, i);
        if (i == 0 || x[i].license != x[0].license)
            until = fmin(until, fmax(model_core_event(x[i].license), soon(k->now)));
    }
    for (unsigned i = 0; i < s->n_threads; i++)
        if (x[i].left && *x[i].left > 0 && x[i].pace.work > 0 && k->now + *x[i].left / x[i].pace.work <= until) {
            until = k->now + *x[i].left / x[i].pace.work;
            ends = (int)i;
        }
    double us = until - k->now;
    for (unsigned i = 0; i < s->n_threads; i++)
        if (x[i].code && !x[i].license->halted)
            system_count(&k->thread[i], x[i].license, s->model.tsc_hz / 1e6, us, x[i].pace.stall, x[i].code->loads);
    for (unsigned i = 0; i < s->n_threads; i++)
        if (x[i].code && thread_end(s, &k->thread[i], &x[i], ends == (int)i, us))
            changed = true;
    for (unsigned i = 0; i < s->n_threads; i++)
        model_core_advance(x[i].license, until, INFINITY);
    k->now = until;
    if (changed)
        system_core_demand(s, k);
}

void system_core_advance(struct system *s, struct system_core *k, double until, const struct system_thread *kernel_of)
{
    while (k->now < until && (!kernel_of || kernel_of->kernel_left > 0) && !system_stopped(s))
        core_stretch(s, k, until);
}

void system_core_mode(struct system *s, unsigned cpu, enum system_mode mode)
{
    struct system_core *k = system_core_of(s, cpu);
    struct system_thread *t = system_thread_of(s, cpu);
    t->mode = mode;
    if (mode == SYSTEM_RUNS && t->assigned != t->task) {
        if (s->flags & SYSTEM_OWN_LEVELS && t->task != SYSTEM_NOBODY)
            license_run(s, s->task[t->task].license, &s->kernel, k->now);
        t->before = t->task;
        t->task = t->assigned;
        t->since_us = k->now;
        t->switches++;
    }
    system_core_demand(s, k);
}

/*
 * ---- who runs on which CPU, by time alone: the same whatever the clock does, so that systems can be compared. CPUs
 * take their tasks in turn; one that becomes idle takes a task that waits elsewhere; some wake up on another CPU than
 * before. ----
 */

static const double SYSTEM_SLICE_US = 3000; /* Linux: sched_min_granularity_ns at 8 CPUs and more */

/* Time until `current` is over: its run, and if others wait its slice. */
static void begin_slice(struct system_schedule *d, unsigned cpu, double now)
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

static int dequeue(struct system_queue *q)
{
    int first = q->waiting[0];
    q->n--;
    for (unsigned i = 0; i < q->n; i++)
        q->waiting[i] = q->waiting[i + 1];
    return first;
}

/* Who runs next here: the first in the queue, or the first of the longest queue. */
static int pick(struct system_schedule *d, unsigned cpu)
{
    struct system_queue *longest = &d->queue[cpu];
    for (unsigned i = 0; i < d->n_cpus && d->queue[cpu].n == 0; i++)
        if (d->queue[i].n > longest->n)
            longest = &d->queue[i];
    return longest->n > 0 ? dequeue(longest) : SYSTEM_NOBODY;
}

static double run_length(struct system_schedule *d, const struct system_task *t)
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
        d->run_left[i] = run_length(d, &tasks[i]);
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
        begin_slice(d, *cpu, at);
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
static bool expire(struct system_schedule *d, const struct system_task *tasks, unsigned cpu)
{
    struct system_queue *q = &d->queue[cpu];
    int last = q->current;
    double at = q->until;
    if (d->run_left[last] < 1e-3) { /* less than that is rounding */
        d->run_left[last] = run_length(d, &tasks[last]);
        d->wakes[last] = at + tasks[last].sleep_us * model_random_exponential(&d->random);
    } else {
        q->waiting[q->n++] = last;
    }
    q->current = pick(d, cpu);
    begin_slice(d, cpu, at);
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
        bool changed = d->wakes[task] < d->queue[cpu].until ? system_wake(d, tasks, task, &cpu) : expire(d, tasks, cpu);
        if (changed)
            return (struct system_switch){.at = at, .cpu = cpu, .task = d->queue[cpu].current};
    }
}

/* ---- all cores ---- */

static bool core_active(const struct system *s, const struct system_core *k)
{
    for (unsigned i = 0; i < s->n_threads; i++)
        if (k->thread[i].task != SYSTEM_NOBODY)
            return true;
    return false;
}

/* All cores have the turbo bin of so many active ones from now on. */
static void count_active(struct system *s, double at)
{
    unsigned active = s->elsewhere;
    for (unsigned i = 0; i < s->n_cores; i++)
        active += core_active(s, &s->core[i]);
    if (active == 0)
        active = 1;
    if (active == s->active)
        return;
    for (unsigned i = 0; i < s->n_cores; i++)
        system_core_advance(s, &s->core[i], at, NULL);
    s->active = active;
    for (unsigned i = 0; i < s->n_cores; i++)
        system_core_demand(s, &s->core[i]);
}

static void do_switch(struct system *s, const struct system_switch *w)
{
    struct system_core *k = system_core_of(s, w->cpu);
    struct system_thread *t = system_thread_of(s, w->cpu);
    system_core_advance(s, k, w->at, NULL);
    t->assigned = w->task;
    /* with interrupts masked it is done when they are not any more */
    if (t->mode == SYSTEM_RUNS)
        system_core_mode(s, w->cpu, SYSTEM_RUNS);
    count_active(s, w->at);
}

static void do_switches(struct system *s, double until)
{
    while (s->next.at <= until && !system_stopped(s)) {
        do_switch(s, &s->next);
        s->next = system_schedule_next(&s->schedule, s->task);
    }
}

void system_advance(struct system *s, double until, unsigned cpu)
{
    do_switches(s, until);
    system_core_advance(s, system_core_of(s, cpu), until, NULL);
}

void system_finish(struct system *s, double until)
{
    do_switches(s, until);
    for (unsigned i = 0; i < s->n_cores; i++)
        system_core_advance(s, &s->core[i], until, NULL);
}
