/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profiler/blame.h"

#include <stdlib.h>
#include <string.h>

/* All charges that are alike: what they have in common is the key. */
struct blame_charges {
    struct profile_charge charge;
    double amount;
};
_Static_assert(sizeof(struct profile_charge) % sizeof(uint64_t) == 0, "a key is of whole words");

void profile_blame_start(struct profile_lookup *charges)
{
    *charges = (struct profile_lookup){.size = sizeof(struct blame_charges),
                                       .words = sizeof(struct profile_charge) / sizeof(uint64_t)};
}

bool profile_blame_charge(struct profile_lookup *charges, const struct profile_charge *c, double amount)
{
    uint64_t key[sizeof(*c) / sizeof(uint64_t)];
    memcpy(key, c, sizeof(key));
    uint32_t at = profile_lookup_index(charges, key);
    if (at == PROFILE_NOWHERE)
        return false;
    ((struct blame_charges *)profile_lookup_at(charges, at))->amount += amount;
    return true;
}

/* How often a task was seen to demand a level or a slower one. */
static double blame_demand(const struct profile_lookup *buckets, uint32_t task, uint32_t level)
{
    uint64_t seen = 0;
    if (task == PROFILE_NOWHERE)
        return 0;
    const struct profile_bucket *b = profile_bucket_at(buckets, task);
    for (uint32_t i = level; i < PROFILE_LEVELS; i++)
        seen += b->sums.demands[i];
    return b->sums.known > 0 ? (double)seen / (double)b->sums.known : 0;
}

/*
 * Who answers for what shows between steps 3 and 5: the sibling's task, or where that demands no such level the sampled
 * one, which turned wide in between. Who was never sampled may demand anything. False: neither does.
 */
static bool blame_sibling(const struct profile_charge *c, const struct profile_lookup *buckets,
                          double share[BLAME_CANDIDATES])
{
    uint32_t other = c->candidate[0];
    bool demands = blame_demand(buckets, other, c->level) > 0,
         own = blame_demand(buckets, c->candidate[1], c->level) > 0,
         unknown = other != PROFILE_NOWHERE && profile_bucket_at(buckets, other)->sums.known == 0;
    for (unsigned i = 0; i < BLAME_CANDIDATES; i++)
        share[i] = 0;
    if (demands || own || unknown)
        share[own && !demands ? 1 : 0] = 1;
    return demands || own || unknown;
}

/* The share of each candidate; false: nobody is known to demand the level. */
static bool blame_shares(const struct profile_charge *c, const struct profile_lookup *buckets,
                         double share[BLAME_CANDIDATES])
{
    double sum = 0;
    if (c->sibling)
        return blame_sibling(c, buckets, share);
    for (unsigned i = 0; i < BLAME_CANDIDATES; i++) {
        share[i] = blame_demand(buckets, c->candidate[i], c->level);
        sum += share[i];
    }
    for (unsigned i = 0; i < BLAME_CANDIDATES && sum > 0; i++)
        share[i] /= sum;
    return sum > 0;
}

static bool blame_pair(struct profile_blame *b, uint32_t victim, uint32_t culprit, double amount)
{
    uint64_t key = profile_pair_key(victim, culprit);
    uint32_t at = profile_lookup_index(&b->pairs, &key);
    if (at == PROFILE_NOWHERE)
        return false;
    ((struct profile_pair *)profile_lookup_at(&b->pairs, at))->amount += amount;
    return true;
}

/* A candidate's part, for each row to which the victim belongs. */
static bool blame_candidate(struct profile_blame *b, const struct profile_lookup *buckets,
                            const struct profile_charge *c, uint32_t culprit, double amount)
{
    uint32_t container = profile_bucket_at(buckets, culprit)->container;
    bool done = blame_pair(b, 0, culprit, amount);
    for (unsigned i = 0; i < BLAME_VICTIMS; i++)
        if (c->victim[i] != PROFILE_NOWHERE)
            done = blame_pair(b, c->victim[i], culprit, amount) && done;
    if (culprit != c->victim[0])
        b->caused[culprit] += amount;
    if (container != PROFILE_NOWHERE && container != c->victim[1])
        b->caused[container] += amount;
    return done;
}

static bool blame_settle_one(struct profile_blame *b, const struct profile_lookup *buckets,
                             const struct blame_charges *charges)
{
    const struct profile_charge *c = &charges->charge;
    double share[BLAME_CANDIDATES];
    bool done = true;
    if (!blame_shares(c, buckets, share)) {
        b->unattributed[0] += charges->amount;
        for (unsigned i = 0; i < BLAME_VICTIMS; i++)
            if (c->victim[i] != PROFILE_NOWHERE)
                b->unattributed[c->victim[i]] += charges->amount;
        return true;
    }
    for (unsigned i = 0; i < BLAME_CANDIDATES; i++)
        if (share[i] > 0)
            done = blame_candidate(b, buckets, c, c->candidate[i], charges->amount * share[i]) && done;
    return done;
}

bool profile_blame_settle(const struct profile_lookup *charges, const struct profile_lookup *buckets,
                          struct profile_blame *out)
{
    *out = (struct profile_blame){.pairs = {.size = sizeof(struct profile_pair), .words = 1},
                                  .caused = calloc(buckets->n, sizeof(double)),
                                  .unattributed = calloc(buckets->n, sizeof(double))};
    bool done = out->caused != NULL && out->unattributed != NULL;
    for (size_t i = 0; i < charges->n && done; i++)
        done = blame_settle_one(out, buckets, profile_lookup_at(charges, i));
    return done;
}

void profile_blame_free(struct profile_blame *b)
{
    profile_lookup_free(&b->pairs);
    free(b->caused);
    free(b->unattributed);
}
