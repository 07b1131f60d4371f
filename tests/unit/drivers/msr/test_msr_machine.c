/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading registers, the machine that has them, and what the transition probe makes of readings that fail. */
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/msr/msr_machine.h"
#include "computer/msr/msr_device.h"
#include "computer/cpu/tsc.h"
#include "probes/transition.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

/* ---- registers in memory: those that are not set fault ---- */

enum { REGISTERS = 24 };
struct registers {
    struct {
        uint32_t reg;
        uint64_t value;
    } set[REGISTERS];
    size_t n;
    int open_errno, cpu;
    unsigned reads, closed;
};

static int read_set(struct msr_device *d, uint32_t reg, uint64_t *value)
{
    struct registers *r = d->data;
    r->reads++;
    for (size_t i = 0; i < r->n; i++) {
        if (r->set[i].reg == reg) {
            *value = r->set[i].value;
            return 0;
        }
    }
    return EIO;
}

static void close_set(struct msr_device *d)
{
    ((struct registers *)d->data)->closed++;
}

static int open_set(void *context, int cpu, struct msr_device *out)
{
    struct registers *r = context;
    r->cpu = cpu;
    *out = (struct msr_device){.cpu = cpu, .fd = -1, .data = r, .read = read_set, .close = close_set};
    return r->open_errno;
}

static void put(struct registers *r, uint32_t reg, uint64_t value)
{
    assert_true(r->n < REGISTERS);
    r->set[r->n].reg = reg;
    r->set[r->n++].value = value;
}

static const struct msr_part skylake_sp = {.intel = true, .family = 6, .model = 0x55};

static void put_gold_6130(struct registers *r)
{
    put(r, MSR_PERF_STATUS, UINT64_C(7209) << 32 | 0x1c00);
    put(r, MSR_PLATFORM_INFO, UINT64_C(0x80000001500));
    put(r, MSR_APERF, 2800);
    put(r, MSR_MPERF, 2100);
    put(r, MSR_TURBO_RATIOS, UINT64_C(0x1c1c1c1c1f222325)); /* 3.7 3.5 3.4 3.1 2.8 GHz */
    put(r, MSR_TURBO_RATIOS_1, UINT64_C(0x1010101010080402) + (UINT64_C(12) - 16) * 0x1000000);
    put(r, MSR_THERM_STATUS, 0x88370000);
    put(r, MSR_TEMPERATURE_TARGET, 100 << 16);
    put(r, MSR_RAPL_UNIT, 0xa0e03);
    put(r, MSR_PACKAGE_ENERGY, 12345);
}

/* ---- files ---- */

TEST(test_files_are_read_at_the_offset_of_the_register)
{
    char root[FOLDER_PATH_MAX], path[200];
    struct msr_device d;
    uint64_t value = 0, written = UINT64_C(0x1122334455667788);
    folder_make(root);
    assert_int_equal(msr_device_open(root, 7, &d), ENOENT);
    snprintf(path, sizeof path, "%s/cpu", root);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/cpu/7", root);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/cpu/7/msr", root);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0xc0010064, SEEK_SET), 0);
    assert_int_equal(fwrite(&written, sizeof written, 1, file), 1);
    fclose(file);
    assert_int_equal(msr_device_open(root, 7, &d), 0);
    assert_int_equal(d.cpu, 7);
    assert_int_equal(d.read(&d, 0xc0010064, &value), 0);
    assert_true(value == written);
    assert_int_equal(d.read(&d, 0x198, &value), 0);
    assert_true(value == 0);
    assert_int_equal(d.read(&d, 0xc0010069, &value), EIO); /* not eight bytes */
    assert_int_equal(d.read(&d, 0xc0010070, &value), EIO); /* none */
    d.close(&d);
    assert_int_equal(d.read(&d, 0x198, &value), EBADF);
    folder_remove(root);
}

