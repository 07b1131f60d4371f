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

/* Number of kernels that the program and the module share: those before the first one with operands beyond L1D. */
static inline size_t kernel_shared_count(void)
{
    size_t count, n = 0;
    const struct kernel *all = kernel_registry(&count);

    while (n < count && all[n].level == KERNEL_L1)
        n++;
    return n;
}

/* Over each shared entry's name and what the assembler made of it: instructions and bytes of the plain block. */
static inline uint64_t kernel_registry_hash(void)
{
    uint64_t hash = 0xcbf29ce484222325;
    size_t ignored, count = kernel_shared_count();
    const struct kernel *all = kernel_registry(&ignored);

    for (size_t i = 0; i < count; i++) {
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
