/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The perf machine on a made PMU: what it opens, records, marks as missing, refuses, and leaves after. */
#include <unistd.h>

#include "computer/cpu/cpu.h"
#include "tests/support/fake_pmu.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

struct rig {
    struct perf_system system;
    struct cpu_leaves leaves;
    struct machine m;
    struct machine_error err;
};

static void set_up(struct rig *r)
{
    memset(r, 0, sizeof *r);
    fake_pmu_reset();
    fake_pmu_system(&r->system, &r->leaves);
}

static void open_machine(struct rig *r)
{
    if (perf_open_at(&r->system, &r->m, &r->err) != MACHINE_OK)
        fail_msg("%s", r->err.text);
}

/* Everything that was opened is closed, and no counter was read that nobody had. */
static void close_machine(struct rig *r)
{
    r->m.ops->close(&r->m);
    assert_int_equal(fake_pmu.opened, fake_pmu.closed);
    assert_false(fake_pmu.misread);
    for (int i = 0; i < FAKE_EVENTS; i++) {
        assert_false(fake_pmu.event[i].open);
        assert_false(fake_pmu.event[i].mapped);
    }
}

static struct payload payload(const char *name)
{
    struct payload p;
    char why[200];
    assert_int_equal(kernel_parse(name, &p, why, sizeof why), 0);
    return p;
}

static struct machine_setup setup_of(const struct counter_spec *c, size_t n)
{
    return (struct machine_setup){
        .cpu = -1, .active_cores = 1, .period_us = 2, .counters = c, .n_counters = n, .max_samples = 1000};
}

static void prepare(struct rig *r, const struct counter_spec *c, size_t n)
{
    struct machine_setup s = setup_of(c, n);
    if (r->m.ops->prepare(&r->m, &s, &r->err) != MACHINE_OK)
        fail_msg("%s", r->err.text);
}

static void refuses(struct rig *r, const struct counter_spec *c, size_t n, const char *text, const char *remedy)
{
    struct machine_setup s = setup_of(c, n);
    struct cpu_mask before, after;
    unsigned open_before = fake_pmu.opened - fake_pmu.closed;
    assert_int_equal(cpu_get_affinity(&before), 0);
    assert_int_equal(r->m.ops->prepare(&r->m, &s, &r->err), MACHINE_CANNOT);
    if (strstr(r->err.text, text) == NULL || strstr(r->err.remedy, remedy) == NULL)
        fail_msg("\"%s\" (%s) instead of \"%s\" (%s)", r->err.text, r->err.remedy, text, remedy);
    assert_int_equal(cpu_get_affinity(&after), 0);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(fake_pmu.opened - fake_pmu.closed, open_before);
}

static const char *lacks(struct rig *r, enum counter_id id)
{
    const char *remedy = "?", *why = r->m.ops->lacks(&r->m, id, &remedy);
    assert_true((why == NULL) == (remedy == NULL));
    return why != NULL ? why : "";
}

static void expect_lack(struct rig *r, enum counter_id id, const char *text)
{
    const char *why = lacks(r, id);
    if (text[0] == '\0' ? why[0] != '\0' : strstr(why, text) == NULL)
        fail_msg("counter %d: \"%s\" instead of \"%s\"", (int)id, why, text);
}

static void expect_no_licenses(struct rig *r, const char *text)
{
    for (enum counter_id id = COUNTER_LVL0; id <= COUNTER_THROTTLE; id++) {
        expect_lack(r, id, "no license counters: ");
        expect_lack(r, id, text);
    }
}

/* ---- opening ---- */

TEST(test_a_skylake_sp_has_everything)
{
    struct rig r;
    struct machine_info i;
    struct cpu_mask before, after;
    set_up(&r);
    assert_int_equal(cpu_get_affinity(&before), 0);
    open_machine(&r);
    assert_int_equal(cpu_get_affinity(&after), 0);
    assert_memory_equal(&before, &after, sizeof before);
    for (int id = 0; id < COUNTER_IDS; id++) {
        bool chain = id >= COUNTER_CHAIN_TICKS && id <= COUNTER_READ_TICKS;
        expect_lack(&r, (enum counter_id)id, chain ? "chain" : "");
    }
    r.m.ops->info(&r.m, &i);
    assert_string_equal(i.name, "perf");
    assert_false(i.modelled);
    assert_null(strstr(i.source, "modelled"));
    assert_non_null(strstr(i.cpu, "06_55H-4"));
    assert_int_equal(i.cpu_number, -1);
    assert_int_equal(fake_pmu.opened, fake_pmu.closed); /* nothing stays open until prepare */
    assert_null(r.m.ops->read_register);
    close_machine(&r);
}

