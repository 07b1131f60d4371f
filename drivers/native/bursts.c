/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/native/native.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <string.h>

#include "drivers/bursts.h"
#include "drivers/native/burst_loop.h"

static int bursts_possible(const struct native *s, const struct bursts_request *r, struct machine_error *err)
{
    if (!s->prepared)
        return machine_fail(err, MACHINE_FAILED, "", "the %s machine was not prepared", s->name);
    int status = bursts_check(r, err);
    if (status == MACHINE_OK)
        status = native_check_features(s, &r->plain, err);
    return status == MACHINE_OK ? native_check_features(s, &r->wide, err) : status;
}

/* Blocks in half a microsecond, about: two looks at the clock are so far apart. */
static uint64_t blocks_between_looks(const struct payload *p, double tick_per_us)
{
    enum { TRIED = 16, TIMES = 5 };
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < TIMES; i++) {
        uint64_t begin = tsc_now();
        p->run(TRIED, 0, NULL, p->dirty);
        uint64_t ticks = tsc_now() - begin;
        least = ticks < least ? ticks : least;
    }
    return (uint64_t)fmax(1, 0.5 * tick_per_us * TRIED / (double)least);
}

static void bursts_plan(const struct native *s, const struct bursts_request *r, struct burst_loop *l)
{
    const double tick_per_us = s->tsc.hz * 1e-6;
    const struct payload narrow = kernel_named("128or");
    *l = (struct burst_loop){.plain = r->plain.run,
                             .plain_dirty = r->plain.dirty,
                             .chunk = blocks_between_looks(&r->plain, tick_per_us),
                             .instructions = r->plain.instructions,
                             .wide = r->wide.run,
                             /* of no instruction: also none that is begun in vain, where a branch is mispredicted */
                             .shot = kernel_shot(r->count > 0 ? &r->wide : &narrow),
                             .blocks = r->count >= BURSTS_BLOCKS_FROM ? r->count / r->wide.counted : 0,
                             .wide_dirty = r->wide.dirty,
                             .period = (uint64_t)llround(r->every_us * tick_per_us),
                             .before = (uint64_t)llround(r->before_us * tick_per_us),
                             .piece = (uint64_t)llround(BURSTS_PIECE_US * tick_per_us),
                             .patience = (uint64_t)llround(BURSTS_PATIENCE_US * tick_per_us),
                             .skipped = r->skipped};
    l->rest = r->count - l->blocks * r->wide.counted;
}

int native_bursts(struct machine *m, const struct bursts_request *r, struct burst *out, const char **disturbed,
                  struct machine_error *err)
{
    struct native *s = m->state;
    struct native_watch watch = {.us = r->before_us + (r->skipped + r->bursts) * r->every_us};
    struct burst_loop loop;
    struct cpu_mask affinity;
    struct rusage after;

    int status = bursts_possible(s, r, err);
    if (status != MACHINE_OK)
        return status;
    if (cpu_pin(s->cpu, &affinity) != 0) {
        return machine_fail(err, MACHINE_CANNOT, "choose another CPU with --cpu", "CPU %d cannot be used: %s", s->cpu,
                            strerror(errno));
    }
    memset(out, 0, r->bursts * sizeof *out); /* its pages are there before the first burst */
    pinning_begin(&s->pinning, watch.us);
    pinning_touch(&r->plain);
    pinning_touch(&r->wide);
    bursts_plan(s, r, &loop);
    getrusage(RUSAGE_THREAD, &watch.before);
    burst_loop_run(&loop, r->bursts, out);
    struct recording seen = {.migrated = sched_getcpu() != s->cpu};
    getrusage(RUSAGE_THREAD, &after);
    pinning_end(&s->pinning, watch.us);
    cpu_set_affinity(&affinity);
    seen.involuntary_switches = (unsigned)(after.ru_nivcsw - watch.before.ru_nivcsw);
    seen.page_faults = (unsigned)(after.ru_minflt - watch.before.ru_minflt);
    *disturbed = recording_disturbed(&seen);
    return MACHINE_OK;
}
