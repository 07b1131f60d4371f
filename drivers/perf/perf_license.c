/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks that the license events count what their names say on this very part: event 28H is model-specific, and nobody
 * has published what it counts on some models. */
#include <stdio.h>
#include <string.h>

#include "drivers/perf/perf.h"
#include "drivers/native/native.h"
#include "util/error.h"

/* 2 ms have a million cycles or more: fewer than this were not counted. A kernel's level holds at least this share
 * of its cycles, and the levels together miss or exceed the cycles by at most this share: interrupts come in
 * between, and the counters are read one after the other. Chosen. */
enum { CYCLES_LEAST = 10000 };
static const double OWN_SHARE = 0.9, SUM_TOLERANCE = 0.05;
const char *const perf_license_names[PERF_LICENSE_KERNELS] = {"64add", "256fma", "512fma"};
/* in this order in a reading */
static const enum counter_id counted[5] = {COUNTER_CYCLES, COUNTER_LVL0, COUNTER_LVL1, COUNTER_LVL2, COUNTER_THROTTLE};

/* ---- the verdict ---- */

static void refuse_all(struct perf_license_verdict *out, const char *why)
{
    for (int i = 0; i < EVENTS_LICENSES; i++)
        snprintf(out->why[i], sizeof out->why[i], "%s", why);
}

/* The level at which one kernel runs: `wanted`, or where that is not known (-1) none below `least`. -1, with the
 * reason: at no such level. */
static int level_taken(const struct perf_license_counts *c, int k, int wanted, int least, char *why, size_t size)
{
    uint64_t sum = 0;
    int most = 0;

    for (int i = 0; i < 3; i++) {
        if (c->level[k][i] == COUNTER_MISSING || c->cycles[k] == COUNTER_MISSING)
            return error_line(why, size, "the license-event test failed: not everything was counted with %s",
                              perf_license_names[k]);
        sum += c->level[k][i];
        most = c->level[k][i] > c->level[k][most] ? i : most;
    }
    double cycles = (double)c->cycles[k];
    if (cycles < CYCLES_LEAST)
        return error_line(why, size, "the license-event test failed: %s took at most %.0f cycles",
                          perf_license_names[k], cycles);
    if ((double)sum < (1 - SUM_TOLERANCE) * cycles || (double)sum > (1 + SUM_TOLERANCE) * cycles)
        return error_line(why, size,
                          "the license-event test failed: with %s the three levels sum to %.1f %% of the cycles",
                          perf_license_names[k], 100 * (double)sum / cycles);
    if ((double)c->level[k][most] < OWN_SHARE * cycles || (wanted >= 0 ? most != wanted : most < least))
        return error_line(
            why, size, "the license-event test failed: with %s levels 0, 1, 2 took %.1f, %.1f, %.1f %% of the cycles",
            perf_license_names[k], 100 * (double)c->level[k][0] / cycles, 100 * (double)c->level[k][1] / cycles,
            100 * (double)c->level[k][2] / cycles);
    return most;
}

static void judge_throttle(const struct perf_license_counts *c, char *why, size_t size)
{
    bool seen = false;

    if (!c->has_throttle) {
        snprintf(why, size, "%s",
                 c->throttle_why[0] != '\0' ? c->throttle_why : "this processor has no event for throttled cycles");
        return;
    }
    for (int k = PERF_256FMA; k < PERF_LICENSE_KERNELS; k++) {
        if (!c->ran[k])
            continue;
        /* a throttle lasts 500 us at most, a quarter of what the cycles are counted over */
        if (c->throttle[k] == COUNTER_MISSING || c->throttle[k] > c->cycles[k]) {
            snprintf(why, size,
                     "the throttle-event test failed: it counted more throttled cycles than there were cycles");
            return;
        }
        seen = seen || c->throttle[k] > 0;
    }
    if (!seen)
        snprintf(why, size, "the throttle-event test failed: it counted nothing when wider code started");
}

void perf_license_judge(const struct perf_license_counts *c, const int level_of[PERF_LICENSE_KERNELS],
                        struct perf_license_verdict *out)
{
    bool seen[EVENTS_LVL2 + 1] = {false};
    char why[200];
    int level = 0;

