/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine of a modelled CPU: sampling, counters, registers, what it refuses, and that a seed settles all of it. */
#include <time.h>

#include "drivers/rated_limits.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

static struct model loaded(const char *name)
{
    struct model m;
    rig_load(name, &m);
    return m;
}

static uint64_t *copied(const struct recording *rec)
{
    size_t bytes = rec->n * rec->stride * sizeof *rec->words;
    uint64_t *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, rec->words, bytes);
    return copy;
}

TEST(same_seed_same_bytes)
{
    struct model m = loaded("xeon-gold-6130");
    struct rig a, b;
    rig_open(&a, &m, 0, 1, 42);
    rig_open(&b, &m, 0, 1, 42);
    /* b has not run the repetitions before, and one of them was another pair */
    for (uint64_t i = 0; i < 5; i++)
        rig_switch(&a, "128fma", i == 3 ? "256or" : "512fma", 300, i);
    struct recording one = rig_switch(&a, "512fma", "128fma", 1500, 7);
    struct recording two = rig_switch(&b, "512fma", "128fma", 1500, 7);
    assert_int_equal(one.n, two.n);
    assert_int_equal(one.zero_tsc, two.zero_tsc);
    assert_memory_equal(one.words, two.words, one.n * one.stride * sizeof *one.words);
    rig_close(&a);
    rig_close(&b);
}

TEST(another_seed_or_repetition_differs)
{
    struct model m = loaded("xeon-gold-6130");
    struct rig a, b;
    rig_open(&a, &m, 0, 1, 1);
    rig_open(&b, &m, 0, 1, 2);
    struct recording rec = rig_switch(&a, "128fma", "512fma", 100, 0);
    size_t n = rec.n, size = n * rec.stride * sizeof *rec.words;
    uint64_t *first = copied(&rec);
    rec = rig_switch(&b, "128fma", "512fma", 100, 0);
    assert_true(rec.n != n || memcmp(first, rec.words, size) != 0);
    rec = rig_switch(&a, "128fma", "512fma", 100, 1);
    assert_true(rec.n != n || memcmp(first, rec.words, size) != 0);
    free(first);
    rig_close(&a);
    rig_close(&b);
}

/* Samples of one kernel hold the same work; the first of the next begins where its segment does. */
TEST(samples_hold_the_same_work)
{
    struct model m = loaded("generic-no-licence");
    struct rig r;
    rig_silence(&m);
    rig_open(&r, &m, 0, 1, 1);
    struct segment segments[4] = {{rig_payload("64add"), 200, false},
                                  {rig_payload("128fma"), 40, true},
                                  {rig_payload("64add"), 60, true},
                                  {rig_payload("128fma"), 20, true}};
    struct run_request request = {.segments = segments, .n_segments = 4, .zero_segment = 2};
    struct recording rec;
    struct machine_error err;
    assert_int_equal(r.machine.ops->run(&r.machine, &request, &rec, &err), MACHINE_OK);
    assert_int_equal(rec.words[rec.zero_reading * rec.stride], rec.zero_tsc);
    double us = 1e6 / m.tsc_hz, begin[] = {-40, 0, 60}, work = 0;
    unsigned kernels = 0;
    for (size_t i = 1; i < rec.n; i++) {
        struct rig_sample s = rig_sample(&r, &rec, i);
        double own = (double)(recording_at(&rec, i)[RIG_PAYLOAD] - recording_at(&rec, i - 1)[RIG_PAYLOAD]);
        assert_true(s.end - s.begin > 0.2 && s.end - s.begin < 0.3);
        if (own == work)
            continue;
        assert_true(kernels < 3 && fabs(s.begin - begin[kernels]) < 0.3 + us);
        work = own;
        kernels++;
    }
    assert_int_equal(kernels, 3);
    assert_in_range(rec.n, 4 * 120 - 30, 4 * 120 + 10);
    rig_close(&r);
}

