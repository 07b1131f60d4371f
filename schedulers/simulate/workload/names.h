/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts by number, in the order in which they were first met; found again in constant time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct sim_names {
    size_t n;
    struct sim_name {
        char *key; /* its bytes, and a NUL after them */
        uint32_t length, hash;
    } * entry;
    uint32_t *slot; /* numbers + 1, 0 where it is free; a power of two of them */
    size_t slots;
};

#define SIM_NAME_NONE UINT32_MAX

/* The number of some bytes, a new one where they were not met before (at most 2^31); SIM_NAME_NONE: out of memory. All
 * of *names being 0 is an empty list. */
uint32_t sim_names_number(struct sim_names *names, const void *key, size_t length);
/* The same of what was met before; SIM_NAME_NONE: it was not. */
uint32_t sim_names_find(const struct sim_names *names, const void *key, size_t length);
void sim_names_free(struct sim_names *names);
