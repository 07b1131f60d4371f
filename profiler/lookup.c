/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A hash table of elements that begin with their keys. */
#include "profiler/lookup.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/list.h"
#include "util/splitmix64.h"

enum { LOOKUP_SLOTS_LEAST = 64 };

static size_t first_slot(const struct profile_lookup *l, const uint64_t *key)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < l->words; i++)
        hash = splitmix64(hash ^ key[i]);
    return hash & (l->n_slots - 1);
}

/* The slot of a key, or the free one where it belongs. */
static uint32_t *lookup_slot(const struct profile_lookup *l, const uint64_t *key)
{
    for (size_t at = first_slot(l, key);; at = (at + 1) & (l->n_slots - 1))
        if (l->slots[at] == 0 || memcmp(profile_lookup_at(l, l->slots[at] - 1), key, l->words * sizeof(*key)) == 0)
            return &l->slots[at];
}

/* At least half of the slots are free. */
static bool grow(struct profile_lookup *l)
{
    if (2 * (l->n + 1) <= l->n_slots)
        return true;
    size_t n_slots = l->n_slots > 0 ? 2 * l->n_slots : LOOKUP_SLOTS_LEAST;
    uint32_t *slots = l->n < PROFILE_NOWHERE - 1 ? calloc(n_slots, sizeof(*slots)) : NULL;
    if (slots == NULL)
        return false;
    free(l->slots);
    l->slots = slots;
    l->n_slots = n_slots;
    for (size_t i = 0; i < l->n; i++)
        *lookup_slot(l, profile_lookup_at(l, i)) = (uint32_t)i + 1;
    return true;
}

uint32_t profile_lookup_index(struct profile_lookup *l, const uint64_t *key)
{
    if (!grow(l))
        return PROFILE_NOWHERE;
    uint32_t *slot = lookup_slot(l, key);
    if (*slot == 0) {
        if (!list_room(&l->items, l->n, l->size))
            return PROFILE_NOWHERE;
        char *item = memset(profile_lookup_at(l, l->n), 0, l->size);
        memcpy(item, key, l->words * sizeof(*key));
        *slot = (uint32_t)++l->n;
    }
    return *slot - 1;
}

void *profile_lookup_find(const struct profile_lookup *l, const uint64_t *key)
{
    uint32_t slot = l->n > 0 ? *lookup_slot(l, key) : 0;
    return slot > 0 ? profile_lookup_at(l, slot - 1) : NULL;
}

void profile_lookup_free(struct profile_lookup *l)
{
    free(l->items);
    free(l->slots);
    l->items = NULL;
    l->slots = NULL;
    l->n = l->n_slots = 0;
}
