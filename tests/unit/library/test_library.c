/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of <characterize/characterize.h> on models with known parameters, and what they refuse. */
#include "include/characterize/characterize.h"
#include "tests/support/test.h"

#include <limits.h>
#include <unistd.h>

static characterize_machine *open_gold(void)
{
    struct characterize_error error;
    characterize_machine *machine;
    if (characterize_open("model:xeon-gold-6130", -1, "data", &machine, &error) != CHARACTERIZE_OK)
        fail_msg("%s", error.text);
    return machine;
}

TEST(a_machine_tells_of_itself)
{
    characterize_machine *machine = open_gold();
    struct characterize_machine_info info;
    characterize_describe(machine, &info);
    assert_string_equal(info.name, "model:xeon-gold-6130");
    assert_non_null(strstr(info.cpu, "6130"));
    assert_true(info.modelled != 0);
    assert_int_equal(info.cores, 16);
    assert_string_equal(info.chosen, "");
    assert_int_equal(characterize_can_run(machine, "512fma@1/8"), 1);
    assert_int_equal(characterize_can_run(machine, "amx"), 0);
    assert_int_equal(characterize_can_run(machine, "513fma"), 0);
    characterize_close(machine);
    characterize_close(NULL);
}

/* A model runs a block of scalar adds as its own 64add. */
TEST(a_file_is_a_kernel_of_its_machine)
{
    static const unsigned char add[] = {0x48, 0x01, 0xc8};
    char path[] = "/tmp/library_XXXXXX.bin";
    characterize_machine *machine = open_gold(), *other = open_gold();
    struct characterize_error error;
    characterize_phases *phases;
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0 && write(fd, add, sizeof add) == (ssize_t)sizeof add && close(fd) == 0);
    enum characterize_status status = characterize_add_kernel_file(machine, path, &error);
    char pair[60], *name = path + strlen("/tmp/");
    if (status != CHARACTERIZE_CANNOT) {
        assert_int_equal(status, CHARACTERIZE_OK);
        name[strlen(name) - 4] = '\0';
        assert_int_equal(characterize_can_run(machine, name), 1);
        assert_int_equal(characterize_can_run(other, name), 0);
        snprintf(pair, sizeof pair, "%s:512fma", name);
        assert_int_equal(characterize_transition(other, pair, NULL, &phases, &error), CHARACTERIZE_BAD_INPUT);
        assert_int_equal(characterize_transition(machine, pair, NULL, &phases, &error), CHARACTERIZE_OK);
        characterize_phases_free(phases);
        name[strlen(name)] = '.';
    }
    unlink(path);
    assert_int_equal(characterize_add_kernel_file(machine, "/nowhere.bin", &error), CHARACTERIZE_BAD_INPUT);
    assert_non_null(strstr(error.text, "/nowhere.bin"));
    assert_int_equal(characterize_add_kernel_file(machine, NULL, &error), CHARACTERIZE_BAD_INPUT);
    assert_int_equal(characterize_add_kernel_file(NULL, "x.bin", &error), CHARACTERIZE_BAD_INPUT);
    characterize_close(other);
    characterize_close(machine);
}

TEST(names_are_listed)
{
    bool kernel = false, table = false;
    for (size_t i = 0; characterize_kernel_name(i) != NULL; i++)
        kernel = kernel || strcmp(characterize_kernel_name(i), "512fma") == 0;
    for (size_t i = 0; characterize_table_name(i) != NULL; i++)
        table = table || strcmp(characterize_table_name(i), "frequency") == 0;
    assert_true(kernel && table);
}

