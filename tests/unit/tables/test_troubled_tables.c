/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables of a machine on which something else runs, in all repetitions, in every third, or from one on; that fails; or
 * that somebody stops. What is measured all the same, what is said to be missing, what is asked of the machine and how
 * much progress is told: tests/golden/troubled.TABLE. After an intended change `make golden` rewrites it, and the diff
 * shows what changed.
 */
#include "drivers/recording.h"
#include "tables/registry.h"
#include "tests/support/golden.h"
#include "tests/support/model_rig.h"
#include "tests/support/tally.h"
#include "tests/support/test.h"
#include "util/text_list.h"

enum { ROWS_MOST = 12 };

enum trouble_kind {
    TROUBLE_DISTURBED,
    TROUBLE_FAILS,
    TROUBLE_SLOW,   /* the clock runs at 0.95 of what it should */
    TROUBLE_FIRST,  /* ... until time 0 */
    TROUBLE_LEVELS, /* what counts two levels is exchanged */
    TROUBLE_WAITS   /* levels are held for 1.45 times as long */
};

/* What of the machine's answers, counted from 0, is in trouble. */
struct trouble {
    const char *name;
    unsigned from, every;
    enum trouble_kind kind;
};

static struct {
    const struct machine_ops *ops; /* of the machine itself */
    struct machine slower;         /* the same with other waits */
    struct trouble trouble;
    unsigned answers;
    struct counter_spec counters[MACHINE_COUNTERS_MAX];
    size_t n_counters;
    /* what the table tells, and after how many times it is stopped; 0: never */
    unsigned told, stop;
    struct tally parts;
} world;

static bool in_trouble(enum trouble_kind kind)
{
    const struct trouble *t = &world.trouble;
    return t->every && t->kind == kind && world.answers >= t->from && (world.answers - t->from) % t->every == 0;
}

static int answer(int status, struct machine_error *err)
{
    if (status == MACHINE_OK && in_trouble(TROUBLE_FAILS))
        status = machine_fail(err, MACHINE_FAILED, "mend it", "it broke");
    world.answers++;
    return status;
}

static int troubled_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    if (s->n_counters > 0)
        memcpy(world.counters, s->counters, s->n_counters * sizeof *s->counters);
    world.n_counters = s->n_counters;
    int status = world.ops->prepare(&world.slower, s, err);
    return status ? status : world.ops->prepare(m, s, err);
}

static void slow_down(struct recording *r, size_t end)
{
    for (size_t w = RECORDING_INSTRUCTIONS; w < r->stride && end > 0; w++)
        for (size_t i = r->n; i-- > 0;) {
            uint64_t *words = r->words + w;
            words[i * r->stride] -= (uint64_t)(0.05 * (double)words[(i < end ? i : end - 1) * r->stride]);
        }
}

static void exchange_levels(struct recording *r)
{
    int one = recording_word(world.counters, world.n_counters, COUNTER_LVL0);
    int other = recording_word(world.counters, world.n_counters, COUNTER_LVL2);
    for (size_t i = 0; i < r->n && one > 0 && other > 0; i++) {
        uint64_t *words = r->words + i * r->stride, was = words[one];
        words[one] = words[other];
        words[other] = was;
    }
}

static int troubled_run(struct machine *m, const struct run_request *r, struct recording *out,
                        struct machine_error *err)
{
    int status = world.ops->run(in_trouble(TROUBLE_WAITS) ? &world.slower : m, r, out, err);
    if (status == MACHINE_OK && in_trouble(TROUBLE_DISTURBED)) {
        out->migrated = world.answers % 2 == 0;
        out->page_faults = 1;
    }
    if (status == MACHINE_OK && in_trouble(TROUBLE_SLOW))
        slow_down(out, out->n);
    if (status == MACHINE_OK && in_trouble(TROUBLE_FIRST))
        slow_down(out, out->zero_reading + 1);
    if (status == MACHINE_OK && in_trouble(TROUBLE_LEVELS))
        exchange_levels(out);
    return answer(status, err);
}

static void troubled_finish(struct machine *m)
{
    world.ops->finish(&world.slower);
    world.ops->finish(m);
}

static int troubled_bursts(struct machine *m, const struct bursts_request *r, struct burst *out, const char **disturbed,
                           struct machine_error *err)
{
    int status = world.ops->bursts(m, r, out, disturbed, err);
    if (status == MACHINE_OK && in_trouble(TROUBLE_DISTURBED))
        *disturbed = "page faults";
    return answer(status, err);
}

