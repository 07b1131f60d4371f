/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computes what must follow a switch, from the parameters: a second account of doc/model-format.md, with mean durations
 * and no random numbers, sharing nothing with the simulation but the arithmetic of model_query.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/model_truth.h"

struct walk {
    const struct model *model;
    const struct payload *to;
    struct model_need need;
    unsigned cores;
    struct model_truth *out;
    double t;
    unsigned held, first, later, kept; /* classes; `kept` until `kept_until` */
    double kept_until;
    double count_left;
    bool boosted[MODEL_BOOSTS_MAX];
    double cold_until;
    double ramp_from, ramp_begin, ramp_tau;             /* GHz, us; tau 0: no ramp */
    double volts_from, volts_begin, volts_end, rise_to; /* rise_to: GHz that the voltage rises for; 0 = none */
};

enum { RAMP_TAUS = 20, RAMP_POINTS = 4 }; /* a ramp is over after so many time constants; points of one */

static double ghz_of(const struct walk *w, unsigned class_)
{
    return model_ghz(w->model, w->model->classes[class_].level, w->cores);
}

static double mean_ghz_of(const struct walk *w, unsigned class_)
{
    return model_mean_ghz(w->model, w->model->classes[class_].level, w->cores);
}

/* Without spread-spectrum clocking. */
static double ghz_at(const struct walk *w, double t)
{
    double end = ghz_of(w, w->held);
    return w->ramp_tau > 0 ? end + (w->ramp_from - end) * exp((w->ramp_begin - t) / w->ramp_tau) : end;
}

static double ramp_end(const struct walk *w)
{
    return w->ramp_tau > 0 ? w->ramp_begin + RAMP_TAUS * w->ramp_tau : INFINITY;
}

static double volts_at(const struct walk *w, double ghz)
{
    double volts = model_volts(w->model, ghz);
    for (size_t i = 0; i < w->model->n_boosts; i++)
        volts += w->boosted[i] ? w->model->boosts[i].volts : 0;
    return volts;
}

static unsigned needed(const struct walk *w)
{
    return w->count_left > 0 ? w->first : w->later;
}

static unsigned wanted(const struct walk *w)
{
    return w->t < w->kept_until && w->kept > needed(w) ? w->kept : needed(w);
}

/* Without boosts; ghz: what the voltage shall be for, except for ramps. */
static double base_volts(const struct walk *w, double t, double ghz)
{
    double volts = model_volts(w->model, w->rise_to > 0 ? w->rise_to : ghz);
    if (t >= w->volts_end)
        return volts;
    return w->volts_from + (volts - w->volts_from) * (t - w->volts_begin) / (w->volts_end - w->volts_begin);
}

static void add_point(struct walk *w, double t, double ghz)
{
    double volts = base_volts(w, t, ghz) + volts_at(w, ghz) - model_volts(w->model, ghz);
    if (!isfinite(t) || w->out->n_points == MODEL_TRUTH_POINTS_MAX)
        return;
    w->out->points[w->out->n_points].us = t;
    w->out->points[w->out->n_points++].volts = volts;
}

/* The voltage until `end`; volts_ghz: as append has it. */
static void follow_volts(struct walk *w, double end, double volts_ghz)
{
    bool follows = w->ramp_tau > 0;
    add_point(w, w->t, follows ? ghz_at(w, w->t) : volts_ghz);
    for (int k = 1; follows && k < 5 * RAMP_POINTS && w->t + k * w->ramp_tau / RAMP_POINTS < end; k++)
        add_point(w, w->t + k * w->ramp_tau / RAMP_POINTS, ghz_at(w, w->t + k * w->ramp_tau / RAMP_POINTS));
    if (w->volts_end > w->t && w->volts_end < end)
        add_point(w, w->volts_end, volts_ghz);
    add_point(w, end, follows ? ghz_at(w, end) : volts_ghz);
}

static void ramp_volts(struct walk *w, double from)
{
    w->volts_from = from;
    w->volts_begin = w->t;
    w->volts_end = w->t + w->model->volts_ramp_us;
}

static bool alike(const struct model_phase *a, const struct model_phase *b)
{
    return a->tau_us <= 0 && b->tau_us <= 0 && a->kind == b->kind && a->kind != MODEL_HALTED && a->ghz == b->ghz &&
           a->ipc == b->ipc && a->volts == b->volts && a->class_ == b->class_;
}

