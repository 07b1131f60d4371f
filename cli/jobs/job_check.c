/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --check environment: what of this computer disturbs a measurement (doc/quiet-machine.md). */

#include "cli/files.h"
#include "cli/jobs/jobs.h"
#include "cli/changed_settings.h"
#include "cli/messages.h"
#include "computer/environment/environment.h"
#include "computer/environment/findings.h"
#include "computer/cpu/tsc.h"
#include "drivers/native/core_pairs_measure.h"
#include "probes/disturbances.h"
#include "util/screen_text.h"

enum { JSON_BYTES = 100000 };
static const double CHECK_SECONDS = 1; /* of counting, where --seconds does not say: a hundred ticks at CONFIG_HZ=100 */

struct check {
    const struct options *o;
    struct environment environment;
    struct core_pairs pairs;
    double tsc_hz; /* 0: pairs are not measured */
    struct findings findings;
};

/* ---- looking ---- */

/* The CPU that would be measured, here or on the machine of these files. */
static int choose_checked_cpu(const struct options *o, int *cpu)
{
    struct machine_error error;
    char sys[200];
    snprintf(sys, sizeof sys, "%.180s/sys", o->sysroot ? o->sysroot : "");
    return measured_cpu(o, sys, cpu, &error) == MACHINE_OK ? DONE : complain_of_machine("--cpu", &error);
}

struct counting {
    struct progress progress;
    double seconds;
};

/* Never stops it: nothing has to be put back, so a signal ends the program at once. */
static int check_on_progress(void *data)
{
    struct counting *c = data;
    double elapsed = progress_due(&c->progress);
    if (elapsed > 0)
        progress_show(c->seconds > elapsed ? c->seconds - elapsed : 0, "counting");
    return 0;
}

/* Which CPUs share a core: before and after counting, as a hypervisor may move them in between. Only where one may say
 * it wrongly; what cannot be measured is left out. */
static void pairs_begin(struct check *c)
{
    struct cpu_leaves leaves;
    struct cpu_identity id;
    struct cpu_view view;
    double error;
    cpu_read_leaves(&leaves);
    cpu_identify(&leaves, &id);
    cpu_view_read("/sys", &view);
    if (c->o->sysroot != NULL || !id.hypervisor || tsc_calibrate(&c->tsc_hz, &error) != 0 ||
        core_pairs_begin("/sys", &view, 2 * CORE_PAIRS_ROUNDS_MOST, tsc_now(), &c->pairs) != 0)
        c->tsc_hz = 0;
}

static void pairs_measure(struct check *c)
{
    struct machine_error ignored;
    const bool measured = c->tsc_hz > 0 &&
                          core_pairs_measure(&c->pairs, NULL, c->tsc_hz, CORE_PAIRS_SECONDS_MOST, &ignored) == 0;
    c->environment.pairs = measured ? &c->pairs : NULL;
}

/* How disturbances grow: found by running code, so not on another machine. */
static void check_disturbance(struct environment *e)
{
    static const char *const kinds[] = {[DISTURBANCE_UNDECIDED] = "undecided",
                                        [DISTURBANCE_CLOCK] = "clock",
                                        [DISTURBANCE_STOLEN] = "stolen time",
                                        [DISTURBANCE_BOTH] = "both"};
    struct environment_disturbance *out = &e->disturbance;
    struct machine_error error;
    struct disturbance_slices slices;
    struct disturbance d = {DISTURBANCE_UNDECIDED, {NAN, NAN, NAN}, NAN, NAN, ""};
    if (disturbances_measure(e->cpu, &slices, &error) == MACHINE_OK) {
        disturbance_find(&slices, &d);
        snprintf(out->why, sizeof out->why, "%s", d.why);
    } else {
        snprintf(out->why, sizeof out->why, "%.290s", error.text);
    }
    out->is = kinds[d.kind];
    out->slope = d.slope.value;
    out->lo = d.slope.lo;
    out->hi = d.slope.hi;
    out->each_us = d.each_us;
    out->part = d.part;
}

static int check_read(struct check *c)
{
    struct machine_error error;
    struct counting counting = {.seconds = c->o->profile.seconds.given ? c->o->profile.seconds.value : CHECK_SECONDS};
    const char *root = c->o->sysroot != NULL ? c->o->sysroot : "";
    int cpu, status = choose_checked_cpu(c->o, &cpu);
    if (status != DONE)
        return status;
    pairs_begin(c);
    pairs_measure(c);
    if (environment_is_files(root))
        counting.seconds = 0;
    progress_begin(&counting.progress, c->o->quiet || counting.seconds == 0);
    status = environment_read(root, cpu, counting.seconds, check_on_progress, &counting, &c->environment, &error);
    progress_end(&counting.progress);
    if (status != MACHINE_OK)
        return complain_of_machine(c->o->sysroot != NULL ? "--sysroot" : "--check", &error);
    pairs_measure(c);
    if (c->o->sysroot == NULL)
        check_disturbance(&c->environment);
    return findings_of(&c->environment, &c->findings) == 0 ? DONE : complain_out_of_memory();
}

/* ---- telling ---- */

static int check_print_json(FILE *stream, const void *data)
{
    const struct check *c = data;
    return file_print_json(stream, environment_json(&c->environment, &c->findings, c->o->sysroot));
}

static int check_tell(const struct check *c)
{
    FILE *screen = file_is_stdout(c->o->json) ? stderr : stdout;
    environment_print(screen, &c->environment, &c->findings, screen_text_width(screen));
    int status = c->o->json != NULL ? file_write(c->o->json, check_print_json, c) : DONE;
    if (status != DONE || !c->o->strict)
        return status;
    if (findings_count(&c->findings, FINDING_DISTURBS) > 0)
        return DEVIATES;
    return findings_count(&c->findings, FINDING_UNKNOWN) > 0 ? CANNOT : DONE;
}

int job_check(const struct options *o)
{
    struct check c = {.o = o};
    int status = file_check(o->json, JSON_BYTES);
    if (status == DONE)
        status = check_read(&c);
    if (status == DONE)
        status = check_tell(&c);
    findings_free(&c.findings);
    environment_free(&c.environment);
    core_pairs_free(&c.pairs);
    return status;
}
