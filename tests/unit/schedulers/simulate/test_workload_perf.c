/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedulers/simulate/workload/workload_perf.c, perf_line.c: what ran where, and what was blocked until when,
 * from the text of perf script. */
#include <unistd.h>

#include "schedulers/simulate/workload.h"
#include "schedulers/simulate/workload/perf_line.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"
#include "tests/support/workload_rig.h"

#define AT_US(cpu, us, event) "  x  1 [00" #cpu "] 100.0000" #us ": sched:" event "\n"
#define SWITCH(cpu, us, prev, prev_tid, state, next, next_tid)                                                         \
    AT_US(cpu, us,                                                                                                     \
          "sched_switch: prev_comm=" prev " prev_pid=" #prev_tid " prev_prio=120 prev_state=" state                    \
          " ==> next_comm=" next " next_pid=" #next_tid " next_prio=120")
#define WAKE(cpu, us, comm, tid) AT_US(cpu, us, "sched_waking: comm=" comm " pid=" #tid " prio=120 target_cpu=000")
#define RUNTIME(us, tid, ns)                                                                                           \
    AT_US(0, us, "sched_stat_runtime: comm=any pid=" #tid " runtime=" #ns " [ns] vruntime=7 [ns]")

static const struct sim_workload_options recorded = {.recorded = 28000};
static const struct sim_workload_options with_works = {.recorded = 28000, .works = true};

/* One line, as parsed; "" in place of a name: it has none. */
static void parsed(const char *line, enum sim_perf_event event, unsigned cpu, int64_t ns, struct sim_perf_line *l)
{
    sim_perf_parse(line, strlen(line), l);
    if (l->event != event)
        fail_msg("event %d in place of %d: %s", l->event, event, line);
    assert_int_equal(l->cpu, cpu);
    assert_true(l->ns == ns);
}

static void switch_parsed(const char *line, unsigned cpu, int64_t ns, const char *prev, uint32_t prev_tid,
                          const char *next, uint32_t next_tid, bool runnable)
{
    struct sim_perf_line l;
    parsed(line, SIM_PERF_SWITCH, cpu, ns, &l);
    assert_int_equal(l.prev, prev_tid);
    assert_int_equal(l.next, next_tid);
    assert_int_equal(l.prev_comm_length, strlen(prev));
    assert_memory_equal(l.prev_comm, prev, strlen(prev));
    assert_int_equal(l.next_comm_length, strlen(next));
    assert_memory_equal(l.next_comm, next, strlen(next));
    assert_int_equal(l.runnable, runnable);
}

/* As perf 6.1 prints them on Linux 6.18, with various -F, and other versions elsewhere. */
TEST(forms_of_switches)
{
    switch_parsed("            perf  8687 [000] 73361.348914:       sched:sched_switch: prev_comm=perf prev_pid=8687 "
                  "prev_prio=120 prev_state=D ==> next_comm=migration/0 next_pid=18 next_prio=0",
                  0, 73361348914000, "perf", 8687, "migration/0", 18, false);
    switch_parsed("            perf  8687/8687  [013] 73361.348914231:          1       sched:sched_switch: "
                  "prev_comm=perf prev_pid=8687 prev_prio=-1 prev_state=R+ ==> next_comm=swapper/13 next_pid=0 "
                  "next_prio=120",
                  13, 73361348914231, "perf", 8687, "swapper/13", 0, true);
    switch_parsed(" 8687/8687  [001] 5.000001: sched_switch: prev_comm=perf prev_pid=8687 prev_prio=120 "
                  "prev_state=R ==> next_comm=x next_pid=2147483647 next_prio=-1",
                  1, 5000001000, "perf", 8687, "x", 2147483647, true);
    switch_parsed("[1234] K 5.000001: sched:sched_switch: prev_comm=perf prev_pid=8687 prev_prio=120 prev_state=0 "
                  "next_comm=x next_pid=1 next_prio=120",
                  1234, 5000001000, "perf", 8687, "x", 1, true);
    switch_parsed("[1234] d... 5.000001: sched:sched_switch: prev_comm=perf prev_pid=8687 prev_prio=120 prev_state=256 "
                  "==> next_comm=x next_pid=1 next_prio=120",
                  1234, 5000001000, "perf", 8687, "x", 1, true);
    switch_parsed("[1234] 5.000001: sched:sched_switch: prev_comm=perf prev_pid=8687 prev_prio=120 prev_state=1 ==> "
                  "next_comm=x next_pid=1 next_prio=120",
                  1234, 5000001000, "perf", 8687, "x", 1, false);
    /* libtraceevent's plugin */
    switch_parsed("         swapper     0 [000] 975758.720303:       sched:sched_switch: swapper/0:0 [120] R ==> "
                  "perf:14570 [120]",
                  0, 975758720303000, "swapper/0", 0, "perf", 14570, true);
    switch_parsed("Thread-2 (_run) 14 [001] 975758.720303: sched:sched_switch: Thread-2 (_run):14 [-1] D|W ==> "
                  "swapper/1:0 [120]",
                  1, 975758720303000, "Thread-2 (_run)", 14, "swapper/1", 0, false);
    /* the event's terms and modifiers, as some perf print them */
    switch_parsed("app1 13322 [002] 233.835807: sched:sched_switch/call-graph=no/: prev_comm=app1 prev_pid=13322 "
                  "prev_prio=120 prev_state=R ==> next_comm=x next_pid=27 next_prio=0",
                  2, 233835807000, "app1", 13322, "x", 27, true);
    switch_parsed("app1 13322 [002] 233.835807: sched:sched_switch:u: app1:13322 [120] R ==> x:27 [0]", 2, 233835807000,
                  "app1", 13322, "x", 27, true);
    /* trace-cmd report, and KernelShark; Perfetto as systrace */
    switch_parsed(
        "          <idle>-0     [000]  3171.776795: sched_switch:         swapper/0:0 [120] R ==> x265:2932 [120]", 0,
        3171776795000, "swapper/0", 0, "x265", 2932, true);
    switch_parsed("            x265-2932  [001] d..2.  3171.786798: sched_switch:         x265:2932 [120] S ==> "
                  "swapper/1:0 [120]",
                  1, 3171786798000, "x265", 2932, "swapper/1", 0, false);
    switch_parsed("    RenderThread-4321 ( 4300) [002] d..3  12.345678: sched_switch: prev_comm=RenderThread "
                  "prev_pid=4321 prev_prio=110 prev_state=S ==> next_comm=swapper/2 next_pid=0 next_prio=120",
                  2, 12345678000, "RenderThread", 4321, "swapper/2", 0, false);
}

/* A run of more than 2^32 ns. */
TEST(long_runs)
{
    struct sim_perf_line l;
    parsed("x 1 [000] 5.000001: sched:sched_stat_runtime:u: comm=x pid=1 runtime=5000000000 [ns]", SIM_PERF_RUNTIME, 0,
           5000001000, &l);
    assert_true(l.ran_ns == 5000000000u);
}

/* As traceconv json writes it (src/traceconv/trace_to_systrace.cc), and systrace in front of the events. */
TEST(json_and_html)
{
#define EVENTS(end)                                                                                                    \
    "          <idle>-0     (-----) [000] d..2   100.000010: sched_switch: prev_comm=swapper/0 prev_pid=0 "            \
    "prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120" end                                          \
    "               a-7     (    7) [000] d..2   100.000020: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 "      \
    "prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120" end                                                \
    "               b-8     (    8) [000] ....   100.000025: tracing_mark_write: x" end
    static const char *const cpus[] = {"10 a-7 none; 5 -", NULL};
    struct sim_workload *w = workload_rig_opened(
        "{\"traceEvents\":[\n{\"ph\":\"M\"}],\n \"androidProcessDump\": \"PROCESS DUMP\\nUSER\\n\",\n"
        "  \"systemTraceEvents\": \"# tracer: nop\\n#\\n" EVENTS(
            "\\n") "\\n<...>-12345 (-----) [000] ...1 0.000000: tracing_mark_write: trace_event_clock_sync: "
                   "parent_ts=0\\n\",\n"
                   "\"controllerTraceDataKey\": \"systraceController\"}\n",
        &with_works);
    workload_rig_check_cpus(w, cpus);
    assert_string_equal(w->warning, "");
    sim_workload_free(w);
    enum { VIEWER = 3 << 20, LINE = 1000 };
    static char page[VIEWER + sizeof EVENTS("\n") + 100];
    memset(page, 'x', VIEWER);
    memcpy(page, "<!DOCTYPE html>", 15);
    for (size_t i = LINE; i < VIEWER; i += LINE)
        page[i] = '\n';
    strcpy(page + VIEWER, "\n  <script class=\"trace-data\" type=\"application/text\">\n" EVENTS("\n") "  </script>\n");
    w = workload_rig_opened(page, &with_works);
    workload_rig_check_cpus(w, cpus);
    sim_workload_free(w);
#undef EVENTS
}

/* Who never runs again: its number will be another's. */
TEST(states_of_the_dead)
{
    static const struct {
        const char *name;
        bool gone;
    } states[] = {{"X", true},   {"x", true},  {"Z", true},   {"16", true},   {"32", true},
                  {"128", true}, {"S", false}, {"R", false},  {"D|W", false}, {"0", false},
                  {"1", false},  {"2", false}, {"64", false}, {"256", false}};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        struct sim_perf_line l;
        char line[200];
        snprintf(line, sizeof line,
                 "x 1 [000] 5.000001: sched:sched_switch: prev_comm=x prev_pid=1 prev_prio=120 prev_state=%s ==> "
                 "next_comm=y next_pid=2 next_prio=120",
                 states[i].name);
        parsed(line, SIM_PERF_SWITCH, 0, 5000001000, &l);
        assert_int_equal(l.gone, states[i].gone);
        snprintf(line, sizeof line, "x 1 [000] 5.000001: sched:sched_switch: x:1 [120] %s ==> y:2 [120]",
                 states[i].name);
        parsed(line, SIM_PERF_SWITCH, 0, 5000001000, &l);
        assert_int_equal(l.gone, states[i].gone);
    }
}

/* Names of at most 15 bytes that a process can give itself, to fool whoever reads this. */
TEST(hostile_names)
{
    static const char *const names[] = {
        "",          "a b c",     "x: y: z",      "==> next_comm=", "p ==> q",       "[3] 1.5: e:",   " [1] x [2]",
        "  lead",    "trail  ",   "a\tb",         "\xff\xfe",       " prev_pid=3",   " next_pid=3 x", "t\"q",
        "a:1 [120]", "a:1 [2] R", "prev_state=R", "sched_switch:",  "LOST 5 events", "[3] 1.500000:", "[3] [4] [5]",
        "a:1:[2]"};
    enum { NAMES = sizeof names / sizeof *names };
    for (int i = 0; i < NAMES; i++)
        for (int k = 0; k < NAMES; k++) {
            char line[400];
            struct sim_perf_line l;
            snprintf(line, sizeof line,
                     "%16s    71 [002]     9.500000:       sched:sched_switch: prev_comm=%s prev_pid=71 prev_prio=120 "
                     "prev_state=S ==> next_comm=%s next_pid=72 next_prio=120",
                     names[i], names[i], names[k]);
            switch_parsed(line, 2, 9500000000, names[i], 71, names[k], 72, false);
            snprintf(line, sizeof line,
                     "%16s    71 [002]     9.500000:       sched:sched_switch: %s:71 [120] S ==> %s:72 [120]", names[i],
                     names[i], names[k]);
            switch_parsed(line, 2, 9500000000, names[i], 71, names[k], 72, false);
            snprintf(line, sizeof line,
                     "%16s    71 [002]     9.500000:  sched:sched_wakeup: comm=%s pid=72 prio=120 target_cpu=001",
                     names[i], names[k]);
            parsed(line, SIM_PERF_WAKE, 2, 9500000000, &l);
            assert_int_equal(l.woken, 72);
            snprintf(line, sizeof line,
                     "%16s    71 [002]     9.500000:  sched:sched_wakeup: %s:72 [120] success=1 CPU:001", names[i],
                     names[k]);
            parsed(line, SIM_PERF_WAKE, 2, 9500000000, &l);
            assert_int_equal(l.woken, 72);
        }
}

TEST(other_lines)
{
    struct sim_perf_line l;
    static const char *const nothing[] = {
        "",
        "\tffffffffb7ad6b30 __schedule+0x8e0 ([kernel.kallsyms])",
        "nl",
        "x 1 [] 5.000001: sched:sched_stat_runtime: comm=x",
        "x 1 [8192] 5.000001: sched:sched_stat_runtime: comm=x",
        "x 1 [001] 5.00001: sched:sched_stat_runtime: comm=x",
        "x 1 [001] 5.0000001: sched:sched_stat_runtime: comm=x",
        "x 1 [001] 5.000001 sched:sched_stat_runtime: comm=x",
        "x 1 [001] 5.000001:sched:sched_stat_runtime: comm=x",
        "x 1 [001] 99999999999.000001: sched:sched_stat_runtime: comm=x",
        "LOST many events",
        "x LOST 5 tokens",
    };
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        parsed(nothing[i], SIM_PERF_NOTHING, 0, 0, &l);
    parsed("x 1/2 [001] 5.000001: sched:sched_stat_runtime: comm=x pid=1", SIM_PERF_OTHER, 1, 5000001000, &l);
    assert_int_equal(l.process, 1);
    parsed("x 2 [001] 5.000001: cycles: ", SIM_PERF_OTHER, 1, 5000001000, &l);
    assert_int_equal(l.process, 0);
    parsed("x 1 [001] 5.000001:", SIM_PERF_OTHER, 1, 5000001000, &l);
    parsed("x 1 [001] 5.000001: sched:sched_waking: comm=x", SIM_PERF_OTHER, 1, 5000001000, &l);
    parsed("x 1 [001] 5.000001: sched:sched_switch: prev_comm=x prev_pid=1", SIM_PERF_UNREADABLE, 1, 5000001000, &l);
    parsed("x 1 [001] 5.000001: sched:sched_switch: x:1 [120] S ==> y", SIM_PERF_UNREADABLE, 1, 5000001000, &l);
    parsed("x 1 [001] 5.000001: sched:sched_switch: ", SIM_PERF_UNREADABLE, 1, 5000001000, &l);
    parsed("x 1 5.000001: sched:sched_switch: x:1 [120] S ==> y:2 [120]", SIM_PERF_UNREADABLE, 0, 0, &l);
    parsed("       perf-exec  1364 [000] 73710.364936: PERF_RECORD_LOST lost 71", SIM_PERF_LOST, 0, 73710364936000, &l);
    assert_int_equal(l.lost, 71);
    parsed("CPU:3 [LOST 27 EVENTS]", SIM_PERF_LOST, 0, 0, &l);
    assert_int_equal(l.lost, 27);
    parsed("LOST 5 events!", SIM_PERF_LOST, 0, 0, &l);
    assert_int_equal(l.lost, 5);
}

/* clang-format off */
static const char two_cpus[] =
    "# cmdline : perf sched record\n"
    WAKE(0, 00, "b", 12)                         /* the first event: the recording begins */
    SWITCH(0, 10, "a", 11, "S", "swapper/0", 0)  /* a ran from the beginning, then is blocked */
    SWITCH(1, 12, "swapper/1", 0, "R", "b", 12)  /* b was woken at 0 */
    WAKE(1, 15, "a", 11)
    WAKE(1, 16, "a", 11)                         /* it is the first that counts */
    SWITCH(0, 20, "swapper/0", 0, "R", "c", 13)  /* c was there before, unseen */
    SWITCH(1, 22, "b", 12, "R+", "a", 11)        /* b is preempted */
    SWITCH(0, 30, "c", 13, "D", "b", 12)
    "x 1 [001] 100.000033: sched:sched_stat_runtime: comm=a pid=11 runtime=5 [ns]\n"
    SWITCH(1, 35, "a", 11, "S", "c", 13)         /* c ran again without being woken */
    SWITCH(0, 37, "b", 12, "X", "swapper/0", 0)
    SWITCH(0, 39, "swapper/0", 0, "R", "b", 12)  /* another thread with its number */
    "x 1 [001] 100.000040: sched:sched_stat_runtime: comm=c pid=13 runtime=5 [ns]\n";
/* clang-format on */

TEST(rows_of_cpus_and_tasks)
{
    struct sim_workload *w = workload_rig_opened(two_cpus, &with_works);
    workload_rig_check_cpus(w, (const char *const[]){"10 a-11 none; 10 -; 10 c-13 none; 7 b-12 none; 2 -; 1 b-12 none",
                                                     "12 -; 10 b-12 none; 13 a-11 none; 5 c-13 none", NULL});
    workload_rig_check_works(w,
                             (const char *const[]){"10 a-11 none; 5 -; 13 a-11 none", "17 b-12 none",
                                                   "20 -; 10 c-13 none; 5 -; 5 c-13 none", "39 -; 1 b-12 none", NULL});
    assert_string_equal(w->kind, "perf");
    assert_string_equal(w->warning, "");
    assert_int_equal(w->recorded, 28000);
    assert_int_equal(w->n_tasks, 4);
    assert_int_equal(w->n_cores, 2);
    sim_workload_free(w);
    w = workload_rig_opened(two_cpus, &(struct sim_workload_options){.recorded = 1000, .siblings = "0-1"});
    assert_int_equal(w->n_cores, 1);
    assert_null(w->works.read);
    sim_workload_free(w);
    w = workload_rig_opened(
        "# siblings: 0-2,1-3,4-5\n" SWITCH(0, 10, "a", 1, "R", "b", 2) SWITCH(0, 20, "b", 2, "R", "b", 2), &with_works);
    assert_true(w->smt && w->n_cpus == 2 && w->n_cores == 1 && w->cpu[1] == 2);
    workload_rig_check_cpus(w, (const char *const[]){"10 b-2 none", "10 -", NULL});
    assert_string_equal(w->warning,
                        "CPUs of the map that are not in the recording: 1 assumed idle, 4 omitted with their cores");
    sim_workload_free(w);
}

/* Where perf prints microseconds, a thread may run for none; what it was blocked before and after adds up. */
TEST(runs_of_no_length)
{
    /* clang-format off */
    struct sim_workload *w = workload_rig_opened(
        SWITCH(0, 10, "a", 11, "R", "b", 12)
        SWITCH(0, 15, "b", 12, "R", "swapper/0", 0)
        WAKE(0, 18, "c", 13)                        /* blocked for 8, counted from the first event */
        SWITCH(0, 20, "swapper/0", 0, "R", "c", 13)
        SWITCH(0, 20, "c", 13, "S", "swapper/0", 0)
        WAKE(0, 23, "c", 13)                        /* for 3 more */
        SWITCH(0, 25, "swapper/0", 0, "R", "c", 13)
        SWITCH(0, 25, "c", 13, "R", "swapper/0", 0) /* preempted */
        SWITCH(0, 30, "swapper/0", 0, "R", "c", 13)
        SWITCH(0, 34, "c", 13, "S", "b", 12),
        &with_works);
    /* clang-format on */
    workload_rig_check_works(w, (const char *const[]){"5 b-12 none", "11 -; 4 c-13 none", NULL});
    workload_rig_check_cpus(w, (const char *const[]){"5 b-12 none; 15 -; 4 c-13 none", NULL});
    sim_workload_free(w);
    /* back in time by more than 2^63 ps */
    w = workload_rig_opened(
        "x 1 [000] 4294967295.000000: sched:sched_stat_runtime: x\n" SWITCH(
            0, 10, "a", 11, "R", "b", 12) "x 1 [000] 4294967295.000002: sched:sched_stat_runtime: x\n",
        &recorded);
    workload_rig_check_cpus(w, (const char *const[]){"2 b-12 none", NULL});
    assert_string_equal(w->warning, "events whose times go back: 1");
    sim_workload_free(w);
}

TEST(marks)
{
    static const char text[] =
        "x 7/71 [000] 100.000000: sched:sched_switch: prev_comm=nginx prev_pid=71 prev_prio=120 prev_state=S ==> "
        "next_comm=nginx next_pid=72 next_prio=120\n"
        "x 7/72 [000] 100.000001: sched:sched_switch: prev_comm=nginx prev_pid=72 prev_prio=120 prev_state=S ==> "
        "next_comm=ngx next_pid=80 next_prio=120\n"
        "x 8/80 [000] 100.000002: sched:sched_switch: prev_comm=ngx prev_pid=80 prev_prio=120 prev_state=R ==> "
        "next_comm=nginx next_pid=71 next_prio=120\n"
        "x 7/71 [000] 100.000004: sched:sched_switch: prev_comm=nginx prev_pid=71 prev_prio=120 prev_state=R ==> "
        "next_comm=swapper next_pid=0 next_prio=120\n"
        "x 0/0 [000] 100.000005: sched:sched_switch: prev_comm=swapper prev_pid=0 prev_prio=120 prev_state=R ==> "
        "next_comm=nginx next_pid=71 next_prio=120\n"
        "x 7/71 [000] 100.000008: sched:sched_switch: prev_comm=renamed prev_pid=71 prev_prio=120 prev_state=R ==> "
        "next_comm=swapper next_pid=0 next_prio=120\n";
    struct sim_mark mark[] = {
        {"80", SIM_256LIGHT}, {"ngin?", SIM_512HEAVY}, {"80", SIM_512LIGHT}, {"no*", SIM_256HEAVY}};
    struct sim_workload_options o = {.recorded = 28000, .works = true, .marks = mark, .n_marks = 4};
    struct sim_workload *w = workload_rig_opened(text, &o);
    workload_rig_check_cpus(
        w, (const char *const[]){
               "1 nginx-72 512heavy; 1 ngx-80 256light; 2 renamed-71 512heavy; 1 -; 3 renamed-71 none", NULL});
    assert_string_equal(w->warning, "no thread that runs is marked by '80'; no thread that runs is marked by 'no*'");
    sim_workload_free(w);
    mark[0].who = "7";
    w = workload_rig_opened(text, &o);
    workload_rig_check_cpus(
        w, (const char *const[]){
               "1 nginx-72 256light; 1 ngx-80 512light; 2 renamed-71 256light; 1 -; 3 renamed-71 256light", NULL});
    assert_string_equal(w->warning, "no thread that runs is marked by 'ngin?'; no thread that runs is marked by 'no*'");
    sim_workload_free(w);
}

/* Writes a file of stamps and opens a recording with it. */
static int open_stamped(const char *stamps, const char *text, enum sim_class class, struct sim_workload **w,
                        struct machine_error *err)
{
    char path[] = "/tmp/stamps-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, stamps, strlen(stamps)), strlen(stamps));
    close(fd);
    struct sim_mark mark = {"c", SIM_256LIGHT};
    struct sim_workload_options o = with_works;
    o.stamps = path;
    o.stamps_class = class;
    o.marks = &mark;
    o.n_marks = 1;
    int status = workload_rig_open(text, &o, w, err);
    unlink(path);
    char *at = status ? strstr(err->text, path) : NULL;
    if (at) {
        memmove(at + 6, at + strlen(path), strlen(at + strlen(path)) + 1);
        memcpy(at, "STAMPS", 6);
    }
    return status;
}

TEST(stamps_split_what_ran)
{
    static const char *const forms[] = {
        /* a in two phases, one of which begins before the recording and one of which lasts while it is away; c, which
         * is marked, in two that touch, and between them in none; d never ran */
        "# from a library\ntid,begin_s,end_s,class\n11,99.5,100.000003,\n11,100.000006,100.000023,512light\n"
        "13,100.000021,100.000022,512light\n\n13,100.000022,100.000022500,512light\n14,100.000022,200,512light\n"
        "13,100.000029,100.000036,256heavy\n",
        "class,end_us,tid,begin_us\r\n,100000003,11,0\r\n512light,100000023,11,100000006\r\n"
        "512light,100000022,13,100000021\r\n512light,100000022.5,13,100000022.000\r\n256heavy,100000036,13,"
        "100000029\r\n",
        "11 99.5 100.000003 512heavy\n11 100.000006 100.000023 512light\n13\t100.000021  100.000022 512light\n"
        "13 100.000022 100.0000225 512light\n13 , 100.000029, 100.000036 ,256heavy",
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct sim_workload *w;
        struct machine_error err;
        if (open_stamped(forms[i], two_cpus, SIM_512HEAVY, &w, &err))
            fail_msg("%s", err.text);
        workload_rig_check_cpus(
            w, (const char *const[]){"3 a-11 512heavy; 3 a-11 none; 4 a-11 512light; 10 -; 1 c-13 256light; "
                                     "1.5 c-13 512light; 6.5 c-13 256light; 1 c-13 256heavy; 7 b-12 none; 2 -; "
                                     "1 b-12 none",
                                     "12 -; 10 b-12 none; 1 a-11 512light; 12 a-11 none; 1 c-13 256heavy; "
                                     "4 c-13 256light",
                                     NULL});
        workload_rig_check_works(
            w, (const char *const[]){
                   "3 a-11 512heavy; 3 a-11 none; 4 a-11 512light; 5 -; 1 a-11 512light; 12 a-11 none", "17 b-12 none",
                   "20 -; 1 c-13 256light; 1.5 c-13 512light; 6.5 c-13 256light; 1 c-13 256heavy; "
                   "5 -; 1 c-13 256heavy; 4 c-13 256light",
                   "39 -; 1 b-12 none", NULL});
        assert_string_equal(w->warning, "");
        sim_workload_free(w);
    }
    struct sim_workload *w;
    struct machine_error err;
    assert_int_equal(open_stamped("11 5 6\n", two_cpus, SIM_512HEAVY, &w, &err), MACHINE_OK);
    assert_non_null(strstr(w->warning, "no thread ran during a phase of /tmp/stamps-"));
    sim_workload_free(w);
}

TEST(malformed_stamps)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "STAMPS: contains no phases: lines of tid, begin, end"},
        {"tid,begin_s,end_s\n", "STAMPS: contains no phases: lines of tid, begin, end"},
        {"tid,begin_s\n",
         "STAMPS:1: the header must name the columns tid, begin_s, end_s (or begin_us, end_us) and may name class"},
        {"tid,begin_s,end_us\n",
         "STAMPS:1: the header must name the columns tid, begin_s, end_s (or begin_us, end_us) and may name class"},
        {"begin_s,end_s,class\n",
         "STAMPS:1: the header must name the columns tid, begin_s, end_s (or begin_us, end_us) and may name class"},
        {"tid,begin_s,end_s,tid\n", "STAMPS:1: column tid is given twice"},
        {"1\n", "STAMPS:1: 1 field; allowed: tid, begin, end and maybe class, in all lines"},
        {"1 2\n", "STAMPS:1: 2 fields; allowed: tid, begin, end and maybe class, in all lines"},
        {"1 2 3 512heavy\n1 4 5\n", "STAMPS:2: 3 fields; allowed: tid, begin, end and maybe class, in all lines"},
        {"1 2 3\n", "STAMPS:1: column class: '' is not a class; allowed: none, 256light, 256heavy, 512light, 512heavy"},
        {"1 2 3 wide\n",
         "STAMPS:1: column class: 'wide' is not a class; allowed: none, 256light, 256heavy, 512light, 512heavy"},
        {"1.5 2 3 512heavy\n", "STAMPS:1: column tid: '1.5' is not a thread; allowed: 0 to 2147483647"},
        {"1 2.0000000001 3 512heavy\n", "STAMPS:1: column begin_s: '2.0000000001' is not a time; allowed: from 0 to "
                                        "106 days after the first event, with "
                                        "at most 9 decimals"},
        {"tid begin_us end_us class\n1 2 3.0001 512heavy\n",
         "STAMPS:2: column end_us: '3.0001' is not a time; allowed: from 0 to 106 days after the first event, with at "
         "most "
         "3 decimals"},
        {"1 2 99999999 512heavy\n", "STAMPS:1: column end_s: '99999999' is not a time; allowed: from 0 to 106 days "
                                    "after the first event, with at most "
                                    "9 decimals"},
        {"1 101 102 512heavy\n2 101 102 512heavy\n1 101.999999 103 512heavy\n",
         "STAMPS:3: thread 1: the phase begins before the previous one ends"},
        {"1 103 102 512heavy\n", "STAMPS:1: thread 1: the phase ends before it begins"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim_workload *w;
        struct machine_error err;
        assert_int_equal(open_stamped(cases[i].text, two_cpus, SIM_NONE, &w, &err), MACHINE_BAD_INPUT);
        assert_string_equal(err.text, cases[i].message);
    }
    struct sim_workload_options o = recorded;
    o.stamps = "/tmp";
    workload_rig_refused(two_cpus, &o, "cannot read /tmp: it is a directory");
}

