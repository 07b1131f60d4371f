/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Another thread on the core that slows not only the kernel but also the chains of adds by which a machine without
 * counters tells the frequency: in random phase the samples that it leaves alone tell it; in step with the repetitions
 * nothing is reported.
 */
#include "analysis/phases/repetitions/steady.h"
#include "analysis/phases/phases.h"
#include "probes/steady.h"
#include "probes/guarded.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { SCENARIOS = 14 };

/* The 6130 without counters, by a clock of its own and with a thread of its own. */
static void draw(struct model *m, uint64_t seed, bool lockstep)
{
    static const double steps[] = {0, 1, 10, 25}, jitters[] = {0, 1, 3, 5};
    struct rng x;
    rng_init(&x, seed, 0);
    rig_load("xeon-gold-6130", m);
    m->no_counters = true;
    m->counts_licenses = m->counts_throttle = false;
    m->tsc_step_ns = steps[seed % 4];
    m->clock_jitter_ns = jitters[seed / 4 % 4];
    double factor = rng_range(&x, 0.5, 0.8);
    m->scenario.sibling = (struct model_sibling){.share = rng_range(&x, 0.05, 0.5),
                                                 .period_us = rng_log(&x, 30, lockstep ? 40 : 2000),
                                                 .factor = factor,
                                                 .chain_factor = rng_range(&x, factor + 0.6 * (1 - factor), 0.97),
                                                 .lockstep = lockstep};
}

static void measure(const struct model *m, const char *from, const char *to, unsigned runs, uint64_t seed,
                    struct switches_seen *out)
{
    struct machine machine;
    struct machine_error err;
    struct transition_setup s;
    struct payload a = rig_payload(from), b = rig_payload(to);
    struct guard g = {.machine = &machine};
    transition_defaults(&s, &a, &b);
    s.machine.seed = seed;
    s.runs = runs;
    s.machine.active_cores = 16;
    s.no_volts = true;
    assert_int_equal(machine_open_parsed_model(m, "model:test", &machine, &err), MACHINE_OK);
    if (guarded_switch(&g, &s, out, &err))
        fail_msg("%s", err.text);
    machine.ops->close(&machine);
}

static bool holds(const struct estimate *e, double ghz)
{
    return e->lo < ghz * 1.0002 && e->hi > ghz * 0.9998;
}

/* Without the samples that are left out 17 of 60 such scenarios had a frequency off by up to 29 %. */
TEST(what_is_left_alone_tells_the_frequency)
{
    unsigned n = rng_rounds(SCENARIOS), off = 0, claims = 0;
    for (unsigned i = 0; i < n; i++) {
        struct model m;
        struct switches_seen seen;
        draw(&m, i, false);
        bool wide = i % 3 == 0;
        measure(&m, wide ? "128fma" : "128or", wide ? "512fma" : "64add", 100, i + 1, &seen);
        const struct phases *p = &seen.phases;
        bool bad = false, claim = !wide && p->n_transitions > 0;
        for (size_t k = 0; k < p->n_phases; k++) {
            const struct phase *ph = &p->phases[k];
            bool base = ph->kind == PHASE_STEADY || ph->kind == PHASE_SLOW;
            double ghz = !wide || ph->start_us < -1 ? 2.8 : 1.9;
            bad = bad || (base && !(fabs(ph->freq_ghz.value / ghz - 1) < 0.02));
            off += base && !holds(&ph->freq_ghz, ghz);
            claim = claim || (!wide && (ph->kind == PHASE_THROTTLE || ph->kind == PHASE_HALT));
        }
        if (bad)
            fail_msg("scenario %u: a frequency is off by more than 2 %%", i);
        claims += claim;
        guarded_free(&seen);
    }
    print_message("of %u scenarios %u frequencies outside their limits, %u false claims\n", n, off, claims);
    assert_int_equal(claims, 0);
    assert_true(off <= 2 + n / 10);
}

TEST(steady_frequencies_are_those_left_alone)
{
    unsigned n = rng_rounds(SCENARIOS), off = 0;
    for (unsigned i = 0; i < n; i++) {
        struct model m;
        struct machine machine;
        struct machine_error err;
        struct steady_setup s;
        struct steady_value v;
        struct repetitions r;
        struct payload p = rig_payload("128fma");
        draw(&m, 100 + i, false);
        m.scenario.sibling.lockstep = i % 4 == 3;
        steady_defaults(&s, &p);
        s.machine = (struct machine_setup){.cpu = -1, .active_cores = 16, .seed = i};
        assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), MACHINE_OK);
        if (steady_run(&machine, &s, &r, &err))
            fail_msg("%s", err.text);
        assert_int_equal(steady_mean(&r.trace, TRACE_FREQ, 0, &v), 0);
        if (!(fabs(v.mean.value / 2.8 - 1) < 0.03))
            fail_msg("scenario %u: %.4f GHz instead of 2.8", i, v.mean.value);
        off += !holds(&v.mean, 2.8);
        repetitions_free(&r);
        machine.ops->close(&machine);
    }
    print_message("%u of %u outside their limits\n", off, n);
    assert_true(off <= 2 + n / 10);
}

/* Such a scenario had 240 phases. */
TEST(what_keeps_step_is_undecided)
{
    unsigned n = rng_rounds(SCENARIOS), whole = 0;
    for (unsigned i = 0; i < n; i++) {
        struct model m;
        struct switches_seen seen;
        draw(&m, 200 + i, true);
        m.scenario.sibling.share = fmax(m.scenario.sibling.share, 0.15);
        measure(&m, i % 2 ? "128fma" : "128or", i % 2 ? "512fma" : "64add", 100, i + 1, &seen);
        const struct phases *p = &seen.phases;
        whole += p->n_phases == 2 && p->phases[0].kind == PHASE_UNKNOWN && p->phases[1].kind == PHASE_UNKNOWN;
        if (p->n_phases > 20 || p->n_transitions > 0)
            fail_msg("scenario %u: %zu phases, %zu transitions; share %.2f, period %.0f us, factors %.2f and %.2f", i,
                     p->n_phases, p->n_transitions, m.scenario.sibling.share, m.scenario.sibling.period_us,
                     m.scenario.sibling.factor, m.scenario.sibling.chain_factor);
        guarded_free(&seen);
    }
    print_message("%u of %u are undecided as a whole\n", whole, n);
    assert_true(whole >= n * 3 / 4);
}
