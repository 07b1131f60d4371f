/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * No measurement changes unnoticed: what is noted and found of switches on modelled processors, by counters and by
 * chains of clocks in steps, with halts, ramps, throttling, cold code, waits that scatter and what disturbs, and what
 * the self-test reads, is that of tests/golden/. After an intended change, `make golden` rewrites it, and the diff
 * shows what changed.
 */
#include "probes/self_test.h"
#include "probes/guarded.h"
#include "tests/support/golden.h"
#include "tests/support/model_rig.h"
#include "tests/support/phases_lines.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"
#include "util/text_list.h"

enum { RANDOM_WORLDS = 16 };

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
    s->volt_readings = w->tau_us > 0 ? 150 : 0; /* each takes a while on a model that ramps */
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

/* What is noted of the measurement, but for what is the same of all. */
static void write_notes(FILE *out, struct switches_seen *seen)
{
    static const char *const same = "format,cpu,source,tsc_origin,version,modelled,notes";
    for (size_t i = 0; i < seen->result.trace.n_meta; i++)
        if (!text_list_has(same, seen->result.trace.meta[i].key))
            fprintf(out, "%s: %s\n", seen->result.trace.meta[i].key, seen->result.trace.meta[i].value);
    fprintf(out, "volts missing: %s\n", seen->result.volts_missing);
    write_sum(out, &seen->result.trace);
}

static void write_switch(FILE *out, const struct world *w, uint64_t seed, bool notes)
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
        if (notes)
            write_notes(out, &seen);
        phases_lines_write(out, &seen.phases);
        switches_free(&seen);
    }
    machine.ops->close(&machine);
}

/* Any of the above at once. */
static struct world random_world(uint64_t seed)
{
    static const double steps[] = {0, 0, 1, 10, 25};
    struct rng r;
    rng_init(&r, seed, 1);
    bool back = rng_chance(&r, 0.5);
    struct world w = {.name = "any", .from = back ? "512fma" : "128fma", .to = back ? "128fma" : "512fma"};
    w.step_ns = steps[rng_int(&r, 0, 4)];
    w.tau_us = rng_chance(&r, 0.6) ? rng_log(&r, 1, 30) : 0;
    w.throttle_us = rng_chance(&r, 0.5) ? rng_range(&r, 4, 20) : 0;
    w.cold_us = rng_chance(&r, 0.3) ? rng_range(&r, 1, 8) : 0;
    w.wait_us = back ? rng_range(&r, 60, 200) : 0;
    w.wait_sigma_us = rng_chance(&r, 0.5) ? rng_range(&r, 0, 10) : 0;
    w.wait_double = rng_chance(&r, 0.5) ? rng_range(&r, 0.1, 0.6) : 0;
    w.observe_us = back ? 500 : 0;
    w.runs = (unsigned)rng_int(&r, 8, 50);
    w.volts = rng_chance(&r, 0.5);
    w.disturbed = rng_chance(&r, 0.3);
    w.limited = rng_chance(&r, 0.4);
    return w;
}

TEST(measured_switches)
{
    struct golden g;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        write_switch(out, &worlds[i], 100 + i, true);
    for (uint64_t seed = 1; seed <= RANDOM_WORLDS; seed++) {
        const struct world w = random_world(seed);
        write_switch(out, &w, seed, false);
    }
    golden_expect(&g, "probes", "switches.txt", true);
}

/* How far each counter came in the first recordings of a stretch, in thousands. */
static void write_stretch(FILE *out, const struct self_test_stretch *s)
{
    fprintf(out, "stretch %d: %s after %s, block %u, %g us, disturbed %u, kept %zu\n", (int)s->kind, s->kernel,
            s->from[0] ? s->from : "nothing", s->block, s->period_us, s->disturbed, s->n);
    if (s->why[0])
        fprintf(out, "why: %s; remedy: %s\n", s->why, s->remedy);
    for (size_t i = 0; i < s->n && i < 2; i++) {
        const struct self_test_recording *r = &s->recordings[i];
        fprintf(out, "%zu readings, zero %zu:", r->n, r->zero);
        for (size_t c = 0; c < 2 + s->n_counters; c++)
            fprintf(out, " %.1f", 1e-3 * (double)r->words[(r->n - 1) * (2 + s->n_counters) + c]);
        fputc('\n', out);
    }
}

static void write_first_contact(FILE *out, const char *name, unsigned seed)
{
    struct model m;
    struct machine machine;
    struct machine_error err;
    struct self_test_readings r;
    const struct self_test_setup setup = {.cpu = -1, .seed = seed};
    rig_load(name, &m);
    if (machine_open_parsed_model(&m, name, &machine, &err) || self_test_run(&machine, &setup, &r, &err))
        fail_msg("%s", err.text);
    machine.ops->close(&machine);
    fprintf(out, "# %s: %s, %s, tsc %s %.0f, cpu %d of %u, intel %d, modelled %d\n", r.machine, r.source, r.cpu,
            r.tsc_origin, r.tsc_hz, r.cpu_number, r.cores, r.intel, r.modelled);
    for (int id = 0; id < COUNTER_IDS; id++)
        fprintf(out, "counter %d lacks: %s; remedy: %s\n", id, r.lacks[id], r.lacks_remedy[id]);
    for (size_t i = 0; i < r.n_stretches; i++)
        write_stretch(out, &r.stretch[i]);
    fprintf(out, "volts, %zu: %s; %s:", r.n_volts, r.volts_why, r.volts_remedy);
    for (size_t i = 0; i < r.n_volts; i++)
        fprintf(out, " %.4f", ldexp((double)(r.volts[i] >> 32 & 0xffff), -13));
    fprintf(out, "\nenergy, %zu: %s; %s; %s\n", r.n_energy, r.energy_source, r.energy_why, r.energy_remedy);
    self_test_free(&r);
}

TEST(first_contacts)
{
    struct golden g;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    write_first_contact(out, "xeon-gold-6130", 5);
    write_first_contact(out, "xeon-w-2104", 6);
    golden_expect(&g, "probes", "self-test.txt", true);
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1);
}
