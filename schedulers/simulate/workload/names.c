/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers texts in the order in which they are first met. */
#include "schedulers/simulate/workload/names.h"

#include <stdlib.h>
#include <string.h>

#include "util/list.h"

/* FNV-1a, its low bits mixed once more: they choose the slot. */
static uint32_t name_hash(const unsigned char *key, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ key[i]) * 16777619u;
    return hash ^ hash >> 15;
}

static bool twice_the_slots(struct sim_names *names)
{
    size_t slots = names->slots ? 2 * names->slots : 64;
    uint32_t *slot = calloc(slots, sizeof *slot);
    if (!slot)
        return false;
    for (size_t i = 0; i < names->n; i++) {
        size_t at = names->entry[i].hash & (slots - 1);
        while (slot[at])
            at = (at + 1) & (slots - 1);
        slot[at] = (uint32_t)i + 1;
    }
    free(names->slot);
    names->slot = slot;
    names->slots = slots;
    return true;
}

/* The slot of a key, or the free one that it may have. */
static size_t name_slot(const struct sim_names *names, const void *key, size_t length, uint32_t hash)
{
    size_t at = hash & (names->slots - 1);
    for (; names->slot[at]; at = (at + 1) & (names->slots - 1)) {
        const struct sim_name *e = &names->entry[names->slot[at] - 1];
        if (e->hash == hash && e->length == length && !memcmp(e->key, key, length))
            break;
    }
    return at;
}

uint32_t sim_names_find(const struct sim_names *names, const void *key, size_t length)
{
    return names->slots ? names->slot[name_slot(names, key, length, name_hash(key, length))] - 1 : SIM_NAME_NONE;
}

uint32_t sim_names_number(struct sim_names *names, const void *key, size_t length)
{
    uint32_t hash = name_hash(key, length);
    if (2 * names->n >= names->slots && !twice_the_slots(names))
        return SIM_NAME_NONE;
    size_t at = name_slot(names, key, length, hash);
    if (names->slot[at])
        return names->slot[at] - 1;
    if (!list_room(&names->entry, names->n, sizeof *names->entry))
        return SIM_NAME_NONE;
    struct sim_name *e = &names->entry[names->n];
    *e = (struct sim_name){malloc(length + 1), (uint32_t)length, hash};
    if (!e->key)
        return SIM_NAME_NONE;
    memcpy(e->key, key, length);
    e->key[length] = '\0';
    names->slot[at] = (uint32_t)++names->n;
    return (uint32_t)names->n - 1;
}

void sim_names_free(struct sim_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->entry[i].key);
    free(names->entry);
    free(names->slot);
    memset(names, 0, sizeof *names);
}
