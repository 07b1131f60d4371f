/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The perf machine: real hardware by performance counters, opened with perf_event_open(2) for this thread, user space
 * only, and read by RDPMC in the sampling loop. It needs no root where perf_event_paranoid is 2 or less.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/events/part_events.h"
#include "drivers/perf/perf.h"
#include "drivers/native/trials.h"

struct perf {
    struct native common;
    struct perf_system system;
    struct lack lack[COUNTER_IDS]; /* except for the license events */
    struct part_events events;

    struct perf_pmu pmu;
    struct perf_counter counters[PERF_COUNTERS_MAX];
    struct perf_reader reader;
    int slot_of[MACHINE_COUNTERS_MAX]; /* of each counter of the setup; -1 = not counted */
    uint64_t *raw, *words;             /* in the locked memory */
    size_t notes_length;               /* of what notes says without the remark on missing readings */
    uint64_t readings, missing;        /* since prepare: counts wanted, and those of them that are missing */
};

static void perf_info(const struct machine *m, struct machine_info *out)
{
    const struct perf *t = m->state;

    native_info(&t->common, out);
    out->source = "measured by performance counters: RDPMC in user space, user mode only (perf_event_open)";
}

static const char *perf_lacks(const struct machine *m, enum counter_id id, const char **remedy)
{
    const struct perf *t = m->state;
    const struct lack *l = part_events_is_license(id) ? &t->events.license[id - COUNTER_LVL0]
                                                      : &t->lack[id < COUNTER_IDS ? id : COUNTER_CHAIN_TICKS];

    if (remedy != NULL)
        *remedy = l->why[0] != '\0' ? l->remedy : NULL;
    return l->why[0] != '\0' ? l->why : NULL;
}

/* ---- prepare and finish ---- */

static void perf_finish(struct machine *m)
{
    struct perf *t = m->state;

    for (size_t i = 0; i < PERF_COUNTERS_MAX; i++)
        perf_counter_close(&t->system, &t->counters[i]);
    t->reader.n = 0;
    native_finish(&t->common);
}

/* Counter i of the setup gets the next slot. */
static int add_counter(struct perf *t, size_t i, struct machine_error *err)
{
    const struct counter_spec *c = &t->common.counters[i];
    unsigned slot = t->reader.n, wanted = (unsigned)t->common.setup.n_counters;
    uint64_t code = part_events_code(&t->events, c);

    if (slot == PERF_COUNTERS_MAX)
        return machine_fail(err, MACHINE_CANNOT, "request fewer events", "more than %d counters", PERF_COUNTERS_MAX);
    int status = perf_counter_open(&t->system, &t->pmu, t->common.cpu, c->id, code, &t->counters[slot], err);
    if (status == MACHINE_OK) {
        status = perf_counter_check(&t->system, &t->counters[slot], c->id, code, wanted, err);
        if (status != MACHINE_OK)
            perf_counter_close(&t->system, &t->counters[slot]);
    }
    if (status == MACHINE_OK) {
        t->reader.slot[slot] = (struct perf_slot){.page = t->counters[slot].page};
        t->slot_of[i] = (int)slot;
        t->reader.n++;
    }
    return status;
}

/* In turns; the license events may stay without a counter. */
static int open_counters(const struct machine *m, struct machine_error *err)
{
    struct perf *t = m->state;
    char name[60], text[200] = "";

    for (size_t i = 0; i < MACHINE_COUNTERS_MAX; i++)
        t->slot_of[i] = -1;
    for (int turn = 0; turn < PART_EVENTS_TURNS; turn++) {
        for (size_t i = 0; i < t->common.setup.n_counters; i++) {
            enum counter_id id = t->common.counters[i].id;
            if (part_events_turn(id) != turn || perf_lacks(m, id, NULL) != NULL)
                continue;
            int status = add_counter(t, i, err);
            if (status != MACHINE_OK && turn < 2)
                return status;
            if (status != MACHINE_OK) {
                perf_counter_name(id, 0, name, sizeof name);
                text_list_add(text, sizeof text, ", ", text[0] ? "%.30s" : "not counted: %.30s", name);
            }
        }
    }
    native_note(&t->common, "%s", text);
    if (text[0] != '\0')
        native_note(&t->common, "%s; %s", err->text, err->remedy);
    return MACHINE_OK;
}