/* Appends a stretch of time in which the payload runs at `factor` of its rate, or (factor 0) the core is halted. */
static void append(struct walk *w, enum model_phase_kind kind, double us, double factor, double volts_ghz)
{
    struct model_phase p = {
        .kind = kind,
        .start_us = w->t,
        .duration_us = us,
        .ghz = factor > 0 ? mean_ghz_of(w, w->held) : 0,
        .ghz_begin = factor > 0 ? ghz_at(w, w->t) * (1 - w->model->spread / 2) : 0,
        .tau_us = factor > 0 ? w->ramp_tau : 0,
        .ipc = w->need.ipc * factor,
        .ipc_ratio = factor,
        .volts = volts_at(w, volts_ghz),
        .level = w->model->classes[w->held].level,
        .class_ = w->held,
    };
    if (us > 0)
        follow_volts(w, w->t + us, volts_ghz);
    w->t += us;
    struct model_phase *last = w->out->n ? &w->out->phases[w->out->n - 1] : NULL;
    if (us <= 0)
        return;
    if (last && alike(last, &p))
        last->duration_us += us;
    else if (w->out->n < MODEL_PHASES_MAX)
        w->out->phases[w->out->n++] = p;
}

double model_phase_cycles(const struct model_phase *p, double begin, double end)
{
    double cycles = p->ghz * (end - begin);
    if (p->tau_us > 0)
        cycles += (p->ghz_begin - p->ghz) * p->tau_us *
                  (exp((p->start_us - begin) / p->tau_us) - exp((p->start_us - end) / p->tau_us));
    return cycles * 1e3;
}

double model_truth_volts(const struct model_truth *t, double us)
{
    size_t i = 0;
    while (i < t->n_points && t->points[i].us <= us)
        i++;
    if (i == 0 || i == t->n_points)
        return i ? t->points[i - 1].volts : t->from_volts;
    double along = (us - t->points[i - 1].us) / (t->points[i].us - t->points[i - 1].us);
    return t->points[i - 1].volts + along * (t->points[i].volts - t->points[i - 1].volts);
}

/* Counted instructions in the next `us`, in which nothing changes except for a ramp. */
static double counted(const struct walk *w, double us, double factor)
{
    const struct model_phase p = {.start_us = w->t,
                                  .ghz = mean_ghz_of(w, w->held),
                                  .tau_us = w->ramp_tau,
                                  .ghz_begin = ghz_at(w, w->t) * (1 - w->model->spread / 2)};
    return w->need.counted_ipc * factor * model_phase_cycles(&p, w->t, w->t + us);
}

/* When in the next `us` the count is reached; INFINITY: not. */
static double count_reached(const struct walk *w, double us, double factor)
{
    double rate = w->need.counted_ipc * factor * mean_ghz_of(w, w->held) * 1e3, lo = 0, hi = us;
    if (w->count_left <= 0)
        return INFINITY;
    if (w->ramp_tau <= 0)
        return w->count_left / rate <= us ? w->count_left / rate : INFINITY;
    if (counted(w, us, factor) < w->count_left)
        return INFINITY;
    for (int i = 0; i < 200 && hi - lo > 1e-9; i++) {
        double middle = 0.5 * (lo + hi);
        *(counted(w, middle, factor) < w->count_left ? &lo : &hi) = middle;
    }
    return hi;
}

/* One stretch: to the end of cold code or of a ramp, at most. Returns how long it was. */
static double run_stretch(struct walk *w, enum model_phase_kind kind, double us, double factor)
{
    bool cold = w->t < w->cold_until;
    double length = fmin(us, ramp_end(w) - w->t);
    if (cold) {
        length = fmin(length, w->cold_until - w->t);
        factor *= w->model->scenario.cold_factor;
        kind = kind == MODEL_STEADY ? MODEL_COLD : kind;
    } else if (w->ramp_tau > 0 && kind == MODEL_STEADY) {
        kind = MODEL_RAMP;
    }
    double reached = count_reached(w, length, factor);
    if (reached <= length)
        length = reached;
    if (w->count_left > 0)
        w->count_left = reached <= length ? 0 : w->count_left - counted(w, length, factor);
    append(w, kind, length, factor, ghz_of(w, w->held));
    if (w->t >= ramp_end(w))
        w->ramp_tau = 0;
    return length;
}

