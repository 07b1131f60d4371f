/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the self-test says of readings that were made by hand, at limits and beside them: counters of cycles and of
 * instructions, license levels, throttling, a raw event, voltage and energy. Held in tests/golden/self-test.made-*, the
 * cases being named after what they are about.
 */
#include "drivers/recording.h"
#include "output/self_test/self_test.h"
#include "tests/support/golden.h"
#include "tests/support/test.h"

/* A TSC of 2 GHz: 2000 ticks a microsecond. */
#define TSC_HZ 2e9
enum { RUN_IN = 8, TICKS_PER_US = 2000, LEVELS = 3, KERNELS = 10, NONE = -1 };

static struct self_test_readings *empty_readings(void)
{
    struct self_test_readings *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->tsc_hz = TSC_HZ;
    return r;
}

static struct self_test_stretch *add_stretch(struct self_test_readings *r, enum self_test_kind kind, const char *kernel,
                                             const enum counter_id *counters, size_t n)
{
    struct self_test_stretch *s = &r->stretch[r->n_stretches++];
    assert_true(r->n_stretches <= SELF_TEST_STRETCHES_MAX);
    *s = (struct self_test_stretch){.kind = kind, .block = 100, .period_us = 1, .n_counters = n};
    snprintf(s->kernel, sizeof s->kernel, "%s", kernel);
    for (size_t i = 0; i < n; i++)
        s->counters[i] = (struct counter_spec){counters[i], 0};
    return s;
}

/* The words of reading i of a recording. */
static uint64_t *words(const struct self_test_stretch *s, const struct self_test_recording *rec, size_t i)
{
    return rec->words + i * (2 + s->n_counters);
}

static struct self_test_recording *add_recording(struct self_test_stretch *s, size_t n, size_t zero)
{
    struct self_test_recording *rec = self_test_append(s, n, 2 + s->n_counters);
    assert_non_null(rec);
    rec->zero = zero;
    return rec;
}

/* A number, "-" where it is none. */
static const char *figure(double x, char out[40])
{
    snprintf(out, 40, isnan(x) ? "-" : "%.6g", x);
    return out;
}

/* The lines whose names stand in `names`, blanks around each. */
static void write_lines(FILE *out, const char *title, const struct self_test_readings *r, const char *names)
{
    struct self_test_lines l;
    self_test_judge(r, &l);
    fprintf(out, "== %s\n", title);
    for (size_t i = 0; i < l.n; i++) {
        const struct self_test_line *line = &l.line[i];
        char name[40], value[40], lo[40], hi[40];
        snprintf(name, sizeof name, "|%s|", line->name);
        if (!strstr(names, name))
            continue;
        fprintf(out, "%s: %s: %s (%s %s, %s to %s)%s%s%s%s\n", line->name, self_test_word(line->verdict), line->text,
                figure(line->value, value), line->unit, figure(line->lo, lo), figure(line->hi, hi),
                line->reason[0] ? "; " : "", line->reason, line->remedy[0] ? "; " : "", line->remedy);
    }
}

static void end_case(FILE *out, const char *title, struct self_test_readings *r, const char *names)
{
    write_lines(out, title, r, names);
    self_test_free(r);
    free(r);
}

/* ---- the chain of adds: instructions, cycles and reference cycles ---- */

/* Of so many samples: the counter of instructions, of cycles and of reference cycles in each, beyond one for each of
 * its `adds`. */
struct adds {
    enum self_test_kind kind;
    unsigned samples, adds;
    int instructions, cycles, reference; /* the last beyond the ticks; NONE of cycles: they were not counted */
};

static void add_chain(struct self_test_readings *r, const struct adds *a)
{
    static const enum counter_id counters[] = {COUNTER_INSTRUCTIONS, COUNTER_CYCLES, COUNTER_REF_CYCLES};
    struct self_test_stretch *s = add_stretch(r, a->kind, "chain", counters, 3);
    struct self_test_recording *rec = add_recording(s, RUN_IN + a->samples + 1, 0);
    uint64_t w[5] = {7000, 300, 20, 10, 5}, ticks = 2 * a->adds;
    for (size_t i = 0; i < rec->n; i++) {
        memcpy(words(s, rec, i), w, sizeof w);
        if (a->cycles == NONE)
            words(s, rec, i)[3] = COUNTER_MISSING;
        bool run_in = i < RUN_IN; /* in which all is counted twice */
        w[0] += ticks;
        w[1] += a->adds;
        w[2] += (a->adds + (unsigned)a->instructions) << run_in;
        w[3] += (a->adds + (unsigned)a->cycles) << run_in;
        w[4] += (ticks + (unsigned)a->reference) << run_in;
    }
}

