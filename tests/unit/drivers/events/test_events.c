/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Codes of events, tables of events: what is read, what is refused, which CPU gets which, and the shipped encodings. */
#include <inttypes.h>

#include "drivers/events/events.h"
#include "tests/support/test.h"

/* ---- codes ---- */

TEST(test_codes_that_are_read)
{
    static const struct {
        const char *text;
        uint64_t code;
        const char *format, *column;
    } cases[] = {
        {"0x28:0x08", 0x0828, "0x28:0x08", "event_28_08"},
        {"0X28:0X18", 0x1828, "0x28:0x18", "event_28_18"},
        {"40:8", 0x0828, "0x28:0x08", "event_28_08"},
        {"0xff:0xFF", 0xffff, "0xff:0xff", "event_ff_ff"},
        {"0:0", 0, "0x00:0x00", "event_00_00"},
        {"0xa3:0x0c:cmask=12", 0x0c000ca3, "0xa3:0x0c:cmask=12", "event_a3_0c_cmask12"},
        {"0x0e:0x01:inv:cmask=0x1", 0x0180010e, "0x0e:0x01:cmask=1:inv", "event_0e_01_cmask1_inv"},
        {"0xc3:1:edge:cmask=1", 0x010401c3, "0xc3:0x01:cmask=1:edge", "event_c3_01_cmask1_edge"},
        {"0xff:0xff:cmask=255:inv:edge", 0xff84ffff, "0xff:0xff:cmask=255:inv:edge", "event_ff_ff_cmask255_inv_edge"},
        {"0x1c7:0x08", 0x1000008c7, "0x1c7:0x08", "event_1c7_08"},
        {"666:0xff", 0x20000ff9a, "0x29a:0xff", "event_29a_ff"},
        {"0x100:0", 0x100000000, "0x100:0x00", "event_100_00"},
        {"0xfff:0xff:cmask=255:inv:edge", 0xfff84ffff, "0xfff:0xff:cmask=255:inv:edge",
         "event_fff_ff_cmask255_inv_edge"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t code = 1;
        char text[EVENT_COLUMN_MAX];
        assert_null(event_code_parse(cases[i].text, &code));
        assert_int_equal(code, cases[i].code);
        event_code_format(code, text, sizeof text);
        assert_string_equal(text, cases[i].format);
        assert_null(event_code_parse(text, &code));
        assert_int_equal(code, cases[i].code);
        event_code_column(code, text);
        assert_string_equal(text, cases[i].column);
    }
}

TEST(test_codes_that_are_refused)
{
    static const char *const cases[][2] = {
        {"", "EVENT:UMASK"},
        {"0x28", "EVENT:UMASK"},
        {":", "event select"},
        {"0x1000:0", "event select"},
        {"4096:0", "event select"},
        {"-1:0", "event select"},
        {"0x:0", "event select"},
        {" 1:0", "event select"},
        {"0x28:", "umask"},
        {"0x28:0x100", "umask"},
        {"0x28:8 ", "umask"},
        {"0x28:0x08,", "umask"},
        {"1:1:", "unknown condition"},
        {"1:1:any", "unknown condition"},
        {"1:1:invx", "unknown condition"},
        {"1:1:cmask=", "cmask that"},
        {"1:1:cmask=0", "cmask that"},
        {"1:1:cmask=256", "cmask that"},
        {"1:1:edge:edge", "twice"},
        {"1:1:inv", "without a cmask"},
        {"1:1:cmask=1:cmask=2", "twice"},
        {"0x28:99999999999999999999", "umask"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t code;
        const char *wrong = event_code_parse(cases[i][0], &code);
        if (wrong == NULL || strstr(wrong, cases[i][1]) == NULL)
            fail_msg("'%s': %s instead of %s", cases[i][0], wrong != NULL ? wrong : "accepted", cases[i][1]);
    }
}

/* All selects and umasks: what a code is made of is what it holds, and no two are the same. */
TEST(test_codes_are_what_they_are_made_of)
{
    for (unsigned select = 0; select <= EVENT_SELECT_MAX_AMD; select++) {
        for (unsigned umask = 0; umask <= 0xff; umask++) {
            uint64_t code = event_code_make(select, umask);
            assert_int_equal(event_code_select(code), select);
            assert_int_equal(event_code_umask(code), umask);
            assert_int_equal(code & ~UINT64_C(0xf0000ffff), 0);
            assert_true(select > EVENT_SELECT_MAX || code == (umask << 8 | select)); /* as they always were */
        }
    }
}

/* ---- tables ---- */

#define HEAD "format = characterize-events/1\n[part]\ntitle = T # s\ncpu = GenuineIntel 0x06 0x55 0-4 # s\n"

static struct events_table table; /* large */

static int parse(const char *text, struct machine_error *err)
{
    return events_parse(text, strlen(text), "some.events", &table, err);
}

TEST(test_a_table)
{
    struct machine_error err;
    static const char text[] =
        "# comment\r\n\nformat = characterize-events/1\r\n[part]\ntitle = A part # M\n"
        "cpu = GenuineIntel 0x06 0x55 5-7 # M\ncpu = AuthenticAMD 0x17 0x30-0xff * # M\npmu = cpu_core # K\n"
        "[licence]\nlvl2 = C.2 # P\nlvl0 = c.0 # P\nlvl1 = C.1 # P\n"
        "[events]\n C.0=0x28:0x07 0-3 # P; L\nC.1 = 0x28:0x18\t0-3#P\nC.2 = 0x28:0x20 2 # P\nD = 1:2:cmask=3 0-31 # P";
    assert_int_equal(parse(text, &err), MACHINE_OK);
    assert_string_equal(table.title, "A part");
    assert_string_equal(table.pmu, "cpu_core");
    assert_int_equal(table.n_parts, 2);
    assert_int_equal(table.n_entries, 4);
    assert_int_equal(table.entries[0].code, 0x0728);
    assert_int_equal(table.entries[0].counters, 0xf);
    assert_int_equal(table.entries[0].line, 14);
    assert_int_equal(table.entries[2].counters, 4);
    assert_int_equal(table.entries[3].counters, 0xffffffff);
    assert_int_equal(table.license[EVENTS_LVL0], 0);
    assert_int_equal(table.license[EVENTS_LVL2], 2);
    assert_int_equal(table.license[EVENTS_THROTTLE], -1);
    assert_ptr_equal(events_by_name(&table, "c.1", &err), &table.entries[1]);
    assert_null(events_by_name(&table, "C.0.NOT", &err));
    assert_int_equal(err.status, MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "no event 'C.0.NOT' in the event table of A part"));
    assert_non_null(strstr(err.remedy, "nearest: C.0"));
    assert_null(events_by_name(&table, "zzz", &err));
    assert_non_null(strstr(err.remedy, "--event 0x28:0x08"));
    struct machine_event found[3];
    assert_int_equal(events_by_select(&table, 0x28, found, 3), 3);
    assert_string_equal(found[1].name, "C.1");
    assert_int_equal(found[1].code, 0x1828);
    assert_int_equal(events_by_select(&table, 0x28, found, 2), 2);
    assert_int_equal(events_by_select(&table, 1, found, 3), 1);
    assert_int_equal(found[0].code, 0x03000201);
    assert_int_equal(events_by_select(&table, 0x29, found, 3), 0);
}

/* Of which event each level is, whatever their order, and with or without levels of kernels. */
TEST(test_license_events_in_any_order)
{
    static const char *const orders[] = {"ABCD", "BACD", "CBAD", "DCBA", "BCDA"};
    for (size_t i = 0; i < 4 * (sizeof orders / sizeof *orders); i++) {
        const char *order = orders[i / 4];
        bool levels = i % 2 == 1, throttle = i % 4 >= 2;
        struct machine_error err;
        char text[600];
        snprintf(text, sizeof text,
                 HEAD "[licence]\nlvl0 = A # s\nlvl1 = B # s\nlvl2 = C # s\n%s%s[events]\n"
                      "%c = 1:1 0 # s\n%c = 1:2 0 # s\n%c = 1:4 0 # s\n%c = 1:8 0 # s\n",
                 throttle ? "throttle = D # s\n" : "", levels ? "levels = 0 1 2 # s\n" : "", order[0], order[1],
                 order[2], order[3]);
        if (parse(text, &err) != MACHINE_OK)
            fail_msg("%s: %s", text, err.text);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(table.license[k], strchr(order, 'A' + k) - order);
            assert_int_equal(table.level_of[k], levels ? k : -1);
        }
        assert_int_equal(table.license[EVENTS_THROTTLE], throttle ? strchr(order, 'D') - order : -1);
    }
}

