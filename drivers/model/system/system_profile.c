/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A modelled system as a source of the profiler's records. */
#include <stdio.h>
#include <stdlib.h>

#include "drivers/model/system/system.h"
#include "drivers/profile/profile_source.h"

struct system_source {
    char name[MODEL_TEXT_MAX], cpu[MODEL_TEXT_MAX + 64];
    double seconds;
    struct system *system;
    struct system_sampling sampling;
};

static void system_source_info(const struct profile_source *p, struct profile_source_info *out)
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

static int system_source_start(struct profile_source *p, const struct profile_setup *setup, struct machine_error *err)
{
    struct system_source *x = p->state;
    if (!profile_setup_valid(setup, x->system->n_cores))
        return machine_fail(err, MACHINE_BAD_INPUT, "sample at a lower rate",
                            "the profile's settings are not permitted");
    x->system->stopped = p->stopped;
    system_sampling_begin(&x->sampling, x->system, setup);
    return MACHINE_OK;
}

static int system_source_read(struct profile_source *p, struct profile_record *out, size_t max, int timeout_ms,
                              size_t *n, struct machine_error *err)
{
    struct system_source *x = p->state;
    (void)timeout_ms;
    (void)err;
    for (*n = 0; *n < max && system_sampling_turn(&x->sampling, x->seconds * 1e6); (*n)++)
        out[*n] = x->sampling.record;
    return MACHINE_OK;
}

static void system_source_totals(const struct profile_source *p, struct profile_source_totals *out)
{
    const struct system_source *x = p->state;
    const struct system_sampling *a = &x->sampling;
    *out = (struct profile_source_totals){
        .turns = a->turns, .pause_us_max = a->pause_us_max, .seconds = a->now_us / 1e6};
}

static void system_source_stop(struct profile_source *p)
{
    (void)p;
}

static void system_source_close(struct profile_source *p)
{
    struct system_source *x = p->state;
    system_free(x->system);
    free(x);
    p->state = NULL;
}

static char *system_source_container(const struct profile_source *p, uint64_t cgroup)
{
    char *text = NULL;
    (void)p;
    return cgroup > 0 && asprintf(&text, "/modelled/pod-%c", (char)('a' + (cgroup - 1) % 26)) > 0 ? text : NULL;
}

static char *system_source_place(const struct profile_source *p, const struct profile_record *r, unsigned entry)
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
    .info = system_source_info,
    .start = system_source_start,
    .read = system_source_read,
    .totals = system_source_totals,
    .stop = system_source_stop,
    .close = system_source_close,
    .container = system_source_container,
    .place = system_source_place,
};

static int system_source_new(struct system_source *x, const char *name_or_file, const char *data_dir, uint64_t seed,
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
    int status = system_source_new(x, name_or_file, data_dir, seed, err);
    if (status != MACHINE_OK) {
        system_free(x->system);
        free(x);
        return status;
    }
    *out = (struct profile_source){.ops = &system_source_ops, .state = x};
    return MACHINE_OK;
}
