/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decoding registers: values that were published with their meaning, and random ones there and back. */
#include "computer/msr/msr_decode.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { ROUNDS = 100000 };

static struct msr_part intel(unsigned model)
{
    return (struct msr_part){.intel = true, .family = 6, .model = model};
}

static struct msr_part amd(unsigned family)
{
    return (struct msr_part){.amd = true, .family = family, .model = 1};
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g instead of %.12g", value, expected);
}

/* ---- 198H ---- */

TEST(test_volts)
{
    const char *why = NULL;
    double volts = 1;
    assert_true(msr_volts(UINT64_C(7209) << 32 | 0x1c00, &volts, &why));
    near(volts, 7209 / 8192.0);
    assert_null(why);
    /* only bits 47:32 count, in steps of 2^-13 V */
    assert_true(msr_volts(UINT64_C(0xffff0001ffffffff), &volts, &why));
    near(volts, 1 / 8192.0);
    assert_true(msr_volts(UINT64_C(0x0000ffff00000000), &volts, &why));
    near(volts, 7.9998779296875);
}

TEST(test_no_volts_are_not_0_volts)
{
    static const struct {
        uint64_t value;
        const char *why;
    } cases[] = {{0, "reports no voltage"},
                 {0x1c00, "reports no voltage"},
                 {UINT64_C(0xffff0000ffffffff), "reports no voltage"},
                 {UINT64_C(0x400000003e8), "an emulator's constant"}}; /* QEMU: it would be 0.125 V */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *why = NULL;
        double volts = 0;
        assert_false(msr_volts(cases[i].value, &volts, &why));
        assert_true(isnan(volts));
        assert_non_null(strstr(why, cases[i].why));
    }
}

TEST(test_volts_there_and_back)
{
    struct rng r;
    rng_init(&r, 1, 0);
    for (int i = 0; i < ROUNDS; i++) {
        const char *why;
        double volts;
        uint64_t value = rng_bits(&r), steps = value >> 32 & 0xffff;
        assert_int_equal(msr_volts(value, &volts, &why), steps != 0);
        if (steps != 0)
            assert_int_equal(lround(volts * 8192), steps);
    }
}

/* ---- CEH ---- */

TEST(test_platform)
{
    struct msr_platform p;
    assert_true(msr_platform(UINT64_C(0x0005080af3811500), &p)); /* made up of the fields below */
    near(p.base_ghz, 2.1);
    assert_int_equal(p.tdp_levels, 1);                    /* byte 4 = 0AH: bits 34:33 = 01 */
    assert_false(msr_platform(UINT64_C(0x80000000), &p)); /* KVM: the CPUID faulting bit alone */
    assert_true(isnan(p.base_ghz));
}

/* ---- 1ADH ---- */

TEST(test_turbo_of_published_parts)
{
    struct msr_turbo_row row[MSR_TURBO_ROWS_MAX];
    struct msr_part part = intel(0x8f);
    /* Platinum 8480+ (svr-info issue 26) */
    static const struct msr_turbo_row spr[] = {{1, 28, 3.8},  {29, 34, 3.6}, {35, 40, 3.4}, {41, 44, 3.2},
                                               {45, 48, 3.1}, {49, 50, 3.1}, {51, 54, 3.0}, {55, 56, 3.0}};
    assert_int_equal(msr_turbo_registers(&part), 2);
    const uint64_t values[2] = {UINT64_C(0x1e1e1f1f20222426), UINT64_C(0x383632302c28221c)};
    assert_int_equal(msr_turbo_limits(&part, values, row), 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(row[i].first_cores, spr[i].first_cores);
        assert_int_equal(row[i].last_cores, spr[i].last_cores);
        near(row[i].ghz, spr[i].ghz);
    }
    /* Gold 6126: counts 2, 4, 8, 12, 16, 20, 24, 28 with ratios 37, 35, 34, 33, ... (a CoreFreq print) */
    part = intel(0x55);
    const uint64_t gold[2] = {UINT64_C(0x2121212121222325), UINT64_C(0x1c1814100c080402)};
    assert_int_equal(msr_turbo_limits(&part, gold, row), 8);
    near(row[0].ghz, 3.7);
    assert_int_equal(row[0].last_cores, 2);
    near(row[3].ghz, 3.3);
    assert_int_equal(row[3].first_cores, 9);
    assert_int_equal(row[3].last_cores, 12);
}

