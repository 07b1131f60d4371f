/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A switch where repetitions are not alike: waits of two lengths that scatter, a thread next door, power limits on some
 * of them; with counters and by chains of a clock in steps. What happens comes out with its figures, and nothing else.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/guarded.h"
#include "tests/unit/model_rig.h"

enum { WORLDS = 12, WORLDS_SANITIZED = 2, WHY_MAX = 120 };

static const double clocks[] = {0, 10, 0, 25}; /* ns; 0: cycles are counted */

static unsigned worlds(void)
{
    return getenv("SANITIZED") ? WORLDS_SANITIZED : WORLDS;
}

static void model_of(struct model *m, double step_ns)
{
    rig_load("xeon-gold-6130", m);
    if (step_ns > 0) {
        m->no_counters = true;
        m->counts_licences = m->counts_throttle = false;
        m->tsc_step_ns = step_ns;
    }
}

static void measure(const struct model *m, const char *from, const char *to, double observe, unsigned runs, bool volts,
                    uint64_t seed, struct switches_seen *seen)
{
    struct payload a = rig_payload(from), b = rig_payload(to);
    struct transition_setup s;
    struct machine machine;
    struct machine_error err;
    const struct guard g = {.machine = &machine, .observe_given = observe > 0};
    transition_defaults(&s, &a, &b);
    s.seed = seed;
    s.runs = runs;
    s.no_volts = !volts;
    if (observe > 0)
        s.observe_us = observe;
    if (machine_open_parsed_model(m, "model:test", &machine, &err) || guarded_switch(&g, &s, seen, &err))
        fail_msg("%s", err.text);
    machine.ops->close(&machine);
}

static void show(const struct phases *p)
{
    for (size_t i = 0; i < p->n_phases; i++) {
        const struct phase *ph = &p->phases[i];
        print_message("  %-8s %8.2f +%8.2f us [%.2f, %.2f] %6.3f GHz [%.3f, %.3f] ratio %5.3f\n",
                      phase_kind_name(ph->kind), ph->start_us, ph->duration_us.value, ph->duration_us.lo,
                      ph->duration_us.hi, ph->freq_ghz.value, ph->freq_ghz.lo, ph->freq_ghz.hi, ph->ipc_ratio);
    }
    for (size_t i = 0; i < p->n_volt_steps; i++)
        print_message("  %.4f -> %.4f V at %.1f to %.1f us\n", p->volt_steps[i].from_v, p->volt_steps[i].to_v,
                      p->volt_steps[i].begin_us, p->volt_steps[i].end_us);
    for (size_t i = 0; i < p->n_warnings; i++)
        print_message("  warning: %s\n", p->warnings[i]);
}

static bool warned(const struct phases *p, const char *of)
{
    for (size_t i = 0; i < p->n_warnings; i++)
        if (strstr(p->warnings[i], of))
            return true;
    return false;
}

static bool are_kinds(const struct phases *p, const enum phase_kind *kind, size_t n)
{
    bool same = p->n_phases == n;
    for (size_t i = 0; i < n && same; i++)
        same = p->phases[i].kind == kind[i];
    return same;
}

static bool one_of_both(double us, double wait, double slack)
{
    return fabs(us - wait) < slack || fabs(us - 2 * wait) < slack;
}

/* What is wrong with a wait of the one or of twice the length; NULL: nothing. */
static const char *wrong_wait(const struct phases *p, double wait, double sigma, double halt)
{
    static const enum phase_kind up[] = {PHASE_STEADY, PHASE_SLOW, PHASE_HALT, PHASE_STEADY};
    if (!are_kinds(p, up, 4))
        return "the phases";
    if (p->n_transitions != 1 || p->transitions[0].halts != 1 || p->n_levels != 2)
        return "the transition";
    const struct phase *slow = &p->phases[1];
    if (slow->n_modes > 2)
        return "the modes";
    for (size_t i = 0; i < slow->n_modes; i++)
        if (!one_of_both(slow->modes[i].duration_us, wait, 2 + 1.5 * sigma))
            return "a mode";
    if (!one_of_both(slow->duration_us.value, wait, 1 + 1.5 * (slow->duration_us.hi - slow->duration_us.value)))
        return "the wait";
    return fabs(p->phases[2].duration_us.value - halt) < 0.7 ? NULL : "the halt";
}

