/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What switches, migrations and faults cost, on a made machine: known costs come back exactly without noise, within
 * their limits with interference; rounds in which nothing happened do not count; when it stops. */
#include "probes/switching.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

/* A block takes base_us and, of work, cost_us; interference comes in bursts of rounds and lengthens some blocks. */
struct made {
    double base_us, cost_us, took_us;
    double scatter;         /* relative, of each block */
    double hit, longest_us; /* share of the blocks of a disturbed round; by how much at most */
    unsigned idle_every;    /* in one round of so many nothing happens; 0: in none */
    unsigned fail_at;       /* this round fails; 0: none */
    struct rng random;
    bool disturbed, prepared;
    unsigned rounds, finished;
    unsigned at_place[SWITCHING_BLOCKS]; /* how often work was first, second, third */
};

static void made_info(const struct machine *m, struct machine_info *out)
{
    (void)m;
    *out = (struct machine_info){.name = "made", .modelled = true};
}

static int made_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    struct made *made = m->state;
    (void)s;
    (void)err;
    made->prepared = true;
    return MACHINE_OK;
}

static void made_finish(struct machine *m)
{
    ((struct made *)m->state)->finished++;
}

static double made_block(struct made *m, bool work)
{
    double us = (m->base_us + (work ? m->cost_us : 0)) * (1 + m->scatter * rng_normal(&m->random));
    if (m->disturbed && rng_chance(&m->random, m->hit))
        us += rng_log(&m->random, 0.1, m->longest_us);
    return us;
}

static int made_switching(struct machine *machine, const struct switching_request *r, struct switching_seen *out,
                          struct machine_error *err)
{
    struct made *m = machine->state;
    unsigned seen = 0;
    assert_true(m->prepared);
    assert_int_equal(r->repetition, m->rounds);
    if (++m->rounds == m->fail_at)
        return machine_fail(err, MACHINE_CANNOT, "", "it cannot");
    if (m->hit > 0 && rng_chance(&m->random, 0.1)) /* bursts of ten rounds, about */
        m->disturbed = !m->disturbed;
    *out = (struct switching_seen){.took_us = m->took_us, .to_cpu = 5};
    out->happened = m->idle_every == 0 || m->rounds % m->idle_every != 0;
    for (size_t i = 0; i < SWITCHING_BLOCKS; i++) {
        seen |= 1u << r->order[i];
        out->us[r->order[i]] = made_block(m, r->order[i] == SWITCHING_WORK);
        m->at_place[i] += r->order[i] == SWITCHING_WORK;
    }
    if (!out->happened)
        out->us[SWITCHING_WORK] = 0;
    assert_int_equal(seen, 7);
    return MACHINE_OK;
}

static const struct machine_ops made_ops = {
    .info = made_info, .prepare = made_prepare, .finish = made_finish, .switching = made_switching};

static struct switching_setup setup_of(uint64_t seed)
{
    return (struct switching_setup){.machine.seed = seed,
                                    .what = SWITCHING_MIGRATION,
                                    .least = 15,
                                    .most = SWITCHING_ROUNDS_MOST,
                                    .seconds = 2,
                                    .enough = 0.05};
}

static int run_made(struct made *m, const struct switching_setup *s, struct switching_result *r,
                    struct machine_error *err)
{
    struct machine machine = {.ops = &made_ops, .state = m};
    const int status = switching_run(&machine, s, r, err);
    assert_int_equal(m->finished, 1);
    return status;
}

