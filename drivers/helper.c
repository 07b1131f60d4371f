/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine `helper`. A repetition is one ioctl: the module runs it on the measured CPU in the kernel, with interrupts
 * masked. Cycles come from performance counters; where there are none, as in most virtual machines, from APERF and
 * MPERF; and where these are missing as well, from the dependent chain that the timing machine uses.
 */
#include "drivers/helper.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drivers/silicon.h"

enum { REGISTER_PERF_STATUS = 0x198, ATTEMPTS = 3, APERF_BITS = 64 };

enum clock_source { CLOCK_COUNTERS, CLOCK_APERF, CLOCK_CHAIN };

struct helper {
    struct silicon silicon;  /* what this CPU is; its place, lanes and companions are the module's here */
    const struct helper_io *io;
    int fd;
    struct characterize_hello hello;
    enum clock_source clock;
    bool volts;              /* register 198H tells a voltage */
    char why_no_counters[160];
    char source[160];

    size_t stride;           /* of the module's readings */
    const uint64_t *map;
    size_t mapped;
    struct helper_slot slot[MACHINE_COUNTERS_MAX];
    struct timing_cost cost; /* of a chain */
    uint64_t *words;
    size_t notes_length;     /* of what the notes say before anything has run */
    unsigned nmis, smis, tried, parked;
    bool at_end_valid;       /* the register was read at the end of the last repetition */
    uint64_t at_end;
};

static uint64_t ticks(const struct helper *h, double us)
{
    return (uint64_t)llround(us * 1e-6 * h->silicon.tsc.hz);
}

/* Fills *err from what the module answered. */
static int refused(const struct helper *h, int error, unsigned reason, const char *what, struct machine_error *err)
{
    char text[140];
    enum machine_status status = error == EOPNOTSUPP || error == EBUSY ? MACHINE_CANNOT
                                 : error == EINVAL                    ? MACHINE_BAD_INPUT
                                                                      : MACHINE_FAILED;

    if (reason == CHARACTERIZE_REASON_NONE) {
        return silicon_fail(err, MACHINE_FAILED, "", "the kernel helper, %s: %s", what, strerror(error));
    }
    helper_reason(h->io, h->fd, reason, text, sizeof text);
    return silicon_fail(err, status, reason == CHARACTERIZE_REASON_AMX ? "--machine timing or perf run it in user space"
                                                                       : "",
                        "the kernel helper, %s: %s", what, text);
}

/* ---- what it is, and what it can count ---- */

static void helper_info(const struct machine *m, struct machine_info *out)
{
    const struct helper *h = m->state;

    silicon_info(&h->silicon, out);
    out->name = "helper";
    out->source = h->source;
}

static bool counts(const struct helper *h, enum counter_id id)
{
    switch (id) {
    case COUNTER_CYCLES:
    case COUNTER_REF_CYCLES:
        return h->clock != CLOCK_CHAIN;
    case COUNTER_INSTRUCTIONS:
    case COUNTER_EVENT:
        return h->clock == CLOCK_COUNTERS;
    case COUNTER_CHAIN_TICKS:
    case COUNTER_CHAIN_CYCLES:
        return h->clock == CLOCK_CHAIN;
    default:
        return false;
    }
}

static const char *helper_lacks(const struct machine *m, enum counter_id id, const char **remedy)
{
    const struct helper *h = m->state;
    const char *ignored, **to_do = remedy != NULL ? remedy : &ignored;

    *to_do = NULL;
    if (counts(h, id)) {
        return NULL;
    }
    if (id == COUNTER_CHAIN_TICKS || id == COUNTER_CHAIN_CYCLES) {
        return "not needed: this machine counts cycles";
    }
    if (h->clock == CLOCK_COUNTERS) {
        *to_do = "count raw events, or --machine perf";
        return "the kernel helper knows no licence events by name";
    }
    *to_do = h->silicon.id.hypervisor ? "enable the virtual PMU in the hypervisor, or measure on the host"
                                      : "boot a kernel that knows this CPU's counters";
    return h->why_no_counters;
}

/* ---- prepare and finish ---- */