static void waits_of_two_lengths_are_one_phase(void **state)
{
    (void)state;
    static const double waits[] = {120, 670, 400, 1000}, sigmas[] = {0, 5, 15, 10, 2}, doubles[] = {0.5, 0.05, 0.3};
    static const unsigned runs[] = {100, 200, 60};
    unsigned wrong = 0, n = worlds();
    for (unsigned i = 0; i < n; i++) {
        struct model m;
        struct switches_seen seen;
        double wait = waits[i % 4], sigma = sigmas[i % 5];
        model_of(&m, clocks[(i + i / 4) % 4]);
        m.wait_us = wait;
        m.wait_sigma_us = sigma;
        for (size_t c = 0; c < m.n_classes; c++)
            m.classes[c].wait_double = doubles[i % 3];
        measure(&m, "512fma", "128fma", 2.3 * wait + 200, runs[i / 3 % 3], true, 11 + i, &seen);
        const struct phases *p = &seen.phases;
        const char *what = wrong_wait(p, wait, sigma, m.halt_us);
        if (!what && doubles[i % 3] > 0.2 && p->phases[1].n_modes != 2)
            what = "the share of the doubled waits";
        if (!what && (p->n_volt_steps != 1 || fabs(p->volt_steps[0].begin_us - p->phases[2].start_us) > 8))
            what = "the step of the voltage";
        if (what) {
            print_message("world %u, wait %g us, sigma %g, doubled %g: %s\n", i, wait, sigma, doubles[i % 3], what);
            show(p);
            wrong++;
        }
        switches_free(&seen);
    }
    print_message("%u of %u right\n", n - wrong, n);
    assert_int_equal(wrong, 0);
}

static void short_halts_behind_scattered_waits_are_found_next_to_a_thread(void **state)
{
    (void)state;
    static const double shares[] = {0.05, 0.1, 0.2}, factors[] = {0.4, 0.6, 0.8, 0.6}, halts[] = {3, 4, 5, 6};
    static const double steps[] = {0, 1, 10};
    unsigned wrong = 0, n = worlds();
    for (unsigned i = 0; i < n; i++) {
        struct model m;
        struct switches_seen seen;
        model_of(&m, steps[i / 2 % 3]);
        m.wait_us = i % 2 ? 400 : 670;
        m.wait_sigma_us = 10;
        m.halt_us = halts[i % 4];
        m.world.sibling = (struct model_sibling){.share = shares[i % 3], .period_us = i % 5 ? 2000 : 300,
                                                 .factor = factors[i / 3 % 4]};
        for (size_t c = 0; c < m.n_classes; c++)
            m.classes[c].wait_double = 0;
        measure(&m, "512fma", "64add", 1000, 100, false, 3 + i, &seen);
        const char *what = wrong_wait(&seen.phases, m.wait_us, m.wait_sigma_us, m.halt_us);
        if (what) {
            print_message("world %u, halt %g us, share %g, factor %g: %s\n", i, m.halt_us, shares[i % 3],
                          factors[i / 3 % 4], what);
            show(&seen.phases);
            wrong++;
        }
        switches_free(&seen);
    }
    print_message("%u of %u right\n", n - wrong, n);
    assert_int_equal(wrong, 0);
}

static bool holds(const struct phase *ph, double ghz)
{
    return ph->freq_ghz.lo < ghz * 1.003 && ph->freq_ghz.hi > ghz * 0.997;
}

