/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small report of simulations, made by hand: its JSON and its text to the character, its pictures and its page. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "output/plot/chart_script.h"
#include "output/plot/plot.h"
#include "output/plot/plot_colours.h"
#include "schedulers/simulate/output/simulation.h"
#include "schedulers/simulate/output/simulation_parts.h"
#include "tests/support/text_part.h"

enum { LEVELS = 2 };

static const int64_t us = SIM_PS_PER_US;

/* A task's time at level 0 and 1; it lost what its ideal time lacks. */
static struct sim_times times_of(int64_t fast_us, int64_t slow_us, double ideal_us, bool remote)
{
    struct sim_times t = {.level_ps = {fast_us * us, slow_us * us},
                          .throttled_ps = slow_us * us / 100,
                          .halted_ps = slow_us * us / 50,
                          .ideal_ps = ideal_us * (double)us,
                          .end_ps = (fast_us + slow_us) * us};
    if (remote) {
        t.remote_ps = (fast_us + slow_us) * us;
        t.remote_ideal_ps = t.ideal_ps;
        t.remote_smt_ps = t.ideal_ps / 100;
    }
    return t;
}

/* Task 0 is wide and runs 500 us of ideal time, task 1 is not and runs 1000; task 2 does nothing. */
static void add_run(struct sim_report *r, const char *policy, const char *scheduler, int64_t wide_us, int64_t plain_us)
{
    struct sim_result run = {.policy = policy, .scheduler = scheduler, .n_tasks = 3, .n_cores = 1, .transitions = 10};
    run.tasks = calloc(run.n_tasks, sizeof *run.tasks);
    assert_non_null(run.tasks);
    run.tasks[0] = times_of(0, wide_us, 500, false);
    run.tasks[1] = times_of(800, plain_us - 800, 1000, true);
    for (size_t i = 0; i < run.n_tasks; i++)
        sim_times_add(&run.all, &run.tasks[i]);
    if (strcmp(scheduler, "recorded") != 0) {
        run.switches = 7;
        run.migrations = 3;
        run.forced_idle_ps = run.all.end_ps / 8; /* of one CPU */
        run.mean_ghz = 2.5;
        run.slowdown = plain_us / 1000.0 - 1;
        run.cpu_slowdown = run.slowdown / 2;
        run.unfairness = NAN;
    }
    sim_report_add(r, &run);
}

static void begin(struct sim_report *r, unsigned runs, const char *const names[3])
{
    *r = (struct sim_report){.head = {.kind = "csv",
                                      .params = "export.json",
                                      .cpu = "A <processor>",
                                      .source = "modelled, not measured: by hand",
                                      .version = "1.2.3",
                                      .modelled = true,
                                      .levels = LEVELS,
                                      .cores = 1,
                                      .cpus = 1,
                                      .recorded_ghz = 2.8,
                                      .seed = 5,
                                      .runs = runs}};
    r->head.workload = strdup("tiny");
    r->head.tasks = calloc(4, sizeof *r->head.tasks);
    assert_true(r->head.workload && r->head.tasks);
    for (; r->head.n_tasks < 3; r->head.n_tasks++)
        assert_non_null(r->head.tasks[r->head.n_tasks] = strdup(names[r->head.n_tasks]));
}

static const char *const plain_names[3] = {"wide", "plain", "none"};
static const struct sim_bound bound = {"wait from level 1 to 0", 600, 500, INFINITY, "us", "not measured"};

/* Two policies, one run each. */
static void begin_single(struct sim_report *r)
{
    begin(r, 1, plain_names);
    add_run(r, "stock", "recorded", 550, 1100);
    add_run(r, "oracle", "recorded", 550, 1005);
    r->bounds = &bound;
    r->n_bounds = 1;
    sim_report_refuse(r, "software", "recorded", "policy software needs the column ipc");
    sim_report_warn(r, "%d rows were left out", 2);
}

static char *text_of(const struct sim_report *r)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    sim_report_print(out, false, r);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* ---- JSON ---- */

