/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedulers/simulate/workload/workload_csv.c: rows are those of the definition, what is malformed has a line. */
#include <inttypes.h>
#include <unistd.h>

#include "schedulers/simulate/workload/values.h"
#include "schedulers/simulate/workload.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"
#include "tests/support/workload_rig.h"

#define HEAD "# recorded_ghz: 2.8\ncpu,time_us,task,class\n"
#define NO_WORKLOAD                                                                                                    \
    "FILE: is not a workload: neither CSV with a header of cpu,time_us,task,class nor perf script text nor a "         \
    "description that begins with format = characterize-workload/1"
static const struct sim_workload_options nothing = {0};

TEST(the_example_of_the_page)
{
    struct sim_workload *w = workload_rig_opened("# recorded_ghz: 2.8\n# siblings: 0-1,2-3\ncpu,time_us,task,class\n"
                                                 "0,0,nginx,none\n1,10,gcc,256light\n0,812.5,nginx,512heavy\n"
                                                 "3,1,-,none\n2,0.000001,-,\n0,840,-,none\n1,1000,-,\n",
                                                 &nothing);
    workload_rig_check_cpus(w, (const char *const[]){"812.5 nginx none; 27.5 nginx 512heavy; 160 -",
                                                     "10 -; 990 gcc 256light", "1000 -", "1000 -", NULL});
    assert_null(w->works.read);
    assert_string_equal(w->kind, "csv");
    assert_string_equal(w->warning, "");
    assert_int_equal(w->recorded, 28000);
    assert_int_equal(w->active_cores, 0);
    assert_int_equal(w->n_cpus, 4);
    assert_int_equal(w->n_cores, 2);
    assert_true(w->smt);
    assert_int_equal(w->n_tasks, 2);
    assert_int_equal(w->n_rows, 7);
    assert_false(w->has_ipc || w->has_stall || w->has_cookie || w->has_syscall);
    assert_true(w->class_used[SIM_NONE] && w->class_used[SIM_256LIGHT] && w->class_used[SIM_512HEAVY]);
    assert_false(w->class_used[SIM_256HEAVY] || w->class_used[SIM_512LIGHT]);
    sim_workload_free(w);
}

TEST(all_columns_in_any_order)
{
    struct sim_workload *w = workload_rig_opened(
        "\xef\xbb\xbf# from: a machine\r\n#\r\n# recorded_ghz :\t3.1234 \r\n# active_cores: 16\r\n\r\n"
        " class , syscall,note,cookie,stall,ipc,task,time_us , cpu\r\n"
        "512light,1,x,red,0.25,1.5,a b,5,8191\r\n"
        "none,0,,blue,1,16,#c,5.5,7\r\n"
        "none,1,,blue,0,0.001,#c,6.,7\r\n\r\n \r\n"
        "nonsense,?,,,,,-,7,8191\r\n"
        "none,0,,,1.000,16.000,\td ,.6,0\r\n"
        "none,1,,red,0,2,a b,9.000000,7",
        &nothing);
    workload_rig_check_cpus(w, (const char *const[]){"8.4 d none ipc=16000 stall=1000",
                                                     "4.9 -; 0.5 #c none ipc=16000 stall=1000; "
                                                     "3 #c none ipc=1 syscall; 0 a b none ipc=2000 syscall",
                                                     "4.4 -; 2 a b 512light ipc=1500 stall=250 syscall; 2 -", NULL});
    assert_int_equal(w->recorded, 31234);
    assert_int_equal(w->active_cores, 16);
    assert_int_equal(w->cpu[0], 0);
    assert_int_equal(w->cpu[1], 7);
    assert_int_equal(w->cpu[2], 8191);
    assert_true(w->has_ipc && w->has_stall && w->has_cookie && w->has_syscall);
    assert_string_equal(w->tasks[0].name, "a b"); /* in the order in which they come */
    assert_string_equal(w->tasks[1].name, "#c");
    assert_string_equal(w->tasks[2].name, "d");
    assert_int_equal(w->tasks[0].cookie, 1);
    assert_int_equal(w->tasks[1].cookie, 2);
    assert_int_equal(w->tasks[2].cookie, 3);
    assert_false(w->smt);
    assert_int_equal(w->n_cores, 3);
    sim_workload_free(w);
}