TEST(what_a_recording_lacks)
{
    struct sim_workload *w = workload_rig_opened(
        SWITCH(0, 10, "a", 11, "S", "b", 12)        /* 0 */
        SWITCH(0, 20, "c", 13, "S", "swapper/0", 0) /* b was to run: c did, says who leaves */
        "x 1 [000] 100.000021: PERF_RECORD_LOST lost 5\n"
        "LOST 2 events\n" SWITCH(
            0, 30, "swapper/0", 0, "S", "nl",
            14) "x 1 [000] 100.000031: sched:sched_switch: prev_comm=nl\n"
                "yes prev_pid=14 prev_prio=120 prev_state=S ==> next_comm=a next_pid=11 next_prio=120\n" SWITCH(
                    0, 25, "nl", 14, "R", "a", 11) SWITCH(1, 29, "d", 15, "S", "swapper/1", 0)
                    SWITCH(0, 40, "a", 11, "S", "swapper/0", 0),
        &with_works);
    workload_rig_check_cpus(w, (const char *const[]){"10 c-13 none; 10 -; 10 a-11 none", "20 d-15 none; 10 -", NULL});
    workload_rig_check_works(w, (const char *const[]){"10 c-13 none", "20 d-15 none", "20 -; 10 a-11 none", NULL});
    assert_string_equal(w->warning,
                        "lost events: 7; switches from threads that were not switched to before: 1; events whose times "
                        "go back: 2; lines of sched_switch that cannot be read: 1, the first in line 6");
    sim_workload_free(w);
}