TEST(test_licenses_that_do_not_take_their_turn_are_not_offered)
{
    struct rig r;
    set_up(&r);
    fake_pmu.level_of[1] = 0; /* 256 bits at level 0 */
    open_machine(&r);
    expect_no_licenses(&r, "with 256fma levels 0, 1, 2 took 100.0, 0.0, 0.0 %");
    expect_lack(&r, COUNTER_EVENT, "");
    close_machine(&r);
}

TEST(test_licenses_without_avx512)
{
    struct rig r;
    set_up(&r);
    r.system.license_features &= ~(unsigned)KERNEL_NEEDS_AVX512F;
    open_machine(&r);
    expect_lack(&r, COUNTER_LVL0, "");
    expect_lack(&r, COUNTER_LVL1, "");
    expect_lack(&r, COUNTER_LVL2, "the CPU has no AVX-512");
    expect_lack(&r, COUNTER_THROTTLE, "");
    close_machine(&r);
}

TEST(test_licenses_without_a_free_counter)
{
    struct rig r;
    set_up(&r);
    fake_pmu.programmable = 3; /* enough for the levels */
    open_machine(&r);
    expect_lack(&r, COUNTER_LVL2, "");
    expect_lack(&r, COUNTER_THROTTLE, "no hardware counter is free for throttled cycles");
    close_machine(&r);
    set_up(&r);
    fake_pmu.programmable = 2;
    open_machine(&r);
    expect_no_licenses(&r, "no hardware counter is free for license level 2");
    close_machine(&r);
}

TEST(test_parts_without_license_events)
{
    struct rig r;
    set_up(&r);
    fake_pmu_identity(&r.leaves, "GenuineIntel", 6, 0x8f, 8);
    open_machine(&r);
    expect_no_licenses(&r, "no license events have been published for Sapphire Rapids");
    close_machine(&r);
    fake_pmu_identity(&r.leaves, "GenuineIntel", 6, 0x55, 9);
    open_machine(&r);
    expect_no_licenses(&r, "there is no event table for GenuineIntel 06_55H-9");
    close_machine(&r);
    fake_pmu_identity(&r.leaves, "GenuineIntel", 6, 0x55, 4);
    r.leaves.structured.edx |= 1u << 24; /* AMX, says the hypervisor of a Skylake-SP */
    open_machine(&r);
    expect_no_licenses(&r, "does not match its features");
    close_machine(&r);
}

static int no_reference_cycles(const struct perf_event_attr *a)
{
    return a->type == PERF_TYPE_HARDWARE && a->config == PERF_COUNT_HW_REF_CPU_CYCLES ? -ENOENT : 0;
}

TEST(test_amd)
{
    struct rig r;
    uint64_t code = 0;
    set_up(&r);
    fake_pmu_identity(&r.leaves, "AuthenticAMD", 0x19, 0x11, 1);
    fake_pmu.refuse = no_reference_cycles; /* Zen 1 to 3 */
    open_machine(&r);
    expect_no_licenses(&r, "AMD processors have no license levels");
    expect_lack(&r, COUNTER_CYCLES, "");
    expect_lack(&r, COUNTER_INSTRUCTIONS, "");
    expect_lack(&r, COUNTER_REF_CYCLES, "reference cycles");
    expect_lack(&r, COUNTER_REF_CYCLES, "MPERF cannot be read by RDPMC");
    assert_int_equal(r.m.ops->find_event(&r.m, "ex_ret_ops", &code, &r.err), MACHINE_OK);
    assert_int_equal(code, 0x00c1);
    close_machine(&r);
}