TEST(rows_in_their_shortest_form)
{
    struct sim_workload *w = workload_rig_opened(HEAD "0,1,a,none\n0,2,a,none\n0,3,b,512heavy\n0,3,a,none\n0,4,-,none\n"
                                                      "0,5,-,512heavy\n0,100000006,a,256heavy\n0,100000007,-,\n",
                                                 &nothing);
    workload_rig_check_cpus(w, (const char *const[]){"3 a none; 50000000 -; 50000000 -; 2 -; 1 a 256heavy", NULL});
    assert_false(w->class_used[SIM_512HEAVY]); /* for no time */
    assert_true(w->class_used[SIM_256HEAVY]);
    sim_workload_free(w);
    w = workload_rig_opened("cpu,time_us,task,class,syscall\n0,0,a,none,0\n0,1,b,none,1\n0,1,b,none,0\n0,2,b,none,1\n"
                            "0,2,b,none,1\n0,4,-,,\n",
                            &(struct sim_workload_options){.recorded = 30000});
    workload_rig_check_cpus(
        w, (const char *const[]){"1 a none; 1 b none syscall; 0 b none syscall; 2 b none syscall", NULL});
    sim_workload_free(w);
}

TEST(misspelt_comments_are_reported)
{
    struct sim_workload *w = workload_rig_opened(
        "# sibling: 0-1\n# a: b\n# active-cores: 4\n# recorded: today\n" HEAD "0,0,a,none\n0,1,-,\n", &nothing);
    assert_string_equal(w->warning, "line 1 says 'sibling': is siblings meant?; line 3 says 'active-cores': is "
                                    "active_cores meant?");
    sim_workload_free(w);
}

TEST(options_go_before_comments)
{
    static const char text[] = "# recorded_ghz: 2.8\n# siblings: 0-1,2\n# active_cores: 2\ncpu,time_us,task,class\n"
                               "2,0,a,none\n0,0,b,none\n1,0,c,none\n3,5,-,\n";
    struct sim_workload_options o = {0};
    struct sim_workload *w = workload_rig_opened(text, &o);
    assert_int_equal(w->n_cores, 3);
    assert_int_equal(w->core[0], 0);
    assert_int_equal(w->core[1], 0);
    assert_int_equal(w->core[2], 1);
    assert_int_equal(w->core[3], 2); /* not in the map: a core of its own */
    sim_workload_free(w);

    o = (struct sim_workload_options){.recorded = 160000, .active_cores = 4096, .siblings = "3-0, 1-2"};
    w = workload_rig_opened(text, &o);
    assert_int_equal(w->recorded, 160000);
    assert_int_equal(w->active_cores, 4096);
    assert_int_equal(w->n_cores, 2);
    assert_int_equal(w->core[0], 0);
    assert_int_equal(w->core[1], 1);
    assert_int_equal(w->core[2], 1);
    assert_int_equal(w->core[3], 0);
    assert_true(w->smt);
    sim_workload_free(w);

    o.smt_given = true; /* off */
    w = workload_rig_opened(text, &o);
    assert_int_equal(w->n_cores, 4);
    assert_int_equal(w->core[3], 3);
    assert_false(w->smt);
    sim_workload_free(w);

    o.smt = true;
    w = workload_rig_opened(text, &o);
    assert_int_equal(w->n_cores, 2);
    sim_workload_free(w);
    o.siblings = NULL;
    workload_rig_refused(HEAD "0,0,a,none\n0,1,-,\n", &o,
                         "FILE: does not say which CPUs share a core: for --smt on, put '# siblings: 0-1,2-3' before "
                         "the rows, or --siblings-map 0-1,2-3");
    o.siblings = "0";
    workload_rig_refused(HEAD "0,0,a,none\n0,1,-,\n", &o,
                         "FILE: --siblings-map: no CPUs share a core: --smt on has no effect");
    o.siblings = "0-1-0";
    workload_rig_refused(HEAD "0,0,a,none\n0,1,-,\n", &o, "FILE: --siblings-map: CPU 0 is listed twice");
    o.siblings = "0-1";
    w = workload_rig_opened(HEAD "0,0,a,none\n0,1,-,\n", &o); /* CPU 1 has idled */
    assert_true(w->smt && w->n_cpus == 2 && w->n_cores == 1 && w->cpu[1] == 1);
    workload_rig_check_cpus(w, (const char *const[]){"1 a none", "1 -", NULL});
    assert_string_equal(w->warning,
                        "CPUs of the map that are not in the recording: 1 assumed idle, 0 omitted with their cores");
    sim_workload_free(w);
    o = (struct sim_workload_options){.siblings = "1-5,2-6,3-7,0-4", .works = true};
    w = workload_rig_opened(HEAD "6,0,a,none\n3,0,b,none\n3,1,-,\n9,2,a,512heavy\n6,2,-,\n9,3,-,\n", &o);
    assert_true(w->smt && w->n_cpus == 5 && w->n_cores == 3);
    const unsigned cpus[] = {2, 3, 6, 7, 9}, cores[] = {0, 1, 0, 1, 2};
    assert_memory_equal(w->cpu, cpus, sizeof cpus);
    assert_memory_equal(w->core, cores, sizeof cores);
    workload_rig_check_cpus(
        w, (const char *const[]){"3 -", "1 b none; 2 -", "2 a none; 1 -", "3 -", "2 -; 1 a 512heavy", NULL});
    workload_rig_check_works(w, (const char *const[]){"2 a none; 1 a 512heavy", "1 b none", NULL});
    assert_string_equal(w->warning,
                        "CPUs of the map that are not in the recording: 2 assumed idle, 4 omitted with their cores");
    sim_workload_free(w);
    o.smt_given = true; /* off: nobody asks who is whose sibling */
    w = workload_rig_opened(HEAD "6,0,a,none\n3,0,b,none\n3,1,-,\n6,2,-,\n", &o);
    assert_true(!w->smt && w->n_cpus == 2 && w->n_cores == 2);
    assert_string_equal(w->warning, "");
    sim_workload_free(w);
}

