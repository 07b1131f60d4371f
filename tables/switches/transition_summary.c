/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Summarizes a switch in one line, and computes rates of throttled phases with their limits. */
#include "tables/switches/transition_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/robust.h"
#include "util/text_list.h"

/* FRACTIONS: a ratio is written as 1/2 to 1/10 where it is one. LEAST_RUNS: fewer show no finding. MODE_RUNS: one
 * repetition is no mode. */
enum { FRACTIONS = 10, LEAST_RUNS = 5, MODE_RUNS = 2 };
#define LICENSE_STEP 0.5 /* of the cycles, from one license level to another */
/* The first instruction of the second kernel is time 0, and a sample holds it: what begins earlier than the usual
 * period before it cannot have been caused by it. */
#define BEFORE_US 1.0
/* Relative: a ratio so near to a fraction is that. */
#define FRACTION_WITHIN 0.02
/* Share of the repetitions used. Not a half: where half of them resolve a short phase before the rest, and half do not,
 * the finding is the same. */
#define BORNE_OUT 0.4
/* Relative: by so much less throttling may make a chain tell, of which it slows the first adds. */
#define CHAIN_SLOWED 0.05
#define CHAIN_SLOWED_ALONE 0.25 /* ... where nothing shows another frequency: a quarter of the chain at half the rate */
/* Relative, alike in all repetitions: a phase holds a whole number of blocks, and each reading takes a part of it. */
#define RATIO_KNOWN 0.0005

static const struct estimate unknown = {NAN, NAN, NAN};

const char *transition_switch_kind_name(enum switch_kind k)
{
    static const char *const names[SWITCH_KINDS] = {"none",         "frequency",    "throttle only", "halt only",
                                                    "voltage only", "licence only", "undecided"};
    return k < SWITCH_KINDS ? names[k] : "undecided";
}

size_t transition_first_phase_after_switch(const struct phases *p)
{
    size_t i = 0;
    while (i < p->n_phases && p->phases[i].start_us + p->phases[i].duration_us.value / 2 < 0)
        i++;
    return i;
}

void transition_ratio_text(double ratio, char *out, size_t size)
{
    double inverse = round(1 / ratio);
    if (inverse >= 2 && inverse <= FRACTIONS && fabs(ratio * inverse - 1) <= FRACTION_WITHIN)
        snprintf(out, size, "1/%.0f", inverse);
    else
        snprintf(out, size, "%.2f", ratio);
}

/* ---- in words ---- */

static void add_phase(const struct phase *p, char *out, size_t size)
{
    char ratio[16];
    text_list_add(out, size, ", ", "%s", phases_kind_name(p->kind));
    if (p->kind == PHASE_THROTTLE && !isnan(p->ipc_ratio)) {
        transition_ratio_text(p->ipc_ratio, ratio, sizeof ratio);
        text_list_add(out, size, "", " %s", ratio);
    }
    if (p->kind == PHASE_RAMP && p->tau_us.value > 0)
        text_list_add(out, size, "", " to %.3f GHz (time constant %.0f us%s)", p->to_ghz.value, p->tau_us.value,
                      p->clock_unsure ? "; by dependent adds alone: or all code is throttled" : "");
    if (phases_rate_ramps(p))
        text_list_add(out, size, "", "%s from %.2f of the full rate (time constant %.0f us)",
                      p->tau_us.value > 0 ? " and" : "", p->rate_ramp.from.value, p->rate_ramp.tau_us.value);
    text_list_add(out, size, "", " %.1f us", p->duration_us.value);
    for (size_t m = 1; m < p->n_modes; m++)
        if (round(p->modes[m].share * (double)p->agreeing_runs) >= MODE_RUNS)
            text_list_add(out, size, "", " (in %.0f %% of the repetitions %.1f us)", 100 * p->modes[m].share,
                          p->modes[m].duration_us);
    if (p->kind == PHASE_UNKNOWN)
        text_list_add(out, size, "", " (%s)", p->why);
}

