/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alone: runs commands beside busy threads */
/* A command beside background code: where that runs, its times, its end, and what is refused. */
#include <sys/stat.h>
#include <unistd.h>

#include "computer/cpu/tsc.h"
#include "drivers/native/corun_command.h"
#include "tests/support/test.h"
#include "util/clock.h"

/* A string that is not const, as arguments of programs are not. */
#define TEXT(string) ((char[]){string})

static struct corun_command_setup setup_of(char *const *argv)
{
    static double hz;
    double error;
    if (hz == 0)
        assert_int_equal(tsc_calibrate(&hz, &error), 0);
    return (struct corun_command_setup){.argv = argv, .place = CORUN_SAME, .cpu = -1, .tsc_hz = hz};
}

static int run_once(char *const *argv, const struct corun_background *b, struct corun_seen *seen,
                    struct machine_error *err)
{
    const struct corun_command_setup s = setup_of(argv);
    struct corun_command *c;
    struct cpu_mask before, after;
    assert_int_equal(cpu_get_affinity(&before), 0);
    int status = corun_command_open(&s, &c, err);
    if (status == MACHINE_OK)
        status = corun_command_run(c, b, seen, err);
    corun_command_close(c);
    assert_int_equal(cpu_get_affinity(&after), 0);
    assert_memory_equal(&before, &after, sizeof before);
    return status;
}

TEST(test_times_of_a_command)
{
    char *const sleeps[] = {TEXT("sleep"), TEXT("0.2"), NULL};
    char *const works[] = {TEXT("sh"), TEXT("-c"), TEXT("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"), NULL};
    const struct corun_background nothing = {.every_us = 0};
    struct corun_background adds = {.code = kernel_named("64add")};
    struct corun_seen seen;
    struct machine_error err;
    assert_int_equal(run_once(sleeps, &nothing, &seen, &err), MACHINE_OK);
    assert_true(seen.time_s >= 0.2 && seen.cpu_s < 0.1);
    assert_true(seen.ghz > 0.2 && seen.ghz < 10);
    assert_int_equal(run_once(works, &nothing, &seen, &err), MACHINE_OK);
    assert_true(seen.cpu_s > 0.005 && seen.cpu_s <= seen.time_s * 1.05);
    /* shares its CPU by half at least */
    assert_int_equal(run_once(works, &adds, &seen, &err), MACHINE_OK);
    assert_true(seen.time_s / seen.cpu_s > 1.3);
    adds.on_us = 100;
    adds.every_us = 1000;
    assert_int_equal(run_once(works, &adds, &seen, &err), MACHINE_OK);
    assert_true(seen.time_s / seen.cpu_s > 1.3);
}

static bool at_once(void)
{
    return true;
}

TEST(test_how_commands_end)
{
    char *const fails[] = {TEXT("sh"), TEXT("-c"), TEXT("exit 7"), NULL}, *const killed[] = {TEXT("sh"), TEXT("-c"),
                                                                                             TEXT("kill -9 $$"), NULL};
    char *const absent[] = {TEXT("no-such-command"), NULL}, *const text[] = {TEXT("/etc/passwd"), NULL};
    const struct corun_background nothing = {.every_us = 0};
    struct corun_seen seen;
    struct machine_error err;
    assert_int_equal(run_once(fails, &nothing, &seen, &err), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "the command 'sh' ended with status 7");
    assert_int_equal(run_once(killed, &nothing, &seen, &err), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "the command 'sh' was ended by signal 9 (Killed)");
    assert_int_equal(run_once(absent, &nothing, &seen, &err), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "command 'no-such-command' is not in PATH");
    assert_int_equal(run_once(text, &nothing, &seen, &err), MACHINE_BAD_INPUT);

    /* what it leaves behind ends with it: nobody holds the pipe any more */
    int ends[2];
    char byte, script[100];
    assert_int_equal(pipe(ends), 0);
    snprintf(script, sizeof script, "sleep 100 >&%d & exit 0", ends[1]);
    char *const leaves[] = {TEXT("sh"), TEXT("-c"), script, NULL};
    assert_int_equal(run_once(leaves, &nothing, &seen, &err), MACHINE_OK);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);

    /* stopped, with what it has started */
    char *const long_one[] = {TEXT("sh"), TEXT("-c"), TEXT("sleep 100 & wait"), NULL};
    struct corun_command_setup s = setup_of(long_one);
    struct corun_command *c;
    s.stop = at_once;
    assert_int_equal(corun_command_open(&s, &c, &err), MACHINE_OK);
    const double begin = clock_seconds(CLOCK_MONOTONIC);
    assert_int_equal(corun_command_run(c, &nothing, &seen, &err), MACHINE_FAILED);
    assert_true(clock_seconds(CLOCK_MONOTONIC) - begin < 20);
    corun_command_close(c);
    corun_command_close(NULL);
}

/* Four cores with two threads each, 0 and 4 of the first, in two packages; CPU 7 may not be used. */
TEST(test_places)
{
    char root[] = "/tmp/corun-XXXXXX", path[400];
    struct cpu_view v;
    int cpus[8];
    assert_non_null(mkdtemp(root));
    memset(&v, 0, sizeof v);
    for (int cpu = 0; cpu < 8; cpu++) {
        static const char *const parts[] = {"devices", "devices/system", "devices/system/cpu"};
        for (size_t i = 0; i < 3; i++) {
            snprintf(path, sizeof path, "%s/%s", root, parts[i]);
            (void)mkdir(path, 0700);
        }
        snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%d", root, cpu);
        assert_int_equal(mkdir(path, 0700), 0);
        strcat(path, "/topology");
        assert_int_equal(mkdir(path, 0700), 0);
        const char *const names[] = {"thread_siblings_list", "core_cpus_list", "physical_package_id"};
        for (size_t i = 0; i < 3; i++) {
            char file[500];
            snprintf(file, sizeof file, "%s/%s", path, names[i]);
            FILE *out = fopen(file, "w");
            assert_non_null(out);
            if (i < 2)
                fprintf(out, "%d,%d\n", cpu % 4, cpu % 4 + 4);
            else
                fprintf(out, "%d\n", cpu % 4 / 2);
            fclose(out);
        }
        if (cpu < 7) {
            cpu_mask_add(&v.online, cpu);
            cpu_mask_add(&v.allowed, cpu);
        }
        cpu_mask_add(&v.present, cpu);
    }
    assert_int_equal(corun_place_cpus(root, &v, CORUN_SAME, 1, cpus, 8), 1);
    assert_int_equal(cpus[0], 1);
    assert_int_equal(corun_place_cpus(root, &v, CORUN_SIBLING, 1, cpus, 8), 1);
    assert_int_equal(cpus[0], 5);
    assert_int_equal(corun_place_cpus(root, &v, CORUN_SIBLING, 3, cpus, 8), 0);
    assert_int_equal(corun_place_cpus(root, &v, CORUN_CORE, 5, cpus, 8), 1);
    assert_int_equal(cpus[0], 0);
    assert_int_equal(corun_place_cpus(root, &v, CORUN_PACKAGE, 5, cpus, 8), 4);
    assert_int_equal(cpus[3], 5);
    assert_int_equal(corun_place_cpus(root, &v, CORUN_PACKAGE, 2, cpus, 2), 2);
    snprintf(path, sizeof path, "rm -rf %s", root);
    assert_int_equal(system(path), 0);
}
