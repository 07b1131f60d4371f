/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The timing machine: real hardware by time stamps alone. It needs no counters, no root and no driver. The core's
 * frequency comes from a dependent chain of adds (one a cycle) between two TSC reads after each stretch of payload;
 * the payload is counted in blocks.
 */
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "drivers/companions.h"
#include "drivers/timing.h"
#include "drivers/tsc.h"

enum { LANES_MAX = 4 * TIMING_SEGMENTS_MAX, SYS_ROOT_MAX = 256 };

struct timing {
    char sys[SYS_ROOT_MAX];
    char cpu_text[80];
    char notes[900];
    char machine_notes[400]; /* the part of notes that holds before prepare as well */
    struct tsc_rate tsc;
    unsigned cores;          /* physical, online */
    unsigned features;

    bool prepared;
    struct machine_setup setup;
    struct counter_spec counters[MACHINE_COUNTERS_MAX];
    int cpu;
    unsigned active_cores;
    struct timing_place place;
    struct companions *companions;
    struct pace_lane lanes[LANES_MAX];
    size_t n_lanes;
    struct timing_cost cost; /* of a reading, lately */
    double lowest_cost;      /* cycles, since prepare */
    unsigned probed, shared; /* repetitions with a cost; of them, those in which it was much higher than the lowest */
    size_t notes_length;     /* of what notes says without that */
    struct timing_raw *probe; /* in the locked memory, one behind the other: TIMING_PROBE_ROOM */
    struct timing_raw *raw;   /* max_samples */
    uint64_t *words;          /* max_samples * stride */
};

__attribute__((format(printf, 4, 5)))
static int fail(struct machine_error *err, enum machine_status status, const char *remedy, const char *text, ...)
{
    va_list args;

    memset(err, 0, sizeof *err);
    err->status = status;
    snprintf(err->remedy, sizeof err->remedy, "%s", remedy);
    va_start(args, text);
    vsnprintf(err->text, sizeof err->text, text, args);
    va_end(args);
    return status;
}

static void append_note(char *notes, size_t size, const char *text)
{
    size_t used = strlen(notes);

    if (text[0] != '\0') {
        snprintf(notes + used, size - used, "%s%s", used > 0 ? "; " : "", text);
    }
}

static void timing_info(const struct machine *m, struct machine_info *out)
{
    const struct timing *t = m->state;

    *out = (struct machine_info){
        .name = "timing",
        .source = "measured by time stamps: a dependent chain of adds against the TSC",
        .cpu = t->cpu_text,
        .tsc_hz = t->tsc.hz,
        .tsc_origin = t->tsc.origin,
        .tsc_error = t->tsc.error,
        .cpu_number = t->prepared ? t->cpu : -1,
        .active_cores = t->active_cores,
        .cores = t->cores,
        .features = t->features,
        .notes = t->notes,
    };
}

static const char *timing_lacks(const struct machine *m, enum counter_id id, const char **remedy)
{
    (void)m;
    if (remedy != NULL) {
        *remedy = NULL;
    }
    if (id == COUNTER_CHAIN_TICKS || id == COUNTER_CHAIN_CYCLES) {
        return NULL;
    }
    if (remedy != NULL) {
        *remedy = "a machine that reads counters (not in this version), or --machine model:NAME";
    }
    return "time stamps alone cannot count this: it needs performance counters";
}

/* ---- prepare and finish ---- */

/* Names of plain kernels that need none of the missing features, as many as fit. */
static void list_kernels(unsigned features, char *out, size_t size)
{
    size_t count, used = 0;
    const struct kernel *k = kernel_registry(&count);

    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if ((k[i].features & ~features) != 0 || k[i].latency_bound || strlen(k[i].name) + used + 6 > size) {
            continue;
        }
        used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? " " : "", k[i].name);
    }
}

static int check_features(const struct timing *t, const struct payload *p, struct machine_error *err)
{
    unsigned missing = p->kernel->features & ~t->features;
    char names[80], usable[170], remedy[200], why[200];

    if (missing != 0) {
        kernel_feature_names(missing, names, sizeof names);
        list_kernels(t->features, usable, sizeof usable);
        snprintf(remedy, sizeof remedy, "kernels that work here: %s", usable);
        return fail(err, MACHINE_CANNOT, remedy,
                    "kernel %s needs %s, which this CPU, its operating system or its hypervisor does not offer",
                    p->name, names);
    }
    if (kernel_request_permission(p->kernel->features, why, sizeof why) != 0) {
        list_kernels(t->features & ~p->kernel->features, usable, sizeof usable);
        snprintf(remedy, sizeof remedy, "kernels that work here: %s", usable);
        return fail(err, MACHINE_CANNOT, remedy, "kernel %s: %s", p->name, why);
    }
    return MACHINE_OK;
}

