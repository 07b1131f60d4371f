/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slow: ramps of up to 200 ms, many times */
/*
 * Ramps of milliseconds, of the clock and of the rate, in recordings of 500 ms: random processors with and without
 * either, with and without counters, while their clock floats in steps or does not. Nothing is invented, nothing that
 * is there is called a step or none, and limits hold the truth.
 */
#include "analysis/phases/tail/tail.h"
#include "probes/guarded.h"
#include "tables/switches/transition_summary.h"
#include "tests/support/model_rig.h"
#include "tests/support/phases_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { MODELS = 6, NULLS = 3, FADES = 10, SCATTERED = 8 };
#define LONG_US 500e3
#define WAIT_US 670.0
#define NEAR_US 2.0

/* The 6130 as it would be if it did that: the rate falls to `ratio` and recovers with fade_us (ratio 1: it does not),
 * the clock goes from `high` to `low` with down_us, and back with up_us, after the wait. */
struct truth {
    bool counters, reaches_chains; /* throttling slows all code, dependent adds too */
    double high, low, down_us, up_us, ratio, fade_us;
    double step, step_us;                                  /* of a clock that floats, relative */
    double throttle[2], throttle_us[2], throttle_sigma_us; /* ratios; 0: none */
};

static void make(struct model *m, const struct truth *t)
{
    rig_load("xeon-gold-6130", m);
    size_t last = m->n_classes - 1;
    struct model_transition *up = &m->transitions[0][last];
    m->no_counters = !t->counters;
    m->counts_licenses = m->counts_throttle = false;
    for (size_t i = 0; i < m->n_turbo; i++)
        for (size_t level = 0; level < MODEL_LEVELS_MAX; level++)
            m->turbo[i].ghz[level] = level == 2 ? t->low : t->high;
    m->halt_us = m->halt_sigma_us = m->wait_sigma_us = 0;
    m->throttle_sigma_us = t->throttle_sigma_us;
    m->wait_us = WAIT_US;
    m->release_tau_us = t->up_us;
    m->throttle_distance = t->reaches_chains ? 0 : 75; /* as on Skylake-SP: chains are taken out of reach of it */
    for (size_t i = 0; i < m->n_classes; i++)
        m->classes[i].wait_double = 0;
    up->n_steps = 0;
    for (int i = 0; i < 2 && t->throttle[i] > 0; i++)
        up->steps[up->n_steps++] = (struct model_step){
            .kind = MODEL_STEP_THROTTLE, .ratio = t->throttle[i], .us = t->throttle_us[i]};
    if (t->ratio < 1)
        up->steps[up->n_steps++] = (struct model_step){
            .kind = MODEL_STEP_FADE, .ratio = t->ratio, .tau_us = t->fade_us};
    up->steps[up->n_steps++] = (struct model_step){
        .kind = MODEL_STEP_GRANT, .grant = (unsigned)last, .tau_us = t->down_us};
    m->scenario.wander = (struct model_wander){.step = t->step, .step_us = t->step_us};
}

/* A machine that masks interrupts, and therefore records for 10 ms at most. */
static const struct machine_ops *unlimited;
static void limited_info(const struct machine *m, struct machine_info *out)
{
    unlimited->info(m, out);
    out->longest_us = 10e3;
}

static int try_to_measure(const struct truth *t, bool down, double observe_us, uint64_t seed, bool limited,
                          struct switches_seen *out, struct machine_error *err)
{
    struct model m;
    struct machine machine;
    struct transition_setup s;
    struct payload a = rig_payload(down ? "128fma" : "512fma"), b = rig_payload(down ? "512fma" : "128fma");
    const struct guard g = {.machine = &machine, .observe_given = observe_us > 0};
    make(&m, t);
    transition_defaults(&s, &a, &b);
    s.machine.seed = seed;
    s.no_volts = true;
    if (observe_us > 0)
        s.observe_us = observe_us;
    assert_int_equal(machine_open_parsed_model(&m, "model:long", &machine, err), MACHINE_OK);
    struct machine_ops ops = *machine.ops;
    unlimited = machine.ops;
    ops.info = limited ? limited_info : ops.info;
    machine.ops = &ops;
    int status = guarded_switch(&g, &s, out, err);
    machine.ops->close(&machine);
    return status;
}

static const char *const seen_once = "the others of these tests run the same code there";

static void measure(const struct truth *t, bool down, double observe_us, uint64_t seed, struct switches_seen *out)
{
    struct machine_error err;
    if (try_to_measure(t, down, observe_us, seed, false, out, &err))
        fail_msg("%s", err.text);
}