TEST(tasks_as_work)
{
    struct sim_workload_options o = {.works = true};
    struct sim_workload *w = workload_rig_opened(HEAD "0,10,a,none\n0,15,b,512heavy\n0,18,-,\n0,30,-,\n"
                                                      "1,0,c,none\n1,15,a,none\n1,16,-,\n1,17,c,none\n1,20,a,256light\n"
                                                      "1,22,a,none\n",
                                                 &o);
    workload_rig_check_works(w, (const char *const[]){"10 -; 6 a none; 4 -; 2 a 256light; 8 a none",
                                                      "15 -; 3 b 512heavy", "15 c none; 2 -; 3 c none", NULL});
    workload_rig_check_cpus(w,
                            (const char *const[]){"10 -; 5 a none; 3 b 512heavy; 12 -",
                                                  "15 c none; 1 a none; 1 -; 3 c none; 2 a 256light; 8 a none", NULL});
    sim_workload_free(w);
    static const char twice[] = HEAD "3,10,a,none\n3,20,-,\n5,10,-,\n5,19.999999,a,none\n5,30,-,\n";
    sim_workload_free(workload_rig_opened(twice, &nothing));
    workload_rig_refused(twice, &o,
                         "FILE: task 'a' runs on CPUs 3 and 5 at once, 9.999999 us after the first row: for a "
                         "scheduler, each thread needs its own name");
}

/* Checks that a line after the header is refused with this message. */
static void line_refused(const char *line, const char *expected)
{
    char text[300], message[400];
    snprintf(text, sizeof text,
             "# recorded_ghz: 2.8\ncpu,time_us,task,class,ipc,stall,cookie,syscall\n0,5,a,none,1,0,x,0\n%s\n", line);
    snprintf(message, sizeof message, "FILE:4: %s", expected);
    workload_rig_refused(text, &nothing, message);
}

