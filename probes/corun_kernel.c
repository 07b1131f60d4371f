/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a fixed number of blocks of a kernel beside others, slice by slice. */
#include "probes/corun_kernel.h"

#include <math.h>

#include "util/splitmix64.h"

/* Of samples, the last of which ends with its slice: reading one takes time, which follows the clock. */
#define SAMPLES 2

static struct machine_setup setup_of(const struct corun_kernel *k, const struct corun_background *b,
                                     const struct counter_spec *cycles)
{
    const bool beside = b->code.kernel != NULL && k->place != CORUN_SAME;
    struct machine_setup s = {.cpu = k->cpu,
                              .active_cores = beside ? 0 : 1,
                              .period_us = k->slice_us / SAMPLES,
                              .fixed_ghz = b->fixed_ghz,
                              .counters = cycles,
                              .n_counters = k->m->ops->lacks(k->m, cycles->id, NULL) == NULL,
                              .max_samples = 100 * SAMPLES, /* at the slowest clock, beside whatever */
                              .seed = splitmix64(b->seed + b->repetition * SPLITMIX64_STEP)};
    if (beside)
        s.corunner = b->code;
    return s;
}

/* True if the work and the other code run on the same CPU in turn. */
static bool is_shared(const struct corun_kernel *k, const struct corun_background *b)
{
    return b->code.kernel != NULL && (k->place == CORUN_SAME || k->place == CORUN_PACKAGE);
}

/* A slice of other code, then one of the work, which alone is sampled: its blocks, or as many as fill the slice. */
static int run_slice(const struct corun_kernel *k, const struct payload *before, uint64_t number,
                     struct recording *seen, struct machine_error *err)
{
    const struct segment segments[] = {
        {.payload = *before, .duration_us = k->slice_us},
        {.payload = k->work, .duration_us = k->blocks > 0 ? 0 : k->slice_us, .sampled = true, .blocks = k->blocks}};
    const struct run_request r = {segments, 2, 1, number, 0};
    const int status = k->m->ops->run(k->m, &r, seen, err);
    return status == MACHINE_OK && seen->n < 2
               ? machine_fail(err, MACHINE_FAILED, "", "a slice of %s has no samples", k->work.name)
               : status;
}

/* The work of a slice, in blocks: as many as it runs alone. */
static int find_blocks(struct corun_kernel *k, uint64_t number, struct machine_error *err)
{
    struct recording seen;
    const int status = run_slice(k, &k->work, number, &seen, err);
    if (status == MACHINE_OK)
        k->blocks = (recording_at(&seen, seen.n - 1)[RECORDING_INSTRUCTIONS] -
                     recording_at(&seen, 0)[RECORDING_INSTRUCTIONS]) /
                    k->work.instructions;
    return status;
}

/* Adds the ticks and cycles (NaN: not counted) of one slice of the work. */
static int add_slice(const struct corun_kernel *k, const struct corun_background *b, uint64_t number, double *ticks,
                     double *cycles, struct machine_error *err)
{
    struct recording seen;
    const int status = run_slice(k, is_shared(k, b) ? &b->code : &k->work, number, &seen, err);
    if (status != MACHINE_OK)
        return status;
    const uint64_t *first = recording_at(&seen, 0), *last = recording_at(&seen, seen.n - 1);
    *ticks += (double)(last[RECORDING_TSC] - first[RECORDING_TSC]);
    *cycles += recording_difference(last, first, seen.stride > RECORDING_COUNTERS ? RECORDING_COUNTERS : -1);
    return MACHINE_OK;
}

int corun_kernel_run(void *data, const struct corun_background *b, struct corun_seen *out, struct machine_error *err)
{
    struct corun_kernel *k = data;
    const struct counter_spec counted = {.id = COUNTER_CYCLES};
    double ticks = 0, cycles = 0;
    struct machine_info info;
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
        status = find_blocks(k, b->repetition, err);
    for (unsigned i = 0; i < k->slices && status == MACHINE_OK; i++)
        status = add_slice(k, b, b->repetition * k->slices + i, &ticks, &cycles, err);
    k->m->ops->info(k->m, &info);
    k->m->ops->finish(k->m);
    const double cpu_s = ticks / info.tsc_hz;
    if (status == MACHINE_OK)
        *out = (struct corun_seen){.time_s = cpu_s + (is_shared(k, b) ? 1e-6 * k->slices * k->slice_us : 0),
                                   .cpu_s = cpu_s,
                                   .ghz = 1e-9 * cycles / cpu_s};
    return status;
}
