/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interference: that it runs where and as it should, and that nothing of it is left, whatever ends it. */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "computer/interference/interference.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

enum { PROCESSES_SEEN_MAX = 64 };

static void rest_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* The parent and the state of a process; false: it is gone. */
static bool read_stat(pid_t pid, int *parent, char *state)
{
    char path[40], text[600] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *in = fopen(path, "re");
    bool got = in != NULL && fgets(text, sizeof text, in) != NULL;
    if (in != NULL)
        (void)fclose(in);
    const char *rest = got ? strrchr(text, ')') : NULL;
    return rest != NULL && sscanf(rest, ") %c %d", state, parent) == 2;
}

/* All that descend from a process and are no zombies; their number. */
static size_t descendants(pid_t of, pid_t out[PROCESSES_SEEN_MAX])
{
    size_t n = 0;
    DIR *d = opendir("/proc");
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL && n < PROCESSES_SEEN_MAX; e = readdir(d)) {
        int pid = atoi(e->d_name), parent = pid;
        char state = 'Z';
        if (pid <= 0 || !read_stat(pid, &parent, &state) || state == 'Z')
            continue;
        for (int i = 0; i < 10 && parent > 1 && parent != of; i++)
            if (!read_stat(parent, &parent, &state))
                parent = 0;
        if (parent == of && pid != of)
            out[n++] = pid;
    }
    closedir(d);
    return n;
}

static size_t living(const pid_t *pids, size_t n)
{
    size_t alive = 0;
    for (size_t i = 0; i < n; i++) {
        int parent;
        char state;
        alive += read_stat(pids[i], &parent, &state) && state != 'Z';
    }
    return alive;
}

/* Waits a second for the last of them to end. */
static void expect_gone(const pid_t *pids, size_t n)
{
    for (int i = 0; i < 1000 && living(pids, n) > 0; i++)
        rest_ms(1);
    assert_int_equal(living(pids, n), 0);
}

static struct interference_plan small(enum interference kind, unsigned processes)
{
    struct interference_plan p = {.kind = kind, .processes = processes, .bytes = 2 << 20};
    assert_int_equal(cpu_get_affinity(&p.cpus), 0);
    return p;
}

static struct interferer *ready(const struct interference_plan *p)
{
    struct interferer *i;
    struct machine_error err;
    assert_int_equal(interference_ready(p, &i, &err), MACHINE_OK);
    return i;
}

/* ---- it begins and ends ---- */

TEST(each_kind_begins_and_ends)
{
    for (enum interference kind = INTERFERENCE_MAKE; kind < INTERFERENCES; kind++) {
        struct machine_error err;
        pid_t seen[PROCESSES_SEEN_MAX];
        const struct interference_plan plan = small(kind, kind == INTERFERENCE_MAKE ? 3 : 1);
        struct interferer *i = ready(&plan);
        assert_false(interference_runs(i));
        rest_ms(10);
        assert_int_equal(descendants(getpid(), seen), 1); /* the leader, at rest */
        for (int round = 0; round < 2; round++) {
            assert_int_equal(interference_begin(i, &err), MACHINE_OK);
            assert_int_equal(interference_begin(i, &err), MACHINE_OK);
            assert_true(interference_runs(i));
            size_t n = descendants(getpid(), seen);
            assert_true(n >= 1 + plan.processes);
            assert_true(n <= 1 + 2 * plan.processes + 8 * (kind == INTERFERENCE_SCRIPT));
            assert_int_equal(interference_end(i, &err), MACHINE_OK);
            assert_int_equal(descendants(getpid(), seen), 1); /* at once: what is written next is undisturbed */
        }
        interference_close(i);
        assert_int_equal(descendants(getpid(), seen), 0);
    }
    interference_close(NULL);
}

/* Where they run is theirs: the caller may have pinned itself since. */
TEST(they_run_on_their_cpus)
{
    struct interference_plan plan = small(INTERFERENCE_MEMORY, 1);
    struct cpu_mask before;
    struct machine_error err;
    pid_t seen[PROCESSES_SEEN_MAX];
    int first = -1, last = -1;
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++)
        if (cpu_mask_has(&plan.cpus, cpu)) {
            first = first < 0 ? cpu : first;
            last = cpu;
        }
    if (first == last)
        skip();
    cpu_mask_clear(&plan.cpus);
    cpu_mask_add(&plan.cpus, first);
    struct interferer *i = ready(&plan);
    assert_int_equal(cpu_pin(last, &before), 0);
    assert_int_equal(interference_begin(i, &err), MACHINE_OK);
    size_t n = descendants(getpid(), seen);
    assert_int_equal(n, 2);
    unsigned placed = 0;
    for (size_t k = 0; k < n; k++) {
        cpu_set_t set;
        assert_int_equal(sched_getaffinity(seen[k], sizeof set, &set), 0);
        placed += CPU_COUNT(&set) == 1 && CPU_ISSET((unsigned)first, &set);
    }
    assert_int_equal(placed, 1);
    assert_int_equal(cpu_set_affinity(&before), 0);
    interference_close(i);
}

