/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What each table asks of a machine: for some of its cells the setups and the first requests, until the machine breaks.
 * tests/golden/requests.tables has a sum of them for each table and set of options; REQUESTS=FILE writes them.
 */
#include "tables/registry.h"
#include "tests/support/golden.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

enum { ANSWERS = 60, CELLS = 10 };

static struct {
    const struct machine_ops *inner;
    unsigned answers, requests;
    uint64_t sum;
    FILE *texts; /* NULL: nobody wants them */
} seen;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    char line[1500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (const char *c = line; *c; c++) /* FNV-1a */
        seen.sum = (seen.sum ^ (unsigned char)*c) * 0x100000001b3u;
    if (seen.texts)
        fputs(line, seen.texts);
}

/* Requests end with this: the last one breaks the machine. */
static int answered(int status, struct machine_error *err)
{
    seen.requests++;
    if (++seen.answers < ANSWERS || status != MACHINE_OK)
        return status;
    return machine_fail(err, MACHINE_FAILED, "", "enough");
}

static const char *name_of(const struct payload *p)
{
    return p->kernel ? p->name : "none";
}

static int see_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    note("prepare CPU %d, %u active, beside %s%s, %.6g GHz, every %.6g us, room %zu, seed %llu\n", s->cpu,
         s->active_cores, name_of(&s->corunner), s->siblings ? " and siblings" : "", s->fixed_ghz, s->period_us,
         s->max_samples, (unsigned long long)s->seed);
    for (size_t i = 0; i < s->n_cpus; i++)
        note(" CPU %d", s->cpus[i]);
    for (size_t i = 0; i < s->n_counters; i++)
        note(" counter %d/%llx", (int)s->counters[i].id, (unsigned long long)s->counters[i].event);
    return seen.inner->prepare(m, s, err);
}

static int see_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    note("run %llu, zero %zu, fine %.6g us:", (unsigned long long)r->repetition, r->zero_segment, r->fine_us);
    for (size_t i = 0; i < r->n_segments; i++)
        note(" %s %.6g us%s", name_of(&r->segments[i].payload), r->segments[i].duration_us,
             r->segments[i].sampled ? " sampled" : "");
    note("\n");
    return answered(seen.inner->run(m, r, out, err), err);
}

static int see_bursts(struct machine *m, const struct bursts_request *r, struct burst *out, const char **disturbed,
                      struct machine_error *err)
{
    note("bursts %llu of %llu %s in %s every %.6g us after %.6g us, %u behind %u\n", (unsigned long long)r->repetition,
         (unsigned long long)r->count, r->wide.name, r->plain.name, r->every_us, r->before_us, r->bursts, r->skipped);
    return answered(seen.inner->bursts(m, r, out, disturbed, err), err);
}

static int see_first_use(struct machine *m, const struct first_use_request *r, struct first_use_seen *out,
                         struct machine_error *err)
{
    note("first use %llu of %s after %.6g us, idle %.6g us, for %.6g us\n", (unsigned long long)r->repetition,
         r->warm.name, r->warm_us, r->idle_us, r->observe_us);
    return answered(seen.inner->first_use(m, r, out, err), err);
}

static int see_trials(struct machine *m, const struct trials_request *r, double *duration, struct trials_seen *out,
                      struct machine_error *err)
{
    note("%u trials of %d, before %d, %zu bytes, %.6g us, idle %.6g ms%s\n", r->trials, (int)r->workload,
         (int)r->before, r->bytes, r->trial_us, r->idle_ms, r->masked ? ", masked" : "");
    return answered(seen.inner->trials(m, r, duration, out, err), err);
}

static int see_switching(struct machine *m, const struct switching_request *r, struct switching_seen *out,
                         struct machine_error *err)
{
    note("switching %llu of %d: %zu %zu %zu\n", (unsigned long long)r->repetition, (int)r->what, r->order[0],
         r->order[1], r->order[2]);
    return answered(seen.inner->switching(m, r, out, err), err);
}

static int see_energy(struct machine *m, struct energy_reading *out, const char **source, struct machine_error *err)
{
    note("energy\n");
    return answered(seen.inner->read_energy(m, out, source, err), err);
}

static void look_at(const struct table_kind *k, const struct model *model, const struct tables_options *o)
{
    struct machine m;
    struct machine_error err;
    struct cells cells;
    assert_int_equal(machine_open_parsed_model(model, "model:test", &m, &err), MACHINE_OK);
    struct machine_ops ops = *m.ops;
    seen.inner = m.ops;
    ops.prepare = see_prepare;
    ops.run = see_run;
    ops.bursts = see_bursts;
    ops.first_use = see_first_use;
    ops.trials = see_trials;
    ops.switching = see_switching;
    ops.read_energy = see_energy;
    m.ops = &ops;
    assert_int_equal(tables_plan(k, &m, o, &cells, &err), MACHINE_OK);
    for (size_t i = 0; i < cells.n; i += cells.n / CELLS + 1) {
        struct table rows;
        struct tables_context x = {.machine = &m, .options = o};
        ops.info(&m, &x.info);
        table_init(&rows, k->name, k->columns, k->n_columns);
        note("cell %s, %.6g s\n", cells.cell[i].id, cells.cell[i].seconds);
        seen.answers = 0;
        (void)k->measure(&x, &cells.cell[i], &rows, &err);
        table_free(&rows);
    }
    tables_free_cells(&cells);
    m.ops->close(&m);
}

static void own_options(struct tables_options *o)
{
    o->brief = false;
    o->period_us = 3;
    o->warmup_us = 700;
    o->runs = 5;
    o->seed = 9;
    o->cpu = 3;
    o->siblings = true;
    o->n_active = 1;
    o->active[0] = 5;
    for (size_t i = 0; i < 3; i++)
        o->kernels[o->n_kernels++] = rig_payload((const char *const[]){"64add", "256fma@1/2", "512or"}[i]);
}

TEST(tables_ask_for_what_they_did)
{
    struct golden g;
    struct model model;
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    const char *path = getenv("REQUESTS");
    skip_where_sanitized("the same code runs in the tests of each table");
    seen.texts = path ? fopen(path, "w") : NULL;
    FILE *out = golden_begin(&g);
    rig_load("xeon-gold-6130", &model);
    model.has_switching = true;
    for (size_t i = 0; i < n; i++)
        for (int own = 0; own < 2; own++) {
            struct tables_options o;
            tables_options_default(&o);
            o.brief = true;
            o.event = kinds[i]->takes_event ? 0x28 : 0;
            if (own)
                own_options(&o);
            seen.sum = 0xcbf29ce484222325u;
            seen.requests = 0;
            look_at(kinds[i], &model, &o);
            fprintf(out, "%s%s: %u requests #%016llx\n", kinds[i]->name, own ? " with options" : "", seen.requests,
                    (unsigned long long)seen.sum);
        }
    if (seen.texts)
        assert_int_equal(fclose(seen.texts), 0);
    golden_expect(&g, "requests", "tables", false);
}
