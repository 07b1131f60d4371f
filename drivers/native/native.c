/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All that machines on real hardware share. */
#include "drivers/native/native.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "computer/cpu/uncore.h"
#include "drivers/native/growth.h"
#include "drivers/native/speed_select.h"

void native_info(const struct native *s, struct machine_info *out)
{
    *out = (struct machine_info){
        .name = s->name,
        .cpu = s->cpu_text,
        .tsc_hz = s->tsc.hz,
        .tsc_origin = s->tsc.origin,
        .tsc_error = s->tsc.error,
        .tsc_step = s->prepared ? s->tsc_step : 0,
        .cpu_number = s->prepared ? s->cpu : -1,
        .core_class = s->prepared ? s->core_class : "",
        .active_cores = s->active_cores,
        .energy_cores = !s->prepared       ? 0
                        : s->energy.of_die ? s->active_in_die
                                           : s->active_in_package,
        .order = s->order,
        .cores = s->cores,
        .usable_cores = s->usable_cores,
        .core = s->cores_measured ? s->core : NULL,
        .features = s->features,
        .intel = s->id.intel,
        .family = s->contradicts ? 0 : s->id.family,
        .model = s->contradicts ? 0 : s->id.model,
        .caches = s->prepared ? s->caches : (struct cpu_caches){0},
        .notes = s->notes,
    };
}

size_t native_core_kinds(const struct machine *m, bool every, struct core_kind *out, size_t max)
{
    const struct native *s = m->state;
    struct cpu_view view;

    native_view(s, &view);
    return cpu_core_kinds(s->sys, &view, every, out, max);
}

int native_uncore(const struct machine *m, double *ghz, struct machine_error *err)
{
    const struct native *s = m->state;
    return cpu_uncore_ghz(s->sys, s->cpu, ghz, err);
}

/* ---- open ---- */

static int find_tsc(struct native *s, const struct cpu_leaves *leaves, struct machine_error *err)
{
    char clock[64], note[160];
    const char *origin;
    double hz, error;

    cpu_read_text(s->sys, clock, sizeof clock, "devices/system/clocksource/clocksource0/current_clocksource");
    if (!tsc_usable(leaves, clock, note, sizeof note)) {
        return machine_fail(
            err, MACHINE_CANNOT,
            "in a virtual machine, have the hypervisor expose the invariant TSC; --machine model:NAME works everywhere",
            "%s", note);
    }
    text_list_add(s->machine_notes, sizeof s->machine_notes, "; ", "%s", note);
    if (tsc_calibrate(&hz, &error) != 0) {
        return machine_fail(err, MACHINE_CANNOT, "",
                            "the TSC cannot be compared with CLOCK_MONOTONIC_RAW: the clock does not advance");
    }
    double declared = tsc_declared_hz(leaves, &origin);
    tsc_decide(declared, origin, hz, error, &s->tsc);
    text_list_add(s->machine_notes, sizeof s->machine_notes, "; ", "%s", s->tsc.note);
    return MACHINE_OK;
}

static void describe(struct native *s, const struct cpu_leaves *leaves)
{
    char text[200];

    cpu_identify(leaves, &s->id);
    snprintf(s->cpu_text, sizeof s->cpu_text, "%s %s", s->id.brand, s->id.signature);
    if (s->id.hypervisor) {
        text_list_add(s->machine_notes, sizeof s->machine_notes, "; ",
                      "in a virtual machine (%s): the host may preempt the CPU at any time",
                      s->id.hypervisor_name[0] != '\0' ? s->id.hypervisor_name : "unknown hypervisor");
    }
    s->contradicts = cpu_contradicts(leaves, text, sizeof text);
    if (s->contradicts) {
        text_list_add(s->cpu_text, sizeof s->cpu_text, "", CPU_DOUBTFUL); /* nothing is to be looked up by it */
        text_list_add(s->machine_notes, sizeof s->machine_notes, "; ", "%s", text);
    }
}

/* The ways to an energy counter: of a folder laid out like /sys only those in it. */
static void find_energy(struct native *s, const struct cpu_leaves *leaves)
{
    struct energy_access *a = &s->energy.access;
    bool here = strcmp(s->sys, "/sys") == 0;

    snprintf(a->sys, sizeof a->sys, "%s", s->sys);
    snprintf(a->dev, sizeof a->dev, "%s", here ? "/dev" : "");
    a->likwid = here ? likwid_load : NULL;
    msr_part_of(leaves, &a->part);
    a->guest = s->id.hypervisor;
    a->edge_us = ENERGY_EDGE_US;
}

