/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slow: many recordings by models of clocks */
/*
 * The timing machine's own path through models: a TSC in steps of 1, 10 and 25 ns, chains, no counters; and counters
 * beside such a TSC. What happens is found, with the figures that went in; what does not happen is not.
 */
#include "analysis/phases/repetitions/clock.h"
#include "analysis/phases/phases.h"
#include "tables/switches/transition_summary.h"
#include "drivers/model/model.h"
#include "tests/support/clock_models.h"
#include "tests/support/model_rig.h"
#include "tests/support/phases_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

static const double steps[] = {1, 10, 25};
enum { STEPS = sizeof steps / sizeof *steps };

static void measure(const struct model *m, uint64_t seed, unsigned runs, struct switches_seen *seen)
{
    struct machine_error err;
    if (clock_measure(m, seed, runs, seen, &err))
        fail_msg("%s", err.text);
}

/* Cycles are counted, but the clock goes in steps: medians of such frequencies were up to 0.5 % off, and made two
 * levels of 2.8 GHz. */
TEST(counted_cycles_by_a_coarse_clock)
{
    static const double ghz[] = {2.8, 2.4, 1.9};
    for (unsigned i = 0; i < 4 * STEPS; i++) {
        struct model m;
        struct switches_seen seen;
        bool null = i % 4 == 3;
        if (null)
            clock_model(&m, CLOCK_NOTHING, 0);
        else
            rig_load("xeon-gold-6130", &m);
        m.no_counters = false;
        m.tsc_step_ns = steps[i / 4];
        measure(&m, i + 1, 60, &seen);
        const struct phases *p = &seen.phases;
        assert_int_equal(p->n_levels, null ? 1 : 3);
        assert_int_equal(p->n_transitions, null ? 0 : 1);
        for (size_t k = 0; k < p->n_levels; k++)
            if (fabs(p->levels[k].value / ghz[k] - 1) > 3e-4)
                fail_msg("%g ns: level %zu at %g GHz", m.tsc_step_ns, k, p->levels[k].value);
        guarded_free(&seen);
    }
}

/* The published course of the 6130, by each clock. */
TEST(the_6130_by_chains)
{
    static const struct {
        enum phase_kind kind;
        double us, ghz, ratio;
    } expected[] = {{PHASE_STEADY, 50, 2.8, 1},     {PHASE_THROTTLE, 20, 2.8, 0.25}, {PHASE_HALT, 10, NAN, NAN},
                    {PHASE_THROTTLE, 20, 2.4, 0.5}, {PHASE_HALT, 10, NAN, NAN},      {PHASE_STEADY, 90, 1.9, 1}};
    for (size_t s = 0; s < STEPS; s++) {
        struct model m;
        struct switches_seen seen;
        rig_load("xeon-gold-6130", &m);
        clock_by_chains(&m, steps[s]);
        measure(&m, 5, 100, &seen);
        const struct phases *p = &seen.phases;
        assert_int_equal(p->n_phases, 6);
        assert_int_equal(p->n_transitions, 1);
        assert_int_equal(p->n_levels, 3);
        for (size_t i = 0; i < 6; i++) {
            const struct phase *ph = &p->phases[i];
            bool wrong = ph->kind != expected[i].kind || fabs(ph->duration_us.value - expected[i].us) > 1.5 ||
                         (i > 0 && i < 5 && fabs(ph->duration_us.value - expected[i].us) > 0.4) /* of a sample */ ||
                         fabs(ph->freq_ghz.value / expected[i].ghz - 1) > 0.01 ||
                         fabs(ph->ipc_ratio / expected[i].ratio - 1) > 0.02;
            if (wrong)
                fail_msg("%g ns, phase %zu: %s of %.2f us at %.4f GHz, ratio %.3f", steps[s], i,
                         phases_kind_name(ph->kind), ph->duration_us.value, ph->freq_ghz.value, ph->ipc_ratio);
        }
        guarded_free(&seen);
    }
}