static void helper_finish(struct machine *m)
{
    struct helper *h = m->state;

    h->io->ioctl(h->fd, CHARACTERIZE_IOC_FINISH, NULL);
    if (h->map != NULL) {
        h->io->unmap(h->map, h->mapped);
        h->map = NULL;
    }
    free(h->words);
    h->words = NULL;
    h->silicon.prepared = false;
    h->silicon.active_cores = 0;
}

static struct characterize_payload payload_of(const struct payload *p)
{
    size_t count;
    const struct kernel *all = kernel_registry(&count);

    return (struct characterize_payload){ .kernel = (uint16_t)(p->kernel - all), .density = (uint16_t)p->density,
                                          .dirty = p->dirty };
}

static int check_kernel(const struct helper *h, const struct payload *p, struct machine_error *err)
{
    if ((p->kernel->features & KERNEL_NEEDS_AMX_BF16) != 0) {
        char what[60];
        snprintf(what, sizeof what, "kernel %s", p->name);
        return refused(h, EOPNOTSUPP, CHARACTERIZE_REASON_AMX, what, err);
    }
    return silicon_check_features(&h->silicon, p, err);
}

static int check_setup(const struct machine_setup *s, struct machine_error *err)
{
    if (!(s->period_us >= 0.25 && s->period_us <= CHARACTERIZE_PERIOD_US_MAX)) {
        return silicon_fail(err, MACHINE_BAD_INPUT, "use 0.25 us to 10 ms, or --machine timing",
                            "a sample period of %g us cannot be kept by the kernel helper", s->period_us);
    }
    if (s->n_counters > MACHINE_COUNTERS_MAX || s->max_samples == 0) {
        return silicon_fail(err, MACHINE_BAD_INPUT, "", "%zu counters and %zu samples asked for: at most %d, at least 1",
                            s->n_counters, s->max_samples, MACHINE_COUNTERS_MAX);
    }
    return MACHINE_OK;
}

/* Where each counter is read, and what the module must count for it. */
static void place_counters(struct helper *h, const struct machine_setup *s, struct characterize_setup *p)
{
    static const uint32_t sources[COUNTER_IDS] = { [COUNTER_CYCLES] = CHARACTERIZE_CYCLES,
                                                   [COUNTER_REF_CYCLES] = CHARACTERIZE_REF_CYCLES,
                                                   [COUNTER_INSTRUCTIONS] = CHARACTERIZE_INSTRUCTIONS,
                                                   [COUNTER_EVENT] = CHARACTERIZE_RAW };
    for (size_t i = 0; i < s->n_counters; i++) {
        const struct counter_spec *c = &s->counters[i];
        h->slot[i] = (struct helper_slot){ .word = -1 };
        if (!counts(h, c->id)) {
            continue;
        }
        if (h->clock == CLOCK_COUNTERS) {
            h->slot[i] = (struct helper_slot){ 2 + (int)p->n_counters, h->hello.counter_bits };
            p->counter[p->n_counters++] = (struct characterize_counter){ sources[c->id],
                                                                         c->id == COUNTER_EVENT ? c->event : 0 };
        } else if (h->clock == CLOCK_APERF) {
            h->slot[i] = (struct helper_slot){ c->id == COUNTER_CYCLES ? 2 : 3, APERF_BITS };
            p->flags |= CHARACTERIZE_APERF_MPERF;
        }
    }
    if (h->clock == CLOCK_CHAIN) {
        p->flags |= CHARACTERIZE_CHAIN;
    }
}

/* One logical CPU of each other physical core that is to be busy. */
static int place_companions(struct helper *h, const struct cpu_view *view, struct characterize_setup *p,
                            struct machine_error *err)
{
    struct payload companion = h->silicon.setup.companion;
    struct cpu_companions chosen;
    char why[200];

