/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All that the self-test says of shipped models, of those with a fault, and of readings that are none, word for word:
 * tests/golden/self-test.*. After an intended change `make golden` rewrites these, and the diff shows what changed.
 */
#include "output/self_test/self_test.h"
#include "tests/support/broken_machine.h"
#include "tests/support/golden.h"
#include "tests/support/json_changes.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

static void take_readings(const char *name, struct broken *b, struct self_test_readings *r)
{
    struct model model;
    struct machine machine;
    struct machine_error err;
    const struct self_test_setup setup = {.cpu = -1, .seed = 3};
    rig_load(name, &model);
    assert_int_equal(machine_open_parsed_model(&model, "model:test", &b->inner, &err), MACHINE_OK);
    broken_open(b, &machine);
    if (self_test_run(&machine, &setup, r, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    machine.ops->close(&machine);
}

/* A number, "-" where it is none. */
static const char *figure(double x, char out[40])
{
    snprintf(out, 40, isnan(x) ? "-" : "%.6g", x);
    return out;
}

static void write_judged(FILE *out, const char *what, const struct self_test_lines *l, bool passed)
{
    fprintf(out, "== %s\n", what);
    for (size_t i = 0; i < l->n; i++) {
        const struct self_test_line *line = &l->line[i];
        bool usual = line->verdict == SELF_TEST_PASS || strcmp(line->name, "chain") == 0; /* which models have not */
        if (usual && !passed)
            continue;
        char value[40], lo[40], hi[40];
        fprintf(out, "%s: %s: %s (%s %s, %s to %s)", line->name, self_test_word(line->verdict), line->text,
                figure(line->value, value), line->unit ? line->unit : "", figure(line->lo, lo), figure(line->hi, hi));
        fprintf(out, "%s%s%s%s\n", line->reason[0] ? "; " : "", line->reason, line->remedy[0] ? "; " : "",
                line->remedy);
    }
}

static void write_lines(FILE *out, const char *what, const struct self_test_readings *r, bool passed)
{
    struct self_test_lines l;
    self_test_judge(r, &l);
    write_judged(out, what, &l, passed);
}

static bool text_is_golden(const char *what, FILE *out, char **text, bool rounded)
{
    assert_int_equal(fclose(out), 0);
    bool same = golden_is("self-test", what, *text, rounded);
    free(*text);
    return same;
}

TEST(shipped_models)
{
    static const char *const names[] = {"xeon-gold-6130", "generic-no-licence", "core-i7-6700hq", "core-i5-1035g4"};
    struct self_test_readings *r = malloc(sizeof *r);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(r && out);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct broken none = {.fault = FAULT_NONE};
        take_readings(names[i], &none, r);
        write_lines(out, names[i], r, true);
        self_test_free(r);
    }
    free(r);
    if (!text_is_golden("models", out, &text, true))
        fail_msg("if the change is intended, run make golden");
}

/* The lines that do not pass. */
TEST(faults)
{
    static const struct {
        const char *what;
        struct broken b;
    } cases[] = {
        {"instructions 5 % high", {.fault = FAULT_SCALED, .counter = COUNTER_INSTRUCTIONS, .factor = 1.05}},
        {"cycles 20 % low", {.fault = FAULT_SCALED, .counter = COUNTER_CYCLES, .factor = 0.8}},
        {"reference cycles twice", {.fault = FAULT_SCALED, .counter = COUNTER_REF_CYCLES, .factor = 2}},
        {"instructions stuck", {.fault = FAULT_STUCK, .counter = COUNTER_INSTRUCTIONS}},
        {"level 1 stuck", {.fault = FAULT_STUCK, .counter = COUNTER_LVL1}},
        {"level 2 counts all", {.fault = FAULT_ALL_CYCLES, .counter = COUNTER_LVL2}},
        {"throttling counts all", {.fault = FAULT_ALL_CYCLES, .counter = COUNTER_THROTTLE}},
        {"throttling stuck", {.fault = FAULT_STUCK, .counter = COUNTER_THROTTLE}},
        {"cycles missing", {.fault = FAULT_MISSING, .counter = COUNTER_CYCLES}},
        {"level 0 missing", {.fault = FAULT_MISSING, .counter = COUNTER_LVL0}},
        {"steps of the TSC", {.fault = FAULT_TSC_STEP, .factor = 400}},
        {"the TSC goes back", {.fault = FAULT_TSC_BACK, .factor = 5000}},
        {"samples cost much", {.fault = FAULT_COST, .factor = 0.3}},
        {"samples jitter", {.fault = FAULT_JITTER, .factor = 0.5}},
        {"interrupts", {.fault = FAULT_INTERRUPTS}},
        {"time is lost", {.fault = FAULT_LOST, .factor = 3000}},
        {"198H holds 0", {.fault = FAULT_REGISTER, .value = 0}},
        {"198H holds 3 V", {.fault = FAULT_REGISTER, .value = UINT64_C(3) << 45}},
        {"energy falls", {.fault = FAULT_ENERGY}},
        {"preempted", {.fault = FAULT_SWITCHED, .factor = 0.7}},
        {"nothing but the chain", {.as_timing = true, .counter = COUNTER_IDS}},
    };
    struct self_test_readings *r = malloc(sizeof *r);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(r && out);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct broken b = cases[i].b;
        take_readings("xeon-gold-6130", &b, r);
        write_lines(out, cases[i].what, r, false);
        self_test_free(r);
    }
    free(r);
    if (!text_is_golden("faults", out, &text, true))
        fail_msg("if the change is intended, run make golden");
}

