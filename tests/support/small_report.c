/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/small_report.h"

#include "tests/support/stream_text.h"
#include "tests/support/test.h"

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

void small_report_add(struct sim_report *r, const char *policy, const char *scheduler, int64_t wide_us,
                      int64_t plain_us)
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

void small_report_begin(struct sim_report *r, unsigned runs, const char *const names[3])
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
                                      .scheduling_ps = {3 * SIM_PS_PER_US / 2, -1, -1},
                                      .seed = 5,
                                      .runs = runs}};
    r->head.workload = strdup("tiny");
    r->head.tasks = calloc(4, sizeof *r->head.tasks);
    assert_true(r->head.workload && r->head.tasks);
    for (; r->head.n_tasks < 3; r->head.n_tasks++)
        assert_non_null(r->head.tasks[r->head.n_tasks] = strdup(names[r->head.n_tasks]));
}

const char *const small_report_names[3] = {"wide", "plain", "none"};

void small_report_doubts(struct sim_report *r)
{
    static const struct sim_bound bound = {"wait from level 1 to 0", 600, 500, INFINITY, "us", "not measured"};
    r->bounds = &bound;
    r->n_bounds = 1;
    sim_report_refuse(r, "software", "recorded", "policy software needs the column ipc");
    sim_report_warn(r, "%d rows were left out", 2);
}

void small_report_single(struct sim_report *r)
{
    small_report_begin(r, 1, small_report_names);
    small_report_add(r, "stock", "recorded", 550, 1100);
    small_report_add(r, "oracle", "recorded", 550, 1005);
    small_report_doubts(r);
}

char *small_report_text(const struct sim_report *r)
{
    struct stream_text s;
    sim_report_print(stream_text_open(&s), false, r);
    return stream_text_close(&s);
}

json_t *small_report_json(const struct sim_report *r)
{
    char *text = sim_report_json(r);
    assert_non_null(text);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    free(text);
    return root;
}

char *small_report_page(const struct sim_report *r)
{
    struct stream_text s;
    char why[300] = "";
    if (sim_report_html(r, stream_text_open(&s), why, sizeof why) != 0)
        fail_msg("%s", why);
    return stream_text_close(&s);
}