/* A burst of so many blocks has these and no more, throttled or not, sampled or not. */
TEST(bursts_have_so_many_blocks)
{
    struct model m = loaded("xeon-gold-6130");
    struct rig r;
    rig_silence(&m);
    rig_open(&r, &m, 0, 1, 1);
    const struct payload plain = rig_payload("64add"), wide = rig_payload("512fma");
    static const uint64_t counts[] = {1, 2, 7, 30, 1000};
    for (size_t i = 0; i < 2 * sizeof counts / sizeof *counts; i++) {
        const uint64_t blocks = counts[i / 2];
        const bool sampled = i % 2 > 0;
        const struct segment segments[] = {
            {plain, 200, sampled}, {.payload = wide, .sampled = sampled, .blocks = blocks}, {plain, 50, true}};
        const struct run_request request = {.segments = segments, .n_segments = 3, .zero_segment = 2, .repetition = i};
        struct recording rec;
        struct machine_error err;
        assert_int_equal(r.machine.ops->run(&r.machine, &request, &rec, &err), MACHINE_OK);
        if (!sampled) { /* all that ran before is in the count */
            const uint64_t before = rec.words[rec.zero_reading * rec.stride + RIG_PAYLOAD];
            assert_true(before > blocks * wide.instructions);
            assert_int_equal((before - blocks * wide.instructions) % plain.instructions, 0);
            continue;
        }
        uint64_t burst = 0;
        for (size_t k = rec.zero_reading; k > 0 && burst < blocks * wide.instructions; k--)
            burst += recording_at(&rec, k)[RIG_PAYLOAD] - recording_at(&rec, k - 1)[RIG_PAYLOAD];
        assert_int_equal(burst, blocks * wide.instructions);
    }
    rig_close(&r);
}

TEST(time_that_is_lost_is_not_made_up_for)
{
    struct model m = loaded("xeon-gold-6130");
    struct rig r;
    rig_silence(&m);
    rig_open(&r, &m, 0, 2, 1);
    /* at this period and frequency a chunk ends exactly when the halt begins */
    struct recording exact = rig_switch(&r, "512or", "128fma", 800, 0);
    for (size_t i = exact.zero_reading + 1; i < exact.n; i++) {
        struct rig_sample s = rig_sample(&r, &exact, i);
        assert_true(s.end < 670.2 || s.end > 680);
    }
    rig_close(&r);
    rig_open(&r, &m, 0, 1, 1);
    struct recording rec = rig_switch(&r, "128fma", "512fma", 100, 0);
    unsigned halts = 0;
    for (size_t i = rec.zero_reading + 1; i < rec.n; i++) {
        struct rig_sample s = rig_sample(&r, &rec, i);
        double us = s.end - s.begin;
        if (us > 5) {
            halts++;
            assert_in_range((unsigned)(us * 10), 98, 118);
        } else {
            assert_true(i == rec.zero_reading + 1 || us > 0.2);
        }
    }
    assert_int_equal(halts, 2);
    rig_close(&r);
}

/* lvl0 + lvl1 + lvl2 = cycles, the frequency that of the file, no cycles while halted. */
TEST(counters_are_conserved)
{
    struct model m = loaded("xeon-gold-6130");
    struct rig r;
    rig_silence(&m);
    rig_open(&r, &m, 0, 1, 1);
    struct recording rec = rig_switch(&r, "128fma", "512fma", 400, 0);
    const uint64_t *first = rec.words;
    for (size_t i = 1; i < rec.n; i++) {
        const uint64_t *w = rec.words + i * rec.stride;
        uint64_t levels = w[RIG_LVL0] + w[RIG_LVL1] + w[RIG_LVL2];
        assert_in_range(levels, w[RIG_CYCLES] - 3, w[RIG_CYCLES]);
        assert_true(w[RIG_THROTTLE] <= w[RIG_CYCLES]);
        double ticks = (double)(w[RIG_TSC] - first[RIG_TSC]), ref = (double)(w[RIG_REF] - first[RIG_REF]);
        assert_true(ref <= ticks + 2);
        for (size_t k = 0; k < rec.stride; k++)
            assert_true(w[k] >= w[k - rec.stride]);
    }
    const uint64_t *last = rec.words + (rec.n - 1) * rec.stride;
    double ticks = (double)(last[RIG_TSC] - first[RIG_TSC]), ref = (double)(last[RIG_REF] - first[RIG_REF]);
    assert_true(fabs((ticks - ref) / m.tsc_hz * 1e6 - 20) < 0.01);
    for (size_t i = 1; i < rec.n; i++) {
        struct rig_sample s = rig_sample(&r, &rec, i);
        if (s.end < 0)
            assert_true(fabs(s.ghz / 2.8 - 1) < 0.003);
        if (s.begin > 70)
            assert_true(fabs(s.ghz / 1.9 - 1) < 0.003);
    }
    rig_close(&r);
}

