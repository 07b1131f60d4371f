/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What each probe asks of a machine is that of tests/golden/probes.requests.txt: which CPU and counters, room for how
 * many samples, what runs for how long and in which order, how often it is tried again where repetitions are disturbed,
 * what is told of the progress, and what is handed back. After an intended change, `make golden` rewrites it.
 */
#include "probes/bursts.h"
#include "probes/energy.h"
#include "probes/self_test.h"
#include "probes/sequence.h"
#include "probes/transition.h"
#include "probes/trials.h"
#include "probes/umask.h"
#include "tests/support/golden.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"
#include "util/text_list.h"

/* ---- a modelled machine, and what it was asked ---- */

static struct {
    FILE *out;
    struct machine_ops ops;
    const struct machine_ops *inner;
    char last[600]; /* requests that differ in phase and number alone are one line */
    unsigned times;
    double numbers;
    unsigned disturbed_in, calls; /* of so many repetitions the last is disturbed; 0: none is */
    unsigned told;
} spy;

static void end_line(void)
{
    if (spy.times > 0)
        fprintf(spy.out, "%s; %u times, numbers %.0f\n", spy.last, spy.times, spy.numbers);
    spy.times = 0;
    spy.numbers = 0;
    spy.last[0] = '\0';
}

static void add_line(const char *line, double number)
{
    if (strcmp(line, spy.last) != 0)
        end_line();
    snprintf(spy.last, sizeof spy.last, "%s", line);
    spy.times++;
    spy.numbers += number;
}

static int prepare_spied(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    end_line();
    fprintf(spy.out, "prepare cpu %d, %u cores, beside %s, every %g us, room %zu, seed %g, counters", s->cpu,
            s->active_cores, s->corunner.kernel ? s->corunner.name : "-", s->period_us, s->max_samples,
            (double)s->seed);
    for (size_t i = 0; i < s->n_counters; i++)
        fprintf(spy.out, " %d/%llx", (int)s->counters[i].id, (unsigned long long)s->counters[i].event);
    fputc('\n', spy.out);
    return spy.inner->prepare(m, s, err);
}

static int run_spied(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    char line[600];
    int length = snprintf(line, sizeof line, "run, zero %zu:", r->zero_segment);
    for (size_t i = 0; i < r->n_segments; i++)
        length += snprintf(line + length, sizeof line - (size_t)length, " %s %.6g us%s", r->segments[i].payload.name,
                           r->segments[i].duration_us, r->segments[i].sampled ? " sampled" : "");
    add_line(line, (double)r->repetition);
    int status = spy.inner->run(m, r, out, err);
    out->involuntary_switches = spy.disturbed_in > 0 && ++spy.calls % spy.disturbed_in == 0;
    return status;
}

static int bursts_spied(struct machine *m, const struct bursts_request *r, struct burst *out, const char **disturbed,
                        struct machine_error *err)
{
    char line[600];
    snprintf(line, sizeof line, "bursts of %llu %s in %s, every %g us after %g us, %u behind %u",
             (unsigned long long)r->count, r->wide.name, r->plain.name, r->every_us, r->before_us, r->bursts,
             r->skipped);
    add_line(line, (double)r->repetition);
    int status = spy.inner->bursts(m, r, out, disturbed, err);
    if (spy.disturbed_in > 0 && ++spy.calls % spy.disturbed_in == 0)
        *disturbed = "for a test";
    return status;
}

static int trials_spied(struct machine *m, const struct trials_request *r, double *duration, struct trials_seen *seen,
                        struct machine_error *err)
{
    end_line();
    fprintf(spy.out, "trials of %d, before %d, %zu bytes, %g us, %u\n", (int)r->workload, (int)r->before, r->bytes,
            r->trial_us, r->trials);
    return spy.inner->trials(m, r, duration, seen, err);
}

static int register_spied(struct machine *m, uint32_t reg, uint64_t *value, struct machine_error *err)
{
    assert_int_equal(reg, 0x198);
    spy.numbers += 1e6; /* it lies between two repetitions, which are one line */
    return spy.inner->read_register(m, reg, value, err);
}

