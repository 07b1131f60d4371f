/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tables/: choosing kernels and core counts, cells, and measuring a table with and without a store. */
#include "drivers/model/model.h"
#include "tables/table/tables.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

/* ---- a table of its own: three cells, of which the second cannot be measured ---- */

static const struct table_column columns[] = {
    {.name = "kernel", .unit = "", .type = TABLE_TEXT, .key = true},
    {.name = "active_cores", .unit = "", .type = TABLE_WHOLE, .key = true},
    {.name = "value", .unit = "", .type = TABLE_REAL, .decimals = 2},
};

static int fake_plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    (void)err;
    static const char *const names[] = {"64add", "128fma", "512fma", "amx"};
    struct payload kernels[TABLES_KERNELS_MAX];
    size_t n = tables_kernels(x, names, 4, kernels, t);
    for (size_t i = 0; i < n; i++)
        assert_non_null(tables_add_cell(out, &kernels[i], NULL, 1, "%s", kernels[i].name));
    table_set_setting_number(t, "runs", 1);
    return MACHINE_OK;
}

static int fake_measure(const struct tables_context *x, const struct cell *c, struct table *rows,
                        struct machine_error *err)
{
    if (strcmp(c->id, "128fma") == 0)
        return machine_fail(err, MACHINE_CANNOT, "buy another", "this one cannot");
    if (tables_stop(x, 0.5))
        return machine_fail(err, MACHINE_FAILED, "", "stopped");
    struct machine_setup s = tables_setup(x, "fake", c);
    table_add_row(rows);
    table_put_text(rows, "kernel", c->a.name);
    table_put_number(rows, "active_cores", s.active_cores);
    table_put_number(rows, "value", (double)(s.seed % 1000003) / 7);
    return MACHINE_OK;
}

static int fake_conclude(struct table *t)
{
    for (size_t i = 0; i < t->n_rows; i++)
        table_set_number(t, i, "value", table_number(t, i, "value") + 0.5);
    return 0;
}

static const struct table_kind fake = {.name = "fake",
                                       .title = "Fake",
                                       .about = "for tests",
                                       .columns = columns,
                                       .n_columns = 3,
                                       .plan = fake_plan,
                                       .measure = fake_measure,
                                       .conclude = fake_conclude};

/* ---- a store in memory ---- */

struct memory {
    char *text[8];
    char id[8][TABLES_CELL_ID_MAX];
    size_t n, loads, stores, refusals;
};

static char *memory_load(void *data, const struct table_kind *k, const struct cell *c)
{
    struct memory *m = data;
    (void)k;
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->id[i], c->id) == 0) {
            m->loads++;
            return strdup(m->text[i]);
        }
    return NULL;
}

static int memory_store(void *data, const struct table_kind *k, const struct cell *c, const char *json,
                        struct machine_error *err)
{
    struct memory *m = data;
    (void)k;
    (void)err;
    snprintf(m->id[m->n], sizeof m->id[0], "%s", c->id);
    m->text[m->n++] = strdup(json);
    m->stores++;
    return MACHINE_OK;
}

static void memory_free(struct memory *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->text[i]);
}

static void open_model(const char *name, struct machine *m)
{
    struct machine_error error;
    assert_int_equal(machine_open_model(name, "data", m, &error), MACHINE_OK);
}

static int stop_after(void *data, const struct table_kind *k, size_t done, size_t n, double part)
{
    (void)k;
    assert_true(part >= 0 && part <= 1 + 1e-9);
    assert_true(done <= n);
    return done >= *(size_t *)data;
}

TEST(a_table_is_measured)
{
    struct machine m;
    struct tables_options o;
    struct table t;
    struct machine_error error;
    open_model("xeon-gold-6130", &m);
    tables_options_default(&o);
    assert_int_equal(tables_measure(&fake, &m, &o, NULL, NULL, &t, &error), MACHINE_OK);
    assert_int_equal(t.n_rows, 2);
    assert_string_equal(table_text(&t, 1, "kernel"), "512fma");
    assert_int_equal(t.n_missing, 2); /* amx at once, 128fma when it was tried */
    assert_string_equal(table_missing_text(&t, 0, "kernel"), "amx");
    assert_non_null(strstr(t.missing[0].why, "amx"));
    assert_string_equal(t.missing[1].why, "this one cannot; buy another");
    assert_true(table_modelled(&t));
    assert_null(table_meta(&t, "date")); /* a model's output depends on its settings alone */
    assert_string_equal(table_setting(&t, "seed"), "0");
    table_free(&t);
    m.ops->close(&m);
}

/* ---- how much of it is done ---- */

struct reported {
    size_t n, done[8], cells[8];
    double part[8];
};

