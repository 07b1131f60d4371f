/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the settings one by one: what a journal may hold, which values are the same, how masks and changes are
 * written, and which files are opened. */
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "computer/settings/settings_parts.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

#define CPUS "/sys/devices/system/cpu/"
#define X10 "0123456789"
#define A10 "abcdefghij"

static struct change change_of(enum change_kind kind, const char *path, const char *before, const char *after)
{
    struct change c = {.kind = kind,
                       .cpu = kind == CHANGE_TURBO_BIT || kind == CHANGE_LIKWID ? 3 : -1,
                       .before = (char *)before,
                       .after = (char *)after};
    snprintf(c.path, sizeof c.path, "%s", path);
    return c;
}

/* ---- what a journal may hold ---- */

/* Values of a kind of setting: those that it can have, and those next to them that it cannot. */
static const char *const bits[] = {"0", "1", NULL}, *const no_bits[] = {"", "2", "00", "-1", "x", NULL};
static const char *const numbers[] = {"0", "7", X10 "01", NULL}, *const no_numbers[] = {"",   X10 "012", "-1",
                                                                                        "1 ", "1x",      NULL};
static const char *const signed_numbers[] = {"0", "-1", X10 "01", NULL}, *const no_signed_numbers[] = {"", "-2",
                                                                                                       X10 "012", NULL};
static const char *const words[] = {"performance", "a", A10 A10 A10 A10, NULL}, *const no_words[] = {
                                                                                    "", "a b", "a/b",
                                                                                    A10 A10 A10 A10 "a", NULL};
static const char *const masks[] = {"f", "ff,00000001", NULL}, *const no_masks[] = {"", "g", "0-3", NULL};
static const char *const irqs[] = {"0-3", "0,2", "2@1",
                                   "0-3@"
                                   "123456",
                                   NULL},
                         *const no_irqs[] = {"", "x", "@1", "2@", "2@1234567", "2@x", "2@1,2", NULL};
static const char *const ranges[] = {"1-2", X10 "01-" X10 "01", NULL}, *const no_ranges[] = {
                                                                           "",    "1",   "-2",        "1-",
                                                                           "x-2", "1-x", X10 "012-1", "1-" X10 "012",
                                                                           NULL};
static const char *const groups[] = {"-", "/", "/a/b", NULL}, *const no_groups[] = {"",       "a",     "/a b",
                                                                                    "/..",    "/a/..", "/a//b",
                                                                                    "/a\x7f", "--",    NULL};