TEST(test_survey)
{
    struct registers r = {0};
    struct msr_device d;
    struct msr_survey s;
    put_gold_6130(&r);
    assert_int_equal(open_set(&r, 3, &d), 0);
    msr_survey(&d, &skylake_sp, &s);
    assert_true(s.volts);
    assert_int_equal(s.answered, 10);
    assert_int_equal(s.read_errno, 0);
    assert_string_equal(s.found, "core voltage 0.880 V, base 2.1 GHz, APERF and MPERF, non-AVX turbo 3.7 to 2.8 GHz, "
                                 "45 C, energy in steps of 61.0 uJ");
    assert_string_equal(s.turbo, "1-2: 3.7, 3-4: 3.5, 5-8: 3.4, 9-12: 3.1, 13-16: 2.8");
    assert_string_equal(s.limits, "");
    /* limits: 19CH anywhere, 64FH where its layout is known */
    struct msr_part client = {.intel = true, .family = 6, .model = 0x5e};
    r.n = 0;
    put(&r, MSR_THERM_STATUS, 0x88001401);
    put(&r, MSR_TEMPERATURE_TARGET, 100 << 16);
    put(&r, MSR_LIMITS_SKYLAKE, 0x1402 | 0xffff0000);
    msr_survey(&d, &skylake_sp, &s);
    assert_string_equal(s.limits, "temperature, power limit, current limit");
    msr_survey(&d, &client, &s);
    assert_string_equal(s.limits, "temperature, power limit, current limit, thermal, PL1, maximum turbo");
    assert_string_equal(s.found, "100 C, frequency limited by: temperature, power limit, current limit, thermal, PL1, "
                                 "maximum turbo");
    /* bits 0 to 15 are what limits now, the log of it above is not */
    r.set[0].value = 0x80000000 | 100 << 16;
    for (uint64_t now = 0; now < 2; now++) {
        r.set[2].value = now | (now ? 0 : 0xffff0000);
        msr_survey(&d, &client, &s);
        assert_string_equal(s.limits, now ? "PROCHOT" : "");
        assert_string_equal(s.found, now ? "0 C, frequency limited by: PROCHOT" : "0 C");
    }
    /* nothing there */
    r.n = 0;
    msr_survey(&d, &skylake_sp, &s);
    assert_false(s.volts);
    assert_int_equal(s.answered, 0);
    assert_int_equal(s.read_errno, EIO);
    assert_string_equal(s.found, "");
    assert_string_equal(s.volts_why, "register 198H of CPU 3 cannot be read (EIO): this processor does not have it");
    /* QEMU: an emulator's constant, the rest reads 0 */
    static const uint32_t zero[] = {MSR_PLATFORM_INFO,      MSR_APERF,          MSR_MPERF,
                                    MSR_TURBO_RATIOS,       MSR_TURBO_RATIOS_1, MSR_THERM_STATUS,
                                    MSR_TEMPERATURE_TARGET, MSR_RAPL_UNIT};
    put(&r, MSR_PERF_STATUS, UINT64_C(0x400000003e8));
    for (size_t i = 0; i < sizeof zero / sizeof *zero; i++)
        put(&r, zero[i], 0);
    msr_survey(&d, &skylake_sp, &s);
    assert_false(s.volts);
    assert_true(s.answered > 0);
    assert_string_equal(s.found, "");
    assert_non_null(strstr(s.volts_why, "emulator's constant"));
    /* AMD: 198H is not requested */
    struct msr_part zen = {.amd = true, .family = 0x19, .model = 0x11};
    r.n = 0;
    put(&r, MSR_PERF_STATUS, UINT64_C(7209) << 32);
    put(&r, MSR_AMD_PSTATE_0, UINT64_C(1) << 63 | 8 << 8 | 0x98);
    put(&r, MSR_AMD_RAPL_UNIT, 0xa1003);
    put(&r, MSR_AMD_PACKAGE_ENERGY, 1);
    msr_survey(&d, &zen, &s);
    assert_false(s.volts);
    assert_string_equal(s.found, "base 3.80 GHz, energy in steps of 15.3 uJ");
}

/* The turbo limits that registers say, and what answers of all that is requested. */
static void expect_turbo(struct registers *r, const struct msr_part *p, const char *turbo, const char *found,
                         unsigned answered)
{
    struct msr_device d;
    struct msr_survey s;
    assert_int_equal(open_set(r, 3, &d), 0);
    msr_survey(&d, p, &s);
    assert_string_equal(s.turbo, turbo);
    assert_string_equal(s.found, found);
    assert_int_equal(s.answered, answered);
}

