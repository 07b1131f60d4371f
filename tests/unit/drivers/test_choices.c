/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why auto takes a machine or does not: each answer of the system, and the names that can be requested. */
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/choices.h"
#include "computer/cpu/cpu.h"
#include "computer/cpu/tsc.h"
#include "drivers/helper/kmod/uapi.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

/* A virtual machine with nothing: what most people have. */
static struct choice_facts guest(void)
{
    return (struct choice_facts){.guest = true,
                                 .helper.open_errno = ENOENT,
                                 .perf_errno = ENOENT,
                                 .perf_paranoid = 2,
                                 .rdpmc_setting = -100,
                                 .nmi_watchdog = -1,
                                 .msr.cpu = 3,
                                 .msr.open_errno = ENOENT,
                                 .timing_usable = true};
}

enum { HELPER, PERF, MSR, TIMING, ALL };

static struct machine_choice choose(const struct choice_facts *f, size_t which)
{
    static const char *const names[ALL] = {"helper", "perf", "msr", "timing"};
    struct machine_choice c[8];
    assert_int_equal(choices_from_facts(f, c, 8), ALL);
    for (size_t i = 0; i < ALL; i++) {
        assert_string_equal(c[i].name, names[i]);
        assert_true(c[i].why[0] != '\0');
        assert_true(c[i].usable || c[i].remedy[0] != '\0');
    }
    return c[which];
}

static void says(const struct choice_facts *f, size_t which, const char *why, const char *remedy)
{
    struct machine_choice c = choose(f, which);
    if (strstr(c.why, why) == NULL || strstr(c.remedy, remedy) == NULL)
        fail_msg("%s: \"%s\" (%s) instead of \"%s\" (%s)", c.name, c.why, c.remedy, why, remedy);
}

TEST(test_perf_reasons)
{
    struct choice_facts f = guest();
    says(&f, PERF, "no PMU in this virtual machine", "hypervisor");
    f.guest = false;
    says(&f, PERF, "no PMU known to this kernel", "kernel that supports this CPU");
    f.perf_errno = EACCES;
    f.perf_paranoid = 3;
    says(&f, PERF, "kernel.perf_event_paranoid = 3", "sysctl kernel.perf_event_paranoid=2");
    f.perf_errno = EPERM;
    f.perf_paranoid = 2; /* which would allow it: so something else does not */
    says(&f, PERF, "system call filter", "seccomp");
    f.perf_paranoid = -100;
    says(&f, PERF, "system call filter", "seccomp");
    f.perf_errno = ENOSYS;
    says(&f, PERF, "no perf_event_open", "CONFIG_PERF_EVENTS");
    f.perf_errno = EMFILE;
    says(&f, PERF, strerror(EMFILE), "perf_event_open(2)");
}

/* The counter opens: each thing that may still be in the way of reading it, in the order in which they are found. */
TEST(test_perf_that_opens)
{
    struct choice_facts f = guest();
    f.guest = false;
    f.perf_errno = 0;
    f.rdpmc_setting = 1;
    f.perf_map_errno = EPERM;
    says(&f, PERF, "its page cannot be mapped: Operation not permitted", "perf_event_mlock_kb");
    f.perf_map_errno = 0;
    f.rdpmc_setting = 0;
    says(&f, PERF, "RDPMC is disabled (rdpmc = 0 in sysfs)", "echo 1 > /sys/bus/event_source/devices/cpu/rdpmc");
    f.hybrid = true;
    says(&f, PERF, "RDPMC is disabled (rdpmc = 0 in sysfs)", "devices/cpu_core/rdpmc");
    f.rdpmc_setting = 1;
    says(&f, PERF, "RDPMC is not allowed", "a kernel whose PMU driver allows RDPMC");
    f.guest = true;
    says(&f, PERF, "RDPMC is not allowed in this virtual machine", "hypervisor");
    f.perf_rdpmc = true;
    says(&f, PERF, "no hardware counter is free", "nmi_watchdog=0");
    f.perf_counter = true;
    says(&f, PERF, "does not advance: the virtual PMU does not work", "on the host");
    f.guest = false;
    says(&f, PERF, "does not advance", "other users of the counters");
    assert_false(choose(&f, PERF).usable);
    f.perf_counts = true;
    says(&f, PERF, "performance counters: cycles, instructions, events", "");
    assert_true(choose(&f, PERF).usable);
    f.rdpmc_setting = -100; /* /sys hidden: what was tried counts */
    assert_true(choose(&f, PERF).usable);
}

