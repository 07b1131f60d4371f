/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A model's surroundings, compared with doc/model-format.md. What is certain, and not only likely, is compared with
 * model_truth in test_model_truth.c. */
#include "drivers/model/model_random.h"
#include "tests/support/model_rig.h"
#include "tests/support/model_truth.h"
#include "tests/support/test.h"

static void quiet(struct model *m)
{
    rig_load("xeon-gold-6130", m);
    rig_silence(m);
}

/* Payload instructions a cycle of each sample after time 0, relative to full rate. */
static size_t rates(const struct rig *r, const struct recording *rec, double full, double *out, size_t max)
{
    size_t n = 0;
    for (size_t i = rec->zero_reading + 1; i < rec->n && n < max; i++)
        out[n++] = rig_sample(r, rec, i).ipc / full;
    return n;
}

/* ---- the sibling ---- */

TEST(a_sibling_takes_its_share)
{
    static const double shares[] = {0.2, 0.6};
    enum { RUNS = 300, MOST = 1600 };
    for (size_t k = 0; k < 2; k++) {
        struct model m;
        struct rig r;
        quiet(&m);
        m.scenario.sibling = (struct model_sibling){.share = shares[k], .period_us = 500, .factor = 0.55};
        rig_open(&r, &m, 0, 1, 3);
        double x[MOST], slow_at_100 = 0, slow = 0, all = 0, begun = 0;
        for (unsigned run = 0; run < RUNS; run++) {
            struct recording rec = rig_switch(&r, "64add", "128fma", 300, run);
            size_t n = rates(&r, &rec, 2, x, MOST);
            for (size_t i = 0; i < n; i++) {
                assert_true(x[i] > 0.52 && x[i] < 1.03);
                begun += i && x[i] < 0.775 && x[i - 1] >= 0.775;
                slow += (1 - x[i]) / x[i]; /* of samples that last as long as they are slow */
                all += (1 - 0.55) / x[i];
            }
            slow_at_100 += x[400] < 0.6;
            /* the clock does not mind */
            assert_true(fabs(rig_sample(&r, &rec, rec.n - 1).ghz - 2.8) < 0.005);
        }
        rig_close(&r);
        /* of 300 repetitions of independent phase: 4 standard deviations */
        double sigma = sqrt(shares[k] * (1 - shares[k]) / RUNS);
        assert_true(fabs(slow_at_100 / RUNS - shares[k]) < 4 * sigma);
        assert_true(fabs(slow / all - shares[k]) < 4 * sigma);
        /* one in 500 us; of pauses shorter than a sample some are not seen */
        double bursts = RUNS * 300.0 / 500;
        assert_true(fabs(begun - bursts) < 4 * sqrt(bursts));
    }
}

TEST(a_sibling_in_lockstep_is_always_in_the_same_place)
{
    enum { MOST = 8000 };
    struct model m;
    struct rig r;
    quiet(&m);
    m.scenario.sibling = (struct model_sibling){.share = 0.6, .period_us = 250, .factor = 0.5, .lockstep = true};
    rig_open(&r, &m, 0, 1, 3);
    double first[MOST], x[MOST];
    struct recording rec = rig_switch(&r, "64add", "128fma", 1000, 0);
    size_t n = rates(&r, &rec, 2, first, MOST);
    double slow = 0, fast = 0;
    for (unsigned run = 1; run < 20; run++) {
        rec = rig_switch(&r, "64add", "128fma", 1000, run);
        assert_int_equal(rates(&r, &rec, 2, x, MOST), n);
        for (size_t i = 0; i < n; i++)
            assert_true(fabs(x[i] - first[i]) < 0.02);
    }
    for (size_t i = 0; i < n; i++) {
        slow += first[i] < 0.75;
        fast += first[i] >= 0.75;
    }
    assert_true(fabs(2 * slow / (2 * slow + fast) - 0.6) < 0.02); /* of the time: slow samples take twice as long */
    rig_close(&r);
}

/* ---- the clock ---- */

/* Mean frequency of a repetition relative to the nominal one. */
static double mean_step(const struct rig *r, const struct recording *rec, double ghz)
{
    const uint64_t *a = rec->words + rec->zero_reading * rec->stride, *b = rec->words + (rec->n - 1) * rec->stride;
    return (double)(b[RIG_CYCLES] - a[RIG_CYCLES]) / (double)(b[RIG_TSC] - a[RIG_TSC]) * r->tsc_hz * 1e-9 / ghz - 1;
}