static void timing_finish(struct machine *m)
{
    struct timing *t = m->state;

    companions_stop(t->companions);
    timing_place_leave(&t->place);
    t->companions = NULL;
    t->prepared = false;
    t->n_lanes = 0;
    t->active_cores = 0;
}

static int start_companions(struct timing *t, const struct cpu_view *view, struct machine_error *err)
{
    struct payload companion = t->setup.companion;
    struct cpu_companions chosen;

    if (companion.kernel == NULL) {
        char why[200];
        if (kernel_parse("64add", &companion, why, sizeof why) != 0) {
            return fail(err, MACHINE_FAILED, "", "the default companion kernel: %s", why);
        }
    }
    int status = check_features(t, &companion, err);
    if (status == MACHINE_OK) {
        status = cpu_pick_companions(t->sys, view, t->cpu, t->setup.active_cores, &chosen, err);
    }
    if (status != MACHINE_OK) {
        return status;
    }
    uint64_t slice = (uint64_t)(t->tsc.hz * 1e-4);
    status = companions_start(chosen.cpus, chosen.n, &companion, slice, &t->companions, err);
    t->active_cores = (unsigned)chosen.n + 1;
    t->cores = chosen.cores;
    free(chosen.cpus);
    return status;
}

static int check_setup(const struct machine_setup *s, struct machine_error *err)
{
    /* a reading takes about 0.1 us; what is left of a shorter period is not worth the name */
    if (!(s->period_us >= 0.25 && s->period_us <= 1e6)) {
        return fail(err, MACHINE_BAD_INPUT, "use 0.25 us to 1 s",
                    "a sample period of %g us cannot be kept: a reading alone takes about 0.1 us", s->period_us);
    }
    if (s->n_counters > MACHINE_COUNTERS_MAX || s->max_samples == 0) {
        return fail(err, MACHINE_BAD_INPUT, "", "%zu counters and %zu samples asked for: at most %d, at least 1",
                    s->n_counters, s->max_samples, MACHINE_COUNTERS_MAX);
    }
    return MACHINE_OK;
}

static void remark_idle(struct timing *t, const struct cpu_view *view)
{
    int left = 0;

    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        left += cpu_mask_has(&view->online, cpu);
    }
    if (t->active_cores > 1 && (unsigned)left <= t->active_cores) {
        append_note(t->notes, sizeof t->notes, "all CPUs are kept busy and none is left for the system: expect more "
                    "interrupted repetitions (fewer active cores leave one free)");
    }
}

static int timing_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    struct timing *t = m->state;
    struct cpu_view view;

    timing_finish(m);
    snprintf(t->notes, sizeof t->notes, "%s", t->machine_notes);
    int status = check_setup(s, err);
    if (status != MACHINE_OK) {
        return status;
    }
    t->setup = *s;
    memcpy(t->counters, s->counters, s->n_counters * sizeof *s->counters);
    t->setup.counters = t->counters;
    cpu_view_read(t->sys, &view);
    status = cpu_choose(&view, s->cpu, &t->cpu, err);
    if (status != MACHINE_OK) {
        return status;
    }
    size_t stride = 2 + s->n_counters;
    size_t bytes = (TIMING_PROBE_ROOM + s->max_samples) * sizeof *t->raw + s->max_samples * stride * sizeof *t->words;
    status = timing_place_enter(&t->place, t->cpu, bytes, err);
    if (status == MACHINE_OK) {
        status = start_companions(t, &view, err);
    }
    if (status != MACHINE_OK) {
        timing_finish(m);
        return status;
    }
    t->probe = t->place.locked;
    t->raw = t->probe + TIMING_PROBE_ROOM;
    t->words = (uint64_t *)(t->raw + s->max_samples);
    t->prepared = true;
    append_note(t->notes, sizeof t->notes, t->place.note);
    remark_idle(t, &view);
    t->notes_length = strlen(t->notes);
    t->probed = t->shared = 0;
    return MACHINE_OK;
}