TEST(test_perf_is_taken_before_timing)
{
    struct choice_facts f = guest();
    struct machine_choice c[8];
    char line[600];
    f.perf_errno = 0;
    f.rdpmc_setting = 1;
    f.perf_rdpmc = f.perf_counter = f.perf_counts = true;
    size_t n = choices_from_facts(&f, c, 8);
    choices_report(c, n, line, sizeof line);
    assert_string_equal(
        line, "measuring with perf (performance counters); more with helper: no /dev/characterize: the kernel module "
              "characterize is not loaded; msr: no /dev/cpu/3/msr: the kernel module msr is not loaded "
              "(--list machines: what would help)");
    f.msr.open_errno = 0; /* registers come along */
    n = choices_from_facts(&f, c, 8);
    choices_report(c, n, line, sizeof line);
    assert_string_equal(line, "measuring with perf (performance counters; registers); more with helper: no "
                              "/dev/characterize: the kernel module characterize is not loaded (--list machines: what "
                              "would help)");
}

TEST(test_msr_reasons)
{
    struct choice_facts f = guest();
    says(&f, MSR, "no /dev/cpu/3/msr: the kernel module msr is not loaded", "modprobe msr");
    f.msr.open_errno = ENXIO; /* the node is there, the module is not */
    says(&f, MSR, "no /dev/cpu/3/msr: the kernel module msr is not loaded", "modprobe msr");
    f.msr.open_errno = EACCES;
    says(&f, MSR, "is readable by root only", "run as root");
    f.msr.open_errno = EPERM;
    says(&f, MSR, "CAP_SYS_RAWIO", "container");
    snprintf(f.msr.lockdown, sizeof f.msr.lockdown, "integrity");
    says(&f, MSR, "CAP_SYS_RAWIO", "container"); /* lockdown alone does not refuse reads */
    f.msr.rawio = true;
    says(&f, MSR, "is denied: kernel lockdown (integrity)", "Secure Boot");
    snprintf(f.msr.lockdown, sizeof f.msr.lockdown, "none");
    says(&f, MSR, "CAP_SYS_RAWIO", "container");
    f.msr.open_errno = EBUSY;
    says(&f, MSR, strerror(EBUSY), "none is known");
    f.msr.open_errno = 0;
    f.msr.read_errno = EIO;
    says(&f, MSR, "EIO): the hypervisor does not expose it", "on the host");
    f.guest = false;
    says(&f, MSR, "reading a register fails (EIO): this processor has none", "none is known");
    f.msr.read_errno = EPERM;
    says(&f, MSR, "reads fail: ", "none is known");
    snprintf(f.msr.lockdown, sizeof f.msr.lockdown, "confidentiality");
    says(&f, MSR, "reads are denied: kernel lockdown (confidentiality)", "Secure Boot");
    assert_false(choose(&f, MSR).usable);
}

