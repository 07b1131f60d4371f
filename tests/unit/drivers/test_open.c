/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening machines by their names: what comes of one that does not open, and counters together with registers. */
#include <sys/resource.h>

#include "drivers/choices.h"
#include "drivers/msr/msr_machine.h"
#include "computer/cpu/tsc.h"
#include "probes/transition.h"
#include "tests/support/fake_pmu.h"
#include "tests/support/test.h"

/* A system on which everything works but the helper. */
static size_t choices(struct machine_choice c[4])
{
    struct choice_facts f = {.helper.open_errno = ENOENT,
                             .rdpmc_setting = 1,
                             .perf_rdpmc = true,
                             .perf_counter = true,
                             .perf_counts = true,
                             .perf_paranoid = 2,
                             .timing_usable = true};
    size_t n = choices_from_facts(&f, c, 4);
    assert_int_equal(n, 4);
    assert_true(!c[0].usable && c[1].usable && c[2].usable && c[3].usable);
    return n;
}

/* ---- machines that only open and close; some do not ---- */

static struct {
    char opened[100];   /* the names, in order */
    const char *broken; /* names that do not open */
    const char *open;   /* the one that is open; NULL = none */
    bool registers, no_registers;
} made;

static void made_close(struct machine *m)
{
    (void)m;
    made.open = NULL;
}

static const struct machine_ops made_ops = {.close = made_close};

static int made_open(const char *name, struct machine *out, struct machine_error *err)
{
    size_t used = strlen(made.opened);
    assert_null(made.open);
    snprintf(made.opened + used, sizeof made.opened - used, " %s", name);
    if (strstr(made.broken, name) != NULL) {
        memset(err, 0, sizeof *err);
        err->status = MACHINE_CANNOT;
        snprintf(err->text, sizeof err->text, "%s is broken", name);
        return MACHINE_CANNOT;
    }
    made.open = name;
    *out = (struct machine){.ops = &made_ops};
    return MACHINE_OK;
}

static int made_add(struct machine *m, struct machine_error *err)
{
    assert_ptr_equal(m->ops, &made_ops);
    made.registers = true;
    memset(err, 0, sizeof *err);
    err->status = made.no_registers ? MACHINE_FAILED : MACHINE_OK;
    snprintf(err->text, sizeof err->text, "out of memory");
    return err->status;
}

static const struct choice_openers made_openers = {.open = made_open, .add_registers = made_add};

/* Opens `name` where `broken` do not open; compares what was tried and auto's line. */
static void opens(const char *name, const char *broken, bool msr, int status, const char *tried, const char *report)
{
    struct machine_choice c[4];
    struct machine m;
    struct machine_error err;
    char line[600] = "?";
    size_t n = choices(c);
    memset(&made, 0, sizeof made);
    made.broken = broken;
    c[2].usable = msr;
    assert_int_equal(choices_open(name, c, n, &made_openers, &m, line, sizeof line, &err), status);
    assert_string_equal(made.opened, tried);
    assert_string_equal(line, report);
    assert_true((made.open != NULL) == (status == MACHINE_OK));
    assert_true(status == MACHINE_OK || (err.status == (enum machine_status)status && strstr(err.text, "is broken")));
}

#define HELPER "helper: no /dev/characterize: the kernel module characterize is not loaded"
#define LISTED " (--list machines: what would help)"
#define BROKEN(name) "; " name ": looked usable, but could not be opened: " name " is broken"

TEST(test_auto_goes_on_to_the_next)
{
    opens("auto", "", true, MACHINE_OK, " perf",
          "measuring with perf (performance counters; registers); more with " HELPER LISTED);
    assert_true(made.registers);
    opens("auto", "perf", true, MACHINE_OK, " perf msr",
          "measuring with msr (frequency, IPC and halts by time stamps; registers); more with " HELPER BROKEN("perf")
              LISTED);
    assert_false(made.registers); /* msr has its own */
    opens("auto", "perf", false, MACHINE_OK, " perf timing",
          "measuring with timing (frequency, IPC and halts by time stamps); more with " HELPER BROKEN(
              "perf") "; msr: time stamps and registers" LISTED);
    opens("auto", "perf msr", true, MACHINE_OK, " perf msr timing",
          "measuring with timing (frequency, IPC and halts by time stamps); more with " HELPER BROKEN("perf")
              BROKEN("msr") LISTED);
    opens("auto", "perf msr timing", true, MACHINE_CANNOT, " perf msr timing",
          "nothing: " HELPER BROKEN("perf") BROKEN("msr") BROKEN("timing"));
}

TEST(test_a_name_is_that_machine_or_none)
{
    opens("perf", "", true, MACHINE_OK, " perf", "");
    assert_true(made.registers);
    opens("perf", "", false, MACHINE_OK, " perf", "");
    assert_false(made.registers);
    opens("perf", "perf", true, MACHINE_CANNOT, " perf", "");
    opens("timing", "", true, MACHINE_OK, " timing", "");
    assert_false(made.registers);
}