/* The payload runs for `us`, or until it has executed the instructions after which it needs more. */
static void run(struct walk *w, enum model_phase_kind kind, double us, double factor)
{
    bool counts = w->count_left > 0;
    while (us > 0 && isfinite(w->t) && (!counts || w->count_left > 0))
        us -= run_stretch(w, kind, us, factor);
}

/* The class held changes, on the way to `target`; the frequency by a halt, or by a ramp where tau_us > 0. */
static void change(struct walk *w, unsigned class_, unsigned target, double tau_us)
{
    for (size_t i = 0; i < w->model->n_boosts; i++) {
        const struct model_boost *b = &w->model->boosts[i];
        w->boosted[i] = (w->boosted[i] && b->to == target) || (b->to == class_ && model_range_has(&b->cores, w->cores));
    }
    double before = ghz_of(w, w->held), after = ghz_of(w, class_), volts = base_volts(w, w->t, before);
    bool falls = after < before && tau_us <= 0 && w->model->volts_ramp_us > 0;
    if (before != after) {
        w->ramp_from = ghz_at(w, w->t);
        w->ramp_begin = w->t;
        w->ramp_tau = tau_us;
    }
    if (before != after && tau_us <= 0 && w->model->halt_us > 0) {
        append(w, MODEL_HALTED, w->model->halt_us, 0, fmax(before, after));
        volts = base_volts(w, w->t, before);
    }
    w->held = class_;
    if (falls)
        ramp_volts(w, volts);
}

static void boost(struct walk *w, unsigned from, unsigned to, bool at_end)
{
    for (size_t i = 0; i < w->model->n_boosts; i++) {
        const struct model_boost *b = &w->model->boosts[i];
        if (b->from == from && b->to == to && b->at_end == at_end && model_range_has(&b->cores, w->cores))
            w->boosted[i] = true;
    }
}

static bool last_throttle(const struct model_transition *t, size_t step)
{
    for (size_t i = step + 1; i < t->n_steps; i++)
        if (t->steps[i].kind == MODEL_STEP_THROTTLE)
            return false;
    return true;
}

/* One throttled stretch. More may be needed before it ends: then the figures of the longer transition hold. */
static void throttled(struct walk *w, unsigned from, unsigned *to, size_t step)
{
    double begin = w->t;
    for (;;) {
        const struct model_step *s = &w->model->transitions[from][*to].steps[step];
        if (step >= w->model->transitions[from][*to].n_steps || s->kind != MODEL_STEP_THROTTLE)
            return;
        struct model_step_variant v = model_step_figures(s, w->cores);
        double left = begin + v.us - w->t;
        if (left <= 0)
            return;
        double factor = model_throttle(w->model, w->to, needed(w) > w->held, v.ratio).factor;
        run(w, factor < 1 ? MODEL_THROTTLED : MODEL_STEADY, left, factor);
        if (wanted(w) <= *to)
            return;
        *to = wanted(w);
        boost(w, from, *to, false);
    }
}

static void go_up(struct walk *w, unsigned to)
{
    unsigned from = w->held;
    boost(w, from, to, false);
    for (size_t step = 0; step < w->model->transitions[from][to].n_steps; step++) {
        if (w->model->transitions[from][to].steps[step].kind == MODEL_STEP_THROTTLE)
            throttled(w, from, &to, step);
        const struct model_transition *t = &w->model->transitions[from][to];
        if (step < t->n_steps && t->steps[step].kind == MODEL_STEP_GRANT) {
            if (last_throttle(t, step))
                boost(w, from, to, true);
            change(w, t->steps[step].grant, to, t->steps[step].tau_us);
        }
    }
}

static void stay(struct walk *w)
{
    bool kept = w->held > needed(w);
    bool slow = kept && ghz_of(w, needed(w)) > ghz_of(w, w->held);
    run(w, slow ? MODEL_SLOW : MODEL_STEADY, kept ? w->kept_until - w->t : INFINITY, 1);
    if (slow && w->model->classes[w->held].wait_double > 0) {
        w->out->double_probability = w->model->classes[w->held].wait_double;
        w->out->double_extra_us = model_wait_us(w->model, w->held);
    }
}