TEST(counts_of_the_chain)
{
    static const struct {
        const char *title;
        struct adds of_short, of_long;
    } cases[] = {
        {"two instructions of a loop in 100 adds",
         {SELF_TEST_SHORT, 100, 10000, 200, 40, 0},
         {SELF_TEST_LONG, 100, 50000, 1000, 40, 0}},
        {"99 short samples", {SELF_TEST_SHORT, 99, 10000, 200, 0, 0}, {SELF_TEST_LONG, 100, 50000, 1000, 0, 0}},
        {"99 long samples", {SELF_TEST_SHORT, 100, 10000, 200, 0, 0}, {SELF_TEST_LONG, 99, 50000, 1000, 0, 0}},
        {"long samples that are no longer than half as much again",
         {SELF_TEST_SHORT, 100, 10000, 200, 0, 0},
         {SELF_TEST_LONG, 100, 15000, 300, 0, 0}},
        {"and a little longer", {SELF_TEST_SHORT, 100, 10000, 200, 0, 0}, {SELF_TEST_LONG, 100, 15002, 300, 0, 0}},
        {"within a thousandth of the instructions, half a percent of cycles, two thousandths of the ticks",
         {SELF_TEST_SHORT, 100, 10000, 200, 0, 0},
         {SELF_TEST_LONG, 100, 50000, 1040, 199, 199}},
        {"beyond them", {SELF_TEST_SHORT, 100, 10000, 200, 0, 0}, {SELF_TEST_LONG, 100, 50000, 1042, 201, 201}},
        {"cycles that were not counted",
         {SELF_TEST_SHORT, 100, 10000, 200, NONE, 0},
         {SELF_TEST_LONG, 100, 50000, 1000, NONE, 0}},
    };
    struct golden g;
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct self_test_readings *r = empty_readings();
        add_chain(r, &cases[i].of_short);
        add_chain(r, &cases[i].of_long);
        end_case(out, cases[i].title, r, "|instructions|cycles|reference cycles|");
    }
    golden_expect(&g, "self-test", "made-counts", true);
}

/* ---- license levels ---- */

/* Of 1000 cycles of each kernel those at level 0, 1, 2; -1: that was not counted. */
struct shares {
    const char *title;
    bool of_ticks; /* cycles are not counted: of 1000 ticks */
    int part[KERNELS][LEVELS];
};
static const char *const kernel_names[KERNELS] = {"64add", "256fma", "512fma", "k3", "k4",
                                                  "k5",    "k6",     "k7",     "k8", "k9"};

static void add_steady(struct self_test_readings *r, const char *kernel, const int part[LEVELS])
{
    static const enum counter_id counters[] = {COUNTER_CYCLES, COUNTER_LVL0, COUNTER_LVL1, COUNTER_LVL2};
    /* the median of three; the first sample is left out */
    static const int off[] = {30, 0, -40};
    struct self_test_stretch *s = add_stretch(r, SELF_TEST_STEADY, kernel, counters, 4);
    for (size_t k = 0; k < 3; k++) {
        struct self_test_recording *rec = add_recording(s, 5, 0);
        for (size_t i = 0; i < rec->n; i++) {
            uint64_t *w = words(s, rec, i), grown = i == 0 ? 0 : 250 * (i - 1);
            w[0] = w[2] = i == 0 ? 1 : 777 + grown;
            for (size_t level = 0; level < LEVELS; level++) {
                int of = part[level] > 200 ? part[level] + off[k] : part[level];
                w[3 + level] = i == 0 ? 50 : 500 + (uint64_t)of * grown / 1000;
                if (part[level] < 0 && i == rec->n - 1)
                    w[3 + level] = COUNTER_MISSING;
            }
        }
    }
}

