/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawn workloads as they are opened, and that those which are shipped have the rates and shares that their sources
 * state. */
#include <unistd.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>

#include "schedulers/simulate/workload/drawn.h"
#include "tests/support/test.h"
#include "util/data_file.h"

#define SECOND (1000000 * SIM_PS_PER_US)
enum { STREAMS_MAX = 100, SHIPPED = 5 };
static const char *const shipped[SHIPPED] = {"background", "neural-network", "video-encoder", "video-encoder-avx2",
                                             "web-server"};

static struct sim_workload *open_drawn(const char *name, bool smt, uint64_t seed)
{
    struct sim_workload *w;
    struct machine_error err;
    struct sim_workload_options o = {.smt_given = true, .smt = smt, .seed = seed};
    if (sim_workload_open(name, &o, &w, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    assert_non_null(w);
    return w;
}

/* Calls `see` with all rows of a stream. */
static void each_row(const struct sim_source *s, unsigned stream, void (*see)(void *, const struct sim_row *), void *to)
{
    struct sim_row rows[256];
    for (size_t n; (n = s->read(s->self, stream, rows, 256)) > 0;)
        for (size_t i = 0; i < n; i++)
            see(to, &rows[i]);
}

/* Checks that independent estimates have this mean: Student's t; one time in 10000 it is refused although they do. */
static void assert_mean(const char *what, const double *x, size_t n, double expected)
{
    double mean = gsl_stats_mean(x, 1, n), error = gsl_stats_sd(x, 1, n) / sqrt((double)n);
    if (fabs(mean - expected) > gsl_cdf_tdist_Qinv(0.5e-4, (double)n - 1) * error)
        fail_msg("%s is %g +- %g, not %g", what, mean, error, expected);
    assert_true(error < 0.1 * expected); /* else it says nothing */
}

/* ---- what threads do by themselves ---- */

struct deeds {
    int64_t ps;
    double us, busy_us, class_us[SIM_CLASSES], phases[SIM_CLASSES], syscalls, waits;
};

static void see_deed(void *to, const struct sim_row *row)
{
    struct deeds *d = to;
    double us = (double)row->ps / 1e6;
    d->ps += row->ps;
    d->us += us;
    if (row->task == SIM_IDLE) {
        d->waits++;
        return;
    }
    d->busy_us += us;
    d->class_us[row->class] += us;
    d->phases[row->class]++;
    d->syscalls += row->syscall;
}

/* Reads the deeds of a task's threads; returns their number. */
static size_t deeds_of(const struct sim_workload *w, const char *task, struct deeds out[STREAMS_MAX])
{
    size_t n = 0;
    for (unsigned i = 0; i < w->n_tasks; i++)
        if (strncmp(w->tasks[i].name, task, strlen(task)) == 0) {
            out[n] = (struct deeds){0};
            each_row(&w->works, i, see_deed, &out[n++]);
        }
    return n;
}

#define ESTIMATE(what, d, n, expected, ratio)                                                                          \
    do {                                                                                                               \
        double x[STREAMS_MAX];                                                                                         \
        for (size_t i = 0; i < (n); i++) {                                                                             \
            const struct deeds *t = &(d)[i];                                                                           \
            x[i] = (ratio);                                                                                            \
        }                                                                                                              \
        assert_mean(what, x, n, expected);                                                                             \
    } while (0)

/* 6783 requests a second by 32 workers (dissertation, 4.5.2), 2.5 % of the time wide (3.3.3). */
TEST(web_server_as_its_sources_say)
{
    struct deeds d[STREAMS_MAX];
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct sim_workload *w = open_drawn("web-server", true, seed);
        size_t n = deeds_of(w, "nginx-", d);
        assert_int_equal(n, 8);
        ESTIMATE("wide share", d, n, 0.025, t->class_us[SIM_512HEAVY] / t->us);
        ESTIMATE("requests a second", d, n, 6783 / 32., t->phases[SIM_NONE] / 2 / t->us * 1e6);
        ESTIMATE("wide phases a second", d, n, 2 * 6783 / 32., t->phases[SIM_512HEAVY] / t->us * 1e6);
        for (size_t i = 0; i < n; i++)
            assert_true(d[i].waits == 0 && d[i].ps == 2 * SECOND); /* saturated */
        sim_workload_free(w);
    }
}

/* 32 threads each; the batch job leaves its CPU once in 7.4 ms of CPU time (3.3.5). */
TEST(neural_network_as_its_sources_say)
{
    struct deeds d[STREAMS_MAX];
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct sim_workload *w = open_drawn("neural-network", true, seed);
        size_t n = deeds_of(w, "dnn-", d);
        assert_int_equal(n, 32);
        ESTIMATE("busy share", d, n, 2000 / 2200., t->busy_us / t->us);
        for (size_t i = 0; i < n; i++)
            assert_true(d[i].busy_us == d[i].class_us[SIM_512HEAVY]); /* all of it (5.3) */
        n = deeds_of(w, "batch-", d);
        assert_int_equal(n, 32);
        ESTIMATE("waits per ms of CPU time", d, n, 1 / 7.4, t->waits / t->busy_us * 1e3);
        for (size_t i = 0; i < n; i++)
            assert_true(d[i].busy_us == d[i].class_us[SIM_NONE]);
        sim_workload_free(w);
    }
}