    if (companion.kernel == NULL && kernel_parse("64add", &companion, why, sizeof why) != 0) {
        return silicon_fail(err, MACHINE_FAILED, "", "the default companion kernel: %s", why);
    }
    int status = check_kernel(h, &companion, err);
    if (status == MACHINE_OK) {
        status = cpu_pick_companions(h->silicon.sys, view, h->silicon.cpu, h->silicon.setup.active_cores, &chosen, err);
    }
    if (status != MACHINE_OK) {
        return status;
    }
    if (chosen.n > CHARACTERIZE_COMPANIONS) {
        free(chosen.cpus);
        return silicon_fail(err, MACHINE_BAD_INPUT, "", "the kernel helper keeps at most %d cores busy",
                            CHARACTERIZE_COMPANIONS + 1);
    }
    p->companion = payload_of(&companion);
    p->n_companions = (uint32_t)chosen.n;
    for (size_t i = 0; i < chosen.n; i++) {
        p->companion_cpu[i] = (uint16_t)chosen.cpus[i];
    }
    h->silicon.active_cores = (unsigned)chosen.n + 1;
    h->silicon.cores = chosen.cores;
    free(chosen.cpus);
    return MACHINE_OK;
}

static int map_buffer(struct helper *h, const struct characterize_setup *p, struct machine_error *err)
{
    h->map = h->io->map(h->fd, p->bytes);
    h->mapped = p->bytes;
    h->stride = p->stride;
    return h->map != NULL ? MACHINE_OK
                          : silicon_fail(err, MACHINE_FAILED, "", "cannot map the kernel helper's buffer: %s",
                                         strerror(errno));
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
        if (p->reason == CHARACTERIZE_REASON_NO_COUNTER || p->reason == CHARACTERIZE_REASON_COUNTERS) {
            snprintf(what, sizeof what, "counter %u of %u", p->failed + 1, p->n_counters);
        }
        return refused(h, error, p->reason, what, err);
    }
    return map_buffer(h, p, err);
}

/*
 * What a chain costs, from readings behind plain adds: it does not depend on the payload (timing.h). Runs for about 5 ms
 * at a time.
 */
static int calibrate_chain(struct helper *h, struct machine *m, struct machine_error *err)
{
    enum { READINGS = 4096, WARM_US = 1000, RUN_US = 4000 };
    struct characterize_setup p = { .version = CHARACTERIZE_VERSION, .cpu = (uint32_t)h->silicon.cpu,
                                    .flags = CHARACTERIZE_CHAIN, .period = ticks(h, 1), .readings = READINGS };
    struct payload adds;
    char why[200];
    int seen = -1;

    if (kernel_parse("64add", &adds, why, sizeof why) != 0) {
        return silicon_fail(err, MACHINE_FAILED, "", "%s", why);
    }
    int status = prepare_module(h, &p, err);
    for (int attempt = 0; status == MACHINE_OK && seen != 0 && attempt < ATTEMPTS; attempt++) {
        struct characterize_run r = { .version = CHARACTERIZE_VERSION, .n_segments = 2, .zero = 1 };
        r.segment[0] = (struct characterize_segment){ .ticks = ticks(h, WARM_US), .payload = payload_of(&adds) };
        r.segment[1] = (struct characterize_segment){ .ticks = ticks(h, RUN_US), .payload = payload_of(&adds),
                                                      .sampled = 1 };
        if (h->io->ioctl(h->fd, CHARACTERIZE_IOC_RUN, &r) != 0) {
            status = refused(h, errno, r.reason, "calibrating", err);
            break;
        }
        seen = timing_chain_cost((const struct timing_raw *)(h->map + CHARACTERIZE_PROBE_ROOM * h->stride), r.n,
                                 &h->cost);
    }
    helper_finish(m);
    if (status == MACHINE_OK && seen != 0) {
        return silicon_fail(err, MACHINE_FAILED, "measure on a quieter machine, or with --machine timing",
                            "CPU %d: the chain of adds cannot be calibrated", h->silicon.cpu);
    }
    return status;
}