/* data/models/xeon-gold-6130.model: throttled to 1/4 for 20 us, then 10 us of halt, 1.9 GHz in the end */
TEST(a_transition_gives_the_model_back)
{
    characterize_machine *machine = open_gold();
    const struct characterize_options options = {.runs = 40};
    struct characterize_error error;
    struct characterize_phase p;
    struct characterize_change c;
    characterize_phases *phases;
    assert_int_equal(characterize_transition(machine, "128fma:512fma", &options, &phases, &error), CHARACTERIZE_OK);
    characterize_close(machine); /* results outlive it */
    assert_int_equal(characterize_phases_count(phases), 6);
    assert_int_equal(characterize_phases_get(phases, 1, &p), 0);
    assert_string_equal(p.kind, "throttle");
    assert_true(fabs(p.start_us) < 0.2);
    assert_true(fabs(p.duration_us.value - 20) < 0.5);
    assert_true(p.duration_us.lo <= p.duration_us.value && p.duration_us.value <= p.duration_us.hi);
    assert_true(fabs(p.ipc_ratio - 0.25) < 0.01);
    assert_int_equal(p.level, 0);
    assert_string_equal(p.why, "");
    assert_int_equal(characterize_phases_get(phases, 2, &p), 0);
    assert_string_equal(p.kind, "halt");
    assert_true(isnan(p.freq_ghz.value)); /* nothing runs: never 0 */
    assert_int_equal(characterize_phases_get(phases, 6, &p), -1);
    assert_int_equal(characterize_changes_count(phases), 1);
    assert_int_equal(characterize_changes_get(phases, 0, &c), 0);
    assert_int_equal(c.halts, 2);
    assert_true(fabs(c.from_ghz - 2.8) < 0.001 && fabs(c.to_ghz - 1.9) < 0.001);
    assert_int_equal(characterize_changes_get(phases, 1, &c), -1);
    assert_int_equal(characterize_runs(phases), 40);
    assert_in_range(characterize_runs_used(phases), 30, 40);
    characterize_phases_free(phases);
    characterize_phases_free(NULL);
}