TEST(malformed_rows)
{
    line_refused("0", "1 field; allowed: the 8 of the header");
    line_refused("0,6,a,none,1,0,x", "7 fields; allowed: the 8 of the header");
    line_refused("0,6,a,none,1,0,x,0,", "9 fields; allowed: the 8 of the header");
    line_refused("0,6,\"a\",none,1,0,x,0", "a quote (\"); allowed: fields without commas and quotes");
    line_refused("8192,6,a,none,1,0,x,0", "column cpu: '8192' is not a CPU number; allowed: 0 to 8191");
    line_refused("-1,6,a,none,1,0,x,0", "column cpu: '-1' is not a CPU number; allowed: 0 to 8191");
    line_refused("0.,6,a,none,1,0,x,0", "column cpu: '0.' is not a CPU number; allowed: 0 to 8191");
    line_refused(",6,a,none,1,0,x,0", "column cpu: '' is not a CPU number; allowed: 0 to 8191");
    static const char *const times[] = {"",
                                        "-1",
                                        "1e",
                                        "1e-",
                                        "1e99",
                                        "0x5",
                                        "6 7",
                                        "nan",
                                        "1.2.3",
                                        ".",
                                        "6.0000000x",
                                        "9200000000000.000001",
                                        "9999999999999",
                                        "99999999999999999999999999"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char line[80], message[160];
        snprintf(line, sizeof line, "1,%s,a,none,1,0,x,0", times[i]);
        snprintf(message, sizeof message, "column time_us: '%s' is not a time; allowed: 0 to 9200000000000", times[i]);
        line_refused(line, message);
    }
    line_refused(
        "0,4.999999,a,none,1,0,x,0",
        "column time_us: '4.999999' is back in time; allowed: 5.000000 or later, like the previous row of CPU 0");
    line_refused("0,6,,none,1,0,x,0", "column task: '' is empty; allowed: a name, or - for idle time");
    line_refused("0,6,a,512,1,0,x,0",
                 "column class: '512' is not a class; allowed: none, 256light, 256heavy, 512light, 512heavy");
    line_refused("0,6,a,,1,0,x,0",
                 "column class: '' is not a class; allowed: none, 256light, 256heavy, 512light, 512heavy");
    line_refused("0,6,a,none,0,0,x,0",
                 "column ipc: '0' is not a number of instructions per cycle; allowed: 0.001 to 16");
    line_refused("0,6,a,none,16.001,0,x,0", "column ipc: '16.001' is not a number of instructions per cycle; allowed: "
                                            "0.001 to 16");
    line_refused("0,6,a,none,,0,x,0", "column ipc: '' is not a number of instructions per cycle; allowed: 0.001 to 16");
    line_refused("0,6,a,none,0.0004,0,x,0",
                 "column ipc: '0.0004' is not a number of instructions per cycle; allowed: 0.001 to 16");
    line_refused("0", "1 field; allowed: the 8 of the header");
    line_refused("0,6,a,none,1,1.001,x,0", "column stall: '1.001' is not a share; allowed: 0 to 1");
    line_refused("0,6,a,none,1,-0,x,0", "column stall: '-0' is not a share; allowed: 0 to 1");
    line_refused("0,6,a,none,1,0,y,0",
                 "column cookie: 'y' is a different cookie; allowed: 'x', as in the task's first row");
    line_refused("0,6,a,none,1,0,x,2",
                 "column syscall: '2' is neither 0 nor 1; allowed: 1 if the row begins with a system call, else 0");
    line_refused("0,6,a,none,1,0,x,",
                 "column syscall: '' is neither 0 nor 1; allowed: 1 if the row begins with a system call, else 0");
    line_refused("\x1b[31m a name that is longer than forty bytes are,6,a,none,1,0,x,0",
                 "column cpu: '?[31m a name that is longer than forty b...' is not a CPU number; allowed: 0 to 8191");
}

