/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the files of a computer to what is reported of it: a server (tests/support/fake_environment.h), file by file. */
#include "computer/environment/environment.h"
#include "computer/environment/findings.h"
#include "tests/support/fake_environment.h"
#include "tests/support/test.h"

static void report(const char *root, struct findings *out)
{
    struct environment e;
    struct machine_error error;
    assert_int_equal(environment_read(root, 2, 0.01, NULL, NULL, &e, &error), MACHINE_OK);
    assert_int_equal(findings_of(&e, out), 0);
    environment_free(&e);
}

static const struct finding *finding_of(const struct findings *f, const char *id)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->list[i].id, id) == 0)
            return &f->list[i];
    fail_msg("nothing is reported of %s", id);
    return NULL;
}

/* The contents of the file make the difference, and are what undoes it. */
TEST(test_files)
{
    static const struct {
        const char *file, *bad, *good, *id, *undo;
    } cases[] = {
        {"sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "schedutil\n", "performance\n", "governor",
         "echo schedutil | "},
        {"sys/devices/system/cpu/cpu2/cpufreq/scaling_max_freq", "2100000\n", "3700000\n", "frequency-limits",
         "echo 2100000 | "},
        {"sys/devices/system/cpu/cpu2/cpuidle/state3/disable", "0\n", "1\n", "cstates", "for s in 3; do echo 0 | "},
        {"sys/devices/system/cpu/isolated", "3,7\n", "2-3\n", "isolation", "restore the previous isolcpus= and reboot"},
        {"sys/devices/virtual/workqueue/cpumask", "000000ff\n", "fb\n", "workqueues", "echo 000000ff | "},
        {"sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "100000000\n", "205000000\n", "power-cap",
         "echo 100000000 | "},
        {"proc/sys/kernel/nmi_watchdog", "1\n", "0\n", "nmi-watchdog", "echo 1 | "},
        {"proc/sys/kernel/randomize_va_space", "1\n", "0\n", "aslr", "echo 1 | "},
        {"sys/devices/system/clocksource/clocksource0/current_clocksource", "acpi_pm\n", "tsc\n", "clocksource", ""},
    };
    char root[FOLDER_PATH_MAX];
    fake_environment_make(root);
    folder_put(root, "sys/devices/virtual/workqueue/writeback/cpumask", "fb\n");
    folder_put(root, "sys/devices/system/cpu/cpu2/cpuidle/state2/disable", "1\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct findings f;
        folder_put(root, cases[i].file, cases[i].bad);
        report(root, &f);
        const struct finding *found = finding_of(&f, cases[i].id);
        assert_int_equal(found->kind, FINDING_DISTURBS);
        if (strncmp(found->undo, cases[i].undo, strlen(cases[i].undo)) != 0)
            fail_msg("%s: %s", cases[i].id, found->undo);
        findings_free(&f);
        folder_put(root, cases[i].file, cases[i].good);
        report(root, &f);
        assert_int_equal(finding_of(&f, cases[i].id)->kind, FINDING_QUIET);
        findings_free(&f);
    }
    folder_remove(root);
}
