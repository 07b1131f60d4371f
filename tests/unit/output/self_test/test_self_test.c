/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The self-test on models with one fault: exactly one line fails, and it is the right one. */
/* cmocka needs the four above first */
#include "output/self_test/self_test.h"
#include "tests/support/broken_machine.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

static const char *const line_names[] = {"TSC step",  "sample cost",  "sample jitter", "interrupts",
                                         "lost time", "instructions", "cycles",        "reference cycles",
                                         "chain",     "level 0",      "level 1",       "level 2",
                                         "throttle",  "raw event",    "voltage",       "energy"};
enum { LINES = sizeof line_names / sizeof *line_names };

/* The self-test of a model with a fault. */
static void test_parsed(const struct model *model, struct broken *b, uint64_t seed, struct self_test_readings *r,
                        struct self_test_lines *l)
{
    struct machine machine;
    struct machine_error err;
    const struct self_test_setup setup = {.cpu = -1, .seed = seed};
    assert_int_equal(machine_open_parsed_model(model, "model:test", &b->inner, &err), MACHINE_OK);
    broken_open(b, &machine);
    if (self_test_run(&machine, &setup, r, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    machine.ops->close(&machine);
    self_test_judge(r, l);
    assert_int_equal(l->n, LINES);
    for (size_t i = 0; i < l->n; i++)
        assert_string_equal(l->line[i].name, line_names[i]);
}

static void test_model(const char *name, struct broken *b, uint64_t seed, struct self_test_readings *r,
                       struct self_test_lines *l)
{
    struct model model;
    rig_load(name, &model);
    test_parsed(&model, b, seed, r, l);
}

/* How many lines fail that should not: but this one none should; "": none at all. Tells each. */
static size_t unexpected(const char *what, const struct self_test_lines *l, const char *fails)
{
    size_t wrong = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct self_test_line *line = &l->line[i];
        bool wanted = strcmp(line->name, fails) == 0;
        if ((line->verdict == SELF_TEST_FAIL) != wanted) {
            print_message("%s: line %s says %s: %s: %s\n", what, line->name, self_test_word(line->verdict), line->text,
                          line->reason);
            wrong++;
        }
        if (line->verdict != SELF_TEST_PASS)
            assert_true(line->reason[0] != '\0');
        if (strstr(line->text, " -0 ") || strstr(line->text, "-0.00 "))
            fail_msg("%s: a negative zero: %s", what, line->text);
    }
    return wrong;
}

static void expect(const char *what, const struct self_test_lines *l, const char *fails)
{
    assert_int_equal(unexpected(what, l, fails), 0);
}

static void judge(const char *what, const char *model, struct broken b, const char *fails)
{
    struct self_test_readings r;
    struct self_test_lines l;
    for (uint64_t seed = 0; seed < rng_rounds(2); seed++) {
        test_model(model, &b, seed, &r, &l);
        expect(what, &l, fails);
        self_test_free(&r);
    }
}

TEST(test_sound_models)
{
    static const char *const names[] = {"xeon-gold-6130", "core-i9-7940x",  "xeon-w-2104",       "core-i5-1035g4",
                                        "core-i7-6700hq", "core-i9-11900k", "generic-no-licence"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        judge(names[i], names[i], (struct broken){.fault = FAULT_NONE}, "");
    struct self_test_readings r;
    struct self_test_lines l;
    struct broken b = {.fault = FAULT_NONE};
    for (uint64_t seed = 10; seed < 10 + rng_rounds(10); seed++) {
        test_model("xeon-gold-6130", &b, seed, &r, &l);
        expect("seeds", &l, "");
        assert_float_equal(l.line[0].value, 1 / 2.1, 1e-6);               /* a tick of 2.1 GHz, ns */
        assert_int_equal(self_test_count(&l, SELF_TEST_PASS), LINES - 1); /* all but the chain */
        self_test_free(&r);
    }
}

TEST(test_one_counter_broken)
{
    static const struct {
        const char *what, *line;
        struct broken fault;
    } faults[] = {
        {"instructions 1 % high",
         "instructions",
         {.fault = FAULT_SCALED, .counter = COUNTER_INSTRUCTIONS, .factor = 1.01}},
        {"instructions 1 % low",
         "instructions",
         {.fault = FAULT_SCALED, .counter = COUNTER_INSTRUCTIONS, .factor = 0.99}},
        {"instructions stuck", "instructions", {.fault = FAULT_STUCK, .counter = COUNTER_INSTRUCTIONS}},
        {"instructions are cycles", "instructions", {.fault = FAULT_ALL_CYCLES, .counter = COUNTER_INSTRUCTIONS}},
        {"cycles stuck", "cycles", {.fault = FAULT_STUCK, .counter = COUNTER_CYCLES}},
        {"cycles 1 % high", "cycles", {.fault = FAULT_SCALED, .counter = COUNTER_CYCLES, .factor = 1.01}},
        {"cycles of both threads", "cycles", {.fault = FAULT_SCALED, .counter = COUNTER_CYCLES, .factor = 2}},
        {"reference cycles by a bus clock",
         "reference cycles",
         {.fault = FAULT_SCALED, .counter = COUNTER_REF_CYCLES, .factor = 1 / 21.0}},
        {"reference cycles 0.5 % low",
         "reference cycles",
         {.fault = FAULT_SCALED, .counter = COUNTER_REF_CYCLES, .factor = 0.995}},
        {"reference cycles are cycles", "reference cycles", {.fault = FAULT_ALL_CYCLES, .counter = COUNTER_REF_CYCLES}},
        {"reference cycles stuck", "reference cycles", {.fault = FAULT_STUCK, .counter = COUNTER_REF_CYCLES}},
        {"level 0 stuck", "level 0", {.fault = FAULT_STUCK, .counter = COUNTER_LVL0}},
        {"level 0 counts all", "level 0", {.fault = FAULT_ALL_CYCLES, .counter = COUNTER_LVL0}},
        {"level 1 stuck", "level 1", {.fault = FAULT_STUCK, .counter = COUNTER_LVL1}},
        {"level 1 counts all", "level 1", {.fault = FAULT_ALL_CYCLES, .counter = COUNTER_LVL1}},
        {"level 1 counts half", "level 1", {.fault = FAULT_SCALED, .counter = COUNTER_LVL1, .factor = 0.5}},
        {"level 2 stuck", "level 2", {.fault = FAULT_STUCK, .counter = COUNTER_LVL2}},
        {"level 2 counts twice", "level 2", {.fault = FAULT_SCALED, .counter = COUNTER_LVL2, .factor = 2}},
        {"throttle stuck", "throttle", {.fault = FAULT_STUCK, .counter = COUNTER_THROTTLE}},
        {"throttle counts all", "throttle", {.fault = FAULT_ALL_CYCLES, .counter = COUNTER_THROTTLE}},
        {"raw event stuck", "raw event", {.fault = FAULT_STUCK, .counter = COUNTER_EVENT}},
        {"raw event low", "raw event", {.fault = FAULT_SCALED, .counter = COUNTER_EVENT, .factor = 0.9}},
        {"TSC in steps of 100 ns", "TSC step", {.fault = FAULT_TSC_STEP, .factor = 210, .counter = COUNTER_IDS}},
        {"TSC goes back", "TSC step", {.fault = FAULT_TSC_BACK, .factor = 5000, .counter = COUNTER_IDS}},
        {"uneven samples", "sample jitter", {.fault = FAULT_JITTER, .factor = 0.9, .counter = COUNTER_IDS}},
        {"interrupts", "interrupts", {.fault = FAULT_INTERRUPTS, .counter = COUNTER_IDS}},
        {"time lost", "lost time", {.fault = FAULT_LOST, .factor = 2000, .counter = COUNTER_IDS}},
        {"0 V", "voltage", {.fault = FAULT_REGISTER, .value = 0x1c00, .counter = COUNTER_IDS}},
        {"6 V", "voltage", {.fault = FAULT_REGISTER, .value = 0xc00000001c00, .counter = COUNTER_IDS}},
        {"energy falls", "energy", {.fault = FAULT_ENERGY, .counter = COUNTER_IDS}},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        judge(faults[i].what, "xeon-gold-6130", faults[i].fault, faults[i].line);
    /* where there are but two levels, and one: never the wrong one is to blame */
    judge("level 1 of two stuck", "core-i5-1035g4", (struct broken){.fault = FAULT_STUCK, .counter = COUNTER_LVL1},
          "level 1");
    judge("level 0 of one stuck", "core-i9-11900k", (struct broken){.fault = FAULT_STUCK, .counter = COUNTER_LVL0},
          "level 0");
}

/* 500 ns at the TSC's rate, of samples that do 250 ns of work. */
TEST(test_readings_that_take_long)
{
    struct broken none = {.fault = FAULT_NONE, .counter = COUNTER_IDS};
    struct self_test_readings r;
    struct self_test_lines l;
    struct model m;
    rig_load("xeon-gold-6130", &m);
    m.split_read_ns = 500;
    test_parsed(&m, &none, 1, &r, &l);
    for (size_t i = 0; i < l.n; i++)
        assert_true(l.line[i].verdict != SELF_TEST_PASS || strcmp(l.line[i].name, "sample cost") != 0);
    self_test_free(&r);
    m.split_read_ns = 100;
    test_parsed(&m, &none, 1, &r, &l);
    expect("readings do not take long", &l, "");
    self_test_free(&r);
}

/*
 * Adds what slows the core without being a fault: a sibling thread, half of the repetitions at a lower frequency,
 * system management interrupts, switches that halt and throttle nothing, and levels that are still held from the
 * repetition before. Each line passes or says that it cannot tell; a counter that is wrong is found all the same.
 */
static void surround(struct model *m, int scenario, struct rng *r)
{
    struct model_scenario *w = &m->scenario;
    switch (scenario % 6) {
    case 0:
    case 1:
        w->sibling = (struct model_sibling){.share = rng_range(r, 0.1, 0.7),
                                            .period_us = rng_range(r, 40, 2000),
                                            .factor = rng_range(r, 0.4, 0.8),
                                            .chain_factor = rng_range(r, 0.6, 1),
                                            .lockstep = scenario % 6 == 1};
        break;
    case 2:
        w->limit_share = rng_range(r, 0.3, 0.7);
        w->limit_factor = rng_range(r, 0.6, 0.95);
        break;
    case 3:
        w->smi_rate_hz = rng_range(r, 500, 5000);
        w->smi_min_us = 5;
        w->smi_max_us = 15;
        break;
    case 4:
        m->halt_us = 10;
        for (unsigned a = 0; a < m->n_classes; a++)
            for (unsigned b = a + 1; b < m->n_classes; b++)
                m->transitions[a][b] = (struct model_transition){.n_steps = 1,
                                                                 .steps = {{.kind = MODEL_STEP_GRANT, .grant = b}}};
        break;
    default:
        w->carries = true;
        w->gap_us = 10;
        m->wait_us = rng_range(r, 500, 4000);
    }
}

TEST(test_surroundings_are_no_fault)
{
    struct rng rng;
    size_t wrong = 0;
    rng_init(&rng, 5, 0);
    const int stride = rng_all_rounds() ? 1 : 5; /* one or two of each kind, some by chains alone */
    for (int i = 0; i < 36; i += stride) {       /* six of each, half of the even ones by chains alone */
        static const struct broken low = {.fault = FAULT_SCALED, .counter = COUNTER_INSTRUCTIONS, .factor = 0.99};
        static const struct broken high = {.fault = FAULT_SCALED, .counter = COUNTER_CHAIN_CYCLES, .factor = 1.2};
        static const double steps[] = {0, 10, 25};
        struct broken none = {.fault = FAULT_NONE, .counter = COUNTER_IDS}, b;
        struct self_test_readings r;
        struct self_test_lines l;
        struct model m;
        char what[80];
        rig_load("xeon-gold-6130", &m);
        surround(&m, i, &rng);
        m.tsc_step_ns = steps[i / 6 % 3];
        m.no_counters = i % 2 == 0 && i >= 18;
        if (m.no_counters)
            m.counts_licenses = m.counts_throttle = false;
        snprintf(what, sizeof what, "scenario %d, number %d%s", i % 6, i, m.no_counters ? ", by chains" : "");
        test_parsed(&m, &none, (uint64_t)i, &r, &l);
        wrong += unexpected(what, &l, "");
        self_test_free(&r);
        bool alone = i % 6 >
                     2; /* beside a busy sibling thread a chain may be undecided; no other line is reported instead */
        b = m.no_counters ? high : low;
        test_parsed(&m, &b, (uint64_t)i, &r, &l);
        wrong += unexpected(what, &l,
                            !m.no_counters                                 ? "instructions"
                            : alone || l.line[8].verdict == SELF_TEST_FAIL ? "chain"
                                                                           : "");
        self_test_free(&r);
    }
    assert_int_equal(wrong, 0);
}

/* Where nothing throttles a sibling thread slows the code after the switch: no throttled cycles are none missing. A
 * stuck counter of a core that does throttle is found next to one that runs now and then. */
TEST(test_neighbours_are_no_throttling)
{
    struct rng rng;
    size_t wrong = 0, found = 0;
    rng_init(&rng, 11, 0);
    for (int i = 0; i < 20; i++) {
        struct broken none = {.fault = FAULT_NONE, .counter = COUNTER_IDS};
        struct broken stuck = {.fault = FAULT_STUCK, .counter = COUNTER_THROTTLE};
        struct self_test_readings r;
        struct self_test_lines l;
        struct model m;
        char what[80];
        rig_load("xeon-gold-6130", &m);
        m.scenario.sibling = (struct model_sibling){.share = rng_range(&rng, 0.05, i < 10 ? 0.6 : 0.2),
                                                    .period_us = rng_range(&rng, 40, 1000),
                                                    .factor = rng_range(&rng, 0.4, 0.65),
                                                    .lockstep = i % 5 == 4 && i < 10};
        for (unsigned a = 0; a < m.n_classes && i < 10; a++)
            for (unsigned b = a + 1; b < m.n_classes; b++)
                m.transitions[a][b] = (struct model_transition){.n_steps = 1,
                                                                .steps = {{.kind = MODEL_STEP_GRANT, .grant = b}}};
        snprintf(what, sizeof what, "sibling thread %d: %.2f of the time, each %.0f us", i, m.scenario.sibling.share,
                 m.scenario.sibling.period_us);
        test_parsed(&m, i < 10 ? &none : &stuck, (uint64_t)i, &r, &l);
        if (i < 10) {
            wrong += unexpected(what, &l, "");
            assert_int_equal(l.line[12].verdict, SELF_TEST_CANNOT);
        } else {
            found += l.line[12].verdict == SELF_TEST_FAIL;
        }
        self_test_free(&r);
    }
    assert_int_equal(wrong, 0);
    print_message("%zu of 10 stuck counters are found, the others undecided\n", found);
    assert_true(found >= 8);
}

/* A register that an emulator answers for is no core's: nothing is tested by it. */
TEST(test_emulated_voltage)
{
    struct broken b = {.fault = FAULT_REGISTER, .value = 0x400000003e8, .counter = COUNTER_IDS};
    struct self_test_readings r;
    struct self_test_lines l;
    test_model("xeon-gold-6130", &b, 0, &r, &l);
    expect("what QEMU answers", &l, "");
    assert_int_equal(l.line[14].verdict, SELF_TEST_CANNOT);
    assert_non_null(strstr(l.line[14].reason, "emulator"));
    self_test_free(&r);
}

/* Counters that the hardware had no room for: their lines say so, and no other line suffers. */
TEST(test_uncounted)
{
    static const struct {
        enum counter_id id;
        size_t line;
    } counters[] = {{COUNTER_CYCLES, 6}, {COUNTER_REF_CYCLES, 7}, {COUNTER_INSTRUCTIONS, 5}, {COUNTER_LVL0, 9},
                    {COUNTER_LVL1, 10},  {COUNTER_LVL2, 11},      {COUNTER_THROTTLE, 12},    {COUNTER_EVENT, 13}};
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        struct broken b = {.fault = FAULT_MISSING, .counter = counters[i].id};
        struct self_test_readings r;
        struct self_test_lines l;
        test_model("xeon-gold-6130", &b, 0, &r, &l);
        expect(line_names[counters[i].line], &l, "");
        assert_int_equal(l.line[counters[i].line].verdict, SELF_TEST_CANNOT);
        assert_non_null(strstr(l.line[counters[i].line].reason, "not counted throughout"));
        self_test_free(&r);
    }
}

/* Coarse clocks and disturbances fail no line. */
TEST(test_coarse_clocks_and_disturbances_pass)
{
    struct broken coarse = {.fault = FAULT_TSC_STEP, .factor = 21, .counter = COUNTER_IDS};
    judge("10 ns", "xeon-gold-6130", coarse, "");
    coarse.factor = 52;
    judge("25 ns", "xeon-gold-6130", coarse, "");
    struct self_test_readings r;
    struct self_test_lines l;
    struct broken b = {.fault = FAULT_SWITCHED, .factor = 0.6, .counter = COUNTER_IDS};
    test_model("xeon-gold-6130", &b, 1, &r, &l);
    expect("taken off the CPU", &l, "");
    unsigned disturbed = 0;
    for (size_t i = 0; i < r.n_stretches; i++)
        disturbed += r.stretch[i].disturbed;
    assert_true(disturbed >= 30);
    self_test_free(&r);
}

TEST(test_nothing_undisturbed_is_refused)
{
    struct broken b = {.fault = FAULT_SWITCHED, .factor = 2, .counter = COUNTER_IDS};
    struct model model;
    struct machine machine;
    struct machine_error err;
    struct self_test_readings r;
    const struct self_test_setup setup = {.cpu = -1};
    rig_load("xeon-gold-6130", &model);
    assert_int_equal(machine_open_parsed_model(&model, "model:test", &b.inner, &err), MACHINE_OK);
    broken_open(&b, &machine);
    assert_int_equal(self_test_run(&machine, &setup, &r, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "something else ran"));
    assert_true(err.remedy[0] != '\0');
    assert_int_equal(r.n_stretches, 0);
    machine.ops->close(&machine);
}

/* A machine that offers the chain alone, like the timing machine. */
TEST(test_chain)
{
    judge("chain", "generic-no-licence", (struct broken){.as_timing = true, .counter = COUNTER_IDS}, "");
    judge("chain 20 % high", "generic-no-licence",
          (struct broken){.as_timing = true, .fault = FAULT_SCALED, .counter = COUNTER_CHAIN_CYCLES, .factor = 1.2},
          "chain");
    judge("chain stuck", "generic-no-licence",
          (struct broken){.as_timing = true, .fault = FAULT_STUCK, .counter = COUNTER_CHAIN_CYCLES}, "chain");
}

/* ---- the readings as JSON ---- */

static void same_lines(const struct self_test_lines *a, const struct self_test_lines *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_int_equal(a->line[i].verdict, b->line[i].verdict);
        assert_string_equal(a->line[i].text, b->line[i].text);
        assert_string_equal(a->line[i].reason, b->line[i].reason);
        assert_string_equal(a->line[i].remedy, b->line[i].remedy);
    }
}

TEST(test_replay_says_the_same)
{
    static const struct broken faults[] = {
        {.fault = FAULT_NONE, .counter = COUNTER_IDS},
        {.fault = FAULT_SCALED, .counter = COUNTER_INSTRUCTIONS, .factor = 1.01},
        {.fault = FAULT_TSC_BACK, .factor = 5000, .counter = COUNTER_IDS},
        {.fault = FAULT_ENERGY, .counter = COUNTER_IDS},
        {.fault = FAULT_NONE, .counter = COUNTER_IDS, .as_timing = true},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct broken b = faults[i];
        struct self_test_readings r, again;
        struct self_test_lines l, second;
        char why[300];
        test_model("xeon-gold-6130", &b, 3, &r, &l);
        json_t *json = self_test_readings_json(&r);
        assert_non_null(json);
        char *text = json_dumps(json, JSON_REAL_PRECISION(12));
        json_decref(json);
        json = json_loads(text, 0, NULL);
        free(text);
        if (self_test_readings_read(json, &again, why, sizeof why) != 0)
            fail_msg("%s", why);
        json_decref(json);
        self_test_judge(&again, &second);
        same_lines(&l, &second);
        self_test_free(&r);
        self_test_free(&again);
    }
}

/* A counter that was not always counted is null in the file, and missing when it is read again. */
TEST(test_missing_words_survive)
{
    struct self_test_readings r = {.tsc_hz = 2e9, .n_stretches = 1}, again;
    struct self_test_stretch *s = &r.stretch[0];
    *s = (struct self_test_stretch){.kernel = "chain", .block = 104, .period_us = 1, .n_counters = 1};
    char why[300];
    struct self_test_recording *rec = self_test_append(s, 10, 3);
    for (size_t i = 0; i < 30; i++)
        rec->words[i] = i % 3 == 2 && (i / 3) % 4 == 1 ? COUNTER_MISSING : i * i;
    json_t *json = self_test_readings_json(&r);
    assert_int_equal(self_test_readings_read(json, &again, why, sizeof why), 0);
    assert_memory_equal(again.stretch[0].recordings[0].words, rec->words, 30 * sizeof *rec->words);
    json_decref(json);
    self_test_free(&r);
    self_test_free(&again);
}

/* Replaces what is at a path of keys, "stretches/0/block"; NULL removes it. */
static void put(json_t *root, const char *path, json_t *value)
{
    char copy[100], *rest = copy, *key;
    snprintf(copy, sizeof copy, "%s", path);
    json_t *at = root;
    while ((key = strsep(&rest, "/")) != NULL) {
        bool last = rest == NULL;
        if (json_is_array(at)) {
            size_t i = (size_t)atoi(key);
            if (last)
                assert_int_equal(value ? json_array_set_new(at, i, value) : json_array_remove(at, i), 0);
            at = last ? at : json_array_get(at, i);
        } else {
            if (last)
                assert_int_equal(value ? json_object_set_new(at, key, value) : json_object_del(at, key), 0);
            at = last ? at : json_object_get(at, key);
        }
        assert_non_null(at);
    }
}

static json_t *many(size_t n, json_t *element)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append(array, element);
    json_decref(element);
    return array;
}