static void measure_switch(const struct model *m, const char *from, const char *to, struct switches_seen *seen)
{
    struct transition_setup s;
    struct machine_error err;
    const struct payload a = rig_payload(from), b = rig_payload(to);
    transition_defaults(&s, &a, &b);
    s.machine.seed = 3;
    s.machine.active_cores = 16;
    s.observe_us = 1500;
    s.runs = 150;
    s.no_volts = true;
    if (clock_measure_switch(m, &s, seen, &err))
        fail_msg("%s", err.text);
}

/* A wait, and a clock that rises gradually: they were one ramp from the switch on, steps where the clock rises by less
 * than a sixth, or followed by another level that the last of the ramp was taken for. */
TEST(a_ramp_after_a_wait)
{
    static const struct {
        const char *from;
        double wait_us, tau_us, low_ghz, step_ns;
    } all[] = {{"256fma", 670, 25, 2.4, 1},
               {"512fma", 140, 88, 1.9, 25},
               {"512fma", 670, 25, 1.9, 1},
               {"256fma", 140, 60, 2.4, 10}};
    for (size_t i = 0; i < rng_few(sizeof all / sizeof *all, 2); i++) {
        struct model m;
        struct switches_seen seen;
        rig_load("xeon-gold-6130", &m);
        clock_by_chains(&m, all[i].step_ns);
        clock_ramps(&m, all[i].tau_us);
        m.wait_us = all[i].wait_us;
        measure_switch(&m, all[i].from, "128fma", &seen);
        const struct phases *p = &seen.phases;
        bool right = p->n_phases == 4 && p->phases[1].kind == PHASE_SLOW && p->phases[2].kind == PHASE_RAMP &&
                     fabs(p->phases[1].duration_us.value - all[i].wait_us) < 5 &&
                     fabs(p->phases[2].tau_us.value / all[i].tau_us - 1) < 0.06 &&
                     fabs(p->phases[1].freq_ghz.value / all[i].low_ghz - 1) < 0.003 &&
                     fabs(p->phases[3].freq_ghz.value / 2.8 - 1) < 0.003;
        for (size_t k = 0; k < p->n_phases && !right; k++)
            print_message("  %s at %.1f for %.1f us, %.4f GHz, time constant %.1f us\n",
                          phases_kind_name(p->phases[k].kind), p->phases[k].start_us, p->phases[k].duration_us.value,
                          p->phases[k].freq_ghz.value, p->phases[k].tau_us.value);
        if (!right)
            fail_msg("%s, %g us, then %g us, %g ns", all[i].from, all[i].wait_us, all[i].tau_us, all[i].step_ns);
        guarded_free(&seen);
    }
}

/* Interrupts begin a wait of 3 ms again in nearly half of the repetitions, which do not see its end: they are none
 * whose sibling thread is busy, and tell neither the clock nor the rate after it. */
TEST(those_that_still_wait_tell_nothing_of_the_end)
{
    struct model m;
    struct switches_seen seen;
    rig_load("xeon-gold-6130", &m);
    clock_by_chains(&m, m.tsc_step_ns);
    m.wait_us = 3000;
    measure_switch(&m, "512or", "64add", &seen);
    const struct phases *p = &seen.phases;
    const struct phase *last = &p->phases[p->n_phases - 1];
    assert_int_equal(p->n_phases, 4);
    assert_true(fabs(p->phases[1].duration_us.value - 3000) < 5 && p->phases[2].kind == PHASE_HALT);
    assert_true(fabs(last->freq_ghz.value / 2.8 - 1) < 0.001);
    assert_true(fabs(last->ipc / p->phases[1].ipc - 1) < 0.01);
    assert_false(p->disturbed);
    guarded_free(&seen);
}