static const struct {
    enum change_kind kind;
    const char *path;
    const char *const *good, *const *bad;
} settings[] = {
    {CHANGE_FILE, CPUS "intel_pstate/no_turbo", bits, no_bits},
    {CHANGE_FILE, CPUS "cpufreq/boost", bits, no_bits},
    {CHANGE_FILE, CPUS "cpufreq/policy12/boost", bits, no_bits},
    {CHANGE_FILE, CPUS "cpufreq/policy0/scaling_min_freq", numbers, no_numbers},
    {CHANGE_FILE, CPUS "cpufreq/policy0/scaling_max_freq", numbers, no_numbers},
    {CHANGE_FILE, CPUS "cpufreq/policy0/scaling_governor", words, no_words},
    {CHANGE_FILE, CPUS "cpufreq/policy0/energy_performance_preference", words, no_words},
    {CHANGE_FILE, CPUS "cpu3/cpuidle/state2/disable", bits, no_bits},
    {CHANGE_FILE, CPUS "cpu3/online", bits, no_bits},
    {CHANGE_FILE, "/proc/irq/default_smp_affinity", masks, no_masks},
    {CHANGE_IRQ, "/proc/irq/24/smp_affinity_list", irqs, no_irqs},
    {CHANGE_FILE, "/sys/devices/virtual/workqueue/cpumask", masks, no_masks},
    {CHANGE_FILE, "/sys/devices/virtual/workqueue/write-back_1.x/cpumask", masks, no_masks},
    {CHANGE_FILE, "/proc/sys/kernel/nmi_watchdog", bits, no_bits},
    {CHANGE_FILE, "/proc/sys/kernel/sched_rt_runtime_us", signed_numbers, no_signed_numbers},
    {CHANGE_FILE, "/proc/sys/vm/stat_interval", numbers, no_numbers},
    {CHANGE_TURBO_BIT, "", bits, no_bits},
    {CHANGE_LIKWID, "", ranges, no_ranges},
    {CHANGE_CONTROLLER, "/sys/fs/cgroup/cgroup.subtree_control", bits, no_bits},
    {CHANGE_CONTROLLER, "/sys/fs/cgroup/unified/cgroup.subtree_control", bits, no_bits},
    {CHANGE_PARTITION, "/sys/fs/cgroup/characterize", groups, no_groups},
    {CHANGE_PARTITION, "/sys/fs/cgroup/unified/characterize", groups, no_groups},
    {CHANGE_SHIELD, "/sys/fs/cgroup/cpuset/characterize-others", groups, no_groups},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

TEST(values_that_a_journal_may_hold)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        bool moved = settings[i].kind == CHANGE_PARTITION || settings[i].kind == CHANGE_SHIELD;
        const char *fits = moved ? "0-3" : settings[i].good[0];
        for (const char *const *v = settings[i].good; *v; v++) {
            struct change c = change_of(settings[i].kind, settings[i].path, *v, fits);
            if (!settings_change_allowed(&c))
                fail_msg("%s: '%s' before", settings[i].path, *v);
            c = change_of(settings[i].kind, settings[i].path, settings[i].good[0], moved ? fits : *v);
            if (!settings_change_allowed(&c))
                fail_msg("%s: '%s' after", settings[i].path, *v);
        }
        for (const char *const *v = settings[i].bad; *v; v++) {
            struct change c = change_of(settings[i].kind, settings[i].path, *v, fits);
            if (settings_change_allowed(&c))
                fail_msg("%s: '%s' before is taken", settings[i].path, *v);
            c = change_of(settings[i].kind, settings[i].path, settings[i].good[0], moved ? "x" : *v);
            if (settings_change_allowed(&c))
                fail_msg("%s: '%s' after is taken", settings[i].path, *v);
        }
    }
}

TEST(files_that_a_journal_may_hold)
{
    static const char *const others[] = {
        "/sys/devices/virtual/workqueue/" A10 A10 A10 A10 A10 A10 "a/cpumask",
        "/sys/devices/virtual/workqueue/../cpumask",
        "/sys/devices/virtual/workqueue/.x/cpumask",
        "/sys/devices/virtual/workqueue//cpumask",
        "/sys/devices/virtual/workqueue/a/b/cpumask",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct change c = change_of(CHANGE_FILE, others[i], "f", "f");
        assert_false(settings_change_allowed(&c));
    }
    struct change longest = change_of(CHANGE_FILE, "/sys/devices/virtual/workqueue/" A10 A10 A10 A10 A10 A10 "/cpumask",
                                      "f", "f");
    assert_true(settings_change_allowed(&longest));
    for (size_t i = 0; i < SETTINGS; i++) {
        bool moved = settings[i].kind == CHANGE_PARTITION || settings[i].kind == CHANGE_SHIELD;
        const char *before = settings[i].good[0], *after = moved ? "0" : before;
        struct change c = change_of(settings[i].kind, settings[i].path, before, after);
        c.cpu = c.cpu < 0 ? 0 : -1; /* a register has a CPU, a file has none */
        assert_false(settings_change_allowed(&c));
        for (int kind = CHANGE_FILE; kind <= CHANGE_SHIELD; kind++) { /* of each the kind is known */
            c = change_of((enum change_kind)kind, settings[i].path, before, after);
            assert_int_equal(settings_change_allowed(&c), kind == (int)settings[i].kind);
        }
        c = change_of(settings[i].kind, settings[i].path, before, after);
        strcat(c.path, "x");
        assert_false(settings_change_allowed(&c));
    }
}

/* ---- values ---- */