TEST(test_msr_that_works)
{
    struct choice_facts f = guest();
    struct machine_choice c[8];
    char line[600];
    f.msr.open_errno = 0;
    snprintf(f.registers.found, sizeof f.registers.found, "core voltage 0.880 V, base 2.1 GHz");
    says(&f, MSR, "time stamps and registers: core voltage 0.880 V, base 2.1 GHz", "");
    assert_true(choose(&f, MSR).usable);
    choices_report(c, choices_from_facts(&f, c, 8), line, sizeof line);
    static const char taken[] = "measuring with msr (frequency, IPC and halts by time stamps; registers); more with ";
    assert_int_equal(strncmp(line, taken, sizeof taken - 1), 0);
    f.registers.found[0] = '\0';
    snprintf(f.registers.volts_why, sizeof f.registers.volts_why, "register 198H reports no voltage: its field is 0");
    says(&f, MSR, "time stamps and registers; no voltage: register 198H reports", "");
    /* it needs the time stamps, too */
    f.timing_usable = false;
    snprintf(f.timing_why, sizeof f.timing_why, "the TSC is bad");
    says(&f, MSR, "registers are readable, but the TSC is bad", "as for timing");
    assert_false(choose(&f, MSR).usable);
}

TEST(test_helper_reasons)
{
    struct choice_facts f = guest();
    says(&f, HELPER, "the kernel module characterize is not loaded", "make -C drivers/helper/kmod && insmod");
    f.signed_modules = true;
    says(&f, HELPER, "only loads signed modules", "mokutil");
    f.helper.open_errno = ENXIO; /* a node that outlived its module */
    f.signed_modules = false;
    says(&f, HELPER, "not loaded", "insmod");
    f.helper.open_errno = EACCES;
    says(&f, HELPER, "is for root only", "run as root");
    f.helper.open_errno = EPERM;
    says(&f, HELPER, "CAP_SYS_RAWIO", "container");
    f.helper.open_errno = EBUSY;
    says(&f, HELPER, "in use by another process", "fuser");
    f.helper.open_errno = EMFILE;
    says(&f, HELPER, strerror(EMFILE), "");
    f.helper.open_errno = 0;
    f.helper.other_version = true;
    says(&f, HELPER, "has another version", "rmmod characterize && make -C drivers/helper/kmod");
    f.helper.other_version = false;
    snprintf(f.helper.refusal, sizeof f.helper.refusal, "it is no CPU");
    says(&f, HELPER, "refuses: it is no CPU", "none is known");
    assert_false(choose(&f, HELPER).usable);
}

TEST(test_helper_is_the_best)
{
    struct choice_facts f = guest();
    struct machine_choice c[8];
    char line[300];
    f.helper.open_errno = 0;
    says(&f, HELPER, "chain of adds (no performance counters)", "");
    assert_true(choose(&f, HELPER).usable);
    f.helper.hello.can = CHARACTERIZE_CAN_APERF_MPERF;
    says(&f, HELPER, "APERF (no performance counters)", "");
    f.helper.hello.can |= CHARACTERIZE_CAN_PMU;
    says(&f, HELPER, "interrupts masked; frequency by performance counters", "");
    choices_report(c, choices_from_facts(&f, c, 8), line, sizeof line);
    assert_string_equal(line, "measuring with helper");
}

TEST(test_timing_needs_the_tsc)
{
    struct choice_facts f = guest();
    assert_true(choose(&f, TIMING).usable);
    f.timing_usable = false;
    snprintf(f.timing_why, sizeof f.timing_why, "the TSC is bad");
    says(&f, TIMING, "the TSC is bad", "model:NAME");
    assert_false(choose(&f, TIMING).usable);
}

TEST(test_what_auto_tells)
{
    struct choice_facts f = guest();
    struct machine_choice c[8];
    char line[600], small[20];
    size_t n = choices_from_facts(&f, c, 8);
    choices_report(c, n, line, sizeof line);
    assert_string_equal(
        line,
        "measuring with timing (frequency, IPC and halts by time stamps); more with helper: no /dev/characterize: "
        "the kernel module characterize is not loaded; perf: no PMU in this virtual machine; msr: no "
        "/dev/cpu/3/msr: the kernel module msr is not loaded (--list machines: what would help)");
    assert_null(strchr(line, '\n'));
    choices_report(c, n, small, sizeof small);
    assert_string_equal(small, "measuring with timi");
    for (size_t i = 0; i < n; i++)
        c[i].usable = false;
    choices_report(c, n, line, sizeof line);
    assert_int_equal(strncmp(line, "nothing: helper: ", 17), 0);
    assert_int_equal(choices_from_facts(&f, c, 2), 2);
}

