/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A modelled system as a source of the profiler's records. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/model/system/system.h"
#include "drivers/profile/profile_source.h"

/* ---- the sampled CPU's turns ---- */

/* Latencies, us, and the cost of reading counters, cycles: assumed, of an idle server that polls or sits in C1. */
static const double TIMER_US[2] = {1, 3}, ANSWER_US[2] = {1, 3};
enum { NOPS_PER_CYCLE = 4, READING_CYCLES = 40, US_PER_S = 1000000 };

static double system_latency(struct system_sampling *x, const double us[2])
{
    return us[0] + (us[1] - us[0]) * model_random_uniform(&x->random);
}

static struct system_core *sampled_core(const struct system_sampling *x)
{
    return system_core_of(x->system, x->sampled);
}

static void pass(struct system_sampling *x, double us)
{
    system_advance(x->system, sampled_core(x)->now + us, x->sampled);
}

static __u64 system_now_ns(void *with)
{
    return (__u64)(sampled_core(with)->now * 1e3);
}

static unsigned system_sibling(const struct system_sampling *x)
{
    const struct system *s = x->system;
    return s->n_threads > 1 ? (x->sampled + s->n_cores) % s->n_cpus : PROFILE_NO_CPU;
}

static struct profile_task system_seen(const struct system *s, int number)
{
    struct profile_task seen = {0};
    if (number == SYSTEM_NOBODY)
        return seen;
    const struct system_task *t = &s->task[number];
    seen = (struct profile_task){.pid = t->pid, .tgid = t->pid, .start_ns = t->pid, .cgroup = t->cgroup};
    snprintf(seen.comm, sizeof seen.comm, "%s", system_kind_names[t->kind]);
    return seen;
}

/* Switches hours ago are as long ago as the field can tell. */
static __u32 system_since_us(const struct system_thread *t, double now)
{
    return (__u32)fmin(now - t->since_us, UINT32_MAX);
}

static void system_look(void *with, struct profile_sight *out)
{
    struct system_sampling *x = with;
    struct system *s = x->system;
    double now = sampled_core(x)->now;
    const struct system_thread *t = system_thread_of(s, x->sampled);
    *out = (struct profile_sight){.task = system_seen(s, t->task),
                                  .before = system_seen(s, t->before),
                                  .switches = t->switches,
                                  .since_us = system_since_us(t, now),
                                  .other_cpu = system_sibling(x),
                                  .active_cores = s->active};
    if (out->other_cpu == PROFILE_NO_CPU)
        return;
    t = system_thread_of(s, out->other_cpu);
    out->other = system_seen(s, t->task);
    out->other_before = system_seen(s, t->before);
    out->other_switches = t->switches;
    out->other_since_us = system_since_us(t, now);
}

/* Counters count complete cycles. */
static void read_counts(struct system_sampling *x, struct profile_counts *out)
{
    const struct system_thread *t = system_thread_of(x->system, x->sampled);
    *out = (struct profile_counts){0};
    for (unsigned i = 0; i < PROFILE_COUNTERS; i++)
        out->count[i] = (__u64)t->count[i];
}

static void take_counts(void *with, struct profile_counts *before, struct profile_counts *after)
{
    struct system_sampling *x = with;
    struct system_thread *t = system_thread_of(x->system, x->sampled);
    read_counts(x, before);
    t->kernel_left = ((double)PROFILE_NOPS / NOPS_PER_CYCLE + READING_CYCLES) / (x->system->reference_ghz * 1e3);
    system_core_advance(x->system, sampled_core(x), INFINITY, t);
    read_counts(x, after);
}

static bool system_hold(void *with)
{
    struct system_sampling *x = with;
    unsigned sibling = system_sibling(x);
    if (sibling == PROFILE_NO_CPU)
        return true;
    pass(x, system_latency(x, ANSWER_US));
    system_core_mode(x->system, sibling, SYSTEM_HELD);
    return true;
}