TEST(a_frequency_wanders)
{
    enum { RUNS = 4000, LAG = 10 };
    struct model m;
    struct rig r;
    quiet(&m);
    m.scenario.wander = (struct model_wander){.sigma = {0.01, 0}, .us = {100e3, 0}};
    m.scenario.gap_us = 10e3 - 1100; /* a repetition each 10 ms: LAG of them are a time constant */
    rig_open(&r, &m, 0, 5, 3);
    double *x = malloc(RUNS * sizeof *x), sum = 0, squares = 0, lagged = 0;
    assert_non_null(x);
    for (unsigned run = 0; run < RUNS; run++) {
        if (run == RUNS / 2) { /* another cell of a table: the processor has not changed meanwhile */
            struct machine_error err;
            assert_int_equal(r.machine.ops->prepare(&r.machine, &r.setup, &err), MACHINE_OK);
        }
        struct recording rec = rig_switch(&r, "64add", run % 2 ? "128fma" : "64fma", 100, run % (RUNS / 2));
        x[run] = mean_step(&r, &rec, 2.8);
        sum += x[run];
        squares += x[run] * x[run];
        lagged += run >= LAG ? x[run] * x[run - LAG] : 0;
    }
    rig_close(&r);
    /* 4000 repetitions are 200 independent values: 5 % in the deviation, sigma / 14 in the mean */
    assert_true(fabs(sum / RUNS) < 4 * 0.01 / 14);
    assert_true(fabs(sqrt(squares / RUNS) / 0.01 - 1) < 0.2);
    assert_true(fabs(lagged / squares - exp(-1)) < 0.25);
    assert_true(fabs(x[RUNS / 2] - x[RUNS / 2 - 1]) < 0.01 * 4 * sqrt(2 * (1 - exp(-0.1))));
    free(x);
}

TEST(a_frequency_wanders_within_a_repetition)
{
    enum { LAG = 400 };
    struct model m;
    struct rig r;
    quiet(&m);
    m.scenario.wander = (struct model_wander){.sigma = {0, 0.02}, .us = {0, 2e3}};
    rig_open(&r, &m, 0, 10, 3);
    double squares = 0, steps = 0;
    size_t n = 0;
    for (unsigned run = 0; run < 20; run++) {
        struct recording rec = rig_switch(&r, "64add", "128fma", 20000, run);
        for (size_t i = rec.zero_reading + 1; i + LAG < rec.n; i++, n++) {
            double now = rig_sample(&r, &rec, i).ghz / 2.8 - 1, later = rig_sample(&r, &rec, i + LAG).ghz / 2.8 - 1;
            squares += now * now;
            steps += (later - now) * (later - now);
        }
    }
    rig_close(&r);
    /* samples 1 ms apart: E (step^2) = 2 sigma^2 (1 - exp(-1/2)); 400 ms hold 200 time constants */
    assert_true(fabs(sqrt(squares / (double)n) / 0.02 - 1) < 0.2);
    assert_true(fabs(steps / squares / (2 * (1 - exp(-0.5))) - 1) < 0.3);
}

TEST(limits_slow_some_repetitions)
{
    enum { RUNS = 600 };
    struct model m;
    struct rig r;
    quiet(&m);
    m.scenario.limit_share = 0.34;
    m.scenario.limit_factor = 0.95;
    rig_open(&r, &m, 0, 5, 3);
    unsigned slow = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        struct recording rec = rig_switch(&r, "64add", "128fma", 100, run);
        double x = mean_step(&r, &rec, 2.8);
        assert_true(fabs(x) < 1e-3 || fabs(x + 0.05) < 1e-3);
        slow += x < -0.025;
    }
    rig_close(&r);
    assert_true(fabs((double)slow / RUNS - 0.34) < 4 * sqrt(0.34 * 0.66 / RUNS));
}

/* ---- lost time ---- */