static int prepare_all(struct helper *h, struct machine *m, const struct cpu_view *view, struct machine_error *err)
{
    const struct machine_setup *s = &h->silicon.setup;
    struct characterize_setup p = { .version = CHARACTERIZE_VERSION, .cpu = (uint32_t)h->silicon.cpu,
                                    .period = ticks(h, s->period_us) };
    int status = MACHINE_OK;

    if (h->clock == CLOCK_CHAIN) {
        status = calibrate_chain(h, m, err);
    }
    p.readings = s->max_samples < CHARACTERIZE_READINGS_MAX ? (uint32_t)s->max_samples : CHARACTERIZE_READINGS_MAX;
    if (h->hello.can & CHARACTERIZE_CAN_MWAIT) {
        p.flags |= CHARACTERIZE_PARK_SIBLING;
    }
    place_counters(h, s, &p);
    if (status == MACHINE_OK) {
        status = place_companions(h, view, &p, err);
    }
    if (status == MACHINE_OK) {
        status = prepare_module(h, &p, err);
    }
    if (status != MACHINE_OK) {
        return status;
    }
    h->words = calloc(p.readings, (2 + s->n_counters) * sizeof *h->words);
    return h->words != NULL ? MACHINE_OK : silicon_fail(err, MACHINE_FAILED, "", "out of memory");
}

static int helper_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    struct helper *h = m->state;
    struct cpu_view view;

    helper_finish(m);
    snprintf(h->silicon.notes, sizeof h->silicon.notes, "%s", h->silicon.machine_notes);
    int status = check_setup(s, err);
    if (status != MACHINE_OK) {
        return status;
    }
    h->silicon.setup = *s;
    memcpy(h->silicon.counters, s->counters, s->n_counters * sizeof *s->counters);
    h->silicon.setup.counters = h->silicon.counters;
    cpu_view_read(h->silicon.sys, &view);
    status = cpu_choose(&view, s->cpu, &h->silicon.cpu, err);
    if (status == MACHINE_OK) {
        status = prepare_all(h, m, &view, err);
    }
    if (status != MACHINE_OK) {
        helper_finish(m);
        return status;
    }
    h->silicon.prepared = true;
    h->notes_length = strlen(h->silicon.notes);
    h->nmis = h->smis = h->tried = h->parked = 0;
    h->at_end_valid = false;
    return MACHINE_OK;
}

/* ---- one repetition ---- */

static int make_request(const struct helper *h, const struct run_request *r, struct characterize_run *out,
                        struct machine_error *err)
{
    const double period = h->silicon.setup.period_us;
    double us = 0;
    bool sampled = false;

    *out = (struct characterize_run){ .version = CHARACTERIZE_VERSION, .n_segments = (uint32_t)r->n_segments,
                                      .zero = (uint32_t)r->zero_segment, .offset = ticks(h, (0.5 + r->phase) * period),
                                      .turn = (uint32_t)(r->repetition % 8) };
    for (size_t i = 0; i < r->n_segments; i++) {
        const struct segment *s = &r->segments[i];
        int status = check_kernel(h, &s->payload, err);
        if (status != MACHINE_OK) {
            return status;
        }
        us += s->duration_us;
        sampled = sampled || s->sampled;
        out->segment[i] = (struct characterize_segment){ .ticks = ticks(h, s->duration_us),
                                                         .payload = payload_of(&s->payload), .sampled = s->sampled };
    }
    if (us > CHARACTERIZE_MASKED_US_MAX) {
        return silicon_fail(err, MACHINE_BAD_INPUT, "shorten --warmup or --observe, or use --machine timing",
                            "a repetition of %.3g ms is longer than the 10 ms for which the kernel helper masks "
                            "interrupts", us / 1000);
    }
    if (!sampled && h->volts) { /* a repetition for the voltage at its end */
        out->last_register = REGISTER_PERF_STATUS;
    }
    return MACHINE_OK;
}

/* Says how interrupts were masked and what came nevertheless. */
static void remark(struct helper *h, const struct characterize_run *run)
{
    char text[200];

    h->silicon.notes[h->notes_length] = '\0';
    snprintf(text, sizeof text, "interrupts masked by clearing the interrupt flag%s%s",
             run->masked & CHARACTERIZE_MASKED_TIMER ? " and masking the local APIC's timer" : "",
             h->parked > 0 ? ", the core's other hyper-thread parked in MWAIT" : "");
    silicon_note(h->silicon.notes, sizeof h->silicon.notes, text);
    if (h->nmis + h->smis > 0) {
        snprintf(text, sizeof text, "%u NMIs and %u SMIs came nevertheless in %u repetitions, which were done again",
                 h->nmis, h->smis, h->tried);
        silicon_note(h->silicon.notes, sizeof h->silicon.notes, text);
    }
}