static void json_is_exact(void **state)
{
    (void)state;
    static const char expected[] =
        "{\n"
        "  \"format\": \"characterize-simulation/1\",\n"
        "  \"version\": \"1.2.3\",\n"
        "  \"workload\": \"tiny\",\n"
        "  \"kind\": \"csv\",\n"
        "  \"params\": \"export.json\",\n"
        "  \"cpu\": \"A <processor>\",\n"
        "  \"source\": \"modelled, not measured: by hand\",\n"
        "  \"modelled\": true,\n"
        "  \"smt\": false,\n"
        "  \"cores\": 1,\n"
        "  \"cpus\": 1,\n"
        "  \"recorded_ghz\": 2.8,\n"
        "  \"active_cores\": null,\n"
        "  \"seed\": 5,\n"
        "  \"runs\": 1,\n"
        "  \"warnings\": [\"2 rows were left out\"],\n"
        "  \"bounds\": [\n"
        "    {\"what\": \"wait from level 1 to 0\", \"value\": 600.0, \"lo\": 500.0, \"hi\": null, \"unit\": \"us\", "
        "\"why\": \"not measured\"}\n"
        "  ],\n"
        "  \"refused\": [\n"
        "    {\"policy\": \"software\", \"scheduler\": \"recorded\", \"why\": \"policy software needs the column "
        "ipc\"}\n"
        "  ],\n"
        "  \"results\": [\n"
        "    {\"policy\": \"stock\", \"scheduler\": \"recorded\", \"overhead\": 0.1, \"overhead_lo\": null, "
        "\"overhead_hi\": null, \"remote_overhead\": 0.1, \"remote_overhead_lo\": null, \"remote_overhead_hi\": null, "
        "\"remote_delay\": 0.09, \"remote_delay_lo\": null, \"remote_delay_hi\": null, \"remote_smt\": 0.01, "
        "\"remote_smt_lo\": null, \"remote_smt_hi\": null, \"time_us\": 1650.0, \"ideal_us\": 1500.0, \"end_us\": "
        "1100.0, \"throttled_us\": 8.5, \"halted_us\": 17.0, \"transitions\": 10, "
        "\"slowdown\": null, "
        "\"slowdown_lo\": null, "
        "\"slowdown_hi\": null, "
        "\"cpu_slowdown\": null, "
        "\"cpu_slowdown_lo\": null, "
        "\"cpu_slowdown_hi\": null, "
        "\"unfairness\": null, "
        "\"unfairness_lo\": null, "
        "\"unfairness_hi\": null, "
        "\"mean_ghz\": null, "
        "\"switches\": null, "
        "\"migrations\": null, "
        "\"core_changes\": null, "
        "\"forced_idle_us\": null, "
        "\"level_us\": [800.0, 850.0], \"tasks\": [{\"task\": \"wide\", \"overhead\": 0.1, \"remote_overhead\": "
        "null, \"time_us\": 550.0, \"ideal_us\": 500.0, \"end_us\": 550.0, \"throttled_us\": 5.5, \"halted_us\": 11.0, "
        "\"level_us\": [0.0, 550.0]}, {\"task\": \"plain\", \"overhead\": 0.1, \"remote_overhead\": 0.1, \"time_us\": "
        "1100.0, \"ideal_us\": 1000.0, \"end_us\": 1100.0, \"throttled_us\": 3.0, \"halted_us\": 6.0, \"level_us\": "
        "[800.0, 300.0]}, {\"task\": \"none\", \"overhead\": null, \"remote_overhead\": null, \"time_us\": 0.0, "
        "\"ideal_us\": 0.0, \"end_us\": 0.0, \"throttled_us\": 0.0, \"halted_us\": 0.0, \"level_us\": [0.0, 0.0]}]}\n"
        "  ],\n"
        "  \"curve\": [],\n"
        "  \"what_if\": []\n"
        "}\n";
    struct sim_report r;
    begin(&r, 1, plain_names);
    add_run(&r, "stock", "recorded", 550, 1100);
    r.bounds = &bound;
    r.n_bounds = 1;
    sim_report_refuse(&r, "software", "recorded", "policy software needs the column ipc");
    sim_report_warn(&r, "%d rows were left out", 2);
    char *text = sim_report_json(&r);
    assert_non_null(text);
    /* 0.1 of 1.65 / 1.5 - 1 has its last digits from the subtraction: numbers are compared as such */
    json_t *got = json_loads(text, 0, NULL), *want = json_loads(expected, 0, NULL);
    assert_true(got && want);
    char *rounded[2];
    json_t *both[2] = {got, want};
    for (int i = 0; i < 2; i++)
        rounded[i] = json_dumps(both[i], JSON_REAL_PRECISION(12));
    assert_string_equal(rounded[0], rounded[1]);
    /* ... and the lines are those of our files */
    char *rest = text, *line;
    const char *at = expected;
    while ((line = strsep(&rest, "\n")) != NULL) {
        size_t length = strcspn(at, "\n");
        if (strncmp(at, "    {\"policy\": \"stock\"", 22) != 0)
            assert_true(strlen(line) == length && strncmp(line, at, length) == 0);
        at += length + (at[length] != '\0');
    }
    for (int i = 0; i < 2; i++) {
        free(rounded[i]);
        json_decref(both[i]);
    }
    free(text);
    sim_report_free(&r);
}

