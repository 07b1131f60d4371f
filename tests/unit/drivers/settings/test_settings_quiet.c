/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a quiet machine in a tree that looks like one: what is changed, written down, and put back. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "drivers/settings/settings.h"
#include "tests/support/folder.h"
#include "tests/support/random_numbers.h"

#define CPUS "sys/devices/system/cpu/"
#define WORKQUEUES "sys/devices/virtual/workqueue/"
#define BOOT "8413c301-7ff1-50ab-95fa-64225559df55"

struct quiet_tree {
    char root[FOLDER_PATH_MAX], sys[80], proc[80], dev[80], state[80];
    struct settings_roots roots;
};

/* Two cores of two threads each; CPU 3 is measured. What each part makes of it. */
static const struct {
    unsigned part;
    const char *path, *before, *after;
} quiet_files[] = {
    {QUIET_GOVERNOR, CPUS "cpufreq/policy1/scaling_governor", "powersave", "performance"},
    {QUIET_EPP, CPUS "cpufreq/policy1/energy_performance_preference", "balance_power", "performance"},
    {QUIET_TURBO, CPUS "intel_pstate/no_turbo", "0", "1"},
    {QUIET_CSTATES, CPUS "cpu3/cpuidle/state2/disable", "0", "1"},
    {QUIET_CSTATES, CPUS "cpu3/cpuidle/state10/disable", "0", "1"},
    {0, CPUS "cpu3/cpuidle/state1/disable", "0", "0"},
    {QUIET_SMT, CPUS "cpu1/online", "1", "0"},
    {QUIET_IRQ, "proc/irq/default_smp_affinity", "0000000f", "7"},
    {QUIET_IRQ, "proc/irq/24/smp_affinity_list", "0-3", "0-2"},
    {QUIET_IRQ, "proc/irq/25/smp_affinity_list", "3", "0-2"},
    {QUIET_IRQ, "proc/irq/26/smp_affinity_list", "2,3", "2"},
    {0, "proc/irq/27/smp_affinity_list", "1", "1"},
    {QUIET_WORKQUEUE, WORKQUEUES "cpumask", "f", "7"},
    {QUIET_WORKQUEUE, WORKQUEUES "writeback/cpumask", "8", "7"},
    {QUIET_TICK, "proc/sys/kernel/nmi_watchdog", "1", "0"},
    {QUIET_TICK, "proc/sys/kernel/sched_rt_runtime_us", "950000", "-1"},
    {QUIET_TICK, "proc/sys/vm/stat_interval", "1", "120"},
};
enum { QUIET_FILES = sizeof quiet_files / sizeof *quiet_files };

static void put_quiet(const struct quiet_tree *t, const char *path, const char *text)
{
    folder_put_line(t->root, path, text);
}

static const char *get_quiet(const struct quiet_tree *t, const char *path)
{
    static char text[8000];
    char name[300];
    snprintf(name, sizeof name, "%s/%s", t->root, path);
    FILE *file = fopen(name, "r");
    if (file == NULL)
        return "(not there)";
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    while (n > 0 && text[n - 1] == '\n')
        text[--n] = '\0';
    return text;
}

static void quiet_is(const struct quiet_tree *t, const char *path, const char *expected)
{
    if (strcmp(get_quiet(t, path), expected) != 0)
        fail_msg("%s: %s instead of %s", path, get_quiet(t, path), expected);
}

static void put_all(const struct quiet_tree *t)
{
    for (int i = 0; i < QUIET_FILES; i++)
        put_quiet(t, quiet_files[i].path, quiet_files[i].before);
}

/* All settings of these parts are as after the change, the others as before. */
static void all_are(const struct quiet_tree *t, unsigned changed)
{
    for (int i = 0; i < QUIET_FILES; i++)
        quiet_is(t, quiet_files[i].path,
                 (changed & quiet_files[i].part) != 0 ? quiet_files[i].after : quiet_files[i].before);
}

