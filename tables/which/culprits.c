/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of instructions that lift the class: alone, then together. */
#include "tables/which/culprits.h"

struct culprit_search {
    culprits_measure *measure;
    void *data;
    struct machine_error *err;
};

static const char undecided[] = "limits overlap two classes; stop other programs, or use more --seconds";

static int try_set(const struct culprit_search *s, uint64_t kept, struct culprit_trial *out)
{
    *out = (struct culprit_trial){.kept = kept};
    return s->measure(s->data, out, 1, s->err);
}

/* The first n of the kinds of a set. */
static uint64_t first_of(uint64_t set, size_t n)
{
    uint64_t out = 0;
    for (; n > 0; n--, set &= set - 1)
        out |= set & -set;
    return out;
}

/* Finds a minimal set in one that reaches the class: the kind without which the fewest first ones do not reach it is
 * held, and the same again with those before it. The last trial is the answer, or undecided. */
static int shrink(const struct culprit_search *s, uint64_t from, struct culprit_trial *last)
{
    uint64_t held = 0;
    int status = MACHINE_OK;
    do {
        size_t fails = 0, reaches = (size_t)__builtin_popcountll(from);
        while (reaches - fails > 1) {
            const size_t middle = (fails + reaches) / 2;
            status = try_set(s, held | first_of(from, middle), last);
            if (status != MACHINE_OK || last->lifts == LIFTS_UNDECIDED)
                return status;
            *(last->lifts == LIFTS ? &reaches : &fails) = middle;
        }
        const uint64_t before = first_of(from, reaches - 1);
        held |= first_of(from, reaches) & ~before;
        from = before;
        *last = (struct culprit_trial){.kept = held, .lifts = LIFTS};
        if (from != 0)
            status = try_set(s, held, last);
    } while (status == MACHINE_OK && from != 0 && last->lifts == LIFTS_NOT);
    return status;
}

/* Without a set. */
static int try_rest(const struct culprit_search *s, uint64_t set, const struct culprit_trial *nothing,
                    struct culprits *out)
{
    const uint64_t rest = out->rest.kept & ~set;
    if (rest != 0)
        return try_set(s, rest, &out->rest);
    out->rest = *nothing;
    return MACHINE_OK;
}

int culprits_find(size_t n_kinds, culprits_measure *measure, void *data, struct culprits *out,
                  struct machine_error *err)
{
    const struct culprit_search s = {measure, data, err};
    struct culprit_trial alone[BLOCK_SET_MAX], *nothing = &alone[n_kinds];
    uint64_t found = 0;
    *out = (struct culprits){.rest = {.kept = (UINT64_C(1) << n_kinds) - 1, .lifts = LIFTS}};
    for (size_t k = 0; k <= n_kinds; k++)
        alone[k] = (struct culprit_trial){.kept = k < n_kinds ? UINT64_C(1) << k : 0};
    int status = measure(data, alone, n_kinds + 1, err);
    if (status != MACHINE_OK || nothing->lifts != LIFTS_NOT) {
        out->why = nothing->lifts == LIFTS ? "it reaches its class without its wide instructions, too" : undecided;
        return status;
    }
    for (size_t k = 0; k < n_kinds; k++)
        if (alone[k].lifts == LIFTS)
            found |= out->set[out->n++] = alone[k].kept;
    if (found != 0)
        status = try_rest(&s, found, nothing, out);
    for (size_t i = 0; i < COMBINED_MOST && status == MACHINE_OK && out->rest.lifts == LIFTS; i++) {
        struct culprit_trial last;
        status = shrink(&s, out->rest.kept, &last);
        if (status == MACHINE_OK && last.lifts == LIFTS_UNDECIDED)
            out->rest.lifts = LIFTS_UNDECIDED;
        if (status != MACHINE_OK || last.lifts != LIFTS)
            break;
        out->set[out->n++] = last.kept;
        status = try_rest(&s, last.kept, nothing, out);
    }
    out->why = out->rest.lifts == LIFTS_UNDECIDED ? undecided : NULL;
    return status;
}