static void system_release(void *with)
{
    struct system_sampling *x = with;
    unsigned sibling = system_sibling(x);
    if (sibling != PROFILE_NO_CPU)
        system_core_mode(x->system, sibling, SYSTEM_RUNS);
}

/* Two entries: the code, then the task: the source names them. */
static void system_walk(void *with, struct profile_record *r)
{
    struct system_sampling *x = with;
    int number = system_thread_of(x->system, x->sampled)->task;
    if (number == SYSTEM_NOBODY)
        return;
    r->n_stack = 2;
    r->n_kernel = 0;
    r->stack[0] = (__u64)(number + 1) << 12 | x->system->task[number].phase;
    r->stack[1] = (__u64)(number + 1) << 12;
}

static void system_store(void *with, const struct profile_record *r)
{
    struct system_sampling *x = with;
    x->record = *r;
    x->pause_us_max = fmax(x->pause_us_max, r->pause_ns / 1e3);
}

void system_sampling_begin(struct system_sampling *x, struct system *s, const struct profile_setup *setup)
{
    memset(x, 0, sizeof *x);
    x->system = s;
    x->setup = *setup;
    x->executor = (struct profile_executor){.with = x,
                                            .now_ns = system_now_ns,
                                            .look = system_look,
                                            .count = take_counts,
                                            .hold = system_hold,
                                            .release = system_release,
                                            .walk = system_walk,
                                            .store = system_store};
    model_random_init(&x->random, setup->seed, 0, 3);
    for (unsigned i = 0; i < s->n_cpus; i++) {
        profile_first_turn(&x->cpu[i], setup, i, s->n_cpus);
        x->cpu[i].record.cpu = i;
    }
}

/* The steps of the sampled CPU, which is in the kernel in between. */
static void take_turn(struct system_sampling *x)
{
    for (;;) {
        system_core_mode(x->system, x->sampled, SYSTEM_KERNEL);
        struct profile_action a = profile_step(&x->cpu[x->sampled], &x->setup, &x->executor);
        for (; a.deed == PROFILE_SPIN; a = profile_step(&x->cpu[x->sampled], &x->setup, &x->executor))
            pass(x, a.us);
        system_core_mode(x->system, x->sampled, SYSTEM_RUNS);
        if (a.deed == PROFILE_DONE)
            return;
        pass(x, a.us + system_latency(x, TIMER_US));
    }
}

bool system_sampling_turn(struct system_sampling *x, double until)
{
    struct system *s = x->system;
    x->sampled = 0;
    for (unsigned i = 1; i < s->n_cpus; i++)
        if (x->cpu[i].turn_ns < x->cpu[x->sampled].turn_ns)
            x->sampled = i;
    struct profile_cpu *c = &x->cpu[x->sampled];
    double begin = (double)c->turn_ns / 1e3 + system_latency(x, TIMER_US);
    if (begin >= until) {
        x->now_us = until;
        return false;
    }
    system_advance(s, begin, x->sampled);
    take_turn(x);
    if (system_stopped(s)) /* perhaps in its midst */
        return false;
    x->now_us = sampled_core(x)->now;
    x->turns++;
    profile_next_turn(c, &x->setup, s->n_cpus, (__u64)(sampled_core(x)->now * 1e3));
    return true;
}

/* ---- the source ---- */

struct system_source {
    char name[MODEL_TEXT_MAX], cpu[MODEL_TEXT_MAX + 64];
    double seconds;
    struct system *system;
    struct system_sampling sampling;
};

static void source_info(const struct profile_source *p, struct profile_source_info *out)
{
    const struct system_source *x = p->state;
    *out = (struct profile_source_info){.name = x->name,
                                        .cpu = x->cpu,
                                        .modelled = true,
                                        .cpus = x->system->n_cpus,
                                        .cores = x->system->n_cores,
                                        .ref_khz = x->system->model.tsc_hz / 1e3,
                                        .notes = ""};
}

