/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fingerprint of the registry, so that a program and a kernel module that were built apart can tell that they mean
 * the same kernels by the same numbers.
 */
#pragma once

#include "kernels/kernels.h"

/* FNV-1a, 64 bits (Fowler, Noll, Vo; the constants of their page). */
static inline uint64_t kernel_hash_byte(uint64_t hash, unsigned byte)
{
    return (hash ^ (byte & 0xff)) * 0x100000001b3;
}

/* Over each entry's name and what the assembler made of it: instructions and bytes of the plain block. Without those
 * that the module does not have. */
static inline uint64_t kernel_registry_hash(void)
{
    uint64_t hash = 0xcbf29ce484222325;
    size_t count;
    const struct kernel *all = kernel_registry(&count);

    for (size_t i = 0; i < count && all[i].level == KERNEL_L1; i++) {
        for (const char *c = all[i].name; *c != '\0'; c++)
            hash = kernel_hash_byte(hash, (unsigned char)*c);
        const unsigned numbers[] = {0, all[i].has_density, all[i].block_instructions[1], all[i].block_bytes[1]};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            hash = kernel_hash_byte(hash, numbers[k]);
            hash = kernel_hash_byte(hash, numbers[k] >> 8);
        }
    }
    return hash;
}