/* ---- one repetition ---- */

static struct pace_lane *find_lane(struct timing *t, const struct payload *p)
{
    for (size_t i = 0; i < t->n_lanes; i++) {
        if (t->lanes[i].run == p->run && t->lanes[i].dirty == p->dirty) {
            return &t->lanes[i];
        }
    }
    return NULL;
}

/* The core must have forgotten a kernel that was calibrated: twice the 2 ms that the Intel manual gives for a licence
 * to lapse (dissertation on Skylake-SP AVX overhead, section 3.2.2). */
static void let_relax(void)
{
    const struct timespec pause = { .tv_nsec = 4000000 };
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

/* Runs each payload that is new, before anything is recorded. */
static int calibrate(struct timing *t, const struct run_request *r, struct machine_error *err)
{
    enum { ATTEMPTS = 10, CALIBRATION_US = 5000 };
    bool ran = false;

    if (t->n_lanes + r->n_segments > LANES_MAX) {
        t->n_lanes = 0; /* rarely so many; they are calibrated again */
    }
    for (size_t i = 0; i < r->n_segments; i++) {
        const struct payload *p = &r->segments[i].payload;
        if (find_lane(t, p) != NULL) {
            continue;
        }
        int status = check_features(t, p, err);
        if (status != MACHINE_OK) {
            return status;
        }
        int failed = -1;
        for (int attempt = 0; attempt < ATTEMPTS && failed != 0; attempt++) {
            timing_place_begin(&t->place, CALIBRATION_US);
            failed = timing_calibrate(p, t->tsc.hz, t->setup.period_us, &t->lanes[t->n_lanes], &t->cost);
            timing_place_end(&t->place, CALIBRATION_US);
        }
        if (failed != 0) {
            return fail(err, MACHINE_FAILED, "stop other programs, or choose another CPU with --cpu",
                        "CPU %d is taken away too often to calibrate kernel %s", t->cpu, p->name);
        }
        t->n_lanes++;
        ran = true;
    }
    if (ran) {
        let_relax();
    }
    return MACHINE_OK;
}

static int check_request(const struct run_request *r, struct machine_error *err)
{
    unsigned recordings = 0;

    if (r->n_segments == 0 || r->n_segments > TIMING_SEGMENTS_MAX || r->zero_segment >= r->n_segments) {
        return fail(err, MACHINE_BAD_INPUT, "", "%zu segments with time 0 at number %zu: 1 to %d can be run",
                    r->n_segments, r->zero_segment, TIMING_SEGMENTS_MAX);
    }
    for (size_t i = 0; i < r->n_segments; i++) {
        double us = r->segments[i].duration_us;
        if (!(us >= 0 && us <= 1e9)) {
            return fail(err, MACHINE_BAD_INPUT, "", "segment %zu lasts %g us: it must be 0 to 1e9", i, us);
        }
        recordings += r->segments[i].sampled && (i == 0 || !r->segments[i - 1].sampled);
    }
    if (recordings > 1) {
        return fail(err, MACHINE_BAD_INPUT, "", "sampled segments must follow one another: they are one recording");
    }
    return MACHINE_OK;
}

static int make_plan(struct timing *t, const struct run_request *r, struct timing_plan *plan, struct machine_error *err)
{
    double tick_per_us = t->tsc.hz * 1e-6;

    memset(plan, 0, sizeof *plan);
    plan->n = r->n_segments;
    plan->zero = r->zero_segment;
    plan->period = (uint64_t)llround(t->setup.period_us * tick_per_us);
    plan->offset = (uint64_t)llround((0.5 + r->phase) * t->setup.period_us * tick_per_us);
    plan->turn = (unsigned)(r->repetition % TIMING_TURNS);
    plan->probe_period = (uint64_t)llround(fmin(t->setup.period_us, 1) * tick_per_us);
    for (size_t i = 0; i < r->n_segments; i++) {
        const struct segment *s = &r->segments[i];
        plan->stretch[i] = (struct timing_stretch){
            .lane = find_lane(t, &s->payload),
            .ticks = (uint64_t)llround(s->duration_us * tick_per_us),
            .sampled = s->sampled,
        };
    }
    size_t needed = timing_readings_needed(plan);
    if (needed > t->setup.max_samples) {
        return fail(err, MACHINE_BAD_INPUT, "", "a repetition needs room for %zu readings, but %zu were prepared for",
                    needed, t->setup.max_samples);
    }
    return MACHINE_OK;
}

/* The words of one stretch, from its raw readings. Returns the sums in total[2]: chain ticks and chain cycles. */
static void convert(const struct timing *t, unsigned per_block, const struct timing_raw *raw, size_t n,
                    uint64_t instructions, uint64_t total[2], uint64_t *words)
{
    size_t stride = 2 + t->setup.n_counters;

    for (size_t i = 0; i < n; i++, words += stride) {
        double adds = raw[i].blocks & 1 ? CHAIN_LONG_ADDS : CHAIN_SHORT_ADDS;
        total[0] += raw[i].end - raw[i].begin;
        total[1] += (uint64_t)llround((adds + t->cost.cycles) * CHAIN_CYCLE_UNIT);
        words[0] = raw[i].end;
        words[1] = instructions + raw[i].blocks / 2 * per_block;
        for (size_t c = 0; c < t->setup.n_counters; c++) {
            enum counter_id id = t->counters[c].id;
            words[2 + c] = id == COUNTER_CHAIN_TICKS ? total[0] : id == COUNTER_CHAIN_CYCLES ? total[1]
                                                                                              : COUNTER_MISSING;
        }
    }
}

static void convert_all(const struct timing *t, const struct run_request *r, const struct timing_log *log)
{
    size_t stride = 2 + t->setup.n_counters;
    uint64_t instructions = 0, total[2] = { 0, 0 };
    size_t done = 0;

    for (size_t i = 0; i < r->n_segments; i++) {
        unsigned per_block = r->segments[i].payload.instructions;
        /* the reading that opens the recording has no blocks of this stretch in it and belongs to no other */
        convert(t, per_block, log->raw + done, log->last[i] - done, instructions, total, t->words + done * stride);
        done = log->last[i];
        instructions += log->blocks[i] * per_block;
    }
}

/* The other hyper-thread cannot be seen, but it slows the reads of the TSC, by a quarter on a Sapphire Rapids. */
static void remark_shared(struct timing *t, double cycles)
{
    char text[160];

    t->lowest_cost = t->probed == 0 ? cycles : fmin(t->lowest_cost, cycles);
    t->probed++;
    t->shared += cycles > 1.12 * t->lowest_cost;
    if (t->shared > 0) {
        snprintf(text, sizeof text, "in %u of %u repetitions something else ran on the same core (its other "
                 "hyper-thread): frequency and IPC are less exact there", t->shared, t->probed);
        t->notes[t->notes_length] = '\0';
        append_note(t->notes, sizeof t->notes, text);
    }
}

static void update_cost(struct timing *t, const struct timing_log *log)
{
    struct timing_cost seen;

    if (timing_chain_cost(log->probe, log->n_probe, &seen) == 0) {
        timing_cost_follow(&t->cost, &seen);
        remark_shared(t, seen.cycles);
    }
}

static double planned_us(const struct run_request *r)
{
    double us = 0;

    for (size_t i = 0; i < r->n_segments; i++) {
        us += r->segments[i].duration_us;
    }
    return us;
}

/* Runs the plan; what happened to the thread meanwhile goes to *out. */
static void record(struct timing *t, const struct run_request *r, const struct timing_plan *plan,
                   struct timing_log *log, struct recording *out)
{
    struct rusage before, after;
    double us = planned_us(r);

    timing_place_begin(&t->place, us);
    for (size_t i = 0; i < r->n_segments; i++) {
        timing_touch(&r->segments[i].payload);
    }
    getrusage(RUSAGE_THREAD, &before);
    timing_record(plan, log);
    int cpu = sched_getcpu();
    getrusage(RUSAGE_THREAD, &after);
    timing_place_end(&t->place, us);
    out->involuntary_switches = (unsigned)(after.ru_nivcsw - before.ru_nivcsw);
    out->page_faults = (unsigned)(after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt);
    out->migrated = cpu != t->cpu;
}

static int timing_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    struct timing *t = m->state;
    struct timing_plan plan;
    struct timing_log log;

    memset(out, 0, sizeof *out);
    if (!t->prepared) {
        return fail(err, MACHINE_FAILED, "", "the timing machine was not prepared");
    }
    int status = check_request(r, err);
    if (status == MACHINE_OK) {
        status = calibrate(t, r, err);
    }
    if (status == MACHINE_OK) {
        status = make_plan(t, r, &plan, err);
    }
    if (status != MACHINE_OK) {
        return status;
    }
    memset(&log, 0, sizeof log);
    log.raw = t->raw;
    log.probe = t->probe;
    record(t, r, &plan, &log, out);
    update_cost(t, &log);
    convert_all(t, r, &log);
    out->n = log.n;
    out->stride = 2 + t->setup.n_counters;
    out->capacity = t->setup.max_samples;
    out->words = t->words;
    out->zero_tsc = log.zero_tsc;
    out->zero_reading = log.zero_reading;
    return MACHINE_OK;
}