/* Linux drops bits 35:32 of the codes of other processors' events, and would count another event: C7H for 1C7H. */
TEST(test_selects_of_twelve_bits_are_amds)
{
    static const unsigned selects[] = {0x100, 0x120, 0x1a0, 0x1c7, 0x29a, 0xfff};
    struct rig r;
    for (size_t i = 0; i < sizeof selects / sizeof *selects; i++) {
        const struct counter_spec two[2] = {{COUNTER_CYCLES, 0}, {COUNTER_EVENT, event_code_make(selects[i], 8)}};
        char name[EVENT_COLUMN_MAX];
        event_code_format(two[1].event, name, sizeof name);
        set_up(&r);
        open_machine(&r);
        refuses(&r, two, 2, name, "0x00 to 0xff");
        refuses(&r, two, 2, "only AMD processors have event selects above 0xff", "");
        close_machine(&r);
        set_up(&r);
        fake_pmu_identity(&r.leaves, "AuthenticAMD", 0x19, 0x11, 1);
        open_machine(&r);
        prepare(&r, two, 2);
        assert_non_null(fake_pmu_find((uint64_t)(selects[i] >> 8) << 32 | 0x800 | (selects[i] & 0xff)));
        close_machine(&r);
    }
}

static int nothing(const struct perf_event_attr *a)
{
    (void)a;
    return -ENOENT;
}

TEST(test_without_a_pmu_it_cannot_be_opened)
{
    struct rig r;
    set_up(&r);
    fake_pmu.refuse = nothing;
    assert_int_equal(perf_open_at(&r.system, &r.m, &r.err), MACHINE_CANNOT);
    assert_non_null(strstr(r.err.text, "cannot count cycles on CPU"));
    set_up(&r);
    fake_pmu.map_fails = true;
    assert_int_equal(perf_open_at(&r.system, &r.m, &r.err), MACHINE_CANNOT);
    assert_non_null(strstr(r.err.text, "cannot be mapped"));
    assert_int_equal(fake_pmu.opened, fake_pmu.closed);
}

