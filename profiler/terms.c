/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The terms that the profiler takes from an export: turbo frequencies, waits, what changes cost. */
#include "profiler/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "schedulers/simulate/params.h"

/* Section 4.2.1: longer than the 670 us for which the processor keeps a level; and by how much a pause is to be longer
 * than a wait that was measured. */
enum { TERMS_PAUSE_US = 700, TERMS_MARGIN_US = 30 };

/* kHz in one unit of a simulated speed */
enum { TERMS_KHZ = 1000 / SIM_UNITS_PER_MHZ };

void profile_terms_none(struct profile_terms *out, struct profile_setup *setup)
{
    *out = (struct profile_terms){.wait_us = NAN};
    for (unsigned level = 0; level < PROFILE_LEVELS; level++)
        out->change_us[level] = out->breakeven_us[level] = NAN;
    setup->pause_us = TERMS_PAUSE_US;
    setup->n_bins = 0;
}

static unsigned terms_levels(const struct sim_params *p)
{
    unsigned levels = p->levels;
    return levels < PROFILE_LEVELS ? levels : PROFILE_LEVELS;
}

/* ---- bins ---- */

/* The largest difference between two bins at a level, a share. */
static double difference(const struct profile_bin *a, const struct profile_bin *b)
{
    double most = 0;
    for (unsigned level = 0; level < PROFILE_LEVELS; level++)
        if (a->khz[level] > 0)
            most = fmax(most, fabs((double)b->khz[level] / a->khz[level] - 1));
    return most;
}

/* Makes one of bins i and i + 1. */
static void merge(struct profile_bin *bin, size_t *n, size_t i)
{
    for (unsigned level = 0; level < PROFILE_LEVELS; level++)
        bin[i].khz[level] = (uint32_t)(((uint64_t)bin[i].khz[level] + bin[i + 1].khz[level]) / 2);
    bin[i].cores = bin[i + 1].cores;
    for (size_t k = i + 1; k + 1 < *n; k++)
        bin[k] = bin[k + 1];
    --*n;
}

static void compress(struct profile_bin *bin, size_t *n)
{
    while (*n > PROFILE_BINS_MAX) {
        size_t nearest = 0;
        for (size_t i = 1; i + 1 < *n; i++)
            if (difference(&bin[i], &bin[i + 1]) < difference(&bin[nearest], &bin[nearest + 1]))
                nearest = i;
        merge(bin, n, nearest);
    }
}

static struct profile_bin terms_bin(struct sim_params *p, unsigned cores)
{
    struct profile_bin b = {.cores = cores};
    for (unsigned level = 0; level < terms_levels(p); level++)
        b.khz[level] = sim_params_speed(p, level, cores) * TERMS_KHZ;
    return b;
}

/* False: out of memory. */
static bool terms_bins(struct sim_params *p, struct profile_setup *setup)
{
    unsigned cores = p->cores;
    struct profile_bin *bin = calloc(cores, sizeof(*bin));
    size_t n = 0;
    if (bin == NULL)
        return false;
    for (unsigned i = 1; i <= cores; i++) {
        bin[n++] = terms_bin(p, i);
        if (n > 1 && difference(&bin[n - 2], &bin[n - 1]) <= 0)
            bin[--n - 1].cores = i;
    }
    compress(bin, &n);
    for (size_t i = 0; i < n; i++)
        setup->bin[i] = bin[i];
    setup->n_bins = (uint32_t)n;
    free(bin);
    return true;
}

/* ---- waits and costs ---- */

static double terms_us(int64_t ps)
{
    return (double)ps / SIM_PS_PER_US;
}

static double longest_wait(struct sim_params *p)
{
    double longest = NAN;
    struct sim_wait wait;
    for (unsigned from = 1; from < terms_levels(p); from++)
        for (unsigned to = 0; to < from; to++)
            if (sim_params_wait(p, from, to, &wait, NULL) == 0)
                longest = fmax(longest, terms_us(wait.long_ps > wait.usual_ps ? wait.long_ps : wait.usual_ps));
    return longest;
}

/* Over all bins the mean of what a change costs, and the least that may pay for it. */
static void terms_costs(struct sim_params *p, unsigned level, const struct profile_setup *setup,
                        struct profile_terms *out)
{
    double sum = 0;
    for (uint32_t i = 0; i < setup->n_bins; i++) {
        unsigned cores = setup->bin[i].cores;
        const struct sim_change *down = sim_params_down(p, 0, level, SIM_NONE, cores, NULL);
        int64_t up = sim_params_up(p, level, 0, cores, NULL);
        int64_t breakeven = sim_params_breakeven(p, 0, level, cores, NULL);
        sum += down != NULL && up >= 0 ? (down->total_ps + (double)up) / SIM_PS_PER_US : NAN;
        if (breakeven >= 0 && breakeven != SIM_FOREVER)
            out->breakeven_us[level] = fmin(out->breakeven_us[level], terms_us(breakeven));
    }
    out->change_us[level] = sum / setup->n_bins;
}

/* Longer than the wait, and as the module permits it: a shorter pause would lose just the samples that are slowed. */
static int terms_pause(const char *path, double wait_us, uint32_t *pause_us, struct machine_error *err)
{
    double pause = isnan(wait_us) ? TERMS_PAUSE_US : ceil(wait_us) + TERMS_MARGIN_US;
    if (wait_us <= 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%s: a level is held for 0 us: such waits were not measured",
                            path);
    if (pause > PROFILE_PAUSE_US_MAX)
        return machine_fail(err, MACHINE_BAD_INPUT, "",
                            "%s: a level is held for up to %.0f us, and the pause has to be %d us longer: at most %d "
                            "us are permitted",
                            path, wait_us, TERMS_MARGIN_US, PROFILE_PAUSE_US_MAX);
    *pause_us = (uint32_t)fmax(pause, PROFILE_PAUSE_US_MIN);
    return MACHINE_OK;
}

int profile_terms_read(const char *export_path, struct profile_terms *out, struct profile_setup *setup, char *cpu,
                       size_t size, struct machine_error *err)
{
    struct sim_params *p;
    profile_terms_none(out, setup);
    int status = sim_params_read(export_path, &p, err);
    if (status != MACHINE_OK)
        return status;
    if (!terms_bins(p, setup)) {
        sim_params_free(p);
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    }
    snprintf(cpu, size, "%s", p->cpu);
    out->wait_us = longest_wait(p);
    for (unsigned level = 1; level < terms_levels(p); level++)
        terms_costs(p, level, setup, out);
    status = terms_pause(export_path, out->wait_us, &setup->pause_us, err);
    sim_params_free(p);
    return status;
}
