/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a quiet machine in a tree that looks like one: what is changed, and put back. */
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/quiet_rig.h"
#include "tests/support/test.h"

/* ---- the parts ---- */

TEST_WITH(test_each_part_changes_its_own_and_puts_it_back, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    for (unsigned part = 1; part < 1u << QUIET_PARTS; part <<= 1) {
        if (part == QUIET_ISOLATE || part == QUIET_SMT)
            continue;
        struct settings *s = quiet_applied(t, part);
        quiet_all_are(t, part);
        assert_string_equal(settings_left(s), "");
        assert_non_null(strstr(settings_text(s), settings_part_names[__builtin_ctz(part)]));
        quiet_restore(s, NULL);
        quiet_all_are(t, 0);
        quiet_is(t, "state", "(not there)");
    }
}

TEST_WITH(test_all_parts_at_once, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    struct settings *s = quiet_applied(t, QUIET_DEFAULT | QUIET_TURBO);
    quiet_all_are(t, QUIET_DEFAULT | QUIET_TURBO);
    assert_string_equal(settings_left(s), "isolate: there are no cpusets here (/sys/fs/cgroup)\n");
    assert_string_equal(settings_text(s),
                        "quiet for CPU 3: governor: scaling_governor performance (was powersave); epp: "
                        "energy_performance_preference performance (was balance_power); turbo: no_turbo 1 (was 0); "
                        "cstates: 2 settings; irq: 3 interrupts moved away; workqueue: 2 settings; tick: "
                        "nmi_watchdog 0 (was 1), stat_interval 120 (was 1), sched_rt_runtime_us -1 (was 950000); as it "
                        "was: isolate");
    /* intel_pstate takes no preference under the governor performance: on the way there first, on the way back last */
    const char *text = folder_get(t->root, "state");
    assert_true(strstr(text, "energy_performance_preference") < strstr(text, "scaling_governor"));
    quiet_restore(s, NULL);
    quiet_all_are(t, 0);
}

/* Nobody may write its file: root could, here, but is not to try; and it is not shown as what would be changed. */
TEST_WITH(test_an_irq_that_the_kernel_places_stays, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    char path[200];
    snprintf(path, sizeof path, "%s/proc/irq/25/smp_affinity_list", t->root);
    chmod(path, 0444);
    struct settings *s = quiet_applied(t, QUIET_IRQ);
    quiet_is(t, "proc/irq/24/smp_affinity_list", "0-2");
    quiet_is(t, "proc/irq/25/smp_affinity_list", "3");
    assert_non_null(strstr(settings_left(s), "irq/25/smp_affinity_list: only the kernel places it"));
    assert_non_null(strstr(settings_text(s), "irq: 2 interrupts moved away"));
    quiet_restore(s, NULL);
    quiet_all_are(t, 0);
}

TEST_WITH(test_siblings_go_offline_with_their_interrupts_moved, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    struct settings *s = quiet_applied(t, QUIET_SMT);
    quiet_is(t, QUIET_CPUS "cpu1/online", "0");
    quiet_is(t, QUIET_CPUS "cpu3/online", "(not there)");
    quiet_is(t, "proc/irq/27/smp_affinity_list",
             "0,2"); /* it could go nowhere else: the kernel would free it for good */
    assert_string_equal(settings_text(s), "quiet for CPU 3: smt: CPU 1 offline");
    const char *text = folder_get(t->root, "state");
    assert_true(strstr(text, "irq/27") < strstr(text, "cpu1/online"));
    quiet_restore(s, NULL);
    quiet_all_are(t, 0);
    quiet_put(t, QUIET_CPUS "cpu3/topology/thread_siblings_list", "3");
    s = quiet_applied(t, QUIET_SMT);
    assert_string_equal(settings_text(s), "quiet for CPU 3: nothing changed; so before: smt");
    quiet_restore(s, NULL);
}

TEST_WITH(test_siblings_stay_where_that_would_lose_something, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    struct settings *s;
    quiet_put(t, QUIET_CPUS "cpu3/topology/thread_siblings_list", "1,3");
    quiet_put(t, "proc/77/task/78/x", "");
    quiet_put(t, "proc/78/status", "Name:\tx\nTgid:\t77\nVmSize:\t1 kB\nCpus_allowed_list:\t1");
    s = quiet_applied(t, QUIET_SMT);
    assert_string_equal(settings_left(s), "smt: process 77 is bound to the sibling and would lose its affinity\n");
    quiet_restore(s, NULL);
    quiet_put(t, "proc/78/status", "Name:\tkworker/1:0\nTgid:\t77\nCpus_allowed_list:\t1"); /* of the kernel */
    quiet_restore(quiet_applied(t, QUIET_SMT), NULL);
    quiet_put(t, "sys/fs/cgroup/cpuset/group/cpuset.cpus", "0-3");
    s = quiet_applied(t, QUIET_SMT);
    assert_non_null(strstr(settings_left(s), "cgroup version 1"));
    quiet_all_are(t, 0);
    quiet_restore(s, NULL);
}

