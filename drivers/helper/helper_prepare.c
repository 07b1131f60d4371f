/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Setting up a series of repetitions of the machine `helper`: what the module must count, on which CPU, with which
 * co-runners.
 */

#include "drivers/active_cores.h"
#include "drivers/helper/helper_state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APERF_BITS = 64 }; /* APERF and MPERF have 64 bits (Intel SDM volume 3, IA32_APERF) */

void helper_finish(struct machine *m)
{
    struct helper *h = m->state;

    h->io->ioctl(h->fd, CHARACTERIZE_IOC_FINISH, NULL);
    if (h->map != NULL) {
        h->io->unmap(h->map, h->mapped);
        h->map = NULL;
    }
    free(h->words);
    h->words = NULL;
    h->native.prepared = false;
    h->native.active_cores = 0;
}

/* Assigns each counter its place in a reading and the module's event: in turns, because perf gives out the hardware's
 * counters in this order. */
static void place_counters(struct helper *h, const struct machine_setup *s, struct characterize_setup *p)
{
    static const uint32_t sources[COUNTER_IDS] = {[COUNTER_CYCLES] = CHARACTERIZE_CYCLES,
                                                  [COUNTER_REF_CYCLES] = CHARACTERIZE_REF_CYCLES,
                                                  [COUNTER_INSTRUCTIONS] = CHARACTERIZE_INSTRUCTIONS,
                                                  [COUNTER_EVENT] = CHARACTERIZE_RAW,
                                                  [COUNTER_LVL0] = CHARACTERIZE_RAW,
                                                  [COUNTER_LVL1] = CHARACTERIZE_RAW,
                                                  [COUNTER_LVL2] = CHARACTERIZE_RAW,
                                                  [COUNTER_THROTTLE] = CHARACTERIZE_RAW};
    for (size_t i = 0; i < s->n_counters; i++)
        h->slot[i] = (struct helper_slot){.word = -1};
    for (size_t n = 0; n < PART_EVENTS_TURNS * s->n_counters; n++) {
        size_t i = n % s->n_counters;
        const struct counter_spec *c = &s->counters[i];
        if (part_events_turn(c->id) != (int)(n / s->n_counters) || !helper_counts(h, c->id))
            continue;
        if (h->clock == HELPER_COUNTERS) {
            h->slot[i] = (struct helper_slot){2 + (int)p->n_counters, h->hello.counter_bits};
            p->counter[p->n_counters++] = (struct characterize_counter){.source = sources[c->id],
                                                                        .config = part_events_code(&h->events, c)};
        } else if (h->clock == HELPER_APERF) {
            h->slot[i] = (struct helper_slot){c->id == COUNTER_CYCLES ? 2 : 3, APERF_BITS};
            p->flags |= CHARACTERIZE_APERF_MPERF;
        }
    }
}

/* The chains that the clock of this CPU needs, where cycles are measured by chains; nothing elsewhere. */
static void place_chains(const struct helper *h, struct characterize_setup *p)
{
    if (h->clock != HELPER_CHAIN)
        return;
    p->flags |= CHARACTERIZE_CHAIN | (helper_steady(h) ? CHARACTERIZE_STEADY : 0u);
    p->dither = h->choice.dither < CHARACTERIZE_DITHER_MAX ? h->choice.dither : CHARACTERIZE_DITHER_MAX;
}

/* One logical CPU of each other physical core that is to be busy. */
static int place_corunners(struct helper *h, const struct cpu_view *view, struct characterize_setup *p,
                           struct machine_error *err)
{
    struct payload corunner;
    struct cpu_corunners chosen;

    int status = native_pick_corunners(&h->native, view, helper_check_kernel, &corunner, &chosen, err);
    if (status != MACHINE_OK)
        return status;
    p->corunner = helper_payload(&corunner);
    p->n_corunners = (uint32_t)chosen.n;
    for (size_t i = 0; i < chosen.n && i < CHARACTERIZE_CORUNNERS; i++)
        p->corunner_cpu[i] = (uint16_t)chosen.cpus[i];
    free(chosen.cpus);
    return chosen.n <= CHARACTERIZE_CORUNNERS
               ? MACHINE_OK
               : machine_fail(err, MACHINE_BAD_INPUT, "", "the kernel helper can keep at most %d CPUs busy",
                              CHARACTERIZE_CORUNNERS + 1);
}