static int note_progress(void *data, const struct table_kind *k, size_t done, size_t n, double part)
{
    struct reported *p = data;
    (void)k;
    assert_true(p->n < 8);
    p->done[p->n] = done;
    p->cells[p->n] = n;
    p->part[p->n++] = part;
    return 0;
}

static int plan_of_lengths(const struct tables_context *x, struct cells *out, struct table *t,
                           struct machine_error *err)
{
    int status = fake_plan(x, out, t, err);
    for (size_t i = 0; i < out->n; i++)
        out->cell[i].seconds = 1 + (double)i;
    return status;
}

static int plan_of_nothing(const struct tables_context *x, struct cells *out, struct table *t,
                           struct machine_error *err)
{
    fake_plan(x, out, t, err);
    return machine_fail(err, MACHINE_CANNOT, "buy another", "none can");
}

/* By the seconds that cells are expected to take: 1, 2 and 3, of which two ask when half of them is over. */
TEST(progress_is_reported_by_time)
{
    static const double parts[] = {0, 0.5 / 6, 1 / 6.0, 3 / 6.0, 4.5 / 6, 1};
    static const size_t done[] = {0, 0, 1, 2, 2, 3};
    struct machine m;
    struct tables_options o;
    struct table t;
    struct machine_error error;
    struct reported reported = {.n = 0};
    const struct tables_watch watch = {.progress = note_progress, .data = &reported};
    open_model("xeon-gold-6130", &m);
    tables_options_default(&o);
    struct table_kind kind = fake;
    kind.plan = plan_of_lengths;
    assert_int_equal(tables_measure(&kind, &m, &o, NULL, &watch, &t, &error), MACHINE_OK);
    table_free(&t);
    assert_int_equal(reported.n, 6);
    for (size_t i = 0; i < reported.n; i++) {
        assert_close(reported.part[i], parts[i], 1e-12);
        assert_int_equal(reported.done[i], done[i]);
        assert_int_equal(reported.cells[i], 3);
    }
    /* a table of which nothing can be measured */
    reported.n = 0;
    kind.plan = plan_of_nothing;
    assert_int_equal(tables_measure(&kind, &m, &o, NULL, &watch, &t, &error), MACHINE_OK);
    assert_int_equal(t.n_rows, 0);
    assert_string_equal(t.missing[t.n_missing - 1].why, "none can; buy another");
    table_free(&t);
    assert_int_equal(reported.n, 1);
    assert_close(reported.part[0], 0, 0);
    assert_int_equal(reported.cells[0], 0);
    m.ops->close(&m);
}

TEST(cells_found_are_not_measured_again)
{
    struct machine m;
    struct tables_options o;
    struct table whole, resumed;
    struct machine_error error;
    struct memory memory = {.n = 0};
    size_t stop = 2;
    const struct tables_store store = {memory_load, memory_store, NULL, &memory};
    const struct tables_watch watch = {.progress = stop_after, .data = &stop};
    open_model("xeon-gold-6130", &m);
    tables_options_default(&o);
    assert_int_equal(tables_measure(&fake, &m, &o, NULL, NULL, &whole, &error), MACHINE_OK);
    assert_int_equal(tables_measure(&fake, &m, &o, &store, &watch, &resumed, &error), MACHINE_FAILED);
    assert_int_equal(memory.stores, 2);
    assert_int_equal(tables_measure(&fake, &m, &o, &store, NULL, &resumed, &error), MACHINE_OK);
    assert_int_equal(memory.loads, 2);
    assert_int_equal(memory.stores, 3);
    char *a = table_to_json(&whole), *b = table_to_json(&resumed);
    assert_string_equal(a, b);
    free(a);
    free(b);
    table_free(&whole);
    table_free(&resumed);
    memory_free(&memory);
    m.ops->close(&m);
}

static void count_refused(void *data, const struct table_kind *k, const struct cell *c, const char *why)
{
    struct memory *m = data;
    (void)k;
    assert_string_equal(c->id, m->id[0]);
    assert_true(why[0] != '\0');
    m->refusals++;
}