int native_read_energy(struct machine *m, struct energy_reading *out, const char **source, struct machine_error *err)
{
    struct native *s = m->state;
    struct cpu_view view;
    int cpu = s->cpu;

    if (!s->prepared) {
        cpu_view_read(s->sys, &view);
        int status = cpu_choose(&view, -1, &cpu, err);
        if (status != MACHINE_OK)
            return status;
    }
    return energy_read(&s->energy, cpu, out, source, err);
}

int native_speed_select(struct machine *m, struct rated_limits *out, struct machine_error *err)
{
    const struct native *s = m->state;
    int cpus[CPU_LIMIT];
    struct speed_select device;
    struct cpu_view view;

    if (!s->id.intel)
        return machine_fail(err, MACHINE_CANNOT, "", "only Intel processors have Speed Select");
    int error = strcmp(s->sys, "/sys") == 0 ? speed_select_open("/dev", &device) : ENOENT;
    if (error != 0)
        return speed_select_refuse("/dev", error, err);
    struct speed_select_cpu c = {
        .cpu = s->cpu, .package = cpu_package_of(s->sys, s->cpu), .cpus = cpus, .model = s->id.model};
    cpu_view_read(s->sys, &view);
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++)
        if (cpu_mask_has(&view.online, cpu) && cpu_package_of(s->sys, cpu) == c.package)
            cpus[c.n_cpus++] = cpu;
    int status = speed_select_read(&device, &c, out, err);
    device.close(&device);
    return status;
}

/* The features of a CPU; 0 where it cannot be run on. */
static unsigned features_on(int cpu)
{
    struct cpu_mask before;
    unsigned features = 0;

    if (cpu_pin(cpu, &before) == 0) {
        features = kernel_cpu_features();
        (void)cpu_set_affinity(&before);
    }
    return features;
}

/* The features of all kinds of cores together. */
static unsigned features_of_kinds(const char *sys)
{
    struct core_kind kinds[CORE_KINDS_MAX];
    struct cpu_view view;
    unsigned features = kernel_cpu_features();

    cpu_view_read(sys, &view);
    size_t n = cpu_core_kinds(sys, &view, false, kinds, CORE_KINDS_MAX);
    for (size_t i = 0; n > 1 && i < n; i++)
        features |= features_on(kinds[i].cpu);
    return features;
}

int native_open(struct native *s, const char *name, const char *sys, const struct cpu_leaves *leaves,
                struct machine_error *err)
{
    struct cpu_leaves here;

    if (leaves == NULL)
        cpu_read_leaves(&here);
    leaves = leaves != NULL ? leaves : &here;
    *s = (struct native){.name = name};
    snprintf(s->sys, sizeof s->sys, "%s", sys);
    describe(s, leaves);
    int status = find_tsc(s, leaves, err);
    if (status != MACHINE_OK)
        return status;
    snprintf(s->notes, sizeof s->notes, "%s", s->machine_notes);
    s->features = features_of_kinds(s->sys);
    native_count_cores(s);
    find_energy(s, leaves);
    return MACHINE_OK;
}

/* ---- prepare and finish ---- */

/* The remedy: names of plain kernels that need none of the missing features, as many as fit. */
static void list_kernels(unsigned features, char *out, size_t size)
{
    size_t count;
    const struct kernel *k = kernel_registry(&count);

    snprintf(out, size, "kernels that work here:");
    for (size_t i = 0; i < count; i++)
        if ((k[i].features & ~features) == 0 && !kernel_is_variant(&k[i]) &&
            strlen(k[i].name) + strlen(out) + 12 <= size)
            text_list_add(out, size, " ", "%s", k[i].name);
}