    memset(out, 0, sizeof *out);
    if (!c->ran[PERF_SCALAR] || !c->ran[PERF_256FMA]) {
        refuse_all(out, "the license events cannot be tested here: the CPU has no 256-bit FMA");
        return;
    }
    for (int k = 0; k < PERF_LICENSE_KERNELS; k++) {
        if (!c->ran[k])
            continue;
        level = level_taken(c, k, k == PERF_SCALAR ? 0 : level_of != NULL ? level_of[k] : -1, level, why, sizeof why);
        if (level < 0) {
            refuse_all(out, why);
            return;
        }
        seen[level] = true;
    }
    for (int i = EVENTS_LVL0; i <= EVENTS_LVL2; i++) {
        if (!seen[i]) {
            snprintf(out->why[i], sizeof out->why[i], "license level %d cannot be tested here: %s", i,
                     c->ran[PERF_512FMA] ? "neither 256fma nor 512fma requests it" : "the CPU has no AVX-512");
        }
    }
    judge_throttle(c, out->why[EVENTS_THROTTLE], sizeof out->why[EVENTS_THROTTLE]);
}

/* ---- the measurement ---- */

struct rig {
    const struct perf_system *system;
    struct perf_counter counters[5];
    struct machine_error throttle; /* why the last one cannot be had, if it cannot */
    size_t n;
    struct perf_reader reader;
};

static int open_rig(struct rig *r, const struct perf_pmu *pmu, const struct events_table *table, int cpu,
                    struct machine_error *err)
{
    for (r->n = 0; r->n < 5; r->n++) {
        int event = r->n == 0 ? -1 : table->license[r->n - 1];
        uint64_t code = event < 0 ? 0 : table->entries[event].code;
        if (r->n > 0 && event < 0)
            return MACHINE_OK; /* no throttle event */
        int status = perf_counter_open(r->system, pmu, cpu, counted[r->n], code, &r->counters[r->n], err);
        if (status == MACHINE_OK) {
            status = perf_counter_check(r->system, &r->counters[r->n], counted[r->n], code, 5, err);
            if (status != MACHINE_OK)
                perf_counter_close(r->system, &r->counters[r->n]);
        }
        if (status != MACHINE_OK && r->n == 4) {
            r->throttle = *err;
            return MACHINE_OK;
        }
        if (status != MACHINE_OK)
            return status;
        r->reader.slot[r->n].page = r->counters[r->n].page;
    }
    return MACHINE_OK;
}

/* Readings at the start, after the warm-up, at the end. */
static void count_kernel(struct rig *r, const struct payload *p, double tsc_hz, int k, struct perf_license_counts *out)
{
    uint64_t start[2 + 5], warm[2 + 5], end[2 + 5];
    const struct perf_samplers *s = r->system->samplers;

    native_relax();
    s->read(&r->reader, start);
    s->read(&r->reader, start); /* the first one only finds out for how long the counters were off until now */
    r->system->run(p, (uint64_t)(PERF_LICENSE_WARM_US * 1e-6 * tsc_hz));
    s->read(&r->reader, warm);
    r->system->run(p, (uint64_t)(PERF_LICENSE_COUNT_US * 1e-6 * tsc_hz));
    s->read(&r->reader, end);
    out->cycles[k] = recording_grown(warm[2], end[2]);
    for (int i = 0; i < 3; i++)
        out->level[k][i] = recording_grown(warm[3 + i], end[3 + i]);
    out->has_throttle = r->n == 5;
    out->throttle[k] = r->n == 5 ? recording_grown(start[6], end[6]) : COUNTER_MISSING;
}

static void count_all(struct rig *r, double tsc_hz, struct perf_license_counts *out)
{
    unsigned features = r->system->license_features != 0 ? r->system->license_features : kernel_cpu_features();

    r->reader.n = (unsigned)r->n;
    snprintf(out->throttle_why, sizeof out->throttle_why, "%.150s", r->throttle.text);
    snprintf(out->throttle_remedy, sizeof out->throttle_remedy, "%s", r->throttle.remedy);
    for (int k = 0; k < PERF_LICENSE_KERNELS; k++) {
        const struct payload p = kernel_named(perf_license_names[k]);
        out->ran[k] = (p.kernel->features & ~features) == 0;
        if (out->ran[k])
            count_kernel(r, &p, tsc_hz, k, out);
    }
}

int perf_license_measure(const struct perf_system *system, const struct perf_pmu *pmu, const struct events_table *table,
                         int cpu, double tsc_hz, struct perf_license_counts *out, struct machine_error *err)
{
    struct rig rig = {.system = system};
    struct cpu_mask before;

    memset(out, 0, sizeof *out);
    if (cpu_pin(cpu, &before) != 0) {
        return machine_fail(err, MACHINE_FAILED, "choose another CPU with --cpu",
                            "cannot pin the thread to CPU %d to test the license events", cpu);
    }
    int status = open_rig(&rig, pmu, table, cpu, err);
    if (status == MACHINE_OK)
        count_all(&rig, tsc_hz, out);
    for (size_t i = 0; i < rig.n; i++)
        perf_counter_close(rig.system, &rig.counters[i]);
    cpu_set_affinity(&before);
    return status;
}