/* Analyzing the recorded trace again gives the same phases. */
TEST(a_recording_says_the_same)
{
    struct model m;
    struct switches_seen seen;
    struct phases again;
    char why[200];
    rig_load("xeon-gold-6130", &m);
    clock_model(&m, CLOCK_THROTTLE, 10);
    measure(&m, 2, 40, &seen);
    assert_int_equal(phases_find(&seen.result.trace, &again, why, sizeof why), 0);
    char *first = phases_to_json(&seen.phases), *second = phases_to_json(&again);
    assert_string_equal(first, second);
    free(first);
    free(second);
    phases_free(&again);
    guarded_free(&seen);
}

/* Few seeds here; make bench takes a hundred of each. */
TEST(what_happens_is_found_and_nothing_else)
{
    const unsigned seeds = rng_fewer_sanitized(rng_all_rounds() ? 4 : 2);
    for (size_t s = 0; s < STEPS; s++)
        for (enum clock_event e = CLOCK_NOTHING; e < CLOCK_EVENTS; e++) {
            unsigned found = 0;
            struct model m;
            rig_load("xeon-gold-6130", &m);
            clock_model(&m, e, steps[s]);
            for (unsigned seed = 1; seed <= seeds; seed++) {
                struct switches_seen seen;
                measure(&m, seed, 100, &seen);
                found += clock_found(&seen.phases, e);
                guarded_free(&seen);
            }
            if (found < seeds - (steps[s] > 10)) /* effects for which 25 ns are too coarse may be missed now and then */
                fail_msg("%s, steps of %g ns: %u of %u", clock_event_name[e], steps[s], found, seeds);
        }
}

/* ---- what chains and halts look like ---- */

/* Throttling that acts on whatever runs slows the chain, too: no frequency but those of the processor is reported. By
 * each clock two seeds, or four. */
TEST(throttled_chains_are_no_frequency)
{
    static const double truth[] = {2.8, 2.4, 1.9};
    for (size_t s = 0; s < STEPS; s++)
        for (unsigned seed = 1; seed <= rng_few(4, 2); seed++) {
            struct model m;
            struct switches_seen seen;
            unsigned unknown = 0;
            rig_load("xeon-gold-6130", &m);
            clock_by_chains(&m, steps[s]);
            m.throttle_distance = 0;
            measure(&m, seed, 100, &seen);
            for (size_t i = 0; i < seen.phases.n_levels; i++) {
                double off = INFINITY;
                for (int k = 0; k < 3; k++)
                    off = fmin(off, fabs(seen.phases.levels_ghz[i] / truth[k] - 1));
                if (off > 0.015)
                    fail_msg("%g ns, seed %u: a level of %.3f GHz", steps[s], seed, seen.phases.levels_ghz[i]);
            }
            for (size_t i = 0; i < seen.phases.n_phases; i++) {
                const struct phase *ph = &seen.phases.phases[i];
                /* to a quarter of the rate no clock falls; to a half one might */
                bool reported = ph->kind == PHASE_THROTTLE ? ph->ipc_ratio < 0.5
                                                           : ph->kind == PHASE_UNKNOWN && strstr(ph->why, "chain");
                unknown += reported && isnan(ph->freq_ghz.value);
            }
            assert_int_equal(unknown, 2);
            guarded_free(&seen);
        }
}

/* Half of the repetitions, by chance of rounding, did not agree on a halt that begins with the switch. */
TEST(halts_at_the_switch_are_all_counted)
{
    for (unsigned i = 0; i < 12; i++) {
        struct model m;
        struct switches_seen seen;
        rig_load("xeon-gold-6130", &m);
        size_t last = m.n_classes - 1;
        m.no_counters = i % 2;
        m.tsc_step_ns = i % 2 ? steps[i / 2 % STEPS] : 0;
        m.counts_licenses = m.counts_throttle = i % 4 == 0;
        m.halt_us = i < 6 ? 10 : 4;
        m.transitions[0][last].n_steps = 1;
        m.transitions[0][last].steps[0] = (struct model_step){.kind = MODEL_STEP_GRANT, .grant = (unsigned)last};
        measure(&m, i + 1, 100, &seen);
        const struct phases *p = &seen.phases;
        bool right = p->n_transitions == 1 && p->transitions[0].halts == 1 && fabs(p->transitions[0].at_us) < 0.03 &&
                     20 * p->transitions[0].agreeing_runs >= 19 * p->runs_used;
        if (!right)
            fail_msg("case %u: %zu transitions, %zu of %zu repetitions, at %.2f us", i, p->n_transitions,
                     p->n_transitions ? p->transitions[0].agreeing_runs : 0, p->runs_used,
                     p->n_transitions ? p->transitions[0].at_us : 0);
        guarded_free(&seen);
    }
}

