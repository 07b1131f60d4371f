/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is expected after a switch, written down from the parameters: a second account of doc/model-format.md, with mean
 * durations and no random numbers, sharing nothing with the simulation but the arithmetic of model_query.c.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "drivers/model.h"

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
};

static double ghz_of(const struct walk *w, unsigned class_)
{
    return model_ghz(w->model, w->model->classes[class_].level, w->cores);
}

static double mean_ghz_of(const struct walk *w, unsigned class_)
{
    return model_mean_ghz(w->model, w->model->classes[class_].level, w->cores);
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

static bool alike(const struct model_phase *a, const struct model_phase *b)
{
    return a->kind == b->kind && a->kind != MODEL_HALTED && a->ghz == b->ghz && a->ipc == b->ipc &&
           a->volts == b->volts && a->class_ == b->class_;
}

/* Appends a stretch of time in which the payload runs at `factor` of its rate, or (factor 0) the core is halted. */
static void append(struct walk *w, enum model_phase_kind kind, double us, double factor, double volts_ghz)
{
    struct model_phase p = {
        .kind = kind,
        .start_us = w->t,
        .duration_us = us,
        .ghz = factor > 0 ? mean_ghz_of(w, w->held) : 0,
        .ipc = w->need.ipc * factor,
        .ipc_ratio = factor,
        .volts = volts_at(w, volts_ghz),
        .level = w->model->classes[w->held].level,
        .class_ = w->held,
    };
    w->t += us;
    struct model_phase *last = w->out->n ? &w->out->phases[w->out->n - 1] : NULL;
    if (us <= 0)
        return;
    if (last && alike(last, &p))
        last->duration_us += us;
    else if (w->out->n < MODEL_PHASES_MAX)
        w->out->phases[w->out->n++] = p;
}

/* Counted instructions a microsecond. */
static double count_rate(const struct walk *w, double factor)
{
    return w->need.counted_ipc * factor * mean_ghz_of(w, w->held) * 1e3;
}

/* The payload runs for `us`, or until it has executed the instructions after which it needs more. */
static void run(struct walk *w, enum model_phase_kind kind, double us, double factor)
{
    double rate = count_rate(w, factor);
    if (w->count_left > 0 && w->count_left / rate <= us) {
        us = w->count_left / rate;
        w->count_left = 0;
    } else if (w->count_left > 0) {
        w->count_left -= rate * us;
    }
    append(w, kind, us, factor, ghz_of(w, w->held));
}

static void change(struct walk *w, unsigned class_)
{
    double before = ghz_of(w, w->held), after = ghz_of(w, class_);
    if (before != after && w->model->halt_us > 0)
        append(w, MODEL_HALTED, w->model->halt_us, 0, fmax(before, after));
    w->held = class_;
}

static void boost(struct walk *w, unsigned from, unsigned to, bool at_end)
{
    for (size_t i = 0; i < w->model->n_boosts; i++) {
        const struct model_boost *b = &w->model->boosts[i];
        if (b->from == from && b->to == to && b->at_end == at_end && w->cores >= b->cores.lo && w->cores <= b->cores.hi)
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
            change(w, t->steps[step].grant);
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
        w->out->double_extra_us = w->model->wait_us;
    }
}

static void release(struct walk *w, unsigned class_)
{
    for (size_t i = 0; i < w->model->n_boosts; i++)
        w->boosted[i] = w->boosted[i] && w->model->boosts[i].to <= class_;
    change(w, class_);
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
    struct walk before = {.model = w->model, .to = from, .need = *need, .cores = w->cores, .out = &unused,
                          .first = need->first, .later = need->later,
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
    bool cleaned = next >= 256 && next <= 512 && !w->to->dirty;
    unsigned class_ = from->dirty && width >= 256 && width <= 512 && !cleaned ? model_dirty_class(w->model, width) : 0;
    w->first = class_ > w->need.first ? class_ : w->need.first;
    w->later = class_ > w->need.later ? class_ : w->need.later;
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
    w.kept_until = m->wait_us;
    walk(&w);
    return MACHINE_OK;
}