/* Where something that cannot be masked came in, the repetition is done again, a few times. */
static int run_undisturbed(struct helper *h, const struct characterize_run *request, struct characterize_run *run,
                           struct machine_error *err)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        *run = *request;
        if (h->io->ioctl(h->fd, CHARACTERIZE_IOC_RUN, run) != 0) {
            return refused(h, errno, run->reason, "running", err);
        }
        h->tried++;
        h->nmis += run->nmis;
        h->smis += run->smis;
        h->parked += run->parked;
        if (run->nmis + run->smis == 0 && !run->cut) {
            break;
        }
    }
    if (run->cut) {
        return silicon_fail(err, MACHINE_FAILED, "shorten --warmup or --observe",
                            "the repetition reached the 10 ms for which the kernel helper masks interrupts");
    }
    return MACHINE_OK;
}

static void convert(struct helper *h, const struct run_request *r, const struct characterize_run *run)
{
    unsigned per_block[CHARACTERIZE_SEGMENTS];
    struct helper_words w = { .raw = h->map + CHARACTERIZE_PROBE_ROOM * h->stride, .stride = h->stride,
                              .n_counters = h->silicon.setup.n_counters, .words = h->words };
    struct timing_cost seen;

    memcpy(w.slot, h->slot, sizeof w.slot);
    for (size_t i = 0; i < r->n_segments; i++) {
        per_block[i] = r->segments[i].payload.instructions;
    }
    if (h->clock != CLOCK_CHAIN) {
        helper_words_from_counters(&w, run, per_block);
        return;
    }
    if (timing_chain_cost((const struct timing_raw *)h->map, run->n_probe, &seen) == 0) {
        timing_cost_follow(&h->cost, &seen);
    }
    helper_words_from_chains(&w, h->silicon.counters, run, per_block, h->cost.cycles);
}

static int helper_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    struct helper *h = m->state;
    struct characterize_run request, run;

    memset(out, 0, sizeof *out);
    if (!h->silicon.prepared) {
        return silicon_fail(err, MACHINE_FAILED, "", "the helper machine was not prepared");
    }
    int status = silicon_check_request(r, err);
    if (status == MACHINE_OK) {
        status = make_request(h, r, &request, err);
    }
    if (status == MACHINE_OK) {
        status = run_undisturbed(h, &request, &run, err);
    }
    if (status != MACHINE_OK) {
        return status;
    }
    h->at_end_valid = run.register_valid && request.last_register != 0;
    h->at_end = run.register_value;
    remark(h, &run);
    convert(h, r, &run);
    out->n = run.n;
    out->stride = 2 + h->silicon.setup.n_counters;
    out->capacity = h->silicon.setup.max_samples;
    out->words = h->words;
    out->zero_tsc = run.zero_tsc;
    out->zero_reading = run.zero_reading;
    return MACHINE_OK;
}

/* ---- registers ---- */

static int read_msr(const struct helper *h, uint32_t reg, int cpu, uint64_t *value, struct machine_error *err)
{
    struct characterize_msr r = { .version = CHARACTERIZE_VERSION, .cpu = (uint32_t)cpu, .number = reg };
    char what[60];

    if (h->io->ioctl(h->fd, CHARACTERIZE_IOC_MSR, &r) == 0) {
        *value = r.value;
        return MACHINE_OK;
    }
    int error = errno;
    snprintf(what, sizeof what, "register %XH of CPU %d", reg, cpu);
    refused(h, error, r.reason, what, err);
    err->status = MACHINE_CANNOT;
    return MACHINE_CANNOT;
}

/* What was read at the end of the repetition is handed out once: it is closer than anything that could be read now. */
static int helper_read_register(struct machine *m, uint32_t reg, uint64_t *value, struct machine_error *err)
{
    struct helper *h = m->state;

    if (reg == REGISTER_PERF_STATUS && h->at_end_valid) {
        h->at_end_valid = false;
        *value = h->at_end;
        return MACHINE_OK;
    }
    return read_msr(h, reg, h->silicon.cpu, value, err);
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
};