TEST(masks_are_written_as_the_kernel_does)
{
    static const struct {
        const char *list, *mask;
    } cases[] = {{"0", "1"}, {"0-3", "f"}, {"31", "80000000"}, {"32", "1,00000000"}, {"1,33,64", "1,00000002,00000002"},
                 {"", "0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cpu_mask m = {0};
        char text[2400];
        if (cases[i].list[0])
            assert_int_equal(cpu_mask_parse(cases[i].list, &m), 0);
        cpu_mask_format_hex(&m, text, sizeof text);
        assert_string_equal(text, cases[i].mask);
    }
}

/* The last CPU there may be has its groups; a group has up to 8 digits and a comma, and is left out without room. */
TEST(masks_have_room_or_not)
{
    static const struct {
        size_t size;
        const char *mask;
    } cases[] = {{1, ""}, {10, ""}, {11, "3"}, {12, "3,00000004"}, {20, "3,00000004"}, {21, "3,00000004,00000001"}};
    struct cpu_mask m;
    char text[2400];
    assert_int_equal(cpu_mask_parse("0,34,64-65", &m), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cpu_mask_format_hex(&m, text, cases[i].size);
        assert_string_equal(text, cases[i].mask);
    }
    snprintf(text, sizeof text, "%d", CPU_LIMIT - 1);
    assert_int_equal(cpu_mask_parse(text, &m), 0);
    cpu_mask_format_hex(&m, text, sizeof text);
    assert_int_equal(strncmp(text, "80000000,00000000,", 18), 0);
    assert_int_equal(strlen(text), 9 * (CPU_LIMIT / 32) - 1);
}

static int no_likwid(struct likwid_functions *out, char *why, size_t size)
{
    (void)out;
    snprintf(why, size, "none");
    return -1;
}

/* Refused before the library is called, or because there is none. */
TEST(limits_that_liblikwid_is_requested)
{
    static const struct {
        const char *value;
        int error;
    } cases[] = {{"5-4", EINVAL}, {"0-5", EINVAL}, {"5", EINVAL},   {"5+6", EINVAL}, {"5-6x", EINVAL},
                 {"", EINVAL},    {"5-5", EACCES}, {"1-2", EACCES}, {"1-1", EACCES}};
    const struct settings_roots r = {.sys = "/nowhere", .dev = "/nowhere", .proc = "/nowhere", .likwid = no_likwid};
    char text[40];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct change c = change_of(CHANGE_LIKWID, "", "1-2", cases[i].value);
        if (settings_change_write(&r, &c, cases[i].value) != cases[i].error)
            fail_msg("'%s'", cases[i].value);
        assert_int_equal(settings_change_read(&r, &c, text, sizeof text), EACCES);
    }
}

/* Only that one bit of the register is changed; a shorter value is none. */
TEST(the_turbo_bit)
{
    char root[FOLDER_PATH_MAX], path[300], text[20];
    uint64_t value = UINT64_C(0x5000850089);
    folder_make(root);
    const struct settings_roots r = {.sys = root, .dev = root, .proc = root};
    const struct change c = change_of(CHANGE_TURBO_BIT, "", "0", "1");
    assert_int_equal(settings_change_read(&r, &c, text, sizeof text), ENOENT);
    folder_put(root, "cpu/3/msr", "");
    snprintf(path, sizeof path, "%s/cpu/3/msr", root);
    assert_int_equal(settings_change_read(&r, &c, text, sizeof text), EIO);
    assert_string_equal(text, "0");
    assert_int_equal(settings_change_write(&r, &c, "1"), EIO);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &value, sizeof value - 1, 0x1a0), sizeof value - 1);
    assert_int_equal(settings_change_read(&r, &c, text, sizeof text), EIO);
    assert_int_equal(pwrite(fd, &value, sizeof value, 0x1a0), sizeof value);
    for (int i = 0; i < 4; i++) {
        const uint64_t bit = UINT64_C(1) << 38, changed = i / 2 ? value & ~bit : value | bit;
        uint64_t now;
        assert_int_equal(settings_change_write(&r, &c, i / 2 ? "0" : "1"), 0);
        assert_int_equal(pread(fd, &now, sizeof now, 0x1a0), sizeof now);
        assert_true(now == changed);
        assert_int_equal(settings_change_read(&r, &c, text, sizeof text), 0);
        assert_string_equal(text, i / 2 ? "0" : "1");
    }
    close(fd);
    folder_remove(root);
}

/* ---- putting back ---- */