TEST_WITH(test_what_is_there_already_is_not_touched, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    quiet_put(t, QUIET_CPUS "cpufreq/policy1/scaling_governor", "performance");
    quiet_put(t, "proc/irq/24/smp_affinity_list", "0,1,2");
    struct settings *s = quiet_applied(t, QUIET_GOVERNOR | QUIET_IRQ);
    assert_null(strstr(folder_get(t->root, "state"), "governor"));
    assert_null(strstr(folder_get(t->root, "state"), "irq/24"));
    assert_non_null(strstr(settings_text(s), "; so before: governor"));
    quiet_put(t, QUIET_CPUS "cpufreq/policy1/scaling_governor", "powersave"); /* somebody else */
    quiet_restore(s, NULL);
    quiet_is(t, QUIET_CPUS "cpufreq/policy1/scaling_governor", "powersave");
    quiet_is(t, "proc/irq/24/smp_affinity_list", "0,1,2");
}

TEST_WITH(test_a_part_that_was_named_must_be_possible, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    struct settings *s;
    struct machine_error err;
    char command[200];
    snprintf(command, sizeof command, "rm -r '%s/" QUIET_CPUS "cpufreq'", t->root);
    assert_int_equal(system(command), 0);
    assert_int_equal(quiet_apply(t, QUIET_TICK | QUIET_GOVERNOR, QUIET_GOVERNOR, &s, &err), MACHINE_CANNOT);
    assert_string_equal(err.text, "--quiet-machine=governor: nothing in it can be changed here: there is no cpufreq "
                                  "here (in a virtual machine, the host decides)");
    quiet_is(t, "proc/sys/vm/stat_interval", "1");
    quiet_is(t, "state", "(not there)");
    s = quiet_applied(t, QUIET_TICK | QUIET_GOVERNOR | QUIET_EPP);
    assert_string_equal(settings_left(s),
                        "governor, epp: there is no cpufreq here (in a virtual machine, the host decides)\n");
    quiet_restore(s, NULL);
}

TEST_WITH(test_the_only_cpu_has_nowhere_to_send_things, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    quiet_put(t, QUIET_CPUS "online", "3");
    struct settings *s = quiet_applied(t, QUIET_IRQ | QUIET_WORKQUEUE | QUIET_ISOLATE);
    assert_string_equal(settings_left(s), "irq, workqueue, isolate: no other CPU is online\n");
    quiet_restore(s, NULL);
    quiet_all_are(t, 0);
}

TEST_WITH(test_garbage_is_left, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    quiet_put(t, "proc/irq/24/smp_affinity_list", "three");
    quiet_put(t, QUIET_CPUS "cpufreq/policy1/scaling_governor", "a b\nfile -1 x");
    quiet_put(t, QUIET_WORKQUEUES "cpumask", "123456789");
    quiet_put(t, "proc/sys/vm/stat_interval", "");
    struct settings *s = quiet_applied(t, QUIET_DEFAULT & ~QUIET_ISOLATE);
    assert_non_null(strstr(settings_left(s), "scaling_governor: its content is not understood\n"));
    quiet_is(t, "proc/irq/24/smp_affinity_list", "three");
    quiet_is(t, "proc/irq/25/smp_affinity_list", "0-2");
    quiet_restore(s, NULL);
    quiet_is(t, "proc/irq/25/smp_affinity_list", "3");
    quiet_is(t, QUIET_CPUS "cpufreq/policy1/scaling_governor", "a b\nfile -1 x");
}