/* How often the process has paused by itself since it began. */
static unsigned pauses_of(pid_t pid)
{
    char path[60], line[200];
    unsigned n = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in) && sscanf(line, "voluntary_ctxt_switches: %u", &n) != 1) {
    }
    fclose(in);
    return n;
}

/* The trials of one row of the table variability take 0.3 s, and must meet turns and pauses. */
TEST(memory_pauses_within_a_row)
{
    struct machine_error err;
    pid_t seen[PROCESSES_SEEN_MAX];
    const struct interference_plan plan = small(INTERFERENCE_MEMORY, 1);
    struct interferer *i = ready(&plan);
    assert_int_equal(interference_begin(i, &err), MACHINE_OK);
    assert_int_equal(descendants(getpid(), seen), 2);
    unsigned before = pauses_of(seen[0]) + pauses_of(seen[1]);
    rest_ms(300);
    unsigned pauses = pauses_of(seen[0]) + pauses_of(seen[1]) - before;
    assert_int_equal(interference_end(i, &err), MACHINE_OK);
    interference_close(i);
    if (pauses < 3 || pauses > 10)
        fail_msg("%u", pauses);
}

/* The script is a handful of short programs four times a second: between its turns only the leader and the one that
 * waits are there. */
TEST(the_script_rests_between_its_turns)
{
    enum { LOOKS = 160 };
    struct machine_error err;
    pid_t seen[PROCESSES_SEEN_MAX];
    const struct interference_plan plan = small(INTERFERENCE_SCRIPT, 1);
    struct interferer *i = ready(&plan);
    unsigned quiet = 0, turns = 0;
    bool was_quiet = true;
    assert_int_equal(interference_begin(i, &err), MACHINE_OK);
    for (unsigned k = 0; k < LOOKS; k++) {
        rest_ms(5);
        const bool is_quiet = descendants(getpid(), seen) == 2;
        quiet += is_quiet;
        turns += was_quiet && !is_quiet;
        was_quiet = is_quiet;
    }
    assert_int_equal(interference_end(i, &err), MACHINE_OK);
    interference_close(i);
    if (quiet <= LOOKS / 3 || turns < 2)
        fail_msg("at %u of %d looks; %u turns", quiet, (int)LOOKS, turns);
}

/* ---- it ends before its time ---- */

TEST(an_early_end_is_reported)
{
    struct machine_error err;
    pid_t seen[PROCESSES_SEEN_MAX];
    const struct interference_plan plan = small(INTERFERENCE_MEMORY, 1);
    for (int leader = 0; leader < 2; leader++) {
        struct interferer *i = ready(&plan);
        assert_int_equal(interference_begin(i, &err), MACHINE_OK);
        size_t n = descendants(getpid(), seen);
        assert_int_equal(n, 2);
        for (size_t k = 0; k < n; k++) {
            int parent;
            char unused;
            assert_true(read_stat(seen[k], &parent, &unused));
            if ((parent == getpid()) == (leader != 0))
                kill(seen[k], SIGKILL);
        }
        rest_ms(20);
        assert_int_equal(interference_end(i, &err), MACHINE_FAILED);
        assert_non_null(strstr(err.text, "--interference memory ended before"));
        interference_close(i);
        expect_gone(seen, n);
    }
}

TEST(what_cannot_begin_is_reported)
{
    struct machine_error err;
    pid_t seen[PROCESSES_SEEN_MAX];
    struct interference_plan plan = small(INTERFERENCE_MEMORY, 1);
    plan.bytes = SIZE_MAX / 2;
    struct interferer *i = ready(&plan);
    assert_int_equal(interference_begin(i, &err), MACHINE_FAILED);
    assert_non_null(strstr(err.text, "cannot start"));
    assert_false(interference_runs(i));
    assert_int_equal(interference_end(i, &err), MACHINE_OK);
    interference_close(i);
    plan = small(INTERFERENCE_MAKE, 2);
    cpu_mask_clear(&plan.cpus); /* nowhere to run */
    i = ready(&plan);
    assert_int_equal(interference_begin(i, &err), MACHINE_FAILED);
    interference_close(i);
    assert_int_equal(descendants(getpid(), seen), 0);
}

/* Kills the first process that `leader` starts, as soon as there is one. */
static _Noreturn void kill_the_first_of(pid_t leader)
{
    pid_t seen[PROCESSES_SEEN_MAX];
    for (int i = 0; i < 10000; i++)
        if (descendants(leader, seen) > 0 && kill(seen[0], SIGKILL) == 0)
            _exit(0);
    _exit(1);
}

