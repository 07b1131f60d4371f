/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/simulate/workload/drawn_random.h"

#include <math.h>

#include "util/splitmix64.h"

struct drawn_random drawn_random_of(uint64_t seed, uint64_t stream)
{
    return (struct drawn_random){splitmix64(splitmix64(seed) ^ stream)};
}

double drawn_random_unit(struct drawn_random *r)
{
    uint64_t z = splitmix64(r->state);
    r->state += SPLITMIX64_STEP;
    return (double)(z >> 11) * 0x1p-53;
}

unsigned drawn_random_below(struct drawn_random *r, unsigned n)
{
    return (unsigned)(drawn_random_unit(r) * n);
}

/* Mean 0, standard deviation 1: Box and Muller, "A note on the generation of random normal deviates", 1958. */
static double drawn_random_normal(struct drawn_random *r)
{
    double radius = sqrt(-2 * log(1 - drawn_random_unit(r)));
    return radius * cos(2 * M_PI * drawn_random_unit(r));
}

static double drawn_random_us(struct drawn_random *r, const struct drawn_length *l)
{
    switch (l->shape) {
    case DRAWN_UNIFORM:
        return l->a + (l->b - l->a) * drawn_random_unit(r);
    case DRAWN_EXPONENTIAL:
        return -l->a * log(1 - drawn_random_unit(r));
    case DRAWN_LOGNORMAL: /* of median a exp(-b^2 / 2), so of mean a */
        return l->a * exp(l->b * (drawn_random_normal(r) - l->b / 2));
    default:
        return l->a;
    }
}

int64_t drawn_random_length(struct drawn_random *r, const struct drawn_length *l)
{
    double ns = 1000 * fmin(drawn_random_us(r, l), 1e4 * drawn_length_mean(l));
    return (int64_t)fmax(1, round(ns)) * 1000;
}

double drawn_length_mean(const struct drawn_length *l)
{
    return l->shape == DRAWN_UNIFORM ? (l->a + l->b) / 2 : l->a;
}
