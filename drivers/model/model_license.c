/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A request for a higher class runs through the steps of its transition: throttled stretches and grants, each grant
 * with a halt if it changes the frequency. A class that nothing has needed for the wait is released with one halt,
 * directly to the class then needed (Gottschlag's dissertation on Skylake-SP AVX overhead, sections 3.2.2 and 3.2.3).
 */
#include "drivers/model/model_core.h"

#include <math.h>

/* ---- what changes gradually: a frequency that approaches that of the class held, a voltage that rises before the
 * frequency does and falls after it (section 3.2.3) ---- */

enum { STEPS = 512, TIME_CONSTANTS = 20 }; /* of a ramp; steps of one time constant */

double model_core_class_ghz(const struct model_core *c, unsigned class_)
{
    double ghz = model_ghz(c->model, c->model->classes[class_].level, c->cores);
    return c->fixed_ghz > 0 ? fmin(ghz, c->fixed_ghz) : ghz;
}

double model_core_ghz(const struct model_core *c)
{
    return c->ramps.ghz.tau > 0 ? c->ramps.ghz.now : model_core_class_ghz(c, c->held);
}

/* The mean of exp(-t / tau) over a step is tau / length times the difference of its ends. */
static void next_step(struct model_ramp *r, double end)
{
    double length = r->tau / STEPS, since = r->until - r->begin;
    /* over, or steps shorter than the resolution of a late time */
    if (since > TIME_CONSTANTS * r->tau || !(r->until + length > r->until)) {
        r->tau = 0;
        return;
    }
    double decays = model_decay(since / r->tau) - model_decay((since + length) / r->tau);
    r->now = end + (r->from - end) * decays * STEPS;
    r->until += length;
}

/* The nominal frequency now, GHz: exactly, where model_core_ghz has the mean over a step. */
static double ramp_ghz(const struct model_core *c)
{
    const struct model_ramp *r = &c->ramps.ghz;
    double end_ghz = model_core_class_ghz(c, c->held);
    return r->tau > 0 ? end_ghz + (r->from - end_ghz) * model_decay((c->now - r->begin) / r->tau) : end_ghz;
}

void model_ramp_begin(struct model_core *c, double from_ghz, double tau_us)
{
    c->ramps.ghz = (struct model_ramp){.from = from_ghz, .begin = c->now, .until = c->now, .tau = tau_us};
    if (tau_us > 0)
        next_step(&c->ramps.ghz, model_core_class_ghz(c, c->held));
}

void model_ramp_fade_begin(struct model_core *c, double ratio, double tau_us, unsigned class_)
{
    c->ramps.fade = (struct model_ramp){.from = ratio, .begin = c->now, .until = c->now, .tau = tau_us};
    c->ramps.fade_class = class_;
    next_step(&c->ramps.fade, 1);
}

double model_ramp_fade(const struct model_core *c)
{
    return c->ramps.fade.tau > 0 && c->needed >= c->ramps.fade_class ? c->ramps.fade.now : 1;
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

static void ramp_volts(struct model_core *c, double volts_from)
{
    c->ramps.volts_from = volts_from;
    c->ramps.volts_begin = c->now;
    c->ramps.volts_end = c->now + c->model->volts_ramp_us;
}

static void ramp_rise(struct model_core *c, unsigned class_)
{
    if (!c->ramps.rises)
        ramp_volts(c, model_ramp_base_volts(c));
    c->ramps.rises = true;
    c->ramps.rise_to = class_;
}

static void ramp_call_off(struct model_core *c)
{
    double volts = model_ramp_base_volts(c);
    c->ramps.rises = false;
    ramp_volts(c, volts);
}

double model_ramp_event(const struct model_core *c)
{
    double t = c->ramps.ghz.tau > 0 ? c->ramps.ghz.until : INFINITY;
    if (c->ramps.fade.tau > 0)
        t = fmin(t, c->ramps.fade.until);
    return c->ramps.volts_end > c->now ? fmin(t, c->ramps.volts_end) : t;
}

void model_ramp_update(struct model_core *c)
{
    if (c->ramps.ghz.tau > 0 && c->ramps.ghz.until <= c->now)
        next_step(&c->ramps.ghz, model_core_class_ghz(c, c->held));
    if (c->ramps.fade.tau > 0 && c->ramps.fade.until <= c->now)
        next_step(&c->ramps.fade, 1);
}

static double scattered(struct model_core *c, double us, double sigma)
{
    return sigma > 0 ? us + sigma * model_random_normal(&c->streams[MODEL_STREAM_DURATIONS]) : us;
}

/* ---- what is needed ---- */

static bool same_kind(const struct model_kind *k, unsigned width, enum kernel_weight weight)
{
    return k->width == width && k->weight == weight;
}

static bool mixes(const struct model_mixture *x, const struct model_kind *a, const struct model_kind *b)
{
    return (same_kind(a, x->width[0], x->weight[0]) && same_kind(b, x->width[1], x->weight[1])) ||
           (same_kind(a, x->width[1], x->weight[1]) && same_kind(b, x->width[0], x->weight[0]));
}

/* Counts how often the two kinds of a mixture have followed each other within its window, up to now. */
static unsigned alternations(const struct model_core *c, const struct model_mixture *x)
{
    const struct model_kind *later = &c->last_kind;
    unsigned found = 0;
    for (size_t back = 1; back <= MODEL_SWITCHES_MAX && back <= c->n_switches; back++) {
        size_t k = (c->n_switches - back) % MODEL_SWITCHES_MAX;
        if (c->now - c->switch_times[k] > x->window_us || !mixes(x, &c->switch_from[k], later))
            break;
        later = &c->switch_from[k];
        found++;
    }
    return found;
}

static void note_kind(struct model_core *c, struct model_kind kind)
{
    if (c->last_kind.width && !same_kind(&kind, c->last_kind.width, c->last_kind.weight)) {
        c->switch_times[c->n_switches % MODEL_SWITCHES_MAX] = c->now;
        c->switch_from[c->n_switches % MODEL_SWITCHES_MAX] = c->last_kind;
        c->n_switches++;
    }
    c->last_kind = kind;
    for (size_t i = 0; i < c->model->n_mixtures; i++) {
        const struct model_mixture *x = &c->model->mixtures[i];
        if (alternations(c, x) < x->switches || x->class_ < c->mixture)
            continue;
        c->mixture = x->class_;
        c->mixture_until = c->now + x->window_us;
    }
}

/* The need of a class ends: from now on it is kept for the wait, or occasionally for two. */
static void need_ended(struct model_core *c, unsigned class_)
{
    const struct model *m = c->model;
    struct model_random *r = &c->streams[MODEL_STREAM_WAITS];
    double wait = m->wait_us;
    if (m->classes[class_].wait_double > 0 && model_random_uniform(r) < m->classes[class_].wait_double)
        wait *= 2;
    if (m->wait_sigma_us > 0)
        wait += m->wait_sigma_us * model_random_normal(r);
    wait *= model_wait_us(m, class_) / m->wait_us;
    c->wait_us[class_] = wait;
    c->keep_until[class_] = c->now + wait;
}

static void need_class(struct model_core *c, unsigned class_)
{
    unsigned before = c->needed;
    c->needed = class_;
    if (before > 0 && before != class_)
        need_ended(c, before);
    model_license_update(c);
}

/* The payload, the upper halves and tiles in use and recent alternation together decide what is needed. */
void model_license_need_changed(struct model_core *c)
{
    unsigned class_ = c->count_left > 0 ? c->need.first : c->need.later;
    for (int i = 0; i < 2; i++) {
        unsigned dirty = c->dirty_width[i] ? model_dirty_class(c->model, c->dirty_width[i]) : 0;
        if (dirty > class_)
            class_ = dirty;
    }
    need_class(c, c->mixture > class_ ? c->mixture : class_);
}

void model_license_payload(struct model_core *c)
{
    struct model_kind kind = {c->payload->kernel->width, c->payload->kernel->weight};
    note_kind(c, kind);
    model_license_need_changed(c);
}

void model_license_rearm(struct model_core *c)
{
    for (unsigned k = 1; k < c->model->n_classes; k++)
        if (c->keep_until[k] > c->now)
            c->keep_until[k] = c->now + c->wait_us[k];
}

/* The class needed now, or kept because it was needed a short while ago. */
static unsigned wanted_class(const struct model_core *c)
{
    for (unsigned k = (unsigned)c->model->n_classes - 1; k > c->needed; k--)
        if (c->keep_until[k] > c->now)
            return k;
    return c->needed;
}

/* ---- transitions ---- */

/* The voltage is boosted for the class held, and already for that which a transition leads to, where it began early. */
static void boost_for(struct model_core *c, unsigned class_)
{
    for (size_t i = 0; i < c->model->n_boosts; i++) {
        const struct model_boost *b = &c->model->boosts[i];
        bool kept = c->boosted[i] && c->pending && b->to == c->target;
        c->boosted[i] = kept || (b->to == class_ && model_range_has(&b->cores, c->cores));
    }
}

/* Changes the class held; the frequency by a halt, or by a ramp where tau_us > 0. Returns whether the core halts. */
static bool change_class(struct model_core *c, unsigned class_, double tau_us)
{
    const struct model *m = c->model;
    boost_for(c, class_);
    double before = model_core_class_ghz(c, c->held), after = model_core_class_ghz(c, class_);
    if (before == after || m->halt_us <= 0 || tau_us > 0) {
        double now_ghz = ramp_ghz(c), volts = model_ramp_base_volts(c);
        c->held = class_;
        if (before != after)
            model_ramp_begin(c, now_ghz, tau_us);
        if (after < before && tau_us <= 0 && m->volts_ramp_us > 0)
            ramp_volts(c, volts);
        return false;
    }
    c->halted = true;
    c->halt_to = class_;
    c->halt_end = c->now + scattered(c, m->halt_us, m->halt_sigma_us);
    return true;
}

/* Those that begin while the code is throttled, before the class is held. */
static void apply_boosts(struct model_core *c, bool at_end)
{
    for (size_t i = 0; i < c->model->n_boosts; i++) {
        const struct model_boost *b = &c->model->boosts[i];
        if (b->from == c->origin && b->to == c->target && b->at_end == at_end && model_range_has(&b->cores, c->cores))
            c->boosted[i] = true;
    }
}

static const struct model_transition *transition(const struct model_core *c)
{
    return &c->model->transitions[c->origin][c->target];
}

static bool throttle_follows(const struct model_core *c)
{
    for (size_t i = c->step; i < transition(c)->n_steps; i++)
        if (transition(c)->steps[i].kind == MODEL_STEP_THROTTLE)
            return true;
    return false;
}

static void end_transition(struct model_core *c)
{
    c->pending = false;
    c->transition_throttle_ratio = 1;
    c->step_end = INFINITY;
}

/* Enters c->step and those after it that take no time. */
static void enter_steps(struct model_core *c)
{
    for (; c->step < transition(c)->n_steps; c->step++) {
        const struct model_step *s = &transition(c)->steps[c->step];
        if (s->kind == MODEL_STEP_THROTTLE) {
            struct model_step_variant v = model_step_figures(s, c->cores);
            c->transition_throttle_ratio = v.ratio;
            c->step_begin = c->now;
            c->step_end = c->now + scattered(c, v.us, c->model->throttle_sigma_us);
            return;
        }
        c->transition_throttle_ratio = 1;
        c->step_end = INFINITY;
        if (s->kind == MODEL_STEP_FADE) {
            model_ramp_fade_begin(c, s->ratio, s->tau_us, c->target);
            continue;
        }
        if (!throttle_follows(c))
            apply_boosts(c, true);
        if (s->grant > c->held && change_class(c, s->grant, s->tau_us))
            return;
    }
    end_transition(c);
}

static void start_transition(struct model_core *c, unsigned target)
{
    c->pending = true;
    c->origin = c->held;
    c->target = target;
    c->step = 0;
    apply_boosts(c, false);
    enter_steps(c);
}

/*
 * More is needed than what is pending: the transition goes on as the one to the new target, at the same step. A
 * throttled stretch that both have does not begin again; only its figures are those of the new transition.
 */
static void raise_target(struct model_core *c, unsigned target)
{
    c->target = target;
    apply_boosts(c, false);
    const struct model_step *s = &transition(c)->steps[c->step];
    if (c->step >= transition(c)->n_steps || s->kind != MODEL_STEP_THROTTLE) {
        enter_steps(c);
        return;
    }
    struct model_step_variant v = model_step_figures(s, c->cores);
    c->transition_throttle_ratio = v.ratio;
    c->step_end = fmax(c->now, c->step_begin + scattered(c, v.us, c->model->throttle_sigma_us));
}

static void release(struct model_core *c, unsigned class_)
{
    end_transition(c);
    c->ramps.rises = false;
    change_class(c, class_, c->model->release_tau_us);
}

/* The release may have to wait for the voltage that the higher frequency needs. */
static bool voltage_rises(struct model_core *c, unsigned class_)
{
    const struct model *m = c->model;
    if (m->volts_ramp_us <= 0 || m->release_tau_us > 0 ||
        model_core_class_ghz(c, class_) <= model_core_class_ghz(c, c->held))
        return false;
    if (!c->ramps.rises)
        end_transition(c);
    ramp_rise(c, class_);
    return c->ramps.volts_end > c->now;
}

static void go_on_with_step(struct model_core *c)
{
    c->step++;
    enter_steps(c);
}

static void end_halt(struct model_core *c)
{
    double volts = model_ramp_base_volts(c);
    c->halted = false;
    c->held = c->halt_to;
    c->ramps.ghz.tau = 0;
    if (c->model->volts_ramp_us > 0 && volts > model_volts(c->model, model_core_ghz(c)))
        ramp_volts(c, volts);
    if (c->pending)
        go_on_with_step(c);
}

double model_license_event(const struct model_core *c)
{
    double t = INFINITY;
    if (c->halted)
        t = c->halt_end;
    else if (c->pending)
        t = c->step_end;
    for (unsigned k = c->needed + 1; k < c->model->n_classes; k++)
        if (c->keep_until[k] > c->now)
            t = fmin(t, c->keep_until[k]);
    return c->mixture ? fmin(t, c->mixture_until) : t;
}

void model_license_update(struct model_core *c)
{
    if (c->halted && c->halt_end <= c->now)
        end_halt(c);
    else if (!c->halted && c->pending && c->step_end <= c->now)
        go_on_with_step(c);
    if (c->mixture && c->mixture_until <= c->now) {
        c->mixture = 0;
        model_license_need_changed(c);
        return;
    }
    if (c->halted)
        return;
    unsigned wanted = wanted_class(c);
    if (wanted >= c->held && c->ramps.rises)
        ramp_call_off(c);
    if (wanted < c->held && voltage_rises(c, wanted))
        return;
    if (wanted < c->held || (wanted == c->held && c->pending))
        release(c, wanted);
    else if (wanted > c->held && !c->pending)
        start_transition(c, wanted);
    else if (wanted > c->held && c->target < wanted)
        raise_target(c, wanted);
}
