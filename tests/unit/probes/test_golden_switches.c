/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * No measured switch changes unnoticed: what is noted and found of switches on modelled processors, by counters and by
 * chains of clocks in steps, with halts, ramps, throttling, cold code, waits that scatter and what disturbs, is that of
 * tests/golden/. After an intended change, `make golden` rewrites it, and the diff shows what changed.
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

#include "tables/switches/guarded.h"
#include "tests/support/golden_text.h"
#include "tests/support/model_rig.h"
#include "tests/support/phases_lines.h"
#include "tests/support/sanitized.h"

struct world {
    const char *name, *from, *to;
    double step_ns, tau_us, throttle_us, cold_us; /* of the clock (0: cycles are counted); of what a switch does */
    double wait_us, wait_sigma_us, wait_double;   /* 0: as in the model */
    double observe_us, warmup_us, before_us;      /* 0: as usual */
    unsigned runs;
    bool volts, disturbed, limited, carries;
};

static const struct world worlds[] = {
    {"halts", "128fma", "512fma", .runs = 30, .volts = true},
    {"halts, a step of the clock", "128fma", "512fma", 10, .runs = 30, .volts = true},
    {"back", "512fma", "128fma", .runs = 30, .volts = true},
    {"ramp", "128fma", "512fma", .tau_us = 12, .runs = 30},
    {"short ramp, a step of the clock", "128fma", "512fma", 25, .tau_us = 3, .runs = 40},
    {"ramp behind throttling", "128fma", "512fma", .tau_us = 8, .throttle_us = 10, .runs = 30},
    {"ramp behind throttling, a step of the clock", "128fma", "512fma", 10, .tau_us = 4, .throttle_us = 12, .runs = 40},
    {"ramp back", "512fma", "128fma", .tau_us = 10, .wait_us = 120, .wait_sigma_us = 5, .observe_us = 400, .runs = 30},
    {"ramp back, a step of the clock", "512fma", "128fma", 10, .tau_us = 6, .wait_us = 120, .wait_sigma_us = 5,
     .observe_us = 400, .runs = 30},
    {"waits of two lengths", "512fma", "128fma", .wait_us = 120, .wait_sigma_us = 5, .wait_double = 0.4,
     .observe_us = 450, .runs = 60, .volts = true},
    {"waits of two lengths, a step of the clock", "512fma", "128fma", 10, .wait_us = 120, .wait_sigma_us = 10,
     .wait_double = 0.3, .observe_us = 450, .runs = 60},
    {"cold code", "128fma", "256fma", .cold_us = 5, .runs = 40},
    {"cold code, a step of the clock", "128fma", "512fma", 10, .throttle_us = 10, .tau_us = 0.01, .cold_us = 3,
     .runs = 40},
    {"a thread beside it", "128fma", "512fma", .runs = 40, .disturbed = true, .volts = true},
    {"a thread beside it, a step of the clock", "128fma", "512fma", 10, .runs = 40, .disturbed = true},
    {"a power limit", "128fma", "512fma", .runs = 40, .limited = true},
    {"as the one before left it", "128fma", "512fma", .runs = 25, .carries = true, .warmup_us = 300},
    {"nothing", "64add", "128add", 1, .runs = 20},
    {"over too soon", "512fma", "128fma", .observe_us = 300, .warmup_us = 2500, .runs = 20},
    {"few", "128fma", "512fma", .runs = 3, .before_us = 20},
};

static void change_switch(struct model *m, const struct world *w)
{
    for (unsigned from = 0; from < m->n_classes; from++)
        for (unsigned to = from + 1; to < m->n_classes && (w->tau_us > 0 || w->throttle_us > 0); to++) {
            struct model_transition *t = &m->transitions[from][to];
            t->n_steps = 0;
            if (w->throttle_us > 0)
                t->steps[t->n_steps++] = (struct model_step){
                    .kind = MODEL_STEP_THROTTLE, .ratio = 0.25, .us = w->throttle_us};
            t->steps[t->n_steps++] = (struct model_step){.kind = MODEL_STEP_GRANT, .grant = to, .tau_us = w->tau_us};
        }
    if (w->tau_us > 0)
        m->halt_us = m->halt_sigma_us = 0;
    m->release_tau_us = w->tau_us;
}

