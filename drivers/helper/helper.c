/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine `helper`. A repetition is one ioctl: the module runs it on the measured CPU in the kernel, with
 * interrupts masked. Cycles come from performance counters; where there are none, as in most virtual machines, from
 * APERF and MPERF; and where these are missing as well, from the dependent chain that the timing machine uses.
 */
#include "drivers/helper/helper.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/helper/helper_state.h"

/* MSR_PERF_STATUS (Intel SDM volume 4). */
enum { REGISTER_PERF_STATUS = 0x198 };
/* A repetition is tried so often where NMIs or a hypervisor disturb it: a few are still a repetition, so that three
 * suffice; one that was cut is none. Chosen. */
enum { ATTEMPTS = 3, CUT_ATTEMPTS = 20 };

/* ---- what it is, and what it can count ---- */

static void helper_info(const struct machine *m, struct machine_info *out)
{
    const struct helper *h = m->state;

    native_info(&h->native, out);
    out->source = h->source;
    out->longest_us = CHARACTERIZE_MASKED_US_MAX;
    if (h->clock == HELPER_CHAIN) {
        double cycles = chain_adds(helper_steady(h) ? CHAIN_STEADY_SHORT : CHAIN_SHORT) + h->cost.cycles;
        out->chain_cycles = (unsigned)cycles;
        out->chain_error = h->cost.error / cycles;
    }
}

/* The remedy where counters are missing. */
static const char *helper_no_counters_remedy(const struct helper *h)
{
    return h->native.id.hypervisor ? CPU_GUEST_COUNTERS : "boot a kernel that supports this CPU's counters";
}

static const char *helper_lacks(const struct machine *m, enum counter_id id, const char **remedy)
{
    const struct helper *h = m->state;
    const char *ignored, **to_do = remedy != NULL ? remedy : &ignored;

    *to_do = NULL;
    if (helper_counts(h, id))
        return NULL;
    if (counter_of_chain(id))
        return "not needed: this machine counts cycles";
    if (part_events_is_license(id)) {
        *to_do = h->events.license[id - COUNTER_LVL0].remedy;
        return h->events.license[id - COUNTER_LVL0].why;
    }
    *to_do = helper_no_counters_remedy(h);
    return h->why_no_counters;
}

/* ---- one repetition ---- */

static int make_request(const struct helper *h, const struct run_request *r, struct characterize_run *out,
                        struct machine_error *err)
{
    const double period = h->native.setup.period_us;
    double us = 0, periods = 0;
    bool sampled = false;

    *out = (struct characterize_run){
        .version = CHARACTERIZE_VERSION, .n_segments = (uint32_t)r->n_segments, .zero = (uint32_t)r->zero_segment};
    for (size_t i = 0; i < r->n_segments; i++) {
        const struct segment *s = &r->segments[i];
        int status = helper_check_kernel(&h->native, &s->payload, err);
        if (status != MACHINE_OK)
            return status;
        us += s->duration_us;
        sampled = sampled || s->sampled;
        periods += s->sampled ? s->duration_us / period : 0;
        out->segment[i] = (struct characterize_segment){.ticks = helper_ticks(h, s->duration_us),
                                                        .blocks = s->blocks,
                                                        .payload = helper_payload(&s->payload),
                                                        .sampled = s->sampled};
    }
    if (us > CHARACTERIZE_MASKED_US_MAX) {
        return machine_fail(err, MACHINE_BAD_INPUT, "shorten --warmup or --observe, or use --machine timing",
                            "a repetition of %.3g ms exceeds the 10 ms for which the kernel helper masks interrupts",
                            us / 1000);
    }
    if (periods > (double)h->native.setup.max_samples) {
        return machine_fail(err, MACHINE_BAD_INPUT, "use a longer --period or a shorter --observe",
                            "a repetition needs room for %.0f samples, but only %zu were prepared", ceil(periods),
                            h->native.setup.max_samples);
    }
    if (!sampled && h->volts) /* a repetition for the voltage at its end */
        out->last_register = REGISTER_PERF_STATUS;
    return MACHINE_OK;
}

/* Says what came although interrupts were masked. */
static void remark(struct helper *h)
{
    h->native.notes[h->notes_length] = '\0';
    if (h->nmis + h->smis > 0) {
        native_note(&h->native, "%u NMIs and %u SMIs hit %u repetitions, which were repeated", h->nmis, h->smis,
                    h->tried);
    }
    if (h->stolen > 0) {
        native_note(
            &h->native,
            "a hypervisor or firmware held the CPU in %u of %u repetitions, delaying interrupts by up to %.1f ms",
            h->stolen, h->tried, h->stolen_ms);
    }
}