static double number(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);
    assert_non_null(value);
    return json_is_null(value) ? NAN : json_number_value(value);
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) < 1e-9))
        fail_msg("%.12g, not %.12g", value, expected);
}

static json_t *json_of(const struct sim_report *r)
{
    char *text = sim_report_json(r);
    assert_non_null(text);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    free(text);
    return root;
}

/* Student's t at 97.5 %: 12.7062 with one degree of freedom, 4.30265 with two. */
static void limits_are_students_over_seeds(void **state)
{
    (void)state;
    static const struct {
        unsigned runs;
        double mean, half;
    } cases[] = {{2, 0.15, 12.706204736 * 0.0707106781187 / 1.41421356237},
                 {3, 0.2, 4.30265272991 * 0.1 / 1.73205080757}};
    for (size_t i = 0; i < 2; i++) {
        struct sim_report r;
        begin(&r, cases[i].runs, plain_names);
        for (unsigned run = 0; run < cases[i].runs; run++) /* 10, 20 and 30 % of all work */
            add_run(&r, "stock", "recorded", 550, 1100 + 150 * run);
        assert_int_equal(r.n_results, 1);
        json_t *root = json_of(&r), *o = json_array_get(json_object_get(root, "results"), 0);
        near(number(o, "overhead"), cases[i].mean);
        near(number(o, "overhead_lo"), cases[i].mean - cases[i].half);
        near(number(o, "overhead_hi"), cases[i].mean + cases[i].half);
        near(number(o, "time_us"), 1650 + 75 * (cases[i].runs - 1)); /* the mean over seeds as well */
        const json_t *task = json_array_get(json_object_get(o, "tasks"), 1);
        near(number(task, "time_us"), 1100 + 75 * (cases[i].runs - 1));
        near(json_number_value(json_array_get(json_object_get(task, "level_us"), 1)), 300 + 75 * (cases[i].runs - 1));
        assert_true(json_is_integer(json_object_get(o, "transitions")));
        json_decref(root);
        sim_report_free(&r);
    }
}

/* Run by run: what both share in each run does not widen the limits of their difference. */
static void differences_are_paired(void **state)
{
    (void)state;
    struct sim_report r;
    begin(&r, 3, plain_names);
    for (unsigned run = 0; run < 3; run++) {
        add_run(&r, "stock", "recorded", 550, 1100 + 150 * run);
        add_run(&r, "learned", "recorded", 550, 1085 + 150 * run);
    }
    struct estimate e = sim_figure_difference(sim_figure_result(&r, "stock", "recorded"),
                                              sim_figure_result(&r, "learned", "recorded"), SIM_OVERHEAD);
    near(e.value, 0.01);
    near(e.lo, 0.01);
    near(e.hi, 0.01);
    char *text = text_of(&r);
    has(text, "Learned costs least, 19.00 %: 1.00 points [1.00, 1.00] less than stock (20.00 %).\n");
    free(text);
    sim_report_free(&r);
    begin(&r, 2, plain_names);
    add_run(&r, "stock", "recorded", 550, 1100);
    add_run(&r, "stock", "recorded", 550, 1100);
    add_run(&r, "timeout", "recorded", 550, 1040);
    add_run(&r, "timeout", "recorded", 550, 1100);
    text = text_of(&r);
    has(text, " less than stock (10.00 %), which may be\n  chance in 2 runs.\n");
    free(text);
    sim_report_free(&r);
}

static void what_studies_found_is_in_json(void **state)
{
    (void)state;
    struct sim_report r;
    begin_single(&r);
    r.curve = (struct sim_curve){
        .n = 2, .point = {{10, 0.05, 0.04}, {5000, 0.5, NAN}}, .breakeven = {90, 0.1, 0.02}, .stock = {NAN, 0, 0}};
    r.what_if = (struct sim_what_if){
        .now = {NULL, 0, 0.1, 0.09}, .n = 2, .row = {{"wait", 0.5, 0.06, 0.08}, {"cost of a change", 0, 0.12, NAN}}};
    json_t *root = json_of(&r), *curve = json_object_get(root, "curve"), *what_if = json_object_get(root, "what_if");
    assert_int_equal(json_array_size(curve), 3);
    near(number(json_array_get(curve, 1), "timeout_us"), 5000);
    assert_true(isnan(number(json_array_get(curve, 1), "remote_overhead")));
    assert_true(json_is_null(json_object_get(json_array_get(curve, 1), "is")));
    assert_string_equal(json_string_value(json_object_get(json_array_get(curve, 2), "is")), "break-even");
    assert_int_equal(json_array_size(what_if), 2);
    near(number(json_array_get(what_if, 0), "change"), -0.04);
    near(number(json_array_get(what_if, 0), "remote_change"), -0.01);
    assert_true(isnan(number(json_array_get(what_if, 1), "remote_change")));
    json_decref(root);
    char *text = text_of(&r);
    has(text, "\nIf the processor were another one, policy stock\n"
              "parameter         times  overhead %  points  remote %  points\n"
              "as it is              -       10.00       -      9.00       -\n"
              "wait               0.50        6.00   -4.00      8.00   -1.00\n"
              "cost of a change   0.00       12.00    2.00         -       -\n"
              "What would help most: wait times 0.5, overhead 6.00 % instead of 10.00 %, 4.00 points less.\n");
    free(text);
    sim_report_free(&r);
}

