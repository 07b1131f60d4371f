/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Intel Speed Select, by a device that answers as the kernel's drivers do, and what is made of all stated limits.
 */
#include <unistd.h>

#include <linux/isst_if.h>

#include "tables/frequency/frequency.h"
#include "drivers/native/speed_select.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

/* The structs must be the same as in the kernel's header of this distribution. */
_Static_assert(sizeof(struct isst_platform) == sizeof(struct isst_if_platform_info), "platform");
_Static_assert(sizeof(struct isst_cpu_maps) == sizeof(struct isst_if_cpu_maps), "CPU map");
_Static_assert(sizeof(struct isst_mailbox) == sizeof(struct isst_if_mbox_cmds), "mailbox");
_Static_assert(sizeof(struct isst_msr) == sizeof(struct isst_if_msr_cmds), "registers");
_Static_assert(offsetof(struct isst_mailbox, sub_command) ==
                   offsetof(struct isst_if_mbox_cmds, mbox_cmd[0].sub_command),
               "mailbox");
_Static_assert(offsetof(struct isst_mailbox, response) == offsetof(struct isst_if_mbox_cmds, mbox_cmd[0].resp_data),
               "mailbox");
_Static_assert(offsetof(struct isst_msr, value) == offsetof(struct isst_if_msr_cmds, msr_cmd[0].data), "registers");
_Static_assert(ISST_PLATFORM == ISST_IF_GET_PLATFORM_INFO && ISST_CPU_MAP == ISST_IF_GET_PHY_ID &&
                   ISST_MAILBOX == ISST_IF_MBOX_COMMAND && ISST_MSR == ISST_IF_MSR_COMMAND,
               "requests");
/* Linux 6.12: 4 bytes, 20 half-words, 8 and 6 times 8 */
_Static_assert(sizeof(struct isst_level_info) == 4 + 2 * (19 + 8 + 48), "level information");
_Static_assert(sizeof(struct isst_levels) == 11, "levels");
/* 4 bytes, 3 numbers, 6, 8, and 6 times 8 half-words */
_Static_assert(sizeof(struct isst_turbo_by_priority) == 4 + 2 * (3 + 6 + 8 + 48), "turbo by priority");

struct fake {
    unsigned version;
    uint8_t level;       /* of performance, in force */
    uint64_t cores;      /* 1AEH */
    uint8_t ratio[6][8]; /* by class and bucket */
    uint8_t base[4];
    uint8_t by_priority;   /* SST-TF: 0: none, 1: off, 2: on */
    uint8_t high_cores[8]; /* of one die */
    uint8_t high_ratio[6][8];
    uint8_t low_ratio[6];
    unsigned dies;                 /* TPMI: CPUs take turns on them */
    uint8_t turbo_levels, buckets; /* TPMI: so many, instead of 6 and 8 */
    unsigned fail_at;              /* the number of the request that fails; 0: none does */
    int fail_with;
    unsigned commands;
};

static int answer_mailbox(const struct fake *f, struct isst_mailbox *m)
{
    assert_int_equal(m->count, 1);
    assert_int_equal(m->logical_cpu, 3);
    assert_int_equal(m->command, 0x7f);
    assert_int_equal(m->parameter, 0);
    if (m->sub_command == 0x00) {
        m->response = UINT32_C(0x81000004) | (uint32_t)f->level << 16;
        return 0;
    }
    assert_int_equal(m->request & 0xff, f->level);
    if (m->sub_command == 0x0a) {
        memcpy(&m->response, f->base, 4);
        return 0;
    }
    unsigned half = (m->request >> 8 & 1) * 4;
    assert_true(m->request >> 16 < 6);
    const uint8_t *bytes = m->sub_command == 0x07   ? &f->ratio[m->request >> 16][half]
                           : m->sub_command == 0x10 ? &f->high_cores[half]
                           : m->sub_command == 0x11 ? &f->high_ratio[m->request >> 16][half]
                                                    : f->low_ratio;
    m->response = (f->by_priority > 0) | (uint32_t)(f->by_priority > 1) << 16;
    if (m->sub_command == 0x01)
        return 0;
    assert_true(m->sub_command == 0x07 || (m->sub_command >= 0x10 && m->sub_command <= 0x12 && f->by_priority > 0));
    memcpy(&m->response, bytes, 4);
    return 0;
}

