/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/clock_models.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const clock_event_name[CLOCK_EVENTS] = {"nothing", "throttle to 1/4 for 10 us", "halt of 5 us",
                                                    "step of 3 %"};

void clock_by_chains(struct model *m, double step_ns)
{
    m->no_counters = true;
    m->counts_licenses = m->counts_throttle = false;
    m->tsc_step_ns = step_ns;
}

void clock_ramps(struct model *m, double tau_us)
{
    m->halt_us = m->halt_sigma_us = 0;
    m->release_tau_us = tau_us;
    for (unsigned from = 0; from < m->n_classes; from++)
        for (unsigned to = from + 1; to < m->n_classes; to++)
            for (size_t k = 0; k < m->transitions[from][to].n_steps; k++)
                if (m->transitions[from][to].steps[k].kind == MODEL_STEP_GRANT)
                    m->transitions[from][to].steps[k].tau_us = tau_us;
}

void clock_model(struct model *m, enum clock_event e, double step_ns)
{
    static const double low[CLOCK_EVENTS] = {2.8, 2.8, 2.4, 2.8 * 0.97};
    size_t last = m->n_classes - 1;
    struct model_transition *t = &m->transitions[0][last];
    clock_by_chains(m, step_ns);
    for (size_t i = 0; i < m->n_turbo; i++)
        for (size_t level = 0; level < MODEL_LEVELS_MAX; level++)
            m->turbo[i].ghz[level] = level == 2 ? low[e] : 2.8;
    m->halt_us = e == CLOCK_HALT ? 5 : 0;
    m->halt_sigma_us = m->throttle_sigma_us = 0;
    t->n_steps = 0;
    if (e == CLOCK_THROTTLE)
        t->steps[t->n_steps++] = (struct model_step){.kind = MODEL_STEP_THROTTLE, .ratio = 0.25, .us = 10};
    t->steps[t->n_steps++] = (struct model_step){.kind = MODEL_STEP_GRANT, .grant = (unsigned)last};
}

int clock_measure_switch(const struct model *m, const struct transition_setup *s, struct switches_seen *seen,
                         struct machine_error *err)
{
    struct machine machine;
    int status = machine_open_parsed_model(m, "model:clock", &machine, err);
    if (status)
        return status;
    const struct guard g = {.machine = &machine};
    status = guarded_switch(&g, s, seen, err);
    machine.ops->close(&machine);
    return status;
}

int clock_measure(const struct model *m, uint64_t seed, unsigned runs, struct switches_seen *seen,
                  struct machine_error *err)
{
    struct payload from, to;
    struct transition_setup s;
    char why[200];
    if (kernel_parse("128fma", &from, why, sizeof why) || kernel_parse("512fma", &to, why, sizeof why))
        return machine_fail(err, MACHINE_FAILED, "", "%s", why);
    transition_defaults(&s, &from, &to);
    s.machine.seed = seed;
    s.runs = runs;
    s.no_volts = true;
    return clock_measure_switch(m, &s, seen, err);
}

bool clock_anything(const struct phases *p)
{
    bool any = p->n_transitions > 0;
    for (size_t i = 0; i < p->n_phases; i++)
        any |= p->phases[i].kind != PHASE_STEADY && p->phases[i].kind != PHASE_UNKNOWN;
    return any;
}

static bool lasts(const struct phase *ph, double us)
{
    return fabs(ph->duration_us.value - us) < 0.6 && fabs(ph->start_us) < 0.6;
}

bool clock_found(const struct phases *p, enum clock_event e)
{
    bool found = false;
    if (e == CLOCK_NOTHING)
        return !clock_anything(p);
    for (size_t i = 0; i < p->n_phases; i++) {
        const struct phase *ph = &p->phases[i];
        if (e == CLOCK_THROTTLE)
            found |= ph->kind == PHASE_THROTTLE && lasts(ph, 10) && fabs(ph->ipc_ratio / 0.25 - 1) < 0.05;
        if (e == CLOCK_HALT)
            found |= ph->kind == PHASE_HALT && lasts(ph, 5);
    }
    for (size_t i = 0; i < p->n_transitions && e == CLOCK_STEP; i++) {
        double step = p->transitions[i].to_ghz / p->transitions[i].from_ghz - 1;
        found |= fabs(step / -0.03 - 1) < 1.0 / 3 && fabs(p->transitions[i].at_us) < 3;
    }
    return found;
}

double clock_mean_ghz(const struct phases *p)
{
    double sum = 0, us = 0;
    for (size_t i = 0; i < p->n_phases; i++)
        if (p->phases[i].freq_ghz.value > 0) {
            sum += p->phases[i].freq_ghz.value * p->phases[i].duration_us.value;
            us += p->phases[i].duration_us.value;
        }
    return sum / us;
}