TEST(test_survey_of_turbo_limits)
{
    static const struct msr_part haswell_ep = {.intel = true, .family = 6, .model = 0x3f};
    static const struct msr_part client = {.intel = true, .family = 6, .model = 0x5e};
    struct registers r = {0};
    /* neighbors with one limit are one entry */
    put(&r, MSR_TURBO_RATIOS, 0x22222224);
    expect_turbo(&r, &client, "1: 3.6, 2-4: 3.4", "non-AVX turbo 3.6 to 3.4 GHz", 1);
    /* one core */
    r.n = 0;
    put(&r, MSR_TURBO_RATIOS, 0x1c);
    expect_turbo(&r, &client, "1: 2.8", "non-AVX turbo 2.8 to 2.8 GHz", 1);
    /* Haswell-EP: 8 cores where the other registers are missing, up to 18 where not, nothing without the first */
    r.n = 0;
    put(&r, MSR_TURBO_RATIOS, UINT64_C(0x1a1a1a1a1b1c1f21));
    expect_turbo(&r, &haswell_ep, "1: 3.3, 2: 3.1, 3: 2.8, 4: 2.7, 5-8: 2.6", "non-AVX turbo 3.3 to 2.6 GHz", 1);
    put(&r, MSR_TURBO_RATIOS + 1, UINT64_C(0x1919191919191a1a));
    put(&r, MSR_TURBO_RATIOS + 2, 0x1819);
    expect_turbo(&r, &haswell_ep, "1: 3.3, 2: 3.1, 3: 2.8, 4: 2.7, 5-10: 2.6, 11-17: 2.5, 18: 2.4",
                 "non-AVX turbo 3.3 to 2.4 GHz", 3);
    r.set[0].reg = 0;
    expect_turbo(&r, &haswell_ep, "", "", 0);
    /* Skylake-SP: ratios without the core counts of their groups mean nothing */
    r.n = 0;
    put(&r, MSR_TURBO_RATIOS, 0x2325);
    expect_turbo(&r, &skylake_sp, "", "", 1);
    /* a part whose layout is not known is not read */
    expect_turbo(&r, &(struct msr_part){.intel = true, .family = 6, .model = 1}, "", "", 0);
}

/* ---- a machine to wrap ---- */

struct inner {
    struct registers *registers;
    int prepare_status;
    unsigned prepared, finished, closed, ran;
    double late_us;   /* passes after each repetition */
    uint64_t end_tsc; /* of the latest repetition */
};

static void inner_info(const struct machine *m, struct machine_info *out)
{
    *out = (struct machine_info){.name = "timing",
                                 .intel = ((struct inner *)m->state)->registers != NULL,
                                 .source = "measured by a test",
                                 .cpu = "a CPU",
                                 .tsc_hz = 1e9,
                                 .tsc_origin = "a test",
                                 .cpu_number = 5,
                                 .notes = "a note"};
}

static const char *inner_lacks(const struct machine *m, enum counter_id id, const char **remedy)
{
    (void)m;
    if (remedy != NULL)
        *remedy = "a remedy";
    return id == COUNTER_CYCLES ? NULL : "lacking";
}

static int inner_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    struct inner *i = m->state;
    (void)s;
    i->prepared++;
    err->status = i->prepare_status;
    snprintf(err->text, sizeof err->text, "inner");
    return i->prepare_status;
}

static int inner_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    struct inner *i = m->state;
    static uint64_t words[2 * 3];
    double us = 0, zero_us = 0;
    (void)err;
    i->ran++;
    for (size_t k = 0; k < r->n_segments; k++) {
        zero_us += k < r->zero_segment ? r->segments[k].duration_us : 0;
        us += r->segments[k].duration_us;
    }
    *out = (struct recording){.n = 2, .stride = 3, .capacity = 2, .words = words};
    /* as if it had run just now, at 1 tick a nanosecond */
    out->zero_tsc = tsc_now() - (uint64_t)((us - zero_us + i->late_us) * 1e3);
    i->end_tsc = out->zero_tsc + (uint64_t)((us - zero_us) * 1e3);
    words[0] = out->zero_tsc - 1000;
    words[3] = out->zero_tsc;
    words[2] = 0;
    words[5] = 2800;
    return MACHINE_OK;
}