TEST(test_turbo_by_model)
{
    struct msr_turbo_row row[MSR_TURBO_ROWS_MAX];
    const uint64_t values[3] = {UINT64_C(0x1f20212223242526), UINT64_C(0x1718191a1b1c1d1e), 0x13141516};
    struct msr_part part = intel(0x3f);
    assert_int_equal(msr_turbo_registers(&part), 3);
    assert_int_equal(msr_turbo_limits(&part, values, row), 18);
    for (unsigned i = 0; i < 18; i++) {
        assert_int_equal(row[i].first_cores, i + 1);
        assert_int_equal(row[i].last_cores, i + 1);
        near(row[i].ghz, (38 - i) * 0.1);
    }
    /* the same values are other things elsewhere: 1AEH is not looked at on a client */
    part = intel(0x5e);
    assert_int_equal(msr_turbo_registers(&part), 1);
    assert_int_equal(msr_turbo_limits(&part, values, row), 8);
    const uint64_t four_cores = 0x24252627;
    assert_int_equal(msr_turbo_limits(&part, &four_cores, row), 4);
    /* unknown models, families, makes */
    part = intel(0xff);
    assert_int_equal(msr_turbo_registers(&part), 0);
    assert_int_equal(msr_turbo_limits(&part, values, row), 0);
    part = intel(0x55);
    part.family = 5;
    assert_int_equal(msr_turbo_registers(&part), 0);
    part = amd(0x19);
    part.model = 0x55;
    assert_int_equal(msr_turbo_registers(&part), 0);
}

/* Xeons of E cores have groups; hybrid parts have them too, unless no counts are stated. */
TEST(test_turbo_of_newer_parts)
{
    static const unsigned char xeons[] = {0xaf, 0xb6, 0xdd}; /* Sierra Forest, Grand Ridge, Clearwater Forest */
    /* Alder, Raptor, Meteor, Arrow and Lunar Lake */
    static const unsigned char hybrids[] = {0x97, 0x9a, 0xb7, 0xba, 0xbf, 0xaa, 0xac, 0xb5, 0xc5, 0xc6, 0xbd};
    struct msr_turbo_row row[MSR_TURBO_ROWS_MAX];
    const uint64_t groups[2] = {0x24262728, 0x0a080703}; /* the example of Slim Bootloader's CpuRegs.h */
    const uint64_t uncounted[2] = {0x24262728, 0};
    for (size_t i = 0; i < sizeof xeons; i++) {
        struct msr_part part = intel(xeons[i]);
        assert_int_equal(msr_turbo_registers(&part), 2);
        assert_true(msr_turbo_requires(&part, 1));
        assert_false(msr_is_hybrid(&part));
        assert_int_equal(msr_turbo_limits(&part, groups, row), 4);
        assert_int_equal(msr_turbo_limits(&part, uncounted, row), 0);
    }
    for (size_t i = 0; i < sizeof hybrids; i++) {
        struct msr_part part = intel(hybrids[i]);
        assert_int_equal(msr_turbo_registers(&part), 2);
        assert_false(msr_turbo_requires(&part, 1));
        assert_true(msr_is_hybrid(&part));
        assert_int_equal(msr_turbo_limits(&part, groups, row), 4);
        assert_int_equal(row[1].first_cores, 4);
        assert_int_equal(row[1].last_cores, 7);
        near(row[1].ghz, 3.9);
        assert_int_equal(row[3].last_cores, 10);
        assert_int_equal(msr_turbo_limits(&part, uncounted, row), 4);
        assert_int_equal(row[3].first_cores, 4);
        assert_int_equal(row[3].last_cores, 4);
    }
}

TEST(test_turbo_there_and_back)
{
    struct rng r;
    struct msr_part part = intel(0x55);
    rng_init(&r, 2, 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct msr_turbo_row row[MSR_TURBO_ROWS_MAX];
        uint64_t values[2] = {0, 0};
        unsigned cores[8], ratio[8], groups = (unsigned)(rng_bits(&r) % 9), count = 0;
        for (unsigned k = 0; k < groups; k++) {
            count += 1 + (unsigned)(rng_bits(&r) % 31);
            cores[k] = count;
            ratio[k] = 1 + (unsigned)(rng_bits(&r) % 255);
            values[0] |= (uint64_t)ratio[k] << (8 * k);
            values[1] |= (uint64_t)cores[k] << (8 * k);
        }
        assert_int_equal(msr_turbo_limits(&part, values, row), groups);
        for (unsigned k = 0; k < groups; k++) {
            assert_int_equal(row[k].first_cores, k > 0 ? cores[k - 1] + 1 : 1);
            assert_int_equal(row[k].last_cores, cores[k]);
            assert_int_equal(lround(row[k].ghz * 10), ratio[k]);
        }
    }
}

/* ---- temperature, limits ---- */

TEST(test_temperature)
{
    struct msr_thermal t;
    unsigned tjmax;
    msr_thermal(UINT64_C(0x88370802), &t); /* valid, 37H = 55 below, logs of thermal and of the power limit */
    assert_true(t.readout);
    assert_int_equal(t.below, 55);
    assert_false(t.throttled);
    assert_false(t.power_limited);
    msr_thermal(UINT64_C(0x00371415), &t);
    assert_false(t.readout); /* bit 31 is clear */
    assert_true(t.throttled && t.power_limited && t.current_limited);
    assert_true(msr_tjmax(100u << 16 | 10u << 24, &tjmax));
    assert_int_equal(tjmax, 100);
    assert_false(msr_tjmax(10u << 24, &tjmax));
}