/* As kernels of virtual machines record it: no switch leaves the idle task. Its time is nobody's. */
TEST(switches_from_idle_are_missing)
{
    /* clang-format off */
    struct sim_workload *w = workload_rig_opened(
        SWITCH(0, 10, "a", 11, "S", "swapper/0", 0)
        RUNTIME(18, 12, 1500)                          /* while it ran before: counts up to when it leaves */
        RUNTIME(19, 12, 2500)
        SWITCH(0, 20, "b", 12, "S", "swapper/0", 0) /* ran for 4, says the kernel */
        WAKE(0, 27, "c", 13)
        SWITCH(0, 30, "c", 13, "S", "swapper/0", 0) /* for 3, since it was woken */
        SWITCH(0, 40, "d", 14, "S", "swapper/0", 0) /* nobody knows */
        RUNTIME(49, 12, 90000)
        SWITCH(0, 50, "b", 12, "S", "e", 15)        /* no longer than the CPU was idle */
        RUNTIME(59, 11, 2000)
        SWITCH(0, 60, "a", 11, "S", "swapper/0", 0), /* and e ran for the 8 before */
        &with_works);
    /* clang-format on */
    workload_rig_check_cpus(
        w, (const char *const[]){"6 -; 4 b-12 none; 7 -; 3 c-13 none; 10 -; 10 b-12 none; 8 e-15 none; 2 a-11 none",
                                 NULL});
    assert_string_equal(w->warning,
                        "switches from threads that were not switched to before: 1; switches from idle that were not "
                        "recorded: 4, inferred from runtime or wake-up (1 have neither: assumed not to have run)");
    sim_workload_free(w);
}

