/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings that a run changes: written down before, put back afterwards, whatever happens in between. */
#include <inttypes.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "computer/settings/settings.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

#define CPU "devices/system/cpu/"
#define BOOT "8413c301-7ff1-50ab-95fa-64225559df55"

struct tree {
    char root[FOLDER_PATH_MAX], state[100];
    struct settings_roots roots;
};

static int no_likwid(struct likwid_functions *out, char *why, size_t size)
{
    (void)out;
    snprintf(why, size, "no likwid in this test");
    return -1;
}

static void put(const struct tree *t, const char *path, const char *text)
{
    folder_put_line(t->root, path, text);
}

static void is(const struct tree *t, const char *path, const char *expected)
{
    assert_string_equal(folder_get(t->root, path), expected);
}

static int grow(void **state)
{
    static struct tree t;
    folder_make(t.root);
    chmod(t.root, 0777);
    snprintf(t.state, sizeof t.state, "%s/state", t.root);
    t.roots = (struct settings_roots){t.root, t.root, t.state, no_likwid, true, t.root};
    put(&t, "sys/kernel/random/boot_id", BOOT);
    put(&t, CPU "online", "0-1");
    put(&t, CPU "present", "0-1");
    *state = &t;
    return 0;
}

static int fell(void **state)
{
    struct tree *t = *state;
    folder_remove(t->root);
    return 0;
}

