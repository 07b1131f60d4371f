/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is measured of processors drawn at random, with options drawn at random, stays what it is: of each table the sum
 * of each column, each row with a weight of its own, and how many rows have a value; of texts, reasons and details
 * their own sums; and what was asked of the machine for it, which now and then fails. Held in
 * tests/golden/random.TABLE; after an intended change `make golden` rewrites these. Whether the rows are right,
 * test_random_tables tells.
 */
#include <ctype.h>

#include "drivers/model/model.h"
#include "tables/registry.h"
#include "tests/support/golden.h"
#include "tests/support/random_model.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

enum { PROCESSORS = 9, FAILURES = 8, FAILURES_FEW = 3 };

static struct model model; /* too large for the stack */

/* Of the letters of a text, and of its numbers: these may differ by a millionth. */
struct text_sum {
    uint32_t letters;
    double numbers;
};

static void add_text(struct text_sum *sum, const char *text)
{
    unsigned weight = 0;
    for (char *end; text && *text;) {
        double x = isdigit((unsigned char)*text) ? strtod(text, &end) : NAN;
        if (isfinite(x)) {
            sum->numbers += (1 + weight++ % 7) * x;
            text = end;
        } else
            sum->letters = (sum->letters ^ (unsigned char)*text++) * 0x01000193u; /* FNV-1a */
    }
    sum->letters = (sum->letters ^ '\n') * 0x01000193u;
}

static void write_text_sum(FILE *out, const char *name, const struct text_sum *s)
{
    fprintf(out, " %s #%08x", name, (unsigned)s->letters);
    if (s->numbers != 0)
        fprintf(out, " %.7g", s->numbers);
}

static void write_sums(FILE *out, const struct table *t)
{
    struct text_sum why = {0}, details = {0}, settings = {0};
    fprintf(out, "%zu rows;", t->n_rows);
    for (size_t i = 0; i < t->n_columns && t->n_rows; i++) {
        const char *name = t->columns[i].name;
        struct text_sum texts = {0};
        double sum = 0;
        size_t n = 0;
        for (size_t row = 0; row < t->n_rows; row++) {
            const double x = table_number(t, row, name);
            add_text(&texts, table_text(t, row, name));
            n += !isnan(x);
            sum += isnan(x) ? 0 : (double)(1 + row % 5) * x;
        }
        if (t->columns[i].type == TABLE_TEXT)
            write_text_sum(out, name, &texts);
        else if (n > 0)
            fprintf(out, " %s %zu %.7g", name, n, sum);
    }
    for (size_t i = 0; i < t->n_missing; i++) {
        char of[200];
        table_missing_name(t, i, of, sizeof of);
        add_text(&why, of);
        add_text(&why, t->missing[i].why);
    }
    for (size_t i = 0; i < t->n_details; i++) {
        add_text(&details, t->details[i].key);
        add_text(&details, t->details[i].value);
    }
    for (size_t i = 0; i < t->n_settings; i++) {
        add_text(&settings, t->settings[i].key);
        add_text(&settings, t->settings[i].value);
    }
    write_text_sum(out, "missing", &why);
    write_text_sum(out, "details", &details);
    write_text_sum(out, "settings", &settings);
    fprintf(out, "\n");
}

/* Two kernels or three, mostly of different classes; now and then what few ask for. */
static void draw_options(struct rng *r, const struct table_kind *k, struct tables_options *o)
{
    static const char *const names[] = {"64add", "128fma", "256fma", "256or", "512fma", "512or", "64mul"};
    size_t at = (size_t)rng_int(r, 0, 6);
    tables_options_default(o);
    o->brief = true;
    o->seed = rng_bits(r) % 1000;
    for (int n = rng_int(r, 2, 3); n > 0 && !k->excluded[CHOICE_KERNELS]; n--, at = (at + 2) % 7)
        o->kernels[o->n_kernels++] = kernel_named(names[at]);
    o->n_active = !k->excluded[CHOICE_CORES];
    o->active[0] = (unsigned)rng_int(r, 0, 3);
    o->siblings = !k->excluded[CHOICE_SIBLINGS] && rng_chance(r, 0.2);
    o->corunner_same = !k->excluded[CHOICE_CORUNNER_SAME] && rng_chance(r, 0.2);
    if (!k->excluded[CHOICE_OBSERVE] && rng_chance(r, 0.2))
        o->observe_us = rng_int(r, 1, 9) * 100;
    if (!k->excluded[CHOICE_PERIOD] && rng_chance(r, 0.2))
        o->period_us = rng_int(r, 1, 8);
    if (!k->excluded[CHOICE_WARMUP] && rng_chance(r, 0.2))
        o->warmup_us = rng_int(r, 1, 9) * 100;
}