static void describe_phases(const struct phases *p, size_t first, struct transition_summary *out)
{
    size_t last = p->n_phases;
    while (last > first && phases_is_steady(&p->phases[last - 1]) && last == p->n_phases)
        last--;
    for (size_t i = first; i < last; i++)
        add_phase(&p->phases[i], out->phases, sizeof out->phases);
}

static void describe_limits(const struct phases *p, struct transition_summary *out)
{
    char *text = out->detectable;
    size_t size = sizeof out->detectable;
    if (!isnan(p->detectable_freq))
        text_list_add(text, size, "", "a frequency step of %.2g %% for %.3g us", 100 * p->detectable_freq,
                      p->detectable_freq_us);
    if (!isnan(p->detectable_throttle))
        text_list_add(text, size, ", ", "throttling below %.2f of the rate for %.3g us", p->detectable_throttle,
                      p->detectable_throttle_us);
    if (!isnan(p->detectable_halt_us))
        text_list_add(text, size, ", ", "a halt of %.2g us", p->detectable_halt_us);
    if (text[0] && p->n_phases) {
        const struct phase *last = &p->phases[p->n_phases - 1];
        text_list_add(text, size, "", ", within %.0f us", last->start_us + last->duration_us.value);
    }
}

/* ---- ratios ---- */

/*
 * Mean IPC, weighted by cycles, of the samples of one repetition (begin .. end of the trace) that lie within a phase.
 * `edge`: so far from its ends, us. Where each frequency is that of one chain it is the mean rate, payload instructions
 * in a ns: what they all have in common gives the frequency better. `sparse`: few samples have a frequency, and IPC is
 * by one for all of them. NaN: there are none.
 */
static double mean_ipc(const struct trace *t, size_t begin, size_t end, const struct phase *p, double edge,
                       bool instant, bool sparse)
{
    const float *ipc = t->channel[TRACE_IPC], *freq = t->channel[TRACE_FREQ];
    double from = p->start_us + edge, to = p->start_us + p->duration_us.value - edge, cycles = 0, done = 0;
    for (size_t i = begin + 1; i < end; i++) {
        double us = t->time_us[i] - t->time_us[i - 1];
        if (t->time_us[i - 1] < from || t->time_us[i] > to || isnan(ipc[i]) || !(us > 0))
            continue;
        double weight = us * (freq && !sparse && !isnan(freq[i]) ? (double)freq[i] : 1);
        cycles += instant ? us : weight;
        done += weight * (double)ipc[i];
    }
    return cycles > 0 ? done / cycles : NAN;
}

static size_t fastest_after(const struct phases *phases, size_t p)
{
    size_t best = p;
    for (size_t i = p + 1; i < phases->n_phases; i++)
        if (phases->phases[i].kind != PHASE_HALT && (best == p || phases->phases[i].ipc > phases->phases[best].ipc))
            best = i;
    return best;
}

/*
 * By how much less, relative, a chain shows in a throttled phase than at the frequency that the phase may have, where
 * the throttling, which slows the first of its adds, may be the reason. Until the core halts that frequency is the one
 * before all throttling (at most CHAIN_SLOWED_ALONE less). After a halt it is that before, or at full rate after it (at
 * most CHAIN_SLOWED): 0 if one of both is the same, or neither so near.
 */
static double chain_doubt(const struct phases *phases, size_t p, const struct phase *full)
{
    double own = phases->phases[p].freq_ghz.value, before = NAN, doubt = INFINITY;
    bool halted = false;
    for (size_t i = p; i-- > 0 && isnan(before);) {
        halted |= phases->phases[i].kind == PHASE_HALT;
        bool passes = phases->phases[i].kind == PHASE_HALT || (!halted && !phases_is_steady(&phases->phases[i]));
        before = passes ? NAN : phases->phases[i].freq_ghz.value;
    }
    const double near[2] = {before, full->freq_ghz.value}, most = halted ? CHAIN_SLOWED : CHAIN_SLOWED_ALONE;
    for (size_t i = 0; i < (halted ? 2 : 1); i++) {
        double less = 1 - own / near[i];
        if (less > 0 && less < most && less < doubt)
            doubt = less;
    }
    return isfinite(doubt) ? doubt : 0;
}