TEST(license_levels)
{
    static const struct shares cases[] = {
        {"a level for each width", false, {{1000, 0, 0}, {0, 1000, 0}, {0, 0, 1000}}},
        {"just nearly all, just hardly any", false, {{900, 100, 100}, {100, 900, 100}, {100, 100, 900}}},
        {"less than nearly all", false, {{896, 0, 0}, {0, 896, 0}, {0, 0, 896}}},
        {"more than hardly any", false, {{1000, 104, 0}, {104, 1000, 104}, {0, 104, 1000}}},
        {"as much more than all as may be", false, {{1048, 0, 0}, {0, 1048, 0}, {0, 0, 1048}}},
        {"too much", false, {{1052, 0, 0}, {0, 1052, 0}, {0, 0, 1052}}},
        {"one level alone", false, {{1000, 0, 0}, {1000, 0, 0}, {1000, 0, 0}}},
        {"one level alone, just", false, {{900, 100, 100}, {1048, 100, 100}, {1000, 0, 0}}},
        {"one level, not all of it", false, {{896, 0, 0}, {1000, 0, 0}, {1000, 0, 0}}},
        {"one level, and more than all", false, {{1000, 0, 0}, {1052, 0, 0}, {1000, 0, 0}}},
        {"one level, and some of the next", false, {{1000, 0, 0}, {1000, 104, 0}, {1000, 0, 0}}},
        {"one level, and some of the last", false, {{1000, 0, 0}, {1000, 0, 0}, {1000, 0, 104}}},
        {"one level, the others not counted", false, {{1000, -1, -1}, {1000, -1, -1}, {1000, -1, -1}}},
        {"two levels", false, {{1000, 0, 0}, {0, 1000, 0}, {0, 1000, 0}}},
        {"level 1 does not count", false, {{1000, 0, 0}, {0, 100, 0}, {0, 0, 1000}}},
        {"levels 1 and 2 do not count", false, {{1000, 0, 0}, {0, 0, 0}, {1000, 0, 100}}},
        {"level 2 does not count", false, {{1000, 0, 0}, {0, 1000, 0}, {100, 100, 100}}},
        {"nor does it in a kernel in which another was not counted", false, {{1000, 0, 0}, {0, 1000, 0}, {0, -1, 0}}},
        {"no level counts", false, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}},
        {"level 0 counts wide code", false, {{0, 1000, 0}, {1000, 0, 0}, {0, 0, 1000}}},
        {"level 1 counts scalar code as well", false, {{1000, 1000, 0}, {0, 1000, 0}, {0, 0, 1000}}},
        {"nothing was counted of a kernel", false, {{-1, -1, -1}, {0, 1000, 0}, {1000, 0, 1000}}},
        {"nothing was counted", false, {{-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}}},
        {"only eight kernels are looked at",
         false,
         {{1000, 0, 0},
          {0, 1000, 0},
          {1000, 0, 0},
          {1000, 0, 0},
          {1000, 0, 0},
          {1000, 0, 0},
          {1000, 0, 0},
          {1000, 0, 0},
          {0, 0, 1000},
          {0, 0, 1000}}},
        {"the eighth",
         false,
         {{1000, 0, 0},
          {0, 1000, 0},
          {1000, 0, 0},
          {1000, 0, 0},
          {1000, 0, 0},
          {1000, 0, 0},
          {1000, 0, 0},
          {0, 0, 1000}}},
        {"of ticks, just", true, {{180, 48, 48}, {48, 180, 48}, {48, 48, 180}}},
        {"of ticks, too few", true, {{176, 0, 0}, {0, 176, 0}, {0, 0, 176}}},
        {"of ticks, none that hardly count", true, {{3000, 52, 52}, {52, 3000, 52}, {52, 52, 3000}}},
        {"of ticks, most", true, {{4000, 0, 0}, {0, 4000, 0}, {0, 0, 4000}}},
        {"of ticks, too many", true, {{4004, 0, 0}, {0, 4004, 0}, {0, 0, 4004}}},
    };
    struct golden g;
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct self_test_readings *r = empty_readings();
        if (!cases[i].of_ticks) {
            add_chain(r, &(struct adds){SELF_TEST_SHORT, 100, 10000, 200, 0, 0});
            add_chain(r, &(struct adds){SELF_TEST_LONG, 100, 50000, 1000, 0, 0});
        }
        static const int none[LEVELS];
        for (size_t k = 0; k < KERNELS; k++)
            if (k < 3 || memcmp(cases[i].part[k], none, sizeof none) != 0)
                add_steady(r, kernel_names[k], cases[i].part[k]);
        end_case(out, cases[i].title, r, "|level 0|level 1|level 2|");
    }
    struct self_test_readings *r = empty_readings();
    snprintf(r->lacks[COUNTER_LVL1], sizeof r->lacks[0], "it has none");
    snprintf(r->lacks_remedy[COUNTER_LVL1], sizeof r->lacks_remedy[0], "another processor");
    end_case(out, "no kernel ran", r, "|level 0|level 1|level 2|");
    golden_expect(&g, "self-test", "made-levels", true);
}

