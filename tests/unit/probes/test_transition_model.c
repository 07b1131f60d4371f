/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The main job through the model, end to end: probe, trace, analysis. What comes out must be the parameters that went
 * in: phases in order, every duration within 1 us, every frequency and ratio within 0.3 %.
 */
#include "analysis/phases/phases.h"
#include "drivers/model/model.h"
#include "tests/support/model_rig.h"
#include "tests/support/model_truth.h"
#include "probes/transition.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

#define DURATION_US 1.0
#define RELATIVE 0.003

struct expected {
    enum phase_kind kind;
    double start, duration, ghz, ratio;
};

static struct payload payload_of(const char *name)
{
    struct payload p;
    char why[200];
    if (kernel_parse(name, &p, why, sizeof why))
        fail_msg("%s", why);
    return p;
}

static void measure(const struct model *m, struct transition_setup *s, struct phases *out)
{
    struct machine machine;
    struct machine_error err;
    struct repetitions r;
    char why[200];
    if (machine_open_parsed_model(m, "model:test", &machine, &err))
        fail_msg("%s", err.text);
    if (transition_run(&machine, s, NULL, NULL, &r, &err))
        fail_msg("%s", err.text);
    if (phases_find(&r.trace, out, why, sizeof why))
        fail_msg("%s", why);
    repetitions_free(&r);
    machine.ops->close(&machine);
}

/* The phases to expect by the parameters: the one before time 0, then those after; steady neighbors at one level and
 * one rate are one phase. */
static size_t expect(const struct model *m, const struct transition_setup *s, struct expected *e)
{
    struct model_truth t;
    struct machine_error err;
    if (model_truth(m, &s->from, &s->to, s->machine.active_cores, &t, &err))
        fail_msg("%s", err.text);
    size_t n = 0;
    e[n++] = (struct expected){PHASE_STEADY, -s->before_us, s->before_us, t.from_ghz, NAN};
    for (size_t i = 0; i < t.n && t.phases[i].start_us < s->observe_us; i++) {
        static const enum phase_kind kinds[] = {PHASE_STEADY, PHASE_THROTTLE, PHASE_HALT, PHASE_SLOW};
        const struct model_phase *p = &t.phases[i];
        double end = fmin(p->start_us + p->duration_us, s->observe_us);
        struct expected *last = &e[n - 1];
        enum phase_kind kind = kinds[p->kind];
        if (kind == PHASE_SLOW && end >= s->observe_us)
            kind = PHASE_STEADY; /* that it will rise is not in the recording */
        if (n > 1 && kind == PHASE_STEADY && last->kind == PHASE_STEADY && last->ghz == p->ghz) {
            last->duration = end - last->start;
            continue;
        }
        e[n++] = (struct expected){kind, p->start_us, end - p->start_us, p->ghz, p->ipc_ratio};
    }
    return n;
}

static void print_both(const struct expected *e, size_t n, const struct phases *p)
{
    for (size_t i = 0; i < n; i++)
        print_message("  expected %-8s %8.2f +%7.2f us %6.3f GHz %5.3f\n", phases_kind_name(e[i].kind), e[i].start,
                      e[i].duration, e[i].ghz, e[i].ratio);
    for (size_t i = 0; i < p->n_phases; i++)
        print_message("  found    %-8s %8.2f +%7.2f us %6.3f GHz %5.3f\n", phases_kind_name(p->phases[i].kind),
                      p->phases[i].start_us, p->phases[i].duration_us.value, p->phases[i].freq_ghz.value,
                      p->phases[i].ipc_ratio);
    for (size_t i = 0; i < p->n_warnings; i++)
        print_message("  warning  %s\n", p->warnings[i]);
}

/* License counters may tell apart what the clock does not: for the comparison such steady neighbors are one phase. */
static void join_at_one_frequency(struct phases *p)
{
    for (size_t i = 1; i + 1 < p->n_phases; i++) {
        struct phase *a = &p->phases[i], *b = a + 1;
        if (a->kind != PHASE_STEADY || b->kind != PHASE_STEADY || a->level != b->level)
            continue;
        a->duration_us.value += b->duration_us.value;
        memmove(b, b + 1, (p->n_phases - i - 2) * sizeof *b);
        p->n_phases--;
        i--;
    }
}