static int perf_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    struct perf *t = m->state;
    size_t room = native_room(s), stride = 2 + s->n_counters;
    size_t bytes = (2 * room + 1) * stride * sizeof *t->words;

    perf_finish(m);
    int status = native_prepare(&t->common, s, bytes, err);
    if (status != MACHINE_OK)
        return status;
    status = part_events_check(&t->events, &t->common, &t->pmu, err);
    if (status == MACHINE_OK)
        status = open_counters(m, err);
    if (status != MACHINE_OK) {
        perf_finish(m);
        return status;
    }
    t->raw = t->common.pinning.locked;
    t->words = t->raw + (room + 1) * stride;
    t->notes_length = strlen(t->common.notes);
    t->readings = t->missing = 0;
    return MACHINE_OK;
}

/* ---- one repetition ---- */

/* Converts readings of the loop to the words of the recording. */
static void convert(struct perf *t, const struct run_request *r, const struct sampling_log *log)
{
    size_t from = 2 + t->reader.n, to = 2 + t->common.setup.n_counters, done = 0;
    uint64_t instructions = 0;

    for (size_t i = 0; i < r->n_segments; i++) {
        unsigned per_block = r->segments[i].payload.instructions;
        for (; done < log->last[i]; done++) {
            const uint64_t *raw = t->raw + done * from;
            uint64_t *words = t->words + done * to;
            words[0] = raw[0];
            words[1] = instructions + raw[1] * per_block;
            for (size_t c = 0; c < t->common.setup.n_counters; c++) {
                int slot = t->slot_of[c];
                words[2 + c] = slot < 0 ? COUNTER_MISSING : raw[2 + slot];
                t->readings += slot >= 0;
                t->missing += slot >= 0 && words[2 + c] == COUNTER_MISSING;
            }
        }
        instructions += log->blocks[i] * per_block;
    }
}

static void remark_missing(struct perf *t)
{
    t->common.notes[t->notes_length] = '\0';
    if (t->missing > 0) {
        native_note(&t->common,
                    "%.3g %% of the counts are missing: something else used the counters (perf, a watchdog), or the "
                    "thread was descheduled",
                    100 * (double)t->missing / (double)t->readings);
    }
}

static void sample_counters(struct native *s, const struct sampling *plan, struct sampling_log *log)
{
    struct perf *t = (struct perf *)s;
    uint64_t now[2 + PERF_COUNTERS_MAX];

    /* for how long the counters were off until now does not matter */
    t->system.samplers->read(&t->reader, now);
    t->reader.out = t->raw;
    t->system.samplers->sample[t->reader.n](plan, log, &t->reader);
}

static int perf_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    struct perf *t = m->state;
    struct sampling_log log;

    int status = native_run(&t->common, r, sample_counters, &log, t->words, out, err);
    if (status != MACHINE_OK)
        return status;
    convert(t, r, &log);
    remark_missing(t);
    return MACHINE_OK;
}

/* ---- trials ---- */

/*
 * Trials in cycles (machine_ops.trials). The counter is the CPU's, not the thread's, and counts in the kernel: what
 * comes between is what the trials are to show, and a counter of the thread stands still meanwhile. Where the kernel
 * does not permit it (perf_event_paranoid above 0, without CAP_PERFMON), it is time stamps.
 */
struct perf_trials_clock {
    const struct perf_samplers *samplers;
    struct perf_reader reader, branches;
};

static uint64_t cpu_cycles(void *context)
{
    struct perf_trials_clock *c = context;
    uint64_t words[3];

    c->samplers->read(&c->reader, words);
    return words[2];
}

/* Opens it and sees whether it counts: a chain of adds takes about a cycle each. */
static bool open_clock(const struct perf_system *system, const struct perf_pmu *pmu, int cpu, struct perf_counter *out,
                       struct perf_trials_clock *clock)
{
    struct perf_event_attr attr;
    struct machine_error ignored;
    uint64_t begin;

