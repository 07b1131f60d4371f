/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slow: switches that take their whole budget of repetitions */
/*
 * A processor like the Granite Rapids guest on which 512-bit FMAs were seen to lower the frequency: within 3 us and
 * without a halt, and back after 3 us, or as often after twice that, with a halt of 1.4 us; all frequencies change
 * between two states every second or so.
 */
#include "probes/guarded.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

static const double HIGH = 4.092, LOW = 3.793, DOWN_US = 2.9, WAIT_US = 3.1, HALT_US = 1.4;

static void load_fast(struct model *m)
{
    rig_load("xeon-gold-6130", m);
    m->n_levels = 2;
    m->n_turbo = 1;
    m->turbo[0].cores = (struct model_range){1, m->cores};
    m->turbo[0].ghz[0] = HIGH;
    m->turbo[0].ghz[1] = LOW;
    size_t heavy = m->n_classes - 1;
    for (size_t i = 0; i <= heavy; i++) {
        m->classes[i].level = i == heavy;
        m->classes[i].wait_double = i == heavy ? 0.45 : 0;
        m->transitions[i][heavy] = (struct model_transition){
            .n_steps = 2,
            .steps = {{.kind = MODEL_STEP_THROTTLE, .ratio = 0.27, .us = DOWN_US},
                      {.kind = MODEL_STEP_GRANT, .grant = (unsigned)heavy, .tau_us = 0.01}}};
    }
    m->transitions[heavy][heavy] = (struct model_transition){0};
    m->wait_us = WAIT_US;
    m->wait_sigma_us = 0.1;
    m->halt_us = HALT_US;
    m->halt_sigma_us = 0.1;
    m->fixed_work = true; /* as the sampler of such a guest has them */
    m->scenario.wander.step = 0.0244;
    m->scenario.wander.step_us = 1e6;
    m->scenario.carries = true;
    m->scenario.gap_us = 300;
}

static void see(const struct model *m, const char *from, const char *to, uint64_t seed, struct switches_seen *seen)
{
    struct machine machine;
    struct machine_error err;
    struct transition_setup s;
    struct payload a = rig_payload(from), b = rig_payload(to);
    const struct guard g = {.machine = &machine};
    transition_defaults(&s, &a, &b);
    s.machine.seed = seed;
    s.no_volts = true;
    assert_int_equal(machine_open_parsed_model(m, "model:fast", &machine, &err), MACHINE_OK);
    if (guarded_switch(&g, &s, seen, &err))
        fail_msg("%s to %s, seed %u: %s", from, to, (unsigned)seed, err.text);
    machine.ops->close(&machine);
}

/* The clock's states are 0, 1 or 2 steps above. */
static bool is_a_state(double ghz, double base)
{
    double steps = (ghz / base - 1) / 0.0244;
    return steps > -0.1 && steps < 2.1;
}

static bool falls_at_once(const struct phases *p)
{
    const struct transition *t = p->transitions;
    return p->n_transitions == 1 && t->halts == 0 && fabs(t->latency_us.value - DOWN_US) < 0.5 &&
           is_a_state(t->from_ghz, HIGH) && is_a_state(t->to_ghz, LOW) &&
           fabs(t->to_ghz / t->from_ghz * HIGH / LOW - 1) < 0.003;
}

static bool rises_soon(const struct phases *p)
{
    const struct transition *t = p->transitions;
    if (p->n_transitions != 1 || t->halts != 1 || fabs(t->to_ghz / t->from_ghz * LOW / HIGH - 1) > 0.003)
        return false;
    /* one wait or two, where both are as frequent */
    return (fabs(t->at_us - WAIT_US) < 0.6 || fabs(t->at_us - 2 * WAIT_US) < 0.6) &&
           fabs(t->latency_us.value - HALT_US) < 0.4;
}

TEST(both_ways_are_seen)
{
    struct model m;
    load_fast(&m);
    unsigned n = rng_few(20, 2), down = 0, up = 0;
    for (unsigned i = 0; i < n; i++) {
        struct switches_seen seen;
        see(&m, "128fma", "512fma", i + 1, &seen);
        down += falls_at_once(&seen.phases);
        guarded_free(&seen);
        see(&m, "512fma", "128fma", i + 1, &seen);
        up += rises_soon(&seen.phases);
        guarded_free(&seen);
    }
    print_message("of %u: %u down, %u up\n", n, down, up);
    assert_true(down >= n - n / 6 && up >= n - n / 6);
}