/* Widens the limits of a ratio of rates over time, as that of instructions per cycle, where chains did not distinguish
 * two frequencies: they may still differ by so much. */
static void allow_step(const struct phase *slow, const struct phase *full, struct estimate *e)
{
    double step = full->freq_ghz.value / slow->freq_ghz.value;
    double half = hypot(full->freq_half_ghz / full->freq_ghz.value, slow->freq_half_ghz / slow->freq_ghz.value);
    if (isfinite(step * half)) {
        e->lo *= fmin(1, step - half);
        e->hi *= fmax(1, step + half);
    }
}

struct estimate transition_throttle_ratio(const struct trace *t, const struct phases *phases, size_t p)
{
    const struct phase *slow = &phases->phases[p], *full = &phases->phases[fastest_after(phases, p)];
    struct estimate fallback = {slow->ipc_ratio, NAN, NAN};
    if (full == slow || !t->channel[TRACE_IPC] || !t->run)
        return fallback;
    double *x = calloc(phases->runs + 1, sizeof *x);
    if (!x)
        return fallback;
    /* an eighth off either end: repetitions do not all begin and end it at the same time */
    double edge[2] = {slow->duration_us.value / 8, fmin(full->duration_us.value / 8, 5)};
    if (phases->null_cold_us > 0)
        edge[0] = fmax(edge[0], phases->null_cold_us - slow->start_us);
    bool instant = clock_reading_of(t).instant, sparse = trace_frequency_share(t) < 0.5;
    size_t n = 0;
    for (size_t begin = 0, end; begin < t->n && n < phases->runs; begin = end) {
        end = trace_run_end(t, begin);
        if (phases_discarded(phases, t->run[begin]))
            continue;
        double ratio = mean_ipc(t, begin, end, slow, edge[0], instant, sparse) /
                       mean_ipc(t, begin, end, full, edge[1], instant, sparse);
        if (isfinite(ratio))
            x[n++] = ratio;
    }
    struct estimate e = robust_mean(x, n, 5, 0, NULL);
    free(x);
    bool other = instant && (slow->level < 0 || slow->level != full->level);
    double faster = other ? full->freq_ghz.value / slow->freq_ghz.value : 1; /* of a cycle, not of a ns */
    double of_faster = other ? hypot(full->freq_half_ghz / full->freq_ghz.value,
                                     slow->freq_half_ghz / slow->freq_ghz.value)
                             : 0;
    e.value *= faster;
    double half = hypot(estimate_half_known(&e) * faster, hypot(RATIO_KNOWN, of_faster) * e.value);
    /* a sibling thread is in all means of the long phase, and in few of the short one, which are taken for wild */
    if (phases->disturbed && isfinite(slow->ipc_ratio))
        e.value = slow->ipc_ratio;
    double doubt = instant ? chain_doubt(phases, p, full) * e.value : 0;
    e = (struct estimate){e.value, e.value - half - doubt, e.value + half};
    if (instant && !other)
        allow_step(slow, full, &e);
    return n < 2 ? fallback : e;
}

/* ---- sums over the phases ---- */

/* The first transition that begins at the switch or after it; n_transitions: there is none. */
static size_t first_of_switch(const struct phases *p)
{
    size_t i = 0;
    while (i < p->n_transitions && p->transitions[i].at_us < -BEFORE_US)
        i++;
    return i;
}

/* The transition that begins before the switch and is not over by then, which leaves nothing to compare with; NULL. */
static const struct transition *across_switch(const struct phases *p)
{
    for (size_t i = 0; i < first_of_switch(p); i++)
        if (p->transitions[i].at_us + p->transitions[i].latency_us.value > BEFORE_US)
            return &p->transitions[i];
    return NULL;
}