TEST_WITH(test_masks_of_many_cpus, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    quiet_put(t, QUIET_CPUS "online", "0-69");
    quiet_put(t, QUIET_WORKQUEUES "cpumask", "3f,ffffffff,ffffffff");
    quiet_put(t, "proc/irq/default_smp_affinity", "8,00000000,00000000");
    struct settings *s = quiet_applied(t, QUIET_WORKQUEUE | QUIET_IRQ);
    quiet_is(t, QUIET_WORKQUEUES "cpumask", "3f,ffffffff,fffffff7");
    quiet_is(t, "proc/irq/default_smp_affinity", "8,00000000,00000000");
    quiet_is(t, "proc/irq/25/smp_affinity_list", "0-2,4-69");
    quiet_restore(s, NULL);
    quiet_is(t, QUIET_WORKQUEUES "cpumask", "3f,ffffffff,ffffffff");
}

/* ---- steps ---- */

TEST_WITH(test_steps_and_back, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    struct settings_wish wish = {.turbo = -1, .quiet = QUIET_TICK, .cpu = 3};
    struct settings *s = NULL;
    struct machine_error err;
    assert_int_equal(settings_add(&t->roots, &wish, &s, &err), MACHINE_OK);
    size_t mark = settings_mark(s);
    wish.quiet = QUIET_IRQ;
    assert_int_equal(settings_add(&t->roots, &wish, &s, &err), MACHINE_OK);
    quiet_all_are(t, QUIET_TICK | QUIET_IRQ);
    assert_int_equal(settings_back_to(s, mark, &err), MACHINE_OK);
    quiet_all_are(t, QUIET_TICK);
    assert_null(strstr(settings_text(s), "interrupt"));
    quiet_put(t, "proc/irq/24/smp_affinity_list", "0-2"); /* somebody else: it is no longer ours */
    wish.quiet = QUIET_WORKQUEUE;
    assert_int_equal(settings_add(&t->roots, &wish, &s, &err), MACHINE_OK);
    quiet_is(t, QUIET_WORKQUEUES "cpumask", "7");
    quiet_restore(s, NULL);
    quiet_is(t, "proc/irq/24/smp_affinity_list", "0-2");
    quiet_put(t, "proc/irq/24/smp_affinity_list", "0-3");
    quiet_all_are(t, 0);
    /* an interrupt that nobody has requested */
    quiet_put(t, "sys/kernel/irq/24/actions", "");
    quiet_put(t, "sys/kernel/irq/25/actions", "eth0");
    s = quiet_applied(t, QUIET_IRQ);
    quiet_is(t, "proc/irq/24/smp_affinity_list", "0-3");
    quiet_is(t, "proc/irq/25/smp_affinity_list", "0-2");
    quiet_restore(s, NULL);
}

/* Steps of a refinement go back to what turbo and frequency were set to, not after it. */
TEST_WITH(test_back_to_base, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    struct settings_wish wish = {.turbo = 0, .quiet = QUIET_TICK, .cpu = 3};
    struct settings *s = NULL;
    struct machine_error err;
    assert_int_equal(settings_apply(&t->roots, &wish, &s, &err), MACHINE_OK);
    assert_int_equal(settings_base(s), 1);
    wish.turbo = -1;
    wish.quiet = QUIET_IRQ;
    assert_int_equal(settings_add(&t->roots, &wish, &s, &err), MACHINE_OK);
    assert_int_equal(settings_back_to(s, settings_base(s), &err), MACHINE_OK);
    quiet_all_are(t, QUIET_TURBO);
    assert_non_null(strstr(settings_text(s), "turbo off (was on)"));
    quiet_restore(s, NULL);
    quiet_all_are(t, 0);
}

/* Cgroups that may have cpusets isolate nobody: without a partition the part does not stand. */
TEST_WITH(test_controller_alone, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    struct settings *s = NULL;
    struct machine_error err;
    quiet_put(t, "sys/fs/cgroup/cgroup.controllers", "cpu cpuset");
    quiet_put(t, "sys/fs/cgroup/cgroup.subtree_control", "cpu cpuset");
    quiet_put(t, "proc/self/cgroup", "0::/own");
    s = quiet_applied(t, QUIET_ISOLATE);
    assert_int_equal(settings_stands(s, QUIET_ISOLATE, &err), MACHINE_CANNOT);
    assert_non_null(strstr(settings_text(s), "as it was: isolate"));
    quiet_restore(s, NULL);
    assert_int_equal(quiet_apply(t, QUIET_ISOLATE, QUIET_ISOLATE, &s, &err), MACHINE_CANNOT);
}

/* ---- what others do ---- */

