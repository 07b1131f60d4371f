/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/guest_score.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "tables/switches/transition_summary.h"

#define LEAST_US 0.4
#define SHARE 0.15
#define START_US 1.0
#define RATIO_BOUND 0.1
#define STEP_BOUND 0.01
#define SMALL_HALT_US 1.0 /* need not be distinguished from throttling */

/* The reasons: what contradicts the truth, and what is left open. */
struct reasons {
    const struct guest_truth *truth;
    const struct phases *p;
    bool unknown; /* the answer says that it does not know */
    char wrong[240], open[240];
};

__attribute__((format(printf, 2, 3))) static void tell(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list ap;
    va_start(ap, format);
    vsnprintf(text + used, 240 - used, format, ap);
    va_end(ap);
}

static bool near(double found, double truth, double least)
{
    return fabs(found - truth) <= fmax(least, SHARE * truth);
}

static bool is_event(const struct phase *f)
{
    return f->kind == PHASE_THROTTLE || f->kind == PHASE_HALT || f->kind == PHASE_RAMP;
}

/* ---- what should have been found and was not ---- */

/* Missing is false where the answer describes other changes as if they were all, or says that it would have seen it. */
static void miss(struct reasons *r, const char *what, bool would_have_seen)
{
    bool claims = !r->unknown && (r->p->n_transitions > 0 || would_have_seen);
    tell(claims ? r->wrong : r->open, "; missed %s", what);
}

static bool sees_throttling(const struct phases *p, double ratio, double us)
{
    return ratio <= p->detectable_throttle && us >= p->detectable_throttle_us;
}

/* ---- the phases ---- */

static void judge_modes(struct reasons *r, const struct phase *f)
{
    const struct guest_truth *t = r->truth;
    bool first = false, second = false;
    for (size_t i = 0; f->n_modes > 1 && i < f->n_modes; i++) {
        first = first || near(f->modes[i].duration_us, t->d1_us, LEAST_US);
        second = second || near(f->modes[i].duration_us, t->d1b_us, LEAST_US);
    }
    double us = f->duration_us.value;
    bool between = us >= t->d1_us - LEAST_US && us <= t->d1b_us * (1 + SHARE);
    if (!first || !second)
        tell(between && f->n_modes < 2 ? r->open : r->wrong, "; the lengths %.2f and %.2f are not reported", t->d1_us,
             t->d1b_us);
}

static void judge_throttle(struct reasons *r, const struct phase *f)
{
    const struct guest_truth *t = r->truth;
    if (t->kind == GUEST_MODES)
        judge_modes(r, f);
    else if (!near(f->start_us + f->duration_us.value, t->d1_us, LEAST_US))
        tell(r->wrong, "; throttled until %.2f, not %.2f", f->start_us + f->duration_us.value, t->d1_us);
    if (fabs(f->start_us) > START_US)
        tell(r->wrong, "; throttled from %.2f on", f->start_us);
    if (fabs(f->ipc_ratio - t->ratio) > RATIO_BOUND)
        tell(r->wrong, "; throttled to %.2f, not %.2f", f->ipc_ratio, t->ratio);
}

static void judge_halt(struct reasons *r, const struct phase *f)
{
    const struct guest_truth *t = r->truth;
    const bool back = t->back_halt_us > 0;
    const double us = back ? t->back_halt_us : t->halt_us, from = back ? t->back_us : t->d1_us;
    if (!near(f->duration_us.value, us, LEAST_US) || !near(f->start_us, from, back ? LEAST_US : START_US))
        tell(r->wrong, "; halted for %.2f from %.2f on, not %.2f from %.2f", f->duration_us.value, f->start_us, us,
             from);
}

static void judge_ramp(struct reasons *r, const struct phase *f)
{
    double tau = phases_rate_ramps(f) ? f->rate_ramp.tau_us.value : NAN;
    if (!near(tau, r->truth->tau_us, LEAST_US))
        tell(r->wrong, "; the rate approaches its end in %.2f us, not %.2f", tau, r->truth->tau_us);
}

static bool expected(const struct guest_truth *t, enum phase_kind kind)
{
    switch (kind) {
    case PHASE_THROTTLE:
        return t->ratio < 1 && t->kind != GUEST_RAMP;
    case PHASE_HALT:
        return t->halt_us > 0 || t->back_halt_us > 0;
    case PHASE_RAMP:
        return t->kind == GUEST_RAMP;
    default:
        return false;
    }
}

