/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slow: processors on which all kinds of things go on */
/*
 * The main job where the processor is an ordinary one: with a sibling thread, a boost that wanders, power limits,
 * system management interrupts, cold code, repetitions in each other's wake. The published claims of the model still
 * come out, and a warning says what was about; where nothing happens nothing is found.
 */
#include "analysis/phases/phases.h"
#include "probes/transition.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/phases_rig.h"
#include "tests/support/test.h"

static void measure_for(const struct model *m, const char *from, const char *to, double observe, unsigned runs,
                        uint64_t seed, struct phases *out)
{
    struct transition_setup s;
    struct machine machine;
    struct machine_error err;
    struct repetitions r;
    struct payload a = rig_payload(from), b = rig_payload(to);
    char why[200];
    transition_defaults(&s, &a, &b);
    s.machine.seed = seed;
    s.no_volts = !m->stamps_volts;
    if (observe > 0)
        s.observe_us = observe;
    if (runs)
        s.runs = runs;
    if (m->release_tau_us > 0)
        s.warmup_us = 20 * m->release_tau_us;
    if (machine_open_parsed_model(m, "model:test", &machine, &err) ||
        transition_run(&machine, &s, NULL, NULL, &r, &err))
        fail_msg("%s", err.text);
    if (phases_find(&r.trace, out, why, sizeof why))
        fail_msg("%s", why);
    repetitions_free(&r);
    machine.ops->close(&machine);
}

static void measure(const struct model *m, const char *from, const char *to, uint64_t seed, struct phases *out)
{
    measure_for(m, from, to, 0, 0, seed, out);
}

/* ---- the scenarios ---- */

static void sibling(struct model *m, double share, double period_us, double factor)
{
    m->scenario.sibling = (struct model_sibling){.share = share, .period_us = period_us, .factor = factor};
}
static void sibling_20(struct model *m)
{
    sibling(m, 0.2, 300, 0.55);
}
static void sibling_60(struct model *m)
{
    sibling(m, 0.6, 300, 0.55);
}
static void sibling_60_long(struct model *m)
{
    sibling(m, 0.6, 3000, 0.7);
}
static void sibling_60_half(struct model *m)
{
    sibling(m, 0.6, 500, 0.45);
}
static void wandering(struct model *m)
{
    m->scenario.wander = (struct model_wander){.sigma = {0.01, 0.002}, .us = {1.2e8, 3000}};
}
static void limits(struct model *m, double share, double factor)
{
    m->scenario.limit_share = share;
    m->scenario.limit_factor = factor;
}
static void limits_34(struct model *m)
{
    limits(m, 0.34, 0.95);
}
static void limits_45(struct model *m)
{
    limits(m, 0.45, 0.93);
}
static void smis(struct model *m)
{
    m->scenario.smi_rate_hz = 200;
    m->scenario.smi_min_us = 20;
    m->scenario.smi_max_us = 300;
}
static void cold(struct model *m)
{
    m->scenario.cold_us = 0.8;
    m->scenario.cold_factor = 0.6;
}
static void in_a_row(struct model *m)
{
    m->scenario.carries = true;
    m->scenario.gap_us = 50;
}
static void everything(struct model *m)
{
    sibling(m, 0.3, 300, 0.55);
    wandering(m);
    limits_34(m);
    smis(m);
    cold(m);
    in_a_row(m);
}