int native_check_features(const struct native *s, const struct payload *p, struct machine_error *err)
{
    unsigned missing = p->kernel->features & ~s->features;
    char names[80], remedy[200], why[200];

    if (missing != 0) {
        kernel_feature_names(missing, names, sizeof names);
        list_kernels(s->features, remedy, sizeof remedy);
        return machine_fail(err, MACHINE_CANNOT, remedy,
                            "kernel %s needs %s, which this CPU, operating system or hypervisor does not support",
                            p->name, names);
    }
    if ((p->kernel->features & s->lacking) != 0) {
        kernel_feature_names(p->kernel->features & s->lacking, names, sizeof names);
        list_kernels(s->features & ~s->lacking, remedy, sizeof remedy);
        return machine_fail(err, MACHINE_CANNOT, remedy,
                            "kernel %s needs %s, which other cores support, but not CPU %d", p->name, names, s->cpu);
    }
    if (kernel_request_permission(p->kernel->features, why, sizeof why) != 0) {
        list_kernels(s->features & ~p->kernel->features, remedy, sizeof remedy);
        return machine_fail(err, MACHINE_CANNOT, remedy, "kernel %s: %s", p->name, why);
    }
    return MACHINE_OK;
}

/* Says so where the buffer in memory cannot be as large as it should be. */
static int prepare_walk(struct native *s, const struct payload *p, struct machine_error *err)
{
    int status = walks_prepare(&s->walks, &s->caches, p, err);

    if (status == MACHINE_OK && p->kernel->level == KERNEL_RAM && s->caches.l3 > WALKS_MOST / WALKS_TIMES &&
        strstr(s->notes, "@ram") == NULL)
        native_note(s, "the buffer of @ram (1 GiB) is less than four times L3 (%.0f MiB): some loads hit it",
                    (double)s->caches.l3 / (1 << 20));
    return status;
}

int native_make_ready(struct native *s, const struct payload *p, struct machine_error *err)
{
    int status = native_check_features(s, p, err);
    return status == MACHINE_OK ? prepare_walk(s, p, err) : status;
}

void native_finish(struct native *s)
{
    corunners_stop(s->corunners);
    pinning_leave(&s->pinning);
    s->corunners = NULL;
    s->prepared = false;
    s->n_lanes = 0;
    s->active_cores = 0;
    s->lacking = 0;
}

void native_close(struct machine *m)
{
    struct native *s = m->state;

    m->ops->finish(m);
    walks_free(&s->walks);
    free(s);
    m->state = NULL;
}

/* Keeps the longest order of CPUs, and notes that dies took turns. */
static void note_order(struct native *s, const struct cpu_corunners *chosen)
{
    char order[sizeof s->order] = "";

    text_list_add(order, sizeof order, ",", "%d", s->cpu);
    for (size_t i = 0; i < chosen->n; i++)
        text_list_add(order, sizeof order, ",", "%d", chosen->cpus[i]);
    if (chosen->active > s->ordered) {
        s->ordered = chosen->active;
        memcpy(s->order, order, sizeof order);
    }
    if (chosen->parts > 1)
        native_note(s, "active cores are on %u dies or third-level caches in turn: CPUs %.100s%s", chosen->parts, order,
                    strlen(order) > 100 ? "..." : "");
}

int native_pick_corunners(struct native *s, const struct cpu_view *view, native_can_run *can_run,
                          struct payload *corunner, struct cpu_corunners *chosen, struct machine_error *err)
{
    *corunner = s->setup.corunner.kernel != NULL ? s->setup.corunner : kernel_named("64add");
    int status = can_run(s, corunner, err);
    if (status == MACHINE_OK)
        status = active_cores_pick(s->sys, view, s->cpu, &s->setup, chosen, err);
    if (status != MACHINE_OK)
        return status;
    s->active_cores = chosen->active;
    s->active_in_package = chosen->in_package;
    s->active_in_die = chosen->in_die;
    s->cores = chosen->cores;
    note_order(s, chosen);
    return MACHINE_OK;
}