/* The end of a throttle, which the IPC shows, sorted repetitions by which way the noise of their frequency went: in one
 * of twenty recordings half of them did not agree, and the throttle was taken back. */
TEST(noise_does_not_sort_repetitions)
{
    const unsigned cases = rng_rounds(40);
    unsigned found = 0, agree = 0;
    struct model m;
    rig_load("xeon-gold-6130", &m);
    clock_model(&m, CLOCK_THROTTLE, 1);
    for (unsigned seed = 1; seed <= cases; seed++) {
        struct switches_seen seen;
        measure(&m, seed, 60, &seen);
        found += clock_found(&seen.phases, CLOCK_THROTTLE);
        agree += seen.phases.n_transitions &&
                 10 * seen.phases.transitions[0].agreeing_runs >= 9 * seen.phases.runs_used;
        guarded_free(&seen);
    }
    print_message("%u of %u throttles found, %u by nine of ten repetitions\n", found, cases, agree);
    assert_true(found + 1 >= cases && agree + 1 >= cases);
}

/* As on a Granite Rapids: a quarter of the rate for 2.75 us, then another frequency without a halt. By samples of 1 us
 * that was a steady phase from the switch on, or a halt. */
TEST(a_throttle_of_a_few_samples)
{
    skip_where_sanitized_in_brief("the others and --all run the same code there");
    const unsigned cases = rng_all_rounds() ? 12 : 6; /* of each kind one */
    unsigned right = 0;
    for (unsigned i = 0; i < cases; i++) {
        struct model m;
        struct switches_seen seen;
        rig_load("xeon-gold-6130", &m);
        clock_model(&m, CLOCK_THROTTLE, i % 2 ? 0.77 : 1);
        m.transitions[0][m.n_classes - 1].steps[0].us = 2.75;
        for (size_t k = 0; k < m.n_turbo; k++)
            m.turbo[k].ghz[2] = 2.6;
        m.throttle_distance = i % 3 ? 75 : 40; /* chains are throttled in part */
        measure(&m, i + 1, 60, &seen);
        const struct phases *p = &seen.phases;
        const struct phase *ph = p->n_phases == 3 ? &p->phases[1] : NULL;
        bool good = ph && ph->kind == PHASE_THROTTLE && fabs(ph->start_us) < 0.05 &&
                    fabs(ph->duration_us.value - 2.75) < 0.3 && fabs(ph->ipc_ratio - 0.25) < 0.06 &&
                    p->n_transitions == 1 && p->transitions[0].halts == 0 &&
                    fabs(p->transitions[0].to_ghz / 2.6 - 1) < 0.004 && seen.setup.period_us < 0.6;
        if (!good)
            rig_show_phases(p);
        right += good;
        guarded_free(&seen);
    }
    print_message("%u of %u throttles of 2.75 us as they are\n", right, cases);
    assert_true(right + 1 >= cases);
}

/* A step of 3 % in few repetitions by a coarse clock would not surely be found; but the core has halted for it. */
TEST(a_small_step_with_a_halt_is_one)
{
    unsigned right = 0;
    enum { CASES = 20 };
    for (unsigned i = 0; i < CASES; i++) {
        struct model m;
        struct switches_seen seen;
        struct transition_summary sum;
        rig_load("xeon-gold-6130", &m);
        clock_model(&m, CLOCK_STEP, 10);
        m.halt_us = 10;
        measure(&m, i + 1, 12, &seen);
        transition_summarize(&seen.result.trace, &seen.phases, &sum);
        right += sum.kind == SWITCH_FREQUENCY && sum.halts == 1;
        guarded_free(&seen);
    }
    print_message("%u of %d small steps with a halt are reported as such\n", right, (int)CASES);
    assert_true(right >= CASES * 8 / 10);
}