TEST(test_hostile_readings_are_refused)
{
    struct broken b = {.fault = FAULT_NONE, .counter = COUNTER_IDS};
    struct self_test_readings r, again;
    struct self_test_lines l;
    test_model("xeon-gold-6130", &b, 0, &r, &l);
    json_t *good = self_test_readings_json(&r);
    self_test_free(&r);
    const struct {
        const char *path;
        json_t *value;
    } bad[] = {
        {"format", json_string("characterize-readings/2")},
        {"format", NULL},
        {"machine", json_integer(3)},
        {"machine/tsc_hz", json_real(0)},
        {"machine/tsc_hz", json_real(1e300)},
        {"machine/tsc_hz", json_string("fast")},
        {"machine/cores", json_integer(-1)},
        {"machine/name", json_integer(7)},
        {"machine/modelled", json_null()},
        {"lacks", json_array()},
        {"lacks/chain_ticks/why", json_null()},
        {"stretches", json_object()},
        {"stretches", many(1000, json_object())},
        {"stretches/0", json_null()},
        {"stretches/0/kind", json_string("long way")},
        {"stretches/0/kernel", json_string("no such kernel")},
        {"stretches/0/kernel", json_null()},
        {"stretches/0/block", json_integer(1000000000000)},
        {"stretches/0/period_us", json_integer(0)},
        {"stretches/0/counters", many(40, json_string("cycles"))},
        {"stretches/0/counters/0", json_string("cyclades")},
        {"stretches/0/counters/0", NULL},
        {"stretches/0/disturbed", json_real(0.5)},
        {"stretches/0/recordings", many(1000, json_object())},
        {"stretches/0/recordings/0", json_integer(0)},
        {"stretches/0/recordings/0/zero", json_integer(1000000)},
        {"stretches/0/recordings/0/zero", json_integer(-1)},
        {"stretches/0/recordings/0/steps/0", json_array()},
        {"stretches/0/recordings/0/steps/1", many(9, json_integer(1))},
        {"stretches/0/recordings/0/steps/0/5", json_null()},
        {"stretches/0/recordings/0/steps/2/5", json_string("1")},
        {"stretches/0/recordings/0/steps/2/5", json_real(1.5)},
        {"voltage/register_198", many(1000, json_string("0x1"))},
        {"voltage/register_198/0", json_string("0x")},
        {"voltage/register_198/0", json_string("0x11111111111111111")},
        {"voltage/register_198/0", json_string("0x12 ")},
        {"voltage/register_198/0", json_integer(1)},
        {"energy", NULL},
        {"energy/readings/0/joules", json_string("many")},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char why[300] = "";
        json_t *copy = json_deep_copy(good);
        put(copy, bad[i].path, bad[i].value);
        if (self_test_readings_read(copy, &again, why, sizeof why) == 0)
            fail_msg("%s, case %zu, was taken", bad[i].path, i);
        assert_true(why[0] != '\0' && !strchr(why, '\n'));
        json_decref(copy);
    }
    json_decref(good);
}