/* A line that cannot be true costs no more where it is the first one. */
TEST(wrong_times)
{
    static const char rest[] = SWITCH(0, 10, "b", 2, "R", "a", 1) SWITCH(0, 20, "a", 1, "S", "b", 2)
        SWITCH(0, 25, "b", 2, "S", "swapper/0", 0);
    static const struct {
        const char *first;
        unsigned leaps;
    } cases[] = {
        {"x 1 [000] 100.1: sched:sched_waking: comm=a pid=1 prio=120 target_cpu=000\n", 0},
        {"# x\n\nx 1 [000] 100,000001: sched:sched_stat_runtime: comm=a pid=1 runtime=5 [ns]\nWARNING: lost\n", 0},
        {"x 1 [000] 9300100.000001: sched:sched_waking: comm=c pid=7 prio=120 target_cpu=000\n", 1},
        {"x 1 [000] 9300100.000001: a:b: c\nx 1 [000] 9300100.000001: a:b: c\n", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2000], warning[100] = "";
        snprintf(text, sizeof text, "%s%s", cases[i].first, rest);
        if (cases[i].leaps)
            snprintf(warning, sizeof warning, "events whose times are more than 106 days from the others: %u",
                     cases[i].leaps);
        struct sim_workload *w = workload_rig_opened(text, &with_works);
        workload_rig_check_cpus(w, (const char *const[]){"10 a-1 none; 5 b-2 none", NULL});
        assert_string_equal(w->warning, warning);
        sim_workload_free(w);
        snprintf(text, sizeof text,
                 SWITCH(0, 10, "b", 2, "R", "a", 1) "%s" SWITCH(0, 20, "a", 1, "S", "b", 2)
                     SWITCH(0, 25, "b", 2, "S", "swapper/0", 0),
                 cases[i].leaps > 1 ? cases[2].first : cases[i].first);
        w = workload_rig_opened(text, &with_works);
        workload_rig_check_cpus(w, (const char *const[]){"10 a-1 none; 5 b-2 none", NULL});
        assert_int_equal(strlen(w->warning) > 0, cases[i].leaps > 0);
        sim_workload_free(w);
    }
    struct sim_workload *w;
    struct machine_error err;
    char text[2000];
    snprintf(text, sizeof text, "%s%s", cases[2].first, rest);
    assert_int_equal(open_stamped("1 100.000012 100.000014 512heavy\n", text, SIM_NONE, &w, &err), MACHINE_OK);
    workload_rig_check_cpus(w, (const char *const[]){"2 a-1 none; 2 a-1 512heavy; 6 a-1 none; 5 b-2 none", NULL});
    sim_workload_free(w);
    static const char late[] = "a 1 [000] 0.000000: a:b: c\n"
                               "b 2 [000] 9300100.000010: sched:sched_switch: b:2 [120] S ==> a:1 [120]\n"
                               "a 1 [000] 9300100.000020: sched:sched_switch: a:1 [120] S ==> b:2 [120]\n";
    assert_int_equal(open_stamped("1 9300100.000012 9300100.000014 512heavy\n", late, SIM_NONE, &w, &err), MACHINE_OK);
    workload_rig_check_cpus(w, (const char *const[]){"2 a-1 none; 2 a-1 512heavy; 6 a-1 none", NULL});
    assert_string_equal(
        w->warning,
        "events whose times are more than 106 days from the others: 1; no thread that runs is marked by 'c'");
    sim_workload_free(w);
}