/* The journal is written to only where it remains: after a failure, or where changes before these stand. */
TEST(what_is_put_back)
{
    enum { ALL = 4 };
    static const struct {
        const char *now[ALL]; /* NULL: it is gone; "": a folder, which cannot be written */
        size_t first;
        int status;
        const char *left[ALL], *others, *journal;
        size_t written;
        bool undone[ALL];
    } cases[] = {
        {{"2", "2", "2", "2"}, 0, MACHINE_OK, {"1", "1", "1", "1"}, "", "", 4, {true, true, true, true}},
        {{"2", "2", "2", "2"},
         1,
         MACHINE_OK,
         {"2", "1", "1", "1"},
         "",
         "undone 1\nundone 2\nundone 3\n",
         3,
         {false, true, true, true}},
        {{"2", "1", "3", NULL},
         0,
         MACHINE_OK,
         {"1", "1", "3", NULL},
         "d (no longer there), c (3)",
         "",
         1,
         {true, true, true, true}},
        {{"2", "", "2", "1"},
         0,
         MACHINE_FAILED,
         {"1", NULL, "1", "1"},
         "",
         "undone 0\nundone 2\nundone 3\n",
         2,
         {true, false, true, true}},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const size_t k = i / 2;
        char root[FOLDER_PATH_MAX], names[ALL][20], text[100] = "", expected[300] = "";
        struct change list[ALL];
        struct changes c = {list, ALL};
        struct undoing out;
        struct machine_error err;
        FILE *journal = tmpfile();
        int fd = fileno(journal), input = dup(STDIN_FILENO);
        if (i % 2) /* descriptors begin at 0 */
            fd = dup2(fd, STDIN_FILENO);
        folder_make(root);
        const struct settings_roots r = {.sys = root, .dev = root, .proc = root, .state = "JOURNAL"};
        for (size_t n = 0; n < ALL; n++) {
            snprintf(names[n], sizeof names[n], "/sys/%c", (int)('a' + n));
            list[n] = change_of(CHANGE_FILE, names[n], "1", "2");
            if (cases[k].now[n] && cases[k].now[n][0])
                folder_put_line(root, names[n] + 5, cases[k].now[n]);
        }
        if (cases[k].status != MACHINE_OK)
            folder_put_line(root, "b/below", "");
        assert_int_equal(settings_undo(&r, fd, &c, cases[k].first, &out, &err), cases[k].status);
        dup2(input, STDIN_FILENO);
        close(input);
        assert_int_equal(out.written, cases[k].written);
        if (cases[k].others[0])
            snprintf(expected, sizeof expected, "%s/d (no longer there), %s/c (3)", root, root);
        assert_string_equal(out.others, expected);
        for (size_t n = 0; n < ALL; n++) {
            assert_int_equal(list[n].undone, cases[k].undone[n]);
            if (cases[k].left[n]) {
                assert_true(settings_read_text(&r, names[n], text, sizeof text) >= 0);
                assert_string_equal(text, cases[k].left[n]);
            }
        }
        if (cases[k].status != MACHINE_OK) {
            snprintf(expected, sizeof expected, "%s/b could not be restored to 1: ", root);
            assert_int_equal(strncmp(err.text, expected, strlen(expected)), 0);
        }
        rewind(journal);
        text[fread(text, 1, sizeof text - 1, journal)] = '\0';
        assert_string_equal(text, cases[k].journal);
        fclose(journal);
        folder_remove(root);
    }
}