static int map_buffer(struct helper *h, const struct characterize_setup *p, struct machine_error *err)
{
    h->map = h->io->map(h->fd, p->bytes);
    h->mapped = p->bytes;
    h->stride = p->stride;
    return h->map != NULL
               ? MACHINE_OK
               : machine_fail(err, MACHINE_FAILED, "", "cannot map the kernel helper's buffer: %s", strerror(errno));
}

static int prepare_module(struct helper *h, struct characterize_setup *p, struct machine_error *err)
{
    int error = h->io->ioctl(h->fd, CHARACTERIZE_IOC_PREPARE, p) == 0 ? 0 : errno;

    if (error != 0 && p->reason == CHARACTERIZE_REASON_NO_SIBLING) {
        p->flags &= ~(uint32_t)CHARACTERIZE_PARK_SIBLING;
        error = h->io->ioctl(h->fd, CHARACTERIZE_IOC_PREPARE, p) == 0 ? 0 : errno;
    }
    if (error != 0) {
        char what[60] = "preparing";
        if (p->reason == CHARACTERIZE_REASON_NO_COUNTER || p->reason == CHARACTERIZE_REASON_COUNTERS)
            snprintf(what, sizeof what, "counter %u of %u", p->failed + 1, p->n_counters);
        return helper_refused(h, error, p->reason, what, err);
    }
    return map_buffer(h, p, err);
}

/* Measures the cost of a chain, from readings after plain adds: it does not depend on the payload (timing_chains.h).
 * Recordings of about 5 ms, until there are as many chains as are remembered. */
static int calibrate_chain(struct helper *h, struct machine *m, struct machine_error *err)
{
    enum { READINGS = 32768, WARM_US = 1000, RUN_US = 4000, RUNS = 40 };
    struct characterize_setup p = {.version = CHARACTERIZE_VERSION,
                                   .cpu = (uint32_t)h->native.cpu,
                                   .period = helper_ticks(h, 1),
                                   .readings = READINGS};
    const struct payload adds = kernel_named("64add");
    int seen = -1;

    place_chains(h, &p);
    h->lately.n = 0;
    h->lately_cpu = h->native.cpu;
    h->lately_steady = helper_steady(h);
    int status = prepare_module(h, &p, err);
    for (int run = 0; status == MACHINE_OK && run < RUNS && (seen != 0 || h->lately.n < TIMING_LATELY); run++) {
        struct characterize_run r = {.version = CHARACTERIZE_VERSION, .n_segments = 2, .zero = 1};
        r.segment[0] = (struct characterize_segment){.ticks = helper_ticks(h, WARM_US),
                                                     .payload = helper_payload(&adds)};
        r.segment[1] = (struct characterize_segment){
            .ticks = helper_ticks(h, RUN_US), .payload = helper_payload(&adds), .sampled = 1};
        if (h->io->ioctl(h->fd, CHARACTERIZE_IOC_RUN, &r) != 0)
            status = helper_refused(h, errno, r.reason, "calibrating", err);
        else
            seen = timing_follow(&h->lately, (const struct chain_raw *)h->map, r.n, helper_steady(h),
                                 h->native.tsc_step, &h->cost);
    }
    helper_finish(m);
    if (status != MACHINE_OK || seen != 0)
        h->lately.n = 0;
    if (status == MACHINE_OK && seen != 0) {
        return machine_fail(err, MACHINE_FAILED, "measure on a quieter machine, or with --machine timing",
                            "CPU %d: the chain of adds cannot be calibrated", h->native.cpu);
    }
    return status;
}

static int prepare_all(struct helper *h, struct machine *m, const struct cpu_view *view, struct machine_error *err)
{
    const struct machine_setup *s = &h->native.setup;
    struct characterize_setup p = {
        .version = CHARACTERIZE_VERSION, .cpu = (uint32_t)h->native.cpu, .period = helper_ticks(h, s->period_us)};
    int status = MACHINE_OK;

    /* every recording goes on with it (timing_follow()) */
    bool known = h->lately.n >= TIMING_LATELY && h->lately_cpu == h->native.cpu && h->lately_steady == helper_steady(h);
    if (h->clock == HELPER_CHAIN && !known)
        status = calibrate_chain(h, m, err);
    p.readings = (uint32_t)fmin((double)native_room(s) + 2.0 * CHARACTERIZE_MASKED_US_MAX / CHARACTERIZE_SAMPLE_US_MAX,
                                CHARACTERIZE_READINGS_MAX);
    /* siblings that are to be busy must not be parked */
    if (h->hello.can & CHARACTERIZE_CAN_MWAIT && !s->siblings)
        p.flags |= CHARACTERIZE_PARK_SIBLING;
    place_counters(h, s, &p);
    place_chains(h, &p);
    if (status == MACHINE_OK)
        status = place_corunners(h, view, &p, err);
    if (status == MACHINE_OK)
        status = prepare_module(h, &p, err);
    if (status != MACHINE_OK)
        return status;
    h->words = calloc(p.readings, (2 + s->n_counters) * sizeof *h->words);
    return h->words != NULL ? MACHINE_OK : machine_fail(err, MACHINE_FAILED, "", "out of memory");
}