/* Those that take long are measured of every so many processors. */
static bool is_due(const struct table_kind *k, unsigned processor)
{
    static const struct {
        const struct table_kind *kind;
        unsigned every;
    } rare[] = {{&table_transitions, 2}, {&table_energy, 2},   {&table_trigger, 2}, {&table_relaxation, 3},
                {&table_cores, 4},       {&table_throttle, 3}, {&table_burst, 8},   {&table_voltage, 5}};
    for (size_t i = 0; i < sizeof rare / sizeof *rare; i++)
        if (rare[i].kind == k)
            return processor % rare[i].every == 1;
    return true;
}

/* How much was said to be done, and how often. */
struct progress {
    size_t n;
    double sum, last;
};

static int on_progress(void *data, const struct table_kind *k, size_t done, size_t n, double part)
{
    struct progress *p = data;
    (void)k;
    assert_true(part >= p->last && part <= 1 && done <= n);
    p->last = part;
    p->sum += (double)(1 + p->n++ % 7) * part;
    return 0;
}

static void measure(FILE *out, const struct table_kind *k, struct machine *m, const struct tables_options *o)
{
    struct machine_error err;
    struct table t;
    struct progress p = {0};
    const struct tables_watch watch = {.progress = on_progress, .data = &p};
    if (tables_measure(k, m, o, NULL, &watch, &t, &err) == MACHINE_OK)
        write_sums(out, &t);
    else
        fprintf(out, "%s; %s\n", err.text, err.remedy);
    fprintf(out, "  progress %zu %.7g to %.7g\n", p.n, p.sum, p.last);
    table_free(&t);
}

/* ---- what is asked of machines, and some that fail ---- */

/* The requests to a machine, of which one fails, or some come back with a note that something else ran. */
static struct {
    const struct machine_ops *inner;
    unsigned n, failing, preempted; /* the number of the one, counted from 1, 0: none; every so many, 0: none */
    int status;
    double sum; /* of all that was asked, each with a weight of its own */
    struct text_sum names;
} requests;

static void asked(const double *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        requests.sum += (double)((requests.n * 3 + i) % 11 + 1) * asinh(numbers[i]); /* small ones are seen, too */
}

static bool fails(struct machine_error *err, int *status)
{
    if (++requests.n != requests.failing)
        return false;
    *status = machine_fail(err, requests.status, "mend it", "request %u failed", requests.n);
    return true;
}

static int failing_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    int status;
    const double numbers[] = {s->cpu,
                              s->active_cores,
                              (double)s->n_cpus,
                              s->siblings,
                              s->fixed_ghz,
                              s->period_us,
                              (double)s->n_counters,
                              (double)s->max_samples,
                              (double)(s->seed % 1000)};
    asked(numbers, sizeof numbers / sizeof *numbers);
    add_text(&requests.names, s->corunner.kernel ? s->corunner.name : "");
    for (size_t i = 0; i < s->n_counters; i++)
        asked((const double[]){(double)s->counters[i].id, (double)(s->counters[i].event % 65536)}, 2);
    return fails(err, &status) ? status : requests.inner->prepare(m, s, err);
}

static int failing_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    int status;
    asked((const double[]){(double)r->zero_segment, (double)(r->repetition % 1000), r->fine_us}, 3);
    for (size_t i = 0; i < r->n_segments; i++) {
        asked((const double[]){r->segments[i].duration_us, r->segments[i].sampled}, 2);
        add_text(&requests.names, r->segments[i].payload.name);
    }
    if (fails(err, &status))
        return status;
    status = requests.inner->run(m, r, out, err);
    out->involuntary_switches += requests.preempted && requests.n % requests.preempted == 0;
    return status;
}

static int failing_trials(struct machine *m, const struct trials_request *r, double *duration, struct trials_seen *seen,
                          struct machine_error *err)
{
    int status;
    asked((const double[]){r->workload, r->before, (double)r->bytes, r->trial_us, r->trials, r->masked}, 6);
    return fails(err, &status) ? status : requests.inner->trials(m, r, duration, seen, err);
}

