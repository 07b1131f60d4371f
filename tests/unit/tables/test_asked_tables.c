/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What each table asks of a machine with one option or another, at the limits of what they may be: sums of all setups
 * and requests, until the machine breaks at one of many, and of the rows where it does not, are those of
 * tests/golden/asked.tables. After an intended change `make golden` rewrites it, and the diff shows what changed.
 */
#include "tables/registry.h"
#include "tests/support/golden.h"
#include "tests/support/model_rig.h"
#include "tests/support/tally.h"
#include "tests/support/test.h"

enum { ANSWERS_MOST = 90, ANSWERS_OF_TWO = 3000 /* those of mixtures come late */ };

static struct {
    const struct machine_ops *ops; /* of the machine itself */
    unsigned answers, most, setups;
    struct tally setup, request, other;
} asked;

static int asked_answer(int status, struct machine_error *err)
{
    if (++asked.answers < asked.most || status != MACHINE_OK)
        return status;
    return machine_fail(err, MACHINE_FAILED, "", "enough");
}

static void tally_payload(struct tally *t, const struct payload *p)
{
    tally_text(t, p->kernel ? p->name : "none");
}

static int asked_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    struct tally *t = &asked.setup;
    asked.setups++;
    tally_add(t, s->cpu);
    tally_add(t, s->active_cores);
    tally_payload(t, &s->corunner);
    for (size_t i = 0; i < s->n_cpus; i++)
        tally_add(t, s->cpus[i]);
    tally_add(t, s->siblings);
    tally_add(t, s->fixed_ghz);
    tally_add(t, s->period_us);
    for (size_t i = 0; i < s->n_counters; i++) {
        tally_add(t, s->counters[i].id);
        tally_add(t, (double)s->counters[i].event);
    }
    tally_add(t, (double)s->max_samples);
    tally_add(t, (double)(s->seed % 10007));
    return asked.ops->prepare(m, s, err);
}

static int asked_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    struct tally *t = &asked.request;
    for (size_t i = 0; i < r->n_segments; i++) {
        tally_payload(t, &r->segments[i].payload);
        tally_add(t, r->segments[i].duration_us);
        tally_add(t, r->segments[i].sampled);
    }
    tally_add(t, (double)r->zero_segment);
    tally_add(t, (double)r->repetition);
    tally_add(t, r->fine_us);
    return asked_answer(asked.ops->run(m, r, out, err), err);
}

static int asked_bursts(struct machine *m, const struct bursts_request *r, struct burst *out, const char **disturbed,
                        struct machine_error *err)
{
    struct tally *t = &asked.other;
    tally_payload(t, &r->plain);
    tally_payload(t, &r->wide);
    tally_add(t, (double)r->count);
    tally_add(t, r->every_us);
    tally_add(t, r->before_us);
    tally_add(t, r->skipped);
    tally_add(t, r->bursts);
    tally_add(t, (double)r->repetition);
    return asked_answer(asked.ops->bursts(m, r, out, disturbed, err), err);
}

static int asked_first_use(struct machine *m, const struct first_use_request *r, struct first_use_seen *out,
                           struct machine_error *err)
{
    struct tally *t = &asked.other;
    tally_payload(t, &r->warm);
    tally_add(t, r->warm_us);
    tally_add(t, r->idle_us);
    tally_add(t, r->observe_us);
    tally_add(t, (double)r->repetition);
    return asked_answer(asked.ops->first_use(m, r, out, err), err);
}

static int asked_trials(struct machine *m, const struct trials_request *r, double *duration, struct trials_seen *seen,
                        struct machine_error *err)
{
    struct tally *t = &asked.other;
    tally_add(t, r->workload);
    tally_add(t, r->before);
    tally_add(t, (double)r->bytes);
    tally_add(t, r->trial_us);
    tally_add(t, r->trials);
    tally_add(t, r->masked);
    return asked_answer(asked.ops->trials(m, r, duration, seen, err), err);
}

static int asked_energy(struct machine *m, struct energy_reading *out, const char **source, struct machine_error *err)
{
    tally_add(&asked.other, asked.answers);
    return asked_answer(asked.ops->read_energy(m, out, source, err), err);
}

/* ---- the options ---- */

static void as_they_are(struct tables_options *o)
{
    o->brief = false;
}

static void hardly_any(struct tables_options *o)
{
    o->period_us = 0.75;
    o->warmup_us = 0.5;
    o->observe_us = 0.875;
    o->runs = 1;
}

static void of_their_own(struct tables_options *o)
{
    o->brief = false;
    o->period_us = 5;
    o->warmup_us = 700;
    o->observe_us = 1700;
    o->runs = 2;
}

static void on_a_cpu(struct tables_options *o)
{
    o->cpu = 3;
    o->siblings = true;
    o->corunner_same = true;
    o->seed = 9;
    o->n_active = 2;
    o->active[0] = 0;
    o->active[1] = 3;
}