/* ---- open and close ---- */

static void timing_close(struct machine *m)
{
    timing_finish(m);
    free(m->state);
    m->state = NULL;
}

static const struct machine_ops timing_ops = {
    .info = timing_info,
    .lacks = timing_lacks,
    .prepare = timing_prepare,
    .run = timing_run,
    .finish = timing_finish,
    .close = timing_close,
};

static int find_tsc(struct timing *t, const struct cpu_leaves *leaves, struct machine_error *err)
{
    char clock[64], note[160];
    const char *origin;
    double hz, error;

    cpu_read_text(t->sys, "devices/system/clocksource/clocksource0/current_clocksource", clock, sizeof clock);
    if (!tsc_usable(leaves, clock, note, sizeof note)) {
        return fail(err, MACHINE_CANNOT, "in a virtual machine let the hypervisor pass on the invariant TSC; "
                    "--machine model:NAME works everywhere", "%s", note);
    }
    append_note(t->machine_notes, sizeof t->machine_notes, note);
    if (tsc_calibrate(&hz, &error) != 0) {
        return fail(err, MACHINE_CANNOT, "", "the TSC cannot be compared with CLOCK_MONOTONIC_RAW: the clock does not "
                    "advance");
    }
    double declared = tsc_declared_hz(leaves, &origin);
    tsc_decide(declared, origin, hz, error, &t->tsc);
    append_note(t->machine_notes, sizeof t->machine_notes, t->tsc.note);
    return MACHINE_OK;
}