/* ---- text ---- */

static void text_is_exact(void **state)
{
    (void)state;
    struct sim_report r;
    begin_single(&r);
    char *text = text_of(&r);
    assert_string_equal(text, "Simulation of tiny (csv)\n"
                              "A <processor>, as export.json says\n"
                              "MODELLED, not measured: by hand\n"
                              "1 core, 1 CPU, active cores counted, recorded at 2.8 GHz, seed 5\n"
                              "\n"
                              "Overhead, %\n"
                              "policy  all work  remote: not wide  by delay  by SMT\n"
                              "stock      10.00             10.00      9.00    1.00\n"
                              "oracle      3.67              0.50     -0.50    1.00\n"
                              "\n"
                              "CPU time at each level and throttled or halted (slowed), %\n"
                              "policy  level 0  level 1  slowed  changes/s\n"
                              "stock      48.5     51.5    1.55       9091\n"
                              "oracle     51.4     48.6    1.46       9950\n"
                              "\n"
                              "Tasks that lost most under stock, and their overhead % by policy\n"
                              "task   time ms  lost us  stock  oracle\n"
                              "plain    1.100  100.000  10.00    0.50\n"
                              "wide     0.550   50.000  10.00   10.00\n"
                              "\n"
                              "Not in the export as it is needed, and bounded\n"
                              "  wait from level 1 to 0: 600 us, between 500 and inf: not measured\n"
                              "\n"
                              "Not simulated\n"
                              "  software, scheduler recorded: policy software needs the column ipc\n"
                              "\n"
                              "Note: 2 rows were left out\n"
                              "Above the oracle (3.67 %), which knows the rows to come: stock by 6.33 points.\n"
                              "Work that is not wide loses: stock 10.00 %, oracle 0.50 %.\n");
    free(text);
    sim_report_free(&r);
}

static void text_tells_schedulers_apart(void **state)
{
    (void)state;
    struct sim_report r;
    begin(&r, 1, plain_names);
    add_run(&r, "stock", "fair", 550, 1100);
    add_run(&r, "timeout", "fair", 550, 1050);
    add_run(&r, "oracle", "fair", 550, 1020);
    add_run(&r, "stock", "core", 550, 1070);
    add_run(&r, "learned", "core", 550, 1005);
    add_run(&r, "oracle", "core", 550, 1000);
    char *text = text_of(&r);
    has(text, "\nOverhead and forced idle time, %, and when the last work ends\n"
              "policy   scheduler  all work  end ms   idle  remote: not wide  by delay  by SMT\n"
              "stock    fair          10.00   1.100  12.50             10.00      9.00    1.00\n");
    has(text, "\nTasks that run no wide code, and what the scheduler did\n"
              "policy   scheduler  slowdown %  of CPU time %  mean GHz  switches  migrations  wide cores changed\n"
              "stock    fair            10.00           5.00     2.500         7           3                   0\n");
    has(text, "Policy stock, wide code lets tasks that run none end later by: fair 10.00 %, core 7.00 %.\n");
    has(text, "Policy stock, the last work ends: core first, after 1.070 ms, fair 2.80 % later. Overhead does not\n"
              "  count idle time.\n");
    has(text, "Scheduler fair: timeout costs least, 6.67 %: 3.33 points less than stock (10.00 %).\n"
              "Above the oracle (4.67 %), which knows the rows to come: timeout by 2.00 points, stock by 5.33\n"
              "  points.\n");
    has(text, "Scheduler core: learned costs least, 3.67 %: 4.33 points less than stock (8.00 %).\n"
              "Above the oracle (3.33 %), which knows the rows to come: learned by 0.33 points, stock by 4.67\n"
              "  points.\n");
    free(text);
    json_t *root = json_of(&r);
    const json_t *first = json_array_get(json_object_get(root, "results"), 0);
    near(number(first, "migrations"), 3);
    near(number(first, "slowdown"), 0.1);
    near(number(first, "forced_idle_us"), 137.5);
    assert_true(isnan(number(first, "unfairness")));
    json_decref(root);
    sim_report_free(&r);
}

