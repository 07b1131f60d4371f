/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slow: whole tables of umasks of several processors */
/*
 * The umask table end to end: a measured machine (a model) and what the table reads from it. The published figures are
 * written down here by hand: G is Gottschlag's dissertation on Skylake-SP AVX overhead.
 */
#include "tables/registry.h"
#include "tests/support/random_numbers.h"
#include "tests/support/model_rig.h"
#include "tests/support/table_rig.h"
#include "tests/support/model_truth.h"
#include "tests/support/test.h"

/* The table of a machine, which is then closed. */
static struct tables_options brief(void)
{
    struct tables_options o;
    tables_options_default(&o);
    o.brief = true;
    return o;
}

static void measure(const struct model *m, struct table *out)
{
    struct tables_options o = brief();
    rig_measure(&table_umask, m, &o, out);
}

static size_t find(const struct table *t, unsigned umask, const char *kernel, const char *when)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (table_number(t, i, "umask") == umask && strcmp(table_text(t, i, "kernel"), kernel) == 0 &&
            strcmp(table_text(t, i, "when"), when) == 0)
            return i;
    fail_msg("no row of umask %02X, %s, %s", umask, kernel, when);
    return 0;
}

static const char *reading(const struct table *t, unsigned umask)
{
    const char *text = table_text(t, find(t, umask, "64add", "steady"), "reading");
    return text ? text : "";
}

static const char *disagreement(const struct table *t, unsigned umask)
{
    const char *text = table_text(t, find(t, umask, "64add", "steady"), "disagrees");
    return text ? text : "";
}

/* G table 3.2, from the measurement alone. */
TEST(gold_6130_reads_as_published)
{
    static const struct {
        unsigned umask;
        const char *reading, *documented;
    } published[] = {
        {0x01, "nothing", "not documented"},
        {0x02, "up to 128 bit", "not documented"},
        {0x04, "light 256", "not documented"},
        {0x08, "heavy 256", "not documented"},
        {0x10, "light 512", "not documented"},
        {0x20, "heavy 512", "CORE_POWER.LVL2_TURBO_LICENSE: heavy 512"},
        {0x40, "throttled", "CORE_POWER.THROTTLE: throttled while a level is pending"},
        {0x80, "nothing", "not documented"},
        {0x07, "up to 128 bit, light 256", "CORE_POWER.LVL0_TURBO_LICENSE: up to 128 bit, light 256"},
        {0x18, "heavy 256, light 512", "CORE_POWER.LVL1_TURBO_LICENSE: heavy 256, light 512"},
    };
    struct tables_options o;
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    tables_options_default(&o);
    rig_measure(&table_umask, &m, &o, &t);
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        size_t row = find(&t, published[i].umask, "512fma", "steady");
        assert_string_equal(reading(&t, published[i].umask), published[i].reading);
        assert_string_equal(table_text(&t, row, "documented"), published[i].documented);
        assert_string_equal(disagreement(&t, published[i].umask), "");
        assert_int_equal((int)table_number(&t, row, "n"), 20);
    }
    /* combinations are the sums of their bits, in every row */
    for (size_t i = 0; i < t.n_rows; i++) {
        double umask = table_number(&t, i, "umask"), sum = table_number(&t, i, "bits_sum");
        assert_int_equal(isnan(sum), umask != 0x07 && umask != 0x18);
        if (!isnan(sum) && fabs(sum - table_number(&t, i, "share")) > 0.002)
            fail_msg("%s: %g, but its bits sum to %g", table_text(&t, i, "kernel"), table_number(&t, i, "share"), sum);
    }
    /* a kernel of which nothing was counted says nothing */
    for (size_t i = 0; i < t.n_rows; i++)
        if (strcmp(table_text(&t, i, "kernel"), "128fma") == 0 && strcmp(table_text(&t, i, "when"), "steady") == 0)
            table_set_number(&t, i, "share", NAN);
    assert_int_equal(table_umask.conclude(&t), 0);
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        assert_string_equal(reading(&t, published[i].umask), published[i].reading);
    table_free(&t);
}

/* The needs of each kernel on the Gold 6130, in the words of a reading. */
static const char *const class_words[] = {"up to 128 bit", "light 256", "heavy 256", "light 512", "heavy 512"};