/* From the first sign of the first transition to the end of the last, without the waits in between. */
static struct estimate span_latency(const struct phases *p)
{
    size_t begin = first_of_switch(p);
    if (begin == p->n_transitions)
        return unknown;
    const struct transition *first = &p->transitions[begin], *last = &p->transitions[p->n_transitions - 1];
    double end = last->at_us + last->latency_us.value, us = end - first->at_us, square = 0;
    for (size_t i = begin; i < p->n_transitions; i++)
        square += pow(estimate_half_known(&p->transitions[i].latency_us), 2);
    for (size_t i = 0; i < p->n_phases; i++) {
        const struct phase *between = &p->phases[i];
        bool inside = between->start_us >= first->at_us && between->start_us < last->at_us;
        if (inside && between->kind == PHASE_SLOW)
            us -= between->duration_us.value;
        else if (inside && between->kind == PHASE_STEADY)
            square += pow(estimate_half_known(&between->duration_us), 2);
    }
    double half = sqrt(square);
    us = fmax(us, 0);
    return (struct estimate){us, fmax(us - half, 0), us + half}; /* no time is negative */
}

static struct estimate sum_wait(const struct phases *p, size_t first)
{
    double sum = 0, square = 0;
    for (size_t i = first; i < p->n_phases; i++)
        if (p->phases[i].kind == PHASE_SLOW) {
            sum += p->phases[i].duration_us.value;
            square += pow(estimate_half_known(&p->phases[i].duration_us), 2);
        }
    struct estimate e = sum > 0 ? estimate_around(sum, sqrt(square)) : unknown;
    e.lo = e.lo < 0 ? 0 : e.lo; /* no time is negative */
    return e;
}

static struct estimate sum_overhead(const struct trace *t, const struct phases *p, size_t first)
{
    const struct phase *last = &p->phases[p->n_phases - 1];
    const struct estimate *final = &last->freq_ghz;
    double sum = 0, square = 0, work = 0;
    for (size_t i = first; i + 1 < p->n_phases; i++) {
        const struct phase *ph = &p->phases[i];
        double us = ph->duration_us.value, rate = 0;
        if (ph->kind == PHASE_SLOW)
            continue;
        if (ph->kind != PHASE_HALT) {
            struct estimate ratio = phases_is_steady(ph) || ph->kind == PHASE_RAMP ? (struct estimate){1, 1, 1}
                                                                                   : transition_throttle_ratio(t, p, i);
            if (phases_rate_ramps(ph))
                ratio = phases_ramp_ratio(ph);
            rate = ratio.value * ph->freq_ghz.value / final->value;
            square += pow(us * rate, 2) * (pow(estimate_half_known(&ratio) / ratio.value, 2) +
                                           pow(ph->freq_half_ghz / ph->freq_ghz.value, 2));
        }
        work += us * rate;
        sum += us * (1 - rate);
        square += pow((1 - rate) * estimate_half_known(&ph->duration_us), 2);
    }
    /* the final frequency is one and the same in all terms */
    square += pow(work * last->freq_half_ghz / final->value, 2);
    return isnan(sum) ? unknown : estimate_around(sum, sqrt(square));
}

/* ---- the kind of switch ---- */

/* A step of the frequency that is smaller than what would surely have been found is none, unless the core has halted
 * for it: limits that exclude each other are then enough. */
static bool other_frequency(const struct phases *p, const struct phase *a, const struct phase *b, bool halted)
{
    double step = fabs(b->freq_ghz.value / a->freq_ghz.value - 1);
    bool apart = a->freq_ghz.hi < b->freq_ghz.lo || b->freq_ghz.hi < a->freq_ghz.lo;
    return a->level != b->level && (!(step < p->detectable_freq) || (halted && apart));
}

static bool other_license(const struct phase *a, const struct phase *b)
{
    for (int i = 0; i < 3; i++)
        if (fabs(a->share[i] - b->share[i]) > LICENSE_STEP)
            return true;
    return false;
}