/* A ramp, or two lengths, reported as several phases of throttling: less than the truth, but not false. */
static bool reported_in_pieces(const struct reasons *r, double *end)
{
    const struct guest_truth *t = r->truth;
    double lost = 0;
    if (t->kind != GUEST_RAMP && t->kind != GUEST_MODES)
        return false;
    *end = 0;
    size_t pieces = 0;
    for (size_t i = 0; i < r->p->n_phases; i++) {
        const struct phase *f = &r->p->phases[i];
        if (!is_event(f))
            continue;
        if (f->kind != PHASE_THROTTLE || fabs(f->start_us - *end) > START_US)
            return false;
        *end = f->start_us + f->duration_us.value;
        lost += f->duration_us.value * (1 - f->ipc_ratio);
        pieces++;
    }
    if (t->kind == GUEST_MODES)
        return pieces > 1 && near(*end, t->d1b_us, LEAST_US);
    return pieces > 0 && fabs(lost / (t->tau_us * (1 - t->ratio)) - 1) < 0.25;
}

static void judge_phases(struct reasons *r)
{
    bool found[PHASE_UNKNOWN + 1] = {false};
    double end;
    if (reported_in_pieces(r, &end)) {
        tell(r->open, "; reported as throttling until %.2f", end);
        return;
    }
    for (size_t i = 0; i < r->p->n_phases; i++) {
        const struct phase *f = &r->p->phases[i];
        if (!is_event(f))
            continue;
        if (found[f->kind] || !expected(r->truth, f->kind)) {
            tell(r->wrong, "; invented %s of %.2f us at %.2f", phases_kind_name(f->kind), f->duration_us.value,
                 f->start_us);
            continue;
        }
        found[f->kind] = true;
        (f->kind == PHASE_THROTTLE ? judge_throttle : f->kind == PHASE_HALT ? judge_halt : judge_ramp)(r, f);
    }
    const struct guest_truth *t = r->truth;
    if (expected(t, PHASE_THROTTLE) && !found[PHASE_THROTTLE])
        miss(r, "throttling", sees_throttling(r->p, t->ratio, t->d1_us));
    if (t->halt_us >= SMALL_HALT_US && !found[PHASE_HALT])
        miss(r, "a halt", t->halt_us >= r->p->detectable_halt_us);
    if (expected(t, PHASE_RAMP) && !found[PHASE_RAMP]) /* its mean over the first time constant */
        miss(r, "a ramp", sees_throttling(r->p, 1 - 0.63 * (1 - t->ratio), t->tau_us));
}

/* ---- the clock ---- */

/* The clock at the end over that before the switch; NaN: unknown. */
static double found_step(const struct phases *p)
{
    double before = NAN, after = NAN;
    for (size_t i = 0; i < p->n_phases; i++) {
        const struct phase *f = &p->phases[i];
        if (phases_is_steady(f) && f->start_us < -START_US && isnan(before))
            before = f->freq_ghz.value;
        if (phases_is_steady(f) && f->start_us > -START_US)
            after = f->freq_ghz.value;
    }
    return after / before;
}

/* Returns true if some phase begins where the clock falls. */
static bool begins_there(const struct phases *p, double us)
{
    for (size_t i = 0; i < p->n_phases; i++)
        if (near(p->phases[i].start_us, us, START_US))
            return true;
    return false;
}

/* Nothing but a halt lies between the lower clock and the one that stays. */
static void judge_return(struct reasons *r, const struct phase *low)
{
    size_t between = 0, steady = 0;
    for (const struct phase *f = low + 1; f < r->p->phases + r->p->n_phases; f++) {
        between += f->kind != PHASE_STEADY && f->kind != PHASE_HALT;
        steady += f->kind == PHASE_STEADY;
    }
    if (between || steady > 1)
        tell(r->wrong, "; %zu steady and %zu other phases where the clock is back", steady, between);
}

/* A clock that is low for a while. */
static void judge_dip(struct reasons *r)
{
    const struct guest_truth *t = r->truth;
    const struct phase *low = NULL;
    double before = NAN;
    for (size_t i = 0; i < r->p->n_phases; i++) {
        const struct phase *f = &r->p->phases[i];
        if (phases_is_steady(f) && f->start_us < -START_US)
            before = f->freq_ghz.value;
        if (f->kind == PHASE_SLOW && low)
            tell(r->wrong, "; another slow phase at %.2f", f->start_us);
        low = f->kind == PHASE_SLOW && !low ? f : low;
    }
    if (!low) {
        miss(r, "a lower clock", 1 - t->low >= r->p->detectable_freq);
        return;
    }
    if (fabs(low->freq_ghz.value / before / t->low - 1) > 2 * STEP_BOUND)
        tell(r->wrong, "; a clock of %.3f, not %.3f", low->freq_ghz.value / before, t->low);
    if (!near(low->start_us + low->duration_us.value, t->back_us, LEAST_US))
        tell(r->wrong, "; back at %.1f, not %.1f", low->start_us + low->duration_us.value, t->back_us);
    judge_return(r, low);
    if (fabs(found_step(r->p) - 1) > STEP_BOUND)
        tell(r->wrong, "; at %.3f in the end", found_step(r->p));
}