/* Bits that mean something else on each of many models: the readings follow them. */
TEST(readings_follow_permuted_bits)
{
    struct rng r;
    struct model m;
    struct table t;
    rng_init(&r, 11, 0);
    rig_load("xeon-gold-6130", &m);
    for (unsigned trial = 0; trial < rng_rounds(12); trial++) {
        unsigned bits[7] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x80};
        for (size_t i = 6; i > 0; i--) {
            size_t k = (size_t)rng_int(&r, 0, (int)i);
            unsigned kept = bits[i];
            bits[i] = bits[k];
            bits[k] = kept;
        }
        for (size_t i = 0; i < m.n_classes; i++)
            m.classes[i].umask = bits[i];
        measure(&m, &t);
        for (size_t i = 0; i < m.n_classes; i++)
            assert_string_equal(reading(&t, bits[i]), class_words[i]);
        assert_string_equal(reading(&t, bits[5]), "nothing");
        assert_string_equal(reading(&t, bits[6]), "nothing");
        assert_string_equal(reading(&t, 0x40), "throttled");
        /* the documentation no longer holds where heavy 512 has another bit */
        assert_int_equal(disagreement(&t, 0x20)[0] != '\0', m.classes[4].umask != 0x20);
        table_free(&t);
    }
}

/* Disagreement in words. */
TEST(disagreement_is_reported)
{
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    m.classes[2].umask = 0x20; /* heavy 256 */
    m.classes[4].umask = 0x08; /* heavy 512 */
    measure(&m, &t);
    assert_string_equal(reading(&t, 0x20), "heavy 256");
    assert_string_equal(disagreement(&t, 0x20), "heavy 256 is counted; heavy 512 is not counted");
    assert_string_equal(reading(&t, 0x18), "512 bit");
    assert_string_equal(disagreement(&t, 0x18), "heavy 256 is not counted; heavy 512 is counted");
    assert_string_equal(disagreement(&t, 0x07), "");
    table_free(&t);
}

/* Shares around the switches, from the parameters: cycles of each class in the 150 us after 128fma. */
TEST(transitions_are_the_models)
{
    static const char *const kernels[] = {"256or", "256fma", "512or", "512fma"};
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    rig_silence(&m);
    measure(&m, &t);
    for (size_t k = 0; k < 4; k++) {
        struct payload from = rig_payload("128fma"), to = rig_payload(kernels[k]);
        struct model_truth truth;
        struct machine_error err;
        double cycles = 0, held[MODEL_CLASSES_MAX] = {0}, throttled = 0;
        assert_int_equal(model_truth(&m, &from, &to, 1, &truth, &err), MACHINE_OK);
        for (size_t i = 0; i < truth.n; i++) {
            const struct model_phase *p = &truth.phases[i];
            double these = fmax(0, fmin(150, p->start_us + p->duration_us) - p->start_us) * p->ghz;
            cycles += these;
            held[p->class_] += these;
            throttled += p->kind == MODEL_THROTTLED ? these : 0;
        }
        for (size_t i = 0; i < m.n_classes; i++) {
            double share = table_number(&t, find(&t, m.classes[i].umask, kernels[k], "from 128fma"), "share");
            if (fabs(share - held[i] / cycles) > 0.01)
                fail_msg("%s, class %s: %.4f, expected %.4f", kernels[k], m.classes[i].name, share, held[i] / cycles);
        }
        size_t row = find(&t, 0x40, kernels[k], "from 128fma");
        assert_true(fabs(table_number(&t, row, "share") - throttled / cycles) < 0.01);
        assert_true(fabs(table_number(&t, row, "slow_share") - throttled / cycles) < 0.02);
    }
    table_free(&t);
}

static void expect_refusal(const struct model *m, const struct tables_options *o, const char *words)
{
    struct table t;
    rig_measure(&table_umask, m, o, &t);
    assert_int_equal(t.n_rows, 0);
    assert_int_equal(t.n_missing, 1);
    if (!strstr(t.missing[0].why, words))
        fail_msg("%s: %s", m->cpu_name, t.missing[0].why);
    table_free(&t);
}

