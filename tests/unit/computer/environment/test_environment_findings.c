/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of an environment: handmade computers with one thing wrong at a time. */
#include "tests/support/computer.h"
#include "tests/support/test.h"

static const struct finding *find(const struct findings *f, const char *id)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->list[i].id, id) == 0)
            return &f->list[i];
    return NULL;
}

static const struct finding *must_find(const struct findings *f, const char *id)
{
    const struct finding *found = find(f, id);
    if (!found)
        fail_msg("nothing is reported of %s", id);
    return found ? found : f->list;
}

/* The finding, which must be the only one of a kind other than FINDING_QUIET; *f is to be freed. */
static const struct finding *only(const struct computer *c, const char *id, struct findings *f)
{
    computer_findings(c, f);
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].kind != FINDING_QUIET && strcmp(f->list[i].id, id) != 0)
            fail_msg("%s: %s", f->list[i].id, f->list[i].seen);
    const struct finding *found = find(f, id);
    if (!found || found->kind == FINDING_QUIET)
        fail_msg("no %s", id);
    return found;
}

TEST(test_quiet)
{
    static const char *const ids[] = {
        "governor",       "driver",      "turbo",         "epp",         "frequency-limits",
        "thermal",        "power-cap",   "smt",           "isolation",   "irqs",
        "irq-affinity",   "irqbalance",  "tick",          "nohz-full",   "workqueues",
        "kernel-threads", "processes",   "nmi-watchdog",  "cstates",     "load",
        "uncore",         "clocksource", "microcode",     "mitigations", "huge-pages",
        "aslr",           "pmu",         "perf-paranoid", "rdpmc",       "msr-module",
        "lockdown",       "secure-boot", "rt-throttling"};
    struct computer c;
    struct findings f;
    computer_quiet(&c);
    computer_findings(&c, &f);
    for (size_t i = 0; i < f.n; i++)
        if (f.list[i].kind != FINDING_QUIET)
            fail_msg("%s: %s", f.list[i].id, f.list[i].seen);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (!find(&f, ids[i]))
            fail_msg("%s is not reported", ids[i]);
    assert_int_equal(findings_count(&f, FINDING_QUIET), f.n);
    findings_free(&f);
}

/* ---- one thing wrong, shown by its files ---- */

#define CPU3 "/sys/devices/system/cpu/cpu3/"
#define WRITE(value, path) "echo " value " | sudo tee " path