static int energy_spied(struct machine *m, struct energy_reading *out, const char **source, struct machine_error *err)
{
    add_line("read energy", 0);
    return spy.inner->read_energy(m, out, source, err);
}

static void finish_spied(struct machine *m)
{
    end_line();
    fprintf(spy.out, "finish\n");
    spy.inner->finish(m);
}

static int progress(void *data, unsigned done, unsigned wanted)
{
    assert_ptr_equal(data, &spy);
    spy.told++;
    spy.numbers += 1e-3 * done + 1e3 * wanted; /* with the line of that repetition */
    return 0;
}

static void open_spied(const char *what, const char *model, bool counters, unsigned disturbed_in, FILE *out,
                       struct machine *m)
{
    struct model parsed;
    struct machine_error err;
    rig_load(model, &parsed);
    rig_silence(&parsed);
    if (!counters) {
        parsed.no_counters = true;
        parsed.counts_licenses = parsed.counts_throttle = false;
        parsed.tsc_step_ns = 10;
    }
    if (machine_open_parsed_model(&parsed, "model:test", m, &err))
        fail_msg("%s", err.text);
    memset(&spy, 0, sizeof spy);
    spy.out = out;
    spy.disturbed_in = disturbed_in;
    spy.inner = m->ops;
    spy.ops = *m->ops;
    spy.ops.prepare = prepare_spied;
    spy.ops.run = run_spied;
    spy.ops.bursts = bursts_spied;
    spy.ops.trials = trials_spied;
    spy.ops.read_register = register_spied;
    spy.ops.read_energy = energy_spied;
    spy.ops.finish = finish_spied;
    m->ops = &spy.ops;
    fprintf(out, "# %s\n", what);
}

/* ---- what comes back ---- */

/* What is the same of all is written of the first alone. */
static void write_trace(FILE *out, const struct trace *t)
{
    static const char *const same = "format,cpu,source,tsc_hz,tsc_origin,cpu_number,sampler,modelled,notes";
    static bool written;
    for (size_t i = 0; i < t->n_meta; i++)
        if (strcmp(t->meta[i].key, "version") != 0 && !(written && text_list_has(same, t->meta[i].key)))
            fprintf(out, "  %s: %s\n", t->meta[i].key, t->meta[i].value);
    written = true;
    fprintf(out, "  %zu samples", t->n);
    if (t->n > 0)
        fprintf(out, " from %.3f to %.3f us", t->time_us[0], t->time_us[t->n - 1]);
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        double sum = 0;
        for (size_t i = 0; t->channel[c] && i < t->n; i++)
            sum += isnan(t->channel[c][i]) ? 0 : (double)t->channel[c][i];
        if (t->channel[c])
            fprintf(out, ", %s %.4g", trace_channel_name((enum trace_channel)c), sum);
    }
    for (size_t i = 0; i < t->n_extra; i++)
        fprintf(out, ", %s", t->extra[i].name);
    fputc('\n', out);
}

static void write_repetitions(FILE *out, struct repetitions *r)
{
    write_trace(out, &r->trace);
    if (r->volts_missing[0])
        fprintf(out, "  volts missing: %s\n", r->volts_missing);
    for (size_t i = 0; i < r->n_invalid; i++)
        fprintf(out, "  without %u: %s\n", r->invalid[i].run, r->invalid[i].why);
    fprintf(out, "  told %u times\n", spy.told);
    repetitions_free(r);
}

static void ok(int status, const struct machine_error *err)
{
    if (status != MACHINE_OK)
        fail_msg("%s", err->text);
}

/* ---- the probes ---- */