/* Whatever was found under a cell's name and is not that cell: it is measured again, and the table is as it must be. */
TEST(what_is_not_the_cell_is_measured_again)
{
    static const struct {
        const char *from, *to;
    } changes[] = {
        {NULL, NULL},                                    /* all of it */
        {"\"cell\": \"64add\"", "\"cell\": \"512fma\""}, /* another cell of the table */
        {"\"cell\": \"64add\"", "\"cells\": \"64add\""},
        {"\"table\": \"fake\"", "\"table\": \"other\""},
        {"\"value\"", "\"volts\""},
        {"\"real\"", "\"integer\""},
        {"[\"64add\"", "[null"}, /* which kernel? */
        {"\"keys\": [", "\"keys\": [ \"value\", "},
        {"\"missing\": [", "\"missing\": 3, \"lacking\": ["},
        {"\"missing\": [", "\"rows\": [], \"missing\": ["},
        {"1 rows, 0 missing", "2 rows, 0 missing"},
        {"\"holds\"", "\"held\""},
    };
    struct machine m;
    struct tables_options o;
    struct table whole, t;
    struct machine_error error;
    struct memory first = {.n = 0};
    struct tables_store store = {memory_load, memory_store, NULL, &first};
    open_model("xeon-gold-6130", &m);
    tables_options_default(&o);
    assert_int_equal(tables_measure(&fake, &m, &o, &store, NULL, &whole, &error), MACHINE_OK);
    assert_string_equal(first.id[0], "64add");
    char *expected = table_to_json(&whole);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct memory memory = {.n = 1, .id = {"64add"}};
        const char *at = changes[i].from ? strstr(first.text[0], changes[i].from) : first.text[0];
        assert_non_null(at);
        if (asprintf(&memory.text[0], "%.*s%s%s", (int)(at - first.text[0]), first.text[0],
                     changes[i].to ? changes[i].to : "{\"format\": ",
                     changes[i].from ? at + strlen(changes[i].from) : "") < 0)
            fail();
        store = (struct tables_store){memory_load, memory_store, count_refused, &memory};
        assert_int_equal(tables_measure(&fake, &m, &o, &store, NULL, &t, &error), MACHINE_OK);
        char *seen = table_to_json(&t);
        assert_string_equal(seen, expected);
        if (memory.refusals != 1)
            fail_msg("%s was taken", memory.text[0]);
        assert_int_equal(memory.stores, 3); /* all were measured */
        free(seen);
        table_free(&t);
        memory_free(&memory);
    }
    free(expected);
    table_free(&whole);
    memory_free(&first);
    m.ops->close(&m);
}

/* ---- silicon: when and on which CPU ---- */

struct real {
    struct machine inner;
    int cpu;
};

static void real_info(const struct machine *m, struct machine_info *out)
{
    const struct real *r = m->state;
    r->inner.ops->info(&r->inner, out);
    out->modelled = false;
    out->cpu_number = r->cpu;
}

/* The date and the CPU are those of the cells: going on with a finished run later, and elsewhere, changes neither. */
TEST(date_and_cpu_are_the_cells_own)
{
    const struct machine_ops ops = {.info = real_info};
    struct real r = {.cpu = 3};
    struct machine m = {.ops = &ops, .state = &r};
    struct tables_options o;
    struct table t;
    struct machine_error error;
    struct memory memory = {.n = 0};
    const struct tables_store store = {memory_load, memory_store, NULL, &memory};
    open_model("xeon-gold-6130", &r.inner);
    tables_options_default(&o);
    assert_int_equal(tables_measure(&fake, &m, &o, &store, NULL, &t, &error), MACHINE_OK);
    assert_non_null(table_meta(&t, "date"));
    table_free(&t);
    for (size_t i = 0; i < memory.n; i++) { /* the same length */
        char *date = strstr(memory.text[i], "\"date\": \"20"), *cpu = strstr(memory.text[i], "\"measured_cpu\": \"3");
        assert_non_null(date);
        memcpy(date + 9, i == 1 ? "1999-02-01" : "1999-01-01", 10);
        assert_int_equal(cpu != NULL, strcmp(memory.id[i], "128fma") != 0); /* which could not be measured */
        if (cpu)
            cpu[strlen("\"measured_cpu\": \"")] = i == 2 ? '5' : '4';
    }
    assert_int_equal(tables_measure(&fake, &m, &o, &store, NULL, &t, &error), MACHINE_OK);
    assert_int_equal(strncmp(table_meta(&t, "date"), "1999-01-01T", 11), 0);
    assert_int_equal(strncmp(table_meta(&t, "date_last"), "1999-02-01T", 11), 0);
    assert_string_equal(table_setting(&t, "measured_cpu"), "4,5");
    assert_int_equal(memory.stores, 3);
    table_free(&t);
    memory_free(&memory);
    r.inner.ops->close(&r.inner);
}

TEST(seeds_depend_on_the_cell_alone)
{
    struct tables_options o;
    struct tables_context x = {.options = &o};
    struct cell a = {.id = "512fma-16"}, b = {.id = "512fma-8"};
    tables_options_default(&o);
    uint64_t seed = tables_cell_seed(&x, "frequency", &a);
    assert_true(seed == tables_cell_seed(&x, "frequency", &a));
    assert_true(seed != tables_cell_seed(&x, "frequency", &b));
    assert_true(seed != tables_cell_seed(&x, "overhead", &a));
    o.seed = 1;
    assert_true(seed != tables_cell_seed(&x, "frequency", &a));
}