static void measure_made(struct made *m, const struct switching_setup *s, struct switching_result *r)
{
    struct machine_error err;
    if (run_made(m, s, r, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

TEST(known_costs_come_back)
{
    static const double costs[] = {0, 0.031, 1.7, 35, 4000, -0.25};
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        struct made m = {.base_us = 0.5, .cost_us = costs[i], .took_us = 300};
        struct switching_setup s = setup_of(i);
        struct switching_result r;
        measure_made(&m, &s, &r);
        assert_close(r.us.value, costs[i], 1e-12);
        assert_close(r.us.lo, costs[i], 1e-12);
        assert_close(r.us.hi, costs[i], 1e-12);
        assert_close(r.null_us.value, 0, 0);
        assert_close(r.null_us.lo, 0, 0);
        assert_close(r.null_us.hi, 0, 0);
        assert_int_equal(r.to_cpu, 5);
        assert_int_equal(r.discarded, 0);
        assert_int_equal(r.n, m.rounds);
        /* limits without width suffice at the first look; of a cost of 0 none do */
        assert_true(costs[i] == 0 ? r.n > 5000 : r.n == 500);
    }
}

/* Blocks that interference lengthens are as often those of work as the others: the median stays. */
TEST(limits_hold_the_truth)
{
    enum { CASES = 1000 };
    const unsigned cases = rng_rounds(CASES);
    unsigned costs_held = 0, nulls_held = 0;
    for (unsigned i = 0; i < cases; i++) {
        struct rng r;
        rng_init(&r, 41, i);
        struct made m = {.base_us = rng_log(&r, 0.01, 5),
                         .cost_us = rng_log(&r, 0.1, 50),
                         .took_us = 300,
                         .scatter = rng_log(&r, 0.002, 0.3),
                         .hit = rng_range(&r, 0, 0.3),
                         .longest_us = rng_log(&r, 1, 1000)};
        rng_init(&m.random, 42, i);
        struct switching_setup s = setup_of(i);
        struct switching_result found;
        s.seconds = rng_log(&r, 0.01, 1);
        measure_made(&m, &s, &found);
        assert_true(found.n >= 15);
        costs_held += found.us.lo <= m.cost_us && found.us.hi >= m.cost_us;
        nulls_held += found.null_us.lo <= 0 && found.null_us.hi >= 0;
    }
    /* four standard deviations of a binomial distribution */
    const double least = cases * 0.95 - 4 * sqrt(cases * 0.95 * 0.05);
    if (costs_held < least || nulls_held < least)
        fail_msg("of %u: %u costs and %u nulls within their limits", cases, costs_held, nulls_held);
    if (costs_held == cases && cases > 500)
        fail_msg("all limits hold: they are too wide");
}

TEST(rounds_in_which_nothing_happened)
{
    struct made m = {.base_us = 1, .cost_us = 3, .took_us = 300, .idle_every = 4};
    struct switching_setup s = setup_of(1);
    struct switching_result r;
    s.least = s.most = 100;
    measure_made(&m, &s, &r);
    assert_int_equal(r.n, 75);
    assert_int_equal(r.discarded, 25);
    assert_close(r.us.lo, 3, 1e-12);
    assert_close(r.us.hi, 3, 1e-12);
    m = (struct made){.base_us = 1, .cost_us = 3, .took_us = 300, .idle_every = 1};
    measure_made(&m, &s, &r);
    assert_int_equal(r.n, 0);
    assert_int_equal(r.discarded, 100);
    assert_true(isnan(r.us.value) && isnan(r.null_us.value));
}

TEST(work_is_first_as_often_as_last)
{
    struct made m = {.base_us = 1, .cost_us = 3};
    struct switching_setup s = setup_of(7);
    struct switching_result r;
    s.least = s.most = 3000;
    measure_made(&m, &s, &r);
    for (size_t i = 0; i < SWITCHING_BLOCKS; i++)
        assert_in_range(m.at_place[i], 900, 1100);
}

TEST(when_it_stops)
{
    struct made slow = {.base_us = 1, .cost_us = 3, .took_us = 1e6}, quick = {.base_us = 1, .cost_us = 3},
                noisy = {.base_us = 1, .cost_us = 1, .scatter = 1, .took_us = 100};
    struct switching_setup s = setup_of(3);
    struct switching_result r;
    measure_made(&slow, &s, &r); /* 15 s: the fewest rounds */
    assert_int_equal(r.n, 15);
    s.enough = 0;
    measure_made(&quick, &s, &r); /* takes no time: the most */
    assert_int_equal(r.n, SWITCHING_ROUNDS_MOST);
    s = setup_of(3);
    rng_init(&noisy.random, 1, 1);
    measure_made(&noisy, &s, &r); /* as many as narrow limits take */
    assert_true(r.n % 500 == 0 && r.n >= 1000 && r.n < 15000);
    assert_true(estimate_half(&r.us) <= 0.05 * r.us.value);
    assert_true(estimate_half(&r.us) > 0.02 * r.us.value);
}

static int stop_at_seven(void *data, unsigned done, unsigned wanted)
{
    (void)data;
    assert_true(done <= wanted);
    return done == 7;
}

TEST(errors_end_it)
{
    struct machine_error err;
    struct made m = {.base_us = 1, .cost_us = 3, .fail_at = 20};
    struct switching_setup s = setup_of(3);
    struct switching_result r;
    assert_int_equal(run_made(&m, &s, &r, &err), MACHINE_CANNOT);
    assert_string_equal(err.text, "it cannot");
    m = (struct made){.base_us = 1, .cost_us = 3};
    s.progress = stop_at_seven;
    assert_int_equal(run_made(&m, &s, &r, &err), MACHINE_FAILED);
    assert_int_equal(m.rounds, 7);
    const struct machine_ops without = {.info = made_info};
    struct machine machine = {.ops = &without};
    assert_int_equal(switching_run(&machine, &s, &r, &err), MACHINE_CANNOT);
    has(err.text, "this machine cannot measure what switches cost");
    has(err.remedy, "model:cloud-guest");
}