TEST(malformed_files)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "FILE: is empty"},
        {"\n \n# recorded_ghz: 2.8\n", "FILE: is empty"},
        {"# Recorded_gzh: 2.8\n# from: x\ncpu,time_us,task,class\n",
         "FILE: does not say at which frequency it was recorded: put '# recorded_ghz: GHZ' before the rows, or "
         "--recorded-ghz GHZ; line 1 says 'Recorded_gzh': is recorded_ghz meant?"},
        {"hello\n", NO_WORKLOAD},
        {"0,0,a,none\n", NO_WORKLOAD},
        {"cpu,time_us,task\n0,0,a\n", "FILE:1: the header lacks column class; needed: cpu, time_us, task, class"},
        {"cpu,time_us,task,class,cpu\n", "FILE:1: column cpu is given twice"},
        {"cpu,time_us,task,class\n0,0,a,none\n",
         "FILE: does not say at which frequency it was recorded: put '# recorded_ghz: GHZ' before the rows, or "
         "--recorded-ghz GHZ"},
        {HEAD, "FILE: has a header but no rows"},
        {HEAD "0,5,a,none\n1,5,b,none\n", "FILE: all rows have the same time: the recording has no duration"},
        {HEAD "0,5,-,none\n1,6,-,none\n", "FILE: contains no work: all CPUs are idle all the time"},
        {HEAD "0,5,-,none\n1,6,b,none\n", "FILE: contains no work: all CPUs are idle all the time"},
        {"# recorded_ghz: 0.09\n" HEAD,
         "FILE:1: recorded_ghz: '0.09' is not allowed; allowed: 0.1 to 16 (GHz), at most four decimals"},
        {"# recorded_ghz: 16.0001\n" HEAD,
         "FILE:1: recorded_ghz: '16.0001' is not allowed; allowed: 0.1 to 16 (GHz), at most four decimals"},
        {"#recorded_ghz: 2.80001\n" HEAD,
         "FILE:1: recorded_ghz: '2.80001' is not allowed; allowed: 0.1 to 16 (GHz), at most four decimals"},
        {"# recorded_ghz: 2.8 GHz\n" HEAD,
         "FILE:1: recorded_ghz: '2.8 GHz' is not allowed; allowed: 0.1 to 16 (GHz), at most four decimals"},
        {"# recorded_ghz: 2.8\n" HEAD, "FILE:2: recorded_ghz: given twice"},
        {"# active_cores: 0\n" HEAD, "FILE:1: active_cores: '0' is not allowed; allowed: 1 to 4096"},
        {"# active_cores: 4097\n" HEAD, "FILE:1: active_cores: '4097' is not allowed; allowed: 1 to 4096"},
        {"# active_cores: 1\n# active_cores: 1\n" HEAD, "FILE:2: active_cores: given twice"},
        {"# siblings: 0-1\n# siblings: 0-1\n" HEAD, "FILE:2: siblings: given twice"},
        {"# siblings: 0-1,1-2\n" HEAD, "FILE:1: siblings: CPU 1 is listed twice"},
        {"# siblings: 0-1-2-3-4-5-6-7-8\n" HEAD, "FILE:1: siblings: the core of CPU 8 has more than 8 CPUs"},
        {"# siblings: 0-8192\n" HEAD, "FILE:1: siblings: '0-8192' is not a siblings map; allowed: CPUs (0 to 8191) "
                                      "joined by '-', cores separated by ',', as in 0-1,2-3"},
        {"# siblings: 0-\n" HEAD, "FILE:1: siblings: '0-' is not a siblings map; allowed: CPUs (0 to 8191) joined by "
                                  "'-', cores separated by ',', as in 0-1,2-3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        workload_rig_refused(cases[i].text, &nothing, cases[i].message);
    struct sim_mark mark = {"nginx", SIM_512HEAVY};
    workload_rig_refused(
        HEAD "0,0,a,none\n0,1,-,\n", &(struct sim_workload_options){.marks = &mark, .n_marks = 1},
        "FILE: is CSV, whose column class says what is wide: --wide and --stamps are for perf script text");
}