TEST(values_that_are_the_same)
{
    static const struct {
        enum change_kind kind;
        const char *path, *a, *b;
        bool same;
    } cases[] = {
        {CHANGE_FILE, "/proc/sys/vm/stat_interval", "1", "1", true},
        {CHANGE_FILE, "/proc/sys/vm/stat_interval", "1", "01", false},
        {CHANGE_IRQ, "/proc/irq/24/smp_affinity_list", "0-1", "0,1", true},
        {CHANGE_IRQ, "/proc/irq/24/smp_affinity_list", "0-1@1", "0,1@0", true}, /* where it is delivered may change */
        {CHANGE_IRQ, "/proc/irq/24/smp_affinity_list", "0-2", "0,1", false},
        {CHANGE_IRQ, "/proc/irq/24/smp_affinity_list", "x", "y", false},
        {CHANGE_IRQ, "/proc/irq/24/smp_affinity_list", "0", "y", false},
        {CHANGE_IRQ, "/proc/irq/24/smp_affinity_list", "x", "0", false},
        {CHANGE_FILE, "/proc/irq/default_smp_affinity", "f", "0f", true},
        {CHANGE_FILE, "/sys/devices/virtual/workqueue/cpumask", "f", "00000000,0000000f", true},
        {CHANGE_FILE, "/sys/devices/virtual/workqueue/cpumask", "f", "e", false},
        {CHANGE_FILE, "/sys/devices/virtual/workqueue/cpumask", "f", "x", false},
        {CHANGE_FILE, "/sys/devices/virtual/workqueue/cpumask", "x", "f", false},
        {CHANGE_FILE, "/sys/devices/virtual/workqueue/othermask", "f", "0f", false},
        {CHANGE_LIKWID, "", "f", "0f", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct change c = change_of(cases[i].kind, cases[i].path, "", "");
        if (settings_change_same(&c, cases[i].a, cases[i].b) != cases[i].same)
            fail_msg("%s: '%s' and '%s'", cases[i].path, cases[i].a, cases[i].b);
    }
}

TEST(names_of_changes)
{
    const struct settings_roots r = {.sys = "/tmp/s", .dev = "/tmp/d", .proc = "/tmp/p"};
    char text[500];
    struct change c = change_of(CHANGE_TURBO_BIT, "", "0", "1");
    settings_change_name(&r, &c, text, sizeof text);
    assert_string_equal(text, "bit 38 of MSR 1A0H of CPU 3");
    c = change_of(CHANGE_LIKWID, "", "1-2", "1-1");
    settings_change_name(&r, &c, text, sizeof text);
    assert_string_equal(text, "the frequency limits of CPU 3 (liblikwid)");
    c = change_of(CHANGE_FILE, "/sys/a", "", "");
    settings_change_name(&r, &c, text, sizeof text);
    assert_string_equal(text, "/tmp/s/a");
    c = change_of(CHANGE_IRQ, "/proc/irq/1/x", "", "");
    settings_change_name(&r, &c, text, sizeof text);
    assert_string_equal(text, "/tmp/p/irq/1/x");
}

/* The list is followed by the one CPU that it is delivered to; if there are several, or none is named, by nothing. */
TEST(where_an_irq_is_delivered)
{
    static const struct {
        const char *effective, *value;
    } cases[] = {{NULL, "0-3"}, {"2", "0-3@2"}, {"12", "0-3@12"}, {"1-2", "0-3"}, {"1,2", "0-3"}, {"", "0-3"}};
    char root[FOLDER_PATH_MAX], text[100];
    folder_make(root);
    const struct settings_roots r = {.sys = root, .dev = root, .proc = root};
    const struct change c = change_of(CHANGE_IRQ, "/proc/irq/24/smp_affinity_list", "", "");
    folder_put_line(root, "irq/24/smp_affinity_list", "0-3");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].effective)
            folder_put_line(root, "irq/24/effective_affinity_list", cases[i].effective);
        assert_int_equal(settings_change_read(&r, &c, text, sizeof text), 0);
        assert_string_equal(text, cases[i].value);
    }
    /* where there is just room for it, and where there is not */
    folder_put_line(root, "irq/24/effective_affinity_list", "2");
    assert_int_equal(settings_change_read(&r, &c, text, sizeof "0-3@2"), 0);
    assert_string_equal(text, "0-3@2");
    assert_int_equal(settings_change_read(&r, &c, text, sizeof "0-3@2" - 1), 0);
    assert_string_equal(text, "0-3");
    folder_remove(root);
}

/* ---- a cpuset for the others ---- */

#define SHIELD "fs/cgroup/cpuset/characterize-others"

/* Without memory no task can be moved to it: that is reported, whatever went wrong before. */
TEST(a_cpuset_without_memory)
{
    char root[FOLDER_PATH_MAX];
    folder_make(root);
    const struct settings_roots r = {.sys = root, .dev = root, .proc = root};
    const struct change c = change_of(CHANGE_SHIELD, "/sys/" SHIELD, "-", "0-2");
    folder_put_line(root, "fs/cgroup/cpuset/cpuset.mems", "");
    folder_put(root, SHIELD "/cpuset.mems", "");
    assert_int_equal(settings_change_write(&r, &c, c.after), EIO);
    folder_remove(root);
}

static void put_task(const char *root, int task, const char *allowed)
{
    char path[40], text[200];
    snprintf(path, sizeof path, "%d/status", task);
    snprintf(text, sizeof text, "Name:\tx\nTgid:\t%d\nVmSize:\t1 kB\nCpus_allowed_list:\t%s\n", task, allowed);
    folder_put(root, path, text);
}