/* The limits of a ramp must contain this, as a coarse clock reads it: means of 1 / time were 1.5 % too high. */
TEST(ramps_by_clocks_in_steps)
{
    const unsigned cases = rng_rounds(36);
    static const double taus[] = {30, 60, 100};
    unsigned held = 0, times = 0, found = 0;
    for (unsigned i = 0; i < cases; i++) {
        struct model m;
        struct switches_seen seen;
        double to = 1.9 + 0.2 * (i % 4), tau = taus[i / 3 % 3];
        rig_load("xeon-gold-6130", &m);
        clock_model(&m, CLOCK_NOTHING, steps[i % STEPS]);
        size_t last = m.n_classes - 1;
        for (size_t t = 0; t < m.n_turbo; t++)
            m.turbo[t].ghz[2] = to;
        m.transitions[0][last].steps[0].tau_us = tau;
        m.release_tau_us = 100;
        measure(&m, i + 1, 100, &seen);
        for (size_t k = 0; k < seen.phases.n_phases; k++) {
            const struct phase *ph = &seen.phases.phases[k];
            if (ph->kind != PHASE_RAMP)
                continue;
            found++;
            held += ph->to_ghz.lo <= to && to <= ph->to_ghz.hi;
            times += ph->tau_us.lo <= tau && tau <= ph->tau_us.hi;
            if (fabs(ph->to_ghz.value / to - 1) > 0.015 || fabs(ph->tau_us.value / tau - 1) > 0.2)
                fail_msg("case %u: to %.4f [%.4f, %.4f] GHz instead of %.4f, time constant %.1f instead of %.1f us", i,
                         ph->to_ghz.value, ph->to_ghz.lo, ph->to_ghz.hi, to, ph->tau_us.value, tau);
        }
        guarded_free(&seen);
    }
    print_message("%u of %u ramps found, %u limits of their ends and %u of their time constants hold\n", found, cases,
                  held, times);
    assert_true(found == cases && held * 100 >= found * 85 && times * 100 >= found * 75);
}

/* ---- readings by a clock in steps ---- */

TEST(pooled_frequencies_have_no_bias)
{
    enum { N = 4000 };
    static double x[N], scratch[N];
    struct trace t;
    trace_init(&t);
    assert_int_equal(trace_add_channel(&t, TRACE_FREQ), 0);
    uint32_t random = 1;
    for (size_t i = 0; i < N; i++) { /* 268 cycles at 3.7 GHz by a clock of 10 ns, rounded down at both ends */
        random = random * 1664525 + 1013904223;
        double begin = (random >> 8) / 16777216.0 * 10, ns = floor((begin + 268 / 3.7) / 10) * 10;
        x[i] = i % 100 ? 268 / ns : 268 / (ns + 5000); /* an interruption now and then */
        assert_int_equal(trace_append(&t, 0, (double)i), 0);
        t.channel[TRACE_FREQ][i] = (float)x[i];
    }
    assert_int_equal(trace_set(&t, "frequency", "instantaneous") | trace_set(&t, "clock_step_ns", "10") |
                         trace_set(&t, "chain_cycles", "268") | trace_set(&t, "frequency_error", "0.001"),
                     0);
    struct clock_reading r = clock_reading_of(&t);
    assert_true(r.instant && r.error == 0.001);
    assert_float_equal(r.quantum, 10 * 3.7 / 268, 0.01);
    double pooled = clock_centre(&r, TRACE_FREQ, x, N, scratch);
    if (fabs(pooled / 3.7 - 1) > 0.003)
        fail_msg("%.4f GHz", pooled);
    assert_int_equal(trace_set(&t, "frequency_error", "many"), 0);
    assert_true(clock_reading_of(&t).error == 0);
    trace_free(&t);
}