    if (system->open_cpu == NULL)
        return false;
    perf_fill_attr(pmu, COUNTER_CYCLES, 0, &attr);
    attr.exclude_kernel = 0;
    *out = (struct perf_counter){.fd = system->open_cpu(&attr, cpu)};
    if (out->fd < 0)
        return false;
    out->page = system->map(out->fd);
    if (out->page == NULL) {
        system->close(out->fd);
        return false;
    }
    clock->reader = (struct perf_reader){.n = 1};
    clock->reader.slot[0].page = out->page;
    for (int attempt = 0; attempt < 3; attempt++) { /* the first reading only finds out how long it was off until now */
        uint64_t before = cpu_cycles(clock);
        kernel_chain_long(&begin);
        uint64_t cycles = cpu_cycles(clock) - before;
        if (before != COUNTER_MISSING && cycles >= CHAIN_LONG_ADDS / 2 && cycles < 100 * CHAIN_LONG_ADDS &&
            perf_counter_check(system, out, COUNTER_CYCLES, 0, 1, &ignored) == MACHINE_OK)
            return true;
    }
    perf_counter_close(system, out);
    return false;
}

/* ... and the branches that its own code retires, and of these the mispredicted ones: of the thread, in user mode,
 * which needs no permission beyond that for all else. */
static bool thread_branches(void *context, struct trial_branches *out)
{
    struct perf_trials_clock *c = context;
    uint64_t words[4];

    c->samplers->read(&c->branches, words);
    *out = (struct trial_branches){words[2], words[3]};
    return words[2] != COUNTER_MISSING && words[3] != COUNTER_MISSING;
}

/* Two counters, or *err says why not. Intel: the architectural events Branch Instruction Retired and Branch Misses
 * Retired (SDM volume 3B, "Pre-defined Architectural Performance Events"); AMD: PMCx0C2 and PMCx0C3 (PPRs of families
 * 17H and 19H: Retired Branch Instructions, Retired Branch Instructions Mispredicted). */
static bool open_branches(const struct perf_system *system, const struct perf_pmu *pmu, const struct native *common,
                          struct perf_counter out[2], struct perf_trials_clock *clock, struct machine_error *err)
{
    const unsigned first = common->id.intel ? 0xc4 : 0xc2;
    uint64_t ignored[4];

    clock->branches = (struct perf_reader){.n = 2};
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t code = event_code_make(first + i, 0);
        if (perf_counter_open(system, pmu, common->cpu, COUNTER_EVENT, code, &out[i], err) != MACHINE_OK ||
            perf_counter_check(system, &out[i], COUNTER_EVENT, code, 2, err) != MACHINE_OK)
            return false;
        clock->branches.slot[i].page = out[i].page;
    }
    system->samplers->read(&clock->branches, ignored); /* for how long they were off until now does not matter */
    return true;
}

int perf_trials(const struct perf_system *system, const struct perf_pmu *pmu, struct native *common,
                const struct trials_request *r, double *duration, struct trials_seen *seen, struct machine_error *err)
{
    struct perf_counter counter = {.page = NULL}, branches[2] = {{.page = NULL}, {.page = NULL}};
    struct perf_trials_clock clock = {.samplers = system->samplers};
    struct trials_clock reader = {.context = &clock};
    char why[300];

    if (common->prepared && open_clock(system, pmu, common->cpu, &counter, &clock))
        reader.cycles = cpu_cycles;
    if (common->prepared && r->branches != NULL) {
        reader.uncounted = why;
        if (open_branches(system, pmu, common, branches, &clock, err))
            reader.branches = thread_branches;
        else
            snprintf(why, sizeof why, "%.190s; %.100s", err->text, err->remedy);
    }
    int status = trials_run(common, r, &reader, duration, seen, err);
    perf_counter_close(system, &counter);
    for (unsigned i = 0; i < 2; i++)
        perf_counter_close(system, &branches[i]);
    return status;
}