/* What is wrong with a switch of which some repetitions run at `factor` of all frequencies; NULL: nothing. */
static const char *wrong_limits(const struct switches_seen *seen, bool wide, double factor)
{
    const struct phases *p = &seen->phases;
    static const enum phase_kind down[] = {PHASE_STEADY, PHASE_THROTTLE, PHASE_HALT,
                                           PHASE_THROTTLE, PHASE_HALT, PHASE_STEADY};
    static const double ghz[] = {2.8, 2.8, 0, 2.4, 0, 1.9};
    if (wide ? !are_kinds(p, down, 6) || p->n_levels != 3 : p->n_phases != 2 || p->n_transitions || p->n_levels != 1)
        return "the phases";
    bool discarded = (double)seen->discarded > 0.25 * (double)seen->setup.runs; /* the limited ones, and it is told */
    for (size_t i = 0; i < p->n_phases; i++) {
        double own = wide ? ghz[i] : 2.8;
        if (own > 0 && !(holds(&p->phases[i], own) && (discarded || holds(&p->phases[i], own * factor))))
            return "limits";
    }
    return discarded || warned(p, "from beginning to end") || warned(p, "more than their readings scatter")
               ? NULL
               : "a warning";
}

static void power_limits_are_told_by_any_clock(void **state)
{
    (void)state;
    static const double shares[] = {0.3, 0.4, 0.45}, factors[] = {0.9, 0.97, 0.93, 0.95}, steps[] = {10, 1, 25, 10};
    static const unsigned runs[] = {100, 200, 60};
    unsigned wrong = 0, n = worlds();
    for (unsigned i = 0; i < n; i++) {
        struct model m;
        struct switches_seen seen;
        bool wide = i % 3 > 0;
        model_of(&m, steps[(i + i / 4) % 4]);
        m.world.limit_share = shares[i % 3];
        m.world.limit_factor = factors[i % 4];
        measure(&m, "128fma", wide ? "512fma" : "128or", 0, runs[i / 3 % 3], false, 5 + i, &seen);
        const char *what = wrong_limits(&seen, wide, m.world.limit_factor);
        if (what) {
            print_message("world %u, share %g, factor %g: %s\n", i, m.world.limit_share, m.world.limit_factor, what);
            show(&seen.phases);
            wrong++;
        }
        switches_free(&seen);
    }
    print_message("%u of %u right\n", n - wrong, n);
    assert_int_equal(wrong, 0);
}

/* Where all repetitions run alike no spread of theirs is told. */
static void no_limits_are_told_where_there_are_none(void **state)
{
    (void)state;
    static const double steps[] = {1, 10, 25};
    for (unsigned i = 0; i < worlds(); i++) {
        struct model m;
        struct switches_seen seen;
        model_of(&m, steps[i % 3]);
        measure(&m, "128fma", i % 2 ? "512fma" : "128or", 0, 60, false, 40 + i, &seen);
        if (warned(&seen.phases, "from beginning to end") || warned(&seen.phases, "readings scatter")) {
            show(&seen.phases);
            fail_msg("world %u", i);
        }
        switches_free(&seen);
    }
}

static void throttling_to_a_sixteenth_is_throttling(void **state)
{
    (void)state;
    static const double ratios[] = {1.0 / 16, 0.08, 0.25}, lengths[] = {60, 100, 140};
    for (unsigned i = 0; i < worlds(); i++) {
        struct model m;
        struct switches_seen seen;
        model_of(&m, clocks[i % 4]);
        struct model_transition *t = &m.transitions[0][m.n_classes - 1];
        double ratio = ratios[i % 3], us = lengths[i / 3 % 3];
        t->steps[0] = (struct model_step){.kind = MODEL_STEP_THROTTLE, .ratio = ratio, .us = us};
        measure(&m, "128fma", "512fma", 500, 60, false, 60 + i, &seen);
        const struct phase *ph = &seen.phases.phases[1];
        if (seen.phases.n_phases < 3 || ph->kind != PHASE_THROTTLE || fabs(ph->ipc_ratio / ratio - 1) > 0.05 ||
            fabs(ph->duration_us.value - us) > 1) {
            show(&seen.phases);
            fail_msg("world %u, %g for %g us", i, ratio, us);
        }
        switches_free(&seen);
    }
}