/* The remedy ends with the machines that work here; where timing does not work, none does. */
TEST(test_what_works_instead_of_one_that_does_not)
{
    static const char *const names[] = {"helper", "auto"}, *const work[] = {
                                                               "; --machine timing or model:NAME work",
                                                               "--machine timing or model:NAME work elsewhere"};
    for (size_t i = 0; i < 2; i++) {
        struct machine_choice c[4];
        struct machine m;
        struct machine_error err;
        size_t n = choices(c);
        for (size_t k = 0; i == 1 && k < n; k++)
            c[k].usable = false;
        assert_int_equal(choices_open(names[i], c, n, &made_openers, &m, NULL, 0, &err), MACHINE_CANNOT);
        size_t length = strlen(err.remedy), end = strlen(work[i]);
        if (length < end || strcmp(err.remedy + length - end, work[i]) != 0)
            fail_msg("%s: %s", names[i], err.remedy);
    }
}

TEST(test_counters_that_get_no_registers_are_closed)
{
    struct machine_choice c[4];
    struct machine m;
    struct machine_error err;
    char line[600];
    size_t n = choices(c);
    memset(&made, 0, sizeof made);
    made.broken = "";
    made.no_registers = true;
    assert_int_equal(choices_open("perf", c, n, &made_openers, &m, line, sizeof line, &err), MACHINE_FAILED);
    assert_null(made.open);
    assert_int_equal(choices_open("auto", c, n, &made_openers, &m, line, sizeof line, &err), MACHINE_OK);
    assert_string_equal(line,
                        "measuring with msr (frequency, IPC and halts by time stamps; registers); more with " HELPER
                        "; perf: looked usable, but could not be opened: out of memory" LISTED);
}

/* ---- the perf machine on a made PMU, with made registers ---- */

static struct perf_system made_system;
static struct {
    unsigned reads, closed;
} registers;

static int read_made(struct msr_device *d, uint32_t reg, uint64_t *value)
{
    (void)d;
    registers.reads++;
    *value = reg == MSR_PERF_STATUS ? UINT64_C(7209) << 32 | 0x1c00 : 0; /* 0.88 V */
    return reg == MSR_PERF_STATUS ? 0 : EIO;
}

static void close_made(struct msr_device *d)
{
    (void)d;
    registers.closed++;
}

static int open_made(void *context, int cpu, struct msr_device *out)
{
    (void)context;
    *out = (struct msr_device){.cpu = cpu, .fd = -1, .read = read_made, .close = close_made};
    return 0;
}

static int open_made_pmu(const char *name, struct machine *out, struct machine_error *err)
{
    assert_string_equal(name, "perf");
    return perf_open_at(&made_system, out, err);
}

static int add_made_registers(struct machine *m, struct machine_error *err)
{
    struct msr_access access = {.open = open_made, .part = {.intel = true, .family = 6, .model = 0x55}};
    struct machine inner = *m;
    return msr_machine_wrap(&inner, &access, m, err);
}

