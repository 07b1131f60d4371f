/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/profile_truth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/model/system/system.h"

/* Levels follow the code at once: what its instructions demand, and nothing for a change. */
static void idealize(struct model *m)
{
    m->wait_us = m->wait_sigma_us = m->halt_us = m->halt_sigma_us = m->throttle_sigma_us = 0;
    m->release_tau_us = m->volts_ramp_us = 0;
    for (size_t i = 0; i < m->n_classes; i++)
        m->classes[i].wait_double = 0;
    for (size_t from = 0; from < MODEL_CLASSES_MAX; from++)
        for (size_t to = 0; to < MODEL_CLASSES_MAX; to++)
            for (size_t i = 0; i < m->transitions[from][to].n_steps; i++) {
                struct model_step *step = &m->transitions[from][to].steps[i];
                step->us = step->tau_us = 0;
                for (size_t k = 0; k < step->n_variants; k++)
                    step->variants[k].us = 0;
            }
}

int truth_system(const struct model *m, uint64_t seed, unsigned flags, struct system **out, struct machine_error *err)
{
    struct model *variant = malloc(sizeof *variant);
    if (!variant)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    *variant = *m;
    if (flags & SYSTEM_NO_WAITS)
        idealize(variant);
    int status = system_new(variant, seed, flags & SYSTEM_OWN_LEVELS, out, err);
    free(variant);
    return status;
}

void profile_truth_setup(const struct model *m, uint64_t seed, struct profile_setup *out)
{
    *out = (struct profile_setup){.seed = seed,
                                  .flags = PROFILE_SOURCES,
                                  .mean_us = 20000,
                                  .pause_us = 700,
                                  .window_us = 70,
                                  .ref_khz = (__u32)(m->tsc_hz / 1e3)};
    for (size_t i = 0; i < m->n_turbo; i++) {
        struct profile_bin *b = &out->bin[out->n_bins++];
        b->cores = m->turbo[i].cores.hi;
        for (size_t level = 0; level < m->n_levels; level++)
            b->khz[level] = (__u32)(m->turbo[i].ghz[level] * 1e6 + 0.5);
    }
    if (m->n_turbo > 0)
        return;
    out->n_bins = 1;
    out->bin[0].cores = m->cores;
    for (size_t level = 0; level < m->n_levels; level++)
        out->bin[0].khz[level] = (__u32)(m->base_ghz[level] * 1e6 + 0.5);
}

/* The cost of a change from level 0 to this class and back, us: throttling, and a halt for each change. */
static double truth_change_us(const struct model *m, unsigned class_)
{
    const struct model_transition *t = &m->transitions[0][class_];
    double us = m->halt_us;
    for (size_t i = 0; i < t->n_steps; i++)
        us += t->steps[i].kind == MODEL_STEP_THROTTLE ? t->steps[i].us * (1 - t->steps[i].ratio) : m->halt_us;
    return us;
}

void profile_truth_terms(const struct model *m, struct profile_terms *out)
{
    *out = (struct profile_terms){.wait_us = m->wait_us, .change_us = {NAN, NAN, NAN}, .breakeven_us = {NAN, NAN, NAN}};
    for (unsigned i = 1; i < m->n_classes; i++)
        if (m->classes[i].level > 0 && m->transitions[0][i].n_steps > 0)
            out->change_us[m->classes[i].level] = truth_change_us(m, i);
}

/* The system of the same seed with other levels, until its tasks have done the work of the first. */
static int truth_run(const struct model *m, uint64_t seed, unsigned flags, double seconds, const struct system *first,
                     struct system **out)
{
    struct machine_error err;
    if (truth_system(m, seed, flags, out, &err) != MACHINE_OK)
        return -1;
    for (unsigned i = 0; first && i < first->n_tasks; i++)
        (*out)->task[i].goal = first->task[i].work;
    system_finish(*out, seconds * 1e6);
    return 0;
}

/* The time that pauses take from the tasks that run. */
static double truth_taken_us(const struct profile_record *r)
{
    return (r->pause_ns + (r->sight.other.pid > 0 ? r->held_ns : 0)) / 1e3;
}