static void write_steady(FILE *out, unsigned disturbed_in, bool event)
{
    struct machine m;
    struct machine_error err;
    struct steady_setup s;
    struct repetitions r;
    const struct payload kernel = rig_payload("512fma");
    open_spied("steady", "xeon-gold-6130", true, disturbed_in, out, &m);
    steady_defaults(&s, &kernel);
    s.progress = progress;
    s.data = &spy;
    s.machine.seed = 7;
    if (event) {
        s.licenses = false;
        s.n_events = 2;
        s.events[0] = (struct raw_event){.code = 0x1828, .name = "LEVEL_1"};
        s.events[1] = (struct raw_event){.code = 0x2028, .name = "LEVEL_2"};
    }
    ok(steady_run(&m, &s, &r, &err), &err);
    write_repetitions(out, &r);
    m.ops->close(&m);
}

static void write_transition(FILE *out, const char *from, const char *to, unsigned runs, double period_us,
                             bool no_volts, unsigned disturbed_in)
{
    struct machine m;
    struct machine_error err;
    struct transition_setup s;
    struct repetitions r;
    const struct payload first = rig_payload(from), second = rig_payload(to);
    open_spied("transition", "xeon-gold-6130", true, disturbed_in, out, &m);
    transition_defaults(&s, &first, &second);
    fprintf(out, "%u runs, cpu %d\n", s.runs, s.machine.cpu);
    s.runs = runs;
    s.period_us = period_us;
    s.no_volts = no_volts;
    ok(transition_run(&m, &s, progress, &spy, &r, &err), &err);
    write_repetitions(out, &r);
    m.ops->close(&m);
}

static void write_umask(FILE *out, const char *kernel, const char *base, unsigned disturbed_in)
{
    struct machine m;
    struct machine_error err;
    struct umask_setup s;
    struct repetitions r[UMASK_EXPERIMENTS];
    const struct payload first = rig_payload(kernel), second = rig_payload(base);
    open_spied("umask", "xeon-gold-6130", true, disturbed_in, out, &m);
    umask_defaults(&s, &first, &second);
    s.n_events = 1;
    s.events[0] = (struct raw_event){.code = 0x1828, .name = "LEVEL_1"};
    s.progress = progress;
    s.data = &spy;
    ok(umask_run(&m, &s, r, &err), &err);
    for (int w = 0; w < UMASK_EXPERIMENTS; w++)
        write_repetitions(out, &r[w]);
    m.ops->close(&m);
}

static void write_bursts(FILE *out, unsigned disturbed_in)
{
    struct machine m;
    struct machine_error err;
    struct bursts_result r;
    const struct bursts_setup s = {.machine = {.cpu = -1, .active_cores = 1},
                                   .plain = rig_payload("64add"),
                                   .wide = {rig_payload("512fma"), rig_payload("512fma"), rig_payload("256fma")},
                                   .count = {0, 500, 200},
                                   .variants = 3,
                                   .every_us = 100,
                                   .before_us = 1000,
                                   .skipped = 2,
                                   .bursts = 10,
                                   .rounds = 9,
                                   .progress = progress,
                                   .data = &spy};
    open_spied("bursts", "xeon-gold-6130", true, disturbed_in, out, &m);
    ok(bursts_run(&m, &s, &r, &err), &err);
    fprintf(out, "  %u rounds, %u discarded, %lu interrupted, told %u times\n", r.n, r.discarded, r.interrupted,
            spy.told);
    for (unsigned v = 1; v < s.variants; v++)
        for (unsigned i = 0; i < r.n; i++)
            fprintf(out, "  %u: loss %.5f, cold %.4f us, cost %.4f us, warm %.4f us\n", v, r.loss[v][i],
                    r.cold_us[v][i], r.cost_us[v][i], r.warm_us[v][i]);
    bursts_result_free(&r);
    assert_null(r.loss[0]);
    m.ops->close(&m);
}

static void write_energy_stretch(FILE *out, const struct energy_stretch *e)
{
    fprintf(out,
            "  %.5f J in %.6f s, run %.6f s, operations %.5g in %.6f s, cycles %.5g in %.6f s, lost %.7f, other %.7f, "
            "start %.7f\n",
            e->joules, e->seconds, e->run_seconds, e->operations, e->recorded_seconds, e->cycles, e->cycle_seconds,
            e->lost_seconds, e->other_seconds, e->start_seconds);
}

