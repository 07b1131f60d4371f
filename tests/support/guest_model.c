/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/guest_model.h"

#include <math.h>
#include <stdio.h>

#include "kernels/kernels.h"
#include "probes/guarded.h"
#include "tests/support/model_truth.h"

static int parse_pair(const char *from, const char *to, struct payload *a, struct payload *b, struct machine_error *err)
{
    char why[200];
    if (kernel_parse(from, a, why, sizeof why) || kernel_parse(to, b, why, sizeof why))
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%s", why);
    return MACHINE_OK;
}

static bool is_cold(const struct model *m, const struct model_phase *p)
{
    return p->start_us + p->duration_us <= m->scenario.cold_us;
}

int guest_model_truth(const struct model *m, const char *from, const char *to, struct guest_truth *out,
                      struct machine_error *err)
{
    struct model_truth t;
    struct payload a, b;
    int status = parse_pair(from, to, &a, &b, err);
    if (status == MACHINE_OK)
        status = model_truth(m, &a, &b, 0, &t, err);
    if (status != MACHINE_OK)
        return status;
    *out = (struct guest_truth){.kind = GUEST_NULL, .ratio = 1, .low = 1, .d1_us = NAN, .d1b_us = NAN, .tau_us = NAN};
    for (size_t i = 0; i < t.n; i++) {
        const struct model_phase *p = &t.phases[i];
        if (is_cold(m, p)) {
            out->cold_us += p->duration_us * (1 - m->scenario.cold_factor);
        } else if (p->kind == MODEL_THROTTLED) {
            out->kind = GUEST_THROTTLE;
            out->ratio = p->ipc_ratio;
            out->d1_us = p->start_us + p->duration_us;
        } else if (p->kind == MODEL_HALTED) {
            out->kind = GUEST_HALT;
            out->halt_us += p->duration_us;
        }
    }
    out->low = t.phases[t.n - 1].ghz / t.from_ghz;
    if (out->low < 1 && out->kind != GUEST_HALT)
        out->kind = GUEST_STEP;
    snprintf(out->about, sizeof out->about, "%s -> %s: ratio %.2f until %.2f us, halt %.2f us, step %.3f, cold %.2f us",
             from, to, out->ratio, out->d1_us, out->halt_us, out->low, out->cold_us);
    return MACHINE_OK;
}

static int measure(const struct model *m, const struct payload *from, const struct payload *to, uint64_t seed,
                   struct switches_seen *seen, struct machine_error *err)
{
    struct transition_setup s;
    struct machine machine;
    int status = machine_open_parsed_model(m, "model:guest", &machine, err);
    if (status != MACHINE_OK)
        return status;
    transition_defaults(&s, from, to);
    s.machine.seed = seed;
    s.no_volts = true; /* a guest reads no registers */
    const struct guard g = {.machine = &machine};
    status = guarded_switch(&g, &s, seen, err);
    machine.ops->close(&machine);
    return status;
}

int guest_model_judge(const struct model *m, const char *from, const char *to, uint64_t seed,
                      enum guest_verdict *verdict, FILE *details, struct machine_error *err)
{
    struct switches_seen seen;
    struct guest_truth truth;
    struct payload a, b;
    char why[300];
    int status = parse_pair(from, to, &a, &b, err);
    if (status == MACHINE_OK)
        status = guest_model_truth(m, from, to, &truth, err);
    if (status == MACHINE_OK)
        status = measure(m, &a, &b, seed, &seen, err);
    if (status != MACHINE_OK)
        return status;
    *verdict = guest_judge(&truth, &seen.phases, why, sizeof why);
    if (details && *verdict != GUEST_RIGHT) {
        fprintf(details, "  %s:%s %llu is %s: %s\n", from, to, (unsigned long long)seed, guest_verdict_name(*verdict),
                why);
        guest_print_answer(details, &truth, &seen.phases);
    }
    guarded_free(&seen);
    return MACHINE_OK;
}
