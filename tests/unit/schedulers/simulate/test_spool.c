/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedulers/simulate/workload/spool.c: what is read is what was written, in its shortest form. */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "schedulers/simulate/workload/spool.h"
#include "tests/support/folder.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

/* The rows of one stream as they should be read. */
struct expected {
    struct sim_row *row;
    size_t n, room;
};

static void keep(struct expected *e, struct sim_row row)
{
    if (e->n == e->room) {
        e->room = e->room ? 2 * e->room : 16;
        e->row = realloc(e->row, e->room * sizeof *e->row);
        assert_non_null(e->row);
    }
    e->row[e->n++] = row;
}

/* Adds the rows that the header promises for this one. */
static void expect(struct expected *e, struct sim_row row)
{
    struct sim_row *last = e->n ? &e->row[e->n - 1] : NULL;
    if (last && !row.syscall && last->task == row.task && last->class == row.class && last->ipc == row.ipc &&
        last->stall == row.stall) {
        last->ps += row.ps;
        row = *last;
        e->n--;
    }
    for (; row.ps > SIM_ROW_PS_MAX; row.ps -= SIM_ROW_PS_MAX, row.syscall = 0) {
        struct sim_row part = row;
        part.ps = SIM_ROW_PS_MAX;
        keep(e, part);
    }
    if (row.ps || row.syscall)
        keep(e, row);
}

static void same_row(const struct sim_row *a, const struct sim_row *b)
{
    assert_true(a->ps == b->ps);
    assert_int_equal(a->task, b->task);
    assert_int_equal(a->ipc, b->ipc);
    assert_int_equal(a->stall, b->stall);
    assert_int_equal(a->class, b->class);
    assert_int_equal(a->syscall, b->syscall);
}

/* Reads streams in turns, random numbers of rows at a time. */
static void same_streams(struct rng *r, struct sim_source *s, const struct expected *e, const unsigned *order,
                         unsigned n)
{
    size_t *at = calloc(n, sizeof *at);
    unsigned left = n;
    struct sim_row row[5000];
    while (left) {
        unsigned i = (unsigned)rng_int(r, 0, (int)n - 1);
        const struct expected *x = &e[order[i]];
        if (at[i] > x->n)
            continue;
        size_t max = rng_chance(r, 0.1) ? 5000 : (size_t)rng_int(r, 1, 300), got = s->read(s->self, i, row, max);
        assert_true(got <= max && at[i] + got <= x->n);
        for (size_t k = 0; k < got; k++)
            same_row(&row[k], &x->row[at[i] + k]);
        at[i] += got;
        if (got)
            continue;
        assert_int_equal(at[i], x->n);
        at[i]++;
        left--;
    }
    assert_null(s->error(s->self));
    free(at);
}

static struct sim_row random_row(struct rng *r)
{
    struct sim_row row = {.task = (uint32_t)rng_int(r, 0, 2), .ipc = rng_chance(r, 0.2), .stall = rng_chance(r, 0.2)};
    row.ps = rng_chance(r, 0.2)    ? 0
             : rng_chance(r, 0.01) ? rng_int(r, 1, 5) * SIM_ROW_PS_MAX + rng_int(r, -1, 1)
                                   : (int64_t)rng_log(r, 1, 1e12);
    row.class = rng_chance(r, 0.2) ? SIM_512HEAVY : SIM_NONE;
    row.syscall = rng_chance(r, 0.1);
    if (rng_chance(r, 0.2))
        row = (struct sim_row){.ps = row.ps, .task = SIM_IDLE};
    return row;
}

static void round_trip(uint64_t seed, unsigned streams, size_t rows)
{
    struct rng r;
    struct machine_error err;
    struct sim_source source;
    uint64_t total, n = 0;
    rng_init(&r, seed, 0);
    struct sim_spool *s = sim_spool_new();
    struct expected *e = calloc(streams, sizeof *e);
    unsigned *order = calloc(streams, sizeof *order);
    unsigned busy = (unsigned)rng_int(&r, 0, (int)streams - 1); /* has half of the rows, so that it gets long blocks */
    for (size_t i = 0; i < rows; i++) {
        unsigned stream = rng_chance(&r, 0.5) ? busy : (unsigned)rng_int(&r, 0, (int)streams - 1);
        struct sim_row row = random_row(&r);
        assert_int_equal(sim_spool_push(s, stream, row, &err), MACHINE_OK);
        expect(&e[stream], row);
    }
    for (unsigned i = 0; i < streams; i++) {
        n += e[i].n;
        order[i] = (i + 3) % streams;
    }
    assert_int_equal(sim_spool_done(s, order, streams, &source, &total, &err), MACHINE_OK);
    assert_int_equal(total, n);
    same_streams(&r, &source, e, order, streams);
    source.rewind(source.self);
    same_streams(&r, &source, e, order, streams);
    source.close(source.self);
    for (unsigned i = 0; i < streams; i++)
        free(e[i].row);
    free(e);
    free(order);
}

