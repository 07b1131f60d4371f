/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program that is profiled: when it begins, how it ends, and which tasks are its own. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drivers/profile/profile_command.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

FOLDER_GROUP(folder)
static struct machine_error error;

static struct profile_command *started(const char *script)
{
    static char sh[] = "/bin/sh", c[] = "-c";
    char text[1000];
    struct profile_command *command;
    snprintf(text, sizeof text, "cd %s; %s", folder, script);
    char *argv[] = {sh, c, text, NULL};
    if (profile_command_start(argv, &command, &error) != MACHINE_OK)
        fail_msg("%s", error.text);
    return command;
}

static bool there(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void wait_until_there(const char *name)
{
    for (int i = 0; !there(name); i++) {
        if (i == 5000)
            fail_msg("%s never came", name);
        usleep(2000);
    }
}

static void wait_for_end(struct profile_command *command)
{
    for (int i = 0; !profile_command_ended(command, true); i++) {
        if (i == 5000)
            fail_msg("it does not end");
        usleep(2000);
    }
}

TEST(test_it_waits_for_the_profile)
{
    struct profile_command *command = started("touch begun");
    usleep(50000);
    assert_false(there("begun"));
    assert_false(profile_command_ended(command, true));
    assert_int_equal(profile_command_go(command, &error), MACHINE_OK);
    wait_for_end(command);
    assert_true(there("begun"));
    assert_null(profile_command_failure(command));
    profile_command_free(command);
}

TEST(test_it_never_begins_without_one)
{
    struct profile_command *command = started("touch never");
    pid_t pid = profile_command_pid(command);
    profile_command_free(command);
    assert_int_equal(kill(pid, 0), -1); /* reaped */
    assert_false(there("never"));
}

static void ends_with(const char *script, const char *text)
{
    struct profile_command *command = started(script);
    assert_int_equal(profile_command_go(command, &error), MACHINE_OK);
    wait_for_end(command);
    assert_string_equal(profile_command_failure(command), text);
    profile_command_free(command);
}

TEST(test_how_it_ends)
{
    ends_with("exit 3", "ended with status 3");
    ends_with("kill -KILL $$", "was ended by signal 9 (Killed)");
}

static void cannot_start(const char *name, const char *text)
{
    struct profile_command *command;
    char *argv[] = {strdup(name), NULL};
    assert_int_equal(profile_command_start(argv, &command, &error), MACHINE_BAD_INPUT);
    if (strstr(error.text, text) == NULL || strstr(error.text, "cannot start") != NULL)
        fail_msg("\"%s\" instead of \"%s\"", error.text, text);
    assert_null(command);
    free(argv[0]);
}

TEST(test_what_cannot_be_executed)
{
    char path[300];
    char *argv[] = {path, NULL};
    struct profile_command *command;
    cannot_start("no-such-command-at-all", "command 'no-such-command-at-all' is not in PATH");
    cannot_start("", "command ''");
    cannot_start("/no/such/command", "'/no/such/command' cannot be executed: No such file");
    snprintf(path, sizeof path, "%s/text", folder);
    folder_put_line(folder, "text", "not a program");
    if (geteuid() != 0)
        cannot_start(path, "Permission denied");
    /* executable, but no program: there is no shell that would take it */
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(profile_command_start(argv, &command, &error), MACHINE_OK);
    assert_int_equal(profile_command_go(command, &error), MACHINE_FAILED);
    assert_non_null(strstr(error.text, "Exec format error"));
    profile_command_free(command);
}

static pid_t pid_in(const char *name)
{
    char path[300];
    int pid = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_int_equal(fscanf(in, "%d", &pid), 1);
    fclose(in);
    return pid;
}

static bool found(struct profile_command *command, pid_t pid)
{
    const struct profile_task t = {.pid = (__u32)pid, .tgid = (__u32)pid, .start_ns = 5};
    assert_true(profile_command_note(command, "/proc", &t));
    return profile_command_owns(command, t.pid, 5);
}

/* Children, theirs, and a daemon that has left its parents and the session; not this process or another one. */
TEST(test_who_descends_from_it)
{
    struct profile_command *command = started(
        "sh -c 'sh -c \"echo \\$\\$ >deep; sleep 60\" & echo $$ >child; wait' &"
        "(setsid sh -c 'echo $$ >daemon; touch ready; exec sleep 60' &) ; sleep 60");
    pid_t stranger = fork();
    if (stranger == 0) {
        pause();
        _exit(0);
    }
    assert_int_equal(profile_command_go(command, &error), MACHINE_OK);
    wait_until_there("ready");
    wait_until_there("deep");
    wait_until_there("child");
    usleep(50000);
    pid_t pids[] = {profile_command_pid(command), pid_in("child"), pid_in("deep"), pid_in("daemon")};
    for (int i = 0; i < 4; i++)
        assert_true(found(command, pids[i]));
    assert_false(found(command, getpid()));
    assert_false(found(command, getppid()));
    assert_false(found(command, 1));
    assert_false(found(command, 0));
    for (int i = 3; i >= 0; i--)
        kill(pids[i], SIGKILL);
    wait_for_end(command);
    /* it stays known when it has ended; another task of this number is another one */
    assert_true(found(command, pids[1]));
    assert_false(profile_command_owns(command, (__u32)pids[1], 6));
    kill(stranger, SIGKILL);
    profile_command_free(command);
}

/* Names of processes may look like the rest of the line. */
TEST(test_hostile_names)
{
    char root[250], path[40], line[100];
    struct profile_command *command = started("sleep 60");
    assert_int_equal(profile_command_go(command, &error), MACHINE_OK);
    snprintf(root, sizeof root, "%s/proc", folder);
    const struct {
        __u32 pid;
        const char *name;
        int parent;
        bool owned;
    } all[] = {{5000001, "a) S 1 (b", (int)profile_command_pid(command), true},
               {5000002, ") S ", 1, false},
               {5000003, "", 5000001, true},
               {5000004, "loop", 5000004, false},
               {5000005, "to one that is gone", 5000009, false}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        snprintf(path, sizeof path, "proc/%u/stat", all[i].pid);
        snprintf(line, sizeof line, "%u (%s) S %d 1 1 0", all[i].pid, all[i].name, all[i].parent);
        folder_put_line(folder, path, line);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct profile_task t = {.pid = all[i].pid + 100, .tgid = all[i].pid};
        assert_true(profile_command_note(command, root, &t));
        assert_int_equal(profile_command_owns(command, t.pid, 0), all[i].owned);
    }
    kill(profile_command_pid(command), SIGKILL);
    wait_for_end(command);
    profile_command_free(command);
}