static int start_corunners(struct native *s, const struct cpu_view *view, struct machine_error *err)
{
    struct payload corunner;
    struct cpu_corunners chosen;

    unsigned lacking = s->lacking;
    s->lacking = 0; /* of the measured CPU, on which it does not run */
    int status = native_pick_corunners(s, view, native_check_features, &corunner, &chosen, err);
    s->lacking = lacking;
    if (status != MACHINE_OK)
        return status;
    /* before the threads that would fault there begin */
    for (size_t i = 0; corunner.kernel->features != 0 && i < chosen.n; i++) {
        unsigned missing = corunner.kernel->features & ~features_on(chosen.cpus[i]);
        if (missing != 0) {
            char names[80];
            kernel_feature_names(missing, names, sizeof names);
            machine_fail(err, MACHINE_CANNOT, "use --companion 64add, or --cpus with CPUs of one kind",
                         "co-runner %s needs %s, which CPU %d does not support", corunner.name, names, chosen.cpus[i]);
            free(chosen.cpus);
            return MACHINE_CANNOT;
        }
    }
    const struct corunner_code code = {
        .payload = corunner, .walk = walks_of(&s->walks, &corunner), .ticks = (uint64_t)(s->tsc.hz * 1e-4)};
    status = chosen.n > 0 ? prepare_walk(s, &corunner, err) : MACHINE_OK;
    if (status == MACHINE_OK)
        status = corunners_start(chosen.cpus, chosen.n, &code, &s->corunners, err);
    free(chosen.cpus);
    return status;
}

/* A CPU that is refused after it was measured on has gone meanwhile: that is no mistake of who requested it. */
static int choose_cpu(struct native *s, struct cpu_view *view, struct machine_error *err)
{
    native_view(s, view);
    int status = active_cores_measured(view, &s->setup, &s->cpu, err);
    s->allowed = view->allowed;
    if (status == MACHINE_OK) {
        cpu_mask_add(&s->used, s->cpu);
        if (cpu_quietness(view, s->cpu) > 0)
            native_note(s, "CPU %d is %s since boot%s", s->cpu,
                        cpu_mask_has(&view->isolated, s->cpu) ? "isolated (isolcpus)" : "tickless (nohz_full)",
                        active_cores_wanted(&s->setup) == -1 ? ", the default for that; --cpu takes others" : "");
    } else if (cpu_mask_has(&s->used, active_cores_wanted(&s->setup))) {
        text_list_add(err->text, sizeof err->text, ", ", "but was usable when the measurement began");
        status = err->status = MACHINE_FAILED;
    }
    return status;
}

int native_take_setup(struct native *s, const struct machine_setup *setup, struct cpu_view *view,
                      struct machine_error *err)
{
    snprintf(s->notes, sizeof s->notes, "%s", s->machine_notes);
    if (setup->n_counters > MACHINE_COUNTERS_MAX || setup->max_samples == 0) {
        return machine_fail(err, MACHINE_BAD_INPUT, "",
                            "%zu counters and %zu samples requested: at most %d counters, at least 1 sample",
                            setup->n_counters, setup->max_samples, MACHINE_COUNTERS_MAX);
    }
    if (setup->fixed_ghz != 0) {
        return machine_fail(err, MACHINE_CANNOT, "use --fixed-frequency, as root",
                            "a native machine cannot fix a frequency: it only measures");
    }
    s->setup = *setup;
    if (setup->n_counters > 0) /* else there may be no list at all */
        memcpy(s->counters, setup->counters, setup->n_counters * sizeof *setup->counters);
    s->setup.counters = s->counters;
    return choose_cpu(s, view, err);
}

static void remark_idle(struct native *s, const struct cpu_view *view)
{
    if (s->active_cores > 1 && cpu_mask_count(&view->online) <= s->active_cores) {
        native_note(s, "all CPUs are kept busy, leaving none for the system: expect more interrupted repetitions (use "
                       "fewer active cores to leave one free)");
    }
}

int native_prepare(struct native *s, const struct machine_setup *setup, size_t bytes, struct machine_error *err)
{
    struct cpu_view view;

    native_finish(s);
    /* a sample costs some 40 ns, which leaves almost nothing of a shorter one */
    if (!(setup->period_us >= 0.25 && setup->period_us <= 1e6)) {
        return machine_fail(
            err, MACHINE_BAD_INPUT, "use 0.25 us to 1 s",
            "a sampling period of %g us cannot be kept: samples of a quarter of it would be mostly overhead",
            setup->period_us);
    }
    int status = native_take_setup(s, setup, &view, err);
    if (status != MACHINE_OK)
        return status;
    status = pinning_enter(&s->pinning, s->cpu, bytes, err);
    s->lacking = status == MACHINE_OK ? s->features & ~kernel_cpu_features() : 0;
    cpu_caches_read(s->sys, strcmp(s->sys, "/sys") == 0 ? "/proc" : NULL, s->cpu, &s->caches);
    if (status == MACHINE_OK)
        status = start_corunners(s, &view, err);
    if (status != MACHINE_OK) {
        native_finish(s);
        return status;
    }
    s->prepared = true;
    s->tsc_step = fmax(1, tsc_measure_step());
    s->core_class = cpu_core_class(s->sys, s->cpu);
    native_note(s, "%s", s->pinning.note);
    remark_idle(s, &view);
    return MACHINE_OK;
}