/* A measurement and the analysis of its saved trace give one answer. */
TEST(a_recorded_trace_gives_the_same_answer)
{
    characterize_machine *machine = open_gold();
    const struct characterize_options options = {.runs = 30, .seed = 5};
    struct characterize_error error;
    characterize_phases *measured, *read;
    char name[] = "/tmp/test_library_XXXXXX";
    assert_int_equal(characterize_transition(machine, "64add:512or", &options, &measured, &error), CHARACTERIZE_OK);
    char *csv = characterize_trace_csv(measured), *json = characterize_phases_json(measured);
    assert_non_null(csv);
    assert_non_null(json);
    int fd = mkstemp(name);
    FILE *out = fdopen(fd, "w");
    fputs(csv, out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(characterize_analyze(name, &read, &error), CHARACTERIZE_OK);
    unlink(name);
    char *again = characterize_phases_json(read);
    assert_string_equal(json, again);
    free(csv);
    free(json);
    free(again);
    characterize_phases_free(measured);
    characterize_phases_free(read);
    characterize_close(machine);
}

static int count(void *data, double done)
{
    double *most = data;
    assert_true(done >= *most && done <= 1);
    *most = done;
    return 0;
}

TEST(a_table_has_rows_and_reasons)
{
    characterize_machine *machine = open_gold();
    double most = 0;
    const struct characterize_options options = {
        .kernels = "64add,512fma,amx", .active_cores = 16, .progress = count, .data = &most};
    struct characterize_error error;
    characterize_table *table;
    assert_int_equal(characterize_table_measure(machine, "frequency", &options, &table, &error), CHARACTERIZE_OK);
    assert_true(most > 0.99);
    assert_int_equal(characterize_table_rows(table), 2);
    assert_string_equal(characterize_table_text(table, 1, "kernel"), "512fma");
    assert_true(fabs(characterize_table_number(table, 1, "freq_ghz") - 1.9) < 0.001);
    assert_true(isnan(characterize_table_number(table, 2, "freq_ghz")));
    assert_true(isnan(characterize_table_number(table, 0, "nothing")));
    assert_null(characterize_table_text(table, 9, "kernel"));
    assert_ptr_equal(strstr(characterize_table_missing(table, 0), "amx: needs "), characterize_table_missing(table, 0));
    assert_null(characterize_table_missing(table, 1));
    char *json = characterize_table_json(table), *csv = characterize_table_csv(table);
    assert_non_null(strstr(json, "\"characterize-table/1\""));
    assert_non_null(strstr(csv, "512fma"));
    free(json);
    free(csv);
    characterize_table_free(table);
    characterize_table_free(NULL);
    characterize_close(machine);
}

/* In a table whose cells measure several things one after another. */
TEST(progress_never_goes_back)
{
    characterize_machine *machine = open_gold();
    double most = 0;
    const struct characterize_options options = {.brief = 1, .progress = count, .data = &most};
    characterize_table *table;
    assert_int_equal(characterize_table_measure(machine, "overhead", &options, &table, NULL), CHARACTERIZE_OK);
    assert_true(most > 0.99);
    characterize_table_free(table);
    characterize_close(machine);
}

static int stop(void *data, double done)
{
    (void)data, (void)done;
    return 1;
}

TEST(who_asks_to_stop_gets_nothing)
{
    characterize_machine *machine = open_gold();
    const struct characterize_options options = {.progress = stop};
    struct characterize_error error;
    characterize_phases *phases;
    characterize_table *table;
    assert_int_equal(characterize_transition(machine, "64add:512or", &options, &phases, &error), CHARACTERIZE_FAILED);
    assert_null(phases);
    assert_int_equal(error.status, CHARACTERIZE_FAILED);
    assert_int_equal(characterize_table_measure(machine, "overhead", &options, &table, NULL), CHARACTERIZE_FAILED);
    assert_null(table);
    characterize_close(machine);
}

static void refuse_transition(characterize_machine *m, const char *pair, struct characterize_options o,
                              enum characterize_status status, const char *word)
{
    struct characterize_error error;
    characterize_phases *phases;
    assert_int_equal(characterize_transition(m, pair, &o, &phases, &error), status);
    assert_null(phases);
    assert_int_equal(error.status, status);
    if (strstr(error.text, word) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, word);
}

static void refuse_table(characterize_machine *m, const char *name, struct characterize_options o, const char *word)
{
    struct characterize_error error;
    characterize_table *table;
    assert_int_equal(characterize_table_measure(m, name, &o, &table, &error), CHARACTERIZE_BAD_INPUT);
    assert_null(table);
    if (strstr(error.text, word) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, word);
}

TEST(what_makes_no_sense_is_refused)
{
    characterize_machine *machine = open_gold(), *none;
    struct characterize_error error;
    characterize_phases *phases;
    assert_int_equal(characterize_open("tming", -1, NULL, &none, &error), CHARACTERIZE_BAD_INPUT);
    assert_null(none);
    assert_non_null(strstr(error.text, "timing"));
    assert_int_equal(characterize_open("model:none", -1, "data", &none, NULL), CHARACTERIZE_BAD_INPUT);
    struct characterize_options o = {0};
    refuse_transition(machine, "128fma", o, CHARACTERIZE_BAD_INPUT, "FROM:TO");
    refuse_transition(machine, "128fma:512fmx", o, CHARACTERIZE_BAD_INPUT, "512fma");
    refuse_transition(machine, "64add:amx", o, CHARACTERIZE_CANNOT, "amx");
    o.runs = 100001;
    refuse_transition(machine, "64add:512or", o, CHARACTERIZE_BAD_INPUT, "runs");
    o = (struct characterize_options){.period_us = 0.05};
    refuse_transition(machine, "64add:512or", o, CHARACTERIZE_BAD_INPUT, "period_us");
    o = (struct characterize_options){.warmup_us = NAN};
    refuse_transition(machine, "64add:512or", o, CHARACTERIZE_BAD_INPUT, "warmup_us");
    o = (struct characterize_options){.observe_us = 0.5};
    refuse_transition(machine, "64add:512or", o, CHARACTERIZE_BAD_INPUT, "observe_us");
    o = (struct characterize_options){.observe_us = 1e6, .period_us = 0.1, .runs = 10000};
    refuse_transition(machine, "64add:512or", o, CHARACTERIZE_BAD_INPUT, "samples");
    o = (struct characterize_options){.active_cores = 17};
    refuse_transition(machine, "64add:512or", o, CHARACTERIZE_BAD_INPUT, "17");
    refuse_table(machine, "frequency", o, "17");
    o = (struct characterize_options){.kernels = "64add,64add"};
    refuse_table(machine, "frequency", o, "twice");
    o = (struct characterize_options){.kernels = "64add,"};
    refuse_table(machine, "frequency", o, "");
    o = (struct characterize_options){.observe_us = 100};
    refuse_table(machine, "relaxation", o, "observe_us");
    refuse_table(machine, "frequencies", (struct characterize_options){0}, "'frequencies'; tables: frequency");
    assert_int_equal(characterize_analyze("/nonexistent/trace.csv", &phases, &error), CHARACTERIZE_BAD_INPUT);
    assert_non_null(strstr(error.text, "/nonexistent/trace.csv"));
    assert_int_equal(characterize_analyze("Makefile", &phases, &error), CHARACTERIZE_BAD_INPUT);
    assert_ptr_equal(strstr(error.text, "Makefile:"), error.text);
    assert_null(phases);
    characterize_close(machine);
}

TEST(what_is_not_there_is_refused_at_once)
{
    static const int none[] = {-2, INT_MIN, INT_MAX, 99999};
    static const char *const machines[] = {"timing", "model:xeon-gold-6130"};
    characterize_machine *machine;
    characterize_phases *phases;
    struct characterize_error error;
    char number[20];
    for (size_t i = 0; i < 8; i++) {
        enum characterize_status status = characterize_open(machines[i / 4], none[i % 4], "data", &machine, &error);
        if (i < 4 && status == CHARACTERIZE_CANNOT)
            continue; /* no timing here */
        assert_int_equal(status, CHARACTERIZE_BAD_INPUT);
        assert_null(machine);
        snprintf(number, sizeof(number), "%d", none[i % 4]);
        assert_non_null(strstr(error.text, number));
    }
    assert_int_equal(characterize_open(machines[1], 16, "data", &machine, &error), CHARACTERIZE_BAD_INPUT);
    assert_int_equal(characterize_open(machines[1], 15, "data", &machine, &error), CHARACTERIZE_OK);
    characterize_close(machine);
    assert_int_equal(characterize_open(machines[1], -1, "", &machine, &error), CHARACTERIZE_BAD_INPUT);
    assert_non_null(strstr(error.text, "data_folder"));
    assert_int_equal(characterize_analyze("", &phases, &error), CHARACTERIZE_BAD_INPUT);
    assert_non_null(strstr(error.text, "empty"));
}

TEST(null_is_refused)
{
    characterize_machine *machine = open_gold(), *none = machine;
    characterize_phases *phases;
    characterize_table *table;
    struct characterize_error error;
    assert_int_equal(characterize_open(NULL, -1, NULL, &none, &error), CHARACTERIZE_BAD_INPUT);
    assert_null(none);
    assert_non_null(strstr(error.text, "NULL"));
    assert_int_equal(characterize_open("timing", -1, NULL, NULL, NULL), CHARACTERIZE_BAD_INPUT);
    assert_int_equal(characterize_transition(NULL, "64add:512or", NULL, &phases, NULL), CHARACTERIZE_BAD_INPUT);
    assert_null(phases);
    assert_int_equal(characterize_transition(machine, NULL, NULL, &phases, NULL), CHARACTERIZE_BAD_INPUT);
    assert_int_equal(characterize_transition(machine, "64add:512or", NULL, NULL, NULL), CHARACTERIZE_BAD_INPUT);
    assert_int_equal(characterize_analyze(NULL, &phases, NULL), CHARACTERIZE_BAD_INPUT);
    assert_int_equal(characterize_analyze("Makefile", NULL, NULL), CHARACTERIZE_BAD_INPUT);
    assert_int_equal(characterize_table_measure(NULL, "frequency", NULL, &table, NULL), CHARACTERIZE_BAD_INPUT);
    assert_null(table);
    assert_int_equal(characterize_table_measure(machine, NULL, NULL, &table, NULL), CHARACTERIZE_BAD_INPUT);
    assert_int_equal(characterize_table_measure(machine, "frequency", NULL, NULL, NULL), CHARACTERIZE_BAD_INPUT);
    assert_int_equal(characterize_can_run(machine, NULL), 0);
    characterize_close(machine);
}