TEST(an_smi_is_seen_by_nobody)
{
    enum { RUNS = 400 };
    struct model m;
    struct rig r;
    quiet(&m);
    m.scenario.smi_rate_hz = 500;
    m.scenario.smi_min_us = 20;
    m.scenario.smi_max_us = 300;
    rig_open(&r, &m, 0, 1, 3);
    double lost = 0, all = 0, longest = 0;
    unsigned found = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        struct recording rec = rig_switch(&r, "64add", "128fma", 1000, run);
        assert_int_equal(rec.involuntary_switches, 0);
        for (size_t i = rec.zero_reading + 1; i < rec.n; i++) {
            struct rig_sample s = rig_sample(&r, &rec, i);
            const uint64_t *now = rec.words + i * rec.stride, *before = now - rec.stride;
            double gap = s.end - s.begin - s.cycles / 2800, ref = (double)(now[RIG_REF] - before[RIG_REF]);
            /* counted cycles, reference cycles and instructions stood still alike */
            assert_true(fabs(ref / r.tsc_hz * 1e6 - s.cycles / 2800) < 0.003);
            assert_true(fabs(s.ipc - 2) < 0.02);
            if (gap > 1) {
                lost += gap;
                found++;
                longest = fmax(longest, gap);
            }
        }
        all += 1000;
    }
    rig_close(&r);
    assert_true(longest < 301 && found > 100);
    assert_true(fabs(lost / found - 160) < 4 * 81 / sqrt(found));
    assert_true(fabs(found / (all - lost) * 1e6 / 500 - 1) < 4 / sqrt(found));
}

/* Event 28H where it counts for the core: in interrupt handlers, too, where the thread's own counters stand still. */
TEST(licenses_of_the_core_count_in_handlers)
{
    struct model m;
    struct rig r;
    rig_load("xeon-gold-6130", &m);
    struct model_interrupt timer = m.interrupts[0];
    for (int of_core = 0; of_core < 2; of_core++) {
        rig_silence(&m);
        m.n_interrupts = 1;
        m.interrupts[0] = timer;
        m.interrupts[0].rate_hz = 5000;
        m.interrupts[0].min_us = m.interrupts[0].max_us = 20;
        m.licenses_of_core = of_core;
        rig_open(&r, &m, 0, 1, 3);
        struct recording rec = rig_switch(&r, "64add", "128fma", 20000, 1);
        const uint64_t *a = rec.words, *b = rec.words + (rec.n - 1) * rec.stride;
        double share = (double)(b[RIG_LVL0] - a[RIG_LVL0]) / (double)(b[RIG_CYCLES] - a[RIG_CYCLES]);
        /* 5000 times 20 us a second beside the rest: 1 / 0.9 */
        assert_true(of_core ? share > 1.05 && share < 1.2 : fabs(share - 1) < 1e-3);
        rig_close(&r);
    }
}

/* ---- from repetition to repetition ---- */

