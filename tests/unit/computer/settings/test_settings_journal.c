/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The journal of what was changed for a quiet machine: after a kill or a reboot, cut, garbled, by another's hand. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/quiet_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

/* A run that is killed when all is changed. */
static void kill_run(const struct quiet_tree *t, unsigned parts)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        quiet_applied(t, parts);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
}

enum { KILLED = QUIET_DEFAULT & ~QUIET_ISOLATE };

TEST_WITH(test_after_a_reboot_nothing_is_undone, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    kill_run(t, KILLED);
    quiet_put(t, "proc/sys/kernel/random/boot_id", "00000000-7ff1-50ab-95fa-64225559df55");
    quiet_recovers(t, MACHINE_OK, "are gone: the machine was rebooted since");
    quiet_all_are(t, KILLED);
    quiet_is(t, "state", "(not there)");
    quiet_recovers(t, MACHINE_OK, "");
}

/* Where this boot has no name, as in a sandbox, what was left is undone. */
TEST_WITH(test_a_boot_without_a_name, quiet_grow, quiet_fell)
{
    static const char *const names[] = {"", "not a name"};
    struct quiet_tree *t = *state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        quiet_put(t, "proc/sys/kernel/random/boot_id", QUIET_BOOT);
        kill_run(t, KILLED);
        quiet_put(t, "proc/sys/kernel/random/boot_id", names[i]);
        quiet_recovers(t, MACHINE_OK, "restored ");
        quiet_all_are(t, 0);
        quiet_is(t, "state", "(not there)");
    }
}

TEST_WITH(test_undoing_may_be_killed_as_well, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    kill_run(t, KILLED);
    /* as it stands when undoing was ended after some of it, one IRQ half-way back */
    quiet_put(t, "proc/sys/vm/stat_interval", "1");
    quiet_put(t, QUIET_WORKQUEUES "cpumask", "f");
    char path[100], text[8000];
    snprintf(text, sizeof text, "%s", folder_get(t->root, "state"));
    char *at = strstr(text, "irq/24/smp_affinity_list 0-3 0-2");
    assert_non_null(at);
    memcpy(at, "irq/24/smp_affinity_list 0-3@1 2", 32);
    quiet_put(t, "proc/irq/24/smp_affinity_list", "1");
    quiet_put(t, "state", text);
    snprintf(path, sizeof path, "%s/state", t->root);
    chmod(path, 0644);
    quiet_recovers(t, MACHINE_OK, "restored ");
    quiet_all_are(t, 0);
}