static void text_is_at_most_100_columns_wide(void **state)
{
    static const char *const names[3] = {
        "a task whose name is much longer than anyone would care to read in a table of figures", "plain", "none"};
    (void)state;
    struct sim_report r;
    begin(&r, 2, names);
    for (int run = 0; run < 2; run++)
        for (int scheduler = 1; scheduler < SIM_SCHEDULERS; scheduler++)
            for (int policy = 0; policy < SIM_POLICIES; policy++)
                add_run(&r, sim_policy_names[policy], sim_scheduler_names[scheduler], 550 + 1000 * run,
                        1000000 + policy);
    sim_report_warn(&r, "%s",
                    "a warning that is longer than a line of the screen, and that goes on and on, over more "
                    "than one line, until it ends");
    char *text = text_of(&r);
    const char *line = text;
    while (*line) {
        size_t length = strcspn(line, "\n");
        if (length > 100)
            fail_msg("%zu columns: %.*s", length, (int)length, line);
        line += length + (line[length] == '\n');
    }
    free(text);
    sim_report_free(&r);
}

/* Of runs without a scheduler. */
static char *findings_of(size_t n, const char *const policies[], const int64_t plain_us[])
{
    struct sim_report r;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    begin(&r, 1, plain_names);
    for (size_t i = 0; i < n; i++)
        add_run(&r, policies[i], "recorded", plain_us[i] > 1000 ? 550 : 500, plain_us[i]);
    sim_conclude(&r, out);
    assert_int_equal(fclose(out), 0);
    sim_report_free(&r);
    return text;
}

/* Nothing is said against what was not simulated; what is equal is named; the oracle and software stand apart. */
static void findings_follow(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        const char *policy[5];
        int64_t plain_us[5];
        const char *findings;
    } cases[] = {
        {1, {"stock"}, {1100}, "All work loses 10.00 % under stock, work that is not wide 10.00 %.\n"},
        {1, {"oracle"}, {1100}, "All work loses 10.00 % under oracle, work that is not wide 10.00 %.\n"},
        {1, {"stock"}, {1000}, "This workload loses nothing.\n"},
        {3, {"never", "stock", "oracle"}, {1000, 1000, 1000}, "This workload loses nothing, whatever the policy.\n"},
        {3,
         {"never", "timeout", "learned"},
         {1250, 1100, 1100},
         "Timeout and learned cost least, 10.00 %.\n"
         "Work that is not wide loses: never 25.00 %, timeout 10.00 %, learned 10.00 %.\n"},
        {4,
         {"stock", "timeout", "never", "learned"},
         {1250, 1100, 1100, 1100},
         "Timeout, never and learned cost least, 10.00 %: 10.00 points less than stock (20.00 %).\n"
         "Work that is not wide loses: stock 25.00 %, timeout 10.00 %, never 10.00 %, learned 10.00 %.\n"},
        {2,
         {"stock", "never"},
         {1100, 1250},
         "Stock costs least, 10.00 %.\n"
         "Work that is not wide loses: stock 10.00 %, never 25.00 %.\n"},
        {2,
         {"stock", "timeout"},
         {1100, 1100},
         "Stock and timeout cost the same, 10.00 %.\n"
         "Work that is not wide loses: stock 10.00 %, timeout 10.00 %.\n"},
        {4,
         {"stock", "oracle", "software", "timeout"},
         {1250, 1085, 1025, 1100},
         "Timeout costs least, 10.00 %: 10.00 points less than stock (20.00 %).\n"
         "Above the oracle (9.00 %), which knows the rows to come: timeout by 1.00 points, stock by 11.00 points.\n"
         "Software, 5.00 %, changes which level code demands, so it is no like-for-like comparison, and the oracle is "
         "no bound for it.\n"
         "Work that is not wide loses: stock 25.00 %, oracle 8.50 %, software 2.50 %, timeout 10.00 %.\n"},
        {3,
         {"timeout", "software", "learned"},
         {1100, 1025, 1085},
         "Learned costs least, 9.00 %.\n"
         "Software, 5.00 %, changes which level code demands, so it is no like-for-like comparison.\n"
         "Work that is not wide loses: timeout 10.00 %, software 2.50 %, learned 8.50 %.\n"},
        {2,
         {"software", "oracle"},
         {1025, 1085},
         "Software, 5.00 %, changes which level code demands, so it is no like-for-like comparison, and the oracle is "
         "no bound for it.\n"
         "Work that is not wide loses: software 2.50 %, oracle 8.50 %.\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = findings_of(cases[i].n, cases[i].policy, cases[i].plain_us);
        assert_string_equal(text, cases[i].findings);
        free(text);
    }
}