/* True where interrupts were masked for longer than the module itself ever masks them, which may check the clock
 * late by a few microseconds. */
static bool held(struct helper *h, const struct characterize_run *run)
{
    double ms = (double)(run->end_tsc - run->begin_tsc) / h->native.tsc.hz * 1e3;

    if (ms <= CHARACTERIZE_MASKED_US_MAX / 1000 * 1.05)
        return false;
    h->stolen++;
    h->stolen_ms = fmax(h->stolen_ms, ms);
    return true;
}

/* Repeats a repetition, a few times, if something that cannot be masked came in, or if a hypervisor took the CPU away
 * until the 10 ms were over or the buffer was full, which leaves no complete repetition. */
static int run_undisturbed(struct helper *h, const struct characterize_run *request, struct characterize_run *run,
                           struct machine_error *err)
{
    for (int attempt = 1; attempt <= CUT_ATTEMPTS; attempt++) {
        *run = *request;
        if (h->io->ioctl(h->fd, CHARACTERIZE_IOC_RUN, run) != 0)
            return helper_refused(h, errno, run->reason, "running", err);
        h->tried++;
        h->nmis += run->nmis;
        h->smis += run->smis;
        bool disturbed = held(h, run) || run->nmis + run->smis > 0;
        if (!run->cut && (!disturbed || attempt >= ATTEMPTS))
            return MACHINE_OK;
    }
    return machine_fail(
        err, MACHINE_FAILED, "shorten --warmup or --observe, or measure on a quieter machine",
        run->cut & CHARACTERIZE_CUT_ROOM
            ? "%d attempts at a repetition filled the kernel helper's buffer too early"
            : "%d attempts at a repetition reached the 10 ms for which the kernel helper masks interrupts",
        CUT_ATTEMPTS);
}

/* Counts so far. */
struct tally {
    uint64_t before; /* COUNTER_MISSING: no reading yet */
    uint64_t total;
};

static uint64_t count_on(struct tally *t, uint64_t raw, unsigned bits)
{
    if (raw == COUNTER_MISSING)
        return COUNTER_MISSING;
    if (t->before != COUNTER_MISSING) {
        uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
        t->total += (raw - t->before) & mask;
    }
    t->before = raw;
    return t->total;
}

/* Counters grow from 0 at the first reading, whatever their width. */
static void words_from_counters(const struct helper *h, const uint64_t *raw, struct tally *tally, uint64_t instructions,
                                unsigned per_block, uint64_t *out)
{
    out[RECORDING_TSC] = raw[0];
    out[RECORDING_INSTRUCTIONS] = instructions + raw[1] * per_block;
    for (size_t c = 0; c < h->native.setup.n_counters; c++) {
        const struct helper_slot *slot = &h->slot[c];
        out[RECORDING_COUNTERS + c] = slot->word < 0 ? COUNTER_MISSING
                                                     : count_on(&tally[c], raw[slot->word], slot->bits);
    }
}

/* Converts readings of the module to those of a machine: blocks become instructions of the entire repetition. */
static void convert(struct helper *h, const struct run_request *r, const struct characterize_run *run)
{
    const size_t n = h->native.setup.n_counters;
    const uint64_t *raw = h->map;
    const struct chain_raw *chains = (const struct chain_raw *)h->map; /* of chains: as the timing machine's */
    struct tally tally[MACHINE_COUNTERS_MAX];
    struct timing_sums sums = {0};
    uint64_t instructions = 0;
    size_t i = 0;

    for (size_t c = 0; c < n; c++)
        tally[c] = (struct tally){.before = COUNTER_MISSING};
    if (h->clock == HELPER_CHAIN)
        (void)timing_follow(&h->lately, chains, run->n, helper_steady(h), h->native.tsc_step, &h->cost);
    for (unsigned s = 0; s < run->n_segments; s++) {
        const unsigned per_block = r->segments[s].payload.instructions;
        for (; i < run->last[s]; i++, raw += h->stride) {
            uint64_t *out = h->words + i * (RECORDING_COUNTERS + n);
            if (h->clock == HELPER_CHAIN)
                timing_words(&chains[i], h->cost.cycles, instructions, per_block, h->native.counters, n, &sums, out);
            else
                words_from_counters(h, raw, tally, instructions, per_block, out);
        }
        instructions += run->blocks[s] * per_block;
    }
}