TEST(instructions_are_exact)
{
    struct model m = loaded("generic-no-licence");
    struct payload p = rig_payload("256fma");
    struct rig r;
    rig_silence(&m);
    rig_open(&r, &m, 0, 1, 1);
    struct recording rec = rig_switch(&r, "256fma", "256fma", 100, 0);
    for (size_t i = 0; i < rec.n; i++) {
        const uint64_t *w = rec.words + i * rec.stride;
        assert_int_equal(w[RIG_PAYLOAD] % p.instructions, 0);
        uint64_t blocks = w[RIG_PAYLOAD] / p.instructions;
        assert_int_equal(w[RIG_INSTRUCTIONS], w[RIG_PAYLOAD] + 2 * blocks);
    }
    rig_close(&r);
}

/* Gottschlag's dissertation, table 3.2: the single bits of event 28H, and 01H and 80H, which count nothing. */
TEST(each_umask_bit_counts_its_class)
{
    static const char *const kernels[] = {"128fma", "256or", "256fma", "512or", "512fma"};
    static const unsigned masks[] = {0x02, 0x04, 0x08, 0x10, 0x20, 0x07, 0x18, 0x40, 0x01, 0x80, 0x3f};
    enum { MASKS = sizeof masks / sizeof *masks };
    struct model m = loaded("xeon-gold-6130");
    struct machine machine;
    struct machine_error err;
    struct counter_spec counters[MASKS + 1] = {{COUNTER_CYCLES, 0}};
    rig_silence(&m);
    for (size_t i = 0; i < MASKS; i++)
        counters[1 + i] = (struct counter_spec){COUNTER_EVENT, masks[i] << 8 | 0x28};
    assert_int_equal(machine_open_parsed_model(&m, "model:x", &machine, &err), MACHINE_OK);
    struct machine_setup setup = {
        .cpu = -1, .period_us = 1, .counters = counters, .n_counters = MASKS + 1, .max_samples = 1000};
    assert_int_equal(machine.ops->prepare(&machine, &setup, &err), MACHINE_OK);
    for (size_t k = 0; k < 5; k++) {
        struct segment segments[2] = {{rig_payload(kernels[k]), 1000, false}, {rig_payload(kernels[k]), 100, true}};
        struct run_request request = {.segments = segments, .n_segments = 2, .zero_segment = 1};
        struct recording rec;
        assert_int_equal(machine.ops->run(&machine, &request, &rec, &err), MACHINE_OK);
        const uint64_t *a = rec.words + 2, *b = rec.words + (rec.n - 1) * rec.stride + 2;
        for (size_t i = 0; i < MASKS; i++) {
            double share = (double)(b[1 + i] - a[1 + i]) / (double)(b[0] - a[0]);
            bool counted = masks[i] & (2u << k);
            if (fabs(share - counted) > 1e-4)
                fail_msg("%s, umask %02XH: share %.4f", kernels[k], masks[i], share);
        }
    }
    machine.ops->close(&machine);
}

TEST(throttle_is_counted_while_a_level_is_pending)
{
    struct model m = loaded("xeon-gold-6130");
    struct rig r;
    rig_silence(&m);
    rig_open(&r, &m, 0, 0.5, 1);
    struct recording rec = rig_switch(&r, "128fma", "256or", 60, 0);
    for (size_t i = 1; i < rec.n; i++) {
        struct rig_sample s = rig_sample(&r, &rec, i);
        if (s.end <= 0 || s.begin > 20.1)
            assert_true(s.throttle < 0.001 && fabs(s.ipc - (s.end <= 0 ? 2 : 3)) < 0.01);
        else if (s.begin >= 0 && s.end < 20)
            assert_true(fabs(s.throttle - 1) < 0.001 && fabs(s.ipc - 0.75) < 0.006);
        assert_true(fabs(s.ghz / 2.8 - 1) < 0.01); /* time stamps are whole ticks */
    }
    rig_close(&r);
}

/* ---- registers ---- */