/* Readable nonsense is judged without a crash: short stretches, counters that jump. */
TEST(test_nonsense_is_judged)
{
    struct broken b = {.fault = FAULT_NONE, .counter = COUNTER_IDS};
    struct self_test_readings r;
    struct self_test_lines l;
    test_model("xeon-gold-6130", &b, 0, &r, &l);
    for (size_t i = 0; i < r.n_stretches; i++)
        for (size_t k = 0; k < r.stretch[i].n; k++) {
            struct self_test_recording *rec = &r.stretch[i].recordings[k];
            size_t words = rec->n * (2 + r.stretch[i].n_counters);
            for (size_t w = 0; w < words; w++)
                rec->words[w] = (i + k) % 3 == 0 ? 0 : (i + k) % 3 == 1 ? UINT64_MAX - w : w * 0x9e3779b97f4a7c15u;
            rec->n = (i + k) % 5 == 0 ? 8 : rec->n;
        }
    self_test_judge(&r, &l);
    assert_int_equal(l.n, LINES);
    assert_true(self_test_count(&l, SELF_TEST_FAIL) > 0);
    self_test_free(&r);
    self_test_judge(&r, &l); /* nothing at all */
    assert_int_equal(self_test_count(&l, SELF_TEST_CANNOT), LINES);
}