/* A quarter of four times 8 threads that keep 20.8 of 32 logical CPUs busy (7.2). */
TEST(video_encoders_as_their_sources_say)
{
    struct deeds d[STREAMS_MAX];
    for (int avx2 = 0; avx2 < 2; avx2++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            enum sim_class light = avx2 ? SIM_256LIGHT : SIM_512LIGHT, heavy = avx2 ? SIM_256HEAVY : SIM_512HEAVY;
            struct sim_workload *w = open_drawn(avx2 ? "video-encoder-avx2" : "video-encoder", true, seed);
            size_t n = deeds_of(w, "x265-", d);
            assert_int_equal(n, 8);
            ESTIMATE("busy share", d, n, 20.8 / 32, t->busy_us / t->us);
            /* 16 % more work for the same rounds (3.1) */
            ESTIMATE("round", d, n, avx2 ? 534 : 460, t->busy_us / t->phases[heavy]);
            ESTIMATE("heavy share", d, n, avx2 ? 74 / 534. : 60 / 460., t->class_us[heavy] / t->busy_us);
            ESTIMATE("light share", d, n, avx2 ? 360 / 534. : 300 / 460., t->class_us[light] / t->busy_us);
            for (size_t i = 0; i < n; i++)
                assert_true(d[i].phases[SIM_NONE] > 0 && d[i].ps == 6 * SECOND);
            n = deeds_of(w, "compiler-", d);
            assert_int_equal(n, 8);
            for (size_t i = 0; i < n; i++)
                assert_true(d[i].busy_us == d[i].class_us[SIM_NONE] && d[i].ps == 2 * SECOND);
            sim_workload_free(w);
        }
}

TEST(background_is_not_wide)
{
    struct deeds d[STREAMS_MAX];
    struct sim_workload *w = open_drawn("background", true, 1);
    size_t n = deeds_of(w, "", d);
    assert_int_equal(n, 16);
    for (size_t i = 0; i < n; i++)
        assert_true(d[i].busy_us > 0 && d[i].busy_us == d[i].class_us[SIM_NONE]);
    for (enum sim_class c = SIM_256LIGHT; c < SIM_CLASSES; c++)
        assert_false(w->class_used[c]);
    sim_workload_free(w);
}

/* ---- on CPUs ---- */

struct placed {
    const struct sim_workload *w;
    int64_t ps;
    double busy_us, switches;
    uint32_t before;
    bool seen[SIM_CLASSES];
};

static void see_placed(void *to, const struct sim_row *row)
{
    struct placed *p = to;
    p->ps += row->ps;
    if (row->task == SIM_IDLE)
        return;
    assert_true(row->task < p->w->n_tasks && row->ps > 0 && row->ipc > 0 && row->stall == 0);
    p->busy_us += (double)row->ps / 1e6;
    p->switches += row->task != p->before;
    p->before = row->task;
    p->seen[row->class] = true;
}

static struct placed placed_of(const struct sim_workload *w)
{
    struct placed p = {.w = w, .before = SIM_IDLE};
    for (unsigned i = 0; i < w->n_cpus; i++)
        each_row(&w->cpus, i, see_placed, &p);
    return p;
}

