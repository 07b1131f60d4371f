/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bursts of wide instructions, and first uses of a unit after an idle time, in user space. */
#include "drivers/native/native.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "drivers/native/burst_loop.h"
#include "kernels/first_use.h"
#include "util/order.h"

static int possible(struct native *s, const struct bursts_request *r, struct machine_error *err)
{
    if (!s->prepared)
        return machine_fail(err, MACHINE_FAILED, "", "the %s machine was not prepared", s->name);
    int status = machine_bursts_check(r, err);
    if (status == MACHINE_OK)
        status = native_make_ready(s, &r->plain, err);
    return status == MACHINE_OK ? native_check_features(s, &r->wide, err) : status;
}

/* Blocks in half a microsecond, about: two looks at the clock are so far apart. */
static uint64_t blocks_between_looks(const struct payload *p, struct kernel_walk *walk, double tick_per_us)
{
    enum { TRIED = 16, TIMES = 5 }; /* blocks, a few us; of five runs one is not interrupted */
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < TIMES; i++) {
        uint64_t begin = tsc_now();
        p->run(TRIED, 0, NULL, p->dirty, walk);
        uint64_t ticks = tsc_now() - begin;
        least = ticks < least ? ticks : least;
    }
    return (uint64_t)fmax(1, 0.5 * tick_per_us * TRIED / (double)least);
}

static void bursts_plan(struct native *s, const struct bursts_request *r, struct burst_loop *l)
{
    const double tick_per_us = s->tsc.hz * 1e-6;
    const struct payload narrow = kernel_named("128or");
    *l = (struct burst_loop){.plain = r->plain.run,
                             .plain_walk = walks_of(&s->walks, &r->plain),
                             .plain_dirty = r->plain.dirty,
                             .chunk = blocks_between_looks(&r->plain, walks_of(&s->walks, &r->plain), tick_per_us),
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
    const double us = r->before_us + (r->skipped + r->bursts) * r->every_us;
    struct burst_loop loop;
    struct cpu_mask affinity;
    struct rusage before, after;

    int status = possible(s, r, err);
    if (status != MACHINE_OK)
        return status;
    if (cpu_pin(s->cpu, &affinity) != 0) {
        return machine_fail(err, MACHINE_CANNOT, "choose another CPU with --cpu", "CPU %d cannot be used: %s", s->cpu,
                            strerror(errno));
    }
    memset(out, 0, r->bursts * sizeof *out); /* its pages are there before the first burst */
    pinning_begin(&s->pinning, us);
    pinning_touch(&r->plain);
    pinning_touch(&r->wide);
    bursts_plan(s, r, &loop);
    getrusage(RUSAGE_THREAD, &before);
    burst_loop_run(&loop, r->bursts, out);
    struct recording seen = {.migrated = sched_getcpu() != s->cpu};
    getrusage(RUSAGE_THREAD, &after);
    pinning_end(&s->pinning, us);
    cpu_set_affinity(&affinity);
    kernel_clean(&r->plain);
    seen.involuntary_switches = (unsigned)(after.ru_nivcsw - before.ru_nivcsw);
    seen.page_faults = (unsigned)(after.ru_minflt - before.ru_minflt);
    *disturbed = recording_disturbed(&seen);
    return MACHINE_OK;
}

/* ---- first uses ---- */

/* A place is at full rate if so many blocks in a row are, as most of the next 1 to 2 us: a busy sibling thread and
 * interruptions come later, too. */
enum { READINGS_MOST = 4096, ALIKE = 3, NEXT = 32 };

size_t native_first_use_full(const uint64_t *ticks, size_t n, double *scratch)
{
    const size_t from = n - n / 4 - 1;
    size_t slow_next = 0, fast = 0, full = n;

    if (n < 4 * ALIKE)
        return n;
    for (size_t i = from; i + 1 < n; i++)
        scratch[i - from] = (double)(ticks[i + 1] - ticks[i]);
    double slow = FIRST_USE_SLOW * order_median(scratch, n - 1 - from);
    for (size_t i = n - 1; i > 0; i--) { /* block i is between readings i - 1 and i */
        bool is_slow = (double)(ticks[i] - ticks[i - 1]) > slow;
        fast = is_slow ? 0 : fast + 1;
        slow_next += is_slow;
        if (i + NEXT < n)
            slow_next -= (double)(ticks[i + NEXT] - ticks[i + NEXT - 1]) > slow;
        if (fast >= ALIKE && 2 * slow_next < NEXT)
            full = i - 1;
    }
    return full;
}

static first_use_fn *first_use_of(const struct first_use_request *r)
{
    const struct kernel *k = r->warm.kernel;

    if (k->features & KERNEL_NEEDS_AMX_BF16)
        return r->released ? kernel_first_amx_released : r->warm.dirty ? kernel_first_amx_dirty : kernel_first_amx;
    if (k->width == 256)
        return k->features == KERNEL_NEEDS_AVX ? kernel_first_256_avx : kernel_first_256;
    return k->width == 512 ? kernel_first_512 : NULL;
}

static int check_first_use(struct native *s, const struct first_use_request *r, struct machine_error *err)
{
    if (!s->prepared)
        return machine_fail(err, MACHINE_FAILED, "", "the %s machine was not prepared", s->name);
    if (!first_use_of(r))
        return machine_fail(err, MACHINE_CANNOT, "",
                            "first uses can only be measured for 256-bit and 512-bit units and for tiles");
    if (!(r->warm_us > 0 && r->warm_us <= 1e6 && r->idle_us >= 0 && r->idle_us <= 1e6 && r->observe_us > 0 &&
          r->observe_us <= 1e4))
        return machine_fail(err, MACHINE_BAD_INPUT, "", "idle times of at most a second can be measured");
    return native_make_ready(s, &r->warm, err);
}

int native_first_use(struct machine *m, const struct first_use_request *r, struct first_use_seen *out,
                     struct machine_error *err)
{
    static const double us = 1e-6;
    struct native *s = m->state;
    struct kernel_walk *walk = walks_of(&s->walks, &r->warm);
    uint64_t ticks[READINGS_MOST], begin, read;
    double scratch[READINGS_MOST], tick_us = 1e6 / s->tsc.hz;
    size_t n = 0;
    int status = check_first_use(s, r, err);

    if (status != MACHINE_OK)
        return status;
    first_use_fn *first = first_use_of(r);
    read = kernel_first_nothing(0, &begin) - begin;
    r->warm.run(1, tsc_now() + (uint64_t)(r->warm_us * us * s->tsc.hz), NULL, r->warm.dirty, walk);
    uint64_t idle = tsc_now();
    uint64_t end = first(idle + (uint64_t)(r->idle_us * us * s->tsc.hz), &begin);
    for (; n < READINGS_MOST && ((ticks[n] = tsc_now()) - begin) * tick_us < r->observe_us; n++)
        r->warm.run(1, 0, NULL, 0, walk);
    size_t full = native_first_use_full(ticks, n, scratch);
    *out = (struct first_use_seen){.idle_us = (double)(begin - idle) * tick_us,
                                   .first_us = (double)(end - begin) * tick_us,
                                   .full_rate_us = full < n ? (double)(ticks[full] - begin) * tick_us : (double)NAN,
                                   .read_us = (double)read * tick_us};
    if (end <= begin || begin < idle || sched_getcpu() != s->cpu)
        out->first_us = out->full_rate_us = (double)NAN;
    return MACHINE_OK;
}