static int answer_levels(const struct fake *f, struct isst_levels *l)
{
    assert_int_equal(l->package, 1);
    assert_int_equal(l->domain, 3 % f->dies);
    l->current = f->level;
    l->turbo_supported = f->by_priority > 0;
    l->features = f->by_priority > 1 ? 2 : 1; /* bit 0 is another feature */
    return 0;
}

static int answer_priorities(const struct fake *f, struct isst_turbo_by_priority *t)
{
    assert_int_equal(t->package, 1);
    assert_int_equal(t->domain, 3 % f->dies);
    assert_int_equal(t->level, f->level);
    t->clips = t->turbo_levels = 6;
    t->buckets = 8;
    for (unsigned b = 0; b < 8; b++) {
        t->bucket_cores[b] = f->high_cores[b];
        for (unsigned l = 0; l < 6; l++) {
            t->high_mhz[l][b] = (uint16_t)(100 * f->high_ratio[l][b]);
            t->low_mhz[l] = (uint16_t)(100 * f->low_ratio[l]);
        }
    }
    return 0;
}

static int answer_info(const struct fake *f, struct isst_level_info *i)
{
    assert_int_equal(i->package, 1);
    assert_int_equal(i->level, f->level);
    i->buckets = f->buckets ? f->buckets : 8;
    i->turbo_levels = f->turbo_levels ? f->turbo_levels : 6;
    for (unsigned b = 0; b < 8; b++) {
        i->bucket_cores[b] = f->cores >> (8 * b) & 0xff;
        for (unsigned l = 0; l < 6; l++)
            i->turbo_mhz[l][b] = (uint16_t)(100 * f->ratio[l][b]);
    }
    for (unsigned b = 0; b < 4; b++)
        i->base_mhz[b] = (uint16_t)(100 * f->base[b]);
    return 0;
}

static int answer(struct speed_select *d, unsigned long request, void *argument)
{
    struct fake *f = d->data;
    if (++f->commands == f->fail_at)
        return f->fail_with;
    if (request == ISST_PLATFORM) {
        ((struct isst_platform *)argument)->api_version = (uint16_t)f->version;
        return 0;
    }
    if (request == ISST_MAILBOX && f->version == 1)
        return answer_mailbox(f, argument);
    if (request == ISST_MSR && f->version == 1) {
        struct isst_msr *m = argument;
        assert_int_equal(m->number, 0x1ae);
        assert_int_equal(m->write, 0);
        m->value = f->cores;
        return 0;
    }
    if (request == ISST_CPU_MAP) {
        struct isst_cpu_maps *m = argument;
        m->physical_cpu = (m->logical_cpu % f->dies) << 11 | m->logical_cpu << 3;
        return 0;
    }
    if (request == ISST_LEVELS && f->version >= 2)
        return answer_levels(f, argument);
    if (request == ISST_LEVEL_INFO && f->version >= 2)
        return answer_info(f, argument);
    if (request == ISST_TURBO_BY_PRIORITY && f->version >= 2)
        return answer_priorities(f, argument);
    return ENOTTY;
}

/* A made-up part of 32 cores. */
static struct fake thirty_two(unsigned version)
{
    static const uint8_t first[6] = {37, 35, 33, 31, 28, 0};
    struct fake f = {
        .version = version, .level = 2, .cores = UINT64_C(0x20201c1814100c08), .base = {22, 19, 15, 0}, .dies = 1};
    for (unsigned class = 0; class < 6; class ++)
        for (unsigned i = 0; first[class] && i < 8; i++)
            f.ratio[class][i] = (uint8_t)(first[class] - i);
    return f;
}