TEST(test_bad_lines_are_refused_with_file_and_line)
{
    static const char *const cases[][2] = {
        {"", "some.events: empty; it begins with 'format = characterize-events/1'"},
        {"[part]\n", "1: format: missing; the file begins with 'format = characterize-events/1'"},
        {"format = characterize-events/2\n",
         "1: format: 'characterize-events/2' is not a format that this program reads"},
        {"format = characterize-events/1\nx = 1 # s\n", "2: x: comes before the first section"},
        {"format = characterize-events/1\n[cpu]\n", "2: cpu: no such section; known sections: part licence events"},
        {HEAD, "the file ends without an event"},
        {"format = characterize-events/1\n[part]\ntitle = T # s\n", "the file ends without a cpu"},
        {"format = characterize-events/1\n[part]\ntitle = T\n", "3: title: has no source"},
        {"format = characterize-events/1\n[part]\ntitle = T #  \n", "3: title: has no source"},
        {"format = characterize-events/1\n[part]\ntitle = # s\n", "3: title: has no value"},
        {"format = characterize-events/1\n[part]\nnot so # s\n", "3: not so: not understood"},
        {HEAD "title = U # s\n", "5: title: given twice, first in line 3"},
        {HEAD "pmu = cpu_core # s\npmu = cpu_core # s\n", "6: pmu: given twice, first in line 5"},
        {HEAD "pmu = cpu # s\n", "5: pmu: 'cpu'"},
        {HEAD "name = x # s\n", "5: name: no such key in section [part]; known keys: title cpu pmu"},
        {HEAD "[licence]\nlevels = 0 1 # s\n", "6: levels: '0 1': those of 64add, 256fma and 512fma"},
        {HEAD "[licence]\nlevels = 0 2 1 # s\n", "6: levels: '0 2 1'"},
        {HEAD "[licence]\nlevels = 1 1 2 # s\n", "6: levels: '1 1 2'"},
        {HEAD "[licence]\nlevels = 0 1 3 # s\n", "6: levels: '0 1 3'"},
        {HEAD "[licence]\nlevels = 0,1,2 # s\n", "6: levels: '0,1,2'"},
        {HEAD "[licence]\nlevels = 0 1 2 # s\nlevels = 0 1 2 # s\n", "7: levels: given twice, first in line 6"},
        {HEAD "[licence]\nlevels = 0 1 2\n", "6: levels: has no source"},
        {HEAD "[licence]\nlevels = 0 0 1 # s\n[events]\nA = 1:1 0 # s\n", "levels, but no events for them"},
        {HEAD "[events]\nA = 0x28:0 0 # s\nB = 0x128:0 0 # s\n", "7: B: event select 0x128: allowed: 0x00 to 0xff"},
        {HEAD "[events]\nA = 0x1000:0 0 # s\n", "6: A: '0x1000:0' has an event select"},
        {HEAD "cpu = GenuineIntel 6 0x55 # s\n", "5: cpu: four words"},
        {HEAD "cpu = GenuineIntel 6 0x55 0-4 5 # s\n", "5: cpu: four words"},
        {HEAD "cpu = Intel 6 0x55 * # s\n", "5: cpu: vendor 'Intel'"},
        {HEAD "cpu = GenuineIntel six 0x55 * # s\n", "5: cpu: family 'six'"},
        {HEAD "cpu = GenuineIntel 6-7 0x55 * # s\n", "5: cpu: family '6-7'"},
        {HEAD "cpu = GenuineIntel 6 0x155 * # s\n", "5: cpu: models '0x155'"},
        {HEAD "cpu = GenuineIntel 6 0x56-0x55 * # s\n", "5: cpu: models"},
        {HEAD "cpu = GenuineIntel 6 0x55 16 # s\n", "5: cpu: steppings '16'"},
        {HEAD "cpu = GenuineIntel 6 0x55 4- # s\n", "5: cpu: steppings '4-'"},
        {HEAD "[licence]\nlvl3 = A # s\n",
         "6: lvl3: no such key in section [licence]; known keys: lvl0 lvl1 lvl2 throttle levels"},
        {HEAD "[licence]\nlvl0 = A # s\nlvl0 = A # s\n", "7: lvl0: given twice, first in line 6"},
        {HEAD "[licence]\nlvl0 = A # s\n[events]\nB = 1:1 0 # s\n", "6: no event 'A'"},
        {HEAD "[licence]\nlvl0 = B # s\n[events]\nB = 1:1 0 # s\n", "needs all of lvl0, lvl1 and lvl2"},
        {HEAD "[licence]\nlvl1 = B # s\n[events]\nB = 1:1 0 # s\n", "needs all of lvl0, lvl1 and lvl2"},
        {HEAD "[licence]\nlvl2 = B # s\n[events]\nB = 1:1 0 # s\n", "needs all of lvl0, lvl1 and lvl2"},
        {HEAD "[licence]\nthrottle = B # s\n[events]\nB = 1:1 0 # s\n", "needs all of lvl0, lvl1 and lvl2"},
        {HEAD "[events]\nA = 1:1 # s\n", "6: A: two words"},
        {HEAD "[events]\nA = 1:1 0 1 # s\n", "6: A: two words"},
        {HEAD "[events]\nA = 1:300 0 # s\n", "6: A: '1:300' has a umask"},
        {HEAD "[events]\nA = 1:1 0-32 # s\n", "6: A: counters '0-32'"},
        {HEAD "[events]\nA = 1:1 F0 # s\n", "6: A: counters 'F0'"},
        {HEAD "[events]\nA = 1:1 0 # s\na = 1:2 0 # s\n", "7: a: given twice, first in line 6"},
        {HEAD "[events]\n1A = 1:1 0 # s\n", "6: 1A: not an event name"},
        {HEAD "[events]\nA B = 1:1 0 # s\n", "6: A B: not an event name"},
        {HEAD "[events]\nA\x1b = 1:1 0 # s\n", "6: A?: not an event name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine_error err = {0};
        int status = parse(cases[i][0], &err);
        if (status != MACHINE_BAD_INPUT || strstr(err.text, cases[i][1]) == NULL ||
            strncmp(err.text, "some.events:", 12) != 0) {
            fail_msg("\"%s\": \"%s\" instead of \"%s\"", cases[i][0], status == MACHINE_OK ? "accepted" : err.text,
                     cases[i][1]);
        }
    }
    struct machine_error err;
    assert_int_equal(events_parse("format\0= x", 10, "some.events", &table, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "byte 7 is 00H"));
}

/* ---- which CPU gets which table ---- */

static struct cpu_identity cpu_of(const char *vendor, unsigned family, unsigned model, unsigned stepping)
{
    struct cpu_identity id = {.family = family, .model = model, .stepping = stepping};
    snprintf(id.vendor, sizeof id.vendor, "%s", vendor);
    snprintf(id.signature, sizeof id.signature, "%02X_%02XH-%u", family, model, stepping);
    return id;
}

static const char *title_of(unsigned model, unsigned stepping, const char *pmu)
{
    struct cpu_identity id = cpu_of("GenuineIntel", 6, model, stepping);
    struct machine_error err;
    int status = events_find("data", &id, pmu, &table, &err);
    assert_true(status == MACHINE_OK || status == MACHINE_CANNOT);
    return status == MACHINE_OK ? table.title : "";
}

TEST(test_06_55H_is_three_products)
{
    static const char *const titles[16] = {"Skylake-SP",
                                           "Skylake-SP",
                                           "Skylake-SP",
                                           "Skylake-SP",
                                           "Skylake-SP",
                                           "Cascade Lake",
                                           "Cascade Lake",
                                           "Cascade Lake",
                                           "",
                                           "",
                                           "Cooper Lake",
                                           "Cooper Lake",
                                           "",
                                           "",
                                           "",
                                           ""};
    for (unsigned stepping = 0; stepping < 16; stepping++) {
        const char *title = title_of(0x55, stepping, "cpu");
        assert_true((titles[stepping][0] == '\0') == (title[0] == '\0'));
        assert_int_equal(strncmp(title, titles[stepping], strlen(titles[stepping])), 0);
    }
}

TEST(test_hybrid_parts_by_their_core)
{
    struct machine_error err;
    struct cpu_identity id = cpu_of("GenuineIntel", 6, 0x97, 2);
    assert_non_null(strstr(title_of(0x97, 2, "cpu_core"), "Alder Lake"));
    assert_string_equal(title_of(0x97, 2, "cpu"), "");
    assert_int_equal(events_find("data", &id, "cpu_atom", &table, &err), MACHINE_CANNOT);
    assert_string_equal(err.text, "there is no event table for GenuineIntel 06_97H-2, efficiency cores");
    id = cpu_of("AuthenticAMD", 0x19, 0x11, 1);
    assert_int_equal(events_find("data", &id, "cpu", &table, &err), MACHINE_OK);
    assert_string_equal(table.title, "AMD Zen 4");
    id = cpu_of("CentaurHauls", 6, 0x55, 4);
    assert_int_equal(events_find("data", &id, "cpu", &table, &err), MACHINE_CANNOT);
    assert_int_equal(events_find("/nonexistent", &id, "cpu", &table, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.remedy, "CHARACTERIZE_DATA"));
}

TEST(test_no_cpu_fits_two_tables)
{
    static struct events_table all[40];
    struct machine_error err;
    size_t n = 0;
    char path[300];
    FILE *list = popen("ls data/events/*.events", "r");
    assert_non_null(list);
    while (fgets(path, sizeof path, list) != NULL) {
        static char text[1 << 16];
        path[strcspn(path, "\n")] = '\0';
        FILE *in = fopen(path, "r");
        assert_non_null(in);
        size_t length = fread(text, 1, sizeof text - 1, in);
        text[length] = '\0';
        fclose(in);
        assert_true(n < 40);
        if (events_parse(text, length, path, &all[n++], &err) != MACHINE_OK)
            fail_msg("%s", err.text);
    }
    pclose(list);
    assert_int_equal(n, 18);
    for (unsigned amd = 0; amd < 2; amd++) {
        for (unsigned i = 0; i < 3u * 256 * 16; i++) {
            static const unsigned families[3] = {6, 0x17, 0x19};
            struct cpu_identity id = cpu_of(amd ? "AuthenticAMD" : "GenuineIntel", families[i >> 12], i >> 4 & 0xff,
                                            i & 0xf);
            unsigned fitting = 0;
            for (size_t k = 0; k < n; k++)
                fitting += events_match(&all[k], &id, "cpu") || events_match(&all[k], &id, "cpu_core");
            assert_true(fitting <= 1);
        }
    }
}

/* ---- the shipped encodings ---- */

/*
 * Each with its source: intel/perfmon core event lists (versions at the head of each file), libpfm4 and pcm for event
 * 28H; Linux 6.12 tools/perf/pmu-events/arch/x86/amdzen*.
 */
TEST(test_encodings)
{
    static const struct {
        unsigned model, stepping;
        const char *pmu, *name;
        uint64_t code;
        uint32_t counters;
    } pinned[] = {
        /* skylakex_core.json v1.37; libpfm4 intel_skl_events.h (counters 0-3); pcm pcm-power.cpp */
        {0x55, 4, "cpu", "CORE_POWER.LVL0_TURBO_LICENSE", 0x0728, 0xf},
        {0x55, 4, "cpu", "CORE_POWER.LVL1_TURBO_LICENSE", 0x1828, 0xf},
        {0x55, 4, "cpu", "CORE_POWER.LVL2_TURBO_LICENSE", 0x2028, 0xf},
        {0x55, 4, "cpu", "CORE_POWER.THROTTLE", 0x4028, 0xf},
        {0x55, 4, "cpu", "CYCLE_ACTIVITY.STALLS_L2_MISS", 0x050005a3, 0xf},
        {0x55, 4, "cpu", "EXE_ACTIVITY.BOUND_ON_STORES", 0x40a6, 0xf},
        {0x55, 4, "cpu", "UOPS_ISSUED.ANY", 0x010e, 0xf},
        {0x55, 4, "cpu", "UOPS_ISSUED.STALL_CYCLES", 0x0180010e, 0xf},
        {0x55, 4, "cpu", "MACHINE_CLEARS.COUNT", 0x010401c3, 0xf},
        {0x55, 4, "cpu", "FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE", 0x40c7, 0xf},
        /* cascadelakex_core.json v1.25 */
        {0x55, 7, "cpu", "CORE_POWER.LVL1_TURBO_LICENSE", 0x1828, 0xf},
        {0x55, 7, "cpu", "CORE_POWER.THROTTLE", 0x4028, 0xf},
        {0x55, 11, "cpu", "FP_ARITH_INST_RETIRED2.512BIT_PACKED_BF16", 0x80cf, 0xf},
        /* icelake_core.json v1.24, icelakex_core.json v1.30, tigerlake_core.json v1.19, rocketlake_core.json v1.04;
         * counters 0-3 only: also Linux 6.12 arch/x86/events/intel/core.c, range 1FH-28H */
        {0x7e, 5, "cpu", "CORE_POWER.LVL0_TURBO_LICENSE", 0x0728, 0xf},
        {0x6a, 6, "cpu", "CORE_POWER.LVL2_TURBO_LICENSE", 0x2028, 0xf},
        {0x8c, 1, "cpu", "CORE_POWER.LVL1_TURBO_LICENSE", 0x1828, 0xf},
        {0xa7, 1, "cpu", "CORE_POWER.LVL1_TURBO_LICENSE", 0x1828, 0xf},
        {0x6a, 6, "cpu", "EXE_ACTIVITY.BOUND_ON_STORES", 0x020040a6, 0xff},
        {0x6a, 6, "cpu", "IDQ_UOPS_NOT_DELIVERED.CYCLES_0_UOPS_DELIV.CORE", 0x0500019c, 0xff},
        /* sapphirerapids_core.json v1.39 */
        {0x8f, 8, "cpu", "UOPS_ISSUED.ANY", 0x01ae, 0xff},
        {0x8f, 8, "cpu", "EXE.AMX_BUSY", 0x02b7, 0xff},
        /* broadwellx_core.json v23; haswellx_core.json v29 */
        {0x4f, 1, "cpu", "CYCLE_ACTIVITY.STALLS_L1D_MISS", 0x0c000ca3, 0x4},
        {0x3f, 2, "cpu", "AVX_INSTS.ALL", 0x07c6, 0xf},
        /* alderlake_goldencove_core.json v1.40; libpfm4 intel_adl_glc_events.h */
        {0x97, 2, "cpu_core", "CORE_POWER.LICENSE_1", 0x0228, 0xf},
    };
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        struct machine_error err;
        assert_true(title_of(pinned[i].model, pinned[i].stepping, pinned[i].pmu)[0] != '\0');
        const struct events_entry *e = events_by_name(&table, pinned[i].name, &err);
        if (e == NULL || e->code != pinned[i].code || e->counters != pinned[i].counters) {
            fail_msg("%s of %s: %08" PRIx64 ", counters %x", pinned[i].name, table.title, e != NULL ? e->code : 0,
                     e != NULL ? e->counters : 0);
        }
    }
}