/* ---- throttling ---- */

/*
 * After a switch: samples of so many ticks, a piece of work in each; from `from` on, `slow` of them do `work` percent
 * of that, in the first `in` of the recordings. The counter of throttling grows by `throttled`, a tenth more in every
 * further recording; in scalar code by `idle` of 1000 ticks.
 */
struct throttle_case {
    const char *title;
    unsigned recordings, samples, ticks, from, slow, work, in;
    int throttled, idle;
};

static void add_switch(struct self_test_readings *r, const struct throttle_case *c)
{
    static const enum counter_id counters[] = {COUNTER_CYCLES, COUNTER_THROTTLE};
    enum { BEFORE = 3 };
    struct self_test_stretch *s = add_stretch(r, SELF_TEST_SWITCH, "512fma", counters, 2);
    snprintf(s->from, sizeof s->from, "64add");
    for (unsigned k = 0; k < c->recordings; k++) {
        struct self_test_recording *rec = add_recording(s, BEFORE + c->samples + 1, BEFORE);
        uint64_t w[4] = {5000, 900, 1, 70};
        for (size_t i = 0; i < rec->n; i++) {
            memcpy(words(s, rec, i), w, sizeof w);
            if (c->throttled == NONE)
                words(s, rec, i)[3] = COUNTER_MISSING;
            bool slow = k < c->in && i >= BEFORE + c->from && i < BEFORE + c->from + c->slow;
            w[0] += i < BEFORE ? 200 : c->ticks;
            w[1] += i < BEFORE ? 1 : slow ? c->work * (c->ticks / 100) : c->ticks;
            w[3] += i < BEFORE ? 999 : i == BEFORE ? (unsigned)c->throttled * (10 + k) / 10 : 0;
        }
    }
}

static void add_idle(struct self_test_readings *r, int idle)
{
    static const enum counter_id counters[] = {COUNTER_THROTTLE};
    struct self_test_stretch *s = add_stretch(r, SELF_TEST_STEADY, "64add", counters, 1);
    struct self_test_recording *rec = add_recording(s, 4, 0);
    for (size_t i = 0; i < rec->n; i++) {
        uint64_t *w = words(s, rec, i);
        w[0] = 500 * i;
        w[2] = i == 0 ? 3 : 100 + (uint64_t)idle * 5 / 10 * i;
    }
}