/* All run on four cores at 2.8 GHz with all 16 cores active; their rows are of the classes that they state. */
TEST(the_shipped_ones_are_as_they_say)
{
    for (size_t k = 0; k < SHIPPED; k++)
        for (int smt = 0; smt < 2; smt++) {
            struct sim_workload *w = open_drawn(shipped[k], smt, 4);
            assert_string_equal(w->name, shipped[k]);
            assert_string_equal(w->kind, "drawn");
            assert_int_equal(w->recorded, 28000);
            assert_int_equal(w->active_cores, 16);
            assert_int_equal(w->n_cores, 4);
            assert_int_equal(w->n_cpus, smt ? 8 : 4);
            assert_int_equal(w->smt, smt);
            for (unsigned i = 0; i < w->n_cpus; i++)
                assert_true(w->cpu[i] == i && w->core[i] == i % 4);
            assert_true(w->has_ipc && w->has_cookie && w->has_syscall && !w->has_stall);
            struct placed p = placed_of(w);
            assert_true(p.ps == 2 * SECOND * w->n_cpus);
            assert_true(p.busy_us > 0.5 * (double)p.ps / 1e6);
            for (enum sim_class c = SIM_NONE; c < SIM_CLASSES; c++)
                assert_int_equal(p.seen[c], w->class_used[c]);
            for (size_t i = 0; i < w->n_tasks; i++) {
                bool same_task = strcspn(w->tasks[i].name, "-") == strcspn(w->tasks[0].name, "-") &&
                                 strncmp(w->tasks[i].name, w->tasks[0].name, strcspn(w->tasks[0].name, "-")) == 0;
                assert_int_equal(w->tasks[i].cookie, same_task ? 1 : 2);
            }
            if (k == 1) { /* between the least and the most that was seen: one in 7.4 ms, five in one (3.3.5) */
                double per_ms = p.switches / p.busy_us * 1000;
                assert_true(per_ms > 1 / 7.4 && per_ms < 5);
            }
            sim_workload_free(w);
        }
}

TEST(the_shipped_ones_are_listed)
{
    char **names;
    size_t n;
    assert_int_equal(sim_drawn_list(&names, &n), 0);
    assert_int_equal(n, SHIPPED);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(names[i], shipped[i]);
    data_file_list_free(names, n);
}

/* ---- options and errors ---- */

TEST(options_go_before_the_description)
{
    struct sim_workload *w;
    struct machine_error err;
    struct sim_workload_options o = {.recorded = 19000, .active_cores = 5};
    assert_int_equal(sim_workload_open("web-server", &o, &w, &err), MACHINE_OK);
    assert_true(w->recorded == 19000 && w->active_cores == 5 && w->smt);
    assert_string_equal(w->tasks[3].name, "nginx-3");
    sim_workload_free(w);
    o = (struct sim_workload_options){.siblings = "0-1"};
    assert_int_equal(sim_workload_open("web-server", &o, &w, &err), MACHINE_BAD_INPUT);
    assert_null(w);
    assert_non_null(strstr(err.text, "web-server.workload: a drawn workload itself says which CPUs are siblings"));
    o = (struct sim_workload_options){.stamps = "stamps.csv"};
    assert_int_equal(sim_workload_open("web-server", &o, &w, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "web-server.workload: a drawn workload itself says which code is wide"));
}

TEST(a_name_that_is_not_known_is_refused_with_those_that_are)
{
    struct sim_workload *w;
    struct machine_error err;
    struct sim_workload_options o = {0};
    assert_int_equal(sim_workload_open("webserver", &o, &w, &err), MACHINE_BAD_INPUT);
    assert_null(w);
    assert_string_equal(err.text, "no workload 'webserver'; available: background neural-network video-encoder "
                                  "video-encoder-avx2 web-server");
    assert_non_null(strstr(err.remedy, "nearest: web-server;"));
}

/* A description by its path is the same workload; what is wrong with one is said with its line. */
TEST(a_description_has_a_path)
{
    char folder[DATA_PATH_SIZE], path[DATA_FILE_PATH_SIZE], own[] = "/tmp/test_workload_drawn.XXXXXX";
    struct sim_workload *w;
    struct machine_error err;
    struct sim_workload_options o = {.seed = 3};
    data_folder(NULL, "workloads", folder);
    snprintf(path, sizeof path, "%s/web-server.workload", folder);
    assert_int_equal(sim_workload_open(path, &o, &w, &err), MACHINE_OK);
    assert_string_equal(w->name, path);
    struct sim_workload *named = open_drawn("web-server", true, 3);
    struct placed a = placed_of(w), b = placed_of(named);
    assert_true(a.ps == b.ps && a.switches == b.switches && a.busy_us == b.busy_us);
    sim_workload_free(w);
    sim_workload_free(named);

    static const char text[] = "# a comment\n\nformat = characterize-workload/1\n[machine]\ncores = 0 # assumed\n";
    FILE *f = fdopen(mkstemp(own), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(sim_workload_open(own, &o, &w, &err), MACHINE_BAD_INPUT);
    assert_null(w);
    snprintf(path, sizeof path, "%s:5: cores: '0' is not allowed; 1 to 4096 would work", own);
    assert_string_equal(err.text, path);
    f = fopen(own, "w");
    assert_non_null(f);
    fputs("format = characterize-workload/1\n", f);
    for (int i = 0; i < 1 << 20; i++)
        fputc('\n', f);
    fclose(f);
    assert_int_equal(sim_workload_open(own, &o, &w, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "larger than 1 MiB; a description is a few KiB"));
    unlink(own);
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 0);
}