/* Models of CPUs without the event, and of those of which it is not known what it counts. */
TEST(other_processors_are_refused)
{
    struct tables_options o = brief();
    struct model m;
    struct table t;
    rig_load("generic-no-licence", &m);
    expect_refusal(&m, &o, "no license events");
    rig_load("core-i7-6700hq", &m);
    expect_refusal(&m, &o, "no license events");
    rig_load("xeon-gold-6130", &m);
    m.model = 0x8f; /* Sapphire Rapids: nothing is published of event 28H */
    expect_refusal(&m, &o, "to measure it anyway, use --event 0x28");
    m.model = 0x00; /* no table at all */
    expect_refusal(&m, &o, "it is unknown");
    o.event = 0x28; /* requested: it is measured, and compared with nothing */
    rig_measure(&table_umask, &m, &o, &t);
    assert_string_equal(reading(&t, 0x08), "heavy 256");
    assert_string_equal(reading(&t, 0x07), "up to 128 bit, light 256");
    assert_string_equal(table_text(&t, find(&t, 0x20, "512fma", "steady"), "documented"), "not documented");
    table_free(&t);
    m.model = 0x55;
    o.event = 0xa3;
    expect_refusal(&m, &o, "CYCLE_ACTIVITY");
}

/* Two levels by width alone; the documentation says otherwise. */
TEST(ice_lake_disagrees)
{
    struct model m;
    struct table t;
    rig_load("core-i5-1035g4", &m);
    measure(&m, &t);
    assert_true(t.n_rows > 0);
    size_t narrow = find(&t, 0x07, "256fma", "steady"), wide = find(&t, 0x18, "512fma", "steady");
    assert_string_equal(table_text(&t, narrow, "reading"), "up to 256 bit");
    assert_string_equal(table_text(&t, narrow, "disagrees"), "heavy 256 is counted");
    assert_string_equal(table_text(&t, wide, "reading"), "512 bit");
    table_free(&t);
}

/* ---- machines that are not quite as they should be ---- */

struct invalid_machine {
    struct machine model;
    struct machine_ops ops;
    struct counter_spec counters[MACHINE_COUNTERS_MAX];
    size_t n_counters, most_events;
    bool constant;
};

static struct invalid_machine invalid;

static int invalid_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    size_t events = 0;
    (void)m;
    for (size_t i = 0; i < s->n_counters; i++)
        events += s->counters[i].id == COUNTER_EVENT;
    if (events > invalid.most_events)
        return machine_fail(err, MACHINE_CANNOT, "request fewer events", "no counter is free");
    memcpy(invalid.counters, s->counters, s->n_counters * sizeof *s->counters);
    invalid.n_counters = s->n_counters;
    return invalid.model.ops->prepare(&invalid.model, s, err);
}

/* Events count every cycle. */
static int invalid_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    (void)m;
    int status = invalid.model.ops->run(&invalid.model, r, out, err);
    size_t cycles = 0;
    while (cycles < invalid.n_counters && invalid.counters[cycles].id != COUNTER_CYCLES)
        cycles++;
    for (size_t i = 0; status == MACHINE_OK && invalid.constant && i < out->n; i++)
        for (size_t c = 0; c < invalid.n_counters; c++)
            if (invalid.counters[c].id == COUNTER_EVENT)
                out->words[i * out->stride + 2 + c] = out->words[i * out->stride + 2 + cycles];
    return status;
}

static void measure_invalid(size_t most_events, bool constant, struct table *out)
{
    struct tables_options o = brief();
    struct machine_error err;
    struct model m;
    rig_load("xeon-gold-6130", &m);
    memset(&invalid, 0, sizeof invalid);
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &invalid.model, &err), MACHINE_OK);
    invalid.ops = *invalid.model.ops;
    invalid.ops.prepare = invalid_prepare;
    invalid.ops.run = invalid_run;
    invalid.most_events = most_events;
    invalid.constant = constant;
    struct machine machine = {.ops = &invalid.ops, .state = invalid.model.state};
    /* operations that are not replaced go to the model; it is closed through the wrapper */
    assert_int_equal(tables_measure(&table_umask, &machine, &o, NULL, NULL, out, &err), MACHINE_OK);
    invalid.model.ops->close(&invalid.model);
}

