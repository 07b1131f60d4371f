/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts between two looks: the files change during the wait, in the function that asks whether to stop. */
#include <sys/stat.h>
#include <unistd.h>

#include "computer/environment/environment_parts.h"
#include "computer/environment/environment.h"
#include "tests/support/fake_environment.h"
#include "tests/support/test.h"

static const double SHORT = 0.01;

static int make_counted(void **state)
{
    static char root[FOLDER_PATH_MAX];
    fake_environment_make(root);
    *state = root;
    return 0;
}

static int remove_counted(void **state)
{
    folder_remove(*state);
    return 0;
}

static int renew_counted(void **state)
{
    fake_environment_renew(*state);
    folder_put_line(*state, "sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", "3");
    return 0;
}

static void count_cpu2(void **state, int (*meanwhile)(void *root), struct environment *e)
{
    struct machine_error err = {0};
    if (environment_read(*state, 2, SHORT, meanwhile, *state, e, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

static const struct environment_irq *irq_named(const struct environment *e, const char *name)
{
    for (size_t i = 0; i < e->n_irqs; i++)
        if (strcmp(e->irqs[i].name, name) == 0)
            return &e->irqs[i];
    return NULL;
}

static unsigned later_count(int cpu, int line)
{
    if (line == FAKE_LOC)
        return 100000 + (unsigned)cpu + 1000 * (unsigned)cpu;
    if (line == 0)
        return cpu == 2 ? 40 : 0;
    if (line == 2)
        return 0; /* fewer than before */
    return line == FAKE_RES ? 100000 + (unsigned)cpu + 5 : 12;
}

static int interrupts_come(void *root)
{
    fake_environment_interrupts(root, later_count);
    return 0;
}

TEST_WITH(interrupts_are_counted, renew_counted, NULL)
{
    struct environment e;
    count_cpu2(state, interrupts_come, &e);
    assert_true(e.seconds >= SHORT && e.seconds < 5);
    assert_int_equal(irq_named(&e, "24")->counted, 40);
    assert_int_equal(irq_named(&e, "24")->since_boot, 40);
    assert_int_equal(irq_named(&e, "26")->counted, 0);
    assert_int_equal(irq_named(&e, "LOC")->counted, 2000);
    assert_int_equal(irq_named(&e, "RES")->counted, 5);
    assert_int_equal(irq_named(&e, "NMI")->counted, 0);
    assert_close(e.timer_hz, 2000 / e.seconds, 1e-9);
    environment_free(&e);
}

static int a_line_is_new(void *root)
{
    folder_put(root, "proc/interrupts",
               "  CPU1 CPU2\n 99: 1 2 new\n 24: 8 9 ahci\nLOC: 100001 100102 timer\nHVS: 0 50 timer\n");
    return 0;
}

/* Lines and columns come and go with devices and CPUs; guests of Hyper-V have another timer. */
TEST_WITH(lines_are_known_by_name, renew_counted, NULL)
{
    struct environment e;
    folder_put(*state, "proc/interrupts", " CPU0 CPU2\n24: 1 2 ahci\nLOC: 1 100002 timer\nHVS: 0 0 timer\n");
    count_cpu2(state, a_line_is_new, &e);
    assert_int_equal(irq_named(&e, "99")->counted, 2);
    assert_int_equal(irq_named(&e, "24")->counted, 7);
    assert_close(e.timer_hz, 150 / e.seconds, 1e-9);
    environment_free(&e);
}

/* Looks that are made up. Where there was none before nothing is counted, and no time has passed. */
static void fill_irqs(const char *root, double from, double to, size_t n_before, int error, struct environment *e)
{
    static const struct environment_irq was[] = {{.name = "LOC", .since_boot = 100}, {.name = "7", .since_boot = 5}},
                                        is[] = {{.name = "LOC", .since_boot = 300},
                                                {.name = "7", .since_boot = 5},
                                                {.name = "8", .since_boot = 3},
                                                {.name = "9"},
                                                {.name = "10"},
                                                {.name = "HVS", .since_boot = 1}};
    struct environment_irq before_irq[2], *list = malloc(sizeof is);
    struct tree t;
    assert_non_null(list);
    memcpy(before_irq, was, sizeof was);
    memcpy(list, is, sizeof is);
    struct environment_irq_look before = {.irq = before_irq, .n = n_before, .error = error, .at = from},
                                after = {.irq = list, .n = sizeof is / sizeof *is, .at = to};
    *e = (struct environment){.cpu = 2};
    assert_int_equal(tree_open(root, &t), 0);
    environment_irqs_fill(&t, &before, &after, e);
    tree_close(&t);
    assert_null(after.irq);
}

TEST_WITH(irqs_between_made_up_looks, renew_counted, NULL)
{
    static const struct {
        double from, to;
        size_t n_before;
        int error;
        double hz;
        unsigned counted[3]; /* LOC, 7, 8 */
    } cases[] = {{10, 14, 2, 0, 50, {200, 0, 3}},      {10, 14, 1, 0, 50, {200, 5, 3}},
                 {10, 10.5, 2, 0, 400, {200, 0, 3}},   {10, 10, 2, 0, NAN, {200, 0, 3}},
                 {11, 10, 2, 0, NAN, {200, 0, 3}},     {10, 14, 0, 0, NAN, {0, 0, 0}},
                 {10, 14, 2, EACCES, NAN, {200, 0, 3}}};
    static const char *const lists[] = {"2", "0-1,3", "2-3"}, *const names[] = {"LOC", "7", "8", "10", "HVS"};
    char path[300];
    for (unsigned n = 0; n < 3; n++) {
        snprintf(path, sizeof path, "proc/irq/%u/smp_affinity_list", 8 + n);
        folder_put_line(*state, path, lists[n]);
    }
    snprintf(path, sizeof path, "%s/proc/irq/8/smp_affinity_list", (const char *)*state);
    assert_int_equal(chmod(path, 0444), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct environment e;
        fill_irqs(*state, cases[i].from, cases[i].to, cases[i].n_before, cases[i].error, &e);
        if (isnan(cases[i].hz))
            assert_true(isnan(e.timer_hz));
        else
            assert_close(e.timer_hz, cases[i].hz, 1e-12);
        /* 9 has not come here and may not, 10 may */
        assert_int_equal(e.n_irqs, 5);
        for (size_t k = 0; k < 5; k++) {
            const struct environment_irq *irq = &e.irqs[k];
            assert_string_equal(irq->name, names[k]);
            if (k < 3)
                assert_int_equal(irq->counted, cases[i].counted[k]);
            assert_int_equal(irq->allowed_known, k == 2 || k == 3);
            assert_int_equal(irq->here, k == 2 || k == 3);
            assert_int_equal(irq->movable, k == 3);
        }
        free(e.irqs);
    }
    assert_int_equal(chmod(path, 0644), 0);
}

static int time_passes(void *root)
{
    /* the CPU is busy for 20 of 100 ticks and stolen for 10, its sibling busy for 50, two others, and one of none */
    static const struct fake_ticks ticks[FAKE_CPUS] = {{1040, 9060, 0}, {1060, 9040, 0}, {1020, 9070, 10},
                                                       {10, 9990, 0},   {1000, 9000, 0}, {1000, 9000, 0},
                                                       {1050, 9050, 0}, {10, 9989, 0}};
    fake_environment_stat(root, ticks, 950);
    folder_put_line(root, "sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", "5");
    return 0;
}

TEST_WITH(times_are_parts, renew_counted, NULL)
{
    struct environment e;
    count_cpu2(state, time_passes, &e);
    assert_close(e.busy_here, 0.2, 1e-9);
    assert_close(e.steal, 0.1, 1e-9);
    assert_close(e.busy_sibling, 0.5, 1e-9);
    assert_close(e.busy_others, 0.5, 1e-9);
    assert_close(e.begun, 50, 1e-9);
    assert_close(e.thermal_now, 2, 1e-9);
    assert_close(e.thermal_boot, 9, 1e-9);
    environment_free(&e);
}

static int nothing_happens(void *root)
{
    (void)root;
    return 0;
}

TEST_WITH(nothing_is_not_zero, renew_counted, NULL)
{
    struct environment e;
    count_cpu2(state, nothing_happens, &e);
    assert_true(isnan(e.busy_here) && isnan(e.steal) && isnan(e.busy_sibling) && isnan(e.busy_others));
    assert_true(e.timer_hz == 0 && e.begun == 0 && e.thermal_now == 0);
    assert_int_equal(e.n_tasks, 0);
    environment_free(&e);
}

static int tasks_run(void *root)
{
    static const struct fake_task later[] = {
        {1, 1, "systemd", false, 0, 5001000000, "0-2,4-6"},         /* on CPU 0 */
        {21, 21, "kworker/2:1-events", true, 2, 7250000, "2"},      /* 0.25 ms */
        {700, 700, "a ) (name", false, 2, 402000000, "0-2,4-6"},    /* 2 ms */
        {700, 701, "second", false, 6, 101000000, "0-2,4-6"},       /* 1 ms on the sibling */
        {800, 800, "this program", false, 2, 600000, "0-7"},        /* 0.5 ms */
        {900, 900, "just begun", false, 2, 3000000, "2"},           /* 3 ms */
        {20, 20, "another of its number", false, 2, 1500000, "2-"}, /* 1.5 ms; a list that is none */
    };
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        fake_environment_task(root, &later[i]);
    return 0;
}

TEST_WITH(tasks_that_ran, renew_counted, NULL)
{
    static const struct environment_task expected[] = {
        {900, "just begun", false, false, 3, true, false, true},
        {700, "a ) (name", false, false, 2, true, false, false},
        {20, "another of its number", false, false, 1.5, true, false, false},
        {701, "second", false, false, 1, false, true, false},
        {800, "this program", false, true, 0.5, true, false, false},
        {21, "kworker/2:1-events", true, false, 0.25, true, false, true},
    };
    struct environment e;
    count_cpu2(state, tasks_run, &e);
    assert_int_equal(e.tasks_error, 0);
    assert_int_equal(e.n_tasks, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < e.n_tasks; i++) {
        const struct environment_task *is = &e.tasks[i], *want = &expected[i];
        assert_int_equal(is->pid, want->pid);
        assert_string_equal(is->name, want->name);
        assert_close(is->cpu_ms, want->cpu_ms, 1e-9);
        if (is->kernel != want->kernel || is->self != want->self || is->on_cpu != want->on_cpu ||
            is->on_sibling != want->on_sibling || is->bound != want->bound)
            fail_msg("%s: kernel %d self %d on CPU %d on sibling %d bound %d", is->name, is->kernel, is->self,
                     is->on_cpu, is->on_sibling, is->bound);
    }
    environment_free(&e);
}

static int ticks_run(void *root)
{
    folder_put_line(root, "proc/700/task/700/stat",
                    "700 (x) R 1 1 1 0 -1 0 0 0 0 0 42 3 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 2 0");
    return 0;
}

/* Kernels without schedstat count ticks of 10 ms; without kthreadd's the tasks of others are not shown. */
TEST_WITH(tasks_without_schedstat, renew_counted, NULL)
{
    struct environment e;
    char path[300];
    snprintf(path, sizeof path, "%s/proc/700/task/700/schedstat", (char *)*state);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/proc/2", (char *)*state);
    folder_remove(path);
    count_cpu2(state, ticks_run, &e);
    assert_true(e.tasks_hidden);
    assert_int_equal(e.n_tasks, 1);
    assert_close(e.tasks[0].cpu_ms, (45 - 40) * 1000.0 / (double)sysconf(_SC_CLK_TCK), 1e-9);
    environment_free(&e);
}

static int stop_at_once(void *root)
{
    (void)root;
    return 1;
}

TEST_WITH(counting_ends_early, renew_counted, NULL)
{
    struct environment e;
    struct machine_error err;
    assert_int_equal(environment_read(*state, 2, 600, stop_at_once, NULL, &e, &err), MACHINE_OK);
    assert_true(e.seconds >= 0 && e.seconds < 60);
    environment_free(&e);
    assert_int_equal(environment_read(*state, 2, NAN, NULL, NULL, &e, &err), MACHINE_OK);
    assert_true(e.seconds == 0);
    environment_free(&e);
}

static void drop_proc(void *root)
{
    char path[300];
    snprintf(path, sizeof path, "%s/proc", (char *)root);
    folder_remove(path);
}

static int all_vanishes(void *root)
{
    drop_proc(root);
    return 0;
}

static int all_returns(void *root)
{
    return interrupts_come(root) + time_passes(root) + tasks_run(root);
}

/* Files that go, or come, between the looks: nothing is counted. */
TEST_WITH(files_come_and_go, renew_counted, NULL)
{
    struct environment e;
    count_cpu2(state, all_vanishes, &e);
    assert_true(isnan(e.timer_hz) && isnan(e.busy_here) && e.n_tasks == 0 && e.n_irqs == 0);
    assert_int_equal(e.irqs_error, ENOENT);
    assert_int_equal(e.tasks_error, ENOENT);
    environment_free(&e);
    count_cpu2(state, all_returns, &e);
    assert_true(isnan(e.timer_hz) && isnan(e.busy_here) && e.n_tasks == 0);
    assert_int_equal(irq_named(&e, "24")->counted, 0);
    assert_int_equal(e.irqs_error, 0);
    environment_free(&e);
}

static int strange_names_run(void *root)
{
    static const struct fake_task later[] = {
        {0, 0, "none", false, 2, 900000000, "2"},
        {950, 0, "no thread", false, 2, 900000000, "2"},
        {950, 999999999, "the last", false, 2, 4000000, "2"},
        {950, 1000000000, "beyond it", false, 2, 900000000, "2"},
        {960, 960, "a process", false, 2, 1000000, "2"},
    };
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        fake_environment_task(root, &later[i]);
    return 0;
}

/* Threads have numbers from 1 up, of nine digits at most; a folder of another name is none. */
TEST_WITH(folders_that_are_no_threads, renew_counted, NULL)
{
    struct environment e;
    count_cpu2(state, strange_names_run, &e);
    assert_int_equal(e.n_tasks, 2);
    assert_int_equal(e.tasks[0].pid, 999999999);
    assert_string_equal(e.tasks[0].name, "the last");
    assert_close(e.tasks[0].cpu_ms, 4, 1e-9);
    assert_int_equal(e.tasks[1].pid, 960);
    environment_free(&e);
}

static int columns_count(void *root)
{
    folder_put(root, "proc/stat",
               "cpu 9 9 9 9 9 9 9 9\ncpu2 101 102 103 1040 205 6 7 28 1000 1000\ncpu6 0 0 0 100 0 0 0 0\n"
               "cpu99999 1 1 1 1 1 1 1 1\nprocesses 77\n");
    return 0;
}

/* proc_stat(5): user nice system idle iowait irq softirq steal; guests' time is in user and nice already. */
TEST_WITH(columns_of_times, renew_counted, NULL)
{
    struct environment e;
    folder_put(*state, "proc/stat",
               "cpu 9 9 9 9 9 9 9 9\ncpu2 91 82 73 940 155 2 4 8 50 50\ncpu6 0 0 0 50 0 0 0 0\nprocesses 80\n");
    count_cpu2(state, columns_count, &e);
    /* 10 + 20 + 30 + 100 + 50 + 4 + 3 + 20 */
    assert_close(e.busy_here, 67 / 237.0, 1e-12);
    assert_close(e.steal, 20 / 237.0, 1e-12);
    assert_close(e.busy_sibling, 0, 0);
    assert_true(isnan(e.busy_others));
    assert_true(isnan(e.begun)); /* fewer than before: it was another boot's */
    environment_free(&e);
}

static int only_the_package_throttles(void *root)
{
    folder_put_line(root, "sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", "-1");
    folder_put_line(root, "sys/devices/system/cpu/cpu2/thermal_throttle/package_throttle_count", "7");
    return 0;
}

TEST_WITH(throttling_of_core_and_package, renew_counted, NULL)
{
    struct environment e;
    folder_put_line(*state, "sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", "1");
    folder_put_line(*state, "sys/devices/system/cpu/cpu2/thermal_throttle/package_throttle_count", "2");
    count_cpu2(state, only_the_package_throttles, &e);
    assert_close(e.thermal_now, 4, 0); /* 7 - (1 + 2) */
    environment_free(&e);
    folder_put_line(*state, "sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", "-1");
    folder_put_line(*state, "sys/devices/system/cpu/cpu2/thermal_throttle/package_throttle_count", "-1");
    count_cpu2(state, nothing_happens, &e);
    assert_true(isnan(e.thermal_now));
    environment_free(&e);
}

BEFORE_TESTS
{
    close(STDIN_FILENO); /* the next file gets descriptor 0, which is as good as any */
}

TEST_GROUP(make_counted, remove_counted)
