/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that are drawn: their distributions, and that a thread does the same wherever it is read. */
#include <gsl/gsl_cdf.h>

#include "schedulers/simulate/workload/drawn.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"
#include "util/order.h"

#define MACHINE                                                                                                        \
    "format = characterize-workload/1\n[machine]\ncores = 2 # a\nthreads_per_core = 1 # a\nrecorded_ghz = 2 # a\n"

static struct drawn_file *described(const char *text)
{
    static struct drawn_file f;
    struct machine_error err;
    if (drawn_file_parse(text, strlen(text), "F", &f, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    return &f;
}

/* ---- rows ---- */

struct rows {
    struct sim_row *row;
    size_t n;
};

static struct rows read_all(const struct sim_source *s, unsigned stream)
{
    enum { PIECE = 1000 };
    struct rows all = {NULL, 0};
    size_t got;
    do {
        all.row = realloc(all.row, (all.n + PIECE) * sizeof *all.row);
        assert_non_null(all.row);
        got = s->read(s->self, stream, all.row + all.n, PIECE);
        all.n += got;
    } while (got);
    assert_null(s->error(s->self));
    return all;
}

static bool same_row(const struct sim_row *a, const struct sim_row *b)
{
    return a->ps == b->ps && a->task == b->task && a->ipc == b->ipc && a->stall == b->stall && a->class == b->class &&
           a->syscall == b->syscall;
}

static bool same_rows(const struct rows *a, const struct rows *b)
{
    size_t same = 0;
    while (same < a->n && same < b->n && same_row(&a->row[same], &b->row[same]))
        same++;
    return same == a->n && same == b->n;
}

static int64_t sum_ps(const struct rows *r)
{
    int64_t sum = 0;
    for (size_t i = 0; i < r->n; i++)
        sum += r->row[i].ps;
    return sum;
}

static const struct sim_source *works_of(const struct drawn_file *f, uint64_t seed)
{
    static struct sim_source s;
    assert_int_equal(drawn_works_open(f, seed, &s), 0);
    return &s;
}

static const struct sim_source *cpus_of(const struct drawn_file *f, uint64_t seed)
{
    static struct sim_source s;
    assert_int_equal(drawn_cpus_open(f, f->cores * f->threads_per_core, seed, &s), 0);
    return &s;
}

/* ---- distributions ---- */

/* Kolmogorov and Smirnov's distance between a sample and its distribution, times the root of n: 1.95 is exceeded once
 * in a thousand. */
static double ks(double *x, size_t n, double (*p)(double x, const struct drawn_length *l), const struct drawn_length *l)
{
    double most = 0;
    qsort(x, n, sizeof *x, order_double);
    for (size_t i = 0; i < n; i++) {
        double expected = p(x[i], l);
        most = fmax(most, fmax(fabs(expected - (double)i / (double)n), fabs(expected - (double)(i + 1) / (double)n)));
    }
    return most * sqrt((double)n);
}

static double p_uniform(double x, const struct drawn_length *l)
{
    return gsl_cdf_flat_P(x, l->a, l->b);
}

static double p_exponential(double x, const struct drawn_length *l)
{
    return gsl_cdf_exponential_P(x, l->a);
}

static double p_lognormal(double x, const struct drawn_length *l)
{
    return gsl_cdf_lognormal_P(x, log(l->a) - l->b * l->b / 2, l->b);
}

enum { DRAWS = 50000 };
TEST(lengths_are_distributed_as_stated)
{
    static const struct {
        struct drawn_length length;
        double (*p)(double x, const struct drawn_length *l);
        double sd; /* of one, us */
    } cases[] = {
        {{DRAWN_UNIFORM, 100, 400}, p_uniform, 86.602540378},
        {{DRAWN_EXPONENTIAL, 700, 0}, p_exponential, 700},
        {{DRAWN_LOGNORMAL, 300, 0.7}, p_lognormal, 237.828},  /* 300 sqrt(exp(0.49) - 1) */
        {{DRAWN_LOGNORMAL, 20000, 1.2}, p_lognormal, 35902.}, /* 20000 sqrt(exp(1.44) - 1) */
    };
    double *us = malloc(DRAWS * sizeof *us);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct drawn_random r = drawn_random_of(11, c);
        const struct drawn_length *l = &cases[c].length;
        double sum = 0;
        for (size_t i = 0; i < DRAWS; i++) {
            int64_t ps = drawn_random_length(&r, l);
            assert_true(ps >= 1000 && ps % 1000 == 0);
            us[i] = (double)ps / 1e6;
            sum += us[i];
        }
        double off = (sum / DRAWS - drawn_length_mean(l)) / (cases[c].sd / sqrt(DRAWS));
        double distance = ks(us, DRAWS, cases[c].p, l);
        if (fabs(off) > 3.3 || distance > 1.95)
            fail_msg("case %zu: mean off by %.2f standard errors, distance %.2f", c, off, distance);
    }
    free(us);
    struct drawn_random r = drawn_random_of(1, 1);
    struct drawn_length fixed = {DRAWN_FIXED, 12.3456, 0}, shortest = {DRAWN_UNIFORM, 0, 0.001};
    for (int i = 0; i < 100; i++) {
        assert_int_equal(drawn_random_length(&r, &fixed), 12346000);
        assert_int_equal(drawn_random_length(&r, &shortest), 1000);
    }
}

TEST(numbers_below_are_equally_likely)
{
    enum { BINS = 7 };
    unsigned count[BINS] = {0};
    struct drawn_random r = drawn_random_of(3, 4);
    for (int i = 0; i < DRAWS; i++)
        count[drawn_random_below(&r, BINS)]++;
    double chi = 0, expected = (double)DRAWS / BINS;
    for (int i = 0; i < BINS; i++)
        chi += (count[i] - expected) * (count[i] - expected) / expected;
    assert_true(gsl_cdf_chisq_Q(chi, BINS - 1) > 0.001);
}

/* Phases follow each other with their weights, and those without `next` in the order of the file. */
TEST(phases_follow_with_their_weights)
{
    const struct drawn_file *f = described(MACHINE "duration_s = 1 # a\nslice_us = fixed 1000 # a\n"
                                                   "[task t]\nthreads = 1 # a\n"
                                                   "[phase t a]\nclass = none # a\nus = fixed 10 # a\n"
                                                   "next = a 1 b 3 c 4 # a\n"
                                                   "[phase t b]\nclass = 256light # a\nus = fixed 10 # a\n"
                                                   "[phase t c]\nclass = 512light # a\nus = fixed 10 # a\n");
    const struct sim_source *s = works_of(f, 5);
    struct rows rows = read_all(s, 0);
    double count[SIM_CLASSES][SIM_CLASSES] = {{0}};
    for (size_t i = 1; i < rows.n; i++)
        count[rows.row[i - 1].class][rows.row[i].class]++;
    double from_a = count[SIM_NONE][SIM_NONE] + count[SIM_NONE][SIM_256LIGHT] + count[SIM_NONE][SIM_512LIGHT];
    static const double weights[] = {[SIM_NONE] = 1, [SIM_256LIGHT] = 3, [SIM_512LIGHT] = 4};
    double chi = 0;
    for (size_t c = 0; c < sizeof weights / sizeof *weights; c++)
        if (weights[c] > 0) {
            double expected = from_a * weights[c] / 8;
            chi += (count[SIM_NONE][c] - expected) * (count[SIM_NONE][c] - expected) / expected;
        }
    assert_true(from_a > 10000 && gsl_cdf_chisq_Q(chi, 2) > 0.001);
    assert_true(count[SIM_256LIGHT][SIM_512LIGHT] > 0 && count[SIM_256LIGHT][SIM_NONE] + count[SIM_256LIGHT][1] == 0);
    assert_true(count[SIM_512LIGHT][SIM_NONE] > 0 && count[SIM_512LIGHT][SIM_512LIGHT] == 0);
    free(rows.row);
    s->close(s->self);
}

/* ---- seeds and order ---- */

#define BUSY                                                                                                           \
    MACHINE "duration_s = 0.3 # a\nslice_us = exponential 700 # a\n"                                                   \
            "[task a]\nthreads = 3 # a\n"                                                                              \
            "[phase a work]\nclass = 512heavy # a\nus = exponential 300 # a\nipc = 1.5 # a\nsyscall = yes # a\n"       \
            "next = work 1 more 2 # a\n"                                                                               \
            "[phase a more]\nclass = none # a\nus = lognormal 200 1 # a\nipc = 0.5 # a\nstall = 0.25 # a\n"            \
            "[phase a wait]\nclass = blocked # a\nus = exponential 900 # a\nnext = work 3 again 1 # a\n"               \
            "[phase a again]\nclass = blocked # a\nus = fixed 50 # a\n"                                                \
            "[task b]\nthreads = 2 # a\nlasts = 1.5 # a\n"                                                             \
            "[phase b work]\nclass = 256light # a\nus = uniform 0 500 # a\nipc = 2 # a\n"                              \
            "[phase b wait]\nclass = blocked # a\nus = exponential 500 # a\n"

TEST(a_seed_gives_its_rows_and_no_others)
{
    for (int of_cpus = 0; of_cpus < 2; of_cpus++) {
        const struct drawn_file *f = described(BUSY);
        unsigned streams = of_cpus ? 2 : 5;
        struct rows first[5];
        const struct sim_source *s = of_cpus ? cpus_of(f, 7) : works_of(f, 7);
        for (unsigned i = 0; i < streams; i++)
            first[i] = read_all(s, i);
        for (unsigned i = 1; i < streams; i++)
            assert_false(same_rows(&first[0], &first[i]));
        for (uint64_t seed = 0; seed < 9; seed++) { /* also again: 7 */
            s->close(s->self);
            s = of_cpus ? cpus_of(f, seed) : works_of(f, seed);
            for (unsigned i = 0; i < streams; i++) {
                struct rows again = read_all(s, i);
                assert_int_equal(same_rows(&first[i], &again), seed == 7);
                free(again.row);
            }
        }
        for (unsigned i = 0; i < streams; i++)
            free(first[i].row);
        s->close(s->self);
    }
}

/* Streams read in turns, a few rows each; and all again after rewinding in the midst of it. */
TEST(streams_are_independent_of_each_other)
{
    for (int of_cpus = 0; of_cpus < 2; of_cpus++) {
        const struct drawn_file *f = described(BUSY);
        unsigned streams = of_cpus ? 2 : 5;
        const struct sim_source *s = of_cpus ? cpus_of(f, 3) : works_of(f, 3);
        struct rows whole[5];
        for (unsigned i = streams; i-- > 0;)
            whole[i] = read_all(s, i);
        struct rng rng;
        rng_init(&rng, 1, 1);
        for (int round = 0; round < 3; round++) {
            size_t at[5] = {0}, open = streams;
            s->rewind(s->self);
            for (int reads = 0; open && (round == 2 || reads < 100); reads++) {
                unsigned i = (unsigned)rng_int(&rng, 0, (int)streams - 1);
                struct sim_row some[7];
                size_t max = (size_t)rng_int(&rng, 1, 7), n = s->read(s->self, i, some, max);
                open -= n == 0 && at[i] == whole[i].n;
                at[i] += n == 0 && at[i] == whole[i].n; /* ended, once */
                for (size_t k = 0; k < n; k++, at[i]++)
                    assert_true(at[i] < whole[i].n && same_row(&some[k], &whole[i].row[at[i]]));
            }
            assert_true(round < 2 || open == 0);
        }
        for (unsigned i = 0; i < streams; i++)
            free(whole[i].row);
        s->close(s->self);
    }
}

/* ---- placement ---- */

/* Where a thread is in what it does of its own accord, while its CPU's rows are followed. */
struct follower {
    struct rows rows;
    size_t at;
    int64_t done;  /* of the row, ps */
    int64_t wakes; /* when it is runnable again; 0: it is */
};

static void skip_blocked(struct follower *t, int64_t now)
{
    t->wakes = 0;
    while (t->rows.row[t->at].task == SIM_IDLE)
        t->wakes = (t->wakes ? t->wakes : now) + t->rows.row[t->at++].ps;
}

/* Takes `row` off what the thread was to do. */
static void follow(struct follower *t, const struct sim_row *row, int64_t now)
{
    const struct sim_row *own = &t->rows.row[t->at];
    assert_true(t->wakes <= now && row->ps <= own->ps - t->done);
    assert_true(own->class == row->class && own->ipc == row->ipc && own->stall == row->stall);
    assert_int_equal(row->syscall, own->syscall && t->done == 0);
    t->done += row->ps;
    if (t->done == own->ps) {
        t->at++;
        t->done = 0;
        skip_blocked(t, now + row->ps);
    }
}

/* A thread does on its CPU what it does by itself; a CPU idles while, and only while, all its threads are blocked. */
TEST(threads_do_the_same_on_cpus)
{
    struct drawn_file *f = described(BUSY);
    struct follower threads[5] = {{{NULL, 0}, 0, 0, 0}};
    struct sim_source works = *works_of(f, 9);
    for (unsigned i = 0; i < 5; i++) {
        threads[i].rows = read_all(&works, i);
        assert_int_equal(sum_ps(&threads[i].rows), (i < 3 ? 300000 : 450000) * SIM_PS_PER_US);
        skip_blocked(&threads[i], 0);
    }
    const struct sim_source *cpus = cpus_of(f, 9);
    unsigned idle = 0, switches = 0;
    for (unsigned c = 0; c < 2; c++) {
        struct rows rows = read_all(cpus, c);
        int64_t now = 0;
        assert_int_equal(sum_ps(&rows), 300000 * SIM_PS_PER_US);
        for (size_t i = 0; i < rows.n; i++) {
            const struct sim_row *row = &rows.row[i];
            assert_true(row->ps > 0);
            if (row->task != SIM_IDLE) {
                assert_int_equal(row->task % 2, c); /* thread i is on CPU i modulo 2 */
                follow(&threads[row->task], row, now);
                switches += i > 0 && rows.row[i - 1].task != row->task;
            } else {
                int64_t first = SIM_FOREVER;
                for (unsigned t = c; t < 5; t += 2)
                    first = threads[t].wakes < first ? threads[t].wakes : first;
                assert_true(first > now);
                assert_true(now + row->ps == first || i == rows.n - 1);
                idle++;
            }
            now += row->ps;
        }
        free(rows.row);
    }
    assert_true(idle > 20 && switches > 200);
    for (unsigned i = 0; i < 5; i++)
        free(threads[i].rows.row);
    cpus->close(cpus->self);
    works.close(works.self);
}

/* Three threads that are never blocked: each runs a slice, then the next one, always in the same order. */
TEST(threads_take_turns)
{
    const struct drawn_file *f = described(MACHINE "duration_s = 20 # a\nslice_us = uniform 300 400 # a\n"
                                                   "[task t]\nthreads = 6 # a\n"
                                                   "[phase t p]\nclass = none # a\nus = exponential 1000 # a\n");
    const struct sim_source *s = cpus_of(f, 2);
    struct rows rows = read_all(s, 1);
    double *us = malloc(rows.n * sizeof *us);
    size_t n = 0;
    uint32_t before[3] = {99, 99, 99};
    for (size_t i = 0; i < rows.n; i++) {
        if (i == 0 || rows.row[i].task != rows.row[i - 1].task) {
            if (n >= 3)
                assert_int_equal(rows.row[i].task, before[n % 3]);
            before[n % 3] = rows.row[i].task;
            us[n++] = 0;
        }
        us[n - 1] += (double)rows.row[i].ps / 1e6;
    }
    n--; /* the last one is cut off */
    assert_true(n > 50000);
    assert_true(before[0] != before[1] && before[1] != before[2] && before[2] != before[0]);
    assert_true(ks(us, n, p_uniform, &f->slice) < 1.95);
    free(us);
    free(rows.row);
    s->close(s->self);
}

/* Rows longer than SIM_ROW_PS_MAX are split; CPUs without threads are idle; ends are where they are said to be. */
TEST(long_rows_are_split)
{
    const struct drawn_file *f = described(MACHINE "duration_s = 1000 # a\nslice_us = fixed 10000000 # a\n"
                                                   "[task t]\nthreads = 1 # a\nlasts = 3 # a\n"
                                                   "[phase t p]\nclass = none # a\nus = lognormal 10000000 2 # a\n"
                                                   "syscall = yes # a\n"
                                                   "[phase t w]\nclass = blocked # a\nus = lognormal 10000000 2 # a\n");
    for (uint64_t seed = 1; seed < 20; seed++)
        for (unsigned i = 0; i < 3; i++) {
            const struct sim_source *s = i < 2 ? cpus_of(f, seed) : works_of(f, seed);
            struct rows rows = read_all(s, i % 2);
            assert_int_equal(sum_ps(&rows), (i < 2 ? 1 : 3) * INT64_C(1000000000) * SIM_PS_PER_US);
            assert_true(rows.n >= 20);
            for (size_t k = 0; k < rows.n; k++) {
                assert_true(rows.row[k].ps > 0 && rows.row[k].ps <= SIM_ROW_PS_MAX);
                assert_true(i != 1 || rows.row[k].task == SIM_IDLE);
                if (k > 0 && rows.row[k - 1].ps == SIM_ROW_PS_MAX)
                    assert_int_equal(rows.row[k].syscall, 0);
            }
            free(rows.row);
            s->close(s->self);
        }
}
