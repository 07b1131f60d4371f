/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/model/model_core.h"

#include <math.h>

enum { STEPS = 512, TIME_CONSTANTS = 20 }; /* of a ramp; steps of one time constant */

double model_core_class_ghz(const struct model_core *c, unsigned class_)
{
    double ghz = model_ghz(c->model, c->model->classes[class_].level, c->cores);
    return c->fixed_ghz > 0 ? fmin(ghz, c->fixed_ghz) : ghz;
}

double model_core_ghz(const struct model_core *c)
{
    return c->ramps.tau > 0 ? c->ramps.ghz : model_core_class_ghz(c, c->held);
}

/* The mean of exp(-t / tau) over a step is tau / length times the difference of its ends. */
static void next_step(struct model_core *c)
{
    struct model_ramps *r = &c->ramps;
    double end_ghz = model_core_class_ghz(c, c->held), length = r->tau / STEPS;
    double since = r->until - r->begin;
    /* over, or steps shorter than a late time can tell */
    if (since > TIME_CONSTANTS * r->tau || !(r->until + length > r->until)) {
        r->tau = 0;
        return;
    }
    double decays = model_decay(since / r->tau) - model_decay((since + length) / r->tau);
    r->ghz = end_ghz + (r->from_ghz - end_ghz) * decays * STEPS;
    r->until += length;
}

double model_ramp_ghz(const struct model_core *c)
{
    const struct model_ramps *r = &c->ramps;
    double end_ghz = model_core_class_ghz(c, c->held);
    return r->tau > 0 ? end_ghz + (r->from_ghz - end_ghz) * model_decay((c->now - r->begin) / r->tau) : end_ghz;
}

void model_ramp_begin(struct model_core *c, double from_ghz, double tau_us)
{
    struct model_ramps *r = &c->ramps;
    r->from_ghz = from_ghz;
    r->begin = r->until = c->now;
    r->tau = tau_us;
    if (tau_us > 0)
        next_step(c);
}

/* ---- throttling that fades ---- */

static void fade_on(struct model_core *c)
{
    struct model_ramps *r = &c->ramps;
    double length = r->fade_tau / STEPS, since = r->fade_until - r->fade_begin;
    if (since > TIME_CONSTANTS * r->fade_tau || !(r->fade_until + length > r->fade_until)) {
        r->fade_tau = 0;
        return;
    }
    double decays = model_decay(since / r->fade_tau) - model_decay((since + length) / r->fade_tau);
    r->fade = 1 - (1 - r->fade_from) * decays * STEPS;
    r->fade_until += length;
}

void model_ramp_fade_begin(struct model_core *c, double ratio, double tau_us, unsigned class_)
{
    struct model_ramps *r = &c->ramps;
    r->fade_from = ratio;
    r->fade_begin = r->fade_until = c->now;
    r->fade_tau = tau_us;
    r->fade_class = class_;
    fade_on(c);
}

double model_ramp_fade(const struct model_core *c)
{
    return c->ramps.fade_tau > 0 && c->needed >= c->ramps.fade_class ? c->ramps.fade : 1;
}

/* ---- voltage ---- */

static double steady_volts(const struct model_core *c)
{
    double ghz = model_core_ghz(c);
    /* the voltage rises before the frequency does and falls after it */
    if (c->halted)
        ghz = fmax(ghz, model_core_class_ghz(c, c->halt_to));
    if (c->ramps.rises)
        ghz = model_core_class_ghz(c, c->ramps.rise_to);
    return model_volts(c->model, ghz);
}

double model_ramp_base_volts(const struct model_core *c)
{
    const struct model_ramps *r = &c->ramps;
    double volts = steady_volts(c);
    if (!(c->now < r->volts_end))
        return volts;
    return r->volts_from + (volts - r->volts_from) * (c->now - r->volts_begin) / (r->volts_end - r->volts_begin);
}

void model_ramp_volts(struct model_core *c, double volts_from)
{
    c->ramps.volts_from = volts_from;
    c->ramps.volts_begin = c->now;
    c->ramps.volts_end = c->now + c->model->volts_ramp_us;
}

void model_ramp_rise(struct model_core *c, unsigned class_)
{
    if (!c->ramps.rises)
        model_ramp_volts(c, model_ramp_base_volts(c));
    c->ramps.rises = true;
    c->ramps.rise_to = class_;
}

void model_ramp_call_off(struct model_core *c)
{
    double volts = model_ramp_base_volts(c);
    c->ramps.rises = false;
    model_ramp_volts(c, volts);
}

double model_ramp_event(const struct model_core *c)
{
    double t = c->ramps.tau > 0 ? c->ramps.until : INFINITY;
    if (c->ramps.fade_tau > 0)
        t = fmin(t, c->ramps.fade_until);
    return c->ramps.volts_end > c->now ? fmin(t, c->ramps.volts_end) : t;
}

void model_ramp_update(struct model_core *c)
{
    if (c->ramps.tau > 0 && c->ramps.until <= c->now)
        next_step(c);
    if (c->ramps.fade_tau > 0 && c->ramps.fade_until <= c->now)
        fade_on(c);
}