static int truth_profile(struct system *s, const struct profile_setup *setup, double seconds, struct profile_truth *out,
                         struct profile_result *result)
{
    struct profile_terms terms;
    profile_truth_terms(&s->model, &terms);
    struct system_sampling *x = malloc(sizeof *x);
    struct profile_totals *totals = profile_totals_new(setup, &terms);
    double taken_us = 0, cpu_us = 0;
    int status = x && totals ? 0 : -1;
    if (status == 0)
        system_sampling_begin(x, s, setup);
    while (status == 0 && system_sampling_turn(x, seconds * 1e6)) {
        const struct profile_record *r = &x->record;
        out->turns[r->outcome]++;
        taken_us += truth_taken_us(r);
        if (r->outcome == PROFILE_TAKEN)
            out->task[r->sight.task.pid - s->task[0].pid].stall += r->stall / (double)PROFILE_ONE;
        status = profile_totals_add(totals, r) ? 0 : -1;
    }
    system_finish(s, seconds * 1e6);
    for (unsigned i = 0; i < s->n_tasks; i++)
        cpu_us += s->task[i].cpu_us + taken_us / s->n_tasks;
    out->predicted = taken_us / cpu_us;
    out->duty = profile_duty_ppm(setup, s->n_cores) / 1e6;
    if (status == 0)
        status = profile_totals_result(totals, result);
    profile_totals_free(totals);
    free(x);
    return status;
}

static void truth_seen(const struct profile_result *result, const struct system *s, struct profile_truth *out)
{
    for (size_t i = 0; i < result->n_rows; i++) {
        const struct profile_row *row = &result->rows[i];
        if (row->kind != PROFILE_TASK || row->samples == 0)
            continue;
        struct profile_truth_task *t = &out->task[row->pid - s->task[0].pid];
        t->samples = row->samples;
        t->stall /= (double)row->samples;
        t->seen[TRUTH_OVERHEAD] = row->overhead;
        t->seen[TRUTH_SIBLING] = row->sibling;
        t->seen[TRUTH_DELAY] = row->delay;
    }
}

/* CPU time that a task's work of the actual system takes here; extrapolated where it was not done in time. */
static double truth_us(const struct system *s, unsigned task)
{
    const struct system_task *t = &s->task[task];
    return isnan(t->goal_us) ? t->cpu_us * t->goal / t->work : t->goal_us;
}

/* Parts of the performance that is lacking, as the profiler's are: what each run has more than the actual one. */
static void truth_compare(const struct system *actual, const struct system *ideal, const struct system *own_waits,
                          const struct system *no_waits, struct profile_truth *out)
{
    for (unsigned i = 0; i < actual->n_tasks; i++) {
        struct profile_truth_task *t = &out->task[i];
        double us = actual->task[i].cpu_us;
        t->pid = actual->task[i].pid;
        t->kind = actual->task[i].kind;
        t->truth[TRUTH_OVERHEAD] = us / truth_us(ideal, i) - 1;
        t->truth[TRUTH_DELAY] = us / truth_us(no_waits, i) - 1;
        t->truth[TRUTH_SIBLING] = t->truth[TRUTH_OVERHEAD] - t->truth[TRUTH_DELAY];
        t->others = us / truth_us(own_waits, i) - 1;
    }
}

static double truth_work(const struct system *s)
{
    double work = 0;
    for (unsigned i = 0; i < s->n_tasks; i++)
        work += s->task[i].work;
    return work;
}

int profile_truth_of(const struct model *m, const struct profile_setup *setup, uint64_t seed, double seconds,
                     struct profile_truth *out)
{
    enum { ACTUAL, IDEAL, OWN_WAITS, NO_WAITS, PROFILED, RUNS };
    static const unsigned flags[RUNS] = {0, SYSTEM_OWN_LEVELS | SYSTEM_NO_WAITS, SYSTEM_OWN_LEVELS, SYSTEM_NO_WAITS, 0};
    struct system *s[RUNS] = {NULL};
    struct profile_result result = {0};
    struct machine_error err;
    int status = 0;
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < PROFILED && status == 0; i++)
        status = truth_run(m, seed, flags[i], seconds, i > 0 ? s[0] : NULL, &s[i]);
    if (status == 0)
        status = truth_system(m, seed, 0, &s[PROFILED], &err) == MACHINE_OK ? 0 : -1;
    if (status == 0)
        status = truth_profile(s[PROFILED], setup, seconds, out, &result);
    if (status == 0) {
        out->cores = s[0]->n_cores;
        out->cpus = s[0]->n_cpus;
        out->n_tasks = s[0]->n_tasks;
        out->seconds = seconds;
        truth_compare(s[ACTUAL], s[IDEAL], s[OWN_WAITS], s[NO_WAITS], out);
        truth_seen(&result, s[0], out);
        out->lost = 1 - truth_work(s[PROFILED]) / truth_work(s[ACTUAL]);
        profile_result_free(&result);
    }
    for (unsigned i = 0; i < RUNS; i++)
        system_free(s[i]);
    return status;
}