static const struct phase *ramp_of(const struct phases *p)
{
    const struct phase *found = NULL;
    for (size_t i = 0; i < p->n_phases; i++)
        if (p->phases[i].kind == PHASE_RAMP) {
            assert_null(found); /* one is enough for all */
            found = &p->phases[i];
        }
    return found;
}

static bool contains(const struct estimate *e, double value, double slack)
{
    return e->lo - slack <= value && value <= e->hi + slack;
}

/* Returns true if one side of a ramp is as it should be; tau 0: it does not change. */
static bool side_holds(const struct ramp_side *s, double begin, double tau, double change)
{
    if (tau <= 0)
        return !(s->tau_us.value > 0);
    double end = begin + tau * log(change / 0.001);
    return contains(&s->tau_us, tau, 0) && contains(&s->begin_us, begin, NEAR_US) &&
           contains(&s->end_us, end, 0.02 * end);
}

static struct truth draw(uint64_t seed)
{
    struct rng r;
    rng_init(&r, seed, 0x6c6f6e67u); /* "long" */
    struct truth t = {.counters = seed % 2 == 0, .high = rng_range(&r, 2.8, 5.7)};
    bool rate = seed % 3 != 0, clock = seed % 3 != 1;
    t.low = t.high * (clock ? 1 - rng_range(&r, 0.02, 0.08) : 1);
    t.down_us = rng_log(&r, 2e3, 40e3);
    t.up_us = rng_log(&r, 50e3, 150e3);
    t.ratio = rate ? rng_range(&r, 0.6, 0.9) : 1;
    t.fade_us = rng_log(&r, 2e3, 40e3);
    if (rng_chance(&r, 0.4)) {
        t.step = rng_range(&r, 0.01, 0.03);
        t.step_us = rng_range(&r, 1e5, 6e5);
    }
    return t;
}

TEST(ramps_are_found_as_they_are)
{
    skip_where_sanitized_in_brief(seen_once);
    unsigned n = rng_rounds(MODELS);
    for (unsigned i = 0; i < 2 * n; i++) {
        bool down = i % 2 == 0;
        const struct truth t = draw(i / 2);
        double begin = down ? 0 : WAIT_US, step = fabs(log(t.high / t.low));
        double clock = step > 0 ? (down ? t.down_us : t.up_us) : 0, rate = down && t.ratio < 1 ? t.fade_us : 0;
        struct switches_seen seen;
        struct transition_summary sum;
        measure(&t, down, LONG_US, i + 1, &seen);
        transition_summarize(&seen.result.trace, &seen.phases, &sum);
        const struct phase *ramp = ramp_of(&seen.phases);
        bool good = clock > 0 || rate > 0
                        ? ramp && side_holds(&ramp->clock_ramp, begin, clock, step) &&
                              side_holds(&ramp->rate_ramp, 0, rate, 1 - t.ratio) &&
                              ramp->clock_unsure == (!t.counters && clock > 0) && seen.phases.n_transitions == 1 &&
                              sum.kind == (clock > 0 ? SWITCH_FREQUENCY : SWITCH_THROTTLE_ONLY)
                        : !ramp && !seen.phases.n_transitions && sum.kind == SWITCH_NONE;
        if (!good) {
            rig_show_phases(&seen.phases);
            fail_msg("model %u %s: counters %d, clock %.3f -> %.3f tau %.0f, rate from %.2f tau %.0f, steps %.3f",
                     i / 2, down ? "down" : "up", t.counters, t.high, t.low, clock, t.ratio, rate, t.step);
        }
        guarded_free(&seen);
    }
}

/* Fades that last ten microseconds, or longer than a short recording by orders of magnitude. */
TEST(fades_of_any_length_are_found)
{
    struct rng r;
    rng_init(&r, 5, 0x66616465u); /* "fade" */
    for (unsigned i = 0; i < rng_rounds(FADES); i++) {
        struct truth t = {.counters = i % 2, .up_us = 1e5};
        struct switches_seen seen;
        struct transition_summary sum;
        t.high = t.low = rng_range(&r, 2.5, 5);
        t.ratio = rng_range(&r, 0.5, 0.9);
        t.fade_us = rng_log(&r, 10, 150e3);
        measure(&t, true, 0, i + 1, &seen);
        transition_summarize(&seen.result.trace, &seen.phases, &sum);
        const struct phase *ramp = ramp_of(&seen.phases);
        bool over = t.fade_us * log((1 - t.ratio) / 0.001) < 0.95 * seen.setup.observe_us;
        bool good = ramp && contains(&ramp->rate_ramp.tau_us, t.fade_us, 0.02 * t.fade_us) &&
                    contains(&ramp->rate_ramp.begin_us, 0, NEAR_US) && !(ramp->clock_ramp.tau_us.value > 0) &&
                    (!over || (seen.phases.n_transitions == 1 && sum.kind == SWITCH_THROTTLE_ONLY));
        if (!good) {
            rig_show_phases(&seen.phases);
            fail_msg("model %u: counters %d, rate from %.3f tau %.1f", i, t.counters, t.ratio, t.fade_us);
        }
        guarded_free(&seen);
    }
}