/* Empty if all is within bounds, else what is not. */
static const char *compare(const struct expected *e, size_t n, const struct phases *p)
{
    if (n != p->n_phases)
        return "the number of phases";
    for (size_t i = 0; i < n; i++) {
        const struct phase *f = &p->phases[i];
        if (f->kind != e[i].kind)
            return "a kind";
        if (i && fabs(f->start_us - e[i].start) > DURATION_US)
            return "a start";
        if (i && i + 1 < n && fabs(f->duration_us.value - e[i].duration) > DURATION_US)
            return "a duration";
        if (e[i].kind != PHASE_HALT && fabs(f->freq_ghz.value / e[i].ghz - 1) > RELATIVE)
            return "a frequency";
        if (e[i].kind == PHASE_THROTTLE && fabs(f->ipc_ratio / e[i].ratio - 1) > RELATIVE * 4)
            return "a ratio"; /* IPC is counted with the samples' own noise, hence four times */
    }
    return "";
}

static void check(const struct model *m, const char *from, const char *to, unsigned cores, double observe,
                  uint64_t seed)
{
    struct transition_setup s;
    struct expected e[MODEL_PHASES_MAX + 2];
    struct phases p;
    struct payload a = payload_of(from), b = payload_of(to);
    transition_defaults(&s, &a, &b);
    s.machine.active_cores = cores;
    s.machine.seed = seed;
    if (observe > 0)
        s.observe_us = observe;
    measure(m, &s, &p);
    size_t n = expect(m, &s, e);
    join_at_one_frequency(&p);
    const char *wrong = compare(e, n, &p);
    if (*wrong) {
        print_message("%s %s:%s, %u cores, seed %llu: %s differs\n", m->cpu_name, from, to, cores,
                      (unsigned long long)seed, wrong);
        print_both(e, n, &p);
        fail();
    }
    phases_free(&p);
}

static void load(const char *name, struct model *m)
{
    struct machine_error err;
    if (model_load(name, "data", m, &err))
        fail_msg("%s", err.text);
}

TEST(published_transitions)
{
    static const char *const pairs[][2] = {{"128fma", "512fma"}, {"128fma", "256fma"}, {"128fma", "256or"},
                                           {"128fma", "128or"},  {"128fma", "512or"},  {"256fma", "512fma"},
                                           {"256fma", "512or"},  {"512fma", "128fma"}, {"256fma", "128fma"}};
    static const unsigned cores[] = {2, 16};
    struct model m;
    load("xeon-gold-6130", &m);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (size_t c = 0; c < 2; c++)
            check(&m, pairs[i][0], pairs[i][1], cores[c], 0, 1);
}

TEST(every_shipped_model)
{
    char **names;
    size_t n;
    rig_processors(&names, &n);
    for (size_t i = 0; i < n; i++) {
        struct model m;
        load(names[i], &m);
        if (!(m.features & KERNEL_NEEDS_AVX512F)) {
            check(&m, "128fma", "256fma", 0, 0, 2);
            continue;
        }
        check(&m, "128fma", "512fma", 0, 0, 2);
        check(&m, "512fma", "128fma", 0, 0, 2);
        check(&m, "128fma", "256or", 0, 0, 2);
    }
    model_list_free(names, n);
}

static double uniform(uint64_t *x, double lo, double hi)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator: any will do here */
    return lo + (hi - lo) * (double)(*x >> 11) / 9007199254740992.0;
}

/* Other parameters than any shipped model's. */
static void draw(struct model *m, uint64_t seed)
{
    uint64_t x = seed * 7919 + 12345;
    load("xeon-gold-6130", m);
    for (size_t i = 0; i < m->n_turbo; i++) {
        m->turbo[i].ghz[0] = uniform(&x, 2.5, 4.5);
        m->turbo[i].ghz[1] = m->turbo[i].ghz[0] * uniform(&x, 0.75, 0.97);
        m->turbo[i].ghz[2] = m->turbo[i].ghz[1] * uniform(&x, 0.75, 0.97);
    }
    double ratio[2] = {uniform(&x, 0.2, 0.5), 0}, us[2] = {uniform(&x, 6, 40), uniform(&x, 6, 40)};
    ratio[1] = ratio[0] + uniform(&x, 0.2, 0.35);
    for (size_t a = 0; a < m->n_classes; a++)
        for (size_t b = 0; b < m->n_classes; b++)
            for (size_t k = 0, t = 0; k < m->transitions[a][b].n_steps; k++) {
                struct model_step *step = &m->transitions[a][b].steps[k];
                if (step->kind != MODEL_STEP_THROTTLE)
                    continue;
                step->ratio = ratio[t & 1];
                step->us = us[t++ & 1];
                step->n_variants = 0;
            }
    m->halt_us = uniform(&x, 5, 15);
    m->halt_sigma_us = uniform(&x, 0, 0.3);
    m->throttle_sigma_us = uniform(&x, 0, 0.5);
    m->wait_us = uniform(&x, 200, 900);
    m->wait_sigma_us = uniform(&x, 0, 3);
    m->frequency_noise = uniform(&x, 0, 0.004);
    m->spread = 0;
    m->clock_jitter_ns = uniform(&x, 0, 20);
    m->noise_cycles = uniform(&x, 0, 10);
    for (size_t i = 0; i < m->n_interrupts; i++)
        m->interrupts[i].rearm = 0; /* the truth does not model it */
}

