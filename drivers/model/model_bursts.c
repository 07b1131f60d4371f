/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/model/model_machine.h"

#include <math.h>

enum { CHUNKS_PER_PIECE = 40 };

static uint64_t ticks_of(const struct model_core *c, double us)
{
    return (uint64_t)llround(us * c->model->tsc_hz * 1e-6);
}

/* Plain work until `until`, piece by piece: after each chunk of a piece the thread looks at the clock, if it runs. */
static int model_plain_work(struct model_core *c, const struct payload *p, double until, struct burst *out,
                            struct machine_error *err)
{
    int status = model_core_run(c, p, err);
    const double chunk = fmax(1, BURSTS_PIECE_US / CHUNKS_PER_PIECE * 1e3);
    double plain = 0, lost = 0, work = 0;
    while (status == MACHINE_OK && c->now < until) {
        double begin = c->now, end = until - begin > 1.5 * BURSTS_PIECE_US ? begin + BURSTS_PIECE_US : until;
        double done = model_core_advance(c, end, INFINITY);
        if (!model_core_executes(c))
            done += model_core_advance(c, INFINITY, chunk);
        bool interrupted = c->now - end > BURSTS_PATIENCE_US;
        *(interrupted ? &lost : &plain) += c->now - begin;
        work += interrupted ? 0 : done;
    }
    model_core_returned(c);
    out->plain = ticks_of(c, plain);
    out->lost = ticks_of(c, lost);
    out->instructions = (uint64_t)llround(work);
    return status;
}

static int model_wide_work(struct model_core *c, const struct bursts_request *r, struct burst *out,
                           struct machine_error *err)
{
    double begin = c->now;
    int status = r->count > 0 ? model_core_run(c, &r->wide, err) : MACHINE_OK;
    if (status == MACHINE_OK && r->count > 0) {
        model_core_advance(c, INFINITY, (double)r->count);
        model_core_returned(c);
    }
    out->wide = ticks_of(c, c->now - begin);
    return status;
}

int model_bursts(struct model_core *c, const struct bursts_request *r, struct burst *out, struct machine_error *err)
{
    struct burst unseen;
    int status = model_plain_work(c, &r->plain, c->now + r->before_us, &unseen, err);
    double next = c->now;
    for (unsigned i = 0; i < r->skipped + r->bursts && status == MACHINE_OK; i++) {
        struct burst b = {0};
        status = model_wide_work(c, r, &b, err);
        next = fmax(next + r->every_us, c->now);
        if (status == MACHINE_OK && r->every_us > 0)
            status = model_plain_work(c, &r->plain, next, &b, err);
        if (i >= r->skipped)
            out[i - r->skipped] = b;
    }
    return status;
}