/* Where register 198H tells no voltage (AMD; most virtual machines) there are no repetitions for it. */
static const struct machine_ops helper_ops_no_register = {
    .info = helper_info,
    .lacks = helper_lacks,
    .prepare = helper_prepare,
    .run = helper_run,
    .finish = helper_finish,
    .close = helper_close,
};

/* MSR_PERF_STATUS bits 47:32 are the voltage on Intel's parts (Intel SDM vol. 4; likwid voltage.c). */
static bool tells_volts(const struct helper *h, int cpu)
{
    struct machine_error ignored;
    uint64_t value;

    return h->silicon.id.intel && read_msr(h, REGISTER_PERF_STATUS, cpu, &value, &ignored) == MACHINE_OK &&
           (value >> 32 & 0xffff) != 0;
}

/* Cycles by counter where one can be had on that CPU, else by APERF, else by the chain. */
static void choose_clock(struct helper *h, int cpu)
{
    static const char *const sources[] = {
        [CLOCK_COUNTERS] = "measured in the kernel, interrupts masked: performance counters by RDPMC",
        [CLOCK_APERF] = "measured in the kernel, interrupts masked: APERF against the TSC",
        [CLOCK_CHAIN] = "measured in the kernel, interrupts masked: a dependent chain of adds against the TSC",
    };
    struct characterize_try t = { .version = CHARACTERIZE_VERSION, .cpu = (uint32_t)cpu,
                                  .counter = { .source = CHARACTERIZE_CYCLES } };
    char why[140];

    if (h->io->ioctl(h->fd, CHARACTERIZE_IOC_TRY, &t) == 0) {
        h->clock = CLOCK_COUNTERS;
    } else {
        helper_reason(h->io, h->fd, t.reason, why, sizeof why);
        snprintf(h->why_no_counters, sizeof h->why_no_counters, "%s", why);
        h->clock = h->hello.can & CHARACTERIZE_CAN_APERF_MPERF ? CLOCK_APERF : CLOCK_CHAIN;
    }
    snprintf(h->source, sizeof h->source, "%s", sources[h->clock]);
}

static int not_connected(const char *device, const struct helper_answer *a, struct machine_error *err)
{
    if (a->open_errno != 0) {
        return silicon_fail(err, MACHINE_CANNOT, "--list machines tells what would help", "the kernel helper cannot be "
                            "used: %s: %s", device, strerror(a->open_errno));
    }
    return silicon_fail(err, MACHINE_CANNOT, a->other_version ? "rmmod characterize, then build and load the module of "
                        "this version" : "", "the kernel helper cannot be used: %s",
                        a->other_version ? "the loaded module is of another version" : a->refusal);
}

int helper_open_at(const char *device, const char *sys, const struct helper_io *io, struct machine *out,
                   struct machine_error *err)
{
    struct cpu_leaves leaves;
    struct helper_answer answer;
    struct cpu_view view;
    struct machine_error ignored;
    int cpu;

    int fd = helper_connect(io, device, &answer);
    if (fd < 0) {
        return not_connected(device, &answer, err);
    }
    struct helper *h = calloc(1, sizeof *h);
    if (h == NULL) {
        io->close(fd);
        return silicon_fail(err, MACHINE_FAILED, "", "out of memory");
    }
    cpu_read_leaves(&leaves);
    int status = silicon_open(&h->silicon, sys, &leaves, err);
    if (status != MACHINE_OK) {
        io->close(fd);
        free(h);
        return status;
    }
    h->io = io;
    h->fd = fd;
    h->hello = answer.hello;
    h->silicon.features = answer.hello.features;
    cpu_view_read(sys, &view);
    if (cpu_choose(&view, -1, &cpu, &ignored) != MACHINE_OK) {
        cpu = 0;
    }
    choose_clock(h, cpu);
    h->volts = tells_volts(h, cpu);
    *out = (struct machine){ .ops = h->volts ? &helper_ops : &helper_ops_no_register, .state = h };
    return MACHINE_OK;
}

int machine_open_helper(struct machine *out, struct machine_error *err)
{
    return helper_open_at("/dev/" CHARACTERIZE_DEVICE, "/sys", &helper_system, out, err);
}