/* ---- what is read from files ---- */

static void put_on_all_cpus(const char *root, const char *text)
{
    char path[300];
    for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
        folder_put(root, "cpu/dummy", "");
        snprintf(path, sizeof path, "%s/cpu/%d", root, cpu);
        mkdir(path, 0755);
        snprintf(path, sizeof path, "%s/cpu/%d/msr", root, cpu);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
    }
}

TEST(test_facts_come_from_the_folders_given)
{
    struct choice_facts f;
    char root[FOLDER_PATH_MAX];
    folder_make(root);
    choice_facts_read(root, root, root, &f);
    assert_int_equal(f.helper.open_errno, ENOENT);
    assert_false(f.signed_modules);
    assert_int_equal(f.msr.open_errno, ENOENT);
    assert_int_equal(f.perf_paranoid, -100);
    assert_int_equal(f.rdpmc_setting, -100);
    folder_put(root, "characterize", "");
    folder_put(root, "kernel/security/lockdown", "none [integrity] confidentiality\n");
    folder_put(root, "sys/kernel/perf_event_paranoid", "4\n");
    folder_put(root, "bus/event_source/devices/cpu_core/rdpmc", "0\n");
    folder_put(root, "kernel/security/lockdown", "none [integrity] confidentiality\n");
    folder_put(root, "self/status", "Name:\tx\nCapEff:\t0000000000020000\n");
    /* on every CPU that this test can run on: a file that reaches beyond the registers, and one that does not */
    static char long_file[0x700 + 1];
    memset(long_file, 'A', sizeof long_file - 1);
    put_on_all_cpus(root, long_file);
    choice_facts_read(root, root, root, &f);
    assert_int_equal(f.helper.open_errno, 0);
    assert_true(f.helper.other_version); /* no module answers */
    assert_true(f.signed_modules);
    assert_int_equal(f.msr.open_errno, 0);
    assert_int_equal(f.msr.read_errno, 0);
    assert_true(f.msr.rawio);
    assert_string_equal(f.msr.lockdown, "integrity");
    assert_int_equal(f.perf_paranoid, 4);
    assert_int_equal(f.rdpmc_setting, 0);
    assert_true(f.hybrid);
    /* one register that answers is enough */
    for (size_t size = 0x700; size >= 8 && f.registers.answered > 0; size -= 8) {
        long_file[size] = '\0';
        put_on_all_cpus(root, long_file);
        if (f.registers.answered < 4 || size % 0x40 == 0)
            choice_facts_read(root, root, root, &f);
        assert_int_equal(f.msr.read_errno, f.registers.answered > 0 ? 0 : EIO);
    }
    put_on_all_cpus(root, "too short");
    folder_put(root, "self/status", "CapEff:\t000001fffefdffff\n");
    choice_facts_read(root, root, root, &f);
    assert_int_equal(f.msr.read_errno, EIO);
    assert_false(f.msr.rawio);
    folder_remove(root);
}

/* Signed modules alone: lockdown at either level, or the kernel's own setting. */
TEST(test_who_loads_signed_modules_only)
{
    static const struct {
        const char *lockdown, *enforce;
        bool only;
    } cases[] = {
        {"[none] integrity confidentiality", "N", false},
        {"[none] integrity confidentiality", "Y", true},
        {"none [integrity] confidentiality", "N", true},
        {"none integrity [confidentiality]", "N", true},
        {"none integrity [confidentiality]", "", true},
        {"", "", false},
        {"", "Y", true},
    };
    char root[FOLDER_PATH_MAX];
    folder_make(root);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct choice_facts f;
        folder_put_line(root, "kernel/security/lockdown", cases[i].lockdown);
        folder_put_line(root, "module/module/parameters/sig_enforce", cases[i].enforce);
        choice_facts_read(root, root, root, &f);
        assert_int_equal(f.signed_modules, cases[i].only);
    }
    folder_remove(root);
}