/* Either right or not called a throttle. */
static void ratios_next_to_a_thread_are_right(void **state)
{
    (void)state;
    static const double shares[] = {0.3, 0.1, 0.5, 0.2}, factors[] = {0.6, 0.5, 0.8}, chains[] = {0.7, 1, 0.85};
    static const double periods[] = {300, 60, 2000}, steps[] = {10, 25, 1};
    unsigned throttles = 0, n = worlds() + 2;
    for (unsigned i = 0; i < n; i++) {
        struct model m;
        struct switches_seen seen;
        model_of(&m, steps[i / 2 % 3]);
        m.world.sibling = (struct model_sibling){.share = shares[i % 4], .period_us = periods[i / 4 % 3],
                                                 .factor = factors[i % 3], .chain_factor = chains[(i + i / 3) % 3]};
        measure(&m, "128fma", "512fma", 0, i % 2 ? 100 : 60, false, 80 + i, &seen);
        for (size_t k = 0; k < seen.phases.n_phases; k++) {
            const struct phase *ph = &seen.phases.phases[k];
            double ratio = ph->start_us < 15 ? 0.25 : 0.5;
            if (ph->kind != PHASE_THROTTLE)
                continue;
            throttles++;
            if (fabs(ph->ipc_ratio / ratio - 1) > 0.06) {
                show(&seen.phases);
                fail_msg("world %u, share %g of %g us, factors %g and %g", i, shares[i % 4], periods[i / 4 % 3],
                         factors[i % 3], chains[(i + i / 3) % 3]);
            }
        }
        switches_free(&seen);
    }
    print_message("%u throttles of %u told\n", throttles, 2 * n);
    assert_true(throttles >= n);
}

/* After long waits, which interrupts restart, readings of repetitions before and after the rise mix to the end: what
 * was left of them at the beginning of the last phase was told as its voltage, and that of the wait as the halt's. */
static void mixed_readings_tell_no_voltage(void **state)
{
    (void)state;
    static const double waits[] = {2000, 3000};
    for (unsigned i = 0; i < (worlds() == WORLDS ? 6 : 2); i++) {
        struct model m;
        struct switches_seen seen;
        model_of(&m, 0);
        m.wait_us = waits[i % 2];
        measure(&m, "512fma", "128fma", m.wait_us + 600, 100, true, i + 1, &seen);
        const struct phases *p = &seen.phases;
        for (size_t k = 0; k < p->n_phases; k++) {
            double truth = p->phases[k].kind == PHASE_HALT || p->phases[k].freq_ghz.value > 2.3 ? 0.88 : 0.75;
            if (fabs(p->phases[k].volts - truth) > 0.004) { /* or nothing is told */
                show(p);
                fail_msg("world %u: phase %zu at %.4f V", i, k, p->phases[k].volts);
            }
        }
        if (isnan(p->phases[p->n_phases - 1].volts) && !warned(p, "the voltage is not told"))
            fail_msg("world %u: no word about the voltage", i);
        switches_free(&seen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_of_two_lengths_are_one_phase),
        cmocka_unit_test(short_halts_behind_scattered_waits_are_found_next_to_a_thread),
        cmocka_unit_test(power_limits_are_told_by_any_clock),
        cmocka_unit_test(no_limits_are_told_where_there_are_none),
        cmocka_unit_test(throttling_to_a_sixteenth_is_throttling),
        cmocka_unit_test(ratios_next_to_a_thread_are_right),
        cmocka_unit_test(mixed_readings_tell_no_voltage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