static void put_changed(const struct quiet_tree *t)
{
    for (int i = 0; i < QUIET_FILES; i++)
        quiet_put(t, quiet_files[i].path,
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

TEST_WITH(test_a_journal_cut_anywhere, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    char text[8000], all[8000];
    bool lives;
    char report[800];
    struct machine_error err;
    kill_run(t, KILLED);
    snprintf(all, sizeof all, "%s\n", folder_get(t->root, "state"));
    for (size_t n = 0; n <= strlen(all); n += rng_all_rounds() || n < 120 ? 1 : 7) {
        snprintf(text, sizeof text, "%.*s", (int)n, all);
        put_changed(t);
        put_journal(t, text);
        assert_int_equal(settings_recover(&t->roots, report, sizeof report, &lives, &err), MACHINE_OK);
        quiet_is(t, "state", "(not there)");
        /* settings with a whole line are put back, all else stays */
        for (int i = 0; i < QUIET_FILES; i++) {
            const char *line = strstr(text, quiet_files[i].path);
            bool written = line != NULL && strchr(line, '\n') != NULL;
            bool changed = (quiet_files[i].part & KILLED) != 0;
            quiet_is(t, quiet_files[i].path, changed && !written ? quiet_files[i].after : quiet_files[i].before);
        }
    }
}

TEST_WITH(test_a_journal_of_garbage, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    struct rng numbers;
    char all[8000], report[800];
    bool lives;
    struct machine_error err;
    rng_init(&numbers, 14, 0);
    kill_run(t, KILLED);
    snprintf(all, sizeof all, "%s\n", folder_get(t->root, "state"));
    for (int round = 0; round < (int)rng_rounds(400); round++) {
        char text[8000];
        size_t length = strlen(all);
        memcpy(text, all, length + 1);
        for (int k = rng_int(&numbers, 0, 3); k >= 0; k--)
            text[rng_int(&numbers, 0, (int)length - 1)] = (char)rng_int(&numbers, 0, 255);
        put_changed(t);
        put_journal(t, text);
        (void)settings_recover(&t->roots, report, sizeof report, &lives, &err);
        /* a digit of a number, a letter of a word may have become another one; all else is as before or after */
        for (int i = 0; i < QUIET_FILES; i++)
            if (quiet_files[i].part != QUIET_TICK && quiet_files[i].part != QUIET_IRQ &&
                quiet_files[i].part != QUIET_WORKQUEUE && quiet_files[i].part != QUIET_GOVERNOR &&
                quiet_files[i].part != QUIET_EPP)
                assert_true(strcmp(folder_get(t->root, quiet_files[i].path), quiet_files[i].before) == 0 ||
                            strcmp(folder_get(t->root, quiet_files[i].path), quiet_files[i].after) == 0);
        unlink(t->state);
    }
}

TEST_WITH(test_a_journal_of_other_files_is_refused, quiet_grow, quiet_fell)
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
        snprintf(text, sizeof text, "characterize-settings/2\nboot " QUIET_BOOT "\npid 1\n%s\n", lines[i]);
        put_changed(t);
        put_journal(t, text);
        quiet_recovers(t, MACHINE_CANNOT, "not written by this program");
        assert_int_equal(quiet_apply(t, QUIET_TURBO, QUIET_TURBO, &s, &err), MACHINE_CANNOT);
        quiet_all_are(t, KILLED);
    }
    put_journal(t, "characterize-settings/2\nboot " QUIET_BOOT "\npid 1\nfile -1 /proc/sys/vm/stat_interval 1 120\n");
    chmod(t->state, 0666); /* anybody may have written it */
    quiet_recovers(t, MACHINE_CANNOT, "not written by this program");
    quiet_is(t, "proc/sys/vm/stat_interval", "120");
    chmod(t->state, 0644);
    quiet_recovers(t, MACHINE_OK, "restored 1 setting changed");
    quiet_is(t, "proc/sys/vm/stat_interval", "1");
}

TEST_WITH(test_links_lead_nowhere, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    char link[200], target[200];
    quiet_put(t, "secret", "mine");
    snprintf(target, sizeof target, "%s/secret", t->root);
    /* a setting, a folder on the way, and another name of a file */
    snprintf(link, sizeof link, "%s/proc/sys/vm/stat_interval", t->root);
    unlink(link);
    assert_int_equal(symlink(target, link), 0);
    quiet_restore(quiet_applied(t, QUIET_TICK), NULL);
    quiet_is(t, "secret", "mine");
    put_journal(t, "characterize-settings/2\nboot " QUIET_BOOT "\npid 1\nfile -1 /proc/sys/vm/stat_interval 1 120\n");
    quiet_recovers(t, MACHINE_CANNOT, "could not be restored");
    quiet_is(t, "secret", "mine");
    unlink(link);
    assert_int_equal(linkat(AT_FDCWD, target, AT_FDCWD, link, 0), 0);
    quiet_recovers(t, MACHINE_CANNOT, "could not be restored");
    quiet_is(t, "secret", "mine");
    /* the journal itself */
    unlink(t->state);
    assert_int_equal(symlink(target, t->state), 0);
    quiet_recovers(t, MACHINE_CANNOT, "cannot be understood");
    quiet_is(t, "secret", "mine");
    unlink(t->state);
}

TEST_WITH(test_without_a_journal_nothing_is_changed, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    struct settings *s;
    struct machine_error err;
    t->roots.state = "/dev/full";
    s = quiet_applied(t, KILLED);
    quiet_all_are(t, 0);
    assert_non_null(strstr(settings_left(s), "/dev/full: "));
    quiet_restore(s, NULL);
    assert_int_equal(quiet_apply(t, QUIET_TICK, QUIET_TICK, &s, &err), MACHINE_CANNOT);
    t->roots.state = t->state;
    put_journal(t, "a letter\n");
    assert_int_equal(quiet_apply(t, QUIET_TICK, QUIET_TICK, &s, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "--quiet-machine=tick: nothing in it can be changed here: e.g. "));
    assert_non_null(strstr(err.text, "/state: its content is not understood"));
    quiet_is(t, "state", "a letter");
    unlink(t->state);
}

BEFORE_TESTS
{
    close(STDIN_FILENO); /* the next file gets descriptor 0, which is as good as any */
}