static int quiet_grow(void **state)
{
    static struct quiet_tree t;
    folder_make(t.root);
    chmod(t.root, 0777);
    snprintf(t.sys, sizeof t.sys, "%s/sys", t.root);
    snprintf(t.proc, sizeof t.proc, "%s/proc", t.root);
    snprintf(t.dev, sizeof t.dev, "%s/dev", t.root);
    snprintf(t.state, sizeof t.state, "%s/state", t.root);
    t.roots = (struct settings_roots){.sys = t.sys, .proc = t.proc, .dev = t.dev, .state = t.state};
    put_all(&t);
    put_quiet(&t, CPUS "online", "0-3");
    put_quiet(&t, CPUS "present", "0-3");
    put_quiet(&t, CPUS "cpufreq/policy1/related_cpus", "1,3");
    put_quiet(&t, CPUS "cpufreq/policy0/related_cpus", "0,2");
    put_quiet(&t, CPUS "cpu3/topology/thread_siblings_list", "1,3");
    put_quiet(&t, CPUS "cpu3/cpuidle/state1/latency", "2");
    put_quiet(&t, CPUS "cpu3/cpuidle/state2/latency", "3");
    put_quiet(&t, CPUS "cpu3/cpuidle/state10/latency", "600");
    put_quiet(&t, "proc/sys/kernel/random/boot_id", BOOT);
    *state = &t;
    return 0;
}

static int quiet_fell(void **state)
{
    struct quiet_tree *t = *state;
    folder_remove(t->root);
    return 0;
}

static int quieten(const struct quiet_tree *t, unsigned parts, unsigned must, struct settings **s,
                   struct machine_error *err)
{
    const struct settings_wish wish = {.turbo = -1, .quiet = parts, .quiet_must = must, .cpu = 3};
    return settings_apply(&t->roots, &wish, s, err);
}