/* ---- how fast a payload runs ---- */

/* A sample's time stamp and loop, us: as on recent cores at 3 GHz. An error changes only the period. */
#define SAMPLE_COST_US 0.025

/* Ticks of a block at full rate: the fastest of several stretches of about 20 us. */
static double block_ticks(const struct payload *p, struct kernel_walk *walk, uint64_t blocks)
{
    double best = INFINITY;

    for (int i = 0; i < 20; i++) {
        uint64_t begin = tsc_now();
        uint64_t done = p->run(blocks, 0, NULL, p->dirty, walk);
        double ticks = (double)(tsc_now() - begin) / (double)done;
        best = ticks < best ? ticks : best;
    }
    return best;
}

void native_lane_measure(const struct payload *p, struct kernel_walk *walk, double tsc_hz, double period_us,
                         struct sampling_lane *lane)
{
    const double tick_per_us = tsc_hz * 1e-6;

    uint64_t begin = tsc_now();
    uint64_t blocks = p->run(1, begin + (uint64_t)(2000 * tick_per_us), NULL, p->dirty, walk);
    double rough = (double)(tsc_now() - begin) / (double)blocks;
    double ticks = block_ticks(p, walk, (uint64_t)fmax(1, 20 * tick_per_us / rough));
    *lane = (struct sampling_lane){.run = p->run, .dirty = p->dirty, .walk = walk};
    lane->lines = pinning_code(p, &lane->code);
    lane->blocks = (uint64_t)fmax(1, ceil((period_us / SAMPLING_A_PERIOD - SAMPLE_COST_US) * tick_per_us / ticks));
}

/* ---- one repetition ---- */

static struct sampling_lane *find_lane(struct native *s, const struct payload *p)
{
    for (size_t i = 0; i < s->n_lanes; i++)
        if (s->lanes[i].run == p->run && s->lanes[i].dirty == p->dirty && s->lanes[i].walk == walks_of(&s->walks, p))
            return &s->lanes[i];
    return NULL;
}

/* The core must have forgotten a kernel that was calibrated: twice the 2 ms that the Intel manual gives for a license
 * to lapse (dissertation on Skylake-SP AVX overhead, section 3.2.3). */
