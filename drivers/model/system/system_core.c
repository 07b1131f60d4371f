/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A core in time: what its threads execute, at which speed, and what they count meanwhile. */
#include "drivers/model/system/system.h"

#include <math.h>

static const double SYSTEM_TICK_US = 1e-6;

/* Soon, and not now: after two hours a double tells no times apart that are a tick apart. */
static double system_soon(double now)
{
    return fmax(now + SYSTEM_TICK_US, nextafter(now, INFINITY));
}

/* What a thread executes now; NULL: nothing. */
static const struct system_code *system_executes(const struct system *s, const struct system_thread *t)
{
    if (t->mode != SYSTEM_RUNS)
        return t->mode == SYSTEM_HELD ? &s->spin : &s->kernel;
    return t->task == SYSTEM_NOBODY ? NULL : system_task_code(&s->task[t->task]);
}

static struct model_core *system_license(struct system *s, struct system_core *k, const struct system_thread *t)
{
    return s->flags & SYSTEM_OWN_LEVELS && t->task != SYSTEM_NOBODY ? s->task[t->task].license : &k->license;
}

/* The license follows this code from now on. */
static void system_license_run(struct system *s, struct model_core *license, const struct system_code *code, double now)
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
        const struct system_code *code = system_executes(s, &k->thread[i]);
        if (!code)
            continue;
        if (s->flags & SYSTEM_OWN_LEVELS)
            system_license_run(s, system_license(s, k, &k->thread[i]), code, k->now);
        /* of two that need the same, the one that runs already */
        if (code->class_ > most->class_ || (code->class_ == most->class_ && k->license.payload == &code->payload))
            most = code;
    }
    if (!(s->flags & SYSTEM_OWN_LEVELS))
        system_license_run(s, &k->license, most, k->now);
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

static struct system_stretch system_thread_begin(struct system *s, struct system_core *k, unsigned i)
{
    struct system_thread *t = &k->thread[i];
    struct system_stretch x = {.code = system_executes(s, t), .license = system_license(s, k, t)};
    if (!x.code)
        return x;
    const struct system_code *other = s->n_threads > 1 ? system_executes(s, &k->thread[1 - i]) : NULL;
    x.pace = system_code_pace(x.code, system_speed(s, x.license) * system_code_leaves(other));
    /* who is held spins; the handler of the sampled CPU does what it is given to do */
    x.left = t->mode == SYSTEM_RUNS ? &s->task[t->task].left : t->mode == SYSTEM_KERNEL ? &t->kernel_left : NULL;
    return x;
}

/* Returns whether the thread executes other code now. */
static bool system_thread_end(struct system *s, struct system_thread *t, const struct system_stretch *x, bool over,
                              double us)
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

static void system_core_stretch(struct system *s, struct system_core *k, double until)
{
    struct system_stretch x[SYSTEM_THREADS_MAX];
    int ends = SYSTEM_NOBODY;
    bool changed = false;
    for (unsigned i = 0; i < s->n_threads; i++) {
        x[i] = system_thread_begin(s, k, i);
        if (i == 0 || x[i].license != x[0].license)
            until = fmin(until, fmax(model_core_event(x[i].license), system_soon(k->now)));
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
        if (x[i].code && system_thread_end(s, &k->thread[i], &x[i], ends == (int)i, us))
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
        system_core_stretch(s, k, until);
}

void system_core_mode(struct system *s, unsigned cpu, enum system_mode mode)
{
    struct system_core *k = system_core_of(s, cpu);
    struct system_thread *t = system_thread_of(s, cpu);
    t->mode = mode;
    if (mode == SYSTEM_RUNS && t->assigned != t->task) {
        if (s->flags & SYSTEM_OWN_LEVELS && t->task != SYSTEM_NOBODY)
            system_license_run(s, s->task[t->task].license, &s->kernel, k->now);
        t->before = t->task;
        t->task = t->assigned;
        t->since_us = k->now;
        t->switches++;
    }
    system_core_demand(s, k);
}