/* Mistakes that blind models showed: a deep fade was five throttled phases and six unknown ones, then a ramp from 133
 * us; the ratio of throttling before a fade, 1/3, was reported as 2/3; a fade beside a ramp of the clock was the full
 * rate. */
TEST(ramps_hold_the_rate_about_them)
{
    const struct truth t[] = {
        {.counters = true, .high = 3, .low = 3, .ratio = 0.0625, .fade_us = 1200, .up_us = 1e5},
        {.counters = true,
         .high = 3.7,
         .low = 3.7,
         .ratio = 0.06,
         .fade_us = 19e3,
         .up_us = 1e5,
         .throttle = {0.333},
         .throttle_us = {8}},
        {.counters = true, .high = 3, .low = 2.7, .down_us = 200, .ratio = 0.25, .fade_us = 60, .up_us = 1e5},
    };
    for (size_t i = 0; i < 3; i++) {
        struct switches_seen seen;
        measure(&t[i], true, 0, 1, &seen);
        const struct phases *p = &seen.phases;
        const struct phase *ramp = ramp_of(p);
        bool good = ramp && contains(&ramp->rate_ramp.tau_us, t[i].fade_us, 0);
        if (i == 1)
            good = good && (p->phases[1].kind == PHASE_UNKNOWN ||
                            (p->phases[1].kind == PHASE_THROTTLE && fabs(p->phases[1].ipc_ratio - 0.333) < 0.01));
        else
            good = good && p->n_phases == 3 && contains(&ramp->rate_ramp.begin_us, 0, NEAR_US) &&
                   contains(&ramp->rate_ramp.from, t[i].ratio, 0.005);
        if (i == 2)
            good = good && contains(&ramp->clock_ramp.tau_us, 200, 0);
        if (!good) {
            rig_show_phases(p);
            fail_msg("model %zu", i);
        }
        guarded_free(&seen);
    }
}

/* Throttling that ends at another time in each repetition makes a curve of the mean. */
TEST(scattered_throttling_is_no_ramp)
{
    struct rng r;
    rng_init(&r, 6, 0x66616465u);
    for (unsigned i = 0; i < rng_rounds(SCATTERED); i++) {
        struct truth t = {.counters = i % 2, .ratio = 1, .up_us = 1e5};
        struct switches_seen seen;
        t.high = t.low = rng_range(&r, 2.5, 5);
        t.throttle[0] = rng_range(&r, 0.2, 0.5);
        t.throttle[1] = i % 4 < 2 ? 0 : rng_range(&r, 0.55, 0.8);
        t.throttle_us[0] = rng_log(&r, 8, 60);
        t.throttle_us[1] = rng_log(&r, 8, 60);
        t.throttle_sigma_us = rng_range(&r, 0.1, 0.33) * fmin(t.throttle_us[0], t.throttle_us[1]);
        measure(&t, true, 0, i + 1, &seen);
        if (ramp_of(&seen.phases)) {
            rig_show_phases(&seen.phases);
            fail_msg("model %u: %.2f for %.1f us, %.2f for %.1f us, +- %.1f us", i, t.throttle[0], t.throttle_us[0],
                     t.throttle[1], t.throttle_us[1], t.throttle_sigma_us);
        }
        guarded_free(&seen);
    }
}

/* A clock that moves in steps of 3 % every few hundred milliseconds is what this computer's does. */
TEST(a_floating_clock_is_no_ramp)
{
    skip_where_sanitized_in_brief(seen_once);
    unsigned n = rng_rounds(NULLS);
    for (unsigned i = 0; i < 2 * n; i++) {
        const struct truth t = {.counters = i % 2,
                                .high = 3.8,
                                .low = 3.8,
                                .ratio = 1,
                                .step = 0.03,
                                .step_us = 1e5 * (1 + i),
                                .up_us = 1e5};
        struct switches_seen seen;
        measure(&t, i % 4 < 2, LONG_US, i + 1, &seen);
        if (ramp_of(&seen.phases) || seen.phases.n_transitions)
            rig_show_phases(&seen.phases);
        assert_null(ramp_of(&seen.phases));
        assert_int_equal(seen.phases.n_transitions, 0);
        guarded_free(&seen);
    }
}