static int troubled_first_use(struct machine *m, const struct first_use_request *r, struct first_use_seen *out,
                              struct machine_error *err)
{
    int status = world.ops->first_use(m, r, out, err);
    if (status == MACHINE_OK && in_trouble(TROUBLE_DISTURBED))
        out->first_us = NAN;
    return answer(status, err);
}

static int troubled_trials(struct machine *m, const struct trials_request *r, double *duration,
                           struct trials_seen *seen, struct machine_error *err)
{
    return answer(world.ops->trials(m, r, duration, seen, err), err);
}

static int troubled_energy(struct machine *m, struct energy_reading *out, const char **source,
                           struct machine_error *err)
{
    return answer(world.ops->read_energy(m, out, source, err), err);
}

static int note_part(void *data, const struct table_kind *k, size_t done, size_t n, double part)
{
    (void)data;
    (void)k;
    assert_true(done <= n && part >= 0 && part <= 1 + 1e-9);
    tally_add(&world.parts, (double)done);
    tally_add(&world.parts, part);
    return ++world.told == world.stop;
}

/* Measures it, in this trouble, until it is stopped; as the program does. */
static int measure_in_trouble(const struct table_kind *k, const struct model *model, const struct trouble *t,
                              unsigned stop, struct table *out, struct machine_error *err)
{
    const struct tables_watch watch = {.progress = note_part};
    struct machine m;
    struct machine_ops ops;
    struct tables_options o;
    tables_options_default(&o);
    o.brief = true;
    o.seed = 5;
    o.n_active = 1;
    o.active[0] = 2;
    o.runs = text_list_has("energy,variability", k->name) ? 2 : strcmp(k->name, "overhead") == 0 ? 8 : 5;
    o.n_cpus = strcmp(k->name, "cores") == 0 ? 2 : 0;
    for (size_t i = 0; i < o.n_cpus; i++)
        o.cpus[i] = (int)i;
    if (k->takes_burst) {
        o.burst_count = 1000;
        o.burst_every_us = 100;
    }
    /* one is enough where each is measured by itself, and takes long */
    if (!text_list_has("relaxation,umask,energy,cores", k->name))
        o.kernels[o.n_kernels++] = kernel_named("64add");
    o.kernels[o.n_kernels++] = kernel_named("512fma");
    assert_int_equal(machine_open_parsed_model(model, "model:test", &m, err), MACHINE_OK);
    ops = *m.ops;
    ops.prepare = troubled_prepare;
    ops.finish = troubled_finish;
    ops.run = troubled_run;
    ops.bursts = troubled_bursts;
    ops.first_use = troubled_first_use;
    ops.trials = troubled_trials;
    ops.read_energy = troubled_energy;
    memset(&world, 0, sizeof world);
    struct model slower = *model;
    slower.wait_us *= 1.45;
    assert_int_equal(machine_open_parsed_model(&slower, "model:test", &world.slower, err), MACHINE_OK);
    world.ops = m.ops;
    world.trouble = *t;
    world.stop = stop;
    m.ops = &ops;
    int status = tables_measure(k, &m, &o, NULL, &watch, out, err);
    m.ops = world.ops;
    m.ops->close(&world.slower);
    m.ops->close(&m);
    return status;
}

/* All fields; of many rows a sum of each column. */
static void write_rows(FILE *out, const struct table *t)
{
    for (size_t c = 0; c < t->n_columns && t->n_rows > ROWS_MOST; c++) {
        const char *name = t->columns[c].name;
        struct tally tally = {0};
        for (size_t row = 0; row < t->n_rows; row++)
            if (table_text(t, row, name))
                tally_text(&tally, table_text(t, row, name));
            else
                tally_add(&tally, table_number(t, row, name));
        tally_write(out, name, &tally);
        fprintf(out, "\n");
    }
    for (size_t row = 0; row < t->n_rows && t->n_rows <= ROWS_MOST; row++) {
        fprintf(out, "row:");
        for (size_t c = 0; c < t->n_columns; c++) {
            const char *name = t->columns[c].name, *text = table_text(t, row, name);
            if (text)
                fprintf(out, " %s %s", name, text);
            golden_put(out, name, table_number(t, row, name));
        }
        fprintf(out, "\n");
    }
    for (size_t i = 0; i < t->n_settings; i++)
        fprintf(out, "%s: %s\n", t->settings[i].key, t->settings[i].value);
}