TEST(malformed_recordings)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"x 1 [000] 100.000021: cycles:\n",
         "FILE: contains no event sched:sched_switch: record it with perf sched record"},
        {"[{\"ph\":\"X\",\"name\":\"task,time_us\"}]\n",
         "FILE: contains no event sched:sched_switch: record it with perf sched record; of JSON, the text "
         "systemTraceEvents is read (traceconv json)"},
        {"{\"systemTraceEvents\": \"" SWITCH(0, 10, "a", 1, "S", "b", 2) "\\n",
         "FILE: is cut off: its JSON has no end; copy it again"},
        {"x 1 [000] 100.000021: sched:sched_switch: \n",
         "FILE:1: sched_switch without the threads' numbers (field trace): print it with perf script -F "
         "comm,tid,cpu,time,event,trace"},
        {"#\nx 1 100.000021: sched:sched_switch: a:1 [120] S ==> b:2 [120]\n",
         "FILE:2: sched_switch without the CPU or the time (fields cpu, time; ftrace: not in the latency format): "
         "print it "
         "with perf script -F comm,tid,cpu,time,event,trace"},
        {SWITCH(0, 10, "swapper", 0, "R", "swapper", 0) SWITCH(0, 20, "swapper", 0, "R", "a", 1),
         "FILE: contains no work: all CPUs are idle all the time"},
        {SWITCH(0, 10, "a", 1, "R", "swapper", 0), "FILE: contains no work: all CPUs are idle all the time"},
        {SWITCH(0, 10, "a", 1, "R", "b", 2) "x 1 [001] 9200100.000021: sched:sched_stat_runtime: x\n",
         "FILE: contains no work: all CPUs are idle all the time"},
        {SWITCH(0, 10, "a", 1, "R", "b", 2)
             SWITCH(0, 20, "b", 2, "R", "a", 1) "x 1 [001] 9200100.000021: sched:sched_stat_runtime: x\n"
                                                "x 1 [001] 9200100.000022: sched:sched_stat_runtime: x\n",
         "FILE:4: the time is more than 106 days after that of the first event"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        workload_rig_refused(cases[i].text, &recorded, cases[i].message);
    static const struct sim_workload_options nothing = {0};
    workload_rig_refused(two_cpus, &nothing,
                         "FILE: does not say at which frequency it was recorded: put '# recorded_ghz: GHZ' before the "
                         "rows, or --recorded-ghz GHZ");
}