static void open_both(struct machine *out)
{
    static const struct choice_openers how = {.open = open_made_pmu, .add_registers = add_made_registers};
    static struct cpu_leaves leaves;
    struct machine_choice c[4];
    struct machine_error err;
    char report[600];
    memset(&registers, 0, sizeof registers);
    fake_pmu_reset();
    fake_pmu.programmable = 8;
    fake_pmu_system(&made_system, &leaves);
    if (choices_open("auto", c, choices(c), &how, out, report, sizeof report, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

static struct transition_setup setup_of(void)
{
    struct payload from, to;
    struct transition_setup s;
    char why[200];
    assert_int_equal(kernel_parse("64add", &from, why, sizeof why), 0);
    assert_int_equal(kernel_parse("64or", &to, why, sizeof why), 0);
    transition_defaults(&s, &from, &to);
    s.runs = 20;
    s.machine.active_cores = 1;
    s.period_us = 3;
    return s;
}

TEST(test_counters_and_voltage)
{
    struct machine m;
    struct machine_error err;
    struct transition_setup s = setup_of();
    struct repetitions r;
    uint64_t code = 0;
    size_t volts = 0, samples = 0;
    open_both(&m);
    assert_int_equal(m.ops->find_event(&m, "core_power.lvl1_turbo_license", &code, &err), MACHINE_OK);
    assert_int_equal(code, 0x1828);
    struct machine_event named[8];
    assert_int_equal(m.ops->named_events(&m, 0x28, named, 8, &volts, &err), MACHINE_OK);
    assert_int_equal(volts, 4);
    volts = 0;
    s.n_events = 1;
    s.events[0] = (struct raw_event){.code = 0x00c1};
    if (transition_run(&m, &s, NULL, NULL, &r, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    assert_string_equal(trace_get(&r.trace, "machine"), "perf+msr");
    assert_non_null(strstr(trace_get(&r.trace, "source"), "RDPMC"));
    assert_non_null(strstr(trace_get(&r.trace, "source"), "registers through"));
    assert_null(trace_get(&r.trace, "frequency")); /* a mean over the sample, not the chain's */
    assert_int_equal(r.trace.n_extra, 1);
    for (size_t i = 0; i < r.trace.n; i++) {
        bool sampled = r.trace.run[i] < s.runs;
        assert_true(sampled || isnan(r.trace.channel[TRACE_FREQ][i]));
        assert_true(sampled || r.trace.extra[0].offset[i] == 0);
        samples += sampled;
        if (!sampled) {
            assert_float_equal(r.trace.channel[TRACE_VOLTS][i], 0.88, 1e-4);
            volts++;
        }
    }
    m.ops->close(&m);
    assert_int_equal(registers.closed, 2 * 10 + 1); /* cost of samples: nine pairs; and the experiment */
    assert_int_equal(fake_pmu.opened, fake_pmu.closed);
    assert_false(fake_pmu.misread);
    if (r.n_invalid > 15 || volts < 50) { /* of 133 readings */
        print_message("skipped: %zu of 20 repetitions were taken off the CPU, %zu voltages were read in time\n",
                      r.n_invalid, volts);
        repetitions_free(&r);
        skip();
    }
    assert_non_null(r.trace.channel[TRACE_LVL2]);
    assert_true(samples > 0);
    repetitions_free(&r);
}

/* How often so far; a sleep of one's own does not count. */
static long taken_away(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

/* A core that sleeps between the kernel and the reading has another voltage: a repetition ends without a rest. And
 * where nothing is sampled time 0 is known all the same. */
TEST(test_nothing_comes_between_a_repetition_and_the_reading)
{
    enum { RUNS = 20 };
    struct machine m;
    struct machine_info info;
    struct machine_error err;
    struct transition_setup s = setup_of();
    struct counter_spec cycles = {COUNTER_CYCLES, 0};
    struct machine_setup setup = {
        .cpu = -1, .active_cores = 1, .period_us = 1, .counters = &cycles, .n_counters = 1, .max_samples = 100};
    struct segment segments[2] = {{s.from, 3000, false}, {s.to, 2000, false}};
    double soonest = INFINITY;
    unsigned undisturbed = 0;
    open_both(&m);
    assert_int_equal(m.ops->prepare(&m, &setup, &err), MACHINE_OK);
    m.ops->info(&m, &info);
    for (unsigned i = 0; i < RUNS; i++) {
        struct run_request request = {.segments = segments, .n_segments = 2, .zero_segment = 1, .repetition = i};
        struct recording rec;
        uint64_t value;
        long switches = taken_away();
        uint64_t before = tsc_now();
        assert_int_equal(m.ops->run(&m, &request, &rec, &err), MACHINE_OK);
        assert_int_equal(m.ops->read_register(&m, MSR_PERF_STATUS, &value, &err), MACHINE_OK);
        assert_int_equal(rec.n, 0);
        assert_true(rec.zero_tsc > before && rec.zero_tsc < m.ops->register_tsc(&m));
        double us = (double)(m.ops->register_tsc(&m) - rec.zero_tsc) / info.tsc_hz * 1e6;
        assert_true(us >= 1999);
        soonest = fmin(soonest, us);
        undisturbed += taken_away() == switches;
    }
    m.ops->close(&m);
    if (undisturbed < 3) {
        print_message("skipped: the CPU was taken away in %u of %d repetitions\n", RUNS - undisturbed, RUNS);
        skip();
    }
    /* a tenth of 5 ms of real-time priority would be 500 us */
    assert_true(soonest < 2100);
}

/* Three letters away may be meant, four would be a guess; of models, a part of the name, or two letters away. */
TEST(test_a_name_that_is_nearly_one)
{
    static const struct {
        const char *spec, *perhaps;
    } cases[] = {
        {"timing ", "timing"},
        {"timi", "timing"},
        {"tim", "timing"},
        {"ti", "auto"},
        {"xtimingxx", "timing"},
        {"xtimingxxx", NULL},
        {"PERF", "perf"},
        {"perv", "perf"},
        {"erf", "perf"},
        {"helpxxx", "helper"},
        {"helxxxx", NULL},
        {"gold-6130", "model:xeon-gold-6130"},
        {"6130", "model:xeon-gold-6130"},
        {"XEON-gold-613", "model:xeon-gold-6130"},
        {"xeon-golf-6131", "model:xeon-gold-6130"},
        {"xeon-golf-6142", NULL},
        {"613", "msr"},
        {"", "msr"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine m;
        struct machine_error err;
        char report[100] = "?", expected[200];
        assert_int_equal(machine_open(cases[i].spec, NULL, &m, report, sizeof report, &err), MACHINE_BAD_INPUT);
        assert_string_equal(report, "");
        snprintf(expected, sizeof expected, "unknown machine '%s'%s%s%s", cases[i].spec,
                 cases[i].perhaps ? ", perhaps '" : "", cases[i].perhaps ? cases[i].perhaps : "",
                 cases[i].perhaps ? "'" : "");
        assert_string_equal(err.text, expected);
        assert_string_equal(err.remedy, "machines: auto, timing, perf, msr, helper, model:NAME, model:FILE");
    }
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1);
}