/* ---- other programs ---- */

/* What they may say: the same, and at and beside what is still taken for the same. */
static void draw_opinions(struct rng *r, struct second_opinion o[OPINIONS])
{
    static const uint32_t registers[] = {0x198, 0x1ad, 0xce, 0x606};
    const double ghz[] = {3.69, 4.05, 4.07, 3.33, 3.31, NAN}, tsc[] = {2.1, 2.1104, 2.1106, 2.089};
    const double ipc[] = {1, 1.0299, 1.0301, 0.9701, 0.9699};
    memset(o, 0, OPINIONS * sizeof *o);
    for (int i = 0; i < OPINIONS; i++) {
        o[i].program = "other";
        if (rng_chance(r, 0.1)) {
            snprintf(o[i].why, sizeof o[i].why, "it is not there");
            continue;
        }
        o[i].counts.cycles = 1e9;
        o[i].counts.instructions = 1e9 * 106 / 104 * rng_one_of(r, ipc, 5);
        o[i].counts.ghz = rng_one_of(r, ghz, 6);
        o[i].counts.tsc_ghz = rng_one_of(r, tsc, 4);
        for (size_t k = 0; k < OPINION_REGISTERS; k++) {
            o[i].registers[k].reg = registers[k % 4];
            o[i].registers[k].both = rng_chance(r, 0.7);
            o[i].registers[k].ours = k % 4 ? 7 : UINT64_C(8192) << 32; /* 1 V */
            o[i].registers[k].theirs = o[i].registers[k].ours;
            if (k % 4 == 0)
                o[i].registers[k].theirs = (uint64_t)(8192 * rng_one_of(r, (const double[]){1, 1.29, 1.31, 0.6}, 4))
                                           << 32;
            else if (rng_chance(r, 0.2))
                o[i].registers[k].theirs++;
        }
    }
}

TEST(what_others_say_of_the_same)
{
    static const struct broken readings[] = {{.fault = FAULT_NONE},
                                             {.fault = FAULT_MISSING, .counter = COUNTER_CYCLES},
                                             {.as_timing = true, .counter = COUNTER_IDS}};
    struct self_test_readings *r = malloc(sizeof *r);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct rng rng;
    assert_true(r && out);
    rng_init(&rng, 13, 0);
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        struct broken b = readings[i];
        take_readings("xeon-gold-6130", &b, r);
        for (int k = 0; k < 20; k++) {
            struct second_opinion o[OPINIONS];
            struct self_test_lines l;
            draw_opinions(&rng, o);
            self_test_judge_others(r, o, (size_t)rng_int(&rng, 3, OPINIONS), &l);
            write_judged(out, b.as_timing ? "chain" : b.fault ? "no cycles" : "counters", &l, true);
        }
        self_test_free(r);
    }
    free(r);
    if (!text_is_golden("others", out, &text, true))
        fail_msg("if the change is intended, run make golden");
}

/* ---- files of readings ---- */

static void read_readings(void *data, const json_t *root, char *why, size_t size)
{
    struct self_test_readings *r = data;
    if (self_test_readings_read(root, r, why, size) == 0) {
        why[0] = '\0';
        self_test_free(r);
    }
}

TEST(files_of_readings)
{
    struct self_test_readings *r = malloc(sizeof *r);
    struct broken none = {.fault = FAULT_NONE};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(r && out);
    take_readings("xeon-gold-6130", &none, r);
    json_t *root = self_test_readings_json(r);
    assert_non_null(root);
    self_test_free(r);
    json_changes_write(out, root, read_readings, r);
    json_decref(root);
    free(r);
    if (!text_is_golden("changed-readings", out, &text, false))
        fail_msg("if the change is intended, run make golden");
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1);
}
