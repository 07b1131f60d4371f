/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other programs: how they are run, and what is made of what they print. */
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
/* cmocka needs the four above first */
#include "tests/support/test.h"
#include "util/command.h"
#include "probes/second_opinion.h"
#include "output/self_test/self_test.h"
#include "tests/support/model_rig.h"
#include "tests/support/folder.h"

/* ---- running them ---- */

static char folder[FOLDER_PATH_MAX];
static struct command_output output;

/* A program of this name, first in PATH. */
static void program(const char *name, const char *script)
{
    char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "#!/bin/sh\n%s\n", script);
    fclose(out);
    assert_int_equal(chmod(path, 0755), 0);
}

static int set_up(void **state)
{
    (void)state;
    char path[4000];
    folder_make(folder);
    snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
    return setenv("PATH", path, 1);
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

static int run(const char *name, double seconds, char *why)
{
    const char *const argv[] = {name, "a b", "$HOME;x", NULL};
    return command_run(argv, seconds, &output, why, 300);
}

TEST(test_output_and_arguments)
{
    char why[300];
    program("shows", "printf '%s|' \"$@\" \"$LC_ALL\"; echo complaint >&2; cat");
    assert_true(command_installed("shows"));
    assert_int_equal(run("shows", 5, why), 0);
    assert_string_equal(output.out, "a b|$HOME;x|C|"); /* no shell has seen them; no input */
    assert_string_equal(output.err, "complaint\n");
}

TEST(test_what_goes_wrong_is_reported)
{
    char why[300];
    program("fails", "echo; echo '  cannot do it'; exit 3");
    assert_int_equal(run("fails", 5, why), -1);
    assert_string_equal(why, "fails ended with status 3: cannot do it");
    program("dies", "kill -9 $$");
    assert_int_equal(run("dies", 5, why), -1);
    assert_string_equal(why, "dies was ended by signal 9");
    assert_false(command_installed("no-such-program"));
    assert_int_equal(run("no-such-program", 5, why), -1);
    assert_string_equal(why, "no-such-program is not installed");
    assert_false(command_installed("../bin/sh/"));
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whatever hangs, also what it has started and what has closed its output, ends with the time limit. */
TEST(test_time_limit)
{
    char why[300], alive[150];
    program("hangs", "sleep 60 & echo $! >\"${0%/*}/pid\"; echo begun; wait");
    program("silent", "exec >&- 2>&-; sleep 60");
    program("endless", "exec yes");
    static const char *const names[] = {"hangs", "silent", "endless"};
    for (size_t i = 0; i < 3; i++) {
        double begin = seconds();
        assert_int_equal(run(names[i], 0.3, why), -1);
        assert_non_null(strstr(why, "did not end"));
        assert_true(seconds() - begin < 10);
    }
    /* it is gone, or waits to be buried */
    snprintf(alive, sizeof alive,
             "grep -q '^State:[[:space:]]*[^Z[:space:]]' /proc/\"$(cat %s/pid)\"/status 2>/dev/null", folder);
    usleep(100000);
    assert_int_not_equal(system(alive), 0);
    assert_int_equal(strlen(output.out), COMMAND_TEXT_MAX - 1);
}

/* ---- what they print ---- */

TEST(test_perf)
{
    struct other_counts c;
    char why[300];
    assert_int_equal(second_opinion_perf("# remark\n\n1019230769,,instructions:u,300000000,100.00,1.02,insn per cycle\n"
                                         "1000000000,,cycles:u,250000000,100.00,,\n",
                                         &c, why, sizeof why),
                     0);
    assert_float_equal(c.instructions, 1019230769, 0);
    assert_float_equal(c.cycles, 1e9, 0);
    assert_float_equal(c.ghz, 4, 1e-9);
    static const char *const bad[] = {"",
                                      "1,,cycles:u,1,100.00\n",
                                      "<not supported>,,instructions:u,0,100.00,,\n",
                                      "<not counted>,,cycles:u,0,0.00,,\n",
                                      "1e9,,cycles:u,1,1,,\n5,,instructions:u,1,1,,\n",
                                      "-5,,cycles:u,1,1,,\n5,,instructions:u,1,1,,\n",
                                      "5,,cycles:u,0,1,,\n5,,instructions:u,0,1,,\n",
                                      "99999999999999999999,,cycles:u,1,1,,\n5,,instructions:u,1,1,,\n",
                                      "5 000,,cycles:u,1,1,,\n5,,instructions:u,1,1,,\n",
                                      "nan,,cycles:u,1,1,,\n5,,instructions:u,1,1,,\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(second_opinion_perf(bad[i], &c, why, sizeof why), -1);
    assert_int_equal(second_opinion_perf(bad[2], &c, why, sizeof why), -1);
    assert_string_equal(why, "perf: instructions:u: <not supported>");
}

TEST(test_likwid)
{
    struct other_counts c;
    char why[300];
    assert_int_equal(
        second_opinion_likwid("STRUCT,Info,3,,\nCPU name:,Intel,\nTABLE,Group 1 Raw,Custom,2,\nEvent,Counter,HWThread "
                              "3,\nINSTR_RETIRED_ANY,FIXC0,1020,\nCPU_CLK_UNHALTED_CORE,FIXC1,1000,\n",
                              &c, why, sizeof why),
        0);
    assert_float_equal(c.instructions / c.cycles, 1.02, 1e-9);
    assert_true(isnan(c.ghz));
    /* nothing after the count, lines without one, and fixed counters of other numbers */
    assert_int_equal(
        second_opinion_likwid("INSTR_RETIRED_ANY,FIXC0\nCPU_CLK_UNHALTED_CORE,FIXC1\nINSTR_RETIRED_ANY,FIXC1,7\n"
                              "CPU_CLK_UNHALTED_CORE,FIXC0,8\nCPU_CLK_UNHALTED_REF,FIXC1,9\n"
                              "INSTR_RETIRED_ANY,FIXC0,2040\nCPU_CLK_UNHALTED_CORE,FIXC1,1000\n",
                              &c, why, sizeof why),
        0);
    assert_true(c.instructions == 2040 && c.cycles == 1000);
    assert_int_equal(second_opinion_likwid("INSTR_RETIRED_ANY,FIXC0,1020,\n", &c, why, sizeof why), -1);
    assert_int_equal(
        second_opinion_likwid("INSTR_RETIRED_ANY,FIXC0,1020,\nCPU_CLK_UNHALTED_CORE,FIXC1,-,\n", &c, why, sizeof why),
        -1);
    assert_int_equal(
        second_opinion_likwid("INSTR_RETIRED_ANY,FIXC0,1020,\nCPU_CLK_UNHALTED_CORE,FIXC1,0,\n", &c, why, sizeof why),
        -1);
}

TEST(test_turbostat)
{
    struct other_counts c;
    char why[300];
    const char *text = "CPU\tBzy_MHz\tTSC_MHz\n-\t1200\t2100\n3\t3712\t2095\n13\t800\t2095\n";
    assert_int_equal(second_opinion_turbostat(text, 3, &c, why, sizeof why), 0);
    assert_float_equal(c.ghz, 3.712, 1e-9);
    assert_float_equal(c.tsc_ghz, 2.095, 1e-9);
    assert_int_equal(second_opinion_turbostat("CPU\tBzy_MHz\tTSC_MHz\n3\t3712.25\t2095.125\n", 3, &c, why, sizeof why),
                     0);
    assert_float_equal(c.ghz, 3.71225, 1e-9);
    assert_float_equal(c.tsc_ghz, 2.095125, 1e-9);
    /* whichever column comes first */
    for (int k = 0; k < 2; k++) {
        text = k ? "TSC_MHz\tCPU\tBzy_MHz\n2095\t3\t3712\n" : "Bzy_MHz\tTSC_MHz\tCPU\n3712\t2095\t3\n";
        assert_int_equal(second_opinion_turbostat(text, 3, &c, why, sizeof why), 0);
        assert_float_equal(c.ghz, 3.712, 1e-9);
        assert_float_equal(c.tsc_ghz, 2.095, 1e-9);
    }
    text = "CPU\tBzy_MHz\tTSC_MHz\n-\t1200\t2100\n3\t3712\t2095\n13\t800\t2095\n";
    assert_int_equal(second_opinion_turbostat("CPU\tBzy_MHz\tTSC_MHz\n3\t3712.25.1\t2095\n", 3, &c, why, sizeof why),
                     -1);
    assert_int_equal(second_opinion_turbostat(text, 4, &c, why, sizeof why), -1);
    assert_int_equal(second_opinion_turbostat("", 0, &c, why, sizeof why), -1);
    assert_int_equal(second_opinion_turbostat("CPU\tTSC_MHz\n0\t2000\n", 0, &c, why, sizeof why), -1);
    assert_int_equal(second_opinion_turbostat("CPU\tBzy_MHz\tTSC_MHz\n0\t2000\n", 0, &c, why, sizeof why), -1);
    assert_int_equal(second_opinion_turbostat("CPU\tBzy_MHz\tTSC_MHz\n0\t(neg)\t2000\n", 0, &c, why, sizeof why), -1);
}

TEST(test_rdmsr)
{
    char why[300];
    uint64_t value;
    assert_int_equal(second_opinion_rdmsr("0x80838f3012800\n", &value, why, sizeof why), 0);
    assert_int_equal(value, 0x80838f3012800);
    static const char *const bad[] = {
        "", "\n", "0x\n", "12\n", "0x12", "0x12 \n", "0x12\n0x13\n", "0x11111111111111111\n", "-0x12\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(second_opinion_rdmsr(bad[i], &value, why, sizeof why), -1);
}

/* Numbers, fields and frequencies at the ends of what is believed, and what is said beyond them. */
TEST(test_limits_of_what_is_believed)
{
    struct other_counts c;
    char why[300], text[2000] = "";
    uint64_t value;
    /* 18 digits, five fields of perf, three of likwid */
    assert_int_equal(
        second_opinion_perf("123456789012345678,,instructions:u,5,\n7,,cycles:u,2,\n", &c, why, sizeof why), 0);
    assert_true(c.instructions == 123456789012345678.0 && c.cycles == 7);
    assert_float_equal(c.seconds * 1e9, 2, 1e-9);
    assert_float_equal(c.ghz, 3.5, 1e-9);
    assert_int_equal(second_opinion_perf("1234567890123456789,,instructions:u,5,\n", &c, why, sizeof why), -1);
    assert_string_equal(why, "cannot parse the output of perf: 1234567890123456789");
    assert_int_equal(second_opinion_perf("1,,instructions:u,5\n7,,cycles:u,2,\n", &c, why, sizeof why), -1);
    assert_string_equal(why, "cannot parse the output of perf: no counts of instructions:u and cycles:u");
    assert_int_equal(second_opinion_perf("1,,instructions:u,5,\n7,,cycles:u,0,\n", &c, why, sizeof why), -1);
    assert_int_equal(second_opinion_perf("1.5,,instructions:u,5,\n7,,cycles:u,2,\n", &c, why, sizeof why), -1);
    assert_string_equal(why, "cannot parse the output of perf: 1.5");
    assert_int_equal(
        second_opinion_likwid("INSTR_RETIRED_ANY,FIXC0,5\nCPU_CLK_UNHALTED_CORE,FIXC1,1\n", &c, why, sizeof why), 0);
    assert_true(c.instructions == 5 && c.cycles == 1);
    assert_int_equal(
        second_opinion_likwid("INSTR_RETIRED_ANY,FIXC0,5\nCPU_CLK_UNHALTED_CORE,FIXC1,0\n", &c, why, sizeof why), -1);
    assert_string_equal(why, "cannot parse the output of likwid-perfctr: no counts of FIXC0 and FIXC1");
    /* up to 100 GHz, in up to 16 columns */
    assert_int_equal(second_opinion_turbostat("CPU\tBzy_MHz\tTSC_MHz\n0\t100000\t1\n", 0, &c, why, sizeof why), 0);
    assert_float_equal(c.ghz, 100, 0);
    assert_float_equal(c.tsc_ghz, 0.001, 0);
    assert_int_equal(second_opinion_turbostat("CPU\tBzy_MHz\tTSC_MHz\n0\t100001\t1\n", 0, &c, why, sizeof why), -1);
    assert_string_equal(why, "cannot parse the output of turbostat: 100001");
    assert_int_equal(second_opinion_turbostat("CPU\tBzy_MHz\tTSC_MHz\n0\t0\t1\n", 0, &c, why, sizeof why), -1);
    assert_int_equal(second_opinion_turbostat("CPU\tBzy_MHz\tTSC_MHz\n0\t5\t0\n", 0, &c, why, sizeof why), -1);
    assert_int_equal(second_opinion_turbostat("CPU\tBzy_MHz\tTSC_MHz\n0\t5\n", 0, &c, why, sizeof why), -1);
    assert_string_equal(why, "cannot parse the output of turbostat: no line for this CPU");
    for (int more = 0; more < 2; more++) {
        text[0] = '\0';
        for (int line = 0; line < 2; line++) {
            for (int i = 0; i < 13 + more; i++)
                strcat(text, "x\t");
            strcat(text, line ? "0\t3000\t2000\n" : "CPU\tBzy_MHz\tTSC_MHz\n");
        }
        assert_int_equal(second_opinion_turbostat(text, 0, &c, why, sizeof why), more ? -1 : 0);
    }
    /* 16 hexadecimal digits */
    assert_int_equal(second_opinion_rdmsr("0xfedcBA9876543210\n", &value, why, sizeof why), 0);
    assert_int_equal(value, 0xfedcba9876543210);
    assert_int_equal(second_opinion_rdmsr("0x0\n", &value, why, sizeof why), 0);
    assert_int_equal(value, 0);
    assert_int_equal(second_opinion_rdmsr("0x10000000000000000\nmore", &value, why, sizeof why), -1);
    assert_string_equal(why, "cannot parse the output of rdmsr: 0x10000000000000000");
}

/* ---- compared with the readings ---- */

static struct second_opinion answers(int i, struct other_counts counts)
{
    static const char *const names[OPINIONS] = {"perf", "likwid-perfctr", "turbostat", "rdmsr"};
    return (struct second_opinion){.program = names[i], .counts = counts};
}

TEST(test_agreement)
{
    struct model model;
    struct machine machine;
    struct machine_error err;
    struct self_test_readings r;
    struct self_test_lines l;
    const struct self_test_setup setup = {.cpu = -1};
    rig_load("xeon-gold-6130", &model);
    assert_int_equal(machine_open_parsed_model(&model, "model:test", &machine, &err), MACHINE_OK);
    assert_int_equal(self_test_run(&machine, &setup, &r, &err), MACHINE_OK);
    machine.ops->close(&machine);
    /* one active core of the model runs at 3.7 GHz, its TSC at 2.1 */
    struct second_opinion o[OPINIONS];
    o[OPINION_PERF] = answers(OPINION_PERF, (struct other_counts){1.0195e9, 1e9, 0.27, 1 / 0.27, NAN});
    o[OPINION_LIKWID] = answers(OPINION_LIKWID, (struct other_counts){1.02e9, 1e9, NAN, NAN, NAN});
    o[OPINION_TURBOSTAT] = answers(OPINION_TURBOSTAT, (struct other_counts){NAN, NAN, NAN, 3.69, 2.099});
    o[OPINION_RDMSR] = answers(OPINION_RDMSR, (struct other_counts){NAN, NAN, NAN, NAN, NAN});
    o[OPINION_RDMSR].registers[0].reg = 0xce;
    o[OPINION_RDMSR].registers[0].both = true;
    o[OPINION_RDMSR].registers[0].ours = o[OPINION_RDMSR].registers[0].theirs = 0x80838f3012800;
    self_test_judge_others(&r, o, OPINIONS, &l);
    assert_int_equal(l.n, OPINIONS);
    assert_int_equal(self_test_count(&l, SELF_TEST_PASS), OPINIONS);
    if (!strstr(l.line[OPINION_PERF].text, "3.704 GHz against 3."))
        fail_msg("%s", l.line[OPINION_PERF].text);
    o[OPINION_PERF].counts.ghz = 2.1;        /* another frequency */
    o[OPINION_LIKWID].counts.cycles = 2e9;   /* both threads */
    o[OPINION_TURBOSTAT].counts.tsc_ghz = 2; /* another TSC */
    o[OPINION_RDMSR].registers[0].theirs++;
    self_test_judge_others(&r, o, OPINIONS, &l);
    assert_int_equal(self_test_count(&l, SELF_TEST_FAIL), OPINIONS);
    for (int i = 0; i < OPINIONS; i++)
        snprintf(o[i].why, sizeof o[i].why, "not installed");
    self_test_judge_others(&r, o, OPINIONS, &l);
    assert_int_equal(self_test_count(&l, SELF_TEST_CANNOT), OPINIONS);
    assert_string_equal(l.line[0].reason, "not installed");
    self_test_free(&r);
}

/* Registers count where both could read them: a value of rdmsr's own, what it prints instead, and that it fails. */
TEST(test_registers_are_requested_twice)
{
    static const struct {
        const char *script, *why;
        bool both;
    } cases[] = {{"echo 0x150000001500", "", true},
                 {"echo none", "cannot parse the output of rdmsr: none", false},
                 {"echo rdmsr: no such CPU >&2; exit 4", "rdmsr ended with status 4: rdmsr: no such CPU", false}};
    struct model model;
    char before[4000];
    const char *path = getenv("PATH");
    assert_non_null(path);
    snprintf(before, sizeof before, "%s", path);
    rig_load("xeon-gold-6130", &model);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct second_opinion o[OPINIONS];
        struct machine machine;
        struct machine_error err;
        program("rdmsr", cases[i].script);
        assert_int_equal(setenv("PATH", folder, 1), 0); /* no other program is installed */
        assert_int_equal(machine_open_parsed_model(&model, "model:test", &machine, &err), MACHINE_OK);
        second_opinions_ask(&machine, 0, o);
        machine.ops->close(&machine);
        assert_int_equal(setenv("PATH", before, 1), 0);
        assert_string_equal(o[OPINION_PERF].why, "not installed");
        assert_string_equal(o[OPINION_RDMSR].why, cases[i].why);
        assert_int_equal(o[OPINION_RDMSR].registers[0].reg, 0xce);
        assert_int_equal(o[OPINION_RDMSR].registers[0].ours, 0x1500);
        assert_int_equal(o[OPINION_RDMSR].registers[0].both, cases[i].both);
        if (cases[i].both)
            assert_int_equal(o[OPINION_RDMSR].registers[0].theirs, 0x150000001500);
    }
}

TEST_GROUP(set_up, tear_down)