static void change_world(struct model *m, const struct world *w)
{
    m->wait_us = w->wait_us > 0 ? w->wait_us : m->wait_us;
    m->wait_sigma_us = w->wait_us > 0 ? w->wait_sigma_us : m->wait_sigma_us;
    for (size_t c = 0; c < m->n_classes && w->wait_double > 0; c++)
        m->classes[c].wait_double = w->wait_double;
    if (w->step_ns > 0) {
        m->no_counters = true;
        m->counts_licenses = m->counts_throttle = false;
        m->tsc_step_ns = w->step_ns;
    }
    m->world.cold_us = w->cold_us;
    m->world.cold_factor = w->cold_us > 0 ? 0.5 : 0;
    if (w->disturbed) {
        m->n_interrupts = 1;
        m->interrupts[0] = (struct model_interrupt){.rate_hz = 400, .min_us = 2, .max_us = 40};
        m->world.sibling = (struct model_sibling){
            .share = 0.2, .period_us = 900, .factor = 0.7, .chain_factor = 0.85, .lockstep = false};
    }
    m->world.limit_share = w->limited ? 0.2 : 0;
    m->world.limit_factor = 0.94;
    m->world.carries = w->carries;
}

static void set_up(const struct world *w, uint64_t seed, struct transition_setup *s)
{
    struct payload from = rig_payload(w->from), to = rig_payload(w->to);
    transition_defaults(s, &from, &to);
    s->machine.seed = seed;
    s->runs = w->runs;
    s->no_volts = !w->volts;
    s->observe_us = w->observe_us > 0 ? w->observe_us : s->observe_us;
    s->warmup_us = w->warmup_us > 0 ? w->warmup_us : s->warmup_us;
    s->before_us = w->before_us > 0 ? w->before_us : s->before_us;
}

static void write_sum(FILE *out, const struct trace *t)
{
    fprintf(out, "%zu samples", t->n);
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        double sum = 0;
        size_t n = 0;
        for (size_t i = 0; t->channel[c] && i < t->n; i++)
            if (!isnan(t->channel[c][i])) {
                sum += (double)t->channel[c][i];
                n++;
            }
        if (t->channel[c])
            fprintf(out, ", %s %.4f of %zu", trace_channel_name((enum trace_channel)c), sum / (double)n, n);
    }
    fprintf(out, ", from %.4f to %.4f us\n", t->time_us[0], t->time_us[t->n - 1]);
}

static void write_switch(FILE *out, const struct world *w, uint64_t seed)
{
    struct model m;
    struct machine machine;
    struct machine_error err;
    struct transition_setup s;
    struct switches_seen seen;
    rig_load("xeon-gold-6130", &m);
    change_switch(&m, w);
    change_world(&m, w);
    set_up(w, seed, &s);
    fprintf(out, "# %s\n", w->name);
    if (machine_open_parsed_model(&m, "model:test", &machine, &err))
        fail_msg("%s", err.text);
    const struct guard g = {.machine = &machine, .observe_given = w->observe_us > 0};
    if (guarded_switch(&g, &s, &seen, &err)) {
        fprintf(out, "refused: %s\n", err.text);
    } else {
        assert_int_equal(trace_set(&seen.result.trace, "version", "this"), 0);
        for (size_t i = 0; i < seen.result.trace.n_meta; i++)
            fprintf(out, "%s: %s\n", seen.result.trace.meta[i].key, seen.result.trace.meta[i].value);
        fprintf(out, "volts missing: %s\n", seen.result.volts_missing);
        write_sum(out, &seen.result.trace);
        phases_lines_write(out, &seen.phases);
        switches_free(&seen);
    }
    machine.ops->close(&machine);
}

static void measured_switches(void **state)
{
    (void)state;
    skip_where_sanitized("numbers are compared in the ordinary build");
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        write_switch(out, &worlds[i], 100 + i);
    assert_int_equal(fclose(out), 0);
    bool same = golden_same("switches", "txt", text, true);
    free(text);
    if (!same)
        fail_msg("if the change is intended, run make golden");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(measured_switches)};
    setenv("CHARACTERIZE_DATA", "data", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