static void inner_finish(struct machine *m)
{
    ((struct inner *)m->state)->finished++;
}

static void inner_close(struct machine *m)
{
    ((struct inner *)m->state)->closed++;
}

/* Three system-management interrupts come in between. */
static int inner_trials(struct machine *m, const struct trials_request *r, double *duration, struct trials_seen *seen,
                        struct machine_error *err)
{
    struct registers *registers = ((struct inner *)m->state)->registers;
    (void)err;
    *duration = r->trial_us;
    seen->between = (struct trials_between){.faults = 2, .smis = NAN};
    if (registers->n)
        registers->set[0].value += 3;
    return MACHINE_OK;
}

static const struct machine_ops inner_ops = {.info = inner_info,
                                             .trials = inner_trials,
                                             .lacks = inner_lacks,
                                             .prepare = inner_prepare,
                                             .run = inner_run,
                                             .finish = inner_finish,
                                             .close = inner_close};

static struct machine wrap(struct inner *inner, struct registers *r)
{
    struct machine in = {.ops = &inner_ops, .state = inner}, out;
    struct msr_access access = {.open = open_set, .context = r, .part = skylake_sp};
    struct machine_error err;
    assert_int_equal(msr_machine_wrap(&in, &access, &out, &err), MACHINE_OK);
    return out;
}

TEST(test_wrapping_keeps_what_is_inside)
{
    struct inner inner = {0};
    struct registers r = {0};
    struct machine m = wrap(&inner, &r);
    struct machine_setup setup = {.cpu = -1, .period_us = 1};
    struct machine_error err;
    struct machine_info info;
    const char *remedy;
    uint64_t value = 0;
    put_gold_6130(&r);
    m.ops->info(&m, &info);
    assert_string_equal(info.name, "msr");
    assert_string_equal(info.source, "measured by a test; registers through /dev/cpu/N/msr");
    assert_string_equal(info.notes, "a note");
    assert_string_equal(info.cpu, "a CPU");
    assert_null(m.ops->lacks(&m, COUNTER_CYCLES, &remedy));
    assert_string_equal(m.ops->lacks(&m, COUNTER_LVL0, &remedy), "lacking");
    assert_string_equal(remedy, "a remedy");
    assert_int_equal(m.ops->read_register(&m, 0x198, &value, &err), MACHINE_FAILED); /* of which CPU? */
    assert_non_null(strstr(err.text, "not prepared"));
    assert_int_equal(m.ops->prepare(&m, &setup, &err), MACHINE_OK);
    assert_int_equal(r.cpu, 5);
    m.ops->info(&m, &info);
    assert_string_equal(info.notes, "a note; non-AVX turbo limits by active cores, GHz (1ADH): 1-2: 3.7, 3-4: "
                                    "3.5, 5-8: 3.4, 9-12: 3.1, 13-16: 2.8");
    for (size_t i = 0; i < r.n; i++) {
        uint64_t before = tsc_now();
        assert_int_equal(m.ops->read_register(&m, r.set[i].reg, &value, &err), MACHINE_OK);
        assert_true(value == r.set[i].value);
        assert_true(m.ops->register_tsc(&m) >= before && m.ops->register_tsc(&m) <= tsc_now());
    }
    assert_int_equal(m.ops->read_register(&m, 0x64f, &value, &err), MACHINE_CANNOT);
    assert_string_equal(err.text, "register 64FH of CPU 5 cannot be read (EIO): this processor does not have it");
    m.ops->finish(&m);
    m.ops->finish(&m);
    assert_int_equal(r.closed, 1);
    assert_int_equal(inner.finished, 2);
    m.ops->close(&m);
    assert_int_equal(inner.closed, 1);
    m.ops->close(&m);
    assert_int_equal(inner.closed, 1);
}