/* Facts from CPUID, the kernel and its files, with nothing left from before. */
TEST(test_facts_of_this_cpu)
{
    struct choice_facts f, again;
    struct cpu_leaves leaves;
    struct cpu_identity id;
    char root[FOLDER_PATH_MAX], note[160];
    folder_make(root);
    memset(&f, 0xff, sizeof f);
    choice_facts_read(root, root, root, &f);
    cpu_read_leaves(&leaves);
    cpu_identify(&leaves, &id);
    assert_int_equal(f.guest, id.hypervisor);
    assert_false(f.hybrid);
    assert_int_equal(f.registers.answered, 0);
    assert_int_equal(f.nmi_watchdog, -1);
    assert_int_equal(f.timing_usable, tsc_usable(&leaves, "", note, sizeof note));
    assert_string_equal(f.timing_why, note);
    /* a counter that cannot be opened is not mapped, and only a mapped one can count */
    assert_true(f.perf_errno >= 0 && f.perf_errno < 200 && f.perf_map_errno >= 0 && f.perf_map_errno < 200);
    assert_true(f.perf_errno == 0 || f.perf_map_errno == 0);
    if (f.perf_errno != 0 || f.perf_map_errno != 0)
        assert_true(!f.perf_rdpmc && !f.perf_counter && !f.perf_counts);
    assert_true(!f.perf_counts || (f.perf_rdpmc && f.perf_counter));
    folder_put_line(root, "bus/event_source/devices/cpu/rdpmc", "2");
    folder_put_line(root, "bus/event_source/devices/cpu_core/rdpmc", "1");
    folder_put_line(root, "devices/system/clocksource/clocksource0/current_clocksource", "hpet");
    folder_put_line(root, "sys/kernel/nmi_watchdog", "1");
    choice_facts_read(root, root, root, &again);
    assert_int_equal(again.rdpmc_setting, 2);
    assert_false(again.hybrid);
    assert_int_equal(again.nmi_watchdog, 1);
    assert_int_equal(again.timing_usable, tsc_usable(&leaves, "hpet", note, sizeof note));
    assert_string_equal(again.timing_why, note);
    assert_int_equal(again.perf_errno, f.perf_errno);
    folder_remove(root);
}

/* All that is said of each machine, whole. */
TEST(test_what_is_said_of_usable_machines)
{
    struct choice_facts f = guest();
    assert_string_equal(choose(&f, TIMING).why, "time stamps only: frequency, IPC, halts");
    snprintf(f.timing_why, sizeof f.timing_why, "a remark");
    assert_string_equal(choose(&f, TIMING).why, "time stamps only: frequency, IPC, halts; a remark");
    assert_string_equal(choose(&f, TIMING).remedy, "");
    f.msr.open_errno = 0;
    assert_string_equal(choose(&f, MSR).why, "time stamps and registers");
    snprintf(f.registers.volts_why, sizeof f.registers.volts_why, "no field");
    assert_string_equal(choose(&f, MSR).why, "time stamps and registers; no voltage: no field");
    snprintf(f.registers.found, sizeof f.registers.found, "base 2.1 GHz");
    assert_string_equal(choose(&f, MSR).why, "time stamps and registers: base 2.1 GHz; no voltage: no field");
    f.helper.open_errno = 0;
    snprintf(f.helper.refusal, sizeof f.helper.refusal, "x");
    assert_false(choose(&f, HELPER).usable);
    f.helper.refusal[0] = '\0';
    assert_true(choose(&f, HELPER).usable);
}