/* ---- pictures ---- */

static char *script_of(const struct sim_report *r,
                       int (*describe)(const struct sim_report *r, struct chart *c, char *why, size_t why_size))
{
    char *text = NULL, why[300] = "";
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    struct chart c;
    int status = describe(r, &c, why, sizeof why);
    if (status == 0)
        status = chart_script(&c, PLOT_SVG, out);
    chart_free(&c);
    assert_int_equal(fclose(out), 0);
    if (status != 0)
        fail_msg("%s", why);
    return text;
}

static void bars_have_parts_and_limits(void **state)
{
    (void)state;
    struct sim_report r;
    begin(&r, 2, plain_names);
    add_run(&r, "stock", "recorded", 550, 1100);
    add_run(&r, "stock", "recorded", 550, 1250);
    char *script = script_of(&r, sim_report_chart);
    has(script, "'MODELLED, not measured'");
    has(script, "'stock' 0");
    static const struct {
        const char *box;
        int series;
    } boxes[] = {
        {"15 -0.2 0 15 -0.38 -0.02", 0}, {"17.5 0.2 0 17.5 0.02 0.38", 1}, {"17.5 0.2 16.5 17.5 0.02 0.38", 4}};
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) { /* all work; not wide; of it lost to the sibling */
        char line[100];
        snprintf(line, sizeof line, "%s %lu\n", boxes[i].box,
                 strtoul(plot_colours[PLOT_SERIES + boxes[i].series].plain + 1, NULL, 16));
        has(script, line);
    }
    has(script, "15 -0.2 -48.53102368 78.53102368\n");
    has(script, "'15.00'");
    has_not(script, "nan");
    free(script);
    sim_report_free(&r);
}

/* gnuplot draws no axis without length. */
static void bars_of_nothing_have_an_axis(void **state)
{
    (void)state;
    struct sim_report r;
    begin(&r, 1, plain_names);
    add_run(&r, "stock", "recorded", 500, 1000);
    char *script = script_of(&r, sim_report_chart);
    has(script, "set xrange [0:1.08]");
    free(script);
    sim_report_free(&r);
}

static void time_line_has_a_lane_for_each_core(void **state)
{
    (void)state;
    struct sim_piece pieces[2][4] = {{{1000 * us, 2000 * us, 7, 0, 1000},
                                      {2000 * us, 2500 * us, 7, 0, 250},
                                      {2500 * us, 2600 * us, 7, 0, 0},
                                      {2600 * us, 5000 * us, 7, 1, 1000}},
                                     {{1000 * us, 5000 * us, 7, 0, 1000}, {1000 * us, 5000 * us, 9, 1, 1000}}};
    struct sim_report r;
    begin(&r, 1, plain_names);
    r.head.cores = 16;
    r.time_line = (struct sim_time_line){.from = 1000 * us,
                                         .to = 5000 * us,
                                         .n_cores = 2,
                                         .core = {7, 9},
                                         .n = 2,
                                         .policy = {{"stock", 4, pieces[0], false}, {"never", 2, pieces[1], false}}};
    char *script = script_of(&r, sim_chart_time_line);
    has(script, "set xrange [1:5]");
    has(script, "'core 7' 0, 'core 9' 1");
    has(script, "'hatched: throttled; the 2 of 16 cores that change most'");
    has(script, "$hatched << END\n2.5 0 2 2.5 -0.36 0.36 ");
    char halt[100]; /* in ink */
    snprintf(halt, sizeof halt, "2.6 0 2.5 2.6 -0.36 0.36 %lu\n", strtoul(plot_colours[PLOT_INK].plain + 1, NULL, 16));
    has(script, halt);
    const char *first = strstr(script, "'stock'"), *second = strstr(script, "'never'");
    assert_true(first && second && first < second);
    /* only the last panel has numbers below its axis */
    assert_true(strstr(script, "set format x ''") < strstr(script, "set format x '% h'"));
    has_not(second, "$hatched <<");
    free(script);
    r.time_line.n = 0; /* the pieces are not from malloc */
    sim_report_free(&r);
}

