/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers and the exponential function in exact arithmetic. */
#include "drivers/model/model_random.h"

#include "util/splitmix64.h"

static uint64_t rotated(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static uint64_t next(struct model_random *r)
{
    uint64_t *s = r->s;
    uint64_t result = rotated(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotated(s[3], 45);
    return result;
}

void model_random_init(struct model_random *r, uint64_t seed, uint64_t repetition, uint64_t stream)
{
    /* seeded as the authors of xoshiro256** recommend */
    uint64_t state = splitmix64(splitmix64(seed) ^ repetition) ^ stream;
    for (int i = 0; i < 4; i++, state += SPLITMIX64_STEP)
        r->s[i] = splitmix64(state);
}

double model_random_uniform(struct model_random *r)
{
    return (double)(next(r) >> 11) * 0x1p-53;
}

/* The sum of twelve uniform values of 16 bits each, four to a number. */
double model_random_normal(struct model_random *r)
{
    enum { NUMBERS = 3, VALUES = 12, BITS = 16, MASK = 0xffff };
    for (;;) {
        uint64_t sum = 0;
        for (int i = 0; i < NUMBERS; i++)
            for (uint64_t x = next(r), k = 0; k < 64 / BITS; k++)
                sum += x >> (BITS * k) & MASK;
        double value = ((double)sum + 0.5 * VALUES) / (MASK + 1) - 0.5 * VALUES;
        if (value >= -3 && value <= 3)
            return value;
    }
}

/* Von Neumann's method (Various techniques used in connection with random digits, 1951): comparisons only. */
double model_random_exponential(struct model_random *r)
{
    double whole = 0;
    for (;;) {
        double first = model_random_uniform(r), last = first;
        int run = 1;
        for (;;) {
            double u = model_random_uniform(r);
            if (u >= last)
                break;
            last = u;
            run++;
        }
        if (run & 1)
            return whole + first;
        whole += 1;
    }
}

double model_decay(double x)
{
    enum { TERMS = 8, MOST = 700 };
    if (!(x < MOST))
        return 0;
    unsigned halvings = 0;
    for (; x > 0x1p-7; halvings++)
        x *= 0.5;
    double sum = 1;
    for (int k = TERMS; k > 0; k--) /* Horner: 1 - x (1 - x/2 (1 - x/3 ...)) */
        sum = 1 - x * sum / k;
    while (halvings-- > 0)
        sum *= sum;
    return sum;
}