enum { RANDOM_CPUS = 3, RANDOM_THREADS = 7 };

/* The times of a random schedule's threads, in us. */
struct schedule {
    int64_t now, since[RANDOM_CPUS], ran[RANDOM_THREADS], blocked[RANDOM_THREADS];
    int64_t asleep[RANDOM_THREADS];  /* since then; -1: it is not */
    int64_t pending[RANDOM_THREADS]; /* blocked time that counts once it runs again */
    int on[RANDOM_CPUS];             /* -1: idle */
};

static void wakes(struct schedule *s, int thread)
{
    if (s->asleep[thread] >= 0)
        s->pending[thread] += s->now - s->asleep[thread];
    s->asleep[thread] = -1;
}

static void has_run(struct schedule *s, int cpu)
{
    int thread = s->on[cpu];
    if (thread >= 0 && s->now > s->since[cpu]) {
        s->ran[thread] += s->now - s->since[cpu];
        s->blocked[thread] += s->pending[thread];
        s->pending[thread] = 0;
    }
    s->since[cpu] = s->now;
}

/* Threads are put on random CPUs, block, are preempted and woken. */
static void draw_schedule(struct rng *r, struct schedule *s, FILE *out)
{
    *s = (struct schedule){.on = {-1, -1, -1}};
    fputs("x 1 [000] 50.000000: sched:sched_stat_runtime: x\n", out);
    for (int i = 0; i < 300; i++) {
        int cpu = rng_int(r, 0, RANDOM_CPUS - 1), next = rng_int(r, -1, RANDOM_THREADS - 1), prev = s->on[cpu];
        s->now += rng_int(r, 1, 2000);
        for (int c = 0; c < RANDOM_CPUS; c++)
            next = s->on[c] == next ? -1 : next;
        if (next >= 0 && s->asleep[next] >= 0 && rng_chance(r, 0.7)) { /* else it is seen when it runs */
            fprintf(out, "x 1 [%03d] 50.%06d: sched:sched_waking: comm=t pid=%d prio=1 target_cpu=000\n", cpu,
                    (int)s->now, next + 1);
            wakes(s, next);
            s->now += rng_int(r, 0, 50);
        }
        bool blocks = prev >= 0 && rng_chance(r, 0.5);
        fprintf(out,
                "x 1 [%03d] 50.%06d: sched:sched_switch: prev_comm=t prev_pid=%d prev_prio=1 prev_state=%s ==> "
                "next_comm=t next_pid=%d next_prio=1\n",
                cpu, (int)s->now, prev + 1, blocks ? "S" : "R", next + 1);
        has_run(s, cpu);
        if (blocks)
            s->asleep[prev] = s->now;
        if (next >= 0)
            wakes(s, next);
        s->on[cpu] = next;
    }
    for (int c = 0; c < RANDOM_CPUS; c++)
        has_run(s, c);
}