static void write_missing(FILE *out, const struct table *t)
{
    for (size_t i = 0; i < t->n_missing; i++) {
        fprintf(out, "missing:");
        for (size_t c = 0; c < t->n_columns; c++) {
            const char *name = t->columns[c].name, *text = table_missing_text(t, i, name);
            double number = table_missing_number(t, i, name);
            if (text)
                fprintf(out, " %s %s", name, text);
            if (!isnan(number))
                fprintf(out, " %s %.6g", name, number);
        }
        fprintf(out, ": %s\n", t->missing[i].why);
    }
}

static void write_troubled(FILE *out, const struct table_kind *k, const struct model *model, const struct trouble *t)
{
    struct table table;
    struct machine_error err;
    int status = measure_in_trouble(k, model, t, 0, &table, &err);
    fprintf(out, "== %s\n", t->name);
    if (status) {
        fprintf(out, "refused, %d: %s; %s\n", status, err.text, err.remedy);
        return;
    }
    write_rows(out, &table);
    write_missing(out, &table);
    k->findings(out, &table);
    fprintf(out, "%u answers, progress told %u times:", world.answers, world.told);
    tally_write(out, "parts", &world.parts);
    fprintf(out, "\n");
    table_free(&table);
}

/* A machine's fault ends the measurement with the machine's own words, unless it goes on without that part. */
static void write_failures(FILE *out, const struct table_kind *k, const struct model *model, unsigned answers)
{
    for (unsigned i = 0; i < answers; i = 4 * i + 1) {
        struct table table;
        struct machine_error err;
        const struct trouble t = {.from = i, .every = answers + 1, .kind = TROUBLE_FAILS};
        int status = measure_in_trouble(k, model, &t, 0, &table, &err);
        if (status == MACHINE_OK) {
            fprintf(out, "answer %u fails: %zu rows\n", i, table.n_rows);
            write_missing(out, &table);
            table_free(&table);
        } else
            fprintf(out, "answer %u fails: %d, %s; %s, after %u\n", i, status, err.text, err.remedy, world.answers);
    }
}

static void write_stops(FILE *out, const struct table_kind *k, const struct model *model, unsigned told)
{
    for (unsigned i = 1; i <= told; i = 7 * i) {
        struct table table;
        struct machine_error err;
        int status = measure_in_trouble(k, model, &(struct trouble){.every = 0}, i, &table, &err);
        if (status == MACHINE_OK)
            table_free(&table);
        fprintf(out, "stopped at %u: %d, %s; after %u answers, told %u times\n", i, status,
                status ? err.text : "measured", world.answers, world.told);
    }
}

static bool troubled_is_golden(const struct table_kind *k, const struct model *model)
{
    static const struct trouble troubles[] = {
        {.name = "undisturbed"},
        {.name = "all disturbed", .every = 1},
        {.name = "one in three disturbed", .from = 1, .every = 3},
        {.name = "disturbed from the 20th on", .from = 20, .every = 1},
        {.name = "one in three slow", .every = 3, .kind = TROUBLE_SLOW},
        {.name = "slow from the 30th on", .from = 30, .every = 1, .kind = TROUBLE_SLOW},
        {.name = "one in two slow until time 0", .every = 2, .kind = TROUBLE_FIRST},
        {.name = "levels exchanged in one of two", .every = 2, .kind = TROUBLE_LEVELS},
        {.name = "longer waits in one of two", .every = 2, .kind = TROUBLE_WAITS},
        {.name = "longer waits from the 25th on", .from = 25, .every = 1, .kind = TROUBLE_WAITS},
    };
    struct golden g;
    FILE *out = golden_begin(&g);
    unsigned answers = 0, told = 0;
    bool has_waits = strcmp(k->name, "relaxation") == 0;
    bool takes_long = text_list_has("relaxation,cores,energy,umask,burst", k->name);
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        if (troubles[i].kind == TROUBLE_WAITS ? !has_waits
                                              : takes_long && (troubles[i].from > 1 || troubles[i].kind > TROUBLE_SLOW))
            continue;
        write_troubled(out, k, model, &troubles[i]);
        answers = i ? answers : world.answers;
        told = i ? told : world.told;
    }
    write_failures(out, k, model, answers);
    write_stops(out, k, model, told);
    assert_int_equal(fclose(g.out), 0);
    bool same = golden_is("troubled", k->name, g.text, true);
    free(g.text);
    return same;
}

TEST(troubled_tables_are_golden)
{
    struct model model;
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    bool same = true;
    rig_load("xeon-gold-6130", &model);
    for (size_t i = 0; i < n; i++)
        same &= troubled_is_golden(kinds[i], &model);
    if (!same)
        fail_msg("if the change is intended, run make golden");
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1);
}