TEST(constant_counter_is_reported)
{
    struct table t;
    measure_invalid(4, true, &t);
    assert_string_equal(reading(&t, 0x01), "everything");
    assert_string_equal(reading(&t, 0x40), "everything");
    assert_string_equal(disagreement(&t, 0x01), "");
    assert_string_equal(disagreement(&t, 0x07), "heavy 256 is counted; light 512 is counted; heavy 512 is counted");
    assert_true(disagreement(&t, 0x40)[0] != '\0');
    double sum = table_number(&t, find(&t, 0x07, "64add", "steady"), "bits_sum");
    assert_true(fabs(sum - 3) < 1e-3);
    table_free(&t);
}

TEST(few_counters_take_more_runs)
{
    for (size_t most = 1; most < 4; most++) {
        struct table t;
        measure_invalid(most, false, &t);
        assert_string_equal(reading(&t, 0x08), "heavy 256");
        assert_string_equal(reading(&t, 0x40), "throttled");
        assert_string_equal(reading(&t, 0x07), "up to 128 bit, light 256");
        /* its bits do not fit beside it */
        assert_true(isnan(table_number(&t, find(&t, 0x07, "64add", "steady"), "bits_sum")));
        table_free(&t);
    }
    struct table t;
    measure_invalid(0, false, &t);
    assert_int_equal(t.n_rows, 0);
    assert_non_null(strstr(t.missing[1].why, "request fewer events"));
    table_free(&t);
}

/* A cell is the same whatever else is measured. */
TEST(cells_stand_alone)
{
    struct tables_options o = brief();
    struct model m;
    struct table all, one;
    rig_load("xeon-gold-6130", &m);
    rig_measure(&table_umask, &m, &o, &all);
    o.n_kernels = 1;
    o.kernels[0] = rig_payload("512fma");
    rig_measure(&table_umask, &m, &o, &one);
    assert_true(one.n_rows > 0);
    for (size_t i = 0; i < one.n_rows; i++) {
        size_t row = find(&all, (unsigned)table_number(&one, i, "umask"), "512fma", table_text(&one, i, "when"));
        assert_true(table_number(&one, i, "share") == table_number(&all, row, "share"));
    }
    table_free(&all);
    table_free(&one);
}

/* Few kernels do not show that documents are right, and what the base alone is counted for shows at changes, too. */
TEST(few_kernels_claim_little)
{
    static const struct {
        const char *model, *kernels[2];
    } few[] = {{"core-i5-1035g4", {"64add", "128or"}}, {"xeon-gold-6130", {"512fma", NULL}}};
    for (size_t k = 0; k < 2; k++) {
        struct tables_options o = brief();
        struct model m;
        struct table t;
        rig_load(few[k].model, &m);
        for (size_t i = 0; i < 2 && few[k].kernels[i]; i++)
            o.kernels[o.n_kernels++] = rig_payload(few[k].kernels[i]);
        rig_measure(&table_umask, &m, &o, &t);
        char *text = rig_findings(&table_umask, &t);
        assert_null(strstr(text, "as Intel documents"));
        assert_non_null(strstr(text, "These kernels do not contradict Intel's documentation"));
        free(text);
        if (k == 1)
            assert_string_equal(table_text(&t, find(&t, 0x07, "512fma", "steady"), "reading"), "changes or 128fma");
        table_free(&t);
    }
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    measure(&m, &t);
    char *text = rig_findings(&table_umask, &t);
    assert_non_null(strstr(text, "The documented umasks behave as Intel documents them."));
    free(text);
    for (size_t i = 0; i < t.n_rows; i++) { /* limits of shares are shares */
        double share = table_number(&t, i, "share");
        assert_true(table_number(&t, i, "share_lo") >= fmin(0, share));
        assert_true(table_number(&t, i, "share_hi") <= fmax(1, share));
    }
    table_free(&t);
}

TEST(it_is_printed)
{
    char *text = NULL;
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    measure(&m, &t);
    text = rig_printed(&table_umask, &t);
    assert_non_null(strstr(text, "\n512fma    .      .      .      .      .  1.000"));
    assert_non_null(strstr(text, "    08H  heavy 256  "));
    assert_non_null(strstr(
        text, "02H up to 128 bit; 04H light 256; 08H heavy 256; 10H light 512; 20H heavy 512; 40H throttled.\n"));
    assert_non_null(strstr(text, "modelled"));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 100 || strncmp(line, "Event 28H", 9) == 0 || strstr(line, "offer"));
    free(text);
    table_free(&t);
}