static void judge_step(struct reasons *r)
{
    const struct guest_truth *t = r->truth;
    double step = found_step(r->p);
    if (t->back_us > 0) {
        judge_dip(r);
    } else if (isnan(step)) {
        if (t->low < 1)
            tell(!r->unknown && 1 - t->low >= r->p->detectable_freq ? r->wrong : r->open, "; missed a step to %.3f",
                 t->low);
    } else if (fabs(step / t->low - 1) > STEP_BOUND) {
        tell(r->wrong, "; a step to %.3f, not %.3f", step, t->low);
    } else if (t->low < 1 && t->ratio >= 1 && !begins_there(r->p, t->d1_us)) {
        tell(r->wrong, "; nothing begins where the clock falls, at %.2f", t->d1_us);
    }
}

enum guest_verdict guest_judge(const struct guest_truth *truth, const struct phases *p, char *why, size_t why_size)
{
    struct reasons r = {.truth = truth, .p = p};
    for (size_t i = 0; i < p->n_phases; i++)
        r.unknown = r.unknown || p->phases[i].kind == PHASE_UNKNOWN;
    if (r.unknown)
        tell(r.open, "; unknown");
    judge_phases(&r);
    judge_step(&r);
    const char *text = *r.wrong ? r.wrong : r.open;
    snprintf(why, why_size, "%s", *text ? text + 2 : "");
    return *r.wrong ? GUEST_FALSE : *r.open ? GUEST_UNDECIDED : GUEST_RIGHT;
}

static void check_limits(const struct estimate *e, double truth, struct guest_held *h)
{
    if (isnan(e->lo) || isnan(truth))
        return;
    h->n++;
    h->held += e->lo <= truth && truth <= e->hi;
    h->off += e->value - truth;
    h->wide += estimate_half(e);
}

void guest_check_limits(const struct guest_truth *truth, const struct trace *t, const struct phases *p,
                        struct guest_held held[GUEST_LIMITS])
{
    for (size_t i = 1; i < p->n_phases; i++) {
        const struct phase *f = &p->phases[i];
        bool second = f->n_modes > 1 &&
                      fabs(f->duration_us.value - truth->d1b_us) < fabs(f->duration_us.value - truth->d1_us);
        if (f->kind == PHASE_THROTTLE) {
            struct estimate ratio = transition_throttle_ratio(t, p, i);
            check_limits(&ratio, truth->ratio, &held[GUEST_RATIO]);
            check_limits(&f->duration_us, second ? truth->d1b_us : truth->d1_us, &held[GUEST_DURATION]);
        } else if (f->kind == PHASE_HALT) {
            check_limits(&f->duration_us, truth->halt_us > 0 ? truth->halt_us : truth->back_halt_us,
                         &held[GUEST_HALT_DURATION]);
        } else if (phases_rate_ramps(f)) {
            check_limits(&f->rate_ramp.tau_us, truth->tau_us, &held[GUEST_TAU]);
        }
    }
}

const char *guest_verdict_name(enum guest_verdict v)
{
    static const char *const names[GUEST_VERDICTS] = {"right", "undecided", "false"};
    return names[v];
}

void guest_print_answer(FILE *out, const struct guest_truth *truth, const struct phases *p)
{
    fprintf(out, "    truth : %s\n    answer:", truth->about);
    for (size_t i = 0; i < p->n_phases; i++) {
        const struct phase *f = &p->phases[i];
        fprintf(out, " [%.2f %s %.2f us (%.2f..%.2f) %.2f, %.4g GHz, %zu modes", f->start_us, phases_kind_name(f->kind),
                f->duration_us.value, f->duration_us.lo, f->duration_us.hi, f->ipc_ratio, f->freq_ghz.value,
                f->n_modes);
    }
    fprintf(out, "; %zu of %zu runs, would have seen a step of %.4f, throttling to %.3f of %.2f us\n", p->runs_used,
            p->runs, p->detectable_freq, p->detectable_throttle, p->detectable_throttle_us);
}