static int perf_machine_trials(struct machine *m, const struct trials_request *r, double *duration,
                               struct trials_seen *seen, struct machine_error *err)
{
    struct perf *t = m->state;

    return perf_trials(&t->system, &t->pmu, &t->common, r, duration, seen, err);
}

/* ---- open and close ---- */

static const struct machine_ops perf_ops = {
    .info = perf_info,
    .lacks = perf_lacks,
    .prepare = perf_prepare,
    .run = perf_run,
    .finish = perf_finish,
    .close = native_close,
    .find_event = part_events_by_name,
    .find_cores = native_find_cores,
    .core_kinds = native_core_kinds,
    .uncore = native_uncore,
    .speed_select = native_speed_select,
    .named_events = part_events_named,
    .read_energy = native_read_energy,
    .trials = perf_machine_trials,
    .first_use = native_first_use,
    .bursts = native_bursts,
    .switching = native_switching,
};

static void find_events(struct perf *t, int cpu)
{
    struct perf_license_counts counts;
    struct machine_error err;

    if (part_events_find(&t->events, &t->common, &t->pmu, t->system.data_dir)) {
        int status = perf_license_measure(&t->system, &t->pmu, &t->events.table, cpu, t->common.tsc.hz, &counts, &err);
        part_events_tested(&t->events, status, &err, &counts);
    }
}

/* The counters that any PMU may have. */
static int try_fixed(struct perf *t, int cpu, struct machine_error *err)
{
    static const enum counter_id fixed[] = {COUNTER_CYCLES, COUNTER_REF_CYCLES, COUNTER_INSTRUCTIONS};

    for (size_t i = 0; i < 3; i++) {
        struct perf_counter c;
        int status = perf_counter_open(&t->system, &t->pmu, cpu, fixed[i], 0, &c, err);
        if (status == MACHINE_OK) {
            perf_counter_close(&t->system, &c);
        } else if (fixed[i] == COUNTER_CYCLES) {
            return status;
        } else {
            struct lack *l = &t->lack[fixed[i]];
            /* APERF and MPERF by perf's PMU "msr" are no substitute: they are read by a system call, not by RDPMC */
            snprintf(l->why, sizeof l->why, "%.250s%s", err->text,
                     fixed[i] == COUNTER_REF_CYCLES ? "; MPERF cannot be read by RDPMC" : "");
            l->remedy = "do without it";
        }
    }
    return MACHINE_OK;
}

static int perf_machine_start(struct perf *t, struct machine_error *err)
{
    struct cpu_view view;
    int cpu;

    int status = native_open(&t->common, "perf", t->system.sys, t->system.leaves, err);
    if (status != MACHINE_OK)
        return status;
    t->common.events = &t->events;
    for (enum counter_id id = COUNTER_CHAIN_TICKS; id <= COUNTER_READ_TICKS; id++) {
        snprintf(t->lack[id].why, sizeof t->lack[id].why,
                 "this machine counts cycles; the dependent chain is for machines that cannot");
        t->lack[id].remedy = "read cycles";
    }
    cpu_view_read(t->system.sys, &view);
    status = cpu_choose(&view, -1, &cpu, err);
    if (status != MACHINE_OK)
        return status;
    t->system.general_counters = t->common.id.general_counters;
    perf_find_pmu(t->system.sys, cpu, &t->pmu);
    status = try_fixed(t, cpu, err);
    if (status == MACHINE_OK)
        find_events(t, cpu);
    return status;
}

int perf_open_at(const struct perf_system *system, struct machine *out, struct machine_error *err)
{
    struct perf *t = calloc(1, sizeof *t);

    if (t == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    t->system = *system;
    int status = perf_machine_start(t, err);
    if (status != MACHINE_OK) {
        free(t);
        return status;
    }
    t->system.leaves = NULL; /* the caller's */
    *out = (struct machine){.ops = &perf_ops, .state = t};
    return MACHINE_OK;
}

int machine_open_perf(struct machine *out, struct machine_error *err)
{
    struct perf_system system;

    perf_real_system(&system);
    return perf_open_at(&system, out, err);
}
