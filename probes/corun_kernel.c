/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a fixed number of blocks of a kernel beside others, slice by slice. */
#include "probes/corun_kernel.h"

#include <math.h>

#include "util/splitmix64.h"

#define PERIOD_US 20.0 /* of samples: the end of a slice is that of its last */

static struct machine_setup setup_of(const struct corun_kernel *k, const struct corun_background *b,
                                     const struct counter_spec *cycles)
{
    const bool beside = b->code.kernel != NULL && k->place != CORUN_SAME;
    struct machine_setup s = {.cpu = k->cpu,
                              .active_cores = beside ? 0 : 1,
                              .period_us = PERIOD_US,
                              .counters = cycles,
                              .n_counters = k->m->ops->lacks(k->m, cycles->id, NULL) == NULL,
                              .max_samples = (size_t)(10 * k->slice_us / PERIOD_US),
                              .seed = splitmix64(b->seed + b->repetition * SPLITMIX64_STEP)};
    if (beside)
        s.corunner = b->code;
    return s;
}

/* One slice of the work, after one of the other code where they share a CPU: its time and cycles. */
static int one_slice(const struct corun_kernel *k, const struct corun_background *b, uint64_t number, double *us,
                     double *cycles, struct machine_error *err)
{
    const bool shared = b->code.kernel != NULL && (k->place == CORUN_SAME || k->place == CORUN_PACKAGE);
    const struct payload *before = shared ? &b->code : &k->work;
    const struct segment segments[] = {{.payload = *before, .duration_us = k->slice_us},
                                       {.payload = k->work, .sampled = true, .blocks = k->blocks}};
    const struct run_request r = {segments, 2, 1, number, 0};
    struct machine_info info;
    struct recording seen;
    int status = k->m->ops->run(k->m, &r, &seen, err);
    if (status != MACHINE_OK)
        return status;
    if (seen.n < 2)
        return machine_fail(err, MACHINE_FAILED, "", "a slice of %s has no samples", k->work.name);
    k->m->ops->info(k->m, &info);
    const uint64_t *first = recording_at(&seen, 0), *last = recording_at(&seen, seen.n - 1);
    *us = 1e6 * (double)(last[RECORDING_TSC] - first[RECORDING_TSC]) / info.tsc_hz;
    *cycles = seen.stride > RECORDING_COUNTERS ? recording_difference(last, first, RECORDING_COUNTERS) : NAN;
    return MACHINE_OK;
}

/* The work of a slice, in blocks: as many as it runs alone. */
static int find_blocks(struct corun_kernel *k, const struct corun_background *b, struct machine_error *err)
{
    const struct segment segments[] = {{.payload = k->work, .duration_us = k->slice_us},
                                       {.payload = k->work, .duration_us = k->slice_us, .sampled = true}};
    const struct run_request r = {segments, 2, 1, b->repetition, 0};
    struct recording seen;
    int status = k->m->ops->run(k->m, &r, &seen, err);
    if (status == MACHINE_OK && seen.n < 2)
        status = machine_fail(err, MACHINE_FAILED, "", "a slice of %s has no samples", k->work.name);
    if (status == MACHINE_OK)
        k->blocks = (recording_at(&seen, seen.n - 1)[RECORDING_INSTRUCTIONS] -
                     recording_at(&seen, 0)[RECORDING_INSTRUCTIONS]) /
                    k->work.instructions;
    return status;
}

int corun_kernel_run(void *data, const struct corun_background *b, struct corun_seen *out, struct machine_error *err)
{
    struct corun_kernel *k = data;
    const struct counter_spec counted = {.id = COUNTER_CYCLES};
    const bool shared = b->code.kernel != NULL && (k->place == CORUN_SAME || k->place == CORUN_PACKAGE);
    double all_us = 0, all_cycles = 0;
    *out = (struct corun_seen){NAN, NAN, NAN};
    if (b->every_us > 0)
        return machine_fail(err, MACHINE_CANNOT, "omit --duty", "on models, background code runs without a pause");
    if (k->place == CORUN_SIBLING)
        return machine_fail(err, MACHINE_CANNOT, "use --on same, core or package", "models have no sibling threads");
    const struct machine_setup setup = setup_of(k, b, &counted);
    int status = k->m->ops->prepare(k->m, &setup, err);
    if (status != MACHINE_OK)
        return status;
    if (k->blocks == 0)
        status = find_blocks(k, b, err);
    for (unsigned i = 0; i < k->slices && status == MACHINE_OK; i++) {
        double us = 0, cycles = 0;
        status = one_slice(k, b, b->repetition * k->slices + i, &us, &cycles, err);
        all_us += us;
        all_cycles += cycles;
    }
    k->m->ops->finish(k->m);
    if (status == MACHINE_OK)
        *out = (struct corun_seen){.time_s = 1e-6 * (all_us + (shared ? k->slices * k->slice_us : 0)),
                                   .cpu_s = 1e-6 * all_us,
                                   .ghz = 1e-3 * all_cycles / all_us};
    return status;
}