TEST(test_facts)
{
    static const struct {
        enum environment_fact which;
        const char *text, *id;
        enum finding_kind kind;
        const char *change, *undo;
        double cost; /* -1: none */
    } cases[] = {
        {ENV_GOVERNOR, "schedutil", "governor", FINDING_DISTURBS, WRITE("performance", CPU3 "cpufreq/scaling_governor"),
         WRITE("schedutil", CPU3 "cpufreq/scaling_governor"), 1 - 1.0 / 3.7},
        {ENV_GOVERNOR, "x; rm -rf ~", "governor", FINDING_DISTURBS, "", "", 1 - 1.0 / 3.7},
        {ENV_GOVERNOR, "-n", "governor", FINDING_DISTURBS, "", "", 1 - 1.0 / 3.7},
        {ENV_NO_TURBO, "1", "turbo", FINDING_LIMITS, WRITE("0", "/sys/devices/system/cpu/intel_pstate/no_turbo"),
         WRITE("1", "/sys/devices/system/cpu/intel_pstate/no_turbo"), -1},
        {ENV_EPP, "balance_performance", "epp", FINDING_DISTURBS,
         WRITE("performance", CPU3 "cpufreq/energy_performance_preference"),
         WRITE("balance_performance", CPU3 "cpufreq/energy_performance_preference"), -1},
        {ENV_MAX_KHZ, "2800000", "frequency-limits", FINDING_DISTURBS,
         WRITE("3700000", CPU3 "cpufreq/scaling_max_freq"), WRITE("2800000", CPU3 "cpufreq/scaling_max_freq"),
         1 - 2.8 / 3.7},
        {ENV_CAP_UW, "100000000", "power-cap", FINDING_DISTURBS,
         WRITE("125000000", "/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw"),
         WRITE("100000000", "/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw"), -1},
        {ENV_UNCORE_MIN_KHZ, "800000", "uncore", FINDING_DISTURBS,
         "sudo grep . /sys/devices/system/cpu/intel_uncore_frequency/*/min_freq_khz >~/uncore.before; echo 2400000 | "
         "sudo tee /sys/devices/system/cpu/intel_uncore_frequency/*/min_freq_khz",
         "while IFS=: read -r f v; do echo \"$v\" | sudo tee \"$f\"; done <~/uncore.before", -1},
        {ENV_NMI_WATCHDOG, "1", "nmi-watchdog", FINDING_DISTURBS, WRITE("0", "/proc/sys/kernel/nmi_watchdog"),
         WRITE("1", "/proc/sys/kernel/nmi_watchdog"), 0.35 * 5e-6},
        {ENV_RT_RUNTIME, "950000", "rt-throttling", FINDING_LIMITS, WRITE("-1", "/proc/sys/kernel/sched_rt_runtime_us"),
         WRITE("950000", "/proc/sys/kernel/sched_rt_runtime_us"), -1},
        {ENV_PERF_PARANOID, "4", "perf-paranoid", FINDING_LIMITS, WRITE("2", "/proc/sys/kernel/perf_event_paranoid"),
         WRITE("4", "/proc/sys/kernel/perf_event_paranoid"), -1},
        {ENV_PERF_RATE, "1", "perf-sample-rate", FINDING_LIMITS,
         WRITE("100000", "/proc/sys/kernel/perf_event_max_sample_rate"),
         WRITE("1", "/proc/sys/kernel/perf_event_max_sample_rate"), -1},
        {ENV_PERF_RATE, "250", "perf-sample-rate", FINDING_LIMITS,
         WRITE("100000", "/proc/sys/kernel/perf_event_max_sample_rate"),
         WRITE("250", "/proc/sys/kernel/perf_event_max_sample_rate"), -1},
        {ENV_RDPMC, "0", "rdpmc", FINDING_LIMITS, WRITE("1", "/sys/bus/event_source/devices/cpu*/rdpmc"),
         WRITE("0", "/sys/bus/event_source/devices/cpu*/rdpmc"), -1},
        {ENV_LOCKDOWN, "none [integrity] confidentiality", "lockdown", FINDING_LIMITS, "", "", -1},
        {ENV_ASLR, "2", "aslr", FINDING_DISTURBS, WRITE("0", "/proc/sys/kernel/randomize_va_space"),
         WRITE("2", "/proc/sys/kernel/randomize_va_space"), -1},
        {ENV_HUGE_PAGES, "[always] madvise never", "huge-pages", FINDING_DISTURBS,
         WRITE("madvise", "/sys/kernel/mm/transparent_hugepage/enabled"),
         WRITE("always", "/sys/kernel/mm/transparent_hugepage/enabled"), -1},
        {ENV_CLOCKSOURCE, "hpet", "clocksource", FINDING_DISTURBS, "", "", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct computer c;
        struct findings f;
        computer_quiet(&c);
        computer_set(&c, cases[i].which, cases[i].text);
        const struct finding *found = only(&c, cases[i].id, &f);
        assert_int_equal(found->kind, cases[i].kind);
        assert_non_null(strstr(found->seen, cases[i].text));
        assert_true(found->seen[0] == '/');
        assert_true(strlen(found->why) > 20);
        assert_string_equal(found->change, cases[i].change);
        assert_string_equal(found->undo, cases[i].undo);
        if (cases[i].cost < 0)
            assert_true(isnan(found->cost));
        else
            assert_true(fabs(found->cost - cases[i].cost) < 1e-9);
        findings_free(&f);
    }
}

/* powersave is three things: hints to the processor, the kernel's algorithm, and the lowest frequency. */
TEST(test_powersave)
{
    static const struct {
        const char *driver, *epp, *why; /* "": nothing is wrong */
    } cases[] = {{"intel_pstate", "performance", ""},
                 {"amd-pstate-epp", "performance", ""},
                 {"intel_pstate", NULL, "adapts the frequency to the load"},
                 {"intel_cpufreq", "performance", "at its lowest frequency"},
                 {"amd-pstate", NULL, "at its lowest frequency"},
                 {"acpi-cpufreq", NULL, "at its lowest frequency"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct computer c;
        struct findings f;
        computer_quiet(&c);
        computer_set(&c, ENV_DRIVER, cases[i].driver);
        computer_set(&c, ENV_GOVERNOR, "powersave");
        if (cases[i].epp == NULL)
            c.e.fact[ENV_EPP].error = ENOENT;
        computer_findings(&c, &f);
        const struct finding *governor = must_find(&f, "governor");
        assert_int_equal(governor->kind, cases[i].why[0] != '\0' ? FINDING_DISTURBS : FINDING_QUIET);
        assert_non_null(strstr(governor->why, cases[i].why));
        findings_free(&f);
    }
}

/* What limits the processor that chooses by itself: the preference, and all limits, of all CPUs or of one. */
TEST(test_limits_of_all_cpus)
{
    struct computer c;
    struct findings f;
    computer_quiet(&c);
    computer_set(&c, ENV_GOVERNOR, "powersave");
    computer_set(&c, ENV_MAX_PERF_PCT, "100");
    computer_findings(&c, &f);
    assert_int_equal(findings_count(&f, FINDING_DISTURBS), 0);
    findings_free(&f);
    computer_set(&c, ENV_MAX_PERF_PCT, "80");
    const struct finding *limits = only(&c, "frequency-limits", &f);
    assert_true(limits->counted && fabs(limits->cost - 0.2) < 1e-12);
    assert_string_equal(limits->change, WRITE("100", "/sys/devices/system/cpu/intel_pstate/max_perf_pct"));
    findings_free(&f);
}

/* A highest frequency that cannot be right is named, and nothing is judged by it. */
TEST(test_implausible_highest_frequency)
{
    static const struct {
        const char *highest;
        double base_khz;
        bool plausible;
    } cases[] = {{"3700000", 2.1e6, true}, {"3001000", 3e6, true},   {"3000000", 3e6, true}, {"6200000", NAN, true},
                 {"800000", NAN, true},    {"800000", 3e6, false},   {"0", NAN, false},      {"x", NAN, false},
                 {"10000000", 3e6, false}, {"10000000", NAN, false}, {"700000", NAN, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct computer c;
        struct findings f;
        computer_quiet(&c);
        computer_set(&c, ENV_LOWEST_KHZ, "800000");
        computer_set(&c, ENV_HIGHEST_KHZ, cases[i].highest);
        c.e.base_khz = cases[i].base_khz;
        c.e.base_from = "its name";
        computer_set(&c, ENV_MAX_KHZ, cases[i].highest);
        computer_findings(&c, &f);
        const struct finding *highest = must_find(&f, "max-frequency");
        assert_int_equal(highest->kind, cases[i].plausible ? FINDING_QUIET : FINDING_LIMITS);
        assert_non_null(strstr(highest->seen, cases[i].highest));
        findings_free(&f);

        computer_set(&c, ENV_GOVERNOR, "schedutil");
        computer_set(&c, ENV_MAX_KHZ, "700000");
        computer_findings(&c, &f);
        assert_int_equal(isnan(must_find(&f, "governor")->cost), !cases[i].plausible);
        assert_int_equal(must_find(&f, "frequency-limits")->kind,
                         cases[i].plausible ? FINDING_DISTURBS : FINDING_QUIET);
        findings_free(&f);
    }
}

TEST(test_root_needs_no_sudo)
{
    struct computer c;
    struct findings f;
    computer_quiet(&c);
    c.e.root = true;
    computer_set(&c, ENV_ASLR, "2");
    assert_string_equal(only(&c, "aslr", &f)->change, "echo 0 | tee /proc/sys/kernel/randomize_va_space");
    findings_free(&f);
}

/* ---- one thing wrong, shown by counts ---- */

static void expect(struct computer *c, const char *id, enum finding_kind kind, const char *seen, double cost)
{
    struct findings f;
    const struct finding *found = only(c, id, &f);
    assert_int_equal(found->kind, kind);
    if (!strstr(found->seen, seen))
        fail_msg("%s: '%s' is not in '%s'", id, seen, found->seen);
    if (!(isnan(cost) ? isnan(found->cost) : fabs(found->cost - cost) < 1e-9))
        fail_msg("%s costs %g, not %g", id, found->cost, cost);
    if (!isnan(cost))
        assert_true(found->counted);
    findings_free(&f);
}

TEST(test_counted)
{
    struct computer c;
    computer_quiet(&c);
    c.e.busy_sibling = 0.4;
    c.tasks[c.e.n_tasks++] = (struct environment_task){.pid = 12, .name = "make", .cpu_ms = 400, .on_sibling = true};
    expect(&c, "smt", FINDING_DISTURBS, "make (12) ran 400.0 ms", 0.1);

    computer_quiet(&c);
    c.e.steal = 0.02;
    expect(&c, "steal", FINDING_DISTURBS, "2.00 % of the time of CPU 3", 0.02);

    computer_quiet(&c);
    c.e.cgroup_quota = 0.5;
    expect(&c, "container", FINDING_DISTURBS, "0.5 CPUs", 0.5);
    c.e.cgroup_quota = 4;
    expect(&c, "container", FINDING_DISTURBS, "4 CPUs", NAN);

    computer_quiet(&c);
    c.tasks[c.e.n_tasks++] = (struct environment_task){.pid = 7, .name = "bash", .cpu_ms = 20, .on_cpu = true};
    c.tasks[c.e.n_tasks++] = (struct environment_task){
        .pid = 8, .name = "characterize", .cpu_ms = 20, .on_cpu = true, .self = true};
    expect(&c, "processes", FINDING_DISTURBS, "bash (7) 20 ms", 0.02);
    /* a compiler's processes end before anybody looks: their time is the CPU's */
    c.e.busy_here = 0.9;
    c.e.begun = 70;
    expect(&c, "processes", FINDING_DISTURBS, "860 ms by programs that ended or migrated meanwhile (70 threads began)",
           0.88);
    c.e.busy_here = c.e.begun = NAN;
    c.tasks[0].kernel = true;
    c.e.seconds = 2;
    expect(&c, "kernel-threads", FINDING_DISTURBS, "bash (7) 20 ms", 0.01);

    computer_quiet(&c);
    c.e.timer_hz = 50;
    expect(&c, "nohz-full", FINDING_DISTURBS, "50.0 timer interrupts", 50 * 5e-6);

    computer_quiet(&c);
    c.e.thermal_boot = 9;
    c.e.thermal_now = 1;
    expect(&c, "thermal", FINDING_DISTURBS, "9 since boot; 1 of them while counting", NAN);

    computer_quiet(&c);
    c.e.microcodes = 2;
    expect(&c, "microcode", FINDING_DISTURBS, "2 revisions", NAN);

    computer_quiet(&c);
    c.e.msr_error = EACCES;
    expect(&c, "msr-module", FINDING_LIMITS, "Permission denied", NAN);

    computer_quiet(&c);
    c.e.secure_boot = 1;
    expect(&c, "secure-boot", FINDING_LIMITS, "on", NAN);

    computer_quiet(&c);
    c.e.fact[ENV_PMU_TYPE].error = ENOENT;
    expect(&c, "pmu", FINDING_LIMITS, "no cpu", NAN);
}

static void expect_commands(const struct computer *c, const char *id, const char *change, const char *undo)
{
    struct findings f;
    const struct finding *found = only(c, id, &f);
    assert_string_equal(found->change, change);
    assert_string_equal(found->undo, undo);
    assert_int_equal(found->boot, strstr(change, "reboot") != NULL);
    findings_free(&f);
}

TEST(test_commands)
{
    struct computer c;
    computer_quiet(&c);
    c.states[1].disabled = false;
    expect_commands(&c, "cstates", "for s in 1; do echo 1 | sudo tee " CPU3 "cpuidle/state$s/disable; done",
                    "for s in 1; do echo 0 | sudo tee " CPU3 "cpuidle/state$s/disable; done");
    computer_quiet(&c);
    c.e.busy_sibling = 1;
    expect_commands(&c, "smt", WRITE("0", "/sys/devices/system/cpu/cpu7/online"),
                    WRITE("1", "/sys/devices/system/cpu/cpu7/online"));
    computer_quiet(&c);
    computer_mask(&c.e.workqueue, "0-7");
    computer_set(&c, ENV_WORKQUEUE_MASK, "ff");
    expect_commands(&c, "workqueues", WRITE("77", "/sys/devices/virtual/workqueue/cpumask"),
                    WRITE("ff", "/sys/devices/virtual/workqueue/cpumask"));
    computer_quiet(&c);
    c.e.irqbalance = true;
    expect_commands(&c, "irqbalance", "sudo systemctl stop irqbalance", "sudo systemctl start irqbalance");
    computer_quiet(&c);
    c.e.msr_error = ENOENT;
    expect_commands(&c, "msr-module", "sudo modprobe msr", "sudo modprobe -r msr");
    computer_boot_line(&c, "quiet nomodule");
    expect_commands(&c, "msr-module", "", "");
    computer_quiet(&c);
    computer_mask(&c.e.isolated, "");
    expect_commands(&c, "isolation", "add isolcpus=domain,managed_irq,3 to the kernel command line and reboot",
                    "remove isolcpus=domain,managed_irq,3 from the kernel command line and reboot");
    computer_mask(&c.e.isolated, "0");
    computer_boot_line(&c, "quiet isolcpus=0");
    expect_commands(&c, "isolation",
                    "replace the isolcpus= on the kernel command line with isolcpus=domain,managed_irq,0,3 and reboot",
                    "restore the previous isolcpus= and reboot");
    computer_quiet(&c);
    snprintf(c.weaknesses[0].text, sizeof c.weaknesses[0].text, "Mitigation: PTI");
    snprintf(c.e.mitigations, sizeof c.e.mitigations, "auto,nosmt");
    expect_commands(&c, "mitigations",
                    "replace mitigations=auto,nosmt with mitigations=off on the kernel command line and reboot",
                    "replace mitigations=off with mitigations=auto,nosmt on the kernel command line and reboot");
}

/* IRQs that are alike are moved together, to where each may go without the CPU, and back to where they might go. */
TEST(test_irqs)
{
    struct computer c;
    struct findings f;
    computer_quiet(&c);
    computer_add_irq(&c, "24", "PCI-MSI 524288-edge eth0-rx-0", 900, "0-7");
    computer_add_irq(&c, "25", "PCI-MSI 524289-edge eth0-rx-1", 100, "3");
    computer_add_irq(&c, "26", "PCI-MSI 524290-edge eth0-tx-0", 0, "0-7");
    computer_add_irq(&c, "RES", "Rescheduling interrupts", 1000, NULL);
    computer_findings(&c, &f);
    const struct finding *irqs = find(&f, "irqs"), *affinity = find(&f, "irq-affinity");
    assert_string_equal(irqs->seen,
                        "/proc/interrupts, CPU 3: RES (Rescheduling interrupts) 1e+03/s, eth0-rx-0 (IRQ 24) "
                        "900/s, eth0-rx-1 (IRQ 25) 100/s");
    assert_true(irqs->counted && fabs(irqs->cost - 2000 * 5e-6) < 1e-12);
    assert_string_equal(irqs->change,
                        "for i in 24; do echo 0-2,4-6 | sudo tee /proc/irq/$i/smp_affinity_list; done; for "
                        "i in 25; do echo 0-2,4-6 | sudo tee /proc/irq/$i/smp_affinity_list; done");
    assert_string_equal(irqs->undo,
                        "for i in 24; do echo 0-7 | sudo tee /proc/irq/$i/smp_affinity_list; done; for i in "
                        "25; do echo 3 | sudo tee /proc/irq/$i/smp_affinity_list; done");
    assert_non_null(strstr(affinity->seen, "3 IRQs may go to CPU 3: 24 25 26"));
    assert_non_null(strstr(affinity->change, "for i in 24 26; do echo 0-2,4-6 | sudo"));
    findings_free(&f);

    /* the sibling is spared, unless there is nothing else */
    computer_mask(&c.irqs[1].allowed, "3,7");
    computer_findings(&c, &f);
    assert_non_null(strstr(find(&f, "irqs")->change, "for i in 25; do echo 7 | sudo"));
    findings_free(&f);
    computer_mask(&c.e.default_affinity, "0-7");
    computer_set(&c, ENV_DEFAULT_AFFINITY, "ff");
    computer_findings(&c, &f);
    affinity = find(&f, "irq-affinity");
    assert_non_null(strstr(affinity->change, "; echo 77 | sudo tee /proc/irq/default_smp_affinity"));
    assert_non_null(strstr(affinity->undo, "; echo ff | sudo tee /proc/irq/default_smp_affinity"));
    findings_free(&f);
}

/* IRQs that only the kernel places are in no command, and where there are no others there is none. */
TEST(test_irqs_that_nobody_moves)
{
    struct computer c;
    struct findings f;
    computer_quiet(&c);
    computer_mask(&c.e.default_affinity, "0-7");
    computer_set(&c, ENV_DEFAULT_AFFINITY, "ff");
    computer_add_irq(&c, "24", "PCI-MSI 524288-edge eth0-rx-0", 900, "0-7");
    computer_add_irq(&c, "36", "PCI-MSI 524289-edge virtio1-req.0", 100, "0-7");
    c.irqs[1].movable = false;
    computer_findings(&c, &f);
    const struct finding *irqs = must_find(&f, "irqs"), *affinity = must_find(&f, "irq-affinity");
    assert_non_null(strstr(irqs->change, "for i in 24; do"));
    assert_non_null(strstr(affinity->undo, "for i in 24; do"));
    assert_non_null(strstr(irqs->why, "Only the kernel places IRQ 36: it stays"));
    assert_false(irqs->fixed || affinity->fixed);
    findings_free(&f);
    c.irqs[0].movable = false;
    computer_findings(&c, &f);
    irqs = must_find(&f, "irqs");
    affinity = must_find(&f, "irq-affinity");
    assert_string_equal(irqs->change, "");
    assert_string_equal(irqs->undo, "");
    assert_string_equal(affinity->change, "");
    assert_non_null(strstr(affinity->why, "Only the kernel places IRQ 24 36: none can be moved"));
    assert_true(irqs->fixed && affinity->fixed);
    findings_free(&f);
}

/* Files of a bundle: that nothing was counted does not say that nothing comes. */
TEST(test_what_stands_still)
{
    struct computer c;
    struct findings f;
    computer_quiet(&c);
    computer_mask(&c.e.nohz_full, "");
    c.e.timer_hz = 0;
    computer_findings(&c, &f);
    assert_int_equal(must_find(&f, "irqs")->kind, FINDING_QUIET);
    findings_free(&f);
    c.e.steal = c.e.timer_hz = NAN;
    c.e.seconds = 0;
    c.e.files = c.e.tasks_hidden = true;
    computer_findings(&c, &f);
    static const char *const ids[] = {"irqs", "kernel-threads", "processes"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        assert_int_equal(must_find(&f, ids[i])->kind, FINDING_UNKNOWN);
        assert_string_equal(must_find(&f, ids[i])->why, "these are files of a computer: check on it to count");
    }
    assert_string_equal(must_find(&f, "tick")->seen, "CONFIG_HZ is 250");
    findings_free(&f);
}

/* Two samples a tick are enough, and without counters nothing samples. */
TEST(test_sample_rate_that_matters)
{
    struct computer c;
    struct findings f;
    computer_quiet(&c);
    computer_set(&c, ENV_PERF_RATE, "251");
    computer_findings(&c, &f);
    assert_int_equal(must_find(&f, "perf-sample-rate")->kind, FINDING_QUIET);
    findings_free(&f);
    computer_set(&c, ENV_PERF_RATE, "1");
    c.e.fact[ENV_PMU_TYPE].error = ENOENT;
    computer_findings(&c, &f);
    assert_null(find(&f, "perf-sample-rate"));
    findings_free(&f);
}

/* With ticks: CONFIG_HZ of them when busy, as few as there were. */
TEST(test_tick)
{
    struct computer c;
    struct findings f;
    computer_quiet(&c);
    computer_mask(&c.e.nohz_full, "");
    c.e.timer_hz = 12;
    computer_findings(&c, &f);
    const struct finding *tick = find(&f, "tick");
    assert_int_equal(tick->kind, FINDING_DISTURBS);
    assert_true(!tick->counted && fabs(tick->cost - 250 * 5e-6) < 1e-12);
    assert_string_equal(tick->change, "add nohz_full=3 to the kernel command line and reboot");
    assert_int_equal(find(&f, "nohz-full")->kind, FINDING_LIMITS);
    findings_free(&f);
    strcpy(c.e.fact[ENV_NOHZ_FULL].text, "(null)");
    computer_findings(&c, &f);
    assert_string_equal(find(&f, "nohz-full")->seen, "/sys/devices/system/cpu/nohz_full: none");
    findings_free(&f);
    c.e.timer_hz = 1000;
    c.e.hypervisor = true;
    c.e.fact[ENV_NOHZ_FULL].error = ENOENT;
    computer_findings(&c, &f);
    tick = find(&f, "tick");
    assert_true(tick->counted && fabs(tick->cost - 1000 * 40e-6) < 1e-12);
    assert_string_equal(tick->change, "");
    assert_non_null(strstr(find(&f, "nohz-full")->why, "CONFIG_NO_HZ_FULL=y"));
    findings_free(&f);
}

TEST(test_turbo_is_what_is_measured)
{
    struct computer c;
    struct findings f;
    computer_quiet(&c);
    c.e.busy_others = 0.5;
    computer_findings(&c, &f);
    assert_int_equal(find(&f, "turbo")->kind, FINDING_DISTURBS);
    assert_string_equal(find(&f, "turbo")->change, WRITE("1", "/sys/devices/system/cpu/intel_pstate/no_turbo"));
    assert_true(fabs(find(&f, "load")->cost - 0.0065) < 1e-12 && !find(&f, "load")->counted);
    findings_free(&f);
    c.e.fact[ENV_NO_TURBO].error = ENOENT;
    computer_set(&c, ENV_BOOST, "1");
    computer_findings(&c, &f);
    assert_string_equal(find(&f, "turbo")->change, WRITE("0", "/sys/devices/system/cpu/cpufreq/boost"));
    findings_free(&f);
}

/* ---- what is not there, or not for everybody ---- */

TEST(test_guest)
{
    static const char *const gone[] = {"governor",  "turbo",   "epp",   "frequency-limits", "uncore",
                                       "power-cap", "thermal", "rdpmc", "perf-paranoid"};
    struct computer c;
    struct findings f;
    computer_quiet(&c);
    for (enum environment_fact i = ENV_GOVERNOR; i <= ENV_PSTATE_STATUS; i++)
        c.e.fact[i].error = ENOENT;
    for (enum environment_fact i = ENV_THERMAL_CORE; i <= ENV_PMU_TYPE; i++)
        c.e.fact[i].error = ENOENT;
    c.e.hypervisor = true;
    snprintf(c.e.hypervisor_name, sizeof c.e.hypervisor_name, "KVMKVMKVM");
    computer_findings(&c, &f);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (find(&f, gone[i]))
            fail_msg("%s: %s", gone[i], find(&f, gone[i])->seen);
    assert_int_equal(findings_count(&f, FINDING_DISTURBS), 0);
    assert_int_equal(findings_count(&f, FINDING_UNKNOWN), 0);
    assert_int_equal(findings_count(&f, FINDING_LIMITS), 3); /* driver, hypervisor, pmu */
    assert_non_null(strstr(find(&f, "driver")->why, "host"));
    assert_non_null(strstr(find(&f, "hypervisor")->seen, "KVMKVMKVM"));
    findings_free(&f);
}

/* Whoever rents a guest cannot change its host: the advice is to rent another one. On bare metal none of it is said. */
TEST(test_advice_in_a_guest)
{
    static const struct {
        const char *id, *advice;
    } cases[] = {{"driver", "bare-metal instance"},
                 {"isolation", "a dedicated host"},
                 {"hypervisor", "longer runs"},
                 {"pmu", "an instance of a full socket"},
                 {"msr-module", "bare-metal instance"},
                 {"container", "the guest around this container"},
                 {"processes", "from the guest around it"}};
    struct computer c;
    struct findings f;
    computer_quiet(&c);
    c.e.fact[ENV_DRIVER].error = c.e.fact[ENV_PMU_TYPE].error = c.e.msr_error = ENOENT;
    computer_mask(&c.e.isolated, "");
    c.e.container_files = c.e.tasks_hidden = true;
    for (int guest = 1; guest >= 0; guest--) {
        c.e.hypervisor = guest;
        computer_findings(&c, &f);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const struct finding *found = find(&f, cases[i].id);
            if ((found != NULL && strstr(found->why, cases[i].advice) != NULL) != guest)
                fail_msg("%s: %s", cases[i].id, found != NULL ? found->why : "not there");
            assert_true(found == NULL || strlen(found->why) + 1 < sizeof found->why);
        }
        assert_string_equal(must_find(&f, "msr-module")->change, guest ? "" : "sudo modprobe msr");
        findings_free(&f);
    }
}

TEST(test_unreadable)
{
    struct computer c;
    struct findings f;
    computer_quiet(&c);
    c.e.fact[ENV_NMI_WATCHDOG].error = EACCES;
    c.e.fact[ENV_GOVERNOR].error = EBADMSG;
    c.e.tasks_error = EPERM;
    computer_findings(&c, &f);
    assert_int_equal(findings_count(&f, FINDING_UNKNOWN), 4);
    assert_string_equal(find(&f, "nmi-watchdog")->seen,
                        "/proc/sys/kernel/nmi_watchdog cannot be read: Permission denied");
    assert_string_equal(find(&f, "nmi-watchdog")->change, "sudo ./characterize --check environment --cpu 3");
    assert_string_equal(find(&f, "governor")->change, "");
    assert_int_equal(find(&f, "processes")->kind, FINDING_UNKNOWN);
    findings_free(&f);

    computer_quiet(&c);
    c.e.tasks_hidden = true;
    c.e.seconds = 0;
    computer_findings(&c, &f);
    assert_int_equal(find(&f, "irqs")->kind, FINDING_UNKNOWN);
    assert_int_equal(find(&f, "processes")->kind, FINDING_UNKNOWN);
    findings_free(&f);
}