static enum switch_kind kind_of(const struct phases *p, size_t first)
{
    bool throttled = false, halted = false, license = false, ramp = false;
    if (first == 0 || first >= p->n_phases || !phases_is_steady(&p->phases[p->n_phases - 1]) ||
        !phases_is_steady(&p->phases[first - 1]) || across_switch(p))
        return SWITCH_UNDECIDED;
    const struct phase *before = &p->phases[first - 1];
    for (size_t i = first; i < p->n_phases; i++) {
        if (p->phases[i].kind == PHASE_UNKNOWN)
            return SWITCH_UNDECIDED;
        ramp |= p->phases[i].clock_ramp.tau_us.value > 0; /* which has been found by more than its two ends */
        throttled |= p->phases[i].kind == PHASE_THROTTLE || phases_rate_ramps(&p->phases[i]);
        halted |= p->phases[i].kind == PHASE_HALT;
    }
    if (ramp)
        return SWITCH_FREQUENCY;
    for (size_t i = first; i < p->n_phases; i++) { /* there and back is a change, too */
        if (!phases_is_steady(&p->phases[i]))
            continue;
        if (other_frequency(p, before, &p->phases[i], halted))
            return SWITCH_FREQUENCY;
        license |= other_license(before, &p->phases[i]);
    }
    if (throttled || halted)
        return throttled ? SWITCH_THROTTLE_ONLY : SWITCH_HALT_ONLY;
    if (p->n_volt_steps)
        return SWITCH_VOLTAGE_ONLY;
    return first_of_switch(p) < p->n_transitions && license ? SWITCH_LICENSE_ONLY : SWITCH_NONE;
}

static size_t agreeing(const struct phases *p)
{
    size_t n = p->runs_used;
    for (size_t i = first_of_switch(p); i < p->n_transitions; i++)
        n = p->transitions[i].agreeing_runs < n ? p->transitions[i].agreeing_runs : n;
    return n;
}

/* Returns true if enough repetitions agree. What too few show is no finding, nor what the few show that are left of
 * many. */
static bool is_borne_out(const struct phases *p, size_t n)
{
    bool few = p->runs_used < LEAST_RUNS && 2 * p->runs_used < p->runs;
    return (double)n > BORNE_OUT * (double)p->runs_used && !few;
}

/* Returns true if the frequency steps after the fine part of a long recording: a sample that lost time is left out
 * there. */
static bool between_coarse_samples(const struct trace *t, const struct phases *p)
{
    const double fine = trace_number(t, "fine_us");
    const struct transition *last = p->n_transitions ? &p->transitions[p->n_transitions - 1] : NULL;
    return last && last->at_us > fine && !(last->latency_us.value > 0);
}

void transition_summarize(const struct trace *trace, const struct phases *p, struct transition_summary *out)
{
    size_t first = transition_first_phase_after_switch(p);
    memset(out, 0, sizeof *out);
    out->latency_us = out->wait_us = out->overhead_us = out->from_ghz = out->to_ghz = unknown;
    out->kind = kind_of(p, first);
    out->n = agreeing(p);
    describe_limits(p, out);
    if (across_switch(p))
        text_list_add(out->phases, sizeof out->phases, "",
                      "a change that begins %.1f us before the switch is not over by then", -across_switch(p)->at_us);
    else if (out->kind != SWITCH_NONE)
        describe_phases(p, first, out);
    if (out->kind != SWITCH_UNDECIDED && !is_borne_out(p, out->n)) {
        out->kind = SWITCH_UNDECIDED;
        text_list_add(out->phases, sizeof out->phases, ", ", "only in %zu of %zu repetitions", out->n, p->runs);
    }
    if (first > 0 && phases_is_steady(&p->phases[first - 1]))
        out->from_ghz = p->phases[first - 1].freq_ghz;
    if (out->kind == SWITCH_UNDECIDED)
        return;
    out->to_ghz = p->phases[p->n_phases - 1].freq_ghz;
    if (out->kind == SWITCH_NONE)
        return;
    for (size_t i = first; i < p->n_phases; i++)
        out->halts += p->phases[i].kind == PHASE_HALT;
    out->latency_us = span_latency(p);
    out->wait_us = sum_wait(p, first);
    out->overhead_us = sum_overhead(trace, p, first);
    if (between_coarse_samples(trace, p)) {
        out->halts = NAN;
        out->overhead_us = unknown;
    }
}

void transition_summary_withhold(struct transition_summary *s)
{
    s->kind = SWITCH_UNDECIDED;
    s->latency_us = s->wait_us = s->overhead_us = s->to_ghz = unknown;
    s->halts = 0;
    s->phases[0] = s->detectable[0] = '\0';
}