static int source_start(struct profile_source *p, const struct profile_setup *setup, struct machine_error *err)
{
    struct system_source *x = p->state;
    if (!profile_setup_valid(setup, x->system->n_cores))
        return machine_fail(err, MACHINE_BAD_INPUT, "sample at a lower rate",
                            "the profile's settings are not permitted");
    x->system->stopped = p->stopped;
    system_sampling_begin(&x->sampling, x->system, setup);
    return MACHINE_OK;
}

static int source_read(struct profile_source *p, struct profile_record *out, size_t max, int timeout_ms, size_t *n,
                       struct machine_error *err)
{
    struct system_source *x = p->state;
    (void)timeout_ms;
    (void)err;
    for (*n = 0; *n < max && system_sampling_turn(&x->sampling, x->seconds * 1e6); (*n)++)
        out[*n] = x->sampling.record;
    return MACHINE_OK;
}

static void source_totals(const struct profile_source *p, struct profile_source_totals *out)
{
    const struct system_source *x = p->state;
    const struct system_sampling *a = &x->sampling;
    *out = (struct profile_source_totals){
        .turns = a->turns, .pause_us_max = a->pause_us_max, .seconds = a->now_us / 1e6};
}

static void source_stop(struct profile_source *p)
{
    (void)p;
}

static void source_close(struct profile_source *p)
{
    struct system_source *x = p->state;
    system_free(x->system);
    free(x);
    p->state = NULL;
}

static char *source_container(const struct profile_source *p, uint64_t cgroup)
{
    char *text = NULL;
    (void)p;
    return cgroup > 0 && asprintf(&text, "/modelled/pod-%c", (char)('a' + (cgroup - 1) % 26)) > 0 ? text : NULL;
}

static char *source_place(const struct profile_source *p, const struct profile_record *r, unsigned entry)
{
    const struct system_source *x = p->state;
    uint64_t number = entry < r->n_stack ? r->stack[entry] >> 12 : 0,
             phase = entry < r->n_stack ? r->stack[entry] & 0xfff : 0;
    char *text = NULL;
    if (number == 0 || number > x->system->n_tasks)
        return NULL;
    const struct system_task *t = &x->system->task[number - 1];
    if (entry > 0)
        return asprintf(&text, "main (%s)", system_kind_names[t->kind]) > 0 ? text : NULL;
    return phase < t->n_codes && asprintf(&text, "%s", t->code[phase].payload.name) > 0 ? text : NULL;
}

static const struct profile_source_ops system_source_ops = {
    .info = source_info,
    .start = source_start,
    .read = source_read,
    .totals = source_totals,
    .stop = source_stop,
    .close = source_close,
    .container = source_container,
    .place = source_place,
};

static int source_new(struct system_source *x, const char *name_or_file, const char *data_dir, uint64_t seed,
                      struct machine_error *err)
{
    struct model *m = malloc(sizeof *m);
    if (!m)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory for the model %.60s", name_or_file);
    int status = model_load(name_or_file, data_dir, m, err);
    if (status == MACHINE_OK) {
        snprintf(x->name, sizeof x->name, "model:%.80s", name_or_file);
        snprintf(x->cpu, sizeof x->cpu, "%s (%02X_%02XH, stepping %u)", m->cpu_name, m->family, m->model, m->stepping);
        status = system_new(m, seed, 0, &x->system, err);
    }
    free(m);
    return status;
}

int profile_open_model(const char *name_or_file, const char *data_dir, uint64_t seed, double seconds,
                       struct profile_source *out, struct machine_error *err)
{
    struct system_source *x = calloc(1, sizeof *x);
    if (!x)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory for the model %.60s", name_or_file);
    x->seconds = seconds;
    int status = source_new(x, name_or_file, data_dir, seed, err);
    if (status != MACHINE_OK) {
        system_free(x->system);
        free(x);
        return status;
    }
    *out = (struct profile_source){.ops = &system_source_ops, .state = x};
    return MACHINE_OK;
}