static struct settings *quieted(const struct quiet_tree *t, unsigned parts)
{
    struct settings *s = NULL;
    struct machine_error err;
    if (quieten(t, parts, 0, &s, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    return s;
}

static void unquiet(struct settings *s, const char *others)
{
    struct machine_error err;
    if (settings_restore(s, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    if (others == NULL ? err.text[0] != '\0' : strstr(err.text, others) == NULL)
        fail_msg("%s", err.text);
}

static void recovers(const struct quiet_tree *t, int status, const char *told)
{
    struct machine_error err = {.status = MACHINE_OK};
    char text[800];
    bool lives;
    assert_int_equal(settings_recover(&t->roots, text, sizeof text, &lives, &err), status);
    if (strstr(status == MACHINE_OK ? text : err.text, told) == NULL || (told[0] == '\0' && text[0] != '\0'))
        fail_msg("%s, %s", text, err.text);
}

/* ---- the parts ---- */

static void test_each_part_changes_its_own_and_puts_it_back(void **state)
{
    struct quiet_tree *t = *state;
    for (unsigned part = 1; part < 1u << QUIET_PARTS; part <<= 1) {
        if (part == QUIET_ISOLATE || part == QUIET_SMT)
            continue;
        struct settings *s = quieted(t, part);
        all_are(t, part);
        assert_string_equal(settings_left(s), "");
        assert_non_null(strstr(settings_text(s), settings_part_names[__builtin_ctz(part)]));
        unquiet(s, NULL);
        all_are(t, 0);
        quiet_is(t, "state", "(not there)");
    }
}

static void test_all_parts_at_once(void **state)
{
    struct quiet_tree *t = *state;
    struct settings *s = quieted(t, QUIET_DEFAULT | QUIET_TURBO);
    all_are(t, QUIET_DEFAULT | QUIET_TURBO);
    assert_string_equal(settings_left(s), "isolate: there are no cpusets here (/sys/fs/cgroup)\n");
    assert_string_equal(settings_text(s),
                        "quiet for CPU 3: governor: scaling_governor performance (was powersave); epp: "
                        "energy_performance_preference performance (was balance_power); turbo: no_turbo 1 (was 0); "
                        "cstates: 2 settings; irq: 3 interrupts moved away; workqueue: 2 settings; tick: "
                        "nmi_watchdog 0 (was 1), stat_interval 120 (was 1), sched_rt_runtime_us -1 (was 950000); as it "
                        "was: isolate");
    /* intel_pstate takes no preference under the governor performance: on the way there first, on the way back last */
    const char *text = get_quiet(t, "state");
    assert_true(strstr(text, "energy_performance_preference") < strstr(text, "scaling_governor"));
    unquiet(s, NULL);
    all_are(t, 0);
}

/* Nobody may write its file: root could, here, but is not to try; and it is not shown as what would be changed. */
static void test_an_irq_that_the_kernel_places_stays(void **state)
{
    struct quiet_tree *t = *state;
    char path[200];
    snprintf(path, sizeof path, "%s/proc/irq/25/smp_affinity_list", t->root);
    chmod(path, 0444);
    struct settings *s = quieted(t, QUIET_IRQ);
    quiet_is(t, "proc/irq/24/smp_affinity_list", "0-2");
    quiet_is(t, "proc/irq/25/smp_affinity_list", "3");
    assert_non_null(strstr(settings_left(s), "irq/25/smp_affinity_list: the kernel alone places it"));
    assert_non_null(strstr(settings_text(s), "irq: 2 interrupts moved away"));
    unquiet(s, NULL);
    all_are(t, 0);
}

static void test_siblings_go_offline_with_their_interrupts_moved(void **state)
{
    struct quiet_tree *t = *state;
    struct settings *s = quieted(t, QUIET_SMT);
    quiet_is(t, CPUS "cpu1/online", "0");
    quiet_is(t, CPUS "cpu3/online", "(not there)");
    quiet_is(t, "proc/irq/27/smp_affinity_list",
             "0,2"); /* it could go nowhere else: the kernel would free it for good */
    assert_string_equal(settings_text(s), "quiet for CPU 3: smt: CPU 1 offline");
    const char *text = get_quiet(t, "state");
    assert_true(strstr(text, "irq/27") < strstr(text, "cpu1/online"));
    unquiet(s, NULL);
    all_are(t, 0);
    put_quiet(t, CPUS "cpu3/topology/thread_siblings_list", "3");
    s = quieted(t, QUIET_SMT);
    assert_string_equal(settings_text(s), "quiet for CPU 3: nothing changed; so before: smt");
    unquiet(s, NULL);
}

static void test_siblings_stay_where_that_would_lose_something(void **state)
{
    struct quiet_tree *t = *state;
    struct settings *s;
    put_quiet(t, CPUS "cpu3/topology/thread_siblings_list", "1,3");
    put_quiet(t, "proc/77/task/78/x", "");
    put_quiet(t, "proc/78/status", "Name:\tx\nTgid:\t77\nVmSize:\t1 kB\nCpus_allowed_list:\t1");
    s = quieted(t, QUIET_SMT);
    assert_string_equal(settings_left(s), "smt: process 77 is bound to the sibling and would lose that\n");
    unquiet(s, NULL);
    put_quiet(t, "proc/78/status", "Name:\tkworker/1:0\nTgid:\t77\nCpus_allowed_list:\t1"); /* of the kernel */
    unquiet(quieted(t, QUIET_SMT), NULL);
    put_quiet(t, "sys/fs/cgroup/cpuset/group/cpuset.cpus", "0-3");
    s = quieted(t, QUIET_SMT);
    assert_non_null(strstr(settings_left(s), "cgroup version 1"));
    all_are(t, 0);
    unquiet(s, NULL);
}

static void test_what_is_there_already_is_not_touched(void **state)
{
    struct quiet_tree *t = *state;
    put_quiet(t, CPUS "cpufreq/policy1/scaling_governor", "performance");
    put_quiet(t, "proc/irq/24/smp_affinity_list", "0,1,2");
    struct settings *s = quieted(t, QUIET_GOVERNOR | QUIET_IRQ);
    assert_null(strstr(get_quiet(t, "state"), "governor"));
    assert_null(strstr(get_quiet(t, "state"), "irq/24"));
    assert_non_null(strstr(settings_text(s), "; so before: governor"));
    put_quiet(t, CPUS "cpufreq/policy1/scaling_governor", "powersave"); /* somebody else */
    unquiet(s, NULL);
    quiet_is(t, CPUS "cpufreq/policy1/scaling_governor", "powersave");
    quiet_is(t, "proc/irq/24/smp_affinity_list", "0,1,2");
}

static void test_a_part_that_was_named_must_be_possible(void **state)
{
    struct quiet_tree *t = *state;
    struct settings *s;
    struct machine_error err;
    char command[200];
    snprintf(command, sizeof command, "rm -r '%s/" CPUS "cpufreq'", t->root);
    assert_int_equal(system(command), 0);
    assert_int_equal(quieten(t, QUIET_TICK | QUIET_GOVERNOR, QUIET_GOVERNOR, &s, &err), MACHINE_CANNOT);
    assert_string_equal(err.text, "--quiet-machine=governor: nothing of it can be changed here: there is no cpufreq "
                                  "here (where this is a virtual machine, the host decides)");
    quiet_is(t, "proc/sys/vm/stat_interval", "1");
    quiet_is(t, "state", "(not there)");
    s = quieted(t, QUIET_TICK | QUIET_GOVERNOR | QUIET_EPP);
    assert_string_equal(settings_left(s), "governor, epp: there is no cpufreq here (where this is a virtual machine, "
                                          "the host decides)\n");
    unquiet(s, NULL);
}

static void test_the_only_cpu_has_nowhere_to_send_things(void **state)
{
    struct quiet_tree *t = *state;
    put_quiet(t, CPUS "online", "3");
    struct settings *s = quieted(t, QUIET_IRQ | QUIET_WORKQUEUE | QUIET_ISOLATE);
    assert_string_equal(settings_left(s), "irq, workqueue, isolate: no other CPU is online\n");
    unquiet(s, NULL);
    all_are(t, 0);
}

static void test_garbage_is_left(void **state)
{
    struct quiet_tree *t = *state;
    put_quiet(t, "proc/irq/24/smp_affinity_list", "three");
    put_quiet(t, CPUS "cpufreq/policy1/scaling_governor", "a b\nfile -1 x");
    put_quiet(t, WORKQUEUES "cpumask", "123456789");
    put_quiet(t, "proc/sys/vm/stat_interval", "");
    struct settings *s = quieted(t, QUIET_DEFAULT & ~QUIET_ISOLATE);
    assert_non_null(strstr(settings_left(s), "scaling_governor: what stands there is not understood\n"));
    quiet_is(t, "proc/irq/24/smp_affinity_list", "three");
    quiet_is(t, "proc/irq/25/smp_affinity_list", "0-2");
    unquiet(s, NULL);
    quiet_is(t, "proc/irq/25/smp_affinity_list", "3");
    quiet_is(t, CPUS "cpufreq/policy1/scaling_governor", "a b\nfile -1 x");
}

static void test_masks_of_many_cpus(void **state)
{
    struct quiet_tree *t = *state;
    put_quiet(t, CPUS "online", "0-69");
    put_quiet(t, WORKQUEUES "cpumask", "3f,ffffffff,ffffffff");
    put_quiet(t, "proc/irq/default_smp_affinity", "8,00000000,00000000");
    struct settings *s = quieted(t, QUIET_WORKQUEUE | QUIET_IRQ);
    quiet_is(t, WORKQUEUES "cpumask", "3f,ffffffff,fffffff7");
    quiet_is(t, "proc/irq/default_smp_affinity", "8,00000000,00000000");
    quiet_is(t, "proc/irq/25/smp_affinity_list", "0-2,4-69");
    unquiet(s, NULL);
    quiet_is(t, WORKQUEUES "cpumask", "3f,ffffffff,ffffffff");
}

/* ---- steps ---- */

static void test_steps_and_back(void **state)
{
    struct quiet_tree *t = *state;
    struct settings_wish wish = {.turbo = -1, .quiet = QUIET_TICK, .cpu = 3};
    struct settings *s = NULL;
    struct machine_error err;
    assert_int_equal(settings_add(&t->roots, &wish, &s, &err), MACHINE_OK);
    size_t mark = settings_mark(s);
    wish.quiet = QUIET_IRQ;
    assert_int_equal(settings_add(&t->roots, &wish, &s, &err), MACHINE_OK);
    all_are(t, QUIET_TICK | QUIET_IRQ);
    assert_int_equal(settings_back_to(s, mark, &err), MACHINE_OK);
    all_are(t, QUIET_TICK);
    assert_null(strstr(settings_text(s), "interrupt"));
    put_quiet(t, "proc/irq/24/smp_affinity_list", "0-2"); /* somebody else: it is no longer ours */
    wish.quiet = QUIET_WORKQUEUE;
    assert_int_equal(settings_add(&t->roots, &wish, &s, &err), MACHINE_OK);
    quiet_is(t, WORKQUEUES "cpumask", "7");
    unquiet(s, NULL);
    quiet_is(t, "proc/irq/24/smp_affinity_list", "0-2");
    put_quiet(t, "proc/irq/24/smp_affinity_list", "0-3");
    all_are(t, 0);
    /* an interrupt that nobody has asked for */
    put_quiet(t, "sys/kernel/irq/24/actions", "");
    put_quiet(t, "sys/kernel/irq/25/actions", "eth0");
    s = quieted(t, QUIET_IRQ);
    quiet_is(t, "proc/irq/24/smp_affinity_list", "0-3");
    quiet_is(t, "proc/irq/25/smp_affinity_list", "0-2");
    unquiet(s, NULL);
}

/* ---- what others do ---- */

static void test_what_others_set_meanwhile_is_left(void **state)
{
    struct quiet_tree *t = *state;
    struct settings *s = quieted(t, QUIET_IRQ | QUIET_TICK | QUIET_WORKQUEUE | QUIET_GOVERNOR);
    put_quiet(t, "proc/irq/24/smp_affinity_list", "1");
    put_quiet(t, "proc/irq/25/smp_affinity_list", "0,1,2"); /* what was written, in other words */
    put_quiet(t, WORKQUEUES "cpumask", "00000007");
    put_quiet(t, "proc/irq/26/smp_affinity_list", "2-3"); /* what it was, in other words */
    char path[200];
    snprintf(path, sizeof path, "%s/" CPUS "cpufreq/policy1/scaling_governor", t->root);
    unlink(path);
    unquiet(s, "irq/24/smp_affinity_list (1)");
    quiet_is(t, "proc/irq/24/smp_affinity_list", "1");
    quiet_is(t, "proc/irq/25/smp_affinity_list", "3");
    quiet_is(t, "proc/irq/26/smp_affinity_list", "2-3");
    quiet_is(t, WORKQUEUES "cpumask", "f");
    quiet_is(t, CPUS "cpufreq/policy1/scaling_governor", "(not there)");
    quiet_is(t, "state", "(not there)");
}

/* A run that is killed when all is changed. */
static void kill_run(const struct quiet_tree *t, unsigned parts)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        quieted(t, parts);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
}

enum { KILLED = QUIET_DEFAULT & ~QUIET_ISOLATE };

static void test_after_a_reboot_nothing_is_undone(void **state)
{
    struct quiet_tree *t = *state;
    kill_run(t, KILLED);
    put_quiet(t, "proc/sys/kernel/random/boot_id", "00000000-7ff1-50ab-95fa-64225559df55");
    recovers(t, MACHINE_OK, "are gone: the machine was started anew since");
    all_are(t, KILLED);
    quiet_is(t, "state", "(not there)");
    recovers(t, MACHINE_OK, "");
}

static void test_undoing_may_be_killed_as_well(void **state)
{
    struct quiet_tree *t = *state;
    kill_run(t, KILLED);
    /* as it stands when undoing was ended after some of it, one IRQ half-way back */
    put_quiet(t, "proc/sys/vm/stat_interval", "1");
    put_quiet(t, WORKQUEUES "cpumask", "f");
    char path[100], text[8000];
    snprintf(text, sizeof text, "%s", get_quiet(t, "state"));
    char *at = strstr(text, "irq/24/smp_affinity_list 0-3 0-2");
    assert_non_null(at);
    memcpy(at, "irq/24/smp_affinity_list 0-3@1 2", 32);
    put_quiet(t, "proc/irq/24/smp_affinity_list", "1");
    put_quiet(t, "state", text);
    snprintf(path, sizeof path, "%s/state", t->root);
    chmod(path, 0644);
    recovers(t, MACHINE_OK, "restored ");
    all_are(t, 0);
}

/* ---- the journal ---- */

static void put_changed(const struct quiet_tree *t)
{
    for (int i = 0; i < QUIET_FILES; i++)
        put_quiet(t, quiet_files[i].path,
                  (quiet_files[i].part & KILLED) != 0 ? quiet_files[i].after : quiet_files[i].before);
}

static void put_journal(const struct quiet_tree *t, const char *text)
{
    FILE *file = fopen(t->state, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    chmod(t->state, 0644);
}

static void test_a_journal_cut_anywhere(void **state)
{
    struct quiet_tree *t = *state;
    char text[8000], all[8000];
    bool lives;
    char told[800];
    struct machine_error err;
    kill_run(t, KILLED);
    snprintf(all, sizeof all, "%s\n", get_quiet(t, "state"));
    for (size_t n = 0; n <= strlen(all); n += rng_all_rounds() || n < 120 ? 1 : 7) {
        snprintf(text, sizeof text, "%.*s", (int)n, all);
        put_changed(t);
        put_journal(t, text);
        assert_int_equal(settings_recover(&t->roots, told, sizeof told, &lives, &err), MACHINE_OK);
        quiet_is(t, "state", "(not there)");
        /* what has a whole line is put back, all else is as it stands */
        for (int i = 0; i < QUIET_FILES; i++) {
            const char *line = strstr(text, quiet_files[i].path);
            bool written = line != NULL && strchr(line, '\n') != NULL;
            bool changed = (quiet_files[i].part & KILLED) != 0;
            quiet_is(t, quiet_files[i].path, changed && !written ? quiet_files[i].after : quiet_files[i].before);
        }
    }
}

static void test_a_journal_of_garbage(void **state)
{
    struct quiet_tree *t = *state;
    struct rng numbers;
    char all[8000], told[800];
    bool lives;
    struct machine_error err;
    rng_init(&numbers, 14, 0);
    kill_run(t, KILLED);
    snprintf(all, sizeof all, "%s\n", get_quiet(t, "state"));
    for (int round = 0; round < (int)rng_rounds(400); round++) {
        char text[8000];
        size_t length = strlen(all);
        memcpy(text, all, length + 1);
        for (int k = rng_int(&numbers, 0, 3); k >= 0; k--)
            text[rng_int(&numbers, 0, (int)length - 1)] = (char)rng_int(&numbers, 0, 255);
        put_changed(t);
        put_journal(t, text);
        (void)settings_recover(&t->roots, told, sizeof told, &lives, &err);
        /* a digit of a number, a letter of a word may have become another one; all else is as before or after */
        for (int i = 0; i < QUIET_FILES; i++)
            if (quiet_files[i].part != QUIET_TICK && quiet_files[i].part != QUIET_IRQ &&
                quiet_files[i].part != QUIET_WORKQUEUE && quiet_files[i].part != QUIET_GOVERNOR &&
                quiet_files[i].part != QUIET_EPP)
                assert_true(strcmp(get_quiet(t, quiet_files[i].path), quiet_files[i].before) == 0 ||
                            strcmp(get_quiet(t, quiet_files[i].path), quiet_files[i].after) == 0);
        unlink(t->state);
    }
}

static void test_a_journal_of_other_files_is_refused(void **state)
{
    struct quiet_tree *t = *state;
    static const char *const lines[] = {
        "file -1 /etc/passwd a b",
        "file -1 /proc/sys/kernel/core_pattern a b",
        "file -1 /proc/sys/kernel/../kernel/nmi_watchdog 0 1",
        "file -1 /sys/devices/system/cpu/cpu1/../cpu3/online 0 1",
        "file -1 /sys/devices/virtual/workqueue/../cpumask 1 2",
        "file -1 /sys/devices/system/cpu/cpu3/online 0 2",
        "file -1 /sys/devices/system/cpu/cpufreq/policy1/scaling_governor |sh performance",
        "file -1 /sys/devices/system/cpu/cpufreq/policy1/scaling_governor a performance b",
        "file 0 /proc/sys/vm/stat_interval 1 120",
        "irq -1 /proc/irq/24/smp_affinity 1 2",
        "irq -1 /proc/irq/24/smp_affinity_list 1@x 2",
        "turbo-bit -1 - 0 1",
        "turbo-bit 0 - 0 2",
        "partition -1 /sys/fs/cgroup/user.slice / 3",
        "partition -1 /sys/fs/cgroup/characterize /../.. 3",
        "shield -1 /sys/fs/cgroup/cpuset/docker - 3",
        "other -1 /proc/sys/vm/stat_interval 1 120",
        "undone 3"};
    struct machine_error err;
    struct settings *s;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[500];
        snprintf(text, sizeof text, "characterize-settings/2\nboot " BOOT "\npid 1\n%s\n", lines[i]);
        put_changed(t);
        put_journal(t, text);
        recovers(t, MACHINE_CANNOT, "not written by this program");
        assert_int_equal(quieten(t, QUIET_TURBO, QUIET_TURBO, &s, &err), MACHINE_CANNOT);
        all_are(t, KILLED);
    }
    put_journal(t, "characterize-settings/2\nboot " BOOT "\npid 1\nfile -1 /proc/sys/vm/stat_interval 1 120\n");
    chmod(t->state, 0666); /* anybody may have written it */
    recovers(t, MACHINE_CANNOT, "not written by this program");
    quiet_is(t, "proc/sys/vm/stat_interval", "120");
    chmod(t->state, 0644);
    recovers(t, MACHINE_OK, "restored 1 setting that");
    quiet_is(t, "proc/sys/vm/stat_interval", "1");
}

static void test_links_lead_nowhere(void **state)
{
    struct quiet_tree *t = *state;
    char link[200], target[200];
    put_quiet(t, "secret", "mine");
    snprintf(target, sizeof target, "%s/secret", t->root);
    /* a setting, a folder on the way, and another name of a file */
    snprintf(link, sizeof link, "%s/proc/sys/vm/stat_interval", t->root);
    unlink(link);
    assert_int_equal(symlink(target, link), 0);
    unquiet(quieted(t, QUIET_TICK), NULL);
    quiet_is(t, "secret", "mine");
    put_journal(t, "characterize-settings/2\nboot " BOOT "\npid 1\nfile -1 /proc/sys/vm/stat_interval 1 120\n");
    recovers(t, MACHINE_CANNOT, "could not be restored");
    quiet_is(t, "secret", "mine");
    unlink(link);
    assert_int_equal(linkat(AT_FDCWD, target, AT_FDCWD, link, 0), 0);
    recovers(t, MACHINE_CANNOT, "could not be restored");
    quiet_is(t, "secret", "mine");
    /* the journal itself */
    unlink(t->state);
    assert_int_equal(symlink(target, t->state), 0);
    recovers(t, MACHINE_CANNOT, "cannot be understood");
    quiet_is(t, "secret", "mine");
    unlink(t->state);
}

static void test_without_a_journal_nothing_is_changed(void **state)
{
    struct quiet_tree *t = *state;
    struct settings *s;
    struct machine_error err;
    t->roots.state = "/dev/full";
    s = quieted(t, KILLED);
    all_are(t, 0);
    assert_non_null(strstr(settings_left(s), "/dev/full: "));
    unquiet(s, NULL);
    assert_int_equal(quieten(t, QUIET_TICK, QUIET_TICK, &s, &err), MACHINE_CANNOT);
    t->roots.state = t->state;
}

/* ---- isolate ---- */

static void test_a_partition(void **state)
{
    struct quiet_tree *t = *state;
    struct settings_wish wish = {.turbo = -1, .quiet = QUIET_ISOLATE, .cpu = 3, .spread = true};
    struct settings *s;
    struct machine_error err;
    put_quiet(t, "sys/fs/cgroup/cgroup.controllers", "memory cpuset cpu");
    put_quiet(t, "sys/fs/cgroup/cgroup.subtree_control", "cpu cpuset");
    put_quiet(t, "proc/self/cgroup", "1:name=systemd:/\n0::/user.slice/a");
    assert_int_equal(settings_apply(&t->roots, &wish, &s, &err), MACHINE_OK);
    assert_string_equal(settings_left(s), "isolate: it leaves one CPU to this program, and others are to be busy as "
                                          "well\n");
    unquiet(s, NULL);
    /* a folder is no cgroup: its files must be there, and it cannot be removed with them */
    put_quiet(t, "sys/fs/cgroup/characterize/cpuset.cpus", "");
    put_quiet(t, "sys/fs/cgroup/characterize/cpuset.cpus.partition", "member");
    put_quiet(t, "sys/fs/cgroup/characterize/cgroup.procs", "");
    wish.spread = false;
    assert_int_equal(settings_apply(&t->roots, &wish, &s, &err), MACHINE_OK);
    assert_string_equal(settings_text(s), "quiet for CPU 3: isolate: alone in a cpuset");
    quiet_is(t, "sys/fs/cgroup/characterize/cpuset.cpus", "3");
    quiet_is(t, "sys/fs/cgroup/characterize/cpuset.cpus.partition", "isolated");
    quiet_is(t, "sys/fs/cgroup/characterize/cgroup.procs", "0"); /* this process */
    assert_non_null(strstr(get_quiet(t, "state"), "\npartition -1 /sys/fs/cgroup/characterize /user.slice/a 3"));
    put_quiet(t, "sys/fs/cgroup/user.slice/a/cgroup.procs", "");
    put_quiet(t, "sys/fs/cgroup/characterize/cgroup.procs", "4711");
    assert_int_equal(settings_restore(s, &err), MACHINE_FAILED);
    quiet_is(t, "sys/fs/cgroup/user.slice/a/cgroup.procs", "4711");
    char command[200];
    snprintf(command, sizeof command, "rm '%s/sys/fs/cgroup/characterize/'*", t->root);
    assert_int_equal(system(command), 0);
    recovers(t, MACHINE_OK, "restored 1 setting that");
    quiet_is(t, "sys/fs/cgroup/characterize/cgroup.procs", "(not there)");
    quiet_is(t, "state", "(not there)");
    /* before Linux 6.2 nobody may have chosen CPUs */
    put_quiet(t, "proc/sys/kernel/osrelease", "6.1.0-56-amd64");
    put_quiet(t, "proc/77/task/78/x", "");
    put_quiet(t, "proc/78/status", "Name:\tx\nTgid:\t77\nVmSize:\t1 kB\nCpus_allowed_list:\t0-2");
    s = quieted(t, QUIET_ISOLATE);
    assert_non_null(strstr(settings_left(s), "isolate: process 77 has chosen its CPUs"));
    unquiet(s, NULL);
}

int main(void)
{
#define IN_QUIET_TREE(test) cmocka_unit_test_setup_teardown(test, quiet_grow, quiet_fell)
    const struct CMUnitTest tests[] = {
        IN_QUIET_TREE(test_each_part_changes_its_own_and_puts_it_back),
        IN_QUIET_TREE(test_all_parts_at_once),
        IN_QUIET_TREE(test_an_irq_that_the_kernel_places_stays),
        IN_QUIET_TREE(test_siblings_go_offline_with_their_interrupts_moved),
        IN_QUIET_TREE(test_siblings_stay_where_that_would_lose_something),
        IN_QUIET_TREE(test_what_is_there_already_is_not_touched),
        IN_QUIET_TREE(test_a_part_that_was_named_must_be_possible),
        IN_QUIET_TREE(test_the_only_cpu_has_nowhere_to_send_things),
        IN_QUIET_TREE(test_garbage_is_left),
        IN_QUIET_TREE(test_masks_of_many_cpus),
        IN_QUIET_TREE(test_steps_and_back),
        IN_QUIET_TREE(test_what_others_set_meanwhile_is_left),
        IN_QUIET_TREE(test_after_a_reboot_nothing_is_undone),
        IN_QUIET_TREE(test_undoing_may_be_killed_as_well),
        IN_QUIET_TREE(test_a_journal_cut_anywhere),
        IN_QUIET_TREE(test_a_journal_of_garbage),
        IN_QUIET_TREE(test_a_journal_of_other_files_is_refused),
        IN_QUIET_TREE(test_links_lead_nowhere),
        IN_QUIET_TREE(test_without_a_journal_nothing_is_changed),
        IN_QUIET_TREE(test_a_partition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