TEST(core_counts_are_chosen)
{
    struct tables_options o;
    struct tables_context x = {.options = &o, .info = {.cores = 12}};
    unsigned n[TABLES_CORES_MAX];
    tables_options_default(&o);
    assert_int_equal(tables_active_cores(&x, CORES_EVERY, n), 12);
    assert_int_equal(tables_active_cores(&x, CORES_DOUBLED, n), 5); /* 1 2 4 8 12 */
    assert_int_equal(n[3], 8);
    assert_int_equal(n[4], 12);
    assert_int_equal(tables_active_cores(&x, CORES_ALL, n), 1);
    assert_int_equal(n[0], 12);
    assert_int_equal(tables_active_cores(&x, CORES_ONE_AND_ALL, n), 2);
    assert_int_equal(n[0], 1);
    assert_int_equal(tables_active_cores(&x, CORES_TWO_AND_ALL, n), 2);
    assert_int_equal(n[0], 2);
    assert_int_equal(tables_active_cores(&x, CORES_ONE_TWO_AND_ALL, n), 3);
    assert_int_equal(n[1], 2);
    o.n_active = 4;
    const unsigned given[] = {0, 3, 12, 99};
    memcpy(o.active, given, sizeof given);
    assert_int_equal(tables_active_cores(&x, CORES_EVERY, n), 2); /* 3 and 12: all is 12, 99 there are not */
    assert_int_equal(n[0], 3);
    assert_int_equal(n[1], 12);
    x.info.cores = 1;
    o.n_active = 0;
    assert_int_equal(tables_active_cores(&x, CORES_EVERY, n), 1);
    assert_int_equal(tables_active_cores(&x, CORES_DOUBLED, n), 1);
    x.info.cores = 12;
    o.n_cpus = 3; /* only three may be used */
    assert_int_equal(tables_active_cores(&x, CORES_EVERY, n), 3);
}

TEST(cell_names_are_harmless_and_unique)
{
    struct cells c = {0};
    struct cell *first = tables_add_cell(&c, NULL, NULL, 1, "%s", "512fma@1/8:x y");
    assert_non_null(first);
    assert_string_equal(first->id, "512fma@1-8-x-y");
    assert_int_equal(first->cpu, -1);
    assert_null(tables_add_cell(&c, NULL, NULL, 1, "%s", "512fma@1/8:x y"));
    for (int i = 0; i < 500; i++)
        assert_non_null(tables_add_cell(&c, NULL, NULL, 1, "%d", i));
    assert_int_equal(c.n, 501);
    tables_free_cells(&c);
}

/* Every table that is listed is complete and has the columns that design.md demands. */
TEST(the_registry_is_complete)
{
    static const char *const demanded[][10] = {
        {"frequency", "cpu", "kernel", "active_cores", "level", "freq_ghz", NULL},
        {"transitions", "from", "to", "active_cores", "latency_us", "overhead_us", "halts", "from_ghz", "to_ghz",
         "phases"},
        {"throttle", "from", "to", "active_cores", "phase", "duration_us", "ipc_ratio", NULL},
        {"trigger", "kernel", "density", "count", "level", NULL},
        {"relaxation", "from", "to", "wait_us", "mode", "share", NULL},
        {"overhead", "from", "to", "active_cores", "down_us", "up_us", "breakeven_us", NULL},
        {"umask", "event", "umask", "kernel", "share", "documented", "reading", NULL},
        {"energy", "kernel", "freq_ghz", "watts", "nj_per_op", NULL},
        {"voltage", "from", "to", "time_us", "volts", NULL},
    };
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    for (size_t d = 0; d < sizeof demanded / sizeof demanded[0]; d++) {
        const struct table_kind *k = tables_find(demanded[d][0]);
        struct table t;
        assert_non_null(k);
        table_init(&t, k->name, k->columns, k->n_columns);
        assert_false(t.failed);
        for (size_t c = 1; c < 10 && demanded[d][c]; c++)
            if (!table_has(&t, demanded[d][c]))
                fail_msg("table %s has no column %s", k->name, demanded[d][c]);
        assert_true(table_has(&t, "n"));
        table_free(&t);
    }
    for (size_t i = 0; i < n; i++) {
        assert_true(kinds[i]->name && kinds[i]->title && kinds[i]->about && kinds[i]->plan && kinds[i]->measure);
        assert_true(tables_find(kinds[i]->name) == kinds[i]);
    }
    assert_null(tables_find("nonsense"));
}
