/* SPDX-License-Identifier: GPL-3.0-or-later */
/* As in drivers/timing/timing_sample.c: no vector instruction of the compiler's. */
#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 11
#pragma GCC target("general-regs-only")
#endif
#include "drivers/native/burst_loop.h"

#include "computer/cpu/tsc.h"

/* Plain work from `now` until `until`, piece by piece. Returns the TSC at its end. */
static uint64_t plain_work(const struct burst_loop *l, uint64_t now, uint64_t until, struct burst *out)
{
    while ((int64_t)(until - now) > 0) {
        uint64_t end = until - now > l->piece + l->piece / 2 ? now + l->piece : until;
        uint64_t blocks = l->plain(l->chunk, end, NULL, l->plain_dirty, l->plain_walk), then = tsc_now();
        if ((int64_t)(then - end) > (int64_t)l->patience) {
            out->lost += then - now;
        } else {
            out->plain += then - now;
            out->instructions += blocks * l->instructions;
        }
        now = then;
    }
    return now;
}

static void wide_work(const struct burst_loop *l)
{
    if (l->blocks > 0)
        l->wide(l->blocks, 0, NULL, l->wide_dirty, NULL); /* no kernel with shots walks */
    l->shot(l->rest, l->wide_dirty);
}

void burst_loop_run(const struct burst_loop *l, unsigned n, struct burst *out)
{
    struct burst unseen = {0};
    uint64_t now = tsc_now(), next;

    now = plain_work(l, now, now + l->before, &unseen);
    next = now;
    for (unsigned i = 0; i < l->skipped + n; i++) {
        struct burst b = {0};
        uint64_t begin = now;
        wide_work(l);
        now = tsc_now();
        b.wide = now - begin;
        next += l->period;
        if ((int64_t)(now - next) > 0)
            next = now; /* a burst that took longer than the period, or an interruption */
        now = plain_work(l, now, next, &b);
        if (i >= l->skipped)
            out[i - l->skipped] = b;
    }
}