TEST(test_limit_reasons_only_where_documented)
{
    struct msr_part part = intel(0x5e);
    char text[200], small[12];
    uint32_t reg;
    assert_true(msr_limits_register(&part, &reg));
    assert_int_equal(reg, 0x64f);
    msr_limits_text(&part, 0, text, sizeof text);
    assert_string_equal(text, "none");
    msr_limits_text(&part, 0x20000 | 0x1401, text, sizeof text);
    assert_string_equal(text, "PROCHOT, PL1, maximum turbo");
    msr_limits_text(&part, 1 << 15, text, sizeof text);
    assert_string_equal(text, "bit 15"); /* not documented */
    msr_limits_text(&part, 0xffff, small, sizeof small);
    assert_string_equal(small, "PROCHOT, th");
    part = intel(0x3f);
    assert_true(msr_limits_register(&part, &reg));
    assert_int_equal(reg, 0x690);
    msr_limits_text(&part, 1 << 10, text, sizeof text);
    assert_string_equal(text, "multi-core turbo");
    part = intel(0x3c);
    msr_limits_text(&part, 1 << 10, text, sizeof text);
    assert_string_equal(text, "PL1");
    /* servers after Haswell: not public */
    static const unsigned char others[] = {0x55, 0x6a, 0x8f, 0xcf, 0xad, 0x4f};
    for (size_t i = 0; i < sizeof others; i++) {
        part = intel(others[i]);
        assert_false(msr_limits_register(&part, &reg));
    }
    part = amd(0x19);
    assert_false(msr_limits_register(&part, &reg));
}

/* ---- energy ---- */

TEST(test_energy_step)
{
    double joules;
    assert_true(msr_energy_step(0xa0e03, &joules)); /* 2^-14 J, as most parts */
    near(joules, 1.0 / 16384);
    assert_true(msr_energy_step(0xa1003, &joules));
    near(joules, 1.0 / 65536);
    assert_false(msr_energy_step(0, &joules));
}

/* ---- AMD ---- */

TEST(test_amd_pstates)
{
    const uint64_t enabled = UINT64_C(1) << 63;
    struct msr_part part = amd(0x19);
    double ghz;
    assert_true(msr_amd_pstate_ghz(&part, enabled | 8 << 8 | 0x98, &ghz)); /* 200 MHz * 152 / 8 */
    near(ghz, 3.8);
    assert_false(msr_amd_pstate_ghz(&part, 8 << 8 | 0x98, &ghz));
    assert_true(isnan(ghz));
    assert_false(msr_amd_pstate_ghz(&part, enabled | 0x98, &ghz)); /* divisor 0 */
    assert_false(msr_amd_pstate_ghz(&part, enabled | 1 << 8, &ghz));
    assert_true(msr_amd_pstate_ghz(&part, enabled | 0x3f << 8 | 0xff, &ghz)); /* six bits and eight */
    near(ghz, 0.2 * 255 / 63);
    part = amd(0x17);
    assert_true(msr_amd_pstate_ghz(&part, enabled | 8 << 8 | 0x98, &ghz));
    near(ghz, 3.8);
    part = amd(0x18);
    assert_false(msr_amd_pstate_ghz(&part, enabled | 8 << 8 | 0x98, &ghz));
    part = amd(0x1a);
    assert_false(msr_amd_pstate_ghz(&part, enabled, &ghz)); /* no frequency at all */
    assert_true(msr_amd_pstate_ghz(&part, enabled | 1, &ghz));
    near(ghz, 0.005);
    assert_true(msr_amd_pstate_ghz(&part, enabled | 0xfff, &ghz)); /* twelve bits */
    near(ghz, 20.475);
    assert_true(msr_amd_pstate_ghz(&part, enabled | 0x320, &ghz)); /* 5 MHz * 800 */
    near(ghz, 4.0);
    part = amd(0x15);
    assert_false(msr_amd_pstate_ghz(&part, enabled | 8 << 8 | 0x98, &ghz));
    part = intel(0x55);
    assert_false(msr_amd_pstate_ghz(&part, enabled | 8 << 8 | 0x98, &ghz));
}

/* ---- the part ---- */

TEST(test_a_model_number_that_is_not_believed_has_no_tables)
{
    /* GenuineIntel 06_A7H-8 with AMX in CPUID 7, as a hypervisor reported it */
    struct cpu_leaves l = {.basic = {7, 0x756e6547, 0x6c65746e, 0x49656e69},
                           .version = {0xa0678, 0, 1u << 31, 0},
                           .structured = {0, 1u << 16, 0, 1u << 24}};
    struct msr_part part;
    msr_part_of(&l, &part);
    assert_true(part.intel && !part.amd);
    assert_int_equal(part.family, 0);
    assert_int_equal(msr_turbo_registers(&part), 0);
    l.structured.edx = 0;
    msr_part_of(&l, &part);
    assert_int_equal(part.family, 6);
    assert_int_equal(part.model, 0xa7);
    l.basic = (struct cpuid_regs){7, 0x68747541, 0x444d4163, 0x69746e65}; /* AuthenticAMD */
    l.version.eax = 0xa10f11;
    msr_part_of(&l, &part);
    assert_true(part.amd && !part.intel);
    assert_int_equal(part.family, 0x19);
}