void native_relax(void)
{
    const struct timespec pause = {.tv_nsec = 4000000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

/* Measures each payload that has no lane yet, before anything is recorded. */
static int calibrate(struct native *s, const struct run_request *r, struct machine_error *err)
{
    enum { CALIBRATION_US = 3000 }; /* native_lane_measure(): 2 ms, and 20 stretches of 20 us */
    bool ran = false;

    if (s->n_lanes + r->n_segments > NATIVE_LANES_MAX)
        s->n_lanes = 0; /* rarely so many; they are calibrated again */
    for (size_t i = 0; i < r->n_segments; i++) {
        const struct payload *p = &r->segments[i].payload;
        if (find_lane(s, p) != NULL)
            continue;
        int status = native_make_ready(s, p, err);
        if (status != MACHINE_OK)
            return status;
        pinning_begin(&s->pinning, CALIBRATION_US);
        native_lane_measure(p, walks_of(&s->walks, p), s->tsc.hz, s->setup.period_us, &s->lanes[s->n_lanes++]);
        kernel_clean(p);
        pinning_end(&s->pinning, CALIBRATION_US);
        ran = true;
    }
    if (ran)
        native_relax();
    return MACHINE_OK;
}

int native_check_request(const struct native *s, const struct run_request *r, struct machine_error *err)
{
    unsigned recordings = 0;

    if (!s->prepared)
        return machine_fail(err, MACHINE_FAILED, "", "the %s machine was not prepared", s->name);
    if (r->n_segments == 0 || r->n_segments > SAMPLING_STRETCHES_MAX || r->zero_segment >= r->n_segments) {
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%zu segments with time 0 at number %zu: 1 to %d are possible",
                            r->n_segments, r->zero_segment, SAMPLING_STRETCHES_MAX);
    }
    for (size_t i = 0; i < r->n_segments; i++) {
        double us = r->segments[i].duration_us;
        if (!(us >= 0 && us <= 1e9))
            return machine_fail(err, MACHINE_BAD_INPUT, "", "segment %zu lasts %g us: it must be 0 to 1e9", i, us);
        recordings += r->segments[i].sampled && (i == 0 || !r->segments[i - 1].sampled);
    }
    if (recordings > 1) {
        return machine_fail(err, MACHINE_BAD_INPUT, "",
                            "sampled segments must be consecutive: they form one recording");
    }
    return MACHINE_OK;
}

int native_plan(struct native *s, const struct run_request *r, struct sampling *plan, struct machine_error *err)
{
    const double tick_per_us = s->tsc.hz * 1e-6, period_us = s->setup.period_us;
    double periods = 0;

    int status = native_check_request(s, r, err);
    if (status == MACHINE_OK)
        status = calibrate(s, r, err);
    if (status != MACHINE_OK)
        return status;
    *plan = (struct sampling){
        .n = r->n_segments,
        .zero = r->zero_segment,
        .fine = (uint64_t)llround(r->fine_us * tick_per_us),
        .usual = (uint64_t)llround(period_us / SAMPLING_A_PERIOD * tick_per_us),
        .most = (uint64_t)(GROWTH_MOST_US * tick_per_us),
        .limit = SAMPLING_NEVER,
        .room = native_room(&s->setup),
    };
    for (size_t i = 0; i < r->n_segments; i++) {
        const struct segment *segment = &r->segments[i];
        plan->stretch[i] = (struct sampling_stretch){
            .lane = find_lane(s, &segment->payload),
            .ticks = (uint64_t)llround(segment->duration_us * tick_per_us),
            .sampled = segment->sampled,
            .blocks = segment->blocks,
        };
        double fine_us = r->fine_us > 0 && i >= r->zero_segment ? fmin(r->fine_us, segment->duration_us)
                                                                : segment->duration_us;
        periods += segment->sampled ? fine_us / period_us : 0;
    }
    if (periods > (double)s->setup.max_samples) {
        return machine_fail(err, MACHINE_BAD_INPUT, "",
                            "a repetition needs room for %.0f samples, but only %zu were prepared", ceil(periods),
                            s->setup.max_samples);
    }
    return MACHINE_OK;
}

int native_run(struct native *s, const struct run_request *r, native_sample *sample, struct sampling_log *log,
               uint64_t *words, struct recording *out, struct machine_error *err)
{
    struct sampling plan;
    struct rusage before, after;
    double us = 0;

    memset(out, 0, sizeof *out);
    memset(log, 0, sizeof *log);
    int status = native_plan(s, r, &plan, err);
    if (status != MACHINE_OK)
        return status;
    for (size_t i = 0; i < r->n_segments; i++)
        us += r->segments[i].duration_us;
    pinning_begin(&s->pinning, us);
    for (size_t i = 0; i < r->n_segments; i++)
        pinning_touch(&r->segments[i].payload);
    getrusage(RUSAGE_THREAD, &before);
    sample(s, &plan, log);
    int cpu = sched_getcpu();
    getrusage(RUSAGE_THREAD, &after);
    for (size_t i = 0; i < r->n_segments; i++)
        kernel_clean(&r->segments[i].payload);
    pinning_end(&s->pinning, us);
    *out = (struct recording){
        .n = log->n,
        .stride = 2 + s->setup.n_counters,
        .capacity = native_room(&s->setup),
        .words = words,
        .zero_tsc = log->zero_tsc,
        .zero_reading = log->zero_reading,
        .involuntary_switches = (unsigned)(after.ru_nivcsw - before.ru_nivcsw),
        .page_faults = (unsigned)(after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt),
        .migrated = cpu != s->cpu,
        .cut = log->cut,
    };
    if (log->cut)
        s->n_lanes = 0; /* a kernel may have become faster than it was when it was measured */
    return MACHINE_OK;
}
