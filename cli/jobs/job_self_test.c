/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --self-test: what this machine's counters say of code of which it is known what they must say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/changed_settings.h"
#include "cli/measuring.h"
#include "cli/files.h"
#include "cli/jobs/jobs.h"
#include "cli/messages.h"
#include "cli/stop.h"
#include "output/self_test/self_test.h"
#include "computer/environment/snapshot.h"
#include "drivers/machine.h"
#include "probes/second_opinion.h"
#include "util/text_list.h"

static int stops_test(void *data)
{
    (void)data;
    return stop_requested();
}

static int test_read(const struct options *o, struct self_test_readings *out, struct self_test_lines *others)
{
    struct machine machine;
    struct machine_error error = {.status = MACHINE_OK};
    struct second_opinion opinions[OPINIONS];
    char report[1000] = "";
    const struct self_test_setup setup = {
        .cpu = o->cpu.given ? (int)o->cpu.value : -1, .seed = o->tables.seed, .stop = stops_test};
    if (machine_open(o->machine != NULL ? o->machine : "auto", NULL, &machine, report, sizeof(report), &error) !=
        MACHINE_OK)
        return complain_of_machine("", &error);
    if (report[0] != '\0' && !o->quiet)
        fprintf(stderr, "%s\n", report);
    stop_only_asks(true); /* changes by the machine must be undone */
    int status = self_test_run(&machine, &setup, out, &error);
    if (status == MACHINE_OK && !out->modelled) {
        second_opinions_ask(&machine, out->cpu_number, opinions);
        self_test_judge_others(out, opinions, OPINIONS, others);
    }
    if (stop_requested())
        status = refuse(FAILED, "interrupted: nothing was written");
    else if (status != MACHINE_OK)
        status = complain_of_machine("--self-test", &error);
    machine.ops->close(&machine);
    return status;
}

static int measure(const struct options *o, struct self_test_readings *out, struct self_test_lines *others)
{
    struct settings *changed = NULL;
    struct interferer *interferer;
    char text[1000], disturbed[120];
    int status = disturbing_ready(o, &interferer, disturbed, sizeof(disturbed));
    if (status == DONE)
        status = changed_settings_begin(o, &changed);
    if (status == DONE)
        status = disturbing_begin(interferer);
    if (status == DONE)
        status = test_read(o, out, others);
    int ended = disturbing_end(interferer);
    changed_settings_text(o, changed, text, sizeof(text));
    if (interferer != NULL)
        text_list_add(text, sizeof(text), "; ", "interference %s", disturbed);
    if (text[0] != '\0')
        text_list_add(out->notes, sizeof(out->notes), "; ", "settings: %s", text);
    interference_close(interferer);
    int end = changed_settings_end(changed);
    return status != DONE ? status : ended != DONE ? ended : end;
}

static int print_json(FILE *stream, const void *json)
{
    const size_t flags = JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12);
    return json_dumpf(json, stream, flags) != 0 || fputc('\n', stream) == EOF ? -1 : 0;
}

/* Before anything is measured: whether the files can be written. DONE, or an exit status after a line. */
static int check_files(const struct options *o)
{
    enum { JSON_BYTES = 100000, BUNDLE_BYTES = 2000000 };
    if (o->bundle != NULL && strcmp(o->bundle, "-") == 0)
        return refuse(BAD_USAGE, "--bundle: name a file, as in --bundle self-test.tar.gz");
    int status = file_check(o->json, JSON_BYTES);
    return status == DONE ? file_check(o->bundle, BUNDLE_BYTES) : status;
}

static int print_bundle(FILE *stream, const void *members)
{
    return self_test_bundle_print(stream, members);
}

static int write_bundle(const char *path, const json_t *self_test, const struct self_test_readings *r)
{
    struct self_test_bundle bundle;
    int status = self_test_bundle_make(&bundle, "", self_test, r) == 0 ? file_write(path, print_bundle, &bundle)
                                                                       : complain_out_of_memory();
    self_test_bundle_free(&bundle);
    return status;
}

static int read_bundle(const char *path, struct self_test_readings *out)
{
    char why[1000];
    return self_test_bundle_read(path, out, why, sizeof(why)) == 0
               ? DONE
               : refuse(BAD_USAGE, "%s: %s; it must be a file that --self-test --bundle wrote", path, why);
}

static int write_files(const struct options *o, const struct self_test_readings *r, const struct self_test_lines *l,
                       const struct self_test_lines *others)
{
    json_t *json = self_test_lines_json(r, l, others);
    if (json != NULL && !r->modelled && o->input == NULL) {
        struct environment environment;
        snapshot_take(r->cpu_number, &environment);
        if (json_object_set_new(json, "environment", snapshot_json(&environment)) != 0) {
            json_decref(json);
            json = NULL;
        }
    }
    int status = json != NULL ? DONE : complain_out_of_memory();
    if (o->json != NULL && status == DONE)
        status = file_write(o->json, print_json, json);
    if (o->bundle != NULL && status == DONE)
        status = write_bundle(o->bundle, json, r);
    json_decref(json);
    return status;
}

/* Several of these would be too large for a stack. */
struct test {
    struct self_test_readings readings;
    struct self_test_lines lines, others;
};

static int conclude(const struct options *o, struct test *t)
{
    FILE *screen = file_is_stdout(o->json) ? stderr : stdout;
    self_test_judge(&t->readings, &t->lines);
    self_test_text_print(screen, &t->readings, &t->lines, &t->others, o->input != NULL);
    int status = write_files(o, &t->readings, &t->lines, &t->others);
    if (status != DONE)
        return status;
    if (self_test_count(&t->lines, SELF_TEST_FAIL) + self_test_count(&t->others, SELF_TEST_FAIL) > 0)
        return DEVIATES;
    return self_test_count(&t->lines, SELF_TEST_PASS) > 0 ? DONE : CANNOT;
}

int job_self_test(const struct options *o)
{
    struct test *t = calloc(1, sizeof(*t));
    if (t == NULL)
        return complain_out_of_memory();
    int status = check_files(o);
    if (status == DONE)
        status = o->input != NULL ? read_bundle(o->input, &t->readings) : measure(o, &t->readings, &t->others);
    if (status == DONE)
        status = conclude(o, t);
    self_test_free(&t->readings);
    free(t);
    return status;
}