TEST(no_text)
{
    struct sim_workload *w;
    struct machine_error err;
    static const char nul[] = HEAD "0,0,a\0,none\n";
    static const struct {
        const char *begin, *converter;
    } recordings[] = {{"PERFILE2h", "perf script -i FILE"},
                      {"\x17\x08"
                       "Dtracing6",
                       "trace-cmd report -i FILE"},
                      {"\n\x10\n", "if it is Perfetto's, traceconv systrace FILE"}};
    assert_int_equal(workload_rig_open_bytes(nul, sizeof nul - 1, &nothing, &w, &err), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "FILE:3: NUL byte: not a text file");
    for (size_t i = 0; i < sizeof recordings / sizeof *recordings; i++) {
        char bytes[16] = "", message[120];
        strcpy(bytes, recordings[i].begin);
        snprintf(message, sizeof message, "FILE: is not text: %s converts it", recordings[i].converter);
        assert_int_equal(workload_rig_open_bytes(bytes, sizeof bytes, &nothing, &w, &err), MACHINE_BAD_INPUT);
        assert_string_equal(err.text, message);
    }
    size_t length = (5 << 20) + sizeof HEAD;
    char *text = malloc(length);
    memset(text, 'x', length);
    assert_int_equal(workload_rig_open_bytes(text, length, &nothing, &w, &err), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "FILE:1: the line is longer than 1048576 bytes: not a workload");
    memcpy(text, HEAD, sizeof HEAD - 1);
    assert_int_equal(workload_rig_open_bytes(text, length, &nothing, &w, &err), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "FILE:3: the line is longer than 1048576 bytes: not a workload");
    free(text);
    assert_int_equal(sim_workload_open("/tmp", &nothing, &w, &err), MACHINE_BAD_INPUT);
    assert_null(w);
    assert_string_equal(err.text, "cannot read /tmp: it is a directory");
    assert_int_equal(sim_workload_open("/tmp/nonexistent/x.csv", &nothing, &w, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "cannot read /tmp/nonexistent/x.csv: "));
}

