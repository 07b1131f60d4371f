/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for what lifts a class, in drawn blocks of which it is known. */
#include "tables/which/culprits.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { CAUSES_MAX = 6 };

/* A block: it reaches its class while it holds one of these sets of kinds. */
struct drawn {
    uint64_t cause[CAUSES_MAX];
    size_t n_causes;
    struct rng rng;
    double noise; /* the part of the trials that is undecided */
    unsigned trials, calls;
};

static bool holds_cause(const struct drawn *d, uint64_t kept)
{
    for (size_t i = 0; i < d->n_causes; i++)
        if ((d->cause[i] & ~kept) == 0)
            return true;
    return false;
}

static int answer(void *data, struct culprit_trial *trials, size_t n, struct machine_error *err)
{
    (void)err;
    struct drawn *d = data;
    assert_in_range(n, 1, BLOCK_SET_MAX);
    for (size_t i = 0; i < n; i++) {
        trials[i].lifts = rng_chance(&d->rng, d->noise)    ? LIFTS_UNDECIDED
                          : holds_cause(d, trials[i].kept) ? LIFTS
                                                           : LIFTS_NOT;
        trials[i].ratio.value = (double)trials[i].kept;
    }
    d->trials += (unsigned)n;
    d->calls++;
    return MACHINE_OK;
}

static struct culprits find(struct drawn *d, size_t n_kinds)
{
    struct culprits c;
    struct machine_error err;
    d->trials = d->calls = 0;
    assert_int_equal(culprits_find(n_kinds, answer, d, &c, &err), MACHINE_OK);
    return c;
}

/* Each set lifts by itself, and none of its kinds can be spared; what is left does not lift. */
static void check_truth(const struct drawn *d, const struct culprits *c, size_t n_kinds)
{
    uint64_t all = 0;
    for (size_t i = 0; i < c->n; i++) {
        assert_true(holds_cause(d, c->set[i]));
        for (size_t k = 0; k < n_kinds && d->noise == 0; k++)
            if (c->set[i] >> k & 1)
                assert_false(holds_cause(d, c->set[i] & ~(UINT64_C(1) << k)));
        assert_int_equal(all & c->set[i], 0);
        all |= c->set[i];
    }
    if (c->rest.lifts == LIFTS_NOT && c->why == NULL) {
        assert_int_equal(c->rest.kept, ((UINT64_C(1) << n_kinds) - 1) & ~all);
        assert_false(holds_cause(d, c->rest.kept));
        assert_true(c->rest.ratio.value == (double)c->rest.kept);
        assert_true(c->n > 0);
    }
}

TEST(one_alone_takes_two_measurements)
{
    struct drawn d = {.cause = {1 << 7}, .n_causes = 1};
    const struct culprits c = find(&d, 40);
    assert_int_equal(c.n, 1);
    assert_int_equal(c.set[0], 1 << 7);
    assert_int_equal(c.rest.lifts, LIFTS_NOT);
    assert_int_equal(d.calls, 2);
    assert_int_equal(d.trials, 42);
}

TEST(each_of_two_and_two_together)
{
    struct drawn d = {.cause = {1 << 2, 1 << 9, 1 << 4 | 1 << 20}, .n_causes = 3};
    const struct culprits c = find(&d, BINARY_WIDE_KINDS_MAX);
    assert_int_equal(c.n, 3);
    assert_int_equal(c.set[0], 1 << 2);
    assert_int_equal(c.set[1], 1 << 9);
    assert_int_equal(c.set[2], 1 << 4 | 1 << 20);
    assert_int_equal(c.rest.lifts, LIFTS_NOT);
    assert_null(c.why);
    assert_in_range(d.calls, 4, 20);
}

TEST(what_is_not_to_be_told_says_why)
{
    struct drawn d = {.cause = {0}, .n_causes = 1}; /* whatever is left out */
    struct culprits c = find(&d, 3);
    assert_int_equal(c.n, 0);
    has(c.why, "without its wide instructions");
    d = (struct drawn){.cause = {1}, .n_causes = 1, .noise = 1};
    c = find(&d, 3);
    assert_int_equal(c.n, 0);
    has(c.why, "overlap");
    /* more combinations than are looked for */
    d = (struct drawn){.cause = {3, 3 << 2, 3 << 4, 3 << 6, 3 << 8}, .n_causes = 5};
    c = find(&d, 10);
    assert_int_equal(c.n, COMBINED_MOST);
    assert_int_equal(c.rest.lifts, LIFTS);
    assert_null(c.why);
}

TEST(drawn_blocks_are_told)
{
    struct drawn d = {.n_causes = 0};
    rng_init(&d.rng, 1, 0);
    for (unsigned i = 0; i < rng_rounds(20000); i++) {
        const int n_kinds = rng_int(&d.rng, 1, 1 + (int)i % BINARY_WIDE_KINDS_MAX);
        d.n_causes = (size_t)rng_int(&d.rng, 1, CAUSES_MAX);
        d.noise = i % 3 == 0 ? 0.1 : 0;
        for (size_t k = 0; k < d.n_causes; k++) {
            d.cause[k] = 0;
            for (int more = rng_int(&d.rng, 1, 4); more > 0; more--)
                d.cause[k] |= UINT64_C(1) << rng_int(&d.rng, 0, n_kinds - 1);
        }
        const struct culprits c = find(&d, (size_t)n_kinds);
        check_truth(&d, &c, (size_t)n_kinds);
        assert_true(d.noise > 0 || c.why == NULL);
        for (size_t k = 0; k < d.n_causes && d.noise == 0; k++)
            assert_true(holds_cause(&d, c.rest.kept) == (c.rest.lifts == LIFTS));
    }
}