static void curve_has_both_marks(void **state)
{
    (void)state;
    struct sim_report r;
    begin_single(&r);
    r.curve = (struct sim_curve){.n = 3,
                                 .point = {{10, 0.05, 0.04}, {300, 0.1, 0.06}, {5000, 0.2, 0.1}},
                                 .breakeven = {90, 0.08, 0.05},
                                 .stock = {600, 0.12, 0.07}};
    char *script = script_of(&r, sim_chart_curve);
    has(script, "set logscale x");
    has(script, "'break-even time: 90 \xC2\xB5s'");
    has(script, "'stock\xE2\x80\x99s wait: 600 \xC2\xB5s'");
    has(script, "\n90 0 0 0\n90 8 8 8\n");
    has(script, "\n600 0 0 0\n600 12 12 12\n");
    has(script, "set yrange [0:21.6]");
    has(script, "'oracle' at graph 1.006, first 3.66667");
    has(script, "'stock' at graph 1.006, first 10 ");
    has(script, "$s0 << END\n10 5 5 5\n300 10 10 10\n5000 20 20 20\n");
    has(script, "$s1 << END\n10 4 4 4\n300 6 6 6\n5000 10 10 10\n");
    free(script);
    struct chart c;
    char why[100];
    r.curve = (struct sim_curve){.n = 0}; /* nobody asked for one: its marks are none either */
    assert_int_equal(sim_chart_curve(&r, &c, why, sizeof why), -1);
    assert_string_equal(why, "there is no curve; with --scheduler there is none");
    chart_free(&c);
    sim_report_free(&r);
}

/* Where nothing is lost, rounding must not be the range of the axis. */
static void flat_curve_has_an_axis(void **state)
{
    (void)state;
    struct sim_report r;
    begin(&r, 1, plain_names);
    r.curve = (struct sim_curve){
        .n = 2, .point = {{10, -2e-10, -2e-10}, {5000, 2e-10, 0}}, .breakeven = {90, 0, 0}, .stock = {NAN, NAN, NAN}};
    char *script = script_of(&r, sim_chart_curve);
    has(script, "set yrange [0:0.1]");
    free(script);
    sim_report_free(&r);
}

/* ---- the page ---- */