/* Those that may run on all CPUs; neither others, nor what has ended, nor who moves them. */
TEST(which_tasks_are_moved)
{
    static const char *const allowed[] = {"0-3", "0-1"};
    char root[FOLDER_PATH_MAX], tasks[60];
    for (int i = 0; i < 2; i++) {
        folder_make(root);
        const struct settings_roots r = {.sys = root, .dev = root, .proc = root};
        const struct change c = change_of(CHANGE_SHIELD, "/sys/" SHIELD, "-", "0-2");
        snprintf(tasks, sizeof tasks, "11\n12\n13\n%d\n", (int)getpid());
        folder_put_line(root, "fs/cgroup/cpuset/cpuset.mems", "0");
        folder_put_line(root, "fs/cgroup/cpuset/cpuset.cpus", "0-3");
        folder_put(root, "fs/cgroup/cpuset/tasks", tasks);
        put_task(root, 11, allowed[i]);
        put_task(root, 12, "0-2");
        put_task(root, getpid(), "0-3");
        folder_put(root, SHIELD "/cpuset.mems", "");
        folder_put(root, SHIELD "/cpuset.cpus", "");
        folder_put(root, SHIELD "/tasks", "");
        assert_int_equal(settings_change_write(&r, &c, c.after), i ? ENOTSUP : 0);
        assert_string_equal(folder_get(root, SHIELD "/tasks"), i ? "" : "11");
        folder_remove(root);
    }
}

/* Tasks that are born as fast as others leave are moved 50 times, then the folder stays. */
TEST(tasks_that_do_not_end)
{
    char root[FOLDER_PATH_MAX], path[200];
    struct inotify_event e;
    unsigned moved = 0;
    folder_make(root);
    const struct settings_roots r = {.sys = root, .dev = root, .proc = root};
    const struct change c = change_of(CHANGE_SHIELD, "/sys/" SHIELD, "-", "0-2");
    folder_put(root, "fs/cgroup/cpuset/tasks", "");
    folder_put_line(root, SHIELD "/tasks", "4711");
    snprintf(path, sizeof path, "%s/fs/cgroup/cpuset/tasks", root);
    int seen = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    assert_true(seen >= 0);
    assert_true(inotify_add_watch(seen, path, IN_MODIFY | IN_CLOSE_WRITE) >= 0); /* equal ones in a row would be one */
    assert_int_equal(settings_change_write(&r, &c, c.before), ENOTEMPTY);
    while (read(seen, &e, sizeof e) == sizeof e)
        moved += (e.mask & IN_CLOSE_WRITE) != 0;
    close(seen);
    assert_int_equal(moved, 50);
    assert_string_equal(folder_get(root, "fs/cgroup/cpuset/tasks"), "4711");
    folder_remove(root);
}

/* ---- files ---- */