/* Whoever kills it in its first moment has killed it: it could begin. */
TEST(killed_while_it_begins)
{
    struct machine_error err;
    pid_t seen[PROCESSES_SEEN_MAX];
    const struct interference_plan plan = small(INTERFERENCE_MAKE, 1);
    struct interferer *i = ready(&plan);
    assert_int_equal(descendants(getpid(), seen), 1);
    pid_t killer = fork();
    if (killer == 0)
        kill_the_first_of(seen[0]);
    bool begun = interference_begin(i, &err) == MACHINE_OK;
    int status;
    assert_int_equal(waitpid(killer, &status, 0), killer);
    assert_int_equal(status, 0);
    rest_ms(20);
    if (begun) /* the killer was that late */
        assert_int_equal(interference_end(i, &err), MACHINE_FAILED);
    assert_non_null(
        strstr(err.text, "ended before the measurement that it was to disturb: somebody, or the kernel, killed it"));
    interference_close(i);
}

/* A run with an interference of this kind, which this test kills. Returns its process, once all are running. */
static pid_t run_elsewhere(enum interference kind)
{
    int report[2];
    char byte = 0;
    assert_int_equal(pipe(report), 0);
    pid_t run = fork();
    if (run == 0) {
        const struct interference_plan plan = small(kind, kind == INTERFERENCE_MAKE ? 3 : 1);
        struct machine_error err;
        struct interferer *i = ready(&plan);
        bool begun = interference_begin(i, &err) == MACHINE_OK && write(report[1], &byte, 1) == 1;
        while (begun)
            pause();
        _exit(1);
    }
    assert_true(run > 0);
    close(report[1]);
    assert_int_equal(read(report[0], &byte, 1), 1);
    close(report[0]);
    return run;
}

TEST(nothing_outlives_a_killed_run)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGHUP};
    for (int round = 0; round < 9; round++) {
        pid_t seen[PROCESSES_SEEN_MAX];
        pid_t run = run_elsewhere((enum interference)(INTERFERENCE_MAKE + round / 3));
        rest_ms(round * 7);
        size_t n = descendants(run, seen);
        assert_true(n >= 2);
        kill(run, signals[round % 3]);
        assert_int_equal(waitpid(run, NULL, 0), run);
        expect_gone(seen, n);
    }
}

/* Where the leader goes with the run, at the same moment. */
TEST(nothing_outlives_run_and_leader)
{
    for (int round = 0; round < 5; round++) {
        pid_t seen[PROCESSES_SEEN_MAX];
        pid_t run = run_elsewhere(INTERFERENCE_MAKE);
        rest_ms(round * 11);
        size_t n = descendants(run, seen);
        for (size_t k = 0; k < n; k++) {
            int parent;
            char unused;
            if (read_stat(seen[k], &parent, &unused) && parent == run)
                kill(seen[k], SIGKILL);
        }
        kill(run, SIGKILL);
        assert_int_equal(waitpid(run, NULL, 0), run);
        expect_gone(seen, n);
    }
}

/* ---- what is planned ---- */

static const char meminfo[] = "MemTotal:  9000000 kB\nMemFree:  100 kB\nMemAvailable:    4194304 kB\n";

/* Four CPUs, two cores of two, of which CPU 1 may not be used. */
static void make_tree(char root[FOLDER_PATH_MAX], struct cpu_view *v)
{
    char path[100];
    folder_make(root);
    folder_put(root, "proc/meminfo", meminfo);
    memset(v, 0, sizeof *v);
    for (int cpu = 0; cpu < 4; cpu++) {
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        folder_put_line(root, path, cpu < 2 ? "0-1" : "2-3");
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/cache/index0/size", cpu);
        folder_put_line(root, path, "48K");
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/cache/index3/size", cpu);
        folder_put_line(root, path, "33792K");
        cpu_mask_add(&v->online, cpu);
    }
    v->present = v->online;
    assert_int_equal(cpu_mask_parse("0,2-3", &v->allowed), 0);
}

static int plan_in(const char *root, const struct cpu_view *v, enum interference kind, int cpu,
                   struct interference_plan *p, struct machine_error *err)
{
    char sys[FOLDER_PATH_MAX + 8], proc[FOLDER_PATH_MAX + 8];
    snprintf(sys, sizeof sys, "%s/sys", root);
    snprintf(proc, sizeof proc, "%s/proc", root);
    return interference_plan_for(kind, v, sys, proc, cpu, p, err);
}