static void on_named_cpus(struct tables_options *o)
{
    o->n_cpus = 3;
    o->cpus[0] = 4;
    o->cpus[1] = 1;
    o->cpus[2] = 2;
    o->corunner = kernel_named("256or");
    o->fixed_ghz = 2;
}

static void of_two_kernels(struct tables_options *o)
{
    o->n_kernels = 2;
    o->kernels[0] = kernel_named("512fma");
    o->kernels[1] = kernel_named("256fma");
    o->n_active = 1;
    o->active[0] = 1;
}

static void of_one_kernel(struct tables_options *o)
{
    o->n_kernels = 1;
    o->kernels[0] = kernel_named("512fma");
    o->n_active = 1;
    o->active[0] = 2;
    o->runs = 3;
}

static void of_a_burst(struct tables_options *o)
{
    o->event = 0x29;
    o->burst_count = 1;
    o->burst_every_us = 60;
}

static void of_too_long_a_burst(struct tables_options *o)
{
    o->burst_count = 1e6;
    o->burst_every_us = 100;
}

/* Nothing is chosen; the machine can do no more than it must. */
static void of_a_simple_machine(struct tables_options *o)
{
    o->runs = 2;
}

static const struct {
    const char *name;
    void (*choose)(struct tables_options *o);
    bool of_some; /* other tables do not have these */
} choices[] = {
    {"as they are", as_they_are, false},     {"hardly any", hardly_any, false},
    {"of their own", of_their_own, false},   {"on a CPU", on_a_cpu, false},
    {"on named CPUs", on_named_cpus, false}, {"of two kernels", of_two_kernels, false},
    {"of one kernel", of_one_kernel, false}, {"of a simple machine", of_a_simple_machine, false},
    {"of a burst", of_a_burst, true},        {"of too long a burst", of_too_long_a_burst, true},
};

/* ---- what is asked ---- */

static void tally_rows(struct tally *t, const struct table *rows)
{
    for (size_t row = 0; row < rows->n_rows; row++)
        for (size_t c = 0; c < rows->n_columns; c++) {
            const char *text = table_text(rows, row, rows->columns[c].name);
            if (text)
                tally_text(t, text);
            else
                tally_add(t, table_number(rows, row, rows->columns[c].name));
        }
}

static void write_asked(FILE *out, const struct table_kind *k, const struct model *model, size_t choice)
{
    struct machine m;
    struct machine_ops ops;
    struct machine_error err;
    struct tables_options o;
    struct table t;
    tables_options_default(&o);
    o.brief = true;
    choices[choice].choose(&o);
    assert_int_equal(machine_open_parsed_model(model, "model:test", &m, &err), MACHINE_OK);
    ops = *m.ops;
    ops.prepare = asked_prepare;
    ops.run = asked_run;
    ops.bursts = asked_bursts;
    ops.first_use = asked_first_use;
    ops.trials = asked_trials;
    ops.read_energy = asked_energy;
    bool simple = choices[choice].choose == of_a_simple_machine;
    if (simple)
        ops = (struct machine_ops){.info = ops.info,
                                   .lacks = ops.lacks,
                                   .prepare = ops.prepare,
                                   .run = ops.run,
                                   .finish = ops.finish,
                                   .close = ops.close};
    memset(&asked, 0, sizeof asked);
    asked.ops = m.ops;
    asked.most = choices[choice].choose == of_two_kernels && strcmp(k->name, "trigger") == 0 ? ANSWERS_OF_TWO
                                                                                             : ANSWERS_MOST;
    m.ops = &ops;
    int status = tables_measure(k, &m, &o, NULL, NULL, &t, &err);
    m.ops = asked.ops;
    m.ops->close(&m);
    fprintf(out, "%s, %s: %s;", k->name, choices[choice].name, status ? err.text : "measured");
    fprintf(out, " %u setups, %u answers:", asked.setups, asked.answers);
    tally_write(out, "setups", &asked.setup);
    tally_write(out, "runs", &asked.request);
    tally_write(out, "other", &asked.other);
    if (!status) {
        struct tally rows = {0};
        tally_rows(&rows, &t);
        tally_write(out, "rows", &rows);
        fprintf(out, ", %zu missing", t.n_missing);
        for (size_t i = 0; i < t.n_settings; i++)
            tally_text(&rows, t.settings[i].value);
        tally_write(out, "settings", &rows);
        for (size_t i = 0; i < t.n_missing && simple; i++)
            fprintf(out, "; %s", t.missing[i].why);
        table_free(&t);
    }
    fprintf(out, "\n");
}

TEST(what_tables_ask_is_golden)
{
    struct golden g;
    struct model model;
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    FILE *out = golden_begin(&g);
    rig_load("xeon-gold-6130", &model);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < sizeof choices / sizeof *choices; c++)
            if (!choices[c].of_some || kinds[i]->takes_burst || kinds[i]->takes_event)
                write_asked(out, kinds[i], &model, c);
    golden_expect(&g, "asked", "tables", false);
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1);
}
