/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers for tests: the same seed gives the same numbers on every machine. */
#ifndef TEST_RANDOM_NUMBERS_H
#define TEST_RANDOM_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state;
    double spare; /* the second number of a Box-Muller pair */
    bool has_spare;
};

/* `stream` tells apart generators that share a seed. */
void rng_init(struct rng *r, uint64_t seed, uint64_t stream);

uint64_t rng_bits(struct rng *r);
double rng_unit(struct rng *r);                        /* [0, 1) */
double rng_range(struct rng *r, double lo, double hi); /* uniform */
double rng_log(struct rng *r, double lo, double hi);   /* log-uniform, 0 < lo <= hi */
int rng_int(struct rng *r, int lo, int hi);            /* lo..hi, both included */
bool rng_chance(struct rng *r, double p);
double rng_one_of(struct rng *r, const double *values, int n);
double rng_normal(struct rng *r);   /* mean 0, variance 1 */
double rng_student3(struct rng *r); /* Student's t with 3 degrees of freedom, not scaled */

/* Returns true if a test is to run all of its similar cases (DEEP set: make test-deep), false for a few, which find
 * what is broken but not what is rare. */
bool rng_all_rounds(void);

/* How many of `n` alike cases a test is to run: all, or the first fifth, at least 1; under the sanitizers fewer. */
unsigned rng_rounds(unsigned n);

/* How many of `n` cases a test is to run that take seconds each: all, or the first `few`, which the test has put first
 * because they are the worst or the most various. Under the sanitizers fewer. */
unsigned rng_few(unsigned n, unsigned few);

/* All of them, but a third under the sanitizers (SANITIZED set: make sanitize), which need to see each path once. */
unsigned rng_fewer_sanitized(unsigned n);

#endif