/* ---- names ---- */

static int open_named(const char *spec, char *report, size_t size, struct machine_error *err)
{
    struct machine m;
    int status = machine_open(spec, NULL, &m, report, size, err);
    if (status == MACHINE_OK)
        m.ops->close(&m);
    return status;
}

TEST(test_unknown_names_get_the_nearest)
{
    struct machine_error err;
    char report[8];
    assert_int_equal(setenv("CHARACTERIZE_DATA", "data", 1), 0);
    assert_int_equal(open_named("tming", report, sizeof report, &err), MACHINE_BAD_INPUT);
    assert_int_equal(err.status, MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "unknown machine 'tming', perhaps 'timing'"));
    assert_non_null(strstr(err.remedy, "machines: auto, timing, perf, msr, helper, "));
    assert_non_null(strstr(err.remedy, ", model:NAME, model:FILE"));
    assert_int_equal(open_named("xeon-gold-6130", report, sizeof report, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "unknown machine 'xeon-gold-6130', perhaps 'model:xeon-gold-6130'"));
    assert_int_equal(open_named("modle:xeon-gold-6130", report, sizeof report, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "unknown machine 'modle:xeon-gold-6130', perhaps 'model:xeon-gold-6130'"));
    assert_int_equal(open_named("Gold-6130", report, sizeof report, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, ", perhaps 'model:xeon-gold-6130'"));
    assert_int_equal(open_named("6130x-nothing-like-it", report, sizeof report, &err), MACHINE_BAD_INPUT);
    assert_null(strstr(err.text, "perhaps"));
    assert_int_equal(open_named("modell", report, sizeof report, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "perhaps 'model:'"));
    assert_int_equal(open_named("", report, sizeof report, &err), MACHINE_BAD_INPUT);
    assert_int_equal(open_named("something else altogether that is long", report, sizeof report, &err),
                     MACHINE_BAD_INPUT);
    assert_null(strstr(err.text, "perhaps"));
}

TEST(test_machines_that_do_not_work_here_are_refused_with_their_reason)
{
    static const char *const names[] = {"perf", "msr", "helper"};
    struct machine_choice c[8];
    struct machine_error err;
    char report[8];
    size_t n = machine_choices(c, 8);
    for (size_t i = 0; i < 3; i++) {
        bool found = false, usable = false;
        int status = open_named(names[i], report, sizeof report, &err);
        for (size_t k = 0; k < n; k++) {
            bool same = strcmp(c[k].name, names[i]) == 0;
            usable = usable || (same && c[k].usable);
            found = found || (same && strstr(err.text, c[k].why) != NULL);
        }
        if (usable) {
            assert_int_equal(status, MACHINE_OK);
            continue;
        }
        assert_int_equal(status, MACHINE_CANNOT);
        assert_int_equal(err.status, MACHINE_CANNOT);
        assert_true(found);
        assert_non_null(strstr(err.remedy, "--machine timing or model:NAME work"));
    }
}

TEST(test_auto_takes_what_works_and_says_so)
{
    struct machine_choice c[8];
    struct machine_error err;
    char report[600];
    const char *best = NULL;
    size_t n = machine_choices(c, 8);
    for (size_t i = n; i-- > 0;)
        best = c[i].usable ? c[i].name : best;
    assert_int_equal(open_named("auto", report, sizeof report, &err), best != NULL ? MACHINE_OK : MACHINE_CANNOT);
    char begins[60];
    snprintf(begins, sizeof begins, "%s%s", best != NULL ? "measuring with " : "nothing", best != NULL ? best : "");
    if (strstr(report, "could not be opened") == NULL)
        assert_int_equal(strncmp(report, begins, strlen(begins)), 0);
}

BEFORE_TESTS
{
    close(STDIN_FILENO); /* the next file gets descriptor 0, which is as good as any */
}