static int helper_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    struct helper *h = m->state;
    struct characterize_run request, run;

    memset(out, 0, sizeof *out);
    int status = native_check_request(&h->native, r, err);
    if (status == MACHINE_OK)
        status = make_request(h, r, &request, err);
    if (status == MACHINE_OK)
        status = run_undisturbed(h, &request, &run, err);
    if (status != MACHINE_OK)
        return status;
    h->at_end_valid = run.register_valid && request.last_register != 0;
    h->at_end = run.register_value;
    remark(h);
    convert(h, r, &run);
    out->n = run.n;
    out->stride = 2 + h->native.setup.n_counters;
    out->capacity = native_room(&h->native.setup);
    out->words = h->words;
    out->zero_tsc = run.zero_tsc;
    out->zero_reading = run.zero_reading;
    return MACHINE_OK;
}

/* ---- registers ---- */

static int read_msr(const struct helper *h, uint32_t reg, int cpu, uint64_t *value, struct machine_error *err)
{
    struct characterize_msr r = {.version = CHARACTERIZE_VERSION, .cpu = (uint32_t)cpu, .number = reg};
    char what[60];

    if (h->io->ioctl(h->fd, CHARACTERIZE_IOC_MSR, &r) == 0) {
        *value = r.value;
        return MACHINE_OK;
    }
    int error = errno;
    snprintf(what, sizeof what, "register %XH of CPU %d", reg, cpu);
    helper_refused(h, error, r.reason, what, err);
    err->status = MACHINE_CANNOT;
    return MACHINE_CANNOT;
}

/* The register that was read at the end of the repetition is handed out once: it is closer than anything that could
 * be read now. */
static int helper_read_register(struct machine *m, uint32_t reg, uint64_t *value, struct machine_error *err)
{
    struct helper *h = m->state;

    if (reg == REGISTER_PERF_STATUS && h->at_end_valid) {
        h->at_end_valid = false;
        *value = h->at_end;
        return MACHINE_OK;
    }
    return read_msr(h, reg, h->native.cpu, value, err);
}

/* Registers for the energy counter, as computer/power/energy_source.h wants them. */
static int energy_register_read(void *context, int cpu, uint32_t reg, uint64_t *value)
{
    struct machine_error ignored;

    return read_msr(context, reg, cpu, value, &ignored) == MACHINE_OK ? 0 : EIO;
}

static int helper_read_energy(struct machine *m, struct energy_reading *out, const char **source,
                              struct machine_error *err)
{
    struct helper *h = m->state;

    h->native.energy.access.read_register = energy_register_read;
    h->native.energy.access.context = h;
    return native_read_energy(m, out, source, err);
}

/* ---- the events of the part: the test of the license events runs as measurements do, with raw events ---- */

/* The test's sample period: a tenth of its 5 ms or less; and room for twice the readings that it takes. */
enum { PERIOD_US = 500, COUNTED = 1 + EVENTS_LICENSES, READINGS = 64 };
static const enum counter_id counted[COUNTED] = {COUNTER_CYCLES, COUNTER_LVL0, COUNTER_LVL1, COUNTER_LVL2,
                                                 COUNTER_THROTTLE};

/* One kernel from its first instruction on, between silences. */
static int license_count_kernel(struct machine *m, const struct payload *p, int k, size_t n,
                                struct perf_license_counts *out, struct machine_error *err)
{
    const struct helper *h = m->state;
    /* the grid's points lie half a period after the start: the last one ends what is counted */
    const struct segment one = {*p, PERF_LICENSE_WARM_US + PERF_LICENSE_COUNT_US + PERIOD_US, true};
    const struct run_request r = {.segments = &one, .n_segments = 1, .repetition = (unsigned)k};
    struct recording rec;