static void write_energy(FILE *out, bool counters)
{
    struct machine m;
    struct machine_error err;
    struct energy_setup s;
    struct energy_result r;
    const struct payload kernel = rig_payload("512fma");
    open_spied("energy", "xeon-gold-6130", counters, 0, out, &m);
    energy_defaults(&s, &kernel);
    fprintf(out, "%u runs of %s after %s\n", s.runs, s.kernel.name, s.idle.kernel ? s.idle.name : "-");
    s.runs = 2;
    s.progress = progress;
    s.data = &spy;
    ok(energy_run(&m, &s, &r, &err), &err);
    fprintf(out, "  %zu pairs, %u of %u cores, %s\n", r.n, r.counted_cores, r.active_cores, r.source);
    for (size_t i = 0; i < r.n; i++) {
        write_energy_stretch(out, &r.pairs[i].idle);
        write_energy_stretch(out, &r.pairs[i].kernel);
    }
    energy_result_free(&r);
    m.ops->close(&m);
}

static void write_trials(FILE *out)
{
    struct machine m;
    struct machine_error err;
    struct trials_result r;
    const struct trials_setup s = {.machine = {.cpu = -1, .active_cores = 1, .period_us = 5, .max_samples = 900},
                                   .request = {.workload = 0, .trial_us = 20, .trials = 3, .bytes = 77},
                                   .place = TRIALS_NOWHERE};
    open_spied("trials", "xeon-gold-6130", true, 0, out, &m);
    ok(trials_measure(&m, &s, &r, &err), &err);
    fprintf(out, "  %zu bytes, %.0f %.0f %.0f %s\n", r.bytes, r.duration[0], r.duration[1], r.duration[2],
            r.seen.cycles ? "cycles" : "ns");
    free(r.duration);
    m.ops->close(&m);
}

static void write_self_test(FILE *out, const char *model, bool counters, unsigned disturbed_in)
{
    struct machine m;
    struct machine_error err;
    struct self_test_readings r;
    const struct self_test_setup setup = {.cpu = -1, .seed = 3};
    open_spied("self-test", model, counters, disturbed_in, out, &m);
    ok(self_test_run(&m, &setup, &r, &err), &err);
    for (size_t i = 0; i < r.n_stretches; i++) {
        const struct self_test_stretch *s = &r.stretch[i];
        fprintf(out, "  %d %s %s: %zu kept, %u disturbed, %zu counters, %s%s\n", (int)s->kind, s->kernel, s->from, s->n,
                s->disturbed, s->n_counters, s->why, s->remedy);
    }
    fprintf(out, "  %zu volts, %s%s; %zu of energy, %s, %s%s\n", r.n_volts, r.volts_why, r.volts_remedy, r.n_energy,
            r.energy_source, r.energy_why, r.energy_remedy);
    self_test_free(&r);
    assert_int_equal(r.n_stretches, 0);
    m.ops->close(&m);
}

TEST(requests)
{
    struct golden g;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    write_steady(out, 0, false);
    write_steady(out, 3, true);
    write_steady(out, 1, false);
    write_transition(out, "128fma", "512fma", 3, 1, true, 0);
    write_transition(out, "512fma", "128fma", 2, 4, true, 2);
    write_transition(out, "256or", "256fma", 2, 1, true, 0);
    write_transition(out, "256fma", "512or", 2, 1, true, 0);
    write_transition(out, "512or", "256or", 2, 1, true, 0);
    write_transition(out, "64add", "512fma", 2, 10, false, 0);
    write_transition(out, "64add", "256fma", 2, 25, false, 5);
    write_umask(out, "512fma", "64add", 0);
    write_umask(out, "512fma", "64add", 4);
    write_umask(out, "64add", "64add", 0);
    write_bursts(out, 0);
    write_bursts(out, 7);
    write_bursts(out, 1);
    write_energy(out, true);
    write_energy(out, false);
    write_trials(out);
    write_self_test(out, "xeon-gold-6130", true, 0);
    write_self_test(out, "xeon-w-2104", false, 3);
    golden_expect(&g, "probes", "requests.txt", true);
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1);
}