/* Adds up a stream by task, idle time as the last. */
static int64_t add_up(const struct sim_source *s, unsigned stream, int64_t sum[RANDOM_THREADS + 1])
{
    struct sim_row row[50];
    int64_t all = 0;
    for (size_t n; (n = s->read(s->self, stream, row, 50));)
        for (size_t i = 0; i < n; i++) {
            all += row[i].ps;
            sum[row[i].task == SIM_IDLE ? RANDOM_THREADS : row[i].task] += row[i].ps;
        }
    return all;
}

TEST(random_schedules)
{
    unsigned rounds = rng_rounds(60);
    for (unsigned round = 0; round < rounds; round++) {
        struct rng r;
        struct schedule s;
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        rng_init(&r, round + 1, 7);
        draw_schedule(&r, &s, out);
        fclose(out);
        struct sim_workload *w = workload_rig_opened(text, &with_works);
        assert_string_equal(w->warning, "");
        int64_t of_cpus[RANDOM_THREADS + 1] = {0};
        for (unsigned c = 0; c < w->n_cpus; c++)
            assert_true(add_up(&w->cpus, c, of_cpus) == s.now * SIM_PS_PER_US);
        for (unsigned t = 0; t < w->n_tasks; t++) {
            int64_t of_works[RANDOM_THREADS + 1] = {0};
            int thread = atoi(strchr(w->tasks[t].name, '-') + 1) - 1;
            add_up(&w->works, t, of_works);
            assert_true(of_cpus[t] == s.ran[thread] * SIM_PS_PER_US);
            assert_true(of_works[t] == s.ran[thread] * SIM_PS_PER_US);
            assert_true(of_works[RANDOM_THREADS] == s.blocked[thread] * SIM_PS_PER_US);
        }
        sim_workload_free(w);
        free(text);
    }
}