/* The voltage rises before the frequency does. Returns whether the release still stands when it is there. */
static bool rise(struct walk *w, unsigned class_)
{
    double ghz = ghz_of(w, w->held), higher = ghz_of(w, class_);
    if (w->model->volts_ramp_us <= 0 || w->model->release_tau_us > 0 || higher <= ghz)
        return true;
    ramp_volts(w, base_volts(w, w->t, ghz));
    w->rise_to = higher;
    run(w, MODEL_SLOW, w->model->volts_ramp_us, 1);
    double volts = base_volts(w, w->t, ghz);
    w->rise_to = 0;
    if (wanted(w) < w->held)
        return true;
    ramp_volts(w, volts);
    return false;
}

static void release(struct walk *w, unsigned class_)
{
    if (!rise(w, class_))
        return;
    change(w, class_, class_, w->model->release_tau_us);
}

static void walk(struct walk *w)
{
    while (isfinite(w->t) && w->out->n < MODEL_PHASES_MAX) {
        unsigned next = wanted(w);
        if (next > w->held)
            go_up(w, next);
        else if (next < w->held)
            release(w, next);
        else
            stay(w);
    }
}

/* Before time 0: the first payload, run from rest for ever. */
static void settle(struct walk *w, const struct payload *from, const struct model_need *need)
{
    struct model_truth unused = {0};
    struct walk before = {.model = w->model,
                          .to = from,
                          .need = *need,
                          .cores = w->cores,
                          .out = &unused,
                          .first = need->first,
                          .later = need->later,
                          .count_left = need->later > need->first ? need->count : 0};
    walk(&before);
    w->held = before.held;
    memcpy(w->boosted, before.boosted, sizeof w->boosted);
    w->out->from_level = w->model->classes[w->held].level;
    w->out->from_ghz = mean_ghz_of(w, w->held);
    w->out->from_ipc = need->ipc;
    w->out->from_volts = volts_at(w, ghz_of(w, w->held));
}

static void left_dirty(struct walk *w, const struct payload *from)
{
    unsigned width = from->kernel->width, next = w->to->kernel->width;
    bool clean = !w->to->dirty, cleaned = width > 512 ? next > 512 && clean : next > 512 || (next >= 256 && clean);
    unsigned class_ = from->dirty && width >= 256 && !cleaned ? model_dirty_class(w->model, width) : 0;
    w->first = class_ > w->need.first ? class_ : w->need.first;
    w->later = class_ > w->need.later ? class_ : w->need.later;
}

static void tell_chances(const struct model *m, struct model_truth *out)
{
    const struct model_scenario *w = &m->scenario;
    out->limit_share = w->limit_share;
    out->limit_factor = w->limit_share > 0 ? w->limit_factor : 0;
    out->wander_sigma = hypot(w->wander.sigma[0], w->wander.sigma[1]);
    out->sibling_share = w->sibling.share;
    out->sibling_factor = w->sibling.share > 0 ? w->sibling.factor : 0;
}

int model_truth(const struct model *m, const struct payload *from, const struct payload *to, unsigned cores,
                struct model_truth *out, struct machine_error *err)
{
    struct model_need before;
    struct walk w = {.model = m, .to = to, .cores = cores ? cores : m->cores, .out = out};
    memset(out, 0, sizeof *out);
    if (w.cores > m->cores) {
        memset(err, 0, sizeof *err);
        err->status = MACHINE_BAD_INPUT;
        snprintf(err->text, sizeof err->text, "%u active cores: the modelled %s has %u", w.cores, m->cpu_name,
                 m->cores);
        return MACHINE_BAD_INPUT;
    }
    int status = model_need(m, from, &before, err);
    if (status == MACHINE_OK)
        status = model_need(m, to, &w.need, err);
    if (status != MACHINE_OK)
        return status;
    settle(&w, from, &before);
    left_dirty(&w, from);
    w.count_left = w.later > w.first ? w.need.count : 0;
    w.kept = w.held;
    w.kept_until = model_wait_us(m, w.held);
    w.cold_until = strcmp(from->name, to->name) ? m->scenario.cold_us : 0;
    walk(&w);
    tell_chances(m, out);
    return MACHINE_OK;
}
