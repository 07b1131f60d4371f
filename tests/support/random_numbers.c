/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/random_numbers.h"

#include <math.h>
#include <stdlib.h>

/* SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators", OOPSLA, figure 17). */
uint64_t rng_bits(struct rng *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void rng_init(struct rng *r, uint64_t seed, uint64_t stream)
{
    *r = (struct rng){.state = seed};
    r->state = rng_bits(r) ^ (stream * 0xd1342543de82ef95u);
    rng_bits(r);
}

double rng_unit(struct rng *r)
{
    return (double)(rng_bits(r) >> 11) * 0x1p-53;
}

double rng_range(struct rng *r, double lo, double hi)
{
    return lo + (hi - lo) * rng_unit(r);
}

double rng_log(struct rng *r, double lo, double hi)
{
    return lo * pow(hi / lo, rng_unit(r));
}

int rng_int(struct rng *r, int lo, int hi)
{
    return lo + (int)(rng_unit(r) * (double)(hi - lo + 1));
}

bool rng_chance(struct rng *r, double p)
{
    return rng_unit(r) < p;
}

double rng_one_of(struct rng *r, const double *values, int n)
{
    return values[rng_int(r, 0, n - 1)];
}

double rng_normal(struct rng *r)
{
    if (r->has_spare) {
        r->has_spare = false;
        return r->spare;
    }
    double radius = sqrt(-2 * log(1 - rng_unit(r))), angle = 2 * M_PI * rng_unit(r);
    r->spare = radius * sin(angle);
    r->has_spare = true;
    return radius * cos(angle);
}

double rng_student3(struct rng *r)
{
    double z = rng_normal(r), a = rng_normal(r), b = rng_normal(r), c = rng_normal(r);
    return z / sqrt((a * a + b * b + c * c) / 3);
}

bool rng_all_rounds(void)
{
    return getenv("DEEP") != NULL;
}

unsigned rng_rounds(unsigned n)
{
    return rng_all_rounds() ? n : rng_fewer_sanitized((n + 4) / 5);
}

unsigned rng_few(unsigned n, unsigned few)
{
    return rng_fewer_sanitized(rng_all_rounds() ? n : few);
}

unsigned rng_fewer_sanitized(unsigned n)
{
    return getenv("SANITIZED") != NULL ? (n + 2) / 3 : n;
}