static struct settings *apply(const struct tree *t, int turbo, double ghz)
{
    struct settings_wish wish = {.turbo = turbo, .fixed_ghz = ghz};
    struct settings *s = NULL;
    struct machine_error err;
    if (settings_apply(&t->roots, &wish, &s, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    assert_non_null(s);
    return s;
}

static void refuses(const struct tree *t, int turbo, double ghz, const char *text)
{
    struct settings_wish wish = {.turbo = turbo, .fixed_ghz = ghz};
    struct settings *s = NULL;
    struct machine_error err;
    assert_int_equal(settings_apply(&t->roots, &wish, &s, &err), MACHINE_CANNOT);
    assert_null(s);
    if (strstr(err.text, text) == NULL)
        fail_msg("\"%s\" instead of \"%s\"", err.text, text);
}

static void restore(struct settings *s)
{
    struct machine_error err;
    if (settings_restore(s, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

static void put_policies(const struct tree *t)
{
    static const char *const texts[4][2] = {{"cpuinfo_min_freq", "800000"},
                                            {"cpuinfo_max_freq", "3700000"},
                                            {"scaling_min_freq", "1000000"},
                                            {"scaling_max_freq", "2800000"}};
    for (int policy = 0; policy < 12; policy += 11) {
        for (int i = 0; i < 4; i++) {
            char path[100];
            snprintf(path, sizeof path, CPU "cpufreq/policy%d/%s", policy, texts[i][0]);
            put(t, path, texts[i][1]);
        }
    }
}

/* ---- turbo ---- */

TEST_WITH(test_turbo_by_file, grow, fell)
{
    struct tree *t = *state;
    static const struct {
        const char *path, *on, *off;
    } ways[] = {{CPU "cpufreq/policy3/boost", "1", "0"},
                {CPU "cpufreq/boost", "1", "0"},
                {CPU "intel_pstate/no_turbo", "0", "1"}}; /* each is preferred to those before */
    char line[300];
    for (size_t i = 0; i < 3; i++) {
        put(t, ways[i].path, ways[i].on);
        struct settings *s = apply(t, 0, 0);
        is(t, ways[i].path, ways[i].off);
        assert_string_equal(settings_text(s), "turbo off (was on)");
        snprintf(line, sizeof line, "characterize-settings/2\nboot " BOOT "\npid %d\nfile -1 /sys/%s %s %s",
                 (int)getpid(), ways[i].path, ways[i].on, ways[i].off);
        is(t, "state", line);
        restore(s);
        is(t, ways[i].path, ways[i].on);
        is(t, "state", "(not there)");
        /* already so: nothing is done, and what others do meanwhile is left alone */
        s = apply(t, 1, 0);
        assert_string_equal(settings_text(s), "turbo on (as before)");
        put(t, ways[i].path, ways[i].off);
        restore(s);
        is(t, ways[i].path, ways[i].off);
        s = apply(t, 1, 0);
        is(t, ways[i].path, ways[i].on);
        assert_string_equal(settings_text(s), "turbo on (was off)");
        restore(s);
        is(t, ways[i].path, ways[i].off);
    }
}

static uint64_t misc_enable(const struct tree *t, int cpu, const uint64_t *write)
{
    char path[200];
    uint64_t value = 0;
    snprintf(path, sizeof path, "%s/cpu/%d", t->root, cpu);
    char command[250];
    snprintf(command, sizeof command, "mkdir -p '%s'", path);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/cpu/%d/msr", t->root, cpu);
    FILE *file = fopen(path, write != NULL ? "w+" : "r");
    assert_non_null(file);
    fseek(file, 0x1a0, SEEK_SET);
    if (write != NULL) {
        assert_int_equal(fwrite(write, sizeof *write, 1, file), 1);
        fseek(file, 0x1a0, SEEK_SET);
    }
    assert_int_equal(fread(&value, sizeof value, 1, file), 1);
    fclose(file);
    return value;
}

TEST_WITH(test_turbo_by_register_touches_one_bit, grow, fell)
{
    struct tree *t = *state;
    const uint64_t before[2] = {UINT64_C(0x0000000000850089), UINT64_C(0xffffffbfffffffff)};
    for (int cpu = 0; cpu < 2; cpu++)
        misc_enable(t, cpu, &before[cpu]);
    struct settings *s = apply(t, 0, 0);
    for (int cpu = 0; cpu < 2; cpu++)
        assert_true(misc_enable(t, cpu, NULL) == (before[cpu] | UINT64_C(0x4000000000)));
    assert_non_null(strstr(folder_get(t->root, "state"), "turbo-bit 0 - 0 1\nturbo-bit 1 - 0 1"));
    restore(s);
    for (int cpu = 0; cpu < 2; cpu++)
        assert_true(misc_enable(t, cpu, NULL) == before[cpu]);
    t->roots.intel = false; /* elsewhere that register is something else */
    refuses(t, 0, 0, "neither intel_pstate/no_turbo nor cpufreq/boost");
    t->roots.intel = true;
}

TEST_WITH(test_turbo_that_cannot_be_switched, grow, fell)
{
    struct tree *t = *state;
    refuses(t, 0, 0, "turbo cannot be switched here");
    is(t, "state", "(not there)");
}

/* ---- frequency ---- */

static void has_limits(const struct tree *t, const char *min, const char *max)
{
    is(t, CPU "cpufreq/policy0/scaling_min_freq", min);
    is(t, CPU "cpufreq/policy0/scaling_max_freq", max);
    is(t, CPU "cpufreq/policy11/scaling_min_freq", min);
    is(t, CPU "cpufreq/policy11/scaling_max_freq", max);
}

TEST_WITH(test_fixed_frequency, grow, fell)
{
    struct tree *t = *state;
    put_policies(t);
    struct settings *s = apply(t, -1, 2.1);
    has_limits(t, "2100000", "2100000");
    assert_string_equal(settings_text(s), "2.1 GHz fixed (limits were 1 to 2.8 GHz)");
    restore(s);
    has_limits(t, "1000000", "2800000");
    /* above the old limits the upper one goes first, below them the lower one: min <= max at every moment */
    s = apply(t, -1, 3.5);
    const char *text = folder_get(t->root, "state");
    assert_true(strstr(text, "policy0/scaling_max_freq") < strstr(text, "policy0/scaling_min_freq"));
    restore(s);
    s = apply(t, -1, 0.8);
    text = folder_get(t->root, "state");
    assert_true(strstr(text, "policy0/scaling_min_freq") < strstr(text, "policy0/scaling_max_freq"));
    restore(s);
    has_limits(t, "1000000", "2800000");
    refuses(t, -1, 3.8, "3.8 GHz cannot be set: cpufreq/policy0 allows 0.8 to 3.7 GHz");
    refuses(t, -1, 0.7, "0.8 to 3.7 GHz");
    has_limits(t, "1000000", "2800000");
    /* both at once */
    put(t, CPU "cpufreq/boost", "1");
    s = apply(t, 0, 2);
    assert_string_equal(settings_text(s), "turbo off (was on); 2 GHz fixed (limits were 1 to 2.8 GHz)");
    is(t, CPU "cpufreq/boost", "0");
    restore(s);
    is(t, CPU "cpufreq/boost", "1");
    has_limits(t, "1000000", "2800000");
}

TEST_WITH(test_without_cpufreq, grow, fell)
{
    refuses(*state, -1, 2, "cpufreq has no policy");
}

/* ---- a user who is not root ---- */

/* Runs it as nobody, where this is root. Returns the exit status of the child. */
static int as_nobody(void (*body)(struct tree *t), struct tree *t)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
            _exit(99);
        body(t);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static void expect_error(struct tree *t, struct settings_wish wish, const char *text, const char *remedy, int code)
{
    struct settings *s;
    struct machine_error err = {MACHINE_OK, "", ""};
    if (settings_apply(&t->roots, &wish, &s, &err) != MACHINE_CANNOT || strstr(err.text, text) == NULL ||
        strstr(err.remedy, remedy) == NULL) {
        fprintf(stderr, "%s (%s)\n", err.text, err.remedy);
        _exit(code);
    }
}

static void change_half(struct tree *t)
{
    expect_error(t, (struct settings_wish){.turbo = 0}, "policy11/boost cannot be set to 0: Permission denied", "root",
                 1);
}

TEST_WITH(test_what_fails_half_way_is_undone, grow, fell)
{
    struct tree *t = *state;
    char path[200];
    put(t, CPU "cpufreq/policy0/boost", "1");
    put(t, CPU "cpufreq/policy11/boost", "1");
    snprintf(path, sizeof path, "%s/" CPU "cpufreq/policy0/boost", t->root);
    chmod(path, 0666);
    snprintf(path, sizeof path, "%s/" CPU "cpufreq/policy11/boost", t->root);
    chmod(path, 0444);
    assert_int_equal(as_nobody(change_half, t), 0);
    is(t, CPU "cpufreq/policy0/boost", "1");
    is(t, "state", "(not there)");
}

static uint64_t likwid_low = 1000000, likwid_high = 2800000;
static int nothing(void)
{
    return 0;
}
static uint64_t get_low(int cpu)
{
    (void)cpu;
    return likwid_low;
}
static uint64_t get_high(int cpu)
{
    (void)cpu;
    return likwid_high;
}
static uint64_t no_set(int cpu, uint64_t khz)
{
    (void)cpu;
    (void)khz;
    return 0;
}
/* Each question comes in a child of its own: the daemon's memory is a file. */
static char daemon_file[120];
static void daemon_read(void)
{
    FILE *file = fopen(daemon_file, "r");
    if (file != NULL) {
        if (fscanf(file, "%" SCNu64 " %" SCNu64, &likwid_low, &likwid_high) != 2)
            abort();
        fclose(file);
    }
}
static void daemon_write(void)
{
    FILE *file = fopen(daemon_file, "w");
    if (file == NULL)
        abort();
    fprintf(file, "%" PRIu64 " %" PRIu64 "\n", likwid_low, likwid_high);
    fclose(file);
}
static uint64_t set_low(int cpu, uint64_t khz)
{
    (void)cpu;
    likwid_low = khz;
    daemon_write();
    return khz;
}
static uint64_t set_high(int cpu, uint64_t khz)
{
    (void)cpu;
    likwid_high = khz;
    daemon_write();
    return khz;
}
static int load_daemon(struct likwid_functions *out, char *why, size_t size)
{
    snprintf(why, size, "%s", "");
    daemon_read();
    *out = (struct likwid_functions){.topology_init = nothing,
                                     .freq_init = nothing,
                                     .freq_getCpuClockMin = get_low,
                                     .freq_getCpuClockMax = get_high,
                                     .freq_setCpuClockMin = set_low,
                                     .freq_setCpuClockMax = set_high};
    return 0;
}
static int load_powerless(struct likwid_functions *out, char *why, size_t size)
{
    load_daemon(out, why, size);
    out->freq_setCpuClockMin = out->freq_setCpuClockMax = no_set;
    return 0;
}

static void change_by_likwid(struct tree *t)
{
    struct settings_wish wish = {.turbo = -1, .fixed_ghz = 2};
    struct settings *s;
    struct machine_error err;
    expect_error(t, wish, "is not writable, and no likwid in this test", "likwid", 1);
    t->roots.likwid = load_powerless;
    expect_error(t, wish, "the frequency limits of CPU 0 (liblikwid) cannot be set", "root", 2);
    t->roots.likwid = load_daemon;
    if (settings_apply(&t->roots, &wish, &s, &err) != MACHINE_OK) {
        fprintf(stderr, "%s\n", err.text);
        _exit(3);
    }
    daemon_read();
    const char *line = "likwid 0 - 1000000-2800000 2000000-2000000";
    if (likwid_low != 2000000 || likwid_high != 2000000 || strstr(folder_get(t->root, "state"), line) == NULL)
        _exit(4);
    if (settings_restore(s, &err) != MACHINE_OK)
        _exit(5);
    daemon_read();
    _exit(likwid_low == 1000000 && likwid_high == 2800000 ? 0 : 6);
}

TEST_WITH(test_frequency_by_likwid_where_files_are_closed, grow, fell)
{
    struct tree *t = *state;
    char command[300];
    put_policies(t);
    snprintf(daemon_file, sizeof daemon_file, "%s/daemon", t->root);
    snprintf(command, sizeof command, "rm -r '%s/" CPU "cpufreq/policy11' && chmod 444 '%s/" CPU "cpufreq/policy0/'*",
             t->root, t->root);
    assert_int_equal(system(command), 0);
    assert_int_equal(as_nobody(change_by_likwid, t), 0);
    t->roots.likwid = no_likwid;
}

/* ---- runs that are killed ---- */

static pid_t run_and(struct tree *t, bool killed, int *report)
{
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        apply(t, 0, 2);
        if (killed)
            raise(SIGKILL);
        if (write(ends[1], "x", 1) != 1)
            _exit(1);
        pause();
    }
    close(ends[1]);
    if (killed)
        assert_int_equal(waitpid(child, NULL, 0), child);
    else
        assert_int_equal(read(ends[0], &byte, 1), 1);
    *report = ends[0];
    return child;
}

TEST_WITH(test_what_a_killed_run_has_left_is_put_back, grow, fell)
{
    struct tree *t = *state;
    bool lives;
    char report[200], expected[200];
    struct machine_error err;
    int end;
    put_policies(t);
    put(t, CPU "intel_pstate/no_turbo", "0");
    assert_int_equal(settings_recover(&t->roots, report, sizeof report, &lives, &err), MACHINE_OK);
    assert_string_equal(report, "");
    pid_t child = run_and(t, true, &end);
    close(end);
    has_limits(t, "2000000", "2000000");
    is(t, CPU "intel_pstate/no_turbo", "1");
    assert_int_equal(settings_recover(&t->roots, report, sizeof report, &lives, &err), MACHINE_OK);
    snprintf(expected, sizeof expected, "restored 5 settings changed by a killed run (process %d)", (int)child);
    assert_string_equal(report, expected);
    has_limits(t, "1000000", "2800000");
    is(t, CPU "intel_pstate/no_turbo", "0");
    is(t, "state", "(not there)");
    /* the next run that changes something does it as well, and remembers the right values */
    run_and(t, true, &end);
    close(end);
    struct settings *s = apply(t, -1, 3);
    is(t, CPU "intel_pstate/no_turbo", "0");
    restore(s);
    has_limits(t, "1000000", "2800000");
}

TEST_WITH(test_a_run_that_lives_is_left_alone, grow, fell)
{
    struct tree *t = *state;
    bool lives;
    char report[200], expected[200];
    struct machine_error err;
    int end;
    put_policies(t);
    put(t, CPU "intel_pstate/no_turbo", "0");
    pid_t child = run_and(t, false, &end);
    snprintf(expected, sizeof expected, "another run (process %d) has changed this machine's settings", (int)child);
    assert_int_equal(settings_recover(&t->roots, report, sizeof report, &lives, &err), MACHINE_OK);
    assert_non_null(strstr(report, expected));
    assert_true(lives);
    refuses(t, 0, 0, expected);
    has_limits(t, "2000000", "2000000");
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(end);
    assert_int_equal(settings_recover(&t->roots, report, sizeof report, &lives, &err), MACHINE_OK);
    has_limits(t, "1000000", "2800000");
}

TEST_WITH(test_files_that_are_not_to_be_believed, grow, fell)
{
    struct tree *t = *state;
    struct machine_error err;
    bool lives;
    char report[200], text[400];
    put(t, "elsewhere", "mine");
    put(t, CPU "intel_pstate/no_turbo", "0");
    snprintf(text, sizeof text, "characterize-settings/1\npid 1\nfile -1 %s/elsewhere 0 1\nend", t->root);
    put(t, "state", text);
    assert_int_equal(settings_recover(&t->roots, report, sizeof report, &lives, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "not written by this program"));
    is(t, "elsewhere", "mine");
    snprintf(text, sizeof text, "characterize-settings/1\npid 1\nfile -1 %s/" CPU "../../../elsewhere 0 1\nend",
             t->root);
    put(t, "state", text);
    assert_int_equal(settings_recover(&t->roots, report, sizeof report, &lives, &err), MACHINE_CANNOT);
    is(t, "elsewhere", "mine");
    refuses(t, 0, 0, "it contains something else");
    is(t, CPU "intel_pstate/no_turbo", "0");
    put(t, "state", "something else altogether");
    assert_int_equal(settings_recover(&t->roots, report, sizeof report, &lives, &err), MACHINE_CANNOT);
    /* not complete: the changes were never begun */
    snprintf(text, sizeof text, "characterize-settings/1\npid 1\nfile -1 %s/" CPU "intel_pstate/no_turbo 1 0", t->root);
    put(t, "state", text);
    assert_int_equal(settings_recover(&t->roots, report, sizeof report, &lives, &err), MACHINE_OK);
    assert_string_equal(report, "");
    is(t, CPU "intel_pstate/no_turbo", "0");
    is(t, "state", "(not there)");
}

static void see_what_root_left(struct tree *t)
{
    struct machine_error err = {MACHINE_OK, "", ""};
    bool lives;
    char report[200];
    if (settings_recover(&t->roots, report, sizeof report, &lives, &err) != MACHINE_CANNOT ||
        strstr(err.remedy, "as root: characterize --restore") == NULL) {
        fprintf(stderr, "%s (%s)\n", err.text, err.remedy);
        _exit(1);
    }
}

TEST_WITH(test_what_root_has_left_is_reported_to_others, grow, fell)
{
    struct tree *t = *state;
    bool lives;
    char report[200];
    struct machine_error err;
    int end;
    if (geteuid() != 0) {
        print_message("skipped: needs root\n");
        skip();
    }
    put_policies(t);
    put(t, CPU "intel_pstate/no_turbo", "0");
    run_and(t, true, &end);
    close(end);
    assert_int_equal(as_nobody(see_what_root_left, t), 0);
    has_limits(t, "2000000", "2000000");
    assert_int_equal(settings_recover(&t->roots, report, sizeof report, &lives, &err), MACHINE_OK);
}

TEST_WITH(test_no_place_to_write_it_down, grow, fell)
{
    struct tree *t = *state;
    char nowhere[200];
    put(t, CPU "intel_pstate/no_turbo", "0");
    snprintf(nowhere, sizeof nowhere, "%s/none/state", t->root);
    t->roots.state = nowhere;
    refuses(t, 0, 0, "could not be recorded in ");
    refuses(t, -1, 2, "cpufreq has no policy"); /* what cannot be set at all, root or not */
    t->roots.state = "/dev/full";
    refuses(t, 0, 0, "could not be recorded in /dev/full");
    t->roots.state = t->state;
    is(t, CPU "intel_pstate/no_turbo", "0");
}

BEFORE_TESTS
{
    close(STDIN_FILENO); /* the next file gets descriptor 0, which is as good as any */
}