TEST(test_interruptions_by_the_firmware_are_counted)
{
    for (int counted = 0; counted < 2; counted++) {
        struct registers r = {0};
        struct inner inner = {.registers = &r};
        struct machine m = wrap(&inner, &r);
        const struct machine_setup setup = {.cpu = -1, .period_us = 1};
        const struct trials_request request = {.trial_us = 7, .trials = 1};
        struct machine_error err;
        struct trials_seen seen = {0};
        double duration = 0;
        if (counted)
            put(&r, 0x34, UINT64_C(0x500000010)); /* the upper half is reserved */
        assert_int_equal(m.ops->prepare(&m, &setup, &err), MACHINE_OK);
        assert_int_equal(m.ops->trials(&m, &request, &duration, &seen, &err), MACHINE_OK);
        assert_true(duration == 7 && seen.between.faults == 2);
        assert_true(counted ? seen.between.smis == 3 : isnan(seen.between.smis));
        m.ops->finish(&m);
        m.ops->close(&m);
    }
}

TEST(test_registers_that_cannot_be_opened)
{
    struct inner inner = {0};
    struct registers r = {.open_errno = EPERM};
    struct machine m = wrap(&inner, &r);
    struct machine_setup setup = {.cpu = -1, .period_us = 1};
    struct machine_error err;
    assert_int_equal(m.ops->prepare(&m, &setup, &err), MACHINE_CANNOT);
    assert_int_equal(err.status, MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "access to /dev/cpu/5/msr is denied: no CAP_SYS_RAWIO"));
    assert_int_equal(inner.finished, 1); /* nothing stays after */
    inner.prepare_status = MACHINE_BAD_INPUT;
    assert_int_equal(m.ops->prepare(&m, &setup, &err), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "inner");
    assert_int_equal(r.closed, 0);
    m.ops->close(&m);
}

/* ---- the probe ---- */

static struct transition_setup setup_of(void)
{
    struct payload from, to;
    struct transition_setup s;
    char why[200];
    assert_int_equal(kernel_parse("64add", &from, why, sizeof why), 0);
    assert_int_equal(kernel_parse("128or", &to, why, sizeof why), 0);
    transition_defaults(&s, &from, &to);
    s.runs = 3;
    return s;
}