    native_relax();
    int status = m->ops->run(m, &r, &rec, err);
    if (status != MACHINE_OK)
        return status;
    if (rec.n < 3)
        return machine_fail(err, MACHINE_CANNOT, "", "the license-event test failed: no readings");
    const uint64_t *start = rec.words, *end = rec.words + (rec.n - 1) * rec.stride, *warm = start;
    while (warm < end && warm[0] - start[0] < helper_ticks(h, PERF_LICENSE_WARM_US))
        warm += rec.stride;
    for (size_t c = 0; c < 4; c++) {
        uint64_t count = recording_grown(warm[RECORDING_COUNTERS + c], end[RECORDING_COUNTERS + c]);
        if (count == COUNTER_MISSING) {
            char name[60];
            perf_counter_name(counted[c], 0, name, sizeof name);
            return machine_fail(err, MACHINE_CANNOT, perf_room_remedy(perf_room_watchdog(h->proc)),
                                "no hardware counter is free for %s", name);
        }
        *(c == 0 ? &out->cycles[k] : &out->level[k][c - 1]) = count;
    }
    out->throttle[k] = n == COUNTED ? recording_grown(start[RECORDING_COUNTERS + 4], end[RECORDING_COUNTERS + 4])
                                    : COUNTER_MISSING;
    out->has_throttle = out->has_throttle && out->throttle[k] != COUNTER_MISSING;
    return MACHINE_OK;
}

static int license_count_all(struct machine *m, int cpu, size_t n, struct perf_license_counts *out,
                             struct machine_error *err)
{
    const struct helper *h = m->state;
    struct counter_spec specs[COUNTED] = {{COUNTER_CYCLES, 0}};
    const struct machine_setup setup = {.cpu = cpu,
                                        .active_cores = 1,
                                        .period_us = PERIOD_US,
                                        .counters = specs,
                                        .n_counters = n,
                                        .max_samples = READINGS};

    for (size_t c = 1; c < n; c++) {
        specs[c] = (struct counter_spec){COUNTER_EVENT,
                                         part_events_code(&h->events, &(struct counter_spec){counted[c], 0})};
    }
    *out = (struct perf_license_counts){.has_throttle = n == COUNTED};
    int status = m->ops->prepare(m, &setup, err);
    for (int k = 0; k < PERF_LICENSE_KERNELS && status == MACHINE_OK; k++) {
        const struct payload p = kernel_named(perf_license_names[k]);
        out->ran[k] = (p.kernel->features & ~h->native.features) == 0;
        if (out->ran[k])
            status = license_count_kernel(m, &p, k, n, out, err);
    }
    m->ops->finish(m);
    return status;
}

static void find_events(struct machine *m, int cpu, const char *data_dir)
{
    struct helper *h = m->state;
    struct perf_license_counts counts;
    struct machine_error err;
    struct perf_pmu pmu;
    const int before = h->native.cpu;

    perf_find_pmu(h->native.sys, cpu, &pmu);
    bool has = part_events_find(&h->events, &h->native, &pmu, data_dir);
    if (h->clock != HELPER_COUNTERS) {
        part_events_lack(&h->events, h->why_no_counters, helper_no_counters_remedy(h));
        return;
    }
    if (!has)
        return;
    const bool throttle = h->events.table.license[EVENTS_THROTTLE] >= 0;
    int status = license_count_all(m, cpu, throttle ? COUNTED : COUNTED - 1, &counts, &err);
    if (throttle && (status != MACHINE_OK || !counts.has_throttle)) { /* it may be the one that is too many */
        status = license_count_all(m, cpu, COUNTED - 1, &counts, &err);
        snprintf(counts.throttle_why, sizeof counts.throttle_why, "no hardware counter is free for throttled cycles");
        snprintf(counts.throttle_remedy, sizeof counts.throttle_remedy, "%s",
                 perf_room_remedy(perf_room_watchdog(h->proc)));
    }
    part_events_tested(&h->events, status, &err, &counts);
    /* as if nothing had been prepared */
    h->native.cpu = before;
    snprintf(h->native.notes, sizeof h->native.notes, "%s", h->native.machine_notes);
}

static int helper_find_event(const struct machine *m, const char *name, uint64_t *code, struct machine_error *err)
{
    const struct helper *h = m->state;

    if (h->clock != HELPER_COUNTERS) {
        return machine_fail(err, MACHINE_CANNOT, helper_no_counters_remedy(h), "no events can be counted: %s",
                            h->why_no_counters);
    }
    return part_events_by_name(m, name, code, err);
}

/* ---- open and close ---- */

static void helper_close(struct machine *m)
{
    struct helper *h = m->state;

    helper_finish(m);
    h->io->close(h->fd);
    free(h);
    m->state = NULL;
}