TEST(random_round_trips)
{
    unsigned n = rng_rounds(60);
    for (unsigned i = 0; i < n; i++)
        round_trip(i + 1, 1 + i % 9, i % 3 ? 300 : 12000);
    round_trip(1000, 3, 400000); /* in a file; blocks of 4096 */
    round_trip(1001, 20000, 200000);
}

static void check_lead(int64_t lead, size_t rows, size_t leading)
{
    struct machine_error err;
    struct sim_source source;
    struct sim_row row;
    uint64_t total;
    struct sim_spool *s = sim_spool_new();
    for (size_t i = 0; i < rows; i++)
        assert_int_equal(sim_spool_push(s, 1, (struct sim_row){.ps = 5, .task = i & 1}, &err), MACHINE_OK);
    assert_int_equal(sim_spool_lead(s, 1, lead, &err), MACHINE_OK);
    assert_int_equal(sim_spool_done(s, NULL, 3, &source, &total, &err), MACHINE_OK);
    assert_int_equal(total, rows + leading);
    assert_int_equal(source.read(source.self, 0, &row, 1), 0);
    assert_int_equal(source.read(source.self, 2, &row, 1), 0);
    for (size_t i = 0; i < leading; i++) {
        assert_int_equal(source.read(source.self, 1, &row, 1), 1);
        assert_int_equal(row.task, SIM_IDLE);
        assert_true(row.ps == (i + 1 < leading ? SIM_ROW_PS_MAX : lead - (int64_t)i * SIM_ROW_PS_MAX));
    }
    for (size_t i = 0; i < rows; i++) {
        assert_int_equal(source.read(source.self, 1, &row, 1), 1);
        assert_int_equal(row.task, i & 1);
    }
    assert_int_equal(source.read(source.self, 1, &row, 1), 0);
    source.close(source.self);
}

TEST(idle_time_ahead)
{
    check_lead(0, 3, 0);
    check_lead(7, 0, 1);
    check_lead(7, 3, 1);
    check_lead(SIM_ROW_PS_MAX, 20, 1);
    check_lead(2 * SIM_ROW_PS_MAX + 1, 70, 3);
    check_lead(7, 100000, 1);
}

/* Open files without a name in a folder. */
static unsigned files_of(const char *folder)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; (e = readdir(d));) {
        char link[300], target[300] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%s", e->d_name);
        if (readlink(link, target, sizeof target - 1) > 0)
            n += !strncmp(target, folder, strlen(folder));
    }
    closedir(d);
    return n;
}

static int fill(struct sim_spool *s, size_t rows, struct machine_error *err)
{
    int status = MACHINE_OK;
    for (size_t i = 0; i < rows && !status; i++)
        status = sim_spool_push(s, 0, (struct sim_row){.ps = 1, .task = i & 1}, err);
    return status;
}

TEST(a_megabyte_in_memory_then_a_nameless_file)
{
    char folder[FOLDER_PATH_MAX];
    struct machine_error err;
    folder_make(folder);
    setenv("TMPDIR", folder, 1);
    struct sim_spool *s = sim_spool_new();
    assert_int_equal(fill(s, 65536, &err), MACHINE_OK);
    assert_int_equal(files_of(folder), 0);
    assert_int_equal(fill(s, 2 * 4096, &err), MACHINE_OK);
    assert_int_equal(files_of(folder), 1);
    assert_int_equal(rmdir(folder), 0); /* it has no name there */
    sim_spool_free(s);
    assert_int_equal(files_of(folder), 0);
    unsetenv("TMPDIR");
}

TEST(no_room)
{
    struct machine_error err;
    setenv("TMPDIR", "/nonexistent", 1);
    struct sim_spool *s = sim_spool_new();
    assert_int_equal(fill(s, 1000000, &err), MACHINE_FAILED);
    assert_string_equal(err.text, "cannot write the rows of the workload into the directory /nonexistent (TMPDIR): No "
                                  "such file or directory");
    assert_string_equal(err.remedy, "set TMPDIR to a writable directory");
    sim_spool_free(s);
    unsetenv("TMPDIR");

    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 3 << 20;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    s = sim_spool_new();
    int status = fill(s, 1000000, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, MACHINE_FAILED);
    assert_string_equal(err.text, "cannot keep the rows of the workload, more than 3 MB, in /tmp (TMPDIR): File too "
                                  "large");
    sim_spool_free(s);
}