TEST(test_names_of_events)
{
    struct rig r;
    uint64_t code = 0;
    set_up(&r);
    open_machine(&r);
    assert_int_equal(r.m.ops->find_event(&r.m, "core_power.lvl1_turbo_license", &code, &r.err), MACHINE_OK);
    assert_int_equal(code, 0x1828);
    assert_int_equal(r.m.ops->find_event(&r.m, "CORE_POWER.LVL9", &code, &r.err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(r.err.remedy, "CORE_POWER.LVL0_TURBO_LICENSE"));
    close_machine(&r);
    fake_pmu_identity(&r.leaves, "GenuineIntel", 6, 0x55, 9);
    open_machine(&r);
    assert_int_equal(r.m.ops->find_event(&r.m, "CORE_POWER.THROTTLE", &code, &r.err), MACHINE_CANNOT);
    assert_non_null(strstr(r.err.remedy, "--event 0x28:0x08"));
    close_machine(&r);
}

/* ---- hybrid parts ---- */

TEST(test_hybrid_parts_are_measured_by_the_pmu_of_the_cpu)
{
    char root[FOLDER_PATH_MAX], command[100];
    struct rig r;
    uint64_t code;
    folder_make(root);
    /* all CPUs of this machine as efficiency cores: no table, and the counters are those of cpu_atom */
    folder_put(root, "bus/event_source/devices/cpu_core/type", "4\n");
    folder_put(root, "bus/event_source/devices/cpu_atom/type", "10\n");
    folder_put(root, "bus/event_source/devices/cpu_core/cpus", "8000\n");
    folder_put(root, "bus/event_source/devices/cpu_atom/cpus", "0-7999\n");
    snprintf(command, sizeof command, "ln -s /sys/devices '%s/devices'", root);
    assert_int_equal(system(command), 0);
    set_up(&r);
    r.system.sys = root;
    fake_pmu_identity(&r.leaves, "GenuineIntel", 6, 0x97, 2);
    r.leaves.structured.edx &= ~(1u << 24);
    open_machine(&r);
    expect_no_licenses(&r, "no event table for GenuineIntel 06_97H-2, efficiency cores");
    static const struct counter_spec two[2] = {{COUNTER_CYCLES, 0}, {COUNTER_EVENT, 0x00c0}};
    prepare(&r, two, 2);
    assert_non_null(fake_pmu_find(10ull << 32 | PERF_COUNT_HW_CPU_CYCLES));
    assert_int_equal(fake_pmu_find(0x00c0)->attr.type, 10);
    close_machine(&r);

    /* names that were looked up for performance cores do not hold for efficiency cores */
    folder_put(root, "bus/event_source/devices/cpu_core/cpus", "0-7999\n");
    folder_put(root, "bus/event_source/devices/cpu_atom/cpus", "8000\n");
    open_machine(&r);
    expect_no_licenses(&r, "no license events have been published for Alder Lake");
    assert_int_equal(r.m.ops->find_event(&r.m, "UOPS_ISSUED.ANY", &code, &r.err), MACHINE_OK);
    assert_int_equal(code, 0x01ae);
    prepare(&r, two, 2);
    r.m.ops->finish(&r.m);
    folder_put(root, "bus/event_source/devices/cpu_core/cpus", "8000\n");
    folder_put(root, "bus/event_source/devices/cpu_atom/cpus", "0-7999\n");
    refuses(&r, two, 2, "the event names are those of cpu_core, but CPU", "give the code");
    close_machine(&r);
    folder_remove(root);
}

/* ---- recording ---- */

static const struct counter_spec many[] = {
    {COUNTER_CYCLES, 0},     {COUNTER_CHAIN_TICKS, 0}, {COUNTER_EVENT, 0x0c1}, {COUNTER_INSTRUCTIONS, 0},
    {COUNTER_REF_CYCLES, 0}, {COUNTER_LVL0, 0},        {COUNTER_LVL1, 0},      {COUNTER_LVL2, 0},
};
enum { MANY = sizeof many / sizeof *many, C_CYCLES = 2, C_CHAIN, C_EVENT, C_INSTRUCTIONS, C_REF, C_LVL0 };

static void run(struct rig *r, unsigned i, struct recording *rec)
{
    struct payload from = payload("64add"), to = payload("64or");
    struct segment segments[3] = {{from, 300, false}, {from, 40, true}, {to, 200, true}};
    struct run_request request = {segments, 3, 2, i, 0};
    if (r->m.ops->run(&r->m, &request, rec, &r->err) != MACHINE_OK)
        fail_msg("%s", r->err.text);
    assert_false(rec->migrated);
    assert_true(rec->n >= 3 && rec->n <= rec->capacity);
}

/* Counts follow the TSC as the made core runs, except for the time between the two reads: what this CPU does in it. */
static void check_counts(const struct recording *rec)
{
    size_t near = 0;
    for (size_t i = 1; i < rec->n; i++) {
        const uint64_t *now = rec->words + i * rec->stride, *before = now - rec->stride;
        double ticks = (double)(now[0] - before[0]);
        assert_true(now[0] > before[0] && now[1] > before[1]);
        assert_int_equal(now[C_CHAIN], COUNTER_MISSING);
        for (size_t c = C_CYCLES; c < 2 + MANY; c++)
            assert_true(c == C_CHAIN || (now[c] != COUNTER_MISSING && now[c] >= before[c]));
        near += fabs((double)(now[C_CYCLES] - before[C_CYCLES]) / ticks - 1.25) < 0.1 &&
                fabs((double)(now[C_REF] - before[C_REF]) / ticks - 1) < 0.1 &&
                fabs((double)(now[C_INSTRUCTIONS] - before[C_INSTRUCTIONS]) / ticks - 2.5) < 0.2 &&
                fabs((double)(now[C_EVENT] - before[C_EVENT]) / ticks - 0.3125) < 0.1;
    }
    assert_true(near > rec->n / 2); /* the others were interrupted between two counters */
}

TEST(test_a_recording_of_every_width)
{
    static const unsigned widths[] = {32, 40, 48, 64};
    for (size_t w = 0; w < 4; w++) {
        struct rig r;
        struct recording rec;
        struct machine_info info;
        set_up(&r);
        fake_pmu.width = widths[w];
        open_machine(&r);
        prepare(&r, many, MANY);
        for (unsigned i = 0; i < 3; i++) {
            run(&r, i, &rec);
            assert_int_equal(rec.stride, 2 + MANY);
            assert_int_equal(rec.zero_tsc, rec.words[rec.zero_reading * rec.stride]);
            check_counts(&rec);
        }
        r.m.ops->info(&r.m, &info);
        assert_null(strstr(info.notes, "missing"));
        assert_int_equal(info.active_cores, 1);
        r.m.ops->finish(&r.m);
        assert_int_equal(fake_pmu.opened, fake_pmu.closed);
        close_machine(&r);
    }
}

/* Each has a loop of its own. */
TEST(test_every_number_of_counters)
{
    struct rig r;
    struct counter_spec specs[MACHINE_COUNTERS_MAX] = {
        {COUNTER_CYCLES, 0}, {COUNTER_REF_CYCLES, 0}, {COUNTER_INSTRUCTIONS, 0}};
    set_up(&r);
    fake_pmu.programmable = 8;
    open_machine(&r);
    for (uint32_t i = 3; i < PERF_COUNTERS_MAX; i++)
        specs[i] = (struct counter_spec){COUNTER_EVENT, i << 8 | 0xc0};
    for (size_t n = 0; n <= PERF_COUNTERS_MAX; n++) {
        struct recording rec;
        prepare(&r, specs, n);
        run(&r, 0, &rec);
        assert_int_equal(rec.stride, 2 + n);
        for (size_t i = 1; i < rec.n; i++) {
            for (size_t c = 2; c < 2 + n; c++) {
                assert_true(rec.words[i * rec.stride + c] != COUNTER_MISSING);
                assert_true(rec.words[i * rec.stride + c] > rec.words[(i - 1) * rec.stride + c]);
            }
        }
    }
    specs[PERF_COUNTERS_MAX] = specs[0];
    r.m.ops->finish(&r.m);
    refuses(&r, specs, PERF_COUNTERS_MAX + 1, "more than 11 counters", "fewer events");
    close_machine(&r);
}

/* ---- what the kernel does meanwhile ---- */

static unsigned away_from, away_to; /* calls of RDPMC between which the cycles are on no counter */

/* Other counters are read in between: the switch itself is seen by whichever comes next. */
static void kernel_switches(unsigned call)
{
    struct fake_event *e = fake_pmu_find(PERF_COUNT_HW_CPU_CYCLES);
    if (e == NULL)
        return;
    if (call == away_from) {
        e->page.lock += 2;
        e->page.index = 0;
        e->page.time_enabled += 1000;
        e->page.time_running += 1000;
    } else if (call == away_to) {
        /* back on another counter, with an offset that fits it; it was enabled, but off, for 3 us */
        e->page.lock += 2;
        e->page.index = 7 + 1;
        e->page.offset += 12345;
        e->page.time_enabled += 3000;
    }
}

TEST(test_samples_that_were_not_counted_are_missing_and_no_others)
{
    static const struct counter_spec two[2] = {{COUNTER_CYCLES, 0}, {COUNTER_INSTRUCTIONS, 0}};
    struct rig r;
    struct recording rec;
    struct machine_info info;
    set_up(&r);
    open_machine(&r);
    prepare(&r, two, 2);
    run(&r, 0, &rec); /* calibrates */
    /* RDPMC is called twice a reading while both count, and once while the cycles are away */
    fake_pmu.at_rdpmc = kernel_switches;
    size_t missing = 0, first = 0, last = 0;
    bool inside = false; /* the recording, which the probes before it come before */
    for (unsigned attempt = 0; attempt < 100 && !inside; attempt++) {
        away_from = fake_pmu.calls + 300 + 15 * attempt;
        away_to = away_from + 10;
        run(&r, 1, &rec);
        missing = first = last = 0;
        for (size_t i = 0; i < rec.n; i++) {
            bool none = rec.words[i * rec.stride + 2] == COUNTER_MISSING;
            assert_true(rec.words[i * rec.stride + 3] != COUNTER_MISSING);
            first = none && missing == 0 ? i : first;
            last = none ? i : last;
            missing += none;
        }
        inside = missing > 0 && first > 0 && last + 2 < rec.n;
    }
    assert_true(inside);
    assert_true(missing >= 10 && missing <= 12);
    assert_int_equal(last - first + 1, missing); /* one stretch */
    for (size_t i = last + 2; i < rec.n; i++) {  /* afterwards it counts on */
        const uint64_t *now = rec.words + i * rec.stride, *before = now - rec.stride;
        assert_true(now[2] > before[2] && now[2] - before[2] < fake_pmu_cycles(now[0] - before[0]) * 100);
    }
    r.m.ops->info(&r.m, &info);
    assert_non_null(strstr(info.notes, "of the counts are missing: something else used the counters"));
    assert_null(strchr(info.notes, '\n'));
    prepare(&r, two, 2);
    r.m.ops->info(&r.m, &info);
    assert_null(strstr(info.notes, "missing"));
    close_machine(&r);
}

/* Every third read is torn by a change of the page that leaves the count what it is. */
static void kernel_touches(unsigned call)
{
    struct fake_event *e = fake_pmu_find(PERF_COUNT_HW_CPU_CYCLES);
    if (e != NULL && call % 3 == 0) {
        e->page.lock += 2;
        e->page.offset ^= 1;
    }
}

TEST(test_torn_reads_cost_nothing_but_time)
{
    static const struct counter_spec one[1] = {{COUNTER_CYCLES, 0}};
    struct rig r;
    struct recording rec;
    set_up(&r);
    open_machine(&r);
    prepare(&r, one, 1);
    fake_pmu.at_rdpmc = kernel_touches;
    run(&r, 0, &rec);
    for (size_t i = 1; i < rec.n; i++) {
        assert_true(rec.words[i * rec.stride + 2] != COUNTER_MISSING);
        assert_true(rec.words[i * rec.stride + 2] >= rec.words[(i - 1) * rec.stride + 2]);
    }
    close_machine(&r);
}

/* ---- what does not fit ---- */

TEST(test_events_requested_come_before_licenses)
{
    static const struct counter_spec specs[] = {{COUNTER_LVL0, 0},     {COUNTER_LVL1, 0},       {COUNTER_LVL2, 0},
                                                {COUNTER_THROTTLE, 0}, {COUNTER_EVENT, 0x0828}, {COUNTER_EVENT, 0x0228},
                                                {COUNTER_CYCLES, 0}};
    struct rig r;
    struct recording rec;
    struct machine_info info;
    set_up(&r);
    open_machine(&r);
    prepare(&r, specs, 7);
    r.m.ops->info(&r.m, &info);
    assert_non_null(strstr(info.notes, "not counted: license level 2, throttled cycles; no hardware counter is free"));
    run(&r, 0, &rec);
    for (size_t i = 0; i < rec.n; i++) {
        for (size_t c = 0; c < 7; c++) {
            bool missing = rec.words[i * rec.stride + 2 + c] == COUNTER_MISSING;
            assert_true(missing == (c == 2 || c == 3));
        }
    }
    close_machine(&r);
}

static int no_raw_events(const struct perf_event_attr *a)
{
    return a->type == PERF_TYPE_RAW ? -EINVAL : 0;
}

TEST(test_events_that_cannot_be_counted_are_refused)
{
    static const struct counter_spec five[] = {{COUNTER_EVENT, 0x0128},
                                               {COUNTER_EVENT, 0x0228},
                                               {COUNTER_EVENT, 0x0428},
                                               {COUNTER_EVENT, 0x0828},
                                               {COUNTER_EVENT, 0x1028}};
    static const struct counter_spec cycles[] = {{COUNTER_CYCLES, 0}};
    struct rig r;
    struct recording rec;
    struct payload p = payload("64add");
    struct segment segment = {p, 10, true};
    struct run_request request = {&segment, 1, 0, 0, 0};
    set_up(&r);
    open_machine(&r);
    assert_int_equal(r.m.ops->run(&r.m, &request, &rec, &r.err), MACHINE_FAILED);
    refuses(&r, five, 5, "no hardware counter is free for event 0x28:0x10", "count in several runs");
    fake_pmu.refuse = no_raw_events;
    refuses(&r, five, 1, "cannot count event 0x28:0x01 on CPU", "do without it");
    fake_pmu.refuse = NULL;
    fake_pmu.rdpmc_allowed = false;
    refuses(&r, cycles, 1, "user space may not read it by RDPMC", "echo 1 > /sys/bus");
    fake_pmu.rdpmc_allowed = true;
    fake_pmu.map_fails = true;
    refuses(&r, cycles, 1, "the counter page for cycles cannot be mapped", "ulimit -l");
    fake_pmu.map_fails = false;
    assert_int_equal(r.m.ops->run(&r.m, &request, &rec, &r.err), MACHINE_FAILED);
    prepare(&r, cycles, 1);
    segment.duration_us = 1e5;
    assert_int_equal(r.m.ops->run(&r.m, &request, &rec, &r.err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(r.err.text, "room for"));
    close_machine(&r);
}
