/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws a modelled system from a seed; doc/profiler.md, "The modelled system", has the ranges. */
#include "drivers/model/system/system.h"

#include <math.h>
#include <stdlib.h>

const char *const system_kind_names[SYSTEM_KINDS] = {"narrow", "steady", "bursty", "mixed"};

/* The ranges of the drawn systems, as doc/profiler.md has them; process numbers begin where users' do. */
enum { CPUS_LEAST = 4, CPUS_MOST = 16, CONTAINERS = 3, FIRST_PID = 1000 };

static double system_between(struct model_random *r, double lo, double hi)
{
    return lo + (hi - lo) * model_random_uniform(r);
}

/* Draws as many between 1 and 10 as between 10 and 100. exp(ln(hi / lo) u) by halving, exact on every machine. */
static double spread_between(struct model_random *r, double lo, double hi)
{
    double u = model_random_uniform(r);
    for (double bit = 0.5; bit > 1e-6; bit /= 2) {
        double middle = sqrt(lo * hi);
        if (u >= bit) {
            u -= bit;
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return lo;
}

static unsigned system_number(struct model_random *r, unsigned lo, unsigned hi)
{
    return lo + (unsigned)(model_random_uniform(r) * (hi - lo + 1));
}

/* The reason why the model has nothing to profile, or NULL. */
static const char *system_lacks(const struct model *m)
{
    if (m->no_counters || !m->counts_licenses)
        return "has no license counters";
    return m->n_levels < 2 ? "has one frequency for all code" : NULL;
}

/* ---- code ---- */

static bool draw_code(const struct model *m, struct model_random *r, const char *kernel, struct system_code *out)
{
    struct machine_error ignored;
    if (system_code_set(m, kernel, out, &ignored) != MACHINE_OK)
        return false;
    double stall = system_between(r, 0, 0.8);
    for (unsigned i = 0; i < SYSTEM_LOOPS; i++) {
        double here = fmin(stall * system_between(r, 0.5, 1.5), 0.95);
        system_loop_set(out, i, here, system_between(r, 0, 0.97));
    }
    out->loads = system_between(r, 0.5, 1);
    return true;
}

/* The kernel itself executes one loop, without memory accesses. */
static bool kernel_code(const struct model *m, double stall, struct system_code *out)
{
    struct machine_error ignored;
    if (system_code_set(m, "64add", out, &ignored) != MACHINE_OK)
        return false;
    for (unsigned i = 0; i < SYSTEM_LOOPS; i++)
        system_loop_set(out, i, stall, 0);
    return true;
}

/* Wide code is what lowers the level on this model. Where it lacks a kernel's instructions the next one is taken. */
static bool draw_width(const struct model *m, struct model_random *r, bool wide, struct system_code *out)
{
    static const char *const kernels[2][5] = {{"64add", "64mul", "128fma", "256or"},
                                              {"512fma", "512fma@1/4", "512or", "512fma@1/16", "256fma"}};
    const unsigned n = wide ? 5 : 4, first = system_number(r, 0, n - 1);
    for (unsigned i = 0; i < n; i++)
        if (draw_code(m, r, kernels[wide][(first + i) % n], out) && (m->classes[out->class_].level > 0) == wide)
            return true;
    return false;
}

/* ---- tasks ---- */

static enum system_kind draw_kind(struct model_random *r)
{
    double u = model_random_uniform(r);
    return u < 0.4 ? SYSTEM_NARROW : u < 0.6 ? SYSTEM_STEADY : u < 0.85 ? SYSTEM_BURSTY : SYSTEM_MIXED;
}

static bool draw_codes(const struct model *m, struct model_random *r, struct system_task *t)
{
    t->n_codes = t->kind == SYSTEM_NARROW || t->kind == SYSTEM_STEADY ? 1 : 2 + (model_random_uniform(r) < 0.3);
    for (unsigned i = 0; i < t->n_codes; i++)
        if (!draw_width(m, r, i > 0 || t->kind == SYSTEM_STEADY, &t->code[i]))
            return false;
    return true;
}

/* Draws the time from the beginning of a burst to that of the next; and the length of a burst. */
static void draw_bursts(struct model_random *r, struct system_task *t)
{
    bool mixed = t->kind == SYSTEM_MIXED;
    double period = mixed ? spread_between(r, 20e3, 2e6) : spread_between(r, 200, 50e3);
    t->wide_work = mixed ? period * system_between(r, 0.1, 0.9) : spread_between(r, 10, fmin(5000, 0.5 * period));
    t->narrow_work = period - t->wide_work;
}

static bool draw_task(struct system *s, struct model_random *r, unsigned number, uint64_t seed)
{
    struct system_task *t = &s->task[number];
    bool sleeps = model_random_uniform(r) < 0.5;
    *t = (struct system_task){.kind = draw_kind(r), .pid = FIRST_PID + number, .goal = INFINITY, .goal_us = NAN};
    t->cgroup = 1 + system_number(r, 0, CONTAINERS - 1);
    t->run_us = sleeps ? spread_between(r, 500, 50e3) : INFINITY;
    t->sleep_us = spread_between(r, 500, 20e3);
    t->migrates = system_between(r, 0, 0.1);
    draw_bursts(r, t);
    model_random_init(&t->random, seed, 1 + number, 2);
    if (!draw_codes(&s->model, r, t))
        return false;
    if (t->n_codes == 1)
        system_task_next_phase(t);
    else
        t->left = t->narrow_work * model_random_uniform(&t->random);
    return true;
}

/* ---- the system ---- */

/* Only licenses, and what the profiler's own pauses do not mask. */
static void system_model(struct system *s, const struct model *m)
{
    s->model = *m;
    s->model.n_interrupts = 0;
    s->model.scenario = (struct model_scenario){0};
    s->model.has_power = false;
    s->reference_ghz = model_mean_ghz(m, 0, m->cores);
}

static void draw_cores(struct system *s, struct model_random *r)
{
    unsigned most = s->model.cores < SYSTEM_CORES_MAX ? s->model.cores : SYSTEM_CORES_MAX;
    s->n_threads = model_random_uniform(r) < 0.75 ? 2 : 1;
    if (most > CPUS_MOST / s->n_threads)
        most = CPUS_MOST / s->n_threads;
    unsigned least = CPUS_LEAST / s->n_threads;
    s->n_cores = system_number(r, least < most ? least : most, most);
    s->n_cpus = s->n_cores * s->n_threads;
    s->elsewhere = system_number(r, 0, s->model.cores - s->n_cores);
}

static bool set_going(struct system *s, uint64_t seed)
{
    system_schedule_begin(&s->schedule, s->task, s->n_tasks, s->n_cpus, seed);
    s->next = system_schedule_next(&s->schedule, s->task);
    s->active = 1 + s->elsewhere;
    for (unsigned i = 0; i < s->n_cores; i++) {
        model_core_start(&s->core[i].license, &s->model, s->active, seed, i);
        for (unsigned k = 0; k < s->n_threads; k++)
            s->core[i].thread[k] = (struct system_thread){
                .task = SYSTEM_NOBODY, .assigned = SYSTEM_NOBODY, .before = SYSTEM_NOBODY};
        system_core_demand(s, &s->core[i]);
    }
    for (unsigned i = 0; i < s->n_tasks && s->flags & SYSTEM_OWN_LEVELS; i++) {
        s->task[i].license = malloc(sizeof *s->task[i].license);
        if (!s->task[i].license)
            return false;
        model_core_start(s->task[i].license, &s->model, s->active, seed, SYSTEM_CORES_MAX + i);
    }
    return true;
}

static bool draw_all(struct system *s, uint64_t seed)
{
    struct model_random r;
    model_random_init(&r, seed, 0, 0);
    if (!kernel_code(&s->model, 0, &s->kernel) || !kernel_code(&s->model, 0.95, &s->spin))
        return false;
    draw_cores(s, &r);
    s->n_tasks = (unsigned)(s->n_cpus * system_between(&r, 0.7, 1.5));
    for (unsigned i = 0; i < s->n_tasks; i++)
        if (!draw_task(s, &r, i, seed))
            return false;
    return true;
}

int system_new(const struct model *m, uint64_t seed, unsigned flags, struct system **out, struct machine_error *err)
{
    const char *lacks = system_lacks(m);
    *out = NULL;
    if (lacks)
        return machine_fail(err, MACHINE_CANNOT, "choose a model with license levels, such as xeon-gold-6130",
                            "the modelled %s %s: there is no overhead to be profiled", m->cpu_name, lacks);
    struct system *s = calloc(1, sizeof *s);
    if (!s)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory for a modelled system");
    *out = s;
    s->flags = flags;
    system_model(s, m);
    if (!draw_all(s, seed))
        return machine_fail(err, MACHINE_CANNOT, "choose a model with license levels, such as xeon-gold-6130",
                            "the modelled %s lacks the code for a system: narrow and wide kernels", m->cpu_name);
    return set_going(s, seed) ? MACHINE_OK
                              : machine_fail(err, MACHINE_FAILED, "", "out of memory for a modelled system");
}

void system_free(struct system *s)
{
    for (unsigned i = 0; s && i < s->n_tasks; i++)
        free(s->task[i].license);
    free(s);
}