static void describe(struct timing *t, const struct cpu_leaves *leaves)
{
    struct cpu_identity id;
    char text[200];

    cpu_identify(leaves, &id);
    snprintf(t->cpu_text, sizeof t->cpu_text, "%s %s", id.brand, id.signature);
    if (id.hypervisor) {
        snprintf(text, sizeof text, "in a virtual machine (%s): the host may take the CPU away at any time",
                 id.hypervisor_name[0] != '\0' ? id.hypervisor_name : "unnamed hypervisor");
        append_note(t->machine_notes, sizeof t->machine_notes, text);
    }
    if (cpu_contradicts(leaves, text, sizeof text)) {
        append_note(t->machine_notes, sizeof t->machine_notes, text);
    }
}

/* Physical cores online, for info before anything is prepared. */
static unsigned count_cores(const char *sys)
{
    struct cpu_view view;
    struct cpu_companions all;
    struct machine_error ignored;
    int cpu;

    cpu_view_read(sys, &view);
    if (cpu_choose(&view, -1, &cpu, &ignored) != MACHINE_OK ||
        cpu_pick_companions(sys, &view, cpu, 0, &all, &ignored) != MACHINE_OK) {
        return 0;
    }
    free(all.cpus);
    return all.cores;
}

int timing_open_at(const char *sys, struct machine *out, struct machine_error *err)
{
    struct cpu_leaves leaves;
    struct timing *t = calloc(1, sizeof *t);

    if (t == NULL) {
        return fail(err, MACHINE_FAILED, "", "out of memory");
    }
    snprintf(t->sys, sizeof t->sys, "%s", sys);
    cpu_read_leaves(&leaves);
    describe(t, &leaves);
    int status = find_tsc(t, &leaves, err);
    if (status != MACHINE_OK) {
        free(t);
        return status;
    }
    snprintf(t->notes, sizeof t->notes, "%s", t->machine_notes);
    t->features = kernel_cpu_features();
    t->cores = count_cores(sys);
    *out = (struct machine){ .ops = &timing_ops, .state = t };
    return MACHINE_OK;
}

int machine_open_timing(struct machine *out, struct machine_error *err)
{
    return timing_open_at("/sys", out, err);
}
