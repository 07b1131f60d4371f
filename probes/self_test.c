/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings by which a machine is tested against itself: clocks, counters, registers, energy. */
#include "probes/self_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "computer/msr/msr_decode.h"
#include "util/list.h"

/* Recordings per one that is wanted, as some are disturbed; rounds of the chains. */
enum { ATTEMPTS = 4, ROUNDS = 5 };

/* The plan of one stretch. */
struct plan {
    enum self_test_kind kind;
    const char *from, *kernel; /* `from` may be NULL */
    double before_us, from_us, observe_us, period_us;
    unsigned runs;
    uint64_t event; /* beside, or 0 */
};

/*
 * Samples are a quarter of a period. The chain is recorded in rounds, so that a frequency that drifts is in short and
 * long samples alike. Wide kernels run for 4 ms before they are recorded: a level is granted within half a millisecond
 * (Intel optimization manual). All are shorter than the 10 ms for which the kernel helper masks interrupts.
 */
static const struct plan chain_plans[] = {
    {SELF_TEST_SHORT, NULL, "chain", 1000, 0, 1000, 1, 3, 0},
    {SELF_TEST_LONG, NULL, "chain", 1000, 0, 2000, 12, 3, 0},
};
static const struct plan steady_plan = {SELF_TEST_STEADY, NULL, NULL, 4000, 0, 1000, 50, 5, 0};
static const struct plan switch_plan = {SELF_TEST_SWITCH, "64add", NULL, 4000, 50, 300, 1, 6, 0};
/* Level 0 is counted again some milliseconds after the wide kernels. */
static const struct plan event_plan = {SELF_TEST_EVENT, NULL, "chain", 4500, 0, 2000, 12, 4, 0};

/* One of each width; which of them can run, the machine says. */
static const char *const steady_kernels[] = {"64add", "128fma", "256or", "256fma", "512or", "512fma"};
static const char *const widest_kernels[] = {"512fma", "256fma"};

struct self_test_recording *self_test_append(struct self_test_stretch *s, size_t n, size_t stride)
{
    if (!list_room(&s->recordings, s->n, sizeof *s->recordings))
        return NULL;
    struct self_test_recording *r = &s->recordings[s->n];
    *r = (struct self_test_recording){.n = n, .words = calloc(n > 0 ? n : 1, stride * sizeof *r->words)};
    s->n += r->words != NULL;
    return r->words != NULL ? r : NULL;
}

static void forget_recordings(struct self_test_stretch *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->recordings[i].words);
    free(s->recordings);
    s->recordings = NULL;
    s->n = 0;
}

void self_test_free(struct self_test_readings *r)
{
    for (size_t i = 0; i < r->n_stretches; i++)
        forget_recordings(&r->stretch[i]);
    memset(r, 0, sizeof *r);
}

static void copy_info(const struct machine *m, struct self_test_readings *out)
{
    struct machine_info info;
    m->ops->info(m, &info);
    /* of a model's file the name alone: where it lies is nobody's business */
    const char *slash = strrchr(info.name, '/');
    snprintf(out->machine, sizeof out->machine, "%s%s", slash ? "model:" : "", slash ? slash + 1 : info.name);
    snprintf(out->source, sizeof out->source, "%s", info.source);
    snprintf(out->cpu, sizeof out->cpu, "%s", info.cpu);
    snprintf(out->tsc_origin, sizeof out->tsc_origin, "%s", info.tsc_origin);
    snprintf(out->notes, sizeof out->notes, "%s", info.notes ? info.notes : "");
    out->modelled = info.modelled;
    out->intel = info.intel;
    out->family = info.family;
    out->model = info.model;
    out->cores = info.cores;
    out->features = info.features;
    out->cpu_number = info.cpu_number;
    out->tsc_hz = info.tsc_hz;
    out->tsc_error = info.tsc_error;
}

static void copy_lacks(const struct machine *m, struct self_test_readings *out)
{
    for (int id = 0; id < COUNTER_IDS; id++) {
        const char *remedy = NULL, *why = m->ops->lacks(m, (enum counter_id)id, &remedy);
        snprintf(out->lacks[id], sizeof out->lacks[id], "%s", why ? why : "");
        snprintf(out->lacks_remedy[id], sizeof out->lacks_remedy[id], "%s", why && remedy ? remedy : "");
    }
}

/* All counters that are offered. With an event only those that it is compared with: real counters are few. */
static size_t choose_counters(const struct self_test_readings *r, uint64_t event, struct counter_spec *out)
{
    size_t n = 0;
    for (int id = 0; id < COUNTER_EVENT && n < MACHINE_COUNTERS_MAX - 1; id++)
        if (!r->lacks[id][0] && (!event || id <= COUNTER_INSTRUCTIONS))
            out[n++] = (struct counter_spec){.id = (enum counter_id)id};
    if (event)
        out[n++] = (struct counter_spec){.id = COUNTER_EVENT, .event = event};
    return n;
}