TEST(chains_alone_do_not_tell_the_clock_from_throttling_of_all)
{
    const struct truth t = {
        .reaches_chains = true, .high = 3.8, .low = 3.8, .ratio = 0.8, .fade_us = 8e3, .up_us = 1e5};
    struct switches_seen seen;
    struct transition_summary sum;
    measure(&t, true, LONG_US, 1, &seen);
    const struct phase *ramp = ramp_of(&seen.phases);
    assert_non_null(ramp);
    assert_true(ramp->clock_unsure && contains(&ramp->clock_ramp.tau_us, t.fade_us, 0));
    char *json = phases_to_json(&seen.phases);
    assert_non_null(strstr(json, "\"cannot_exclude\": \"throttling\""));
    free(json);
    transition_summarize(&seen.result.trace, &seen.phases, &sum);
    assert_non_null(strstr(sum.phases, "or all code is throttled"));
    guarded_free(&seen);
}

/* Nobody has requested a long recording: it is made since the short ones do not show how it ends. Two models, or
 * three. */
TEST(what_is_not_over_is_observed_for_longer)
{
    skip_where_sanitized_in_brief(seen_once);
    const struct truth t[] = {
        {.high = 5.61, .low = 5.39, .down_us = 6e3, .ratio = 1, .up_us = 1e5},
        {.counters = true, .high = 3.8, .low = 3.8, .ratio = 1, .up_us = 1e5},
        {.counters = true, .high = 5.6, .low = 5.6, .ratio = 0.83, .fade_us = 6e3, .up_us = 1e5},
    };
    for (size_t i = 0; i < rng_few(3, 2); i++) {
        bool none = i == 1;
        struct switches_seen seen;
        measure(&t[i], true, 0, 1, &seen);
        if (none != !(seen.setup.fine_us > 0) || none != !ramp_of(&seen.phases))
            rig_show_phases(&seen.phases);
        assert_int_equal(none, !(seen.setup.fine_us > 0));
        assert_int_equal(none, !ramp_of(&seen.phases));
        assert_true(none ? seen.setup.observe_us < 200 : seen.setup.observe_us == LONG_US);
        assert_string_equal(seen.unsettled, "");
        guarded_free(&seen);
    }
}

TEST(a_machine_that_cannot_says_what_can)
{
    const struct truth t = {.counters = true, .high = 5.6, .low = 5.6, .ratio = 0.8, .fade_us = 6e3, .up_us = 1e5};
    struct switches_seen seen;
    struct machine_error err;
    assert_int_equal(try_to_measure(&t, true, LONG_US, 1, true, &seen, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "10000 us at most"));
    assert_non_null(strstr(err.remedy, "--machine timing"));
    assert_int_equal(try_to_measure(&t, true, 0, 1, true, &seen, &err), MACHINE_OK);
    assert_true(seen.setup.fine_us == 0 && seen.setup.observe_us < 5000);
    assert_non_null(strstr(seen.unsettled, "--machine timing"));
    guarded_free(&seen);
}

/* A recorded trace gives the same answer, and says where its samples cease to be alike. */
TEST(the_trace_tells_the_same)
{
    const struct truth t = {.counters = true, .high = 5.6, .low = 5.4, .down_us = 9e3, .ratio = 1, .up_us = 1e5};
    struct switches_seen seen;
    struct phases again;
    char why[200];
    measure(&t, true, LONG_US, 1, &seen);
    const struct trace *trace = &seen.result.trace;
    assert_true(tail_begins(trace) == seen.setup.fine_us);
    assert_int_equal(phases_find(trace, &again, why, sizeof why), 0);
    const struct phase *a = ramp_of(&seen.phases), *b = ramp_of(&again);
    assert_non_null(a);
    assert_non_null(b);
    assert_true(a->tau_us.value == b->tau_us.value && again.samples_lost == seen.phases.samples_lost);
    size_t run = trace_run_end(trace, 0);
    assert_in_range(run, 4000, 8000); /* samples of 500 ms, each 1/256 to 1/512 of its time */
    phases_free(&again);
    guarded_free(&seen);
}