TEST(test_zen_4s_selects_of_twelve_bits)
{
    const struct cpu_identity zen4 = {.vendor = "AuthenticAMD", .family = 0x19, .model = 0x11, .stepping = 1};
    struct machine_error err;
    struct machine_event found[4];
    assert_int_equal(events_find("data", &zen4, "cpu", &table, &err), MACHINE_OK);
    /* Linux, tools/perf/pmu-events/arch/x86/amdzen4/core.json, other.json */
    assert_int_equal(events_by_name(&table, "ls_not_halted_p0_cyc.p0_freq_cyc", &err)->code, 0x100000120);
    assert_int_equal(events_by_name(&table, "de_no_dispatch_per_slot.smt_contention", &err)->code, 0x1000060a0);
    assert_int_equal(events_by_select(&table, 0x1a0, found, 4), 3);
    assert_int_equal(events_by_select(&table, 0xa0, found, 4), 0);
}

TEST(test_who_has_license_events)
{
    /* perfmon: CORE_POWER levels in the lists of these and of no others; THROTTLE only in the first three */
    static const struct {
        unsigned model, stepping;
        bool levels, throttle;
    } parts[] = {{0x55, 4, true, true},   {0x55, 6, true, true},   {0x55, 11, true, true},  {0x7e, 5, true, false},
                 {0x6a, 6, true, false},  {0x8c, 1, true, false},  {0xa7, 1, true, false},  {0x8f, 8, false, false},
                 {0xcf, 2, false, false}, {0xad, 1, false, false}, {0x5e, 3, false, false}, {0x3c, 3, false, false},
                 {0x3f, 2, false, false}, {0x4f, 1, false, false}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        assert_true(title_of(parts[i].model, parts[i].stepping, "cpu")[0] != '\0');
        for (int k = EVENTS_LVL0; k <= EVENTS_LVL2; k++)
            assert_true((table.license[k] >= 0) == parts[i].levels);
        assert_true((table.license[EVENTS_THROTTLE] >= 0) == parts[i].throttle);
        bool skylake = parts[i].model == 0x55 && parts[i].stepping <= 4; /* the only one that was measured */
        for (int k = 0; k < 3; k++)
            assert_int_equal(table.level_of[k], skylake ? k : -1);
        if (parts[i].levels) {
            assert_int_equal(table.entries[table.license[EVENTS_LVL0]].code, 0x0728);
            assert_int_equal(table.entries[table.license[EVENTS_LVL1]].code, 0x1828);
            assert_int_equal(table.entries[table.license[EVENTS_LVL2]].code, 0x2028);
        }
    }
    /* listed without a description: no levels */
    assert_true(title_of(0x97, 2, "cpu_core")[0] != '\0');
    assert_int_equal(table.license[EVENTS_LVL0], -1);
}