TEST_WITH(test_what_others_set_meanwhile_is_left, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    struct settings *s = quiet_applied(t, QUIET_IRQ | QUIET_TICK | QUIET_WORKQUEUE | QUIET_GOVERNOR);
    quiet_put(t, "proc/irq/24/smp_affinity_list", "1");
    quiet_put(t, "proc/irq/25/smp_affinity_list", "0,1,2"); /* the value written, in other words */
    quiet_put(t, QUIET_WORKQUEUES "cpumask", "00000007");
    quiet_put(t, "proc/irq/26/smp_affinity_list", "2-3"); /* the value before, in other words */
    char path[200];
    snprintf(path, sizeof path, "%s/" QUIET_CPUS "cpufreq/policy1/scaling_governor", t->root);
    unlink(path);
    quiet_restore(s, "irq/24/smp_affinity_list (1)");
    quiet_is(t, "proc/irq/24/smp_affinity_list", "1");
    quiet_is(t, "proc/irq/25/smp_affinity_list", "3");
    quiet_is(t, "proc/irq/26/smp_affinity_list", "2-3");
    quiet_is(t, QUIET_WORKQUEUES "cpumask", "f");
    quiet_is(t, QUIET_CPUS "cpufreq/policy1/scaling_governor", "(not there)");
    quiet_is(t, "state", "(not there)");
}

/* ---- isolate ---- */

TEST_WITH(test_a_partition, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    struct settings_wish wish = {.turbo = -1, .quiet = QUIET_ISOLATE, .cpu = 3, .spread = true};
    struct settings *s;
    struct machine_error err;
    quiet_put(t, "sys/fs/cgroup/cgroup.controllers", "memory cpuset cpu");
    quiet_put(t, "sys/fs/cgroup/cgroup.subtree_control", "cpu cpuset");
    quiet_put(t, "proc/self/cgroup", "1:name=systemd:/\n0::/user.slice/a");
    assert_int_equal(settings_apply(&t->roots, &wish, &s, &err), MACHINE_OK);
    assert_string_equal(settings_left(s),
                        "isolate: it leaves this program a single CPU, but others are to be kept busy\n");
    quiet_restore(s, NULL);
    /* a folder is no cgroup: its files must be there, and it cannot be removed with them */
    quiet_put(t, "sys/fs/cgroup/characterize/cpuset.cpus", "");
    quiet_put(t, "sys/fs/cgroup/characterize/cpuset.cpus.partition", "member");
    quiet_put(t, "sys/fs/cgroup/characterize/cgroup.procs", "");
    wish.spread = false;
    assert_int_equal(settings_apply(&t->roots, &wish, &s, &err), MACHINE_OK);
    assert_string_equal(settings_text(s), "quiet for CPU 3: isolate: alone in a cpuset");
    quiet_is(t, "sys/fs/cgroup/characterize/cpuset.cpus", "3");
    quiet_is(t, "sys/fs/cgroup/characterize/cpuset.cpus.partition", "isolated");
    quiet_is(t, "sys/fs/cgroup/characterize/cgroup.procs", "0"); /* this process */
    assert_non_null(strstr(folder_get(t->root, "state"), "\npartition -1 /sys/fs/cgroup/characterize /user.slice/a 3"));
    quiet_put(t, "sys/fs/cgroup/user.slice/a/cgroup.procs", "");
    quiet_put(t, "sys/fs/cgroup/characterize/cgroup.procs", "4711");
    assert_int_equal(settings_restore(s, &err), MACHINE_FAILED);
    quiet_is(t, "sys/fs/cgroup/user.slice/a/cgroup.procs", "4711");
    char command[200];
    snprintf(command, sizeof command, "rm '%s/sys/fs/cgroup/characterize/'*", t->root);
    assert_int_equal(system(command), 0);
    quiet_recovers(t, MACHINE_OK, "restored 1 setting changed");
    quiet_is(t, "sys/fs/cgroup/characterize/cgroup.procs", "(not there)");
    quiet_is(t, "state", "(not there)");
    /* before Linux 6.2 nobody may have chosen CPUs */
    quiet_put(t, "proc/sys/kernel/osrelease", "6.1.0-56-amd64");
    quiet_put(t, "proc/77/task/78/x", "");
    quiet_put(t, "proc/78/status", "Name:\tx\nTgid:\t77\nVmSize:\t1 kB\nCpus_allowed_list:\t0-2");
    s = quiet_applied(t, QUIET_ISOLATE);
    assert_non_null(strstr(settings_left(s), "isolate: process 77 has set its affinity"));
    quiet_restore(s, NULL);
}

BEFORE_TESTS
{
    close(STDIN_FILENO); /* the next file gets descriptor 0, which is as good as any */
}
