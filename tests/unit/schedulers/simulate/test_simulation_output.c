/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small report of simulations, made by hand: its JSON and its text to the character. */
#include "tests/support/small_report.h"
#include "tests/support/stream_text.h"
#include "tests/support/test.h"

static const int64_t us = SIM_PS_PER_US;

/* ---- JSON ---- */

TEST(json_is_exact)
{
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
        "  \"switch_us\": 1.5,\n"
        "  \"migration_us\": null,\n"
        "  \"fault_us\": null,\n"
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
        "\"scheduling_us\": null, "
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
    small_report_begin(&r, 1, small_report_names);
    small_report_add(&r, "stock", "recorded", 550, 1100);
    small_report_doubts(&r);
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

/* Student's t at 97.5 %: 12.7062 with one degree of freedom, 4.30265 with two. */
TEST(limits_are_students_over_seeds)
{
    static const struct {
        unsigned runs;
        double mean, half;
    } cases[] = {{2, 0.15, 12.706204736 * 0.0707106781187 / 1.41421356237},
                 {3, 0.2, 4.30265272991 * 0.1 / 1.73205080757}};
    for (size_t i = 0; i < 2; i++) {
        struct sim_report r;
        small_report_begin(&r, cases[i].runs, small_report_names);
        for (unsigned run = 0; run < cases[i].runs; run++) /* 10, 20 and 30 % of all work */
            small_report_add(&r, "stock", "recorded", 550, 1100 + 150 * run);
        assert_int_equal(r.n_results, 1);
        json_t *root = small_report_json(&r), *o = json_array_get(json_object_get(root, "results"), 0);
        assert_close(number(o, "overhead"), cases[i].mean, 1e-9);
        assert_close(number(o, "overhead_lo"), cases[i].mean - cases[i].half, 1e-9);
        assert_close(number(o, "overhead_hi"), cases[i].mean + cases[i].half, 1e-9);
        assert_close(number(o, "time_us"), 1650 + 75 * (cases[i].runs - 1), 1e-9); /* the mean over seeds as well */
        const json_t *task = json_array_get(json_object_get(o, "tasks"), 1);
        assert_close(number(task, "time_us"), 1100 + 75 * (cases[i].runs - 1), 1e-9);
        assert_close(json_number_value(json_array_get(json_object_get(task, "level_us"), 1)),
                     300 + 75 * (cases[i].runs - 1), 1e-9);
        assert_true(json_is_integer(json_object_get(o, "transitions")));
        json_decref(root);
        sim_report_free(&r);
    }
}

/* Run by run: what both share in each run does not widen the limits of their difference. */
TEST(differences_are_paired)
{
    struct sim_report r;
    small_report_begin(&r, 3, small_report_names);
    for (unsigned run = 0; run < 3; run++) {
        small_report_add(&r, "stock", "recorded", 550, 1100 + 150 * run);
        small_report_add(&r, "learned", "recorded", 550, 1085 + 150 * run);
    }
    struct estimate e = sim_figure_difference(sim_figure_result(&r, "stock", "recorded"),
                                              sim_figure_result(&r, "learned", "recorded"), SIM_OVERHEAD);
    assert_close(e.value, 0.01, 1e-9);
    assert_close(e.lo, 0.01, 1e-9);
    assert_close(e.hi, 0.01, 1e-9);
    char *text = small_report_text(&r);
    has(text, "Learned costs least, 19.00 %: 1.00 points [1.00, 1.00] less than stock (20.00 %).\n");
    free(text);
    sim_report_free(&r);
    small_report_begin(&r, 2, small_report_names);
    small_report_add(&r, "stock", "recorded", 550, 1100);
    small_report_add(&r, "stock", "recorded", 550, 1100);
    small_report_add(&r, "timeout", "recorded", 550, 1040);
    small_report_add(&r, "timeout", "recorded", 550, 1100);
    text = small_report_text(&r);
    has(text, " less than stock (10.00 %), which may be\n  chance in 2 runs.\n");
    free(text);
    sim_report_free(&r);
}

TEST(what_studies_found_is_in_json)
{
    struct sim_report r;
    small_report_single(&r);
    r.curve = (struct sim_curve){
        .n = 2, .point = {{10, 0.05, 0.04}, {5000, 0.5, NAN}}, .breakeven = {90, 0.1, 0.02}, .stock = {NAN, 0, 0}};
    r.what_if = (struct sim_what_if){
        .now = {NULL, 0, 0.1, 0.09}, .n = 2, .row = {{"wait", 0.5, 0.06, 0.08}, {"cost of a change", 0, 0.12, NAN}}};
    json_t *root = small_report_json(&r), *curve = json_object_get(root, "curve"),
           *what_if = json_object_get(root, "what_if");
    assert_int_equal(json_array_size(curve), 3);
    assert_close(number(json_array_get(curve, 1), "timeout_us"), 5000, 1e-9);
    assert_true(isnan(number(json_array_get(curve, 1), "remote_overhead")));
    assert_true(json_is_null(json_object_get(json_array_get(curve, 1), "is")));
    assert_string_equal(json_string_value(json_object_get(json_array_get(curve, 2), "is")), "break-even");
    assert_int_equal(json_array_size(what_if), 2);
    assert_close(number(json_array_get(what_if, 0), "change"), -0.04, 1e-9);
    assert_close(number(json_array_get(what_if, 0), "remote_change"), -0.01, 1e-9);
    assert_true(isnan(number(json_array_get(what_if, 1), "remote_change")));
    json_decref(root);
    char *text = small_report_text(&r);
    has(text, "\nWith other processor parameters, policy stock\n"
              "parameter         times  overhead %  points  remote %  points\n"
              "as it is              -       10.00       -      9.00       -\n"
              "wait               0.50        6.00   -4.00      8.00   -1.00\n"
              "cost of a change   0.00       12.00    2.00         -       -\n"
              "What would help most: wait times 0.5, overhead 6.00 % instead of 10.00 %, 4.00 points less.\n");
    free(text);
    sim_report_free(&r);
}

/* ---- text ---- */

TEST(text_is_exact)
{
    struct sim_report r;
    small_report_single(&r);
    char *text = small_report_text(&r);
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
                              "Tasks that lost most under stock, and their overhead by policy, %\n"
                              "task   time ms  lost us  stock  oracle\n"
                              "plain    1.100  100.000  10.00    0.50\n"
                              "wide     0.550   50.000  10.00   10.00\n"
                              "\n"
                              "Not in the export as needed, but bounded\n"
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

TEST(text_tells_schedulers_apart)
{
    struct sim_report r;
    small_report_begin(&r, 1, small_report_names);
    small_report_add(&r, "stock", "fair", 550, 1100);
    small_report_add(&r, "timeout", "fair", 550, 1050);
    small_report_add(&r, "oracle", "fair", 550, 1020);
    small_report_add(&r, "stock", "core", 550, 1070);
    small_report_add(&r, "learned", "core", 550, 1005);
    small_report_add(&r, "oracle", "core", 550, 1000);
    char *text = small_report_text(&r);
    has(text, "\nOverhead and forced idle time, %, and when the last work ends\n"
              "policy   scheduler  all work  end ms   idle  remote: not wide  by delay  by SMT\n"
              "stock    fair          10.00   1.100  12.50             10.00      9.00    1.00\n");
    has(text, "\nTasks that run no wide code, and what the scheduler did\n"
              "policy   scheduler  slowdown %  of CPU time %  mean GHz  switches  migrations  wide cores changed\n"
              "stock    fair            10.00           5.00     2.500         7           3                   0\n");
    has(text, "Policy stock, wide code delays the end of tasks without any by: fair 10.00 %, core 7.00 %.\n");
    has(text, "Policy stock, the last work ends: core first, after 1.070 ms, fair 2.80 % later. Overhead does not\n"
              "  include idle time.\n");
    has(text, "Scheduler fair: timeout costs least, 6.67 %: 3.33 points less than stock (10.00 %).\n"
              "Above the oracle (4.67 %), which knows the rows to come: timeout by 2.00 points, stock by 5.33\n"
              "  points.\n");
    has(text, "Scheduler core: learned costs least, 3.67 %: 4.33 points less than stock (8.00 %).\n"
              "Above the oracle (3.33 %), which knows the rows to come: learned by 0.33 points, stock by 4.67\n"
              "  points.\n");
    free(text);
    json_t *root = small_report_json(&r);
    const json_t *first = json_array_get(json_object_get(root, "results"), 0);
    assert_close(number(first, "migrations"), 3, 1e-9);
    assert_close(number(first, "slowdown"), 0.1, 1e-9);
    assert_close(number(first, "forced_idle_us"), 137.5, 1e-9);
    assert_true(isnan(number(first, "unfairness")));
    json_decref(root);
    sim_report_free(&r);
}

TEST(text_is_at_most_100_columns_wide)
{
    static const char *const names[3] = {
        "a task whose name is much longer than anyone would care to read in a table of figures", "plain", "none"};
    struct sim_report r;
    small_report_begin(&r, 2, names);
    for (int run = 0; run < 2; run++)
        for (int scheduler = 1; scheduler < SIM_SCHEDULERS; scheduler++)
            for (int policy = 0; policy < SIM_POLICIES; policy++)
                small_report_add(&r, sim_policy_names[policy], sim_scheduler_names[scheduler], 550 + 1000 * run,
                                 1000000 + policy);
    sim_report_warn(&r, "%s",
                    "a warning that is longer than a line of the screen, and that goes on and on, over more "
                    "than one line, until it ends");
    char *text = small_report_text(&r);
    no_line_is_longer_than(100, text);
    free(text);
    sim_report_free(&r);
}

/* The findings of runs without a scheduler. */
static char *findings_of(size_t n, const char *const policies[], const int64_t plain_us[])
{
    struct sim_report r;
    struct stream_text s;
    FILE *out = stream_text_open(&s);
    small_report_begin(&r, 1, small_report_names);
    for (size_t i = 0; i < n; i++)
        small_report_add(&r, policies[i], "recorded", plain_us[i] > 1000 ? 550 : 500, plain_us[i]);
    sim_conclude(&r, out);
    sim_report_free(&r);
    return stream_text_close(&s);
}

/* Nothing is said against what was not simulated; what is equal is named; the oracle and software stand apart. */
TEST(findings_follow)
{
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
         "Software, 5.00 %, changes which level code demands, so it is not a like-for-like comparison, and the oracle "
         "is "
         "not a bound for it.\n"
         "Work that is not wide loses: stock 25.00 %, oracle 8.50 %, software 2.50 %, timeout 10.00 %.\n"},
        {3,
         {"timeout", "software", "learned"},
         {1100, 1025, 1085},
         "Learned costs least, 9.00 %.\n"
         "Software, 5.00 %, changes which level code demands, so it is not a like-for-like comparison.\n"
         "Work that is not wide loses: timeout 10.00 %, software 2.50 %, learned 8.50 %.\n"},
        {2,
         {"software", "oracle"},
         {1025, 1085},
         "Software, 5.00 %, changes which level code demands, so it is not a like-for-like comparison, and the oracle "
         "is "
         "not a bound for it.\n"
         "Work that is not wide loses: software 2.50 %, oracle 8.50 %.\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = findings_of(cases[i].n, cases[i].policy, cases[i].plain_us);
        assert_string_equal(text, cases[i].findings);
        free(text);
    }
}

/* Which scheduler ends first is not which one has the least overhead; no victims, no word of them. */
TEST(ends_of_schedulers_are_compared)
{
    static const char *const schedulers[] = {"fair", "core", "specialize"};
    struct sim_report r;
    small_report_begin(&r, 2, small_report_names);
    r.head.cpus = 2;
    for (int run = 0; run < 2; run++)
        for (size_t i = 0; i < 3; i++)
            small_report_add(&r, "stock", schedulers[i], 550, 1100);
    for (size_t i = 0; i < 3; i++)
        for (size_t run = 0; run < 2; run++) {
            struct sim_result *result = &r.results[i].runs[run];
            result->slowdown = result->cpu_slowdown = NAN;
            result->all.end_ps = (i < 2 ? 41000000 : 49200000 + (int64_t)run * 820000) * us;
            result->forced_idle_ps = (i < 2 ? 0 : 66772316) * us;
        }
    char *text = small_report_text(&r);
    has(text, "Policy stock, the last work ends: fair and core first, after 41.000 s, specialize 21.00 % [8.29,\n"
              "  33.71] later. Overhead does not include idle time.\n");
    has(text, "all work   end s   idle ");
    has(text, "  49.610  67.30 "); /* of two CPUs */
    has(text, "\nWhat the scheduler did\npolicy  scheduler   mean GHz  switches");
    has_not(text, "Tasks that run no wide code");
    free(text);
    char *page = small_report_page(&r);
    has(page, "<span class=\"unit\">s</span>");
    has(page, ">What the scheduler did</caption>");
    has(page, ">67.30</td>");
    has(page, "No plot: no curve with --scheduler.");
    has_not(page, "break-even time: 0");
    has_not(page, "e+0");
    free(page);
    sim_report_free(&r);
}

/* A workload of one task has no list of tasks; where another change of the processor helps others more, that is said;
 * whatever the export says of its source is said. */
TEST(text_says_what_there_is)
{
    struct sim_report r;
    small_report_single(&r);
    r.head.source = "drawn at random";
    r.what_if = (struct sim_what_if){.now = {NULL, 0, 0.1, 0.09},
                                     .n = 2,
                                     .row = {{"distance of the levels", 0.5, 0.06, 0.08}, {"wait", 0.1, 0.07, 0.02}}};
    char *text = small_report_text(&r);
    has(text, "\nMODELLED, not measured: drawn at random\n");
    has(text, "What would most help work that is not wide: wait times 0.1, 2.00 % instead of 9.00 %.\n");
    has(text, "Tasks that lost most");
    free(text);
    r.head.source = "";
    r.what_if.row[0].overhead = r.what_if.row[1].overhead = 0.2;
    free(r.head.tasks[--r.head.n_tasks]);
    text = small_report_text(&r);
    has(text, "\nMODELLED, not measured\n");
    has(text, "None of these changes would lower the overhead of 10.00 %.\n");
    has(text, "Tasks that lost most");
    free(text);
    free(r.head.tasks[--r.head.n_tasks]);
    text = small_report_text(&r);
    has_not(text, "Tasks that lost most");
    free(text);
    sim_report_free(&r);
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1);
}
