/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials of one workload, and the buffer that puts its loads at a level of the memory hierarchy. */
#include "probes/trials.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t BYTES_MOST = UINT64_C(1) << 30;

/* The largest power of two that is not above it; 0 of 0. */
static uint64_t two_below(uint64_t x)
{
    uint64_t two = x > 0;
    while (two > 0 && two <= x / 2)
        two *= 2;
    return two;
}

static uint64_t two_above(uint64_t x)
{
    uint64_t two = two_below(x);
    return two < x ? 2 * two : two;
}

static uint64_t fewer_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int refuse_place(const char *what, struct machine_error *err)
{
    return machine_fail(err, MACHINE_CANNOT, "", "%s", what);
}

static int third_cache_bytes(const struct cpu_caches *c, uint64_t *bytes, struct machine_error *err)
{
    uint64_t twice_l2 = 2 * two_above(c->l2);

    *bytes = two_below(c->share / 2);
    if (*bytes < twice_l2)
        *bytes = twice_l2;
    if (c->l3 == 0)
        return refuse_place("this CPU has no L3 cache, or its size is unknown", err);
    if (*bytes > c->l3 / 2)
        return refuse_place("the L3 cache is too small compared with L2 to be distinguished", err);
    return MACHINE_OK;
}

static int memory_bytes(const struct cpu_caches *c, bool beyond, uint64_t *bytes, struct machine_error *err)
{
    uint64_t last = c->l3 ? c->l3 : c->l2 ? c->l2 : c->l1;

    if (last == 0)
        return refuse_place("the sizes of this CPU's caches are unknown", err);
    *bytes = fewer_of(two_above(4 * last), BYTES_MOST);
    if (c->memory > 0)
        *bytes = fewer_of(*bytes, two_below(c->memory / 4));
    if (beyond && *bytes <= 2 * last) {
        return machine_fail(err, MACHINE_CANNOT, "free some memory",
                            "a buffer of %llu MiB (at most 1 GiB, and a quarter of the free memory) is not enough "
                            "larger than the last-level cache, %llu MiB",
                            (unsigned long long)(*bytes >> 20), (unsigned long long)(last >> 20));
    }
    return MACHINE_OK;
}

int trials_bytes(const struct cpu_caches *c, enum trials_place place, size_t *bytes, struct machine_error *err)
{
    uint64_t own = place == TRIALS_L1 ? c->l1 : c->l2, found = 0;
    int status = MACHINE_OK;

    if (place == TRIALS_L3)
        status = third_cache_bytes(c, &found, err);
    else if (place == TRIALS_MEMORY || place == TRIALS_SIZE)
        status = memory_bytes(c, place == TRIALS_MEMORY, &found, err);
    else if (place != TRIALS_NOWHERE && own < 1024)
        status = refuse_place("the size of this cache is unknown", err);
    else if (place != TRIALS_NOWHERE)
        found = two_below(own / 2);
    *bytes = (size_t)found;
    return status;
}

static int trials_prepared(struct machine *m, const struct trials_setup *s, struct trials_result *out,
                           struct machine_error *err)
{
    struct trials_request request = s->request;
    struct machine_info info;
    size_t bytes;

    m->ops->info(m, &info);
    int status = trials_bytes(&info.caches, s->place, &bytes, err);
    if (status != MACHINE_OK)
        return status;
    if (s->place == TRIALS_SIZE && request.bytes > bytes)
        return MACHINE_OK;
    out->bytes = request.bytes = s->place == TRIALS_SIZE ? request.bytes : bytes;
    request.branches = out->branches;
    status = m->ops->trials(m, &request, out->duration, &out->seen, err);
    if (out->seen.uncounted[0] != '\0')
        out->branches = NULL;
    return status;
}

int trials_measure(struct machine *m, const struct trials_setup *s, struct trials_result *out,
                   struct machine_error *err)
{
    struct machine_setup setup = s->machine;

    memset(out, 0, sizeof *out);
    if (!m->ops->trials)
        return machine_fail(err, MACHINE_CANNOT, "use --machine timing, perf or msr, or model:NAME",
                            "this machine cannot run trials");
    setup.period_us = 1;
    setup.max_samples = 1;
    setup.counters = NULL;
    setup.n_counters = 0;
    const size_t n = s->request.trials ? s->request.trials : 1;
    out->duration = calloc(n, sizeof *out->duration + sizeof *out->branches);
    if (!out->duration)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    if (s->request.workload == WORKLOAD_BRANCH)
        out->branches = (struct trial_branches *)(void *)(out->duration + n);
    int status = m->ops->prepare(m, &setup, err);
    if (status == MACHINE_OK) {
        status = trials_prepared(m, s, out, err);
        m->ops->finish(m);
    }
    if (status != MACHINE_OK) {
        free(out->duration);
        memset(out, 0, sizeof *out);
    }
    return status;
}