/* Counters that perf has not put on the hardware: the license events may do without, the others are an error. */
static int check_counted(struct helper *h, uint32_t missing, struct machine_error *err)
{
    char name[60], room[100], text[200 + PERF_ROOM_REMEDY_SIZE] = "";

    for (size_t i = 0; i < h->native.setup.n_counters; i++) {
        const struct counter_spec *c = &h->native.counters[i];
        int word = h->clock == HELPER_COUNTERS ? h->slot[i].word : -1;
        if (word < 2 || !(missing >> (word - 2) & 1))
            continue;
        perf_counter_name(c->id, part_events_code(&h->events, c), name, sizeof name);
        if (!part_events_is_license(c->id)) {
            perf_room_text((unsigned)h->native.setup.n_counters, h->native.id.general_counters, room, sizeof room);
            return machine_fail(err, MACHINE_CANNOT, perf_room_remedy(perf_room_watchdog(h->proc)),
                                "no hardware counter is free for %s%s", name, room);
        }
        text_list_add(text, sizeof text, ", ", text[0] ? "%.30s" : "no hardware counter is free, not counted: %.30s",
                      name);
    }
    if (text[0] != '\0')
        text_list_add(text, sizeof text, "; ", "%s", perf_room_remedy(perf_room_watchdog(h->proc)));
    native_note(&h->native, "%s", text);
    return MACHINE_OK;
}

/* A moment of plain adds, to be able to say from the start how interrupts are masked here and what is counted. */
static int try_out(struct helper *h, struct machine_error *err)
{
    struct characterize_run r = {.version = CHARACTERIZE_VERSION, .n_segments = 1};
    const struct payload adds = kernel_named("64add");
    char text[200];

    r.segment[0] = (struct characterize_segment){.ticks = helper_ticks(h, 10), .payload = helper_payload(&adds)};
    if (h->io->ioctl(h->fd, CHARACTERIZE_IOC_RUN, &r) != 0)
        return helper_refused(h, errno, r.reason, "running", err);
    native_note(&h->native, "interrupts masked by clearing IF%s%s",
                r.masked & CHARACTERIZE_MASKED_TIMER ? " and masking the local APIC's timer" : "",
                r.parked > 0 ? "; the core's SMT sibling parked in MWAIT" : "");
    if (h->clock == HELPER_CHAIN &&
        timing_steps_text(h->native.tsc_step, h->native.tsc.hz, h->cost.ticks[0], text, sizeof text))
        native_note(&h->native, "%s", text);
    return check_counted(h, r.missing, err);
}

int helper_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    struct helper *h = m->state;
    struct cpu_view view;
    struct perf_pmu pmu;

    helper_finish(m);
    if (!(s->period_us >= 0.25 && s->period_us <= CHARACTERIZE_PERIOD_US_MAX)) {
        return machine_fail(err, MACHINE_BAD_INPUT, "use 0.25 us to 10 ms, or --machine timing",
                            "the kernel helper cannot keep a sampling period of %g us", s->period_us);
    }
    int status = native_take_setup(&h->native, s, &view, err);
    if (status == MACHINE_OK)
        status = part_events_check(&h->events, &h->native, &pmu, err);
    h->native.tsc_step = h->tsc_step > 0 ? h->tsc_step : fmax(1, tsc_measure_step());
    if (h->clock == HELPER_CHAIN)
        h->choice = timing_choose_chains(h->native.tsc_step, h->native.tsc.hz, s->period_us);
    if (status == MACHINE_OK)
        status = prepare_all(h, m, &view, err);
    if (status == MACHINE_OK)
        status = try_out(h, err);
    if (status != MACHINE_OK) {
        helper_finish(m);
        return status;
    }
    h->native.prepared = true;
    cpu_caches_read(h->native.sys, h->proc != NULL ? h->proc : "/proc", h->native.cpu, &h->native.caches);
    h->notes_length = strlen(h->native.notes);
    h->nmis = h->smis = h->tried = h->stolen = 0;
    h->stolen_ms = 0;
    h->at_end_valid = false;
    return MACHINE_OK;
}
