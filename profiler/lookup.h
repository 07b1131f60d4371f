/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Elements of one size, each of which begins with its key: found by hashing, and by a number that never changes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PROFILE_NOWHERE UINT32_MAX

struct profile_lookup {
    void *items;
    size_t n, size, words; /* elements; bytes of one; 64-bit words of a key, without padding */
    uint32_t *slots;       /* number of an element plus 1; 0: free. A power of two of them */
    size_t n_slots;
};

/*
 * The number of the element with a key; where there is none it is made, all zeros after its key. Pointers to elements
 * hold until then. PROFILE_NOWHERE: out of memory.
 */
uint32_t profile_lookup_index(struct profile_lookup *l, const uint64_t *key);
/* The element with a key; NULL: there is none. */
void *profile_lookup_find(const struct profile_lookup *l, const uint64_t *key);
static inline void *profile_lookup_at(const struct profile_lookup *l, size_t index)
{
    return (char *)l->items + index * l->size;
}
/* It is empty then, and can be used again. */
void profile_lookup_free(struct profile_lookup *l);
