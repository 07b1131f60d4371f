/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/model_rig.h"
#include "tests/support/model_truth.h"
#include "tests/support/test.h"

/* cmocka needs the four above first */

void rig_load(const char *name, struct model *out)
{
    struct machine_error err;
    if (model_load(name, "data", out, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

void rig_processors(char ***names, size_t *n)
{
    size_t all, kept = 0;
    assert_int_equal(model_list("data", names, &all), 0);
    for (size_t i = 0; i < all; i++) {
        struct model m;
        rig_load((*names)[i], &m);
        if (m.no_counters)
            free((*names)[i]);
        else
            (*names)[kept++] = (*names)[i];
    }
    assert_true(kept >= 6);
    *n = kept;
}

void rig_silence(struct model *m)
{
    m->halt_sigma_us = m->throttle_sigma_us = m->wait_sigma_us = m->volts_noise = 0;
    m->noise_cycles = m->clock_jitter_ns = m->split_read_ns = m->frequency_noise = m->spread = 0;
    m->n_interrupts = 0;
    for (size_t i = 0; i < m->n_classes; i++)
        m->classes[i].wait_double = 0;
    for (size_t i = 0; i < m->n_demands; i++)
        m->demands[i].count_sigma = 0;
    m->scenario.sibling.share = m->scenario.limit_share = m->scenario.smi_rate_hz = 0;
    m->scenario.wander = (struct model_wander){0};
}

struct payload rig_payload(const char *name)
{
    struct payload p;
    char why[300];
    if (kernel_parse(name, &p, why, sizeof why) != 0)
        fail_msg("%s", why);
    return p;
}

void rig_open(struct rig *r, const struct model *m, unsigned cores, double period_us, uint64_t seed)
{
    static const enum counter_id ids[] = {COUNTER_CYCLES, COUNTER_REF_CYCLES, COUNTER_INSTRUCTIONS, COUNTER_LVL0,
                                          COUNTER_LVL1,   COUNTER_LVL2,       COUNTER_THROTTLE};
    struct machine_error err;
    memset(r, 0, sizeof *r);
    r->tsc_hz = m->tsc_hz;
    r->warm_us = 1000;
    r->setup = (struct machine_setup){.cpu = -1,
                                      .active_cores = cores,
                                      .period_us = period_us,
                                      .max_samples = 40000,
                                      .seed = seed,
                                      .counters = r->counters};
    if (machine_open_parsed_model(m, "model:rig", &r->machine, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (!r->machine.ops->lacks(&r->machine, ids[i], NULL))
            r->counters[r->setup.n_counters++].id = ids[i];
    if (r->machine.ops->prepare(&r->machine, &r->setup, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

struct recording rig_switch(struct rig *r, const char *from, const char *to, double observe_us, uint64_t repetition)
{
    struct segment segments[3] = {{rig_payload(from), r->warm_us - 50, false},
                                  {rig_payload(from), 50, true},
                                  {rig_payload(to), observe_us, true}};
    struct run_request request = {.segments = segments, .n_segments = 3, .zero_segment = 2, .repetition = repetition};
    struct recording rec;
    struct machine_error err;
    if (r->machine.ops->run(&r->machine, &request, &rec, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    return rec;
}

void rig_close(struct rig *r)
{
    r->machine.ops->finish(&r->machine);
    r->machine.ops->close(&r->machine);
}

struct rig_sample rig_sample(const struct rig *r, const struct recording *rec, size_t i)
{
    const uint64_t *now = rec->words + i * rec->stride, *before = now - rec->stride;
    double us = 1e6 / r->tsc_hz;
    struct rig_sample s = {
        .begin = ((double)before[RIG_TSC] - (double)rec->zero_tsc) * us,
        .end = ((double)now[RIG_TSC] - (double)rec->zero_tsc) * us,
        .cycles = (double)(now[RIG_CYCLES] - before[RIG_CYCLES]),
    };
    s.ghz = s.cycles / (s.end - s.begin) * 1e-3;
    s.ipc = (double)(now[RIG_PAYLOAD] - before[RIG_PAYLOAD]) / s.cycles;
    for (size_t k = 0; k < 3 && RIG_LVL0 + k < rec->stride; k++)
        s.lvl[k] = (double)(now[RIG_LVL0 + k] - before[RIG_LVL0 + k]) / s.cycles;
    if (RIG_THROTTLE < rec->stride)
        s.throttle = (double)(now[RIG_THROTTLE] - before[RIG_THROTTLE]) / s.cycles;
    return s;
}

/* Cycles and payload instructions that the truth expects between two times. */
static void expected(const struct model_truth *t, double begin, double end, double *cycles, double *work)
{
    *cycles = *work = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct model_phase *p = &t->phases[i];
        double from = fmax(begin, p->start_us), to = fmin(end, p->start_us + p->duration_us);
        if (to <= from)
            continue;
        *cycles += model_phase_cycles(p, from, to);
        *work += model_phase_cycles(p, from, to) * p->ipc;
    }
}

int rig_compare(const struct rig *r, const struct recording *rec, const struct model_truth *truth)
{
    double us = 1e6 / r->tsc_hz;
    const uint64_t *zero = rec->words + rec->zero_reading * rec->stride;
    for (size_t i = rec->zero_reading + 1; i < rec->n; i++) {
        const uint64_t *now = rec->words + i * rec->stride;
        double cycles, work, t = (double)(now[RIG_TSC] - zero[RIG_TSC]) * us;
        expected(truth, 0, t, &cycles, &work);
        double got_cycles = (double)(now[RIG_CYCLES] - zero[RIG_CYCLES]);
        double got_work = (double)(now[RIG_PAYLOAD] - zero[RIG_PAYLOAD]);
        /* a tick of the clock and a cycle of the counter at either end */
        double slack = 2 * us * 6e3 + 2;
        if (fabs(got_cycles - cycles) > slack + 1e-9 * cycles || fabs(got_work - work) > 8 * slack + 1e-9 * work) {
            print_message("at %.3f us: %.1f cycles, expected %.1f; %.1f instructions, expected %.1f\n", t, got_cycles,
                          cycles, got_work, work);
            return -1;
        }
    }
    return 0;
}