TEST(throttling)
{
    static const struct throttle_case cases[] = {
        {"ten microseconds at a quarter of the rate", 6, 80, 2000, 0, 10, 25, 6, 9000, 0},
        {"slow in five of six", 6, 80, 2000, 3, 10, 25, 5, 9000, 0},
        {"slow in four of six", 6, 80, 2000, 3, 10, 25, 4, 9000, 0},
        {"slow in four of five", 5, 80, 2000, 3, 10, 25, 4, 9000, 0},
        {"slow in ten of twelve", 12, 80, 2000, 3, 10, 25, 10, 9000, 0},
        {"a single repetition, whose samples are half a microsecond", 1, 160, 1000, 4, 20, 25, 1, 9000, 0},
        {"69 % of the rate", 2, 80, 2000, 0, 10, 69, 2, 9000, 0},
        {"70 % of it are not slow", 2, 80, 2000, 0, 10, 70, 2, 9000, 0},
        {"three microseconds may be new code", 2, 80, 2000, 0, 3, 25, 2, 0, 0},
        {"three microseconds that were counted", 2, 80, 2000, 0, 3, 25, 2, 1, 0},
        {"four microseconds that were not", 2, 80, 2000, 0, 4, 25, 2, 0, 0},
        {"hardly a tenth of it is counted", 2, 80, 2000, 0, 10, 25, 2, 1900, 0},
        {"a tenth of it is counted", 1, 80, 2000, 0, 10, 25, 1, 2000, 0},
        {"a little less is", 1, 80, 2000, 0, 10, 25, 1, 1999, 0},
        {"samples of three microseconds are halts", 1, 80, 6000, 0, 10, 25, 1, 0, 0},
        {"shorter ones are not", 1, 80, 5900, 0, 10, 25, 1, 0, 0},
        {"slow in the last quarter", 2, 80, 2000, 60, 5, 25, 2, 0, 0},
        {"slow until the last quarter", 2, 80, 2000, 55, 5, 25, 2, 0, 0},
        {"slow in the last quarter, counted", 2, 80, 2000, 60, 5, 25, 2, 5000, 0},
        {"throttling was not counted", 2, 80, 2000, 0, 10, 25, 2, NONE, 0},
        {"1 % of scalar code", 2, 80, 2000, 0, 10, 25, 2, 9000, 10},
        {"more of it", 2, 80, 2000, 0, 10, 25, 2, 9000, 12},
        {"longer than is looked at", 1, 1400, 2000, 1020, 10, 25, 1, 9000, 0},
    };
    struct golden g;
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct self_test_readings *r = empty_readings();
        add_idle(r, cases[i].idle);
        add_switch(r, &cases[i]);
        end_case(out, cases[i].title, r, "|throttle|");
    }
    struct self_test_readings *r = empty_readings();
    add_idle(r, 0);
    end_case(out, "no switch", r, "|throttle|");
    r = empty_readings();
    add_switch(r, &cases[0]);
    end_case(out, "no scalar code", r, "|throttle|");
    golden_expect(&g, "self-test", "made-throttling", true);
}

/* ---- a raw event ---- */

TEST(raw_event)
{
    static const struct {
        const char *title;
        unsigned samples, counted; /* of 10000 adds */
        uint64_t code;
        unsigned block;
    } cases[] = {
        {"instructions", 100, 10200, SELF_TEST_EVENT_INSTRUCTIONS, 100},
        {"99 samples", 99, 10200, SELF_TEST_EVENT_INSTRUCTIONS, 100},
        {"of blocks of 50", 100, 10400, SELF_TEST_EVENT_INSTRUCTIONS, 50},
        {"no blocks", 100, 10400, SELF_TEST_EVENT_INSTRUCTIONS, 0},
        {"1 % fewer", 100, 10099, SELF_TEST_EVENT_INSTRUCTIONS, 100},
        {"a little fewer", 100, 10096, SELF_TEST_EVENT_INSTRUCTIONS, 100},
        {"5 % more", 100, 10709, SELF_TEST_EVENT_INSTRUCTIONS, 100},
        {"a little more", 100, 10712, SELF_TEST_EVENT_INSTRUCTIONS, 100},
        {"cycles at level 0", 100, 10001, SELF_TEST_EVENT_LEVEL_0, 100},
        {"cycles, 5 % more", 100, 10499, SELF_TEST_EVENT_LEVEL_0, 100},
        {"cycles, a little more", 100, 10502, SELF_TEST_EVENT_LEVEL_0, 100},
    };
    static const enum counter_id counters[] = {COUNTER_CYCLES, COUNTER_EVENT, COUNTER_INSTRUCTIONS};
    struct golden g;
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct self_test_readings *r = empty_readings();
        struct self_test_stretch *s = add_stretch(r, SELF_TEST_EVENT, "chain", counters, 3);
        struct self_test_recording *rec = add_recording(s, RUN_IN + cases[i].samples + 1, 0);
        s->counters[1].event = cases[i].code;
        s->block = cases[i].block;
        for (size_t k = 0; k < rec->n; k++)
            memcpy(words(s, rec, k), (const uint64_t[]){20000 * k, 10000 * k, 9000 * k, cases[i].counted * k, 1},
                   5 * sizeof(uint64_t));
        end_case(out, cases[i].title, r, "|raw event|");
    }
    golden_expect(&g, "self-test", "made-event", true);
}

/* ---- voltage and energy ---- */