static uint64_t reg(struct rig *r, uint32_t number)
{
    uint64_t value = 0;
    struct machine_error err;
    if (r->machine.ops->read_register(&r->machine, number, &value, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    return value;
}

TEST(registers_tell_ratios_and_voltage)
{
    struct model m = loaded("xeon-gold-6130");
    struct machine_error err;
    struct rig r;
    uint64_t value;
    rig_silence(&m);
    rig_open(&r, &m, 16, 1, 1);
    assert_int_equal(reg(&r, 0xce), 21 << 8);
    assert_int_equal(reg(&r, 0x1ad), UINT64_C(0x1c1c1c1c1f222325));
    assert_int_equal(reg(&r, 0x1ae), UINT64_C(0x101010100c080402));
    rig_switch(&r, "128fma", "512fma", 100, 0);
    assert_int_equal(reg(&r, 0x198) >> 8 & 0xff, 19);
    assert_int_equal(reg(&r, 0x198) >> 32 & 0xffff, lround(0.75 * 8192));
    rig_switch(&r, "128fma", "512fma", 15, 0);
    assert_int_equal(reg(&r, 0x198) >> 32 & 0xffff, lround(0.88 * 8192));
    assert_int_equal(r.machine.ops->read_register(&r.machine, 0x123, &value, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "no such MSR: 123H"));
    rig_close(&r);
    m = loaded("core-i9-11900k");
    rig_open(&r, &m, 1, 1, 1);
    assert_int_equal(reg(&r, 0x1ad), UINT64_C(0x3030313133333333));
    assert_int_equal(r.machine.ops->read_register(&r.machine, 0x1ae, &value, &err), MACHINE_CANNOT);
    rig_close(&r);
    m = loaded("generic-no-licence");
    rig_open(&r, &m, 1, 1, 1);
    assert_int_equal(r.machine.ops->read_register(&r.machine, 0x1ad, &value, &err), MACHINE_CANNOT);
    rig_close(&r);
}

/* A table for each level that the model has; what would be after the last is left as it was. */
TEST(speed_select_has_a_table_for_each_level)
{
    for (size_t n = 1; n <= MODEL_LEVELS_MAX; n++) {
        struct model m = loaded("xeon-gold-6130");
        struct rated_limits out = {.base_ghz = {NAN, NAN, NAN, NAN}};
        struct machine machine;
        struct machine_error err;
        m.speed_select = true;
        m.n_levels = n;
        assert_int_equal(machine_open_parsed_model(&m, "model:x", &machine, &err), MACHINE_OK);
        assert_int_equal(machine.ops->speed_select(&machine, &out, &err), MACHINE_OK);
        for (size_t level = 0; level < RATED_TABLES_MAX; level++) {
            bool has = level < n, base = has && (n <= RATED_BASES || level != 3); /* of heavy AVX-512 none is stated */
            size_t at = level > RATED_BASES - 1 ? RATED_BASES - 1 : level;
            const char *name = !has ? "" : n > RATED_BASES ? rated_class_names[level] : rated_base_name(level);
            assert_string_equal(out.tables[level].name, name);
            assert_int_equal(out.tables[level].n, has ? m.n_turbo : 0);
            assert_true(out.high[level].n == 0 && out.low_ghz[level] == 0 && !out.by_priority);
            if (base)
                assert_true(out.base_ghz[at] == m.base_ghz[level]);
            else if (level < RATED_BASES && n <= RATED_BASES)
                assert_true(isnan(out.base_ghz[level]));
        }
        machine.ops->close(&machine);
    }
}

TEST(voltage_readings_scatter_by_the_noise)
{
    struct model m = loaded("xeon-gold-6130");
    struct rig r;
    rig_silence(&m);
    m.volts_noise = 0.004;
    rig_open(&r, &m, 16, 1, 1);
    double sum = 0, squares = 0;
    enum { N = 2000 };
    rig_switch(&r, "128fma", "128fma", 10, 0);
    for (int i = 0; i < N; i++) {
        double v = (double)(reg(&r, 0x198) >> 32 & 0xffff) / 8192 - 0.88;
        sum += v;
        squares += v * v;
    }
    assert_true(fabs(sum / N) < 0.0004);
    assert_true(fabs(sqrt(squares / N) - 0.004) < 0.0004);
    rig_close(&r);
}

/* ---- refusals ---- */

static int prepared(const struct model *m, struct machine_setup setup, struct machine_error *err)
{
    struct machine machine;
    assert_int_equal(machine_open_parsed_model(m, "model:x", &machine, err), MACHINE_OK);
    if (setup.period_us == 0)
        setup.period_us = 1;
    int status = machine.ops->prepare(&machine, &setup, err);
    machine.ops->finish(&machine);
    machine.ops->close(&machine);
    return status;
}

TEST(impossible_setups_are_refused)
{
    struct model m = loaded("xeon-gold-6130"), none = loaded("generic-no-licence"), icl = loaded("core-i5-1035g4");
    struct machine_error err;
    assert_int_equal(prepared(&m, (struct machine_setup){.cpu = 15, .active_cores = 16}, &err), MACHINE_OK);
    assert_int_equal(prepared(&m, (struct machine_setup){.cpu = 16}, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "CPUs 0 to 15"));
    assert_int_equal(prepared(&m, (struct machine_setup){.cpu = -2}, &err), MACHINE_BAD_INPUT);
    assert_int_equal(prepared(&m, (struct machine_setup){.active_cores = 17}, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "has 16"));
    assert_int_equal(prepared(&m, (struct machine_setup){.period_us = -1}, &err), MACHINE_BAD_INPUT);
    assert_int_equal(prepared(&m, (struct machine_setup){.period_us = (double)NAN}, &err), MACHINE_BAD_INPUT);
    static const struct counter_spec chain = {COUNTER_CHAIN_CYCLES, 0}, level = {COUNTER_LVL1, 0},
                                     throttle = {COUNTER_THROTTLE, 0}, other = {COUNTER_EVENT, 0x01c0},
                                     wide[] = {{COUNTER_EVENT, 0x1000728}, {COUNTER_EVENT, 0x10728}},
                                     known[] = {{COUNTER_EVENT, 0x0728}, {COUNTER_EVENT, 0xff28}};
    struct machine_setup s = {.n_counters = 1, .counters = &chain};
    assert_int_equal(prepared(&m, s, &err), MACHINE_CANNOT);
    s.counters = &level;
    assert_int_equal(prepared(&m, s, &err), MACHINE_OK);
    assert_int_equal(prepared(&none, s, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "no license events"));
    s.counters = &throttle;
    assert_int_equal(prepared(&icl, s, &err), MACHINE_CANNOT);
    s.counters = &other;
    assert_int_equal(prepared(&m, s, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "C0H/01H"));
    for (size_t i = 0; i < 2; i++) {
        s.counters = &wide[i];
        assert_int_equal(prepared(&m, s, &err), MACHINE_CANNOT);
        assert_non_null(strstr(err.text, i ? "(event code 10728H)" : "(event code 1000728H)"));
        s.counters = &known[i];
        assert_int_equal(prepared(&m, s, &err), MACHINE_OK);
    }
}

TEST(lists_of_cpus)
{
    static const int order[4] = {7, 0, 15, 3}, twice[3] = {7, 0, 7}, beyond[2] = {7, 16}, below[2] = {-1, 3};
    struct model m = loaded("xeon-gold-6130");
    struct machine machine;
    struct machine_error err;
    struct machine_info info;
    struct machine_setup s = {.cpu = -1, .period_us = 1, .cpus = order, .n_cpus = 4, .siblings = true};
    assert_int_equal(prepared(&m, (struct machine_setup){.cpu = -1, .cpus = twice, .n_cpus = 3}, &err),
                     MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "CPU 7 is listed twice");
    assert_int_equal(prepared(&m, (struct machine_setup){.cpu = -1, .cpus = beyond, .n_cpus = 2}, &err),
                     MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "no CPU 16"));
    assert_int_equal(prepared(&m, (struct machine_setup){.cpu = 2, .cpus = below, .n_cpus = 2}, &err),
                     MACHINE_BAD_INPUT);
    s.active_cores = 5;
    assert_int_equal(prepared(&m, s, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "4 of those listed"));
    static const struct {
        int cpu, number;
        unsigned active, all;
    } cases[] = {{-1, 7, 2, 4}, {15, 15, 4, 4}, {2, 2, 5, 5}};
    assert_int_equal(machine_open_parsed_model(&m, "model:x", &machine, &err), MACHINE_OK);
    for (size_t i = 0; i < 3; i++)
        for (int all = 0; all < 2; all++) {
            s.cpu = cases[i].cpu;
            s.active_cores = all ? 0 : cases[i].active;
            assert_int_equal(machine.ops->prepare(&machine, &s, &err), MACHINE_OK);
            machine.ops->info(&machine, &info);
            assert_int_equal(info.cpu_number, cases[i].number);
            assert_int_equal(info.active_cores, all ? cases[i].all : cases[i].active);
        }
    machine.ops->finish(&machine);
    machine.ops->close(&machine);
}

/* The frequency of the last samples of a long run. */
static double settled_ghz(const struct model *m, const char *kernel, unsigned cores, double fixed)
{
    struct rig r;
    struct machine_error err;
    rig_open(&r, m, cores, 10, 1);
    r.setup.fixed_ghz = fixed;
    assert_int_equal(r.machine.ops->prepare(&r.machine, &r.setup, &err), MACHINE_OK);
    struct recording rec = rig_switch(&r, kernel, kernel, 1000, 0);
    double ghz = rig_sample(&r, &rec, rec.n - 2).ghz;
    rig_close(&r);
    return ghz;
}

TEST(a_fixed_frequency_bounds_every_level)
{
    static const char *const kernels[3] = {"128fma", "256fma", "512fma"};
    struct model m = loaded("xeon-gold-6130");
    struct machine_error err;
    rig_silence(&m);
    for (unsigned level = 0; level < 3; level++)
        for (unsigned cores = 1; cores <= 16; cores += 15)
            for (double fixed = 0; fixed < 4; fixed += 1.3) {
                double limit = model_ghz(&m, level, cores);
                double expected = fixed > 0 && fixed < limit ? fixed : limit;
                assert_true(fabs(settled_ghz(&m, kernels[level], cores, fixed) - expected) < 1e-3);
            }
    assert_int_equal(prepared(&m, (struct machine_setup){.fixed_ghz = -1}, &err), MACHINE_BAD_INPUT);
    assert_int_equal(prepared(&m, (struct machine_setup){.fixed_ghz = (double)NAN}, &err), MACHINE_BAD_INPUT);
}

TEST(impossible_runs_are_refused)
{
    struct model m = loaded("core-i7-6700hq");
    struct recording rec;
    struct machine_error err;
    struct rig r;
    rig_open(&r, &m, 0, 1, 1);
    const struct machine_ops *ops = r.machine.ops;
    struct segment s = {rig_payload("512or"), 10, true};
    struct run_request request = {.segments = &s, .n_segments = 1};
    assert_int_equal(ops->run(&r.machine, &request, &rec, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "512or"));
    assert_non_null(strstr(err.text, "avx512f"));
    s.payload = rig_payload("128or");
    request.zero_segment = 1;
    assert_int_equal(ops->run(&r.machine, &request, &rec, &err), MACHINE_BAD_INPUT);
    request.zero_segment = 0;
    static const double never[] = {-1, 1.1e9, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        s.duration_us = never[i];
        assert_int_equal(ops->run(&r.machine, &request, &rec, &err), MACHINE_BAD_INPUT);
        assert_non_null(strstr(err.text, "0 to 1e9 would work"));
    }
    s.duration_us = 0; /* as on silicon: what comes next comes at once */
    assert_int_equal(ops->run(&r.machine, &request, &rec, &err), MACHINE_OK);
    s.duration_us = 300000;
    assert_int_equal(ops->run(&r.machine, &request, &rec, &err), MACHINE_FAILED);
    assert_non_null(strstr(err.text, "more than 40000 samples"));
    s.duration_us = 10;
    assert_int_equal(ops->run(&r.machine, &request, &rec, &err), MACHINE_OK);
    rig_close(&r);
}

TEST(a_hundred_repetitions_take_well_below_half_a_second)
{
    struct model m = loaded("xeon-w-2104");
    struct rig r;
    rig_open(&r, &m, 0, 1, 1);
    clock_t begin = clock();
    for (uint64_t i = 0; i < 100; i++)
        rig_switch(&r, "128fma", "512fma", 1200, i);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
#ifdef __SANITIZE_ADDRESS__
    double limit = 5;
#else
    double limit = 0.5;
#endif
    if (seconds >= limit)
        fail_msg("100 repetitions of 1.2 ms took %.3f s", seconds);
    rig_close(&r);
}

/* Each core by its number, with the label of those that are unlike the others; as many as there are, or fit. */
TEST(which_cores_are_unlike_others)
{
    static struct model m;
    struct machine machine;
    struct machine_error err;
    struct core_kind kinds[20];
    m = loaded("xeon-gold-6130");
    m.unlike[m.n_unlike++] = (struct model_unlike){.cpus = {3, 4}, .factor = 0.9, .label = "slow"};
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), MACHINE_OK);
    assert_int_equal(machine.ops->core_kinds(&machine, false, kinds, 20), 0);
    static const size_t most[] = {0, 1, 4, 15, 16, 17, 20};
    for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
        memset(kinds, 0xff, sizeof kinds);
        size_t n = machine.ops->core_kinds(&machine, true, kinds, most[k]);
        assert_int_equal(n, most[k] < 16 ? most[k] : 16);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(kinds[i].cpu, i);
            assert_string_equal(kinds[i].label, i == 3 || i == 4 ? "slow" : "");
        }
        for (size_t i = n; i < 20; i++)
            assert_int_equal(kinds[i].cpu, -1); /* nothing was written there */
    }
    machine.ops->close(&machine);
}