static const struct scenario {
    const char *name;
    void (*make)(struct model *m);
    double frequency;    /* relative: how far the processor's own frequency may be off */
    const char *warning; /* NULL: none is due */
} scenarios[] = {
    {"sibling, 20 %", sibling_20, 0.001, "another thread ran on the core"},
    {"sibling, 60 %", sibling_60, 0.001, "another thread ran on the core"},
    {"sibling, 60 %, of 3 ms", sibling_60_long, 0.001, "another thread ran on the core"},
    {"sibling, 60 %, to 0.45", sibling_60_half, 0.001, "another thread ran on the core"},
    {"wandering", wandering, 0.035, NULL},
    {"limits, 34 %", limits_34, 0.001, "ran at a lower frequency from beginning to end: 0.950 times"},
    {"limits, 45 %", limits_45, 0.001, "of the others"},
    {"SMIs", smis, 0.001, NULL},
    {"cold code", cold, 0.001, NULL},
    {"in a row", in_a_row, 0.001, NULL},
    {"everything", everything, 0.035, "another thread ran on the core"},
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

/* ---- claims ---- */

struct claim {
    enum phase_kind kind;
    double us, ghz, ratio; /* us 0: the end of the recording decides */
};

static const char *compare(const struct claim *c, size_t n, const struct phases *p, const struct scenario *w,
                           double slower)
{
    if (p->n_phases != n)
        return "the number of phases";
    for (size_t i = 0; i < n; i++) {
        const struct phase *f = &p->phases[i];
        if (f->kind != c[i].kind)
            return "a kind";
        if (c[i].us > 0 && fabs(f->duration_us.value - c[i].us) > 1)
            return "a duration";
        if (c[i].kind == PHASE_HALT)
            continue;
        double step = f->freq_ghz.value / c[i].ghz;
        /* the majority is as stated, or limited where about half of the repetitions are */
        if (fabs(step - 1) > w->frequency && fabs(step / slower - 1) > w->frequency)
            return "a frequency";
        if (slower < 1 &&
            !(f->freq_ghz.lo < c[i].ghz * (slower + w->frequency) && f->freq_ghz.hi > c[i].ghz * (1 - w->frequency)))
            return "limits that hold all repetitions";
        if (fabs(f->ipc_ratio - c[i].ratio) > 0.02)
            return "a ratio";
    }
    return NULL;
}

static void check(const struct claim *c, size_t n, const char *from, const char *to, double observe)
{
    for (size_t i = 0; i < SCENARIOS; i++) {
        struct model m;
        struct phases p;
        rig_load("xeon-gold-6130", &m);
        scenarios[i].make(&m);
        measure_for(&m, from, to, observe, 0, 7, &p);
        const char *wrong = compare(c, n, &p, &scenarios[i], m.scenario.limit_share > 0 ? m.scenario.limit_factor : 1);
        if (!wrong && scenarios[i].warning && !rig_warned(&p, scenarios[i].warning))
            wrong = "a warning";
        if (wrong) {
            rig_show_phases(&p);
            fail_msg("%s, %s -> %s: %s", scenarios[i].name, from, to, wrong);
        }
        phases_free(&p);
    }
}

/* Gottschlag's dissertation, sections 3.2.2 and 3.2.3. */
TEST(published_claims_come_out)
{
    static const struct claim down[] = {{PHASE_STEADY, 0, 2.8, 1}, {PHASE_THROTTLE, 20, 2.8, 0.25},
                                        {PHASE_HALT, 10, 0, 0},    {PHASE_THROTTLE, 20, 2.4, 0.5},
                                        {PHASE_HALT, 10, 0, 0},    {PHASE_STEADY, 0, 1.9, 1}};
    check(down, 6, "128fma", "512fma", 0);
}

TEST(waits_come_out)
{
    static const struct claim up[] = {
        {PHASE_STEADY, 0, 1.9, 1}, {PHASE_SLOW, 670, 1.9, 1}, {PHASE_HALT, 10, 0, 0}, {PHASE_STEADY, 0, 2.8, 1}};
    check(up, 4, "512fma", "64add", 900);
}

TEST(where_nothing_happens_nothing_is_found)
{
    for (size_t i = 0; i < SCENARIOS; i++)
        for (uint64_t seed = 1; seed <= rng_rounds(3); seed++) {
            struct model m;
            struct phases p;
            rig_load("xeon-gold-6130", &m);
            scenarios[i].make(&m);
            measure(&m, "128fma", "128or", seed, &p);
            bool found = p.n_transitions > 0;
            for (size_t k = 0; k < p.n_phases; k++)
                found = found || p.phases[k].kind != PHASE_STEADY;
            if (found) {
                rig_show_phases(&p);
                fail_msg("%s, seed %u", scenarios[i].name, (unsigned)seed);
            }
            phases_free(&p);
        }
}

/* ---- one by one ---- */

/* A processor without frequency changes that throttles to one half for 20 us, and counts no licenses. */
static void halving(struct model *m)
{
    rig_load("xeon-gold-6130", m);
    m->counts_licenses = m->counts_throttle = false;
    for (size_t i = 0; i < m->n_turbo; i++)
        m->turbo[i].ghz[1] = m->turbo[i].ghz[2] = m->turbo[i].ghz[0];
    for (unsigned a = 0; a < m->n_classes; a++)
        for (unsigned b = a + 1; b < m->n_classes; b++) {
            struct model_transition *t = &m->transitions[a][b];
            t->n_steps = 2;
            t->steps[0] = (struct model_step){.kind = MODEL_STEP_THROTTLE, .ratio = 0.5, .us = 20};
            t->steps[1] = (struct model_step){.kind = MODEL_STEP_GRANT, .grant = b};
        }
}

TEST(a_throttle_to_one_half_is_not_steady)
{
    static const double shares[] = {0.2, 0.6}, periods[] = {60, 300, 3000}, factors[] = {0.45, 0.55, 0.7};
    for (int i = 0; i < 18; i++) {
        struct model m;
        struct phases p;
        halving(&m);
        sibling(&m, shares[i % 2], periods[i / 2 % 3], factors[i / 6]);
        measure(&m, "128fma", "512fma", 11, &p);
        if (p.n_phases != 3 || p.phases[1].kind != PHASE_THROTTLE || fabs(p.phases[1].ipc_ratio - 0.5) > 0.02 ||
            fabs(p.phases[1].duration_us.value - 20) > 0.5 || !rig_warned(&p, "another thread")) {
            rig_show_phases(&p);
            fail_msg("share %g, period %g, factor %g", shares[i % 2], periods[i / 2 % 3], factors[i / 6]);
        }
        phases_free(&p);
    }
}

TEST(what_keeps_step_is_no_throttle)
{
    for (int wide = 0; wide < 2; wide++) {
        struct model m;
        struct phases p;
        rig_load("xeon-gold-6130", &m);
        sibling(&m, 0.2, 60, 0.55);
        m.scenario.sibling.lockstep = true;
        measure(&m, "128fma", wide ? "512fma" : "128or", 1, &p);
        assert_true(rig_warned(&p, "at the same moments of all repetitions"));
        assert_int_equal(p.n_transitions, 0);
        for (size_t k = 0; k < p.n_phases; k++)
            assert_int_not_equal(p.phases[k].kind, PHASE_THROTTLE);
        phases_free(&p);
    }
}

/* 34 slow repetitions of 100 were "2.8000 +- .0001, 91/91" without a word. */
TEST(slow_repetitions_are_reported)
{
    struct model m;
    struct phases p;
    rig_load("xeon-gold-6130", &m);
    limits_34(&m);
    measure(&m, "128fma", "512fma", 1, &p);
    unsigned slow = 0, all = 0;
    for (size_t i = 0; i < p.n_warnings; i++)
        if (sscanf(p.warnings[i], "%u of %u repetitions ran at a lower frequency", &slow, &all) == 2)
            break;
    assert_int_equal(all, p.runs_used);
    assert_true(fabs((double)slow / all - 0.34) < 0.15);
    assert_true(rig_warned(&p, "2.660 GHz instead of 2.800"));
    for (size_t i = 0; i < p.n_levels; i++)
        assert_true(p.levels[i].lo < p.levels_ghz[i] * 0.951 && p.levels[i].lo > p.levels_ghz[i] * 0.945 &&
                    p.levels[i].hi < p.levels_ghz[i] * 1.001);
    phases_free(&p);
    rig_load("xeon-gold-6130", &m); /* and nothing is reported where all run alike */
    measure(&m, "128fma", "512fma", 1, &p);
    assert_false(rig_warned(&p, "from beginning to end"));
    phases_free(&p);
}

/* The voltage falls gradually after each halt (Gottschlag's dissertation, section 3.2.3), in which nobody reads it. */
TEST(voltage_ramps_come_out)
{
    for (uint64_t seed = 1; seed <= rng_rounds(3); seed++) {
        struct model m;
        struct phases p;
        rig_load("xeon-gold-6130", &m);
        m.volts_ramp_us = 15;
        m.stamps_volts = true;
        m.read_delay_us = 3;
        measure(&m, "128fma", "512fma", seed, &p);
        static const struct volt_step truth[] = {{30, 45, 0.88, 0.82, 0}, {60, 75, 0.82, 0.75, 0}};
        bool right = p.n_volt_steps == 2;
        for (size_t i = 0; i < 2 && right; i++)
            right = fabs(p.volt_steps[i].begin_us - truth[i].begin_us) < 2.5 &&
                    fabs(p.volt_steps[i].end_us - truth[i].end_us) < 2.5 &&
                    fabs(p.volt_steps[i].from_v - truth[i].from_v) < 0.002 &&
                    fabs(p.volt_steps[i].to_v - truth[i].to_v) < 0.002;
        for (size_t i = 0; i < p.n_phases; i++)
            right = right && (p.phases[i].kind != PHASE_HALT || isnan(p.phases[i].volts));
        if (!right) {
            rig_show_phases(&p);
            for (size_t i = 0; i < p.n_volt_steps; i++)
                print_message("  %.1f to %.1f us: %.4f to %.4f V\n", p.volt_steps[i].begin_us, p.volt_steps[i].end_us,
                              p.volt_steps[i].from_v, p.volt_steps[i].to_v);
            fail_msg("seed %u", (unsigned)seed);
        }
        phases_free(&p);
    }
}

/* ---- ramps ---- */

/* The levels are `step` apart, and each change of class is a ramp. */
static void ramping(struct model *m, double tau_us, double step, double throttle_us)
{
    rig_load("xeon-gold-6130", m);
    for (size_t i = 0; i < m->n_turbo; i++)
        for (unsigned l = 1; l < m->n_levels; l++)
            m->turbo[i].ghz[l] = m->turbo[i].ghz[l - 1] * (1 - step);
    for (unsigned a = 0; a < m->n_classes; a++)
        for (unsigned b = a + 1; b < m->n_classes; b++) {
            struct model_transition *t = &m->transitions[a][b];
            size_t n = 0;
            if (throttle_us > 0)
                t->steps[n++] = (struct model_step){.kind = MODEL_STEP_THROTTLE, .ratio = 0.25, .us = throttle_us};
            t->steps[n++] = (struct model_step){.kind = MODEL_STEP_GRANT, .grant = b, .tau_us = tau_us};
            t->n_steps = n;
        }
    m->release_tau_us = tau_us;
}

/* The only ramp; NULL: none, or more than one. */
static const struct phase *the_ramp(const struct phases *p)
{
    const struct phase *found = NULL;
    size_t n = 0;
    for (size_t i = 0; i < p->n_phases; i++)
        if (p->phases[i].kind == PHASE_RAMP) {
            found = &p->phases[i];
            n++;
        }
    return n == 1 ? found : NULL;
}

static bool holds(const struct estimate *e, double truth, double rounding)
{
    return e->lo <= truth + rounding && e->hi >= truth - rounding;
}

TEST(a_ramp_is_one_phase)
{
    static const double taus[] = {500, 1000, 2000, 5000}, steps[] = {0.01, 0.03};
    const unsigned cases = rng_rounds(40);
    unsigned held[3] = {0};
    for (unsigned i = 0; i < cases; i++) {
        double tau = taus[i % 4], step = steps[i / 4 % 2], throttle = i % 3 == 2 ? 10 : 0;
        bool up = i % 5 == 4;
        struct model m;
        struct phases p;
        ramping(&m, tau, step, throttle);
        if (up)
            m.n_interrupts = 0; /* one restarts the wait: the ramp would begin at another time in each repetition */
        measure_for(&m, up ? "512fma" : "128fma", up ? "128fma" : "512fma", 4000, 20, i + 1, &p);
        const struct phase *ramp = the_ramp(&p);
        double from = up ? 2.8 * (1 - step) * (1 - step) : 2.8, to = up ? 2.8 : 2.8 * (1 - step) * (1 - step);
        double amplitude = fabs(from - to);
        if (!ramp || fabs(ramp->start_us - (up ? 670 : throttle)) > 25 ||
            fabs(ramp->from_ghz.value - from) > 0.1 * amplitude || fabs(ramp->to_ghz.value - to) > 0.2 * amplitude ||
            fabs(ramp->tau_us.value / tau - 1) > 0.3) {
            rig_show_phases(&p);
            fail_msg("case %u: tau %g, step %g, throttled for %g, up %d", i, tau, step, throttle, up);
        }
        held[0] += holds(&ramp->from_ghz, from, 5e-5 * from);
        held[1] += holds(&ramp->to_ghz, to, 5e-5 * to);
        held[2] += holds(&ramp->tau_us, tau, 0);
        phases_free(&p);
    }
    print_message("of %u limits hold: from %u, to %u, tau %u\n", cases, held[0], held[1], held[2]);
    for (int k = 0; k < 3; k++)
        assert_true(held[k] >= cases * 85 / 100);
}

/* A 2 % ramp was three levels. */
TEST(a_ramp_has_two_levels)
{
    struct model m;
    struct phases p;
    ramping(&m, 500, 0.01, 0);
    measure_for(&m, "128fma", "512fma", 4000, 20, 1, &p);
    const struct phase *ramp = the_ramp(&p);
    assert_non_null(ramp);
    assert_int_equal(p.n_levels, 2);
    assert_int_equal(p.n_phases, 3);
    assert_int_equal(p.n_transitions, 1);
    assert_true(holds(&p.transitions[0].latency_us, ramp->duration_us.value, 0));
    assert_true(fabs(p.levels_ghz[1] / (2.8 * 0.99 * 0.99) - 1) < 2e-4);
    phases_free(&p);
}

/* A frequency that wanders by itself is no ramp, nor is one that steps, at whatever times. */
TEST(what_is_no_ramp)
{
    for (uint64_t seed = 1; seed <= rng_rounds(6); seed++) {
        struct model m;
        struct phases p;
        rig_load("xeon-gold-6130", &m);
        m.scenario.wander = (struct model_wander){.sigma = {0.01, 0.004}, .us = {1.2e8, 3000}};
        measure_for(&m, "128fma", "128or", 4000, 20, seed, &p);
        assert_null(the_ramp(&p));
        phases_free(&p);
        rig_load("xeon-gold-6130", &m);
        m.wait_sigma_us = 200; /* sharp steps: their mean is a curve */
        measure_for(&m, "512fma", "128fma", 2000, 30, seed, &p);
        if (the_ramp(&p)) {
            rig_show_phases(&p);
            fail_msg("seed %u: steps at scattered times are taken for a ramp", (unsigned)seed);
        }
        phases_free(&p);
        m.halt_us = m.halt_sigma_us = 0;
        m.counts_licenses = m.counts_throttle = false;
        measure_for(&m, "512fma", "128fma", 2000, 30, seed, &p);
        if (the_ramp(&p)) {
            rig_show_phases(&p);
            fail_msg("seed %u: steps without halts at scattered times are taken for a ramp", (unsigned)seed);
        }
        phases_free(&p);
    }
}