/* 198H holds a voltage in units of 1/8192 V from bit 32 on. */
static uint64_t register_of(double volts)
{
    return (uint64_t)lround(volts * 8192) << 32;
}

TEST(voltages)
{
    static const struct {
        const char *title;
        size_t n;
        double volts[5];
    } cases[] = {
        {"none", 0, {0}},
        {"one", 1, {1}},
        {"the middle of five", 5, {0.9, 1.1, 1, 0.8, 1.2}},
        {"the least there is", 1, {0.4001}},
        {"less", 1, {0.3999}},
        {"the most there is", 1, {1.6999}},
        {"more", 1, {1.7001}},
        {"one of five is too low", 5, {1, 1, 0.39, 1, 1}},
        {"one of five is too high", 5, {1, 1, 1.71, 1, 1}},
        {"half of them are none", 4, {1, 0, 0, 1.1}},
        {"more of them are none", 5, {1, 0, 0, 1.1, 0}},
        {"all are none", 3, {0}},
        {"the first is, the others are too high", 3, {0, 7, 7}},
    };
    struct golden g;
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct self_test_readings *r = empty_readings();
        snprintf(r->volts_why, sizeof r->volts_why, "no register");
        snprintf(r->volts_remedy, sizeof r->volts_remedy, "be root");
        r->n_volts = cases[i].n;
        for (size_t k = 0; k < r->n_volts; k++)
            r->volts[k] = register_of(cases[i].volts[k]);
        end_case(out, cases[i].title, r, "|voltage|");
    }
    golden_expect(&g, "self-test", "made-volts", true);
}

TEST(energies)
{
    static const struct {
        const char *title, *why;
        size_t n;
        struct energy_reading energy[3];
    } cases[] = {
        {"none, and why", "no register", 0, {{0, 0}}},
        {"a single one", "", 1, {{.joules = 1, .seconds = 1}}},
        {"two", "", 2, {{.joules = 1, .seconds = 1}, {.joules = 3, .seconds = 1.5}}},
        {"least", "", 2, {{.joules = 1, .seconds = 1}, {.joules = 1.1001, .seconds = 2}}},
        {"less", "", 2, {{.joules = 1, .seconds = 1}, {.joules = 1.0999, .seconds = 2}}},
        {"most", "", 2, {{.joules = 1, .seconds = 1}, {.joules = 1500.9, .seconds = 2}}},
        {"more", "", 2, {{.joules = 1, .seconds = 1}, {.joules = 1501.1, .seconds = 2}}},
        {"three", "", 3, {{.joules = 1, .seconds = 1}, {.joules = 30, .seconds = 2}, {.joules = 41, .seconds = 3}}},
        {"it falls", "", 3, {{.joules = 1, .seconds = 1}, {.joules = 50, .seconds = 2}, {.joules = 41, .seconds = 3}}},
        {"it stays", "", 3, {{.joules = 1, .seconds = 1}, {.joules = 1, .seconds = 2}, {.joules = 41, .seconds = 3}}},
        {"no time goes by",
         "",
         3,
         {{.joules = 1, .seconds = 1}, {.joules = 2, .seconds = 1}, {.joules = 9, .seconds = 3}}},
    };
    struct golden g;
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct self_test_readings *r = empty_readings();
        snprintf(r->energy_why, sizeof r->energy_why, "%s", cases[i].why);
        snprintf(r->energy_remedy, sizeof r->energy_remedy, "be root");
        r->n_energy = cases[i].n;
        memcpy(r->energy, cases[i].energy, sizeof cases[i].energy);
        end_case(out, cases[i].title, r, "|energy|");
    }
    golden_expect(&g, "self-test", "made-energy", true);
}

/* Also a list that is full: what stands behind it is none of its stretches. */
TEST(a_full_list_is_freed)
{
    struct self_test_readings *r = malloc(sizeof *r);
    assert_non_null(r);
    memset(r, 0xff, sizeof *r);
    memset(r->stretch, 0, sizeof r->stretch);
    r->n_stretches = SELF_TEST_STRETCHES_MAX;
    assert_non_null(self_test_append(&r->stretch[SELF_TEST_STRETCHES_MAX - 1], 4, 2));
    self_test_free(r);
    assert_int_equal(r->n_stretches, 0);
    free(r);
}