static int read_fake(struct fake *f, unsigned model, struct rated_limits *out, struct machine_error *err)
{
    static const int cpus[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct speed_select d = {.data = f, .ask = answer};
    const struct speed_select_cpu c = {.cpu = 3, .package = 1, .cpus = cpus, .n_cpus = 8, .model = model};
    memset(out, 0, sizeof *out);
    memset(err, 0, sizeof *err);
    return speed_select_read(&d, &c, out, err);
}

static void stands(const struct rated_table *t, const char *name, const char *rows)
{
    char text[400];
    rated_text(t, text, sizeof text);
    assert_string_equal(t->name, name);
    assert_string_equal(text, rows);
}

TEST(test_mailbox)
{
    struct fake f = thirty_two(1);
    struct rated_limits s;
    struct machine_error err;
    assert_int_equal(read_fake(&f, 0x6a, &s, &err), MACHINE_OK);
    /* the eighth bucket has no more cores than the seventh, and is none */
    stands(&s.tables[0], "non-AVX", "1-8: 3.7, 9-12: 3.6, 13-16: 3.5, 17-20: 3.4, 21-24: 3.3, 25-28: 3.2, 29-32: 3.1");
    stands(&s.tables[1], "AVX2", "1-8: 3.5, 9-12: 3.4, 13-16: 3.3, 17-20: 3.2, 21-24: 3.1, 25-28: 3.0, 29-32: 2.9");
    stands(&s.tables[2], "AVX-512", "1-8: 3.3, 9-12: 3.2, 13-16: 3.1, 17-20: 3.0, 21-24: 2.9, 25-28: 2.8, 29-32: 2.7");
    assert_int_equal(s.tables[3].n, 0);
    assert_float_equal(s.base_ghz[0], 2.2, 1e-9);
    assert_float_equal(s.base_ghz[2], 1.5, 1e-9);
    assert_true(isnan(s.base_ghz[3]));
    assert_non_null(strstr(s.source, "performance level 2"));
    /* Emerald Rapids: what the classes are nobody says */
    f = thirty_two(1);
    assert_int_equal(read_fake(&f, 0xcf, &s, &err), MACHINE_OK);
    assert_string_equal(s.tables[0].name, "non-AVX");
    assert_string_equal(s.tables[1].name, "level 1");
    assert_string_equal(s.tables[2].name, "level 2");
}

TEST(test_tpmi)
{
    struct fake f = thirty_two(2);
    struct rated_limits s;
    struct machine_error err;
    f.dies = 3; /* of each, a third of the cores: 8 of one are 24 of the package */
    assert_int_equal(read_fake(&f, 0xad, &s, &err), MACHINE_OK);
    stands(&s.tables[0], "non-AVX",
           "1-24: 3.7, 25-36: 3.6, 37-48: 3.5, 49-60: 3.4, 61-72: 3.3, 73-84: 3.2, 85-96: 3.1");
    assert_string_equal(s.tables[1].name, "AVX2");
    assert_string_equal(s.tables[3].name, "AVX-512 heavy");
    assert_string_equal(s.tables[4].name, "AMX");
    assert_float_equal(s.tables[4].rows[0].ghz, 2.8, 1e-9);
    assert_int_equal(s.tables[5].n, 0); /* all zero: not stated */
    assert_non_null(strstr(s.source, "3 dies"));
    f = thirty_two(3);
    assert_int_equal(read_fake(&f, 0xdd, &s, &err), MACHINE_OK);
    assert_string_equal(s.tables[1].name, "level 1");
}

/* intel/PerfSpect, number 211 */
static void put_buckets(struct fake *f)
{
    static const uint8_t ratios[5][3] = {{38, 38, 34}, {36, 35, 32}, {35, 31, 29}, {33, 28, 26}, {29, 25, 22}};
    static const uint8_t low[5] = {20, 20, 18, 15, 13};
    f->by_priority = 2;
    for (unsigned b = 0; b < 3; b++)
        f->high_cores[b] = (uint8_t)(10 * (b + 1)); /* of each of two dies */
    for (unsigned l = 0; l < 5; l++)
        memcpy(f->high_ratio[l], ratios[l], 3);
    memcpy(f->low_ratio, low, 5);
}

TEST(test_turbo_by_priority)
{
    struct fake f = thirty_two(2);
    struct rated_limits s;
    struct machine_error err;
    put_buckets(&f);
    f.dies = 2;
    assert_int_equal(read_fake(&f, 0xad, &s, &err), MACHINE_OK);
    assert_true(s.by_priority);
    stands(&s.high[0], "non-AVX", "1-20: 3.8, 21-40: 3.8, 41-60: 3.4");
    stands(&s.high[3], "AVX-512 heavy", "1-20: 3.3, 21-40: 2.8, 41-60: 2.6");
    stands(&s.high[4], "AMX", "1-20: 2.9, 21-40: 2.5, 41-60: 2.2");
    assert_int_equal(s.high[5].n, 0);
    assert_true(s.low_ghz[0] == 2.0 && fabs(s.low_ghz[4] - 1.3) < 1e-9 && s.low_ghz[5] == 0);
    f.by_priority = 1; /* off: they are stated, but not in force */
    assert_int_equal(read_fake(&f, 0xad, &s, &err), MACHINE_OK);
    assert_true(!s.by_priority && s.high[4].n == 3);
    f.by_priority = 0;
    assert_int_equal(read_fake(&f, 0xad, &s, &err), MACHINE_OK);
    assert_true(!s.by_priority && s.high[0].n == 0 && s.low_ghz[0] == 0);
    /* the mailbox has three classes, and cores of the package */
    f = thirty_two(1);
    put_buckets(&f);
    assert_int_equal(read_fake(&f, 0x6a, &s, &err), MACHINE_OK);
    assert_true(s.by_priority);
    stands(&s.high[2], "AVX-512", "1-10: 3.5, 11-20: 3.1, 21-30: 2.9");
    assert_true(s.high[3].n == 0 && fabs(s.low_ghz[2] - 1.8) < 1e-9 && s.low_ghz[3] == 0);
    /* a part without it is asked no more */
    f.by_priority = 0;
    assert_int_equal(read_fake(&f, 0x6a, &s, &err), MACHINE_OK);
    assert_true(!s.by_priority && s.high[0].n == 0);
}

/* An answer that is laid out otherwise is none. */
TEST(test_priorities_that_cannot_be)
{
    struct fake f = thirty_two(2);
    struct rated_limits s;
    struct machine_error err;
    put_buckets(&f);
    f.low_ratio[1] = 37; /* more than high priority has */
    assert_int_equal(read_fake(&f, 0xad, &s, &err), MACHINE_OK);
    assert_true(!s.by_priority && s.high[0].n == 0 && s.tables[0].n == 7);
}

/* As many limits and buckets as the device says there are, and no more than there is room for. */
TEST(test_tpmi_says_how_many)
{
    struct rated_limits all, s;
    struct machine_error err;
    struct fake f = thirty_two(2);
    memset(f.ratio[5], 20, sizeof f.ratio[5]);
    assert_int_equal(read_fake(&f, 0xad, &all, &err), MACHINE_OK);
    for (unsigned levels = 1; levels <= 8; levels++) {
        f.turbo_levels = (uint8_t)levels;
        assert_int_equal(read_fake(&f, 0xad, &s, &err), MACHINE_OK);
        for (unsigned i = 0; i < 6; i++)
            assert_int_equal(s.tables[i].n, i < levels ? all.tables[i].n : 0);
        if (levels >= 6)
            assert_memory_equal(&s, &all, sizeof s);
    }
    for (unsigned buckets = 1; buckets <= 10; buckets++) {
        f.buckets = (uint8_t)buckets;
        assert_int_equal(read_fake(&f, 0xad, &s, &err), MACHINE_OK);
        assert_int_equal(s.tables[0].n, buckets < 7 ? buckets : 7);
    }
}

/* Whichever request fails: nothing is filled in half, or only what there is. */
TEST(test_failures)
{
    for (unsigned version = 1; version <= 2; version++) {
        for (unsigned at = 1; at <= 20; at++) {
            struct fake f = thirty_two(version);
            struct rated_limits s, empty;
            struct machine_error err;
            f.fail_at = at;
            f.fail_with = at % 2 ? EPERM : ENODEV;
            memset(&empty, 0, sizeof empty);
            if (read_fake(&f, 0x8f, &s, &err) != MACHINE_OK) {
                assert_int_equal(err.status, MACHINE_CANNOT);
                assert_non_null(strstr(err.text, strerror(f.fail_with)));
                assert_memory_equal(&s, &empty, sizeof s);
            } else {
                assert_true(s.tables[0].n == 7 && s.source[0] != '\0');
            }
        }
    }
    struct fake f = thirty_two(1);
    struct rated_limits s;
    struct machine_error err;
    f.fail_at = 7; /* the second class's limits */
    f.fail_with = EINVAL;
    assert_int_equal(read_fake(&f, 0x6a, &s, &err), MACHINE_OK);
    assert_int_equal(s.tables[1].n, 0);
    assert_int_equal(s.tables[2].n, 7);
    f = thirty_two(1);
    memset(f.ratio, 0, sizeof f.ratio);
    assert_int_equal(read_fake(&f, 0x6a, &s, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "no turbo limits"));
}

/* A device that is none: a plain file, and none at all. */
TEST(test_open)
{
    char folder[FOLDER_PATH_MAX], path[100];
    struct speed_select d;
    struct machine_error err;
    struct rated_limits s = {.source = ""};
    const int cpu = 0;
    const struct speed_select_cpu c = {.cpus = &cpu, .n_cpus = 1, .model = 0x6a};
    folder_make(folder);
    assert_int_equal(speed_select_open(folder, &d), ENOENT);
    assert_int_equal(speed_select_refuse(folder, ENOENT, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, folder));
    assert_non_null(strstr(err.remedy, "isst_tpmi"));
    assert_int_equal(speed_select_refuse(folder, EACCES, &err), MACHINE_CANNOT);
    assert_string_equal(err.remedy, "run as root");
    snprintf(path, sizeof path, "%s/isst_interface", folder);
    fclose(fopen(path, "w"));
    assert_int_equal(speed_select_open(folder, &d), 0);
    assert_int_equal(speed_select_read(&d, &c, &s, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, strerror(ENOTTY)));
    d.close(&d);
    folder_remove(folder);
}

TEST(test_ranges)
{
    static const char text[] = "1-2: 3.7, 3-4: 3.5, 5: 3.4";
    static const double expected[] = {NAN, 3.7, 3.7, 3.5, 3.5, 3.4, NAN};
    for (unsigned n = 0; n < 7; n++) {
        double value = frequency_ranges_value(text, n);
        assert_true(value == expected[n] || (isnan(value) && isnan(expected[n])));
    }
    assert_true(isnan(frequency_ranges_value("not known: this machine reads no registers", 1)));
    assert_true(isnan(frequency_ranges_value(NULL, 1)));
    assert_true(isnan(frequency_ranges_value("", 1)));
    assert_true(isnan(frequency_ranges_value("1-", 1)));
    static const char *const nonsense[] = {"1-4294967295: 3", "1-65536: 3", "3-1: 3",   "-1-2: 3",   "1-2: -3.7",
                                           "1-2: 0",          "1-2: inf",   "1-2: nan", "1-2: 3700", "1-2: 1e400"};
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
        for (unsigned cores = 1; cores <= 3; cores++)
            assert_true(isnan(frequency_ranges_value(nonsense[i], cores)));
    assert_true(frequency_ranges_value("1-65535: 3", 65535) == 3);
}

BEFORE_TESTS
{
    close(STDIN_FILENO); /* the next file gets descriptor 0, which is as good as any */
}