static int keep(struct self_test_stretch *s, const struct recording *rec, struct machine_error *err)
{
    struct self_test_recording *kept = self_test_append(s, rec->n, rec->stride);
    if (!kept)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    kept->zero = rec->zero_reading < rec->n ? rec->zero_reading : 0;
    for (size_t c = 0; c < rec->stride; c++) {
        const uint64_t *first = NULL; /* that was counted; of counters that may be a later one */
        for (size_t i = 0; i < rec->n; i++) {
            const uint64_t *word = &rec->words[i * rec->stride + c];
            bool missing = c >= 2 && *word == COUNTER_MISSING;
            first = first || missing ? first : word;
            kept->words[i * rec->stride + c] = missing ? COUNTER_MISSING : *word - *first;
        }
    }
    return MACHINE_OK;
}

static int stopped(const struct self_test_setup *s, struct machine_error *err)
{
    return s->stop && s->stop(s->data) ? machine_fail(err, MACHINE_FAILED, "", "interrupted") : MACHINE_OK;
}

/* The register and the energy belong to the CPU that is prepared, so they are read here. */
static void probe_volts(struct machine *m, struct self_test_readings *out)
{
    struct machine_error error;
    uint64_t value;
    if (out->n_volts == SELF_TEST_VALUES_MAX || out->volts_why[0])
        return;
    if (!m->ops->read_register) {
        snprintf(out->volts_why, sizeof out->volts_why, "this machine reads no registers");
        snprintf(out->volts_remedy, sizeof out->volts_remedy, "--machine msr or perf as root, with modprobe msr");
    } else if (m->ops->read_register(m, MSR_PERF_STATUS, &value, &error) != MACHINE_OK) {
        memcpy(out->volts_why, error.text, sizeof error.text);
        memcpy(out->volts_remedy, error.remedy, sizeof error.remedy);
    } else {
        out->volts[out->n_volts++] = value;
    }
}

static void probe_energy(struct machine *m, struct self_test_readings *out)
{
    struct machine_error error;
    const char *source = NULL;
    if (out->n_energy == SELF_TEST_VALUES_MAX || out->energy_why[0])
        return;
    if (!m->ops->read_energy) {
        snprintf(out->energy_why, sizeof out->energy_why, "this machine has no energy counter");
    } else if (m->ops->read_energy(m, &out->energy[out->n_energy], &source, &error) != MACHINE_OK) {
        memcpy(out->energy_why, error.text, sizeof error.text);
        memcpy(out->energy_remedy, error.remedy, sizeof error.remedy);
    } else {
        out->n_energy++;
        snprintf(out->energy_source, sizeof out->energy_source, "%s", source ? source : "");
    }
}

static int self_test_record(struct machine *m, const struct self_test_setup *setup, const struct plan *plan,
                            const struct segment *segments, size_t n, struct self_test_readings *out,
                            struct machine_error *err)
{
    struct self_test_stretch *s = &out->stretch[out->n_stretches];
    bool scalar = plan->kind == SELF_TEST_STEADY && strcmp(plan->kernel, "64add") == 0;
    for (unsigned run = 0; s->n < plan->runs && run < ATTEMPTS * plan->runs; run++) {
        struct run_request request = {
            .segments = segments, .n_segments = n, .zero_segment = n - 1, .repetition = 100 * out->n_stretches + run};
        struct recording rec;
        int status = stopped(setup, err);
        if (scalar)
            probe_energy(m, out);
        status = status ? status : m->ops->run(m, &request, &rec, err);
        if (status)
            return status;
        if (rec.migrated || rec.involuntary_switches > 0 || rec.n < 8) {
            s->disturbed++;
            continue;
        }
        status = keep(s, &rec, err);
        if (status)
            return status;
        if (scalar)
            probe_volts(m, out);
    }
    if (scalar)
        probe_energy(m, out);
    if (s->n == 0)
        snprintf(s->why, sizeof s->why, "something else ran on the CPU in all %u repetitions", s->disturbed);
    return MACHINE_OK;
}