static double first_ghz(struct rig *r, const char *kernel, unsigned repetition)
{
    struct segment segments[1] = {{rig_payload(kernel), 100, true}};
    struct run_request request = {.segments = segments, .n_segments = 1, .zero_segment = 0, .repetition = repetition};
    struct recording rec;
    struct machine_error err;
    if (r->machine.ops->run(&r->machine, &request, &rec, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    return rig_sample(r, &rec, 5).ghz;
}

TEST(repetitions_follow_each_other)
{
    struct model m;
    struct rig r;
    quiet(&m);
    for (int carries = 0; carries < 2; carries++) {
        for (int late = 0; late < 2; late++) {
            m.scenario.carries = carries;
            m.scenario.gap_us = late ? 900 : 200; /* the wait is 670 us */
            rig_open(&r, &m, 0, 1, 3);
            struct recording rec = rig_switch(&r, "128fma", "512fma", 300, 0);
            uint64_t ended = rec.words[(rec.n - 1) * rec.stride];
            double ghz = first_ghz(&r, "64add", 0);
            assert_true(fabs(ghz - (carries && !late ? 1.9 : 2.8)) < 0.01);
            rec = rig_switch(&r, "128fma", "512fma", 300, 0); /* the same number: not the same time */
            if (carries)
                assert_true(rec.words[0] > ended);
            rig_close(&r);
        }
    }
}

TEST(readings_are_stamped)
{
    struct model m;
    struct rig r;
    struct machine_error err;
    struct recording rec;
    uint64_t value;
    quiet(&m);
    m.stamps_volts = false;
    rig_open(&r, &m, 0, 1, 3);
    assert_null(r.machine.ops->register_tsc);
    rig_close(&r);
    m.stamps_volts = true;
    m.read_delay_us = 3;
    rig_open(&r, &m, 0, 1, 3);
    /* the payload ends after 25 us, in the middle of the first halt, from 20 to 30 us: the reading waits for its end */
    static const double ends[] = {10, 25, 40}, stamps[] = {13, 33, 43}, volts[] = {0.88, 0.82, 0.82};
    for (size_t i = 0; i < 3; i++) {
        struct segment segments[2] = {{rig_payload("128fma"), 1000, false}, {rig_payload("512fma"), ends[i], false}};
        struct run_request request = {.segments = segments, .n_segments = 2, .zero_segment = 1};
        assert_int_equal(r.machine.ops->run(&r.machine, &request, &rec, &err), MACHINE_OK);
        assert_int_equal(r.machine.ops->read_register(&r.machine, 0x198, &value, &err), MACHINE_OK);
        double us = (double)(int64_t)(r.machine.ops->register_tsc(&r.machine) - rec.zero_tsc) / m.tsc_hz * 1e6;
        if (fabs(us - stamps[i]) > 0.2 || fabs((double)(value >> 32 & 0xffff) / 8192 - volts[i]) > 2e-4)
            fail_msg("%g us: %g us, %g V", ends[i], us, (double)(value >> 32 & 0xffff) / 8192);
    }
    rig_close(&r);
}

/* ---- licenses ---- */

static double time_of_first_slow(const struct rig *r, const struct recording *rec, double below)
{
    for (size_t i = rec->zero_reading + 1; i < rec->n; i++) {
        struct rig_sample s = rig_sample(r, rec, i);
        if (s.ghz < below && s.end - s.begin < 1.2)
            return s.begin;
    }
    return NAN;
}

/* Short, dense 512-bit multiplies request the AVX2 level only (Gottschlag's dissertation, section 3.2.1). */
TEST(one_kernel_may_need_less)
{
    struct model m;
    struct rig r;
    quiet(&m);
    struct model_demand *d = &m.demands[m.n_demands++];
    *d = (struct model_demand){.width = 512,
                               .weight = KERNEL_HEAVY,
                               .kernel = "512fmaadd",
                               .rate = 0.5,
                               .count = 200000,
                               .class_ = (unsigned)model_class_index(&m, "heavy512"),
                               .below = (unsigned)model_class_index(&m, "light512")};
    rig_open(&r, &m, 0, 1, 3);
    struct recording rec = rig_switch(&r, "128fma", "512fma", 200, 0);
    assert_true(fabs(rig_sample(&r, &rec, rec.n - 1).ghz - 1.9) < 0.01);
    rec = rig_switch(&r, "128fma", "512fmaadd", 35, 0); /* 200000 of them take 42 us at 2.4 GHz and 2 a cycle */
    assert_true(fabs(rig_sample(&r, &rec, rec.n - 1).ghz - 2.4) < 0.01);
    rec = rig_switch(&r, "128fma", "512fmaadd", 200, 0);
    assert_true(fabs(rig_sample(&r, &rec, rec.n - 1).ghz - 1.9) < 0.01);
    rig_close(&r);
}

/* On Sapphire Rapids 512-bit code needs the slowest class only with loads from L3. Here: 256-bit multiply-adds, which
 * with operands from L1 need what those on registers need, or what is said of themselves. */
TEST(operands_from_a_level_may_need_more)
{
    static const struct {
        const char *kernel;
        double ghz;
    } cases[] = {{"256fma@l3", 1.9},       {"256fma@l3@1/2", 1.9}, {"256fma@l2", 2.4}, {"256fma@ram", 2.4},
                 {"256fma@l3-dirty", 1.9}, {"256fma@mem", 2.4},    {"256fma", 2.4},    {"256load@l3", 2.8}};
    struct model m;
    struct rig r;
    quiet(&m);
    /* the order in which they are given does not matter */
    m.demands[m.n_demands++] = (struct model_demand){.width = 256,
                                                     .weight = KERNEL_HEAVY,
                                                     .kernel = "256fma@l3",
                                                     .count = 1,
                                                     .class_ = (unsigned)model_class_index(&m, "heavy512")};
    m.demands[m.n_demands++] = (struct model_demand){.width = 256,
                                                     .weight = KERNEL_HEAVY,
                                                     .kernel = "256fma",
                                                     .count = 1,
                                                     .class_ = (unsigned)model_class_index(&m, "light512")};
    rig_open(&r, &m, 0, 1, 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recording rec = rig_switch(&r, "128or", cases[i].kernel, 200, 0);
        if (!(fabs(rig_sample(&r, &rec, rec.n - 1).ghz - cases[i].ghz) < 0.01))
            fail_msg("%s: %g GHz", cases[i].kernel, rig_sample(&r, &rec, rec.n - 1).ghz);
    }
    rig_close(&r);
}

TEST(trigger_counts_scatter)
{
    enum { RUNS = 400 };
    struct model m;
    struct rig r;
    quiet(&m);
    for (size_t i = 0; i < m.n_demands; i++)
        if (m.demands[i].width == 256 && m.demands[i].weight == KERNEL_HEAVY) {
            m.demands[i].count = 300000; /* 53.6 us of 256fma at 2.8 GHz, after 15 lost by throttling for 20 */
            m.demands[i].count_sigma = 0.2;
        }
    rig_open(&r, &m, 0, 1, 3);
    double sum = 0, squares = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        struct recording rec = rig_switch(&r, "128fma", "256fma", 400, run);
        double us = time_of_first_slow(&r, &rec, 2.6);
        assert_false(isnan(us));
        sum += us;
        squares += us * us;
    }
    rig_close(&r);
    double mean = sum / RUNS, sigma = sqrt(squares / RUNS - mean * mean);
    /* then 21.9 us at 1/4, 21.9 at 1/2 and a halt of 10 */
    assert_true(fabs(mean - (53.6 + 15 + 53.8)) < 1 + 4 * 0.2 * 53.6 / sqrt(RUNS));
    assert_true(fabs(sigma / (0.2 * 53.6) - 1) < 0.15);
}

/* ---- energy ---- */

static double watts(const struct model *m, const char *kernel)
{
    struct rig r;
    struct machine_error err;
    struct energy_reading before, after;
    rig_open(&r, m, 2, 1, 3);
    r.setup.corunner = rig_payload(kernel);
    assert_int_equal(r.machine.ops->prepare(&r.machine, &r.setup, &err), MACHINE_OK);
    struct segment segments[1] = {{rig_payload(kernel), 100000, false}};
    struct run_request request = {.segments = segments, .n_segments = 1};
    struct recording rec;
    assert_int_equal(r.machine.ops->read_energy(&r.machine, &before, NULL, &err), MACHINE_OK);
    assert_int_equal(r.machine.ops->run(&r.machine, &request, &rec, &err), MACHINE_OK);
    assert_int_equal(r.machine.ops->read_energy(&r.machine, &after, NULL, &err), MACHINE_OK);
    rig_close(&r);
    return (after.joules - before.joules) / (after.seconds - before.seconds) - m->idle_watts;
}

TEST(corunners_follow_boosts)
{
    struct model m;
    quiet(&m);
    m.n_boosts = 1;
    m.boosts[0] = (struct model_boost){
        .from = 0, .to = (unsigned)model_class_index(&m, "heavy512"), .cores = {1, 16}, .volts = 0.08};
    double v = model_volts(&m, 3.5), one = 3.5 * (m.cycle_nj + 2 * 1.406861); /* watts at 1 V */
    double boosted = (v + 0.08) * (v + 0.08), plain = v * v;
    assert_true(m.corunners_boosted);
    assert_true(fabs(watts(&m, "512fma") / (one * 2 * boosted) - 1) < 2e-3);
    m.corunners_boosted = false;
    assert_true(fabs(watts(&m, "512fma") / (one * (boosted + plain)) - 1) < 2e-3);
}

/* ---- reading it from files ---- */

/* A shipped model with something appended. */
static int parse_with(const char *more, struct model *m, struct machine_error *err)
{
    size_t length;
    char *text = model_text("xeon-gold-6130", "data", &length), *all;
    assert_non_null(text);
    assert_true(asprintf(&all, "%.*s\n%s", (int)length, text, more) > 0);
    int status = model_parse(all, strlen(all), "test.model", m, err);
    free(text);
    free(all);
    return status;
}

TEST(surroundings_are_read)
{
    struct model m;
    struct machine_error err;
    int status = parse_with("[sibling]\nshare = 0.6 # t\nperiod_us = 400 # t\nfactor = 0.55 # t\nlockstep = yes # t\n"
                            "[wander]\nslow_sigma = 0.01 # t\nslow_us = 1.2e8 # t\nfast_sigma = 0.002 # t\n"
                            "fast_us = 3000 # t\n"
                            "[limit]\nshare = 0.34 # t\nfactor = 0.95 # t\n"
                            "[smi]\nrate_hz = 1 # t\nmin_us = 20 # t\nmax_us = 300 # t\n"
                            "[cold]\nus = 0.8 # t\nfactor = 0.6 # t\n"
                            "[repetition]\ncarry = yes # t\ngap_us = 1000 # t\n"
                            "[demand 512 heavy 512fmaadd]\nclass = heavy512 # t\nrate = 1/2 # t\ncount = 5000 # t\n"
                            "below = light512 # t\n"
                            "[demand 512 heavy 512FMA@L3]\nclass = heavy512 # t\n",
                            &m, &err);
    if (status != MACHINE_OK)
        fail_msg("%s", err.text);
    assert_true(m.scenario.sibling.lockstep && m.scenario.sibling.share == 0.6 && m.scenario.sibling.period_us == 400);
    assert_true(m.scenario.wander.us[0] == 1.2e8 && m.scenario.wander.sigma[1] == 0.002);
    assert_true(m.scenario.limit_share == 0.34 && m.scenario.limit_factor == 0.95 && m.scenario.smi_max_us == 300);
    assert_true(m.scenario.cold_us == 0.8 && m.scenario.cold_factor == 0.6 && m.scenario.carries &&
                m.scenario.gap_us == 1000);
    assert_string_equal(m.demands[m.n_demands - 2].kernel, "512fmaadd");
    assert_string_equal(m.demands[m.n_demands - 1].kernel, "512fma@l3");
}

TEST(wrong_surroundings_are_refused)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"[sibling]\nshare = 1 # t\n", "share: 1 is out of range; 0 to 0.99"},
        {"[sibling]\nshare = 0.2 # t\n", "period_us: missing in section [sibling]"},
        {"[wander]\nslow_sigma = 0.01 # t\n", "missing in section [wander]; slow_sigma and slow_us are given together"},
        {"[wander]\nfast_us = 1000 # t\n", "fast_sigma: missing"},
        {"[limit]\nshare = 0.3 # t\nfactor = 0 # t\n", "factor: 0 is out of range"},
        {"[smi]\nrate_hz = 1 # t\nmin_us = 30 # t\nmax_us = 20 # t\n", "max_us: 20 is less than min_us, 30"},
        {"[smi]\nrate_hz = 9000 # t\nmin_us = 100 # t\nmax_us = 100 # t\n", "90 % of the time"},
        {"[cold]\nus = 1 # t\n", "factor: missing in section [cold]"},
        {"[demand 512 heavy 512fma-lat]\nclass = heavy512 # t\n", "not the name of a kernel without suffixes"},
        {"[demand 512 heavy 512fma@l3@1/8]\nclass = heavy512 # t\n", "without suffixes, like 512mul, or with @"},
        {"[demand 512 heavy 512fma@l4]\nclass = heavy512 # t\n", "only load and fma of 128 bits and more have @l2"},
        {"[demand 512 light 512fma@l3]\nclass = heavy512 # t\n", "[demand 512 heavy 512fma@l3] would work"},
        {"[sibling]\nshare = 0.2\n", "has no source"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model m;
        struct machine_error err;
        assert_int_equal(parse_with(cases[i].text, &m, &err), MACHINE_BAD_INPUT);
        if (!strstr(err.text, cases[i].why))
            fail_msg("%s: %s", cases[i].text, err.text);
    }
}

TEST(decay_is_that_of_the_library)
{
    for (double x = 1e-9; x < 600; x *= 1.01)
        assert_true(fabs(model_decay(x) / exp(-x) - 1) < 1e-10);
    assert_true(model_decay(0) == 1);
    assert_true(model_decay(INFINITY) == 0);
}
