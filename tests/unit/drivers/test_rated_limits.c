/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frequencies that a processor states, gathered from registers and Speed Select of fake machines. */
#include "drivers/rated_limits.h"
#include "tests/support/test.h"

struct answers {
    unsigned model;
    struct {
        uint32_t reg;
        uint64_t value;
    } set[8];
    bool speed_select;
};

static void info(const struct machine *m, struct machine_info *out)
{
    const struct answers *a = m->state;
    *out = (struct machine_info){.intel = true, .family = 6, .model = a->model};
}

static int read_register(struct machine *m, uint32_t reg, uint64_t *value, struct machine_error *err)
{
    const struct answers *a = m->state;
    for (size_t i = 0; i < 8; i++) {
        if (a->set[i].reg == reg) {
            *value = a->set[i].value;
            return MACHINE_OK;
        }
    }
    return machine_fail(err, MACHINE_CANNOT, "another processor", "register %XH cannot be read", reg);
}

static int speed_select(struct machine *m, struct rated_limits *out, struct machine_error *err)
{
    const struct answers *a = m->state;
    if (!a->speed_select)
        return machine_fail(err, MACHINE_CANNOT, "modprobe", "no device");
    out->tables[0] = (struct rated_table){.name = "non-AVX", .n = 1, .rows = {{1, 4, 4.0}}};
    out->tables[1] = (struct rated_table){.name = "AVX2", .n = 1, .rows = {{1, 4, 3.5}}};
    strcpy(out->source, "made up");
    return MACHINE_OK;
}

static void ask(struct answers *a, bool registers, struct rated_limits *out)
{
    const struct machine_ops ops = {
        .info = info, .read_register = registers ? read_register : NULL, .speed_select = speed_select};
    struct machine m = {.ops = &ops, .state = a};
    rated_read(&m, out);
}

TEST(test_registers)
{
    struct rated_limits s;
    char text[200];
    struct answers a = {.model = 0x55,
                        .set = {{0x1ad, 0x1c1f2223},
                                {0x1ae, 0x10080402},
                                {0xce, UINT64_C(2) << 33 | 21 << 8},
                                {0x648, 21},
                                {0x649, 17 << 16 | 100},
                                {0x64a, 13 << 16 | 90}}};
    ask(&a, true, &s);
    rated_text(&s.tables[0], text, sizeof text);
    assert_string_equal(text, "1-2: 3.5, 3-4: 3.4, 5-8: 3.1, 9-16: 2.8");
    assert_string_equal(s.source, "MSR 1ADH and 1AEH");
    assert_string_equal(s.why, "");
    assert_string_equal(s.why_classes, "no device; modprobe");
    assert_float_equal(s.config_tdp_ghz[0], 2.1, 1e-9);
    assert_float_equal(s.config_tdp_ghz[1], 1.7, 1e-9);
    assert_float_equal(s.config_tdp_ghz[2], 1.3, 1e-9);
    assert_true(isnan(s.base_ghz[0]));
    /* no further level, so what its register holds is nothing */
    a.set[2].value = UINT64_C(1) << 33 | 21 << 8;
    ask(&a, true, &s);
    assert_float_equal(s.config_tdp_ghz[1], 1.7, 1e-9);
    assert_true(isnan(s.config_tdp_ghz[2]));
    a.set[2].value = 21 << 8;
    ask(&a, true, &s);
    assert_true(isnan(s.config_tdp_ghz[0]));
}

TEST(test_reasons)
{
    struct rated_limits s;
    struct answers a = {.model = 0x55, .set = {{0x1ad, 0x1c1f2223}}};
    ask(&a, true, &s);
    assert_string_equal(s.why, "register 1AEH cannot be read; another processor");
    assert_int_equal(s.tables[0].n, 0);
    ask(&a, false, &s);
    assert_string_equal(s.why, "this machine reads no registers");
    a.model = 0xff;
    ask(&a, true, &s);
    assert_string_equal(s.why, "the registers that hold them are not known for this processor");
    /* groups of Sierra Forest without their counts */
    a = (struct answers){.model = 0xaf, .set = {{0x1ad, 0x1c1f2223}}};
    ask(&a, true, &s);
    assert_string_equal(s.why, "register 1AEH cannot be read; another processor");
    /* Haswell-EP with up to 8 cores has no other registers */
    a.model = 0x3f;
    ask(&a, true, &s);
    assert_int_equal(s.tables[0].n, 4);
    assert_string_equal(s.source, "MSR 1ADH");
    a = (struct answers){.model = 0x55, .set = {{0x1ad, 0}, {0x1ae, 0}}};
    ask(&a, true, &s);
    assert_string_equal(s.why, "the registers hold none");
}

TEST(test_speed_select_comes_first)
{
    struct rated_limits s;
    struct answers a = {.model = 0x6a, .set = {{0x1ad, 0x1c1f2223}, {0x1ae, 0x10080402}}, .speed_select = true};
    for (int registers = 0; registers < 2; registers++) {
        ask(&a, registers, &s);
        assert_float_equal(s.tables[0].rows[0].ghz, 4.0, 1e-9);
        assert_string_equal(s.tables[1].name, "AVX2");
        assert_string_equal(s.source, "made up");
        assert_true(s.why[0] == '\0' && s.why_classes[0] == '\0');
    }
}

TEST(test_hybrid)
{
    struct rated_limits s;
    char text[200];
    struct answers a = {.model = 0x97, .set = {{0x1ad, 0x32333434}, {0x650, 0x2727}}};
    ask(&a, true, &s);
    rated_text(&s.tables[0], text, sizeof text);
    assert_string_equal(text, "1-1: 5.2, 2-2: 5.2, 3-3: 5.1, 4-4: 5.0");
    rated_text(&s.small, text, sizeof text);
    assert_string_equal(text, "1-1: 3.9, 2-2: 3.9");
    assert_string_equal(s.source, "MSR 1ADH");
    /* Arrow Lake: each kind with the core counts of its groups, as far as they are stated */
    a = (struct answers){.model = 0xc6,
                         .set = {{0x1ad, 0x343436}, {0x1ae, 0x080402}, {0x650, 0x2a2c2e}, {0x651, 0x100804}}};
    ask(&a, true, &s);
    rated_text(&s.tables[0], text, sizeof text);
    assert_string_equal(text, "1-2: 5.4, 3-4: 5.2, 5-8: 5.2");
    rated_text(&s.small, text, sizeof text);
    assert_string_equal(text, "1-4: 4.6, 5-8: 4.4, 9-16: 4.2");
    assert_string_equal(s.source, "MSR 1ADH and 1AEH");
    a.set[3].reg = 0;
    ask(&a, true, &s);
    rated_text(&s.small, text, sizeof text);
    assert_string_equal(text, "1-1: 4.6, 2-2: 4.4, 3-3: 4.2");
    a.model = 0x5e; /* another register there, if any */
    ask(&a, true, &s);
    assert_int_equal(s.small.n, 0);
}