static void expect_plan(const char *root, const struct cpu_view *v, enum interference kind, int cpu,
                        const char *expected)
{
    struct interference_plan p;
    struct machine_error err;
    char text[120], cpus[60];
    assert_int_equal(plan_in(root, v, kind, cpu, &p, &err), MACHINE_OK);
    interference_plan_text(&p, text, sizeof text);
    cpu_mask_format(&p.cpus, cpus, sizeof cpus);
    snprintf(text + strlen(text), sizeof text - strlen(text), "|%s|%u x %zu", cpus, p.processes, p.bytes >> 20);
    assert_string_equal(text, expected);
}

TEST(plans_keep_their_bounds)
{
    char root[FOLDER_PATH_MAX];
    struct cpu_view v;
    make_tree(root, &v);
    expect_plan(root, &v, INTERFERENCE_MAKE, 3, "make: 6 processes|0,2-3|6 x 64");
    expect_plan(root, &v, INTERFERENCE_MEMORY, 3, "memory: 132 MiB on CPU 0|0|1 x 132");
    expect_plan(root, &v, INTERFERENCE_MEMORY, 0, "memory: 132 MiB on CPU 3|3|1 x 132");
    expect_plan(root, &v, INTERFERENCE_SCRIPT, 3, "script: on CPU 0,2|0,2|1 x 1");
    /* a quarter of what is free, together */
    folder_put(root, "proc/meminfo", "MemAvailable:    409600 kB\n");
    expect_plan(root, &v, INTERFERENCE_MAKE, 3, "make: 6 processes|0,2-3|6 x 16");
    expect_plan(root, &v, INTERFERENCE_MEMORY, 3, "memory: 100 MiB on CPU 0|0|1 x 100");
    /* a container's limit */
    folder_put(root, "sys/fs/cgroup/memory.max", "83886080\n");
    folder_put(root, "sys/fs/cgroup/memory.current", "41943040\n");
    expect_plan(root, &v, INTERFERENCE_MEMORY, 3, "memory: 10 MiB on CPU 0|0|1 x 10");
    folder_put(root, "sys/fs/cgroup/memory.max", "max\n");
    folder_put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "41943040\n");
    folder_put(root, "sys/fs/cgroup/memory/memory.usage_in_bytes", "20971520\n");
    expect_plan(root, &v, INTERFERENCE_MEMORY, 3, "memory: 5 MiB on CPU 0|0|1 x 5");
    folder_remove(root);
}

/* Four times the largest of caches 0 to 7, whatever its unit. */
TEST(memory_follows_the_largest_cache)
{
    static const struct {
        int index;
        const char *size, *plan;
    } cases[] = {
        {7, "40M", "memory: 160 MiB on CPU 0|0|1 x 160"},    {7, "41943040", "memory: 160 MiB on CPU 0|0|1 x 160"},
        {7, "40960K", "memory: 160 MiB on CPU 0|0|1 x 160"}, {7, "30M", "memory: 132 MiB on CPU 0|0|1 x 132"},
        {0, "34M", "memory: 136 MiB on CPU 0|0|1 x 136"},    {8, "40M", "memory: 132 MiB on CPU 0|0|1 x 132"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char root[FOLDER_PATH_MAX], path[100];
        struct cpu_view v;
        make_tree(root, &v);
        for (int cpu = 0; cpu < 4; cpu++) {
            snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/cache/index%d/size", cpu, cases[i].index);
            folder_put_line(root, path, cases[i].size);
        }
        expect_plan(root, &v, INTERFERENCE_MEMORY, 3, cases[i].plan);
        folder_remove(root);
    }
}

TEST(plans_that_cannot_be)
{
    char root[FOLDER_PATH_MAX];
    struct cpu_view v;
    struct interference_plan p;
    struct machine_error err;
    make_tree(root, &v);
    assert_int_equal(cpu_mask_parse("2", &v.allowed), 0);
    assert_int_equal(plan_in(root, &v, INTERFERENCE_MEMORY, 2, &p, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "needs a CPU besides the measured one, CPU 2"));
    assert_int_equal(plan_in(root, &v, INTERFERENCE_SCRIPT, 2, &p, &err), MACHINE_CANNOT);
    expect_plan(root, &v, INTERFERENCE_MAKE, 2, "make: 2 processes|2|2 x 64");
    folder_put(root, "proc/meminfo", "MemAvailable: 2048 kB\n");
    assert_int_equal(plan_in(root, &v, INTERFERENCE_MAKE, 2, &p, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "the free memory (2 MiB)"));
    folder_put(root, "proc/meminfo", "garbage\n");
    assert_int_equal(plan_in(root, &v, INTERFERENCE_MAKE, 2, &p, &err), MACHINE_CANNOT);
    folder_remove(root);
}

BEFORE_TESTS
{
    close(STDIN_FILENO); /* the next file gets descriptor 0, which is as good as any */
}