/* A device is opened below /dev alone; links, and what has a second name, nowhere. */
TEST(files_that_are_opened)
{
    char root[FOLDER_PATH_MAX], path[200], other[200], text[20];
    folder_make(root);
    const struct settings_roots fake = {.sys = root, .dev = root, .proc = root},
                                real = {.sys = root, .dev = "/dev", .proc = "/dev"};
    folder_put_line(root, "plain", "12345");
    int fd = settings_open(&fake, "/sys/plain", O_RDONLY);
    assert_true(fd >= 0);
    close(fd);
    fd = settings_open(&real, "/dev/null", O_RDONLY);
    assert_true(fd >= 0);
    close(fd);
    errno = 0;
    assert_int_equal(settings_open(&real, "/proc/null", O_RDONLY), -1); /* a device that is no /dev/... */
    assert_int_equal(errno, EPERM);
    assert_int_equal(settings_open(&fake, "/sys/none", O_RDONLY), -1);
    assert_int_equal(errno, ENOENT);
    snprintf(path, sizeof path, "%s/plain", root);
    snprintf(other, sizeof other, "%s/link", root);
    assert_int_equal(symlink(path, other), 0);
    assert_int_equal(settings_open(&fake, "/sys/link", O_RDONLY), -1);
    snprintf(other, sizeof other, "%s/fifo", root);
    assert_int_equal(mkfifo(other, 0600), 0);
    assert_int_equal(settings_open(&fake, "/sys/fifo", O_RDONLY), -1);
    assert_int_equal(errno, EPERM);
    /* with the newline, which is not known, 5 characters need room for 7 */
    assert_int_equal(settings_read_text(&fake, "/sys/plain", text, 7), 5);
    assert_string_equal(text, "12345");
    assert_int_equal(settings_read_text(&fake, "/sys/plain", text, 6), -1);
    assert_int_equal(errno, EMSGSIZE);
    assert_string_equal(text, "");
    strcpy(text, "as before");
    assert_int_equal(settings_read_text(&fake, "/sys/missing", text, 6), -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(text, "");
    snprintf(other, sizeof other, "%s/second", root);
    assert_int_equal(link(path, other), 0);
    assert_int_equal(settings_open(&fake, "/sys/plain", O_RDONLY), -1);
    assert_int_equal(errno, EPERM);
    folder_remove(root);
}

TEST(numbers_in_names)
{
    assert_int_equal(settings_number("policy12", "policy"), 12);
    assert_int_equal(settings_number("policy0", "policy"), 0);
    assert_int_equal(settings_number("policy123456789", "policy"), 123456789);
    assert_int_equal(settings_number("policy1234567890", "policy"), -1);
    assert_int_equal(settings_number("policy", "policy"), -1);
    assert_int_equal(settings_number("policyx", "policy"), -1);
    assert_int_equal(settings_number("policy1x", "policy"), -1);
    assert_int_equal(settings_number("cpu1", "policy"), -1);
}

/* ---- words ---- */

TEST(what_was_left_in_words)
{
    static struct quiet_report report;
    char text[400];
    settings_text_left(&report, text, sizeof text);
    assert_string_equal(text, "");
    snprintf(report.why[0], sizeof report.why[0], "first");
    snprintf(report.why[3], sizeof report.why[3], "second");
    snprintf(report.why[5], sizeof report.why[5], "first");
    snprintf(report.why[8], sizeof report.why[8], "first");
    settings_text_left(&report, text, sizeof text);
    assert_string_equal(text, "governor, irq, isolate: first\ncstates: second\n");
}

TEST(what_was_changed_in_words)
{
    static const char *const paths[] = {"/proc/sys/a", "/proc/sys/b", "/proc/sys/c", "/proc/sys/d"};
    struct change list[5];
    for (size_t i = 0; i < 4; i++) {
        list[i] = change_of(CHANGE_FILE, paths[i], "1", "2");
        list[i].part = 7;
    }
    list[4] = change_of(CHANGE_IRQ, "/proc/irq/5/smp_affinity_list", "1", "2");
    list[4].part = 5;
    const struct quiet_report report = {.wished = QUIET_TICK | QUIET_IRQ | QUIET_EPP | QUIET_SMT, .already = QUIET_EPP};
    static const char *const ticks[] = {"", "a 2 (was 1)", "a 2 (was 1), b 2 (was 1)",
                                        "a 2 (was 1), b 2 (was 1), c 2 (was 1)", "4 settings"};
    for (size_t n = 0; n <= 4; n++) {
        char text[600] = "turbo off", expected[600];
        struct changes c = {.list = list, .n = n};
        settings_text_parts(&report, &c, 6, text, sizeof text);
        snprintf(expected, sizeof expected, "turbo off; quiet for CPU 6: %s%s; so before: epp; as it was: smt, irq%s",
                 n ? "tick: " : "nothing changed", ticks[n], n ? "" : ", tick");
        assert_string_equal(text, expected);
    }
    char text[600] = "";
    struct changes c = {.list = list, .n = 5};
    list[0].undone = true;
    settings_text_parts(&report, &c, 6, text, sizeof text);
    assert_string_equal(text, "quiet for CPU 6: irq: 1 interrupt moved away; tick: b 2 (was 1), c 2 (was 1), d 2 (was "
                              "1); so before: epp; as it was: smt");
    text[0] = '\0';
    settings_text_parts(&(struct quiet_report){0}, &c, 6, text, sizeof text);
    assert_string_equal(text, "");
}

BEFORE_TESTS
{
    close(STDIN_FILENO); /* the next file gets descriptor 0, which is as good as any */
}