static const struct machine_ops helper_ops = {
    .info = helper_info,
    .lacks = helper_lacks,
    .prepare = helper_prepare,
    .run = helper_run,
    .finish = helper_finish,
    .close = helper_close,
    .read_register = helper_read_register,
    .find_event = helper_find_event,
    .core_kinds = native_core_kinds,
    .uncore = native_uncore,
    .speed_select = native_speed_select,
    .named_events = part_events_named,
    .read_energy = helper_read_energy,
    .trials = helper_trials,
    .bursts = native_bursts,
    .switching = native_switching,
};

/* MSR_PERF_STATUS bits 47:32 are the voltage on Intel's parts (Intel SDM vol. 4; likwid voltage.c); AMD's have no such
 * register, and hypervisors answer 0. */
static bool tells_volts(const struct helper *h, int cpu)
{
    struct machine_error ignored;
    uint64_t value;

    return read_msr(h, REGISTER_PERF_STATUS, cpu, &value, &ignored) == MACHINE_OK && (value >> 32 & 0xffff) != 0;
}

/* Cycles by counter where one can be had on that CPU, else by APERF, else by the chain. */
static void choose_clock(struct helper *h, int cpu)
{
    static const char *const sources[] = {
        [HELPER_COUNTERS] = "measured in the kernel, interrupts masked: performance counters by RDPMC",
        [HELPER_APERF] = "measured in the kernel, interrupts masked: APERF against the TSC",
        [HELPER_CHAIN] = "measured in the kernel, interrupts masked: a dependent chain of adds against the TSC",
    };
    struct characterize_try t = {
        .version = CHARACTERIZE_VERSION, .cpu = (uint32_t)cpu, .counter = {.source = CHARACTERIZE_CYCLES}};

    if (h->io->ioctl(h->fd, CHARACTERIZE_IOC_TRY, &t) == 0) {
        h->clock = HELPER_COUNTERS;
    } else {
        helper_reason(h->io, h->fd, t.reason, h->why_no_counters, sizeof h->why_no_counters);
        h->clock = h->hello.can & CHARACTERIZE_CAN_APERF_MPERF ? HELPER_APERF : HELPER_CHAIN;
    }
    h->source = sources[h->clock];
}

static int not_connected(const char *device, const struct helper_answer *a, struct machine_error *err)
{
    if (a->open_errno != 0) {
        return machine_fail(err, MACHINE_CANNOT, "--list machines shows what would help",
                            "the kernel helper cannot be used: %s: %s", device, strerror(a->open_errno));
    }
    return machine_fail(err, MACHINE_CANNOT,
                        a->other_version ? "rmmod characterize, then build and load this version's module" : "",
                        "the kernel helper cannot be used: %s",
                        a->other_version ? "the loaded module has another version" : a->refusal);
}

int helper_open_at(const struct helper_place *place, struct machine *out, struct machine_error *err)
{
    const struct helper_io *io = place->io;
    struct helper_answer answer;

    int fd = helper_connect(io, place->device, &answer);
    if (fd < 0)
        return not_connected(place->device, &answer, err);
    struct helper *h = calloc(1, sizeof *h);
    int status = h != NULL ? native_open(&h->native, "helper", place->sys, place->leaves, err)
                           : machine_fail(err, MACHINE_FAILED, "", "out of memory");
    if (h == NULL || status != MACHINE_OK) {
        io->close(fd);
        free(h);
        return status;
    }
    h->io = io;
    h->proc = place->proc;
    h->fd = fd;
    h->hello = answer.hello;
    h->native.events = &h->events;
    h->native.features = answer.hello.features;
    int cpu = cpu_default(place->sys);
    choose_clock(h, cpu);
    h->volts = tells_volts(h, cpu);
    h->tsc_step = place->tsc_step;
    h->choice = timing_choose_chains(1, h->native.tsc.hz, 1);
    h->ops = helper_ops;
    if (!h->volts) /* AMD, most virtual machines: no repetitions for the voltage */
        h->ops.read_register = NULL;
    *out = (struct machine){.ops = &h->ops, .state = h};
    find_events(out, cpu, place->data_dir);
    return MACHINE_OK;
}

int machine_open_helper(struct machine *out, struct machine_error *err)
{
    const struct helper_place place = {.device = "/dev/" CHARACTERIZE_DEVICE, .sys = "/sys", .io = &helper_system};

    return helper_open_at(&place, out, err);
}