static int failing_first_use(struct machine *m, const struct first_use_request *r, struct first_use_seen *out,
                             struct machine_error *err)
{
    int status;
    asked((const double[]){r->warm_us, r->idle_us, r->observe_us, (double)(r->repetition % 1000)}, 4);
    add_text(&requests.names, r->warm.name);
    return fails(err, &status) ? status : requests.inner->first_use(m, r, out, err);
}

static int failing_bursts(struct machine *m, const struct bursts_request *r, struct burst *out, const char **disturbed,
                          struct machine_error *err)
{
    int status;
    asked((const double[]){(double)r->count, r->every_us, r->before_us, r->skipped, r->bursts}, 5);
    asked((const double[]){(double)(r->repetition % 1000)}, 1);
    add_text(&requests.names, r->wide.name);
    return fails(err, &status) ? status : requests.inner->bursts(m, r, out, disturbed, err);
}

static int failing_energy(struct machine *m, struct energy_reading *out, const char **source, struct machine_error *err)
{
    int status;
    return fails(err, &status) ? status : requests.inner->read_energy(m, out, source, err);
}

/* On the model; `preempted`, `failing` and `status` of the requests are set. */
static void measure_on_model(FILE *out, const struct table_kind *k, const struct tables_options *o)
{
    struct machine machine;
    struct machine_error err;
    struct machine_ops ops;
    assert_int_equal(machine_open_parsed_model(&model, "model:test", &machine, &err), MACHINE_OK);
    ops = *machine.ops;
    requests.inner = machine.ops;
    ops.prepare = failing_prepare;
    ops.run = failing_run;
    ops.trials = ops.trials ? failing_trials : NULL;
    ops.first_use = ops.first_use ? failing_first_use : NULL;
    ops.bursts = ops.bursts ? failing_bursts : NULL;
    ops.read_energy = ops.read_energy ? failing_energy : NULL;
    machine.ops = &ops;
    measure(out, k, &machine, o);
    fprintf(out, "  %u requests %.7g", requests.n, requests.sum);
    write_text_sum(out, "of", &requests.names);
    fprintf(out, "\n");
    machine.ops->close(&machine);
}

static void measure_once(FILE *out, const struct table_kind *k, struct rng *r)
{
    struct tables_options o;
    draw_options(r, k, &o);
    memset(&requests, 0, sizeof requests);
    measure_on_model(out, k, &o);
}

static void measure_failing(FILE *out, const struct table_kind *k, struct rng *r, bool preempted)
{
    struct tables_options o;
    draw_options(r, k, &o);
    o.n_kernels = o.n_kernels ? 2 : 0;
    o.runs = 3;
    memset(&requests, 0, sizeof requests);
    requests.preempted = preempted ? (unsigned)rng_int(r, 2, 4) : 0;
    requests.failing = preempted ? 0 : (unsigned)rng_log(r, 1, 200);
    requests.status = rng_chance(r, 0.7) ? MACHINE_FAILED : MACHINE_CANNOT;
    measure_on_model(out, k, &o);
}

static bool takes_long(const struct table_kind *k)
{
    return k == &table_burst || k == &table_cores;
}

static bool rows_are_golden(const struct table_kind *k)
{
    void (*const draw[])(struct model * out, uint64_t seed) = {random_model, wild_model, world_model};
    struct text_sum name = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    add_text(&name, k->name);
    for (unsigned processor = 1; processor <= PROCESSORS; processor++) {
        struct rng rng;
        if (!is_due(k, processor))
            continue;
        rng_init(&rng, processor, name.letters);
        draw[processor % 3](&model, processor);
        fprintf(out, "processor %u: ", processor);
        measure_once(out, k, &rng);
    }
    rig_load_plain("xeon-gold-6130", &model);
    for (unsigned i = 1; i <= (takes_long(k) ? FAILURES_FEW : FAILURES); i++) {
        struct rng rng;
        rng_init(&rng, i, name.letters + 1);
        fprintf(out, "failing %u: ", i);
        measure_failing(out, k, &rng, i % 8 == 0);
    }
    assert_int_equal(fclose(out), 0);
    bool same = golden_is("random", k->name, text, false);
    free(text);
    return same;
}

TEST(tables_of_random_processors_are_what_they_were)
{
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    bool same = true;
    skip_where_sanitized("numbers are compared in the ordinary build");
    for (size_t i = 0; i < n; i++)
        same &= rows_are_golden(kinds[i]);
    if (!same)
        fail_msg("if the change is intended, run make golden");
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1);
}