static char *page_of(const struct sim_report *r)
{
    char *text = NULL, why[300] = "";
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    if (sim_report_html(r, out, why, sizeof why) != 0)
        fail_msg("%s", why);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void page_is_harmless_whatever_names_hold(void **state)
{
    static const char *const names[3] = {"<script>alert(1)</script>", "\"'&\033[31m\xff", "none"};
    (void)state;
    struct sim_report r;
    begin(&r, 1, names);
    free(r.head.workload);
    r.head.workload = strdup("a\"><img src=x>'`date`'");
    add_run(&r, "stock", "recorded", 550, 1100);
    sim_report_refuse(&r, "software", "recorded", "<b>no</b>");
    sim_report_warn(&r, "%s", "<i>note</i>");
    r.what_if = (struct sim_what_if){.now = {NULL, 0, 0.1, 0.09}, .n = 1, .row = {{"wait", 0.5, 0.06, 0.08}}};
    char *page = page_of(&r);
    has(page,
        "<title>a&quot;&gt;&lt;img src=x&gt;&#39;`date`&#39; on A &lt;processor&gt;: simulation (modelled)</title>");
    has(page, "Modelled, not measured");
    has(page, "&lt;script&gt;alert(1)&lt;/script&gt;");
    has(page, "<li>software, scheduler recorded: &lt;b&gt;no&lt;/b&gt;</li>");
    has(page, "<li>&lt;i&gt;note&lt;/i&gt;</li>");
    has(page, "What would help most: wait times 0.5");
    has(page, "doc/simulation.md</code> of characterize 1.2.3");
    has(page, "Nothing had to be bounded.");
    has(page, "<dt>CPUs</dt><dd>1, on 1 core</dd>");
    has(page, "<dt>active cores</dt><dd>counted</dd>");
    has(page, "No plot: there is no time line; ");
    static const char *const never[] = {"<script", "<img", "<b>no", "<i>note", "\033", "nan"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        has_not(strstr(page, "<body>"), never[i]);
    if (plot_possible())
        has(page, "<svg class=\"plot\"");
    else
        has(page, "gnuplot is not installed");
    free(page);
    sim_report_free(&r);
}

static void page_shows_what_was_bounded(void **state)
{
    (void)state;
    struct sim_report r;
    begin_single(&r);
    r.head.cores = 4;
    r.head.cpus = 8;
    r.head.smt = true;
    r.head.active_cores = 16;
    char *page = page_of(&r);
    has(page, "<li>wait from level 1 to 0: 600 us, between 500 and inf: not measured</li>");
    has(page, "<dt>CPUs</dt><dd>8, on 4 cores with hyper-threading</dd>");
    has(page, "<dt>active cores</dt><dd>always 16</dd>");
    has(page, "Not asked for (<code>--what-if</code>).");
    free(page);
    char *text = text_of(&r);
    has(text, "\n4 cores, 8 CPUs, hyper-threading, active cores always 16, recorded at 2.8 GHz, seed 5\n");
    free(text);
    sim_report_free(&r);
}

/* Which scheduler ends first is not which one has the least overhead; no victims, no word of them. */
static void ends_of_schedulers_are_compared(void **state)
{
    (void)state;
    static const char *const schedulers[] = {"fair", "core", "specialize"};
    struct sim_report r;
    begin(&r, 2, plain_names);
    r.head.cpus = 2;
    for (int run = 0; run < 2; run++)
        for (size_t i = 0; i < 3; i++)
            add_run(&r, "stock", schedulers[i], 550, 1100);
    for (size_t i = 0; i < 3; i++)
        for (size_t run = 0; run < 2; run++) {
            struct sim_result *result = &r.results[i].runs[run];
            result->slowdown = result->cpu_slowdown = NAN;
            result->all.end_ps = (i < 2 ? 41000000 : 49200000 + (int64_t)run * 820000) * us;
            result->forced_idle_ps = (i < 2 ? 0 : 66772316) * us;
        }
    char *text = text_of(&r);
    has(text, "Policy stock, the last work ends: fair and core first, after 41.000 s, specialize 21.00 % [8.29,\n"
              "  33.71] later. Overhead does not count idle time.\n");
    has(text, "all work   end s   idle ");
    has(text, "  49.610  67.30 "); /* of two CPUs */
    has(text, "\nWhat the scheduler did\npolicy  scheduler   mean GHz  switches");
    has_not(text, "Tasks that run no wide code");
    free(text);
    char *page = page_of(&r);
    has(page, "<span class=\"unit\">s</span>");
    has(page, ">What the scheduler did</caption>");
    has(page, ">67.30</td>");
    has(page, "No plot: there is no curve; with --scheduler there is none.");
    has_not(page, "break-even time: 0");
    has_not(page, "e+0");
    free(page);
    sim_report_free(&r);
}

/* A workload of one task has no list of tasks; where another change of the processor helps others more, that is said;
 * whatever the export says of its source is said. */
static void text_says_what_there_is(void **state)
{
    (void)state;
    struct sim_report r;
    begin_single(&r);
    r.head.source = "drawn at random";
    r.what_if = (struct sim_what_if){.now = {NULL, 0, 0.1, 0.09},
                                     .n = 2,
                                     .row = {{"distance of the levels", 0.5, 0.06, 0.08}, {"wait", 0.1, 0.07, 0.02}}};
    char *text = text_of(&r);
    has(text, "\nMODELLED, not measured: drawn at random\n");
    has(text, "What would help work that is not wide most: wait times 0.1, 2.00 % instead of 9.00 %.\n");
    has(text, "Tasks that lost most");
    free(text);
    r.head.source = "";
    r.what_if.row[0].overhead = r.what_if.row[1].overhead = 0.2;
    free(r.head.tasks[--r.head.n_tasks]);
    text = text_of(&r);
    has(text, "\nMODELLED, not measured\n");
    has(text, "None of these changes would lower the overhead of 10.00 %.\n");
    has(text, "Tasks that lost most");
    free(text);
    free(r.head.tasks[--r.head.n_tasks]);
    text = text_of(&r);
    has_not(text, "Tasks that lost most");
    free(text);
    sim_report_free(&r);
}

static void page_of_nothing_says_so(void **state)
{
    (void)state;
    struct sim_report r;
    begin(&r, 1, plain_names);
    r.head.modelled = false;
    char *page = page_of(&r);
    has(page, "No policy could be simulated.");
    has(page, "No plot: there are no results.");
    has_not(page, "class=\"banner\"");
    free(page);
    char *text = text_of(&r);
    has_not(text, "MODELLED");
    free(text);
    sim_report_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_exact),
        cmocka_unit_test(limits_are_students_over_seeds),
        cmocka_unit_test(differences_are_paired),
        cmocka_unit_test(what_studies_found_is_in_json),
        cmocka_unit_test(text_is_exact),
        cmocka_unit_test(text_tells_schedulers_apart),
        cmocka_unit_test(findings_follow),
        cmocka_unit_test(text_is_at_most_100_columns_wide),
        cmocka_unit_test(bars_have_parts_and_limits),
        cmocka_unit_test(bars_of_nothing_have_an_axis),
        cmocka_unit_test(time_line_has_a_lane_for_each_core),
        cmocka_unit_test(curve_has_both_marks),
        cmocka_unit_test(flat_curve_has_an_axis),
        cmocka_unit_test(page_is_harmless_whatever_names_hold),
        cmocka_unit_test(page_shows_what_was_bounded),
        cmocka_unit_test(ends_of_schedulers_are_compared),
        cmocka_unit_test(text_says_what_there_is),
        cmocka_unit_test(page_of_nothing_says_so),
    };
    setenv("CHARACTERIZE_DATA", "data", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