/* As a shell hands it over: what cannot be read twice. */
TEST(a_pipe)
{
    int end[2];
    char path[32];
    struct sim_workload *w;
    struct machine_error err;
    static const char text[] = HEAD "0,0,a,none\n0,5,-,\n";
    assert_int_equal(pipe(end), 0);
    assert_int_equal(write(end[1], text, sizeof text - 1), sizeof text - 1);
    close(end[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", end[0]);
    assert_int_equal(sim_workload_open(path, &nothing, &w, &err), MACHINE_OK);
    workload_rig_check_cpus(w, (const char *const[]){"5 a none", NULL});
    sim_workload_free(w);
    close(end[0]);
}

/* A line of just a mebibyte is fine, wherever the buffer ends. */
TEST(long_lines)
{
    static const size_t lengths[] = {1 << 20, (1 << 20) - 1, 700000};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        fputs("# recorded_ghz: 2.8\ncpu,time_us,task,class,note\n", out);
        for (int i = 0; i < 9; i++) {
            int used = fprintf(out, "0,%d,%s,none,", i, i % 2 ? "a" : "b");
            for (size_t n = (size_t)used; n < lengths[k]; n++)
                putc('x', out);
            putc('\n', out);
        }
        fclose(out);
        struct sim_workload *w = workload_rig_opened(text, &nothing);
        workload_rig_check_cpus(w, (const char *const[]){"1 b none; 1 a none; 1 b none; 1 a none; 1 b none; 1 a none; "
                                                         "1 b none; 1 a none",
                                                         NULL});
        sim_workload_free(w);
        free(text);
    }
}

enum { RANDOM_CPUS = 5 };

/* Appends a row to what is expected of a CPU: no two in a row are alike, so that none are merged. */
static void expect_row(FILE *out, int64_t ps, int kind)
{
    char us[40];
    static const char *const kinds[] = {" -", " a none", " b none", " b 512heavy"};
    int n = snprintf(us, sizeof us, "%" PRId64 ".%06" PRId64, ps / 1000000, ps % 1000000);
    while (us[n - 1] == '0')
        n--;
    n -= us[n - 1] == '.';
    fprintf(out, "%s%.*s%s", ftell(out) ? "; " : "", n, us, kinds[kind]);
}

/* Random CPUs with random rows, those of all in a random order. */
TEST(random_recordings)
{
    static const char *const fields[] = {"-,none", "a,none", "b,none", "b,512heavy"};
    unsigned rounds = rng_rounds(90);
    for (unsigned round = 0; round < rounds; round++) {
        struct rng r;
        int64_t at[RANDOM_CPUS], first = INT64_MAX, last = 0;
        int kind[RANDOM_CPUS];
        char *want[RANDOM_CPUS + 1] = {NULL}, *text = NULL;
        size_t size[RANDOM_CPUS], text_size;
        FILE *rows[RANDOM_CPUS], *out = open_memstream(&text, &text_size);
        rng_init(&r, round + 1, 1);
        fputs("# recorded_ghz: 2.8\ntime_us,task,class,cpu\n", out);
        for (int c = 0; c < RANDOM_CPUS; c++) {
            at[c] = rng_int(&r, 0, 1000000000);
            first = at[c] < first ? at[c] : first;
        }
        for (int c = 0; c < RANDOM_CPUS; c++) { /* each begins with what cannot be merged with idle time */
            rows[c] = open_memstream(&want[c], &size[c]);
            kind[c] = 1;
            if (at[c] > first)
                expect_row(rows[c], at[c] - first, 0);
            fprintf(out, "%" PRId64 ".%06" PRId64 ",%s,%d\n", at[c] / 1000000, at[c] % 1000000, fields[1], 2 * c);
        }
        for (int i = rng_int(&r, 50, 400); i > 0 || at[0] < last; i--) { /* CPU 0 has the last row */
            int c = i > 1 ? rng_int(&r, 0, RANDOM_CPUS - 1) : 0, before = kind[c];
            int64_t ps = (int64_t)rng_log(&r, 1, 1e12) + (i > 1 ? 0 : last);
            expect_row(rows[c], ps, before);
            at[c] += ps;
            last = at[c] > last ? at[c] : last;
            kind[c] = (before + rng_int(&r, 1, 3)) % 4;
            fprintf(out, "%" PRId64 ".%06" PRId64 ",%s,%d\n", at[c] / 1000000, at[c] % 1000000, fields[kind[c]], 2 * c);
        }
        for (int c = 0; c < RANDOM_CPUS; c++) {
            if (at[c] < last)
                expect_row(rows[c], last - at[c], kind[c]);
            fclose(rows[c]);
        }
        fclose(out);
        struct sim_workload *w = workload_rig_opened(text, &nothing);
        workload_rig_check_cpus(w, (const char *const *)want);
        sim_workload_free(w);
        for (int c = 0; c < RANDOM_CPUS; c++)
            free(want[c]);
        free(text);
    }
}

enum { WANDERERS = 9 };

/* A task's rows as work, in us: what goes on is one row, as everywhere. */
struct wanderer {
    int64_t until, ps; /* of the present row */
    int number, kind;  /* kind of the present row; -1: none yet; 0: blocked; 1, 2: classes */
    char *text;
    size_t size;
    FILE *out;
};

static void wanders(struct wanderer *t, int64_t us, int kind)
{
    if (!us)
        return;
    if (kind == t->kind) {
        t->ps += us;
        return;
    }
    if (t->kind == 0)
        fprintf(t->out, "%s%" PRId64 " -", ftell(t->out) ? "; " : "", t->ps);
    if (t->kind > 0)
        fprintf(t->out, "%s%" PRId64 " t%d %s", ftell(t->out) ? "; " : "", t->ps, t->number,
                t->kind == 1 ? "none" : "512heavy");
    t->kind = kind;
    t->ps = us;
}

/* Tasks that wander among CPUs, one after the other or with pauses; the file has one CPU after the other. */
TEST(random_wanderers)
{
    unsigned rounds = rng_rounds(60);
    for (unsigned round = 0; round < rounds; round++) {
        struct rng r;
        struct wanderer task[WANDERERS] = {{0}};
        int on[RANDOM_CPUS], kind[RANDOM_CPUS];
        int64_t since[RANDOM_CPUS] = {0}, now = 0;
        char *rows[RANDOM_CPUS], *text = NULL, *want[WANDERERS + 1] = {NULL};
        size_t size[RANDOM_CPUS], text_size;
        FILE *of[RANDOM_CPUS], *out = open_memstream(&text, &text_size);
        rng_init(&r, round + 1, 2);
        for (int c = 0; c < RANDOM_CPUS; c++) {
            of[c] = open_memstream(&rows[c], &size[c]);
            on[c] = -1;
            fprintf(of[c], "%d,0,-,\n", c);
        }
        for (int t = 0; t < WANDERERS; t++) {
            task[t] = (struct wanderer){.number = t, .kind = -1};
            task[t].out = open_memstream(&task[t].text, &task[t].size);
        }
        for (int i = 0; i < 300 + RANDOM_CPUS; i++) {
            int c = i < 300 ? rng_int(&r, 0, RANDOM_CPUS - 1) : i - 300;
            int next = i < 300 ? rng_int(&r, -1, WANDERERS - 1) : -1;
            now += rng_chance(&r, 0.3) ? 0 : rng_int(&r, 1, 1000);
            if (on[c] >= 0) {
                struct wanderer *t = &task[on[c]];
                if (now > since[c])
                    wanders(t, since[c] - t->until, 0);
                wanders(t, now - since[c], kind[c]);
                t->until = now > since[c] ? now : t->until;
            }
            for (int k = 0; k < RANDOM_CPUS; k++)
                next = k != c && on[k] == next ? -1 : next;
            on[c] = next;
            kind[c] = rng_int(&r, 1, 2);
            since[c] = now;
            if (next < 0)
                fprintf(of[c], "%d,%" PRId64 ",-,\n", c, now);
            else
                fprintf(of[c], "%d,%" PRId64 ",t%d,%s\n", c, now, next, kind[c] == 1 ? "none" : "512heavy");
        }
        fputs(HEAD, out);
        for (int t = 0; t < WANDERERS; t++) /* so that they are numbered in this order */
            fprintf(out, "%d,0,t%d,none\n", RANDOM_CPUS, t);
        fprintf(out, "%d,0,-,\n", RANDOM_CPUS);
        for (int c = 0; c < RANDOM_CPUS; c++) {
            fclose(of[c]);
            fputs(rows[c], out);
            free(rows[c]);
        }
        fclose(out);
        for (int t = 0; t < WANDERERS; t++) {
            wanders(&task[t], 1, -2);
            fclose(task[t].out);
            want[t] = task[t].text;
        }
        struct sim_workload *w = workload_rig_opened(text, &(struct sim_workload_options){.works = true});
        workload_rig_check_works(w, (const char *const *)want);
        sim_workload_free(w);
        for (int t = 0; t < WANDERERS; t++)
            free(want[t]);
        free(text);
    }
}

/* As many tasks as threads may have, on two CPUs in turns. */
TEST(many_tasks)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fputs(HEAD, out);
    for (int i = 0; i <= 200000; i++)
        fprintf(out, "%d,%d,task%d,none\n", i & 1, i, i % 100000);
    fclose(out);
    struct sim_workload *w = workload_rig_opened(text, &nothing);
    assert_int_equal(w->n_tasks, 100000);
    assert_int_equal(w->n_rows, 200001); /* CPU 1 is idle at first; the last row has no length */
    struct sim_row row[4096];
    uint32_t expected = 0;
    for (size_t n; (n = w->cpus.read(w->cpus.self, 0, row, 4096));)
        for (size_t i = 0; i < n; i++, expected = (expected + 2) % 100000)
            assert_true(row[i].task == expected && row[i].ps == 2 * SIM_PS_PER_US);
    assert_string_equal(w->tasks[99999].name, "task99999");
    sim_workload_free(w);
    free(text);
}

/* As other programs print times: with more decimals than count, and with an exponent. */
TEST(times_are_rounded)
{
    static const struct {
        const char *text;
        int64_t ps;
    } times[] = {{"0.0000005", 1},       {"0.00000049999", 0},  {"1000.0000000000001", 1000000000},
                 {"0.9999999", 1000000}, {"1e-05", 10},         {"1.5e3", 1500000000},
                 {"2E+0", 2000000},      {"6.0000000", 6000000}};
    int64_t ps;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        assert_true(sim_value_rounded(times[i].text, 6, &ps));
        assert_int_equal(ps, times[i].ps);
    }
    assert_false(sim_value_rounded("1e13", 6, &ps)); /* more than a double tells to the picosecond */
    assert_false(sim_value_rounded("1.e", 6, &ps));
    assert_false(sim_value_decimal("6.0000000", 6, &ps));
}