TEST(random_parameters)
{
    static const char *const pairs[][2] = {
        {"128fma", "512fma"}, {"128or", "512or"}, {"256or", "512fma"}, {"512fma", "128fma"}, {"512or", "64add"}};
    for (uint64_t seed = 1; seed <= rng_rounds(50); seed++) {
        struct model m;
        draw(&m, seed);
        check(&m, pairs[seed % 5][0], pairs[seed % 5][1], 1 + (unsigned)(seed * 5 % 16), seed % 5 > 2 ? 1200 : 200,
              seed);
    }
}

TEST(nothing_where_there_is_nothing)
{
    struct model m;
    load("core-i9-11900k", &m);
    for (uint64_t seed = 1; seed <= rng_rounds(20); seed++) {
        struct transition_setup s;
        struct phases p;
        struct payload a = payload_of("128fma"), b = payload_of("512fma");
        transition_defaults(&s, &a, &b);
        s.machine.seed = seed;
        measure(&m, &s, &p);
        assert_int_equal(p.n_transitions, 0);
        assert_int_equal(p.n_levels, 1);
        assert_true(p.detectable_freq > 0 && p.detectable_freq < 0.01);
        assert_true(p.detectable_throttle > 0.9 && p.detectable_throttle < 1);
        assert_true(p.detectable_halt_us > 0 && p.detectable_halt_us < 5);
        phases_free(&p);
    }
}

/* The same parameters and seed must give the same bytes, another seed other ones. */
TEST(deterministic)
{
    struct model m;
    load("xeon-gold-6130", &m);
    char *text[3];
    for (int i = 0; i < 3; i++) {
        struct transition_setup s;
        struct phases p;
        struct payload a = payload_of("128fma"), b = payload_of("512fma");
        transition_defaults(&s, &a, &b);
        s.machine.seed = i < 2 ? 7 : 8;
        measure(&m, &s, &p);
        text[i] = phases_to_json(&p);
        assert_non_null(text[i]);
        phases_free(&p);
    }
    assert_string_equal(text[0], text[1]);
    assert_string_not_equal(text[0], text[2]);
    for (int i = 0; i < 3; i++)
        free(text[i]);
}

/* Without counters, in steps of 10 ns. */
static void measure_by_chains(unsigned runs, struct phases *p)
{
    struct model m;
    struct transition_setup s;
    struct payload a = payload_of("128fma"), b = payload_of("512fma");
    rig_load("xeon-gold-6130", &m);
    m.no_counters = true;
    m.counts_licenses = m.counts_throttle = false;
    m.tsc_step_ns = 10;
    transition_defaults(&s, &a, &b);
    s.machine.seed = 3;
    s.runs = runs;
    measure(&m, &s, p);
}

/* Chains make their samples longer, which is no thread that slows the code. */
TEST(chains_are_no_neighbor)
{
    struct phases p;
    measure_by_chains(100, &p);
    assert_int_equal(p.n_warnings, 0);
    assert_int_equal(p.n_phases, 6);
    phases_free(&p);
}

/* Throttling to 1/4 was the full rate where few repetitions were analyzed one by one. */
TEST(few_repetitions_tell_it_or_nothing)
{
    for (unsigned runs = 1; runs < 8; runs++) {
        struct phases p;
        measure_by_chains(runs, &p);
        assert_true(p.n_phases > 1);
        if (runs < 3)
            assert_int_equal(p.phases[1].kind, PHASE_UNKNOWN);
        else
            assert_true(p.phases[1].kind == PHASE_UNKNOWN ||
                        (p.phases[1].kind == PHASE_THROTTLE && p.phases[1].ipc_ratio < 0.4));
        phases_free(&p);
    }
}