/* Runs one stretch. Failures are noted in the stretch; only the user's request to stop ends the whole test. */
static int run_stretch(struct machine *m, const struct self_test_setup *setup, const struct plan *plan,
                       struct self_test_readings *out, struct machine_error *err)
{
    const struct payload kernel = kernel_named(plan->kernel),
                         from = kernel_named(plan->from ? plan->from : plan->kernel);
    if (out->n_stretches == SELF_TEST_STRETCHES_MAX)
        return machine_fail(err, MACHINE_FAILED, "", "no such stretch: %s", plan->kernel);
    struct self_test_stretch *s = &out->stretch[out->n_stretches];
    *s = (struct self_test_stretch){.kind = plan->kind, .block = kernel.instructions, .period_us = plan->period_us};
    memcpy(s->kernel, kernel.name, sizeof s->kernel);
    if (plan->from)
        memcpy(s->from, from.name, sizeof s->from);
    s->n_counters = choose_counters(out, plan->event, s->counters);
    const struct segment segments[] = {
        {from, plan->before_us, false}, {from, plan->from_us, true}, {kernel, plan->observe_us, true}};
    const struct segment plain[] = {segments[0], segments[2]};
    struct machine_setup machine = {
        .cpu = setup->cpu,
        .active_cores = 1,
        .period_us = plan->period_us,
        .counters = s->counters,
        .n_counters = s->n_counters,
        .seed = setup->seed,
        .max_samples = (size_t)((plan->from_us + plan->observe_us) / plan->period_us * 1.1) + 64};
    int status = m->ops->prepare(m, &machine, err);
    if (!status) {
        status = self_test_record(m, setup, plan, plan->from ? segments : plain, plan->from ? 3 : 2, out, err);
        copy_info(m, out); /* the CPU is known now, what is to be remarked, and which events have stood a test on it */
        copy_lacks(m, out);
        m->ops->finish(m);
    }
    if (status) {
        forget_recordings(s);
        memcpy(s->why, err->text, sizeof err->text);
        memcpy(s->remedy, err->remedy, sizeof err->remedy);
    }
    out->n_stretches++;
    return stopped(setup, err);
}

/* The kernel, or what stands for it where it cannot run; NULL: neither can. */
static const char *what_runs(const struct self_test_readings *r, const char *name)
{
    return kernel_named(name).kernel->features & ~r->features ? kernel_stand_in(name, r->features) : name;
}

static int run_chain(struct machine *m, const struct self_test_setup *s, struct self_test_readings *out,
                     struct machine_error *err)
{
    bool any = false;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < sizeof chain_plans / sizeof *chain_plans; i++) {
            int status = run_stretch(m, s, &chain_plans[i], out, err);
            if (status)
                return status;
            any = any || !out->stretch[out->n_stretches - 1].why[0];
        }
    if (any)
        return MACHINE_OK;
    const struct self_test_stretch *first = &out->stretch[0];
    return err->status && err->text[0]
               ? (int)err->status
               : machine_fail(err, MACHINE_CANNOT,
                              first->remedy[0] ? first->remedy : "free the CPU, or choose another with --cpu", "%s",
                              first->why);
}

static int run_kernels(struct machine *m, const struct self_test_setup *s, struct self_test_readings *out,
                       struct machine_error *err)
{
    int status = MACHINE_OK;
    for (size_t i = 0; i < sizeof steady_kernels / sizeof *steady_kernels && !status; i++) {
        struct plan plan = steady_plan;
        plan.kernel = what_runs(out, steady_kernels[i]);
        if (plan.kernel)
            status = run_stretch(m, s, &plan, out, err);
    }
    for (size_t i = 0; i < sizeof widest_kernels / sizeof *widest_kernels && !status; i++) {
        struct plan plan = switch_plan;
        plan.kernel = what_runs(out, widest_kernels[i]);
        if (plan.kernel)
            return run_stretch(m, s, &plan, out, err);
    }
    return status;
}

/* Retired instructions; where the machine counts no such event, as models do not, the cycles at level 0. */
static int run_event(struct machine *m, const struct self_test_setup *s, struct self_test_readings *out,
                     struct machine_error *err)
{
    static const uint64_t events[] = {SELF_TEST_EVENT_INSTRUCTIONS, SELF_TEST_EVENT_LEVEL_0};
    int status = MACHINE_OK;
    bool counted = out->lacks[COUNTER_EVENT][0] != '\0';
    for (size_t i = 0; i < 2 && !counted && !status; i++) {
        struct plan plan = event_plan;
        plan.event = events[i];
        out->n_stretches -= i; /* the one that was refused */
        status = run_stretch(m, s, &plan, out, err);
        counted = out->stretch[out->n_stretches - 1].n > 0;
    }
    return status;
}

int self_test_run(struct machine *m, const struct self_test_setup *s, struct self_test_readings *out,
                  struct machine_error *err)
{
    memset(out, 0, sizeof *out);
    memset(err, 0, sizeof *err);
    copy_lacks(m, out);
    copy_info(m, out);
    int status = run_chain(m, s, out, err);
    if (!status)
        status = run_kernels(m, s, out, err);
    if (!status)
        status = run_event(m, s, out, err);
    if (status)
        self_test_free(out);
    return status;
}