static void measure(struct machine *m, struct repetitions *out)
{
    struct transition_setup s = setup_of();
    struct machine_error err;
    if (transition_run(m, &s, NULL, NULL, out, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

static size_t count_volts(const struct trace *t)
{
    size_t n = 0;
    for (size_t i = 0; t->channel[TRACE_VOLTS] != NULL && i < t->n; i++) {
        n += !isnan(t->channel[TRACE_VOLTS][i]);
        assert_false(t->channel[TRACE_VOLTS][i] <= 0); /* never 0 V */
    }
    return n;
}

/* Each repetition is read once, at another time; in order of reading, times do not rise, fall or cluster. */
static int read_promptly(struct machine *m, uint32_t reg, uint64_t *value, struct machine_error *err)
{
    (void)m;
    (void)reg;
    (void)err;
    *value = UINT64_C(7209) << 32;
    return MACHINE_OK;
}

/* 100 ns after the end, whatever this CPU does meanwhile */
static uint64_t promptly_tsc(const struct machine *m)
{
    return ((const struct inner *)m->state)->end_tsc + 100;
}

TEST(test_voltage_is_read_at_scattered_times)
{
    struct inner inner = {0};
    struct machine_ops ops = inner_ops;
    struct machine m = {.ops = &ops, .state = &inner};
    struct repetitions result;
    static double at[401], order[401];
    size_t n = 0;
    ops.read_register = read_promptly;
    ops.register_tsc = promptly_tsc;
    measure(&m, &result);
    const struct trace *t = &result.trace;
    assert_string_equal(result.volts_missing, "");
    assert_null(trace_get(t, "volts_missing"));
    assert_int_equal(count_volts(t), 400); /* two a sample period */
    for (size_t i = 0; i < t->n; i++) {
        if (!isnan(t->channel[TRACE_VOLTS][i])) {
            assert_true(t->run[i] >= 3); /* not in a repetition with samples */
            assert_true(isnan(t->channel[TRACE_FREQ][i]));
            assert_true(fabs((double)t->channel[TRACE_VOLTS][i] - 7209 / 8192.0) < 1e-6);
            order[n] = (double)t->run[i];
            at[n++] = t->time_us[i];
        }
    }
    double mean_at = 0, mean_order = 0, both = 0, a2 = 0, o2 = 0;
    bool seen[400] = {false};
    for (size_t i = 0; i < n; i++) {
        mean_at += at[i] / (double)n;
        mean_order += order[i] / (double)n;
        long point = (long)floor((at[i] + 50) * 2);
        assert_true(point >= 0 && point < 400);
        seen[point] = true;
    }
    size_t points = 0;
    for (size_t i = 0; i < 400; i++)
        points += seen[i];
    assert_int_equal(points, 400);
    for (size_t i = 0; i < n; i++) {
        both += (at[i] - mean_at) * (order[i] - mean_order);
        a2 += (at[i] - mean_at) * (at[i] - mean_at);
        o2 += (order[i] - mean_order) * (order[i] - mean_order);
    }
    assert_true(fabs(both / sqrt(a2 * o2)) < 0.05);
    repetitions_free(&result);
}

TEST(test_a_voltage_that_cannot_be_read_is_missing_with_its_reason)
{
    static const struct {
        bool there;
        uint64_t value;
        const char *why;
    } cases[] = {{false, 0, "register 198H of CPU 5 cannot be read (EIO)"},
                 {true, 0, "register 198H reports no voltage"},
                 {true, UINT64_C(0x400000003e8), "an emulator's constant"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct inner inner = {0};
        struct registers r = {0};
        struct machine m = wrap(&inner, &r);
        struct repetitions result;
        if (cases[i].there)
            put(&r, MSR_PERF_STATUS, cases[i].value);
        measure(&m, &result);
        assert_int_equal(count_volts(&result.trace), 0);
        assert_non_null(strstr(result.volts_missing, cases[i].why));
        assert_string_equal(trace_get(&result.trace, "volts_missing"), result.volts_missing);
        assert_true(result.trace.n > 0);          /* the rest is there */
        assert_int_equal(inner.ran, 36 + 3 + 20); /* cost of samples; not four hundred times the same answer */
        repetitions_free(&result);
        m.ops->close(&m);
    }
}

static unsigned turn;
static int read_every_third(struct machine *m, uint32_t reg, uint64_t *value, struct machine_error *err)
{
    (void)m;
    (void)reg;
    *value = UINT64_C(7209) << 32;
    memset(err, 0, sizeof *err);
    if (turn++ % 3 != 0)
        return MACHINE_OK;
    snprintf(err->text, sizeof err->text, "a fault");
    return MACHINE_CANNOT;
}

TEST(test_readings_that_fail_now_and_then_are_counted)
{
    struct inner inner = {0};
    struct machine_ops ops = inner_ops;
    struct machine m = {.ops = &ops, .state = &inner};
    struct repetitions result;
    ops.read_register = read_every_third;
    turn = 0;
    measure(&m, &result);
    assert_int_equal(count_volts(&result.trace), 400 - 134);
    assert_string_equal(result.volts_missing, "134 of 400 readings: a fault");
    repetitions_free(&result);
}

TEST(test_a_reading_that_comes_late_tells_nothing)
{
    struct inner inner = {.late_us = 500};
    struct registers r = {0};
    struct machine m = wrap(&inner, &r);
    struct repetitions result;
    put_gold_6130(&r);
    measure(&m, &result);
    assert_int_equal(count_volts(&result.trace), 0);
    assert_non_null(strstr(result.volts_missing, "something else ran between the kernel and the reading"));
    repetitions_free(&result);
    m.ops->close(&m);
}

TEST(test_a_machine_without_registers_says_so)
{
    struct inner inner = {0};
    struct machine m = {.ops = &inner_ops, .state = &inner};
    struct repetitions result;
    measure(&m, &result);
    assert_null(result.trace.channel[TRACE_VOLTS]);
    assert_string_equal(result.volts_missing, "this machine reads no registers");
    repetitions_free(&result);
}

BEFORE_TESTS
{
    close(STDIN_FILENO); /* the next file gets descriptor 0, which is as good as any */
}