/* All throttling goes to this ratio, for this time (NaN: as the model has it); ratio NaN: there is none. */
static void throttle_alike(struct model *m, double ratio, double us)
{
    for (size_t from = 0; from < m->n_classes; from++)
        for (size_t to = from + 1; to < m->n_classes; to++) {
            struct model_transition *t = &m->transitions[from][to];
            for (size_t i = 0; i < t->n_steps; i++) {
                struct model_step *s = &t->steps[i];
                s->ratio = ratio;
                s->us = isnan(us) || s->kind != MODEL_STEP_THROTTLE ? s->us : us;
                for (size_t k = 0; k < s->n_variants; k++)
                    s->variants[k] = (struct model_step_variant){s->variants[k].cores, ratio,
                                                                 isnan(us) ? s->variants[k].us : us, 0};
            }
            if (isnan(ratio)) {
                t->steps[0] = t->steps[t->n_steps - 1];
                t->n_steps = 1;
            }
        }
}

static void expect_of_throttle_event(const struct model *m, const char *reading)
{
    struct table t;
    size_t rows = 0;
    measure(m, &t);
    for (size_t i = 0; i < t.n_rows; i++)
        if (table_number(&t, i, "umask") == 0x40) {
            rows++;
            assert_string_equal(table_text(&t, i, "reading"), reading);
            assert_null(table_text(&t, i, "disagrees"));
        }
    assert_true(rows > 0);
    table_free(&t);
}

/* Throttling to 0.85 of the rate passed for the full rate, and 40H then for one that counts other cycles; where nothing
 * throttles, it was one that counts no throttled cycles. */
TEST(mild_throttling_and_none_agree_with_the_documents)
{
    struct model m;
    rig_load_plain("xeon-gold-6130", &m);
    throttle_alike(&m, 0.85, NAN);
    expect_of_throttle_event(&m, "throttled");
    throttle_alike(&m, NAN, NAN);
    expect_of_throttle_event(&m, "nothing");
}

/* Code that is slow without being throttled does not contradict 40H: cold code after each switch, and a sibling thread
 * that runs; but throttled cycles that are not counted do so there, too. The two hardest scenarios, or all five. */
TEST(what_else_is_slow_is_not_throttled)
{
    static const struct {
        double cold_us, cold_factor, sibling_share;
    } scenarios[] = {{8, 0.4, 0.15}, {15, 0.3, 0}, {6, 0.34, 0}, {10, 0.6, 0}, {0, 0, 0.2}};
    struct rng r;
    struct model m;
    rng_init(&r, 5, 0);
    for (size_t w = 0; w < rng_few(sizeof scenarios / sizeof *scenarios, 2); w++)
        for (int throttles = 0; throttles < 2; throttles++) {
            double ratio = rng_range(&r, 0.25, 0.75), us = rng_range(&r, 20, 50);
            rig_load_plain("xeon-gold-6130", &m);
            m.scenario.cold_us = scenarios[w].cold_us;
            m.scenario.cold_factor = scenarios[w].cold_factor;
            if (scenarios[w].sibling_share > 0)
                m.scenario.sibling = (struct model_sibling){.share = scenarios[w].sibling_share,
                                                            .chain_factor = 1,
                                                            .period_us = rng_range(&r, 500, 4500),
                                                            .factor = 0.6};
            throttle_alike(&m, throttles ? ratio : NAN, us);
            expect_of_throttle_event(&m, throttles ? "throttled" : "nothing");
            m.counts_throttle = false;
            struct tables_options o;
            struct table t;
            tables_options_default(&o);
            rig_measure(&table_umask, &m, &o, &t);
            assert_string_equal(disagreement(&t, 0x40), throttles ? "no throttled cycles are counted" : "");
            char *text = rig_findings(&table_umask, &t);
            assert_null(strstr(text, "The documented umasks behave as"));
            free(text);
            table_free(&t);
        }
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1);
}
